/* codegen/affine_range.c: the smallest and largest value of an affine form, its loops running over
 * their current ranges. */
#include "codegen/codegen_int.h"

#include <stdlib.h>

/* A sum of bounds: one that is unknown leaves it unknown, whatever the others are. */
typedef struct {
    __int128 lo, hi;
    bool lo_unknown, hi_unknown;
} sum_range;

static int64_t clamp(__int128 v) {
    return v > AT_AFF_INF ? AT_AFF_INF : v < -AT_AFF_INF ? -AT_AFF_INF : (int64_t)v;
}

static void add_range(sum_range *r, int64_t k, int64_t lo, int64_t hi) {
    const int64_t least = k > 0 ? lo : hi, most = k > 0 ? hi : lo;
    r->lo += (__int128)k * least;
    r->hi += (__int128)k * most;
    r->lo_unknown |= least <= -AT_AFF_INF || least >= AT_AFF_INF;
    r->hi_unknown |= most <= -AT_AFF_INF || most >= AT_AFF_INF;
}

static void product_range(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *lo, int64_t *hi) {
    const __int128 corner[] = {(__int128)a * c, (__int128)a * d, (__int128)b * c, (__int128)b * d};
    __int128 least = corner[0], most = corner[0];
    for (int i = 1; i < 4; i++) {
        if (corner[i] < least) least = corner[i];
        if (corner[i] > most) most = corner[i];
    }
    *lo = clamp(least);
    *hi = clamp(most);
}

/* Of an index tensor's entries or of a stage's places; else data: an int32. */
static void entry_range(const at_low *l, int tensor, int64_t *lo, int64_t *hi) {
    const at_program *p = l->program;
    *lo = INT32_MIN;
    *hi = INT32_MAX;
    if (tensor < p->compute->num_tensors)
        at_compute_place_range(p->compute, p->values, p->extents, tensor, lo, hi);
}

static void sym_range(at_low *l, int sym, int64_t *lo, int64_t *hi) {
    const at_sym s = l->syms.data[sym];
    int64_t lo2, hi2;
    switch (s.kind) {
    case AT_SYM_LOOP:
        *lo = s.lo;
        *hi = s.hi;
        return;
    case AT_SYM_LOAD: entry_range(l, s.tensor, lo, hi); return;
    case AT_SYM_DIV:
        at_aff_range(l, s.of, lo, hi);
        if (*lo > -AT_AFF_INF) *lo = at_floordiv(*lo, s.by);
        if (*hi < AT_AFF_INF) *hi = at_floordiv(*hi, s.by);
        return;
    default:
        at_aff_range(l, s.of, lo, hi);
        at_aff_range(l, s.of2, &lo2, &hi2);
        if (s.kind == AT_SYM_MUL) {
            product_range(*lo, *hi, lo2, hi2, lo, hi);
            return;
        }
        if (s.kind == AT_SYM_MIN) {
            if (lo2 < *lo) *lo = lo2;
            if (hi2 < *hi) *hi = hi2;
        } else {
            if (lo2 > *lo) *lo = lo2;
            if (hi2 > *hi) *hi = hi2;
        }
        return;
    }
}

/* If x holds m*g + k*floor(g/c), that is m*(g mod c) + (k + m*c)*floor(g/c): takes the first of
 * these out and gives its range, where the second one is less than before. */
static const at_aff *take_remainder(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi) {
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        if (s.kind != AT_SYM_DIV || !s.of->n) continue;
        const int64_t k = x->t[i].k, m = at_aff_coef(x, s.of->t[0].sym) / s.of->t[0].k;
        int64_t left;
        if (!m || !at_mul64(m, s.by, &left) || __builtin_add_overflow(left, k, &left)) continue;
        bool whole = llabs(left) < llabs(k);
        for (int j = 0; j < s.of->n && whole; j++)
            whole = at_aff_coef(x, s.of->t[j].sym) == m * s.of->t[j].k;
        if (!whole) continue;
        int64_t glo, ghi; /* the operand itself may already be smaller than the divisor allows */
        at_aff_range(l, s.of, &glo, &ghi);
        int64_t rlo = 0, rhi = s.by - 1;
        if (at_floordiv(glo, s.by) == at_floordiv(ghi, s.by) && glo > -AT_AFF_INF &&
            ghi < AT_AFF_INF) {
            rlo = at_floormod(glo, s.by);
            rhi = at_floormod(ghi, s.by);
        }
        *lo = m >= 0 ? m * rlo : m * rhi;
        *hi = m >= 0 ? m * rhi : m * rlo;
        const at_aff *rest = at_aff_add_times(l, x, s.of, -m);
        return at_aff_add_times(l, rest, at_aff_sym(l, x->t[i].sym), left - k);
    }
    return NULL;
}

/* If x holds k*(floor((g + a)/c) - floor(g/c)), which the difference a alone decides but for one,
 * takes that out and gives its range. */
static const at_aff *take_quotients(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi) {
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++) {
            const int64_t k = x->t[i].k;
            const at_sym s = l->syms.data[x->t[i].sym], t = l->syms.data[x->t[j].sym];
            if (s.kind != AT_SYM_DIV || t.kind != AT_SYM_DIV || s.by != t.by || k < 1 ||
                x->t[j].k >= 0 || s.of->n != t.of->n)
                continue;
            const at_aff *apart = at_aff_sub(l, s.of, t.of);
            if (apart->n) continue;
            const int64_t pairs = k < -x->t[j].k ? k : -x->t[j].k;
            *lo = pairs * at_floordiv(apart->c, s.by);
            *hi = -pairs * at_floordiv(-apart->c, s.by);
            const at_aff *rest = at_aff_add_times(l, x, at_aff_sym(l, x->t[i].sym), -pairs);
            return at_aff_add_times(l, rest, at_aff_sym(l, x->t[j].sym), pairs);
        }
    return NULL;
}

void at_aff_range(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi) {
    sum_range r = {0};
    bool has_opaque = false;
    for (int i = 0; i < x->n; i++) has_opaque |= l->syms.data[x->t[i].sym].kind == AT_SYM_DIV;
    while (has_opaque) {
        int64_t rlo, rhi;
        const at_aff *rest = take_remainder(l, x, &rlo, &rhi);
        if (!rest) rest = take_quotients(l, x, &rlo, &rhi);
        if (!rest) break;
        add_range(&r, 1, rlo, rhi);
        x = rest;
    }
    for (int i = 0; i < x->n; i++) {
        int64_t slo, shi;
        sym_range(l, x->t[i].sym, &slo, &shi);
        add_range(&r, x->t[i].k, slo, shi);
    }
    *lo = r.lo_unknown ? -AT_AFF_INF : clamp(r.lo + x->c);
    *hi = r.hi_unknown ? AT_AFF_INF : clamp(r.hi + x->c);
}
