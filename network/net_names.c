/* network/net_names.c: names to numbers, by a hash. */
#include "network/network_int.h"

#include <string.h>

static size_t place_of(const net_names *n, const char *name) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_str(&h, name);
    size_t i = (size_t)h.lo & (size_t)(n->cap - 1);
    while (n->name[i] && strcmp(n->name[i], name) != 0) i = (i + 1) & (size_t)(n->cap - 1);
    return i;
}

int net_names_find(const net_names *n, const char *name) {
    if (!n->len) return -1;
    const size_t i = place_of(n, name);
    return n->name[i] ? n->value[i] : -1;
}

static void grow(net_names *n) {
    const net_names old = *n;
    n->cap = old.cap ? 2 * old.cap : 64;
    n->name = AT_NEW_ARRAY(n->arena, const char *, n->cap);
    n->value = AT_NEW_ARRAY(n->arena, int, n->cap);
    for (int i = 0; i < old.cap; i++) {
        if (!old.name[i]) continue;
        const size_t at = place_of(n, old.name[i]);
        n->name[at] = old.name[i];
        n->value[at] = old.value[i];
    }
}

bool net_names_add(net_names *n, const char *name, int value) {
    if (2 * n->len >= n->cap) grow(n);
    const size_t i = place_of(n, name);
    if (n->name[i]) return false;
    n->name[i] = name;
    n->value[i] = value;
    n->len++;
    return true;
}
