/* schedule/reference/reference_signs.c: which stages have errors with signs, as samples
 * (reference_samples.c).
 *
 * Stages that go in steps have signs, and so do stages where errors of one origin meet again
 * without steps, as in a chain of stages that each read neighbours of the one before: the element
 * beside mine has most of my errors. What reads a recurrence several times, as a quotient of two,
 * is of these. */
#include "schedule/reference/reference_int.h"

/* Of longer sums their own rounding counts, and samples are dear. */
enum { MOST_TERMS = 32 };

/* Errors of a stage that does not go in steps. */
typedef struct stage_errors {
    bool may;        /* they may have signs */
    bool meets;      /* some that are added up have an origin in common */
    uint32_t shares; /* axes along which elements have an origin in common */
} stage_errors;

typedef struct reads_of {
    const naive *m;
    AT_VEC(const at_expr *) all; /* of rounded values */
} reads_of;

static at_walk add_read(const at_expr *e, void *ctx) {
    reads_of *x = ctx;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    if (x->m->rounded[e->ref]) *at_push(x->m->arena, &x->all) = e;
    return AT_WALK_PAST;
}

static bool may_have_signs(const naive *m, int stage) {
    const at_tensor *t = &m->c->tensors[stage];
    int64_t terms = 1;
    if (t->role != AT_ROLE_STAGE || !m->rounded[stage] || at_tensor_goes_in_steps(t) ||
        t->type != AT_F32 || at_running_axis(t) >= 0 || at_scatter_of(t).axes)
        return false;
    for (int i = t->num_axes; i < axes_of(t); i++) {
        if (t->axes[i].begin) return false;
        terms *= m->extents[stage][i];
        if (terms > MOST_TERMS) return false;
    }
    return !t->num_reduce || t->reduction == AT_REDUCE_SUM;
}

/* Axes of the stage that its terms go along. */
static uint32_t summed_axes(const naive *m, int stage) {
    const at_tensor *t = &m->c->tensors[stage];
    uint32_t axes = 0;
    for (int i = t->num_axes; i < axes_of(t); i++)
        if (m->extents[stage][i] > 1) axes |= 1u << i;
    return axes;
}

/* Dimensions of what is read that change from term to term, or from the i-th read to another. */
static uint32_t several_of(const reads_of *reads, int i, uint32_t summed) {
    const at_expr *read = reads->all.data[i];
    uint32_t dims = 0;
    for (int d = 0; d < read->nargs; d++) {
        bool moves = at_expr_axes(read->arg[d]) & summed;
        for (int k = 0; k < reads->all.len; k++)
            moves |= reads->all.data[k]->ref == read->ref &&
                     !at_expr_equal(reads->all.data[k]->arg[d], read->arg[d]);
        if (moves) dims |= 1u << d;
    }
    return dims;
}

static void look_at(const naive *m, stage_errors *of, int stage) {
    reads_of reads = {.m = m};
    stage_errors *own = &of[stage];
    int of_steps = 0; /* different reads of what goes in steps */
    own->may = may_have_signs(m, stage);
    if (!own->may) return;
    at_expr_walk(m->c->tensors[stage].body, add_read, &reads);
    for (int i = 0; i < reads.all.len; i++) {
        const at_expr *read = reads.all.data[i];
        const uint32_t several = several_of(&reads, i, summed_axes(m, stage));
        bool is_new = at_tensor_goes_in_steps(&m->c->tensors[read->ref]);
        for (int k = 0; k < i; k++) is_new &= !at_expr_equal(read, reads.all.data[k]);
        of_steps += is_new;
        own->meets |= several & of[read->ref].shares;
        for (int d = 0; d < read->nargs; d++)
            if ((several | of[read->ref].shares) >> d & 1)
                own->shares |= at_expr_axes(read->arg[d]);
    }
    own->shares &= ~(~UINT32_C(0) << (m->c->tensors[stage].num_axes - 1) << 1);
    own->meets |= of_steps > 1;
}

/* Stages that a stage with signs reads have signs, too, and keep them. */
static void pass_on(naive *m, const stage_errors *of, int stage) {
    reads_of reads = {.m = m};
    if (m->signs[stage] == NAIVE_SQUARES || !of[stage].may) return;
    at_expr_walk(m->c->tensors[stage].body, add_read, &reads);
    for (int i = 0; i < reads.all.len; i++) {
        const int ref = reads.all.data[i]->ref;
        if (of[ref].shares) m->signs[ref] = NAIVE_KEPT_SIGNS;
    }
}

void naive_find_signs(naive *m) {
    const int n = m->c->num_tensors;
    stage_errors *of = AT_NEW_ARRAY(m->arena, stage_errors, n);
    m->signs = AT_NEW_ARRAY(m->arena, naive_signs, n);
    for (int i = 0; i < n; i++) {
        const int t = m->c->order[i];
        look_at(m, of, t);
        if (of[t].meets) m->signs[t] = NAIVE_SIGNS;
        if (at_tensor_goes_in_steps(&m->c->tensors[t]) && m->rounded[t])
            m->signs[t] = NAIVE_KEPT_SIGNS;
    }
    for (int i = n - 1; i >= 0; i--) pass_on(m, of, m->c->order[i]);
}
