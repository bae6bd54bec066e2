/* cost/estimate_memory_int.h: what the accesses of a leaf touch, and how often they come to it
 * again.
 */
#ifndef AT_COST_ESTIMATE_MEMORY_INT_H
#define AT_COST_ESTIMATE_MEMORY_INT_H

#include "cost/estimate_int.h"

enum { MOST_SMALL = 4 };
typedef struct small_turns { /* of a loop, that touch less than the others: at the end of an axis,
                                or where few terms count */
    int loop, axis;          /* axis: only what moves along it is less; -1: everything */
    double size;             /* of what they touch, of the others' */
    double number;           /* of all turns */
} small_turns;

typedef struct touched {       /* bytes, a line at least each time */
    double own[MAX_LOOPS + 1]; /* by the leaf, in loops from one on */
    double all[MAX_LOOPS + 1]; /* the same with what others touch in these loops */
    struct {
        double bytes[MAX_LOOPS + 1];
        int shared;       /* loops, with the leaf */
    } beside[MAX_LEAVES]; /* the same of other leaves, but for what the leaf itself touches */
    int num_beside;
    int together[MAX_READS];     /* of each access: loops shared with others that touch the same */
    double turns[MAX_LOOPS + 1]; /* of the loops before each */
    int beyond[MAX_LOOPS];       /* axes whose loops go beyond their ends */
    int num_beyond;
    small_turns small[MOST_SMALL];
    int num_small;
} touched;

/* piled: lines that pile up in a few places of a cache count as if they did so in all. */
static inline double est_bytes(const est_access *a, int from, bool piled) {
    return piled ? a->crowd[from] : EST_LINE_BYTES * a->lines[from];
}

/* estimate_reuse.c: sets turns, beyond and small. */
void est_count_turns(const est_leaf *x, touched *t);
/* How far an access was followed outwards for one size of the caches, to be gone on from for a
 * larger one. Begins with no loop: once and moving are the leaf's loops. */
typedef struct est_scan {
    int once;      /* loops from here on: each line comes once */
    int moving;    /* the first of them in which most lines are others */
    double window; /* bytes between two touches in the loop before `once`, where that is known */
    /* Where some of the lines in loops from here on are still there, and others are not: bytes
     * between two touches of the latter (0: there is no such place), and how many the former are.
     */
    int some;
    double window_of_some, stay;
    bool is_known;
} est_scan;

/* Lines of an access that come anew into a cache of that size. shared: loops,
 * with others that touch the same. */
double est_fetched(const at_estimator *e, const est_leaf *x, const est_access *a, const touched *t,
                   int shared, double size, bool piled, est_scan *scan);

#endif
