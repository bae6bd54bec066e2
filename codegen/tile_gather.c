/* codegen/tile_gather.c: what lanes read at places that entries of a list say, each by itself: the
 * entries as a vector of integers, within the numbers that bound them, and a load from there. */
#include "codegen/tile_build.h"

bool at_build_is_gathered(const at_builder *b, const at_tile_place *p) {
    return p->entry >= 0 && at_build_lanes(b) > 1 &&
           (b->l->syms.data[p->entry].deps & AT_BIT(b->vec_sym));
}

static int combined(at_builder *b, at_tile_kind kind, int x, int y) {
    const int had = at_build_had(b, kind, x, y);
    return had >= 0 ? had : at_build_operation(b, kind, -1, x, y);
}

static int shifted(at_builder *b, int x, int by) {
    if (!by) return x;
    const int d = at_build_operation(b, AT_T_SHIFT_LEFT, -1, x, -1);
    b->ops.data[b->ops.len - 1].by = by;
    return d;
}

/* Integers times a number above 0. */
static int multiplied(at_builder *b, int x, int64_t by) {
    int sum = -1;
    for (int bit = 0; by >> bit; bit++) {
        if (!(by >> bit & 1)) continue;
        const int part = shifted(b, x, bit);
        sum = sum < 0 ? part : combined(b, AT_T_INT_ADD, sum, part);
    }
    return sum;
}

/* The register of what was loaded from there in this straight-line body, and nothing has been
 * stored there since; -1: none. */
static int gathered_before(at_builder *b, const at_tile_op *load) {
    const int fresh = b->first_fresh[b->slots[load->slot].tensor],
              first = fresh > b->first_load ? fresh : b->first_load;
    for (int i = b->ops.len - 1; i >= 0 && !b->regs->sparing; i--) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_LOOP || op->kind == AT_T_END) break;
        if (op->kind != AT_T_GATHER || op->a != load->a || op->slot != load->slot ||
            op->off != load->off || op->lanes != load->lanes || op->dst < first)
            continue;
        b->spends = true;
        return op->dst;
    }
    return -1;
}

/* Entries of a list in lanes, as integers. */
static int listed(at_builder *b, const at_sym *s) {
    const at_tile_place p = at_build_locate(b, s->tensor, s->of);
    if (p.entry >= 0 || p.by || p.lane != 1) b->failed = true;
    return at_build_load(b, (at_tile_vreg){.load = AT_T_LOAD,
                                           .lanes = (uint8_t)at_build_lanes(b),
                                           .slot = (int16_t)at_build_find_slot(b, &p, false),
                                           .off = p.off});
}

/* Between -2^22 and 2^22 a whole number and 1.5 * 2^23 is a float whose bits are those of 1.5 *
 * 2^23 and the number. */
static const int64_t most = 1 << 22;
static const double base = 0x1.8p23;

static bool is_exact(int64_t number) { return -most <= number && number <= most; }

/* An entry, or what numbers bound it to, as floats. An entry so large that it is rounded is beyond
 * all that is exact, and so beyond a bound or no place of the tensor. */
static int bounded(at_builder *b, int sym) {
    const at_sym s = b->l->syms.data[sym];
    if (s.kind == AT_SYM_LOAD) return at_build_number(b, listed(b, &s));
    const at_aff *x = at_aff_bounded(&s), *bound = x == s.of ? s.of2 : s.of;
    int v = bounded(b, x->t[0].sym);
    if (!is_exact(x->c) || !is_exact(bound->c)) b->failed = true;
    if (x->c) v = combined(b, AT_T_ADD, v, at_build_const(b, (double)x->c));
    return combined(b, s.kind == AT_SYM_MIN ? AT_T_MIN : AT_T_MAX, v,
                    at_build_const(b, (double)bound->c));
}

/* Is what stands for a symbol certainly exact, since the address that it is a part of is a place of
 * the tensor? */
static bool leads_to_places(at_builder *b, const at_value *load, int sym) {
    at_low *l = b->l;
    const int64_t k = at_aff_coef(load->at, sym), elements = l->buffers[load->tensor].elements;
    int64_t lo, hi;
    at_aff_range(l, at_aff_add_times(l, load->at, at_aff_sym(l, sym), -k), &lo, &hi);
    return k > 0 && lo >= INT32_MIN && hi <= INT32_MAX && elements - lo <= INT32_MAX &&
           is_exact(at_floordiv(-hi, k)) && is_exact(at_floordiv(elements - lo, k));
}

/* Is an entry times k a number of 32 bits, as indices in lanes are? */
static bool fits_lanes(const at_value *load, int list, int64_t k) {
    for (const at_entry_bound *e = load->entries; e; e = e->next)
        if (e->list == list && e->lo >= INT32_MIN / k && e->hi <= INT32_MAX / k) return true;
    return k == 1;
}

/* The integers of an entry. */
static int places(at_builder *b, const at_value *load, int sym, int64_t k) {
    const at_sym *s = &b->l->syms.data[sym];
    if (s->kind == AT_SYM_LOAD) {
        if (!fits_lanes(load, s->tensor, k)) b->failed = true;
        return listed(b, s);
    }
    if (b->l->target->is_double || !leads_to_places(b, load, sym)) b->failed = true;
    const int from = at_build_const(b, base);
    return combined(b, AT_T_INT_SUB, combined(b, AT_T_ADD, bounded(b, sym), from), from);
}

int at_build_gathered(at_builder *b, const at_value *v, const at_tile_place *p) {
    const at_tile_digit *d = &p->digits[0];
    if (p->lane || p->by || p->may_miss || p->num_digits != 1 || d->k < 1 || d->times != 1 ||
        d->plus || d->by != 1)
        b->failed = true;
    const int from = at_build_find_slot(b, p, false), lanes = at_build_lanes(b);
    const int place = places(b, v, p->entry, d->k);
    if (b->failed) return 0;
    const at_tile_op load = {.a = (int16_t)multiplied(b, place, d->k),
                             .slot = (int16_t)from,
                             .off = p->off,
                             .lanes = (uint8_t)lanes};
    const int had = gathered_before(b, &load);
    if (had >= 0) return had;
    const int dst = at_build_vreg(b, (at_tile_vreg){0});
    at_tile_op *op = at_build_emit(b, AT_T_GATHER);
    op->dst = (int16_t)dst;
    op->a = load.a;
    op->slot = load.slot;
    op->off = load.off;
    op->lanes = load.lanes;
    return dst;
}
