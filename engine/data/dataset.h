/* engine/data/dataset.h: what kernels of one task are run on: inputs, outputs, and the outputs as
 * they should be, in the store that worker processes share. */
#ifndef AT_ENGINE_DATASET_H
#define AT_ENGINE_DATASET_H

#include "base/base.h"
#include "runtime/runtime.h"
#include "schedule/data/data.h"
#include "templates/pattern.h"
#include "templates/task.h"

typedef struct at_dataset {
    const at_compute *compute;
    const int64_t *values;
    at_store *store;
    bool shares_store;   /* it is another dataset's */
    int64_t **extents;   /* as the tensors now lie in the store */
    int64_t *size_bytes; /* [tensor]: of inputs and outputs */
    int64_t *offset;     /* [tensor] in the store; -1: a stage between, not kept */
    int64_t *expected;   /* [tensor] the same, of outputs; -1 for the others */
    bool has_specials;   /* what is not a number is among the inputs */
    bool is_exact;       /* any order of summation gives the same bits, compared exactly; else
                          * behind the expected values lie their limits (at_job) */
    bool is_whole;       /* inputs are integers, though no bound says that all sums are exact */
    int sign;            /* and what theirs is; 0: both */
    int times_whole;     /* and so many times as large as others are; 0: 1 */
    bool is_bare;        /* no element has a value of its own: at_draw.extremes */
    at_data_rule rule;   /* what other inputs that have no values of their own are drawn from, */
    int draw;            /* and which of its draws these inputs are */
    int round;           /* whose placed elements they have; 0: the first round */
    double scale;        /* of those that are no integers, see at_dataset_shrink */
    const int *const *layouts; /* [tensor] see at_task_layout; NULL: its shape never changes */
    void **plain;              /* [tensor] plain tensor of one with a layout, once needed */
    void **plain_expected, **plain_limits;
    int64_t version;           /* changes with what the tensors hold */
    const at_pattern *pattern; /* of the sparse weight bsr; NULL: there is none */
    at_bsr bsr;
    const float *
        *given; /* [tensor] values of an input, row by row of the plain tensor; NULL: not */
    const int32_t **indices; /* [tensor] entries of the user's; NULL: not */
    at_index_range *entries; /* [tensor] of index tensors, where there is no pattern */
    double
        *bound; /* [tensor] the largest |value| of given ones, and of entries from 0 on; else -1 */
    bool real;  /* some of those are no integers */
    const volatile int *stop; /* may be NULL; once it is set, filling ends early, */
    int64_t deadline_ns;      /* and so it does then; 0: never */
} at_dataset;

/* Makes room for inputs and outputs. values (by symbol slot) and layouts are borrowed as long as
 * the dataset lives. shared: a store that outlives it; NULL: its own. AT_E_USAGE where it cannot
 * fit this machine. Ended by at_dataset_free. */
at_status at_dataset_new(at_arena *a, const at_compute *c, const int64_t *values,
                         const int *const *layouts, at_store *shared, at_dataset *out,
                         at_error *err);
void at_dataset_free(at_dataset *d);
/* Of inputs, outputs and expected outputs, in the store. */
int64_t at_dataset_bytes(const at_dataset *d);
static inline int64_t at_dataset_elements(const at_dataset *d, int tensor) { /* kept in the store */
    return d->size_bytes[tensor] / at_type_bytes(d->compute->tensors[tensor].type);
}
/* Of an output, as a number. */
double at_dataset_expected(const at_dataset *d, int tensor, int64_t i);
/* The root of the mean square of an output's expected floats that are finite; 0 of nothing. */
double at_dataset_size(const at_dataset *d, int tensor);
/* Limits of an output's expected values, which lie behind them where data are not exact. */
float *at_dataset_limits(const at_dataset *d, int tensor);
/* Is being equal to the expected values of an output proof of little, since three quarters are
 * zeros, or a sixty-fourth is not finite or has no limit? *share: of both. */
bool at_dataset_is_idle(const at_dataset *d, double *share);
/* The value that most of an output's expected ones are, by a look at some thousands of them; tensor
 * -1: no output has two. */
typedef struct at_same {
    int tensor;
    double value, share;
} at_same;
at_same at_dataset_same(const at_dataset *d);
enum { AT_MOST_SHRINKS = 5, AT_SHRINK = 4 }; /* how often, and by how much, for that reason */
/* From the next fill on inputs that are no integers are so many times smaller; false: there are
 * none, or they stand beside integers, whose type says how large they are. */
bool at_dataset_shrink(at_dataset *d, double times);
/* An input that has values of its own; they are borrowed. */
void at_dataset_give(at_dataset *d, int tensor, const float *values);
/* The same of an index tensor. */
void at_dataset_give_indices(at_dataset *d, int tensor, const int32_t *entries);
/* Room for the outputs as they should be; is_exact and rule (owned by a) are known from here on, so
 * all values of inputs' own must have been given. AT_E_USAGE as above. */
at_status at_dataset_expect(at_arena *a, at_dataset *d, at_error *err);
/* Has an expression that operation, the indices of its reads aside? */
bool at_dataset_calculates(const at_expr *e, at_op op);
/* Integers (dataset_types.c): a tensor's, of its type; one element; and numbers that the draw
 * leaves to placed elements become others. */
void at_dataset_fill_whole(const at_dataset *d, int t, at_rng *rng);
void at_dataset_put_whole(at_type type, void *to, int64_t i, int64_t v);
void at_dataset_spare_ends(const at_dataset *d, int t);
/* Puts values of the user's into the store, in the layout that the tensor has now. */
void at_dataset_lay_given(at_dataset *d, int tensor);
/* The same data once more, in the same store, to be brought into a shape of its own. AT_E_USAGE as
 * above. */
at_status at_dataset_twin(at_arena *a, const at_dataset *d, at_dataset *out, at_error *err);
/* The others get seeded values, as the rule's draw has them. false: deadline_ns came first. */
bool at_dataset_fill(at_dataset *d, uint64_t seed);
/* The same with standard-normal numbers, of data that is not exact. */
bool at_dataset_fill_normal(at_dataset *d, uint64_t seed);
/* Puts what is not a number, both infinities and -0 among the inputs, an element each, where the
 * reference and every kernel make the same of them. */
void at_dataset_add_specials(at_dataset *d, uint64_t seed);
/* Of an output's expected values, with their limits. */
int64_t at_dataset_expected_bytes(const at_dataset *d, int tensor);
/* Is this tensor in the store? */
bool at_dataset_keeps(const at_tensor *t);

/* Of each row of inputs' last axis, channels, one element stays, drawn from the seed: then outputs
 * are sums of few terms, whose limits are narrow. Of computations by
 * transforms (at_compute_is_transform) that have limits; others stay as they are. */
void at_dataset_keep_one_channel(at_dataset *d, uint64_t seed);

/* The tensor that can not be had in the shape that a program wants; NULL: all can. */
const char *at_dataset_misfit(const at_dataset *d, int64_t *const *extents);
/* Brings all tensors into that shape: the same plain tensors, laid out otherwise. */
at_status at_dataset_shape(at_dataset *d, int64_t *const *extents, at_error *err);

#endif
