/* sketch/rewrites.h: rewrites of the computation, before any stage has a nest. A rewrite is a row
 * of the table in derive.c. */
#ifndef AT_REWRITES_H
#define AT_REWRITES_H

#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

/* Rewrites a stage where that serves; false: the state is thrown away. New stages stand before the
 * stage. given: as for s->before. */
typedef bool rewrite_stage(sketch_state *s, int stage, const at_facts_given *given);
/* What sums sum (rewrite_sums.c); their operands (rewrite_operands.c); in which order tensors are
 * stored (rewrite_layout.c). */
rewrite_stage rewrite_ranges, rewrite_phases, rewrite_terms, rewrite_operands, rewrite_shifted,
    rewrite_apart, rewrite_last, rewrite_turned;

/* All stages of sums at once. */
void rewrite_inline_all(sketch_state *s);

#endif
