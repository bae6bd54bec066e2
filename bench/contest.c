/* bench/contest.c: several codes that do the same work, and the FMA peak of the core, each timed in
 * pairs with the first of them, run by run, as the tool times candidates (runtime/pairs.c): what
 * slows both for longer than a run is in no ratio. Times are ratios to the first one's, of all
 * pairs, and of those in each state of the machine by itself. */
#include "bench/bench.h"

#include <math.h>

#include "engine/measure/quieter_core.h"
#include "runtime/arch.h"
#include "runtime/inside.h"

#define TURN_NS 25000000 /* of one code's pairs in a round */
#define PEAK_NS 200000   /* of a run of multiply-adds */
#define LEAST_ROUNDS 7
#define BUDGET_NS 4000000000LL             /* of a contest, once it has its least rounds */
#define MOST_NS 24000000000LL              /* where its times are not sure by then */
#define SURE 0.004                         /* the standard error of a time, as a share of it */
enum { LEAST_PAIRS = 3, MOST_PAIRS = 64 }; /* asked for */

static int run_one(void *const buf[], void *contender, at_par *par) {
    const at_bench_contender *c = contender;
    (void)buf, (void)par;
    c->run(c->context);
    return 0;
}

static at_run run_of(at_bench_contender *c) {
    return (at_run){.clock = &at_machine_clock, .entry = run_one, .workspace = c, .par.threads = 1};
}

/* The second run's time: the first one is cold. */
static double seconds_of(const at_bench_contender *c) {
    int64_t start = 0;
    for (int i = 0; i < 2; i++) {
        start = at_now_ns();
        c->run(c->context);
    }
    return at_seconds_since(start);
}

/* ---- the peak ------------------------------------------------------------------------------- */

typedef struct spinning {
    void (*multiply_add)(int64_t trips);
    int64_t trips;
} spinning;

static void spin(void *context) {
    const spinning *s = context;
    s->multiply_add(s->trips);
}

static at_bench_contender peak_of(const at_target *target, spinning *s) {
    const at_spin *of = &at_arch_sets[at_vector_set(target->name)].spin;
    *s = (spinning){of->multiply_add, 1000};
    at_bench_contender c = {spin, s, 0};
    while (seconds_of(&c) < PEAK_NS * 1e-9) s->trips *= 2;
    c.flops = (double)s->trips * of->flops;
    return c;
}

/* ---- turns ---------------------------------------------------------------------------------- */

typedef struct turns {
    at_job job; /* of all */
    at_anchor anchor;
    at_bench_contender of[AT_BENCH_CONTENDERS + 1]; /* the last is the peak */
    double seconds[AT_BENCH_CONTENDERS + 1];        /* of a run, about */
} turns;

static bool is_of(int kind, at_state state) {
    return kind == AT_BENCH_ANY ||
           state == (kind == AT_BENCH_ALONE ? AT_STATE_ALONE : AT_STATE_COMPANY);
}

/* Times over the first one's; 0: no pair was in that state. */
static void turn(turns *t, int i, at_bench_contest *c) {
    static at_outcome out;
    at_run r = run_of(&t->of[i]);
    double pairs = TURN_NS * 1e-9 / (t->seconds[i] + t->seconds[0]), ratios[AT_MAX_PAIRS];
    t->job.pairs = pairs < LEAST_PAIRS ? LEAST_PAIRS : pairs < MOST_PAIRS ? (int)pairs : MOST_PAIRS;
    t->job.pair_seed++;
    out = (at_outcome){0};
    at_time_pairs(&r, &t->anchor, &t->job, (at_run_time){.ns = (int64_t)(t->seconds[i] * 1e9)},
                  &out);
    for (int kind = 0; kind < AT_BENCH_KINDS; kind++) {
        int n = 0;
        for (int k = 0; k < out.num_pairs; k++)
            if (is_of(kind, out.pairs[k].state))
                ratios[n++] = out.pairs[k].time_s / out.pairs[k].anchor_s;
        at_sort_doubles(ratios, n);
        c->times[kind][c->rounds].of[i] = n ? at_sorted_median(ratios, n) : 0;
        c->pairs[kind] += n;
    }
}

/* Are the medians known well? Codes that live in the third-level cache deviate by a tenth from one
 * moment to the next, and others by a hundredth. */
static bool is_sure(const at_bench_contest *c) {
    /* Of a normal distribution: of the median, in quartile distances. */
    static const double of_quartiles = 0.93;
    for (int i = 1; i <= c->peak; i++) {
        double x[AT_BENCH_ROUNDS];
        for (int r = 0; r < c->rounds; r++) x[r] = c->times[AT_BENCH_ANY][r].of[i];
        at_bench_spread s = at_bench_spread_of(x, c->rounds);
        if (of_quartiles * (s.high - s.low) > SURE * s.median * sqrt(c->rounds)) return false;
    }
    return true;
}

void at_bench_contest_run(at_bench_contest *c, const at_bench_contender *of, int n,
                          const at_target *target) {
    static turns t;
    spinning peak;
    int64_t start = at_now_ns();
    AT_ASSERT(n <= AT_BENCH_CONTENDERS);
    *c = (at_bench_contest){.peak = n};
    t = (turns){.job = {.to_the_end = true, .reach = at_reach_here()}};
    for (int i = 0; i < n; i++) t.of[i] = of[i];
    t.of[n] = peak_of(target, &peak);
    for (int i = 0; i <= n; i++) {
        t.seconds[i] = seconds_of(&t.of[i]);
        c->flops[i] = t.of[i].flops;
    }
    t.anchor = (at_anchor){.job = &t.job, .beside = run_of(&t.of[0]), .run_ns = t.seconds[0] * 1e9};
    for (; c->rounds < AT_BENCH_ROUNDS; c->rounds++) {
        int64_t spent_ns = at_now_ns() - start;
        if (c->rounds >= LEAST_ROUNDS && spent_ns > BUDGET_NS && (spent_ns > MOST_NS || is_sure(c)))
            break;
        for (int kind = 0; kind < AT_BENCH_KINDS; kind++) c->times[kind][c->rounds].of[0] = 1;
        for (int i = 1; i <= n; i++) turn(&t, i, c);
    }
}

/* Of the rounds in which all that it takes was there. */
static int values_of(const at_bench_contest *c, int kind, at_bench_value *f, int i, int j,
                     double values[AT_BENCH_ROUNDS]) {
    int n = 0;
    for (int r = 0; r < c->rounds; r++) {
        double x = f(c, c->times[kind][r].of, i, j);
        if (isfinite(x) && x > 0) values[n++] = x;
    }
    return n;
}

at_bench_spread at_bench_contest_of(const at_bench_contest *c, at_bench_value *f, int i, int j) {
    double values[AT_BENCH_ROUNDS];
    at_bench_spread s = at_bench_spread_of(values, values_of(c, AT_BENCH_ANY, f, i, j, values));
    for (int kind = AT_BENCH_ALONE; kind < AT_BENCH_KINDS; kind++) {
        int n = values_of(c, kind, f, i, j, values);
        if (!n) continue;
        s.in[kind] = at_bench_spread_of(values, n).median;
        s.share[kind] = (double)c->pairs[kind] / (double)c->pairs[AT_BENCH_ANY];
    }
    return s;
}

static double of_peak(const at_bench_contest *c, const double *times, int i, int peak) {
    return c->flops[i] / c->flops[peak] * times[peak] / times[i];
}

at_bench_spread at_bench_contest_of_peak(const at_bench_contest *c, int i) {
    return at_bench_contest_of(c, of_peak, i, c->peak);
}

static double speed(const at_bench_contest *c, const double *times, int i, int j) {
    (void)c;
    return times[j] / times[i];
}

at_bench_spread at_bench_contest_speed(const at_bench_contest *c, int i, int j) {
    return at_bench_contest_of(c, speed, i, j);
}
