/* schedule/project.c: which axes of a computation can be summed over with random weights.
 *
 *     out[y, x] = sum(k) A[y, k] * W[x, k] + B[y, x]
 *     sum(y) r[y] * out[y, x] = sum(k) (sum(y) r[y] * A[y, k]) * W[x, k] + sum(y) r[y] * B[y, x]
 *
 * The first sum on the right costs 1/Y of the one on the left. It begins at one tensor (A), some
 * axes of which (y) go through all later stages to the output: every read has them as axes of the
 * stage, bare or as all the digits of one (y/B, y%B), and nothing else depends on them. Each stage
 * in between must be linear in what is projected, and may add something else (B), which is then
 * summed up element by element. */
#include "schedule/schedule_int.h"

#include <math.h>
#include <string.h>

typedef struct projector {
    at_arena *arena;
    const at_compute *c;
    const int64_t *values;
    int64_t *const *extents;
    int start;
    uint32_t given_up; /* axes of start that do not get through */
    int64_t **stride;  /* as in at_projection */
    uint32_t **from;   /* [tensor][axis] the axes of start that went into it, as a set */
    at_expr **linear, **rest;
    /* of the stage in hand, as the reads so far say */
    int stage;
    int64_t axis_stride[MAX_AXES];
    uint32_t axis_from[MAX_AXES]; /* 0: not summed over */
} projector;

/* What a read of something projected has as an index: axis / divisor % modulus (0: no remainder is
 * taken). */
typedef struct piece {
    int axis; /* of the stage; -1: the index is something else */
    int64_t divisor, modulus;
    /* of the tensor's axis */
    int64_t extent, stride;
    uint32_t from;
} piece;

static bool is_projected(const projector *p, int tensor) {
    for (int i = 0; i < p->c->tensors[tensor].num_axes; i++)
        if (p->stride[tensor][i]) return true;
    return false;
}

/* ---- what is linear in the projected values, and the rest ------------------------------------ */

static bool reads_projected(const at_expr *e, const void *p) {
    return e->op == AT_X_INDEX && is_projected(p, e->ref);
}

static bool depends(const projector *p, const at_expr *e) {
    return at_expr_find_value(e, reads_projected, p);
}

/* Is e the sum of a linear function of the projected values and of something else? */
static bool is_affine(const projector *p, const at_expr *e) {
    bool first;
    if (e->op == AT_X_INDEX || !depends(p, e)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (!is_affine(p, e->arg[i])) return false;
    switch (e->op) {
    case AT_X_NEG:
    case AT_X_ADD:
    case AT_X_SUB: return true;
    case AT_X_MUL: first = depends(p, e->arg[0]); return first != depends(p, e->arg[1]);
    case AT_X_SELECT: return !depends(p, e->arg[0]);
    default: return false;
    }
}

static at_expr *zero(const projector *p) { return at_expr_new(p->arena, AT_X_FLOAT, 0, NULL); }

/* One of the two parts of an affine e; NULL: it is 0. */
static at_expr *part_of(const projector *p, at_expr *e, bool linear) {
    at_expr *x[3] = {NULL};
    if (!depends(p, e)) return linear || is_zero_expr(e) ? NULL : e;
    if (e->op == AT_X_INDEX) return linear ? e : NULL;
    for (int i = 0; i < e->nargs && i < 3; i++) x[i] = part_of(p, e->arg[i], linear);
    switch (e->op) {
    case AT_X_MUL: /* the factor stays that is not projected */
        for (int i = 0; i < 2; i++)
            if (!depends(p, e->arg[i])) x[i] = x[1 - i] ? e->arg[i] : NULL;
        break;
    case AT_X_SELECT:
        x[0] = e->arg[0];
        if (!x[1] && !x[2]) return NULL;
        for (int i = 1; i < 3; i++)
            if (!x[i]) x[i] = zero(p);
        break;
    case AT_X_ADD:
    case AT_X_SUB:
        if (!x[1]) return x[0];
        if (!x[0] && e->op == AT_X_ADD) return x[1];
        if (!x[0]) return at_expr_new(p->arena, AT_X_NEG, 1, &x[1]);
        break;
    default: break;
    }
    return x[0] ? at_expr_new(p->arena, e->op, e->nargs, x) : NULL;
}

/* ---- from the axes of what is read to those of the stage ------------------------------------- */

/* start is tried again without those axes. */
static bool give_up(projector *p, uint32_t axes) {
    p->given_up |= axes;
    return false;
}

static piece piece_of(const projector *p, const at_expr *e) {
    const piece none = {.axis = -1};
    eval_ctx ctx = {.compute = p->c, .values = p->values, .stage = p->stage};
    int64_t by;
    if (e->op == AT_X_NAME && e->ref < p->c->tensors[p->stage].num_axes)
        return (piece){.axis = e->ref, .divisor = 1};
    if ((e->op != AT_X_DIV && e->op != AT_X_MOD) || !at_expr_is_size(e->arg[1]) ||
        at_expr_has(e->arg[1], AT_X_FLOAT))
        return none;
    piece x = piece_of(p, e->arg[0]);
    if (x.axis < 0 || eval_int(&ctx, e->arg[1], &by) != AT_OK || (x.modulus && x.modulus % by))
        return none;
    if (e->op == AT_X_MOD) x.modulus = by;
    else if (!at_mul64(x.divisor, by, &x.divisor)) return none;
    else x.modulus /= by;
    return x;
}

/* The stride of an axis whose digits these pieces are: all of them, each once, lying in the weights
 * as those of one number. 0: they are not. */
static int64_t stride_of(const projector *p, const piece *pieces, int n, int axis) {
    int64_t unit = 0, reached = 1;
    int left = 0;
    for (int i = 0; i < n; i++) {
        if (pieces[i].axis != axis) continue;
        unit = pieces[i].stride; /* of an axis of extent 1 any */
        left += pieces[i].extent > 1;
    }
    for (bool found = true; found;) {
        found = false;
        for (int i = 0; i < n; i++) {
            const piece *x = &pieces[i];
            if (x->axis != axis || x->extent == 1 || x->divisor != reached) continue;
            if (x->modulus && x->modulus != x->extent) return 0;
            if (reached == 1) unit = x->stride;
            if (x->stride != unit * reached) return 0;
            reached *= x->extent;
            left--;
            found = true;
        }
    }
    return !left && reached == p->extents[p->stage][axis] ? unit : 0;
}

/* What the read's axes are in the stage, which other reads must agree with. */
static bool take_read(projector *p, const at_expr *e) {
    piece pieces[MAX_AXES];
    int n = 0;
    for (int i = 0; i < e->nargs; i++) {
        if (!p->stride[e->ref][i]) continue;
        piece x = piece_of(p, e->arg[i]);
        x.extent = p->extents[e->ref][i];
        x.stride = p->stride[e->ref][i];
        x.from = p->from[e->ref][i];
        if (x.axis < 0) return give_up(p, x.from);
        pieces[n++] = x;
    }
    for (int axis = 0; axis < p->c->tensors[p->stage].num_axes; axis++) {
        uint32_t from = 0;
        for (int i = 0; i < n; i++)
            if (pieces[i].axis == axis) from |= pieces[i].from;
        if (!from) continue;
        int64_t stride = stride_of(p, pieces, n, axis);
        if (!stride || (p->axis_from[axis] && p->axis_stride[axis] != stride))
            return give_up(p, from);
        p->axis_stride[axis] = stride;
        p->axis_from[axis] |= from;
    }
    return true;
}

static at_walk take_projected(const at_expr *e, void *p) {
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    return !is_projected(p, e->ref) || take_read(p, e) ? AT_WALK_PAST : AT_WALK_END;
}

/* Beside the indices that are summed over, does e depend on the axis? */
static bool uses(const projector *p, const at_expr *e, int axis) {
    if (e->op == AT_X_NAME) return e->ref == axis;
    for (int i = 0; i < e->nargs; i++)
        if (!(e->op == AT_X_INDEX && p->stride[e->ref][i]) && uses(p, e->arg[i], axis)) return true;
    return false;
}

/* A read that lacks one of the stage's axes would not be summed over it. */
static bool lacks_axis(const at_expr *e, const void *ctx) {
    const projector *p = ctx;
    uint32_t has = 0, all = 0;
    if (!reads_projected(e, p)) return false;
    for (int i = 0; i < e->nargs; i++)
        if (p->stride[e->ref][i]) has |= 1u << piece_of(p, e->arg[i]).axis;
    for (int i = 0; i < p->c->tensors[p->stage].num_axes; i++)
        if (p->axis_from[i]) all |= 1u << i;
    return has != all;
}

/* False: the projection ends here. */
static bool pass_stage(projector *p, int stage) {
    const at_tensor *t = &p->c->tensors[stage];
    p->stage = stage;
    memset(p->axis_from, 0, sizeof p->axis_from);
    if (!depends(p, t->body)) return true;
    if (at_tensor_goes_in_steps(t) || (t->num_reduce && t->reduction != AT_REDUCE_SUM))
        return false;
    if (!is_affine(p, t->body)) return false;
    at_expr *linear = part_of(p, t->body, true);
    if (at_expr_walk(linear, take_projected, p)) return false;
    for (int axis = 0; axis < t->num_axes; axis++) {
        if (!p->axis_from[axis]) continue;
        bool used = uses(p, linear, axis);
        for (int i = t->num_axes; i < axes_of(t); i++)
            if (t->axes[i].begin)
                used |= uses(p, t->axes[i].begin, axis) || uses(p, t->axes[i].end, axis);
        if (used) return give_up(p, p->axis_from[axis]);
    }
    if (at_expr_find_value(linear, lacks_axis, p)) return false;
    for (int axis = 0; axis < t->num_axes; axis++) {
        p->from[stage][axis] = p->axis_from[axis];
        p->stride[stage][axis] = p->axis_from[axis] ? p->axis_stride[axis] : 0;
    }
    p->linear[stage] = linear;
    p->rest[stage] = part_of(p, t->body, false);
    return true;
}

/* ---- all stages ------------------------------------------------------------------------------ */

/* One attempt with the axes of start that are not given up. */
static bool pass_all(projector *p) {
    const at_compute *c = p->c;
    int64_t stride = 1;
    for (int t = 0; t < c->num_tensors; t++)
        memset(p->stride[t], 0, sizeof *p->stride[t] * (size_t)c->tensors[t].num_axes);
    for (int i = c->tensors[p->start].num_axes - 1; i >= 0; i--) {
        if (p->given_up >> i & 1) continue;
        p->stride[p->start][i] = stride;
        p->from[p->start][i] = 1u << i;
        stride *= p->extents[p->start][i];
    }
    if (!is_projected(p, p->start)) return false;
    for (int t = p->start + 1; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && !pass_stage(p, t)) return false;
    return true;
}

/* Points that are visited. */
static double cost_of(const projector *p, double mean_dynamic) {
    double cost = 0;
    for (int t = 0; t < p->c->num_tensors; t++) {
        const at_tensor *x = &p->c->tensors[t];
        double all = 1, left = 1;
        if (x->role != AT_ROLE_STAGE && t != p->start) continue;
        for (int i = 0; i < axes_of(x); i++) {
            double extent = p->extents[t][i] < 0 ? mean_dynamic : (double)p->extents[t][i];
            all *= extent;
            if (i >= x->num_axes || !p->stride[t][i]) left *= extent;
        }
        cost += t == p->start ? all : p->rest[t] ? all + left : left;
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

static projector new_projector(at_arena *a, const at_compute *c, const int64_t *values,
                               int64_t *const *extents, int start) {
    projector p = {.arena = a, .c = c, .values = values, .extents = extents, .start = start};
    p.stride = AT_NEW_ARRAY(a, int64_t *, c->num_tensors);
    p.from = AT_NEW_ARRAY(a, uint32_t *, c->num_tensors);
    p.linear = AT_NEW_ARRAY(a, at_expr *, c->num_tensors);
    p.rest = AT_NEW_ARRAY(a, at_expr *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        p.stride[t] = AT_NEW_ARRAY(a, int64_t, c->tensors[t].num_axes);
        p.from[t] = AT_NEW_ARRAY(a, uint32_t, c->tensors[t].num_axes);
    }
    return p;
}

static bool is_fraction(const at_expr *e, const void *compute) {
    return e->op == AT_X_FLOAT ? !(e->number == floor(e->number))
                               : e->op == AT_X_DIV && is_float_expr(compute, e);
}

/* The projection is worked out in integers, from elements that are floats. */
static bool is_of_integers(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if ((c->tensors[t].type != AT_F32 && c->tensors[t].role != AT_ROLE_INDEX) ||
            (c->tensors[t].role == AT_ROLE_STAGE &&
             at_expr_find(c->tensors[t].body, is_fraction, c)))
            return false;
    return true;
}

bool at_compute_project(at_arena *a, const at_compute *c, const int64_t *values,
                        double mean_dynamic, at_projection *out) {
    int64_t **extents;
    int output = only_output(c);
    bool found = false;
    if (output < 0 || at_type_is_half(c->tensors[output].type) || !is_of_integers(c) ||
        at_compute_extents(a, c, values, &extents, NULL) != AT_OK)
        return false;
    for (int start = 0; start < output; start++) {
        if (c->tensors[start].role == AT_ROLE_INDEX || at_tensor_goes_in_steps(&c->tensors[start]))
            continue;
        projector p = new_projector(a, c, values, extents, start);
        uint32_t before;
        bool passed;
        do {
            before = p.given_up;
            passed = pass_all(&p);
        } while (!passed && p.given_up != before);
        double points = passed ? cost_of(&p, mean_dynamic) : 0;
        if (!passed || !is_projected(&p, output) || (found && points >= out->points)) continue;
        found = true;
        *out = (at_projection){start, output, p.stride, p.linear, p.rest, points};
    }
    return found;
}

uint64_t at_projection_weight(uint64_t seed, uint64_t i) {
    uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int64_t at_projection_sums(const at_projection *p, const at_compute *c, int64_t *const *extents) {
    int64_t n = 1;
    for (int i = 0; i < c->tensors[p->output].num_axes; i++)
        if (!p->stride[p->output][i]) n *= extents[p->output][i];
    return n;
}

int64_t at_projection_apply(const at_projection *p, const at_compute *c, int64_t *const *extents,
                            uint64_t seed, const float *out, uint64_t *sums) {
    int64_t in_sums[MAX_AXES], index[MAX_AXES] = {0};
    const int64_t *extent = extents[p->output], *in_weights = p->stride[p->output];
    const int last = c->tensors[p->output].num_axes - 1;
    const float limit = 1 << 24;
    int64_t done = 0, w = 0, s = 0, stride = 1;
    for (int i = last; i >= 0; i--) {
        in_sums[i] = in_weights[i] ? 0 : stride;
        if (!in_weights[i]) stride *= extent[i];
    }
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
