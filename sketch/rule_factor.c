/* sketch/rule_factor.c: a long sum of few elements is shared out among threads: each has a part of
 * the outermost reduction, and what they find is summed at the end:
 *
 *     b, i, j0, j1:vec => @s = b // i, ..    ->    i0:para, b, i1, j0, j1:vec => @s_parts = b, i0
 * // .. b, i0 => @s = b // i0
 *
 * A long sum of a register tile is shared out where its loops are made (tile.c). */
#include "sketch/tile.h"

#include <string.h>

enum { MOST_ELEMENTS = 8, LEAST_TERMS = 65536, PARTS = 16, LANES = 128 };

/* The reduction that is shared out; -1: none is. */
static int factor_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t elements = 1, terms = 1;
    if (tile_lanes_of(s, stage) < 0) return -1;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (t->axes[k].begin || f->divisor[k]) return -1;
        if (k < t->num_axes) elements *= f->extent[k];
        else terms *= f->extent[k];
    }
    int64_t steps = f->extent[t->num_axes] / (t->num_reduce > 1 ? 1 : LANES);
    bool suits = elements <= MOST_ELEMENTS && terms >= LEAST_TERMS && tile_vector_of(s, stage) < 0;
    return suits && steps >= 2 * PARTS ? t->num_axes : -1;
}

/* The loop that runs the reduction, or what lanes left of it. */
static const char *loop_of(const sketch_state *s, const char *stage, const char *axis) {
    const char *loop = axis;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_SPLIT && !strcmp(e->edit.stage, stage) &&
            !strcmp(e->edit.loop, axis))
            loop = e->edit.names[0]; /* of the first such */
    return loop;
}

static at_status make(sketch_state *s, int stage, int k, at_error *err) {
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "first <= 256"};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int limit = (int)(s->facts->of[stage].extent[k] / (t->num_reduce > 1 ? 1 : LANES) / PARTS);
    const at_part_limit limits[] = {{0}, {.wide = limit, .narrow = limit}};
    const char *parts[2], *name = sketch_fresh(s, at_format(s->arena, "%s_parts", t->name));
    at_edit factor = {.kind = AT_EDIT_FACTOR, .stage = t->name, .names = {name}};
    if (t->num_axes) AT_TRY(sketch_mark(s, t->name, t->axes[0].name, AT_ANN_NONE, err));
    AT_TRY(sketch_split(s, t->name, loop_of(s, t->name, t->axes[k].name), 2, &spec, limits, parts,
                        err));
    factor.loop = parts[0];
    AT_TRY(sketch_step(s, &factor, err));
    return sketch_mark(s, name, parts[0], AT_ANN_PARA, err);
}

void sketch_factor(const sketch_state *s, sketch_states *out, at_error *err) {
    *at_push(s->arena, out) = sketch_branch(s, "");
    for (int t = 0; t < s->facts->compute->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        int k = f->is_stage && !f->is_dissolved && !f->steps ? factor_of(s, t) : -1;
        if (k < 0) continue;
        sketch_state *b = sketch_branch(
            s, at_format(s->arena, "factor_%s", s->facts->compute->tensors[t].axes[k].name));
        if (make(b, t, k, err) == AT_OK) *at_push(s->arena, out) = b;
        return;
    }
}
