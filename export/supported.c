/* export/supported.c: NAME_supported(): does the CPU have what the kernel's instructions need? */
#include "codegen/target.h"
#include "export/export_int.h"

#include <string.h>

static bool asks(const at_kernel *k) { return k->dialect != AT_DIALECT_C && *k->target->parts; }

void at_cpu_test_shared(at_text *out, const at_kernel *k, const char *prefix) {
    const at_target *t = k->target;
    if (!asks(k)) return;
    if (k->dialect == AT_DIALECT_TCC) { /* machine code may be compiled by anything */
        const char *name = prefix;
        at_text full = {0};
        at_text_addf(&full, "%s_has_%s", name, t->name);
        t->architecture->cpu_test(t, at_text_str(&full), out);
        at_text_free(&full);
        return;
    }
    at_text_addf(out, "static int %s_has_%s(void) {\n    __builtin_cpu_init();\n    return ",
                 prefix, t->name);
    for (const char *s = t->parts; *s;) {
        int n = (int)strcspn(s, ",");
        at_text_addf(out, "%s__builtin_cpu_supports(\"%.*s\")", s == t->parts ? "" : " && ", n, s);
        s += n + (s[n] == ',');
    }
    at_text_add(out, ";\n}\n\n");
}

void at_cpu_test(at_text *out, const at_face *f, const char *prefix) {
    const at_kernel *k = f->of->kernel;
    at_text_addf(out, "int %s_supported(void) { return ", f->of->name);
    if (asks(k)) at_text_addf(out, "%s_has_%s(); }\n\n", prefix, k->target->name);
    else at_text_add(out, "1; }\n\n");
}
