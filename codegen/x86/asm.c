/* codegen/x86/asm.c: see asm.h. Source of the rules: Zydis 4.0 as measured against GNU as. */
#include "codegen/x86/asm.h"
#include "codegen/x86/x86.h"

#include <Zydis/Zydis.h>
#include <stdatomic.h>
#include <string.h>

static const ZydisMnemonic mnemonics[] = {
#define AT_X86(op) ZYDIS_MNEMONIC_##op,
#include "codegen/x86/ops.def"
#undef AT_X86
};

static void reserve(at_asm *a, int n) {
    if (a->len + n <= a->cap) return;
    int cap = a->cap ? 2 * a->cap : 1024;
    while (cap < a->len + n) cap *= 2;
    uint8_t *code = at_alloc(a->arena, (size_t)cap);
    if (a->len) memcpy(code, a->code, (size_t)a->len);
    a->code = code;
    a->cap = cap;
}

static ZydisRegister vector(int r, int bytes) {
    return (ZydisRegister)((bytes == 64   ? ZYDIS_REGISTER_ZMM0
                            : bytes == 32 ? ZYDIS_REGISTER_YMM0
                                          : ZYDIS_REGISTER_XMM0) +
                           r);
}

static ZydisEncoderOperand operand(const at_x86_arg *x) {
    ZydisEncoderOperand o;
    memset(&o, 0, sizeof o);
    o.type = ZYDIS_OPERAND_TYPE_REGISTER;
    switch (x->kind) {
    case AT_ARG_GPR8: o.reg.value = (ZydisRegister)(ZYDIS_REGISTER_AL + x->reg); break;
    case AT_ARG_GPR16: o.reg.value = (ZydisRegister)(ZYDIS_REGISTER_AX + x->reg); break;
    case AT_ARG_GPR32: o.reg.value = (ZydisRegister)(ZYDIS_REGISTER_EAX + x->reg); break;
    case AT_ARG_GPR64: o.reg.value = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg); break;
    case AT_ARG_VEC: o.reg.value = vector(x->reg, x->bytes); break;
    case AT_ARG_MASK: o.reg.value = (ZydisRegister)(ZYDIS_REGISTER_K0 + x->reg); break;
    case AT_ARG_IMM:
        o.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
        o.imm.s = x->value;
        break;
    case AT_ARG_MEM:
        o.type = ZYDIS_OPERAND_TYPE_MEMORY;
        o.mem.base =
            x->reg == AT_RIP ? ZYDIS_REGISTER_RIP : (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg);
        o.mem.displacement = x->value;
        o.mem.size = (ZyanU16)x->bytes;
        break;
    case AT_ARG_MEM_ELEMENTS:
        o.type = ZYDIS_OPERAND_TYPE_MEMORY;
        o.mem.base = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg);
        o.mem.index = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->value);
        o.mem.scale = (ZyanU8)x->index;
        o.mem.size = (ZyanU16)x->bytes;
        break;
    case AT_ARG_MEM_PLACE:
        o.type = ZYDIS_OPERAND_TYPE_MEMORY;
        o.mem.base = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg);
        o.mem.index = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->index);
        o.mem.scale = sizeof(float);
        o.mem.displacement = x->value;
        o.mem.size = (ZyanU16)x->bytes;
        break;
    case AT_ARG_MEM_GATHER:
        o.type = ZYDIS_OPERAND_TYPE_MEMORY;
        o.mem.base = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg);
        o.mem.index = vector(x->index, x->bytes);
        o.mem.scale = sizeof(float);
        o.mem.displacement = x->value;
        o.mem.size = sizeof(float);
        break;
    }
    return o;
}

static void encode(at_asm *a, ZydisEncoderRequest *q) {
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize len = sizeof bytes;
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(q, bytes, &len))) {
        a->bad = true;
        return;
    }
    at_asm_raw(a, bytes, (int)len);
}

static void start(ZydisEncoderRequest *q, at_x86_op op) {
    memset(q, 0, sizeof *q);
    q->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    q->allowed_encodings = ZYDIS_ENCODABLE_ENCODING_LEGACY | ZYDIS_ENCODABLE_ENCODING_VEX |
                           ZYDIS_ENCODABLE_ENCODING_EVEX;
    q->mnemonic = mnemonics[op];
}

/* ---- what was encoded before -----------------------------------------------------------------
 *
 * The kernels of a search are made of few instructions, at many displacements. Each is looked up by
 * all that its bytes depend on. Of a displacement that takes four bytes that is not its value. */

enum { REMEMBERED = 2048, MOST_ARGS = 4 };

typedef struct remembered {
    uint64_t head, args[MOST_ARGS]; /* the instruction */
    uint8_t len;                    /* of bytes; 0: none is remembered here */
    int8_t displaced;               /* where its displacement of four bytes stands; -1: nowhere */
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
} remembered;

static remembered memory[REMEMBERED];
static atomic_flag in_use = ATOMIC_FLAG_INIT; /* another thread encodes without it */

static bool is_byte(int64_t x) { return x == (int8_t)x; }

/* In one byte a displacement counts bytes or, in EVEX forms, as many as are loaded or stored. */
static bool takes_four(const at_x86_arg *x) {
    return x->kind == AT_ARG_MEM && x->reg != AT_RIP && x->value == (int32_t)x->value &&
           !is_byte(x->value) && (x->value % x->bytes || !is_byte(x->value / x->bytes));
}

/* false: it has no key. *displacement: in four bytes; 0: none. */
static bool key_of(remembered *key, at_x86_op op, int broadcast, bool zeroing, int num_args,
                   const at_x86_arg *args, int32_t *displacement) {
    const int64_t limit = (int64_t)1 << 40;
    *key = (remembered){.head = (uint64_t)op << 24 | (uint64_t)broadcast << 16 |
                                (uint64_t)zeroing << 8 | (uint64_t)num_args};
    *displacement = 0;
    if (num_args > MOST_ARGS) return false;
    for (int i = 0; i < num_args; i++) {
        const at_x86_arg *x = &args[i];
        int64_t value = x->value;
        if (x->kind == AT_ARG_MEM_GATHER || x->kind == AT_ARG_MEM_PLACE) return false;
        if (takes_four(x)) *displacement = (int32_t)x->value, value = limit;
        else if (value <= -limit || value >= limit) return false;
        if (x->kind == AT_ARG_MEM_ELEMENTS) value |= (int64_t)x->index << 8;
        key->args[i] = (uint64_t)value << 20 | (uint64_t)x->bytes << 12 | (uint64_t)x->reg << 4 |
                       (uint64_t)x->kind;
    }
    return true;
}

static remembered *place_of(const remembered *key) {
    uint64_t hash = key->head;
    for (int i = 0; i < MOST_ARGS; i++) {
        hash = (hash ^ key->args[i]) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
        hash ^= hash >> 32;
    }
    return &memory[hash % REMEMBERED];
}

static bool is_remembered(const remembered *x, const remembered *key) {
    return x->len && x->head == key->head && !memcmp(x->args, key->args, sizeof x->args);
}

/* Where the displacement stands; -1: there is none, or it is not the only place that looks so. */
static int find_displacement(const uint8_t *bytes, int len, int32_t displacement) {
    int found = -1, times = 0;
    for (int at = 0; at + 4 <= len; at++)
        if (!memcmp(bytes + at, &displacement, 4)) found = at, times++;
    return times == 1 ? found : -1;
}

static void remember(remembered *to, const remembered *key, const uint8_t *bytes, int len,
                     int32_t displacement) {
    int at = displacement ? find_displacement(bytes, len, displacement) : -1;
    if (displacement && at < 0) return;
    *to = *key;
    to->len = (uint8_t)len;
    to->displaced = (int8_t)at;
    memcpy(to->bytes, bytes, (size_t)len);
}

static void encode_new(at_asm *a, at_x86_op op, int broadcast, bool zeroing, int num_args,
                       const at_x86_arg *args) {
    ZydisEncoderRequest q;
    start(&q, op);
    q.operand_count = (ZyanU8)num_args;
    for (int i = 0; i < num_args; i++) q.operands[i] = operand(&args[i]);
    q.evex.broadcast = broadcast == 16  ? ZYDIS_BROADCAST_MODE_1_TO_16
                       : broadcast == 8 ? ZYDIS_BROADCAST_MODE_1_TO_8
                       : broadcast == 4 ? ZYDIS_BROADCAST_MODE_1_TO_4
                                        : ZYDIS_BROADCAST_MODE_INVALID;
    q.evex.zeroing_mask = zeroing;
    /* AVX_VNNI has no others; where both are, shorter ones. */
    if ((op == AT_X86_VPDPBUSD || op == AT_X86_VPDPWSSD) && args[0].bytes <= 32)
        q.allowed_encodings = ZYDIS_ENCODABLE_ENCODING_VEX;
    encode(a, &q);
}

void at_asm_emit(at_asm *a, at_x86_op op, int broadcast, bool zeroing, int num_args,
                 const at_x86_arg *args) {
    remembered key, *r;
    int32_t displacement;
    bool has_key = key_of(&key, op, broadcast, zeroing, num_args, args, &displacement);
    if (!has_key || atomic_flag_test_and_set_explicit(&in_use, memory_order_acquire)) {
        encode_new(a, op, broadcast, zeroing, num_args, args);
        return;
    }
    int before = a->len;
    r = place_of(&key);
    if (is_remembered(r, &key)) {
        at_asm_raw(a, r->bytes, r->len);
        if (r->displaced >= 0) memcpy(a->code + before + r->displaced, &displacement, 4);
    } else {
        encode_new(a, op, broadcast, zeroing, num_args, args);
        if (!a->bad) remember(r, &key, a->code + before, a->len - before, displacement);
    }
    atomic_flag_clear_explicit(&in_use, memory_order_release);
}

/* ---- jumps, no-ops, data --------------------------------------------------------------------- */

int at_asm_jump(at_asm *a, at_x86_op op, int to) {
    ZydisEncoderRequest q;
    start(&q, op);
    q.operand_count = 1;
    q.branch_width = ZYDIS_BRANCH_WIDTH_32;
    q.operands[0].type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
    int before = a->len;
    encode(a, &q);
    int at = a->len - 4;
    if (a->len == before) return before; /* refused; a->bad says so */
    int32_t distance = to >= 0 ? to - a->len : 0;
    memcpy(a->code + at, &distance, 4);
    return at;
}

void at_asm_patch(at_asm *a, int at) {
    int32_t distance = a->len - (at + 4);
    if (!a->bad) memcpy(a->code + at, &distance, 4);
}

void at_asm_align(at_asm *a, int bytes) {
    int n = (bytes - a->len % bytes) % bytes;
    reserve(a, n);
    if (n && !ZYAN_SUCCESS(ZydisEncoderNopFill(a->code + a->len, (ZyanUSize)n))) a->bad = true;
    a->len += n;
}

void at_asm_raw(at_asm *a, const void *p, int n) {
    reserve(a, n);
    memcpy(a->code + a->len, p, (size_t)n);
    a->len += n;
}

int at_x86_disassemble(const uint8_t *code, int len, char *out, size_t out_size) {
    ZydisDisassembledInstruction x;
    if (!ZYAN_SUCCESS(
            ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, 0, code, (ZyanUSize)len, &x)))
        return 0;
    snprintf(out, out_size, "%s", x.text);
    if (x.info.raw.imm[0].is_relative) /* from the instruction's beginning, as assemblers have it */
        snprintf(out, out_size, "%s .%+lld", ZydisMnemonicGetString(x.info.mnemonic),
                 (long long)x.info.raw.imm[0].value.s + x.info.length);
    return x.info.length;
}
