/* engine/far/far_anchor.h: what makes the results of several workers one search. Each of them times
 * trials against the default configuration, where it is; the log has one time of that, and all
 * results are made times with it. Where a second kernel, the same for all, takes another share of
 * the default configuration's time than on the first machine, by more than 3 %, ratios do not hold
 * for both: that worker has a context of its own. */
#ifndef AT_ENGINE_FAR_ANCHOR_H
#define AT_ENGINE_FAR_ANCHOR_H

#include "engine/far/far_state.h"

/* The second kernel: the same one for a task and its options, wherever the search runs. As the
 * config member of a record, in the session's arena; NULL: none. */
const char *at_far_anchor_second(const at_tuning *t);
/* The context that the results of such a worker are to have; in a, but for what e holds. *odd: it
 * is not the one that it says itself. *later: it seems not to be, and is asked once more, as is a
 * worker of those that it seems apart from; nothing is said until both have answered. */
at_context at_far_anchor_context(at_tuning *first, at_arena *a, const at_far_event *e, bool *odd,
                                 bool *later);
/* A worker of that search has compared once more. */
void at_far_anchor_hear(at_tuning *t, const at_far_event *e);
/* It has joined, has left, or is refused. */
void at_far_anchor_settle(at_tuning *first, int worker);
/* Which anchor of the log results refer to, once it is read: one that is there, or that of the
 * worker that the search began with, which is told to the log. AT_E_OUTPUT */
at_status at_far_anchor_begin(at_tuning *t, at_error *err);
/* As at_place.scale. */
double at_far_anchor_scale(const at_tuning *t, const at_far_event *e);
/* A worker's record as one of this search. */
void at_far_anchor_apply(const at_tuning *t, const at_place *p, at_record *r);

#endif
