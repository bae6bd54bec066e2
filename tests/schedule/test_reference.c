/* The naive C gives what the interpreter gives; work, bounds and the exact range. */
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
        size[total] = (int64_t)sizeof(float);
        for (int i = 0; i < x->num_axes; i++) size[total] *= extents[t][i];
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
    fixture_sizes(&f, "N=6, E=6, K=6, C=1");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
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
    fixture_sizes(&f, "N=6");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\n"
                                   "y[N] : input\n"
                                   "a[n:N] = max(x[n], y[n])\n"
                                   "b[n:N] = max(y[n], x[n])\n"
                                   "c[n:N] = max(0, x[n]) + min(x[n], 0)\n"
                                   "d[n:N] = min(x[n], y[n]) + min(y[n], max(x[n], 4))\n"
                                   "e[n:N] = max(k:0..n + 1) x[k]\n"
                                   "g[n:N] = min(k:0..n) y[k]\n",
                                   "c", &f.compute, &f.err));
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
    fixture_sizes(&f, "N=6, M=37");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "r[N] : index\n"
                                   "x[M] : input\n"
                                   "a[n:N] = x[(5 - r[n]*r[n])%M]\n"
                                   "b[n:N] = x[(0 - r[n]*r[n]/7)%M] + x[r[n]*40503%M]\n"
                                   "c[n:N] = x[((0 - r[n]*r[n])*2)/9223372036854775807 + 2]\n"
                                   "d[n:N] = x[((0 - r[n]*r[n])*2)%M]\n"
                                   "e[n:N] = x[(n < 3 ? 2000000000 : 1)*5%M]\n"
                                   "g[n:N] = r[n]*r[n] - 4 > r[n]*40503/3 ? x[n] : x[M - 1]\n",
                                   "c", &f.compute, &f.err));
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
    fixture_sizes(&f, "N=6, K=7");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
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
    fixture_sizes(&f, "N=20, K=16, C=20");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
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

/* ---- limits ---------------------------------------------------------------------------------- */

static bool is_whole; /* are limits for inputs that are integers? */

/* Its only output and the limits of that, of the data in f; compiles without a warning. */
static void run_limits(fixture *f, float **value, float **limit, int64_t *n) {
    at_text source = {0};
    int64_t workspace_bytes, **extents;
    void *buf[16] = {0};
    int num = 0;
    assert_ok(f, at_compute_extents(f->arena, f->compute, f->values, &extents, &f->err));
    assert_ok(f, (is_whole ? at_compute_whole_limits_c
                           : at_compute_limits_c)(f->arena, f->compute, f->values, "reference",
                                                  &source, &workspace_bytes, &f->err));
    naive_entry *run = fixture_compile(f, source.data);
    at_text_free(&source);
    for (int t = 0; t < f->compute->num_tensors; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (x->role != AT_ROLE_STAGE)
            buf[num++] = f->data[t].i ? (void *)f->data[t].i : (void *)f->data[t].f;
        if (!x->is_output) continue;
        *n = 1;
        for (int i = 0; i < x->num_axes; i++) *n *= extents[t][i];
    }
    *value = buf[num] = AT_NEW_ARRAY(f->arena, float, *n);
    *limit = buf[num + 1] = AT_NEW_ARRAY(f->arena, float, *n);
    void *workspace = at_alloc(f->arena, (size_t)workspace_bytes);
    memset(workspace, 0xff, (size_t)workspace_bytes); /* NaN */
    assert_int_equal(run(buf, workspace, NULL), 0);
}

/* Values are the interpreter's, and what is summed has a limit. */
static void limits_of_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        float *value, *limit;
        int64_t n;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, (uint64_t)i);
        assert_ok(&f, at_compute_interpret(f.arena, f.compute, f.values, f.data, &f.err));
        run_limits(&f, &value, &limit, &n);
        const float *expected = NULL;
        for (int t = 0; t < f.compute->num_tensors; t++)
            if (f.compute->tensors[t].is_output) expected = f.data[t].f;
        for (int64_t k = 0; k < n; k++)
            if (value[k] != expected[k] || !(limit[k] >= 0) || (value[k] != 0 && limit[k] == 0))
                fail_msg("%s[%d]: %g +- %g, not %g", examples[i]->name, (int)k, (double)value[k],
                         (double)limit[k], (double)expected[k]);
        fixture_close(&f);
    }
}

/* One output of x = 1, 2, 3 .. and w = 0.5, -0.25, 0.5, ...; limits in units of 8 * 2^-24. */
static void check_limit(const char *text, int at, double value, double limit) {
    fixture f;
    float *values, *limits;
    int64_t n;
    fixture_sizes(&f, "N=4");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
    f.data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
    for (int t = 0; t < 2; t++) {
        f.data[t].f = AT_NEW_ARRAY(f.arena, float, 4);
        for (int i = 0; i < 4; i++)
            f.data[t].f[i] = t == 0 ? (float)(i + 1) : i % 2 ? -0.25f : 0.5f;
    }
    run_limits(&f, &values, &limits, &n);
    double got = (double)limits[at] / (8 * 0x1p-24);
    if ((double)values[at] != value || fabs(got - limit) > 1e-6 * limit)
        fail_msg("%s: %.9g +- %.9g, not %.9g +- %.9g", text, (double)values[at], got, value, limit);
    fixture_close(&f);
}

#define INPUTS "x[N] : input\nw[N] : input\n"

static void limits_by_hand(void **state) {
    (void)state;
    /* What is only moved or chosen is exact. */
    check_limit(INPUTS "o[i:N] = i < 2 ? x[3 - i] : max(w[i], 0)", 1, 3, 0);
    check_limit(INPUTS "o[i:N] = x[i]*w[i]", 3, -1, 1);
    check_limit(INPUTS "o[i:N] = x[i] + w[i]", 3, 3.75, 3.75);
    check_limit(INPUTS "o[i:N] = x[i]/w[i]", 2, 6, 6);
    /* What a rounded operand adds: times the other; the division by it. */
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = p[i]*x[i]", 3, -4, sqrt(16 + 16));
    check_limit(INPUTS "p[i:N] = x[i] + w[i]\no[i:N] = w[i]/p[i]", 0, 1 / 3.0f,
                sqrt(2) * (1 / 3.0));
    /* Functions: half of their units in the last place, and the slope times what the argument adds.
     */
    check_limit(INPUTS "o[i:N] = abs(floor(w[i]))", 3, 1, 0);
    check_limit(INPUTS "o[i:N] = exp(x[i])", 0, (float)exp(1), exp(1));
    check_limit(INPUTS "o[i:N] = tanh(x[i])", 0, (float)tanh(1), 2 * tanh(1));
    check_limit(INPUTS "p[i:N] = x[i] + w[i]\no[i:N] = exp(p[i])", 3, (float)exp(3.75),
                exp(3.75) * sqrt(1 + 3.75 * 3.75));
    check_limit(INPUTS "p[i:N] = x[i] + w[i]\no[i:N] = log(p[i])", 3, (float)log(3.75),
                sqrt(log(3.75) * log(3.75) + 1));
    /* Sums: of one term, exact; 1 + 2 + 3 + 4 in this order 1 + 9 + 36 + 100, and over all orders
     * 5/6 * 30 + 5/3 * 100. A large term that stands last could stand first. */
    check_limit(INPUTS "o[i:1] = sum(k:1) x[k]", 0, 1, 0);
    check_limit(INPUTS "o[i:1] = sum(k:N) x[k]", 0, 10, sqrt(25 + 500 / 3.0));
    check_limit(INPUTS "o[i:1] = sum(k:N) (x[k] - 2.5)", 0, 0, sqrt(5 + 8.5));
    check_limit(INPUTS "o[i:1] = sum(k:2) x[k]*(k > 0 ? 1073741824 : 1)", 0, 2147483648.0,
                0x1p31 * sqrt(1 + 1 + 1.5)); /* an integer beyond 2^24 may be rounded */
    /* What all terms share is off by the same in each: an eighth of the running sums at which a
     * term comes again adds up, too. */
    check_limit(INPUTS "o[i:1] = sum(k:N) x[0]/3", 0, 4 / 3.0f,
                sqrt(30 / 9.0 + 9 / 64.0 + 16 / 9.0));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:1] = sum(k:N) p[0]*x[k]", 0, 5,
                sqrt(7.5 + 6.25 + 125 / 3.0 + 25));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\nq[i:N] = p[0]*x[i]\no[i:1] = sum(k:N) q[k]", 0, 5,
                sqrt(6.25 + 125 / 3.0 + 50));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:1] = sum(k:N) p[k]*x[k]", 0, 0,
                sqrt(2 * 37.5 + 5 / 6.0 * 37.5));
    /* A value that is read several times is off by the same each time; where that cancels, each
     * counts by itself. */
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = p[i]*0.5 + p[i]", 3, -1.5, sqrt(4.75));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = p[i] - p[i]*0.5", 3, -0.5, sqrt(1.75));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = p[i]*p[i]", 3, 1, sqrt(5));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = max(p[i], x[i]*-2) + (i > 0 ? p[i] : 7)", 3,
                -2, sqrt(8));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:N] = exp(p[i])*p[i]", 0, (float)(0.5 * exp(0.5)),
                exp(0.5) * sqrt(0.5 + 0.5625));
    check_limit(INPUTS "p[i:N] = x[i]*w[i]\no[i:1] = sum(k:1) p[k]*p[k]", 0, 0.25, sqrt(0.3125));
    /* A kernel may see values that lie so close the other way round. */
    check_limit(INPUTS "s[i:1] = sum(k:N) (x[k] - 2.5)\no[i:1] = s[i] > 0 ? 7 : 3", 0, 3,
                4 * sqrt(4 / 3.0) / (8 * 0x1p-24));
    check_limit(INPUTS "s[i:1] = sum(k:N) (x[k] - 2.5)\no[i:1] = (s[i] > 0 ? 7 : 3)*x[i + 1]", 0, 6,
                8 * sqrt(4 / 3.0) / (8 * 0x1p-24));
    /* A jump, and half of what rounding behind it and before it may do: (2 + 1)^2 <= 4/3*4 + 4. */
    check_limit(
        INPUTS
        "s[i:1] = sum(k:N) (x[k] - 2.5)\no[i:1] = (s[i] > 0 ? 0 : 0.00000095367431640625)*x[2]/3",
        0, 0x1p-20f, sqrt(0x1p-40 + 0x1p-40 / (0.75 * 0x1p-42)));
    check_limit(INPUTS "s[i:1] = sum(k:N) (x[k] - 2.5)\n"
                       "o[i:1] = s[i] > 0 ? 3 + 0.0000002384185791015625 : x[2]/3 + 2",
                0, 3, sqrt(1 + 9 + 0x1p-44 / (0.75 * 0x1p-42)));
    check_limit(INPUTS "s[i:1] = sum(k:N) x[k]\no[i:1] = s[i] > 0 ? 7 : 3", 0, 7, 0);
    check_limit(INPUTS "s[i:N] = x[i]*3\n"
                       "o[i:N] = i > 0 && s[i - 1] > 5 || !(i < 3 && s[i + 1] > 8) ? s[i] : 1",
                0, 3, 3);
    check_limit(INPUTS "s[i:1] = sum(k:N) (x[k] - 2.5)\no[i:1] = max(s[i], 0)", 0, 0,
                sqrt(5 + 8.5));
    check_limit(INPUTS "s[i:1] = sum(k:N) x[k]\no[i:1] = max(s[i], 100)", 0, 100, 0);
}

/* Of integers what is small enough has no limit, as the run shows and no bound does; what exceeds
 * 2^24 times the finest part of its terms has the one that other numbers have. */
static void limits_of_integers(void **state) {
    (void)state;
#define X "x[N] : input\nw[N] : input\n" /* of which only the integers are read */
    is_whole = true;
    check_limit(X "o[i:N] = x[i] + x[N - 1 - i]*3", 0, 13, 0);
    check_limit(X "o[i:N] = x[i]/4 - 0.25", 0, 0, 0);
    check_limit(X "o[i:N] = x[i]/3", 2, 1, 1);
    check_limit(X "o[i:N] = x[i]*16777216 + 1", 0, 16777216, 16777217);
    check_limit(X "o[i:1] = sum(k:N) x[k]", 0, 10, 0);
    check_limit(X "o[i:1] = sum(k:N) x[k]*0.5", 0, 5, 0);
    check_limit(X "o[i:1] = sum(k:N) x[k]*1677721", 0, 16777210, 0);
    check_limit(X "o[i:1] = sum(k:N) x[k]*1677721.5", 0, 16777215,
                1677721.5 * sqrt(25 + 500 / 3.0));
    check_limit(X "o[i:1] = sum(k:N) (k < 2 ? 8388608 : -8388608)*x[k]", 0, -33554432,
                8388608 * sqrt(25 + 80.0 / 3));
    check_limit(X "o[i:1] = prod(k:N) x[k]", 0, 24, 0);
    /* of two factors no float holds the product, nor of more */
    check_limit(X "o[i:1] = prod(k:N) x[k]*4097", 0, (float)(24 * 4097.0 * 4097 * 4097 * 4097),
                24 * 4097.0 * 4097 * 4097 * 4097 * sqrt(3));
    check_limit(X "s[i:1] = sum(k:N) x[k]\no[i:1] = s[i] > 9.5 ? floor(s[i]*0.5) : 0", 0, 5, 0);
    check_limit(X "s[i:N] = sum(k:0..i + 1) x[k]\no[i:N] = max(s[i], 4)", 2, 6, 0);
    /* Doubled at each step, as far as anybody knows: the shortest way stays what it is. */
    check_limit(
        X "d[k:64, i:N] = k > 0 ? min(d[k - 1, i], d[k - 1, i] + d[k - 1, N - 1 - i]) : x[i]\n"
          "o[i:N] = d[63, i] - 1",
        3, 3, 0);
    check_limit(X "s[k:9, i:1] = sum(j:N) (k > 0 ? s[k - 1, 0]*(x[j] - 2) : 1)\no[i:N] = s[3, 0]",
                0, 32, 0);
#undef X
    is_whole = false;
}

/* Of a running sum they are those of a sum whose terms are added again for each element: with
 * numbers that make others too small to count, before and behind them. */
static void limits_of_running_sums(void **state) {
    (void)state;
    static const char *const forms[] = {
        "sum(k:0..%si + 1) x[k, j]*0.3", "sum(k:0..%si) x[k, j]", "prod(k:0..%si + 1) x[k, j]*0.3",
        "max(k:0..%si + 1) x[k, j]*0.3", "min(k:0..%si + 1) x[k, j]*0.3 < 1 ? x[k, 0] : inf"};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        float *value[2], *limit[2];
        fixture f[2];
        int64_t n = 0;
        for (int again = 0; again < 2; again++) {
            fixture *g = &f[again];
            fixture_sizes(g, "N=40, K=3");
            char text[200], sum[100];
            snprintf(sum, sizeof sum, forms[k], again ? "0 + " : "");
            snprintf(text, sizeof text, "x[N, K] : input\no[i:N, j:K] = %s", sum);
            assert_ok(g, at_compute_parse(g->arena, &g->symbols, text, "c", &g->compute, &g->err));
            fixture_fill(g, 3);
            for (int i = 7; i < 40; i += 9) g->data[0].f[3 * i] = (float)(1 << 20) * (float)(i * i);
            for (int i = 2; i < 40; i += 5) g->data[0].f[3 * i + 1] = 0x1p-12f;
            run_limits(g, &value[again], &limit[again], &n);
        }
        for (int64_t i = 0; i < n; i++)
            if (value[0][i] != value[1][i] || limit[0][i] != limit[1][i])
                fail_msg("%s, element %d: %.9g +- %.9g, not %.9g +- %.9g", forms[k], (int)i,
                         (double)value[0][i], (double)limit[0][i], (double)value[1][i],
                         (double)limit[1][i]);
        for (int again = 0; again < 2; again++) fixture_close(&f[again]);
    }
}

/* Elements that go through the terms together are what they are one by one: the same computation
 * with its last axis first, which is too short for that. */
static void limits_together(void **state) {
    (void)state;
    static const char *const terms[] = {
        "sum(k:K) x[k, j]*0.3 + w[i, k]*x[k, 0]",
        "sum(k:K, h:2) (x[(k*j + h)%K, (j + h)%J] > w[i, k] ? x[k, j]/3 : w[i, h])",
        "prod(k:K) 1 + x[k, j]*0.01", "max(k:K) x[k, j]*w[i, k]",
        "min(k:K) x[k, j]*0.1 == x[0, 0]*0.1 ? k + 1 : inf"};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        float *value[2], *limit[2];
        fixture f[2];
        int64_t n = 0;
        for (int turned = 0; turned < 2; turned++) {
            fixture *g = &f[turned];
            fixture_sizes(g, "I=3, J=70, K=37");
            const char *text = at_format(g->arena, "x[K, J] : input\nw[I, K] : input\no[%s] = %s",
                                         turned ? "j:J, i:I" : "i:I, j:J", terms[t]);
            assert_ok(g, at_compute_parse(g->arena, &g->symbols, text, "c", &g->compute, &g->err));
            fixture_fill(g, 5);
            g->data[0].f[9] = 0x1p30f; /* beside it others do not count */
            run_limits(g, &value[turned], &limit[turned], &n);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 70; j++)
                if (value[0][i * 70 + j] != value[1][j * 3 + i] ||
                    limit[0][i * 70 + j] != limit[1][j * 3 + i])
                    fail_msg("%s, element %d, %d: %.9g +- %.9g, not %.9g +- %.9g", terms[t], i, j,
                             (double)value[0][i * 70 + j], (double)limit[0][i * 70 + j],
                             (double)value[1][j * 3 + i], (double)limit[1][j * 3 + i]);
        for (int turned = 0; turned < 2; turned++) fixture_close(&f[turned]);
    }
}

/* What is kept of a stage that reads itself are samples of the error: four times their root of the
 * mean square, which is between a third and twice what it is of all roundings. */
static void check_samples(const char *text, int at, double root) {
    fixture f;
    float *values, *limits;
    int64_t n;
    fixture_sizes(&f, "N=4096");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
    f.data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
    f.data[0].f = AT_NEW_ARRAY(f.arena, float, 4096);
    for (int i = 0; i < 4096; i++) f.data[0].f[i] = 1;
    run_limits(&f, &values, &limits, &n);
    const double got = (double)limits[at] / (4 * 8 * 0x1p-24);
    if (!(got >= root / 3 && got <= 2 * root))
        fail_msg("%s: %.9g, not about %.9g", text, got, root);
    fixture_close(&f);
}

static void limits_of_steps(void **state) {
    (void)state;
#define X "x[N] : input\n"
    /* The first step's own rounding is what it is; what is chosen among exact values is exact. */
    check_limit(INPUTS "p[i:N] = i > 0 ? p[i - 1]*0.5 : x[i]\no[i:N] = max(p[i], 0)", 1, 0.5, 2);
    check_limit(INPUTS "o[i:N] = i > 1 ? min(o[i - 1], o[i - 2]) : x[i]", 3, 1, 0);
    /* Sums of ones: 1 + 4 + 9 + .. of those on the way, kept in double or as the output's floats.
     */
    check_samples(X "p[i:N] = (i > 0 ? p[i - 1] : 0) + x[i]\no[i:N] = max(p[i], 0)", 999,
                  sqrt(1e9 / 3));
    check_samples(X "o[i:N] = (i > 0 ? o[i - 1] : 0) + x[i]", 999, sqrt(2e9 / 3));
    /* Errors die out; add up where they go the same way; cancel where they do not: the last is
     * sqrt(i) in a walk of its own, not 3^i. */
    check_samples(X "p[i:N] = (i > 0 ? p[i - 1]*0.5 : 0) + x[i]\no[i:N] = max(p[i], 0)", 4000,
                  sqrt((4 + 1) / 0.75));
    check_samples(X "p[i:N] = i > 1 ? 2*p[i - 1] - p[i - 2] : x[i]\no[i:N] = max(p[i], 0)", 63,
                  sqrt(5.0 * 64 * 64 * 64 / 3));
    /* Functions by their slopes: of a fixed point, a half at each step. */
    check_samples(X "p[i:N] = i > 0 ? sqrt(p[i - 1]) : x[i]*1\no[i:N] = max(p[i], 0)", 100,
                  sqrt(1 / 0.75));
    check_samples(X "p[i:N] = i > 0 ? 2 - rsqrt(p[i - 1]) : x[i]*1\no[i:N] = max(p[i], 0)", 100,
                  sqrt((1 + 1) / 0.75));
    /* What is bounded by a number, of which nothing is off. */
    check_samples(X "p[i:N] = max((i > 0 ? p[i - 1] : 0) + x[i], -4)\no[i:N] = max(p[i], 0)", 999,
                  sqrt(1e9 / 3));
    /* Through stages that read each other: of two halves, their sum, and one more; the larger of
     * two equal ones; a factor. */
    check_samples(X "s[i:N] = sum(k:2) (i > 0 ? p[i - 1]*0.5 : 0)\np[i:N] = s[i] + x[i]\n"
                    "o[i:N] = max(p[i], 0)",
                  999, sqrt((1 + 0.5 + 1.25) * 1e9 / 3));
    check_samples(X "s[i:N] = max(k:2) (i > 0 ? p[i - 1] : 0)\np[i:N] = s[i] + x[i]\n"
                    "o[i:N] = max(p[i], 0)",
                  999, sqrt(1e9 / 3));
    check_samples(X "s[i:N] = prod(k:1) (i > 0 ? p[i - 1] : 0)\np[i:N] = s[i] + x[i]\n"
                    "o[i:N] = max(p[i], 0)",
                  999, sqrt(2e9 / 3));
    /* What two recurrences have in common cancels in a difference behind them. */
    check_samples(X
                  "p[i:N] = (i > 0 ? p[i - 1] : 0) + x[i]\no[i:N] = p[i] - (i > 0 ? p[i - 1] : 0)",
                  999, 1000);
#undef X
}

/* Without steps, where errors of one origin meet again: of neighbours of neighbours. Each stage
 * adds the squares of 2 and 3 times the value before; how they go on are trinomial coefficients. */
static void limits_of_neighbours(void **state) {
    (void)state;
    enum { STAGES = 8, WIDTH = 2 * STAGES + 1 };
    double on[WIDTH] = {1}, square = 0; /* what an error of an element of a stage is in the last */
    at_text t = {0};
    at_text_add(&t, "x[N] : input\ns0[i:N] = x[i]/3\n");
    for (int k = 1; k <= STAGES; k++)
        at_text_addf(&t,
                     "s%1$d[i:N] = (i > 0 ? s%2$d[i - 1] : 0) + s%2$d[i] + "
                     "(i < N - 1 ? s%2$d[i + 1] : 0)\n",
                     k, k - 1);
    for (int k = STAGES; k >= 0; k--) {
        const double value = pow(3, k - 1), own = k ? value * value * 13 / 9 : value * value;
        for (int i = 0; i < WIDTH; i++) square += on[i] * on[i] * own;
        for (int i = WIDTH - 1; i >= 0; i--)
            on[i] += (i > 0 ? on[i - 1] : 0) + (i > 1 ? on[i - 2] : 0);
    }
    check_samples(at_text_str(&t), 2000, sqrt(square));
    at_text_free(&t);
}

/* The place of the largest: of rounded values that are apart it is certain, though the largest lies
 * close to itself; of equal ones it is any of them; what is behind the first is certain again. */
static void limits_of_places(void **state) {
    (void)state;
#define PLACE "m[i:1] = max(k:N) s[k]\no[i:1] = min(k:N) s[k] == m[i] ? k + 1 : inf"
    check_limit(INPUTS "s[i:N] = x[i]*w[i]\n" PLACE, 0, 3, 0);
    check_limit(INPUTS "s[i:N] = x[i]*0 + w[i]*3\n" PLACE, 0, 1, 2 * sqrt(4 / 3.0) / (8 * 0x1p-24));
    check_limit(INPUTS "s[i:N] = max(x[i]*w[i], -0.25) - x[i]\n" PLACE, 0, 1, 0);
    check_limit(INPUTS "s[i:N] = x[i]*0 + w[i]*3\nm[i:1] = max(k:N) s[k]\n"
                       "o[i:1] = max(k:N) s[k] == m[i] ? -inf : -(k + 1)",
                0, -2, sqrt(4 / 3.0) / (8 * 0x1p-24));
    check_limit(INPUTS "s[i:N] = x[i]*w[i]\nm[i:1] = max(k:N) s[k]\n"
                       "p[i:1] = min(k:N) s[k] == m[i] ? k : inf\n"
                       "o[i:1] = max(k:N) k == p[i] ? -inf : x[k]*3",
                0, 12, 12);
    /* In a stage of its own nothing is known of it but its size. */
    check_limit(INPUTS "s[i:N] = x[i]*w[i]\nm[i:1] = max(k:N) s[k]\n"
                       "p[k:N] = s[k] == m[0] ? k + 1 : inf\no[i:1] = min(k:N) p[k]",
                0, 3, sqrt(10) / (8 * 0x1p-24));
#undef PLACE
}

/* No float: no limit. */
/* What is infinite is just that. What is only too large for a float is infinite or no number in a
 * kernel, which the largest float as a limit says (base/agree.h). */
static void limits_of_no_float(void **state) {
    const double either = (double)3.4028235e38f / (8 * 0x1p-24);
    (void)state;
    check_limit(INPUTS "o[i:N] = x[i]/(x[i] - 1)", 0, INFINITY, 0);
    check_limit(INPUTS "o[i:N] = x[i]*1e30*1e30", 0, INFINITY, either);
}

static void test_flops(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_gemm);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 35 * 6 * 27, 0);
    fixture_close(&f);
    fixture_open(&f, &conv_direct);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 8 * 5 * 7 * 6 * 3 * 2,
                       0);
    fixture_close(&f);
    /* stored blocks only, and only where something is multiplied */
    fixture_open(&f, &sparse);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), -1, 0);
    fixture_fill(&f, 1);
    assert_float_equal(at_compute_flops(f.compute, f.values, f.data), 2.0 * 6 * 7 * 2 * 3, 0);
    fixture_close(&f);
    /* nothing is: the sums count */
    fixture_sizes(&f, "N=5");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\no[i:N] = sum(k: 0 .. i + 1) x[k] + x[i]", "c",
                                   &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 15, 0);
    fixture_close(&f);
    /* of a running sum each element has one term more than the one before */
    fixture_sizes(&f, "N=5");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\no[i:N] = sum(k: 0 .. i + 1) x[k]", "c",
                                   &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 5, 0);
    fixture_close(&f);
    /* each product that is added or taken away */
    fixture_sizes(&f, "N=5");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k:N) x[i]*y[k] - x[k]*(y[i] - x[i]) + y[k]",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 25, 0);
    fixture_close(&f);
    /* with entries of index tensors, too, and not with places */
    fixture_sizes(&f, "N=5");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\nw[N, N] : index\n"
                                   "o[i:N] = sum(k:N) x[k]*(w[i, k]%16 - 8) + x[i]*(w[i, k]/16) "
                                   "+ x[k]*(k + 1)",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 25, 0);
    fixture_close(&f);
}

/* Products that entries of an index tensor leave out, themselves or through what is read, where
 * these are known; what values decide counts. */
static void flops_by_data(void **state) {
    (void)state;
    static const char *const texts[] = {
        "s[3] : index\nx[N] : input\n"
        "o[e:2, i:N] = sum(k:N) (s[e] <= i && i < s[e + 1] ? x[k]*x[i] : 0)",
        "s[3] : index\nx[N] : input\n"
        "y[e:2, i:N] = i < s[e + 1] && !(i < s[e]) ? x[i] : 0\n"
        "o[e:2, i:N] = sum(k:N) x[k]*y[e, i]",
        "s[3] : index\nx[N] : input\n"
        "o[e:2, i:N] = sum(k:N) (s[e] <= i && i < s[e + 1] && x[k] > 0 ? x[k]*x[i] : 0)"};
    static int32_t starts[] = {0, 2, 3};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f;
        fixture_sizes(&f, "N=5");
        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, texts[i], "c", &f.compute, &f.err));
        at_data *data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
        assert_float_equal(at_compute_flops(f.compute, f.values, data), 2.0 * 50, 0);
        data[0].i = starts;
        assert_float_equal(at_compute_flops(f.compute, f.values, data), 2.0 * 15, 0);
        fixture_close(&f);
    }
}

/* Products of zeros in between are counted by hand; those with padding count. */
static void flops_of_remainders(void **state) {
    (void)state;
    static const char *const texts[] = {
        /* through a stage, and without one */
        "d[H, C] : input\nw[K, C] : input\n"
        "s[y:H*S + K, c:C] = p <= y && (y - p)%S == 0 && (y - p)/S < H ? d[(y - p)/S, c] : 0\n"
        "o[i:H*S] = sum(r:K, c:C) s[i + r, c]*w[r, c]",
        "d[H, C] : input\nw[K, C] : input\n"
        "o[i:H*S] = sum(r:K, c:C) w[r, c]*((i + r - p)%S == 0 && (i + r - p)/S < H && p <= i + r ?"
        " d[(i + r - p)/S, c] : 0)"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int h = 1; h <= 5; h += 2)
            for (int s = 1; s <= 4; s++)
                for (int k = 1; k <= 5; k++)
                    for (int p = 0; p < 3; p++) {
                        fixture f;
                        char sizes[64];
                        int64_t products = 0;
                        snprintf(sizes, sizeof sizes, "H=%d, C=3, S=%d, K=%d, p=%d", h, s, k, p);
                        fixture_sizes(&f, sizes);
                        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, texts[t], "c",
                                                       &f.compute, &f.err));
                        for (int i = 0; i < h * s; i++)
                            for (int r = 0; r < k; r++) products += 3 * ((i + r - p) % s == 0);
                        assert_float_equal(at_compute_flops(f.compute, f.values, NULL),
                                           2.0 * (double)products, 0);
                        fixture_close(&f);
                    }
}

/* Two remainders of the same axes hold together more seldom than each by itself; where a size of a
 * sum is data nothing is told. */
static void flops_of_several_remainders(void **state) {
    (void)state;
    fixture f;
    fixture_sizes(&f, "N=12");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k:N) (i%2 == 0 ? x[k] : 0)*(i%3 == 0 ? y[k] : 0)",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 12 * 2, 0);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k:N) (i%2 == 0 ? x[k] : 0)*(k%3 == 0 ? y[k] : 0)",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 6 * 4, 0);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k: 0 .. i + 1) (i%2 == 0 ? x[k] : 0)*y[k]",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 78, 0);
    fixture_close(&f);
}

static void check_range(const char *sizes, const char *text, int64_t dynamic, int range) {
    fixture f;
    fixture_sizes(&f, sizes);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
    assert_int_equal(at_compute_exact_range(f.compute, f.values, NULL, dynamic), range);
    fixture_close(&f);
}

static void test_range(void **state) {
    (void)state;
    static const char gemm[] = "x[4, K] : input\nw[5, K] : weight\n"
                               "o[i:4, j:5] = sum(k:K) x[i, k]*w[j, k]";
    check_range("K=1", gemm, 0, 8);
    check_range("K=262144", gemm, 0, 8);
    check_range("K=262145", gemm, 0, 7);
    check_range("K=16777216", gemm, 0, 1);
    check_range("K=16777217", gemm, 0, 0);
    static const char bias[] = "x[K] : input\nb[1] : input\n"
                               "s[i:1] = sum(k:K) (k < 3 ? x[k]*x[k] : 0)\n"
                               "o[i:1] = s[i] - b[i]*2";
    check_range("K=262143", bias, 0, 8); /* 64 * 262143 + 16 */
    check_range("K=262144", bias, 0, 7);
    static const char rows[] = "x[9] : input\np[5] : index\n"
                               "o[i:4] = sum(e: p[i] .. p[i + 1]) x[e]*x[e]";
    check_range("K=1", rows, 262144, 8);
    check_range("K=1", rows, 262145, 7);
    check_range("K=1", rows, -1, 0);
    /* bounds over axes and sizes say how many terms there are, whatever data may be elsewhere */
    static const char running[] = "x[4] : input\no[i:K] = sum(e: 0 .. i + 1) x[e%4]*x[e%4]",
                      lag[] = "x[4] : input\no[i:K] = sum(e: 0 .. i) x[e%4]*x[e%4]",
                      twice[] = "x[9] : input\np[5] : index\no[i:4, j:K] = "
                                "sum(e: p[i] .. p[i + 1], k: j .. 3*j) x[e]*x[k%9]",
                      words[] = "x[K] : input\np[K] : index\n"
                                "o[i:1] = sum(k:K) (p[k] >> 3 & 15)*x[k]";
    check_range("K=262144", running, 0, 8);
    check_range("K=262145", running, 0, 7);
    check_range("K=262145", running, -1, 7);
    check_range("K=262145", lag, 0, 8);
    check_range("K=262146", lag, 0, 7);
    check_range("K=683", twice, 128, 8); /* 64 * 128 * from 0 to 3 * 682 */
    check_range("K=684", twice, 128, 7);
    check_range("K=2", twice, -1, 0);
    static const char ends[] = "x[4] : input\np[K] : index\n"
                               "o[i:K] = sum(e: 0 .. (p[i] & 262143)) x[e%4]*x[e%4]";
    check_range("K=2", ends, 0, 8);
    check_range("K=139810", words, 0, 8); /* 8 * 15 * K */
    check_range("K=139811", words, 0, 7);
    /* multiples of a power of two are as good as integers: so many of them fit a float */
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.5", 0, 8);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]/4", 0, 8);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]/3", 0, 0);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.1", 0, 0);
    check_range("K=2097152", "x[K] : input\no[i:1] = sum(k:K) x[k]*0.25", 0, 8);
    check_range("K=2097153", "x[K] : input\no[i:1] = sum(k:K) x[k]*0.25", 0, 7);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.125 + x[i]*2097152", 0, 0);
    check_range("K=4", "x[K] : input\no[i:K] = floor(x[i]*0.125)*3", 0, 8);
    check_range("K=4", "x[K] : input\nT[i:2] = {0.5, -1}\no[i:K] = x[i]*T[i/K]", 0, 8);
    check_range("K=4", "x[K] : input\nT[i:2] = {0.3, -1}\no[i:K] = x[i]*T[i/K]", 0, 0);
    /* step by step: sums grow, halves become finer, the largest so far stays what it is */
    check_range("K=16384", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1] : 0) + x[i]", 0, 8);
    check_range("K=16385", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1] : 0) + x[i]", 0, 0);
    check_range("K=19", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1]*0.5 : 0) + x[i]", 0, 8);
    check_range("K=40", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1]*0.5 : 0) + x[i]", 0, 0);
    check_range("K=99999999", "x[K] : input\no[i:K] = max(i > 0 ? o[i - 1] : 0, x[i])", 0, 8);
    check_range("K=4194305", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 8);
    check_range("K=4194306", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 0);
}

static void test_bound(void **state) {
    (void)state;
    fixture f;
    double ratio;
    fixture_open(&f, &conv_gemm);
    assert_float_equal(at_compute_bound(f.compute, f.values, 8, NULL, 0, &ratio), 64 * 27, 0);
    assert_float_equal(at_compute_bound(f.compute, f.values, 0.5, NULL, 0, &ratio), 0.25 * 27, 0);
    fixture_close(&f);
    fixture_open(&f, &sparse);
    assert_float_equal(at_compute_bound(f.compute, f.values, 1, NULL, 7, &ratio), 7 * 3, 0);
    assert_true(isinf(at_compute_bound(f.compute, f.values, 1, NULL, -1, &ratio)));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_large_integers),  cmocka_unit_test(test_nan),
        cmocka_unit_test(test_recurrences),     cmocka_unit_test(test_cycles),
        cmocka_unit_test(limits_of_examples),   cmocka_unit_test(limits_by_hand),
        cmocka_unit_test(limits_of_places),     cmocka_unit_test(limits_of_steps),
        cmocka_unit_test(limits_of_neighbours), cmocka_unit_test(limits_of_no_float),
        cmocka_unit_test(test_flops),           cmocka_unit_test(flops_by_data),
        cmocka_unit_test(flops_of_remainders),  cmocka_unit_test(flops_of_several_remainders),
        cmocka_unit_test(test_range),           cmocka_unit_test(test_bound),
        cmocka_unit_test(test_together),        cmocka_unit_test(test_products),
        cmocka_unit_test(limits_together),      cmocka_unit_test(limits_of_integers),
        cmocka_unit_test(test_running_sums),    cmocka_unit_test(limits_of_running_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
