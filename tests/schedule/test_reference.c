/* The naive C gives what the interpreter gives. */
#include "tests/schedule/examples.h"

#include <math.h>
#include <string.h>

/* The C for all shapes, called with the shape at hand. */
static void general_source(fixture *f, at_text *out, int64_t *workspace_bytes) {
    const int n = f->symbols.names.len;
    int64_t *least = AT_NEW_ARRAY(f->arena, int64_t, n + 1);
    const at_general g = {.compute = f->compute, .num_args = n, .least = least};
    for (int i = 0; i < n; i++) least[i] = INT32_MIN;
    at_general_c(f->arena, &g, "general", out);
    at_text_add(out, "int reference(void *const buf[], void *workspace, void *par) {\n"
                     "    static const long args[] = {");
    for (int i = 0; i < n; i++) at_text_addf(out, "%lldL, ", (long long)f->values[i]);
    at_text_add(out, "0};\n    long elements[16], bytes;\n    (void)par;\n"
                     "    if (!general_sizes(args, elements, &bytes)) return 1;\n"
                     "    general(args, buf, workspace);\n    return 0;\n}\n");
    *workspace_bytes = 1 << 20;
}

/* With products of matrices, and what these are in the way that says it. */
static void product_source(fixture *f, at_text *out, int64_t *workspace_bytes) {
    double points;
    assert_ok(f, at_compute_products_c(f->arena, f->compute, f->values, "reference", out,
                                       workspace_bytes, &points, &f->err));
    at_text_add(out,
                "void at_products(const float *a, const float *b, float *out, long rows, long "
                "terms, long columns) {\n"
                "    for (long r = 0; r < rows; r++)\n"
                "        for (long c = 0; c < columns; c++) {\n"
                "            out[r * columns + c] = 0;\n"
                "            for (long k = terms - 1; k >= 0; k--)\n"
                "                out[r * columns + c] += a[r * terms + k] * b[c * terms + k];\n"
                "        }\n}\n");
}

typedef enum form { FOR_SHAPE, FOR_ALL_SHAPES, BY_PRODUCTS } form;

/* Compiles without a warning and runs. */
static void check_c(fixture *f, const char *what, form how) {
    at_text source = {0};
    int64_t workspace_bytes, **extents;
    assert_ok(f, at_compute_interpret(f->arena, f->compute, f->values, f->data, &f->err));
    assert_ok(f, at_compute_extents(f->arena, f->compute, f->values, &extents, &f->err));
    if (how == FOR_ALL_SHAPES) general_source(f, &source, &workspace_bytes);
    else if (how == BY_PRODUCTS) product_source(f, &source, &workspace_bytes);
    else
        assert_ok(f, at_compute_reference_c(f->arena, f->compute, f->values, "reference", &source,
                                            &workspace_bytes, &f->err));
    naive_entry *run = fixture_compile(f, source.data);
    void *buf[16] = {0};
    const float *expected[16];
    int64_t size[16];
    int inputs = 0, total;
    for (int t = 0; t < f->compute->num_tensors; t++)
        if (f->compute->tensors[t].role != AT_ROLE_STAGE)
            buf[inputs++] = f->data[t].i ? (void *)f->data[t].i : (void *)f->data[t].f;
    total = inputs;
    for (int t = 0; t < f->compute->num_tensors; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (!x->is_output) continue;
        size[total] = (int64_t)sizeof(float) * at_tensor_elements(x, extents[t]);
        expected[total] = f->data[t].f;
        buf[total] = at_alloc(f->arena, (size_t)size[total]);
        total++;
    }
    void *workspace = at_alloc(f->arena, (size_t)workspace_bytes);
    memset(workspace, 0xff, (size_t)workspace_bytes); /* NaN */
    assert_int_equal(run(buf, workspace, NULL), 0);
    for (int i = inputs; i < total; i++)
        if (memcmp(buf[i], expected[i], (size_t)size[i]))
            fail_msg("%s differs:\n%s", what, source.data);
    at_text_free(&source);
}

static void check_reference(fixture *f, const char *what) {
    check_c(f, what, FOR_SHAPE);
    check_c(f, what, FOR_ALL_SHAPES);
}

static void test_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, (uint64_t)i);
        check_reference(&f, examples[i]->name);
        fixture_close(&f);
    }
}

static void check_text(const char *text, const char *what) {
    fixture f;
    fixture_text(&f, "N=6, E=6, K=6, C=1", text);
    fixture_fill(&f, 4);
    check_reference(&f, what);
    fixture_close(&f);
}

/* Floored division, every operator, two outputs, an input nobody reads, a triangular reduction. */
static void test_operators(void **state) {
    (void)state;
    check_text("x[N] : input\n"
               "unread[3] : input\n"
               "indices[N] : index\n"
               "o[i:N, j:N] = (i - j)/3 + (j - i)%4 + x[max(i - j, 0)]*0.5\n"
               "for[i:N, long:N] = !(x[i] > x[long]) || i == 2 && long != 1 ? "
               "min(x[i], 1.5) : -x[indices[i]] + max(i, 2)\n"
               "t[i:N] = sum(k:N, h: 0 .. k + 1) x[h] - 2 + for[i, h]\n",
               "operators");
}

/* What is not a number is ignored by maxima and minima, of elements and of terms. */
static void test_nan(void **state) {
    (void)state;
    static const float numbers[] = {NAN, 1, NAN, -2, 3, NAN}, others[] = {NAN, NAN, 5, -7, NAN, 2};
    static const float max_x_y[] = {-INFINITY, 1, 5, -2, 3, 2};
    fixture f;
    fixture_text(&f, "N=6",
                 "x[N] : input\n"
                 "y[N] : input\n"
                 "a[n:N] = max(x[n], y[n])\n"
                 "b[n:N] = max(y[n], x[n])\n"
                 "c[n:N] = max(0, x[n]) + min(x[n], 0)\n"
                 "d[n:N] = min(x[n], y[n]) + min(y[n], max(x[n], 4))\n"
                 "e[n:N] = max(k:0..n + 1) x[k]\n"
                 "g[n:N] = min(k:0..n) y[k]\n");
    fixture_fill(&f, 4);
    memcpy(f.data[0].f, numbers, sizeof numbers);
    memcpy(f.data[1].f, others, sizeof others);
    check_reference(&f, "NaN");
    for (int i = 2; i < 4; i++) assert_memory_equal(f.data[i].f, max_x_y, sizeof max_x_y);
    fixture_close(&f);
}

/* Indices are of 64 bits, whatever the entries they are made of. */
static void test_large_integers(void **state) {
    (void)state;
    static const int32_t edges[] = {INT32_MIN, INT32_MAX, -1, 400000, 1 << 30, 127999};
    fixture f;
    fixture_text(&f, "N=6, M=37",
                 "r[N] : index\n"
                 "x[M] : input\n"
                 "a[n:N] = x[(5 - r[n]*r[n])%M]\n"
                 "b[n:N] = x[(0 - r[n]*r[n]/7)%M] + x[r[n]*40503%M]\n"
                 "c[n:N] = x[((0 - r[n]*r[n])*2)/9223372036854775807 + 2]\n"
                 "d[n:N] = x[((0 - r[n]*r[n])*2)%M]\n"
                 "e[n:N] = x[(n < 3 ? 2000000000 : 1)*5%M]\n"
                 "g[n:N] = r[n]*r[n] - 4 > r[n]*40503/3 ? x[n] : x[M - 1]\n");
    fixture_fill(&f, 4);
    memcpy(f.data[0].i, edges, sizeof edges);
    check_reference(&f, "large integers");
    fixture_close(&f);
}

/* What reads itself, as a stage and as an output, several steps back and across another axis. */
static void test_recurrences(void **state) {
    (void)state;
    check_text("x[N] : input\n"
               "indices[N] : index\n"
               "h[i:N, j:K] = (i > 1 && j > 0 ? h[i - 2, K - j] : x[j]) - x[i]\n"
               "o[i:N, j:K] = h[i, j] + (j > 0 ? o[i, j - 1] : 2)\n"
               "t[i:N] = i > 2 ? max(t[i - 1], t[i - 3]) + h[i, 0] : x[i]\n",
               "recurrences");
}

/* Running sums and the like, along either axis, with the term at hand and without it; by terms of
 * which indices are worked out outside of the loop. Each term is taken in once. */
static void test_running_sums(void **state) {
    (void)state;
    static const char text[] = "x[N, K] : input\n"
                               "w[N + K] : input\n"
                               "a[i:N, j:K] = sum(k:0..i + 1) x[k, j]\n"
                               "b[i:N, j:K] = prod(k:0..j) x[i, k]\n"
                               "c[i:N, j:K] = max(k:0..1 + i) x[k, K - 1 - j]*2 - w[k/2 + j%3]\n"
                               "d[i:N] = min(k:0..i) x[k, 1]\n"
                               "e[i:N, j:K, h:3] = sum(k:0..j + 1) x[i, k]*w[i*2/3 + h]\n";
    check_text(text, "running sums");
    fixture f;
    at_text source = {0};
    int64_t bytes;
    fixture_text(&f, "N=6, K=7", text);
    assert_ok(&f, at_compute_reference_c(f.arena, f.compute, f.values, "reference", &source, &bytes,
                                         &f.err));
    assert_null(strstr(source.data, "i_k++"));
    at_text_free(&source);
    fixture_close(&f);
}

/* Neighbours that go through the terms together: as many as that, more, and a few behind them. */
static void test_together(void **state) {
    (void)state;
    check_text("x[N, 150] : input\nw[40] : input\n"
               "a[i:N, j:64] = sum(k:40) x[i, j]*w[k] - x[i, (j*3 + k)%150]\n"
               "b[i:N, j:150] = max(k:33) x[i, j]*w[k] + x[k%N, j/2]*(i - k/3)\n"
               "c[j:33] = sum(i:N, k:40) a[i, j]*w[k] + x[i*k%N, j]\n"
               "d[i:N, e:2, j:71] = min(k:40) (k%3 == e ? b[i, j] - w[k] : 5)\n",
               "neighbours together");
}

/* A sum of products as a product of matrices: the text has it, or has none, and is right. */
static void check_products(const char *text, int products) {
    fixture f;
    at_text source = {0};
    int64_t bytes;
    int found = 0;
    fixture_text(&f, "N=20, K=16, C=20", text);
    fixture_fill(&f, 5);
    check_c(&f, text, BY_PRODUCTS);
    product_source(&f, &source, &bytes);
    for (const char *at = source.data; (at = strstr(at, "at_products(A")); at++) found++;
    if (found != products) fail_msg("%d products, expected %d:\n%s", found, products, source.data);
    at_text_free(&source);
    fixture_close(&f);
}

static void test_products(void **state) {
    (void)state;
    /* Rows are not the first axis of the output; an output, and what reads it. */
    check_products(
        "x[N, N, K] : input\nw[C, K, 3, 3] : weight\nb[C] : input\n"
        "t[m:C, i:N, j:N] = sum(k:K, p:3, q:3) (i + p >= 1 && i + p <= N && j + q >= 1 && "
        "j + q <= N ? x[i + p - 1, j + q - 1, k]*w[m, k, p, q] : 0)\n"
        "y[i:N, j:N, m:C] = max(t[m, i, j] + b[m], 0)\n",
        1);
    /* A padded picture that the read itself asks for; strides; weights first. */
    check_products("x[2*N, 2*N, 16] : input\nw[16, 3, 3, C] : weight\n"
                   "y[i:N, j:N, m:C] = sum(p:3, q:3, k:16) w[k, p, q, m]*(2*i + p < 2*N && "
                   "2*j + q < 2*N ? x[2*i + p, 2*j + q, k] : 0)\n",
                   1);
    /* Many products, one for each group, whose axis stands between. */
    check_products("x[N, 4, 80] : input\nw[4, 80, C] : weight\n"
                   "y[i:N, g:4, m:C, h:5] = sum(k:80, e:2) x[i, g, k]*w[g, k, m]\n",
                   1);
    /* The factors share all axes; a term of three that none divides; a condition on both sides. */
    check_products("x[N, N, K] : input\nw[K, 3] : input\n"
                   "y[i:N, j:N, k:K] = sum(p:3, q:4) x[i, (j + p)%N, k]*w[k, p]\n",
                   0);
    check_products("x[N, K] : input\nw[K, C] : input\nv[N, C] : input\n"
                   "y[i:N, m:C] = sum(k:K, e:200) x[i, k]*w[k, m]*v[i, m]\n",
                   0);
    check_products("x[N, K] : input\nw[K, C] : input\n"
                   "y[i:N, m:C] = sum(k:K, e:200) (i >= m ? x[i, k]*w[k, m] : 0)\n",
                   0);
    /* What guards a read of one side is known by the other one alone. */
    check_products("x[N, 2*K] : input\nw[K, C] : input\n"
                   "y[i:N, m:C] = sum(k:2*K, e:100) (k + i < K ? x[i, k]*w[k, m] : 0)\n",
                   0);
    check_products("x[N, 2*K] : input\nw[K, C] : input\n"
                   "y[i:N, m:C] = sum(k:2*K, e:100) (k < K ? x[i, k]*w[k, m] : 0)\n",
                   1);
}

/* Stages that read each other: within a step and across steps, along two axes, a batch before the
 * steps, by a sum that reads itself or what is above the diagonal, with others between. */
static void test_cycles(void **state) {
    (void)state;
    check_text("x[N, K] : input\n"
               "w[K, K] : weight\n"
               "s[t:N, j:K] = sum(k:K) (t > 1 ? w[j, k]*h[t - 2, k] : w[k, j])\n"
               "y[t:N, j:K] = x[t, j] - 1\n"
               "h[t:N, j:K] = y[t, j]*2 + (s[t, j] > 8 ? 1 : -s[t, j]/16)\n"
               "o[t:N] = max(j:K) h[t, j]\n",
               "a recurrent net");
    check_text("a[N, N] : input\n"
               "b[N, K] : input\n"
               "s[i:N, j:K] = sum(k:0..i) a[i, k]*x[k, j]\n"
               "x[i:N, j:K] = max(min(b[i, j] - s[i, j], 8), -8)\n",
               "a triangular system");
    check_text("a[E, N, K] : input\n"
               "p[e:E, t:N, j:K] = max(k:K) (t > 0 ? p[e, t - 1, k] - a[e, t, j] : a[e, 0, k])\n",
               "the best path");
    check_text("a[N, K] : input\n"
               "e[i:N, j:K] = j > 0 ? max(h[i, j - 1] - 3, e[i, j - 1] - 1) : -9\n"
               "f[i:N, j:K] = i > 0 ? max(h[i - 1, j] - 3, f[i - 1, j] - 1) : -9\n"
               "h[i:N, j:K] = max(max(e[i, j], f[i, j]), "
               "(i > 0 && j > 0 ? h[i - 1, j - 1] : 0) + a[i, j])\n",
               "gaps");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),       cmocka_unit_test(test_operators),
        cmocka_unit_test(test_large_integers), cmocka_unit_test(test_nan),
        cmocka_unit_test(test_recurrences),    cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_together),       cmocka_unit_test(test_products),
        cmocka_unit_test(test_running_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
