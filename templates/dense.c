/* templates/dense.c: matrix products whose second operand is packed: dense is AutoTVM's
 * dense_pack.x86, out = data * weight^T + bias; dense_f16 and dense_bf16 have weights of 16 bits,
 * which are widened as they are used, and sums of float32; matmul_add is A * B + C with the same
 * knobs, but parts that need not divide. Sum and addition are one kernel: the addition is the end
 * of the tile.
 */
#include "templates/template.h"

/* clang-format off */
static const char product[] =
    "acc[y:Y, x:X] = sum(k:K) data[y, k] * packw[x/B, k, x%B]\n";

/* %s: packing, if any; how the rows of a tile are cut. */
static const char plain[] =
    "%s"
    "{xt, yt}:para, yo, xo =>\n"
    "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
    "        @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
    "    yi:unroll, xi:vec =>\n"
    "        @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n";

static const char blocks_of_rows[] =
    "%s"
    "{xt, yt}:para, yo, xo =>\n"
    "    ko, y1:unroll, ki:unroll, y2:unroll, xi:vec =>\n"
    "        @acc = {yt, yo, y1, y2}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
    "    y1:unroll, y2:unroll, xi:vec =>\n"
    "        @out = {yt, yo, y1, y2}/y, {xt, xo, xi}/x\n";

static const char packing[] =
    "p, b, k =>\n"
    "    @packw = p, k, b\n";

/* The last panel of columns may be a narrower one: what is missing is 0. */
static const char sum[] =
    "data[Y, K] : input\n"
    "weight[K, X] : weight\n"
    "addend[Y, X] : input\n"
    "packw[p:(X + B - 1)/B, k:K, b:B] = x < X ? weight[k, x] : 0\n"
    "    where x = p*B + b\n"
    "%s"
    "out[y:Y, x:X] = acc[y, x] + addend[y, x]\n";
/* clang-format on */

/* tile_inner divides Y, not always yi: where it does not, rows stay one block. */
static void define_trees(at_template *t, const char *pack) {
    at_sizes(t, "y1 = |yi|/|y2|");
    at_schedule_when(t, "|y2| > 1 && |yi| % |y2| == 0", at_textf(t, blocks_of_rows, pack));
    at_schedule(t, at_textf(t, plain, pack));
}

static void define_knobs(at_template *t) {
    at_sizes(t, "Y = M, X = N");
    at_split(t, "tile_y", "Y", "yt yo yi", .policy = AT_FACTORS);
    at_split(t, "tile_x", "X", "xt xo xi", .policy = AT_FACTORS);
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_FACTORS);
    at_split(t, "tile_inner", "Y", "inner_blocks y2", .policy = AT_FACTORS, .filter = "last <= 16");
}

/* Of any types, or with fewer columns than the shortest register has lanes; the rules make the
 * loops. A bias of integers is added before the output is scaled.
 */
static void define_typed(at_template *t) {
    const int bias = at_evaluate(t, "bias > 0") != 0;
    const char *sum_type = at_sum_type(t, "types");
    const at_typed out = {.axes = "y:M, x:N",
                          .channel = "x",
                          .channels = "N",
                          .value = bias ? "(acc[y, x] + bias_row[x])" : "acc[y, x]"};
    at_require(t, "wb == 0", "weights of other types than float32 are not packed: wb is 0");
    at_compute(t, at_textf(t,
                           "data[M, K] : input %s\nweight[N, K] : weight %s\n%s"
                           "acc[y:M, x:N] : %s = sum(k:K) data[y, k] * weight[x, k]\n%s",
                           at_argument_type(t, "types", 0), at_argument_type(t, "types", 1),
                           bias ? at_textf(t, "bias_row[N] : weight %s\n", sum_type) : "", sum_type,
                           at_typed_output(t, "types", &out)));
}

static void define_dense(at_template *t) {
    int packed = at_evaluate(t, "wb > 0") != 0, bias = at_evaluate(t, "bias > 0") != 0;
    at_require(t, "bias <= 1", "bias is 0 or 1");
    at_require(t, "wb == 0 || N % wb == 0", "wb does not divide N");
    if (at_is_typed(t, "types") || at_evaluate(t, "(N < 4 || N < 8 && K >= 256) && wb == 0")) {
        define_typed(t);
        return;
    }
    define_knobs(t);
    define_trees(t, packed ? "" : packing);
    at_sizes(t, "B = wb ? wb : |xi|");
    at_compute(t, at_textf(t, "data[Y, K] : input\n%s%s%s%s",
                           packed ? "packw[X/B, K, B] : weight\n"
                                  : "weight[X, K] : weight\n"
                                    "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n",
                           bias ? "bias_row[X] : weight\n" : "", product,
                           bias ? "out[y:Y, x:X] = acc[y, x] + bias_row[x]\n"
                                : "out[y:Y, x:X] = acc[y, x]\n"));
}

/* Weights of 16 bits, packed as such. */
static void define_stored(at_template *t, const char *type) {
    define_knobs(t);
    define_trees(t, packing);
    at_sizes(t, "B = |xi|");
    at_compute(t, at_textf(t,
                           "data[Y, K] : input\nweight[X, K] : weight %s\n"
                           "packw[p:X/B, k:K, b:B] : %s = weight[p*B + b, k]\n%s"
                           "out[y:Y, x:X] = acc[y, x]\n",
                           type, type, product));
}

static void define_f16(at_template *t) { define_stored(t, "f16"); }

static void define_bf16(at_template *t) { define_stored(t, "bf16"); }

/* Parts that registers like, whatever the sizes divide by. */
static void define_matmul_add(at_template *t) {
    at_sizes(t, "Y = N, X = M, K = L");
    at_split(t, "tile_y", "Y", "yt yo yi", .policy = AT_LISTED,
             .listed = "pow2 | 1 2 4 6 8 10 12 14 16 20 24 28");
    at_split(t, "tile_x", "X", "xt xo xi", .policy = AT_LISTED,
             .listed = "pow2 | 8 16 24 32 48 64 96 128");
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_LISTED, .listed = "1 2 4 8 16");
    at_split(t, "tile_inner", "Y", "inner_blocks y2", .policy = AT_LISTED, .listed = "1 2 4 6 7 8");
    at_sizes(t, "B = |xi|, p = (X + B - 1)/B");
    define_trees(t, packing);
    at_compute(t, at_textf(t, sum, product));
}

/* Doubled while more than four are left of an even number. */
static long long middle(long long n) {
    long long part = 1;
    while (n / part > 4 && n / part % 2 == 0) part *= 2;
    return part;
}

static void defaults(at_template *t, int lanes) {
    long long m = at_evaluate(t, "Y"), n = at_evaluate(t, "X"), one = 1;
    long long x[2] = {1, at_vectors(n, lanes, 2)}, y[2] = {1, 8};
    while (m % y[1]) y[1] /= 2;
    if (y[1] == 1 && m > 8) y[1] = at_vectors(m, 8, 1); /* odd */
    x[0] = middle(n / x[1]);
    y[0] = middle(m / y[1]);
    if (at_by_element(t)) one = at_divisor(at_evaluate(t, "K"), lanes); /* by one load */
    at_default(t, "tile_y", y);
    at_default(t, "tile_x", x);
    at_default(t, "tile_k", &one);
    at_default(t, "tile_inner", y[1] <= 16 ? &y[1] : &one);
}

/* Two vectors by as many rows as the registers then hold; four pieces of either axis outermost. */
static void ragged_defaults(at_template *t, int lanes) {
    long long length[2] = {at_evaluate(t, "Y"), at_evaluate(t, "X")}, one = 1;
    long long part[2][2] = {{1, lanes == 16 ? 14 : 6}, {1, 2 * lanes}};
    for (int i = 0; i < 2; i++) {
        if (part[i][1] > length[i]) part[i][1] = length[i];
        while (length[i] > 4 * part[i][0] * part[i][1]) part[i][0] *= 2;
        at_default(t, i ? "tile_x" : "tile_y", part[i]);
    }
    at_default(t, "tile_k", &one);
    at_default(t, "tile_inner", &one);
}

#define DATA "[[\"TENSOR\", [M, K], \"float32\"], "
#define WEIGHT "[\"TENSOR\", [N, K], \"float32\"], "
#define PACKED "[\"TENSOR\", [N/wb, K, wb], \"float32\"], "
#define BIAS "[\"TENSOR\", [N], \"float32\"]"

const at_template_row at_dense = {
    .name = "dense",
    .record_name = "dense_pack.x86",
    .help = "product of data [M, K] and transposed weights [N, K], with or without bias",
    .args = "M=1024, N=1024, K=1024, bias=0 from 0, wb=0 from 0, " AT_TYPES,
    .sizes = "{M}x{N}x{K}",
    .title = "product {M} of {K} to {N}",
    .record_args =
        DATA WEIGHT "null, \"float32\"] with bias=0, wb=0, types=\"\" | " DATA WEIGHT BIAS
                    ", \"float32\"] with bias=1, wb=0, types=\"\" | " DATA PACKED
                    "null, \"float32\"] with bias=0, types=\"\" | " DATA PACKED BIAS
                    ", \"float32\"] with bias=1, types=\"\" | "
                    "[[M, K], [N, K], bias, wb, types]",
    .define = define_dense,
    .defaults = defaults,
};

#define STORED(type, title_, record_type)                                                          \
    const at_template_row at_dense_##type = {                                                      \
        .name = "dense_" #type,                                                                    \
        .help = "product of data [M, K] and transposed weights [N, K] of " title_,                 \
        .args = "M=1024, N=1024, K=1024",                                                          \
        .sizes = "{M}x{N}x{K}",                                                                    \
        .title = "product {M} of {K} to {N}, " title_ " weights",                                  \
        .record_args = DATA "[\"TENSOR\", [N, K], \"" record_type "\"], null, \"float32\"]",       \
        .define = define_##type,                                                                   \
        .defaults = defaults,                                                                      \
    }

STORED(f16, "float16", "float16");
STORED(bf16, "bfloat16", "bfloat16");

const at_template_row at_matmul_add = {
    .name = "matmul_add",
    .help = "A [N, L] times B [L, M] plus C [N, M]",
    .args = "N=1024, L=1024, M=1024",
    .sizes = "{N}x{L}x{M}",
    .title = "product {N} of {L} to {M}",
    .record_args = "[N, L, M, \"float32\"]",
    .define = define_matmul_add,
    .defaults = ragged_defaults,
};
