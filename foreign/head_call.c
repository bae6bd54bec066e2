/* foreign/head_call.c: `call void matmul(const float *a, float *c, int N)`: how the kernel is
 * called. */
#include <string.h>

#include "foreign/foreign_int.h"

enum { MOST_PARAMS = 128 };

static bool is_type_word(const at_lex *l) {
    static const char *const known[] = {
        "void",    "char",     "short",    "int",        "long",         "float",     "double",
        "signed",  "unsigned", "size_t",   "ssize_t",    "int8_t",       "int16_t",   "int32_t",
        "int64_t", "uint8_t",  "uint16_t", "uint32_t",   "uint64_t",     "ptrdiff_t", "bool",
        "_Bool",   "const",    "restrict", "__restrict", "__restrict__", "volatile"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (at_lex_is(l, known[i])) return true;
    return false;
}

/* A word that changes nothing for the caller. */
static bool is_restrict(const at_lex *l) {
    return at_lex_is(l, "restrict") || at_lex_is(l, "__restrict") || at_lex_is(l, "__restrict__");
}

/* Words and stars up to a name; a name that is no known word may be a type of the file's own where
 * another one follows. */
static at_status take_type(at_head *h, at_lex *l, at_head_param *p, at_error *err) {
    at_text type = {0};
    bool named = false;
    at_status s = AT_OK;
    while (s == AT_OK) {
        at_lex next = *l;
        if (at_lex_is(l, "*")) {
            p->is_pointer = true;
            at_text_add(&type, "*");
        } else if (l->kind == AT_TOK_NAME) {
            bool known = is_type_word(l);
            s = at_lex_next(&next, err);
            bool last = s == AT_OK && next.kind != AT_TOK_NAME && !at_lex_is(&next, "*");
            if (s == AT_OK && !known && (named || last)) break;
            p->is_const |= at_lex_is(l, "const") && !p->is_pointer;
            named |= !at_lex_is(l, "const") && !at_lex_is(l, "volatile");
            if (!is_restrict(l)) at_text_addf(&type, "%.*s ", l->length, l->start);
        } else break;
        if (s == AT_OK) s = at_lex_next(l, err);
    }
    if (s == AT_OK && !named) s = at_lex_fail(l, err, "expected a type");
    p->type = at_text_take(h->arena, &type);
    return s;
}

static at_status take_param(at_head *h, at_lex *l, at_error *err) {
    at_head_param p = {0};
    AT_TRY(take_type(h, l, &p, err));
    if (l->kind != AT_TOK_NAME)
        return at_lex_fail(l, err,
                           "expected a parameter's name: that of a tensor, an argument, a "
                           "size, a knob, or workspace");
    p.name = at_strndup(h->arena, l->start, (size_t)l->length);
    AT_TRY(at_lex_next(l, err));
    const char *element = p.type, *bounds = l->start;
    while (at_lex_is(l, "[")) {
        p.is_pointer = true;
        /* Rows of a length that is not known here: C takes any pointer for them. */
        if (++p.num_bounds == 1) p.type = at_format(h->arena, "%s*", p.type);
        else p.type = p.is_const ? "const void *" : "void *";
        while (l->kind != AT_TOK_END && !at_lex_is(l, "]")) AT_TRY(at_lex_next(l, err));
        AT_TRY(at_lex_expect(l, "]", err));
    }
    if (p.num_bounds > 1) {
        p.element = element;
        p.bounds = at_strndup(h->arena, bounds, (size_t)(l->start - bounds));
    }
    if (h->call.params.len == MOST_PARAMS)
        return at_lex_fail(l, err, "more than %d parameters", MOST_PARAMS);
    *at_push(h->arena, &h->call.params) = p;
    return AT_OK;
}

at_status at_head_call_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    at_head_param returns = {0};
    AT_TRY(at_head_start(h, x, &l, err));
    if (h->call.function) return at_lex_fail(&l, err, "a second call; a kernel has one");
    h->call.line = x->line;
    AT_TRY(take_type(h, &l, &returns, err));
    if (strcmp(returns.type, "void ") && strcmp(returns.type, "int "))
        return at_lex_fail(&l, err, "a kernel returns void, or int, of which 0 is fine");
    h->call.returns = returns.type;
    if (l.kind != AT_TOK_NAME) return at_lex_fail(&l, err, "expected the function's name");
    h->call.function = at_strndup(h->arena, l.start, (size_t)l.length);
    AT_TRY(at_lex_next(&l, err));
    AT_TRY(at_lex_expect(&l, "(", err));
    at_lex behind = l;
    if (at_lex_is(&l, "void") && at_lex_next(&behind, NULL) == AT_OK && at_lex_is(&behind, ")"))
        l = behind; /* (void) */
    while (!at_lex_is(&l, ")")) {
        AT_TRY(take_param(h, &l, err));
        if (!at_lex_is(&l, ",")) break;
        AT_TRY(at_lex_next(&l, err));
    }
    AT_TRY(at_lex_expect(&l, ")", err));
    if (at_lex_is(&l, ";")) AT_TRY(at_lex_next(&l, err));
    return l.kind == AT_TOK_END ? AT_OK : at_lex_fail(&l, err, "expected the end of the line");
}
