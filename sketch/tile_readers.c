/* sketch/tile_readers.c: what stands beside a register tile's sum: what reads it, and other sums.
 */
#include "sketch/nests.h"

#include <string.h>

enum { MOST_EDITS = 64 };

/* What stands beside the sums of a stage; -1: nothing. A dot product's reader would work out one
 * element after the other, and functions take long: it has vectors of its own then. */
static int reader_of(const tiling *t, int stage) {
    const at_facts *f = t->s->facts;
    const at_stage_facts *x = &f->of[stage];
    return x->has_matched_reader && !(tile_is_dot(t) && f->of[x->reader].is_expensive) ? x->reader
                                                                                       : -1;
}

/* What reads the sums of a leaf, beside the tile; an output's sum becomes a stage of its own, so
 * that its last value goes from registers to memory. */
static at_status put_reader(tiling *t, int stage, const char **leaf, const char *loop) {
    const at_facts *f = t->s->facts;
    const at_tensor *x = &f->compute->tensors[stage];
    const int reader = reader_of(t, stage);
    if (reader >= 0)
        return sketch_put(t->s, AT_EDIT_NEST, f->compute->tensors[reader].name, false, *leaf, loop);
    if (tile_is_dot(t)) return AT_OK; /* its sums are joined where they are stored */
    *leaf = sketch_fresh_of(t->s, x->name, "sum");
    return sketch_copy_sum(t->s, x->name, *leaf);
}

/* Whether what reads the sums of a stage reads those of another one of the tile, too, and stands
 * beside it for that. */
static bool is_read_with(const tiling *t, int stage, int other) {
    const at_stage_facts *x = &t->s->facts->of[stage], *y = &t->s->facts->of[other];
    return stage != other && x->is_read_in_place && y->has_matched_reader && x->reader == y->reader;
}

void tile_keep(tiling *t, int i, const char *leaf, const char *inner) {
    sketch_tile *x = at_push(t->s->arena, &t->s->tiles);
    *x = (sketch_tile){.stage = i < 0 ? t->stage : t->choice.with[i],
                       .leaf = leaf,
                       .vec = t->choice.vec,
                       .row = t->choice.row,
                       .fours = t->choice.fours,
                       .inner = inner};
    for (int k = 0; k < t->choice.num_reads && nest_copies(&t->choice); k++)
        x->near[x->num_near++] = t->choice.read[k].access;
    if (i >= 0) x->with[x->num_with++] = t->stage;
    for (int k = 0; k < t->choice.num_with; k++)
        if (k != i) x->with[x->num_with++] = t->choice.with[k];
}

/* The readers of the tile's sums; those of the other sums in front, which that of its own may read.
 */
at_status tile_put_readers(tiling *t, const char *loop) {
    AT_TRY(put_reader(t, t->stage, &t->leaf, loop));
    for (int i = 0; i < t->choice.num_with; i++) {
        int stage = t->choice.with[i];
        const char *leaf = t->s->facts->compute->tensors[stage].name;
        bool is_placed = is_read_with(t, stage, t->stage);
        for (int k = 0; k < t->choice.num_with; k++)
            is_placed |= is_read_with(t, stage, t->choice.with[k]);
        if (!is_placed) AT_TRY(put_reader(t, stage, &leaf, loop));
        tile_keep(t, i, leaf, loop);
    }
    return AT_OK;
}

/* The loops of another sum have the names of the leaf's loops. */
static at_status rename_as(sketch_state *s, const char *leaf, const char *other,
                           const int *axis_of) {
    const at_compute *c = s->compute;
    const at_tensor *x = &c->tensors[at_compute_find(c, leaf)],
                    *y = &c->tensors[at_compute_find(c, other)];
    at_edit e = {.kind = AT_EDIT_RENAME, .stage = other};
    bool differ = false;
    if (x->num_axes != y->num_axes || x->num_reduce != y->num_reduce) return AT_E_INPUT;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        e.names[k] = x->axes[axis_of ? axis_of[k] : k].name;
        differ |= strcmp(e.names[k], y->axes[k].name) != 0;
    }
    return differ ? sketch_step(s, &e) : AT_OK;
}

at_status sketch_loops_of(sketch_state *s, const char *leaf, int other, const int *axis_of,
                          const sketch_edit *first) {
    const char *name = s->facts->compute->tensors[other].name;
    at_edit edits[MOST_EDITS];
    int n = 0;
    for (const sketch_edit *e = s->last; e != first; e = e->before) {
        if (strcmp(e->edit.stage, leaf)) continue;
        if (n == MOST_EDITS) return AT_E_INPUT;
        edits[n] = e->edit;
        edits[n].stage = name;
        edits[n++].knob = NULL; /* the parts are there already */
    }
    AT_TRY(rename_as(s, leaf, name, axis_of));
    while (n) AT_TRY(sketch_step(s, &edits[--n]));
    return AT_OK;
}

at_status sketch_sum_beside(sketch_state *s, const char *leaf, int other, const char *loop,
                            const sketch_edit *first) {
    AT_TRY(sketch_loops_of(s, leaf, other, NULL, first));
    return sketch_put(s, AT_EDIT_JOIN, s->facts->compute->tensors[other].name, true, leaf, loop);
}

at_status sketch_add_up(sketch_state *s, const at_tensor *t, const char *leaf, const char *first,
                        const char *copies, const char **outer) {
    const char *parts[2];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = leaf};
    int n = 0;
    if (first) order.names[n++] = first;
    AT_TRY(sketch_split_lanes(s, leaf, t->axes[t->num_axes - 1].name, parts));
    for (int k = 0; k < t->num_axes - 1; k++) order.names[n++] = t->axes[k].name;
    order.names[n++] = *outer = parts[0];
    order.names[n++] = copies;
    order.names[n] = parts[1];
    AT_TRY(sketch_step(s, &order));
    return sketch_mark(s, leaf, parts[1], AT_ANN_VEC);
}

at_status tile_join_parts(tiling *t) {
    const at_facts *f = t->s->facts;
    const at_tensor *x = &f->compute->tensors[t->stage];
    const char *outer;
    AT_TRY(sketch_add_up(t->s, x, x->name, NULL, t->part, &outer));
    if (!f->of[t->stage].has_matched_reader) return AT_OK;
    return sketch_put(t->s, AT_EDIT_NEST, f->compute->tensors[f->of[t->stage].reader].name, false,
                      x->name, outer);
}

at_status tile_ask_ahead(tiling *t) {
    const at_facts *f = t->s->facts;
    const at_stage_facts *x = &f->of[t->stage];
    if (reader_of(t, t->stage) < 0 || t->choice.row < 0 || t->blocks.len || t->choice.late)
        return AT_OK;
    for (int i = 0; i < f->of[x->reader].num_accesses; i++) {
        const at_access *a = &f->of[x->reader].access[i];
        if (a->tensor == t->stage || !a->known || !a->is_bare || a->stride[t->choice.row] <= 0 ||
            at_tensor_has_entries(&f->compute->tensors[a->tensor]) ||
            !sketch_is_far(t->s, a->tensor))
            continue;
        AT_TRY(sketch_prefetch(t->s, f->compute->tensors[x->reader].name, a->tensor,
                               a->stride[t->choice.row], t->rows.data[t->rows.len - 1]));
    }
    return AT_OK;
}

at_status tile_order_reader(tiling *t) {
    const at_facts *f = t->s->facts;
    int reader = reader_of(t, t->stage), n = 0;
    const char *column = t->blocks.len ? t->column : NULL;
    at_edit e = {.kind = AT_EDIT_ORDER,
                 .stage = f->compute->tensors[reader < 0 ? t->stage : reader].name};
    for (int i = 0; t->choice.panels && i < t->shared.len; i++) e.names[n++] = t->shared.data[i];
    for (int i = 0; t->choice.panels && i < t->guarded.len; i++) e.names[n++] = t->guarded.data[i];
    for (int i = 0; i < t->middle.len; i++)
        if (t->middle.data[i] != column) e.names[n++] = t->middle.data[i];
    for (int i = 0; i < t->rows.len; i++) {
        e.names[n++] = t->rows.data[i];
        if (column) AT_TRY(sketch_mark(t->s, e.stage, t->rows.data[i], AT_ANN_NONE));
    }
    if (column) e.names[n++] = column;
    e.names[n] = t->vector;
    return sketch_step(t->s, &e);
}
