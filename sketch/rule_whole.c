/* sketch/rule_whole.c: what is calculated of elements that a sum needs many times is computed as a
 * whole before it, in further sketches:
 *
 *     As[i, k] = A[i, k]*s[k]; .. sum(k) As[i, k]*B[k, j]    ->    i, k0, k1:vec => @As
 *                                                                  j0, i0, .. @out
 *
 * So is what takes several operations and is needed in windows, as the rows of a separable filter:
 * the rows of a tile share some of it, and only their own. */
#include "sketch/limits.h"
#include "sketch/sketch_int.h"

/* How often an element of each stage is worked out by sums, or by others, where it is dissolved. */
static double *uses_of(const sketch_state *s, bool by_sums) {
    const at_facts *f = s->before;
    const at_compute *c = f->compute;
    double *uses = AT_NEW_ARRAY(s->arena, double, c->num_tensors); /* of all elements together */
    for (int t = c->num_tensors - 1; t >= 0; t--) {
        for (int r = t + 1; r < c->num_tensors; r++) {
            const at_tensor *x = &c->tensors[r];
            double points = f->of[r].is_dissolved ? uses[r] : by_sums == (x->num_reduce > 0);
            int n = f->of[r].is_stage ? at_expr_count_reads(x->body, t) : 0;
            for (int k = 0; k < x->num_axes + x->num_reduce && !f->of[r].is_dissolved; k++)
                points *= (double)f->extents[r][k];
            if (n) uses[t] += by_sums ? points : points * n;
        }
    }
    for (int t = 0; t < c->num_tensors; t++) uses[t] /= at_facts_elements(f, t);
    return uses;
}

const char *sketch_wholes(const sketch_state *s, bool **kept) {
    const at_compute *c = s->before->compute;
    const double *by_sums = uses_of(s, true), *by_others = uses_of(s, false);
    const char *word = NULL;
    *kept = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->before->of[t];
        bool in_windows = by_others[t] >= WHOLE_WINDOW &&
                          f->operations >= WHOLE_LEAST_OPERATIONS * at_facts_elements(s->before, t);
        if (!f->is_dissolved || f->operations <= 0 || (by_sums[t] < WHOLE_MANY_USES && !in_windows))
            continue;
        (*kept)[t] = true;
        word = word ? at_format(s->arena, "%s+whole_%s", word, c->tensors[t].name)
                    : at_format(s->arena, "whole_%s", c->tensors[t].name);
    }
    return word;
}
