/* engine/measure/accuracy.h: how accurate a kernel is, which a search may be limited by.
 *
 * It is measured with standard-normal inputs and weights from a fixed seed (weights of the user's
 * are taken as they are), against the computation in double: the largest error of an output, and
 * the root of the mean square of the errors, over the root of the mean square of the output. */
#ifndef AT_ENGINE_ACCURACY_H
#define AT_ENGINE_ACCURACY_H

#include "engine/measure/measure.h"

/* What a record of this session's task tells stands under the options' limit as it did under the
 * limit that it was made with. */
bool at_accuracy_stands(at_session *s, const at_record *r);
/* Of a candidate that is compiled: into result, measured once for all that add up the same terms in
 * the same order. Where the kernel fails, result says so. AT_E_INTERRUPTED AT_E_USAGE AT_E_BUG */
at_status at_accuracy_measure(at_session *s, at_arena *a, const at_candidate *c, at_record *result,
                              at_error *err);
/* false: it failed, or it is above the limit, which result then says. */
bool at_accuracy_require(const at_session *s, at_arena *a, at_record *result);
/* A record of a failure that is one only by its accuracy. */
bool at_accuracy_failed(const at_record *r);
/* What a record of the log tells of all that add up the same sums. */
void at_accuracy_learn(at_session *s, const at_record *r);
/* One that adds up the same sums was above the limit. */
bool at_accuracy_is_refused(const at_session *s, const at_program *p);

#endif
