/* schedule/program_interp.c: executes a tree as written, serially. Beside its value every element
 * keeps in which iteration of its stage's scope it was written, so that a read of what the
 * iteration at hand has not computed is found, even where an earlier one left a value: that is what
 * a buffer inside the scope will see. */
#include "schedule/schedule_int.h"

#include <math.h>

typedef struct runner {
    at_arena *arena;
    const at_program *p;
    eval_ctx ctx;
    int64_t **counter;       /* [loop id][member] */
    const at_node **leaf_of; /* [tensor] */
    const at_node **scope;   /* [tensor] */
    int64_t *iteration;      /* [tensor] of its scope, from 1 */
    int64_t **written;       /* [tensor][element] iteration, 0 never */
} runner;

static at_status run(runner *r, const at_node *n);

/* ---- leaves -------------------------------------------------------------------------------- */

static int64_t axis_value(const runner *r, const at_digits *d) {
    int64_t x = 0;
    for (int i = 0; i < d->n; i++) {
        int64_t counter = r->counter[d->loop[i]->id][d->member[i]];
        x = d->extent[i] < 0 ? counter : x * d->extent[i] + counter;
    }
    return x;
}

static at_status read_stage(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                            double *out) {
    const runner *r = ctx->user;
    const at_tensor *t = &r->p->compute->tensors[tensor];
    if (t->role == AT_ROLE_STAGE && r->p->dissolved[tensor]) {
        eval_ctx inner = *ctx;
        inner.stage = tensor;
        inner.axis = index;
        AT_TRY(eval_float(&inner, t->body, out));
        *out = stored_value(t, at_expr_is_whole(r->p->compute, t->body), *out);
        return AT_OK;
    }
    *out = load_element(t, &ctx->data[tensor], offset);
    if (t->role != AT_ROLE_STAGE || r->written[tensor][offset] == r->iteration[tensor])
        return AT_OK;
    at_text text = {0};
    for (int i = 0; i < t->num_axes; i++)
        at_text_addf(&text, "%s%lld", i ? ", " : "", (long long)index[i]);
    at_fail(ctx->err, AT_E_INPUT, "@%s reads %s[%s], which is not computed at that time",
            r->p->compute->tensors[ctx->stage].name, t->name, at_text_str(&text));
    at_text_free(&text);
    return AT_E_INPUT;
}

/* Of a running sum: what the step before along its axis made; of the first step nothing. */
static at_status sum_before(const runner *r, const at_node *leaf, int64_t offset, double *sum) {
    const at_tensor *t = &r->p->compute->tensors[leaf->tensor];
    int64_t step = 1;
    for (int i = at_running_axis(t) + 1; i < t->num_axes; i++)
        step *= r->p->extents[leaf->tensor][i];
    offset -= step;
    *sum = load_element(t, &r->ctx.data[leaf->tensor], offset);
    if (r->written[leaf->tensor][offset] == r->iteration[leaf->tensor]) return AT_OK;
    return at_fail(r->ctx.err, AT_E_INPUT, "@%s runs on from what is not computed at that time",
                   t->name);
}

/* A leaf's element becomes what is there, or was before, and its term. */
static at_status join(runner *r, const at_node *leaf, const int64_t *axis, int64_t offset) {
    const at_tensor *t = &r->p->compute->tensors[leaf->tensor];
    const at_data *data = &r->ctx.data[leaf->tensor];
    const bool is_whole = at_expr_is_whole(r->p->compute, t->body);
    double x = 0, before = load_element(t, data, offset);
    const bool is_first = leaf->is_running && axis[at_running_axis(t)] == 0;
    if (is_first) before = at_reduction_neutral(t->reduction);
    else if (leaf->is_running) AT_TRY(sum_before(r, leaf, offset, &before));
    store_element(t, is_whole, data, offset, before);
    if (is_first && at_running_lag(t)) return AT_OK;
    AT_TRY(eval_float(&r->ctx, t->body, &x));
    if (!is_whole) x = (float)x;
    store_element(t, is_whole, data, offset,
                  t->num_reduce ? at_reduction_join(t->reduction, x, before) : x);
    return AT_OK;
}

/* The elements along the axes where a term's place is are what that says. *inside: there are such
 * elements. */
static at_status find_place(runner *r, const at_node *leaf, int64_t *axis, bool *inside) {
    const at_compute *c = r->p->compute;
    const at_scatter places = at_scatter_of(&c->tensors[leaf->tensor]);
    *inside = true;
    r->ctx.stage = leaf->tensor;
    r->ctx.axis = axis;
    for (int i = 0; places.axes >> i && *inside; i++) {
        if (!(places.axes >> i & 1)) continue;
        const at_expr *guard = at_scatter_guard(r->arena, &c->tensors[leaf->tensor], &places, i);
        double x = 0;
        int64_t holds = 1;
        if (guard) AT_TRY(eval_int(&r->ctx, guard, &holds));
        *inside = holds != 0;
        if (!holds) continue;
        if (is_float_expr(c, places.place[i])) AT_TRY(eval_float(&r->ctx, places.place[i], &x));
        else {
            AT_TRY(eval_int(&r->ctx, places.place[i], &axis[i]));
            x = (double)axis[i];
        }
        *inside = x >= 0 && x < (double)r->p->extents[leaf->tensor][i] && x == floor(x);
        axis[i] = *inside ? (int64_t)x : 0;
    }
    return AT_OK;
}

static at_status run_leaf(runner *r, const at_node *leaf) {
    const at_tensor *t = &r->p->compute->tensors[leaf->tensor];
    const int64_t *extents = r->p->extents[leaf->tensor];
    int64_t axis[MAX_AXES] = {0}, offset = 0;
    bool inside = true;
    for (int i = 0; i < leaf->num_axes; i++) {
        axis[i] = axis_value(r, &leaf->axes[i]);
        if (extents[i] >= 0 && axis[i] >= extents[i]) return AT_OK; /* a tail */
    }
    if (leaf->is_scatter) AT_TRY(find_place(r, leaf, axis, &inside));
    if (!inside) return AT_OK;
    for (int i = 0; i < t->num_axes; i++) offset = offset * extents[i] + axis[i];
    int64_t *written = &r->written[leaf->tensor][offset], now = r->iteration[leaf->tensor];
    if (leaf->is_init) {
        store_element(t, true, &r->ctx.data[leaf->tensor], offset,
                      at_reduction_neutral_of(t->reduction, t->type));
    } else {
        if (t->num_reduce && !leaf->is_running && *written != now)
            return at_fail(r->ctx.err, AT_E_INPUT, "@%s is reduced before its init", t->name);
        if (leaf->is_running) axis[t->num_axes] -= at_running_lag(t);
        r->ctx.stage = leaf->tensor;
        r->ctx.axis = axis;
        AT_TRY(join(r, leaf, axis, offset));
    }
    *written = now;
    return AT_OK;
}

/* ---- loops --------------------------------------------------------------------------------- */

/* begin and end of a data-dependent loop; none where an outer tail leaves its axis. */
static at_status dyn_bounds(runner *r, const at_node *loop, int64_t *begin, int64_t *end) {
    const at_node *leaf = r->leaf_of[loop->dyn_tensor];
    const at_tensor *t = &r->p->compute->tensors[loop->dyn_tensor];
    const int64_t *extents = r->p->extents[loop->dyn_tensor];
    uint32_t used =
        info_of(r->p->compute)->info[loop->dyn_tensor].bound_axes[loop->dyn_axis - t->num_axes];
    int64_t axis[MAX_AXES] = {0};
    *begin = *end = 0;
    for (int i = 0; i < loop->dyn_axis; i++) {
        if (!(used & (1u << i))) continue; /* its loops may be further in */
        axis[i] = axis_value(r, &leaf->axes[i]);
        if (extents[i] >= 0 && axis[i] >= extents[i]) return AT_OK;
    }
    r->ctx.stage = loop->dyn_tensor;
    r->ctx.axis = axis;
    AT_TRY(eval_int(&r->ctx, t->axes[loop->dyn_axis].begin, begin));
    return eval_int(&r->ctx, t->axes[loop->dyn_axis].end, end);
}

static at_status run_loop(runner *r, const at_node *loop) {
    int64_t begin = 0, end = loop->extent;
    if (loop->extent < 0) AT_TRY(dyn_bounds(r, loop, &begin, &end));
    for (int64_t i = begin; i < end; i++) {
        int64_t *counter = r->counter[loop->id];
        counter[0] = at_unravel(i, loop->num_pieces - 1, loop->piece_extent + 1, counter + 1);
        for (int t = 0; t < r->p->compute->num_tensors; t++)
            if (r->scope[t] == loop) r->iteration[t]++;
        AT_TRY(run(r, loop->child));
    }
    return AT_OK;
}

static at_status run(runner *r, const at_node *n) {
    for (; n; n = n->next) AT_TRY(n->is_leaf ? run_leaf(r, n) : run_loop(r, n));
    return AT_OK;
}

static void collect(at_arena *a, runner *r, const at_node *n, const at_node **leaves, int *count) {
    for (; n; n = n->next) {
        if (n->is_leaf) leaves[(*count)++] = n;
        else r->counter[n->id] = AT_NEW_ARRAY(a, int64_t, n->num_pieces);
        if (n->is_leaf && !n->is_init) r->leaf_of[n->tensor] = n;
        collect(a, r, n->child, leaves, count);
    }
}

at_status at_program_interpret(at_arena *a, const at_program *p, at_data *data, at_error *err) {
    const at_compute *c = p->compute;
    int pieces = 0, num_leaves = 0;
    allocate_stages(a, c, p->extents, data);
    runner r = {.arena = a,
                .p = p,
                .ctx = {.compute = c,
                        .values = p->values,
                        .extents = p->extents,
                        .data = data,
                        .err = err,
                        .read = read_stage}};
    r.ctx.user = &r;
    r.counter = AT_NEW_ARRAY(a, int64_t *, p->num_loops);
    r.leaf_of = AT_NEW_ARRAY(a, const at_node *, c->num_tensors);
    r.scope = AT_NEW_ARRAY(a, const at_node *, c->num_tensors);
    r.iteration = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    r.written = AT_NEW_ARRAY(a, int64_t *, c->num_tensors);
    const at_node **leaves = AT_NEW_ARRAY(a, const at_node *, count_leaves(p->root, &pieces));
    collect(a, &r, p->root, leaves, &num_leaves);
    stage_scopes(p, num_leaves, leaves, r.leaf_of, r.scope);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        int64_t n = at_tensor_elements(&c->tensors[t], p->extents[t]);
        const bool is_int = at_type_of(c->tensors[t].type)->is_int;
        for (int64_t i = 0; i < n; i++) {
            if (is_int) data[t].i[i] = INT32_MIN;
            else data[t].f[i] = NAN;
        }
        r.written[t] = AT_NEW_ARRAY(a, int64_t, n);
        r.iteration[t] = 1;
    }
    return run(&r, p->root);
}
