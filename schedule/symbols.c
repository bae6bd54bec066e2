/* schedule/symbols.c: what a name stands for: a tensor of a computation; a size or a split's part,
 * whose slot is the index of its value. */
#include "schedule/schedule_int.h"

int at_compute_find(const at_compute *c, const char *name) {
    for (int i = 0; i < c->num_tensors; i++)
        if (is_same_name(c->tensors[i].name, name)) return i;
    return -1;
}

int at_symbol_find(const at_symbols *s, const char *name) {
    for (int i = 0; i < s->names.len; i++)
        if (is_same_name(s->names.data[i], name)) return i;
    return -1;
}

int at_symbol_add(at_arena *a, at_symbols *s, const char *name) {
    int slot = at_symbol_find(s, name);
    if (slot >= 0) return slot;
    *at_push(a, &s->names) = at_strdup(a, name);
    return s->names.len - 1;
}
