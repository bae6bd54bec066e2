/* Loop features: the golden nests, and the nests that programs become. */
#include <math.h>
#include <string.h>

#include "tests/schedule/examples.h"
#include "schedule/nest.h"
#include "tests/whole_file.h"

/* ---- golden nests --------------------------------------------------------------------------- */

enum { MOST = 1024 };

typedef struct reader {
    nest n;
    nest_loop loops[32];
    nest_access accesses[32];
    nest_touch touch[32][32];
    const char *names[32]; /* of the loops around */
    int open[32], depth;
} reader;

static at_ann ann_of(const char *kind) {
    return !strcmp(kind, "parallel")     ? AT_ANN_PARA
           : !strcmp(kind, "vectorized") ? AT_ANN_VEC
           : !strcmp(kind, "unrolled")   ? AT_ANN_UNROLL
                                         : AT_ANN_NONE;
}

static void read_access(reader *r, const char *buffer, const at_json *index) {
    nest_access *x = &r->accesses[r->n.num_accesses];
    *x = (nest_access){.buffer = buffer, .loop = r->open[r->depth - 1], .depth = r->depth};
    x->touch = r->touch[r->n.num_accesses];
    for (int i = 0; i < r->n.num_accesses; i++) x->number += !strcmp(r->accesses[i].buffer, buffer);
    for (int d = 0; d < r->depth; d++)
        for (const at_json *i = index->child; i; i = i->next)
            if (!strcmp(at_json_at(i, 0)->string, r->names[d]))
                x->touch[d].stride = at_json_at(i, 1)->number;
    r->n.num_accesses++;
}

static int count_of(const at_json *object, const char *key) {
    const at_json *v = at_json_get(object, key);
    return v ? (int)v->integer : 0;
}

static void read_nodes(reader *r, const at_json *list) {
    for (const at_json *node = list->child; node; node = node->next) {
        if (at_json_get(node, "for")) {
            int number = r->n.num_loops++;
            r->loops[number] = (nest_loop){.parent = r->depth ? r->open[r->depth - 1] : -1,
                                           .extent = at_json_get(node, "extent")->number,
                                           .ann = ann_of(at_json_get(node, "kind")->string)};
            r->names[r->depth] = at_json_get(node, "for")->string;
            r->open[r->depth++] = number;
            read_nodes(r, at_json_get(node, "body"));
            r->depth--;
            continue;
        }
        nest_loop *l = &r->loops[r->open[r->depth - 1]];
        l->adds += count_of(node, "add");
        l->muls += count_of(node, "mul");
        l->divs += count_of(node, "div");
        read_access(r, at_json_get(node, "store")->string, at_json_get(node, "index"));
        for (const at_json *x = at_json_get(node, "loads")->child; x; x = x->next)
            read_access(r, at_json_get(x, "load")->string, at_json_get(x, "index"));
    }
}

static const at_json *golden(at_arena *a) {
    const at_json *v = NULL;
    char *text;
    size_t len;
    at_error err;
    if (read_whole(a, "tests/golden/loop_features.json", &text, &len, &err) != AT_OK ||
        at_json_parse(a, text, len, &v, &err) != AT_OK)
        fail_msg("%s", err.text);
    return at_json_get(v, "cases");
}

static void expect_vector(const char *what, const float *got, int n, const at_json *expected) {
    int i = 0;
    if (n != expected->count) fail_msg("%s: %d numbers, not %d", what, n, expected->count);
    for (const at_json *x = expected->child; x; x = x->next, i++)
        if (fabs((double)got[i] - x->number) > 2e-5 * (1 + fabs(x->number)))
            fail_msg("%s: number %d is %g, not %g", what, i, (double)got[i], x->number);
}

static void golden_nests(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static float got[MOST];
    for (const at_json *c = golden(a)->child; c; c = c->next) {
        static reader r;
        memset(&r, 0, sizeof r);
        r.n.loops = r.loops;
        r.n.accesses = r.accesses;
        read_nodes(&r, at_json_get(c, "nest"));
        nest_finish(&r.n);
        const char *name = at_json_get(c, "name")->string;
        expect_vector(name, got, nest_itervar(&r.n, got, MOST), at_json_get(c, "flat_log"));
        expect_vector(name, got, nest_curve(&r.n, got, MOST), at_json_get(c, "curve_20"));
        /* Room that is too small is not exceeded, and the length is told all the same. */
        int n = nest_itervar(&r.n, got, MOST);
        got[5] = -77;
        assert_int_equal(nest_itervar(&r.n, got, 5), n);
        assert_true(got[5] == -77);
        assert_int_equal(nest_curve(&r.n, got, 5), at_json_get(c, "curve_20")->count);
        assert_true(got[5] == -77);
    }
    at_arena_free(a);
}

/* ---- programs ------------------------------------------------------------------------------- */

/* The golden nest "gemm 128x128x128" as a tree: the initialisation is no part of it. */
static const example gemm = {.name = "gemm",
                             .sizes = "M=128, N=128, K=128",
                             .compute = "A[M, K] : input\n"
                                        "B[K, N] : input\n"
                                        "C[y:M, x:N] = sum(k:K) A[y, k] * B[k, x]\n",
                             .tree = "y, x, k =>\n"
                                     "    @C = y, x // k\n"};

static void gemm_program(void **state) {
    (void)state;
    fixture f;
    static float got[MOST];
    fixture_open(&f, &gemm);
    assert_ok(&f, fixture_build(&f));
    const at_json *c = golden(f.arena)->child;
    assert_string_equal(at_json_get(c, "name")->string, "gemm 128x128x128");
    expect_vector("gemm as a tree", got,
                  at_program_features(f.arena, f.program, AT_FEATURE_ITERVAR, got, MOST),
                  at_json_get(c, "flat_log"));
    expect_vector("gemm as a tree", got,
                  at_program_features(f.arena, f.program, AT_FEATURE_CURVE, got, MOST),
                  at_json_get(c, "curve_20"));
    fixture_close(&f);
}

static const nest_access *access_of(const nest *n, const char *buffer, int number) {
    for (int i = 0; i < n->num_accesses; i++)
        if (!strcmp(n->accesses[i].buffer, buffer) && n->accesses[i].number == number)
            return &n->accesses[i];
    fail_msg("no access %s_%d", buffer, number);
    return NULL;
}

static void expect_strides(const nest *n, const char *buffer, int number, const double *strides) {
    const nest_access *x = access_of(n, buffer, number);
    for (int d = 0; d < x->depth; d++)
        if (x->touch[d].stride != strides[d])
            fail_msg("%s_%d: stride %d is %g, not %g", buffer, number, d, x->touch[d].stride,
                     strides[d]);
}

/* Parts of axes, a loop that runs once, fused loops, and a buffer that lives inside a loop: only
 * what is below that loop moves within it. */
static const example tiled = {.name = "tiled",
                              .sizes = "M=64, N=96, K=32, yo=16, yi=4, xo=6, xi=16, one=1",
                              .compute = "A[M, K] : input\n"
                                         "B[K, N] : input\n"
                                         "C[y:M, x:N] = sum(k:K) A[y, k] * B[k, x]\n"
                                         "D[y:M, x:N] = C[y, x] * 2.0 + B[0, x] / 3.0\n",
                              .tree = "{yo, xo}:para, one =>\n"
                                      "    k, yi:unroll, xi:vec =>\n"
                                      "        @C = {yo, one, yi}/y, {xo, xi}/x // k\n"
                                      "    yi, xi =>\n"
                                      "        @D = {yo, one, yi}/y, {xo, xi}/x\n"};

static void tiled_program(void **state) {
    (void)state;
    fixture f;
    nest n;
    fixture_open(&f, &tiled);
    assert_ok(&f, fixture_build(&f));
    nest_of_program(f.arena, f.program, &n);
    assert_int_equal(n.num_loops, 7);
    assert_int_equal(n.num_accesses, 4 + 3);
    /* {yo, xo}, one, k, yi, xi; the fused loop's first step is one of xo. */
    expect_strides(&n, "C", 0, (double[]){0, 0, 0, 16, 1});
    expect_strides(&n, "C", 1, (double[]){0, 0, 0, 16, 1});
    expect_strides(&n, "A", 0, (double[]){0, 0, 1, 32, 0});
    expect_strides(&n, "B", 0, (double[]){16, 0, 96, 0, 1});
    expect_strides(&n, "D", 0, (double[]){16, 0, 96, 1});
    expect_strides(&n, "C", 2, (double[]){0, 0, 16, 1});
    expect_strides(&n, "B", 1, (double[]){16, 0, 0, 1});
    nest_finish(&n);
    assert_true(n.loops[0].extent == 96 && n.loops[0].ann == AT_ANN_PARA);
    assert_true(n.loops[4].adds == 1 && n.loops[4].muls == 1 && n.loops[4].divs == 0);
    assert_true(n.loops[6].adds == 1 && n.loops[6].muls == 1 && n.loops[6].divs == 1);
    assert_true(n.loops[0].bottom_up == 64.0 * 96 * 32);
    fixture_close(&f);
}

/* Of every example there are features, and the same ones again. */
static void all_examples(void **state) {
    (void)state;
    static float first[8192], second[8192];
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        if (fixture_build(&f) == AT_OK) {
            for (at_feature_kind kind = AT_FEATURE_ITERVAR; kind <= AT_FEATURE_CURVE; kind++) {
                int n = at_program_features(f.arena, f.program, kind, first, 8192);
                assert_in_range(n, 1, 8192);
                for (int k = 0; k < n; k++) assert_true(isfinite(first[k]));
                assert_int_equal(at_program_features(f.arena, f.program, kind, second, 8192), n);
                assert_memory_equal(first, second, (size_t)n * sizeof *first);
            }
        }
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_nests),
        cmocka_unit_test(gemm_program),
        cmocka_unit_test(tiled_program),
        cmocka_unit_test(all_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
