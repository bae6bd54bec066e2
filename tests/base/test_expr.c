/* tests/base/test_expr.c: tokens; expressions parsed, printed and evaluated; random ones there and
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static at_expr *parse(const char *text) {
    at_expr *e;
    at_error err;
    if (at_expr_parse_text(arena, text, "t", &e, &err) != AT_OK) fail_msg("%s", err.text);
    return e;
}

static const char *printed(const at_expr *e) {
    at_text t = {0};
    at_expr_print(&t, e);
    return at_text_take(arena, &t);
}

/* ---- tokens
 * -------------------------------------------------------------------------------------- */

static void tokens_of_a_loop_tree(void **state) {
    (void)state;
    static const struct {
        const char *text;
        at_token kind;
        int line, col;
    } known[] = {
        {"yt", AT_TOK_NAME, 1, 1}, {",", AT_TOK_OP, 1, 3},        {"xt", AT_TOK_NAME, 1, 5},
        {"=>", AT_TOK_OP, 1, 8},   {"@", AT_TOK_OP, 2, 5},        {"acc", AT_TOK_NAME, 2, 6},
        {"=", AT_TOK_OP, 2, 10},   {"{", AT_TOK_OP, 2, 12},       {"ko", AT_TOK_NAME, 2, 13},
        {"}", AT_TOK_OP, 2, 15},   {"/", AT_TOK_OP, 2, 16},       {"k", AT_TOK_NAME, 2, 17},
        {"//", AT_TOK_OP, 2, 20},  {"0", AT_TOK_INT, 4, 2},       {"..", AT_TOK_OP, 4, 3},
        {"H", AT_TOK_NAME, 4, 5},  {"1.5e3", AT_TOK_FLOAT, 4, 7}, {"\"a b\"", AT_TOK_STRING, 4, 13},
        {">=", AT_TOK_OP, 4, 19},  {">", AT_TOK_OP, 4, 21},       {"", AT_TOK_END, 4, 22},
    };
    at_lex l;
    at_error err;
    const char *text = "yt, xt =>\n    @acc = {ko}/k  // \n\n 0..H 1.5e3 \"a b\" >=>\n";
    assert_int_equal(at_lex_start(&l, text, "t", &err), AT_OK);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(l.kind, known[i].kind);
        assert_int_equal(l.length, strlen(known[i].text));
        assert_memory_equal(l.start, known[i].text, (size_t)l.length);
        assert_int_equal(l.line, known[i].line);
        assert_int_equal(l.col, known[i].col);
        assert_int_equal(at_lex_next(&l, &err), AT_OK);
    }
    assert_int_equal(l.kind, AT_TOK_END); /* and stays there */
}

static void names_and_operators_are_told_apart(void **state) {
    (void)state;
    at_lex l;
    at_error err;
    at_lex_start(&l, "sum < \"sum\"", "t", &err);
    assert_true(at_lex_is(&l, "sum"));
    assert_false(at_lex_is(&l, "su"));
    assert_false(at_lex_is(&l, "summ"));
    at_lex_next(&l, &err);
    assert_true(at_lex_is(&l, "<"));
    at_lex_next(&l, &err);
    assert_false(at_lex_is(&l, "\"sum\""));
}

static void errors_show_the_line(void **state) {
    (void)state;
    at_lex l;
    at_error err;
    at_lex_start(&l, "a,\n\tb c\n", "schedule of x", &err);
    for (int i = 0; i < 3; i++) at_lex_next(&l, &err);
    assert_int_equal(at_lex_fail(&l, &err, "expected '%s'", "=>"), AT_E_INPUT);
    assert_string_equal(err.text, "schedule of x:2:4: expected '=>', got 'c'\n\tb c\n\t  ^");
    at_lex_next(&l, &err);
    at_lex_fail(&l, &err, "expected more");
    assert_string_equal(err.text, "schedule of x:2:5: expected more, got the end\n\tb c\n\t   ^");
    at_lex_fail_at(&l, 1, 1, &err, "no loop \"%s\"", "a");
    assert_string_equal(err.text, "schedule of x:1:1: no loop \"a\"\na,\n^");
    /* Of a long line, the part around the place. */
    char *longer = at_alloc(arena, 400);
    memset(longer, 'x', 300);
    longer[200] = ' ';
    at_lex_start(&l, longer, "t", &err);
    at_lex_next(&l, &err);
    at_lex_fail_at(&l, l.line, l.col, &err, "here");
    const char *line = strchr(err.text, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_int_equal(caret - 1 - line, 100);
    assert_int_equal(line[strcspn(caret, "^") - 1], ' ');
}

/* ---- parsing and printing
 * ------------------------------------------------------------------------ */

static void printed_with_fewest_parentheses(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"9 * CI", "9*CI"},
        {"(N*H)*W", "N*H*W"},
        {"N*(H*W)", "N*(H*W)"},
        {"(a+b)+c-(d-e)", "a + b + c - (d - e)"},
        {"h + (kh - 1)", "h + (kh - 1)"},
        {"(a+b)*c % d / e", "(a + b)*c%d/e"},
        {"inside ? data[n, ih, iw, c] : 0", "inside ? data[n, ih, iw, c] : 0"},
        {"a ? b : c ? d : e", "a ? b : c ? d : e"},
        {"a ? (b ? c : d) : e", "a ? b ? c : d : e"},
        {"(a ? b : c) ? d : e", "(a ? b : c) ? d : e"},
        {"0<=ih && ih<H && 0<=iw && iw<W", "0 <= ih && ih < H && 0 <= iw && iw < W"},
        {"0 <= ih < H", "0 <= ih && ih < H"},
        {"1 < a <= b < c", "1 < a && a <= b && b < c"},
        {"a == b == c", "a == b && b == c"},
        {"(a < b) < c", "(a < b) < c"},
        {"(a < b) == (c < d)", "(a < b) == (c < d)"},
        {"(a < b) + 1 == c", "(a < b) + 1 == c"},
        {"a || b && c", "a || b && c"},
        {"(a || b) && !c", "(a || b) && !c"},
        {"!(a && b)", "!(a && b)"},
        {"!!-a", "!!-a"},
        {"- a * b", "-a*b"},
        {"-(a * b)", "-(a*b)"},
        {"-1", "-1"},
        {"-(1)", "-(1)"},
        {"a - -1", "a - -1"},
        {"|xi| * |yi|", "|xi|*|yi|"},
        {"|a|||  |b|", "|a| || |b|"},
        {"|a| | |b|", "|a| | |b|"},
        {"a | b & c == d", "a | b & c == d"},
        {"((a | b) & c) == d", "((a | b) & c) == d"},
        {"a<<b+1 < c>>2", "a << b + 1 < c >> 2"},
        {"a + (b << 1) >> (c >> 2)", "a + (b << 1) >> (c >> 2)"},
        {"tile_x.size[-1]*tile_y.size[1]", "tile_x.size[-1]*tile_y.size[1]"},
        {"min(a, max(b, 3))", "min(a, max(b, 3))"},
        {"min(a, b, c)", "min(min(a, b), c)"},
        {"min + max", "min + max"},
        {"exp( - a)*abs(b+1)", "exp(-a)*abs(b + 1)"},
        {"exp + abs", "exp + abs"},
        {"0.5 * a + 1e-05", "0.5*a + 1e-05"},
        {"-0.5", "-0.5"},
        {"1e16", "1e+16"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        at_expr *e = parse(pairs[i][0]);
        assert_string_equal(printed(e), pairs[i][1]);
        assert_true(at_expr_equal(parse(pairs[i][1]), e));
    }
}

/* Of what a power is made of. */
static double power_at(const at_expr *e, double x) {
    if (e->op == AT_X_NAME) return x;
    if (e->op == AT_X_FLOAT) return e->number;
    const double a = power_at(e->arg[0], x), b = e->nargs > 1 ? power_at(e->arg[1], x) : 0;
    switch (e->op) {
    case AT_X_CALL: return at_function_value((at_function)e->integer, a);
    case AT_X_MUL: return a * b;
    case AT_X_DIV: return a / b;
    case AT_X_LT: return a < b;
    case AT_X_SELECT: return a != 0 ? b : power_at(e->arg[2], x);
    default: fail_msg("operator %d in a power", e->op);
    }
    return 0;
}

static void powers_by_numbers(void **state) {
    (void)state;
    static const char *const by[] = {"0",   "1",    "2",    "7",   "32",    "33",  "40",  "0.5",
                                     "1.5", "-0.5", "-1.5", "2.2", "-0.75", "1/3", "-1",  "-2",
                                     "-7",  "-33",  "-40",  "3.0", "31.5",  "1e2", "-3/2"};
    static const double at[] = {-3, -1, -0.4, 0.3, 1, 1.7, 5};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        at_expr *e;
        at_error err;
        const double y =
            strchr(by[i], '/') ? atof(by[i]) / atof(strchr(by[i], '/') + 1) : atof(by[i]);
        const char *text = at_format(arena, "pow(x, %s)", by[i]);
        assert_int_equal(at_expr_parse_text(arena, text, "t", &e, &err), AT_OK);
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            const double is = power_at(e, at[k]), wanted = pow(at[k], y);
            if (isnan(is) != isnan(wanted) || fabs(is - wanted) > 1e-13 * fabs(wanted))
                fail_msg("pow(%g, %g) is %.17g, not %.17g", at[k], y, is, wanted);
        }
    }
}

static void refused(const char *text, const char *first_line) {
    at_expr *e = NULL;
    at_error err;
    assert_int_equal(at_expr_parse_text(arena, text, "t", &e, &err), AT_E_INPUT);
    err.text[strcspn(err.text, "\n")] = 0;
    assert_string_equal(err.text, first_line);
    assert_null(e);
}

static void each_refusal_has_its_message(void **state) {
    (void)state;
    refused("", "t:1:1: expected a value, got the end");
    refused("a +", "t:1:4: expected a value, got the end");
    refused("a b", "t:1:3: expected an operator or the end, got 'b'");
    refused("(a", "t:1:3: expected ')', got the end");
    refused("a[1", "t:1:4: expected ',' or ']', got the end");
    refused("a[]", "t:1:3: expected a value, got ']'");
    refused("a.size", "t:1:7: expected '[', got the end");
    refused("a.size[1, 2]", "t:1:8: a field takes one index");
    refused("a.[1]", "t:1:3: expected a name, got '['");
    refused("|a", "t:1:3: expected '|', got the end");
    refused("|1|", "t:1:2: expected a name, got '1'");
    refused("a ? b", "t:1:6: expected ':', got the end");
    refused("1 + sum(a)", "t:1:5: unknown function \"sum\"; there are min, max, pow, exp, log, "
                          "sqrt, rsqrt, tanh, erf, sigmoid, sin, cos, abs, floor, ceil, round, "
                          "half, f16 and bf16");
    refused("expp(a)", "t:1:1: unknown function \"expp\"; did you mean \"exp\"?");
    refused("exp(a, 2)", "t:1:1: exp takes one argument, not 2");
    refused("exp()", "t:1:1: exp needs one argument, not none");
    refused("pow(a)", "t:1:1: pow takes a value and a number, as pow(x, -1.5)");
    refused("pow(a, b)", "t:1:1: pow takes a value and a number, as pow(x, -1.5)");
    refused("pow(a, 1/0)", "t:1:1: pow takes a value and a number, as pow(x, -1.5)");
    refused("min()", "t:1:1: min needs two arguments, not none");
    refused("min(a)", "t:1:1: min needs two arguments; of all elements it is min(k:K) x[k]");
    refused("argmax(a)", "t:1:1: unknown function \"argmax\"; it takes two stages: m[y:Y] = "
                         "max(k:K) x[y, k] and p[y:Y] = min(k:K) x[y, k] == m[y] ? k : inf");
    refused("a < b == c", "t:1:7: comparing a comparison needs parentheses around it");
    refused("a == b < c", "t:1:3: comparing a comparison needs parentheses around it");
    refused("a < b < c == d", "t:1:11: comparing a comparison needs parentheses around it");
    refused("a\n +\n  $", "t:3:3: expected a value, got '$'");
    refused("9223372036854775808", "t:1:1: an integer exceeds 2^63 - 1");
    refused("1e999", "t:1:1: a number exceeds a double");
    refused("3x", "t:1:1: a number runs into a name");
    refused("\"ab", "t:1:1: a string without its closing quote");
    refused("a + \xc3\xa9", "t:1:5: a character that means nothing here");
    refused("\"ab\"", "t:1:1: expected a value, got '\"ab\"'");
    char *deep = at_alloc(arena, 100001);
    memset(deep, '(', 100000);
    refused(deep, "t:1:129: nested too deeply, got '('");
    memset(deep, '-', 100000);
    refused(deep, "t:1:256: nested too deeply, got '-'");
    for (int i = 0; i < 100000; i++) deep[i] = i % 2 ? '/' : '1';
    refused(deep, "t:1:40001: the expression exceeds 20000 terms");
}

/* ---- evaluating
 * ---------------------------------------------------------------------------------- */

static void give_refs(at_expr *e, const char *const *names, int n) {
    for (int i = 0; e->name && i < n; i++)
        if (!strcmp(e->name, names[i])) e->ref = i;
    for (int i = 0; i < e->nargs; i++) give_refs(e->arg[i], names, n);
}

static const char *const names[] = {"a", "b", "c", "big"};
static const int64_t values[] = {7, -3, 0, INT64_C(1) << 40};

static void values_of_expressions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } known[] = {
        {"1 + 2*3", 7},
        {"a/2", 3},
        {"b/2", -2},
        {"a/b", -3},
        {"a%b", -2},
        {"b%a", 4},
        {"b%-2", -1},
        {"-a", -7},
        {"!a + !c", 1},
        {"a && b", 1},
        {"c && 1/c", 0},
        {"a || 1/c", 1},
        {"c ? 1/c : 5", 5},
        {"a ? 5 : 1/c", 5},
        {"0 <= c < a", 1},
        {"b < c < b", 0},
        {"min(a, b)", -3},
        {"max(a, b)", 7},
        {"a & 5 | 8", 13},
        {"b & 255", 253},
        {"b >> 1", -2},
        {"b << 2", -12},
        {"b >> 99", -1},
        {"a == 7", 1},
        {"a != 7", 0},
        {"a >= 8", 0},
        {"a > 6", 1},
        {"|a|*2", 14},
        {"a[1] + a.size[2]", 14},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"(-9223372036854775807 - 1)%-1", 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        at_expr *e = parse(known[i].text);
        at_error err;
        int64_t v;
        give_refs(e, names, 4);
        if (at_expr_eval(e, values, &v, &err) != AT_OK) fail_msg("%s", err.text);
        assert_int_equal(v, known[i].value);
    }
}

static void values_that_do_not_exist(void **state) {
    (void)state;
    static const char *const known[][2] = {
        {"a/c", "a/c divides by zero"},
        {"1 + a%c", "a%c divides by zero"},
        {"big*big", "big*big exceeds 2^63"},
        {"9223372036854775807 + a", "9223372036854775807 + a exceeds 2^63"},
        {"b - 9223372036854775807", "b - 9223372036854775807 exceeds 2^63"},
        {"-(-9223372036854775807 - 1)", "-(-9223372036854775807 - 1) exceeds 2^63"},
        {"(-9223372036854775807 - 1)/-1", "(-9223372036854775807 - 1)/-1 exceeds 2^63"},
        {"a >> b", "a >> b shifts by less than 0"},
        {"a << b", "a << b shifts by less than 0"},
        {"a << 61", "a << 61 exceeds 2^63"},
        {"a + d", "d is no integer known here"},
        {"a + d[1]", "d[1] is no integer known here"},
        {"a + 0.5", "0.5 is no integer known here"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        at_expr *e = parse(known[i][0]);
        at_error err;
        int64_t v = 42;
        give_refs(e, names, 4);
        assert_int_equal(at_expr_eval(e, values, &v, &err), AT_E_INPUT);
        assert_string_equal(err.text, known[i][1]);
        assert_int_equal(at_expr_eval(e, values, &v, NULL), AT_E_INPUT);
    }
}

static void floor_division(void **state) {
    (void)state;
    for (int64_t x = -20; x <= 20; x++)
        for (int64_t y = -5; y <= 5; y++) {
            if (!y) continue;
            int64_t q = at_floordiv(x, y), r = at_floormod(x, y);
            assert_int_equal(q * y + r, x);
            assert_true(y > 0 ? r >= 0 && r < y : r <= 0 && r > y);
        }
    int64_t v;
    assert_true(at_mul64(INT64_C(1) << 31, INT64_C(1) << 31, &v));
    assert_int_equal(v, INT64_C(1) << 62);
    assert_false(at_mul64(INT64_C(1) << 32, INT64_C(1) << 31, &v));
}

/* ---- random expressions
 * --------------------------------------------------------------------------- */

static at_expr *random_expr(at_rng *r, int depth) {
    if (depth == 0 || at_rng_below(r, 6) == 0) {
        if (at_rng_below(r, 2)) return at_expr_int(arena, (int64_t)at_rng_below(r, 9) - 4);
        static const at_op leaves[] = {AT_X_NAME, AT_X_EXTENT, AT_X_FLOAT};
        at_expr *e = at_expr_new(arena, leaves[at_rng_below(r, 3)], 0, NULL);
        if (e->op == AT_X_FLOAT) e->number = (double)at_rng_below(r, 9) / 2 - 2;
        else e->name = names[at_rng_below(r, 3)];
        if (e->op == AT_X_FLOAT && e->number == 0) e->number = 1; /* -0.0 has its own sign */
        return e;
    }
    at_op op = (at_op)(AT_X_INDEX + at_rng_below(r, AT_X_MAX - AT_X_INDEX + 1));
    if (op == AT_X_EXTENT) op = (at_op)(AT_X_BIT_AND + at_rng_below(r, 4));
    int n = op == AT_X_NEG || op == AT_X_NOT || op == AT_X_FIELD ? 1 : op == AT_X_SELECT ? 3 : 2;
    at_expr *args[3];
    for (int i = 0; i < n; i++) args[i] = random_expr(r, depth - 1);
    at_expr *e = at_expr_new(arena, op, n, args);
    if (op == AT_X_INDEX || op == AT_X_FIELD) e->name = names[at_rng_below(r, 3)];
    if (op == AT_X_FIELD) e->field = "size";
    return e;
}

static void random_expressions_print_and_parse_back(void **state) {
    (void)state;
    at_rng r;
    at_rng_seed(&r, 7, 1);
    for (int i = 0; i < 20000; i++) {
        at_expr *e = random_expr(&r, 4), *back;
        const char *text = printed(e);
        at_error err;
        if (at_expr_parse_text(arena, text, "t", &back, &err) != AT_OK)
            fail_msg("expression %d: %s: %s", i, text, err.text);
        if (!at_expr_equal(e, back))
            fail_msg("expression %d: %s became %s", i, text, printed(back));
    }
}

/* ---- walks ----------------------------------------------------------------------------------- */

static bool is_named(const at_expr *e, const void *name) {
    return e->name && !strcmp(e->name, name);
}

/* Where a name is found: anywhere, where values are, within indices of reads. */
static void expressions_are_searched(void **state) {
    (void)state;
    static const char text[] = "x[i + y[j]]*z + (i < n ? w[k] : -v)";
    static const struct {
        const char *name;
        bool any, value, index;
    } known[] = {
        {"x", true, true, false}, {"i", true, true, true},  {"y", true, false, true},
        {"j", true, false, true}, {"z", true, true, false}, {"n", true, true, false},
        {"k", true, false, true}, {"v", true, true, false}, {"u", false, false, false},
    };
    const at_expr *e = parse(text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const at_expr *found = at_expr_find(e, is_named, known[i].name);
        assert_int_equal(found != NULL, known[i].any);
        assert_int_equal(at_expr_find_value(e, is_named, known[i].name) != NULL, known[i].value);
        assert_int_equal(at_expr_find_index(e, is_named, known[i].name) != NULL, known[i].index);
        if (found) assert_string_equal(found->name, known[i].name);
    }
    assert_string_equal(printed(at_expr_has(e, AT_X_SELECT)), "i < n ? w[k] : -v");
    assert_null(at_expr_has(e, AT_X_MOD));
}

typedef struct walked {
    char names[16];
    char past, end;
} walked;

static at_walk note_name(const at_expr *e, void *ctx) {
    walked *w = ctx;
    if (!e->name) return AT_WALK_ON;
    strncat(w->names, e->name, 1);
    return *e->name == w->end ? AT_WALK_END : *e->name == w->past ? AT_WALK_PAST : AT_WALK_ON;
}

/* Each node before its arguments; past the arguments of one; to the end. */
static void expressions_are_walked(void **state) {
    (void)state;
    static const struct {
        walked w;
        const char *names;
        bool ends;
    } known[] = {{{"", 0, 0}, "xiyjzw", false},
                 {{"", 'x', 0}, "xzw", false},
                 {{"", 'y', 'z'}, "xiyz", true}};
    const at_expr *e = parse("x[i + y[j]]*z + w");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        walked w = known[i].w;
        const at_expr *end = at_expr_walk(e, note_name, &w);
        assert_string_equal(w.names, known[i].names);
        assert_int_equal(end != NULL, known[i].ends);
        if (end) assert_string_equal(end->name, "z");
    }
}

/* What stands for i is made of the old node, what stands for a read of its new arguments. */
static at_expr *make_other(const at_expr *e, at_expr *copy, void *by) {
    if (e->op == AT_X_NAME && !strcmp(e->name, "i")) return by;
    return e->op == AT_X_INDEX ? copy->arg[0] : copy;
}

static void name_in_place(at_expr *e, void *name) {
    if (e->op == AT_X_NAME) e->name = name;
}

static void expressions_are_mapped_and_changed(void **state) {
    (void)state;
    char name[] = "k";
    at_expr *e = parse("x[i + y[i]]*i + j"), *two = parse("2");
    assert_string_equal(printed(at_expr_map(arena, e, make_other, two)), "(2 + 2)*2 + j");
    at_expr *copy = at_expr_map(arena, e, NULL, NULL);
    assert_string_equal(printed(e), "x[i + y[i]]*i + j"); /* has not changed */
    at_expr_each(copy, name_in_place, name);
    assert_string_equal(printed(copy), "x[k + y[k]]*k + k");
    assert_string_equal(printed(e), "x[i + y[i]]*i + j");
}

/* Elements of an array are numbered in the order in which nested loops come to them. */
static void places_of_elements(void **state) {
    (void)state;
    const int64_t extent[] = {2, 3, 5};
    int64_t number = 0, place[3];
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++)
            for (int64_t k = 0; k < extent[2]; k++, number++) {
                assert_int_equal(at_unravel(number, 3, extent, place), 0);
                assert_true(place[0] == i && place[1] == j && place[2] == k);
                assert_int_equal(at_unravel(number, 2, extent + 1, place), i);
                assert_true(place[0] == j && place[1] == k);
            }
    assert_int_equal(at_unravel(7, 0, NULL, NULL), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_elements),
        cmocka_unit_test(expressions_are_searched),
        cmocka_unit_test(expressions_are_walked),
        cmocka_unit_test(expressions_are_mapped_and_changed),
        cmocka_unit_test(tokens_of_a_loop_tree),
        cmocka_unit_test(names_and_operators_are_told_apart),
        cmocka_unit_test(errors_show_the_line),
        cmocka_unit_test(printed_with_fewest_parentheses),
        cmocka_unit_test(powers_by_numbers),
        cmocka_unit_test(each_refusal_has_its_message),
        cmocka_unit_test(values_of_expressions),
        cmocka_unit_test(values_that_do_not_exist),
        cmocka_unit_test(floor_division),
        cmocka_unit_test(random_expressions_print_and_parse_back),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
