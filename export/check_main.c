/* export/check_main.c: the main of an `apply` file: each kernel against the naive reference on
 * exact data, then its time. */
#include <string.h>

#include "base/agree.h"
#include "export/export_int.h"

static const char includes[] = "#define _POSIX_C_SOURCE 200112L\n#include <math.h>\n#include "
                               "<stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                               "#include <time.h>\n\n";

static const char helpers[] =
    "\n/* Whole cache lines: any place will do, this one is the fastest. */\n"
    "static void *allocate(unsigned long bytes) {\n"
    "    void *p;\n"
    "    if (posix_memalign(&p, 64, bytes + 64)) exit(1);\n"
    "    memset(p, 255, bytes + 64); /* NaN: what is never written shows */\n"
    "    return p;\n}\n\n"
    "static double now(void) {\n"
    "    struct timespec t;\n"
    "    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
    "static unsigned next(unsigned *state) {\n"
    "    *state = *state * 1664525u + 1013904223u;\n"
    "    return *state >> 16;\n}\n\n";

static const char pattern_helper[] =
    "/* nnz of rows x columns blocks, every choice as likely as any other. */\n"
    "static void make_pattern(int *indices, int *indptr, long rows, long columns, long nnz, "
    "unsigned *state) {\n"
    "    long stored = 0, cells = rows * columns;\n"
    "    indptr[0] = 0;\n"
    "    for (long i = 0; i < cells; i++) {\n"
    "        if (next(state) / 65536.0 * (double)(cells - i) < (double)(nnz - stored))\n"
    "            indices[stored++] = (int)(i % columns);\n"
    "        if ((i + 1) % columns == 0) indptr[i / columns + 1] = (int)stored;\n"
    "    }\n}\n\n";

void at_file_main_includes(at_text *out) { at_text_add(out, includes); }

/* The program ends where the CPU lacks what the tiles need. TinyCC could not ask. */
static void check_cpu(at_text *out, const at_file_kernel *f) {
    const char *parts = f->kernel->target->parts;
    if (f->kernel->dialect != AT_DIALECT_GNU || !*parts) return;
    at_text_add(out, "    if (!(");
    for (const char *s = parts; *s;) {
        int n = (int)strcspn(s, ",");
        at_text_addf(out, "%s__builtin_cpu_supports(\"%.*s\")", s == parts ? "" : " && ", n, s);
        s += n + (s[n] == ',');
    }
    at_text_addf(out,
                 ")) {\n        printf(\"%s: made for %s (%s), which this CPU lacks\\n\");\n"
                 "        return 1;\n    }\n",
                 f->name, f->kernel->target->name, parts);
}

static void allocate(at_text *out, const at_kernel *k, bool exact) {
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        at_text_addf(out, "    %s *b%d = allocate(%lldUL * 4);", at_file_type(q), i,
                     (long long)q->elements);
        at_text_addf(out, " /* %s */\n", q->name);
        for (int limits = 0; q->role == AT_PARAM_OUT && limits < (exact ? 1 : 2); limits++)
            at_text_addf(out, "    float *%s%d = allocate(%lldUL * 4);\n",
                         limits ? "limit" : "want", i, (long long)q->elements);
    }
}

static void release(at_text *out, const at_kernel *k, bool exact) {
    for (int i = 0; i < k->num_params; i++) {
        at_text_addf(out, "    free(b%d);\n", i);
        if (k->params[i].role != AT_PARAM_OUT) continue;
        at_text_addf(out, "    free(want%d);\n", i);
        if (!exact) at_text_addf(out, "    free(limit%d);\n", i);
    }
    at_text_add(out, "    free(workspace);\n    free(reference_workspace);\n");
}

static void fill(at_text *out, const at_file_kernel *f, int range) {
    int indices = -1, indptr = -1;
    for (int i = 0; i < f->kernel->num_params; i++) {
        const at_param *q = &f->kernel->params[i];
        if (q->role != AT_PARAM_IN) continue;
        if (q->is_int) {
            if (q->tensor == f->pattern->indices) indices = i;
            if (q->tensor == f->pattern->indptr) indptr = i;
            continue;
        }
        at_text_addf(out, "    for (long i = 0; i < %lld; i++) b%d[i] = ", (long long)q->elements,
                     i);
        if (range)
            at_text_addf(out, "(float)((int)next(&state) %% %d - %d);\n", 2 * range + 1, range);
        else at_text_add(out, "(float)(next(&state) / 8192.0 - 2.6663);\n"); /* never 0 */
    }
    if (indices >= 0)
        at_text_addf(out, "    make_pattern(b%d, b%d, %lldL, %lldL, %lldL, &state);\n", indices,
                     indptr, (long long)f->pattern->rows, (long long)f->pattern->columns,
                     (long long)f->pattern->nnz);
}

static const at_family *family_of(const at_families *all, const at_file_kernel *f) {
    for (int i = 0; i < all->len; i++)
        if (f->family && !strcmp(all->data[i].name, f->family)) return &all->data[i];
    return NULL;
}

/* By shape where there is a family: parameters of other kernels are 0. */
static void call_family(at_text *out, const at_family *family, const at_file_kernel *f, bool pack) {
    const char *comma = ", ";
    at_text_addf(out, "if (%s%s(&shape", family->name, pack ? "_pack" : "");
    for (int i = 0; i < family->params.len; i++) {
        const at_param *q = family->params.data[i];
        if (!at_file_takes(q, pack)) continue;
        int own = -1;
        for (int j = 0; j < f->kernel->num_params; j++)
            if (!strcmp(f->kernel->params[j].name, q->name)) own = j;
        if (own < 0) at_text_addf(out, "%s0", comma);
        else at_text_addf(out, "%sb%d", comma, own);
    }
    at_text_addf(out, "%s)) return 1;\n", pack ? "" : ", workspace");
}

static void call(at_text *out, const at_families *families, const at_file_kernel *f, bool pack,
                 const char *indent) {
    const at_family *family = family_of(families, f);
    const char *comma = "";
    at_text_add(out, indent);
    if (family) {
        call_family(out, family, f, pack);
        return;
    }
    at_text_addf(out, "%s%s(", f->name, pack ? "_pack" : "");
    for (int i = 0; i < f->kernel->num_params; i++) {
        if (!at_file_takes(&f->kernel->params[i], pack)) continue;
        at_text_addf(out, "%sb%d", comma, i);
        comma = ", ";
    }
    at_text_add(out, pack ? ");\n" : ", workspace);\n");
}

static void add_shape(at_text *out, const at_families *families, const at_file_kernel *f) {
    const at_family *family = family_of(families, f);
    if (!family) return;
    at_text_addf(out, "    const %s_shape shape = {", family->name);
    if (!f->num_shape) at_text_add(out, "0");
    for (int i = 0; i < f->num_shape; i++)
        at_text_addf(out, "%s%lld", i ? ", " : "", (long long)f->shape[i].value);
    at_text_add(out, "};\n");
}

static void list(at_text *out, const at_kernel *k, at_param_role role, const char *name) {
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == role) at_text_addf(out, "%s%d, ", name, i);
}

static void run_reference(at_text *out, const at_file_kernel *f, bool exact) {
    at_text_add(out, "    void *buf[] = {");
    list(out, f->kernel, AT_PARAM_IN, "b");
    list(out, f->kernel, AT_PARAM_OUT, "want");
    if (!exact) list(out, f->kernel, AT_PARAM_OUT, "limit");
    at_text_addf(out, "0};\n    %s_reference(buf, reference_workspace, 0);\n", f->name);
}

/* range 0: sums are not exact on any integers; the reference tells limits. */
static void check(at_arena *a, at_text *out, const at_families *families, const at_file_kernel *f,
                  int range, int64_t reference_workspace) {
    const at_kernel *k = f->kernel;
    bool exact = range > 0;
    at_text_addf(out, "static int check_%s(void) {\n", f->name);
    check_cpu(out, f);
    add_shape(out, families, f);
    allocate(out, k, exact);
    at_text_addf(out,
                 "    void *workspace = allocate(%s_workspace_bytes(1));\n"
                 "    void *reference_workspace = allocate(%lldUL);\n    unsigned state = 1;\n",
                 f->name, (long long)reference_workspace);
    fill(out, f, range);
    run_reference(out, f, exact);
    if (k->pack) call(out, families, f, true, "    ");
    call(out, families, f, false, "    ");
    at_text_add(out, "    long wrong = 0;\n");
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == AT_PARAM_OUT)
            at_text_addf(
                out,
                "    for (long i = 0; i < %lld; i++) wrong += !at_agrees(b%d[i], want%d[i], "
                "%s);\n",
                (long long)k->params[i].elements, i, i,
                exact ? "0" : at_format(a, "limit%d[i]", i));
    at_text_addf(out,
                 "    if (wrong) {\n        printf(\"%s: %%ld elements are wrong\\n\", wrong);\n   "
                 "     return 1;\n"
                 "    }\n    double best = INFINITY, start = now();\n"
                 "    for (int i = 0; i < 3 || (i < 1000 && now() - start < 0.3); i++) {\n        "
                 "double t = now();\n",
                 f->name);
    call(out, families, f, false, "        ");
    at_text_addf(
        out,
        "        t = now() - t;\n        if (t < best) best = t;\n    }\n"
        "    printf(\"%s: right, %%.3f ms, %%.2f GFLOP/s\\n\", best * 1e3, %.17g / best / 1e9);\n",
        f->name, f->flops);
    release(out, k, exact);
    at_text_add(out, "    return 0;\n}\n\n");
}

static at_status check_inputs(const at_file_kernel *f, at_error *err) {
    for (int i = 0; i < f->kernel->num_params; i++)
        if (f->kernel->params[i].is_int && !f->pattern)
            return at_fail(err, AT_E_USAGE,
                           "--main: %s is an index tensor of no block-sparse weight, which a main "
                           "cannot fill; leave --main out",
                           f->kernel->params[i].name);
    return AT_OK;
}

at_status at_file_main(at_arena *a, const at_file_kernel *kernels, int n,
                       const at_families *families, at_text *out, at_error *err) {
    bool patterns = false;
    for (int i = 0; i < n; i++) {
        AT_TRY(check_inputs(&kernels[i], err));
        patterns |= kernels[i].pattern != NULL;
    }
    at_text_add(out, "\n/* ---- checks ---- */\n");
    at_text_add(out, helpers);
    at_text_add(out, "/* May a result be this far from what it should be? */\n" AT_TEXT_OF(
                         AT_AGREES) "\n\n");
    if (patterns) at_text_add(out, pattern_helper);
    for (int i = 0; i < n; i++) {
        const at_file_kernel *f = &kernels[i];
        const at_compute *c = f->program->compute;
        const char *entry = at_format(a, "%s_reference", f->name);
        int64_t workspace = 0;
        int range = at_compute_exact_range(c, f->program->values, NULL,
                                           f->pattern ? f->pattern->columns : 0);
        at_text_add(out, "/* What is computed, without any schedule. */\n");
        at_text_addf(out, "static int %s(void *const buf[], void *workspace, void *par);\n", entry);
        AT_TRY((range ? at_compute_reference_c : at_compute_limits_c)(a, c, f->program->values,
                                                                      entry, out, &workspace, err));
        at_text_add(out, "\n");
        check(a, out, families, f, range, workspace);
    }
    at_text_add(out, "int main(void) {\n    int failed = 0;\n");
    for (int i = 0; i < n; i++) at_text_addf(out, "    failed += check_%s();\n", kernels[i].name);
    at_text_add(out, "    return failed != 0;\n}\n");
    return AT_OK;
}
