/* cost/cost_int.h: facts of cores, by architecture; what a tile asks of a core, and how many
 * different bytes a part of the program touches: the two halves of a kernel's bound. */
#ifndef AT_COST_INT_H
#define AT_COST_INT_H

#include "cost/cost.h"

/* x86/cores.c, aarch64/cores.c */
enum { AT_X86_NUM_CORES = 11, AT_AARCH64_NUM_CORES = 5 };
extern const at_core at_x86_cores[AT_X86_NUM_CORES], at_aarch64_cores[AT_AARCH64_NUM_CORES];
/* The text of files of speeds, one machine each. */
extern const char at_x86_speeds_sapphirerapids[], at_x86_speeds_znver3[], at_x86_speeds_znver4[],
    at_x86_speeds_znver5[];

/* tile_work.c: one call of a tile. trips: its passed trip counts. */
typedef struct at_tile_work {
    double muls, fmas, adds;     /* vector operations; adds: all other arithmetic */
    double half_fmas, half_adds; /* of fmas and muls, and of adds: in halves of registers */
    double more_terms;           /* of fmas that are dot products: beyond the first of each */
    double loads, bcasts, stores, instructions;
    double chain_cycles; /* the longest path through its arithmetic */
} at_tile_work;
at_tile_work at_tile_work_of(at_arena *a, const at_tile *t, const at_core *core,
                             const int64_t *trips);

/* footprint.c: at least so many different bytes are read or written in a list by turns of the loops
 * in `inside`; all others stand still, at any place in their current range. */
typedef struct at_feet at_feet;
/* Of a parallel loop, a thread takes its share of turns. */
at_feet *at_feet_new(at_arena *a, const at_lowered *p, int threads);
double at_footprint(at_feet *f, const at_ir *list, at_mask inside);

#endif
