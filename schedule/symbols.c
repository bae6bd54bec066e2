/* schedule/symbols.c: names of sizes and split parts; the slot of a name is the index of its value.
 */
#include "schedule/schedule.h"

#include <string.h>

int at_symbol_find(const at_symbols *s, const char *name) {
    for (int i = 0; i < s->names.len; i++)
        if (!strcmp(s->names.data[i], name)) return i;
    return -1;
}

int at_symbol_add(at_arena *a, at_symbols *s, const char *name) {
    int slot = at_symbol_find(s, name);
    if (slot >= 0) return slot;
    *at_push(a, &s->names) = at_strdup(a, name);
    return s->names.len - 1;
}
