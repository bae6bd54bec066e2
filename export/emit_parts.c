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

at_status at_emit_parts(at_arena *a, const at_file_kernel *kernels, int n, const bool *is_late,
                        const char *prefix, const char **before, at_text *out, at_error *err) {
    at_set set = {0};
    for (int i = 0; i < n; i++) at_set_add(&set, kernels[i].kernel);
    if (n) at_begin_set(a, out, &set, prefix, before);
    for (int i = 0; i < n; i++) {
        at_face f;
        at_status s =
            at_face_make(a, &kernels[i], is_late[i] ? AT_ABI_PLAIN : AT_ABI_BLOCKED, &f, err);
        if (s != AT_OK) return err ? at_fail_at(err, "%s: ", kernels[i].name) : s;
        f.is_part = true;
        if (is_late[i]) f.fast = NULL;
        add_head(out, &kernels[i]);
        at_kernel_define_part(out, &f);
    }
    return AT_OK;
}
