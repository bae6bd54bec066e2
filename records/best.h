/* records/best.h: which record wins, within a log and among several. */
#ifndef AT_RECORDS_BEST_H
#define AT_RECORDS_BEST_H

#include "records/log.h"

/* Whether a record counts, and why not: commands that count records ask this. */
typedef enum at_standing {
    AT_STANDING_CANDIDATE, /* valid, checked, with a time; a foreign one: its error_no is 0 */
    AT_STANDING_BEHIND,    /* valid, and so slow that it has no time */
    AT_STANDING_FAILED,
    AT_STANDING_UNCHECKED,
    AT_STANDING_COUNT
} at_standing;
at_standing at_record_standing(const at_record *r);
bool at_record_is_candidate(const at_record *r);
/* ", 2 clearly behind, 1 failed, 1 unchecked, 1 unreadable line": all but candidates. */
void at_standings_print(at_text *out, const int64_t count[AT_STANDING_COUNT], int64_t unreadable);
/* A valid result of one task and context, and the finals it was in. */
typedef struct at_contender {
    double mean_s; /* of its trial */
    const at_turns *finals;
    int num_finals;
} at_contender;
/* Which of them wins, wherever a winner is told: -1, none. The least time counts.
 * - One that failed in the last final it was in is out.
 * - The lowest mean of a trial wins if it was in no final: it came after them.
 * - Else finals decide, one after the other. In each the lowest median wins if the winner so far
 * was in it; if not, the lower of both times does, though their moments were not the same. Ties:
 * the lower mean, then the earlier. */
int at_winner(const at_contender *c, int n);
/* Which records can win at all; NULL: all. */
typedef bool at_pick_fn(void *ctx, const char *path, const at_record *r);
/* Which records win: of each task and context one, as at_pick_best has it. */
void at_mark_winners(const char *path, const at_record *records, int n, at_pick_fn *use,
                     void *use_ctx, bool *wins);
/* What competes with what. Beyond contexts, the best of each with those of the others, by the time
 * in its final, else its mean. */
typedef enum at_per {
    AT_PER_CONTEXT,  /* task and context; foreign records, which tell none: task and target text */
    AT_PER_MCPU,     /* task and the -mcpu of the target */
    AT_PER_KEY,      /* task and each key of the target, as in AutoTVM */
    AT_PER_OPERATOR, /* what templates compute, as operator_of tells */
    AT_PER_TASK,     /* task */
    AT_PER_COMPAT, /* AutoTVM's own pick_best, byte for byte in the lines it chooses, and as little
                      tolerant of bad lines */
} at_per;
typedef struct at_pick {
    at_record record;
    const char *text; /* comment: what its task computes, of the first pick of the task; or NULL */
    const char *finals; /* comment lines: its samples in finals */
    const char *source; /* path */
    int64_t considered; /* valid trials it was chosen from */
    double time_s;      /* by the objective that was asked for */
    bool is_in_state;   /* there were results for that objective; else it was chosen without */
    bool is_by_time; /* those it was chosen from were not all compared in pairs with one anchor */
} at_pick;
/* The text of its task, the record and its finals, as they stand in a log. */
void at_pick_print(at_text *out, const at_pick *p);
typedef bool at_here_fn(const at_record *r);
/* Questions about records whose answers need templates or this machine; each may be NULL: it is not
 * asked. */
typedef struct at_pick_judge {
    /* Which operator a record's task is a way of: false: of none. name and args live in a. */
    bool (*operator_of)(at_arena *a, const at_record *r, const char **name, const at_json **args);
    /* Is it of this CPU? Such records come first where choosing goes beyond contexts and CPUs. */
    at_here_fn *is_here;
    /* What its task computes, as a comment of a log; NULL: the program knows its template. */
    const char *(*text_of)(at_arena *a, const at_record *r);
} at_pick_judge;
/* What is chosen from, how, and where the choice goes; what is 0 or NULL is not asked for. */
typedef struct at_pick_request {
    const char *const *logs;
    int num_logs;
    at_pick_fn *use; /* records for which it says false are passed over; not with AT_PER_COMPAT */
    void *use_ctx;
    at_objective objective; /* the best for that; NONE: for that of their log */
    at_per per;
    at_pick_judge judge;
    const char *output; /* path; NULL: nothing is written */
    at_force force;
    at_warn_fn *warn;
    void *warn_ctx;
} at_pick_request;
/* The best records of the logs and, if it exists, of the output: the record that really was best,
 * ties to the earlier; in order of first appearance, each with its finals. Writes the output
 * atomically, and keeps its lock from the reading on; a log that a run is writing is AT_E_LOCKED.
 * AT_E_USAGE: the output is one of the logs, a tuning log or, without force, no log. AT_E_NO_VALID
 * when all are failures, and then the output stays as it is; AT_PER_COMPAT empties it. */
at_status at_pick_best(at_arena *a, const at_pick_request *q, at_pick **picks, int *num_picks,
                       at_error *err);

#endif
