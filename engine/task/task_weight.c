/* engine/task/task_weight.c: from a file, or a sparsity and the shape of blocks, and the arguments
 * to a task and its weight. */
#include "engine/task/task_weight.h"

#include <stdlib.h>

#include "foreign/foreign.h"

static const double default_sparsity = 0.8;

typedef struct request {
    at_arena *arena;
    const at_request *of;
    const at_template_row *row;
    const char *args;
    at_bsr given;         /* what the arguments say of a sparse weight */
    const at_input *file; /* of --weight; NULL: there is none */
    at_error *err;
} request;

/* ---- blocks ---------------------------------------------------------------------------------- */

static at_status read_block(const char *text, int64_t *r, int64_t *c, at_error *err) {
    char *end, *rest;
    *r = strtoll(text, &end, 10);
    *c = *end == 'x' ? strtoll(end + 1, &rest, 10) : 0;
    if (*r < 1 || *c < 1 || *r > INT32_MAX || *c > INT32_MAX || *rest)
        return at_fail(err, AT_E_USAGE, "--block %s: rows and columns of a block are written 16x1",
                       text);
    return AT_OK;
}

/* The shape that the file or --block says; b: what the arguments say, or their defaults. */
static at_status block_shape(const request *q, int64_t *r, int64_t *c) {
    const at_request *o = q->of;
    const at_bsr *b = &q->given;
    const bool by_file = !o->block && q->file && q->file->sparse && q->file->r * q->file->c > 1;
    *r = by_file ? q->file->r : b->r;
    *c = by_file ? q->file->c : b->c;
    if (o->block) AT_TRY(read_block(o->block, r, c, q->err));
    if ((!b->r_given || b->r == *r) && (!b->c_given || b->c == *c)) return AT_OK;
    const char *from = by_file ? at_format(q->arena, "--weight %s with blocks of %lldx%lld",
                                           o->weight, (long long)*r, (long long)*c)
                               : at_format(q->arena, "--block %s", o->block);
    return at_fail(q->err, AT_E_USAGE, "%s: --args has blocks of %lldx%lld", from, (long long)b->r,
                   (long long)b->c);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static at_status read_sparsity(const char *text, double *out, at_error *err) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= 0 && *out <= 1))
        return at_fail(err, AT_E_USAGE, "--sparsity %s: not a number from 0 to 1", text);
    return AT_OK;
}

static at_status random_pattern(const request *q, const at_bsr *b, at_pattern *p) {
    double sparsity = q->given.nnz_given ? -1 : default_sparsity;
    if (q->of->sparsity) AT_TRY(read_sparsity(q->of->sparsity, &sparsity, q->err));
    AT_TRY(at_pattern_random(q->arena, b->rows, b->columns, b->r, b->c, sparsity, q->given.nnz, p,
                             q->err));
    if (q->given.nnz_given && p->nnz != q->given.nnz)
        return at_fail(q->err, AT_E_USAGE,
                       "--sparsity %s: leaves %lld blocks, --args has nnz = %lld", q->of->sparsity,
                       (long long)p->nnz, (long long)q->given.nnz);
    return AT_OK;
}

static at_status wrong_shape(const request *q, const at_task *t, const int64_t *dims, int n) {
    return at_fail(
        q->err, AT_E_USAGE,
        "--weight %s: it is %s, the weight of %s with %s is %s; --args gives another shape",
        q->of->weight, at_weight_dims_text(q->arena, q->file->dims, q->file->num_dims),
        q->row->name, at_task_args_text(t), at_weight_dims_text(q->arena, dims, n));
}

static at_status own_pattern(const request *q, const at_task *t, const at_bsr *b, at_pattern *p,
                             at_input *weight) {
    const at_input *f = q->file;
    const int64_t dims[] = {b->rows * b->r, b->columns * b->c};
    if (q->of->sparsity)
        return at_fail(q->err, AT_E_USAGE, "give one of --weight and --sparsity, not both");
    if (f->num_dims != 2 || f->dims[0] != dims[0] || f->dims[1] != dims[1])
        return wrong_shape(q, t, dims, 2);
    if (at_input_cut(q->arena, f, b->r, b->c, weight, q->err) != AT_OK) {
        if (q->of->block)
            at_fail(q->err, q->err->status,
                    "%s; leave --block out, or convert the file to blocks of that size",
                    at_strdup(q->arena, q->err->text));
        return at_fail_at(q->err, "--weight %s: ", q->of->weight);
    }
    at_pattern_of(q->arena, b->rows, b->columns, b->r, b->c, weight->nnz, weight->rows,
                  weight->columns, p);
    if (q->given.nnz_given && p->nnz != q->given.nnz)
        return at_fail(q->err, AT_E_USAGE, "--weight %s: has %lld blocks, --args has nnz = %lld",
                       q->of->weight, (long long)p->nnz, (long long)q->given.nnz);
    return AT_OK;
}

/* The task with the right blocks, if not yet their number; *shape: arguments for those. */
static at_status blocked_task(const request *q, const char **shape, at_task **task) {
    int64_t r, c;
    AT_TRY(block_shape(q, &r, &c));
    *shape = at_format(q->arena, "R=%lld,C=%lld", (long long)r, (long long)c);
    at_status s = at_task_new_over(q->arena, q->row, q->args, *shape, task, q->err);
    at_task *single;
    /* Where single elements would do, it is the blocks that do not fit. */
    if (s != AT_OK &&
        at_task_new_over(q->arena, q->row, q->args, "R=1,C=1", &single, NULL) == AT_OK)
        at_fail(q->err, s, "%s; --block gives other blocks than %lldx%lld, 1x1 always fits",
                at_strdup(q->arena, q->err ? q->err->text : ""), (long long)r, (long long)c);
    return s;
}

/* *is: the template has a sparse weight. */
static at_status sparse_task(const request *q, at_selection *out, bool *is) {
    at_bsr b;
    const char *shape;
    AT_TRY(blocked_task(q, &shape, &out->task));
    *is = at_task_bsr(out->task, &b);
    if (!*is) return AT_OK;
    at_pattern *p = AT_NEW(q->arena, at_pattern);
    if (q->file) {
        at_input *weight = AT_NEW(q->arena, at_input);
        AT_TRY(own_pattern(q, out->task, &b, p, weight));
        out->weight = weight->values;
        out->weight_tensor = b.blocks;
    } else AT_TRY(random_pattern(q, &b, p));
    out->pattern = p;
    return at_task_new_over(q->arena, q->row, q->args,
                            at_format(q->arena, "nnz=%lld,%s", (long long)p->nnz, shape),
                            &out->task, q->err);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int first_weight(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_WEIGHT) return t;
    return -1;
}

/* Whether x only takes axes of y together: [64, 27] of [64, 3, 3, 3]. */
static bool coarser(const int64_t *x, int nx, const int64_t *y, int ny) {
    int i = 0, j = 0;
    while (i < nx) {
        int64_t product = 1;
        while (j < ny && (product < x[i] || y[j] == 1)) product *= y[j++];
        if (product != x[i++]) return false;
    }
    return j == ny;
}

/* The array is the weight tensor, axes in the order of the plain tensor. */
static at_status array_weight(const request *q, at_selection *out) {
    const at_task *t = out->task;
    const at_compute *c = at_task_compute(t);
    int tensor = first_weight(c);
    at_config config;
    int64_t *values, **extents, plain[AT_INPUT_DIMS];
    if (tensor < 0 || c->tensors[tensor].num_axes > AT_INPUT_DIMS)
        return at_fail(q->err, AT_E_USAGE, "--weight: %s has no weight", q->row->name);
    if (c->tensors[tensor].type != AT_F32)
        return at_fail(q->err, AT_E_USAGE,
                       "--weight %s: %s is of type %s; --array %s=FILE.npy takes such elements",
                       q->of->weight, c->tensors[tensor].name,
                       at_type_of(c->tensors[tensor].type)->name, c->tensors[tensor].name);
    if (q->file->sparse)
        return at_fail(
            q->err, AT_E_USAGE,
            "--weight %s: a sparse matrix, but %s has no sparse weight; it takes an array",
            q->of->weight, q->row->name);
    AT_TRY(at_task_default_config(q->arena, t, AT_ANY_LANES, &config, q->err));
    AT_TRY(at_task_values(q->arena, t, &config, &values, q->err));
    AT_TRY(at_compute_extents(q->arena, c, values, &extents, q->err));
    const int *order = at_task_layout(t, tensor), n = c->tensors[tensor].num_axes;
    for (int i = 0; i < n; i++) plain[i] = extents[tensor][order ? order[i] : i];
    if (!coarser(q->file->dims, q->file->num_dims, plain, n) &&
        !coarser(plain, n, q->file->dims, q->file->num_dims))
        return wrong_shape(q, t, plain, n);
    out->weight = q->file->values;
    out->weight_tensor = tensor;
    return AT_OK;
}

bool at_weight_fits(at_arena *a, const at_request *of, const at_template_row *row, const char *args,
                    at_error *err) {
    request q = {.arena = a, .of = of, .row = row, .args = args, .err = err};
    at_task *task;
    const char *shape;
    bool sparse;
    if (at_sparse_args(a, row, args, &q.given, &sparse, err) != AT_OK) return false;
    if (sparse) return blocked_task(&q, &shape, &task) == AT_OK;
    return at_task_new(a, row, args, &task, err) == AT_OK;
}

/* What the file --weight holds, in the form that the template takes. */
static at_status find_file(at_arena *a, const at_request *of, at_input *out, at_error *err) {
    const at_input *file = of->weight_file;
    at_input read;
    if (!file) {
        AT_TRY(at_weight_read(a, of->weight, &read, err));
        file = &read;
    }
    if (of->form.kh) return at_weight_in_form(a, of->weight, file, &of->form, out, err);
    *out = *file;
    return AT_OK;
}

/* What a computation says of its outputs is compared with that alone. */
static at_status check_expects(const request *q, const at_task *t) {
    const at_foreign *kernel = at_foreign_of(t);
    if (!q->of->num_expects || (kernel && kernel->num_outputs)) return AT_OK;
    return at_fail(
        q->err, AT_E_USAGE,
        "--expect %s: %s is a computation, which says what its outputs are; an array does "
        "for a kernel without one, and for a network",
        q->of->expects[0], q->row->name);
}

at_status at_weight_task(at_arena *a, const at_request *of, const char *args, at_selection *out,
                         at_error *err) {
    out->expects = at_copy(a, of->expects, sizeof of->expects);
    out->num_expects = of->num_expects;
    request q = {.arena = a, .of = of, .row = out->row, .args = args, .err = err};
    bool sparse;
    out->pattern = NULL;
    out->weight = NULL;
    if (of->weight) {
        at_input *file = AT_NEW(a, at_input);
        AT_TRY(find_file(a, of, file, err));
        q.file = file;
    }
    AT_TRY(at_sparse_args(a, out->row, args, &q.given, &sparse, err));
    if (sparse) AT_TRY(sparse_task(&q, out, &sparse));
    if (sparse) return check_expects(&q, out->task);
    AT_TRY(at_task_new(a, out->row, args, &out->task, err));
    AT_TRY(check_expects(&q, out->task));
    if (of->block || of->sparsity)
        return at_fail(err, AT_E_USAGE, "%s: %s has no sparse weight",
                       of->block ? "--block" : "--sparsity", out->row->name);
    /* An operator's pattern without values says nothing of a weight in full. */
    if (!q.file || (of->form.kh && !q.file->values)) return AT_OK;
    return array_weight(&q, out);
}
