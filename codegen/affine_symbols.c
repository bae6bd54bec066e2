/* codegen/affine_symbols.c: loop variables and opaque symbols: how they are made, and replaced.
 *
 * Floor division is simplified where ranges allow (digits of an aligned tiling come out affine);
 * what remains is one shared symbol per (operand, divisor). A remainder is always x - c*floor(x/c),
 * so that digits which are put together again (n*H*W + h*W + w) cancel back to the number they came
 * from. */
#include "codegen/codegen_int.h"

#include <string.h>

at_low_mark at_low_mark_now(const at_low *l) {
    return (at_low_mark){at_arena_mark(l->arena),
                         l->tiles.len,
                         l->tiles.cap,
                         l->num_loops,
                         l->syms.len,
                         l->parts.len};
}

void at_low_go_back(at_low *l, const at_low_mark *to) {
    const bool is_all = l->tiles.cap == to->tiles_room && l->num_loops == to->loops &&
                        l->syms.len == to->symbols && l->parts.len == to->parts;
    l->tiles.len = to->tiles;
    if (is_all) at_arena_rewind(l->arena, to->memory);
}

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

int at_sym_parts(at_low *l, int of, int64_t size, int64_t trips, const char *name) {
    for (int i = 0; i < l->parts.len; i++) {
        const at_sym_part *p = &l->parts.data[i];
        if (p->of == of && p->size == size && p->trips == trips && !strcmp(p->name, name))
            return p->sym;
    }
    int sym = at_sym_loop(l, name, trips);
    *at_push(l->arena, &l->parts) = (at_sym_part){of, sym, size, trips, name};
    return sym;
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

/* Products of two symbols are symbols: m*(n + 1) is m*n + m. Of forms with many terms the whole is
 * one: terms of terms of terms would be too many. */
const at_aff *at_aff_mul(at_low *l, const at_aff *x, const at_aff *y) {
    enum { MOST_TERMS = 16 };
    if (!y->n) return at_aff_scale(l, x, y->c);
    if (x->n * y->n > MOST_TERMS) return opaque(l, AT_SYM_MUL, x, y, 0, 0);
    const at_aff *z = at_aff_scale(l, y, x->c);
    for (int i = 0; i < x->n; i++) {
        const at_aff *of = at_aff_sym(l, x->t[i].sym);
        z = at_aff_add_times(l, z, at_aff_scale(l, of, y->c), x->t[i].k);
        for (int j = 0; j < y->n; j++) {
            const at_aff *by = at_aff_sym(l, y->t[j].sym);
            const bool in_order = x->t[i].sym <= y->t[j].sym;
            const at_aff *both =
                opaque(l, AT_SYM_MUL, in_order ? of : by, in_order ? by : of, 0, 0);
            z = at_aff_add_times(l, z, at_aff_scale(l, both, y->t[j].k), x->t[i].k);
        }
    }
    return z;
}

/* Splits x into g*(*quotient) + rest, rest made of what g does not divide and a constant in [0, g).
 */
static const at_aff *extract(at_low *l, const at_aff *x, int64_t g, const at_aff **quotient) {
    at_aff *q = at_aff_alloc(l, x->n), *r = at_aff_alloc(l, x->n);
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
        int64_t g = at_gcd(by, r->t[i].k);
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

const at_aff *at_aff_remade(at_low *l, const at_sym *s, const at_aff *of, const at_aff *of2) {
    switch (s->kind) {
    case AT_SYM_DIV: return at_aff_div(l, of, s->by);
    case AT_SYM_LOAD: return at_aff_load(l, s->tensor, of);
    case AT_SYM_MIN: return at_aff_min(l, of, of2);
    case AT_SYM_MUL: return at_aff_mul(l, of, of2);
    default: return at_aff_max(l, of, of2);
    }
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
            v = at_aff_remade(l, &s, of, of2);
        }
        z = at_aff_add_times(l, z, v, x->t[i].k);
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
        int64_t lo, hi, last = s.kind == AT_SYM_LOAD ? buffers[s.tensor].elements - 1 : -1;
        if (last >= 0 && !buffers[s.tensor].has_all && !is_unbounded(l, of)) {
            at_aff_range(l, of, &lo, &hi);
            if (hi > last) of = at_aff_min(l, of, at_aff_const(l, last));
            if (lo < 0) of = at_aff_max(l, of, at_aff_const(l, 0));
        }
        const at_aff *v = at_aff_sym(l, x->t[i].sym);
        if (s.kind != AT_SYM_LOOP) v = at_aff_remade(l, &s, of, of2);
        z = at_aff_add_times(l, z, v, x->t[i].k);
    }
    return z;
}

/* The terms of x that read an index tensor, and the others. */
static const at_aff *split_reads(at_low *l, const at_aff *x, const at_aff **others) {
    at_aff *reads = at_aff_alloc(l, x->n), *rest = at_aff_alloc(l, x->n);
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
