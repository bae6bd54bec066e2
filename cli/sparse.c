/* cli/sparse.c: from --sparsity, --block and the arguments to a sparsity pattern and its task. */
#include "cli/sparse.h"

#include <stdlib.h>

static const double default_sparsity = 0.8;

static at_status read_block(const char *text, at_bsr *b, at_error *err) {
    char *end, *rest;
    b->r = strtoll(text, &end, 10);
    b->c = *end == 'x' ? strtoll(end + 1, &rest, 10) : 0;
    if (b->r < 1 || b->c < 1 || b->r > INT32_MAX || b->c > INT32_MAX || *rest)
        return at_fail(err, AT_E_USAGE, "--block %s: rows and columns of a block are written 16x1",
                       text);
    return AT_OK;
}

static at_status read_sparsity(const char *text, double *out, at_error *err) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= 0 && *out <= 1))
        return at_fail(err, AT_E_USAGE, "--sparsity %s: not a number from 0 to 1", text);
    return AT_OK;
}

static at_status block_shape(const at_options *o, at_bsr *b, at_error *err) {
    at_bsr given = *b;
    if (!o->block) return AT_OK;
    AT_TRY(read_block(o->block, b, err));
    if ((given.r_given && given.r != b->r) || (given.c_given && given.c != b->c))
        return at_fail(err, AT_E_USAGE, "--block %s: --args has blocks of %lldx%lld", o->block,
                       (long long)given.r, (long long)given.c);
    return AT_OK;
}

at_status at_sparse_task(at_arena *a, const at_options *o, const at_template_row *row,
                         const char *args, at_task **task, const at_pattern **pattern,
                         at_error *err) {
    at_bsr b;
    double sparsity = default_sparsity;
    *pattern = NULL;
    AT_TRY(at_task_new(a, row, args, task, err));
    if (!at_task_bsr(*task, &b)) {
        if (!o->block && !o->sparsity) return AT_OK;
        return at_fail(err, AT_E_USAGE, "%s: %s has no sparse weight",
                       o->block ? "--block" : "--sparsity", row->name);
    }
    AT_TRY(block_shape(o, &b, err));
    if (o->sparsity) AT_TRY(read_sparsity(o->sparsity, &sparsity, err));
    else if (b.nnz_given) sparsity = -1;
    const char *shape = at_format(a, "R=%lld,C=%lld", (long long)b.r, (long long)b.c);
    AT_TRY(at_task_new_over(a, row, args, shape, task, err));
    bool nnz_given = b.nnz_given;
    int64_t nnz = b.nnz;
    at_task_bsr(*task, &b);

    at_pattern *p = AT_NEW(a, at_pattern);
    AT_TRY(at_pattern_random(a, b.rows, b.columns, b.r, b.c, sparsity, nnz, p, err));
    if (nnz_given && p->nnz != nnz)
        return at_fail(err, AT_E_USAGE, "--sparsity %s: leaves %lld blocks, --args has nnz = %lld",
                       o->sparsity, (long long)p->nnz, (long long)nnz);
    *pattern = p;
    return at_task_new_over(a, row, args, at_format(a, "nnz=%lld,%s", (long long)p->nnz, shape),
                            task, err);
}
