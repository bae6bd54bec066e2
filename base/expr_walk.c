/* base/expr_walk.c: expressions visited node by node, copied with changes, and asked what is in
 * them. */
#include "base/base.h"

#include <string.h>

bool at_expr_walk(const at_expr *e, at_expr_visit *visit, void *ctx) {
    const at_walk walk = visit(e, ctx);
    for (int i = 0; i < e->nargs && walk == AT_WALK_ON; i++)
        if (at_expr_walk(e->arg[i], visit, ctx)) return true;
    return walk == AT_WALK_END;
}

at_expr *at_expr_map(at_arena *a, const at_expr *e, at_expr_make *f, void *ctx) {
    at_expr *copy = at_copy(a, e, sizeof *e);
    copy->arg = e->nargs ? AT_NEW_ARRAY(a, at_expr *, e->nargs) : NULL;
    for (int i = 0; i < e->nargs; i++) copy->arg[i] = at_expr_map(a, e->arg[i], f, ctx);
    return f(copy, ctx);
}

/* ---- questions ------------------------------------------------------------------------------- */

static at_walk has_name(const at_expr *e, void *name) {
    return e->op == AT_X_NAME && !strcmp(e->name, name) ? AT_WALK_END : AT_WALK_ON;
}

bool at_expr_mentions(const at_expr *e, const char *name) {
    return at_expr_walk(e, has_name, (void *)(uintptr_t)name);
}

/* Asked so often that a visitor costs a share of deriving. */
bool at_expr_uses(const at_expr *e, int ref) {
    bool any = e->op == AT_X_NAME && e->ref == ref;
    for (int i = 0; i < e->nargs && !any; i++) any = at_expr_uses(e->arg[i], ref);
    return any;
}

bool at_expr_has(const at_expr *e, at_op op) {
    bool any = e->op == op;
    for (int i = 0; i < e->nargs && !any; i++) any = at_expr_has(e->arg[i], op);
    return any;
}

bool at_expr_reads(const at_expr *e) { return at_expr_has(e, AT_X_INDEX); }

int at_expr_count_reads(const at_expr *e, int tensor) {
    int n = e->op == AT_X_INDEX && e->ref == tensor;
    for (int i = 0; i < e->nargs; i++) n += at_expr_count_reads(e->arg[i], tensor);
    return n;
}

int at_expr_nodes(const at_expr *e) {
    int n = 1;
    for (int i = 0; i < e->nargs; i++) n += at_expr_nodes(e->arg[i]);
    return n;
}
