/* sketch/rule_windows.c: lanes along an axis that reads every S-th element, or into which padding
 * cuts, read a copy of the windows of a block, behind each other in the order of use (im2col):
 *
 *     n, f, h, w, .. @conv reads pad[n, c, h*S + r, w*S + q]    ->
 *         {n, h, w0}:para =>
 *             c, r, q, w1 => @pad_packed
 *             f0, f1, c, r, q, f2:unroll, w1:vec => @conv  */
#include "sketch/tile.h"

enum { LEAST_LANES = 8 };

/* Does the access read windows along the axis, which a copy would lay side by side? */
static bool is_window(const sketch_state *s, int stage, const at_access *x, int vec) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    return x->known && !x->is_bare && from->role == AT_ROLE_INPUT &&
           tile_reads_once(s, stage, x->tensor) && (x->stride[vec] > 1 || x->is_cut[vec]);
}

/* The windows that lanes along an axis read, where all else is the same for them, or lies side by
 * side; -1: there are none. */
static int windows_of(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (is_window(s, stage, x, vec) && found < 0) found = i;
        else if (!x->known || (x->stride[vec] != 0 && x->stride[vec] != 1)) return -1;
    }
    return found;
}

int tile_windows_of(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int vec = x->num_axes - 1;
    if (!x->num_reduce || f->inner[vec] < LEAST_LANES) return -1;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++)
        if (f->divisor[k] || x->axes[k].begin) return -1; /* their windows lie apart */
    int row = tile_row_of(s, stage, vec);
    return row >= 0 && tile_reuses(s, stage, vec, row) && windows_of(s, stage, vec) >= 0 ? vec : -1;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    return tile_windows_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_compute *c = s->facts->compute;
    int vec = tile_windows_of(s, stage), row = tile_row_of(s, stage, vec),
        windows = windows_of(s, stage, vec);
    const tile_axes axes = {.vec = vec,
                            .row = row,
                            .second = tile_rows_beside(s, stage, vec, row),
                            .unrolled = -1,
                            .blocked = -1,
                            .near = {windows},
                            .num_near = 1};
    sketch_tile_add(s, stage,
                    at_format(s->arena, "tile_%s+im2col_%s", c->tensors[stage].axes[vec].name,
                              c->tensors[s->facts->of[stage].access[windows].tensor].name),
                    &axes, out, err);
}

const sketch_rule at_rule_windows = {applies, apply};
