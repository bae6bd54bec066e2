/* tests/engine/lru.c: one list of lines, the last used first, with a mark where each level ends. */
#include "tests/engine/lru.h"

#include <string.h>

#include "tests/codegen/tile_walk.h"

typedef struct line {
    int newer, older; /* lines; -1: none */
    int level;        /* the first that holds it; LRU_LEVELS: none does */
} line;

typedef struct runner {
    walk walk; /* the first member: calls are given it */
    at_arena *arena;
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

static void run_tile(walk *w, const at_tile_call *c) {
    runner *r = (runner *)w;
    walk_tile t = walk_begin(w, c);
    for (const at_tile_op *op; (op = walk_next(&t));) {
        if (op->slot < 0 || op->kind == AT_T_PREFETCH) continue;
        if (op->kind == AT_T_INDEX) { /* where its list leads is not known here */
            w->is_over = true;
            return;
        }
        bool one = op->kind == AT_T_BCAST || op->mem == AT_MEM_BCAST;
        int64_t at = t.slot[op->slot] + op->off;
        if (t.tensor[op->slot] < 0) continue;
        use(r, t.tensor[op->slot], at);
        if (!one && at_floordiv(at, LRU_LINE) != at_floordiv(at + op->lanes - 1, LRU_LINE))
            use(r, t.tensor[op->slot], at + op->lanes - 1);
    }
    w->is_over = r->out.touches > r->most;
}

lru_counts lru_run(at_arena *a, const at_lowered *p, const int64_t bytes[LRU_LEVELS],
                   double most_touches) {
    runner *r = AT_NEW(a, runner);
    r->arena = a;
    r->walk = (walk){.syms = p->syms, .call = run_tile};
    r->newest = r->oldest = -1;
    r->most = most_touches;
    for (int k = 0; k < LRU_LEVELS; k++) {
        r->room[k] = (int)(bytes[k] / (4 * LRU_LINE));
        r->last[k] = -1;
    }
    walk_list(&r->walk, p->root);
    r->out.complete = !r->walk.is_over;
    return r->out;
}
