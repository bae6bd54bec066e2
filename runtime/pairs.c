/* runtime/pairs.c: a kernel and the anchor, run by run. What slows both for longer than a run, a
 * neighbour or another clock, their ratio does not know. */
#include "runtime/inside.h"

#include <math.h>
#include <string.h>

#define BLOCK_NS 50000 /* of runs that are shorter; its first one is not counted */
#define GLANCE_NS 5000 /* of runs that tell how many a block has */
#define APART_NS 40000 /* a core is back at the clock of narrow code some 40 microseconds later */
#define LONG 20        /* times the anchor's run: anchor, kernel, anchor */
#define LONG_BLOCK 3   /* runs of the anchor, then */
#define HOPELESS 1.5   /* of the best's ratio, after one pair; where that is long AGREE is enough */
#define AGREE 1.07     /* two pairs: their mean is about as exact as the median of three */
#define ABSENT_NS 20000000   /* of pairs that another thread disturbed */
#define MUCH_BETTER 0.75     /* of the best's ratio: believed of more pairs only, MANY, */
#define PATIENT_NS 250000000 /* unless they take so long already */
enum { MOST_RUNS = 1000, MOST_ABSENT = 5, GLANCES = 4 };
enum { MANY = 11 };
enum { PATIENCE = 3 }; /* so many times the pairs, where few are in the state that is wanted */
/* A block waits for the timer's interrupt if at least so many like it fit between two. With two a
 * pair takes at most one and a half times as long. With one it takes up to twice as long: there
 * every pair is to say as much as it can. */
enum { FIT_TRIAL = 2, FIT_ALL = 1 };
#define GLIMPSE_NS 20000 /* from one look at the state that is waited for to the next */
#define COLD_NS 200000   /* of waiting: caches are a neighbour's then, and a pair does not count */

typedef struct side {
    at_run *run;
    int runs;           /* of a block */
    bool warms;         /* with one more ahead, which is not counted */
    double late_ns;     /* of its last run */
    double undisturbed; /* ns of a run, of late; 0: not known */
    bool was_absent;    /* the thread, while it ran */
    double most_ns;     /* that a run of the last block can have taken */
} side;

typedef struct manner { /* of timing a block */
    at_tick *tick;
    bool apart;   /* the two are of different vector sets */
    int fits;     /* at_tick_avoid */
    bool closely; /* at_absence */
} manner;

/* Nanoseconds per run. Where somebody disturbed it no clock is right, and the error makes the
 * anchor's time too short or the kernel's too long: nothing seems faster than it is. */
static double time_block(side *s, const manner *how, int *failed) {
    at_run *r = s->run;
    at_tick_avoid(r->clock, how->tick,
                  (s->runs + s->warms) * s->late_ns + (how->apart ? APART_NS : 0), how->fits);
    if (how->apart) at_stay(r->clock, APART_NS);
    if (r->fresh) at_run_freshen(r);
    else if (s->warms) *failed = at_run_next(r);
    at_absence watch = at_absence_begin(r->clock, r->par.threads, how->closely);
    for (int i = 0; i < s->runs && !*failed; i++) *failed = at_run_next(r);
    at_passed passed = at_absence_end(&watch);
    s->was_absent |= passed.disturbed;
    double run_ns = s->late_ns = (double)passed.ns / s->runs;
    s->most_ns = fmax((double)(passed.disturbed ? passed.most_ns : passed.ns) / s->runs, 1);
    if (passed.disturbed && s->undisturbed > 0)
        run_ns = fmin((double)passed.least_ns / s->runs, s->undisturbed);
    else if (passed.disturbed) run_ns = s->most_ns;
    return fmax(run_ns, 1);
}

int at_run_glance(at_run *r, at_tick *tick, int64_t *ns) {
    int failed = 0;
    double took_ns = (double)*ns;
    for (int i = 0; i < GLANCES && !failed && took_ns < GLANCE_NS / 2; i++) {
        side some = {
            .run = r, .runs = r->fresh ? 1 : (int)(GLANCE_NS / *ns) + 1, .late_ns = (double)*ns};
        double run_ns = time_block(&some, &(manner){.tick = tick, .fits = FIT_TRIAL}, &failed);
        took_ns = run_ns * some.runs;
        r->total_ns += (int64_t)took_ns;
        if (run_ns < (double)*ns) *ns = (int64_t)run_ns;
    }
    return failed;
}

static int clamp_runs(double n) { return n < 1 ? 1 : n < MOST_RUNS ? (int)n : MOST_RUNS; }

/* Blocks of both last as long as one run of the longer, or long enough. Two equal kernels have
 * equal blocks, each with a run ahead or neither, whatever their first runs took. */
static void choose_runs(side *kernel, double kernel_ns, side *anchor, double anchor_ns) {
    double shorter_ns = fmax(fmin(kernel_ns, anchor_ns), 1);
    double longer_ns = fmax(fmax(kernel_ns, anchor_ns), 1);
    int many = clamp_runs(ceil(BLOCK_NS / shorter_ns));
    int few = clamp_runs(many * shorter_ns / longer_ns + 0.5);
    if (at_run_is_same(anchor->run, kernel->run)) few = many;
    kernel->runs = kernel_ns < anchor_ns ? many : few;
    anchor->runs = kernel_ns < anchor_ns ? few : many;
    if (kernel->run->fresh) kernel->runs = anchor->runs = 1;
    kernel->warms = many > 1 && kernel_ns < 2 * BLOCK_NS;
    anchor->warms = many > 1 && anchor_ns < 2 * BLOCK_NS;
}

/* The anchor before and after, since a pair would be the slow one's alone. */
static at_pair bracket(side *kernel, side *anchor, const manner *how, int *failed) {
    side block = *anchor;
    block.runs = anchor->run->fresh ? 1 : LONG_BLOCK;
    block.warms = false;
    double before = time_block(&block, how, failed), most_before = block.most_ns;
    double ns = *failed ? 0 : time_block(kernel, how, failed);
    double after = *failed ? 0 : time_block(&block, how, failed);
    anchor->was_absent = block.was_absent;
    return (at_pair){.time_s = ns * 1e-9,
                     .anchor_s = (before + after) / 2 * 1e-9,
                     .anchor_most_s = (most_before + block.most_ns) / 2 * 1e-9};
}

static at_pair pair(side *kernel, side *anchor, const manner *how, bool kernel_first, int *failed) {
    side *sides[2] = {kernel_first ? kernel : anchor, kernel_first ? anchor : kernel};
    double ns[2] = {0, 0};
    for (int i = 0; i < 2 && !*failed; i++) ns[i] = time_block(sides[i], how, failed);
    return (at_pair){.time_s = ns[!kernel_first] * 1e-9,
                     .anchor_s = ns[kernel_first] * 1e-9,
                     .anchor_most_s = anchor->most_ns * 1e-9};
}

static double ratio(const at_pair *p) { return p->time_s / p->anchor_s; }

/* Before a pair, and behind it: less than a twentieth of what it takes. */
static at_state look(const at_job *job) {
    if (!(job->reach.near > 0)) return AT_STATE_UNKNOWN;
    at_probe seen = at_probe_core(false);
    return at_probe_state(&seen, &job->reach);
}

static bool is_waited_for(const at_job *job, at_state now) {
    return (job->wanted == AT_STATE_ALONE || job->wanted == AT_STATE_COMPANY) &&
           now != job->wanted && now != AT_STATE_UNKNOWN;
}

/* Looks until the wanted state is there, or nothing of *left_ns is left, or the pair would be late.
 */
static at_state wait_for(const at_run *r, const at_job *job, at_state now, int64_t pair_ns,
                         int64_t *left_ns) {
    int64_t begin_ns = r->clock->now_ns(), waited_ns = 0;
    while (is_waited_for(job, now) && waited_ns < *left_ns && !at_run_is_late(r, pair_ns)) {
        at_stay(r->clock, GLIMPSE_NS);
        now = look(job);
        waited_ns = r->clock->now_ns() - begin_ns;
    }
    *left_ns -= waited_ns;
    return now;
}

static int counting(const at_job *job, const at_outcome *out) {
    int n = 0;
    for (int i = 0; i < out->num_pairs; i++) n += at_state_counts(job->wanted, out->pairs[i].state);
    return n;
}

/* The ratios that count; of all where there are none. */
static int take_ratios(const at_job *job, const at_outcome *out, double *ratios) {
    int n = 0;
    for (int i = 0; i < out->num_pairs; i++)
        if (at_state_counts(job->wanted, out->pairs[i].state)) ratios[n++] = ratio(&out->pairs[i]);
    if (n) return n;
    for (int i = 0; i < out->num_pairs; i++) ratios[n++] = ratio(&out->pairs[i]);
    return n;
}

static bool is_much_better(const at_job *job, const at_outcome *out) {
    double ratios[AT_MAX_PAIRS];
    int n = take_ratios(job, out, ratios);
    at_sort_doubles(ratios, n);
    return at_sorted_median(ratios, n) < MUCH_BETTER * at_best_ratio(job);
}

/* Are there so many, or do those that count not come? Where they were waited for in vain they will
 * not come now. */
static bool is_full(const at_job *job, int most, const at_outcome *out) {
    const bool in_vain = job->wait_ns > 0 && out->waited_ns >= job->wait_ns;
    return counting(job, out) >= most || out->num_pairs == AT_MAX_PAIRS ||
           out->num_pairs >= (in_vain ? 1 : PATIENCE) * most;
}

/* Is it certain on which side of the border they are? May be asked after each. */
static bool is_settled(const at_job *job, const at_outcome *out) {
    if (!(job->border_level > 0)) return false;
    int above = 0, below = 0;
    for (int i = 0; i < out->num_pairs; i++) {
        if (!at_state_counts(job->wanted, out->pairs[i].state)) continue;
        above += ratio(&out->pairs[i]) > job->border;
        below += ratio(&out->pairs[i]) < job->border;
    }
    return above + below >= MANY && at_sign_evidence(above, below) >= log(1 / job->border_level);
}

/* The first two of those that count. */
static bool two_agree(const at_job *job, const at_outcome *out) {
    double ratios[AT_MAX_PAIRS];
    if (job->to_the_end || out->disturbed_kept || counting(job, out) != 2) return false;
    take_ratios(job, out, ratios);
    return ratios[0] <= AGREE * ratios[1] && ratios[1] <= AGREE * ratios[0];
}

/* Long runs hardly deviate, and another pair of them takes as long as a trial. In a state that does
 * not count they may differ by as much. */
static bool one_tells(const at_job *job, const at_outcome *out, bool is_itself) {
    if (job->to_the_end || out->num_pairs != 1 || out->disturbed_kept) return false;
    const at_pair *p = &out->pairs[0];
    const bool is_long = fmin(p->time_s, p->anchor_s) >= 1e-9 * AT_LONG_NS;
    if (is_long && counting(job, out) && (is_itself || ratio(p) > AGREE * at_best_ratio(job)))
        return true;
    return ratio(p) > HOPELESS * at_best_ratio(job);
}

/* Is nothing to be won with more of them? *most: so many are asked for; raised where what they say
 * has to be seen again. */
static bool enough(const at_job *job, int64_t so_far_ns, bool is_itself, int *most,
                   const at_outcome *out) {
    if (one_tells(job, out, is_itself)) return true;
    const bool is_raised = *most > job->pairs, is_late = so_far_ns > PATIENT_NS;
    if (!is_full(job, *most, out) && !two_agree(job, out))
        return (is_raised && is_late) || is_settled(job, out);
    if (job->to_the_end || *most >= MANY || is_late || !is_much_better(job, out)) return true;
    *most = MANY;
    return is_full(job, *most, out);
}

/* A few pairs may have been unlucky: the median of the last jobs' counts. */
static void remember(at_anchor *a, double anchor_s) {
    a->late_ns[a->next_late] = anchor_s * 1e9;
    a->next_late = (a->next_late + 1) % AT_ANCHOR_MEMORY;
    if (a->num_late < AT_ANCHOR_MEMORY) a->num_late++;
    if (a->num_late < AT_ANCHOR_MEMORY) return;
    double ns[AT_ANCHOR_MEMORY];
    memcpy(ns, a->late_ns, sizeof ns);
    at_sort_doubles(ns, AT_ANCHOR_MEMORY);
    a->run_ns = at_sorted_median(ns, AT_ANCHOR_MEMORY);
}

/* Is a kernel so much slower than the best that no pair is worth it? */
static bool is_far_behind(at_run *r, at_anchor *a, const at_job *job, at_run_time check_run,
                          int64_t *ns, int *failed) {
    const double best_ns = a->run_ns * at_best_ratio(job);
    if (job->to_the_end || !at_is_behind(r, (int64_t)best_ns, check_run, ns, failed)) return false;
    if (*failed) return true;
    *failed = at_run_glance(r, &a->tick, ns); /* or is it the clock's reading? */
    return *failed || (double)*ns > AT_BEHIND * best_ns;
}

/* How short is a kernel really whose first run was short? */
static int look_closer(at_run *r, at_anchor *a, int64_t *ns) {
    at_run_time again;
    int failed = at_run_once(r, 0, &again);
    if (again.ns < *ns) *ns = again.ns;
    return failed ? failed : at_run_glance(r, &a->tick, ns);
}

static void keep_pair(at_anchor *a, at_pair p, bool was_absent, at_outcome *out) {
    if (was_absent) out->disturbed_kept++;
    else remember(a, p.anchor_s);
    out->pairs[out->num_pairs++] = p;
    if (out->num_costs < AT_MAX_SAMPLES) out->costs_s[out->num_costs++] = p.time_s;
}

int at_time_pairs(at_run *r, at_anchor *a, const at_job *job, at_run_time check_run,
                  at_outcome *out) {
    int failed = 0;
    int64_t ns = check_run.ns;
    bool cold = ns < BLOCK_NS;
    out->number = 1;
    if (is_far_behind(r, a, job, check_run, &ns, &failed)) {
        out->at_least = true;
        out->costs_s[out->num_costs++] = (double)ns * 1e-9;
        return failed;
    }
    if (cold && !failed) failed = look_closer(r, a, &ns);
    side kernel = {.run = r, .late_ns = (double)ns};
    side anchor = {.run = &a->beside, .late_ns = a->run_ns, .undisturbed = a->run_ns};
    choose_runs(&kernel, (double)ns, &anchor, a->run_ns);
    manner how = {.tick = &a->tick,
                  .apart = job->vector_set != a->job->vector_set,
                  .fits = job->to_the_end ? FIT_ALL : FIT_TRIAL};
    out->is_bracketed = (double)ns > LONG * a->run_ns;
    out->number = kernel.runs;
    at_rng rng;
    at_rng_seed(&rng, job->pair_seed, 0);
    int64_t absent_ns = 0, begin_ns = r->clock->now_ns(), left_ns = job->wait_ns;
    int64_t last_ns = (int64_t)(kernel.runs * (double)ns + anchor.runs * a->run_ns); /* a pair */
    at_state before = look(job);
    int most = job->pairs < AT_MAX_PAIRS ? job->pairs : AT_MAX_PAIRS;
    bool late = false;
    const bool is_itself = at_run_is_same(r, &a->beside);
    while (!failed && !late && !enough(job, r->clock->now_ns() - begin_ns, is_itself, &most, out)) {
        bool first = at_rng_below(&rng, 2);
        const int64_t had_ns = left_ns;
        if (left_ns > 0) before = wait_for(r, job, before, last_ns, &left_ns);
        const bool is_cold = had_ns - left_ns > COLD_NS;
        out->waited_ns += had_ns - left_ns;
        how.closely = out->disturbed > 0 || last_ns > AT_LONG_NS;
        int64_t pair_ns = r->clock->now_ns();
        kernel.was_absent = anchor.was_absent = false;
        at_pair p = out->is_bracketed ? bracket(&kernel, &anchor, &how, &failed)
                                      : pair(&kernel, &anchor, &how, first, &failed);
        if (failed) break;
        at_state after = look(job);
        p.state = at_state_between(before, after);
        before = after;
        bool was_absent = kernel.was_absent || anchor.was_absent;
        const bool is_close = how.closely && r->par.threads == 1;
        int64_t now_ns = r->clock->now_ns();
        last_ns = now_ns - pair_ns;
        late = at_run_is_late(r, last_ns);
        if (is_cold && !late) continue;
        if (was_absent && !late && out->disturbed < MOST_ABSENT + job->pairs / 4 &&
            absent_ns + (is_close ? last_ns : 0) < ABSENT_NS + (now_ns - begin_ns) / 4) {
            absent_ns += now_ns - pair_ns;
            out->disturbed++;
            continue;
        }
        keep_pair(a, p, was_absent, out);
    }
    r->total_ns += r->clock->now_ns() - begin_ns; /* both kernels', and what keeps them apart */
    return failed;
}
