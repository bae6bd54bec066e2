/* codegen/x86/peak_loop.c: a C function for gcc and clang that does independent multiply-adds in
 * registers and nothing else: what kernels of a target cannot exceed. */
#include "codegen/x86/x86.h"

#include <string.h>

/* The line for each of the registers 0 to n - 1, whose number is \r in it. */
static void each(at_text *out, int n, const char *line) {
    at_text_add(out, "\n        \".irp r");
    for (int i = 0; i < n; i++) at_text_addf(out, ",%d", i);
    at_text_addf(out, "\\n\\t%s\\n\\t.endr\\n\\t\"", line);
}

static void clobbers(at_text *out, int n) {
    at_text_add(out, "\n        : \"+r\"(n) : \"m\"(half) : \"cc\"");
    for (int i = 0; i < n; i++)
        at_text_addf(out, "%s\"xmm%d\"", i % 11 ? ", " : ",\n          ", i);
}

/* Chains: at least latency (4 to 5 cycles) times units (2). Operands are 0.5 and finite sums. */
static void fused(at_text *out, char letter, int chains, int last) {
    char line[64];
    at_text_addf(out, "\"vbroadcastss %%1, %%%%%cmm%d\\n\\t\"", letter, last);
    snprintf(line, sizeof line, "vmulps %%%%%cmm%d, %%%%%cmm%d, %%%%%cmm\\\\r", letter, last,
             letter, last, letter);
    each(out, chains, line);
    at_text_add(out, "\n        \".p2align 6\\n1:\\n\\t\"");
    snprintf(line, sizeof line, "vfmadd231ps %%%%%cmm%d, %%%%%cmm%d, %%%%%cmm\\\\r", letter, last,
             letter, last, letter);
    each(out, chains, line);
    at_text_add(out, "\n        \"dec %0\\n\\tjnz 1b\\n\\tvzeroupper\"");
    clobbers(out, last + 1);
}

/* Multiplications by 1 and additions of 0.5, each counting as one. */
static void apart(at_text *out, const char *suffix) {
    char line[64];
    at_text_add(out, "\"movss %1, %%xmm15\\n\\tshufps $0, %%xmm15, %%xmm15\\n\\t\"\n        "
                     "\"movaps %%xmm15, %%xmm14\\n\\taddps %%xmm14, %%xmm14\\n\\t\"");
    each(out, 14, "movaps %%xmm14, %%xmm\\\\r");
    at_text_add(out, "\n        \".p2align 6\\n1:\\n\\t\"");
    snprintf(line, sizeof line, "mul%s %%%%xmm14, %%%%xmm\\\\r", suffix);
    each(out, 7, line);
    at_text_add(out, "\n        \"");
    for (int i = 7; i < 14; i++)
        at_text_addf(out, "add%s %%%%xmm15, %%%%xmm%d\\n\\t%s", suffix, i,
                     i == 10 ? "\"\n        \"" : "");
    at_text_add(out, "dec %0\\n\\tjnz 1b\"");
    clobbers(out, 16);
}

double at_x86_peak_loop(const at_target *t, const char *name, at_text *out) {
    const bool is_512 = strstr(t->parts, "avx512f");
    const int chains = is_512 ? 24 : 12;
    at_text_add(out, "__attribute__((noinline");
    if (t->fused) at_text_addf(out, ", target(\"%s\")", is_512 ? "avx512f" : "avx2,fma");
    at_text_addf(out,
                 ")) static void %s(long n) {\n    static const float half = 0.5f;\n"
                 "    __asm__ volatile(\n        ",
                 name);
    if (t->fused) fused(out, is_512 ? 'z' : 'y', chains, is_512 ? 31 : 15);
    else apart(out, t->lanes == 1 ? "ss" : "ps");
    at_text_add(out, ");\n}\n\n");
    return t->fused ? 2.0 * chains * (is_512 ? 16 : 8) : 14.0 * t->lanes;
}
