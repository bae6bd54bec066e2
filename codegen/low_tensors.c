/* codegen/low_tensors.c: the tensors of a program under way: those of its computation, then tables
 * that lowering makes of index lists. The computation itself stays as it is. */
#include "codegen/codegen_int.h"

#include <string.h>

void at_low_list_tensors(at_low *l) {
    const at_compute *c = l->program->compute;
    l->num_tensors = c->num_tensors;
    l->tensors = AT_NEW_ARRAY(l->arena, at_low_tensor, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        l->tensors[t] = (at_low_tensor){.name = c->tensors[t].name,
                                        .num_axes = c->tensors[t].num_axes,
                                        .extents = l->program->extents[t],
                                        .is_int = c->tensors[t].is_int};
}

int at_low_find_tensor(const at_low *l, const char *name) {
    for (int t = 0; t < l->num_tensors; t++)
        if (!strcmp(l->tensors[t].name, name)) return t;
    return -1;
}

int at_low_add_tensor(at_low *l, at_low_tensor t) {
    int n = l->num_tensors++;
    at_low_tensor *tensors = AT_NEW_ARRAY(l->arena, at_low_tensor, n + 1);
    at_buffer *buffers = AT_NEW_ARRAY(l->arena, at_buffer, n + 1);
    memcpy(tensors, l->tensors, sizeof *tensors * (size_t)n);
    memcpy(buffers, l->buffers, sizeof *buffers * (size_t)n);
    tensors[n] = t;
    l->tensors = tensors;
    l->buffers = buffers;
    return n;
}
