/* codegen/stop_checks.c: the loop that a run is cut short at: the outermost one with several turns
 * of the nest with the most work: operations of tiles, each at most as often as the loops around it
 * say. Of a nest that makes numbers of places nothing is left out. */
#include "codegen/emit.h"

/* One turn of the tile's loop *i, which is left behind it. */
static double work_of_ops(at_low *l, const at_tile_call *c, int *i) {
    const at_tile *t = c->tile;
    double work = 0;
    for (; *i < t->num_ops && t->ops[*i].kind != AT_T_END; ++*i) {
        const at_tile_op *op = &t->ops[*i];
        if (op->kind != AT_T_LOOP) {
            work += op->kind != AT_T_BUMP;
            continue;
        }
        int64_t least, most = op->trip;
        if (op->trip_arg >= 0) at_aff_range(l, c->trip[op->trip_arg], &least, &most);
        if (op->by > 1) most /= op->by;
        if (op->most && most >= op->most) most = op->most - 1;
        ++*i;
        work += (double)most * work_of_ops(l, c, i);
    }
    return work;
}

static double work_of(at_low *l, const at_ir *n);

static double work_of_list(at_low *l, const at_ir *list) {
    double work = 0;
    for (; list; list = list->next) work += work_of(l, list);
    return work;
}

static double work_of(at_low *l, const at_ir *n) {
    switch (n->kind) {
    case AT_IR_LOOP: return (double)at_loop_trips(n) * work_of_list(l, n->child);
    case AT_IR_IF: return work_of_list(l, n->child) + work_of_list(l, n->other);
    case AT_IR_TILE: return work_of_ops(l, n->call, &(int){0});
    case AT_IR_STMT: return 1;
    }
    return 0;
}

static const at_ir *largest_of(at_low *l, const at_ir *list) {
    const at_ir *largest = NULL;
    double most = -1;
    for (; list; list = list->next) {
        double work = work_of(l, list);
        if (work > most) most = work, largest = list;
    }
    return largest;
}

/* The outermost loop with several turns of the largest nest of the list. */
static const at_ir *first_loop(at_low *l, const at_ir *list) {
    for (const at_ir *n = largest_of(l, list); n; n = largest_of(l, list)) {
        if (n->kind == AT_IR_TILE || n->kind == AT_IR_STMT) return NULL;
        if (n->kind == AT_IR_LOOP && at_loop_trips(n) > 1) return n;
        list = n->child;
        if (!list || work_of_list(l, n->other) > work_of_list(l, list)) list = n->other;
    }
    return NULL;
}

/* Does it make numbers at which what stands behind it reads? */
static bool makes_places(const at_low *l, const at_ir *list) {
    bool any = false;
    for (const at_ir *n = list; n && !any; n = n->next) {
        const at_tile_call *c = n->kind == AT_IR_TILE ? n->call : NULL;
        any = (n->kind == AT_IR_STMT && at_low_holds_places(l, n->stmt.tensor)) ||
              makes_places(l, n->child) || makes_places(l, n->other);
        for (int i = 0; c && i < c->tile->num_slots; i++)
            any |= c->tile->slot_written[i] && at_low_holds_places(l, c->slot_tensor[i]);
    }
    return any;
}

at_turns at_turns_of(at_low *l, const at_ir *list) {
    enum { OFTEN = 64 };
    at_turns t = {.total = 1};
    while (t.num < AT_MOST_CUT && t.total < OFTEN) {
        const at_ir *n = first_loop(l, list);
        bool is_parallel = n && n->loop.ann == AT_ANN_PARA;
        if (!n || (is_parallel && t.num) || makes_places(l, n->child)) break;
        t.loop[t.num++] = n;
        t.total *= at_loop_trips(n);
        if (is_parallel) break;
        list = n->child;
    }
    return t;
}
