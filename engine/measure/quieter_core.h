/* engine/measure/quieter_core.h: which core kernels are measured on, and what a core reaches that
 * nobody else uses. */
#ifndef AT_ENGINE_QUIETER_CORE_H
#define AT_ENGINE_QUIETER_CORE_H

#include "runtime/runtime.h"

/* What this CPU's cores reach alone; 0 where nothing is known of it. */
at_reach at_reach_here(void);
/* Of the cores that this process may use the quieter one is measured on from now on; *cores: among
 * how many. It is chosen once, for one thread's kernels; else it is the first. */
int at_quieter_core_here(int threads, int *cores);

#endif
