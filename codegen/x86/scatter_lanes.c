/* codegen/x86/scatter_lanes.c: a scatter, lane by lane: the places as integers and the terms go to
 * the tile's own memory, from where each lane takes its own. */
#include "codegen/x86/encode.h"

/* Two vector registers that tiles with scatters leave free. */
static int spare(const at_x86 *x, int i) { return x->t->target->regs - 1 - i; }

/* A register of vectors, to or from slot + elements. */
static void move(at_x86 *x, at_tile_kind kind, int reg, int slot, int64_t off, int lanes) {
    at_tile_op op = {.kind = (uint8_t)kind,
                     .lanes = (uint8_t)lanes,
                     .slot = (int16_t)slot,
                     .off = off,
                     .dst = -1,
                     .a = -1,
                     .b = -1};
    if (kind == AT_T_STORE) op.a = (int16_t)reg;
    else op.dst = (int16_t)reg;
    x->set->move(x, &op, kind == AT_T_STORE);
}

/* A float: op joined with memory goes back there. term: a register of the tile; -1: the term is in
 * the spare one. */
static void join_float(at_x86 *x, const at_tile_op *op, at_x86_arg memory, int term) {
    static const at_x86_op vex[AT_T_KIND_COUNT] = {[AT_T_ADD] = AT_X86_VADDSS,
                                                   [AT_T_MUL] = AT_X86_VMULSS,
                                                   [AT_T_MIN] = AT_X86_VMINSS,
                                                   [AT_T_MAX] = AT_X86_VMAXSS},
                           legacy[AT_T_KIND_COUNT] = {[AT_T_ADD] = AT_X86_ADDSS,
                                                      [AT_T_MUL] = AT_X86_MULSS,
                                                      [AT_T_MIN] = AT_X86_MINSS,
                                                      [AT_T_MAX] = AT_X86_MAXSS};
    const at_x86_arg sum = at_vec(spare(x, 0), 16), k0 = at_mask_reg(0),
                     from = term < 0 ? sum : at_vec(term, 16);
    if (x->set->width == 64) {
        at_x86_arg args[] = {sum, k0, from, memory};
        at_asm_emit(&x->code, vex[op->by], 0, false, 4, args);
        EMIT(x, VMOVSS, memory, k0, sum);
    } else if (x->set->width == 32) {
        at_x86_arg args[] = {sum, from, memory};
        at_asm_emit(&x->code, vex[op->by], 0, false, 3, args);
        EMIT(x, VMOVSS, memory, sum);
    } else {
        at_x86_arg args[] = {sum, memory};
        if (term >= 0) EMIT(x, MOVAPS, sum, from);
        at_asm_emit(&x->code, legacy[op->by], 0, false, 2, args);
        EMIT(x, MOVSS, memory, sum);
    }
}

/* What is in memory at the place, joined with the term. */
static void join(at_x86 *x, const at_tile_op *op, int64_t off, int lanes, int term) {
    at_tile_op joined = at_tile_scatter_join(op, spare(x, 0), spare(x, 0), term);
    joined.lanes = (uint8_t)x->t->lanes;
    move(x, AT_T_LOAD, spare(x, 0), x->place_slot, off, lanes);
    x->set->vector(x, &joined);
    move(x, AT_T_STORE, spare(x, 0), x->place_slot, off, lanes);
}

/* place = a lane's, as integers without sign: one below 0 is a large one. */
static void load_place(at_x86 *x, at_type type, int list, int64_t lane) {
    const int bytes = at_type_bytes(type);
    const at_x86_arg into = at_gpr32(AT_X86_SCRATCH), m = at_mem(list, bytes * lane, bytes);
    if (bytes == 4) EMIT(x, MOV, into, m);
    else if (at_type_of(type)->least < 0) EMIT(x, MOVSX, into, m);
    else EMIT(x, MOVZX, into, m);
}

void at_x86_scatter(at_x86 *x, const at_tile_op *op) {
    const int frame = x->frame_slot, lanes = op->cyclic ? 1 : op->lanes, all = x->t->lanes;
    const int64_t places = 0, terms = all;
    const at_x86_arg place = at_gpr(AT_X86_SCRATCH), place32 = at_gpr32(AT_X86_SCRATCH);
    at_tile_op whole = {.kind = AT_T_TO_INT, .a = op->a, .b = -1, .slot = -1};
    whole.dst = (int16_t)spare(x, 0);
    whole.lanes = (uint8_t)all;
    if (op->a >= 0) {
        x->set->vector(x, &whole);
        move(x, AT_T_STORE, spare(x, 0), frame, places, all);
    }
    x->scratch_now = 0;
    const bool floats = op->by >= AT_T_ADD && op->by <= AT_T_MAX && !op->cyclic,
               same = op->plus || lanes == 1;
    if (!same) move(x, AT_T_STORE, op->b, frame, terms, all);
    const int base = at_x86_pointer(x, op->slot),
              list = op->a < 0 ? at_x86_pointer(x, op->base) : x->slot_reg[frame];
    const int64_t first = op->a < 0 ? op->trip : places;
    const at_type listed = op->a < 0 ? x->t->slot_type[op->base] : AT_S32;
    for (int i = 0; i < lanes; i++) {
        load_place(x, listed, list, first + i);
        int skip = -1;
        if (!at_tile_scatter_all(x->t, op)) {
            EMIT(x, CMP, place32, at_imm(op->most));
            skip = at_asm_jump(&x->code, AT_X86_JNBE, -1);
        }
        if (op->bump != 1) EMIT(x, IMUL, place, place, at_imm(op->bump));
        const int64_t off = op->off + (int64_t)op->times * i;
        const int own = spare(x, floats ? 0 : 1);
        if (!same) move(x, AT_T_LOAD, own, frame, terms + i, 1);
        if (floats) {
            join_float(x, op, at_mem_place(base, AT_X86_SCRATCH, 4 * off), same ? op->b : -1);
        } else {
            EMIT(x, LEA, at_gpr(x->slot_reg[x->place_slot]),
                 at_mem_elements(base, AT_X86_SCRATCH, 4));
            join(x, op, off, op->cyclic ? op->lanes : 1, same ? op->b : own);
        }
        if (skip >= 0) at_asm_patch(&x->code, skip);
    }
    x->scratch_now = 0;
}
