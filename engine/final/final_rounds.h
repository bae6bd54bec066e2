/* engine/final/final_rounds.h: the best few of a run, timed again in random order round after
 * round, in pairs with one of them, with the FMA peak measured beside each, until their intervals
 * part or the budget ends. */
#ifndef AT_ENGINE_FINAL_ROUNDS_H
#define AT_ENGINE_FINAL_ROUNDS_H

#include "engine/final/final_budget.h"
#include "engine/final/final_turns.h"

/* Of the shares of the peak, each of that of the moment, of the last 64 rounds at most. */
at_interval at_turns_of_peak(const at_turns *t, double flops);

/* Finalists are the best by their trials, as many as the budget has time for, and the winner of the
 * finals before. Who wins, at_winner says; what this final found is known from now on. Where
 * trials were timed in pairs so are finalists, with the best by its trial; one is behind where its
 * interval lies above another's by more than 0.3 %, at one level of 0.05 for the whole final,
 * however often that is asked; turns go to the better half of those who are not, and where the
 * first round has taken half of the time those that have had none are no finalists. Else one is
 * behind where the 95 % interval of its ratios to the leader, round by round, lies above 1. Who is
 * behind gets no more turns. A turn that was begun when the budget ends is finished. A comment line
 * "#final {json}" of the log for each finalist is renewed twice a second. Interrupted: the turns so
 * far decide. AT_E_OUTPUT, AT_E_BUG. */
at_status at_final_run(at_session *s, at_known *known, at_log *log, at_final_limits limits,
                       at_final *out, at_error *err);
/* The lines of a log that tell it. */
void at_final_print(at_text *out, const at_session *s, const at_final *final);
/* Who wins it, and who cannot be told from the winner; known is told of it. */
void at_final_judge(at_known *known, at_final *final);

#endif
