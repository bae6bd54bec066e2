/* templates/args.c: a task's arguments, given by name or as the JSON array of a record. */
#include "templates/template_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Records are JSON: beyond this, numbers are no longer exact there. */
#define LARGEST ((int64_t)1 << 53)

/* ---- the row's own texts --------------------------------------------------------------------- */

static at_status declare_one(at_template *t, at_lex *l, at_error *err) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, err, "expected a name");
    const char *name = at_strndup(t->arena, l->start, (size_t)l->length);
    if (at_symbol_find(&t->symbols, name) >= 0)
        return at_lex_fail_at(l, l->line, l->col, err, "a second \"%s\"", name);
    AT_TRY(at_lex_next(l, err));
    if (!at_lex_is(l, "=")) return at_lex_fail(l, err, "expected '='");
    AT_TRY(at_lex_next(l, err));
    if (l->kind != AT_TOK_INT || l->integer < 1 || l->integer > LARGEST)
        return at_lex_fail(l, err, "expected a whole number from 1 on");
    at_template_symbol(t, name, l->integer, false);
    t->num_args++;
    return at_lex_next(l, err);
}

at_status at_args_declare(at_template *t, at_error *err) {
    at_lex l;
    AT_TRY(at_lex_start(&l, t->row->args, at_format(t->arena, "args of %s", t->row->name), err));
    while (l.kind != AT_TOK_END) {
        AT_TRY(declare_one(t, &l, err));
        if (l.kind == AT_TOK_END) return AT_OK;
        if (!at_lex_is(&l, ",")) return at_lex_fail(&l, err, "expected ','");
        AT_TRY(at_lex_next(&l, err));
    }
    return AT_OK;
}

/* The slot of the argument that this token names; -1 if none. */
static int arg_slot(const at_template *t, const char *name, size_t n) {
    for (int i = 0; i < t->num_args; i++) {
        const char *have = t->symbols.names.data[i];
        if (strlen(have) == n && !memcmp(have, name, n)) return i;
    }
    return -1;
}

const char *at_args_text(const at_template *t) {
    at_text text = {0};
    for (int i = 0; i < t->num_args; i++)
        at_text_addf(&text, "%s%s=%lld", i ? "," : "", t->symbols.names.data[i],
                     (long long)t->values.data[i].value);
    char *copy = at_strdup(t->arena, at_text_str(&text));
    at_text_free(&text);
    return copy;
}

/* The record's pattern with values for names is the record's JSON. */
at_status at_args_json(at_template *t, const at_json **out, at_error *err) {
    const char *what = at_format(t->arena, "record_args of %s", t->row->name);
    at_lex l;
    at_text text = {0};
    at_status s = at_lex_start(&l, t->row->record_args, what, err);
    for (; s == AT_OK && l.kind != AT_TOK_END; s = at_lex_next(&l, err)) {
        int slot = l.kind == AT_TOK_NAME ? arg_slot(t, l.start, (size_t)l.length) : -1;
        if (slot >= 0) at_text_addf(&text, "%lld", (long long)t->values.data[slot].value);
        else at_text_addn(&text, l.start, (size_t)l.length);
    }
    if (s == AT_OK) {
        s = at_json_parse(t->arena, at_text_str(&text), text.len, out, err);
        if (s != AT_OK) at_fail_at(err, "%s: ", what);
        else if ((*out)->kind != AT_JSON_ARRAY)
            s = at_fail(err, AT_E_INPUT, "%s: expected an array", what);
    }
    at_text_free(&text);
    return s;
}

/* ---- the user's ------------------------------------------------------------------------------ */

typedef struct reader {
    at_template *t;
    bool *given; /* [num_args] */
    at_lex pattern;
    at_error *err;
} reader;

static at_status not_whole(reader *r, const char *name, const char *value, int length) {
    return at_fail(r->err, AT_E_USAGE, "--args: %s = %.*s; an argument is a whole number from 1 on",
                   name, length, value);
}

static at_status too_large(reader *r, const char *name, const char *value, int length) {
    return at_fail(r->err, AT_E_USAGE, "--args: %s = %.*s exceeds 2^53", name, length, value);
}

static at_status unknown_arg(reader *r, const char *name, int length) {
    at_text names = {0};
    for (int i = 0; i < r->t->num_args; i++)
        at_text_addf(&names, "%s%s", i ? ", " : "", r->t->symbols.names.data[i]);
    at_status s = at_fail(r->err, AT_E_USAGE, "--args: unknown argument \"%.*s\"; %s has %s",
                          length, name, r->t->row->name, at_text_str(&names));
    at_text_free(&names);
    return s;
}

static void trim(const char **p, const char **end) {
    while (*p < *end && isspace((unsigned char)**p)) ++*p;
    while (*p < *end && isspace((unsigned char)(*end)[-1])) --*end;
}

static at_status read_value(reader *r, int slot, const char *p, int length, const char *item,
                            int item_length) {
    const char *name = r->t->symbols.names.data[slot];
    char *value = at_strndup(r->t->arena, p, (size_t)length), *rest;
    const char *digits = value + (*value == '-' || *value == '+');
    strtod(value, &rest);
    if (*rest || !isdigit((unsigned char)*digits))
        return at_fail(r->err, AT_E_USAGE,
                       "--args: \"%.*s\" is not a number; an argument is a whole number from 1 on",
                       item_length, item);
    long long v = strtoll(value, &rest, 10); /* out of range: the nearest */
    if (*rest || v < 1) return not_whole(r, name, p, length);
    if (v > LARGEST) return too_large(r, name, p, length);
    r->t->values.data[slot].value = v;
    return AT_OK;
}

/* One "name=value". */
static at_status read_named(reader *r, const char *p, const char *end) {
    trim(&p, &end);
    const char *equals = memchr(p, '=', (size_t)(end - p));
    if (!equals)
        return at_fail(r->err, AT_E_USAGE, "--args: \"%.*s\" has no value; NAME=NUMBER is accepted",
                       (int)(end - p), p);
    const char *name = p, *name_end = equals, *value = equals + 1, *value_end = end;
    trim(&name, &name_end);
    trim(&value, &value_end);
    int slot = arg_slot(r->t, name, (size_t)(name_end - name));
    if (slot < 0) return unknown_arg(r, name, (int)(name_end - name));
    if (r->given[slot])
        return at_fail(r->err, AT_E_USAGE, "--args: %s is given twice",
                       r->t->symbols.names.data[slot]);
    r->given[slot] = true;
    return read_value(r, slot, value, (int)(value_end - value), p, (int)(end - p));
}

static at_status read_names(reader *r, const char *text) {
    for (const char *p = text;; p++) {
        const char *end = p + strcspn(p, ",");
        AT_TRY(read_named(r, p, end));
        if (!*end) return AT_OK;
        p = end;
    }
}

static const char *json_text(reader *r, const at_json *v) {
    at_text text = {0};
    at_json_print(&text, v);
    const char *copy = at_strdup(r->t->arena, at_text_str(&text));
    at_text_free(&text);
    return copy;
}

/* place: "6", or "1.3" within item 1; "" for all of it. */
static at_status unfit(reader *r, const char *place, const char *problem, const at_json *v) {
    const char *item = *place ? at_format(r->t->arena, "item %s", place) : json_text(r, v);
    return at_fail(r->err, AT_E_USAGE, "--args: %s %s; %s takes %s", item, problem, r->t->row->name,
                   r->t->row->record_args);
}

static at_status is_instead(reader *r, const char *place, const at_json *v) {
    return unfit(r, place, at_format(r->t->arena, "is %s", json_text(r, v)), v);
}

static at_status read_number(reader *r, int slot, const at_json *v) {
    const char *name = r->t->symbols.names.data[slot], *text = json_text(r, v);
    symbol *arg = &r->t->values.data[slot];
    if (v->kind != AT_JSON_NUMBER || !v->is_int || v->number < 1)
        return not_whole(r, name, text, (int)strlen(text));
    if (v->number > (double)LARGEST) return too_large(r, name, text, (int)strlen(text));
    if (r->given[slot] && arg->value != v->integer)
        return at_fail(r->err, AT_E_USAGE, "--args: %s = %s, but %lld before", name, text,
                       (long long)arg->value);
    arg->value = v->integer;
    r->given[slot] = true;
    return AT_OK;
}

static bool same_scalar(const at_json *x, const at_json *y) {
    if (x->kind != y->kind) return false;
    switch (x->kind) {
    case AT_JSON_STRING: return !strcmp(x->string, y->string);
    case AT_JSON_NUMBER: return x->number == y->number;
    case AT_JSON_BOOL: return x->boolean == y->boolean;
    default: return x->kind == AT_JSON_NULL;
    }
}

/* The pattern, its JSON with other values, and what was given, side by side. */
static at_status match(reader *r, const char *place, const at_json *own, const at_json *v) {
    at_lex *l = &r->pattern;
    if (own->kind != AT_JSON_ARRAY) {
        int slot = l->kind == AT_TOK_NAME ? arg_slot(r->t, l->start, (size_t)l->length) : -1;
        if (slot >= 0) AT_TRY(read_number(r, slot, v));
        else if (!same_scalar(own, v)) return is_instead(r, place, v);
        if (at_lex_is(l, "-")) AT_TRY(at_lex_next(l, r->err)); /* -1 is two tokens */
        return at_lex_next(l, r->err);
    }
    if (v->kind != AT_JSON_ARRAY) return is_instead(r, place, v);
    if (v->count != own->count)
        return unfit(r, place,
                     at_format(r->t->arena, "has %d item%s instead of %d", v->count,
                               v->count == 1 ? "" : "s", own->count),
                     v);
    AT_TRY(at_lex_next(l, r->err)); /* the bracket */
    v = v->child;
    int number = 1;
    for (const at_json *o = own->child; o; o = o->next, v = v->next, number++) {
        const char *inner = at_format(r->t->arena, "%s%s%d", place, *place ? "." : "", number);
        AT_TRY(match(r, inner, o, v));
        AT_TRY(at_lex_next(l, r->err)); /* a comma, or the closing bracket */
    }
    return own->child ? AT_OK : at_lex_next(l, r->err);
}

static at_status read_array(reader *r, const char *text) {
    const at_json *given, *own;
    if (at_json_parse(r->t->arena, text, strlen(text), &given, r->err) != AT_OK) {
        if (r->err) r->err->status = AT_E_USAGE, at_fail_at(r->err, "--args: ");
        return AT_E_USAGE;
    }
    AT_TRY(at_args_json(r->t, &own, r->err));
    AT_TRY(at_lex_start(&r->pattern, r->t->row->record_args, "record_args", r->err));
    return match(r, "", own, given);
}

at_status at_args_read(at_template *t, const char *text, at_error *err) {
    reader r = {.t = t, .given = AT_NEW_ARRAY(t->arena, bool, t->num_args), .err = err};
    if (!text) return AT_OK;
    while (isspace((unsigned char)*text)) text++;
    if (!*text) return AT_OK;
    return *text == '[' ? read_array(&r, text) : read_names(&r, text);
}
