/* cli/describe.h: task and configuration in the words that every command uses. */
#ifndef AT_CLI_DESCRIBE_H
#define AT_CLI_DESCRIBE_H

#include "cli/json_out.h"
#include "engine/engine.h"

/* "conv2d_3x3_gemm N=1,H=56,W=56,CI=64,CO=64" */
void at_text_add_task(at_text *out, const at_session *s);

/* " --log LOG", and which of several contexts there is meant; isa NULL: whichever. */
void at_text_add_log(at_text *out, const char *log, bool has_others, int threads, const char *isa);

/* s: what speeds are shares of. "1.234 ms   187.35 GFLOP/s   98.4 % of the FMA peak
 * beside it" */
void at_text_add_figure(at_text *out, double time_s, double gflops, double of_peak,
                        const at_session *s);

/* "errors over the root mean square of the output: at most 6.3e-06, root mean square 8.3e-07\n";
 * not known: nothing. */
/* Where that is above 1: the peak beside it was too low. of_bound: as of at_best. */
void at_text_add_bound(at_text *out, double of_bound);
void at_text_add_accuracy(at_text *out, const at_accuracy *x);

/* "none meets --max-error 1e-05; the best error reached is 3.6e-05 of ..." */
void at_text_add_inaccurate(at_text *out, const at_tally *t, const at_engine_options *o);

/* Member accuracy; null where it is not known. */
void at_out_accuracy(at_out *o, const at_accuracy *x);
/* Members task, args; index, entity. */
void at_out_task(at_out *o, const at_session *s);
void at_out_config(at_out *o, const at_config *c);

#endif
