/* codegen/tile_group_loads.c: loads of every so many floats that lie beside each other, as elements
 * of short rows do when lanes are rows, become loads of four elements of each row, which are turned
 * round in registers:
 *
 *     load [x+0] 9*i;  load [x+1] 9*i;  load [x+2] 9*i;  load [x+3] 9*i
 *
 * What is read lies between elements that the same body reads. */
#include "codegen/tile_build.h"

#include <string.h>

enum { SIDE = AT_TILE_SQUARE };

typedef struct {
    int vreg, first; /* the operation that uses it first */
    bool done;
} member;

typedef AT_VEC(member) members;

typedef struct { /* four elements of each row, from `off` of the first one */
    int like;    /* a register that is loaded of them */
    int64_t off;
    int into[SIDE], first; /* -1: nothing uses that element */
} window;

static bool is_apart(const at_builder *b, const bool *changed, int v) {
    const at_tile_vreg *r = &b->vregs.data[v];
    if (r->load != AT_T_LOAD || r->acc || r->times < SIDE || r->by || r->grouped || r->packed ||
        r->halves || r->lanes != b->l->target->lanes)
        return false;
    const int tensor = b->slots[r->slot].tensor;
    return at_type_bytes(b->l->tensors[tensor].type) == 4 && !changed[tensor];
}

/* Such loads that the body from..to uses. */
static void find_members(const at_builder *b, const bool *changed, int from, int to, members *m) {
    m->len = 0;
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &b->ops.data[i];
        const int used[] = {op->a, op->b};
        for (int k = 0; k < 2; k++) {
            if (used[k] < 0 || !is_apart(b, changed, used[k])) continue;
            int j = 0;
            while (j < m->len && m->data[j].vreg != used[k]) j++;
            if (j == m->len) *at_push(b->l->arena, m) = (member){.vreg = used[k], .first = i};
        }
    }
}

static bool same_rows(const at_tile_vreg *v, const at_tile_vreg *w) {
    return v->slot == w->slot && v->times == w->times;
}

/* The window of the member's element, and all that are in it; false: there is none. */
static bool find_window(const at_builder *b, members *m, const member *of, window *w) {
    const at_tile_vreg *r = &b->vregs.data[of->vreg];
    int64_t least = r->off, most = r->off;
    int num = 0;
    for (int i = 0; i < m->len; i++) {
        const at_tile_vreg *o = &b->vregs.data[m->data[i].vreg];
        if (!same_rows(o, r)) continue;
        if (o->off < least) least = o->off;
        if (o->off > most) most = o->off;
    }
    if (most - least < SIDE - 1) return false;
    *w = (window){.like = of->vreg,
                  .off = r->off + SIDE - 1 < most ? r->off : most - SIDE + 1,
                  .into = {-1, -1, -1, -1},
                  .first = of->first};
    for (int i = 0; i < m->len; i++) {
        member *o = &m->data[i];
        const int64_t at = b->vregs.data[o->vreg].off - w->off;
        if (o->done || !same_rows(&b->vregs.data[o->vreg], r) || at < 0 || at >= SIDE) continue;
        w->into[at] = i;
        num++;
    }
    const bool few = b->l->target->picks_whole && r->times <= AT_TILE_WHOLE_STEP;
    if (few && num < SIDE) return false;
    for (int k = 0; k < SIDE; k++) {
        if (w->into[k] < 0) continue;
        member *o = &m->data[w->into[k]];
        if (o->first < w->first) w->first = o->first;
        o->done = true;
        w->into[k] = o->vreg;
    }
    return true;
}

/* Lane i of each register that stood for a load is of row i. */
static void load_window(at_builder *b, const window *w) {
    const int lanes = b->l->target->lanes;
    const int64_t apart = b->vregs.data[w->like].times;
    at_tile_vreg row = b->vregs.data[w->like];
    int v[SIDE], out[SIDE];
    row.times = 0;
    row.fours = lanes > SIDE ? SIDE * apart : 0;
    for (int i = 0; i < SIDE; i++) {
        row.off = w->off + i * apart;
        v[i] = at_build_vreg(b, row);
    }
    at_build_interleave(b, v, SIDE, out);
    for (int k = 0; k < SIDE && !b->failed; k++)
        for (int i = b->ops.len - SIDE; i < b->ops.len; i++)
            if (w->into[k] >= 0 && b->ops.data[i].dst == out[k]) {
                b->ops.data[i].dst = (int16_t)w->into[k];
                b->vregs.data[w->into[k]] = (at_tile_vreg){0};
                break;
            }
}

/* [tensor] that the tile stores to. */
static const bool *changed_tensors(const at_builder *b) {
    int *tensor = AT_NEW_ARRAY(b->l->arena, int, b->most_slots);
    for (int i = 0; i < b->num_slots + b->num_pointers; i++) tensor[i] = b->slots[i].tensor;
    return at_tile_changed(b->l, b->ops.data, b->ops.len, tensor);
}

void at_build_group_loads(at_builder *b) {
    const at_target *t = b->l->target;
    const bool loads_fours = t->lanes == SIDE ? t->joins_fours : t->gnu_insert != NULL;
    if (!loads_fours || t->is_double || b->failed || b->regs->sparing) return;
    const bool *changed = changed_tensors(b);
    AT_VEC(window) windows = {0};
    members m = {0};
    const int n = b->ops.len;
    for (int from = 0, to; from < n; from = to + 1) {
        for (to = from; to < n && !at_tile_ends_body(&b->ops.data[to]);) to++;
        find_members(b, changed, from, to, &m);
        for (int i = 0; i < m.len; i++) {
            window w;
            if (!m.data[i].done && find_window(b, &m, &m.data[i], &w))
                *at_push(b->l->arena, &windows) = w;
        }
    }
    if (!windows.len) return;
    b->spends = true;
    const at_tile_op *old = b->ops.data;
    b->ops.data = NULL;
    b->ops.len = b->ops.cap = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < windows.len; k++)
            if (windows.data[k].first == i) load_window(b, &windows.data[k]);
        *at_push(b->l->arena, &b->ops) = old[i];
    }
}
