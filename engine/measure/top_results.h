/* engine/measure/top_results.h: the best of many results, of which some were timed in a state of
 * the machine that does not count. */
#ifndef AT_ENGINE_TOP_RESULTS_H
#define AT_ENGINE_TOP_RESULTS_H

#include "records/records.h"

/* The `most` best valid ones of different code, best first; returns how many. Results without a
 * pair that counts are compared by what they would be if they had one (state_shift.h). */
int at_top_results(const at_record *const *results, int n, at_objective objective,
                   const at_record **out, int most);

#endif
