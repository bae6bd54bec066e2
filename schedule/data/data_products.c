/* schedule/data/data_products.c: winners of maxima that look at sums of products, as a softmax of
 * scores does (data_extremes.c: of inputs as they are). One factor has rows above 0 and rows below.
 * The other one is above 0: at one place all of its elements are the largest, which wins in the
 * rows above 0, at another one the smallest, which wins in those below. Of squares of differences,
 * as of distances from centres, rows of one input are the other's at places, which are the nearest
 * there.
 */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STAGES = 8,   /* from the maximum to the sum */
    MOST_ROWS = 16,    /* that get a winner */
    MOST_HALF = 60000, /* of a sum that becomes a float of 16 bits */
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

/* The read of one factor of such sums. */
typedef struct factor {
    const at_expr *read;
    const int64_t *extent;
    data_part part[MAX_AXES]; /* of its axes */
    int axis[MAX_AXES];       /* of the maximum */
    int64_t num[DATA_PARTS];  /* how many of each there are */
} factor;

static factor factor_of(const products *p, const at_expr *read) {
    factor f = {.read = read, .extent = p->r->extents[read->ref], .num = {1, 1, 1}};
    for (int i = 0; i < read->nargs; i++) {
        f.axis[i] = axis_of(p, read, i);
        f.part[i] = f.axis[i] == INNER ? DATA_TERM : is_place(p, f.axis[i]) ? DATA_PLACE : DATA_ROW;
        f.num[f.part[i]] *= f.extent[i];
    }
    return f;
}

/* Elements behind each other that are all terms of a row of sums; 0: they lie otherwise. */
static int64_t terms_in_a_row(const factor *f) {
    int i = f->read->nargs;
    int64_t n = 1;
    while (i > 0 && f->part[i - 1] == DATA_TERM) n *= f->extent[--i];
    return n == f->num[DATA_TERM] && n > 1 ? n : 0;
}

/* Does each row of one factor belong to one of the other's? */
static bool has_same_rows(const factor *x, const factor *y) {
    int i = 0, k = 0;
    for (;; i++, k++) {
        while (i < x->read->nargs && x->part[i] != DATA_ROW) i++;
        while (k < y->read->nargs && y->part[k] != DATA_ROW) k++;
        if (i == x->read->nargs || k == y->read->nargs) break;
        if (x->axis[i] != y->axis[k]) return false;
    }
    return i == x->read->nargs && k == y->read->nargs;
}

/* All terms at a place of a row. */
static void put(const data_ruler *r, const factor *f, int64_t row, int64_t place, double value,
                at_draw *draw) {
    const int64_t in_a_row = terms_in_a_row(f), terms = f->num[DATA_TERM];
    for (int64_t k = 0; k < terms; k += in_a_row ? in_a_row : 1) {
        int64_t number[DATA_PARTS] = {row, place, k};
        *at_push(r->arena, &draw->extremes) =
            (at_placed){.tensor = f->read->ref,
                        .offset = data_offset(f->read->nargs, f->extent, f->part, number),
                        .value = (float)value,
                        .more = in_a_row ? in_a_row - 1 : 0,
                        .step = 1};
    }
}

/* So many times smaller y is to be lest sums of products are more than a stage of f16 holds. */
static double times_smaller(const data_ruler *r, const factor *x, const at_fill *of_x,
                            const at_fill *of_y) {
    const double largest =
        1.5 * of_x->unit * of_x->hi * 3.75 * of_y->unit * of_y->hi * (double)x->num[DATA_TERM];
    bool any = false;
    for (int t = 0; t < r->c->num_tensors; t++)
        any |= r->c->tensors[t].role == AT_ROLE_STAGE && !r->c->tensors[t].is_output &&
               r->c->tensors[t].type == AT_F16;
    return any && !r->is_exact ? fmax(1, largest / MOST_HALF) : 1;
}

/* The fills of both: x with places from three quarters of what it had to that, its largest a half
 * more, its smallest a half; y far from 0 on either side, where its rows lie so. */
static void plant(const products *p, const factor *x, const factor *y, at_draw *draw) {
    const data_ruler *r = p->r;
    at_fill *of_x = &draw->fill[x->read->ref], *of_y = &draw->fill[y->read->ref];
    const double most = of_x->hi, high = of_y->hi, whole = r->is_exact ? 1 : 0x1p-20;
    const int64_t rows = x->num[DATA_ROW] < MOST_ROWS ? x->num[DATA_ROW] : MOST_ROWS,
                  places = counted_places(p, x->num[DATA_PLACE]);
    of_y->unit /= times_smaller(r, x, of_x, of_y);
    of_x->lo = whole * ceil(0.75 * most / whole);
    of_y->lo = whole * ceil(0.25 * high / whole);
    of_y->hi = fmax(of_y->lo, whole * floor(0.75 * high / whole));
    of_y->row = terms_in_a_row(y);
    of_y->apart = of_y->row ? high : 0;
    of_y->is_mixed = true;
    const bool has_rows = of_y->row && has_same_rows(x, y);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t n = (row + 1) % rows, at = data_place_of(n, places),
                      beside = data_place_of(rows > 1 ? (n + 1) % rows : 1, places);
        const bool is_below = has_rows && data_away(of_y, row * of_y->row) < 0;
        put(r, x, row, is_below ? beside : at, of_x->unit * (most + whole * ceil(most / 2 / whole)),
            draw);
        if (beside != at)
            put(r, x, row, is_below ? at : beside, of_x->unit * whole * floor(most / 2 / whole),
                draw);
    }
}

/* Goes over all products that maxima look at sums of. draw NULL: nothing is planted. The most terms
 * of a sum; 0: there are none. */
static int64_t for_products(const data_ruler *r, at_draw *draw) {
    int64_t most = 0;
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
            const factor x = factor_of(&of, read), y = factor_of(&beside, other);
            if (x.num[DATA_PLACE] < 1 || x.num[DATA_TERM] < 1) continue; /* an input may be empty */
            if (draw) plant(&of, &x, &y, draw);
            if (x.num[DATA_TERM] > most) most = x.num[DATA_TERM];
        }
    }
    return most;
}

int64_t data_product_terms(const data_ruler *r) { return for_products(r, NULL); }

bool data_plant_products(const data_ruler *r, at_draw *draw) { return for_products(r, draw) > 0; }

/* ---- the nearest ----------------------------------------------------------------------------- */

enum { MOST_VALUES = 512 }; /* that rows get from places */

static bool is_square(const at_expr *e) {
    return e->op == AT_X_MUL && e->arg[0]->op == AT_X_SUB && at_expr_same(e->arg[0], e->arg[1]);
}

/* May elements of x have the values of y's? */
static bool holds(const data_ruler *r, const at_fill *x, const at_fill *y) {
    return x->unit * x->lo <= y->unit * y->lo && y->unit * y->hi <= x->unit * x->hi && !y->row &&
           (!r->is_exact || x->unit <= y->unit);
}

static int64_t offset_of(const factor *f, int64_t row, int64_t place, int64_t term) {
    int64_t number[DATA_PARTS] = {row, place, term};
    return data_offset(f->read->nargs, f->extent, f->part, number);
}

/* How far a factor's terms lie apart; 0: not all as far. */
static int64_t step_of(const factor *f) {
    const int64_t terms = f->num[DATA_TERM], first = offset_of(f, 0, 0, 0),
                  step = terms > 1 ? offset_of(f, 0, 0, 1) - first : 1;
    bool is_even = true;
    for (int64_t k = 0; k < terms && is_even; k++)
        is_even = offset_of(f, 0, 0, k) == first + k * step;
    return is_even ? step : 0;
}

/* Terms of a row of x from one to the one before the end are y's at a place: one value. */
static void put_piece(const data_ruler *r, const factor *f[2], const int64_t row[2], int64_t begin,
                      int64_t end, at_draw *draw) {
    const int64_t at[2] = {offset_of(f[0], row[0], 0, begin), offset_of(f[1], 0, row[1], begin)};
    const int of[2] = {f[0]->read->ref, f[1]->read->ref},
              side = holds(r, &draw->fill[of[0]], &draw->fill[of[1]]);
    const double value = data_look_element(r->look, &draw->fill[of[side]], of[side], at[side]);
    for (int i = 0; i < 2 && begin < end; i++)
        *at_push(r->arena, &draw->extremes) = (at_placed){.tensor = of[i],
                                                          .offset = at[i],
                                                          .value = (float)value,
                                                          .more = end - begin - 1,
                                                          .step = step_of(f[i])};
}

/* All terms of some rows of x are those of y at places, in as many pieces as there may be values;
 * of the first row and every second one behind it the first term stays, so that not all that is the
 * least is 0. */
static void put_nearest(const data_ruler *r, const factor *x, const factor *y, at_draw *draw) {
    const int64_t terms = x->num[DATA_TERM], rows = x->num[DATA_ROW], places = y->num[DATA_PLACE],
                  least = step_of(x) && step_of(y) ? 1 : terms, most = MOST_VALUES / least,
                  all = rows < places ? rows : places, n = all < most ? all : most;
    const factor *f[] = {x, y};
    for (int64_t i = 0; i < n; i++) {
        const int64_t row[] = {i * rows / n, data_place_of(i, places)},
                      some = MOST_VALUES / n < terms ? MOST_VALUES / n : terms, first = i % 2 == 0;
        for (int64_t k = 0; k < some; k++) {
            const int64_t begin = terms * k / some;
            put_piece(r, f, row, begin > first ? begin : first, terms * (k + 1) / some, draw);
        }
    }
}

static void plant_nearest(const products *p, const at_expr *difference, at_draw *draw) {
    products of[2] = {*p, *p};
    factor f[2];
    for (int i = 0; i < 2; i++) {
        const at_expr *read = find_input(&of[i], difference->arg[i]);
        if (!read) return;
        f[i] = factor_of(&of[i], read);
    }
    const factor *x = &f[f[0].num[DATA_PLACE] > 1], *y = x == f ? &f[1] : &f[0];
    const at_fill *of_x = &draw->fill[x->read->ref], *of_y = &draw->fill[y->read->ref];
    const bool is_known = x->read->ref != y->read->ref && x->num[DATA_PLACE] == 1 &&
                          y->num[DATA_ROW] == 1 && y->num[DATA_TERM] == x->num[DATA_TERM];
    if (!is_known || x->num[DATA_TERM] < 1) return;
    if (holds(p->r, of_x, of_y) || holds(p->r, of_y, of_x)) put_nearest(p->r, x, y, draw);
}

void data_plant_nearest(const data_ruler *r, at_draw *draw) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        products p = {.r = r, .maximum = s, .stage = s};
        if (t->role != AT_ROLE_STAGE || t->num_reduce != 1 || t->is_recurrence || t->cycle ||
            t->reduction != AT_REDUCE_MIN)
            continue;
        for (int i = 0; i < MAX_AXES; i++) p.axis[i] = i;
        const at_expr *product = find_product(&p);
        if (product && is_square(product)) plant_nearest(&p, product->arg[0], draw);
    }
}
