/* cost/estimate_leaf.c: the leaves of a built tree in numbers: the loops around each. */
#include "cost/estimate_int.h"

#include <string.h>

/* ---- loops ----------------------------------------------------------------------------------- */

static bool set_loops(const at_program *p, const at_node *leaf, double mean_dynamic, est_leaf *x) {
    int n = 0;
    for (const at_node *l = leaf->parent; l; l = l->parent)
        for (int m = 0; m < l->num_pieces; m++) n += l->piece_extent[m] != 1;
    if (n > MAX_LOOPS) return false;
    x->num_loops = x->form->num_loops = n;
    for (const at_node *l = leaf->parent; l; l = l->parent)
        for (int m = l->num_pieces - 1; m >= 0; m--) {
            const int64_t extent = l->piece_extent[m];
            if (extent == 1) continue;
            const double turns = extent < 0 ? mean_dynamic : (double)extent;
            x->loop[--n] = (est_loop){
                .node = l,
                .name = l->piece[m],
                .ann = l->ann == AT_ANN_VEC && m < l->num_pieces - 1 ? AT_ANN_UNROLL : l->ann,
                .axis = -1,
                .is_dynamic = extent < 0,
                .turns = turns,
                .run = (int64_t)turns};
        }
    for (int a = 0; a < leaf->num_axes; a++) {
        const at_digits *d = &leaf->axes[a];
        int64_t inner = 1;
        for (int i = d->n - 1; i >= 0; i--) {
            if (d->extent[i] == 1) continue;
            const at_node *l = d->loop[i];
            const int name = l->piece[d->member[i]];
            for (int k = x->num_loops - 1; k >= 0; k--) {
                est_loop *at = &x->loop[k];
                if (at->node != l || at->name != name) continue;
                at->axis = a;
                at->coef = inner;
                at->extent = (double)p->extents[leaf->tensor][a];
                at->sums = a >= x->stage->num_axes;
                break;
            }
            inner *= d->extent[i] > 0 ? d->extent[i] : 1;
        }
    }
    return true;
}

static int common(const est_leaf *x, const est_leaf *y) {
    int n = 0;
    while (n < x->num_loops && n < y->num_loops && x->loop[n].node == y->loop[n].node &&
           x->loop[n].name == y->loop[n].name)
        n++;
    return n;
}

static void set_common(at_estimator *e) {
    for (int i = 0; i < e->num_leaves; i++)
        for (int k = 0; k <= i; k++)
            if (e->leaf[i].is_new || e->leaf[k].is_new)
                e->common[i][k] = e->common[k][i] = (int8_t)common(&e->leaf[i], &e->leaf[k]);
}

/* A vector of parts that each go on in the same steps becomes a loop over parts and one over a
 * part's elements, as lowering makes two of it; so do rows of registers. Did any? */
static bool split_runs(est_leaf *x) {
    bool any = false;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        est_loop *l = &x->loop[i];
        int64_t run = l->run, turns = (int64_t)l->turns;
        bool registers = l->ann == AT_ANN_VEC || (l->ann == AT_ANN_UNROLL && turns % run == 0);
        if (!registers || run >= turns || l->is_shifted || x->num_loops == MAX_LOOPS) continue;
        l->is_run |= l->ann == AT_ANN_VEC;
        memmove(l + 1, l, sizeof *l * (size_t)(x->num_loops - i));
        x->num_loops++;
        l[0].ann = AT_ANN_UNROLL;
        l[0].turns = (double)(l[0].run = turns / run);
        l[0].coef *= run;
        l[1].turns = (double)run;
        any = true;
    }
    return any;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Does the form have the leaf's accesses, to tensors that lie as they do now? */
static bool holds(const est_form *f) {
    for (int k = 0; k < f->num_accesses && f->made; k++)
        if (f->access[k].buffer->hash != f->lies[k]) return false;
    return f->made;
}

/* Forms of all leaves, their loops as the tree has them, and where tensors lie. */
static bool find_forms(at_estimator *e, const at_program *p, bool all) {
    est_leaf *end = e->leaf + e->num_leaves;
    for (est_leaf *x = e->leaf; x < end; x++) {
        x->is_new = all;
        const bool is_old = est_take_form(e, p, x);
        if (!is_old && !set_loops(p, x->node, e->o.mean_dynamic, x)) return false;
        x->num_loops = x->form->num_loops;
    }
    set_common(e);
    est_buffers(e, p);
    for (est_leaf *x = e->leaf; x < end; x++) {
        if (!x->form->made || holds(x->form)) continue;
        x->is_new = true;
        x->form->made = 0;
        if (!set_loops(p, x->node, e->o.mean_dynamic, x)) return false;
    }
    return true;
}

/* Accesses of a leaf whose loops are known. */
static bool make_form(at_estimator *e, const at_program *p, est_leaf *x) {
    est_form *f = x->form;
    if (f->num_accesses) x->num_accesses = f->num_accesses; /* they are of the same tensors */
    else if (!est_tensors(e, p, x)) return false;
    est_accesses(e, p, x);
    f->is_split = split_runs(x);
    if (f->is_split) est_accesses(e, p, x);
    for (int k = 0; k < x->num_accesses; k++) {
        f->lies[k] = x->access[k].buffer->hash;
        x->access[k].in_registers = false;
    }
    est_touch(x);
    f->num_loops = x->num_loops;
    f->num_accesses = x->num_accesses;
    f->terms = est_terms_of(e, p, x);
    f->num_shown = f->num_seen = 0;
    f->registers = 0;
    f->is_peeled = false;
    f->tail = est_tail(x);
    f->made = ++e->last_made;
    return true;
}

/* As in est_tree: the accesses of all leaves are known, which are of the same tensors at all
 * points.
 */
static int8_t *takers_of(const at_estimator *e) {
    enum { NONE = -1, SEVERAL = -2 };
    int8_t *taker = AT_NEW_ARRAY(e->arena, int8_t, e->compute->num_tensors);
    memset(taker, NONE, (size_t)e->compute->num_tensors);
    for (const est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++)
        for (int k = 1; k < x->num_accesses; k++) {
            int8_t *t = &taker[x->access[k].tensor];
            *t = (int8_t)(*t == NONE || *t == x->place ? x->place : SEVERAL);
        }
    return taker;
}

bool est_leaves(at_estimator *e, const at_program *p) {
    est_tree *t = est_tree_of(e, p);
    if (!t) return false;
    const bool all = !t->is_known;
    t->is_known = false; /* should this one fail */
    e->leaf = t->leaf, e->num_leaves = t->num_leaves;
    e->owner = t->owner, e->taker = t->taker, e->readers = t->readers;
    e->buffer = t->buffer, e->common = t->common;
    if (!find_forms(e, p, all)) return false;
    bool any = false;
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        if (!x->form->made && !make_form(e, p, x)) return false;
        x->num_accesses = x->form->num_accesses;
        x->terms = x->form->terms;
        any |= x->form->is_split;
    }
    if (any) set_common(e);
    if (!t->taker) e->taker = t->taker = takers_of(e);
    t->is_known = true;
    return true;
}
