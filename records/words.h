/* records/words.h: states that records spell as words: what they are, and the words (words.c). */
#ifndef AT_RECORDS_WORDS_H
#define AT_RECORDS_WORDS_H

#include "base/base.h"

typedef enum at_packing { AT_PACKING_AHEAD, AT_PACKING_INLINE, AT_PACKING_COUNT } at_packing;
typedef enum at_cache {
    AT_CACHE_HOT,
    AT_CACHE_COLD,
    AT_CACHE_WEIGHTS_COLD,
    AT_CACHE_COUNT
} at_cache;
const char *at_packing_name(at_packing p); /* "ahead", "inline" */
bool at_packing_from_name(const char *name, at_packing *out);
const char *at_cache_name(at_cache c); /* "hot", "cold", "weights-cold" */
bool at_cache_from_name(const char *name, at_cache *out);

/* What is known of a trial's output. */
typedef enum at_check {
    AT_CHECK_NONE,      /* not said */
    AT_CHECK_UNCHECKED, /* it came to none */
    AT_CHECK_FAILED,
    AT_CHECK_EXACT,     /* equal to the reference */
    AT_CHECK_TOLERANCE, /* within its tolerance */
    AT_CHECK_NOTHING,   /* nothing says what is right, as its kernel says */
    AT_CHECK_OTHER      /* a word of a later version */
} at_check;
/* How often it was timed. */
typedef enum at_samples {
    AT_SAMPLES_NONE,
    AT_SAMPLES_FULL,
    AT_SAMPLES_SINGLE, /* so slow that one sample does; versions before wrote it */
    /* so slow that the check run alone was timed: a bound, and no time */
    AT_SAMPLES_AT_LEAST,
    AT_SAMPLES_OTHER /* a word of a later version */
} at_samples;

/* Of at_state: base.h. */
const char *at_state_name(at_state s); /* "unknown", "alone", "company", "mixed" */
char at_state_letter(at_state s);      /* their first */
bool at_state_from_letter(char letter, at_state *out);

/* Which state counts where results are compared; typical: all but mixed, as they come. */
typedef enum at_objective {
    AT_OBJECTIVE_NONE, /* not said */
    AT_OBJECTIVE_ALONE,
    AT_OBJECTIVE_COMPANY,
    AT_OBJECTIVE_TYPICAL,
    AT_OBJECTIVE_COUNT
} at_objective;
const char *at_objective_name(at_objective o); /* "", "alone", "company", "typical" */
bool at_objective_from_name(const char *name, at_objective *out);
at_state at_objective_state(at_objective o); /* the one that counts; UNKNOWN: no single one does */
bool at_objective_counts(at_objective o, at_state s);
/* The median of the values whose state counts; of all where none does, or states are not known (""
 * or NULL). *counting: how many do; may be NULL. */
double at_median_that_counts(const double *values, const char *states, int n, at_objective o,
                             int *counting);

/* What became of a trial: AutoTVM's numbers (words.c). */
typedef enum at_err_no {
    AT_ERR_NONE = 0,
    AT_ERR_INSTANTIATION = 1, /* the tree violates a rule */
    AT_ERR_COMPILE_HOST = 2,
    AT_ERR_COMPILE_DEVICE = 3,
    AT_ERR_RUNTIME = 4, /* crash, out of bounds, out of memory */
    AT_ERR_WRONG_ANSWER = 5,
    AT_ERR_BUILD_TIMEOUT = 6,
    AT_ERR_RUN_TIMEOUT = 7,
    AT_ERR_UNKNOWN = 8
} at_err_no;
/* A short word for the progress line: ok, invalid, compile, crash, wrong, compile-timeout, timeout,
 * unknown. */
const char *at_err_no_name(int error_no);

#endif
