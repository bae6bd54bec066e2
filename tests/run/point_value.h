/* tests/run/point_value.h: single elements of a computation, worked out from its expressions and
 * the data at hand, nothing else: what a mutant of an expression makes of one is known without all
 * others. */
#ifndef AT_TESTS_RUN_POINT_VALUE_H
#define AT_TESTS_RUN_POINT_VALUE_H

#include "schedule/schedule.h"

typedef struct points points;
/* data: [tensor] of inputs. extents are those of the computation. */
points *points_new(at_arena *a, const at_compute *c, const int64_t *values, int64_t *const *extents,
                   const at_data *data);
/* Forgets what was worked out: an expression is another one. */
void points_forget(points *p);
void points_free(points *p);
/* An element of a stage by its place in the tensor. Outside of a tensor lies what lies there in
 * memory: its other elements, or strange numbers. */
double points_at(points *p, int stage, int64_t offset);
/* So many terms and elements were worked out since points_forget. */
int64_t points_work(const points *p);

#endif
