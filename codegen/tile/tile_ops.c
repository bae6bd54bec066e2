/* codegen/tile/tile_ops.c: operations and virtual registers of a tile under way. */
#include "codegen/tile/tile_build.h"

#include <string.h>

at_tile_op at_tile_on_registers(at_tile_kind kind, int dst, int a) {
    return (at_tile_op){.kind = (uint8_t)kind,
                        .dst = (int16_t)dst,
                        .a = (int16_t)a,
                        .b = -1,
                        .slot = -1,
                        .base = -1,
                        .trip_arg = -1};
}

int at_tile_operands(const at_tile_op *op, int out[3]) {
    const bool computes = op->kind >= AT_T_FMA;
    int n = 0;
    if ((at_tile_stores(op) || op->kind == AT_T_MOV || computes) && op->a >= 0) out[n++] = op->a;
    if (op->kind == AT_T_SCATTER || (computes && !op->mem && !at_tile_is_unary(op)))
        out[n++] = op->b;
    if (at_tile_updates(op)) out[n++] = op->dst;
    return n;
}

bool at_tile_reads(const at_tile_op *op, int r) {
    int of[3], n = at_tile_operands(op, of);
    while (n > 0 && of[n - 1] != r) n--;
    return n > 0;
}

at_tile_op *at_build_emit(at_builder *b, at_tile_kind kind) {
    at_tile_op *op = at_push(b->l->arena, &b->ops);
    *op = at_tile_on_registers(kind, -1, -1);
    return op;
}

void at_build_start_body(at_builder *b) {
    b->first_load = b->vregs.len;
    b->consts.len = 0;
    b->moved.len = 0;
    b->num_stored = 0;
    b->body++;
}

int at_build_vreg(at_builder *b, at_tile_vreg v) {
    if (b->vregs.len >= AT_TILE_MAX_VALUES) {
        b->failed = true;
        return 0;
    }
    *at_push(b->l->arena, &b->vregs) = v;
    return b->vregs.len - 1;
}

bool at_tile_same_load(const at_tile_vreg *v, const at_tile_vreg *w) {
    return w->load == v->load && w->lanes == v->lanes && w->slot == v->slot && w->off == v->off &&
           w->by == v->by && w->plus == v->plus && w->cyclic == v->cyclic &&
           w->grouped == v->grouped && w->times == v->times && w->fours == v->fours &&
           w->packed == v->packed && w->halves == v->halves && w->pooled == v->pooled &&
           memcmp(&w->number, &v->number, sizeof v->number) == 0;
}

at_tile_op at_tile_load_of(const at_tile_vreg *v, int into) {
    return (at_tile_op){.kind = v->load,
                        .lanes = v->lanes,
                        .slot = v->slot,
                        .off = v->off,
                        .by = v->by,
                        .plus = v->plus,
                        .cyclic = v->cyclic,
                        .grouped = v->grouped,
                        .times = v->times,
                        .fours = v->fours,
                        .packed = v->packed,
                        .halves = v->halves,
                        .number = v->number,
                        .mem = v->pooled && v->number != 0 ? AT_MEM_CONST : AT_MEM_NONE,
                        .dst = (int16_t)into,
                        .a = -1,
                        .b = -1,
                        .trip_arg = -1};
}

const bool *at_tile_changed(at_low *l, const at_tile_op *ops, int num_ops, const int *slot_tensor) {
    bool *stored = AT_NEW_ARRAY(l->arena, bool, l->num_tensors + 1);
    for (int i = 0; i < num_ops; i++)
        if (at_tile_stores(&ops[i])) stored[slot_tensor[ops[i].slot]] = true;
    return stored;
}

/* Shared within the straight-line body. */
int at_build_load(at_builder *b, at_tile_vreg v) {
    if (v.load == AT_T_CONST) {
        for (int i = 0; i < b->consts.len; i++)
            if (at_tile_same_load(&b->vregs.data[b->consts.data[i]], &v)) return b->consts.data[i];
        return *at_push(b->l->arena, &b->consts) = at_build_vreg(b, v);
    }
    const int fresh = b->first_fresh[b->slots[v.slot].tensor],
              first = fresh > b->first_load ? fresh : b->first_load;
    for (int i = b->loads.len - 1; i >= 0 && b->loads.data[i] >= first; i--)
        if (at_tile_same_load(&b->vregs.data[b->loads.data[i]], &v)) return b->loads.data[i];
    return *at_push(b->l->arena, &b->loads) = at_build_vreg(b, v);
}

double at_build_bits(const at_value *v) {
    return v->whole ? at_number_of_bits((uint32_t)(int32_t)v->number) : v->number;
}

int at_build_const(at_builder *b, double number) {
    return at_build_load(
        b, (at_tile_vreg){
               .load = AT_T_CONST, .number = number, .slot = -1, .pooled = true, .same = true});
}

int at_build_operation(at_builder *b, at_tile_kind kind, int dst, int x, int y) {
    int d = dst < 0 ? at_build_vreg(b, (at_tile_vreg){0}) : dst;
    at_tile_op *op = at_build_emit(b, kind);
    op->dst = (int16_t)d;
    op->a = (int16_t)x;
    op->b = (int16_t)y;
    return d;
}

int at_build_had(at_builder *b, at_tile_kind kind, int x, int y) {
    for (int i = b->ops.len - 1; i >= b->first_op && !b->regs->sparing; i--) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind != kind || op->a != x || op->b != y || b->vregs.data[op->dst].acc) continue;
        b->spends = true;
        return op->dst;
    }
    return -1;
}
