/* codegen/tile/tile_element.c: factors that are the same in all lanes, taken from lanes of a
 * register: numbers that lie behind each other in memory come by one load, where the target
 * multiplies by an element of a register. */
#include "codegen/tile/tile_make.h"

#include <string.h>

typedef struct {
    at_low *l;
    const at_tile_op *ops;
    int num_ops;
    const at_tile_vreg *vregs;
    int num_vregs;
    const bool *may_change; /* [tensor]: the tile stores to it */
    int *body;  /* [vreg]: the straight-line body that uses it; -1: several, or as no factor */
    int *whole; /* [vreg]: the vector that has it; -1: none */
    int *lane;  /* [vreg] */
    AT_VEC(int) factors; /* numbers that are nothing else, of one body each */
    AT_VEC(at_tile_vreg) made;
} elements;

/* Operations that may take one of their factors from a lane. */
static bool is_product(const at_tile_op *op) {
    return at_tile_is_term(op) || op->kind == AT_T_MUL || op->kind == AT_T_DOT;
}

/* What lies in a lane together is one, too; floats of 16 bits are widened four at once. */
static bool is_number(const elements *x, int v, const int *slot_tensor) {
    const at_tile_vreg *r = &x->vregs[v];
    if (r->load != AT_T_BCAST || r->acc || x->may_change[slot_tensor[r->slot]]) return false;
    const at_type type = x->l->tensors[slot_tensor[r->slot]].type;
    return r->packed || type == AT_F32 || at_type_is_half(type);
}

/* Elements of memory from one number to the next. */
static int step_of(const elements *x, int v) { return x->vregs[v].packed ? AT_DOT_TERMS : 1; }

static void use(elements *x, int v, int body, bool as_factor) {
    if (v < 0) return;
    if (x->body[v] == -2) x->body[v] = body;
    if (!as_factor || x->body[v] != body) x->body[v] = -1;
}

/* Which numbers are factors of one body alone. */
static void find_uses(elements *x, const int *slot_tensor) {
    for (int v = 0; v < x->num_vregs; v++) x->body[v] = -2, x->whole[v] = -1;
    for (int i = 0, body = 0; i < x->num_ops; i++) {
        const at_tile_op *op = &x->ops[i];
        body += at_tile_ends_body(op);
        const bool product = is_product(op) && op->a != op->b && op->mem == AT_MEM_NONE;
        /* One factor of a product comes from a lane: where both are numbers, the second. */
        const bool second = product && op->b >= 0 && is_number(x, op->b, slot_tensor);
        use(x, op->a, body, product && !second);
        use(x, op->b, body, second);
    }
}

/* The factor that lies so many numbers behind v, of the same body, in no vector yet; -1: there is
 * none. */
static int behind(const elements *x, int v, int numbers) {
    for (int i = 0; i < x->factors.len; i++) {
        const int w = x->factors.data[i];
        if (x->whole[w] < 0 && x->body[w] == x->body[v] && x->vregs[w].slot == x->vregs[v].slot &&
            x->vregs[w].packed == x->vregs[v].packed &&
            x->vregs[w].off == x->vregs[v].off + numbers * step_of(x, v))
            return w;
    }
    return -1;
}

/* A vector of numbers that lie behind each other, from this one on. What lies behind the last one;
 * -1: no factor. */
static int make_vector(elements *x, int first) {
    at_tile_vreg all = x->vregs[first];
    int n = 0, v = first;
    const int most = all.halves ? 2 * x->l->target->lanes : x->l->target->lanes;
    while (v >= 0 && n < most) {
        const int next = behind(x, v, 1);
        x->whole[v] = x->num_vregs + x->made.len;
        x->lane[v] = n++;
        v = next;
    }
    all.load = AT_T_LOAD;
    all.same = false;
    all.lanes = (uint8_t)n;
    *at_push(x->l->arena, &x->made) = all;
    return v;
}

static void group(elements *x, const int *slot_tensor) {
    for (int v = 0; v < x->num_vregs; v++)
        if (x->body[v] >= 0 && is_number(x, v, slot_tensor)) *at_push(x->l->arena, &x->factors) = v;
    for (int i = 0; i < x->factors.len; i++) {
        int first = x->factors.data[i];
        if (x->whole[first] >= 0) continue;
        for (int before; (before = behind(x, first, -1)) >= 0;) first = before;
        while (first >= 0) first = make_vector(x, first);
    }
}

static at_tile_op *rewritten(const elements *x) {
    at_tile_op *ops = at_copy(x->l->arena, x->ops, sizeof *ops * (size_t)x->num_ops);
    for (int i = 0; i < x->num_ops; i++) {
        at_tile_op *op = &ops[i];
        if (!is_product(op) || op->mem != AT_MEM_NONE || op->a == op->b) continue;
        const bool second = x->whole[op->b] >= 0;
        const int number = second ? op->b : op->a;
        if (x->whole[number] < 0) continue;
        op->a = second ? op->a : op->b;
        if (!second && op->kind == AT_T_DOT && op->by == AT_DOT_US) op->by = AT_DOT_SU;
        op->b = (int16_t)x->whole[number];
        op->element = (uint8_t)(1 + x->lane[number]);
    }
    return ops;
}

const at_tile_op *at_tile_by_element(at_low *l, const at_tile_op *ops, int num_ops,
                                     const at_tile_vreg **vregs, int *num_vregs,
                                     const int *slot_tensor) {
    elements x = {.l = l, .ops = ops, .num_ops = num_ops, .vregs = *vregs, .num_vregs = *num_vregs};
    if (!l->target->by_element) return ops;
    x.may_change = at_tile_changed(l, ops, num_ops, slot_tensor);
    x.body = AT_NEW_ARRAY(l->arena, int, *num_vregs + 1);
    x.whole = AT_NEW_ARRAY(l->arena, int, *num_vregs + 1);
    x.lane = AT_NEW_ARRAY(l->arena, int, *num_vregs + 1);
    find_uses(&x, slot_tensor);
    group(&x, slot_tensor);
    if (!x.made.len) return ops;
    at_tile_vreg *all = AT_NEW_ARRAY(l->arena, at_tile_vreg, *num_vregs + x.made.len);
    memcpy(all, *vregs, sizeof *all * (size_t)*num_vregs);
    memcpy(all + *num_vregs, x.made.data, sizeof *all * (size_t)x.made.len);
    *vregs = all;
    *num_vregs += x.made.len;
    return rewritten(&x);
}
