/* codegen/tile/tile_gather.c: what lanes read at places that entries of a list say, each by itself:
 * the entries as a vector of integers, within the numbers that bound them, perhaps with what moves
 * from lane to lane beside them, and a load from there. */
#include "codegen/tile/tile_build.h"

#include <stdlib.h>

bool at_build_is_gathered(const at_builder *b, const at_tile_place *p) {
    bool differs = false;
    for (int i = 0; i < p->num_digits && at_build_lanes(b) > 1; i++)
        differs |= (b->l->syms.data[p->digits[i].entry].deps & AT_BIT(b->vec_sym)) != 0;
    return differs;
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

/* Entries of a list as integers: one for all lanes, or the next one in each. */
static int listed(at_builder *b, const at_sym *s) {
    const at_tile_place p = at_build_locate(b, s->tensor, s->of);
    const bool same = !p.lane;
    if (p.num_digits || p.by || (!same && p.lane != 1)) b->failed = true;
    return at_build_load(b, (at_tile_vreg){.load = same ? AT_T_BCAST : AT_T_LOAD,
                                           .lanes = (uint8_t)(same ? 1 : at_build_lanes(b)),
                                           .same = same,
                                           .slot = (int16_t)at_build_find_slot(b, &p, false),
                                           .off = p.off});
}

/* An entry, or what numbers bound it to, as integers: what is returned and *more. min(x + 2, 9) is
 * min(x, 7) + 2, so that nothing is added to an entry that is as large as integers are. */
static int bounded(at_builder *b, int sym, int64_t *more) {
    const at_sym s = b->l->syms.data[sym];
    if (s.kind == AT_SYM_LOAD) return listed(b, &s);
    const at_aff *x = at_aff_bounded(&s), *bound = x == s.of ? s.of2 : s.of;
    const int v = bounded(b, x->t[0].sym, more);
    *more += x->c;
    const int64_t most = bound->c - *more;
    if (most < INT32_MIN || most > INT32_MAX) b->failed = true;
    const int number = at_build_const(b, at_number_of_bits((uint32_t)(int32_t)most));
    return combined(b, s.kind == AT_SYM_MIN ? AT_T_INT_MIN : AT_T_INT_MAX, v, number);
}

/* What lanes add up to be is a place of the tensor less what is added outside of them, `more` among
 * it: a number of 32 bits, whatever its terms are. */
static bool fits_lanes(at_builder *b, const at_value *load, const at_tile_place *p, int64_t more) {
    at_low *l = b->l;
    const at_tile_digit *d = p->digits;
    const at_aff *others = load->at;
    int64_t lo, hi;
    for (int i = 0; i < p->num_digits; i++)
        others = at_aff_add_times(l, others, at_aff_sym(l, d[i].entry), -d[i].k);
    at_aff_range(l, others, &lo, &hi);
    if (hi + more <= INT32_MAX && l->buffers[load->tensor].elements - lo - more <= INT32_MAX)
        return true;
    if (p->num_digits > 1 || p->lane || l->syms.data[d->entry].kind != AT_SYM_LOAD) return false;
    for (const at_entry_bound *e = load->entries; e; e = e->next)
        if (e->list == l->syms.data[d->entry].tensor && e->lo >= INT32_MIN / d->k &&
            e->hi <= INT32_MAX / d->k)
            return true;
    return d->k == 1;
}

/* Lane by lane 0, 1, 2, .. times a number, as integers: the first lanes, then as many more. */
static int numbered(at_builder *b, int64_t times) {
    if (b->numbered.body == b->body && b->numbered.times == times) return b->numbered.vreg;
    const int width = b->l->target->lanes;
    int v = at_build_const(b, 0);
    for (int n = 1; n < width; n *= 2) {
        const int by = at_build_const(b, at_number_of_bits((uint32_t)(int32_t)(n * times)));
        const int turned = at_build_operation(b, AT_T_SWAP, -1, v, -1);
        b->ops.data[b->ops.len - 1].by = n;
        const int more = at_build_operation(b, AT_T_INT_ADD, -1, turned, by);
        at_build_operation(b, AT_T_FIRST, more, v, -1);
        b->ops.data[b->ops.len - 1].lanes = (uint8_t)n;
        v = more;
    }
    b->numbered = (at_tile_numbered){b->body, times, v};
    return v;
}

/* The places in lanes as integers, but for a number, *more. */
static int places(at_builder *b, const at_tile_place *p, int64_t *more) {
    int sum = -1;
    *more = 0;
    for (int i = 0; i < p->num_digits && !b->failed; i++) {
        const at_tile_digit *d = &p->digits[i];
        int64_t of_entry = 0;
        const int place = multiplied(b, bounded(b, d->entry, &of_entry), d->k);
        sum = sum < 0 ? place : combined(b, AT_T_INT_ADD, sum, place);
        *more += d->k * of_entry;
    }
    if (p->lane && !b->failed) sum = combined(b, AT_T_INT_ADD, sum, numbered(b, p->lane));
    return sum;
}

int at_build_gathered(at_builder *b, const at_value *v, const at_tile_place *p) {
    for (int i = 0; i < p->num_digits; i++) {
        const at_tile_digit *d = &p->digits[i];
        if (d->k < 1 || d->times != 1 || d->plus || d->by != 1) b->failed = true;
    }
    if (llabs(p->lane) > AT_TILE_MOST_STEP || p->by || p->may_miss) b->failed = true;
    int64_t more;
    const int from = at_build_find_slot(b, p, false), lanes = at_build_lanes(b);
    const int place = places(b, p, &more);
    const int64_t off = p->off + more;
    if (b->failed || !fits_lanes(b, v, p, more) || off <= -INT32_MAX / 8 || off >= INT32_MAX / 8) {
        b->failed = true;
        return 0;
    }
    const at_tile_op load = {
        .a = (int16_t)place, .slot = (int16_t)from, .off = off, .lanes = (uint8_t)lanes};
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
