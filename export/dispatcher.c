/* export/dispatcher.c: functions of an emitted file that choose a kernel by its shape, of several
 * instruction sets the best that the CPU has, and plain loops where no kernel has the shape. */
#include "codegen/target.h"
#include "export/export_int.h"

#include <string.h>

/* ---- families -------------------------------------------------------------------------------- */

/* What the family takes of the name, after those that come before it in this kernel. */
static void add_tensor(at_arena *a, at_family *f, const at_face_tensor *t, int *place) {
    for (int i = 0; i < f->tensors.len; i++) {
        at_face_tensor *have = &f->tensors.data[i];
        if (strcmp(have->name, t->name)) continue;
        have->ahead |= t->ahead;
        have->laid_out |= t->laid_out;
        *place = i + 1;
        return;
    }
    at_push(a, &f->tensors);
    for (int i = f->tensors.len - 1; i > *place; i--) f->tensors.data[i] = f->tensors.data[i - 1];
    f->tensors.data[(*place)++] = *t;
    f->num_inputs += !t->is_output;
}

static void add_general(at_arena *a, at_family *f, const at_general *g) {
    if (!g) return;
    for (int i = 0; i < f->generals.len; i++)
        if (at_general_equal(f->generals.data[i], g)) return;
    *at_push(a, &f->generals) = g;
}

static void add_face(at_arena *a, at_family *f, const at_face *face) {
    int input = 0, output = f->num_inputs, at = f->faces.len;
    for (int i = 0; i < face->num; i++) {
        bool is_output = face->tensors[i].is_output;
        if (is_output && output < f->num_inputs) output = f->num_inputs;
        add_tensor(a, f, &face->tensors[i], is_output ? &output : &input);
    }
    /* wider registers first */
    at_push(a, &f->faces);
    while (at > 0 &&
           f->faces.data[at - 1]->of->kernel->target->lanes < face->of->kernel->target->lanes) {
        f->faces.data[at] = f->faces.data[at - 1];
        at--;
    }
    f->faces.data[at] = face;
    f->packs |= face->packs;
    f->in_blocks |= face->in_blocks;
    f->abi = face->abi;
}

static bool has_plain(const at_family *f) { return f->abi == AT_ABI_PLAIN; }

at_families at_file_families(at_arena *a, const at_face *faces, int n, const at_file_options *o) {
    at_families all = {0};
    for (int i = 0; i < n; i++) {
        const char *name = faces[i].of->family;
        at_family *f = NULL;
        if (!name) continue;
        for (int j = 0; j < all.len && !f; j++)
            if (!strcmp(all.data[j].name, name)) f = &all.data[j];
        if (!f) {
            f = at_push(a, &all);
            *f = (at_family){.name = name};
        }
        add_face(a, f, &faces[i]);
        if (o->fallback) add_general(a, f, faces[i].of->general);
        f->checks_loops = o->with_main && f->generals.len && has_plain(f);
    }
    return all;
}

/* ---- what there is --------------------------------------------------------------------------- */

static bool has_fast(const at_family *f) { return !has_plain(f) || f->packs || f->in_blocks; }
static const char *fast_suffix(const at_family *f) { return has_plain(f) ? "_in_blocks" : ""; }
static bool is_converted(const at_face_tensor *t) { return t->laid_out && !t->ahead; }

static void signature(at_text *out, const at_family *f, const char *suffix, at_role_of_call call) {
    at_text_addf(out, "int %s%s(const %s_shape *shape, ", f->name, suffix, f->name);
    at_call_list(out, call, f->tensors.data, f->tensors.len, true, f->packs);
    at_text_add(out, ")");
}

static void convert_signature(at_text *out, const at_family *f, const at_face_tensor *t) {
    at_text_addf(out, "int %s_%s_%s(const %s_shape *shape, const %s *from, %s *to)", f->name,
                 t->is_output ? "unpack" : "pack", t->name, f->name, at_face_c_type(t),
                 at_type_of(t->type)->c);
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void shape_type(at_arena *a, at_text *out, const at_family *f) {
    const at_file_kernel *first = f->faces.data[0]->of;
    at_text_addf(out, "typedef struct %s_shape {\n    long ", f->name);
    if (!first->num_shape) at_text_add(out, "none");
    for (int i = 0; i < first->num_shape; i++)
        at_text_addf(out, "%s%s", i ? ", " : "", at_file_name(a, first->shape[i].name));
    at_text_addf(out, ";\n} %s_shape;\n\n", f->name);
}

static void declare_fast(at_text *out, const at_family *f) {
    if (f->packs) {
        at_text_add(out,
                    "/* Weights made ready once, for the function below; the same results. */\n");
        at_text_addf(out, "long %s_packed_bytes(const %s_shape *shape);\n", f->name, f->name);
        signature(out, f, "_pack", AT_CALL_PACK);
        at_text_add(out, ";\n");
    }
    for (int i = 0; i < f->tensors.len; i++) {
        const at_face_tensor *t = &f->tensors.data[i];
        if (!is_converted(t)) continue;
        at_text_addf(out, "/* %s the blocks that the kernel of this shape has %s in. */\n",
                     t->is_output ? "From" : "Into", t->name);
        convert_signature(out, f, t);
        at_text_add(out, ";\n");
    }
    signature(out, f, fast_suffix(f), AT_CALL_FAST);
    at_text_add(out, ";\n\n");
}

void at_family_declare(at_text *out, const at_family *f) {
    at_arena *a = at_arena_new();
    at_text_addf(out, "/* %s: kernels for these shapes:\n", f->name);
    for (int i = 0; i < f->faces.len; i++) {
        const at_file_kernel *k = f->faces.data[i]->of;
        at_text_add(out, " *   {");
        for (int j = 0; j < k->num_shape; j++)
            at_text_addf(out, "%s%lld", j ? ", " : "", (long long)k->shape[j].value);
        at_text_addf(out, "}: %s\n", k->name);
    }
    at_text_add(out, " */\n");
    shape_type(a, out, f);
    at_text_addf(
        out,
        "/* The name of the kernel that serves this shape on this CPU%s; 0: none does. */\n"
        "const char *%s_kernel(const %s_shape *shape);\n",
        f->generals.len ? ", \"loops\" where plain loops do" : "", f->name, f->name);
    at_text_addf(out,
                 "/* Bytes of workspace; -1: none serves it. */\n"
                 "long %s_workspace_bytes(const %s_shape *shape, int threads);\n",
                 f->name, f->name);
    at_text_addf(out,
                 "/* Runs the kernel of that shape%s. 0: done. 1: %s; nothing was written.\n%s * "
                 "Pointers that it does not take are ignored. */\n",
                 f->generals.len ? ", or plain loops" : "",
                 f->generals.len ? "the shape is of no form that the loops know" : "there is none",
                 at_call_checks_any(AT_CALL_PLAIN, f->tensors.data, f->tensors.len)
                     ? " * 2: an input has an element that it must not have; nothing was written.\n"
                     : "");
    if (has_plain(f)) {
        signature(out, f, "", AT_CALL_PLAIN);
        at_text_add(out, ";\n");
    }
    if (has_fast(f)) declare_fast(out, f);
    else at_text_add(out, "\n");
    at_arena_free(a);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The number of a kernel, then of a form of the plain loops; -1. */
static void find(at_arena *a, at_text *out, const at_family *f) {
    const at_file_kernel *first = f->faces.data[0]->of;
    if (f->checks_loops)
        at_text_addf(out,
                     "\n/* The main asks for the plain loops where there is a kernel, too. */\n"
                     "static int %s_only_loops;\n",
                     f->name);
    at_text_addf(out, "\nstatic int %s_find(const %s_shape *shape) {\n", f->name, f->name);
    if (!first->num_shape) at_text_add(out, "    (void)shape;\n");
    for (int i = 0; i < f->faces.len; i++) {
        const at_file_kernel *k = f->faces.data[i]->of;
        at_text_add(out, "    if (");
        if (f->checks_loops) at_text_addf(out, "!%s_only_loops && ", f->name);
        for (int j = 0; j < k->num_shape; j++)
            at_text_addf(out, "shape->%s == %lld && ", at_file_name(a, k->shape[j].name),
                         (long long)k->shape[j].value);
        at_text_addf(out, "%s_supported()) return %d;\n", k->name, i);
    }
    for (int i = 0; i < f->generals.len; i++)
        at_text_addf(out,
                     "    {\n        long args[%d], elements[%d], bytes;\n"
                     "        %s_args(shape, args);\n"
                     "        if (%s_form%d_sizes(args, elements, &bytes)) return %d;\n    }\n",
                     first->num_shape + 1, f->tensors.len + 1, f->name, f->name, i,
                     f->faces.len + i);
    at_text_add(out, "    return -1;\n}\n\n");
}

static void arguments(at_arena *a, at_text *out, const at_family *f) {
    const at_file_kernel *first = f->faces.data[0]->of;
    at_text_addf(out, "static void %s_args(const %s_shape *shape, long *args) {\n", f->name,
                 f->name);
    for (int i = 0; i < first->num_shape; i++)
        at_text_addf(out, "    args[%d] = shape->%s;\n", i, at_file_name(a, first->shape[i].name));
    if (!first->num_shape) at_text_add(out, "    (void)shape, (void)args;\n");
    at_text_add(out, "}\n\n");
}

/* Inside a case of the loops: args, elements, bytes and buf. */
static void enter_form(at_text *out, const at_family *f, int form) {
    at_text_addf(out,
                 "    case %d: {\n        long args[%d], elements[%d], bytes;\n"
                 "        %s_args(shape, args);\n"
                 "        %s_form%d_sizes(args, elements, &bytes);\n",
                 f->faces.len + form, f->faces.data[0]->of->num_shape + 1, f->tensors.len + 1,
                 f->name, f->name, form);
}

/* The inputs and outputs of a form in its order: place[i] is that of tensor i of the family; -1. */
static int form_place(at_arena *a, const at_general *g, const char *name) {
    const at_compute *c = g->compute;
    int n = 0;
    for (int out = 0; out < 2; out++)
        for (int t = 0; t < c->num_tensors; t++) {
            if (out ? !c->tensors[t].is_output : c->tensors[t].role == AT_ROLE_STAGE) continue;
            if (!strcmp(at_file_name(a, c->tensors[t].name), name)) return n;
            n++;
        }
    return -1;
}

/* An input in which an output lies comes with that output. */
static const char *parameter(at_arena *a, const at_general *g, const at_face_tensor *t) {
    const at_compute *c = g->compute;
    for (int i = 0; i < c->num_tensors && t->is_held; i++)
        if (c->tensors[i].lies_in && !strcmp(at_file_name(a, c->tensors[i].lies_in), t->name))
            return at_file_name(a, c->tensors[i].name);
    return t->name;
}

static void run_form(at_arena *a, at_text *out, const at_family *f, int form, bool fast) {
    enter_form(out, f, form);
    at_text_addf(out, "        void *buf[%d];\n", f->tensors.len + 1);
    if (fast && f->packs) at_text_add(out, "        char *at = (char *)packed;\n");
    for (int i = 0; i < f->tensors.len; i++) {
        const at_face_tensor *t = &f->tensors.data[i];
        int place = form_place(a, f->generals.data[form], t->name);
        if (place < 0) continue;
        if (fast && t->ahead)
            at_text_addf(
                out, "        buf[%d] = at;\n        at += (elements[%d] * %d + 63) / 64 * 64;\n",
                place, place, (int)at_type_bytes(t->type));
        else
            at_text_addf(out, "        buf[%d] = (void *)%s;\n", place,
                         parameter(a, f->generals.data[form], t));
    }
    at_text_addf(out,
                 "        char *aligned = (char *)workspace;\n"
                 "        aligned += (64 - (unsigned long)aligned %% 64) %% 64;\n"
                 "        %s_form%d(args, buf, aligned);\n        return 0;\n    }\n",
                 f->name, form);
}

static void pack_form(at_arena *a, at_text *out, const at_family *f, int form) {
    enter_form(out, f, form);
    at_text_add(out, "        char *at = (char *)packed;\n");
    for (int i = 0; i < f->tensors.len; i++) {
        const at_face_tensor *t = &f->tensors.data[i];
        int place = form_place(a, f->generals.data[form], t->name);
        const char *type = at_type_of(t->type)->c;
        if (place < 0 || !t->ahead) continue;
        at_text_addf(out,
                     "        for (long i = 0; i < elements[%d]; i++) ((%s *)at)[i] = %s[i];\n"
                     "        at += (elements[%d] * %d + 63) / 64 * 64;\n",
                     place, type, t->name, place, (int)at_type_bytes(t->type));
    }
    at_text_add(out, "        (void)at;\n        return 0;\n    }\n");
}

/* A kernel's own list: what the family has besides is not passed on. */
static void call(at_text *out, const at_face *k, const char *name, at_role_of_call role) {
    const bool checks = at_call_checks_any(role, k->tensors, k->num);
    at_text_addf(out, "%s%s(", checks ? "if (" : "", name);
    at_call_list(out, role, k->tensors, k->num, false, k->packs);
    at_text_add(out, checks ? ")) return 2; " : "); ");
}

static void ignore(at_text *out, const at_family *f, at_role_of_call role) {
    for (int i = 0; i < f->tensors.len; i++)
        if (at_call_takes(role, &f->tensors.data[i]))
            at_text_addf(out, "    (void)%s;\n", f->tensors.data[i].name);
    if (role != AT_CALL_PLAIN && f->packs) at_text_add(out, "    (void)packed;\n");
}

static void choose(at_arena *a, at_text *out, const at_family *f, at_role_of_call role) {
    signature(out, f,
              role == AT_CALL_PACK   ? "_pack"
              : role == AT_CALL_FAST ? fast_suffix(f)
                                     : "",
              role);
    at_text_add(out, " {\n");
    ignore(out, f, role);
    at_text_addf(out, "    switch (%s_find(shape)) {\n", f->name);
    for (int i = 0; i < f->faces.len; i++) {
        const at_face *k = f->faces.data[i];
        at_text_addf(out, "    case %d: ", i);
        if (role == AT_CALL_PACK) {
            if (k->packs) call(out, k, at_format(a, "%s_pack", k->of->name), role);
        } else if (role == AT_CALL_FAST && k->fast) call(out, k, k->fast, role);
        else call(out, k, k->name, AT_CALL_PLAIN);
        at_text_add(out, "return 0;\n");
    }
    for (int i = 0; i < f->generals.len; i++) {
        if (role == AT_CALL_PACK) pack_form(a, out, f, i);
        else run_form(a, out, f, i, role == AT_CALL_FAST);
    }
    at_text_add(out, "    default: return 1;\n    }\n}\n\n");
}

static const at_face_tensor *tensor_of(const at_face *k, const char *name) {
    for (int i = 0; i < k->num; i++)
        if (!strcmp(k->tensors[i].name, name)) return &k->tensors[i];
    return NULL;
}

static void convert(at_arena *a, at_text *out, const at_family *f, const at_face_tensor *t) {
    convert_signature(out, f, t);
    at_text_addf(out, " {\n    switch (%s_find(shape)) {\n", f->name);
    for (int i = 0; i < f->faces.len; i++) {
        const at_face_tensor *own = tensor_of(f->faces.data[i], t->name);
        at_text_addf(out, "    case %d: ", i);
        if (own && is_converted(own))
            at_text_addf(out,
                         own->is_checked ? "if (%s_%s_%s(from, to)) return 2; "
                                         : "%s_%s_%s(from, to); ",
                         f->faces.data[i]->of->name, t->is_output ? "unpack" : "pack", t->name);
        else if (own)
            at_text_addf(out, "for (long i = 0; i < %lldL; i++) to[i] = from[i]; ",
                         (long long)own->elements);
        at_text_add(out, "return 0;\n");
    }
    for (int i = 0; i < f->generals.len; i++) {
        int place = form_place(a, f->generals.data[i], t->name);
        enter_form(out, f, i);
        if (place >= 0)
            at_text_addf(out, "        for (long i = 0; i < elements[%d]; i++) to[i] = from[i];\n",
                         place);
        at_text_add(out, "        return 0;\n    }\n");
    }
    at_text_add(out, "    default: return 1;\n    }\n}\n\n");
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void kernel_names(at_text *out, const at_family *f) {
    at_text_addf(out,
                 "const char *%s_kernel(const %s_shape *shape) {\n    switch (%s_find(shape)) {\n",
                 f->name, f->name, f->name);
    for (int i = 0; i < f->faces.len; i++)
        at_text_addf(out, "    case %d: return \"%s\";\n", i, f->faces.data[i]->of->name);
    at_text_addf(out, "    case -1: return 0;\n    default: return \"%s\";\n    }\n}\n\n",
                 f->generals.len ? "loops" : "");
}

static void workspaces(at_text *out, const at_family *f) {
    at_text_addf(out,
                 "long %s_workspace_bytes(const %s_shape *shape, int threads) {\n"
                 "    (void)threads;\n    switch (%s_find(shape)) {\n",
                 f->name, f->name, f->name);
    for (int i = 0; i < f->faces.len; i++)
        at_text_addf(out, "    case %d: return (long)%s_workspace_bytes(threads);\n", i,
                     f->faces.data[i]->of->name);
    for (int i = 0; i < f->generals.len; i++) {
        enter_form(out, f, i);
        at_text_add(out, "        return bytes + 63;\n    }\n");
    }
    at_text_add(out, "    default: return -1;\n    }\n}\n\n");
}

static void packed_sizes(at_arena *a, at_text *out, const at_family *f) {
    at_text_addf(out,
                 "long %s_packed_bytes(const %s_shape *shape) {\n    switch (%s_find(shape)) {\n",
                 f->name, f->name, f->name);
    for (int i = 0; i < f->faces.len; i++) {
        const at_face *k = f->faces.data[i];
        if (k->packs)
            at_text_addf(out, "    case %d: return (long)%s_packed_bytes();\n", i, k->of->name);
        else at_text_addf(out, "    case %d: return 0;\n", i);
    }
    for (int i = 0; i < f->generals.len; i++) {
        enter_form(out, f, i);
        at_text_add(out, "        bytes = 0;\n");
        for (int j = 0; j < f->tensors.len; j++) {
            const at_face_tensor *t = &f->tensors.data[j];
            int place = form_place(a, f->generals.data[i], t->name);
            if (t->ahead && place >= 0)
                at_text_addf(out, "        bytes += (elements[%d] * %d + 63) / 64 * 64;\n", place,
                             (int)at_type_bytes(t->type));
        }
        at_text_add(out, "        return bytes;\n    }\n");
    }
    at_text_add(out, "    default: return -1;\n    }\n}\n\n");
}

void at_family_define(at_arena *a, at_text *out, const at_family *f) {
    at_text_add(out, "\n");
    if (f->generals.len) arguments(a, out, f);
    for (int i = 0; i < f->generals.len; i++)
        at_general_c(a, f->generals.data[i], at_format(a, "%s_form%d", f->name, i), out);
    find(a, out, f);
    kernel_names(out, f);
    workspaces(out, f);
    if (has_plain(f)) choose(a, out, f, AT_CALL_PLAIN);
    if (!has_fast(f)) return;
    if (f->packs) {
        packed_sizes(a, out, f);
        choose(a, out, f, AT_CALL_PACK);
    }
    for (int i = 0; i < f->tensors.len; i++)
        if (is_converted(&f->tensors.data[i])) convert(a, out, f, &f->tensors.data[i]);
    choose(a, out, f, AT_CALL_FAST);
}
