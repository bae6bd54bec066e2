/* bench/contest.c: several codes that do the same work, and the FMA peak of the core, each timed in
 * pairs with the first of them, run by run, as the tool times candidates (runtime/pairs.c): what
 * slows both for longer than a run is in no ratio. Times are ratios times the first one's. */
#include "bench/bench.h"

#include "runtime/runtime_int.h"

#define TURN_NS 25000000 /* of one code's pairs in a round */
#define PEAK_NS 200000   /* of a run of multiply-adds */
#define LEAST_ROUNDS 7
#define BUDGET_NS 4000000000LL /* of a contest, once it has its least rounds */
enum { LEAST_PAIRS = 3, MOST_PAIRS = 64 };

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
    return (double)(at_now_ns() - start) * 1e-9;
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

/* Time over the first one's; *first_s: that beside it. */
static double turn(turns *t, int i, double *first_s) {
    static at_outcome out;
    at_run r = run_of(&t->of[i]);
    double pairs = TURN_NS * 1e-9 / (t->seconds[i] + t->seconds[0]), ratios[MOST_PAIRS];
    double of_first[MOST_PAIRS];
    t->job.pairs = pairs < LEAST_PAIRS ? LEAST_PAIRS : pairs < MOST_PAIRS ? (int)pairs : MOST_PAIRS;
    t->job.pair_seed++;
    out = (at_outcome){0};
    at_time_pairs(&r, &t->anchor, &t->job, (at_run_time){.ns = (int64_t)(t->seconds[i] * 1e9)},
                  &out);
    for (int k = 0; k < out.num_pairs; k++) {
        ratios[k] = out.pairs[k].time_s / out.pairs[k].anchor_s;
        of_first[k] = out.pairs[k].anchor_s;
    }
    at_sort_doubles(ratios, out.num_pairs);
    at_sort_doubles(of_first, out.num_pairs);
    *first_s = at_sorted_median(of_first, out.num_pairs);
    return at_sorted_median(ratios, out.num_pairs);
}

void at_bench_contest_run(at_bench_contest *c, const at_bench_contender *of, int n,
                          const at_target *target) {
    static turns t;
    spinning peak;
    int64_t start = at_now_ns();
    AT_ASSERT(n <= AT_BENCH_CONTENDERS);
    t = (turns){.job = {.to_the_end = true}};
    for (int i = 0; i < n; i++) t.of[i] = of[i];
    t.of[n] = peak_of(target, &peak);
    for (int i = 0; i <= n; i++) t.seconds[i] = seconds_of(&t.of[i]);
    t.anchor = (at_anchor){.job = &t.job, .beside = run_of(&t.of[0]), .run_ns = t.seconds[0] * 1e9};
    for (c->rounds = 0; c->rounds < AT_BENCH_ROUNDS; c->rounds++) {
        if (c->rounds >= LEAST_ROUNDS && at_now_ns() - start > BUDGET_NS) break;
        double peak_s = turn(&t, n, &c->time_s[0][c->rounds]) * c->time_s[0][c->rounds];
        for (int i = 0; i < n; i++) {
            double first_s;
            c->flops[i] = of[i].flops;
            c->peak_gflops[i][c->rounds] = t.of[n].flops / peak_s * 1e-9;
            if (i) c->time_s[i][c->rounds] = turn(&t, i, &first_s) * c->time_s[0][c->rounds];
        }
    }
}

at_bench_spread at_bench_contest_of_peak(const at_bench_contest *c, int i) {
    double share[AT_BENCH_ROUNDS];
    for (int r = 0; r < c->rounds; r++)
        share[r] = c->flops[i] / c->time_s[i][r] * 1e-9 / c->peak_gflops[i][r];
    return at_bench_spread_of(share, c->rounds);
}

at_bench_spread at_bench_contest_speed(const at_bench_contest *c, int i, int j) {
    double ratio[AT_BENCH_ROUNDS];
    for (int r = 0; r < c->rounds; r++) ratio[r] = c->time_s[j][r] / c->time_s[i][r];
    return at_bench_spread_of(ratio, c->rounds);
}
