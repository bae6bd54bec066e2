/* schedule/access.h: how a read moves: what its indices depend on and are worth, by how much each
 * axis moves them, and what a stage reads through stages that are computed where they are read.
 * What rules, estimates and features know of reads comes from here; the verifier has a form of its
 * own, since it checks the others. */
#ifndef AT_SCHEDULE_ACCESS_H
#define AT_SCHEDULE_ACCESS_H

#include "schedule/program.h"

enum { AT_ACCESS_AXES = 32 };

/* ---- indices --------------------------------------------------------------------------------- */

/* An index of a resolved expression at these values of the stage's axes; what an index tensor holds
 * counts as 0. */
int64_t at_program_index(const at_program *p, const at_expr *e, const int64_t *axis);
/* Which axes an index depends on, as bits; is it no sum of them times numbers? */
void at_index_look(const at_expr *e, uint32_t *axes, bool *divides);
/* Axes in comparisons of an expression with what index tensors hold, as bits, but for places that
 * these say: data decide along them which terms count. */
uint32_t at_axes_by_data(const at_compute *c, const at_expr *e);
/* By how much a step of the axis moves an index: -1, 0, 1, or: */
enum { AT_STEP_OTHER = 2 };
int at_index_step(const at_expr *e, int axis);
/* Slots of the sizes in it, each once; *num: -1 where they are more than `most`. */
void at_index_sizes(const at_expr *e, int most, int *sizes, int *num);
/* An index, or a read, as it is where no bound decides, min(max(h - 1, 0), H - 1) as h - 1: so it
 * is but for a few places. */
const at_expr *at_index_unbounded(at_arena *a, const at_expr *e);

/* ---- one read through others ----------------------------------------------------------------- */

/* The read that a stage is nothing but, of what stands above it, under a condition or not, without
 * bounds; NULL: it is more. */
const at_expr *at_stage_passed_on(at_arena *a, const at_compute *c, int stage);
/* Of reads: the leaf's own, then that of what it reads, .. */
enum { AT_MOST_CHAIN = 4 };
typedef struct at_chain {
    const at_expr *read[AT_MOST_CHAIN];
    int num;
} at_chain;
/* Where the last of the chain reads, in each of its first `dims` dimensions, at these values of the
 * leaf's axes; beyond its own: 0. */
void at_chain_index(const at_program *p, const at_chain *c, const int64_t *axis, int dims,
                    int64_t *out);
/* How far that is from an origin, in each dimension, and by these strides. */
int64_t at_chain_moved(const at_program *p, const at_chain *c, const int64_t *axis,
                       const int64_t *origin, const int64_t *stride, int dims, int64_t *by);

/* ---- all that a stage reads ------------------------------------------------------------------ */

/* How a read stands in choices such as padding's: in none; in one that takes it at this point; in
 * one that takes something else here. How an index stands to a bound: there is none; it is within;
 * the bound decides here. */
typedef enum at_guard { AT_NO_GUARD, AT_GUARDED, AT_CUT } at_guard;

/* A read of memory by a stage, through what is dissolved between, at one point of its axes. */
typedef struct at_reading {
    int tensor, from,
        depth;  /* from: read by the stage itself; depth: stages dissolved on the way */
    int64_t at; /* the element */
    bool known; /* made of axes and sizes alone that no knob decides */
    /* As bits of axes: along which data or knobs decide how far a step goes; along which it goes
     * from an entry of an index tensor to the next, and nothing else. */
    uint32_t by_data, by_entry;
    at_guard choice, bound;
    const at_expr *read;
} at_reading;
typedef struct at_readings {
    at_reading *data;
    int len, cap;
    bool is_whole; /* no more than can be looked at: dissolved stages may multiply */
} at_readings;

typedef struct at_read_facts {
    const at_compute *compute;
    const int64_t *values;
    const bool *varies; /* [sizes] those that knobs decide; NULL: none */
    int64_t *const *extents;
    const bool *dissolved; /* [tensor] stages that reads go through */
} at_read_facts;
/* The element that a stage reads at these values of its axes, one after the other as its body has
 * them. along: by_data and by_entry are wanted. */
at_readings at_readings_at(at_arena *a, const at_read_facts *f, int stage, const int64_t *axis,
                           bool along);
/* The value of an expression of sizes; false: a knob decides it, or it has none. */
bool at_size_value(const at_read_facts *f, const at_expr *e, int64_t *out);

#endif
