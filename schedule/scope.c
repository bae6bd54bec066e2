/* schedule/scope.c: where in a program the buffer of a stage lives. */
#include "schedule/schedule_int.h"

int common_loops(const at_node *x, const at_node *y, const at_node **deepest) {
    const at_node *i = x->parent, *k = y->parent;
    while (i != k) {
        int di = i ? i->depth : -1, dk = k ? k->depth : -1;
        if (di >= dk) i = i->parent;
        if (dk >= di) k = k->parent;
    }
    if (deepest) *deepest = i;
    return i ? i->depth + 1 : 0;
}

int count_leaves(const at_node *first, int *num_pieces) {
    int leaves = 0;
    for (const at_node *n = first; n; n = n->next) {
        leaves += n->is_leaf + count_leaves(n->child, num_pieces);
        *num_pieces += n->num_pieces;
    }
    return leaves;
}

/* Both nodes enclose one leaf, so the shallower encloses the other. */
static void widen(const at_node **scope, const at_node *to) {
    if (*scope && (!to || to->depth < (*scope)->depth)) *scope = to;
}

/* Outside of the loops of an axis of a leaf. */
static void widen_beyond(const at_node *leaf, int axis, const at_node **scope) {
    for (int i = 0; i < leaf->axes[axis].n; i++) widen(scope, leaf->axes[axis].loop[i]->parent);
}

static void widen_to_reader(const at_program *p, const at_node *reader, int tensor,
                            const at_node *const *leaf_of, const at_node **scope) {
    const tensor_info *info = &info_of(p->compute)->info[tensor];
    for (int i = 0; i < info->num_reads; i++) {
        int read = info->reads[i]->ref;
        const int back = at_cycle_back(p->compute, tensor, info->reads[i]);
        if (back >= 0 && leaf_of[read]) widen_beyond(leaf_of[read], back, &scope[read]);
        if (read == tensor) continue;
        if (leaf_of[read]) {
            const at_node *shared;
            common_loops(leaf_of[read], reader, &shared);
            widen(&scope[read], shared);
        } else if (p->dissolved[read]) {
            widen_to_reader(p, reader, read, leaf_of, scope);
        }
    }
}

int at_leaf_num_counted(const at_program *p, const at_node *leaf) {
    return leaf->is_running ? p->compute->tensors[leaf->tensor].num_axes : leaf->num_axes;
}

bool at_leaf_is_placed(const at_compute *c, const at_node *leaf, int axis) {
    const at_tensor *t = &c->tensors[leaf->tensor];
    return leaf->is_scatter && axis < t->num_axes && (at_scatter_of(t).axes >> axis & 1);
}

/* What goes on from step to step reads what an earlier turn of its axes' loops made. */
static void widen_to_steps(const at_program *p, const at_node *leaf, const at_node **scope) {
    const at_tensor *t = &p->compute->tensors[leaf->tensor];
    if (!leaf_goes_on(p, leaf)) return;
    const uint32_t steps = at_stage_steps(p->compute, leaf->tensor) |
                           at_recurrence_of(p->compute, leaf->tensor).beyond;
    for (int axis = 0; axis < t->num_axes; axis++)
        if (steps >> axis & 1) widen_beyond(leaf, axis, scope);
}

void stage_scopes(const at_program *p, int num_leaves, const at_node *const *leaves,
                  const at_node *const *leaf_of, const at_node **scope) {
    const at_compute *c = p->compute;
    for (int t = 0; t < c->num_tensors; t++)
        scope[t] = leaf_of[t] && !c->tensors[t].is_output ? leaf_of[t]->parent : NULL;
    for (int i = 0; i < num_leaves; i++) {
        const at_node *leaf = leaves[i];
        if (!leaf->is_init) {
            widen_to_reader(p, leaf, leaf->tensor, leaf_of, scope);
            widen_to_steps(p, leaf, &scope[leaf->tensor]);
        } else if (leaf_of[leaf->tensor]) {
            const at_node *shared;
            common_loops(leaf, leaf_of[leaf->tensor], &shared);
            widen(&scope[leaf->tensor], shared);
        }
    }
}

static bool multiplies(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_MUL && !at_expr_is_size(e->arg[0]) && !at_expr_is_size(e->arg[1]);
}

bool at_index_multiplies(const at_expr *e) { return at_expr_find_value(e, multiplies, NULL); }

const at_expr *const *at_compute_reads(const at_compute *c, int tensor, int *num) {
    *num = info_of(c)->info[tensor].num_reads;
    return info_of(c)->info[tensor].reads;
}
