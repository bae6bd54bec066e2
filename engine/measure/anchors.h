/* engine/measure/anchors.h: the kernel that a search's trials are timed against, and how far it is
 * from the first one. Anchor 0 is the default configuration; where another is much better it takes
 * its place, and the ratio of the two is measured well. All of it stands in the log (#anchor
 * lines), so that a resumed search goes on with the same. */
#ifndef AT_ENGINE_ANCHORS_H
#define AT_ENGINE_ANCHORS_H

#include "engine/measure/anchor_scale.h"
#include "engine/measure/known_results.h"

/* Makes sure that the session's worker has the anchor: that of the log, while its code is still the
 * same, else a new chain begins. Where there can be none (numbers of runs are asked for, cold
 * caches, a default configuration that fails) trials are timed alone. AT_E_OUTPUT AT_E_BUG
 * AT_E_INTERRUPTED */
at_status at_anchor_ready(at_session *s, at_known *known, at_log *log, at_error *err);
/* Outside of a search: the first anchor of another log, with this code hash, in the worker. false:
 * the default configuration is another kernel now, or does not run, or numbers of runs are asked
 * for. log: where what is timed against it is written, which holds known; it is told of the anchor
 * unless it has it as the first of a chain, whose number and time are taken then; NULL: none.
 * AT_E_OUTPUT AT_E_BUG AT_E_INTERRUPTED */
at_status at_anchor_first(at_session *s, const char *code_hash, at_known *known, at_log *log,
                          bool *is_there, at_error *err);
/* A trial that was just measured becomes the anchor if it is much better than the one there is. */
at_status at_anchor_consider(at_session *s, at_known *known, at_log *log, const at_record *r,
                             at_error *err);
/* How a trial's job is timed: in pairs, if there is an anchor. Until one has a time, bounds are
 * none to go by. */
void at_anchor_ask(const at_session *s, const at_known *known, int64_t index, at_job *job);
/* The line of the anchor, with how far the kernel of c is from it as second, if that can be made
 * and is right. There is an anchor. */
at_status at_anchor_second(at_session *s, const at_known *known, const at_config *c,
                           at_anchor_line *out, at_error *err);
/* Pairs of k with the anchor, as many as wanted, of about pair_s seconds each; out->pairs 0: k
 * failed. */
at_status at_anchor_link(at_session *s, at_candidate *k, int wanted, double pair_s, at_linked *out,
                         at_error *err);
/* How many of them one job has: what several take must end within its time limit (0: none). */
int at_anchor_pairs_of_job(double timeout_s, int wanted, double pair_s);
/* How many pairs a link has, of pair_s seconds each, with a kernel that takes `ratio` times as long
 * as the anchor. 0: it is not worth its time yet, since trials have not wasted as much with the
 * anchor there is (wasted_s), or fewer trials fit behind it into left_s (INFINITY: no limit) than
 * without it. */
int at_anchor_pairs_of_link(double pair_s, double ratio, double wasted_s, double left_s);
/* Such a kernel as the anchor of the worker, for a while: what is not said stays as it was. *set:
 * it runs and is right. k must live as long as it is the anchor. */
at_status at_anchor_lend(at_session *s, at_candidate *k, bool *set, at_error *err);

#endif
