/* tests/tuners/searches.h: spaces, scores, and searches of them, for tests of tuners that learn. */
#ifndef SEARCHES_H
#define SEARCHES_H

#include "tuners/tuners.h"

enum { MOST_TRIALS = 5000 }; /* of a search here */

/* Options of these many values each, "a", "b", ..., under a joint condition, or none (NULL). */
at_space *options_space(at_arena *a, const int *lengths, int num, const char *filter);
/* A smooth peak with a ripple; every seventh point fails. */
at_trial trial_of(const at_space *s, int64_t index);
/* Returns owned. */
at_tuner *new_tuner(const char *name, at_space *s, at_tuner_options o);
/* The program was built without it. */
bool absent(const char *name);

/* How results come back. */
typedef enum order { IN_ORDER, REVERSED, LATE } order;
/* Runs a search of at most `most` trials, whose indices go to out, and returns how many it made.
 * `batch` are asked for at a time; results come in the given order, LATE: one by one, asking again
 * in between. */
int run_search(const char *name, at_space *s, at_tuner_options o, int batch, order how, int most,
               int64_t *out);
/* Fails unless got[n] are the valid indices from begin to end, each once. */
void check_each_once(const at_space *s, int64_t begin, int64_t end, const int64_t *got, int n);

#endif
