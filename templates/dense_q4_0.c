/* templates/dense_q4_0.c: dense_q4_0, dense_q8_0 and dense_q4_k: products with weights of 8 and 4
 * bits in blocks, each with a scale, as ggml's Q4_0, Q8_0 and Q4_K lie in memory. Rows of data are
 * rounded to bytes, 32 numbers to a scale; sums of a block are dot products of bytes, and those of
 * all blocks are floats. Weights stay as narrow as they are: packed ahead they lie in the order of
 * use, 16 outputs to a vector, and are taken apart in registers. */
#include "templates/template.h"

/* clang-format off */
/* The data as bytes, their sums, and what a step of theirs is. */
static const char rounded[] =
    "data[M, K] : input\n"
    "weight[N, %s] : weight %s\n"
    "most[m:M, b:K/32] = max(i:32) abs(data[m, b*32 + i])\n"
    "bytes[m:M, k:K] : %s = round(data[m, k] * (top > 0 ? 127/top : 0)%s) where top = most[m, k/32]\n"
    "step[m:M, b:K/32] = most[m, b]*0.007874016\n";

static const char rounded_tree[] =
    "m, b, i:32 vec =>\n"
    "    @most = m, b  // i\n"
    "m, b, e:32 vec =>\n"
    "    @bytes = m, {b, e}/k\n"
    "m, bo, bi:vec =>\n"
    "    @step = m, {bo, bi}/b\n";

static const char sums[] =
    "sums[m:M, b:K/32] : s32 = sum(i:32) bytes[m, b*32 + i]\n";

static const char sums_tree[] =
    "m, b, i:32 vec =>\n"
    "    @sums = m, b  // i\n";

/* blocks: the loops of these. */
static const char tile_tree[] =
    "{no, mo}:para, %s =>\n"
    "%s"
    "    mi:unroll, ni:vec =>\n"
    "        @out = {mo, mi}/m, {no, ni}/n  // %s\n";

static const char dot_tree[] =
    "    j:unroll, mi:unroll, ni:vec, f:dot =>\n"
    "        @%s = {mo, mi}/m, {no, ni}/n, %s  // j, f\n";

static const char packing_tree[] =
    "p, %s, j, i:16, f =>\n"
    "    @packw = p, %s, j, i, f\n";

/* 32 weights to a block: a scale in two bytes, then 16 bytes, of which the lower halves come first.
 */
static const char q4_0[] =
    "packw[p:N/16, c:K/32, j:4, i:16, f:4] : u8 = weight[p*16 + i, c, 2 + j*4 + f]\n"
    "scale[p:N/16, c:K/32, i:16] = half(weight[p*16 + i, c, 0] | weight[p*16 + i, c, 1] << 8)\n"
    "dots[m:M, n:N, c:K/32] : s32 = sum(j:4, f:4) bytes[m, c*32 + j*4 + f]*(byte & 15)\n"
    "    + bytes[m, c*32 + 16 + j*4 + f]*(byte >> 4) where byte = packw[n/16, c, j, n%16, f]\n"
    "out[m:M, n:N] = sum(c:K/32) (dots[m, n, c] - 8*sums[m, c])*(scale[n/16, c, n%16]*step[m, c])\n";

/* A scale, then 32 bytes with sign, whose sums make up for data that are moved by 128. */
static const char q8_0[] =
    "packw[p:N/16, c:K/32, j:8, i:16, f:4] : s8 = weight[p*16 + i, c, 2 + j*4 + f]\n"
    "scale[p:N/16, c:K/32, i:16] = half(weight[p*16 + i, c, 0] & 255 | (weight[p*16 + i, c, 1] & 255) << 8)\n"
    "moved[p:N/16, c:K/32, i:16] : s32 = sum(j:8, f:4) 128*weight[p*16 + i, c, 2 + j*4 + f]\n"
    "dots[m:M, n:N, c:K/32] : s32 = sum(j:8, f:4) bytes[m, c*32 + j*4 + f]*packw[n/16, c, j, n%16, f]\n"
    "out[m:M, n:N] = sum(c:K/32) (dots[m, n, c] - moved[n/16, c, n%16])*(scale[n/16, c, n%16]*step[m, c])\n";

/* 256 weights: a scale of scales and one of minima, 8 of each in 6 bits, and 128 bytes; of 32 the
 * lower halves are one block, the upper ones the next. The upper ones stay where they are, 16 times as
 * large, and scales as narrow as they are: reading takes longer than arithmetic. */
static const char q4_k[] =
    "packw[p:N/16, s:K/256, c:4, j:8, i:16, f:4] : u8 = weight[p*16 + i, s, 16 + c*32 + j*4 + f]\n"
    "scale[p:N/16, s:K/256, i:16] : f16 = half(weight[p*16 + i, s, 0] | weight[p*16 + i, s, 1] << 8)\n"
    "steps[p:N/16, s:K/256, t:8, i:16] : u8 = t < 4 ? weight[n, s, t + 4] & 63\n"
    "    : weight[n, s, t + 8] & 15 | weight[n, s, t] >> 6 << 4 where n = p*16 + i\n"
    "base[p:N/16, s:K/256, i:16] : f16 = half(weight[p*16 + i, s, 2] | weight[p*16 + i, s, 3] << 8)\n"
    "least[p:N/16, s:K/256, t:8, i:16] : u8 = t < 4 ? weight[n, s, t + 8] & 63\n"
    "    : weight[n, s, t + 8] >> 4 | weight[n, s, t + 4] >> 6 << 4 where n = p*16 + i\n"
    "high_step[m:M, b:K/32] = step[m, b]*0.0625\n"
    "offset[m:M, b:K/32] = sums[m, b]*step[m, b]\n"
    "low[m:M, n:N, s:K/256, c:4] : s32 = sum(j:8, f:4) bytes[m, s*256 + c*64 + j*4 + f]*(packw[n/16, s, c, j, n%16, f] & 15)\n"
    "high[m:M, n:N, s:K/256, c:4] : s32 = sum(j:8, f:4) bytes[m, s*256 + c*64 + 32 + j*4 + f]*(packw[n/16, s, c, j, n%16, f] & 240)\n"
    "out[m:M, n:N] = sum(s:K/256, c:4) scale[n/16, s, n%16]*(low[m, n, s, c]*(steps[n/16, s, 2*c, n%16]*step[m, s*8 + 2*c])\n"
    "    + high[m, n, s, c]*(steps[n/16, s, 2*c + 1, n%16]*high_step[m, s*8 + 2*c + 1]))\n"
    "    - base[n/16, s, n%16]*(least[n/16, s, 2*c, n%16]*offset[m, s*8 + 2*c]\n"
    "        + least[n/16, s, 2*c + 1, n%16]*offset[m, s*8 + 2*c + 1])\n";
/* clang-format on */

/* whole: weights whose scales lie together; block: those that a turn of the inner loop takes. */
static void define_sizes(at_template *t, int whole, int block, int bytes) {
    at_require(t, at_textf(t, "K %% %d == 0 && N %% 16 == 0", whole),
               at_textf(t, "K is a multiple of %d and N one of 16", whole));
    at_split(t, "tile_m", "M", "mo mi", .policy = AT_FACTORS);
    at_split(t, "tile_n", "N/16", "no nv", .policy = AT_FACTORS);
    at_sizes(t, at_textf(t,
                         "ni = 16*|nv|, m = M, b = K/32, p = N/16, c = %s, j = %d, f = 4, "
                         "bi = b %% 16 ? 1 : 16, bo = b/bi",
                         whole > block ? at_textf(t, "%d, s = K/%d, t = 8", whole / block, whole)
                                       : at_textf(t, "K/%d", block),
                         bytes / 4));
}

static const char *dot(at_template *t, const char *name, const char *blocks) {
    return at_textf(t, dot_tree, name, blocks);
}

static void define_q4_0(at_template *t) {
    define_sizes(t, 32, 32, 16);
    at_compute(t,
               at_textf(t, "%s%s%s", at_textf(t, rounded, "K/32, 18", "u8", "s8", ""), sums, q4_0));
    at_schedule(t, at_textf(t, "%sp, c, i:16 =>\n    @scale = p, c, i\n%s%s%s",
                            at_textf(t, packing_tree, "c", "c"), rounded_tree, sums_tree,
                            at_textf(t, tile_tree, "c", dot(t, "dots", "c"), "c")));
}

static void define_q8_0(at_template *t) {
    define_sizes(t, 32, 32, 32);
    at_compute(t,
               at_textf(t, "%s%s", at_textf(t, rounded, "K/32, 34", "s8", "u8", " + 128"), q8_0));
    at_schedule(t, at_textf(t,
                            "%sp, c, i:16 =>\n    @scale = p, c, i\n"
                            "p, c, i:16, j, f =>\n    @moved = p, c, i  // j, f\n%s%s",
                            at_textf(t, packing_tree, "c", "c"), rounded_tree,
                            at_textf(t, tile_tree, "c", dot(t, "dots", "c"), "c")));
}

static void define_q4_k(at_template *t) {
    define_sizes(t, 256, 64, 32);
    at_compute(
        t, at_textf(t, "%s%s%s", at_textf(t, rounded, "K/256, 144", "u8", "s8", ""), sums, q4_k));
    at_schedule(
        t, at_textf(t,
                    "%sp, s, i:16 =>\n    @scale = p, s, i\n"
                    "p, s, t, i:16 =>\n    @steps = p, s, t, i\n"
                    "p, s, i:16 =>\n    @base = p, s, i\n"
                    "p, s, t, i:16 =>\n    @least = p, s, t, i\n%s%s"
                    "m, bo, bi:vec =>\n    @high_step = m, {bo, bi}/b\n"
                    "m, bo, bi:vec =>\n    @offset = m, {bo, bi}/b\n%s",
                    at_textf(t, packing_tree, "s, c", "s, c"), rounded_tree, sums_tree,
                    at_textf(t, tile_tree, "s, c",
                             at_textf(t, "%s%s", dot(t, "low", "s, c"), dot(t, "high", "s, c")),
                             "s, c")));
}

/* One row by four vectors, or two vectors by as many rows as registers then hold sums of. */
static void defaults(at_template *t, int lanes) {
    const long long rows = at_evaluate(t, "M");
    const long long vectors = at_divisor(at_evaluate(t, "N/16"), rows == 1 ? 4 : 2);
    const long long mi = at_divisor(rows, lanes < 16 ? 1 : 10 / (vectors + (vectors < 2)));
    at_default(t, "tile_m", &mi);
    at_default(t, "tile_n", &vectors);
}

#define ROW(id, title_, block, bytes, type)                                                        \
    const at_template_row at_dense_##id = {                                                        \
        .name = "dense_" #id,                                                                      \
        .help = "product with weights in ggml's blocks " title_,                                   \
        .sizes = "{M}x{N}x{K}",                                                                    \
        .title = "product {M} of {K} to {N}, " title_,                                             \
        .args = "M=1, N=4096, K=4096",                                                             \
        .record_args = "[[\"TENSOR\", [M, K], \"float32\"], [\"TENSOR\", [N, K/" block ", " bytes  \
                       "], \"" type "\"]]",                                                        \
        .define = define_##id,                                                                     \
        .defaults = defaults,                                                                      \
    }

ROW(q4_0, "Q4_0", "32", "18", "uint8");
ROW(q8_0, "Q8_0", "32", "34", "int8");
ROW(q4_k, "Q4_K", "256", "144", "uint8");
