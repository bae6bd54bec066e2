/* schedule/data/data_again.c: how often draws are made again with other numbers. Where maxima,
 * minima and conditions stand behind each other, as in what goes from step to step, most operands
 * of most elements decide nothing on one set of numbers: a kernel may take another one there. */
#include "schedule/data/data_int.h"

#include <math.h>

enum { MOST_RUNS = 512, LEAST_RUNS = 4 };
/* Terms in all runs; fewer where nothing goes in steps: there elements are seen one by one. */
#define MOST_WORK 0x1p24
#define FEW_WORK 0x1p21

/* Does it hide an operand, as numbers say, or what is dropped where it rounds? */
static bool hides(const at_expr *e, const void *unused) {
    (void)unused;
    if (e->op == AT_X_SELECT) return at_expr_reads(e->arg[0]);
    const bool rounds = e->op == AT_X_SHIFT_RIGHT ||
                        (e->op == AT_X_CALL && at_function_rounds((at_function)e->integer));
    return (rounds || e->op == AT_X_MIN || e->op == AT_X_MAX || at_op_compares(e->op)) &&
           at_expr_reads(e);
}

/* An entry of few different ones: what stands in its place, such as 0, is often the same. */
static bool is_of_few(const at_expr *e, const void *ruler) {
    enum { FEW = 256 };
    const data_ruler *r = ruler;
    const at_index_range *all = r->known->entries;
    return e->op == AT_X_INDEX && r->c->tensors[e->ref].role == AT_ROLE_INDEX && all &&
           all[e->ref].hi - all[e->ref].lo < FEW;
}

int64_t data_again(const data_ruler *r) {
    double work = 1;
    bool any = false;
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        double terms = (double)data_elements_of(r, s);
        if (t->role != AT_ROLE_STAGE || !t->body) continue;
        any |= at_expr_find(t->body, hides, NULL) || at_expr_find_index(t->body, is_of_few, r);
        any |= t->num_reduce && at_reduction_is_extreme(t->reduction);
        any |= at_scatter_of(t).axes != 0; /* terms may belong to no place */
        for (int i = t->num_axes; i < axes_of(t); i++)
            terms *= (double)(r->extents[s][i] > 1 ? r->extents[s][i] : 1);
        work += terms;
    }
    const double most = at_compute_has_recurrence(r->c) ? MOST_WORK : FEW_WORK,
                 runs = fmin(MOST_RUNS, most / work);
    return any && runs >= LEAST_RUNS ? (int64_t)runs : 0;
}
