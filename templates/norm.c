/* templates/norm.c: the 2-norm of each matrix of data [B, M, N]: the root of the sum of squares. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[B, M, N] : input\n"
    "squares[b:B] = sum(i:M, j:N) data[b, i, j] * data[b, i, j]\n"
    "out[b:B] = sqrt(squares[b])\n";

static const char tree[] =
    "b:para =>\n"
    "    i, jo, ji:vec =>\n"
    "        @squares = b // i, {jo, ji}/j\n"
    "    @out = b\n";
/* clang-format on */

static void define(at_template *t) {
    at_split(t, "tile_j", "N", "jo ji", .policy = AT_VERBOSE, .filter = "last <= 512");
    at_compute(t, compute);
    at_schedule(t, tree);
}

/* Eight vectors of partial results. */
static void defaults(at_template *t, int lanes) {
    long long n = at_evaluate(t, "N"), ji = 8 * lanes;
    while (ji > n && ji > 1) ji /= 2;
    at_default(t, "tile_j", &ji);
}

const at_template_row at_norm = {
    .name = "norm",
    .help = "2-norm of matrices: the root of the sum of squares",
    .args = "B=1, M=1024, N=1024",
    .sizes = "{B}x{M}x{N}",
    .title = "norm {B} of {M}x{N}",
    .record_args = "[B, M, N, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
