/* cost/estimate_changes.c: what differs from the point before. Of two points of one tree that are
 * alike in most numbers most leaves are the same, and what they take is known. */
#include "cost/estimate_int.h"

#include <string.h>

typedef struct numbers {
    int64_t *next, *end;
    bool differ;
} numbers;

static void note(numbers *n, int64_t value) {
    if (n->next == n->end) {
        n->differ = true;
        return;
    }
    n->differ |= *n->next != value;
    *n->next++ = value;
}

bool est_numbers_differ(const at_estimator *e, const at_program *p, est_leaf *x) {
    const est_stage *s = &e->stages[x->node->tensor];
    numbers n = {x->number, x->number + MOST_NUMBERS, s->num_sizes_asked < 0};
    for (const at_node *l = x->node->parent; l; l = l->parent) {
        note(&n, (int64_t)(intptr_t)l->piece); /* loops in an order change places */
        note(&n, l->ann);
        for (int m = 0; m < l->num_pieces; m++) note(&n, l->piece_extent[m]);
    }
    note(&n, x->node->pad);
    for (int i = 0; i < x->node->num_axes; i++) note(&n, p->extents[x->node->tensor][i]);
    for (int i = 0; i < s->num_sizes_asked; i++) note(&n, p->values[s->sizes_asked[i]]);
    return n.differ;
}

/* The first number of loops around what is touched where the leaf looks otherwise to leaves that
 * share as many with it; more than it has: it looks the same to all. */
static int looks_otherwise_from(est_leaf *x) {
    int from = MAX_LOOPS + 1;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        est_shown *s = &x->shown[k];
        if (s->in_registers != a->in_registers) from = 0;
        s->in_registers = a->in_registers;
        if (!x->is_new) continue;
        for (int i = 0; i < from && i <= x->num_loops; i++)
            if (s->lines[i] != a->lines[i] || (i > 0 && (s->moves ^ a->moves) >> (i - 1) & 1))
                from = i;
        s->moves = a->moves;
        memcpy(s->lines, a->lines, sizeof *a->lines * (size_t)(x->num_loops + 1));
    }
    return from;
}

void est_find_others(at_estimator *e) {
    int from[MAX_LEAVES];
    for (int i = 0; i < e->num_leaves; i++) from[i] = looks_otherwise_from(&e->leaf[i]);
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        const int8_t *common = e->common[x->place], *before = e->common_before[x->place];
        x->has_others = memcmp(common, before, sizeof e->common[0]);
        for (int i = 0; i < e->num_leaves; i++)
            x->has_others |= i != x->place && from[i] <= common[i];
    }
    memcpy(e->common_before, e->common, sizeof e->common);
}
