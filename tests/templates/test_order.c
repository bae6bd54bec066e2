/* Orders and annotations that knobs choose: every value gives the tree that it names, the program
 * of each is right, records are AutoTVM's, and mistakes are one line. */
#include "tests/templates/support.h"

#include <string.h>

#define COMPUTE "x[A, K] : input\nw[B, K] : weight\ny[a:A, b:B] = sum(k:K, l:2) x[a, k]*w[b, k]\n"
#define TREE                                                                                       \
    "a:ann(ua), [ko, ki:ann(uk), l]:order(loops), b:vec =>\n    @y = a, b  // {ko, ki}/k, l\n"

static void define(at_template *t) {
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_FACTORS);
    at_reorder(t, "loop_order", "loops", 3, "all");
    at_annotate(t, "marks", "ua uk", "try_unroll");
    at_compute(t, COMPUTE);
    at_schedule(t, TREE);
}

static at_template_row row_of(void (*f)(at_template *)) {
    return (at_template_row){.name = "t",
                             .help = "a test's",
                             .args = "A=3, B=4, K=6",
                             .record_args = "[A, B, K]",
                             .define = f};
}

/* The loops around the sum, outermost first: "a ko ki.unroll l b.vec". */
static const char *loops_of(at_arena *a, const at_program *p) {
    static const char *const anns[] = {"", ".para", ".vec", ".unroll"};
    const at_node *n = p->root;
    char *text = "";
    for (; !n->is_leaf; n = n->child) {
        while (n->next) n = n->next; /* an initialisation stands before it */
        text = at_format(a, "%s%s%s%s", text, *text ? " " : "", p->piece_names[n->piece[0]],
                         anns[n->ann]);
    }
    return text;
}

static void every_value(void **state) {
    static const char *const names[] = {"ko", "ki", "l"};
    at_template_row row = row_of(define);
    at_task *t = task_of(*state, &row, "");
    at_space *s = at_task_space(t);
    at_builds *builds = at_builds_new(*state, t);
    int64_t n = at_space_len(s);
    assert_int_equal(n, 4 * 6 * 4);
    for (int64_t i = 0; i < n; i++) {
        at_config c = config_at(*state, t, i);
        at_error err;
        at_program *p;
        if (at_task_program(*state, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
        const int64_t *order = c.entities[1].sizes;
        const char *const *marks = c.entities[2].marks;
        char *wanted = at_format(*state, "a%s", strcmp(marks[0], "none") ? ".unroll" : "");
        for (int k = 0; k < 3; k++)
            wanted = at_format(*state, "%s %s%s", wanted, names[order[k]],
                               order[k] == 1 && strcmp(marks[1], "none") ? ".unroll" : "");
        assert_string_equal(loops_of(*state, p), at_format(*state, "%s b.vec", wanted));
        if (at_builds_program(builds, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
        assert_string_equal(loops_of(*state, p), at_format(*state, "%s b.vec", wanted));
        expect_right(*state, t, &c);
    }
}

static void records(void **state) {
    at_template_row row = row_of(define);
    at_task *t = task_of(*state, &row, "");
    expect_default(*state, t, 8,
                   "[[\"tile_k\", \"sp\", [1, 6]], [\"loop_order\", \"re\", [0, 1, 2]], "
                   "[\"marks\", \"an\", [\"none\", \"none\"]]]");
    at_config c = config_of(*state, t,
                            "[\"tile_k\", \"sp\", [-1, 2]], [\"loop_order\", \"re\", [2, 0, 1]], "
                            "[\"marks\", \"an\", [\"unroll\", \"none\"]]");
    at_error err;
    at_program *p;
    if (at_task_program(*state, t, &c, &p, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(loops_of(*state, p), "a.unroll l ko ki b.vec");
}

static void no_size(at_template *t) {
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_FACTORS);
    at_reorder(t, "loop_order", "loop", 3, "all");
    at_annotate(t, "marks", "ua uk", "try_unroll");
    at_compute(t, COMPUTE);
    at_schedule(t, TREE);
}
static void mixed(at_template *t) {
    at_reorder(t, "loop_order", "loops", 2, "all");
    at_compute(t, COMPUTE);
    at_schedule(t, "b, [a, k]:order(loops), l =>\n    @y = a, b  // k, l\n");
}
static void one_name(at_template *t) { at_reorder(t, "loop_order", "p q", 2, "all"); }
static void policy(at_template *t) { at_annotate(t, "marks", "ua", "bind_gpu"); }
static void beyond(at_template *t) {
    at_sizes(t, "loops = 2");
    at_compute(t, COMPUTE);
    at_schedule(t, "a, b, [k, l]:order(loops) =>\n    @y = a, b  // k, l\n");
}
static void three(at_template *t) {
    at_sizes(t, "mark = 3");
    at_compute(t, COMPUTE);
    at_schedule(t, "a, b, k:ann(mark), l =>\n    @y = a, b  // k, l\n");
}

static void mistakes(void **state) {
    at_template_row row = row_of(no_size);
    expect_refused(*state, &row, "", AT_E_INPUT,
                   "schedule of t:1:38: there is no size \"loops\"; did you mean \"loop\"?\n"
                   "a:ann(ua), [ko, ki:ann(uk), l]:order(loops), b:vec =>\n"
                   "                                     ^");
    row = row_of(mixed);
    expect_refused(*state, &row, "", AT_E_INPUT,
                   "schedule of t:1:8: an order is of reductions only, or of none\n"
                   "b, [a, k]:order(loops), l =>\n"
                   "       ^");
    row = row_of(one_name);
    expect_refused(*state, &row, "", AT_E_INPUT,
                   "names of loop_order of t:1:3: expected 1 name, got 'q'\np q\n  ^");
    row = row_of(policy);
    expect_refused(*state, &row, "", AT_E_INPUT,
                   "t: knob marks: policy \"bind_gpu\"; write try_unroll, try_vec or "
                   "try_unroll_vec, or marks, "
                   "the default first: vec_none");
    row = row_of(beyond);
    at_error err;
    at_program *p;
    at_task *t = task_of(*state, &row, "");
    at_config c = config_at(*state, t, 0);
    assert_int_equal(at_task_program(*state, t, &c, &p, &err), AT_E_INPUT);
    assert_string_equal(err.text, "schedule of t:1: loops is 2; 2 loops have orders 0 to 1");
    row = row_of(three);
    t = task_of(*state, &row, "");
    c = config_at(*state, t, 0);
    assert_int_equal(at_task_program(*state, t, &c, &p, &err), AT_E_INPUT);
    assert_string_equal(
        err.text, "schedule of t:1: mark is 3; an annotation is 0 (none), 1 (unroll) or 2 (vec)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_value, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(records, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(mistakes, arena_setup, arena_teardown)};
    return cmocka_run_group_tests_name("templates/order", tests, NULL, NULL);
}
