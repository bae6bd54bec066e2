/* cost/x86/cores.h: facts of the cores of x86-64. */
#ifndef AT_COST_X86_CORES_H
#define AT_COST_X86_CORES_H

#include "cost/cost.h"

enum { AT_X86_NUM_CORES = 11 };
extern const at_core at_x86_cores[AT_X86_NUM_CORES];

/* The text of files of speeds, one machine each. */
extern const char at_x86_speeds_sapphirerapids[], at_x86_speeds_znver3[], at_x86_speeds_znver5[];

#endif
