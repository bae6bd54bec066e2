/* codegen/last_terms.c: the last term of a sum that goes on from step to step has what the step
 * before stored, and waits for it. It is taken out of the vectors of terms,
 *
 *     for k in 0 .. i: s += l[i, k]*x[k]           for k in 0 .. i - 1: s += l[i, k]*x[k]
 *     x[i] = (b[i] - s)/l[i, i]             ->     for k in i - 1 .. i: s += l[i, k]*x[k]
 *                                                  x[i] = (b[i] - s)/l[i, i]
 *
 * and joins the others behind their lanes, so that all but it is done while the step before is.
 * More terms take longer than the wait. */
#include "codegen/codegen_int.h"

enum { MOST_TERMS = 256 };

static bool writes(const at_ir *list, int tensor) {
    bool any = false;
    for (; list && !any; list = list->next)
        any = list->kind == AT_IR_STMT ? list->stmt.tensor == tensor : writes(list->child, tensor);
    return any;
}

/* Does a value read, at a place that moves with a loop, what a list writes? */
static bool reads_written(const at_value *v, int sym, const at_ir *list) {
    if (v->op == AT_V_LOAD && at_aff_coef(v->at, sym) == 1 && writes(list, v->tensor)) return true;
    return (v->a && reads_written(v->a, sym, list)) || (v->b && reads_written(v->b, sym, list));
}

static bool waits(at_low *l, const at_ir *n) {
    const at_loop *x = &n->loop;
    const at_ir *term = n->child;
    int64_t least, most;
    if (x->ann != AT_ANN_VEC || !x->is_reduce || !x->hi_aff || x->lo_aff) return false;
    at_aff_range(l, x->hi_aff, &least, &most);
    return most - x->lo <= MOST_TERMS && !term->next && term->kind == AT_IR_STMT &&
           term->stmt.add && !term->stmt.guard && reads_written(term->stmt.val, x->sym, n->next);
}

void at_take_last_terms(at_low *l, at_ir *list) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_IF) at_take_last_terms(l, n->other);
        if (n->kind != AT_IR_LOOP || !waits(l, n)) {
            at_take_last_terms(l, n->child);
            continue;
        }
        const at_aff *last = at_aff_max(l, at_aff_sub(l, n->loop.hi_aff, at_aff_const(l, 1)),
                                        at_aff_const(l, n->loop.lo));
        at_ir *rest = at_ir_copy(l, n);
        rest->loop.ann = AT_ANN_NONE;
        rest->loop.lo_aff = last;
        rest->loop.is_late = true;
        rest->next = n->next;
        n->loop.hi_aff = last;
        n->next = rest;
        n = rest;
    }
}
