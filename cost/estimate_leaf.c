/* cost/estimate_leaf.c: the leaves of a built tree in numbers: the loops around each, and where
 * tensors lie: how long their buffers live, how large they are, and how far their elements are from
 * each other. */
#include <string.h>

#include "cost/estimate_int.h"

/* ---- buffers --------------------------------------------------------------------------------- */

/* Depth of the loop that a tensor's buffer lives in, -1: none. Of what is not a buffer: -1. */
static int find_scope(const at_estimator *e, int tensor) {
    const est_leaf *leaf = e->leaf;
    int owner = e->owner[tensor], depth;
    if (owner < 0 || leaf[owner].stage->is_output || leaf[owner].stage->is_packing) return -1;
    depth = leaf[owner].num_loops;
    for (uint64_t left = e->readers[tensor]; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        if (i == owner) continue;
        int common = est_common(e, &leaf[i], &leaf[owner]);
        if (common < depth) depth = common;
    }
    return depth ? leaf[owner].loop[depth - 1].node->depth : -1;
}

/* The extents of a tensor's buffer. */
static void set_limits(const at_program *p, int tensor, const est_leaf *owner, est_buffer *b) {
    for (int d = 0; d < b->num_dims; d++) b->limit[d] = (double)p->extents[tensor][d];
    if (!owner || b->scope < 0) return;
    for (int d = 0; d < b->num_dims; d++) {
        const at_digits *x = &owner->node->axes[d];
        b->limit[d] = 1;
        for (int i = 0; i < x->n; i++)
            if (x->loop[i]->depth > b->scope && x->extent[i] > 0)
                b->limit[d] *= (double)x->extent[i];
    }
}

/* Places of a cache's way that steps of so many bytes reach. */
static double places_of(int64_t bytes) {
    uint64_t step = (uint64_t)bytes;
    uint64_t power = step & (~step + 1);
    return power && power < WAY_BYTES ? (double)(WAY_BYTES / power) : 1;
}

/* Does a sum that is one vector wide read the tensor down a column? Its rows lie otherwise then
 * (codegen/buffers.c). */
static bool read_down_columns(const at_estimator *e, const est_leaf *x, int read, int last) {
    const est_stage *s = &e->stages[x->node->tensor];
    bool one_vector = false, column = false;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        unsigned moved = l->axis < 0 ? 0 : s->moved_by[read][l->axis & 31];
        if (l->ann == AT_ANN_UNROLL) column |= moved && !(moved >> last & 1);
        if (l->ann != AT_ANN_VEC) continue;
        if (moved) return false;
        one_vector = l->turns <= e->o.target->lanes;
    }
    return one_vector && column;
}

static bool has_columns(const at_estimator *e, int tensor, int last) {
    for (uint64_t left = e->readers[tensor]; left; left &= left - 1) {
        const est_leaf *x = &e->leaf[__builtin_ctzll(left)];
        const est_stage *s = &e->stages[x->node->tensor];
        for (int r = 0; r < s->num_reads && r < MAX_READS && x->stage->num_reduce; r++)
            if (s->read[r]->ref == tensor && read_down_columns(e, x, r, last)) return true;
    }
    return false;
}

/* How far the elements of the tensor's buffer lie from each other: what the kernel keeps for itself
 * has rows as caches like them, or as the tree says (codegen/buffers.c). */
static void set_strides(const at_estimator *e, int tensor, const est_leaf *owner, est_buffer *b) {
    const int n = b->num_dims;
    const bool own = owner && !owner->stage->is_output;
    const int *order = own ? owner->node->order : NULL;
    const at_rows rows = own ? owner->node->rows : AT_ROWS_DENSE;
    int last = n - 1;
    int64_t elements = 1;
    while (last > 0 && b->limit[order ? order[last] : last] <= 1) last--;
    for (int i = n - 1; i >= 0; i--) {
        const int d = order ? order[i] : i;
        int64_t row = b->limit[d] > 1 ? (int64_t)b->limit[d] : 1;
        b->stride[d] = elements;
        b->places[d] = places_of(elements * b->bytes);
        if (i == last && i > 0 && rows == AT_ROWS_PADDED) row += owner->node->pad;
        if (i == last && i > 0 && rows == AT_ROWS_APART && row >= 16) {
            int64_t unit = has_columns(e, tensor, order ? order[n - 1] : n - 1) ? 4 : 16;
            row = ((row + unit - 1) / unit | 1) * unit;
        }
        if (i == n - 1 && e->row[tensor]) row = e->row[tensor];
        elements *= row;
    }
}

/* Has the tensor other extents, or is it the kernel's own and there is a new leaf that writes it or
 * reads it? */
static bool may_differ(const at_estimator *e, int tensor, const int64_t *extent,
                       uint64_t new_leaves) {
    const est_buffer *b = &e->buffer[tensor];
    const int owner = e->owner[tensor];
    uint64_t leaves = 0; /* that it hangs on */
    if (owner >= 0 && !e->leaf[owner].stage->is_output)
        leaves = e->readers[tensor] | UINT64_C(1) << owner;
    if (!b->is_known || leaves & new_leaves) return true;
    for (int d = 0; d < b->num_dims; d++)
        if (b->extent[d] != extent[d]) return true;
    return false;
}

static uint64_t hash_of(const est_buffer *b) {
    uint64_t hash = est_joined(1, (uint64_t)b->scope);
    for (int d = 0; d < b->num_dims; d++) {
        hash = est_joined(hash, (uint64_t)(int64_t)b->limit[d]);
        hash = est_joined(hash, (uint64_t)b->stride[d]);
    }
    return hash;
}

static void place_buffers(at_estimator *e, const at_program *p) {
    uint64_t new_leaves = 0;
    for (const est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++)
        new_leaves |= (uint64_t)x->is_new << x->place;
    for (int t = 0; t < e->compute->num_tensors; t++) {
        est_buffer *b = &e->buffer[t];
        const est_leaf *owner = e->owner[t] < 0 ? NULL : &e->leaf[e->owner[t]];
        const int dims = p->compute->tensors[t].num_axes;
        if (dims > MAX_DIMS || !may_differ(e, t, p->extents[t], new_leaves)) continue;
        b->is_known = true;
        b->num_dims = dims;
        b->bytes = at_type_bytes(p->compute->tensors[t].type);
        for (int d = 0; d < dims; d++) b->extent[d] = p->extents[t][d];
        b->scope = find_scope(e, t);
        set_limits(p, t, owner, b);
        set_strides(e, t, owner, b);
        b->hash = hash_of(b);
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* ---- loops ----------------------------------------------------------------------------------- */

/* Are the turns of a loop that is marked so the terms of one dot product to a lane? */
static bool is_dot(const at_program *p, const at_estimate_options *o, const at_node *l,
                   int64_t extent, const at_tensor *stage) {
    const at_expr *e = stage->body;
    if (l->ann != AT_ANN_DOT) return false;
    while (e->op != AT_X_INDEX && e->nargs) /* an element of the first factor */
        e = e->arg[e->op == AT_X_SELECT];
    return e->op == AT_X_INDEX &&
           extent == at_target_dot_terms(o->target, p->compute->tensors[e->ref].type);
}

/* As lowering has a piece of it: where a loop of terms is no dot product it is unrolled. */
static at_ann ann_of(const at_node *l, int piece) {
    const bool is_outer = l->ann == AT_ANN_VEC && piece < l->num_pieces - 1;
    return is_outer || l->ann == AT_ANN_DOT ? AT_ANN_UNROLL : l->ann;
}

static bool set_loops(const at_program *p, const at_node *leaf, const at_estimate_options *o,
                      est_leaf *x) {
    int n = 0;
    for (const at_node *l = leaf->parent; l; l = l->parent)
        for (int m = 0; m < l->num_pieces; m++) n += l->piece_extent[m] != 1;
    if (n > MAX_LOOPS) return false;
    x->num_loops = x->form->num_loops = n;
    for (const at_node *l = leaf->parent; l; l = l->parent)
        for (int m = l->num_pieces - 1; m >= 0; m--) {
            const int64_t extent = l->piece_extent[m];
            if (extent == 1) continue;
            const double turns = extent < 0 ? o->mean_dynamic : (double)extent;
            x->loop[--n] = (est_loop){.node = l,
                                      .name = l->piece[m],
                                      .ann = ann_of(l, m),
                                      .axis = -1,
                                      .is_dynamic = extent < 0,
                                      .is_dot = is_dot(p, o, l, extent, x->stage),
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
        if (!is_old && !set_loops(p, x->node, &e->o, x)) return false;
        x->num_loops = x->form->num_loops;
    }
    set_common(e);
    place_buffers(e, p);
    for (est_leaf *x = e->leaf; x < end; x++) {
        if (!x->form->made || holds(x->form)) continue;
        x->is_new = true;
        x->form->made = 0;
        if (!set_loops(p, x->node, &e->o, x)) return false;
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
    x->terms = f->terms = est_terms_of(e, p, x);
    est_touch(x);
    f->num_loops = x->num_loops;
    f->num_accesses = x->num_accesses;
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
