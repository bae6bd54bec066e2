/* schedule/compute_function.c: a function that a computation defines:
 *
 *   def gelu(v) = 0.5*v*(1 + erf(v*0.70710678))
 *
 * It has its parameters alone, so that it means the same wherever it is called. */
#include "schedule/schedule_int.h"

#include <string.h>

enum { MOST_FUNCTIONS = 256, MOST_PARAMS = 16 };

bool compute_is_reserved(const char *name) {
    static const char *const words[] = {"where", "sum", "min", "max", "pow"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return true;
    return false;
}

typedef AT_VEC(const char *) names;

static at_status take_new_name(at_arena *a, at_lex *l, const char *what, const char **out,
                               at_error *err) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, err, "expected %s", what);
    *out = at_strndup(a, l->start, (size_t)l->length);
    if (compute_is_reserved(*out) || at_function_find(*out) >= 0)
        return at_lex_fail_at(l, l->line, l->col, err,
                              "\"%s\" is a word of the notation and cannot be a name", *out);
    return at_lex_next(l, err);
}

static at_status take_params(at_arena *a, at_lex *l, names *out, at_error *err) {
    do {
        const at_lex at = *l;
        const char *name;
        AT_TRY(at_lex_next(l, err)); /* "(" or the comma */
        AT_TRY(take_new_name(a, l, "a parameter", &name, err));
        for (int i = 0; i < out->len; i++)
            if (!strcmp(out->data[i], name))
                return at_lex_fail_at(l, at.line, at.col, err, "parameter \"%s\" occurs twice",
                                      name);
        if (out->len == MOST_PARAMS)
            return at_lex_fail_at(l, at.line, at.col, err, "more than %d parameters", MOST_PARAMS);
        *at_push(a, out) = name;
    } while (at_lex_is(l, ","));
    if (!at_lex_is(l, ")")) return at_lex_fail(l, err, "expected ',' or ')'");
    return at_lex_next(l, err);
}

static bool is_other(const at_expr *e, const void *ctx) {
    const names *params = ctx;
    bool known = e->op == AT_X_NAME && !strcmp(e->name, "inf");
    known |=
        e->op != AT_X_NAME && e->op != AT_X_INDEX && e->op != AT_X_EXTENT && e->op != AT_X_FIELD;
    for (int i = 0; e->op == AT_X_NAME && i < params->len; i++)
        known |= !strcmp(params->data[i], e->name);
    return !known;
}

at_status compute_parse_function(at_arena *a, at_lex *l, at_text_functions *out, at_error *err) {
    at_text_function f;
    names params = {0};
    at_expr *body;
    AT_TRY(at_lex_next(l, err)); /* "def" */
    const at_lex named = *l;
    AT_TRY(take_new_name(a, l, "a function name", &f.name, err));
    if (at_text_function_find(out, f.name))
        return at_lex_fail_at(l, named.line, named.col, err, "function \"%s\" is defined twice",
                              f.name);
    if (out->list.len == MOST_FUNCTIONS)
        return at_lex_fail_at(l, named.line, named.col, err, "more than %d functions",
                              MOST_FUNCTIONS);
    if (!at_lex_is(l, "(")) return at_lex_fail(l, err, "expected '('");
    AT_TRY(take_params(a, l, &params, err));
    AT_TRY(at_lex_expect(l, "=", err));
    AT_TRY(at_expr_parse(a, l, &body, err));
    const at_expr *other = at_expr_find(body, is_other, &params);
    if (other)
        return at_lex_fail_at(l, other->line, other->col, err,
                              "\"%s\" is no parameter of %s, and a function has nothing else",
                              other->name, f.name);
    f.num_params = params.len;
    f.params = params.data;
    f.body = body;
    *at_push(a, &out->list) = f;
    return AT_OK;
}
