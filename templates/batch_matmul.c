/* templates/batch_matmul.c: a product of matrices for each element of a batch, with the names of
 * AutoTVM's knobs: A [B, M, K], or [B, K, M] where ta is 1; B [B, N, K] where tb is 1, else
 * [B, K, N]. Neither is a weight, so what is packed is packed in the kernel. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "a[B, %s] : input\n"
    "b[B, %s] : input\n"
    "packa[i:B, p:M/U, k:K, u:U] = a[i, %s]\n"
    "packb[i:B, q:N/V, k:K, v:V] = b[i, %s]\n"
    "acc[i:B, y:M, x:N] = sum(k:K) packa[i, y/U, k, y%%U] * packb[i, x/V, k, x%%V]\n"
    "out[i:B, y:M, x:N] = acc[i, y, x]\n";

/* %s: what is packed, if anything, and loops. */
static const char tree[] =
    "%s"
    "    %s =>\n"
    "        ko, ki:unroll, yi:unroll, xi:vec =>\n"
    "            @acc = i, {yt, yo, yi}/y, {xo, xi}/x  // {ko, ki}/k\n"
    "        yi:unroll, xi:vec =>\n"
    "            @out = i, {yt, yo, yi}/y, {xo, xi}/x\n";

static const char nothing[] = "{i, xo}:para =>\n";

/* The columns of B that a tile has. */
static const char columns[] =
    "{i, xo}:para =>\n"
    "    k, v =>\n"
    "        @packb = i, xo, k, v\n";

/* B first. Then blocks of rows for the cache beside the core. */
static const char first[] =
    "{i, xo}:para, k, v =>\n"
    "    @packb = i, xo, k, v\n"
    "{i, yt, xo}:para =>\n";

/* With those rows packed as well. */
static const char both[] =
    "{i, xo}:para, k, v =>\n"
    "    @packb = i, xo, k, v\n"
    "{i, yt}:para =>\n"
    "    yo, k, u =>\n"
    "        @packa = i, {yt, yo}/p, k, u\n";
/* clang-format on */

/* Of parts, or where nothing in it divides the axis, of the smallest that the registers like. */
static const char *limit(at_template *t, const char *axis, int lanes, long long most) {
    long long least = at_vectors(at_evaluate(t, axis), lanes, 1);
    return at_textf(t, "last <= %lld", least > most ? least : most);
}

static void define(at_template *t) {
    int ta = at_evaluate(t, "ta") != 0, tb = at_evaluate(t, "tb") != 0;
    at_require(t, "ta <= 1 && tb <= 1", "ta and tb are 0 or 1");
    at_split(t, "tile_y", "M", "yt yo yi", .policy = AT_FACTORS, .filter = limit(t, "M", 28, 32));
    at_split(t, "tile_x", "N", "xo xi", .policy = AT_FACTORS, .filter = limit(t, "N", 16, 128));
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_FACTORS, .filter = "last <= 16");
    at_option(t, "pack", "[0, 1, 2, 3]", 1);
    at_sizes(t, "U = |yi|, u = U, V = |xi|, v = V");
    at_compute(t, at_textf(t, compute, ta ? "K, M" : "M, K", tb ? "N, K" : "K, N",
                           ta ? "k, p*U + u" : "p*U + u, k", tb ? "q*V + v, k" : "k, q*V + v"));
    at_schedule_when(t, "pack == 3", at_textf(t, tree, both, "xo, yo"));
    at_schedule_when(t, "pack == 2", at_textf(t, tree, first, "yo"));
    at_schedule_when(t, "pack == 1", at_textf(t, tree, columns, "yt, yo"));
    at_schedule(t, at_textf(t, tree, nothing, "yt, yo"));
}

/* Two vectors of columns and as many rows as then fit the registers; blocks of rows of 512 KB.
 * Copies pay where what they copy is read often. */
static void defaults(at_template *t, int lanes) {
    long long m = at_evaluate(t, "M"), n = at_evaluate(t, "N"), k = at_evaluate(t, "K");
    long long ki = at_divisor(k, 4), xi = at_vectors(n, lanes, 2), y[2], pack;
    long long large = m * k > 131072 && n > 4 * lanes;
    y[1] = at_vectors(m, (int)at_most_rows(xi, lanes), 1);
    y[0] = at_divisor(m / y[1], large ? 131072 / k / y[1] : m);
    pack = large ? at_evaluate(t, "ta ? 3 : 2") : at_evaluate(t, "tb || M >= 64");
    at_default(t, "tile_y", y);
    at_default(t, "tile_x", &xi);
    at_default(t, "tile_k", &ki);
    at_default(t, "pack", &pack);
}

#define A(shape) "[[\"TENSOR\", [B, " shape "], \"float32\"], "
#define B(shape) "[\"TENSOR\", [B, " shape "], \"float32\"], [B, M, N], \"float32\", "

const at_template_row at_batch_matmul = {
    .name = "batch_matmul",
    .help = "a product of matrices for each element of a batch",
    .args = "B=1, M=512, N=512, K=512, ta=0 from 0, tb=1 from 0",
    .sizes = "{B}x{M}x{N}x{K}",
    .title = "{B} products of {M}x{K} and {K}x{N}",
    .record_args = A("M, K") B("K, N") "false, false] with ta=0, tb=0 | " A("M, K")
        B("N, K") "false, true] with ta=0, tb=1 | " A("K, M")
            B("K, N") "true, false] with ta=1, tb=0 | " A("K, M")
                B("N, K") "true, true] with ta=1, tb=1",
    .define = define,
    .defaults = defaults,
};
