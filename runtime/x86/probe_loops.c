/* runtime/x86/probe_loops.c: short loops that show what else uses a core: multiply-adds that wait
 * for each other and such that do not, and loads that do not, from the first-level cache and from
 * the second. All registers are set before: what lies in them may be subnormal, and slow. */
#include "runtime/x86/x86.h"

/* 256 bits where there are multiply-adds of that, so that a loop behind a kernel of narrow code
 * does not change the clock; else multiplications of 128. By 1 and, for what is added, 0: all
 * stay 1. */
#define TRIP(body) ".p2align 6\n1:\n\t" body "dec %0\n\tjnz 1b\n\t"
#define ALL(R) R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7) R(8) R(9) R(10) R(11)
#define ACCUMULATORS                                                                               \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm14", "xmm15"

#define SET_AVX(n) "vmovaps %%ymm14, %%ymm" #n "\n\t"
#define FMA(n) "vfmadd213ps %%ymm15, %%ymm14, %%ymm" #n "\n\t"
#define READY_AVX "vbroadcastss %2, %%ymm14\n\tvpxor %%xmm15, %%xmm15, %%xmm15\n\t" ALL(SET_AVX)

#define SET_SSE(n) "movaps %%xmm14, %%xmm" #n "\n\t"
#define MUL(n) "mulps %%xmm14, %%xmm" #n "\n\t"
#define READY_SSE "movss %2, %%xmm14\n\tshufps $0, %%xmm14, %%xmm14\n\t" ALL(SET_SSE)

/* 16 lines of 64 bytes; 40 lines that lie 4 KB apart: they compete for one set of a first-level
 * cache of up to 16 ways, and find room in a second-level cache. 3.5 KB in all. */
enum { NEAR_LINES = 16, FAR_LINES = 40, LINE = 64, APART = 4096 };
static char near_lines[NEAR_LINES * LINE] __attribute__((aligned(4096)));
static char far_lines[FAR_LINES * APART] __attribute__((aligned(4096)));

/* The halves of lines in turn: cores with three loads a cycle have no three of one half. */
#define LOAD_AVX(at, n) "vmovaps 64*" #at "+32*(" #at "%%2)(%1), %%ymm" #n "\n\t"
#define LOAD_SSE(at, n) "movaps 64*" #at "+32*(" #at "%%2)(%1), %%xmm" #n "\n\t"
/* clang-format off */
#define LOADS(L) \
    L(0, 0) L(1, 1) L(2, 2) L(3, 3) L(4, 4) L(5, 5) L(6, 6) L(7, 7) \
    L(8, 0) L(9, 1) L(10, 2) L(11, 3) L(12, 4) L(13, 5) L(14, 6) L(15, 7)
#define FAR_LOADS(L) \
    LOADS(L) \
    L(16, 0) L(17, 1) L(18, 2) L(19, 3) L(20, 4) L(21, 5) L(22, 6) L(23, 7) \
    L(24, 0) L(25, 1) L(26, 2) L(27, 3) L(28, 4) L(29, 5) L(30, 6) L(31, 7) \
    L(32, 0) L(33, 1) L(34, 2) L(35, 3) L(36, 4) L(37, 5) L(38, 6) L(39, 7)
/* clang-format on */
#define FAR_AVX(at, n) "vmovaps 4096*" #at "(%1), %%ymm" #n "\n\t"
#define FAR_SSE(at, n) "movaps 4096*" #at "(%1), %%xmm" #n "\n\t"

static const float one = 1;

#define LOOP(name, attribute, ready, body, last)                                                   \
    attribute static void name(int64_t n, const char *at) {                                        \
        __asm__ volatile(ready TRIP(body) last                                                     \
                         : "+r"(n)                                                                 \
                         : "r"(at), "m"(one)                                                       \
                         : "cc", "memory", ACCUMULATORS);                                          \
    }
#define AVX __attribute__((target("avx2,fma"), noinline))
#define SSE __attribute__((noinline))
LOOP(chain_avx, AVX, READY_AVX, FMA(0) FMA(0) FMA(0) FMA(0), "vzeroupper")
LOOP(chain_sse, SSE, READY_SSE, MUL(0) MUL(0) MUL(0) MUL(0), "")
LOOP(multiply_avx, AVX, READY_AVX, ALL(FMA), "vzeroupper")
LOOP(multiply_sse, SSE, READY_SSE, ALL(MUL), "")
LOOP(near_avx, AVX, READY_AVX, LOADS(LOAD_AVX), "vzeroupper")
LOOP(near_sse, SSE, READY_SSE, LOADS(LOAD_SSE), "")
LOOP(far_avx, AVX, READY_AVX, FAR_LOADS(FAR_AVX), "vzeroupper")
LOOP(far_sse, SSE, READY_SSE, FAR_LOADS(FAR_SSE), "")

/* Each takes about as long, half a microsecond, where nobody else is there: reading the clock then
 * lengthens all of them alike. */
static const at_arch_loop avx[AT_PROBE_LOOPS] = {
    [AT_PROBE_CHAIN] = {chain_avx, NULL, 96, 4},
    [AT_PROBE_MULTIPLY_ADDS] = {multiply_avx, NULL, 256, 12},
    [AT_PROBE_NEAR] = {near_avx, near_lines, 240, NEAR_LINES},
    [AT_PROBE_FAR] = {far_avx, far_lines, 12, FAR_LINES},
};
static const at_arch_loop sse[AT_PROBE_LOOPS] = {
    [AT_PROBE_CHAIN] = {chain_sse, NULL, 96, 4},
    [AT_PROBE_MULTIPLY_ADDS] = {multiply_sse, NULL, 256, 12},
    [AT_PROBE_NEAR] = {near_sse, near_lines, 240, NEAR_LINES},
    [AT_PROBE_FAR] = {far_sse, far_lines, 12, FAR_LINES},
};

bool at_arch_probes_fused(void) { return at_x86_has_avx2(); }
const at_arch_loop *at_arch_probe_loops(void) { return at_x86_has_avx2() ? avx : sse; }
