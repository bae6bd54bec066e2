/* codegen/file.c: the standalone C file of `apply`: kernel, typed face, packing, and a main that
 * checks and times.
 *
 * The kernel's own functions take buf[]; people call NAME(const float *data, ..., void *workspace).
 * The file depends on libc only, compiles without warnings, and needs no include where no main is
 * asked for. */
#include "codegen/tile.h"
#include "codegen/x86_asm.h"

#include <string.h>

typedef struct {
    const at_program *p;
    const at_kernel *k;
    const char *name;
    at_text *out;
} file;

static const char *element(const at_param *q) { return q->is_int ? "int" : "float"; }

/* C's reserved words and the names the face uses itself get a trailing underscore. */
static void face_name(at_text *out, const at_param *q) {
    static const char *const reserved[] = {"int", "float", "double", "long",      "short", "char",
                                           "for", "if",    "do",     "workspace", "buf",   "par"};
    at_text_add(out, q->name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(q->name, reserved[i])) at_text_add(out, "_");
}

static bool in_face(const at_param *q, bool pack) {
    return pack ? q->in_pack : q->in_kernel || q->role == AT_PARAM_OUT;
}

static bool written(const at_param *q, bool pack) {
    return q->role == AT_PARAM_OUT || (pack && q->role == AT_PARAM_PACKED);
}

static void parameters(file *f, bool pack) {
    const char *comma = "";
    for (int i = 0; i < f->k->num_params; i++) {
        const at_param *q = &f->k->params[i];
        if (!in_face(q, pack)) continue;
        at_text_addf(f->out, "%s%s%s *", comma, written(q, pack) ? "" : "const ", element(q));
        face_name(f->out, q);
        comma = ", ";
    }
}

static void buf_array(file *f, bool pack) {
    at_text_addf(f->out, "    void *buf[%d];\n", f->k->num_params);
    for (int i = 0; i < f->k->num_params; i++) {
        const at_param *q = &f->k->params[i];
        at_text_addf(f->out, "    buf[%d] = ", i);
        if (in_face(q, pack)) {
            at_text_add(f->out, "(void *)");
            face_name(f->out, q);
        } else at_text_add(f->out, "0");
        at_text_add(f->out, ";\n");
    }
}

static void faces(file *f) {
    const char *n = f->name;
    long long shared = (long long)f->k->workspace_bytes,
              each = (long long)f->k->workspace_per_thread_bytes;
    at_text_addf(f->out,
                 "\nstatic void %s_for(void (*body)(long i, int thread, void *context), long n, "
                 "void *context) {\n"
                 "    for (long i = 0; i < n; i++) body(i, 0, context);\n}\n\n",
                 n);
    at_text_addf(f->out, "/* Bytes of workspace that %s() needs, aligned to 64. */\n", n);
    at_text_addf(
        f->out,
        "unsigned long %s_workspace_bytes(int threads) { return %lldUL + %lldUL * threads; }\n\n",
        n, shared, each);
    if (f->k->pack) {
        at_text_addf(f->out, "/* Once per set of weights; elements of");
        for (int i = 0; i < f->k->num_params; i++)
            if (f->k->params[i].role == AT_PARAM_PACKED)
                at_text_addf(f->out, " %s: %lld", f->k->params[i].name,
                             (long long)f->k->params[i].elements);
        at_text_addf(f->out, " */\nvoid %s_pack(", n);
        parameters(f, true);
        at_text_add(f->out, ") {\n");
        buf_array(f, true);
        at_text_addf(f->out, "    at_par par = {%s_for, 1};\n    %s(buf, 0, &par);\n}\n\n", n,
                     f->k->pack);
    }
    at_text_addf(f->out, "void %s(", n);
    parameters(f, false);
    at_text_add(f->out, ", void *workspace) {\n");
    buf_array(f, false);
    at_text_addf(f->out, "    at_par par = {%s_for, 1};\n    %s(buf, workspace, &par);\n}\n", n,
                 f->k->entry);
}

/* ---- tiles that are machine code --------------------------------------------------------------
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

/* ---- main ------------------------------------------------------------------------------------ */

static void allocate(file *f) {
    for (int i = 0; i < f->k->num_params; i++) {
        const at_param *q = &f->k->params[i];
        at_text_addf(f->out, "    float *b%d = allocate(%lldUL * 4);", i, (long long)q->elements);
        at_text_addf(f->out, " /* %s */\n", q->name);
        if (q->role == AT_PARAM_OUT)
            at_text_addf(f->out, "    float *want%d = allocate(%lldUL * 4);\n", i,
                         (long long)q->elements);
    }
}

static void call(file *f, bool pack, const char *indent) {
    at_text_addf(f->out, "%s%s%s(", indent, f->name, pack ? "_pack" : "");
    const char *comma = "";
    for (int i = 0; i < f->k->num_params; i++)
        if (in_face(&f->k->params[i], pack)) {
            at_text_addf(f->out, "%sb%d", comma, i);
            comma = ", ";
        }
    at_text_add(f->out, pack ? ");\n" : ", workspace);\n");
}

static const char includes[] = "#define _POSIX_C_SOURCE 199309L\n#include <math.h>\n#include "
                               "<stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                               "#include <time.h>\n\n";

static const char helpers[] =
    "\nstatic void *allocate(unsigned long bytes) {\n"
    "    char *p = malloc(bytes + 128);\n"
    "    if (!p) exit(1);\n"
    "    memset(p, 255, bytes + 128); /* NaN: what is never written shows */\n"
    "    return p + 64 - (unsigned long)p % 64;\n}\n\n"
    "static double now(void) {\n"
    "    struct timespec t;\n"
    "    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n";

/* The program ends where the CPU lacks what the tiles need. TinyCC could not ask. */
static void check_cpu(file *f) {
    const char *parts = at_tile_isa_facts(f->k->isa)->target;
    if (f->k->dialect != AT_DIALECT_GNU || !*parts) return;
    at_text_add(f->out, "    if (!(");
    for (const char *s = parts; *s;) {
        int n = (int)strcspn(s, ",");
        at_text_addf(f->out, "%s__builtin_cpu_supports(\"%.*s\")", s == parts ? "" : " && ", n, s);
        s += n + (s[n] == ',');
    }
    at_text_addf(f->out,
                 ")) {\n        printf(\"%s: made for %s (%s), which this CPU lacks\\n\");\n"
                 "        return 1;\n    }\n",
                 f->name, at_isa_name(f->k->isa), parts);
}

static void write_main(file *f, int range, int64_t reference_workspace) {
    at_text *o = f->out;
    at_text_add(o, helpers);
    at_text_add(o, "int main(void) {\n");
    check_cpu(f);
    allocate(f);
    at_text_addf(o, "    void *workspace = allocate(%s_workspace_bytes(1));\n", f->name);
    at_text_addf(o, "    void *reference_workspace = allocate(%lldUL);\n",
                 (long long)reference_workspace);
    at_text_add(o, "    unsigned state = 1;\n");
    for (int i = 0; i < f->k->num_params; i++) {
        const at_param *q = &f->k->params[i];
        if (q->role != AT_PARAM_IN) continue;
        at_text_addf(o, "    for (long i = 0; i < %lld; i++) {\n", (long long)q->elements);
        at_text_add(o, "        state = state * 1664525u + 1013904223u;\n");
        at_text_addf(o, "        b%d[i] = (float)((int)(state >> 16) %% %d - %d);\n    }\n", i,
                     2 * range + 1, range);
    }
    at_text_add(o, "    void *buf[] = {");
    for (int i = 0; i < f->k->num_params; i++)
        if (f->k->params[i].role == AT_PARAM_IN) at_text_addf(o, "b%d, ", i);
    for (int i = 0; i < f->k->num_params; i++)
        if (f->k->params[i].role == AT_PARAM_OUT) at_text_addf(o, "want%d, ", i);
    at_text_addf(o, "0};\n    %s_reference(buf, reference_workspace, 0);\n", f->name);
    if (f->k->pack) call(f, true, "    ");
    call(f, false, "    ");
    at_text_add(o, "    long wrong = 0;\n");
    for (int i = 0; i < f->k->num_params; i++)
        if (f->k->params[i].role == AT_PARAM_OUT)
            at_text_addf(o,
                         "    for (long i = 0; i < %lld; i++) wrong += !(b%d[i] == want%d[i]);\n",
                         (long long)f->k->params[i].elements, i, i);
    at_text_addf(o,
                 "    if (wrong) {\n        printf(\"%s: %%ld elements are wrong\\n\", wrong);\n   "
                 "     return 1;\n"
                 "    }\n    double best = INFINITY, start = now();\n"
                 "    for (int i = 0; i < 3 || (i < 1000 && now() - start < 1); i++) {\n        "
                 "double t = now();\n",
                 f->name);
    call(f, false, "        ");
    double flops = at_compute_flops(f->p->compute, f->p->values, NULL);
    at_text_addf(
        o,
        "        t = now() - t;\n        if (t < best) best = t;\n    }\n"
        "    printf(\"%s: right, %%.3f ms, %%.2f GFLOP/s\\n\", best * 1e3, %.17g / best / 1e9);\n"
        "    return 0;\n}\n",
        f->name, flops);
}

static void head(file *f, const at_file_options *o) {
    at_text tree = {0};
    at_program_print(&tree, f->p, false);
    at_text_add(f->out, "/*\n");
    const char *parts[] = {o->head, "", at_text_str(&tree)};
    for (int i = 0; i < 3; i++)
        for (const char *s = parts[i]; *s || i == 1;) {
            size_t n = strcspn(s, "\n");
            at_text_add(f->out, n ? " * " : " *");
            for (size_t j = 0; j < n; j++) /* a comment must not end early */
                at_text_addn(f->out, s[j] == '*' && s[j + 1] == '/' ? "* " : s + j,
                             s[j] == '*' && s[j + 1] == '/' ? 2 : 1);
            at_text_add(f->out, "\n");
            s += n + (s[n] == '\n');
            if (i == 1) break;
        }
    at_text_add(f->out, " */\n");
    at_text_free(&tree);
}

at_status at_emit_file(at_arena *a, const at_program *p, const at_kernel *k,
                       const at_file_options *o, at_text *out, at_error *err) {
    file f = {p, k, o->name, out};
    at_text reference = {0};
    int64_t workspace = 0;
    int range = at_compute_exact_range(p->compute, p->values, 0);
    if (o->with_main) {
        for (int i = 0; i < k->num_params; i++)
            if (k->params[i].is_int)
                return at_fail(err, AT_E_USAGE,
                               "--main: %s is an index tensor; a main can only fill float inputs",
                               k->params[i].name);
        const char *entry = at_format(a, "%s_reference", o->name);
        AT_TRY(
            at_compute_reference_c(a, p->compute, p->values, entry, &reference, &workspace, err));
    }
    head(&f, o);
    if (o->with_main) at_text_add(out, includes);
    for (int i = 0; i < k->num_tiles; i++) machine_code(out, &k->tiles[i]);
    at_text_add(out, k->source);
    faces(&f);
    if (o->with_main) {
        at_text_add(out, "\n/* What is computed, without any schedule. */\n");
        at_text_add(out, at_text_str(&reference));
        write_main(&f, range ? range : 1, workspace);
    }
    at_text_free(&reference);
    return AT_OK;
}
