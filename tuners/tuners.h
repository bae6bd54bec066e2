/* tuners/tuners.h: who proposes the next configurations. A tuner sees a space, results, and
 * features through a callback; never a clock, a log or a kernel. Same seed and same results: same
 * proposals, however they are batched. docs/notes/tuners.md */
#ifndef AT_TUNERS_H
#define AT_TUNERS_H

#include "base/base.h"
#include "knobs/knobs.h"

typedef struct at_tuner at_tuner;

/* What a model learns from. of() writes at most max numbers about a valid index and returns how
 * many there are, or -1 where they cannot be worked out. of NULL: the flat features of the knobs.
 */
typedef struct at_features {
    int (*of)(void *ctx, int64_t index, float *out, int max);
    void *ctx;
} at_features;
/* Of the values of a point's knobs alone (value_features.c); borrows the space. */
at_features at_value_features(at_space *space);

/* What points are expected to take before any is tried: of() sets ns[i] of indices[i], INFINITY
 * where it knows nothing. Cheap, a few microseconds each. of NULL: nothing is known. */
typedef struct at_costs {
    void (*of)(void *ctx, const int64_t *indices, int n, double *ns);
    void *ctx;
} at_costs;

/* Trials of other tasks; those of one task stand together. Borrowed until at_tuner_new returns. */
typedef struct at_history {
    int count;
    const float *const *rows; /* features */
    const int *lengths;
    const double *scores;   /* as at_trial.score */
    const int *tasks;       /* a number per task */
    const double *costs_ns; /* of each: what it was expected to take. NULL: they are not known */
} at_history;

/* An option that a tuner declares: a whole number from min to max, or one of some words. Help, man
 * page, completions and the command line are made of these rows. */
typedef struct at_tuner_option {
    const char *name;     /* "population"; no two tuners have one of the same name */
    const char *argument; /* "N": what stands for the value in help */
    const char *help;
    int64_t min, max;
    const char *const *words; /* NULL-terminated, the value is the place in them; NULL: a number */
    int64_t initial, autotvm; /* our default, AutoTVM's */
} at_tuner_option;

typedef struct at_tuner_setting {
    const at_tuner_option *option;
    int64_t value;
} at_tuner_setting;
#define AT_TUNER_MAX_SETTINGS 32

/* One trial's result as the tuner sees it; failures have valid = false, score = 0. */
typedef struct at_trial {
    int64_t index;
    bool valid;
    double score;  /* GFLOP/s, higher is better */
    bool is_bound; /* it was not timed: its speed is at most that */
} at_trial;

/* A way to search that the caller has: next writes at most n indices and returns how many (0 with
 * all results in: it has no more), update, which may be NULL, hears of results. */
typedef struct at_tuner_caller {
    int (*next)(void *ctx, int64_t *indices, int n);
    void (*update)(void *ctx, const at_trial *trials, int n);
    void *ctx;
} at_tuner_caller;

/* Zero stands for the default of a member. */
typedef struct at_tuner_options {
    uint64_t seed;
    int64_t begin, end; /* index range [begin, end); both 0: the whole space */
    bool autotvm;       /* AutoTVM's defaults instead of ours */
    /* Proposals never wait for results: rounds are decided on with those that are there. */
    bool asynchronous;
    at_tuner_setting settings[AT_TUNER_MAX_SETTINGS]; /* of any tuner's options; at_tuner_set */
    int num_settings;
    at_features features;
    at_costs costs;
    bool is_rough; /* xgb with costs: about the cheapest is enough, in a quarter of the time */
    const int64_t *start;      /* xgb with costs: a point of its first plan. NULL: none. Copied */
    bool start_leads;          /* it is the first trial, else the last of that plan */
    const at_history *history; /* xgb; NULL: none */
    at_features common; /* such as mean the same in every task: the rows of a history with costs */
    const at_tuner_caller *caller; /* instead of the tuner that is named; copied. NULL: none */
} at_tuner_options;

/* A row of the registry (registry.c). */
typedef struct at_tuner_class {
    const char *name, *help;
    const at_tuner_option *options;
    int num_options;
    int rank; /* the highest of a build is its default; 0: only where asked for */
    bool learns_features;
    bool (*goes_by_costs)(const at_tuner_options *o); /* with these options; NULL: never */
    void *(*create)(at_space *space, const at_tuner_options *o);
    void (*begin)(void *self); /* may be NULL */
    /* Up to n new valid indices, never one twice. Fewer: what follows waits for results (never
     * where asynchronous); 0 with all results in: exhausted. */
    int (*next)(void *self, int64_t *indices, int n);
    void (*update)(void *self, const at_trial *trials, int n); /* may be NULL */
    const char *(*part)(void *self, int64_t index);            /* NULL: it has no parts */
    void (*destroy)(void *self);
} at_tuner_class;

int at_tuner_count(void);
const at_tuner_class *at_tuner_row(int i);
const char *at_tuner_default(void); /* the best there is in this build */
/* AT_E_USAGE: "unknown tuner "x"; there are grid, random, ga, xgb", or what xgb lacks in a build
 * without it. */
at_status at_tuner_find(const char *name, const at_tuner_class **out, at_error *err);
/* The tuner that a text names, with its options: "ga", "ga:population=32". Adds them to o.
 * AT_E_USAGE: as at_tuner_find; an option it has not, named with those it has; as at_tuner_set. */
at_status at_tuner_parse(const char *text, at_tuner_options *o, const at_tuner_class **out,
                         at_error *err);
/* Adds a value, written as text. AT_E_USAGE: no number within its range, or none of its words; what
 * names it in the message. */
at_status at_tuner_set(at_tuner_options *o, const at_tuner_option *option, const char *what,
                       const char *text, at_error *err);
/* The value last set, else its default. */
int64_t at_tuner_value(const at_tuner_options *o, const at_tuner_option *option);
/* Borrows the space, and what features needs, until at_tuner_free. AT_E_USAGE: as at_tuner_find, or
 * a range that is not within the space. */
at_status at_tuner_new(const char *name, at_space *space, const at_tuner_options *o, at_tuner **out,
                       at_error *err);
const char *at_tuner_name(const at_tuner *t);
/* Works out ahead what the first proposals take and no result decides, if anything. */
void at_tuner_begin(at_tuner *t);
int at_tuner_next(at_tuner *t, int64_t *indices, int n);
/* In any order; of an index that was not proposed nothing is learned. */
void at_tuner_update(at_tuner *t, const at_trial *trials, int n);
/* Which part of the tuner proposed an index: "random", "model", ...; "": it has no parts, or
 * proposed no such index. */
const char *at_tuner_part(const at_tuner *t, int64_t index);
void at_tuner_free(at_tuner *t);

#endif
