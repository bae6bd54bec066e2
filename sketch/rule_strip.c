/* sketch/rule_strip.c: what is padded is copied with its padding, so that nothing cuts into lanes
 * that go along it, or into the rows of dot products:
 *
 *     n, c, h, w, .. @conv reads pad    ->    n, c, y, x0, x1:vec => @pad
 *                                             n, h, w0, .. w1:vec => @conv
 *
 * Where other lanes are cut from one step of a sum to the next, sums would wait in memory for each
 * step, so these sketches are what a task has by default. So they are where bytes are padded by
 * another number than 0, such as a zero point: products with it are no dot products. */
#include "sketch/limits.h"
#include "sketch/tile.h"

static bool is_cut(const sketch_state *s, int stage, const at_access *x) {
    int vec = tile_vector_of(s, stage), dot = tile_dot_of(s, stage);
    bool any = false;
    if (vec >= 0) return x->is_cut[vec] && x->stride[vec] == 1;
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++) any |= x->is_cut[k];
    return dot >= 0 && any;
}

static bool is_zero(const at_expr *e) {
    return (e->op == AT_X_INT && !e->integer) || (e->op == AT_X_FLOAT && e->number == 0);
}

/* Does a sum of products of bytes read them by a condition, or else something that is not 0? */
static bool is_padded_otherwise(const at_compute *c, int stage, const at_access *x) {
    const at_expr *e = c->tensors[x->from].body;
    return tile_sums_bytes(c, &c->tensors[stage]) && x->is_guarded && x->from != x->tensor &&
           e->op == AT_X_SELECT && !is_zero(e->arg[1]) && !is_zero(e->arg[2]);
}

/* Is the padding between elements, as in a transposed convolution? Phases take care of that, a copy
 * would hold mostly zeros. */
static bool has_phases(const at_stage_facts *f, int axes) {
    for (int k = 0; k < axes; k++)
        if (f->divisor[k] && f->is_phase[k]) return true;
    return false;
}

const char *sketch_strips(const sketch_state *s, bool **kept, bool *is_needed) {
    const at_compute *c = s->facts->compute;
    const char *word = NULL;
    *is_needed = false;
    *kept = AT_NEW_ARRAY(s->arena, bool, s->before->compute->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (!f->is_stage || f->is_dissolved || !c->tensors[t].num_reduce ||
            has_phases(f, c->tensors[t].num_axes))
            continue;
        for (int i = 0; i < f->num_accesses; i++) {
            int from = f->access[i].from, vec = tile_vector_of(s, t),
                known = at_compute_find(s->before->compute, c->tensors[from].name);
            const bool other = is_padded_otherwise(c, t, &f->access[i]);
            if (from == f->access[i].tensor || (*kept)[known] ||
                !(other || is_cut(s, t, &f->access[i])))
                continue;
            (*kept)[known] = true;
            *is_needed |= other;
            *is_needed |= vec >= 0 && f->access[i].is_cut_unevenly[vec];
            word = word ? at_format(s->arena, "%s+strip_%s", word, c->tensors[from].name)
                        : at_format(s->arena, "strip_%s", c->tensors[from].name);
        }
    }
    return word;
}
