/* cost/estimate_moves.h: how reads move in loops, kept from point to point for the sizes that it
 * depends on. */
#ifndef AT_COST_ESTIMATE_MOVES_H
#define AT_COST_ESTIMATE_MOVES_H

#include "schedule/access.h"

enum { MAX_DIMS = 8, MAX_SIZES = 8, MOST_SIZES_THROUGH = 20 };

/* How an index moves in a loop, as worked out before for the same sizes. */
typedef struct est_move {
    const at_expr *index; /* NULL: none is kept here */
    int axis;
    int64_t coef, turns, sizes[MAX_SIZES];
    int64_t origin, one; /* at the first turn, and from there to the second */
    double reach;        /* how far from the first turn it comes */
} est_move;
enum { MOVES = 1024 };

/* The same of what is read through stages, in all dimensions. */
typedef struct est_way {
    const at_expr *read; /* the first of them; NULL: none is kept here */
    int num, axis;       /* reads, one through the other */
    uint64_t hash;       /* of what does not depend on the loop */
    int64_t coef, turns, sizes[MOST_SIZES_THROUGH], stride[MAX_DIMS];
    int64_t step, run; /* run: as est_loop's; 0: not asked yet */
    bool straight;     /* all turns are such steps */
    uint32_t moves;    /* bits: dimensions */
    uint32_t turned;   /* the same of those in which it goes back */
    double reach[MAX_DIMS];
} est_way;
enum { WAYS = 2048 };

#endif
