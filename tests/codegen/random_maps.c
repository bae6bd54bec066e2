/* tests/codegen/random_maps.c: random stages of an element each: arithmetic, conditions, functions,
 * and copies that are shifted, strided, padded, clamped or reshaped. */
#include "tests/codegen/random_make.h"

/* ---- element-wise -------------------------------------------------------------------------- */

void condition(maker *m, int stage, at_text *out) {
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
void second_operand(maker *m, int stage, at_text *out) {
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
    static const char *const forms[] = {
        "#[@]",         "(#[@]*2 + @)",           "(#[@]/2 - 3)",    "(2 - #[@] % 3)",
        "(#[@]*@ - 1)", "((#[@] + @*3)/4 - @/2)", "((#[@] + @) % 3)"};
    enum { FORMS = sizeof forms / sizeof *forms };
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
    substitute(m, text, forms[below(m, FORMS)], m->tensor[stage].axis_name[i],
               m->tensor[list].name);
    at_text_add(out, text);
}

int map_stage(maker *m, int src) {
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
void function_stage(maker *m, int src) {
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
int shift_stage(maker *m, int src) {
    at_text body = {0};
    int s = begin_stage(m, "s"), rank = m->tensor[src].rank, classes[RANK], at = below(m, rank);
    int kind = below(m, 9);
    char index[RANK][RP_EXPR], extent[RP_EXPR];
    const char *E = m->tensor[src].extent[at];
    static const char *const sizes[] = {"@", "(@ + 1)/2", "(@)*2", "@", "@",
                                        "@", "(@ + 1)/2", "@",     "@"};
    substitute(m, extent, sizes[kind], E, "");
    for (int d = 0; d < rank; d++) {
        bool own = d == at && (kind == 1 || kind == 2 || kind == 6 || chance(m, 50));
        classes[d] = own ? new_class(m, "v", extent, NULL) : class_of_dim(m, s, src, d);
        add_axis(m, s, classes[d], false);
        snprintf(index[d], RP_EXPR, "%s", axis_of(m, classes[d]));
    }
    E = m->tensor[src].extent[at];
    const char *i = axis_of(m, classes[at]);
    static const char *const forms[] = {
        "@ - 1 - #",     "#*2",       "#/2", "min(# + 1, @ - 1)", "max(# - 1, 0)",
        "(# + 1) % (@)", "# + (@)/2", "",    "#*(# + 1)/2 % (@)"};
    if (kind == 4 && chance(m, 50)) { /* a window of two */
        read_tensor(m, s, src, index, classes, &body);
        at_text_addf(&body, " + (%s + 1 < %s ? ", i, E);
        substitute(m, index[at], "# + 1", E, i);
        classes[at] = -1;
        read_tensor(m, s, src, index, classes, &body);
        at_text_add(&body, " : 0)");
    } else {
        if (kind == 7) /* a product with the first axis, which may be the same */
            snprintf(index[at], RP_EXPR, "%s*%s %% (%s)", i, axis_of(m, classes[0]), E);
        else substitute(m, index[at], forms[kind], E, i);
        classes[at] = -1;
        read_tensor(m, s, src, index, classes, &body);
    }
    finish_stage(m, s, &body, NULL);
    return s;
}

/* Padding of dimensions from .. from+n-1. */
int pad_stage(maker *m, int src, int from, int n) {
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
int reshape_stage(maker *m, int src) {
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
