/* codegen/tile/tile_contract.c: a product that is added to something, or taken from it, or from
 * which something is taken, and that nothing else uses, is one multiply-add with that, where the
 * target has one:
 *
 *     m = a * b;  d = x + m    ->    d = x;  d += a * b
 *
 * The first of these is no instruction where x is not used again; a factor that is x is d. Sums are
 * written so at once (tile_statement.c). */
#include "codegen/tile/tile_make.h"

typedef struct contractor {
    const at_tile_op *ops;
    const at_tile_vreg *vregs;
    int *uses, *defs; /* [virtual register] */
    int *product;     /* [virtual register] the operation before that makes it, where that can be
                         joined; -1: none */
    int *changed;     /* [virtual register] the last operation so far that changes it, -1 */
    int *joins;       /* [operation] the product that it takes in; -1: none */
    bool *is_joined;  /* [operation] it is such a product */
    int body;         /* the first operation since memory or pointers changed */
} contractor;

/* What a load would find may be something else behind it. */
static bool moves_memory(const at_tile_op *op) {
    return op->kind <= AT_T_BUMP || op->kind == AT_T_INDEX || at_tile_stores(op);
}

static void count(contractor *c, int n) {
    for (int i = 0; i < n; i++) {
        const at_tile_op *op = &c->ops[i];
        if (op->a >= 0) c->uses[op->a]++;
        if (op->b >= 0) c->uses[op->b]++;
        if (at_tile_defines(op)) c->defs[op->dst]++;
        if (at_tile_defines(op) && at_tile_updates(op)) c->uses[op->dst]++;
    }
}

/* Can the product in v go into d, which becomes `other` before? */
static bool can_join(const contractor *c, int v, int d, int other) {
    if (v == other || c->product[v] < c->body) return false;
    const at_tile_op *m = &c->ops[c->product[v]];
    bool kept = c->changed[m->a] < c->product[v] && c->changed[m->b] < c->product[v];
    return kept && ((m->a != d && m->b != d) || other == d);
}

static void look_at(contractor *c, int i) {
    const at_tile_op *op = &c->ops[i];
    if (op->kind == AT_T_ADD || op->kind == AT_T_SUB) {
        int v = can_join(c, op->b, op->dst, op->a)   ? op->b
                : can_join(c, op->a, op->dst, op->b) ? op->a
                                                     : -1;
        if (v >= 0) {
            c->joins[i] = c->product[v];
            c->is_joined[c->product[v]] = true;
        }
    }
    if (moves_memory(op)) c->body = i + 1;
    if (!at_tile_defines(op)) return;
    bool joins = op->kind == AT_T_MUL && !op->apart && c->uses[op->dst] == 1 &&
                 c->defs[op->dst] == 1 && !c->vregs[op->dst].acc;
    c->product[op->dst] = joins ? i : -1;
    c->changed[op->dst] = i;
}

/* What op becomes: two operations at most. */
static int written(const at_tile_op *op, const at_tile_op *product, at_tile_op *out) {
    bool is_second = op->b == product->dst;
    int n = 0, other = is_second ? op->a : op->b;
    if (other != op->dst) {
        out[n] = *op;
        out[n].kind = AT_T_MOV;
        out[n].a = (int16_t)other;
        out[n++].b = -1;
    }
    out[n] = *product;
    out[n].kind = op->kind == AT_T_ADD ? AT_T_FMA : is_second ? AT_T_FNMA : AT_T_FMS;
    if (product->a == other) out[n].a = op->dst;
    if (product->b == other) out[n].b = op->dst;
    out[n++].dst = op->dst;
    return n;
}

const at_tile_op *at_tile_contract(at_low *l, const at_tile_op *ops, const at_tile_vreg *vregs,
                                   int num_vregs, int *num_ops) {
    int total = *num_ops, n = 0;
    bool any = false;
    for (int i = 0; i < total && !any; i++) any = ops[i].kind == AT_T_MUL;
    if (!l->target->fused || !any) return ops;
    contractor c = {.ops = ops, .vregs = vregs};
    c.uses = AT_NEW_ARRAY(l->arena, int, num_vregs);
    c.defs = AT_NEW_ARRAY(l->arena, int, num_vregs);
    c.product = AT_NEW_ARRAY(l->arena, int, num_vregs);
    c.changed = AT_NEW_ARRAY(l->arena, int, num_vregs);
    c.joins = AT_NEW_ARRAY(l->arena, int, total);
    c.is_joined = AT_NEW_ARRAY(l->arena, bool, total);
    at_tile_op *out = AT_NEW_ARRAY(l->arena, at_tile_op, total);
    for (int v = 0; v < num_vregs; v++) c.product[v] = c.changed[v] = -1;
    for (int i = 0; i < total; i++) c.joins[i] = -1;
    count(&c, total);
    for (int i = 0; i < total; i++) look_at(&c, i);
    for (int i = 0; i < total; i++) {
        if (c.is_joined[i]) continue;
        if (c.joins[i] >= 0) n += written(&ops[i], &ops[c.joins[i]], &out[n]);
        else out[n++] = ops[i];
    }
    *num_ops = n;
    return out;
}
