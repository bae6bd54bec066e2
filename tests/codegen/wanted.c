/* See wanted.h. */
#include "tests/codegen/wanted.h"

const char *const wanted_bases[AT_TILE_MAX_SLOTS] = {"rdi", "rsi", "rdx", "rcx", "r8",  "r9",
                                                     "r10", "r11", "rbx", "rbp", "r12", "r13"};

const char *wanted_memory(const maker *m, const at_tile_op *op, int bytes, int64_t more) {
    const char *size = bytes == 1    ? "BYTE"
                       : bytes == 4  ? "DWORD"
                       : bytes == 8  ? "QWORD"
                       : bytes == 16 ? "XMMWORD"
                       : bytes == 32 ? "YMMWORD"
                                     : "ZMMWORD";
    long long at = (long long)(op->off * 4 + more);
    if (!at) return at_format(m->arena, "%s PTR [%s]", size, wanted_bases[op->slot]);
    return at_format(m->arena, "%s PTR [%s%c0x%llx]", size, wanted_bases[op->slot],
                     at < 0 ? '-' : '+', at < 0 ? -at : at);
}

const char *wanted_vector(const maker *m, int r, int bytes) {
    return at_format(m->arena, "%cmm%d", bytes == 64 ? 'z' : bytes == 32 ? 'y' : 'x', r);
}

bool wanted_has_vex(const at_target *target) { return target->lanes >= 8; }

static void want_two(maker *m, bool store, const char *mnemonic, const char *reg, const char *mem) {
    WANT(m, "%s %s,%s", mnemonic, store ? mem : reg, store ? reg : mem);
}

/* A store of the first n lanes of eight: no mask, but pieces. */
static void want_first(maker *m, const at_tile_op *op, int n, const char *x) {
    const int done = n > 4 ? 4 : 0, left = n - done;
    if (done) {
        WANT(m, "vmovups %s,%s", wanted_memory(m, op, 16, 0), x);
        WANT(m, "vextractf128 xmm15,%s,0x1", wanted_vector(m, op->a, 32));
        m->mask_now = 0;
        x = "xmm15";
    }
    if (left == 1) WANT(m, "vmovss %s,%s", wanted_memory(m, op, 4, 4 * done), x);
    else WANT(m, "vmovq %s,%s", wanted_memory(m, op, 8, 4 * done), x);
    if (left == 3) WANT(m, "vextractps %s,%s,0x2", wanted_memory(m, op, 4, 4 * done + 8), x);
}

static void want_move(maker *m, const at_tile_op *op) {
    bool store = op->kind == AT_T_STORE, v = wanted_has_vex(m->t.target);
    int n = op->lanes, r = store ? op->a : op->dst;
    const char *x = wanted_vector(m, r, 16);
    if (n == 1) {
        want_two(m, store, v ? "vmovss" : "movss", x, wanted_memory(m, op, 4, 0));
    } else if (n == 4 || (n == 8 && v) || n == 16) {
        want_two(m, store, v ? "vmovups" : "movups", wanted_vector(m, r, 4 * n),
                 wanted_memory(m, op, 4 * n, 0));
    } else if (m->t.target->lanes == 16) {
        if (!m->mask[n]) m->mask[n] = ++m->num_masks;
        const char *z = wanted_vector(m, r, 64), *mem = wanted_memory(m, op, 64, 0);
        if (store) WANT(m, "vmovups %s{k%d},%s", mem, m->mask[n], z);
        else WANT(m, "vmovups %s{k%d}{z},%s", z, m->mask[n], mem);
    } else if (m->t.target->lanes == 8 && store) {
        want_first(m, op, n, x);
    } else if (m->t.target->lanes == 8 && n == 2) {
        WANT(m, "vmovq %s,%s", x, wanted_memory(m, op, 8, 0));
    } else if (m->t.target->lanes == 8) {
        if (m->mask_now != n) WANT(m, "vmovups ymm15,mask of %d", n);
        m->mask_now = n;
        WANT(m, "vmaskmovps %s,ymm15,%s", wanted_vector(m, r, 32), wanted_memory(m, op, 32, 0));
    } else {
        if (!store) WANT(m, "xorps %s,%s", x, x);
        want_two(m, store, "movlps", x, wanted_memory(m, op, 8, 0));
        if (n == 3 && store) WANT(m, "movhlps xmm15,%s", x);
        if (n == 3) want_two(m, store, "movss", "xmm15", wanted_memory(m, op, 4, 8));
        if (n == 3 && !store) WANT(m, "movlhps %s,xmm15", x);
    }
}

enum { TURNED = -1000000 }; /* what the register that says where lanes are from holds then */

/* Behind a load: lane i is what was number (i + plus)/by, or (i + plus)%by. */
static void want_spread(maker *m, const at_tile_op *op) {
    int lanes = m->t.target->lanes, scratch = lanes == 16 ? 31 : 15, order = 0;
    const char *x = wanted_vector(m, op->dst, 4 * lanes), *s = wanted_vector(m, scratch, 4 * lanes);
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
        const char *four = wanted_memory(m, op, 16, 4 * picked(op, lane + 3));
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
    const char *first = wanted_memory(m, op, 16, 4 * a), *second = wanted_memory(m, op, 16, 4 * b);
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
        const char *of = wanted_memory(m, op, 4, 4 * picked(op, lane + i));
        if (v && i) WANT(m, "vinsertps %s,%s,%s,0x%x", to, to, of, (unsigned)(i << 4));
        else WANT(m, "%s %s,%s", v ? "vmovss" : "movss", !v && i ? "xmm15" : to, of);
        if (!v && i == 1) WANT(m, "unpcklps %s,xmm15", to);
        if (!v && i == 2) WANT(m, "movlhps %s,xmm15", to);
        if (!v && i == 3) WANT(m, "shufps xmm15,xmm15,0x15\norps %s,xmm15", to);
    }
}

/* Every second of 15 floats, out of the first and the last eight of them. */
static bool want_second(maker *m, const at_tile_op *op) {
    const char *y = wanted_vector(m, op->dst, 32);
    for (int i = 0; i < op->lanes; i++)
        if (picked(op, i) != 2 * i) return false;
    if (op->lanes != 8) return false;
    WANT(m, "vmovups %s,%s\nvshufps %s,%s,%s,0xd8\nvpermpd %s,%s,0xd8", y,
         wanted_memory(m, op, 32, 0), y, y, wanted_memory(m, op, 32, 4 * 7), y, y);
    return true;
}

static void want_picks_by_four(maker *m, const at_tile_op *op) {
    if (want_second(m, op)) return;
    if (op->times < 0 && op->lanes == 8) {
        if (m->mask_now != TURNED) WANT(m, "vpmovzxbd ymm15,lanes 7 6 5 4 3 2 1 0");
        m->mask_now = TURNED;
        WANT(m, "vpermps %s,ymm15,%s", wanted_vector(m, op->dst, 32), wanted_memory(m, op, 32, 0));
        return;
    }
    for (int lane = 0; lane < op->lanes; lane += 4) {
        const char *to = wanted_vector(m, lane ? 15 : op->dst, 16);
        if (!want_four(m, op, lane, to)) want_single_picks(m, op, lane, to);
    }
    const char *y = wanted_vector(m, op->dst, 32);
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
        WANT(m, "vpermps %s,%s,%s", wanted_vector(m, op->dst, bytes), wanted_vector(m, 31, bytes),
             wanted_memory(m, op, bytes, 0));
        return;
    }
    int last = op->times < 0 ? op->lanes - 1 : picked(op, op->lanes - 1), begin[5] = {0}, n = 1;
    at_tile_op first = *op;
    first.lanes = (uint8_t)(last < 15 ? last + 1 : 16);
    want_move(m, &first);
    for (; begin[n - 1] + 15 < last; n++) begin[n] = last - 15 < 15 * n ? last - 15 : 15 * n;
    for (int part = n > 1; part < n; part++) {
        const char *from = "", *x = wanted_vector(m, op->dst, 64),
                   *of = n > 1 ? wanted_memory(m, op, 64, 4 * begin[part]) : x;
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
        const char *four = wanted_vector(m, i < 4 ? r : 31, 16), *z = wanted_vector(m, r, 64),
                   *at = wanted_memory(m, op, 4, 4 * (store ? op->times * i : picked(op, i)));
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
    const char *a = wanted_vector(m, op->a, 16);
    for (int i = 0; i < op->lanes; i++) {
        const char *to = wanted_memory(m, op, 4, 4 * op->times * i), *half = i < 4 ? a : "xmm15";
        if (v && i == 4) WANT(m, "vextractf128 xmm15,%s,0x1", wanted_vector(m, op->a, 32));
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
        WANT(m, "vpermps zmm31,zmm31,%s", wanted_vector(m, op->a, 64));
        WANT(m, "vmovups %s{k%d},zmm31", wanted_memory(m, op, 64, 4 * (first - skipped)), 1 + k);
    }
}

/* Each four of lanes from or to a place of its own. */
static void want_fours(maker *m, const at_tile_op *op) {
    const bool store = op->kind == AT_T_STORE, is_512 = m->t.target->lanes == 16;
    const int r = store ? op->a : op->dst;
    const char *whole = wanted_vector(m, r, is_512 ? 64 : 32), *kind = is_512 ? "f32x4" : "f128";
    want_two(m, store, "vmovups", wanted_vector(m, r, 16), wanted_memory(m, op, 16, 0));
    for (int i = 1; i < op->lanes / 4; i++) {
        const char *to = wanted_memory(m, op, 16, 4 * op->fours * i);
        if (store) WANT(m, "vextract%s %s,%s,0x%x", kind, to, whole, (unsigned)i);
        else WANT(m, "vinsert%s %s,%s,%s,0x%x", kind, whole, whole, to, (unsigned)i);
    }
}

static void want_const(maker *m, const at_tile_op *op) {
    uint32_t bits = at_tile_bits(op);
    const char *x = wanted_vector(m, op->dst, 16);
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
        if (!wanted_has_vex(m->t.target))
            WANT(m, "movd %s,eax", x), WANT(m, "shufps %s,%s,0x0", x, x);
    }
}

static void want_arithmetic(maker *m, const at_tile_op *op) {
    static const char *const names[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = "fmadd231", [AT_T_FNMA] = "fnmadd231", [AT_T_FMS] = "fmsub231",
        [AT_T_ADD] = "add",      [AT_T_SUB] = "sub",        [AT_T_MUL] = "mul",
        [AT_T_DIV] = "div",      [AT_T_MIN] = "min",        [AT_T_MAX] = "max"};
    int bytes = m->t.target->lanes == 16 ? 64 : m->t.target->lanes == 8 ? 32 : 16;
    const char *d = wanted_vector(m, op->dst, bytes), *a = wanted_vector(m, op->a, bytes);
    const char *b = !op->mem ? wanted_vector(m, op->b, bytes)
                             : wanted_memory(m, op,
                                             m->t.target->lanes == 1   ? 4
                                             : op->mem == AT_MEM_BCAST ? 4
                                                                       : bytes,
                                             0);
    if (wanted_has_vex(m->t.target)) {
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
        WANT(m, "add %s,0x%llx", wanted_bases[op->slot], (unsigned long long)by);
        return;
    }
    WANT(m, "movabs rax,0x%llx", (unsigned long long)by);
    WANT(m, "add %s,rax", wanted_bases[op->slot]);
}

static void want_index(maker *m, const at_tile_op *op) {
    WANT(m, "movsxd rax,%s", wanted_memory(m, op, 4, 0));
    if (op->may_miss) {
        const char *to = wanted_bases[op->dst];
        if (op->bump != 1) WANT(m, "imul %s,rax,0x%llx", to, (unsigned long long)op->bump);
        WANT(m, "lea %s,[%s+%s*4]", to, wanted_bases[op->base], op->bump != 1 ? to : "rax");
        WANT(m, "test rax,rax\nlea rax,%d times %g\ncmovs %s,rax", AT_TILE_NUMBERS, op->number, to);
        return;
    }
    if (op->times != 1) WANT(m, "imul rax,rax,0x%x", (unsigned)op->times);
    if (op->plus) WANT(m, "add rax,0x%x", (unsigned)op->plus);
    if (op->by % 2 == 0) WANT(m, "shr rax,%s", op->by == 2 ? "1" : op->by == 64 ? "0x6" : "0x3");
    if (op->by == 24) WANT(m, "imul rax,rax,0x2aaaaab\nshr rax,0x1b"); /* 2^27 / 3 */
    if (op->bump != 1) WANT(m, "imul rax,rax,0x%llx", (unsigned long long)op->bump);
    WANT(m, "lea %s,[%s+rax*4]", wanted_bases[op->dst], wanted_bases[op->base]);
}

/* The last operation added, of straight-line code. */
void want(maker *m) {
    const at_tile_op *op = &m->ops.data[m->ops.len - 1];
    const char *x;
    switch (op->kind) {
    case AT_T_PREFETCH: WANT(m, "prefetcht0 %s", wanted_memory(m, op, 1, 0)); return;
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
        x = wanted_vector(m, op->dst, 4 * m->t.lanes);
        if (wanted_has_vex(m->t.target)) {
            WANT(m, "vbroadcastss %s,%s", x, wanted_memory(m, op, 4, 0));
            return;
        }
        WANT(m, "movss %s,%s", x, wanted_memory(m, op, 4, 0));
        WANT(m, "shufps %s,%s,0x0", x, x);
        return;
    case AT_T_MOV:
        x = wanted_vector(m, op->dst, 4 * m->t.lanes);
        WANT(m, "%s %s,%s", wanted_has_vex(m->t.target) ? "vmovaps" : "movaps", x,
             wanted_vector(m, op->a, 4 * m->t.lanes));
        return;
    default: want_arithmetic(m, op);
    }
}
