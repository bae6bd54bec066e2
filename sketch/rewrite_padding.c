/* sketch/rewrite_padding.c: padding, or a bound, that a sum has within its text becomes a stage, as
 * if it had been written so:
 *
 *     y[c, h] = sum(r) (0 <= h + r - 1 && h + r - 1 < H ? x[c, h + r - 1] : 0)*w[c, r]    ->
 *         x_pad[c, x_pad_h] = 0 <= x_pad_h - 1 && x_pad_h - 1 < H ? x[c, x_pad_h - 1] : 0
 *         y[c, h] = sum(r) x_pad[c, h + r]*w[c, r]
 *
 * The same where whole terms have it, 0 <= h + r - 1 && h + r - 1 < H ? x[c, h + r - 1]*w[c, r] :
 * 0, if it cuts into lanes. Where the axes that are added up say more elements than sums need, as
 * those of windows that do not overlap, it stays. */
#include <string.h>

#include "schedule/edit/edit_compute.h"
#include "sketch/nests.h"

static double points_of(const at_stage_facts *f, const at_expr *e) {
    const uint32_t axes = at_expr_axes(e);
    double points = 1;
    for (int k = 0; k < AT_FACTS_MAX_AXES; k++)
        if (axes >> k & 1) points *= (double)f->extent[k];
    return points;
}

/* Do lanes go along what a condition of the sum's own terms cuts? */
static bool is_cut_itself(const sketch_state *s, int stage, int tensor) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int vec = tile_vector_of(s, stage);
    for (int i = 0; i < f->num_accesses && vec >= 0; i++)
        if (f->access[i].from == tensor && f->access[i].is_cut[vec]) return true;
    return false;
}

/* Of what the stage reads of a tensor, the first that is padded; NULL: nothing is. A condition on
 * whole terms stays unless it cuts lanes: it leaves out all terms of a row. */
static const at_expr *padded_of(const sketch_state *s, const char *name, int tensor) {
    const int stage = at_compute_find(s->compute, name);
    bool is_factor;
    const at_expr *of = at_edit_padded_of(s->arena, s->compute, stage, tensor, &is_factor);
    return of && is_factor && !is_cut_itself(s, stage, tensor) ? NULL : of;
}

static bool make_one(sketch_state *s, const char *stage, int tensor, const at_facts_given *given) {
    at_error why;
    const double points =
        points_of(&s->facts->of[at_compute_find(s->compute, stage)], padded_of(s, stage, tensor));
    const char *from = s->compute->tensors[tensor].name, *name = sketch_fresh_of(s, from, "pad");
    if (sketch_make(s, AT_EDIT_PAD, stage, from, NULL, name) != AT_OK) return false;
    for (int i = 0; s->strips && s->strips[i]; i++)
        if (!strcmp(s->strips[i], name)) *at_push(s->arena, &s->kept) = name;
    return sketch_refresh_facts(s, given) == AT_OK &&
           sketch_elements(s, at_compute_find(s->compute, name)) < points &&
           at_compute_check_reads(s->compute, given->values, NULL, NULL, &why) == AT_OK;
}

bool rewrite_padding(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const char *name = x->name;
    bool any = false;
    if (!x->num_reduce || x->cycle || x->is_recurrence || x->is_packing || at_tensor_has_range(x))
        return false;
    for (int t = 0; t < at_compute_find(s->compute, name); t++)
        while (padded_of(s, name, t)) {
            sketch_state *b = sketch_branch(s, "");
            if (!make_one(b, name, t, given)) break;
            *s = *b;
            any = true;
        }
    return any;
}
