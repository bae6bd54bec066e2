/* codegen/tile/tile_blocks.c: long sums of floats are added up in blocks. A sum that goes on in one
 * register is rounded at each term by its own size, so its error grows with the number of terms.
 * After some dozens of terms such a register is added to a place in the tile's own memory, and
 * begins anew. It costs an addition, a load and a store a block. */
#include "codegen/tile/tile_make.h"

enum {
    BLOCK = 72,       /* terms of a block, at most */
    LEAST_BLOCK = 32, /* and at least, where a loop runs a passed number of times */
    LIKELY_TRIPS = 3, /* of a loop that runs a passed number of times: rows of a window */
    MOST_NEST = 12    /* loops of a tile, with those that are made */
};

typedef struct blocks {
    at_low *l;
    const at_tile *t;
    bool sum[64]; /* [register] it is added to in the loop at hand, and nothing else */
    int place[64], num_places;
    int spare; /* a register that is free, or -1 */
    AT_VEC(at_tile_op) out;
} blocks;

static bool is_dot(const at_tile_op *op) { return op->kind == AT_T_DOT && op->by == AT_DOT_BF16; }

static bool is_term(const at_tile_op *op) {
    return at_tile_is_term(op) || op->kind == AT_T_ADD || is_dot(op);
}

/* Is a term added to register r, which is read for nothing else? */
static bool adds_to(const at_tile_op *op, int r) {
    if (!at_tile_defines(op) || op->dst != r || !is_term(op)) return false;
    const int beside_dst = (op->a == r) + (!op->mem && op->b == r);
    return beside_dst == (op->kind == AT_T_ADD);
}

/* Terms that the operations from i to `end` add to register r; of a loop that runs a passed number
 * of times those of a likely one. */
static int64_t terms_of(const at_tile *t, int i, int end, int r) {
    int64_t n = 0, times[MOST_NEST + 1] = {1};
    int depth = 0;
    for (; i < end; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) {
            times[depth + 1] = times[depth] * (op->trip_arg < 0 ? op->trip : LIKELY_TRIPS);
            depth++;
        }
        if (op->kind == AT_T_END) depth--;
        if (at_tile_defines(op) && op->dst == r) n += times[depth] * (1 + is_dot(op));
    }
    return n;
}

/* The most terms of a sum in one turn of the loop that begins at i. */
static int64_t terms_of_turn(const blocks *x, int i) {
    const int end = at_tile_loop_end(x->t, i) - 1;
    int64_t most = 0;
    for (int r = 0; r < x->t->target->regs; r++) {
        const int64_t n = x->sum[r] ? terms_of(x->t, i + 1, end, r) : 0;
        if (n > most) most = n;
    }
    return most;
}

/* Which registers does the loop at i add to only? */
static bool find_sums(blocks *x, int i) {
    const int end = at_tile_loop_end(x->t, i);
    bool any = false;
    for (int r = 0; r < x->t->target->regs; r++) {
        bool is_added = false, is_other = false;
        for (int k = i + 1; k < end; k++) {
            const at_tile_op *op = &x->t->ops[k];
            const bool adds = adds_to(op, r);
            is_added |= adds;
            is_other |= !adds && (at_tile_reads(op, r) || (at_tile_defines(op) && op->dst == r));
        }
        any |= x->sum[r] = is_added && !is_other;
    }
    return any;
}

static void copy_ops(blocks *x, int from, int to) {
    for (; from < to; from++) *at_push(x->l->arena, &x->out) = x->t->ops[from];
}

static at_tile_op *emit(blocks *x, at_tile_kind kind, int dst, int a) {
    at_tile_op *op = at_push(x->l->arena, &x->out);
    *op = at_tile_on_registers(kind, dst, a);
    return op;
}

static at_tile_op *move(blocks *x, at_tile_kind kind, int dst, int a, int place) {
    at_tile_op *op = emit(x, kind, dst, a);
    op->lanes = (uint8_t)x->t->lanes;
    op->slot = (int16_t)at_tile_frame(x->t);
    op->off = (int64_t)place * x->t->lanes;
    return op;
}

/* The loop begins: what a sum holds goes to its place, and the sum begins at nothing. */
static void begin(blocks *x) {
    for (int r = 0; r < x->t->target->regs; r++) {
        if (!x->sum[r]) continue;
        x->place[r] = x->num_places++;
        move(x, AT_T_STORE, -1, r, x->place[r]);
        emit(x, AT_T_CONST, r, -1);
    }
}

static void join(blocks *x, int r) {
    const bool folds = x->t->target->fold_vector;
    if (!folds) move(x, AT_T_LOAD, x->spare, -1, x->place[r]);
    at_tile_op *op = folds ? move(x, AT_T_ADD, r, r, x->place[r]) : emit(x, AT_T_ADD, r, r);
    if (folds) op->mem = AT_MEM_VECTOR;
    else op->b = (int16_t)x->spare;
}

/* A block ends. */
static void flush(blocks *x) {
    for (int r = 0; r < x->t->target->regs; r++) {
        if (!x->sum[r]) continue;
        join(x, r);
        move(x, AT_T_STORE, -1, r, x->place[r]);
        emit(x, AT_T_CONST, r, -1);
    }
}

/* The body of the loop at i, so many times, in a loop of that kind. */
static void turns(blocks *x, int i, int64_t trips, bool flushes) {
    at_tile_op loop = x->t->ops[i];
    const int end = at_tile_loop_end(x->t, i) - 1;
    if (loop.trip_arg < 0) loop.trip = trips;
    *at_push(x->l->arena, &x->out) = loop;
    copy_ops(x, i + 1, end);
    if (flushes) flush(x);
    copy_ops(x, end, end + 1);
}

/* The loop at i in so many blocks; what the last one adds up stays in registers. */
static void in_blocks(blocks *x, int i, int64_t count) {
    at_tile_op outer = x->t->ops[i];
    const int64_t trips = outer.trip, size = (trips + count - 1) / count;
    outer.trip = (trips - 1) / size;
    *at_push(x->l->arena, &x->out) = outer;
    turns(x, i, size, false);
    flush(x);
    emit(x, AT_T_END, -1, -1);
    turns(x, i, trips - outer.trip * size, false);
}

/* The loop at i, whose sums are long, with a block's end wherever one is due. */
static void divide(blocks *x, int i) {
    const at_tile_op *loop = &x->t->ops[i];
    const int end = at_tile_loop_end(x->t, i) - 1;
    const int64_t each = terms_of_turn(x, i);
    const bool is_passed = loop->trip_arg >= 0;
    if (!is_passed && each * loop->trip <= BLOCK) {
        copy_ops(x, i, end + 1);
        flush(x);
        return;
    }
    if (!is_passed && each <= BLOCK / 2) {
        in_blocks(x, i, (each * loop->trip + BLOCK - 1) / BLOCK);
        return;
    }
    if (each <= BLOCK) {
        turns(x, i, loop->trip, each >= LEAST_BLOCK);
        return;
    }
    bool divided = false;
    *at_push(x->l->arena, &x->out) = *loop;
    for (int k = i + 1; k < end; k++) {
        if (x->t->ops[k].kind != AT_T_LOOP) {
            copy_ops(x, k, k + 1);
            continue;
        }
        const int behind = at_tile_loop_end(x->t, k);
        divide(x, k);
        divided = true;
        k = behind - 1;
    }
    if (!divided) flush(x);
    copy_ops(x, end, end + 1);
}

/* What stands from `from` to `to`, long sums in blocks. */
static void walk(blocks *x, int from, int to) {
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &x->t->ops[i];
        const int end = op->kind == AT_T_LOOP ? at_tile_loop_end(x->t, i) : i + 1;
        if (op->kind != AT_T_LOOP) {
            copy_ops(x, i, end);
            continue;
        }
        const bool any = find_sums(x, i);
        const int64_t trips = op->trip_arg < 0 ? op->trip : LIKELY_TRIPS;
        if (any && terms_of_turn(x, i) * trips > BLOCK) {
            begin(x);
            divide(x, i);
            for (int r = 0; r < x->t->target->regs; r++)
                if (x->sum[r]) join(x, r);
        } else {
            copy_ops(x, i, i + 1);
            walk(x, i + 1, end - 1);
            copy_ops(x, end - 1, end);
        }
        i = end - 1;
    }
}

void at_tile_sum_in_blocks(at_low *l, at_tile *t) {
    const at_target *target = t->target;
    blocks x = {.l = l, .t = t, .num_places = t->num_spilled};
    x.spare = t->num_regs < target->regs ? t->num_regs : -1;
    if (target->is_double || (!target->fold_vector && x.spare < 0) ||
        at_tile_nest_depth(t) >= MOST_NEST)
        return;
    walk(&x, 0, t->num_ops);
    if (x.num_places == t->num_spilled) return;
    if (!target->fold_vector) t->num_regs++;
    t->num_spilled = x.num_places;
    t->ops = x.out.data;
    t->num_ops = x.out.len;
}
