/* codegen/indices.c: an index becomes an affine form, a condition over indices one of such; what
 * an index says of the entries that it is made of. */
#include "codegen/dissolve.h"

static const at_tensor *tensor_of(const at_low *l, int t) {
    return &l->program->compute->tensors[t];
}

/* ---- choices within an index ----------------------------------------------------------------- */

enum { MOST_WAYS = 256 };

/* How many indices all its choices lead to; MOST_WAYS + 1: more. */
static int ways_of(const at_expr *e) {
    int ways = 1;
    if (e->op == AT_X_SELECT) ways = ways_of(e->arg[1]) + ways_of(e->arg[2]);
    else
        for (int i = 0; i < e->nargs && ways <= MOST_WAYS; i++) ways *= ways_of(e->arg[i]);
    return ways > MOST_WAYS ? MOST_WAYS + 1 : ways;
}

typedef struct chosen {
    const at_expr *choice;
    int side;
} chosen;

/* One side of the choice in its place. */
static at_expr *put_side(const at_expr *e, at_expr *copy, void *ctx) {
    const chosen *x = ctx;
    return e == x->choice ? copy->arg[x->side] : copy;
}

bool at_index_choice(at_low *l, const at_expr *e, index_choice *out) {
    const at_expr *choice = at_expr_has(e, AT_X_SELECT);
    if (!choice) return false;
    if (ways_of(e) > MOST_WAYS) {
        at_lower_fail(l, "an index depends on conditions that lead to over %d others", MOST_WAYS);
        return false;
    }
    out->condition = choice->arg[0];
    for (int side = 1; side <= 2; side++)
        out->side[side - 1] = at_expr_map(l->arena, e, put_side, &(chosen){choice, side});
    return true;
}

/* ---- forms ----------------------------------------------------------------------------------- */

const at_aff *at_index_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    const at_aff *x, *y;
    switch (e->op) {
    case AT_X_INT: return at_aff_const(l, e->integer);
    case AT_X_NAME:
        return e->ref < AT_REF_SIZE ? axes[e->ref]
                                    : at_aff_const(l, l->program->values[e->ref - AT_REF_SIZE]);
    case AT_X_NEG: return at_aff_scale(l, at_index_expr(l, e->arg[0], axes), -1);
    case AT_X_INDEX: {
        const at_tensor *t = tensor_of(l, e->ref);
        const at_aff *at = at_aff_const(l, 0);
        if (!at_tensor_has_entries(t)) AT_BUG("an index is made of elements of \"%s\"", t->name);
        for (int i = 0; i < t->num_axes; i++) {
            at = at_aff_scale(l, at, l->program->extents[e->ref][i]);
            at = at_aff_add(l, at, at_index_expr(l, e->arg[i], axes));
        }
        return at_aff_load(l, e->ref, at);
    }
    default: break;
    }
    if (e->nargs != 2) {
        at_lower_fail(
            l,
            "an index depends on a condition; choose between the reads instead: c ? a[i] : a[j]");
        return at_aff_const(l, 0);
    }
    x = at_index_expr(l, e->arg[0], axes);
    y = at_index_expr(l, e->arg[1], axes);
    switch (e->op) {
    case AT_X_ADD: return at_aff_add(l, x, y);
    case AT_X_SUB: return at_aff_sub(l, x, y);
    case AT_X_MIN: return at_aff_min(l, x, y);
    case AT_X_MAX: return at_aff_max(l, x, y);
    case AT_X_MUL: return at_aff_mul(l, x, y);
    case AT_X_DIV:
        if (y->n == 0 && y->c > 0) return at_aff_div(l, x, y->c);
        break;
    case AT_X_MOD:
        if (y->n == 0 && y->c > 0) return at_aff_mod(l, x, y->c);
        break;
    default: break;
    }
    at_lower_fail(l, "an index is divided by what is no positive constant");
    return at_aff_const(l, 0);
}

const at_cond *at_cond_new(at_low *l, at_cond_op op, const at_aff *atom, const at_cond *a,
                           const at_cond *b) {
    at_cond *c = AT_NEW(l->arena, at_cond);
    *c = (at_cond){op, atom, a, b};
    return c;
}

const at_cond *at_cond_not_negative(at_low *l, const at_aff *x) {
    return at_cond_new(l, AT_C_ATOM, x, NULL, NULL);
}

/* The comparison of whichever side is taken. */
static const at_cond *chosen_cond(at_low *l, const index_choice *x, const at_aff *const *axes) {
    const at_cond *is = at_cond_expr(l, x->condition, axes);
    const at_cond *is_not = at_cond_new(l, AT_C_NOT, NULL, is, NULL);
    const at_cond *first = at_cond_new(l, AT_C_AND, NULL, is, at_cond_expr(l, x->side[0], axes));
    const at_cond *second =
        at_cond_new(l, AT_C_AND, NULL, is_not, at_cond_expr(l, x->side[1], axes));
    return at_cond_new(l, AT_C_OR, NULL, first, second);
}

const at_cond *at_cond_expr(at_low *l, const at_expr *e, const at_aff *const *axes) {
    if (e->op == AT_X_NOT)
        return at_cond_new(l, AT_C_NOT, NULL, at_cond_expr(l, e->arg[0], axes), NULL);
    if (e->op == AT_X_AND || e->op == AT_X_OR)
        return at_cond_new(l, e->op == AT_X_AND ? AT_C_AND : AT_C_OR, NULL,
                           at_cond_expr(l, e->arg[0], axes), at_cond_expr(l, e->arg[1], axes));
    if (!at_op_compares(e->op)) {
        at_lower_fail(l, "a condition must compare indices");
        return at_cond_new(l, AT_C_FALSE, NULL, NULL, NULL);
    }
    index_choice choice;
    if (at_index_choice(l, e, &choice)) return chosen_cond(l, &choice, axes);
    const at_aff *x = at_index_expr(l, e->arg[0], axes), *y = at_index_expr(l, e->arg[1], axes);
    const at_aff *xy = at_aff_sub(l, x, y), *yx = at_aff_sub(l, y, x);
    switch (e->op) {
    case AT_X_LT: return at_cond_not_negative(l, at_aff_shift(l, yx, -1));
    case AT_X_LE: return at_cond_not_negative(l, yx);
    case AT_X_GT: return at_cond_not_negative(l, at_aff_shift(l, xy, -1));
    case AT_X_GE: return at_cond_not_negative(l, xy);
    default: break;
    }
    const at_cond *eq =
        at_cond_new(l, AT_C_AND, NULL, at_cond_not_negative(l, xy), at_cond_not_negative(l, yx));
    return e->op == AT_X_EQ ? eq : at_cond_new(l, AT_C_NOT, NULL, eq, NULL);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* lo <= x <= hi: x must be one symbol of data, times a number, and what loops bound. */
static void bound_entries(at_low *l, const at_aff *x, int64_t lo, int64_t hi) {
    const at_term *data = NULL;
    int64_t rest_lo, rest_hi;
    for (int i = 0; i < x->n; i++) {
        if (!at_aff_reads(l, at_aff_sym(l, x->t[i].sym))) continue;
        if (data) return;
        data = &x->t[i];
    }
    if (!data || data->k < 1) return;
    const at_aff *of = at_aff_sym(l, data->sym);
    at_aff_range(l, at_aff_add_times(l, x, of, -data->k), &rest_lo, &rest_hi);
    if (rest_lo <= -AT_AFF_INF || rest_hi >= AT_AFF_INF) return;
    lo = -at_floordiv(rest_hi - lo, data->k);
    hi = at_floordiv(hi - rest_lo, data->k);
    const at_sym s = l->syms.data[data->sym];
    if (s.kind == AT_SYM_DIV && hi < AT_AFF_INF / s.by && lo > -AT_AFF_INF / s.by)
        bound_entries(l, s.of, lo * s.by, hi * s.by + s.by - 1);
    if (s.kind != AT_SYM_LOAD) return;
    at_entry_bound *b = AT_NEW(l->arena, at_entry_bound);
    *b = (at_entry_bound){s.tensor, data->sym, lo, hi, l->entries};
    l->entries = b;
}

void at_index_bounds_entries(at_low *l, const at_aff *x, int64_t extent) {
    if (at_aff_reads(l, x)) bound_entries(l, x, 0, extent - 1);
}

/* How many symbols of that list x has, but for that one. */
static int other_entries(const at_low *l, const at_aff *x, const at_entry_bound *b, bool *has) {
    int n = 0;
    for (int i = 0; x && i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (s->kind == AT_SYM_LOOP) continue;
        *has |= x->t[i].sym == b->sym;
        n += s->kind == AT_SYM_LOAD && s->tensor == b->list && x->t[i].sym != b->sym;
        n += other_entries(l, s->of, b, has) + other_entries(l, s->of2, b, has);
    }
    return n;
}

const at_entry_bound *at_index_entries(at_low *l, const at_aff *const *ix, int n) {
    const at_entry_bound *found = NULL;
    for (const at_entry_bound *b = l->entries; b; b = b->next) {
        bool has = false;
        int others = 0;
        for (int i = 0; i < n; i++) others += other_entries(l, ix[i], b, &has);
        if (!has || others) continue;
        at_entry_bound *kept = at_copy(l->arena, b, sizeof *b);
        kept->next = found;
        found = kept;
    }
    return found;
}
