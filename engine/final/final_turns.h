/* engine/final/final_turns.h: the finalists of a final, who of them is ahead, and who has the next
 * turns.
 */
#ifndef AT_ENGINE_FINAL_TURNS_H
#define AT_ENGINE_FINAL_TURNS_H

#include "engine/measure/known_results.h"

enum { AT_FINALISTS = 64, AT_FINAL_ROUNDS = 40 }; /* at most */

typedef struct at_finalist {
    const at_record *result;
    at_candidate candidate;
    at_round rounds[AT_FINAL_ROUNDS];
    at_turns turns; /* these rounds */
    bool is_behind; /* the leader, certainly */
    /* Multiply-adds of its code in its time, over those at the peak beside it; 0: not known. */
    double of_bound;
} at_finalist;

typedef struct at_final {
    at_finalist of[AT_FINALISTS];
    int count;
    const at_finalist *winner; /* of all that is known; NULL: none, or it was not in this final */
    int tied;                  /* others that cannot be told from the winner */
    int open;                  /* that have turns since halving began; 0: it has not */
} at_final;

/* It had a turn, and did not fail. */
bool at_finalist_is_in(const at_finalist *f);
/* Is it certainly slower? In pairs by their intervals. Else round by round, so that what slows both
 * does not count. */
bool at_finalist_is_behind(const at_finalist *f, const at_finalist *leader);
/* The best by the samples so far, in the order of rounds: those still in it have as many, or one
 * more in a round that the budget cut short. NULL: nobody is in it. */
const at_finalist *at_final_leader(const at_final *final);
/* Takes those that are behind out of further rounds; false: nobody is left to compare. */
bool at_final_compare(at_final *final);
/* Who has a turn in the next round of a final in pairs, of [count]: those of whom too few samples
 * count, as long as there are such; then where the decision is open: of those who are not behind
 * the better half, in the next round the better quarter, and so on down to four. */
void at_final_choose_open(at_final *final, bool *is_open);

#endif
