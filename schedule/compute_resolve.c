/* schedule/compute_resolve.c: the names and types of a parsed computation. Every expression of a
 * stage is copied with its where-definitions substituted, so that nothing after this looks up a
 * name. */
#include "schedule/resolve.h"

#include <math.h>
#include <string.h>

static at_status resolve_bound(resolve_scope *s, int axis, at_expr **bound, uint32_t *used) {
    resolve_kind k;
    const at_expr *written = *bound;
    s->size = 0;
    s->visible_axes = axis;
    s->takes_defs = false;
    AT_TRY(resolve_expression(s, written, bound, &k));
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
static bool is_number(const resolve_scope *s, const at_tensor *t) {
    const tensor_info *info = &s->c->info[t - s->c->pub.tensors];
    return t->role == AT_ROLE_STAGE && !t->num_reduce && !info->num_reads;
}

static at_status check_recurrence(resolve_scope *s, const at_tensor *t, const read_list *reads) {
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
static bool is_narrow(const resolve_scope *s, const at_expr *e, at_type type) {
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

static at_expr *rounded(const resolve_scope *s, const at_tensor *t, at_expr *of) {
    if (is_narrow(s, of, t->type)) return of;
    at_expr *e = at_expr_new(s->arena, AT_X_CALL, 1, &of);
    e->integer = (int64_t)at_type_rounding(t->type);
    e->line = t->written->line;
    e->col = t->written->col;
    return e;
}

/* What a stage of floats of 16 bits holds is rounded to them: of one that lies in an input what is
 * new, since the other elements stay. */
static at_status narrow(resolve_scope *s, at_tensor *t) {
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
static at_status check_type(resolve_scope *s, const at_tensor *t) {
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

static at_status resolve_stage(resolve_scope *s, at_tensor *t, tensor_info *info) {
    resolve_kind k;
    s->visible_axes = axes_of(t);
    s->takes_defs = true;
    for (int i = 0; i < t->num_defs; i++) AT_TRY(resolve_definition(s, &t->defs[i]));
    s->size = 0;
    AT_TRY(resolve_expression(s, t->written, &t->body, &k));
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

static at_status resolve_tensor(resolve_scope *s, int tensor) {
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

static at_status check_places(const resolve_scope *s, const at_tensor *t) {
    if (!t->is_places || !at_tensor_goes_in_steps(t)) return AT_OK;
    return FAIL_AT(s, t->written,
                   "\"%s\" is worked out step by step: its elements are no indices, but those of "
                   "a copy behind it are, c[..] : s32 = %s[..]",
                   t->name, t->name);
}

at_status compute_resolve(at_arena *a, const at_lex *l, compute_info *c, at_error *err) {
    resolve_scope s = {.arena = a, .lex = l, .err = err, .c = c};
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
