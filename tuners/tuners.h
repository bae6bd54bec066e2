/* tuners/tuners.h: who proposes the next configurations. A tuner sees a space, results and, later,
 * features through a callback; never a clock, a log or a kernel. Same seed and same results: same
 * proposals, however they are batched. */
#ifndef AT_TUNERS_H
#define AT_TUNERS_H

#include "base/base.h"
#include "knobs/knobs.h"

typedef struct at_tuner at_tuner;

typedef struct at_tuner_options {
    uint64_t seed;
    int64_t begin, end; /* index range [begin, end); both 0: the whole space */
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
    void *(*create)(at_space *space, const at_tuner_options *o);
    /* Up to n new valid indices, never one twice; 0: exhausted. */
    int (*next)(void *self, int64_t *indices, int n);
    void (*update)(void *self, const at_trial *trials, int n); /* may be NULL */
    void (*destroy)(void *self);
} at_tuner_class;

int at_tuner_count(void);
const at_tuner_class *at_tuner_row(int i);
/* Borrows the space until at_tuner_free. AT_E_USAGE: "unknown tuner "x"; there are grid, random",
 * or a range that is not within the space. */
at_status at_tuner_new(const char *name, at_space *space, const at_tuner_options *o, at_tuner **out,
                       at_error *err);
const char *at_tuner_name(const at_tuner *t);
int at_tuner_next(at_tuner *t, int64_t *indices, int n);
void at_tuner_update(at_tuner *t, const at_trial *trials, int n);
void at_tuner_free(at_tuner *t);

#endif
