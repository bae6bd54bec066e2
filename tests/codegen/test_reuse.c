/* What a tile works out once: operations that it has in its loops, and before them. What comes out
 * is what the other tests look at. */
#include <string.h>

#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

/* Operations of a kind in a tile, in loops and outside of them. */
typedef struct {
    int inside, outside;
} found;

static found count(const at_low *l, at_tile_kind kind) {
    found f = {0};
    for (int i = 0; i < l->tiles.len; i++) {
        const at_tile *t = l->tiles.data[i];
        for (int j = 0, depth = 0; j < t->num_ops; j++) {
            depth += (t->ops[j].kind == AT_T_LOOP) - (t->ops[j].kind == AT_T_END);
            if (t->ops[j].kind == kind) depth ? f.inside++ : f.outside++;
        }
    }
    return f;
}

/* Vectors that all tiles read from memory, as operands, too. */
static int vectors_read(const at_low *l) {
    int n = 0;
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0; j < l->tiles.data[i]->num_ops; j++) {
            const at_tile_op *op = &l->tiles.data[i]->ops[j];
            n += op->kind == AT_T_LOAD || op->mem == AT_MEM_VECTOR;
        }
    return n;
}

static const at_low *tiles_for(at_arena *a, const program *p, const char *isa) {
    return lowered_for(a, p, AT_DIALECT_GNU, at_target_find(isa), "tiles");
}

static const at_low *lowered(at_arena *a, const program *p) { return tiles_for(a, p, "avx512"); }

/* As many terms in loops as each of the others there has, times `rows`; how many quotients. */
static void expect(const program *p, int rows, at_tile_kind other, found quotients) {
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, p);
    found terms = count(l, AT_T_FMA), others = count(l, other), divs = count(l, AT_T_DIV);
    if (!terms.inside || terms.inside != rows * others.inside || others.outside)
        fail_msg("%s: %d terms in loops, %d of what is in each, %d outside", p->name, terms.inside,
                 others.inside, others.outside);
    if (divs.inside != quotients.inside || divs.outside != quotients.outside)
        fail_msg("%s: %d quotients in loops, %d outside", p->name, divs.inside, divs.outside);
    at_arena_free(a);
}

/* Four rows, each a vector of 16: the mean's quotient is worked out for all of them before the
 * loop, the difference once a turn for both of its factors. */
static void variance(void **state) {
    (void)state;
    static const program p = {"variance", "K=64 X=16",
                              "a[K, X] : input\n"
                              "s[X]    : input\n"
                              "q[x:X] = sum(k:K) (a[k, x] - s[x]/48.0) * (a[k, x] - s[x]/48.0)\n",
                              "k, x:vec =>\n"
                              "    @q = x // k\n"};
    expect(&p, 1, AT_T_SUB, (found){0, 1});
}

/* A column's zero and scale do not hang on the rows. */
static void rows(void **state) {
    (void)state;
    static const program p = {"rows", "K=64 Y=4 X=16",
                              "a[Y, K] : input\n"
                              "w[K, X] : input\n"
                              "z[X]    : input\n"
                              "c[X]    : input\n"
                              "q[y:Y, x:X] = sum(k:K) a[y, k] * ((w[k, x] - z[x]) * c[x])\n",
                              "k, y:unroll, x:vec =>\n"
                              "    @q = y, x // k\n"};
    expect(&p, 4, AT_T_SUB, (found){0, 0});
    expect(&p, 4, AT_T_MUL, (found){0, 0});
}

/* What is stored in the loop may be what is read: nothing leaves it. */
static void stored(void **state) {
    (void)state;
    static const program p = {"stored", "K=8 Y=64 X=16",
                              "a[K, X]   : input\n"
                              "m[y:1, x:X] = a[0, x] + a[1, x]\n"
                              "o[y:Y, x:X] = m[0, x]/3.0 - a[y%8, x]\n",
                              "y =>\n"
                              "    x:vec =>\n"
                              "        @m = 0, x\n"
                              "    x:vec =>\n"
                              "        @o = y, x\n"};
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, &p);
    for (int i = 0; i < l->tiles.len; i++) {
        const at_tile *t = l->tiles.data[i];
        for (int j = 0, depth = 0; j < t->num_ops; j++) {
            depth += (t->ops[j].kind == AT_T_LOOP) - (t->ops[j].kind == AT_T_END);
            if (!depth && t->ops[j].mem == AT_MEM_VECTOR)
                for (int k = 0; k < t->num_ops; k++)
                    assert_false(t->ops[k].kind == AT_T_STORE && t->ops[k].slot == t->ops[j].slot);
        }
    }
    at_arena_free(a);
}

/* Four rows of windows over sums along six: each of the six is worked out once, behind stores of
 * the rows before, and each of their elements is loaded once. */
static void windows(void **state) {
    (void)state;
    static const program p = {"windows", "Y=4 X=16",
                              "a[Y + 2, X + 2] : input\n"
                              "s[y:Y+2, x:X] = a[y, x] + a[y, x + 1] + a[y, x + 2]\n"
                              "q[y:Y, x:X] = s[y, x] + s[y + 1, x] + s[y + 2, x]\n",
                              "y:unroll, x:vec =>\n"
                              "    @q = y, x\n"};
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, &p);
    assert_int_equal(count(l, AT_T_ADD).outside, 6 * 2 + 4 * 2);
    assert_int_equal(vectors_read(l), 6 * 3);
    at_arena_free(a);
}

/* Twelve sums leave three registers: both vectors of a tap stay there for its six points, whose
 * values the next tap, which has five of them, too, reads again. */
static void taps(void **state) {
    (void)state;
    static const program p = {"taps", "C=16 V=6 F=16",
                              "x[C, V + 2]  : input\n"
                              "w[C, 3, F]   : input\n"
                              "s[v:V, f:F] = sum(c:C, q:3) x[c, v + q] * w[c, q, f]\n",
                              "c, q:unroll, v:unroll, f:vec =>\n"
                              "    @s = v, f // c, q\n"};
    at_arena *a = at_arena_new();
    const at_low *l = tiles_for(a, &p, "avx2");
    assert_int_equal(count(l, AT_T_FMA).inside, 3 * 6 * 2);
    assert_int_equal(vectors_read(l), 3 * 2);
    at_arena_free(a);
}

/* The least, the median and the largest of three rows share both of the first two rows, and what is
 * not a number is asked of one of them, for either: they are one tile where they stand in one
 * loop. Of what they are stored as nothing is asked. */
static void sorted(void **state) {
    (void)state;
    static const program p = {
        "sorted", "H=9 W=1024 a0=64 a1=16 b1=16 c1=16",
        "x[H, W] : input\n"
        "lo[y:H-2, z:W] = min(x[y, z], x[y + 1, z], x[y + 2, z])\n"
        "hi[y:H-2, z:W] = max(x[y, z], x[y + 1, z], x[y + 2, z])\n"
        "mi[y:H-2, z:W] = max(min(x[y, z], x[y + 1, z]), min(max(x[y, z], x[y + 1, z]), x[y + 2, "
        "z]))\n"
        "o[y:H-2, z:W-1] = max(lo[y, z], lo[y, z + 1]) + min(mi[y, z + 1], hi[y, z])\n",
        "y:para =>\n"
        "    a0 =>\n"
        "        a1:vec =>\n"
        "            @lo = y, {a0, a1}/z\n"
        "        b1:vec =>\n"
        "            @hi = y, {a0, b1}/z\n"
        "        c1:vec =>\n"
        "            @mi = y, {a0, c1}/z\n"
        "    z:vec =>\n"
        "        @o = y, z\n"};
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, &p);
    assert_int_equal(count(l, AT_T_MIN).inside + count(l, AT_T_MAX).inside, 8);
    at_arena_free(a);
}

/* A loop that may not run at all reads nothing before it. */
static void no_turn(void **state) {
    (void)state;
    static const program p = {"no_turn", "R=5 N=9 X=16",
                              "ends[R + 1] : index\n"
                              "a[N, X]     : input\n"
                              "s[R, X]     : input\n"
                              "q[r:R, x:X] = sum(k:ends[r]..ends[r + 1]) a[k, x] * (s[r, x]/7.0)\n",
                              "r, k:dyn(r), x:vec =>\n"
                              "    @q = r, x // k\n"};
    at_arena *a = at_arena_new();
    found divs = count(lowered(a, &p), AT_T_DIV);
    assert_true(divs.inside > 0 && !divs.outside);
    at_arena_free(a);
}

/* A product that is added or taken away once, or that something is taken from, takes one
 * instruction with that, where there is such a one; what else needs it stays. */
static void products(void **state) {
    (void)state;
    enum { KINDS = 8 };
    static const int kinds[KINDS] = {AT_T_FMA, AT_T_FNMA, AT_T_FMS, AT_T_MUL,
                                     AT_T_DIV, AT_T_ADD,  AT_T_SUB, AT_T_MOV};
    static const struct {
        const char *value;
        int fused[KINDS], apart[KINDS];
    } cases[] = {
        {"a[x] + 3.0*b[x]", {1, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 1, 0, 0}},
        {"3.0*b[x] + a[x]", {1, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 1, 0, 0}},
        {"a[x] - b[x]*c[x]", {0, 1, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 1, 0}},
        {"b[x]*c[x] - a[x]", {0, 0, 1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 1, 0}},
        {"a[x]*b[x] + b[x]*c[x] - a[x]*c[x]", {1, 1, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 3, 0, 1, 1, 0}},
        {"(a[x]*b[x] - c[x])*c[x] - a[x]", {0, 0, 2, 0, 0, 0, 0, 1}, {0, 0, 0, 2, 0, 0, 2, 0}},
        {"(a[x] + b[x]*c[x]) * (c[x] - b[x]*c[x])",
         {0, 0, 0, 2, 0, 1, 1, 0},
         {0, 0, 0, 2, 0, 1, 1, 0}},
        {"a[x]*(b[x] + a[x]*(b[x] + a[x]*c[x]))",
         {2, 0, 0, 1, 0, 0, 0, 1},
         {0, 0, 0, 3, 0, 2, 0, 0}},
        {"c[x] - (a[x] + b[x])/256.0", {0, 1, 0, 0, 0, 1, 0, 0}, {0, 0, 0, 1, 0, 1, 1, 0}},
        {"a[x]/-4.0", {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 0}},
        {"a[x]/3.0 + b[x]/0.0", {0, 0, 0, 0, 2, 1, 0, 0}, {0, 0, 0, 0, 2, 1, 0, 0}},
        /* what is added to its own square is in the sum's register already */
        {"a[x] + a[x]*a[x]", {1, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 1, 0, 0}},
        {"(a[x] + b[x])*(a[x] + b[x]) - (a[x] + b[x])",
         {0, 0, 1, 0, 0, 1, 0, 0},
         {0, 0, 0, 1, 0, 1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int apart = 0; apart < 2; apart++) {
            at_arena *a = at_arena_new();
            const char *text = at_format(a,
                                         "a[X] : input\nb[X] : input\nc[X] : input\n"
                                         "o[x:X] = %s\n",
                                         cases[i].value);
            const program p = {"products", "X=4", text, "x:vec =>\n    @o = x\n"};
            const at_low *l = tiles_for(a, &p, apart ? "sse2" : "avx2");
            for (int k = 0; k < KINDS; k++) {
                int n = count(l, (at_tile_kind)kinds[k]).outside;
                int expected = apart ? cases[i].apart[k] : cases[i].fused[k];
                if (n != expected)
                    fail_msg("%s: %d of kind %d, not %d", cases[i].value, n, kinds[k], expected);
            }
            at_arena_free(a);
        }
}

/* Operations of a kind in loops that stand so deep. */
static int count_at(const at_low *l, at_tile_kind kind, int wanted) {
    int n = 0;
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0, depth = 0; j < l->tiles.data[i]->num_ops; j++) {
            const at_tile_op *op = &l->tiles.data[i]->ops[j];
            depth += (op->kind == AT_T_LOOP) - (op->kind == AT_T_END);
            n += depth == wanted &&
                 (op->kind == kind || (kind == AT_T_BCAST && op->mem == AT_MEM_BCAST));
        }
    return n;
}

/* What four rows have for all columns is loaded before the loop over these. */
static void loads(void **state) {
    (void)state;
    static const program p = {"loads", "I=40 K=96 J=256 i0=10 i1=4 j0=32 j1=8",
                              "a[I, K] : input\nb[K, J] : input\n"
                              "c[i:I, j:J] = sum(k:K) a[i, k]*b[k, j]\n",
                              "i0, k, j0, i1:unroll, j1:vec =>\n"
                              "    @c = {i0, i1}/i, {j0, j1}/j // k\n"};
    at_arena *a = at_arena_new();
    const at_low *l = tiles_for(a, &p, "avx2");
    assert_int_equal(count_at(l, AT_T_BCAST, 2), 4);
    assert_int_equal(count_at(l, AT_T_BCAST, 3), 0);
    assert_int_equal(count_at(l, AT_T_FMA, 3), 4);
    at_arena_free(a);
}

/* Eight numbers that stay in registers through the loop over the points would leave too few for the
 * elements of a turn, which are put together one by one and read twice. */
static void one_by_one(void **state) {
    (void)state;
    static const program p = {"one_by_one", "M=128 V=8 m0=16 m1=8",
                              "x[M, V] : input\n"
                              "w[V] : input\n"
                              "most[m:M] = max(v:V) x[m, v]\n"
                              "q[m:M] = sum(v:V) x[m, v] == most[m] ? w[v] : 0\n",
                              "m0 =>\n"
                              "    v:unroll, m1:vec =>\n"
                              "        @most = {m0, m1}/m // v\n"
                              "    v:unroll, m1:vec =>\n"
                              "        @q = {m0, m1}/m // v\n"};
    at_arena *a = at_arena_new();
    const at_low *l = tiles_for(a, &p, "avx2");
    assert_int_equal(l->tiles.len, 1);
    assert_int_equal(count_at(l, AT_T_LOAD, 1), 8);
    at_arena_free(a);
}

/* A function of a row's number is worked out before the loop over the row, with all the
 * operations that change a register one after the other; one of the elements stays in the loop. Two
 * vectors beside each other do not keep it there to take turns. */
static void functions(void **state) {
    (void)state;
    enum { KINDS = 4 };
    static const int kinds[KINDS] = {AT_T_MUL_ADD, AT_T_FMA, AT_T_BLEND, AT_T_MOV};
#define ROWS(name, value)                                                                          \
    {                                                                                              \
        name, "Y=8 X=4096 x0=256 x1=16",                                                           \
            "a[Y, X] : input\ns[Y] : input\no[y:Y, x:X] = " value "\n",                            \
            "y, x0, x1:vec =>\n    @o = y, {x0, x1}/x\n"                                           \
    }
    static const program plain = ROWS("plain", "exp(a[y, x]) - s[y]"),
                         of_row = ROWS("of_row", "exp(a[y, x]) - log(s[y])");
#undef ROWS
    static const program two = {
        "two", "Y=8 X=4096 x0=128 x1=32",
        "a[Y, X] : input\ns[Y] : input\no[y:Y, x:X] = a[y, x] - log(s[y])\n",
        "y, x0, x1:vec =>\n    @o = y, {x0, x1}/x\n"};
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, &plain), *of = lowered(a, &of_row);
    assert_true(count_at(l, AT_T_MUL_ADD, 2) > 0);
    for (int k = 0; k < KINDS; k++)
        assert_int_equal(count_at(of, (at_tile_kind)kinds[k], 2),
                         count_at(l, (at_tile_kind)kinds[k], 2));
    assert_true(count_at(of, AT_T_MUL_ADD, 1) > 0);
    assert_true(count_at(of, AT_T_BLEND, 1) > 0);
    assert_int_equal(count_at(lowered(a, &two), AT_T_BLEND, 2), 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variance), cmocka_unit_test(rows),       cmocka_unit_test(stored),
        cmocka_unit_test(windows),  cmocka_unit_test(taps),       cmocka_unit_test(no_turn),
        cmocka_unit_test(products), cmocka_unit_test(loads),      cmocka_unit_test(functions),
        cmocka_unit_test(sorted),   cmocka_unit_test(one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
