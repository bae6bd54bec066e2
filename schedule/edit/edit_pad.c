/* schedule/edit/edit_pad.c: E23, what a stage reads under a condition such as padding's, or within
 * bounds, where axes are added up, becomes a stage of its own over those sums: an element of it is
 * chosen once, not for each term that needs it. Where a product or 0 is chosen, a factor of it may
 * be: inside ? x*k : 0 is (inside ? x : 0)*k. */
#include "schedule/edit/edit_compute.h"

#include <math.h>
#include <string.h>

#include "schedule/index_sum.h"
#include "schedule/edit/rewrite.h"

/* ---- sums of axes ---------------------------------------------------------------------------- */

/* An expression that axes move by their sum; a comparison of two such, the one less the other. */
static bool sum_of(const at_expr *e, index_sum *s) {
    *s = (index_sum){.num = 0};
    if (at_op_compares(e->op))
        return at_expr_axes(e->arg[0]) && at_expr_axes(e->arg[1]) &&
               index_sum_add(s, e->arg[0], 1, NULL) && index_sum_add(s, e->arg[1], -1, NULL) &&
               index_sum_axes(s);
    return index_sum_add(s, e, 1, NULL) && index_sum_axes(s);
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* Axes that go together: by one sum of them times whole numbers, wherever they are. */
typedef struct way {
    index_sum sum; /* without numbers and sizes, the first axis forwards */
    uint32_t axes;
    bool is_mixed; /* by several sums: axes stay what they are */
} way;

typedef struct padded {
    at_arena *arena;
    const at_compute *c;
    const at_tensor *stage;
    int tensor;
    const at_expr *found;  /* in the stage's body: a choice, or a read within bounds */
    const at_expr *source; /* what the new stage is: found, or the choice of a factor or 0 */
    const at_expr *factor; /* of the product that found chooses; NULL: source is found */
    way ways[MAX_AXES];
    int num_ways;
} padded;

static bool is_shared(const way *w) { return !w->is_mixed && (w->axes & (w->axes - 1)); }

/* How often the way is in a sum, which may be less than 0; 0: it is not. */
static int64_t times(const way *w, const index_sum *s) {
    int64_t by = 0;
    int num = 0;
    for (int i = 0; i < s->num; i++) {
        const index_part *of = &s->of[i], *own = NULL;
        if (of->axis == NO_AXIS) continue;
        for (int k = 0; k < w->sum.num; k++)
            if (index_part_is_like(&w->sum.of[k], of)) own = &w->sum.of[k];
        if (!own || of->by % own->by || (by && of->by / own->by != by)) return 0;
        by = of->by / own->by;
        num++;
    }
    return num == w->sum.num ? by : 0;
}

static way way_of(const index_sum *s) {
    way w = {.axes = index_sum_axes(s)};
    int64_t common = 0;
    for (int i = 0; i < s->num; i++)
        if (s->of[i].axis != NO_AXIS) {
            w.sum.of[w.sum.num++] = s->of[i];
            common = at_gcd(common, s->of[i].by);
        }
    if (w.sum.of[0].by < 0) common = -common;
    for (int i = 0; i < w.sum.num; i++) w.sum.of[i].by /= common;
    return w;
}

/* Ways that have axes in common become one, of several sums unless they are the same. */
static void add_way(padded *x, const index_sum *s) {
    way own = way_of(s);
    int kept = 0;
    for (int i = 0; i < x->num_ways; i++) {
        const way w = x->ways[i];
        if (w.axes & own.axes) {
            own.is_mixed |= w.is_mixed || !times(&w, s);
            own.axes |= w.axes;
        } else x->ways[kept++] = w;
    }
    x->ways[kept++] = own;
    x->num_ways = kept;
}

static at_walk find_ways(const at_expr *e, void *ctx) {
    padded *x = ctx;
    index_sum s;
    if (!sum_of(e, &s)) return AT_WALK_ON;
    add_way(x, &s);
    return AT_WALK_PAST;
}

/* ---- what is padded -------------------------------------------------------------------------- */

static bool reads_value(const at_expr *e, const void *compute) {
    return e->op == AT_X_INDEX &&
           !at_tensor_has_entries(&((const at_compute *)compute)->tensors[e->ref]);
}

static bool bounds(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_MIN || e->op == AT_X_MAX || e->op == AT_X_SELECT;
}

/* Terms that a remainder leaves are phases; entries say places that no copy has. */
static bool is_place(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_MOD || e->op == AT_X_INDEX;
}

/* What is chosen, or 0; NULL: this is no such choice. */
static at_expr *chosen_or_zero(const at_expr *e) {
    if (e->op != AT_X_SELECT) return NULL;
    return is_zero_expr(e->arg[2]) ? e->arg[1] : is_zero_expr(e->arg[1]) ? e->arg[2] : NULL;
}

/* Is every axis of what is padded as long as its extent says, and do some axes go together where
 * elements are read? */
static bool is_of_shared(padded *x) {
    const uint32_t axes = at_expr_axes(x->source),
                   own = at_expr_axes(x->factor ? x->factor : x->source);
    bool any = false;
    for (int k = 0; k < axes_of(x->stage); k++)
        if (axes >> k & 1 && (!x->stage->axes[k].extent || x->stage->axes[k].begin)) return false;
    x->num_ways = 0;
    at_expr_walk(x->source, find_ways, x);
    for (int i = 0; i < x->num_ways; i++) any |= is_shared(&x->ways[i]) && (x->ways[i].axes & own);
    return any;
}

/* A choice by indices among what is read, or a read within bounds. */
static bool is_padding(const padded *x, const at_expr *e) {
    if (e->op == AT_X_SELECT)
        return at_expr_axes(e->arg[0]) && !at_expr_find(e->arg[0], reads_value, x->c) &&
               !at_expr_has(e->arg[0], AT_X_MOD);
    return e->op == AT_X_INDEX && reads_value(e, x->c) && at_expr_find_index(e, bounds, NULL);
}

static bool reads_more(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    return e->op == AT_X_INDEX && c->tensors[e->ref].role != AT_ROLE_WEIGHT &&
           !c->tensors[e->ref].is_packing && !c->tensors[e->ref].is_table;
}

static bool is_padded(padded *x, const at_expr *e) {
    x->source = e;
    return at_expr_read_of(e, x->tensor) && at_expr_find(e, reads_more, x->c) &&
           !at_expr_find_index(e, is_place, NULL) && is_of_shared(x);
}

/* inside ? x : 0 of inside ? x*k : 0, of the same type as x. */
static bool finds_factor(padded *x, at_expr *e) {
    if (e->op == AT_X_MUL) return finds_factor(x, e->arg[0]) || finds_factor(x, e->arg[1]);
    if (e->op != AT_X_INDEX && x->c->tensors[x->tensor].type != AT_F32) return false;
    const at_expr *product = chosen_or_zero(x->found);
    at_expr *parts[3];
    for (int i = 0; i < 3; i++) parts[i] = x->found->arg[i] == product ? e : x->found->arg[i];
    x->factor = e;
    return is_padded(x, at_expr_new(x->arena, AT_X_SELECT, 3, parts));
}

static at_walk find_padded(const at_expr *e, void *ctx) {
    padded *x = ctx;
    at_expr *chosen = chosen_or_zero(e);
    x->found = e;
    x->factor = NULL;
    if (is_padding(x, e) &&
        (is_padded(x, e) || (chosen && chosen->op == AT_X_MUL && finds_factor(x, chosen))))
        return AT_WALK_END;
    return e->op == AT_X_INDEX ? AT_WALK_PAST : AT_WALK_ON;
}

static bool find(padded *x) {
    return !x->stage->is_places && axes_of(x->stage) <= 32 &&
           at_expr_walk(x->stage->body, find_padded, x);
}

const at_expr *at_edit_padded_of(at_arena *a, const at_compute *c, int stage, int tensor,
                                 bool *is_factor) {
    padded x = {.arena = a, .c = c, .stage = &c->tensors[stage], .tensor = tensor};
    if (!find(&x)) return NULL;
    *is_factor = x.factor;
    return x.source;
}

/* ---- the stage ------------------------------------------------------------------------------- */

/* A sum of expressions, and a number that comes last; NULL: there are none. */
typedef struct total {
    at_arena *arena;
    at_expr *e;
    int64_t number;
} total;

/* by*e; NULL: by. */
static void add(total *t, int64_t by, at_expr *e) {
    if (!by) return;
    if (!e) {
        t->number += by;
        return;
    }
    const int64_t times = by < 0 ? -by : by;
    if (times > 1) e = at_expr_pair(t->arena, AT_X_MUL, at_expr_int(t->arena, times), e);
    if (t->e) t->e = at_expr_pair(t->arena, by < 0 ? AT_X_SUB : AT_X_ADD, t->e, e);
    else t->e = by < 0 ? at_expr_new(t->arena, AT_X_NEG, 1, &e) : e;
}

static at_expr *all_of(const total *t) {
    at_expr *number = at_expr_int(t->arena, t->number < 0 ? -t->number : t->number);
    if (!t->e) return t->number < 0 ? at_expr_new(t->arena, AT_X_NEG, 1, &number) : number;
    if (!t->number) return t->e;
    return at_expr_pair(t->arena, t->number < 0 ? AT_X_SUB : AT_X_ADD, t->e, number);
}

/* by*size*e; either NULL: 1. */
static void add_product(total *t, int64_t by, const at_expr *size, at_expr *e) {
    at_expr *factor = size ? rewrite_copy_expr(t->arena, size) : NULL;
    add(t, by, factor && e ? at_expr_pair(t->arena, AT_X_MUL, factor, e) : factor ? factor : e);
}

/* by times how far a part goes: by*size*(extent - 1). */
static void add_reach(total *t, const at_tensor *stage, const index_part *p, int64_t by) {
    const at_expr *extent = stage->axes[p->axis].extent;
    if (extent->op == AT_X_INT) {
        add_product(t, by * (extent->integer - 1), p->size, NULL);
        return;
    }
    add_product(t, by, p->size, rewrite_copy_expr(t->arena, extent));
    add_product(t, -by, p->size, NULL);
}

typedef struct padding {
    rewrite_values values; /* names of the reader's axes */
    padded of;
    const char *names[MAX_AXES]; /* [way] the stage's axis of it; NULL: its axes are the reader's */
    at_tensor made;
    at_expr *index[MAX_AXES]; /* [axis of the stage] where the reader reads it */
} padding;

/* Axes that go backwards begin where the sum is least. */
static void add_least(const padding *x, total *t, const way *w, int64_t by) {
    for (int i = 0; i < w->sum.num; i++)
        if (w->sum.of[i].by < 0) add_reach(t, x->of.stage, &w->sum.of[i], by * -w->sum.of[i].by);
}

static const way *way_of_axis(const padding *x, int axis) {
    const way *w = x->of.ways;
    while (!(w->axes >> axis & 1)) w++;
    return w;
}

/* What a sum of axes is by the stage's axis. */
static at_expr *by_stage(const padding *x, const way *w, const index_sum *s) {
    total t = {x->values.arena, NULL, 0};
    const int64_t by = times(w, s);
    add(&t, by, at_expr_name(t.arena, x->names[w - x->of.ways]));
    add_least(x, &t, w, -by);
    for (int i = 0; i < s->num; i++)
        if (s->of[i].axis == NO_AXIS) add_product(&t, s->of[i].by, s->of[i].size, NULL);
    return all_of(&t);
}

/* A part of what the stage computes. */
static at_expr *written(const padding *x, const at_expr *e) {
    at_arena *a = x->values.arena;
    index_sum s;
    const way *w = sum_of(e, &s) ? way_of_axis(x, __builtin_ctz(index_sum_axes(&s))) : NULL;
    if (w && is_shared(w)) {
        at_expr *at = by_stage(x, w, &s);
        return at_op_compares(e->op) ? at_expr_pair(a, e->op, at, at_expr_int(a, 0)) : at;
    }
    if (w) return rewrite_expr_at(a, e, x->values.of_axis);
    at_expr *copy = rewrite_copy_expr(a, e);
    for (int i = 0; i < e->nargs; i++) copy->arg[i] = written(x, e->arg[i]);
    return copy;
}

static bool is_number(const at_expr *e) {
    return at_expr_is_number(e) || (e->op == AT_X_NEG && at_expr_is_number(e->arg[0]));
}

/* Does a type hold each number that is chosen, and is all else that is chosen of it? */
static bool holds(const at_compute *c, const at_expr *e, at_type type) {
    if (e->op == AT_X_SELECT) return holds(c, e->arg[1], type) && holds(c, e->arg[2], type);
    if (e->op == AT_X_INDEX) return c->tensors[e->ref].type == type;
    if (!is_number(e)) return false;
    const at_expr *of = e->op == AT_X_NEG ? e->arg[0] : e;
    const double x = at_expr_number(of), value = e->op == AT_X_NEG ? -x : x;
    const at_type_facts *facts = at_type_of(type);
    if (facts->is_int) return of->op == AT_X_INT && facts->least <= value && value <= facts->most;
    return !at_type_is_half(type) || value == 0 || isinf(value);
}

static at_type type_of(const at_compute *c, const at_expr *e) {
    const at_expr *read = at_expr_find(e, reads_value, c);
    if (holds(c, e, c->tensors[read->ref].type)) return c->tensors[read->ref].type;
    return is_float_expr(c, e) && at_expr_is_whole(c, e) ? AT_S32 : AT_F32;
}

/* An axis of the stage for an axis of the reader, unless that has one. */
static void add_axis(padding *x, rewrite *w, int axis) {
    at_arena *a = w->arena;
    const at_axis *of = &x->of.stage->axes[axis];
    const way *own = way_of_axis(x, axis);
    const bool shared = is_shared(own);
    const char **name = &x->names[own - x->of.ways], *plain = of->name;
    for (int k = 0; k < x->made.num_axes; k++)
        if (!strcmp(x->made.axes[k].name, shared && *name ? *name : plain)) return;
    at_axis *to = &x->made.axes[x->made.num_axes];
    total index = {.arena = a}, extent = {.arena = a, .number = 1};
    if (shared) {
        *name = rewrite_fresh(w, at_format(a, "%s_%s", x->made.name, plain));
        for (int i = 0; i < own->sum.num; i++) {
            const index_part *p = &own->sum.of[i];
            add_product(&index, p->by, p->size, rewrite_copy_expr(a, x->values.of_axis[p->axis]));
            add_reach(&extent, x->of.stage, p, p->by < 0 ? -p->by : p->by);
        }
        add_least(x, &index, own, 1);
    }
    *to = shared ? (at_axis){.name = *name, .extent = all_of(&extent)}
                 : (at_axis){.name = plain, .extent = rewrite_copy_expr(a, of->extent)};
    x->index[x->made.num_axes++] =
        shared ? all_of(&index) : rewrite_copy_expr(a, x->values.of_axis[axis]);
}

typedef struct axis_adder {
    padding *x;
    rewrite *w;
    uint32_t axes; /* so far */
    bool adds;
} axis_adder;

static at_walk take_axis(const at_expr *e, void *ctx) {
    axis_adder *x = ctx;
    if (e->op != AT_X_NAME || e->ref >= AT_REF_SIZE) return AT_WALK_ON;
    if (x->adds) add_axis(x->x, x->w, e->ref);
    x->axes |= way_of_axis(x->x, e->ref)->axes;
    return AT_WALK_ON;
}

/* Axes of the indices of values alone, in their order. */
static at_walk take_axes_of_read(const at_expr *e, void *ctx) {
    const axis_adder *x = ctx;
    if (!reads_value(e, x->x->of.c)) return AT_WALK_ON;
    for (int i = 0; i < e->nargs; i++) at_expr_walk(e->arg[i], take_axis, ctx);
    return AT_WALK_PAST;
}

/* What conditions alone have comes first, then what is read, as it lies. */
static void add_axes(padding *x, rewrite *w) {
    axis_adder of_reads = {x, w, 0, false};
    at_expr_walk(x->of.source, take_axes_of_read, &of_reads);
    for (int k = 0; k < axes_of(x->of.stage); k++)
        if (at_expr_axes(x->of.source) & ~of_reads.axes & 1u << k) add_axis(x, w, k);
    of_reads.adds = true;
    at_expr_walk(x->of.source, take_axes_of_read, &of_reads);
}

static at_expr *read_made(const padding *x) {
    at_arena *a = x->values.arena;
    at_expr **index = AT_NEW_ARRAY(a, at_expr *, x->made.num_axes);
    for (int k = 0; k < x->made.num_axes; k++) index[k] = rewrite_copy_expr(a, x->index[k]);
    return at_expr_read(a, x->made.name, x->made.num_axes, index);
}

/* A product with the read for the factor that is padded. */
static at_expr *product_with(const padding *x, const at_expr *e) {
    at_arena *a = x->values.arena;
    if (at_expr_equal(e, x->of.factor)) return read_made(x);
    return e->op == AT_X_MUL
               ? at_expr_pair(a, AT_X_MUL, product_with(x, e->arg[0]), product_with(x, e->arg[1]))
               : rewrite_expr_at(a, e, x->values.of_axis);
}

/* Reads the stage wherever an expression has what is padded. */
static at_expr *with_read(const at_expr *e, at_expr *copy, void *ctx) {
    padding *x = ctx;
    if (!at_expr_equal(e, x->of.found)) return rewrite_at_values(e, copy, &x->values);
    return x->of.factor ? product_with(x, chosen_or_zero(x->of.found)) : read_made(x);
}

at_status at_edit_pad(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                      const char *name, const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    const at_compute *c = t->compute;
    AT_TRY(rewrite_start(&w, a, t, name, err));
    const int s = at_compute_find(c, stage), of = at_compute_find(c, tensor);
    if (s < 0 || !tree_leaf(w.made, stage))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    if (of < 0) return at_fail(err, AT_E_INPUT, "there is no tensor \"%s\"", tensor);
    padding x = {.values = {a, rewrite_axes(a, &c->tensors[s])},
                 .of = {.arena = a, .c = c, .stage = &c->tensors[s], .tensor = of},
                 .made = {.name = name, .role = AT_ROLE_STAGE}};
    if (!find(&x.of))
        return at_fail(err, AT_E_INPUT,
                       "@%s reads \"%s\" under no condition, or bound, on sums of its axes", stage,
                       tensor);
    x.made.axes = AT_NEW_ARRAY(a, at_axis, axes_of(x.of.stage));
    x.made.type = type_of(c, x.of.source);
    add_axes(&x, &w);
    x.made.written = written(&x, x.of.source);
    rewrite_add_stage(&w, stage, x.made, at_expr_map(a, x.of.stage->body, with_read, &x));
    return rewrite_finish(&w, compute, out);
}
