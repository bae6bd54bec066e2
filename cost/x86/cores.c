/* cost/x86/cores.c: facts of cores, for bounds: where sources differ, the faster figure stands,
 * since a bound must not be too high. Cache sizes are the usual ones of the kind. Sources, named in
 * the rows: AMD, Software Optimization Guides for Zen 2 (56305), Zen 3 (56665), Zen 4 (57647) and
 * Zen 5 (58455) microarchitectures; Intel, 64 and IA-32 Architectures Optimization Reference Manual
 * (248966), chapter 2; A. Fog, The microarchitecture of Intel, AMD and VIA CPUs, and Instruction
 * tables (agner.org/optimize); uops.info; WikiChip. None names what one core gets from memory at
 * most; 16 bytes per cycle is meant to be above all of them.
 *
 * Speeds are of the nearest core that was measured, of the same maker. What they are for is to
 * compare configurations, which needs no more than ratios. */
#include "cost/cost_int.h"

/* ---- files of measured speeds, which lie in the program as they are -------------------------- */

AT_TEXT_OF_FILE(at_x86_speeds_sapphirerapids, "cost/x86/speeds_sapphirerapids.json");
AT_TEXT_OF_FILE(at_x86_speeds_znver3, "cost/x86/speeds_znver3.json");
AT_TEXT_OF_FILE(at_x86_speeds_znver4, "cost/x86/speeds_znver4.json");
AT_TEXT_OF_FILE(at_x86_speeds_znver5, "cost/x86/speeds_znver5.json");

/* ---- facts of cores -------------------------------------------------------------------------- */

#define KB 1024

/* Per cycle, of vectors up to 256 bits and of 512; cores without the latter repeat the figure. */
#define PER_CYCLE(f, f512, all, all512, load, load512, broadcast, store, store512)                 \
    .fma = {f, f512}, .arithmetic = {all, all512}, .loads = {load, load512}, .bcasts = broadcast,  \
    .stores = {store, store512}
#define LATENCY(f, mul, add) .fma_latency = f, .mul_latency = mul, .add_latency = add
#define CACHES(l1_kb, l2_kb, l2_speed)                                                             \
    .l1d_bytes = l1_kb * KB, .l2_bytes = l2_kb * KB, .from_l2 = l2_speed, .from_l3 = 32,           \
    .from_memory = 16

const at_core at_x86_cores[] = {
    {.names = "haswell",
     PER_CYCLE(2, 2, 2, 2, 2, 2, 2, 1, 1),
     LATENCY(5, 5, 3),
     .issue = 4,
     .window = 192,
     CACHES(32, 256, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Haswell; Fog, Haswell"},
    {.names = "broadwell",
     PER_CYCLE(2, 2, 2, 2, 2, 2, 2, 1, 1),
     LATENCY(5, 3, 3),
     .issue = 4,
     .window = 192,
     CACHES(32, 256, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Broadwell; Fog, Broadwell"},
    {.names = "skylake",
     PER_CYCLE(2, 2, 2, 2, 2, 2, 2, 1, 1),
     LATENCY(4, 4, 4),
     .issue = 4,
     .window = 224,
     CACHES(32, 256, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Skylake client; Fog, Skylake"},
    {.names = "skylake-avx512 cascadelake cooperlake",
     PER_CYCLE(2, 2, 2, 2, 2, 2, 2, 1, 1),
     LATENCY(4, 4, 4),
     .issue = 4,
     .window = 224,
     CACHES(32, 1024, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Skylake server; Fog, Skylake-X; uops.info SKX"},
    {.names = "icelake-server",
     PER_CYCLE(2, 2, 2, 2, 2, 2, 2, 2, 1),
     LATENCY(4, 4, 4),
     .issue = 5,
     .window = 352,
     CACHES(48, 1280, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Ice Lake; WikiChip, Sunny Cove; uops.info ICL"},
    {.names = "icelake-client tigerlake rocketlake",
     PER_CYCLE(2, 1, 2, 2, 2, 2, 2, 2, 1),
     LATENCY(4, 4, 4),
     .issue = 5,
     .window = 352,
     CACHES(48, 512, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Ice Lake; Fog, Ice Lake; uops.info ICL, RKL"},
    {.names = "sapphirerapids alderlake",
     PER_CYCLE(2, 2, 3, 2, 3, 2, 3, 2, 1),
     LATENCY(4, 4, 2),
     .issue = 6,
     .window = 512,
     CACHES(48, 2048, 64),
     .speeds = at_x86_speeds_sapphirerapids,
     .source = "Intel 248966, Golden Cove; chipsandcheese.com, Golden Cove; uops.info ADL-P"},
    {.names = "znver2",
     PER_CYCLE(2, 2, 4, 4, 2, 2, 2, 1, 1),
     LATENCY(5, 3, 3),
     .issue = 6,
     .window = 224,
     CACHES(32, 512, 32),
     .speeds = at_x86_speeds_znver3,
     .source = "AMD 56305; Fog, Zen 2"},
    {.names = "znver3",
     PER_CYCLE(2, 2, 4, 4, 2, 2, 2, 1, 1),
     LATENCY(4, 3, 3),
     .issue = 6,
     .window = 256,
     CACHES(32, 512, 32),
     .speeds = at_x86_speeds_znver3,
     .source = "AMD 56665; Fog, Zen 3"},
    {.names = "znver4",
     PER_CYCLE(2, 1, 4, 2, 2, 1, 2, 1, 0.5),
     LATENCY(4, 3, 3),
     .issue = 6,
     .window = 320,
     CACHES(32, 1024, 32),
     .speeds = at_x86_speeds_znver4,
     .source = "AMD 57647; chipsandcheese.com, Zen 4; uops.info ZEN4"},
    {.names = "znver5",
     PER_CYCLE(2, 2, 4, 4, 2, 2, 2, 2, 1),
     LATENCY(4, 3, 2),
     .issue = 8,
     .window = 448,
     CACHES(48, 1024, 64),
     .speeds = at_x86_speeds_znver5,
     .source = "AMD 58455; AMD, Hot Chips 2024, Zen 5; uops.info ZEN5"},
};
_Static_assert(sizeof at_x86_cores / sizeof *at_x86_cores == AT_X86_NUM_CORES,
               "cost_int.h tells how many");
