/* tests/codegen/random_compute.c: random computations of one to three operations. */
#include "tests/codegen/random_make.h"

#include <string.h>

static int first_tensor(maker *m) {
    static const int most[] = {33, 17, 9, 6};
    char size[4][RP_NAME];
    const char *extents[4];
    int rank = 1 + below(m, m->big ? 2 : 4);
    for (int i = 0; i < rank; i++) {
        random_extent(m, chance(m, 10) ? 33 : most[rank - 1], size[i]);
        extents[i] = size[i];
    }
    return add_input(m, "a", "input", rank, extents);
}

static int operation(maker *m, int src) {
    int rank = m->tensor[src].rank;
    switch (below(m, 16)) {
    case 0:
    case 1: return map_stage(m, src);
    case 2: return shift_stage(m, src);
    case 3: return pad_stage(m, src, below(m, rank), 1);
    case 4: return reshape_stage(m, src);
    case 5: return sum_stage(m, src);
    case 6:
    case 7:
    case 8: return rank > 1 ? matmul_stage(m, src) : map_stage(m, src);
    case 9:
    case 10:
    case 11: return rank > 1 ? conv_stage(m, src) : pad_stage(m, src, 0, 1);
    case 12: return segment_stage(m, src);
    case 13:
    case 14: return rank > 1 ? normal_stage(m, src) : sum_stage(m, src);
    default: return gather_stage(m, src);
    }
}

void make_compute(maker *m) {
    int t, kind = below(m, 12);
    t = kind < 2 ? im2col_stage(m) : kind < 4 ? sparse_stage(m) : first_tensor(m);
    int n = kind < 4 ? below(m, 3) : 1 + below(m, m->big ? 2 : 3);
    if (kind < 2 && chance(m, 70)) t = matmul_stage(m, t);
    for (int i = 0; i < n && m->tensor[t].rank < 5; i++) t = operation(m, t);
    /* Of some seeds, so that the others make what they made before there were such. */
    if (m->p->seed % 8 == 3 && m->tensor[t].rank < 5) t = bounds_stage(m, t);
    if (m->p->seed % 8 == 5 && m->tensor[t].rank < 5) t = steps_stage(m, t);
    if (m->p->seed % 8 == 7 && m->tensor[t].rank < 5) t = cycle_stage(m, t);
    if (chance(m, 30)) t = map_stage(m, t);
    if (chance(m, 15)) function_stage(m, t);
    if (m->text.len >= sizeof m->p->compute) m->p->full = true;
    else memcpy(m->p->compute, m->text.data, m->text.len + 1);
    at_text_free(&m->text);
}
