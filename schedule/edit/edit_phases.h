/* schedule/edit/edit_phases.h: E17, sums whose terms are 0 unless a remainder is, by phases. */
#ifndef AT_EDIT_PHASES_H
#define AT_EDIT_PHASES_H

#include "schedule/edit/edit.h"

/* The terms are 0 unless `place % step == 0`, where the place moves by one with an axis, and by
 * `factor` with one reduction, or with none, where the terms read something at `place / step`. */
typedef struct at_phase_steps {
    const at_expr *step, *factor; /* factor NULL: 1 */
} at_phase_steps;
bool at_edit_has_phases(const at_tensor *sum, int axis, at_phase_steps *out);

/* factor*inverse % step is `common`, their greatest common divisor (mod step). Of the factor 1
 * both are 1. */
typedef struct at_phase_inverse {
    int64_t inverse, common;
} at_phase_inverse;
at_phase_inverse at_phase_inverse_of(int64_t step, int64_t factor); /* both from 1 on */

/* The sum is stage `name`: its first axis is the phase of the axis, which goes by steps of S as the
 * reduction does, from the term that counts; what had its name picks its phases. is_whole: no phase
 * has fewer terms.
 *     @s = sum(r:R) ((h - r)%S == 0 ? x[(h - r)/S] : 0)*w[r]   ->
 *         @name = sum(r:R/S) x[h - r + p/S]*w[S*r + p%S];  @s = name[h%S, h/S]
 * Where the place moves by D with the reduction, it goes by steps of S/common, and counts where the
 * phase is divided by that:
 *     @s = sum(r:R) ((h - D*r)%S == 0 ? x[(h - D*r)/S] : 0)*w[r]   ->   of common 1,
 *         @name = sum(r:R/S) x[h - D*r + (p - D*p0)/S]*w[S*r + p0], p0 = inverse*p % S */
at_status at_edit_phases(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, at_phase_inverse by, bool is_whole,
                         const at_compute **compute, at_tree **out, at_error *err);
const at_expr *at_edit_zeros_between(const at_tensor *stage); /* by steps of what; NULL: none are */

#endif
