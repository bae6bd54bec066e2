/* engine/measure/reference.h: the outputs as they should be.
 *
 * The naive text of the computation, which knows nothing of schedules, is run once. Where that
 * would take long, the output of the default configuration stands in for it, once a random
 * projection of it (schedule.h) equals the projected computation, which knows nothing of schedules
 * either and is a small part of the work. */
#ifndef AT_ENGINE_REFERENCE_H
#define AT_ENGINE_REFERENCE_H

#include "engine/measure/naive_run.h"

/* Fills the expected outputs of s->data, whose inputs are there. AT_E_USAGE where they exceed this
 * machine; AT_E_NO_VALID where they are not there by s->deadline_ns; AT_E_INPUT where an index lies
 * outside of its tensor; AT_E_INTERRUPTED, AT_E_BUG. */
at_status at_reference_run(at_session *s, at_error *err);
/* The same of runs, in each of which elements are moved; *moved then has those that there was time
 * for. */
at_status at_reference_run_moved(at_session *s, at_moved *moved, at_error *err);
/* Data drawn from a seed. AT_E_NO_VALID where they are not there by s->deadline_ns;
 * AT_E_INTERRUPTED. */
at_status at_reference_fill(at_session *s, at_dataset *d, uint64_t seed, at_error *err);
/* The same with standard-normal numbers. */
at_status at_reference_fill_normal(at_session *s, at_dataset *d, uint64_t seed, at_error *err);
/* The outputs for inputs drawn from the options' seed. Where most outputs are zeros or not finite
 * since the inputs are large (an exponential of a sum of products), they are drawn smaller. Between
 * the two the worker runs by itself, and *r and the session's scratch stay as they are; the second
 * must follow where the first gives AT_OK. */
typedef struct at_reference {
    at_naive_run run;
    bool is_projected; /* it makes the sums of a projection, */
    at_projection projection;
    at_buf sums; /* which lie there */
    int64_t begin_ns;
} at_reference;
at_status at_reference_begin(at_session *s, at_reference *r, at_error *err);
at_status at_reference_end(at_session *s, at_reference *r, at_error *err);
/* Fills the data with the session's seed, and makes outputs of them: so small that most say
 * something. */
at_status at_reference_find_scale(at_session *s, at_error *err);

/* The outputs of these data in double, from the same text, as two floats each: what they are
 * rounded to, and, where limits would be, the rest. The data lie in the store of s->data. Errors as
 * above. */
at_status at_reference_in_double(at_session *s, at_dataset *d, at_error *err);
/* The outputs and their limits, as for data that is not exact. Errors as above. */
at_status at_reference_with_limits(at_session *s, at_dataset *d, at_error *err);

#endif
