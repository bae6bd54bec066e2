/* codegen/tile/tile_group.c: stores to every second, third or fourth float that together fill all
 * of them become stores of whole registers and their rest, where the target puts lanes of two
 * registers together:
 *
 *     store [y+0] 2*i, r0;  store [y+1] 2*i, r1   ->   store [y+0], r2;  store [y+8], r3
 *
 * Four that lie beside each other in longer rows become stores of four elements of each row. They
 * stand where the last of them stood. */
#include "codegen/tile/tile_build.h"
#include "codegen/tile/tile_pick.h"
#include "codegen/tile/tile_zip.h"

#include <string.h>

enum { MOST_APART = 4 };

typedef struct { /* operations, the first of which goes to the least address */
    int op[MOST_APART], last;
} store_group;

static int tensor_of(const at_builder *b, int slot) { return b->slots[slot].tensor; }

/* Have two stores by one pointer no element in common? */
static bool are_apart(const at_tile_op *x, const at_tile_op *y) {
    if (x->slot != y->slot || x->packed || y->packed) return false;
    return x->off >= y->off + at_tile_span(y) || y->off >= x->off + at_tile_span(x) ||
           (x->times && x->times == y->times && (x->off - y->off) % x->times);
}

/* Does an operation touch what earlier stores of the group, at these places of the body, go to, or
 * change a register that was stored? */
static bool meets(const at_builder *b, const at_tile_op *op, const int *stores, int n) {
    const at_tile_op *ops = b->ops.data;
    const int tensor = tensor_of(b, ops[stores[0]].slot);
    bool is_apart = op->kind == AT_T_STORE;
    if (op->kind == AT_T_PREFETCH) return false;
    for (int i = 0; i < n; i++) {
        if (at_tile_defines(op) && op->dst == ops[stores[i]].a) return true;
        is_apart &= are_apart(op, &ops[stores[i]]);
    }
    return !is_apart &&
           (at_build_reads(b, op, tensor) || (op->slot >= 0 && tensor_of(b, op->slot) == tensor));
}

/* Where the store of the same kind to this place stands in the body; -1: nowhere. */
static int store_at(const at_builder *b, const at_tile_op *like, int64_t off, int from, int to) {
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_STORE && op->slot == like->slot && op->times == like->times &&
            op->lanes == like->lanes && op->off == off)
            return i;
    }
    return -1;
}

static int members_of(const at_tile_op *op) {
    return op->times < MOST_APART ? op->times : MOST_APART;
}

/* Do all of a register's elements lie behind each other then? */
static bool fills(const at_builder *b, const at_tile_op *op) {
    return op->times <= MOST_APART && (b->l->target->joins_fours || b->l->target->merges);
}

static bool can_join(const at_builder *b, const at_tile_op *op) {
    const at_target *t = b->l->target;
    const bool is_wide = at_type_bytes(b->l->tensors[tensor_of(b, op->slot)].type) == 4;
    return fills(b, op) || (op->times >= MOST_APART && is_wide && op->lanes == t->lanes &&
                            (t->lanes == MOST_APART ? t->joins_fours : t->gnu_insert != NULL));
}

/* The group whose least address the store at i of the body from..to has; false: it is none. */
static bool find_group(const at_builder *b, int i, int from, int to, store_group *g) {
    const at_tile_op *op = &b->ops.data[i];
    int first = i;
    if (op->kind != AT_T_STORE || op->times < 2 || !can_join(b, op)) return false;
    g->last = i;
    for (int k = 0; k < members_of(op); k++) {
        int at = g->op[k] = k ? store_at(b, op, op->off + k, from, to) : i;
        if (at < 0) return false;
        if (at < first) first = at;
        if (at > g->last) g->last = at;
    }
    int stores[MOST_APART], n = 0;
    for (int j = first; j < g->last; j++) {
        bool is_one = false;
        for (int k = 0; k < members_of(op); k++) is_one |= g->op[k] == j;
        if (is_one) stores[n++] = j;
        else if (meets(b, &b->ops.data[j], stores, n)) return false;
    }
    return true;
}

int at_build_together(at_builder *b, at_tile_kind kind, int x, int y, int by) {
    int v = at_build_vreg(b, (at_tile_vreg){0});
    at_tile_op *op = at_build_emit(b, kind);
    op->dst = (int16_t)v;
    op->a = (int16_t)x;
    op->b = (int16_t)y;
    op->by = by;
    op->lanes = (uint8_t)b->l->target->lanes;
    return v;
}

/* at_build_interleave of all lanes: out[] are the registers v[] taken lane by lane in turn. */
static void merge(at_builder *b, const int *v, int n, int *out) {
    if (n == 4) {
        int even[2], odd[2];
        merge(b, (int[]){v[0], v[2]}, 2, even);
        merge(b, (int[]){v[1], v[3]}, 2, odd);
        for (int i = 0; i < 2; i++) merge(b, (int[]){even[i], odd[i]}, 2, out + 2 * i);
        return;
    }
    for (int part = 0; part < n; part++) {
        out[part] = v[0];
        for (int i = 1; i < n; i++)
            out[part] =
                at_build_together(b, AT_T_MERGE, out[part], v[i], at_tile_merge(n, i, part));
    }
}

void at_build_interleave(at_builder *b, const int *v, int n, int *out) {
    if (n == 2) {
        out[0] = at_build_together(b, AT_T_ZIP_LOW, v[0], v[1], 0);
        out[1] = at_build_together(b, AT_T_ZIP_HIGH, v[0], v[1], 0);
    } else if (n == 3) { /* lanes 0 2, 1 3; 0 2, 1 3 of the second where they change places */
        enum { EVEN = 0x88, ODD = 0xdd, EVEN_ODD = 0xd8 };
        int xy = at_build_together(b, AT_T_FOURS, v[0], v[1], EVEN),
            yz = at_build_together(b, AT_T_FOURS, v[1], v[2], ODD),
            zx = at_build_together(b, AT_T_FOURS, v[2], v[0], EVEN_ODD);
        out[0] = at_build_together(b, AT_T_FOURS, xy, zx, EVEN);
        out[1] = at_build_together(b, AT_T_FOURS, yz, xy, EVEN_ODD);
        out[2] = at_build_together(b, AT_T_FOURS, zx, yz, ODD);
    } else {
        int low[2], high[2];
        for (int i = 0; i < 2; i++) {
            low[i] = at_build_together(b, AT_T_ZIP_LOW, v[i], v[i + 2], 0);
            high[i] = at_build_together(b, AT_T_ZIP_HIGH, v[i], v[i + 2], 0);
        }
        out[0] = at_build_together(b, AT_T_ZIP_LOW, low[0], low[1], 0);
        out[1] = at_build_together(b, AT_T_ZIP_HIGH, low[0], low[1], 0);
        out[2] = at_build_together(b, AT_T_ZIP_LOW, high[0], high[1], 0);
        out[3] = at_build_together(b, AT_T_ZIP_HIGH, high[0], high[1], 0);
    }
}

/* Of two halves each: first those of the low ones, then those of the high ones. */
static void order_halves(at_builder *b, int *v, int n) {
    int out[MOST_APART];
    for (int j = 0; j < n; j++) { /* halves 2*j and 2*j + 1, where half h is of v[h % n] */
        int x = 2 * j, y = x + 1;
        out[j] = at_build_together(b, AT_T_HALVES, v[x % n], v[y % n], x / n | (2 + y / n) << 4);
    }
    memcpy(v, out, sizeof *v * (size_t)n);
}

static void store_group_of(at_builder *b, const at_tile_op *old, const store_group *g) {
    const at_tile_op *first = &old[g->op[0]];
    int v[MOST_APART], whole[MOST_APART], n = members_of(first);
    const bool filled = fills(b, first);
    const int lanes = b->l->target->lanes, all = n * first->lanes;
    bool same = true;
    for (int k = 0; k < n; k++) {
        v[k] = whole[k] = old[g->op[k]].a;
        same &= v[k] == v[0] && b->vregs.data[v[k]].same;
    }
    const bool merges = filled && b->l->target->merges;
    if (!same && merges) merge(b, v, n, whole);
    else if (!same) at_build_interleave(b, v, n, whole);
    if (!same && filled && lanes == 8) order_halves(b, whole, n);
    for (int k = 0; k < n && (!filled || k * lanes < all); k++) {
        at_tile_op *op = at_build_emit(b, AT_T_STORE);
        *op = *first;
        op->times = 0;
        if (filled) op->lanes = (uint8_t)(all - k * lanes < lanes ? all - k * lanes : lanes);
        op->a = (int16_t)whole[k];
        op->off = first->off + (int64_t)k * (filled ? lanes : first->times);
        op->fours = filled || lanes == MOST_APART ? 0 : MOST_APART * first->times;
    }
}

void at_build_group_stores(at_builder *b) {
    AT_VEC(store_group) groups = {0};
    const int n = b->ops.len;
    if (b->failed || b->l->target->is_double) return;
    int *group_of = AT_NEW_ARRAY(b->l->arena, int, n + 1);
    memset(group_of, -1, sizeof *group_of * (size_t)n);
    for (int from = 0, to; from < n; from = to + 1) {
        for (to = from; to < n && !at_tile_ends_body(&b->ops.data[to]);) to++;
        for (int i = from; i < to; i++) {
            store_group g;
            bool is_free = group_of[i] < 0 && find_group(b, i, from, to, &g);
            for (int k = 0; is_free && k < members_of(&b->ops.data[i]); k++)
                is_free = group_of[g.op[k]] < 0;
            if (!is_free) continue;
            for (int k = 0; k < members_of(&b->ops.data[i]); k++) group_of[g.op[k]] = groups.len;
            *at_push(b->l->arena, &groups) = g;
        }
    }
    if (!groups.len) return;
    const at_tile_op *old = b->ops.data;
    b->ops.data = NULL;
    b->ops.len = b->ops.cap = 0;
    for (int i = 0; i < n; i++) {
        const store_group *g = group_of[i] >= 0 ? &groups.data[group_of[i]] : NULL;
        if (!g) *at_push(b->l->arena, &b->ops) = old[i];
        else if (g->last == i) store_group_of(b, old, g);
    }
}
