/* codegen/file.c: the files of `apply`: kernels with a typed face, their packing, and a header.
 *
 * The kernel's own functions take buf[]; people call NAME(const float *data, ..., void *workspace).
 * The files depend on libc only, compile without warnings, hold no state, and need no include where
 * no main is asked for. */
#include "codegen/file.h"

#include <ctype.h>
#include <string.h>

#include "codegen/x86_asm.h"

const char *at_file_type(const at_param *q) { return q->is_int ? "int" : "float"; }

void at_file_name(at_text *out, const char *name) {
    static const char *const reserved[] = {
        "int", "float", "double", "long",      "short", "char",  "unsigned", "signed", "const",
        "for", "if",    "do",     "workspace", "buf",   "shape", "threads",  "par",    "aligned"};
    at_text_add(out, name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(name, reserved[i])) at_text_add(out, "_");
}

bool at_file_takes(const at_param *q, bool pack) {
    return pack ? q->in_pack : q->in_kernel || q->role == AT_PARAM_OUT;
}

bool at_file_writes(const at_param *q, bool pack) {
    return q->role == AT_PARAM_OUT || (pack && q->role == AT_PARAM_PACKED);
}

void at_file_parameters(at_text *out, const at_param *const *params, int n, bool pack) {
    const char *comma = "";
    for (int i = 0; i < n; i++) {
        const at_param *q = params[i];
        if (!at_file_takes(q, pack)) continue;
        at_text_addf(out, "%s%s%s *", comma, at_file_writes(q, pack) ? "" : "const ",
                     at_file_type(q));
        at_file_name(out, q->name);
        comma = ", ";
    }
}

void at_file_comment(at_text *out, const char *text) {
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n");
        at_text_add(out, n ? " * " : " *");
        for (size_t j = 0; j < n; j++) /* a comment must not end early */
            at_text_addn(out, s[j] == '*' && s[j + 1] == '/' ? "* " : s + j,
                         s[j] == '*' && s[j + 1] == '/' ? 2 : 1);
        at_text_add(out, "\n");
        s += n + (s[n] == '\n');
    }
}

/* ---- one kernel's face ----------------------------------------------------------------------- */

static void parameters(at_text *out, const at_kernel *k, bool pack) {
    const at_param *list[64];
    int n = 0;
    for (int i = 0; i < k->num_params && n < 64; i++) list[n++] = &k->params[i];
    at_file_parameters(out, list, n, pack);
}

static void signature(at_text *out, const at_file_kernel *f, bool pack) {
    at_text_addf(out, "void %s%s(", f->name, pack ? "_pack" : "");
    parameters(out, f->kernel, pack);
    at_text_add(out, pack ? ")" : ", void *workspace)");
}

/* "data: const float[1][56][56][64]" of what a function takes. */
static void shapes(at_text *out, const at_file_kernel *f, bool pack) {
    for (int i = 0; i < f->kernel->num_params; i++) {
        const at_param *q = &f->kernel->params[i];
        if (!at_file_takes(q, pack)) continue;
        at_text_add(out, " *   ");
        at_file_name(out, q->name);
        at_text_addf(out, ": %s%s", at_file_writes(q, pack) ? "" : "const ", at_file_type(q));
        if (q->role == AT_PARAM_PACKED) at_text_addf(out, "[%lld]", (long long)q->elements);
        else
            for (int d = 0; d < f->program->compute->tensors[q->tensor].num_axes; d++)
                at_text_addf(out, "[%lld]", (long long)f->program->extents[q->tensor][d]);
        at_text_add(out, "\n");
    }
}

static bool needs_workspace(const at_kernel *k) {
    return k->workspace_bytes || k->workspace_per_thread_bytes;
}

static int threads_of(const at_file_kernel *f) { return f->threads > 1 ? f->threads : 1; }

static void declare(at_text *out, const at_file_kernel *f) {
    at_text_addf(
        out,
        "/* Bytes of workspace for %s(): memory of any alignment whose content does not "
        "matter. Calls at\n * the same time need one each; a call runs on %d thread%s. */\n"
        "unsigned long %s_workspace_bytes(int threads);\n\n",
        f->name, threads_of(f), threads_of(f) > 1 ? "s where this is compiled with -fopenmp" : "",
        f->name);
    if (f->kernel->pack) {
        at_text_add(out, "/* Once per set of weights:\n");
        shapes(out, f, true);
        at_text_add(out, " */\n");
        signature(out, f, true);
        at_text_add(out, ";\n\n");
    }
    at_text_addf(out, "/* The kernel%s:\n", f->kernel->pack ? ", on weights packed before" : "");
    shapes(out, f, false);
    at_text_add(out, " */\n");
    signature(out, f, false);
    at_text_add(out, ";\n");
}

static void call_entry(at_text *out, const at_file_kernel *f, bool pack) {
    const at_kernel *k = f->kernel;
    bool align = !pack && needs_workspace(k);
    at_text_addf(out, " {\n    void *buf[%d];\n", k->num_params);
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        at_text_addf(out, "    buf[%d] = ", i);
        if (at_file_takes(q, pack)) {
            at_text_add(out, "(void *)");
            at_file_name(out, q->name);
        } else at_text_add(out, "0");
        at_text_add(out, ";\n");
    }
    if (align)
        at_text_add(out, "    char *aligned = (char *)workspace;\n"
                         "    aligned += (64 - (unsigned long)aligned % 64) % 64;\n");
    else if (!pack) at_text_add(out, "    (void)workspace;\n");
    at_text_addf(out, "    at_par par = {%s_for, %d};\n    %s(buf, %s, &par);\n}\n", f->name,
                 threads_of(f), pack ? k->pack : k->entry, align ? "aligned" : "0");
}

/* Who runs parallel loops: OpenMP in a file for several threads, where the compiler has it. */
static void parallel_for(at_text *out, const at_file_kernel *f) {
    bool several = threads_of(f) > 1;
    if (several) at_text_add(out, "\n#ifdef _OPENMP\nint omp_get_thread_num(void);\n#endif\n");
    at_text_addf(out,
                 "\nstatic void %s_for(void (*body)(long i, int thread, void *context), long n, "
                 "void *context) {\n",
                 f->name);
    if (several)
        at_text_addf(out,
                     "#ifdef _OPENMP\n#pragma omp parallel for num_threads(%d) schedule(static)\n"
                     "    for (long i = 0; i < n; i++) body(i, omp_get_thread_num(), context);\n"
                     "#else\n",
                     threads_of(f));
    at_text_add(out, "    for (long i = 0; i < n; i++) body(i, 0, context);\n");
    at_text_add(out, several ? "#endif\n}\n\n" : "}\n\n");
}

static void define(at_text *out, const at_file_kernel *f) {
    const at_kernel *k = f->kernel;
    parallel_for(out, f);
    /* 63 more, to begin at a multiple of 64 wherever the caller's memory lies */
    at_text_addf(out,
                 "unsigned long %s_workspace_bytes(int threads) {\n    if (threads < %d) "
                 "threads = %d;\n    return %lldUL + %lldUL * (unsigned long)threads;\n}\n\n",
                 f->name, threads_of(f), threads_of(f),
                 (long long)k->workspace_bytes + (needs_workspace(k) ? 63 : 0),
                 (long long)k->workspace_per_thread_bytes);
    if (k->pack) {
        signature(out, f, true);
        call_entry(out, f, true);
        at_text_add(out, "\n");
    }
    signature(out, f, false);
    call_entry(out, f, false);
}

/* ---- code -------------------------------------------------------------------------------------
 */

/* Each as a file-scope asm block of bytes, an instruction a line with its text beside it: every
 * assembler takes it, TinyCC's too, which knows no vector instruction. What is no instruction (a
 * table of masks) is bytes alone. */
static void machine_code(at_text *out, const at_tile_code *t) {
    at_text_addf(out, "__asm__(\".text\\n.globl %s\\n.align 64,0x90\\n%s:\\n\"\n", t->symbol,
                 t->symbol);
    for (int at = 0, n; at < t->size_bytes; at += n) {
        char text[128] = "";
        n = at_disassemble(t->bytes + at, t->size_bytes - at, text, sizeof text);
        if (n == 0) n = 1;
        at_text_add(out, "        \".byte ");
        for (int i = 0; i < n; i++) at_text_addf(out, "%s0x%02x", i ? "," : "", t->bytes[at + i]);
        at_text_addf(out, "\\n\" /* %s */\n", text);
    }
    at_text_add(out, ");\n\n");
}

/* What is for the faces only is made static by an earlier declaration. */
static void code(at_text *out, const at_file_kernel *f, bool first) {
    const at_kernel *k = f->kernel;
    const char *const own[] = {k->pack, k->entry};
    if (first) at_text_addn(out, k->source, k->common_bytes);
    for (int i = 0; i < 2; i++)
        if (own[i])
            at_text_addf(out, "static int %s(void *const buf[], void *memory, at_par *par);\n",
                         own[i]);
    at_text_add(out, "\n");
    for (int i = 0; i < k->num_tiles; i++) machine_code(out, &k->tiles[i]);
    at_text_add(out, k->source + k->common_bytes);
    define(out, f);
}

/* ---- heads ----------------------------------------------------------------------------------- */

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
                 : k->isa == AT_ISA_SCALAR    ? "; plain C"
                                              : "; runs on CPUs with ",
                 k->isa == AT_ISA_SCALAR && k->dialect != AT_DIALECT_TCC ? ""
                                                                         : at_isa_name(k->isa));
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
        declare(out, &kernels[i]);
    }
}

static void header_file(at_text *out, const at_file_kernel *kernels, const at_file_options *o,
                        bool families, const char *declarations) {
    const char *head = families ? o->head : kernels->head;
    at_text guard = {0};
    for (const char *s = o->header; *s; s++) {
        char c = isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_';
        if (!guard.len && !isalpha((unsigned char)c)) at_text_add(&guard, "AT_");
        if (c != '_' || !guard.len || guard.data[guard.len - 1] != '_') at_text_addn(&guard, &c, 1);
    }
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
        header_file(header, kernels, o, families.len > 0, at_text_str(&declarations));
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
        code(source, &kernels[i], i == 0);
    }
    for (int i = 0; i < families.len; i++) at_family_define(source, &families.data[i]);
    if (!o->with_main) return AT_OK;
    return at_file_main(a, kernels, n, &families, source, err);
}
