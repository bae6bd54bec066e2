/* tests/cpu.h: what this CPU runs. */
#ifndef AT_TESTS_CPU_H
#define AT_TESTS_CPU_H

#include <string.h>

#include "codegen/target.h"

typedef struct cpu_part {
    const char *name;
    bool has;
} cpu_part;

#ifdef __x86_64__
#define CPU_ARCHITECTURE "x86-64"
#define CPU_PART(name)                                                                             \
    { name, __builtin_cpu_supports(name) }
#define CPU_PARTS                                                                                  \
    CPU_PART("sse2"), CPU_PART("avx2"), CPU_PART("fma"), CPU_PART("f16c"), CPU_PART("avxvnni"),    \
        CPU_PART("avx512f"), CPU_PART("avx512vl"), CPU_PART("avx512bw"), CPU_PART("avx512dq"),     \
        CPU_PART("avx512vnni"), CPU_PART("avx512bf16")
#else
#include <sys/auxv.h>
#define CPU_ARCHITECTURE "AArch64"
#define CPU_PARTS                                                                                  \
    {"dotprod", getauxval(AT_HWCAP) >> 20 & 1}, {"fp16fml", getauxval(AT_HWCAP) >> 23 & 1}, {      \
        "i8mm", getauxval(AT_HWCAP2) >> 13 & 1                                                     \
    }
#endif

/* All parts that the target's kernels use. */
static inline bool cpu_has(const at_target *target) {
    const cpu_part parts[] = {CPU_PARTS};
    if (strcmp(target->architecture->name, CPU_ARCHITECTURE) != 0) return false;
    for (const char *p = target->parts; *p; p += *p == ',') {
        const int n = (int)strcspn(p, ","), num = sizeof parts / sizeof *parts;
        int i = 0;
        while (i < num && (strncmp(parts[i].name, p, (size_t)n) != 0 || parts[i].name[n])) i++;
        if (i == num) AT_BUG("tests/cpu.h does not know the part %.*s", n, p);
        if (!parts[i].has) return false;
        p += n;
    }
    return true;
}

#endif
