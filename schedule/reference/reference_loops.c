/* schedule/reference/reference_loops.c: the loops of one stage of a computation as naive C99:
 * element by element, neighbours together, or step by step of a running sum. */
#include "schedule/reference/reference_int.h"

#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------- */

void naive_indent(at_text *out, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
}

/* What needs the axes up to this one. */
static void add_hoists(naive *m, at_text *out, int axis) {
    for (int i = 0; i < m->hoists.len; i++) {
        if (m->hoists.data[i].depth != axis) continue;
        naive_indent(out, axis + 2);
        at_text_addf(out, "const long %s = %s;\n", m->hoists.data[i].name, m->hoists.data[i].text);
    }
}

void naive_open_axis(naive *m, at_text *out, int axis, const char *begin, const char *end) {
    const char *name = naive_axis_name(m, axis);
    naive_indent(out, axis + 1);
    at_text_addf(out, "for (long i_%s = %s; i_%s < %s; i_%s++) {\n", name, begin, name, end, name);
}

void naive_open_loop(naive *m, at_text *out, int axis, const char *begin, const char *end) {
    naive_open_axis(m, out, axis, begin, end);
    add_hoists(m, out, axis);
}

void naive_own_indices(naive *m, int n, at_expr **own) {
    for (int i = 0; i < n; i++) {
        own[i] = at_expr_name(m->arena, NULL);
        own[i]->ref = i;
    }
}

static const char *indented(naive *m, int depth, const char *line) {
    return at_format(m->arena, "%*s%s\n", 4 * (depth + 1), "", line);
}

/* The totals begin. */
static void add_totals(naive *m, at_text *out, const nest_text *text) {
    at_text_add(out, text->start);
    for (int i = 0; i < text->totals.len; i++) {
        if (!i) naive_indent(out, naive_stage(m)->num_axes + 1);
        at_text_addf(out, "%s%s%s = %s", i ? ", " : text->type, i ? "" : " ",
                     text->totals.data[i].name, text->totals.data[i].first);
    }
    if (text->totals.len) at_text_add(out, ";\n");
}

/* C's type of what the terms of the stage in hand become. */
static const char *total_type(const naive *m) {
    return at_type_of(naive_stage(m)->type)->is_int ? "long" : naive_real(m);
}

/* What a total begins with, in C. */
static const char *start_c(naive *m, const at_tensor *t) {
    if (!at_type_of(t->type)->is_int) return at_reduction_start_c(t->reduction);
    return at_format(m->arena, "%.0f", at_reduction_neutral_of(t->reduction, t->type));
}

/* A value as the stage in hand stores it. */
static const char *stored(naive *m, const char *value) {
    const at_tensor *t = naive_stage(m);
    const at_type_facts *type = at_type_of(t->type);
    if (!type->is_int) return naive_bits(m, m->stage, value);
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
        indented(m, depth, at_format(m->arena, "const %s t = %s;", total_type(m), term)),
        indented(m, depth, at_reduction_c(r, m->arena, "t", "s")));
}

/* body NULL: of an input, whose elements are its own. */
static nest_text texts_of(naive *m, nest kind, const at_expr *body) {
    const at_tensor *t = naive_stage(m);
    int total = axes_of(t), last = t->num_axes - 1;
    at_expr *own[MAX_AXES];
    naive_own_indices(m, total, own);
    if (kind == NEST_LIMITED) return naive_with_limits(m, body, own);
    const char *term = !body                 ? naive_element(m, m->stage, own, total - 1)
                       : kind == NEST_LINEAR ? naive_projected(m, body, total - 1)
                                             : naive_value(m, body, total - 1);
    const char *result, *of = t->num_reduce ? "s" : term;
    if (kind == NEST_WEIGHTED)
        result =
            at_format(m->arena, "%s += (unsigned long)%s * (unsigned long)(long)%s;",
                      naive_projected_element(m, m->stage, own, last), naive_weight(m, own), of);
    else if (at_type_is_half(t->type) && t->is_output)
        result = at_format(m->arena,
                           m->in_double && !m->types ? "T_%1$s[%2$s] = %3$s, L_%1$s[%2$s] = 0;"
                                                     : "T_%1$s[%2$s] = %3$s;",
                           t->name, naive_index(m, m->stage, own, last), stored(m, of));
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
    nest_text text = {.type = kind == NEST_LINEAR ? "unsigned long" : total_type(m),
                      .start = "",
                      .term = reduces(m, total, t->reduction, term),
                      .result = indented(m, last + 1, result)};
    naive_add_total(m, &text, "s", kind == NEST_LINEAR ? "0" : start_c(m, t));
    return text;
}

/* The loops of the axes from .. to - 1 of the stage in hand around what is inside. */
static void emit_loops(naive *m, at_text *out, nest kind, int from, int to, const char *inside) {
    const at_tensor *t = naive_stage(m);
    for (int i = from; i < to; i++) {
        const char *begin = "0", *end = naive_number(m, m->extents[m->stage][i]);
        if (t->axes[i].begin) { /* the end is read once */
            begin = naive_value(m, t->axes[i].begin, i - 1);
            naive_indent(out, i + 1);
            at_text_addf(out, "const long end_%s = %s;\n", t->axes[i].name,
                         naive_value(m, t->axes[i].end, i - 1));
            end = at_format(m->arena, "end_%s", t->axes[i].name);
        }
        if (kind != NEST_LINEAR || !naive_is_summed(m, m->stage, i))
            naive_open_loop(m, out, i, begin, end);
    }
    at_text_add(out, inside);
    for (int i = to - 1; i >= from; i--) {
        if (kind == NEST_LINEAR && naive_is_summed(m, m->stage, i)) continue;
        naive_indent(out, i + 1);
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
    naive_indent(out, depth);
    at_text_addf(out, "if (%s) {\n", condition);
}

static void close_braces(at_text *out, int depth) {
    naive_indent(out, depth);
    at_text_add(out, "}\n");
}

/* The terms of a running sum up to the one in hand once more: where some of them have become so
 * small beside the largest that they are lost; else the one in hand alone may be. */
static void emit_judgement(naive *m, at_text *out, const nest_text *text) {
    const at_tensor *t = naive_stage(m);
    const int spatial = t->num_axes;
    open_braces(out, spatial + 2, text->again_if);
    open_braces(out, spatial + 3, "most > 2 * judged");
    naive_indent(out, spatial + 4);
    at_text_add(out, "lost = 0, judged = most;\n");
    emit_loops(m, out, NEST_LIMITED, spatial, spatial + 1, text->again);
    naive_indent(out, spatial + 3);
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
        naive_open_axis(m, out, axis, "0", naive_number(m, m->extents[m->stage][axis]));
        if (axis < along) add_hoists(m, out, axis);
        depth++;
    }
    const bool is_alone = !depth; /* names of its own all the same */
    if (is_alone) at_text_add(out, "    {\n");
    add_totals(m, out, text);
    naive_open_axis(m, out, along, "0", naive_number(m, m->extents[m->stage][along]));
    for (int axis = along; axis < spatial; axis++) add_hoists(m, out, axis);
    naive_indent(out, spatial + 1);
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

/* ---- neighbours together --------------------------------------------------------------------- */

#define WORD "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789."
enum { LANES = 64, LEAST_LANES = 32, LEAST_TERMS = 32, PLACES = 2048 };

/* Elements of the last axis go through the terms together, LANES of them: one reads what lies
 * beside what the other reads, as a rule. Not where they have terms of their own. */
static bool runs_in_lanes(const naive *m, nest kind, int from, const nest_text *text) {
    const at_tensor *t = naive_stage(m);
    const int64_t *extents = m->extents[m->stage];
    int64_t terms = 1;
    for (int i = t->num_axes; i < axes_of(t); i++) {
        if (t->axes[i].begin) return false;
        if (terms < LEAST_TERMS) terms *= extents[i];
    }
    return (kind == NEST_PLAIN || kind == NEST_LIMITED) && !*text->start && t->num_axes > from &&
           extents[t->num_axes - 1] >= LEAST_LANES && terms >= LEAST_TERMS;
}

/* Lines in which each total is the lane's own. */
static void add_of_lane(at_text *out, const nest_text *text, const char *lines) {
    for (const char *p = lines; *p;) {
        size_t n = strspn(p, WORD);
        bool is_total = false;
        for (int i = 0; i < text->totals.len && n; i++)
            is_total |=
                strlen(text->totals.data[i].name) == n && !memcmp(text->totals.data[i].name, p, n);
        at_text_addf(out, is_total ? "lane_%.*s[l]" : "%.*s", (int)(n ? n : 1), p);
        p += n ? n : 1;
    }
}

static bool names(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if ((p == text || !strchr(WORD, p[-1])) && (!p[n] || !strchr(WORD, p[n]))) return true;
    return false;
}

/* Is it named in the lines, or in one that is? */
static bool is_needed(const naive *m, const char *name, const char *lines) {
    if (names(lines, name)) return true;
    for (int i = 0; i < m->hoists.len; i++)
        if (names(m->hoists.data[i].text, name) && is_needed(m, m->hoists.data[i].name, lines))
            return true;
    return false;
}

/* What the lines need of the axes from .. to. */
static void add_needed(naive *m, at_text *out, int depth, int from, int to, const char *lines) {
    for (int d = from; d <= to; d++)
        for (int i = 0; i < m->hoists.len; i++) {
            const hoisted *h = &m->hoists.data[i];
            if (h->depth != d || !is_needed(m, h->name, lines)) continue;
            naive_indent(out, depth);
            at_text_addf(out, "const long %s = %s;\n", h->name, h->text);
        }
}

/* Lines of lane l, one of those along `along`, which need the axes up to `axis`. */
static void add_lane(naive *m, at_text *out, const nest_text *text, int depth, int along, int axis,
                     const char *lines) {
    const char *name = naive_axis_name(m, along), *index = at_format(m->arena, "i_%s", name);
    if (is_needed(m, index, lines)) {
        naive_indent(out, depth);
        at_text_addf(out, "const long %s = from_%s + l;\n", index, name);
    }
    add_needed(m, out, depth, along, axis, lines);
    add_of_lane(out, text, lines);
}

/* A loop over the lanes around lines that need the axes up to this one. */
static void emit_lanes(naive *m, at_text *out, const nest_text *text, int depth, int along,
                       int axis, const char *lines) {
    naive_indent(out, depth);
    at_text_add(out, "for (int l = 0; l < lanes; l++) {\n");
    add_lane(m, out, text, depth + 1, along, axis, lines);
    close_braces(out, depth);
}

/* The lane where a term belongs, if it is one of these. place: where, as C. */
static void emit_placed(naive *m, at_text *out, const nest_text *text, int depth, int along,
                        int axis, const char *place, const char *lines) {
    const char *name = naive_axis_name(m, along);
    add_needed(m, out, depth, along, axis, place);
    naive_indent(out, depth);
    at_text_addf(out, "const double place = %s - (double)from_%s;\n", place, name);
    open_braces(out, depth, "place >= 0 && place < lanes && place == (double)(long)place");
    naive_indent(out, depth + 1);
    at_text_add(out, "const long l = (long)place;\n");
    add_lane(m, out, text, depth + 1, along, axis, lines);
    close_braces(out, depth);
}

/* Elements along an axis that go through the terms together, so many of them. */
typedef struct lanes {
    int along, most;
    const char *place; /* where a term belongs, as C; NULL: each is one of all of them */
} lanes;

/* The loops of the terms around a loop over the lanes. */
static void emit_terms(naive *m, at_text *out, const nest_text *text, const lanes *of,
                       const char *lines) {
    const at_tensor *t = naive_stage(m);
    const int first = t->num_axes, last = axes_of(t);
    for (int i = first; i < last; i++)
        naive_open_axis(m, out, i, "0", naive_number(m, m->extents[m->stage][i]));
    if (of->place) emit_placed(m, out, text, last + 1, of->along, last - 1, of->place, lines);
    else emit_lanes(m, out, text, last + 1, of->along, last - 1, lines);
    for (int i = last; i > first; i--) close_braces(out, i);
}

/* Their loops around what is inside, but for that along the lanes, which is there. */
static void emit_around(naive *m, at_text *out, int from, int along, const char *inside) {
    const int spatial = naive_stage(m)->num_axes;
    for (int i = from; i < spatial; i++) {
        if (i == along) continue;
        naive_open_axis(m, out, i, "0", naive_number(m, m->extents[m->stage][i]));
        if (i < along) add_hoists(m, out, i);
    }
    at_text_add(out, inside);
    for (int i = spatial - 1; i >= from; i--)
        if (i != along) close_braces(out, i + 1);
}

static void emit_in_lanes(naive *m, at_text *out, const nest_text *text, int from, lanes of) {
    const at_tensor *t = naive_stage(m);
    const int axis = t->num_axes - 1, along = of.along;
    const char *name = naive_axis_name(m, along),
               *extent = naive_number(m, m->extents[m->stage][along]);
    at_text inside = {0}, first = {0};
    naive_indent(&inside, axis + 1);
    at_text_addf(&inside, "for (long from_%1$s = 0; from_%1$s < %2$s; from_%1$s += %3$d) {\n", name,
                 extent, of.most);
    naive_indent(&inside, axis + 2);
    at_text_addf(&inside, "const int lanes = %2$s - from_%1$s < %3$d ? %2$s - from_%1$s : %3$d;\n",
                 name, extent, of.most);
    for (int i = 0; i < text->totals.len; i++) {
        naive_indent(&inside, axis + 2);
        at_text_addf(&inside, "%s lane_%s[%d];\n", text->type, text->totals.data[i].name, of.most);
        naive_indent(&first, axis + 3);
        at_text_addf(&first, "%s = %s;\n", text->totals.data[i].name, text->totals.data[i].first);
    }
    emit_lanes(m, &inside, text, axis + 2, along, axis, at_text_str(&first));
    emit_terms(m, &inside, text, &of, text->term);
    if (text->again) {
        naive_indent(&inside, axis + 2);
        at_text_add(&inside, "int again = 0;\n");
        emit_lanes(m, &inside, text, axis + 2, along, axis,
                   indented(m, axis + 2, at_format(m->arena, "again |= %s;", text->again_if)));
        open_braces(&inside, axis + 2, "again");
        emit_terms(m, &inside, text, &of, text->again);
        close_braces(&inside, axis + 2);
    }
    emit_lanes(m, &inside, text, axis + 2, along, axis, text->result);
    close_braces(&inside, axis + 1);
    emit_around(m, out, from, along, at_text_str(&inside));
    at_text_free(&inside);
    at_text_free(&first);
}

/* The axis along which each term of the stage in hand counts for one place, which is known; -1. */
static int placed_along(const naive *m, nest kind) {
    const at_tensor *t = naive_stage(m);
    const at_scatter x = at_scatter_of(t);
    if (at_tensor_has_range(t)) return -1;
    for (int k = 0; x.axes >> k && (kind == NEST_PLAIN || kind == NEST_LIMITED); k++)
        if ((x.axes >> k & 1) && (kind == NEST_PLAIN || naive_is_certain(m, x.place[k]))) return k;
    return -1;
}

/* Where a term of the stage in hand belongs along the axis; -1 where it does not count. */
static const at_expr *place_of(naive *m, int axis) {
    const at_scatter x = at_scatter_of(naive_stage(m));
    const at_expr *guard = at_scatter_guard(m->arena, naive_stage(m), &x, axis);
    if (!guard) return x.place[axis];
    return at_expr_new(
        m->arena, AT_X_SELECT, 3,
        (at_expr *[]){(at_expr *)guard, (at_expr *)x.place[axis], at_expr_int(m->arena, -1)});
}

/* All of the stage in hand, in its axes from `from` on: its steps are loops around. */
void naive_emit_nest(naive *m, at_text *out, nest kind, const at_expr *body, int from) {
    const at_tensor *t = naive_stage(m);
    int total = axes_of(t), spatial = t->num_axes;
    const int along = runs_along(m, kind);
    m->hoists.len = 0;
    if (along < 0 || (kind == NEST_LIMITED && t->reduction == AT_REDUCE_SUM)) hoist_bounds(m);
    nest_text text = texts_of(m, kind, body);
    const int placed = placed_along(m, kind);
    if (along >= 0) {
        emit_running(m, out, kind, &text, along);
        return;
    }
    for (int axis = 0; axis < from; axis++) add_hoists(m, out, axis);
    if (!t->num_reduce) {
        emit_loops(m, out, kind, from, spatial, text.term);
        return;
    }
    if (placed >= 0) {
        emit_in_lanes(m, out, &text, from,
                      (lanes){placed, PLACES, naive_value(m, place_of(m, placed), total - 1)});
        return;
    }
    if (runs_in_lanes(m, kind, from, &text)) {
        emit_in_lanes(m, out, &text, from, (lanes){.along = spatial - 1, .most = LANES});
        return;
    }
    at_text inside = {0};
    add_totals(m, &inside, &text);
    emit_loops(m, &inside, kind, spatial, total, text.term);
    if (text.again) {
        naive_indent(&inside, spatial + 1);
        at_text_addf(&inside, "if (%s) {\n", text.again_if);
        emit_loops(m, &inside, kind, spatial, total, text.again);
        naive_indent(&inside, spatial + 1);
        at_text_add(&inside, "}\n");
    }
    at_text_add(&inside, text.result);
    emit_loops(m, out, kind, from, spatial, at_text_str(&inside));
    at_text_free(&inside);
}
