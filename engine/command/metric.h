/* engine/command/metric.h: the figure that a command prints. */
#ifndef AT_ENGINE_METRIC_H
#define AT_ENGINE_METRIC_H

#include <regex.h>

#include "base/base.h"

typedef struct at_metric {
    regex_t pattern;
    bool higher, is_there;
} at_metric;

/* AT_E_USAGE: it is no extended regular expression, or has no parentheses. */
at_status at_metric_open(at_metric *m, const char *pattern, bool higher, at_error *err);
void at_metric_close(at_metric *m);
/* What stands in the parentheses where the pattern first fits, as a cost, which is to be small: a
 * time in seconds, by the unit behind it (ns, us, ms, s), or, where the largest is the best, one
 * over it. false: it fits nowhere, or there is no number above 0. */
bool at_metric_read(const at_metric *m, const char *text, double *cost);
/* That text, whether it is a number or not; NULL: the pattern fits nowhere. In a. */
const char *at_metric_figure(at_arena *a, const at_metric *m, const char *text);

#endif
