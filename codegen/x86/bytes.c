/* codegen/x86/bytes.c: a load of every so many bytes, or of bytes that are turned round: out of as
 * many loads of neighbouring bytes as they lie in, each takes its own to their lanes' places and
 * leaves the others 0, all are joined and widened. Few of them, or far apart, are put together one
 * by one. For sets of registers of 32 and 64 bytes. */
#include "codegen/x86/encode.h"
#include "codegen/tile/tile_pick.h"

/* With a mask operand where the set has such operands. */
static void emit(at_x86 *x, at_x86_op op, at_x86_arg dst, at_x86_arg a, at_x86_arg b) {
    const at_x86_arg masked[] = {dst, at_mask_reg(0), a, b}, plain[] = {dst, a, b};
    const bool has_masks = x->set->width == 64;
    at_asm_emit(&x->code, op, 0, false, has_masks ? 4 : 3, has_masks ? masked : plain);
}

/* As many neighbouring bytes as there are lanes. */
static void load(at_x86 *x, const at_tile_op *op, at_x86_arg into) {
    const at_x86_arg m = at_x86_memory(x, op, x->t->lanes);
    if (x->set->width == 64) EMIT(x, VMOVUPS, into, at_mask_reg(0), m);
    else EMIT(x, VMOVQ, into, m);
}

static void by_parts(at_x86 *x, const at_tile_op *op, at_x86_arg into) {
    const at_x86_arg scratch = at_vec(x->t->target->regs - (x->set->width == 64), 16);
    int at[AT_TILE_MAX_PICKS];
    const int n = at_tile_pick_parts(op, x->t->lanes, at);
    at_tile_op one = *op;
    for (int part = 0; part < n; part++) {
        const at_x86_arg to = part ? scratch : into;
        one.off = op->off + at[part];
        load(x, &one, to);
        emit(x, AT_X86_VPSHUFB, to, to, at_x86_constant(16));
        at_x86_point_spread(x, at_x86_bytes_entry(x, op, part));
        if (part) emit(x, x->set->width == 64 ? AT_X86_VPORD : AT_X86_VORPS, into, into, to);
    }
    if (n > 1) x->scratch_now = 0;
}

static void one_by_one(at_x86 *x, const at_tile_op *op, at_x86_arg into) {
    at_tile_op one = *op;
    for (int i = 0; i < op->lanes; i++) {
        one.off = op->off + at_tile_lane_from(op, i);
        const at_x86_arg m = at_x86_memory(x, &one, 1), first = at_gpr32(AT_X86_SCRATCH);
        if (i) {
            EMIT(x, VPINSRB, into, into, m, at_imm(i));
            continue;
        }
        EMIT(x, MOVZX, first, m);
        EMIT(x, VMOVD, into, first); /* the bytes behind are 0 */
    }
}

void at_x86_pick_bytes(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg into = at_vec(op->dst, 16), whole = at_x86_reg(x, op->dst);
    const at_x86_op widen = at_x86_has_sign(x, op) ? AT_X86_VPMOVSXBD : AT_X86_VPMOVZXBD;
    if (op->times <= AT_TILE_WHOLE_STEP && at_tile_span(op) >= x->t->lanes) by_parts(x, op, into);
    else one_by_one(x, op, into);
    const at_x86_arg masked[] = {whole, at_mask_reg(0), into}, plain[] = {whole, into};
    const bool has_masks = x->set->width == 64;
    at_asm_emit(&x->code, widen, 0, false, has_masks ? 3 : 2, has_masks ? masked : plain);
}
