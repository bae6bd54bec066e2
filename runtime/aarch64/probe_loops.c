/* runtime/aarch64/probe_loops.c: short loops that show what else uses a core: multiply-adds that
 * wait for each other and such that do not, and loads that do not, from the first-level cache and
 * from the second. All registers are set before: what lies in them may be subnormal, and slow. */
#include "runtime/aarch64/aarch64.h"

#define TRIP(body) ".p2align 6\n1:\n\t" body "subs %0, %0, #1\n\tb.ne 1b\n\t"
#define ALL(R) R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7) R(16) R(17) R(18) R(19)
#define REGISTERS                                                                                  \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v30", "v31"

/* By 1, and 0 is added: all stay 0. */
#define CLEAR(n) "movi v" #n ".2d, #0\n\t"
#define READY "fmov v30.4s, #1.0\n\tfmov v31.4s, #1.0\n\t" ALL(CLEAR)
#define CHAIN "fmla v0.4s, v0.4s, v0.4s\n\t"
#define FMA(n) "fmla v" #n ".4s, v" #n ".4s, v31.4s\n\t"

/* 16 lines of 64 bytes; 40 lines that lie 4 KB apart: they compete for few sets of a first-level
 * cache, and find room in a second-level cache. */
enum { NEAR_LINES = 16, FAR_LINES = 40, LINE = 64, APART = 4096 };
static char near_lines[NEAR_LINES * LINE] __attribute__((aligned(4096)));
static char far_lines[FAR_LINES * APART] __attribute__((aligned(4096)));

#define NEAR(at, n) "ldr q" #n ", [%1, #64*" #at "]\n\t"
/* clang-format off */
#define NEAR_LOADS \
    NEAR(0, 0) NEAR(1, 1) NEAR(2, 2) NEAR(3, 3) NEAR(4, 4) NEAR(5, 5) NEAR(6, 6) NEAR(7, 7) \
    NEAR(8, 0) NEAR(9, 1) NEAR(10, 2) NEAR(11, 3) NEAR(12, 4) NEAR(13, 5) NEAR(14, 6) NEAR(15, 7)
/* clang-format on */
/* Their addresses are beyond what an instruction holds. */
#define FAR(n) "ldr q" #n ", [x9]\n\tadd x9, x9, #4096\n\t"
#define FAR_8 FAR(0) FAR(1) FAR(2) FAR(3) FAR(4) FAR(5) FAR(6) FAR(7)
#define FAR_LOADS "mov x9, %1\n\t" FAR_8 FAR_8 FAR_8 FAR_8 FAR_8

#define LOOP(name, body)                                                                           \
    __attribute__((noinline)) static void name(int64_t n, const char *at) {                        \
        __asm__ volatile(READY TRIP(body) : "+r"(n) : "r"(at) : "cc", "memory", "x9", REGISTERS);  \
    }
LOOP(chain, CHAIN CHAIN CHAIN CHAIN)
LOOP(multiply, ALL(FMA))
LOOP(near, NEAR_LOADS)
LOOP(far, FAR_LOADS)

/* Each takes about as long, a microsecond, where nobody else is there. */
static const at_arch_loop loops[AT_PROBE_LOOPS] = {
    [AT_PROBE_CHAIN] = {chain, NULL, 96, 4},
    [AT_PROBE_MULTIPLY_ADDS] = {multiply, NULL, 256, 12},
    [AT_PROBE_NEAR] = {near, near_lines, 240, NEAR_LINES},
    [AT_PROBE_FAR] = {far, far_lines, 12, FAR_LINES},
};

bool at_arch_probes_fused(void) { return true; }
const at_arch_loop *at_arch_probe_loops(void) { return loops; }
