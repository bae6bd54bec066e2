/* Attributes of a stage: how its storage lies, and what its reads ask for ahead. That programs with
 * them compute the same is for test_random. */
#include <string.h>

#include "codegen/tile/tile_make.h"
#include "tests/arena.h"
#include "tests/codegen/support.h"

/* A product of packed panels: of the weight, and of the data in a copy. */
static const char sizes[] = "Y=28 X=64 K=40 yo=2 yi=14 xo=2 xi=32 n=5";
static const char compute[] = "A[Y, K] : input\n"
                              "B[K, X] : weight\n"
                              "packb[p:xo, k:K, b:xi] = B[k, p*32 + b]\n"
                              "packa[q:yo, k:K, r:yi] = A[q*14 + r, k]\n"
                              "acc[y:Y, x:X] = sum(k:K) packa[y/14, k, y%14]*packb[x/32, k, x%32]\n"
                              "out[y:Y, x:X] = max(acc[y, x], 0)\n";

static at_low *lower(const char *packb, const char *packa, const char *acc, const char *until) {
    const char *tree = at_format(arena,
                                 "xo =>\n"
                                 "    k, xi =>\n"
                                 "        @packb%s = xo, k, xi\n"
                                 "    yo =>\n"
                                 "        k, yi =>\n"
                                 "            @packa%s = yo, k, yi\n"
                                 "        k, yi:unroll, xi:vec =>\n"
                                 "            @acc%s = {yo, yi}/y, {xo, xi}/x  // k\n"
                                 "        yi:unroll, xi:vec =>\n"
                                 "            @out = {yo, yi}/y, {xo, xi}/x\n",
                                 packb, packa, acc);
    const at_program *p = program_of(arena, &(program){"attributes", sizes, compute, tree});
    const at_lower_options o = {.dialect = AT_DIALECT_TCC,
                                .name = "k",
                                .verify = true,
                                .pack_inline = true,
                                .target = at_target_find("avx512")};
    at_low *l;
    CALL(at_lower_until(arena, p, &o, until, &l, &err));
    return l;
}

static void expect_strides(const at_low *l, const char *stage, int64_t a, int64_t b, int64_t c) {
    const int64_t *s = l->buffers[at_compute_find(l->program->compute, stage)].stride;
    if (s[0] != a || s[1] != b || s[2] != c)
        fail_msg("%s: strides %lld, %lld, %lld, not %lld, %lld, %lld", stage, (long long)s[0],
                 (long long)s[1], (long long)s[2], (long long)a, (long long)b, (long long)c);
}

static void rows(void **state) {
    (void)state;
    at_low *l = lower("", "", "", "buffers");
    expect_strides(l, "packb", 48 * 40, 48, 1);
    expect_strides(l, "packa", 14 * 40, 14, 1); /* too short for gaps */
    l = lower("[dense]", "[dense]", "", "buffers");
    expect_strides(l, "packb", 32 * 40, 32, 1);
    l = lower("[pad 4]", "[pad n]", "", "buffers");
    expect_strides(l, "packb", 36 * 40, 36, 1);
    expect_strides(l, "packa", 19 * 40, 19, 1);
    l = lower("[pad 0]", "", "", "buffers");
    expect_strides(l, "packb", 32 * 40, 32, 1);
}

static void orders(void **state) {
    (void)state;
    at_low *l = lower("[order k p b]", "[order q r k][dense]", "", "buffers");
    expect_strides(l, "packb", 48, 48, 1); /* p has one value inside xo */
    expect_strides(l, "packa", 14 * 40, 1, 40);
    l = lower("", "[pad 3][order q r k]", "", "buffers");
    expect_strides(l, "packa", 14 * 43, 1, 43);
}

static void prefetches(void **state) {
    (void)state;
    at_low *l = lower("", "", "[prefetch packb 2048][prefetch packa 512]", "tiles");
    int64_t ahead[2] = {0};
    int found[2] = {0};
    for (int t = 0; t < l->tiles.len; t++) {
        const at_tile *tile = l->tiles.data[t];
        for (int i = 0; i < tile->num_ops; i++) {
            const at_tile_op *op = &tile->ops[i];
            if (op->kind != AT_T_PREFETCH) continue;
            bool b = !strcmp(tile->slot_name[op->slot], "packb");
            found[b]++;
            if (!ahead[b] || op->off < ahead[b]) ahead[b] = op->off;
        }
    }
    /* broadcasts of packa ask for nothing: they are no vectors */
    assert_int_equal(found[0], 0);
    assert_true(found[1] >= 2);
    assert_int_equal(ahead[1], 2048 / 4);
}

/* Squares that are turned round ask for each of their rows: of what is read, and of what is
 * written.
 */
static void prefetches_of_squares(void **state) {
    (void)state;
    static const struct {
        const char *asked, *types, *isa;
        int found; /* of a loop over squares: its rows */
    } cases[] = {{"a 512", "f32", "sse2", 4},    {"t 256", "f32", "sse2", 4},
                 {"a 512", "f32", "avx512", 16}, {"t 256", "f32", "avx512", 4},
                 {"a 512", "u8", "sse2", 16},    {"t 256", "bf16", "sse2", 8},
                 {"a 512", "bf16", "avx2", 16}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const at_program *p = program_of(
            arena,
            &(program){"squares", "Y=64 X=64",
                       at_format(arena,
                                 "a[Y, X] : input %s\n"
                                 "t[x:X, y:Y] : output %s = a[y, x]\n",
                                 cases[k].types, cases[k].types),
                       at_format(arena, "x, y =>\n    @t[prefetch %s] = x, y\n", cases[k].asked)});
        const at_lower_options o = {.dialect = AT_DIALECT_GNU,
                                    .name = "k",
                                    .verify = true,
                                    .target = at_target_find(cases[k].isa)};
        at_low *l;
        CALL(at_lower_until(arena, p, &o, "tiles", &l, &err));
        int found = 0;
        for (int t = 0; t < l->tiles.len; t++)
            for (int i = 0; i < l->tiles.data[t]->num_ops; i++) {
                const at_tile_op *op = &l->tiles.data[t]->ops[i];
                found += op->kind == AT_T_PREFETCH &&
                         *l->tiles.data[t]->slot_name[op->slot] == *cases[k].asked;
            }
        if (found < cases[k].found) fail_msg("case %zu: %d lines are asked for", k, found);
    }
}

/* Packed ahead it is a parameter, and lies as the tree says, too. */
static void packed_ahead(void **state) {
    (void)state;
    static const char product[] = "A[Y, K] : input\n"
                                  "B[K, X] : weight\n"
                                  "packb[p:xo, k:K, b:xi] = B[k, p*32 + b]\n"
                                  "out[y:Y, x:X] = sum(k:K) A[y, k]*packb[x/32, k, x%32]\n";
    static const char tree[] = "p, k, b =>\n"
                               "    @packb[pad 16][order k p b] = p, k, b\n"
                               "xo, y, k, xi:vec =>\n"
                               "    @out = y, {xo, xi}/x  // k\n";
    const at_program *p =
        program_of(arena, &(program){"ahead", "Y=28 X=64 K=40 xo=2 xi=32 p=2 b=32", product, tree});
    const at_lower_options o = {
        .dialect = AT_DIALECT_GNU, .name = "k", .verify = true, .target = at_target_find("avx512")};
    at_low *l;
    CALL(at_lower_until(arena, p, &o, "buffers", &l, &err));
    int packb = at_compute_find(l->program->compute, "packb");
    expect_strides(l, "packb", 48, 96, 1);
    assert_int_equal(l->buffers[packb].elements, 40 * 96);
    assert_true(l->buffers[packb].packed);
}

/* ---- lists of places ------------------------------------------------------------------------- */

static at_low *lower_pointers(const char *body, const char *tree, bool pack_inline,
                              const char *until, at_error *why) {
    const char *text = at_format(arena,
                                 "data[N, H, W, C] : input\n"
                                 "weight[K, K, C, F] : weight\n"
                                 "%s",
                                 body);
    const at_program *p = program_of(
        arena, &(program){"pointers", "N=2 H=5 W=4 C=8 F=32 K=3 w0=2 w1=3 f1=32", text, tree});
    const at_lower_options o = {.dialect = AT_DIALECT_TCC,
                                .name = "k",
                                .verify = true,
                                .pack_inline = pack_inline,
                                .target = at_target_find("avx2")};
    at_low *l;
    return at_lower_until(arena, p, &o, until, &l, why) == AT_OK ? l : NULL;
}

static const char padded_conv[] =
    "pad[n:N, y:H+2, x:W+2, c:C] = inside ? data[n, y-1, x-1, c] : 0\n"
    "    where inside = 1 <= y && y < H+1 && 1 <= x && x < W+1\n"
    "out[n:N, h:H, w:W, f:F] = sum(r:K, q:K, c:C) pad[n, h+r, w+q, c]*weight[r, q, c, f]\n";
#define POINTERS_TREE(attribute)                                                                   \
    "n, h, w0, r, q, c, w1:unroll, f:vec =>\n"                                                     \
    "    @out" attribute " = n, h, {w0, w1}/w, f  // r, q, c\n"

/* An entry per pixel of the padded picture, and as many as the last tail reaches beyond it; what is
 * padding leads nowhere. Lists are packed: ahead, or in the workspace. */
static void lists_of_places(void **state) {
    (void)state;
    at_low *l =
        lower_pointers(padded_conv, POINTERS_TREE("[pointers data]"), false, "buffers", NULL);
    assert_int_equal(l->lists.len, 1);
    const at_place_list *p = &l->lists.data[0];
    assert_string_equal(l->tensors[p->tensor].name, "data_rows");
    assert_int_equal(p->num_axes, 2);
    assert_int_equal(p->extent[0], 7);
    assert_int_equal(p->extent[1], 6);
    assert_int_equal(p->elements, 6 * 6 + 7 + 1); /* row 6, column 5 + 2 of the list's */
    assert_true(l->buffers[p->tensor].packed);
    l = lower_pointers(padded_conv, POINTERS_TREE("[pointers data]"), true, "buffers", NULL);
    assert_false(l->buffers[l->lists.data[0].tensor].packed);
    /* each row of a tile has a pointer, made of an entry; -1 leads to zeros */
    l = lower_pointers(padded_conv, POINTERS_TREE("[pointers data]"), false, "tiles", NULL);
    int entries = 0;
    for (int t = 0; t < l->tiles.len; t++)
        for (int i = 0; i < l->tiles.data[t]->num_ops; i++) {
            const at_tile_op *op = &l->tiles.data[t]->ops[i];
            if (op->kind != AT_T_INDEX) continue;
            assert_true(op->may_miss && op->number == 0 && op->bump == 8);
            entries++;
        }
    assert_int_equal(entries, 3 + 1); /* a full tile, and a partial one */
}

static void expect_no_list(const char *text, const char *tree) {
    at_error why = {.status = AT_OK};
    assert_null(lower_pointers(text, tree, false, "buffers", &why));
    if (!strstr(why.text, "reads no rows of it under a condition")) fail_msg("%s", why.text);
}

/* A read without a condition has no list, nor has one whose rows are not neighbours. */
static void no_lists(void **state) {
    (void)state;
    expect_no_list(
        "out[n:N, h:H-2, w:W, f:F] = sum(r:K, c:C) data[n, h+r, w, c]*weight[r, 0, c, f]\n",
        "n, h, w, r, c, f:vec =>\n    @out[pointers data] = n, h, w, f  // r, c\n");
    expect_no_list("out[n:N, h:H, w:W, f:F] = sum(r:K, c:C) (n + c + r < 9 ? data[n, h, w, c] : "
                   "0)*weight[r, 0, c, f]\n",
                   "n, h, w, r, c, f:vec =>\n    @out[pointers data] = n, h, w, f  // r, c\n");
}

/* What lies where there is no element is of the tensor's type: a number that this lacks is not read
 * by a list. */
static void numbers_of_the_type(void **state) {
    (void)state;
    static const struct {
        const char *type, *number;
        bool is_held;
    } cases[] = {{"f32", "0.1", true},   {"f16", "0.1", false},  {"f16", "301", true},
                 {"bf16", "301", false}, {"bf16", "300", true},  {"bf16", "-inf", true},
                 {"f16", "65504", true}, {"f16", "65520", false}};
    static const char tree[] = "h, c:vec =>\n    @out[pointers x] = h, c\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *body = at_format(
            arena, "x[H, C] : input %s\nout[h:H, c:C] = (h >= 1 ? x[h - 1, c] : %s)*2.0\n",
            cases[i].type, cases[i].number);
        if (!cases[i].is_held) expect_no_list(body, tree);
        else assert_int_equal(lower_pointers(body, tree, false, "buffers", NULL)->lists.len, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),         cmocka_unit_test(orders),
        cmocka_unit_test(prefetches),   cmocka_unit_test(prefetches_of_squares),
        cmocka_unit_test(packed_ahead), cmocka_unit_test(lists_of_places),
        cmocka_unit_test(no_lists),     cmocka_unit_test(numbers_of_the_type)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
