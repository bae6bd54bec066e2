/* Blocks of memory: no two that live at once overlap, hardly more is taken than must be, and what
 * neighbouring steps write is not a multiple of 256 bytes apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/net_memory.h"
#include "tests/arena.h"

static void check(const at_net_block *b, int n, int64_t total) {
    for (int i = 0; i < n; i++) {
        assert_int_equal(b[i].offset % AT_NET_ALIGNMENT, 0);
        assert_true(b[i].offset >= 0 && b[i].offset + at_net_rounded(b[i].bytes) <= total);
        for (int k = 0; k < i; k++) {
            bool together = b[i].first <= b[k].last && b[k].first <= b[i].last;
            bool apart =
                b[i].offset + b[i].bytes <= b[k].offset || b[k].offset + b[k].bytes <= b[i].offset;
            if (together && !apart) fail_msg("blocks %d and %d overlap", i, k);
            bool large = b[i].bytes >= 4096 && b[k].bytes >= 4096;
            if (large && (b[i].first - b[k].first) % 4 != 0 &&
                (b[i].offset - b[k].offset) % 256 == 0)
                fail_msg("blocks %d and %d lie in the same places of lines", i, k);
        }
    }
}

static void chain(void **state) {
    (void)state;
    at_net_block b[] = {{100, 0, 1, 0}, {200, 1, 2, 0}, {300, 2, 3, 0}, {64, 3, 4, 0}};
    int64_t total = at_net_place_blocks(b, 4);
    check(b, 4, total);
    assert_int_equal(at_net_least_bytes(b, 4), 256 + 320);
    assert_int_equal(total, 256 + 320);
    assert_int_equal(at_net_place_blocks(b, 0), 0);
}

/* Chains with branches, as networks are: within 5 % of the largest sum that lives at once. */
static void random_graphs(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 7, 1);
    for (int round = 0; round < 40; round++) {
        at_net_block b[120];
        int n = 20 + (int)at_rng_below(&rng, 100);
        for (int i = 0; i < n; i++) {
            int length = at_rng_below(&rng, 5) ? 1 : 2 + (int)at_rng_below(&rng, 9);
            b[i] = (at_net_block){
                .bytes = 1 + (int64_t)at_rng_below(&rng, 1 << 20), .first = i, .last = i + length};
        }
        int64_t total = at_net_place_blocks(b, n), least = at_net_least_bytes(b, n);
        check(b, n, total);
        assert_true(total >= least);
        if ((double)total > 1.05 * (double)least)
            fail_msg("round %d: %lld bytes, the least is %lld", round, (long long)total,
                     (long long)least);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chain), cmocka_unit_test(random_graphs)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
