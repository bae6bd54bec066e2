/* schedule/data_cover.c: a draw on which the winners of few long rows go from place to place. A
 * maximum shows one element a row and run; a kernel that leaves out some vector of a row is seen
 * where one of the vector's elements wins. */
#include "schedule/data_int.h"

enum {
    LEAST_GROUP = 4,
    VECTOR = 16,
    MOST_GROUP = 64,
    MOST_RUNS = 1 << 12,
    DIFFERENT = 3,
    MOST_RANGE = 16
};
#define MOST_WORK 0x1p28 /* elements in all runs: some tenths of a second of plain loops */

static int64_t offset_at(const at_cover *x, int64_t row, int64_t place) {
    int64_t offset = x->base;
    for (int i = x->axes; i-- > 0;) {
        int64_t *n = i < x->row_axes ? &row : &place;
        offset += *n % x->extent[i] * x->stride[i];
        *n /= x->extent[i];
    }
    return offset;
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

/* Into groups of as few places as the work allows: all have a winner in each row, or all in some.
 * false: so few would be seen that it is not worth it. */
static bool find_groups(const data_rows *r, at_cover *x) {
    const double all = all_elements(r->ruler);
    for (int every_row = 1; every_row >= 0; every_row--)
        for (x->group = LEAST_GROUP; x->group <= (every_row ? VECTOR : MOST_GROUP); x->group *= 2) {
            const int64_t groups = (x->terms + x->group - 1) / x->group;
            x->between = (groups + x->rows - 1) / x->rows;
            x->runs = every_row ? groups : x->between;
            if (x->between > 1 && x->runs <= MOST_RUNS && all * (double)x->runs <= MOST_WORK)
                return true;
        }
    return false;
}

void data_cover(const data_ruler *ruler, at_draw *draw) {
    for (int s = 0; s < ruler->c->num_tensors; s++) {
        data_rows r;
        at_cover x = {0};
        if (!data_rows_find(&r, ruler, s, draw) || r.winner == DATA_EITHER ||
            !data_rows_may_change(&r))
            continue;
        const at_fill *f = &draw->fill[r.tensor];
        const bool is_high = r.winner == DATA_HIGH, is_whole = data_rows_are_whole(&r);
        x.tensor = r.tensor;
        const bool is_shared = r.num * r.terms > data_elements_of(ruler, r.tensor);
        x.rows = is_shared ? 1 : r.num, x.terms = r.terms;
        if (f->row || !find_groups(&r, &x) || !find_strides(&r, &x)) continue;
        x.value = data_rows_end(&r, is_high, data_rows_beyond(&r));
        x.unit = is_whole ? 0 : f->unit * (is_high ? -1 : 1);
        x.different = is_whole || f->hi - f->lo < MOST_RANGE ? 1 : DIFFERENT;
        *at_push(ruler->arena, &draw->covers) = x;
    }
}
