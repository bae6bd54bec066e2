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
/* The configuration of the anchor in the worker, borrowed; NULL: trials are timed alone. */
const at_config *at_anchor_config(const at_session *s);
bool at_anchor_is_ready(const at_session *s); /* at_anchor_ready need not be called again */
/* The default configuration as long as it is the anchor; NULL: another one is. */
const at_candidate *at_anchor_default(const at_session *s);
/* How far it is from the first one: its time over that one's (0: not known), half of the 95 %
 * interval of the logarithm, and the first one's code hash. */
typedef struct at_from_first {
    double ratio, error;
    const char *first;
} at_from_first;
at_from_first at_anchor_from_first(const at_session *s);
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
/* A finalist as the anchor of all turns, whose object stays the finalist's; then trials that may
 * come find that of the log again. */
at_status at_anchor_of_final(at_session *s, at_candidate *k, bool *set, at_error *err);
void at_anchor_after_final(at_session *s);

#endif
