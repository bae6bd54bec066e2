/* base/expr_walk.c: expressions visited node by node, copied with changes, and asked what is in
 * them. */
#include "base/base.h"

#include <string.h>

const at_expr *at_expr_walk(const at_expr *e, at_expr_visit *visit, void *ctx) {
    const at_walk walk = visit(e, ctx);
    const at_expr *end = walk == AT_WALK_END ? e : NULL;
    for (int i = 0; i < e->nargs && walk == AT_WALK_ON && !end; i++)
        end = at_expr_walk(e->arg[i], visit, ctx);
    return end;
}

const at_expr *at_expr_find(const at_expr *e, at_expr_test *is, const void *ctx) {
    const at_expr *found = is(e, ctx) ? e : NULL;
    for (int i = 0; i < e->nargs && !found; i++) found = at_expr_find(e->arg[i], is, ctx);
    return found;
}

const at_expr *at_expr_find_value(const at_expr *e, at_expr_test *is, const void *ctx) {
    const at_expr *found = is(e, ctx) ? e : NULL;
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX && !found; i++)
        found = at_expr_find_value(e->arg[i], is, ctx);
    return found;
}

const at_expr *at_expr_find_index(const at_expr *e, at_expr_test *is, const void *ctx) {
    const at_expr *found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = e->op == AT_X_INDEX ? at_expr_find(e->arg[i], is, ctx)
                                    : at_expr_find_index(e->arg[i], is, ctx);
    return found;
}

at_expr *at_expr_map(at_arena *a, const at_expr *e, at_expr_make *f, void *ctx) {
    at_expr *copy = at_copy(a, e, sizeof *e);
    copy->arg = e->nargs ? AT_NEW_ARRAY(a, at_expr *, e->nargs) : NULL;
    for (int i = 0; i < e->nargs; i++) copy->arg[i] = at_expr_map(a, e->arg[i], f, ctx);
    return f ? f(e, copy, ctx) : copy;
}

void at_expr_each(at_expr *e, at_expr_change *f, void *ctx) {
    for (int i = 0; i < e->nargs; i++) at_expr_each(e->arg[i], f, ctx);
    f(e, ctx);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool has_name(const at_expr *e, const void *name) {
    return e->op == AT_X_NAME && !strcmp(e->name, name);
}

bool at_expr_mentions(const at_expr *e, const char *name) {
    return at_expr_find(e, has_name, name);
}

/* Asked so often that a visitor costs a share of deriving. */
bool at_expr_uses(const at_expr *e, int ref) {
    bool any = at_expr_is_name(e, ref);
    for (int i = 0; i < e->nargs && !any; i++) any = at_expr_uses(e->arg[i], ref);
    return any;
}

const at_expr *at_expr_has(const at_expr *e, at_op op) {
    const at_expr *found = e->op == op ? e : NULL;
    for (int i = 0; i < e->nargs && !found; i++) found = at_expr_has(e->arg[i], op);
    return found;
}

bool at_expr_reads(const at_expr *e) { return at_expr_has(e, AT_X_INDEX); }

bool at_expr_is_read(const at_expr *e, const void *tensor) {
    return e->op == AT_X_INDEX && e->ref == *(const int *)tensor;
}

const at_expr *at_expr_read_of(const at_expr *e, int tensor) {
    return at_expr_find(e, at_expr_is_read, &tensor);
}

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
