/* schedule/data_products.c: winners of maxima that look at sums of products, as a softmax of scores
 * does (data_extremes.c: of inputs as they are). One factor is above 0, and of the other one all
 * elements at the place that is to win are the largest. */
#include "schedule/data_int.h"

#include <string.h>

enum {
    MOST_STAGES = 8,   /* from the maximum to the sum */
    MOST_ROWS = 16,    /* that get a winner */
    MOST_TERMS = 1024, /* of a sum: each is an element with a value of its own */
    INNER = -1
};

/* What a maximum reads, seen from a stage on the way. */
typedef struct products {
    const data_ruler *r;
    int maximum, stage;
    int axis[MAX_AXES]; /* of the stage: the maximum's axis that it is; INNER: of a sum alone */
} products;

static const at_tensor *tensor_of(const products *p, int t) { return &p->r->c->tensors[t]; }

static bool is_of_axes(const at_expr *e, const void *asked) {
    const products *p = asked;
    if (e->op != AT_X_INDEX) return false;
    for (int i = 0; i < e->nargs; i++)
        if (e->arg[i]->op != AT_X_NAME || e->arg[i]->ref >= axes_of(tensor_of(p, p->stage)))
            return false;
    return true;
}

static bool is_stage_of_axes(const at_expr *e, const void *asked) {
    const at_tensor *t = e->op == AT_X_INDEX ? tensor_of(asked, e->ref) : NULL;
    return t && t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle && t->body &&
           !(t->num_reduce && t->reduction != AT_REDUCE_SUM) && is_of_axes(e, asked);
}

static void go_to(products *p, const at_expr *read) {
    int axis[MAX_AXES];
    for (int i = 0; i < MAX_AXES; i++)
        axis[i] = i < read->nargs ? p->axis[read->arg[i]->ref] : INNER;
    memcpy(p->axis, axis, sizeof axis);
    p->stage = read->ref;
}

/* The product whose sums the maximum looks at, through stages without a reduction; p stands at the
 * sum then. NULL: there is none. */
static const at_expr *find_product(products *p) {
    for (int k = 0; k < MOST_STAGES; k++) {
        const at_expr *body = tensor_of(p, p->stage)->body;
        if (k && tensor_of(p, p->stage)->num_reduce) return body->op == AT_X_MUL ? body : NULL;
        const at_expr *read = at_expr_find_value(body, is_stage_of_axes, p);
        if (!read) return NULL;
        go_to(p, read);
    }
    return NULL;
}

/* The read of the drawn floats that a factor is, itself or as what a stage keeps of an input; NULL:
 * it is none. */
static const at_expr *find_input(products *p, const at_expr *e) {
    for (int k = 0; k < MOST_STAGES && is_of_axes(e, p); k++) {
        const at_tensor *t = tensor_of(p, e->ref);
        if (data_is_drawn(p->r, e->ref)) return at_type_of(t->type)->is_int ? NULL : e;
        if (!is_stage_of_axes(e, p) || t->num_reduce) return NULL;
        go_to(p, e);
        e = t->body->op == AT_X_SELECT ? t->body->arg[2] : t->body;
    }
    return NULL;
}

static int axis_of(const products *p, const at_expr *read, int i) {
    return p->axis[read->arg[i]->ref];
}

static bool is_place(const products *p, int axis) {
    return axis >= tensor_of(p, p->maximum)->num_axes;
}

static bool has_places(const products *p, const at_expr *read) {
    bool any = false;
    for (int i = 0; i < read->nargs; i++) any |= is_place(p, axis_of(p, read, i));
    return any;
}

/* How many of the maximum's places count on a draw with other entries: all, or as many as a single
 * entry says. */
static int64_t counted_places(const products *p, int64_t all) {
    const at_data_known *k = p->r->known;
    const at_tensor *m = tensor_of(p, p->maximum);
    const at_expr *end = m->axes[m->num_axes].end;
    for (int t = 0; k->entries && t < p->r->c->num_tensors; t++) {
        const at_index_range *e = &k->entries[t];
        if (tensor_of(p, t)->role != AT_ROLE_INDEX || k->num_entries[t] != 1 ||
            (k->indices && k->indices[t]) || !(end ? e->ascends : e->ends) ||
            !at_expr_count_reads(end ? end : m->body, t))
            continue;
        const int64_t counted = at_entries_begin(e, 1) + e->added;
        return counted > 0 && counted < all ? counted : all;
    }
    return all;
}

static int64_t offset_of(const products *p, const at_expr *read, int64_t row, int64_t place,
                         int64_t term) {
    const int64_t *extent = p->r->extents[read->ref];
    int64_t index[MAX_AXES], offset = 0;
    for (int i = read->nargs - 1; i >= 0; i--) {
        const int axis = axis_of(p, read, i);
        int64_t *of = axis == INNER ? &term : is_place(p, axis) ? &place : &row;
        index[i] = *of % extent[i];
        *of /= extent[i];
    }
    for (int i = 0; i < read->nargs; i++) offset = offset * extent[i] + index[i];
    return offset;
}

/* Twice as large as all others, at a place of each row. */
static void plant(const products *p, const at_expr *read, at_draw *draw) {
    const at_fill *f = &draw->fill[read->ref];
    const bool is_max = tensor_of(p, p->maximum)->reduction == AT_REDUCE_MAX;
    const double value = 2 * f->unit * (is_max ? f->hi : f->lo);
    int64_t rows = 1, places = 1, terms = 1;
    for (int i = 0; i < read->nargs; i++) {
        const int axis = axis_of(p, read, i);
        *(axis == INNER       ? &terms
          : is_place(p, axis) ? &places
                              : &rows) *= p->r->extents[read->ref][i];
    }
    if (places < 1 || terms > MOST_TERMS) return; /* an input may be empty */
    if (rows > MOST_ROWS) rows = MOST_ROWS;
    places = counted_places(p, places);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t place = data_place_of(rows > 1 ? (row + 1) % rows : 1, places);
        for (int64_t k = 0; k < terms; k++)
            *at_push(p->r->arena, &draw->extremes) =
                (at_placed){read->ref, offset_of(p, read, row, place, k), (float)value};
    }
}

void data_plant_products(const data_ruler *r, at_draw *draw) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        products p = {.r = r, .maximum = s, .stage = s};
        if (t->role != AT_ROLE_STAGE || t->num_reduce != 1 || t->is_recurrence || t->cycle ||
            !at_reduction_is_extreme(t->reduction))
            continue;
        for (int i = 0; i < MAX_AXES; i++) p.axis[i] = i;
        const at_expr *product = find_product(&p);
        for (int i = 0; product && i < 2; i++) {
            products of = p, beside = p;
            const at_expr *read = find_input(&of, product->arg[i]),
                          *other = find_input(&beside, product->arg[1 - i]);
            if (!read || !other || read->ref == other->ref || !has_places(&of, read) ||
                has_places(&beside, other))
                continue;
            at_fill *f = &draw->fill[other->ref];
            if (f->lo < 0) f->lo = f->hi / 8;
            plant(&of, read, draw);
        }
    }
}
