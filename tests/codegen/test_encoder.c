/* Every instruction form the encoder makes, read back by another project's disassembler. */
#include <string.h>

#include "tests/codegen/hand_made.h"
#include "tests/codegen/objdump.h"
#include "tests/codegen/support.h"

/* ---- instructions wanted --------------------------------------------------------------------- */

static const char *const base_name[AT_TILE_MAX_SLOTS] = {"rdi", "rsi", "rdx", "rcx", "r8",  "r9",
                                                         "r10", "r11", "rbx", "rbp", "r12", "r13"};

#define WANT(m, ...) (at_text_addf(&(m)->want, __VA_ARGS__), at_text_add(&(m)->want, "\n"))

static const char *memory_text(const maker *m, const at_tile_op *op, int bytes, int64_t more) {
    const char *size = bytes == 1    ? "BYTE"
                       : bytes == 4  ? "DWORD"
                       : bytes == 8  ? "QWORD"
                       : bytes == 16 ? "XMMWORD"
                       : bytes == 32 ? "YMMWORD"
                                     : "ZMMWORD";
    long long at = (long long)(op->off * 4 + more);
    if (!at) return at_format(m->arena, "%s PTR [%s]", size, base_name[op->slot]);
    return at_format(m->arena, "%s PTR [%s%c0x%llx]", size, base_name[op->slot], at < 0 ? '-' : '+',
                     at < 0 ? -at : at);
}

static const char *vector_text(const maker *m, int r, int bytes) {
    return at_format(m->arena, "%cmm%d", bytes == 64 ? 'z' : bytes == 32 ? 'y' : 'x', r);
}

static bool has_vex(const at_target *target) { return target->lanes >= 8; }

static void want_two(maker *m, bool store, const char *mnemonic, const char *reg, const char *mem) {
    WANT(m, "%s %s,%s", mnemonic, store ? mem : reg, store ? reg : mem);
}

static void want_move(maker *m, const at_tile_op *op) {
    bool store = op->kind == AT_T_STORE, v = has_vex(m->t.target);
    int n = op->lanes, r = store ? op->a : op->dst;
    const char *x = vector_text(m, r, 16);
    if (n == 1) {
        want_two(m, store, v ? "vmovss" : "movss", x, memory_text(m, op, 4, 0));
    } else if (n == 4 || (n == 8 && v) || n == 16) {
        want_two(m, store, v ? "vmovups" : "movups", vector_text(m, r, 4 * n),
                 memory_text(m, op, 4 * n, 0));
    } else if (m->t.target->lanes == 16) {
        if (!m->mask[n]) m->mask[n] = ++m->num_masks;
        const char *z = vector_text(m, r, 64), *mem = memory_text(m, op, 64, 0);
        if (store) WANT(m, "vmovups %s{k%d},%s", mem, m->mask[n], z);
        else WANT(m, "vmovups %s{k%d}{z},%s", z, m->mask[n], mem);
    } else if (m->t.target->lanes == 8 && n == 2) {
        want_two(m, store, "vmovq", x, memory_text(m, op, 8, 0));
    } else if (m->t.target->lanes == 8) {
        const char *y = vector_text(m, r, 32), *mem = memory_text(m, op, 32, 0);
        if (m->mask_now != n) WANT(m, "vmovups ymm15,mask of %d", n);
        m->mask_now = n;
        WANT(m, "vmaskmovps %s,ymm15,%s", store ? mem : y, store ? y : mem);
    } else {
        if (!store) WANT(m, "xorps %s,%s", x, x);
        want_two(m, store, "movlps", x, memory_text(m, op, 8, 0));
        if (n == 3 && store) WANT(m, "movhlps xmm15,%s", x);
        if (n == 3) want_two(m, store, "movss", "xmm15", memory_text(m, op, 4, 8));
        if (n == 3 && !store) WANT(m, "movlhps %s,xmm15", x);
    }
}

enum { TURNED = -1000000 }; /* what the register that says where lanes are from holds then */

/* Behind a load: lane i is what was number (i + plus)/by, or (i + plus)%by. */
static void want_spread(maker *m, const at_tile_op *op) {
    int lanes = m->t.target->lanes, scratch = lanes == 16 ? 31 : 15, order = 0;
    const char *x = vector_text(m, op->dst, 4 * lanes), *s = vector_text(m, scratch, 4 * lanes);
    int of[16], key = op->cyclic ? -op->by - 100 : -op->by;
    for (int i = 0; i < 16; i++)
        of[i] = op->cyclic ? (i + op->plus) % op->by : (i + op->plus) / op->by;
    for (int i = 0; i < 4; i++) order |= of[i] << 2 * i;
    if (lanes == 4) {
        WANT(m, "shufps %s,%s,0x%x", x, x, (unsigned)order);
        return;
    }
    const char *from = "";
    for (int i = 0; i < lanes; i++) from = at_format(m->arena, "%s %d", from, of[i]);
    if (m->mask_now != key || m->plus_now != op->plus) WANT(m, "vpmovzxbd %s,lanes%s", s, from);
    m->mask_now = key;
    m->plus_now = op->plus;
    WANT(m, "vpermps %s,%s,%s", x, s, x);
}

/* Which number of memory a lane is. */
static int picked(const at_tile_op *op, int lane) {
    if (op->times < 0) return op->lanes - 1 - lane;
    if (op->grouped) return op->times * lane + op->plus;
    return op->times * (op->by ? (lane + op->plus) / op->by : lane);
}

/* Four lanes from this one on: by twos that lie in four floats each, which end with the last float
 * that is asked for at most; of a vector that is turned, out of one four. */
static bool want_four(maker *m, const at_tile_op *op, int lane, const char *to) {
    if (op->times < 0 && lane + 4 <= op->lanes) {
        const char *four = memory_text(m, op, 16, 4 * picked(op, lane + 3));
        if (m->t.target->lanes == 8) WANT(m, "vpermilps %s,%s,0x1b", to, four);
        else WANT(m, "movups %s,%s\nshufps %s,%s,0x1b", to, four, to, to);
        return true;
    }
    if (op->times < 0) return false;
    int last = picked(op, op->lanes - 1), a = picked(op, lane), b = picked(op, lane + 2);
    bool v = m->t.target->lanes == 8;
    if (lane + 4 > op->lanes || last < 3) return false;
    if (a > last - 3) a = last - 3;
    if (b > last - 3) b = last - 3;
    if (picked(op, lane + 1) - a > 3 || picked(op, lane + 3) - b > 3) return false;
    unsigned order = (unsigned)((picked(op, lane) - a) | (picked(op, lane + 1) - a) << 2 |
                                (picked(op, lane + 2) - b) << 4 | (picked(op, lane + 3) - b) << 6);
    const char *first = memory_text(m, op, 16, 4 * a), *second = memory_text(m, op, 16, 4 * b);
    if (!v) WANT(m, "movups %s,%s", to, first);
    if (!v && a != b) WANT(m, "movups xmm15,%s", second);
    if (!v) WANT(m, "shufps %s,%s,0x%x", to, a == b ? to : "xmm15", order);
    else if (a == b) WANT(m, "vpermilps %s,%s,0x%x", to, first, order);
    else WANT(m, "vmovups %s,%s\nvshufps %s,%s,%s,0x%x", to, first, to, to, second, order);
    return true;
}

/* Each by itself. */
static void want_single_picks(maker *m, const at_tile_op *op, int lane, const char *to) {
    bool v = m->t.target->lanes == 8;
    for (int i = 0; i < 4 && lane + i < op->lanes; i++) {
        const char *of = memory_text(m, op, 4, 4 * picked(op, lane + i));
        if (v && i) WANT(m, "vinsertps %s,%s,%s,0x%x", to, to, of, (unsigned)(i << 4));
        else WANT(m, "%s %s,%s", v ? "vmovss" : "movss", !v && i ? "xmm15" : to, of);
        if (!v && i == 1) WANT(m, "unpcklps %s,xmm15", to);
        if (!v && i == 2) WANT(m, "movlhps %s,xmm15", to);
        if (!v && i == 3) WANT(m, "shufps xmm15,xmm15,0x15\norps %s,xmm15", to);
    }
}

static void want_picks_by_four(maker *m, const at_tile_op *op) {
    if (op->times < 0 && op->lanes == 8) {
        if (m->mask_now != TURNED) WANT(m, "vpmovzxbd ymm15,lanes 7 6 5 4 3 2 1 0");
        m->mask_now = TURNED;
        WANT(m, "vpermps %s,ymm15,%s", vector_text(m, op->dst, 32), memory_text(m, op, 32, 0));
        return;
    }
    for (int lane = 0; lane < op->lanes; lane += 4) {
        const char *to = vector_text(m, lane ? 15 : op->dst, 16);
        if (!want_four(m, op, lane, to)) want_single_picks(m, op, lane, to);
    }
    const char *y = vector_text(m, op->dst, 32);
    if (op->lanes > 4) WANT(m, "vperm2f128 %s,%s,ymm15,0x20", y, y);
}

/* Lane i is number times*i of memory: of vectors that begin with the last element of the one
 * before, or end with the last that is asked for. Each takes what it has from where it is. */
static void want_pick(maker *m, const at_tile_op *op) {
    if (op->times < 0 && op->lanes % 8 == 0) {
        const int bytes = 4 * op->lanes;
        const char *from = op->lanes == 8 ? "7 6 5 4 3 2 1 0 0 0 0 0 0 0 0 0"
                                          : "15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0";
        if (m->mask_now != TURNED - op->lanes) WANT(m, "vpmovzxbd zmm31,lanes %s", from);
        m->mask_now = TURNED - op->lanes;
        WANT(m, "vpermps %s,%s,%s", vector_text(m, op->dst, bytes), vector_text(m, 31, bytes),
             memory_text(m, op, bytes, 0));
        return;
    }
    int last = op->times < 0 ? op->lanes - 1 : picked(op, op->lanes - 1), begin[5] = {0}, n = 1;
    at_tile_op first = *op;
    first.lanes = (uint8_t)(last < 15 ? last + 1 : 16);
    want_move(m, &first);
    for (; begin[n - 1] + 15 < last; n++) begin[n] = last - 15 < 15 * n ? last - 15 : 15 * n;
    for (int part = n > 1; part < n; part++) {
        const char *from = "", *x = vector_text(m, op->dst, 64),
                   *of = n > 1 ? memory_text(m, op, 64, 4 * begin[part]) : x;
        for (int i = 0; i < 16; i++) {
            int element = picked(op, i), in = 0, lane = 0;
            while (in < n - 1 && element > begin[in] + 15) in++;
            if (i < op->lanes && in == part) lane = (part ? 16 : 0) + element - begin[in];
            else if (i < op->lanes && in < part) lane = part == 1 ? element : i;
            from = at_format(m->arena, "%s %d", from, lane);
        }
        int table = -100000 * op->by - 10000 * op->plus - 1000 * op->times - 10 * op->lanes - part;
        if (m->mask_now != table) WANT(m, "vpmovzxbd zmm31,lanes%s", from);
        m->mask_now = table;
        const char *kept = "";
        if (part + 1 >= n && op->lanes < 16) {
            if (!m->mask[op->lanes]) m->mask[op->lanes] = ++m->num_masks;
            kept = at_format(m->arena, "{k%d}{z}", m->mask[op->lanes]);
        }
        WANT(m, "%s %s%s,zmm31,%s", n > 1 ? "vpermt2ps" : "vpermps", x, kept, of);
    }
}

/* Of 16 lanes, those of memory so far apart that each is moved by itself, four after four. */
static void want_single_moves_512(maker *m, const at_tile_op *op) {
    bool store = op->kind == AT_T_STORE;
    int r = store ? op->a : op->dst;
    for (int i = 0; i < op->lanes; i++) {
        const char *four = vector_text(m, i < 4 ? r : 31, 16), *z = vector_text(m, r, 64),
                   *at = memory_text(m, op, 4, 4 * (store ? op->times * i : picked(op, i)));
        if (store && i >= 4 && i % 4 == 0)
            WANT(m, "vextractf32x4 xmm31,%s,0x%x", z, (unsigned)i / 4);
        if (i % 4 == 0) want_two(m, store, "vmovss", four, at);
        else if (store) WANT(m, "vextractps %s,%s,0x%x", at, four, (unsigned)i % 4);
        else WANT(m, "vinsertps %s,%s,%s,0x%x", four, four, at, (unsigned)(i % 4 << 4));
        if (!store && i >= 4 && (i % 4 == 3 || i + 1 == op->lanes))
            WANT(m, "vinsertf32x4 %s,%s,xmm31,0x%x", z, z, (unsigned)i / 4);
    }
    if (op->lanes > 4) m->mask_now = 0;
}

/* Lane i goes to number times*i of memory, each by itself. */
static void want_single_stores(maker *m, const at_tile_op *op) {
    bool v = m->t.target->lanes == 8;
    const char *a = vector_text(m, op->a, 16);
    for (int i = 0; i < op->lanes; i++) {
        const char *to = memory_text(m, op, 4, 4 * op->times * i), *half = i < 4 ? a : "xmm15";
        if (v && i == 4) WANT(m, "vextractf128 xmm15,%s,0x1", vector_text(m, op->a, 32));
        if (v && i % 4) WANT(m, "vextractps %s,%s,0x%x", to, half, (unsigned)(i % 4));
        else if (v) WANT(m, "vmovss %s,%s", to, half);
        if (!v && i) WANT(m, "movaps xmm15,%s\nshufps xmm15,xmm15,0x%x", a, (unsigned)i);
        if (!v) WANT(m, "movss %s,%s", to, i ? "xmm15" : a);
    }
}

/* Lane i goes to number times*i of memory, by registers that begin where its group does, of which
 * the mask lets it alone be written. */
static void want_store_apart(maker *m, const at_tile_op *op) {
    int skipped = (int)(op->off % op->times), end = skipped + (op->lanes - 1) * op->times + 1;
    for (int first = 0; first < end; first += 16) {
        const char *from = "";
        unsigned mask = 0;
        int k = 0;
        for (int i = 0; i < 16; i++) {
            int at = first + i - skipped, lane = at / op->times;
            bool is_one = at >= 0 && at % op->times == 0 && lane < op->lanes;
            if (is_one) mask |= 1u << i;
            from = at_format(m->arena, "%s %d", from, is_one ? lane : 0);
        }
        while (k < m->num_masks && m->masks[k] != mask) k++;
        if (k == m->num_masks) m->masks[m->num_masks++] = mask;
        WANT(m, "vpmovzxbd zmm31,lanes%s", from);
        WANT(m, "vpermps zmm31,zmm31,%s", vector_text(m, op->a, 64));
        WANT(m, "vmovups %s{k%d},zmm31", memory_text(m, op, 64, 4 * (first - skipped)), 1 + k);
    }
}

/* Each four of lanes from or to a place of its own. */
static void want_fours(maker *m, const at_tile_op *op) {
    const bool store = op->kind == AT_T_STORE, is_512 = m->t.target->lanes == 16;
    const int r = store ? op->a : op->dst;
    const char *whole = vector_text(m, r, is_512 ? 64 : 32), *kind = is_512 ? "f32x4" : "f128";
    want_two(m, store, "vmovups", vector_text(m, r, 16), memory_text(m, op, 16, 0));
    for (int i = 1; i < op->lanes / 4; i++) {
        const char *to = memory_text(m, op, 16, 4 * op->fours * i);
        if (store) WANT(m, "vextract%s %s,%s,0x%x", kind, to, whole, (unsigned)i);
        else WANT(m, "vinsert%s %s,%s,%s,0x%x", kind, whole, whole, to, (unsigned)i);
    }
}

static void want_const(maker *m, const at_tile_op *op) {
    uint32_t bits = at_tile_bits(op);
    const char *x = vector_text(m, op->dst, 16);
    if (!bits && m->t.target->lanes == 16) {
        WANT(m, "vpxord zmm%d,zmm%d,zmm%d", op->dst, op->dst, op->dst);
    } else if (!bits && m->t.target->lanes == 8) {
        WANT(m, "vxorps ymm%d,ymm%d,ymm%d", op->dst, op->dst, op->dst);
    } else if (!bits) {
        WANT(m, "xorps %s,%s", x, x);
    } else {
        WANT(m, "mov eax,0x%x", (unsigned)bits);
        if (m->t.target->lanes == 16) WANT(m, "vpbroadcastd zmm%d,eax", op->dst);
        if (m->t.target->lanes == 8)
            WANT(m, "vmovd %s,eax", x), WANT(m, "vbroadcastss ymm%d,%s", op->dst, x);
        if (!has_vex(m->t.target)) WANT(m, "movd %s,eax", x), WANT(m, "shufps %s,%s,0x0", x, x);
    }
}

static void want_arithmetic(maker *m, const at_tile_op *op) {
    static const char *const names[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = "fmadd231", [AT_T_FNMA] = "fnmadd231", [AT_T_FMS] = "fmsub231",
        [AT_T_ADD] = "add",      [AT_T_SUB] = "sub",        [AT_T_MUL] = "mul",
        [AT_T_DIV] = "div",      [AT_T_MIN] = "min",        [AT_T_MAX] = "max"};
    int bytes = m->t.target->lanes == 16 ? 64 : m->t.target->lanes == 8 ? 32 : 16;
    const char *d = vector_text(m, op->dst, bytes), *a = vector_text(m, op->a, bytes);
    const char *b = !op->mem ? vector_text(m, op->b, bytes)
                             : memory_text(m, op,
                                           m->t.target->lanes == 1   ? 4
                                           : op->mem == AT_MEM_BCAST ? 4
                                                                     : bytes,
                                           0);
    if (has_vex(m->t.target)) {
        /* how a broadcast is written has changed between binutils: see normalize() */
        WANT(m, "v%sps %s,%s,%s%s", names[op->kind], d, a, op->mem == AT_MEM_BCAST ? "all " : "",
             b);
        return;
    }
    const char *how = m->t.target->lanes == 1 ? "ss" : "ps";
    bool term = at_tile_is_term(op), joins = at_tile_joins_product(op);
    if (!joins && op->dst == op->a) {
        WANT(m, "%s%s %s,%s", names[op->kind], how, d, b);
        return;
    }
    WANT(m, "movaps xmm15,%s", a);
    WANT(m, "%s%s xmm15,%s", names[joins ? AT_T_MUL : op->kind], how, b);
    if (joins && !term) WANT(m, "sub%s xmm15,%s", how, d);
    if (term) WANT(m, "%s%s %s,xmm15", op->kind == AT_T_FMA ? "add" : "sub", how, d);
    else WANT(m, "movaps %s,xmm15", d);
}

static void want_bump(maker *m, const at_tile_op *op) {
    int64_t by = op->bump * 4;
    if (by == (int32_t)by) {
        WANT(m, "add %s,0x%llx", base_name[op->slot], (unsigned long long)by);
        return;
    }
    WANT(m, "movabs rax,0x%llx", (unsigned long long)by);
    WANT(m, "add %s,rax", base_name[op->slot]);
}

static void want_index(maker *m, const at_tile_op *op) {
    WANT(m, "movsxd rax,%s", memory_text(m, op, 4, 0));
    if (op->may_miss) {
        const char *to = base_name[op->dst];
        if (op->bump != 1) WANT(m, "imul %s,rax,0x%llx", to, (unsigned long long)op->bump);
        WANT(m, "lea %s,[%s+%s*4]", to, base_name[op->base], op->bump != 1 ? to : "rax");
        WANT(m, "test rax,rax\nlea rax,%d times %g\ncmovs %s,rax", AT_TILE_NUMBERS, op->number, to);
        return;
    }
    if (op->times != 1) WANT(m, "imul rax,rax,0x%x", (unsigned)op->times);
    if (op->plus) WANT(m, "add rax,0x%x", (unsigned)op->plus);
    if (op->by % 2 == 0) WANT(m, "shr rax,%s", op->by == 2 ? "1" : op->by == 64 ? "0x6" : "0x3");
    if (op->by == 24) WANT(m, "imul rax,rax,0x2aaaaab\nshr rax,0x1b"); /* 2^27 / 3 */
    if (op->bump != 1) WANT(m, "imul rax,rax,0x%llx", (unsigned long long)op->bump);
    WANT(m, "lea %s,[%s+rax*4]", base_name[op->dst], base_name[op->base]);
}

/* The last operation added, of straight-line code. */
static void want(maker *m) {
    const at_tile_op *op = &m->ops.data[m->ops.len - 1];
    const char *x;
    switch (op->kind) {
    case AT_T_PREFETCH: WANT(m, "prefetcht0 %s", memory_text(m, op, 1, 0)); return;
    case AT_T_BUMP: want_bump(m, op); return;
    case AT_T_INDEX: want_index(m, op); return;
    case AT_T_CONST: want_const(m, op); return;
    case AT_T_LOAD:
    case AT_T_STORE:
        if (op->fours) {
            want_fours(m, op);
            return;
        }
        if (op->kind == AT_T_LOAD && op->times) {
            if (m->t.target->lanes == 16 && op->times > 4) want_single_moves_512(m, op);
            else if (m->t.target->picks_whole) want_pick(m, op);
            else want_picks_by_four(m, op);
            return;
        }
        if (op->times > 4 && m->t.target->lanes == 16) want_single_moves_512(m, op);
        else if (op->times && !m->t.target->masked_stores) want_single_stores(m, op);
        else if (op->times) want_store_apart(m, op);
        else want_move(m, op);
        if (op->by) want_spread(m, op);
        return;
    case AT_T_BCAST:
        x = vector_text(m, op->dst, 4 * m->t.lanes);
        if (has_vex(m->t.target)) {
            WANT(m, "vbroadcastss %s,%s", x, memory_text(m, op, 4, 0));
            return;
        }
        WANT(m, "movss %s,%s", x, memory_text(m, op, 4, 0));
        WANT(m, "shufps %s,%s,0x0", x, x);
        return;
    case AT_T_MOV:
        x = vector_text(m, op->dst, 4 * m->t.lanes);
        WANT(m, "%s %s,%s", has_vex(m->t.target) ? "vmovaps" : "movaps", x,
             vector_text(m, op->a, 4 * m->t.lanes));
        return;
    default: want_arithmetic(m, op);
    }
}

/* ---- compared ------------------------------------------------------------------------------- */

/* To be found in every set with vectors, on registers only. */
static void want_zip(maker *m, const at_tile_op *op) {
    static const char *const names[] = {"unpcklps",  "unpckhps",  "unpcklpd",  "unpckhpd",
                                        "punpcklwd", "punpckhwd", "punpcklbw", "punpckhbw"};
    int bytes = 4 * op->lanes;
    const char *d = vector_text(m, op->dst, bytes), *a = vector_text(m, op->a, bytes),
               *b = vector_text(m, op->b, bytes), *last = "",
               *name = op->kind == AT_T_FOURS    ? "shufps"
                       : op->kind == AT_T_HALVES ? "perm2f128"
                                                 : names[op->kind - AT_T_ZIP_LOW];
    if (op->kind >= AT_T_FOURS) last = at_format(m->arena, ",0x%x", (unsigned)op->by);
    if (has_vex(m->t.target)) WANT(m, "v%s %s,%s,%s%s", name, d, a, b, last);
    else WANT(m, "movaps xmm15,%s\n%s xmm15,%s%s\nmovaps %s,xmm15", a, name, b, last, d);
}

/* With the entry and return of a tile of twelve pointers, made inside or passed. */
static void compare_straight(maker *m, const char *what) {
    at_tile *t = finish(m);
    if (!t->target->encode(m->arena, t)) fail_msg("%s: not encoded", what);
    at_text wanted = {0}, found = {0};
    at_text_add(&wanted, "push rbx\npush rbp\npush r12\npush r13\n");
    for (int s = 6; s < t->num_slots; s++)
        at_text_addf(&wanted, "mov %s,QWORD PTR [rsp+0x%x]\n", base_name[s],
                     40 + 8 * (s - 6)); /* four registers and the return address below */
    for (int k = 1; k <= m->num_masks; k++) {
        unsigned mask = m->masks[k - 1];
        for (int n = 1; n <= 16; n++)
            if (m->mask[n] == k) mask = (1u << n) - 1;
        at_text_addf(&wanted, "mov eax,0x%x\nkmovw k%d,eax\n", mask, k);
    }
    at_text_add(&wanted, at_text_str(&m->want));
    if (has_vex(m->t.target)) at_text_add(&wanted, "vzeroupper\n");
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
    const char *d = vector_text(m, op->dst, 64), *a = vector_text(m, op->a, 64),
               *b = vector_text(m, op->b, 64), *lanes = merged_lanes(m, apart, number, part, is_b);
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
    const char *d = vector_text(m, op->dst, bytes), *a = vector_text(m, op->a, bytes);
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
        if (op->grouped) WANT(&m, "vmovups zmm%d,%s", i, memory_text(&m, op, 64, 0));
        WANT(&m, "%s %s,%s,%s", op->grouped ? "vpermt2ps" : "vpermps", vector_text(&m, i, bytes),
             vector_text(&m, kept, bytes), memory_text(&m, op, bytes, op->grouped ? 64 : 0));
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
    const char *d = vector_text(m, op->dst, bytes), *a = vector_text(m, op->a, bytes);
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
    const char *d = vector_text(m, op->dst, 4 * lanes), *i = vector_text(m, op->a, 4 * lanes);
    const char *place = strchr(memory_text(m, op, 4, 0), '[') + 1,
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
    at_text_addf(&text, "%s%sadd rsp,0x18\nret\n", wanted, has_vex(target) ? "vzeroupper\n" : "");
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
