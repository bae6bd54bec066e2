/* cli/set_report.h: what came out of the layers of a workload, or of the parts of a network, each
 * and all together. */
#ifndef AT_CLI_SET_REPORT_H
#define AT_CLI_SET_REPORT_H

#include "cli/tune_report.h"

/* What is known of a way of computing a layer when its search is over. */
typedef struct at_layer_result {
    int problem; /* whose way it is */
    const at_template_row *row;
    const char *task, *args, *title; /* title: as of at_task_title */
    at_tally tally;
    bool has_others; /* contexts of the task in the log; this one is of: */
    int threads;
    const char *isa;
    bool found;            /* the rest is there */
    double time_s, gflops; /* of one run */
    double of_peak;
    at_accuracy accuracy;
    const char *args_json,
        *best_json; /* members of --json; best_json: "null" where none is found */
} at_layer_result;

/* Lives in arena. */
typedef struct at_set_result {
    at_arena *arena;
    at_problem *problems; /* layers of a workload, parts of a network, or an operator alone */
    int num_problems;
    const char *layers; /* what they are called; NULL: an operator alone */
    const char *advice; /* the last line: what comes next; NULL: nothing */
    at_out *json;       /* of a network: the object that --json's members go into; else NULL */
    AT_VEC(at_layer_result) ways;
    const at_set_tuning *tuning; /* NULL: each had a budget of its own */
    const char *log_path;
    int64_t start_ns, trials; /* trials: asked for */
} at_set_result;

/* t, of a way of the problem, may be closed afterwards. */
void at_set_result_add(at_set_result *r, int problem, const at_tuning *t);
/* Prints the table, or the object of --json: of layers the best way of each, of an operator alone
 * all ways. AT_E_NO_VALID where a layer, or the operator, has no valid configuration;
 * AT_E_INTERRUPTED. */
at_status at_set_report(const at_set_result *r, const at_options *o, at_error *err);

#endif
