/* runtime/x86/vector_registers.c: what a kernel finds in registers that nobody has set. Source:
 * System V ABI for AMD64, which keeps none of them; Intel SDM volume 2, MOVUPS, VMOVUPS. */
#include "runtime/x86/x86.h"

#define FROM(n) "movups %0, %%xmm" #n "\n\t"
#define FROM_EVEX(n) "vmovups %0, %%xmm" #n "\n\t"

/* The first four lanes: written so, the upper halves stay clean, and SSE code is not slowed. */
__attribute__((target("avx512vl"), noinline)) static void fill_upper(const uint32_t word[4]) {
    __asm__ volatile(FROM_EVEX(16) FROM_EVEX(17) FROM_EVEX(18) FROM_EVEX(19) FROM_EVEX(20)
                         FROM_EVEX(21) FROM_EVEX(22) FROM_EVEX(23) FROM_EVEX(24) FROM_EVEX(25)
                             FROM_EVEX(26) FROM_EVEX(27) FROM_EVEX(28) FROM_EVEX(29) FROM_EVEX(30)
                                 FROM_EVEX(31)
                     :
                     : "m"(*(const uint32_t(*)[4])word)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",
                       "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

void at_arch_fill_registers(uint32_t w) {
    const uint32_t word[4] = {w, w, w, w};
    if (at_x86_has_avx512()) fill_upper(word);
    __asm__ volatile(FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7) FROM(8) FROM(9)
                         FROM(10) FROM(11) FROM(12) FROM(13) FROM(14) FROM(15)
                     :
                     : "m"(word)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/* MXCSR without the flags that arithmetic raises (Intel SDM volume 1, 10.2.3). */
enum { FLAGS = 0x3f };

uint64_t at_arch_float_mode(void) {
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    return mxcsr & ~(uint32_t)FLAGS;
}

void at_arch_set_float_mode(uint64_t mode) {
    const uint32_t mxcsr = (uint32_t)mode;
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}
