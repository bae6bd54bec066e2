/* codegen/tile_ops.c: operations and virtual registers of a tile under way. */
#include "codegen/tile_build.h"

#include <string.h>

#define MAX_VREGS 16000

at_tile_op *at_build_emit(at_builder *b, at_tile_kind kind) {
    at_tile_op *op = at_push(b->l->arena, &b->ops);
    *op = (at_tile_op){
        .kind = (uint8_t)kind, .dst = -1, .a = -1, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return op;
}

void at_build_start_body(at_builder *b) {
    b->first_load = b->first_const = b->vregs.len;
    b->num_stored = 0;
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

/* Shared within the straight-line body. */
int at_build_load(at_builder *b, at_tile_vreg v) {
    int first = v.load == AT_T_CONST ? b->first_const : b->first_load;
    for (int i = b->vregs.len - 1; i >= first; i--) {
        const at_tile_vreg *w = &b->vregs.data[i];
        if (w->load == v.load && w->lanes == v.lanes && w->slot == v.slot && w->off == v.off &&
            w->by == v.by && w->plus == v.plus && w->pooled == v.pooled &&
            memcmp(&w->number, &v.number, sizeof v.number) == 0)
            return i;
    }
    return at_build_vreg(b, v);
}
