/* codegen/x86/narrow.c: arithmetic with integers of 8 and 16 bits, as many as a register holds. For
 * sets of registers of 32 and 64 bytes. */
#include "codegen/x86/encode.h"

typedef struct forms { /* by bytes and of 16 bits, with their sign and without one */
    at_x86_op bytes[2], words[2];
} forms;

static const forms narrow[AT_T_KIND_COUNT] = {
    [AT_T_INT_ADD] = {{AT_X86_VPADDB, AT_X86_VPADDB}, {AT_X86_VPADDW, AT_X86_VPADDW}},
    [AT_T_INT_SUB] = {{AT_X86_VPSUBB, AT_X86_VPSUBB}, {AT_X86_VPSUBW, AT_X86_VPSUBW}},
    [AT_T_INT_MUL] = {.words = {AT_X86_VPMULLW, AT_X86_VPMULLW}},
    [AT_T_INT_MIN] = {{AT_X86_VPMINSB, AT_X86_VPMINUB}, {AT_X86_VPMINSW, AT_X86_VPMINUW}},
    [AT_T_INT_MAX] = {{AT_X86_VPMAXSB, AT_X86_VPMAXUB}, {AT_X86_VPMAXSW, AT_X86_VPMAXUW}},
    [AT_T_SHIFT_LEFT] = {.words = {AT_X86_VPSLLW, AT_X86_VPSLLW}},
    [AT_T_SHIFT_RIGHT] = {.words = {AT_X86_VPSRAW, AT_X86_VPSRLW}},
    [AT_T_LESS] = {{AT_X86_VPCMPGTB}, {AT_X86_VPCMPGTW}}};

void at_x86_narrow(at_x86 *x, const at_tile_op *op) {
    const forms *of = &narrow[op->kind];
    const at_x86_op what = (op->bits == 8 ? of->bytes : of->words)[op->no_sign];
    const bool has_masks = x->set->width == 64, is_less = op->kind == AT_T_LESS;
    const at_x86_arg a = at_x86_reg(x, is_less ? op->b : op->a),
                     second = at_tile_is_unary(op) ? at_imm(op->by)
                                                   : at_x86_reg(x, is_less ? op->a : op->b),
                     dst = at_x86_reg(x, op->dst), masked[] = {dst, at_mask_reg(0), a, second},
                     plain[] = {dst, a, second};
    at_asm_emit(&x->code, what, 0, false, has_masks ? 4 : 3, has_masks ? masked : plain);
}
