/* runtime/pairs.c: a kernel and the anchor, run by run. What slows both for longer than a run, a
 * neighbour or another clock, their ratio does not know. */
#include "runtime/runtime_int.h"

#include <math.h>
#include <string.h>

#define BLOCK_NS 50000 /* of runs that are shorter; its first one is not counted */
#define APART_NS 40000 /* a core is back at the clock of narrow code some 40 microseconds later */
#define LONG 20        /* times the anchor's run: anchor, kernel, anchor */
#define LONG_BLOCK 3   /* runs of the anchor, then */
#define HOPELESS 1.5   /* after one pair */
#define ABSENT_NS 20000000 /* of pairs that another thread disturbed */
enum { MOST_RUNS = 1000, MOST_ABSENT = 5 };
enum { PATIENCE = 3 }; /* so many times the pairs, where few are in the state that is wanted */

typedef struct side {
    at_run *run;
    int runs;        /* of a block */
    bool warms;      /* with one more ahead, which is not counted */
    bool was_absent; /* the thread, while it ran */
} side;

static void stay_apart(const at_clock *clock) {
    int64_t end = clock->now_ns() + APART_NS;
    while (clock->now_ns() < end) {
    }
}

/* Nanoseconds per run; -1: it failed. */
static double time_block(side *s, bool apart, int *failed) {
    at_run *r = s->run;
    if (apart) stay_apart(r->clock);
    if (s->warms) *failed = r->entry(r->buf, r->workspace, &r->par);
    at_absence watch = at_absence_begin(r->clock, r->par.threads);
    for (int i = 0; i < s->runs && !*failed; i++) *failed = r->entry(r->buf, r->workspace, &r->par);
    int64_t away_ns, ns = at_absence_end(&watch, &away_ns);
    s->was_absent |= away_ns > 0;
    ns -= away_ns;
    return (double)(ns > 0 ? ns : 1) / s->runs;
}

static int clamp_runs(double n) { return n < 1 ? 1 : n < MOST_RUNS ? (int)n : MOST_RUNS; }

/* Blocks of both last as long as one run of the longer, or long enough. Two equal kernels have
 * equal blocks, each with a run ahead or neither, whatever their first runs took. */
static void choose_runs(side *kernel, double kernel_ns, side *anchor, double anchor_ns) {
    double shorter_ns = fmax(fmin(kernel_ns, anchor_ns), 1);
    double longer_ns = fmax(fmax(kernel_ns, anchor_ns), 1);
    int many = clamp_runs(ceil(BLOCK_NS / shorter_ns));
    int few = clamp_runs(many * shorter_ns / longer_ns + 0.5);
    if (anchor->run->entry == kernel->run->entry &&
        anchor->run->workspace == kernel->run->workspace)
        few = many; /* it is itself */
    kernel->runs = kernel_ns < anchor_ns ? many : few;
    anchor->runs = kernel_ns < anchor_ns ? few : many;
    kernel->warms = many > 1 && kernel_ns < 2 * BLOCK_NS;
    anchor->warms = many > 1 && anchor_ns < 2 * BLOCK_NS;
}

/* The anchor before and after, since a pair would be the slow one's alone. */
static at_pair bracket(side *kernel, side *anchor, bool apart, int *failed) {
    side block = {.run = anchor->run, .runs = LONG_BLOCK};
    double before = time_block(&block, apart, failed);
    double ns = *failed ? 0 : time_block(kernel, apart, failed);
    double after = *failed ? 0 : time_block(&block, apart, failed);
    anchor->was_absent = block.was_absent;
    return (at_pair){.time_s = ns * 1e-9, .anchor_s = (before + after) / 2 * 1e-9};
}

static at_pair pair(side *kernel, side *anchor, bool apart, bool kernel_first, int *failed) {
    side *sides[2] = {kernel_first ? kernel : anchor, kernel_first ? anchor : kernel};
    double ns[2] = {0, 0};
    for (int i = 0; i < 2 && !*failed; i++) ns[i] = time_block(sides[i], apart, failed);
    return (at_pair){.time_s = ns[!kernel_first] * 1e-9, .anchor_s = ns[kernel_first] * 1e-9};
}

static double ratio(const at_pair *p) { return p->time_s / p->anchor_s; }

/* Before a pair, and behind it: less than a twentieth of what it takes. */
static at_state look(const at_job *job) {
    if (!(job->reach.near > 0)) return AT_STATE_UNKNOWN;
    at_probe seen = at_probe_core(false);
    return at_probe_state(&seen, &job->reach);
}

/* Are there as many as the job asks for, or does the state that it wants not come? */
static bool is_full(const at_job *job, const at_outcome *out) {
    const int most = job->pairs < AT_MAX_PAIRS ? job->pairs : AT_MAX_PAIRS;
    bool any = job->wanted != AT_STATE_ALONE && job->wanted != AT_STATE_COMPANY;
    int counting = 0;
    for (int i = 0; i < out->num_pairs; i++) counting += any || out->pairs[i].state == job->wanted;
    return counting >= most || out->num_pairs == AT_MAX_PAIRS || out->num_pairs >= PATIENCE * most;
}

/* Is nothing to be won with more of them? */
static bool enough(const at_outcome *out) {
    return out->num_pairs == 1 && ratio(&out->pairs[0]) > HOPELESS;
}

/* A few pairs may have been unlucky: the median of the last jobs' counts. */
static void remember(at_anchor *a, const at_outcome *out) {
    for (int i = 0; i < out->num_pairs; i++) {
        a->late_ns[a->next_late] = out->pairs[i].anchor_s * 1e9;
        a->next_late = (a->next_late + 1) % AT_ANCHOR_MEMORY;
        if (a->num_late < AT_ANCHOR_MEMORY) a->num_late++;
    }
    if (a->num_late < AT_ANCHOR_MEMORY) return;
    double ns[AT_ANCHOR_MEMORY];
    memcpy(ns, a->late_ns, sizeof ns);
    at_sort_doubles(ns, AT_ANCHOR_MEMORY);
    a->run_ns = at_sorted_median(ns, AT_ANCHOR_MEMORY);
}

int at_time_pairs(at_run *r, at_anchor *a, const at_job *job, at_run_time check_run,
                  at_outcome *out) {
    int failed = 0;
    int64_t ns = check_run.ns;
    bool cold = ns < BLOCK_NS;
    out->number = 1;
    if (!job->to_the_end && at_is_behind(r, (int64_t)a->run_ns, check_run, &ns, &failed)) {
        out->at_least = true;
        out->costs_s[out->num_costs++] = (double)ns * 1e-9;
        return failed;
    }
    if (cold && !failed) { /* how short is it really? */
        at_run_time again;
        failed = at_run_once(r, 0, &again);
        if (again.ns < ns) ns = again.ns;
    }
    side kernel = {.run = r}, anchor = {.run = &a->beside};
    choose_runs(&kernel, (double)ns, &anchor, a->run_ns);
    bool apart = job->vector_set != a->job->vector_set;
    out->is_bracketed = (double)ns > LONG * a->run_ns;
    out->number = kernel.runs;
    at_rng rng;
    at_rng_seed(&rng, job->pair_seed, 0);
    int64_t absent_ns = 0, begin_ns = r->clock->now_ns();
    at_state before = look(job);
    while (!is_full(job, out) && !failed) {
        bool first = at_rng_below(&rng, 2);
        int64_t pair_ns = r->clock->now_ns();
        kernel.was_absent = anchor.was_absent = false;
        at_pair p = out->is_bracketed ? bracket(&kernel, &anchor, apart, &failed)
                                      : pair(&kernel, &anchor, apart, first, &failed);
        if (failed) break;
        at_state after = look(job);
        p.state = at_state_between(before, after);
        before = after;
        /* Its time away does not count, but what others have left in the caches does. */
        bool was_absent = kernel.was_absent || anchor.was_absent;
        if (was_absent && out->disturbed < MOST_ABSENT && absent_ns < ABSENT_NS) {
            absent_ns += r->clock->now_ns() - pair_ns;
            out->disturbed++;
            continue;
        }
        out->pairs[out->num_pairs++] = p;
        if (out->num_costs < AT_MAX_SAMPLES) out->costs_s[out->num_costs++] = p.time_s;
        if (!job->to_the_end && enough(out)) break;
    }
    r->total_ns += r->clock->now_ns() - begin_ns; /* both kernels', and what keeps them apart */
    if (out->num_pairs) remember(a, out);
    return failed;
}
