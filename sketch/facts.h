/* sketch/facts.h: what rules want to know of a computation, worked out once with the numbers of the
 * task: what is dissolved, who reads whom, how far each access moves with each axis, operations. */
#ifndef AT_SKETCH_FACTS_H
#define AT_SKETCH_FACTS_H

#include "schedule/schedule.h"

enum { AT_FACTS_MAX_AXES = 32 };
#define AT_FACTS_ANYWHERE INT64_MAX

/* A read of memory by a stage, through what is dissolved between. */
typedef struct at_access {
    int tensor,
        from;        /* from: what the stage itself reads of it: the tensor, or what is dissolved */
    bool known;      /* the index is made of axes and sizes alone */
    bool is_bare;    /* each dimension by an axis of its own, such as K - 1 - k */
    bool is_guarded; /* through a choice, such as padding */
    /* [axis of the stage] that choice, or a bound of the index, cuts off some steps */
    bool is_cut[AT_FACTS_MAX_AXES];
    /* [axis of the stage] and not the same ones throughout a sum, such as the last column at the
     * right of a window only. */
    bool is_cut_unevenly[AT_FACTS_MAX_AXES];
    /* [axis of the stage] elements that one step moves; AT_FACTS_ANYWHERE where data or knobs
     * decide that. */
    int64_t stride[AT_FACTS_MAX_AXES];
    /* [axis of the stage] as bits: an entry of an index tensor decides it, and the next one at the
     * next step: lanes may gather. */
    uint32_t by_entry;
    int64_t origin; /* the element at step 0 of all axes, as far as strides tell */
} at_access;

typedef struct at_stage_facts {
    bool is_stage, is_dissolved;
    bool is_operand;         /* dissolved: it is read, and packed, as a tensor is */
    bool is_written;         /* its leaf stands where somebody wrote it */
    bool is_kept;            /* not dissolved, whatever it costs */
    bool is_expensive;       /* calls a function */
    int num_readers, reader; /* stages that read it, through what is dissolved; the last of them */
    /* Its only reader reads it once, element by element, and may be placed beside it; of which axis
     * of the reader is each of this one's: itself. */
    bool has_matched_reader;
    bool is_read_in_place; /* by its only reader, element by element, as often as that likes */
    const int64_t *extent; /* [axes] */
    /* [axes] an index divides the axis by `divisor`: groups of `inner` steps, within which accesses
     * move evenly. Else the whole extent and NULL. */
    int64_t *inner;
    const at_expr **divisor;
    /* [axes] the other way round: what is read goes on every `divisor` steps only, as in a
     * transposed convolution, or lanes go along the groups, which are shorter than a register;
     * inner is the number of these steps or groups. */
    bool *is_phase;
    uint32_t steps; /* axes that go step by step in loops around all of its cycle, as bits */
    /* Of a cycle's: axes along which it reads itself within a step, or leads away there, as bits.
     */
    uint32_t inner_steps;
    at_access *access;
    int num_accesses;
    double operations; /* of all its elements */
} at_stage_facts;

typedef struct at_facts {
    const at_compute *compute;
    const int64_t *values;
    const bool *varies;
    int64_t **extents;
    at_stage_facts *of;    /* [tensor] */
    const bool *dissolved; /* [tensor] stages that are */
} at_facts;

/* What is known besides the text. */
typedef struct at_facts_given {
    const int64_t *values; /* [sizes] */
    const bool *varies;    /* [sizes] that knobs decide: nothing follows from their values */
    const bool *written;   /* [tensors] stages with a leaf; NULL, either: none */
    const bool *kept;      /* [tensors] stages that are not dissolved; NULL: none */
    const bool *operands;  /* [tensors] stages that are; NULL: none */
} at_facts_given;
/* Owned by a; borrows the rest. AT_E_INPUT: numbers that do not go together. */
at_status at_facts_of(at_arena *a, const at_compute *c, const at_facts_given *given, at_facts *out,
                      at_error *err);
double at_facts_elements(const at_facts *f, int tensor); /* how many a tensor has */
/* The axis of a stage at which it reads an axis of a tensor, where both are as long; -1: none is.
 */
int at_facts_axis_of(at_arena *a, const at_facts *f, int stage, int tensor, int axis);
/* Is it a stage that has a leaf in the tree? */
static inline bool at_facts_has_leaf(const at_facts *f, int tensor) {
    return f->of[tensor].is_stage && !f->of[tensor].is_dissolved;
}
/* Is it a call of a function that takes many operations? (an at_expr_test) */
bool at_facts_calls(const at_expr *e, const void *unused);
/* Whether a stage reads a tensor's memory. */
bool at_facts_reads(const at_facts *f, int stage, int tensor);

#endif
