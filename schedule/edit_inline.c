/* schedule/edit_inline.c: E10, a stage becomes part of what reads it. */
#include "schedule/edit.h"

#include <string.h>

#include "schedule/rewrite.h"

static void replace_reads(rewrite *w, const at_tensor *stage, at_expr **e) {
    for (int i = 0; i < (*e)->nargs; i++) replace_reads(w, stage, &(*e)->arg[i]);
    if ((*e)->op == AT_X_INDEX && !strcmp((*e)->name, stage->name))
        *e = rewrite_expr_at(w->arena, stage->body, (*e)->arg);
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

at_status at_edit_inline(at_arena *a, const at_tree *t, const char *stage,
                         const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w = {.arena = a, .old = t->compute, .tree = t, .err = err};
    int s = at_compute_find(t->compute, stage);
    const at_tensor *x = s < 0 ? NULL : &t->compute->tensors[s];
    if (!x || x->role != AT_ROLE_STAGE)
        return at_fail(err, AT_E_INPUT, "there is no stage \"%s\"", stage);
    if (x->num_reduce || x->is_output || x->is_int)
        return at_fail(err, AT_E_INPUT, "@%s is %s, which cannot be inlined", stage,
                       x->num_reduce  ? "a sum"
                       : x->is_output ? "an output"
                                      : "of integers");
    AT_TRY(outline_of(a, t, &w.o, err));
    for (int i = 0; i < t->compute->num_tensors; i++) {
        at_tensor copy = rewrite_copy_tensor(a, &t->compute->tensors[i]);
        if (i == s) continue;
        if (copy.written && is_of_list(&t->compute->tensors[i], t->compute->tensors[i].body, s))
            return at_fail(err, AT_E_INPUT, "@%s is read over a list: it cannot be inlined", stage);
        if (copy.written) replace_reads(&w, x, &copy.written);
        for (int d = 0; d < copy.num_defs; d++) replace_reads(&w, x, &copy.defs[d].expr);
        *at_push(a, &w.tensors) = copy;
    }
    outline_node *leaf = outline_leaf(&w.o, stage);
    if (leaf) outline_remove(&w.o, leaf);
    return rewrite_finish(&w, compute, out);
}
