/* runtime/timer.c: how long a kernel takes: AutoTVM's loop when `number` is given, else a rule that
 * spends little on slow candidates and clears the clock's floor on fast ones.
 * Source: TVM v0.12, src/runtime/profiling.cc (the meaning of number, repeat and min_repeat_ms). */
#include "runtime/inside.h"

#include <string.h>

#define FLOOR_NS 200000    /* a repeat: the clock and an interrupt are then well below 1 % */
#define BUDGET_NS 20000000 /* of repeats, as long as there are at least two */
#define REPEAT 5
#define COLD_REPEAT 3           /* flushing costs more than all the rest */
#define LEAST 2                 /* samples */
#define DISTURBED_NS 1000000000 /* of disturbed repeats */
#define HOPELESS 12             /* times the best: nor when the run was disturbed */
#define COLD_NS 1000000 /* caches, code and branch predictors count in a run shorter than this */
#define MAX_ZEROS 100   /* a clock that stands still */

void at_run_freshen(at_run *r) {
    for (int i = 0; r->fresh && i < r->fresh->num_bufs; i++) {
        const at_buf *b = &r->fresh->bufs[i];
        if (b->is_fresh) memcpy(r->buf[i], r->store + b->before_offset, (size_t)b->size_bytes);
    }
    if (r->flush_bytes > 0) at_flush(r->flush_bytes);
}

/* That many calls. */
int at_run_timed(at_run *r, int number, at_run_time *t) {
    int failed = 0;
    at_watch watch;
    at_run_freshen(r);
    at_watch_begin(&watch, r->vector_set, r->par.threads);
    int64_t start = r->clock->now_ns();
    for (int i = 0; i < number && !failed; i++) failed = at_run_next(r);
    t->ns = r->clock->now_ns() - start;
    t->disturbed = at_watch_end(&watch, t->ns);
    r->total_ns += t->ns;
    return failed;
}

int at_run_once(at_run *r, double behind_ns, at_run_time *t) {
    at_run_freshen(r);
    at_absence watch = at_absence_begin(r->clock, r->par.threads, false);
    int failed = at_run_next(r);
    at_passed passed = at_absence_end(&watch);
    t->ns = passed.ns > 0 ? passed.ns : 1;
    t->disturbed =
        passed.disturbed || (behind_ns > 0 && (double)t->ns > behind_ns && at_was_stolen());
    r->total_ns += t->ns;
    return failed;
}

bool at_run_is_late(const at_run *r, int64_t ns) {
    return r->late_ns && ns > r->late_ns - r->clock->now_ns();
}

typedef struct timing {
    at_run *run;
    int number; /* runs per repeat, so far */
    double floor_ns;
    int failed; /* what the kernel returned */
} timing;

/* One repeat of at least the floor; raises the number for it and for those after it. */
static at_run_time sample(timing *m) {
    at_run_time t = {0, false};
    int zeros = 0;
    do {
        if (t.ns > 0) {
            double per_run = (double)t.ns / m->number;
            double needed = m->floor_ns / per_run + 1, grown = m->number * 1.618;
            if (grown > needed) needed = grown;
            m->number = needed < INT32_MAX ? (int)needed : INT32_MAX;
        }
        m->failed = at_run_timed(m->run, m->number, &t);
        zeros += t.ns == 0;
    } while (!m->failed && (double)t.ns < m->floor_ns && zeros < MAX_ZEROS);
    return t;
}

static void add(at_outcome *out, double cost_s) { out->costs_s[out->num_costs++] = cost_s; }
static double cost_s(const timing *m, at_run_time t) { return (double)t.ns / m->number * 1e-9; }

bool at_is_behind(at_run *r, int64_t best_ns, at_run_time check_run, int64_t *ns, int *failed) {
    bool cold = check_run.ns < COLD_NS && !r->flush_bytes;
    bool doubt = (check_run.disturbed && check_run.ns < HOPELESS * best_ns) || cold;
    *ns = check_run.ns;
    for (int i = 0; i < 2 && doubt && !*failed && *ns > AT_BEHIND * best_ns; i++) {
        at_run_time t;
        if (at_run_is_late(r, *ns)) break;
        *failed = at_run_once(r, (double)(AT_BEHIND * best_ns), &t);
        if (t.ns < *ns) *ns = t.ns;
        doubt = t.disturbed && t.ns < HOPELESS * best_ns;
    }
    return *ns > AT_BEHIND * best_ns;
}

static int clamp(int n, int most) { return n < most ? n : most; }

/* AutoTVM's loop: nothing is looked at, nothing repeated. */
static void repeat_as_told(timing *m, int repeat, at_outcome *out) {
    for (int i = 0; i < repeat && !m->failed; i++) {
        at_run_time t = sample(m);
        add(out, cost_s(m, t));
    }
}

/* A disturbed repeat is measured again, as often as there are repeats, at least 5 times, or until
 * that has taken long. Where too few others came, the fastest of them are kept. */
static void repeat_undisturbed(timing *m, int repeat, int least, int64_t budget_ns,
                               at_outcome *out) {
    double disturbed[AT_MAX_SAMPLES];
    int64_t end_ns = m->run->total_ns + budget_ns, disturbed_ns = 0;
    int most = repeat > REPEAT ? repeat : REPEAT;
    while (out->num_costs < repeat && out->disturbed < most && !m->failed) {
        at_run_time t = sample(m);
        if (t.disturbed) disturbed[out->disturbed++] = cost_s(m, t), disturbed_ns += t.ns;
        else add(out, cost_s(m, t));
        bool late = m->run->total_ns > end_ns || disturbed_ns > DISTURBED_NS ||
                    at_run_is_late(m->run, t.ns);
        if (late && out->num_costs + out->disturbed >= least) break;
    }
    at_sort_doubles(disturbed, out->disturbed);
    while (out->num_costs < least && out->disturbed_kept < out->disturbed)
        add(out, disturbed[out->disturbed_kept++]);
}

int at_time_job(at_run *r, const at_job *job, at_run_time check_run, at_outcome *out) {
    timing m = {.run = r, .number = 1, .floor_ns = job->min_repeat_ms * 1e6};
    int64_t ns;
    out->at_least = false;
    if (job->number > 0) {
        m.number = r->fresh ? 1 : job->number;
        repeat_as_told(&m, clamp(job->repeat > 0 ? job->repeat : 1, AT_MAX_SAMPLES), out);
    } else if (job->best_ns > 0 && at_is_behind(r, job->best_ns, check_run, &ns, &m.failed)) {
        out->at_least = true;
        add(out, (double)ns * 1e-9);
    } else {
        bool cold =
            job->flush_bytes > 0 || r->fresh; /* a second run would be hot, or of old data */
        if (cold) m.floor_ns = 0;
        else if (m.floor_ns <= 0) m.floor_ns = FLOOR_NS;
        int told = clamp(job->repeat, AT_MAX_SAMPLES), repeat = cold ? COLD_REPEAT : REPEAT;
        if (told > 0) repeat_undisturbed(&m, told, told, INT64_MAX / 2, out);
        else repeat_undisturbed(&m, repeat, LEAST, BUDGET_NS, out);
    }
    out->number = out->at_least ? 1 : m.number;
    return m.failed;
}
