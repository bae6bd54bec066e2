/* Estimates from knobs against what lowering makes of the same points: how often tiles are called
 * and what they work out, counted in the lowered program by cost/bound.c, which shares nothing with
 * the estimate but the sizes of parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/engine/guessed_cost.h"
#include "tests/any_task.h"
#include "tests/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is the same as after lowering. */
typedef enum exact {
    ALL,
    SUMS,      /* calls of tiles that sum, and operations: a copy with a condition is cut where that
                  changes */
    CALLS,     /* calls: where a border cuts terms off, some partial sums are fewer */
    SUM_CALLS, /* of tiles that sum: how long lists are, and what borders cut off, is not known */
} exact;

typedef struct compared {
    const char *name, *args;
    exact exact;
} compared;

static const compared tasks[] = {
    {"dense", "M=30,N=120,K=64", ALL},
    {"dense", "M=64,N=96,K=48,bias=1", ALL},
    {"dense+bias+relu", "M=48,N=96,K=36", ALL},
    {"matmul_add", "N=48,L=60,M=64", ALL},
    {"conv2d_NCHWc", "N=1,IC=32,H=15,W=15,OC=64,KH=1,KW=1,strides=1,padding=0", ALL},
    {"conv2d_NCHWc", "N=1,IC=16,H=14,W=14,OC=64,KH=3,KW=3,strides=1,padding=1", CALLS},
    {"conv2d_NCHWc", "N=1,IC=16,H=15,W=14,OC=48,KH=5,KW=5,strides=2,padding=2", CALLS},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=64,CO=96,KH=1,KW=1,padding=0", ALL},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=16,CO=48,KH=3,KW=3", CALLS},
    {"conv2d_nhwc", "N=2,H=10,W=12,CI=16,CO=24,KH=3,KW=3,strides=2", CALLS},
    {"conv2d_3x3_gemm", "N=1,H=14,W=14,CI=64,CO=64", SUMS},
    {"conv2d_3x3_gemm", "N=1,H=7,W=9,CI=24,CO=48", SUMS},
    {"batch_matmul", "B=4,M=24,N=48,K=40,tb=0", ALL},
    {"conv1d_nwc", "N=1,W=40,CI=24,CO=48", CALLS},
    {"conv3d_ndhwc", "N=1,D=6,H=10,W=10,CI=24,CO=48", ALL},
    {"group_conv2d_nhwc", "N=1,H=12,W=12,CI=64,CO=64,KH=1,KW=1,padding=0,G=2,strides=1", ALL},
    {"depthwise_conv2d_nhwc", "N=1,H=14,W=14,C=32,KH=1,KW=1,padding=0", ALL},
    {"depthwise_conv2d_NCHWc", "N=1,IC=24,H=6,W=6,KH=1,KW=1,padding=0", SUM_CALLS},
    {"sparse_dense", "M=48,N=64,K=128,nnz=102", SUM_CALLS},
    {"examples/te/matmul_add.te", "N=36,L=40,M=64", SUMS},
    {"examples/te/conv1d.te", NULL, SUM_CALLS},
    {"examples/te/complex_matmul.te", "M=36,N=64,K=40", SUMS},
};
static const char *const targets[] = {"avx512", "avx2", "sse2"};

/* Rows of two loops in the tile that do not come out even: what is left over may be cut again. */
static bool is_cut_again(const at_task *t, const at_config *c) {
    const at_entity *y = at_config_get(c, "tile_y"), *inner = at_config_get(c, "tile_inner");
    return inner && inner->sizes[1] > 1 && y->sizes[2] % inner->sizes[1] == 0 &&
           at_task_arg(t, "N") % (y->sizes[1] * y->sizes[2]) != 0 &&
           !strcmp(at_task_row(t)->name, "matmul_add");
}

typedef struct counted {
    double calls, sum_calls, operations;
} counted;

static counted count(const at_bound *b) {
    counted c = {0};
    for (int i = 0; i < b->num_tiles; i++) {
        const at_work *w = &b->tiles[i].work;
        c.calls += w->calls;
        /* moves between lanes, which copies take, are no operations */
        if (strncmp(b->tiles[i].tile, "copy_", 5)) c.operations += w->fmas + w->others;
        if (!strncmp(b->tiles[i].tile, "tile_", 5)) c.sum_calls += w->calls;
    }
    return c;
}

static void compare(const char *what, const at_config *c, double found, double expected,
                    double within) {
    if (fabs(found - expected) <= within * expected) return;
    at_text text = {0};
    at_config_print_entity(&text, c);
    fail_msg("%s: %.0f estimated, %.0f after lowering: %s", what, found, expected,
             at_text_str(&text));
}

/* Of all of the space, or of the sketches whose names begin so. */
static int64_t random_index(const at_task *t, const char *sketches, at_rng *rng) {
    const at_space *s = at_task_space(t);
    if (!sketches) return (int64_t)at_rng_below(rng, (uint64_t)at_space_range_length(s));
    int part;
    do part = (int)at_rng_below(rng, (uint64_t)at_space_num_parts(s));
    while (strncmp(at_task_sketch_name(t, part), sketches, strlen(sketches)));
    int64_t begin = at_space_part_begin(s, part), end = at_space_part_begin(s, part + 1);
    return begin + (int64_t)at_rng_below(rng, (uint64_t)(end - begin));
}

static void one_task(const compared *x, int seed, const char *sketches, const char *isa,
                     int points) {
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    at_task *t = any_task(a, x->name, x->args);
    const at_target *target = at_target_find(isa);
    const at_core *core = at_core_find("sapphirerapids");
    at_cost_model *m = guessed_cost(t, target, core);
    const at_machine machine = {.core = core,
                                .l1d_bytes = core->l1d_bytes,
                                .l2_bytes = core->l2_bytes,
                                .l3_bytes = 1 << 25,
                                .threads = 1};
    const at_lower_options lo = {.dialect = AT_DIALECT_TCC, .target = target, .name = "kernel"};
    at_rng rng;
    at_rng_seed(&rng, 7, (uint64_t)seed);
    for (int n = 0, tries = 0; n < points && tries < 20 * points; tries++) {
        int64_t index = random_index(t, sketches, &rng);
        at_config config;
        at_program *p;
        const at_lowered *lowered;
        at_estimate e;
        at_arena_reset(scratch);
        if (at_config_at(scratch, at_task_space(t), index, &config, NULL) != AT_OK ||
            at_task_program(scratch, t, &config, &p, NULL) != AT_OK ||
            at_lower_tiles(scratch, p, &lo, &lowered, NULL) != AT_OK)
            continue;
        if (is_cut_again(t, &config)) continue;
        n++;
        counted c = count(at_bound_of(scratch, lowered, &machine));
        if (!at_cost_point(m, index, &e)) fail_msg("%s: %d is not estimated", x->name, n);
        assert_true(e.ns > 0 && isfinite(e.ns));
        compare("calls of sums", &config, e.sum_calls, c.sum_calls, 1e-9);
        if (x->exact == SUM_CALLS) continue;
        if (x->exact != SUMS) compare("calls", &config, e.calls, c.calls, 0);
        compare("operations", &config, e.operations, c.operations, x->exact == CALLS ? 0.05 : 1e-9);
    }
    at_cost_model_free(m);
    at_arena_free(scratch);
    at_arena_free(a);
}

/* AT_POINTS=10000: of each task, instead of a few. AT_TASK: only this one. */
static void counts(void **state) {
    (void)state;
    const long only = setting("AT_TASK", -1);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++)
            if (only < 0 || only == (long)k)
                one_task(&tasks[k], (int)k, NULL, targets[i],
                         (int)setting("AT_POINTS", i ? 25 : 60));
}

/* Products of bytes: four terms are one operation of each lane. */
static void dot_products(void **state) {
    (void)state;
    static const compared of[] = {
        {"dense_int8", "M=30,N=96,K=64", ALL},
        {"batch_matmul_int8", "B=2,M=24,N=48,K=40", SUM_CALLS},
        {"conv2d_NCHWc_int8", "N=1,IC=32,H=14,W=14,OC=32,KH=1,KW=1,padding=0", SUM_CALLS},
        {"examples/te/dense_u8s8.te", "M=32,N=64,K=48", SUM_CALLS},
    };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        one_task(&of[k], (int)k, NULL, "avx512vnni", (int)setting("AT_POINTS", 60));
}

static int64_t last_of(const at_config *c, const char *knob) {
    const at_entity *e = at_config_get(c, knob);
    return e->sizes[e->n - 1];
}

/* Two sums in one tile, which each end in a leaf of their own, or both in one. There functions take
 * registers, too, which sixteen are too few for. */
static void joint_tiles(void **state) {
    (void)state;
    const compared apart = {"examples/te/complex_matmul.te", "M=36,N=64,K=40", SUMS},
                   both = {"examples/te/gated_mlp.te", "M=12,K=48,F=96", SUMS};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        one_task(&apart, 1, "tile_j+with_re", targets[i], (int)setting("AT_POINTS", 60));
    one_task(&both, 2, "tile_n+tile_f+with_g", targets[0], (int)setting("AT_POINTS", 60));
}

/* A vector over blocks of 24 channels that are read as blocks of 3 is a loop over parts and a
 * narrow vector, both whole: only rows are cut where registers are too few. */
static void vectors_of_blocks(void **state) {
    (void)state;
    enum { POINTS = 450 }; /* of 512 */
    const compared x = {"depthwise_conv2d_NCHWc", "N=1,IC=24,H=6,W=6,KH=1,KW=1,padding=0",
                        SUM_CALLS};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        one_task(&x, 3, NULL, targets[i], POINTS);
}

/* Rows of a picture whose padding cuts the lanes step by step have their sums in memory; with a
 * copy of the padded rows they are in registers. */
static void vectors_that_padding_cuts(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_task *t = any_task(a, "examples/te/conv2d_nchw.te", "N=2,CI=32,CO=32,H=14,W=14,K=3,S=1,P=1");
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    const at_space *space = at_task_space(t);
    double cut_ns = INFINITY, copied_ns = INFINITY;
    for (int64_t index = 0; index < at_space_range_length(space); index++) {
        at_config c;
        at_estimate e;
        if (at_config_at(a, space, index, &c, NULL) != AT_OK || !at_cost_point(m, index, &e))
            continue;
        const char *name = at_config_get(&c, "sketch")->option->string;
        if (!strcmp(name, "tile_w")) cut_ns = fmin(cut_ns, e.ns);
        if (!strcmp(name, "strip_pad+tile_w")) copied_ns = fmin(copied_ns, e.ns);
    }
    assert_true(isfinite(cut_ns) && cut_ns > 2 * copied_ns);
    at_cost_model_free(m);
    at_arena_free(a);
}

/* Where an index wraps around, or is bounded, a vector is cut: neighbours along a row are in a row
 * but for these places, also where the first two are none. */
static void bent(const char *text, int operations, int most_more) {
    enum { N = 96 };
    at_arena *a = at_arena_new();
    at_task *t = task_of_text(a, "bent.te", text, NULL);
    const at_target *target = at_target_find("avx512");
    const at_core *core = at_core_find("sapphirerapids");
    const at_machine machine = {
        .core = core, .l1d_bytes = 1 << 15, .l2_bytes = 1 << 20, .l3_bytes = 1 << 25, .threads = 1};
    const at_lower_options lo = {.dialect = AT_DIALECT_TCC, .target = target, .name = "kernel"};
    at_cost_model *m = guessed_cost(t, target, core);
    const at_space *space = at_task_space(t);
    int points = 0;
    for (int64_t index = 0; index < at_space_range_length(space); index++) {
        at_config c;
        at_program *p;
        const at_lowered *lowered;
        at_estimate e;
        if (at_config_at(a, space, index, &c, NULL) != AT_OK || last_of(&c, "tile_j") % 16 ||
            N % last_of(&c, "tile_j") || at_task_program(a, t, &c, &p, NULL) != AT_OK ||
            at_lower_tiles(a, p, &lo, &lowered, NULL) != AT_OK)
            continue;
        const counted found = count(at_bound_of(a, lowered, &machine));
        assert_true(at_cost_point(m, index, &e));
        compare("calls", &c, e.calls, found.calls, 0);
        assert_true(e.operations == operations * N * N / 16);
        assert_true((found.operations > e.operations || !most_more) &&
                    found.operations <= e.operations + operations * N * most_more);
        points++;
    }
    assert_true(points > 1);
    at_cost_model_free(m);
    at_arena_free(a);
}

static void indices_that_bend(void **state) {
    (void)state;
    bent("args N=96\n"
         "a[N, N] : input\n"
         "out[i:N, j:N] = a[i, j] + 0.1*(a[(i + 1)%N, j] + a[(i + N - 1)%N, j]"
         " + a[i, (j + 1)%N] + a[i, (j + N - 1)%N] - 4*a[i, j])\n",
         5, 2);
    bent("args N=96\n"
         "a[N, N] : input\n"
         "out[i:N, j:N] = a[i, j] + 0.1*(a[min(i + 1, N - 1), j] + a[max(i - 1, 0), j]"
         " + a[i, min(j + 2, N - 1)] + a[i, max(0, j - 3)] - 4*a[i, j])\n",
         5, 2);
    bent("args N=96\n"
         "a[N, N] : input\n"
         "b[y:N + 2, x:N + 2] = a[min(max(y - 1, 0), N - 1), min(max(x - 1, 0), N - 1)]\n"
         "out[i:N, j:N] = b[i, j] + 0.1*(b[i + 1, j] + b[i + 2, j + 1] + b[i + 1, j + 2])\n",
         3, 2);
}

/* What is multiplied and added, or taken away, by one instruction. */
static void joined_products(void **state) {
    (void)state;
    bent("args N=96\nr[N, N] : input\nx[N, N] : input\n"
         "out[i:N, j:N] = x[i, j]*r[i, j] - x[i, j]\n",
         1, 0);
    bent("args N=96\nr[N, N] : input\nx[N, N] : input\n"
         "out[i:N, j:N] = (x[i, j] + x[i, j]*x[i, j])*r[i, j] - (x[i, j]/7.0 - r[i, j]*r[i, j])\n",
         4, 0);
}

/* Every template there is has estimates of all its points, by list as one by one. */
static void every_template(void **state) {
    (void)state;
    enum { POINTS = 200 };
    for (int k = 0; k < at_template_count(); k++) {
        at_arena *a = at_arena_new();
        const char *name = at_template_at(k)->name;
        at_task *t = any_task(a, name, strstr(name, "sp") == name ? "nnz=40" : NULL);
        at_cost_model *m = at_cost_model_new(t, &(at_engine_options){0});
        int64_t range = at_space_range_length(at_task_space(t)), index[POINTS];
        double ns[POINTS];
        at_rng rng;
        at_rng_seed(&rng, 3, 1);
        for (int i = 0; i < POINTS; i++) index[i] = (int64_t)at_rng_below(&rng, (uint64_t)range);
        at_cost_points(m, index, POINTS, ns);
        for (int i = 0; i < POINTS; i++) {
            at_config config;
            at_program *p;
            at_estimate e;
            bool estimated = at_cost_point(m, index[i], &e);
            assert_true(estimated ? e.ns == ns[i] : isinf(ns[i]));
            bool valid = at_config_at(a, at_task_space(t), index[i], &config, NULL) == AT_OK &&
                         at_task_program(a, t, &config, &p, NULL) == AT_OK;
            if (valid && !estimated) fail_msg("%s: index %lld", name, (long long)index[i]);
        }
        index[0] = range;
        index[1] = -1;
        at_cost_points(m, index, 2, ns);
        assert_true(isinf(ns[0]) && isinf(ns[1]));
        at_cost_model_free(m);
        at_arena_free(a);
    }
}

/* Bytes from beyond the first-level cache of a point, for each step of the sum. */
static double fetched(int n, int length, int64_t index, int64_t *rows, at_arena *a) {
    const at_target *target = at_target_find("avx512");
    const at_core *core = at_core_find("sapphirerapids");
    at_task *t = any_task(a, "matmul_add", at_format(a, "N=%d,L=%d,M=64", n, length));
    at_config config;
    at_estimate e;
    at_cost_model *m = guessed_cost(t, target, core);
    bool known = at_cost_point(m, index, &e) &&
                 at_config_at(a, at_task_space(t), index, &config, NULL) == AT_OK;
    at_cost_model_free(m);
    if (!known) return 0;
    const at_entity *y = at_config_get(&config, "tile_y");
    *rows = y->sizes[y->n - 1];
    return e.bytes[0] / length;
}

/* Rows a page apart take the same places of the cache from each other, as soon as there are more of
 * them than places; rows of a few elements more do not. */
static void rows_a_page_apart(void **state) {
    (void)state;
    enum { POINTS = 60, WAYS = 12 };
    int crowded = 0;
    at_rng rng;
    at_rng_seed(&rng, 5, 1);
    for (int i = 0; i < POINTS; i++) {
        at_arena *a = at_arena_new();
        int64_t rows, same, index = (int64_t)at_rng_below(&rng, 51 * 14);
        double page = fetched(112, 1024, index, &rows, a),
               more = fetched(112, 1040, index, &same, a),
               less = fetched(112, 1008, index, &same, a);
        if (page > 0 && more > 0 && less > 0 && rows == same) {
            assert_true(page > 0.97 * fmin(more, less)); /* longer ones may just not fit */
            crowded += rows > WAYS && page > 1.5 * more;
            if (rows < 4 && page > 1.1 * more) fail_msg("%d rows: %g, %g", (int)rows, page, more);
        }
        at_arena_free(a);
    }
    assert_true(crowded > 0);
}

/* As many of them as there are places stay there but for the steps in which another line comes. */
static void as_many_rows_as_places(void **state) {
    (void)state;
    enum { POINTS = 200, WAYS = 12 };
    int met = 0;
    at_rng rng;
    at_rng_seed(&rng, 5, 2);
    for (int i = 0; i < POINTS; i++) {
        at_arena *a = at_arena_new();
        int64_t rows, same, index = (int64_t)at_rng_below(&rng, 51 * 14);
        double page = fetched(96, 1024, index, &rows, a), more = fetched(96, 1040, index, &same, a);
        if (page > 0 && more > 0 && rows == WAYS && same == WAYS) {
            if (page > 3 * more) fail_msg("index %d: %g, %g", (int)index, page, more);
            met++;
        }
        at_arena_free(a);
    }
    assert_true(met > 0);
}

/* The estimate of products of queries and so many heads' keys, which a sketch packs in blocks. */
static at_estimate of_packed_keys(int heads, const char *sketch, int64_t block, int64_t steps) {
    at_arena *a = at_arena_new();
    at_task *t = any_task(a, "examples/te/transpose_batch_matmul.te",
                          at_format(a, "B=1,S=128,H=%d,D=64", heads));
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    at_estimate e = {.ns = 0};
    for (int64_t i = 0; i < at_space_range_length(at_task_space(t)) && !(e.ns > 0); i++) {
        at_config c;
        if (at_config_at(a, at_task_space(t), i, &c, NULL) != AT_OK ||
            strcmp(at_config_get(&c, "sketch")->option->string, sketch) != 0 ||
            at_config_get(&c, "tile_j")->sizes[1] != 1 || last_of(&c, "tile_j") != block ||
            last_of(&c, "tile_i") != 6 || last_of(&c, "tile_k") != steps)
            continue;
        assert_true(at_cost_point(m, i, &e));
    }
    assert_true(e.ns > 0);
    at_cost_model_free(m);
    at_arena_free(a);
    return e;
}

/* Keys are turned round in registers, but those of blocks of which the last is not whole one by
 * one, where that is not known before: and then from rows a page apart line by line. */
static void blocks_that_are_turned(void **state) {
    (void)state;
    const char *const apart = "tile_j+pack_key", *const near = "tile_j+near_key";
    const double turned_ns = of_packed_keys(16, apart, 32, 16).copies_ns;
    assert_true(of_packed_keys(16, apart, 48, 16).copies_ns > 3 * turned_ns);
    assert_true(of_packed_keys(16, near, 48, 16).copies_ns < 1.5 * turned_ns);
    assert_true(of_packed_keys(16, near, 32, 16).copies_ns < 1.5 * turned_ns);
    const at_estimate page = of_packed_keys(16, apart, 32, 2),
                      less = of_packed_keys(15, apart, 32, 2);
    assert_true(page.memory_ns > 2 * less.memory_ns);
}

/* Bytes that the first valid point of a sketch has from memory. */
static double from_memory(int rows, const char *sketch) {
    at_arena *a = at_arena_new();
    const at_target *target = at_target_find("avx512");
    const at_core *core = at_core_find("sapphirerapids");
    at_task *t = any_task(a, "examples/te/softmax.te", at_format(a, "M=%d,N=2048", rows));
    at_speeds speeds;
    at_estimate e;
    at_speeds_guess(core, target, &speeds);
    at_cost_model *m = at_cost_model_of(
        t, &(at_estimate_options){
               .target = target, .speeds = &speeds, .cache_bytes = {48 << 10, 1 << 20, 32 << 20}});
    int part = 0;
    while (strcmp(at_task_sketch_name(t, part), sketch)) part++;
    int64_t index = at_space_part_begin(at_task_space(t), part);
    while (!at_space_is_valid(at_task_space(t), index)) index++;
    assert_true(at_cost_point(m, index, &e));
    at_cost_model_free(m);
    at_arena_free(a);
    return e.bytes[2];
}

/* Loops one behind the other push out what the others left, where all of it exceeds the last cache;
 * what several leaves of one loop read counts once. 2048 rows are 16 MB, and there are three
 * tensors as large in the sketch of loops for themselves, two in the other. */
static void loops_behind_each_other(void **state) {
    (void)state;
    const double row = 2048 * 4;
    assert_true(from_memory(512, "lanes_total+lanes_most") == 0);
    assert_true(from_memory(512, "rows") == 0);
    assert_true(from_memory(2048, "lanes_total+lanes_most") >= 3 * 2048 * row);
    assert_true(from_memory(2048, "rows") == 0);
    assert_true(from_memory(4096, "rows") >= 2 * 4096 * row);
}

/* Of a product of 8 x 128 x 32 in one tile: sums of so many unrolled steps, in groups of so many
 * rows. */
static double in_groups(int steps, int rows) {
    at_arena *a = at_arena_new();
    at_task *t = any_task(a, "dense", "M=8,N=32,K=128");
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    const at_space *space = at_task_space(t);
    int64_t index = at_space_range_length(space);
    at_config c;
    at_estimate e = {.ns = 0};
    while (--index >= 0)
        if (at_config_at(a, space, index, &c, NULL) == AT_OK && last_of(&c, "tile_y") == 8 &&
            last_of(&c, "tile_x") == 32 && last_of(&c, "tile_k") == steps &&
            last_of(&c, "tile_inner") == rows)
            break;
    assert_true(at_cost_point(m, index, &e));
    at_cost_model_free(m);
    at_arena_free(a);
    return e.sums_ns;
}

/* Groups of rows that are summed up one after the other wait for their own sums, unless they are
 * over so soon that the next one runs beside them. */
static void rows_in_groups(void **state) {
    (void)state;
    assert_true(in_groups(128, 2) > 1.5 * in_groups(128, 8));
    assert_true(in_groups(128, 4) < in_groups(128, 2));
    assert_true(in_groups(4, 2) < 1.1 * in_groups(4, 8));
}

/* Of a convolution in tiles of twelve columns and one vector, with and without steps along the
 * window that are unrolled, on a core that loads no faster than it multiplies. */
static double beside_others(const char *args, int64_t order, bool unrolled) {
    at_arena *a = at_arena_new();
    at_task *t = any_task(a, "conv2d_nhwc", args);
    const at_target *target = at_target_find("avx512");
    at_speeds speeds;
    at_speeds_guess(at_core_find("sapphirerapids"), target, &speeds);
    speeds.peak_gflops = 2 * target->lanes * 12 / (double)speeds.step_ns[0][11];
    speeds.step_ns[0][11] *= 13.0F / 12;
    speeds.far_ns[0][11] = speeds.step_ns[0][11];
    at_cost_model *m = at_cost_model_of(
        t, &(at_estimate_options){
               .target = target, .speeds = &speeds, .cache_bytes = {48 << 10, 1 << 20, 32 << 20}});
    const at_space *space = at_task_space(t);
    int64_t index = at_space_range_length(space);
    at_config c;
    at_estimate e = {.ns = 0};
    while (--index >= 0)
        if (at_config_at(a, space, index, &c, NULL) == AT_OK && last_of(&c, "tile_ow") == 12 &&
            last_of(&c, "tile_co") == 16 && last_of(&c, "tile_ci") == 32 &&
            at_config_get(&c, "order")->option->integer == order &&
            at_config_get(&c, "unroll_kw")->option->boolean == unrolled)
            break;
    assert_true(at_cost_point(m, index, &e));
    at_cost_model_free(m);
    at_arena_free(a);
    return e.sums_ns;
}

/* Thirteen loads for twelve multiply-adds wait for each other; what neighbouring steps read alike
 * is loaded once. No step is a neighbour where a loop turns between two. */
static void steps_that_read_alike(void **state) {
    (void)state;
    static const char *const alike[] = {"N=1,H=26,W=26,CI=32,CO=64,KH=3,KW=3,padding=0",
                                        "N=1,H=28,W=28,CI=32,CO=64,KH=3,KW=3,padding=0,dilation=2"};
    for (int i = 0; i < 2; i++) {
        assert_true(beside_others(alike[i], 0, true) < 0.97 * beside_others(alike[i], 0, false));
        double apart = beside_others(alike[i], 2, true), looped = beside_others(alike[i], 2, false);
        assert_true(fabs(apart - looped) < 0.01 * looped);
    }
}

/* What a machine's table says of waits counts: the longer one is, the dearer are the points that
 * have it, against others, and none is cheaper. */
static void waits(void **state) {
    (void)state;
    enum { POINTS = 300 };
    static const struct {
        const char *name, *args;
    } of[] = {
        {"dense", "M=8,N=32,K=128"},                           /* rows in groups */
        {"conv2d_winograd_nhwc", "N=1,H=12,W=12,CI=12,CO=24"}, /* parts of vectors, added to */
        {"batch_matmul", "B=2,M=24,N=48,K=40,tb=1"},           /* elements that lie apart */
        {"batch_matmul", "B=2,M=24,N=48,K=40,tb=1"},           /* few of them */
    };
    for (int k = 0; k < AT_SPEED_WAITS; k++) {
        at_arena *a = at_arena_new();
        const at_target *target = at_target_find("avx512");
        at_task *t = any_task(a, of[k].name, of[k].args);
        at_speeds speeds;
        at_speeds_guess(at_core_find("znver5"), target, &speeds);
        at_estimate_options o = {
            .target = target, .speeds = &speeds, .cache_bytes = {48 << 10, 1 << 20, 32 << 20}};
        at_cost_model *shorter = at_cost_model_of(t, &o);
        speeds.waits_ns[k] *= 3;
        at_cost_model *longer = at_cost_model_of(t, &o);
        int dearer = 0, same = 0;
        at_rng rng;
        at_rng_seed(&rng, 7, (uint64_t)k);
        for (int i = 0; i < POINTS; i++) {
            at_estimate before, after;
            uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
            int64_t index = (int64_t)at_rng_below(&rng, range);
            if (!at_cost_point(shorter, index, &before)) continue;
            assert_true(at_cost_point(longer, index, &after));
            assert_true(after.ns >= before.ns);
            dearer += after.ns > 1.02 * before.ns;
            same += after.ns == before.ns;
        }
        if (!dearer || !same) fail_msg("%s: %d dearer, %d as before", of[k].name, dearer, same);
        at_cost_model_free(shorter);
        at_cost_model_free(longer);
        at_arena_free(a);
    }
}

/* Sums of elements that lists find: does the plain sketch of so many have an estimate? */
static bool has_estimate(int lists) {
    at_arena *a = at_arena_new();
    at_text te = {0}, sum = {0};
    const at_template_row *row;
    at_task *t;
    at_error err;
    at_text_addf(&te, "# Sums.\nargs N=64, V=100\n");
    for (int i = 0; i < lists; i++) {
        at_text_addf(&te, "x%d[V] : input\nlist%d[N] : index\n", i, i);
        at_text_addf(&sum, "%sx%d[list%d[n]]", i ? " + " : "", i, i);
    }
    at_text_addf(&te, "out[n:N] = %s\n", at_text_str(&sum));
    assert_int_equal(at_te_parse(a, "lists.te", at_text_str(&te), te.len, &row, &err), AT_OK);
    assert_int_equal(at_task_new(a, row, NULL, &t, &err), AT_OK);
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    at_estimate e;
    bool has = at_cost_point(m, 0, &e);
    at_cost_model_free(m);
    at_text_free(&te);
    at_text_free(&sum);
    at_arena_free(a);
    return has;
}

/* A read of a list counts among the reads of a stage, of which the estimate has a table of 32. */
static void sums_by_lists(void **state) {
    (void)state;
    assert_true(has_estimate(4));
    assert_true(has_estimate(5));
    assert_true(has_estimate(16));
    assert_false(has_estimate(17));
}

/* As many axes as a stage may have, in more lines than the nearest cache holds: the last one's bit
 * is the highest of a word. */
static void many_axes(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text te = {0};
    const at_template_row *row;
    at_task *t;
    at_error err;
    at_estimate e;
    at_text_addf(&te, "# Sums.\nargs N=1024, K=1024\nx[N, K] : input\nout[n:N] = sum(");
    for (int i = 0; i < 30; i++) at_text_addf(&te, "r%d:1, ", i);
    at_text_addf(&te, "k:K) x[n, k]\n");
    assert_int_equal(at_te_parse(a, "axes.te", at_text_str(&te), te.len, &row, &err), AT_OK);
    assert_int_equal(at_task_new(a, row, NULL, &t, &err), AT_OK);
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    assert_true(at_cost_point(m, 0, &e));
    assert_true(e.bytes[1] >= 4.0 * 1024 * 1024);
    at_cost_model_free(m);
    at_text_free(&te);
    at_arena_free(a);
}

/* Each row of a long sum has another number of terms that a border leaves: they are counted once a
 * row, so that the estimate takes no longer than looking at each term. */
static void long_sums_at_borders(void **state) {
    (void)state;
    static const char te[] = "# Sums.\nargs N=64, K=16384\nx[K] : input\n"
                             "out[n:N] = sum(k:K) n + k < K ? x[n + k] : 0\n";
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_task *t;
    at_error err;
    at_estimate e;
    assert_int_equal(at_te_parse(a, "borders.te", te, strlen(te), &row, &err), AT_OK);
    assert_int_equal(at_task_new(a, row, NULL, &t, &err), AT_OK);
    at_cost_model *m = guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
    for (int64_t i = 0; i < 4; i++) assert_true(at_cost_point(m, i, &e) && e.ns > 0);
    at_cost_model_free(m);
    at_arena_free(a);
}

/* Functions of an element count as many operations as lowering makes of them. */
static void functions_of_elements(void **state) {
    (void)state;
    const at_core *core = at_core_find("sapphirerapids");
    const at_machine machine = {.core = core,
                                .l1d_bytes = core->l1d_bytes,
                                .l2_bytes = core->l2_bytes,
                                .l3_bytes = 1 << 25,
                                .threads = 1};
    for (int k = 0; k < AT_FUNCTION_COUNT * 3; k++) {
        at_arena *a = at_arena_new();
        const char *name = at_function_name((at_function)(k / 3));
        const at_target *target = at_target_find(targets[k % 3]);
        const at_lower_options lo = {.dialect = AT_DIALECT_TCC, .target = target, .name = "kernel"};
        const char *text =
            at_format(a, "# One.\nargs N=64\nx[N] : input\nout[n:N] = %s(x[n])\n", name);
        const at_template_row *row;
        const at_lowered *lowered;
        at_task *t;
        at_config config;
        at_program *p;
        at_estimate e;
        at_error err;
        assert_int_equal(at_te_parse(a, "one.te", text, strlen(text), &row, &err), AT_OK);
        assert_int_equal(at_task_new(a, row, NULL, &t, &err), AT_OK);
        at_cost_model *m = guessed_cost(t, target, core);
        int64_t index = at_space_range_length(at_task_space(t)) - 1; /* the widest vector */
        assert_true(at_cost_point(m, index, &e));
        assert_int_equal(at_config_at(a, at_task_space(t), index, &config, NULL), AT_OK);
        assert_int_equal(at_task_program(a, t, &config, &p, NULL), AT_OK);
        assert_int_equal(at_lower_tiles(a, p, &lo, &lowered, NULL), AT_OK);
        compare(name, &config, e.operations, count(at_bound_of(a, lowered, &machine)).operations,
                0);
        at_cost_model_free(m);
        at_arena_free(a);
    }
}

/* Blocks of rows are dealt out to two threads: the busiest has half of them, rounded up. What one
 * block is made of has nothing to share out. */
static void threads(void **state) {
    (void)state;
    enum { POINTS = 300 };
    at_arena *a = at_arena_new();
    const at_target *target = at_target_find("avx512");
    at_task *t = any_task(a, "conv2d_winograd_nhwc", "N=1,H=20,W=20,CI=32,CO=64");
    at_speeds speeds;
    at_speeds_guess(at_core_find("znver5"), target, &speeds);
    at_estimate_options o = {.target = target,
                             .speeds = &speeds,
                             .cache_bytes = {48 << 10, 1 << 20, 32 << 20},
                             .threads = 1};
    at_cost_model *one = at_cost_model_of(t, &o);
    o.threads = 2;
    at_cost_model *two = at_cost_model_of(t, &o);
    int whole = 0, odd = 0, even = 0;
    at_rng rng;
    at_rng_seed(&rng, 7, 0);
    for (int i = 0; i < POINTS; i++) {
        at_estimate alone, beside;
        at_config config;
        const uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
        const int64_t index = (int64_t)at_rng_below(&rng, range);
        if (!at_cost_point(one, index, &alone)) continue;
        assert_true(at_cost_point(two, index, &beside));
        assert_int_equal(at_config_at(a, at_task_space(t), index, &config, NULL), AT_OK);
        const int64_t rows = at_config_get(&config, "tile_s")->sizes[1],
                      blocks = (5 + rows - 1) / rows;
        const double share = (double)((blocks + 1) / 2) / (double)blocks;
        assert_float_equal(alone.ns, alone.alone_ns, 1e-6 * alone.ns);
        assert_float_equal(beside.sums_ns, share * alone.sums_ns, 1e-6 * alone.sums_ns);
        assert_true(beside.alone_ns >= alone.ns);
        if (blocks == 1) assert_float_equal(beside.ns, beside.alone_ns, 1e-6 * alone.ns);
        else assert_true(beside.ns < beside.alone_ns);
        whole += blocks == 1, odd += blocks > 1 && blocks % 2, even += blocks % 2 == 0;
    }
    if (!whole || !odd || !even) fail_msg("%d, %d and %d points", whole, odd, even);
    at_cost_model_free(one);
    at_cost_model_free(two);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(dot_products),
        cmocka_unit_test(joint_tiles),
        cmocka_unit_test(rows_a_page_apart),
        cmocka_unit_test(as_many_rows_as_places),
        cmocka_unit_test(blocks_that_are_turned),
        cmocka_unit_test(loops_behind_each_other),
        cmocka_unit_test(rows_in_groups),
        cmocka_unit_test(steps_that_read_alike),
        cmocka_unit_test(vectors_of_blocks),
        cmocka_unit_test(vectors_that_padding_cuts),
        cmocka_unit_test(indices_that_bend),
        cmocka_unit_test(joined_products),
        cmocka_unit_test(waits),
        cmocka_unit_test(sums_by_lists),
        cmocka_unit_test(many_axes),
        cmocka_unit_test(long_sums_at_borders),
        cmocka_unit_test(functions_of_elements),
        cmocka_unit_test(threads),
        cmocka_unit_test(every_template),
    };
    if (setting("AT_TASK", -1) >= 0) cmocka_set_test_filter("counts");
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* whatever the user has in his own */
    return cmocka_run_group_tests_name("engine/config_cost", tests, NULL, NULL);
}
