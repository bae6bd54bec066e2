/* templates/layer_norm.c: each row of data [M, N] less its mean, divided by its standard deviation,
 * times gamma [N], plus beta [N]. The mean goes first, so that nothing cancels in the deviation. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[M, N] : input\n"
    "gamma[N] : weight\n"
    "beta[N] : weight\n"
    "total[y:M] = sum(k:N) data[y, k]\n"
    "mean[y:M] = total[y] * %.9g\n"
    "squares[y:M] = sum(k:N) (data[y, k] - mean[y]) * (data[y, k] - mean[y])\n"
    "scale[y:M] = rsqrt(squares[y] * %.9g + 1e-5)\n"
    "out[y:M, x:N] = (data[y, x] - mean[y]) * scale[y] * gamma[x] + beta[x]\n";

/* The latencies of one row's sums pass beside the other rows of a tile, and the way of the next
 * tile's rows from beyond the caches near the core beside this one's. */
static const char tree[] =
    "yo:para =>\n"
    "    ko, yi:unroll, ki:vec =>\n"
    "        @total = {yo, yi}/y // {ko, ki}/k\n"
    "    yi:unroll =>\n"
    "        @mean = {yo, yi}/y\n"
    "    ko, yi:unroll, ki:vec =>\n"
    "        @squares [prefetch data ahead] = {yo, yi}/y // {ko, ki}/k\n"
    "    yi:unroll =>\n"
    "        @scale = {yo, yi}/y\n"
    "    xo, yi:unroll, xi:vec =>\n"
    "        @out [prefetch out there] = {yo, yi}/y, {xo, xi}/x\n";
/* clang-format on */

/* Rows that are shorter than registers are left to rules, which put rows beside each other. */
static void define(at_template *t) {
    double share = 1.0 / (double)at_evaluate(t, "N");
    const char *text = at_textf(t, compute, share, share);
    if (at_evaluate(t, "N <= 16 && M >= 32")) {
        at_compute(t, text);
        return;
    }
    at_split(t, "tile_y", "M", "yo yi", .policy = AT_FACTORS, .filter = "last <= 4");
    at_split(t, "tile_k", "N", "ko ki", .policy = AT_VERBOSE, .filter = "last <= 512");
    at_split(t, "tile_x", "N", "xo xi", .policy = AT_VERBOSE, .filter = "last <= 256");
    /* The next tile's rows; 1: and the lines that it goes to, which memory has to give. */
    at_option(t, "prefetch", "[0, 1, 2]",
              (int)at_evaluate(t, "M*N <= 65536 ? 0 : M*N <= 2097152 ? 2 : 1"));
    at_sizes(t, "ahead = (prefetch > 0)*4*N*|yi|, there = (prefetch == 1)*4*N*|yi|");
    at_compute(t, text);
    at_schedule(t, tree);
}

/* Two rows with four vectors of partial results each, fewer where rows are short. */
static void defaults(at_template *t, int lanes) {
    long long n = at_evaluate(t, "N"), yi = at_divisor(at_evaluate(t, "M"), 2);
    long long ki = 4 * lanes, xi = 4 * lanes;
    while (ki > n && ki > 1) ki /= 2;
    while (xi > n && xi > 1) xi /= 2;
    at_default(t, "tile_y", &yi);
    at_default(t, "tile_k", &ki);
    at_default(t, "tile_x", &xi);
}

const at_template_row at_layer_norm = {
    .name = "layer_norm",
    .help = "rows less their mean, divided by their standard deviation, scaled and shifted",
    .args = "M=512, N=768",
    .sizes = "{M}x{N}",
    .title = "layer norm {M} of {N}",
    .record_args = "[[\"TENSOR\", [M, N], \"float32\"], [\"TENSOR\", [N], \"float32\"], "
                   "[\"TENSOR\", [N], \"float32\"], [1], 1e-05]",
    .define = define,
    .defaults = defaults,
};
