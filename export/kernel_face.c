/* export/kernel_face.c: one kernel with its typed face and its packing.
 *
 * The kernel's own functions take buf[]; people call NAME(const float *data, ..., void *workspace).
 */
#include "codegen/target.h"
#include "export/export_int.h"

static bool needs_workspace(const at_kernel *k) {
    return k->workspace_bytes || k->workspace_per_thread_bytes;
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The workspace: the kernel's own, a slice per thread, then what the plain function makes ready. */
static int64_t own_bytes(const at_face *f) {
    const at_kernel *k = f->of->kernel;
    return rounded(k->workspace_bytes + k->workspace_per_thread_bytes * f->threads);
}

static int64_t tensor_bytes(const at_face_tensor *t) {
    return rounded(t->elements * at_type_bytes(t->type));
}

/* What is packed hangs on no input: tables of numbers, which one run of the packing makes for all
 * calls. */
static bool has_tables(const at_face *f) {
    const at_kernel *k = f->of->kernel;
    for (int i = 0; i < f->num; i++)
        if (!f->tensors[i].is_output && k->params[f->tensors[i].param].in_pack) return false;
    return k->pack && !f->packs;
}

/* Does the function make another one of the tensor, behind its own workspace? */
static bool is_copied(at_role_of_call call, const at_face_tensor *t) {
    return (call == AT_CALL_PLAIN && t->moves) || at_call_checks(call, t);
}

static int64_t ready_bytes(const at_face *f) {
    const at_kernel *k = f->of->kernel;
    int64_t bytes = 0;
    for (int i = 0; i < f->num; i++)
        if (is_copied(f->name ? AT_CALL_PLAIN : AT_CALL_FAST, &f->tensors[i]))
            bytes += tensor_bytes(&f->tensors[i]);
    if (!f->name) return bytes;
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == AT_PARAM_PACKED && !has_tables(f))
            bytes += rounded(k->params[i].elements * at_type_bytes(k->params[i].type));
    return bytes;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static const char *linkage(const at_face *f) { return f->is_part ? "static " : ""; }

static void signature(at_text *out, const at_face *f, const char *name, at_role_of_call call) {
    at_text_addf(out, "%s%s %s(", linkage(f),
                 at_call_checks_any(call, f->tensors, f->num) ? "int" : "void", name);
    at_call_list(out, call, f->tensors, f->num, true, f->packs);
    at_text_add(out, ")");
}

int at_face_shape(const at_face *f, const at_face_tensor *t, int64_t shape[AT_FACE_DIMS]) {
    const at_program *p = f->of->program;
    int n = p->compute->tensors[t->tensor].num_axes, count = 0;
    int64_t e[AT_FACE_DIMS];
    for (int i = 0; i < n; i++) e[i] = p->extents[t->tensor][i];
    for (int i = n - 1; i > 0 && t->laid_out; i--) { /* an inner part lies behind its outer one */
        int axis = t->order[i], before = t->order[i - 1];
        if (axis <= before + 1) continue;
        e[before] *= e[axis];
        e[axis] = 0;
    }
    for (int i = 0; i < n; i++) {
        int axis = t->laid_out ? t->order[i] : i;
        if (e[axis]) shape[count++] = e[axis];
    }
    return count;
}

static void plain_shape(at_text *out, const at_face *f, const at_face_tensor *t) {
    int64_t shape[AT_FACE_DIMS];
    int n = at_face_shape(f, t, shape);
    for (int i = 0; i < n; i++) at_text_addf(out, "[%lld]", (long long)shape[i]);
}

static void block_shape(at_text *out, const at_face *f, const at_face_tensor *t) {
    const at_program *p = f->of->program;
    for (int i = 0; i < p->compute->tensors[t->tensor].num_axes; i++)
        at_text_addf(out, "[%lld]", (long long)p->extents[t->tensor][i]);
}

/* "data: const float[1][64][56][56]" */
static void shape_line(at_text *out, const at_face *f, const at_face_tensor *t, bool blocks) {
    at_text_addf(out, " *   %s: %s%s", t->name, t->is_output ? "" : "const ",
                 blocks && t->laid_out ? at_type_of(t->type)->c : at_face_c_type(t));
    if (blocks) block_shape(out, f, t);
    else plain_shape(out, f, t);
    const at_tensor *of = &f->of->program->compute->tensors[t->tensor];
    if (of->lies_in)
        at_text_addf(out, ", the memory of %s, of which a call changes %s", of->lies_in,
                     of->is_updated ? "all" : "a part");
    at_text_add(out, "\n");
}

static void shapes(at_text *out, const at_face *f, at_role_of_call call) {
    for (int i = 0; i < f->num; i++)
        if (at_call_takes(call, &f->tensors[i]))
            shape_line(out, f, &f->tensors[i], call == AT_CALL_FAST);
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (at_call_checks(call, t))
            at_text_addf(
                out,
                " * Returns %d where an element of %s is not from %lld to %lld; then nothing "
                "is computed.\n",
                i + 1, t->name, (long long)t->given.lo, (long long)t->given.hi);
    }
    if (at_call_checks_any(call, f->tensors, f->num)) at_text_add(out, " * Else it returns 0.\n");
    at_text_add(out, " */\n");
}

static void declare_plain(at_text *out, const at_face *f) {
    at_text_add(out, "/* Inputs and outputs in the order of declaration, each in the task's own "
                     "layout.");
    if (f->packs)
        at_text_add(out, " Weights are made\n * ready at every call: where they stay the same, the "
                         "functions below are faster.");
    at_text_add(out, "\n");
    shapes(out, f, AT_CALL_PLAIN);
    signature(out, f, f->name, AT_CALL_PLAIN);
    at_text_add(out, ";\n");
}

static const char *pack_type(const at_face *f) {
    return at_call_checks_any(AT_CALL_PACK, f->tensors, f->num) ? "int" : "void";
}

/* int NAME_pack_TENSOR(const long long *from, int *to) */
static void order_signature(at_text *out, const at_face *f, const at_face_tensor *t) {
    const char *type = at_type_of(t->type)->c;
    at_text_addf(out, "%s %s_%s_%s(const %s *from, %s *to)", t->is_checked ? "int" : "void",
                 f->of->name, t->is_output ? "unpack" : "pack", t->name, at_face_c_type(t), type);
}

static void declare_fast(at_text *out, const at_face *f) {
    const char *name = f->of->name;
    if (f->packs) {
        at_text_addf(
            out,
            "\n/* Once per set of weights: what the kernel wants of them, %s_packed_bytes() "
            "bytes that may be moved.\n",
            name);
        shapes(out, f, AT_CALL_PACK);
        at_text_addf(out, "unsigned long %s_packed_bytes(void);\n", name);
        at_text_addf(out, "%s %s_pack(", pack_type(f), name);
        at_call_list(out, AT_CALL_PACK, f->tensors, f->num, true, true);
        at_text_add(out, ");\n");
    }
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (!t->laid_out || t->ahead) continue;
        const char *type = at_type_of(t->type)->c;
        at_text_addf(out, "\n/* %s the blocks that this configuration has %s in: %s",
                     t->is_output ? "From" : "Into", t->name, type);
        block_shape(out, f, t);
        if (t->is_checked)
            at_text_addf(out, "\n * Returns 1 where an element is not from %lld to %lld, else 0.",
                         (long long)t->given.lo, (long long)t->given.hi);
        at_text_add(out, " */\n");
        order_signature(out, f, t);
        at_text_add(out, ";\n");
    }
    at_text_addf(out, "\n/* The kernel itself%s%s:\n", f->packs ? ", on weights packed before" : "",
                 f->in_blocks ? "; data and outputs in blocks" : "");
    shapes(out, f, AT_CALL_FAST);
    signature(out, f, f->fast, AT_CALL_FAST);
    at_text_add(out, ";\n");
}

void at_kernel_declare(at_text *out, const at_face *f) {
    const char *name = f->of->name;
    at_text_addf(out,
                 "/* 1: this CPU has the instructions of %s; 0: it must not be called. */\n"
                 "int %s_supported(void);\n\n"
                 "/* Bytes of workspace for it: memory of any alignment whose content does not "
                 "matter. Calls at the\n * same time need one each; a call runs on %d thread%s. "
                 "*/\nunsigned long %s_workspace_bytes(int threads);\n\n",
                 name, name, f->threads,
                 f->threads > 1 ? "s where this is compiled with -fopenmp" : "", name);
    if (f->name) declare_plain(out, f);
    if (f->fast) declare_fast(out, f);
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Who runs parallel loops: OpenMP in a file for several threads, where the compiler has it. */
static void parallel_for(at_text *out, const at_face *f) {
    bool several = f->threads > 1;
    if (f->parallel_for) {
        at_text_addf(out,
                     "\nvoid %s(int threads, void (*body)(long i, int thread, void *context), long "
                     "n, void *context);\n"
                     "static void %s_for(void (*body)(long i, int thread, void *context), long n, "
                     "void *context) {\n    %s(%d, body, n, context);\n}\n\n",
                     f->parallel_for, f->of->name, f->parallel_for, f->threads);
        return;
    }
    if (several) at_text_add(out, "\n#ifdef _OPENMP\nint omp_get_thread_num(void);\n#endif\n");
    at_text_addf(out,
                 "\nstatic void %s_for(void (*body)(long i, int thread, void *context), long n, "
                 "void *context) {\n",
                 f->of->name);
    if (f->runs_apart)
        at_text_add(out, "    if (at_runs_apart) {\n        at_for_apart(body, n, context);\n"
                         "        return;\n    }\n");
    if (several)
        at_text_addf(out,
                     "#ifdef _OPENMP\n#pragma omp parallel for num_threads(%d) schedule(static)\n"
                     "    for (long i = 0; i < n; i++) body(i, omp_get_thread_num(), context);\n"
                     "#else\n",
                     f->threads);
    at_text_add(out, "    for (long i = 0; i < n; i++) body(i, 0, context);\n");
    at_text_add(out, several ? "#endif\n}\n\n" : "}\n\n");
}

static void align_workspace(at_text *out) {
    at_text_add(out, "    char *aligned = (char *)workspace;\n"
                     "    aligned += (64 - (unsigned long)aligned % 64) % 64;\n");
}

static void call_kernel(at_text *out, const char *entry, const char *workspace) {
    at_text_addf(out, "    %s(buf, %s, &par);\n", entry, workspace);
}

static void own_par(at_text *out, const at_face *f) {
    at_text_addf(out, "    at_par par = {%s_for, %d};\n    void *buf[%d] = {0};\n", f->of->name,
                 f->threads, f->of->kernel->num_params);
}

static void unused(at_text *out, const at_face *f, at_role_of_call call) {
    for (int i = 0; i < f->num; i++)
        if (at_call_takes(call, &f->tensors[i]))
            at_text_addf(out, "    (void)%s;\n", f->tensors[i].name);
}

/* An output that packing makes is copied from there. */
static bool is_packed(const at_face *f, const at_face_tensor *t) {
    return f->of->kernel->params[t->param].role == AT_PARAM_PACKED;
}

static void use_packed(at_text *out, const at_face *f) {
    const at_kernel *k = f->of->kernel;
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == AT_PARAM_PACKED)
            at_text_addf(out, "    buf[%d] = at + %lldL;\n", i, (long long)f->packed_at[i]);
}

/* Threads that come first together make the same numbers, each for all of them. */
static void define_tables(at_text *out, const at_face *f) {
    at_text_addf(out,
                 "/* Tables of numbers, made at the first call. */\n"
                 "static char *%s_tables(void) {\n"
                 "    static char memory[%lld];\n"
                 "    static volatile int made;\n"
                 "    char *at = memory + (64 - (unsigned long)memory %% 64) %% 64;\n"
                 "#if defined(__GNUC__) && !defined(__TINYC__)\n"
                 "    if (__atomic_load_n(&made, __ATOMIC_ACQUIRE)) return at;\n"
                 "#else\n"
                 "    if (made) return at;\n"
                 "#endif\n"
                 "    {\n",
                 f->of->name, (long long)f->packed_bytes + 63);
    own_par(out, f);
    use_packed(out, f);
    call_kernel(out, f->of->kernel->pack, "0");
    at_text_add(out, "    }\n"
                     "#if defined(__GNUC__) && !defined(__TINYC__)\n"
                     "    __atomic_store_n(&made, 1, __ATOMIC_RELEASE);\n"
                     "#else\n"
                     "    made = 1;\n"
                     "#endif\n"
                     "    return at;\n"
                     "}\n\n");
}

/* A call of the function that brings tensor i to where C says `to`. */
static void order(at_text *out, const at_face *f, int i, const char *to) {
    const at_face_tensor *t = &f->tensors[i];
    const char *type = at_type_of(t->type)->c;
    at_text_addf(out, "    %s%s_order_%s(%s, (%s *)%s)", t->is_checked ? "if (" : "", f->of->name,
                 t->name, t->name, type, to);
    if (t->is_checked) at_text_addf(out, ") return %d;\n", i + 1);
    else at_text_add(out, ";\n");
}

/* buf[] of tensors that are taken as they are, and of those copied behind the workspace. */
static void take_tensors(at_text *out, const at_face *f, at_role_of_call call, int64_t *at) {
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        char buffer[24];
        if (is_packed(f, t) || !at_call_takes(call, t)) continue;
        if (!is_copied(call, t)) {
            at_text_addf(out, "    buf[%d] = (void *)%s;\n", t->param, t->name);
            continue;
        }
        at_text_addf(out, "    buf[%d] = aligned + %lldL;\n", t->param, (long long)*at);
        *at += tensor_bytes(t);
        snprintf(buffer, sizeof buffer, "buf[%d]", t->param);
        if (!t->is_output) order(out, f, i, buffer);
    }
}

static void finish(at_text *out, const at_face *f, at_role_of_call call) {
    at_text_add(out,
                at_call_checks_any(call, f->tensors, f->num) ? "    return 0;\n}\n\n" : "}\n\n");
}

static void define_plain(at_text *out, const at_face *f) {
    const at_kernel *k = f->of->kernel;
    int64_t at = own_bytes(f);
    bool workspace = at + ready_bytes(f) > 0;
    signature(out, f, f->name, AT_CALL_PLAIN);
    at_text_add(out, " {\n");
    own_par(out, f);
    if (workspace) align_workspace(out);
    else at_text_add(out, "    (void)workspace;\n");
    take_tensors(out, f, AT_CALL_PLAIN, &at);
    if (has_tables(f)) {
        at_text_addf(out, "    char *at = %s_tables();\n", f->of->name);
        use_packed(out, f);
    }
    for (int i = 0; i < k->num_params && !has_tables(f); i++) {
        if (k->params[i].role != AT_PARAM_PACKED) continue;
        at_text_addf(out, "    buf[%d] = aligned + %lldL;\n", i, (long long)at);
        at += rounded(k->params[i].elements * at_type_bytes(k->params[i].type));
    }
    if (k->pack && !has_tables(f)) call_kernel(out, k->pack, "0");
    call_kernel(out, k->entry, needs_workspace(k) ? "aligned" : "0");
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (t->is_output && (t->moves || is_packed(f, t)))
            at_text_addf(out, "    %s_order_%s((const %s *)buf[%d], %s);\n", f->of->name, t->name,
                         at_type_of(t->type)->c, t->param, t->name);
    }
    finish(out, f, AT_CALL_PLAIN);
}

static void define_pack(at_text *out, const at_face *f) {
    const at_kernel *k = f->of->kernel;
    at_text_addf(out, "%sunsigned long %s_packed_bytes(void) { return %lldUL; }\n\n", linkage(f),
                 f->of->name, (long long)f->packed_bytes);
    at_text_addf(out, "%s%s %s_pack(", linkage(f), pack_type(f), f->of->name);
    at_call_list(out, AT_CALL_PACK, f->tensors, f->num, true, true);
    at_text_add(out, ") {\n    char *at = (char *)packed;\n    (void)at;\n");
    unused(out, f, AT_CALL_PACK);
    if (k->pack) own_par(out, f);
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (!t->ahead) continue;
        char place[40];
        snprintf(place, sizeof place, "(at + %lldL)", (long long)t->packed_at);
        if (t->packed_at >= 0) order(out, f, i, place);
        if (!k->pack || !k->params[t->param].in_pack) continue;
        if (t->laid_out || t->is_checked)
            at_text_addf(out, "    buf[%d] = at + %lldL;\n", t->param, (long long)t->packed_at);
        else at_text_addf(out, "    buf[%d] = (void *)%s;\n", t->param, t->name);
    }
    if (k->pack) {
        use_packed(out, f);
        call_kernel(out, k->pack, "0");
    }
    finish(out, f, AT_CALL_PACK);
}

static void define_fast(at_text *out, const at_face *f) {
    const at_kernel *k = f->of->kernel;
    int64_t copies = own_bytes(f);
    signature(out, f, f->fast, AT_CALL_FAST);
    at_text_add(out, " {\n");
    own_par(out, f);
    unused(out, f, AT_CALL_FAST);
    if (f->packs) at_text_add(out, "    char *at = (char *)packed;\n    (void)at;\n");
    else if (has_tables(f)) at_text_addf(out, "    char *at = %s_tables();\n", f->of->name);
    if (needs_workspace(k) || at_call_checks_any(AT_CALL_FAST, f->tensors, f->num))
        align_workspace(out);
    else at_text_add(out, "    (void)workspace;\n");
    take_tensors(out, f, AT_CALL_FAST, &copies);
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (t->ahead && t->packed_at >= 0 && !is_packed(f, t))
            at_text_addf(out, "    buf[%d] = at + %lldL;\n", t->param, (long long)t->packed_at);
    }
    use_packed(out, f);
    call_kernel(out, k->entry, needs_workspace(k) ? "aligned" : "0");
    for (int i = 0; i < f->num; i++)
        if (f->tensors[i].is_output && is_packed(f, &f->tensors[i]))
            at_text_addf(out, "    %s_order_%s((const %s *)buf[%d], %s);\n", f->of->name,
                         f->tensors[i].name, at_type_of(f->tensors[i].type)->c, f->tensors[i].param,
                         f->tensors[i].name);
    finish(out, f, AT_CALL_FAST);
}

/* Which tensors are copied in another order, or at all. */
static bool has_loops(const at_face *f, const at_face_tensor *t) {
    if (t->is_output && is_packed(f, t)) return true;
    if (t->is_checked) return true;
    return (f->name && t->moves) || (f->fast && (t->packed_at >= 0 || (t->laid_out && !t->ahead)));
}

static void define_loops(at_text *out, const at_face *f) {
    for (int i = 0; i < f->num; i++)
        if (has_loops(f, &f->tensors[i])) at_layout_loops(out, f, &f->tensors[i]);
}

static void define_workspace_bytes(at_text *out, const at_face *f) {
    const at_kernel *k = f->of->kernel;
    int64_t ready = ready_bytes(f);
    /* 63 more, to begin at a multiple of 64 wherever the caller's memory lies */
    at_text_addf(
        out,
        "%sunsigned long %s_workspace_bytes(int threads) {\n    if (threads < %d) "
        "threads = %d;\n    return %lldUL + %lldUL * (unsigned long)threads;\n}\n\n",
        linkage(f), f->of->name, f->threads, f->threads,
        (long long)(rounded(k->workspace_bytes) + ready + (needs_workspace(k) || ready ? 63 : 0)),
        (long long)rounded(k->workspace_per_thread_bytes));
}

/* prefix NULL: it is known that the CPU has the instructions. */
static void define(at_text *out, const at_face *f, const char *prefix) {
    parallel_for(out, f);
    define_loops(out, f);
    if (prefix) at_cpu_test(out, f, prefix);
    define_workspace_bytes(out, f);
    if (has_tables(f)) define_tables(out, f);
    if (f->name) define_plain(out, f);
    if (!f->fast) return;
    if (f->packs) define_pack(out, f);
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (!t->laid_out || t->ahead) continue;
        order_signature(out, f, t);
        at_text_addf(out, " {\n    %s%s_order_%s(from, to);\n}\n\n", t->is_checked ? "return " : "",
                     f->of->name, t->name);
    }
    define_fast(out, f);
}

/* ---- code ------------------------------------------------------------------------------------ */

/* Each as a file-scope asm block of bytes, an instruction a line with its text beside it: every
 * assembler takes it, TinyCC's too, which knows no vector instruction. What is no instruction (a
 * table of masks) is bytes alone. */
static void machine_code(at_text *out, const at_kernel *k, const at_tile_code *t) {
    const at_architecture *of = k->target->architecture;
    at_text_addf(out, "__asm__(\".text\\n.globl %s\\n%s\\n%s:\\n\"\n", t->symbol, of->align_code,
                 t->symbol);
    for (int at = 0, n; at < t->size_bytes; at += n) {
        char text[128] = "";
        n = of->disassemble(t->bytes + at, t->size_bytes - at, text, sizeof text);
        if (n == 0) n = 1;
        at_text_add(out, "        \".byte ");
        for (int i = 0; i < n; i++) at_text_addf(out, "%s0x%02x", i ? "," : "", t->bytes[at + i]);
        at_text_addf(out, "\\n\" /* %s */\n", text);
    }
    at_text_add(out, ");\n\n");
}

/* What is for the faces only is made static by an earlier declaration. */
static void define_code(at_text *out, const at_kernel *k) {
    const char *const own[] = {k->pack, k->entry};
    for (int i = 0; i < 2; i++)
        if (own[i])
            at_text_addf(out, "static int %s(void *const buf[], void *memory, at_par *par);\n",
                         own[i]);
    at_text_add(out, "\n");
    for (int i = 0; i < k->num_tiles; i++) machine_code(out, k, &k->tiles[i]);
    at_text_add(out, k->source + k->common_bytes);
}

void at_kernel_define(at_text *out, const at_face *f, const char *prefix) {
    define_code(out, f->of->kernel);
    define(out, f, prefix);
}

void at_kernel_define_part(at_text *out, const at_face *f, bool with_checks) {
    define_code(out, f->of->kernel);
    parallel_for(out, f);
    if (with_checks) {
        define_loops(out, f);
        define_workspace_bytes(out, f);
        if (f->fast && f->packs) define_pack(out, f);
    }
    if (has_tables(f)) define_tables(out, f);
    if (f->fast) define_fast(out, f);
    else define_plain(out, f);
}

/* ---- in memory ------------------------------------------------------------------------------- */

/* The plain function with its arguments as an array, whatever their number. */
static void define_call(at_text *out, const at_face *f) {
    const bool checks = at_call_checks_any(AT_CALL_PLAIN, f->tensors, f->num);
    at_text_addf(out, "int %s_call(void *const *tensors, void *workspace) {\n    %s%s(", f->name,
                 checks ? "return " : "", f->name);
    for (int i = 0, n = 0; i < f->num; i++)
        if (at_call_takes(AT_CALL_PLAIN, &f->tensors[i])) at_text_addf(out, "tensors[%d], ", n++);
    at_text_addf(out, "workspace);\n%s}\n\n", checks ? "" : "    return 0;\n");
}

const char *at_kernel_prototype(at_arena *a, const at_face *f, at_role_of_call call) {
    at_text t = {0};
    const char *name = call == AT_CALL_PLAIN  ? f->name
                       : call == AT_CALL_FAST ? f->fast
                                              : at_format(a, "%s_pack", f->of->name);
    signature(&t, f, name, call);
    return at_text_take(a, &t);
}

/* NAME_call: the same with the tensors in an array, of which it takes its own. */
static void define_call_of(at_text *out, const at_face *f, const char *name, at_role_of_call call) {
    at_face_tensor in_array[AT_FACE_DIMS * 4];
    char names[AT_FACE_DIMS * 4][24];
    bool works = call == AT_CALL_FAST;
    AT_ASSERT(f->num <= AT_FACE_DIMS * 4);
    for (int i = 0, n = 0; i < f->num; i++) {
        in_array[i] = f->tensors[i];
        snprintf(names[i], sizeof names[i], "tensors[%d]", f->tensors[i].is_held ? 0 : n++);
        in_array[i].name = names[i];
    }
    at_text_addf(out,
                 "void %s_call(void *const *tensors, void *packed%s) {\n    (void)packed;\n"
                 "    %s(",
                 name, works ? ", void *workspace" : "", name);
    at_call_list(out, call, in_array, f->num, false, f->packs);
    at_text_add(out, ");\n}\n\n");
}

void at_kernel_define_in_memory(at_text *out, const at_face *f) {
    at_text_add(out, f->of->kernel->source);
    define(out, f, NULL);
    if (f->name) define_call(out, f);
    if (f->fast) define_call_of(out, f, f->fast, AT_CALL_FAST);
    if (f->fast && f->packs) {
        at_text pack = {0};
        at_text_addf(&pack, "%s_pack", f->of->name);
        define_call_of(out, f, at_text_str(&pack), AT_CALL_PACK);
        at_text_free(&pack);
    }
}
