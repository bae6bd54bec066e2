/* codegen/affine.c: affine forms over loop variables and opaque symbols, and what is known of their
 * ranges.
 *
 * Floor division is simplified where ranges allow (digits of an aligned tiling come out affine);
 * what remains is one shared symbol per (operand, divisor). A remainder is always x - c*floor(x/c),
 * so that digits which are put together again (n*H*W + h*W + w) cancel back to the number they came
 * from. */
#include "codegen/codegen_int.h"

#include <string.h>

static at_aff *new_aff(at_low *l, int n) {
    at_aff *x = at_alloc(l->arena, sizeof *x + (size_t)n * sizeof(at_term));
    return x;
}

const at_aff *at_aff_const(at_low *l, int64_t c) {
    at_aff *x = new_aff(l, 0);
    x->c = c;
    return x;
}

const at_aff *at_aff_sym(at_low *l, int sym) {
    at_aff *x = new_aff(l, 1);
    x->n = 1;
    x->t[0] = (at_term){sym, 1};
    return x;
}

/* x + ky*y */
static const at_aff *combine(at_low *l, const at_aff *x, const at_aff *y, int64_t ky) {
    at_aff *z = new_aff(l, x->n + y->n);
    z->c = x->c + ky * y->c;
    int i = 0, j = 0;
    while (i < x->n || j < y->n) {
        at_term t;
        if (j == y->n || (i < x->n && x->t[i].sym < y->t[j].sym)) t = x->t[i++];
        else if (i == x->n || y->t[j].sym < x->t[i].sym)
            t = (at_term){y->t[j].sym, ky * y->t[j].k}, j++;
        else t = (at_term){x->t[i].sym, x->t[i].k + ky * y->t[j].k}, i++, j++;
        if (t.k) z->t[z->n++] = t;
    }
    return z;
}

const at_aff *at_aff_add(at_low *l, const at_aff *x, const at_aff *y) {
    return combine(l, x, y, 1);
}
const at_aff *at_aff_sub(at_low *l, const at_aff *x, const at_aff *y) {
    return combine(l, x, y, -1);
}
const at_aff *at_aff_scale(at_low *l, const at_aff *x, int64_t k) {
    return combine(l, at_aff_const(l, 0), x, k);
}
const at_aff *at_aff_shift(at_low *l, const at_aff *x, int64_t c) {
    if (!c) return x;
    at_aff *z = new_aff(l, x->n);
    memcpy(z->t, x->t, (size_t)x->n * sizeof(at_term));
    z->n = x->n;
    z->c = x->c + c;
    return z;
}

bool at_aff_equal(const at_aff *x, const at_aff *y) {
    if (x == y) return true;
    if (x->c != y->c || x->n != y->n) return false;
    for (int i = 0; i < x->n; i++)
        if (x->t[i].sym != y->t[i].sym || x->t[i].k != y->t[i].k) return false;
    return true;
}

int64_t at_aff_coef(const at_aff *x, int sym) {
    for (int i = 0; i < x->n; i++)
        if (x->t[i].sym == sym) return x->t[i].k;
    return 0;
}

at_mask at_aff_deps(const at_low *l, const at_aff *x) {
    at_mask m = 0;
    for (int i = 0; i < x->n; i++) m |= l->syms.data[x->t[i].sym].deps;
    return m;
}

at_mask at_aff_opaque_deps(const at_low *l, const at_aff *x) {
    at_mask m = 0;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (s->kind != AT_SYM_LOOP) m |= s->deps;
    }
    return m;
}

bool at_aff_indexed(const at_low *l, const at_aff *x, at_mask inside, int *entry) {
    int found = -1;
    for (int i = 0; i < x->n; i++) {
        int of = x->t[i].sym;
        const at_sym *s = &l->syms.data[of];
        if (s->kind == AT_SYM_LOOP || !(s->deps & inside)) continue;
        if (s->kind == AT_SYM_DIV) { /* of that entry and of loops inside */
            if (!at_aff_indexed(l, s->of, inside, &of) || of < 0) return false;
            for (int j = 0; j < s->of->n; j++) {
                const at_sym *part = &l->syms.data[s->of->t[j].sym];
                if (!(part->deps & inside) || part->kind == AT_SYM_DIV) return false;
            }
        } else if (s->kind != AT_SYM_LOAD || (at_aff_opaque_deps(l, s->of) & inside)) return false;
        if (found >= 0 && found != of) return false;
        found = of;
    }
    if (entry) *entry = found;
    return true;
}

const at_aff *at_aff_part(at_low *l, const at_aff *x, at_mask inside, const at_aff **rest) {
    at_aff *in = new_aff(l, x->n), *out = new_aff(l, x->n);
    out->c = x->c;
    for (int i = 0; i < x->n; i++) {
        at_aff *to = (l->syms.data[x->t[i].sym].deps & inside) ? in : out;
        to->t[to->n++] = x->t[i];
    }
    if (rest) *rest = out;
    return in;
}

/* ---- symbols --------------------------------------------------------------------------------- */

int at_sym_loop(at_low *l, const char *name, int64_t extent) {
    if (l->num_loops == AT_MAX_LOOPS) {
        at_lower_fail(l, "lowering makes more than %d loops of the tree", AT_MAX_LOOPS);
        return 0;
    }
    int id = l->num_loops++;
    l->syms.data[id] =
        (at_sym){.kind = AT_SYM_LOOP, .name = name, .hi = extent - 1, .deps = AT_BIT(id)};
    return id;
}

/* Finds or makes the opaque symbol. */
static const at_aff *opaque(at_low *l, at_sym_kind kind, const at_aff *of, const at_aff *of2,
                            int64_t by, int tensor) {
    for (int i = AT_MAX_LOOPS; i < l->syms.len; i++) {
        const at_sym *s = &l->syms.data[i];
        if (s->kind == kind && s->by == by && s->tensor == tensor && at_aff_equal(s->of, of) &&
            (!of2 || at_aff_equal(s->of2, of2)))
            return at_aff_sym(l, i);
    }
    at_mask deps = at_aff_deps(l, of) | (of2 ? at_aff_deps(l, of2) : 0);
    *at_push(l->arena, &l->syms) = (at_sym){
        .kind = kind, .of = of, .of2 = of2, .by = by, .tensor = tensor, .deps = deps, .name = "q"};
    return at_aff_sym(l, l->syms.len - 1);
}

const at_aff *at_aff_load(at_low *l, int tensor, const at_aff *address) {
    return opaque(l, AT_SYM_LOAD, address, NULL, 0, tensor);
}

const at_aff *at_aff_min(at_low *l, const at_aff *x, const at_aff *y) {
    int64_t lo, hi;
    at_aff_range(l, at_aff_sub(l, x, y), &lo, &hi);
    if (hi <= 0) return x;
    if (lo >= 0) return y;
    return opaque(l, AT_SYM_MIN, x, y, 0, 0);
}

const at_aff *at_aff_max(at_low *l, const at_aff *x, const at_aff *y) {
    int64_t lo, hi;
    at_aff_range(l, at_aff_sub(l, x, y), &lo, &hi);
    if (lo >= 0) return x;
    if (hi <= 0) return y;
    return opaque(l, AT_SYM_MAX, x, y, 0, 0);
}

static int64_t gcd(int64_t a, int64_t b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Splits x into g*(*quotient) + rest, rest made of what g does not divide and a constant in [0, g).
 */
static const at_aff *extract(at_low *l, const at_aff *x, int64_t g, const at_aff **quotient) {
    at_aff *q = new_aff(l, x->n), *r = new_aff(l, x->n);
    for (int i = 0; i < x->n; i++) {
        if (x->t[i].k % g == 0) q->t[q->n++] = (at_term){x->t[i].sym, x->t[i].k / g};
        else r->t[r->n++] = x->t[i];
    }
    q->c = at_floordiv(x->c, g);
    r->c = x->c - q->c * g;
    *quotient = q;
    return r;
}

/* The canonical constant may hide a fit (4*v - 1 over 4): also tries rest as it is. */
static bool fits(at_low *l, const at_aff *rest, int64_t by) {
    int64_t lo, hi;
    at_aff_range(l, rest, &lo, &hi);
    return lo >= 0 && hi < by;
}

const at_aff *at_aff_div(at_low *l, const at_aff *x, int64_t by) {
    if (by == 1) return x;
    const at_aff *q;
    const at_aff *r = extract(l, x, by, &q);
    if (fits(l, r, by)) return q;
    /* floor(r / (g*m)) = floor(floor(r/g) / m): drop the digits below g. */
    int64_t best = 1;
    for (int i = 0; i < r->n; i++) {
        int64_t g = gcd(by, r->t[i].k);
        if (g <= best) continue;
        const at_aff *ignored;
        if (fits(l, extract(l, r, g, &ignored), g)) best = g;
    }
    if (best > 1) {
        const at_aff *high;
        extract(l, r, best, &high);
        return at_aff_add(l, q, at_aff_div(l, high, by / best));
    }
    /* floor((floor(x/a) + c) / by) = floor((x + a*c) / (a*by)): one digit of data, not two steps */
    const at_sym *inner = r->n == 1 && r->t[0].k == 1 ? &l->syms.data[r->t[0].sym] : NULL;
    if (inner && inner->kind == AT_SYM_DIV && inner->by <= INT32_MAX / by &&
        at_aff_reads(l, inner->of)) {
        const at_aff *whole = at_aff_shift(l, inner->of, inner->by * r->c);
        return at_aff_add(l, q, at_aff_div(l, whole, inner->by * by));
    }
    return at_aff_add(l, q, opaque(l, AT_SYM_DIV, r, NULL, by, 0));
}

const at_aff *at_aff_mod(at_low *l, const at_aff *x, int64_t by) {
    return at_aff_sub(l, x, at_aff_scale(l, at_aff_div(l, x, by), by));
}

/* May x mention this symbol, itself or inside another? */
static bool may_hold(const at_low *l, at_mask deps, int sym) {
    at_mask needs = l->syms.data[sym].deps;
    return (deps & needs) == needs;
}

const at_aff *at_aff_subst(at_low *l, const at_aff *x, int sym, const at_aff *y) {
    if (!may_hold(l, at_aff_deps(l, x), sym)) return x;
    const at_aff *z = at_aff_const(l, x->c);
    for (int i = 0; i < x->n; i++) {
        at_sym s = l->syms.data[x->t[i].sym];
        const at_aff *v;
        if (x->t[i].sym == sym) v = y;
        else if (s.kind == AT_SYM_LOOP || !may_hold(l, s.deps, sym)) v = at_aff_sym(l, x->t[i].sym);
        else {
            const at_aff *of = at_aff_subst(l, s.of, sym, y);
            const at_aff *of2 = s.of2 ? at_aff_subst(l, s.of2, sym, y) : NULL;
            switch (s.kind) {
            case AT_SYM_DIV: v = at_aff_div(l, of, s.by); break;
            case AT_SYM_LOAD: v = at_aff_load(l, s.tensor, of); break;
            case AT_SYM_MIN: v = at_aff_min(l, of, of2); break;
            default: v = at_aff_max(l, of, of2); break;
            }
        }
        z = combine(l, z, v, x->t[i].k);
    }
    return z;
}

/* Does the address depend on data, or on a loop that data ends? Then it is as right as those. */
static bool is_unbounded(const at_low *l, const at_aff *address) {
    at_mask deps = at_aff_deps(l, address);
    for (int i = 0; deps; i++, deps >>= 1)
        if ((deps & 1) && l->syms.data[i].hi >= INT32_MAX - 1) return true;
    return at_aff_reads(l, address);
}

const at_aff *at_aff_inside(at_low *l, const at_aff *x, const at_buffer *buffers) {
    const at_aff *z = at_aff_const(l, x->c);
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        const at_aff *of = s.of ? at_aff_inside(l, s.of, buffers) : NULL;
        const at_aff *of2 = s.of2 ? at_aff_inside(l, s.of2, buffers) : NULL;
        const at_aff *v = at_aff_sym(l, x->t[i].sym);
        int64_t lo, hi, last;
        switch (s.kind) {
        case AT_SYM_LOOP: break;
        case AT_SYM_DIV: v = at_aff_div(l, of, s.by); break;
        case AT_SYM_MIN: v = at_aff_min(l, of, of2); break;
        case AT_SYM_MAX: v = at_aff_max(l, of, of2); break;
        case AT_SYM_LOAD:
            last = buffers[s.tensor].elements - 1;
            at_aff_range(l, of, &lo, &hi);
            if (last >= 0 && !is_unbounded(l, of)) {
                if (hi > last) of = at_aff_min(l, of, at_aff_const(l, last));
                if (lo < 0) of = at_aff_max(l, of, at_aff_const(l, 0));
            }
            v = at_aff_load(l, s.tensor, of);
        }
        z = combine(l, z, v, x->t[i].k);
    }
    return z;
}

bool at_aff_reads(const at_low *l, const at_aff *x) {
    for (int i = 0; x && i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (s->kind == AT_SYM_LOAD) return true;
        if (s->kind != AT_SYM_LOOP && (at_aff_reads(l, s->of) || at_aff_reads(l, s->of2)))
            return true;
    }
    return false;
}

/* The terms of x that read an index tensor, and the others. */
static const at_aff *split_reads(at_low *l, const at_aff *x, const at_aff **others) {
    at_aff *reads = new_aff(l, x->n), *rest = new_aff(l, x->n);
    rest->c = x->c;
    for (int i = 0; i < x->n; i++) {
        at_aff *to = at_aff_reads(l, at_aff_sym(l, x->t[i].sym)) ? reads : rest;
        to->t[to->n++] = x->t[i];
    }
    *others = rest;
    return reads;
}

const at_aff *at_aff_concrete(at_low *l, const at_aff *x, at_mask keep) {
    at_mask deps = at_aff_deps(l, x) & ~keep;
    for (int i = 0; deps; i++, deps >>= 1) {
        const at_sym *s = &l->syms.data[i];
        if (!(deps & 1) || s->lo != s->hi) continue;
        const at_aff *value = at_aff_const(l, s->lo), *rest = x;
        const at_aff *reads =
            s->may_be_empty && at_aff_reads(l, x) ? split_reads(l, x, &rest) : NULL;
        x = at_aff_subst(l, rest, i, value);
        if (reads) x = at_aff_add(l, reads, x);
    }
    return x;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int64_t clamp(__int128 v) {
    return v > AT_AFF_INF ? AT_AFF_INF : v < -AT_AFF_INF ? -AT_AFF_INF : (int64_t)v;
}

static void sym_range(at_low *l, int sym, int64_t *lo, int64_t *hi) {
    const at_sym s = l->syms.data[sym];
    int64_t lo2, hi2;
    switch (s.kind) {
    case AT_SYM_LOOP:
        *lo = s.lo;
        *hi = s.hi;
        return;
    case AT_SYM_LOAD: /* data: an int32 */
        *lo = INT32_MIN;
        *hi = INT32_MAX;
        return;
    case AT_SYM_DIV:
        at_aff_range(l, s.of, lo, hi);
        if (*lo > -AT_AFF_INF) *lo = at_floordiv(*lo, s.by);
        if (*hi < AT_AFF_INF) *hi = at_floordiv(*hi, s.by);
        return;
    default:
        at_aff_range(l, s.of, lo, hi);
        at_aff_range(l, s.of2, &lo2, &hi2);
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

/* If x holds m*g - m*c*floor(g/c), that is m*(g mod c): takes it out and gives its range. */
static const at_aff *take_remainder(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi) {
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        if (s.kind != AT_SYM_DIV || x->t[i].k % s.by) continue;
        int64_t m = -x->t[i].k / s.by;
        bool whole = true;
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
        const at_aff *rest = combine(l, x, s.of, -m);
        return at_aff_sub(l, rest, at_aff_scale(l, at_aff_sym(l, x->t[i].sym), x->t[i].k));
    }
    return NULL;
}

void at_aff_range(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi) {
    __int128 a = 0, b = 0;
    bool has_opaque = false;
    for (int i = 0; i < x->n; i++) has_opaque |= l->syms.data[x->t[i].sym].kind == AT_SYM_DIV;
    while (has_opaque) {
        int64_t rlo, rhi;
        const at_aff *rest = take_remainder(l, x, &rlo, &rhi);
        if (!rest) break;
        a += rlo;
        b += rhi;
        x = rest;
    }
    for (int i = 0; i < x->n; i++) {
        int64_t slo, shi, k = x->t[i].k;
        sym_range(l, x->t[i].sym, &slo, &shi);
        a += (__int128)k * (k > 0 ? slo : shi);
        b += (__int128)k * (k > 0 ? shi : slo);
    }
    *lo = clamp(a + x->c);
    *hi = clamp(b + x->c);
}

at_sym at_range_enter(at_low *l, const at_ir *loop) {
    at_sym old = l->syms.data[loop->loop.sym];
    l->syms.data[loop->loop.sym].lo = loop->loop.lo;
    l->syms.data[loop->loop.sym].hi = loop->loop.hi - 1;
    l->syms.data[loop->loop.sym].may_be_empty = !at_loop_is_fixed(loop);
    return old;
}

void at_range_leave(at_low *l, const at_ir *loop, at_sym old) {
    l->syms.data[loop->loop.sym].lo = old.lo;
    l->syms.data[loop->loop.sym].hi = old.hi;
    l->syms.data[loop->loop.sym].may_be_empty = old.may_be_empty;
}

void at_aff_print(const at_low *l, at_text *out, const at_aff *x) {
    bool first = true;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        int64_t k = x->t[i].k;
        if (!first || k < 0) at_text_add(out, k < 0 ? (first ? "-" : " - ") : " + ");
        if (k != 1 && k != -1) at_text_addf(out, "%lld*", (long long)(k < 0 ? -k : k));
        first = false;
        switch (s->kind) {
        case AT_SYM_LOOP: at_text_add(out, s->name); break;
        case AT_SYM_DIV:
            at_text_add(out, "floor((");
            at_aff_print(l, out, s->of);
            at_text_addf(out, ")/%lld)", (long long)s->by);
            break;
        case AT_SYM_LOAD:
            at_text_addf(out, "%s[", l->tensors[s->tensor].name);
            at_aff_print(l, out, s->of);
            at_text_add(out, "]");
            break;
        default:
            at_text_add(out, s->kind == AT_SYM_MIN ? "min(" : "max(");
            at_aff_print(l, out, s->of);
            at_text_add(out, ", ");
            at_aff_print(l, out, s->of2);
            at_text_add(out, ")");
        }
    }
    if (first || x->c) {
        if (first) at_text_addf(out, "%lld", (long long)x->c);
        else
            at_text_addf(out, x->c < 0 ? " - %lld" : " + %lld",
                         (long long)(x->c < 0 ? -x->c : x->c));
    }
}
