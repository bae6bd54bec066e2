/* engine/final/final_states.h: does a final have another winner in a state of the machine that does
 * not count? */
#ifndef AT_ENGINE_FINAL_STATES_H
#define AT_ENGINE_FINAL_STATES_H

#include "engine/final/final_rounds.h"

typedef struct at_other_winner {
    const at_finalist *who;
    at_objective objective; /* alone or company */
    double ratio;           /* the winner's time over its time, there */
} at_other_winner;
/* Of that state: the fastest finalist, if the winner is certainly behind it there; else false. */
bool at_final_other_winner(const at_final *f, at_objective o, at_other_winner *out);

#endif
