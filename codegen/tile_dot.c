/* codegen/tile_dot.c: four products of bytes that are added to a lane at once: the terms of a sum
 * along a loop that is marked so. Both operands lie side by side along it, one of them without
 * sign, the other one with it. */
#include "codegen/tile_build.h"

enum { FOURS = 4 };

static const char *not_operand(const at_builder *b, const at_value *v, int loop, int sym) {
    const at_low *l = b->l;
    const char *name = l->tensors[v->tensor].name;
    if (b->regs->local[v->tensor] || v->may_miss)
        return at_format(l->arena, "%s is not read from memory", name);
    if (at_aff_coef(v->at, loop) != 1 || (at_aff_opaque_deps(l, v->at) & AT_BIT(loop)))
        return at_format(l->arena, "terms of %s do not lie side by side", name);
    if (sym < 0) return NULL;
    const int64_t k = at_aff_coef(v->at, sym);
    if ((k && k != FOURS) || (at_aff_opaque_deps(l, v->at) & AT_BIT(sym)))
        return at_format(l->arena, "lanes read %s %lld elements apart, and not 4", name,
                         (long long)k);
    return NULL;
}

static bool is_pair(at_type x, at_type y) {
    return (x == AT_U8 && y == AT_S8) || (x == AT_S8 && y == AT_U8);
}

const char *at_build_not_dot(const at_builder *b, const at_ir *loop, int sym) {
    const at_low *l = b->l;
    const at_ir *n = loop->child;
    if (!l->target->dots) return "the instructions have no dot products";
    if (!at_loop_is_fixed(loop) || at_loop_trips(loop) != FOURS) return "it does not run 4 times";
    if (!n || n->next || n->kind != AT_IR_STMT || !n->stmt.add ||
        n->stmt.reduction != AT_REDUCE_SUM || l->tensors[n->stmt.tensor].type != AT_S32)
        return "no sum of s32 stands in it alone";
    const at_value *v = n->stmt.val;
    if (v->op != AT_V_MUL || v->a->op != AT_V_LOAD || v->b->op != AT_V_LOAD ||
        !is_pair(l->tensors[v->a->tensor].type, l->tensors[v->b->tensor].type))
        return "its terms are no products of u8 and s8";
    if (at_aff_coef(n->stmt.at, loop->loop.sym)) return "it is no loop of terms";
    const char *why = not_operand(b, v->a, loop->loop.sym, sym);
    return why ? why : not_operand(b, v->b, loop->loop.sym, sym);
}

static int operand(at_builder *b, const at_value *v) {
    at_tile_place p = at_build_locate_load(b, v);
    const int lanes = at_build_lanes(b);
    const bool all = p.lane == 0 && (lanes > 1 || b->all_lanes);
    const at_tile_vreg load = {.load = all ? AT_T_BCAST : AT_T_LOAD,
                               .lanes = (uint8_t)(all ? 1 : lanes),
                               .same = all,
                               .fours = true,
                               .slot = (int16_t)at_build_slot_of(b, &p),
                               .off = p.off};
    return at_build_load(b, load);
}

void at_build_dot(at_builder *b, int acc, const at_value *product) {
    const bool first = b->l->tensors[product->a->tensor].type == AT_U8;
    const int x = operand(b, first ? product->a : product->b),
              y = operand(b, first ? product->b : product->a);
    at_build_operation(b, AT_T_DOT, acc, x, y);
    b->ops.data[b->ops.len - 1].fours = true;
}

void at_build_note_undotted(at_builder *b, const at_ir *sum) {
    const at_low *l = b->l;
    const at_value *v = sum->stmt.val;
    if (!l->target->dots || !v->whole || v->op != AT_V_MUL || v->a->op != AT_V_LOAD ||
        v->b->op != AT_V_LOAD)
        return;
    const at_type x = l->tensors[v->a->tensor].type, y = l->tensors[v->b->tensor].type;
    if (at_type_bytes(x) != 1 || at_type_bytes(y) != 1) return;
    *at_push(l->arena, &b->notes) = at_format(
        l->arena, "@%s adds products of bytes one by one: %s", sum->stmt.label,
        is_pair(x, y) ? "no loop of four terms is marked dot" : "dot products are of u8 and s8");
}
