/* engine/tune.h: a tuning run, from its options to what came out. */
#ifndef AT_ENGINE_TUNE_H
#define AT_ENGINE_TUNE_H

#include "engine/config_features.h"
#include "engine/final_rounds.h"
#include "cli/trial_note.h"
#include "tuners/tuners.h"

typedef struct at_tuning {
    at_session s;
    const char *log_path;
    at_log *log;
    at_tuner *tuner;
    at_feature_maker features;
    at_known *known;
    at_tally tally;
    at_final final;
    at_notes notes;
    double best_gflops; /* of the trials done */
    int64_t best_trial; /* how many trials were done when the best was found */
    bool stopped_early;
    const at_result *first_failed; /* trial; NULL: none */
} at_tuning;

/* Prints the outcome. AT_E_NO_VALID where there is no best, AT_E_INTERRUPTED. */
at_status at_tune_report(at_tuning *t, at_error *err);

#endif
