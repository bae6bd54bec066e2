/* knobs/index_digits.c: an index as digits, one of each knob, the first the fastest; and back. */
#include "knobs/knobs_int.h"

int at_space_part_of(const at_space *s, int64_t index) {
    int part = 0;
    while (index >= s->first[part + 1]) part++;
    return part;
}

void at_space_digits(const at_space *s, int64_t index, int64_t *digits) {
    if (s->parts) {
        int part = at_space_part_of(s, index);
        for (int i = 0; i < s->num_knobs; i++) digits[i] = 0;
        digits[0] = part;
        at_space_digits(s->parts[part], index - s->first[part], digits + s->offset[part]);
        return;
    }
    for (int i = 0; i < s->num_knobs; i++) {
        int64_t count = s->knobs[i]->count, rest = index / count;
        digits[i] = index - rest * count;
        index = rest;
    }
}

int64_t at_space_index(const at_space *s, const int64_t *digits) {
    int64_t index = 0;
    if (s->parts) {
        int part = (int)digits[0];
        return s->first[part] + at_space_index(s->parts[part], digits + s->offset[part]);
    }
    for (int i = 0; i < s->num_knobs; i++) index += digits[i] * s->strides[i];
    return index;
}
