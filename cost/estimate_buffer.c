/* cost/estimate_buffer.c: where tensors lie: how long their buffers live, how large they are, and
 * how far their elements are from each other. */
#include "cost/estimate_access_int.h"

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

/* Places of a cache's way that steps of so many elements reach. */
static double places_of(int64_t stride) {
    uint64_t step = (uint64_t)stride * 4;
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
        b->places[d] = places_of(elements);
        if (i == last && i > 0 && rows == AT_ROWS_PADDED) row += owner->node->pad;
        if (i == last && i > 0 && rows == AT_ROWS_APART && row >= 16) {
            int64_t unit = has_columns(e, tensor, order ? order[n - 1] : n - 1) ? 4 : 16;
            row = ((row + unit - 1) / unit | 1) * unit;
        }
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

void est_buffers(at_estimator *e, const at_program *p) {
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
        for (int d = 0; d < dims; d++) b->extent[d] = p->extents[t][d];
        b->scope = find_scope(e, t);
        set_limits(p, t, owner, b);
        set_strides(e, t, owner, b);
        b->hash = hash_of(b);
    }
}
