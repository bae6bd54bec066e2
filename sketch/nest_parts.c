/* sketch/nest_parts.c: sums of dot products whose last axis leaves a part of a register's lanes
 * empty. Lanes are several partial sums of each element, side by side, as many as fill them; what
 * reads the sums adds these up, in lanes through as many neighbouring rows:
 *
 *     w, f, c => @acc = w, f // c
 *     w, f => @out = w, f
 *         ->
 *     w0:para =>
 *         c0, c1:unroll, w1:unroll, w2:unroll, {f, c_p}:vec, c_i:dot =>
 *             @acc_parts = {w0, w1, w2}/w, f, c_p // c0, c1, c_i
 *         w1, {w2, f}:vec =>
 *             @out = {w0, w1, w2}/w, f
 *
 * What all rows read alike, such as a scale for each channel, is repeated for neighbouring ones. */
#include <string.h>

#include "sketch/nests.h"

void nest_find_parts(const sketch_state *s, int stage, nest_choices *out) {
    const int parts = tile_parts_of(s, stage), vec = s->facts->compute->tensors[stage].num_axes - 1;
    if (!parts) return;
    nest_choice *c = nest_add_axis(out, s, stage, vec);
    c->row = vec - 1;
    c->height = parts;
}

/* Loops of the sum's parts; rows: outer, middle and neighbouring ones; sums: of the reduction. */
typedef struct parting {
    sketch_state *s;
    int stage;
    const nest_choice *choice;
    const char *leaf, *reader, *rows[3], *sums[2], *part, *fours;
} parting;

/* The partial sums become a stage, and what had its name is added up where it is read. */
static at_status part_sum(parting *p) {
    sketch_state *s = p->s;
    const at_tensor *x = &s->facts->compute->tensors[p->stage];
    const char *size = at_format(s->arena, "%d", p->choice->height), *rest, *steps;
    AT_TRY(sketch_split_sized(s, x->name, x->axes[p->choice->fours].name, "4", &rest, &p->fours));
    AT_TRY(sketch_split_sized(s, x->name, rest, size, &steps, &p->part));
    p->leaf = sketch_fresh_of(s, x->name, "parts");
    p->sums[0] = steps;
    AT_TRY(sketch_make(s, AT_EDIT_FACTOR, x->name, NULL, p->part, p->leaf));
    const at_tensor *left = &s->compute->tensors[at_compute_find(s->compute, x->name)];
    at_edit e = {.kind = AT_EDIT_INLINE, .stage = x->name, .sizes = {p->choice->height}};
    e.names[0] = left->axes[left->num_axes].name;
    return sketch_step(s, &e);
}

static at_status split_rows(parting *p) {
    sketch_state *s = p->s;
    const at_tensor *x = &s->facts->compute->tensors[p->stage];
    const int parts = p->choice->height,
              vectors = (int)s->facts->of[p->stage].inner[p->choice->vec] * parts / PARTS_LANES;
    const at_part_limit rows = {.wide = PARTS_SUMS / (parts * vectors), .narrow = 1};
    const char *size = at_format(s->arena, "%d", parts), *blocks;
    AT_TRY(
        sketch_split_sized(s, p->leaf, x->axes[p->choice->row].name, size, &blocks, &p->rows[2]));
    AT_TRY(sketch_split_by(s, p->leaf, blocks, "1 2 3 4 5 6 7 8 10 12 14", rows, p->rows));
    return sketch_split_terms(s, p->leaf, p->sums[0], p->sums);
}

static at_status order_loops(parting *p) {
    sketch_state *s = p->s;
    const at_tensor *x = &s->facts->compute->tensors[p->stage];
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = p->leaf};
    const char *const inner[] = {
        p->sums[0], p->sums[1], p->rows[1], p->rows[2], x->axes[p->choice->vec].name,
        p->part,    p->fours};
    const char *outer[AT_FACTS_MAX_AXES];
    int n = 0, num_outer = 0;
    for (int k = 0; k < p->choice->row; k++) outer[num_outer++] = x->axes[k].name;
    outer[num_outer++] = p->rows[0];
    for (int i = 0; i < num_outer; i++) e.names[n++] = outer[i];
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (k != p->choice->fours) e.names[n++] = x->axes[k].name;
    for (int i = 0; i < 7; i++) e.names[n++] = inner[i];
    AT_TRY(sketch_step(s, &e));
    AT_TRY(sketch_put(s, AT_EDIT_NEST, p->reader, false, p->leaf, p->rows[0]));
    AT_TRY(sketch_share_out(s, p->leaf, outer, num_outer));
    for (int i = 1; i < 3; i++) AT_TRY(sketch_mark(s, p->leaf, p->rows[i], AT_ANN_UNROLL));
    AT_TRY(sketch_mark(s, p->leaf, p->sums[1], AT_ANN_UNROLL));
    return sketch_mark(s, p->leaf, p->fours, AT_ANN_DOT);
}

/* Lanes of both, and of what the reader takes for all rows a copy in the order of its lanes. */
static at_status make_lanes(parting *p) {
    sketch_state *s = p->s;
    const at_facts *f = s->facts;
    const int reader = f->of[p->stage].reader;
    const char *last = f->compute->tensors[p->stage].axes[p->choice->vec].name,
               *lanes[2][2] = {{last, p->part}, {p->rows[2], last}},
               *leaves[] = {p->leaf, p->reader};
    for (int i = 0; i < 2; i++) {
        AT_TRY(sketch_fuse(s, leaves[i], lanes[i], 2));
        AT_TRY(sketch_mark(s, leaves[i], lanes[i][0], AT_ANN_VEC));
    }
    for (int i = 0; i < f->of[reader].num_accesses; i++) {
        const at_access *x = &f->of[reader].access[i];
        if (!x->stride[p->choice->row] && x->stride[p->choice->vec])
            AT_TRY(sketch_copy_lanes(s, p->reader, reader, i));
    }
    return AT_OK;
}

at_status nest_make_parts(sketch_state *s, int stage, const nest_choice *c) {
    nest_choice choice = *c;
    parting p = {.s = s, .stage = stage, .choice = &choice};
    p.reader = s->facts->compute->tensors[s->facts->of[stage].reader].name;
    choice.fours = tile_fours_of(s, stage, c->vec);
    AT_TRY(part_sum(&p));
    AT_TRY(split_rows(&p));
    AT_TRY(order_loops(&p));
    AT_TRY(make_lanes(&p));
    *at_push(s->arena, &s->tiles) = (sketch_tile){.stage = stage,
                                                  .leaf = p.leaf,
                                                  .vec = choice.vec,
                                                  .row = choice.row,
                                                  .fours = choice.fours,
                                                  .inner = p.rows[0]};
    return AT_OK;
}
