/* runtime/aarch64/vector_registers.c: what a kernel finds in registers that nobody has set. Source:
 * Arm IHI 0055, which keeps the lower halves of v8 to v15. */
#include "runtime/arch.h"

#define FROM(n) "dup v" #n ".4s, %w0\n\t"

void at_arch_fill_registers(uint32_t word) {
    __asm__ volatile(FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7) FROM(16)
                         FROM(17) FROM(18) FROM(19) FROM(20) FROM(21) FROM(22) FROM(23) FROM(24)
                             FROM(25) FROM(26) FROM(27) FROM(28) FROM(29) FROM(30) FROM(31)
                     :
                     : "r"(word)
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
                       "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
                       "v31");
}

/* FPCR (Arm ARM, C5.2.8): flags that arithmetic raises are in another register. */
uint64_t at_arch_float_mode(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

void at_arch_set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
