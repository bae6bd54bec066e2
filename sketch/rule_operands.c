/* sketch/rule_operands.c: what a sum calculates of weights and of index tensors' entries alone,
 * such as numbers of small integers, and what it reads of weights at products of indices becomes an
 * operand of its own before all other rules. It is packed as a weight is, and calculated then,
 * once:
 *
 *     y[m, n] = sum(k) x[m, k] * (w[n, k/2] % 16 - 8)    ->
 *         w_value[n, k] = w[n, k/2] % 16 - 8;  y[m, n] = sum(k) x[m, k] * w_value[n, k]
 *
 * Beside these sketches stand those that pack weights without entries one by one: what a tile
 * makes of them may take less than what packing inline does. */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

static bool reads_at_products(const at_expr *e) {
    bool any = false;
    for (int i = 0; i < e->nargs; i++)
        any |=
            (e->op == AT_X_INDEX && at_index_multiplies(e->arg[i])) || reads_at_products(e->arg[i]);
    return any;
}

static double elements_read(const sketch_state *s, const at_expr *e) {
    double n = e->op == AT_X_INDEX ? sketch_elements(s, e->ref) : 0;
    for (int i = 0; i < e->nargs; i++) n += elements_read(s, e->arg[i]);
    return n;
}

/* Does each sum that reads the stage have vectors, and read it so that it can be packed? */
static bool suits(const sketch_state *s, int stage) {
    bool any = false;
    for (int r = stage + 1; r < s->compute->num_tensors; r++) {
        const at_stage_facts *f = &s->facts->of[r];
        if (!f->is_stage || f->is_dissolved || !at_facts_reads(s->facts, r, stage)) continue;
        any = true;
        if (f->is_written || !s->compute->tensors[r].num_reduce || tile_vector_of(s, r) < 0)
            return false;
        for (int i = 0; i < f->num_accesses; i++)
            if (f->access[i].tensor == stage && !f->access[i].is_bare) return false;
    }
    return any;
}

/* A stage is an operand from now on; false: it would be too large, or reads outside of a tensor
 * where a condition of its reader's does not. */
static bool take(sketch_state *s, const char *stage, const at_facts_given *given) {
    at_error why;
    *at_push(s->arena, &s->operands) = stage;
    if (sketch_look_again(s, given, &why) != AT_OK) return false;
    int t = at_compute_find(s->compute, stage);
    const at_expr *body = s->compute->tensors[t].body;
    double most = OPERAND_MOST_PARTS * elements_read(s, body);
    if (reads_at_products(body) && most < OPERAND_MOST_OF_FEW) most = OPERAND_MOST_OF_FEW;
    return sketch_elements(s, t) <= most &&
           at_compute_check_reads(s->compute, given->values, NULL, NULL, &why) == AT_OK;
}

/* What a sum makes of weights by one of them; NULL: nothing. */
static sketch_state *with_part(const sketch_state *s, const char *sum, int tensor,
                               const at_facts_given *given) {
    const at_compute *c = s->compute;
    const char *from = c->tensors[tensor].name;
    at_edit e = {.kind = AT_EDIT_OPERAND, .stage = sum, .other = from};
    at_error why;
    const at_expr *operand =
        at_edit_operand_of(c, c->tensors[at_compute_find(c, sum)].body, tensor);
    bool has_to =
        operand && (at_expr_reads_role(c, operand, AT_ROLE_INDEX) || reads_at_products(operand));
    if (!operand || (s->keeps_weights && !has_to)) return NULL;
    sketch_state *b = sketch_branch(s, "");
    b->joins_weights |= !has_to;
    e.names[0] = sketch_fresh(s, at_format(s->arena, "%s_value", from));
    return sketch_step(b, &e, &why) == AT_OK && take(b, e.names[0], given) ? b : NULL;
}

/* All that a sum makes of weights; the state itself, where that does not suit it. */
static const sketch_state *with_parts(const sketch_state *s, const char *sum,
                                      const at_facts_given *given) {
    const sketch_state *all = s, *more;
    for (int k = 0; k < at_compute_find(all->compute, sum); k++)
        while ((more = with_part(all, sum, k, given)))
            all = more; /* which stands right before it */
    for (int i = s->operands.len; i < all->operands.len; i++)
        if (!suits(all, at_compute_find(all->compute, all->operands.data[i]))) return s;
    return all;
}

/* A packing stage that the computation has itself. */
static const sketch_state *with_stage(const sketch_state *s, int stage,
                                      const at_facts_given *given) {
    sketch_state *b = sketch_branch(s, "");
    return take(b, s->compute->tensors[stage].name, given) && suits(b, stage) ? b : s;
}

void sketch_find_operands(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const at_tensor *x = &s->compute->tensors[t];
        const at_stage_facts *f = &s->facts->of[t];
        bool is_own = x->is_packing && !f->is_operand &&
                      at_expr_reads_role(s->compute, x->body, AT_ROLE_INDEX);
        const sketch_state *with = s;
        if (f->is_written || f->is_kept) continue;
        if (is_own) with = with_stage(s, t, given);
        else if (f->is_stage && !f->is_dissolved && x->num_reduce)
            with = with_parts(s, x->name, given);
        t += with->compute->num_tensors - s->compute->num_tensors;
        if (with != s) *s = *with;
    }
}
