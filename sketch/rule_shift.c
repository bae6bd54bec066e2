/* sketch/rule_shift.c: a sum of products of two s8, or of two u8, becomes one of dot products,
 * which are of one of each: one operand is moved by 128, a weight while it is packed, another
 * tensor as a whole, and 128 times the sums of the other operand make up for it; sums of weights
 * are packed.
 *
 *     acc[y, x] = sum(k) a[y, k] * w[x, k]    ->
 *         a_u8[y, k] = a[y, k] + 128;  w_sums[x] = sum(k) w[x, k]
 *         acc_dots[y, x] = sum(k) a_u8[y, k] * w[x, k];  acc = acc_dots[y, x] - 128*w_sums[x] */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

/* The operand that is moved: of s8 one that is no weight, so that sums are of a weight; of u8 a
 * weight, so that moving it takes nothing. */
static int moved_of(const sketch_state *s, const at_expr *product) {
    const at_compute *c = s->compute;
    const int x = product->arg[0]->ref, y = product->arg[1]->ref;
    const bool wants_weight = c->tensors[x].type == AT_U8;
    if (x == y) return -1;
    return sketch_is_weight(s, x) == wants_weight ? x : y;
}

static bool is_known(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    return f->is_stage && !f->is_written && !f->is_kept && !f->is_dissolved && !t->cycle &&
           tile_terms_of(s, stage) >= TILE_FOURS && tile_terms_of(s, stage) <= SHIFT_MOST_TERMS;
}

/* false: it makes no dot products of them. */
static bool shift(sketch_state *s, int stage, const at_facts_given *given) {
    const at_compute *c = s->compute;
    const at_tensor *t = &c->tensors[stage];
    if (!tile_sums_bytes(c, t) || !is_known(s, stage)) return false;
    const int moved = moved_of(s, t->body);
    if (moved < 0 || c->tensors[t->body->arg[0]->ref].type != c->tensors[t->body->arg[1]->ref].type)
        return false;
    const int other = t->body->arg[t->body->arg[0]->ref == moved]->ref;
    const char *from = c->tensors[moved].name;
    const at_edit e = {
        .kind = AT_EDIT_SHIFT,
        .stage = t->name,
        .other = from,
        .names = {
            sketch_fresh(
                s, at_format(s->arena, "%s_%s", from,
                             at_type_of(c->tensors[moved].type == AT_U8 ? AT_S8 : AT_U8)->name)),
            sketch_fresh(s, at_format(s->arena, "%s_sums", c->tensors[other].name)),
            sketch_fresh(s, at_format(s->arena, "%s_dots", t->name))}};
    at_error why;
    sketch_state *b = sketch_branch(s, "");
    if (sketch_is_weight(s, moved)) *at_push(s->arena, &b->operands) = e.names[0];
    else *at_push(s->arena, &b->kept) = e.names[0];
    if (sketch_step(b, &e, &why) != AT_OK || sketch_look_again(b, given, &why) != AT_OK)
        return false;
    const int dots = at_compute_find(b->compute, e.names[2]), vec = tile_vector_of(b, dots);
    if (vec < 0 || tile_fours_of(sketch_branch(b, ""), dots, vec) < 0) return false;
    *s = *b;
    return true;
}

void sketch_shift(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++)
        if (shift(s, t, given)) t += 3; /* stages before it */
}
