/* conv2d_winograd_nhwc: what its transforms compute is a convolution, exactly where m is 2. */
#include "tests/templates/support.h"

#include <math.h>

static at_task *task(at_arena *a, const char *args) {
    return task_of(a, row_named("conv2d_winograd_nhwc"), args);
}

/* ---- a convolution by hand, sharing nothing with the notations ------------------------------- */

enum { N = 2, H = 7, W = 9, CI = 3, CO = 4, TOP = 1, LEFT = 2, BOTTOM = 0, RIGHT = 1 };
enum { MOST_TAPS = 7, MOST_OH = H + TOP + BOTTOM - 1, MOST_OW = W + LEFT + RIGHT - 1 };
#define ARGS "N=2,H=7,W=9,CI=3,CO=4,padding=[1,2,0,1],"

typedef struct layer {
    int taps, oh, ow;
    float data[N][H][W][CI], weight[MOST_TAPS * MOST_TAPS * CI * CO];
    double out[N * MOST_OH * MOST_OW * CO], of_terms; /* the largest sum of absolute values */
} layer;

static float *weight_at(layer *l, int kh, int kw, int ci, int co) {
    return &l->weight[((kh * l->taps + kw) * CI + ci) * CO + co];
}

static double term(layer *l, int n, int y, int x, int kh, int kw, int ci, int co) {
    y += kh - TOP, x += kw - LEFT;
    if (y < 0 || y >= H || x < 0 || x >= W) return 0;
    return (double)l->data[n][y][x][ci] * (double)*weight_at(l, kh, kw, ci, co);
}

static int num_outputs(const layer *l) { return N * l->oh * l->ow * CO; }

/* Outputs in the order of channels last. */
static void convolve(layer *l) {
    for (int i = 0; i < num_outputs(l); i++) {
        int co = i % CO, x = i / CO % l->ow, y = i / CO / l->ow % l->oh, n = i / CO / l->ow / l->oh;
        double sum = 0, terms = 0;
        for (int k = 0; k < l->taps * l->taps * CI; k++) {
            double v = term(l, n, y, x, k / CI / l->taps, k / CI % l->taps, k % CI, co);
            sum += v;
            terms += fabs(v);
        }
        l->out[i] = sum;
        l->of_terms = fmax(l->of_terms, terms);
    }
}

static void make_layer(layer *l, int taps) {
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    *l =
        (layer){.taps = taps, .oh = H + TOP + BOTTOM - taps + 1, .ow = W + LEFT + RIGHT - taps + 1};
    for (int i = 0; i < N * H * W * CI; i++)
        ((float *)l->data)[i] = (float)at_rng_below(&rng, 17) - 8;
    for (int i = 0; i < taps * taps * CI * CO; i++)
        l->weight[i] = (float)at_rng_below(&rng, 17) - 8;
}

static const float *run(at_arena *a, const at_task *t, int64_t index, float *data, layer *l) {
    at_config c = config_at(a, t, index);
    const at_compute *compute = at_task_compute(t);
    at_program *p;
    at_error err = {0};
    if (at_task_program(a, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
    at_data *x = AT_NEW_ARRAY(a, at_data, compute->num_tensors);
    x[at_compute_find(compute, "data")].f = data;
    x[at_compute_find(compute, "weight")].f = l->weight;
    if (at_program_interpret(a, p, x, &err) != AT_OK) fail_msg("%s", err.text);
    return x[at_compute_find(compute, "out")].f;
}

static const float *run_last(at_arena *a, const at_task *t, layer *l) {
    return run(a, t, at_space_range_length(at_task_space(t)) - 1, (float *)l->data, l);
}

static void expect_near(const layer *l, const char *args, int i, float got, double of_terms) {
    if (fabs((double)got - l->out[i]) > of_terms * l->of_terms)
        fail_msg("%s: element %d is %.9g instead of %.9g", args, i, (double)got, l->out[i]);
}

/* of_terms: how far an output may be off, in units of the largest sum of absolute values of terms.
 */
static void check(at_arena *a, int taps, const char *args, double of_terms) {
    layer l;
    make_layer(&l, taps);
    convolve(&l);
    const float *out = run_last(a, task(a, at_format(a, ARGS "%s", args)), &l);
    for (int i = 0; i < num_outputs(&l); i++) expect_near(&l, args, i, out[i], of_terms);
    /* In blocks of one channel: channels first. */
    const at_task *blocks =
        task_of(a, row_named("conv2d_winograd_NCHWc"), at_format(a, ARGS "%s", args));
    float *data = AT_NEW_ARRAY(a, float, N *CI *H *W);
    for (int i = 0; i < N * CI * H * W; i++)
        data[i] = l.data[i / W / H / CI][i / W % H][i % W][i / W / H % CI];
    out = run(a, blocks, 0, data, &l);
    for (int i = 0; i < num_outputs(&l); i++) {
        int co = i % CO, pixel = i / CO % (l.oh * l.ow), n = i / CO / (l.oh * l.ow);
        expect_near(&l, args, i, out[(n * CO + co) * l.oh * l.ow + pixel], of_terms);
    }
}

static void is_a_convolution(void **state) {
    static const struct {
        int taps;
        const char *args;
    } exact[] = {{3, "m=2"}, {2, "KH=2,KW=2,m=3"}}, rounded[] = {{3, "m=4"},
                                                                 {3, "m=4,points=1"},
                                                                 {3, "m=4,points=2"},
                                                                 {3, "m=4,points=3"},
                                                                 {3, "m=6"},
                                                                 {5, "KH=5,KW=5,m=2"},
                                                                 {5, "KH=5,KW=5,m=2,points=1"},
                                                                 {5, "KH=5,KW=5,m=4"},
                                                                 {4, "KH=4,KW=4,m=3"},
                                                                 {7, "KH=7,KW=7,m=2"}};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        check(*state, exact[i].taps, exact[i].args, 0);
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        check(*state, rounded[i].taps, rounded[i].args, 1e-5);
}

/* A transform that is wrong in one number, or one product that is missing, is far beyond that. */
static void notices(void **state) {
    layer l;
    make_layer(&l, 3);
    convolve(&l);
    const float *out = run_last(*state, task(*state, ARGS "m=4"), &l);
    *weight_at(&l, 1, 1, 0, 2) += 1;
    convolve(&l);
    int differ = 0, pixels = N * l.oh * l.ow;
    for (int i = 0; i < num_outputs(&l); i++)
        differ += fabs((double)out[i] - l.out[i]) > 1e-5 * l.of_terms;
    assert_in_range(differ, pixels / 2, pixels);
}

static void random_entities(void **state) {
    static const char *const shapes[] = {
        "CI=3,CO=4,H=7,W=5,m=2",
        "N=2,CI=4,CO=6,H=4,W=8,m=2,padding=0",
        "CI=2,CO=3,H=3,W=11,m=2,padding=[2,0,1,3]",
        "CI=2,CO=3,H=5,W=11,KH=2,KW=2,m=3,padding=SAME",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_random_right(task(*state, shapes[i]), 20);
}

static void arguments(void **state) {
    static const char json[] = "[[\"TENSOR\", [2, 9, 11, 6], \"float32\"], [\"TENSOR\", [3, 3, 6, "
                               "10], \"float32\"], [1, 1], \"SAME\", 1, \"float32\", 4, 1]";
    at_task *t = task(*state, json);
    assert_string_equal(at_task_args_text(t),
                        "N=2,H=9,W=11,CI=6,CO=10,KH=3,KW=3,padding=1,m=4,points=1");
    /* operations of the definition are counted, so that speeds can be compared */
    assert_float_equal(at_task_flops(t), 2.0 * 9 * 2 * 9 * 11 * 6 * 10, 0);
#define WITH(args) "--args: conv2d_winograd_nhwc with N=1,H=56,W=56,CI=64,CO=64," args
    const at_template_row *row = row_named("conv2d_winograd_nhwc");
    expect_refused(*state, row, "m=3", AT_E_USAGE,
                   WITH("KH=3,KW=3,padding=1,m=3,points=0: m and the kernel make tiles of 4, 6 or "
                        "8: m is 2, 4 or 6 for 3x3, 2 or 4 for 5x5"));
    expect_refused(*state, row, "KH=5,KW=5,m=6", AT_E_USAGE,
                   WITH("KH=5,KW=5,padding=1,m=6,points=0: m and the kernel make tiles of 4, 6 or "
                        "8: m is 2, 4 or 6 for 3x3, 2 or 4 for 5x5"));
    expect_refused(*state, row, "KH=3,KW=5", AT_E_USAGE,
                   WITH("KH=3,KW=5,padding=1,m=4,points=0: the kernel is square, 2x2 or more"));
    expect_refused(*state, row, "KH=1,KW=1", AT_E_USAGE,
                   WITH("KH=1,KW=1,padding=1,m=4,points=0: the kernel is square, 2x2 or more"));
    expect_refused(*state, row, "m=2,points=1", AT_E_USAGE,
                   WITH("KH=3,KW=3,padding=1,m=2,points=1: points is 0, or up to 3 where tiles are "
                        "of 6 (m = 4 for 3x3, 2 for 5x5)"));
    expect_refused(*state, row, "H=2,padding=0", AT_E_USAGE,
                   "--args: conv2d_winograd_nhwc with N=1,H=2,W=56,CI=64,CO=64,KH=3,KW=3,padding=0,"
                   "m=4,points=0: the kernel exceeds the padded image");
    expect_refused(
        *state, row, "strides=2", AT_E_USAGE,
        "--args: unknown argument \"strides\"; conv2d_winograd_nhwc has N, H, W, CI, CO, "
        "KH, KW, padding, m, points");
}

static void default_entities(void **state) {
    expect_default(*state, task(*state, "CI=32,CO=64,H=14,W=14,m=2"), 16,
                   "[[\"tile_s\", \"sp\", [7, 1]], [\"tile_t\", \"sp\", [1, 7]], [\"tile_co\", "
                   "\"sp\", [2, 32]], [\"tile_ci\", \"sp\", [1, 32]], [\"tile_k\", \"sp\", "
                   "[1, 32]]]");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(is_a_convolution), TEST(notices),          TEST(random_entities),
        TEST(arguments),        TEST(default_entities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
