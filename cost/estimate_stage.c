/* cost/estimate_stage.c: what no configuration changes: the reads of a stage, and its operations.
 */
#include "cost/estimate_int.h"

/* Operations of a function of an element as codegen/functions.c writes it, where one instruction
 * multiplies and adds and two scale by a power of two; how many multiply and add; what scaling
 * takes more in others, whose last product may be added at once. */
static const struct {
    int all, joined, scaled;
} functions[AT_FUNCTION_COUNT] = {
    [AT_FUNCTION_EXP] = {12, 9, 7},     [AT_FUNCTION_LOG] = {32, 11, 0},
    [AT_FUNCTION_SQRT] = {1, 0, 0},     [AT_FUNCTION_RSQRT] = {2, 0, 0},
    [AT_FUNCTION_TANH] = {28, 15, 1},   [AT_FUNCTION_ERF] = {34, 24, 1},
    [AT_FUNCTION_SIGMOID] = {17, 9, 2}, [AT_FUNCTION_SIN] = {33, 18, 0},
    [AT_FUNCTION_COS] = {32, 18, 0},    [AT_FUNCTION_ABS] = {1, 0, 0},
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

static const at_expr *const *reads_unbounded(at_arena *a, const at_expr *const *read, int num) {
    const at_expr **out = AT_NEW_ARRAY(a, const at_expr *, num + 1);
    for (int r = 0; r < num; r++) out[r] = at_index_unbounded(a, read[r]);
    return out;
}

/* Sizes that an index of the read depends on, or one of what that passes on. */
static void find_sizes_through(const est_stage *stages, const at_expr *read, int *sizes, int *num) {
    while (read) {
        for (int d = 0; d < read->nargs; d++)
            at_index_sizes(read->arg[d], MOST_SIZES_THROUGH, sizes, num);
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
    out->passed_on = at_stage_passed_on(a, c, tensor);
    out->is_conditional = out->selects = at_expr_has(t->body, AT_X_SELECT);
    for (int r = 0; r < out->num_reads; r++)
        out->is_conditional |= stages[out->read[r]->ref].is_conditional;
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        for (int d = 0; d < out->read[r]->nargs && d < MAX_DIMS; d++) {
            uint32_t axes = 0;
            at_index_look(out->read[r]->arg[d], &axes, &out->divides[r][d]);
            for (int i = 0; i < 32; i++)
                if (axes >> i & 1) out->moved_by[r][i] |= (uint8_t)(1u << d);
            out->listed[r][d] = at_expr_reads(out->read[r]->arg[d]);
            at_index_sizes(out->read[r]->arg[d], MAX_SIZES, out->sizes[r][d],
                           &out->num_sizes[r][d]);
        }
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        find_sizes_through(stages, out->read[r], out->sizes_through[r], &out->num_sizes_through[r]);
}
