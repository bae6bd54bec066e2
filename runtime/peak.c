/* runtime/peak.c: the most floating-point operations per second one core does right now, per
 * instruction set: independent chains of multiply-adds in registers and nothing else. Run in the
 * worker, beside the kernels that are measured against it. */
#include "runtime/runtime_int.h"

/* Chains: at least latency (4 to 5 cycles) times units (2). One multiply-add counts as two. Without
 * FMA (sse2, scalar) multiplications and additions alternate, each counting as one.
 * The operands are 0.5 and finite small sums, so no value overflows or becomes denormal. */
#define AVX512(n) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #n "\n\t"
#define AVX2(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n\t"
#define SSE2(m, a) "mulps %%xmm14, %%xmm" #m "\n\taddps %%xmm15, %%xmm" #a "\n\t"
#define SCALAR(m, a) "mulss %%xmm14, %%xmm" #m "\n\taddss %%xmm15, %%xmm" #a "\n\t"

__attribute__((target("avx512f"), noinline)) static void spin_avx512(int64_t n) {
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

__attribute__((target("avx2"), noinline)) static void spin_avx2(int64_t n) {
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
SPIN_SSE(spin_sse2, SSE2)
SPIN_SSE(spin_scalar, SCALAR)

static const struct {
    void (*spin)(int64_t n);
    int flops; /* per trip */
} loops[] = {
    {spin_scalar, 14}, {spin_sse2, 14 * 4}, {spin_avx2, 12 * 8 * 2}, {spin_avx512, 24 * 16 * 2}};
_Static_assert(sizeof loops / sizeof loops[0] == AT_ISA_COUNT, "one loop per instruction set");

typedef struct spinning {
    void (*spin)(int64_t n);
    int64_t n;
} spinning;

static void spin_one(long i, int thread, void *context) {
    const spinning *s = context;
    (void)i, (void)thread;
    s->spin(s->n);
}

/* All threads at once, until the last one is done. */
static int64_t spin_all(const at_par *par, spinning *s) {
    int64_t start = at_now_ns();
    par->parallel_for(spin_one, par->threads, s);
    return at_now_ns() - start;
}

double at_peak_gflops(at_isa isa, int threads) {
    const int64_t chunk_ns = 1000 * 1000; /* long against the clock, short against a time slice */
    const int chunks = 5;
    spinning s = {loops[isa].spin, 1000};
    at_par par;
    int64_t ns = 0;
    at_par_setup(&par, threads);
    for (;; s.n *= 2) { /* calibrates, and lets the core reach the clock it runs this code at */
        ns = spin_all(&par, &s);
        if (ns >= chunk_ns) break;
    }
    for (int i = 0; i < chunks; i++) {
        int64_t again = spin_all(&par, &s);
        if (again < ns) ns = again;
    }
    return (double)par.threads * (double)s.n * loops[isa].flops / (double)ns;
}
