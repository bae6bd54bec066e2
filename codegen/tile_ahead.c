/* codegen/tile_ahead.c: loads before their time. Registers are given; a load moves up to where its
 * register is free, past what it has nothing to do with. */
#include "codegen/tile_make.h"

enum { AHEAD = 12 }; /* operations, which is more than a load takes from the first-level cache */

static bool is_load(const at_tile_op *op) {
    return op->kind == AT_T_LOAD || op->kind == AT_T_BCAST;
}

/* May the load stand before this operation? Loads stay in order, which is that of their uses. */
static bool may_pass(const at_tile_op *load, const at_tile_op *op) {
    if (at_tile_ends_body(op) || at_tile_stores(op) || is_load(op)) return false;
    return op->dst != load->dst && op->a != load->dst && op->b != load->dst;
}

void at_tile_load_ahead(const at_target *target, at_tile_op *ops, int num_ops) {
    for (int i = 1; i < num_ops && at_tile_loads_ahead(target); i++) {
        const at_tile_op load = ops[i];
        int at = i;
        if (!is_load(&load)) continue;
        while (at > 0 && i - at < AHEAD && may_pass(&load, &ops[at - 1])) {
            ops[at] = ops[at - 1];
            at--;
        }
        ops[at] = load;
    }
}
