/* conv2d_nhwc: its knobs, its defaults, and what it computes is a convolution. */
#include "tests/templates/support.h"

#include <string.h>

static at_task *task(at_arena *a, const char *args) {
    return task_of(a, row_named("conv2d_nhwc"), args);
}

static void knobs(void **state) {
    static const struct {
        const char *args, *names;
    } cases[] = {
        {"", "tile_ow tile_co tile_ci order unroll_kw "},
        {"KW=1", "tile_ow tile_co tile_ci order "},
        {"KH=1", "tile_ow tile_co tile_ci order unroll_kw "},
        {"KH=1,KW=1", "tile_ow tile_co tile_ci "},
        {"CI=256,CO=256", "tile_ow tile_co tile_ci order unroll_kw prefetch "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_space *space = at_task_space(task(*state, cases[i].args));
        const char *names = "";
        for (int k = 0; k < at_space_num_knobs(space); k++)
            names = at_format(*state, "%s%s ", names, at_space_knob_name(space, k));
        assert_string_equal(names, cases[i].names);
        assert_string_equal(at_space_knob_policy(space, 0), "verbose");
    }
}

/* Of large weights: as many bytes ahead as the entity says. */
static void prefetch(void **state) {
    static const char entity[] = "[\"tile_ow\",\"sp\",[-1,7]],[\"tile_co\",\"sp\",[-1,32]],"
                                 "[\"tile_ci\",\"sp\",[-1,16]],[\"order\",\"ot\",0],"
                                 "[\"unroll_kw\",\"ot\",true],[\"prefetch\",\"ot\",%d]";
    static const struct {
        int bytes;
        const char *leaf;
    } cases[] = {{0, "@acc ="}, {2048, "@acc[prefetch packw 2048] ="}};
    at_task *t = task(*state, "H=7,W=7,CI=512,CO=512");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_config c = config_of(*state, t, at_format(*state, entity, cases[i].bytes));
        at_program *p;
        at_text text = {0};
        at_error err;
        assert_int_equal(at_task_program(*state, t, &c, &p, &err), AT_OK);
        at_program_print(&text, p, false);
        assert_non_null(strstr(at_text_str(&text), cases[i].leaf));
        at_text_free(&text);
    }
}

static void arguments(void **state) {
    static const char json[] = "[[\"TENSOR\", [2, 9, 11, 6], \"float32\"], [\"TENSOR\", [3, 5, 6, "
                               "10], \"float32\"], [1, 2], [1, 2, 1, 2], [1, 1], \"float32\"]";
    static const char names[] = "N=2,H=9,W=11,CI=6,CO=10,KH=3,KW=5,strides=[1, 2],"
                                "padding=[1, 2],dilation=1";
    at_task *t = task(*state, json);
    assert_string_equal(at_task_args_text(t), names);
    at_text text = {0};
    at_json_print(&text, at_task_args(task(*state, names)));
    assert_string_equal(text.data, json);
    at_text_free(&text);
    expect_refused(*state, row_named("conv2d_nhwc"), "H=2,W=2,KH=5,padding=1", AT_E_USAGE,
                   "--args: conv2d_nhwc with N=1,H=2,W=2,CI=64,CO=64,KH=5,KW=3,strides=1,padding=1,"
                   "dilation=1: the kernel exceeds the padded image");
}

static void random_entities(void **state) {
    static const char *const shapes[] = {
        "CI=3,CO=4,H=7,W=5",
        "CI=4,CO=2,H=6,W=8,KH=1,KW=1,padding=0",
        "CI=2,CO=4,H=5,W=7,KH=1,KW=1,padding=0,strides=2",
        "N=2,CI=2,CO=3,H=7,W=7,strides=2",
        "CI=2,CO=2,H=9,W=8,dilation=2,padding=2",
        "CI=2,CO=3,H=9,W=11,KH=7,KW=7,strides=2,padding=3",
        "CI=2,CO=3,H=5,W=6,KH=2,KW=4,padding=SAME,strides=[1, 2]",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_random_right(task(*state, shapes[i]), 40);
}

/* By hand, sharing nothing with the notations. */
static void is_a_convolution(void **state) {
    enum { N = 2, H = 6, W = 7, CI = 4, CO = 6, KH = 3, KW = 2, SH = 2, SW = 1, DH = 1, DW = 2 };
    enum { TOP = 1, LEFT = 2, BOTTOM = 0, RIGHT = 1, OH = 3, OW = 8 };
    float data[N][H][W][CI], weight[KH][KW][CI][CO];
    for (int i = 0; i < N * H * W * CI; i++) ((float *)data)[i] = (float)(i % 7 - 2);
    for (int i = 0; i < KH * KW * CI * CO; i++) ((float *)weight)[i] = (float)(i % 5 - 1);
    at_task *t = task(*state, "N=2,CI=4,H=6,W=7,CO=6,KH=3,KW=2,strides=[2,1],padding=[1,2,0,1],"
                              "dilation=[1,2]");
    at_config c = config_at(*state, t, at_space_range_length(at_task_space(t)) / 2);
    const at_compute *compute = at_task_compute(t);
    at_program *p;
    at_error err = {0};
    if (at_task_program(*state, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
    at_data *x = AT_NEW_ARRAY(*state, at_data, compute->num_tensors);
    x[at_compute_find(compute, "data")].f = (float *)data;
    x[at_compute_find(compute, "weight")].f = (float *)weight;
    assert_int_equal(at_program_interpret(*state, p, x, &err), AT_OK);
    const float *out = x[at_compute_find(compute, "out")].f;

    for (int n = 0; n < N; n++)
        for (int h = 0; h < OH; h++)
            for (int w = 0; w < OW; w++)
                for (int co = 0; co < CO; co++) {
                    float sum = 0;
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            int y = h * SH + kh * DH - TOP, z = w * SW + kw * DW - LEFT;
                            if (y < 0 || y >= H || z < 0 || z >= W) continue;
                            for (int ci = 0; ci < CI; ci++)
                                sum += data[n][y][z][ci] * weight[kh][kw][ci][co];
                        }
                    assert_true(out[((n * OH + h) * OW + w) * CO + co] == sum);
                }
}

static void default_entities(void **state) {
    expect_default(*state, task(*state, "H=4,W=28,CI=24,CO=96"), 16,
                   "[[\"tile_ow\", \"sp\", [2, 14]], [\"tile_co\", \"sp\", [3, 32]], [\"tile_ci\", "
                   "\"sp\", [2, 12]], [\"order\", \"ot\", 0], [\"unroll_kw\", \"ot\", false]]");
    expect_default(*state, task(*state, "H=4,W=28,CI=3,CO=10,KH=1,KW=1"), 8,
                   "[[\"tile_ow\", \"sp\", [5, 6]], [\"tile_co\", \"sp\", [1, 10]], [\"tile_ci\", "
                   "\"sp\", [1, 3]]]");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(knobs),           TEST(prefetch),         TEST(arguments),
        TEST(random_entities), TEST(is_a_convolution), TEST(default_entities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
