/* Sums live in registers from the first term to the last, in the default of every sketch of every
 * computation here. Where they lie in memory in between, the sketch is one of blocks of a
 * reduction, or the computation has conditions, which are decided around tiles. */
#include <string.h>

#include "codegen/lowered.h"
#include "tests/any_task.h"
#include "tests/codegen/support.h"

static const struct {
    const char *file, *args;
} cases[] = {
    {"matmul_add", "N=256,L=256,M=256"},
    {"matmul_add", "N=61,L=1021,M=131"},
    {"batch_matmul", "B=1,N=1024,M=1024,K=1024"},
    {"batch_matmul", "B=3,N=67,M=97,K=4099"},
    {"transpose_batch_matmul", "B=1,S=128,H=12,D=64"},
    {"dense", ""},
    {"conv1d", "N=1,L=256,CI=64,CO=128,K=3,S=2,P=1,D=1"},
    {"conv2d", "N=1,H=224,W=224,CI=3,CO=64,K=7,S=2,P=3"},
    {"conv2d", "N=1,H=56,W=56,CI=64,CO=64,K=1,S=1,P=0"},
    {"conv2d", "N=3,H=13,W=11,CI=17,CO=31,K=3,S=1,P=1"},
    {"conv2d_nchw", ""},
    {"conv2d_bn_relu", "N=1,H=14,W=14,CI=32,CO=64,K=3,S=1,P=1"},
    {"conv2d_by_rows", ""},
    {"conv3d", "N=1,Z=4,H=14,W=14,CI=32,CO=32,K=3,S=1,P=1"},
    {"group_conv2d", "N=1,H=14,W=14,CI=64,CO=64,K=3,S=1,P=1,G=4"},
    {"depthwise_conv2d", "N=1,H=112,W=112,C=32,K=3,S=1,P=1"},
    {"depthwise_conv2d", "N=1,H=7,W=7,C=97,K=5,S=2,P=2"},
    {"conv2d_transpose", "N=1,H=8,W=8,CI=64,CO=32,K=4,S=2,P=1"},
    {"conv2d_transpose", "N=1,H=8,W=8,CI=64,CO=3,K=4,S=2,P=1"},
    {"capsule_conv2d", "N=1,H=8,W=8,CI=16,CO=16,K=3,S=1,P=1"},
    {"norm", "B=1,M=256,N=256"},
    {"softmax", "M=64,N=256"},
    {"layer_norm", ""},
    {"gated_mlp", ""},
    {"complex_matmul", ""},
    {"tests/te/moments", ""},
    {"tests/te/moments_first", ""},
    {"tests/te/two_gates", ""},
    {"tests/te/max_pool_first", ""},
    {"tests/te/potentials", ""},
    {"tests/te/blur", ""},
    {"masked_mean", ""},
    {"tests/te/listed_dots", ""},
    {"tests/te/gathered", "K=16"},
};

/* Of the default; how many sums there are. */
static long check(const at_task *t, const at_sketch *s, const char *what, const at_target *target) {
    at_arena *a = at_arena_new();
    at_config c;
    at_program *p;
    at_tree *tree;
    const at_lowered *l;
    long sums = 0;
    at_lower_options o = {.dialect = AT_DIALECT_GNU, .name = "k", .verify = true, .target = target};
    CALL(at_task_default_config(a, t, target->lanes, &c, &err));
    CALL(at_task_program(a, t, &c, &p, &err));
    CALL(at_tree_parse(a, p->compute, s->s->tree_text, what, &tree, &err));
    CALL(at_lower_tiles(a, p, &o, &l, &err));
    for (int i = 0; i < p->compute->num_tensors; i++) {
        at_text loops = {0};
        if (!p->compute->tensors[i].num_reduce) continue;
        const char *blocks = at_tree_sum_waits(tree, i);
        bool waits = at_lowered_sum_waits(l, i, &loops),
             is_block = blocks && strstr(at_text_str(&loops), blocks);
        if (waits && !is_block && !strchr(s->s->compute_text, '?'))
            fail_msg("%s: sums of %s wait in %s", what, p->compute->tensors[i].name,
                     at_text_str(&loops));
        if (!strstr(s->name, "block_") && !strstr(s->name, "panels_") && blocks)
            fail_msg("%s: blocks of %s", what, blocks);
        at_text_free(&loops);
        sums++;
    }
    at_arena_free(a);
    return sums;
}

static void in_registers(void **state) {
    (void)state;
    long sketches = 0, sums = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const char *path =
            at_format(a, strchr(cases[i].file, '/') ? "%s.te" : "examples/te/%s.te", cases[i].file);
        const at_task *t = any_task(a, path, cases[i].args);
        assert_true(at_task_num_sketches(t) > 0);
        for (int s = 0; s < at_task_num_sketches(t); s++, sketches++) {
            const char *what =
                at_format(a, "%s %s: %s", cases[i].file, cases[i].args, at_task_sketch_name(t, s));
            sums += check(at_task_sketch(t, s), at_sketch_of_task(t, s), what,
                          at_target_find("avx512"));
            sums +=
                check(at_task_sketch(t, s), at_sketch_of_task(t, s), what, at_target_find("avx2"));
        }
        at_arena_free(a);
    }
    print_message("%ld sums of %ld sketches\n", sums, sketches);
}

/* What lies in memory is seen, in loops around tiles and of tiles: a reduction outside of rows,
 * blocks of it, and one where nothing does. */
static void waiting(void **state) {
    (void)state;
    static const char compute[] = "A[Y, K] : input\n"
                                  "B[K, X] : input\n"
                                  "acc[y:Y, x:X] = sum(k:K) A[y, k]*B[k, x]\n"
                                  "out[y:Y, x:X] = max(acc[y, x], 0)\n";
    static const struct {
        const char *lines, *loops; /* and what the tree says, the last of them */
    } trees[] = {{"k0, y0, y1:unroll, k1, x:vec", "k0"},
                 {"k0, y0, k1, y1, x:vec", "k1, k0"},
                 {"k0, y0:para, k1, y1:unroll, x:vec", "k0"},
                 {"y0, k0, k1, y1:unroll, x:vec", ""}};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        at_arena *a = at_arena_new();
        at_text tree = {0}, loops = {0};
        const at_lowered *l;
        at_tree *parsed;
        at_text_addf(&tree,
                     "%s =>\n    @acc = {y0, y1}/y, x  // {k0, k1}/k\n"
                     "y0, y1, x:vec =>\n    @out = {y0, y1}/y, x\n",
                     trees[i].lines);
        const at_program *p =
            program_of(a, &(program){trees[i].lines, "Y=24 X=32 K=24 y0=6 y1=4 k0=3 k1=8", compute,
                                     at_text_str(&tree)});
        const at_lower_options o = {.dialect = AT_DIALECT_GNU,
                                    .name = "k",
                                    .verify = true,
                                    .target = at_target_find("avx2")};
        CALL(at_lower_tiles(a, p, &o, &l, &err));
        CALL(at_tree_parse(a, p->compute, at_text_str(&tree), "tree", &parsed, &err));
        int acc = at_compute_find(p->compute, "acc");
        assert_int_equal(at_lowered_sum_waits(l, acc, &loops), *trees[i].loops != 0);
        assert_string_equal(at_text_str(&loops), trees[i].loops);
        const char *blocks = at_tree_sum_waits(parsed, acc);
        if (!*trees[i].loops) assert_null(blocks);
        else assert_non_null(strstr(trees[i].loops, blocks));
        at_text_free(&loops);
        at_text_free(&tree);
        at_arena_free(a);
    }
}

/* Memory that the tiles of a program read, each operation once. */
static int reads_of(const at_lowered *l) {
    int n = 0;
    for (int t = 0; t < l->num_tiles; t++)
        for (int i = 0; i < l->tiles[t]->num_ops; i++) {
            const at_tile_op *op = &l->tiles[t]->ops[i];
            n += op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->mem == AT_MEM_VECTOR ||
                 op->mem == AT_MEM_BCAST;
        }
    return n;
}

/* Windows that overlap are read once, though sums leave no registers for them in the order in
 * which they are written. */
static void overlapping(void **state) {
    (void)state;
    static const struct {
        const char *name, *sizes;
        int reads;
    } tiles[] = {
        /* 14 columns of two vectors, stride 2: per row of the kernel 29 columns and 3 numbers */
        {"columns", "OH=1 OW=14 C=32 H=3 W=29 S=2", 2 * (29 + 3)},
        /* Two rows of 7 with all of the kernel: 5 rows of 15 columns, and 9 numbers */
        {"rows", "OH=2 OW=7 C=16 H=5 W=15 S=2", 5 * 15 + 9},
    };
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        at_arena *a = at_arena_new();
        const at_lowered *l;
        const at_program *p = program_of(
            a,
            &(program){tiles[i].name, tiles[i].sizes,
                       "x[H, W, C] : input\n"
                       "weight[3, 3, C] : input\n"
                       "acc[h:OH, w:OW, c:C] = sum(r:3, q:3) x[h*S + r, w*S + q, c]*weight[r, q, "
                       "c]\n"
                       "out[h:OH, w:OW, c:C] = acc[h, w, c]\n",
                       "r:unroll, q:unroll, h:unroll, w:unroll, c:vec =>\n"
                       "    @acc = h, w, c  // r, q\n"
                       "h:unroll, w:unroll, c:vec =>\n"
                       "    @out = h, w, c\n"});
        const at_lower_options o = {.dialect = AT_DIALECT_GNU,
                                    .name = "k",
                                    .verify = true,
                                    .target = at_target_find("avx512")};
        CALL(at_lower_tiles(a, p, &o, &l, &err));
        assert_int_equal(reads_of(l), tiles[i].reads);
        at_arena_free(a);
    }
}

/* The first sketch of a sum over long lists: loops over four vectors, one, parts of one, and terms,
 * in which nothing is stored, and all that is loaded is as long as the loop's step at least. */
static void vectors_of_lists(void **state) {
    (void)state;
    static const int steps[] = {64, 16, 8, 4, 1};
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/listed_dots.te", "E=900");
    const at_lower_options o = {
        .dialect = AT_DIALECT_GNU, .name = "k", .target = at_target_find("avx512")};
    const at_lowered *l;
    at_config config;
    at_program *p;
    int sums = 0;
    CALL(at_task_default_config(a, t, 16, &config, &err));
    CALL(at_task_program(a, t, &config, &p, &err));
    CALL(at_lower_tiles(a, p, &o, &l, &err));
    for (int i = 0; i < l->num_tiles; i++) {
        int loops = 0;
        bool inside = false;
        for (const at_tile_op *op = l->tiles[i]->ops; op < l->tiles[i]->ops + l->tiles[i]->num_ops;
             op++) {
            if (op->kind == AT_T_END) inside = false;
            if (op->kind == AT_T_LOOP) {
                inside = true;
                assert_int_equal(op->by, steps[loops++]);
                assert_int_equal(op->most, loops > 1 ? steps[loops - 2] / op->by : 0);
            }
            if (!inside) continue;
            assert_true(op->kind != AT_T_STORE);
            if (op->kind == AT_T_LOAD || op->mem == AT_MEM_VECTOR)
                assert_int_equal(op->lanes, steps[loops - 1] < 16 ? steps[loops - 1] : 16);
        }
        if (loops) assert_int_equal(loops, 5), sums++;
    }
    assert_int_equal(sums, 2);
    at_arena_free(a);
}

/* A sum over all steps before: the register of its last term is read when the lanes of the others
 * are one. */
static void last_terms(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_lowered *l;
    const at_program *p = program_of(a, &(program){"solved", "N=75",
                                                   "l[N, N] : input\n"
                                                   "b[N] : input\n"
                                                   "s[i:N] = sum(k:0..i) l[i, k]*x[k]\n"
                                                   "x[i:N] = b[i] - s[i]\n",
                                                   "i =>\n"
                                                   "    k:dyn(i) vec =>\n"
                                                   "        @s = i  // k\n"
                                                   "    @x = i\n"});
    const at_lower_options o = {
        .dialect = AT_DIALECT_GNU, .name = "k", .verify = true, .target = at_target_find("avx2")};
    CALL(at_lower_tiles(a, p, &o, &l, &err));
    assert_int_equal(l->num_tiles, 1);
    const at_tile *t = l->tiles[0];
    int late = -1, swaps = 0, joined_behind = 0;
    for (const at_tile_op *op = t->ops; op < t->ops + t->num_ops; op++) {
        if (op->kind == AT_T_FMA) late = op->dst;
        if (op->kind == AT_T_SWAP) swaps++, assert_int_not_equal(op->a, late);
        if (op->kind != AT_T_ADD || (op->a != late && op->b != late)) continue;
        joined_behind = swaps;
        late = -1;
    }
    assert_int_equal(swaps, 3);
    assert_int_equal(joined_behind, 3);
    at_arena_free(a);
}

/* Whether a sum of a sketch's default waits in memory, by what lowering makes of it. */
static bool sum_waits(const at_task *t, int sketch) {
    const at_task *own = at_task_sketch(t, sketch);
    const at_target *target = at_target_find("avx2");
    const at_lower_options o = {.dialect = AT_DIALECT_GNU, .name = "kernel", .target = target};
    at_arena *a = at_arena_new();
    at_text loops = {0};
    const at_lowered *l;
    at_config config;
    at_program *p;
    CALL(at_task_default_config(a, own, target->lanes, &config, &err));
    CALL(at_task_program(a, own, &config, &p, &err));
    CALL(at_lower_tiles(a, p, &o, &l, &err));
    bool waits = false;
    for (int i = 0; i < p->compute->num_tensors; i++)
        waits |= p->compute->tensors[i].num_reduce && at_lowered_sum_waits(l, i, &loops);
    at_text_free(&loops);
    at_arena_free(a);
    return waits;
}

/* A task's default is another sketch's than the first one's just where a sum of the first would
 * wait in memory for the loops that padding cuts, or where its rows lie behind each other and fill
 * no register, or where lanes along the last axis would need copies of windows; and then no sum
 * waits.
 */
static void default_sketch(void **state) {
    (void)state;
    static const char nchw[] = "examples/te/conv2d_nchw.te";
    static const struct {
        const char *path, *args;
        enum { AS_IT_IS, FLAT, LAST } kind;
    } tasks[] = {
        {nchw, "K=3,S=1,P=1", AS_IT_IS},
        {nchw, "H=7,W=7,K=3,S=1,P=1", AS_IT_IS},
        {nchw, "K=2,S=1,P=1", AS_IT_IS},
        {nchw, "H=9,W=9,K=5,S=1,P=2", AS_IT_IS},
        {nchw, "K=3,S=2,P=1", LAST},
        {nchw, "K=3,S=1,P=0", AS_IT_IS},
        {nchw, "K=1,S=1,P=0", FLAT},
        {nchw, "H=28,W=14,K=1,S=1,P=0", FLAT},
        {nchw, "K=1,S=1,P=1", AS_IT_IS}, /* one column of zeros: the same lanes throughout */
        {"examples/te/correlation.te", "",
         AS_IT_IS}, /* which lanes, the shift outside the sum says */
        {"examples/te/conv2d.te", "H=14,W=14,CI=64,CO=3,K=3,P=1",
         AS_IT_IS}, /* dot products of channels */
        {"examples/te/conv2d.te", "H=14,W=14,K=3,P=1", AS_IT_IS},
        {"examples/te/matmul_add.te", "N=64,L=64,M=64", AS_IT_IS},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, tasks[i].path, tasks[i].args);
        const int chosen = at_task_default_sketch(t, 8);
        at_config c, own;
        const char *name = at_task_sketch_name(t, chosen);
        const bool is_flat = strstr(name, "flat") != NULL, is_last = !strncmp(name, "last_f", 6);
        if (sum_waits(t, chosen) || (sum_waits(t, 0) || is_last) != (chosen > 0) ||
            is_flat != (tasks[i].kind == FLAT) || is_last != (tasks[i].kind == LAST))
            fail_msg("%s %s: %s", tasks[i].path, tasks[i].args, name);
        CALL(at_task_default_config(a, t, 8, &c, &err));
        assert_ptr_equal(at_task_of_config(t, &c, &own), at_task_sketch(t, chosen));
        at_arena_free(a);
    }
}

/* Lanes go along channels by default just where a condition of the sum's own would cut others. */
static void default_of_phases(void **state) {
    (void)state;
    static const struct {
        const char *path, *args;
        bool is_last;
    } tasks[] = {
        {"tests/te/phases.te", "", true},
        {"tests/te/phases.te", "R=5,S=3,P=2", true}, /* of other phases than the middle one */
        {"tests/te/phases.te", "R=2,P=0", false},    /* all terms count */
        {"examples/te/conv2d_nchw.te", "K=3,S=1,P=1", false},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, tasks[i].path, tasks[i].args);
        const char *name = at_task_sketch_name(t, at_task_default_sketch(t, 8));
        if (!strncmp(name, "last_", 5) != tasks[i].is_last)
            fail_msg("%s %s: %s", tasks[i].path, tasks[i].args, name);
        at_arena_free(a);
    }
}

/* Weights of several operations are worked out as a whole by default where sums need each of them
 * many times. */
static void default_of_weights(void **state) {
    (void)state;
#define WEIGHTS(body)                                                                              \
    "args C=16, Q=37\nx[C, Q + 3] : input\ng[Q] : input\n"                                         \
    "w[q:Q, b:4] = " body "\nout[c:C, q:Q] = sum(b:4) x[c, q + b]*w[q, b]\n"
    static const char cubic[] = WEIGHTS("((g[q] - b)*2 + 3)*(g[q] - b)*(g[q] + b) + 1"),
                      product[] = WEIGHTS("g[q]*b");
#undef WEIGHTS
    static const struct {
        const char *text, *args;
        bool is_whole;
    } tasks[] = {{cubic, "", true}, {cubic, "C=15", false}, {product, "", false}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = task_of_text(a, "weights.te", tasks[i].text, tasks[i].args);
        const char *name = at_task_sketch_name(t, at_task_default_sketch(t, 8));
        if (!strncmp(name, "whole_w", 7) != tasks[i].is_whole) fail_msg("%zu: %s", i, name);
        at_arena_free(a);
    }
}

/* Bytes are widened by default just for sets whose dot products of bytes are slower or missing,
 * and, where they are slower alone, where each byte is needed often. Sums of floats ask nothing of
 * that. */
static void default_of_words(void **state) {
    (void)state;
    static const char bytes[] = "examples/te/dense_u8s8.te", floats[] = "examples/te/matmul_add.te";
    static const struct {
        const char *path, *args, *set;
        bool is_widened;
    } tasks[] = {
        {bytes, "", "avx2", true},
        {bytes, "", "sse2", true},
        {bytes, "", "avx2_vnni", false},
        {bytes, "", "avx512vnni", false},
        {bytes, "", "neon_i8mm", false},
        {bytes, "M=1", "avx2", false}, /* the weight is as much work to read as to multiply */
        {bytes, "M=1", "sse2", true},
        {bytes, "N=8", "avx2", false}, /* and so are the data to widen */
        {bytes, "N=8", "sse2", true},
        {bytes, "M=2,N=16", "avx2", true},
        {floats, "", "avx2", false},
        {floats, "", "sse2", false},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        at_arena *a = at_arena_new();
        const at_task *t = any_task(a, tasks[i].path, tasks[i].args);
        const int lanes = at_target_find(tasks[i].set)->default_lanes,
                  chosen = at_task_default_sketch(t, lanes);
        at_config c, own;
        CALL(at_task_default_config(a, t, lanes, &c, &err));
        assert_ptr_equal(at_task_of_config(t, &c, &own), at_task_sketch(t, chosen));
        if (!strncmp(at_task_sketch_name(t, chosen), "words+", 6) != tasks[i].is_widened)
            fail_msg("%s %s, %s: %s", tasks[i].path, tasks[i].args, tasks[i].set,
                     at_task_sketch_name(t, chosen));
        at_arena_free(a);
    }
}

/* What is worked out to decide conditions is given back: gigabytes, where all borders of a padded
 * convolution are written out. */
static void little_memory(void **state) {
    (void)state;
    enum { MOST_BYTES = 200 << 20 };
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "tests/te/listed_borders.te", "");
    const at_lower_options o = {
        .dialect = AT_DIALECT_TCC, .name = "k", .verify = true, .target = at_target_find("avx2")};
    size_t most = 0;
    for (int64_t index = 12; index < 48; index += 24) {
        at_arena *one = at_arena_new();
        at_config c;
        at_program *p;
        const at_lowered *l;
        CALL(at_config_at(one, at_task_space(t), index, &c, &err));
        CALL(at_task_program(one, t, &c, &p, &err));
        CALL(at_lower_tiles(one, p, &o, &l, &err));
        if (at_arena_used(one) > most) most = at_arena_used(one);
        at_arena_free(one);
    }
    assert_in_range(most, 1, MOST_BYTES);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_registers),      cmocka_unit_test(little_memory),
        cmocka_unit_test(waiting),           cmocka_unit_test(overlapping),
        cmocka_unit_test(vectors_of_lists),  cmocka_unit_test(last_terms),
        cmocka_unit_test(default_sketch),    cmocka_unit_test(default_of_weights),
        cmocka_unit_test(default_of_phases), cmocka_unit_test(default_of_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
