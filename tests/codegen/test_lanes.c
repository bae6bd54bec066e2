/* Lanes along points and their parts: which operations a tile has then. What comes out is what the
 * other tests look at. */
#include <string.h>

#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

/* The only tile of a program. */
static const at_tile *tile_of(at_arena *a, const program *p, const char *isa) {
    at_low *l = lowered_for(a, p, AT_DIALECT_GNU, at_target_find(isa), "tiles");
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

static int count_all(const at_tile *t, of_interest *is_one) {
    return count(t, is_one, true) + count(t, is_one, false);
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

/* Stores of several registers of each part are joined, too, and those of first lanes. */
static void wide_and_narrow_groups(void **state) {
    (void)state;
    static const struct {
        const char *sizes;
        int whole[2], rest[2], apart[2]; /* of avx2, avx512 */
    } cases[] = {
        {"P=8000 p0=500 p1=16", {4, 2}, {0, 0}, {0, 0}},
        {"P=8000 p0=250 p1=32", {8, 4}, {0, 0}, {0, 0}},
        {"P=6000 p0=1000 p1=6", {1, 0}, {1, 1}, {0, 0}},
        {"P=7000 p0=500 p1=14", {3, 1}, {1, 1}, {0, 0}}, /* 8 and 6 lanes; 14 */
    };
    for (int i = 0; i < 8; i++) {
        const int k = i % 2;
        at_arena *a = at_arena_new();
        const program p = {
            "groups", cases[i / 2].sizes,
            "x[P, 2] : input\ny[p:P, c:2] = c == 0 ? x[p, 0] - x[p, 1] : x[p, 0] + x[p, 1]\n",
            "p0, c:unroll, p1:vec =>\n    @y = {p0, p1}/p, c\n"};
        const at_tile *t = tile_of(a, &p, k ? "avx512" : "avx2");
        const int whole = count_all(t, is_store), apart = count_all(t, is_store_apart),
                  rest = count_all(t, is_other_store) - apart;
        if (whole != cases[i / 2].whole[k] || rest != cases[i / 2].rest[k] ||
            apart != cases[i / 2].apart[k])
            fail_msg("case %d: %d whole, %d of first lanes, %d apart", i, whole, rest, apart);
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

static bool is_swap(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_SWAP;
}

static bool is_store_of_four(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_STORE && op->lanes == 4 && !op->times;
}

static bool keeps_the_rest(const at_tile *t, const at_tile_op *op) {
    (void)t;
    return op->kind == AT_T_FIRST;
}

/* Lanes of four sums that lie side by side are joined together: a swap for each halving down to
 * four lanes, and one store; those of the two rows that are left, each by itself. Of lanes that
 * hold products of two loads, which are 0 beyond, none are kept. */
static void fours_of_dots(void **state) {
    (void)state;
    static const program p = {"dots", "N=64 K=300 n0=8 n1=6 k0=10 k1=30",
                              "a[N, K] : input\n"
                              "x[K] : input\n"
                              "y[n:48] = sum(k:K) a[n, k]*x[k]\n",
                              "n0, k0, n1:unroll, k1:vec =>\n"
                              "    @y = {n0, n1}/n // {k0, k1}/k\n"};
    static const struct {
        const char *isa;
        int swaps, fours;
    } sets[] = {{"sse2", 4, 1}, {"avx2", 1 + 2 * 3, 1}, {"avx512", 2 + 2 * 4, 1}, {"neon", 4, 1}};
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        const at_tile *t = tile_of(a, &p, sets[i].isa);
        const int fours = count_all(t, is_store_of_four), swaps = count_all(t, is_swap);
        if (fours != sets[i].fours || swaps != sets[i].swaps)
            fail_msg("%s: %d stores of four, %d swaps", sets[i].isa, fours, swaps);
        assert_int_equal(count_all(t, keeps_the_rest), 0);
        at_arena_free(a);
    }
}

/* Rows of a triangle that is stored row behind row: each row of a tile has a pointer of its own. */
static void rows_of_a_triangle(void **state) {
    (void)state;
    static const program p = {"triangle", "N=64 n0=16 n1=4 k0=4 k1=16",
                              "a[N*N] : input\n"
                              "x[N] : input\n"
                              "y[n:N] = sum(k:N) a[n*(n + 1)/2 + k]*x[k]\n",
                              "n0, k0, n1:unroll, k1:vec =>\n"
                              "    @y = {n0, n1}/n // {k0, k1}/k\n"};
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        const at_tile *t = tile_of(a, &p, sets[i]);
        assert_int_equal(t->num_slots, 4 + 2);
        assert_int_equal(count_all(t, is_store_of_four), 1);
        at_arena_free(a);
    }
}

/* Of sums that a diagonal cuts, where no mask says what lies inside, vectors are added to as many
 * elements as are left, and to fewer the rest; likewise terms along what is left of a row. */
static void cut_sums(void **state) {
    (void)state;
    static const program programs[] = {
        {"elements", "N=64 n0=2 n1=32",
         "a[N*N] : input\n"
         "x[N] : input\n"
         "y[n:N] = sum(k:N) (n > k ? a[k*N - k*(k + 1)/2 + n] : 0)*x[k]\n",
         "n0 =>\n    k, n1:vec =>\n        @y = {n0, n1}/n // k\n"},
        {"terms", "N=64 k0=2 k1=32",
         "a[N*N] : input\n"
         "x[N] : input\n"
         "y[n:N] = sum(k:N) (k >= n ? a[n*N - n*(n + 1)/2 + k] : 0)*x[k]\n",
         "n, k0, k1:vec =>\n    @y = n // {k0, k1}/k\n"}};
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        int cut = 0;
        at_low *l = lowered_for(a, &programs[i], AT_DIALECT_GNU, at_target_find("avx2"), "tiles");
        for (int t = 0; t < l->tiles.len; t++) {
            const at_tile *tile = l->tiles.data[t];
            cut += tile->num_trips > 0;
            if (tile->num_trips && !count(tile, is_whole_load, true))
                fail_msg("%s: %s goes element by element", programs[i].name, tile->name);
        }
        assert_true(cut > 0);
        at_arena_free(a);
    }
}

/* Calls of a tile that stand alone in an `if`, or do not. */
static int calls_of(const at_ir *list, const char *name, bool is_alone, bool alone) {
    int n = 0;
    for (; list; list = list->next) {
        const at_ir *in = list->child;
        const bool asks = list->kind == AT_IR_IF && in && !in->next && !list->other;
        if (list->kind == AT_IR_TILE)
            n += is_alone == alone && !strcmp(list->call->tile->name, name);
        else n += calls_of(in, name, asks, alone) + calls_of(list->other, name, false, alone);
    }
    return n;
}

/* The last rows are eleven, behind whose diagonal no block of four terms is left, so that nothing
 * says how many rows such a block has: a tile of thirteen is called only where its loop runs. */
static void loops_that_never_run(void **state) {
    (void)state;
    static const program p = {"rows", "N=63 i0=5 i1=13 j0=16 j1=4",
                              "a[2016] : input\n"
                              "x[N] : input\n"
                              "y[i:N] = max(j:N) j <= i ? a[i*(i + 1)/2 + j] : x[j]\n",
                              "i0:para, j0, i1:unroll, j1:vec =>\n"
                              "    @y = {i0, i1}/i // {j0, j1}/j\n"};
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        at_low *l = lowered_for(a, &p, AT_DIALECT_GNU, at_target_find(sets[i]), "tiles");
        assert_int_equal(calls_of(l->root, "tile_13x4", false, true), 2);
        assert_int_equal(calls_of(l->root, "tile_13x4", false, false), 0);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(flat),
                                       cmocka_unit_test(groups),
                                       cmocka_unit_test(wide_and_narrow_groups),
                                       cmocka_unit_test(read_between),
                                       cmocka_unit_test(cut_copies),
                                       cmocka_unit_test(from_last_to_first),
                                       cmocka_unit_test(fours_of_dots),
                                       cmocka_unit_test(rows_of_a_triangle),
                                       cmocka_unit_test(cut_sums),
                                       cmocka_unit_test(loops_that_never_run),
                                       cmocka_unit_test(begun)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
