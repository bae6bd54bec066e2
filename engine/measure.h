/* engine/measure.h: one configuration on its way from the space to a result and a line of the log.
 */
#ifndef AT_ENGINE_MEASURE_H
#define AT_ENGINE_MEASURE_H

#include "engine/session.h"

/* What is known of one configuration, whether measured now or read from a log. */
typedef struct at_result {
    int64_t index;         /* in the space */
    int error_no;          /* at_err_no */
    const char *error;     /* text; "" if none */
    const double *costs_s; /* as the log has them */
    int num_costs;
    const double *samples_s; /* raw, in measured order */
    int num_samples;
    int number;              /* runs per sample; 0 where nothing was timed */
    const char *sample_kind; /* "full", "single"; "" where nothing was timed */
    const char *check;       /* "exact", "tolerance", "unchecked", "failed" */
    double mean_s, gflops;   /* 0 for failures */
    double max_error;        /* of the check */
    double peak_gflops;      /* FMA peak of the core, measured less than a minute before */
    const char *code_hash;   /* "" where it was not lowered */
    int64_t same_as;         /* index of the measurement this is a copy of; -1 */
    double all_cost_s, timestamp_s;
} at_result;

/* A configuration made ready to run; everything is owned by the arena it was prepared in, but the
 * shared object, which at_candidate_drop deletes. */
typedef struct at_candidate {
    at_config config;
    at_program *program;
    at_kernel *kernel;
    char *object; /* of gcc and clang, else NULL */
    at_job job;
} at_candidate;

/* Program and kernel only (show, apply): AT_E_NO_VALID with the rule that is broken. */
at_status at_candidate_lower(at_session *s, at_arena *a, const at_config *c,
                             const at_lower_options *o, at_candidate *out, at_error *err);
at_lower_options at_session_lower_options(const at_session *s, const char *name);
/* Everything up to the job; false: result says why not. With a known code hash a caller stops
 * there. */
bool at_candidate_make(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                       at_result *result);
/* It is not measured, since its bound is too far from the best: error 1. */
void at_result_prune(at_arena *a, at_result *r);
bool at_result_is_pruned(const at_result *r);
/* false: result says why not. AT_E_OUTPUT, AT_E_BUG: nothing compiles on this machine (see
 * at_build_object), which is no result; AT_E_INTERRUPTED. */
at_status at_candidate_compile(at_session *s, at_arena *a, at_candidate *c, at_result *result,
                               bool *compiled, at_error *err);
/* best_s: time of the best so far, or 0: clearly slower ones are sampled once. AT_E_INTERRUPTED,
 * AT_E_BUG. */
at_status at_candidate_run(at_session *s, at_arena *a, at_candidate *c, double best_s,
                           at_result *result, at_error *err);
/* Its two halves: meanwhile it compiles and runs, and others may be made. */
at_status at_candidate_begin(at_session *s, at_candidate *c, double best_s, at_error *err);
at_status at_candidate_end(at_session *s, at_arena *a, at_candidate *c, at_result *result,
                           at_error *err);
void at_candidate_drop(at_candidate *c);

/* A result as a record of this session's context, and back (of a record whose index is known). */
void at_result_to_record(const at_session *s, const at_result *r, const at_config *c,
                         at_record *out);
void at_result_from_record(at_arena *a, const at_record *record, int64_t index, double flops,
                           at_result *out);

#endif
