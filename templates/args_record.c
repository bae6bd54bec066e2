/* templates/args_record.c: arguments as the JSON array of a record.
 *
 *   record_args := form ("|" form)*
 *   form        := JSON array in which an argument's name, or name "/" name, or name "/" INTEGER,
 *                  stands for its value
 *                  ["with" name "=" value ("," name "=" value)*]
 *   value       := INTEGER | STRING
 *
 * An array is read by the first form that fits it, which sets what stands behind `with`; arguments
 * are written by the first form whose `with` holds. "IC/ib" is the quotient of two arguments,
 * "N/16" a part of one. */
#include "base/json_value.h"
#include "templates/template_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct condition {
    arg *of;
    int64_t value;
    const at_json *word; /* of a text */
} condition;

typedef struct form {
    const at_json *pattern; /* arguments are texts that begin with MARK */
    AT_VEC(condition) with;
} form;

typedef AT_VEC(form) forms;

/* No text of a record begins so. */
#define MARK '\001'

/* ---- the row's text -------------------------------------------------------------------------- */

/* A name, and what it is divided by. */
static at_status add_argument(at_template *t, at_lex *l, at_text *json, at_error *err) {
    at_text_addf(json, "\"\\u0001%.*s", l->length, l->start);
    AT_TRY(at_lex_next(l, err));
    if (at_lex_is(l, "/")) {
        AT_TRY(at_lex_next(l, err));
        if (l->kind != AT_TOK_INT &&
            (l->kind != AT_TOK_NAME || !at_args_find(t, l->start, (size_t)l->length)))
            return at_lex_fail(l, err, "expected an argument or a whole number");
        at_text_addf(json, "/%.*s", l->length, l->start);
        AT_TRY(at_lex_next(l, err));
    }
    at_text_add(json, "\"");
    return AT_OK;
}

static at_status take_pattern(at_template *t, at_lex *l, at_text *json, at_error *err) {
    while (l->kind != AT_TOK_END && !at_lex_is(l, "|") && !at_lex_is(l, "with")) {
        if (l->kind == AT_TOK_NAME && at_args_find(t, l->start, (size_t)l->length)) {
            AT_TRY(add_argument(t, l, json, err));
            continue;
        }
        at_text_addn(json, l->start, (size_t)l->length);
        AT_TRY(at_lex_next(l, err));
    }
    return AT_OK;
}

static at_status take_value(at_template *t, at_lex *l, condition *c, at_error *err) {
    if (c->of->kind == ARG_TEXT)
        return l->kind == AT_TOK_STRING
                   ? at_json_parse(t->arena, l->start, (size_t)l->length, &c->word, err)
                   : at_lex_fail(l, err, "expected a text");
    if (l->kind != AT_TOK_INT) return at_lex_fail(l, err, "expected a whole number");
    c->value = l->integer;
    return AT_OK;
}

static at_status take_conditions(at_template *t, at_lex *l, form *f, at_error *err) {
    do {
        AT_TRY(at_lex_next(l, err));
        condition c = {.of = at_args_find(t, l->start, (size_t)l->length)};
        if (!c.of || c.of->kind == ARG_TUPLE)
            return at_lex_fail(l, err, "expected an argument that is a number or a text");
        AT_TRY(at_lex_next(l, err));
        if (!at_lex_is(l, "=")) return at_lex_fail(l, err, "expected '='");
        AT_TRY(at_lex_next(l, err));
        AT_TRY(take_value(t, l, &c, err));
        *at_push(t->arena, &f->with) = c;
        AT_TRY(at_lex_next(l, err));
    } while (at_lex_is(l, ","));
    return AT_OK;
}

static at_status take_form(at_template *t, at_lex *l, const char *what, form *f, at_error *err) {
    at_text json = {0};
    at_status s = take_pattern(t, l, &json, err);
    if (s == AT_OK) {
        s = at_json_parse(t->arena, at_text_str(&json), json.len, &f->pattern, err);
        if (s != AT_OK && err) at_fail_at(err, "%s: ", what);
    }
    at_text_free(&json);
    AT_TRY(s);
    if (f->pattern->kind != AT_JSON_ARRAY)
        return at_fail(err, AT_E_INPUT, "%s: expected an array", what);
    return at_lex_is(l, "with") ? take_conditions(t, l, f, err) : AT_OK;
}

/* What an argument is divided by: another one, or a number; neither: by nothing. */
typedef struct divisor {
    const arg *of;
    int64_t number;
} divisor;

static bool divides(const divisor *d) { return d->of || d->number; }

static int64_t divisor_value(const at_template *t, const divisor *d) {
    return d->of ? t->values.data[d->of->slot].value : d->number ? d->number : 1;
}

/* The arguments that a text of a pattern names; NULL where it is a text of the record. */
static arg *named(at_template *t, const at_json *pattern, divisor *by) {
    *by = (divisor){0};
    if (pattern->kind != AT_JSON_STRING || *pattern->string != MARK) return NULL;
    const char *name = pattern->string + 1, *slash = strchr(name, '/');
    if (slash) by->of = at_args_find(t, slash + 1, strlen(slash + 1));
    if (slash && !by->of) by->number = strtoll(slash + 1, NULL, 10);
    return at_args_find(t, name, slash ? (size_t)(slash - name) : strlen(name));
}

static bool holds_argument(at_template *t, const at_json *pattern, const arg *a) {
    divisor by;
    if (named(t, pattern, &by) == a) return true;
    for (const at_json *p = pattern->child; p; p = p->next)
        if (holds_argument(t, p, a)) return true;
    return false;
}

/* Records of tasks that differ in an argument must differ. */
static at_status check_form(at_template *t, const form *f, int number, at_error *err) {
    for (int i = 0; i < t->args.len; i++) {
        const arg *a = &t->args.data[i];
        bool there = holds_argument(t, f->pattern, a);
        for (int w = 0; w < f->with.len; w++) there |= f->with.data[w].of == a;
        if (!there)
            return at_fail(err, AT_E_INPUT,
                           "record_args of %s: form %d lacks the argument \"%s\": records of tasks "
                           "that differ in it would be the same",
                           t->row->name, number, a->name);
    }
    return AT_OK;
}

static at_status parse_forms(at_template *t, forms *out, at_error *err) {
    const char *what = at_format(t->arena, "record_args of %s", t->row->name);
    at_lex l;
    AT_TRY(at_lex_start(&l, t->row->record_args, what, err));
    for (;;) {
        form f = {0};
        AT_TRY(take_form(t, &l, what, &f, err));
        AT_TRY(check_form(t, &f, out->len + 1, err));
        *at_push(t->arena, out) = f;
        if (l.kind == AT_TOK_END) return AT_OK;
        if (!at_lex_is(&l, "|")) return at_lex_fail(&l, err, "expected '|'");
        AT_TRY(at_lex_next(&l, err));
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_value(at_template *t, at_text *out, const at_json *pattern) {
    divisor d;
    const arg *a = named(t, pattern, &d);
    if (a && a->kind != ARG_NUMBER) at_arg_print(t, a, true, out);
    else if (a) {
        int64_t value = t->values.data[a->slot].value;
        int64_t by = divisor_value(t, &d);
        at_text_addf(out, "%lld", (long long)(by ? value / by : 0));
    } else if (pattern->kind == AT_JSON_ARRAY) {
        at_text_add(out, "[");
        for (const at_json *p = pattern->child; p; p = p->next) {
            add_value(t, out, p);
            if (p->next) at_text_add(out, ", ");
        }
        at_text_add(out, "]");
    } else at_json_print(out, pattern);
}

static bool holds(const at_template *t, const form *f) {
    for (int i = 0; i < f->with.len; i++) {
        const condition *c = &f->with.data[i];
        if (c->word ? strcmp(c->of->form->string, c->word->string) != 0
                    : t->values.data[c->of->slot].value != c->value)
            return false;
    }
    return true;
}

at_status at_args_json(at_template *t, const at_json **out, at_error *err) {
    forms all = {0};
    at_text text = {0};
    AT_TRY(parse_forms(t, &all, err));
    for (int i = 0; i < all.len; i++) {
        if (!holds(t, &all.data[i])) continue;
        add_value(t, &text, all.data[i].pattern);
        at_status s = at_json_parse(t->arena, at_text_str(&text), text.len, out, err);
        at_text_free(&text);
        return s;
    }
    return at_fail(err, AT_E_USAGE, "--args: no record of %s has %s; it takes %s", t->row->name,
                   at_args_text(t), t->row->record_args);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct quotient {
    arg *of;
    divisor by;
    int64_t value;
} quotient;

typedef struct matcher {
    at_template *t;
    AT_VEC(quotient) quotients;
    int matched; /* leaves, for choosing the message of the form that fits best */
    at_error *err;
} matcher;

/* place: "6", or "1.3" within item 1; "" for all of it. */
static at_status unfit(matcher *m, const char *place, const char *problem, const at_json *v) {
    const char *item =
        *place ? at_format(m->t->arena, "item %s", place) : at_json_text(m->t->arena, v);
    return at_fail(m->err, AT_E_USAGE, "--args: %s %s; %s takes %s", item, problem, m->t->row->name,
                   m->t->row->record_args);
}

static at_status is_instead(matcher *m, const char *place, const at_json *v) {
    return unfit(m, place, at_format(m->t->arena, "is %s", at_json_text(m->t->arena, v)), v);
}

/* A truth of the pattern is 0 or 1 once it has been through a log. */
static bool same_scalar(const at_json *x, const at_json *y) {
    if (x->kind == AT_JSON_BOOL && y->kind == AT_JSON_NUMBER) return y->number == x->boolean;
    if (x->kind != y->kind) return false;
    switch (x->kind) {
    case AT_JSON_STRING: return !strcmp(x->string, y->string);
    case AT_JSON_NUMBER: return x->number == y->number;
    case AT_JSON_BOOL: return x->boolean == y->boolean;
    default: return x->kind == AT_JSON_NULL;
    }
}

/* A number that stands in two places of a record must be the same in both. */
static at_status set(matcher *m, arg *a, const at_json *v) {
    const char *text = at_json_text(m->t->arena, v);
    int64_t before = a->num_slots ? m->t->values.data[a->slot].value : 0;
    AT_TRY(at_arg_take(m->t, a, v, text, m->err));
    if (a->given && a->kind == ARG_NUMBER && m->t->values.data[a->slot].value != before)
        return at_fail(m->err, AT_E_USAGE, "--args: %s = %s, but %lld before", a->name, text,
                       (long long)before);
    a->given = true;
    return AT_OK;
}

static at_status set_whole(matcher *m, arg *a, int64_t value) {
    return set(m, a, at_json_new_int(m->t->arena, value));
}

/* A number of a pattern stands for an array of such, too: strides of 1 for [1, 1]. */
static bool same_numbers(const at_json *pattern, const at_json *v) {
    bool all = pattern->kind == AT_JSON_NUMBER && v->kind == AT_JSON_ARRAY && v->count;
    for (const at_json *x = all ? v->child : NULL; x && all; x = x->next)
        all = same_scalar(pattern, x);
    return all;
}

static at_status match(matcher *m, const char *place, const at_json *pattern, const at_json *v) {
    divisor by;
    arg *a = named(m->t, pattern, &by);
    if (a && divides(&by)) {
        if (v->kind != AT_JSON_NUMBER || !v->is_int || v->integer < 1)
            return is_instead(m, place, v);
        *at_push(m->t->arena, &m->quotients) = (quotient){a, by, v->integer};
    } else if (a) AT_TRY(set(m, a, v));
    else if (pattern->kind != AT_JSON_ARRAY) {
        if (!same_scalar(pattern, v) && !same_numbers(pattern, v)) return is_instead(m, place, v);
    } else {
        if (v->kind != AT_JSON_ARRAY) return is_instead(m, place, v);
        if (v->count != pattern->count)
            return unfit(m, place,
                         at_format(m->t->arena, "has %d item%s instead of %d", v->count,
                                   at_plural(v->count), pattern->count),
                         v);
        v = v->child;
        int number = 1;
        for (const at_json *p = pattern->child; p; p = p->next, v = v->next, number++)
            AT_TRY(
                match(m, at_format(m->t->arena, "%s%s%d", place, *place ? "." : "", number), p, v));
    }
    m->matched++;
    return AT_OK;
}

static at_status match_form(matcher *m, const form *f, const at_json *v) {
    for (int i = 0; i < f->with.len; i++) {
        const condition *c = &f->with.data[i];
        if (c->word) c->of->form = c->word;
        else m->t->values.data[c->of->slot].value = c->value;
    }
    AT_TRY(match(m, "", f->pattern, v));
    for (int i = 0; i < m->quotients.len; i++) {
        const quotient *q = &m->quotients.data[i];
        int64_t by = divisor_value(m->t, &q->by), value;
        if (!at_mul64(q->value, by, &value))
            return at_fail(m->err, AT_E_USAGE, "--args: %s = %lld*%lld exceeds 2^53", q->of->name,
                           (long long)q->value, (long long)by);
        AT_TRY(set_whole(m, q->of, value));
    }
    return AT_OK;
}

at_status at_args_read_array(at_template *t, const char *text, at_error *err) {
    const at_json *v;
    if (at_json_parse(t->arena, text, strlen(text), &v, err) != AT_OK) {
        if (err) err->status = AT_E_USAGE, at_fail_at(err, "--args: ");
        return AT_E_USAGE;
    }
    forms all = {0};
    AT_TRY(parse_forms(t, &all, err));
    const symbol *values =
        at_copy(t->arena, t->values.data, sizeof *values * (size_t)t->values.len);
    const arg *args = at_copy(t->arena, t->args.data, sizeof *args * (size_t)t->args.len);
    int furthest = -1;
    for (int i = 0; i < all.len; i++) {
        at_error why;
        matcher m = {.t = t, .err = &why};
        for (int k = 0; k < t->values.len; k++) t->values.data[k] = values[k];
        for (int k = 0; k < t->args.len; k++) t->args.data[k] = args[k];
        if (match_form(&m, &all.data[i], v) == AT_OK) return AT_OK;
        if (m.matched <= furthest) continue;
        furthest = m.matched;
        if (err) *err = why;
    }
    return AT_E_USAGE;
}
