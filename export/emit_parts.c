/* export/emit_parts.c: kernels of a program that calls them itself. */
#include "export/export_int.h"

static void add_head(at_text *out, const at_file_kernel *f) {
    at_text head = {0};
    at_text_add(&head, f->head);
    at_text_add(&head, "\n");
    at_program_print(&head, f->program, false);
    at_text_add(out, "\n/*\n");
    at_file_comment(out, at_text_str(&head));
    at_text_add(out, " */\n");
    at_text_free(&head);
}

static at_status make_face(at_arena *a, const at_file_kernel *k, bool is_late, at_face *f,
                           at_error *err) {
    at_status s = at_face_make(a, k, is_late ? AT_ABI_PLAIN : AT_ABI_BLOCKED, f, err);
    if (s != AT_OK) return err ? at_fail_at(err, "%s: ", k->name) : s;
    f->is_part = true;
    if (is_late) f->fast = NULL;
    return AT_OK;
}

at_status at_emit_parts(at_arena *a, const at_file_kernel *kernels, int n, const bool *is_late,
                        const at_part_options *o, const char **before, at_text *out,
                        at_error *err) {
    at_set set = {0};
    for (int i = 0; i < n; i++) at_set_add(&set, kernels[i].kernel);
    if (n) at_begin_set(a, out, &set, o->prefix, before);
    for (int i = 0; i < n; i++) {
        at_face f;
        AT_TRY(make_face(a, &kernels[i], is_late[i], &f, err));
        f.runs_apart = o->with_checks && f.threads > 1;
        add_head(out, &kernels[i]);
        at_kernel_define_part(out, &f, o->with_checks);
    }
    return AT_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

void at_emit_check_includes(at_text *out, const at_file_kernel *kernels, int n) {
    int apart = 0; /* the most tensors of a kernel that runs apart */
    for (int i = 0; i < n; i++)
        if (kernels[i].threads > 1 && kernels[i].kernel->num_params > apart)
            apart = kernels[i].kernel->num_params;
    at_file_main_includes(out);
    at_file_apart_helper(apart, out);
}

/* Tensors as they are without what lies between their rows. */
static void set_rows(at_face *f) {
    const at_program *p = f->of->program;
    for (int i = 0; f->of->row && i < f->num; i++) {
        at_face_tensor *t = &f->tensors[i];
        const int axes = p->compute->tensors[t->tensor].num_axes;
        t->row = f->of->row[i];
        if (!t->row) continue;
        t->own = axes ? p->extents[t->tensor][axes - 1] : 1;
        t->elements = t->elements / t->row * t->own;
    }
}

at_status at_emit_part_checks(at_arena *a, const at_file_kernel *kernels, int n,
                              const bool *is_late, at_text *out, at_error *err) {
    const at_families none = {0};
    at_face *faces = AT_NEW_ARRAY(a, at_face, n + 1);
    for (int i = 0; i < n; i++) {
        AT_TRY(make_face(a, &kernels[i], is_late[i], &faces[i], err));
        faces[i].runs_apart = faces[i].threads > 1;
        faces[i].packs &= !is_late[i];
        set_rows(&faces[i]);
    }
    return n ? at_file_checks(a, faces, n, &none, out, err) : AT_OK;
}
