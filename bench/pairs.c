/* bench/pairs.c: what timing in pairs can tell apart. A kernel beside itself, as one loaded object
 * and loaded twice: how often is it called different? And a kernel beside one with a counted number
 * of multiply-adds more: how long until they are?
 * ROWS in the environment names the groups: "same copies power"; TRIALS: so many comparisons;
 * COUNTS: a file in which the counts of several processes add up. */
#include "bench/bench.h"
#include "schedule/default_for.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/measure/kernel_job.h"

enum { MOST = 1000, BATCH = 250, COMPARISONS = 100, KEPT = 4096, SEEDS = MOST };
static const double level = 0.01, longest_s = 10, batch_s = 0.05;

/* A worker with two kernels: the anchor, and what is timed beside it. */
typedef struct rig {
    at_store *store;
    at_worker *worker;
    at_bench_data data;
    int64_t *at, *expected; /* offsets in the store, by tensor */
    at_job anchor, job;
    uint64_t seed; /* of the pairs that come next */
} rig;

static at_status reserve(at_arena *a, rig *r, at_error *err) {
    const at_compute *c = r->data.compute;
    r->at = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    r->expected = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    AT_TRY(at_store_new(&r->store, err));
    for (int t = 0; t < c->num_tensors; t++) {
        int64_t size = r->data.elements[t] * 4;
        if (!r->data.tensor[t]) continue;
        AT_TRY(at_store_reserve(r->store, c->tensors[t].name, size, &r->at[t], err));
        r->expected[t] = r->at[t];
        memcpy(at_store_at(r->store, r->at[t]), r->data.tensor[t], (size_t)size);
    }
    return at_worker_new(NULL, r->store, -1, 0, AT_SANDBOX_AUTO, &r->worker, err);
}

static at_status make_job(at_arena *a, const rig *r, const at_program *p, const char *name,
                          at_job *out, at_error *err) {
    at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_kernel *k;
    lo.name = name;
    AT_TRY(at_lower(a, p, &lo, &k, err));
    *out = at_kernel_job(a, k, 1, &(at_places){.at = r->at, .expected = r->expected});
    out->vector_set = at_vector_set(at_bench_target()->name);
    out->data_version = 1;
    return AT_OK;
}

static at_status set_anchor(rig *r, at_error *err) {
    at_outcome out;
    AT_TRY(at_worker_anchor(r->worker, &r->anchor, NULL, &out, err));
    return out.end ? at_fail(err, AT_E_BUG, "the anchor: %s", out.error) : AT_OK;
}

static void close_rig(rig *r) {
    at_worker_free(r->worker);
    at_store_free(r->store);
}

/* ---- one comparison ------------------------------------------------------------------------- */

typedef struct verdict {
    bool different; /* than 1, at some time */
    bool beyond;    /* by more than a tie */
    int pairs;
    double different_s; /* when that was seen; INFINITY: never */
    double spread;      /* of the logarithms of the ratios: their standard deviation, */
    double half, most;  /* and how far from their median half of them are, and 95 of 100 */
} verdict;

/* So many of n lie on one side: is the median certainly there? */
static bool is_sure(int64_t there, int64_t n) {
    return 2 * there > n && at_sign_evidence(there, n - there) >= log(1 / level);
}

/* Interrupts make a few pairs deviate by a quarter, which the standard deviation is full of. */
static void set_quantiles(verdict *v, double *logs, int n) {
    at_sort_doubles(logs, n);
    double median = at_sorted_median(logs, n);
    for (int i = 0; i < n; i++) logs[i] = fabs(logs[i] - median);
    at_sort_doubles(logs, n);
    v->half = at_sorted_quantile(logs, n, 0.5);
    v->most = at_sorted_quantile(logs, n, 0.95);
}

/* Looked at after each pair, until there are `most`, or, where one is enough, they differ. */
static at_status compare(rig *r, int most, bool until_different, verdict *v, at_error *err) {
    int64_t above = 0, below = 0, far_above = 0, far_below = 0;
    double spent_s = 0, sum = 0, squares = 0, logs[KEPT];
    int batch = 20;
    *v = (verdict){.different_s = INFINITY};
    while (v->pairs < most && spent_s < longest_s && !(until_different && v->different)) {
        at_outcome out;
        r->job.pairs = batch < most - v->pairs ? batch : most - v->pairs;
        r->job.to_the_end = true;
        r->job.pair_seed = ++r->seed;
        AT_TRY(at_worker_run(r->worker, &r->job, NULL, &out, err));
        if (out.end || !out.num_pairs) return at_fail(err, AT_E_BUG, "pairs: %s", out.error);
        double pair_s = (double)out.run_ns * 1e-9 / out.num_pairs;
        for (int i = 0; i < out.num_pairs; i++) {
            double x = log(out.pairs[i].time_s / out.pairs[i].anchor_s);
            if (v->pairs < KEPT) logs[v->pairs] = x;
            int64_t n = ++v->pairs;
            spent_s += pair_s;
            sum += x;
            squares += x * x;
            above += x > 0, below += x < 0;
            far_above += x > log1p(AT_TIE), far_below += x < -log1p(AT_TIE);
            v->beyond |= is_sure(far_above, n) || is_sure(far_below, n);
            if (v->different || !(is_sure(above, n) || is_sure(below, n))) continue;
            v->different = true;
            v->different_s = spent_s;
        }
        batch = (int)fmax(5, fmin(BATCH, batch_s / pair_s));
    }
    double mean = sum / v->pairs;
    v->spread = sqrt(fmax(0, squares / v->pairs - mean * mean));
    set_quantiles(v, logs, v->pairs < KEPT ? v->pairs : KEPT);
    return AT_OK;
}

/* ---- a kernel beside itself ----------------------------------------------------------------- */

static void report_count(at_arena *a, const char *what, int count, int of, double most) {
    double n = count;
    at_bench_report_row(at_format(a, "%s, of %d", what, of), at_bench_single(n),
                        most < 0 ? AT_BENCH_GOAL_NONE : AT_BENCH_GOAL_MOST, most);
}

enum { PIECE = 25 }; /* comparisons to a line of the file of counts */

/* NULL: there is none. */
static const char *counts_file(void) {
    const char *name = getenv("COUNTS");
    return name && *name ? name : NULL;
}

static at_status report_sum(at_arena *a, at_error *err) {
    at_bench_counts sum;
    if (!counts_file()) return AT_OK;
    AT_TRY(at_bench_counts_read(counts_file(), &sum, err));
    double most = sum.comparisons * level;
    report_count(a, "all in the file of counts: different", sum.different, sum.comparisons, most);
    report_count(a, "    by more than 0.3 %", sum.beyond, sum.comparisons, most);
    return AT_OK;
}

/* Of the default configuration of a small layer, which takes some 55 microseconds, so that a block
 * is one run; fresh: in another process, and so in other places, each time. */
static at_status beside_itself(at_arena *a, const char *other_name, bool fresh, const char *title,
                               at_error *err) {
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    rig r = {0};
    int n = at_bench_trials ? at_bench_trials : COMPARISONS;
    at_bench_counts all = {0}, piece = {0}, before = {0};
    const char *file = fresh ? NULL : counts_file();
    if (file) AT_TRY(at_bench_counts_read(file, &before, err));
    r.seed = (uint64_t)before.comparisons * SEEDS;
    AT_TRY(at_template_find("conv2d_3x3_gemm", &row, err));
    AT_TRY(at_task_new(a, row, "N=1,H=14,W=14,CI=60,CO=64", &task, err));
    AT_TRY(at_task_default_config(a, task, at_bench_target()->default_lanes, &config, err));
    AT_TRY(at_task_program(a, task, &config, &p, err));
    AT_TRY(at_bench_data_new(a, p->compute, p->values, &r.data, err));
    at_status s = reserve(a, &r, err);
    if (s == AT_OK) s = make_job(a, &r, p, "kernel", &r.anchor, err);
    if (s == AT_OK) s = make_job(a, &r, p, other_name, &r.job, err);
    if (s == AT_OK) s = set_anchor(&r, err);
    double spreads = 0, halves = 0, mosts = 0;
    for (int i = 0; i < n && s == AT_OK; i++) {
        verdict v;
        if (fresh) at_worker_rest(r.worker);
        s = compare(&r, MOST, false, &v, err);
        if (s != AT_OK) break;
        all.comparisons++, piece.comparisons++;
        all.different += v.different, piece.different += v.different;
        all.beyond += v.beyond, piece.beyond += v.beyond;
        if (file && (piece.comparisons == PIECE || i == n - 1)) {
            /* Before the next piece begins: whoever ends this process cannot choose which count. */
            s = at_bench_counts_append(file, &piece, err);
            piece = (at_bench_counts){0};
        }
        spreads += v.spread;
        halves += v.half;
        mosts += v.most;
    }
    if (s == AT_OK) {
        report_count(a, at_format(a, "%s: different", title), all.different, n,
                     fresh ? -1 : n * level);
        report_count(a, "    by more than 0.3 %", all.beyond, n, fresh ? -1 : n * level);
        at_bench_report_note("a pair deviates by %.2f %%, half of them by less than %.2f %%, 95 of "
                             "100 by less than %.2f %%",
                             spreads / n * 100, halves / n * 100, mosts / n * 100);
        if (!fresh) s = report_sum(a, err);
    }
    close_rig(&r);
    return s;
}

static at_status run_same(at_arena *a, int i, at_error *err) {
    (void)i;
    return beside_itself(a, "kernel", false, "one object, one memory", err);
}

static at_status run_copies(at_arena *a, int i, at_error *err) {
    (void)i;
    return beside_itself(a, "other", true, "two objects, each time loaded anew", err);
}

/* ---- a kernel with more work ---------------------------------------------------------------- */

/* clang-format off */
static const char compute_text[] =
    "x[Y, K] : input\n"
    "w[K, X] : input\n"
    "out[r:R, i:Y, j:X] = sum(k:K) x[i, k] * w[k, j]\n";
static const char tree_text[] =
    "r =>\n"
    "    k, i:unroll, j:vec =>\n"
    "        @out = r, i, j // k\n";
/* clang-format on */

enum { TILES = 200, EXTRAS = 3, LENGTHS = 2 };
static const int extra_tiles[EXTRAS] = {1, 2, 6};
/* Sums of so many terms: 50 microseconds, and a millisecond. */
static const int terms[LENGTHS] = {72, 1440};

static at_status make_tiles(at_arena *a, int tiles, int k, at_program **out, at_error *err) {
    const at_target *t = at_bench_target();
    const int lanes = t->default_lanes & AT_JUST_LANES;
    const at_bench_size sizes[] = {{"R", tiles}, {"Y", 6}, {"X", 2 * lanes}, {"K", k},
                                   {"r", tiles}, {"i", 6}, {"j", 2 * lanes}, {"k", k}};
    return at_bench_program(a, compute_text, tree_text, sizes, sizeof sizes / sizeof *sizes, out,
                            err);
}

static at_status separate(at_arena *a, int extra, int k, at_error *err) {
    enum { REPEATS = 40 };
    double times_s[REPEATS], spread = 0, half = 0;
    at_program *more, *base;
    rig r = {0};
    AT_TRY(make_tiles(a, TILES + extra, k, &more, err));
    AT_TRY(make_tiles(a, TILES, k, &base, err));
    AT_TRY(at_bench_data_new(a, more->compute, more->values, &r.data, err));
    at_status s = reserve(a, &r, err);
    if (s == AT_OK) s = make_job(a, &r, base, "kernel", &r.anchor, err);
    if (s == AT_OK) s = make_job(a, &r, more, "kernel", &r.job, err);
    if (s == AT_OK) s = set_anchor(&r, err);
    int n = at_bench_trials && at_bench_trials < REPEATS ? at_bench_trials : REPEATS;
    for (int i = 0; i < n && s == AT_OK; i++) {
        verdict v;
        s = compare(&r, INT32_MAX, true, &v, err);
        times_s[i] = fmin(v.different_s, longest_s);
        spread += v.spread / n;
        half += v.half / n;
    }
    if (s == AT_OK) {
        at_bench_spread t = at_bench_spread_of(times_s, n);
        at_sort_doubles(times_s, n);
        double late = at_sorted_quantile(times_s, n, 0.95), percent = 100.0 * extra / TILES;
        at_bench_report_row(at_format(a,
                                      "%g %% more work, %d terms, pairs deviate by %.2f %%, half "
                                      "by less than %.2f %%",
                                      percent, k, spread * 100, half * 100),
                            t, AT_BENCH_GOAL_NONE, 0);
        at_bench_report_row("    95th percentile", at_bench_single(late),
                            extra == 1 ? AT_BENCH_GOAL_NONE : AT_BENCH_GOAL_MOST,
                            extra == 2 ? 2 : 0.25);
    }
    close_rig(&r);
    return s;
}

static at_status run_power(at_arena *a, int i, at_error *err) {
    return separate(a, extra_tiles[i % EXTRAS], terms[i / EXTRAS], err);
}

/* ---- the part -------------------------------------------------------------------------------- */

at_status at_bench_pairs(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("A kernel beside itself, looked at after each of 1,000 pairs", "count",
                            0);
    if (at_bench_is_wanted("same")) s = at_bench_row(run_same, 0, "same", err);
    if (at_bench_is_wanted("copies") && s == AT_OK) s = at_bench_row(run_copies, 0, "copies", err);
    at_bench_report_section("A kernel beside one with more multiply-adds: until it is seen", "s",
                            3);
    for (int i = 0; i < EXTRAS * LENGTHS && s == AT_OK && at_bench_is_wanted("power"); i++)
        s = at_bench_row(run_power, i, "power", err);
    return s;
}
