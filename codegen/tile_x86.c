/* codegen/tile_x86.c: a tile program as machine code: an ordinary System V function, position
 * independent.
 *
 * Slots and the pointers made of them stay in integer registers, loop counters too as far as there
 * are any (inner loops first); passed trip counts lie on the stack and are read when a loop is
 * entered or left. No stack access and no jump but the loop's own in an inner loop. */
#include "codegen/tile.h"
#include "codegen/x86_asm.h"

#include <string.h>

#define MAX_NEST 16
#define SCRATCH AT_RAX
#define SCRATCH_VEC 15 /* sse2, avx2: kept out of allocation by tile_isa.c */

typedef struct {
    at_asm code;
    const at_tile *t;
    at_isa isa;
    int width; /* bytes of a register */
    int slot_reg[AT_TILE_MAX_SLOTS];
    int trip_home[AT_TILE_MAX_TRIPS]; /* offset from rsp */
    int counter_reg[MAX_NEST];        /* by depth; -1: on the stack */
    int counter_home[MAX_NEST];
    int mask_of[17];     /* avx512: k register for n lanes, 0 none */
    int mask_now;        /* avx2: lanes the mask in SCRATCH_VEC is for, 0 none */
    int mask_patch[256]; /* avx2: where displacements to the mask table stand, and for how many
                            lanes */
    int mask_lanes[256];
    int num_patches;
    int product_reg;         /* for AT_T_INDEX; -1: none is left */
    int saved[6], num_saved; /* callee-saved registers in use */
} x86;

#define EMIT(x, op, ...)                                                                           \
    at_asm_emit(&(x)->code, AT_X86_##op, 0, false,                                                 \
                sizeof((at_x86_arg[]){__VA_ARGS__}) / sizeof(at_x86_arg),                          \
                (at_x86_arg[]){__VA_ARGS__})

/* ---- integer side ---------------------------------------------------------------------------- */

static const int argument_reg[6] = {AT_RDI, AT_RSI, AT_RDX, AT_RCX, AT_R8, AT_R8 + 1};

static int nest_depth(const at_tile *t) {
    int depth = 0, most = 0;
    for (int i = 0; i < t->num_ops; i++) {
        depth += (t->ops[i].kind == AT_T_LOOP) - (t->ops[i].kind == AT_T_END);
        if (depth > most) most = depth;
    }
    return most;
}

/* The next free register, callee-saved ones last; -1: none. */
static int take_register(x86 *x, bool *used) {
    static const int order[] = {10,     11,     AT_R8 + 1, AT_R8, AT_RCX, AT_RDX, AT_RSI,
                                AT_RDI, AT_RBX, AT_RBP,    12,    13,     14,     15};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        int r = order[i];
        if (used[r]) continue;
        used[r] = true;
        if (r == AT_RBX || r == AT_RBP || r >= 12) x->saved[x->num_saved++] = r;
        return r;
    }
    return -1;
}

/* Is a pointer made of several digits of an entry? */
static bool has_digits(const at_tile *t) {
    for (int i = 0; i < t->num_ops; i++)
        if (t->ops[i].kind == AT_T_INDEX && t->ops[i].base == t->ops[i].dst) return true;
    return false;
}

/* Decides where everything lives. Returns the bytes of the frame: trip counts that come in
 * registers, counters that found none. */
static int assign_homes(x86 *x) {
    const at_tile *t = x->t;
    bool used[16] = {false};
    int frame = 0;
    used[SCRATCH] = used[AT_RSP] = true;
    for (int i = 0; i < t->num_slots && i < 6; i++) used[x->slot_reg[i] = argument_reg[i]] = true;
    for (int i = t->num_slots < 6 ? t->num_slots : 6; i < t->num_slots + t->num_pointers; i++)
        x->slot_reg[i] = take_register(x, used);
    for (int j = 0; j < t->num_trips; j++)
        if (t->num_slots + j < 6) x->trip_home[j] = frame, frame += 8;
    for (int d = nest_depth(t) - 1; d >= 0; d--) {
        x->counter_reg[d] = take_register(x, used);
        if (x->counter_reg[d] < 0) x->counter_home[d] = frame, frame += 8;
    }
    x->product_reg = has_digits(t) ? take_register(x, used) : -1;
    return frame;
}

static void prologue(x86 *x, int frame) {
    const at_tile *t = x->t;
    for (int i = 0; i < x->num_saved; i++) EMIT(x, PUSH, at_gpr(x->saved[i]));
    if (frame) EMIT(x, SUB, at_gpr(AT_RSP), at_imm(frame));
    int arguments = frame + 8 * x->num_saved + 8; /* first argument on the stack, from rsp */
    for (int i = 0; i < t->num_slots + t->num_trips; i++) {
        int trip = i - t->num_slots;
        if (i < 6 && trip >= 0)
            EMIT(x, MOV, at_mem(AT_RSP, x->trip_home[trip], 8), at_gpr(argument_reg[i]));
        if (i >= 6 && trip >= 0) x->trip_home[trip] = arguments + 8 * (i - 6);
    }
    for (int i = 6; i < t->num_slots; i++) /* after the trip counts left their registers */
        EMIT(x, MOV, at_gpr(x->slot_reg[i]), at_mem(AT_RSP, arguments + 8 * (i - 6), 8));
}

static void epilogue(x86 *x, int frame) {
    if (x->isa >= AT_ISA_AVX2) EMIT(x, VZEROUPPER);
    if (frame) EMIT(x, ADD, at_gpr(AT_RSP), at_imm(frame));
    for (int i = x->num_saved - 1; i >= 0; i--) EMIT(x, POP, at_gpr(x->saved[i]));
    EMIT(x, RET);
}

typedef struct {
    int head;    /* position of the first instruction of the body */
    int skip_at; /* jump over a loop that may run no time; -1 */
} nest;

static at_x86_arg counter(const x86 *x, int depth) {
    return x->counter_reg[depth] >= 0 ? at_gpr(x->counter_reg[depth])
                                      : at_mem(AT_RSP, x->counter_home[depth], 8);
}

static bool is_innermost(const at_tile *t, int i) {
    while (t->ops[++i].kind != AT_T_END)
        if (t->ops[i].kind == AT_T_LOOP) return false;
    return true;
}

static void loop(x86 *x, int i, int depth, nest *n) {
    const at_tile_op *op = &x->t->ops[i];
    n->skip_at = -1;
    if (op->trip_arg < 0) EMIT(x, MOV, counter(x, depth), at_imm(op->trip));
    else {
        EMIT(x, MOV, at_gpr(SCRATCH), at_mem(AT_RSP, x->trip_home[op->trip_arg], 8));
        EMIT(x, TEST, at_gpr(SCRATCH), at_gpr(SCRATCH));
        n->skip_at = at_asm_jump(&x->code, AT_X86_JLE, -1);
        EMIT(x, MOV, counter(x, depth), at_gpr(SCRATCH));
    }
    x->mask_now = 0;
    if (is_innermost(x->t, i)) at_asm_align(&x->code, 32);
    n->head = x->code.len;
}

static void end(x86 *x, int depth, const nest *n) {
    EMIT(x, SUB, counter(x, depth), at_imm(1));
    at_asm_jump(&x->code, AT_X86_JNZ, n->head);
    if (n->skip_at >= 0) at_asm_patch(&x->code, n->skip_at);
    x->mask_now = 0;
}

static void bump(x86 *x, const at_tile_op *op) {
    int r = x->slot_reg[op->slot];
    int64_t bytes = op->bump * 4;
    if (op->trip_arg >= 0) {
        EMIT(x, MOV, at_gpr(SCRATCH), at_mem(AT_RSP, x->trip_home[op->trip_arg], 8));
        EMIT(x, IMUL, at_gpr(SCRATCH), at_gpr(SCRATCH), at_imm(bytes));
        EMIT(x, ADD, at_gpr(r), at_gpr(SCRATCH));
    } else if (bytes >= INT32_MIN && bytes <= INT32_MAX) EMIT(x, ADD, at_gpr(r), at_imm(bytes));
    else {
        EMIT(x, MOV, at_gpr(SCRATCH), at_imm(bytes));
        EMIT(x, ADD, at_gpr(r), at_gpr(SCRATCH));
    }
}

/* rax = floor(rax / by), rax being from 0 to most < 2^30: what is a power of two is shifted out,
 * the rest is multiplied by 2^shift / rest, rounded up, where that is exact. */
static void divide(x86 *x, int32_t by, int32_t most) {
    at_x86_arg number = at_gpr(SCRATCH);
    int power = 0, shift = 0;
    while (by % 2 == 0) by /= 2, most /= 2, power++;
    if (power) EMIT(x, SHR, number, at_imm(power));
    if (by == 1) return;
    int64_t factor, over;
    do {
        factor = (((int64_t)1 << ++shift) + by - 1) / by;
        over = factor * by - ((int64_t)1 << shift);
    } while (over * most >= (int64_t)1 << shift);
    EMIT(x, IMUL, number, number, at_imm(factor));
    EMIT(x, SHR, number, at_imm(shift));
}

/* Is the quotient that the operation before left in rax one that this one can go on from? */
static bool goes_on(const x86 *x, const at_tile_op *op) {
    const at_tile_op *last = op - 1;
    return op > x->t->ops && last->kind == AT_T_INDEX && last->dst == op->dst &&
           last->dst == op->base && last->slot == op->slot && last->off == op->off &&
           last->times == op->times && last->plus == op->plus && op->by % last->by == 0 &&
           (last->bump == 1 || x->product_reg >= 0);
}

static void index_entry(x86 *x, const at_tile_op *op) {
    at_x86_arg entry = at_gpr(SCRATCH);
    int digit = op->bump == 1 || x->product_reg < 0 ? SCRATCH : x->product_reg;
    if (goes_on(x, op)) {
        divide(x, op->by / op[-1].by, op->most / op[-1].by);
    } else {
        EMIT(x, MOVSXD, entry, at_mem(x->slot_reg[op->slot], op->off * 4, 4));
        if (op->times != 1) EMIT(x, IMUL, entry, entry, at_imm(op->times));
        if (op->plus) EMIT(x, ADD, entry, at_imm(op->plus));
        divide(x, op->by, op->most);
    }
    if (op->bump != 1) EMIT(x, IMUL, at_gpr(digit), entry, at_imm(op->bump));
    EMIT(x, LEA, at_gpr(x->slot_reg[op->dst]), at_mem_floats(x->slot_reg[op->base], digit));
}

/* ---- vector side ----------------------------------------------------------------------------- */

static at_x86_arg reg(const x86 *x, int r) { return at_vec(r, x->width); }

static at_x86_arg memory(const x86 *x, const at_tile_op *op, int bytes) {
    return at_mem(x->slot_reg[op->slot], op->off * 4, bytes);
}

/* Of the first four lanes, whatever the registers hold. */
static void zip(x86 *x, const at_tile_op *op) {
    static const at_x86_op two[] = {AT_X86_UNPCKLPS, AT_X86_UNPCKHPS, AT_X86_UNPCKLPD,
                                    AT_X86_UNPCKHPD},
                           three[] = {AT_X86_VUNPCKLPS, AT_X86_VUNPCKHPS, AT_X86_VUNPCKLPD,
                                      AT_X86_VUNPCKHPD};
    at_x86_arg d = at_vec(op->dst, 16), a = at_vec(op->a, 16), b = at_vec(op->b, 16),
               s = at_vec(SCRATCH_VEC, 16);
    int which = op->kind - AT_T_ZIP_LOW;
    if (x->isa == AT_ISA_AVX512) {
        at_x86_arg args[] = {d, at_mask_reg(0), a, b};
        at_asm_emit(&x->code, three[which], 0, false, 4, args);
    } else if (x->isa == AT_ISA_AVX2) {
        at_x86_arg args[] = {d, a, b};
        at_asm_emit(&x->code, three[which], 0, false, 3, args);
    } else {
        at_x86_arg args[] = {s, b};
        EMIT(x, MOVAPS, s, a);
        at_asm_emit(&x->code, two[which], 0, false, 2, args);
        EMIT(x, MOVAPS, d, s);
    }
}

/* avx512: everything with a mask operand, so that all 32 registers can be named. */
static void move_avx512(x86 *x, const at_tile_op *op, bool store) {
    int r = store ? op->a : op->dst, n = op->lanes;
    if (n == 1) {
        at_x86_arg v = at_vec(r, 16), m = memory(x, op, 4);
        if (store) EMIT(x, VMOVSS, m, at_mask_reg(0), v);
        else EMIT(x, VMOVSS, v, at_mask_reg(0), m);
        return;
    }
    bool whole = n == 4 || n == 8 || n == 16;
    int bytes = whole ? 4 * n : 64;
    at_x86_arg v = at_vec(r, bytes), m = memory(x, op, bytes),
               k = at_mask_reg(whole ? 0 : x->mask_of[n]);
    at_x86_arg store_args[] = {m, k, v}, load_args[] = {v, k, m};
    at_asm_emit(&x->code, AT_X86_VMOVUPS, 0, !store && !whole, 3, store ? store_args : load_args);
}

static void vector_avx512(x86 *x, const at_tile_op *op) {
    static const at_x86_op arithmetic[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = AT_X86_VFMADD231PS, [AT_T_ADD] = AT_X86_VADDPS, [AT_T_SUB] = AT_X86_VSUBPS,
        [AT_T_MUL] = AT_X86_VMULPS,      [AT_T_DIV] = AT_X86_VDIVPS, [AT_T_MIN] = AT_X86_VMINPS,
        [AT_T_MAX] = AT_X86_VMAXPS};
    at_x86_arg k0 = at_mask_reg(0);
    int32_t bits;
    switch (op->kind) {
    case AT_T_CONST:
        memcpy(&bits, &op->number, sizeof bits);
        if (!bits) EMIT(x, VPXORD, reg(x, op->dst), k0, reg(x, op->dst), reg(x, op->dst));
        else {
            EMIT(x, MOV, at_gpr32(SCRATCH), at_imm(bits));
            EMIT(x, VPBROADCASTD, reg(x, op->dst), k0, at_gpr32(SCRATCH));
        }
        return;
    case AT_T_LOAD: move_avx512(x, op, false); return;
    case AT_T_STORE: move_avx512(x, op, true); return;
    case AT_T_BCAST: EMIT(x, VBROADCASTSS, reg(x, op->dst), k0, memory(x, op, 4)); return;
    case AT_T_MOV: EMIT(x, VMOVAPS, reg(x, op->dst), k0, reg(x, op->a)); return;
    default: break;
    }
    at_x86_arg b =
        op->mem == AT_MEM_NONE ? reg(x, op->b) : memory(x, op, op->mem == AT_MEM_BCAST ? 4 : 64);
    at_x86_arg args[] = {reg(x, op->dst), k0, reg(x, op->a), b};
    at_asm_emit(&x->code, arithmetic[op->kind], op->mem == AT_MEM_BCAST ? 16 : 0, false, 4, args);
}

/* avx2: a mask in the scratch register for lanes that no plain move has. */
static void load_mask(x86 *x, int lanes) {
    if (x->mask_now == lanes) return;
    x->mask_now = lanes;
    EMIT(x, VMOVUPS, at_vec(SCRATCH_VEC, 32),
         at_mem(AT_RIP, 0x10000000, 32)); /* distance patched at the end */
    if (x->num_patches == 256) {
        x->code.bad = true;
        return;
    }
    x->mask_patch[x->num_patches] = x->code.len - 4;
    x->mask_lanes[x->num_patches++] = lanes;
}

static void move_avx2(x86 *x, const at_tile_op *op, bool store) {
    int n = op->lanes, bytes = n == 1 ? 4 : n == 4 ? 16 : 32;
    at_x86_arg v = at_vec(store ? op->a : op->dst, bytes == 32 ? 32 : 16), m = memory(x, op, bytes);
    if (n != 1 && n != 4 && n != 8) {
        load_mask(x, n);
        if (store) EMIT(x, VMASKMOVPS, m, at_vec(SCRATCH_VEC, 32), v);
        else EMIT(x, VMASKMOVPS, v, at_vec(SCRATCH_VEC, 32), m);
        return;
    }
    at_x86_arg store_args[] = {m, v}, load_args[] = {v, m};
    at_asm_emit(&x->code, n == 1 ? AT_X86_VMOVSS : AT_X86_VMOVUPS, 0, false, 2,
                store ? store_args : load_args);
}

static void vector_avx2(x86 *x, const at_tile_op *op) {
    static const at_x86_op arithmetic[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = AT_X86_VFMADD231PS, [AT_T_ADD] = AT_X86_VADDPS, [AT_T_SUB] = AT_X86_VSUBPS,
        [AT_T_MUL] = AT_X86_VMULPS,      [AT_T_DIV] = AT_X86_VDIVPS, [AT_T_MIN] = AT_X86_VMINPS,
        [AT_T_MAX] = AT_X86_VMAXPS};
    int32_t bits;
    switch (op->kind) {
    case AT_T_CONST:
        memcpy(&bits, &op->number, sizeof bits);
        if (!bits) EMIT(x, VXORPS, reg(x, op->dst), reg(x, op->dst), reg(x, op->dst));
        else {
            EMIT(x, MOV, at_gpr32(SCRATCH), at_imm(bits));
            EMIT(x, VMOVD, at_vec(op->dst, 16), at_gpr32(SCRATCH));
            EMIT(x, VBROADCASTSS, reg(x, op->dst), at_vec(op->dst, 16));
        }
        return;
    case AT_T_LOAD: move_avx2(x, op, false); return;
    case AT_T_STORE: move_avx2(x, op, true); return;
    case AT_T_BCAST: EMIT(x, VBROADCASTSS, reg(x, op->dst), memory(x, op, 4)); return;
    case AT_T_MOV: EMIT(x, VMOVAPS, reg(x, op->dst), reg(x, op->a)); return;
    default: break;
    }
    at_x86_arg b = op->mem == AT_MEM_NONE ? reg(x, op->b) : memory(x, op, 32);
    at_x86_arg args[] = {reg(x, op->dst), reg(x, op->a), b};
    at_asm_emit(&x->code, arithmetic[op->kind], 0, false, 3, args);
}

/* sse2, and scalar code in its lowest lane: two operands, the first is overwritten. */
static void move_sse2(x86 *x, const at_tile_op *op, bool store) {
    int n = op->lanes;
    at_x86_arg v = at_vec(store ? op->a : op->dst, 16), s = at_vec(SCRATCH_VEC, 16);
    at_x86_op how = n == 1 ? AT_X86_MOVSS : n == 4 ? AT_X86_MOVUPS : AT_X86_MOVLPS;
    at_x86_arg m = memory(x, op, n == 1 ? 4 : n == 4 ? 16 : 8);
    if (!store && (n == 2 || n == 3)) EMIT(x, XORPS, v, v); /* movlps keeps the upper half */
    at_x86_arg store_args[] = {m, v}, load_args[] = {v, m};
    at_asm_emit(&x->code, how, 0, false, 2, store ? store_args : load_args);
    if (n != 3) return;
    at_x86_arg third = m;
    third.value += 8;
    third.bytes = 4;
    if (store) {
        EMIT(x, MOVHLPS, s, v);
        EMIT(x, MOVSS, third, s);
    } else {
        EMIT(x, MOVSS, s, third);
        EMIT(x, MOVLHPS, v, s);
    }
}

static void arithmetic_sse2(x86 *x, const at_tile_op *op) {
    static const at_x86_op packed[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_X86_ADDPS, [AT_T_SUB] = AT_X86_SUBPS, [AT_T_MUL] = AT_X86_MULPS,
        [AT_T_DIV] = AT_X86_DIVPS, [AT_T_MIN] = AT_X86_MINPS, [AT_T_MAX] = AT_X86_MAXPS};
    static const at_x86_op single[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_X86_ADDSS, [AT_T_SUB] = AT_X86_SUBSS, [AT_T_MUL] = AT_X86_MULSS,
        [AT_T_DIV] = AT_X86_DIVSS, [AT_T_MIN] = AT_X86_MINSS, [AT_T_MAX] = AT_X86_MAXSS};
    const at_x86_op *with = x->isa == AT_ISA_SCALAR ? single : packed;
    at_x86_arg d = reg(x, op->dst), a = reg(x, op->a), s = at_vec(SCRATCH_VEC, 16);
    at_x86_arg b = op->mem ? memory(x, op, x->isa == AT_ISA_SCALAR ? 4 : 16) : reg(x, op->b);
    int kind = op->kind == AT_T_FMA ? AT_T_MUL : op->kind;
    if (op->kind != AT_T_FMA && op->dst == op->a) {
        at_x86_arg args[] = {d, b};
        at_asm_emit(&x->code, with[kind], 0, false, 2, args);
        return;
    }
    EMIT(x, MOVAPS, s, a);
    at_x86_arg args[] = {s, b};
    at_asm_emit(&x->code, with[kind], 0, false, 2, args);
    at_x86_arg sum[] = {d, s};
    at_asm_emit(&x->code, op->kind == AT_T_FMA ? with[AT_T_ADD] : AT_X86_MOVAPS, 0, false, 2, sum);
}

static void vector_sse2(x86 *x, const at_tile_op *op) {
    int32_t bits;
    switch (op->kind) {
    case AT_T_CONST:
        memcpy(&bits, &op->number, sizeof bits);
        if (!bits) EMIT(x, XORPS, reg(x, op->dst), reg(x, op->dst));
        else {
            EMIT(x, MOV, at_gpr32(SCRATCH), at_imm(bits));
            EMIT(x, MOVD, reg(x, op->dst), at_gpr32(SCRATCH));
            EMIT(x, SHUFPS, reg(x, op->dst), reg(x, op->dst), at_imm(0));
        }
        return;
    case AT_T_LOAD: move_sse2(x, op, false); return;
    case AT_T_STORE: move_sse2(x, op, true); return;
    case AT_T_BCAST:
        EMIT(x, MOVSS, reg(x, op->dst), memory(x, op, 4));
        EMIT(x, SHUFPS, reg(x, op->dst), reg(x, op->dst), at_imm(0));
        return;
    case AT_T_MOV: EMIT(x, MOVAPS, reg(x, op->dst), reg(x, op->a)); return;
    default: arithmetic_sse2(x, op);
    }
}

/* ---- the function ---------------------------------------------------------------------------- */

/* avx512: one mask register per number of lanes that is no whole register, set up at entry. */
static void set_masks(x86 *x) {
    int next = 1;
    for (int i = 0; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        int n = op->lanes;
        bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
        if (!moves || n == 1 || n == 4 || n == 8 || n == 16 || x->mask_of[n]) continue;
        if (next == 8) x->code.bad = true; /* seven widths of tail in one tile: does not occur */
        x->mask_of[n] = next & 7;
        EMIT(x, MOV, at_gpr32(SCRATCH), at_imm((1 << n) - 1));
        EMIT(x, KMOVW, at_mask_reg(next++ & 7), at_gpr32(SCRATCH));
    }
}

/* avx2: all masks are windows of one table behind the code. */
static void mask_table(x86 *x) {
    if (!x->num_patches) return;
    int32_t table[16];
    for (int i = 0; i < 16; i++) table[i] = i < 8 ? -1 : 0;
    at_asm_align(&x->code, 32);
    int at = x->code.len;
    at_asm_raw(&x->code, table, sizeof table);
    for (int i = 0; i < x->num_patches && !x->code.bad; i++) {
        int32_t distance = at + 4 * (8 - x->mask_lanes[i]) - (x->mask_patch[i] + 4);
        memcpy(x->code.code + x->mask_patch[i], &distance, 4);
    }
}

bool at_tile_encode(at_arena *arena, at_tile *t, at_isa isa) {
    x86 x = {.code = {.arena = arena},
             .t = t,
             .isa = isa,
             .width = isa == AT_ISA_AVX512 ? 64
                      : isa == AT_ISA_AVX2 ? 32
                                           : 16};
    nest nests[MAX_NEST];
    int depth = 0;
    if (nest_depth(t) > MAX_NEST) return false;
    int frame = assign_homes(&x);
    prologue(&x, frame);
    if (isa == AT_ISA_AVX512) set_masks(&x);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) loop(&x, i, depth, &nests[depth]), depth++;
        else if (op->kind == AT_T_END) depth--, end(&x, depth, &nests[depth]);
        else if (op->kind == AT_T_PREFETCH) EMIT(&x, PREFETCHT0, memory(&x, op, 1));
        else if (op->kind == AT_T_INDEX) index_entry(&x, op);
        else if (op->kind == AT_T_BUMP) bump(&x, op);
        else if (op->kind >= AT_T_ZIP_LOW) zip(&x, op);
        else if (isa == AT_ISA_AVX512) vector_avx512(&x, op);
        else if (isa == AT_ISA_AVX2) vector_avx2(&x, op);
        else vector_sse2(&x, op);
    }
    epilogue(&x, frame);
    mask_table(&x);
    t->code = x.code.code;
    t->code_bytes = x.code.len;
    return !x.code.bad;
}
