/* sketch/copies.c: copies of what a tile reads, in blocks in the order of use. The copy is read in
 * that order; it is made in the order in which its source lies, so that no row of that is left
 * again after a vector, and in vectors:
 *
 *     @mul = A[i, k] * B[k, j]    ->    k0, k1, j0, j1, j2:vec => @B_packed = j0, j1, k0, k1, j2
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sketch/tile.h"

/* The axis of a stage that an axis of its leaf is: of a sum in parts, whose last reduction these
 * are, several are that one. */
static int axis_of(const at_tensor *stage, const at_tensor *made, int axis) {
    int last = stage->num_axes + stage->num_reduce - 1;
    if (made->num_axes == stage->num_axes || axis < stage->num_axes) return axis;
    return axis == stage->num_axes || axis - 1 > last ? last : axis - 1;
}

/* How far a piece moves what is copied; those of axes of one step stand outermost. */
static int64_t step_of(const sketch_state *s, const char *leaf, int stage, const at_access *x,
                       const char *piece) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    int made = at_compute_find(s->compute, leaf);
    const at_tensor *t = &s->compute->tensors[made];
    for (int m = 0; m < t->num_axes + t->num_reduce; m++)
        for (int n = at_tree_digits(s->tree, made, m, d); n-- > 0;)
            if (!strcmp(d[n].piece, piece)) {
                int k = axis_of(&s->facts->compute->tensors[stage], t, m);
                bool moves = s->facts->of[stage].inner[k] > 1 && x->stride[k];
                return moves ? llabs(x->stride[k]) : INT64_MAX;
            }
    return INT64_MAX;
}

/* The loops of a copy as they stand, or, in_rows, those that move its source further outside.
 * *first: the outermost that runs more than once; NULL: none does. */
static at_status order(sketch_state *s, const char *name, const char *leaf, int stage,
                       const at_access *x, bool in_rows, const char **first, at_error *err) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = name};
    int64_t step[AT_EDIT_MAX_NAMES];
    int copy = at_compute_find(s->compute, name), n = s->compute->tensors[copy].num_axes;
    *first = NULL;
    if (n >= AT_EDIT_MAX_NAMES) return AT_OK;
    for (int k = 0; k < n; k++) {
        at_leaf_digit d[AT_TREE_MOST_DIGITS];
        if (at_tree_digits(s->tree, copy, k, d) != 1) return AT_OK;
        int64_t own = step_of(s, leaf, stage, x, d[0].piece);
        int at = k;
        for (; in_rows && at > 0 && step[at - 1] < own; at--) {
            step[at] = step[at - 1];
            e.names[at] = e.names[at - 1];
        }
        step[at] = own;
        e.names[at] = d[0].piece;
    }
    for (int k = n - 1; k >= 0; k--)
        if (step[k] < INT64_MAX) *first = e.names[k];
    if (!in_rows) return AT_OK;
    AT_TRY(sketch_step(s, &e, err));
    at_error why; /* a loop with a number of its own takes no annotation */
    if (step[n - 1] == 1) sketch_mark(s, name, e.names[n - 1], AT_ANN_VEC, &why);
    return AT_OK;
}

/* Does the stage read the same tensor in another order, too? */
static bool is_read_otherwise(const at_facts *f, int stage, const at_access *x) {
    const at_tensor *t = &f->compute->tensors[stage];
    size_t size = sizeof *x->stride * (size_t)(t->num_axes + t->num_reduce);
    for (int i = 0; i < f->of[stage].num_accesses; i++) {
        const at_access *y = &f->of[stage].access[i];
        if (y->from == x->from && memcmp(y->stride, x->stride, size) != 0) return true;
    }
    return false;
}

/* Does what was named move along the axes of this access? */
static bool is_named(const sketch_state *s, const char *name, const at_tensor *stage,
                     const at_access *x) {
    const at_tensor *t = &s->compute->tensors[at_compute_find(s->compute, name)];
    for (int k = 0; k < stage->num_axes + stage->num_reduce; k++) {
        bool has = false;
        for (int j = 0; j < t->num_axes; j++) has |= !strcmp(t->axes[j].name, stage->axes[k].name);
        if (has != (x->stride[k] != 0)) return false;
    }
    return true;
}

/* Gives one of several reads of a tensor another name of it. */
static at_status name_read(sketch_state *s, const char *leaf, int stage, const at_access *x,
                           const char **from, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    at_edit e = {.kind = AT_EDIT_OPERAND, .stage = leaf, .other = *from};
    if (!is_read_otherwise(s->facts, stage, x)) return AT_OK;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++)
        if (x->stride[k] == 1) e.loop = t->axes[k].name;
    if (!e.loop) return AT_OK;
    *from = e.names[0] = sketch_fresh(s, at_format(s->arena, "%s_along_%s", *from, e.loop));
    AT_TRY(sketch_step(s, &e, err));
    if (!is_named(s, *from, t, x))
        return at_fail(err, AT_E_INPUT, "@%s reads \"%s\" along %s in several ways", leaf, e.other,
                       e.loop);
    const at_edit dissolve = {.kind = AT_EDIT_DISSOLVE, .stage = *from};
    return sketch_step(s, &dissolve, err);
}

at_status sketch_copy_blocks(sketch_state *s, const char *leaf, int stage, int vec, int access,
                             const char **name, const char **first, at_error *err) {
    const at_access *x = &s->facts->of[stage].access[access];
    const char *from = s->facts->compute->tensors[x->from].name;
    AT_TRY(name_read(s, leaf, stage, x, &from, err));
    *name = sketch_fresh(s, at_format(s->arena, "%s_packed", from));
    at_edit e = {.kind = AT_EDIT_COPY,
                 .stage = leaf,
                 .other = from,
                 .copy = AT_COPY_LAYOUT,
                 .names = {*name}};
    AT_TRY(sketch_step(s, &e, err));
    return order(s, *name, leaf, stage, x, x->is_bare && x->stride[vec] == 1, first, err);
}
