/* codegen/aarch64/asm.h: A64 instructions to words of 32 bits and back: forms.def is the table. */
#ifndef AT_CODEGEN_AARCH64_ASM_H
#define AT_CODEGEN_AARCH64_ASM_H

#include "codegen/aarch64/aarch64.h"

typedef enum at_a64_form {
#define A64(name, word, text) AT_A64_##name,
#include "codegen/aarch64/forms.def"
#undef A64
    AT_A64_COUNT
} at_a64_form;

enum { AT_X16 = 16, AT_X17 = 17, AT_A64_SP = 31 }; /* scratch; 31 as a base is the stack pointer */

typedef struct at_a64_code {
    at_arena *arena;
    AT_VEC(uint32_t) words;
    bool bad; /* an operand did not fit: kept until asked */
} at_a64_code;

/* Appends an instruction; its operands as its text has them: numbers of registers, bytes, lanes.
 * Distances are bytes from the instruction, a float is its eight bits. */
void at_a64_emit(at_a64_code *a, at_a64_form form, const int64_t *operands);
/* Changes the last operand of the instruction at that place: its distance to `bytes` from it. */
void at_a64_aim(at_a64_code *a, int at, int64_t bytes);
/* Whether that number is one of fmov's, and which. */
bool at_a64_short_float(double x, int64_t *bits);

#endif
