/* engine/tune_set.h: several tasks tuned together: one log, one budget of trials and time,
 * which goes in rounds to where the weighted sum of times is expected to fall most (task_share.h).
 */
#ifndef AT_ENGINE_TUNE_SET_H
#define AT_ENGINE_TUNE_SET_H

#include "engine/search/task_share.h"
#include "engine/tune.h"
#include "engine/task/problem.h"

/* One of the ways under way. */
typedef struct at_set_member {
    int problem, way;   /* from 0: of which problem which one */
    at_tuning tuning;   /* without a worker while it is not its turn */
    int64_t data_bytes; /* of its data, in memory or not */
    bool prepared, has_data, started;
    int64_t turn; /* when it was its turn last; 0: never */
} at_set_member;

typedef struct at_set_tuning at_set_tuning;
typedef struct at_set_events {
    void (*begin)(void *ctx, at_set_tuning *t);
    void (*round)(void *ctx, at_set_tuning *t, int member); /* it is its turn now */
    /* As in at_tune_events; t->tally counts it, too. */
    void (*trial)(void *ctx, at_set_tuning *t, int member, const at_record *r, bool answered);
    void (*end)(void *ctx, at_set_tuning *t);
    void *ctx;
} at_set_events;

struct at_set_tuning {
    at_arena *arena;
    at_engine_options options;
    const at_problem *problems;
    at_set_member *members;                 /* way by way, problem by problem */
    int num_problems, num_members, current; /* current: whose data the worker has; -1: nobody's */
    at_shares *shares;
    at_log *log;
    const char *log_path;
    const at_tuning *like; /* whose kind of machine decides about the budget; NULL: any */
    at_set_events events;
    /* Of all tasks together; current and best: of the one whose turn it is. */
    at_tally tally;
    int64_t first_trials; /* of each task, by turns, before it competes */
    int64_t start_ns, rounds, turns;
    int64_t switches, switch_ns;         /* to a task whose data is in memory */
    int64_t made, made_ns;               /* times that data and reference of a task were made */
    int64_t kept_bytes, most_kept_bytes; /* data of tasks in memory */
};

/* options: trials (0: 500 for each problem) and time_s are for all together, early_stopping is each
 * way's. log: path; NULL: TEMPLATE.log of the first way. Ended by at_set_close, on failure too.
 * AT_E_USAGE: fewer trials than ways; as at_tuning_open. Problems are borrowed. */
at_status at_set_open(const at_engine_options *o, const at_problem *problems, int n,
                      const char *log, at_set_tuning *t, at_error *err);
/* The trials, then the finals of the ways, where there are several problems of those that come near
 * the best of theirs, each of which gets an equal part of what is left of the time.
 * What came out is in t, also after an error. To be stopped is none. AT_E_OUTPUT AT_E_BUG */
at_status at_set_run(at_set_tuning *t, const at_set_events *events, at_error *err);
/* What is known of a member on machines of that kind (CPU and instruction set; NULL: any): its
 * search, or one of another context beside it. NULL: there was no worker of that kind. */
const at_tuning *at_set_on(const at_set_member *m, const at_tuning *like);
/* The best of a problem so far, and the number of its way; -1: nothing is valid yet. */
int at_set_best(const at_set_tuning *t, int problem, at_best *out);
at_status at_set_close(at_set_tuning *t, at_error *err); /* AT_E_OUTPUT: the log */

#endif
