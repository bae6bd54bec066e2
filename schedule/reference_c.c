/* schedule/reference_c.c: a computation as naive C99, a loop per axis, stage after stage; stages
 * that read each other share the loops of their steps. It is checked against compute_interp.c and
 * shares no pass with what it is the reference of. */
#include "schedule/reference_int.h"

#include <string.h>

/* ---- stages -------------------------------------------------------------------------------- */

static void indent(at_text *out, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
}

/* What needs the axes up to this one. */
static void add_hoists(naive *m, at_text *out, int axis) {
    for (int i = 0; i < m->hoists.len; i++) {
        if (m->hoists.data[i].depth != axis) continue;
        indent(out, axis + 2);
        at_text_addf(out, "const long %s = %s;\n", m->hoists.data[i].name, m->hoists.data[i].text);
    }
}

static void open_axis(naive *m, at_text *out, int axis, const char *begin, const char *end) {
    const char *name = naive_axis_name(m, axis);
    indent(out, axis + 1);
    at_text_addf(out, "for (long i_%s = %s; i_%s < %s; i_%s++) {\n", name, begin, name, end, name);
}

static void open_loop(naive *m, at_text *out, int axis, const char *begin, const char *end) {
    open_axis(m, out, axis, begin, end);
    add_hoists(m, out, axis);
}

/* The axes of the stage in hand as indices. */
static void own_indices(naive *m, int n, at_expr **own) {
    for (int i = 0; i < n; i++) {
        own[i] = at_expr_new(m->arena, AT_X_NAME, 0, NULL);
        own[i]->ref = i;
    }
}

typedef enum nest {
    NEST_PLAIN,    /* every element is worked out */
    NEST_LIMITED,  /* with a limit beside it */
    NEST_LINEAR,   /* axes that are summed over are left out */
    NEST_WEIGHTED, /* every element, times its weight, is added to what is left */
} nest;

static const char *indented(naive *m, int depth, const char *line) {
    return at_format(m->arena, "%*s%s\n", 4 * (depth + 1), "", line);
}

/* The type of a sum: of integers they are. */
static const char *naive_sum(const naive *m) {
    return at_type_of(naive_stage(m)->type)->is_int ? "long" : naive_real(m);
}

/* What a sum begins with, in C. */
static const char *start_c(naive *m, const at_tensor *t) {
    if (!at_type_of(t->type)->is_int) return at_reduction_start_c(t->reduction);
    return at_format(m->arena, "%.0f", at_reduction_neutral_of(t->reduction, t->type));
}

/* A value as the stage in hand stores it. */
static const char *stored(naive *m, const char *value) {
    const at_tensor *t = naive_stage(m);
    const at_type_facts *type = at_type_of(t->type);
    if (!type->is_int) return value;
    const bool is_whole = at_expr_is_whole(m->c, t->body);
    return at_format(m->arena, "(%s)%s_within(%s, %.1f, %.1f)", type->c, m->entry, value,
                     type->least, is_whole ? type->most : at_type_most_float(t->type));
}

/* s takes in another term. */
static const char *reduces(naive *m, int depth, at_reduction r, const char *term) {
    if (r == AT_REDUCE_SUM || r == AT_REDUCE_PROD)
        return indented(m, depth, at_reduction_c(r, m->arena, term, "s"));
    return at_format(
        m->arena, "%s%s",
        indented(m, depth, at_format(m->arena, "const %s t = %s;", naive_sum(m), term)),
        indented(m, depth, at_reduction_c(r, m->arena, "t", "s")));
}

/* body NULL: of an input, whose elements are its own. */
static nest_text texts_of(naive *m, nest kind, const at_expr *body) {
    const at_tensor *t = naive_stage(m);
    int total = axes_of(t), last = t->num_axes - 1;
    at_expr *own[MAX_AXES];
    own_indices(m, total, own);
    if (kind == NEST_LIMITED) return naive_with_limits(m, body, own);
    const char *term = !body                 ? naive_element(m, m->stage, own, total - 1)
                       : kind == NEST_LINEAR ? naive_projected(m, body, total - 1)
                                             : naive_value(m, body, total - 1);
    const char *result, *of = t->num_reduce ? "s" : term;
    if (kind == NEST_WEIGHTED)
        result =
            at_format(m->arena, "%s += (unsigned long)%s * (unsigned long)(long)%s;",
                      naive_projected_element(m, m->stage, own, last), naive_weight(m, own), of);
    else if (m->in_double && !m->types && t->is_output)
        result = at_format(
            m->arena,
            "{ const double v = %2$s; T_%3$s[%1$s] = (float)v; L_%3$s[%1$s] = (float)(v - "
            "(double)T_%3$s[%1$s]); }",
            naive_index(m, m->stage, own, last), of, t->name);
    else
        result = at_format(m->arena, "%s = %s;",
                           kind == NEST_LINEAR ? naive_projected_element(m, m->stage, own, last)
                                               : naive_element(m, m->stage, own, last),
                           stored(m, of));
    if (!t->num_reduce)
        return (nest_text){.start = "", .term = indented(m, total, result), .result = ""};
    return (nest_text){
        .start = indented(m, last + 1,
                          kind == NEST_LINEAR
                              ? "unsigned long s = 0;"
                              : at_format(m->arena, "%s s = %s;", naive_sum(m), start_c(m, t))),
        .term = reduces(m, total, t->reduction, term),
        .result = indented(m, last + 1, result)};
}

/* The loops of the axes from .. to - 1 of the stage in hand around what is inside. */
static void emit_loops(naive *m, at_text *out, nest kind, int from, int to, const char *inside) {
    const at_tensor *t = naive_stage(m);
    for (int i = from; i < to; i++) {
        const char *begin = "0", *end = naive_number(m, m->extents[m->stage][i]);
        if (t->axes[i].begin) { /* the end is read once */
            begin = naive_value(m, t->axes[i].begin, i - 1);
            indent(out, i + 1);
            at_text_addf(out, "const long end_%s = %s;\n", t->axes[i].name,
                         naive_value(m, t->axes[i].end, i - 1));
            end = at_format(m->arena, "end_%s", t->axes[i].name);
        }
        if (kind != NEST_LINEAR || !naive_is_summed(m, m->stage, i))
            open_loop(m, out, i, begin, end);
    }
    at_text_add(out, inside);
    for (int i = to - 1; i >= from; i--) {
        if (kind == NEST_LINEAR && naive_is_summed(m, m->stage, i)) continue;
        indent(out, i + 1);
        at_text_add(out, "}\n");
    }
}

/* Index arithmetic that bounds need is put into the heads of the loops around. */
static void hoist_bounds(naive *m) {
    const at_tensor *t = naive_stage(m);
    for (int i = 0; i < axes_of(t); i++) {
        if (!t->axes[i].begin) continue;
        naive_value(m, t->axes[i].begin, i - 1);
        naive_value(m, t->axes[i].end, i - 1);
    }
}

/* The axis along which the stage in hand is a running sum, whose terms are each added once; -1. */
static int runs_along(const naive *m, nest kind) {
    const at_tensor *t = naive_stage(m);
    const int axis = naive_runs(m) ? at_running_axis(t) : -1;
    return kind == NEST_LINEAR && axis >= 0 && naive_is_summed(m, m->stage, axis) ? -1 : axis;
}

static void open_braces(at_text *out, int depth, const char *condition) {
    indent(out, depth);
    at_text_addf(out, "if (%s) {\n", condition);
}

static void close_braces(at_text *out, int depth) {
    indent(out, depth);
    at_text_add(out, "}\n");
}

/* The terms of a running sum up to the one in hand once more: where some of them have become so
 * small beside the largest that they are lost; else the one in hand alone may be. */
static void emit_judgement(naive *m, at_text *out, const nest_text *text) {
    const at_tensor *t = naive_stage(m);
    const int spatial = t->num_axes;
    open_braces(out, spatial + 2, text->again_if);
    open_braces(out, spatial + 3, "most > 2 * judged");
    indent(out, spatial + 4);
    at_text_add(out, "lost = 0, judged = most;\n");
    emit_loops(m, out, NEST_LIMITED, spatial, spatial + 1, text->again);
    indent(out, spatial + 3);
    at_text_add(out, "} else {\n");
    at_text_add(out, text->again);
    close_braces(out, spatial + 3);
    close_braces(out, spatial + 2);
}

/* All of the stage in hand, a running sum: a loop along that axis stands inside all others, and
 * takes in a term in each of its turns. */
static void emit_running(naive *m, at_text *out, nest kind, const nest_text *text, int along) {
    const at_tensor *t = naive_stage(m);
    const int spatial = t->num_axes, lag = at_running_lag(t);
    const char *name = naive_axis_name(m, along);
    int depth = 0;
    for (int axis = 0; axis < spatial; axis++) {
        if (axis == along || (kind == NEST_LINEAR && naive_is_summed(m, m->stage, axis))) continue;
        open_axis(m, out, axis, "0", naive_number(m, m->extents[m->stage][axis]));
        if (axis < along) add_hoists(m, out, axis);
        depth++;
    }
    const bool is_alone = !depth; /* names of its own all the same */
    if (is_alone) at_text_add(out, "    {\n");
    at_text_add(out, text->start);
    open_axis(m, out, along, "0", naive_number(m, m->extents[m->stage][along]));
    for (int axis = along; axis < spatial; axis++) add_hoists(m, out, axis);
    indent(out, spatial + 1);
    at_text_addf(out, "const long i_%s = i_%s - %d;\n", naive_axis_name(m, spatial), name, lag);
    open_braces(out, spatial + 1, at_format(m->arena, "i_%s >= %d", name, lag));
    add_hoists(m, out, spatial);
    at_text_add(out, text->term);
    if (text->again) emit_judgement(m, out, text);
    close_braces(out, spatial + 1);
    at_text_add(out, text->result);
    for (; depth >= 0; depth--) close_braces(out, depth + 1);
    if (is_alone) at_text_add(out, "    }\n");
}

/* All of the stage in hand, in its axes from `from` on: its steps are loops around. */
static void emit_nest(naive *m, at_text *out, nest kind, const at_expr *body, int from) {
    const at_tensor *t = naive_stage(m);
    int total = axes_of(t), spatial = t->num_axes;
    const int along = runs_along(m, kind);
    m->hoists.len = 0;
    if (along < 0 || (kind == NEST_LIMITED && t->reduction == AT_REDUCE_SUM)) hoist_bounds(m);
    nest_text text = texts_of(m, kind, body);
    if (along >= 0) {
        emit_running(m, out, kind, &text, along);
        return;
    }
    for (int axis = 0; axis < from; axis++) add_hoists(m, out, axis);
    if (!t->num_reduce) {
        emit_loops(m, out, kind, from, spatial, text.term);
        return;
    }
    at_text inside = {0};
    at_text_add(&inside, text.start);
    emit_loops(m, &inside, kind, spatial, total, text.term);
    if (text.again) {
        indent(&inside, spatial + 1);
        at_text_addf(&inside, "if (%s) {\n", text.again_if);
        emit_loops(m, &inside, kind, spatial, total, text.again);
        indent(&inside, spatial + 1);
        at_text_add(&inside, "}\n");
    }
    at_text_add(&inside, text.result);
    emit_loops(m, out, kind, from, spatial, at_text_str(&inside));
    at_text_free(&inside);
}

static void emit_unprojected(naive *m, at_text *out, int from) {
    const at_tensor *t = naive_stage(m);
    bool limited = m->rounded && (m->rounded[m->stage] || t->is_output);
    emit_nest(m, out, limited ? NEST_LIMITED : NEST_PLAIN, t->body, from);
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
        emit_nest(m, out, NEST_WEIGHTED, t->body, 0);
    } else {
        emit_nest(m, out, NEST_LINEAR, p->linear[m->stage], 0);
        if (p->rest[m->stage]) emit_nest(m, out, NEST_WEIGHTED, p->rest[m->stage], 0);
    }
}

/* All of its stages within each step. */
static void emit_cycle(naive *m, at_text *out, const at_cycle *cycle) {
    const int depth = cycle->depth;
    at_text_add(out, "\n");
    m->hoists.len = 0;
    for (int axis = 0; axis < depth; axis++)
        open_loop(m, out, axis, "0", naive_number(m, m->extents[cycle->stages[0]][axis]));
    for (int i = 0; i < cycle->num; i++) {
        m->stage = cycle->stages[i];
        indent(out, depth + 1);
        at_text_addf(out, "{ /* %s */\n", naive_stage(m)->name);
        emit_unprojected(m, out, depth);
        indent(out, depth + 1);
        at_text_add(out, "}\n");
    }
    for (int axis = depth; axis > 0; axis--) {
        indent(out, axis);
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
        if (x->is_output || (x->role != AT_ROLE_STAGE && !projected)) continue;
        m->stage = t;
        int64_t count =
            projected ? naive_projected_count(m, t) : element_count(c, t, m->extents[t]);
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
        const int64_t count = naive_times(m, element_count(c, t, m->extents[t]), NAIVE_SAMPLES);
        if (__builtin_add_overflow(floats, count, &floats)) naive_times(m, INT64_MAX, 2);
    }
    return naive_times(m, floats, (int64_t)sizeof(float));
}

static bool calls(const naive *m, const char *body, const char *helper) {
    return strstr(body, at_format(m->arena, "%s_%s(", m->entry, helper)) != NULL;
}

/* Those that the body calls. */
static void add_helpers(const naive *m, const char *body, at_text *out) {
    const char *n = m->entry;
    function_texts(m->c, n, out);
    if (m->rounded) naive_limit_helper(m, out);
    if (calls(m, body, "spread")) naive_sample_helpers(m, out);
    if (calls(m, body, "div"))
        at_text_addf(out, "static long %s_div(long x, long y) { return x / y - (x %% y < 0); }\n",
                     n);
    if (calls(m, body, "mod"))
        at_text_addf(
            out, "static long %s_mod(long x, long y) { return x %% y + (x %% y < 0 ? y : 0); }\n",
            n);
    if (calls(m, body, "within"))
        at_text_addf(out,
                     "static inline long %s_within(double x, double least, double most) { return "
                     "(long)(x >= least ? x <= most ? x : most : least); }\n",
                     n);
    for (int max = 0; max < 2; max++) {
        const char *name = max ? "max" : "min", *op = max ? ">" : "<";
        if (calls(m, body, name))
            at_text_addf(out,
                         "static inline long %s_%s(long x, long y) { return x %s y ? x : y; }\n", n,
                         name, op);
        if (calls(m, body, max ? "max_real" : "min_real"))
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
    return m->status;
}

at_status at_compute_reference_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const char *entry, at_text *out, int64_t *workspace_bytes,
                                 at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_limits_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err};
    AT_TRY(at_compute_extents(a, c, values, &m.extents, err));
    naive_find_rounded(&m);
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_double_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err) {
    naive m = {.arena = a, .c = c, .values = values, .entry = entry, .err = err, .in_double = true};
    return emit_all(&m, out, workspace_bytes);
}

at_status at_compute_typed_c(at_arena *a, const at_compute *c, const int64_t *values,
                             const char *const *types, const char *entry, at_text *out,
                             int64_t *workspace_bytes, at_error *err) {
    naive m = {.arena = a,
               .c = c,
               .values = values,
               .entry = entry,
               .err = err,
               .in_double = true,
               .types = types};
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
