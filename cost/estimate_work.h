/* cost/estimate_work.h: what the arithmetic of a stage takes, and where it is done anew. */
#ifndef AT_COST_ESTIMATE_WORK_H
#define AT_COST_ESTIMATE_WORK_H

#include "codegen/target.h"
#include "schedule/compute.h"

enum { EST_WORKS = 6 };
typedef struct est_work { /* of an element; the same wherever these axes of the stage are */
    uint32_t axes;        /* bits */
    double time;          /* as so many multiply-adds of a vector */
} est_work;
typedef struct est_works {
    est_work of[EST_WORKS];
    int num;
} est_works;

/* All that depends on the same axes is one of them. */
void est_works_add(est_works *w, uint32_t axes, double time);
double est_works_time(const est_works *w); /* of all of them, each once */

/* Operations on floats of a stage's own. works: what these take, but for the products of a sum's
 * terms which the instruction that adds them up makes. */
double est_operations(const at_compute *c, const at_target *target, int tensor, est_works *works);

#endif
