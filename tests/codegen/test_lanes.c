/* Lanes along points and their parts: which operations a tile has then. What comes out is what the
 * other tests look at. */
#include <string.h>

#include "codegen/tile_make.h"
#include "tests/codegen/support.h"

/* The only tile of a program. */
static const at_tile *tile_of(at_arena *a, const program *p, const char *isa) {
    at_low *l;
    at_lower_options o = {
        .dialect = AT_DIALECT_GNU, .target = at_target_find(isa), .name = "k", .verify = true};
    CALL(at_lower_until(a, program_of(a, p), &o, "tiles", &l, &err));
    assert_int_equal(l->tiles.len, 1);
    return l->tiles.data[0];
}

typedef bool of_interest(const at_tile *t, const at_tile_op *op);

static int count(const at_tile *t, of_interest *is_one, bool in_loops) {
    int n = 0;
    for (int i = 0, depth = 0; i < t->num_ops; i++) {
        depth += (t->ops[i].kind == AT_T_LOOP) - (t->ops[i].kind == AT_T_END);
        n += is_one(t, &t->ops[i]) && (depth > 0) == in_loops;
    }
    return n;
}

static bool is_store(const at_tile *t, const at_tile_op *op) {
    return op->kind == AT_T_STORE && op->lanes == t->lanes && !op->times;
}
static bool is_store_apart(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_STORE && op->times;
}
static bool is_other_store(const at_tile *t, const at_tile_op *op) {
    return op->kind == AT_T_STORE && !is_store(t, op);
}
static bool goes_round(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_LOAD && op->cyclic;
}
static bool is_spread(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_LOAD && op->by && !op->cyclic;
}
static bool is_whole_load(const at_tile *t, const at_tile_op *op) {
    bool loads = op->kind == AT_T_LOAD && !op->by && !op->times;
    return (loads || op->mem == AT_MEM_VECTOR) && op->lanes == t->lanes;
}

/* Pixels of three colours: as many whole stores as there are registers of them, three loads that go
 * round for each number of the colours, before the loop; a pixel's light is spread. */
static void flat(void **state) {
    (void)state;
    static const program p = {"flat", "W=16000 w0=1000 w1=16",
                              "x[W, 3] : input\n"
                              "mean[3] : input\n"
                              "light[W] : input\n"
                              "y[w:W, c:3] = (x[w, c] - mean[c])*light[w]\n",
                              "w0, {w1, c}:vec =>\n"
                              "    @y = {w0, w1}/w, c\n"};
    static const char *const sets[] = {"sse2", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        const at_tile *t = tile_of(a, &p, sets[i]);
        const int registers = 48 / t->lanes;
        assert_int_equal(count(t, is_store, true), registers);
        assert_int_equal(count(t, is_other_store, true), 0);
        assert_int_equal(count(t, is_whole_load, true), registers);
        assert_int_equal(count(t, goes_round, false), 3);
        assert_int_equal(count(t, goes_round, true), 0);
        assert_int_equal(count(t, is_spread, true), registers);
        at_arena_free(a);
    }
}

/* What all of a group is stored to is stored in whole registers; not where a part is left out, nor
 * where it is read in between. */
static void groups(void **state) {
    (void)state;
    static const struct {
        const char *compute;
        int whole, apart; /* of avx2 */
    } cases[] = {
        {"x[P, 2] : input\ny[p:P, c:2] = c == 0 ? x[p, 0] - x[p, 1] : x[p, 0] + x[p, 1]\n", 2, 0},
        {"x[P, 3] : input\ny[p:P, c:3] = x[p, 2 - c]\n", 3, 0},
        {"x[P, 4] : input\ny[p:P, c:4] = x[p, 3 - c]*x[p, c]\n", 4, 0},
        {"x[P, 5] : input\ny[p:P, c:5] = x[p, 4 - c]*2\n", 4, 1}, /* fours of rows */
    };
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        const program p = {"groups", "P=8000 p0=1000 p1=8", cases[i].compute,
                           "p0, c:unroll, p1:vec =>\n    @y = {p0, p1}/p, c\n"};
        const at_tile *t = tile_of(a, &p, "avx2");
        if (count(t, is_store, true) != cases[i].whole ||
            count(t, is_store_apart, true) != cases[i].apart)
            fail_msg("case %d: %d whole, %d apart", i, count(t, is_store, true),
                     count(t, is_store_apart, true));
        at_arena_free(a);
    }
}

/* A running sum along the parts reads each part once it is stored: they are no group. */
static void read_between(void **state) {
    (void)state;
    static const program p = {"between", "P=8000 p0=1000 p1=8",
                              "x[P, 2] : input\n"
                              "s[p:P, c:2] = sum(k:0..c + 1) x[p, k]\n",
                              "p0, c:unroll, p1:vec =>\n"
                              "    @s[running] = {p0, p1}/p, c // 0\n"};
    at_arena *a = at_arena_new();
    const at_tile *t = tile_of(a, &p, "avx2");
    assert_int_equal(count(t, is_store, true), 0);
    assert_int_equal(count(t, is_store_apart, true), 2);
    at_arena_free(a);
}

static bool is_picked(const at_tile *t, const at_tile_op *op) {
    return op->kind == AT_T_LOAD && op->times == 2 && op->lanes == t->lanes;
}

static bool is_turned(const at_tile *t, const at_tile_op *op) {
    return op->kind == AT_T_LOAD && op->times == -1 && op->lanes == t->lanes;
}

/* What is read from last to first is loaded by vectors and turned. */
static void from_last_to_first(void **state) {
    (void)state;
    static const program p = {"turned", "H=30 W=64",
                              "x[H, W] : input\n"
                              "y[h:H, w:W] = x[H - 1 - h, W - 1 - w] - x[h, w]\n",
                              "h, w:vec =>\n    @y = h, w\n"};
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        const at_tile *t = tile_of(a, &p, sets[i]);
        assert_int_equal(count(t, is_turned, true), 64 / t->lanes);
        assert_int_equal(count(t, is_store, true), 64 / t->lanes);
        at_arena_free(a);
    }
}

/* Rows of windows of which a border, wherever it lies, cuts some elements: what is left is vectors
 * and a rest, and so are the zeros, though nobody asked. */
static void cut_copies(void **state) {
    (void)state;
    static const program p = {"cut", "H=30 V=64 Q=7",
                              "x[H, 2*V] : input\n"
                              "win[h:H, q:Q, v:V] = 0 <= 2*v + 9*q - 30 && 2*v + 9*q - 30 < 2*V ? "
                              "x[h, 2*v + 9*q - 30] : 0\n",
                              "h, q, v =>\n    @win = h, q, v\n"};
    static const char *const sets[] = {"avx2", "avx512"};
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        const at_tile *t = tile_of(a, &p, sets[i]);
        assert_true(count(t, is_picked, true) > 0);
        assert_true(count(t, is_store, true) > 0);
        at_arena_free(a);
    }
}

/* A sum that is stored begins in registers: it is neither zeroed in memory nor loaded. */
static void begun(void **state) {
    (void)state;
    static const program p = {"begun", "N=4 K=64 k0=4 k1=16",
                              "x[N, K] : input\n"
                              "s[n:N] = sum(k:K) x[n, k]\n",
                              "n, k0, k1:vec =>\n"
                              "    @s = n // {k0, k1}/k\n"};
    at_arena *a = at_arena_new();
    const at_tile *t = tile_of(a, &p, "avx2");
    int stores = 0, loads = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const bool of_sum = t->ops[i].slot >= 0 && !strcmp(t->slot_name[t->ops[i].slot], "s");
        stores += of_sum && t->ops[i].kind == AT_T_STORE;
        loads += of_sum && t->ops[i].kind == AT_T_LOAD;
    }
    assert_int_equal(stores, 1);
    assert_int_equal(loads, 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(flat),
                                       cmocka_unit_test(groups),
                                       cmocka_unit_test(read_between),
                                       cmocka_unit_test(cut_copies),
                                       cmocka_unit_test(from_last_to_first),
                                       cmocka_unit_test(begun)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
