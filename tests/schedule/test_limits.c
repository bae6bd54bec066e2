/* The limits of each element beside the naive C: by hand, of integers, of steps and of neighbours.
 */
#include "tests/schedule/examples.h"

#include <math.h>
#include <string.h>

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
        if (x->is_output) *n = at_tensor_elements(x, extents[t]);
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
    fixture_text(&f, "N=4", text);
    f.data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
    for (int t = 0; t < 2; t++) {
        f.data[t].f = AT_NEW_ARRAY(f.arena, float, 4);
        for (int i = 0; i < 4; i++)
            f.data[t].f[i] = t == 0 ? (float)(i + 1) : i % 2 ? -0.25f : 0.5f;
    }
    run_limits(&f, &values, &limits, &n);
    double got = (double)limits[at] / (8 * 0x1p-24);
    if ((double)values[at] != value || !isinf(got) != !isinf(limit) ||
        fabs(got - limit) > 1e-6 * limit)
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
            char text[200], sum[100];
            snprintf(sum, sizeof sum, forms[k], again ? "0 + " : "");
            snprintf(text, sizeof text, "x[N, K] : input\no[i:N, j:K] = %s", sum);
            fixture_text(g, "N=40, K=3", text);
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
            char text[200];
            snprintf(text, sizeof text, "x[K, J] : input\nw[I, K] : input\no[%s] = %s",
                     turned ? "j:J, i:I" : "i:I, j:J", terms[t]);
            fixture_text(g, "I=3, J=70, K=37", text);
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
    fixture_text(&f, "N=4096", text);
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

/* What is infinite is just that. What is only too large for a float is infinite or no number in a
 * kernel, which the largest float as a limit says (base/agree.h). */
static void limits_of_no_float(void **state) {
    const double either = (double)3.4028235e38f / (8 * 0x1p-24);
    (void)state;
    check_limit(INPUTS "o[i:N] = x[i]/(x[i] - 1)", 0, INFINITY, 0);
    check_limit(INPUTS "o[i:N] = x[i]*1e30*1e30", 0, INFINITY, either);
    /* What is infinite by a factor that may be 0 in a kernel may be anything, whatever is made of
     * it. */
    check_limit(INPUTS "o[i:N] = exp(x[i]*-95)*(w[i]/(x[i] - 1))", 0, INFINITY, INFINITY);
    check_limit(INPUTS "p[i:N] = exp(x[i]*-95)*(w[i]/(x[i] - 1))\no[i:N] = tanh(p[i]/x[3])", 0, 1,
                INFINITY);
    check_limit(INPUTS "o[i:N] = exp(x[i]*-80)*(w[i]/(x[i] - 1))", 0, INFINITY, 0);
    check_limit(INPUTS "s[i:N] = x[i]*w[i]\nm[i:1] = max(k:N) s[k]\n"
                       "e[i:N] = exp((s[i] - m[0])*95)\n"
                       "o[i:1] = sum(k:N) e[k]*(x[k]/(w[k] - 0.5))",
                0, INFINITY, INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_examples),     cmocka_unit_test(limits_by_hand),
        cmocka_unit_test(limits_of_places),       cmocka_unit_test(limits_of_steps),
        cmocka_unit_test(limits_of_neighbours),   cmocka_unit_test(limits_of_no_float),
        cmocka_unit_test(limits_together),        cmocka_unit_test(limits_of_integers),
        cmocka_unit_test(limits_of_running_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
