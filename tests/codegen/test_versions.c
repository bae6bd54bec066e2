/* Which tiles a product is made of: of parts that do not divide, and of those that fit registers.
 * That they compute the right thing is for test_random and for the templates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

static const char compute[] = "A[Y, K] : input\n"
                              "B[K, X] : input\n"
                              "acc[y:Y, x:X] = sum(k:K) A[y, k]*B[k, x]\n"
                              "out[y:Y, x:X] = max(acc[y, x], 0)\n";

#define TILE                                                                                       \
    "%s    k, yi:unroll, xi:vec =>\n"                                                              \
    "%s        @acc = {%syi}/y, {%sxi}/x  // k\n"                                                  \
    "%s    yi:unroll, xi:vec =>\n"                                                                 \
    "%s        @out = {%syi}/y, {%sxi}/x\n"

/* Loops around a tile of 6 x 16, and which parts of y and x they are. */
static const struct {
    const char *name, *sizes, *loops, *y, *x;
    const char *tiles; /* all of them, in order */
} cases[] = {
    {"sequential", "yt=2 yo=3 xt=2 xo=2", "yt, xt, yo, xo =>\n", "yt, yo, ", "xt, xo, ",
     "6x16 6x7 5x16 5x7"},
    {"para", "yo=6 xo=4", "yo:para, xo =>\n", "yo, ", "xo, ", "6x16 6x7 5x16 5x7"},
    {"fused", "yo=6 xo=4", "{xo, yo}:para =>\n", "yo, ", "xo, ", "6x16 6x7 5x16 5x7"},
    {"fused, more inside", "yt=2 yo=3 xt=2 xo=2", "{xt, yt}:para, yo, xo =>\n", "yt, yo, ",
     "xt, xo, ", "6x16 6x7 5x16 5x7"},
    {"fused, no loop inside for x", "yt=2 yo=3 xo=4", "{xo, yt}:para, yo =>\n", "yt, yo, ", "xo, ",
     "6x16 5x16 6x7 5x7"},
};

/* "6x16 5x16", each tile that sums once, in the order of the program. */
static void list_tiles(const at_low *l, char *out, size_t size) {
    *out = 0;
    for (int i = 0; i < l->tiles.len; i++) {
        const char *name = l->tiles.data[i]->name;
        size_t n = strlen(out);
        if (strncmp(name, "tile_", 5)) fail_msg("%s: it is no sum in registers", name);
        snprintf(out + n, size - n, "%s%s", n ? " " : "", name + 5);
    }
}

static at_low *lowered(at_arena *a, const program *of, at_dialect dialect, const char *isa) {
    return lowered_for(a, of, dialect, at_target_find(isa), "tiles");
}

/* The tiles of such a program with avx2, none of which the tool has something to say about. */
static void expect_tiles(const program *of, const char *expected) {
    char tiles[256];
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, of, AT_DIALECT_GNU, "avx2");
    list_tiles(l, tiles, sizeof tiles);
    if (strcmp(tiles, expected)) fail_msg("%s: tiles %s, not %s", of->name, tiles, expected);
    assert_int_equal(l->notes.len, 0);
    at_arena_free(a);
}

/* Two loops of the tile over one axis: the partial tile is rest and rest. */
static void blocks_of_rows(void **state) {
    (void)state;
    static const char tree[] = "{xo, yo}:para =>\n"
                               "    k, y1:unroll, y2:unroll, xi:vec =>\n"
                               "        @acc = {yo, y1, y2}/y, {xo, xi}/x  // k\n"
                               "    y1:unroll, y2:unroll, xi:vec =>\n"
                               "        @out = {yo, y1, y2}/y, {xo, xi}/x\n";
    expect_tiles(&(program){"blocks", "Y=35 X=55 K=9 yo=6 y1=3 y2=2 xo=4 xi=16", compute, tree},
                 "6x16 6x7 4x16 4x7");
}

/* The same behind a loop that decides with the parallel one around it: no sum goes through memory
 * in the turns of k. */
static void blocks_in_a_loop(void **state) {
    (void)state;
    static const char tree[] = "{xo, yt}:para, yo =>\n"
                               "    k, y1:unroll, y2:unroll, xi:vec =>\n"
                               "        @acc = {yt, yo, y1, y2}/y, {xo, xi}/x  // k\n"
                               "    y1:unroll, y2:unroll, xi:vec =>\n"
                               "        @out = {yt, yo, y1, y2}/y, {xo, xi}/x\n";
    expect_tiles(&(program){"whole", "Y=30 X=55 K=9 yt=2 yo=3 y1=3 y2=2 xo=4 xi=16", compute, tree},
                 "6x16 6x7");
    expect_tiles(&(program){"parts", "Y=34 X=55 K=9 yt=2 yo=3 y1=3 y2=2 xo=4 xi=16", compute, tree},
                 "6x16 4x16 6x7 4x7");
}

/* Loops of this name in the tiles of a product of K terms, which are written out. */
static int loops_in_tiles(const char *loop, const char *sizes) {
    static const char tree[] = "y:para, xo =>\n"
                               "    k:unroll, xi:vec =>\n"
                               "        @acc = y, {xo, xi}/x  // k\n"
                               "    xi:vec =>\n"
                               "        @out = y, {xo, xi}/x\n";
    at_arena *a = at_arena_new();
    int n = 0;
    const at_low *l = lowered(a, &(program){"turns", sizes, compute, tree}, AT_DIALECT_GNU, "avx2");
    for (int t = 0; t < l->tiles.len; t++)
        for (int i = 0; i < l->tiles.data[t]->num_ops; i++) {
            const at_tile_op *op = &l->tiles.data[t]->ops[i];
            n += op->kind == AT_T_LOOP && !strcmp(op->name, loop);
        }
    at_arena_free(a);
    return n;
}

/* Turns of few operations have one call, whose sums stay in registers in each; where the last turn
 * is another tile, that has a call of its own. Longer turns have a call each. */
static void short_turns(void **state) {
    (void)state;
    assert_int_equal(loops_in_tiles("xo", "Y=5 X=96 K=4 xo=6 xi=16"), 1);
    assert_int_equal(loops_in_tiles("xo", "Y=5 X=90 K=4 xo=6 xi=16"), 1);
    assert_int_equal(loops_in_tiles("xo", "Y=5 X=96 K=60 xo=6 xi=16"), 0);
}

/* Rows that a list names: in either version no entry is beyond its end. */
static void listed_rows(void **state) {
    (void)state;
    static const char listed[] = "A[R, K] : input\n"
                                 "rows[Y, T] : index\n"
                                 "B[T, K, X] : input\n"
                                 "acc[y:Y, x:X] = sum(t:T, k:K) A[rows[y, t], k]*B[t, k, x]\n"
                                 "out[y:Y, x:X] = acc[y, x]\n";
    static const char tree[] = "{xo, yo}:para =>\n"
                               "    t, k, yi:unroll, xi:vec =>\n"
                               "        @acc = {yo, yi}/y, {xo, xi}/x  // t, k\n"
                               "    yi:unroll, xi:vec =>\n"
                               "        @out = {yo, yi}/y, {xo, xi}/x\n";
    expect_tiles(&(program){"listed", "R=40 Y=35 T=3 X=55 K=9 yo=6 yi=6 xo=4 xi=16", listed, tree},
                 "6x16 6x7 5x16 5x7");
}

/* Tiles that a diagonal cuts, in more ways than there are versions, keep their vectors: a mask
 * chooses what is stored; a triangle below a diagonal sums whole tiles up to it. */
static void diagonals(void **state) {
    (void)state;
    static const char lower[] = "A[Y, K] : input\n"
                                "B[K, X] : input\n"
                                "acc[y:Y, x:X] = sum(k:K) (x <= y ? A[y, k]*B[k, x] : 0)\n"
                                "out[y:Y, x:X] = acc[y, x]\n",
                      product[] = "A[Y, K] : input\n"
                                  "B[K, X] : input\n"
                                  "acc[y:Y, x:X] = sum(k:K) (k <= y ? A[y, k]*B[k, x] : 0)\n"
                                  "out[y:Y, x:X] = acc[y, x]\n",
                      tree[] = "yo:para, xo =>\n"
                               "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
                               "        @acc = {yo, yi}/y, {xo, xi}/x  // {ko, ki}/k\n"
                               "    yi:unroll, xi:vec =>\n"
                               "        @out = {yo, yi}/y, {xo, xi}/x\n";
    static const struct {
        const char *compute, *sizes;
    } of[] = {{lower, "Y=50 X=64 K=9 yo=10 yi=5 xo=4 xi=16 ko=9 ki=1"},
              {lower, "Y=48 X=48 K=8 yo=8 yi=6 xo=3 xi=16 ko=4 ki=2"},
              {product, "Y=50 X=32 K=40 yo=10 yi=5 xo=2 xi=16 ko=40 ki=1"},
              {product, "Y=48 X=32 K=48 yo=8 yi=6 xo=2 xi=16 ko=24 ki=2"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        at_arena *a = at_arena_new();
        const program p = {"diagonal", of[i].sizes, of[i].compute, tree};
        const at_low *l = lowered(a, &p, AT_DIALECT_GNU, "avx2");
        int whole = 0;
        for (int k = 0; k < l->tiles.len; k++) {
            const char *name = l->tiles.data[k]->name, *rows = strchr(name, '_') + 1;
            if (!strstr(name, "x16")) fail_msg("%s: %s", of[i].sizes, name);
            whole += !strncmp(name, "tile_", 5) && strtol(rows, NULL, 10) >= 5;
        }
        if (whole < 1) fail_msg("%s: no whole tile", of[i].sizes);
        at_arena_free(a);
    }
}

/* Sums along rows from a diagonal on, and of columns up to it, too: a mask says what counts of the
 * vectors that it cuts, for all rows of a tile, and what cuts one sum cuts the other in the same
 * turns. Else each row of such a turn was a tile of its own. */
static void from_a_diagonal(void **state) {
    (void)state;
    static const char inputs[] = "A[Y, Y] : input\n"
                                 "x[Y] : input\n",
                      above[] = "acc[y:Y] : output = sum(k:Y) (k >= y ? A[y, k]*x[k] : 0)\n",
                      below[] = "out[k:Y] : output = sum(y:Y) (k > y ? A[y, k]*x[y] : 0)\n",
                      tree[] = "yo, ko =>\n"
                               "    yi:unroll, ki:vec =>\n"
                               "        @acc = {yo, yi}/y  // {ko, ki}/k\n",
                      columns[] = "    yi:unroll, ki:vec =>\n"
                                  "        @out = {ko, ki}/k  // {yo, yi}/y\n";
    static const char *const sizes[] = {
        "Y=48 yo=12 yi=4 ko=3 ki=16", "Y=192 yo=48 yi=4 ko=12 ki=16",
        "Y=192 yo=32 yi=6 ko=12 ki=16", "Y=160 yo=20 yi=8 ko=10 ki=16"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int both = 0; both < 2; both++) {
            char text[512], whole[512];
            snprintf(text, sizeof text, "%s%s%s", inputs, above, both ? below : "");
            snprintf(whole, sizeof whole, "%s%s", tree, both ? columns : "");
            at_arena *a = at_arena_new();
            const program p = {"from a diagonal", sizes[i], text, whole};
            const at_low *l = lowered(a, &p, AT_DIALECT_GNU, "avx512");
            for (int k = 0; k < l->tiles.len; k++)
                if (!strncmp(l->tiles.data[k]->name, "tile_1x", 7))
                    fail_msg("%s, %d: %s", sizes[i], both, l->tiles.data[k]->name);
            assert_int_equal(l->notes.len, 0);
            assert_true(l->tiles.len <= 4);
            at_arena_free(a);
        }
}

static void ragged(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tree[1024], sizes[256];
        int n = snprintf(tree, sizeof tree, "%s", cases[i].loops);
        snprintf(tree + n, sizeof tree - (size_t)n, TILE, "", "", cases[i].y, cases[i].x, "", "",
                 cases[i].y, cases[i].x);
        snprintf(sizes, sizeof sizes, "Y=35 X=55 K=9 yi=6 xi=16 %s", cases[i].sizes);
        expect_tiles(&(program){cases[i].name, sizes, compute, tree}, cases[i].tiles);
    }
}

/* What fits the registers runs as the knobs have it. */
static void whole(void **state) {
    (void)state;
    static const struct {
        const char *isa;
        int rows, columns;
        const char *tiles;
    } fits[] = {
        {"avx512", 28, 16, "28x16"}, {"avx512", 31, 16, "31x16"}, {"avx512", 14, 32, "14x32"},
        {"avx512", 8, 32, "8x32"},   {"avx512", 9, 48, "9x48"},   {"avx512", 7, 64, "7x64"},
        {"avx512", 2, 112, "2x112"}, {"avx512", 1, 224, "1x224"}, {"avx512", 3, 100, "3x100"},
        {"avx2", 6, 16, "6x16"},     {"avx2", 4, 24, "4x24"},     {"avx2", 2, 32, "2x32"},
        {"avx2", 13, 8, "13x8"},     {"sse2", 6, 8, "6x8"},       {"sse2", 12, 4, "12x4"}};
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        char tree[1024], sizes[256], tiles[256];
        int n = snprintf(tree, sizeof tree, "yo:para, xo =>\n");
        snprintf(tree + n, sizeof tree - (size_t)n, TILE, "", "", "yo, ", "xo, ", "", "", "yo, ",
                 "xo, ");
        snprintf(sizes, sizeof sizes, "Y=%d X=%d K=9 yi=%d xi=%d yo=3 xo=2", 3 * fits[i].rows,
                 2 * fits[i].columns, fits[i].rows, fits[i].columns);
        at_arena *a = at_arena_new();
        const at_low *l =
            lowered(a, &(program){"whole", sizes, compute, tree}, AT_DIALECT_TCC, fits[i].isa);
        list_tiles(l, tiles, sizeof tiles);
        if (strcmp(tiles, fits[i].tiles))
            fail_msg("%s %dx%d: tiles %s, not %s", fits[i].isa, fits[i].rows, fits[i].columns,
                     tiles, fits[i].tiles);
        at_arena_free(a);
    }
}

/* A transposed convolution whose phases stand outside of its tile: which rows and columns there are
 * depends on what is left of a reduction's parity, and still no sum goes through memory. */
static void phases(void **state) {
    (void)state;
    static const char spread[] =
        "data[N, H, W, CI] : input\n"
        "weight[K, K, CI, CO] : input\n"
        "spread[n:N, y:OH+K-1, x:OW+K-1, c:CI] = inside ? data[n, (y - B)/S, (x - B)/S, c] : 0\n"
        "    where inside = B <= y && (y - B)/S < H && (y - B)%S == 0 &&\n"
        "                   B <= x && (x - B)/S < W && (x - B)%S == 0\n"
        "acc[n:N, h:OH, w:OW, f:CO] = sum(r:K, q:K, c:CI)\n"
        "    spread[n, h + r, w + q, c] * weight[K - 1 - r, K - 1 - q, c, f]\n"
        "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";
    static const char tree[] =
        "{f0, n}:para, h_i, w_i, h_g0, w_g0 =>\n"
        "    r_g, r_i, q_g, q_i, c, h_g1:unroll, w_g1:unroll, f1:vec =>\n"
        "        @acc = n, {h_g0, h_g1, h_i}/h, {w_g0, w_g1, w_i}/w, {f0, f1}/f  // {r_g, r_i}/r, "
        "{q_g, q_i}/q, c\n"
        "    h_g1:unroll, w_g1:unroll, f1:vec =>\n"
        "        @out = n, {h_g0, h_g1, h_i}/h, {w_g0, w_g1, w_i}/w, {f0, f1}/f\n";
    for (int rows = 1; rows <= 8; rows *= 2)
        for (int columns = 1; columns <= 16 / rows && columns <= 8; columns *= 2) {
            at_arena *a = at_arena_new();
            const char *sizes =
                at_format(a,
                          "N=1 H=8 W=8 CI=5 CO=32 K=4 S=2 P=1 OH=16 OW=16 B=2 f0=2 f1=16 h_i=2 "
                          "w_i=2 r_g=2 r_i=2 q_g=2 q_i=2 h_g0=%d h_g1=%d w_g0=%d w_g1=%d",
                          8 / rows, rows, 8 / columns, columns);
            const at_low *l =
                lowered(a, &(program){"phases", sizes, spread, tree}, AT_DIALECT_TCC, "avx512");
            assert_true(l->tiles.len > 0);
            for (int i = 0; i < l->tiles.len; i++) {
                const at_tile *t = l->tiles.data[i];
                for (int k = 0, loops = 0; k < t->num_ops; k++) {
                    loops += (t->ops[k].kind == AT_T_LOOP) - (t->ops[k].kind == AT_T_END);
                    if (loops && t->ops[k].kind == AT_T_STORE)
                        fail_msg("%d x %d: %s stores its sums at each step", rows, columns,
                                 t->name);
                }
            }
            at_arena_free(a);
        }
}

/* Lanes along the columns of one phase, which is a digit of the parallel loop: the only column that
 * is cut is the first one of one phase or the last one of the other, as the difference of two
 * quotients of that loop says. Each tile has all columns. */
static void phases_of_lanes(void **state) {
    (void)state;
    static const char row[] =
        "x[C, H, W] : input\n"
        "w[C, M, 4] : input\n"
        "y[p:2, h:H, m:M, i:W] = sum(c:C, q:2) 0 <= at && at < W ? x[c, h, at] * "
        "w[c, m, p - tap + 2*q] : 0\n"
        "    where tap = (p + 1)/2*2 - 1, at = i + (p + 1)/2 - q\n";
    static const char tree[] = "{h, p}:para =>\n"
                               "    c, q:unroll, m:unroll, i:vec =>\n"
                               "        @y = p, h, m, i  // c, q\n";
    at_arena *a = at_arena_new();
    const at_low *l =
        lowered(a, &(program){"lanes", "C=9 H=6 W=16 M=8", row, tree}, AT_DIALECT_GNU, "avx512");
    assert_true(l->tiles.len > 0);
    for (int i = 0; i < l->tiles.len; i++)
        if (!strstr(l->tiles.data[i]->name, "x16")) fail_msg("%s", l->tiles.data[i]->name);
    at_arena_free(a);
}

/* A window over a padded picture below a parallel loop, whose border lies within vectors of the
 * first and the last tile, or of a few narrow ones: no tile goes element by element. */
static void windows(void **state) {
    (void)state;
    static const char padded[] = "x[H, W] : input\n"
                                 "p[y:H + K - 1, z:W + K - 1] = inside ? x[y - B, z - B] : 0\n"
                                 "    where inside = B <= y && y < H + B && B <= z && z < W + B\n"
                                 "acc[h:H, w:W] = sum(r:K, q:K) p[h + r, w + q]\n"
                                 "out[h:H, w:W] = acc[h, w]\n";
    static const char tree[] = "w0:para, h0, w1 =>\n"
                               "    r, q%s, h1:unroll, w2:vec =>\n"
                               "        @acc = {h0, h1}/h, {w0, w1, w2}/w  // r, q\n"
                               "    h1:unroll, w2:vec =>\n"
                               "        @out = {h0, h1}/h, {w0, w1, w2}/w\n";
    static const struct {
        int width, kernel, w0, w1, w2;
    } pictures[] = {{128, 3, 2, 2, 32},
                    {128, 5, 4, 1, 32},
                    {96, 3, 3, 2, 16},
                    {64, 5, 2, 8, 4},
                    {60, 3, 2, 1, 32}};
    for (size_t i = 0; i < 2 * sizeof pictures / sizeof *pictures; i++) {
        at_arena *a = at_arena_new();
        const int k = pictures[i / 2].kernel;
        const char *sizes =
            at_format(a, "H=12 W=%d K=%d B=%d h0=3 h1=4 w0=%d w1=%d w2=%d", pictures[i / 2].width,
                      k, k / 2, pictures[i / 2].w0, pictures[i / 2].w1, pictures[i / 2].w2);
        const char *text = at_format(a, tree, i % 2 ? ":unroll" : "");
        const at_low *l =
            lowered(a, &(program){"windows", sizes, padded, text}, AT_DIALECT_TCC, "avx512");
        assert_true(l->tiles.len > 0);
        for (int t = 0; t < l->tiles.len; t++)
            for (int n = 0; n < l->tiles.data[t]->num_ops; n++)
                if (l->tiles.data[t]->ops[n].kind == AT_T_STORE &&
                    l->tiles.data[t]->ops[n].lanes == 1)
                    fail_msg("%s: %s stores single elements", sizes, l->tiles.data[t]->name);
        at_arena_free(a);
    }
}

/* Copies without annotations: "LANESxSTORES" of each way to store that their tiles have, with
 * avx512. */
static void expect_copies(const char *text, const char *tree, const char *expected) {
    at_arena *a = at_arena_new();
    const at_low *l = lowered(a, &(program){"copies", "Y=50 X=40 Z=30 xo=5 xi=8", text, tree},
                              AT_DIALECT_TCC, "avx512");
    int stores[17] = {0};
    for (int i = 0; i < l->tiles.len; i++)
        for (int k = 0; k < l->tiles.data[i]->num_ops; k++)
            if (l->tiles.data[i]->ops[k].kind == AT_T_STORE)
                stores[l->tiles.data[i]->ops[k].lanes]++;
    at_text found = {0};
    for (int lanes = 16; lanes > 0; lanes--)
        if (stores[lanes])
            at_text_addf(&found, "%s%dx%d", found.len ? " " : "", lanes, stores[lanes]);
    const char *way = at_text_take(a, &found);
    if (strcmp(way, expected)) fail_msg("%s: stores %s, not %s", tree, way, expected);
    at_arena_free(a);
}

static void copies(void **state) {
    (void)state;
    static const char rows[] = "A[Y, X] : input\nout[y:Y, x:X] = A[y, x]\n";
    static const char across[] = "A[Y, X] : input\nout[y:Y, x:X] = A[y, X - 1 - x]\n";
    static const char zeros[] = "A[Y, X] : input\nout[y:Y, x:X] = x >= 0 ? 0 : A[y, x]\n";
    static const char blocks[] = "A[Y, Z, X] : input\nout[z:Z, y:Y, x:X] = A[y, z, x]\n";
    expect_copies(rows, "y, x =>\n    @out = y, x\n", "16x2 8x1");
    expect_copies(rows, "x, y =>\n    @out = y, x\n", "16x2 8x1");
    expect_copies(rows, "y, x:unroll =>\n    @out = y, x\n", "1x40");
    expect_copies(across, "y, x =>\n    @out = y, x\n", "1x1");
    expect_copies(zeros, "y, x =>\n    @out = y, x\n", "16x2 8x1");
    expect_copies(blocks, "x, z, y =>\n    @out = z, y, x\n", "16x2 8x1");
}

/* Indices that wrap around: vectors but for where they do. */
static void wraps(void **state) {
    (void)state;
    static const char copy[] = "y:para, xo, xi:vec =>\n    @out = y, {xo, xi}/x\n";
    static const char sum[] = "{y, xo}:para =>\n"
                              "    q:unroll, xi:vec =>\n"
                              "        @acc = y, {xo, xi}/x  // q\n"
                              "    xi:vec =>\n"
                              "        @out = y, {xo, xi}/x\n";
    static const struct {
        const char *text, *tree, *stores;
    } rings[] = {
        {"A[Y, X] : input\nout[y:Y, x:X] = A[y, (x + 1)%X] + A[y, (x + X - 1)%X]\n", copy,
         "8x3 7x2 1x2"},
        {"A[Y, X] : input\nout[y:Y, x:X] = A[(y + 1)%Y, (x + X - 5)%X]\n", copy, "8x4 5x1 3x1"},
        {"A[Y, X] : input\nacc[y:Y, x:X] = sum(q:3) A[y, (x + q + X - 1)%X]\nout[y:Y, x:X] = "
         "acc[y, x]\n",
         sum, "8x6 7x2 1x2"}};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        expect_copies(rings[i].text, rings[i].tree, rings[i].stores);
}

/* Indices that are bounded: vectors but for where the bound decides, rows of a tile and of a sum as
 * they lie. */
static void bounds(void **state) {
    (void)state;
    static const char copy[] = "y:para, xo, xi:vec =>\n    @out = y, {xo, xi}/x\n";
    static const char plain[] = "y, x =>\n    @out = y, x\n";
    static const char sum[] = "{y, xo}:para =>\n"
                              "    q, xi:vec =>\n"
                              "        @acc = y, {xo, xi}/x  // q\n"
                              "    xi:vec =>\n"
                              "        @out = y, {xo, xi}/x\n";
    static const struct {
        const char *text, *tree, *stores;
    } borders[] = {
        {"A[Y, X] : input\nout[y:Y, x:X] = A[y, min(x + 1, X - 1)] + A[y, max(x - 1, 0)]\n", copy,
         "8x3 7x2 1x2"},
        {"A[Y, X] : input\nout[y:Y, x:X] = A[max(0, min(Y - 1, y - 1)), min(max(x - 5, 0), X - "
         "1)]\n",
         copy, "8x4 5x1 3x1"},
        {"A[Y, X] : input\nout[y:Y, x:X] = A[y, max(x - 1, 1 - x)]\n", copy, "8x4 7x1 1x1"},
        {"A[Y, X] : input\nout[y:Y, x:X] = A[y, max(x - 8, 0)]\n", plain, "16x2 1x8"},
        {"A[Y, X] : input\nacc[y:Y, x:X] = sum(q:3) A[min(max(y + q - 1, 0), Y - 1), x]\n"
         "out[y:Y, x:X] = acc[y, x]\n",
         sum, "8x1"}};
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
        expect_copies(borders[i].text, borders[i].tree, borders[i].stores);
}

/* Parts of loops that conditions cut: one more for each that only says more of the same, so that a
 * sum of many is lowered at once; where each is of its own there may be as many as all their
 * combinations, of versions as well, and too many are refused. */
static void many_conditions(void **state) {
    (void)state;
    static const struct {
        const char *sum; /* of i and j; %d: number of the condition */
        int num;
        const char *error; /* NULL: it is lowered */
    } sums[] = {{"i + j >= %d", 40, NULL},
                {"%d*i + j >= 35", 6, NULL},
                {"%d*(i - 25) + j >= 35", 6, NULL},
                {"%d*(i - 25) + j >= 35", 16, "conditions cut the loops into too many parts"}};
    for (int s = 0; s < 4; s++) {
        at_arena *a = at_arena_new();
        at_text text = {0};
        at_low *l;
        at_error why;
        at_text_add(&text, "x[Y, X] : input\nout[i:Y, j:X] = 0");
        for (int k = 1; k <= sums[s].num; k++) {
            at_text_add(&text, " + (");
            at_text_addf(&text, sums[s].sum, k);
            at_text_add(&text, " ? x[i, j] : 0)");
        }
        at_text_add(&text, "\n");
        const at_lower_options o = {.dialect = AT_DIALECT_GNU,
                                    .name = "k",
                                    .verify = true,
                                    .target = at_target_find("avx2")};
        const program p = {"conditions", "Y=50 X=72 jo=9 ji=8", at_text_str(&text),
                           "i:para, jo, ji:vec =>\n    @out = i, {jo, ji}/j\n"};
        at_status status = at_lower_until(a, program_of(a, &p), &o, "partition", &l, &why);
        if (!sums[s].error && status != AT_OK) fail_msg("%s", why.text);
        if (sums[s].error) {
            assert_int_equal(status, AT_E_INPUT);
            assert_non_null(strstr(why.text, sums[s].error));
        }
        at_text_free(&text);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),          cmocka_unit_test(diagonals),
        cmocka_unit_test(from_a_diagonal), cmocka_unit_test(ragged),
        cmocka_unit_test(blocks_of_rows),  cmocka_unit_test(blocks_in_a_loop),
        cmocka_unit_test(short_turns),     cmocka_unit_test(listed_rows),
        cmocka_unit_test(whole),           cmocka_unit_test(phases),
        cmocka_unit_test(phases_of_lanes), cmocka_unit_test(windows),
        cmocka_unit_test(wraps),           cmocka_unit_test(bounds),
        cmocka_unit_test(many_conditions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
