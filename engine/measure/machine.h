/* engine/measure/machine.h: the core that bounds of kernels are worked out for, and what they are
 * in time.
 */
#ifndef AT_ENGINE_MACHINE_H
#define AT_ENGINE_MACHINE_H

#include "engine/measure/session.h"

/* What bounds are worked out for: this CPU. AT_E_USAGE where nothing is known of it. */
at_status at_machine_here(int threads, at_machine *out, at_error *err);
/* Kernels of this session get their bounds from now on. AT_E_USAGE where nothing is known of this
 * CPU. After at_session_context. */
at_status at_session_machine(at_session *s, at_error *err);
/* The core's clock in GHz, by the FMA peak last measured. */
double at_session_clock_ghz(const at_session *s);
double at_bound_seconds(const at_session *s, const at_bound *b);
#define AT_IMPOSSIBLE 1.1 /* times the peak: multiply-adds that no measurement is believed */
/* Operations of the kernel's code, of whole vectors, but no more than the task's: a compiler works
 * out once what is the same for a row. 0: there are none, or lists decide. In a. */
double at_executed_flops(const at_session *s, at_arena *a, const at_lowered *p);
/* Multiply-adds of the kernel's code in run_s over those that fit into it at that FMA peak; 0:
 * those of the task fit, or there are none. In a. */
double at_share_of_bound(const at_session *s, at_arena *a, const at_lowered *p, double run_s,
                         double peak_gflops);
/* Would a run in so many seconds do more than `times` the multiply-adds that fit into them at the
 * peak? Counted are those of the task, and where these are too many those of the kernel's code,
 * since there are algorithms that do fewer; in a. */
bool at_is_beyond_peak(const at_session *s, at_arena *a, const at_lowered *p, double run_s,
                       double times);

#endif
