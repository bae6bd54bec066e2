/* schedule/reference/reference_products.c: a sum of products of two factors, one of which some axes
 * of the stage are not in, the other one others: as a product of two matrices. Each factor is
 * worked out by the text once for each of its own axes; the terms are added up by at_products,
 * which is compiled with this program (runtime/products.c). Only for data whose sums are exact in
 * any order.
 *
 *     t[n, h, w, m] = sum(c, p, q) inside ? x[n, h + p, w + q, c]*w[m, c, p, q] : 0
 *
 *     A[(h, w), (c, p, q)] = inside ? x[..] : 0      B[m, (c, p, q)] = w[..]      t = A B' */
#include <math.h>

#include "schedule/reference/reference_int.h"

/* Below so many terms plain loops take no time; and factors must be fewer by so much. */
static const double least_terms = 1e6, least_gain = 8;
static const double most_floats = 1 << 25; /* of the matrices */

enum { A, B, SIDES, MOST_CONDITIONS = 16 };

typedef struct side {
    at_expr *factor;
    at_expr *conditions[MOST_CONDITIONS]; /* that it counts under */
    int num;
    uint32_t axes, own; /* that it depends on; which the other one does not */
} side;

typedef struct product {
    side side[SIDES];
    uint32_t shared, terms; /* axes of the stage that both depend on, or none; of the sum */
    bool is_guarded;        /* a side counts under what the other one does not know */
    int64_t around, rows, columns, num_terms;
} product;

/* ---- what it is a product of ----------------------------------------------------------------- */

static bool add_condition(side *s, at_expr *e) {
    if (s->num == MOST_CONDITIONS) return false;
    s->conditions[s->num++] = e;
    return true;
}

/* Conditions of a term go to the side that knows their axes, or to both. */
static bool split_condition(product *x, at_expr *e) {
    if (e->op == AT_X_AND) return split_condition(x, e->arg[0]) && split_condition(x, e->arg[1]);
    const uint32_t axes = at_expr_axes(e);
    bool any = false;
    for (int i = 0; i < SIDES; i++) {
        if (axes & ~(x->side[i].axes | x->terms)) continue;
        if (!add_condition(&x->side[i], e)) return false;
        any = true;
    }
    x->is_guarded |= any && axes & ~(x->side[A].axes & x->side[B].axes) & ~x->terms;
    return any;
}

static at_expr *below_conditions(at_expr *e) {
    while (e->op == AT_X_SELECT && is_zero_expr(e->arg[2])) e = e->arg[1];
    return e;
}

static bool find_product(naive *m, product *x) {
    const at_tensor *t = naive_stage(m);
    at_expr *body = (at_expr *)t->body, *e = below_conditions(body);
    if (e->op != AT_X_MUL) return false;
    for (int i = t->num_axes; i < axes_of(t); i++) x->terms |= UINT32_C(1) << i;
    for (int i = 0; i < SIDES; i++) {
        x->side[i].factor = e->arg[i];
        x->side[i].axes = at_expr_axes(e->arg[i]);
        if (at_expr_is_whole(m->c, e->arg[i])) return false;
    }
    /* A condition on an axis that neither factor has belongs to the first. */
    for (at_expr *s = body; s != e; s = s->arg[1]) {
        const uint32_t known = x->side[A].axes | x->side[B].axes;
        x->side[A].axes |= at_expr_axes(s->arg[0]) & ~known;
    }
    for (at_expr *s = body; s != e; s = s->arg[1])
        if (!split_condition(x, s->arg[0])) return false;
    for (int i = 0; i < SIDES; i++)
        x->side[i].own = x->side[i].axes & ~x->side[1 - i].axes & ~x->terms;
    x->shared = ~(x->side[A].own | x->side[B].own | x->terms);
    return true;
}

/* ---- whether it may, and pays ---------------------------------------------------------------- */

/* Does an index of a read possibly lead outside of its tensor? */
static bool leaves_tensor(const at_expr *e, const void *ctx) {
    const naive *m = ctx;
    if (e->op != AT_X_INDEX) return false;
    for (int i = 0; i < e->nargs; i++) {
        at_expr *index = e->arg[i], *turned = at_expr_new(m->arena, AT_X_NEG, 1, &index);
        const double least = smallest_int(m->c, m->values, m->extents, m->stage, index),
                     most = -smallest_int(m->c, m->values, m->extents, m->stage, turned);
        if (!(least >= 0 && most < (double)m->extents[e->ref][i])) return true;
    }
    return false;
}

static int64_t count_of(naive *m, uint32_t axes) {
    int64_t n = 1;
    for (int i = 0; i < axes_of(naive_stage(m)); i++)
        if (axes >> i & 1) n = naive_times(m, n, m->extents[m->stage][i]);
    return n;
}

static bool pays(naive *m, product *x) {
    x->around = count_of(m, x->shared);
    x->rows = count_of(m, x->side[A].own);
    x->columns = count_of(m, x->side[B].own);
    x->num_terms = count_of(m, x->terms);
    const double floats = (double)x->rows * (double)x->num_terms +
                          (double)x->columns * (double)x->num_terms +
                          (double)x->rows * (double)x->columns;
    const double all = (double)x->rows * (double)x->columns * (double)x->num_terms;
    return all * (double)x->around >= least_terms && all >= floats * least_gain &&
           floats <= most_floats;
}

static bool is_product(naive *m, product *x) {
    const at_tensor *t = naive_stage(m);
    if (!t->num_reduce || t->reduction != AT_REDUCE_SUM || t->type != AT_F32 ||
        at_tensor_goes_in_steps(t) || axes_of(t) > 31)
        return false;
    for (int i = 0; i < axes_of(t); i++)
        if (t->axes[i].begin) return false;
    if (!find_product(m, x) || !pays(m, x)) return false;
    /* Where a side's elements are worked out that no term reads, they are there. */
    for (int i = 0; i < SIDES && x->is_guarded; i++)
        if (!x->side[i].num && at_expr_find(x->side[i].factor, leaves_tensor, m)) return false;
    return x->side[A].num == 0 || x->side[B].num == 0 || !x->is_guarded;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void add_hoisted(naive *m, at_text *out, int from, int to) {
    for (int d = from; d < to; d++)
        for (int i = 0; i < m->hoists.len; i++)
            if (m->hoists.data[i].depth == d)
                at_text_addf(out, "        const long %s = %s;\n", m->hoists.data[i].name,
                             m->hoists.data[i].text);
}

/* Loops over these axes around a line; what the line needs of other axes stands before it is
 * needed. */
static void emit_over(naive *m, at_text *out, uint32_t axes, const char *head, const char *line) {
    const int total = axes_of(naive_stage(m));
    int known = 0;
    at_text_addf(out, "    {\n%s", head);
    for (int i = 0; i < total; i++) {
        if (!(axes >> i & 1)) continue;
        add_hoisted(m, out, known, i);
        naive_open_axis(m, out, i, "0", naive_number(m, m->extents[m->stage][i]));
        known = i;
    }
    add_hoisted(m, out, known, total);
    at_text_addf(out, "        %s\n    }\n", line);
    for (int i = 0; i < total; i++)
        if (axes >> i & 1) at_text_add(out, "    }\n");
    m->hoists.len = 0;
}

static const char *under_conditions(naive *m, const side *s) {
    at_expr *e = s->factor, *zero = at_expr_new(m->arena, AT_X_FLOAT, 0, NULL);
    for (int i = s->num - 1; i >= 0; i--)
        e = at_expr_new(m->arena, AT_X_SELECT, 3, (at_expr *[]){s->conditions[i], e, zero});
    return naive_value(m, e, axes_of(naive_stage(m)) - 1);
}

/* The element in hand among those of these axes. */
static const char *place_of(naive *m, uint32_t axes) {
    const char *sum = "0L";
    for (int i = 0; i < naive_stage(m)->num_axes; i++)
        if (axes >> i & 1)
            sum = at_format(m->arena, "(%s)*%s + i_%s", sum,
                            naive_number(m, m->extents[m->stage][i]), naive_axis_name(m, i));
    return sum;
}

bool naive_emit_product(naive *m, at_text *out) {
    product x = {0};
    if (!is_product(m, &x)) return false;
    const at_tensor *t = naive_stage(m);
    const int64_t floats[] = {naive_times(m, x.rows, x.num_terms),
                              naive_times(m, x.columns, x.num_terms),
                              naive_times(m, x.rows, x.columns)};
    static const char name[] = "ABC";
    int64_t at = m->products->first;
    m->hoists.len = 0;
    at_text_add(out, "    {\n");
    for (int i = 0; i < 3; at += floats[i++])
        at_text_addf(out, "    float *%c = (float *)workspace + %lld;\n", name[i], (long long)at);
    if (at > m->products->end) m->products->end = at;
    for (int i = 0; i < t->num_axes; i++)
        if (x.shared >> i & 1)
            naive_open_axis(m, out, i, "0", naive_number(m, m->extents[m->stage][i]));
    for (int i = 0; i < SIDES; i++) {
        const char *value = under_conditions(m, &x.side[i]);
        emit_over(m, out, x.side[i].own | x.terms, "    long at = 0;\n",
                  at_format(m->arena, "%c[at++] = %s;", name[i], value));
    }
    at_text_addf(out, "    at_products(A, B, C, %lldL, %lldL, %lldL);\n", (long long)x.rows,
                 (long long)x.num_terms, (long long)x.columns);
    at_expr *own[MAX_AXES];
    naive_own_indices(m, t->num_axes, own);
    const char *element = naive_element(m, m->stage, own, t->num_axes - 1);
    emit_over(m, out, x.side[A].own | x.side[B].own, "",
              at_format(m->arena, "%s = C[(%s)*%lldL + %s];", element, place_of(m, x.side[A].own),
                        (long long)x.columns, place_of(m, x.side[B].own)));
    for (int i = 0; i < t->num_axes; i++)
        if (x.shared >> i & 1) at_text_add(out, "    }\n");
    at_text_add(out, "    }\n");
    m->products->points += (double)x.around * (double)(floats[0] + floats[1] + floats[2]);
    return true;
}
