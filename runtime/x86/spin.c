/* runtime/x86/spin.c: loops that show what a core does right now: independent multiply-adds for its
 * peak, and chains of dependent steps for its clock. With them, the table of vector sets. */
#include "runtime/x86/x86.h"

/* ---- multiply-adds --------------------------------------------------------------------------- */

/* Chains: at least latency (4 to 5 cycles) times units (2). One multiply-add counts as two. Without
 * FMA (sse2, scalar) multiplications and additions alternate, each counting as one.
 * The operands are 0.5 and finite small sums, so no value overflows or becomes denormal. */
#define AVX512(n) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #n "\n\t"
#define AVX2(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n\t"
#define SSE2(m, a) "mulps %%xmm14, %%xmm" #m "\n\taddps %%xmm15, %%xmm" #a "\n\t"
#define SCALAR(m, a) "mulss %%xmm14, %%xmm" #m "\n\taddss %%xmm15, %%xmm" #a "\n\t"

__attribute__((target("avx512f"), noinline)) static void multiply_add_avx512(int64_t n) {
    static const float half = 0.5f;
    __asm__ volatile(
        "vbroadcastss %1, %%zmm30\n\tvbroadcastss %1, %%zmm31\n\t"
        ".p2align 6\n1:\n\t" AVX512(0) AVX512(1) AVX512(2) AVX512(3) AVX512(4) AVX512(5) AVX512(6)
            AVX512(7) AVX512(8) AVX512(9) AVX512(10) AVX512(11) AVX512(12) AVX512(13) AVX512(14)
                AVX512(15) AVX512(16) AVX512(17) AVX512(18) AVX512(19) AVX512(20) AVX512(21)
                    AVX512(22) AVX512(23) "dec %0\n\tjnz 1b\n\tvzeroupper"
        : "+r"(n)
        : "m"(half)
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19",
          "xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31");
}

/* Four products of bytes to a lane, or two of bf16, which are added to it. */
#define DOT(n) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #n "\n\t"
#define DOT_BF16(n) "vdpbf16ps %%zmm30, %%zmm31, %%zmm" #n "\n\t"
#define DOTS_AVX512(name, DOT)                                                                     \
    __attribute__((target("avx512f"), noinline)) static void name(int64_t n) {                     \
        __asm__ volatile(                                                                          \
            "vpxord %%zmm30, %%zmm30, %%zmm30\n\tvpxord %%zmm31, %%zmm31, %%zmm31\n\t"             \
            ".p2align 6\n1:\n\t" DOT(0) DOT(1) DOT(2) DOT(3) DOT(4) DOT(5) DOT(6) DOT(7) DOT(8)    \
                DOT(9) DOT(10) DOT(11) DOT(12) DOT(13) DOT(14) DOT(15) DOT(16) DOT(17) DOT(18)     \
                    DOT(19) DOT(20) DOT(21) DOT(22) DOT(23) "dec %0\n\tjnz 1b\n\tvzeroupper"       \
            : "+r"(n)                                                                              \
            :                                                                                      \
            : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",        \
              "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17",      \
              "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31");             \
    }
DOTS_AVX512(dot_avx512, DOT)
DOTS_AVX512(dot_bf16, DOT_BF16)

#define DOT_AVX2(n) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #n "\n\t"
__attribute__((target("avx2"), noinline)) static void dot_avx2(int64_t n) {
    __asm__ volatile("vpxor %%ymm14, %%ymm14, %%ymm14\n\tvpxor %%ymm15, %%ymm15, %%ymm15\n\t"
                     ".p2align 6\n1:\n\t" DOT_AVX2(0) DOT_AVX2(1) DOT_AVX2(2) DOT_AVX2(3)
                         DOT_AVX2(4) DOT_AVX2(5) DOT_AVX2(6) DOT_AVX2(7) DOT_AVX2(8) DOT_AVX2(9)
                             DOT_AVX2(10) DOT_AVX2(11) "dec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(n)
                     :
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
}

__attribute__((target("avx2"), noinline)) static void multiply_add_avx2(int64_t n) {
    static const float half = 0.5f;
    __asm__ volatile("vbroadcastss %1, %%ymm14\n\tvbroadcastss %1, %%ymm15\n\t"
                     ".p2align 6\n1:\n\t" AVX2(0) AVX2(1) AVX2(2) AVX2(3) AVX2(4) AVX2(5) AVX2(6)
                         AVX2(7) AVX2(8) AVX2(9) AVX2(10) AVX2(11) "dec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(n)
                     : "m"(half)
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
}

/* xmm14 is 1 here: a product chain that halves would end in denormals. */
#define SPIN_SSE(name, PAIR)                                                                       \
    __attribute__((noinline)) static void name(int64_t n) {                                        \
        static const float one = 1.0f, half = 0.5f;                                                \
        __asm__ volatile("movss %1, %%xmm14\n\tshufps $0, %%xmm14, %%xmm14\n\t"                    \
                         "movss %2, %%xmm15\n\tshufps $0, %%xmm15, %%xmm15\n\t"                    \
                         "movaps %%xmm14, %%xmm0\n\tmovaps %%xmm14, %%xmm1\n\t"                    \
                         "movaps %%xmm14, %%xmm2\n\tmovaps %%xmm14, %%xmm3\n\t"                    \
                         "movaps %%xmm14, %%xmm4\n\tmovaps %%xmm14, %%xmm5\n\t"                    \
                         "movaps %%xmm14, %%xmm6\n\tmovaps %%xmm15, %%xmm7\n\t"                    \
                         "movaps %%xmm15, %%xmm8\n\tmovaps %%xmm15, %%xmm9\n\t"                    \
                         "movaps %%xmm15, %%xmm10\n\tmovaps %%xmm15, %%xmm11\n\t"                  \
                         "movaps %%xmm15, %%xmm12\n\tmovaps %%xmm15, %%xmm13\n\t"                  \
                         ".p2align 6\n1:\n\t" PAIR(0, 7) PAIR(1, 8) PAIR(2, 9) PAIR(3, 10)         \
                             PAIR(4, 11) PAIR(5, 12) PAIR(6, 13) "dec %0\n\tjnz 1b"                \
                         : "+r"(n)                                                                 \
                         : "m"(one), "m"(half)                                                     \
                         : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",   \
                           "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");  \
    }
SPIN_SSE(multiply_add_sse2, SSE2)
SPIN_SSE(multiply_add_scalar, SCALAR)

/* ---- chains ---------------------------------------------------------------------------------- */

/* Chains of dependent steps, whose duration is the clock's period times a constant. Wide vectors
 * have a clock of their own: 17 % below that of scalar code on one machine, which is back within 40
 * microseconds; so the chain is of the kernel's own kind. A spin takes some 5 microseconds, against
 * which the reading of the time (20 to 40 ns) is below 1 %. */
#define SCALAR_STEPS 20000 /* of 1 cycle */
#define VECTOR_STEPS 5000  /* of 4 to 5 */

static void step_scalar(int64_t n) {
    __asm__ volatile(".p2align 6\n1:\n\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

__attribute__((target("avx2"), noinline)) static void step_avx2(int64_t n) {
    __asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n\t.p2align 6\n1:\n\t"
                     "vfmadd231ps %%ymm0, %%ymm0, %%ymm0\n\tdec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(n)
                     :
                     : "cc", "xmm0");
}

__attribute__((target("avx512f"), noinline)) static void step_avx512(int64_t n) {
    __asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n\t.p2align 6\n1:\n\t"
                     "vfmadd231ps %%zmm0, %%zmm0, %%zmm0\n\tdec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(n)
                     :
                     : "cc", "xmm0");
}

/* ---- the table ------------------------------------------------------------------------------- */

const at_arch_set at_arch_sets[] = {
    {"scalar",
     at_x86_has_base,
     {multiply_add_scalar, 14, step_scalar, SCALAR_STEPS, false, NULL, 0},
     .for_types = false},
    {"sse2",
     at_x86_has_base,
     {multiply_add_sse2, 14 * 4, step_scalar, SCALAR_STEPS, false, NULL, 0},
     .for_types = false},
    {"avx2",
     at_x86_has_avx2,
     {multiply_add_avx2, 12 * 16, step_avx2, VECTOR_STEPS, true, NULL, 0},
     .for_types = false},
    {"avx2_f16c",
     at_x86_has_f16c,
     {multiply_add_avx2, 12 * 16, step_avx2, VECTOR_STEPS, true, NULL, 0},
     .for_types = true},
    {"avx2_vnni",
     at_x86_has_avx_vnni,
     {multiply_add_avx2, 12 * 16, step_avx2, VECTOR_STEPS, true, dot_avx2, 12 * 8 * 8},
     .for_types = true},
    {"avx512",
     at_x86_has_avx512,
     {multiply_add_avx512, 24 * 32, step_avx512, VECTOR_STEPS, true, NULL, 0},
     .for_types = false},
    {"avx512vnni",
     at_x86_has_vnni,
     {multiply_add_avx512, 24 * 32, step_avx512, VECTOR_STEPS, true, dot_avx512, 24 * 16 * 8},
     .for_types = true},
    {"avx512bf16",
     at_x86_has_bf16,
     {multiply_add_avx512, 24 * 32, step_avx512, VECTOR_STEPS, true, dot_bf16, 24 * 16 * 4},
     .for_types = true,
     .is_slow = at_x86_has_slow_bf16},
};
const int at_arch_num_sets = sizeof at_arch_sets / sizeof *at_arch_sets;
