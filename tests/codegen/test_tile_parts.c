/* tests/codegen/test_tile_parts.c: what lowering and estimates both ask of a tile: which loops are
 * its own, how far its reductions are unrolled, how many partial results it keeps. Each answer is
 * the best one that a search over all of them finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/tile/tile_parts.h"

enum { MOST_TURNS = 60 };

static void few_operations_take_turns(void **state) {
    (void)state;
    assert_true(at_tile_takes_turns(AT_ANN_NONE, false, AT_TILE_SUM_OPS));
    assert_false(at_tile_takes_turns(AT_ANN_NONE, false, AT_TILE_SUM_OPS + 1));
    assert_false(at_tile_takes_turns(AT_ANN_NONE, true, 1));
    assert_false(at_tile_takes_turns(AT_ANN_PARA, false, 1));
}

/* Several steps at a time leave no rest, where that is possible with more than half of the most. */
static void thin_sums(void **state) {
    (void)state;
    for (int64_t turns = 1; turns <= MOST_TURNS; turns++) {
        const int64_t steps = at_tile_thin_steps(turns);
        bool can_divide = false;
        assert_in_range(steps, 1, turns < AT_THIN_STEPS ? turns : AT_THIN_STEPS);
        if (turns <= AT_THIN_STEPS) assert_int_equal(steps, turns);
        for (int64_t f = AT_THIN_STEPS / 2 + 1; f <= AT_THIN_STEPS; f++)
            can_divide |= turns % f == 0;
        if (can_divide) assert_int_equal(turns % steps, 0);
    }
}

static void unrolled_reductions(void **state) {
    (void)state;
    for (int64_t turns = 1; turns <= MOST_TURNS; turns++)
        for (int64_t unit = 1; unit <= 4; unit *= 2)
            for (int64_t ops = 1; ops <= 64; ops *= 4) {
                int64_t best = unit;
                for (int64_t f = unit; f <= turns; f++)
                    if (f % unit == 0 && turns % f == 0 && f / unit * ops <= AT_TILE_SUM_OPS)
                        best = f;
                assert_int_equal(at_tile_unrolled_turns(turns, unit, (double)ops, AT_TILE_SUM_OPS),
                                 best);
            }
    assert_true(at_tile_sum_ops(true) < at_tile_sum_ops(false));
}

/* As few partial results as keep `busy` operations under way, or as many as there are registers. */
static void partial_results(void **state) {
    (void)state;
    const at_target *t = at_target_find("avx2");
    for (int sums = 1; sums <= t->regs; sums++)
        for (int beside = 0; beside <= 4; beside++) {
            const int64_t n = at_tile_chains(t, sums, AT_TILE_CHAINS, beside);
            const int64_t room = t->regs - 4 - beside;
            assert_true(n >= 1 && (n == 1 || n * sums <= room));
            assert_true(n == 1 || (n - 1) * sums < AT_TILE_CHAINS);
            assert_true(n * sums >= AT_TILE_CHAINS || (n + 1) * sums > room);
        }
    assert_int_equal(at_tile_chains(t, 0, AT_TILE_CHAINS, 0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_operations_take_turns), cmocka_unit_test(thin_sums),
        cmocka_unit_test(unrolled_reductions), cmocka_unit_test(partial_results)};
    return cmocka_run_group_tests_name("codegen/tile_parts", tests, NULL, NULL);
}
