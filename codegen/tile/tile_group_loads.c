/* codegen/tile/tile_group_loads.c: loads of every so many floats that lie beside each other, as
 * elements of short rows do when lanes are rows, become loads of four elements of each row, which
 * are turned round in registers:
 *
 *     load [x+0] 9*i;  load [x+1] 9*i;  load [x+2] 9*i;  load [x+3] 9*i
 *
 * Rows of two or three elements, all of which are read, are loaded as fours that lie behind each
 * other, and taken apart. What is read lies between elements that the same body reads, or in groups
 * that memory holds whole. */
#include "codegen/tile/tile_build.h"
#include "codegen/tile/tile_zip.h"

#include <string.h>

enum { SIDE = AT_TILE_SQUARE };

typedef struct {
    int vreg, first; /* the operation that uses it first */
    bool done;
} member;

typedef AT_VEC(member) members;

typedef struct { /* so many elements of each row, four at most, from `off` of the first one */
    int like;    /* a register that is loaded of them */
    int64_t off;
    int side, into[SIDE], first; /* -1: nothing uses that element */
} window;

static bool is_apart(const at_builder *b, const bool *changed, int v) {
    const at_tile_vreg *r = &b->vregs.data[v];
    const bool fours_of_two = b->l->target->lanes == 2 * SIDE;
    if (r->load != AT_T_LOAD || r->acc || r->times < (fours_of_two ? 2 : SIDE) || r->by ||
        r->packed || r->halves || r->lanes != b->l->target->lanes)
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

static int64_t place_of(const at_tile_vreg *v) { return v->off + (v->grouped ? v->plus : 0); }

static bool same_rows(const at_tile_vreg *v, const at_tile_vreg *w) {
    return v->slot == w->slot && v->times == w->times;
}

/* The window of the member's element, and all that are in it; false: there is none. */
static bool find_window(const at_builder *b, members *m, const member *of, window *w) {
    const at_tile_vreg *r = &b->vregs.data[of->vreg];
    const int side = r->times < SIDE ? r->times : SIDE;
    int64_t least = place_of(r), most = least;
    int num = 0;
    for (int i = 0; i < m->len; i++) {
        const at_tile_vreg *o = &b->vregs.data[m->data[i].vreg];
        if (!same_rows(o, r)) continue;
        const int64_t last = o->grouped ? o->off + o->times - 1 : o->off;
        if (o->off < least) least = o->off;
        if (last > most) most = last;
    }
    if (most - least < side - 1) return false;
    *w = (window){.like = of->vreg,
                  .off = place_of(r) + side - 1 < most ? place_of(r) : most - side + 1,
                  .side = side,
                  .into = {-1, -1, -1, -1},
                  .first = of->first};
    for (int i = 0; i < m->len; i++) {
        member *o = &m->data[i];
        const int64_t at = place_of(&b->vregs.data[o->vreg]) - w->off;
        if (o->done || !same_rows(&b->vregs.data[o->vreg], r) || at < 0 || at >= side) continue;
        w->into[at] = i;
        num++;
    }
    const bool all =
        r->times < SIDE || (b->l->target->picks_whole && r->times <= AT_TILE_WHOLE_STEP);
    if (all && num < side) return false;
    for (int k = 0; k < side; k++) {
        if (w->into[k] < 0) continue;
        member *o = &m->data[w->into[k]];
        if (o->first < w->first) w->first = o->first;
        o->done = true;
        w->into[k] = o->vreg;
    }
    return true;
}

/* In every four lanes: v[0], v[1], .. lie behind each other, and out[i] is every n-th of them, from
 * number i on; n: 2 or 3. */
static void take_apart(at_builder *b, const int *v, int n, int *out) {
    enum { EVEN = 0x88, ODD = 0xdd };
    if (n == 2) {
        out[0] = at_build_together(b, AT_T_FOURS, v[0], v[1], EVEN);
        out[1] = at_build_together(b, AT_T_FOURS, v[0], v[1], ODD);
        return;
    }
    enum {
        LANES_1201 = 0x49,
        LANES_2312 = 0x9e,
        LANES_0302 = 0x8c,
        LANES_0213 = 0xd8,
        LANES_1303 = 0xcd
    };
    const int yz = at_build_together(b, AT_T_FOURS, v[0], v[1], LANES_1201), /* y0 z0 y1 z1 */
        xy = at_build_together(b, AT_T_FOURS, v[1], v[2], LANES_2312);       /* x2 y2 x3 y3 */
    out[0] = at_build_together(b, AT_T_FOURS, v[0], xy, LANES_0302);
    out[1] = at_build_together(b, AT_T_FOURS, yz, xy, LANES_0213);
    out[2] = at_build_together(b, AT_T_FOURS, yz, v[2], LANES_1303);
}

/* Rows of four elements: every second one of two registers, then of those. */
static void load_merged(at_builder *b, const window *w, int *out) {
    at_tile_vreg half = b->vregs.data[w->like];
    half.times = 2;
    half.grouped = true;
    for (int odd = 0; odd < 2; odd++) {
        int v[2];
        half.plus = (uint8_t)odd;
        for (int i = 0; i < 2; i++) {
            half.off = w->off + (int64_t)2 * i * half.lanes;
            v[i] = at_build_vreg(b, half);
        }
        for (int i = 0; i < 2; i++)
            out[2 * i + odd] = at_build_together(b, AT_T_MERGE, v[0], v[1], at_tile_merge(2, 0, i));
    }
}

/* Lane i of each register that stood for a load is of row i. */
static void load_window(at_builder *b, const window *w) {
    const int lanes = b->l->target->lanes, n = w->side;
    at_tile_vreg row = b->vregs.data[w->like];
    const int64_t apart = row.times;
    int v[SIDE], out[SIDE];
    row.times = 0;
    row.grouped = false;
    row.fours = lanes > SIDE ? SIDE * apart : 0;
    for (int i = 0; i < n; i++) {
        row.off = w->off + i * (n < SIDE ? SIDE : apart);
        v[i] = at_build_vreg(b, row);
    }
    if (apart == SIDE && b->l->target->merges) load_merged(b, w, out);
    else if (n < SIDE) take_apart(b, v, n, out);
    else at_build_interleave(b, v, n, out);
    for (int k = 0; k < n && !b->failed; k++)
        for (int i = b->ops.len - n; i < b->ops.len; i++)
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
