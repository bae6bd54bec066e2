/* schedule/resolve_expr.c: sizes, expressions and where-definitions; see resolve.h. */
#include "schedule/resolve.h"

#include <math.h>
#include <string.h>

static at_expr *copy_node(resolve_scope *s, const at_expr *e) {
    at_expr *copy = at_copy(s->arena, e, sizeof *e);
    copy->arg = e->nargs ? AT_NEW_ARRAY(s->arena, at_expr *, e->nargs) : NULL;
    return copy;
}

static int find_axis(const at_tensor *t, int visible, const char *name) {
    for (int i = 0; i < visible; i++)
        if (t->axes[i].name && !strcmp(t->axes[i].name, name)) return i;
    return -1;
}

/* The names an error may suggest. besides: what else it says of a name that nothing is like. */
static at_status unknown(resolve_scope *s, const at_expr *e, bool tensors_wanted,
                         const char *besides) {
    AT_VEC(const char *) known = {0};
    const at_compute *c = &s->c->pub;
    if (tensors_wanted) {
        for (int i = 0; i < s->tensor; i++) *at_push(s->arena, &known) = c->tensors[i].name;
    } else {
        for (int i = 0; i < s->visible_axes; i++)
            if (resolve_current(s)->axes[i].name)
                *at_push(s->arena, &known) = resolve_current(s)->axes[i].name;
        for (int i = 0; i < s->defs.len; i++) *at_push(s->arena, &known) = s->defs.data[i].name;
        for (int i = 0; i < c->symbols->names.len; i++)
            *at_push(s->arena, &known) = c->symbols->names.data[i];
    }
    const char *near = at_nearest(e->name, known.data, known.len);
    const char *what = tensors_wanted ? "tensor" : "name";
    if (near) return FAIL_AT(s, e, "unknown %s \"%s\"; did you mean \"%s\"?", what, e->name, near);
    return FAIL_AT(s, e, "unknown %s \"%s\"%s", what, e->name, besides);
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* Fills refs with slots, in place. */
at_status resolve_size(resolve_scope *s, at_expr *e) {
    switch (e->op) {
    case AT_X_INT: return AT_OK;
    case AT_X_NAME:
        e->ref = at_symbol_find(s->c->pub.symbols, e->name);
        if (e->ref >= 0) return AT_OK;
        if (find_axis(resolve_current(s), axes_of(resolve_current(s)), e->name) >= 0)
            return FAIL_AT(s, e, "\"%s\" is an axis: an extent can use sizes only", e->name);
        s->visible_axes = 0;
        return unknown(s, e, false, ": neither args nor sizes declare it");
    case AT_X_FLOAT: return FAIL_AT(s, e, "an extent is an integer");
    case AT_X_INDEX: return FAIL_AT(s, e, "an extent cannot be read from a tensor");
    case AT_X_CALL:
        return FAIL_AT(s, e, "an extent is an integer: %s is a function of values",
                       at_function_name((at_function)e->integer));
    case AT_X_EXTENT:
    case AT_X_FIELD:
        return FAIL_AT(s, e, "|...| is not accepted here: give it a name in the sizes");
    default:
        for (int i = 0; i < e->nargs; i++) AT_TRY(resolve_size(s, e->arg[i]));
        return AT_OK;
    }
}

static at_expr *move_ref(const at_expr *unused, at_expr *copy, void *by) {
    (void)unused;
    if (copy->op == AT_X_NAME) copy->ref += *(int *)by;
    return copy;
}

/* A resolved expression of sizes, with slots as refs; and the other way round. */
static at_expr *to_slots(resolve_scope *s, const at_expr *e) {
    return at_expr_map(s->arena, e, move_ref, &(int){-AT_REF_SIZE});
}

static at_expr *from_slots(resolve_scope *s, const at_expr *e) {
    return at_expr_map(s->arena, e, move_ref, &(int){AT_REF_SIZE});
}

static void add_divisor(resolve_scope *s, const at_expr *slots) {
    if (slots->op == AT_X_INT && slots->integer > 0) return;
    for (int i = 0; i < s->c->divisors.len; i++)
        if (at_expr_equal(s->c->divisors.data[i].expr, slots)) return;
    *at_push(s->arena, &s->c->divisors) = (divisor){s->tensor, slots};
}

/* ---- expressions --------------------------------------------------------------------------- */

/* What is declared with one element is that element where it has no indices. */
static bool is_single(const at_tensor *t) {
    return t->role != AT_ROLE_STAGE && t->num_axes == 1 && t->axes[0].extent->op == AT_X_INT &&
           t->axes[0].extent->integer == 1;
}

static at_status resolve_read(resolve_scope *s, const at_expr *e, at_expr **out, resolve_kind *k);

static at_status resolve_single(resolve_scope *s, const at_expr *e, at_expr **out,
                                resolve_kind *k) {
    at_expr *first = at_expr_int(s->arena, 0);
    at_expr *read = at_expr_read(s->arena, e->name, 1, &first);
    read->line = first->line = e->line;
    read->col = first->col = e->col;
    return resolve_read(s, read, out, k);
}

static at_status resolve_name(resolve_scope *s, const at_expr *e, at_expr **out, resolve_kind *k) {
    *k = (resolve_kind){0};
    int axis = find_axis(resolve_current(s), s->visible_axes, e->name);
    if (axis < 0 && s->takes_defs)
        for (int i = 0; i < s->defs.len; i++)
            if (!strcmp(s->defs.data[i].name, e->name)) {
                const resolve_meaning *m = &s->defs.data[i];
                *k = (resolve_kind){m->is_float, m->is_bool};
                *out = m->expr;
                return resolve_grow(s, e, m->size);
            }
    at_expr *copy = copy_node(s, e);
    if (axis >= 0 && !s->takes_defs && resolve_current(s)->axes[axis].begin)
        return FAIL_AT(s, e, "\"%s\" has bounds itself: bounds use axes whose extents are sizes",
                       e->name);
    int slot = axis < 0 ? at_symbol_find(s->c->pub.symbols, e->name) : -1;
    copy->ref = axis >= 0 ? axis : AT_REF_SIZE + slot;
    *out = copy;
    if (axis >= 0 || slot >= 0) return AT_OK;
    if (!strcmp(e->name, "inf") && s->takes_defs) {
        copy->op = AT_X_FLOAT;
        copy->number = INFINITY;
        *k = (resolve_kind){.is_float = true};
        return AT_OK;
    }
    const int one = at_compute_find(&s->c->pub, e->name);
    if (one >= 0 && is_single(&s->c->pub.tensors[one])) return resolve_single(s, e, out, k);
    if (find_axis(resolve_current(s), axes_of(resolve_current(s)), e->name) >= 0)
        return FAIL_AT(s, e, "\"%s\" is not known yet: bounds use the axes before them", e->name);
    if (at_compute_find(&s->c->pub, e->name) >= 0)
        return FAIL_AT(s, e, "\"%s\" is a tensor: it needs indices", e->name);
    return unknown(s, e, false, "");
}

/* The read with v[..] for one of its indices, for a message. */
static const char *with_place(const resolve_scope *s, const at_expr *read, int index) {
    at_text t = {0};
    at_text_addf(&t, "%s[", read->name);
    for (int i = 0; i < read->nargs; i++)
        at_text_addf(&t, "%s%s", i ? ", " : "", i == index ? "v[..]" : "..");
    at_text_add(&t, "]");
    return at_text_take(s->arena, &t);
}

static at_status resolve_read(resolve_scope *s, const at_expr *e, at_expr **out, resolve_kind *k) {
    int t = at_compute_find(&s->c->pub, e->name);
    if (t < 0) return unknown(s, e, true, "");
    if (t == s->tensor && (resolve_current(s)->role != AT_ROLE_STAGE || !s->takes_defs))
        return FAIL_AT(s, e, "\"%s\" reads itself where bounds are", e->name);
    if (t > s->tensor && (s->c->pub.tensors[t].role != AT_ROLE_STAGE || !s->takes_defs))
        return FAIL_AT(s, e, "\"%s\" is below: a stage reads only tensors above it", e->name);
    const at_tensor *read = &s->c->pub.tensors[t];
    if (e->nargs != read->num_axes)
        return FAIL_AT(s, e, "\"%s\" has %d dimension%s, not %d", e->name, read->num_axes,
                       at_plural(read->num_axes), e->nargs);
    at_expr *copy = copy_node(s, e);
    copy->ref = t;
    for (int i = 0; i < e->nargs; i++) {
        resolve_kind index;
        const bool was_in_index = s->in_index;
        s->in_index = true;
        const at_status status = resolve_expression(s, e->arg[i], &copy->arg[i], &index);
        s->in_index = was_in_index;
        AT_TRY(status);
        if (index.is_float)
            return FAIL_AT(s, e->arg[i],
                           "a value is used as an index; store it in a stage of integers, "
                           "v[..] : s32 = .., and write %s",
                           with_place(s, e, i));
        if (index.is_bool) return FAIL_AT(s, e->arg[i], "a condition is used as an index");
    }
    *k = (resolve_kind){.is_float = !at_tensor_has_entries(read)};
    if (read->is_places && !s->takes_defs)
        return FAIL_AT(s, e, "\"%s\" is computed: bounds read index tensors only", e->name);
    *out = copy;
    if (t == s->tensor && !read->num_reduce) s->c->pub.tensors[t].is_recurrence = true;
    return AT_OK;
}

static bool is_bits(at_op op) { return op >= AT_X_BIT_AND && op <= AT_X_SHIFT_RIGHT; }

/* An element of a bool tensor is a condition where one is wanted. */
static bool take_truth(resolve_scope *s, at_expr **e) {
    if ((*e)->op != AT_X_INDEX || s->c->pub.tensors[(*e)->ref].type != AT_BOOL) return false;
    *e = resolve_pair(s, AT_X_NE, *e, at_expr_int(s->arena, 0));
    return true;
}

/* Of an index, the larger of it and its negative. */
static bool is_abs(const at_expr *e) { return e->op == AT_X_CALL && e->integer == AT_FUNCTION_ABS; }

/* Which operands an operator takes, and what it gives. */
static at_status resolve_operator(resolve_scope *s, const at_expr *e, at_expr **out,
                                  resolve_kind *k) {
    at_expr *copy = copy_node(s, e);
    resolve_kind arg[3] = {{0}};
    for (int i = 0; i < e->nargs; i++)
        AT_TRY(resolve_expression(s, e->arg[i], &copy->arg[i], &arg[i]));
    *out = copy;
    *k = (resolve_kind){0};
    bool logical = e->op == AT_X_AND || e->op == AT_X_OR || e->op == AT_X_NOT;
    const bool divides = e->op == AT_X_DIV || e->op == AT_X_MOD;
    for (int i = 0; i < e->nargs; i++) {
        bool wants_bool = logical || (e->op == AT_X_SELECT && i == 0);
        if (wants_bool) arg[i].is_bool |= take_truth(s, &copy->arg[i]);
        if (wants_bool && !arg[i].is_bool)
            return FAIL_AT(s, e->arg[i], "expected a condition, such as i < N");
        if (!wants_bool && arg[i].is_bool)
            return FAIL_AT(s, e->arg[i], "a condition is no number: use ? and :");
        if (!wants_bool) k->is_float |= arg[i].is_float;
    }
    if (s->in_index && !k->is_float && is_abs(e)) {
        at_expr *negated = at_expr_new(s->arena, AT_X_NEG, 1, &copy->arg[0]);
        *out = resolve_pair(s, AT_X_MAX, copy->arg[0], negated);
        return AT_OK;
    }
    if (e->op == AT_X_CALL) k->is_float = true;
    if (is_bits(e->op)) return resolve_bits(s, e, k->is_float, out);
    if (logical || at_op_compares(e->op)) *k = (resolve_kind){.is_bool = true};
    if (divides && k->is_float && at_expr_is_whole(&s->c->pub, copy->arg[0]) &&
        at_expr_is_whole(&s->c->pub, copy->arg[1]))
        return FAIL_AT(s, e, "integers have no quotient: multiply by an f32, and round");
    if (e->op == AT_X_MOD && k->is_float)
        return FAIL_AT(s, e, "only an index has a remainder, a value has none");
    if (divides && !k->is_float) {
        if (!at_expr_is_size(copy->arg[1]) || at_expr_has(copy->arg[1], AT_X_CALL))
            return FAIL_AT(s, e->arg[1], "indices are divided by sizes only");
        add_divisor(s, to_slots(s, copy->arg[1]));
    }
    return AT_OK;
}

at_status resolve_expression(resolve_scope *s, const at_expr *e, at_expr **out, resolve_kind *k) {
    AT_TRY(resolve_grow(s, e, 1));
    switch (e->op) {
    case AT_X_INT:
    case AT_X_FLOAT:
        *k = (resolve_kind){.is_float = e->op == AT_X_FLOAT};
        *out = copy_node(s, e);
        return AT_OK;
    case AT_X_NAME: return resolve_name(s, e, out, k);
    case AT_X_INDEX: return resolve_read(s, e, out, k);
    case AT_X_EXTENT:
    case AT_X_FIELD:
        return FAIL_AT(s, e, "|...| is not accepted here: give it a name in the sizes");
    default: return resolve_operator(s, e, out, k);
    }
}

/* ---- definitions --------------------------------------------------------------------------- */

/* {n, h:H, w:W} = y: w = y % W, h = y / W % H, n = y / W / H. The first digit takes no remainder.
 */
static at_status define_digits(resolve_scope *s, const at_def *d, at_expr *whole) {
    int size = s->size;
    at_expr *rest = whole;
    for (int i = d->num_names - 1; i >= 0; i--) {
        resolve_meaning m = {.name = d->names[i], .expr = rest, .size = size};
        if (d->extents[i]) {
            AT_TRY(resolve_size(s, d->extents[i]));
            add_divisor(s, d->extents[i]);
        }
        if (i) {
            at_expr *extent = from_slots(s, d->extents[i]);
            m.expr = resolve_pair(s, AT_X_MOD, rest, extent);
            rest = resolve_pair(s, AT_X_DIV, rest, extent);
            m.size = size += 1 + at_expr_nodes(extent);
        }
        *at_push(s->arena, &s->defs) = m;
    }
    if (d->extents[0] && whole->op == AT_X_NAME && whole->ref < AT_REF_SIZE)
        *at_push(s->arena, &s->c->digit_sets) =
            (digit_set){s->tensor, whole->ref, d->num_names, d->extents};
    return AT_OK;
}

at_status resolve_definition(resolve_scope *s, const at_def *d) {
    at_expr *e;
    resolve_kind k;
    s->size = 0;
    AT_TRY(resolve_expression(s, d->expr, &e, &k));
    if (d->is_digits) {
        if (k.is_float || k.is_bool)
            return FAIL_AT(s, d->expr, "only an index can be taken apart into digits");
        return define_digits(s, d, e);
    }
    *at_push(s->arena, &s->defs) =
        (resolve_meaning){d->names[0], e, k.is_float, k.is_bool, s->size};
    return AT_OK;
}
