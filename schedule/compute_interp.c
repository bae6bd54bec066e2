/* schedule/compute_interp.c: executes the expressions, stage by stage, element by element; stages
 * that read each other step by step. The reference of tests: it knows nothing of trees. */
#include "schedule/schedule_int.h"

typedef struct interpreter {
    eval_ctx ctx;
    int64_t axis[MAX_AXES];
    double **wide; /* [tensor] elements of all tensors; NULL: they are the context's */
} interpreter;

/* Reduces over the axes from `axis` on; the values of those before it are set. */
static at_status reduce(interpreter *in, const at_tensor *t, int axis, double *total) {
    if (axis == axes_of(t)) {
        double x;
        AT_TRY(eval_float(&in->ctx, t->body, &x));
        *total = at_reduction_join(t->reduction, x, *total);
        return AT_OK;
    }
    int64_t begin = 0, end = in->ctx.extents[in->ctx.stage][axis];
    if (t->axes[axis].begin) {
        AT_TRY(eval_int(&in->ctx, t->axes[axis].begin, &begin));
        AT_TRY(eval_int(&in->ctx, t->axes[axis].end, &end));
    }
    for (int64_t i = begin; i < end; i++) {
        in->axis[axis] = i;
        AT_TRY(reduce(in, t, axis + 1, total));
    }
    return AT_OK;
}

/* Elements of the stage in hand: the values of its axes before `axis` are set, and `offset` is
 * where these lie among them. */
static at_status elements(interpreter *in, const at_tensor *t, int axis, int64_t offset) {
    if (axis == t->num_axes) {
        double total = at_reduction_neutral_of(t->reduction, t->type);
        if (t->num_reduce) AT_TRY(reduce(in, t, axis, &total));
        else AT_TRY(eval_float(&in->ctx, t->body, &total));
        if (in->wide) in->wide[in->ctx.stage][offset] = total;
        else
            store_element(t, at_expr_is_whole(in->ctx.compute, t->body),
                          &in->ctx.data[in->ctx.stage], offset, total);
        return AT_OK;
    }
    const int64_t extent = in->ctx.extents[in->ctx.stage][axis];
    for (int64_t i = 0; i < extent; i++) {
        in->axis[axis] = i;
        AT_TRY(elements(in, t, axis + 1, offset * extent + i));
    }
    return AT_OK;
}

/* The steps of a cycle; those along the axes before `axis` are set. */
static at_status steps(interpreter *in, const at_cycle *cycle, int axis, int64_t offset) {
    const at_tensor *tensors = in->ctx.compute->tensors;
    if (axis < cycle->depth) {
        const int64_t extent = in->ctx.extents[cycle->stages[0]][axis];
        for (int64_t i = 0; i < extent; i++) {
            in->axis[axis] = i;
            AT_TRY(steps(in, cycle, axis + 1, offset * extent + i));
        }
        return AT_OK;
    }
    for (int i = 0; i < cycle->num; i++) {
        in->ctx.stage = cycle->stages[i];
        AT_TRY(elements(in, &tensors[cycle->stages[i]], axis, offset));
    }
    return AT_OK;
}

static at_status stages(interpreter *in) {
    const at_compute *c = in->ctx.compute;
    in->ctx.axis = in->axis;
    for (int i = 0; i < c->num_tensors; i++) {
        const int t = c->order[i];
        const at_cycle *cycle = at_cycle_of(c, t);
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        in->ctx.stage = t;
        if (!cycle) AT_TRY(elements(in, &c->tensors[t], 0, 0));
        else if (t == cycle->stages[0]) AT_TRY(steps(in, cycle, 0, 0));
    }
    return AT_OK;
}

at_status at_compute_interpret(at_arena *a, const at_compute *c, const int64_t *values,
                               at_data *data, at_error *err) {
    int64_t **extents;
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    allocate_stages(a, c, extents, data);
    interpreter in = {
        .ctx = {.compute = c, .values = values, .extents = extents, .data = data, .err = err}};
    return stages(&in);
}

/* ---- in double ------------------------------------------------------------------------------- */

static at_status read_wide(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                           double *out) {
    (void)index;
    *out = ((const interpreter *)ctx)->wide[tensor][offset];
    return AT_OK;
}

/* As entries have 32 bits, one beyond them leads nowhere as their ends do. */
static int64_t wide_entry(eval_ctx *ctx, int tensor, int64_t offset) {
    const double x = ((const interpreter *)ctx)->wide[tensor][offset];
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int64_t)x;
}

at_status at_compute_interpret_double(at_arena *a, const at_compute *c, const int64_t *values,
                                      double **data, at_error *err) {
    int64_t **extents;
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && !data[t])
            data[t] = AT_NEW_ARRAY(a, double, at_tensor_elements(&c->tensors[t], extents[t]));
    interpreter in = {.ctx = {.compute = c,
                              .values = values,
                              .extents = extents,
                              .read = read_wide,
                              .entry = wide_entry,
                              .err = err},
                      .wide = data};
    return stages(&in);
}
