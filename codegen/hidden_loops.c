/* codegen/hidden_loops.c: an unrolled loop that a bound of an index hides is written out before
 * loops are cut.
 *
 * In x[max((2*g + i + 1)/2 - 1, 0)] and in x[min(first[q] + i, H - 1)] the elements that one i
 * reads lie side by side, or in one row; from i to i they do not. With a number for i the first
 * bound is affine, and cuts the lanes along g; the second is known outside of the tile. */
#include "codegen/codegen_int.h"

#define MOST_TURNS 8        /* of a loop, all of which are copies */
#define MOST_SIZE (1 << 12) /* statements in all copies of a loop */

/* Has x a minimum or maximum that the loop changes, and that is neither a bound which cuts lanes
 * nor a bounded entry of an index tensor? */
static bool is_hidden(const at_low *l, const at_aff *x, at_mask loop) {
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (s->kind == AT_SYM_LOOP || s->kind == AT_SYM_LOAD || !(s->deps & loop)) continue;
        if (is_hidden(l, s->of, loop) || (s->of2 && is_hidden(l, s->of2, loop))) return true;
        if ((s->kind != AT_SYM_MIN && s->kind != AT_SYM_MAX) ||
            at_aff_entry(l, x->t[i].sym, loop) >= 0)
            continue;
        if (at_aff_reads(l, s->of) || at_aff_reads(l, s->of2) ||
            (at_aff_opaque_deps(l, s->of) | at_aff_opaque_deps(l, s->of2)) & loop)
            return true;
    }
    return false;
}

static bool is_hidden_in_value(const at_low *l, const at_value *v, at_mask loop) {
    return (v->op == AT_V_LOAD && is_hidden(l, v->at, loop)) ||
           (v->a && is_hidden_in_value(l, v->a, loop)) ||
           (v->b && is_hidden_in_value(l, v->b, loop));
}

/* *size: statements in the list. */
static bool is_hidden_in(const at_low *l, const at_ir *list, at_mask loop, int64_t *size) {
    bool found = false;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT) found |= is_hidden_in_value(l, list->stmt.val, loop);
        else found |= is_hidden_in(l, list->child, loop, size);
        *size += list->kind == AT_IR_STMT;
    }
    return found;
}

static bool is_to_write_out(const at_low *l, const at_ir *n) {
    int64_t size = 0;
    return n->loop.ann == AT_ANN_UNROLL && at_loop_is_fixed(n) && at_loop_trips(n) <= MOST_TURNS &&
           is_hidden_in(l, n->child, AT_BIT(n->loop.sym), &size) &&
           size * at_loop_trips(n) <= MOST_SIZE;
}

at_ir *at_write_out_hidden(at_low *l, at_ir *list) {
    at_ir *head = NULL, **tail = &head;
    for (at_ir *n = list, *next; n; n = next) {
        next = n->next;
        n->next = NULL;
        if (n->kind == AT_IR_LOOP) {
            const at_sym old = at_range_enter(l, n);
            n->child = at_write_out_hidden(l, n->child);
            at_range_leave(l, n, old);
        }
        const bool is_whole = n->kind != AT_IR_LOOP || !is_to_write_out(l, n);
        if (is_whole) at_ir_append(&tail, n);
        for (int64_t i = n->loop.lo; !is_whole && i < n->loop.hi; i++) {
            at_ir *turn = at_ir_copy_list(l, n->child);
            at_ir_subst(l, turn, n->loop.sym, at_aff_const(l, i));
            at_ir_append(&tail, turn);
        }
    }
    return head;
}
