/* schedule/data_extremes.c: where the largest and the smallest elements stand that maxima and
 * minima look for. Of random numbers the last one of a long row is hardly ever the largest; a
 * kernel that leaves it out would be right. So rows have their winner at the first place, the last,
 * and evenly between. On the second draw some have two or three, so that it matters which of them
 * is said to be the place. */
#include "schedule/data_int.h"

#include <math.h>

enum {
    MOST_ROWS = 4096, /* that get a winner */
    FEW_ROWS = 64,    /* of more rows every other one has those of its random numbers */
    MOST_LESS = 96,   /* units, so that rows have other winners than their neighbours */
    PIECES = 5        /* of a loop's rest, where places are that are as good, of every other row */
};

/* A read of an input all of whose indices are axes of the stage, each once, and all reduction axes
 * are among them. */
typedef struct rows {
    const at_compute *c;
    int stage, tensor;
    const at_expr *read;
    const int64_t *extent; /* of the tensor's axes */
    int64_t num, terms;
} rows;

static bool is_reduced(const rows *r, int axis) {
    return r->read->arg[axis]->ref >= r->c->tensors[r->stage].num_axes;
}

static bool is_of_axes(rows *r, const at_expr *e, int64_t *const *extents) {
    const at_tensor *t = &r->c->tensors[r->stage];
    uint32_t seen = 0;
    r->read = e;
    r->tensor = e->ref;
    r->extent = extents[e->ref];
    r->num = r->terms = 1;
    for (int i = 0; i < e->nargs; i++) {
        const at_expr *x = e->arg[i];
        if (x->op != AT_X_NAME || x->ref >= axes_of(t) || (seen >> x->ref & 1) ||
            r->extent[i] != extents[r->stage][x->ref])
            return false;
        seen |= 1u << x->ref;
        *(is_reduced(r, i) ? &r->terms : &r->num) *= r->extent[i];
    }
    return seen >> t->num_axes == (1u << t->num_reduce) - 1;
}

/* A term that is such a read, whether or not it counts everywhere. */
static bool find_read(rows *r, const at_expr *e, const at_data_known *known,
                      int64_t *const *extents) {
    if (e->op == AT_X_SELECT)
        return find_read(r, e->arg[1], known, extents) || find_read(r, e->arg[2], known, extents);
    if (e->op != AT_X_INDEX) return false;
    const bool is_given =
        (known->given && known->given[e->ref]) || (known->indices && known->indices[e->ref]);
    return r->c->tensors[e->ref].role != AT_ROLE_STAGE && !is_given && is_of_axes(r, e, extents);
}

int64_t data_offset(int axes, const int64_t *extent, const data_part *part,
                    int64_t number[DATA_PARTS]) {
    int64_t offset = 0;
    for (int64_t i = axes - 1, step = 1; i >= 0; step *= extent[i--]) {
        int64_t *n = &number[part[i]];
        offset += *n % extent[i] * step;
        *n /= extent[i];
    }
    return offset;
}

static int64_t offset_of(const rows *r, int64_t row, int64_t place) {
    data_part part[MAX_AXES];
    for (int i = 0; i < r->read->nargs; i++) part[i] = is_reduced(r, i) ? DATA_PLACE : DATA_ROW;
    return data_offset(r->read->nargs, r->extent, part,
                       (int64_t[DATA_PARTS]){[DATA_ROW] = row, [DATA_PLACE] = place});
}

int64_t data_place_of(int64_t n, int64_t terms) {
    enum { FIRST_PIECE = 2, LAST_PIECE = 5, AGAIN = 13 };
    const double golden = 0.6180339887498949, at = golden * (double)n;
    const int kind = (int)(n % AGAIN);
    if (kind < FIRST_PIECE) return kind ? terms - 1 : 0;
    if (kind <= LAST_PIECE && terms >> kind) return terms - (1 << kind) + 1;
    return (int64_t)((at - floor(at)) * (double)terms);
}

double data_away(const at_fill *f, int64_t element) {
    return f->row ? f->unit * f->apart * (double)(element / f->row * at_fill_stride(f) % 7 - 3) : 0;
}

static bool is_max(const rows *r) { return r->c->tensors[r->stage].reduction == AT_REDUCE_MAX; }

/* Integers, or entries? */
static bool has_wholes(const rows *r) {
    const at_tensor *t = &r->c->tensors[r->tensor];
    return t->role == AT_ROLE_INDEX || at_type_of(t->type)->is_int;
}

/* The winner of a row is row % different units before the end. */
typedef struct winners {
    double end, unit;
    int64_t different;
} winners;

/* Whole numbers that winners alone have: of a few hundred bytes two or three would be the most, and
 * all but the first of them could be left out. Where there are few different ones, or so many that
 * this does not happen, rows have no winner. */
static winners among_wholes(const rows *r, const at_data_known *known, at_draw *draw) {
    enum { MOST_SPARED = 7, SHARE = 4, MOST_RANGE = 1 << 16 };
    const at_tensor *t = &r->c->tensors[r->tensor];
    const at_index_range *entries = known->entries ? &known->entries[r->tensor] : NULL;
    if (t->role == AT_ROLE_INDEX && (!entries || entries->ascends || entries->ends))
        return (winners){0};
    at_fill *f = &draw->fill[r->tensor];
    const at_wholes w = at_data_wholes_of(t, entries, draw->is_coarse, f);
    const int64_t range = (w.most - w.least) / w.step,
                  spared = range / SHARE < MOST_SPARED ? range / SHARE : MOST_SPARED;
    if (range > MOST_RANGE || !spared) return (winners){0};
    *(is_max(r) ? &f->spared_most : &f->spared_least) = (int)spared;
    return (winners){(double)(is_max(r) ? w.most : w.least), (double)w.step, spared};
}

static winners among_floats(const rows *r, double above, const at_draw *draw) {
    const at_fill *f = &draw->fill[r->tensor];
    const double half = (f->hi - f->lo) / 2, beyond = above > 0 ? above : f->unit * half;
    return (winners){is_max(r) ? f->unit * f->hi + beyond : f->unit * f->lo - beyond, f->unit,
                     1 + (int64_t)fmin(MOST_LESS, half / 2)};
}

static int64_t plant(at_arena *a, const rows *r, const at_data_known *known, double above,
                     int number, at_draw *draw) {
    const at_fill *f = &draw->fill[r->tensor];
    const bool whole = has_wholes(r);
    const winners w = whole ? among_wholes(r, known, draw) : among_floats(r, above, draw);
    const int64_t step = r->num >= FEW_ROWS && !(above > 0) && !whole ? 2 : 1;
    const int64_t first = number * ((r->num + step - 1) / step);
    if (!w.different) return r->num;
    for (int64_t row = 0, n = first; row < r->num && n < first + MOST_ROWS; row += step, n++) {
        const int64_t at = offset_of(r, row, data_place_of(n + !is_max(r), r->terms));
        const double before = w.unit * (double)(row % w.different);
        const double value = w.end + (is_max(r) ? -before : before) + data_away(f, at);
        *at_push(a, &draw->extremes) =
            (at_placed){.tensor = r->tensor, .offset = at, .value = (float)value};
        /* Of two neighbours in four, so that both lengths have some that alternate. */
        const int64_t others = number && n / 2 % 2 == 0 ? 1 + n / 4 % 2 : 0;
        for (int64_t k = 0; k < others; k++) {
            const int64_t other = data_place_of(1 + (n / 4 + k) % PIECES, r->terms);
            *at_push(a, &draw->extremes) = (at_placed){
                .tensor = r->tensor, .offset = offset_of(r, row, other), .value = (float)value};
        }
    }
    return r->num;
}

/* Is the stage a maximum or minimum of such rows? */
static bool find_rows(rows *r, const at_compute *c, int stage, int64_t *const *extents,
                      const at_data_known *known) {
    const at_tensor *t = &c->tensors[stage];
    *r = (rows){.c = c, .stage = stage};
    return t->role == AT_ROLE_STAGE && t->num_reduce && at_reduction_is_extreme(t->reduction) &&
           find_read(r, t->body, known, extents) && r->terms >= 2;
}

int64_t data_plant_extremes(at_arena *a, const at_compute *c, int64_t *const *extents,
                            const at_data_known *known, double above, int number, at_draw *draw) {
    int64_t least = 0;
    for (int s = 0; s < c->num_tensors; s++) {
        rows r;
        if (!find_rows(&r, c, s, extents, known) || (above > 0 && has_wholes(&r))) continue;
        const int64_t num = plant(a, &r, known, above, number, draw);
        if (!least || num < least) least = num;
    }
    return least;
}

void data_plant_small(at_arena *a, const at_compute *c, int64_t *const *extents,
                      const at_data_known *known, at_draw *draw) {
    enum { STEPS = 4, NEAREST = 8, LEAST_TERMS = 4 * STEPS };
    for (int s = 0; s < c->num_tensors; s++) {
        rows r;
        if (!find_rows(&r, c, s, extents, known) || r.terms < LEAST_TERMS || has_wholes(&r))
            continue;
        const at_fill *f = &draw->fill[r.tensor];
        for (int64_t n = 0; n < STEPS * r.num && n < MOST_ROWS; n++) {
            const int64_t at = offset_of(&r, n / STEPS, data_place_of(n + 2, r.terms));
            const double away = ldexp(NEAREST, (int)(n % STEPS));
            const double value = is_max(&r) ? f->unit * f->lo - away : f->unit * f->hi + away;
            *at_push(a, &draw->extremes) =
                (at_placed){.tensor = r.tensor, .offset = at, .value = (float)value};
        }
    }
}

int64_t data_row_of(const at_compute *c, int64_t *const *extents, const at_data_known *known,
                    int tensor) {
    for (int s = 0; s < c->num_tensors; s++) {
        const at_tensor *t = &c->tensors[s];
        rows r = {.c = c, .stage = s};
        if (t->role != AT_ROLE_STAGE || !t->num_reduce || !find_read(&r, t->body, known, extents) ||
            r.tensor != tensor)
            continue;
        int64_t n = 1;
        for (int i = r.read->nargs - 1; i >= 0 && is_reduced(&r, i); i--) n *= r.extent[i];
        if (n > 1) return n;
    }
    return 0;
}
