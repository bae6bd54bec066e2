/* knobs/thin.c: spaces with more points than an index should count: the lists of their splits are
 * thinned, from the longest on. */
#include "knobs/knobs_int.h"

#include <string.h>

static const at_knob *whole_of(const at_knob *k) { return k->whole ? k->whole : k; }

/* The author named each entity of the others. */
static bool is_thinnable(const at_knob *k) { return k->kind == AT_KNOB_SPLIT && !k->listed; }

static int64_t count_of(const at_knob *k, int64_t most) {
    const int64_t count = whole_of(k)->count;
    return is_thinnable(k) && count > most ? most : count;
}

static bool fits(const at_knob *const *knobs, int n, int64_t most, int64_t points) {
    int64_t range = 1;
    for (int i = 0; i < n; i++)
        if (!at_mul64(range, count_of(knobs[i], most), &range) || range > points) return false;
    return true;
}

/* One of each of so many equal pieces of the list: all of them at the same place would have the
 * same parts, since lists run through a part's sizes in turn. */
static const at_knob *thinned(at_arena *a, const at_knob *whole, int64_t count, int64_t kept) {
    at_knob *k = at_copy(a, whole, sizeof *whole);
    const size_t bytes = (size_t)k->parts * sizeof *k->values;
    int64_t *values = AT_NEW_ARRAY(a, int64_t, count * k->parts);
    at_rng rng;
    at_rng_seed(&rng, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        /* A list has at most AT_MAX_ENTITIES, so that the products fit. */
        const int64_t first = i * whole->count / count, last = (i + 1) * whole->count / count;
        int64_t at = first + (int64_t)at_rng_below(&rng, (uint64_t)(last - first));
        if (kept >= first && kept < last) at = kept;
        memcpy(values + i * k->parts, whole->values + at * k->parts, bytes);
    }
    k->whole = whole;
    k->kept = kept;
    k->count = count;
    k->values = values;
    k->entities = at_knob_view(a, k);
    return k;
}

void at_knobs_thin(at_arena *a, const at_knob **knobs, int n, int64_t points) {
    int64_t low = 1, high = AT_MAX_ENTITIES + 1; /* lists of low entities fit, of high not */
    if (fits(knobs, n, high, points) || !fits(knobs, n, 1, points)) return;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (fits(knobs, n, middle, points)) low = middle;
        else high = middle;
    }
    for (int i = 0; i < n; i++)
        if (count_of(knobs[i], low) != knobs[i]->count)
            knobs[i] = thinned(a, whole_of(knobs[i]), count_of(knobs[i], low), knobs[i]->kept);
}

/* The knob has another list of as many. */
static const at_joint *joint_with(at_arena *a, const at_joint *joint, int knob,
                                  const int64_t *values) {
    at_joint *j = at_copy(a, joint, sizeof *joint);
    for (int i = 0; i < j->num_leaves; i++)
        if (j->leaves[i].knob == knob) j->leaves[i].values = values;
    return j;
}

void at_space_keep(at_space *s, int knob, const int64_t *sizes) {
    const at_knob *k = s->knobs[knob], *whole = whole_of(k);
    const at_entity e = {.kind = AT_KNOB_SPLIT, .n = k->parts, .sizes = sizes};
    int64_t kept = at_knob_digit(whole, &e);
    AT_ASSERT(k->kind == AT_KNOB_SPLIT);
    if (k->whole) {
        s->knobs[knob] = thinned(s->arena, whole, k->count, kept);
        if (s->joint) s->joint = joint_with(s->arena, s->joint, knob, s->knobs[knob]->values);
    } else {
        at_knob *own = at_copy(s->arena, k, sizeof *k);
        own->kept = kept;
        s->knobs[knob] = own;
    }
}
