/* codegen/x86/asm.h: x86-64 instructions to bytes and back; the only user of Zydis.
 *
 * Rules kept here (each was a failure when broken): encodings restricted to LEGACY, VEX and EVEX;
 * EVEX forms carry their mask operand (k0: none); memory sizes exact; no index without scale. */
#ifndef AT_CODEGEN_X86_ASM_H
#define AT_CODEGEN_X86_ASM_H

#include "codegen/codegen.h"

typedef enum at_x86_op {
#define AT_X86(op) AT_X86_##op,
#include "codegen/x86/ops.def"
#undef AT_X86
    AT_X86_COUNT
} at_x86_op;

enum { AT_RAX, AT_RCX, AT_RDX, AT_RBX, AT_RSP, AT_RBP, AT_RSI, AT_RDI, AT_R8, AT_R15 = 15, AT_RIP };

typedef enum at_x86_kind {
    AT_ARG_GPR8,
    AT_ARG_GPR16,
    AT_ARG_GPR32,
    AT_ARG_GPR64,
    AT_ARG_VEC,
    AT_ARG_MASK,
    AT_ARG_MEM,
    AT_ARG_MEM_ELEMENTS,
    AT_ARG_MEM_PLACE,
    AT_ARG_MEM_GATHER,
    AT_ARG_IMM
} at_x86_kind;
typedef struct at_x86_arg {
    at_x86_kind kind;
    int reg;       /* register, mask, or base of a memory operand */
    int bytes;     /* width of a vector register; size of a memory operand */
    int64_t value; /* displacement, immediate; elements: the register that counts them */
    int index; /* gather: the vector register that counts floats, `bytes` wide; place: the one that
                  does; elements: the bytes of one */
} at_x86_arg;

static inline at_x86_arg at_gpr(int r) { return (at_x86_arg){AT_ARG_GPR64, r, 8, 0, 0}; }
/* rax to rdx: the lowest byte of others has the number of another register */
static inline at_x86_arg at_gpr8(int r) { return (at_x86_arg){AT_ARG_GPR8, r, 1, 0, 0}; }
static inline at_x86_arg at_gpr16(int r) { return (at_x86_arg){AT_ARG_GPR16, r, 2, 0, 0}; }
static inline at_x86_arg at_gpr32(int r) { return (at_x86_arg){AT_ARG_GPR32, r, 4, 0, 0}; }
static inline at_x86_arg at_vec(int r, int bytes) {
    return (at_x86_arg){AT_ARG_VEC, r, bytes, 0, 0};
}
static inline at_x86_arg at_mask_reg(int k) { return (at_x86_arg){AT_ARG_MASK, k, 8, 0, 0}; }
static inline at_x86_arg at_mem(int base, int64_t disp, int bytes) {
    return (at_x86_arg){AT_ARG_MEM, base, bytes, disp, 0};
}
static inline at_x86_arg at_mem_elements(int base, int count, int64_t bytes) {
    return (at_x86_arg){AT_ARG_MEM_ELEMENTS, base, 8, count, (int)bytes};
}
static inline at_x86_arg at_mem_place(int base, int count, int64_t disp) { /* of one float */
    return (at_x86_arg){AT_ARG_MEM_PLACE, base, 4, disp, count};
}
static inline at_x86_arg at_mem_gather(int base, int index, int64_t disp, int bytes) {
    return (at_x86_arg){AT_ARG_MEM_GATHER, base, bytes, disp, index};
}
static inline at_x86_arg at_imm(int64_t v) { return (at_x86_arg){AT_ARG_IMM, 0, 0, v, 0}; }

typedef struct at_asm {
    at_arena *arena;
    uint8_t *code;
    int len, cap;
    bool bad; /* an instruction was refused: kept until asked */
} at_asm;

/* broadcast: lanes one float is repeated to (16, 8, 4) or 0. zeroing: masked-off lanes become 0. */
void at_asm_emit(at_asm *a, at_x86_op op, int broadcast, bool zeroing, int num_args,
                 const at_x86_arg *args);
/* A jump (AT_X86_JMP, ..._JNZ, ...) with a 32-bit distance; to: position of the target, or -1 to be
 * patched. Returns where the distance stands. */
int at_asm_jump(at_asm *a, at_x86_op op, int to);
void at_asm_patch(at_asm *a,
                  int at); /* the jump whose distance stands at `at` goes to the current end */
void at_asm_align(at_asm *a, int bytes); /* with no-ops */
void at_asm_raw(at_asm *a, const void *p, int n);

#endif
