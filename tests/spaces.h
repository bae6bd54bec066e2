/* tests/spaces.h: configurations compared, and spaces printed as AutoTVM prints them. */
#ifndef AT_TESTS_SPACES_H
#define AT_TESTS_SPACES_H

#include "knobs/knobs_int.h"

/* The same values of all knobs, in any order; first sizes of splits, which follow from the others,
 * aside. */
static inline bool same_entity(const at_config *x, const at_config *y) {
    if (x->num_knobs != y->num_knobs) return false;
    for (int i = 0; i < x->num_knobs; i++) {
        const at_entity *other = at_config_get(y, x->names[i]);
        if (!other || !at_entity_alike(&x->entities[i], other)) return false;
    }
    return true;
}

/* "ConfigSpace (len=..., ..." */
static inline void print_space(at_text *out, at_space *s) {
    at_text_addf(out, "ConfigSpace (len=%lld, range_length=%lld, space_map=\n",
                 (long long)at_space_len(s), (long long)at_space_range_length(s));
    for (int i = 0; i < at_space_num_knobs(s); i++) {
        at_text_addf(out, "  %2d %s: ", i, at_space_knob_name(s, i));
        at_space_print_knob(out, s, i);
        at_text_add(out, "\n");
    }
    at_text_add(out, ")");
}

#endif
