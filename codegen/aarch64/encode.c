/* codegen/aarch64/encode.c: a tile program as machine code: an ordinary function of the procedure
 * call standard (AAPCS64), position independent.
 *
 * Slots, the pointers made of them, trip counts and loop counters stay in integer registers, of
 * which there are enough for all but tiles of very many pointers: then three registers hold the
 * ones used last. x16 and x17 are scratch. */
#include "codegen/aarch64/encode.h"

#include <string.h>

enum { MOST_BESIDE = 10, ARGUMENTS = 8 }; /* pointers in registers, where others lie in memory */

/* ---- where everything lives ------------------------------------------------------------------ */

/* The next free register, callee-saved ones last; -1: none. */
static int take_register(at_a64 *x, bool *used) {
    for (int r = 0; r <= 28; r++) {
        if (used[r]) continue;
        used[r] = true;
        if (r >= 19) x->saved[x->num_saved++] = r;
        return r;
    }
    return -1;
}

/* Pointers' and trip counts' registers; of pointers beyond, the home of one that is made inside.
 * The bytes of these. */
static int assign_slots(at_a64 *x, bool *used) {
    const at_tile *t = x->t;
    const int all = at_tile_frame(t), passed = t->num_slots + t->num_trips,
              in_registers = all > AT_TILE_MAX_SLOTS ? MOST_BESIDE : all;
    int frame = 0;
    for (int i = 0; i < passed && i < ARGUMENTS; i++) used[i] = true;
    for (int i = 0; i < all; i++) {
        if (i < t->num_slots && i < ARGUMENTS) x->slot_reg[i] = i;
        else x->slot_reg[i] = i < in_registers ? take_register(x, used) : -1;
        if (i >= in_registers && i >= t->num_slots) x->slot_home[i] = frame, frame += 8;
    }
    for (int j = 0; j < t->num_trips; j++)
        x->trip_reg[j] = t->num_slots + j < ARGUMENTS ? t->num_slots + j : -1;
    for (int i = 0; i < AT_RELOADS; i++)
        x->reloads.of[i].reg = in_registers < all ? take_register(x, used) : -1;
    at_reloads_forget(&x->reloads);
    return frame;
}

static void save_vectors(at_a64 *x) {
    bool used[32] = {false};
    for (int r = 0; r < x->t->num_regs; r++) used[at_a64_vector(r)] = true;
    if (at_tile_has_scatters(x->t)) used[at_a64_vector(x->t->target->regs - 2)] = true;
    for (int v = 8; v < 16; v++)
        if (used[v]) x->saved[x->num_saved++] = 32 + v;
}

/* Decides where everything lives. Returns the bytes of the frame: first the caller's registers,
 * then counters and pointers that found none, then registers that are spilled. */
static int assign_homes(at_a64 *x) {
    const at_tile *t = x->t;
    bool used[32] = {[AT_X16] = true, [AT_X17] = true, [18] = true};
    int homes = assign_slots(x, used);
    for (int d = at_tile_nest_depth(t) - 1; d >= 0; d--) {
        x->counter_reg[d] = take_register(x, used);
        if (x->counter_reg[d] < 0) x->counter_home[d] = homes, homes += 8;
    }
    save_vectors(x);
    const int first = 8 * x->num_saved;
    for (int i = t->num_slots; i < at_tile_frame(t); i++) x->slot_home[i] += first;
    for (int d = 0; d < AT_A64_MAX_NEST; d++) x->counter_home[d] += first;
    const int spills = (first + homes + 15) / 16 * 16;
    if (t->num_spilled) {
        x->slot_reg[at_tile_frame(t)] = AT_A64_SP;
        x->slot_home[at_tile_frame(t)] = spills;
    }
    return spills + 16 * t->num_spilled;
}

/* ---- where pointers begin ---------------------------------------------------------------------
 */

/* Is the pointer itself asked for, and not what lies somewhere behind it? */
static bool is_taken(const at_tile *t, int slot) {
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_SCATTER && (op->slot == slot || op->base == slot)) return true;
        if (op->kind == AT_T_INDEX && op->base == slot) return true;
    }
    return false;
}

/* The distances that instructions with such an operand can name, as at_a64_move has them. */
static bool is_near(int64_t bytes) { return bytes >= -256 && bytes < 4 * 4096; }

/* How many of the tile's moves of a slot would be near. The least of their distances. */
static int near_moves(const at_tile *t, int slot, int64_t moved, int64_t *least) {
    int n = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        const int64_t at = op->off * at_type_bytes(t->slot_type[slot]);
        if (op->slot != slot ||
            (op->kind != AT_T_LOAD && op->kind != AT_T_BCAST && !at_tile_stores(op)))
            continue;
        n += is_near(at - moved);
        if (at < *least) *least = at;
    }
    return n;
}

/* Distances far below 0 take an instruction each, which the load waits for: registers of such
 * pointers begin at the least of their distances. */
static void move_pointers(at_a64 *x) {
    const at_tile *t = x->t;
    for (int i = 0; i < t->num_slots; i++) {
        int64_t least = 0;
        const int near = near_moves(t, i, 0, &least);
        if (least >= 0 || x->slot_reg[i] < 0 || is_taken(t, i)) continue;
        if (near_moves(t, i, least, &least) <= near) continue;
        x->moved[i] = least;
        at_a64_add(x, x->slot_reg[i], x->slot_reg[i], least);
    }
}

void at_a64_number(at_a64 *x, int reg, uint64_t number) {
    EMIT(x, MOVZ, reg, number & 0xffff);
    if (number >> 16 & 0xffff) EMIT(x, MOVK16, reg, number >> 16 & 0xffff);
    if (number >> 32 & 0xffff) EMIT(x, MOVK32, reg, number >> 32 & 0xffff);
    if (number >> 48) EMIT(x, MOVK48, reg, number >> 48);
}

void at_a64_add(at_a64 *x, int into, int from, int64_t bytes) {
    const bool less = bytes < 0;
    const uint64_t n = less ? -(uint64_t)bytes : (uint64_t)bytes;
    if (n >= 1 << 24) {
        at_a64_number(x, AT_X17, (uint64_t)bytes);
        if (from == AT_A64_SP) EMIT(x, ADD_OF_SP, into, AT_X17);
        else EMIT(x, ADD, into, from, AT_X17);
        return;
    }
    if (n >> 12) {
        at_a64_emit(&x->code, less ? AT_A64_SUBI_HIGH : AT_A64_ADDI_HIGH,
                    (const int64_t[]){into, from, (int64_t)(n >> 12)});
        from = into;
    }
    if (n & 0xfff || !(n >> 12))
        at_a64_emit(&x->code, less ? AT_A64_SUBI : AT_A64_ADDI,
                    (const int64_t[]){into, from, (int64_t)(n & 0xfff)});
}

static void keep_saved(at_a64 *x, bool store) {
    for (int i = 0; i < x->num_saved; i++) {
        const bool vector = x->saved[i] >= 32;
        at_a64_emit(&x->code,
                    vector  ? store ? AT_A64_STR_D_SP : AT_A64_LDR_D_SP
                    : store ? AT_A64_STR_X_SP
                            : AT_A64_LDR_X_SP,
                    (const int64_t[]){x->saved[i] % 32, 8 * i});
    }
}

static void prologue(at_a64 *x, int frame) {
    const at_tile *t = x->t;
    if (frame) at_a64_add(x, AT_A64_SP, AT_A64_SP, -frame);
    keep_saved(x, true);
    for (int i = ARGUMENTS; i < t->num_slots + t->num_trips; i++) {
        const int home = frame + 8 * (i - ARGUMENTS);
        if (i >= t->num_slots) x->trip_home[i - t->num_slots] = home;
        else x->slot_home[i] = home;
        if (i < t->num_slots && x->slot_reg[i] >= 0) EMIT(x, LDR_X_SP, x->slot_reg[i], home);
    }
}

static void epilogue(at_a64 *x, int frame) {
    keep_saved(x, false);
    if (frame) at_a64_add(x, AT_A64_SP, AT_A64_SP, frame);
    EMIT(x, RET, 0);
}

/* ---- pointers -------------------------------------------------------------------------------- */

/* A register for a slot's pointer; loaded: with what it is. Good until two others are asked for. */
static int pointer_register(at_a64 *x, int slot, bool loaded) {
    if (x->slot_reg[slot] >= 0) return x->slot_reg[slot];
    bool is_there;
    const int reg = at_reloads_for(&x->reloads, slot, &is_there);
    if (loaded && !is_there) EMIT(x, LDR_X_SP, reg, x->slot_home[slot]);
    return reg;
}

int at_a64_pointer(at_a64 *x, int slot) { return pointer_register(x, slot, true); }

/* Bytes from the pointer's register. */
static int64_t bytes_from(const at_a64 *x, const at_tile_op *op, int64_t at) {
    const bool own = x->t->num_spilled && op->slot == at_tile_frame(x->t);
    at += op->off * at_type_bytes(x->t->slot_type[op->slot]) - x->moved[op->slot];
    return at + (own ? x->slot_home[op->slot] : 0);
}

int at_a64_address(at_a64 *x, const at_tile_op *op, int64_t at) {
    const int base = pointer_register(x, op->slot, true);
    const int64_t bytes = bytes_from(x, op, at);
    if (!bytes && base != AT_A64_SP) return base;
    at_a64_add(x, AT_X16, base, bytes);
    return AT_X16;
}

void at_a64_move(at_a64 *x, const at_tile_op *op, bool store, int reg, int log2_bytes, int64_t at) {
    static const at_a64_form scaled[2][5] = {
        {AT_A64_LDR_B, AT_A64_LDR_H, AT_A64_LDR_S, AT_A64_LDR_D, AT_A64_LDR_Q},
        {AT_A64_STR_B, AT_A64_STR_H, AT_A64_STR_S, AT_A64_STR_D, AT_A64_STR_Q}};
    static const at_a64_form by_byte[2][5] = {
        {AT_A64_LDUR_B, AT_A64_LDUR_H, AT_A64_LDUR_S, AT_A64_LDUR_D, AT_A64_LDUR_Q},
        {AT_A64_STUR_B, AT_A64_STUR_H, AT_A64_STUR_S, AT_A64_STUR_D, AT_A64_STUR_Q}};
    int base = pointer_register(x, op->slot, true);
    int64_t bytes = bytes_from(x, op, at);
    const int64_t unit = (int64_t)1 << log2_bytes;
    const bool fits = bytes >= 0 && bytes % unit == 0 && bytes / unit < 4096;
    if (!fits && (bytes < -256 || bytes > 255)) {
        at_a64_add(x, AT_X16, base, bytes);
        base = AT_X16;
        bytes = 0;
    }
    at_a64_emit(&x->code, (fits || !bytes ? scaled : by_byte)[store][log2_bytes],
                (const int64_t[]){reg, base, bytes});
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct {
    int head;    /* number of the first instruction of the body */
    int skip_at; /* jump over a loop that may run no time; -1 */
} nest;

/* A passed trip count in a register. */
static int trips(at_a64 *x, int trip_arg, int into) {
    if (x->trip_reg[trip_arg] >= 0) return x->trip_reg[trip_arg];
    EMIT(x, LDR_X_SP, into, x->trip_home[trip_arg]);
    return into;
}

static void loop(at_a64 *x, int i, int depth, nest *n) {
    const at_tile_op *op = &x->t->ops[i];
    const int counter = x->counter_reg[depth] >= 0 ? x->counter_reg[depth] : AT_X16;
    n->skip_at = -1;
    if (op->trip_arg < 0) at_a64_number(x, counter, (uint64_t)op->trip);
    else {
        int from = trips(x, op->trip_arg, AT_X16), power = 0, bits = 0;
        while (op->by >> power > 1) power++;
        while (op->most >> bits > 1) bits++;
        if (power) EMIT(x, LSR, AT_X16, from, power), from = AT_X16;
        if (op->most == 1) EMIT(x, MOVZ, AT_X16, 0), from = AT_X16;
        else if (bits) EMIT(x, UBFX, AT_X16, from, bits), from = AT_X16;
        EMIT(x, CMP0, from);
        n->skip_at = x->code.words.len;
        EMIT(x, B_LE, 0);
        if (counter != from) EMIT(x, MOV, counter, from);
    }
    if (x->counter_reg[depth] < 0) EMIT(x, STR_X_SP, counter, x->counter_home[depth]);
    at_reloads_forget(&x->reloads);
    while (at_tile_is_innermost(x->t, i) && x->code.words.len % 4) EMIT(x, NOP, 0);
    n->head = x->code.words.len;
}

static void end(at_a64 *x, int depth, const nest *n) {
    const bool in_memory = x->counter_reg[depth] < 0;
    const int counter = in_memory ? AT_X16 : x->counter_reg[depth];
    if (in_memory) EMIT(x, LDR_X_SP, counter, x->counter_home[depth]);
    EMIT(x, SUBSI, counter, counter, 1);
    if (in_memory) EMIT(x, STR_X_SP, counter, x->counter_home[depth]);
    EMIT(x, B_NE, 4 * (n->head - x->code.words.len));
    if (n->skip_at >= 0) at_a64_aim(&x->code, n->skip_at, 4 * (x->code.words.len - n->skip_at));
    at_reloads_forget(&x->reloads);
}

static void bump(at_a64 *x, const at_tile_op *op) {
    const int slot = op->slot, reg = pointer_register(x, slot, true);
    const int64_t bytes = op->bump * at_type_bytes(x->t->slot_type[slot]);
    if (op->trip_arg >= 0) {
        at_a64_number(x, AT_X17, (uint64_t)bytes);
        EMIT(x, MADD, reg, trips(x, op->trip_arg, AT_X16), AT_X17, reg);
    } else at_a64_add(x, reg, reg, bytes);
    if (x->slot_reg[slot] < 0) EMIT(x, STR_X_SP, reg, x->slot_home[slot]);
}

/* ---- entries of lists ------------------------------------------------------------------------ */

/* x16 = floor(x16 / by), x16 being from 0 to most. */
static void divide(at_a64 *x, int32_t by, int32_t most) {
    const at_tile_quotient q = at_tile_divide(by, most);
    if (q.power) EMIT(x, LSR, AT_X16, AT_X16, q.power);
    if (!q.factor) return;
    at_a64_number(x, AT_X17, (uint64_t)q.factor);
    EMIT(x, MUL, AT_X16, AT_X16, AT_X17);
    EMIT(x, LSR, AT_X16, AT_X16, q.shift);
}

/* The entry stays in x16: a further digit of it may follow. */
static void index_entry(at_a64 *x, const at_tile_op *op) {
    if (at_tile_goes_on(x->t, op)) {
        divide(x, op->by / op[-1].by, op->most / op[-1].by);
    } else {
        const int64_t bytes = bytes_from(x, op, 0);
        int list = pointer_register(x, op->slot, true);
        const bool near = bytes >= 0 && bytes < 4 * 4096;
        if (!near) at_a64_add(x, AT_X16, list, bytes), list = AT_X16;
        EMIT(x, LDRSW, AT_X16, list, near ? bytes : 0);
        if (op->times != 1) {
            at_a64_number(x, AT_X17, (uint64_t)op->times);
            EMIT(x, MUL, AT_X16, AT_X16, AT_X17);
        }
        if (op->plus) at_a64_add(x, AT_X16, AT_X16, op->plus);
        divide(x, op->by, op->most);
    }
    const int base = pointer_register(x, op->base, true);
    const int made = pointer_register(x, op->dst, false);
    const int64_t step = op->bump * at_type_bytes(x->t->slot_type[op->base]);
    if (step == 4) EMIT(x, ADD_FOURS, made, base, AT_X16);
    else {
        at_a64_number(x, AT_X17, (uint64_t)step);
        EMIT(x, MADD, made, AT_X16, AT_X17, base);
    }
    if (op->may_miss) {
        const int first = (int)(at_tile_first_miss(x->t, op) - x->t->ops);
        *at_push(x->code.arena, &x->miss_patches) = (at_a64_patch){x->code.words.len, first};
        EMIT(x, ADR, AT_X17, 0);
        EMIT(x, CMP0, AT_X16);
        EMIT(x, CSEL_LT, made, AT_X17, made);
    }
    if (x->slot_reg[op->dst] < 0) EMIT(x, STR_X_SP, made, x->slot_home[op->dst]);
}

static void prefetch(at_a64 *x, const at_tile_op *op) {
    EMIT(x, PRFM, at_a64_address(x, op, 0), 0);
}

/* ---- data behind the code -------------------------------------------------------------------- */

void at_a64_permute(at_a64 *x, int into, int from, const at_a64_lanes *lanes) {
    int entry = 0;
    while (entry < x->tables.len && memcmp(&x->tables.data[entry], lanes, sizeof *lanes)) entry++;
    if (entry == x->tables.len) *at_push(x->code.arena, &x->tables) = *lanes;
    *at_push(x->code.arena, &x->table_patches) = (at_a64_patch){x->code.words.len, entry};
    EMIT(x, LDR_Q_NEAR, AT_A64_SCRATCH_VEC, 0);
    EMIT(x, TBL, into, from, AT_A64_SCRATCH_VEC);
}

static void align(at_a64 *x) {
    while (x->code.words.len % 4) EMIT(x, NOP, 0);
}

static void add_words(at_a64 *x, const void *data, int n) {
    const uint8_t *bytes = data;
    for (int i = 0; i < n; i++) memcpy(at_push(x->code.arena, &x->code.words), bytes + 4 * i, 4);
}

static void tables(at_a64 *x) {
    if (!x->tables.len) return;
    align(x);
    const int at = x->code.words.len;
    for (int i = 0; i < x->tables.len; i++) add_words(x, x->tables.data[i].byte, 4);
    for (int i = 0; i < x->table_patches.len; i++) {
        const at_a64_patch *p = &x->table_patches.data[i];
        at_a64_aim(&x->code, p->at, 4 * (at + 4 * p->entry - p->at));
    }
}

/* Numbers that pointers lead to where an entry is below 0. */
static void missed(at_a64 *x) {
    for (int i = 0; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        if (op->kind != AT_T_INDEX || !op->may_miss || at_tile_first_miss(x->t, op) != op) continue;
        align(x);
        const int at = x->code.words.len;
        const uint32_t bits = at_tile_missed(x->t, op);
        for (int j = 0; j < AT_TILE_NUMBERS; j++) add_words(x, &bits, 1);
        for (int j = 0; j < x->miss_patches.len; j++) {
            const at_a64_patch *p = &x->miss_patches.data[j];
            if (p->entry == i) at_a64_aim(&x->code, p->at, 4 * (at - p->at));
        }
    }
}

/* ---- the function ---------------------------------------------------------------------------- */

bool at_a64_encode(at_arena *arena, at_tile *t, void (*vector)(at_a64 *x, const at_tile_op *op)) {
    at_a64 x = {.code = {.arena = arena}, .t = t};
    nest nests[AT_A64_MAX_NEST];
    int depth = 0;
    if (at_tile_nest_depth(t) > AT_A64_MAX_NEST) return false;
    x.slot_reg = AT_NEW_ARRAY(arena, int, at_tile_all_slots(t) + 1);
    x.slot_home = AT_NEW_ARRAY(arena, int, at_tile_all_slots(t) + 1);
    x.moved = AT_NEW_ARRAY(arena, int64_t, at_tile_all_slots(t) + 1);
    const int frame = assign_homes(&x);
    prologue(&x, frame);
    move_pointers(&x);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) loop(&x, i, depth, &nests[depth]), depth++;
        else if (op->kind == AT_T_END) depth--, end(&x, depth, &nests[depth]);
        else if (op->kind == AT_T_PREFETCH) prefetch(&x, op);
        else if (op->kind == AT_T_INDEX) index_entry(&x, op);
        else if (op->kind == AT_T_BUMP) bump(&x, op);
        else vector(&x, op);
    }
    epilogue(&x, frame);
    tables(&x);
    missed(&x);
    t->code = (const uint8_t *)x.code.words.data;
    t->code_bytes = 4 * x.code.words.len;
    return !x.code.bad;
}
