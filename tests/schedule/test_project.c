/* Projections: the projected text gives the sums of the projected output; what they begin at; what
 * they find; what has none. */
#include "tests/schedule/examples.h"

#include <string.h>

#define SEED 12345

/* Inputs in text order, then room for the sums. */
static uint64_t *run_projected(fixture *f, const at_projection *p, int64_t *const *extents) {
    at_text source = {0};
    int64_t workspace_bytes;
    void *buf[16] = {0};
    int n = 0;
    assert_ok(f, at_compute_projected_c(f->arena, f->compute, f->values, p, SEED, "reference",
                                        &source, &workspace_bytes, &f->err));
    naive_entry *run = fixture_compile(f, source.data);
    for (int t = 0; t < f->compute->num_tensors; t++)
        if (f->compute->tensors[t].role != AT_ROLE_STAGE)
            buf[n++] = f->data[t].i ? (void *)f->data[t].i : (void *)f->data[t].f;
    size_t bytes = sizeof(uint64_t) * (size_t)at_projection_sums(p, f->compute, extents);
    buf[n] = at_alloc(f->arena, bytes);
    memset(buf[n], 0xff, bytes);
    void *workspace = at_alloc(f->arena, (size_t)workspace_bytes);
    memset(workspace, 0xff, (size_t)workspace_bytes);
    assert_int_equal(run(buf, workspace, NULL), 0);
    at_text_free(&source);
    return buf[n];
}

/* start: the tensor where the cheapest projection begins. */
static void check(fixture *f, const char *what, const char *start) {
    at_projection p;
    int64_t **extents;
    assert_ok(f, at_compute_interpret(f->arena, f->compute, f->values, f->data, &f->err));
    assert_ok(f, at_compute_extents(f->arena, f->compute, f->values, &extents, &f->err));
    assert_true(at_compute_project(f->arena, f->compute, f->values, 3, &p));
    assert_string_equal(f->compute->tensors[p.start].name, start);
    int64_t n = at_projection_sums(&p, f->compute, extents), elements = 1;
    uint64_t *expected = run_projected(f, &p, extents);
    uint64_t *found = at_alloc(f->arena, sizeof *found * (size_t)n);
    float *out = f->data[p.output].f;
    assert_int_equal(at_projection_apply(&p, f->compute, extents, SEED, out, found), -1);
    if (memcmp(found, expected, sizeof *found * (size_t)n)) fail_msg("%s: sums differ", what);
    for (int i = 0; i < f->compute->tensors[p.output].num_axes; i++)
        elements *= extents[p.output][i];
    assert_true(n < elements);
    /* Any wrong element changes one sum. */
    for (int64_t i = 0; i < elements; i++) {
        out[i] += 1;
        at_projection_apply(&p, f->compute, extents, SEED, out, found);
        int64_t differ = 0;
        for (int64_t k = 0; k < n; k++) differ += found[k] != expected[k];
        assert_int_equal(differ, 1);
        out[i] -= 1;
    }
    /* What is no integer of 24 bits is named. */
    static const float bad[] = {0.5f, 1e9f, -1e9f, __builtin_inff(), __builtin_nanf("")};
    for (int i = 0; i < 5; i++) {
        float right = out[elements / 2];
        out[elements / 2] = bad[i];
        assert_int_equal(at_projection_apply(&p, f->compute, extents, SEED, out, found),
                         elements / 2);
        out[elements / 2] = right;
    }
}

static void examples_of_templates(void **state) {
    (void)state;
    static const struct {
        const example *of;
        const char *start;
    } cases[] = {{&conv_gemm, "im2col"}, {&conv_direct, "weight"}, {&sparse, "im2col"}};
    for (int i = 0; i < 3; i++) {
        fixture f;
        fixture_open(&f, cases[i].of);
        fixture_fill(&f, (uint64_t)i);
        check(&f, cases[i].of->name, cases[i].start);
        fixture_close(&f);
    }
}

static void parse(fixture *f, const char *text) {
    fixture_sizes(f, "M=5, N=4, K=7");
    assert_ok(f, at_compute_parse(f->arena, &f->symbols, text, "c", &f->compute, &f->err));
    fixture_fill(f, 3);
}

/* Signs, selections, sums of products, outputs with axes in another order. */
static void linear(void **state) {
    (void)state;
    fixture f;
    parse(&f, "a[M, K] : input\nb[K, N] : input\nc[K, N] : input\n"
              "p[i:M, j:N] = sum(k:K) (k != 2 ? a[i, k] : 0)*b[k, j] - -(c[k, j]*a[i, k])\n"
              "q[j:N, i:M] = 3*p[i, j] - p[i, j]*b[0, j]\n");
    check(&f, "linear", "a");
    fixture_close(&f);
    parse(&f, "a[M, K] : input\nb[K, N] : input\n"
              "m[i:M, k:K] = max(a[i, k], 0)\n"
              "o[i:M, j:N] = sum(k: 0 .. j + 1) m[i, k]*b[k, j]\n");
    check(&f, "triangular", "m");
    fixture_close(&f);
}

/* What is added to something projected is summed up by itself. */
static void affine(void **state) {
    (void)state;
    fixture f;
    parse(&f, "a[M, K] : input\nb[K, N] : input\nc[M, N] : input\n"
              "p[i:M, j:N] = sum(k:K) a[i, k]*b[k, j]\n"
              "q[i:M, j:N] = c[i, j] - (i < 2 ? 3*c[i, j] : b[0, j])*2 - p[i, j]\n");
    check(&f, "a term of its own shape", "a");
    fixture_close(&f);
    parse(&f, "a[M, K] : input\nb[K, N] : input\nc[N] : input\n"
              "p[i:M, j:N] = sum(k:K) a[i, k]*b[k, j] + c[j]\n"
              "q[i:M, j:N] = (j < 2 ? p[i, j] + c[j] : c[0])*(c[j] + 1) - 2\n");
    check(&f, "terms within a sum and a selection", "p"); /* the sum has as many terms to add up */
    fixture_close(&f);
}

/* Axes that are the digits of one later on. */
static void digits(void **state) {
    (void)state;
    fixture f;
    parse(&f, "a[M, K] : input\nb[3, K, N/2, 2] : input\n"
              "o[i:M, j:3*N] = sum(k:K) a[M-1-i, k]*b[j/N, k, j/2%(N/2), j%2]\n");
    check(&f, "three digits", "b");
    fixture_close(&f);
    parse(&f, "a[5*M, K] : input\nb[N, K, 1] : input\n"
              "o[j:N, i:5*M] = sum(k:K) a[i, k]*b[j/1, k, j%1]\n"
              "q[i:5*M, j:N] = o[j, i] + j\n");
    check(&f, "a digit of one value", "a");
    fixture_close(&f);
}

static void check_none(const char *text) {
    fixture f;
    at_projection p;
    parse(&f, text);
    int64_t **extents;
    assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
    /* The output summed up itself is no projection. */
    if (at_compute_project(f.arena, f.compute, f.values, 3, &p)) fail_msg("%s", text);
    fixture_close(&f);
}

static void none(void **state) {
    (void)state;
    check_none("a[M] : input\no[i:M] = max(a[i], 0)\n");
    check_none("a[M] : input\no[i:M] = a[i]*a[i]\n");
    check_none("a[M] : input\no[i:M] = a[M - 1 - i]\n");
    check_none("a[M] : input\no[i:M] = i < 3 ? a[i] : 0\n");
    check_none("a[M, M] : input\no[i:M] = a[i, i]\n");
    check_none("a[M + 1] : input\no[i:M] = a[i]\n"); /* not all of it */
    check_none("a[N, N] : input\no[i:N*N] = a[i%N, i/N]\n");
    check_none("a[N, N] : input\no[i:N*N] = a[i/N, i/N]\n");
    check_none("a[2*N] : input\no[i:4*N] = a[i/2]\n");
    check_none("a[2] : input\no[i:4] = a[i%2]\n");
    check_none("a[M] : input\no[i:M] = a[i]\nx[i:M] = a[i] + a[i]\n"); /* two outputs */
    check_none("a[M, M] : input\no[i:M] = sum(k: 0 .. i + 1) a[i, k]\n");
    check_none("a[M, M] : input\no[i:M, j:M] = a[i, j] + a[j, i]\n");
}

/* The same numbers as in the emitted C, and published ones: splitmix64 seeded with 0 begins so. */
static void weights(void **state) {
    (void)state;
    assert_true(at_projection_weight(0, 0) == 0xe220a8397b1dcdafu);
    assert_true(at_projection_weight(0, 1) == 0x6e789e6aa1b965f4u);
    assert_true(at_projection_weight(0, 2) == 0x06c45d188009454fu);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_templates),
                                       cmocka_unit_test(linear),
                                       cmocka_unit_test(affine),
                                       cmocka_unit_test(digits),
                                       cmocka_unit_test(none),
                                       cmocka_unit_test(weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
