/* codegen/tile/tile_bytes.c: stores of two to four vectors of bytes that lie side by side become
 * one, where the target cuts two registers to half their bits at once (three, where it has masks):
 *
 *     store [y+0], r0;  store [y+16], r1   ->   cut r2, r0, r1, s16;  cut r2, r2, r2, u8;
 *                                               quarters r2, r2;  store [y+0], r2 packed lanes 8
 *
 * What is cut so needs not lie within its type: bounds that do nothing else go. The store stands
 * where the last of them stood. */
#include "codegen/tile/tile_build.h"

#include <string.h>

enum { MOST_TOGETHER = 4 };

typedef struct packer {
    at_builder *b;
    const at_tile_op *ops; /* as they were */
    int num_ops;
    int *uses, *made_by; /* [virtual register] the operation that makes it; -1: none, or several */
    int *first, *last;   /* [operation] of a store, the group's first and last one; -1: none */
} packer;

static at_type type_of(const packer *p, const at_tile_op *op) {
    return p->b->l->tensors[p->b->slots[op->slot].tensor].type;
}

static bool is_store(const packer *p, int i) {
    const at_tile_op *op = &p->ops[i];
    return op->kind == AT_T_STORE && !op->times && !op->packed &&
           op->lanes == p->b->l->target->lanes && at_type_bytes(type_of(p, op)) == 1 &&
           at_type_of(type_of(p, op))->is_int;
}

static bool is_beside(const packer *p, int i, int j, int64_t apart) {
    const at_tile_op *x = &p->ops[i], *y = &p->ops[j];
    return is_store(p, j) && y->slot == x->slot && y->off == x->off + apart;
}

/* Is a register, or what it is loaded from where it is used, another one behind these operations?
 */
static bool is_changed(const packer *p, int v, int from, int until) {
    const at_tile_vreg *r = &p->b->vregs.data[v];
    const int tensor = r->load && r->slot >= 0 ? p->b->slots[r->slot].tensor : -1;
    for (int k = from; k < until; k++) {
        const at_tile_op *op = &p->ops[k];
        if (at_tile_defines(op) && op->dst == v) return true;
        if (at_tile_stores(op) && p->b->slots[op->slot].tensor == tensor) return true;
    }
    return false;
}

/* A store that waits until the last one of its group must meet nothing on its way. */
static bool may_wait(const packer *p, int i, int until) {
    const at_tile_op *store = &p->ops[i];
    const int tensor = p->b->slots[store->slot].tensor;
    for (int k = i + 1; k < until; k++) {
        const at_tile_op *op = &p->ops[k];
        const bool is_apart =
            is_store(p, k) && op->slot == store->slot &&
            (op->off >= store->off + store->lanes || store->off >= op->off + op->lanes);
        if (op->kind == AT_T_PREFETCH || is_apart) continue;
        if (at_build_reads(p->b, op, tensor) ||
            (op->slot >= 0 && p->b->slots[op->slot].tensor == tensor))
            return false;
    }
    return !is_changed(p, store->a, i, until);
}

/* The stores from i on that follow each other in memory, in a body that ends at `to`. */
static int run_of(const packer *p, int i, int to, int at[MOST_TOGETHER]) {
    const int lanes = p->b->l->target->lanes;
    int n = 1;
    at[0] = i;
    for (int k = i + 1; k < to && n < MOST_TOGETHER; k++)
        if (is_beside(p, i, k, (int64_t)n * lanes)) at[n++] = k;
    if (n == 3 && !p->b->l->target->masked_stores) n = 2;
    for (int k = 0; k < n; k++)
        if (p->first[at[k]] >= 0 || !may_wait(p, at[k], at[n - 1])) return 1;
    return n;
}

/* The operation of that kind that makes a register for another one alone; NULL: there is none. */
static const at_tile_op *maker_of(const packer *p, int v, at_tile_kind kind) {
    const int at = v >= 0 && p->uses[v] == 1 ? p->made_by[v] : -1;
    return at >= 0 && p->ops[at].kind == kind ? &p->ops[at] : NULL;
}

static bool is_number(const packer *p, int v, double number) {
    const at_tile_vreg *r = &p->b->vregs.data[v];
    return r->load == AT_T_CONST && !memcmp(&r->number, &number, sizeof number);
}

/* The number that a register is held above as its type has it, of which `low` is below its most;
 * -1: it is not. */
static int unbounded(const packer *p, const at_tile_op *low, at_tile_kind kind, double least,
                     double most) {
    const at_tile_op *high = low ? maker_of(p, low->a, kind) : NULL;
    if (!high || !is_number(p, low->b, most) || !is_number(p, high->b, least)) return -1;
    return is_changed(p, high->a, (int)(high - p->ops), (int)(low - p->ops)) ? -1 : high->a;
}

/* What a store is of, without bounds that cutting has itself: of an integer both, but of a bool the
 * lower one; of a float that becomes one the lower one, to which what is no number goes, too. */
static int source_of(packer *p, int store, int until, const int *moved) {
    const int v = p->ops[store].a;
    const at_type_facts *of = at_type_of(type_of(p, &p->ops[store]));
    const at_tile_op *low = maker_of(p, v, AT_T_INT_MIN), *whole = maker_of(p, v, AT_T_TO_INT);
    const bool is_whole = low;
    if (whole) low = maker_of(p, whole->a, AT_T_MIN);
    const int x =
        is_whole ? unbounded(p, low, AT_T_INT_MAX, at_number_of_bits((uint32_t)(int32_t)of->least),
                             at_number_of_bits((uint32_t)(int32_t)of->most))
                 : unbounded(p, low, AT_T_MAX, of->least, of->most);
    if (x < 0) return v;
    if (is_whole && of->most - of->least == UINT8_MAX)
        return is_changed(p, x, (int)(low - p->ops), until) ? v : x;
    at_tile_op *bound = &p->b->ops.data[moved[low - p->ops]];
    bound->a = low->b;
    bound->b = (int16_t)x;
    return v;
}

static int cut(packer *p, int x, int y, at_type type) {
    const int v = at_build_operation(p->b, AT_T_CUT, -1, x, y);
    p->b->ops.data[p->b->ops.len - 1].by = (int32_t)type;
    return v;
}

static void store_group(packer *p, int first, int n, const int *at, const int *moved) {
    at_builder *b = p->b;
    const at_type type = type_of(p, &p->ops[first]) == AT_S8 ? AT_S8 : AT_U8;
    int of[MOST_TOGETHER] = {0};
    int v = n == MOST_TOGETHER ? at_build_narrow(b, p->ops, at, type) : -1;
    if (v < 0) {
        for (int k = 0; k < n; k++) of[k] = source_of(p, at[k], at[n - 1], moved);
        const int half = cut(p, of[0], of[1], AT_S16);
        v = cut(p, half, n == 2 ? half : cut(p, of[2], of[n - 1], AT_S16), type);
        if (b->l->target->lanes > 4) v = at_build_operation(b, AT_T_QUARTERS, -1, v, -1);
    }
    at_tile_op *op = at_build_emit(b, AT_T_STORE);
    *op = p->ops[first];
    op->a = (int16_t)v;
    op->packed = true;
    op->lanes = (uint8_t)(n * b->l->target->lanes / 4);
}

static void find_groups(packer *p) {
    for (int from = 0, to; from < p->num_ops; from = to + 1) {
        for (to = from; to < p->num_ops && !at_tile_ends_body(&p->ops[to]);) to++;
        for (int i = from; i < to; i++) {
            int at[MOST_TOGETHER];
            const int n = is_store(p, i) && p->first[i] < 0 ? run_of(p, i, to, at) : 1;
            for (int k = 0; k < n && n > 1; k++) {
                p->first[at[k]] = i;
                p->last[at[k]] = at[n - 1];
            }
        }
    }
}

static void count(packer *p) {
    for (int v = 0; v < p->b->vregs.len; v++) p->made_by[v] = -2;
    for (int i = 0; i < p->num_ops; i++) {
        const at_tile_op *op = &p->ops[i];
        p->first[i] = p->last[i] = -1;
        if (op->a >= 0) p->uses[op->a]++;
        if (op->b >= 0) p->uses[op->b]++;
        if (at_tile_defines(op)) p->made_by[op->dst] = p->made_by[op->dst] == -2 ? i : -1;
    }
}

static void rewrite(packer *p) {
    int *moved = AT_NEW_ARRAY(p->b->l->arena, int, p->num_ops + 1);
    p->b->ops.data = NULL;
    p->b->ops.len = p->b->ops.cap = 0;
    for (int i = 0; i < p->num_ops; i++) {
        int at[MOST_TOGETHER], n = 0;
        moved[i] = p->b->ops.len;
        if (!i || at_tile_ends_body(&p->ops[i])) at_build_start_body(p->b);
        if (p->first[i] < 0) {
            *at_push(p->b->l->arena, &p->b->ops) = p->ops[i];
            continue;
        }
        if (p->last[i] != i) continue;
        for (int k = p->first[i]; k <= i; k++)
            if (p->first[k] == p->first[i]) at[n++] = k;
        store_group(p, p->first[i], n, at, moved);
    }
}

void at_build_pack_stores(at_builder *b) {
    packer p = {.b = b, .ops = b->ops.data, .num_ops = b->ops.len};
    if (!b->l->target->cuts || b->failed || b->regs->sparing) return;
    p.uses = AT_NEW_ARRAY(b->l->arena, int, b->vregs.len + 1);
    p.made_by = AT_NEW_ARRAY(b->l->arena, int, b->vregs.len + 1);
    p.first = AT_NEW_ARRAY(b->l->arena, int, p.num_ops + 1);
    p.last = AT_NEW_ARRAY(b->l->arena, int, p.num_ops + 1);
    count(&p);
    find_groups(&p);
    bool any = false;
    for (int i = 0; i < p.num_ops; i++) any |= p.first[i] >= 0;
    if (!any) return;
    b->spends = true;
    rewrite(&p);
}
