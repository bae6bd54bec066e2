/* cost/aarch64/cores.c: facts of cores, for bounds and for speeds that are worked out of them: none
 * was measured. Where sources differ, the faster figure stands. Cache sizes are the usual ones of
 * the kind. Sources, named in the rows: Arm, Software Optimization Guides of Cortex-A55
 * (EPM128372), Cortex-A57 (UAN 0015B), Cortex-A72 (UAN 0016A), Cortex-A76 (PJDOC-466751330-7215)
 * and Neoverse N1 (PJDOC-466751330-9707); LLVM, AArch64SchedA53.td, AArch64SchedA55.td,
 * AArch64SchedA57.td and AArch64SchedNeoverseN1.td, which go by these guides; cpufp, what others
 * measured on RK3399, BCM2711, RK3588 and BCM2712; ncnn, arm-a53-a55-dual-issue.md; AnandTech,
 * Cortex A76 (12785); WikiChip. Which fact is whose: docs/notes/aarch64.md. */
#include "cost/cost_int.h"

#define KB 1024

/* Per cycle, of vectors of 128 bits. The latency of a multiply-add is that of its sum. */
#define PER_CYCLE(f, all, load, broadcast, store)                                                  \
    .fma = {f, f}, .arithmetic = {all, all}, .loads = {load, load}, .bcasts = broadcast,           \
    .stores = {store, store}
#define LATENCY(f, mul, add) .fma_latency = f, .mul_latency = mul, .add_latency = add
#define CACHES(l1_kb, l2_kb, l2_speed)                                                             \
    .l1d_bytes = l1_kb * KB, .l2_bytes = l2_kb * KB, .from_l2 = l2_speed, .from_l3 = 16,           \
    .from_memory = 16

/* Those that go in order have a window of the few instructions in their pipeline. */
const at_core at_aarch64_cores[] = {
    {.names = "cortex-a53",
     PER_CYCLE(1, 1, 0.5, 1, 1),
     LATENCY(4, 4, 4),
     .issue = 2,
     .window = AT_CORE_IN_ORDER,
     CACHES(32, 512, 16),
     .source = "LLVM, A53; cpufp, RK3399; ncnn; WikiChip, Cortex-A53"},
    {.names = "cortex-a55",
     PER_CYCLE(1, 1, 0.5, 1, 1),
     LATENCY(4, 4, 4),
     .issue = 2,
     .window = AT_CORE_IN_ORDER,
     CACHES(32, 256, 16),
     .source = "Arm EPM128372; LLVM, A55; cpufp, RK3588; ncnn"},
    {.names = "cortex-a72 cortex-a57",
     PER_CYCLE(1, 1, 1, 1, 0.5),
     LATENCY(3, 4, 4),
     .issue = 3,
     .window = 128,
     CACHES(32, 1024, 32),
     .source = "Arm UAN 0016A, UAN 0015B; LLVM, A57; cpufp, RK3399 and BCM2711"},
    {.names = "cortex-a76",
     PER_CYCLE(2, 2, 2, 2, 1),
     LATENCY(2, 3, 2),
     .issue = 4,
     .window = 128,
     CACHES(64, 512, 32),
     .source = "Arm PJDOC-466751330-7215; LLVM, N1; cpufp, RK3588; AnandTech, Cortex A76"},
    {.names = "neoverse-n1",
     PER_CYCLE(2, 2, 2, 2, 1),
     LATENCY(2, 3, 2),
     .issue = 4,
     .window = 128,
     CACHES(64, 1024, 32),
     .source = "Arm PJDOC-466751330-9707; LLVM, N1; WikiChip, Neoverse N1"},
};
_Static_assert(sizeof at_aarch64_cores / sizeof *at_aarch64_cores == AT_AARCH64_NUM_CORES,
               "cost_int.h tells how many");
