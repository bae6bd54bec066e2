/* schedule/data/data_cover.c: a draw on which the winners of few long rows go from place to place.
 * A maximum shows one element a row and run; a kernel that leaves out some vector of a row is seen
 * where one of the vector's elements wins. */
#include "schedule/data/data_int.h"

#include <math.h>

enum {
    LEAST_GROUP = 4,
    VECTOR = 16,
    MOST_GROUP = 64,
    MOST_RUNS = 1 << 12,
    DIFFERENT = 3,
    MOST_RANGE = 16
};
#define LEAST_SHARE 0.75 /* of the largest, of what a winner is multiplied by */
#define MOST_WORK 0x1p28 /* elements in all runs: some tenths of a second of plain loops */
#define SMALL_WORK 0x1p20

static int64_t offset_at(const at_cover *x, int64_t row, int64_t place) {
    int64_t offset = x->base;
    for (int i = x->axes; i-- > 0;) {
        int64_t *n = i < x->row_axes ? &row : &place;
        offset += *n % x->extent[i] * x->stride[i];
        *n /= x->extent[i];
    }
    return offset;
}

int64_t at_cover_offset(const at_cover *x, int64_t run, int64_t row) {
    const int64_t groups = (x->terms + x->group - 1) / x->group;
    if (run < AT_COVER_ENDS) {
        const int64_t from_end = run / 2 % x->terms;
        return offset_at(x, row, run % 2 ? from_end : x->terms - 1 - from_end);
    }
    const int64_t group = (run + row * x->between) % groups,
                  place = group * x->group + group * 5 % x->group;
    return offset_at(x, row, place < x->terms ? place : x->terms - 1);
}

double at_cover_value(const at_cover *x, int64_t row) {
    return x->value + x->unit * (double)(row % x->different);
}

int64_t at_cover_runs(const at_draw *draw) {
    int64_t runs = 0;
    for (int k = 0; k < draw->covers.len; k++)
        if (draw->covers.data[k].runs > runs) runs = draw->covers.data[k].runs;
    return runs;
}

/* Behind the ends their numbers with the bits of a counter turned round. */
int64_t *at_cover_order(at_arena *a, int64_t runs) {
    int64_t *order = AT_NEW_ARRAY(a, int64_t, runs), n = 0;
    int bits = 0;
    while ((int64_t)1 << bits < runs - AT_COVER_ENDS) bits++;
    for (; n < runs && n < AT_COVER_ENDS; n++) order[n] = n;
    for (int64_t i = 0; n < runs; i++) {
        int64_t turned = 0;
        for (int k = 0; k < bits; k++) turned |= (i >> k & 1) << (bits - 1 - k);
        if (turned < runs - AT_COVER_ENDS) order[n++] = AT_COVER_ENDS + turned;
    }
    return order;
}

/* The offset as a sum over the digits of row and place; false: it is none. */
static bool find_strides(const data_rows *r, at_cover *x) {
    enum { LOOKED_AT = 64 };
    const at_tensor *t = &r->ruler->c->tensors[r->stage];
    const int64_t *extent = r->ruler->extents[r->stage];
    int64_t step[2] = {1, 1};
    x->base = data_rows_at(r, 0, 0);
    for (int i = axes_of(t); i-- > 0;) {
        const bool is_term = i >= t->num_axes;
        const int64_t at = is_term ? data_rows_at(r, 0, step[1]) : data_rows_at(r, step[0], 0);
        x->extent[i] = extent[i];
        x->stride[i] = extent[i] > 1 ? at - x->base : 0;
        step[is_term] *= extent[i];
        if (at < 0) return false;
    }
    x->row_axes = t->num_axes;
    x->axes = axes_of(t);
    at_rng rng;
    at_rng_seed(&rng, 0, 0);
    for (int k = 0; k < LOOKED_AT; k++) {
        const int64_t row = (int64_t)at_rng_below(&rng, (uint64_t)r->num),
                      place = (int64_t)at_rng_below(&rng, (uint64_t)r->terms);
        if (data_rows_at(r, row, place) != offset_at(x, row, place)) return false;
    }
    return x->base >= 0;
}

static double all_elements(const data_ruler *r) {
    double n = 0;
    for (int t = 0; t < r->c->num_tensors; t++) n += (double)data_elements_of(r, t);
    return n;
}

/* Rows that differ in elements: axes along which all have the same ones are left out. 1 where rows
 * have some elements in common. */
static int64_t own_rows(const data_rows *r, at_cover *x) {
    int64_t rows = 1;
    for (int i = 0; i < x->row_axes; i++) {
        if (!x->stride[i]) x->extent[i] = 1;
        rows *= x->extent[i];
    }
    return rows * r->terms > data_elements_of(r->ruler, r->tensor) ? 1 : rows;
}

/* In how many runs all groups have a winner, in each row or in some. */
static int64_t take_group(at_cover *x, int64_t group, bool every_row) {
    const int64_t groups = (x->terms + group - 1) / group;
    x->group = group;
    x->between = (groups + x->rows - 1) / x->rows;
    const int64_t runs = every_row ? groups : x->between;
    x->runs = AT_COVER_ENDS + runs;
    return runs;
}

/* Of small tensors all places of each row have a winner, or every other one. */
static void refine_groups(at_cover *x, double all) {
    for (int64_t group = 1; group < LEAST_GROUP; group *= 2)
        if (all * (double)take_group(x, group, true) <= SMALL_WORK) return;
    take_group(x, LEAST_GROUP, true);
}

/* Into groups of as few places as the work allows: all have a winner in each row, or all in some.
 * false: so few would be seen that it is not worth it. */
static bool find_groups(const data_rows *r, at_cover *x) {
    const double all = all_elements(r->ruler);
    for (int every_row = 1; every_row >= 0; every_row--)
        for (int64_t g = LEAST_GROUP; g <= (every_row ? VECTOR : MOST_GROUP); g *= 2) {
            const int64_t runs = take_group(x, g, every_row);
            if (x->between < 2 || runs > MOST_RUNS || all * (double)runs > MOST_WORK) continue;
            if (g == LEAST_GROUP && every_row) refine_groups(x, all);
            return true;
        }
    return false;
}

/* What else is drawn stays well above 0, so that it does not decide whether the largest or the
 * smallest element wins, nor by much how far it does. */
static at_fill *fill_above_0(const data_rows *r) {
    const data_ruler *ruler = r->ruler;
    at_fill *fill =
        at_copy(ruler->arena, r->draw->fill, sizeof *r->draw->fill * (size_t)ruler->c->num_tensors);
    for (int t = 0; t < ruler->c->num_tensors; t++) {
        const at_tensor *x = &ruler->c->tensors[t];
        const bool is_float = x->role != AT_ROLE_INDEX && !at_type_of(x->type)->is_int;
        if (t != r->tensor && is_float && data_is_drawn(ruler, t) && !fill[t].row &&
            fill[t].lo < LEAST_SHARE * fill[t].hi)
            fill[t].lo = ceil(LEAST_SHARE * fill[t].hi);
    }
    return fill;
}

/* Rows of which the largest element wins, or the smallest, perhaps with other fills. */
static bool find_rows(const data_ruler *ruler, int stage, at_draw *draw, data_rows *r) {
    at_fill *before = draw->fill;
    if (!data_rows_find(r, ruler, stage, draw)) return false;
    if (r->winner != DATA_EITHER) return true;
    draw->fill = fill_above_0(r);
    if (data_rows_find(r, ruler, stage, draw) && r->winner != DATA_EITHER) return true;
    draw->fill = before;
    return false;
}

/* Are sums exact with a winner that lies so far beyond the others? */
static bool is_exact_with(const data_rows *r, double far) {
    data_ruler with = *r->ruler;
    with.fill = at_copy(with.arena, r->draw->fill, sizeof *with.fill * (size_t)with.c->num_tensors);
    at_fill *f = &with.fill[r->tensor];
    f->lo -= ceil(far / f->unit), f->hi += ceil(far / f->unit);
    return data_ratio(&with, 1) <= DATA_EXACT_RATIO;
}

/* How far a winner lies beyond the others: several times as far as terms lie apart by what stands
 * beside it in them, as a sum of products does beside a bias, if sums are exact then. */
static double far_of(const data_rows *r) {
    enum { SIZES = 5 };
    const data_ruler *ruler = r->ruler;
    const double least = data_rows_beyond(r), unit = r->draw->fill[r->tensor].unit;
    at_error unused;
    if (!(least > 0) || !(r->slope > 0) || ruler->c->tensors[r->tensor].type != AT_F32 ||
        data_look_at(ruler->look, ruler->arena, r->draw->fill, &unused) != AT_OK)
        return least;
    double far = SIZES * data_look_size(ruler->look, ruler->c->tensors[r->stage].body) / r->slope;
    while (far > least && ruler->is_exact && !is_exact_with(r, far)) far /= 2;
    return isfinite(far) ? unit * ceil(fmax(least, far) / unit) : least;
}

void data_cover(const data_ruler *ruler, at_draw *draw) {
    for (int s = 0; s < ruler->c->num_tensors; s++) {
        data_rows r;
        at_cover x = {0};
        at_fill *before = draw->fill;
        if (!find_rows(ruler, s, draw, &r) || !data_rows_may_change(&r)) continue;
        const at_fill *f = &draw->fill[r.tensor];
        const bool is_high = r.winner == DATA_HIGH, is_whole = data_rows_are_whole(&r);
        x.tensor = r.tensor;
        x.terms = r.terms;
        const bool is_known = !f->row && find_strides(&r, &x);
        if (is_known) x.rows = own_rows(&r, &x);
        if (!is_known || !find_groups(&r, &x)) {
            draw->fill = before;
            continue;
        }
        x.value = data_rows_end(&r, is_high, far_of(&r));
        x.unit = is_whole ? 0 : f->unit * (is_high ? -1 : 1);
        x.different = is_whole || f->hi - f->lo < MOST_RANGE ? 1 : DIFFERENT;
        *at_push(ruler->arena, &draw->covers) = x;
    }
}
