/* knobs/require.c: conditions over knobs of all kinds, as people write them: several, with floats
 * and texts, and knobs that count only under a condition. */
#include "knobs/knobs_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    at_space *space;
    const at_lex *lex; /* for messages */
    const at_constant *constants;
    int num_constants;
    at_error *err;
    at_requirement *out;
} reader;

/* ---- names become knobs ---------------------------------------------------------------------- */

static at_status fail(const reader *r, const at_expr *e, const char *text) {
    return at_lex_fail_at(r->lex, e->line, e->col, r->err, "%s", text);
}

static at_status unknown_name(const reader *r, const at_expr *e) {
    const at_space *s = r->space;
    const char *nearest = at_nearest(e->name, s->names, s->num_knobs);
    if (nearest)
        return at_lex_fail_at(r->lex, e->line, e->col, r->err,
                              "\"%s\" is no knob and no size; did you mean \"%s\"?", e->name,
                              nearest);
    at_text t = {0};
    at_names_list(&t, s->names, s->num_knobs);
    at_status status =
        at_lex_fail_at(r->lex, e->line, e->col, r->err,
                       "\"%s\" is no knob and no size; the knobs are %s", e->name, at_text_str(&t));
    at_text_free(&t);
    return status;
}

/* A text is a number among the values of its knob. */
static double option_value(const at_knob *k, int64_t digit) {
    const at_json *v = k->options[digit];
    if (v->kind == AT_JSON_BOOL) return v->boolean;
    return v->kind == AT_JSON_NUMBER ? v->number : (double)digit;
}

static bool is_text(const at_knob *k) {
    return k->kind == AT_KNOB_OPTION && k->options[0]->kind == AT_JSON_STRING;
}

/* Values of a part of a knob, digit by digit. */
static const double *part_values(at_arena *a, const at_knob *k, int part) {
    double *v = AT_NEW_ARRAY(a, double, k->count);
    for (int64_t i = 0; i < k->count; i++) {
        const at_entity *e = &k->entities[i];
        v[i] = k->kind == AT_KNOB_OPTION  ? option_value(k, i)
               : k->kind == AT_KNOB_SPLIT ? (double)at_split_part(e, k->length, part)
                                          : (double)e->sizes[part];
    }
    return v;
}

static int add_leaf(reader *r, int knob, int part) {
    at_requirement *q = r->out;
    for (int i = 0; i < q->leaves.len; i++)
        if (q->leaves.data[i].knob == knob && q->leaves.data[i].part == part) return i;
    const at_knob *k = r->space->knobs[knob];
    at_open_leaf leaf = {.knob = knob, .part = part, .lo = INFINITY, .hi = -INFINITY};
    leaf.values = part_values(r->space->arena, k, part);
    leaf.whole = true;
    for (int64_t i = 0; i < k->count; i++) {
        leaf.lo = fmin(leaf.lo, leaf.values[i]);
        leaf.hi = fmax(leaf.hi, leaf.values[i]);
        leaf.whole &= leaf.values[i] == floor(leaf.values[i]);
    }
    *at_push(r->space->arena, &q->leaves) = leaf;
    return q->leaves.len - 1;
}

/* NAME_2: part 2 of a knob NAME. */
static bool find_part(const at_space *s, const char *name, int *knob, int *part) {
    const char *end = strrchr(name, '_');
    if (!end || end[1] < '0' || end[1] > '9' || end[2]) return false;
    *part = end[1] - '0';
    for (*knob = 0; *knob < s->num_knobs; ++*knob) {
        const at_knob *k = s->knobs[*knob];
        if (k->kind != AT_KNOB_OPTION && strlen(k->name) == (size_t)(end - name) &&
            !strncmp(k->name, name, (size_t)(end - name)))
            return *part < k->parts;
    }
    return false;
}

static at_status resolve_name(reader *r, at_expr *e) {
    int knob = at_space_find_knob(r->space, e->name), part = 0;
    if (!strcmp(e->name, "true") || !strcmp(e->name, "false")) {
        e->op = AT_X_INT;
        e->integer = *e->name == 't';
        return AT_OK;
    }
    if (knob >= 0 && r->space->knobs[knob]->kind != AT_KNOB_OPTION)
        return at_lex_fail_at(
            r->lex, e->line, e->col, r->err, "%s has %d parts: %s_0 to %s_%d are numbers", e->name,
            r->space->knobs[knob]->parts, e->name, e->name, r->space->knobs[knob]->parts - 1);
    if (knob < 0 && !find_part(r->space, e->name, &knob, &part)) {
        for (int i = 0; i < r->num_constants; i++)
            if (!strcmp(r->constants[i].name, e->name)) {
                e->op = AT_X_INT;
                e->integer = r->constants[i].value;
                return AT_OK;
            }
        return unknown_name(r, e);
    }
    e->ref = add_leaf(r, knob, part);
    return AT_OK;
}

/* NAME == "text": the text becomes its place among the knob's values. */
static at_status resolve_text(reader *r, const at_expr *knob, at_expr *text) {
    const at_knob *k = knob->op == AT_X_NAME && knob->ref >= 0
                           ? r->space->knobs[r->out->leaves.data[knob->ref].knob]
                           : NULL;
    if (!k || !is_text(k))
        return fail(r, text, "a text is compared with a knob whose values are texts");
    for (int64_t i = 0; i < k->count; i++)
        if (!strcmp(k->options[i]->string, text->name)) {
            text->op = AT_X_INT;
            text->integer = i;
            return AT_OK;
        }
    at_text t = {0};
    for (int64_t i = 0; i < k->count; i++)
        at_text_addf(&t, "%s\"%s\"", i ? ", " : "", k->options[i]->string);
    at_status s = at_lex_fail_at(r->lex, text->line, text->col, r->err,
                                 "%s has no value \"%s\"; its values are %s", k->name, text->name,
                                 at_text_str(&t));
    at_text_free(&t);
    return s;
}

static bool reads_text(const reader *r, const at_expr *e) {
    return e->op == AT_X_NAME && e->ref >= 0 &&
           is_text(r->space->knobs[r->out->leaves.data[e->ref].knob]);
}

/* A value is worked out by functions that call themselves for each level. */
enum { DEEPEST = 1000 };

static at_status resolve(reader *r, at_expr *e, int depth) {
    bool equality = e->op == AT_X_EQ || e->op == AT_X_NE;
    if (e->op == AT_X_NAME) return resolve_name(r, e);
    if (depth == DEEPEST)
        return fail(r, e, "a condition has at most 1,000 operators in a row; write several");
    if (e->op == AT_X_FIELD || e->op == AT_X_INDEX || e->op == AT_X_EXTENT || e->op == AT_X_CALL)
        return fail(r, e, "a condition has knobs, their parts (NAME_0), sizes and numbers");
    if (e->op == AT_X_TEXT) return fail(r, e, "a text is compared with == or != only");
    for (int i = 0; i < e->nargs; i++)
        if (!equality || e->arg[i]->op != AT_X_TEXT) AT_TRY(resolve(r, e->arg[i], depth + 1));
    for (int i = 0; i < 2 && equality; i++)
        if (e->arg[i]->op == AT_X_TEXT) {
            AT_TRY(resolve_text(r, e->arg[!i], e->arg[i]));
            return AT_OK;
        }
    for (int i = 0; i < e->nargs; i++)
        if (reads_text(r, e->arg[i]) && !(equality && reads_text(r, e->arg[!i])))
            return fail(r, e->arg[i], "its values are texts, which are compared with == or !=");
    return AT_OK;
}

/* ---- declaring ------------------------------------------------------------------------------- */

static void note_knob(at_space *s, at_requirement *q, int knob) {
    for (int i = 0; i < q->knobs.len; i++)
        if (q->knobs.data[i] == knob) return;
    *at_push(s->arena, &q->knobs) = knob;
}

/* A condition on one knob alone is asked once; one on none is as good as on any. */
static void allow(at_space *s, const at_requirement *q) {
    const int knob = q->knobs.len ? q->knobs.data[0] : 0;
    const int64_t count = s->knobs[knob]->count;
    int64_t work = 0, *digits = AT_NEW_ARRAY(s->arena, int64_t, s->num_knobs);
    if (!s->allowed) s->allowed = AT_NEW_ARRAY(s->arena, bool *, s->num_knobs);
    bool *allowed = s->allowed[knob];
    if (!allowed) {
        allowed = s->allowed[knob] = AT_NEW_ARRAY(s->arena, bool, count);
        for (int64_t v = 0; v < count; v++) allowed[v] = true;
    }
    for (int64_t v = 0; v < count; v++) {
        bool holds;
        at_requirement_lanes(q, digits, knob, &v, 1, &holds, &work);
        allowed[v] &= holds;
    }
}

/* Both sides of an "and" are conditions of their own, which are asked the earlier the fewer knobs
 * they have. */
static at_status add(at_space *s, const at_lex *l, const at_constant *constants, int num_constants,
                     at_expr *e, int active_knob, at_error *err) {
    if (active_knob < 0 && e->op == AT_X_AND) {
        AT_TRY(add(s, l, constants, num_constants, e->arg[0], active_knob, err));
        return add(s, l, constants, num_constants, e->arg[1], active_knob, err);
    }
    at_requirement q = {.expr = e, .active_knob = active_knob};
    reader r = {s, l, constants, num_constants, err, &q};
    AT_TRY(resolve(&r, e, 0));
    if (active_knob >= 0) note_knob(s, &q, active_knob);
    for (int i = 0; i < q.leaves.len; i++) note_knob(s, &q, q.leaves.data[i].knob);
    if (q.knobs.len <= 1 && s->num_knobs) allow(s, &q);
    *at_push(s->arena, &s->requires) = q;
    s->len = -1;
    return AT_OK;
}

at_status at_space_require(at_space *s, int active_knob, const char *condition, const char *what,
                           const at_constant *constants, int num_constants, at_error *err) {
    at_lex l;
    at_expr *e;
    AT_TRY(at_lex_start(&l, condition, what, err));
    l.takes_texts = true;
    AT_TRY(at_expr_parse(s->arena, &l, &e, err));
    if (l.kind != AT_TOK_END) return at_lex_fail(&l, err, "expected an operator or the end");
    return add(s, &l, constants, num_constants, e, active_knob, err);
}

at_status at_space_settle(at_space *s, at_error *err) {
    enum { MOST_LISTED = 1 << 20 };
    if (!s->requires.len) return AT_OK;
    int64_t *list = malloc(sizeof *list * MOST_LISTED), num;
    AT_NEED(list);
    bool all = at_requires_list(s, list, MOST_LISTED, &num);
    if (all && num) at_space_only(s, list, num);
    free(list);
    if (num || (!all && at_requires_next(s, 0) >= 0)) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   all ? "no point of the space keeps all conditions (\"require\"): of %lld none "
                         "is valid"
                       : "no point that keeps all conditions (\"require\") was found among the "
                         "%lld of the space, in bounded time",
                   (long long)s->range);
}
