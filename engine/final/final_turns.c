/* engine/final/final_turns.c: who of the finalists is ahead, and who has the next turns. */
#include "engine/final/final_turns.h"

#include "engine/final/final_budget.h"

enum { LEAST_OPEN = 4 }; /* finalists that later rounds have turns of */

bool at_finalist_is_in(const at_finalist *f) { return f->turns.num_rounds && !f->turns.error_no; }

/* As at_winner has it. */
static bool is_ahead(const at_finalist *x, const at_finalist *y) {
    bool few = at_turns_are_few(&x->turns), others_are = at_turns_are_few(&y->turns);
    return few == others_are ? x->turns.time_s < y->turns.time_s : others_are;
}

const at_finalist *at_final_leader(const at_final *final) {
    const at_finalist *leader = NULL;
    for (int i = 0; i < final->count; i++) {
        const at_finalist *f = &final->of[i];
        if (at_finalist_is_in(f) && (!leader || is_ahead(f, leader))) leader = f;
    }
    return leader;
}

bool at_finalist_is_behind(const at_finalist *f, const at_finalist *leader) {
    if (f->turns.among && leader->turns.among) return at_turns_behind(&f->turns, &leader->turns);
    double ratios[AT_FINAL_ROUNDS];
    int n = f->turns.num_rounds < leader->turns.num_rounds ? f->turns.num_rounds
                                                           : leader->turns.num_rounds;
    for (int i = 0; i < n; i++) ratios[i] = f->rounds[i].time_s / leader->rounds[i].time_s;
    return n >= AT_FINAL_LEAST && at_median(ratios, n).low > 1;
}

bool at_final_compare(at_final *final) {
    const at_finalist *leader = at_final_leader(final);
    int left = 0;
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        if (at_finalist_is_in(f) && f != leader && !f->is_behind)
            f->is_behind = at_finalist_is_behind(f, leader);
        left += !f->turns.error_no && !f->is_behind;
    }
    return left > 1;
}

/* Has it too few samples to be compared by? Once the leader has enough in the state that counts,
 * only those in that state do. */
static bool lacks_samples(const at_finalist *f, bool is_seen) {
    return at_turns_counting(&f->turns) < AT_FEW_SAMPLES ||
           (is_seen && at_turns_are_few(&f->turns));
}

void at_final_choose_open(at_final *final, bool *is_open) {
    const at_finalist *leader = at_final_leader(final);
    bool is_seen = leader && !at_turns_are_few(&leader->turns);
    double times_s[AT_FINALISTS];
    int n = 0, lacking = 0;
    for (int i = 0; i < final->count; i++) {
        const at_finalist *f = &final->of[i];
        bool takes_part = at_finalist_is_in(f) && !f->is_behind;
        is_open[i] = takes_part && lacks_samples(f, is_seen);
        lacking += is_open[i];
        if (takes_part) times_s[n++] = f->turns.time_s;
    }
    if (lacking || !n) return;
    int open = (final->open ? final->open : n) / 2;
    final->open = open < LEAST_OPEN ? LEAST_OPEN : open;
    at_sort_doubles(times_s, n);
    const double last_s = times_s[final->open < n ? final->open - 1 : n - 1];
    for (int i = 0; i < final->count; i++) {
        const at_finalist *f = &final->of[i];
        is_open[i] = at_finalist_is_in(f) && !f->is_behind && f->turns.time_s <= last_s;
    }
}
