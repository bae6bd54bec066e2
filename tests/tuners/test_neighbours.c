/* Coordinate descent's candidates: which trials it descends from, and what lies beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "searches.h"
#include "tuners/model.h"

enum { KNOBS = 3, WIDE = 64, TRIALS = 30, FEW = 4 };

/* One knob apart, and in a long list of values not far. */
static bool are_neighbours(const at_space *s, int64_t x, int64_t y) {
    int64_t of_x[KNOBS], of_y[KNOBS];
    int apart = 0;
    at_space_digits(s, x, of_x);
    at_space_digits(s, y, of_y);
    for (int k = 0; k < KNOBS; k++) {
        apart += of_x[k] != of_y[k];
        if (of_x[k] - of_y[k] > WIDE || of_y[k] - of_x[k] > WIDE) return false;
    }
    return apart == 1;
}

static bool is_worth_less(const at_book *b, const double *worth, int i, int j) {
    bool counts = b->score[j] > 0 && !b->is_bound[j];
    return !counts || worth[j] < worth[i];
}

/* Fails unless near are the points that may be proposed beside the best few by worth. */
static void check_near(const at_book *b, const double *worth, const at_numbering *near) {
    int expected = 0;
    bool is_start[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        int better = 0;
        for (int j = 0; j < TRIALS; j++) better += !is_worth_less(b, worth, i, j) && i != j;
        is_start[i] = b->score[i] > 0 && !b->is_bound[i] && better < FEW;
    }
    for (int64_t index = b->begin; index < b->end; index++) {
        bool is_near = false;
        for (int i = 0; i < TRIALS; i++)
            is_near |= is_start[i] && are_neighbours(b->space, index, b->entered.indices[i]);
        is_near &= at_book_allows(b, index);
        assert_int_equal(at_number_of(near, index) >= 0, is_near);
        expected += is_near;
    }
    assert_true(expected > 0);
    assert_int_equal(near->len, expected);
}

/* Of many books: worth decides, and not the score; failures and what is known by a bound alone are
 * no starts, whatever they are worth. */
static void near_the_best(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = options_space(a, (const int[]){5, 90, 4}, KNOBS, "(a + b) % 3 != c");
    for (uint64_t seed = 0; seed < 50; seed++) {
        at_book b;
        at_rng rng;
        at_numbering near = {0};
        at_trial trials[TRIALS];
        double worth[TRIALS];
        int64_t given[TRIALS];
        at_rng_seed(&rng, seed, 9);
        at_book_init(&b, s, &(at_tuner_options){.seed = seed}, 1);
        at_book_enter_random(&b, TRIALS);
        assert_int_equal(at_book_next(&b, NULL, NULL, given, TRIALS), TRIALS);
        for (int i = 0; i < TRIALS; i++) {
            bool valid = at_rng_below(&rng, 5) > 0;
            trials[i] = (at_trial){.index = given[i],
                                   .valid = valid,
                                   .score = valid ? 1 + at_rng_unit(&rng) : 0,
                                   .is_bound = valid && at_rng_below(&rng, 5) == 0};
            worth[i] = at_rng_unit(&rng) - 0.5;
        }
        at_book_update(&b, trials, TRIALS);
        at_add_near_best(&b, worth, FEW, &near);
        check_near(&b, worth, &near);
        at_numbering_free(&near);
        at_book_free(&b);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_the_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
