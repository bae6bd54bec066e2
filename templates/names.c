/* templates/names.c: the names of a template being defined, and expressions over them. */
#include "templates/template_int.h"

int at_template_symbol(at_template *t, const char *name, int64_t value, bool varies) {
    int slot = at_symbol_add(t->arena, &t->symbols, name);
    AT_ASSERT(slot == t->values.len);
    *at_push(t->arena, &t->values) = (symbol){value, varies};
    return slot;
}

static at_status unknown_name(at_template *t, const at_lex *l, const at_expr *e) {
    const char *near = at_nearest(e->name, t->symbols.names.data, t->symbols.names.len);
    if (!near) return at_lex_fail_at(l, e->line, e->col, &t->err, "unknown name \"%s\"", e->name);
    return at_lex_fail_at(l, e->line, e->col, &t->err, "unknown name \"%s\"; is it \"%s\"?",
                          e->name, near);
}

at_status at_template_resolve(at_template *t, const at_lex *l, at_expr *e, bool *varies) {
    switch (e->op) {
    case AT_X_NAME:
    case AT_X_EXTENT:
        e->ref = at_symbol_find(&t->symbols, e->name);
        if (e->ref < 0) return unknown_name(t, l, e);
        *varies |= t->values.data[e->ref].varies;
        return AT_OK;
    case AT_X_INDEX:
    case AT_X_FIELD:
    case AT_X_FLOAT:
        return at_lex_fail_at(l, e->line, e->col, &t->err,
                              "only names and whole numbers make a size");
    default:
        for (int i = 0; i < e->nargs; i++) AT_TRY(at_template_resolve(t, l, e->arg[i], varies));
        return AT_OK;
    }
}

at_status at_template_expr(at_template *t, const char *text, const char *what, at_expr **out,
                           bool *varies) {
    at_lex l = {.text = text, .what = what};
    AT_TRY(at_expr_parse_text(t->arena, text, what, out, &t->err));
    return at_template_resolve(t, &l, *out, varies);
}

/* Values change address while they grow, and expressions are evaluated over plain integers. */
at_status at_template_value(at_template *t, const char *of, const at_expr *e, int64_t *out) {
    int64_t *values = AT_NEW_ARRAY(t->arena, int64_t, t->values.len);
    for (int i = 0; i < t->values.len; i++) values[i] = t->values.data[i].value;
    if (at_expr_eval(e, values, out, &t->err) == AT_OK) return AT_OK;
    /* The text is right, so it is the arguments that do not suit it. */
    t->err.status = AT_E_USAGE;
    return at_fail_at(&t->err, "%s: ", of);
}

at_status at_template_new_name(at_template *t, at_lex *l, char **out) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, &t->err, "expected a name");
    char *name = at_strndup(t->arena, l->start, (size_t)l->length);
    if (at_symbol_find(&t->symbols, name) >= 0)
        return at_lex_fail_at(l, l->line, l->col, &t->err, "\"%s\" is defined already", name);
    *out = name;
    return at_lex_next(l, &t->err);
}
