/* What rules derive computes what the computation says: every sketch of the computations in
 * examples/te, at its default and at random points, on small odd shapes, interpreted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/any_task.h"

#include <math.h>
#include <string.h>

/* Points of each sketch: fewer of tasks that take long to interpret, which stand here for the
 * sketches that only long axes have. */
enum { MOST_POINTS = 12, LEAST_POINTS = 3 };
static const double operations = 6e5; /* of all points of a sketch, about */

static int64_t elements(const at_tensor *t, const int64_t *extents) {
    int64_t n = 1;
    for (int i = 0; i < t->num_axes; i++) n *= extents[i];
    return n;
}

/* Inputs of small integers by name; NULL for the rest. Index tensors: by their ranges. */
static at_data *data_for(at_arena *a, const at_compute *c, int64_t *const *extents,
                         const at_compute *whole, const at_index_range *ranges) {
    at_data *d = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int64_t n = elements(x, extents[t]);
        if (x->role == AT_ROLE_STAGE) continue;
        at_rng rng;
        at_rng_seed(&rng, strlen(x->name), (uint64_t)x->name[0]);
        if (x->is_int) {
            d[t].i = AT_NEW_ARRAY(a, int32_t, n);
            at_index_fill(&ranges[at_compute_find(whole, x->name)], n, &rng, d[t].i);
            continue;
        }
        d[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n; i++) d[t].f[i] = (float)at_rng_below(&rng, 7) - 2;
    }
    return d;
}

typedef struct expected {
    at_task *task;
    int64_t *values, **extents;
    at_data *data;
    at_index_range *ranges;
} expected;

static void interpret(at_arena *a, expected *x) {
    const at_compute *c = at_task_compute(x->task);
    at_config config;
    at_error err;
    if (at_task_default_config(a, x->task, 8, &config, &err) != AT_OK ||
        at_task_values(a, x->task, &config, &x->values, &err) != AT_OK ||
        at_compute_extents(a, c, x->values, &x->extents, &err) != AT_OK)
        fail_msg("%s", err.text);
    x->ranges = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    if (at_compute_index_ranges(a, c, x->values, x->ranges, &err) != AT_OK)
        fail_msg("%s", err.text);
    x->data = data_for(a, c, x->extents, c, x->ranges);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output)
            x->data[t].f = AT_NEW_ARRAY(a, float, elements(&c->tensors[t], x->extents[t]));
    if (at_compute_interpret(a, c, x->values, x->data, &err) != AT_OK) fail_msg("%s", err.text);
}

static void compare(const expected *x, const at_program *p, const at_data *got, const char *what) {
    const at_compute *c = at_task_compute(x->task);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        const float *out = got[at_compute_find(p->compute, c->tensors[t].name)].f;
        int64_t n = elements(&c->tensors[t], x->extents[t]);
        for (int64_t i = 0; i < n; i++) {
            double limit = 1e-5 * (1 + fabs((double)x->data[t].f[i]));
            if (!(fabs((double)out[i] - (double)x->data[t].f[i]) <= limit))
                fail_msg("%s: %s[%lld] is %g, not %g", what, c->tensors[t].name, (long long)i,
                         (double)out[i], (double)x->data[t].f[i]);
        }
    }
}

static void try_config(const expected *x, const at_config *c) {
    at_arena *a = at_arena_new();
    at_text what = {0};
    at_program *p;
    at_error err;
    at_text_addf(&what, "%s %s ", at_task_row(x->task)->name, at_task_args_text(x->task));
    at_config_print_entity(&what, c);
    if (at_task_program(a, x->task, c, &p, &err) != AT_OK)
        fail_msg("%s: %s", at_text_str(&what), err.text);
    at_data *d = data_for(a, p->compute, p->extents, at_task_compute(x->task), x->ranges);
    for (int t = 0; t < p->compute->num_tensors; t++)
        if (p->compute->tensors[t].role == AT_ROLE_STAGE)
            d[t].f = AT_NEW_ARRAY(a, float, elements(&p->compute->tensors[t], p->extents[t]));
    if (at_program_interpret(a, p, d, &err) != AT_OK)
        fail_msg("%s: %s", at_text_str(&what), err.text);
    compare(x, p, d, at_text_str(&what));
    at_text_free(&what);
    at_arena_free(a);
}

static int points_of(const at_task *t) {
    double n = operations / fmax(at_task_flops(t), 1);
    return n > MOST_POINTS ? MOST_POINTS : n < LEAST_POINTS ? LEAST_POINTS : (int)n;
}

static void check_task(at_arena *a, at_task *task) {
    expected x = {.task = task};
    at_space *space = at_task_space(x.task);
    at_rng rng;
    at_error err;
    interpret(a, &x);
    at_rng_seed(&rng, 3, 3);
    for (int lanes = 4; lanes <= 16; lanes *= 2)
        for (int i = 0; i < at_task_num_sketches(x.task); i++) {
            at_config own, c;
            assert_int_equal(
                at_task_default_config(a, at_task_sketch(x.task, i), lanes, &own, &err), AT_OK);
            at_config_in_sum(a, space, i, &own, &c);
            try_config(&x, &c);
        }
    for (int i = 0; i < points_of(x.task) * at_task_num_sketches(x.task); i++) {
        at_config c;
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        assert_int_equal(at_config_at(a, space, index, &c, &err), AT_OK);
        try_config(&x, &c);
    }
}

static void check(const char *path, const char *args, bool is_plain) {
    at_arena *a = at_arena_new();
    at_task *task = any_task(a, path, args);
    if (is_plain != !strcmp(at_task_sketch_name(task, 0), "plain"))
        fail_msg("%s %s: %s", path, args, at_task_sketch_name(task, 0));
    check_task(a, task);
    at_arena_free(a);
}

static void sets(void **state) {
    (void)state;
    static const struct {
        const char *path, *args;
        bool is_plain; /* no rule finds more than plain loops */
    } cases[] = {
        {"examples/te/matmul_add.te", "N=13,L=7,M=18", false},
        {"examples/te/matmul_add.te", "N=16,L=8,M=32", false},
        {"examples/te/matmul_add.te", "N=2,L=16500,M=8", false}, /* a sum that is shared out */
        {"examples/te/matmul_add.te", "N=37,L=5,M=67", false},
        {"examples/te/matmul_add.te", "N=1,L=3,M=5", false},
        {"examples/te/conv2d.te", "N=3,H=5,W=7,CI=3,CO=9,K=5,S=1,P=2,D=1", false},
        {"examples/te/batch_matmul.te", "B=3,N=5,M=9,K=6", false},
        {"examples/te/conv1d.te", "N=3,L=11,CI=5,CO=12,K=3,S=2,P=1,D=1", false},
        {"examples/te/conv2d.te", "N=1,H=7,W=9,CI=4,CO=8,K=3,S=1,P=1,D=1", false},
        {"examples/te/conv2d.te", "N=2,H=9,W=8,CI=3,CO=11,K=3,S=2,P=2,D=2", false},
        {"examples/te/conv3d.te", "N=1,Z=4,H=5,W=6,CI=3,CO=8,K=3,S=2,P=1", false},
        {"examples/te/group_conv2d.te", "N=1,H=7,W=7,CI=8,CO=16,K=3,S=1,P=1,G=2", false},
        {"examples/te/group_conv2d.te", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3", false},
        {"examples/te/depthwise_conv2d.te", "N=3,H=7,W=9,C=12,K=3,S=2,P=1", false},
        {"examples/te/depthwise_conv2d.te", "N=1,H=3,W=4,C=523,K=3,S=1,P=1",
         false}, /* wide tiles */
        {"examples/te/conv2d_transpose.te", "N=1,H=3,W=4,CI=5,CO=6,K=4,S=2,P=1", false},
        {"examples/te/conv2d_transpose.te", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1", true},
        {"examples/te/conv2d_transpose.te", "N=3,H=3,W=5,CI=11,CO=3,K=4,S=2,P=1", false},
        {"examples/te/conv2d_transpose.te", "N=1,H=3,W=3,CI=16,CO=2,K=3,S=1,P=1", false},
        {"examples/te/batch_matmul.te", "B=3,N=5,M=9,K=1024", false},  /* rows a page apart */
        {"examples/te/matmul_add.te", "N=5,L=514,M=67", false},        /* blocks of the reduction */
        {"examples/te/matmul_add.te", "N=5,L=2,M=13109", false},       /* an addend from afar */
        {"examples/te/batch_matmul.te", "B=1,N=2,M=66,K=2048", false}, /* and its rows */
        {"examples/te/conv2d_nchw.te", "N=2,H=9,W=11,CI=3,CO=5,K=3,S=1,P=1", false},
        {"examples/te/conv2d_nchw.te", "N=1,H=17,W=19,CI=2,CO=3,K=3,S=2,P=1", false},
        {"examples/te/conv2d_nchw.te", "N=3,H=5,W=9,CI=3,CO=7,K=1,S=1,P=0", false},
        {"examples/te/group_conv2d.te", "N=3,H=5,W=7,CI=6,CO=15,K=3,S=1,P=1,G=3", false},
        {"examples/te/conv2d.te", "N=1,H=4,W=5,CI=3,CO=131,K=3,S=1,P=1,D=1", false},
        {"examples/te/capsule_conv2d.te", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2", false},
        {"examples/te/capsule_conv2d.te", "N=3,H=3,W=5,CI=2,CO=5,K=3,S=1,P=1,C=2", false},
        {"examples/te/norm.te", "B=3,M=7,N=12", false},
        {"examples/te/norm.te", "B=2,M=34,N=1931", false}, /* shared out among threads */
        {"examples/te/softmax.te", "M=5,N=19", false},
        {"examples/te/softmax.te", "M=5,N=16387", false}, /* rows are asked for ahead */
        {"examples/te/layer_norm.te", "M=7,N=13", false},
        {"examples/te/layer_norm.te", "M=1,N=40", false},
        {"examples/te/conv2d_bn_relu.te", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1", false},
        {"examples/te/transpose_batch_matmul.te", "B=2,S=9,H=3,D=5", false},
        {"examples/te/embedding.te", "B=2,S=5,V=11,D=7", true},
        {"examples/te/conv2d_by_rows.te", "N=2,H=7,W=9,CI=4,CO=18", false},
        {"examples/te/gated_mlp.te", "M=5,K=7,F=19", false},
        {"examples/te/masked_mean.te", "B=3,S=7,D=21", false},
        {"examples/te/rms_norm.te", "M=5,N=37", false},
        {"examples/te/group_norm.te", "N=2,H=5,W=3,C=18,G=3", false},
        {"examples/te/correlation.te", "N=1,C=3,H=5,W=7,D=1", false},
        {"examples/te/attention.te", "B=2,S=5,T=11,D=9", false},
        {"examples/te/lstm_cell.te", "N=3,X=7,H=13", false},
        {"examples/te/gru_cell.te", "N=3,X=7,H=13", false},
        {"examples/te/separable_conv2d.te", "N=1,H=5,W=7,CI=5,CO=9", false},
        {"examples/te/stencil.te", "Z=3,Y=5,X=17", true},
        {"examples/te/conv2d_data_gradient.te", "N=1,H=7,W=5,CI=9,CO=3,K=3,S=2,P=1", false},
        {"examples/te/conv2d_weight_gradient.te", "N=2,H=7,W=5,CI=3,CO=9,K=3,S=2,P=1", false},
        {"examples/te/embedding_bag.te", "B=5,E=23,V=11,D=19", false},
        {"examples/te/distances.te", "N=13,M=37,D=5", false},
        {"examples/te/grouped_attention.te", "G=2,R=3,S=5,T=11,D=9", false},
        {"examples/te/causal_softmax.te", "H=2,S=19", false},
        {"examples/te/causal_scores.te", "H=2,S=37,D=5", false},
        {"examples/te/cross_entropy.te", "M=5,N=37", false},
        {"examples/te/quantised_dense.te", "M=5,N=37,K=48,G=2", false},
        {"examples/te/ring_contraction.te", "O=3,V=7", false},
        {"examples/te/graph_sums.te", "V=7,E=23,D=5,F=19", false},
        {"examples/te/causal_conv1d.te", "N=2,T=13,CI=3,CO=17,K=3,L=2", false},
        {"examples/te/complex_matmul.te", "M=13,N=37,K=5", false},
        {"examples/te/transpose.te", "N=70,M=33", false},
        {"examples/te/transpose.te", "N=3,M=33", true}, /* too narrow for squares */
        {"examples/te/channels_last.te", "N=2,C=13,H=3,W=9", false},
        {"tests/te/add_transposed.te", "N=21,M=13", false},
        {"tests/te/blocks_to_rows.te", "N=2,C=16,H=3,W=9,B=8", false},
        {"tests/te/pad_transposed.te", "H=13,W=19", false},
        {"tests/te/distances_of_parts.te", "N=13,M=37,K=9", false},
        {"tests/te/scaled_product.te", "N=19,M=37,K=9,P=2", false},
        {"tests/te/scaled_rows.te", "N=19,M=37,K=9", false},
        {"tests/te/scale_then_conv2d.te", "N=1,H=5,W=7,CI=3,CO=17", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].path, cases[i].args, cases[i].is_plain);
}

#define PRODUCT                                                                                    \
    "args N=13, L=20, M=37\nA[N, L] : input\nB[L, M] : weight\nC[N, M] : input\n"                  \
    "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\nout[i:N, j:M] = mul[i, j] + C[i, j]\n"
#define SOFTMAX                                                                                    \
    "args M=5, N=40\nx[M, N] : input\nmost[i:M] = max(k:N) x[i, k]\n"                              \
    "e[i:M, j:N] = exp(x[i, j] - most[i])\ntotal[i:M] = sum(k:N) e[i, k]\n"                        \
    "out[i:M, j:N] = e[i, j] / total[i]\n"

/* What rules make of a tree that somebody began: the tree of the first sketch, and how many
 * sketches and knobs of the first there are. */
static void begun(void **state) {
    (void)state;
    static const struct {
        const char *text, *tree;
        int sketches, knobs;
    } cases[] = {
        /* parts without sizes; what reads the sum stands beside it */
        {PRODUCT "schedule\n"
                 "i0:para, j0 =>\n"
                 "    k0, k1, i1:unroll, j1:vec =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n",
         "k0, k1, j0, j1:vec =>\n"
         "    @B_packed = j0, k0, k1, j1\n"
         "i0:para, j0 =>\n"
         "    k0, k1:ann(k1_mark), i1:unroll, j1:vec =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
         "    i1:unroll, j1:vec =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 4},
        /* numbers, those of fused loops, too, stay; lanes with a number are packed for */
        {PRODUCT "schedule\n"
                 "{i0:3, j0:2} para =>\n"
                 "    k0, k1, i1:6 unroll, j1:32 vec =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n",
         "k0, k1, j0:2, j1:32 =>\n"
         "    @B_packed = j0, k0, k1, j1\n"
         "{i0:3, j0:2} para =>\n"
         "    k0, k1:ann(k1_mark), i1:6 unroll, j1:32 vec =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
         "    i1:6 unroll, j1:32 vec =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 2},
        /* knobs for loops of which nothing is said */
        {PRODUCT "schedule\n"
                 "i0:para, j0 =>\n"
                 "    k, i1, j1 =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n",
         "k, j0, j1:vec =>\n"
         "    @B_packed = j0, k, j1\n"
         "i0:para, j0 =>\n"
         "    k, i1:ann(i1_mark), j1:ann(j1_mark) =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
         "    i1:ann(i1_mark), j1:ann(j1_mark) =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 4},
        /* only the innermost of a leaf alone can be lanes, none around a reduction is written out
         */
        {PRODUCT "schedule\n"
                 "i0, i1, j0, j1 =>\n"
                 "    k =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
                 "    @out = {i0, i1}/i, {j0, j1}/j\n",
         "i0, i1, j0, j1 =>\n"
         "    k =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
         "    @out = {i0, i1}/i, {j0, j1}/j\n",
         1, 2},
        /* sizes that are there stay, and those that follow from them are no knobs */
        {PRODUCT "schedule\n"
                 "i0, j0:2, j1 =>\n"
                 "    k, i1:3 =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
                 "    i1:3 =>\n"
                 "        @out = {i0, i1}/i, {j0, j1}/j\n",
         NULL, 1, 0},
        /* a sum that nobody wrote is tiled, and what was written reads it */
        {PRODUCT "schedule\n"
                 "i:para, j0, j1:vec =>\n"
                 "    @out = i, {j0, j1}/j\n",
         NULL, 2, 4},
        /* a name of its own for a whole axis; no vectors: nothing to pack */
        {PRODUCT "schedule\n"
                 "row, j =>\n"
                 "    k =>\n"
                 "        @mul = {row}/i, j  // k\n",
         "row, j =>\n"
         "    k =>\n"
         "        @mul = row, j  // k\n"
         "    @out = row, j\n",
         1, 0},
        /* between what it reads and what reads it */
        {SOFTMAX "schedule\n"
                 "i =>\n"
                 "    m0, m1:vec =>\n"
                 "        @most = i  // {m0, m1}/k\n"
                 "    k0, k1:vec =>\n"
                 "        @total = i  // {k0, k1}/k\n",
         NULL, 1, 4},
        {SOFTMAX "schedule\n"
                 "i =>\n"
                 "    j0, j1:vec =>\n"
                 "        @e = i, {j0, j1}/j\n",
         NULL, 1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        at_task *t = task_of_text(a, "own.te", cases[i].text, "");
        if (at_task_num_sketches(t) != cases[i].sketches ||
            at_space_num_knobs(at_task_space(at_task_sketch(t, 0))) != cases[i].knobs)
            fail_msg("%s: %d sketches, %d knobs", cases[i].text, at_task_num_sketches(t),
                     at_space_num_knobs(at_task_space(at_task_sketch(t, 0))));
        if (cases[i].tree)
            assert_string_equal(at_sketch_of_task(t, 0)->s->tree_text, cases[i].tree);
        check_task(a, t);
        at_arena_free(a);
    }
}

/* What reads two sums, or a sum and what comes after it, stands behind the last of them. */
static void several_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args M=5, K=7, F=19\nx[M, K] : input\nv[K, F] : weight\nw[K, F] : weight\n"
        "g[m:M, f:F] = sum(k:K) x[m, k] * v[k, f]\n"
        "u[m:M, f:F] = sum(k:K) x[m, k] * w[k, f]\n"
        "out[m:M, f:F] = max(g[m, f], 0) * u[m, f]\n",
        "args M=5, K=7, F=19\nx[M, K] : input\nw[K, F] : weight\n"
        "g[m:M, f:F] = sum(k:K) x[m, k] * w[k, f]\n"
        "most[m:M] = max(k:K) x[m, k]\n"
        "out[m:M, f:F] = g[m, f] * most[m]\n",
    };
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        check_task(a, task_of_text(a, "own.te", texts[i], ""));
        at_arena_free(a);
    }
}

/* Of a chain of stages that read the one before twice, some are computed once: a million million
 * reads would be in the last. */
static void long_chains(void **state) {
    (void)state;
    static const char *const forms[][2] = {{"[i:M, j:N]", "[i, j]"}, {"[i:M]", "[i]"}};
    for (int k = 0; k < 2; k++)
        for (int part = 0; part < 2; part++) {
            at_arena *a = at_arena_new();
            at_text t = {0};
            at_text_addf(&t, "args M=5, N=19\na0[%s] : input\nx[M, N] : input\n", k ? "M" : "M, N");
            for (int i = 1; i <= 40; i++)
                at_text_addf(&t, "a%d%s = a%d%s*0.5 - a%d%s*0.25\n", i, forms[k][0], i - 1,
                             forms[k][1], i - 1, forms[k][1]);
            at_text_addf(&t, "out[i:M, j:N] = x[i, j] - a40%s\n", forms[k][1]);
            if (part) at_text_addf(&t, "schedule\ni, j0, j1 =>\n    @out = i, {j0, j1}/j\n");
            check_task(a, task_of_text(a, "own.te", at_text_str(&t), ""));
            at_text_free(&t);
            at_arena_free(a);
        }
}

#define GELU                                                                                       \
    "args N=13, L=20, M=37\nA[N, L] : input\nB[L, M] : weight\n"                                   \
    "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\n"                                                 \
    "out[i:N, j:M] = mul[i, j] * (1 + tanh(0.8 * mul[i, j]))\n"
#define CORRELATION                                                                                \
    "args N=1, H=5, W=7, C=16, D=2\na[N, H, W, C] : input\nb[N, H, W, C] : input\n"                \
    "pad[n:N, y:H+2*D, x:W+2*D, c:C] = inside ? b[n, y - D, x - D, c] : 0\n"                       \
    "    where inside = D <= y && y < H + D && D <= x && x < W + D\n"                              \
    "out[n:N, u:2*D+1, v:2*D+1, h:H, w:W] = sum(c:C) a[n, h, w, c] * pad[n, h + u, w + v, c]\n"

#define DOTS                                                                                       \
    "args B=2, K=70001\na[B, K] : input\nc[B, K] : input\ns[b:B] = sum(k:K) a[b, k] * c[b, k]\n"

static bool has_sketch(const at_task *t, const char *word) {
    for (int i = 0; i < at_task_num_sketches(t); i++)
        if (strstr(at_task_sketch_name(t, i), word)) return true;
    return false;
}

/* Whether the first sketch's knob may make the last part of its axis so long. */
static bool has_part(const at_task *t, const char *knob, int64_t length) {
    const at_space *space = at_task_space(at_task_sketch(t, 0));
    int k = at_space_find_knob(space, knob);
    for (int64_t i = 0; k >= 0 && i < at_space_knob_len(space, k); i++) {
        const at_entity *e = at_space_entity(space, k, i);
        if (e->sizes[e->n - 1] == length) return true;
    }
    return false;
}

/* A rule's sketches are there where they should be, and nowhere else. */
static void places(void **state) {
    (void)state;
    static const struct {
        const char *path, *args, *word;
        bool is_there;
    } cases[] = {
        {"batch_matmul", "B=1,N=1024,M=1024,K=1024", "near_Y", true},
        {"batch_matmul", "B=1,N=1,M=1024,K=1024", "near_Y", false}, /* no row needs them again */
        {"batch_matmul", "B=1,N=128,M=128,K=128", "near_Y", false}, /* it stays in the caches */
        {"matmul_add", "N=16,L=16384,M=16", "factor_k", true},
        {"matmul_add", "N=16,L=1024,M=16", "factor_k", false},    /* a short sum */
        {"matmul_add", "N=256,L=16384,M=256", "factor_k", false}, /* many sums */
        {"matmul_add", "N=1024,L=1024,M=1024", "near_", false},   /* weights are packed ahead */
        {"batch_matmul", "B=1,N=256,M=1024,K=2048", "panels_k", true},
        {"batch_matmul", "B=1,N=256,M=64,K=2048", "panels_k", false}, /* one column */
        {"batch_matmul", "B=1,N=1024,M=1024,K=1024", "panels_k", false},
        {"conv2d_nchw", "K=3,S=1,P=1", "strip_pad", true},
        {"conv2d_nchw", "K=1,S=1,P=0", "strip_pad", false}, /* nothing is cut */
        {"conv2d_nchw", "K=3,S=2,P=1", "im2col_data", true},
        {"conv2d_nchw", "K=3,S=2,P=1", "tile_f", false}, /* sums would be stored one by one */
        {"conv2d_nchw", "K=1,S=1,P=0", "im2col_data", false},
        {"conv2d", "H=14,W=14,K=3,P=1", "im2col", false}, /* lanes are channels */
        {"conv2d", "H=14,W=14,K=3,P=1", "strip", false},
        {"depthwise_conv2d", "C=32", "strip", false},
        {"conv2d_transpose", "CO=3", "strip", false}, /* phases of a stride */
        /* Short sums, the last or those of windows. */
        {"conv2d", "H=14,W=14,K=3,P=1", "unroll_q", true},
        {"conv2d", "H=14,W=14,K=3,P=1", "unroll_r", false},
        {"capsule_conv2d", "K=3,C=4", "unroll_m", true},
        {"capsule_conv2d", "K=3,S=1,C=4", "unroll_q", true},
        {"capsule_conv2d", "K=3,S=3,C=4", "unroll_q", false}, /* windows have nothing in common */
        {"conv2d_transpose", "CO=64,K=4,S=2", "unroll_q", true},
        {"conv2d_transpose", "CO=64,K=2,S=2,P=0", "unroll_q", false}, /* a single step */
        {"lstm_cell", "", "tile_h+tile_gx_h", true},                  /* the second along h */
        {"lstm_cell", "", "tile_h+tile_h", false},
        /* Sums that read some of the same. */
        {"gated_mlp", "", "with_g", true},
        {"complex_matmul", "", "with_re", true},
        {"lstm_cell", "", "with_", false},
        /* A square reads twice what it reads, in the same way. */
        {"distances", "", "tile_j+pack_centre", true},
        {"distances", "", "im2col", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        const char *path = at_format(a, "examples/te/%s.te", cases[i].path);
        if (has_sketch(any_task(a, path, cases[i].args), cases[i].word) != cases[i].is_there)
            fail_msg("%s %s: %s", cases[i].path, cases[i].args, cases[i].word);
        at_arena_free(a);
    }
    at_arena *a = at_arena_new();
    at_task *gelu = task_of_text(a, "own.te", GELU, ""),
            *product = task_of_text(a, "own.te", PRODUCT, ""),
            *correlation = task_of_text(a, "own.te", CORRELATION, ""),
            *dots = task_of_text(a, "own.te", DOTS, ""),
            *shifts = any_task(a, "examples/te/correlation.te", "C=2,H=4,W=7,D=1");
    const char *tree = at_sketch_of_task(product, 0)->s->tree_text;
    assert_null(strstr(tree, "prefetch")); /* what is added is near */
    tree =
        at_sketch_of_task(any_task(a, "examples/te/matmul_add.te", "N=512,M=512"), 0)->s->tree_text;
    assert_non_null(strstr(tree, "@out[prefetch C ahead_C]"));
    assert_true(has_sketch(gelu, "late"));
    assert_false(has_sketch(product, "late"));
    assert_true(has_sketch(correlation, "strip_pad+dots_c"));
    assert_true(has_sketch(dots, "factor_k"));
    /* rows of the picture, and shifts along them: both read the same further down */
    assert_non_null(strstr(at_sketch_of_task(shifts, 0)->s->tree_text, "h1:unroll"));
    /* tiles as wide as pixels that lie far apart take, where lanes have nothing in common */
    const char *depthwise = "examples/te/depthwise_conv2d.te";
    assert_true(has_part(any_task(a, depthwise, "C=512"), "tile_c", 256));
    assert_false(has_part(any_task(a, depthwise, "C=256"), "tile_c", 256));
    assert_false(has_part(any_task(a, "examples/te/conv2d.te", "CO=512"), "tile_f", 256));
    check_task(a, shifts);
    check_task(a, dots);
    check_task(a, gelu);
    check_task(a, correlation);
    at_arena_free(a);
}

/* A tree with nothing open is one of its own, without sketches. */
static void whole(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_task *t = task_of_text(a, "own.te",
                              "args N=4\nA[N] : input\nout[i:N] = A[i] + 1\n"
                              "schedule\ni:vec =>\n    @out = i\n",
                              "");
    assert_int_equal(at_task_num_sketches(t), 0);
    at_arena_free(a);
}

int main(void) {
    at_sketches_for_templates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),        cmocka_unit_test(begun),  cmocka_unit_test(several_read),
        cmocka_unit_test(long_chains), cmocka_unit_test(places), cmocka_unit_test(whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
