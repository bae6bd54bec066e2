/* tests/codegen/random_compute.c: random computations of one to three operations: element-wise
 * ones, copies (shifted, strided, padded, clamped, reshaped), sums, matrix products, convolutions,
 * im2col, block-sparse products. */
#include "tests/codegen/random_make.h"

#include <string.h>

/* ---- element-wise -------------------------------------------------------------------------- */

static void condition(maker *m, int stage, at_text *out) {
    const rp_tensor *t = &m->tensor[stage];
    int n = t->rank + t->num_reduce, i = below(m, n), rows;
    const char *a = t->axis_name[i], *b = t->axis_name[below(m, n)];
    const char *extent = m->cls[t->axis[i]].extent;
    switch (below(m, 10)) {
    case 0: at_text_addf(out, "%s < %d", a, 1 + below(m, 5)); break;
    case 1: at_text_addf(out, "%s %% 2 == 0", a); break;
    case 2: at_text_addf(out, "1 <= %s && %s != 2", a, b); break;
    case 3: at_text_addf(out, "!(%s == 0 || %s > 1)", a, b); break;
    case 4: at_text_addf(out, "%s + %s < 4", a, b); break;
    case 5: at_text_addf(out, "%s >= %s", a, b); break;
    case 6: at_text_addf(out, "2*%s - 3*%s <= 5", a, b); break;
    case 7: at_text_addf(out, "%s/3 == 1 || %s %% 3 == 1", a, b); break;
    default: /* decided by data */
        if (m->cls[t->axis[i]].dynamic) {
            at_text_addf(out, "-%s + 3 > 0", a);
            break;
        }
        rows = add_input(m, "mask", "index", 1, &extent);
        fill_input(m, rows, false, "4");
        at_text_addf(out, "%s[%s] < 2", m->tensor[rows].name, a);
        break;
    }
}

/* Another tensor over the same axes, or a new input over some of them. */
static void second_operand(maker *m, int stage, at_text *out) {
    const rp_tensor *s = &m->tensor[stage];
    for (int t = 0; t < m->num_tensors; t++) {
        const rp_tensor *o = &m->tensor[t];
        bool same = t != stage && o->rank == s->rank && (o->is_stage || o->axis[0] >= 0);
        int classes[RANK];
        for (int d = 0; same && d < s->rank; d++) {
            same = has_axis(m, stage, o->axis[d]) && !m->cls[o->axis[d]].dynamic;
            classes[d] = o->axis[d];
        }
        if (same && chance(m, 40)) {
            read_plain(m, stage, t, classes, out);
            return;
        }
    }
    int some[RANK], n = 0;
    for (int d = 0; d < s->rank + s->num_reduce && n < RANK; d++)
        if (!m->cls[s->axis[d]].dynamic && chance(m, 65)) some[n++] = s->axis[d];
    if (!n) some[n++] = s->axis[s->rank - 1];
    read_plain(m, stage, add_operand(m, "b", 40, n, some), some, out);
}

/* Entries of an index tensor as numbers. */
static void number(maker *m, int stage, at_text *out) {
    static const char *const forms[] = {"#[@]", "(#[@]*2 + @)", "(#[@]/2 - 3)", "(2 - #[@] % 3)"};
    const rp_tensor *t = &m->tensor[stage];
    char text[RP_EXPR];
    int i = below(m, t->rank + t->num_reduce);
    const char *extent = m->cls[t->axis[i]].extent;
    if (m->cls[t->axis[i]].dynamic) {
        at_text_add(out, "1");
        return;
    }
    int list = add_input(m, "count", "index", 1, &extent);
    fill_input(m, list, false, "5");
    substitute(m, text, forms[below(m, 4)], m->tensor[stage].axis_name[i], m->tensor[list].name);
    at_text_add(out, text);
}

static int map_stage(maker *m, int src) {
    at_text body = {0}, x = {0}, a = {0}, b = {0};
    int s = begin_stage(m, "m"), rank = m->tensor[src].rank, classes[RANK], order[RANK];
    for (int d = 0; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        order[d] = d;
        for (int e = 0; e < d; e++) /* one class cannot run over two axes */
            if (classes[e] == classes[d])
                classes[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
    }
    if (chance(m, 25))
        for (int d = rank - 1; d > 0; d--) {
            int e = below(m, d + 1), o = order[d];
            order[d] = order[e];
            order[e] = o;
        }
    for (int d = 0; d < rank; d++) add_axis(m, s, classes[order[d]], false);
    read_plain(m, s, src, classes, &x);
    const char *X = x.data;
    int kind = below(m, 18);
    if (kind < 6 || (kind > 12 && kind < 16)) second_operand(m, s, &a);
    if (kind > 15) number(m, s, &a);
    if (kind < 2) second_operand(m, s, &b);
    switch (kind) {
    case 0: at_text_addf(&body, "%s*%s + %s", X, a.data, b.data); break;
    case 1: at_text_addf(&body, "max(%s, %s) - min(%s, 2)", X, a.data, b.data); break;
    case 2: at_text_addf(&body, "%s + %s", X, a.data); break;
    case 3: at_text_addf(&body, "(%s - %s)*2.0 - 1", X, a.data); break;
    case 4:
    case 5:
        condition(m, s, &body);
        at_text_addf(&body, kind == 4 ? " ? %s : %s" : " ? %s*%s : 0", X, a.data);
        break;
    case 6: at_text_addf(&body, "max(%s, 0)", X); break;
    case 7: at_text_addf(&body, "min(max(%s, -3.0), 5)", X); break;
    case 8: at_text_addf(&body, "-%s", X); break;
    case 9: at_text_addf(&body, "%s/4.0 + 0.5", X); break;
    case 10: at_text_addf(&body, "abs(%s)", X); break;
    case 13: at_text_addf(&body, "%s > %s ? %s : 1 - %s", X, a.data, X, a.data); break;
    case 14:
        at_text_addf(&body, "%s != %s && (", X, a.data);
        condition(m, s, &body);
        at_text_addf(&body, " || %s <= 1) ? %s : %s", X, a.data, m->tensor[s].axis_name[0]);
        break;
    case 15:
        at_text_addf(&body, "!(%s >= %s) ? %s + %s : 2", X, a.data, X,
                     m->tensor[s].axis_name[below(m, rank)]);
        break;
    case 11: at_text_addf(&body, "floor(%s/2.0)", X); break;
    case 16: at_text_addf(&body, "%s + %s", X, a.data); break;
    case 17: at_text_addf(&body, "%s*%s", X, a.data); break;
    default:
        condition(m, s, &body);
        at_text_addf(&body, " ? %s : 0.0", X);
        break;
    }
    finish_stage(m, s, &body, NULL);
    at_text_free(&x);
    at_text_free(&a);
    at_text_free(&b);
    return s;
}

/* A function of exact values, which may differ by its units in the last place: nothing reads it. */
static void function_stage(maker *m, int src) {
    static const char *const forms[] = {"exp(%s/64.0)", "sqrt(abs(%s))", "tanh(%s/8.0)",
                                        "erf(%s/8.0)",  "sigmoid(%s)",   "exp(min(%s, 0)/32.0)"};
    at_text body = {0}, x = {0};
    int s = begin_stage(m, "f"), rank = m->tensor[src].rank, classes[RANK];
    for (int d = 0; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        for (int e = 0; e < d; e++)
            if (classes[e] == classes[d])
                classes[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
        add_axis(m, s, classes[d], false);
    }
    read_plain(m, s, src, classes, &x);
    at_text_addf(&body, forms[below(m, 6)], x.data);
    finish_stage(m, s, &body, NULL);
    at_text_free(&x);
}

/* ---- copies -------------------------------------------------------------------------------- */

/* One dimension is indexed by something else than an axis. */
static int shift_stage(maker *m, int src) {
    at_text body = {0};
    int s = begin_stage(m, "s"), rank = m->tensor[src].rank, classes[RANK], at = below(m, rank);
    int kind = below(m, 7);
    char index[RANK][RP_EXPR], extent[RP_EXPR];
    const char *E = m->tensor[src].extent[at];
    static const char *const sizes[] = {"@", "(@ + 1)/2", "(@)*2", "@", "@", "@", "(@ + 1)/2"};
    substitute(m, extent, sizes[kind], E, "");
    for (int d = 0; d < rank; d++) {
        bool own = d == at && (kind == 1 || kind == 2 || kind == 6 || chance(m, 50));
        classes[d] = own ? new_class(m, "v", extent, NULL) : class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    E = m->tensor[src].extent[at];
    const char *i = axis_of(m, classes[at]);
    static const char *const forms[] = {"@ - 1 - #",         "#*2",           "#/2",
                                        "min(# + 1, @ - 1)", "max(# - 1, 0)", "(# + 1) % (@)",
                                        "# + (@)/2"};
    if (kind == 4 && chance(m, 50)) { /* a window of two */
        read_tensor(m, s, src, index, classes, &body);
        at_text_addf(&body, " + (%s + 1 < %s ? ", i, E);
        substitute(m, index[at], "# + 1", E, i);
        classes[at] = -1;
        read_tensor(m, s, src, index, classes, &body);
        at_text_add(&body, " : 0)");
    } else {
        substitute(m, index[at], forms[kind], E, i);
        classes[at] = -1;
        read_tensor(m, s, src, index, classes, &body);
    }
    finish_stage(m, s, &body, NULL);
    return s;
}

/* Padding of dimensions from .. from+n-1. */
static int pad_stage(maker *m, int src, int from, int n) {
    at_text body = {0}, read = {0}, inside = {0};
    int s = begin_stage(m, "pad"), rank = m->tensor[src].rank, classes[RANK];
    char index[RANK][RP_EXPR];
    for (int d = 0; d < rank; d++) {
        if (d < from || d >= from + n) {
            classes[d] = class_of_dim(m, s, src, d);
            snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
            add_axis(m, s, classes[d], false);
            continue;
        }
        char before[RP_NAME], after[RP_NAME], extent[RP_EXPR], sum[RP_EXPR];
        small_size(m, "P", below(m, 3), before);
        small_size(m, "Q", below(m, 3), after);
        const char *E = m->tensor[src].extent[d];
        substitute(m, sum, "@ + #", E, before);
        substitute(m, extent, "@ + #", sum, after);
        int c = new_class(m, "t", extent, NULL);
        substitute(m, index[d], "@ - #", axis_of(m, c), before);
        at_text_addf(&inside, "%s%s <= %s && %s < %s", inside.len ? " && " : "", before,
                     axis_of(m, c), axis_of(m, c), sum);
        classes[d] = -1;
        add_axis(m, s, c, false);
    }
    read_tensor(m, s, src, index, classes, &read);
    if (chance(m, 50))
        at_text_addf(&body, "inside ? %s : 0\n    where inside = %s", read.data, inside.data);
    else at_text_addf(&body, "%s ? %s : 0.0", inside.data, read.data);
    finish_stage(m, s, &body, NULL);
    at_text_free(&read);
    at_text_free(&inside);
    return s;
}

/* The last two dimensions as one, or the last as two. */
static int reshape_stage(maker *m, int src) {
    at_text body = {0}, read = {0};
    int s = begin_stage(m, "z"), rank = m->tensor[src].rank, classes[RANK];
    bool flatten = rank >= 2 && chance(m, 60), digits = chance(m, 50);
    int kept = flatten ? rank - 2 : rank - 1;
    char index[RANK][RP_EXPR], extent[RP_EXPR];
    for (int d = 0; d < kept; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    if (flatten) {
        const char *A = m->tensor[src].extent[rank - 2], *B = m->tensor[src].extent[rank - 1];
        substitute(m, extent, "(@)*(#)", A, B);
        int c = new_class(m, "z", extent, NULL);
        add_axis(m, s, c, false);
        B = m->tensor[src].extent[rank - 1];
        substitute(m, index[rank - 2], digits ? "da" : "#/(@)", B, axis_of(m, c));
        substitute(m, index[rank - 1], digits ? "db" : "# % (@)", B, axis_of(m, c));
        classes[rank - 2] = classes[rank - 1] = -1;
        read_tensor(m, s, src, index, classes, &read);
        at_text_add(&body, read.data);
        if (digits) at_text_addf(&body, "\n    where {da, db:%s} = %s", B, axis_of(m, c));
    } else {
        char block[RP_NAME];
        small_size(m, "B", 1 + below(m, 6), block);
        const char *E = m->tensor[src].extent[rank - 1];
        substitute(m, extent, "(@ + # - 1)/#", E, block);
        int p = new_class(m, "p", extent, NULL), b = new_class(m, "b", block, NULL);
        add_axis(m, s, p, false);
        add_axis(m, s, b, false);
        classes[rank - 1] = -1;
        snprintf(index[rank - 1], RP_EXPR, "ix");
        read_tensor(m, s, src, index, classes, &read);
        at_text_addf(&body, "ix < %s ? %s : 0\n    where ix = %s*%s + %s",
                     m->tensor[src].extent[rank - 1], read.data, axis_of(m, p), block,
                     axis_of(m, b));
    }
    finish_stage(m, s, &body, NULL);
    at_text_free(&read);
    return s;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static int one_class(maker *m) { return new_class(m, "o", "1", NULL); }

/* What becomes one element of many: most are sums. */
static void choose_reduction(maker *m, int stage, int others) {
    static const char *const names[] = {"max", "min", "max", "min", "prod"};
    if (chance(m, others)) m->tensor[stage].reduction = names[below(m, 5)];
}

/* What a sum adds up: a tensor, products, choices. */
static void summand(maker *m, int stage, int src, const int *classes, at_text *out) {
    at_text x = {0}, a = {0}, b = {0};
    int kind = below(m, 11);
    const char *reduction = m->tensor[stage].reduction;
    read_plain(m, stage, src, classes, &x);
    if (reduction && *reduction == 'm' && kind < 3) {
        condition(m, stage, out);
        at_text_addf(out, " ? %s : %sinf", x.data, reduction[1] == 'a' ? "-" : "");
        at_text_free(&x);
        return;
    }
    if (kind > 1) second_operand(m, stage, &a);
    if (kind > 6) second_operand(m, stage, &b);
    switch (kind) {
    case 0: at_text_add(out, x.data); break;
    case 1: at_text_addf(out, "2.0*%s", x.data); break;
    case 2: at_text_addf(out, "max(%s, %s)", x.data, a.data); break;
    case 3: at_text_addf(out, "(%s - %s)*(%s - %s)", x.data, a.data, x.data, a.data); break;
    case 4:
    case 5:
    case 6:
        condition(m, stage, out);
        at_text_addf(out,
                     kind == 4   ? " ? %s*%s : 0"
                     : kind == 5 ? " ? %s : %s"
                                 : " ? 1 : %s - %s",
                     x.data, a.data);
        break;
    case 7: at_text_addf(out, "%s*%s*%s", x.data, a.data, b.data); break;
    case 8: at_text_addf(out, "%s*%s + %s", x.data, a.data, b.data); break;
    case 10: { /* the number of the first of its kind, as argmax has it */
        const rp_tensor *t = &m->tensor[stage];
        at_text_addf(out, "%s == %s ? %s : %s", x.data, a.data,
                     t->axis_name[t->rank + t->num_reduce - 1], b.data);
        break;
    }
    default:
        at_text_add(out, "(");
        condition(m, stage, out);
        at_text_addf(out, " ? %s : 0)*%s - min(%s, 1)", x.data, a.data, b.data);
    }
    at_text_free(&x);
    at_text_free(&a);
    at_text_free(&b);
}

static int sum_stage(maker *m, int src) {
    at_text body = {0};
    int s = begin_stage(m, "u"), rank = m->tensor[src].rank, classes[RANK];
    int first = below(m, rank), n = 1 + (rank > 2 && chance(m, 30));
    if (first + n > rank) n = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < rank; d++)
            if ((d >= first && d < first + n) == pass) {
                classes[d] = class_of_dim(m, s, src, d);
                add_axis(m, s, classes[d], pass);
            }
        if (pass == 0 && !m->tensor[s].rank) add_axis(m, s, one_class(m), false);
    }
    choose_reduction(m, s, 60);
    summand(m, s, src, classes, &body);
    finish_stage(m, s, &body, NULL);
    return s;
}

/* One more element per row: src[.., k] reduced over its last dimension, which has class k. */
static int row_stage(maker *m, int src, const int *classes) {
    at_text body = {0};
    int s = begin_stage(m, "r"), rank = m->tensor[src].rank;
    for (int d = 0; d < rank; d++) add_axis(m, s, classes[d], d == rank - 1);
    choose_reduction(m, s, 60);
    if (chance(m, 50)) {
        read_plain(m, s, src, classes, &body);
        at_text_add(&body, "*");
    }
    read_plain(m, s, src, classes, &body);
    finish_stage(m, s, &body, NULL);
    return s;
}

/* In the manner of softmax and layer norm: rows, less what they are reduced to; what these are
 * reduced to; both together. */
static int normal_stage(maker *m, int src) {
    static const char *const first[] = {"%s - %s", "%s*%s", "max(%s, %s)", "abs(%s - %s)"};
    static const char *const last[] = {"%s + %s", "%s*%s - 1", "min(%s, %s)", "max(%s, %s) - 2.0"};
    int rank = m->tensor[src].rank, classes[RANK], s = src;
    for (int d = 0; d < rank; d++) {
        if (m->tensor[src].axis[d] < 0)
            m->tensor[src].axis[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
        classes[d] = m->tensor[src].axis[d];
        for (int e = 0; e < d; e++)
            if (classes[e] == classes[d])
                classes[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
    }
    for (int pass = 0; pass < 2; pass++) {
        at_text body = {0}, x = {0}, r = {0};
        int row = row_stage(m, s, classes), of = s;
        s = begin_stage(m, pass ? "o" : "e");
        for (int d = 0; d < rank; d++) add_axis(m, s, classes[d], false);
        read_plain(m, s, of, classes, &x);
        read_plain(m, s, row, classes, &r);
        at_text_addf(&body, (pass ? last : first)[below(m, 4)], x.data, r.data);
        finish_stage(m, s, &body, NULL);
        at_text_free(&x);
        at_text_free(&r);
    }
    return s;
}

/* packw[p, k, b] = w[p*B + b, k] where there is such a row. */
static int pack_stage(maker *m, int w, int x, int k, const char *block) {
    at_text body = {0}, read = {0};
    int s = begin_stage(m, "pw"), classes[2] = {-1, k};
    m->tensor[s].packs = true;
    char extent[RP_EXPR], index[2][RP_EXPR];
    substitute(m, extent, "(@ + # - 1)/#", extent_of(m, x), block);
    int p = part_class(m, "p", extent, x, false), b = part_class(m, "b", block, x, true);
    add_axis(m, s, p, false);
    if (chance(m, 50)) add_axis(m, s, k, false);
    add_axis(m, s, b, false);
    if (m->tensor[s].rank == 2) add_axis(m, s, k, false);
    snprintf(index[0], RP_EXPR, "row");
    snprintf(index[1], RP_EXPR, "%s", axis_of(m, k));
    read_tensor(m, s, w, index, classes, &read);
    at_text_addf(&body, "row < %s ? %s : 0\n    where row = %s*%s + %s", extent_of(m, x), read.data,
                 axis_of(m, p), block, axis_of(m, b));
    finish_stage(m, s, &body, NULL);
    at_text_free(&read);
    return s;
}

/* A stage or input that is indexed by x/B, x%B and k in the order of its axes. */
static void read_packed(maker *m, int stage, int packed, int x, int k, const char *block,
                        at_text *out) {
    char index[3][RP_EXPR];
    int classes[3], n = 0;
    for (int d = 0; d < 3; d++) {
        int c = m->tensor[packed].axis[d];
        classes[d] = c; /* its pieces are those of x or k */
        if (c == k) snprintf(index[d], RP_EXPR, "%s", axis_of(m, k));
        else substitute(m, index[d], n++ ? "@ % #" : "@/#", axis_of(m, x), block);
    }
    read_tensor(m, stage, packed, index, classes, out);
}

static int matmul_stage(maker *m, int src) {
    at_text body = {0}, x = {0}, w = {0};
    int rank = m->tensor[src].rank, classes[RANK], weights, n = 0, of[RANK];
    char X[RP_NAME], block[RP_NAME];
    bool pack = chance(m, 50), batched = !pack && rank >= 3 && chance(m, 40);
    random_extent(m, 19, X);
    small_size(m, "B", 1 + below(m, 8), block);
    int cx = new_class(m, "x", X, pack ? block : NULL);
    /* k and the weights first: a stage reads what stands above it */
    int k = m->tensor[src].axis[rank - 1];
    if (k < 0) {
        k = new_class(m, "k", m->tensor[src].extent[rank - 1], NULL);
        m->tensor[src].axis[rank - 1] = k;
    }
    if (batched) {
        int b = m->tensor[src].axis[0];
        if (b < 0) b = m->tensor[src].axis[0] = new_class(m, "n", m->tensor[src].extent[0], NULL);
        of[n++] = b;
    }
    int first = n;
    of[n++] = cx;
    of[n++] = k;
    if (!pack && chance(m, 50)) of[first] = k, of[first + 1] = cx;
    weights = add_operand(m, "w", pack && chance(m, 60) ? 100 : 40, n, of);
    if (pack) weights = pack_stage(m, weights, cx, k, block);
    int s = begin_stage(m, "acc");
    for (int d = 0; d < rank - 1; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        if (classes[d] == k) classes[d] = new_class(m, "y", m->tensor[src].extent[d], NULL);
        add_axis(m, s, classes[d], false);
    }
    classes[rank - 1] = k;
    add_axis(m, s, cx, false);
    add_axis(m, s, k, true);
    if (batched && !has_axis(m, s, of[0])) m->p->full = true;
    read_plain(m, s, src, classes, &x);
    if (pack) read_packed(m, s, weights, cx, k, block, &w);
    else read_plain(m, s, weights, of, &w);
    if (chance(m, 50)) at_text_addf(&body, "%s*%s", x.data, w.data);
    else at_text_addf(&body, "%s*%s", w.data, x.data);
    choose_reduction(m, s, 15);
    finish_stage(m, s, &body, NULL);
    at_text_free(&x);
    at_text_free(&w);
    return s;
}

/* Channels and one or two dimensions of space; strides, dilation, padding, or per channel. */
static int conv_stage(maker *m, int src) {
    at_text body = {0}, x = {0}, w = {0};
    int rank = m->tensor[src].rank, space = 1 + (rank >= 3 && chance(m, 60)), of[RANK], n = 0;
    bool depthwise = chance(m, 25);
    if (chance(m, 75)) src = pad_stage(m, src, rank - space, space);
    int c = rank - space - 1, classes[RANK], tap[2], taps[2];
    char index[RANK][RP_EXPR], O[RP_NAME];
    if (m->tensor[src].axis[c] < 0)
        m->tensor[src].axis[c] = new_class(m, "c", m->tensor[src].extent[c], NULL);
    int channel = m->tensor[src].axis[c], out = channel;
    if (!depthwise) {
        random_extent(m, 9, O);
        of[n++] = out = new_class(m, "o", O, NULL);
    }
    of[n++] = channel;
    for (int i = 0; i < space; i++) {
        char K[RP_NAME], S[RP_NAME], D[RP_NAME], reach[RP_EXPR], extent[RP_EXPR];
        small_size(m, "K", 1 + below(m, 3), K);
        small_size(m, "S", 1 + chance(m, 35), S);
        small_size(m, "D", 1 + chance(m, 25), D);
        int d = rank - space + i;
        substitute(m, reach, "(@ - 1)*#", K, D);
        substitute(m, extent, "@ - # - 1", m->tensor[src].extent[d], reach);
        substitute(m, reach, "(@)/# + 1", extent, S);
        tap[i] = new_class(m, i ? "kw" : "kh", K, NULL);
        of[n++] = tap[i];
        taps[i] = new_class(m, i ? "ow" : "oh", reach, NULL);
        substitute(m, reach, "@*#", axis_of(m, taps[i]), S);
        substitute(m, extent, "@*#", axis_of(m, tap[i]), D);
        substitute(m, index[d], "@ + #", reach, extent);
    }
    int weights = add_operand(m, "w", 40, n, of), s = begin_stage(m, "conv");
    for (int d = 0; d < c; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        if (classes[d] == channel) classes[d] = new_class(m, "n", m->tensor[src].extent[d], NULL);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    add_axis(m, s, out, false);
    for (int i = 0; i < space; i++) add_axis(m, s, taps[i], false);
    if (!depthwise) add_axis(m, s, channel, true);
    for (int i = 0; i < space; i++) add_axis(m, s, tap[i], true);
    classes[c] = channel;
    snprintf(index[c], RP_EXPR, "%s", axis_of(m, channel));
    for (int i = 0; i < space; i++) classes[rank - space + i] = -1;
    read_tensor(m, s, src, index, classes, &x);
    read_plain(m, s, weights, of, &w);
    at_text_addf(&body, "%s*%s", x.data, w.data);
    choose_reduction(m, s, 15);
    finish_stage(m, s, &body, NULL);
    at_text_free(&x);
    at_text_free(&w);
    return s;
}

/* im2col of a convolution: both axes are numbers of several digits. */
static int im2col_stage(maker *m) {
    char size[6][RP_NAME], Y[RP_EXPR], K[RP_EXPR];
    static const char *const stems[] = {"N", "H", "W", "C", "R", "S"};
    static const int most[] = {2, 5, 5, 5, 3, 3};
    for (int i = 0; i < 6; i++) small_size(m, stems[i], 1 + below(m, most[i]), size[i]);
    const char *extents[] = {size[0], size[1], size[2], size[3]};
    int data = add_input(m, "data", "input", 4, extents);
    snprintf(Y, sizeof Y, "%s*%s*%s", size[0], size[1], size[2]);
    snprintf(K, sizeof K, "%s*%s*%s", size[4], size[5], size[3]);
    int s = begin_stage(m, "col");
    int y = new_class(m, "y", Y, chance(m, 40) ? size[2] : NULL);
    int k = new_class(m, "k", K, chance(m, 60) ? size[3] : NULL);
    add_axis(m, s, y, false);
    add_axis(m, s, k, false);
    at_text body = {0}, read = {0};
    char index[4][RP_EXPR] = {"dn", "ih", "iw", "dc"};
    int classes[4] = {-1, -1, -1, -1};
    read_tensor(m, s, data, index, classes, &read);
    at_text_addf(&body,
                 "inside ? %s : 0\n    where {dn, dh:%s, dw:%s} = %s, {dr:%s, ds:%s, dc:%s} = %s,\n"
                 "          ih = dh + dr - %s/2, iw = dw + ds - %s/2,\n"
                 "          inside = 0 <= ih && ih < %s && 0 <= iw && iw < %s",
                 read.data, size[1], size[2], axis_of(m, y), size[4], size[5], size[3],
                 axis_of(m, k), size[4], size[5], size[1], size[2]);
    finish_stage(m, s, &body, NULL);
    at_text_free(&read);
    return s;
}

/* ---- data-dependent ------------------------------------------------------------------------ */

/* Stored blocks of R rows and C columns: indptr per block row, indices per block. */
static int sparse_stage(maker *m) {
    char Y[RP_NAME], NB[RP_NAME], C[RP_NAME], R[RP_NAME], XR[RP_NAME], E[RP_NAME], expr[RP_EXPR];
    random_extent(m, 9, Y);
    small_size(m, "L", 1 + below(m, 4), NB);
    small_size(m, "C", 1 + below(m, 4), C);
    small_size(m, "R", 1 + below(m, 6), R);
    small_size(m, "G", 1 + below(m, 6), XR);
    small_size(m, "E", 1 + below(m, 8), E);
    snprintf(expr, sizeof expr, "%s*%s", NB, C);
    bool digits = chance(m, 40); /* a column is a number of two digits */
    char D[RP_NAME], columns[RP_EXPR];
    snprintf(columns, sizeof columns, "%s", NB);
    if (digits) {
        small_size(m, "D", 1 + below(m, 4), D);
        snprintf(columns, sizeof columns, "%s*%s", D, NB);
    }
    const char *src_extents[] = {Y, digits ? D : expr, expr}, *block_extents[] = {E, R, C};
    int src = add_input(m, "a", "input", digits ? 3 : 2, src_extents);
    int mapped = !digits && chance(m, 30) ? map_stage(m, src) : src;
    if (!strcmp(m->tensor[mapped].extent[0], Y)) src = mapped; /* else it is transposed */
    int blocks = add_input(m, "blocks", "weight", 3, block_extents);
    snprintf(expr, sizeof expr, "%s + 1", XR);
    const char *ptr_extents[] = {expr}, *index_extents[] = {E};
    int ptr = add_input(m, "indptr", "index", 1, ptr_extents);
    int indices = add_input(m, "indices", "index", 1, index_extents);
    fill_input(m, ptr, true, E);
    fill_input(m, indices, false, columns);
    snprintf(expr, sizeof expr, "%s*%s", XR, R);
    int x = new_class(m, "x", expr, R), y = -1;
    int xr = part_class(m, "xr", XR, x, false), r = part_class(m, "r", R, x, true);
    int c = new_class(m, "c", C, NULL), e = dynamic_class(m, "e"), s = begin_stage(m, "cc");
    at_text body = {0}, read = {0};
    y = class_of_dim(m, s, src, 0);
    add_axis(m, s, y, false);
    add_axis(m, s, xr, false);
    add_axis(m, s, r, false);
    add_axis(m, s, c, false);
    add_axis(m, s, e, true);
    char index[3][RP_EXPR], column[RP_EXPR];
    int classes[4] = {y, -1, -1};
    snprintf(index[0], RP_EXPR, "%s", axis_of(m, y));
    snprintf(column, RP_EXPR, "%s[%s]*%s + %s", m->tensor[indices].name, axis_of(m, e), C,
             axis_of(m, c));
    snprintf(expr, sizeof expr, "%s*%s", NB, C);
    if (digits) {
        substitute(m, index[1], "(@)/(#)", column, expr);
        substitute(m, index[2], "(@) % (#)", column, expr);
    } else snprintf(index[1], RP_EXPR, "%s", column);
    read_tensor(m, s, src, index, classes, &body);
    int of[3] = {e, r, c};
    read_plain(m, s, blocks, of, &read);
    at_text_addf(&body, "*%s", read.data);
    snprintf(expr, sizeof expr, "%s[%s] .. %s[%s + 1]", m->tensor[ptr].name, axis_of(m, xr),
             m->tensor[ptr].name, axis_of(m, xr));
    memcpy(m->tensor[s].dyn, axis_of(m, xr), RP_NAME);
    finish_stage(m, s, &body, expr);
    at_text_free(&read);
    if (chance(m, 25)) return s;
    int out = begin_stage(m, "bs");
    body = (at_text){0};
    add_axis(m, out, y, false);
    add_axis(m, out, x, false);
    add_axis(m, out, c, true);
    char four[4][RP_EXPR];
    int all[4] = {y, xr, r, c};
    snprintf(four[0], RP_EXPR, "%s", axis_of(m, y));
    substitute(m, four[1], "@/#", axis_of(m, x), R);
    substitute(m, four[2], "@ % #", axis_of(m, x), R);
    snprintf(four[3], RP_EXPR, "%s", axis_of(m, c));
    read_tensor(m, out, s, four, all, &body);
    finish_stage(m, out, &body, NULL);
    return out;
}

/* Sums of a run of rows: bounds from data, or a triangle. */
static int segment_stage(maker *m, int src) {
    at_text body = {0};
    int rank = m->tensor[src].rank, classes[RANK];
    char G[RP_NAME], bounds[RP_EXPR], index[RANK][RP_EXPR];
    const char *E = m->tensor[src].extent[0];
    random_extent(m, 7, G);
    bool triangle = chance(m, 35);
    int g = new_class(m, "g", triangle ? E : G, NULL), e = dynamic_class(m, "e");
    if (triangle) snprintf(bounds, sizeof bounds, "0 .. %s + 1", axis_of(m, g));
    else {
        char expr[RP_EXPR];
        snprintf(expr, sizeof expr, "%s + 1", G);
        const char *extents[] = {expr};
        int ptr = add_input(m, "ptr", "index", 1, extents);
        fill_input(m, ptr, true, m->tensor[src].extent[0]);
        snprintf(bounds, sizeof bounds, "%s[%s] .. %s[%s + 1]", m->tensor[ptr].name, axis_of(m, g),
                 m->tensor[ptr].name, axis_of(m, g));
    }
    int s = begin_stage(m, "seg");
    add_axis(m, s, g, false);
    for (int d = 1; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    add_axis(m, s, e, true);
    classes[0] = -1;
    snprintf(index[0], RP_EXPR, "%s", axis_of(m, e));
    memcpy(m->tensor[s].dyn, axis_of(m, g), RP_NAME);
    read_tensor(m, s, src, index, classes, &body);
    if (chance(m, 50)) {
        int some[2] = {g, classes[rank - 1]}, n = rank > 1 ? 2 : 1;
        at_text_add(&body, "*");
        read_plain(m, s, add_operand(m, "b", 40, n, some), some, &body);
    }
    finish_stage(m, s, &body, bounds);
    return s;
}

static int gather_stage(maker *m, int src) {
    at_text body = {0};
    int rank = m->tensor[src].rank, classes[RANK];
    char Y[RP_NAME], index[RANK][RP_EXPR];
    random_extent(m, 9, Y);
    const char *extents[] = {Y};
    int rows = add_input(m, "rows", "index", 1, extents);
    int digits = rank > 1 && chance(m, 40) ? 2 : 1; /* of a row's number */
    char limit[RP_EXPR];
    if (digits == 1) snprintf(limit, sizeof limit, "%s", m->tensor[src].extent[0]);
    else substitute(m, limit, "(@)*(#)", m->tensor[src].extent[0], m->tensor[src].extent[1]);
    fill_input(m, rows, false, limit);
    int y = new_class(m, "y", Y, NULL), s = begin_stage(m, "pick");
    bool sum = rank > digits && chance(m, 30);
    add_axis(m, s, y, false);
    for (int d = digits; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], sum && d == rank - 1);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    classes[0] = classes[1] = -1;
    snprintf(limit, RP_EXPR, "%s[%s]", m->tensor[rows].name, axis_of(m, y));
    if (digits == 2) {
        substitute(m, index[0], "(@)/(#)", limit, m->tensor[src].extent[1]);
        substitute(m, index[1], "(@) % (#)", limit, m->tensor[src].extent[1]);
    } else snprintf(index[0], RP_EXPR, "%s", limit);
    read_tensor(m, s, src, index, classes, &body);
    finish_stage(m, s, &body, NULL);
    return s;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int first_tensor(maker *m) {
    static const int most[] = {33, 17, 9, 6};
    char size[4][RP_NAME];
    const char *extents[4];
    int rank = 1 + below(m, m->big ? 2 : 4);
    for (int i = 0; i < rank; i++) {
        random_extent(m, chance(m, 10) ? 33 : most[rank - 1], size[i]);
        extents[i] = size[i];
    }
    return add_input(m, "a", "input", rank, extents);
}

static int operation(maker *m, int src) {
    int rank = m->tensor[src].rank;
    switch (below(m, 16)) {
    case 0:
    case 1: return map_stage(m, src);
    case 2: return shift_stage(m, src);
    case 3: return pad_stage(m, src, below(m, rank), 1);
    case 4: return reshape_stage(m, src);
    case 5: return sum_stage(m, src);
    case 6:
    case 7:
    case 8: return rank > 1 ? matmul_stage(m, src) : map_stage(m, src);
    case 9:
    case 10:
    case 11: return rank > 1 ? conv_stage(m, src) : pad_stage(m, src, 0, 1);
    case 12: return segment_stage(m, src);
    case 13:
    case 14: return rank > 1 ? normal_stage(m, src) : sum_stage(m, src);
    default: return gather_stage(m, src);
    }
}

void make_compute(maker *m) {
    int t, kind = below(m, 12);
    t = kind < 2 ? im2col_stage(m) : kind < 4 ? sparse_stage(m) : first_tensor(m);
    int n = kind < 4 ? below(m, 3) : 1 + below(m, m->big ? 2 : 3);
    if (kind < 2 && chance(m, 70)) t = matmul_stage(m, t);
    for (int i = 0; i < n && m->tensor[t].rank < 5; i++) t = operation(m, t);
    if (chance(m, 30)) t = map_stage(m, t);
    if (chance(m, 15)) function_stage(m, t);
    if (m->text.len >= sizeof m->p->compute) m->p->full = true;
    else memcpy(m->p->compute, m->text.data, m->text.len + 1);
    at_text_free(&m->text);
}
