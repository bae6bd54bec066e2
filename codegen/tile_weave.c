/* codegen/tile_weave.c: neighbouring vectors that go through the same long chain of operations
 * (functions of an element) take turns, operation by operation. One after the other, what waits
 * fills the core's queues; side by side, an operation is nearly ready when it comes, and a constant
 * that is loaded serves all of them. */
#include "codegen/tile_make.h"

#include <string.h>

/* Shorter chains overlap by themselves; no function has longer ones. */
enum { LEAST_CHAIN = 10, MOST_CHAIN = 160 };
enum { MANY_REGISTERS = 32, TOGETHER = 4, FEW_TOGETHER = 2 };

typedef struct weaver {
    const at_tile_vreg *vregs;
    const int *slot_tensor;
    at_tile_op *ops;  /* in their new order as far as they are woven */
    int *body, n;     /* the straight-line body: operations but for what is prefetched */
    at_tile_op *room; /* for one group */
} weaver;

static bool ends_body(const at_tile_op *op) {
    return op->kind == AT_T_LOOP || op->kind == AT_T_END || op->kind == AT_T_BUMP ||
           op->kind == AT_T_INDEX;
}

static bool defines(const at_tile_op *op) {
    return op->kind >= AT_T_CONST && op->kind != AT_T_STORE;
}

static bool touches(const at_tile_op *op, int v) {
    return op->a == v || op->b == v || (defines(op) && op->dst == v);
}

static bool in_tensor(const weaver *w, int v, int tensor) {
    return v >= 0 && w->vregs[v].load && w->vregs[v].slot >= 0 &&
           w->slot_tensor[w->vregs[v].slot] == tensor;
}

/* x stores where y loads or stores. */
static bool meet_in_memory(const weaver *w, const at_tile_op *x, const at_tile_op *y) {
    if (x->kind != AT_T_STORE) return false;
    int t = w->slot_tensor[x->slot];
    return in_tensor(w, y->a, t) || in_tensor(w, y->b, t) ||
           (y->kind == AT_T_STORE && w->slot_tensor[y->slot] == t);
}

static bool have_an_order(const weaver *w, const at_tile_op *x, const at_tile_op *y) {
    return (defines(x) && touches(y, x->dst)) || (defines(y) && touches(x, y->dst)) ||
           meet_in_memory(w, x, y) || meet_in_memory(w, y, x);
}

static const at_tile_op *op_of(const weaver *w, int i) { return &w->ops[w->body[i]]; }

static bool are_alike(const weaver *w, int i, int j, int len) {
    for (int k = 0; k < len; k++)
        if (op_of(w, i + k)->kind != op_of(w, j + k)->kind) return false;
    return true;
}

/* The longest way through operations that wait for each other. */
static int depth_of(const weaver *w, int from, int len) {
    int depth[MOST_CHAIN], most = 0;
    for (int i = 0; i < len; i++) {
        depth[i] = 1;
        for (int j = 0; j < i; j++) {
            const at_tile_op *x = op_of(w, from + j);
            if (defines(x) && touches(op_of(w, from + i), x->dst) && depth[j] >= depth[i])
                depth[i] = depth[j] + 1;
        }
        if (depth[i] > most) most = depth[i];
    }
    return most;
}

/* Chains of so many operations from there on: may they take turns? Whatever has an order keeps it.
 */
static bool may_take_turns(const weaver *w, int from, int len, int chains) {
    for (int c = 0; c < chains; c++)
        for (int d = c + 1; d < chains; d++)
            for (int i = 1; i < len; i++)
                for (int j = 0; j < i; j++)
                    if (have_an_order(w, op_of(w, from + c * len + i),
                                      op_of(w, from + d * len + j)))
                        return false;
    return true;
}

static void take_turns(weaver *w, int from, int len, int chains) {
    int first = w->body[from], last = w->body[from + len * chains - 1], n = 0;
    for (int i = first; i <= last; i++)
        if (w->ops[i].kind == AT_T_PREFETCH) w->room[n++] = w->ops[i];
    for (int i = 0; i < len; i++)
        for (int c = 0; c < chains; c++) w->room[n++] = *op_of(w, from + c * len + i);
    memcpy(w->ops + first, w->room, sizeof *w->ops * (size_t)n);
}

/* How long the chain is that begins there and is there again behind itself; 0: none. */
static int chain_at(const weaver *w, int from) {
    for (int len = LEAST_CHAIN; len <= MOST_CHAIN && from + 2 * len <= w->n; len++)
        if (are_alike(w, from, from + len, len) && depth_of(w, from, len) >= LEAST_CHAIN &&
            may_take_turns(w, from, len, 2))
            return len;
    return 0;
}

static bool weave_body(weaver *w, int together) {
    bool any = false;
    for (int i = 0; i + 2 * LEAST_CHAIN <= w->n;) {
        int len = chain_at(w, i), chains = len ? 2 : 0;
        while (chains && chains < together && i + (chains + 1) * len <= w->n &&
               are_alike(w, i, i + chains * len, len) && may_take_turns(w, i, len, chains + 1))
            chains++;
        if (chains) take_turns(w, i, len, chains), any = true;
        i += chains ? chains * len : 1;
    }
    return any;
}

at_tile_op *at_tile_weave(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                          const int *slot_tensor) {
    bool any = false;
    for (int i = 0; i < num_ops && !any; i++) any = ops[i].kind == AT_T_MUL_ADD; /* a polynomial */
    if (!any) return NULL;
    weaver w = {.vregs = vregs,
                .slot_tensor = slot_tensor,
                .ops = at_copy(l->arena, ops, sizeof *ops * (size_t)num_ops),
                .body = AT_NEW_ARRAY(l->arena, int, num_ops),
                .room = AT_NEW_ARRAY(l->arena, at_tile_op, num_ops)};
    any = false;
    for (int i = 0; i <= num_ops; i++) {
        if (i < num_ops && !ends_body(&ops[i])) {
            if (ops[i].kind != AT_T_PREFETCH) w.body[w.n++] = i;
            continue;
        }
        any |= weave_body(&w, l->target->regs >= MANY_REGISTERS ? TOGETHER : FEW_TOGETHER);
        w.n = 0;
    }
    return any ? w.ops : NULL;
}
