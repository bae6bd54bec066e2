/* Weights are asked for a block ahead: every line of them that lies behind the first block was
 * asked for before it is read first, evenly over the block before. Inputs that a sum reads once are
 * asked for some steps ahead. */
#include "tests/codegen/support.h"

#include <string.h>

#include "codegen/codegen_int.h"
#include "tests/codegen/tile_walk.h"

enum { MOST_LINES = 1 << 14, LINE = 16, ROOM = 1 << 20 };

/* ---- loops ----------------------------------------------------------------------------------- */

static void loops(void **state) {
    (void)state;
    const at_weights_loop rows = {.extent = 7},
                          all[] = {{.extent = 16, .growth = 65536},
                                   rows,
                                   {.extent = 4, .growth = 16384},
                                   {.extent = 512, .growth = 32, .is_reduce = true},
                                   {.extent = 7, .is_written_out = true},
                                   {.extent = 32, .growth = 1, .is_written_out = true}};
    assert_int_equal(at_ahead_loop(all, 6, 2 * 65536), 0);
    assert_int_equal(at_ahead_turns(all, 6, 0), 7 * 4 * 512);
    assert_int_equal(at_ahead_loop(all, 6, 2 * 65536 - 1), -1); /* two have no room */
    assert_int_equal(at_ahead_loop(all + 1, 5, ROOM), -1);      /* blocks come once each */
    const at_weights_loop inner[] = {all[0], all[2], rows, all[3], all[5]};
    assert_int_equal(at_ahead_loop(inner, 5, 2 * 65536 - 1), 1); /* smaller blocks */
    assert_int_equal(at_ahead_loop(inner, 5, ROOM), 0);
    const at_weights_loop apart[] = {{.extent = 4, .growth = 8}, rows, {.extent = 8, .growth = 32}};
    assert_int_equal(at_ahead_loop(apart, 3, ROOM), -1); /* blocks overlap */
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct asked {
    walk walk; /* first: the callback gets it */
    int weights;
    int first_read[MOST_LINES], first_asked[MOST_LINES]; /* reads of weights before; 0: never */
    int reads, asks;
} asked;

static void note(int *of, int64_t element, int at) {
    const int64_t line = element / LINE;
    if (line >= 0 && line < MOST_LINES && !of[line]) of[line] = at;
}

static void follow(walk *w, const at_tile_call *c) {
    asked *x = (asked *)w;
    walk_tile t = walk_begin(w, c);
    for (const at_tile_op *op; (op = walk_next(&t));) {
        const bool reads = op->kind == AT_T_LOAD || op->mem == AT_MEM_VECTOR;
        if (op->slot < 0 || op->slot >= c->tile->num_slots || t.tensor[op->slot] != x->weights)
            continue;
        const int64_t element = t.slot[op->slot] + op->off;
        if (op->kind == AT_T_PREFETCH) note(x->first_asked, element, x->reads + 1), x->asks++;
        else if (reads) note(x->first_read, element, ++x->reads);
    }
}

static const char product[] = "a[Y, K] : input\n"
                              "w[P, K, 32] : weight\n"
                              "acc[y:Y, x:32*P] = sum(k:K) a[y, k] * w[x/32, k, x%32]\n"
                              "out[y:Y, x:32*P] = acc[y, x]\n";
#define TILE                                                                                       \
    "    k, yi:unroll, xi:vec =>\n"                                                                \
    "        @acc = {yo, yi}/y, {po, pi, xi}/x // k\n"                                             \
    "    yi:unroll, xi:vec =>\n"                                                                   \
    "        @out = {yo, yi}/y, {po, pi, xi}/x\n"

static const program products[] = {
    {"fused", "Y=28 K=64 P=16 po=4 yo=4 pi=4 yi=7 xi=32 k=64", product,
     "{po, yo}:para, pi =>\n" TILE},
    {"nested", "Y=28 K=64 P=16 po=8 yo=4 pi=2 yi=7 xi=32 k=64", product, "po, yo, pi =>\n" TILE},
    {"panels", "Y=28 K=64 P=16 po=16 yo=4 pi=1 yi=7 xi=32 k=64", product, "po, pi, yo =>\n" TILE},
};

/* The last cache holds inputs of so many bytes. */
static void lowered_with(at_arena *a, const program *p, const at_target *target, int64_t last,
                         asked *x) {
    at_low *l;
    const at_lower_options o = {.dialect = AT_DIALECT_TCC,
                                .target = target,
                                .name = p->name,
                                .verify = true,
                                .prefetch_above = 1,
                                .prefetch_apart_above = last,
                                .prefetch_room = ROOM};
    const at_program *built = program_of(a, p);
    CALL(at_lower_until(a, built, &o, "tiles", &l, &err));
    x->walk = (walk){.syms = l->syms.data, .call = follow};
    x->weights = at_compute_find(built->compute, "w");
    walk_list(&x->walk, l->root);
}

static void lowered(at_arena *a, const program *p, const at_target *target, asked *x) {
    lowered_with(a, p, target, 0, x);
}

static void check(const program *p, const at_target *target) {
    at_arena *a = at_arena_new();
    asked *x = AT_NEW(a, asked);
    lowered(a, p, target, x);
    const int po = !strcmp(p->name, "fused") ? 4 : !strcmp(p->name, "nested") ? 8 : 16;
    const int lines = 16 * 64 * 32 / LINE, block = lines / po;
    int reads_of_block = x->reads / po, near = 0;
    for (int i = 0; i < lines; i++) {
        if (!x->first_read[i]) fail_msg("%s for %s: line %d is not read", p->name, target->name, i);
        if (i < block) continue;
        if (!x->first_asked[i] || x->first_asked[i] > x->first_read[i])
            fail_msg("%s for %s: line %d is read before it is asked for", p->name, target->name, i);
        near += x->first_asked[i] <= (i / block - 1) * reads_of_block;
    }
    if (near) fail_msg("%s for %s: %d lines are asked for too early", p->name, target->name, near);
    /* each four rows of tiles take a quarter */
    assert_in_range(x->first_asked[block + block / 2], reads_of_block / 4, reads_of_block * 3 / 4);
    at_arena_free(a);
}

static void lines(void **state) {
    (void)state;
    const at_target *target;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int t = 0; (target = at_target_at(t)); t++)
            if (target->encode && target->lanes >= 4 && !target->is_double)
                check(&products[i], target);
}

/* Few turns do not ask for hundreds of lines each, in every vector of them. */
static void few_turns(void **state) {
    (void)state;
    static const program few = {"few", "Y=2 K=2 P=4 yo=2 po=4 xi=4096 k=2",
                                "a[Y, K] : input\n"
                                "w[P, K, 4096] : weight\n"
                                "acc[y:Y, x:4096*P] = sum(k:K) a[y, k] * w[x/4096, k, x%4096]\n"
                                "out[y:Y, x:4096*P] = acc[y, x]\n",
                                "po, yo =>\n"
                                "    k, xi:vec =>\n"
                                "        @acc = yo, {po, xi}/x // k\n"
                                "    xi:vec =>\n"
                                "        @out = yo, {po, xi}/x\n"};
    at_arena *a = at_arena_new();
    asked *x = AT_NEW(a, asked);
    lowered(a, &few, at_target_find("avx2"), x);
    assert_true(x->reads > 0);
    assert_in_range(x->asks, 0, 4 * (4 * 2 * 4096 / LINE));
    at_arena_free(a);
}

#define HALVES(rows)                                                                               \
    "h" rows " =>\n"                                                                               \
    "    j, d:vec =>\n"                                                                            \
    "        @out = r, {h, d}/d // j\n"

/* Half of each row at a time: 64 B of 128, so that 8 KB are 64 steps. */
static void inputs(void **state) {
    (void)state;
    static const char sums[] = "a[R, J] : input\n"
                               "w[J, 32] : input\n"
                               "out[r:R, d:32] = sum(j:J) a[r, j] * w[j, d]\n";
    static const program once = {"once", "R=1 J=1024 h=2 d=16 r=1 j=1024", sums, HALVES(", r")},
                         again = {"again", "R=2 J=1024 h=2 d=16 r=2 j=1024", sums, HALVES(", r")};
    at_arena *a = at_arena_new();
    asked *x = AT_NEW(a, asked);
    lowered(a, &once, at_target_find("avx512"), x);
    for (int i = 0; i < 2 * 1024; i++) {
        const int j = i / 2, before = x->first_read[i] - x->first_asked[i];
        if (!x->first_read[i]) fail_msg("line %d is not read", i);
        if (j >= 64 && (!x->first_asked[i] || before < 60 || before > 68))
            fail_msg("line %d is asked for %d reads before it is read", i, before);
    }
    x = AT_NEW(a, asked);
    lowered(a, &again, at_target_find("avx512"), x);
    assert_true(x->reads > 0);
    assert_int_equal(x->asks, 0);
    at_arena_free(a);
}

#define LONG(num, k0)                                                                              \
    "J=4096 K=" num " j0=1024 j1=4 k0=" k0 " k1=16",                                               \
        "w[J, K] : input\n"                                                                        \
        "v[K] : input\n"                                                                           \
        "out[j:J] = sum(k:K) w[j, k] * v[k]\n",                                                    \
        "j0, k0, j1:unroll, k1:vec =>\n"                                                           \
        "    @out = {j0, j1}/j // {k0, k1}/k\n"

/* Rows of 2 KB are asked for ahead; what a loop goes along for longer comes by itself. */
static void runs(void **state) {
    (void)state;
    static const program rows[] = {{"2 KB", LONG("512", "32")}, {"3 KB", LONG("768", "48")}};
    at_arena *a = at_arena_new();
    for (int i = 0; i < 2; i++) {
        asked *x = AT_NEW(a, asked);
        lowered(a, &rows[i], at_target_find("avx512"), x);
        assert_true(x->reads > 0);
        assert_int_equal(x->asks > 0, i == 0);
    }
    at_arena_free(a);
}

/* A loop over rows that goes on beside where it began asks for none of what the last cache holds,
 * and only where most of what it asks for are rows that are left. Where it goes on behind them it
 * asks for all. */
static void apart(void **state) {
    (void)state;
    static const char sums[] = "a[R, J] : input\n"
                               "w[J, 32] : input\n"
                               "out[r:R, d:32] = sum(j:J) a[r, j] * w[j, d]\n";
    static const struct {
        program p;
        int64_t last;
        bool asks;
    } cases[] = {
        {{"1024 rows from memory", "R=1 J=1024 h=2 d=16 r=1 j=1024", sums, HALVES(", r")}, 0, true},
        {{"1024 rows", "R=1 J=1024 h=2 d=16 r=1 j=1024", sums, HALVES(", r")}, 1 << 20, false},
        {{"128 rows", "R=1 J=128 h=2 d=16 r=1 j=128", sums, HALVES(", r")}, 0, false},
        {{"rows behind each other", LONG("512", "32")}, 1 << 30, true},
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        asked *x = AT_NEW(a, asked);
        lowered_with(a, &cases[i].p, at_target_find("avx512"), cases[i].last, x);
        if (!x->reads || (x->asks > 0) != cases[i].asks)
            fail_msg("%s: %d reads, %d asked for", cases[i].p.name, x->reads, x->asks);
    }
    at_arena_free(a);
}

/* Lines of weights that rows of a tile go along, 256 steps of 64: one of `apart` is asked for, 8 KB
 * ahead, each before it is read. */
static void check_rows(const program *rows, int apart) {
    at_arena *a = at_arena_new();
    asked *x = AT_NEW(a, asked);
    lowered(a, rows, at_target_find("avx512"), x);
    for (int i = 0; i < 4 * 256 * 64 / LINE; i++) {
        const int before = x->first_read[i] - x->first_asked[i];
        if (!x->first_read[i]) fail_msg("%s: line %d is not read", rows->name, i);
        if (i % apart ? x->first_asked[i] : i >= 128 && (before < 124 || before > 132))
            fail_msg("%s: line %d is asked for %d reads before it is read", rows->name, i, before);
    }
    assert_int_equal(x->asks, 4 * 256 * 4 / apart);
    at_arena_free(a);
}

#define ROWS(num)                                                                                  \
    "P=4 Y=" num " K=256 p=4 y=" num " x=64 k=256",                                                \
        "a[Y, K] : input\n"                                                                        \
        "w[P, K, 64] : weight\n"                                                                   \
        "out[y:Y, z:64*P] = sum(k:K) a[y, k] * w[z/64, k, z%64]\n",                                \
        "p, k, y:unroll, x:vec =>\n"                                                               \
        "    @out = y, {p, x}/z // k\n"

/* What few rows go along is brought by the machine, too; beside the products of many an asking for
 * each line is little. */
static void rows(void **state) {
    (void)state;
    static const program few[] = {{"one row", ROWS("1")}, {"four rows", ROWS("4")}},
                         many[] = {{"five rows", ROWS("5")}, {"six rows", ROWS("6")}};
    for (int i = 0; i < 2; i++) check_rows(&few[i], 4);
    for (int i = 0; i < 2; i++) check_rows(&many[i], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops),     cmocka_unit_test(lines),
                                       cmocka_unit_test(few_turns), cmocka_unit_test(inputs),
                                       cmocka_unit_test(runs),      cmocka_unit_test(apart),
                                       cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
