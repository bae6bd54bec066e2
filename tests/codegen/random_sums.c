/* tests/codegen/random_sums.c: random stages with reductions: sums, rows, matrix products,
 * convolutions, im2col. */
#include "tests/codegen/random_make.h"

static int one_class(maker *m) { return new_class(m, "o", "1", NULL); }

/* What becomes one element of many: most are sums. */
void choose_reduction(maker *m, int stage, int others) {
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

int sum_stage(maker *m, int src) {
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
int normal_stage(maker *m, int src) {
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

int matmul_stage(maker *m, int src) {
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
int conv_stage(maker *m, int src) {
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
int im2col_stage(maker *m) {
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
