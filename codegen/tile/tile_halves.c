/* codegen/tile/tile_halves.c: terms whose factors are both floats of 16 bits as they lie in memory,
 * where the target multiplies such floats: nothing is widened, and two neighbouring vectors of one
 * number's factors come by one load. A product of two such floats is exact as a float, so each sum
 * has the bits that it has else. */
#include "codegen/tile/tile_make.h"

#include <string.h>

typedef struct halver {
    const at_low *l;
    at_tile_op *ops;
    int num_ops;
    at_tile_vreg *vregs; /* with room for as many more */
    int num_vregs;
    const int *slot_tensor;
    const bool *may_change; /* [tensor]: the tile stores to it */
    bool *stays;            /* [vreg] as it lies */
    int *body;              /* [vreg] the straight-line body that uses it; -1: several */
    bool *beside_numbers;   /* [vreg] it is multiplied by what is the same in all lanes alone */
} halver;

static bool is_half(const halver *h, int v) {
    const at_tile_vreg *r = &h->vregs[v];
    return (r->load == AT_T_LOAD || r->load == AT_T_BCAST) && !r->acc && !r->by && !r->times &&
           r->slot >= 0 && h->l->tensors[h->slot_tensor[r->slot]].type == AT_F16;
}

static bool is_product(const halver *h, const at_tile_op *op) {
    return at_tile_is_term(op) && op->mem == AT_MEM_NONE && op->a >= 0 && op->b >= 0 &&
           op->a != op->b && h->stays[op->a] && h->stays[op->b] &&
           (h->vregs[op->a].load == AT_T_LOAD || h->vregs[op->b].load == AT_T_LOAD);
}

static void needs_wide(halver *h, int v, bool *again) {
    if (v < 0 || !h->stays[v]) return;
    h->stays[v] = false;
    *again = true;
}

/* Loads that nothing but such products uses. false: there are none. */
static bool find_halves(halver *h) {
    bool any = false;
    for (int v = 0; v < h->num_vregs; v++) any |= h->stays[v] = is_half(h, v);
    for (bool again = any; again;) {
        again = false;
        for (int i = 0; i < h->num_ops; i++) {
            const at_tile_op *op = &h->ops[i];
            if (is_product(h, op)) continue;
            needs_wide(h, op->a, &again);
            needs_wide(h, op->b, &again);
        }
    }
    any = false;
    for (int i = 0; i < h->num_ops; i++) any |= is_product(h, &h->ops[i]);
    return any;
}

static void see(halver *h, int v, int other, int body) {
    if (h->body[v] == -2) h->body[v] = body;
    if (h->body[v] != body) h->body[v] = -1;
    if (h->vregs[other].load != AT_T_BCAST) h->beside_numbers[v] = false;
}

static void mark(halver *h) {
    for (int v = 0; v < h->num_vregs; v++) h->body[v] = -2, h->beside_numbers[v] = true;
    for (int i = 0, body = 0; i < h->num_ops; i++) {
        at_tile_op *op = &h->ops[i];
        body += at_tile_ends_body(op);
        if (!is_product(h, op)) continue;
        op->halves = true;
        see(h, op->a, op->b, body);
        see(h, op->b, op->a, body);
    }
    for (int v = 0; v < h->num_vregs; v++) {
        if (!h->stays[v]) continue;
        h->vregs[v].halves = true;
        h->vregs[v].narrow = false;
    }
}

/* A whole vector that may be one half of a register, which is loaded with the other one. */
static bool is_part(const halver *h, int v) {
    const at_tile_vreg *r = &h->vregs[v];
    return r->halves && r->load == AT_T_LOAD && r->lanes == h->l->target->lanes &&
           h->body[v] >= 0 && h->beside_numbers[v] && !h->may_change[h->slot_tensor[r->slot]];
}

/* The part behind v, which is no register's yet, among those of a list; -1: there is none. */
static int behind(const halver *h, int v, const int *parts, int n, const int *whole) {
    const at_tile_vreg *low = &h->vregs[v];
    for (int i = 0; i < n; i++) {
        const at_tile_vreg *high = &h->vregs[parts[i]];
        if (whole[parts[i]] < 0 && high->slot == low->slot &&
            high->off == low->off + h->l->target->lanes)
            return parts[i];
    }
    return -1;
}

/* Every two neighbours of a body become one register, of whose second half the latter is. */
static void pair(halver *h, int *whole, bool *is_upper) {
    int *parts = AT_NEW_ARRAY(h->l->arena, int, h->num_vregs + 1), num = 0;
    for (int v = 0; v < h->num_vregs; v++) {
        whole[v] = -1;
        if (is_part(h, v)) parts[num++] = v;
    }
    for (int from = 0, end; from < num; from = end) {
        end = from;
        while (end < num && h->body[parts[end]] == h->body[parts[from]]) end++;
        for (int i = from; i < end; i++) {
            const int low = parts[i],
                      high = whole[low] < 0 ? behind(h, low, parts + from, end - from, whole) : -1;
            if (high < 0) continue;
            h->vregs[h->num_vregs] = h->vregs[low];
            h->vregs[h->num_vregs].lanes = (uint8_t)(2 * h->l->target->lanes);
            whole[low] = whole[high] = h->num_vregs++;
            is_upper[high] = true;
        }
    }
}

static void rewrite(halver *h, const int *whole, const bool *is_upper) {
    for (int i = 0; i < h->num_ops; i++) {
        at_tile_op *op = &h->ops[i];
        if (!op->halves) continue;
        int16_t *const factors[] = {&op->a, &op->b};
        for (int j = 0; j < 2; j++) {
            const int v = *factors[j];
            if (whole[v] < 0) continue;
            op->upper = is_upper[v];
            *factors[j] = (int16_t)whole[v];
        }
    }
}

const at_tile_op *at_tile_of_halves(at_low *l, const at_tile_op *ops, int num_ops,
                                    const at_tile_vreg **vregs, int *num_vregs,
                                    const int *slot_tensor) {
    const int n = *num_vregs;
    halver h = {.l = l, .num_ops = num_ops, .num_vregs = n, .slot_tensor = slot_tensor};
    if (!l->target->multiplies_halves || !l->program->compute->has_halves) return ops;
    h.may_change = at_tile_changed(l, ops, num_ops, slot_tensor);
    h.stays = AT_NEW_ARRAY(l->arena, bool, n + 1);
    h.beside_numbers = AT_NEW_ARRAY(l->arena, bool, n + 1);
    h.body = AT_NEW_ARRAY(l->arena, int, n + 1);
    h.vregs = AT_NEW_ARRAY(l->arena, at_tile_vreg, n + n / 2 + 1);
    memcpy(h.vregs, *vregs, sizeof *h.vregs * (size_t)n);
    h.ops = at_copy(l->arena, ops, sizeof *ops * (size_t)num_ops);
    if (!find_halves(&h)) return ops;
    mark(&h);
    int *whole = AT_NEW_ARRAY(l->arena, int, n + 1);
    bool *is_upper = AT_NEW_ARRAY(l->arena, bool, n + 1);
    pair(&h, whole, is_upper);
    rewrite(&h, whole, is_upper);
    *vregs = h.vregs;
    *num_vregs = h.num_vregs;
    return h.ops;
}
