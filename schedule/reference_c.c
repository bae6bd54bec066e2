/* schedule/reference_c.c: a computation as naive C99, a loop per axis, stage after stage. It is
 * checked against compute_interp.c and shares no pass with what it is the reference of.
 *
 * TinyCC moves nothing out of loops, so index arithmetic is put where its last axis is known;
 * beyond that the text does what the expressions say. */
#include "schedule/schedule_int.h"

#include <string.h>

typedef struct hoisted {
    int depth; /* computed inside the loop of this axis */
    const char *text, *name;
} hoisted;

typedef struct emitter {
    at_arena *arena;
    const at_compute *c;
    const int64_t *values;
    int64_t **extents;
    const char *entry;
    at_error *err;
    at_status status; /* of the first failure */
    int stage;
    AT_VEC(hoisted) hoists; /* of this stage */
    bool uses_floor, uses_min, uses_max;
    const at_projection *projection; /* NULL: the whole computation */
    uint64_t seed;
} emitter;

static const at_tensor *current(const emitter *m) { return &m->c->tensors[m->stage]; }

/* The dimensions of an input have no names. */
static const char *axis_name(const emitter *m, int axis) {
    const char *name = current(m)->axes[axis].name;
    return name ? name : at_format(m->arena, "%d", axis);
}

/* ---- what is projected ---------------------------------------------------------------------- */

/* Is this axis of the tensor summed over? */
static bool is_summed(const emitter *m, int tensor, int axis) {
    return m->projection && axis < m->c->tensors[tensor].num_axes &&
           m->projection->stride[tensor][axis];
}

static bool is_projected(const emitter *m, int tensor) {
    for (int i = 0; i < m->c->tensors[tensor].num_axes; i++)
        if (is_summed(m, tensor, i)) return true;
    return false;
}

/* Does e, of values, depend on projected ones? */
static bool reads_projected(const emitter *m, const at_expr *e) {
    if (e->op == AT_X_INDEX && is_projected(m, e->ref)) return true;
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX; i++)
        if (reads_projected(m, e->arg[i])) return true;
    return false;
}

/* Elements that are left of a tensor. */
static int64_t projected_count(const emitter *m, int tensor) {
    int64_t n = 1;
    for (int i = 0; i < m->c->tensors[tensor].num_axes; i++)
        if (!is_summed(m, tensor, i)) n *= m->extents[tensor][i];
    return n;
}

/* ---- constants and depths ------------------------------------------------------------------ */

static bool is_constant(const at_expr *e) {
    if (e->op == AT_X_NAME) return e->ref >= AT_REF_SIZE;
    if (e->op == AT_X_INDEX || e->op == AT_X_FLOAT) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_constant(e->arg[i])) return false;
    return true;
}

static int64_t constant(emitter *m, const at_expr *e) {
    eval_ctx ctx = {.compute = m->c, .values = m->values, .stage = m->stage, .err = m->err};
    int64_t x = 0;
    if (m->status == AT_OK) m->status = eval_int(&ctx, e, &x);
    return x;
}

static int64_t times(emitter *m, int64_t x, int64_t y) {
    int64_t product = 0;
    if (!at_mul64(x, y, &product) && m->status == AT_OK)
        m->status = at_fail(m->err, AT_E_INPUT, "%s:%d: \"%s\": an index exceeds 2^63", m->c->what,
                            current(m)->line, current(m)->name);
    return product;
}

static bool reads(const at_expr *e) {
    if (e->op == AT_X_INDEX) return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads(e->arg[i])) return true;
    return false;
}

/* The last axis that e needs; -1: none. */
static int depth_of(const at_expr *e) {
    int depth = e->op == AT_X_NAME && e->ref < AT_REF_SIZE ? e->ref : -1;
    for (int i = 0; i < e->nargs; i++) {
        int d = depth_of(e->arg[i]);
        if (d > depth) depth = d;
    }
    return depth;
}

/* ---- expressions --------------------------------------------------------------------------- */

static const char *number(emitter *m, int64_t x) {
    if (x == INT64_MIN) return "(-9223372036854775807L - 1)";
    return at_format(m->arena, x < 0 ? "(%lldL)" : x > INT32_MAX ? "%lldL" : "%lld", (long long)x);
}

static const char *hoist(emitter *m, int depth, const char *text) {
    for (int i = 0; i < m->hoists.len; i++)
        if (m->hoists.data[i].depth == depth && !strcmp(m->hoists.data[i].text, text))
            return m->hoists.data[i].name;
    const char *name = at_format(m->arena, "h%d", m->hoists.len);
    *at_push(m->arena, &m->hoists) = (hoisted){depth, text, name};
    return name;
}

static const char *emit(emitter *m, const at_expr *e, int depth);

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

static void collect_terms(emitter *m, const at_expr *e, int64_t scale, int depth, flat *out) {
    if (is_constant(e)) {
        int64_t x = times(m, constant(m, e), scale);
        if (__builtin_add_overflow(out->constant, x, &out->constant)) times(m, INT64_MAX, 2);
        return;
    }
    switch (e->op) {
    case AT_X_ADD:
    case AT_X_SUB:
        collect_terms(m, e->arg[0], scale, depth, out);
        collect_terms(m, e->arg[1], e->op == AT_X_ADD ? scale : times(m, scale, -1), depth, out);
        return;
    case AT_X_NEG: collect_terms(m, e->arg[0], times(m, scale, -1), depth, out); return;
    case AT_X_MUL:
        for (int i = 0; i < 2; i++)
            if (is_constant(e->arg[i])) {
                int64_t k = times(m, scale, constant(m, e->arg[i]));
                collect_terms(m, e->arg[1 - i], k, depth, out);
                return;
            }
        break;
    default: break;
    }
    *at_push(m->arena, &out->terms) = (flat_term){e, scale, reads(e) ? depth : depth_of(e)};
}

static const char *emit_flat(emitter *m, const flat *f, int depth) {
    const char *sum = NULL;
    for (int d = 0; d <= depth; d++) {
        bool any = false;
        for (int i = 0; i < f->terms.len; i++) {
            const flat_term *t = &f->terms.data[i];
            if (t->depth != d) continue;
            const char *x = emit(m, t->e, d);
            if (t->scale != 1) x = at_format(m->arena, "%s * %s", x, number(m, t->scale));
            sum = sum ? at_format(m->arena, "%s + %s", sum, x) : x;
            any = true;
        }
        /* One bare variable needs no other. */
        if (any && d < depth && strpbrk(sum, " (")) sum = hoist(m, d, sum);
    }
    if (!sum) return number(m, f->constant);
    if (!f->constant) return sum;
    return at_format(m->arena, "%s + %s", sum, number(m, f->constant));
}

static const char *element(emitter *m, int tensor, at_expr *const *index, int depth) {
    flat f = {0};
    int64_t stride = 1;
    for (int i = m->c->tensors[tensor].num_axes - 1; i >= 0; i--) {
        collect_terms(m, index[i], stride, depth, &f);
        stride = times(m, stride, m->extents[tensor][i]);
    }
    return at_format(m->arena, "T_%s[%s]", m->c->tensors[tensor].name, emit_flat(m, &f, depth));
}

/* Of a projected tensor: the flat index in the axes that are left. */
static const char *projected_element(emitter *m, int tensor, at_expr *const *index, int depth) {
    flat f = {0};
    int64_t stride = 1;
    for (int i = m->c->tensors[tensor].num_axes - 1; i >= 0; i--) {
        if (is_summed(m, tensor, i)) continue;
        collect_terms(m, index[i], stride, depth, &f);
        stride = times(m, stride, m->extents[tensor][i]);
    }
    return at_format(m->arena, "P_%s[%s]", m->c->tensors[tensor].name, emit_flat(m, &f, depth));
}

/* The weight of an element of the stage in hand, worked out where the last of its axes is known. */
static const char *weight(emitter *m, at_expr *const *own) {
    flat f = {0};
    int last = 0;
    for (int i = 0; i < current(m)->num_axes; i++) {
        if (!is_summed(m, m->stage, i)) continue;
        collect_terms(m, own[i], m->projection->stride[m->stage][i], i, &f);
        last = i;
    }
    const char *text = at_format(m->arena, "(long)%s_weight(%s)", m->entry, emit_flat(m, &f, last));
    return last < axes_of(current(m)) - 1 ? hoist(m, last, text) : text;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* C truncates towards zero; both agree where the dividend cannot be negative. */
static const char *emit_division(emitter *m, const at_expr *e, int depth) {
    const char *x = emit(m, e->arg[0], depth), *y = emit(m, e->arg[1], depth);
    bool divides = e->op == AT_X_DIV;
    if (is_float_expr(m->c, e) ||
        smallest_int(m->c, m->values, m->extents, m->stage, e->arg[0]) >= 0)
        return at_format(m->arena, "(%s %s %s)", x, divides ? "/" : "%", y);
    m->uses_floor = true;
    return at_format(m->arena, "%s_%s(%s, %s)", m->entry, divides ? "div" : "mod", x, y);
}

static const char *emit_extreme(emitter *m, const at_expr *e, int depth) {
    bool min = e->op == AT_X_MIN;
    *(min ? &m->uses_min : &m->uses_max) = true;
    return at_format(m->arena, "%s_%s%s(%s, %s)", m->entry, min ? "min" : "max",
                     is_float_expr(m->c, e) ? "_float" : "", emit(m, e->arg[0], depth),
                     emit(m, e->arg[1], depth));
}

static const char *emit_operator(emitter *m, const at_expr *e, int depth) {
    static const char *const spelled[] = {
        [AT_X_ADD] = "+", [AT_X_SUB] = "-",  [AT_X_MUL] = "*", [AT_X_LT] = "<",
        [AT_X_LE] = "<=", [AT_X_GT] = ">",   [AT_X_GE] = ">=", [AT_X_EQ] = "==",
        [AT_X_NE] = "!=", [AT_X_AND] = "&&", [AT_X_OR] = "||",
    };
    switch (e->op) {
    case AT_X_NEG: return at_format(m->arena, "(-%s)", emit(m, e->arg[0], depth));
    case AT_X_NOT: return at_format(m->arena, "(!%s)", emit(m, e->arg[0], depth));
    case AT_X_DIV:
    case AT_X_MOD: return emit_division(m, e, depth);
    case AT_X_MIN:
    case AT_X_MAX: return emit_extreme(m, e, depth);
    case AT_X_SELECT:
        return at_format(m->arena, "(%s ? %s : %s)", emit(m, e->arg[0], depth),
                         emit(m, e->arg[1], depth), emit(m, e->arg[2], depth));
    default:
        return at_format(m->arena, "(%s %s %s)", emit(m, e->arg[0], depth), spelled[e->op],
                         emit(m, e->arg[1], depth));
    }
}

/* The text of e inside the loops of axes 0 .. depth. */
static const char *emit(emitter *m, const at_expr *e, int depth) {
    if (e->op == AT_X_FLOAT) {
        at_text t = {0};
        at_text_add_double(&t, e->number);
        const char *s = at_format(m->arena, "%sf", at_text_str(&t));
        at_text_free(&t);
        return s;
    }
    if (is_constant(e)) return number(m, constant(m, e));
    if (e->op == AT_X_NAME) return at_format(m->arena, "i_%s", axis_name(m, e->ref));
    if (e->op == AT_X_INDEX) return element(m, e->ref, e->arg, depth);
    int known = depth_of(e);
    if (known < depth && known >= 0 && !reads(e) && !is_float_expr(m->c, e))
        return hoist(m, known, emit_operator(m, e, known));
    return emit_operator(m, e, depth);
}

/* A value as an integer modulo 2^64. */
static const char *emit_projected(emitter *m, const at_expr *e, int depth) {
    if (!reads_projected(m, e))
        return at_format(m->arena, "(unsigned long)(long)%s", emit(m, e, depth));
    switch (e->op) {
    case AT_X_INDEX: return projected_element(m, e->ref, e->arg, depth);
    case AT_X_NEG: return at_format(m->arena, "(0 - %s)", emit_projected(m, e->arg[0], depth));
    case AT_X_SELECT:
        return at_format(m->arena, "(%s ? %s : %s)", emit(m, e->arg[0], depth),
                         emit_projected(m, e->arg[1], depth), emit_projected(m, e->arg[2], depth));
    default: {
        char op = e->op == AT_X_ADD ? '+' : e->op == AT_X_SUB ? '-' : '*';
        return at_format(m->arena, "(%s %c %s)", emit_projected(m, e->arg[0], depth), op,
                         emit_projected(m, e->arg[1], depth));
    }
    }
}

/* ---- stages -------------------------------------------------------------------------------- */

static void indent(at_text *out, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
}

static void open_loop(emitter *m, at_text *out, int axis, const char *begin, const char *end) {
    const char *name = axis_name(m, axis);
    indent(out, axis + 1);
    at_text_addf(out, "for (long i_%s = %s; i_%s < %s; i_%s++) {\n", name, begin, name, end, name);
    for (int i = 0; i < m->hoists.len; i++) {
        if (m->hoists.data[i].depth != axis) continue;
        indent(out, axis + 2);
        at_text_addf(out, "const long %s = %s;\n", m->hoists.data[i].name, m->hoists.data[i].text);
    }
}

/* The axes of the stage in hand as indices. */
static void own_indices(emitter *m, int n, at_expr **own) {
    for (int i = 0; i < n; i++) {
        own[i] = at_expr_new(m->arena, AT_X_NAME, 0, NULL);
        own[i]->ref = i;
    }
}

typedef enum nest {
    NEST_PLAIN,   /* every element is worked out */
    NEST_LINEAR,  /* axes that are summed over are left out */
    NEST_WEIGHTED /* every element, times its weight, is added to what is left */
} nest;

/* The loops of the stage in hand; body NULL: of an input, whose elements are its own. */
static void emit_nest(emitter *m, at_text *out, nest kind, const at_expr *body) {
    const at_tensor *t = current(m);
    int total = axes_of(t), last = t->num_axes - 1;
    const char *begin[MAX_AXES], *end[MAX_AXES];
    at_expr *own[MAX_AXES];
    m->hoists.len = 0;
    own_indices(m, total, own);
    for (int i = 0; i < total; i++) {
        bool dynamic = t->axes[i].begin != NULL;
        begin[i] = dynamic ? emit(m, t->axes[i].begin, i - 1) : "0";
        end[i] = dynamic ? emit(m, t->axes[i].end, i - 1) : number(m, m->extents[m->stage][i]);
    }
    const char *term = !body                 ? element(m, m->stage, own, total - 1)
                       : kind == NEST_LINEAR ? emit_projected(m, body, total - 1)
                                             : emit(m, body, total - 1);
    const char *result, *value = t->num_reduce ? "s" : term;
    if (kind == NEST_WEIGHTED)
        result = at_format(m->arena, "%s += (unsigned long)%s * (unsigned long)(long)%s;\n",
                           projected_element(m, m->stage, own, last), weight(m, own), value);
    else
        result = at_format(m->arena, "%s = %s;\n",
                           kind == NEST_LINEAR ? projected_element(m, m->stage, own, last)
                                               : element(m, m->stage, own, last),
                           value);
    for (int i = 0; i < total; i++) {
        if (i == t->num_axes) {
            indent(out, i + 1);
            at_text_add(out, kind == NEST_LINEAR ? "unsigned long s = 0;\n" : "float s = 0;\n");
        }
        if (t->axes[i].begin) { /* the end is read once */
            indent(out, i + 1);
            at_text_addf(out, "const long end_%s = %s;\n", t->axes[i].name, end[i]);
            end[i] = at_format(m->arena, "end_%s", t->axes[i].name);
        }
        if (kind != NEST_LINEAR || !is_summed(m, m->stage, i))
            open_loop(m, out, i, begin[i], end[i]);
    }
    indent(out, total + 1);
    if (t->num_reduce) at_text_addf(out, "s += %s;\n", term);
    else at_text_add(out, result);
    for (int i = total - 1; i >= 0; i--) {
        if (kind != NEST_LINEAR || !is_summed(m, m->stage, i)) {
            indent(out, i + 1);
            at_text_add(out, "}\n");
        }
        if (t->num_reduce && i == t->num_axes) {
            indent(out, i + 1);
            at_text_add(out, result);
        }
    }
}

static void emit_stage(emitter *m, at_text *out) {
    const at_projection *p = m->projection;
    const at_tensor *t = current(m);
    at_text_addf(out, "\n    /* %s */\n", t->name);
    if (!is_projected(m, m->stage)) {
        emit_nest(m, out, NEST_PLAIN, t->body);
    } else if (m->stage == p->start) {
        at_text_addf(out, "    for (long i = 0; i < %s; i++) P_%s[i] = 0;\n",
                     number(m, projected_count(m, m->stage)), t->name);
        emit_nest(m, out, NEST_WEIGHTED, t->body);
    } else {
        emit_nest(m, out, NEST_LINEAR, p->linear[m->stage]);
        if (p->rest[m->stage]) emit_nest(m, out, NEST_WEIGHTED, p->rest[m->stage]);
    }
}

/* ---- the function -------------------------------------------------------------------------- */

static bool is_read(const at_compute *c, int tensor) {
    for (int t = 0; t < c->num_tensors; t++)
        for (int i = 0; i < info_of(c)->info[t].num_reads; i++)
            if (info_of(c)->info[t].reads[i]->ref == tensor) return true;
    return false;
}

static void declare_tensors(emitter *m, at_text *out, int64_t *workspace_bytes) {
    const at_compute *c = m->c;
    int buffer = 0;
    int64_t floats = 0;
    for (int outputs = 0; outputs < 2; outputs++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *x = &c->tensors[t];
            bool projected = outputs && is_projected(m, t);
            const char *type = projected   ? "unsigned long"
                               : x->is_int ? "const int"
                               : outputs   ? "float"
                                           : "const float";
            if (outputs ? !x->is_output : x->role == AT_ROLE_STAGE) continue;
            if (outputs || is_read(c, t))
                at_text_addf(out, "    %s *%c_%s = (%s *)buf[%d];\n", type, projected ? 'P' : 'T',
                             x->name, type, buffer);
            buffer++;
        }
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        bool projected = is_projected(m, t);
        if (x->is_output || (x->role != AT_ROLE_STAGE && !projected)) continue;
        m->stage = t;
        int64_t count =
            projected ? times(m, projected_count(m, t), 2) : element_count(c, t, m->extents[t]);
        if (projected) floats += floats % 2; /* integers of 8 bytes */
        const char *type = projected ? "unsigned long" : "float";
        at_text_addf(out, "    %s *%c_%s = (%s *)((float *)workspace + %lld);\n", type,
                     projected ? 'P' : 'T', x->name, type, (long long)floats);
        if (__builtin_add_overflow(floats, count, &floats)) times(m, INT64_MAX, 2);
    }
    *workspace_bytes = times(m, floats, (int64_t)sizeof(float));
}

static void add_helpers(const emitter *m, at_text *out) {
    const char *n = m->entry;
    if (m->uses_floor)
        at_text_addf(
            out,
            "static long %s_div(long x, long y) { return x / y - (x %% y < 0); }\n"
            "static long %s_mod(long x, long y) { return x %% y + (x %% y < 0 ? y : 0); }\n",
            n, n);
    for (int max = 0; max < 2; max++)
        if (max ? m->uses_max : m->uses_min) {
            const char *name = max ? "max" : "min", *op = max ? ">" : "<";
            at_text_addf(out,
                         "static inline long %s_%s(long x, long y) { return x %s y ? x : y; }\n", n,
                         name, op);
            at_text_addf(
                out,
                "static inline float %s_%s_float(float x, float y) { return x %s y ? x : y; }\n", n,
                name, op);
        }
}

static at_status emit_all(emitter *m, at_text *out, int64_t *workspace_bytes) {
    const at_compute *c = m->c;
    const at_projection *p = m->projection;
    AT_TRY(at_compute_extents(m->arena, c, m->values, &m->extents, m->err));
    at_text body = {0};
    declare_tensors(m, &body, workspace_bytes);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_STAGE && !(p && p->start == t)) continue;
        m->stage = t;
        emit_stage(m, &body);
    }
    if (m->status == AT_OK) {
        add_helpers(m, out);
        at_text_addf(out, "int %s(void *const buf[], void *workspace, void *par) {\n", m->entry);
        at_text_add(out, "    (void)workspace, (void)par;\n");
        at_text_add(out, at_text_str(&body));
        at_text_add(out, "    return 0;\n}\n");
    }
    at_text_free(&body);
    return m->status;
}

at_status at_compute_reference_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const char *entry, at_text *out, int64_t *workspace_bytes,
                                 at_error *err) {
    emitter m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_projected_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const at_projection *p, uint64_t seed, const char *entry,
                                 at_text *out, int64_t *workspace_bytes, at_error *err) {
    emitter m = {.arena = a,
                 .c = c,
                 .values = values,
                 .entry = entry,
                 .err = err,
                 .projection = p,
                 .seed = seed};
    /* at_projection_weight, for C without headers. */
    at_text_addf(out,
                 "static unsigned long %s_weight(unsigned long i) {\n"
                 "    unsigned long x = %lluUL + (i + 1) * 0x9e3779b97f4a7c15UL;\n"
                 "    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;\n"
                 "    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;\n"
                 "    return x ^ x >> 31;\n}\n",
                 entry, (unsigned long long)seed);
    return emit_all(&m, out, workspace_bytes);
}
