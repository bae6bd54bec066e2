/* engine/measure/measure.h: one configuration on its way from the space to a result and a line of
 * the log.
 */
#ifndef AT_ENGINE_MEASURE_H
#define AT_ENGINE_MEASURE_H

#include "engine/measure/session.h"
#include "foreign/foreign.h"

/* Of times that come of ratios: more than a clock gives would only make lines long. */
enum { AT_TIME_DIGITS = 9 };

/* A configuration made ready to run; everything is owned by the arena it was prepared in, but the
 * shared object, which at_candidate_drop deletes. */
typedef struct at_candidate {
    at_config config;
    at_program *program;
    /* A sketch computes the task's outputs by another computation. */
    const int *tensor_of;    /* [tensor of the program] the task's of that name; NULL: the same */
    int64_t *const *extents; /* [tensor of the task] */
    at_key key;              /* of the program */
    at_kernel *kernel;
    at_foreign_unit unit;  /* of a kernel that somebody wrote */
    const at_bound *bound; /* on the session's machine; NULL: it has none */
    char *object;          /* of gcc and clang, else NULL */
    int64_t ahead;         /* at_job.ahead */
    at_job job;
    /* By state: the median of the anchor's times in this candidate's last pairs. */
    double anchor_s[AT_STATE_COUNT];
    double clocked_s; /* what its last runs took by the clock: the median */
    /* Of its last check: the largest error, and the largest as a share of its element's limit. */
    double max_error, of_limit;
} at_candidate;

/* ---- candidate.c ----------------------------------------------------------------------------- */

/* Program and kernel only (show, apply): AT_E_NO_VALID with the rule that is broken. */
at_status at_candidate_lower(at_session *s, at_arena *a, const at_config *c,
                             const at_lower_options *o, at_candidate *out, at_error *err);
at_lower_options at_session_lower_options(const at_session *s, const char *name);
/* Program and key. result becomes a record of this session, not checked yet; false: it says why
 * not. With a known key a caller stops there. */
bool at_candidate_build(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                        at_record *result);
/* The kernel of what was built; false: result says why not. With a known code hash a caller stops
 * there. */
bool at_candidate_generate(at_session *s, at_arena *a, at_candidate *c, at_record *result);
/* at_candidate_build, then at_candidate_generate: everything up to the job. */
bool at_candidate_make(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                       at_record *result);
/* false: result says why not. AT_E_OUTPUT, AT_E_BUG: nothing compiles on this machine (see
 * at_build_object), which is no result; AT_E_INTERRUPTED. */
at_status at_candidate_compile(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                               bool *compiled, at_error *err);
/* Where that is cheap in a row, the worker compiles it already. */
void at_candidate_ahead(at_session *s, at_arena *a, at_candidate *c);
void at_candidate_drop(at_candidate *c);

/* ---- candidate_record.c ---------------------------------------------------------------------- */

at_err_no at_error_of_job(at_job_end end); /* as records have it */
/* A record of this session before anything is measured. */
void at_session_record(const at_session *s, const at_config *c, at_record *out);
/* It failed so: its record says how. */
void at_candidate_fail(at_arena *a, at_record *r, at_err_no error_no, const char *text);
/* It failed through no fault of its kernel's that could be found: error 8. */
void at_candidate_lose(at_arena *a, at_record *r, const char *why);
/* It is not measured, since its bound is too far from the best: error 1. */
void at_candidate_prune(at_arena *a, at_record *r);
/* A record of this session's task and context, read from a log or short-lived, as one that lives in
 * a; index: of its configuration, which is a point of the space. */
at_record *at_session_keep(const at_session *s, at_arena *a, const at_record *r, int64_t index);

/* ---- measure.c ------------------------------------------------------------------------------- */

/* It is run and timed to the end, and result says how it went. AT_E_INTERRUPTED, AT_E_BUG. */
at_status at_candidate_run(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                           at_error *err);
/* The two halves of it: in between it compiles and runs, and others may be made. best_s: time of
 * the best so far: clearly slower ones are sampled once; 0: none is. */
at_status at_candidate_begin(at_session *s, at_candidate *c, double best_s, at_error *err);
at_status at_candidate_end(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                           at_error *err);

#endif
