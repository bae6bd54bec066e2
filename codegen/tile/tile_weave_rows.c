/* codegen/tile/tile_weave_rows.c: products of bytes that are added to lanes one by one are added
 * four at a time where the lanes of a term lie as far behind those of the term before as those
 * behind the term before that, in either operand, as along a row of a depthwise convolution:
 *
 *     dot r0, [x+0], [w+0];  dot r0, [x+16], [w+16];  dot r0, [x+32], [w+32]    ->
 *         weave r1, [x+0] packed;  weave r2, [w+0] packed;  dot r0, r1, r2 packed
 *
 * What is loaded at once are four rows of as many bytes as there are lanes, which lie behind each
 * other where channels come in blocks; a lane of what is woven has one of each. The sum whose terms
 * begin a row later takes the same rows of x, and those of w moved by a byte. */
#include "codegen/tile/tile_build.h"

#include <string.h>

/* Weaving takes as long as so many products, both of its instructions being of one unit: where sums
 * share no rows it does not pay (Sapphire Rapids, stride 2: 31 us instead of 28). */
enum { ROWS = AT_DOT_TERMS, LEAST_ROWS = 2, BITS = 8, WEAVING = 4 };

typedef struct row_place {
    int slot;
    int64_t off;
} row_place;

typedef struct term { /* of a sum; acc: -1: it is none, or taken */
    int acc, x, w;    /* virtual registers: what is added to, the factors without a sign and with */
} term;

typedef struct rows { /* that are woven together */
    row_place at;
    int64_t apart;
    int count, moved; /* by so many bytes */
    int vreg;         /* -1: not yet */
} rows;

typedef struct quad {     /* terms of one sum that are added at once */
    int first, acc, x, w; /* the operation in whose place they are; which rows */
} quad;

typedef struct weaver {
    at_builder *b;
    const at_tile_op *old;
    int from, to; /* the straight-line body */
    term *term;   /* [operations] */
    int64_t x_step,
        w_step; /* from a term of a sum to the next, in either factor; 0: there is none */
    AT_VEC(rows) rows;
    AT_VEC(quad) quads;
    AT_VEC(int) loads; /* of x, by terms that are taken, */
    int terms;         /* as many */
} weaver;

static const at_tile_vreg *vreg(const weaver *v, int i) { return &v->b->vregs.data[i]; }
static int lanes_of(const weaver *v) { return v->b->l->target->lanes; }

static at_type type_of(const weaver *v, int reg) {
    return v->b->l->tensors[v->b->slots[vreg(v, reg)->slot].tensor].type;
}

/* Bytes of memory, one to a lane. */
static bool is_row(const weaver *v, int reg) {
    const at_tile_vreg *r = vreg(v, reg);
    return r->load == AT_T_LOAD && r->lanes == lanes_of(v) && !r->by && !r->times && !r->packed &&
           at_type_bytes(type_of(v, reg)) == 1;
}

static term term_of(const weaver *v, const at_tile_op *op) {
    const term none = {.acc = -1};
    if (op->kind != AT_T_DOT || op->by != AT_DOT_S16 || op->packed || op->mem || op->element ||
        !is_row(v, op->a) || !is_row(v, op->b))
        return none;
    const bool turned = type_of(v, op->b) == AT_U8;
    const term t = {op->dst, turned ? op->b : op->a, turned ? op->a : op->b};
    return type_of(v, t.x) == AT_U8 && type_of(v, t.w) == AT_S8 ? t : none;
}

/* Do two terms of one sum read the same tensors by the same pointers? */
static bool are_alike(const weaver *v, const term *t, const term *of) {
    return t->acc >= 0 && t->acc == of->acc && vreg(v, t->x)->slot == vreg(v, of->x)->slot &&
           vreg(v, t->w)->slot == vreg(v, of->w)->slot;
}

/* The term of the sum so many rows behind another one; -1: there is none. */
static int term_behind(const weaver *v, const term *of, int behind) {
    for (int i = v->from; i < v->to; i++) {
        const term *t = &v->term[i];
        if (are_alike(v, t, of) && vreg(v, t->x)->off == vreg(v, of->x)->off + behind * v->x_step &&
            vreg(v, t->w)->off == vreg(v, of->w)->off + behind * v->w_step)
            return i;
    }
    return -1;
}

/* The shortest step between two terms of a sum. */
static void find_steps(weaver *v) {
    v->x_step = v->w_step = 0;
    for (int i = v->from; i < v->to; i++)
        for (int k = v->from; k < v->to && v->term[i].acc >= 0; k++) {
            if (!are_alike(v, &v->term[k], &v->term[i])) continue;
            const int64_t x = vreg(v, v->term[k].x)->off - vreg(v, v->term[i].x)->off,
                          w = vreg(v, v->term[k].w)->off - vreg(v, v->term[i].w)->off;
            if (x <= 0 || w <= 0 || (v->x_step && x >= v->x_step)) continue;
            v->x_step = x;
            v->w_step = w;
        }
}

/* Does anything but terms of the sum name its register between two operations? */
static bool is_touched(const weaver *v, int acc, int first, int last) {
    for (int i = first; i <= last; i++) {
        const at_tile_op *op = &v->old[i];
        const bool adds = op->kind == AT_T_DOT && op->dst == acc && op->a != acc && op->b != acc;
        if (!adds && (op->dst == acc || op->a == acc || op->b == acc)) return true;
    }
    return false;
}

static int find_rows(weaver *v, row_place at, int64_t apart, int count, int moved) {
    for (int i = 0; i < v->rows.len; i++) {
        const rows *r = &v->rows.data[i];
        if (r->at.slot == at.slot && r->at.off == at.off && r->apart == apart &&
            r->moved == moved && (count < 0 || r->count == count))
            return i;
    }
    return -1;
}

static int add_rows(weaver *v, row_place at, int64_t apart, int count, int moved) {
    *at_push(v->b->l->arena, &v->rows) = (rows){at, apart, count, moved, -1};
    return v->rows.len - 1;
}

/* Rows of x that begin there, or so many rows before: *moved. More of them are loaded then. */
static int rows_of_x(weaver *v, row_place at, int count, int *moved) {
    for (*moved = 0; *moved + count <= ROWS; ++*moved) {
        const row_place begin = {at.slot, at.off - *moved * v->x_step};
        const int found = find_rows(v, begin, v->x_step, -1, 0);
        if (found < 0) continue;
        rows *r = &v->rows.data[found];
        if (r->count < *moved + count) r->count = *moved + count;
        return found;
    }
    *moved = 0;
    return add_rows(v, at, v->x_step, count, 0);
}

/* Those that are moved are made of the others. */
static int rows_of_w(weaver *v, row_place at, int count, int moved) {
    const int found = find_rows(v, at, v->w_step, count, moved);
    if (found >= 0) return found;
    if (moved) rows_of_w(v, at, count, 0);
    return add_rows(v, at, v->w_step, count, moved);
}

static row_place place_of(const weaver *v, int reg) {
    return (row_place){vreg(v, reg)->slot, vreg(v, reg)->off};
}

/* Takes the terms beside the one at i. */
static void take(weaver *v, int i) {
    int of[ROWS], n = 0, first = i, last = i, moved;
    term begin = v->term[i];
    for (int before; (before = term_behind(v, &begin, -1)) >= 0;) begin = v->term[before];
    for (int at; n < ROWS && (at = term_behind(v, &begin, n)) >= 0; n++) {
        of[n] = at;
        if (at < first) first = at;
        if (at > last) last = at;
    }
    if (n < LEAST_ROWS || is_touched(v, begin.acc, first, last)) return;
    const int x = rows_of_x(v, place_of(v, begin.x), n, &moved);
    const int w = rows_of_w(v, place_of(v, begin.w), n, moved);
    *at_push(v->b->l->arena, &v->quads) = (quad){first, begin.acc, x, w};
    for (int k = 0; k < n; k++) {
        term *t = &v->term[of[k]];
        int had = 0;
        while (had < v->loads.len && v->loads.data[had] != t->x) had++;
        if (had == v->loads.len) *at_push(v->b->l->arena, &v->loads) = t->x;
        t->acc = -1;
    }
    v->terms += n;
}

/* Do rows lie behind each other? Else each further one is put into the register. */
static bool is_run(const weaver *v, const rows *r) { return r->apart == lanes_of(v); }

/* Instructions of the units that add products; a load that is widened is one, too. */
static bool pays(const weaver *v) {
    int after = v->quads.len;
    for (int i = 0; i < v->rows.len; i++) {
        const rows *r = &v->rows.data[i];
        after += r->moved ? 1 : WEAVING + (is_run(v, r) ? 0 : r->count - 1);
    }
    return after < v->terms + v->loads.len;
}

static int operation(at_builder *b, at_tile_kind kind, int a, int by) {
    const int d = at_build_operation(b, kind, -1, a, -1);
    at_tile_op *op = &b->ops.data[b->ops.len - 1];
    op->lanes = (uint8_t)b->l->target->lanes;
    op->by = by;
    return d;
}

static int woven(weaver *v, int i) {
    at_builder *b = v->b;
    rows *r = &v->rows.data[i];
    if (r->vreg >= 0) return r->vreg;
    if (r->moved) {
        const int as_they_lie = woven(v, find_rows(v, r->at, r->apart, r->count, 0));
        return r->vreg = operation(b, AT_T_SHIFT_LEFT, as_they_lie, BITS * r->moved);
    }
    const int load =
        at_build_vreg(b, (at_tile_vreg){.load = AT_T_LOAD,
                                        .lanes = (uint8_t)(r->count * lanes_of(v) / ROWS),
                                        .packed = true,
                                        .fours = is_run(v, r) ? 0 : r->apart,
                                        .slot = (int16_t)r->at.slot,
                                        .off = r->at.off});
    return r->vreg = operation(b, AT_T_WEAVE, load, 0);
}

static void add_quad(weaver *v, const quad *q) {
    at_builder *b = v->b;
    const int x = woven(v, q->x), w = woven(v, q->w);
    at_build_operation(b, AT_T_DOT, q->acc, x, w);
    at_tile_op *op = &b->ops.data[b->ops.len - 1];
    op->packed = true;
    op->by = AT_DOT_US;
}

/* Takes terms of the body; false: none. */
static bool take_body(weaver *v) {
    v->rows.len = v->quads.len = v->loads.len = v->terms = 0;
    for (int i = v->from; i < v->to; i++) v->term[i] = term_of(v, &v->old[i]);
    find_steps(v);
    if (!v->x_step) return false;
    for (int i = v->from; i < v->to; i++)
        if (v->term[i].acc >= 0) take(v, i);
    return v->quads.len && pays(v);
}

static void add_body(weaver *v, bool is_woven) {
    for (int i = v->from; i < v->to; i++) {
        for (int k = 0; k < v->quads.len && is_woven; k++)
            if (v->quads.data[k].first == i) add_quad(v, &v->quads.data[k]);
        const bool taken = is_woven && v->term[i].acc < 0 && term_of(v, &v->old[i]).acc >= 0;
        if (!taken) *at_push(v->b->l->arena, &v->b->ops) = v->old[i];
    }
}

/* No load goes past a store. */
static bool ends_body(const at_tile_op *op) { return at_tile_ends_body(op) || at_tile_stores(op); }

void at_build_weave_rows(at_builder *b) {
    const int n = b->ops.len;
    if (!b->l->target->weaves || b->failed) return;
    weaver v = {.b = b, .old = b->ops.data, .term = AT_NEW_ARRAY(b->l->arena, term, n + 1)};
    b->ops.data = NULL;
    b->ops.len = b->ops.cap = 0;
    for (; v.from < n; v.from = v.to) {
        for (v.to = v.from; v.to < n && !ends_body(&v.old[v.to]);) v.to++;
        add_body(&v, take_body(&v));
        if (v.to < n) *at_push(b->l->arena, &b->ops) = v.old[v.to++];
    }
}
