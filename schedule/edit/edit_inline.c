/* schedule/edit/edit_inline.c: E10, a stage becomes part of what reads it, a short sum by its
 * terms. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

/* What is inlined; extent: of its reductions, in their order. */
typedef struct inlined {
    at_arena *arena;
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
static at_expr *terms_at(const inlined *x, int reduction, at_expr **value) {
    if (reduction == x->stage->num_reduce) return rewrite_expr_at(x->arena, x->stage->body, value);
    at_expr *all = NULL;
    for (int64_t i = 0; i < x->extent[reduction]; i++) {
        value[x->stage->num_axes + reduction] = at_expr_int(x->arena, i);
        at_expr *term = terms_at(x, reduction + 1, value);
        all = all ? at_expr_pair(x->arena, joined[x->stage->reduction], all, term) : term;
    }
    return all;
}

static void put_in(at_expr *e, void *ctx) {
    const inlined *x = ctx;
    at_expr *value[MAX_AXES];
    if (e->op != AT_X_INDEX || strcmp(e->name, x->stage->name)) return;
    memcpy(value, e->arg, sizeof *value * (size_t)e->nargs);
    at_expr *made = terms_at(x, 0, value);
    if (is_single_extreme(x)) {
        at_expr *nothing = at_expr_new(x->arena, AT_X_FLOAT, 0, NULL);
        nothing->number = (double)at_reduction_neutral(x->stage->reduction);
        made = at_expr_pair(x->arena, joined[x->stage->reduction], made, nothing);
    }
    *e = *made;
}

typedef struct stage_read {
    const at_tensor *reader;
    int stage;
} stage_read;

/* Is an element of the stage read where a list leads? How far that goes is not known, and the stage
 * may calculate with its index. */
static bool is_of_list(const at_expr *e, const void *ctx) {
    const stage_read *x = ctx;
    bool is = false;
    for (int k = 0; k < axes_of(x->reader) && at_expr_is_read(e, &x->stage); k++)
        is |= x->reader->axes[k].begin && at_expr_uses(e, k);
    return is;
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

/* Is what is stored another number than the expression's? Integers of 32 bits are what they are. */
static bool is_cut(const at_compute *c, const at_tensor *x) {
    if (x->type == AT_S32 && at_expr_is_whole(c, x->body)) return false;
    return at_type_of(x->type)->is_int;
}

at_status at_edit_inline(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         const int64_t *sizes, int n, const at_compute **compute, at_tree **out,
                         at_error *err) {
    rewrite w = {.arena = a, .old = t->compute, .tree = t, .err = err};
    int s = at_compute_find(t->compute, stage);
    const at_tensor *x = s < 0 ? NULL : &t->compute->tensors[s];
    inlined in = {.arena = a, .stage = x};
    if (!x || x->role != AT_ROLE_STAGE)
        return at_fail(err, AT_E_INPUT, "there is no stage \"%s\"", stage);
    if (x->is_output || is_cut(t->compute, x) || x->is_recurrence || x->is_carried)
        return at_fail(err, AT_E_INPUT, "@%s is %s, which cannot be inlined", stage,
                       x->is_recurrence || x->is_carried ? "what reads itself"
                       : x->is_output                    ? "an output"
                                                         : "cut to what integers hold");
    AT_TRY(find_extents(&in, names, sizes, n, err));
    AT_TRY(tree_copy(a, t, &w.made, err));
    for (int i = 0; i < t->compute->num_tensors; i++) {
        at_tensor copy = at_tensor_copy(a, &t->compute->tensors[i]);
        if (i == s) continue;
        const stage_read read = {&t->compute->tensors[i], s};
        if (copy.written && at_expr_find(read.reader->body, is_of_list, &read))
            return at_fail(err, AT_E_INPUT, "@%s is read over a list: it cannot be inlined", stage);
        if (copy.written) at_expr_each(copy.written, put_in, &in);
        for (int d = 0; d < copy.num_defs; d++) at_expr_each(copy.defs[d].expr, put_in, &in);
        *at_push(a, &w.tensors) = copy;
    }
    tree_node *leaf = tree_leaf(w.made, stage);
    if (leaf) tree_remove(w.made, leaf);
    return rewrite_finish(&w, compute, out);
}
