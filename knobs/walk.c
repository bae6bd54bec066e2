/* knobs/walk.c: steps from one point to another: a digit is set, or a few at random. */
#include "knobs/knobs_int.h"

static bool is_of_part(const at_space *s, int part, int knob) {
    return knob == 0 || (knob >= s->offset[part] && knob < s->offset[part + 1]);
}

bool at_space_digit_counts(const at_space *s, const int64_t *digits, int knob) {
    return !s->parts || is_of_part(s, (int)digits[0], knob);
}

void at_space_set_digit(const at_space *s, int64_t *digits, int knob, int64_t value) {
    if (!s->parts || knob != 0) {
        digits[knob] = value;
        return;
    }
    int old = (int)digits[0], now = (int)value;
    const at_space *from = s->parts[old], *to = s->parts[now];
    if (old == now) return;
    for (int k = 0; k < to->num_knobs; k++) {
        int like = at_space_find_knob(from, to->names[k]);
        if (like < 0) continue;
        const at_entity *e = &from->knobs[like]->entities[digits[s->offset[old] + like]];
        int64_t digit = e->kind == to->knobs[k]->kind ? at_knob_digit(to->knobs[k], e) : -1;
        if (digit >= 0) digits[s->offset[now] + k] = digit;
    }
    for (int k = s->offset[old]; k < s->offset[old + 1]; k++) digits[k] = 0;
    digits[0] = now;
}

static int64_t random_step(const at_space *s, int64_t index, at_rng *rng) {
    at_arena *scratch = at_arena_new();
    int64_t *digits = AT_NEW_ARRAY(scratch, int64_t, s->num_knobs);
    int part = at_space_part_of(s, index);
    at_space_digits(s, index, digits);
    int knob = (int)at_rng_below(rng, (uint64_t)s->parts[part]->num_knobs + 1);
    if (knob) knob += s->offset[part] - 1;
    int64_t value = (int64_t)at_rng_below(rng, (uint64_t)s->knobs[knob]->count);
    at_space_set_digit(s, digits, knob, value);
    int64_t at = at_space_index(s, digits);
    at_arena_free(scratch);
    return at;
}

int64_t at_space_random_walk(const at_space *s, int64_t index, at_rng *rng) {
    enum { MOST_STEPS = 10000 };
    if (s->range == 1) return index;
    int64_t at = index;
    for (int step = 0; step < MOST_STEPS; step++) {
        if (s->parts) {
            at = random_step(s, at, rng);
            if (at != index && at_space_is_valid(s, at)) return at;
            continue;
        }
        int knob = (int)at_rng_below(rng, (uint64_t)s->num_knobs);
        int64_t count = s->knobs[knob]->count, stride = s->strides[knob];
        int64_t digit = (int64_t)at_rng_below(rng, (uint64_t)count);
        at += (digit - at / stride % count) * stride;
        at = at_space_mend_but(s, at, knob);
        if (at != index && at_space_is_valid(s, at)) return at;
    }
    return index;
}
