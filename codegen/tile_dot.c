/* codegen/tile_dot.c: four products of bytes that are added to a lane at once: the terms of a sum
 * along a loop that is marked so. Both operands lie side by side along it.
 *
 * Where an instruction takes two operands with a sign, but none of either kind, the one without is
 * moved by 128, and what that leaves out is taken from the sum:
 *
 *     u*s = (u - 128)*s - (-128)*s     the second product is that of all rows of a tile
 *
 * Where one adds pairs of products in 16 bits, which two of 255*127 leave, the highest bit of the
 * operand without sign has a dot product of its own. */
#include "codegen/tile_build.h"

enum { HALF = 128 };

static const char *not_operand(const at_builder *b, const at_value *v, int loop, int sym) {
    const at_low *l = b->l;
    const char *name = l->tensors[v->tensor].name;
    if (b->regs->local[v->tensor] || v->may_miss)
        return at_format(l->arena, "%s is not read from memory", name);
    if (at_aff_coef(v->at, loop) != 1 || (at_aff_opaque_deps(l, v->at) & AT_BIT(loop)))
        return at_format(l->arena, "terms of %s do not lie side by side", name);
    if (sym < 0) return NULL;
    const int64_t k = at_aff_coef(v->at, sym);
    if ((k && k != AT_DOT_TERMS) || (at_aff_opaque_deps(l, v->at) & AT_BIT(sym)))
        return at_format(l->arena, "lanes read %s %lld elements apart, and not 4", name,
                         (long long)k);
    return NULL;
}

/* Bytes that an operand has in four to a lane: as they lie, or the bits of each that are left of a
 * shift and a mask, which the four are worked out with at once. */
typedef struct fours {
    const at_value *load;
    int shift, mask;
    bool is_u8, is_s8; /* which of the operands it may be */
} fours;

static bool find_fours(const at_low *l, const at_value *v, fours *out) {
    *out = (fours){.load = v, .mask = 255};
    if (v->op == AT_V_BIT_AND && v->b->op == AT_V_CONST) {
        out->mask = (int)v->b->number;
        v = v->a;
    }
    if (v->op == AT_V_SHIFT_RIGHT && v->a->op == AT_V_LOAD) {
        out->shift = (int)v->b->number;
        v = v->a;
    }
    if (v->op != AT_V_LOAD) return false;
    const at_type type = l->tensors[v->tensor].type;
    out->load = v;
    out->is_u8 = type == AT_U8;
    out->is_s8 = type == AT_S8;
    if (out->mask == 255 && !out->shift) return at_type_bytes(type) == 1;
    if (type != AT_U8 || out->mask < 0 || out->mask > 255 || out->shift > 7) return false;
    out->mask &= 255 >> out->shift;
    out->is_s8 = out->mask < 128;
    return true;
}

/* How the product of the first factor and the second is done. */
typedef struct way {
    int signs;   /* at_dot; 0: it is none that the target has */
    bool turned, /* the second factor comes first */
        moved;   /* the first one has no sign, and is moved */
} way;

static bool has_sign(const fours *f, bool wanted) { return wanted ? f->is_s8 : f->is_u8; }

static way way_of(const at_target *t, const fours of[2]) {
    static const struct {
        int signs;
        bool first, second; /* have a sign */
        int needs;
    } rows[] = {{AT_DOT_US, false, true, AT_DOT_US},
                {AT_DOT_SS, true, true, AT_DOT_SS},
                {AT_DOT_UU, false, false, AT_DOT_UU},
                {AT_DOT_SS, false, true, AT_DOT_SS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int turned = 0; turned < 2; turned++)
            if ((t->dots & rows[i].needs) && has_sign(&of[turned], rows[i].first) &&
                has_sign(&of[!turned], rows[i].second))
                return (way){.signs = rows[i].signs,
                             .turned = turned,
                             .moved = rows[i].signs == AT_DOT_SS && !rows[i].first};
    return (way){0};
}

static bool find_factors(const at_low *l, const at_value *v, fours of[2]) {
    return v->op == AT_V_MUL && v->whole && find_fours(l, v->a, &of[0]) &&
           find_fours(l, v->b, &of[1]);
}

static const char *kinds_of(const at_target *t) {
    return t->dots & AT_DOT_SS ? "bytes" : "u8 and s8";
}

/* A product, or several that are added up. */
static const char *not_products(const at_builder *b, const at_value *v, int loop, int sym) {
    fours of[2];
    if (v->op == AT_V_ADD) {
        const char *why = not_products(b, v->a, loop, sym);
        return why ? why : not_products(b, v->b, loop, sym);
    }
    if (!find_factors(b->l, v, of) || !way_of(b->l->target, of).signs)
        return at_format(b->l->arena, "its terms are no products of %s", kinds_of(b->l->target));
    const char *why = not_operand(b, of[0].load, loop, sym);
    return why ? why : not_operand(b, of[1].load, loop, sym);
}

const char *at_build_not_dot(const at_builder *b, const at_ir *loop, int sym) {
    const at_low *l = b->l;
    const at_ir *n = loop->child;
    if (!l->target->dots) return "the instructions have no dot products";
    if (!at_loop_is_fixed(loop) || at_loop_trips(loop) != AT_DOT_TERMS)
        return "it does not run 4 times";
    if (!n || n->next || n->kind != AT_IR_STMT || !n->stmt.add ||
        n->stmt.reduction != AT_REDUCE_SUM || l->tensors[n->stmt.tensor].type != AT_S32)
        return "no sum of s32 stands in it alone";
    if (at_aff_coef(n->stmt.at, loop->loop.sym)) return "it is no loop of terms";
    return not_products(b, n->stmt.val, loop->loop.sym, sym);
}

/* A constant of the same byte four times. */
static int bytes_of(at_builder *b, int byte) {
    return at_build_const(b, at_number_of_bits((uint32_t)byte * 0x01010101u));
}

/* Bits of each of a register's bytes. */
static int masked(at_builder *b, int x, int mask) {
    const int y = bytes_of(b, mask), had = at_build_had(b, AT_T_AND, x, y);
    if (had >= 0) return had;
    const int cut = at_build_operation(b, AT_T_AND, -1, x, y);
    b->vregs.data[cut].same = b->vregs.data[x].same;
    return cut;
}

static int operand(at_builder *b, const fours *of) {
    at_tile_place p = at_build_locate_load(b, of->load);
    const int lanes = at_build_lanes(b);
    const bool all = p.lane == 0 && (lanes > 1 || b->all_lanes);
    const at_tile_vreg load = {.load = all ? AT_T_BCAST : AT_T_LOAD,
                               .lanes = (uint8_t)(all ? 1 : lanes),
                               .same = all,
                               .fours = true,
                               .slot = (int16_t)at_build_slot_of(b, &p),
                               .off = p.off};
    const int loads = b->vregs.len;
    int x = at_build_load(b, load);
    if (b->vregs.len > loads && !all) at_build_prefetch(b, of->load->tensor, load.slot, p.off);
    if (of->shift) {
        x = at_build_operation(b, AT_T_SHIFT_RIGHT, -1, x, -1);
        b->ops.data[b->ops.len - 1].by = of->shift;
        b->vregs.data[x].same = all;
    }
    return of->mask == 255 ? x : masked(b, x, of->mask);
}

/* What was made of a register in this body; -1: nothing, or registers are few. */
static int made_of(at_builder *b, int of, bool is_operand) {
    for (int i = 0; i < b->moved.len && !b->regs->sparing; i++) {
        const at_build_moved *m = &b->moved.data[i];
        if (m->of != of || m->is_operand != is_operand) continue;
        b->spends = true;
        return m->made;
    }
    return -1;
}

static int made(at_builder *b, int of, bool is_operand, int v) {
    *at_push(b->l->arena, &b->moved) =
        (at_build_moved){.of = of, .made = v, .is_operand = is_operand};
    return v;
}

/* The bytes that an operand without sign is as one with it: each less by 128, which is its highest
 * bit turned. */
static int moved_down(at_builder *b, int x) {
    const int had = made_of(b, x, true);
    if (had >= 0) return had;
    const int high = bytes_of(b, HALF), set = at_build_operation(b, AT_T_OR, -1, x, high),
              was = at_build_operation(b, AT_T_AND, -1, x, high),
              moved = at_build_operation(b, AT_T_INT_SUB, -1, set, was);
    const bool same = b->vregs.data[x].same;
    b->vregs.data[set].same = b->vregs.data[was].same = b->vregs.data[moved].same = same;
    return made(b, x, true, moved);
}

static void add_dot(at_builder *b, int to, int signs, int x, int y) {
    at_build_operation(b, AT_T_DOT, to, x, y);
    at_tile_op *op = &b->ops.data[b->ops.len - 1];
    op->fours = true;
    op->by = signs;
}

/* -128 times the sum of an operand's four bytes. */
static int taken(at_builder *b, int y) {
    const int had = made_of(b, y, false);
    if (had >= 0) return had;
    const int none = at_build_const(b, 0), sum = at_build_operation(b, AT_T_MOV, -1, none, -1);
    add_dot(b, sum, AT_DOT_SS, y, bytes_of(b, HALF));
    return made(b, y, false, sum);
}

void at_build_dot(at_builder *b, int acc, const at_value *v) {
    fours of[2];
    if (v->op == AT_V_ADD) {
        at_build_dot(b, acc, v->a);
        at_build_dot(b, acc, v->b);
        return;
    }
    if (!find_factors(b->l, v, of)) AT_BUG("no product of bytes");
    const way w = way_of(b->l->target, of);
    int x = operand(b, &of[w.turned]), y = operand(b, &of[!w.turned]);
    if (w.moved) x = moved_down(b, x);
    if (b->l->target->dot_regs && of[w.turned].mask >= HALF) {
        add_dot(b, acc, w.signs, masked(b, x, HALF), y);
        x = masked(b, x, HALF - 1);
    }
    add_dot(b, acc, w.signs, x, y);
    if (w.moved) at_build_operation(b, AT_T_INT_SUB, acc, acc, taken(b, y));
}

void at_build_note_undotted(at_builder *b, const at_ir *sum) {
    const at_low *l = b->l;
    const at_value *v = sum->stmt.val;
    if (!l->target->dots || !v->whole || v->op != AT_V_MUL || v->a->op != AT_V_LOAD ||
        v->b->op != AT_V_LOAD)
        return;
    fours of[2];
    if (!find_factors(l, v, of)) return;
    *at_push(l->arena, &b->notes) =
        at_format(l->arena, "@%s adds products of bytes one by one: %s", sum->stmt.label,
                  way_of(l->target, of).signs
                      ? "no loop of four terms is marked dot"
                      : at_format(l->arena, "dot products are of %s", kinds_of(l->target)));
}
