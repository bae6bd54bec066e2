/* export/face.c: what people call a kernel with, the same for every configuration of a task. */
#include "export/export_int.h"

#include <string.h>

static const char *const abis[] = {"plain", "blocked"};
_Static_assert(sizeof abis / sizeof abis[0] == AT_ABI_COUNT, "one name per abi");
const char *at_abi_name(at_abi abi) { return abis[abi]; }

/* In this order the axes are those of the plain tensor where no two that are more than one element
 * long change places. */
static bool moves(int n, const int64_t *extents, const int *order) {
    int last = -1;
    for (int i = 0; order && i < n; i++) {
        if (extents[order[i]] == 1) continue;
        if (order[i] < last) return true;
        last = order[i];
    }
    return false;
}

static bool same_extents(int n, const int64_t *x, const int64_t *y) {
    return !memcmp(x, y, sizeof *x * (size_t)n);
}

static int param_of(const at_kernel *k, int tensor) {
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].tensor == tensor) return i;
    AT_BUG("tensor %d is no parameter", tensor);
}

/* plain: its extents with nothing in blocks. */
static at_status set_layout(const at_file_kernel *f, at_face_tensor *t, const int64_t *plain,
                            at_error *err) {
    const at_compute *c = f->program->compute;
    const int64_t *extents = f->program->extents[t->tensor];
    const int *order = f->layouts ? f->layouts[t->tensor] : NULL;
    int n = c->tensors[t->tensor].num_axes;
    if (f->weight_order && t->tensor == f->ordered_weight) {
        t->laid_out = t->is_ordered = true;
        t->order = f->weight_order;
        t->moves = moves(n, extents, f->weight_order);
        return AT_OK;
    }
    if (order && !moves(n, plain, order)) {
        t->laid_out = true;
        t->order = order;
        t->moves = moves(n, extents, order);
        return AT_OK;
    }
    if (same_extents(n, extents, plain)) return AT_OK; /* blocks, if any, are the task's own */
    return at_fail(
        err, AT_E_INPUT,
        "the shape of %s depends on the configuration, and no at_layout says how it lies "
        "in memory; take --abi blocked for this configuration's own layout",
        c->tensors[t->tensor].name);
}

static at_status add_tensor(at_arena *a, at_face *f, int tensor, int64_t *const *plain,
                            at_error *err) {
    const at_file_kernel *k = f->of;
    const at_tensor *from = &k->program->compute->tensors[tensor];
    at_face_tensor *t = &f->tensors[f->num++];
    int param = param_of(k->kernel, at_compute_holder(k->program->compute, tensor));
    *t = (at_face_tensor){
        .tensor = tensor,
        .param = param,
        .name = at_file_name(a, k->tensor_names ? k->tensor_names[tensor] : from->name),
        .type = from->type,
        .is_s64 = from->is_s64,
        .is_checked = at_tensor_is_checked(from),
        .is_output = from->role == AT_ROLE_STAGE,
        .is_held = from->is_held,
        .ahead = from->role == AT_ROLE_WEIGHT || from->role == AT_ROLE_INDEX,
        .elements = k->kernel->params[param].elements,
        .packed_at = -1};
    if (plain) AT_TRY(set_layout(k, t, plain[tensor], err));
    f->packs |= t->ahead;
    f->in_blocks |= t->laid_out && !t->ahead;
    return AT_OK;
}

static int64_t reserve(at_face *f, int64_t elements, at_type type) {
    int64_t at = f->packed_bytes;
    f->packed_bytes += (elements * at_type_bytes(type) + 63) / 64 * 64;
    return at;
}

/* Copies of what the kernel reads itself, or packs from blocks, then what it packs. */
static void place_packed(at_arena *a, at_face *f) {
    const at_kernel *k = f->of->kernel;
    int64_t *at = AT_NEW_ARRAY(a, int64_t, k->num_params);
    for (int i = 0; i < f->num; i++) {
        at_face_tensor *t = &f->tensors[i];
        const at_param *p = &k->params[t->param];
        if (t->ahead && (p->in_kernel || (p->in_pack && (t->laid_out || t->is_checked))))
            t->packed_at = reserve(f, t->elements, t->type);
    }
    for (int i = 0; i < k->num_params; i++)
        if (k->params[i].role == AT_PARAM_PACKED)
            at[i] = reserve(f, k->params[i].elements, k->params[i].type);
    f->packed_at = at;
}

static at_status add_tensors(at_arena *a, at_face *f, int64_t *const *plain, at_error *err) {
    const at_compute *c = f->of->program->compute;
    f->num = 0;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE) AT_TRY(add_tensor(a, f, t, plain, err));
    f->num_inputs = f->num;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output) AT_TRY(add_tensor(a, f, t, plain, err));
    return AT_OK;
}

static at_status set_given(at_arena *a, at_face *f, at_error *err) {
    const at_compute *c = f->of->program->compute;
    at_index_range *given = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    AT_TRY(at_compute_given_ranges(a, c, f->values, given, err));
    for (int i = 0; i < f->num; i++) f->tensors[i].given = given[f->tensors[i].tensor];
    return AT_OK;
}

at_status at_face_make(at_arena *a, const at_file_kernel *f, at_abi abi, at_face *out,
                       at_error *err) {
    const at_compute *c = f->program->compute;
    int64_t **plain = NULL;
    *out = (at_face){.of = f,
                     .abi = abi,
                     .tensors = AT_NEW_ARRAY(a, at_face_tensor, c->num_tensors),
                     .threads = f->threads > 1 ? f->threads : 1};
    if (f->plain_values) AT_TRY(at_compute_extents(a, c, f->plain_values, &plain, err));
    out->values = plain ? f->plain_values : f->program->values;
    at_status s = add_tensors(a, out, plain, err);
    if (s != AT_OK && abi == AT_ABI_PLAIN) return s;
    if (s != AT_OK) { /* the configuration's own layout is all there is */
        out->values = f->program->values;
        out->in_blocks = false;
        AT_TRY(add_tensors(a, out, NULL, err));
    }
    AT_TRY(set_given(a, out, err));
    place_packed(a, out);
    if (abi == AT_ABI_BLOCKED) out->fast = f->name;
    else {
        out->name = f->name;
        if (out->packs || out->in_blocks) out->fast = at_format(a, "%s_in_blocks", f->name);
    }
    return AT_OK;
}

int64_t at_face_elements_in_blocks(const at_face_tensor *t) {
    return t->row ? t->elements / t->own * t->row : t->elements;
}
