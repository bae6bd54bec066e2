/* Which results go into a final: those timed in a state that does not count are compared by what
 * they would be in the one that does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/measure/state_shift.h"
#include "engine/measure/top_results.h"

#include <math.h>

enum { OF_EACH = 64, ALL = 2 * OF_EACH };
static at_record records[ALL];
static double costs[ALL], ratios[ALL][2];
static const at_record *list[ALL], *top[ALL];

/* Kernels of 1.00, 1.01, .. s, each once alone and once in company, where the anchor is slower by a
 * ninth. */
static void make(void) {
    for (int i = 0; i < ALL; i++) {
        const bool company = i % 2;
        costs[i] = (1 + 0.01 * (i / 2)) * (company ? 0.9 : 1);
        ratios[i][0] = ratios[i][1] = costs[i];
        records[i] = (at_record){
            .costs_s = &costs[i],
            .num_costs = 1,
            .config.index = i,
            .extra = {
                .present = true,
                .error = "",
                .check = AT_CHECK_EXACT,
                .same_as = -1,
                .pairs = {.ratios = ratios[i], .num_ratios = 2, .states = company ? "cc" : "aa"}}};
        list[i] = &records[i];
    }
}

static int of_company(int n) {
    int company = 0;
    for (int i = 0; i < n; i++) company += top[i]->config.index % 2 == 1;
    return company;
}

static void states_are_made_equal(void **state) {
    (void)state;
    make();
    assert_int_equal(at_top_results(list, ALL, AT_OBJECTIVE_ALONE, top, 32), 32);
    assert_int_equal(of_company(32), 16);
    for (int i = 0; i < 32; i++) assert_int_equal(top[i]->config.index / 2, i / 2);
    assert_int_equal(at_top_results(list, ALL, AT_OBJECTIVE_COMPANY, top, 32), 32);
    for (int i = 0; i < 32; i++) assert_int_equal(top[i]->config.index / 2, i / 2);
}

static void only_where_it_is_known(void **state) {
    (void)state;
    make();
    /* All of them count. */
    assert_int_equal(at_top_results(list, ALL, AT_OBJECTIVE_TYPICAL, top, 8), 8);
    assert_int_equal(of_company(8), 8);
    /* Too few tell. */
    assert_int_equal(at_top_results(list, 20, AT_OBJECTIVE_ALONE, top, 8), 8);
    assert_int_equal(of_company(8), 8);
    /* Timed without pairs. */
    for (int i = 0; i < ALL; i++) records[i].extra.pairs = (at_paired){.states = ""};
    assert_int_equal(at_top_results(list, ALL, AT_OBJECTIVE_ALONE, top, 8), 8);
    assert_int_equal(of_company(8), 8);
}

static void others_are_left_out(void **state) {
    (void)state;
    make();
    for (int i = 0; i < 8; i++) records[i].error_no = 4;
    records[8].extra.same_as = 3;
    assert_int_equal(at_top_results(list, 12, AT_OBJECTIVE_ALONE, top, 8), 3);
    assert_int_equal(top[0]->config.index, 9);
    assert_int_equal(top[1]->config.index, 11);
    assert_int_equal(top[2]->config.index, 10);
    assert_int_equal(at_top_results(list, 0, AT_OBJECTIVE_ALONE, top, 8), 0);
}

/* What a tuner is told of the same results, one after the other. */
static void tuners_learn_of_one_state(void **state) {
    (void)state;
    make();
    at_state_shift shift = {.arena = at_arena_new()};
    records[3].error_no = 4; /* in company; and no speed */
    for (int i = 0; i < ALL; i++) {
        records[i].extra.gflops = records[i].error_no ? 0 : 1 / costs[i];
        const bool company = i % 2, is_known = i > 32; /* 16 of either */
        const double speed = at_state_shift_learn(&shift, list[i], AT_OBJECTIVE_ALONE);
        if (!company || !is_known) assert_float_equal(speed, records[i].extra.gflops, 0);
        else assert_true(fabs(log(speed * (1 + 0.01 * (i / 2)))) < 0.011); /* 0.105 as it is */
    }
    assert_int_equal(shift.counting.len + shift.others.len, ALL - 1);
    for (int i = 1; i < shift.others.len; i++)
        assert_true(shift.others.data[i - 1] <= shift.others.data[i]);
    at_arena_free(shift.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_made_equal), cmocka_unit_test(only_where_it_is_known),
        cmocka_unit_test(others_are_left_out), cmocka_unit_test(tuners_learn_of_one_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
