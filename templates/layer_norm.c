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

static const char tree[] =
    "y:para =>\n"
    "    ko, ki:vec =>\n"
    "        @total = y // {ko, ki}/k\n"
    "    @mean = y\n"
    "    ko, ki:vec =>\n"
    "        @squares = y // {ko, ki}/k\n"
    "    @scale = y\n"
    "    xo, xi:vec =>\n"
    "        @out = y, {xo, xi}/x\n";
/* clang-format on */

static void define(at_template *t) {
    double share = 1.0 / (double)at_evaluate(t, "N");
    at_split(t, "tile_k", "N", "ko ki", .policy = AT_VERBOSE, .filter = "last <= 512");
    at_split(t, "tile_x", "N", "xo xi", .policy = AT_VERBOSE, .filter = "last <= 256");
    at_compute(t, at_textf(t, compute, share, share));
    at_schedule(t, tree);
}

/* Eight vectors of partial results; 16 lanes at least where rows allow it. */
static void defaults(at_template *t, int lanes) {
    long long n = at_evaluate(t, "N"), ki = 8 * lanes, xi = 4 * lanes;
    while (ki > n && ki > 1) ki /= 2;
    while (xi > n && xi > 1) xi /= 2;
    at_default(t, "tile_k", &ki);
    at_default(t, "tile_x", &xi);
}

const at_template_row at_layer_norm = {
    .name = "layer_norm",
    .help = "rows less their mean, divided by their standard deviation, scaled and shifted",
    .args = "M=512, N=768",
    .record_args = "[[\"TENSOR\", [M, N], \"float32\"], [\"TENSOR\", [N], \"float32\"], "
                   "[\"TENSOR\", [N], \"float32\"], [1], 1e-05]",
    .define = define,
    .defaults = defaults,
};
