/* cli/set_report.h: what came out of the layers of a workload, each and all together. */
#ifndef AT_CLI_SET_REPORT_H
#define AT_CLI_SET_REPORT_H

#include "cli/tune_report.h"

/* What is known of a layer when its search is over. */
typedef struct at_layer_result {
    const char *task, *args;
    int64_t count;
    at_tally tally;
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
    AT_VEC(at_layer_result) layers;
    const at_set_tuning *tuning; /* NULL: each had a budget of its own */
    const char *operator_name;   /* the layers are ways of computing it; NULL: a workload */
    const char *log_path;
    int64_t start_ns, trials; /* trials: asked for */
} at_set_result;

/* t may be closed afterwards. */
void at_set_result_add(at_set_result *r, const at_tuning *t, int64_t count);
/* Prints the table, or the object of --json. AT_E_NO_VALID where a layer has no valid
 * configuration, or no way of an operator has; AT_E_INTERRUPTED. */
at_status at_set_report(const at_set_result *r, const at_options *o, at_error *err);

#endif
