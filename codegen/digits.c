/* codegen/digits.c: loops are cut at the digits that are asked of them, so that indices and
 * conditions become affine.
 *
 * A loop whose own digits are wanted (k9 as kh, kw) becomes a loop per digit. Where it is the
 * registers of a sum, those loops that stand for the same registers are cut alike. A copy over
 * numbers whose digits are not aligned to its loops runs digit by digit.
 * Needs:   indices per dimension.
 * Ensures: what opaque divisions remain belong to sums, parallel loops and vectors. */
#include "codegen/codegen_int.h"

/* The divisor at which a loop's digits are asked for within it, 0 if none: another nest's loop may
 * have the same symbol. */
static int64_t wanted_split(const at_low *l, const at_ir *loop) {
    int64_t extent = at_loop_trips(loop);
    if (loop->loop.ann == AT_ANN_PARA || loop->loop.hi_aff) return 0;
    for (int i = AT_MAX_LOOPS; i < l->syms.len; i++) {
        const at_sym *s = &l->syms.data[i];
        if (s->kind == AT_SYM_DIV && s->of->n == 1 && s->of->c == 0 &&
            s->of->t[0].sym == loop->loop.sym && s->of->t[0].k == 1 && s->by < extent &&
            extent % s->by == 0 && at_ir_mentions(l, loop->child, i))
            return s->by;
    }
    return 0;
}

/* From lane to lane of what is loaded. */
static int64_t most_step(const at_low *l) {
    return l->target->most_step > 1 ? l->target->most_step : 1;
}

bool at_lanes_spread(const at_low *l, int64_t k, int64_t of_digit, int digit) {
    int64_t by = l->syms.data[digit].by;
    const int64_t most = most_step(l);
    return (k ? k == 1 && of_digit == -by : of_digit >= 1 && of_digit <= most) &&
           at_target_spreads(l->target, by);
}

/* Do these indices leave a loop a vector? Where they lead to is affine in it, or has a quotient of
 * it besides: a lane then holds what its neighbours hold, or lanes go round. held: elements that a
 * lane takes. */
static bool indices_are_spread(const at_low *l, const at_aff *const *ix, int tensor, int sym,
                               int64_t held) {
    const int64_t *extents = l->tensors[tensor].extents;
    const int64_t row = l->tensors[tensor].row;
    int64_t k = 0, of_digit = 0, stride = 1;
    int digit = -1, last = l->tensors[tensor].num_axes - 1;
    bool moves_above = false;
    for (int i = last; ix && i >= 0; stride *= i == last && row ? row : extents[i], i--) {
        int d = at_aff_digit(l, ix[i], sym);
        if (d < 0 ? (at_aff_opaque_deps(l, ix[i]) & AT_BIT(sym)) != 0 : digit >= 0 && d != digit)
            return false;
        k += stride * at_aff_coef(ix[i], sym);
        moves_above |= i < last && at_aff_coef(ix[i], sym);
        if (d < 0) continue;
        digit = d;
        of_digit += stride * at_aff_coef(ix[i], d);
    }
    if (digit < 0) return !moves_above;
    if (k == held && of_digit % held == 0) k /= held, of_digit /= held;
    if (of_digit) return at_lanes_spread(l, k, of_digit, digit);
    return k >= 1 && k <= most_step(l);
}

/* floor(x/by) <= y where x <= by*y + by - 1, and >= y where x >= by*y: an atom that has a loop in
 * one such quotient only says the same of the loop. Others stay as they are. */
static const at_aff *straightened(at_low *l, const at_aff *atom, const void *loop) {
    const int sym = *(const int *)loop;
    const int digit = at_aff_digit(l, atom, sym);
    const int64_t k = digit < 0 ? 0 : at_aff_coef(atom, digit);
    if ((k != 1 && k != -1) || at_aff_coef(atom, sym)) return atom;
    const at_sym s = l->syms.data[digit];
    const at_aff *rest = at_aff_add_times(l, atom, at_aff_sym(l, digit), -k),
                 *times = at_aff_add_times(l, at_aff_scale(l, rest, s.by), s.of, k);
    return k > 0 ? times : at_aff_shift(l, times, s.by - 1);
}

/* Are all its atoms affine in the loop, once straightened? What is known goes away later. */
static bool cond_is_straight(at_low *l, const at_cond *c, int sym) {
    if (!c || at_cond_decide(l, c, NULL) == AT_C_TRUE) return true;
    if (c->atom && at_aff_opaque_deps(l, straightened(l, c->atom, &sym)) & AT_BIT(sym))
        return false;
    return cond_is_straight(l, c->a, sym) && cond_is_straight(l, c->b, sym);
}

static bool value_is_spread(at_low *l, const at_value *v, int sym, bool is_dot) {
    if (!v) return true;
    const int64_t held =
        is_dot && v->op == AT_V_LOAD ? at_type_per_lane(l->tensors[v->tensor].type) : 1;
    if (v->at && (at_aff_deps(l, v->at) & AT_BIT(sym))) return false;
    if (!cond_is_straight(l, v->cond, sym)) return false;
    return indices_are_spread(l, v->ix, v->tensor, sym, held) &&
           value_is_spread(l, v->a, sym, is_dot) && value_is_spread(l, v->b, sym, is_dot);
}

/* A vector whose lanes are asked for one quotient only stays whole: what is read by that is loaded
 * and spread over the lanes. */
static bool list_is_spread(at_low *l, const at_ir *n, int sym, bool is_dot) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_LOOP
                ? !list_is_spread(l, n->child, sym, n->loop.ann == AT_ANN_DOT)
                : n->kind != AT_IR_STMT || !cond_is_straight(l, n->stmt.guard, sym) ||
                      !indices_are_spread(l, n->stmt.ix, n->stmt.tensor, sym, 1) ||
                      !value_is_spread(l, n->stmt.val, sym, is_dot))
            return false;
    }
    return true;
}

static bool stays_whole(at_low *l, const at_ir *n) {
    return n->loop.ann == AT_ANN_VEC && list_is_spread(l, n->child, n->loop.sym, false);
}

/* A piece whose loops are registers of a sum, cut into two of their own. */
typedef struct cut_piece {
    int piece, outer, inner;
    int64_t extent, by;
} cut_piece;
typedef AT_VEC(cut_piece) cut_pieces;
enum { FIRST_PIECE = 1 << 16 }; /* of digits: behind those of any tree */

static void split_loop(at_low *l, at_ir *n, int64_t by, int outer_piece, int inner_piece) {
    const char *name = l->syms.data[n->loop.sym].name;
    at_ir *inner = at_ir_new(l, AT_IR_LOOP);
    inner->line = n->line;
    inner->loop.ann = n->loop.ann;
    inner->loop.is_reduce = n->loop.is_reduce;
    inner->loop.is_step = n->loop.is_step;
    inner->loop.sym = at_sym_loop(l, at_format(l->arena, "%s_0", name), by);
    inner->loop.hi = by;
    inner->loop.piece = inner_piece;
    inner->child = n->child;
    if (n->loop.ann == AT_ANN_VEC) n->loop.ann = AT_ANN_UNROLL;
    int outer = at_sym_loop(l, at_format(l->arena, "%s_1", name), n->loop.hi / by);
    if (l->err->status != AT_OK) return;
    at_ir_subst(
        l, inner, n->loop.sym,
        at_aff_add(l, at_aff_scale(l, at_aff_sym(l, outer), by), at_aff_sym(l, inner->loop.sym)));
    n->loop.sym = outer;
    n->loop.hi /= by;
    n->loop.piece = outer_piece;
    n->child = inner;
}

static bool is_registers(const at_ir *n) {
    return n->loop.piece >= 0 && n->loop.ann == AT_ANN_UNROLL && at_loop_is_fixed(n) &&
           n->loop.lo == 0 && !n->loop.is_reduce;
}

static void split_digits(at_low *l, at_ir *n, cut_pieces *cuts) {
    for (; n && l->err->status == AT_OK; n = n->next) {
        int64_t by;
        while (n->kind == AT_IR_LOOP && (by = wanted_split(l, n)) != 0) {
            if (stays_whole(l, n)) {
                at_ir_change_atoms(l, n->child, straightened, &n->loop.sym);
                break;
            }
            int outer = -1, inner = -1;
            if (is_registers(n) && at_ir_has_sum(n->child)) {
                inner = (outer = FIRST_PIECE + 2 * cuts->len) + 1;
                *at_push(l->arena, cuts) = (cut_piece){n->loop.piece, outer, inner, n->loop.hi, by};
            }
            split_loop(l, n, by, outer, inner);
        }
        split_digits(l, n->child, cuts);
    }
}

/* What a tile's sum has in digits, its beginning and its end have, too: only pieces that all of
 * them have can be cut into as many as there are registers. */
static void split_alike(at_low *l, at_ir *n, const cut_pieces *cuts) {
    for (; n && l->err->status == AT_OK; n = n->next) {
        for (int i = 0; n->kind == AT_IR_LOOP && i < cuts->len; i++) {
            const cut_piece *c = &cuts->data[i];
            if (is_registers(n) && n->loop.piece == c->piece && n->loop.hi == c->extent)
                split_loop(l, n, c->by, c->outer, c->inner);
        }
        split_alike(l, n->child, cuts);
    }
}

/* A digit floor((v + e) / c) of a loop, e known outside it: its symbol, or -1. */
static int wanted_strip(const at_low *l, const at_ir *loop, at_mask outside) {
    for (int i = AT_MAX_LOOPS; i < l->syms.len; i++) {
        const at_sym *s = &l->syms.data[i];
        if (s->kind == AT_SYM_DIV && at_aff_coef(s->of, loop->loop.sym) == 1 &&
            !(at_aff_opaque_deps(l, s->of) & AT_BIT(loop->loop.sym)) &&
            !(s->deps & ~outside & ~AT_BIT(loop->loop.sym)) && at_ir_mentions(l, loop->child, i))
            return i;
    }
    return -1;
}

static void set_bounds(at_low *l, at_ir *n, const at_aff *lo, const at_aff *hi) {
    int64_t ignored;
    at_aff_range(l, lo, &n->loop.lo, &ignored);
    at_aff_range(l, hi, &ignored, &n->loop.hi);
    n->loop.lo_aff = lo->n ? lo : NULL;
    n->loop.hi_aff = hi->n ? hi : NULL;
}

/* A copy over numbers whose digits are not aligned to its loops (rows y of several image lines h,
 * columns w) runs digit by digit instead: for each value q of the digit, the part of the loop in
 * which it has that value. No division is left in the loop, and what depends on the digits is
 * affine. */
static void strip_digits(at_low *l, at_ir *n, at_mask outside) {
    while (n && l->err->status == AT_OK) {
        bool open = n->kind == AT_IR_LOOP && n->loop.ann == AT_ANN_NONE && !at_ir_has_sum(n->child);
        int digit = open ? wanted_strip(l, n, outside) : -1;
        if (digit < 0) {
            if (n->kind == AT_IR_LOOP) strip_digits(l, n->child, outside | AT_BIT(n->loop.sym));
            n = n->next;
            continue;
        }
        const at_sym s = l->syms.data[digit];
        const at_aff *e = at_aff_sub(l, s.of, at_aff_sym(l, n->loop.sym));
        const at_aff *lo = at_ir_lo(l, n);
        const at_aff *hi = at_ir_hi(l, n);
        int64_t first, last;
        at_aff_range(l, at_aff_sym(l, digit), &first, &last);
        at_ir *inner = at_copy(l->arena, n, sizeof *n);
        inner->next = NULL;
        int q =
            at_sym_loop(l, at_format(l->arena, "%s_q", l->syms.data[n->loop.sym].name), last + 1);
        l->syms.data[q].lo = first;
        set_bounds(
            l, n, at_aff_div(l, at_aff_add(l, lo, e), s.by),
            at_aff_shift(l, at_aff_div(l, at_aff_shift(l, at_aff_add(l, hi, e), -1), s.by), 1));
        n->loop.sym = q;
        n->loop.piece = -1;
        n->child = inner;
        /* the digit is q from iteration q*c - e on */
        const at_aff *start = at_aff_sub(l, at_aff_scale(l, at_aff_sym(l, q), s.by), e);
        set_bounds(l, inner, at_aff_max(l, lo, start),
                   at_aff_min(l, hi, at_aff_shift(l, start, s.by)));
        at_ir_subst(l, inner->child, digit, at_aff_sym(l, q));
        /* n, now the loop over q, is looked at again: q may have digits in turn */
    }
}

bool at_pass_digits(at_low *l) {
    cut_pieces cuts = {0};
    split_digits(l, l->root, &cuts);
    split_alike(l, l->root, &cuts);
    split_digits(l, l->pack_root, &cuts);
    strip_digits(l, l->root, 0);
    strip_digits(l, l->pack_root, 0);
    return l->err->status == AT_OK;
}
