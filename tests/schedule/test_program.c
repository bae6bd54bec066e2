/* The tree computes what the expressions compute: every example, over many ways to split its axes,
 * parts that do not divide among them. */
#include "tests/schedule/examples.h"

static void test_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, 7);
        if (fixture_build(&f) != AT_OK) fail_msg("%s: %s", examples[i]->name, f.err.text);
        fixture_compare(&f, examples[i]->name);
        fixture_close(&f);
    }
}

static void set(fixture *f, const char *name, int64_t value) {
    int slot = at_symbol_find(&f->symbols, name);
    assert_true(slot >= 0);
    f->values[slot] = value;
}

/* Parts for an axis, outer first, the outermost the ceiling; exact: only divisors. */
static void split(fixture *f, at_rng *rng, int64_t extent, bool exact, int n,
                  const char *const *parts) {
    for (int i = n - 1; i > 0; i--) {
        int64_t part;
        do part = 1 + (int64_t)at_rng_below(rng, (uint64_t)extent);
        while (exact && extent % part);
        set(f, parts[i], part);
        extent = (extent + part - 1) / part;
    }
    set(f, parts[0], extent);
}

typedef struct splits {
    const char *axis; /* its extent */
    const char *parts[3];
} splits;

static void try_splits(const example *e, const splits *list, int n, bool exact, int tries) {
    fixture f;
    fixture_open(&f, e);
    at_rng rng;
    at_rng_seed(&rng, 3, 1);
    for (int i = 0; i < tries; i++) {
        char what[200];
        at_text text = {0};
        for (int k = 0; k < n; k++) {
            int parts = list[k].parts[2] ? 3 : 2;
            at_expr *extent;
            assert_ok(&f, at_expr_parse_text(f.arena, list[k].axis, "axis", &extent, &f.err));
            int64_t whole = extent->op == AT_X_NAME ? fixture_value(&f, list[k].axis)
                                                    : fixture_value(&f, extent->arg[0]->name) /
                                                          fixture_value(&f, extent->arg[1]->name);
            split(&f, &rng, whole, exact, parts, list[k].parts);
            for (int p = 0; p < parts; p++)
                at_text_addf(&text, "%s=%lld ", list[k].parts[p],
                             (long long)fixture_value(&f, list[k].parts[p]));
        }
        if (at_symbol_find(&f.symbols, "B") >= 0) set(&f, "B", fixture_value(&f, "xi"));
        snprintf(what, sizeof what, "%s %s", e->name, at_text_str(&text));
        at_text_free(&text);
        fixture_fill(&f, (uint64_t)i);
        if (fixture_build(&f) != AT_OK) fail_msg("%s: %s", what, f.err.text);
        fixture_compare(&f, what);
    }
    fixture_close(&f);
}

static const splits gemm[] = {
    {"Y", {"yt", "yo", "yi"}}, {"X", {"xt", "xo", "xi"}}, {"K", {"ko", "ki"}}};

static void test_gemm_factors(void **state) {
    (void)state;
    try_splits(&conv_gemm, gemm, 3, true, 40);
    try_splits(&notes_gemm, gemm, 3, true, 20);
}

static void test_gemm_tails(void **state) {
    (void)state;
    try_splits(&conv_tails, gemm, 3, false, 60);
    try_splits(&notes_gemm, gemm, 3, false, 30);
}

static void test_fused(void **state) {
    (void)state;
    const splits direct[] = {{"OW", {"ow", "iw"}}}, notes[] = {{"W", {"ow", "iw"}}};
    try_splits(&conv_direct, direct, 1, false, 12);
    try_splits(&notes_direct, notes, 1, false, 8);
}

static void test_dyn(void **state) {
    (void)state;
    const splits blocks[] = {{"Y", {"yo", "yi"}}, {"X/R", {"xo", "xi"}}};
    const splits notes[] = {{"Y", {"yt", "yo", "yi"}}, {"X/xi", {"xt", "xo"}}};
    try_splits(&sparse, blocks, 2, false, 30);
    try_splits(&notes_sparse, notes, 2, false, 20);
}

/* ---- what the interpreter refuses
 * ---------------------------------------------------------------- */

static void expect_run(const char *sizes, const char *compute, const char *tree, const char *text) {
    fixture f;
    example e = {"t", sizes, compute, tree};
    fixture_open(&f, &e);
    fixture_fill(&f, 1);
    assert_ok(&f, at_program_build(f.arena, f.tree, f.values, &f.program, &f.err));
    assert_int_equal(at_program_interpret(f.arena, f.program, f.found, &f.err), AT_E_INPUT);
    assert_string_equal(f.err.text, text);
    fixture_close(&f);
}

static void test_poison(void **state) {
    (void)state;
    const char *compute = "x[Y] : input\n"
                          "a[y:Y] = x[y]\n"
                          "b[y:Y] = a[y] + a[Y-1-y]\n";
    /* rule 3: the reader comes first */
    expect_run("Y=4, y0=2, y1=2", compute, "y => @b = y\ny => @a = y\n",
               "@b reads a[0], which is not computed at that time");
    /* rule 5: the other half is computed in the next iteration; what the one before left is gone */
    expect_run("Y=4, y0=2, y1=2", compute,
               "y0 =>\n    y1 =>\n        @a = {y0, y1}/y\n    y1 =>\n        @b = {y0, y1}/y\n",
               "@b reads a[3], which is not computed at that time");
    expect_run("Y=4", "x[Y] : input\nb[y:Y] = x[y + 1]\n", "y =>\n    @b = y\n",
               "t:2: \"b\" reads x[4], outside of dimension 1 with extent 4");
    /* rule 6 */
    expect_run("Y=2", "x[Y] : input\nb[y:1] = sum(k:Y) x[k]\n",
               "k =>\n    @b = 0 // k\n@b.init = 0\n", "@b is reduced before its init");
}

/* ---- text
 * ------------------------------------------------------------------------------------------ */

static void test_print(void **state) {
    (void)state;
    fixture f;
    at_text out = {0};
    fixture_open(&f, &conv_gemm);
    fixture_set(&f, "yt=5, yo=1, yi=7, xt=2, xo=1, xi=3");
    assert_ok(&f, fixture_build(&f));
    at_program_print(&out, f.program, false);
    assert_string_equal(at_text_str(&out), "p:2, b:3, k:27 =>\n"
                                           "    @packw = p, k, b\n"
                                           "yt:5, xt:2 =>\n"
                                           "    yi:7, k9:9, ci:3 vec =>\n"
                                           "        @im2col = {yt, yi}/y, {k9, ci}/k  # (x2)\n"
                                           "    ko:3, ki:9 unroll, yi:7 unroll, xi:3 vec =>\n"
                                           "        @acc = {yt, yi}/y, {xt, xi}/x  // {ko, ki}/k\n"
                                           "    yi:7 unroll, xi:3 vec =>\n"
                                           "        @out = {yt, yi}/y, {xt, xi}/x\n");
    fixture_close(&f);
    at_text_clear(&out);
    fixture_open(&f, &sparse);
    assert_ok(&f, fixture_build(&f));
    at_program_print(&out, f.program, true);
    assert_string_equal(at_text_str(&out), "yo:2, xo:2, xi:2 =>\n"
                                           "    yi:3 unroll, r:2 vec, c:3 unroll =>\n"
                                           "        @cc.init = {yo, yi}/y, {xo, xi}/xr, r, c\n"
                                           "    e:dyn(xr), yi:3 unroll, r:2 vec, c:3 unroll =>\n"
                                           "        @cc = {yo, yi}/y, {xo, xi}/xr, r, c  // e\n"
                                           "    yi:3, r:2 =>\n"
                                           "        @out.init = {yo, yi}/y, {xo, xi, r}/x\n"
                                           "        c:3 =>\n"
                                           "            @out = {yo, yi}/y, {xo, xi, r}/x  // c\n");
    fixture_close(&f);
    at_text_clear(&out);
    fixture_open(&f, &conv_direct);
    assert_ok(&f, fixture_build(&f));
    at_program_print(&out, f.program, false);
    assert_string_equal(at_text_str(&out),
                        "{n:2, O:2, h:5} para =>\n"
                        "    C:2, kh:3, iic:3, kw:2 unroll, iw:7 unroll, b:4 vec =>\n"
                        "        @acc = n, O, h, iw, b  // {C, iic}/ic, kh, kw\n"
                        "    iw:7 unroll, b:4 vec =>\n"
                        "        @out = n, O, h, iw, b\n");
    at_text_free(&out);
    fixture_close(&f);
}

/* Inits of sums that stand together, each one loop that runs once further inside than the last:
 * whoever reads what is printed puts them all there by himself, and nothing is looked at again for
 * each of those outside of it. */
static void test_print_nested_inits(void **state) {
    (void)state;
    enum { SUMS = 60 };
    fixture f;
    at_text compute = {0}, tree = {0}, sums = {0}, out = {0};
    at_text_add(&compute, "x[Y] : input\n");
    at_text_add(&sums, "k:4 =>\n");
    for (int i = 0; i < SUMS; i++) {
        at_text_addf(&compute, "s%d[y:1] = sum(k:Y) x[k]\n", i);
        at_text_addf(&tree, "%*su%d:1 =>\n%*s@s%d.init = 0\n", 4 * i, "", i, 4 * i + 4, "", i);
        at_text_addf(&sums, "    @s%d = 0  // k\n", i);
    }
    at_text_addf(&tree, "%*sk:4 =>\n", 4 * SUMS, "");
    for (int i = 0; i < SUMS; i++) at_text_addf(&tree, "%*s@s%d = 0 // k\n", 4 * SUMS + 4, "", i);
    example e = {"t", "Y=4", at_text_str(&compute), at_text_str(&tree)};
    fixture_open(&f, &e);
    assert_ok(&f, fixture_build(&f));
    at_program_print(&out, f.program, false);
    assert_string_equal(at_text_str(&out), at_text_str(&sums));
    fixture_close(&f);
    at_text_free(&compute);
    at_text_free(&tree);
    at_text_free(&sums);
    at_text_free(&out);
}

/* An init written by hand replaces the generated one, and may stand further out. */
static void test_explicit_init(void **state) {
    (void)state;
    const char *tree = "yt, yo, yi, x =>\n"
                       "    @ccache.init = {yt, yo, yi}/y, x\n"
                       "yt, xt, yo =>\n"
                       "    yi, k9, ci:vec =>\n"
                       "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
                       "    xo =>\n"
                       "        ko, ki, yi:unroll, xi:vec =>\n"
                       "            @ccache = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
                       "        yi, xi =>\n"
                       "            @cout = {yt, yo, yi}/y, {xt, xo, xi}/x\n";
    fixture f;
    example e = notes_gemm;
    e.tree = tree;
    fixture_open(&f, &e);
    fixture_fill(&f, 5);
    assert_ok(&f, fixture_build(&f));
    fixture_compare(&f, "explicit init");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),      cmocka_unit_test(test_gemm_factors),
        cmocka_unit_test(test_gemm_tails),    cmocka_unit_test(test_fused),
        cmocka_unit_test(test_dyn),           cmocka_unit_test(test_poison),
        cmocka_unit_test(test_print),         cmocka_unit_test(test_print_nested_inits),
        cmocka_unit_test(test_explicit_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
