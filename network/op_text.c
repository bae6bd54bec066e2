/* network/op_text.c: texts in our notation, as the rows of operators put them together. */
#include "network/network_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *op_number(const net_op *o, double x) {
    /* Integers of 64 bits are computed in double. */
    const bool is_whole = fabs(x) <= 0x1p64 && x == floor(x);
    const bool is_float = (double)(float)x == x && !is_whole;
    char text[40];
    if (isnan(x)) return "(inf - inf)";
    if (isinf(x)) return x < 0 ? "(-inf)" : "inf";
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        const double read = strtod(text, NULL);
        if (is_float && digits < 10 ? (float)read == (float)x : read == x) break;
    }
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    return x < 0 ? op_format(o, "(%s)", text) : op_format(o, "%s", text);
}

const char *op_axes(const net_op *o, const char *letter, int rank, const int64_t *dims) {
    at_text t = {0};
    for (int i = 0; i < rank; i++)
        at_text_addf(&t, "%s%s%d:%lld", i ? ", " : "", letter, i, (long long)dims[i]);
    if (!rank) at_text_addf(&t, "%s0:1", letter);
    return at_text_take(o->arena, &t);
}

const char *op_index(const net_op *o, const char *letter, int rank) {
    at_text t = {0};
    for (int i = 0; i < rank; i++) at_text_addf(&t, "%s%s%d", i ? ", " : "", letter, i);
    if (!rank) at_text_add(&t, "0");
    return at_text_take(o->arena, &t);
}

const char *op_shifted(const net_op *o, int rank, int axis, int64_t by) {
    at_text t = {0};
    for (int i = 0; i < rank; i++) {
        at_text_addf(&t, "%sa%d", i ? ", " : "", i);
        if (i == axis && by)
            at_text_addf(&t, " %c %lld", by < 0 ? '-' : '+', (long long)(by < 0 ? -by : by));
    }
    return at_text_take(o->arena, &t);
}

static const char *spread(const net_op *o, const char *letter, int rank, const at_net_value *v) {
    at_text t = {0};
    for (int i = 0; i < v->rank; i++) {
        if (i) at_text_add(&t, ", ");
        if (v->dims[i] == 1) at_text_add(&t, "0");
        else at_text_addf(&t, "%s%d", letter, rank - v->rank + i);
    }
    if (!v->rank) at_text_add(&t, "0");
    return at_text_take(o->arena, &t);
}

const char *op_read(const net_op *o, int k, const char *letter, int rank) {
    return op_format(o, "x%d[%s]", k, spread(o, letter, rank, op_in(o, k)));
}

/* ---- the same elements by other sizes ---------------------------------------------------------
 */

typedef struct reshaping {
    const net_op *o;
    at_text *index, *where;
    const char *letter;
    int groups;
} reshaping;

/* Axes from .. to of sizes `dims` as one number. */
static const char *flat_index(const reshaping *r, const int64_t *dims, int from, int to) {
    const char *flat = NULL;
    for (int i = from; i < to; i++) {
        if (dims[i] == 1) continue;
        flat = flat ? op_format(r->o, "(%s)*%lld + %s%d", flat, (long long)dims[i], r->letter, i)
                    : op_format(r->o, "%s%d", r->letter, i);
    }
    return flat ? flat : "0";
}

/* A group of axes whose elements are those of a group of the input's. */
static void add_group(reshaping *r, const int64_t *dims, int from, int to, const int64_t *in_dims,
                      int in_from, int in_to) {
    const char *flat = flat_index(r, dims, from, to);
    int longer = 0;
    for (int i = in_from; i < in_to; i++) longer += in_dims[i] > 1;
    if (longer > 1) at_text_addf(r->where, "%s{", r->where->len ? ", " : " where ");
    for (int i = in_from, first = 1; i < in_to; i++) {
        if (r->index->len) at_text_add(r->index, ", ");
        if (in_dims[i] == 1) {
            at_text_add(r->index, "0");
        } else if (longer == 1) {
            at_text_add(r->index, flat);
        } else {
            at_text_addf(r->index, "u%d", i);
            at_text_addf(r->where, first ? "u%d" : ", u%d:%lld", i, (long long)in_dims[i]);
            first = 0;
        }
    }
    if (longer > 1) at_text_addf(r->where, "} = %s", flat);
}

const char *op_reshaped(const net_op *o, const char *letter, int rank, const int64_t *dims,
                        int in_rank, const int64_t *in_dims, const char **where) {
    at_text index = {0}, text = {0};
    reshaping r = {.o = o, .index = &index, .where = &text, .letter = letter};
    for (int i = 0, k = 0; i < rank || k < in_rank;) {
        const int from = i, in_from = k;
        int64_t n = i < rank ? dims[i++] : 1, m = k < in_rank ? in_dims[k++] : 1;
        while (n != m) {
            if (n < m && i < rank) n *= dims[i++];
            else if (k < in_rank) m *= in_dims[k++];
            else break;
        }
        add_group(&r, dims, from, i, in_dims, in_from, k);
    }
    if (!index.len) at_text_add(&index, "0");
    *where = at_text_take(o->arena, &text);
    return at_text_take(o->arena, &index);
}

/* ---- reductions ------------------------------------------------------------------------------ */

op_reduction op_reduce(const at_net_value *x, uint32_t set) {
    op_reduction r = {.x = x, .set = set, .terms = 1};
    for (int i = 0; i < x->rank; i++) {
        r.kept[i] = set >> i & 1 ? 1 : x->dims[i];
        if (set >> i & 1) r.terms *= x->dims[i];
    }
    return r;
}

const char *op_terms(const net_op *o, const op_reduction *r) {
    at_text t = {0};
    for (int i = 0; i < r->x->rank; i++)
        if (r->set >> i & 1)
            at_text_addf(&t, "%sr%d:%lld", t.len ? ", " : "", i, (long long)r->x->dims[i]);
    return at_text_take(o->arena, &t);
}

const char *op_term(const net_op *o, const op_reduction *r, const char *letter) {
    at_text t = {0};
    for (int i = 0; i < r->x->rank; i++) {
        const bool goes = r->set >> i & 1;
        at_text_add(&t, i ? ", " : "");
        if (goes && !letter) at_text_add(&t, "0");
        else at_text_addf(&t, "%s%d", goes ? letter : "a", i);
    }
    if (!r->x->rank) at_text_add(&t, "0");
    return at_text_take(o->arena, &t);
}
