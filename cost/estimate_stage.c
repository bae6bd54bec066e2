/* cost/estimate_stage.c: what no configuration changes: the reads of a stage, and its operations.
 */
#include "cost/estimate_int.h"

/* Does an index of the read depend on what an index tensor holds? */
static bool is_listed_inside(const at_expr *e) {
    for (int i = 0; i < e->nargs; i++)
        if (at_expr_reads(e->arg[i])) return true;
    return false;
}

/* Takes one more; too many: *num becomes -1. */
static void add_size(int slot, int most, int *sizes, int *num) {
    if (*num < 0) return;
    for (int i = 0; i < *num; i++)
        if (sizes[i] == slot) return;
    if (*num == most) *num = -1;
    else sizes[(*num)++] = slot;
}

void est_find_sizes(const at_expr *e, int most, int *sizes, int *num) {
    for (int i = 0; i < e->nargs; i++) est_find_sizes(e->arg[i], most, sizes, num);
    if (e->op == AT_X_NAME && e->ref >= AT_REF_SIZE)
        add_size(e->ref - AT_REF_SIZE, most, sizes, num);
}

void est_look_at_index(const at_expr *e, uint32_t *axes, bool *divides) {
    uint32_t of_factors = ~0u;
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE && e->ref < 32) *axes |= 1u << e->ref;
    for (int i = 0; i < e->nargs; i++) {
        uint32_t inside = 0;
        est_look_at_index(e->arg[i], &inside, divides);
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

/* Operations of a function of an element as codegen/functions.c writes it, where one instruction
 * multiplies and adds and two scale by a power of two; how many multiply and add; what scaling
 * takes more in others, whose last product may be added at once. */
static const struct {
    int all, joined, scaled;
} functions[AT_FUNCTION_COUNT] = {
    [AT_FUNCTION_EXP] = {12, 9, 7},     [AT_FUNCTION_LOG] = {32, 11, 0},
    [AT_FUNCTION_SQRT] = {1, 0, 0},     [AT_FUNCTION_RSQRT] = {2, 0, 0},
    [AT_FUNCTION_TANH] = {28, 15, 1},   [AT_FUNCTION_ERF] = {34, 24, 1},
    [AT_FUNCTION_SIGMOID] = {17, 9, 2}, [AT_FUNCTION_ABS] = {1, 0, 0},
    [AT_FUNCTION_FLOOR] = {10, 0, 0},   [AT_FUNCTION_CEIL] = {12, 0, 0},
    [AT_FUNCTION_ROUND] = {7, 0, 0},    [AT_FUNCTION_HALF] = {12, 0, 0},
    [AT_FUNCTION_F16] = {11, 0, 0},     [AT_FUNCTION_BF16] = {8, 0, 0},
};

static double of_call(const at_target *target, const at_expr *e) {
    int n = functions[e->integer].all;
    if (!target->fused) n += functions[e->integer].joined;
    if (!target->scales) n += functions[e->integer].scaled;
    return n;
}

/* Is it a product, or a quotient that becomes one (at_value_fold)? */
static bool is_product(const at_expr *e) {
    if (e->op != AT_X_DIV) return e->op == AT_X_MUL;
    const at_expr *by = e->arg[1];
    double number = by->op == AT_X_FLOAT ? by->number
                    : by->op == AT_X_INT ? (double)by->integer
                                         : 0;
    return at_exact_reciprocal(number) != 0;
}

/* Operations on floats; is the expression a float itself? A product is added, or taken away, or has
 * something taken away, by the instruction that makes it. in_sum: the expression is a term of a
 * sum, whose products are counted with it, or terms that are added up. */
static bool count(const at_compute *c, const at_target *target, const at_expr *e, bool in_sum,
                  double *n) {
    bool is_float = e->op == AT_X_FLOAT || e->op == AT_X_CALL ||
                    (e->op == AT_X_INDEX && c->tensors[e->ref].role != AT_ROLE_INDEX);
    bool adds = e->op == AT_X_ADD || e->op == AT_X_SUB, joins = false;
    if (e->op == AT_X_INDEX) return is_float;
    for (int i = e->op == AT_X_SELECT; i < e->nargs; i++) {
        bool of_floats = count(c, target, e->arg[i], in_sum && adds, n);
        joins |= of_floats && is_product(e->arg[i]);
        is_float |= of_floats;
    }
    joins &= adds && !in_sum && target->fused;
    if (is_float && e->op != AT_X_FLOAT && e->op != AT_X_SELECT && !joins)
        *n += e->op == AT_X_CALL ? of_call(target, e) : 1;
    return is_float;
}

static bool has_axes(const at_expr *e) {
    if (e->op == AT_X_NAME) return e->ref < AT_REF_SIZE;
    for (int i = 0; i < e->nargs; i++)
        if (has_axes(e->arg[i])) return true;
    return false;
}

/* An index, or a read, as it is where no bound decides, min(max(h - 1, 0), H - 1) as h - 1: so it
 * is but for a few places. */
static const at_expr *unbounded(at_arena *a, const at_expr *e) {
    at_expr *copy = NULL;
    if ((e->op == AT_X_MIN || e->op == AT_X_MAX) && !at_expr_reads(e) &&
        has_axes(e->arg[0]) != has_axes(e->arg[1]))
        return unbounded(a, e->arg[!has_axes(e->arg[0])]);
    for (int i = 0; i < e->nargs; i++) {
        const at_expr *inside = unbounded(a, e->arg[i]);
        if (inside == e->arg[i]) continue;
        if (!copy) {
            copy = at_copy(a, e, sizeof *e);
            copy->arg = at_copy(a, e->arg, sizeof *e->arg * (size_t)e->nargs);
        }
        copy->arg[i] = (at_expr *)inside;
    }
    return copy ? copy : e;
}

static const at_expr *const *reads_unbounded(at_arena *a, const at_expr *const *read, int num) {
    const at_expr **out = AT_NEW_ARRAY(a, const at_expr *, num + 1);
    for (int r = 0; r < num; r++) out[r] = unbounded(a, read[r]);
    return out;
}

/* What a stage reads that is nothing but a read of what is above, under a condition or not; NULL:
 * it is more. */
static const at_expr *passed_on(at_arena *a, const at_compute *c, int stage) {
    const at_expr *e = c->tensors[stage].body;
    while (e && e->op == AT_X_SELECT) e = e->arg[1];
    const bool is_read = e && e->op == AT_X_INDEX && e->ref < stage && !is_listed_inside(e);
    return is_read ? unbounded(a, e) : NULL;
}

/* Sizes that an index of the read depends on, or one of what that passes on. */
static void find_sizes_through(const est_stage *stages, const at_expr *read, int *sizes, int *num) {
    while (read) {
        for (int d = 0; d < read->nargs; d++)
            est_find_sizes(read->arg[d], MOST_SIZES_THROUGH, sizes, num);
        read = stages[read->ref].passed_on;
    }
}

void est_stage_init(at_arena *a, const at_compute *c, const at_target *target, int tensor,
                    est_stage *stages) {
    const at_tensor *t = &c->tensors[tensor];
    est_stage *out = &stages[tensor];
    *out = (est_stage){.read = NULL};
    if (t->role != AT_ROLE_STAGE) return;
    out->read = at_compute_reads(c, tensor, &out->num_reads);
    out->read = reads_unbounded(a, out->read, out->num_reads);
    count(c, target, t->body, t->num_reduce && t->reduction == AT_REDUCE_SUM, &out->operations);
    out->passed_on = passed_on(a, c, tensor);
    out->is_conditional = out->selects = at_expr_has(t->body, AT_X_SELECT);
    for (int r = 0; r < out->num_reads; r++)
        out->is_conditional |= stages[out->read[r]->ref].is_conditional;
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        for (int d = 0; d < out->read[r]->nargs && d < MAX_DIMS; d++) {
            uint32_t axes = 0;
            est_look_at_index(out->read[r]->arg[d], &axes, &out->divides[r][d]);
            for (int i = 0; i < 32; i++)
                if (axes >> i & 1) out->moved_by[r][i] |= (uint8_t)(1u << d);
            out->listed[r][d] = at_expr_reads(out->read[r]->arg[d]);
            est_find_sizes(out->read[r]->arg[d], MAX_SIZES, out->sizes[r][d],
                           &out->num_sizes[r][d]);
            if (!out->straight[r]) out->straight[r] = AT_NEW_ARRAY(a, est_straight, MAX_DIMS);
            if (!out->divides[r][d] && out->num_sizes[r][d] >= 0 &&
                out->read[r]->arg[d]->op != AT_X_NAME)
                out->straight[r][d].one = AT_NEW_ARRAY(a, int64_t, 32);
        }
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        find_sizes_through(stages, out->read[r], out->sizes_through[r], &out->num_sizes_through[r]);
}
