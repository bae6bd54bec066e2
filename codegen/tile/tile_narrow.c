/* codegen/tile/tile_narrow.c: four vectors of bytes that are worked out alike, and stored side by
 * side, become one register of bytes, or two of 16 bits, where ranges of values say that all of
 * them fit:
 *
 *     load r0, [x+0];  ..;  load r3, [x+24]         load r0, [x+0] packed
 *     int_add r0, r0, r4;  ..                 ->    int_add r0, r0, r1 of 8 bits
 *     store [y+0], r0;  ..                          store [y+0], r0 packed
 *
 * Bytes become 16 bits by zeros between them, which leaves the order of each 128 bits, and are cut
 * back. A sum that a bound keeps within bytes never leaves them:
 * min(x + y, 255) = x + min(y, 255 - x). */
#include "codegen/tile/tile_build.h"

#include <string.h>

enum { TOGETHER = 4, BYTE = 8, WORD = 16, LANE = 32 };

typedef struct range {
    int64_t least, most;
} range;

typedef struct known { /* [operation] of the first vector */
    bool is_known, is_made;
    int at[TOGETHER]; /* those of all four */
    range range;
    int made[2]; /* registers of bytes: one; of 16 bits: two */
} known;

typedef struct narrower {
    at_builder *b;
    const at_tile_op *ops;
    int from, until; /* the body, up to the last store */
    int bits;        /* of a value: BYTE or WORD */
    known *known;
} narrower;

static const at_tile_vreg *vreg(const narrower *n, int v) { return &n->b->vregs.data[v]; }

static bool lies_in(range x, int64_t least, int64_t most) {
    return x.least >= least && x.most <= most;
}
static bool has_no_sign(const narrower *n, range x) {
    return lies_in(x, 0, ((int64_t)1 << n->bits) - 1);
}
static bool has_sign(const narrower *n, range x) {
    const int64_t half = (int64_t)1 << (n->bits - 1);
    return lies_in(x, -half, half - 1);
}
static bool is_mask(range x) { return lies_in(x, -1, 0); }

/* ---- ranges ---------------------------------------------------------------------------------- */

/* The operation that makes what a register holds before another one; -1: none of this body. */
static int made_at(const narrower *n, int v, int before) {
    for (int i = before - 1; i >= n->from; i--)
        if (at_tile_defines(&n->ops[i]) && n->ops[i].dst == v) return i;
    return -1;
}

static bool is_stored(const narrower *n, int tensor) {
    for (int i = n->from; i <= n->until; i++)
        if (at_tile_stores(&n->ops[i]) && n->b->slots[n->ops[i].slot].tensor == tensor) return true;
    return false;
}

static int64_t number_of(const at_tile_vreg *r) {
    const at_tile_op op = {.number = r->number};
    return (int32_t)at_tile_bits(&op);
}

static range loaded_range(const narrower *n, const at_tile_vreg *r) {
    if (r->load == AT_T_CONST) return (range){number_of(r), number_of(r)};
    const at_type_facts *of = at_type_of(n->b->l->tensors[n->b->slots[r->slot].tensor].type);
    return (range){(int64_t)of->least, (int64_t)of->most};
}

/* Numbers, a byte for all lanes, or vectors of bytes that lie side by side. */
static bool find_loaded(const narrower *n, const int v[TOGETHER], range *out) {
    const at_tile_vreg *first = vreg(n, v[0]);
    if (first->load != AT_T_CONST) {
        const int tensor = n->b->slots[first->slot].tensor;
        const at_type type = n->b->l->tensors[tensor].type;
        if (at_type_bytes(type) != 1 || is_stored(n, tensor)) return false;
    }
    *out = loaded_range(n, first);
    const bool is_vector = first->load == AT_T_LOAD;
    if (is_vector && (first->lanes != n->b->l->target->lanes || first->by || first->times ||
                      first->fours || first->packed || first->halves || first->grouped))
        return false;
    for (int k = 1; k < TOGETHER; k++) {
        at_tile_vreg like = *vreg(n, v[k]);
        if (is_vector) like.off -= (int64_t)k * first->lanes;
        if (!at_tile_same_load(first, &like)) return false;
    }
    return true;
}

static range hull(int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t low = a < b ? a : b, high = a < b ? b : a, low2 = c < d ? c : d,
                  high2 = c < d ? d : c;
    return (range){low < low2 ? low : low2, high > high2 ? high : high2};
}

/* Of bits: a mask chooses what is beside it; else numbers without sign are as long as the longer.
 */
static bool bits_range(const at_tile_op *op, range x, range y, range *out) {
    if (is_mask(y) && !is_mask(x)) return bits_range(op, y, x, out);
    const int64_t other = op->kind == AT_T_AND ? 0 : -1;
    *out = hull(other, other, y.least, y.most);
    if (is_mask(x)) return true;
    int64_t all = 1;
    while (all <= x.most || all <= y.most) all *= 2;
    *out = (range){0, all - 1};
    return x.least >= 0 && y.least >= 0;
}

/* What an operation makes of two ranges; false: it is none of those that may be narrow. */
static bool range_of(const at_tile_op *op, range x, range y, range *out) {
    switch (op->kind) {
    case AT_T_MOV: *out = x; return true;
    case AT_T_INT_ADD: *out = (range){x.least + y.least, x.most + y.most}; return true;
    case AT_T_INT_SUB: *out = (range){x.least - y.most, x.most - y.least}; return true;
    case AT_T_INT_MUL:
        *out = hull(x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most);
        return true;
    case AT_T_INT_MIN:
        *out = (range){x.least < y.least ? x.least : y.least, x.most < y.most ? x.most : y.most};
        return true;
    case AT_T_INT_MAX:
        *out = (range){x.least > y.least ? x.least : y.least, x.most > y.most ? x.most : y.most};
        return true;
    case AT_T_SHIFT_LEFT:
        *out = (range){x.least * ((int64_t)1 << op->by), x.most * ((int64_t)1 << op->by)};
        return true;
    case AT_T_SHIFT_RIGHT: *out = (range){x.least >> op->by, x.most >> op->by}; return true;
    case AT_T_AND:
    case AT_T_OR: return bits_range(op, x, y, out);
    default: return false;
    }
}

static range range_before(const narrower *n, int v, int before) {
    const at_tile_vreg *r = vreg(n, v);
    return r->load ? loaded_range(n, r) : n->known[made_at(n, v, before)].range;
}

/* What makes a register, where that is an operation of this kind; NULL: it is not. */
static const at_tile_op *maker_of(const narrower *n, int v, int before, at_tile_kind kind) {
    const int at = vreg(n, v)->load ? -1 : made_at(n, v, before);
    return at >= 0 && n->ops[at].kind == kind ? &n->ops[at] : NULL;
}

static int at_of(const narrower *n, const at_tile_op *op) { return (int)(op - n->ops); }

/* Are two factors a number's share and what is left of a constant, c - share? */
static bool are_shares(const narrower *n, int share, const at_tile_op *of, int rest,
                       const at_tile_op *of_rest, int64_t *all) {
    const at_tile_op *left = maker_of(n, rest, at_of(n, of_rest), AT_T_INT_SUB);
    if (!left || left->b != share || vreg(n, left->a)->load != AT_T_CONST) return false;
    if (!vreg(n, share)->load &&
        made_at(n, share, at_of(n, of)) != made_at(n, share, at_of(n, left)))
        return false;
    *all = number_of(vreg(n, left->a));
    return lies_in(range_before(n, share, at_of(n, of)), 0, *all);
}

/* A sum x*share + y*(c - share) lies between c*x and c*y. */
static bool mixed_range(const narrower *n, const at_tile_op *sum, range *out) {
    for (int way = 0; way < 8 && sum->kind == AT_T_INT_ADD; way++) {
        const at_tile_op *p = maker_of(n, way & 1 ? sum->b : sum->a, at_of(n, sum), AT_T_INT_MUL),
                         *q = maker_of(n, way & 1 ? sum->a : sum->b, at_of(n, sum), AT_T_INT_MUL);
        int64_t all;
        if (!p || !q) return false;
        if (!are_shares(n, way & 2 ? p->b : p->a, p, way & 4 ? q->b : q->a, q, &all)) continue;
        const range x = range_before(n, way & 2 ? p->a : p->b, at_of(n, p)),
                    y = range_before(n, way & 4 ? q->a : q->b, at_of(n, q));
        *out = hull(all * x.least, all * x.most, all * y.least, all * y.most);
        return true;
    }
    return false;
}

static bool find(narrower *n, const int v[TOGETHER], const int before[TOGETHER], range *out);

/* An operand of the four operations: a, b, or what the register held that they change. */
static bool find_operand(narrower *n, const int at[TOGETHER], int which, range *out) {
    int v[TOGETHER];
    *out = (range){0, 0};
    for (int k = 0; k < TOGETHER; k++) {
        const at_tile_op *op = &n->ops[at[k]];
        v[k] = which == 0 ? op->a : which == 1 ? op->b : op->dst;
        if (v[k] < 0) return which == 1;
    }
    return find(n, v, at, out);
}

static bool find_made(narrower *n, const int at[TOGETHER], range *out) {
    const at_tile_op *op = &n->ops[at[0]];
    range x, y, d;
    for (int k = 0; k < TOGETHER; k++) {
        const at_tile_op *like = &n->ops[at[k]];
        if (like->kind != op->kind || like->by != op->by || like->mem || like->packed ||
            vreg(n, like->dst)->acc)
            return false;
    }
    if (!find_operand(n, at, 0, &x) || !find_operand(n, at, 1, &y)) return false;
    if (mixed_range(n, op, out)) return true;
    if (op->kind != AT_T_BLEND)
        return range_of(op, x, y, out) && lies_in(*out, INT32_MIN, INT32_MAX);
    if (!is_mask(x) || !find_operand(n, at, 2, &d)) return false;
    *out = hull(y.least, y.most, d.least, d.most);
    return true;
}

/* The range of four registers that hold the same of vectors side by side; false: they do not. */
static bool find(narrower *n, const int v[TOGETHER], const int before[TOGETHER], range *out) {
    int at[TOGETHER];
    for (int k = 0; k < TOGETHER; k++)
        if (!vreg(n, v[k])->load != !vreg(n, v[0])->load) return false;
    if (vreg(n, v[0])->load) return find_loaded(n, v, out);
    for (int k = 0; k < TOGETHER; k++)
        if ((at[k] = made_at(n, v[k], before[k])) < 0) return false;
    known *x = &n->known[at[0]];
    if (x->is_known) {
        *out = x->range;
        return !memcmp(x->at, at, sizeof at);
    }
    if (!find_made(n, at, out)) return false;
    memcpy(x->at, at, sizeof at);
    x->is_known = true;
    x->range = *out;
    return true;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int lane_constant(const narrower *n, uint32_t bits) {
    return at_build_const(n->b, at_number_of_bits(bits));
}

/* The number in all lanes of 8 or 16 bits. */
static int constant(const narrower *n, int64_t number) {
    const uint32_t bits = n->bits == BYTE ? (uint32_t)(uint8_t)number * 0x01010101u
                                          : (uint32_t)(uint16_t)number * 0x00010001u;
    return lane_constant(n, bits);
}

static at_tile_op *last(const narrower *n) { return &n->b->ops.data[n->b->ops.len - 1]; }

static int operation(const narrower *n, at_tile_kind kind, int x, int y, bool no_sign) {
    const int d = at_build_operation(n->b, kind, -1, x, y);
    last(n)->bits = (uint8_t)n->bits;
    last(n)->no_sign = no_sign;
    return d;
}

static int shifted(const narrower *n, at_tile_kind kind, int x, int by, bool no_sign) {
    const int d = operation(n, kind, x, -1, no_sign);
    last(n)->by = by;
    return d;
}

static int zipped(const narrower *n, at_tile_kind kind, int x, int y) {
    const int d = at_build_operation(n->b, kind, -1, x, y);
    last(n)->lanes = (uint8_t)n->b->l->target->lanes;
    return d;
}

/* Bytes as they lie; of 16 bits the two halves of each 128 bits. */
static void load(const narrower *n, int v, int out[2]) {
    const bool is_signed = loaded_range(n, vreg(n, v)).least < 0;
    at_tile_vreg from = *vreg(n, v);
    from.packed = true;
    from.narrow = false;
    const int x = at_build_load(n->b, from);
    out[0] = x;
    if (n->bits == BYTE) return;
    const int beside = is_signed ? x : constant(n, 0);
    for (int half = 0; half < 2; half++) {
        out[half] = zipped(n, half ? AT_T_ZIP_HIGH8 : AT_T_ZIP_LOW8, x, beside);
        if (is_signed) out[half] = shifted(n, AT_T_SHIFT_RIGHT, out[half], BYTE, false);
    }
}

/* The lowest bits of one element for all lanes, as often as 32 bits hold them. */
static int repeated(const narrower *n, int v) {
    const int low = lane_constant(n, n->bits == BYTE ? UINT8_MAX : UINT16_MAX),
              times = lane_constant(n, n->bits == BYTE ? 0x01010101u : 0x00010001u);
    return at_build_operation(n->b, AT_T_INT_MUL, -1,
                              at_build_operation(n->b, AT_T_AND, -1, v, low), times);
}

static bool make(narrower *n, int v, int before, int out[2]);

static int parts(const narrower *n) { return n->bits == BYTE ? 1 : 2; }

/* Is what two registers hold without sign, or with one, in both? */
static bool are_alike(const narrower *n, range x, range y, bool *no_sign) {
    *no_sign = has_no_sign(n, x) && has_no_sign(n, y);
    return *no_sign || (has_sign(n, x) && has_sign(n, y));
}

/* x < y of bytes; those without sign are moved below 0. */
static bool compare(narrower *n, int a, int b, int before, bool negated, int out[2]) {
    int x[2], y[2];
    bool no_sign;
    if (!are_alike(n, range_before(n, a, before), range_before(n, b, before), &no_sign) ||
        !make(n, a, before, x) || !make(n, b, before, y))
        return false;
    if (no_sign) {
        const int half = constant(n, 1 << (n->bits - 1));
        x[0] = operation(n, AT_T_INT_SUB, x[0], half, true);
        y[0] = operation(n, AT_T_INT_SUB, y[0], half, true);
    }
    out[0] = operation(n, AT_T_LESS, x[0], y[0], false);
    if (negated) out[0] = operation(n, AT_T_INT_SUB, constant(n, -1), out[0], true);
    return true;
}

/* Bytes: the sign of x - y, or of x - y - 1, which says x < y or x <= y. */
static bool make_mask(narrower *n, const at_tile_op *op, int out[2]) {
    const at_tile_op *apart = maker_of(n, op->a, at_of(n, op), AT_T_INT_SUB);
    if (!apart || op->by != LANE - 1) return false;
    if (compare(n, apart->a, apart->b, at_of(n, apart), false, out)) return true;
    const at_tile_op *more = maker_of(n, apart->a, at_of(n, apart), AT_T_INT_SUB);
    const range one = range_before(n, apart->b, at_of(n, apart));
    return more && one.least == 1 && one.most == 1 &&
           compare(n, more->b, more->a, at_of(n, more), true, out);
}

/* Bytes: a sum that is 255 at most, a difference that is 0 at least, and a further bound. */
static bool make_bounded(narrower *n, const at_tile_op *op, int out[2]) {
    const bool adds = op->kind == AT_T_INT_MIN;
    const int before = at_of(n, op);
    int x[2], y[2], bound[2];
    for (int second = 0; second < 2; second++) {
        const int of = second ? op->b : op->a, other = second ? op->a : op->b;
        const at_tile_op *sum = maker_of(n, of, before, adds ? AT_T_INT_ADD : AT_T_INT_SUB);
        const range limit = range_before(n, other, before);
        if (!sum || !has_no_sign(n, limit) ||
            !has_no_sign(n, range_before(n, sum->a, at_of(n, sum))) ||
            !has_no_sign(n, range_before(n, sum->b, at_of(n, sum))))
            continue;
        if (!make(n, sum->a, at_of(n, sum), x) || !make(n, sum->b, at_of(n, sum), y)) return false;
        const int room =
                      adds ? operation(n, AT_T_INT_SUB, constant(n, UINT8_MAX), x[0], true) : x[0],
                  most = operation(n, AT_T_INT_MIN, y[0], room, true);
        out[0] = operation(n, adds ? AT_T_INT_ADD : AT_T_INT_SUB, x[0], most, true);
        if (adds ? limit.least == UINT8_MAX : limit.most == 0) return true;
        if (!make(n, other, before, bound)) return false;
        out[0] = operation(n, (at_tile_kind)op->kind, out[0], bound[0], true);
        return true;
    }
    return false;
}

static bool make_shift(narrower *n, const at_tile_op *op, int out[2]) {
    const range x = range_before(n, op->a, at_of(n, op));
    const bool left = op->kind == AT_T_SHIFT_LEFT, no_sign = left || has_no_sign(n, x);
    int of[2], by = op->by;
    if (n->bits == BYTE) return !left && make_mask(n, op, out);
    if (by >= WORD && no_sign) return false;
    if (by >= WORD) by = WORD - 1;
    if (!make(n, op->a, at_of(n, op), of)) return false;
    for (int p = 0; p < parts(n); p++)
        out[p] = shifted(n, (at_tile_kind)op->kind, of[p], by, no_sign);
    return true;
}

static bool make_blend(narrower *n, const at_tile_op *op, int out[2]) {
    int mask[2], x[2], y[2];
    if (!make(n, op->a, at_of(n, op), mask) || !make(n, op->b, at_of(n, op), x) ||
        !make(n, op->dst, at_of(n, op), y))
        return false;
    for (int p = 0; p < parts(n); p++) {
        out[p] = at_build_operation(n->b, AT_T_MOV, -1, y[p], -1);
        at_build_operation(n->b, AT_T_BLEND, out[p], mask[p], x[p]);
        last(n)->bits = (uint8_t)n->bits;
    }
    return true;
}

/* The operand that the less, or the larger, of two always is; -1: either may be. */
static int only_one(const narrower *n, const at_tile_op *op) {
    const range x = range_before(n, op->a, at_of(n, op)), y = range_before(n, op->b, at_of(n, op));
    const bool is_least = op->kind == AT_T_INT_MIN;
    if (is_least ? x.most <= y.least : x.least >= y.most) return op->a;
    return (is_least ? y.most <= x.least : y.least >= x.most) ? op->b : -1;
}

static bool make_joined(narrower *n, const at_tile_op *op, int out[2]) {
    const int before = at_of(n, op);
    const bool is_extreme = op->kind == AT_T_INT_MIN || op->kind == AT_T_INT_MAX,
               is_of_bits = op->kind == AT_T_AND || op->kind == AT_T_OR;
    bool no_sign = true;
    int x[2], y[2];
    const int one = is_extreme ? only_one(n, op) : -1;
    if (one >= 0) return make(n, one, before, out);
    if (op->kind == AT_T_INT_MUL && n->bits == BYTE) return false;
    if (is_extreme &&
        !are_alike(n, range_before(n, op->a, before), range_before(n, op->b, before), &no_sign))
        return n->bits == BYTE && make_bounded(n, op, out);
    if (!make(n, op->a, before, x) || !make(n, op->b, before, y)) return false;
    for (int p = 0; p < parts(n); p++)
        out[p] = is_of_bits ? at_build_operation(n->b, (at_tile_kind)op->kind, -1, x[p], y[p])
                            : operation(n, (at_tile_kind)op->kind, x[p], y[p], no_sign);
    return true;
}

/* The registers of what one held before an operation; false: it does not fit. */
static bool make(narrower *n, int v, int before, int out[2]) {
    const range x = range_before(n, v, before);
    const int loads = vreg(n, v)->load;
    if (n->b->failed || (!has_sign(n, x) && !has_no_sign(n, x))) return false;
    if (loads == AT_T_LOAD) load(n, v, out);
    else if (loads) out[0] = out[1] = loads == AT_T_CONST ? constant(n, x.least) : repeated(n, v);
    if (loads) return true;
    const int at = made_at(n, v, before);
    const at_tile_op *op = &n->ops[at];
    known *k = &n->known[at];
    if (!k->is_made) {
        const bool shifts = op->kind == AT_T_SHIFT_LEFT || op->kind == AT_T_SHIFT_RIGHT;
        k->is_made = op->kind == AT_T_MOV     ? make(n, op->a, at, k->made)
                     : op->kind == AT_T_BLEND ? make_blend(n, op, k->made)
                     : shifts                 ? make_shift(n, op, k->made)
                                              : make_joined(n, op, k->made);
    }
    memcpy(out, k->made, sizeof k->made);
    return k->is_made;
}

int at_build_narrow(at_builder *b, const at_tile_op *ops, const int stores[4], at_type type) {
    narrower n = {.b = b, .ops = ops, .from = stores[0], .until = stores[TOGETHER - 1]};
    const at_type_facts *of = at_type_of(type);
    int v[TOGETHER], made[2];
    range all;
    if (!b->l->target->narrows) return -1;
    while (n.from > 0 && !at_tile_ends_body(&ops[n.from - 1])) n.from--;
    n.known = AT_NEW_ARRAY(b->l->arena, known, n.until + 1);
    for (int k = 0; k < TOGETHER; k++) v[k] = ops[stores[k]].a;
    if (!find(&n, v, stores, &all) || vreg(&n, v[0])->load ||
        !lies_in(all, (int64_t)of->least, (int64_t)of->most))
        return -1;
    const int had = b->ops.len;
    for (n.bits = BYTE; n.bits <= WORD; n.bits += BYTE) {
        for (int i = n.from; i <= n.until; i++) n.known[i].is_made = false;
        if (make(&n, v[0], stores[0], made)) {
            if (n.bits == BYTE) return made[0];
            const int cut = at_build_operation(b, AT_T_CUT, -1, made[0], made[1]);
            last(&n)->by = (int32_t)(of->least < 0 ? AT_S8 : AT_U8);
            return cut;
        }
        b->ops.len = had;
    }
    return -1;
}
