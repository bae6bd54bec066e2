/* tests/engine/lru.c: one list of lines, the last used first, with a mark where each level ends. */
#include "tests/engine/lru.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    int newer, older; /* lines; -1: none */
    int level;        /* the first that holds it; LRU_LEVELS: none does */
} line;

typedef struct runner {
    at_arena *arena;
    const at_lowered *p;
    int64_t value[AT_MAX_LOOPS];
    struct {
        int *number; /* [len], -1: not touched yet */
        int64_t len;
    } lines_of[64]; /* [tensor] */
    AT_VEC(line) lines;
    int newest, oldest;
    int last[LRU_LEVELS], held[LRU_LEVELS], room[LRU_LEVELS]; /* of each level: its last line */
    lru_counts out;
    double most;
} runner;

static void use(runner *r, int tensor, int64_t element) {
    int64_t at = at_floordiv(element, LRU_LINE) + 64; /* some lie before the first element */
    if (tensor >= 64 || at < 0) return;
    if (at >= r->lines_of[tensor].len) {
        int64_t len = 2 * at + 64;
        int *more = AT_NEW_ARRAY(r->arena, int, len);
        memset(more, -1, sizeof *more * (size_t)len);
        if (r->lines_of[tensor].len)
            memcpy(more, r->lines_of[tensor].number,
                   sizeof *more * (size_t)r->lines_of[tensor].len);
        r->lines_of[tensor].number = more;
        r->lines_of[tensor].len = len;
    }
    int *slot = &r->lines_of[tensor].number[at], n = *slot;
    r->out.touches++;
    if (n >= 0 && n == r->newest) return;
    int level = LRU_LEVELS;
    if (n < 0) {
        n = *slot = r->lines.len;
        *at_push(r->arena, &r->lines) = (line){-1, -1, LRU_LEVELS};
        r->out.touched++;
    } else level = r->lines.data[n].level;
    line *x = r->lines.data;
    for (int k = 0; k < level; k++) {
        if (!r->room[k]) continue;
        r->out.lines[k]++;
        if (r->held[k] < r->room[k]) {
            r->held[k]++;
            if (r->last[k] < 0) r->last[k] = n;
            continue;
        }
        /* the last one of this level goes to the next */
        x[r->last[k]].level = k + 1;
        int before = x[r->last[k]].newer;
        r->last[k] = before;
    }
    for (int k = level; k < LRU_LEVELS; k++) /* it leaves its place before their ends */
        if (r->last[k] == n && x[n].newer >= 0) r->last[k] = x[n].newer;
    if (x[n].newer >= 0) x[x[n].newer].older = x[n].older;
    if (x[n].older >= 0) x[x[n].older].newer = x[n].newer;
    if (r->oldest == n && x[n].newer >= 0) r->oldest = x[n].newer;
    x[n].newer = -1;
    x[n].older = r->newest;
    if (r->newest >= 0) x[r->newest].newer = n;
    r->newest = n;
    x[n].level = 0;
    for (int k = 0; k < LRU_LEVELS; k++)
        if (r->room[k] && r->last[k] < 0) r->last[k] = n;
}

static int64_t value_of(const runner *r, const at_aff *x) {
    int64_t sum = x->c;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &r->p->syms[x->t[i].sym];
        if (s->kind == AT_SYM_LOOP) {
            sum += x->t[i].k * r->value[x->t[i].sym];
            continue;
        }
        int64_t a = value_of(r, s->of), b = s->of2 ? value_of(r, s->of2) : 0;
        if (s->kind == AT_SYM_DIV) a = at_floordiv(a, s->by);
        else if (s->kind == AT_SYM_MIN ? b < a : b > a) a = b;
        sum += x->t[i].k * a;
    }
    return sum;
}

static void run_tile(runner *r, const at_tile_call *c) {
    const at_tile *t = c->tile;
    int64_t slot[AT_TILE_MAX_SLOTS], trips[AT_TILE_MAX_TRIPS], left[32];
    int body[32], depth = 0, tensor[AT_TILE_MAX_SLOTS];
    for (int i = 0; i < t->num_slots; i++) {
        slot[i] = value_of(r, c->slot_at[i]);
        tensor[i] = c->slot_tensor[i];
    }
    for (int i = 0; i < t->num_trips; i++) trips[i] = value_of(r, c->trip[i]);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) {
            int64_t n = op->trip_arg >= 0 ? trips[op->trip_arg] : op->trip;
            if (n > 0) left[depth] = n, body[depth++] = i;
            else i = at_tile_loop_end(t, i) - 1;
            continue;
        }
        if (op->kind == AT_T_END) {
            if (--left[depth - 1]) i = body[depth - 1];
            else depth--;
            continue;
        }
        if (op->kind == AT_T_BUMP) {
            slot[op->slot] += op->bump * (op->trip_arg >= 0 ? trips[op->trip_arg] : 1);
            continue;
        }
        if (op->slot < 0 || op->kind == AT_T_PREFETCH) continue;
        bool one = op->kind == AT_T_BCAST || op->kind == AT_T_INDEX || op->mem == AT_MEM_BCAST;
        int64_t at = slot[op->slot] + op->off;
        use(r, tensor[op->slot], at);
        if (!one && at_floordiv(at, LRU_LINE) != at_floordiv(at + op->lanes - 1, LRU_LINE))
            use(r, tensor[op->slot], at + op->lanes - 1);
    }
}

static void run_list(runner *r, const at_ir *n) {
    for (; n && r->out.complete; n = n->next) {
        if (r->out.touches > r->most) r->out.complete = false;
        if (n->kind == AT_IR_TILE) run_tile(r, n->call);
        if (n->kind == AT_IR_IF) run_list(r, value_of(r, n->test) >= 0 ? n->child : n->other);
        if (n->kind != AT_IR_LOOP) continue;
        int64_t lo = n->loop.lo_aff ? value_of(r, n->loop.lo_aff) : n->loop.lo;
        int64_t hi = n->loop.hi_aff ? value_of(r, n->loop.hi_aff) : n->loop.hi;
        for (int64_t i = lo; i < hi; i++) {
            r->value[n->loop.sym] = i;
            run_list(r, n->child);
        }
    }
}

lru_counts lru_run(at_arena *a, const at_lowered *p, const int64_t bytes[LRU_LEVELS],
                   double most_touches) {
    runner *r = AT_NEW(a, runner);
    r->arena = a;
    r->p = p;
    r->newest = r->oldest = -1;
    r->most = most_touches;
    r->out.complete = true;
    for (int k = 0; k < LRU_LEVELS; k++) {
        r->room[k] = (int)(bytes[k] / (4 * LRU_LINE));
        r->last[k] = -1;
    }
    run_list(r, p->root);
    return r->out;
}
