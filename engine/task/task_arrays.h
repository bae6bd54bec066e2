/* engine/task/task_arrays.h: values of a task's inputs out of files of the user's, by name. */
#ifndef AT_ENGINE_TASK_ARRAYS_H
#define AT_ENGINE_TASK_ARRAYS_H

#include "engine/task/task_config.h"

typedef struct at_arrays {
    const float *const *values;    /* [tensor] NULL: made from the seed; elements of its type */
    const int32_t *const *indices; /* [tensor] of index tensors */
    char hash[33];                 /* of all of them */
} at_arrays;

/* Is it of this tensor, "NAME=FILE"? */
bool at_array_is_of(const char *array, const char *name);
/* The arrays q->arrays of a task's computation; *out NULL: there are none. Index tensors are given
 * all or none, and every read lies within its tensor with them. AT_E_USAGE, AT_E_INPUT */
at_status at_arrays_read(at_arena *a, const at_request *q, const at_task *t, const at_arrays **out,
                         at_error *err);

#endif
