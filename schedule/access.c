/* schedule/access.c: how a read moves: see access.h. Indices are evaluated at points instead of
 * being simplified: no text is made, and no expression. */
#include "schedule/access.h"
#include "schedule/schedule_int.h"

#include <string.h>

/* ---- indices at a point ---------------------------------------------------------------------- */

typedef struct point {
    const int64_t *values, *axis;
} point;

static int64_t index_at(const int64_t *values, const at_expr *e, const int64_t *axis) {
    int64_t x, y, value;
    switch (e->op) {
    case AT_X_INT: return e->integer;
    case AT_X_NAME: return e->ref < AT_REF_SIZE ? axis[e->ref] : values[e->ref - AT_REF_SIZE];
    case AT_X_NEG: return -index_at(values, e->arg[0], axis);
    case AT_X_NOT: return !index_at(values, e->arg[0], axis);
    case AT_X_SELECT:
        return index_at(values, e->arg[index_at(values, e->arg[0], axis) ? 1 : 2], axis);
    default: break;
    }
    if (e->nargs != 2 || e->op == AT_X_INDEX) return 0;
    x = index_at(values, e->arg[0], axis);
    y = index_at(values, e->arg[1], axis);
    switch (e->op) { /* those that indices are made of, without a call */
    case AT_X_ADD: return __builtin_add_overflow(x, y, &value) ? 0 : value;
    case AT_X_SUB: return __builtin_sub_overflow(x, y, &value) ? 0 : value;
    case AT_X_MUL: return __builtin_mul_overflow(x, y, &value) ? 0 : value;
    case AT_X_DIV:
        if (x >= 0 && y > 0) return x / y;
        break;
    case AT_X_MOD:
        if (x >= 0 && y > 0) return x % y;
        break;
    default: break;
    }
    return at_expr_binary(e->op, x, y, &value) ? value : 0;
}

static int64_t value_at(point p, const at_expr *e) { return index_at(p.values, e, p.axis); }

int64_t at_program_index(const at_program *p, const at_expr *e, const int64_t *axis) {
    return index_at(p->values, e, axis);
}

/* Has it a value, which neither what comes at run time decides nor a size that varies? */
static bool is_known(point p, const bool *varies, const at_expr *e) {
    int64_t value;
    if (e->op == AT_X_INT) return true;
    if (e->op == AT_X_NAME) return e->ref < AT_REF_SIZE || !varies || !varies[e->ref - AT_REF_SIZE];
    for (int i = 0; i < e->nargs; i++)
        if (!is_known(p, varies, e->arg[i])) return false;
    if (e->op == AT_X_NEG || e->op == AT_X_NOT || e->op == AT_X_SELECT) return true;
    return e->nargs == 2 && e->op != AT_X_INDEX &&
           at_expr_binary(e->op, value_at(p, e->arg[0]), value_at(p, e->arg[1]), &value);
}

bool at_size_value(const at_read_facts *f, const at_expr *e, int64_t *out) {
    const point p = {.values = f->values};
    *out = value_at(p, e);
    return is_known(p, f->varies, e);
}

/* ---- what indices are made of ---------------------------------------------------------------- */

void at_index_look(const at_expr *e, uint32_t *axes, bool *divides) {
    uint32_t of_factors = ~0u;
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE && e->ref < 32) *axes |= 1u << e->ref;
    for (int i = 0; i < e->nargs; i++) {
        uint32_t inside = 0;
        at_index_look(e->arg[i], &inside, divides);
        *axes |= inside;
        of_factors &= inside ? ~0u : 0;
    }
    switch (e->op) {
    case AT_X_INT:
    case AT_X_NAME:
    case AT_X_INDEX:
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_NEG: break;
    case AT_X_MUL: *divides |= of_factors != 0; break;
    default: *divides = true;
    }
}

static bool is_entry(const at_expr *e, const void *ctx) {
    const at_compute *c = ctx;
    return e->op == AT_X_INDEX && at_tensor_has_entries(&c->tensors[e->ref]);
}

uint32_t at_axes_by_data(const at_compute *c, const at_expr *e) {
    uint32_t axes = 0;
    bool unused = false, compares = at_op_compares(e->op) && e->op != AT_X_EQ;
    if (e->op == AT_X_INDEX) return 0;
    if (compares && at_expr_find(e, is_entry, c)) at_index_look(e, &axes, &unused);
    for (int i = 0; i < e->nargs; i++) axes |= at_axes_by_data(c, e->arg[i]);
    return axes;
}

typedef struct size_list {
    int most, *sizes, *num; /* *num -1: there are more */
} size_list;

static at_walk add_size(const at_expr *e, void *ctx) {
    const size_list *x = ctx;
    if (e->op != AT_X_NAME || e->ref < AT_REF_SIZE || *x->num < 0) return AT_WALK_ON;
    for (int i = 0; i < *x->num; i++)
        if (x->sizes[i] == e->ref - AT_REF_SIZE) return AT_WALK_ON;
    if (*x->num == x->most) *x->num = -1;
    else x->sizes[(*x->num)++] = e->ref - AT_REF_SIZE;
    return AT_WALK_ON;
}

void at_index_sizes(const at_expr *e, int most, int *sizes, int *num) {
    at_expr_walk(e, add_size, &(size_list){most, sizes, num});
}

int at_index_step(const at_expr *e, int axis) {
    if (!at_expr_uses(e, axis)) return 0;
    if (e->op == AT_X_NAME) return 1;
    if (e->op != AT_X_NEG && e->op != AT_X_ADD && e->op != AT_X_SUB) return AT_STEP_OTHER;
    int x = at_index_step(e->arg[0], axis), y = e->nargs > 1 ? at_index_step(e->arg[1], axis) : 0;
    if (x == AT_STEP_OTHER || y == AT_STEP_OTHER) return AT_STEP_OTHER;
    int step = e->op == AT_X_NEG ? -x : e->op == AT_X_ADD ? x + y : x - y;
    return step < -1 || step > 1 ? AT_STEP_OTHER : step;
}

enum { MOST_BOUNDS = 4 }; /* around each other, that are looked through */
static int operand_within(const at_expr *e, int most);

/* An index within so many bounds at most. */
static const at_expr *within_bounds(const at_expr *e, int most) {
    const int inside = most > 0 ? operand_within(e, most - 1) : -1;
    return inside < 0 ? e : within_bounds(e->arg[inside], most - 1);
}

/* Which operand of a min or max is bounded by the other: the one that moves; of two, as where a
 * picture is reflected, max(h - 1, 1 - h), the one that goes forwards. -1: none is. */
static int operand_within(const at_expr *e, int most) {
    if ((e->op != AT_X_MIN && e->op != AT_X_MAX) || at_expr_reads(e)) return -1;
    const uint32_t axes = at_expr_axes(e->arg[0]), others = at_expr_axes(e->arg[1]);
    if (!axes != !others) return !axes;
    const at_expr *x = within_bounds(e->arg[0], most), *y = within_bounds(e->arg[1], most);
    for (int k = 0; k < AT_ACCESS_AXES; k++) {
        if (!((axes & others) >> k & 1)) continue;
        const int step = at_index_step(x, k), other = at_index_step(y, k);
        if (step == -other && (step == 1 || step == -1)) return step < 0;
    }
    return -1;
}

static int bounded_operand(const at_expr *e) { return operand_within(e, MOST_BOUNDS); }

const at_expr *at_index_unbounded(at_arena *a, const at_expr *e) {
    at_expr *copy = NULL;
    const int inside_of = bounded_operand(e);
    if (inside_of >= 0) return at_index_unbounded(a, e->arg[inside_of]);
    for (int i = 0; i < e->nargs; i++) {
        const at_expr *inside = at_index_unbounded(a, e->arg[i]);
        if (inside == e->arg[i]) continue;
        if (!copy) {
            copy = at_copy(a, e, sizeof *e);
            copy->arg = at_copy(a, e->arg, sizeof *e->arg * (size_t)e->nargs);
        }
        copy->arg[i] = (at_expr *)inside;
    }
    return copy ? copy : e;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Does an index of the read depend on what an index tensor holds? */
static bool is_listed_inside(const at_expr *e) {
    for (int i = 0; i < e->nargs; i++)
        if (at_expr_reads(e->arg[i])) return true;
    return false;
}

const at_expr *at_stage_passed_on(at_arena *a, const at_compute *c, int stage) {
    const at_expr *e = c->tensors[stage].body;
    while (e && e->op == AT_X_SELECT) e = e->arg[1];
    const bool is_read = e && e->op == AT_X_INDEX && e->ref < stage && !is_listed_inside(e);
    return is_read ? at_index_unbounded(a, e) : NULL;
}

void at_chain_index(const at_program *p, const at_chain *c, const int64_t *axis, int dims,
                    int64_t *out) {
    int64_t at[2][AT_ACCESS_AXES]; /* as many as the stage has axes */
    const int last = c->num - 1, has = c->read[last]->nargs;
    for (int i = 0; i <= last; i++) {
        const at_expr *e = c->read[i];
        int64_t *to = at[i & 1];
        for (int d = 0; d < e->nargs && d < AT_ACCESS_AXES; d++)
            to[d] = at_program_index(p, e->arg[d], i ? at[(i - 1) & 1] : axis);
    }
    for (int d = 0; d < dims; d++) out[d] = d < has ? at[last & 1][d] : 0;
}

int64_t at_chain_moved(const at_program *p, const at_chain *c, const int64_t *axis,
                       const int64_t *origin, const int64_t *stride, int dims, int64_t *by) {
    int64_t sum = 0;
    at_chain_index(p, c, axis, dims, by);
    for (int d = 0; d < dims; d++) {
        by[d] -= origin[d];
        sum += by[d] * stride[d];
    }
    return sum;
}

/* ---- all that a stage reads ------------------------------------------------------------------ */

/* Which axes of the stage an index depends on, as bits; along which of them what comes at run time,
 * or varies, decides how far a step goes. Along which it is a step of one; along which it is one
 * from an entry of an index tensor to the next, and nothing else. */
typedef struct reach {
    uint32_t of, by_data, by_one, by_entry;
    bool has_data;
} reach;

/* Of an entry, or of a sum or product of two. */
static void reach_on(const at_compute *c, const at_expr *e, const reach *part, reach *out) {
    const reach *x = &part[0], *y = &part[1];
    if (e->op == AT_X_INDEX && at_tensor_has_entries(&c->tensors[e->ref])) {
        out->by_entry = part[e->nargs - 1].by_one;
        for (int i = 0; i < e->nargs - 1; i++) out->by_entry &= ~part[i].of;
        for (int i = 0; i < e->nargs; i++) out->by_entry &= ~part[i].by_data;
    }
    if (e->op == AT_X_MUL) {
        if (!y->of && !y->has_data) out->by_entry = x->by_entry;
        if (!x->of && !x->has_data) out->by_entry = y->by_entry;
    }
    if (e->op != AT_X_ADD && e->op != AT_X_SUB) return;
    out->by_one = x->by_one & ~y->of;
    out->by_entry = x->by_entry & ~y->of;
    if (e->op == AT_X_SUB) return;
    out->by_one |= y->by_one & ~x->of;
    out->by_entry |= y->by_entry & ~x->of;
}

static reach reach_of(const at_read_facts *f, const at_expr *e, const reach *axis) {
    reach out = {.has_data = e->op == AT_X_INDEX};
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) return axis[e->ref];
    if (e->op == AT_X_NAME) out.has_data = f->varies && f->varies[e->ref - AT_REF_SIZE];
    reach part[AT_ACCESS_AXES];
    for (int i = 0; i < e->nargs; i++) {
        const reach x = reach_of(f, e->arg[i], axis);
        if (i < AT_ACCESS_AXES) part[i] = x;
        out.of |= x.of;
        out.by_data |= x.by_data;
        out.has_data |= x.has_data;
    }
    /* Only in a sum is a step along one term the same whatever the others are. */
    bool is_sum = e->op == AT_X_ADD || e->op == AT_X_SUB || e->op == AT_X_NEG;
    if (out.has_data && !is_sum) out.by_data = out.of;
    if (e->nargs && e->nargs <= AT_ACCESS_AXES) reach_on(f->compute, e, part, &out);
    return out;
}

/* What a read's indices reach together: a step goes from entry to entry where it does so in a
 * dimension, and in all others that it moves, or by one there. */
static reach reach_of_read(const reach *index, int n) {
    reach all = {0};
    uint32_t otherwise = 0;
    for (int i = 0; i < n; i++) {
        otherwise |= index[i].of & ~index[i].by_entry & ~index[i].by_one;
        all.by_entry |= index[i].by_entry;
        all.by_data |= index[i].by_data;
        all.has_data |= index[i].has_data;
    }
    all.by_entry &= ~otherwise;
    return all;
}

/* Of an index that min and max bound. */
static at_guard bound_at(point p, const at_expr *e) {
    at_guard found = AT_NO_GUARD;
    if (e->op == AT_X_INDEX) return AT_NO_GUARD;
    for (int i = 0; i < e->nargs; i++) {
        const at_guard inside = bound_at(p, e->arg[i]);
        found = found > inside ? found : inside;
    }
    const int inside_of = bounded_operand(e);
    if (inside_of < 0) return found;
    const bool decides = value_at(p, e) != value_at(p, e->arg[inside_of]);
    return decides ? AT_CUT : found > AT_GUARDED ? found : AT_GUARDED;
}

enum { MOST_READS = 256, MOST_DEPTH = 32, MOST_LOOKS = 20000 };

typedef struct reader {
    at_arena *arena;
    const at_read_facts *f;
    at_readings out;
    int left; /* expressions that are still looked at */
} reader;

/* What is behind a read, in terms of the stage's own axes. from: what the stage itself reads, where
 * depth is over 0. */
typedef struct way {
    int from, depth;
    const int64_t *axis;
    const reach *reaches; /* of the axes; NULL: nobody wants to know */
    at_guard choice, bound;
} way;

static void collect(reader *r, const at_expr *e, way w);

/* Through a stage that is dissolved, to what that reads, or to a tensor. */
static void collect_read(reader *r, const at_expr *e, const way *w) {
    const at_read_facts *f = r->f;
    int64_t *index = AT_NEW_ARRAY(r->arena, int64_t, e->nargs + 1), at = 0;
    reach *reaches = w->reaches ? AT_NEW_ARRAY(r->arena, reach, e->nargs + 1) : NULL;
    const point p = {f->values, w->axis};
    bool known = true;
    way inside = {w->depth ? w->from : e->ref, w->depth + 1, index, reaches, w->choice, w->bound};
    for (int i = 0; i < e->nargs; i++) {
        const at_guard bound = bound_at(p, e->arg[i]);
        inside.bound = inside.bound > bound ? inside.bound : bound;
        index[i] = value_at(p, e->arg[i]);
        known &= is_known(p, f->varies, e->arg[i]);
        at = (int64_t)((uint64_t)at * (uint64_t)f->extents[e->ref][i] + (uint64_t)index[i]);
        if (reaches) reaches[i] = reach_of(f, e->arg[i], w->reaches);
    }
    if (f->dissolved[e->ref]) {
        collect(r, f->compute->tensors[e->ref].body, inside);
        return;
    }
    reach all = reaches ? reach_of_read(reaches, e->nargs) : (reach){0};
    if (!known && !all.has_data) all.by_data = UINT32_MAX; /* a division by 0 */
    if (r->out.len < MOST_READS)
        *at_push(r->arena, &r->out) = (at_reading){.tensor = e->ref,
                                                   .from = inside.from,
                                                   .depth = w->depth,
                                                   .at = at,
                                                   .known = known && !all.has_data,
                                                   .by_data = all.by_data,
                                                   .by_entry = all.by_entry,
                                                   .choice = inside.choice,
                                                   .bound = inside.bound,
                                                   .read = e};
    for (int i = 0; i < e->nargs; i++) collect(r, e->arg[i], *w);
}

static void collect(reader *r, const at_expr *e, way w) {
    if (e->op == AT_X_SELECT && w.choice != AT_CUT) {
        const point p = {r->f->values, w.axis};
        const bool takes_first = value_at(p, e->arg[0]) != 0;
        w.choice = takes_first == at_expr_reads(e->arg[1]) ? AT_GUARDED : AT_CUT;
    }
    if (--r->left < 0) return;
    if (e->op == AT_X_INDEX && w.depth <= MOST_DEPTH) {
        collect_read(r, e, &w);
        return;
    }
    for (int i = 0; i < e->nargs && w.depth <= MOST_DEPTH; i++) collect(r, e->arg[i], w);
}

at_readings at_readings_at(at_arena *a, const at_read_facts *f, int stage, const int64_t *axis,
                           bool along) {
    reader r = {.arena = a, .f = f, .left = MOST_LOOKS};
    reach reaches[AT_ACCESS_AXES];
    for (int i = 0; i < AT_ACCESS_AXES; i++)
        reaches[i] = (reach){.of = (uint32_t)1 << i, .by_one = (uint32_t)1 << i};
    collect(&r, f->compute->tensors[stage].body,
            (way){.from = -1, .axis = axis, .reaches = along ? reaches : NULL});
    r.out.is_whole = r.left > 0;
    return r.out;
}
