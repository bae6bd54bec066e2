/* sketch/rule_rows.c: what reads reductions of a row, such as softmax, and the reductions are done
 * row by row, while the row is near:
 *
 *     i, k0, k1:vec => @most = i // {k0, k1}/k        i:para =>
 *     i, j0, j1:vec => @e = i, {j0, j1}/j                 k0, k1:vec => @most = ..
 *     i, n0, n1:vec => @total = i // {n0, n1}/n    ->     j0, j1:vec => @e = ..
 *     i, j0, j1:vec => @out = i, {j0, j1}/j               n0, n1:vec => @total = ..
 *                                                         j0, j1:vec => @out = ..  */
#include "sketch/sketch_int.h"

/* The last stage that has a leaf, if it sums nothing. */
static int last_reader(const sketch_state *s) {
    const at_compute *c = s->facts->compute;
    for (int t = c->num_tensors - 1; t >= 0; t--)
        if (s->facts->of[t].is_stage && !s->facts->of[t].is_dissolved)
            return c->tensors[t].num_reduce ? -1 : t;
    return -1;
}

/* Whether a stage's axes are the first ones of the reader, and both count the same elements. */
static bool has_rows_of(const sketch_state *s, int stage, int reader) {
    const at_facts *f = s->facts;
    const at_tensor *t = &f->compute->tensors[stage], *r = &f->compute->tensors[reader];
    if (t->num_axes > r->num_axes) return false;
    for (int k = 0; k < t->num_axes; k++)
        if (f->extents[stage][k] != f->extents[reader][k]) return false;
    return true;
}

static bool is_tiled(const sketch_state *s, int stage) {
    for (int i = 0; i < s->tiles.len; i++)
        if (s->tiles.data[i].stage == stage) return true;
    return false;
}

/* The number of axes that all have in common; 0: there is no such row. */
static int find_rows(const sketch_state *s, int reader) {
    const at_compute *c = s->facts->compute;
    int rows = c->tensors[reader].num_axes, sums = 0;
    for (int t = 0; t < reader; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (!f->is_stage || f->is_dissolved) continue;
        if (is_tiled(s, t) || !has_rows_of(s, t, reader) || c->tensors[t].is_packing) return 0;
        if (c->tensors[t].num_reduce) sums++;
        if (c->tensors[t].num_axes < rows) rows = c->tensors[t].num_axes;
    }
    return sums ? rows : 0;
}

/* First what sums nothing, from the last stage to the first, right before what reads it (another
 * output: before the last one); then sums, which thus come behind what they sum. */
static at_status make(sketch_state *s, int reader, int rows, at_error *err) {
    const at_compute *c = s->facts->compute;
    const char *row = c->tensors[reader].axes[rows - 1].name;
    for (int sums = 0; sums < 2; sums++)
        for (int t = reader - 1; t >= 0; t--) {
            const at_stage_facts *f = &s->facts->of[t];
            if (!f->is_stage || f->is_dissolved || (c->tensors[t].num_reduce > 0) != sums) continue;
            at_edit e = {.kind = AT_EDIT_NEST,
                         .stage = c->tensors[t].name,
                         .other = c->tensors[f->reader < 0 ? reader : f->reader].name,
                         .loop = row,
                         .before = true};
            AT_TRY(sketch_step(s, &e, err));
        }
    return AT_OK;
}

void sketch_rows(const sketch_state *s, sketch_states *out, at_error *err) {
    int reader = last_reader(s), rows = reader < 0 ? 0 : find_rows(s, reader);
    if (rows) {
        sketch_state *b = sketch_branch(s, "rows");
        if (make(b, reader, rows, err) == AT_OK) *at_push(s->arena, out) = b;
    }
    *at_push(s->arena, out) = sketch_branch(s, "");
}
