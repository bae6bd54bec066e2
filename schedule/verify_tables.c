/* schedule/verify_tables.c: what the rules look up: leaves and loops by number, and which axis of a
 * leaf each loop counts. */
#include "schedule/verify_int.h"

/* ---- messages ------------------------------------------------------------------------------ */

static void add_loop_name(const verifier *v, const at_node *loop, at_text *out) {
    if (loop->num_pieces > 1) at_text_add(out, "{");
    for (int m = 0; m < loop->num_pieces; m++)
        at_text_addf(out, "%s%s", m ? ", " : "", v->p->piece_names[loop->piece[m]]);
    if (loop->num_pieces > 1) at_text_add(out, "}");
}

const char *verify_loop_name(const verifier *v, const at_node *loop) {
    at_text t = {0};
    add_loop_name(v, loop, &t);
    return at_text_take(v->arena, &t);
}

/* ---- tables -------------------------------------------------------------------------------- */

void verify_collect(verifier *v, const at_node *n) {
    for (; n; n = n->next) {
        if (n->is_leaf) {
            v->leaves[v->num_leaves++] = n;
            continue;
        }
        v->loops[n->id] = n;
        v->first_use[n->id] = v->num_uses;
        v->num_uses += n->num_pieces;
        int before = v->num_leaves;
        verify_collect(v, n->child);
        v->leaves_below[n->id] = v->num_leaves - before;
    }
}

signed char *verify_use(const verifier *v, int leaf, const at_node *loop) {
    return &v->uses[leaf * v->num_uses + v->first_use[loop->id]];
}

usage verify_usage(const verifier *v, int leaf, const at_node *loop) {
    usage u = {0};
    const signed char *axis = verify_use(v, leaf, loop);
    int spatial = stage_of(v, v->leaves[leaf])->num_axes;
    for (int m = 0; m < loop->num_pieces; m++) {
        if (axis[m] < 0) u.ignores |= loop->piece_extent[m] != 1;
        else if (axis[m] < spatial) u.spatial = true;
        else u.reduce = true;
    }
    return u;
}

const at_node *verify_unsure_loop(const verifier *v, int leaf, int common) {
    for (const at_node *n = v->leaves[leaf]->parent; n && n->depth >= common; n = n->parent)
        if (n->extent < 0 && !verify_usage(v, leaf, n).reduce) return n;
    return NULL;
}
