/* codegen/tile/tile_dot.c: four products of bytes, or two of elements of 16 bits, that are added to
 * a lane at once: the terms of a sum along a loop that is marked so. Both operands lie side by side
 * along it.
 *
 * Where an instruction takes two operands with a sign, but none of either kind, the one without is
 * moved by 128, and what that leaves out is taken from the sum:
 *
 *     u*s = (u - 128)*s - (-128)*s     the second product is that of all rows of a tile
 *
 * Where one adds pairs of products in 16 bits, which two of 255*127 leave, the highest bit of the
 * operand without sign has a dot product of its own.
 *
 * Where the set has none of such bytes, but of pairs of s16, every other byte becomes an s16: two
 * dot products of pairs add the four products.
 *
 * Where it has neither, the elements of a lane are taken apart by shifts, and their products added
 * one after the other. */
#include "codegen/tile/tile_build.h"

enum { HALF = 128 };

/* The type of what the first of the factors is read from; f32: from nowhere. */
static at_type type_of(const at_low *l, const at_value *v) {
    while (v->op != AT_V_LOAD && v->a) v = v->a;
    return v->op == AT_V_LOAD ? l->tensors[v->tensor].type : AT_F32;
}

int at_build_dot_terms(const at_low *l, const at_value *v) {
    return at_target_dot_terms(l->target, type_of(l, v));
}

/* Have lanes along a loop in turn the same terms, as outputs of a group have its data, or do they
 * go round, as where lanes are partial sums of several outputs? */
static bool is_spread(const at_low *l, const at_aff *at, int sym, int terms) {
    const int digit = at_aff_digit(l, at, sym);
    const int64_t k = at_aff_coef(at, sym), apart = digit < 0 ? 0 : at_aff_coef(at, digit);
    return apart && k % terms == 0 && apart % terms == 0 &&
           at_lanes_spread(l, k / terms, apart / terms, digit) && (k || apart == terms);
}

static const char *not_operand(const at_builder *b, const at_value *v, const at_ir *of, int sym) {
    const at_low *l = b->l;
    const int terms = at_type_per_lane(l->tensors[v->tensor].type), loop = of->loop.sym;
    const char *name = l->tensors[v->tensor].name;
    if (terms != at_loop_trips(of))
        return at_format(l->arena, "a lane holds %d elements of %s", terms, name);
    if (b->regs->local[v->tensor] || v->may_miss)
        return at_format(l->arena, "%s is not read from memory", name);
    if (at_aff_coef(v->at, loop) != 1 || (at_aff_opaque_deps(l, v->at) & AT_BIT(loop)))
        return at_format(l->arena, "terms of %s do not lie side by side", name);
    if (sym < 0) return NULL;
    const int64_t k = at_aff_coef(v->at, sym);
    if (at_aff_opaque_deps(l, v->at) & AT_BIT(sym) ? !is_spread(l, v->at, sym, terms)
                                                   : k && k != terms)
        return at_format(l->arena, "lanes read %s %lld elements apart, and not %d", name,
                         (long long)k, terms);
    return NULL;
}

/* What an operand's elements may be taken for. */
enum { IS_U8 = 1, IS_S8 = 2, IS_S16 = 4, IS_BF16 = 8 };

/* Elements that an operand has several of to a lane: as they lie, or, of bytes, the bits of each
 * that are left of a shift and a mask, which the four are worked out with at once. */
typedef struct factor {
    const at_value *load;
    int shift, mask, is;
} factor;

static bool find_factor(const at_low *l, const at_value *v, factor *out) {
    static const int is[AT_TYPE_COUNT] = {
        [AT_U8] = IS_U8, [AT_S8] = IS_S8, [AT_S16] = IS_S16, [AT_BF16] = IS_BF16};
    const at_value *of = v;
    *out = (factor){.load = v, .mask = 255};
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
    out->is = is[type];
    if (v == of) return out->is;
    if (type != AT_U8 || out->mask < 0 || out->mask > 255 || out->shift > 7) return false;
    out->mask &= 255 >> out->shift;
    out->is |= out->mask < HALF ? IS_S8 : 0;
    return true;
}

/* How the product of the first factor and the second is done. */
typedef struct way {
    int signs;   /* at_dot; 0: it is none that the target has */
    bool turned, /* the second factor comes first */
        moved;   /* the first one has no sign, and is moved */
} way;

static way way_of(const at_target *t, const factor of[2]) {
    static const struct {
        int kind, first, second;
    } rows[] = {{AT_DOT_US, IS_U8, IS_S8},    {AT_DOT_SS, IS_S8, IS_S8},
                {AT_DOT_UU, IS_U8, IS_U8},    {AT_DOT_SS, IS_U8, IS_S8},
                {AT_DOT_S16, IS_S16, IS_S16}, {AT_DOT_BF16, IS_BF16, IS_BF16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int turned = 0; turned < 2; turned++)
            if ((t->dots & rows[i].kind) && (of[turned].is & rows[i].first) &&
                (of[!turned].is & rows[i].second))
                return (way){.signs = rows[i].kind,
                             .turned = turned,
                             .moved = rows[i].kind == AT_DOT_SS && rows[i].first == IS_U8};
    return (way){0};
}

/* Are products of bytes, which the set has no dot products of, added as those of pairs of s16? */
static bool adds_pairs(const at_target *t, const factor of[2]) {
    return (of[0].is & (IS_U8 | IS_S8)) && (t->dots & AT_DOT_S16);
}

static bool has_dots(const at_target *t, const factor of[2]) {
    return way_of(t, of).signs || adds_pairs(t, of);
}

static bool find_factors(const at_low *l, const at_value *v, factor of[2]) {
    return v->op == AT_V_MUL && find_factor(l, v->a, &of[0]) && find_factor(l, v->b, &of[1]) &&
           (v->whole || (of[0].is & of[1].is & IS_BF16));
}

static const char *kinds_of(const at_low *l) {
    const int dots = l->target->dots;
    return at_format(l->arena, "%s%s%s", dots & AT_DOT_SS ? "bytes" : "u8 and s8",
                     dots & AT_DOT_S16 ? ", of two s16" : "",
                     dots & AT_DOT_BF16 ? ", of two bf16" : "");
}

/* A product, or several that are added up. */
static const char *not_products(const at_builder *b, const at_value *v, const at_ir *loop,
                                int sym) {
    factor of[2];
    if (v->op == AT_V_ADD) {
        const char *why = not_products(b, v->a, loop, sym);
        return why ? why : not_products(b, v->b, loop, sym);
    }
    const at_target *t = b->l->target;
    if (!find_factors(b->l, v, of) || (t->lanes == 1 && !has_dots(t, of)))
        return at_format(b->l->arena, "its terms are no products of %s", kinds_of(b->l));
    const char *why = not_operand(b, of[0].load, loop, sym);
    return why ? why : not_operand(b, of[1].load, loop, sym);
}

static const char *not_one(const at_low *l, const at_value *v) {
    factor of[2];
    if (v->op == AT_V_ADD) {
        const char *why = not_one(l, v->a);
        return why ? why : not_one(l, v->b);
    }
    if (find_factors(l, v, of) && has_dots(l->target, of)) return NULL;
    if (!l->target->dots) return "the instructions have no dot products";
    return at_format(l->arena, "its terms are no products of %s", kinds_of(l));
}

const char *at_build_not_one_dot(const at_builder *b, const at_ir *loop) {
    return not_one(b->l, loop->child->stmt.val);
}

const char *at_build_not_dot(const at_builder *b, const at_ir *loop, int sym) {
    const at_low *l = b->l;
    const at_ir *n = loop->child;
    if (l->target->lanes == 1 || l->target->is_double)
        return "the instructions have no dot products";
    if (!n || n->next || n->kind != AT_IR_STMT || !n->stmt.add ||
        n->stmt.reduction != AT_REDUCE_SUM)
        return "no sum stands in it alone";
    const at_type of = type_of(l, n->stmt.val);
    const int terms = at_type_per_lane(of);
    if (l->tensors[n->stmt.tensor].type != (at_type_of(of)->is_int ? AT_S32 : AT_F32))
        return "no sum of s32, or of bf16 in f32, stands in it";
    if (!at_loop_is_fixed(loop) || at_loop_trips(loop) != terms)
        return at_format(l->arena, "it does not run %d times", terms);
    if (at_aff_coef(n->stmt.at, loop->loop.sym)) return "it is no loop of terms";
    return not_products(b, n->stmt.val, loop, sym);
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

int at_build_packed(at_builder *b, const at_value *from) {
    at_tile_place p = at_build_locate_load(b, from);
    int lanes = at_build_lanes(b);
    const int64_t step = p.cyclic ? p.cyclic : p.times;
    if (p.by && step != at_type_per_lane(b->l->tensors[from->tensor].type)) b->failed = true;
    p.times = 0;
    at_build_spread(&p, &lanes);
    const bool all = p.by ? lanes == 1 : p.lane == 0 && (lanes > 1 || b->all_lanes);
    const at_tile_vreg load = {.load = all ? AT_T_BCAST : AT_T_LOAD,
                               .lanes = (uint8_t)(all ? 1 : lanes),
                               .same = all,
                               .packed = true,
                               .slot = (int16_t)at_build_slot_of(b, &p),
                               .off = p.off,
                               .by = (uint8_t)(all ? 0 : p.by),
                               .plus = (uint8_t)(all ? 0 : p.plus),
                               .cyclic = p.cyclic > 0};
    const int loads = b->vregs.len;
    const int x = at_build_load(b, load);
    if (b->vregs.len > loads && !all) at_build_prefetch(b, from->tensor, load.slot, p.off);
    return x;
}

static int operand(at_builder *b, const factor *of) {
    int x = at_build_packed(b, of->load);
    if (of->shift) {
        const bool all = b->vregs.data[x].same;
        x = at_build_operation(b, AT_T_SHIFT_RIGHT, -1, x, -1);
        b->ops.data[b->ops.len - 1].by = of->shift;
        b->vregs.data[x].same = all;
    }
    return of->mask == 255 ? x : masked(b, x, of->mask);
}

/* An operand moved, its sum, its even or odd bytes as s16, or one of its elements, from ELEMENT on.
 */
enum { MOVED, SUMMED, PAIR, ELEMENT = PAIR + 2 };

/* What was made of a register in this body; -1: nothing, or registers are few. */
static int made_of(at_builder *b, int of, int how) {
    for (int i = 0; i < b->moved.len && !b->regs->sparing; i++) {
        const at_build_moved *m = &b->moved.data[i];
        if (m->of != of || m->how != how) continue;
        b->spends = true;
        return m->made;
    }
    return -1;
}

static int made(at_builder *b, int of, int how, int v) {
    *at_push(b->l->arena, &b->moved) = (at_build_moved){.of = of, .made = v, .how = how};
    return v;
}

/* The bytes that an operand without sign is as one with it: each less by 128, which is its highest
 * bit turned. */
static int moved_down(at_builder *b, int x) {
    const int had = made_of(b, x, MOVED);
    if (had >= 0) return had;
    const int high = bytes_of(b, HALF), set = at_build_operation(b, AT_T_OR, -1, x, high),
              was = at_build_operation(b, AT_T_AND, -1, x, high),
              moved = at_build_operation(b, AT_T_INT_SUB, -1, set, was);
    const bool same = b->vregs.data[x].same;
    b->vregs.data[set].same = b->vregs.data[was].same = b->vregs.data[moved].same = same;
    return made(b, x, MOVED, moved);
}

static void add_dot(at_builder *b, int to, int signs, int x, int y) {
    at_build_operation(b, AT_T_DOT, to, x, y);
    at_tile_op *op = &b->ops.data[b->ops.len - 1];
    op->packed = true;
    op->by = signs;
}

/* -128 times the sum of an operand's four bytes. */
static int taken(at_builder *b, int y) {
    const int had = made_of(b, y, SUMMED);
    if (had >= 0) return had;
    const int none = at_build_const(b, 0), sum = at_build_operation(b, AT_T_MOV, -1, none, -1);
    add_dot(b, sum, AT_DOT_SS, y, bytes_of(b, HALF));
    return made(b, y, SUMMED, sum);
}

static int shifted(at_builder *b, at_tile_kind kind, int x, int by) {
    if (!by) return x;
    const int y = at_build_operation(b, kind, -1, x, -1);
    b->ops.data[b->ops.len - 1].by = by;
    b->vregs.data[y].same = b->vregs.data[x].same;
    return y;
}

static int with_bits(at_builder *b, int x, uint32_t bits) {
    const int y =
        at_build_operation(b, AT_T_AND, -1, x, at_build_const(b, at_number_of_bits(bits)));
    b->vregs.data[y].same = b->vregs.data[x].same;
    return y;
}

/* Element i of each lane, as an integer of 32 bits or a float. */
static int element_of(at_builder *b, int x, at_type type, int i) {
    const int had = made_of(b, x, ELEMENT + i), bits = 8 * (int)at_type_bytes(type),
              above = 32 - bits * (i + 1);
    if (had >= 0) return had;
    int y = x;
    if (type == AT_U8) y = with_bits(b, shifted(b, AT_T_SHIFT_RIGHT, x, bits * i), 255);
    else if (type == AT_BF16 && !above) y = with_bits(b, x, 0xffff0000);
    else y = shifted(b, AT_T_SHIFT_LEFT, x, above);
    if (at_type_of(type)->is_int && type != AT_U8) y = shifted(b, AT_T_SHIFT_RIGHT, y, 32 - bits);
    return made(b, x, ELEMENT + i, y);
}

/* Bytes 0 and 2 of each lane, or 1 and 3, as two s16. Those with a sign get it by
 *
 *     byte | (sign << 9) - (sign << 1)     0xff00 where the sign is 0x80
 *
 * in both halves at once, which borrow nothing of each other. */
static int pair_of(at_builder *b, int x, at_type type, int odd) {
    const int had = made_of(b, x, PAIR + odd);
    if (had >= 0) return had;
    int y = with_bits(b, shifted(b, AT_T_SHIFT_RIGHT, x, 8 * odd), 0x00ff00ff);
    if (type == AT_S8) {
        const bool same = b->vregs.data[x].same;
        const int sign = with_bits(b, y, 0x00800080), above = shifted(b, AT_T_SHIFT_LEFT, sign, 9),
                  ones = at_build_operation(b, AT_T_INT_SUB, -1, above,
                                            shifted(b, AT_T_SHIFT_LEFT, sign, 1));
        y = at_build_operation(b, AT_T_OR, -1, y, ones);
        b->vregs.data[ones].same = b->vregs.data[y].same = same;
    }
    return made(b, x, PAIR + odd, y);
}

/* One product after the other, or two pairs. */
static void add_apart(at_builder *b, int acc, const factor of[2], int x, int y) {
    const at_low *l = b->l;
    const at_type types[] = {l->tensors[of[0].load->tensor].type,
                             l->tensors[of[1].load->tensor].type};
    if (adds_pairs(l->target, of)) {
        for (int odd = 0; odd < 2; odd++)
            add_dot(b, acc, AT_DOT_S16, pair_of(b, x, types[0], odd), pair_of(b, y, types[1], odd));
        return;
    }
    for (int i = 0; i < at_type_per_lane(types[0]); i++) {
        const int p = element_of(b, x, types[0], i), q = element_of(b, y, types[1], i);
        if (at_type_of(types[0])->is_int)
            at_build_operation(b, AT_T_INT_ADD, acc, acc,
                               at_build_operation(b, AT_T_INT_MUL, -1, p, q));
        else at_build_operation(b, AT_T_FMA, acc, p, q);
    }
}

void at_build_dot(at_builder *b, int acc, const at_value *v) {
    factor of[2];
    if (v->op == AT_V_ADD) {
        at_build_dot(b, acc, v->a);
        at_build_dot(b, acc, v->b);
        return;
    }
    if (!find_factors(b->l, v, of)) AT_BUG("no product of a dot's operands");
    const way w = way_of(b->l->target, of);
    int x = operand(b, &of[w.turned]), y = operand(b, &of[!w.turned]);
    if (!w.signs) {
        add_apart(b, acc, of, x, y);
        return;
    }
    if (w.moved) x = moved_down(b, x);
    if (w.signs == AT_DOT_US && b->l->target->dot_regs && of[w.turned].mask >= HALF) {
        add_dot(b, acc, w.signs, masked(b, x, HALF), y);
        x = masked(b, x, HALF - 1);
    }
    add_dot(b, acc, w.signs, x, y);
    if (w.moved) at_build_operation(b, AT_T_INT_SUB, acc, acc, taken(b, y));
}

/* Does an integer, widened to 32 bits, lie within 16 with its sign; or, without one, in 15? */
static bool is_word(const at_low *l, const at_value *v, bool has_sign) {
    if (v->op == AT_V_BIT_AND && v->b->op == AT_V_CONST)
        return v->b->number >= 0 && v->b->number <= INT16_MAX;
    if (v->op != AT_V_LOAD) return false;
    const at_type_facts *type = at_type_of(l->tensors[v->tensor].type);
    return type->is_int && type->most <= INT16_MAX && (has_sign || type->least >= 0);
}

/* The upper halves of the lanes add nothing where the upper halves of one factor are 0. */
bool at_build_is_word_product(const at_low *l, const at_value *v) {
    return (l->target->dots & AT_DOT_S16) && v->whole && v->op == AT_V_MUL &&
           ((is_word(l, v->a, false) && is_word(l, v->b, true)) ||
            (is_word(l, v->a, true) && is_word(l, v->b, false)));
}

void at_build_note_undotted(at_builder *b, const at_ir *sum) {
    const at_low *l = b->l;
    const at_value *v = sum->stmt.val;
    if (!l->target->dots || !v->whole || v->op != AT_V_MUL || v->a->op != AT_V_LOAD ||
        v->b->op != AT_V_LOAD)
        return;
    factor of[2];
    if (!find_factors(l, v, of) || at_type_bytes(type_of(l, v)) != 1) return;
    *at_push(l->arena, &b->notes) = at_format(
        l->arena, "@%s adds products of bytes one by one: %s", sum->stmt.label,
        has_dots(l->target, of) ? "no loop of four terms is marked dot"
                                : at_format(l->arena, "dot products are of %s", kinds_of(l)));
}
