/* codegen/x86/asm.c: see asm.h. Source of the rules: Zydis 4.0 as measured against GNU as. */
#include "codegen/x86/asm.h"
#include "codegen/x86/x86.h"

#include <Zydis/Zydis.h>
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
    case AT_ARG_MEM_FLOATS:
        o.type = ZYDIS_OPERAND_TYPE_MEMORY;
        o.mem.base = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->reg);
        o.mem.index = (ZydisRegister)(ZYDIS_REGISTER_RAX + x->value);
        o.mem.scale = sizeof(float);
        o.mem.size = (ZyanU16)x->bytes;
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

void at_asm_emit(at_asm *a, at_x86_op op, int broadcast, bool zeroing, int num_args,
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
    encode(a, &q);
}

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
    return x.info.length;
}
