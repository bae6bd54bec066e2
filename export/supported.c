/* export/supported.c: NAME_supported(): does the CPU have what the kernel's instructions need? */
#include "codegen/target.h"
#include "export/export_int.h"

static bool asks(const at_kernel *k) { return k->dialect != AT_DIALECT_C && *k->target->parts; }

void at_begin_as_tuned(at_text *out, const at_kernel *k) {
    at_text_add(out, "#if defined __GNUC__ && !defined __clang__ /* as it was for the tuner */\n"
                     "#pragma GCC push_options\n"
                     "#pragma GCC optimize(\"fp-contract=off\", \"no-trapping-math\", "
                     "\"no-math-errno\")\n");
    if (asks(k) && k->target->architecture->parts_as_they_stand)
        at_text_addf(out, "#pragma GCC target(\"%s\")\n", k->target->parts);
    at_text_add(out, "#endif\n");
}

void at_end_as_tuned(at_text *out) {
    at_text_add(out, "#if defined __GNUC__ && !defined __clang__\n"
                     "#pragma GCC pop_options\n"
                     "#endif\n\n");
}

void at_cpu_test_shared(at_text *out, const at_kernel *k, const char *prefix) {
    const at_target *t = k->target;
    at_text name = {0};
    if (!asks(k)) return;
    at_text_addf(&name, "%s_has_%s", prefix, t->name);
    /* Machine code may be compiled by anything. */
    t->architecture->cpu_test(t, at_text_str(&name), k->dialect != AT_DIALECT_TCC, out);
    at_text_free(&name);
}

void at_cpu_test(at_text *out, const at_face *f, const char *prefix) {
    const at_kernel *k = f->of->kernel;
    at_text_addf(out, "int %s_supported(void) { return ", f->of->name);
    if (asks(k)) at_text_addf(out, "%s_has_%s(); }\n\n", prefix, k->target->name);
    else at_text_add(out, "1; }\n\n");
}
