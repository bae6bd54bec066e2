/* dense and matmul_add: space and defaults are AutoTVM's, every form of arguments, and products
 * by hand. */
#include "tests/templates/support.h"

#include <string.h>

static const char *json_of(at_arena *a, const at_task *t) {
    at_text text = {0};
    at_json_print(&text, at_task_args(t));
    const char *copy = at_strdup(a, text.data);
    at_text_free(&text);
    return copy;
}

static void golden_spaces(void **state) {
    const at_json *spaces = golden(*state, "tests/golden/space_dense_x86.json");
    int checked = 0;
    for (const at_json *s = spaces->child; s; s = s->next) {
        if (strcmp(at_json_get(s, "task")->string, "dense_pack.x86") != 0) continue;
        const char *args = at_format(
            *state, "M=%lld,N=%lld,K=%lld", (long long)at_json_get(s, "M")->integer,
            (long long)at_json_get(s, "N")->integer, (long long)at_json_get(s, "K")->integer);
        expect_space(*state, task_of(*state, row_named("dense_pack.x86"), args), s);
        checked++;
    }
    assert_int_equal(checked, 4);
}

#define DATA "[[\"TENSOR\", [4, 6], \"float32\"], "
#define WEIGHT "[\"TENSOR\", [8, 6], \"float32\"], "
#define PACKED "[\"TENSOR\", [2, 6, 4], \"float32\"], "
#define BIAS "[\"TENSOR\", [8], \"float32\"], "

static void forms(void **state) {
    static const struct {
        const char *json, *names;
    } cases[] = {
        {DATA WEIGHT "null, \"float32\"]", "M=4,N=8,K=6,bias=0,wb=0"},
        {DATA WEIGHT BIAS "\"float32\"]", "M=4,N=8,K=6,bias=1,wb=0"},
        {DATA PACKED "null, \"float32\"]", "M=4,N=8,K=6,bias=0,wb=4"},
        {DATA PACKED BIAS "\"float32\"]", "M=4,N=8,K=6,bias=1,wb=4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t = task_of(*state, row_named("dense"), cases[i].json);
        assert_string_equal(at_task_args_text(t), cases[i].names);
        t = task_of(*state, row_named("dense"), cases[i].names);
        assert_string_equal(json_of(*state, t), cases[i].json);
        expect_random_right(t, 60);
    }
    expect_refused(*state, row_named("dense"), "N=8,wb=3", AT_E_USAGE,
                   "--args: dense with M=1024,N=8,K=1024,bias=0,wb=3: wb does not divide N");
    at_task *t = task_of(*state, row_named("matmul_add"), "[4, 5, 6, \"float32\"]");
    assert_string_equal(at_task_args_text(t), "N=4,L=5,M=6");
}

static void random_entities(void **state) {
    static const char *const dense[] = {"M=7,N=9,K=5",  "M=1,N=30,K=8",      "M=12,N=16,K=6,bias=1",
                                        "M=16,N=4,K=1", "M=9,N=12,K=7,wb=6", "M=18,N=1,K=4"};
    static const char *const matmul_add[] = {"N=7,M=9,L=5",  "N=1,M=30,L=8", "N=12,M=16,L=6",
                                             "N=16,M=4,L=1", "N=9,M=12,L=7", "N=18,M=1,L=4"};
    for (int i = 0; i < 6; i++) {
        expect_random_right(task_of(*state, row_named("dense"), dense[i]), 60);
        expect_random_right(task_of(*state, row_named("matmul_add"), matmul_add[i]), 60);
    }
}

static const float *run(at_arena *a, const at_task *t, const char *const *names,
                        float *const *inputs, int n) {
    const at_compute *compute = at_task_compute(t);
    at_config c = config_at(a, t, at_space_range_length(at_task_space(t)) / 2);
    at_program *p;
    at_error err = {0};
    at_data *x = AT_NEW_ARRAY(a, at_data, compute->num_tensors);
    if (at_task_program(a, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < n; i++) x[at_compute_find(compute, names[i])].f = inputs[i];
    assert_int_equal(at_program_interpret(a, p, x, &err), AT_OK);
    return x[at_compute_find(compute, "out")].f;
}

/* By hand, sharing nothing with the notations. */
static void are_products(void **state) {
    enum { N = 6, L = 4, M = 8 };
    static const char *const names[] = {"data", "weight", "addend"};
    static const char *const with_bias[] = {"data", "weight", "bias_row"};
    float a[N][L], b[L][M], c[N][M], transposed[M][L];
    for (int i = 0; i < N * L; i++) ((float *)a)[i] = (float)(i % 7 - 2);
    for (int i = 0; i < L * M; i++) ((float *)b)[i] = (float)(i % 5 - 1);
    for (int i = 0; i < N * M; i++) ((float *)c)[i] = (float)(i % 9);
    for (int k = 0; k < L; k++)
        for (int j = 0; j < M; j++) transposed[j][k] = b[k][j];
    float *const inputs[] = {a[0], b[0], c[0]}, *const for_dense[] = {a[0], transposed[0], c[0]};
    const float *sum =
        run(*state, task_of(*state, row_named("matmul_add"), "N=6,L=4,M=8"), names, inputs, 3);
    const float *product = run(*state, task_of(*state, row_named("dense"), "M=6,N=8,K=4,bias=1"),
                               with_bias, for_dense, 3);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            float want = 0;
            for (int k = 0; k < L; k++) want += a[i][k] * b[k][j];
            assert_true(sum[i * M + j] == want + c[i][j]);
            assert_true(product[i * M + j] == want + c[0][j]);
        }
}

static void default_entities(void **state) {
    static const struct {
        const char *args;
        int lanes;
        const char *entity;
    } cases[] = {
        {"M=24,N=96,K=5", 16,
         "[[\"tile_y\", \"sp\", [3, 1, 8]], [\"tile_x\", \"sp\", [3, 1, 32]], [\"tile_k\", \"sp\", "
         "[5, 1]], [\"tile_inner\", \"sp\", [3, 8]]]"},
        {"M=20,N=96,K=3", 4,
         "[[\"tile_y\", \"sp\", [5, 1, 4]], [\"tile_x\", \"sp\", [3, 4, 8]], [\"tile_k\", \"sp\", "
         "[3, 1]], [\"tile_inner\", \"sp\", [5, 4]]]"},
        {"M=7,N=11,K=2", 8,
         "[[\"tile_y\", \"sp\", [7, 1, 1]], [\"tile_x\", \"sp\", [1, 1, 11]], [\"tile_k\", \"sp\", "
         "[2, 1]], [\"tile_inner\", \"sp\", [7, 1]]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_default(*state, task_of(*state, row_named("dense"), cases[i].args), cases[i].lanes,
                       cases[i].entity);
}

static void flops(void **state) {
    assert_true(at_task_flops(task_of(*state, row_named("dense"), "bias=1")) == 0x1p31);
    assert_true(at_task_flops(task_of(*state, row_named("matmul_add"), "")) == 0x1p31);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(golden_spaces),    TEST(forms), TEST(random_entities), TEST(are_products),
        TEST(default_entities), TEST(flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
