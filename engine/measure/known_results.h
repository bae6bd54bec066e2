/* engine/measure/known_results.h: every result of a run and of the log it resumes, found by index,
 * by key and by code. A result of a log has no key: an earlier version may have made other code of
 * its program. Its code says whether it is the same. */
#ifndef AT_ENGINE_KNOWN_RESULTS_H
#define AT_ENGINE_KNOWN_RESULTS_H

#include "engine/measure/measure.h"

typedef struct at_known at_known;

at_known *at_known_new(at_arena *a); /* lives in a, as do the results */
/* Borrows r. The first result of an index, of a key and of a code is the one that is found. key: of
 * the program, NULL: not known; without code of a hash it does not count, since what could not be
 * lowered says so each time. */
void at_known_add(at_known *k, const at_record *r, const at_key *key);
/* NULL: not known. */
const at_record *at_known_by_index(const at_known *k, int64_t index); /* of a trial */
const at_record *at_known_of_index(const at_known *k, int64_t index); /* of the anchor, too */
const at_record *at_known_by_key(const at_known *k, at_key key);
const at_record *at_known_by_code(const at_known *k, const char *hash);
const at_record *at_known_best(const at_known *k); /* by its trial; NULL: none is valid */
int at_known_count(const at_known *k);
const at_record *at_known_at(const at_known *k, int i); /* in the order in which they were added */
/* Has the log that was read records of the task with other threads, or for another instruction set?
 */
bool at_known_has_others(const at_known *k);
/* How often a search over several workers was begun with the log that was read. */
int at_known_epochs(const at_known *k);
/* As at_winner says, of all that is known; *final: the last one it was in, NULL: none. */
const at_record *at_known_winner(const at_known *k, const at_turns **final);
/* What a final says about the result of that index, after those that are known. */
void at_known_add_final(at_known *k, int64_t index, const at_turns *turns);
/* What a comment line says about an anchor (records.h), if it is one of this task and context. */
void at_known_add_anchor(at_known *k, const at_session *s, const char *comment);
/* Number i of those, as they came; -1: the last one. NULL: there is none. */
const at_anchor_line *at_known_anchor(const at_known *k, int i);
/* The same of a line about the speeds of the machine (log_speeds.h), of which the first counts. */
void at_known_add_speeds(at_known *k, const at_session *s, const char *comment);
const at_speed_table *at_known_speeds(const at_known *k); /* NULL: there is none */
/* The same of a line about the objective, of which the first counts. NULL: there is none. */
void at_known_add_objective(at_known *k, const at_session *s, const char *comment);
const at_objective_line *at_known_objective(const at_known *k);
/* What it says counts; typical where there is none. */
at_objective at_known_counting(const at_known *k);
/* The n best of the results (top_results.h), best first; returns how many. */
int at_known_top(const at_known *k, const at_record **out, int n);

/* Reads records and finals of this session's task and context out of a log: they are answers from
 * now on. AT_E_INPUT. Records that fit the task but not its space are warned about and skipped. */
at_status at_known_read_log(at_known *k, at_session *s, const char *path, at_error *err);
/* The same of several tasks, for which the log is read once. */
at_status at_known_read_logs(at_known *const *known, at_session *const *sessions, int n,
                             const char *path, at_error *err);

#endif
