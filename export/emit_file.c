/* export/emit_file.c: the files of `apply`: kernels, functions that choose between them, a main,
 * and a header.
 *
 * The files depend on libc only, compile without warnings, hold no state, and need no include where
 * no main is asked for. */
#include "export/export_int.h"

#include <ctype.h>
#include <string.h>

static void kernel_head(at_text *out, const at_file_kernel *f) {
    at_text_add(out, f->head);
    at_text_add(out, "\n");
    at_program_print(out, f->program, false);
}

static void how_to_compile(at_text *out, const at_kernel *k, int threads,
                           const at_file_options *o) {
    const char *source = o->source ? o->source : "kernel.c", *dot = strrchr(source, '.');
    size_t stem = dot && dot > source ? (size_t)(dot - source) : strlen(source);
    const char *cc = k->dialect == AT_DIALECT_TCC ? "tcc"
                     : threads > 1                ? "cc -O3 -fopenmp"
                                                  : "cc -O3";
    at_text_addf(out, "compile: %s%s ", cc, o->with_main ? "" : " -c");
    at_text_add_shell(out, source, strlen(source));
    if (o->with_main) {
        at_text_add(out, " -o ");
        at_text_add_shell(out, source, stem);
        at_text_add(out, " && ./");
        at_text_add_shell(out, source, stem);
    }
    at_text_addf(out, "\n%s%s%s%s\n",
                 o->header ? "declarations are in " : "declarations stand before the kernel",
                 o->header ? o->header : "",
                 k->dialect == AT_DIALECT_TCC ? "; tiles are machine code: "
                 : !k->target->prelude        ? "; plain C"
                                              : "; runs on CPUs with ",
                 !k->target->prelude && k->dialect != AT_DIALECT_TCC ? "" : k->target->name);
}

static void source_head(at_text *out, const at_file_kernel *kernels, bool families,
                        const at_file_options *o) {
    at_text text = {0};
    if (families) at_text_add(&text, o->head);
    else kernel_head(&text, kernels);
    at_text_add(&text, "\n");
    how_to_compile(&text, kernels->kernel, kernels->threads, o);
    at_text_add(out, "/*\n");
    at_file_comment(out, at_text_str(&text));
    at_text_add(out, " */\n");
    at_text_free(&text);
}

static void add_declarations(at_text *out, const at_file_kernel *kernels, int n,
                             const at_families *families) {
    for (int i = 0; i < families->len; i++) at_family_declare(out, &families->data[i]);
    for (int i = 0; i < n; i++) {
        if (i) at_text_add(out, "\n");
        at_kernel_declare(out, &kernels[i]);
    }
}

static void header_file(at_arena *a, at_text *out, const at_file_kernel *kernels,
                        const at_file_options *o, bool families, const char *declarations) {
    const char *head = families ? o->head : kernels->head;
    at_text guard = {0};
    const char *stem = at_c_name(a, o->header);
    for (const char *c = stem; *c; c++) at_text_addf(&guard, "%c", toupper((unsigned char)*c));
    at_text_add(out, "/*\n");
    at_file_comment(out, head);
    at_text_addf(out,
                 " *\n * Pointers need the alignment of their elements (4 bytes) and no more; what "
                 "is written must not\n * overlap what is read. Functions keep no state: any may "
                 "run at the same time as any other.\n */\n"
                 "#ifndef %s\n#define %s\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s\n"
                 "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                 at_text_str(&guard), at_text_str(&guard), declarations);
    at_text_free(&guard);
}

at_status at_emit_file(at_arena *a, const at_file_kernel *kernels, int n, const at_file_options *o,
                       at_text *source, at_text *header, at_error *err) {
    at_families families = at_file_families(a, kernels, n);
    at_text declarations = {0};
    add_declarations(&declarations, kernels, n, &families);
    source_head(source, kernels, families.len > 0, o);
    if (o->with_main) at_file_main_includes(source);
    if (o->header) {
        at_text_addf(source, "#include \"%s\"\n\n", o->header);
        header_file(a, header, kernels, o, families.len > 0, at_text_str(&declarations));
    } else at_text_addf(source, "%s\n", at_text_str(&declarations));
    at_text_free(&declarations);

    for (int i = 0; i < n; i++) {
        if (families.len) {
            at_text head = {0};
            kernel_head(&head, &kernels[i]);
            at_text_add(source, i ? "\n/*\n" : "/*\n");
            at_file_comment(source, at_text_str(&head));
            at_text_add(source, " */\n");
            at_text_free(&head);
        }
        at_kernel_define(source, &kernels[i], i == 0);
    }
    for (int i = 0; i < families.len; i++) at_family_define(source, &families.data[i]);
    if (!o->with_main) return AT_OK;
    return at_file_main(a, kernels, n, &families, source, err);
}
