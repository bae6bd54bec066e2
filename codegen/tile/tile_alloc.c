/* codegen/tile/tile_alloc.c: registers of a tile.
 *
 * Accumulators get theirs for as long as they live. In straight-line code a load is delayed until
 * its value is used; used once, it becomes the memory operand of that operation; used often, it
 * gets a register; where none is free it becomes a memory operand all the same (the last of four
 * vectors), or the loaded value whose next use is furthest gives way and is loaded again. Computed
 * values are short-lived: they are stored in the tile's own memory only where nothing else helps,
 * and the caller asks for it. */
#include "codegen/tile/tile_make.h"

typedef struct {
    int first, last; /* positions in the virtual program */
    int reg;         /* -1: none yet, or given way */
    int uses;        /* still to come */
    int home;        /* register of the tile's own memory that holds it; -1: none yet */
    bool is_stored;  /* as it is now */
} life;

typedef struct {
    at_low *l;
    const at_target *target;
    int regs; /* that there are */
    const at_tile_op *in;
    int n;
    const at_tile_vreg *vreg;
    life *life;
    int num_vregs;
    int owner[64];    /* register -> virtual register holding it in this block, -1 */
    bool blocked[64]; /* taken by an accumulator that lives in this block, from here on */
    int block_end;
    AT_VEC(at_tile_op) out;
    int max_reg;
    int frame;         /* slot of the tile's own memory; -1: nothing is stored there */
    AT_VEC(int) homes; /* of it that are free again */
    int num_homes;
    bool failed;
    int given[64]; /* when a register was last given: loads ahead need one that is long free */
} alloc;

static void see(alloc *x, int v, int at) {
    if (x->life[v].first < 0) x->life[v].first = at;
    x->life[v].last = at;
}

static void find_lives(alloc *x) {
    for (int v = 0; v < x->num_vregs; v++)
        x->life[v] = (life){.first = -1, .last = -1, .reg = -1, .home = -1};
    for (int i = 0; i < x->n; i++) {
        const at_tile_op *op = &x->in[i];
        int src[3], n = at_tile_operands(op, src);
        for (int j = 0; j < n; j++) see(x, src[j], i), x->life[src[j]].uses++;
        if (at_tile_defines(op)) see(x, op->dst, i);
    }
    /* What enters a loop alive stays alive until its end. */
    int stack[32], depth = 0;
    for (int i = 0; i < x->n; i++) {
        if (x->in[i].kind == AT_T_LOOP) stack[depth++] = i;
        if (x->in[i].kind != AT_T_END) continue;
        int start = stack[--depth];
        for (int v = 0; v < x->num_vregs; v++)
            if (x->life[v].first < start && x->life[v].last > start && x->life[v].last < i)
                x->life[v].last = i;
    }
}

static bool place_accumulators(alloc *x) {
    int busy_until[64];
    for (int r = 0; r < x->regs; r++) busy_until[r] = -1;
    for (int i = 0; i < x->n; i++) { /* by first position */
        int src[3], n = at_tile_operands(&x->in[i], src);
        if (at_tile_defines(&x->in[i])) src[n > 2 ? 2 : n++] = x->in[i].dst;
        for (int j = 0; j < n; j++) {
            int v = src[j], r = 0;
            if (!x->vreg[v].acc || x->life[v].reg >= 0) continue;
            while (r < x->regs && busy_until[r] >= x->life[v].first) r++;
            if (r == x->regs) return false;
            busy_until[r] = x->life[v].last;
            x->life[v].reg = r;
            if (r > x->max_reg) x->max_reg = r;
        }
    }
    return true;
}

static void start_block(alloc *x, int from) {
    int to = from;
    while (to < x->n && x->in[to].kind != AT_T_LOOP && x->in[to].kind != AT_T_END) to++;
    x->block_end = to;
    for (int r = 0; r < 64; r++) x->owner[r] = -1, x->blocked[r] = r >= x->regs;
    for (int v = 0; v < x->num_vregs; v++)
        if (x->vreg[v].acc && x->life[v].reg >= 0 && x->life[v].first < to &&
            x->life[v].last >= from)
            x->blocked[x->life[v].reg] = true;
}

static int next_use(const alloc *x, int v, int from) {
    for (int i = from; i < x->n && x->in[i].kind != AT_T_LOOP && x->in[i].kind != AT_T_END; i++)
        if (at_tile_reads(&x->in[i], v)) return i;
    return x->n;
}

static int free_register(const alloc *x) {
    int first = -1;
    for (int r = 0; r < x->regs; r++) {
        if (x->blocked[r] || x->owner[r] >= 0) continue;
        if (!at_tile_loads_ahead(x->target)) return r;
        if (first < 0 || x->given[r] < x->given[first]) first = r;
    }
    return first;
}

/* A move of a whole register to or from the tile's own memory. */
static at_tile_op spilled(const alloc *x, at_tile_kind kind, int v) {
    const at_tile_vreg whole = {.load = AT_T_LOAD,
                                .lanes = (uint8_t)x->target->lanes,
                                .slot = (int16_t)x->frame,
                                .off = (int64_t)x->life[v].home * x->target->lanes};
    at_tile_op op = at_tile_load_of(&whole, x->life[v].reg);
    if (kind == AT_T_STORE) op.kind = AT_T_STORE, op.a = op.dst, op.dst = -1;
    return op;
}

/* The computed value of a register gives way. */
static void spill(alloc *x, int v) {
    life *of = &x->life[v];
    if (of->home < 0) of->home = x->homes.len ? x->homes.data[--x->homes.len] : x->num_homes++;
    if (!of->is_stored) *at_push(x->l->arena, &x->out) = spilled(x, AT_T_STORE, v);
    of->is_stored = true;
}

/* The register, not one of `keep`, of the value that is used again last; -1: there is none. */
static int furthest(const alloc *x, int i, const int keep[3], int num_keep, bool loaded) {
    int far = -1, r = -1;
    for (int s = 0; s < x->regs; s++) {
        int o = x->owner[s];
        if (x->blocked[s] || o < 0 || (x->vreg[o].load != 0) != loaded) continue;
        bool needed = false;
        for (int j = 0; j < num_keep; j++) needed |= keep[j] == o;
        if (needed) continue;
        int use = next_use(x, o, i + 1);
        if (use > far) far = use, r = s;
    }
    return r;
}

/* A register for v at position i; never one of `keep`. */
static void take_register(alloc *x, int v, int i, const int keep[3], int num_keep) {
    int r = free_register(x);
    if (r < 0) {
        r = furthest(x, i, keep, num_keep, true);
        if (r < 0 && x->frame >= 0 && (r = furthest(x, i, keep, num_keep, false)) >= 0)
            spill(x, x->owner[r]);
        if (r < 0) {
            x->failed = true;
            return;
        }
        x->life[x->owner[r]].reg = -1;
    }
    x->owner[r] = v;
    x->given[r] = x->out.len + 1;
    x->life[v].reg = r;
    if (r > x->max_reg) x->max_reg = r;
}

/* Does another accumulator get this register in what is left of the block? */
static bool is_wanted(const alloc *x, int r, int i) {
    for (int v = 0; v < x->num_vregs; v++)
        if (x->vreg[v].acc && x->life[v].reg == r && x->life[v].first > i &&
            x->life[v].first < x->block_end)
            return true;
    return false;
}

/* After the last use of a value its register is free: an epilogue that finishes one accumulator
 * before the next works in place. */
static void drop_if_dead(alloc *x, int v, int i) {
    int r = x->life[v].reg;
    if (x->life[v].uses > 0 || r < 0) return;
    if (x->life[v].home >= 0) *at_push(x->l->arena, &x->homes) = x->life[v].home;
    x->life[v].home = -1;
    if (!x->vreg[v].acc) x->owner[r] = -1, x->life[v].reg = -1;
    else if (x->life[v].last <= i && !is_wanted(x, r, i)) x->blocked[r] = false;
}

static bool foldable(const alloc *x, const at_tile_op *op, int v) {
    const at_tile_vreg *r = &x->vreg[v];
    if (x->life[v].reg >= 0 || op->bits || op->kind == AT_T_CUT || op->kind >= AT_T_ZIP_LOW)
        return false;
    if (r->load == AT_T_CONST) return r->pooled && x->target->fold_const;
    if (r->narrow) return false;
    if (op->kind >= AT_T_SCALE && op->kind != AT_T_DOT)
        return false; /* not every set has these for one float in memory */
    if (r->load == AT_T_LOAD)
        return x->target->fold_vector && r->lanes == x->target->lanes && !r->times && !r->fours;
    return r->load == AT_T_BCAST && x->target->fold_bcast;
}

static void materialize(alloc *x, int v, int i, const int keep[3], int num_keep) {
    if (x->life[v].reg >= 0) return;
    const at_tile_vreg *r = &x->vreg[v];
    if (!r->load && x->life[v].home < 0) AT_BUG("a computed value of a tile lost its register");
    take_register(x, v, i, keep, num_keep);
    if (x->failed) return;
    *at_push(x->l->arena, &x->out) =
        r->load ? at_tile_load_of(r, x->life[v].reg) : spilled(x, AT_T_LOAD, v);
}

/* Its operand's register, where that is free now. */
static void stay(alloc *x, int v, int r) {
    if (x->life[v].reg >= 0 || x->vreg[v].acc || x->blocked[r] || x->owner[r] >= 0) return;
    x->owner[r] = v;
    x->life[v].reg = r;
}

static void unary(alloc *x, const at_tile_op *op, int i) {
    at_tile_op o = *op;
    const int keep[3] = {op->a, op->dst, op->dst};
    materialize(x, op->a, i, keep, 2);
    if (at_tile_updates(op)) materialize(x, op->dst, i, keep, 2);
    if (x->failed) return;
    o.a = (int16_t)x->life[op->a].reg;
    x->life[op->a].uses--;
    if (at_tile_updates(op)) x->life[op->dst].uses--;
    const bool apart = op->kind == AT_T_GATHER && x->life[op->dst].reg < 0;
    if (apart) take_register(x, op->dst, i, keep, 2);
    if (x->failed) return;
    drop_if_dead(x, op->a, i);
    if (x->life[op->dst].reg < 0) take_register(x, op->dst, i, keep, 1);
    if (x->failed) return;
    o.dst = (int16_t)x->life[op->dst].reg;
    *at_push(x->l->arena, &x->out) = o;
}

/* Is a value that is read from memory used again so late that no other one gives way for it? A
 * constant is read beside what computes, which seldom waits for it. */
static bool passes_by(const alloc *x, int v, int i, const int keep[3]) {
    if (free_register(x) >= 0) return false;
    const int r = x->vreg[v].load == AT_T_CONST ? -1 : furthest(x, i, keep, 3, true);
    return r < 0 || next_use(x, x->owner[r], i + 1) <= next_use(x, v, i + 1);
}

/* a op b, or dst joined with a*b: at most one operand from memory, as b. */
static void arithmetic(alloc *x, const at_tile_op *op, int i) {
    at_tile_op o = *op;
    bool commutes =
        at_tile_joins_product(op) || op->kind == AT_T_ADD || op->kind == AT_T_MUL ||
        op->kind == AT_T_AND || op->kind == AT_T_OR ||
        (op->kind >= AT_T_INT_ADD && op->kind <= AT_T_INT_MAX && op->kind != AT_T_INT_SUB);
    int a = op->a, b = op->b;
    int keep[3] = {a, b, op->dst};
    if (commutes && !op->element && a != b && foldable(x, op, a) && x->life[a].uses == 1 &&
        !(foldable(x, op, b) && x->life[b].uses == 1)) {
        int t = a;
        a = b;
        b = t;
    }
    materialize(x, a, i, keep, 3);
    bool fold = a != b && foldable(x, op, b) && (x->life[b].uses == 1 || passes_by(x, b, i, keep));
    if (fold) {
        const at_tile_vreg *m = &x->vreg[b];
        o.mem = m->load == AT_T_LOAD    ? AT_MEM_VECTOR
                : m->load == AT_T_CONST ? AT_MEM_CONST
                                        : AT_MEM_BCAST;
        o.number = m->number;
        o.slot = m->slot;
        o.off = m->off;
        o.lanes = m->lanes;
        o.b = -1;
    } else {
        materialize(x, b, i, keep, 3);
        o.b = (int16_t)x->life[b].reg;
    }
    if (at_tile_updates(op)) materialize(x, op->dst, i, keep, 3);
    if (x->failed) return;
    o.a = (int16_t)x->life[a].reg;
    x->life[a].uses--;
    x->life[b].uses--;
    if (at_tile_updates(op)) x->life[op->dst].uses--;
    drop_if_dead(x, a, i);
    drop_if_dead(x, b, i);
    if (x->life[op->dst].reg < 0) take_register(x, op->dst, i, keep, 3);
    if (x->failed) return;
    o.dst = (int16_t)x->life[op->dst].reg;
    *at_push(x->l->arena, &x->out) = o;
}

static void scatter(alloc *x, const at_tile_op *op, int i) {
    at_tile_op o = *op;
    int16_t *const regs[] = {&o.b, &o.a};
    const int keep[3] = {op->b, op->a, op->b}, num = op->a >= 0 ? 2 : 1;
    for (int j = 0; j < num; j++) materialize(x, keep[j], i, keep, num);
    if (x->failed) return;
    for (int j = 0; j < num; j++) {
        *regs[j] = (int16_t)x->life[keep[j]].reg;
        x->life[keep[j]].uses--;
    }
    for (int j = 0; j < num; j++) drop_if_dead(x, keep[j], i);
    *at_push(x->l->arena, &x->out) = o;
}

static void one(alloc *x, const at_tile_op *op, int i) {
    at_tile_op o = *op;
    int keep[3] = {op->a, op->dst, op->dst};
    if (at_tile_defines(op)) x->life[op->dst].is_stored = false;
    switch (op->kind) {
    case AT_T_LOOP:
    case AT_T_END:
        *at_push(x->l->arena, &x->out) = o;
        start_block(x, i + 1);
        return;
    case AT_T_PREFETCH:
    case AT_T_INDEX:
    case AT_T_BUMP: *at_push(x->l->arena, &x->out) = o; return;
    case AT_T_STORE:
    case AT_T_MOV:
        materialize(x, op->a, i, keep, op->kind == AT_T_MOV ? 2 : 1);
        if (x->failed) return;
        o.a = (int16_t)x->life[op->a].reg;
        x->life[op->a].uses--;
        drop_if_dead(x, op->a, i);
        break;
    case AT_T_SCATTER: scatter(x, op, i); return;
    case AT_T_CONST:
    case AT_T_LOAD:
    case AT_T_BCAST: break; /* of an accumulator: not delayed */
    default:
        if (at_tile_is_unary(op)) unary(x, op, i);
        else arithmetic(x, op, i);
        return;
    }
    if (op->kind == AT_T_MOV) stay(x, op->dst, o.a);
    if (op->kind != AT_T_STORE) {
        if (x->life[op->dst].reg < 0) take_register(x, op->dst, i, keep, 1);
        if (x->failed) return;
        o.dst = (int16_t)x->life[op->dst].reg;
    }
    if (op->kind == AT_T_MOV && o.dst == o.a) return; /* its last use: it stays where it is */
    *at_push(x->l->arena, &x->out) = o;
}

/* Neighbouring bumps of one slot are added up; one that nothing uses any more goes. */
static int merge_bumps(at_arena *a, at_tile_op *ops, int n, int num_slots) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        int j = kept;
        if (ops[i].kind == AT_T_BUMP && ops[i].trip_arg < 0) {
            while (j > 0 && ops[j - 1].kind == AT_T_BUMP &&
                   (ops[j - 1].slot != ops[i].slot || ops[j - 1].trip_arg >= 0))
                j--;
            if (j > 0 && ops[j - 1].kind == AT_T_BUMP) {
                ops[j - 1].bump += ops[i].bump;
                continue;
            }
        }
        ops[kept++] = ops[i];
    }
    n = kept;
    bool *used = AT_NEW_ARRAY(a, bool, num_slots);
    int depth = 0;
    for (int i = n - 1; i >= 0; i--) {
        depth += (ops[i].kind == AT_T_END) - (ops[i].kind == AT_T_LOOP);
        bool is_bump = ops[i].kind == AT_T_BUMP;
        if (is_bump && (ops[i].bump == 0 || (depth == 0 && !used[ops[i].slot]))) ops[i].slot = -1;
        else if (ops[i].slot >= 0 && !is_bump) used[ops[i].slot] = true;
        if (ops[i].kind == AT_T_INDEX || (ops[i].kind == AT_T_SCATTER && ops[i].base >= 0))
            used[ops[i].base] = true;
    }
    kept = 0;
    for (int i = 0; i < n; i++)
        if (ops[i].kind != AT_T_BUMP || ops[i].slot >= 0) ops[kept++] = ops[i];
    return kept;
}

enum { SCATTER_REGS = 2 };

/* Registers that some operation takes besides. */
static int spared(const at_target *t, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                  int num_vregs) {
    int most = 0;
    for (int v = 0; v < num_vregs; v++)
        if (vregs[v].by || vregs[v].times) most = t->spreading_regs;
    for (int i = 0; i < num_ops; i++) {
        const int kind = ops[i].kind;
        const bool joins = kind == AT_T_FMS || kind == AT_T_MUL_ADD || kind == AT_T_MIN ||
                           kind == AT_T_MAX || kind == AT_T_FOURS;
        int more = kind == AT_T_STORE && ops[i].times ? t->spreading_regs : 0;
        if (joins && more < t->joining_regs) more = t->joining_regs;
        if (ops[i].halves && ops[i].element && more < t->joining_regs) more = t->joining_regs;
        if (kind == AT_T_WEAVE || kind == AT_T_QUARTERS || kind == AT_T_MERGE)
            more = t->spreading_regs;
        if (kind == AT_T_SCATTER) more = SCATTER_REGS;
        if (kind == AT_T_DOT && more < t->dot_regs) more = t->dot_regs;
        if (more > most) most = more;
    }
    return most;
}

bool at_tile_alloc(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                   int num_vregs, bool spills, at_tile *out) {
    alloc x = {.l = l, .target = l->target, .in = ops, .n = num_ops, .vreg = vregs};
    x.num_vregs = num_vregs;
    x.regs = l->target->regs - spared(l->target, ops, num_ops, vregs, num_vregs);
    x.life = AT_NEW_ARRAY(l->arena, life, num_vregs + 1);
    x.max_reg = -1;
    x.frame = spills ? at_tile_frame(out) : -1;
    find_lives(&x);
    if (!place_accumulators(&x)) return false;
    start_block(&x, 0);
    for (int i = 0; i < num_ops && !x.failed; i++) one(&x, &ops[i], i);
    at_tile_load_ahead(l, x.out.data, x.out.len);
    out->ops = x.out.data;
    out->num_spilled = x.num_homes;
    out->num_ops = merge_bumps(l->arena, x.out.data, x.out.len, at_tile_all_slots(out));
    out->num_regs = x.max_reg + 1;
    return !x.failed;
}
