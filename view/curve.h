/* view/curve.h: what pictures of searches have in common. */
#ifndef AT_VIEW_CURVE_H
#define AT_VIEW_CURVE_H

#include "view/view.h"

int64_t at_panel_trials(const at_panel *p); /* of the longest series */
double at_panel_seconds(const at_panel *p);
double at_panel_speed(const at_panel *p);  /* of the best trial; 0: none */
double at_panel_winner(const at_panel *p); /* speed of the winner; 0: none */
/* "ga.log: ga, tcc scalar" */
void at_text_add_series(at_text *out, const at_series *s);
/* "124.3 GFLOP/s in the final, found at trial 312 of 500, after 12.3 s of 19.0 s; 3 failed" */
void at_text_add_outcome(at_text *out, const at_panel *p, const at_series *s);

/* The step of an axis from 0 to `to` with about `count` ticks: 1, 2 or 5 times a power of ten. */
double at_nice_step(double to, int count);
double at_axis_end(double to, double step); /* a little beyond `to`; at least one step */

enum { AT_KNOB_VALUES = 12 }; /* so many are shown, the best */

#endif
