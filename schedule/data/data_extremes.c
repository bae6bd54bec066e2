/* schedule/data/data_extremes.c: where the largest and the smallest elements stand that maxima and
 * minima look for. Of random numbers the last one of a long row is hardly ever the largest; a
 * kernel that leaves it out would be right. So rows have their winner at the first place, the last,
 * and evenly between. On the second draw some have two or three, so that it matters which of them
 * is said to be the place. */
#include "schedule/data/data_int.h"

#include <math.h>

enum {
    MOST_ROWS = 4096, /* that get a winner */
    FEW_ROWS = 64,    /* of more rows every other one keeps the winner it was drawn */
    MOST_LESS = 96,   /* units, so that rows have other winners than their neighbours */
    LEVELS = 7,       /* that rows lie on */
    PIECES = 5        /* of a loop's rest, where places are that are as good, of every other row */
};

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

int64_t data_place_of(int64_t n, int64_t terms) {
    enum { FIRST_PIECE = 2, LAST_PIECE = 5, AGAIN = 13 };
    const double golden = 0.6180339887498949, at = golden * (double)n;
    const int kind = (int)(n % AGAIN);
    if (kind < FIRST_PIECE) return kind ? terms - 1 : 0;
    if (kind <= LAST_PIECE && terms >> kind) return terms - (1 << kind) + 1;
    return (int64_t)((at - floor(at)) * (double)terms);
}

/* The winner of a row is row % different units before the end, and row % LEVELS levels beyond it.
 */
typedef struct winners {
    double end, unit; /* unit: below 0 of the largest, above 0 of the smallest */
    int64_t different;
    double level; /* else 0: rows themselves lie apart, or need not */
} winners;

/* Whole numbers that winners alone have: of a few hundred bytes two or three would be the most, and
 * all but the first of them could be left out. Where there are few different ones, or so many that
 * this does not happen, rows have no winner. */
static winners among_wholes(const data_rows *r, bool is_high, at_draw *draw) {
    enum { MOST_SPARED = 7, SHARE = 4, MOST_RANGE = 1 << 16 };
    if (!data_rows_may_change(r)) return (winners){0};
    const at_wholes w = data_rows_wholes(r);
    const int64_t range = (w.most - w.least) / w.step,
                  spared = range / SHARE < MOST_SPARED ? range / SHARE : MOST_SPARED;
    if (range > MOST_RANGE || !spared) return (winners){0};
    at_fill *f = &draw->fill[r->tensor];
    *(is_high ? &f->spared_most : &f->spared_least) = (int)spared;
    return (winners){data_rows_end(r, is_high, 0), (double)(is_high ? -w.step : w.step), spared, 0};
}

static winners among(const data_rows *r, bool is_high, double above, at_draw *draw) {
    if (data_rows_are_whole(r)) return among_wholes(r, is_high, draw);
    const at_fill *f = &draw->fill[r->tensor];
    const double level = above > 0 && !f->row ? above : 0;
    return (winners){data_rows_end(r, is_high, above), is_high ? -f->unit : f->unit,
                     1 + (int64_t)fmin(MOST_LESS, (f->hi - f->lo) / 4), is_high ? level : -level};
}

static bool is_max(const data_rows *r) {
    return r->ruler->c->tensors[r->stage].reduction == AT_REDUCE_MAX;
}

static void put(const data_rows *r, const winners *w, int64_t row, int64_t place, at_draw *draw) {
    const int64_t at = data_rows_at(r, row, place);
    if (at < 0) return;
    const double away = data_away(&draw->fill[r->tensor], at);
    *at_push(r->ruler->arena, &draw->extremes) =
        (at_placed){.tensor = r->tensor,
                    .offset = at,
                    .value = (float)(w->end + w->unit * (double)(row % w->different) +
                                     w->level * (double)(row % LEVELS) + away)};
}

/* Rows from one with a winner to the next: each element that several rows read stands for one of
 * them. *free: the rows from it on of which any may have the winner. */
static int64_t step_between(const data_rows *r, double above, int64_t *free) {
    const double elements = (double)data_elements_of(r->ruler, r->tensor),
                 sharing = (double)r->num * (double)r->terms / elements;
    const int64_t step = r->num >= FEW_ROWS && !(above > 0) && !data_rows_are_whole(r) ? 2 : 1;
    *free = sharing > 1 ? 1 : step;
    return sharing > (double)step ? (int64_t)ceil(sharing) : step;
}

/* The first or the second of two rows in a sequence without a period (A. Thue, 1906): a tile that
 * takes rows by eight has winners, and rows as they were drawn, in each of its places. */
static int64_t row_of_two(int64_t n) {
    int64_t ones = 0;
    for (; n; n &= n - 1) ones++;
    return ones % 2;
}

/* Where the same element is the best of its row as the largest or as the smallest, as others say,
 * two places have one of each. */
static int64_t plant(const data_rows *r, double above, int number, at_draw *draw) {
    const double far = above > 0 || number ? above : data_rows_beyond(r);
    const winners w = among(r, r->winner != DATA_LOW, far, draw),
                  other = r->winner == DATA_EITHER ? among(r, false, far, draw) : (winners){0};
    int64_t free;
    const int64_t step = step_between(r, above, &free),
                  first = number * ((r->num + step - 1) / step);
    if (!w.different) return r->num;
    for (int64_t from = 0, n = first; from < r->num && n < first + MOST_ROWS; from += step, n++) {
        const int64_t other_row = from + row_of_two(from / step) % free,
                      row = other_row < r->num ? other_row : from;
        if (other.different) put(r, &other, row, data_place_of(n + 1 + is_max(r), r->terms), draw);
        put(r, &w, row, data_place_of(n + !is_max(r), r->terms), draw);
        /* Of two neighbours in four, so that both lengths have some that alternate. */
        const int64_t others = number && n / 2 % 2 == 0 ? 1 + n / 4 % 2 : 0;
        for (int64_t k = 0; k < others; k++)
            put(r, &w, row, data_place_of(1 + (n / 4 + k) % PIECES, r->terms), draw);
    }
    return r->num;
}

int64_t data_plant_extremes(const data_ruler *ruler, double above, int number, at_draw *draw) {
    int64_t least = 0;
    for (int s = 0; s < ruler->c->num_tensors; s++) {
        data_rows r;
        if (!data_rows_find(&r, ruler, s, draw) || (above > 0 && data_rows_are_whole(&r))) continue;
        const int64_t num = plant(&r, above, number, draw);
        if (!least || num < least) least = num;
    }
    return least;
}

void data_plant_small(const data_ruler *ruler, at_draw *draw) {
    enum { STEPS = 4, NEAREST = 8, LEAST_TERMS = 4 * STEPS };
    for (int s = 0; s < ruler->c->num_tensors; s++) {
        data_rows r;
        if (!data_rows_find(&r, ruler, s, draw) || r.terms < LEAST_TERMS ||
            r.winner == DATA_EITHER || data_rows_are_whole(&r))
            continue;
        const at_fill *f = &draw->fill[r.tensor];
        const bool is_high = r.winner == DATA_HIGH;
        for (int64_t n = 0; n < STEPS * r.num && n < MOST_ROWS; n++) {
            const double away = ldexp(NEAREST, (int)(n % STEPS)),
                         value = is_high ? f->unit * f->lo - away : f->unit * f->hi + away;
            put(&r, &(winners){.end = value, .different = 1}, n / STEPS,
                data_place_of(n + 2, r.terms), draw);
        }
    }
}
