/* sketch/rule_pointers.c: the rows of a picture that a tile needs, padding included, are read by a
 * list of places (codegen/pointers.c): neither a copy nor a condition, but products with padding
 * are computed.
 *
 *     n, h, w, f, .. @conv reads pad[n, h*S + r, w*S + q, c]    ->
 *         {f0, n, h}:para, w0 =>
 *             r, q, c0, c1:unroll, w1:unroll, f1:vec =>
 *                 @conv[pointers data] = ..  */
#include "sketch/tile.h"

enum { LEAST_RUN = 8 }; /* products that an entry is read for */

/* c ? tensor[..] : number, where places alone decide c */
static bool chooses(const at_expr *e, int tensor) {
    if (e->op == AT_X_SELECT && !at_expr_reads(e->arg[0]) && e->arg[1]->op == AT_X_INDEX &&
        e->arg[1]->ref == tensor)
        return e->arg[2]->op == AT_X_FLOAT || e->arg[2]->op == AT_X_INT;
    for (int i = 0; i < e->nargs; i++)
        if (chooses(e->arg[i], tensor)) return true;
    return false;
}

/* A long reduction goes along what an entry leads to. */
static bool has_runs(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (x->stride[k] == 1 && !x->is_cut[k] && s->facts->of[stage].inner[k] >= LEAST_RUN)
            return true;
    return false;
}

/* Products with padding are not left out: where the padded picture is more than twice the picture,
 * they are so many (44 % of a 3x3 kernel on 4x4) that a list is of no use. */
static bool suits(const sketch_state *s, const at_access *x) {
    double picture = sketch_elements(s, x->tensor), padded = sketch_elements(s, x->from);
    return x->is_guarded && (x->from == x->tensor || (padded > picture && padded <= 2 * picture));
}

/* The padded rows that a tile with these lanes reads; -1: there are none. */
static int rows_of(const sketch_state *s, int stage, int vec, int row) {
    const at_compute *c = s->facts->compute;
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const at_expr *body = c->tensors[x->from == x->tensor ? stage : x->from].body;
        if (x->known && suits(s, x) && !x->stride[vec] && x->stride[row] &&
            c->tensors[x->tensor].role == AT_ROLE_INPUT &&
            !at_type_of(c->tensors[x->tensor].type)->is_int && chooses(body, x->tensor) &&
            tile_reads_once(s, stage, x->tensor) && has_runs(s, stage, x))
            return i;
    }
    return -1;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    int vec = tile_vector_of(s, stage), row = vec < 0 ? -1 : tile_row_of(s, stage, vec);
    return row >= 0 && rows_of(s, stage, vec, row) >= 0 ? RULE_APPLY : RULE_SKIP;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_compute *c = s->facts->compute;
    int vec = tile_vector_of(s, stage), row = tile_row_of(s, stage, vec);
    const tile_axes axes = {.vec = vec,
                            .row = row,
                            .second = -1,
                            .unrolled = -1,
                            .blocked = -1,
                            .has_pointers = true,
                            .pointers = rows_of(s, stage, vec, row)};
    const char *from = c->tensors[s->facts->of[stage].access[axes.pointers].tensor].name;
    sketch_tile_add(
        s, stage,
        at_format(s->arena, "tile_%s+pointers_%s", c->tensors[stage].axes[vec].name, from), &axes,
        out, err);
}

const sketch_rule at_rule_pointers = {applies, apply};
