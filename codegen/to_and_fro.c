/* codegen/to_and_fro.c: the order of a parallel loop's turns inside of steps, as a recurrence's
 * product has them. Where all turns of a step read more than a cache holds, and those of the next
 * step the same again, each line is gone before it comes again. So every second step goes through
 * the turns from the last to the first: it begins with what the step before has read last. */
#include "codegen/emit.h"

typedef struct reading {
    const at_low *l;
    at_mask turn, step;
    bool reads_much, asks_ahead;
} reading;

/* What a tile reads at two places of one tensor may be asked for ahead, in the order of turns. */
static void look_at_call(reading *r, const at_tile_call *c) {
    const at_low *l = r->l;
    for (int i = 0; i < c->tile->num_slots; i++) {
        const int tensor = c->slot_tensor[i];
        const at_mask loops = at_aff_deps(l, c->slot_at[i]);
        if (!(loops & r->turn) || loops & r->step) continue;
        r->reads_much |= l->buffers[tensor].elements * at_type_bytes(l->tensors[tensor].type) >
                         l->options->prefetch_above;
        for (int k = 0; k < i; k++) r->asks_ahead |= c->slot_tensor[k] == tensor;
    }
}

static void look_at(reading *r, const at_ir *n) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_TILE) look_at_call(r, n->call);
        look_at(r, n->child);
        look_at(r, n->other);
    }
}

bool at_goes_to_and_fro(const at_low *l, const at_ir *loop, int step) {
    reading r = {.l = l, .turn = AT_BIT(loop->loop.sym), .step = AT_BIT(step)};
    if (!l->options->prefetch_above || loop->loop.lo_aff || loop->loop.hi_aff) return false;
    look_at(&r, loop->child);
    return r.reads_much && !r.asks_ahead;
}
