/* codegen/wraps.c: an index that wraps around (`x[(i + 1) % N]`) as a condition.
 *
 * Along a vector the elements are neighbours but for where the index wraps. Where the quotient in
 * an address has two or three values over the loops around it, the load becomes a choice between
 * loads with one of them each, and partition cuts that loop as it does for padding. A quotient that
 * neither a vector nor a row of a tile changes stays: it costs next to nothing. */
#include "codegen/codegen_int.h"

#define MOST_WRAPS 3  /* quotients of one load: each makes so many more of it */
#define MOST_VALUES 3 /* of a quotient: a window may wrap at both ends */

/* floor(of / by) + more: a quotient of an address, which takes the values first to last, and a part
 * of it that no lane changes. */
typedef struct {
    int sym;
    int64_t by, first, last;
    const at_aff *of, *more;
} wrap;

/* A digit of a loop that stands for several leaves whole periods in the quotient's operand, and the
 * digits above it in the address: they go to where they are known. */
static wrap wrap_of(at_low *l, const at_aff *x, int sym, at_mask lanes) {
    const at_sym s = l->syms.data[sym];
    wrap w = {.sym = sym, .by = s.by, .of = s.of, .more = at_aff_const(l, 0)};
    for (int i = 0; i < x->n; i++) {
        const at_sym d = l->syms.data[x->t[i].sym];
        if (d.kind != AT_SYM_DIV || d.deps & lanes || d.of->n != 1 || d.of->t[0].k != 1) continue;
        const int64_t whole = at_aff_coef(s.of, d.of->t[0].sym) * d.by;
        if (whole % s.by) continue;
        const at_aff *above = at_aff_sym(l, x->t[i].sym);
        w.of = at_aff_add_times(l, w.of, above, -whole);
        w.more = at_aff_add_times(l, w.more, above, whole / s.by);
    }
    int64_t lo, hi;
    at_aff_range(l, w.of, &lo, &hi);
    w.first = at_floordiv(lo, s.by);
    w.last = at_floormod(lo, s.by) ? at_floordiv(hi, s.by) : w.first;
    return w;
}

/* The quotient in x that changes a few times, one of these loops in it, and is no digit: that
 * changes where its operand has gone through all of a period, and is for loops of its own. */
static bool find_wrap(at_low *l, const at_aff *x, at_mask lanes, wrap *found) {
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        if (s.kind != AT_SYM_DIV || !(s.deps & lanes) || (at_aff_opaque_deps(l, s.of) & lanes))
            continue;
        *found = wrap_of(l, x, x->t[i].sym, lanes);
        if (found->first < found->last && found->last - found->first < MOST_VALUES) return true;
    }
    return false;
}

static const at_value *wrap_load(at_low *l, const at_value *v, at_mask lanes, int most);

/* v where that quotient has this value. */
static const at_value *load_with(at_low *l, const at_value *v, const wrap *w, int64_t value,
                                 at_mask lanes, int most) {
    at_value *load = at_copy(l->arena, v, sizeof *v);
    load->at = at_aff_subst(l, v->at, w->sym, at_aff_shift(l, w->more, value));
    return wrap_load(l, load, lanes, most - 1);
}

static const at_value *wrap_load(at_low *l, const at_value *v, at_mask lanes, int most) {
    wrap w;
    if (!most || !find_wrap(l, v->at, lanes, &w)) return v;
    const at_value *chosen = load_with(l, v, &w, w.first, lanes, most);
    for (int64_t value = w.first + 1; value <= w.last; value++) {
        const at_cond reached = {.op = AT_C_ATOM, .atom = at_aff_shift(l, w.of, -value * w.by)};
        const at_value choice = {.op = AT_V_SELECT,
                                 .cond = at_copy(l->arena, &reached, sizeof reached),
                                 .a = load_with(l, v, &w, value, lanes, most),
                                 .b = chosen};
        chosen = at_copy(l->arena, &choice, sizeof choice);
    }
    return chosen;
}

static const at_value *wrap_value(at_low *l, const at_value *v, at_mask lanes) {
    if (v->op == AT_V_LOAD) return wrap_load(l, v, lanes, MOST_WRAPS);
    const at_value *a = v->a ? wrap_value(l, v->a, lanes) : NULL;
    const at_value *b = v->b ? wrap_value(l, v->b, lanes) : NULL;
    if (a == v->a && b == v->b) return v;
    at_value *n = at_copy(l->arena, v, sizeof *v);
    n->a = a;
    n->b = b;
    return n;
}

void at_wraps_to_conditions(at_low *l, at_ir *list, at_mask lanes) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            if (lanes) n->stmt.val = wrap_value(l, n->stmt.val, lanes);
            continue;
        }
        at_sym old = at_range_enter(l, n);
        const at_mask self = at_loop_is_unrolled(n) ? AT_BIT(n->loop.sym) : 0;
        at_wraps_to_conditions(l, n->child, lanes | self);
        at_range_leave(l, n, old);
    }
}
