/* runtime/par_apart.h: a check run in which turns of parallel loops do not see each other. */
#ifndef AT_RUNTIME_PAR_APART_H
#define AT_RUNTIME_PAR_APART_H

#include "runtime/inside.h"

/* From here on par's loops have turns that start from the same memory, one by one; false: there is
 * too much of it, or a single thread. The end says whether turns wrote apart. */
bool at_par_apart_begin(at_par *par, const at_job *job, const at_place *places);
bool at_par_apart_end(char *error, size_t error_size);

/* Runs the kernel so, and checks it (job_steps.c). */
at_job_end at_job_run_apart(const at_inside *in, const at_job *job, const at_place *places,
                            at_run *r, at_outcome *out);

#endif
