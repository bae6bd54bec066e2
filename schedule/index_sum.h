/* schedule/index_sum.h: an index, or how far two of them are apart, as a sum of axes and sizes:
 * what edits compare indices and conditions by. */
#ifndef AT_INDEX_SUM_H
#define AT_INDEX_SUM_H

#include "schedule/schedule_int.h"

/* by*size*axis; size NULL: 1; axis NO_AXIS: none. */
enum { MOST_PARTS = 16, NO_AXIS = -1 };
typedef struct index_part {
    int64_t by;
    const at_expr *size;
    int axis;
} index_part;
typedef struct index_sum {
    index_part of[MOST_PARTS];
    int num;
} index_sum;

/* Of the same size and axis? */
bool index_part_is_like(const index_part *x, const index_part *y);
bool index_sum_add_part(index_sum *s, index_part p); /* false: there is no room */
/* Adds e*by*size, as far as it is a sum of axes and sizes; false: it is none. */
bool index_sum_add(index_sum *s, const at_expr *e, int64_t by, const at_expr *size);
uint32_t index_sum_axes(const index_sum *s);

#endif
