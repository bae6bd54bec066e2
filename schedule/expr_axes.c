/* schedule/expr_axes.c: what a resolved expression is made of: axes, sizes, reads. */
#include "schedule/schedule.h"

static at_walk add_axis(const at_expr *e, void *axes) {
    if (e->op == AT_X_NAME && e->ref >= 0 && e->ref < 32) *(uint32_t *)axes |= 1u << e->ref;
    return AT_WALK_ON;
}

uint32_t at_expr_axes(const at_expr *e) {
    uint32_t axes = 0;
    at_expr_walk(e, add_axis, &axes);
    return axes;
}

static bool moves(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_INDEX || (e->op == AT_X_NAME && e->ref < AT_REF_SIZE);
}

bool at_expr_is_size(const at_expr *e) { return !at_expr_find(e, moves, NULL); }

bool at_expr_is_in_place(const at_expr *read) {
    for (int k = 0; k < read->nargs; k++)
        if (!at_expr_is_name(read->arg[k], k)) return false;
    return true;
}

typedef struct role_of {
    const at_compute *c;
    at_role role;
} role_of;

static bool reads_role(const at_expr *e, const void *ctx) {
    const role_of *x = ctx;
    return e->op == AT_X_INDEX && x->c->tensors[e->ref].role == x->role;
}

bool at_expr_reads_role(const at_compute *c, const at_expr *e, at_role role) {
    return at_expr_find(e, reads_role, &(role_of){c, role});
}

static bool reads_entries(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    return e->op == AT_X_INDEX && at_tensor_has_entries(&c->tensors[e->ref]);
}

bool at_expr_reads_entries(const at_compute *c, const at_expr *e) {
    return at_expr_find(e, reads_entries, c);
}
