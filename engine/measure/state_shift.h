/* engine/measure/state_shift.h: how much better or worse results look that were timed in a state of
 * the machine which does not count. Ratios to an anchor are others in another state: where the
 * anchor suffers more than most, everything seems faster there. */
#ifndef AT_ENGINE_STATE_SHIFT_H
#define AT_ENGINE_STATE_SHIFT_H

#include "records/records.h"

typedef struct at_state_shift {
    at_arena *arena; /* of what follows, which is zeroed before the first one is added */
    AT_VEC(double) counting, others; /* logarithms of times, sorted */
} at_state_shift;

/* A pair of it was in a state that counts, or states are not known. */
bool at_is_of_counting_state(const at_record *r, at_objective objective);
/* r: a candidate for a selection. */
void at_state_shift_add(at_state_shift *x, const at_record *r, at_objective objective);
/* What the logarithm of another state's time is to be raised by: then their better quarter ends
 * where that of the results does which count. 0: of either kind fewer than 16 are known. */
double at_state_shift_of_others(const at_state_shift *x);
/* r is the next result, and added if it is one to be compared with; its GFLOP/s, in the state that
 * counts as far as that is known by now. */
double at_state_shift_learn(at_state_shift *x, const at_record *r, at_objective objective);

#endif
