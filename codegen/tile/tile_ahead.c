/* codegen/tile/tile_ahead.c: the order of a tile's operations on a core that goes in order.
 * Registers are given. What is behind an operation that waits, and waits for nothing itself, goes
 * before it: so loads come before their time, one beside each multiply-add.
 *
 * The core that is meant begins one load and one other operation in a cycle, which those of Arm's
 * little ones do that are known. Cores that go out of order do well with it, too. */
#include "codegen/tile/tile_make.h"

#include <string.h>

enum {
    WINDOW = 24, /* operations, from which the next one is taken */
    LOADED = 4,  /* cycles until what was loaded can be used */
    WORKED = 4,  /* and what was computed */
    REGISTERS = 64
};

typedef struct order {
    at_tile_op *out;
    int num_out;
    const at_tile_op *left[WINDOW]; /* in their order; from `next` on what comes behind them */
    int num_left, next, end;
    int ready[REGISTERS]; /* the cycle in which it can be used */
    int cycle;
    bool begun[2]; /* in this cycle: an operation, a load */
} order;

static bool is_load(const at_tile_op *op) {
    return op->kind == AT_T_LOAD || op->kind == AT_T_BCAST;
}

/* Does the order of these two matter? */
static bool is_bound(const at_tile_op *first, const at_tile_op *then) {
    if (first->dst == then->dst || first->dst == then->a || first->dst == then->b) return true;
    return then->dst == first->a || then->dst == first->b;
}

/* The cycle in which all that it needs is there. */
static int ready_at(const order *o, const at_tile_op *op) {
    int at = 0;
    const int needs[] = {op->a, op->b, at_tile_updates(op) ? op->dst : -1};
    for (int i = 0; i < 3; i++)
        if (needs[i] >= 0 && o->ready[needs[i]] > at) at = o->ready[needs[i]];
    return at;
}

static bool may_go(const order *o, int i) {
    const at_tile_op *op = o->left[i];
    if (o->begun[is_load(op)] || ready_at(o, op) > o->cycle) return false;
    for (int k = 0; k < i; k++)
        if (is_bound(o->left[k], op) || (is_load(op) && is_load(o->left[k]))) return false;
    return true;
}

static void go(order *o, int i) {
    const at_tile_op *op = o->left[i];
    o->out[o->num_out++] = *op;
    o->begun[is_load(op)] = true;
    o->ready[op->dst] = o->cycle + (is_load(op) ? LOADED : WORKED);
    memmove(o->left + i, o->left + i + 1, sizeof *o->left * (size_t)(--o->num_left - i));
}

/* Operations between those that others cannot pass. */
static void put_in_order(const at_tile_op *ops, int n, at_tile_op *out) {
    order o = {.out = out, .end = n};
    while (o.num_out < n) {
        while (o.num_left < WINDOW && o.next < n) o.left[o.num_left++] = &ops[o.next++];
        int i = 0;
        while (i < o.num_left && !may_go(&o, i)) i++;
        if (i < o.num_left) {
            go(&o, i);
            continue;
        }
        o.cycle++;
        o.begun[0] = o.begun[1] = false;
    }
}

static bool stays(const at_tile_op *op) {
    return at_tile_ends_body(op) || at_tile_stores(op) || op->kind == AT_T_PREFETCH ||
           op->kind == AT_T_GATHER;
}

void at_tile_load_ahead(at_low *l, at_tile_op *ops, int num_ops) {
    if (!at_tile_loads_ahead(l->target)) return;
    at_tile_op *before = at_copy(l->arena, ops, sizeof *ops * (size_t)num_ops);
    for (int from = 0, end; from < num_ops; from = end + 1) {
        for (end = from; end < num_ops && !stays(&before[end]); end++) {
        }
        put_in_order(before + from, end - from, ops + from);
    }
}
