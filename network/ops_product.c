/* network/ops_product.c: sums of products of whole tensors. */
#include "network/network_int.h"

#include <ctype.h>
#include <string.h>

static at_status gemm(net_op *o) {
    const at_net_value *a = op_in(o, 0), *b = op_in(o, 1), *c = op_in(o, 2);
    const bool ta = op_int(o, "transA", 0) != 0, tb = op_int(o, "transB", 0) != 0;
    const double alpha = op_float(o, "alpha", 1), beta = op_float(o, "beta", 1);
    if (a->rank != 2 || b->rank != 2) return op_fail(o, "inputs of two dimensions are accepted");
    int64_t dims[AT_NET_MAX_RANK] = {a->dims[ta], b->dims[!tb]};
    if (a->dims[!ta] != b->dims[tb])
        return op_fail(o, "%lld columns of \"%s\" and %lld rows of \"%s\"", (long long)a->dims[!ta],
                       a->name, (long long)b->dims[tb], b->name);
    if (c) AT_TRY(op_fits(o, 2, 2, dims));
    AT_TRY(op_out(o, 0, a->type, 2, dims));
    const bool plain = alpha == 1 && !c;
    const char *axes = op_axes(o, "a", 2, dims);
    op_add(o, "%s[%s] = sum(k:%lld) x0[%s] * x1[%s]\n", plain ? "y0" : "s", axes,
           (long long)a->dims[!ta], ta ? "k, a0" : "a0, k", tb ? "a1, k" : "k, a1");
    if (plain) return AT_OK;
    op_add(o, "y0[%s] = s[a0, a1]", axes);
    if (alpha != 1) op_add(o, "*%s", op_number(o, alpha));
    if (c) op_add(o, " + %s", op_read(o, 2, "a", 2));
    if (c && beta != 1) op_add(o, "*%s", op_number(o, beta));
    op_add(o, "\n");
    return AT_OK;
}

/* "a0, 0" of the axes before the matrix. */
static const char *batch(const net_op *o, const at_net_value *v, int rank) {
    at_text t = {0};
    for (int i = 0; i < v->rank - 2; i++) {
        if (v->dims[i] == 1) at_text_add(&t, "0, ");
        else at_text_addf(&t, "a%d, ", rank - v->rank + i);
    }
    return at_text_take(o->arena, &t);
}

/* ONNX Runtime's FusedMatMul transposes and scales, too. */
static at_status mat_mul(net_op *o) {
    const at_net_value *a = op_in(o, 0), *b = op_in(o, 1);
    const bool ta = op_int(o, "transA", 0) != 0, tb = op_int(o, "transB", 0) != 0;
    const double alpha = op_float(o, "alpha", 1);
    if (!a->rank || !b->rank) return op_fail(o, "inputs of one dimension and more are accepted");
    if ((ta && a->rank < 2) || (tb && b->rank < 2))
        return op_fail(o, "a transposed input of one dimension");
    if (op_int(o, "transBatchA", 0) || op_int(o, "transBatchB", 0))
        return op_fail(o, "transBatchA and transBatchB of 0 are accepted");
    const int64_t terms = a->dims[a->rank - 1 - ta],
                  rows = b->rank > 1 ? b->dims[b->rank - 2 + tb] : b->dims[0];
    if (terms != rows)
        return op_fail(o, "%lld columns of \"%s\" and %lld rows of \"%s\"", (long long)terms,
                       a->name, (long long)rows, b->name);
    int64_t dims[AT_NET_MAX_RANK];
    int rank = 0;
    at_net_value outer_a = *a, outer_b = *b;
    outer_a.rank = a->rank > 2 ? a->rank - 2 : 0;
    outer_b.rank = b->rank > 2 ? b->rank - 2 : 0;
    AT_TRY(op_broadcast(o, &rank, dims, &outer_a));
    AT_TRY(op_broadcast(o, &rank, dims, &outer_b));
    const int outer = rank;
    if (a->rank > 1) dims[rank++] = a->dims[a->rank - 2 + ta];
    if (b->rank > 1) dims[rank++] = b->dims[b->rank - 1 - tb];
    if (rank > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    AT_TRY(op_out(o, 0, a->type, rank, dims));
    const char *row = "k", *column = "k", *axes = op_axes(o, "a", rank, dims);
    if (a->rank > 1) row = op_format(o, ta ? "k, a%d" : "a%d, k", outer);
    if (b->rank > 1) column = op_format(o, tb ? "a%d, k" : "k, a%d", outer + (a->rank > 1));
    op_add(o, "%s[%s] = sum(k:%lld) x0[%s%s] * x1[%s%s]\n", alpha == 1 ? "y0" : "s", axes,
           (long long)terms, batch(o, a, outer + 2), row, batch(o, b, outer + 2), column);
    if (alpha != 1)
        op_add(o, "y0[%s] = s[%s]*%s\n", axes, rank ? op_index(o, "a", rank) : "0",
               op_number(o, alpha));
    return AT_OK;
}

/* ---- einsum ---------------------------------------------------------------------------------- */

/* An equation, "bij,bjk->bik": letters are axes, "..." stands for those of broadcasting, which have
 * the letters '0' to '9' from the last one on. */
typedef struct equation {
    int num; /* inputs */
    char in[8][AT_NET_MAX_RANK + 1], out[AT_NET_MAX_RANK + 1];
    int64_t extent[128];
} equation;

static at_status take_letters(net_op *o, const char *text, size_t n, int dots, char *out) {
    int len = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_dots = n - i >= 3 && !strncmp(text + i, "...", 3);
        for (int k = dots; is_dots && k > 0 && len < AT_NET_MAX_RANK; k--)
            out[len++] = (char)('0' + k - 1);
        if (is_dots) i += 2;
        else if (text[i] == ' ') continue;
        else if (isalpha((unsigned char)text[i]) && len < AT_NET_MAX_RANK) out[len++] = text[i];
        else return op_fail(o, "\"%.*s\" of the equation is not read", (int)n, text);
    }
    out[len] = 0;
    return AT_OK;
}

static int letters_in(const char *text, size_t n) {
    int letters = 0;
    for (size_t i = 0; i < n; i++) letters += isalpha((unsigned char)text[i]) != 0;
    return letters;
}

static at_status note_extents(net_op *o, equation *e, int k) {
    const at_net_value *x = op_in(o, k);
    if ((int)strlen(e->in[k]) != x->rank)
        return op_fail(o, "\"%s\" has %d dimensions, not %zu", x->name, x->rank, strlen(e->in[k]));
    for (int i = 0; i < x->rank; i++) {
        int64_t *extent = &e->extent[(int)e->in[k][i]];
        if (*extent > 1 && x->dims[i] > 1 && *extent != x->dims[i])
            return op_fail(o, "axis %c has %lld and %lld elements", e->in[k][i], (long long)*extent,
                           (long long)x->dims[i]);
        if (x->dims[i] > *extent) *extent = x->dims[i];
    }
    return AT_OK;
}

/* Without an arrow: the letters that occur once, in their order, behind the dots. */
static void implied_output(equation *e, int dots) {
    int len = 0;
    for (int k = dots; k > 0; k--) e->out[len++] = (char)('0' + k - 1);
    for (int c = 'A'; c <= 'z'; c++) {
        int count = 0;
        for (int k = 0; k < e->num; k++)
            for (const char *p = e->in[k]; *p; p++) count += *p == c;
        if (count == 1 && isalpha(c) && len < AT_NET_MAX_RANK) e->out[len++] = (char)c;
    }
    e->out[len] = 0;
}

static at_status parse_equation(net_op *o, equation *e) {
    const char *text = op_string(o, "equation", ""), *arrow = strstr(text, "->");
    const char *end = arrow ? arrow : text + strlen(text);
    int dots = 0;
    e->num = o->node->num_inputs;
    for (int pass = 0; pass < 2; pass++) {
        const char *p = text;
        for (int k = 0; k < e->num; k++) {
            const char *comma = memchr(p, ',', (size_t)(end - p));
            const size_t n = (size_t)((comma ? comma : end) - p);
            if (k >= 8 || !op_in(o, k) || (!comma) != (k == e->num - 1))
                return op_fail(o, "the equation \"%s\" does not fit %d inputs", text, e->num);
            const int more = op_in(o, k)->rank - letters_in(p, n);
            if (pass)
                AT_TRY(take_letters(o, p, n, more > 0 && memchr(p, '.', n) ? more : 0, e->in[k]));
            else if (memchr(p, '.', n) && more > dots) dots = more > 10 ? 10 : more;
            p += n + 1;
        }
    }
    for (int k = 0; k < e->num; k++) AT_TRY(note_extents(o, e, k));
    if (arrow) return take_letters(o, arrow + 2, strlen(arrow + 2), dots, e->out);
    implied_output(e, dots);
    return AT_OK;
}

static at_status einsum(net_op *o) {
    equation e = {0};
    int64_t dims[AT_NET_MAX_RANK];
    at_text terms = {0}, axes = {0};
    AT_TRY(parse_equation(o, &e));
    const int rank = (int)strlen(e.out);
    for (int i = 0; i < rank; i++) {
        dims[i] = e.extent[(int)e.out[i]];
        if (!dims[i]) return op_fail(o, "axis %c is in no input", e.out[i]);
    }
    AT_TRY(op_out(o, 0, op_in(o, 0)->type, rank, dims));
    for (int i = 0; i < rank; i++)
        at_text_addf(&axes, "%sa_%c:%lld", i ? ", " : "", e.out[i], (long long)dims[i]);
    if (!rank) at_text_add(&axes, "a0:1");
    for (int c = '0'; c <= 'z'; c++)
        if (e.extent[c] && !strchr(e.out, c))
            at_text_addf(&terms, "%sa_%c:%lld", terms.len ? ", " : "", c, (long long)e.extent[c]);
    op_add(o, "y0[%s] = ", at_text_str(&axes));
    if (terms.len) op_add(o, "sum(%s) ", at_text_str(&terms));
    for (int k = 0; k < e.num; k++) {
        op_add(o, "%sx%d[", k ? " * " : "", k);
        for (int i = 0; e.in[k][i]; i++) {
            op_add(o, "%s", i ? ", " : "");
            if (op_in(o, k)->dims[i] == 1) op_add(o, "0");
            else op_add(o, "a_%c", e.in[k][i]);
        }
        op_add(o, "%s]", *e.in[k] ? "" : "0");
    }
    op_add(o, "\n");
    at_text_free(&terms);
    at_text_free(&axes);
    return AT_OK;
}

const at_net_row net_rows_product[] = {
    {"Gemm", "", 7, AT_NET_SUM, 2, 3, 1, gemm},
    {"MatMul", "", 1, AT_NET_SUM, 2, 2, 1, mat_mul},
    {"FusedMatMul", "com.microsoft", 1, AT_NET_SUM, 2, 2, 1, mat_mul},
    {"Einsum", "", 12, AT_NET_SUM, 1, -1, 1, einsum},
    NET_ROWS_END,
};
