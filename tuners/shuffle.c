/* tuners/shuffle.c: a Fisher-Yates shuffle of 0 .. n-1 whose array is never written out. Only
 * places whose number has moved are kept, so a pick takes constant time and memory, whatever n.
 * Source of behaviour: TVM v0.7 to v0.10, python/tvm/autotvm/tuner/index_based_tuner.py. */
#include "tuners/tuners_int.h"

#include <stdlib.h>

/* place holds number instead of itself. A place beyond `remaining` is never asked for again, so
 * nothing needs to be taken out. */
typedef struct at_moved {
    int64_t place, number; /* place -1: free */
} at_moved;

void at_shuffle_init(at_shuffle *s, int64_t n) { *s = (at_shuffle){.remaining = n}; }

void at_shuffle_free(at_shuffle *s) {
    free(s->moved);
    *s = (at_shuffle){0};
}

/* The slot of place, or the free one where it belongs. */
static at_moved *slot_of(const at_shuffle *s, int64_t place) {
    /* Fibonacci hashing: the high bits of a product with 2^64 / golden ratio. */
    uint64_t i = (uint64_t)place * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (;; i++) {
        at_moved *m = &s->moved[i & (uint64_t)(s->cap - 1)];
        if (m->place == place || m->place < 0) return m;
    }
}

static void grow(at_shuffle *s) {
    at_moved *old = s->moved;
    int64_t old_cap = s->cap;
    s->cap = old_cap ? 2 * old_cap : 64;
    s->moved = malloc((size_t)s->cap * sizeof *s->moved);
    AT_NEED(s->moved);
    for (int64_t i = 0; i < s->cap; i++) s->moved[i].place = -1;
    for (int64_t i = 0; i < old_cap; i++)
        if (old[i].place >= 0) *slot_of(s, old[i].place) = old[i];
    free(old);
}

static int64_t number_at(const at_shuffle *s, int64_t place) {
    const at_moved *m = slot_of(s, place);
    return m->place == place ? m->number : place;
}

int64_t at_shuffle_take(at_shuffle *s, int64_t draw) {
    AT_ASSERT(draw >= 0 && draw < s->remaining);
    if (2 * (s->used + 1) > s->cap) grow(s);
    int64_t taken = number_at(s, draw);
    int64_t last = --s->remaining;
    at_moved *m = slot_of(s, draw);
    if (m->place < 0) s->used++;
    *m = (at_moved){draw, number_at(s, last)};
    return taken;
}
