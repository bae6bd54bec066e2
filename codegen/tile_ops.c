/* codegen/tile_ops.c: operations and virtual registers of a tile under way. */
#include "codegen/tile_build.h"

#define MAX_VREGS 16000

at_tile_op *at_build_emit(at_builder *b, at_tile_kind kind) {
    at_tile_op *op = at_push(b->l->arena, &b->ops);
    *op = (at_tile_op){
        .kind = (uint8_t)kind, .dst = -1, .a = -1, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return op;
}

void at_build_start_body(at_builder *b) {
    b->first_load = b->first_const = b->vregs.len;
    b->body++;
}

int at_build_vreg(at_builder *b, at_tile_vreg v) {
    if (b->vregs.len >= MAX_VREGS) {
        b->failed = true;
        return 0;
    }
    *at_push(b->l->arena, &b->vregs) = v;
    return b->vregs.len - 1;
}
