/* engine/search/tuning.h: the state of a search, and what it tells while it goes on. */
#ifndef AT_ENGINE_TUNING_H
#define AT_ENGINE_TUNING_H

#include "engine/search/config_cost.h"
#include "engine/search/config_features.h"
#include "engine/measure/baseline.h"
#include "engine/final/final_rounds.h"
#include "engine/measure/state_shift.h"

typedef struct at_tally {
    int64_t total;                      /* trials asked for, at most the space */
    int64_t done, answered;             /* answered: of those done, from the log */
    int64_t failed[AT_ERR_UNKNOWN + 1]; /* by error number */
    int64_t inaccurate;                 /* of the failed: beyond the limit of errors */
    double least_error;                 /* the smallest of theirs */
    bool in_bytes;                      /* best is GB/s */
    double best, best_s;                /* GFLOP/s of the best so far, and its time */
    int workers;                        /* elsewhere, ready now; 0: it is measured here */
    bool is_command,
        higher; /* best is no speed, but what a command printed, where higher is better */
} at_tally;
int64_t at_tally_failed(const at_tally *t); /* all kinds together */

typedef struct at_tuning at_tuning;
/* What is told while the trials go on; each may be NULL. */
typedef struct at_tune_events {
    void (*begin)(void *ctx, at_tuning *t);
    /* r is known now, and counted in t->tally; answered: by the log. The session's scratch is free
     * to be used. */
    void (*trial)(void *ctx, at_tuning *t, const at_record *r, bool answered);
    void (*end)(void *ctx, at_tuning *t);
    void *ctx;
} at_tune_events;

struct at_tuning {
    at_session s;
    at_tune_events events;
    const char *log_path;
    at_log *log;
    bool shares_log;     /* it is closed by somebody else */
    int64_t deadline_ns; /* of the trials, on the clock of at_now_ns; 0: none */
    at_tuner *tuner;
    at_feature_maker features;
    at_common_maker common;
    at_cost_model *costs; /* NULL: of a tuner that asks for none */
    bool costs_begun;     /* with the speeds of the log, and the tuner with them */
    at_known *known;
    at_state_shift shift; /* of the trials that the tuner has learned of */
    at_tally tally;
    at_final final;
    at_baseline baseline;
    double best_gflops;                /* of the trials done */
    int64_t best_trial;                /* how many trials were done when the best was found */
    bool stopped_early, exhausted;     /* exhausted: the tuner has nothing left to propose */
    const at_record *first_failed;     /* trial; NULL: none */
    struct at_far_search *far;         /* far_search.h; NULL: it is measured here */
    struct at_command_search *command; /* command_search.h; NULL: kernels are measured */
    at_tuning *other; /* of workers whose context is another one; NULL: there are none */
};

/* Task and tuner. Ended by at_tuning_close, on failure too. */
at_status at_tuning_begin(const at_engine_options *o, const at_request *q, at_tuning *t,
                          at_error *err);
/* What a search begins with. false: the task has none. */
bool at_tuning_default_config(at_session *s, at_config *out);
/* How many trials, and nothing known. */
void at_tuning_begin_tally(at_tuning *t);
/* The same of workers whose context is another one: with this one's log, learning from what this
 * one knows. */
at_status at_tuning_begin_other(const at_tuning *parent, const at_request *q, at_tuning *t,
                                at_error *err);

#endif
