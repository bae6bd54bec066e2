/* tuners/tuner_settings.c: what a tuner was given: the values of its options, and its range of the
 * space. */
#include "tuners/tuners_int.h"

int64_t at_tuner_value(const at_tuner_options *o, const at_tuner_option *option) {
    for (int i = o->num_settings - 1; i >= 0; i--)
        if (o->settings[i].option == option) return o->settings[i].value;
    return o->autotvm ? option->autotvm : option->initial;
}

void at_tuner_range(const at_space *space, const at_tuner_options *o, int64_t *begin,
                    int64_t *end) {
    *begin = o->begin;
    *end = o->begin || o->end ? o->end : at_space_range_length(space);
}

int64_t at_tuner_places(const at_space *space, int64_t begin, int64_t end) {
    return at_space_place(space, end) - at_space_place(space, begin);
}
