/* export/in_memory.c: a kernel and its functions as one text for TinyCC, to be called where it was
 * made; its tiles are machine code beside it. */
#include "export/export_int.h"

static void add_tensor(at_arena *a, const at_face *f, const at_face_tensor *t,
                       at_memory_tensor *out) {
    const at_index_range *r = &t->given;
    const bool is_index = f->of->program->compute->tensors[t->tensor].role == AT_ROLE_INDEX;
    const at_program *p = f->of->program;
    int64_t shape[AT_FACE_DIMS];
    int n = at_face_shape(f, t, shape);
    *out = (at_memory_tensor){
        .name = t->name,
        .type = t->type,
        .is_output = t->is_output,
        .is_read = p->compute->tensors[t->tensor].lies_in != NULL,
        .is_ahead = t->ahead,
        .num_dims = n,
        .dims = at_copy(a, shape, sizeof *shape * (size_t)n),
        .elements = t->elements,
        .is_s64 = t->is_s64,
        .is_checked = t->is_checked,
        .is_bounded = t->is_checked ||
                      (is_index && !r->is_unknown && (r->lo > INT32_MIN || r->hi < INT32_MAX)),
        .given = t->given};
    if (!t->laid_out || t->ahead) return;
    out->num_block_dims = p->compute->tensors[t->tensor].num_axes;
    out->block_dims = p->extents[t->tensor];
    out->order = at_format(a, "%s_%s_%s", f->of->name, t->is_output ? "unpack" : "pack", t->name);
}

/* Where a configuration's own layout is all there is, its function takes that. */
static at_status make_face(at_arena *a, const at_file_kernel *kernel, at_face *f, at_error *err) {
    at_status s = at_face_make(a, kernel, AT_ABI_PLAIN, f, err);
    return s == AT_E_INPUT ? at_face_make(a, kernel, AT_ABI_BLOCKED, f, err) : s;
}

at_status at_emit_in_memory(at_arena *a, const at_file_kernel *kernel, const char *parallel_for,
                            at_memory_kernel *out, at_error *err) {
    at_face f;
    at_text text = {0};
    const char *name = kernel->name;
    AT_TRY(make_face(a, kernel, &f, err));
    f.parallel_for = parallel_for;
    at_kernel_define_in_memory(&text, &f);
    *out = (at_memory_kernel){.source = at_text_take(a, &text),
                              .workspace_bytes = at_format(a, "%s_workspace_bytes", name),
                              .tensors = AT_NEW_ARRAY(a, at_memory_tensor, f.num)};
    if (f.name) {
        out->plain = f.name;
        out->call = at_format(a, "%s_call", name);
        out->plain_prototype = at_kernel_prototype(a, &f, AT_CALL_PLAIN);
    }
    if (f.fast) {
        out->fast = f.fast;
        out->fast_call = at_format(a, "%s_call", f.fast);
        out->fast_prototype = at_kernel_prototype(a, &f, AT_CALL_FAST);
    }
    if (f.fast && f.packs) {
        out->pack = at_format(a, "%s_pack", name);
        out->pack_call = at_format(a, "%s_pack_call", name);
        out->packed_bytes = at_format(a, "%s_packed_bytes", name);
        out->pack_prototype = at_kernel_prototype(a, &f, AT_CALL_PACK);
    }
    for (int i = 0; i < f.num; i++)
        if (!f.tensors[i].is_held)
            add_tensor(a, &f, &f.tensors[i], &out->tensors[out->num_tensors++]);
    return AT_OK;
}
