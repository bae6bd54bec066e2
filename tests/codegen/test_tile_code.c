/* Machine code of the tiles of programs, run between guard pages. */
#include "tests/codegen/between_pages.h"
#include "tests/codegen/support.h"

#define SPARSE_COMPUTE                                                                             \
    "data[Y, K]        : input\n"                                                                  \
    "blocks[nnz, R, C] : weight\n"                                                                 \
    "indices[nnz]      : index\n"                                                                  \
    "indptr[J + 1]     : index\n"                                                                  \
    "cc[y:Y, j:J, r:R, c:C] = sum(e : indptr[j] .. indptr[j+1])\n"                                 \
    "    data[y, indices[e]*C + c] * blocks[e, r, c]\n"                                            \
    "out[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\n"

static const program programs[] = {
    {"conv3", CONV_SIZES(3, 1, 3), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv6", CONV_SIZES(6, 1, 6), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv17", CONV_SIZES(17, 1, 17), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv31", CONV_SIZES(31, 1, 31), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv31_by_13", CONV_SIZES(31, 3, 13), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"matmul", "Y=11 X=29 K=13 yo=3 yi=4 xo=2 xi=16 ko=4 ki=4",
     "a[Y, K] : input\n"
     "b[K, X] : weight\n"
     "bias[X] : input\n"
     "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n"
     "d[y:Y, x:X] = min(max(c[y, x]*0.5 + bias[x], 0 - 3), a[y, 0]) / 2.0\n",
     "yo, xo =>\n"
     "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
     "        @c = {yo, yi}/y, {xo, xi}/x // {ko, ki}/k\n"
     "    yi:unroll, xi:vec =>\n"
     "        @d = {yo, yi}/y, {xo, xi}/x\n"},
    /* sums over as many blocks as a list has */
    {"sparse", "Y=35 X=48 K=27 R=16 C=1 J=3 nnz=31 yo=5 yi=7 r=16 c=1", SPARSE_COMPUTE,
     "yo, j =>\n"
     "    e:dyn(j), yi:unroll, r:vec, c:unroll =>\n"
     "        @cc = {yo, yi}/y, j, r, c // e\n"
     "    yi:unroll, r:vec, c:unroll =>\n"
     "        @out = {yo, yi}/y, {j, r}/x // c\n"},
    {"sparse_5x3", "Y=12 X=20 K=27 R=5 C=3 J=4 nnz=17 yo=3 yi=4 r=5 c=3", SPARSE_COMPUTE,
     "j, yo =>\n"
     "    e:dyn(j), yi, r:vec, c:unroll =>\n"
     "        @cc = {yo, yi}/y, j, r, c // e\n"
     "    yi, r:vec, c:unroll =>\n"
     "        @out = {yo, yi}/y, {j, r}/x // c\n"},
    /* terms at places that a list says, as many as it has, and a few */
    {"gathered", "E=31 V=3 M=9 K=13",
     "w[E] : weight\n"
     "list[E] : index\n"
     "ptr[V + 1] : index\n"
     "x[M] : input\n"
     "s[v:V] = sum(e : ptr[v] .. ptr[v+1]) w[e]*x[list[e]]\n"
     "o[k:K] = x[list[k]] - w[k]\n",
     "v, e:dyn(v) vec =>\n"
     "    @s = v // e\n"
     "k:vec =>\n"
     "    @o = k\n"},
    /* and where numbers bound what a list says */
    {"bounded", "N=45 T=41",
     "x[T] : input\n"
     "z[T, 3] : input\n"
     "i[N] : index\n"
     "o[n:N] = x[min(i[n] + 1, T - 1)]*0.5 + z[max(min(i[n] - 2, T - 5), 0), 1]\n"
     "u[n:N] = x[min(i[n] - 9, T - 5) + 9] + z[max(i[n] - 9, 0 - 7) + 7, 2]\n",
     "n:vec =>\n"
     "    @o = n\n"
     "n:vec =>\n"
     "    @u = n\n"},
    /* the same where blocks of lanes end beyond the axis, and one entry bounds another's place */
    {"gathered_tail", "M=3 N=45 T=41 no=3 ni=16",
     "x[T] : input\n"
     "i[M, N] : index\n"
     "o[m:M, n:N] = x[i[m, n]] + x[min(i[m, n] + 1, T - 1)]\n",
     "m, no, ni:vec =>\n"
     "    @o = m, {no, ni}/n\n"},
    /* lanes of which an entry means one, at most */
    {"one_hot", "M=3 V=45 vo=3 vi=16",
     "i[M] : index\n"
     "y[m:M, v:V] = i[m] == v ? 1 : 0\n",
     "m, vo, vi:vec =>\n"
     "    @y = m, {vo, vi}/v\n"},
    {"one_hot_in_parts", "M=37 mo=3 mi=16 V=29",
     "i[M] : index\n"
     "y[m:M, v:V] = i[m] == v ? 1 : 0\n",
     "mo, mi, v:vec =>\n"
     "    @y = {mo, mi}/m, v\n"},
    /* rows to columns, and what no square of four covers; either loop inside */
    {"turn", "Y=11 X=22", "a[Y, X] : input\nb[x:X, y:Y] = a[y, x]\n",
     "x, y:vec =>\n"
     "    @b = x, y\n"},
    {"turn_back", "Y=8 X=7 Z=3", "a[Z, Y, X] : input\nb[z:Z, x:X, y:Y] = a[z, y, x]\n",
     "z, y, x:vec =>\n"
     "    @b = z, x, y\n"},
    /* what is made of weights alone: registers of doubles */
    {"packed", "Y=5 X=21 K=7",
     "a[Y, K] : input\n"
     "w[K, X] : weight\n"
     "s[K]    : weight\n"
     "u[k:K, x:X] = (w[k, x]*0.3 - w[K - 1 - k, x]/3.0)*s[k] + max(w[k, x], min(w[0, x], 0.7))\n"
     "b[y:Y, x:X] = sum(k:K) a[y, k] * u[k, x]\n",
     "k, x:vec =>\n"
     "    @u = k, x\n"
     "y, k, x:vec =>\n"
     "    @b = y, x // k\n"},
    /* rows above and below the picture, of a number known at run time: zeros and copies */
    {"pad", "H=19 W=21 ho=4 hi=6 w=21 c=5 C=5 D=4",
     "data[H, W, C] : input\n"
     "out[h:H + 4, w:W, c:C] = inside ? data[h - 2, w, c] : 0\n"
     "    where inside = 2 <= h && h < H + 2\n",
     "ho, hi, w, c:vec =>\n"
     "    @out = {ho, hi}/h, w, c\n"},
};
enum { NUM_PROGRAMS = sizeof programs / sizeof *programs };

static int count_ops(const at_low *l, at_tile_kind kind) {
    int n = 0;
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0; j < l->tiles.data[i]->num_ops; j++)
            n += l->tiles.data[i]->ops[j].kind == kind;
    return n;
}

static const program *program_named(const char *name) {
    int i = 0;
    while (strcmp(programs[i].name, name) != 0) i++;
    return &programs[i];
}

/* No lane reads by itself because a block of lanes would end beyond an axis. */
static void tails_are_gathered(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_low *l = lowered_for(a, program_named("gathered_tail"), AT_DIALECT_TCC,
                            at_target_find("avx512"), "tiles");
    assert_int_equal(count_ops(l, AT_T_GATHER), 3 * 3 * 2); /* rows, vectors of each, reads */
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0; j < l->tiles.data[i]->num_ops; j++)
            assert_true(l->tiles.data[i]->ops[j].lanes != 1);
    at_arena_free(a);
}

/* All lanes are compared with the entry; none are stored one by one before and behind it. */
static void one_lane_is_a_mask(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_low *l =
        lowered_for(a, program_named("one_hot"), AT_DIALECT_TCC, at_target_find("avx512"), "tiles");
    assert_int_equal(count_ops(l, AT_T_STORE), 3 * 3); /* rows, vectors of each */
    assert_int_equal(count_ops(l, AT_T_EQUAL), 3 * 3);
    for (int i = 0; i < l->tiles.len; i++) assert_int_equal(l->tiles.data[i]->num_trips, 0);
    at_arena_free(a);
}

/* The same where the last part has fewer rows: the condition that cut their loop says that the rows
 * which are gone through lie inside. */
static void one_lane_is_a_mask_in_parts(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_low *l = lowered_for(a, program_named("one_hot_in_parts"), AT_DIALECT_TCC,
                            at_target_find("avx512"), "tiles");
    assert_int_equal(l->tiles.len, 1);
    assert_int_equal(count_ops(l, AT_T_STORE), 2); /* vectors of a row */
    assert_int_equal(count_ops(l, AT_T_EQUAL), 2);
    at_arena_free(a);
}

/* Where the instructions have it, what lanes read at such places stays in vectors. */
static void bounded_places_are_gathered(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_target *targets[] = {at_target_find("avx2"), at_target_find("avx512")};
    for (int k = 0; k < 2; k++) {
        at_low *l = lowered_for(a, program_named("bounded"), AT_DIALECT_TCC, targets[k], "tiles");
        assert_int_equal(count_ops(l, AT_T_GATHER),
                         4 * ((45 + targets[k]->lanes - 1) / targets[k]->lanes));
        assert_true(count_ops(l, AT_T_INT_MIN) > 0);
    }
    at_arena_free(a);
}

/* Of a tensor of nearly 2^31 elements, a place and what is added outside of lanes is more than
 * lanes hold. */
static void far_places_are_not_gathered(void **state) {
    (void)state;
    static const char body[] = "x[R, D] : input\n"
                               "e[N]    : index\n"
                               "y[d:D, n:N] = x[min(max(e[n] - 15000000, 0), R - 1), d]\n";
    const program sizes[] = {
        {"near", "R=1000 D=16 N=32", body, "d, n:vec =>\n    @y = d, n\n"},
        {"far", "R=134217720 D=16 N=32", body, "d, n:vec =>\n    @y = d, n\n"}};
    at_arena *a = at_arena_new();
    for (int far = 0; far < 2; far++) {
        at_low *l = lowered_for(a, &sizes[far], AT_DIALECT_TCC, at_target_find("avx512"), "tiles");
        assert_true((count_ops(l, AT_T_GATHER) > 0) == !far);
    }
    at_arena_free(a);
}

static void programs_run(const at_target *target) {
    skip_without(target);
    at_arena *a = at_arena_new();
    int with_trips = 0, with_lists = 0, in_double = 0;
    for (int i = 0; i < NUM_PROGRAMS; i++) {
        at_low *l = lowered_for(a, &programs[i], AT_DIALECT_TCC, target, "tiles");
        assert_true(l->tiles.len > 0);
        for (int j = 0; j < l->tiles.len; j++) {
            with_trips += l->tiles.data[j]->num_trips > 0;
            with_lists += l->tiles.data[j]->num_pointers > 0;
            in_double += l->tiles.data[j]->target->is_double;
            compare_tile(a, l->tiles.data[j], programs[i].name);
        }
    }
    assert_true(with_trips > 0 && with_lists > 0 &&
                in_double > 0); /* or the programs no longer test what they are for */
    at_arena_free(a);
}

static void programs_scalar(void **state) { (void)state, programs_run(at_target_find("scalar")); }
static void programs_sse2(void **state) { (void)state, programs_run(at_target_find("sse2")); }
static void programs_avx2(void **state) { (void)state, programs_run(at_target_find("avx2")); }
static void programs_avx512(void **state) { (void)state, programs_run(at_target_find("avx512")); }
static void programs_a64(void **state) { (void)state, programs_run(at_target_find("a64")); }
static void programs_neon(void **state) { (void)state, programs_run(at_target_find("neon")); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_gathered),
        cmocka_unit_test(one_lane_is_a_mask),
        cmocka_unit_test(one_lane_is_a_mask_in_parts),
        cmocka_unit_test(bounded_places_are_gathered),
        cmocka_unit_test(far_places_are_not_gathered),
        cmocka_unit_test(programs_scalar),
        cmocka_unit_test(programs_sse2),
        cmocka_unit_test(programs_avx2),
        cmocka_unit_test(programs_avx512),
        cmocka_unit_test(programs_a64),
        cmocka_unit_test(programs_neon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
