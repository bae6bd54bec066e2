/* templates/sparse_dense.c: data [M, K] times the transpose of a block-sparse weight [N, K]. */
#include "templates/template.h"

/* clang-format off */
/* %s: a further stage, and what is read of the blocks. */
static const char compute[] =
    "data[M, K]        : input\n"
    "blocks[nnz, R, C] : weight\n"
    "indices[nnz]      : index\n"
    "indptr[N/R + 1]   : index\n"
    "%s"
    "block[m:M, j:N/R, r:R] = sum(e : indptr[j] .. indptr[j+1], c:C)\n"
    "    %s * data[m, indices[e]*C + c]\n"
    "out[m:M, n:N]     = block[m, n/R, n%R]\n";

/* Blocks of several columns lie turned round in memory, so that rows are a vector. */
static const char turn[] = "turned[e:nnz, c:C, r:R] = blocks[e, r, c]\n";
static const char turn_tree[] =
    "e, c, r =>\n"
    "    @turned = e, c, r\n";

/* %s: the tree of turned blocks; the outer loops; whether rows are unrolled, twice. */
static const char tree[] =
    "%s"
    "{%s}:para, jo, mo =>\n"
    "    elem:dyn(j), mi%s, br:vec, bc:unroll =>\n"
    "        @block = {mt, mo, mi}/m, {jt, jo}/j, br  // elem, bc\n"
    "    mi%s, br:vec =>\n"
    "        @out = {mt, mo, mi}/m, {jt, jo, br}/n\n";
/* clang-format on */

static int is_turned(at_template *t) { return at_evaluate(t, "R > 1 && C > 1 && nnz > 0") != 0; }

static void add_tree(at_template *t, const char *condition, const char *outer, const char *rows) {
    const char *first = is_turned(t) ? turn_tree : "";
    at_schedule_when(t, condition, at_textf(t, tree, first, outer, rows, rows));
}

static void define(at_template *t) {
    at_require(t, "N % R == 0", "R does not divide N");
    at_require(t, "K % C == 0", "C does not divide K");
    at_require(t, "nnz <= N/R * (K/C)", "nnz exceeds the number of blocks");
    at_split(t, "tile_m", "M", "mt mo mi", .policy = AT_FACTORS, .fallback = {-1, 1, 8});
    at_split(t, "tile_n", "N/R", "jt jo", .policy = AT_FACTORS, .fallback = {-1, 4});
    at_option(t, "m_outer", "[true, false]", 0);
    at_option(t, "unroll_m", "[true, false]", 0);
    at_sizes(t, "br = R, bc = C");
    at_compute(t, at_textf(t, compute, is_turned(t) ? turn : "",
                           is_turned(t) ? "turned[e, c, r]" : "blocks[e, r, c]"));
    add_tree(t, "m_outer && unroll_m", "mt, jt", ":unroll");
    add_tree(t, "m_outer", "mt, jt", "");
    add_tree(t, "unroll_m", "jt, mt", ":unroll");
    add_tree(t, "", "jt, mt", "");
    at_sparse(t, "blocks", "indices", "indptr", "K/C");
    at_flops(t, "2*M*nnz*R*C");
}

const at_template_row at_sparse_dense = {
    .name = "sparse_dense",
    .help = "data [M, K] times the transpose of a block-sparse weight [N, K]",
    .args = "M=1024, N=1024, K=1024, nnz=1 from 0, R=16, C=1",
    .record_args = "[M, N, K, nnz, R, C, \"float32\"]",
    .define = define,
};
