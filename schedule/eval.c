/* schedule/eval.c: values of resolved expressions, for the two interpreters and the reading of
 * bounds. Indices are checked against their tensors before anything is read. */
#include "schedule/schedule_int.h"

#include <math.h>

static at_status fail(const eval_ctx *ctx, const at_expr *e, const char *what) {
    const at_tensor *t = &ctx->compute->tensors[ctx->stage];
    at_text text = {0};
    at_expr_print(&text, e);
    at_fail(ctx->err, AT_E_INPUT, "%s:%d: \"%s\": %s %s", t->what, t->line, t->name,
            at_text_str(&text), what);
    at_text_free(&text);
    return AT_E_INPUT;
}

static at_status outside(const eval_ctx *ctx, const at_expr *e, const int64_t *index, int axis) {
    const at_tensor *t = &ctx->compute->tensors[ctx->stage];
    at_text text = {0};
    for (int i = 0; i < e->nargs; i++)
        at_text_addf(&text, "%s%lld", i ? ", " : "", (long long)index[i]);
    at_fail(ctx->err, AT_E_INPUT,
            "%s:%d: \"%s\" reads %s[%s], outside of dimension %d with extent %lld", t->what,
            t->line, t->name, e->name, at_text_str(&text), axis + 1,
            (long long)ctx->extents[e->ref][axis]);
    at_text_free(&text);
    return AT_E_INPUT;
}

double load_element(const at_tensor *t, const at_data *data, int64_t offset) {
    return at_type_of(t->type)->is_int ? data->i[offset] : (double)data->f[offset];
}

static at_status eval_read(eval_ctx *ctx, const at_expr *e, eval_value *out) {
    int64_t index[MAX_AXES], offset = 0;
    for (int i = 0; i < e->nargs; i++) {
        AT_TRY(eval_int(ctx, e->arg[i], &index[i]));
    }
    for (int i = 0; i < e->nargs; i++) {
        int64_t extent = ctx->extents[e->ref][i];
        if (index[i] < 0 || index[i] >= extent) return outside(ctx, e, index, i);
        offset = offset * extent + index[i];
    }
    if (ctx->compute->tensors[e->ref].role == AT_ROLE_INDEX) {
        *out = (eval_value){.i = ctx->entry ? ctx->entry(ctx, e->ref, offset)
                                            : ctx->data[e->ref].i[offset]};
        return AT_OK;
    }
    const at_tensor *from = &ctx->compute->tensors[e->ref];
    *out = (eval_value){.is_float = !from->is_places};
    if (ctx->read) AT_TRY(ctx->read(ctx, e->ref, index, offset, &out->f));
    else out->f = load_element(from, &ctx->data[e->ref], offset);
    if (from->is_places) out->i = (int64_t)out->f;
    return AT_OK;
}

static double as_float(eval_value x) { return x.is_float ? x.f : (double)x.i; }

static at_status float_binary(const at_expr *e, double x, double y, eval_value *out) {
    *out = (eval_value){.is_float = true};
    switch (e->op) {
    case AT_X_ADD: out->f = x + y; return AT_OK;
    case AT_X_SUB: out->f = x - y; return AT_OK;
    case AT_X_MUL: out->f = x * y; return AT_OK;
    case AT_X_DIV: out->f = x / y; return AT_OK;
    case AT_X_MIN:
    case AT_X_MAX: out->f = at_extreme(e->op == AT_X_MAX, x, y); return AT_OK;
    case AT_X_BIT_AND: out->f = (double)((int64_t)x & (int64_t)y); return AT_OK;
    case AT_X_BIT_OR: out->f = (double)((int64_t)x | (int64_t)y); return AT_OK;
    case AT_X_SHIFT_RIGHT: out->f = (double)((int64_t)x >> (int64_t)y); return AT_OK;
    default: break;
    }
    out->is_float = false;
    switch (e->op) {
    case AT_X_LT: out->i = x < y; break;
    case AT_X_LE: out->i = x <= y; break;
    case AT_X_GT: out->i = x > y; break;
    case AT_X_GE: out->i = x >= y; break;
    case AT_X_EQ: out->i = x == y; break;
    case AT_X_NE: out->i = x != y; break;
    default: AT_BUG("operator %d on values", e->op);
    }
    return AT_OK;
}

static at_status int_binary(const eval_ctx *ctx, const at_expr *e, int64_t x, int64_t y,
                            eval_value *out) {
    *out = (eval_value){0};
    /* Divisors consist of sizes, so that at_compute_extents has checked them. */
    if ((e->op == AT_X_DIV || e->op == AT_X_MOD) && y < 1)
        return fail(ctx, e, "divides by less than 1");
    return at_expr_binary(e->op, x, y, &out->i) ? AT_OK : fail(ctx, e, "exceeds 2^63");
}

static at_status eval_node(eval_ctx *ctx, const at_expr *e, eval_value *out);

static at_status eval_expr(eval_ctx *ctx, const at_expr *e, eval_value *out) {
    AT_TRY(eval_node(ctx, e, out));
    if (ctx->seen) ctx->seen(ctx, e, as_float(*out));
    return AT_OK;
}

static at_status eval_node(eval_ctx *ctx, const at_expr *e, eval_value *out) {
    eval_value x, y;
    switch (e->op) {
    case AT_X_INT: *out = (eval_value){.i = e->integer}; return AT_OK;
    case AT_X_FLOAT:
        *out = (eval_value){.is_float = true,
                            .f = ctx->has_floats ? (double)(float)e->number : e->number};
        return AT_OK;
    case AT_X_NAME:
        *out = (eval_value){.i = e->ref < AT_REF_SIZE ? ctx->axis[e->ref]
                                                      : ctx->values[e->ref - AT_REF_SIZE]};
        return AT_OK;
    case AT_X_INDEX: return eval_read(ctx, e, out);
    case AT_X_NEG:
        AT_TRY(eval_expr(ctx, e->arg[0], &x));
        *out = (eval_value){.is_float = x.is_float, .f = -x.f};
        return __builtin_sub_overflow(0, x.i, &out->i) ? fail(ctx, e, "exceeds 2^63") : AT_OK;
    case AT_X_NOT:
        AT_TRY(eval_expr(ctx, e->arg[0], &x));
        *out = (eval_value){.i = !x.i};
        return AT_OK;
    case AT_X_AND:
    case AT_X_OR:
        AT_TRY(eval_expr(ctx, e->arg[0], out));
        if (!out->i == (e->op == AT_X_AND)) return AT_OK;
        return eval_expr(ctx, e->arg[1], out);
    case AT_X_SELECT:
        AT_TRY(eval_expr(ctx, e->arg[0], &x));
        return eval_expr(ctx, e->arg[x.i ? 1 : 2], out);
    case AT_X_CALL:
        AT_TRY(eval_expr(ctx, e->arg[0], &x));
        *out = (eval_value){.is_float = true,
                            .f = at_function_value((at_function)e->integer, as_float(x))};
        return AT_OK;
    default: break;
    }
    AT_TRY(eval_expr(ctx, e->arg[0], &x));
    AT_TRY(eval_expr(ctx, e->arg[1], &y));
    if (x.is_float || y.is_float) {
        AT_TRY(float_binary(e, as_float(x), as_float(y), out));
        if (ctx->compute->in_steps && !at_expr_is_whole(ctx->compute, e)) out->f = (float)out->f;
        return AT_OK;
    }
    return int_binary(ctx, e, x.i, y.i, out);
}

at_status eval_int(eval_ctx *ctx, const at_expr *e, int64_t *out) {
    eval_value v;
    AT_TRY(eval_expr(ctx, e, &v));
    AT_ASSERT(!v.is_float);
    *out = v.i;
    return AT_OK;
}

at_status eval_float(eval_ctx *ctx, const at_expr *e, double *out) {
    eval_value v;
    AT_TRY(eval_expr(ctx, e, &v));
    *out = as_float(v);
    return AT_OK;
}

bool is_float_expr(const at_compute *c, const at_expr *e) {
    switch (e->op) {
    case AT_X_FLOAT:
    case AT_X_CALL: return true;
    case AT_X_INDEX: return !at_tensor_has_entries(&c->tensors[e->ref]);
    case AT_X_NEG: return is_float_expr(c, e->arg[0]);
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_BIT_AND:
    case AT_X_BIT_OR:
    case AT_X_SHIFT_RIGHT:
    case AT_X_MIN:
    case AT_X_MAX: return is_float_expr(c, e->arg[0]) || is_float_expr(c, e->arg[1]);
    case AT_X_SELECT: return is_float_expr(c, e->arg[1]) || is_float_expr(c, e->arg[2]);
    default: return false;
    }
}

bool at_expr_is_whole(const at_compute *c, const at_expr *e) {
    switch (e->op) {
    case AT_X_FLOAT:
    case AT_X_CALL: return false;
    case AT_X_INDEX: return at_type_of(c->tensors[e->ref].type)->is_int;
    case AT_X_DIV:
    case AT_X_MOD: return !is_float_expr(c, e);
    default:
        for (int i = e->op == AT_X_SELECT; i < e->nargs; i++)
            if (!at_expr_is_whole(c, e->arg[i])) return false;
        return true;
    }
}

/* Is its value a whole number, whatever it is worked out of? */
bool is_rounded(const at_compute *c, const at_expr *e) {
    if (at_expr_is_whole(c, e)) return true;
    switch (e->op) {
    case AT_X_FLOAT: return e->number == floor(e->number);
    case AT_X_CALL: return at_function_rounds((at_function)e->integer);
    case AT_X_SELECT:
    case AT_X_NEG:
    case AT_X_MIN:
    case AT_X_MAX:
    case AT_X_ADD: /* floats have whole numbers alone from 2^23 on */
    case AT_X_SUB:
    case AT_X_MUL:
        for (int i = e->op == AT_X_SELECT; i < e->nargs; i++)
            if (!is_rounded(c, e->arg[i])) return false;
        return true;
    default: return false;
    }
}

/* NaN becomes the least. The most that a float is of s32 is below 2^31. */
double stored_value(const at_tensor *t, bool is_whole, double x) {
    const at_type_facts *type = at_type_of(t->type);
    if (!type->is_int) return x;
    const double most = is_whole ? type->most : at_type_most_float(t->type);
    return x >= type->least ? x <= most ? x : most : type->least;
}

void store_element(const at_tensor *t, bool is_whole, const at_data *data, int64_t offset,
                   double x) {
    x = stored_value(t, is_whole, x);
    if (at_type_of(t->type)->is_int) data->i[offset] = (int32_t)x;
    else data->f[offset] = (float)x;
}

void allocate_stages(at_arena *a, const at_compute *c, int64_t *const *extents, at_data *data) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        else if (at_type_of(c->tensors[t].type)->is_int) {
            if (!data[t].i)
                data[t].i =
                    AT_NEW_ARRAY(a, int32_t, at_tensor_elements(&c->tensors[t], extents[t]));
        } else if (!data[t].f)
            data[t].f = AT_NEW_ARRAY(a, float, at_tensor_elements(&c->tensors[t], extents[t]));
}
