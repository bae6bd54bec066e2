/* Machine code that is kept by what it was made of: whatever a tile differs in, its code is what
 * the encoder makes of it and no other tile's. */
#include <string.h>

#include "tests/codegen/hand_made.h"
#include "tests/codegen/support.h"

/* A list's entry makes a pointer; a loop loads, computes and stores. */
static at_tile *make_tile(at_arena *a, const at_target *target) {
    maker m = start_tile(a, target, 4, 1);
    add_list(&m);
    add_index(&m, 1, 3, 2);
    add_digit(&m, 5, 2, 7, 3);
    add_op(&m, AT_T_CONST)->dst = 2;
    m.ops.data[m.ops.len - 1].number = 0.5;
    add_loop(&m, 9, -1);
    add_move(&m, AT_T_LOAD, 0, 0, 40, target->lanes);
    add_move(&m, AT_T_BCAST, 1, 3, 2, 1);
    add_arithmetic(&m, AT_T_ADD, 3, 0, 1);
    add_arithmetic(&m, AT_T_MUL, 3, 3, 2);
    add_move(&m, AT_T_STORE, 3, 1, 8, target->lanes);
    add_bump(&m, 0, 24, -1);
    add_op(&m, AT_T_END);
    add_bump(&m, 1, 3, 0);
    return at_copy(a, finish(&m), sizeof m.t);
}

enum { INDEX, DIGIT, NUMBER, LOOP, LOAD, SPREAD, ADD, MUL, STORE, BUMP, END, BUMP_BY_TRIPS };

/* One thing of the tile is another; false: there are no more. */
static bool change(at_tile *t, int what) {
    at_tile_op *op = t->ops;
    switch (what) {
    case 0: op[INDEX].off++; return true;
    case 1: op[INDEX].bump++; return true;
    case 2: op[INDEX].slot = 0; return true;
    case 3: op[INDEX].base = op[DIGIT].base = 0; return true;
    case 4: op[DIGIT].times++; return true;
    case 5: op[DIGIT].plus++; return true;
    case 6: op[DIGIT].by = 6; return true;
    case 7: op[DIGIT].most = 100; return true;
    case 8: op[NUMBER].number = 0.25; return true;
    case 9: op[NUMBER].dst = 4, op[MUL].b = 4; return true;
    case 10: op[LOOP].trip++; return true;
    case 11: op[LOOP].trip_arg = 0; return true;
    case 12: op[LOAD].off++; return true;
    case 13: op[LOAD].lanes = 1; return true;
    case 14: op[LOAD].slot = 1; return true;
    case 15: op[ADD].kind = AT_T_SUB; return true;
    case 16: op[ADD].a = 1, op[ADD].b = 0; return true;
    case 17: op[MUL].mem = AT_MEM_CONST, op[MUL].b = -1, op[MUL].number = 2; return true;
    case 18: op[STORE].lanes = 1; return true;
    case 19: op[BUMP].bump = 48; return true;
    case 20: op[BUMP_BY_TRIPS].trip_arg = -1; return true;
    case 21: t->num_trips = 2; return true;
    default: return false;
    }
}

static void compare(at_arena *a, at_tile *t) {
    at_tile fresh = *t;
    t->hash = at_tile_hash(t);
    assert_true(t->target->encode(a, &fresh));
    for (int again = 0; again < 2; again++) {
        t->code = NULL;
        assert_true(at_tile_encode(a, t));
        assert_int_equal(t->code_bytes, fresh.code_bytes);
        assert_memory_equal(t->code, fresh.code, (size_t)fresh.code_bytes);
    }
}

static void code_is_the_tiles_own(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    int seen = 0;
    for (int i = 0; at_target_at(i); i++) {
        const at_target *target = at_target_at(i);
        if (!target->encode || target->is_double) continue;
        seen++;
        compare(a, make_tile(a, target));
        for (int what = 0;; what++) {
            at_tile *t = make_tile(a, target);
            if (!change(t, what)) break;
            compare(a, t);
        }
        compare(a, make_tile(a, target));
    }
    assert_true(seen > 1);
    at_arena_free(a);
}

/* Names are no part of the code, and whose memory it lies in is the caller's. */
static void code_outlives_the_one_before(void **state) {
    (void)state;
    const at_target *target = at_target_at(0);
    while (target && !target->encode) target++;
    at_arena *first = at_arena_new(), *second = at_arena_new();
    at_tile *t = make_tile(first, target), *other = make_tile(second, target);
    other->name = "other";
    t->hash = at_tile_hash(t);
    other->hash = at_tile_hash(other);
    assert_true(at_tile_encode(first, t));
    size_t n = (size_t)t->code_bytes;
    uint8_t *expected = at_copy(second, t->code, n);
    assert_true(at_tile_encode(second, other));
    at_arena_free(first);
    assert_int_equal(other->code_bytes, n);
    assert_memory_equal(other->code, expected, n);
    at_arena_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_the_tiles_own),
        cmocka_unit_test(code_outlives_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
