/* engine/final/final_states.c: what a final says of each state by itself. */
#include "engine/final/final_states.h"

/* A finalist's turns as they are in that state; false: it has none there. */
static bool turns_in(const at_finalist *f, at_objective o, at_round *rounds, at_turns *out) {
    *out = f->turns;
    return !out->error_no && at_turns_for(out, o, rounds) > 0;
}

bool at_final_other_winner(const at_final *f, at_objective o, at_other_winner *out) {
    at_round rounds[2][AT_FINAL_ROUNDS];
    at_turns winner, one;
    *out = (at_other_winner){.objective = o};
    if (!f->winner || o == f->winner->turns.objective ||
        !turns_in(f->winner, o, rounds[0], &winner))
        return false;
    double least_s = winner.time_s;
    for (int i = 0; i < f->count; i++) {
        if (&f->of[i] == f->winner || !turns_in(&f->of[i], o, rounds[1], &one)) continue;
        if (one.time_s >= least_s || !at_turns_behind(&winner, &one)) continue;
        least_s = one.time_s;
        out->who = &f->of[i];
    }
    out->ratio = winner.time_s / least_s;
    return out->who != NULL;
}
