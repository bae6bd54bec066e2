/* codegen/wrapped_index.c: an index that wraps around (`x[(i + 1) % N]`), or that a minimum or
 * maximum bounds (`x[min(i + 1, N - 1)]`), as a condition.
 *
 * Along a vector the elements are neighbours but for where the index bends. Where the quotient in
 * an address has two or three values over the loops around it, the load becomes a choice between
 * loads with one of them each; where a bound decides, a choice between its two operands. Partition
 * cuts those loops as it does for padding. A quotient or bound that neither a vector nor another
 * loop of a tile changes stays: it costs next to nothing. */
#include "codegen/codegen_int.h"

#define MOST_BENDS 6  /* of one load: each makes so many more of it */
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

/* A minimum or maximum in x, within others too, which one of these loops changes, of operands that
 * are affine in them; -1: there is none. What index tensors say decides for each lane by itself. */
static int find_bound(const at_low *l, const at_aff *x, at_mask lanes) {
    for (int i = 0; i < x->n; i++) {
        const int sym = x->t[i].sym;
        const at_sym *s = &l->syms.data[sym];
        if (s->kind == AT_SYM_LOOP || s->kind == AT_SYM_LOAD || !(s->deps & lanes)) continue;
        const int of = find_bound(l, s->of, lanes),
                  inner = of < 0 && s->of2 ? find_bound(l, s->of2, lanes) : of;
        if (inner >= 0) return inner;
        if (s->kind != AT_SYM_MIN && s->kind != AT_SYM_MAX) continue;
        if (at_aff_reads(l, s->of) || at_aff_reads(l, s->of2)) continue;
        if (!((at_aff_opaque_deps(l, s->of) | at_aff_opaque_deps(l, s->of2)) & lanes)) return sym;
    }
    return -1;
}

static const at_value *bent_load(at_low *l, const at_value *v, at_mask lanes, int most);

/* v where that symbol is x. */
static const at_value *load_with(at_low *l, const at_value *v, int sym, const at_aff *x,
                                 at_mask lanes, int most) {
    at_value *load = at_copy(l->arena, v, sizeof *v);
    load->at = at_aff_subst(l, v->at, sym, x);
    return bent_load(l, load, lanes, most - 1);
}

static const at_value *choose(at_low *l, const at_aff *atom, const at_value *a, const at_value *b) {
    const at_cond holds = {.op = AT_C_ATOM, .atom = atom};
    return at_value_new(
        l, (at_value){
               .op = AT_V_SELECT, .cond = at_copy(l->arena, &holds, sizeof holds), .a = a, .b = b});
}

static const at_value *bent_load(at_low *l, const at_value *v, at_mask lanes, int most) {
    wrap w;
    if (!most) return v;
    const int bound = find_bound(l, v->at, lanes);
    if (bound >= 0) {
        const at_sym s = l->syms.data[bound];
        /* Where both are equal it is the one that moves: less is cut off. */
        const bool moves = (at_aff_deps(l, s.of) & lanes) != 0;
        const at_aff *x = moves ? s.of : s.of2, *y = moves ? s.of2 : s.of;
        return choose(l, s.kind == AT_SYM_MIN ? at_aff_sub(l, y, x) : at_aff_sub(l, x, y),
                      load_with(l, v, bound, x, lanes, most),
                      load_with(l, v, bound, y, lanes, most));
    }
    if (!find_wrap(l, v->at, lanes, &w)) return v;
    const at_value *chosen = load_with(l, v, w.sym, at_aff_shift(l, w.more, w.first), lanes, most);
    for (int64_t value = w.first + 1; value <= w.last; value++)
        chosen =
            choose(l, at_aff_shift(l, w.of, -value * w.by),
                   load_with(l, v, w.sym, at_aff_shift(l, w.more, value), lanes, most), chosen);
    return chosen;
}

static const at_value *bent_value(at_low *l, const at_value *v, at_mask lanes) {
    if (v->op == AT_V_LOAD) return bent_load(l, v, lanes, MOST_BENDS);
    const at_value *a = v->a ? bent_value(l, v->a, lanes) : NULL;
    const at_value *b = v->b ? bent_value(l, v->b, lanes) : NULL;
    return at_value_of(l, v, a, b);
}

/* May a tile be made of such a loop? One that is written out, a vector, a loop of a sum or of a
 * copy. */
static bool is_of_tile(const at_ir *loop) {
    return at_loop_is_unrolled(loop) || loop->loop.is_reduce ||
           (loop->loop.ann == AT_ANN_NONE && loop->child && loop->child->kind == AT_IR_STMT);
}

void at_bends_to_conditions(at_low *l, at_ir *list, at_mask lanes) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            if (lanes) n->stmt.val = bent_value(l, n->stmt.val, lanes);
            continue;
        }
        at_sym old = at_range_enter(l, n);
        at_bends_to_conditions(l, n->child, is_of_tile(n) ? lanes | AT_BIT(n->loop.sym) : lanes);
        at_range_leave(l, n, old);
    }
}
