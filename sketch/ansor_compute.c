/* sketch/ansor_compute.c: the computation that the stages of a state are, and what steps write into
 * their expressions. */
#include <string.h>

#include "sketch/ansor_int.h"

/* Copies, since computations take what they are made of. */
static at_def *copy_defs(at_arena *a, const ansor_stage *x) {
    at_def *all = at_copy(a, x->defs, sizeof *all * (size_t)x->num_defs);
    for (int i = 0; i < x->num_defs; i++) {
        all[i].expr = at_expr_map(a, all[i].expr, NULL, NULL);
        if (!all[i].is_digits) continue;
        all[i].extents =
            at_copy(a, all[i].extents, sizeof *all->extents * (size_t)all[i].num_names);
        for (int k = 0; k < all[i].num_names; k++)
            if (all[i].extents[k])
                all[i].extents[k] = at_expr_map(a, all[i].extents[k], NULL, NULL);
    }
    return all;
}

at_status ansor_compute(const ansor_state *s, const at_symbols *symbols, at_compute **out) {
    at_tensor *all = AT_NEW_ARRAY(s->arena, at_tensor, s->num_stages);
    for (int i = 0; i < s->num_stages; i++) {
        const ansor_stage *x = s->stage[i];
        at_tensor *t = &all[i];
        *t = (at_tensor){.name = x->name, .role = AT_ROLE_STAGE, .reduction = x->reduction};
        t->axes = AT_NEW_ARRAY(s->arena, at_axis, x->num_axes + x->num_reduce);
        for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
            if (x->axis[k].is_gone) continue;
            at_axis *axis = &t->axes[t->num_axes + t->num_reduce];
            axis->name = x->declared ? NULL : x->axis[k].name;
            axis->extent = at_expr_int(s->arena, x->axis[k].extent);
            k < x->num_axes ? t->num_axes++ : t->num_reduce++;
        }
        if (x->declared) {
            t->role = x->declared->role;
            t->type = x->declared->type;
            continue;
        }
        t->written = at_expr_map(s->arena, x->body, NULL, NULL);
        t->defs = copy_defs(s->arena, x);
        t->num_defs = x->num_defs;
    }
    return at_compute_make(s->arena, symbols, all, s->num_stages, "rewritten computation", out,
                           s->err);
}

/* ---- expressions ----------------------------------------------------------------------------- */

void ansor_define(ansor_state *s, ansor_stage *x, int n, const char *const *names,
                  at_expr *const *extents, at_expr *value) {
    at_def *all = AT_NEW_ARRAY(s->arena, at_def, x->num_defs + 1);
    memcpy(all + 1, x->defs, sizeof *all * (size_t)x->num_defs);
    all[0] = (at_def){.num_names = n, .is_digits = extents, .expr = value};
    all[0].names = at_copy(s->arena, names, sizeof *names * (size_t)n);
    if (extents) all[0].extents = at_copy(s->arena, extents, sizeof *extents * (size_t)n);
    x->defs = all;
    x->num_defs++;
}

typedef struct read_change {
    const char *name;
    ansor_read *make;
    void *ctx;
    int count;
} read_change;

static at_expr *change_read(const at_expr *e, at_expr *copy, void *ctx) {
    read_change *x = ctx;
    if (e->op != AT_X_INDEX || strcmp(e->name, x->name)) return copy;
    x->count++;
    return x->make(copy, x->ctx);
}

int ansor_replace_reads(ansor_state *s, ansor_stage *x, const char *name, ansor_read *f,
                        void *ctx) {
    read_change c = {name, f, ctx, 0};
    x->body = at_expr_map(s->arena, x->body, change_read, &c);
    x->defs = copy_defs(s->arena, x);
    for (int i = 0; i < x->num_defs; i++)
        x->defs[i].expr = at_expr_map(s->arena, x->defs[i].expr, change_read, &c);
    return c.count;
}
