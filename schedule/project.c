/* schedule/project.c: which axes of a computation can be summed over with random weights.
 *
 *     out[y, x] = sum(k) A[y, k] * W[x, k]
 *     sum(y) r[y] * out[y, x] = sum(k) (sum(y) r[y] * A[y, k]) * W[x, k]
 *
 * The right side costs 1/Y of the left one. It begins at one tensor (A), some axes of which (y) go
 * through all later stages to the output as they are: every read has them as bare indices, and
 * nothing else depends on them. Each stage in between must be linear in what is projected. */
#include "schedule/schedule_int.h"

#include <string.h>

typedef struct projector {
    const at_compute *c;
    int64_t *const *extents;
    int start;
    uint32_t given_up; /* axes of start that do not get through */
    signed char (*group)[MAX_AXES];
    /* of the stage in hand */
    int stage;
    uint32_t bare;          /* groups read so far, as a set */
    int axis_of[MAX_AXES];  /* [group] the stage's axis */
    int num_bare[MAX_AXES]; /* [group] how often that axis is a bare index */
} projector;

enum { PLAIN = 0, PROJECTED = 1, IMPOSSIBLE = -1 };

static bool is_projected(const projector *p, int tensor) {
    for (int i = 0; i < p->c->tensors[tensor].num_axes; i++)
        if (p->group[tensor][i] >= 0) return true;
    return false;
}

static int count_names(const at_expr *e, int axis) {
    int n = e->op == AT_X_NAME && e->ref == axis;
    for (int i = 0; i < e->nargs; i++) n += count_names(e->arg[i], axis);
    return n;
}

/* Group g does not get through: start is tried again without it. */
static int give_up(projector *p, int g) {
    p->given_up |= 1u << g;
    return IMPOSSIBLE;
}

static int classify_read(projector *p, const at_expr *e) {
    const signed char *group = p->group[e->ref];
    const at_tensor *stage = &p->c->tensors[p->stage];
    int kind = PLAIN;
    for (int i = 0; i < e->nargs; i++) {
        int g = group[i];
        if (g < 0) continue;
        const at_expr *x = e->arg[i];
        bool bare = x->op == AT_X_NAME && x->ref < stage->num_axes;
        if (!bare || ((p->bare >> g & 1) && p->axis_of[g] != x->ref)) return give_up(p, g);
        p->bare |= 1u << g;
        p->axis_of[g] = x->ref;
        p->num_bare[g]++;
        kind = PROJECTED;
    }
    return kind;
}

static bool is_zero(const at_expr *e) {
    return (e->op == AT_X_INT && !e->integer) || (e->op == AT_X_FLOAT && e->number == 0);
}

static int classify(projector *p, const at_expr *e) {
    int kind[3] = {PLAIN, PLAIN, PLAIN};
    if (e->op == AT_X_INDEX) return classify_read(p, e);
    for (int i = 0; i < e->nargs && i < 3; i++) {
        kind[i] = classify(p, e->arg[i]);
        if (kind[i] == IMPOSSIBLE) return IMPOSSIBLE;
    }
    if (kind[0] == PLAIN && kind[1] == PLAIN && kind[2] == PLAIN) return PLAIN;
    switch (e->op) {
    case AT_X_NEG: return PROJECTED;
    case AT_X_MUL: return kind[0] != kind[1] ? PROJECTED : IMPOSSIBLE;
    case AT_X_ADD:
    case AT_X_SUB: return kind[0] == kind[1] ? PROJECTED : IMPOSSIBLE;
    case AT_X_SELECT: /* zero is linear, too */
        if (kind[0] != PLAIN) return IMPOSSIBLE;
        for (int i = 1; i < 3; i++)
            if (kind[i] == PLAIN && !is_zero(e->arg[i])) return IMPOSSIBLE;
        return PROJECTED;
    default: return IMPOSSIBLE;
    }
}

/* False: the projection ends here. */
static bool pass_stage(projector *p, int stage) {
    const at_tensor *t = &p->c->tensors[stage];
    p->stage = stage;
    p->bare = 0;
    memset(p->num_bare, 0, sizeof p->num_bare);
    int kind = classify(p, t->body);
    if (kind == IMPOSSIBLE) return false;
    if (kind == PLAIN) return true;
    for (int g = 0; g < p->c->tensors[p->start].num_axes; g++) {
        if (!(p->bare >> g & 1)) continue;
        int axis = p->axis_of[g], used = count_names(t->body, axis);
        for (int i = t->num_axes; i < axes_of(t); i++)
            if (t->axes[i].begin)
                used += count_names(t->axes[i].begin, axis) + count_names(t->axes[i].end, axis);
        if (used != p->num_bare[g]) return give_up(p, g), false;
        p->group[stage][axis] = (signed char)g;
    }
    /* A read that lacks one of the groups would not be summed over it. */
    for (int i = 0; i < info_of(p->c)->info[stage].num_reads; i++) {
        const at_expr *e = info_of(p->c)->info[stage].reads[i];
        uint32_t has = 0;
        if (!is_projected(p, e->ref)) continue;
        for (int k = 0; k < e->nargs; k++)
            if (p->group[e->ref][k] >= 0) has |= 1u << p->group[e->ref][k];
        if (has != p->bare) return false;
    }
    return true;
}

/* One attempt with the axes of start that are not given up. */
static bool pass_all(projector *p) {
    const at_compute *c = p->c;
    for (int t = 0; t < c->num_tensors; t++) memset(p->group[t], -1, sizeof p->group[t]);
    for (int i = 0; i < c->tensors[p->start].num_axes; i++)
        if (!(p->given_up >> i & 1)) p->group[p->start][i] = (signed char)i;
    if (!is_projected(p, p->start)) return false;
    for (int t = p->start + 1; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && !pass_stage(p, t)) return false;
    return true;
}

/* Points that are visited; a data-dependent axis counts once. */
static double cost_of(const projector *p) {
    double cost = 0;
    for (int t = 0; t < p->c->num_tensors; t++) {
        const at_tensor *x = &p->c->tensors[t];
        double points = 1;
        if (x->role != AT_ROLE_STAGE && t != p->start) continue;
        for (int i = 0; i < axes_of(x); i++)
            if ((t == p->start || i >= x->num_axes || p->group[t][i] < 0) && p->extents[t][i] > 0)
                points *= (double)p->extents[t][i];
        cost += points;
    }
    return cost;
}

static int only_output(const at_compute *c) {
    int output = -1;
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        if (output >= 0) return -1;
        output = t;
    }
    return output;
}

bool at_compute_project(at_arena *a, const at_compute *c, const int64_t *values,
                        at_projection *out) {
    int64_t **extents;
    int output = only_output(c);
    bool found = false;
    if (output < 0 || at_compute_extents(a, c, values, &extents, NULL) != AT_OK) return false;
    *out = (at_projection){.output = output};
    for (int start = 0; start < output; start++) {
        if (c->tensors[start].is_int) continue;
        projector p = {.c = c, .extents = extents, .start = start};
        p.group = at_alloc(a, sizeof *p.group * (size_t)c->num_tensors);
        uint32_t before;
        bool passed;
        do {
            before = p.given_up;
            passed = pass_all(&p);
        } while (!passed && p.given_up != before);
        double cost = passed ? cost_of(&p) : 0;
        if (!passed || !is_projected(&p, output) || (found && cost >= out->points)) continue;
        found = true;
        out->start = start;
        out->points = cost;
        out->group = (const signed char(*)[AT_MAX_GROUPS])p.group;
    }
    return found;
}

uint64_t at_projection_weight(uint64_t seed, uint64_t i) {
    uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Strides of the output's axes: in the weights (those summed over) and in the sums (the others). */
static void output_strides(const at_projection *p, const at_compute *c, int64_t *const *extents,
                           int64_t *in_weights, int64_t *in_sums) {
    int64_t of_group[AT_MAX_GROUPS] = {0}, stride = 1;
    for (int g = c->tensors[p->start].num_axes - 1; g >= 0; g--) {
        if (p->group[p->start][g] < 0) continue;
        of_group[g] = stride;
        stride *= extents[p->start][g];
    }
    stride = 1;
    for (int i = c->tensors[p->output].num_axes - 1; i >= 0; i--) {
        int g = p->group[p->output][i];
        in_weights[i] = g >= 0 ? of_group[g] : 0;
        in_sums[i] = g >= 0 ? 0 : stride;
        if (g < 0) stride *= extents[p->output][i];
    }
}

int64_t at_projection_sums(const at_projection *p, const at_compute *c, int64_t *const *extents) {
    int64_t n = 1;
    for (int i = 0; i < c->tensors[p->output].num_axes; i++)
        if (p->group[p->output][i] < 0) n *= extents[p->output][i];
    return n;
}

int64_t at_projection_apply(const at_projection *p, const at_compute *c, int64_t *const *extents,
                            uint64_t seed, const float *out, uint64_t *sums) {
    int64_t in_weights[AT_MAX_GROUPS], in_sums[AT_MAX_GROUPS], index[AT_MAX_GROUPS] = {0};
    const int64_t *extent = extents[p->output];
    const int last = c->tensors[p->output].num_axes - 1;
    const float limit = 1 << 24;
    int64_t done = 0, w = 0, s = 0;
    output_strides(p, c, extents, in_weights, in_sums);
    memset(sums, 0, sizeof *sums * (size_t)at_projection_sums(p, c, extents));
    for (int axis = last; axis >= 0;) {
        uint64_t weight = at_projection_weight(seed, (uint64_t)w);
        for (int64_t i = 0; i < extent[last]; i++, done++) {
            float x = out[done];
            if (!(x >= -limit && x <= limit) || x != (float)(int64_t)x) return done;
            if (in_weights[last])
                weight = at_projection_weight(seed, (uint64_t)(w + i * in_weights[last]));
            sums[s + i * in_sums[last]] += weight * (uint64_t)(int64_t)x;
        }
        for (axis = last - 1; axis >= 0; axis--) {
            w += in_weights[axis];
            s += in_sums[axis];
            if (++index[axis] < extent[axis]) break;
            w -= in_weights[axis] * extent[axis];
            s -= in_sums[axis] * extent[axis];
            index[axis] = 0;
        }
    }
    return -1;
}
