/* bench/contest.c: several codes that do the same work, timed in turn, round after round, with the
 * FMA peak of the core between them.
 *
 * A sample is taken as the peak is (runtime/peak.c): the best of a few chunks of a millisecond, so
 * that both shrug off the same interruptions and the first, cold chunk does not count. */
#include "bench/bench.h"

#include "runtime/runtime_int.h"

#define CHUNK_NS 1000000
#define CHUNKS 5
#define SAMPLE_NS 25000000 /* no further chunk of a slow code beyond this */
#define LEAST_ROUNDS 7
#define BUDGET_NS 4000000000LL /* of a contest, once it has its least rounds */

static int64_t run_chunk(const at_bench_contender *c, int64_t number) {
    int64_t start = at_now_ns();
    for (int64_t i = 0; i < number; i++) c->run(c->context);
    return at_now_ns() - start;
}

/* Runs in a chunk. */
static int64_t calibrate(const at_bench_contender *c) {
    int64_t number = 1, ns;
    run_chunk(c, 1);
    while ((ns = run_chunk(c, number)) < CHUNK_NS / 4) number *= 2;
    return ns < CHUNK_NS ? number * CHUNK_NS / ns + 1 : 1;
}

static double sample_s(const at_bench_contender *c, int64_t number) {
    int64_t start = at_now_ns(), best = INT64_MAX;
    for (int i = 0; i < CHUNKS && at_now_ns() - start < SAMPLE_NS; i++) {
        int64_t ns = run_chunk(c, number);
        if (ns < best) best = ns;
    }
    return (double)best / (double)number * 1e-9;
}

void at_bench_contest_run(at_bench_contest *c, const at_bench_contender *of, int n,
                          const at_target *target) {
    int64_t number[AT_BENCH_CONTENDERS], start = at_now_ns();
    AT_ASSERT(n <= AT_BENCH_CONTENDERS);
    c->rounds = 0;
    for (int i = 0; i < n; i++) {
        c->flops[i] = of[i].flops;
        number[i] = calibrate(&of[i]);
    }
    int set = at_vector_set(target->name);
    double before = at_peak_gflops(set, 1);
    while (c->rounds < AT_BENCH_ROUNDS) {
        for (int k = 0; k < n; k++) {
            int i = (k + c->rounds) % n; /* nobody always follows the same neighbour's caches */
            c->time_s[i][c->rounds] = sample_s(&of[i], number[i]);
            double after = at_peak_gflops(set, 1);
            c->peak_gflops[i][c->rounds] = (before + after) / 2;
            before = after;
        }
        c->rounds++;
        if (c->rounds >= LEAST_ROUNDS && at_now_ns() - start > BUDGET_NS) break;
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
