/* runtime/par_apart.h: a check run in which turns of parallel loops do not see each other. */
#ifndef AT_RUNTIME_PAR_APART_H
#define AT_RUNTIME_PAR_APART_H

#include "runtime/inside.h"

/* From here on par's loops have turns that start from the same memory, one by one; false: there is
 * no room for copies of it, or a single thread. The end says whether turns wrote apart. run_ns:
 * what a run with all threads takes. late_ns: no loop is split once the clock has got there; 0:
 * there is no such moment. */
bool at_par_apart_begin(at_par *par, const at_job *job, const at_place *places, int64_t run_ns,
                        int64_t late_ns);
bool at_par_apart_end(char *error, size_t error_size);

/* Runs the kernel with such turns and checks it (job_steps.c); not where that would take too much
 * of the job's time limit. run_ns: what a run with all threads takes. */
at_job_end at_job_run_apart(const at_inside *in, const at_job *job, const at_place *places,
                            int64_t run_ns, at_run *r, at_outcome *out);

#endif
