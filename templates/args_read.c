/* templates/args_read.c: arguments given by name: "N=10,strides=[2, 1],padding=SAME". */
#include "base/json_value.h"
#include "templates/template_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    at_template *t;
    bool *seen; /* [args.len] */
    at_error *err;
} reader;

static at_status unknown_arg(reader *r, const char *name, int length) {
    at_text names = {0};
    const char **all = AT_NEW_ARRAY(r->t->arena, const char *, r->t->args.len);
    for (int i = 0; i < r->t->args.len; i++) all[i] = r->t->args.data[i].name;
    at_text_add_names(&names, at_strndup(r->t->arena, name, (size_t)length), all, r->t->args.len);
    at_status s = at_fail(r->err, AT_E_USAGE, "--args: unknown argument \"%.*s\"; %s has %s",
                          length, name, r->t->row->name, at_text_str(&names));
    at_text_free(&names);
    return s;
}

static void trim(const char **p, const char **end) {
    while (*p < *end && isspace((unsigned char)**p)) ++*p;
    while (*p < *end && isspace((unsigned char)(*end)[-1])) --*end;
}

/* A number as people write it; at_arg_take judges what it is. */
static at_status read_number(reader *r, arg *a, const char *value, const char *item) {
    char *rest;
    const char *digits = value + (*value == '-' || *value == '+');
    double number = strtod(value, &rest);
    if (*rest || !isdigit((unsigned char)*digits))
        return at_fail(r->err, AT_E_USAGE,
                       "--args: \"%s\" is not a number; an argument is a whole number from %lld on",
                       item, (long long)a->least);
    long long v = strtoll(value, &rest, 10); /* out of range: the nearest */
    at_json json = {.kind = AT_JSON_NUMBER,
                    .is_int = !*rest,
                    .integer = v,
                    .number = *rest ? number : (double)v};
    return at_arg_take(r->t, a, &json, value, r->err);
}

/* JSON, or a bare word for a text. */
static at_status read_form(reader *r, arg *a, const char *value) {
    const at_json *json;
    if (isalpha((unsigned char)*value)) {
        json = at_json_new_string(r->t->arena, value);
    } else if (at_json_parse(r->t->arena, value, strlen(value), &json, r->err) != AT_OK) {
        if (r->err) r->err->status = AT_E_USAGE, at_fail_at(r->err, "--args: %s: ", a->name);
        return AT_E_USAGE;
    }
    return at_arg_take(r->t, a, json, value, r->err);
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
    arg *a = at_args_find(r->t, name, (size_t)(name_end - name));
    if (!a) return unknown_arg(r, name, (int)(name_end - name));
    bool *seen = &r->seen[a - r->t->args.data];
    if (*seen) return at_fail(r->err, AT_E_USAGE, "--args: %s is given twice", a->name);
    *seen = a->given = true;
    const char *text = at_strndup(r->t->arena, value, (size_t)(value_end - value));
    if (a->kind != ARG_NUMBER) return read_form(r, a, text);
    return read_number(r, a, text, at_strndup(r->t->arena, p, (size_t)(end - p)));
}

/* The comma behind a value, which may be an array or a text; or the end. */
static const char *value_end(const char *p) {
    int depth = 0;
    bool quoted = false;
    for (; *p; p++) {
        if (*p == '"') quoted = !quoted;
        if (quoted) continue;
        if (*p == '[') depth++;
        if (*p == ']') depth--;
        if (*p == ',' && depth <= 0) break;
    }
    return p;
}

at_status at_args_read(at_template *t, const char *text, at_error *err) {
    reader r = {.t = t, .seen = AT_NEW_ARRAY(t->arena, bool, t->args.len), .err = err};
    if (!text) return AT_OK;
    while (isspace((unsigned char)*text)) text++;
    if (!*text) return AT_OK;
    if (*text == '[') return at_args_read_array(t, text, err);
    for (const char *p = text;; p++) {
        const char *end = value_end(p);
        AT_TRY(read_named(&r, p, end));
        if (!*end) return AT_OK;
        p = end;
    }
}
