/* The builder: options, conditions, sizes that vary, and a template with a mistake in each text. */
#include "tests/templates/support.h"
#include "sketch/sketch.h"

#include <string.h>

#define ADD_ONE "x[A, B] : input\ny[a:A, b:B] = x[a, b] + 1\n"
#define TREE "ao, b, ai =>\n    @y = {ao, ai}/a, b\n"

static at_template_row row_of(void (*define)(at_template *)) {
    return (at_template_row){.name = "t",
                             .help = "a test's",
                             .args = "A=12, B=3",
                             .record_args = "[A, B]",
                             .define = define};
}

/* ---- what a configuration makes of the definitions ------------------------------------------- */

static void varying(at_template *t) {
    at_option(t, "swap", "[false, true]", 1);
    at_option(t, "step", "[3, 5]", 0);
    at_option(t, "mode", "[\"x\", \"y\"]", 0);
    at_split(t, "tile", "A", "ao ai", .policy = AT_POWER2, .fallback = {-1, 2});
    at_sizes(t, "C = A*B, twice = 2*|ai|, steps = swap ? step : twice, last = steps + C");
    at_split(t, "tile2", "twice", "co ci", .policy = AT_POWER2);
    at_compute(t, ADD_ONE);
    at_schedule_when(t, "swap && step == 3", "ao, b, ai =>\n    @y = {ao, ai}/a, b\n");
    at_schedule_when(t, "swap", "b, ao, ai =>\n    @y = {ao, ai}/a, b\n");
    at_schedule_when(t, "step == 3", "ao, ai, b =>\n    @y = {ao, ai}/a, b\n");
}

static const char *loops_of(at_arena *a, const at_program *p) {
    char *text = "";
    for (const at_node *n = p->root; !n->is_leaf; n = n->child)
        text = at_format(a, "%s%s:%lld ", text, p->piece_names[n->piece[0]], (long long)n->extent);
    return text;
}

static void values(void **state) {
    static const struct {
        const char *entity, *loops;
        int64_t steps, last, ci, co;
    } cases[] = {
        {"[\"swap\", \"ot\", false], [\"step\", \"ot\", 3], [\"mode\", \"ot\", \"y\"], "
         "[\"tile\", \"sp\", [-1, 4]], [\"tile2\", \"sp\", [-1, 2]]",
         "ao:3 ai:4 b:3 ", 8, 44, 2, 4},
        {"[\"swap\", \"ot\", true], [\"step\", \"ot\", 3], [\"mode\", \"ot\", \"x\"], "
         "[\"tile\", \"sp\", [-1, 8]], [\"tile2\", \"sp\", [-1, 1]]",
         "ao:2 b:3 ai:8 ", 3, 39, 1, 16},
        {"[\"swap\", \"ot\", true], [\"step\", \"ot\", 5], [\"mode\", \"ot\", \"x\"], "
         "[\"tile\", \"sp\", [7, 1]], [\"tile2\", \"sp\", [-1, 2]]",
         "b:3 ao:12 ai:1 ", 5, 41, 2, 1},
    };
    at_template_row row = row_of(varying);
    at_task *t = task_of(*state, &row, "");
    const at_symbols *s = at_task_compute(t)->symbols;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_config c = config_of(*state, t, cases[i].entity);
        int64_t *v;
        at_program *p;
        assert_int_equal(at_task_values(*state, t, &c, &v, NULL), AT_OK);
        assert_int_equal(v[at_symbol_find(s, "steps")], cases[i].steps);
        assert_int_equal(v[at_symbol_find(s, "last")], cases[i].last);
        assert_int_equal(v[at_symbol_find(s, "co")], cases[i].co);
        assert_int_equal(v[at_symbol_find(s, "ci")], cases[i].ci);
        assert_int_equal(v[at_symbol_find(s, "C")], 36);
        assert_int_equal(at_symbol_find(s, "mode"), -1);
        assert_int_equal(at_task_program(*state, t, &c, &p, NULL), AT_OK);
        assert_string_equal(loops_of(*state, p), cases[i].loops);
        expect_right(*state, t, &c);
    }
    /* The splits are declared with what entity 0 makes of their axes. */
    assert_int_equal(at_space_knob_length(at_task_space(t), 4), 2);

    at_config c;
    assert_int_equal(at_task_default_config(*state, t, 16, &c, NULL), AT_OK);
    assert_string_equal(entity_text(*state, &c),
                        "[[\"swap\", \"ot\", true], [\"step\", \"ot\", 3], [\"mode\", \"ot\", "
                        "\"x\"], [\"tile\", \"sp\", [6, 2]], [\"tile2\", \"sp\", [1, 2]]]");
}

static void expect_no_program(at_arena *a, const at_task *t, const char *entity, const char *text) {
    at_config c = config_of(a, t, entity);
    at_program *p = NULL;
    at_error err = {0};
    assert_int_equal(at_task_program(a, t, &c, &p, &err), AT_E_INPUT);
    assert_string_equal(err.text, text);
    assert_null(p);
    assert_int_equal(at_task_program(a, t, &c, &p, NULL), AT_E_INPUT);
}

static void failing(at_template *t) {
    at_option(t, "zero", "[1, 0]", 0);
    at_split(t, "tile", "A/zero", "ao ai", .policy = AT_POWER2);
    at_sizes(t, "third = B/(zero - 3), big = |ai| > 4 ? 4611686018427387904*|ai| : 1");
    at_compute(t, ADD_ONE);
    at_schedule_when(t, "|ai| < 2 && 8 / (zero + 2*|ai| - 3) > 0", TREE);
}

static void failing_values(void **state) {
    at_template_row row = row_of(failing);
    /* With entity 0 the condition divides by zero; only a configuration asks for it. */
    at_task *t = task_of(*state, &row, "");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 0], [\"tile\", \"sp\", [-1, 1]]",
                      "axis of tile: A/zero divides by zero");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 24], [\"tile\", \"sp\", [-1, 1]]",
                      "axis of tile: 0 cannot be split");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 3], [\"tile\", \"sp\", [-1, 1]]",
                      "size third: B/(zero - 3) divides by zero");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 1], [\"tile\", \"sp\", [-1, 8]]",
                      "size big: 4611686018427387904*|ai| exceeds 2^63");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 1], [\"tile\", \"sp\", [-1, 1]]",
                      "condition of schedule 1: 8/(zero + 2*|ai| - 3) divides by zero");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 1], [\"tile\", \"sp\", [-1, 2]]",
                      "no schedule is for this configuration: no condition holds");
    expect_no_program(*state, t, "[\"zero\", \"ot\", 1.5], [\"tile\", \"sp\", [-1, 2]]",
                      "option zero is given a value that is no whole number");
}

static void late(at_template *t) {
    at_schedule(t, TREE);
    at_compute(t, ADD_ONE);
    at_joint_filter(t, "tile.size[1] <= size");
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS, .filter = "last != 3", .max_factor = 6);
    at_option(t, "size", "[2, 6]", 0);
}

/* Longer texts may come before the names they use. */
static void any_order(void **state) {
    at_template_row row = row_of(late);
    at_task *t = task_of(*state, &row, "");
    at_space *space = at_task_space(t);
    assert_int_equal(at_space_range_length(space), 8); /* 1 2 4 6; 2 6 */
    assert_int_equal(at_space_len(space), 6);
    at_config c = config_at(*state, t, 7);
    expect_right(*state, t, &c);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void sizes_name(at_template *t) { at_sizes(t, "C = A,\nD = C*AA"); }
static void sizes_syntax(at_template *t) { at_sizes(t, "C = A*"); }
static void sizes_twice(at_template *t) { at_sizes(t, "C = A, B = 2"); }
static void sizes_end(at_template *t) { at_sizes(t, "C = A D = B"); }
static void sizes_equals(at_template *t) { at_sizes(t, "C == A"); }
static void sizes_index(at_template *t) { at_sizes(t, "C = A[1]"); }
static void sizes_float(at_template *t) { at_sizes(t, "C = 1.5*A"); }
static void sizes_zero(at_template *t) { at_sizes(t, "C = A/(B - 3)"); }

static void split_axis(at_template *t) { at_split(t, "tile", "A*C", "o i", .policy = AT_FACTORS); }
static void split_none(at_template *t) { at_split(t, "tile", "A/20", "o i", .policy = AT_FACTORS); }
static void split_parts(at_template *t) { at_split(t, "tile", "A", "o, i", .policy = AT_FACTORS); }
static void split_no_parts(at_template *t) { at_split(t, "tile", "A", "", .policy = AT_FACTORS); }
static void split_same(at_template *t) { at_split(t, "tile", "A", "o B", .policy = AT_FACTORS); }
static void split_many(at_template *t) {
    at_split(t, "tile", "A", "a b c d e f g h i", .policy = AT_FACTORS);
}
static void split_filter(at_template *t) {
    at_split(t, "tile", "A", "o i", .policy = AT_FACTORS, .filter = "last > 100");
}
static void split_limit(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS, .fallback = {-1, 0});
    at_compute(t, ADD_ONE);
    at_schedule(t, TREE);
}
static void knob_twice(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS);
    at_option(t, "tile", "[1]", 0);
}
static void option_default(at_template *t) { at_option(t, "n", "[1, 2]", 2); }
static void option_name(at_template *t) { at_option(t, "A", "[1, 2]", 0); }
static void option_json(at_template *t) { at_option(t, "n", "[1, 2", 0); }

static void no_compute(at_template *t) { at_schedule(t, TREE); }
static void no_schedule(at_template *t) { /* which rules make none of */
    at_compute(t, ADD_ONE);
    at_flops(t, "12");
}
static void two_computes(at_template *t) {
    at_compute(t, ADD_ONE);
    at_compute(t, ADD_ONE);
}
static void two_filters(at_template *t) {
    at_joint_filter(t, "1");
    at_joint_filter(t, "1");
}
static void filter_name(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS);
    at_joint_filter(t, "tyle.size[1] > 2");
}
static void compute_name(at_template *t) {
    at_compute(t, "x[A, B] : input\ny[a:A, b:B] = x[a, c]\n");
    at_schedule(t, TREE);
}
static void schedule_name(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS);
    at_compute(t, ADD_ONE);
    at_schedule(t, "ao, b, ai =>\n    @z = {ao, ai}/a, b\n");
}
static void condition_name(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = AT_FACTORS);
    at_compute(t, ADD_ONE);
    at_schedule_when(t, "A > 2", TREE);
    at_schedule_when(t, "|ai2| > 2", TREE);
}
static void unreachable(at_template *t) {
    at_schedule(t, TREE);
    at_schedule_when(t, "A > 2", TREE);
}
static void first_kept(at_template *t) {
    at_sizes(t, "C = Q");
    at_sizes(t, "C = R");
    at_split(t, "tile", "S", "o i", .policy = AT_FACTORS);
    at_option(t, "n", "[", 0);
    at_joint_filter(t, "T");
    at_compute(t, "U");
    at_schedule(t, "V");
}

static void mistakes(void **state) {
    static const struct {
        void (*define)(at_template *);
        at_status status;
        const char *text;
    } cases[] = {
        {sizes_name, AT_E_INPUT,
         "sizes of t:2:7: unknown name \"AA\"; is it \"A\"?\nD = C*AA\n      ^"},
        {sizes_syntax, AT_E_INPUT,
         "sizes of t:1:7: expected a value, got the end\nC = A*\n      ^"},
        {sizes_twice, AT_E_INPUT,
         "sizes of t:1:8: \"B\" is defined already\nC = A, B = 2\n       ^"},
        {sizes_end, AT_E_INPUT,
         "sizes of t:1:7: expected an operator or ',', got 'D'\nC = A D = B\n      ^"},
        {sizes_equals, AT_E_INPUT, "sizes of t:1:3: expected '=', got '=='\nC == A\n  ^"},
        {sizes_index, AT_E_INPUT,
         "sizes of t:1:5: only names and whole numbers make a size\nC = A[1]\n    ^"},
        {sizes_float, AT_E_INPUT,
         "sizes of t:1:5: only names and whole numbers make a size\nC = 1.5*A\n    ^"},
        {sizes_zero, AT_E_USAGE, "--args: t with A=12,B=3: size C: A/(B - 3) divides by zero"},
        {split_axis, AT_E_INPUT, "axis of tile of t:1:3: unknown name \"C\"\nA*C\n  ^"},
        {split_none, AT_E_USAGE,
         "--args: t with A=12,B=3: axis of tile: A/20 is 0, which cannot be split"},
        {split_parts, AT_E_INPUT, "parts of tile of t:1:2: expected a name, got ','\no, i\n ^"},
        {split_no_parts, AT_E_INPUT, "parts of tile of t:1:1: expected a name, got the end"},
        {split_same, AT_E_INPUT, "parts of tile of t:1:3: \"B\" is defined already\no B\n  ^"},
        {split_many, AT_E_INPUT,
         "parts of tile of t:1:17: a split has at most 8 parts, got 'i'\na b c d e f g h i\n"
         "                ^"},
        {split_filter, AT_E_INPUT,
         "t: knob tile: no split of 12 into 2 parts passes the filter \"last > 100\""},
        {knob_twice, AT_E_INPUT, "t: a second knob \"tile\""},
        {option_default, AT_E_INPUT, "t: default 2 of option \"n\", which has 2 values"},
        {option_name, AT_E_INPUT, "t: option \"A\": the name is defined already"},
        {no_compute, AT_E_INPUT, "t: defines no computation"},
        {no_schedule, AT_E_INPUT, "t: defines no schedule"},
        {two_computes, AT_E_INPUT, "t: a second computation; a template has one"},
        {two_filters, AT_E_INPUT, "t: a second joint filter; \"&&\" joins conditions"},
        {unreachable, AT_E_INPUT,
         "t: schedule 2 is never used: the one before it has no condition"},
        {condition_name, AT_E_INPUT,
         "condition of schedule 2 of t:1:1: unknown name \"ai2\"; is it \"ai\"?\n|ai2| > 2\n^"},
        {first_kept, AT_E_INPUT, "sizes of t:1:5: unknown name \"Q\"\nC = Q\n    ^"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_template_row row = row_of(cases[i].define);
        expect_refused(*state, &row, "", cases[i].status, cases[i].text);
    }
}

/* Where another folder words the message, template and place are what counts here. */
static void placed(void **state) {
    static const struct {
        void (*define)(at_template *);
        const char *beginning;
    } cases[] = {
        {option_json, "t: "},
        {filter_name, "t: "},
        {compute_name, "computation of t:2:20: "},
        {schedule_name, "schedule of t:2:6: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_template_row row = row_of(cases[i].define);
        at_task *t = NULL;
        at_error err = {0};
        assert_int_equal(at_task_new(*state, &row, "", &t, &err), AT_E_INPUT);
        if (strncmp(err.text, cases[i].beginning, strlen(cases[i].beginning)))
            fail_msg("\"%s\" does not begin with \"%s\"", err.text, cases[i].beginning);
    }
    at_template_row row = row_of(split_limit);
    at_task *t = task_of(*state, &row, "");
    at_config c;
    at_error err = {0};
    assert_int_equal(at_task_default_config(*state, t, 16, &c, &err), AT_E_INPUT);
    assert_non_null(strstr(err.text, "default configuration of t: knob tile: "));
}

static void bad_rows(void **state) {
    static const struct {
        const char *args, *record_args, *text;
    } cases[] = {
        {"A=12 B=3", "[A, B]", "args of t:1:6: expected ',', got 'B'\nA=12 B=3\n     ^"},
        {"A=12, A=3", "[A]", "args of t:1:7: \"A\" is declared twice\nA=12, A=3\n      ^"},
        {"A=0", "[A]", "args of t:1:3: expected a whole number from 1 to 2^53, got '0'\nA=0\n  ^"},
        {"A=12, B=3", "A", "record_args of t: expected an array"},
        {"A=12, B=3", "[A]",
         "record_args of t: form 1 lacks the argument \"B\": records of tasks that differ in it "
         "would be the same"},
        {"A=12, B=3", "[A, B] | [A/B]",
         "record_args of t: form 2 lacks the argument \"B\": records of tasks that differ in it "
         "would be the same"},
        {"A=12, T=\"x\"", "[A]",
         "record_args of t: form 1 lacks the argument \"T\": records of tasks that differ in it "
         "would be the same"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_template_row row = row_of(no_schedule);
        row.args = cases[i].args;
        row.record_args = cases[i].record_args;
        expect_refused(*state, &row, "", AT_E_INPUT, cases[i].text);
    }
}

/* ---- the hash -------------------------------------------------------------------------------- */

static const char *tree_text, *filter_text;
static long long limit;
static at_policy policy;

static void hashed(at_template *t) {
    at_split(t, "tile", "A", "ao ai", .policy = policy, .filter = filter_text,
             .fallback = {-1, limit});
    at_compute(t, ADD_ONE);
    at_schedule(t, tree_text);
}

static const char *hash_of(at_arena *a, const char *args) {
    at_template_row row = row_of(hashed);
    return at_task_hash(task_of(a, &row, args));
}

static void hashes(void **state) {
    tree_text = TREE, filter_text = NULL, limit = -1, policy = AT_FACTORS;
    const char *first = hash_of(*state, "");
    assert_int_equal(strlen(first), 32);
    limit = 4;
    assert_string_equal(hash_of(*state, "A=6"), first); /* neither arguments nor defaults */
    policy = AT_POWER2;
    assert_string_not_equal(hash_of(*state, ""), first);
    policy = AT_FACTORS, filter_text = "last > 1";
    assert_string_not_equal(hash_of(*state, ""), first);
    filter_text = NULL, tree_text = "ao, ai, b =>\n    @y = {ao, ai}/a, b\n";
    assert_string_not_equal(hash_of(*state, ""), first);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(values), TEST(failing_values), TEST(any_order), TEST(mistakes),
        TEST(placed), TEST(bad_rows),       TEST(hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
