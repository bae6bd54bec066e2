/* cost/aarch64/cores.h: facts of the cores of AArch64. */
#ifndef AT_COST_AARCH64_CORES_H
#define AT_COST_AARCH64_CORES_H

#include "cost/cost.h"

enum { AT_AARCH64_NUM_CORES = 5 };
extern const at_core at_aarch64_cores[AT_AARCH64_NUM_CORES];

#endif
