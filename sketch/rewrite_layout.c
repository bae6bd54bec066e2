/* sketch/rewrite_layout.c: the order in which tensors are stored.
 *
 * last: where the last axis of a sum moves the data and an axis before it moves weights, as in a
 * convolution whose channels come first, further sketches store the sum with that axis last: lanes
 * go along weights, which are packed, and an element of the data is spread over them. What had the
 * sum's name turns it on its way out:
 *
 *     out[f, h, v] = sum(c, r, q) x[c, h + r, v + q]*w[f, c, r, q]    ->
 *         out_last[h, v, f] = sum(c, r, q) ..;  out[f, h, v] = out_last[h, v, f]
 *
 * So does a sum that reads such a one, as a depthwise convolution between two others, and one of
 * short rows that others reduce: lanes are then neighbouring rows of all of them, as of distances
 * to a few centres and the least of these.
 *
 * first: what is worked out of a sum's elements and stored in another order is worked out in the
 * sum's order, beside it, where it is in registers, and then only turned:
 *
 *     out[f, h, v] = max(s[h, v, f] + b[f], 0)    ->
 *         out_first[h, v, f] = max(s[h, v, f] + b[f], 0);  out[f, h, v] = out_first[h, v, f]
 *
 * turned: where lanes along the last axis of a stage would go across a tensor, or backwards, and no
 * packing in blocks serves, the stage reads a copy of it in which they go along:
 *
 *     y[i, j] = sum(d) q[i, d] * r[j - i + J - 1, d]    ->
 *         r_turned[d, p] = r[p, d];  y[i, j] = sum(d) q[i, d] * r_turned[d, j - i + J - 1]
 *
 * Sums over lists that the last axis chooses, and what reads itself along it, have lanes along
 * another one:
 *
 *     y[m, r] = sum(e:p[r]..p[r + 1]) a[e] * x[m, c[e]]    ->
 *         x_turned[k, m] = x[m, k];  y_across[r, m] = sum(e) a[e] * x_turned[c[e], m]
 *         y[m, r] = y_across[r, m] */
#include <string.h>

#include "schedule/edit/edit.h"
#include "sketch/nests.h"

/* ---- last ------------------------------------------------------------------------------------ */

/* Is a stage stored in another layout already? */
static bool is_put(const sketch_state *s, int stage) {
    const char *name = s->compute->tensors[stage].name;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_ACROSS && !strcmp(e->edit.names[0], name)) return true;
    return false;
}

/* Would lanes along an axis go along all that they read, and does the axis move weights, or what is
 * stored with it last already? */
static bool suits(const sketch_state *s, int stage, int axis, int last) {
    const at_stage_facts *f = &s->facts->of[stage];
    bool any = false;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const bool is_weight = sketch_is_weight(s, x->tensor);
        if (!x->known || (is_weight && x->stride[last])) return false;
        if (!is_weight && x->stride[axis] != 0 && x->stride[axis] != 1) return false;
        any |= is_weight ? x->stride[axis] != 0 : x->stride[axis] == 1 && is_put(s, x->tensor);
    }
    return any;
}

/* Do all that read a stage reduce its last axis, at their own axes? */
static bool is_reduced(const sketch_state *s, int stage, int last) {
    const at_compute *c = s->compute;
    bool any = false;
    for (int r = stage + 1; r < c->num_tensors; r++) {
        int num;
        const at_expr *const *reads = at_compute_reads(c, r, &num);
        for (int i = 0; i < num; i++) {
            if (reads[i]->ref != stage) continue;
            for (int d = 0; d <= last; d++) {
                const at_expr *index = reads[i]->arg[d];
                if (index->op != AT_X_NAME || (index->ref >= c->tensors[r].num_axes) != (d == last))
                    return false;
            }
            any = true;
        }
    }
    return any;
}

/* Of many short rows that are reduced, may lanes go along the axis of the rows? */
static bool may_go_across(const sketch_state *s, int stage, int axis, int last) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[axis] != 0 && x->stride[axis] != 1 && !tile_may_pack(s, stage, x))
            return false;
    }
    return f->extent[last] <= ACROSS_MOST_PARTS && f->extent[axis] >= ACROSS_LEAST_ROWS &&
           is_reduced(s, stage, last);
}

/* The axis that may come last; -1: none, or the sum is stored well as it is. */
static int last_of(const sketch_state *s, int stage) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = x->num_axes - 1;
    int64_t terms = 1;
    int found = -1;
    if (!at_facts_has_leaf(s->facts, stage) || x->cycle || !x->num_reduce || last < 1 ||
        at_tensor_has_range(x))
        return -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) terms *= f->extent[k];
    for (int k = 0; k < last && terms >= LAYOUT_LEAST_TERMS; k++)
        if (f->extent[k] >= LEAST_COPIED_LANES && !f->divisor[k] &&
            (suits(s, stage, k, last) || may_go_across(s, stage, k, last)) &&
            (found < 0 || f->extent[k] > f->extent[found]))
            found = k;
    return found;
}

bool sketch_has_layouts(const sketch_state *s) {
    for (int t = 0; t < s->compute->num_tensors; t++)
        if (last_of(s, t) >= 0) return true;
    return false;
}

/* Does an expression read a stage elsewhere than at the reader's own axes in their order? */
static bool leads_elsewhere(const at_expr *e, const void *stage) {
    return at_expr_is_read(e, stage) && !at_expr_is_in_place(e);
}

/* Is each element of a stage made of the element of another stage at its place, for readers? */
static bool goes_along(const at_compute *c, int reader, int stage) {
    const at_tensor *x = &c->tensors[reader], *t = &c->tensors[stage];
    return x->role == AT_ROLE_STAGE && !x->num_reduce && !x->is_output && !x->cycle &&
           !x->is_recurrence && x->num_axes == t->num_axes && at_expr_read_of(x->body, stage) &&
           !at_expr_find(x->body, leads_elsewhere, &stage);
}

static at_status put(sketch_state *s, int stage, int axis) {
    const at_tensor *x = &s->compute->tensors[stage];
    return sketch_make(s, AT_EDIT_ACROSS, x->name, NULL, x->axes[axis].name,
                       sketch_fresh_of(s, x->name, "last"));
}

/* A sum, and what is made of its elements beside it. */
static at_status put_all(sketch_state *s, int sum, int axis) {
    const char *name = s->compute->tensors[sum].name;
    AT_TRY(put(s, sum, axis));
    for (int r = at_compute_find(s->compute, name) + 1; r < s->compute->num_tensors; r++) {
        const char *reader = s->compute->tensors[r].name;
        if (!goes_along(s->compute, r, at_compute_find(s->compute, name))) continue;
        AT_TRY(put(s, r, axis));
        AT_TRY(sketch_drop_copy(s, reader));
    }
    return sketch_drop_copy(s, name);
}

bool rewrite_last(sketch_state *s, int stage, const at_facts_given *given) {
    const int k = last_of(s, stage);
    if (k < 0) return false;
    s->name = at_format(s->arena, "%s%slast_%s", s->name, *s->name ? "+" : "",
                        s->compute->tensors[stage].axes[k].name);
    return put_all(s, stage, k) == AT_OK && sketch_refresh_facts(s, given) == AT_OK;
}

/* ---- first ----------------------------------------------------------------------------------- */

/* Is it a read of a sum as it lies, but for an axis of the stage that is the sum's last? */
static bool is_read_across(const sketch_state *s, int stage, const at_expr *e, int axis) {
    const at_tensor *x = &s->compute->tensors[stage];
    if (e->op != AT_X_INDEX || !s->compute->tensors[e->ref].num_reduce ||
        s->facts->of[e->ref].num_readers != 1 || e->nargs != x->num_axes)
        return false;
    for (int d = 0; d < e->nargs; d++) {
        const int own = d == e->nargs - 1 ? axis : d + (d >= axis);
        if (!at_expr_is_name(e->arg[d], own) ||
            s->facts->extents[e->ref][d] != s->facts->extents[stage][own])
            return false;
    }
    return true;
}

/* May lanes go along an axis for all that a stage reads, a sum among it that lies so? */
static bool lies_across(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    int num, sums = 0;
    const at_expr *const *reads = at_compute_reads(s->compute, stage, &num);
    for (int i = 0; i < num; i++) sums += is_read_across(s, stage, reads[i], axis);
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (!x->known || (x->stride[axis] != 0 && x->stride[axis] != 1)) return false;
    }
    return sums == 1 && f->extent[axis] >= LEAST_COPIED_LANES;
}

bool rewrite_first(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = x->num_axes - 1;
    if (x->num_reduce || x->is_packing || x->cycle || x->is_recurrence || f->is_dissolved ||
        f->is_written || f->operations <= 0 || last < 1 || f->extent[last] < BLOCK_LEAST_SIDE)
        return false;
    for (int k = 0; k < last; k++)
        if (lies_across(s, stage, k))
            return sketch_make(s, AT_EDIT_ACROSS, x->name, NULL, x->axes[k].name,
                               sketch_fresh_of(s, x->name, "first")) == AT_OK &&
                   sketch_refresh_facts(s, given) == AT_OK;
    return false;
}

/* ---- turned ---------------------------------------------------------------------------------- */

/* The first tensor that lanes along the axis go across; -1: none, or one that cannot be turned. */
static int across(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[axis] == 0 || x->stride[axis] == 1) continue;
        if (tile_may_pack(s, stage, x) && t->num_reduce && !at_tensor_has_range(t)) continue;
        if (x->tensor == stage) continue;
        return tile_turn_pays(s, stage, x->tensor) && x->from == x->tensor ? x->tensor : -1;
    }
    return -1;
}

/* Whether lanes along the last axis go along all that is read, perhaps in blocks; sums over lists
 * have none of these. */
static bool reads_along(const sketch_state *s, int stage) {
    const at_tensor *t = &s->compute->tensors[stage];
    const at_recurrence r = at_recurrence_of(s->compute, stage);
    if (t->is_recurrence && r.steps >> (t->num_axes - 1) & 1) return false;
    return at_tensor_has_range(t) ? tile_list_of(s, stage) >= 0
                                  : tile_reads_vectors(s, stage, t->num_axes - 1);
}

/* The stage reads a copy of `of`: one that another stage reads already, or a new one. */
static at_status turn_one(sketch_state *s, const char *stage, const char *axis, int of) {
    const char *from = s->compute->tensors[of].name;
    for (int i = 0; i < s->kept.len; i++)
        if (sketch_make(s, AT_EDIT_TURN, stage, from, axis, s->kept.data[i]) == AT_OK) return AT_OK;
    const char *turned = *at_push(s->arena, &s->kept) = sketch_fresh_of(s, from, "turned");
    return sketch_make(s, AT_EDIT_TURN, stage, from, axis, turned);
}

/* All of them; false: lanes go across one still. */
static bool turn_all(sketch_state *s, const char *stage, const char *axis, int k,
                     const at_facts_given *given) {
    int of;
    while ((of = across(s, at_compute_find(s->compute, stage), k)) >= 0) {
        if (turn_one(s, stage, axis, of) != AT_OK || sketch_refresh_facts(s, given) != AT_OK)
            return false;
    }
    return reads_along(s, at_compute_find(s->compute, stage));
}

/* What lanes along the last axis go across is turned, if that serves. */
static bool turn_last(sketch_state *s, int stage, const at_facts_given *given) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *x = &s->compute->tensors[stage];
    const int last = x->num_axes - 1;
    if (f->inner[last] < LEAST_COPIED_LANES || (x->num_reduce && tile_dot_of(s, stage) >= 0))
        return false;
    sketch_state *b = sketch_branch(s, "");
    if (!turn_all(b, x->name, x->axes[last].name, last, given)) return false;
    *s = *b;
    return true;
}

/* Where the last axis says which list is summed, or is one of steps, lanes go along another one,
 * which becomes the last. */
static bool go_across(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_recurrence r = at_recurrence_of(s->compute, stage);
    const bool may_go = at_tensor_has_range(x) || r.steps >> (x->num_axes - 1) & 1;
    for (int k = x->num_axes - 2; k >= 0 && may_go; k--) {
        if (s->facts->of[stage].extent[k] < LEAST_COPIED_LANES || (r.steps | r.beyond) >> k & 1)
            continue;
        sketch_state *b = sketch_branch(s, "");
        const char *name = sketch_fresh_of(b, x->name, "across"), *axis = x->axes[k].name;
        if (sketch_make(b, AT_EDIT_ACROSS, x->name, NULL, axis, name) != AT_OK ||
            sketch_refresh_facts(b, given) != AT_OK ||
            !turn_all(b, name, axis, x->num_axes - 1, given))
            continue;
        *s = *b;
        return true;
    }
    return false;
}

bool rewrite_turned(sketch_state *s, int stage, const at_facts_given *given) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *x = &s->compute->tensors[stage];
    if (f->is_kept || f->is_dissolved || !x->num_axes || x->cycle || reads_along(s, stage))
        return false;
    return turn_last(s, stage, given) || go_across(s, stage, given);
}
