/* cost/tile_work.c: counts of one call of a tile, and the time its results wait for each other.
 *
 * Counts are those of the machine code (codegen/x86/), or fewer: what an instruction set does in
 * several steps counts as the steps that any encoding needs. */
#include "codegen/tile/tile_wanted.h"
#include "cost/cost_int.h"

#define MAX_REGS 64
#define SETTLED 3 /* trips after which each further one adds the same to a chain */

typedef struct {
    const at_tile *t;
    bool fused; /* multiply-add in one instruction */
    const at_core *core;
    const int64_t *trips;
    at_tile_work *work;
    const uint8_t *wanted;  /* of registers of which a half may do; NULL: of none */
    double ready[MAX_REGS]; /* cycle at which a register's value is there */
} walk;

static int64_t trip_of(const walk *w, const at_tile_op *op) {
    int64_t n = op->trip_arg >= 0 ? at_tile_turns(op, w->trips[op->trip_arg]) : op->trip;
    return n > 0 ? n : 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Is a block of a long sum joined with those before, which lie in the tile's own memory
 * (codegen/tile/tile_blocks.c)? It is no operation of the computation. */
static bool joins_block(const at_tile *t, const at_tile_op *op) {
    const at_tile_op *load = op->mem ? op : op - 1;
    return op->kind == AT_T_ADD && t->num_spilled && load->slot == at_tile_frame(t) &&
           (op->mem ? op->mem == AT_MEM_VECTOR : load->kind == AT_T_LOAD && load->dst == op->b);
}

static void count_op(walk *w, const at_tile_op *op, double times) {
    at_tile_work *k = w->work;
    k->instructions += times;
    if (op->mem == AT_MEM_VECTOR) k->loads += times;
    if (op->mem == AT_MEM_BCAST || op->mem == AT_MEM_CONST) k->bcasts += times;
    switch (op->kind) {
    case AT_T_LOAD:
        *(op->lanes == 1 ? &k->bcasts : &k->loads) += times;
        if (op->fours) { /* each further four lanes are put into the register */
            const double more = times * (op->lanes / 4 - 1);
            k->loads += more, k->adds += more, k->instructions += more;
        }
        return;
    case AT_T_PREFETCH:
    case AT_T_BCAST: k->bcasts += times; return;
    case AT_T_INDEX: /* loaded, multiplied, added */
        k->bcasts += times;
        k->instructions += op->bump == 1 ? times : 2 * times;
        return;
    case AT_T_GATHER: k->loads += times * op->lanes; return;
    case AT_T_SCATTER: { /* in each lane a place, a comparison, an address */
        const double joins = times * (op->cyclic ? 1 : op->lanes);
        k->loads += 2 * joins, k->stores += joins, k->adds += joins;
        k->instructions += 6 * joins;
        return;
    }
    case AT_T_STORE:
        if (op->fours) k->stores += times * (op->lanes / 4), k->adds += times * (op->lanes / 4 - 1);
        else if (!op->times) k->stores += times;
        else if (at_tile_stores_by_masks(w->t->target, op))
            k->stores += times * at_tile_spread_parts(op, w->t->lanes);
        else k->stores += times * op->lanes;
        return;
    case AT_T_FMA:
    case AT_T_FNMA:
    case AT_T_FMS:
    case AT_T_MUL_ADD:
        if (w->fused) {
            k->fmas += times;
            return;
        }
        k->muls += times, k->adds += times, k->instructions += times;
        return;
    case AT_T_DOT: /* by the units of multiply-adds */
        k->fmas += times;
        if (!w->t->target->dot_regs)
            k->more_terms += times * (op->by & AT_DOT_BYTES ? AT_DOT_TERMS - 1 : 1);
        return;
    case AT_T_WEAVE: k->adds += 2 * times, k->instructions += times; return;
    case AT_T_MUL: k->muls += times; return;
    case AT_T_SCALE: k->adds += 2 * times, k->instructions += times; return; /* compared, too */
    default: /* anything else that the arithmetic units do once */
        if (joins_block(w->t, op)) return;
        if (op->kind > AT_T_FMA && op->kind < AT_T_ZIP_LOW) k->adds += times;
        return;
    }
}

/* Counts one, and what of it is in a half of a register. */
static void count_halves(walk *w, const at_tile_op *op, double times) {
    at_tile_work *k = w->work;
    const double fmas = k->fmas + k->muls, adds = k->adds;
    count_op(w, op, times);
    if (!w->wanted || !at_tile_is_half(w->t, w->wanted, op)) return;
    k->half_fmas += k->fmas + k->muls - fmas;
    k->half_adds += k->adds - adds;
}

static void count(walk *w, int from, int to, double times) {
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &w->t->ops[i];
        if (op->kind != AT_T_LOOP) {
            count_halves(w, op, times);
            continue;
        }
        int behind = at_tile_loop_end(w->t, i);
        w->work->instructions += times;
        count(w, i + 1, behind, times * (double)trip_of(w, op));
        i = behind - 1;
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static double later(double x, double y) { return x > y ? x : y; }

static void wait_op(walk *w, const at_tile_op *op) {
    double *r = w->ready;
    if (op->kind == AT_T_MOV) r[op->dst] = r[op->a];
    if (op->kind == AT_T_CONST || op->kind == AT_T_LOAD || op->kind == AT_T_BCAST) r[op->dst] = 0;
    if (op->kind < AT_T_FMA) return;
    double in = later(r[op->a], op->b >= 0 ? r[op->b] : 0);
    if (op->kind == AT_T_BLEND || op->kind == AT_T_FIRST) r[op->dst] = later(in, r[op->dst]) + 1;
    else if (op->kind == AT_T_DOT) r[op->dst] = later(in, r[op->dst]) + w->core->fma_latency;
    else if (op->kind == AT_T_MUL || op->kind == AT_T_INT_MUL)
        r[op->dst] = in + w->core->mul_latency;
    else if (op->kind >= AT_T_AND && op->kind < AT_T_SQRT) r[op->dst] = in + 1;
    else if (!at_tile_multiplies_and_adds(op)) r[op->dst] = in + w->core->add_latency;
    else if (w->fused) r[op->dst] = later(in, r[op->dst]) + w->core->fma_latency;
    else r[op->dst] = later(in + w->core->mul_latency, r[op->dst]) + w->core->add_latency;
}

static void wait(walk *w, int from, int to) {
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &w->t->ops[i];
        if (op->kind != AT_T_LOOP) {
            wait_op(w, op);
            continue;
        }
        int behind = at_tile_loop_end(w->t, i);
        int64_t n = trip_of(w, op), run = n < SETTLED ? n : SETTLED;
        double before[MAX_REGS];
        for (int64_t j = 0; j < run; j++) {
            for (int r = 0; r < MAX_REGS; r++) before[r] = w->ready[r];
            wait(w, i + 1, behind);
        }
        for (int r = 0; r < MAX_REGS && n > run; r++)
            if (w->ready[r] > before[r])
                w->ready[r] += (w->ready[r] - before[r]) * (double)(n - run);
        i = behind - 1;
    }
}

at_tile_work at_tile_work_of(at_arena *a, const at_tile *t, const at_core *core,
                             const int64_t *trips) {
    at_tile_work k = {0};
    walk w = {.t = t, .fused = t->target->fused, .core = core, .trips = trips, .work = &k};
    if (t->target->lanes >= AT_WIDE_LANES) w.wanted = at_tile_wanted_lanes(a, t);
    count(&w, 0, t->num_ops, 1);
    wait(&w, 0, t->num_ops);
    for (int r = 0; r < MAX_REGS; r++) k.chain_cycles = later(k.chain_cycles, w.ready[r]);
    return k;
}
