/* tuners/tuners_int.h: what the tuners share: their rows, the index range, an order of picking, and
 * the book of proposals. */
#ifndef AT_TUNERS_INT_H
#define AT_TUNERS_INT_H

#include "tuners/tuners.h"

/* The options' range with its defaults put in. */
void at_tuner_range(const at_space *space, const at_tuner_options *o, int64_t *begin, int64_t *end);
/* How many places of the space it has; the first is that of begin. */
int64_t at_tuner_places(const at_space *space, int64_t begin, int64_t end);

/* Of options with a caller. */
extern const at_tuner_class at_caller_tuner;

/* Each tuner draws from a stream of its own. */
enum { AT_STREAM_RANDOM = 1, AT_STREAM_GA, AT_STREAM_XGB };

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

/* ---- book.c --------------------------------------------------------------------------------- */

/* Indices to numbers 0, 1, 2, .. in the order they are added. */
typedef struct at_numbering {
    int *slots;       /* number + 1; 0: free */
    int64_t *indices; /* [len] */
    int len, cap, size;
} at_numbering;
int at_number_of(const at_numbering *m, int64_t index); /* -1 if absent */
int at_number_add(at_numbering *m, int64_t index);      /* absent before */
void at_numbering_free(at_numbering *m);

/* Proposals in the order they are made, with their results. They are made in rounds: a round is
 * decided on when the results of all rounds before are in, so that nothing depends on how many are
 * asked for at a time, nor on the order in which results come. */
typedef struct at_book {
    at_space *space;
    int64_t begin, end;
    at_rng rng;
    at_shuffle order;     /* of random picks */
    at_numbering entered; /* proposal number of an index */
    double *score;        /* [entered.cap] */
    bool *known;
    bool *is_bound;    /* score is the most it can be */
    const char **part; /* what proposed it */
    int cap, given, num_known;
    bool asynchronous; /* a round is decided on with the results that are there */
    double best;       /* score; 0: no valid one yet */
} at_book;
void at_book_init(at_book *b, at_space *space, const at_tuner_options *o, uint64_t stream);
void at_book_free(at_book *b);
/* Valid, in range and not entered. */
bool at_book_allows(const at_book *b, int64_t index);
void at_book_enter(at_book *b, int64_t index, const char *part);
/* Has this proposal, by its number, a speed that was measured, and no bound alone? */
bool at_book_is_timed(const at_book *b, int number);
/* Enters up to n random indices. */
void at_book_enter_random(at_book *b, int n);
/* Adds at most so many points of these indices that the book allows, all that there are or some by
 * chance, in random order; false: there are more. */
bool at_book_sample(const at_book *b, int64_t begin, int64_t end, int most, at_rng *rng,
                    at_numbering *out);
/* round enters the next proposals, none if there are none. */
int at_book_next(at_book *b, void (*round)(void *self), void *self, int64_t *indices, int n);
const char *at_book_part(const at_book *b, int64_t index); /* "": not entered */
void at_book_update(at_book *b, const at_trial *trials, int n);

#endif
