/* tuners/neighbours.c: coordinate descent's candidates: the points one knob away from the best. */
#include "tuners/model.h"

#include <stdlib.h>

/* Values of a knob to either side; of one whose neighbours have to be found by a search. */
enum { WIDEST = 64, WIDEST_MENDED = 4 };

void at_add_neighbours_by(const at_book *b, int64_t *digits, int knob, at_numbering *out) {
    const at_space *s = b->space;
    const int64_t own = digits[knob], length = at_space_knob_len(s, knob);
    const int64_t widest = at_space_mends(s) ? WIDEST_MENDED : WIDEST;
    const int64_t last = own + widest < length ? own + widest : length - 1;
    for (digits[knob] = own > widest ? own - widest : 0; digits[knob] <= last; digits[knob]++) {
        int64_t other = at_space_mend_but(s, at_space_index(s, digits), knob);
        if (at_number_of(out, other) < 0 && at_book_allows(b, other)) at_number_add(out, other);
    }
    digits[knob] = own;
}

void at_add_neighbours(const at_book *b, const int64_t *indices, int n, at_numbering *out) {
    int64_t *digits = malloc(sizeof *digits * (size_t)(at_space_num_knobs(b->space) + 1));
    AT_NEED(digits);
    for (int i = 0; i < n; i++) {
        at_space_digits(b->space, indices[i], digits);
        for (int k = 0; k < at_space_num_knobs(b->space); k++)
            at_add_neighbours_by(b, digits, k, out);
    }
    free(digits);
}

void at_add_near_best(const at_book *b, const double *worth, int few, at_numbering *out) {
    at_best best;
    at_best_init(&best, few);
    for (int i = 0; i < b->entered.len; i++)
        if (at_book_is_timed(b, i)) at_best_offer(&best, b->entered.indices[i], worth[i]);
    at_add_neighbours(b, best.indices, best.len, out);
    at_best_free(&best);
}
