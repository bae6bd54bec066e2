/* tests/codegen/tile_walk.h: a lowered program gone through step by step: loops, and the operations
 * of each tile that is called. What an operation does is for who walks. */
#ifndef AT_TESTS_TILE_WALK_H
#define AT_TESTS_TILE_WALK_H

#include "codegen/lowered.h"

typedef struct walk walk;
struct walk {
    const at_sym *syms;
    const at_data *data;                          /* of index tensors; NULL: there are none */
    void (*call)(walk *w, const at_tile_call *c); /* of a tile, in the order of the program */
    bool is_over;                                 /* to be set by call */
    int64_t value[AT_MAX_LOOPS];
};

static inline int64_t walk_value(const walk *w, const at_aff *x) {
    int64_t sum = x->c;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &w->syms[x->t[i].sym];
        if (s->kind == AT_SYM_LOOP) {
            sum += x->t[i].k * w->value[x->t[i].sym];
            continue;
        }
        int64_t a = walk_value(w, s->of), b = s->of2 ? walk_value(w, s->of2) : 0;
        if (s->kind == AT_SYM_DIV) a = at_floordiv(a, s->by);
        else if (s->kind == AT_SYM_LOAD) a = w->data[s->tensor].i[a];
        else if (s->kind == AT_SYM_MUL) a *= b;
        else if (s->kind == AT_SYM_MIN ? b < a : b > a) a = b;
        sum += x->t[i].k * a;
    }
    return sum;
}

static inline void walk_list(walk *w, const at_ir *n) {
    for (; n && !w->is_over; n = n->next) {
        if (n->kind == AT_IR_TILE) w->call(w, n->call);
        if (n->kind == AT_IR_IF) walk_list(w, walk_value(w, n->test) >= 0 ? n->child : n->other);
        if (n->kind != AT_IR_LOOP) continue;
        int64_t lo = n->loop.lo_aff ? walk_value(w, n->loop.lo_aff) : n->loop.lo;
        int64_t hi = n->loop.hi_aff ? walk_value(w, n->loop.hi_aff) : n->loop.hi;
        for (int64_t i = lo; i < hi; i++) {
            w->value[n->loop.sym] = i;
            walk_list(w, n->child);
        }
    }
}

/* A tile that is being gone through. */
typedef struct walk_tile {
    const at_tile *tile;
    int64_t slot[AT_TILE_MAX_SLOTS]; /* elements; as the operation finds them */
    int tensor[AT_TILE_MAX_SLOTS];   /* -1: the tile's own memory, or where a list leads */
    int64_t trips[AT_TILE_MAX_TRIPS];
    int64_t left[32]; /* of each loop around the operation: turns, and where it begins */
    int body[32], depth, next;
} walk_tile;

static inline walk_tile walk_begin(const walk *w, const at_tile_call *c) {
    walk_tile t = {.tile = c->tile};
    for (int i = 0; i < c->tile->num_slots; i++) {
        t.slot[i] = walk_value(w, c->slot_at[i]);
        t.tensor[i] = c->slot_tensor[i];
    }
    for (int i = c->tile->num_slots; i < AT_TILE_MAX_SLOTS; i++) t.tensor[i] = -1;
    for (int i = 0; i < c->tile->num_trips; i++) t.trips[i] = walk_value(w, c->trip[i]);
    return t;
}

/* The next operation, but for loops and what moves pointers, which are done; NULL: the end. */
static inline const at_tile_op *walk_next(walk_tile *t) {
    for (int i = t->next; i < t->tile->num_ops; i = t->next) {
        const at_tile_op *op = &t->tile->ops[i];
        int64_t times = op->trip_arg >= 0 ? t->trips[op->trip_arg] : 1;
        t->next = i + 1;
        if (op->kind == AT_T_LOOP) {
            int64_t n = op->trip_arg < 0 ? op->trip : op->by > 1 ? times / op->by : times;
            if (op->most) n %= op->most;
            if (n > 0) t->left[t->depth] = n, t->body[t->depth++] = i + 1;
            else t->next = at_tile_loop_end(t->tile, i);
        } else if (op->kind == AT_T_END) {
            if (--t->left[t->depth - 1]) t->next = t->body[t->depth - 1];
            else t->depth--;
        } else if (op->kind == AT_T_BUMP) {
            t->slot[op->slot] += op->bump * times;
        } else return op;
    }
    return NULL;
}

#endif
