/* schedule/reach.c: who reads whom through stages that are computed where they are read. Such
 * stages multiply what reads them, so that ways are counted once per stage and not walked. */
#include "schedule/schedule_int.h"

void at_compute_reach(const at_compute *c, const bool *passes, int tensor, bool *out) {
    for (int t = 0; t < c->num_tensors; t++) {
        const tensor_info *info = &info_of(c)->info[t];
        out[t] = false;
        for (int i = 0; i < info->num_reads && t > tensor && !out[t]; i++) {
            int from = info->reads[i]->ref;
            out[t] = from == tensor || (from < t && passes[from] && out[from]);
        }
    }
}

int64_t at_compute_count_reads(const at_compute *c, int tensor, const bool *passes,
                               const int64_t *counts) {
    const tensor_info *info = &info_of(c)->info[tensor];
    int64_t n = 0;
    for (int i = 0; i < info->num_reads; i++)
        n += passes[info->reads[i]->ref] ? counts[info->reads[i]->ref] : 1;
    return n < AT_MOST_READS ? n : AT_MOST_READS;
}

/* found: the same of what the reader reads on the way. */
static int axis_in(const at_compute *c, int reader, int tensor, int d, const int *found) {
    const tensor_info *info = &info_of(c)->info[reader];
    int axis = AT_READ_NONE;
    for (int i = 0; i < info->num_reads; i++) {
        const at_expr *read = info->reads[i];
        if (read->ref == reader) continue;
        int dim = read->ref == tensor ? d : found[read->ref]; /* of what is between */
        if (dim == AT_READ_NONE) continue;
        const at_expr *e = dim >= 0 && dim < read->nargs ? read->arg[dim] : NULL;
        int here = e && e->op == AT_X_NAME && e->ref < AT_REF_SIZE ? e->ref : AT_READ_SEVERAL;
        axis = axis == AT_READ_NONE || axis == here ? here : AT_READ_SEVERAL;
    }
    return axis;
}

int at_compute_read_axis(at_arena *a, const at_compute *c, const bool *passes, int reader,
                         int tensor, int d) {
    int *found = AT_NEW_ARRAY(a, int, c->num_tensors);
    for (int r = 0; r < reader; r++)
        found[r] = passes[r] ? axis_in(c, r, tensor, d, found) : AT_READ_NONE;
    return axis_in(c, reader, tensor, d, found);
}
