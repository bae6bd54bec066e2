/* engine/tune.h: a tuning run, from its options to what came out. */
#ifndef AT_ENGINE_TUNE_H
#define AT_ENGINE_TUNE_H

#include "engine/search/tuning.h"

/* What is known to be best: time, speed and share are of one measurement. Lives as long as the
 * tuning. */
typedef struct at_best {
    const at_record *record; /* of its trial */
    const at_turns *final;   /* the last it was in; NULL: the figures are those of its trial */
    double time_s, gflops;
    at_interval of_peak; /* low and high equal to it where there was no final; where the peak beside
                            it was too low, of what its own operations show to be possible */
    double of_bound;     /* at_finalist.of_bound; 0: not known */
} at_best;

/* Task, tuner, log and data. log: path; NULL: TEMPLATE.log. Ended by at_tuning_close, on failure
 * too. */
at_status at_tuning_open(const at_engine_options *o, const at_request *q, const char *log,
                         at_tuning *t, at_error *err);
/* Only task and tuner, and room for the data is asked for. The log that is there at path must
 * follow, which is read once for all. Both are borrowed until at_tuning_close. */
at_status at_tuning_prepare(const at_engine_options *o, const at_request *q, at_tuning *t,
                            at_error *err);
at_status at_tunings_read_log(at_tuning *const *all, int n, const char *path, at_log *log,
                              at_error *err);
/* The text of a computation goes into the log, unless it is what the log says of its name. */
at_status at_tuning_add_text(at_tuning *t, at_error *err);
/* The trials, then the final. What came out is in t, also after an error. A stop is no error.
 * AT_E_OUTPUT AT_E_BUG */
at_status at_tuning_run(at_tuning *t, const at_tune_events *events, at_error *err);
/* The result of the default configuration; NULL: there is none, or it failed. */
const at_record *at_tuning_default(at_tuning *t);
/* The best so far, of the log's results, too. false: nothing is valid yet. */
bool at_tuning_best(const at_tuning *t, at_best *out);
/* Data, reference and worker of a search whose log is read, once there is room for the data; what
 * the search begins with. AT_E_NO_VALID AT_E_INTERRUPTED AT_E_BUG */
at_status at_tuning_start(at_tuning *t, at_error *err);
at_status at_tuning_close(at_tuning *t, at_error *err); /* AT_E_OUTPUT: the log */

#endif
