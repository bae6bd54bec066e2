/* schedule/reference/reference_exact.c: which values of a computation are the same in every kernel,
 * which rounded ones several terms of a sum share, and which one expression reads several times. */
#include "schedule/reference/reference_int.h"

#include <math.h>

static const double most_exact_int = NAIVE_MOST_EXACT;

/* ---- what is exact --------------------------------------------------------------------------- */

static bool is_small(const naive *m, const at_expr *e) {
    at_expr *arg[] = {(at_expr *)(uintptr_t)e};
    at_expr negative = {.op = AT_X_NEG, .nargs = 1, .arg = arg};
    return smallest_int(m->c, m->values, m->extents, m->stage, e) >= -most_exact_int &&
           smallest_int(m->c, m->values, m->extents, m->stage, &negative) >= -most_exact_int;
}

bool naive_is_certain(const naive *m, const at_expr *e) {
    if (e->op == AT_X_INDEX && m->c->tensors[e->ref].is_places && m->rounded[e->ref]) return false;
    for (int i = 0; i < e->nargs; i++)
        if (is_float_expr(m->c, e->arg[i]) ? !naive_is_exact(m, e->arg[i])
                                           : !naive_is_certain(m, e->arg[i]))
            return false;
    return true;
}

/* Is e added to a float sum by itself, as each term of a - b*c is, or a product with that in one
 * operation? */
static bool is_added(const at_expr *term, const at_expr *e) {
    if (term == e) return true;
    const bool adds = term->op == AT_X_ADD || term->op == AT_X_SUB;
    if (!adds && term->op != AT_X_SELECT) return false;
    for (int i = !adds; i < term->nargs; i++)
        if (is_added(term->arg[i], e)) return true;
    return false;
}

static bool rounds_terms(const at_tensor *t) {
    return t->num_reduce && !at_reduction_is_extreme(t->reduction) && !at_type_of(t->type)->is_int;
}

/* Of floats beside integers, each operation on which is rounded as it is written. */
static bool is_step(const naive *m, const at_expr *e) {
    const at_tensor *t = naive_stage(m);
    if (!m->c->in_steps || (rounds_terms(t) && is_added(t->body, e))) return false;
    return naive_is_exact(m, e->arg[0]) && naive_is_exact(m, e->arg[1]);
}

bool naive_is_exact(const naive *m, const at_expr *e) {
    if (!is_float_expr(m->c, e)) return is_small(m, e) && naive_is_certain(m, e);
    switch (e->op) {
    case AT_X_FLOAT: return true;
    case AT_X_INDEX: return !m->rounded[e->ref] && naive_is_certain(m, e);
    case AT_X_NEG: return naive_is_exact(m, e->arg[0]);
    case AT_X_MIN:
    case AT_X_MAX: return naive_is_exact(m, e->arg[0]) && naive_is_exact(m, e->arg[1]);
    case AT_X_SELECT:
        return naive_is_certain(m, e->arg[0]) && naive_is_exact(m, e->arg[1]) &&
               naive_is_exact(m, e->arg[2]);
    case AT_X_CALL:
        return !at_function_ulps((at_function)e->integer) && naive_is_exact(m, e->arg[0]);
    default: return is_step(m, e);
    }
}

/* ---- what terms of a sum share --------------------------------------------------------------- */

/* Of a stage's axes from .. to - 1 those of several places. */
static uint32_t long_axes(const naive *m, int stage, int from, int to) {
    uint32_t axes = 0;
    for (int i = from; i < to; i++)
        if (m->extents[stage][i] != 1) axes |= 1u << i;
    return axes;
}

typedef struct share {
    const naive *m;
    uint32_t all; /* axes of the stage */
} share;

static bool is_share(const at_expr *e, const void *ctx) {
    const share *x = ctx;
    if (e->op != AT_X_INDEX) return false;
    return x->m->shares[e->ref] || (x->m->rounded[e->ref] && (at_expr_axes(e) & x->all) != x->all);
}

/* Does a stage's element hang on a rounded value that other elements of it do, too? What goes on
 * from step to step is not followed: its limits are those of samples. */
static bool shares_within(const naive *m, int stage) {
    const at_tensor *t = &m->c->tensors[stage];
    if (t->role != AT_ROLE_STAGE || t->num_reduce || at_tensor_goes_in_steps(t)) return false;
    const share x = {m, long_axes(m, stage, 0, t->num_axes)};
    return at_expr_find_value(t->body, is_share, &x);
}

static void find_shares(naive *m) {
    m->shares = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    for (int i = 0; i < m->c->num_tensors; i++) {
        const int t = m->c->order[i];
        m->shares[t] = shares_within(m, t);
    }
}

/* Is its element what its text says? An s32 holds any entry of an index tensor. */
static bool is_kept(const naive *m, const at_tensor *t) {
    if (at_type_of(t->type)->is_int && !is_float_expr(m->c, t->body))
        return naive_is_certain(m, t->body);
    return naive_is_exact(m, t->body);
}

void naive_find_rounded(naive *m) {
    bool changes = true;
    m->rounded = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    while (changes) { /* once, but for cycles, whose stages read what is below */
        changes = false;
        for (m->stage = 0; m->stage < m->c->num_tensors; m->stage++) {
            const at_tensor *t = naive_stage(m);
            if (t->role != AT_ROLE_STAGE || m->rounded[m->stage]) continue;
            m->rounded[m->stage] = rounds_terms(t) || !is_kept(m, t);
            changes |= m->rounded[m->stage] && t->cycle;
        }
    }
    find_shares(m);
    naive_find_signs(m);
}

bool naive_is_shared(const naive *m, const at_expr *e) {
    const at_tensor *t = naive_stage(m);
    const uint32_t summed = long_axes(m, m->stage, t->num_axes, axes_of(t)), axes = at_expr_axes(e);
    if (!is_float_expr(m->c, e) || naive_is_exact(m, e)) return false;
    if ((axes & summed) != summed) return true;
    return e->op == AT_X_INDEX && m->shares[e->ref];
}

static bool is_shared(const at_expr *e, const void *m) { return naive_is_shared(m, e); }

bool naive_has_shared(const naive *m, const at_expr *e) {
    return at_expr_find_value(e, is_shared, m);
}

/* ---- values that one expression reads several times ------------------------------------------ */

/* Reads of an expression where values are, in their order. */
typedef struct value_reads {
    at_arena *arena;
    AT_VEC(const at_expr *) all;
} value_reads;

static at_walk add_read(const at_expr *e, void *ctx) {
    value_reads *reads = ctx;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    *at_push(reads->arena, &reads->all) = e;
    return AT_WALK_PAST;
}

int naive_repeated(const naive *m, const at_expr *e) {
    for (int i = 0; i < m->num_repeated; i++)
        if (at_expr_equal(m->repeated[i], e)) return i;
    return -1;
}

bool naive_find_repeated(naive *m, const at_expr *e) {
    value_reads reads = {.arena = m->arena};
    m->num_repeated = 0;
    at_expr_walk(e, add_read, &reads);
    for (int i = 0; i < reads.all.len && m->num_repeated < NAIVE_SAMPLES; i++) {
        const at_expr *read = reads.all.data[i];
        int n = 0;
        if (!m->rounded[read->ref] || naive_repeated(m, read) >= 0) continue;
        for (int k = i; k < reads.all.len; k++) n += at_expr_equal(reads.all.data[k], read);
        if (n > 1) m->repeated[m->num_repeated++] = read;
    }
    return m->num_repeated > 0;
}
