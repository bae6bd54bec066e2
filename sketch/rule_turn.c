/* sketch/rule_turn.c: where lanes along the last axis of a stage would go across a tensor, or
 * backwards, and no packing in blocks serves, the stage reads a copy of it in which they go along:
 *
 *     y[i, j] = sum(d) q[i, d] * r[j - i + J - 1, d]    ->
 *         r_turned[d, p] = r[p, d];  y[i, j] = sum(d) q[i, d] * r_turned[d, j - i + J - 1] */
#include "schedule/edit.h"
#include "sketch/tile.h"

/* Reads of an element for which a copy is made, and of what: small axes have few lanes. */
enum { LEAST_READS = 8, LEAST_LANES = 8 };

static double points_of(const at_stage_facts *f, int n) {
    double points = 1;
    for (int k = 0; k < n; k++) points *= f->extent[k] > 0 ? (double)f->extent[k] : 1;
    return points;
}

/* The first tensor that lanes along the axis go across; -1: none, or one that cannot be turned. */
static int across(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    const double points = points_of(f, t->num_axes + t->num_reduce);
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[axis] == 0 || x->stride[axis] == 1) continue;
        if (tile_may_pack(s, stage, x) && t->num_reduce) continue;
        bool is_worth = points >= LEAST_READS * sketch_elements(s, x->tensor);
        return is_worth && x->from == x->tensor ? x->tensor : -1;
    }
    return -1;
}

/* All of them; false: lanes go across one still. */
static bool turn_all(sketch_state *s, const char *stage, const char *axis, int k,
                     const at_facts_given *given) {
    int of;
    at_error why;
    while ((of = across(s, at_compute_find(s->compute, stage), k)) >= 0) {
        const char *from = s->compute->tensors[of].name;
        const at_edit e = {.kind = AT_EDIT_TURN,
                           .stage = stage,
                           .other = from,
                           .loop = axis,
                           .names = {sketch_fresh(s, at_format(s->arena, "%s_turned", from))}};
        *at_push(s->arena, &s->kept) = e.names[0];
        if (sketch_step(s, &e, &why) != AT_OK || sketch_look_again(s, given, &why) != AT_OK)
            return false;
    }
    return tile_reads_vectors(s, at_compute_find(s->compute, stage), k);
}

void sketch_turn(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        const at_tensor *x = &s->compute->tensors[t];
        const int last = x->num_axes - 1, before = s->compute->num_tensors;
        if (f->is_written || f->is_kept || !f->is_stage || f->is_dissolved || last < 0 ||
            f->inner[last] < LEAST_LANES || tile_reads_vectors(s, t, last) ||
            (x->num_reduce && tile_dot_of(s, t) >= 0))
            continue;
        sketch_state *b = sketch_branch(s, "");
        if (!turn_all(b, x->name, x->axes[last].name, last, given)) continue;
        *s = *b;
        t += s->compute->num_tensors - before; /* the copies stand before it */
    }
}
