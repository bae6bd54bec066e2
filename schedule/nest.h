/* schedule/nest.h: a loop nest reduced to what features are made of: loops, and the memory accesses
 * in them with their strides. */
#ifndef AT_NEST_H
#define AT_NEST_H

#include "schedule/schedule.h"

enum {
    NEST_MAX_DEPTH = 64,     /* loops around one access */
    NEST_MAX_ACCESSES = 256, /* what a program has beyond them is left out */
};

typedef struct nest_loop {
    int parent; /* number of the loop around it, -1 */
    int level;  /* 1: outermost */
    double extent, top_down, bottom_up;
    at_ann ann;
    int adds, muls, divs; /* of floats, directly inside */
} nest_loop;

/* What one access does within one of the loops around it. */
typedef struct nest_touch {
    double stride, count, reuse, thread_count, thread_reuse;
} nest_touch;

typedef struct nest_access {
    const char *buffer;
    int number;        /* among the accesses to this buffer, from 0 */
    int loop;          /* innermost loop around it, -1 */
    int depth;         /* how many loops are around it */
    nest_touch *touch; /* [depth], outermost first; strides given, the rest computed */
} nest_access;

typedef struct nest {
    int num_loops, num_accesses;
    nest_loop *loops;      /* in the order they are entered: parent, extent, ann, counts given */
    nest_access *accesses; /* nest_finish sorts them by name */
} nest;

/* Loops, accesses and strides of a verified program (nest.c). */
void nest_of_program(at_arena *a, const at_program *p, nest *out);
/* Everything that follows from what is given (features.c). */
void nest_finish(nest *n);
int nest_itervar(const nest *n, float *out, int max);
int nest_curve(const nest *n, float *out, int max);

#endif
