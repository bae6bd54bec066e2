/* templates/sparse_dense.c: data [M, K] times the transpose of a block-sparse weight [N, K]. */
#include "templates/template.h"

/* clang-format off */
#define TENSORS \
    "data[M, K]        : input\n" \
    "blocks[nnz, R, C] : weight\n" \
    "indices[nnz]      : index\n" \
    "indptr[N/R + 1]   : index\n"

/* A vector is the rows of a block. %s: a further stage, and what is read of the blocks. */
static const char rows_compute[] =
    TENSORS
    "%s"
    "block[m:M, j:N/R, r:R] = sum(e : indptr[j] .. indptr[j+1], c:C)\n"
    "    %s * data[m, indices[e]*C + c]\n"
    "out[m:M, n:N]     = block[m, n/R, n%%R]\n";

/* Blocks of several columns lie turned round in memory, so that rows are a vector. */
static const char turn[] = "turned[e:nnz, c:C, r:R] = blocks[e, r, c]\n";
static const char turn_tree[] =
    "e, c, r =>\n"
    "    @turned = e, c, r\n";

/* %s: the tree of turned blocks; the outer loops; whether rows are unrolled, twice. */
static const char rows_tree[] =
    "%s"
    "{%s}:para, jo, mo =>\n"
    "    elem:dyn(j), mi%s, br:vec, bc:unroll =>\n"
    "        @block = {mt, mo, mi}/m, {jt, jo}/j, br  // elem, bc\n"
    "    mi%s, br:vec =>\n"
    "        @out = {mt, mo, mi}/m, {jt, jo, br}/n\n";

/* Blocks of few rows would fill a part of a vector only: there a vector is rows of data, turned
 * round before, and the sums on their way to the output. */
static const char columns_compute[] =
    TENSORS
    "columns[k:K, m:M] = data[m, k]\n"
    "block[j:N/R, r:R, m:M] = sum(e : indptr[j] .. indptr[j+1], c:C)\n"
    "    blocks[e, r, c] * columns[indices[e]*C + c, m]\n"
    "out[m:M, n:N]     = block[n/R, n%%R, m]\n";

/* %s: the outer loops; whether rows are unrolled. */
static const char columns_tree[] =
    "{%s}:para, mo =>\n"
    "    mi, k =>\n"
    "        @columns = k, {mt, mo, mi}/m\n"
    "    jo =>\n"
    "        elem:dyn(j), bc:unroll, br%s, mi:vec =>\n"
    "            @block = {jt, jo}/j, br, {mt, mo, mi}/m  // elem, bc\n"
    "    mi, {jo, br} =>\n"
    "        @out = {mt, mo, mi}/m, {jt, jo, br}/n\n";
/* clang-format on */

static const struct {
    const char *condition, *outer, *unrolled;
} orders[] = {{"m_outer && unroll_m", "mt, jt", ":unroll"},
              {"m_outer", "mt, jt", ""},
              {"unroll_m", "jt, mt", ":unroll"},
              {"", "jt, mt", ""}};
enum { ORDERS = sizeof orders / sizeof orders[0] };

static void by_rows(at_template *t) {
    int turned = at_evaluate(t, "C > 1 && R > 1 && nnz > 0") != 0;
    const char *first = turned ? turn_tree : "";
    at_compute(t, at_textf(t, rows_compute, turned ? turn : "",
                           turned ? "turned[e, c, r]" : "blocks[e, r, c]"));
    for (int i = 0; i < ORDERS; i++)
        at_schedule_when(
            t, orders[i].condition,
            at_textf(t, rows_tree, first, orders[i].outer, orders[i].unrolled, orders[i].unrolled));
}

static void by_columns(at_template *t) {
    at_compute(t, at_textf(t, columns_compute));
    for (int i = 0; i < ORDERS; i++)
        at_schedule_when(t, orders[i].condition,
                         at_textf(t, columns_tree, orders[i].outer, orders[i].unrolled));
}

static void define(at_template *t) {
    at_require(t, "N % R == 0", "R does not divide N");
    at_require(t, "K % C == 0", "C does not divide K");
    at_require(t, "nnz <= N/R * (K/C)", "nnz exceeds the number of blocks");
    at_split(t, "tile_m", "M", "mt mo mi", .policy = AT_FACTORS, .fallback = {-1, 1, 8});
    at_split(t, "tile_n", "N/R", "jt jo", .policy = AT_FACTORS, .fallback = {-1, 4});
    at_option(t, "m_outer", "[true, false]", 0);
    at_option(t, "unroll_m", "[true, false]", 0);
    at_sizes(t, "k = K, br = R, bc = C");
    if (at_evaluate(t, "R < 16 && M >= 16") != 0) by_columns(t);
    else by_rows(t);
    at_sparse(t, "blocks", "indices", "indptr", "K/C");
    at_flops(t, "2*M*nnz*R*C");
}

const at_template_row at_sparse_dense = {
    .name = "sparse_dense",
    .help = "data [M, K] times the transpose of a block-sparse weight [N, K]",
    .args = "M=1024, N=1024, K=1024, nnz=1 from 0, R=16, C=1",
    .sizes = "{M}x{N}x{K}",
    .title = "sparse product {M} of {K} to {N}",
    .record_args = "[M, N, K, nnz, R, C, \"float32\"]",
    .define = define,
};
