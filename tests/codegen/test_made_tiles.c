/* Machine code of tiles that are put together by hand, run between guard pages: as many operands as
 * no program has at once, every number of lanes, every way to spread and to pick. */
#include "tests/codegen/between_pages.h"
#include "tests/codegen/hand_made.h"
#include "tests/codegen/support.h"

/* As many pointers, trip counts and nested loops as no program has at once: some counters have to
 * live on the stack. */
static void most_arguments(at_arena *a, const at_target *target) {
    static const int trip_of[] = {0, 5, -1, 3, 4};
    enum { DEPTH = sizeof trip_of / sizeof *trip_of };
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, AT_TILE_MAX_TRIPS);
    int lanes = m.t.lanes;
    for (int d = 0; d < DEPTH; d++) add_loop(&m, 2, trip_of[d]);
    for (int s = 0; s < 6; s++) {
        add_move(&m, AT_T_LOAD, 0, s, s - 2, lanes);
        add_move(&m, AT_T_BCAST, 1, (s + 1) % 6, 3, 1);
        add_move(&m, AT_T_LOAD, 2, s + 6, 0, lanes);
        add_arithmetic(&m, AT_T_FMA, 2, 0, 1);
        add_move(&m, AT_T_STORE, 2, s + 6, 0, lanes);
        add_bump(&m, s, 1, -1);
        add_bump(&m, s + 6, s % 2 ? lanes : -lanes, -1);
    }
    for (int d = DEPTH - 1; d >= 0; d--) {
        add_op(&m, AT_T_END);
        for (int s = 0; s < 6; s++) add_bump(&m, s, s - 3, trip_of[d]);
        add_bump(&m, 6 + d, 5, 1);
    }
    for (int s = 0; s < AT_TILE_MAX_SLOTS; s++) {
        add_move(&m, AT_T_BCAST, 3, s, 0, 1);
        add_move(&m, AT_T_STORE, 3, s, 7, 1);
    }
    compare_tile(a, finish(&m), "most_arguments");
}

/* More pointers than registers hold, and registers that lie in memory: passed ones in loops of both
 * kinds, bumped by much and by little, and ones that lists make. */
static void more_pointers_than_registers(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2};
    for (int i = 0, num_slots = 13; num_slots < MAX_SLOTS; num_slots += 15, i++) {
        entries_miss = i % 2;
        maker m = start_tile(a, target, num_slots, AT_TILE_MAX_TRIPS);
        const int lanes = m.t.lanes, list = num_slots - 5, own = num_slots;
        m.t.num_slots -= 4;
        m.t.num_pointers = 4;
        m.t.num_spilled = 3;
        m.t.slot_type[list] = AT_S32;
        add_op(&m, AT_T_CONST)->dst = 3;
        add_loop(&m, 2, 3);
        add_loop(&m, 2, -1);
        for (int s = 0; s < list; s++) {
            add_move(&m, AT_T_LOAD, 0, s, s - 2, lanes);
            add_move(&m, AT_T_STORE, 0, own, s % 3 * lanes, lanes);
            add_move(&m, AT_T_BCAST, 1, (s + 1) % list, 3, 1);
            add_move(&m, AT_T_LOAD, 2, (s + 5) % list, 0, lanes);
            add_move(&m, AT_T_LOAD, 3, own, s % 3 * lanes, lanes);
            add_arithmetic(&m, AT_T_ADD, 2, 3, 2);
            add_move(&m, AT_T_STORE, 2, s, 0, lanes);
            add_bump(&m, s, s % 2 ? lanes : -lanes, -1);
        }
        for (int k = 0; k < 8; k++) {
            at_tile_op *op = add_index(&m, (k * 5) % list, k, strides[k % 3]);
            op->dst = (int16_t)(num_slots - 4 + k % 4);
            op->slot = (int16_t)list;
            op->may_miss = k % 2;
            const int made = op->dst;
            if (k == 2 && !entries_miss) add_digit(&m, 2, 1, 0, 6);
            add_move(&m, AT_T_BCAST, 1, made, 2, 1);
            add_move(&m, AT_T_STORE, 1, k % list, 9 + k, 1);
        }
        add_op(&m, AT_T_END);
        for (int s = 0; s < list; s++) add_bump(&m, s, s % 3 - 1, 4);
        add_op(&m, AT_T_END);
        for (int s = 0; s < list; s++) add_move(&m, AT_T_STORE, 3, s, 7, 1);
        compare_tile(a, finish(&m), at_format(a, "%d pointers", num_slots));
    }
    entries_miss = false;
}

/* Registers that lie in memory, and trip counts that come in registers, in a tile of few pointers.
 */
static void spilled_beside_passed(at_arena *a, const at_target *target) {
    if (target->is_double) return;
    for (int num_slots = 1; num_slots < 8; num_slots++) {
        maker m = start_tile(a, target, num_slots, AT_TILE_MAX_TRIPS);
        const int lanes = m.t.lanes, own = num_slots;
        m.t.num_spilled = 2;
        for (int trip = 0; trip < AT_TILE_MAX_TRIPS; trip++) {
            for (int r = 2; r <= 3; r++) add_op(&m, AT_T_CONST)->dst = (int16_t)r;
            add_move(&m, AT_T_STORE, 3, own, trip % 2 * lanes, lanes);
            add_loop(&m, 0, trip);
            add_move(&m, AT_T_LOAD, 1, own, trip % 2 * lanes, lanes);
            add_move(&m, AT_T_LOAD, 2, trip % num_slots, trip, lanes);
            add_arithmetic(&m, AT_T_ADD, 2, 1, 2);
            add_move(&m, AT_T_STORE, 2, own, trip % 2 * lanes, lanes);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 2, trip % num_slots, trip, lanes);
        }
        compare_tile(a, finish(&m), at_format(a, "%d pointers, spilled", num_slots));
    }
}

/* Columns that a list names, of a number known at run time, at strides of one and more. */
static void listed_columns(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2, 37};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        maker m = start_tile(a, target, 5, 2);
        int lanes = m.t.lanes;
        add_list(&m);
        add_op(&m, AT_T_CONST)->dst = 0;
        add_loop(&m, 0, 0);
        add_loop(&m, 0, 1);
        for (int k = 0; k < 2; k++) {
            add_index(&m, k, k - 1, strides[i]);
            if (i % 2) add_digit(&m, -5, 1, 0, 1 + 2 * k), add_digit(&m, 2, 1, 0, 6 + 12 * k);
            if (i > 1) add_digit(&m, 3, 2, 5, 7), add_digit(&m, 1, 2, 5, 4);
            add_move(&m, AT_T_LOAD, 1, 4, 2, lanes);
            add_move(&m, AT_T_BCAST, 2, 4, -3, 1);
            add_arithmetic(&m, AT_T_FMA, 0, 1, 2);
        }
        add_bump(&m, 3, 1, -1);
        add_op(&m, AT_T_END);
        add_bump(&m, 0, 5, -1);
        add_op(&m, AT_T_END);
        add_move(&m, AT_T_STORE, 0, 2, 0, lanes);
        compare_tile(a, finish(&m), at_format(a, "columns times %d", (int)strides[i]));
    }
}

/* Where an entry is below 0, its pointer leads to numbers, of one kind or another. */
static void entries_that_miss(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2, 37};
    entries_miss = true;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        maker m = start_tile(a, target, 5, 2);
        int lanes = m.t.lanes;
        add_list(&m);
        add_op(&m, AT_T_CONST)->dst = 0;
        add_loop(&m, 0, 0);
        for (int k = 0; k < 3; k++) {
            at_tile_op *op = add_index(&m, k % 2, k - 1, strides[i]);
            op->may_miss = true;
            op->number = k - 0.5;
            add_move(&m, AT_T_LOAD, 1, 4, AT_TILE_NUMBERS - lanes, lanes);
            add_move(&m, AT_T_BCAST, 2, 4, k, 1);
            add_arithmetic(&m, AT_T_FMA, 0, 1, 2);
        }
        add_bump(&m, 3, 1, -1);
        add_bump(&m, 0, 5, -1);
        add_op(&m, AT_T_END);
        add_move(&m, AT_T_STORE, 0, 2, 0, lanes);
        compare_tile(a, finish(&m), at_format(a, "entries that miss, times %d", (int)strides[i]));
    }
    entries_miss = false;
}

/* Every number of lanes: what lies behind is not touched, unused lanes are zero. */
static void every_tail(at_arena *a, const at_target *target) {
    for (int n = 1; n <= target->lanes; n++) {
        maker m = start_tile(a, target, 4, 0);
        int kinds[] = {AT_T_ADD, AT_T_SUB, AT_T_MUL,  AT_T_DIV, AT_T_MIN,
                       AT_T_MAX, AT_T_FMA, AT_T_FNMA, AT_T_FMS};
        for (int r = 0; r < 5; r++) { /* what the loads have to clear */
            at_tile_op *op = add_op(&m, AT_T_CONST);
            op->dst = (int16_t)r;
            op->number = -0.75F;
        }
        add_move(&m, AT_T_LOAD, 0, 0, 0, n);
        add_move(&m, AT_T_LOAD, 1, 1, 0, n);
        add_arithmetic(&m, AT_T_ADD, 4, 4, 1);
        for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
            add_arithmetic(&m, AT_T_MOV, 2, 1, -1);
            add_arithmetic(&m, kinds[i], 2, 0, kinds[i] == AT_T_DIV ? 4 : 1);
            add_move(&m, AT_T_STORE, 2, 2, i * n, n);
        }
        add_move(&m, AT_T_STORE, 0, 3, 0, m.t.lanes);
        compare_tile(a, finish(&m), at_format(a, "tail of %d", n));
    }
}

/* All numbers of lanes in one tile, over and over, as along a diagonal: more than there are
 * registers for masks, of which a comparison takes one, and more than a few hundred masks. */
static void tails_at_once(at_arena *a, const at_target *target, bool compares) {
    maker m = start_tile(a, target, 3, 0);
    int64_t at = 0;
    for (int i = 0; i < 20; i++)
        for (int n = target->lanes; n > 0; n--, at++) {
            add_move(&m, AT_T_LOAD, 0, 0, at, n);
            if (compares) {
                add_move(&m, AT_T_LOAD, 1, 1, at, target->lanes);
                add_arithmetic(&m, AT_T_LESS, 1, 1, 0);
                add_arithmetic(&m, AT_T_AND, 0, 0, 1);
            }
            add_move(&m, AT_T_STORE, 0, 2, at * target->lanes, n);
        }
    compare_tile(a, finish(&m), compares ? "all tails, compared" : "all tails");
}

/* Every way to spread what is loaded over the lanes, in an order in which one follows another, in
 * and behind a loop. */
static void every_spread(at_arena *a, const at_target *target) {
    for (int by = 2; by < target->lanes; by++)
        for (int number = 0; number < 2 * by; number++) {
            int plus = number / 2, n = (plus + target->lanes - 1) / by + 1;
            maker m = start_tile(a, target, 4, 0);
            add_move(&m, AT_T_LOAD, 0, 0, 1, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, 1 + i, 1, i, n);
                op->by = i == 2 && target->lanes > 4 ? 3 : by;
                op->plus = i == 2 && target->lanes > 4 ? 2 : i == 3 ? by - 1 : plus;
                op->cyclic = (number + i) % 2;
                op->lanes =
                    (uint8_t)(op->cyclic ? op->by : (op->plus + target->lanes - 1) / op->by + 1);
                add_arithmetic(&m, AT_T_FMA, 0, 1 + i, 1 + i);
                add_move(&m, AT_T_STORE, 1 + i, 2, i * target->lanes, target->lanes);
            }
            add_move(&m, AT_T_LOAD, 1, 3, 0, target->lanes - 1);
            add_move(&m, AT_T_STORE, 1, 3, 2 * target->lanes, target->lanes - 1);
            add_bump(&m, 1, 3, -1);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 0, 3, 0, target->lanes);
            compare_tile(a, finish(&m),
                         at_format(a, "lanes (i + %d)/%d, or what is left", plus, by));
        }
}

/* Every way to pick what is loaded from every so many floats, or to turn what lies there, in and
 * behind a loop, each in one lane and in several; the lanes behind are 0. */
static void every_pick(at_arena *a, const at_target *target) {
    for (int step = -1; step <= target->most_step; step += step < 0 ? 3 : 1)
        for (int n = 2; n <= target->lanes && target->most_step; n++) {
            maker m = start_tile(a, target, 4, 0);
            add_move(&m, AT_T_LOAD, 0, 0, 1, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, 1 + i, 1, i, i % 2 ? target->lanes : n);
                op->times = i == 2 ? 2 : step;
                const bool is_plain = i == 3 || n == 2 || op->times < 0;
                op->by = is_plain ? 0 : 2 + (n + step * i) % (target->lanes - 2);
                op->plus = op->by ? (n + i) % op->by : 0;
                add_arithmetic(&m, AT_T_FMA, 0, 1 + i, 1 + i);
                add_move(&m, AT_T_STORE, 1 + i, 2, i * target->lanes, target->lanes);
            }
            add_bump(&m, 1, 3, -1);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 0, 3, 0, target->lanes);
            compare_tile(a, finish(&m), at_format(a, "%d lanes, %d*i", n, step));
        }
}

/* Every way to store to every so many floats, beside each other in a loop, and more of them than
 * there are masks; what lies between stays. */
static void every_store_apart(at_arena *a, const at_target *target) {
    for (int step = 2; step <= target->most_stored_step; step++)
        for (int n = 2; n <= target->lanes; n++) {
            maker m = start_tile(a, target, 4, 0);
            for (int i = 0; i < 4; i++) add_move(&m, AT_T_LOAD, i, 1, 3 * i, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_STORE, i, 2, i, i % 2 ? target->lanes : n);
                op->times = i == 2 ? 2 : step;
                op = add_move(&m, AT_T_STORE, i, 3, i * step, n);
                op->times = step;
            }
            add_bump(&m, 2, step * target->lanes, -1);
            add_op(&m, AT_T_END);
            compare_tile(a, finish(&m), at_format(a, "%d lanes stored to %d*i", n, step));
        }
}

/* Two and three registers interleaved, into others and in place, with where lanes are from in
 * registers that are left over and without. */
static void every_merge(at_arena *a, const at_target *target) {
    static const int to[][3] = {{3, 0, 1}, {0, 0, 1}, {1, 0, 1}, {0, 0, 0}, {4, 0, 0}};
    for (int i = 0; i < 5 * 6 * 2; i++) {
        static const int of[][3] = {{2, 1, 0}, {2, 1, 1}, {3, 1, 0},
                                    {3, 2, 1}, {3, 1, 2}, {2, 0, 1}};
        const int *registers = to[i % 5], *which = of[i / 5 % 6];
        maker m = start_tile(a, target, 3, 0);
        if (i / 30) m.t.num_regs = 6;
        for (int k = 0; k < 3; k++) add_move(&m, AT_T_LOAD, k, 1, k * target->lanes, target->lanes);
        at_tile_op *op = add_arithmetic(&m, AT_T_MERGE, registers[0], registers[1], registers[2]);
        op->lanes = (uint8_t)target->lanes;
        op->by = which[0] | which[1] << 4 | which[2] << 8;
        add_move(&m, AT_T_STORE, registers[0], 2, 0, target->lanes);
        compare_tile(a, finish(&m), at_format(a, "merge %x, %d", (unsigned)op->by, i));
    }
}

static void hand_made_run(const at_target *target) {
    skip_without(target);
    at_arena *a = at_arena_new();
    most_arguments(a, target);
    every_tail(a, target);
    tails_at_once(a, target, false);
    tails_at_once(a, target, true);
    every_spread(a, target);
    every_pick(a, target);
    every_store_apart(a, target);
    if (target->merges) every_merge(a, target);
    more_pointers_than_registers(a, target);
    spilled_beside_passed(a, target);
    listed_columns(a, target);
    entries_that_miss(a, target);
    if (target->in_double) every_tail(a, target->in_double);
    if (target->in_double) tails_at_once(a, target->in_double, false);
    if (target->in_double) most_arguments(a, target->in_double);
    at_arena_free(a);
}

static void hand_made_scalar(void **state) { (void)state, hand_made_run(at_target_find("scalar")); }
static void hand_made_sse2(void **state) { (void)state, hand_made_run(at_target_find("sse2")); }
static void hand_made_avx2(void **state) { (void)state, hand_made_run(at_target_find("avx2")); }
static void hand_made_avx512(void **state) { (void)state, hand_made_run(at_target_find("avx512")); }
static void hand_made_a64(void **state) { (void)state, hand_made_run(at_target_find("a64")); }
static void hand_made_neon(void **state) { (void)state, hand_made_run(at_target_find("neon")); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_made_scalar), cmocka_unit_test(hand_made_sse2),
        cmocka_unit_test(hand_made_avx2),   cmocka_unit_test(hand_made_avx512),
        cmocka_unit_test(hand_made_a64),    cmocka_unit_test(hand_made_neon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
