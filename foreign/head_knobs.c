/* foreign/head_knobs.c: knobs of a head: `knob NAME = VALUES [if CONDITION]`, `split NAME of AXIS
 * into N`, `order NAME of N`; and their default. */
#include <string.h>

#include "foreign/foreign_int.h"

enum { MOST_VALUES = 1 << 16, MOST_PARTS = 8, MOST_LOOPS = 8 };

static const at_head_knob *find(const at_head *h, const char *name, size_t length) {
    for (int i = 0; i < h->knobs.len; i++)
        if (strlen(h->knobs.data[i].name) == length &&
            !strncmp(h->knobs.data[i].name, name, length))
            return &h->knobs.data[i];
    return NULL;
}

/* Knobs become macros: names of C are none. */
static at_status take_name(at_head *h, at_lex *l, at_head_knob *k, at_error *err) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, err, "expected a knob's name");
    if (find(h, l->start, (size_t)l->length))
        return at_lex_fail(l, err, "a second knob \"%.*s\"", l->length, l->start);
    k->name = at_strndup(h->arena, l->start, (size_t)l->length);
    const char *fault = at_c_name_fault(k->name);
    if (fault) return at_lex_fail(l, err, "a knob is a macro; \"%s\" is %s", k->name, fault);
    return at_lex_next(l, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct values {
    at_text json;
    int num;
    at_token kind; /* of the first: a text, a name (true, false) or a number */
} values;

static at_status add_value(at_lex *l, values *v, at_error *err) {
    bool minus = at_lex_is(l, "-");
    if (minus) AT_TRY(at_lex_next(l, err));
    at_token kind = l->kind == AT_TOK_FLOAT ? AT_TOK_INT : l->kind;
    bool is_truth = at_lex_is(l, "true") || at_lex_is(l, "false");
    if ((kind != AT_TOK_INT && kind != AT_TOK_STRING && !is_truth) || (minus && kind != AT_TOK_INT))
        return at_lex_fail(l, err, "expected a number, true, false or a \"text\"");
    if (v->num && kind != v->kind)
        return at_lex_fail(l, err,
                           "values of a knob are all numbers, all texts, or true and false");
    if (v->num == MOST_VALUES) return at_lex_fail(l, err, "more than %d values", MOST_VALUES);
    at_text_add(&v->json, v->num++ ? ", " : "[");
    v->kind = kind;
    if (kind == AT_TOK_STRING) {
        char text[256];
        if (l->length - 2 >= (int)sizeof text) return at_lex_fail(l, err, "a text is too long");
        snprintf(text, sizeof text, "%.*s", l->length - 2, l->start + 1);
        at_text_add_json_string(&v->json, text);
    } else if (l->kind == AT_TOK_FLOAT)
        at_text_add_double(&v->json, minus ? -l->number : l->number);
    else at_text_addf(&v->json, "%s%.*s", minus ? "-" : "", l->length, l->start);
    return at_lex_next(l, err);
}

/* A..B: all whole numbers between. */
static at_status add_range(at_lex *l, values *v, int64_t first, at_error *err) {
    if (l->kind != AT_TOK_INT) return at_lex_fail(l, err, "expected a whole number");
    if (l->integer <= first || l->integer - first > MOST_VALUES)
        return at_lex_fail(l, err, "a range goes from a number to a larger one, at most %d further",
                           MOST_VALUES);
    for (int64_t i = first + 1; i <= l->integer; i++, v->num++)
        at_text_addf(&v->json, ", %lld", (long long)i);
    return at_lex_next(l, err);
}

static at_status read_values(at_lex *l, values *v, at_error *err) {
    while (l->kind != AT_TOK_END && !at_lex_is(l, "if")) {
        int64_t first = l->integer;
        bool whole = l->kind == AT_TOK_INT;
        AT_TRY(add_value(l, v, err));
        if (whole && at_lex_is(l, "..")) {
            AT_TRY(at_lex_next(l, err));
            AT_TRY(add_range(l, v, first, err));
        }
        if (at_lex_is(l, ",")) AT_TRY(at_lex_next(l, err));
    }
    if (!v->num) return at_lex_fail(l, err, "expected values: 8 16 32");
    at_text_add(&v->json, "]");
    return AT_OK;
}

/* A value that stands twice would be tried twice. */
static at_status check_once(at_head *h, const at_lex *l, const at_head_knob *k, at_error *err) {
    const at_json *list;
    AT_TRY(at_json_parse(h->arena, k->values, strlen(k->values), &list, err));
    const char **texts = AT_NEW_ARRAY(h->arena, const char *, list->count);
    int n = 0;
    for (const at_json *x = list->child; x; x = x->next) texts[n++] = at_json_text(h->arena, x);
    for (int i = 0; i < n; i++)
        for (int m = i + 1; m < n; m++)
            if (!strcmp(texts[i], texts[m]))
                return at_lex_fail_at(l, k->line, 1, err, "knob %s has the value %s twice", k->name,
                                      texts[i]);
    return AT_OK;
}

/* ---- the items ------------------------------------------------------------------------------- */

static at_status read_option(at_head *h, at_lex *l, at_head_knob *k, at_error *err) {
    enum { COMPARED = 512 };
    values v = {0};
    AT_TRY(at_lex_expect(l, "=", err));
    at_status s = read_values(l, &v, err);
    k->values = at_text_take(h->arena, &v.json);
    AT_TRY(s);
    return v.num <= COMPARED ? check_once(h, l, k, err) : AT_OK;
}

static at_status take_count(at_lex *l, int most, int *out, at_error *err) {
    if (l->kind != AT_TOK_INT || l->integer < 2 || l->integer > most)
        return at_lex_fail(l, err, "expected a number from 2 to %d", most);
    *out = (int)l->integer;
    return at_lex_next(l, err);
}

static at_status read_split(at_head *h, const at_head_item *x, at_lex *l, at_head_knob *k,
                            at_error *err) {
    at_expr *axis;
    AT_TRY(at_lex_expect(l, "of", err));
    at_lex from = *l;
    AT_TRY(at_expr_parse(h->arena, l, &axis, err));
    k->axis = at_head_rest(h, x->text, &from, l);
    AT_TRY(at_lex_expect(l, "into", err));
    return take_count(l, MOST_PARTS, &k->parts, err);
}

at_status at_head_knob_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    at_head_knob k = {.line = x->line};
    AT_TRY(at_head_start(h, x, &l, err));
    AT_TRY(take_name(h, &l, &k, err));
    if (x->word == HEAD_KNOB) AT_TRY(read_option(h, &l, &k, err));
    else if (x->word == HEAD_SPLIT) {
        k.kind = HEAD_PARTS;
        AT_TRY(read_split(h, x, &l, &k, err));
    } else {
        k.kind = HEAD_PERMUTATION;
        AT_TRY(at_lex_expect(&l, "of", err));
        AT_TRY(take_count(&l, MOST_LOOPS, &k.parts, err));
    }
    if (at_lex_is(&l, "if")) {
        at_expr *e;
        AT_TRY(at_lex_next(&l, err));
        at_lex from = l;
        AT_TRY(at_expr_parse(h->arena, &l, &e, err));
        k.condition = at_head_rest(h, x->text, &from, NULL);
    }
    if (l.kind != AT_TOK_END) return at_lex_fail(&l, err, "expected the end of the line, or if");
    *at_push(h->arena, &h->knobs) = k;
    return AT_OK;
}

/* ---- the default ----------------------------------------------------------------------------- */

static at_status not_a_value(const at_lex *at, const at_head_knob *k, at_error *err) {
    at_text list = {0};
    const char *v = k->values;
    at_text_addn(&list, v + 1, strlen(v) - 2 < 200 ? strlen(v) - 2 : 200);
    at_status s = at_lex_fail_at(at, at->line, at->col, err, "%s has no such value; there are %s",
                                 k->name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

static at_status option_default(at_head *h, at_lex *l, at_head_knob *k, at_error *err) {
    values v = {0};
    const at_lex at = *l;
    const at_json *list, *one = NULL;
    at_status s = add_value(l, &v, err);
    if (s == AT_OK) at_text_add(&v.json, "]");
    const char *text = at_text_take(h->arena, &v.json);
    AT_TRY(s);
    AT_TRY(at_json_parse(h->arena, k->values, strlen(k->values), &list, err));
    AT_TRY(at_json_parse(h->arena, text, strlen(text), &one, err));
    const char *wanted = at_json_text(h->arena, one->child);
    k->fallback = 0;
    for (const at_json *x = list->child; x; x = x->next, k->fallback++)
        if (!strcmp(at_json_text(h->arena, x), wanted)) return AT_OK;
    return not_a_value(&at, k, err);
}

/* [32, 4, 8], of which the first follows from the axis, and may be -1. */
static at_status split_default(at_lex *l, at_head_knob *k, at_error *err) {
    AT_TRY(at_lex_expect(l, "[", err));
    for (int i = 0; i < k->parts; i++) {
        bool minus = at_lex_is(l, "-");
        if (i) AT_TRY(at_lex_expect(l, ",", err));
        if (minus && !i) AT_TRY(at_lex_next(l, err));
        if (l->kind != AT_TOK_INT || l->integer < 1)
            return at_lex_fail(l, err, "expected %d sizes: [-1, 4, 8]", k->parts);
        if (i) k->default_[i - 1] = l->integer;
        AT_TRY(at_lex_next(l, err));
    }
    k->has_default = true;
    return at_lex_expect(l, "]", err);
}

at_status at_head_default_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    AT_TRY(at_head_start(h, x, &l, err));
    h->has_defaults = true;
    for (;;) {
        at_head_knob *k =
            l.kind == AT_TOK_NAME ? (at_head_knob *)find(h, l.start, (size_t)l.length) : NULL;
        if (!k) return at_lex_fail(&l, err, "expected a knob that stands above");
        AT_TRY(at_lex_next(&l, err));
        AT_TRY(at_lex_expect(&l, "=", err));
        if (k->kind == HEAD_PERMUTATION)
            return at_lex_fail(&l, err, "the default of an order is 0, 1, 2, ...");
        AT_TRY(k->kind == HEAD_PARTS ? split_default(&l, k, err) : option_default(h, &l, k, err));
        if (l.kind == AT_TOK_END) return AT_OK;
        if (at_lex_is(&l, ",")) AT_TRY(at_lex_next(&l, err));
    }
}
