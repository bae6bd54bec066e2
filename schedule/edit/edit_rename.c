/* schedule/edit/edit_rename.c: E11, a stage's axes and their loops get other names. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

typedef struct renaming {
    const at_compute *c;
    const at_tensor *stage;
    const char *const *names; /* [axes of the stage] */
} renaming;

/* What a name is called: that of an axis by its new one. */
static const char *renamed(const renaming *r, const char *name) {
    for (int k = 0; k < axes_of(r->stage); k++)
        if (!strcmp(r->stage->axes[k].name, name)) return r->names[k];
    return name;
}

static void rename_node(at_expr *e, void *r) {
    if (e->op == AT_X_NAME) e->name = renamed(r, e->name);
}

static void rename_list(const renaming *r, name_list *l) {
    for (int i = 0; i < l->len; i++) l->data[i] = renamed(r, l->data[i]);
}

/* Names stay those of one thing each. */
static at_status check(const renaming *r, int n, at_error *err) {
    const at_tensor *x = r->stage;
    if (n != axes_of(x))
        return at_fail(err, AT_E_INPUT, "@%s has %d axes, and here are %d names", x->name,
                       axes_of(x), n);
    for (int k = 0; k < n; k++) {
        bool is_taken = at_symbol_find(r->c->symbols, r->names[k]) >= 0;
        for (int i = 0; i < k; i++) is_taken |= !strcmp(r->names[i], r->names[k]);
        for (int d = 0; d < x->num_defs; d++)
            for (int i = 0; i < x->defs[d].num_names; i++)
                is_taken |= !strcmp(x->defs[d].names[i], r->names[k]);
        if (is_taken)
            return at_fail(err, AT_E_INPUT, "\"%s\" is a name in @%s already", r->names[k],
                           x->name);
        if (x->axes[k].begin)
            return at_fail(err, AT_E_INPUT, "@%s sums over a list: its axes keep their names",
                           x->name);
    }
    return AT_OK;
}

/* Whole axes in loops of their names, which are the stage's alone. */
static at_status rename_loops(const renaming *r, tree_node *leaf, at_error *err) {
    for (int k = 0; k < leaf->num_index; k++) rename_list(r, &leaf->index[k]);
    bool branches = false;
    for (tree_node *x = leaf; x->parent; x = x->parent) {
        tree_node *loop = x->parent;
        branches |= loop->child != x || x->next;
        for (int i = 0; i < loop->pieces.len; i++)
            if (branches && renamed(r, loop->pieces.data[i]) != loop->pieces.data[i])
                return at_fail(err, AT_E_INPUT, "the tree branches below \"%s\"",
                               loop->pieces.data[i]);
        rename_list(r, &loop->pieces);
    }
    return AT_OK;
}

at_status at_edit_rename(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         int n, const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w = {.arena = a, .old = t->compute, .tree = t, .err = err};
    int s = at_compute_find(t->compute, stage);
    renaming r = {t->compute, s < 0 ? NULL : &t->compute->tensors[s], names};
    AT_TRY(tree_copy(a, t, &w.made, err));
    tree_node *leaf = s < 0 ? NULL : tree_leaf(w.made, stage);
    if (!leaf) return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    if (tree_init(w.made, stage))
        return at_fail(err, AT_E_INPUT, "@%s.init is a leaf of its own", stage);
    AT_TRY(check(&r, n, err));
    for (int i = 0; i < t->compute->num_tensors; i++) {
        at_tensor copy = at_tensor_copy(a, &t->compute->tensors[i]);
        *at_push(a, &w.tensors) = copy;
        if (i != s) continue;
        at_expr_each(copy.written, rename_node, &r);
        for (int d = 0; d < copy.num_defs; d++) at_expr_each(copy.defs[d].expr, rename_node, &r);
        for (int k = 0; k < n; k++) copy.axes[k].name = names[k];
    }
    AT_TRY(rename_loops(&r, leaf, err));
    return rewrite_finish(&w, compute, out);
}
