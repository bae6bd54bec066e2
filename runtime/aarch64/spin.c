/* runtime/aarch64/spin.c: loops that show what a core does right now: independent multiply-adds for
 * its peak, and chains of dependent steps for its clock. With them, the table of vector sets. */
#include "runtime/aarch64/aarch64.h"

/* Chains: at least latency (4 to 9 cycles) times units (2). One multiply-add counts as two. The
 * operands are 0.5 and finite sums. */
/* clang-format off */
#define EACH(R) \
    R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7) R(8) R(9) R(10) R(11) \
    R(12) R(13) R(14) R(15) R(16) R(17) R(18) R(19) R(20) R(21) R(22) R(23)
/* clang-format on */
#define REGISTERS                                                                                  \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30", "v31"
#define CLEAR(n) "movi v" #n ".2d, #0\n\t"
#define VECTOR(n) "fmla v" #n ".4s, v30.4s, v31.4s\n\t"
#define SCALAR(n) "fmadd s" #n ", s30, s31, s" #n "\n\t"
#define SPIN(name, STEP)                                                                           \
    __attribute__((noinline)) static void name(int64_t n) {                                        \
        __asm__ volatile("fmov v30.4s, #0.5\n\tfmov v31.4s, #0.5\n\t" EACH(                        \
                             CLEAR) ".p2align 6\n1:\n\t" EACH(STEP) "subs %0, %0, #1\n\tb.ne 1b"   \
                         : "+r"(n)                                                                 \
                         :                                                                         \
                         : "cc", REGISTERS);                                                       \
    }
SPIN(multiply_add_neon, VECTOR)
SPIN(multiply_add_scalar, SCALAR)

/* ---- chains ---------------------------------------------------------------------------------- */

/* Chains of dependent steps, whose duration is the clock's period times a constant. A spin takes
 * some 5 microseconds or more, against which the reading of the time is small. Sums are forwarded
 * earlier than factors: all operands wait. */
#define SCALAR_STEPS 10000 /* of 1 cycle */
#define VECTOR_STEPS 2500  /* of 4 to 9 */

static void step_scalar(int64_t n) {
    __asm__ volatile(".p2align 6\n1:\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
}

__attribute__((noinline)) static void step_neon(int64_t n) {
    __asm__ volatile("movi v0.2d, #0\n\t.p2align 6\n1:\n\tfmla v0.4s, v0.4s, v0.4s\n\t"
                     "subs %0, %0, #1\n\tb.ne 1b"
                     : "+r"(n)
                     :
                     : "cc", "v0");
}

/* ---- the table ------------------------------------------------------------------------------- */

const at_arch_set at_arch_sets[] = {
    {"a64",
     at_aarch64_has_base,
     {multiply_add_scalar, 24 * 2, step_scalar, SCALAR_STEPS, false, NULL, 0},
     .for_types = false},
    {"neon",
     at_aarch64_has_base,
     {multiply_add_neon, 24 * 8, step_neon, VECTOR_STEPS, true, NULL, 0},
     .for_types = false},
    {"neon_dotprod",
     at_aarch64_has_dotprod,
     {multiply_add_neon, 24 * 8, step_neon, VECTOR_STEPS, true, NULL, 0},
     .for_types = true},
    {"neon_i8mm",
     at_aarch64_has_i8mm,
     {multiply_add_neon, 24 * 8, step_neon, VECTOR_STEPS, true, NULL, 0},
     .for_types = true},
    {"neon_fp16fml",
     at_aarch64_has_fp16fml,
     {multiply_add_neon, 24 * 8, step_neon, VECTOR_STEPS, true, NULL, 0},
     .for_types = true},
};
const int at_arch_num_sets = sizeof at_arch_sets / sizeof *at_arch_sets;
