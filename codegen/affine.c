/* codegen/affine.c: affine forms over loop variables and opaque symbols: sums, and what they are
 * made of. */
#include "codegen/codegen_int.h"

#include <string.h>

at_aff *at_aff_alloc(at_low *l, int n) {
    at_aff *x = at_alloc(l->arena, sizeof *x + (size_t)n * sizeof(at_term));
    return x;
}

const at_aff *at_aff_const(at_low *l, int64_t c) {
    at_aff *x = at_aff_alloc(l, 0);
    x->c = c;
    return x;
}

const at_aff *at_aff_sym(at_low *l, int sym) {
    at_aff *x = at_aff_alloc(l, 1);
    x->n = 1;
    x->t[0] = (at_term){sym, 1};
    return x;
}

/* x + k*y. What is that large is no address, wherever it came from. */
static int64_t add_product(at_low *l, int64_t x, int64_t k, int64_t y) {
    int64_t z;
    if (!__builtin_mul_overflow(k, y, &z) && !__builtin_add_overflow(x, z, &z)) return z;
    at_lower_fail(l, "an index exceeds 2^63");
    return 0;
}

const at_aff *at_aff_add_times(at_low *l, const at_aff *x, const at_aff *y, int64_t ky) {
    at_aff *z = at_aff_alloc(l, x->n + y->n);
    z->c = add_product(l, x->c, ky, y->c);
    int i = 0, j = 0;
    while (i < x->n || j < y->n) {
        at_term t;
        if (j == y->n || (i < x->n && x->t[i].sym < y->t[j].sym)) t = x->t[i++];
        else if (i == x->n || y->t[j].sym < x->t[i].sym)
            t = (at_term){y->t[j].sym, add_product(l, 0, ky, y->t[j].k)}, j++;
        else t = (at_term){x->t[i].sym, add_product(l, x->t[i].k, ky, y->t[j].k)}, i++, j++;
        if (t.k) z->t[z->n++] = t;
    }
    return z;
}

const at_aff *at_aff_add(at_low *l, const at_aff *x, const at_aff *y) {
    return at_aff_add_times(l, x, y, 1);
}
const at_aff *at_aff_sub(at_low *l, const at_aff *x, const at_aff *y) {
    return at_aff_add_times(l, x, y, -1);
}
const at_aff *at_aff_scale(at_low *l, const at_aff *x, int64_t k) {
    return at_aff_add_times(l, at_aff_const(l, 0), x, k);
}
const at_aff *at_aff_shift(at_low *l, const at_aff *x, int64_t c) {
    if (!c) return x;
    at_aff *z = at_aff_alloc(l, x->n);
    memcpy(z->t, x->t, (size_t)x->n * sizeof(at_term));
    z->n = x->n;
    z->c = add_product(l, x->c, 1, c);
    return z;
}

bool at_aff_is_beside(const at_aff *x, const at_aff *y) {
    if (x == y) return true;
    if (x->n != y->n) return false;
    for (int i = 0; i < x->n; i++)
        if (x->t[i].sym != y->t[i].sym || x->t[i].k != y->t[i].k) return false;
    return true;
}

bool at_aff_equal(const at_aff *x, const at_aff *y) {
    return x->c == y->c && at_aff_is_beside(x, y);
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

int at_aff_entry(const at_low *l, int sym, at_mask inside) {
    const at_sym *s = &l->syms.data[sym];
    if (s->kind == AT_SYM_LOAD) return at_aff_opaque_deps(l, s->of) & inside ? -1 : sym;
    if (s->kind != AT_SYM_MIN && s->kind != AT_SYM_MAX) return -1;
    const at_aff *bounded = at_aff_bounded(s);
    return bounded ? at_aff_entry(l, bounded->t[0].sym, inside) : -1;
}

const at_aff *at_aff_bounded(const at_sym *s) {
    const at_aff *x = s->of->n ? s->of : s->of2, *y = x == s->of ? s->of2 : s->of;
    return x->n == 1 && x->t[0].k == 1 && !y->n ? x : NULL;
}

int at_aff_digit_entry(const at_low *l, int sym, at_mask inside) {
    const at_aff *of = l->syms.data[sym].of;
    int found = -1;
    for (int i = 0; i < of->n; i++) {
        const at_sym *part = &l->syms.data[of->t[i].sym];
        if (!(part->deps & inside)) return -1;
        if (part->kind == AT_SYM_LOOP) continue;
        if (found >= 0 || part->kind != AT_SYM_LOAD) return -1;
        found = at_aff_entry(l, of->t[i].sym, inside);
        if (found < 0) return -1;
    }
    return found;
}

bool at_aff_indexed(const at_low *l, const at_aff *x, at_mask inside) {
    for (int i = 0; i < x->n; i++) {
        const int of = x->t[i].sym;
        const at_sym *s = &l->syms.data[of];
        if (s->kind == AT_SYM_LOOP || !(s->deps & inside)) continue;
        if (s->kind == AT_SYM_DIV && !(at_aff_opaque_deps(l, s->of) & inside)) continue;
        if ((s->kind == AT_SYM_DIV ? at_aff_digit_entry : at_aff_entry)(l, of, inside) < 0)
            return false;
    }
    return true;
}

int at_aff_digit(const at_low *l, const at_aff *x, int sym) {
    int found = -1;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (x->t[i].sym == sym || !(s->deps & AT_BIT(sym))) continue;
        if (found >= 0 || s->kind != AT_SYM_DIV || s->of->n != 1 || s->of->t[0].sym != sym ||
            s->of->t[0].k != 1)
            return -1;
        found = x->t[i].sym;
    }
    return found;
}

const at_aff *at_aff_part(at_low *l, const at_aff *x, at_mask inside, const at_aff **rest) {
    at_aff *in = at_aff_alloc(l, x->n), *out = at_aff_alloc(l, x->n);
    out->c = x->c;
    for (int i = 0; i < x->n; i++) {
        at_aff *to = (l->syms.data[x->t[i].sym].deps & inside) ? in : out;
        to->t[to->n++] = x->t[i];
    }
    if (rest) *rest = out;
    return in;
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
