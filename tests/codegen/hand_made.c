#include "tests/codegen/hand_made.h"

maker start_tile(at_arena *a, const at_target *target, int num_slots, int num_trips) {
    maker m = {.arena = a};
    m.t = (at_tile){.name = "hand_made",
                    .base_name = "hand_made",
                    .target = target,
                    .lanes = target->lanes,
                    .num_regs = target->regs,
                    .num_slots = num_slots,
                    .num_trips = num_trips};
    m.t.slot_name = AT_NEW_ARRAY(a, const char *, num_slots + 1);
    m.t.slot_type = AT_NEW_ARRAY(a, at_type, num_slots + 1);
    m.t.slot_written = AT_NEW_ARRAY(a, bool, num_slots + 1);
    for (int s = 0; s <= num_slots; s++) m.t.slot_name[s] = "x", m.t.slot_written[s] = true;
    return m;
}

at_tile_op *add_op(maker *m, int kind) {
    at_tile_op *op = at_push(m->arena, &m->ops);
    *op = (at_tile_op){
        .kind = (uint8_t)kind, .dst = -1, .a = -1, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return op;
}

void add_list(maker *m) {
    int list = m->t.num_slots - 2;
    m->t.num_slots--;
    m->t.num_pointers = 1;
    m->t.slot_type[list] = AT_S32;
    m->t.slot_written[list] = m->t.slot_written[list + 1] = false;
}

at_tile_op *add_index(maker *m, int base, int64_t off, int64_t stride) {
    at_tile_op *op = add_op(m, AT_T_INDEX);
    op->dst = (int16_t)m->t.num_slots;
    op->slot = (int16_t)(m->t.num_slots - 1);
    op->base = (int16_t)base;
    op->off = off;
    op->bump = stride;
    op->times = op->by = 1;
    op->most = (1 << 30) - 1;
    return op;
}

void add_digit(maker *m, int64_t stride, int times, int plus, int by) {
    const at_tile_op first = m->ops.data[m->ops.len - 1];
    at_tile_op *op = at_push(m->arena, &m->ops);
    *op = first;
    op->base = op->dst;
    op->bump = stride;
    op->times = times;
    op->plus = plus;
    op->by = by;
}

void add_loop(maker *m, int64_t trip, int trip_arg) {
    at_tile_op *op = add_op(m, AT_T_LOOP);
    op->trip = trip;
    op->trip_arg = (int16_t)trip_arg;
    op->name = "i";
}

void add_bump(maker *m, int slot, int64_t by, int trip_arg) {
    at_tile_op *op = add_op(m, AT_T_BUMP);
    op->slot = (int16_t)slot;
    op->bump = by;
    op->trip_arg = (int16_t)trip_arg;
}

at_tile_op *add_move(maker *m, int kind, int reg, int slot, int64_t off, int lanes) {
    at_tile_op *op = add_op(m, kind);
    *(kind == AT_T_STORE ? &op->a : &op->dst) = (int16_t)reg;
    op->slot = (int16_t)slot;
    op->off = off;
    op->lanes = (uint8_t)lanes;
    return op;
}

at_tile_op *add_arithmetic(maker *m, int kind, int dst, int a, int b) {
    at_tile_op *op = add_op(m, kind);
    op->dst = (int16_t)dst;
    op->a = (int16_t)a;
    op->b = (int16_t)b;
    op->lanes = (uint8_t)m->t.lanes;
    return op;
}

at_tile *finish(maker *m) {
    m->t.ops = m->ops.data;
    m->t.num_ops = m->ops.len;
    return &m->t;
}
