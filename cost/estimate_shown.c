/* cost/estimate_shown.c: what the estimate of a leaf depends on beside the leaf: what it sees of
 * others, in the loops that it shares with them. */
#include "cost/estimate_access_int.h"

#include <string.h>

/* Of what others see that share so many loops with the leaf: `before` is that of those that share
 * one less. What a tile keeps in registers they do not see. */
static uint64_t hash_of(const est_leaf *x, int depth, uint64_t before) {
    uint64_t hash = est_joined(before, x->form->registers);
    uint32_t moves = 0;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        uint64_t bits;
        if (a->in_registers) continue;
        memcpy(&bits, &a->lines[depth], sizeof bits);
        hash = est_joined(hash, bits);
        if (depth > 0) moves |= (a->moves >> (depth - 1) & 1) << k;
    }
    return est_joined(hash, moves);
}

static uint64_t shown(const est_leaf *x, int depth) {
    est_form *f = x->form;
    if (f->shown_registers != f->registers) f->num_shown = 0;
    f->shown_registers = f->registers;
    for (; f->num_shown <= depth; f->num_shown++)
        f->shown[f->num_shown] =
            hash_of(x, f->num_shown, f->num_shown ? f->shown[f->num_shown - 1] : 1);
    return f->shown[depth];
}

bool est_is_known(at_estimator *e, const est_leaf *x) {
    const est_leaf *end = x->end, *both[] = {x, end};
    est_form *f = x->form;
    uint64_t *seen = e->seen;
    int n = 0;
    seen[n++] = e->levels | (uint64_t)x->root << 8 | (uint64_t)x->together << 16 |
                (uint64_t)x->is_beside << 24 | (uint64_t)x->is_end_of_other << 25 |
                (uint64_t)x->in_blocks << 26 | (uint64_t)(end ? end->root : 0) << 32;
    seen[n++] = f->registers | (uint64_t)(end ? end->form->registers : 0) << 32;
    seen[n++] = end ? end->form->made : 0;
    for (int i = 0; i < 1 + (end != NULL); i++)
        for (const est_leaf *y = e->leaf; y < e->leaf + e->num_leaves; y++)
            if (y != both[i]) seen[n++] = shown(y, est_common(e, both[i], y));
    if (f->num_seen == n && !memcmp(f->seen, seen, sizeof *seen * (size_t)n)) return true;
    f->num_seen = n;
    memcpy(f->seen, seen, sizeof *seen * (size_t)n);
    return false;
}
