/* schedule/coverage.c: region inference. Is what a reader reads computed at that time?
 *
 * Inside the loops that producer and reader share, the producer's own loops compute, per axis, the
 * set fixed + { sum of weight * counter }, where fixed belongs to the shared loops. The reader's
 * index is brought to the same form. It is covered when the shared parts agree and the rest lies
 * within the set; an axis that no shared loop cuts is computed whole. Each loop counts for one axis
 * only (rule 2), so the axes are independent. Whatever cannot be shown is refused. */
#include "schedule/verify_int.h"

enum { NO_LOOP = 1 << 20 };
#define FAR ((int64_t)1 << 61)

/* ---- arithmetic that stays finite ---------------------------------------------------------- */

static int64_t clamp(__int128 x) { return x > FAR ? FAR : x < -FAR ? -FAR : (int64_t)x; }
static int64_t add(int64_t x, int64_t y) { return clamp((__int128)x + y); }
static int64_t mul(int64_t x, int64_t y) { return clamp((__int128)x * y); }

static void clear(form *f) {
    f->n = 0;
    f->constant = f->lo = f->hi = 0;
    f->loose_depth = NO_LOOP;
}

static void loosen(form *f, int64_t lo, int64_t hi, int depth) {
    f->lo = add(f->lo, lo);
    f->hi = add(f->hi, hi);
    if (depth < f->loose_depth) f->loose_depth = depth;
}

static int64_t term_reach(const term *t) { return mul(t->weight, t->extent - 1); }

static void interval(const form *f, int64_t *lo, int64_t *hi) {
    *lo = add(f->constant, f->lo);
    *hi = add(f->constant, f->hi);
    for (int i = 0; i < f->n; i++) {
        int64_t reach = term_reach(&f->t[i]);
        if (reach < 0) *lo = add(*lo, reach);
        else *hi = add(*hi, reach);
    }
}

static int shallowest(const form *f) {
    int depth = f->loose_depth;
    for (int i = 0; i < f->n; i++)
        if (f->t[i].loop->depth < depth) depth = f->t[i].loop->depth;
    return depth;
}

static void add_term(form *f, term t) {
    for (int i = 0; i < f->n; i++)
        if (f->t[i].loop == t.loop && f->t[i].member == t.member) {
            f->t[i].weight = add(f->t[i].weight, t.weight);
            if (!f->t[i].weight) f->t[i] = f->t[--f->n];
            return;
        }
    if (f->n < MAX_TERMS) {
        f->t[f->n++] = t;
        return;
    }
    int64_t reach = term_reach(&t);
    loosen(f, reach < 0 ? reach : 0, reach < 0 ? 0 : reach, t.loop->depth);
}

static void add_scaled(form *f, const form *g, int64_t scale) {
    if (!scale) return;
    f->constant = add(f->constant, mul(g->constant, scale));
    if (g->loose_depth < NO_LOOP) {
        int64_t x = mul(g->lo, scale), y = mul(g->hi, scale);
        loosen(f, x < y ? x : y, x < y ? y : x, g->loose_depth);
    }
    for (int i = 0; i < g->n; i++) {
        term t = g->t[i];
        t.weight = mul(t.weight, scale);
        add_term(f, t);
    }
}

static void set_constant(form *f, int64_t x) {
    clear(f);
    f->constant = x;
}

/* ---- forms --------------------------------------------------------------------------------- */

static void axis_form(const at_digits *d, form *f) {
    int64_t weight = 1;
    clear(f);
    for (int i = d->n - 1; i >= 0; i--) {
        if (d->extent[i] < 0) loosen(f, -FAR, FAR, d->loop[i]->depth);
        else if (d->extent[i] > 1)
            add_term(f, (term){d->loop[i], d->member[i], weight, d->extent[i]});
        weight = mul(weight, d->extent[i]);
    }
}

void leaf_forms(const at_node *leaf, form *axes) {
    for (int i = 0; i < leaf->num_axes; i++) axis_form(&leaf->axes[i], &axes[i]);
}

static bool is_constant(const form *f) { return !f->n && f->loose_depth == NO_LOOP; }

/* Quotient or remainder by c. Terms that c divides go out whole; the others decide whether the rest
 * stays within one multiple of c, which is what digits do. */
static void divide(const form *f, int64_t c, bool remainder, form *out) {
    form rest, whole;
    clear(&rest);
    clear(&whole);
    for (int i = 0; i < f->n; i++) {
        term t = f->t[i];
        if (t.weight % c) add_term(&rest, t);
        else {
            t.weight /= c;
            add_term(&whole, t);
        }
    }
    whole.constant = at_floordiv(f->constant, c);
    rest.constant = at_floormod(f->constant, c);
    if (f->loose_depth < NO_LOOP) loosen(&rest, f->lo, f->hi, f->loose_depth);
    int64_t lo, hi;
    interval(&rest, &lo, &hi);
    int64_t first = at_floordiv(lo, c), last = at_floordiv(hi, c);
    if (first == last) {
        *out = remainder ? rest : whole;
        out->constant = add(out->constant, remainder ? -mul(first, c) : first);
    } else if (remainder) {
        clear(out);
        loosen(out, 0, c - 1, shallowest(&rest));
    } else {
        *out = whole;
        loosen(out, first, last, shallowest(&rest));
    }
}

static void product(const form *x, const form *y, form *out) {
    const form *k = is_constant(x) ? x : y, *f = is_constant(x) ? y : x;
    clear(out);
    if (is_constant(k)) {
        add_scaled(out, f, k->constant);
        return;
    }
    int64_t xl, xh, yl, yh;
    interval(x, &xl, &xh);
    interval(y, &yl, &yh);
    int64_t corner[4] = {mul(xl, yl), mul(xl, yh), mul(xh, yl), mul(xh, yh)};
    int64_t lo = corner[0], hi = corner[0];
    for (int i = 1; i < 4; i++) {
        if (corner[i] < lo) lo = corner[i];
        if (corner[i] > hi) hi = corner[i];
    }
    int dx = shallowest(x), dy = shallowest(y);
    loosen(out, lo, hi, dx < dy ? dx : dy);
}

/* Either of two, whatever decides between them. */
static void either(const form *x, const form *y, int decided_at, form *out) {
    int64_t xl, xh, yl, yh;
    interval(x, &xl, &xh);
    interval(y, &yl, &yh);
    int depth = shallowest(x) < shallowest(y) ? shallowest(x) : shallowest(y);
    clear(out);
    loosen(out, xl < yl ? xl : yl, xh > yh ? xh : yh, depth < decided_at ? depth : decided_at);
}

void form_of(const at_program *p, const at_expr *e, const form *axes, form *out) {
    form x, y;
    switch (e->op) {
    case AT_X_INT: set_constant(out, e->integer); return;
    case AT_X_NAME:
        if (e->ref < AT_REF_SIZE) *out = axes[e->ref];
        else set_constant(out, p->values[e->ref - AT_REF_SIZE]);
        return;
    case AT_X_NEG:
        form_of(p, e->arg[0], axes, &x);
        clear(out);
        add_scaled(out, &x, -1);
        return;
    case AT_X_ADD:
    case AT_X_SUB:
        form_of(p, e->arg[0], axes, out);
        form_of(p, e->arg[1], axes, &y);
        add_scaled(out, &y, e->op == AT_X_ADD ? 1 : -1);
        return;
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MOD:
    case AT_X_MIN:
    case AT_X_MAX:
        form_of(p, e->arg[0], axes, &x);
        form_of(p, e->arg[1], axes, &y);
        if (e->op == AT_X_MUL) product(&x, &y, out);
        else if (e->op == AT_X_MIN || e->op == AT_X_MAX) either(&x, &y, NO_LOOP, out);
        else if (is_constant(&y) && y.constant > 0) divide(&x, y.constant, e->op == AT_X_MOD, out);
        else clear(out), loosen(out, -FAR, FAR, 0);
        return;
    case AT_X_SELECT:
        form_of(p, e->arg[1], axes, &x);
        form_of(p, e->arg[2], axes, &y);
        either(&x, &y, 0, out);
        return;
    default: /* read from memory */ clear(out); loosen(out, -FAR, FAR, 0);
    }
}

/* ---- containment --------------------------------------------------------------------------- */

/* What the loops below the shared ones contribute to an axis: digits, inner first, adjacent ones
 * merged. */
typedef struct digit {
    int64_t weight, extent;
} digit;

static int own_digits(const at_digits *d, int common, digit *out) {
    int n = 0;
    int64_t weight = 1;
    for (int i = d->n - 1; i >= 0; i--) {
        int64_t e = d->extent[i];
        if (d->loop[i]->depth >= common && e > 1) {
            if (n && out[n - 1].weight * out[n - 1].extent == weight)
                out[n - 1].extent = mul(out[n - 1].extent, e);
            else out[n++] = (digit){weight, e};
        }
        weight = mul(weight, e);
    }
    return n;
}

static bool is_cut(const at_digits *d, int common) {
    for (int i = 0; i < d->n; i++)
        if (d->loop[i]->depth < common && d->extent[i] > 1) return true;
    return false;
}

/* Do the shared loops move producer and reader alike along this axis? */
static bool shared_agree(const at_digits *d, const form *f, int common) {
    int64_t weight = 1;
    int matched = 0;
    for (int i = d->n - 1; i >= 0; i--) {
        if (d->loop[i]->depth < common && d->extent[i] > 1) {
            bool same = false;
            for (int k = 0; k < f->n; k++)
                same |= f->t[k].loop == d->loop[i] && f->t[k].member == d->member[i] &&
                        f->t[k].weight == weight;
            if (!same) return false;
            matched++;
        }
        weight = mul(weight, d->extent[i]);
    }
    for (int k = 0; k < f->n; k++) matched -= f->t[k].loop->depth < common;
    return !matched;
}

/* All of 0 .. reach, without a hole? */
static bool is_interval(const digit *own, int n, int64_t *reach) {
    *reach = 0;
    for (int i = 0; i < n; i++) {
        if (own[i].weight > *reach + 1) return false;
        *reach = add(*reach, mul(own[i].weight, own[i].extent - 1));
    }
    return true;
}

static bool contained(const digit *own, int n, const form *f) {
    int64_t lo, hi, reach;
    if (is_interval(own, n, &reach)) {
        interval(f, &lo, &hi);
        return lo >= 0 && hi <= reach;
    }
    /* A set with holes: each counter of the reader must fit one digit. */
    int64_t used[MAX_PIECES] = {0};
    if (f->loose_depth < NO_LOOP || f->constant) return false;
    for (int k = 0; k < f->n; k++) {
        int i = n - 1;
        while (i >= 0 && own[i].weight > f->t[k].weight) i--;
        if (i < 0 || f->t[k].weight % own[i].weight) return false;
        used[i] = add(used[i], term_reach(&f->t[k]) / own[i].weight);
        if (used[i] > own[i].extent - 1) return false;
    }
    return true;
}

static bool covers(const at_digits *d, int common, const form *index) {
    if (index->loose_depth < common || !shared_agree(d, index, common)) return false;
    form f = *index;
    f.n = 0;
    for (int k = 0; k < index->n; k++)
        if (index->t[k].loop->depth >= common) f.t[f.n++] = index->t[k];
    digit own[MAX_PIECES];
    return contained(own, own_digits(d, common, own), &f);
}

int uncovered_axis(const at_program *p, const at_node *producer, int common, const at_expr *read,
                   const form *axes, int but) {
    for (int i = 0; i < read->nargs; i++) {
        if (i == but || !is_cut(&producer->axes[i], common)) continue;
        form index;
        form_of(p, read->arg[i], axes, &index);
        if (!covers(&producer->axes[i], common, &index)) return i;
    }
    return -1;
}

int uninitialised_axis(const at_node *init, const at_node *sum, int common) {
    for (int i = 0; i < init->num_axes; i++) {
        form index;
        axis_form(&sum->axes[i], &index);
        if (!covers(&init->axes[i], common, &index)) return i;
    }
    return -1;
}
