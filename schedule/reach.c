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
