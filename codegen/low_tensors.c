/* codegen/low_tensors.c: the tensors of a program under way: those of its computation, then lists
 * of places and tables that lowering makes. The computation itself stays as it is. */
#include "codegen/codegen_int.h"

#include <string.h>

/* Is e a number, whatever the inputs hold? A maximum or a minimum ignores what is none. */
static bool is_number_always(const at_low *l, const at_expr *e) {
    switch (e->op) {
    case AT_X_INT:
    case AT_X_FLOAT:
    case AT_X_MIN:
    case AT_X_MAX: return true;
    case AT_X_NEG: return is_number_always(l, e->arg[0]);
    case AT_X_INDEX: return l->tensors[e->ref].has_numbers;
    case AT_X_SELECT: return is_number_always(l, e->arg[1]) && is_number_always(l, e->arg[2]);
    default: return false;
    }
}

/* What lies in an input keeps elements of the caller's. */
static bool has_numbers(const at_low *l, const at_tensor *t) {
    if (t->role != AT_ROLE_STAGE || t->is_table || t->lies_in) return false;
    return t->num_reduce ? at_reduction_is_extreme(t->reduction) : is_number_always(l, t->body);
}

void at_low_list_tensors(at_low *l) {
    const at_compute *c = l->program->compute;
    l->num_tensors = c->num_tensors;
    l->tensors = AT_NEW_ARRAY(l->arena, at_low_tensor, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        l->tensors[t] = (at_low_tensor){.name = c->tensors[t].name,
                                        .num_axes = c->tensors[t].num_axes,
                                        .extents = l->program->extents[t],
                                        .type = c->tensors[t].type};
    for (int t = 0; t < c->num_tensors; t++)
        l->tensors[t].has_numbers = has_numbers(l, &c->tensors[t]);
    for (int side = 0, i = 0; side < 2 && l->options->row; side++)
        for (int t = 0; t < c->num_tensors; t++) {
            const bool is_stage = c->tensors[t].role == AT_ROLE_STAGE;
            if (side ? is_stage && c->tensors[t].is_output : !is_stage)
                l->tensors[t].row = l->options->row[i++];
        }
}

at_type at_low_tensor_type(const at_low *l, int tensor) { return l->tensors[tensor].type; }

bool at_low_holds_places(const at_low *l, int tensor) {
    const at_compute *c = l->program->compute;
    return tensor < c->num_tensors && c->tensors[tensor].is_places;
}

int at_low_find_tensor(const at_low *l, const char *name) {
    for (int t = 0; t < l->num_tensors; t++)
        if (!strcmp(l->tensors[t].name, name)) return t;
    return -1;
}

int at_low_add_tensor(at_low *l, at_low_tensor t) {
    int n = l->num_tensors++;
    at_low_tensor *tensors = AT_NEW_ARRAY(l->arena, at_low_tensor, n + 1);
    memcpy(tensors, l->tensors, sizeof *tensors * (size_t)n);
    tensors[n] = t;
    l->tensors = tensors;
    if (!l->buffers) return n;
    at_buffer *buffers = AT_NEW_ARRAY(l->arena, at_buffer, n + 1);
    memcpy(buffers, l->buffers, sizeof *buffers * (size_t)n);
    l->buffers = buffers;
    return n;
}

/* Packed ahead a table is a parameter behind the packed weights, else part of the workspace. */
void at_low_place_table(at_low *l, int tensor) {
    at_buffer *b = &l->buffers[tensor];
    if (l->options->pack_inline) {
        b->place = AT_PLACE_WORKSPACE;
        b->offset_bytes = l->workspace_bytes;
        l->workspace_bytes += (b->elements * at_type_bytes(l->tensors[tensor].type) + 63) / 64 * 64;
        return;
    }
    at_param *params = AT_NEW_ARRAY(l->arena, at_param, l->num_params + 1);
    int at = 0;
    while (at < l->num_params && l->params[at].role != AT_PARAM_OUT) at++;
    for (int i = 0; i < l->num_params; i++) params[i < at ? i : i + 1] = l->params[i];
    for (int t = 0; t < tensor; t++)
        if (l->buffers[t].place == AT_PLACE_PARAM && l->buffers[t].param >= at)
            l->buffers[t].param++;
    params[at] = (at_param){.name = l->tensors[tensor].name,
                            .role = AT_PARAM_PACKED,
                            .tensor = -1,
                            .type = l->tensors[tensor].type,
                            .elements = b->elements};
    b->place = AT_PLACE_PARAM;
    b->param = at;
    b->packed = true;
    l->params = params;
    l->num_params++;
}

void at_low_prepend(at_low *l, at_ir *list) {
    at_ir **root = l->options->pack_inline ? &l->root : &l->pack_root, *last = list;
    while (last->next) last = last->next;
    last->next = *root;
    *root = list;
}
