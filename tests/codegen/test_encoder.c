/* Every instruction form the encoder makes, read back by another project's disassembler. */
#include <string.h>

#include "tests/codegen/objdump.h"
#include "tests/codegen/support.h"
#include "tests/codegen/wanted.h"

/* To be found in every set with vectors, on registers only. */
static void want_zip(maker *m, const at_tile_op *op) {
    static const char *const names[] = {"unpcklps",  "unpckhps",  "unpcklpd",  "unpckhpd",
                                        "punpcklwd", "punpckhwd", "punpcklbw", "punpckhbw"};
    int bytes = 4 * op->lanes;
    const char *d = wanted_vector(m, op->dst, bytes), *a = wanted_vector(m, op->a, bytes),
               *b = wanted_vector(m, op->b, bytes), *last = "",
               *name = op->kind == AT_T_FOURS    ? "shufps"
                       : op->kind == AT_T_HALVES ? "perm2f128"
                                                 : names[op->kind - AT_T_ZIP_LOW];
    if (op->kind >= AT_T_FOURS) last = at_format(m->arena, ",0x%x", (unsigned)op->by);
    if (wanted_has_vex(m->t.target)) WANT(m, "v%s %s,%s,%s%s", name, d, a, b, last);
    else WANT(m, "movaps xmm15,%s\n%s xmm15,%s%s\nmovaps %s,xmm15", a, name, b, last, d);
}

/* With the entry and return of a tile of twelve pointers, made inside or passed. */
static void compare_straight(maker *m, const char *what) {
    at_tile *t = finish(m);
    if (!t->target->encode(m->arena, t)) fail_msg("%s: not encoded", what);
    at_text wanted = {0}, found = {0};
    at_text_add(&wanted, "push rbx\npush rbp\npush r12\npush r13\n");
    for (int s = 6; s < t->num_slots; s++)
        at_text_addf(&wanted, "mov %s,QWORD PTR [rsp+0x%x]\n", wanted_bases[s],
                     40 + 8 * (s - 6)); /* four registers and the return address below */
    for (int k = 1; k <= m->num_masks; k++) {
        unsigned mask = m->masks[k - 1];
        for (int n = 1; n <= 16; n++)
            if (m->mask[n] == k) mask = (1u << n) - 1;
        at_text_addf(&wanted, "mov eax,0x%x\nkmovw k%d,eax\n", mask, k);
    }
    at_text_add(&wanted, at_text_str(&m->want));
    if (wanted_has_vex(m->t.target)) at_text_add(&wanted, "vzeroupper\n");
    at_text_add(&wanted, "pop r13\npop r12\npop rbp\npop rbx\nret\n");
    disassemble(m->arena, t, at_format(m->arena, "%s/code", folder), &found);
    compare_lines(at_text_str(&found), at_text_str(&wanted), what);
    at_text_free(&wanted);
    at_text_free(&found);
    at_text_free(&m->want);
}

/* Another slot and offset each time: with none, one byte (scaled by the operand's size in EVEX) and
 * four bytes of displacement. */
static void next_memory(maker *m, at_tile_op *op) {
    static const int64_t offsets[] = {0,   1,   16,    31,    32,     -1,      -32, -33,
                                      508, 512, -2048, -2064, 100000, -300000, 17};
    enum { NUM = sizeof offsets / sizeof *offsets };
    /* 12 and 15 have 3 in common: shifted, so that all pairs occur */
    op->slot = (int16_t)((m->memory + m->memory / 60) % AT_TILE_MAX_SLOTS);
    op->off = offsets[m->memory++ % NUM];
}

/* Registers whose numbers are encoded in different places, but the one kept for the encoder. */
static int some_registers(const at_target *target, int out[6]) {
    static const int few[] = {0, 7, 8, 14}, many[] = {0, 7, 8, 15, 16, 31};
    memcpy(out, target->lanes == 16 ? many : few, target->lanes == 16 ? sizeof many : sizeof few);
    return target->lanes == 16 ? 6 : 4;
}

static void encode_moves(at_arena *a, const at_target *target) {
    static const float numbers[] = {0, 1.5F, -2, -0.0F, 1e-45F};
    int r[6], num_regs = some_registers(target, r), lanes = target->lanes;
    /* at most seven tails in a tile: as many as there are mask registers */
    for (int first = 1; first <= lanes; first += 8) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        for (int n = first; n < first + 8 && n <= lanes; n++)
            for (int i = 0; i < 60; i++) {
                next_memory(&m, add_move(&m, i / num_regs % 2 ? AT_T_STORE : AT_T_LOAD,
                                         r[i % num_regs], 0, 0, n));
                want(&m);
            }
        compare_straight(&m, at_format(a, "%s, lanes from %d", target->name, first));
    }
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int i = 0; i < num_regs; i++) {
        for (int j = 0; j < 60; j++) {
            next_memory(&m, add_move(&m, AT_T_BCAST, r[i], 0, 0, 1)), want(&m);
            next_memory(&m, add_op(&m, AT_T_PREFETCH)), want(&m);
        }
        for (int j = 0; j < num_regs; j++) add_arithmetic(&m, AT_T_MOV, r[i], r[j], -1), want(&m);
        for (int j = 0; j < 5; j++) {
            at_tile_op *op = add_op(&m, AT_T_CONST);
            op->dst = (int16_t)r[i];
            op->number = numbers[j];
            want(&m);
        }
    }
    compare_straight(&m, at_format(a, "%s, moves", target->name));
}

static void encode_arithmetic(at_arena *a, const at_target *target) {
    int r[6], num_regs = some_registers(target, r);
    for (int kind = AT_T_FMA; kind <= AT_T_MAX; kind++) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        for (int i = 0; i < num_regs * num_regs; i++) {
            int d = r[i / num_regs], x = r[i % num_regs];
            for (int j = 0; j < num_regs; j++) add_arithmetic(&m, kind, d, x, r[j]), want(&m);
            for (int mem = AT_MEM_VECTOR; mem <= AT_MEM_BCAST; mem++) {
                if (mem == AT_MEM_VECTOR ? !target->fold_vector : !target->fold_bcast) continue;
                for (int j = 0; j < 8; j++) {
                    at_tile_op *op = add_arithmetic(&m, kind, d, x, -1);
                    op->mem = (uint8_t)mem;
                    next_memory(&m, op);
                    want(&m);
                }
            }
        }
        compare_straight(&m, at_format(a, "%s, arithmetic %d", target->name, kind));
    }
}

/* Of a register of which no more than its first half is stored half is worked out, whatever is
 * stored on the way in memory of the tile's own; not where another operation takes all lanes. */
static void encode_halves(at_arena *a, const at_target *target) {
    enum { SUM, FACTOR, OTHER, SWAPPED, LANES = 16 };
    for (int lanes = 1; lanes <= LANES; lanes++) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        const int bytes = lanes <= LANES / 2 ? 32 : 64;
        const char *sum = wanted_vector(&m, SUM, bytes), *other = wanted_vector(&m, OTHER, 64);
        next_memory(&m, add_move(&m, AT_T_LOAD, FACTOR, 0, 0, LANES)), want(&m);
        add_arithmetic(&m, AT_T_FMA, SUM, FACTOR, OTHER);
        WANT(&m, "vfmadd231ps %s,%s,%s", sum, wanted_vector(&m, FACTOR, bytes),
             wanted_vector(&m, OTHER, bytes));
        add_arithmetic(&m, AT_T_MAX, SUM, SUM, OTHER);
        WANT(&m, "vmaxps %s,%s,%s", sum, sum, wanted_vector(&m, OTHER, bytes));
        add_arithmetic(&m, AT_T_MUL, OTHER, FACTOR, OTHER);
        WANT(&m, "vmulps %s,%s,%s", other, wanted_vector(&m, FACTOR, 64), other);
        next_memory(&m, add_move(&m, AT_T_STORE, SUM, 1, 0, lanes)), want(&m);
        next_memory(&m, add_move(&m, AT_T_STORE, OTHER, 1, 0, LANES)), want(&m);
        compare_straight(&m, at_format(a, "%s, %d lanes wanted", target->name, lanes));
    }
}

static void encode_zips(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r);
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int kind = AT_T_ZIP_LOW; kind <= AT_T_ZIP_HIGH8; kind++)
        for (int i = 0; i < n * n * n; i++) {
            at_tile_op *op = add_arithmetic(&m, kind, r[i / n / n], r[i / n % n], r[i % n]);
            op->lanes = i % 2 && target->lanes == 16 ? 8 : 4;
            want_zip(&m, op);
        }
    compare_straight(&m, at_format(a, "%s, zips", target->name));
    if (!target->joins_fours) return;
    m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int kind = AT_T_ZIP_LOW; kind <= (target->lanes == 8 ? AT_T_HALVES : AT_T_FOURS); kind++)
        for (int i = 0; i < n * n * n; i++) {
            at_tile_op *op = add_arithmetic(&m, kind, r[i / n / n], r[i / n % n], r[i % n]);
            op->lanes = (uint8_t)target->lanes;
            op->by = kind == AT_T_FOURS    ? (i * 37 + 1) % 256
                     : kind == AT_T_HALVES ? i % 4 | (3 - i / 4 % 4) << 4
                                           : 0;
            want_zip(&m, op);
        }
    compare_straight(&m, at_format(a, "%s, lanes joined", target->name));
}

/* The table of both registers: lane i of the register `part` of `apart` that lie in turn is from b
 * where that is number `number` of them, else from where it is in a. Number 0: every so many lanes,
 * from `part` on. */
static const char *merged_lanes(const maker *m, int apart, int number, int part, bool is_swapped) {
    const char *lanes = "lanes";
    for (int i = 0; i < 16; i++) {
        const int at = 16 * part + i, of_b = at % apart == number,
                  lane = of_b || number == 1 ? at / apart : i,
                  from = number == 0 ? apart * i + part : lane + (of_b ? 16 : 0);
        lanes = at_format(m->arena, "%s %d", lanes, (from + (is_swapped ? 16 : 0)) % 32);
    }
    return lanes;
}

enum { MERGED = -2000000 };

static void want_merge(maker *m, const at_tile_op *op, const char *kept, int apart, int number,
                       int part) {
    const bool is_b = op->dst == op->b && op->dst != op->a;
    const char *d = wanted_vector(m, op->dst, 64), *a = wanted_vector(m, op->a, 64),
               *b = wanted_vector(m, op->b, 64),
               *lanes = merged_lanes(m, apart, number, part, is_b);
    if (is_b || op->dst == op->a) {
        const int key = MERGED - 2 * (apart | number << 4 | part << 8) - is_b;
        if (!kept && m->mask_now != key) WANT(m, "vpmovzxbd zmm31,%s", lanes);
        if (!kept) m->mask_now = key;
        WANT(m, "vpermt2ps %s,%s,%s", d, kept ? kept : "zmm31", is_b ? a : b);
        return;
    }
    if (kept) WANT(m, "vmovaps %s,%s", d, kept);
    else WANT(m, "vpmovzxbd %s,%s", d, lanes);
    WANT(m, "vpermi2ps %s,%s,%s", d, a, b);
}

static at_tile_op *add_merge(maker *m, int dst, int a, int b, int by) {
    at_tile_op *op = add_arithmetic(m, AT_T_MERGE, dst, a, b);
    op->lanes = 16;
    op->by = by;
    return op;
}

static void encode_merges(at_arena *a, const at_target *target) {
    static const int of[][3] = {{2, 1, 0}, {2, 1, 1}, {3, 1, 0}, {3, 2, 0},
                                {3, 1, 2}, {3, 2, 2}, {2, 0, 0}, {2, 0, 1}};
    int r[6], n = some_registers(target, r) - 1;
    for (int k = 0; k < 8; k++) {
        const int apart = of[k][0], number = of[k][1], part = of[k][2],
                  by = apart | number << 4 | part << 8;
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        for (int i = 0; i < n * n * n; i++)
            want_merge(&m, add_merge(&m, r[i / n / n], r[i / n % n], r[i % n], by), NULL, apart,
                       number, part);
        compare_straight(&m, at_format(a, "%s, merges %x", target->name, (unsigned)by));
        m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0); /* where lanes are from stays */
        m.t.num_regs = 29;
        WANT(&m, "vpmovzxbd zmm29,%s", merged_lanes(&m, apart, number, part, false));
        want_merge(&m, add_merge(&m, 3, 3, 5, by), "zmm29", apart, number, part);
        want_merge(&m, add_merge(&m, 3, 4, 5, by), "zmm29", apart, number, part);
        compare_straight(&m, at_format(a, "%s, merges %x, kept", target->name, (unsigned)by));
    }
}

static void want_swap(maker *m, const at_tile_op *op) {
    int bytes = 4 * m->t.target->lanes;
    const char *d = wanted_vector(m, op->dst, bytes), *a = wanted_vector(m, op->a, bytes);
    const char *half = op->by % 2 ? "0xb1" : "0x4e";
    if (bytes == 16 && op->dst != op->a) WANT(m, "movaps %s,%s", d, a);
    if (bytes == 16) WANT(m, "shufps %s,%s,%s", d, d, half);
    else if (op->by < 4) WANT(m, "vpermilps %s,%s,%s", d, a, half);
    else if (bytes == 32) WANT(m, "vperm2f128 %s,%s,%s,0x1", d, a, a);
    else WANT(m, "vshuff64x2 %s,%s,%s,%s", d, a, a, op->by == 4 ? "0xb1" : "0x4e");
}

static void encode_spreads(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r) - (target->lanes == 16);
    for (int number = 4; number < 2 * target->lanes; number++) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        int by = number / 2;
        bool cyclic = number % 2;
        for (int plus = 0; plus<by; plus += by> 5 ? by - 1 : 1)
            for (int i = 0; i < 2 * n; i++) {
                int count = cyclic ? by : (plus + target->lanes - 1) / by + 1;
                at_tile_op *op = add_move(&m, AT_T_LOAD, r[i % n], 0, 0, count);
                op->by = by;
                op->plus = plus;
                op->cyclic = cyclic;
                next_memory(&m, op);
                want(&m);
            }
        compare_straight(
            &m, at_format(a, "%s, %s by %d", target->name, cyclic ? "going round" : "spread", by));
    }
}

static void encode_picks(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r) - (target->lanes == 16);
    for (int times = -1; times <= target->most_step; times += times < 0 ? 3 : 1)
        for (int lanes = 2; target->most_step && lanes <= target->lanes; lanes++) {
            maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
            for (int i = 0; i < n; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, r[i], 0, 0, lanes);
                op->times = times;
                next_memory(&m, op);
                want(&m);
            }
            compare_straight(&m, at_format(a, "%s, %d lanes, %d*i", target->name, lanes, times));
        }
}

/* Each of those over several lanes. */
static void encode_spread_picks(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r) - (target->lanes == 16);
    for (int times = 2; times <= target->most_step; times++)
        for (int by = 2; by<target->lanes; by += by> 5 ? 3 : 1) {
            maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
            for (int i = 0; i < n; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, r[i], 0, 0, target->lanes - i % 2);
                op->times = times;
                op->by = by;
                op->plus = i % by;
                next_memory(&m, op);
                want(&m);
            }
            compare_straight(&m, at_format(a, "%s, %d*(i/%d)", target->name, times, by));
        }
}

/* Numbers of whole groups: registers follow each other, none cuts a group. And the registers that a
 * tile leaves over hold where lanes are from, from entry on; where they are too few, the last one
 * does. */
static void encode_kept(at_arena *a, const at_target *target) {
    static const struct {
        int times, lanes, plus;
    } of[] = {{2, 16, 0}, {2, 16, 1}, {-1, 16, 0}, {-1, 8, 0}, {2, 16, 1}, {2, 16, 0}};
    static const char *const from[] = {
        "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30", "1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31",
        "15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0", "7 6 5 4 3 2 1 0 0 0 0 0 0 0 0 0"};
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    m.t.num_regs = 28;
    for (int i = 0; i < 3; i++) WANT(&m, "vpmovzxbd zmm%d,lanes %s", 28 + i, from[i]);
    for (int i = 0; i < 6; i++) {
        at_tile_op *op = add_move(&m, AT_T_LOAD, i, 0, 0, of[i].lanes);
        const int bytes = 4 * of[i].lanes, kept = i < 4 ? 28 + i : 28 + of[i].plus;
        op->times = of[i].times;
        op->grouped = op->times > 0;
        op->plus = of[i].plus;
        if (i == 3) WANT(&m, "vpmovzxbd zmm31,lanes %s", from[i]);
        if (op->grouped) WANT(&m, "vmovups zmm%d,%s", i, wanted_memory(&m, op, 64, 0));
        WANT(&m, "%s %s,%s,%s", op->grouped ? "vpermt2ps" : "vpermps", wanted_vector(&m, i, bytes),
             wanted_vector(&m, kept, bytes), wanted_memory(&m, op, bytes, op->grouped ? 64 : 0));
    }
    compare_straight(&m, at_format(a, "%s, numbers of groups", target->name));
}

static void encode_stores_apart(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r) - (target->lanes == 16);
    for (int times = 2; times <= target->most_stored_step; times++)
        for (int lanes = 2; lanes <= target->lanes; lanes++) {
            maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
            for (int i = 0; i < n; i++) {
                at_tile_op *op = add_move(&m, AT_T_STORE, r[i], 0, 0, lanes);
                op->times = times;
                next_memory(&m, op);
                op->off -= op->off % times; /* all begin alike, and have the same masks */
                want(&m);
            }
            compare_straight(
                &m, at_format(a, "%s, %d lanes stored to %d*i", target->name, lanes, times));
        }
}

static void encode_fours(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r);
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int i = 0; i < 60 * n; i++) {
        static const int64_t distances[] = {-8, 4, 24, 1000};
        at_tile_op *op =
            add_move(&m, i % 2 ? AT_T_STORE : AT_T_LOAD, r[i % n], 0, 0, target->lanes);
        op->fours = distances[i % 4];
        next_memory(&m, op);
        want(&m);
    }
    compare_straight(&m, at_format(a, "%s, fours", target->name));
}

static void want_first(maker *m, const at_tile_op *op) {
    int bytes = 4 * m->t.target->lanes, n = op->lanes;
    const char *d = wanted_vector(m, op->dst, bytes), *a = wanted_vector(m, op->a, bytes);
    if (bytes == 64) {
        if (!m->mask[n]) m->mask[n] = ++m->num_masks;
        WANT(m, "vmovaps %s{k%d},%s", d, m->mask[n], a);
    } else if (bytes == 32) {
        WANT(m, "vblendps %s,%s,%s,0x%x", d, d, a, (1 << n) - 1);
    } else if (op->dst != op->a) {
        if (n == 3) WANT(m, "movhlps %s,%s\nshufps %s,%s,0xc4", d, a, d, d);
        WANT(m, "%s %s,%s", n == 1 ? "movss" : "movsd", d, a);
    }
}

/* What moves lanes of registers; of first lanes a few numbers at a time, as there are masks. */
static void encode_lanes(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r);
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int by = 1; by < target->lanes; by *= 2)
        for (int i = 0; i < n * n; i++) {
            at_tile_op *op = add_arithmetic(&m, AT_T_SWAP, r[i / n], r[i % n], -1);
            op->by = by;
            want_swap(&m, op);
        }
    compare_straight(&m, at_format(a, "%s, lanes swapped", target->name));
    for (int lanes = 1; lanes < target->lanes; lanes++) {
        m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        for (int i = 0; i < n * n; i++) {
            at_tile_op *op = add_arithmetic(&m, AT_T_FIRST, r[i / n], r[i % n], -1);
            op->lanes = (uint8_t)lanes;
            want_first(&m, op);
        }
        compare_straight(&m, at_format(a, "%s, first %d lanes", target->name, lanes));
    }
}

/* The mask is made anew for each, and so are the lanes beyond it. */
static void want_gather(maker *m, const at_tile_op *op) {
    const int lanes = m->t.target->lanes, n = op->lanes;
    const char *d = wanted_vector(m, op->dst, 4 * lanes), *i = wanted_vector(m, op->a, 4 * lanes);
    const char *place = strchr(wanted_memory(m, op, 4, 0), '[') + 1,
               *rest = place + strcspn(place, "+-]");
    const char *from =
        at_format(m->arena, "DWORD PTR [%.*s+%s*4%s", (int)(rest - place), place, i, rest);
    if (lanes == 16) {
        if (n < 16 && !m->mask[n]) m->mask[n] = ++m->num_masks;
        WANT(m, "vpxord %s,%s,%s", d, d, d);
        if (n < 16) WANT(m, "kmovw k7,k%d", m->mask[n]);
        else WANT(m, "kxnorw k7,k7,k7");
        WANT(m, "vgatherdps %s{k7},%s", d, from);
        return;
    }
    WANT(m, "vxorps %s,%s,%s", d, d, d);
    if (n < 8) WANT(m, "vmovups ymm15,mask of %d", n);
    else WANT(m, "vpcmpeqd ymm15,ymm15,ymm15");
    WANT(m, "vgatherdps %s,%s,ymm15", d, from);
    m->mask_now = 0;
}

static void encode_gathers(at_arena *a, const at_target *target) {
    int r[6], n = some_registers(target, r);
    for (int lanes = 2; lanes <= target->lanes; lanes += lanes < 8 ? 3 : 4) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        for (int i = 0; i < n * n; i++) {
            if (i / n == i % n) continue;
            at_tile_op *op = add_move(&m, AT_T_GATHER, r[i / n], i % AT_TILE_MAX_SLOTS, 0, lanes);
            op->a = (int16_t)r[i % n];
            op->off = i % 3 ? 40 * i - 300 : 0;
            want_gather(&m, op);
        }
        compare_straight(&m, at_format(a, "%s, %d lanes gathered", target->name, lanes));
    }
}

static void encode_bumps(at_arena *a, const at_target *target) {
    static const int64_t by[] = {1,
                                 -1,
                                 31,
                                 32,
                                 -32,
                                 -33,
                                 100000,
                                 (1 << 29) - 1,
                                 1 << 29,
                                 -(1 << 29),
                                 -(1 << 29) - 1,
                                 (int64_t)1 << 40,
                                 -((int64_t)1 << 40)};
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
    for (int s = 0; s < AT_TILE_MAX_SLOTS; s++)
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) add_bump(&m, s, by[i], -1), want(&m);
    compare_straight(&m, at_format(a, "%s, bumps", target->name));
}

static void encode_indices(at_arena *a, const at_target *target) {
    static const int64_t offsets[] = {0, 1, 31, 32, -32, -33, 100000},
                         strides[] = {1, 2, -1, 31, 127, 128, -129, INT32_MAX / 4};
    static const int32_t by[] = {1, 2, 64, 24, 8};
    for (int num_slots = 6; num_slots < AT_TILE_MAX_SLOTS; num_slots++) {
        maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, 0);
        m.t.num_slots = num_slots;
        m.t.num_pointers = AT_TILE_MAX_SLOTS - num_slots;
        for (int i = 0; i < 200; i++) {
            add_index(&m, i % num_slots, offsets[i % 7], strides[i % 8]);
            at_tile_op *op = &m.ops.data[m.ops.len - 1];
            op->dst = (int16_t)(num_slots + i % m.t.num_pointers);
            op->slot = (int16_t)((i + i / 60) % num_slots);
            op->times = i % 3 ? 1 : 3;
            op->plus = i % 4 ? 0 : 300;
            op->by = by[i % 5];
            op->may_miss = op->times == 1 && !op->plus && op->by == 1;
            op->number = i % 40 ? 0 : -2.5;
            want(&m);
        }
        compare_straight(&m, at_format(a, "%s, %d pointers", target->name, num_slots));
    }
}

/* Loops of both kinds, and trip counts that came in registers. */
static void encode_loops(at_arena *a, const at_target *target) {
    static const char wanted[] = "sub rsp,0x18\n"
                                 "mov QWORD PTR [rsp],rdx\n"
                                 "mov QWORD PTR [rsp+0x8],rcx\n"
                                 "mov QWORD PTR [rsp+0x10],r8\n"
                                 "mov rax,QWORD PTR [rsp+0x8]\n"
                                 "test rax,rax\n"
                                 "jle 24\n" /* behind the outer loop */
                                 "mov r11,rax\n"
                                 "mov rax,QWORD PTR [rsp+0x10]\n" /* 8: the outer loop's body */
                                 "shr rax,0x4\n" /* of the count's parts of 16, those beside 64 */
                                 "and rax,0x3\n"
                                 "test rax,rax\n"
                                 "jle 18\n"
                                 "mov r10,rax\n"
                                 "prefetcht0 BYTE PTR [rdi+0x20]\n" /* 14: the inner one's */
                                 "add rdi,0x4\n"
                                 "sub r10,0x1\n"
                                 "jne 14\n"
                                 "mov r10,0x7\n" /* 18 */
                                 "add rsi,0xffffffffffffffe0\n"
                                 "sub r10,0x1\n"
                                 "jne 19\n"
                                 "sub r11,0x1\n"
                                 "jne 8\n"
                                 "mov rax,QWORD PTR [rsp]\n"
                                 "imul rax,rax,0xfffffffffffffe70\n"
                                 "add rdi,rax\n";
    maker m = start_tile(a, target, 2, 3);
    at_text text = {0}, found = {0};
    add_loop(&m, 0, 1);
    add_loop(&m, 0, 2);
    m.ops.data[m.ops.len - 1].by = 16;
    m.ops.data[m.ops.len - 1].most = 4;
    add_move(&m, AT_T_PREFETCH, -1, 0, 8, 1);
    add_bump(&m, 0, 1, -1);
    add_op(&m, AT_T_END);
    add_loop(&m, 7, -1);
    add_bump(&m, 1, -8, -1);
    add_op(&m, AT_T_END);
    add_op(&m, AT_T_END);
    add_bump(&m, 0, -100, 0);
    at_tile *t = finish(&m);
    assert_true(t->target->encode(a, t));
    at_text_addf(&text, "%s%sadd rsp,0x18\nret\n", wanted,
                 wanted_has_vex(target) ? "vzeroupper\n" : "");
    disassemble(a, &m.t, at_format(a, "%s/code", folder), &found);
    compare_lines(at_text_str(&found), at_text_str(&text), at_format(a, "%s, loops", target->name));
    at_text_free(&text);
    at_text_free(&found);
}

static void encoder(const at_target *target) {
    skip_without_objdump();
    at_arena *a = at_arena_new();
    encode_moves(a, target);
    encode_arithmetic(a, target);
    if (target->lanes == 16) encode_halves(a, target);
    if (target->prelude) encode_zips(a, target);
    if (target->prelude) encode_lanes(a, target);
    if (target->prelude) encode_spreads(a, target);
    encode_picks(a, target);
    encode_spread_picks(a, target);
    encode_stores_apart(a, target);
    if (target->lanes == 16) encode_kept(a, target);
    if (target->merges) encode_merges(a, target);
    if (target->gnu_insert) encode_fours(a, target);
    if (target->gathers) encode_gathers(a, target);
    encode_bumps(a, target);
    encode_indices(a, target);
    encode_loops(a, target);
    at_arena_free(a);
}

static void encoder_scalar(void **state) { (void)state, encoder(at_target_find("scalar")); }
static void encoder_sse2(void **state) { (void)state, encoder(at_target_find("sse2")); }
static void encoder_avx2(void **state) { (void)state, encoder(at_target_find("avx2")); }
static void encoder_avx512(void **state) { (void)state, encoder(at_target_find("avx512")); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoder_scalar),
        cmocka_unit_test(encoder_sse2),
        cmocka_unit_test(encoder_avx2),
        cmocka_unit_test(encoder_avx512),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
