/* Estimates of programs whose right one is known from another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cost/cost.h"
#include "tests/codegen/support.h"

static const float stream_ns = 2; /* of a line from the third level by itself */
static const float memory_ns = 5; /* of one from memory, beside sums, too */

static at_estimate estimate_of_core(at_arena *a, const program *of, at_estimate_options o,
                                    float alone_ns, float piled_ns, float beside_ns) {
    const at_program *p = program_of(a, of);
    at_speeds speeds;
    at_estimate out;
    o.target = at_target_find("avx2");
    o.speeds = &speeds;
    o.threads = 1;
    at_speeds_guess(at_core_find("sapphirerapids"), o.target, &speeds);
    speeds.stream_ns[2] = stream_ns;
    speeds.stream_ns[3] = speeds.line_ns[3] = memory_ns;
    speeds.alone_ns = alone_ns;
    speeds.piled_ns = piled_ns;
    speeds.beside_ns = beside_ns;
    speeds.peak_gflops = 96;
    assert_true(at_estimate_of(at_estimator_new(a, p->compute, &o), p, &out));
    return out;
}

static at_estimate estimate_by(at_arena *a, const program *of, at_estimate_options o) {
    return estimate_of_core(a, of, o, 0, 0, 0);
}

static at_estimate estimate_with(at_arena *a, const program *of, int64_t l1_bytes,
                                 const int64_t *row) {
    return estimate_by(a, of,
                       (at_estimate_options){.cache_bytes = {l1_bytes, 4 * l1_bytes}, .row = row});
}

static at_estimate estimate_of(at_arena *a, const program *of) {
    return estimate_with(a, of, 1 << 12, NULL);
}

#define SIZES "H=24 W=160"
#define PADDED                                                                                     \
    "x[H, W]          : input\n"                                                                   \
    "p[h:H + 3, w:W]  = h < H ? exp(x[h, w]) : 0\n"
#define TREE                                                                                       \
    "h:27, w:160 vec =>\n"                                                                         \
    "    @p = h, w\n"                                                                              \
    "h:24, w:160 vec =>\n"                                                                         \
    "    @out = h, w\n"

/* What is read through stages without a leaf, however many, is as if it were read itself: its
 * buffer lives as long. */
static void read_through(void **state) {
    (void)state;
    static const program plain = {"plain", SIZES, PADDED "out[h:H, w:W] = p[h + 3, w]\n", TREE},
                         through[] = {{"one", SIZES,
                                       PADDED "q[h:H, w:W] = p[h + 3, w]\n"
                                              "out[h:H, w:W] = q[h, w]\n",
                                       TREE},
                                      {"three", SIZES,
                                       PADDED "q[h:H + 2, w:W] = p[h + 1, w]\n"
                                              "r[h:H + 1, w:W] = q[h + 1, w]\n"
                                              "s[h:H, w:W] = r[h + 1, w]\n"
                                              "out[h:H, w:W] = s[h, w]\n",
                                       TREE}};
    at_arena *a = at_arena_new();
    const at_estimate right = estimate_of(a, &plain);
    assert_true(right.bytes[0] > 0);
    for (int i = 0; i < 2; i++) {
        const at_estimate e = estimate_of(a, &through[i]);
        for (int k = 0; k < 3; k++)
            if (e.bytes[k] != right.bytes[k])
                fail_msg("%s: %.0f bytes of level %d, not %.0f", through[i].name, e.bytes[k], k,
                         right.bytes[k]);
        assert_true(e.ns == right.ns);
    }
    at_arena_free(a);
}

/* In blocks of a reduction sums go on in registers within each; with rows inside of the reduction
 * each step finds them in memory. */
static void blocks_of_a_sum(void **state) {
    (void)state;
#define PRODUCT                                                                                    \
    "M=24 N=64 K=256 i0=4 i1=6 j0=4 j1=16 k0=2 k1=128", "a[M, K] : input\nb[K, N] : input\n"       \
                                                        "o[i:M, j:N] = sum(k:K) a[i, k]*b[k, j]\n"
    static const program whole = {"whole", PRODUCT,
                                  "j0, i0, k, i1:unroll, j1:vec =>\n"
                                  "    @o = {i0, i1}/i, {j0, j1}/j // k\n"},
                         blocks = {"blocks", PRODUCT,
                                   "k0, j0, i0, k1, i1:unroll, j1:vec =>\n"
                                   "    @o = {i0, i1}/i, {j0, j1}/j // {k0, k1}/k\n"},
                         stored = {"stored", PRODUCT,
                                   "j0, k, i, j1:vec =>\n"
                                   "    @o = i, {j0, j1}/j // k\n"};
#undef PRODUCT
    at_arena *a = at_arena_new();
    const double in_registers = estimate_of(a, &whole).sums_ns;
    assert_true(estimate_of(a, &blocks).sums_ns < 1.25 * in_registers);
    assert_true(estimate_of(a, &stored).sums_ns > 2 * in_registers);
    at_arena_free(a);
}

/* Which terms count is asked at few places however long the axes are: an estimate takes as much
 * room for a thousand times as many, and so as many steps, and the time that comes out is a
 * thousand times as long. */
static void long_axes(void **state) {
    (void)state;
    static const struct {
        const char *name, *sizes[2], *compute, *tree;
    } cases[] = {
        {"a sum in parts",
         {"K=1999 k0=8 k1=250 J=16", "K=1999999 k0=8 k1=250000 J=16"},
         "x[K] : input\ny[K, J] : input\n"
         "p[j:J, r:k0] = sum(t:k1) (r*k1 + t < K ? x[r*k1 + t]*y[r*k1 + t, j] : 0)\n"
         "o[j:J] = sum(r:k0) p[j, r]\n",
         "r, t, j:vec =>\n    @p = j, r // t\nr, j:vec =>\n    @o = j // r\n"},
        {"padding",
         {"H=2000 W=16", "H=2000000 W=16"},
         "x[H, W] : input\nw[7] : input\n"
         "o[h:H, v:W] = sum(k:7) (h + k >= 3 && h + k < H + 3 ? x[h + k - 3, v] : 0)*w[k]\n",
         "h, k:unroll, v:vec =>\n    @o = h, v // k\n"},
        {"a diagonal",
         {"N=1500", "N=1500000"},
         "x[N] : input\ny[N] : input\n"
         "o[i:N] = sum(k:N) (k <= i ? x[k] : 0)*y[k]\n",
         "i, k =>\n    @o = i // k\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes[2];
        double ns[2];
        for (int k = 0; k < 2; k++) {
            at_arena *a = at_arena_new();
            const program of = {cases[i].name, cases[i].sizes[k], cases[i].compute, cases[i].tree};
            ns[k] = estimate_of(a, &of).sums_ns;
            bytes[k] = at_arena_used(a);
            at_arena_free(a);
        }
        const double times = i == 2 ? 1e6 : 1e3;
        if (bytes[1] > 1.1 * (double)bytes[0] || ns[1] < 0.9 * times * ns[0] ||
            ns[1] > 1.1 * times * ns[0])
            fail_msg("%s: %zu and %zu bytes, %g and %g ns", cases[i].name, bytes[0], bytes[1],
                     ns[0], ns[1]);
    }
}

/* What a leaf touched just before another in the same turn is still there, but not where its rows
 * push each other out of the few places of the nearest cache that they lie in. */
static void touched_before(void **state) {
    (void)state;
#define COLUMNS(num, p0)                                                                           \
    "C=21 P=" num " p0=" p0 " p1=16 c=21",                                                         \
        "x[C, P] : input\n"                                                                        \
        "m[p:P] = max(c:C) x[c, p]\n"                                                              \
        "o[p:P] = sum(c:C) x[c, p] - m[p]\n",                                                      \
        "p0 =>\n"                                                                                  \
        "    c, p1:vec =>\n        @m = {p0, p1}/p // c\n"                                         \
        "    c, p1:vec =>\n        @o = {p0, p1}/p // c\n"
    static const program apart = {"apart", COLUMNS("16400", "1025")},
                         piled = {"piled", COLUMNS("16384", "1024")};
#undef COLUMNS
    at_arena *a = at_arena_new();
    assert_true(estimate_of(a, &piled).bytes[0] > 1.7 * estimate_of(a, &apart).bytes[0]);
    at_arena_free(a);
}

/* Of a band beside the diagonal no more of the matrix comes from beyond the caches than there is,
 * where its rows are long. Tiles whose rows have different terms take longer by these, but not
 * where blocks of terms are as long as they have rows, from corner to corner of which the diagonal
 * goes. */
static void diagonals(void **state) {
    (void)state;
#define BAND(cond)                                                                                 \
    "a[N, N] : input\nx[N, 16] : input\n"                                                          \
    "o[i:N, m:16] = sum(j:N) " cond "a[i, j]*x[j, m]" /* with its end */
#define WITHIN "0 <= i - j && i - j <= 15 ? "
    static const program whole = {"whole", "N=1024 i0=256 i1=4 j=1024 m=16", BAND("") "\n",
                                  "i0, j, i1:unroll, m:vec =>\n    @o = {i0, i1}/i, m // j\n"},
                         band = {"band", "N=1024 i0=256 i1=4 j=1024 m=16", BAND(WITHIN) " : 0\n",
                                 "i0, j, i1:unroll, m:vec =>\n    @o = {i0, i1}/i, m // j\n"},
                         rows = {"rows", "N=1024 i0=128 i1=8 j0=256 j1=4 m=16",
                                 BAND(WITHIN) " : 0\n",
                                 "i0, j0, j1, i1:unroll, m:vec =>\n"
                                 "    @o = {i0, i1}/i, m // {j0, j1}/j\n"},
                         blocks = {"blocks", "N=1024 i0=128 i1=8 j0=128 j1=8 m=16",
                                   BAND(WITHIN) " : 0\n",
                                   "i0, j0, j1, i1:unroll, m:vec =>\n"
                                   "    @o = {i0, i1}/i, m // {j0, j1}/j\n"};
#undef WITHIN
#undef BAND
    at_arena *a = at_arena_new();
    assert_true(estimate_of(a, &band).bytes[1] < 0.1 * estimate_of(a, &whole).bytes[1]);
    assert_true(estimate_of(a, &blocks).sums_ns < 0.7 * estimate_of(a, &rows).sums_ns);
    at_arena_free(a);
}

/* A shuffle whose vectors fill the places between each other is stored in whole registers: it takes
 * longer than a copy, and a fraction of one that stores each element by itself. */
static void grouped_stores(void **state) {
    (void)state;
#define CHANNELS "H=64 G=3 W=64", "x[H, G*W] : input\n"
    static const program copy = {"copy", CHANNELS "y[h:H, c:G*W] = x[h, c]\n",
                                 "h, c:192 vec =>\n    @y = h, c\n"},
                         grouped = {"grouped", CHANNELS "y[h:H, w:W, g:G] = x[h, g*W + w]\n",
                                    "h, g:unroll, w:vec =>\n    @y = h, w, g\n"},
                         single = {"single", CHANNELS "y[h:H, w:W, g:G] = x[h, g*W + w]\n",
                                   "h, g, w:vec =>\n    @y = h, w, g\n"};
#undef CHANNELS
    at_arena *a = at_arena_new();
    const double ns = estimate_of(a, &grouped).ns;
    assert_true(ns > estimate_of(a, &copy).ns);
    assert_true(ns < 0.6 * estimate_of(a, &single).ns);
    at_arena_free(a);
}

/* Lanes from last to first take as long as others. */
static void turned_lanes(void **state) {
    (void)state;
#define ROWS(from) "x[M, N] : input\ny[m:M, n:N] = x[" from "]\n", "m, n:vec =>\n    @y = m, n\n"
    static const program copy = {"copy", "M=64 N=64", ROWS("m, n")},
                         turned = {"turned", "M=64 N=64", ROWS("M - 1 - m, N - 1 - n")},
                         apart = {"apart", "M=64 N=64",
                                  "x[M, 20*N] : input\ny[m:M, n:N] = x[m, 20*n]\n",
                                  "m, n:vec =>\n    @y = m, n\n"};
#undef ROWS
    at_arena *a = at_arena_new();
    const double ns = estimate_of(a, &copy).copies_ns;
    assert_true(estimate_of(a, &turned).copies_ns == ns);
    assert_true(estimate_of(a, &apart).copies_ns > 2 * ns);
    at_arena_free(a);
}

/* Lanes whose place is a quotient that a bound decides are found one by one, but not where the
 * bound decides nowhere, or where each loop has one remainder. */
static void bounded_quotients(void **state) {
    (void)state;
#define ROWS(to, from) "x[M, N] : input\ny[m:M, n:" to "] = x[m, " from "]\n"
#define LANES "m, n:vec =>\n    @y = m, n\n"
    static const program free = {"free", "M=64 N=64", ROWS("2*N", "n/2"), LANES},
                         idle = {"idle", "M=64 N=64", ROWS("2*N", "min(n/2, N - 1)"), LANES},
                         bounded = {"bounded", "M=64 N=64", ROWS("2*N", "max((n - 1)/2, 0)"),
                                    LANES},
                         halves = {"halves", "M=64 N=64", ROWS("2*N", "max((n - 1)/2, 0)"),
                                   "m, i:2 unroll, g:64 vec =>\n    @y = m, {g, i}/n\n"};
#undef ROWS
#undef LANES
    at_arena *a = at_arena_new();
    const double ns = estimate_of(a, &free).copies_ns, one_ns = 2;
    assert_true(estimate_of(a, &idle).copies_ns == ns);
    assert_true(estimate_of(a, &bounded).copies_ns > ns + 64 * 128 * one_ns);
    assert_true(estimate_of(a, &halves).copies_ns < 64 * 128 * one_ns);
    at_arena_free(a);
}

/* A condition that turns at every other element takes a vector apart, and one that turns once does
 * not. In a loop over the elements of one value vectors are whole: they are read and stored from
 * every second place, the faster the longer they are. One of the two values is worked out. */
static void conditions_along_vectors(void **state) {
    (void)state;
#define ROWS(when, then)                                                                           \
    "x[M, N] : input\ny[m:M, n:N] = " when " ? " then " : x[m, n - 1] + x[m, n]\n"
#define EVEN(name, sizes, then, tree)                                                              \
    { name, "M=64 N=128 " sizes, ROWS("n%2 == 0", then), tree }
    static const program once = {"once", "M=64 N=128", ROWS("n < 64", "x[m, n + 1] - x[m, n]"),
                                 "m, n:vec =>\n    @y = m, n\n"},
                         turning = EVEN("turning", "", "x[m, n + 1] - x[m, n]",
                                        "m, n:vec =>\n    @y = m, n\n"),
                         bare = EVEN("bare", "", "x[m, n + 1]", "m, n:vec =>\n    @y = m, n\n"),
                         groups = EVEN("groups", "", "x[m, n + 1] - x[m, n]",
                                       "m, i:2 unroll, g:64 vec =>\n    @y = m, {g, i}/n\n"),
                         narrow = EVEN("narrow", "", "x[m, n + 1] - x[m, n]",
                                       "m, h:32, i:2 unroll, g:2 vec =>\n"
                                       "    @y = m, {h, g, i}/n\n");
#undef EVEN
#undef ROWS
    at_arena *a = at_arena_new();
    const double ns = estimate_of(a, &once).copies_ns, apart = estimate_of(a, &turning).copies_ns,
                 of_groups = estimate_of(a, &groups).copies_ns;
    assert_true(apart > 4 * ns);
    assert_true(apart == estimate_of(a, &bare).copies_ns);
    assert_true(of_groups > ns);
    assert_true(of_groups < 0.6 * apart);
    assert_true(estimate_of(a, &narrow).copies_ns > 2 * of_groups);
    at_arena_free(a);
}

/* What lies along one loop and is stored along another is turned round in squares, as fast as it is
 * copied but for a few times; in loops shorter than a square, and where threads share one of the
 * two loops, it goes element by element. */
static void turned_squares(void **state) {
    (void)state;
    static const program copy = {"copy", "M=64 N=64", "x[M, N] : input\ny[m:M, n:N] = x[m, n]\n",
                                 "m, n:64 vec =>\n    @y = m, n\n"},
                         squares = {"squares", "M=64 N=64 n0=16 n1=4",
                                    "x[M, N] : input\ny[n:N, m:M] = x[m, n]\n",
                                    "n0, m, n1 =>\n    @y = {n0, n1}/n, m\n"},
                         elements = {"elements", "M=64 N=64 n0=32 n1=2",
                                     "x[M, N] : input\ny[n:N, m:M] = x[m, n]\n",
                                     "n0, m, n1 =>\n    @y = {n0, n1}/n, m\n"},
                         shared = {"shared", "M=64 N=64",
                                   "x[M, N] : input\ny[n:N, m:M] = x[m, n]\n",
                                   "n:para, m =>\n    @y = n, m\n"};
    at_arena *a = at_arena_new();
    const double ns = estimate_with(a, &squares, 1 << 20, NULL).ns;
    assert_true(ns > estimate_with(a, &copy, 1 << 20, NULL).ns);
    assert_true(ns < 0.4 * estimate_with(a, &elements, 1 << 20, NULL).ns);
    assert_true(ns < 0.4 * estimate_with(a, &shared, 1 << 20, NULL).ns);
    at_arena_free(a);
}

/* A sum whose lanes lie along it takes longer where what it reads comes from the second level, and
 * so does each of several rows, which read vectors of their own. */
static void lanes_along_sums(void **state) {
    (void)state;
    static const program of[] = {{"one row", "M=8 K=4096 k0=128 k1=32",
                                  "x[M, K] : input\nout[m:M] = sum(k:K) x[m, k]\n",
                                  "m, k0, k1:vec =>\n    @out = m // {k0, k1}/k\n"},
                                 {"four rows", "M=8 K=4096 k0=128 k1=32 m0=2 m1=4",
                                  "x[M, K] : input\nout[m:M] = sum(k:K) x[m, k]\n",
                                  "m0, k0, m1:unroll, k1:vec =>\n"
                                  "    @out = {m0, m1}/m // {k0, k1}/k\n"}};
    at_arena *a = at_arena_new();
    double more_ns[2];
    for (int i = 0; i < 2; i++) {
        const double near_ns = estimate_with(a, &of[i], 1 << 20, NULL).sums_ns;
        more_ns[i] = estimate_with(a, &of[i], 1 << 15, NULL).sums_ns - near_ns;
        if (!(more_ns[i] > 0)) fail_msg("%s: %g ns more", of[i].name, more_ns[i]);
    }
    assert_true(more_ns[1] > 0.9 * more_ns[0] && more_ns[1] < 1.1 * more_ns[0]);
    at_arena_free(a);
}

/* A register of sums, each of which is stored far from the next one, is stored one by one, but not
 * where rows of the tile lie between them. */
static void stored_apart(void **state) {
    (void)state;
#define SUMS                                                                                       \
    "M=64 N=64 K=5 i0=16 i1=4 j0=8 j1=8", "a[M + K, N] : input\nb[K, N] : input\n"                 \
                                          "s[i:M, j:N] = sum(k:K) a[i + k, j]*b[k, j]\n"
#define ENDS(out)                                                                                  \
    "j0, i0, i1 =>\n"                                                                              \
    "    k:unroll, j1:vec =>\n        @s = {i0, i1}/i, {j0, j1}/j // k\n"                          \
    "    j1:vec =>\n        @o = " out "\n"
    static const program along = {"along", SUMS "o[i:M, j:N] = s[i, j]\n",
                                  ENDS("{i0, i1}/i, {j0, j1}/j")},
                         apart = {"apart", SUMS "o[j:N, i:M] = s[i, j]\n",
                                  ENDS("{j0, j1}/j, {i0, i1}/i")},
                         rows = {"rows", SUMS "o[j:N, i:M] = s[i, j]\n",
                                 "j0, i0 =>\n"
                                 "    k:unroll, i1:unroll, j1:vec =>\n"
                                 "        @s = {i0, i1}/i, {j0, j1}/j // k\n"
                                 "    i1:unroll, j1:vec =>\n"
                                 "        @o = {j0, j1}/j, {i0, i1}/i\n"};
#undef SUMS
#undef ENDS
    at_arena *a = at_arena_new();
    const double along_ns = estimate_of(a, &along).sums_ns, one_ns = 0.1;
    assert_true(estimate_of(a, &apart).sums_ns > along_ns + 64 * 64 * one_ns);
    assert_true(estimate_of(a, &rows).sums_ns < along_ns + 64 * 64 * one_ns);
    at_arena_free(a);
}

/* What is done with each sum takes as long as so many multiply-adds. */
static void used_up(void **state) {
    (void)state;
#define SUMS                                                                                       \
    "M=64 N=64 K=5 i0=16 i1=4 j0=8 j1=8", "a[M + K, N] : input\nb[K, N] : input\n"                 \
                                          "s[i:M, j:N] = sum(k:K) a[i + k, j]*b[k, j]\n"
#define TILES                                                                                      \
    "j0, i0 =>\n"                                                                                  \
    "    k:unroll, i1:unroll, j1:vec =>\n        @s = {i0, i1}/i, {j0, j1}/j // k\n"               \
    "    i1:unroll, j1:vec =>\n        @o = {i0, i1}/i, {j0, j1}/j\n"
    static const program plain = {"plain", SUMS "o[i:M, j:N] = s[i, j]\n", TILES},
                         ends = {"exp", SUMS "o[i:M, j:N] = exp(s[i, j])\n", TILES};
#undef SUMS
    at_arena *a = at_arena_new();
    const double one_ns = 0.1, vectors = 64 * 8, operations = 12;
    assert_true(estimate_of(a, &ends).ns - estimate_of(a, &plain).ns >
                vectors * operations * one_ns);
    at_arena_free(a);
}

/* Elements of a row that are worked out behind its maximum, in one tile with it, are as much
 * arithmetic as in a loop of their own, and take as long within the moves of a vector. */
static void elements_behind_a_sum(void **state) {
    (void)state;
#define ROWS                                                                                       \
    "H=64 W=256 h0=16 h1=4", "x[H, W] : input\n"                                                   \
                             "most[h:H] = max(k:W) x[h, k]\n"                                      \
                             "e[h:H, w:W] = exp(x[h, w] - most[h])\n"
#define LEAF "        @most = {h0, h1}/h // k\n"
    static const program within = {"within", ROWS,
                                   "h0:16 =>\n"
                                   "    h1:unroll, k:vec =>\n" LEAF "    h1:unroll, w:vec =>\n"
                                   "        @e = {h0, h1}/h, w\n"},
                         apart = {"apart", ROWS,
                                  "h0:16 =>\n"
                                  "    h1:unroll, k:vec =>\n" LEAF "    h1, w:vec =>\n"
                                  "        @e = {h0, h1}/h, w\n"};
#undef ROWS
#undef LEAF
    at_arena *a = at_arena_new();
    const at_estimate one = estimate_of(a, &within), two = estimate_of(a, &apart);
    assert_true(one.operations == two.operations);
    assert_true(one.ns > 0.5 * two.ns && one.ns < 2 * two.ns);
    at_arena_free(a);
}

/* A loop over vectors of half a register has twice as many of them, though all lie in a row. */
static void narrow_vectors(void **state) {
    (void)state;
#define TWICE(w0, w1)                                                                              \
    "W=256 w0=" w0 " w1=" w1, "x[W] : input\ny[w:W] = x[w]*2\n",                                   \
        "w0, w1:vec =>\n    @y = {w0, w1}/w\n"
    static const program whole = {"whole", TWICE("32", "8")}, half = {"half", TWICE("64", "4")},
                         pairs = {"pairs", TWICE("16", "16")};
#undef TWICE
    at_arena *a = at_arena_new();
    assert_true(estimate_of(a, &whole).operations == 32);
    assert_true(estimate_of(a, &pairs).operations == 32);
    assert_true(estimate_of(a, &half).operations == 64);
    assert_true(estimate_of(a, &half).copies_ns > estimate_of(a, &whole).copies_ns);
    at_arena_free(a);
}

/* What is worked out where it is read takes as long as if it were written there, alone and behind
 * a sum. */
static void worked_out_where_read(void **state) {
    (void)state;
#define LOOP "h:24, w:160 vec =>\n    @out = h, w\n"
#define ROWS "x[H + 4, W] : input\n"
#define SUMS "a[H, K] : input\nb[K, W] : input\ns[h:H, w:W] = sum(k:K) a[h, k]*b[k, w]\n"
#define BEHIND                                                                                     \
    "h:24 =>\n    k:64, w:160 vec =>\n        @s = h, w  // k\n    w:160 vec =>\n        @out = "  \
    "h, w\n"
    static const program where_read[] = {{"alone", SIZES,
                                          ROWS "e[h:H + 4, w:W] = exp(x[h, w])*2\n"
                                               "out[h:H, w:W] = e[h, w] + e[h + 4, w]\n",
                                          LOOP},
                                         {"behind a sum", SIZES " K=64",
                                          ROWS SUMS "e[h:H + 4, w:W] = exp(x[h, w])*2\n"
                                                    "out[h:H, w:W] = s[h, w] + e[h + 4, w]\n",
                                          BEHIND}},
                         written[] = {
                             {"alone", SIZES,
                              ROWS "out[h:H, w:W] = exp(x[h, w])*2 + exp(x[h + 4, w])*2\n", LOOP},
                             {"behind a sum", SIZES " K=64",
                              ROWS SUMS "out[h:H, w:W] = s[h, w] + exp(x[h + 4, w])*2\n", BEHIND}};
#undef LOOP
#undef ROWS
#undef SUMS
#undef BEHIND
    at_arena *a = at_arena_new();
    for (int i = 0; i < 2; i++) {
        const double ns = estimate_of(a, &where_read[i]).ns,
                     right_ns = estimate_of(a, &written[i]).ns;
        if (ns < right_ns || ns > 1.1 * right_ns)
            fail_msg("%s: %g ns, %g written out", written[i].name, ns, right_ns);
    }
    at_arena_free(a);
}

/* Columns of 32 rows 4 KB apart meet in one place of the first-level cache, which loses each line
 * before it is read again; a line further apart they do not. */
static void rows_apart(void **state) {
    (void)state;
    static const program columns = {"columns", "H=32 K=1024",
                                    "x[H, K] : input\n"
                                    "out[h:H] = sum(k:K) x[h, k]\n",
                                    "k, h =>\n"
                                    "    @out = h // k\n"};
    static const int64_t same[] = {0, 0}, further[] = {1040, 0};
    at_arena *a = at_arena_new();
    const at_estimate meeting = estimate_with(a, &columns, 48 << 10, NULL),
                      as_long = estimate_with(a, &columns, 48 << 10, same),
                      apart = estimate_with(a, &columns, 48 << 10, further);
    assert_true(as_long.bytes[0] == meeting.bytes[0]);
    assert_true(apart.bytes[0] < 2 * 32 * 1024 * 4);
    assert_true(meeting.bytes[0] > 8 * apart.bytes[0]);
    at_arena_free(a);
}

/* An output whose lines are each written long before their neighbours takes a network's part more
 * than twice what the third level takes for as many lines; not two lines at a time, nor few rows,
 * nor where all is hot: then lines by themselves take as long as pairs. */
static void lines_by_themselves(void **state) {
    (void)state;
#define COPY(rows, block)                                                                          \
    "H=" rows " W=64 w1=" block, "x[H, W] : input\ny[h:H, w:W] = x[h, w]\n",                       \
        "w0, h, w1:vec =>\n    @y = h, {w0, w1}/w\n"
    static const program of[] = {{"lines", COPY("2048", "16 w0=4")},
                                 {"pairs", COPY("2048", "32 w0=2")},
                                 {"few rows", COPY("64", "16 w0=4")}};
#undef COPY
    at_arena *a = at_arena_new();
    const double twice_ns = 2 * 2048 * 4 * (double)stream_ns;
    double hot_ns[3];
    for (int i = 0; i < 3; i++) {
        at_estimate_options o = {.cache_bytes = {48 << 10, 2 << 20, 32 << 20}};
        hot_ns[i] = estimate_by(a, &of[i], o).ns;
        o.cold_weights = true;
        const double ns = estimate_by(a, &of[i], o).ns;
        if (i ? ns != hot_ns[i] : ns < twice_ns || hot_ns[i] >= twice_ns)
            fail_msg("%s: %g ns, %g hot", of[i].name, ns, hot_ns[i]);
    }
    assert_true(hot_ns[0] < 1.05 * hot_ns[1]);
    at_arena_free(a);
}

/* Where multiply-adds have loads of their own, lines whose neighbours come long after take what the
 * core takes longer for such; not two lines at a time, nor what stays in the first level. */
static void lines_without_neighbours(void **state) {
    (void)state;
#define COLUMNS(rows, block)                                                                       \
    "H=" rows " W=64 w1=" block,                                                                   \
        "x[H + 2, W] : input\nk[3, W] : input\n"                                                   \
        "y[h:H, w:W] = sum(r:9) x[h + r, w]*k[r, w]\n",                                            \
        "w0, h, r:unroll, w1:vec =>\n    @y = h, {w0, w1}/w // r\n"
    static const program of[] = {{"lines", COLUMNS("2048", "16 w0=4")},
                                 {"pairs", COLUMNS("2048", "32 w0=2")},
                                 {"few rows", COLUMNS("64", "16 w0=4")}};
#undef COLUMNS
    static const float alone_ns = 0.25F;
    const double lines = 2 * 2048 * 4; /* read, and written */
    at_arena *a = at_arena_new();
    for (int i = 0; i < 3; i++) {
        const at_estimate_options o = {.cache_bytes = {48 << 10, 2 << 20, 32 << 20}};
        const at_estimate none = estimate_of_core(a, &of[i], o, 0, 0, 0),
                          some = estimate_of_core(a, &of[i], o, alone_ns, 0, 0);
        const double longer_ns = some.ns - none.ns, least_ns = lines * (double)alone_ns;
        assert_true(some.bytes[0] == none.bytes[0]);
        if (i ? longer_ns != 0 : longer_ns < least_ns || longer_ns > 1.02 * least_ns)
            fail_msg("%s: %g ns longer, %g of lines", of[i].name, longer_ns, least_ns);
    }
    at_arena_free(a);
}

/* Lines of more rows a page apart than a place holds, between multiply-adds of their own, come to
 * that place one after the other; of longer rows to all places. */
static void rows_of_one_place(void **state) {
    (void)state;
#define COLUMNS(length)                                                                            \
    "H=64 W=64 w0=4 w1=16",                                                                        \
        "x[H + 16, " length "] : input\nk[16, W] : input\n"                                        \
        "y[h:H, w:W] = sum(r:16) x[h + r, w]*k[r, w]\n",                                           \
        "w0, h, r:unroll, w1:vec =>\n    @y = h, {w0, w1}/w // r\n"
    static const program of[] = {{"a page", COLUMNS("1024")}, {"more", COLUMNS("1040")}};
#undef COLUMNS
    at_arena *a = at_arena_new();
    for (int i = 0; i < 2; i++) {
        const at_estimate_options o = {.cache_bytes = {48 << 10, 2 << 20, 32 << 20}};
        const at_estimate none = estimate_of_core(a, &of[i], o, 0, 0, 0),
                          some = estimate_of_core(a, &of[i], o, 0, 1, 0);
        const double longer_ns = some.ns - none.ns, lines = 4 * 64 * 16;
        assert_true(some.bytes[0] == none.bytes[0]);
        if (i ? longer_ns != 0 : longer_ns < 0.5 * lines || longer_ns > 1.5 * lines)
            fail_msg("%s: %g ns longer, %g lines", of[i].name, longer_ns, lines);
    }
    at_arena_free(a);
}

/* Weights from the third level take as long as the core was measured to beside sums as long as they
 * are, cold ones half as long again; where the core was not measured, sums hide no cold ones. Those
 * of a network whose weights fill the last cache come from memory. So do weights of two steps that
 * are written out, side by side, each of which lie in a row. */
static void weights_beside_sums(void **state) {
    (void)state;
#define ENDS "    i1:unroll, j1:vec =>\n        @o = {i0, i1}/i, {j0, j1}/j\n"
    static const program of[] = {
        {"in a row", "M=12 N=64 K=16384 i0=1 i1=12 j0=8 j1=8",
         "x[K, M] : input\nw[N/8, K, 8] : weight\n"
         "s[i:M, j:N] = sum(k:K) x[k, i]*w[j/8, k, j%8]\no[i:M, j:N] = s[i, j]\n",
         "i0, j0 =>\n    k, i1:unroll, j1:vec =>\n        @s = {i0, i1}/i, {j0, j1}/j // "
         "k\n" ENDS},
        {"side by side", "M=12 N=64 K=8192 i0=1 i1=12 j0=8 j1=8",
         "x[2, K, M] : input\nw[N/8, 2, K, 8] : weight\n"
         "s[i:M, j:N] = sum(p:2, k:K) x[p, k, i]*w[j/8, p, k, j%8]\no[i:M, j:N] = s[i, j]\n",
         "i0, j0 =>\n    k, p:unroll, i1:unroll, j1:vec =>\n"
         "        @s = {i0, i1}/i, {j0, j1}/j // p, k\n" ENDS}};
#undef ENDS
    static const float left_ns = 0.1F;
    const double lines = 64 * 16384 / 16;
    at_arena *a = at_arena_new();
    for (int i = 0; i < 2; i++) {
        at_estimate_options o = {.cache_bytes = {48 << 10, 64 << 20, 128 << 20}};
        const double hot_ns = estimate_by(a, &of[i], o).ns;
        o.cold_weights = true;
        o.weights_bytes = 64 << 20;
        const double cold_ns = estimate_by(a, &of[i], o).ns,
                     known_ns = estimate_of_core(a, &of[i], o, 0, 0, left_ns).ns,
                     least_ns = 1.5 * lines * (double)left_ns;
        o.weights_bytes = 128 << 20; /* which the last cache does not hold */
        const double far_ns = estimate_of_core(a, &of[i], o, 0, 0, left_ns).ns;
        if (cold_ns - hot_ns < 1.5 * lines * (double)stream_ns - 1 ||
            known_ns - hot_ns < least_ns - 1 || known_ns - hot_ns > 1.02 * least_ns + 1)
            fail_msg("%s: %g ns longer, %g where it was not measured, %g of lines", of[i].name,
                     known_ns - hot_ns, cold_ns - hot_ns, least_ns);
        if (far_ns - hot_ns < lines * (double)memory_ns - 1 ||
            far_ns - hot_ns > 1.02 * lines * (double)memory_ns + 1)
            fail_msg("%s: %g ns longer from memory, %g of lines", of[i].name, far_ns - hot_ns,
                     lines * (double)memory_ns);
    }
    at_arena_free(a);
}

/* Rows that begin half a way apart, of every second line, are in no more places than such lines:
 * what is read of three of them again and again is as much as half of the cache holds. */
static void rows_of_every_second_line(void **state) {
    (void)state;
#define ROWS(count, channels, block)                                                               \
    "H=64 W=" count " C=" channels " c0=" block " c1=16",                                          \
        "x[H + 2, W, C] : input\nk[3, C] : input\n"                                                \
        "y[h:H, w:W, c:C] = sum(r:3) x[h + r, w, c]*k[r, c]\n",                                    \
        "c0, h, w, r:unroll, c1:vec =>\n    @y = h, w, {c0, c1}/c // r\n"
    static const program fits = {"fits", ROWS("48", "32", "2")},
                         piles = {"piles", ROWS("112", "32", "2")};
#undef ROWS
    at_arena *a = at_arena_new();
    const at_estimate_options o = {.cache_bytes = {48 << 10, 2 << 20, 32 << 20}};
    const double once = 130 * 32 * 4 + 96 * 4; /* of a column */
    assert_true(estimate_by(a, &fits, o).bytes[0] <= 1.05 * 48 * once);
    assert_true(estimate_by(a, &piles, o).bytes[0] >= 1.5 * 112 * once);
    at_arena_free(a);
}

/* What a step stores by one mask waits for the next one's load by another, while the step's other
 * rows go on: where rows are whole registers, more of them take less time; where they are shorter,
 * each waits for what was stored beside it. */
static void rows_cut_by_masks(void **state) {
    (void)state;
#define SUMS(width, rows)                                                                          \
    "M=16 K=32 W=" width " i1=" rows, "x[K, W] : input\nw[M, K, 3] : input\n"                      \
                                      "o[i:M, v:W] = sum(k:K, p:3) (v + p >= 1 && v + p < W + 1 "  \
                                      "? x[k, v + p - 1] : 0)*w[i, k, p]\n"
#define STEPS "i0, k, p:unroll, i1:unroll, v:vec =>\n    @o = {i0, i1}/i, v // k, p\n"
    static const program of[] = {{"whole, a row", SUMS("8", "1 i0=16"), STEPS},
                                 {"whole, rows", SUMS("8", "8 i0=2"), STEPS},
                                 {"short, a row", SUMS("6", "1 i0=16"), STEPS},
                                 {"short, rows", SUMS("6", "8 i0=2"), STEPS}};
#undef SUMS
#undef STEPS
    at_arena *a = at_arena_new();
    double ns[4];
    for (int i = 0; i < 4; i++) ns[i] = estimate_with(a, &of[i], 1 << 20, NULL).sums_ns;
    assert_true(ns[1] < 0.4 * ns[0]);
    assert_true(ns[3] > 0.9 * ns[2]);
    at_arena_free(a);
}

/* Rows of a phase lie apart, and the phases fill what is between: their tiles take as long as those
 * of as many rows behind each other. Of weights that each phase reads in terms of its own, each
 * line comes once. */
static void rows_of_phases(void **state) {
    (void)state;
#define SUMS(i0, i1)                                                                               \
    "M=8 N=64 K=64 i0=" i0 " i1=" i1 " j0=4 j1=16", "x[M, K] : input\nw[K, N] : input\n"           \
                                                    "o[i:M, j:N] = sum(k:K) x[i, k]*w[k, j]\n"
    static const program behind = {"behind", SUMS("2", "4"),
                                   "i0:para, j0, k, i1:unroll, j1:vec =>\n"
                                   "    @o = {i0, i1}/i, {j0, j1}/j // k\n"},
                         phases = {"phases", SUMS("4", "2"),
                                   "i1:para, j0, k, i0:unroll, j1:vec =>\n"
                                   "    @o = {i0, i1}/i, {j0, j1}/j // k\n"},
                         terms = {"terms", "M=8 N=64 K=64 i0=4 i1=2 j0=4 j1=16",
                                  "x[M, K] : input\nw[2, K, N] : input\n"
                                  "o[i:M, j:N] = sum(r:2, k:K) ((i + r)%2 == 0 ? x[i, k] : 0)*"
                                  "w[r, k, j]\n",
                                  "i1, j0, r, k, i0:unroll, j1:vec =>\n"
                                  "    @o = {i0, i1}/i, {j0, j1}/j // r, k\n"};
#undef SUMS
    at_arena *a = at_arena_new();
    const at_estimate of_behind = estimate_of(a, &behind), of_phases = estimate_of(a, &phases);
    const double weights = 2 * 64 * 64 * 4, data = 8 * 64 * 4 * 4, sums = 8 * 64 * 4;
    assert_true(of_phases.sum_calls == of_behind.sum_calls);
    assert_true(of_phases.sums_ns == of_behind.sums_ns);
    const double bytes = estimate_of(a, &terms).bytes[0];
    assert_true(bytes >= weights && bytes <= weights + data + sums);
    at_arena_free(a);
}

/* What picks phases takes them one by one where its turns are no whole rounds of them, turned round
 * or not. */
static void picked_phases(void **state) {
    (void)state;
#define PICKED(v0, v1)                                                                             \
    "M=16 v0=" v0 " v1=" v1, "x[2, 40, M] : input\no[m:M, v:60] = x[v%2, v/2, m]\n"
#define ALONG(v0, v1)                                                                              \
    "M=16 v0=" v0 " v1=" v1, "x[2, M, 40] : input\no[m:M, v:60] = x[v%2, m, v/2]\n"
#define PICKS "v0, m, v1 =>\n    @o = m, {v0, v1}/v\n"
    static const program of[] = {{"turned, rounds", PICKED("3", "20"), PICKS},
                                 {"turned, uneven", PICKED("4", "15"), PICKS},
                                 {"rounds", ALONG("3", "20"), PICKS},
                                 {"uneven", ALONG("4", "15"), PICKS}};
#undef PICKS
#undef ALONG
#undef PICKED
    at_arena *a = at_arena_new();
    double ns[4];
    for (int i = 0; i < 4; i++) ns[i] = estimate_of(a, &of[i]).copies_ns;
    assert_true(ns[1] > 1.5 * ns[0]);
    assert_true(ns[3] > 1.5 * ns[2]);
    at_arena_free(a);
}

/* Vectors along a ninth dimension touch as many lines as along a second one. */
static void nine_dimensions(void **state) {
    (void)state;
    static const program two = {"two", "V=64", "w[256, V] : input\no[v:V] = sum(t:256) w[t, v]\n",
                                "t, v:vec =>\n    @o = v // t\n"},
                         nine = {"nine", "V=64",
                                 "w[2, 2, 2, 2, 2, 2, 2, 2, V] : input\n"
                                 "o[v:V] = sum(a:2, b:2, c:2, d:2, e:2, f:2, g:2, h:2) "
                                 "w[a, b, c, d, e, f, g, h, v]\n",
                                 "a, b, c, d, e, f, g, h, v:vec =>\n"
                                 "    @o = v // a, b, c, d, e, f, g, h\n"};
    at_arena *a = at_arena_new();
    assert_true(estimate_of(a, &nine).bytes[0] == estimate_of(a, &two).bytes[0]);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_through),
                                       cmocka_unit_test(blocks_of_a_sum),
                                       cmocka_unit_test(long_axes),
                                       cmocka_unit_test(grouped_stores),
                                       cmocka_unit_test(diagonals),
                                       cmocka_unit_test(touched_before),
                                       cmocka_unit_test(used_up),
                                       cmocka_unit_test(rows_apart),
                                       cmocka_unit_test(turned_squares),
                                       cmocka_unit_test(conditions_along_vectors),
                                       cmocka_unit_test(lanes_along_sums),
                                       cmocka_unit_test(stored_apart),
                                       cmocka_unit_test(turned_lanes),
                                       cmocka_unit_test(bounded_quotients),
                                       cmocka_unit_test(lines_by_themselves),
                                       cmocka_unit_test(rows_cut_by_masks),
                                       cmocka_unit_test(rows_of_phases),
                                       cmocka_unit_test(picked_phases),
                                       cmocka_unit_test(nine_dimensions),
                                       cmocka_unit_test(lines_without_neighbours),
                                       cmocka_unit_test(rows_of_one_place),
                                       cmocka_unit_test(weights_beside_sums),
                                       cmocka_unit_test(rows_of_every_second_line),
                                       cmocka_unit_test(elements_behind_a_sum),
                                       cmocka_unit_test(narrow_vectors),
                                       cmocka_unit_test(worked_out_where_read)};
    return cmocka_run_group_tests_name("cost/estimate", tests, NULL, NULL);
}
