/* export/dispatcher.c: functions of an `apply` file that choose a kernel by its shape. */
#include "export/export_int.h"

#include <string.h>

static void add_param(at_arena *a, at_family *f, const at_param *q) {
    for (int i = 0; i < f->params.len; i++) {
        const at_param *p = f->params.data[i];
        if (strcmp(p->name, q->name)) continue;
        at_param both = *p; /* in the family's functions where it is in any kernel's */
        both.in_kernel |= q->in_kernel;
        both.in_pack |= q->in_pack;
        f->params.data[i] = at_copy(a, &both, sizeof both);
        return;
    }
    *at_push(a, &f->params) = q;
}

at_families at_file_families(at_arena *a, const at_file_kernel *kernels, int n) {
    at_families all = {0};
    for (int i = 0; i < n; i++) {
        at_family *f = NULL;
        if (!kernels[i].family) continue;
        for (int j = 0; j < all.len && !f; j++)
            if (!strcmp(all.data[j].name, kernels[i].family)) f = &all.data[j];
        if (!f) {
            f = at_push(a, &all);
            *f = (at_family){.name = kernels[i].family};
        }
        *at_push(a, &f->kernels) = &kernels[i];
        f->packs |= kernels[i].kernel->pack != NULL;
    }
    static const at_param_role order[] = {AT_PARAM_IN, AT_PARAM_PACKED, AT_PARAM_OUT};
    for (int i = 0; i < all.len; i++)
        for (int r = 0; r < 3; r++)
            for (int j = 0; j < all.data[i].kernels.len; j++) {
                const at_kernel *k = all.data[i].kernels.data[j]->kernel;
                for (int q = 0; q < k->num_params; q++)
                    if (k->params[q].role == order[r]) add_param(a, &all.data[i], &k->params[q]);
            }
    return all;
}

static void signature(at_text *out, const at_family *f, bool pack) {
    at_text_addf(out, "int %s%s(const %s_shape *shape, ", f->name, pack ? "_pack" : "", f->name);
    at_file_parameters(out, f->params.data, f->params.len, pack);
    at_text_add(out, pack ? ")" : ", void *workspace)");
}

static void shape_type(at_text *out, const at_family *f) {
    const at_file_kernel *first = f->kernels.data[0];
    at_text_addf(out, "typedef struct %s_shape {\n    long ", f->name);
    if (!first->num_shape) at_text_add(out, "none");
    for (int i = 0; i < first->num_shape; i++) {
        at_text_add(out, i ? ", " : "");
        at_file_name(out, first->shape[i].name);
    }
    at_text_addf(out, ";\n} %s_shape;\n\n", f->name);
}

void at_family_declare(at_text *out, const at_family *f) {
    at_text_addf(out, "/* %s: kernels for these shapes:\n", f->name);
    for (int i = 0; i < f->kernels.len; i++) {
        const at_file_kernel *k = f->kernels.data[i];
        at_text_add(out, " *   {");
        for (int j = 0; j < k->num_shape; j++)
            at_text_addf(out, "%s%lld", j ? ", " : "", (long long)k->shape[j].value);
        at_text_addf(out, "}: %s\n", k->name);
    }
    at_text_add(out, " */\n");
    shape_type(out, f);
    at_text_add(out, "/* Runs the kernel of that shape. 0: done. 1: there is none; nothing was "
                     "written. Pointers that this\n * kernel does not take are ignored. */\n");
    signature(out, f, false);
    at_text_add(out, ";\n");
    if (f->packs) {
        at_text_add(out, "/* Packs weights for it, where it takes packed ones; returns the same. "
                         "*/\n");
        signature(out, f, true);
        at_text_add(out, ";\n");
    }
    at_text_addf(out,
                 "/* Bytes of workspace, and elements of packed weights (0: it takes none); -1: no "
                 "such kernel. */\n"
                 "long %s_workspace_bytes(const %s_shape *shape, int threads);\n",
                 f->name, f->name);
    for (int i = 0; i < f->params.len; i++)
        if (f->params.data[i]->role == AT_PARAM_PACKED)
            at_text_addf(out, "long %s_%s_elements(const %s_shape *shape);\n", f->name,
                         f->params.data[i]->name, f->name);
    at_text_add(out, "\n");
}

static void find(at_text *out, const at_family *f) {
    at_text_addf(out, "\nstatic int %s_find(const %s_shape *shape) {\n", f->name, f->name);
    if (!f->kernels.data[0]->num_shape) at_text_add(out, "    (void)shape;\n");
    for (int i = 0; i < f->kernels.len; i++) {
        const at_file_kernel *k = f->kernels.data[i];
        at_text_add(out, k->num_shape ? "    if (" : "    ");
        for (int j = 0; j < k->num_shape; j++) {
            at_text_add(out, j ? " && shape->" : "shape->");
            at_file_name(out, k->shape[j].name);
            at_text_addf(out, " == %lld", (long long)k->shape[j].value);
        }
        at_text_addf(out, "%sreturn %d;\n", k->num_shape ? ") " : "", i);
        if (!k->num_shape) break;
    }
    if (f->kernels.data[0]->num_shape) at_text_add(out, "    return -1;\n");
    at_text_add(out, "}\n\n");
}

static void call(at_text *out, const at_file_kernel *k, bool pack) {
    const char *comma = "";
    at_text_addf(out, "%s%s(", k->name, pack ? "_pack" : "");
    for (int i = 0; i < k->kernel->num_params; i++) {
        const at_param *q = &k->kernel->params[i];
        if (!at_file_takes(q, pack)) continue;
        at_text_add(out, comma);
        at_file_name(out, q->name);
        comma = ", ";
    }
    at_text_add(out, pack ? "); " : ", workspace); ");
}

static void choose(at_text *out, const at_family *f, bool pack) {
    signature(out, f, pack);
    at_text_addf(out, " {\n    switch (%s_find(shape)) {\n", f->name);
    for (int i = 0; i < f->kernels.len; i++) {
        const at_file_kernel *k = f->kernels.data[i];
        at_text_addf(out, "    case %d: ", i);
        if (!pack || k->kernel->pack) call(out, k, pack);
        at_text_add(out, "return 0;\n");
    }
    at_text_add(out, "    default: return 1;\n    }\n}\n\n");
}

static int64_t packed_elements(const at_kernel *k, const char *name) {
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == AT_PARAM_PACKED && !strcmp(k->params[i].name, name))
            return k->params[i].elements;
    return 0;
}

static void sizes(at_text *out, const at_family *f) {
    at_text_addf(out,
                 "long %s_workspace_bytes(const %s_shape *shape, int threads) {\n"
                 "    switch (%s_find(shape)) {\n",
                 f->name, f->name, f->name);
    for (int i = 0; i < f->kernels.len; i++)
        at_text_addf(out, "    case %d: return (long)%s_workspace_bytes(threads);\n", i,
                     f->kernels.data[i]->name);
    at_text_add(out, "    default: return -1;\n    }\n}\n");
    for (int p = 0; p < f->params.len; p++) {
        const at_param *q = f->params.data[p];
        if (q->role != AT_PARAM_PACKED) continue;
        at_text_addf(out,
                     "\nlong %s_%s_elements(const %s_shape *shape) {\n    switch (%s_find(shape)) "
                     "{\n",
                     f->name, q->name, f->name, f->name);
        for (int i = 0; i < f->kernels.len; i++)
            at_text_addf(out, "    case %d: return %lldL;\n", i,
                         (long long)packed_elements(f->kernels.data[i]->kernel, q->name));
        at_text_add(out, "    default: return -1;\n    }\n}\n");
    }
}

void at_family_define(at_text *out, const at_family *f) {
    find(out, f);
    choose(out, f, false);
    if (f->packs) choose(out, f, true);
    sizes(out, f);
}
