/* schedule/zero_terms.c: products of a sum that are 0 since an index leaves a remainder, or since
 * entries of index tensors say so, whose data are there: a transposed convolution written as one
 * over data with zeros in between has S*S - 1 of them for each that counts, and of experts that
 * rows are sorted by each has its own rows alone. Padding is counted, as everywhere: it is a few
 * percent, and other programs' figures count it, too. */
#include "schedule/schedule_int.h"

enum { MOST_CONDITIONS = 16, MOST_POINTS = 1 << 20 };

/* Without it a factor is 0. */
typedef struct condition {
    const at_expr *e;    /* of the reader's axes; with read: of those of the stage that is read */
    const at_expr *read; /* or NULL */
    uint32_t axes;       /* of the reader */
} condition;

typedef struct finder {
    eval_ctx *ctx; /* of the reader */
    condition found[MOST_CONDITIONS];
    int num;
    const at_expr *read; /* what reads the stage whose axes an expression names, or NULL */
} finder;

bool is_zero_expr(const at_expr *e) {
    return (e->op == AT_X_INT && !e->integer) || (e->op == AT_X_FLOAT && e->number == 0);
}

/* Anything but places and entries of index tensors, all of which are known. */
static bool is_unknown(const at_expr *e, const void *of_reader) {
    const eval_ctx *ctx = of_reader;
    if (e->op == AT_X_INDEX)
        return ctx->compute->tensors[e->ref].role != AT_ROLE_INDEX || !ctx->data ||
               !ctx->data[e->ref].i;
    return e->op == AT_X_FLOAT || e->op == AT_X_CALL;
}

/* Is it a condition that is counted? */
static bool is_counted(const eval_ctx *ctx, const at_expr *e) {
    if (at_expr_reads(e)) return !at_expr_find(e, is_unknown, ctx);
    return e->op == AT_X_EQ && at_expr_has(e, AT_X_MOD);
}

/* A condition that is asked for. */
static at_walk add_condition(const at_expr *e, void *ctx) {
    finder *f = ctx;
    const at_expr *read = f->read;
    if (e->op == AT_X_AND) return AT_WALK_ON;
    if (!is_counted(f->ctx, e)) return AT_WALK_PAST;
    uint32_t own = at_expr_axes(e), axes = read ? 0 : own;
    for (int i = 0; read && i < read->nargs; i++)
        if (own & 1u << i) {
            if (at_expr_has(read->arg[i], AT_X_INDEX)) return AT_WALK_PAST;
            axes |= at_expr_axes(read->arg[i]);
        }
    if (f->num < MOST_CONDITIONS) f->found[f->num++] = (condition){e, read, axes};
    return AT_WALK_PAST;
}

static at_walk add_factor(const at_expr *e, void *ctx) {
    finder *f = ctx;
    if (e->op == AT_X_NEG || e->op == AT_X_MUL) return AT_WALK_ON;
    if (e->op == AT_X_SELECT && is_zero_expr(e->arg[2])) at_expr_walk(e->arg[0], add_condition, f);
    else if (e->op == AT_X_INDEX && !f->read) {
        const at_tensor *t = &f->ctx->compute->tensors[e->ref];
        f->read = e;
        if (t->role == AT_ROLE_STAGE && !t->num_reduce && t->body)
            at_expr_walk(t->body, add_factor, f);
        f->read = NULL;
    }
    return AT_WALK_PAST;
}

/* AT_OK: *out says whether it holds where the reader's axes have these values. */
static at_status holds(const eval_ctx *of_reader, const condition *x, int64_t *out) {
    eval_ctx ctx = *of_reader;
    int64_t axis[MAX_AXES];
    if (x->read) {
        for (int i = 0; i < x->read->nargs; i++) {
            axis[i] = 0;
            if (at_expr_axes(x->e) & 1u << i) AT_TRY(eval_int(&ctx, x->read->arg[i], &axis[i]));
        }
        ctx.stage = x->read->ref;
        ctx.axis = axis;
    }
    return eval_int(&ctx, x->e, out);
}

/* Are these axes a product of ranges, whatever the others are? */
static bool are_free(const eval_ctx *ctx, uint32_t axes) {
    const at_tensor *t = &ctx->compute->tensors[ctx->stage];
    const tensor_info *info = &info_of(ctx->compute)->info[ctx->stage];
    for (int i = 0; i < t->num_reduce; i++)
        if (info->bound_axes[i] & axes) return false;
    for (int i = 0; i < axes_of(t); i++)
        if (axes & 1u << i && (t->axes[i].begin || ctx->extents[ctx->stage][i] < 0)) return false;
    return true;
}

/* The part of all values of these axes for which all conditions on them hold; 1 where they are too
 * many. */
static double part_of(const finder *f, uint32_t axes) {
    eval_ctx ctx = *f->ctx;
    const int64_t *extents = ctx.extents[ctx.stage];
    int64_t axis[MAX_AXES] = {0}, points = 1, good = 0;
    ctx.axis = axis;
    if (!are_free(&ctx, axes)) return 1;
    for (int i = 0; i < MAX_AXES; i++)
        if (axes & 1u << i && (extents[i] > MOST_POINTS || (points *= extents[i]) > MOST_POINTS))
            return 1;
    for (int64_t p = 0; p < points; p++) {
        int64_t all = 1, rest = p;
        for (int i = 0; i < MAX_AXES; i++)
            if (axes & 1u << i) axis[i] = rest % extents[i], rest /= extents[i];
        for (int i = 0; i < f->num && all; i++)
            if (f->found[i].axes & axes && holds(&ctx, &f->found[i], &all) != AT_OK) return 1;
        good += all != 0;
    }
    return points ? (double)good / (double)points : 1;
}

double part_of_products(eval_ctx *ctx, const at_expr *product) {
    finder f = {.ctx = ctx};
    uint32_t done = 0;
    double part = 1;
    at_expr_walk(product, add_factor, &f);
    for (int i = 0; i < f.num; i++) {
        uint32_t axes = f.found[i].axes, before = 0;
        if (!axes || axes & done) continue;
        while (axes != before) { /* and what shares axes with it */
            before = axes;
            for (int k = 0; k < f.num; k++)
                if (f.found[k].axes & axes) axes |= f.found[k].axes;
        }
        part *= part_of(&f, axes);
        done |= axes;
    }
    return part;
}
