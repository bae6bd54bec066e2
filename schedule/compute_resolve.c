/* schedule/compute_resolve.c: the names and types of a parsed computation. Every expression of a
 * stage is copied with its where-definitions substituted, so that nothing after this looks up a
 * name. */
#include "schedule/schedule_int.h"

#include <math.h>
#include <string.h>

/* What a definition stands for. */
typedef struct meaning {
    const char *name;
    at_expr *expr;
    bool is_float, is_bool;
    int size; /* nodes once substituted */
} meaning;

typedef struct scope {
    at_arena *arena;
    const at_lex *lex;
    at_error *err;
    compute_info *c;
    int tensor;       /* being resolved */
    int visible_axes; /* the first so many of it */
    bool in_index;    /* of a read */
    bool takes_defs;  /* else sizes and axes only: bounds of a reduction */
    AT_VEC(meaning) defs;
    int size; /* nodes of the expression at hand */
} scope;

/* Of an expression: integer unless one of these. */
typedef struct kind {
    bool is_float, is_bool;
} kind;

#define FAIL_AT(s, e, ...) at_lex_fail_at((s)->lex, (e)->line, (e)->col, (s)->err, __VA_ARGS__)

static const at_tensor *current(const scope *s) { return &s->c->pub.tensors[s->tensor]; }

static at_expr *copy_node(scope *s, const at_expr *e) {
    at_expr *copy = at_copy(s->arena, e, sizeof *e);
    copy->arg = e->nargs ? AT_NEW_ARRAY(s->arena, at_expr *, e->nargs) : NULL;
    return copy;
}

static int find_axis(const at_tensor *t, int visible, const char *name) {
    for (int i = 0; i < visible; i++)
        if (t->axes[i].name && !strcmp(t->axes[i].name, name)) return i;
    return -1;
}

/* The names an error may suggest. */
static at_status unknown(scope *s, const at_expr *e, bool tensors_wanted) {
    AT_VEC(const char *) known = {0};
    const at_compute *c = &s->c->pub;
    if (tensors_wanted) {
        for (int i = 0; i < s->tensor; i++) *at_push(s->arena, &known) = c->tensors[i].name;
    } else {
        for (int i = 0; i < s->visible_axes; i++)
            if (current(s)->axes[i].name) *at_push(s->arena, &known) = current(s)->axes[i].name;
        for (int i = 0; i < s->defs.len; i++) *at_push(s->arena, &known) = s->defs.data[i].name;
        for (int i = 0; i < c->symbols->names.len; i++)
            *at_push(s->arena, &known) = c->symbols->names.data[i];
    }
    const char *near = at_nearest(e->name, known.data, known.len);
    const char *what = tensors_wanted ? "tensor" : "name";
    if (near) return FAIL_AT(s, e, "unknown %s \"%s\"; did you mean \"%s\"?", what, e->name, near);
    return FAIL_AT(s, e, "unknown %s \"%s\"", what, e->name);
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* Fills refs with slots, in place. */
static at_status resolve_size(scope *s, at_expr *e) {
    switch (e->op) {
    case AT_X_INT: return AT_OK;
    case AT_X_NAME:
        e->ref = at_symbol_find(s->c->pub.symbols, e->name);
        if (e->ref >= 0) return AT_OK;
        if (find_axis(current(s), axes_of(current(s)), e->name) >= 0)
            return FAIL_AT(s, e, "\"%s\" is an axis: an extent can use sizes only", e->name);
        s->visible_axes = 0;
        return unknown(s, e, false);
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
static at_expr *to_slots(scope *s, const at_expr *e) {
    return at_expr_map(s->arena, e, move_ref, &(int){-AT_REF_SIZE});
}

static at_expr *from_slots(scope *s, const at_expr *e) {
    return at_expr_map(s->arena, e, move_ref, &(int){AT_REF_SIZE});
}

static void add_divisor(scope *s, const at_expr *slots) {
    if (slots->op == AT_X_INT && slots->integer > 0) return;
    for (int i = 0; i < s->c->divisors.len; i++)
        if (at_expr_equal(s->c->divisors.data[i].expr, slots)) return;
    *at_push(s->arena, &s->c->divisors) = (divisor){s->tensor, slots};
}

/* ---- expressions --------------------------------------------------------------------------- */

static at_status resolve(scope *s, const at_expr *e, at_expr **out, kind *k);

static at_status grow(scope *s, const at_expr *e, int nodes) {
    s->size += nodes;
    if (s->size <= MAX_NODES_OF) return AT_OK;
    return FAIL_AT(s, e, "the expression exceeds %d terms", MAX_NODES_OF);
}

/* What is declared with one element is that element where it has no indices. */
static bool is_single(const at_tensor *t) {
    return t->role != AT_ROLE_STAGE && t->num_axes == 1 && t->axes[0].extent->op == AT_X_INT &&
           t->axes[0].extent->integer == 1;
}

static at_status resolve_read(scope *s, const at_expr *e, at_expr **out, kind *k);

static at_status resolve_single(scope *s, const at_expr *e, at_expr **out, kind *k) {
    at_expr *first = at_expr_int(s->arena, 0);
    at_expr *read = at_expr_read(s->arena, e->name, 1, &first);
    read->line = first->line = e->line;
    read->col = first->col = e->col;
    return resolve_read(s, read, out, k);
}

static at_status resolve_name(scope *s, const at_expr *e, at_expr **out, kind *k) {
    *k = (kind){0};
    int axis = find_axis(current(s), s->visible_axes, e->name);
    if (axis < 0 && s->takes_defs)
        for (int i = 0; i < s->defs.len; i++)
            if (!strcmp(s->defs.data[i].name, e->name)) {
                const meaning *m = &s->defs.data[i];
                *k = (kind){m->is_float, m->is_bool};
                *out = m->expr;
                return grow(s, e, m->size);
            }
    at_expr *copy = copy_node(s, e);
    if (axis >= 0 && !s->takes_defs && current(s)->axes[axis].begin)
        return FAIL_AT(s, e, "\"%s\" has bounds itself: bounds use axes whose extents are sizes",
                       e->name);
    int slot = axis < 0 ? at_symbol_find(s->c->pub.symbols, e->name) : -1;
    copy->ref = axis >= 0 ? axis : AT_REF_SIZE + slot;
    *out = copy;
    if (axis >= 0 || slot >= 0) return AT_OK;
    if (!strcmp(e->name, "inf") && s->takes_defs) {
        copy->op = AT_X_FLOAT;
        copy->number = INFINITY;
        *k = (kind){.is_float = true};
        return AT_OK;
    }
    const int one = at_compute_find(&s->c->pub, e->name);
    if (one >= 0 && is_single(&s->c->pub.tensors[one])) return resolve_single(s, e, out, k);
    if (find_axis(current(s), axes_of(current(s)), e->name) >= 0)
        return FAIL_AT(s, e, "\"%s\" is not known yet: bounds use the axes before them", e->name);
    if (at_compute_find(&s->c->pub, e->name) >= 0)
        return FAIL_AT(s, e, "\"%s\" is a tensor: it needs indices", e->name);
    return unknown(s, e, false);
}

/* The read with v[..] for one of its indices, for a message. */
static const char *with_place(const scope *s, const at_expr *read, int index) {
    at_text t = {0};
    at_text_addf(&t, "%s[", read->name);
    for (int i = 0; i < read->nargs; i++)
        at_text_addf(&t, "%s%s", i ? ", " : "", i == index ? "v[..]" : "..");
    at_text_add(&t, "]");
    return at_text_take(s->arena, &t);
}

static at_status resolve_read(scope *s, const at_expr *e, at_expr **out, kind *k) {
    int t = at_compute_find(&s->c->pub, e->name);
    if (t < 0) return unknown(s, e, true);
    if (t == s->tensor && (current(s)->role != AT_ROLE_STAGE || !s->takes_defs))
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
        kind index;
        const bool was_in_index = s->in_index;
        s->in_index = true;
        const at_status status = resolve(s, e->arg[i], &copy->arg[i], &index);
        s->in_index = was_in_index;
        AT_TRY(status);
        if (index.is_float)
            return FAIL_AT(s, e->arg[i],
                           "a value is used as an index; store it in a stage of integers, "
                           "v[..] : s32 = .., and write %s",
                           with_place(s, e, i));
        if (index.is_bool) return FAIL_AT(s, e->arg[i], "a condition is used as an index");
    }
    *k = (kind){.is_float = !at_tensor_has_entries(read)};
    if (read->is_places && !s->takes_defs)
        return FAIL_AT(s, e, "\"%s\" is computed: bounds read index tensors only", e->name);
    *out = copy;
    if (t == s->tensor && !read->num_reduce) s->c->pub.tensors[t].is_recurrence = true;
    return AT_OK;
}

static at_expr *binary(scope *s, at_op op, at_expr *x, at_expr *y) {
    at_expr *e = at_expr_pair(s->arena, op, x, y);
    e->line = x->line;
    e->col = x->col;
    return e;
}

static bool is_bits(at_op op) { return op >= AT_X_BIT_AND && op <= AT_X_SHIFT_RIGHT; }

/* ---- shifts ---------------------------------------------------------------------------------- */

enum { MOST_SHIFT = 30, MOST_PLACE = 63 };

static int nodes_of(const at_expr *e) {
    int n = 1;
    for (int i = 0; i < e->nargs; i++) n += nodes_of(e->arg[i]);
    return n;
}

/* What an operator makes of each two of these numbers; 0: of some none of them. */
static uint64_t shifts_of_pair(at_op op, uint64_t x, uint64_t y) {
    uint64_t all = 0;
    for (int i = 0; i <= MOST_PLACE; i++)
        for (int k = 0; k <= MOST_PLACE && x >> i & 1; k++) {
            int64_t value;
            if (!(y >> k & 1)) continue;
            if (!at_expr_binary(op, i, k, &value) || value < 0 || value > MOST_PLACE) return 0;
            all |= (uint64_t)1 << value;
        }
    return all;
}

/* The numbers that an index may be, as bits, by what its text says alone; 0: it does not. */
static uint64_t shifts_of(const scope *s, const at_expr *e) {
    const uint64_t up_to_most = ~(uint64_t)0;
    uint64_t x, y;
    int64_t n = 0;
    switch (e->op) {
    case AT_X_INT:
        return 0 <= e->integer && e->integer <= MOST_PLACE ? (uint64_t)1 << e->integer : 0;
    case AT_X_NAME:
        if (e->ref >= AT_REF_SIZE || current(s)->axes[e->ref].begin) return 0;
        n = current(s)->axes[e->ref].extent->op == AT_X_INT
                ? current(s)->axes[e->ref].extent->integer
                : 0;
        break;
    case AT_X_SELECT:
        x = shifts_of(s, e->arg[1]);
        y = shifts_of(s, e->arg[2]);
        return x && y ? x | y : 0;
    case AT_X_MOD:
        n = e->arg[1]->op == AT_X_INT ? e->arg[1]->integer : 0;
        x = shifts_of(s, e->arg[0]);
        if (x && n > 0) return shifts_of_pair(AT_X_MOD, x, shifts_of(s, e->arg[1]));
        break;
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MIN:
    case AT_X_MAX:
        x = shifts_of(s, e->arg[0]);
        y = shifts_of(s, e->arg[1]);
        return x && y ? shifts_of_pair(e->op, x, y) : 0;
    default: return 0;
    }
    return n < 1 || n > MOST_PLACE + 1 ? 0 : up_to_most >> (MOST_PLACE + 1 - n);
}

typedef at_expr *by_number(scope *s, at_expr *x, int n);

/* Shifts by all numbers that an index may be, of which it chooses one: k == 0 ? x : k == 4 ? .. */
static at_status shift_by_place(scope *s, const at_expr *e, at_expr *x, at_expr *y,
                                by_number *shifted, at_expr **out) {
    const uint64_t all = shifts_of(s, y);
    at_expr *chain = NULL;
    if (!all || all >> (MOST_SHIFT + 1))
        return FAIL_AT(s, e->arg[1],
                       "integers are shifted by 0 to 30: by a number, or by an index of which "
                       "numbers say so, as in x >> k%%8*4");
    for (int n = MOST_SHIFT; n >= 0; n--) {
        if (!(all >> n & 1)) continue;
        at_expr *one = shifted(s, x, n);
        if (chain) {
            at_expr *arg[] = {binary(s, AT_X_EQ, y, at_expr_int(s->arena, n)), one, chain};
            AT_TRY(grow(s, e, nodes_of(x) + nodes_of(y) + 4));
            one = at_expr_new(s->arena, AT_X_SELECT, 3, arg);
        }
        chain = one;
    }
    *out = chain;
    return AT_OK;
}

static at_expr *index_to_right(scope *s, at_expr *x, int n) {
    return binary(s, AT_X_DIV, x, at_expr_int(s->arena, (int64_t)1 << n));
}

static at_expr *to_left(scope *s, at_expr *x, int n) {
    return n ? binary(s, AT_X_MUL, x, at_expr_int(s->arena, (int64_t)1 << n)) : x;
}

static at_expr *to_right(scope *s, at_expr *x, int n) {
    return n ? binary(s, AT_X_SHIFT_RIGHT, x, at_expr_int(s->arena, n)) : x;
}

/* Bits of an index are its quotient, rest or product by a power of two, which all that asks about
 * indices knows. */
static at_status resolve_index_bits(scope *s, const at_expr *e, at_expr **out) {
    at_expr *x = (*out)->arg[0], *y = (*out)->arg[1];
    if (e->op == AT_X_BIT_AND && x->op == AT_X_INT) x = y, y = (*out)->arg[0];
    const int64_t n = y->op == AT_X_INT ? y->integer : -1;
    if (e->op == AT_X_BIT_AND && n >= 0 && n < INT32_MAX && !(n & (n + 1))) {
        *out = binary(s, AT_X_MOD, x, at_expr_int(s->arena, n + 1));
        return AT_OK;
    }
    if (e->op == AT_X_BIT_AND || e->op == AT_X_BIT_OR || (y->op == AT_X_INT && (n < 0 || n > 30)))
        return FAIL_AT(s, e,
                       "of an index there are i & 15, i >> 4 and i << 4, with numbers: & with one "
                       "less than a power of two, shifts from 0 to 30");
    return shift_by_place(s, e, x, y, e->op == AT_X_SHIFT_LEFT ? to_left : index_to_right, out);
}

/* Of integers that are read; a shift to the left is a product, whose range is proved like that of
 * any other. */
static at_status resolve_bits(scope *s, const at_expr *e, bool is_value, at_expr **out) {
    at_expr *const *arg = (*out)->arg;
    if (!is_value) return resolve_index_bits(s, e, out);
    for (int i = 0; i < 2; i++) {
        if (!at_expr_is_whole(&s->c->pub, arg[i]))
            return FAIL_AT(s, e->arg[i], "only integers have bits, and this is f32");
        if (arg[i]->op == AT_X_INT && arg[i]->integer != (int32_t)arg[i]->integer)
            return FAIL_AT(s, e->arg[i], "integers among values have 32 bits");
    }
    if (e->op == AT_X_BIT_AND || e->op == AT_X_BIT_OR) return AT_OK;
    return shift_by_place(s, e, arg[0], arg[1], e->op == AT_X_SHIFT_LEFT ? to_left : to_right, out);
}

/* An element of a bool tensor is a condition where one is wanted. */
static bool take_truth(scope *s, at_expr **e) {
    if ((*e)->op != AT_X_INDEX || s->c->pub.tensors[(*e)->ref].type != AT_BOOL) return false;
    *e = binary(s, AT_X_NE, *e, at_expr_int(s->arena, 0));
    return true;
}

/* Of an index, the larger of it and its negative. */
static bool is_abs(const at_expr *e) { return e->op == AT_X_CALL && e->integer == AT_FUNCTION_ABS; }

/* Which operands an operator takes, and what it gives. */
static at_status resolve_operator(scope *s, const at_expr *e, at_expr **out, kind *k) {
    at_expr *copy = copy_node(s, e);
    kind arg[3] = {{0}};
    for (int i = 0; i < e->nargs; i++) AT_TRY(resolve(s, e->arg[i], &copy->arg[i], &arg[i]));
    *out = copy;
    *k = (kind){0};
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
        *out = binary(s, AT_X_MAX, copy->arg[0], negated);
        return AT_OK;
    }
    if (e->op == AT_X_CALL) k->is_float = true;
    if (is_bits(e->op)) return resolve_bits(s, e, k->is_float, out);
    if (logical || at_op_compares(e->op)) *k = (kind){.is_bool = true};
    if (divides && k->is_float && at_expr_is_whole(&s->c->pub, copy->arg[0]) &&
        at_expr_is_whole(&s->c->pub, copy->arg[1]))
        return FAIL_AT(s, e, "integers have no quotient: multiply by an f32, and round");
    if (e->op == AT_X_MOD && k->is_float)
        return FAIL_AT(s, e, "only an index has a remainder, a value has none");
    if ((e->op == AT_X_DIV || e->op == AT_X_MOD) && !k->is_float) {
        if (!at_expr_is_size(copy->arg[1]) || at_expr_has(copy->arg[1], AT_X_CALL))
            return FAIL_AT(s, e->arg[1], "indices are divided by sizes only");
        add_divisor(s, to_slots(s, copy->arg[1]));
    }
    return AT_OK;
}

static at_status resolve(scope *s, const at_expr *e, at_expr **out, kind *k) {
    AT_TRY(grow(s, e, 1));
    switch (e->op) {
    case AT_X_INT:
    case AT_X_FLOAT:
        *k = (kind){.is_float = e->op == AT_X_FLOAT};
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
static at_status define_digits(scope *s, const at_def *d, at_expr *whole) {
    int size = s->size;
    at_expr *rest = whole;
    for (int i = d->num_names - 1; i >= 0; i--) {
        meaning m = {.name = d->names[i], .expr = rest, .size = size};
        if (d->extents[i]) {
            AT_TRY(resolve_size(s, d->extents[i]));
            add_divisor(s, d->extents[i]);
        }
        if (i) {
            at_expr *extent = from_slots(s, d->extents[i]);
            m.expr = binary(s, AT_X_MOD, rest, extent);
            rest = binary(s, AT_X_DIV, rest, extent);
            m.size = size += 1 + at_expr_nodes(extent);
        }
        *at_push(s->arena, &s->defs) = m;
    }
    if (d->extents[0] && whole->op == AT_X_NAME && whole->ref < AT_REF_SIZE)
        *at_push(s->arena, &s->c->digit_sets) =
            (digit_set){s->tensor, whole->ref, d->num_names, d->extents};
    return AT_OK;
}

static at_status define(scope *s, const at_def *d) {
    at_expr *e;
    kind k;
    s->size = 0;
    AT_TRY(resolve(s, d->expr, &e, &k));
    if (d->is_digits) {
        if (k.is_float || k.is_bool)
            return FAIL_AT(s, d->expr, "only an index can be taken apart into digits");
        return define_digits(s, d, e);
    }
    *at_push(s->arena, &s->defs) = (meaning){d->names[0], e, k.is_float, k.is_bool, s->size};
    return AT_OK;
}

/* ---- tensors ------------------------------------------------------------------------------- */

static at_status resolve_bound(scope *s, int axis, at_expr **bound, uint32_t *used) {
    kind k;
    const at_expr *written = *bound;
    s->size = 0;
    s->visible_axes = axis;
    s->takes_defs = false;
    AT_TRY(resolve(s, written, bound, &k));
    if (k.is_float) return FAIL_AT(s, written, "a value is used as an index");
    if (k.is_bool) return FAIL_AT(s, written, "a condition is used as an index");
    *used |= at_expr_axes(*bound);
    return AT_OK;
}

typedef struct read_list {
    at_arena *arena;
    AT_VEC(const at_expr *) all;
} read_list;

static at_walk collect_read(const at_expr *e, void *ctx) {
    read_list *reads = ctx;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    for (int i = 0; i < reads->all.len; i++)
        if (reads->all.data[i] == e) return AT_WALK_PAST;
    *at_push(reads->arena, &reads->all) = e;
    return AT_WALK_ON;
}

/* Of a stage that nothing is read for, such as a table. */
static bool is_number(const scope *s, const at_tensor *t) {
    const tensor_info *info = &s->c->info[t - s->c->pub.tensors];
    return t->role == AT_ROLE_STAGE && !t->num_reduce && !info->num_reads;
}

static at_status check_recurrence(scope *s, const at_tensor *t, const read_list *reads) {
    for (int i = 0; i < reads->all.len; i++) {
        const at_expr *read = reads->all.data[i];
        if (&s->c->pub.tensors[read->ref] != t || recurrence_first(t, read) >= 0) continue;
        return FAIL_AT(s, read,
                       "\"%s\" reads itself where it is not computed yet: the first index that is "
                       "not the axis itself must be less than the axis, as %s - 1",
                       t->name, recurrence_axis(t, read));
    }
    return AT_OK;
}

/* Is e's value a float of this type of 16 bits: an element, the larger of two, one without its
 * sign?
 */
static bool is_narrow(const scope *s, const at_expr *e, at_type type) {
    switch (e->op) {
    case AT_X_INDEX: return s->c->pub.tensors[e->ref].type == type;
    case AT_X_INT: return e->integer >= -128 && e->integer <= 128;
    case AT_X_FLOAT: return at_function_value(at_type_rounding(type), e->number) == e->number;
    case AT_X_CALL:
        return e->integer == (int64_t)at_type_rounding(type) ||
               (e->integer == AT_FUNCTION_ABS && is_narrow(s, e->arg[0], type));
    case AT_X_SELECT:
    case AT_X_NEG:
    case AT_X_MIN:
    case AT_X_MAX:
        for (int i = e->op == AT_X_SELECT; i < e->nargs; i++)
            if (!is_narrow(s, e->arg[i], type)) return false;
        return true;
    default: return false;
    }
}

static at_expr *rounded(const scope *s, const at_tensor *t, at_expr *of) {
    if (is_narrow(s, of, t->type)) return of;
    at_expr *e = at_expr_new(s->arena, AT_X_CALL, 1, &of);
    e->integer = (int64_t)at_type_rounding(t->type);
    e->line = t->written->line;
    e->col = t->written->col;
    return e;
}

/* What a stage of floats of 16 bits holds is rounded to them: of one that lies in an input what is
 * new, since the other elements stay. */
static at_status narrow(scope *s, at_tensor *t) {
    if (t->num_reduce && !at_reduction_is_extreme(t->reduction))
        return FAIL_AT(s, t->written, "a sum is f32 or s32: store it in another stage as %s",
                       at_type_of(t->type)->name);
    at_expr *body = t->body, *const *arg = body->arg;
    if (t->lies_in && body->op == AT_X_SELECT) {
        t->body = at_expr_new(s->arena, AT_X_SELECT, 3,
                              (at_expr *[]){arg[0], rounded(s, t, arg[1]), rounded(s, t, arg[2])});
        t->body->line = body->line, t->body->col = body->col;
    } else t->body = rounded(s, t, body);
    return AT_OK;
}

static bool is_infinite(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_FLOAT && isinf(e->number);
}

/* What a stage of integers holds. */
static at_status check_type(scope *s, const at_tensor *t) {
    const at_type_facts *type = at_type_of(t->type);
    if (!type->is_int) return AT_OK;
    const bool adds = t->num_reduce && !at_reduction_is_extreme(t->reduction);
    if (t->num_reduce && t->reduction == AT_REDUCE_PROD)
        return FAIL_AT(s, t->written, "a product of many integers is f32");
    if (adds && t->type != AT_S32)
        return FAIL_AT(s, t->written, "a sum is s32 or f32: store it in another stage as %s",
                       type->name);
    if (t->num_reduce ? at_expr_is_whole(&s->c->pub, t->body) : is_rounded(&s->c->pub, t->body))
        return AT_OK;
    if (t->num_reduce && !adds && at_expr_find(t->body, is_infinite, NULL))
        return FAIL_AT(s, t->written,
                       "terms that are left out of this reduction are %sinf, which is no %s: put a "
                       "whole number there, as in min(k:K) .. ? k : K, or leave the type away",
                       t->reduction == AT_REDUCE_MAX ? "-" : "", type->name);
    return FAIL_AT(s, t->written,
                   t->num_reduce ? "the terms of an %s are integers, and this one is f32"
                                 : "an %s holds integers: say how, as round(...)",
                   type->name);
}

static at_status resolve_stage(scope *s, at_tensor *t, tensor_info *info) {
    kind k;
    s->visible_axes = axes_of(t);
    s->takes_defs = true;
    for (int i = 0; i < t->num_defs; i++) AT_TRY(define(s, &t->defs[i]));
    s->size = 0;
    AT_TRY(resolve(s, t->written, &t->body, &k));
    if (k.is_bool) return FAIL_AT(s, t->written, "a condition is no value: use ? and :");
    read_list reads = {.arena = s->arena};
    at_expr_walk(t->body, collect_read, &reads);
    for (int i = 0; i < t->num_reduce; i++) {
        at_axis *axis = &t->axes[t->num_axes + i];
        if (!axis->begin) continue;
        at_expr_walk(axis->begin, collect_read, &reads);
        at_expr_walk(axis->end, collect_read, &reads);
    }
    info->num_reads = reads.all.len;
    info->reads = reads.all.data;
    bool of_weights = false, of_others = false;
    for (int i = 0; i < info->num_reads; i++) {
        const int from = info->reads[i]->ref;
        at_tensor *read = &s->c->pub.tensors[from];
        if (read == t) continue;
        if (read > t) { /* of its cycle, which is looked at when all are resolved */
            of_others = true;
            continue;
        }
        read->is_output = read->is_marked;
        bool is_entry =
            read->role == AT_ROLE_INDEX && !at_expr_find_index(t->body, at_expr_is_read, &from);
        info->of_entries |= is_entry || s->c->info[from].of_entries;
        if (read->role == AT_ROLE_WEIGHT || read->is_packing || is_entry) of_weights = true;
        else if (!is_number(s, read)) of_others = true;
    }
    if (t->is_recurrence) AT_TRY(check_recurrence(s, t, &reads));
    AT_TRY(check_type(s, t));
    if (at_type_is_half(t->type)) AT_TRY(narrow(s, t));
    /* Sums of integers are exact in any order, so they may be packed ahead, too. */
    const bool is_sum_of_integers = t->type == AT_S32 && t->reduction == AT_REDUCE_SUM;
    t->is_packing = (!t->num_reduce || is_sum_of_integers) && !t->is_recurrence && of_weights &&
                    !of_others && !t->is_marked && !t->is_places;
    t->is_output = true;
    return AT_OK;
}

static at_status resolve_tensor(scope *s, int tensor) {
    at_tensor *t = &s->c->pub.tensors[tensor];
    tensor_info *info = &s->c->info[tensor];
    s->tensor = tensor;
    s->defs.len = 0;
    info->bound_axes = AT_NEW_ARRAY(s->arena, uint32_t, t->num_reduce);
    for (int i = 0; i < axes_of(t); i++) {
        at_axis *axis = &t->axes[i];
        if (axis->begin) {
            uint32_t *used = &info->bound_axes[i - t->num_axes];
            AT_TRY(resolve_bound(s, i, &axis->begin, used));
            AT_TRY(resolve_bound(s, i, &axis->end, used));
        } else {
            s->visible_axes = i;
            AT_TRY(resolve_size(s, axis->extent));
        }
    }
    return t->role == AT_ROLE_STAGE ? resolve_stage(s, t, info) : AT_OK;
}

bool copies_entries(const at_compute *c, const at_tensor *t) {
    return t->role == AT_ROLE_STAGE && t->type == AT_S32 && !t->num_reduce &&
           t->body->op == AT_X_INDEX && c->tensors[t->body->ref].role == AT_ROLE_INDEX;
}

/* ---- stages whose elements are indices ------------------------------------------------------- */

typedef struct place_finder {
    at_compute *c;
    const at_tensor *reader;
    bool *seen; /* [definition] */
} place_finder;

/* What an index reads, and what a name in it stands for. */
static at_walk mark_places(const at_expr *e, void *ctx) {
    const place_finder *x = ctx;
    if (e->op == AT_X_INDEX) {
        const int t = at_compute_find(x->c, e->name);
        at_tensor *read = t >= 0 ? &x->c->tensors[t] : NULL;
        if (read && read->role == AT_ROLE_STAGE && read->type == AT_S32) read->is_places = true;
    }
    for (int i = 0; e->op == AT_X_NAME && i < x->reader->num_defs; i++)
        for (int k = 0; k < x->reader->defs[i].num_names; k++) {
            if (x->seen[i] || strcmp(x->reader->defs[i].names[k], e->name) != 0) continue;
            x->seen[i] = true;
            at_expr_walk(x->reader->defs[i].expr, mark_places, ctx);
        }
    return AT_WALK_ON;
}

static at_walk find_places(const at_expr *e, void *ctx) {
    for (int i = 0; e->op == AT_X_INDEX && i < e->nargs; i++)
        at_expr_walk(e->arg[i], mark_places, ctx);
    return AT_WALK_ON;
}

static void find_all_places(at_arena *a, at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++) {
        place_finder x = {.c = c, .reader = &c->tensors[t]};
        x.seen = AT_NEW_ARRAY(a, bool, x.reader->num_defs);
        if (x.reader->role != AT_ROLE_STAGE) continue;
        at_expr_walk(x.reader->written, find_places, &x);
        for (int i = 0; i < x.reader->num_defs; i++)
            at_expr_walk(x.reader->defs[i].expr, find_places, &x);
    }
}

static at_status check_places(const scope *s, const at_tensor *t) {
    if (!t->is_places || !at_tensor_goes_in_steps(t)) return AT_OK;
    return FAIL_AT(s, t->written,
                   "\"%s\" is worked out step by step: its elements are no indices, but those of "
                   "a copy behind it are, c[..] : s32 = %s[..]",
                   t->name, t->name);
}

at_status compute_resolve(at_arena *a, const at_lex *l, compute_info *c, at_error *err) {
    scope s = {.arena = a, .lex = l, .err = err, .c = c};
    find_all_places(a, &c->pub);
    c->info = AT_NEW_ARRAY(a, tensor_info, c->pub.num_tensors);
    for (int i = 0; i < c->pub.num_tensors; i++) AT_TRY(resolve_tensor(&s, i));
    for (int i = 0; i < c->pub.num_tensors; i++) {
        const at_tensor *t = &c->pub.tensors[i];
        const bool is_int = t->role != AT_ROLE_INDEX && at_type_of(t->type)->is_int;
        c->pub.has_integers |= is_int;
        c->pub.in_steps |= is_int && !copies_entries(&c->pub, t);
        c->pub.has_halves |= at_type_is_half(t->type);
    }
    AT_TRY(compute_find_cycles(a, l, c, err));
    AT_TRY(compute_check_held(l, c, err));
    for (int i = 0; i < c->pub.num_tensors; i++) AT_TRY(check_places(&s, &c->pub.tensors[i]));
    for (int i = 0; i < c->pub.num_tensors; i++)
        if (c->pub.tensors[i].is_output && (c->info[i].of_entries || c->pub.tensors[i].num_reduce))
            c->pub.tensors[i].is_packing = false;
    return AT_OK;
}
