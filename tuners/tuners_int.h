/* tuners/tuners_int.h: what the tuners share: their rows, the index range, an order of picking. */
#ifndef AT_TUNERS_INT_H
#define AT_TUNERS_INT_H

#include "tuners/tuners.h"

extern const at_tuner_class at_grid_tuner, at_random_tuner;

/* The options' range with its defaults put in. */
void at_tuner_range(const at_space *space, const at_tuner_options *o, int64_t *begin, int64_t *end);

/* ---- shuffle.c ------------------------------------------------------------------------------ */

/* The numbers 0 .. n-1 in random order, in memory that grows with what was taken. */
typedef struct at_shuffle {
    int64_t remaining;
    struct at_moved *moved; /* [cap], open addressing */
    int64_t cap, used;
} at_shuffle;
void at_shuffle_init(at_shuffle *s, int64_t n);
/* Takes the number at place `draw`, uniform in [0, remaining). remaining >= 1. */
int64_t at_shuffle_take(at_shuffle *s, int64_t draw);
void at_shuffle_free(at_shuffle *s);

#endif
