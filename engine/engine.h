/* engine/engine.h: a tuning run as a library: everything between "a task and how to measure it" and
 * "a result". It reads no command line and writes to no terminal; it tells what it does through the
 * callbacks in at_engine_options and at_tune_events, and comes to an end where options.stop says
 * so. A caller's mistake is a status and a line in at_error. Sessions share nothing: each thread of
 * a program may have its own.
 *
 * Tuning (tune.h). What came out are records (records.h), the same ones that are in the log:
 *
 *     at_engine_options o = {.trials = 200, .tuner = "ga"};
 *     at_request q = {.template_name = "dense", .args = "M=64,N=64,K=64"};
 *     at_tuning t;
 *     at_best best;
 *     at_status s = at_tuning_open(&o, &q, "dense.log", &t, &err);
 *     if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){0}, &err);
 *     if (s == AT_OK && at_tuning_best(&t, &best)) ...   best.record->config, best.gflops
 *     at_tuning_close(&t, &err);
 *
 * One configuration: of arguments, an entity, an index or a log (task_config.h) a session
 * (session.h):
 *
 *     at_request q = {.template_name = "dense", .log = "dense.log"};
 *     at_session_open(&o, &q, false, &s, &err), at_session_context(&s, measuring, &err),
 *     at_candidate_lower(...)                                      its kernel: at_kernel
 *     at_session_reserve, at_session_start                         data, reference, worker
 *     at_config_time(...)                                          a record, and medians
 *     at_session_close(&s)
 *
 * Whoever measures must begin main() with at_worker_main_if_asked: the worker is the same program,
 * started again. */
#ifndef AT_ENGINE_H
#define AT_ENGINE_H

#include "engine/options.h"                /* what is asked for */
#include "engine/task/task_config.h"       /* a task, and a configuration of it */
#include "engine/task/user_template.h"     /* templates compiled when they are named */
#include "engine/task/log_texts.h"         /* computations that logs bring along */
#include "engine/search/config_cost.h"     /* estimated times of configurations */
#include "engine/search/config_pick.h"     /* the one that they put first */
#include "engine/task/task_weight.h"       /* whether a weight fits a task */
#include "engine/measure/session.h"        /* a task with its data, reference and worker */
#include "engine/measure/target_here.h"    /* targets that this machine runs */
#include "engine/measure/machine.h"        /* bounds of kernels */
#include "engine/search/machine_speeds.h"  /* tables of this machine */
#include "engine/measure/kernel_job.h"     /* a kernel bound to its data */
#include "engine/measure/accuracy.h"       /* errors of kernels, and their limit */
#include "engine/measure/measure.h"        /* one candidate: made, compiled, run */
#include "engine/measure/timed_rounds.h"   /* the same, timed well */
#include "engine/tune.h"                   /* a search, and the final at its end */
#include "engine/measure/states.h"         /* of the machine, while it went on */
#include "engine/final/final_states.h"     /* winners of other states */
#include "engine/measure/quieter_core.h"   /* where kernels run */
#include "engine/search/trials.h"          /* its trials, one by one */
#include "engine/task/operator.h"          /* templates that compute the same */
#include "engine/measure/problem_room.h"   /* whether a layer fits this machine */
#include "engine/task/operator_join.h"     /* which of them are kept of a log */
#include "engine/task/workload.h"          /* sets of layers */
#include "engine/tune_set.h"               /* searches of several problems, one budget */
#include "engine/measure/anchors.h"        /* what trials are timed against */
#include "engine/far/far.h"                /* workers elsewhere */
#include "engine/far/far_search.h"         /* a search over them */
#include "engine/measure/record_verify.h"  /* does a record still hold? */
#include "engine/task/record_use.h"        /* records that fit their task */
#include "engine/command/command_search.h" /* commands instead of kernels */
#include "engine/task/template_change.h"   /* records of an edited template */
#include "engine/search/recorded_space.h"  /* searches of a recorded space */
#include "engine/version.h"

#endif
