/* schedule/edit_inline.c: E10, a stage becomes part of what reads it, a short sum by its terms. */
#include "schedule/edit.h"

#include <string.h>

#include "schedule/rewrite.h"

/* What is inlined; extent: of its reductions, in their order. */
typedef struct inlined {
    const at_tensor *stage;
    int64_t extent[AT_INLINE_SUMS];
} inlined;

static const at_op joined[] = {[AT_REDUCE_SUM] = AT_X_ADD,
                               [AT_REDUCE_MAX] = AT_X_MAX,
                               [AT_REDUCE_MIN] = AT_X_MIN,
                               [AT_REDUCE_PROD] = AT_X_MUL};

/* The maximum of one term that is not a number is -inf. */
static bool is_single_extreme(const inlined *x) {
    bool is_single = x->stage->num_reduce && at_reduction_is_extreme(x->stage->reduction);
    for (int k = 0; k < x->stage->num_reduce; k++) is_single &= x->extent[k] == 1;
    return is_single;
}

/* An element's terms, one behind the other; value: of its axes, behind which those of the
 * reductions go. */
static at_expr *terms_at(rewrite *w, const inlined *x, int reduction, at_expr **value) {
    if (reduction == x->stage->num_reduce) return rewrite_expr_at(w->arena, x->stage->body, value);
    at_expr *all = NULL;
    for (int64_t i = 0; i < x->extent[reduction]; i++) {
        value[x->stage->num_axes + reduction] = at_expr_int(w->arena, i);
        at_expr *term = terms_at(w, x, reduction + 1, value);
        all = all ? rewrite_binary(w->arena, joined[x->stage->reduction], all, term) : term;
    }
    return all;
}

static void replace_reads(rewrite *w, const inlined *x, at_expr **e) {
    at_expr *value[MAX_AXES];
    for (int i = 0; i < (*e)->nargs; i++) replace_reads(w, x, &(*e)->arg[i]);
    if ((*e)->op != AT_X_INDEX || strcmp((*e)->name, x->stage->name)) return;
    memcpy(value, (*e)->arg, sizeof *value * (size_t)(*e)->nargs);
    *e = terms_at(w, x, 0, value);
    if (!is_single_extreme(x)) return;
    at_expr *nothing = at_expr_new(w->arena, AT_X_FLOAT, 0, NULL);
    nothing->number = (double)at_reduction_neutral(x->stage->reduction);
    *e = rewrite_binary(w->arena, joined[x->stage->reduction], *e, nothing);
}

/* Is an element of the stage read where a list leads? How far that goes is not known, and the stage
 * may calculate with its index. */
static bool is_of_list(const at_tensor *reader, const at_expr *e, int stage) {
    bool found = false;
    for (int i = 0; i < e->nargs; i++) {
        found |= is_of_list(reader, e->arg[i], stage);
        for (int k = 0; k < axes_of(reader) && e->op == AT_X_INDEX && e->ref == stage; k++)
            found |= reader->axes[k].begin && at_expr_uses(e->arg[i], k);
    }
    return found;
}

/* How far each reduction goes: as the names say, in any order. */
static at_status find_extents(inlined *in, const char *const *names, const int64_t *sizes, int n,
                              at_error *err) {
    const at_tensor *x = in->stage;
    int64_t terms = 1;
    for (int k = 0; k < x->num_reduce && k < AT_INLINE_SUMS; k++) {
        const at_axis *axis = &x->axes[x->num_axes + k];
        for (int i = 0; i < n; i++)
            if (!strcmp(names[i], axis->name) && !axis->begin) in->extent[k] = sizes[i];
        if (in->extent[k] < 1 || in->extent[k] > AT_INLINE_TERMS / terms)
            terms = AT_INLINE_TERMS + 1;
        else terms *= in->extent[k];
    }
    if (x->num_reduce <= AT_INLINE_SUMS && n == x->num_reduce && terms <= AT_INLINE_TERMS)
        return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   x->num_reduce ? "@%s is inlined with the lengths of its reductions, of at most "
                                   "%d terms"
                                 : "@%s has no reductions",
                   x->name, AT_INLINE_TERMS);
}

at_status at_edit_inline(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         const int64_t *sizes, int n, const at_compute **compute, at_tree **out,
                         at_error *err) {
    rewrite w = {.arena = a, .old = t->compute, .tree = t, .err = err};
    int s = at_compute_find(t->compute, stage);
    const at_tensor *x = s < 0 ? NULL : &t->compute->tensors[s];
    inlined in = {.stage = x};
    if (!x || x->role != AT_ROLE_STAGE)
        return at_fail(err, AT_E_INPUT, "there is no stage \"%s\"", stage);
    if (x->is_output || at_type_of(x->type)->is_int || x->is_recurrence || x->is_carried)
        return at_fail(err, AT_E_INPUT, "@%s is %s, which cannot be inlined", stage,
                       x->is_recurrence || x->is_carried ? "what reads itself"
                       : x->is_output                    ? "an output"
                                                         : "of integers");
    AT_TRY(find_extents(&in, names, sizes, n, err));
    AT_TRY(tree_copy(a, t, &w.made, err));
    for (int i = 0; i < t->compute->num_tensors; i++) {
        at_tensor copy = rewrite_copy_tensor(a, &t->compute->tensors[i]);
        if (i == s) continue;
        if (copy.written && is_of_list(&t->compute->tensors[i], t->compute->tensors[i].body, s))
            return at_fail(err, AT_E_INPUT, "@%s is read over a list: it cannot be inlined", stage);
        if (copy.written) replace_reads(&w, &in, &copy.written);
        for (int d = 0; d < copy.num_defs; d++) replace_reads(&w, &in, &copy.defs[d].expr);
        *at_push(a, &w.tensors) = copy;
    }
    tree_node *leaf = tree_leaf(w.made, stage);
    if (leaf) tree_remove(w.made, leaf);
    return rewrite_finish(&w, compute, out);
}
