/* schedule/compute_print.c: a computation back to text, one tensor a line, its definitions below.
 */
#include "schedule/schedule_int.h"

static void print_reductions(at_text *out, const at_tensor *t) {
    at_text_addf(out, "%s(", at_reduction_name(t->reduction));
    for (int i = t->num_axes; i < axes_of(t); i++) {
        const at_axis *axis = &t->axes[i];
        at_text_addf(out, "%s%s:", i > t->num_axes ? ", " : "", axis->name);
        if (axis->begin) {
            at_text_add(out, " ");
            at_expr_print(out, axis->begin);
            at_text_add(out, " .. ");
            at_expr_print(out, axis->end);
        } else {
            at_expr_print(out, axis->extent);
        }
    }
    at_text_add(out, ") ");
}

static void print_def(at_text *out, const at_def *d) {
    if (d->is_digits) at_text_add(out, "{");
    for (int i = 0; i < d->num_names; i++) {
        at_text_addf(out, "%s%s", i ? ", " : "", d->names[i]);
        if (!d->is_digits || !d->extents[i]) continue;
        at_text_add(out, ":");
        at_expr_print(out, d->extents[i]);
    }
    at_text_add(out, d->is_digits ? "} = " : " = ");
    at_expr_print(out, d->expr);
}

static void print_tensor(at_text *out, const at_tensor *t) {
    static const char *const roles[] = {"input", "weight", "index"};
    at_text_addf(out, "%s[", t->name);
    for (int i = 0; i < t->num_axes; i++) {
        if (i) at_text_add(out, ", ");
        if (t->axes[i].name) at_text_addf(out, "%s:", t->axes[i].name);
        at_expr_print(out, t->axes[i].extent);
    }
    if (t->role != AT_ROLE_STAGE) {
        const bool is_plain = !t->is_s64 && (t->type == AT_F32 || t->role == AT_ROLE_INDEX);
        at_text_addf(out, "] : %s%s%s\n", roles[t->role], is_plain ? "" : " ",
                     is_plain    ? ""
                     : t->is_s64 ? "s64"
                                 : at_type_of(t->type)->name);
        return;
    }
    at_text_add(out, "]");
    if (t->is_marked || t->type != AT_F32) at_text_add(out, " :");
    if (t->lies_in) at_text_addf(out, " in %s", t->lies_in);
    else if (t->is_marked) at_text_add(out, " output");
    if (t->type != AT_F32 && !t->lies_in) at_text_addf(out, " %s", at_type_of(t->type)->name);
    at_text_add(out, " = ");
    if (t->num_reduce) print_reductions(out, t);
    at_expr_print(out, t->written);
    for (int i = 0; i < t->num_defs; i++) {
        at_text_add(out, i ? ",\n          " : "\n    where ");
        print_def(out, &t->defs[i]);
    }
    at_text_add(out, "\n");
}

void at_compute_print(at_text *out, const at_compute *c) {
    for (int i = 0; i < c->num_tensors; i++) print_tensor(out, &c->tensors[i]);
}
