/* base/numbers.h: random numbers, statistics, states of a machine, decisions, hashes. */
#ifndef AT_BASE_NUMBERS_H
#define AT_BASE_NUMBERS_H

#include "base/error.h"

/* ---- PCG32, XSH-RR 64/32 (rng.c). Source: M. E. O'Neill, pcg-random.org, seed 42 stream 54 --- */

typedef struct at_rng {
    uint64_t state, inc;
} at_rng;
void at_rng_seed(at_rng *r, uint64_t seed, uint64_t stream);
uint32_t at_rng_u32(at_rng *r);
uint64_t at_rng_below(at_rng *r, uint64_t n); /* uniform in [0, n), unbiased; n >= 1 */
double at_rng_unit(at_rng *r);                /* uniform in [0, 1) */

/* ---- statistics (median.c) ------------------------------------------------------------------- */

int at_compare_ints(const void *x, const void *y); /* of int64_t, for qsort: ascending */
void at_sort_doubles(double *x, int n);            /* ascending; no NaN */
double *at_sorted_copy(const double *x, int n);    /* the caller frees it */
/* Of ascending values, n >= 1: the middle one, or half way between the two in the middle; and the
 * one at a share of the way, linear in between. */
double at_sorted_median(const double *sorted, int n);
double at_sorted_quantile(const double *sorted, int n, double share);
/* The mean of the middle half of ascending values; of fewer than eight the median. Where they are
 * spread normally it varies by an eighth less than the median does, and no quarter of them that
 * lies far away moves it far. */
double at_sorted_middle(const double *sorted, int n);
/* low to high: the interval of at least 95 % confidence that order statistics give, whatever the
 * distribution; of fewer than six values the smallest and the largest. */
typedef struct at_interval {
    double median, low, high;
} at_interval;
at_interval at_median(const double *values, int n); /* n from 1 to 64 */

/* ---- states of a machine --------------------------------------------------------------------- */

/* What the core shared while a kernel ran: nothing; something; one at the beginning and the other
 * at the end; or it has never been seen alone. */
typedef enum at_state {
    AT_STATE_UNKNOWN,
    AT_STATE_ALONE,
    AT_STATE_COMPANY,
    AT_STATE_MIXED,
    AT_STATE_COUNT
} at_state;
/* Does what was seen in state s count where `wanted` is? ALONE, COMPANY: that state only; else all
 * but MIXED. */
static inline bool at_state_counts(at_state wanted, at_state s) {
    bool one = wanted == AT_STATE_ALONE || wanted == AT_STATE_COMPANY;
    return one ? s == wanted : s != AT_STATE_MIXED;
}

/* ---- decisions that may be looked at at any time (betting.c) ----------------------------------
 *
 * How sure is it that the median of what comes is not 0, where each value may depend on those
 * before: natural logarithms. A fair game passes log(1 / level) ever with a probability of at most
 * level. */
double at_sign_bet(int64_t above, int64_t below,
                   double prior);                      /* bets weighted by beta(prior, prior) */
double at_sign_evidence(int64_t above, int64_t below); /* the mean of two such */
/* Holds the median with a probability of at least 1 - level at all times together, whatever the
 * distribution; without ends where the values are too few to tell. */
at_interval at_median_always(const double *values, int n, double level);
/* Kernels that differ by less are called equal: two copies of one do, by where their code lies. */
#define AT_TIE 0.003

/* ---- hash (hash.c): 128 bits, not cryptographic; for identity of code and contexts ----------- */

typedef struct at_hash {
    uint64_t lo, hi;
} at_hash;
void at_hash_init(at_hash *h);
void at_hash_add(at_hash *h, const void *p, size_t n);
void at_hash_add_str(at_hash *h, const char *s); /* with its length, so parts cannot run together */
void at_hash_add_number(at_hash *h, uint64_t x); /* ten times as fast as its eight bytes */
void at_hash_hex(const at_hash *h, char out[33]);

#endif
