/* codegen/tile/tile_vector.c: can a loop of a tile be a vector? Every statement below must treat it
 * as one: stored with stride 1 or in registers, loaded with stride 1, or either with a small one
 * where the instructions have that, or the same for all; or added up to one element whose lanes are
 * partial results. */
#include "codegen/tile/tile_build.h"

#include <stdlib.h>

/* Do all registers of a tensor hold their element in all lanes? */
static bool in_all_lanes(const at_builder *b, int tensor) {
    for (int i = 0; i < b->keys.len; i++)
        if (b->keys.data[i].tensor == tensor && !b->vregs.data[b->keys.data[i].vreg].same)
            return false;
    return true;
}

/* Are lanes along a loop read from places that neighbouring entries of lists say, each by itself,
 * perhaps beside what each step of the loop moves? */
static bool is_gathered(const at_builder *b, const at_value *v, int sym) {
    const at_low *l = b->l;
    const at_mask loop = AT_BIT(sym);
    bool gathers = false;
    if (!l->target->gathers || v->may_miss || at_type_bytes(l->tensors[v->tensor].type) != 4 ||
        b->regs->local[v->tensor] || l->buffers[v->tensor].elements > INT32_MAX)
        return false;
    for (int i = 0; i < v->at->n; i++) {
        const at_term *t = &v->at->t[i];
        if (!(l->syms.data[t->sym].deps & loop)) continue;
        if (t->sym == sym && llabs(t->k) <= AT_TILE_MOST_STEP) continue;
        const int entry = t->sym < AT_MAX_LOOPS ? -1 : at_aff_entry(l, t->sym, b->inner);
        if (entry < 0 || t->k < 1 || t->k > INT32_MAX) return false;
        const at_sym *s = &l->syms.data[entry];
        if (at_aff_coef(s->of, sym) != 1 || (at_aff_opaque_deps(l, s->of) & loop)) return false;
        gathers = true;
    }
    return gathers;
}

/* Why a load is no vector along a loop; NULL: it is one, or the same element for all of it. */
static const char *load_is_scalar(at_builder *b, const at_ir *n, const at_value *v, int sym) {
    at_arena *a = b->l->arena;
    const char *name = b->l->tensors[v->tensor].name;
    int64_t k = at_aff_coef(v->at, sym);
    int digit = at_aff_digit(b->l, v->at, sym);
    if (digit >= 0 && !b->regs->local[v->tensor] &&
        at_type_bytes(b->l->tensors[v->tensor].type) == 4 &&
        at_lanes_spread(b->l, k, at_aff_coef(v->at, digit), digit))
        return NULL;
    if (is_gathered(b, v, sym)) return NULL;
    if (at_aff_opaque_deps(b->l, v->at) & AT_BIT(sym))
        return at_format(a, "@%s reads %s at places that do not follow each other", n->stmt.label,
                         name);
    if (b->regs->local[v->tensor] && (k || in_all_lanes(b, v->tensor))) return NULL;
    if (b->regs->local[v->tensor])
        return at_format(a, "@%s reads one element of %s, which stays in registers, in all of it",
                         n->stmt.label, name);
    const at_type type = b->l->tensors[v->tensor].type;
    const bool picks = at_target_picks(b->l->target, at_type_bytes(type), k);
    return k == 0 || k == 1 || picks ? NULL
                                     : at_format(a, "@%s reads %s %lld elements apart",
                                                 n->stmt.label, name, (long long)k);
}

static const char *value_is_scalar(at_builder *b, const at_ir *n, const at_value *v, int sym) {
    const char *why = v->op == AT_V_LOAD ? load_is_scalar(b, n, v, sym) : NULL;
    if (!why && v->a) why = value_is_scalar(b, n, v->a, sym);
    return why || !v->b ? why : value_is_scalar(b, n, v->b, sym);
}

static const char *statement_is_scalar(at_builder *b, const at_ir *n, int sym) {
    at_arena *a = b->l->arena;
    int64_t k = at_aff_coef(n->stmt.at, sym);
    int t = n->stmt.tensor;
    if (n->stmt.num_places) return value_is_scalar(b, n, n->stmt.val, sym);
    bool terms = n->stmt.add && (t == b->trying || (b->open[t].until && b->open[t].across));
    if (k == 0 && !terms)
        return at_format(a, "@%s %s", n->stmt.label,
                         n->stmt.add ? "adds all of it up to one element"
                                     : "writes one element in all of it");
    const bool is_narrow = at_type_bytes(b->l->tensors[t].type) != 4;
    bool spread = k > 1 && k <= b->l->target->most_stored_step && !n->stmt.add && !is_narrow;
    if (k && k != 1 && !spread && !b->regs->local[t])
        return at_format(a, "@%s writes elements %lld apart", n->stmt.label, (long long)k);
    return value_is_scalar(b, n, n->stmt.val, sym);
}

/* The sums of dot products lie side by side along the lanes, as those of other products do. */
static const char *dot_is_scalar(const at_builder *b, const at_ir *n, int sym) {
    const int64_t k = at_aff_coef(n->stmt.at, sym);
    return k == 1 || b->regs->local[n->stmt.tensor]
               ? NULL
               : at_format(b->l->arena, "@%s writes elements %lld apart", n->stmt.label,
                           (long long)k);
}

static const char *is_scalar(at_builder *b, const at_ir *list, int sym) {
    for (; list; list = list->next) {
        const char *why = NULL;
        if (list->kind == AT_IR_LOOP && !at_loop_is_unrolled(list))
            why = at_format(b->l->arena, "%s, inside of it, is not unrolled",
                            b->l->syms.data[list->loop.sym].name);
        else if (list->kind == AT_IR_LOOP && list->loop.ann == AT_ANN_DOT &&
                 !at_build_not_dot(b, list, sym))
            why = dot_is_scalar(b, list->child, sym);
        else if (list->kind == AT_IR_LOOP) why = is_scalar(b, list->child, sym);
        else if (list->kind == AT_IR_STMT) why = statement_is_scalar(b, list, sym);
        if (why) return why;
    }
    return NULL;
}

bool at_build_has_parts(const at_builder *b, const at_ir *n) {
    const at_target *t = b->l->target;
    const at_ir *in = n->child;
    if (n->loop.ann != AT_ANN_VEC || at_loop_is_fixed(n) || t->lanes == 1 || t->is_double ||
        b->vec_sym >= 0 || !in || in->next || in->kind != AT_IR_STMT)
        return false;
    return at_is_counted_copy(b->l, n, b->regs) || at_is_counted_sum(b->l, n, b->regs);
}

const char *at_build_not_vector(at_builder *b, const at_ir *n) {
    return is_scalar(b, n->child, n->loop.sym);
}
