/* Stages behind a template's output: names, what they make of the computation and its arguments,
 * records, and what does not fit. What the kernels compute: tests/run/test_templates.c. */
#include "tests/templates/support.h"
#include "tests/arena.h"
#include "sketch/sketch.h"

#include <string.h>

static const at_template_row *find(const char *name) {
    const at_template_row *row;
    at_error err;
    if (at_template_find(name, &row, &err) != AT_OK) fail_msg("%s", err.text);
    return row;
}

static const at_template_row *fuse(const char *name, const char *stages) {
    const at_template_row *row;
    at_error err;
    if (at_template_fuse(find(name), stages, ",", &row, &err) != AT_OK) fail_msg("%s", err.text);
    return row;
}

static at_task *task(const char *name, const char *args) {
    at_task *t;
    at_error err;
    if (at_task_new(arena, find(name), args, &t, &err) != AT_OK) fail_msg("%s", err.text);
    return t;
}

static const char *text_of(const at_task *t) {
    at_text text = {0};
    at_compute_print(&text, at_task_compute(t));
    return at_text_take(arena, &text);
}

static void expect(const at_task *t, const char *wanted) {
    if (!strstr(text_of(t), wanted)) fail_msg("is\n%swanted\n%s", text_of(t), wanted);
}

static void names(void **state) {
    (void)state;
    const at_template_row *r = fuse("conv2d_NCHWc", "bias,relu");
    assert_string_equal(r->name, "conv2d_NCHWc+bias+relu");
    assert_string_equal(r->record_name, "conv2d_NCHWc.x86+bias+relu");
    /* one name, one row, however it is asked for */
    assert_ptr_equal(r, find("conv2d_NCHWc+bias+relu"));
    assert_ptr_equal(r, find("conv2d_NCHWc.x86+bias+relu"));
    assert_ptr_equal(r, fuse("conv2d_NCHWc+bias", "relu"));
    assert_ptr_not_equal(r, find("conv2d_NCHWc+relu+bias"));
    assert_ptr_equal(at_template_base(r), find("conv2d_NCHWc"));
    assert_ptr_equal(at_template_base(find("dense")), find("dense"));
    assert_null(at_template_file(r));
    /* a template whose own name has a + goes before */
    static at_template_row own;
    own = *find("dense");
    own.name = "dense+relu", own.record_name = NULL;
    assert_ptr_not_equal(find("dense+relu"), &own);
    at_template_add(&own, "own.c", NULL, true);
    assert_ptr_equal(find("dense+relu"), &own);
    assert_ptr_equal(at_template_base(find("dense+relu+bias")), &own);
    assert_string_equal(at_template_file(find("dense+relu+bias")), "own.c");
}

#define STAGES                                                                                     \
    "bias, add, relu, clip, scale, mul, leaky, sigmoid, tanh, silu, gelu, hardsigmoid, "           \
    "hardswish, u8, s8; "                                                                          \
    "or written out, in parentheses: (x*sigmoid(x))"

static void no_stage(void **state) {
    (void)state;
    const at_template_row *row;
    at_error err;
    assert_int_equal(at_template_find("dense+loud", &row, &err), AT_E_USAGE);
    assert_string_equal(err.text, "--fuse: unknown stage \"loud\"; there are: " STAGES);
    assert_int_equal(at_template_find("dense+", &row, &err), AT_E_USAGE);
    assert_string_equal(err.text, "--fuse: unknown stage \"\"; there are: " STAGES);
    assert_int_equal(at_template_find("dens+relu", &row, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "unknown template \"dens+relu\""));
    assert_int_equal(
        at_template_fuse(find("dense"), "add,add,add,add,add,add,add,add,add", ",", &row, &err),
        AT_E_USAGE);
    assert_string_equal(err.text, "--fuse add,add,add,add,add,add,add,add,add: more than 8 stages");
}

static void computations(void **state) {
    (void)state;
    expect(task("conv2d_NCHWc+bias+relu", NULL),
           "bias[OC/o*o] : weight\n"
           "out[n:N, O:OC/o, h:OH, w:OW, b:o] = max(acc[n, O, h, w, b] + bias[O*o + b], 0)\n");
    expect(task("conv2d_nhwc+scale+add+clip", NULL),
           "scale[CO] : weight\nshift[CO] : weight\naddend[N, OH, OW, CO] : input\n"
           "out[n:N, h:OH, w:OW, f:CO] = min(max(acc[n, h, w, f]*scale[f] + shift[f] + "
           "addend[n, h, w, f], 0), 6)\n");
    /* integers have integers added, and are put into bytes by channel */
    expect(task("dense_int8+bias+u8", NULL),
           "bias_0[N] : weight s32\nscale[N] : weight\nzero[N] : weight\n"
           "out[y:M, x:N] : u8 = round((acc[y, x] + bias_0[x])*scale[x] + zero[x])\n");
    /* names that are taken: an argument, an input */
    expect(task("dense+bias", "M=8,N=16,K=4"), "out[y:Y, x:X] = acc[y, x] + bias_0[x]\n");
    expect(task("matmul_add+add", NULL), "+ addend[y, x] + addend_0[y, x]\n");
    expect(task("dense+add+add", "M=8,N=16,K=4"), "+ addend[y, x] + addend_0[y, x]\n");
    /* an output that is a sum is copied first */
    expect(task("spconv2d_3x3_gemm+bias", NULL),
           "out_sum[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\nbias[X] : weight\n"
           "out[y:Y, x:X] = out_sum[y, x] + bias[x]\n");
}

/* Stages that are written out: one spelling, one row; names in them are tensors. */
static void written(void **state) {
    (void)state;
    const at_template_row *r = fuse("dense", "bias,( x * 2 + max(g, 0) )");
    assert_string_equal(r->name, "dense+bias+(x*2+max(g,0))");
    assert_string_equal(r->record_name, "dense_pack.x86+bias+(x*2+max(g,0))");
    assert_ptr_equal(r, find("dense+bias+(x*2+max(g,0))"));
    assert_ptr_equal(r, find("dense_pack.x86+bias+(x*2 + max(g,0))"));
    expect(task("dense+bias+(x*2+max(g,0))", "M=8,N=16,K=4"),
           "g[Y, X] : input\nout[y:Y, x:X] = (acc[y, x] + bias_0[x])*2 + max(g[y, x], 0)\n");
    /* what they say is what the named ones are */
    expect(task("conv2d_nhwc+(x*scale[c]+shift[c])+(x+addend)+(min(max(x,0),6))", NULL),
           "scale[CO] : weight\nshift[CO] : weight\naddend[N, OH, OW, CO] : input\n"
           "out[n:N, h:OH, w:OW, f:CO] = min(max(acc[n, h, w, f]*scale[f] + shift[f] + "
           "addend[n, h, w, f], 0), 6)\n");
    expect(task("dense+silu", "M=8,N=16,K=4"), "out[y:Y, x:X] = acc[y, x]*sigmoid(acc[y, x])\n");
    /* one name, one tensor */
    expect(task("dense+(x*g+g)", "M=8,N=16,K=4"), "= acc[y, x]*g[y, x] + g[y, x]\n");
    static const char *const slips[][2] = {
        {"dense+(y+1)", "--fuse (y+1): a stage is made of x, the element before: x*sigmoid(x)"},
        {"dense+(x*g[i])",
         "--fuse (x*g[i]): g is read as g[c], a number per channel, or as g alone"},
        {"dense+(x*c)", "--fuse (x*c): c stands for the channel, in NAME[c] alone"},
        {"dense+(x", "--fuse (x: stage:1:3: expected ')', got the end"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const at_template_row *row;
        at_error err;
        assert_int_equal(at_template_find(slips[i][0], &row, &err), AT_E_USAGE);
        if (strncmp(err.text, slips[i][1], strlen(slips[i][1])) != 0) fail_msg("%s", err.text);
    }
    /* doubled again and again it is too much */
    at_task *t;
    at_error err;
    assert_int_equal(
        at_task_new(arena, find("dense+silu+silu+silu+silu+silu+silu+silu+silu"), NULL, &t, &err),
        AT_E_USAGE);
    assert_non_null(
        strstr(err.text, "--fuse silu: the output's expression has more than 1000 operations"));
}

/* Of every template, a bias has an element per output channel. */
static void channels(void **state) {
    (void)state;
    static const struct {
        const char *name, *args;
        int64_t channels;
    } wanted[] = {{"conv2d_3x3_gemm", "CO=48", 48},
                  {"conv2d_NCHWc", "OC=48", 48},
                  {"conv2d_NCHWc", "IC=32,OC=48,ib=16,ob=16", 48},
                  {"conv2d_nhwc", "CO=48", 48},
                  {"dense", "M=8,N=48,K=4", 48},
                  {"dense", "M=8,N=48,K=4,wb=16", 48},
                  {"matmul_add", "N=8,L=4,M=48", 48},
                  {"conv2d_transpose_nhwc", "CO=48", 48},
                  {"depthwise_conv2d_nhwc", "C=48", 48},
                  {"group_conv2d_nhwc", "CO=48", 48},
                  {"conv1d_nwc", "CO=48", 48},
                  {"batch_matmul", "M=8,N=48,K=4", 48},
                  {"spconv2d_3x3_gemm", "CO=48,nnz=3", 48},
                  {"spconv2d_3x3_gemm", "CO=48,nnz=3,R=4,C=4", 48},
                  {"sparse_dense", "M=24,N=48,nnz=3", 48},
                  {"sparse_dense", "M=24,N=48,nnz=3,R=1", 48},
                  {"indirect_conv2d_nhwc", "H=5,W=5,CO=48", 48},
                  {"indirect_conv2d_nhwc", "H=5,W=5,CO=48,copy=1", 48}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        at_task *t = task(at_format(arena, "%s+scale", wanted[i].name), wanted[i].args);
        const at_compute *c = at_task_compute(t);
        int64_t *values, **extents;
        at_error err;
        assert_int_equal(at_task_plain_values(arena, t, &values, &err), AT_OK);
        assert_int_equal(at_compute_extents(arena, c, values, &extents, &err), AT_OK);
        assert_int_equal(extents[at_compute_find(c, "scale")][0], wanted[i].channels);
        assert_int_equal(extents[at_compute_find(c, "shift")][0], wanted[i].channels);
    }
}

/* What is in blocks as the output is comes in the output's plain order. */
static void layouts(void **state) {
    (void)state;
    at_task *t = task("conv2d_NCHWc+add", NULL);
    const at_compute *c = at_task_compute(t);
    const int *out = at_task_layout(t, at_compute_find(c, "out"));
    const int *addend = at_task_layout(t, at_compute_find(c, "addend"));
    assert_non_null(addend);
    assert_memory_equal(out, addend, 5 * sizeof *out);
}

static void records(void **state) {
    (void)state;
    at_task *plain = task("conv2d_nhwc", "CO=48"), *t = task("conv2d_nhwc+bias+relu", "CO=48");
    at_task *other = task("conv2d_nhwc+relu+bias", "CO=48"), *again;
    at_error err;
    assert_string_equal(at_task_record_name(t), "conv2d_nhwc+bias+relu");
    assert_string_equal(at_json_text(arena, at_task_args(plain)),
                        at_json_text(arena, at_task_args(t)));
    assert_string_not_equal(at_task_hash(plain), at_task_hash(t));
    assert_string_not_equal(at_task_hash(other), at_task_hash(t));
    assert_int_equal(
        at_task_of_record(arena, at_task_record_name(t), at_task_args(t), &again, &err), AT_OK);
    assert_string_equal(at_task_hash(again), at_task_hash(t));
    assert_int_equal(at_space_len(at_task_space(plain)), at_space_len(at_task_space(t)));
}

/* ---- what does not fit ----------------------------------------------------------------------- */

static const char pool[] = "a[N, M] : input\n"
                           "m[i:N, j:M] = max(a[i, j], 1)\n";
static const char pool_tree[] = "i, j =>\n    @m = i, j\n";
static const char two[] = "a[N, M] : input\n"
                          "p[i:N] = max(a[i, 0], 1)\n"
                          "q[i:N] = max(a[i, 0], 2)\n";
static const char two_tree[] = "i =>\n    @p = i\ni =>\n    @q = i\n";
static const char blocks[] = "a[N/b, b] : input\n"
                             "m[i:N/b, j:b] = max(a[i, j], 1)\n";

static void define_pool(at_template *t) {
    at_compute(t, pool);
    at_schedule(t, pool_tree);
}

static void define_two(at_template *t) {
    at_compute(t, two);
    at_schedule(t, two_tree);
}

static void define_blocks(at_template *t) {
    at_split(t, "tile", "N", "c b", .policy = AT_FACTORS);
    at_compute(t, blocks);
    at_schedule(t, pool_tree);
}

static void refuse(void (*define)(at_template *t), const char *stages, const char *message) {
    static at_template_row rows[8];
    static int n;
    const at_template_row *row;
    at_task *t;
    at_error err;
    rows[n] = (at_template_row){
        .name = "mine", .help = "", .args = "N=8, M=4", .record_args = "[N, M]", .define = define};
    assert_int_equal(at_template_fuse(&rows[n++], stages, ",", &row, &err), AT_OK);
    assert_int_equal(at_task_new(arena, row, NULL, &t, &err), AT_E_USAGE);
    assert_string_equal(err.text, message);
}

static void misfits(void **state) {
    (void)state;
    refuse(
        define_pool, "relu,bias",
        "--args: mine+relu+bias with N=8,M=4: --fuse bias: the output \"m\" has no channels: there "
        "is no weight, and no input that is the same along its last axis; stages that need none: "
        "add, relu, clip");
    refuse(define_two, "relu",
           "--args: mine+relu with N=8,M=4: --fuse relu: there are several outputs: \"p\", "
           "\"q\"; stages go behind one");
    refuse(define_blocks, "add",
           "--args: mine+add with N=8,M=4: --fuse add: the shape of the output \"m\" depends "
           "on knobs, and no at_layout says how: an addend has none to be given in");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),        cmocka_unit_test(no_stage),
                                       cmocka_unit_test(computations), cmocka_unit_test(written),
                                       cmocka_unit_test(channels),     cmocka_unit_test(layouts),
                                       cmocka_unit_test(records),      cmocka_unit_test(misfits)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
