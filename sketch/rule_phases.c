/* sketch/rule_phases.c: a sum of whose terms a remainder leaves every S-th, as a transposed
 * convolution has them, becomes one sum for each phase, of the terms that count:
 *
 *     out[h] = sum(r:R) ((h + P - r)%S == 0 ? x[(h + P - r)/S] : 0)*w[r]    ->
 *         out_p[p, h] = sum(r:R/S) x[h - r + (P + p)/S]*w[S*r + (P + p)%S]
 *         out[h] = out_p[h%S, h/S]  */
#include "schedule/edit.h"
#include "sketch/sketch_int.h"

/* Along one axis; all phases are as long where together they have the terms that there were. */
static at_status make_one(sketch_state *s, at_edit *e, const at_facts_given *given, at_error *err) {
    const at_compute *c = s->compute;
    const int from = at_compute_find(c, e->stage), n = c->tensors[from].num_axes;
    const int64_t *before = s->facts->extents[from];
    sketch_state *b = sketch_branch(s, "");
    AT_TRY(sketch_step(b, e, err));
    AT_TRY(sketch_look_again(b, given, err));
    const int64_t *by = b->facts->extents[at_compute_find(b->compute, e->names[0])];
    int64_t terms = 1, of_phases = by[0];
    for (int k = n; k < n + c->tensors[from].num_reduce; k++)
        terms *= before[k], of_phases *= by[k + 1];
    if (of_phases == terms) e->other = "whole";
    return sketch_step(s, e, err);
}

/* The phases of one axis after the other; what picks those of the first stands where it is read. */
static at_status make_phases(sketch_state *s, const char *name, const at_facts_given *given,
                             at_error *err) {
    const char *first = name;
    for (int k = 0; k < s->compute->tensors[at_compute_find(s->compute, name)].num_axes; k++) {
        const at_tensor *x = &s->compute->tensors[at_compute_find(s->compute, name)];
        if (!at_edit_has_phases(x, k)) continue;
        at_edit e = {.kind = AT_EDIT_PHASES,
                     .stage = name,
                     .loop = x->axes[k].name,
                     .names = {sketch_fresh(s, at_format(s->arena, "%s_p", first))}};
        AT_TRY(make_one(s, &e, given, err));
        if (name != first) AT_TRY(sketch_drop_copy(s, name, err));
        AT_TRY(sketch_look_again(s, given, err));
        name = e.names[0];
        k++; /* the phase stands before the axis */
    }
    return AT_OK;
}

void sketch_phases(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const int before = s->compute->num_tensors;
        const at_tensor *x = &s->compute->tensors[t];
        bool any = false;
        if (x->role != AT_ROLE_STAGE || x->cycle || s->facts->of[t].is_written) continue;
        for (int k = 0; k < x->num_axes; k++) any |= at_edit_has_phases(x, k);
        if (!any) continue;
        sketch_state *b = sketch_branch(s, "");
        at_error why;
        if (make_phases(b, x->name, given, &why) != AT_OK) continue;
        /* The last phase of an axis that steps do not divide reads beyond. */
        if (at_compute_check_reads(b->compute, given->values, NULL, NULL, &why) != AT_OK) continue;
        *s = *b;
        t += s->compute->num_tensors - before; /* the sum by phases stands before it */
    }
}
