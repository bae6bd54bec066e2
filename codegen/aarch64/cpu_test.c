/* codegen/aarch64/cpu_test.c: a C function that asks the system what the CPU has: programs may not
 * read the registers. Source: Linux, Documentation/arm64/elf_hwcaps.rst. */
#include "codegen/aarch64/aarch64.h"

#include <string.h>

static const struct {
    const char *part;
    int word, bit; /* of AT_HWCAP, which is 16, or AT_HWCAP2, which is 26 */
} parts[] = {{"dotprod", 16, 20}, {"fp16fml", 16, 23}, {"i8mm", 26, 13}};

void at_aarch64_cpu_test(const at_target *t, const char *name, bool by_compiler, at_text *out) {
    (void)by_compiler;
    at_text_addf(out, "unsigned long getauxval(unsigned long type);\n\nstatic int %s(void) {\n",
                 name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(t->parts, parts[i].part))
            at_text_addf(out, "    if (!(getauxval(%d) >> %d & 1)) return 0; /* %s */\n",
                         parts[i].word, parts[i].bit, parts[i].part);
    at_text_add(out, "    return 1;\n}\n\n");
}
