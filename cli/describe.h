/* cli/describe.h: task and configuration in the words that every command uses. */
#ifndef AT_CLI_DESCRIBE_H
#define AT_CLI_DESCRIBE_H

#include "cli/json_out.h"
#include "engine/engine.h"

/* "conv2d_3x3_gemm N=1,H=56,W=56,CI=64,CO=64" */
void at_text_add_task(at_text *out, const at_session *s);

/* in_bytes: GB/s and the bandwidth instead. "1.234 ms   187.35 GFLOP/s   98.4 % of the FMA peak
 * beside it\n" */
void at_text_add_figure(at_text *out, double time_s, double gflops, double of_peak, bool in_bytes);

/* Members task, args; index, entity. */
void at_out_task(at_out *o, const at_session *s);
void at_out_config(at_out *o, const at_config *c);

#endif
