/* tuners/tuners.h: who proposes the next configurations. A tuner sees a space, results, and
 * features through a callback; never a clock, a log or a kernel. Same seed and same results: same
 * proposals, however they are batched. docs/tuners.md */
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

typedef enum at_loss { AT_LOSS_RANK, AT_LOSS_REG, AT_LOSS_COUNT } at_loss;
const char *at_loss_name(at_loss l); /* "rank", "reg" */

/* Trials of other tasks; those of one task stand together. Borrowed until at_tuner_new returns. */
typedef struct at_history {
    int count;
    const float *const *rows; /* features */
    const int *lengths;
    const double *scores; /* as at_trial.score */
    const int *tasks;     /* a number per task */
} at_history;

/* Zero stands for the default of a member. */
typedef struct at_tuner_options {
    uint64_t seed;
    int64_t begin, end; /* index range [begin, end); both 0: the whole space */
    bool autotvm;       /* AutoTVM's defaults instead of ours */
    int64_t population; /* ga */
    int64_t plan_size;  /* xgb: proposals between two fits */
    int64_t diversity;  /* xgb: plans are chosen from so many times their size; 1: the best */
    at_loss loss;
    at_features features;
    const at_history *history; /* xgb; NULL: none */
} at_tuner_options;

/* One trial's result as the tuner sees it; failures have valid = false, score = 0. */
typedef struct at_trial {
    int64_t index;
    bool valid;
    double score; /* GFLOP/s, higher is better */
} at_trial;

/* A row of the registry (registry.c). */
typedef struct at_tuner_class {
    const char *name, *help;
    bool learns_features;
    void *(*create)(at_space *space, const at_tuner_options *o);
    /* Up to n new valid indices, never one twice. Fewer: what follows waits for results; 0 with all
     * results in: exhausted. */
    int (*next)(void *self, int64_t *indices, int n);
    void (*update)(void *self, const at_trial *trials, int n); /* may be NULL */
    void (*destroy)(void *self);
} at_tuner_class;

int at_tuner_count(void);
const at_tuner_class *at_tuner_row(int i);
const char *at_tuner_default(void); /* the best there is in this build */
/* AT_E_USAGE: "unknown tuner "x"; there are grid, random, ga, xgb", or what xgb lacks in a build
 * without it. */
at_status at_tuner_find(const char *name, const at_tuner_class **out, at_error *err);
/* Borrows the space, and what features needs, until at_tuner_free. AT_E_USAGE: as at_tuner_find, or
 * a range that is not within the space. */
at_status at_tuner_new(const char *name, at_space *space, const at_tuner_options *o, at_tuner **out,
                       at_error *err);
const char *at_tuner_name(const at_tuner *t);
int at_tuner_next(at_tuner *t, int64_t *indices, int n);
/* In any order; of an index that was not proposed nothing is learned. */
void at_tuner_update(at_tuner *t, const at_trial *trials, int n);
void at_tuner_free(at_tuner *t);

#endif
