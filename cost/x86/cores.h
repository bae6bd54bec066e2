/* cost/x86/cores.h: facts of the cores of x86-64. */
#ifndef AT_COST_X86_CORES_H
#define AT_COST_X86_CORES_H

#include "cost/cost.h"

enum { AT_X86_NUM_CORES = 11 };
extern const at_core at_x86_cores[AT_X86_NUM_CORES];

enum { AT_X86_NUM_SPEEDS = 3 }; /* speeds.c: of instruction sets, on one machine */
extern const at_speeds at_x86_speeds[AT_X86_NUM_SPEEDS];

#endif
