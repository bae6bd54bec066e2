/* runtime/cover.h: check runs of data in which a few elements are others each time. */
#ifndef AT_RUNTIME_COVER_H
#define AT_RUNTIME_COVER_H

#include "runtime/inside.h"

/* As many of at_job.cover_runs as there is time for, in memory of their own. */
at_job_end at_job_cover(const at_inside *in, const at_job *job, const at_code *code,
                        at_outcome *out);

/* Steps that it shares with other check runs (job_steps.c). Packs; runs the kernel once more over
 * poisoned memory, and gives what it returns; sends what nobody has expected values for to the
 * parent, who puts it into the store (run: see at_output_head). */
at_job_end at_job_pack(const at_job *job, const at_code *code, const at_place *places, at_run *r,
                       at_outcome *out);
int at_job_run_anew(const at_inside *in, const at_job *job, const at_place *places, at_run *r);
void at_job_publish(const at_inside *in, const at_job *job, const at_place *places, int64_t run);

#endif
