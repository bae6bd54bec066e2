/* What pairs with the anchor say by the state that they were in: those of mixed states say nothing,
 * those of a state that does not count are kept for it alone, and all count where none does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/measure/anchor_scale.h"
#include "engine/measure/bench.h"

#include <math.h>

typedef struct some {
    at_state state;
    int count;
    double ratio;
} some;

static void add(at_outcome *o, some s) {
    for (int i = 0; i < s.count; i++)
        o->pairs[o->num_pairs++] = (at_pair){
            .time_s = 1e-4 * s.ratio, .anchor_s = 1e-4, .anchor_most_s = 1e-4, .state = s.state};
}

static at_linked linked(at_objective objective, const some *of, int n) {
    static at_session s;
    static at_bench bench;
    static at_outcome o;
    bench = (at_bench){.anchors = {.of_first = 1}, .states = {.objective = objective}};
    s = (at_session){.bench = &bench};
    o = (at_outcome){0};
    for (int i = 0; i < n; i++) add(&o, of[i]);
    return at_linked_of(&s, &o);
}

static void mixed_ones_say_nothing(void **state) {
    (void)state;
    const some of[] = {{AT_STATE_ALONE, 30, 0.5}, {AT_STATE_MIXED, 40, 0.9}};
    at_linked l = linked(AT_OBJECTIVE_TYPICAL, of, 2);
    assert_int_equal(l.pairs, 30);
    assert_float_equal(l.link, log(0.5), 1e-12);
    assert_int_equal(l.by[AT_STATE_ALONE].pairs, 30);
    assert_int_equal(l.by[AT_STATE_MIXED].pairs, 0);
}

static void each_state_has_its_own(void **state) {
    (void)state;
    const some of[] = {
        {AT_STATE_ALONE, 30, 0.5}, {AT_STATE_COMPANY, 20, 0.8}, {AT_STATE_MIXED, 9, 3}};
    at_linked alone = linked(AT_OBJECTIVE_ALONE, of, 3);
    assert_int_equal(alone.pairs, 30);
    assert_int_equal(alone.state, AT_STATE_ALONE);
    assert_float_equal(alone.link, log(0.5), 1e-12);
    at_linked company = linked(AT_OBJECTIVE_COMPANY, of, 3);
    assert_int_equal(company.pairs, 20);
    assert_int_equal(company.state, AT_STATE_COMPANY);
    assert_float_equal(company.link, log(0.8), 1e-12);
    assert_int_equal(linked(AT_OBJECTIVE_TYPICAL, of, 3).pairs, 50);
    for (int k = 0; k < 2; k++) {
        const at_linked *l = k ? &company : &alone;
        assert_float_equal(l->by[AT_STATE_ALONE].of_first, 0.5, 1e-12);
        assert_float_equal(l->by[AT_STATE_COMPANY].of_first, 0.8, 1e-12);
    }
}

static void all_where_none_counts(void **state) {
    (void)state;
    const some of[] = {{AT_STATE_ALONE, 6, 0.5}, {AT_STATE_MIXED, 40, 0.5}};
    at_linked l = linked(AT_OBJECTIVE_COMPANY, of, 2);
    assert_int_equal(l.pairs, 46);
    assert_int_equal(l.state, AT_STATE_UNKNOWN);
    assert_float_equal(l.link, log(0.5), 1e-12);
    const some few[] = {{AT_STATE_ALONE, 4, 0.5}}; /* too few to be a state's own */
    assert_int_equal(linked(AT_OBJECTIVE_ALONE, few, 1).by[AT_STATE_ALONE].pairs, 0);
}

/* Ratios to the shortest time that the anchor can have taken, times of the longest: what somebody
 * disturbed is never faster than what nobody did. */
static void disturbed_anchors_are_no_shorter(void **state) {
    (void)state;
    static at_session s;
    static at_bench bench;
    static at_outcome o;
    bench = (at_bench){.anchors = {.of_first = 1}};
    s = (at_session){.bench = &bench};
    add(&o, (some){AT_STATE_ALONE, 9, 1});
    for (int i = 0; i < 9; i += 2) {
        o.pairs[i].anchor_s = 0.8e-4;
        o.pairs[i].anchor_most_s = 2e-4;
    }
    at_linked l = at_linked_of(&s, &o);
    assert_float_equal(l.anchor_s, 2e-4, 1e-12);
    assert_true(exp(l.link) * l.anchor_s >= 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_ones_say_nothing),
        cmocka_unit_test(each_state_has_its_own),
        cmocka_unit_test(all_where_none_counts),
        cmocka_unit_test(disturbed_anchors_are_no_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
