/* schedule/reference/reference_expr.c: expressions of a computation as naive C99: values, indices,
 * and what is left of them under a random projection.
 *
 * TinyCC moves nothing out of loops, so index arithmetic is put where its last axis is known;
 * beyond that the text does what the expressions say. */
#include "schedule/reference/reference_int.h"

#include <math.h>
#include <string.h>

/* The dimensions of an input have no names. */
const char *naive_axis_name(const naive *m, int axis) {
    const char *name = naive_stage(m)->axes[axis].name;
    return name ? name : at_format(m->arena, "%d", axis);
}

/* ---- what is projected ---------------------------------------------------------------------- */

/* Is this axis of the tensor summed over? */
bool naive_is_summed(const naive *m, int tensor, int axis) {
    return m->projection && axis < m->c->tensors[tensor].num_axes &&
           m->projection->stride[tensor][axis];
}

bool naive_is_projected(const naive *m, int tensor) {
    for (int i = 0; i < m->c->tensors[tensor].num_axes; i++)
        if (naive_is_summed(m, tensor, i)) return true;
    return false;
}

static bool is_projected(const at_expr *e, const void *m) {
    return e->op == AT_X_INDEX && naive_is_projected(m, e->ref);
}

/* Elements that are left of a tensor. */
int64_t naive_projected_count(const naive *m, int tensor) {
    int64_t n = 1;
    for (int i = 0; i < m->c->tensors[tensor].num_axes; i++)
        if (!naive_is_summed(m, tensor, i)) n *= m->extents[tensor][i];
    return n;
}

/* ---- constants and depths ------------------------------------------------------------------ */

static bool is_constant(const at_expr *e) {
    return at_expr_is_size(e) && !at_expr_has(e, AT_X_FLOAT) && !at_expr_has(e, AT_X_CALL);
}

static int64_t constant(naive *m, const at_expr *e) {
    eval_ctx ctx = {.compute = m->c, .values = m->values, .stage = m->stage, .err = m->err};
    int64_t x = 0;
    if (m->status == AT_OK) m->status = eval_int(&ctx, e, &x);
    return x;
}

int64_t naive_times(naive *m, int64_t x, int64_t y) {
    int64_t product = 0;
    if (!at_mul64(x, y, &product) && m->status == AT_OK)
        m->status = at_fail(m->err, AT_E_INPUT, "%s:%d: \"%s\": an index exceeds 2^63",
                            naive_stage(m)->what, naive_stage(m)->line, naive_stage(m)->name);
    return product;
}

/* The last axis that e needs; -1: none. */
static int depth_of(const at_expr *e) {
    int depth = -1;
    for (uint32_t axes = at_expr_axes(e); axes; axes >>= 1) depth++;
    return depth;
}

/* ---- expressions --------------------------------------------------------------------------- */

const char *naive_number(naive *m, int64_t x) {
    if (x == INT64_MIN) return "(-9223372036854775807L - 1)";
    return at_format(m->arena, x < 0 ? "(%lldL)" : "%lldL", (long long)x);
}

static const char *hoist(naive *m, int depth, const char *text) {
    for (int i = 0; i < m->hoists.len; i++)
        if (m->hoists.data[i].depth == depth && !strcmp(m->hoists.data[i].text, text))
            return m->hoists.data[i].name;
    const char *name = at_format(m->arena, "h%d", m->hoists.len);
    *at_push(m->arena, &m->hoists) = (hoisted){depth, text, name};
    return name;
}

/* ---- flat indices: a sum of terms, each added where its last axis is known ------------------- */

typedef struct flat_term {
    const at_expr *e;
    int64_t scale;
    int depth;
} flat_term;

typedef struct flat {
    int64_t constant;
    AT_VEC(flat_term) terms;
} flat;

static void collect_terms(naive *m, const at_expr *e, int64_t scale, int depth, flat *out) {
    if (is_constant(e)) {
        int64_t x = naive_times(m, constant(m, e), scale);
        if (__builtin_add_overflow(out->constant, x, &out->constant)) naive_times(m, INT64_MAX, 2);
        return;
    }
    switch (e->op) {
    case AT_X_ADD:
    case AT_X_SUB:
        collect_terms(m, e->arg[0], scale, depth, out);
        collect_terms(m, e->arg[1], e->op == AT_X_ADD ? scale : naive_times(m, scale, -1), depth,
                      out);
        return;
    case AT_X_NEG: collect_terms(m, e->arg[0], naive_times(m, scale, -1), depth, out); return;
    case AT_X_MUL:
        for (int i = 0; i < 2; i++)
            if (is_constant(e->arg[i])) {
                int64_t k = naive_times(m, scale, constant(m, e->arg[i]));
                collect_terms(m, e->arg[1 - i], k, depth, out);
                return;
            }
        break;
    default: break;
    }
    *at_push(m->arena, &out->terms) = (flat_term){e, scale, at_expr_reads(e) ? depth : depth_of(e)};
}

static const char *emit_flat(naive *m, const flat *f, int depth) {
    const char *sum = NULL;
    for (int d = 0; d <= depth; d++) {
        bool any = false;
        for (int i = 0; i < f->terms.len; i++) {
            const flat_term *t = &f->terms.data[i];
            if (t->depth != d) continue;
            const char *x = naive_value(m, t->e, d);
            if (t->scale != 1) x = at_format(m->arena, "%s * %s", x, naive_number(m, t->scale));
            sum = sum ? at_format(m->arena, "%s + %s", sum, x) : x;
            any = true;
        }
        /* One bare variable needs no other. */
        if (any && d < depth && strpbrk(sum, " (")) sum = hoist(m, d, sum);
    }
    if (!sum) return naive_number(m, f->constant);
    if (!f->constant) return sum;
    return at_format(m->arena, "%s + %s", sum, naive_number(m, f->constant));
}

const char *naive_index(naive *m, int tensor, at_expr *const *index, int depth) {
    flat f = {0};
    int64_t stride = 1;
    for (int i = m->c->tensors[tensor].num_axes - 1; i >= 0; i--) {
        collect_terms(m, index[i], stride, depth, &f);
        stride = naive_times(m, stride, m->extents[tensor][i]);
    }
    return emit_flat(m, &f, depth);
}

/* Floats of 16 bits that lie as such in memory. */
static bool lies_as_bits(const naive *m, int tensor) {
    const at_tensor *t = &m->c->tensors[tensor];
    return at_type_is_half(t->type) && !m->types && (t->role != AT_ROLE_STAGE || t->is_output);
}

const char *naive_load(naive *m, int tensor, const char *at) {
    const at_tensor *t = &m->c->tensors[tensor];
    if (!lies_as_bits(m, tensor)) return at_format(m->arena, "T_%s[%s]", t->name, at);
    return at_format(m->arena, "(%s)%s_%s_of(T_%s[%s])", naive_real(m), m->entry,
                     t->type == AT_F16 ? at_function_name(AT_FUNCTION_HALF) : "upper", t->name, at);
}

const char *naive_bits(naive *m, int tensor, const char *value) {
    if (!lies_as_bits(m, tensor)) return value;
    return at_format(m->arena, "%s_%s_bits(%s)", m->entry,
                     at_type_of(m->c->tensors[tensor].type)->name, value);
}

const char *naive_element(naive *m, int tensor, at_expr *const *index, int depth) {
    const at_tensor *t = &m->c->tensors[tensor];
    const bool is_wide = m->in_double && t->role != AT_ROLE_STAGE && !at_type_of(t->type)->is_int;
    const char *as = t->role == AT_ROLE_INDEX ? "(long)" : is_wide ? "(double)" : "";
    return at_format(m->arena, "%s%s", as,
                     naive_load(m, tensor, naive_index(m, tensor, index, depth)));
}

/* Of a projected tensor: the flat index in the axes that are left. */
const char *naive_projected_element(naive *m, int tensor, at_expr *const *index, int depth) {
    flat f = {0};
    int64_t stride = 1;
    for (int i = m->c->tensors[tensor].num_axes - 1; i >= 0; i--) {
        if (naive_is_summed(m, tensor, i)) continue;
        collect_terms(m, index[i], stride, depth, &f);
        stride = naive_times(m, stride, m->extents[tensor][i]);
    }
    return at_format(m->arena, "P_%s[%s]", m->c->tensors[tensor].name, emit_flat(m, &f, depth));
}

/* The weight of an element of the stage in hand, worked out where the last of its axes is known. */
const char *naive_weight(naive *m, at_expr *const *own) {
    flat f = {0};
    int last = 0;
    for (int i = 0; i < naive_stage(m)->num_axes; i++) {
        if (!naive_is_summed(m, m->stage, i)) continue;
        collect_terms(m, own[i], m->projection->stride[m->stage][i], i, &f);
        last = i;
    }
    const char *text = at_format(m->arena, "(long)%s_weight(%s)", m->entry, emit_flat(m, &f, last));
    return last < axes_of(naive_stage(m)) - 1 ? hoist(m, last, text) : text;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* C truncates towards zero; both agree where the dividend cannot be negative. */
static const char *emit_division(naive *m, const at_expr *e, int depth) {
    const char *x = naive_value(m, e->arg[0], depth), *y = naive_value(m, e->arg[1], depth);
    bool divides = e->op == AT_X_DIV;
    if (is_float_expr(m->c, e) ||
        smallest_int(m->c, m->values, m->extents, m->stage, e->arg[0]) >= 0)
        return at_format(m->arena, "(%s %s %s)", x, divides ? "/" : "%", y);
    return at_format(m->arena, "%s_%s(%s, %s)", m->entry, divides ? "div" : "mod", x, y);
}

static const char *emit_extreme(naive *m, const at_expr *e, int depth) {
    bool min = e->op == AT_X_MIN;
    return at_format(m->arena, "%s_%s%s(%s, %s)", m->entry, min ? "min" : "max",
                     at_expr_is_whole(m->c, e) ? "" : "_real", naive_value(m, e->arg[0], depth),
                     naive_value(m, e->arg[1], depth));
}

static const char *emit_operator(naive *m, const at_expr *e, int depth) {
    static const char *const spelled[] = {
        [AT_X_ADD] = "+",    [AT_X_SUB] = "-",          [AT_X_MUL] = "*", [AT_X_LT] = "<",
        [AT_X_LE] = "<=",    [AT_X_GT] = ">",           [AT_X_GE] = ">=", [AT_X_EQ] = "==",
        [AT_X_NE] = "!=",    [AT_X_AND] = "&&",         [AT_X_OR] = "||", [AT_X_BIT_AND] = "&",
        [AT_X_BIT_OR] = "|", [AT_X_SHIFT_RIGHT] = ">>",
    };
    switch (e->op) {
    case AT_X_NEG: return at_format(m->arena, "(-%s)", naive_value(m, e->arg[0], depth));
    case AT_X_NOT: return at_format(m->arena, "(!%s)", naive_value(m, e->arg[0], depth));
    case AT_X_CALL:
        return at_format(m->arena, "(%s)%s_%s_of(%s)", naive_real(m), m->entry,
                         at_function_name((at_function)e->integer),
                         naive_value(m, e->arg[0], depth));
    case AT_X_DIV:
    case AT_X_MOD: return emit_division(m, e, depth);
    case AT_X_MIN:
    case AT_X_MAX: return emit_extreme(m, e, depth);
    case AT_X_SELECT:
        return at_format(m->arena, "(%s ? %s : %s)", naive_value(m, e->arg[0], depth),
                         naive_value(m, e->arg[1], depth), naive_value(m, e->arg[2], depth));
    default:
        return at_format(m->arena, "(%s %s %s)", naive_value(m, e->arg[0], depth), spelled[e->op],
                         naive_value(m, e->arg[1], depth));
    }
}

const char *float_c(at_arena *a, double x) {
    if (isinf(x)) return x < 0 ? "(-1.0f / 0.0f)" : "(1.0f / 0.0f)";
    at_text t = {0};
    at_text_add_double(&t, x);
    const char *s = at_format(a, "%sf", at_text_str(&t));
    at_text_free(&t);
    return s;
}

static const char *number_c(const naive *m, double x) {
    const char *text = float_c(m->arena, x);
    bool is_wide = m->in_double && !isinf(x);
    return is_wide ? at_format(m->arena, "%.*s", (int)strlen(text) - 1, text) : text;
}

/* The text of e inside the loops of axes 0 .. depth. */
const char *naive_value(naive *m, const at_expr *e, int depth) {
    if (e->op == AT_X_FLOAT) return number_c(m, e->number);
    if (is_constant(e)) return naive_number(m, constant(m, e));
    if (e->op == AT_X_NAME) return at_format(m->arena, "i_%s", naive_axis_name(m, e->ref));
    if (e->op == AT_X_INDEX && m->in_double && !m->types && m->c->tensors[e->ref].is_output &&
        !m->c->tensors[e->ref].is_places && !lies_as_bits(m, e->ref)) {
        const char *at = naive_index(m, e->ref, e->arg, depth); /* by itself: in two parts */
        return at_format(m->arena, "((double)T_%s[%s] + L_%s[%s])", e->name, at, e->name, at);
    }
    if (e->op == AT_X_INDEX)
        return at_format(m->arena, m->c->tensors[e->ref].is_places ? "(long)%s" : "%s",
                         naive_element(m, e->ref, e->arg, depth));
    int known = depth_of(e);
    if (known < depth && known >= 0 && !at_expr_reads(e) && !is_float_expr(m->c, e))
        return hoist(m, known, emit_operator(m, e, known));
    return emit_operator(m, e, depth);
}

/* A value as an integer modulo 2^64. */
const char *naive_projected(naive *m, const at_expr *e, int depth) {
    if (!at_expr_find_value(e, is_projected, m))
        return at_format(m->arena, "(unsigned long)(long)%s", naive_value(m, e, depth));
    switch (e->op) {
    case AT_X_INDEX: return naive_projected_element(m, e->ref, e->arg, depth);
    case AT_X_NEG: return at_format(m->arena, "(0 - %s)", naive_projected(m, e->arg[0], depth));
    case AT_X_SELECT:
        return at_format(m->arena, "(%s ? %s : %s)", naive_value(m, e->arg[0], depth),
                         naive_projected(m, e->arg[1], depth),
                         naive_projected(m, e->arg[2], depth));
    default: {
        char op = e->op == AT_X_ADD ? '+' : e->op == AT_X_SUB ? '-' : '*';
        return at_format(m->arena, "(%s %c %s)", naive_projected(m, e->arg[0], depth), op,
                         naive_projected(m, e->arg[1], depth));
    }
    }
}
