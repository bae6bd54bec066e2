/* export/check_calls.c: the arrays of the main of an emitted file, and its calls of a kernel: what
 * goes ahead of a call, its arguments, what comes behind it, and what is compared. */
#include <string.h>

#include "codegen/target.h"
#include "export/check_int.h"

void at_main_check_cpu(at_text *out, const at_file_kernel *f, bool several) {
    const at_target *t = f->kernel->target;
    if (f->kernel->dialect == AT_DIALECT_C || !*t->parts) return;
    at_text_addf(out,
                 "    if (!%s_supported()) {\n"
                 "        printf(\"%s: made for %s (%s), which this CPU lacks\\n\");\n"
                 "        return %d;\n    }\n",
                 f->name, f->name, t->name, t->parts, several ? 0 : 1);
}

bool at_main_has_blocks(const at_face *f, const at_face_tensor *t) {
    return t->row || (f->fast && t->laid_out && !t->ahead);
}

void at_main_allocate(at_text *out, const at_face *f, bool has_limits) {
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        const char *type = at_type_of(t->type)->c;
        const int bytes = (int)at_type_bytes(t->type);
        at_text_addf(out, "    %s *b%d = at_allocate(%lldUL * %d); /* %s */\n", type, i,
                     (long long)t->elements, bytes, t->name);
        if (t->is_s64)
            at_text_addf(out, "    long long *g%d = at_allocate(%lldUL * 8);\n", i,
                         (long long)t->elements);
        if (at_main_has_blocks(f, t))
            at_text_addf(out, "    %s *c%d = at_allocate(%lldUL * %d);\n", type, i,
                         (long long)at_face_elements_in_blocks(t), bytes);
        if (t->is_ordered)
            at_text_addf(out, "    %s *own%d = at_allocate(%lldUL * %d);\n", type, i,
                         (long long)t->elements, bytes);
        for (int limits = 0; t->is_output && limits < (has_limits ? 2 : 1); limits++)
            at_text_addf(out, "    %s *%s%d = at_allocate(%lldUL * %d);\n", limits ? "float" : type,
                         limits ? "limit" : "want", i, (long long)t->elements, limits ? 4 : bytes);
    }
    if (f->packs)
        at_text_addf(out, "    void *packed = at_allocate(%s_packed_bytes());\n", f->of->name);
}

void at_main_release(at_text *out, const at_face *f, bool has_limits) {
    for (int i = 0; i < f->num; i++) {
        at_text_addf(out, "    free(b%d);\n", i);
        if (f->tensors[i].is_s64) at_text_addf(out, "    free(g%d);\n", i);
        if (at_main_has_blocks(f, &f->tensors[i])) at_text_addf(out, "    free(c%d);\n", i);
        if (f->tensors[i].is_ordered) at_text_addf(out, "    free(own%d);\n", i);
        if (!f->tensors[i].is_output) continue;
        at_text_addf(out, "    free(want%d);\n", i);
        if (has_limits) at_text_addf(out, "    free(limit%d);\n", i);
    }
    if (f->packs) at_text_add(out, "    free(packed);\n");
    at_text_add(out, "    free(workspace);\n    free(reference_workspace);\n");
}

char at_main_letter(const at_face_tensor *t) { return t->is_s64 ? 'g' : 'b'; }

/* Arrays of 64 bits an element, of those of 32 that the reference takes. */
void at_main_widen(at_text *out, const at_face *f) {
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].is_s64)
            at_text_addf(out, "    for (long i = 0; i < %lldL; i++) g%d[i] = b%d[i];\n",
                         (long long)f->tensors[i].elements, i, i);
}

/* The buffers of a call; those in blocks have another letter. */
void at_main_buffers(at_text *out, const at_face *f, at_role_of_call call, const char *comma) {
    bool packed = call == AT_CALL_FAST && f->packs;
    for (int i = 0; i < f->num; i++) {
        const at_face_tensor *t = &f->tensors[i];
        if (t->is_output && packed) {
            at_text_addf(out, "%spacked", comma);
            comma = ", ";
            packed = false;
        }
        if (!at_call_takes(call, t)) continue;
        at_text_addf(
            out, "%s%c%d", comma,
            (call == AT_CALL_FAST || t->row) && at_main_has_blocks(f, t) ? 'c' : at_main_letter(t),
            i);
        comma = ", ";
    }
    at_text_addf(out, "%s%s);\n", comma, call == AT_CALL_PACK ? "packed" : "workspace");
}

/* By shape: parameters of other kernels are 0. What the function gives is 0 where it ran. */
void at_main_call_by_shape(at_text *out, const at_family *family, const at_face *f) {
    at_text_addf(out, "%s(&shape", family->name);
    for (int i = 0; i < family->tensors.len; i++) {
        int own = -1;
        if (!at_call_takes(AT_CALL_PLAIN, &family->tensors.data[i])) continue;
        for (int j = 0; j < f->num; j++)
            if (!strcmp(f->tensors[j].name, family->tensors.data[i].name)) own = j;
        if (own < 0) at_text_add(out, ", 0");
        else at_text_addf(out, ", %c%d", at_main_letter(&f->tensors[own]), own);
    }
    at_text_add(out, ", workspace)");
}

/* Into longer rows, or back. */
static void move_rows(at_text *out, const at_face_tensor *t, int i) {
    char far[80];
    snprintf(far, sizeof far, "c%d[i / %lldL * %lldL + i %% %lldL]", i, (long long)t->own,
             (long long)t->row, (long long)t->own);
    at_text_addf(out, "    for (long i = 0; i < %lldL; i++) ", (long long)t->elements);
    if (t->is_output) at_text_addf(out, "b%d[i] = %s;\n", i, far);
    else at_text_addf(out, "%s = b%d[i];\n", far, i);
}

void at_main_prepare(at_text *out, const at_face *f) {
    if (f->fast && f->packs) {
        at_text_addf(out, "    %s_pack(", f->of->name);
        at_main_buffers(out, f, AT_CALL_PACK, "");
    }
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].row) move_rows(out, &f->tensors[i], i);
        else if (at_main_has_blocks(f, &f->tensors[i]))
            at_text_addf(out, "    %s_pack_%s(%c%d, c%d);\n", f->of->name, f->tensors[i].name,
                         at_main_letter(&f->tensors[i]), i, i);
}

void at_main_call(at_text *out, const at_face *f, const char *indent) {
    at_text_addf(out, "%s%s(", indent, f->fast ? f->fast : f->name);
    at_main_buffers(out, f, f->fast ? AT_CALL_FAST : AT_CALL_PLAIN, "");
}

void at_main_finish(at_text *out, const at_face *f) {
    for (int i = f->num_inputs; i < f->num; i++)
        if (f->tensors[i].row) move_rows(out, &f->tensors[i], i);
        else if (at_main_has_blocks(f, &f->tensors[i]))
            at_text_addf(out, "    %s_unpack_%s(c%d, b%d);\n", f->of->name, f->tensors[i].name, i,
                         i);
}

void at_main_own_order(at_text *out, const at_face *f, int i) {
    const at_face_tensor *t = &f->tensors[i];
    if (t->moves)
        at_text_addf(out, "    %s_order_%s(%c%d, own%d);\n", f->of->name, t->name,
                     at_main_letter(t), i, i);
    else
        at_text_addf(out, "    memcpy(own%d, b%d, %lldUL * %d);\n", i, i, (long long)t->elements,
                     (int)at_type_bytes(t->type));
}

void at_main_list_buffers(at_text *out, const at_face *f, bool has_limits) {
    at_text_add(out, "    void *buf[] = {");
    for (int i = 0; i < f->num; i++)
        at_text_addf(out, "%s%d, ",
                     f->tensors[i].is_output    ? "want"
                     : f->tensors[i].is_ordered ? "own"
                                                : "b",
                     i);
    for (int i = f->num_inputs; i < f->num && has_limits; i++) at_text_addf(out, "limit%d, ", i);
    at_text_add(out, "0};\n");
}

void at_main_clear(at_arena *a, at_text *out, const at_face *f, int output) {
    const at_face_tensor *t = &f->tensors[output];
    const int held = at_compute_held(f->of->program->compute, t->tensor);
    const long bytes = (long)(t->elements * at_type_bytes(t->type));
    const char *from = NULL;
    for (int i = 0; i < f->num_inputs; i++)
        if (f->tensors[i].tensor == held) from = at_format(a, "b%d", i);
    at_text_addf(out, "    %s(b%d, %s, %ldUL);\n", from ? "memcpy" : "memset", output,
                 from ? from : "255", bytes);
}

int at_main_begin_again(at_arena *a, at_text *out, const at_face *f) {
    int num = 0;
    for (int i = f->num_inputs; i < f->num; i++) {
        if (!f->of->program->compute->tensors[f->tensors[i].tensor].is_updated) continue;
        at_main_clear(a, out, f, i);
        num++;
    }
    return num;
}

void at_main_compare(at_arena *a, at_text *out, const at_face *f, bool exact) {
    for (int i = f->num_inputs; i < f->num; i++) {
        const at_type type = f->tensors[i].type;
        const char *number =
            at_type_is_half(type) ? at_format(a, "at_value_of_%s", at_type_of(type)->name) : "";
        at_text_addf(out,
                     "    for (long i = 0; i < %1$lldL; i++) wrong += !at_agrees(%2$s(b%3$d[i]), "
                     "%2$s(want%3$d[i]), %4$s);\n",
                     (long long)f->tensors[i].elements, number, i,
                     exact ? "0" : at_format(a, "limit%d[i]", i));
        at_main_clear(a, out, f, i);
    }
}

void at_main_say_wrong(at_text *out, const at_face *f, const char *when) {
    at_text_addf(out,
                 "    if (wrong) {\n        printf(\"%s: %%ld elements are wrong%s\\n\", wrong);\n"
                 "        return 1;\n    }\n",
                 f->of->name, when);
}
