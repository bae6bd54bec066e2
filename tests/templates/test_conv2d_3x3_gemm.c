/* conv2d_3x3_gemm: its space is AutoTVM's, and every program of it computes a convolution. */
#include "tests/templates/support.h"
#include "tests/spaces.h"

/* ---- the space ------------------------------------------------------------------------------- */

static void golden_spaces(void **state) {
    const at_json *spaces = golden(*state, "tests/golden/space_conv2d_3x3_gemm.json");
    for (const at_json *s = spaces->child; s; s = s->next) {
        at_text args = {0}, text = {0};
        at_json_print(&args, at_json_get(s, "args"));
        at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), args.data);
        expect_space(*state, t, s);
        at_json_print(&text, at_task_args(t));
        assert_string_equal(text.data, args.data);
        at_text_free(&text);
        at_text_free(&args);
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

static void random_entities(void **state) {
    static const char *const shapes[] = {
        "N=1,H=7,W=5,CI=3,CO=6", "N=2,H=4,W=6,CI=4,CO=8",  "N=1,H=1,W=1,CI=5,CO=7",
        "N=3,H=1,W=8,CI=2,CO=4", "N=1,H=6,W=6,CI=6,CO=12",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_random_right(task_of(*state, row_named("conv2d_3x3_gemm"), shapes[i]), 120);
}

/* By hand, sharing nothing with the notations. */
static void is_a_convolution(void **state) {
    enum { N = 2, H = 3, W = 4, CI = 2, CO = 3 };
    float data[N][H][W][CI], weight[CO][3][3][CI], *out;
    for (int i = 0; i < N * H * W * CI; i++) ((float *)data)[i] = (float)(i % 7 - 2);
    for (int i = 0; i < CO * 9 * CI; i++) ((float *)weight)[i] = (float)(i % 5 - 1);

    at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), "N=2,H=3,W=4,CI=2,CO=3");
    at_config c = config_at(*state, t, 0);
    const at_compute *compute = at_task_compute(t);
    at_program *p;
    at_error err = {0};
    assert_int_equal(at_task_program(*state, t, &c, &p, &err), AT_OK);
    at_data *x = AT_NEW_ARRAY(*state, at_data, compute->num_tensors);
    x[at_compute_find(compute, "data")].f = (float *)data;
    x[at_compute_find(compute, "weight")].f = (float *)weight;
    assert_int_equal(at_program_interpret(*state, p, x, &err), AT_OK);
    out = x[at_compute_find(compute, "out")].f;

    for (int n = 0; n < N; n++)
        for (int h = 0; h < H; h++)
            for (int w = 0; w < W; w++)
                for (int co = 0; co < CO; co++) {
                    float sum = 0;
                    for (int kh = 0; kh < 3; kh++)
                        for (int kw = 0; kw < 3; kw++) {
                            int ih = h + kh - 1, iw = w + kw - 1;
                            if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
                            for (int ci = 0; ci < CI; ci++)
                                sum += data[n][ih][iw][ci] * weight[co][kh][kw][ci];
                        }
                    assert_true(out[((n * H + h) * W + w) * CO + co] == sum);
                }
}

/* ---- the default configuration --------------------------------------------------------------- */

static void default_entities(void **state) {
    static const struct {
        const char *args, *entity;
    } cases[] = {
        {"", "[[\"tile_y\", \"sp\", [14, 16, 14]], [\"tile_x\", \"sp\", [1, 2, 32]], "
             "[\"tile_k\", \"sp\", [72, 8]]]"},
        {"H=7,W=7,CI=512,CO=512",
         "[[\"tile_y\", \"sp\", [1, 7, 7]], [\"tile_x\", \"sp\", [2, 8, 32]], "
         "[\"tile_k\", \"sp\", [576, 8]]]"},
        {"H=1,W=1,CI=1,CO=1", "[[\"tile_y\", \"sp\", [1, 1, 1]], [\"tile_x\", \"sp\", [1, 1, 1]], "
                              "[\"tile_k\", \"sp\", [3, 3]]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), cases[i].args);
        at_config c;
        assert_int_equal(at_task_default_config(*state, t, 16, &c, NULL), AT_OK);
        assert_string_equal(entity_text(*state, &c), cases[i].entity);
        at_config same = config_at(*state, t, c.index);
        assert_true(same_entity(&c, &same));
    }
}

/* Primes and highly composite numbers among them; programs only, so that they may be large. */
static void default_is_valid(void **state) {
    static const int sides[] = {1, 2, 7, 13, 56, 97, 224}, channels[] = {1, 3, 31, 64, 120, 512};
    enum { SIDES = sizeof sides / sizeof *sides, CHANNELS = sizeof channels / sizeof *channels };
    for (int i = 0; i < SIDES * SIDES * CHANNELS * CHANNELS; i++) {
        const char *args =
            at_format(*state, "N=%d,H=%d,W=%d,CI=%d,CO=%d", 1 + i % 3, sides[i % SIDES],
                      sides[i / SIDES % SIDES], channels[i / SIDES / SIDES % CHANNELS],
                      channels[i / SIDES / SIDES / CHANNELS]);
        at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), args);
        at_config c;
        at_program *p;
        at_error err = {0};
        if (at_task_default_config(*state, t, 16, &c, &err) ||
            at_task_program(*state, t, &c, &p, &err))
            fail_msg("%s: %s", args, err.text);
        long long pixels = (1 + i % 3) * sides[i % SIDES] * sides[i / SIDES % SIDES], in_reach = 0;
        for (int rows = 7; rows <= 14; rows++) in_reach += pixels % rows == 0;
        assert_true(c.entities[0].sizes[2] <= 14 || !in_reach);
        assert_true(c.entities[1].sizes[2] <= 32);
        assert_true(c.entities[2].sizes[1] <= 8);
        at_arena_reset(*state);
    }
    at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), "N=1,H=7,W=5,CI=3,CO=6");
    at_config c;
    assert_int_equal(at_task_default_config(*state, t, 16, &c, NULL), AT_OK);
    expect_right(*state, t, &c);
}

/* A record's entity whose first sizes are numbers, right or wrong: they are not used. */
static void first_size_is_ignored(void **state) {
    at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), "N=1,H=7,W=5,CI=3,CO=6");
    at_config c = config_of(*state, t,
                            "[\"tile_y\", \"sp\", [7, 1, 5]], [\"tile_x\", \"sp\", [100, 3, 2]], "
                            "[\"tile_k\", \"sp\", [-1, 9]]");
    expect_right(*state, t, &c);
}

static void flops(void **state) {
    at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), "");
    assert_true(at_task_flops(t) == 2.0 * 56 * 56 * 64 * 9 * 64);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(golden_spaces),         TEST(random_entities),  TEST(is_a_convolution),
        TEST(default_entities),      TEST(default_is_valid), TEST(flops),
        TEST(first_size_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
