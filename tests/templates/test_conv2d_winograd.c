/* conv2d_winograd_nhwc: what its transforms compute is a convolution, exactly where m is 2. */
#include "tests/templates/support.h"

#include <math.h>
#include <string.h>

static at_task *task(at_arena *a, const char *args) {
    return task_of(a, row_named("conv2d_winograd_nhwc"), args);
}

/* ---- a convolution by hand, sharing nothing with the notations ------------------------------- */

enum { N = 2, H = 7, W = 9, CI = 3, CO = 4, TOP = 1, LEFT = 2, BOTTOM = 0, RIGHT = 1 };
enum { OH = H + TOP + BOTTOM - 2, OW = W + LEFT + RIGHT - 2 };
#define ARGS "N=2,H=7,W=9,CI=3,CO=4,padding=[1,2,0,1],"

typedef struct layer {
    float data[N][H][W][CI], weight[3][3][CI][CO];
    double out[N][OH][OW][CO], of_terms; /* the largest sum of absolute values */
} layer;

static double term(const layer *l, int n, int y, int x, int kh, int kw, int ci, int co) {
    y += kh - TOP, x += kw - LEFT;
    if (y < 0 || y >= H || x < 0 || x >= W) return 0;
    return (double)l->data[n][y][x][ci] * (double)l->weight[kh][kw][ci][co];
}

static void convolve(layer *l) {
    for (int i = 0; i < N * OH * OW * CO; i++) {
        int co = i % CO, x = i / CO % OW, y = i / CO / OW % OH, n = i / CO / OW / OH;
        double sum = 0, terms = 0;
        for (int k = 0; k < 9 * CI; k++) {
            double v = term(l, n, y, x, k / CI / 3, k / CI % 3, k % CI, co);
            sum += v;
            terms += fabs(v);
        }
        l->out[n][y][x][co] = sum;
        l->of_terms = fmax(l->of_terms, terms);
    }
}

static const float *run(at_arena *a, const at_task *t, layer *l) {
    at_config c = config_at(a, t, at_space_range_length(at_task_space(t)) - 1);
    const at_compute *compute = at_task_compute(t);
    at_program *p;
    at_error err = {0};
    if (at_task_program(a, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
    at_data *x = AT_NEW_ARRAY(a, at_data, compute->num_tensors);
    x[at_compute_find(compute, "data")].f = (float *)l->data;
    x[at_compute_find(compute, "weight")].f = (float *)l->weight;
    if (at_program_interpret(a, p, x, &err) != AT_OK) fail_msg("%s", err.text);
    return x[at_compute_find(compute, "out")].f;
}

/* of_terms: how far an output may be off, in units of the largest sum of absolute values of terms.
 */
static void check(at_arena *a, const char *args, double of_terms) {
    layer l = {0};
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < N * H * W * CI; i++)
        ((float *)l.data)[i] = (float)at_rng_below(&rng, 17) - 8;
    for (int i = 0; i < 9 * CI * CO; i++)
        ((float *)l.weight)[i] = (float)at_rng_below(&rng, 17) - 8;
    convolve(&l);
    const float *out = run(a, task(a, at_format(a, ARGS "%s", args)), &l);
    for (int i = 0; i < N * OH * OW * CO; i++) {
        double off = fabs((double)out[i] - ((double *)l.out)[i]);
        if (off > of_terms * l.of_terms)
            fail_msg("%s: element %d is %.9g instead of %.9g", args, i, (double)out[i],
                     ((double *)l.out)[i]);
    }
}

static void is_a_convolution(void **state) {
    check(*state, "m=2", 0);
    static const char *const rounded[] = {"m=4", "m=4,points=1", "m=4,points=2", "m=4,points=3",
                                          "m=6"};
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) check(*state, rounded[i], 1e-5);
}

/* A transform that is wrong in one number, or one product that is missing, is far beyond that. */
static void notices(void **state) {
    layer l = {0};
    for (int i = 0; i < N * H * W * CI; i++) ((float *)l.data)[i] = (float)(i % 7 - 2);
    for (int i = 0; i < 9 * CI * CO; i++) ((float *)l.weight)[i] = (float)(i % 5 - 1);
    convolve(&l);
    const float *out = run(*state, task(*state, ARGS "m=4"), &l);
    l.weight[1][1][0][2] += 1;
    convolve(&l);
    int differ = 0;
    for (int i = 0; i < N * OH * OW * CO; i++)
        differ += fabs((double)out[i] - ((double *)l.out)[i]) > 1e-5 * l.of_terms;
    assert_in_range(differ, N * OH * OW / 2, N * OH * OW);
}

static void random_entities(void **state) {
    static const char *const shapes[] = {
        "CI=3,CO=4,H=7,W=5,m=2",
        "N=2,CI=4,CO=6,H=4,W=8,m=2,padding=0",
        "CI=2,CO=3,H=3,W=11,m=2,padding=[2,0,1,3]",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_random_right(task(*state, shapes[i]), 20);
}

static void arguments(void **state) {
    static const char json[] = "[[\"TENSOR\", [2, 9, 11, 6], \"float32\"], [\"TENSOR\", [3, 3, 6, "
                               "10], \"float32\"], 1, \"SAME\", 1, \"float32\", 4, 1]";
    at_task *t = task(*state, json);
    assert_string_equal(at_task_args_text(t),
                        "N=2,H=9,W=11,CI=6,CO=10,padding=\"SAME\",m=4,points=1");
    /* operations of the definition are counted, so that speeds can be compared */
    assert_float_equal(at_task_flops(t), 2.0 * 9 * 2 * 9 * 11 * 6 * 10, 0);
#define WITH(args) "--args: conv2d_winograd_nhwc with N=1,H=56,W=56,CI=64,CO=64,padding=1," args
    const at_template_row *row = row_named("conv2d_winograd_nhwc");
    expect_refused(*state, row, "m=3", AT_E_USAGE, WITH("m=3,points=0: m is 2, 4 or 6"));
    expect_refused(*state, row, "m=2,points=1", AT_E_USAGE,
                   WITH("m=2,points=1: points is 0, or up to 3 where m is 4"));
    expect_refused(
        *state, row, "strides=2", AT_E_USAGE,
        "--args: unknown argument \"strides\"; conv2d_winograd_nhwc has N, H, W, CI, CO, "
        "padding, m, points");
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
