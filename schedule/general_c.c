/* schedule/general_c.c: a computation as C99 for every shape of a form: sizes are worked out when
 * it runs.
 *
 * s[] holds the symbols, then the extents of every tensor, then where stages lie in the workspace.
 * A stage without a sum is a function of its indices, a stage with one a loop nest; those that read
 * each other stand in the loops of their steps. */
#include "schedule/schedule_int.h"

#include <math.h>
#include <string.h>

typedef struct general {
    at_arena *arena;
    const at_general *g;
    const at_compute *c;
    const char *entry;
    int stage;   /* whose expression is printed; -1: sizes */
    int *extent; /* [tensor] the place in s[] of its first extent */
    int *place;  /* [tensor] of a stage in the workspace: where its offset stands in s[]; else -1 */
    int *buf;    /* [tensor] of an input or an output; else -1 */
    int num_buf, num_s;
} general;

static const char *emit(general *m, const at_expr *e);

static int element_bytes(const at_general *g) { return g->types ? 8 : 4; }

/* A stage that has its own memory in the workspace. */
static bool is_kept(const at_tensor *t) {
    return t->role == AT_ROLE_STAGE && !t->is_output &&
           (t->num_reduce || at_tensor_goes_in_steps(t));
}

static bool has_bits(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op >= AT_X_TEXT;
}

static bool in_memory(const general *m, int t) { return m->buf[t] >= 0 || m->place[t] >= 0; }

/* ---- expressions ----------------------------------------------------------------------------- */

static const char *number(general *m, int64_t x) {
    if (x == INT64_MIN) return "(-9223372036854775807L - 1)";
    return at_format(m->arena, x < 0 ? "(%lldL)" : "%lldL", (long long)x);
}

static const char *axis(const general *m, int t, int i) {
    const char *name = m->c->tensors[t].axes[i].name;
    return name ? at_format(m->arena, "i_%s", name) : at_format(m->arena, "i_%d", i);
}

/* ((i * E1 + j) * E2 + k) */
static const char *flat(general *m, int t, const char *const *index) {
    const char *sum = "0";
    for (int i = 0; i < m->c->tensors[t].num_axes; i++)
        sum = i ? at_format(m->arena, "(%s * s[%d] + %s)", sum, m->extent[t] + i, index[i])
                : index[0];
    return sum;
}

static const char *real(const general *m) { return m->g->types ? "double" : "float"; }

static const char *memory(general *m, int t) {
    const char *type = m->g->types                              ? m->g->types[t]
                       : m->c->tensors[t].role == AT_ROLE_INDEX ? "int"
                                                                : "float";
    const char *store = m->c->tensors[t].role == AT_ROLE_STAGE ? "" : "const ";
    if (m->buf[t] >= 0) return at_format(m->arena, "((%s%s *)buf[%d])", store, type, m->buf[t]);
    return at_format(m->arena, "((%s *)(workspace + s[%d]))", real(m), m->place[t]);
}

static const char *element(general *m, int t, const char *const *index) {
    return at_format(m->arena, "%s[%s]", memory(m, t), flat(m, t, index));
}

static const char *read_tensor(general *m, const at_expr *e) {
    const char *index[MAX_AXES];
    for (int i = 0; i < e->nargs; i++) index[i] = emit(m, e->arg[i]);
    const char *type = at_tensor_has_entries(&m->c->tensors[e->ref]) ? "(long)" : "";
    if (in_memory(m, e->ref)) return at_format(m->arena, "%s%s", type, element(m, e->ref, index));
    const char *call = at_format(m->arena, "%s%s_%s(s, buf, workspace", type, m->entry,
                                 m->c->tensors[e->ref].name);
    for (int i = 0; i < e->nargs; i++) call = at_format(m->arena, "%s, %s", call, index[i]);
    return at_format(m->arena, "%s)", call);
}

static const char *helper(general *m, const at_expr *e, const char *name) {
    return at_format(m->arena, "%s_%s(%s, %s)", m->entry, name, emit(m, e->arg[0]),
                     emit(m, e->arg[1]));
}

static const char *emit(general *m, const at_expr *e) {
    static const char *const spelled[] = {
        [AT_X_ADD] = "+", [AT_X_SUB] = "-", [AT_X_MUL] = "*",  [AT_X_DIV] = "/",
        [AT_X_LT] = "<",  [AT_X_LE] = "<=", [AT_X_GT] = ">",   [AT_X_GE] = ">=",
        [AT_X_EQ] = "==", [AT_X_NE] = "!=", [AT_X_AND] = "&&", [AT_X_OR] = "||",
    };
    bool is_float = m->stage >= 0 && is_float_expr(m->c, e);
    switch (e->op) {
    case AT_X_INT: return number(m, e->integer);
    case AT_X_FLOAT:
        if (!m->g->types || !isfinite(e->number)) return float_c(m->arena, e->number);
        return at_format(m->arena, "((double)%.17g)", e->number);
    case AT_X_EXTENT: return at_format(m->arena, "s[%d]", e->ref);
    case AT_X_NAME:
        if (m->stage < 0) return at_format(m->arena, "s[%d]", e->ref);
        if (e->ref < AT_REF_SIZE) return axis(m, m->stage, e->ref);
        return at_format(m->arena, "s[%d]", e->ref - AT_REF_SIZE);
    case AT_X_INDEX: return read_tensor(m, e);
    case AT_X_NEG: return at_format(m->arena, "(-%s)", emit(m, e->arg[0]));
    case AT_X_NOT: return at_format(m->arena, "(!%s)", emit(m, e->arg[0]));
    case AT_X_SELECT:
        return at_format(m->arena, "(%s ? %s : %s)", emit(m, e->arg[0]), emit(m, e->arg[1]),
                         emit(m, e->arg[2]));
    case AT_X_MIN: return helper(m, e, is_float ? "min_real" : "min");
    case AT_X_MAX: return helper(m, e, is_float ? "max_real" : "max");
    case AT_X_MOD: return helper(m, e, "mod");
    case AT_X_CALL:
        return at_format(m->arena, "(%s)%s_%s_of(%s)", real(m), m->entry,
                         at_function_name((at_function)e->integer), emit(m, e->arg[0]));
    case AT_X_DIV:
        if (!is_float) return helper(m, e, "div");
        break;
    case AT_X_MUL:
        if (m->stage < 0) return helper(m, e, "times");
        break;
    default: break;
    }
    return at_format(m->arena, "(%s %s %s)", emit(m, e->arg[0]), spelled[e->op],
                     emit(m, e->arg[1]));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Those that the body calls. Products that leave 64 bits become so large that the shape is refused.
 */
static void emit_helpers(const general *m, const char *body, at_text *out) {
    const char *const text[] = {
        "long %s_div(long x, long y) { return y < 1 ? 0 : x / y - (x %% y < 0); }\n",
        "long %s_mod(long x, long y) {\n"
        "    return y < 1 ? 0 : x %% y + (x %% y < 0 ? y : 0);\n}\n",
        "long %s_min(long x, long y) { return x < y ? x : y; }\n",
        "long %s_max(long x, long y) { return x > y ? x : y; }\n",
        at_format(m->arena, "%1$s %%s_min_real(%1$s x, %1$s y) { return %2$s; }\n", real(m),
                  at_extreme_c(m->arena, false, "x", "y")),
        at_format(m->arena, "%1$s %%s_max_real(%1$s x, %1$s y) { return %2$s; }\n", real(m),
                  at_extreme_c(m->arena, true, "x", "y")),
        "long %s_times(long x, long y) {\n"
        "    const double most = 4e18, product = (double)x * (double)y;\n"
        "    return product > most ? 4000000000000000000L : product < -most ? "
        "-4000000000000000000L : x * y;\n}\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        at_text call = {0};
        const char *name = strstr(text[i], "%s_") + 2;
        at_text_addf(&call, "%s%.*s", m->entry, (int)(strchr(name, '(') + 1 - name), name);
        if (strstr(body, at_text_str(&call))) {
            at_text_add(out, "static inline ");
            at_text_addf(out, text[i], m->entry);
        }
        at_text_free(&call);
    }
    at_text_add(out, "\n");
}

static void emit_steps(general *m, at_text *out) {
    const at_general *g = m->g;
    if (!g->num_args) at_text_add(out, "    (void)args;\n");
    for (int i = 0; i < g->num_args; i++)
        at_text_addf(out,
                     "    s[%d] = args[%d]; /* %s */\n"
                     "    if (s[%d] < %lldL || s[%d] > 2147483647L) return 0;\n",
                     i, i, m->c->symbols->names.data[i], i, (long long)g->least[i], i);
    for (int i = 0; i < g->num_steps; i++) {
        const at_general_step *s = &g->steps[i];
        const char *value = s->expr ? emit(m, s->expr) : number(m, s->value);
        if (s->slot >= 0)
            at_text_addf(out, "    s[%d] = %s; /* %s */\n", s->slot, value,
                         m->c->symbols->names.data[s->slot]);
        else at_text_addf(out, "    if (%s != %lldL) return 0;\n", value, (long long)s->value);
    }
}

/* Extents; elements of inputs and outputs; places of the rest. */
static void emit_extents(general *m, at_text *out) {
    const at_compute *c = m->c;
    at_text_add(out, "    *workspace_bytes = 0;\n");
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *tensor = &c->tensors[t];
        at_text_addf(out, "    n = 1; /* %s */\n", tensor->name);
        for (int i = 0; i < axes_of(tensor); i++) {
            int at = m->extent[t] + i;
            if (!tensor->axes[i].extent) continue;
            at_text_addf(out, "    s[%d] = %s;\n    if (s[%d] < %d) return 0;\n", at,
                         emit(m, tensor->axes[i].extent), at,
                         tensor->role != AT_ROLE_STAGE ? 0 : 1);
            if (i < tensor->num_axes)
                at_text_addf(out, "    n = %s_times(n, s[%d]);\n", m->entry, at);
        }
        at_text_addf(out, "    if (n > 1152921504606846976L) return 0;\n");
        if (m->buf[t] >= 0) at_text_addf(out, "    elements[%d] = n;\n", m->buf[t]);
        if (m->place[t] >= 0)
            at_text_addf(out,
                         "    s[%d] = *workspace_bytes;\n"
                         "    *workspace_bytes += (n * %d + 63) / 64 * 64;\n",
                         m->place[t], element_bytes(m->g));
    }
    at_text_add(out, "    return 1;\n}\n\n");
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void emit_function(general *m, at_text *out, int t) {
    const at_tensor *tensor = &m->c->tensors[t];
    m->stage = t;
    at_text_addf(out, "static %s %s_%s(const long *s, void *const buf[], char *workspace", real(m),
                 m->entry, tensor->name);
    for (int i = 0; i < tensor->num_axes; i++) at_text_addf(out, ", long %s", axis(m, t, i));
    at_text_add(out, ") {\n    (void)s, (void)buf, (void)workspace");
    for (int i = 0; i < tensor->num_axes; i++) at_text_addf(out, ", (void)%s", axis(m, t, i));
    at_text_addf(out, ";\n    return %s;\n}\n\n", emit(m, tensor->body));
}

static void open_loop(general *m, at_text *out, int t, int i) {
    const at_axis *x = &m->c->tensors[t].axes[i];
    const char *name = axis(m, t, i);
    const char *begin = x->begin ? emit(m, x->begin) : "0";
    const char *end = x->begin ? emit(m, x->end) : at_format(m->arena, "s[%d]", m->extent[t] + i);
    at_text_addf(out, "%*sfor (long %s = %s, e%d = %s; %s < e%d; %s++) {\n", 4 * (i + 1), "", name,
                 begin, i, end, name, i, name);
}

/* A stage, in loops of its axes from `from` on. */
static void emit_nest(general *m, at_text *out, int t, int from) {
    const at_tensor *tensor = &m->c->tensors[t];
    const char *index[MAX_AXES];
    int n = tensor->num_axes, total = axes_of(tensor);
    m->stage = t;
    for (int i = 0; i < n; i++) index[i] = axis(m, t, i);
    for (int i = from; i < n; i++) open_loop(m, out, t, i);
    if (tensor->num_reduce)
        at_text_addf(out, "%*s%s part = %s;\n", 4 * (n + 1), "", real(m),
                     at_reduction_start_c(tensor->reduction));
    for (int i = n; i < total; i++) open_loop(m, out, t, i);
    if (tensor->num_reduce)
        at_text_addf(out, "%*sconst %s term = %s;\n%*s%s\n", 4 * (total + 1), "", real(m),
                     emit(m, tensor->body), 4 * (total + 1), "",
                     at_reduction_c(tensor->reduction, m->arena, "term", "part"));
    for (int i = total - 1; i >= n; i--) at_text_addf(out, "%*s}\n", 4 * (i + 1), "");
    at_text_addf(out, "%*s%s = %s;\n", 4 * (n + 1), "", element(m, t, index),
                 tensor->num_reduce ? "part" : emit(m, tensor->body));
    for (int i = n - 1; i >= from; i--) at_text_addf(out, "%*s}\n", 4 * (i + 1), "");
}

/* Stages that read each other, within each step. */
static void emit_cycle(general *m, at_text *out, const at_cycle *cycle) {
    const int depth = cycle->depth;
    m->stage = cycle->stages[0];
    for (int i = 0; i < depth; i++) open_loop(m, out, m->stage, i);
    for (int i = 0; i < cycle->num; i++) {
        at_text_addf(out, "%*s{\n", 4 * (depth + 1), "");
        emit_nest(m, out, cycle->stages[i], depth);
        at_text_addf(out, "%*s}\n", 4 * (depth + 1), "");
    }
    for (int i = depth; i > 0; i--) at_text_addf(out, "%*s}\n", 4 * i, "");
}

static void emit_stage(general *m, at_text *out, int t) {
    const at_cycle *cycle = at_cycle_of(m->c, t);
    if (m->c->tensors[t].role != AT_ROLE_STAGE || !in_memory(m, t)) return;
    if (!cycle) emit_nest(m, out, t, 0);
    else if (t == cycle->stages[0]) emit_cycle(m, out, cycle);
}

bool at_general_fits(const at_compute *c) {
    if (c->has_halves) return false;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        const bool is_number = at_type_of(x->type)->is_int && !at_tensor_has_entries(x);
        if (x->is_table || is_number || x->num_axes + x->num_reduce > MAX_AXES ||
            (x->body && at_expr_find(x->body, has_bits, NULL)))
            return false;
    }
    return true;
}

int64_t at_general_workspace(const at_general *g, int64_t *const *extents) {
    int64_t bytes = 0;
    for (int t = 0; t < g->compute->num_tensors; t++) {
        const at_tensor *x = &g->compute->tensors[t];
        if (!is_kept(x)) continue;
        const int64_t n = element_bytes(g) * at_tensor_elements(x, extents[t]);
        bytes += (n + 63) / 64 * 64;
    }
    return bytes;
}

/* Inputs, then outputs; what has a sum and is no output lies in the workspace. */
static void place(general *m) {
    const at_compute *c = m->c;
    m->extent = AT_NEW_ARRAY(m->arena, int, c->num_tensors);
    m->place = AT_NEW_ARRAY(m->arena, int, c->num_tensors);
    m->buf = AT_NEW_ARRAY(m->arena, int, c->num_tensors);
    m->num_s = c->symbols->names.len;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *tensor = &c->tensors[t];
        m->extent[t] = m->num_s;
        m->num_s += axes_of(tensor);
        m->place[t] = is_kept(tensor) ? m->num_s++ : -1;
        m->buf[t] = tensor->role != AT_ROLE_STAGE ? m->num_buf++ : -1;
    }
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output) m->buf[t] = m->num_buf++;
}

static void emit_all(general *m, at_text *out) {
    at_text_addf(out,
                 "static int %s_numbers(const long *args, long *s, long *elements, long "
                 "*workspace_bytes) {\n    long n;\n",
                 m->entry);
    emit_steps(m, out);
    emit_extents(m, out);
    if (!m->g->types)
        at_text_addf(
            out,
            "static int %s_sizes(const long *args, long *elements, long *workspace_bytes) {\n"
            "    long s[%d];\n"
            "    return %s_numbers(args, s, elements, workspace_bytes);\n}\n\n",
            m->entry, m->num_s, m->entry);
    for (int t = 0; t < m->c->num_tensors; t++)
        if (m->c->tensors[t].role == AT_ROLE_STAGE && !in_memory(m, t)) emit_function(m, out, t);
    at_text_addf(out,
                 "static void %s(const long *args, void *const buf[], void *memory) {\n"
                 "    char *workspace = (char *)memory;\n    long s[%d], elements[%d], bytes;\n"
                 "    if (!%s_numbers(args, s, elements, &bytes)) return;\n    (void)workspace;\n",
                 m->entry, m->num_s, m->num_buf, m->entry);
    for (int i = 0; i < m->c->num_tensors; i++) emit_stage(m, out, m->c->order[i]);
    at_text_add(out, "}\n\n");
}

void at_general_c(at_arena *a, const at_general *g, const char *entry, at_text *out) {
    general m = {.arena = a, .g = g, .c = g->compute, .entry = entry, .stage = -1};
    at_text body = {0};
    place(&m);
    emit_all(&m, &body);
    function_texts(m.c, entry, out);
    emit_helpers(&m, at_text_str(&body), out);
    at_text_add(out, at_text_str(&body));
    at_text_free(&body);
}
