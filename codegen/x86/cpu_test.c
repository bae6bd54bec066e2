/* codegen/x86/cpu_test.c: a C function that asks the CPU: by builtins of gcc and clang, or, where
 * any compiler is to take it, by cpuid for the parts and xgetbv for whether the system keeps their
 * registers.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 13.3 and 14.3. */
#include "codegen/x86/x86.h"

#include <string.h>

static const struct {
    const char *part;
    int leaf, sub, word, bit; /* word: eax, ebx, ecx, edx */
} bits[] = {{"fma", 1, 0, 2, 12},      {"f16c", 1, 0, 2, 29},       {"avx2", 7, 0, 1, 5},
            {"avx512f", 7, 0, 1, 16},  {"avx512dq", 7, 0, 1, 17},   {"avx512bw", 7, 0, 1, 30},
            {"avx512vl", 7, 0, 1, 31}, {"avx512vnni", 7, 0, 2, 11}, {"avxvnni", 7, 1, 0, 4},
            {"avx512bf16", 7, 1, 0, 5}};
enum { NUM_BITS = sizeof bits / sizeof bits[0] };

/* %1$s: the name */
static const char code[] = "void %1$s_cpuid(unsigned leaf, unsigned subleaf, unsigned *words);\n"
                           "unsigned %1$s_xgetbv(unsigned which);\n"
                           "__asm__(\".text\\n.globl %1$s_cpuid\\n%1$s_cpuid:\\n\"\n"
                           "        \".byte 0x53\\n\" /* push rbx */\n"
                           "        \".byte 0x49,0x89,0xd0\\n\" /* mov r8, rdx */\n"
                           "        \".byte 0x89,0xf8\\n\" /* mov eax, edi */\n"
                           "        \".byte 0x89,0xf1\\n\" /* mov ecx, esi */\n"
                           "        \".byte 0x0f,0xa2\\n\" /* cpuid */\n"
                           "        \".byte 0x41,0x89,0x00\\n\" /* mov [r8], eax */\n"
                           "        \".byte 0x41,0x89,0x58,0x04\\n\" /* mov [r8+4], ebx */\n"
                           "        \".byte 0x41,0x89,0x48,0x08\\n\" /* mov [r8+8], ecx */\n"
                           "        \".byte 0x41,0x89,0x50,0x0c\\n\" /* mov [r8+12], edx */\n"
                           "        \".byte 0x5b\\n\" /* pop rbx */\n"
                           "        \".byte 0xc3\\n\" /* ret */\n"
                           "        \".globl %1$s_xgetbv\\n%1$s_xgetbv:\\n\"\n"
                           "        \".byte 0x89,0xf9\\n\" /* mov ecx, edi */\n"
                           "        \".byte 0x0f,0x01,0xd0\\n\" /* xgetbv */\n"
                           "        \".byte 0xc3\\n\" /* ret */\n"
                           ");\n\n";

static bool needs(const at_target *t, const char *part) {
    size_t n = strlen(part);
    for (const char *p = t->parts; (p = strstr(p, part)); p += n)
        if ((p == t->parts || p[-1] == ',') && (p[n] == 0 || p[n] == ',')) return true;
    return false;
}

static void ask(const at_target *t, const char *name, int leaf, int sub, at_text *out) {
    bool first = true;
    for (int i = 0; i < NUM_BITS; i++) {
        if (bits[i].leaf != leaf || bits[i].sub != sub || !needs(t, bits[i].part)) continue;
        if (first) at_text_addf(out, "    %s_cpuid(%d, %d, words);\n", name, leaf, sub);
        at_text_addf(out, "    if (!(words[%d] >> %d & 1)) return 0; /* %s */\n", bits[i].word,
                     bits[i].bit, bits[i].part);
        first = false;
    }
}

static void ask_compiler(const at_target *t, const char *name, at_text *out) {
    at_text_addf(out, "static int %s(void) {\n    __builtin_cpu_init();\n    return ", name);
    for (const char *s = t->parts; *s;) {
        int n = (int)strcspn(s, ",");
        at_text_addf(out, "%s__builtin_cpu_supports(\"%.*s\")", s == t->parts ? "" : " && ", n, s);
        s += n + (s[n] == ',');
    }
    at_text_add(out, ";\n}\n\n");
}

void at_x86_cpu_test(const at_target *t, const char *name, bool by_compiler, at_text *out) {
    if (by_compiler && !needs(t, "avxvnni") &&
        !needs(t, "f16c")) { /* which not every compiler's builtins know */
        ask_compiler(t, name, out);
        return;
    }
    bool vex = needs(t, "avx2") || needs(t, "avx512f");
    const char *state = needs(t, "avx512f") ? "0xe6" : "0x06"; /* registers the system saves */
    if (vex) at_text_addf(out, code, name);
    at_text_addf(out, "static int %s(void) {\n", name);
    if (vex) {
        at_text_addf(out,
                     "    unsigned words[4];\n"
                     "    %1$s_cpuid(0, 0, words);\n    if (words[0] < 7) return 0;\n"
                     "    %1$s_cpuid(1, 0, words);\n"
                     "    if (!(words[2] >> 27 & 1)) return 0; /* osxsave */\n"
                     "    if ((%1$s_xgetbv(0) & %2$s) != %2$s) return 0;\n",
                     name, state);
        ask(t, name, 1, 0, out);
        ask(t, name, 7, 0, out);
        ask(t, name, 7, 1, out);
    }
    at_text_add(out, "    return 1;\n}\n\n");
}
