/* codegen/x86/encode.c: a tile program as machine code: an ordinary System V function, position
 * independent.
 *
 * Slots and the pointers made of them stay in integer registers, loop counters too as far as there
 * are any (inner loops first); passed trip counts lie on the stack and are read when a loop is
 * entered or left. No stack access and no jump but the loop's own in an inner loop, unless there
 * are more pointers than registers: then three registers hold the ones used last. */
#include "codegen/x86/encode.h"

#include <string.h>

/* ---- integer side ---------------------------------------------------------------------------- */

enum {
    MOST_BESIDE = 8, /* pointers in registers, where others lie in memory */
    LINE = 64        /* bytes of the cache's */
};

static const int argument_reg[6] = {AT_RDI, AT_RSI, AT_RDX, AT_RCX, AT_R8, AT_R8 + 1};

/* The next free register, callee-saved ones last; -1: none. */
static int take_register(at_x86 *x, bool *used) {
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

/* Pointers' registers; of those beyond, the home of one that is made inside. The bytes of these. */
static int assign_slots(at_x86 *x, bool *used) {
    const at_tile *t = x->t;
    const int all = at_tile_frame(t), in_registers = all > AT_TILE_MAX_SLOTS ? MOST_BESIDE : all;
    int frame = 0;
    for (int i = 0; i < t->num_slots && i < 6; i++) used[x->slot_reg[i] = argument_reg[i]] = true;
    for (int i = t->num_slots < 6 ? t->num_slots : 6; i < all; i++) {
        x->slot_reg[i] = i < in_registers ? take_register(x, used) : -1;
        if (i >= in_registers && i >= t->num_slots) x->slot_home[i] = frame, frame += 8;
    }
    for (int i = 0; i < AT_RELOADS; i++)
        x->reloads.of[i].reg = in_registers < all ? take_register(x, used) : -1;
    at_reloads_forget(&x->reloads);
    return frame;
}

/* Decides where everything lives. Returns the bytes of the frame: trip counts that come in
 * registers, counters that found none, and registers that are spilled. */
static int assign_homes(at_x86 *x) {
    const at_tile *t = x->t;
    bool used[16] = {false};
    used[AT_X86_SCRATCH] = used[AT_RSP] = true;
    int frame = assign_slots(x, used);
    if (at_tile_has_scatters(t)) {
        x->place_slot = at_tile_all_slots(t);
        x->frame_slot = x->place_slot + 1;
        x->slot_reg[x->place_slot] = take_register(x, used);
        x->slot_reg[x->frame_slot] = take_register(x, used);
        x->scatter_home = frame;
        frame += 2 * x->set->width + LINE;
    }
    for (int j = 0; j < t->num_trips; j++)
        if (t->num_slots + j < 6) x->trip_home[j] = frame, frame += 8;
    for (int d = at_tile_nest_depth(t) - 1; d >= 0; d--) {
        x->counter_reg[d] = take_register(x, used);
        if (x->counter_reg[d] < 0) x->counter_home[d] = frame, frame += 8;
    }
    x->product_reg = at_tile_has_digits(t) ? take_register(x, used) : -1;
    if (!t->num_spilled) return frame;
    const int pointer = take_register(x, used), own = at_tile_frame(t);
    x->spilled_home = frame;
    x->slot_reg[own] = pointer < 0 ? AT_RSP : pointer;
    x->slot_home[own] = pointer < 0 ? frame : 0;
    return frame + t->num_spilled * x->set->width + (pointer < 0 ? 0 : LINE);
}

/* A register that points into the frame, to where a line of the cache begins. */
static void point_to_line(at_x86 *x, int reg, int home) {
    EMIT(x, LEA, at_gpr(reg), at_mem(AT_RSP, home + LINE - 1, 8));
    EMIT(x, AND, at_gpr(reg), at_imm(-LINE));
}

static void prologue(at_x86 *x, int frame) {
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
    for (int i = 6; i < t->num_slots; i++) { /* after the trip counts left their registers */
        x->slot_home[i] = arguments + 8 * (i - 6);
        if (x->slot_reg[i] >= 0)
            EMIT(x, MOV, at_gpr(x->slot_reg[i]), at_mem(AT_RSP, x->slot_home[i], 8));
    }
    if (at_tile_has_scatters(t)) point_to_line(x, x->slot_reg[x->frame_slot], x->scatter_home);
    const int own = x->slot_reg[at_tile_frame(t)];
    if (t->num_spilled && own != AT_RSP) point_to_line(x, own, x->spilled_home);
}

/* A register for a slot's pointer; loaded: with what it is. */
static int pointer_register(at_x86 *x, int slot, bool loaded) {
    if (x->slot_reg[slot] >= 0) return x->slot_reg[slot];
    bool is_there;
    const int reg = at_reloads_for(&x->reloads, slot, &is_there);
    if (loaded && !is_there) EMIT(x, MOV, at_gpr(reg), at_mem(AT_RSP, x->slot_home[slot], 8));
    return reg;
}

int at_x86_pointer(at_x86 *x, int slot) { return pointer_register(x, slot, true); }

at_x86_arg at_x86_memory(at_x86 *x, const at_tile_op *op, int bytes) {
    const bool own = x->t->num_spilled && op->slot == at_tile_frame(x->t);
    const int64_t at = op->off * at_type_bytes(x->t->slot_type[op->slot]);
    return at_mem(at_x86_pointer(x, op->slot), at + (own ? x->slot_home[op->slot] : 0), bytes);
}

at_x86_arg at_x86_narrow_element(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg to = at_gpr32(AT_X86_SCRATCH),
                     m = at_x86_memory(x, op, (int)at_type_bytes(x->t->slot_type[op->slot]));
    if (at_x86_has_sign(x, op)) EMIT(x, MOVSX, to, m);
    else EMIT(x, MOVZX, to, m);
    return to;
}

const at_x86_op at_x86_arithmetic[AT_T_KIND_COUNT] = {
    [AT_T_FMA] = AT_X86_VFMADD231PS, [AT_T_FNMA] = AT_X86_VFNMADD231PS,
    [AT_T_FMS] = AT_X86_VFMSUB231PS, [AT_T_ADD] = AT_X86_VADDPS,
    [AT_T_SUB] = AT_X86_VSUBPS,      [AT_T_MUL] = AT_X86_VMULPS,
    [AT_T_DIV] = AT_X86_VDIVPS,      [AT_T_MIN] = AT_X86_VMINPS,
    [AT_T_MAX] = AT_X86_VMAXPS,      [AT_T_MUL_ADD] = AT_X86_VFMADD213PS,
    [AT_T_AND] = AT_X86_VANDPS,      [AT_T_OR] = AT_X86_VORPS,
    [AT_T_INT_ADD] = AT_X86_VPADDD,  [AT_T_INT_SUB] = AT_X86_VPSUBD,
    [AT_T_INT_MUL] = AT_X86_VPMULLD, [AT_T_INT_MIN] = AT_X86_VPMINSD,
    [AT_T_INT_MAX] = AT_X86_VPMAXSD};

static void epilogue(at_x86 *x, int frame) {
    if (x->set->clears_upper) EMIT(x, VZEROUPPER);
    if (frame) EMIT(x, ADD, at_gpr(AT_RSP), at_imm(frame));
    for (int i = x->num_saved - 1; i >= 0; i--) EMIT(x, POP, at_gpr(x->saved[i]));
    EMIT(x, RET);
}

typedef struct {
    int head;    /* position of the first instruction of the body */
    int skip_at; /* jump over a loop that may run no time; -1 */
} nest;

static at_x86_arg counter(const at_x86 *x, int depth) {
    return x->counter_reg[depth] >= 0 ? at_gpr(x->counter_reg[depth])
                                      : at_mem(AT_RSP, x->counter_home[depth], 8);
}

static void loop(at_x86 *x, int i, int depth, nest *n) {
    const at_tile_op *op = &x->t->ops[i];
    n->skip_at = -1;
    if (op->trip_arg < 0) EMIT(x, MOV, counter(x, depth), at_imm(op->trip));
    else {
        EMIT(x, MOV, at_gpr(AT_X86_SCRATCH), at_mem(AT_RSP, x->trip_home[op->trip_arg], 8));
        int power = 0;
        while (op->by >> power > 1) power++;
        if (power) EMIT(x, SHR, at_gpr(AT_X86_SCRATCH), at_imm(power));
        if (op->most) EMIT(x, AND, at_gpr(AT_X86_SCRATCH), at_imm(op->most - 1));
        EMIT(x, TEST, at_gpr(AT_X86_SCRATCH), at_gpr(AT_X86_SCRATCH));
        n->skip_at = at_asm_jump(&x->code, AT_X86_JLE, -1);
        EMIT(x, MOV, counter(x, depth), at_gpr(AT_X86_SCRATCH));
    }
    x->scratch_now = 0;
    at_reloads_forget(&x->reloads);
    if (at_tile_is_innermost(x->t, i)) at_asm_align(&x->code, 32);
    n->head = x->code.len;
}

static void end(at_x86 *x, int depth, const nest *n) {
    EMIT(x, SUB, counter(x, depth), at_imm(1));
    at_asm_jump(&x->code, AT_X86_JNZ, n->head);
    if (n->skip_at >= 0) at_asm_patch(&x->code, n->skip_at);
    x->scratch_now = 0;
    at_reloads_forget(&x->reloads);
}

static void bump(at_x86 *x, const at_tile_op *op) {
    const bool in_memory = x->slot_reg[op->slot] < 0;
    const at_x86_arg to =
        in_memory ? at_mem(AT_RSP, x->slot_home[op->slot], 8) : at_gpr(x->slot_reg[op->slot]);
    int64_t bytes = op->bump * at_type_bytes(x->t->slot_type[op->slot]);
    if (in_memory) at_reloads_forget(&x->reloads);
    if (op->trip_arg >= 0) {
        const at_x86_arg trips = at_mem(AT_RSP, x->trip_home[op->trip_arg], 8);
        const bool is_far = bytes < INT32_MIN || bytes > INT32_MAX;
        EMIT(x, MOV, at_gpr(AT_X86_SCRATCH), is_far ? at_imm(bytes) : trips);
        if (is_far) EMIT(x, IMUL, at_gpr(AT_X86_SCRATCH), trips);
        else EMIT(x, IMUL, at_gpr(AT_X86_SCRATCH), at_gpr(AT_X86_SCRATCH), at_imm(bytes));
        EMIT(x, ADD, to, at_gpr(AT_X86_SCRATCH));
    } else if (bytes >= INT32_MIN && bytes <= INT32_MAX) EMIT(x, ADD, to, at_imm(bytes));
    else {
        EMIT(x, MOV, at_gpr(AT_X86_SCRATCH), at_imm(bytes));
        EMIT(x, ADD, to, at_gpr(AT_X86_SCRATCH));
    }
}

/* rax = floor(rax / by), rax being from 0 to most. */
static void divide(at_x86 *x, int32_t by, int32_t most) {
    at_x86_arg number = at_gpr(AT_X86_SCRATCH);
    const at_tile_quotient q = at_tile_divide(by, most);
    if (q.power) EMIT(x, SHR, number, at_imm(q.power));
    if (!q.factor) return;
    EMIT(x, IMUL, number, number, at_imm(q.factor));
    EMIT(x, SHR, number, at_imm(q.shift));
}

/* Is the quotient that the operation before left in rax one that this one can go on from? */
static bool goes_on(const at_x86 *x, const at_tile_op *op) {
    return at_tile_goes_on(x->t, op) && (op[-1].bump == 1 || x->product_reg >= 0);
}

/* A new pointer goes where it lives. */
static void keep_pointer(at_x86 *x, int slot) {
    if (x->slot_reg[slot] < 0)
        EMIT(x, MOV, at_mem(AT_RSP, x->slot_home[slot], 8),
             at_gpr(pointer_register(x, slot, false)));
}

/* Multiplied in the new pointer's own register, so that the entry stays to be looked at. */
static void index_that_may_miss(at_x86 *x, const at_tile_op *op) {
    at_x86_arg entry = at_gpr(AT_X86_SCRATCH);
    int counted = AT_X86_SCRATCH;
    EMIT(x, MOVSXD, entry, at_x86_memory(x, op, 4));
    const int base = at_x86_pointer(x, op->base), made = pointer_register(x, op->dst, false);
    const at_x86_arg to = at_gpr(made);
    if (op->bump != 1) {
        EMIT(x, IMUL, to, entry, at_imm(op->bump));
        counted = made;
    }
    EMIT(x, LEA, to, at_mem_elements(base, counted, at_type_bytes(x->t->slot_type[op->base])));
    EMIT(x, TEST, entry, entry);
    EMIT(x, LEA, entry, at_x86_constant(8));
    const int first = (int)(at_tile_first_miss(x->t, op) - x->t->ops);
    *at_push(x->code.arena, &x->miss_patches) = (at_x86_patch){x->code.len - 4, x->code.len, first};
    EMIT(x, CMOVS, to, entry);
    keep_pointer(x, op->dst);
}

static void index_entry(at_x86 *x, const at_tile_op *op) {
    if (op->may_miss) {
        index_that_may_miss(x, op);
        return;
    }
    at_x86_arg entry = at_gpr(AT_X86_SCRATCH);
    int digit = op->bump == 1 || x->product_reg < 0 ? AT_X86_SCRATCH : x->product_reg;
    if (goes_on(x, op)) {
        divide(x, op->by / op[-1].by, op->most / op[-1].by);
    } else {
        EMIT(x, MOVSXD, entry, at_x86_memory(x, op, 4));
        if (op->times != 1) EMIT(x, IMUL, entry, entry, at_imm(op->times));
        if (op->plus) EMIT(x, ADD, entry, at_imm(op->plus));
        divide(x, op->by, op->most);
    }
    if (op->bump != 1) EMIT(x, IMUL, at_gpr(digit), entry, at_imm(op->bump));
    const int base = at_x86_pointer(x, op->base);
    EMIT(x, LEA, at_gpr(pointer_register(x, op->dst, false)),
         at_mem_elements(base, digit, at_type_bytes(x->t->slot_type[op->base])));
    keep_pointer(x, op->dst);
}

/* ---- constants ------------------------------------------------------------------------------- */

void at_x86_point(at_x86 *x, const at_tile_op *op, int immediate_bytes) {
    uint64_t bits = at_tile_bits(op);
    int entry = 0;
    if (x->set->number_bytes == 8) memcpy(&bits, &op->number, sizeof bits);
    while (entry < x->pool.len && x->pool.data[entry] != bits) entry++;
    if (entry == x->pool.len) *at_push(x->code.arena, &x->pool) = bits;
    int end = x->code.len;
    *at_push(x->code.arena, &x->pool_patches) =
        (at_x86_patch){end - 4 - immediate_bytes, end, entry};
}

static void constants(at_x86 *x) {
    int bytes = x->set->pool_bytes, step = x->set->number_bytes;
    if (!x->pool.len) return;
    at_asm_align(&x->code, 32);
    int at = x->code.len;
    for (int i = 0; i < x->pool.len; i++)
        for (int j = 0; j < bytes; j += step) at_asm_raw(&x->code, &x->pool.data[i], step);
    for (int i = 0; i < x->pool_patches.len && !x->code.bad; i++) {
        const at_x86_patch *p = &x->pool_patches.data[i];
        int32_t distance = at + p->entry * bytes - p->end;
        memcpy(x->code.code + p->at, &distance, sizeof distance);
    }
}

/* Numbers that pointers lead to where an entry is below 0. */
static void missed(at_x86 *x) {
    for (int i = 0; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        if (op->kind != AT_T_INDEX || !op->may_miss || at_tile_first_miss(x->t, op) != op) continue;
        at_asm_align(&x->code, 32);
        int at = x->code.len;
        uint32_t bits = at_tile_missed(x->t, op);
        for (int j = 0; j < AT_TILE_NUMBERS; j++) at_asm_raw(&x->code, &bits, 4);
        for (int j = 0; j < x->miss_patches.len && !x->code.bad; j++) {
            const at_x86_patch *p = &x->miss_patches.data[j];
            int32_t distance = at - p->end;
            if (p->entry == i) memcpy(x->code.code + p->at, &distance, sizeof distance);
        }
    }
}

/* ---- the function ---------------------------------------------------------------------------- */

/* Constants, loads and stores; false: the set has them among the others. */
static bool move(at_x86 *x, const at_tile_op *op) {
    const at_x86_set *set = x->set;
    if (!set->move) return false;
    if (op->kind == AT_T_CONST) set->constant(x, op);
    else if (op->kind == AT_T_LOAD && op->times) set->pick(x, op);
    else if (op->kind == AT_T_STORE && op->times) set->store_apart(x, op);
    else if (op->kind == AT_T_LOAD || op->kind == AT_T_STORE) {
        set->move(x, op, op->kind == AT_T_STORE);
        if (op->kind == AT_T_LOAD && op->by) set->spread(x, op);
    } else return false;
    return true;
}

/* Is it one integer of 8 or 16 bits that the next operation stores as it is? */
static bool is_copied(const at_tile *t, int i) {
    const at_tile_op *op = &t->ops[i], *next = op + 1;
    if (op->kind != AT_T_LOAD || i + 1 == t->num_ops || next->kind != AT_T_STORE) return false;
    const at_type type = t->slot_type[op->slot];
    return at_type_of(type)->is_int && at_type_bytes(type) < 4 &&
           t->slot_type[next->slot] == type && next->a == op->dst && op->lanes == 1 &&
           next->lanes == 1 && !op->packed && !next->packed && !op->by && !op->bits && !next->bits;
}

/* Registers that nothing but such stores reads: their elements need not pass through them. */
static uint64_t only_copied(const at_tile *t) {
    uint64_t copied = 0;
    for (int i = 0; i < t->num_ops; i++)
        if (is_copied(t, i)) copied |= AT_BIT(t->ops[i].dst);
    for (int r = 0; r < t->num_regs; r++)
        for (int i = 0; i < t->num_ops && copied >> r & 1; i++)
            if (at_tile_reads(&t->ops[i], r) && (!i || !is_copied(t, i - 1))) copied &= ~AT_BIT(r);
    return copied;
}

static void copy_element(at_x86 *x, const at_tile_op *load, const at_tile_op *store) {
    const int bytes = (int)at_type_bytes(x->t->slot_type[store->slot]);
    at_x86_narrow_element(x, load);
    const at_x86_arg to = at_x86_memory(x, store, bytes);
    if (bytes == 1) EMIT(x, MOV, to, at_gpr8(AT_X86_SCRATCH));
    else EMIT(x, MOV, to, at_gpr16(AT_X86_SCRATCH));
}

bool at_x86_encode(at_arena *arena, at_tile *t, const at_x86_set *set) {
    at_x86 x = {.code = {.arena = arena}, .t = t, .set = set};
    nest nests[AT_X86_MAX_NEST];
    int depth = 0;
    if (at_tile_nest_depth(t) > AT_X86_MAX_NEST) return false;
    x.slot_reg = AT_NEW_ARRAY(arena, int, at_tile_all_slots(t) + 2);
    x.slot_home = AT_NEW_ARRAY(arena, int, at_tile_all_slots(t) + 2);
    int frame = assign_homes(&x);
    prologue(&x, frame);
    if (set->begin) set->begin(&x);
    const uint64_t copied = only_copied(t);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) loop(&x, i, depth, &nests[depth]), depth++;
        else if (op->kind == AT_T_END) depth--, end(&x, depth, &nests[depth]);
        else if (op->kind == AT_T_PREFETCH) EMIT(&x, PREFETCHT0, at_x86_memory(&x, op, 1));
        else if (op->kind == AT_T_INDEX) index_entry(&x, op);
        else if (op->kind == AT_T_SCATTER) set->scatter(&x, op);
        else if (op->kind == AT_T_BUMP) bump(&x, op);
        else if (is_copied(t, i) && copied >> op->dst & 1) copy_element(&x, op, &t->ops[++i]);
        else if (op->kind >= AT_T_ZIP_LOW) set->zip(&x, op);
        else if (!move(&x, op)) set->vector(&x, op);
    }
    epilogue(&x, frame);
    if (set->end) set->end(&x);
    constants(&x);
    at_x86_spreads(&x);
    missed(&x);
    t->code = x.code.code;
    t->code_bytes = x.code.len;
    return !x.code.bad;
}

at_x86_op at_x86_cut(const at_tile_op *op) {
    return op->by == AT_S16  ? AT_X86_VPACKSSDW
           : op->by == AT_U8 ? AT_X86_VPACKUSWB
                             : AT_X86_VPACKSSWB;
}

at_x86_op at_x86_dot(const at_tile_op *op) {
    return op->by == AT_DOT_BF16  ? AT_X86_VDPBF16PS
           : op->by == AT_DOT_S16 ? AT_X86_VPDPWSSD
                                  : AT_X86_VPDPBUSD;
}
