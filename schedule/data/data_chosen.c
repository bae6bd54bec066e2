/* schedule/data/data_chosen.c: tensors whose elements are compared, whatever is done with them
 * before, or chosen as they are: no sum and no output is rounded by that, so that they may be any
 * number also where all else is multiples of a unit. */
#include "schedule/data/data_int.h"

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

/* What an expression makes of a tensor's elements: nothing that is their size, one of them, what
 * one operation rounds, as all kernels do alike, what is rounded, or what depends on the order of
 * operations, or is seen in outputs. */
typedef enum use { USE_NONE, USE_CHOSEN, USE_ONCE, USE_ROUNDED, USE_LOST } use;

/* Does it round what it makes of elements as they are? A sum may begin with what is added to it. */
static bool rounds_once(const at_compute *c, const at_expr *e) {
    return (e->op == AT_X_ADD || e->op == AT_X_SUB || e->op == AT_X_MUL) &&
           !at_expr_find_value(e, data_is_of_stage, c);
}

static use use_in(const at_compute *c, const at_expr *e, const use *of) {
    if (e->op == AT_X_INDEX) return of[e->ref];
    use most = USE_NONE;
    for (int i = 0; i < e->nargs; i++) {
        const use x = use_in(c, e->arg[i], of);
        most = x > most ? x : most;
    }
    if (at_op_compares(e->op)) return USE_NONE;
    if (most == USE_NONE || most > USE_ONCE || takes_one(e) || is_scaled(e)) return most;
    return most == USE_CHOSEN && rounds_once(c, e) ? USE_ONCE : USE_ROUNDED;
}

static use use_in_stage(const at_compute *c, const at_tensor *t, const use *of) {
    const use x = t->body ? use_in(c, t->body, of) : USE_NONE;
    const bool is_extreme = t->num_reduce && at_reduction_is_extreme(t->reduction);
    if (x == USE_NONE) return x;
    if (t->type != AT_F32 || at_tensor_goes_in_steps(t) || (t->num_reduce && !is_extreme) ||
        (t->is_output && x == USE_ROUNDED))
        return USE_LOST;
    return x;
}

/* ---- in sums --------------------------------------------------------------------------------- */

typedef struct copy {
    int tensor, num_axes;
    const at_expr *read; /* the first one */
    bool is_one;         /* all are the same, at axes as they are, no axis twice */
} copy;

static bool is_at_axes(const at_expr *read) {
    int64_t seen = 0;
    for (int i = 0; i < read->nargs; i++) {
        if (read->arg[i]->op != AT_X_NAME || read->arg[i]->ref >= AT_REF_SIZE) return false;
        const int64_t axis = INT64_C(1) << read->arg[i]->ref;
        if (seen & axis) return false;
        seen |= axis;
    }
    return true;
}

static at_walk find_copy(const at_expr *e, void *ctx) {
    copy *x = ctx;
    if (e->op != AT_X_INDEX || e->ref != x->tensor) return AT_WALK_ON;
    x->is_one = x->read ? x->is_one && at_expr_same(x->read, e) : is_at_axes(e);
    x->read = x->read ? x->read : e;
    return AT_WALK_PAST;
}

/* How a stage reads a tensor, each element at one place of these axes; NULL: otherwise. */
static const at_expr *copied_by(const at_compute *c, int stage, int tensor) {
    copy x = {.tensor = tensor};
    at_expr_walk(c->tensors[stage].body, find_copy, &x);
    return x.is_one ? x.read : NULL;
}

static bool has_axes(const at_expr *read, int first, int end) {
    int found = 0;
    for (int i = 0; read && i < read->nargs; i++)
        found += read->arg[i]->ref >= first && read->arg[i]->ref < end;
    return read && found == end - first;
}

/* Are a sum's terms one of the elements, or 0, each element in one term of a row? Where all others
 * are 0 it adds up to that element. of: what tensors before it are. */
static bool adds_up_rows(const at_compute *c, int sum, int tensor, const use *of) {
    const at_tensor *t = &c->tensors[sum];
    int between = -1, num = 0;
    if (t->type != AT_F32 || at_tensor_goes_in_steps(t) || !t->body || !t->num_reduce ||
        t->reduction != AT_REDUCE_SUM || use_in(c, t->body, of) != USE_CHOSEN)
        return false;
    for (int i = 0; i < c->num_tensors; i++)
        if (of[i] == USE_CHOSEN && at_expr_find(t->body, at_expr_is_read, &i)) between = i, num++;
    if (num != 1 || !has_axes(copied_by(c, sum, between), t->num_axes, axes_of(t))) return false;
    return between == tensor ||
           has_axes(copied_by(c, between, tensor), 0, axes_of(&c->tensors[between]));
}

bool data_find_row(const data_ruler *r, int sum, int stage, const int64_t *axis, int64_t *index) {
    const at_tensor *t = &r->c->tensors[sum];
    const at_expr *read = sum == stage ? NULL : copied_by(r->c, sum, stage);
    for (int i = 0; i < t->num_axes; i++) index[i] = axis[i];
    if (sum == stage) return true;
    if (!has_axes(read, 0, t->num_axes)) return false;
    for (int i = 0; i < read->nargs; i++)
        if (read->arg[i]->ref < t->num_axes) index[read->arg[i]->ref] = axis[i];
    return true;
}

/* ---- which ----------------------------------------------------------------------------------- */

/* sum: NULL, or, where there is one, the stage that adds them up. */
static bool is_chosen(const at_compute *c, int tensor, use *of, int *sum) {
    for (int t = 0; t < c->num_tensors; t++) of[t] = t == tensor ? USE_CHOSEN : USE_NONE;
    for (int i = 0; i < c->num_tensors; i++) {
        const int stage = c->order[i];
        if (c->tensors[stage].role != AT_ROLE_STAGE) continue;
        const use x = use_in_stage(c, &c->tensors[stage], of);
        const bool is_summed =
            x == USE_LOST && sum && *sum < 0 && adds_up_rows(c, stage, tensor, of);
        if (x == USE_LOST && !is_summed) return false;
        if (is_summed) *sum = stage;
        of[stage] = is_summed ? USE_CHOSEN : x;
    }
    return true;
}

void data_find_chosen(data_ruler *r, bool in_rows) {
    const int n = r->c->num_tensors;
    use *of = AT_NEW_ARRAY(r->arena, use, n);
    r->chosen = AT_NEW_ARRAY(r->arena, bool, n);
    r->summed = AT_NEW_ARRAY(r->arena, int, n);
    for (int t = 0; t < n; t++) {
        int sum = -1;
        r->chosen[t] = data_is_drawn(r, t) && !at_type_of(r->c->tensors[t].type)->is_int &&
                       is_chosen(r->c, t, of, in_rows ? &sum : NULL);
        r->summed[t] = r->chosen[t] ? sum : -1;
    }
}
