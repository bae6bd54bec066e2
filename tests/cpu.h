/* tests/cpu.h: what this CPU runs. */
#ifndef AT_TESTS_CPU_H
#define AT_TESTS_CPU_H

#include "codegen/target.h"

/* With the parts that the target's kernels use. */
static inline bool cpu_has(const at_target *target) {
    if (target->lanes == 16)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (target->lanes == 8) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return true;
}

#endif
