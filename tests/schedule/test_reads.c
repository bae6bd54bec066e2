/* Reads outside of tensors are found without running anything: exact messages, and on random
 * computations the verdict of the interpreter, which looks at every point. SEED and COUNT in the
 * environment choose others. */
#include "tests/schedule/examples.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

static void open_text(fixture *f, const char *sizes, const char *text) {
    fixture_sizes(f, sizes);
    assert_ok(f, at_compute_parse(f->arena, &f->symbols, text, "c", &f->compute, &f->err));
}

/* ---- messages -------------------------------------------------------------------------------- */

static const struct {
    const char *text, *message; /* NULL: accepted */
} cases[] = {
    {"a[N] : input\nb[x:N] = a[x]\n", NULL},
    {"a[N] : input\nb[x:N] = a[x+3]\n",
     "c:2:10: \"b\" reads a[x + 3] at index 16 where x = 13; the extent is 16, so 0 to 15 are "
     "accepted\nb[x:N] = a[x+3]\n         ^"},
    {"bias[C] : weight\nb[x:N, c:C] = bias[c+1]\n",
     "c:2:15: \"b\" reads bias[c + 1] at index 8 where c = 7; the extent is 8, so 0 to 7 are "
     "accepted\nb[x:N, c:C] = bias[c+1]\n              ^"},
    {"a[N] : input\nb[x:N] = a[x-P+1]\n",
     "c:2:10: \"b\" reads a[x - P + 1] at index -1 where x = 0; the extent is 16, so 0 to 15 are "
     "accepted\nb[x:N] = a[x-P+1]\n         ^"},
    {"a[N] : input\nb[x:N] = x >= P ? a[x-P] : 0\n", NULL},
    {"a[N] : input\nb[x:N] = x + 1 >= P ? a[x-P] : 0\n",
     "c:2:23: \"b\" reads a[x - P] at index -1 where x = 1; the extent is 16, so 0 to 15 are "
     "accepted\nb[x:N] = x + 1 >= P ? a[x-P] : 0\n                      ^"},
    /* a guard one too wide; the index as it was written */
    {"a[N, C] : input\nb[x:N, k:3] = in ? a[i, 1] : 0\n    where i = x + k - 1, in = 0 <= i && "
     "i <= N\n",
     "c:2:20: \"b\" reads a[i, 1] at index 16 of dimension 1 where x = 15, k = 2; the extent is "
     "16, so 0 to 15 are accepted\nb[x:N, k:3] = in ? a[i, 1] : 0\n                   ^"},
    {"a[N, C] : input\nb[x:N, k:3] = in ? a[i, 1] : 0\n    where i = x + k - 1, in = 0 <= i && "
     "i < N\n",
     NULL},
    /* not affine */
    {"a[25] : input\nb[h:H, k:3] = a[h*h + k]\n",
     "c:2:15: \"b\" reads a[h*h + k] at index 25 where h = 5, k = 0; the extent is 25, so 0 to 24 "
     "are accepted\nb[h:H, k:3] = a[h*h + k]\n              ^"},
    {"a[27] : input\nb[h:H, k:3] = a[h*h + k]\n", "c:2:15: \"b\" reads a[h*h + k] at index 27"},
    {"a[(H-1)*(H-1)+3] : input\nb[h:H, k:3] = a[h*h + k]\n", NULL},
    {"a[H] : input\nb[h:H, k:H] = h*k < H ? a[h*k] : 0\n", NULL},
    {"a[H] : input\nb[h:H, k:H] = h*k <= H ? a[h*k] : 0\n", "at index 6 where h = 2, k = 3"},
    {"a[N] : input\nb[x:N] = a[min(x + 5, N - 1)] + a[max(x - 5, 0)]\n", NULL},
    {"a[N] : input\nb[x:N] = a[min(x + 5, N)]\n", "at index 16 where x = 11"},
    {"a[N] : input\nb[x:N] = a[x < N/2 ? x + N/2 : x - N/2]\n", NULL},
    {"a[N] : input\nb[x:N] = a[x <= N/2 ? x + N/2 : x - N/2]\n", "at index 16 where x = 8"},
    {"a[N] : input\nb[x:N] = a[-x]\n", "at index -1 where x = 1"},
    {"a[N] : input\nb[x:N] = a[N - 1 - x] + a[x - x/4*4]\n", NULL},
    {"a[3] : input\nb[x:N] = a[x%3] + a[x/6]\n", NULL},
    {"a[3] : input\nb[x:N] = a[x/5]\n", "at index 3 where x = 15"},
/* computed integers: of an argmax, of values, of a list */
#define OF_ROWS "a[N, C] : input\nm[x:N] = max(c:C) a[x, c]\n"
    {OF_ROWS "f[x:N] : s32 = max(c:C) a[x, c] == m[x] ? c : 0\nb[x:N] = a[x, f[x]]\n", NULL},
    {OF_ROWS "f[x:N] : s32 = min(c:C) a[x, c] == m[x] ? c : C\nb[x:N] = a[x, f[x]]\n",
     "c:4:10: \"b\" reads a[x, f[x]]: its index of dimension 2 cannot be shown to lie within 0 to "
     "7; a condition, min or max bounds it\nb[x:N] = a[x, f[x]]\n         ^"},
    {OF_ROWS "f[x:N] : s32 = min(c:C) a[x, c] == m[x] ? c : C\n"
             "b[x:N] = f[x] < C ? a[x, f[x]] : 0\n",
     NULL},
    {OF_ROWS "f[x:N] : s32 = max(c:C) a[x, c] == m[x] ? c : -1\n"
             "b[x:N] = a[x, f[x] + 1]\n",
     " cannot be shown"},
    {OF_ROWS "f[x:N] : s32 = max(c:C - 1) a[x, c] == m[x] ? c : -1\n"
             "b[x:N] = a[x, f[x] + 1]\n",
     NULL},
    {"a[N] : input\nf[x:N] : s32 = round(min(max(a[x], 0), 15))\nb[x:N] = a[f[x]]\n", NULL},
    {"a[N] : input\nf[x:N] : s32 = round(min(a[x], 15))\nb[x:N] = a[f[x]]\n", " cannot be shown"},
    {"a[N] : input\nf[x:N] : s32 = round(max(-max(a[x], 0), 0))\nb[x:N] = a[f[x]]\n",
     " cannot be shown"}, /* what is no number becomes the least */
    {"a[N] : input\nf[x:N] : s32 = round(a[x])\nb[x:N] = a[min(max(f[x] + x, 0), N - 1)]\n", NULL},
    {"a[N] : input\nf[x:N] : s32 = x*3/2 % N\nb[x:N] = a[f[N - 1 - x]]\n", NULL},
    {"a[N] : input\nf[x:N] : s32 = x*3/2\nb[x:N] = a[f[x]]\n", " cannot be shown"},
    {"l[N] : index\na[N] : input\nf[x:N] : s32 = l[x] + 1\nb[x:N] = a[f[x]]\n", NULL},
    /* what is whole once it is rounded, and what an end becomes as a float */
    {"a[3] : input\nf[x:N] : s32 = floor(min(max(a[0], 0), 2.6))\nb[x:N] = a[f[x]]\n", NULL},
    {"a[3] : input\nf[x:N] : s32 = round(min(max(a[0], 0), 2.6))\nb[x:N] = a[f[x]]\n",
     " cannot be shown"},
    {"a[3] : input\nf[x:N] : s32 = ceil(min(max(a[0], 0), 2.2))\nb[x:N] = a[f[x]]\n",
     " cannot be shown"},
    {"a[3] : input\nf[x:N] : s32 = floor(min(max(a[0], -0.5), 2))\nb[x:N] = a[f[x]]\n",
     " cannot be shown"},
    {"a[16777220] : input\nf[x:N] : s32 = round(min(max(a[0], 0), 16777219))\nb[x:N] = "
     "a[f[x]]\n",
     " cannot be shown"},
    {"a[16777221] : input\nf[x:N] : s32 = round(min(max(a[0], 0), 16777219))\nb[x:N] = "
     "a[f[x]]\n",
     NULL},
    /* of no term the largest is the least integer */
    {"a[N] : input\nf[x:N] : s32 = max(k:0..x) k%N\nb[x:N] = a[f[x]]\n", " cannot be shown"},
    {"a[N] : input\nf[x:N] : s32 = max(k:0..x) k%N\nb[x:N] = a[max(f[x], 0)]\n", NULL},
    /* borders that are left out, in either form, are no matter of single points */
    {"u[18, 512, 512] : input\nb[t:18, y:512, x:512] = t == 0 ? u[0, y, x] : y == 0 || y == 511 || "
     "x == 0 || x == 511 ? u[t - 1, y, x] : u[t - 1, y - 1, x] + u[t - 1, y, x + 1]\n",
     NULL},
    {"u[18, 512, 512] : input\nb[t:18, y:512, x:512] = t != 0 && !(y == 0 || 511 == y) && x != 0 "
     "&& "
     "x < 511 ? u[t - 1, y + 1, x] + u[t - 1, y, x - 1] + u[t - 1, y, x + 1] : 0\n",
     NULL},
    {"u[18, 512, 512] : input\nb[t:18, y:512, x:512] = t != 0 && y != 0 && x != 0 ? "
     "u[t - 1, y - 1, x] + u[t - 1, y, x + 1] : 0\n",
     "at index 512 of dimension 3 where"},
    /* one or the other */
    {"a[N] : input\nb[x:N, k:3] = x + k == 0 || x + k > N ? 0 : a[x + k - 1]\n", NULL},
    {"a[N] : input\nb[x:N, k:3] = x + k > N ? 0 : a[x + k - 1]\n",
     "at index -1 where x = 0, k = 0"},
    {"a[N] : input\nb[x:N] = !(x < 2) && a[x-2] > 0.0 ? 1 : 0\n", NULL},
    {"a[N] : input\nb[x:N] = a[x-2] > 0.0 && !(x < 2) ? 1 : 0\n", "at index -2 where x = 0"},
    /* a sum's range */
    {"a[N] : input\nb[x:N] = sum(k : x .. N) a[k]\n", NULL},
    {"a[N] : input\nb[x:N] = sum(k : x .. N+1) a[k]\n", "at index 16 where x = 0, k = 16"},
    {"a[N] : input\nb[x:N] = sum(k : x-1 .. N) a[k]\n", "at index -1 where x = 0, k = -1"},
    /* conditions over values guard nothing */
    {"a[N] : input\nb[x:N] = a[x] > 0.0 ? a[x+1] : 0\n", "at index 16 where x = 15"},
    {"a[N] : input\nm[x:N] = a[x]\nb[x:N] = m[0] + m[N]\n",
     "c:3:17: \"b\" reads m[N] at index 16; the extent is 16, so 0 to 15 are accepted\n"
     "b[x:N] = m[0] + m[N]\n                ^"},
    {"a[0] : input\nb[x:N] = a[x]\n",
     "c:2:10: \"b\" reads a[x] at index 0 where x = 0; the extent is 0\n"
     "b[x:N] = a[x]\n         ^"},
    /* 64 bits */
    {"a[N] : input\nb[x:N] = a[x*4611686018427387904/4611686018427387904]\n",
     "c:2:10: \"b\" reads a[x*4611686018427387904/4611686018427387904]: its index exceeds 2^63 "
     "where x = 2\n"
     "b[x:N] = a[x*4611686018427387904/4611686018427387904]\n         ^"},
    {"a[N] : input\nb[x:N] = x*9223372036854775807 > 5 ? a[x] : 0\n",
     "c:2:11: \"b\": x*9223372036854775807 exceeds 2^63 where x = 2\n"
     "b[x:N] = x*9223372036854775807 > 5 ? a[x] : 0\n          ^"},
    {"a[N] : input\nb[x:N] = x < 2 ? a[x]*(x*9223372036854775807) : 0\n", NULL},
    {"a[N] : input\nb[x:N] = a[x]*(x*9223372036854775807)\n",
     "c:2:17: \"b\": x*9223372036854775807 exceeds 2^63 where x = 2"},
};

static void messages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_text(&f, "N=16, C=8, H=6, P=2", cases[i].text);
        at_status s = at_compute_check_reads(f.compute, f.values, NULL, NULL, &f.err);
        const char *wanted = cases[i].message;
        if (!wanted && s != AT_OK) fail_msg("%s\nrefused: %s", cases[i].text, f.err.text);
        if (wanted && (s != AT_E_INPUT || !strstr(f.err.text, wanted) ||
                       (wanted[0] == 'c' && strncmp(f.err.text, wanted, strlen(wanted)))))
            fail_msg("%s\nsaid: %s\nexpected: %s", cases[i].text, s ? f.err.text : "fine", wanted);
        fixture_close(&f);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

static const char gather[] = "table[N, C] : weight\n"
                             "rows[M]     : index\n"
                             "b[m:M, c:C] = table[rows[m], c]\n";
static const char guarded[] = "table[N, C] : weight\n"
                              "rows[M]     : index\n"
                              "b[m:M, c:C] = 0 <= rows[m] && rows[m] < N ? table[rows[m], c] : 0\n";

static void data_decide(void **state) {
    (void)state;
    int32_t rows[] = {3, 0, 15, 7};
    at_data data[3] = {{0}, {.i = rows}, {0}};
    fixture f;
    open_text(&f, "N=16, C=8, M=4", gather);
    assert_ok(&f, at_compute_check_reads(f.compute, f.values, NULL, NULL, &f.err));
    assert_ok(&f, at_compute_check_reads(f.compute, f.values, data, NULL, &f.err));
    rows[3] = 16;
    assert_int_equal(at_compute_check_reads(f.compute, f.values, data, NULL, &f.err), AT_E_INPUT);
    assert_string_equal(
        f.err.text, "c:3:15: \"b\" reads table[rows[m], c] at index 16 of dimension 1 where m = "
                    "3; the extent is 16, so 0 to 15 are accepted\n"
                    "b[m:M, c:C] = table[rows[m], c]\n              ^");
    fixture_close(&f);
    open_text(&f, "N=16, C=8, M=4", guarded);
    assert_ok(&f, at_compute_check_reads(f.compute, f.values, data, NULL, &f.err));
    fixture_close(&f);
}

/* Billions of entries take long to look through: who asked for an end is not kept waiting. */
static void stopped(void **state) {
    (void)state;
    enum { M = 3 << 20 };
    int32_t *rows = calloc(M, sizeof *rows);
    at_data data[3] = {{0}, {.i = rows}, {0}};
    at_index_range r[3];
    const volatile int stop = 1;
    fixture f;
    open_text(&f, "N=16, C=8, M=3145728", gather);
    rows[M - 1] = 16;
    assert_int_equal(at_compute_check_reads(f.compute, f.values, data, &stop, &f.err),
                     AT_E_INTERRUPTED);
    assert_int_equal(at_compute_index_ranges(f.arena, f.compute, f.values, r, &stop, &f.err),
                     AT_E_INTERRUPTED);
    assert_int_equal(at_compute_check_reads(f.compute, f.values, data, NULL, &f.err), AT_E_INPUT);
    fixture_close(&f);
    free(rows);
}

/* Guards that contradict each other leave nothing to look up (found with SEED=11, under ASan). */
static void contradiction(void **state) {
    (void)state;
    int32_t rows[] = {3, 0, 15, 7};
    at_data data[3] = {{0}, {.i = rows}, {0}};
    fixture f;
    open_text(&f, "N=16, C=8, M=4",
              "table[N, C] : weight\n"
              "rows[M]     : index\n"
              "b[m:M, c:C] = m > 5 && m < 2 ? table[rows[m] - 5, c] : 0\n");
    assert_ok(&f, at_compute_check_reads(f.compute, f.values, data, NULL, &f.err));
    fixture_close(&f);
}

static void sparse_bounds(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &sparse);
    fixture_fill(&f, 1);
    assert_ok(&f, at_compute_check_reads(f.compute, f.values, f.data, NULL, &f.err));
    int indptr = at_compute_find(f.compute, "indptr");
    int64_t **extents;
    assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
    f.data[indptr].i[extents[indptr][0] - 1]++; /* one stored block more than there are */
    assert_int_equal(at_compute_check_reads(f.compute, f.values, f.data, NULL, &f.err), AT_E_INPUT);
    assert_non_null(strstr(f.err.text, "reads indices[e] at index"));
    fixture_close(&f);
}

static void all_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, 1);
        assert_ok(&f, at_compute_check_reads(f.compute, f.values, f.data, NULL, &f.err));
        fixture_close(&f);
    }
}

/* A large box that bounds do not cover is given up in time, not walked through. */
static void no_proof(void **state) {
    (void)state;
    fixture f;
    /* 1000003 is prime: no product of smaller numbers is 0 modulo it. */
    open_text(&f, "N=1000002", "a[N] : input\nb[x:N, y:N] = a[(x + 1)*(y + 1)%1000003 - 1]\n");
    assert_int_equal(at_compute_check_reads(f.compute, f.values, NULL, NULL, &f.err), AT_E_INPUT);
    assert_non_null(strstr(f.err.text, ": its index cannot be shown to lie within 0 to 1000001; a "
                                       "condition, min or max bounds it\n"));
    fixture_close(&f);
}

/* ---- random computations --------------------------------------------------------------------- */

typedef struct maker {
    at_rng rng;
    at_text text;
} maker;

static int below(maker *m, int n) { return (int)at_rng_below(&m->rng, (uint64_t)n); }

static void add_index(maker *m, int depth) {
    static const char *const names[] = {"x", "y", "k", "N", "M"};
    static const char *const operators[] = {"+", "+", "-", "-", "*", "/", "%"};
    int what = below(m, depth > 0 ? 12 : 4);
    if (what < 3) at_text_add(&m->text, names[below(m, below(m, 3) ? 3 : 5)]);
    else if (what == 3) at_text_addf(&m->text, "%d", below(m, 6));
    else if (what == 4) {
        at_text_add(&m->text, below(m, 2) ? "min(" : "max(");
        add_index(m, depth - 1);
        at_text_add(&m->text, ", ");
        add_index(m, depth - 1);
        at_text_add(&m->text, ")");
    } else if (what == 5) {
        at_text_add(&m->text, "rows[");
        add_index(m, depth - 1);
        at_text_add(&m->text, "]");
    } else {
        int op = below(m, 7);
        at_text_add(&m->text, "(");
        add_index(m, depth - 1);
        at_text_addf(&m->text, " %s ", operators[op]);
        if (op >= 5) at_text_addf(&m->text, "%d", 1 + below(m, 5));
        else add_index(m, depth - 1);
        at_text_add(&m->text, ")");
    }
}

static void add_condition(maker *m, const char *index, int depth) {
    static const char *const comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
    int what = below(m, depth > 0 ? 6 : 3);
    if (what == 5) {
        at_text_add(&m->text, "!(");
        add_condition(m, index, depth - 1);
        at_text_add(&m->text, ")");
    } else if (what > 2) {
        at_text_add(&m->text, "(");
        add_condition(m, index, depth - 1);
        at_text_add(&m->text, below(m, 3) ? " && " : " || ");
        add_condition(m, index, depth - 1);
        at_text_add(&m->text, ")");
    } else {
        if (below(m, 3)) at_text_add(&m->text, index);
        else add_index(m, 1);
        at_text_addf(&m->text, " %s ", comparisons[below(m, 6)]);
        if (below(m, 2)) at_text_addf(&m->text, "%d", below(m, 8));
        else add_index(m, 1);
    }
}

/* Mostly what might be right: an index and the two conditions that bound it, one of them sometimes
 * a little off. */
static void make(maker *m) {
    at_text index = {0}, text = {0};
    add_index(m, 2);
    index = m->text;
    m->text = (at_text){0};
    bool dynamic = !below(m, 4);
    at_text_addf(&text, "a[%d] : input\nrows[4] : index\nb[x:N, y:M] = sum(k : %s) ",
                 4 + below(m, 5),
                 dynamic ? below(m, 2) ? "rows[y%4] .. rows[x%3 + 1]" : "x .. M + 1" : "0 .. 3");
    if (below(m, 8)) {
        if (below(m, 2))
            at_text_addf(&text, "0 <= %s && %s < %d ? ", at_text_str(&index), at_text_str(&index),
                         4 + below(m, 5));
        else {
            add_condition(m, at_text_str(&index), 2);
            at_text_addf(&text, "%s ? ", at_text_str(&m->text));
        }
        at_text_addf(&text, "a[%s] : 0\n", at_text_str(&index));
    } else at_text_addf(&text, "a[%s]\n", at_text_str(&index));
    at_text_free(&m->text);
    at_text_free(&index);
    m->text = text;
}

static void random_computations(void **state) {
    (void)state;
    int seed = (int)setting("SEED", 1), count = (int)setting("COUNT", 4000), good = 0, bad = 0;
    for (int i = 0; i < count; i++) {
        maker m = {0};
        fixture f;
        at_error wrong = {0};
        int32_t rows[4];
        float a[16] = {0};
        at_rng_seed(&m.rng, (uint64_t)seed, (uint64_t)i);
        make(&m);
        for (int r = 0; r < 4; r++) rows[r] = below(&m, 8) - (below(&m, 9) ? 0 : 4);
        fixture_sizes(&f, "N=5, M=4");
        if (at_compute_parse(f.arena, &f.symbols, at_text_str(&m.text), "c", &f.compute, &f.err))
            fail_msg("%s", f.err.text);
        at_data data[3] = {{.f = a}, {.i = rows}, {0}};
        at_status expected = at_compute_interpret(f.arena, f.compute, f.values, data, &wrong);
        at_status found = at_compute_check_reads(f.compute, f.values, data, NULL, &f.err);
        if (found != expected)
            fail_msg("SEED=%d, number %d:\n%schecked: %s\nrun: %s", seed, i, at_text_str(&m.text),
                     found ? f.err.text : "fine", expected ? wrong.text : "fine");
        if (found) bad++;
        else good++;
        at_text_free(&m.text);
        fixture_close(&f);
    }
    /* Both verdicts are met often. */
    assert_true(good > count / 5);
    assert_true(bad > count / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),      cmocka_unit_test(data_decide),
        cmocka_unit_test(stopped),       cmocka_unit_test(contradiction),
        cmocka_unit_test(sparse_bounds), cmocka_unit_test(all_examples),
        cmocka_unit_test(no_proof),      cmocka_unit_test(random_computations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
