/* Where rules find something to do: their sketches are there for computations of some shapes, and
 * not for others. */
#include "tests/sketch/interpreted.h"

#include <string.h>

#define GELU                                                                                       \
    "args N=13, L=20, M=37\nA[N, L] : input\nB[L, M] : weight\n"                                   \
    "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\n"                                                 \
    "out[i:N, j:M] = mul[i, j] * (1 + tanh(0.8 * mul[i, j]))\n"
#define CORRELATION                                                                                \
    "args N=1, H=5, W=7, C=16, D=2\na[N, H, W, C] : input\nb[N, H, W, C] : input\n"                \
    "pad[n:N, y:H+2*D, x:W+2*D, c:C] = inside ? b[n, y - D, x - D, c] : 0\n"                       \
    "    where inside = D <= y && y < H + D && D <= x && x < W + D\n"                              \
    "out[n:N, u:2*D+1, v:2*D+1, h:H, w:W] = sum(c:C) a[n, h, w, c] * pad[n, h + u, w + v, c]\n"

#define REPEATED                                                                                   \
    "args H=9, W=37, C=3, F=5\ndata[C, H, W] : input\nw[F, C, 3, 3] : weight\n"                    \
    "pad[c:C, y:H+2, x:W+2] = data[c, min(max(y - 1, 0), H - 1), min(max(x - 1, 0), W - 1)]\n"     \
    "out[f:F, h:H, w:W] = sum(c:C, r:3, q:3) pad[c, h + r, w + q] * w[f, c, r, q]\n"

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
        /* Lanes are channels where sums are stored so; else they would be stored one by one. */
        {"conv2d_nchw", "K=3,S=2,P=1", "last_f+blocks_w+near_out_last+tile_f", true},
        {"conv2d_nchw", "K=3,S=2,P=1", "im2col_data+tile_f", false},
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
            *product = any_task(a, "examples/te/matmul_add.te", "N=13,L=20,M=37"),
            *correlation = task_of_text(a, "own.te", CORRELATION, ""),
            *dots = task_of_text(a, "own.te", DOTS, ""),
            *repeated = task_of_text(a, "own.te", REPEATED, ""),
            *shifts = any_task(a, "examples/te/correlation.te", "C=2,H=4,W=7,D=1");
    const char *tree = at_sketch_of_task(product, 0)->s->tree_text;
    assert_null(strstr(tree, "prefetch")); /* what is added is near */
    tree =
        at_sketch_of_task(any_task(a, "examples/te/matmul_add.te", "N=512,M=512"), 0)->s->tree_text;
    assert_non_null(strstr(tree, "@out[prefetch C ahead_C]"));
    assert_true(has_sketch(gelu, "late"));
    assert_false(has_sketch(product, "late"));
    assert_true(has_sketch(correlation, "strip_pad+dots_c"));
    /* A bound cuts into lanes as padding does; what it reads is read as it lies, too. */
    assert_true(has_sketch(repeated, "strip_pad+tile_w"));
    assert_true(has_sketch(repeated, "im2col_data"));
    assert_false(has_sketch(repeated, "pointers"));
    assert_true(has_sketch(dots, "factor_k"));
    assert_true(has_sketch(any_task(a, "tests/te/batch_norm.te", ""), "with_s"));
    const char *both = at_task_sketch_name(any_task(a, "tests/te/rows_and_columns.te", ""), 0);
    assert_string_equal(both, "both_i+with_y_where+both_j+with_most+both_j+with_q");
    /* Of a small matrix tiles at its diagonal are most. */
    both = at_task_sketch_name(any_task(a, "tests/te/rows_and_columns.te", "K=35"), 0);
    assert_null(strstr(both, "both_i"));
    /* Rows of halves that are longer than a register make no lanes together. */
    const char *halves = "args C=64\nx[2, C, 28, 20] : input f16\nk[65, C] : weight\n"
                         "c[n:2, f:65, h:28, w:20] = sum(i:C) x[n, i, h, w]*k[f, i]\n";
    assert_null(strstr(at_sketch_of_task(any_task(a, halves, ""), 0)->s->tree_text, "w:20} vec"));
    assert_false(has_sketch(any_task(a, halves, ""), "flat_h"));
    /* rows of the picture, and shifts along them: both read the same further down */
    assert_non_null(strstr(at_sketch_of_task(shifts, 0)->s->tree_text, "h1:unroll"));
    /* tiles as wide as pixels that lie far apart take, where lanes have nothing in common */
    const char *depthwise = "examples/te/depthwise_conv2d.te";
    assert_true(has_part(any_task(a, depthwise, "C=512"), "tile_c", 256));
    assert_false(has_part(any_task(a, depthwise, "C=256"), "tile_c", 256));
    assert_false(has_part(any_task(a, "examples/te/conv2d.te", "CO=512"), "tile_f", 256));
    check_task(a, shifts);
    check_task(a, dots);
    check_task(a, repeated);
    check_task(a, gelu);
    check_task(a, correlation);
    at_arena_free(a);
}

/* Rows of a stage that lanes go through together lie behind each other, whoever copies it; longer
 * ones, which its own tiles may cut, make no lanes together. */
static void joined_rows(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *block = any_task(a, "bench/modern/mbconv.te", "C=24,F=144,H=40,W=40");
    assert_null(strstr(at_sketch_of_task(block, 0)->s->tree_text, "@d[dense]"));
    assert_non_null(strstr(at_sketch_of_task(block, 0)->s->tree_text, "@d = "));
    const char *chain = "args C=64\nx[C, 28, 20] : input\nk[65, C] : weight\nl[C, 65] : weight\n"
                        "a[f:65, h:28, w:20] = sum(i:C) x[i, h, w]*k[f, i]\n"
                        "c[f:C, h:28, w:20] = sum(i:65) a[i, h, w]*l[f, i]\n"
                        "d[f:C, h:28, w:20] = sum(i:65) a[i, h, w]*l[f, 64 - i]\n";
    const char *tree = at_sketch_of_task(any_task(a, chain, ""), 0)->s->tree_text;
    assert_non_null(strstr(tree, "w}:vec"));
    assert_non_null(strstr(tree, "@a[dense]"));
    assert_null(strstr(tree, "@a = "));
    at_arena_free(a);
}

/* Long rows of steps are gone through as they lie. */
static void rows_of_steps(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *scan = any_task(a, "bench/modern/linear_scan.te", "T=64,C=1024");
    assert_string_equal(at_task_sketch_name(scan, 0), "running_t+rows_first");
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(joined_rows),
                                       cmocka_unit_test(rows_of_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
