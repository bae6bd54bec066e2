/* schedule/reference/reference_c.c: a computation as naive C99, a loop per axis, stage after stage;
 * stages that read each other share the loops of their steps. It is checked against
 * compute_interp.c and shares no pass with what it is the reference of. */
#include "schedule/reference/reference_int.h"

#include <math.h>
#include <string.h>

/* ---- stages -------------------------------------------------------------------------------- */

/* Iterations of the loops of the stage in hand; of those that data bound, as if they had one. */
static double points_of(const naive *m) {
    const at_tensor *t = naive_stage(m);
    double n = 1;
    for (int i = 0; i < axes_of(t); i++) n *= fmax((double)m->extents[m->stage][i], 1);
    return n;
}

static void emit_unprojected(naive *m, at_text *out, int from) {
    const at_tensor *t = naive_stage(m);
    if (m->products && !from && naive_emit_product(m, out)) return;
    if (m->products) m->products->points += points_of(m);
    bool limited = m->rounded && (m->rounded[m->stage] || t->is_output);
    naive_emit_nest(m, out, limited ? NEST_LIMITED : NEST_PLAIN, t->body, from);
}

static void emit_stage(naive *m, at_text *out) {
    const at_projection *p = m->projection;
    const at_tensor *t = naive_stage(m);
    at_text_addf(out, "\n    /* %s */\n", t->name);
    if (!naive_is_projected(m, m->stage)) {
        emit_unprojected(m, out, 0);
    } else if (m->stage == p->start) {
        at_text_addf(out, "    for (long i = 0; i < %s; i++) P_%s[i] = 0;\n",
                     naive_number(m, naive_projected_count(m, m->stage)), t->name);
        naive_emit_nest(m, out, NEST_WEIGHTED, t->body, 0);
    } else {
        naive_emit_nest(m, out, NEST_LINEAR, p->linear[m->stage], 0);
        if (p->rest[m->stage]) naive_emit_nest(m, out, NEST_WEIGHTED, p->rest[m->stage], 0);
    }
}

/* All of its stages within each step. */
static void emit_cycle(naive *m, at_text *out, const at_cycle *cycle) {
    const int depth = cycle->depth;
    at_text_add(out, "\n");
    m->hoists.len = 0;
    for (int axis = 0; axis < depth; axis++)
        naive_open_loop(m, out, axis, "0", naive_number(m, m->extents[cycle->stages[0]][axis]));
    for (int i = 0; i < cycle->num; i++) {
        m->stage = cycle->stages[i];
        naive_indent(out, depth + 1);
        at_text_addf(out, "{ /* %s */\n", naive_stage(m)->name);
        emit_unprojected(m, out, depth);
        naive_indent(out, depth + 1);
        at_text_add(out, "}\n");
    }
    for (int axis = depth; axis > 0; axis--) {
        naive_indent(out, axis);
        at_text_add(out, "}\n");
    }
}

/* ---- the function -------------------------------------------------------------------------- */

static bool is_read(const at_compute *c, int tensor) {
    for (int t = 0; t < c->num_tensors; t++)
        for (int i = 0; i < info_of(c)->info[t].num_reads; i++)
            if (info_of(c)->info[t].reads[i]->ref == tensor) return true;
    return false;
}

/* What lies in buf[]: inputs, outputs, limits of outputs. */
static void declare_buffers(naive *m, at_text *out) {
    const at_compute *c = m->c;
    int buffer = 0;
    const int parts = m->rounded || (m->in_double && !m->types) ? 3 : 2;
    for (int part = 0; part < parts; part++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *x = &c->tensors[t];
            bool projected = part == 1 && naive_is_projected(m, t);
            const char *element = part == 2 ? "float" : at_type_of(x->type)->c;
            const char *type = projected  ? "unsigned long"
                               : m->types ? m->types[t]
                               : part     ? element
                                          : at_format(m->arena, "const %s", element);
            if (part ? !x->is_output : x->role == AT_ROLE_STAGE) continue;
            if (part || is_read(c, t))
                at_text_addf(out, "    %s *%c_%s = (%s *)buf[%d];\n", type,
                             projected   ? 'P'
                             : part == 2 ? 'L'
                                         : 'T',
                             x->name, type, buffer);
            buffer++;
        }
}

/* Stages between, and what is left of inputs, behind each other in the workspace. */
static int64_t declare_stages(naive *m, at_text *out) {
    const at_compute *c = m->c;
    int64_t floats = 0;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        bool projected = naive_is_projected(m, t), rounded = m->rounded && m->rounded[t];
        if (naive_keeps_error(m, t)) {
            m->stage = t;
            floats += floats % 2;
            at_text_addf(out, "    double *E_%s = (double *)((float *)workspace + %lld);\n",
                         x->name, (long long)floats);
            const int64_t count =
                naive_times(m, at_tensor_elements(&c->tensors[t], m->extents[t]), 2);
            if (__builtin_add_overflow(floats, count, &floats)) naive_times(m, INT64_MAX, 2);
        }
        if (x->is_output || (x->role != AT_ROLE_STAGE && !projected)) continue;
        m->stage = t;
        int64_t count = projected ? naive_projected_count(m, t)
                                  : at_tensor_elements(&c->tensors[t], m->extents[t]);
        const bool is_int = at_type_of(x->type)->is_int;
        const char *type = projected ? "unsigned long"
                           : is_int  ? "int"
                           : rounded ? "double"
                                     : naive_real(m);
        if (projected || rounded || (m->in_double && !is_int)) {
            floats += floats % 2; /* 8 bytes each */
            count = naive_times(m, count, 2);
        }
        for (int i = 0; i < (rounded ? 2 : 1); i++) {
            at_text_addf(out, "    %s *%c_%s = (%s *)((float *)workspace + %lld);\n", type,
                         projected ? 'P'
                         : i       ? 'E'
                                   : 'T',
                         x->name, type, (long long)floats);
            if (__builtin_add_overflow(floats, count, &floats)) naive_times(m, INT64_MAX, 2);
        }
    }
    for (int t = 0; t < c->num_tensors; t++) {
        if (!naive_keeps_samples(m, t)) continue;
        at_text_addf(out, "    float *D_%s = (float *)workspace + %lld;\n", c->tensors[t].name,
                     (long long)floats);
        const int64_t count =
            naive_times(m, at_tensor_elements(&c->tensors[t], m->extents[t]), NAIVE_SAMPLES);
        if (__builtin_add_overflow(floats, count, &floats)) naive_times(m, INT64_MAX, 2);
    }
    return naive_times(m, floats, (int64_t)sizeof(float));
}

/* Those that the body calls. */
static void add_helpers(const naive *m, const char *body, at_text *out) {
    const char *n = m->entry;
    function_texts(m->c, n, out);
    if (m->rounded) naive_limit_helper(m, out);
    naive_sample_helpers(m, body, out);
    if (naive_calls(m, body, "div"))
        at_text_addf(out, "static long %s_div(long x, long y) { return x / y - (x %% y < 0); }\n",
                     n);
    if (naive_calls(m, body, "mod"))
        at_text_addf(
            out, "static long %s_mod(long x, long y) { return x %% y + (x %% y < 0 ? y : 0); }\n",
            n);
    if (naive_calls(m, body, "within"))
        at_text_addf(out,
                     "static inline long %s_within(double x, double least, double most) { return "
                     "(long)(x >= least ? x <= most ? x : most : least); }\n",
                     n);
    for (int max = 0; max < 2; max++) {
        const char *name = max ? "max" : "min", *op = max ? ">" : "<";
        if (naive_calls(m, body, name))
            at_text_addf(out,
                         "static inline long %s_%s(long x, long y) { return x %s y ? x : y; }\n", n,
                         name, op);
        if (naive_calls(m, body, max ? "max_real" : "min_real"))
            at_text_addf(out,
                         "static inline %1$s %2$s_%3$s_real(%1$s x, %1$s y) { return %4$s; }\n",
                         naive_real(m), n, name, at_extreme_c(m->arena, max, "x", "y"));
    }
}

static at_status emit_all(naive *m, at_text *out, int64_t *workspace_bytes) {
    const at_compute *c = m->c;
    const at_projection *p = m->projection;
    AT_TRY(at_compute_extents(m->arena, c, m->values, &m->extents, m->err));
    at_text body = {0};
    declare_buffers(m, &body);
    *workspace_bytes = declare_stages(m, &body);
    if (m->products) m->products->first = m->products->end = *workspace_bytes / 4;
    for (int i = 0; i < c->num_tensors; i++) {
        const int t = c->order[i];
        const at_cycle *cycle = at_cycle_of(c, t);
        if (c->tensors[t].role != AT_ROLE_STAGE && !(p && p->start == t)) continue;
        m->stage = t;
        if (!cycle) emit_stage(m, &body);
        else if (t == cycle->stages[0]) emit_cycle(m, &body, cycle);
    }
    if (m->status == AT_OK) {
        add_helpers(m, at_text_str(&body), out);
        at_text_addf(out, "int %s(void *const buf[], void *workspace, void *par) {\n", m->entry);
        at_text_add(out, "    (void)workspace, (void)par;\n");
        at_text_add(out, at_text_str(&body));
        at_text_add(out, "    return 0;\n}\n");
    }
    at_text_free(&body);
    if (m->products) *workspace_bytes = naive_times(m, m->products->end, (int64_t)sizeof(float));
    return m->status;
}

at_status at_compute_reference_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const char *entry, at_text *out, int64_t *workspace_bytes,
                                 at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_products_c(at_arena *a, const at_compute *c, const int64_t *values,
                                const char *entry, at_text *out, int64_t *workspace_bytes,
                                double *points, at_error *err) {
    naive_products p = {0};
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err, .products = &p};
    at_text_add(out,
                "void at_products(const float *, const float *, float *, long, long, long);\n");
    AT_TRY(emit_all(&m, out, workspace_bytes));
    *points = p.points;
    return AT_OK;
}

at_status at_compute_limits_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    AT_TRY(at_compute_extents(a, c, values, &m.extents, err));
    naive_find_rounded(&m);
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_whole_limits_c(at_arena *a, const at_compute *c, const int64_t *values,
                                    const char *entry, at_text *out, int64_t *workspace_bytes,
                                    at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    AT_TRY(at_compute_extents(a, c, values, &m.extents, err));
    m.grains = grains_of(a, c, values, m.extents);
    naive_find_rounded(&m);
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_double_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err, .in_double = true};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_typed_c(at_arena *a, const at_compute *c, const char *const *types,
                             const char *entry, at_text *out, int64_t *workspace_bytes,
                             at_error *err) {
    naive m = {.arena = a, .c = c, .entry = entry, .err = err, .in_double = true, .types = types};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_projected_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const at_projection *p, uint64_t seed, const char *entry,
                                 at_text *out, int64_t *workspace_bytes, at_error *err) {
    naive m = {.arena = a,
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
