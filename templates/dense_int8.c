/* templates/dense_int8.c: products of bytes without sign and bytes with it, to sums of 32 bits,
 * with AutoTVM's names, knobs and layouts: dense_int8.x86 (TVM's dense_vnni), whose weight lies in
 * blocks of 16 outputs by 4 inputs (NC16n4k), and batch_matmul_int8.x86, whose second operand is
 * brought into these inside. */
#include "templates/template.h"

/* clang-format off */
static const char dense[] =
    "data[M, K] : input u8\n"
    "weight[N/16, K/4, 16, 4] : weight s8\n"
    "%s"
    "acc[y:M, x:N] : s32 = sum(k:K/4, j:4) data[y, k*4 + j] * weight[x/16, k, x%%16, j]\n"
    "out[y:M, x:N] : s32 = acc[y, x]%s\n";

/* %s: which of the two operands stays in the nearest cache while the other one goes by. */
static const char dense_tree[] =
    "{%s}:para =>\n"
    "    k, yi:unroll, xb:unroll, xi:vec, j:dot =>\n"
    "        @acc = {yo, yi}/y, {xo, xb, xi}/x  // k, j\n"
    "    yi:unroll, xb:unroll, xi:vec =>\n"
    "        @out = {yo, yi}/y, {xo, xb, xi}/x\n";

static const char batch[] =
    "x[B, M, K] : input u8\n"
    "y[B, N, K] : input s8\n"
    "packed[b:B, p:N/16, k:K/4, n:16, j:4] : s8 = y[b, p*16 + n, k*4 + j]\n"
    "acc[b:B, h:M, w:N] : s32 = sum(k:K/4, j:4) x[b, h, k*4 + j] * packed[b, w/16, k, w%16, j]\n"
    "out[b:B, h:M, w:N] : s32 = acc[b, h, w]\n";

/* The second operand is packed for all tiles ahead, or a panel of it for the tiles that read it. */
static const char at_once[] =
    "{b, p}:para, k, n, j =>\n"
    "    @packed = b, p, k, n, j\n"
    "{b, xo, yo}:para =>\n"
    "    k, yi:unroll, xb:unroll, xi:vec, j:dot =>\n"
    "        @acc = b, {yo, yi}/h, {xo, xb, xi}/w  // k, j\n"
    "    yi:unroll, xb:unroll, xi:vec =>\n"
    "        @out = b, {yo, yi}/h, {xo, xb, xi}/w\n";

static const char by_panel[] =
    "{b, xo}:para =>\n"
    "    xb, k, n, j =>\n"
    "        @packed = b, {xo, xb}, k, n, j\n"
    "    yo =>\n"
    "        k, yi:unroll, xb:unroll, xi:vec, j:dot =>\n"
    "            @acc = b, {yo, yi}/h, {xo, xb, xi}/w  // k, j\n"
    "        yi:unroll, xb:unroll, xi:vec =>\n"
    "            @out = b, {yo, yi}/h, {xo, xb, xi}/w\n";
/* clang-format on */

/* A row takes as many blocks of 16 outputs as leave all sums in registers: what is loaded of a row
 * is of use to each of them. */
static void define_sizes(at_template *t) {
    at_require(t, "N % 16 == 0 && K % 4 == 0", "N is a multiple of 16 and K one of 4");
    at_split(t, "tile_y", "M", "yo yi", .policy = AT_FACTORS);
    at_sizes(t, "xb = |yi| <= 6 && N%64 == 0 ? 4 : |yi| <= 8 && N%48 == 0 ? 3 :"
                " |yi| <= 14 && N%32 == 0 ? 2 : 1,"
                "xo = N/(16*xb), xi = 16, k = K/4, j = 4");
}

static void define_dense(at_template *t) {
    int bias = at_evaluate(t, "bias > 0") != 0;
    at_require(t, "bias <= 1", "bias is 0 or 1");
    define_sizes(t);
    at_compute(t, at_textf(t, dense, bias ? "bias_row[N] : weight s32\n" : "",
                           bias ? " + bias_row[x]" : ""));
    at_schedule_when(t, "16*xb*K <= 32768", at_textf(t, dense_tree, "xo, yo"));
    at_schedule(t, at_textf(t, dense_tree, "yo, xo"));
}

static void define_batch(at_template *t) {
    define_sizes(t);
    at_option(t, "layout_trans_compute_root", "[0, 1]", 0);
    at_sizes(t, "p = N/16, n = 16");
    at_compute(t, batch);
    at_schedule_when(t, "layout_trans_compute_root", at_once);
    at_schedule(t, by_panel);
}

/* Two blocks or three, and as many rows as registers then hold sums of. */
static void defaults(at_template *t, int lanes) {
    long long vectors = (16 + lanes - 1) / lanes, most = vectors > 1 ? 12 / vectors : 28;
    if (vectors == 1 && at_evaluate(t, "N%32 == 0")) most = 14;
    if (vectors == 1 && at_evaluate(t, "N%48 == 0")) most = 8;
    long long yi = at_fitting_rows(at_evaluate(t, "M"), most);
    yi = at_divisor(at_evaluate(t, "M"), yi);
    at_default(t, "tile_y", &yi);
}

#define DATA "[[\"TENSOR\", [M, K], \"uint8\"], "
#define WEIGHT "[\"TENSOR\", [N/16, K/4, 16, 4], \"int8\"], "
#define OUT ", \"int32\"]"

const at_template_row at_dense_int8 = {
    .name = "dense_int8",
    .record_name = "dense_int8.x86",
    .help = "product of bytes, u8 by s8 to s32; the weight in blocks of 16 outputs by 4 inputs",
    .sizes = "{M}x{N}x{K}",
    .title = "product {M} of {K} to {N}, bytes",
    .args = "M=1024, N=1024, K=1024, bias=0 from 0",
    .record_args = DATA WEIGHT "null" OUT " with bias=0 | " DATA WEIGHT
                               "[\"TENSOR\", [N], \"int32\"]" OUT " with bias=1",
    .define = define_dense,
    .defaults = defaults,
};

const at_template_row at_batch_matmul_int8 = {
    .name = "batch_matmul_int8",
    .record_name = "batch_matmul_int8.x86",
    .help = "a product of bytes for each element of a batch, u8 by s8 to s32",
    .sizes = "{B}x{M}x{N}x{K}",
    .title = "{B} products of {M}x{K} and {K}x{N}, bytes",
    .args = "B=8, M=512, N=512, K=512",
    .record_args = "[[\"TENSOR\", [B, M, K], \"uint8\"], [\"TENSOR\", [B, N, K], \"int8\"], "
                   "[B, M, N], \"int32\", false, true]",
    .define = define_batch,
    .defaults = defaults,
};
