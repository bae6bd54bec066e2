/* tests/cpu.h: what this CPU runs. */
#ifndef AT_TESTS_CPU_H
#define AT_TESTS_CPU_H

#include <string.h>

#include "codegen/target.h"

#ifdef __x86_64__

/* With the parts that the target's kernels use. */
static inline bool cpu_has(const at_target *target) {
    if (strcmp(target->architecture->name, "x86-64") != 0) return false;
    if (target->lanes == 16)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (target->lanes == 8) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return true;
}

#else
#include <sys/auxv.h>

static inline bool cpu_has(const at_target *target) {
    const bool dots = getauxval(AT_HWCAP) >> 20 & 1;
    return !strcmp(target->architecture->name, "AArch64") && (!target->dots || dots);
}

#endif

#endif
