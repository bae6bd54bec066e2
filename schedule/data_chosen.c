/* schedule/data_chosen.c: tensors whose elements are compared, whatever is done with them before,
 * or chosen as they are: no sum and no output is rounded by that, so that they may be any number
 * also where all else is multiples of a unit. */
#include "schedule/data_int.h"

#include <math.h>

static bool is_power(const at_expr *e) {
    int exponent;
    return at_expr_is_number(e) && frexp(fabs(at_expr_number(e)), &exponent) == 0.5;
}

/* Is what it makes one of its operands, or one with the other sign? */
static bool takes_one(const at_expr *e) {
    return e->op == AT_X_SELECT || e->op == AT_X_NEG || e->op == AT_X_MIN || e->op == AT_X_MAX ||
           (e->op == AT_X_CALL && e->integer == AT_FUNCTION_ABS);
}

static bool is_copied(const at_tensor *t) {
    return t->role != AT_ROLE_STAGE ||
           (t->body && t->type == AT_F32 && !t->num_reduce && !at_tensor_goes_in_steps(t));
}

static bool is_scaled(const at_expr *e) {
    return e->op == AT_X_MUL && (is_power(e->arg[0]) || is_power(e->arg[1]));
}

/* Is it an element, or one of several, or a number? Where the reference is a float it may have
 * another exponent; limits count that as an operation. */
static bool is_unrounded(const data_ruler *r, const at_expr *e) {
    if (!at_expr_reads(e)) return true;
    if (e->op == AT_X_INDEX) {
        const at_tensor *t = &r->c->tensors[e->ref];
        return is_copied(t) && (t->role != AT_ROLE_STAGE || is_unrounded(r, t->body));
    }
    const bool is_logical = e->op == AT_X_AND || e->op == AT_X_OR || e->op == AT_X_NOT;
    bool is = takes_one(e) || at_op_compares(e->op) || is_logical || (r->is_exact && is_scaled(e));
    for (int i = 0; i < e->nargs && is; i++) is = is_unrounded(r, e->arg[i]);
    return is;
}

bool data_compares_unrounded(const data_ruler *r, const at_expr *comparison) {
    return is_unrounded(r, comparison->arg[0]) && is_unrounded(r, comparison->arg[1]);
}

/* What an expression makes of a tensor's elements: nothing that is their size, one of them, what is
 * rounded, or what depends on the order of operations, or is seen in outputs. */
typedef enum use { USE_NONE, USE_CHOSEN, USE_ROUNDED, USE_LOST } use;

static use use_in(const at_expr *e, const use *of) {
    if (e->op == AT_X_INDEX) return of[e->ref];
    use most = USE_NONE;
    for (int i = 0; i < e->nargs; i++) {
        const use x = use_in(e->arg[i], of);
        most = x > most ? x : most;
    }
    if (at_op_compares(e->op)) return USE_NONE;
    return most == USE_CHOSEN && !takes_one(e) && !is_scaled(e) ? USE_ROUNDED : most;
}

static use use_in_stage(const at_tensor *t, const use *of) {
    const use x = t->body ? use_in(t->body, of) : USE_NONE;
    const bool is_extreme = t->num_reduce && at_reduction_is_extreme(t->reduction);
    if (x == USE_NONE) return x;
    if (t->type != AT_F32 || at_tensor_goes_in_steps(t) || (t->num_reduce && !is_extreme) ||
        (t->is_output && x == USE_ROUNDED))
        return USE_LOST;
    return x;
}

static bool is_chosen(const at_compute *c, int tensor, use *of) {
    for (int t = 0; t < c->num_tensors; t++) of[t] = t == tensor ? USE_CHOSEN : USE_NONE;
    for (int i = 0; i < c->num_tensors; i++) {
        const at_tensor *t = &c->tensors[c->order[i]];
        if (t->role != AT_ROLE_STAGE) continue;
        of[c->order[i]] = use_in_stage(t, of);
        if (of[c->order[i]] == USE_LOST) return false;
    }
    return true;
}

bool *data_find_chosen(const data_ruler *r) {
    const int n = r->c->num_tensors;
    bool *chosen = AT_NEW_ARRAY(r->arena, bool, n);
    use *of = AT_NEW_ARRAY(r->arena, use, n);
    for (int t = 0; t < n; t++)
        chosen[t] = data_is_drawn(r, t) && !at_type_of(r->c->tensors[t].type)->is_int &&
                    is_chosen(r->c, t, of);
    return chosen;
}
