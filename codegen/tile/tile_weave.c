/* codegen/tile/tile_weave.c: neighbouring vectors that go through the same long chain of operations
 * (functions of an element) take turns, operation by operation. One after the other, what waits
 * fills the core's queues; side by side, an operation is nearly ready when it comes, and a constant
 * that is loaded serves all of them.
 *
 * A chain goes from one store, or term of a sum, to the next, and has what is short behind it. */
#include "codegen/tile/tile_make.h"

#include <string.h>

enum { LEAST_DEPTH = 10 }; /* shorter chains overlap by themselves */

typedef struct touched { /* positions in their chains of operations of one group, from 1 on */
    int group;           /* of another one nothing is known */
    int read, changed;   /* the latest */
} touched;

typedef struct weaver {
    const at_tile_vreg *vregs;
    const int *slot_tensor;
    at_tile_op *ops; /* in their new order as far as they are woven */
    int *body, n;    /* the straight-line body: operations but for what is prefetched */
    int *depth;      /* [n] the longest way through operations that wait for each other */
    int *made_at;    /* [virtual register] where in the body */
    int *starts;     /* [num_starts] of chains */
    int num_starts;
    touched *regs, *tensors; /* [virtual register], [tensor] */
    int group;
    at_tile_op *room; /* for one group */
} weaver;

static const at_tile_op *op_of(const weaver *w, int i) { return &w->ops[w->body[i]]; }

/* ---- chains ---------------------------------------------------------------------------------- */

static int depth_of(const weaver *w, int i, int start) {
    const at_tile_op *op = op_of(w, i);
    const int from[] = {op->a, op->b, at_tile_updates(op) ? op->dst : -1};
    int most = 0;
    for (int j = 0; j < 3; j++) {
        int at = from[j] >= 0 ? w->made_at[from[j]] : -1;
        if (at >= start && w->depth[at] > most) most = w->depth[at];
    }
    return most + 1;
}

static void find_chains(weaver *w) {
    int start = 0;
    bool is_long = false;
    w->num_starts = 0;
    for (int i = 0; i < w->n; i++) {
        const at_tile_op *op = op_of(w, i);
        w->depth[i] = depth_of(w, i, start);
        is_long |= w->depth[i] >= LEAST_DEPTH;
        if (at_tile_defines(op)) w->made_at[op->dst] = i;
        if (at_tile_defines(op) && !w->vregs[op->dst].acc) continue;
        if (is_long) w->starts[w->num_starts++] = start;
        start = i + 1;
        is_long = false;
    }
    for (int i = 0; i < w->n; i++) /* another body's */
        if (at_tile_defines(op_of(w, i))) w->made_at[op_of(w, i)->dst] = -1;
}

static bool are_alike(const weaver *w, int i, int j, int len) {
    for (int k = 0; k < len; k++)
        if (op_of(w, i + k)->kind != op_of(w, j + k)->kind) return false;
    return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Where the group has touched it so far. */
static touched *so_far(const weaver *w, touched *t) {
    if (t->group != w->group) *t = (touched){.group = w->group};
    return t;
}

/* An operation at this place of its chain reads or changes it: does that stay behind what came
 * before in other chains? Noted where `note`, asked else. */
static bool touch(const weaver *w, touched *t, int place, bool changes, bool note) {
    t = so_far(w, t);
    if (!note) return t->changed <= place && (!changes || t->read <= place);
    int *latest = changes ? &t->changed : &t->read;
    if (*latest < place) *latest = place;
    return true;
}

static bool touch_register(const weaver *w, int v, int place, bool changes, bool note) {
    if (v < 0) return true;
    const at_tile_vreg *r = &w->vregs[v];
    bool read = !r->load || r->slot < 0 ||
                touch(w, &w->tensors[w->slot_tensor[r->slot]], place, false, note);
    return read && touch(w, &w->regs[v], place, changes, note);
}

/* A chain of a group, behind the others of it: whatever has an order keeps it. */
static bool touch_chain(const weaver *w, int from, int len, bool note) {
    for (int i = 0; i < len; i++) {
        const at_tile_op *op = op_of(w, from + i);
        if (!touch_register(w, op->a, i + 1, false, note) ||
            !touch_register(w, op->b, i + 1, false, note) ||
            (at_tile_defines(op) && !touch_register(w, op->dst, i + 1, true, note)) ||
            (op->kind == AT_T_GATHER &&
             !touch(w, &w->tensors[w->slot_tensor[op->slot]], i + 1, false, note)) ||
            (at_tile_stores(op) &&
             !touch(w, &w->tensors[w->slot_tensor[op->slot]], i + 1, true, note)))
            return false;
    }
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void take_turns(weaver *w, int from, int len, int chains) {
    int first = w->body[from], last = w->body[from + len * chains - 1], n = 0;
    for (int i = first; i <= last; i++)
        if (w->ops[i].kind == AT_T_PREFETCH) w->room[n++] = w->ops[i];
    for (int i = 0; i < len; i++)
        for (int c = 0; c < chains; c++) w->room[n++] = *op_of(w, from + c * len + i);
    memcpy(w->ops + first, w->room, sizeof *w->ops * (size_t)n);
}

/* How many chains from this one on, one behind another, go with it. */
static int chains_like(weaver *w, int first, int len, int together) {
    int from = w->starts[first], chains = 0;
    w->group++;
    for (int at = from; chains < together && at + len <= w->n; at += len) {
        if (first + chains == w->num_starts || w->starts[first + chains] != at ||
            !are_alike(w, from, at, len) || !touch_chain(w, at, len, false))
            break;
        touch_chain(w, at, len, true);
        chains++;
    }
    return chains;
}

static bool weave_body(weaver *w, int together) {
    bool any = false;
    find_chains(w);
    for (int i = 0; i + 1 < w->num_starts;) {
        int len = w->starts[i + 1] - w->starts[i], chains = chains_like(w, i, len, together);
        if (chains > 1) take_turns(w, w->starts[i], len, chains), any = true;
        i += chains > 1 ? chains : 1;
    }
    return any;
}

at_tile_op *at_tile_weave(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                          int num_vregs, const int *slot_tensor, int together) {
    bool any = false;
    for (int i = 0; i < num_ops && !any; i++) any = ops[i].kind == AT_T_MUL_ADD; /* a polynomial */
    if (!any) return NULL;
    weaver w = {.vregs = vregs,
                .slot_tensor = slot_tensor,
                .ops = at_copy(l->arena, ops, sizeof *ops * (size_t)num_ops),
                .body = AT_NEW_ARRAY(l->arena, int, num_ops),
                .depth = AT_NEW_ARRAY(l->arena, int, num_ops),
                .starts = AT_NEW_ARRAY(l->arena, int, num_ops),
                .made_at = AT_NEW_ARRAY(l->arena, int, num_vregs),
                .regs = AT_NEW_ARRAY(l->arena, touched, num_vregs),
                .tensors = AT_NEW_ARRAY(l->arena, touched, l->num_tensors),
                .room = AT_NEW_ARRAY(l->arena, at_tile_op, num_ops)};
    for (int v = 0; v < num_vregs; v++) w.made_at[v] = -1;
    any = false;
    for (int i = 0; i <= num_ops; i++) {
        if (i < num_ops && !at_tile_ends_body(&ops[i])) {
            if (ops[i].kind != AT_T_PREFETCH) w.body[w.n++] = i;
            continue;
        }
        any |= weave_body(&w, together);
        w.n = 0;
    }
    return any ? w.ops : NULL;
}
