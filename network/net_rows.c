/* network/net_rows.c: kernels whose tensors are rows of some elements of longer rows. */
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"
#include "network/program.h"

static bool same_rows(const int64_t *x, const int64_t *y, int n) {
    return !x == !y && (!x || !memcmp(x, y, sizeof *x * (size_t)n));
}

at_net_form *at_net_form_of(at_net_kernel *k, const at_net_part *part) {
    for (int i = 0; i < k->forms.len; i++)
        if (same_rows(k->forms.data[i].rows, part->rows, part->num_params))
            return &k->forms.data[i];
    return NULL;
}

/* Inputs come first. */
static bool is_parameter(const at_tensor *t, bool output) {
    return output ? t->role == AT_ROLE_STAGE && t->is_output : t->role != AT_ROLE_STAGE;
}

/* Elements of a parameter as the kernel has it, and of a row of its own. */
static int64_t elements_of(const at_net_form *f, int tensor, int64_t *row) {
    const int64_t *extents = f->candidate.program->extents[tensor];
    const int n = f->candidate.program->compute->tensors[tensor].num_axes;
    int64_t elements = 1;
    for (int i = 0; i < n; i++) elements *= extents[i];
    *row = n ? extents[n - 1] : 1;
    return elements;
}

/* Behind the last of the tensor's own elements in each row; false: one has changed. */
static bool is_untouched(const unsigned char *at, int64_t rows, int64_t own, int64_t row,
                         unsigned char mark) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = own; i < row; i++)
            if (at[r * row + i] != mark) return false;
    return true;
}

/* One run on zeros. */
at_status at_net_check_rows(const at_net_kernel *k, const at_net_form *f, at_error *err) {
    enum { MARK = 0x5a };
    const at_compute *c = f->candidate.program->compute;
    if (!f->rows) return AT_OK;
    at_arena *a = at_arena_new();
    at_status s = AT_OK;
    char *packed = at_net_room(f->packed_bytes), *scratch = at_net_room(f->scratch_bytes);
    void **tensors = AT_NEW_ARRAY(a, void *, k->part->num_params);
    memset(packed, 0, (size_t)f->packed_bytes);
    for (int pass = 0; pass < 2; pass++) {
        for (int side = 0, i = 0; side < 2; side++)
            for (int t = 0; t < c->num_tensors; t++) {
                if (!is_parameter(&c->tensors[t], side)) continue;
                int64_t own, n = elements_of(f, t, &own), size = at_type_bytes(c->tensors[t].type);
                const int64_t row = f->rows[i] ? f->rows[i] : own;
                if (!pass) {
                    tensors[i] = at_alloc(a, (size_t)(n / own * row * size));
                    memset(tensors[i], side ? MARK : 0, (size_t)(n / own * row * size));
                } else if (side && !is_untouched(tensors[i], n / own, own * size, row * size, MARK))
                    s = at_fail(err, AT_E_BUG, "writes beside its rows");
                i++;
            }
        if (pass) break;
        if (f->is_late) f->call(tensors, scratch);
        else f->fast(tensors, packed, scratch);
    }
    free(packed);
    free(scratch);
    at_arena_free(a);
    return s;
}
