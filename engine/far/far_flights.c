/* engine/far/far_flights.c: trials under way with workers elsewhere, by number and by program. */
#include "engine/far/far_state.h"

#include <stdlib.h>
#include <string.h>

/* The place of a number, or where it would be. */
static int place_of(const at_flights *f, int64_t number) {
    int low = 0, high = f->len;
    while (low < high) {
        int middle = (low + high) / 2;
        if (f->of[middle]->id.number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

at_flight *at_flight_new(at_flights *f, const at_trial_id *id, int64_t index) {
    if (f->len == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 64;
        f->of = realloc(f->of, sizeof *f->of * (size_t)f->cap);
        f->spare = realloc(f->spare, sizeof *f->spare * (size_t)f->cap);
        AT_NEED(f->of && f->spare);
    }
    at_flight *x = f->num_spare ? f->spare[--f->num_spare] : malloc(sizeof *x);
    AT_NEED(x);
    *x = (at_flight){.worker = AT_FLIGHT_UNSENT, .id = *id, .index = index};
    f->num_unsent++;
    int at = place_of(f, id->number);
    memmove(f->of + at + 1, f->of + at, sizeof *f->of * (size_t)(f->len++ - at));
    return f->of[at] = x;
}

void at_flight_move(at_flights *f, at_flight *x, int worker) {
    f->num_unsent += (worker == AT_FLIGHT_UNSENT) - (x->worker == AT_FLIGHT_UNSENT);
    f->num_with_another +=
        (worker == AT_FLIGHT_WITH_ANOTHER) - (x->worker == AT_FLIGHT_WITH_ANOTHER);
    x->worker = worker;
}

static int slot_of(at_key key) { return (int)(key.lo % AT_FAR_KEYS); }

void at_flight_built(at_flights *f, at_flight *x, at_key key) {
    x->key = key;
    x->is_built = true;
    x->other = f->by_key[slot_of(key)];
    f->by_key[slot_of(key)] = x;
}

void at_flight_end(at_flights *f, at_flight *x) {
    int i = place_of(f, x->id.number);
    at_flight_move(f, x, 0);
    for (at_flight **p = &f->by_key[slot_of(x->key)]; x->is_built && *p; p = &(*p)->other)
        if (*p == x) {
            *p = x->other;
            break;
        }
    memmove(f->of + i, f->of + i + 1, sizeof *f->of * (size_t)(--f->len - i));
    f->spare[f->num_spare++] = x;
}

at_flight *at_flight_find(const at_flights *f, int64_t number) {
    int i = place_of(f, number);
    return i < f->len && f->of[i]->id.number == number ? f->of[i] : NULL;
}

/* New trials are at the end. */
at_flight *at_flight_unsent(const at_flights *f) {
    for (int i = f->len - 1; i >= 0 && f->num_unsent; i--)
        if (f->of[i]->worker == AT_FLIGHT_UNSENT) return f->of[i];
    return NULL;
}

bool at_flight_has_twin(const at_flights *f, const at_flight *x) {
    for (const at_flight *y = f->by_key[slot_of(x->key)]; y; y = y->other)
        if (y != x && y->worker != AT_FLIGHT_WITH_ANOTHER && at_key_equal(y->key, x->key))
            return true;
    return false;
}

bool at_flights_may_have(const at_flights *f, at_key key) {
    return f->by_key[slot_of(key)] != NULL;
}

void at_flights_free(at_flights *f) {
    for (int i = 0; i < f->len; i++) free(f->of[i]);
    for (int i = 0; i < f->num_spare; i++) free(f->spare[i]);
    free(f->of);
    free(f->spare);
}
