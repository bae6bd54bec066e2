/* bench/lowering.c: what a candidate costs before it runs: values, build and verify, lowering with
 * tile code, compiling with TinyCC, over random entities of conv2d_3x3_gemm. Compiling is done in
 * this process, by the function that the worker calls. And what the key of a program costs. */
#include "bench/bench.h"
#include "bench/passes.h"
#include "sketch/sketch.h"

#include <string.h>

enum { PROGRAM, VERIFY, LOWER, BEFORE_TILES, TILES, EMIT, BEFORE, COMPILE, TOTAL, NUM_PHASES };
#define ENTITIES 120
#define WARM_UP 10

static const char *const shapes[] = {"N=1,H=56,W=56,CI=64,CO=64", "N=1,H=28,W=28,CI=128,CO=128",
                                     "N=1,H=14,W=14,CI=256,CO=256", "N=1,H=7,W=7,CI=512,CO=512",
                                     "N=1,H=7,W=5,CI=3,CO=6"};
#define NUM_SHAPES (int)(sizeof shapes / sizeof *shapes)

typedef struct samples {
    double ms[NUM_PHASES][NUM_SHAPES * ENTITIES];
    int n, refused; /* refused: by the verifier or a limit */
} samples;

static double ms_since(int64_t start_ns) { return (double)(at_now_ns() - start_ns) * 1e-6; }

static at_status compile(at_arena *a, const at_kernel *k, at_error *err) {
    at_bench_kernel loaded = {0};
    at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
    for (int i = 0; i < k->num_tiles; i++)
        blobs[i] = (at_blob){k->tiles[i].symbol, k->tiles[i].bytes, k->tiles[i].size_bytes};
    at_job job = {.compiler = AT_TCC,
                  .source = k->source,
                  .blobs = blobs,
                  .num_blobs = k->num_tiles,
                  .entry = k->entry,
                  .pack = k->pack};
    return at_bench_load(&job, &loaded, err);
}

/* *refused: no candidate, not timed. */
static at_status candidate(at_arena *a, const at_task *task, int64_t index, double ms[NUM_PHASES],
                           bool *refused, at_error *err) {
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_config config;
    at_program *program;
    at_kernel *kernel;
    int64_t start_ns = at_now_ns();
    AT_TRY(at_config_at(a, at_task_space(task), index, &config, err));
    at_status s = at_task_program(a, task, &config, &program, err);
    ms[PROGRAM] = ms_since(start_ns);
    *refused = s == AT_E_INPUT;
    if (s != AT_OK) return *refused ? AT_OK : s;

    start_ns = at_now_ns();
    AT_TRY(at_program_verify(a, program, err)); /* again, for its share */
    ms[VERIFY] = ms_since(start_ns);

    start_ns = at_now_ns();
    s = at_lower(a, program, &lo, &kernel, err);
    ms[LOWER] = ms_since(start_ns);
    *refused = s == AT_E_INPUT;
    if (s != AT_OK) return *refused ? AT_OK : s;

    start_ns = at_now_ns();
    AT_TRY(compile(a, kernel, err));
    ms[COMPILE] = ms_since(start_ns);
    at_bench_passes_ms passes;
    AT_TRY(at_bench_passes(a, program, &lo, &passes, err));
    ms[BEFORE_TILES] = passes.before_tiles;
    ms[TILES] = passes.tiles;
    ms[EMIT] = ms[LOWER] - ms[TILES] - ms[BEFORE_TILES];
    ms[BEFORE] = ms[PROGRAM] + ms[LOWER];
    ms[TOTAL] = ms[BEFORE] + ms[COMPILE];
    return AT_OK;
}

static at_status bench_shape(const char *args, samples *out, at_error *err) {
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_rng rng;
    at_status s = at_template_find("conv2d_3x3_gemm", &row, err);
    if (s == AT_OK) s = at_task_new(a, row, args, &task, err);
    at_rng_seed(&rng, 0, 1);
    for (int i = -WARM_UP; i < ENTITIES && s == AT_OK; i++) {
        int64_t index =
            (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(at_task_space(task)));
        double ms[NUM_PHASES];
        bool refused;
        at_arena_reset(scratch);
        s = candidate(scratch, task, index, ms, &refused, err);
        if (s != AT_OK) at_fail_at(err, "%s, index %lld: ", args, (long long)index);
        if (s != AT_OK || i < 0) continue;
        if (refused) {
            out->refused++;
            continue;
        }
        for (int p = 0; p < NUM_PHASES; p++) out->ms[p][out->n] = ms[p];
        out->n++;
    }
    at_arena_free(scratch);
    at_arena_free(a);
    return s;
}

/* ---- keys ------------------------------------------------------------------------------------ */

enum { KEY_CALLS = 100 };

typedef struct key_samples {
    double us[ENTITIES], of_program[ENTITIES]; /* a share of values, build and verify */
    int n;
} key_samples;

static at_status time_keys(const char *template_name, const char *args, key_samples *out,
                           at_error *err) {
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *program;
    at_rng rng;
    at_key key = {0};
    out->n = 0;
    at_status s = at_template_find(template_name, &row, err);
    if (s == AT_OK) s = at_task_new(a, row, args, &task, err);
    at_rng_seed(&rng, 0, 1);
    for (int i = 0; i < ENTITIES && s == AT_OK; i++) {
        at_space *space = at_task_space(task);
        int64_t start_ns = 0,
                index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        bool accepted = true;
        if (!at_space_is_valid(space, index)) continue;
        for (int k = 0; k < KEY_CALLS + WARM_UP && accepted; k++) {
            if (k == WARM_UP) start_ns = at_now_ns();
            at_arena_reset(scratch);
            s = at_config_at(scratch, space, index, &config, err);
            accepted =
                s == AT_OK && at_task_program(scratch, task, &config, &program, err) == AT_OK;
        }
        if (!accepted) continue;
        int64_t middle_ns = at_now_ns();
        for (int k = 0; k < KEY_CALLS; k++) {
            at_key again = at_program_key(program);
            key.lo ^= again.lo;
        }
        double program_us = (double)(middle_ns - start_ns) * 1e-3 / KEY_CALLS;
        out->us[out->n] = (double)(at_now_ns() - middle_ns) * 1e-3 / KEY_CALLS;
        out->of_program[out->n] = out->us[out->n] / program_us;
        out->n++;
    }
    at_arena_free(scratch);
    at_arena_free(a);
    if (s == AT_OK && (!out->n || key.lo)) /* an even number of equal keys */
        return at_fail(err, AT_E_BUG, "%s: the keys of one program differ", template_name);
    return s;
}

static at_status bench_keys(at_error *err) {
    static const char *const tasks[][2] = {{"conv2d_3x3_gemm", "N=1,H=28,W=28,CI=128,CO=128"},
                                           {"conv2d_NCHWc", ""},
                                           {"spconv2d_3x3_gemm", ""}};
    enum { TASKS = sizeof tasks / sizeof *tasks };
    static key_samples keys[TASKS];
    at_bench_report_section("Key of a program", "us", 2);
    for (int i = 0; i < TASKS; i++) {
        AT_TRY(time_keys(tasks[i][0], tasks[i][1], &keys[i], err));
        at_bench_report_row(tasks[i][0], at_bench_spread_of(keys[i].us, keys[i].n),
                            AT_BENCH_GOAL_MOST, 2);
    }
    at_bench_report_section("The same, of values, build and verify", "", 3);
    for (int i = 0; i < TASKS; i++)
        at_bench_report_row(tasks[i][0], at_bench_spread_of(keys[i].of_program, keys[i].n),
                            AT_BENCH_GOAL_NONE, 0);
    return AT_OK;
}

at_status at_bench_lowering(at_error *err) {
    static const struct {
        const char *what;
        int phase;
        at_bench_goal goal;
        double target;
    } rows[] = {
        {"all: build, verify, lower, encode, compile", TOTAL, AT_BENCH_GOAL_MOST, 2},
        {"    before compiling", BEFORE, AT_BENCH_GOAL_MOST, 0.5},
        {"        values, build and verify", PROGRAM, AT_BENCH_GOAL_NONE, 0},
        {"            verify alone", VERIFY, AT_BENCH_GOAL_NONE, 0},
        {"        lower", LOWER, AT_BENCH_GOAL_NONE, 0},
        {"            passes before tiles", BEFORE_TILES, AT_BENCH_GOAL_NONE, 0},
        {"            tiles", TILES, AT_BENCH_GOAL_NONE, 0},
        {"            emit and encode", EMIT, AT_BENCH_GOAL_NONE, 0},
        {"    compile", COMPILE, AT_BENCH_GOAL_NONE, 0},
    };
    static samples all;
    memset(&all, 0, sizeof all);
    at_bench_report_section("One candidate until it can run, random entities", "ms", 3);
    for (int i = 0; i < NUM_SHAPES; i++) {
        int first = all.n;
        AT_TRY(bench_shape(shapes[i], &all, err));
        if (all.n > first)
            at_bench_report_row(shapes[i], at_bench_spread_of(all.ms[TOTAL] + first, all.n - first),
                                AT_BENCH_GOAL_NONE, 0);
    }
    if (!all.n) return at_fail(err, AT_E_NO_VALID, "no candidate could be lowered");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        at_bench_report_row(rows[i].what, at_bench_spread_of(all.ms[rows[i].phase], all.n),
                            rows[i].goal, rows[i].target);
    if (all.refused) at_bench_report_note("%d entities refused, not counted", all.refused);
    return bench_keys(err);
}
