/* runtime/timer.c: how long a kernel takes: AutoTVM's loop when `number` is given, else a rule that
 * spends little on slow candidates and clears the clock's floor on fast ones.
 * Source: TVM v0.12, src/runtime/profiling.cc (the meaning of number, repeat and min_repeat_ms). */
#include "runtime/runtime_int.h"

#include <sys/resource.h>

#define FLOOR_NS 200000    /* a repeat: the clock and an interrupt are then well below 1 % */
#define BUDGET_NS 20000000 /* of repeats, as long as there are at least two */
#define REPEAT 5
#define BEHIND 3        /* times the best: not worth a second look */
#define HOPELESS 12     /* times the best: nor when the run was disturbed */
#define COLD_NS 1000000 /* caches, code and branch predictors count in a run shorter than this */
#define MAX_ZEROS 100   /* a clock that stands still */

static long times_preempted(void) {
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_nivcsw;
}

int at_run_timed(at_run *r, int number, at_run_time *t) {
    int failed = 0;
    long before = times_preempted();
    int64_t start = at_now_ns();
    for (int i = 0; i < number && !failed; i++) failed = r->entry(r->buf, r->workspace, &r->par);
    t->ns = at_now_ns() - start;
    t->disturbed = times_preempted() != before;
    return failed;
}

/* One repeat of at least floor_ns; raises *number for it and for those after it. */
static at_run_time sample(at_run *r, int *number, double floor_ns) {
    at_run_time t = {0, false};
    int zeros = 0;
    do {
        if (t.ns > 0) {
            double per_run = (double)t.ns / *number;
            double needed = floor_ns / per_run + 1, grown = *number * 1.618;
            if (grown > needed) needed = grown;
            *number = needed < INT32_MAX ? (int)needed : INT32_MAX;
        }
        at_run_timed(r, *number, &t);
        zeros += t.ns == 0;
    } while ((double)t.ns < floor_ns && zeros < MAX_ZEROS);
    return t;
}

static void add(at_outcome *out, at_run_time t, int number) {
    out->costs_s[out->num_costs++] = (double)t.ns / number * 1e-9;
    out->number = number;
}

/* Is the kernel clearly slower than the best? In doubt (the check run was cold, or shared the core)
 * it runs again. *ns: its fastest run so far. */
static bool clearly_behind(at_run *r, int64_t best_ns, at_run_time check_run, int64_t *ns) {
    bool doubt =
        (check_run.disturbed && check_run.ns < HOPELESS * best_ns) || check_run.ns < COLD_NS;
    *ns = check_run.ns;
    for (int i = 0; i < 2 && doubt && *ns > BEHIND * best_ns; i++) {
        at_run_time t;
        at_run_timed(r, 1, &t);
        if (t.ns < *ns) *ns = t.ns;
        doubt = t.disturbed && t.ns < HOPELESS * best_ns;
    }
    return *ns > BEHIND * best_ns;
}

static int clamp(int n, int most) { return n < most ? n : most; }

void at_time_job(at_run *r, const at_job *job, at_run_time check_run, at_outcome *out) {
    double floor_ns = job->min_repeat_ms * 1e6;
    out->kind = AT_SAMPLE_FULL;
    if (job->number > 0) {
        int number = job->number, repeat = clamp(job->repeat > 0 ? job->repeat : 1, AT_MAX_SAMPLES);
        for (int i = 0; i < repeat; i++) {
            at_run_time t = sample(r, &number, floor_ns);
            add(out, t, number);
        }
        return;
    }
    int64_t ns;
    if (job->best_ns > 0 && clearly_behind(r, job->best_ns, check_run, &ns)) {
        out->kind = AT_SAMPLE_SINGLE;
        add(out, (at_run_time){ns, false}, 1);
        return;
    }
    int repeat = clamp(job->repeat > 0 ? job->repeat : REPEAT, AT_MAX_SAMPLES), number = 1;
    int64_t end_ns = at_now_ns() + (job->repeat > 0 ? INT64_MAX / 2 : BUDGET_NS);
    if (floor_ns <= 0) floor_ns = FLOOR_NS;
    /* A disturbed repeat is measured again, as often as there are repeats. */
    for (int again = repeat; out->num_costs < repeat;) {
        at_run_time t = sample(r, &number, floor_ns);
        if (t.disturbed && again-- > 0) continue;
        add(out, t, number);
        if (out->num_costs >= 2 && at_now_ns() > end_ns) break;
    }
}
