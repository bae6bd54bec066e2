/* export/kernel_face.c: one kernel with its typed face and its packing.
 *
 * The kernel's own functions take buf[]; people call NAME(const float *data, ..., void *workspace).
 */
#include "export/export_int.h"

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

int at_file_threads(const at_file_kernel *f) { return f->threads > 1 ? f->threads : 1; }

void at_kernel_declare(at_text *out, const at_file_kernel *f) {
    at_text_addf(
        out,
        "/* Bytes of workspace for %s(): memory of any alignment whose content does not "
        "matter. Calls at\n * the same time need one each; a call runs on %d thread%s. */\n"
        "unsigned long %s_workspace_bytes(int threads);\n\n",
        f->name, at_file_threads(f),
        at_file_threads(f) > 1 ? "s where this is compiled with -fopenmp" : "", f->name);
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
                 at_file_threads(f), pack ? k->pack : k->entry, align ? "aligned" : "0");
}

/* Who runs parallel loops: OpenMP in a file for several threads, where the compiler has it. */
static void parallel_for(at_text *out, const at_file_kernel *f) {
    bool several = at_file_threads(f) > 1;
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
                     at_file_threads(f));
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
                 f->name, at_file_threads(f), at_file_threads(f),
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
static void machine_code(at_text *out, const at_kernel *k, const at_tile_code *t) {
    at_text_addf(out, "__asm__(\".text\\n.globl %s\\n.align 64,0x90\\n%s:\\n\"\n", t->symbol,
                 t->symbol);
    for (int at = 0, n; at < t->size_bytes; at += n) {
        char text[128] = "";
        n = k->target->architecture->disassemble(t->bytes + at, t->size_bytes - at, text,
                                                 sizeof text);
        if (n == 0) n = 1;
        at_text_add(out, "        \".byte ");
        for (int i = 0; i < n; i++) at_text_addf(out, "%s0x%02x", i ? "," : "", t->bytes[at + i]);
        at_text_addf(out, "\\n\" /* %s */\n", text);
    }
    at_text_add(out, ");\n\n");
}

/* What is for the faces only is made static by an earlier declaration. */
void at_kernel_define(at_text *out, const at_file_kernel *f, bool first) {
    const at_kernel *k = f->kernel;
    const char *const own[] = {k->pack, k->entry};
    if (first) at_text_addn(out, k->source, k->common_bytes);
    for (int i = 0; i < 2; i++)
        if (own[i])
            at_text_addf(out, "static int %s(void *const buf[], void *memory, at_par *par);\n",
                         own[i]);
    at_text_add(out, "\n");
    for (int i = 0; i < k->num_tiles; i++) machine_code(out, k, &k->tiles[i]);
    at_text_add(out, k->source + k->common_bytes);
    define(out, f);
}
