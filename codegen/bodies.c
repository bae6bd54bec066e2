/* codegen/bodies.c: a stage's body becomes a value.
 *
 * Stages without a leaf are substituted where they are read. What is worked out of indices is an
 * index as long as that is an affine form; else it is worked out in numbers. */
#include "codegen/dissolve.h"

static const at_tensor *tensor_of(const at_low *l, int t) {
    return &l->program->compute->tensors[t];
}

static bool is_index(const at_low *l, const at_expr *e) {
    switch (e->op) {
    case AT_X_FLOAT:
    case AT_X_CALL: return false;
    case AT_X_INDEX: return at_tensor_has_entries(tensor_of(l, e->ref));
    case AT_X_SELECT: return is_index(l, e->arg[1]) && is_index(l, e->arg[2]);
    default:
        for (int i = 0; i < e->nargs; i++)
            if (!is_index(l, e->arg[i])) return false;
        return true;
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The elements of a stage that reads no tensor, such as a table of numbers; NULL: they depend on
 * more than the axes, or there are too many. */
static const double *numbers_of(at_low *l, int tensor, int64_t count) {
    enum { MOST = 4096 };
    const at_tensor *t = tensor_of(l, tensor);
    int num;
    const int64_t *extents = l->program->extents[tensor];
    if (t->num_reduce || count > MOST || t->body->op != AT_X_SELECT) return NULL;
    at_compute_reads(l->program->compute, tensor, &num);
    if (num) return NULL;
    double *out = AT_NEW_ARRAY(l->arena, double, count);
    const at_aff **axes = AT_NEW_ARRAY(l->arena, const at_aff *, t->num_axes);
    for (int64_t i = 0; i < count; i++) {
        int64_t place[AT_RECURRENCE_AXES];
        at_unravel(i, t->num_axes, extents, place);
        for (int k = 0; k < t->num_axes; k++) axes[k] = at_aff_const(l, place[k]);
        const at_value *v = at_value_fold(l, at_value_expr(l, t->body, axes), NULL);
        if (v->op != AT_V_CONST) return NULL;
        out[i] = v->number;
    }
    return out;
}

/* A read of a table. Which of its numbers that is, is known when the tile is made; NULL: the tensor
 * is no table. */
static const at_value *table_expr(at_low *l, int tensor, const at_aff *const *ix) {
    const at_tensor *t = tensor_of(l, tensor);
    const at_aff *at = at_aff_const(l, 0);
    int64_t count = 1;
    if (t->body->op != AT_X_SELECT) return NULL;
    for (int k = 0; k < t->num_axes; k++) {
        int64_t extent = l->program->extents[tensor][k];
        at = at_aff_add(l, at_aff_scale(l, at, extent), ix[k]);
        if (!at_mul64(count, extent, &count)) return NULL;
    }
    const double *table = l->tables[tensor];
    if (!table) table = l->tables[tensor] = numbers_of(l, tensor, count);
    if (!table) return NULL;
    return at_value_new(
        l,
        (at_value){
            .op = AT_V_TABLE, .tensor = tensor, .table = table, .table_len = (int)count, .at = at});
}

static const at_value *load_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    const at_tensor *t = tensor_of(l, e->ref);
    const at_aff **ix = AT_NEW_ARRAY(l->arena, const at_aff *, t->num_axes);
    const at_entry_bound *around = l->entries;
    const at_value *v = NULL;
    for (int i = 0; i < t->num_axes; i++) {
        ix[i] = at_index_expr(l, e->arg[i], axes);
        at_index_bounds_entries(l, ix[i], l->program->extents[e->ref][i]);
    }
    if (t->role == AT_ROLE_STAGE && l->program->dissolved[e->ref]) {
        v = table_expr(l, e->ref, ix);
        int reader = l->reads_for;
        l->reads_for = e->ref;
        if (v) v = at_value_as_stored(l, v, t->type);
        else v = at_value_stored(l, t->body, ix, t->type);
        l->reads_for = reader;
    } else {
        const bool whole = !at_tensor_has_entries(t) && at_type_of(t->type)->is_int;
        v = at_value_new(l, (at_value){.op = AT_V_LOAD,
                                       .whole = whole,
                                       .tensor = at_compute_holder(l->program->compute, e->ref),
                                       .ix = ix,
                                       .entries = at_index_entries(l, ix, t->num_axes)});
    }
    l->entries = around;
    return v;
}

/* ---- conditions that compare values: all bits of a register, or none ------------------------- */

/* Does e compare values, or indices of which values choose one, as in (x[i] > y[i] ? 1 : 0) != 0?
 */
static bool compares_values(const at_expr *e, const void *l) {
    return at_op_compares(e->op) && !(is_index(l, e->arg[0]) && is_index(l, e->arg[1]));
}

/* Both as integers, where the expression of them is worked out in those, else as numbers. */
static void alike(at_low *l, bool whole, const at_value **x, const at_value **y) {
    if (!(*x)->whole && !(*y)->whole && !whole) return;
    *x = whole ? at_value_as_whole(l, at_value_of_index(l, *x)) : at_value_as_number(l, *x);
    *y = whole ? at_value_as_whole(l, at_value_of_index(l, *y)) : at_value_as_number(l, *y);
}

/* Of an index: an integer that no float is stays one beneath, for what is stored as integers. */
static const at_value *operand_of_index(at_low *l, const at_value *v) {
    if (v->op != AT_V_CONST || !v->whole) return v;
    return at_value_new(l, (at_value){.op = AT_V_NUMBER, .a = v});
}

/* Is it worked out in 32-bit integers, and no index? */
static bool is_whole(const at_low *l, const at_expr *e) {
    return !is_index(l, e) && at_expr_is_whole(l->program->compute, e);
}

static bool both_whole(const at_low *l, const at_expr *x, const at_expr *y) {
    const at_compute *c = l->program->compute;
    return at_expr_is_whole(c, x) && at_expr_is_whole(c, y) && !(is_index(l, x) && is_index(l, y));
}

static const at_value *mask_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    index_choice choice;
    if (!at_expr_find(e, compares_values, l)) {
        at_value v = {.op = AT_V_SELECT, .cond = at_cond_expr(l, e, axes)};
        v.a = at_value_bits(l, true);
        v.b = at_value_bits(l, false);
        return at_value_new(l, v);
    }
    if (e->op == AT_X_NOT)
        return at_value_choose(l, mask_expr(l, e->arg[0], axes), at_value_bits(l, false),
                               at_value_bits(l, true));
    if (e->op == AT_X_AND)
        return at_value_choose(l, mask_expr(l, e->arg[0], axes), mask_expr(l, e->arg[1], axes),
                               at_value_bits(l, false));
    if (e->op == AT_X_OR)
        return at_value_choose(l, mask_expr(l, e->arg[0], axes), at_value_bits(l, true),
                               mask_expr(l, e->arg[1], axes));
    if (is_index(l, e) && at_index_choice(l, e, &choice))
        return at_value_choose(l, mask_expr(l, choice.condition, axes),
                               mask_expr(l, choice.side[0], axes),
                               mask_expr(l, choice.side[1], axes));
    const at_value *x = at_value_expr(l, e->arg[0], axes), *y = at_value_expr(l, e->arg[1], axes);
    alike(l, both_whole(l, e->arg[0], e->arg[1]), &x, &y);
    switch (e->op) {
    case AT_X_LT: return at_value_binary(l, AT_V_LESS, x, y);
    case AT_X_LE: return at_value_binary(l, AT_V_AT_MOST, x, y);
    case AT_X_GT: return at_value_binary(l, AT_V_LESS, y, x);
    case AT_X_GE: return at_value_binary(l, AT_V_AT_MOST, y, x);
    case AT_X_EQ: return at_value_binary(l, AT_V_EQUAL, x, y);
    default:
        return at_value_choose(l, at_value_binary(l, AT_V_EQUAL, x, y), at_value_bits(l, false),
                               at_value_bits(l, true));
    }
}

static const at_value *select_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    const at_value *x = at_value_expr(l, e->arg[1], axes), *y = at_value_expr(l, e->arg[2], axes);
    const bool whole = is_whole(l, e) || (is_index(l, e) && (x->whole || y->whole));
    alike(l, whole, &x, &y);
    if (at_expr_find(e->arg[0], compares_values, l))
        return at_value_choose(l, mask_expr(l, e->arg[0], axes), x, y);
    if (l->leaf->has_pointers && x->op == AT_V_LOAD && !x->whole && y->op == AT_V_CONST) {
        const at_value *listed =
            at_pointers_read(l, l->reads_for, e, axes, l->leaf->pointers, y->number);
        if (listed) return listed;
    }
    return at_value_new(l, (at_value){.op = AT_V_SELECT,
                                      .whole = whole,
                                      .cond = at_cond_expr(l, e->arg[0], axes),
                                      .a = x,
                                      .b = y});
}

/* A symbol for all values of an axis: that of a range goes from the least begin to the largest end.
 * axes: those before it. */
static const at_aff *all_of_axis(at_low *l, const at_axis *x, int64_t extent,
                                 const at_aff *const *axes) {
    int sym = at_sym_loop(l, x->name, extent);
    int64_t lo, hi, of_begin, of_end;
    if (extent >= 0) return at_aff_sym(l, sym);
    at_aff_range(l, at_index_expr(l, x->begin, axes), &lo, &of_begin);
    at_aff_range(l, at_index_expr(l, x->end, axes), &of_end, &hi);
    l->syms.data[sym].lo = lo;
    l->syms.data[sym].hi = hi > lo ? hi - 1 : lo;
    return at_aff_sym(l, sym);
}

/* Least and largest of x, an index e in a loop that does not tell how far it goes, since that is
 * looked up or differs from turn to turn: the axes do. NULL: loops tell. */
static const int64_t *bounds_of(at_low *l, const at_aff *x, const at_expr *e) {
    const at_tensor *t = tensor_of(l, l->reads_for);
    const bool is_own = l->reads_for == l->leaf->tensor;
    const int n = t->num_axes + (is_own && !l->leaf->is_init ? t->num_reduce : 0);
    const at_aff **axes = AT_NEW_ARRAY(l->arena, const at_aff *, n);
    int64_t lo, hi, *bounds;
    at_aff_range(l, x, &lo, &hi);
    if (hi - lo < INT32_MAX - 1) return NULL;
    for (int k = 0; k < n; k++)
        axes[k] = all_of_axis(l, &t->axes[k], l->program->extents[l->reads_for][k], axes);
    bounds = AT_NEW_ARRAY(l->arena, int64_t, 2);
    at_aff_range(l, at_index_expr(l, e, axes), &bounds[0], &bounds[1]);
    return bounds;
}

static bool is_extreme(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_MIN || e->op == AT_X_MAX;
}

/* May it be a number of entries that no table of numbers has? */
static bool goes_far(at_low *l, const at_aff *x) {
    int64_t lo, hi;
    at_aff_range(l, x, &lo, &hi);
    return hi - lo >= 1 << 24 && at_aff_reads(l, x);
}

/* Is in it the larger or smaller of two numbers of which one is from a list, as max(ends[i] -
 * ends[i - 1], 1)? As values the two are compared alike. */
static bool has_extreme_of_entries(at_low *l, const at_aff *x, const at_expr *e) {
    return goes_far(l, x) && at_expr_find_value(e, is_extreme, NULL);
}

/* Has x digits of an entry and something else, as w[n, k] + k, which no table of entries has? */
static bool divides_mixture(at_low *l, const at_aff *x) {
    for (int i = 0; i < x->n; i++) {
        const int sym = x->t[i].sym;
        if (l->syms.data[sym].kind != AT_SYM_DIV || at_entry_of(l, sym, true) >= 0) continue;
        if (goes_far(l, l->syms.data[sym].of)) return true;
    }
    return false;
}

/* The index e, as at_index_expr has it; NULL: it is to be worked out in numbers, which are exact up
 * to 2^24. */
static const at_aff *affine_index(at_low *l, const at_expr *e, const at_aff *const *axes) {
    if (at_index_multiplies(e)) return NULL;
    const at_aff *x = at_index_expr(l, e, axes);
    return has_extreme_of_entries(l, x, e) || divides_mixture(l, x) ? NULL : x;
}

static const at_value *negated(at_low *l, const at_value *of) {
    if (of->op == AT_V_CONST) return at_value_const(l, -of->number, of->whole);
    return at_value_new(
        l, (at_value){
               .op = AT_V_SUB, .whole = of->whole, .a = at_value_const(l, 0, of->whole), .b = of});
}

const at_value *at_value_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    static const uint8_t ops[] = {
        [AT_X_ADD] = AT_V_ADD,       [AT_X_SUB] = AT_V_SUB,
        [AT_X_MUL] = AT_V_MUL,       [AT_X_DIV] = AT_V_DIV,
        [AT_X_MOD] = AT_V_DIV,       [AT_X_MIN] = AT_V_MIN,
        [AT_X_MAX] = AT_V_MAX,       [AT_X_BIT_AND] = AT_V_BIT_AND,
        [AT_X_BIT_OR] = AT_V_BIT_OR, [AT_X_SHIFT_RIGHT] = AT_V_SHIFT_RIGHT};
    at_value v = {.op = AT_V_CONST};
    if (e->op == AT_X_FLOAT) {
        v.number = e->number;
        return at_value_new(l, v);
    }
    if (e->op == AT_X_SELECT) return select_expr(l, e, axes);
    if (e->op == AT_X_INDEX || is_index(l, e)) {
        index_choice choice;
        if (at_index_choice(l, e, &choice)) {
            at_expr *const args[] = {choice.condition, choice.side[0], choice.side[1]};
            return select_expr(l, at_expr_new(l->arena, AT_X_SELECT, 3, args), axes);
        }
    }
    const bool whole = is_index(l, e);
    const at_aff *x = whole ? affine_index(l, e, axes) : NULL;
    if (x) {
        if (x->n)
            return at_value_new(
                l, (at_value){.op = AT_V_INDEX, .at = x, .bounds = bounds_of(l, x, e)});
        v.number = (double)x->c;
        /* a float of it is another number */
        v.whole = (float)x->c != v.number && x->c >= INT32_MIN && x->c <= INT32_MAX;
        return at_value_new(l, v);
    }
    if (e->op == AT_X_INDEX) return load_expr(l, e, axes);
    if (e->op == AT_X_NEG) return negated(l, at_value_expr(l, e->arg[0], axes));
    if (e->op == AT_X_CALL) {
        v.op = AT_V_CALL;
        v.function = (at_function)e->integer;
        v.a = at_value_as_number(l, at_value_expr(l, e->arg[0], axes));
        return at_value_new(l, v);
    }
    if (!ops[e->op]) {
        at_lower_fail(l, "a condition is used as a value");
        return at_value_new(l, v);
    }
    v.op = ops[e->op];
    v.a = at_value_expr(l, e->arg[0], axes);
    v.b = at_value_expr(l, e->arg[1], axes);
    v.whole = is_whole(l, e);
    if (whole && (e->op == AT_X_DIV || e->op == AT_X_MOD))
        return at_value_index_quotient(l, v.a, v.b, e->op == AT_X_MOD);
    if (whole) v.a = operand_of_index(l, v.a), v.b = operand_of_index(l, v.b);
    alike(l, v.whole, &v.a, &v.b);
    if (!whole && !v.whole && (e->op == AT_X_MIN || e->op == AT_X_MAX))
        return at_value_extreme(l, v.op, v.a, v.b);
    return at_value_new(l, v);
}

const at_value *at_value_stored(at_low *l, const at_expr *e, const at_aff *const *axes,
                                at_type type) {
    const at_value *v = at_value_expr(l, e, axes);
    if (at_type_of(type)->is_int && is_index(l, e)) v = at_value_of_index(l, v);
    return at_value_as_stored(l, v, type);
}
