/* codegen/aarch64/peak_loop.c: a C function for gcc and clang that does independent multiply-adds
 * in registers and nothing else: what kernels of a target cannot exceed. */
#include "codegen/aarch64/aarch64.h"

enum { CHAINS = 24 }; /* at least latency (4 to 9 cycles) times units (2) */

static void each(at_text *out, const char *line) {
    at_text_add(out, "        \".irp r");
    for (int i = 0; i < CHAINS; i++) at_text_addf(out, ",%d", i);
    at_text_addf(out, "\\n\\t%s\\n\\t.endr\\n\\t\"\n", line);
}

double at_aarch64_peak_loop(const at_target *t, const char *name, at_text *out) {
    at_text_addf(out,
                 "__attribute__((noinline)) static void %s(long n) {\n"
                 "    __asm__ volatile(\n"
                 "        \"fmov v30.4s, #0.5\\n\\tfmov v31.4s, #0.5\\n\\t\"\n",
                 name);
    each(out, "movi v\\\\r\\\\().2d, #0");
    at_text_add(out, "        \".p2align 6\\n1:\\n\\t\"\n");
    each(out,
         t->lanes == 1 ? "fmadd s\\\\r, s30, s31, s\\\\r" : "fmla v\\\\r\\\\().4s, v30.4s, v31.4s");
    at_text_add(out, "        \"subs %0, %0, #1\\n\\tb.ne 1b\"\n        : \"+r\"(n) : : \"cc\"");
    for (int i = 0; i < 32; i++)
        if (i < CHAINS || i >= 30)
            at_text_addf(out, "%s\"v%d\"", i % 12 ? ", " : ",\n          ", i);
    at_text_add(out, ");\n}\n\n");
    return 2.0 * CHAINS * t->lanes;
}
