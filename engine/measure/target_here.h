/* engine/measure/target_here.h: targets on the machine that this program runs on. */
#ifndef AT_ENGINE_TARGET_HERE_H
#define AT_ENGINE_TARGET_HERE_H

#include "codegen/target.h"
#include "schedule/compute.h"

const at_target *at_target_here(void); /* the best that this CPU has */
/* AT_E_USAGE: the target is of another architecture, or this CPU lacks it. */
at_status at_target_check(const at_target *t, at_error *err);
/* The same with dot products of these kinds, bits of at_dot, where this CPU has them and they are
 * no slower than multiply-adds; else itself. */
const at_target *at_target_with_dots(const at_target *t, int kinds);
/* The same with what a computation's types of elements have use for. */
const at_target *at_target_of_types(const at_target *t, const at_compute *c);
/* All that it may give, t first; how many. */
enum { AT_TARGETS_OF_TYPES = 5 };
int at_targets_of_types(const at_target *t, const at_target *out[AT_TARGETS_OF_TYPES]);
/* Does it add products of such elements? Bytes are alike, with a sign or without. */
bool at_adds_products(const at_compute *c, at_type of);

#endif
