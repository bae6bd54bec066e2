/* codegen/tile/tile_prefetch.c: what a tile asks for before it is read. */
#include "codegen/tile/tile_build.h"

/* Asks for a line, unless this straight-line body has done so. */
static void ask_for(at_builder *b, int slot, int64_t off) {
    for (int i = b->ops.len - 1; i >= 0; i--) {
        const at_tile_op *had = &b->ops.data[i];
        if (had->kind == AT_T_LOOP || had->kind == AT_T_END) break;
        if (had->kind == AT_T_PREFETCH && had->slot == slot && had->off == off) return;
    }
    at_tile_op *op = at_build_emit(b, AT_T_PREFETCH);
    op->slot = (int16_t)slot;
    op->off = off;
}

/* What the next block has, where the statement says so and there is a pointer left for it. */
static bool ask_ahead(at_builder *b, const at_stmt *s, int tensor, int64_t line) {
    if (!s->ahead || s->prefetch[0].tensor != tensor) return false;
    const at_tile_place p = at_build_locate(b, tensor, s->ahead);
    if (b->num_slots == b->most_slots) return false;
    const int slot = at_build_find_slot(b, &p, false);
    b->slots[slot].is_ahead = true;
    for (int i = 0; i < s->ahead_lines; i++) ask_for(b, slot, p.off + line * i);
    return true;
}

void at_build_prefetch(at_builder *b, int tensor, int from, int64_t off) {
    const at_ir *n = b->current;
    const int64_t bytes = at_type_bytes(b->l->tensors[tensor].type), line = AT_LINE_BYTES / bytes;
    if (n && ask_ahead(b, &n->stmt, tensor, line)) return;
    const int64_t apart = n && n->stmt.lines_apart ? n->stmt.lines_apart * line : line;
    for (int i = 0; n && off % apart == 0 && i < n->stmt.num_prefetch; i++) {
        const at_prefetch *p = &n->stmt.prefetch[i];
        /* what lies beyond 32 bits no operand of an instruction reaches */
        if (p->tensor != tensor || p->bytes <= 0 || off * bytes + p->bytes > INT32_MAX) continue;
        at_tile_op *op = at_build_emit(b, AT_T_PREFETCH);
        op->slot = (int16_t)from;
        op->off = off + p->bytes / bytes;
    }
}
