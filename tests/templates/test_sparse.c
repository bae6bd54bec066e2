/* Block-sparse weights: patterns, and spconv2d_3x3_gemm and sparse_dense, whose outputs are those
 * of the dense computation on the weight with zeros where nothing is stored. */
#include "tests/templates/support.h"

#include <stdlib.h>
#include <string.h>

/* ---- patterns -------------------------------------------------------------------------------- */

static at_pattern pattern(at_arena *a, int64_t rows, int64_t columns, int64_t r, int64_t c,
                          double sparsity, int64_t nnz) {
    at_pattern p;
    at_error err = {0};
    if (at_pattern_random(a, rows, columns, r, c, sparsity, nnz, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    return p;
}

static void is_whole(const at_pattern *p) {
    int64_t longest = 0;
    assert_int_equal(p->indptr[0], 0);
    assert_int_equal(p->indptr[p->rows], p->nnz);
    for (int64_t i = 0; i < p->rows; i++) {
        int32_t begin = p->indptr[i], end = p->indptr[i + 1];
        assert_true(begin <= end);
        if (end - begin > longest) longest = end - begin;
        for (int32_t e = begin; e < end; e++) {
            assert_in_range(p->indices[e], 0, p->columns - 1);
            assert_true(e == begin || p->indices[e - 1] < p->indices[e]);
        }
    }
    assert_int_equal(p->longest, longest);
}

static int descending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Vectors of the rule in Python, which the file holds, too: rounding, and ties that stay. */
static void pruning(void **state) {
    const at_json *g = golden_file(*state, "tests/golden/bsr_prune.json");
    int ties = 0;
    for (const at_json *c = at_json_get(g, "cases")->child; c; c = c->next) {
        double sums[64];
        const at_json *given = at_json_get(c, "sums");
        double sparsity = at_json_get(c, "sparsity")->number;
        int n = 0;
        for (const at_json *x = given->child; x; x = x->next) sums[n++] = x->number;
        qsort(sums, (size_t)n, sizeof *sums, descending);
        int64_t kept = at_pattern_kept(sums, n, sparsity);
        assert_int_equal(kept, at_json_get(c, "kept")->count);
        for (const at_json *i = at_json_get(c, "kept")->child; i; i = i->next)
            assert_true(at_json_at(given, (int)i->integer)->number >= sums[kept - 1]);
        ties += kept > n - (int64_t)(sparsity * n + 0.5);
    }
    assert_true(ties > 10);
    for (const at_json *c = at_json_get(g, "counts")->child; c; c = c->next) {
        at_pattern p = pattern(*state, 1, at_json_get(c, "blocks")->integer, 16, 1,
                               at_json_get(c, "sparsity")->number, 0);
        is_whole(&p);
        assert_int_equal(p.nnz, at_json_get(c, "kept")->integer);
        /* The number alone leads to the same blocks. */
        at_pattern same = pattern(*state, 1, p.columns, 16, 1, -1, p.nnz);
        assert_string_equal(same.hash, p.hash);
    }
    /* 64 channels, blocks of 16x1, nine tenths pruned. */
    assert_int_equal(pattern(*state, 4, 576, 16, 1, 0.9, 0).nnz, 230);
}

static void numbers(void **state) {
    at_pattern none = pattern(*state, 3, 5, 4, 4, -1, 0), all = pattern(*state, 3, 5, 4, 4, -1, 15);
    is_whole(&none), is_whole(&all);
    assert_int_equal(none.nnz, 0);
    assert_int_equal(all.longest, 5);
    assert_string_not_equal(pattern(*state, 3, 5, 4, 2, -1, 15).hash, all.hash);
    at_pattern p;
    at_error err = {0};
    assert_int_equal(at_pattern_random(*state, 1 << 20, 1 << 20, 1, 1, 0.5, 0, &p, &err),
                     AT_E_USAGE);
}

/* ---- templates ------------------------------------------------------------------------------- */

static void golden_spaces(void **state) {
    const at_json *spaces = golden(*state, "tests/golden/space_spconv2d_3x3_gemm.json");
    for (const at_json *s = spaces->child; s; s = s->next) {
        long long v[6] = {0};
        const char *title = at_json_get(s, "title")->string;
        assert_int_equal(sscanf(strchr(title, '='), "=(%lld, %lld, %lld, %lld, %lld, %lld)", &v[0],
                                &v[1], &v[2], &v[3], &v[4], &v[5]),
                         6);
        const char *args = at_format(*state, "N=%lld,H=%lld,W=%lld,CI=%lld,CO=%lld,R=%lld", v[0],
                                     v[1], v[2], v[3], v[4], v[5]);
        at_task *t = task_of(*state, row_named("spconv2d_3x3_gemm"), args);
        expect_space(*state, t, s);
    }
}

static void arguments(void **state) {
    static const struct {
        const char *json, *again;
    } cases[] = {
        {"[10, 32, 32, 64, 64, 7, 16, 1]", "[10, 32, 32, 64, 64, 7, 16, 1]"},
        {"[10, 32, 32, 64, 64, 7, 4, 4, \"float32\"]", "[10, 32, 32, 64, 64, 7, 4, 4]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t = task_of(*state, row_named("spconv2d_3x3_gemm"), cases[i].json);
        at_text text = {0};
        at_bsr b;
        at_json_print(&text, at_task_args(t));
        assert_string_equal(text.data, cases[i].again);
        at_text_free(&text);
        assert_true(at_task_bsr(t, &b));
        assert_int_equal(b.rows, 64 / b.r);
        assert_int_equal(b.columns, 9 * 64 / b.c);
        assert_int_equal(b.nnz, 7);
        assert_true(b.nnz_given && b.r_given && b.c_given);
        assert_true(at_task_flops(t) == 2.0 * 10 * 32 * 32 * 7 * (double)(b.r * b.c));
    }
    static const char *const wrong[][2] = {
        {"CO=24", "CO=24,nnz=1,R=16,C=1: R does not divide CO"},
        {"CO=16,C=5", "CO=16,nnz=1,R=16,C=5: C does not divide 9*CI"},
        {"CO=16,nnz=577", "CO=16,nnz=577,R=16,C=1: nnz exceeds the number of blocks"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(*state, row_named("spconv2d_3x3_gemm"), wrong[i][0], AT_E_USAGE,
                       at_format(*state, "--args: spconv2d_3x3_gemm with N=1,H=56,W=56,CI=64,%s",
                                 wrong[i][1]));
}

static void random_entities(void **state) {
    static const char *const spconv[] = {
        "N=2,H=3,W=4,CI=2,CO=32,nnz=9",     "H=4,W=3,CI=4,CO=6,nnz=30,R=1",
        "H=4,W=4,CI=4,CO=16,nnz=9,R=4,C=4", "H=5,W=3,CI=3,CO=24,nnz=2,R=8",
        "H=3,W=3,CI=1,CO=16,nnz=9",         "H=4,W=4,CI=2,CO=16,nnz=0",
    };
    static const char *const dense[] = {
        "M=6,N=32,K=10,nnz=9",    "M=5,N=6,K=31,nnz=50,R=1", "M=12,N=16,K=20,nnz=9,R=4,C=4",
        "M=9,N=24,K=7,nnz=2,R=8", "M=1,N=16,K=3,nnz=3",      "M=4,N=16,K=2,nnz=0",
    };
    for (int i = 0; i < 6; i++) {
        expect_random_right(task_of(*state, row_named("spconv2d_3x3_gemm"), spconv[i]), 40);
        expect_random_right(task_of(*state, row_named("sparse_dense"), dense[i]), 40);
    }
}

static void default_entities(void **state) {
    static const char *const layers[][2] = {
        {"N=10,H=256,W=256,CI=64,CO=64",
         "[[\"tile_y\", \"sp\", [512, 160, 8]], [\"tile_x\", \"sp\", [1, 4]]]"},
        {"N=10,H=32,W=32,CI=512,CO=512",
         "[[\"tile_y\", \"sp\", [8, 160, 8]], [\"tile_x\", \"sp\", [8, 4]]]"},
    };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        at_config c;
        at_task *t = task_of(*state, row_named("spconv2d_3x3_gemm"), layers[i][0]);
        assert_int_equal(at_task_default_config(*state, t, 16, &c, NULL), AT_OK);
        assert_string_equal(entity_text(*state, &c), layers[i][1]);
    }
    expect_default(*state, task_of(*state, row_named("sparse_dense"), "M=24,N=96,K=8,nnz=12"), 16,
                   "[[\"tile_m\", \"sp\", [3, 1, 8]], [\"tile_n\", \"sp\", [2, 3]], [\"m_outer\", "
                   "\"ot\", true], [\"unroll_m\", \"ot\", true]]");
}

/* By hand: the product with the weight written out, sharing nothing with the notations. */
static void is_the_dense_product(void **state) {
    enum { M = 5, N = 8, K = 6, R = 4, C = 2, NNZ = 4 };
    static int32_t indptr[] = {0, 1, 4}, indices[] = {2, 0, 1, 2};
    float data[M][K], blocks[NNZ][R][C], weight[N][K] = {{0}};
    for (int i = 0; i < M * K; i++) ((float *)data)[i] = (float)(i % 7 - 2);
    for (int i = 0; i < NNZ * R * C; i++) ((float *)blocks)[i] = (float)(i % 5 + 1);
    for (int j = 0; j < N / R; j++)
        for (int e = indptr[j]; e < indptr[j + 1]; e++)
            for (int r = 0; r < R; r++)
                for (int c = 0; c < C; c++) weight[j * R + r][indices[e] * C + c] = blocks[e][r][c];
    at_task *t = task_of(*state, row_named("sparse_dense"), "M=5,N=8,K=6,nnz=4,R=4,C=2");
    const at_compute *compute = at_task_compute(t);
    for (int64_t index = 0; index < at_space_range_length(at_task_space(t)); index++) {
        at_config c = config_at(*state, t, index);
        at_program *p;
        at_error err = {0};
        at_data *x = AT_NEW_ARRAY(*state, at_data, compute->num_tensors);
        if (at_task_program(*state, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
        x[at_compute_find(compute, "data")].f = (float *)data;
        x[at_compute_find(compute, "blocks")].f = (float *)blocks;
        x[at_compute_find(compute, "indices")].i = indices;
        x[at_compute_find(compute, "indptr")].i = indptr;
        if (at_program_interpret(*state, p, x, &err) != AT_OK) fail_msg("%s", err.text);
        const float *out = x[at_compute_find(compute, "out")].f;
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                float sum = 0;
                for (int k = 0; k < K; k++) sum += data[m][k] * weight[n][k];
                assert_true(out[m * N + n] == sum);
            }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(pruning),         TEST(numbers),          TEST(golden_spaces),        TEST(arguments),
        TEST(random_entities), TEST(default_entities), TEST(is_the_dense_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
