/* sketch/rule_turn.c: where lanes along the last axis of a stage would go across a tensor, or
 * backwards, and no packing in blocks serves, the stage reads a copy of it in which they go along:
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
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

/* Reads of an element for which a copy is made, and of what: small axes have few lanes. Of what
 * goes on from step to step lanes are worth more than a copy costs. */

/* The first tensor that lanes along the axis go across; -1: none, or one that cannot be turned. */
static int across(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    const double points = tile_points(s, stage);
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[axis] == 0 || x->stride[axis] == 1) continue;
        if (tile_may_pack(s, stage, x) && t->num_reduce && !tile_has_lists(t)) continue;
        if (x->tensor == stage) continue;
        bool is_worth = sketch_is_weight(s, x->tensor) || at_stage_steps(s->compute, stage) ||
                        points >= TURN_LEAST_READS * sketch_elements(s, x->tensor);
        return is_worth && x->from == x->tensor ? x->tensor : -1;
    }
    return -1;
}

/* Whether lanes along the last axis go along all that is read, perhaps in blocks; sums over lists
 * have none of these. */
static bool reads_along(const sketch_state *s, int stage) {
    const at_tensor *t = &s->compute->tensors[stage];
    const at_recurrence r = at_recurrence_of(s->compute, stage);
    if (t->is_recurrence && r.steps >> (t->num_axes - 1) & 1) return false;
    return tile_has_lists(t) ? tile_list_of(s, stage) >= 0
                             : tile_reads_vectors(s, stage, t->num_axes - 1);
}

/* The stage reads a copy of `of`: one that another stage reads already, or a new one. */
static at_status turn_one(sketch_state *s, const char *stage, const char *axis, int of,
                          at_error *why) {
    const char *from = s->compute->tensors[of].name;
    at_edit e = {.kind = AT_EDIT_TURN, .stage = stage, .other = from, .loop = axis};
    for (int i = 0; i < s->kept.len; i++) {
        e.names[0] = s->kept.data[i];
        if (sketch_step(s, &e, why) == AT_OK) return AT_OK;
    }
    e.names[0] = sketch_fresh(s, at_format(s->arena, "%s_turned", from));
    *at_push(s->arena, &s->kept) = e.names[0];
    return sketch_step(s, &e, why);
}

/* All of them; false: lanes go across one still. */
static bool turn_all(sketch_state *s, const char *stage, const char *axis, int k,
                     const at_facts_given *given) {
    int of;
    at_error why;
    while ((of = across(s, at_compute_find(s->compute, stage), k)) >= 0) {
        if (turn_one(s, stage, axis, of, &why) != AT_OK ||
            sketch_look_again(s, given, &why) != AT_OK)
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
    const bool may_go = tile_has_lists(x) || r.steps >> (x->num_axes - 1) & 1;
    at_error why;
    for (int k = x->num_axes - 2; k >= 0 && may_go; k--) {
        if (s->facts->of[stage].extent[k] < LEAST_COPIED_LANES || (r.steps | r.beyond) >> k & 1)
            continue;
        sketch_state *b = sketch_branch(s, "");
        const at_edit e = {.kind = AT_EDIT_ACROSS,
                           .stage = x->name,
                           .loop = x->axes[k].name,
                           .names = {sketch_fresh(b, at_format(b->arena, "%s_across", x->name))}};
        if (sketch_step(b, &e, &why) != AT_OK || sketch_look_again(b, given, &why) != AT_OK ||
            !turn_all(b, e.names[0], e.loop, x->num_axes - 1, given))
            continue;
        *s = *b;
        return true;
    }
    return false;
}

void sketch_turn(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        const at_tensor *x = &s->compute->tensors[t];
        const int before = s->compute->num_tensors;
        if (f->is_written || f->is_kept || !f->is_stage || f->is_dissolved || !x->num_axes ||
            x->cycle || reads_along(s, t))
            continue;
        if (!turn_last(s, t, given)) go_across(s, t, given);
        t += s->compute->num_tensors - before; /* the copies stand before it */
    }
}
