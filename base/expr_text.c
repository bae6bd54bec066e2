/* base/expr_text.c: expressions as texts, by C's precedence: read, and printed with no more
 * parentheses than are needed. */
#include "base/base.h"

#include <string.h>

/* ---- parsing --------------------------------------------------------------------------------- */

/* Binding strength, weakest first: C's levels. */
enum {
    SELECT = 1,
    OR,
    AND,
    BIT_OR,
    BIT_AND,
    EQUALITY,
    RELATION,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    PRIMARY
};

static const struct binary {
    char spelled[3];
    at_op op;
    int level;
    bool spaced; /* when printed */
} binaries[] = {
    {"||", AT_X_OR, OR, true},
    {"&&", AT_X_AND, AND, true},
    {"==", AT_X_EQ, EQUALITY, true},
    {"!=", AT_X_NE, EQUALITY, true},
    {"<", AT_X_LT, RELATION, true},
    {"<=", AT_X_LE, RELATION, true},
    {">", AT_X_GT, RELATION, true},
    {">=", AT_X_GE, RELATION, true},
    {"+", AT_X_ADD, SUM, true},
    {"-", AT_X_SUB, SUM, true},
    {"*", AT_X_MUL, PRODUCT, false},
    {"/", AT_X_DIV, PRODUCT, false},
    {"%", AT_X_MOD, PRODUCT, false},
    {"|", AT_X_BIT_OR, BIT_OR, true},
    {"&", AT_X_BIT_AND, BIT_AND, true},
    {"<<", AT_X_SHIFT_LEFT, SHIFT, true},
    {">>", AT_X_SHIFT_RIGHT, SHIFT, true},
};
enum { NUM_BINARIES = sizeof binaries / sizeof *binaries };

typedef struct parser {
    at_arena *arena;
    at_lex *lex;
    at_error *err;
    int depth;
    int64_t terms; /* so far, those that calls write out included */
    bool compared; /* the relation parsed last had an operator outside parentheses */
} parser;

/* Operators side by side make an expression as deep as they are many, and others walk it. */
enum { DEEPEST = 256, MOST_TERMS = 2 * AT_MOST_EXPANDED };

static at_status parse_level(parser *p, int level, at_expr **out);

static at_expr *node(parser *p, at_op op, int line, int col, int nargs, at_expr *const *args) {
    at_expr *e = at_expr_new(p->arena, op, nargs, args);
    e->line = line;
    e->col = col;
    return e;
}

static at_status count_terms(parser *p, int64_t more, int line, int col) {
    p->terms += more;
    if (p->terms <= MOST_TERMS) return AT_OK;
    return at_lex_fail_at(p->lex, line, col, p->err, "the expression exceeds %d terms", MOST_TERMS);
}

static at_status take_name(parser *p, const char **name) {
    if (p->lex->kind != AT_TOK_NAME) return at_lex_fail(p->lex, p->err, "expected a name");
    *name = at_strndup(p->arena, p->lex->start, (size_t)p->lex->length);
    return at_lex_next(p->lex, p->err);
}

typedef AT_VEC(at_expr *) expr_list;

/* Expressions up to the closing operator, which is taken too. */
static at_status parse_list(parser *p, const char *close, expr_list *list) {
    for (;;) {
        at_expr *e;
        AT_TRY(parse_level(p, SELECT, &e));
        *at_push(p->arena, list) = e;
        if (!at_lex_is(p->lex, ",")) break;
        AT_TRY(at_lex_next(p->lex, p->err));
    }
    if (!at_lex_is(p->lex, close))
        return at_lex_fail(p->lex, p->err, "expected ',' or '%s'", close);
    return at_lex_next(p->lex, p->err);
}

static at_status parse_extent(parser *p, at_expr **out) {
    at_expr *e = node(p, AT_X_EXTENT, p->lex->line, p->lex->col, 0, NULL);
    AT_TRY(at_lex_next(p->lex, p->err));
    AT_TRY(take_name(p, &e->name));
    if (at_lex_is(p->lex, "||")) { /* "|a|||b|": the first of them closes */
        p->lex->length = 1;
        p->lex->pos = p->lex->start + 1;
    }
    *out = e;
    return at_lex_expect(p->lex, "|", p->err);
}

static at_status unknown_function(parser *p, const at_expr *named) {
    if (!strcmp(named->name, "argmax") || !strcmp(named->name, "argmin"))
        return at_lex_fail_at(
            p->lex, named->line, named->col, p->err,
            "unknown function \"%s\"; it takes two stages: m[y:Y] = %s(k:K) x[y, k]"
            " and p[y:Y] = min(k:K) x[y, k] == m[y] ? k : inf",
            named->name, named->name + 3);
    enum { OTHERS = 3, ALL = AT_FUNCTION_COUNT + OTHERS };
    const at_text_functions *own = p->lex->functions;
    const int num_own = own ? own->list.len : 0;
    const char **known = AT_NEW_ARRAY(p->arena, const char *, ALL + num_own);
    known[0] = "min", known[1] = "max", known[2] = "pow";
    for (int i = OTHERS; i < ALL; i++) known[i] = at_function_name((at_function)(i - OTHERS));
    for (int i = 0; i < num_own; i++) known[ALL + i] = own->list.data[i].name;
    const char *near = at_nearest(named->name, known, ALL + num_own);
    at_text names = {0};
    for (int i = 1; i < ALL; i++)
        at_text_addf(&names, "%s %s", i == ALL - 1 ? " and" : ",", known[i]);
    at_status s =
        near ? at_lex_fail_at(p->lex, named->line, named->col, p->err,
                              "unknown function \"%s\"; did you mean \"%s\"?", named->name, near)
             : at_lex_fail_at(p->lex, named->line, named->col, p->err,
                              "unknown function \"%s\"; there are min%s", named->name,
                              at_text_str(&names));
    at_text_free(&names);
    return s;
}

/* sum(k:K) and the like are no values: those who know them take them before any expression. */
static at_status refuse_reduction(parser *p, const at_expr *named, bool known) {
    at_lex probe = *p->lex; /* at what stands in the parentheses */
    if (!known && strcmp(named->name, "sum") && strcmp(named->name, "prod")) return AT_OK;
    if (probe.kind != AT_TOK_NAME) return AT_OK;
    AT_TRY(at_lex_next(&probe, p->err));
    if (!at_lex_is(&probe, ":")) return AT_OK;
    return at_lex_fail_at(p->lex, named->line, named->col, p->err,
                          "%s(%.*s:...) inside an expression: a reduction is the whole right side "
                          "of a stage, so make it a stage and read that",
                          named->name, p->lex->length, p->lex->start);
}

/* What a call is written out as, beside its arguments. */
static at_status count_written_out(parser *p, const at_expr *named, const at_expr *made,
                                   const expr_list *args) {
    int64_t more = at_expr_nodes(made);
    for (int i = 0; i < args->len; i++) more -= at_expr_nodes(args->data[i]);
    return more > 0 ? count_terms(p, more, named->line, named->col) : AT_OK;
}

/* Of a function that the text defines. */
static at_status parse_own_call(parser *p, const at_expr *named, const at_text_function *f,
                                at_expr **out) {
    expr_list args = {0};
    if (!at_lex_is(p->lex, ")")) AT_TRY(parse_list(p, ")", &args));
    if (args.len != f->num_params)
        return at_lex_fail_at(p->lex, named->line, named->col, p->err,
                              "%s takes %d argument%s, not %d", f->name, f->num_params,
                              at_plural(f->num_params), args.len);
    *out = at_text_function_expand(p->arena, f, args.data);
    if (*out) return count_written_out(p, named, *out, &args);
    return at_lex_fail_at(p->lex, named->line, named->col, p->err,
                          "the expression exceeds %d terms", AT_MOST_EXPANDED);
}

/* min(a, b, ...) and max: more than two nest to the left; exp(x) and the like. */
static at_status parse_call(parser *p, at_expr *named, at_expr **out) {
    bool is_min = !strcmp(named->name, "min"), is_max = !strcmp(named->name, "max");
    const bool is_power = !strcmp(named->name, "pow");
    int function = at_function_find(named->name);
    const at_text_function *own = at_text_function_find(p->lex->functions, named->name);
    const at_lex open = *p->lex;
    AT_TRY(at_lex_next(p->lex, p->err));
    AT_TRY(refuse_reduction(p, named, is_min || is_max));
    if (!is_min && !is_max && !is_power && function < 0 && !own) {
        *p->lex = open;
        return unknown_function(p, named);
    }
    if (own) return parse_own_call(p, named, own, out);
    if (at_lex_is(p->lex, ")"))
        return at_lex_fail_at(p->lex, named->line, named->col, p->err, "%s needs %s, not none",
                              named->name, function >= 0 ? "one argument" : "two arguments");
    expr_list args = {0};
    AT_TRY(parse_list(p, ")", &args));
    if (is_power) {
        const char *problem = "pow takes a value and a number, as pow(x, -1.5)";
        *out = args.len == 2 ? at_expr_power(p->arena, args.data[0], args.data[1], &problem) : NULL;
        return *out ? count_written_out(p, named, *out, &args)
                    : at_lex_fail_at(p->lex, named->line, named->col, p->err, "%s", problem);
    }
    if (function >= 0) {
        if (args.len != 1)
            return at_lex_fail_at(p->lex, named->line, named->col, p->err,
                                  "%s takes one argument, not %d", named->name, args.len);
        *out = node(p, AT_X_CALL, named->line, named->col, 1, args.data);
        (*out)->integer = function;
        return AT_OK;
    }
    if (args.len < 2)
        return at_lex_fail_at(p->lex, named->line, named->col, p->err,
                              "%s needs two arguments; of all elements it is %s(k:K) x[k]",
                              named->name, named->name);
    at_expr *e = args.data[0];
    for (int i = 1; i < args.len; i++)
        e = node(p, is_min ? AT_X_MIN : AT_X_MAX, named->line, named->col, 2,
                 (at_expr *[]){e, args.data[i]});
    *out = e;
    return AT_OK;
}

static at_status parse_named(parser *p, at_expr **out) {
    at_expr *e = node(p, AT_X_NAME, p->lex->line, p->lex->col, 0, NULL);
    AT_TRY(take_name(p, &e->name));
    *out = e;
    if (at_lex_is(p->lex, "(")) return parse_call(p, e, out);
    if (at_lex_is(p->lex, ".")) {
        e->op = AT_X_FIELD;
        AT_TRY(at_lex_next(p->lex, p->err));
        AT_TRY(take_name(p, &e->field));
        if (!at_lex_is(p->lex, "[")) return at_lex_fail(p->lex, p->err, "expected '['");
    } else if (at_lex_is(p->lex, "[")) {
        e->op = AT_X_INDEX;
    } else {
        return AT_OK;
    }
    AT_TRY(at_lex_next(p->lex, p->err));
    expr_list args = {0};
    int line = p->lex->line, col = p->lex->col;
    AT_TRY(parse_list(p, "]", &args));
    if (e->op == AT_X_FIELD && args.len != 1)
        return at_lex_fail_at(p->lex, line, col, p->err, "a field takes one index");
    e->nargs = args.len;
    e->arg = args.data;
    return AT_OK;
}

static at_status parse_literal(parser *p, bool negative, at_expr **out) {
    at_lex *l = p->lex;
    at_expr *e = node(p, l->kind == AT_TOK_INT ? AT_X_INT : AT_X_FLOAT, l->line, l->col, 0, NULL);
    e->integer = negative ? -l->integer : l->integer;
    if (e->op == AT_X_FLOAT) e->number = negative ? -l->number : l->number;
    *out = e;
    return at_lex_next(l, p->err);
}

static bool is_literal(const parser *p) {
    return p->lex->kind == AT_TOK_INT || p->lex->kind == AT_TOK_FLOAT;
}

static at_status parse_unary(parser *p, at_expr **out) {
    at_lex *l = p->lex;
    int line = l->line, col = l->col;
    if (l->kind == AT_TOK_NAME) return parse_named(p, out);
    if (is_literal(p)) return parse_literal(p, false, out);
    if (l->kind == AT_TOK_STRING && l->takes_texts) {
        *out = node(p, AT_X_TEXT, line, col, 0, NULL);
        (*out)->name = at_strndup(p->arena, l->start + 1, (size_t)l->length - 2);
        return at_lex_next(l, p->err);
    }
    if (at_lex_is(l, "|")) return parse_extent(p, out);
    if (at_lex_is(l, "(")) {
        AT_TRY(at_lex_next(l, p->err));
        AT_TRY(parse_level(p, SELECT, out));
        return at_lex_expect(p->lex, ")", p->err);
    }
    bool minus = at_lex_is(l, "-");
    if (!minus && !at_lex_is(l, "!")) return at_lex_fail(l, p->err, "expected a value");
    AT_TRY(at_lex_next(l, p->err));
    if (minus && is_literal(p)) { /* "-1" is a literal, so that at_expr_int(-1) prints and reads */
        AT_TRY(parse_literal(p, true, out));
        (*out)->line = line, (*out)->col = col;
        return AT_OK;
    }
    at_expr *e;
    AT_TRY(parse_level(p, UNARY, &e));
    *out = node(p, minus ? AT_X_NEG : AT_X_NOT, line, col, 1, &e);
    return AT_OK;
}

static const struct binary *binary_at(const at_lex *l, int level) {
    if (l->kind != AT_TOK_OP) return NULL;
    for (int i = 0; i < NUM_BINARIES; i++)
        if (binaries[i].level == level && at_lex_is(l, binaries[i].spelled)) return &binaries[i];
    return NULL;
}

/* a <= b < c as Python reads it: a <= b && b < c. "a < b == c" is refused, since Python chains it
 * and C compares the truth of a < b with c. */
static at_status parse_comparison(parser *p, int level, at_expr **out) {
    at_expr *left, *right, *all = NULL;
    at_lex *l = p->lex;
    AT_TRY(parse_level(p, level + 1, &left));
    bool compared = level == EQUALITY && p->compared;
    const struct binary *b;
    while ((b = binary_at(l, level))) {
        int line = l->line, col = l->col;
        AT_TRY(at_lex_next(l, p->err));
        AT_TRY(parse_level(p, level + 1, &right));
        if (level == EQUALITY && (compared || p->compared))
            return at_lex_fail_at(l, line, col, p->err,
                                  "comparing a comparison needs parentheses around it");
        at_expr *e = node(p, b->op, line, col, 2, (at_expr *[]){left, right});
        all = all ? node(p, AT_X_AND, line, col, 2, (at_expr *[]){all, e}) : e;
        left = right;
    }
    if (level == RELATION) p->compared = all != NULL;
    *out = all ? all : left;
    return AT_OK;
}

static at_status parse_select(parser *p, at_expr **out) {
    at_expr *part[3];
    at_lex *l = p->lex;
    AT_TRY(parse_level(p, OR, &part[0]));
    *out = part[0];
    if (!at_lex_is(l, "?")) return AT_OK;
    int line = l->line, col = l->col;
    AT_TRY(at_lex_next(l, p->err));
    AT_TRY(parse_level(p, SELECT, &part[1]));
    AT_TRY(at_lex_expect(p->lex, ":", p->err));
    AT_TRY(parse_level(p, SELECT, &part[2]));
    *out = node(p, AT_X_SELECT, line, col, 3, part);
    return AT_OK;
}

static at_status parse_binary(parser *p, int level, at_expr **out) {
    at_lex *l = p->lex;
    AT_TRY(parse_level(p, level + 1, out));
    const struct binary *b;
    while ((b = binary_at(l, level))) {
        int line = l->line, col = l->col;
        AT_TRY(at_lex_next(l, p->err));
        at_expr *right;
        AT_TRY(parse_level(p, level + 1, &right));
        *out = node(p, b->op, line, col, 2, (at_expr *[]){*out, right});
    }
    return AT_OK;
}

static at_status parse_level(parser *p, int level, at_expr **out) {
    if (level != SELECT && level != UNARY) {
        bool comparison = level == EQUALITY || level == RELATION;
        return comparison ? parse_comparison(p, level, out) : parse_binary(p, level, out);
    }
    /* Every way of nesting comes through these two. */
    if (++p->depth > DEEPEST) return at_lex_fail(p->lex, p->err, "nested too deeply");
    if (level == UNARY) AT_TRY(count_terms(p, 1, p->lex->line, p->lex->col));
    AT_TRY(level == SELECT ? parse_select(p, out) : parse_unary(p, out));
    p->depth--;
    return AT_OK;
}

at_status at_expr_parse(at_arena *a, at_lex *l, at_expr **out, at_error *err) {
    parser p = {.arena = a, .lex = l, .err = err};
    return parse_level(&p, SELECT, out);
}

at_status at_expr_parse_text(at_arena *a, const char *text, const char *what, at_expr **out,
                             at_error *err) {
    at_lex l;
    at_expr *e;
    AT_TRY(at_lex_start(&l, text, what, err));
    AT_TRY(at_expr_parse(a, &l, &e, err));
    if (l.kind != AT_TOK_END) return at_lex_fail(&l, err, "expected an operator or the end");
    *out = e;
    return AT_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

static const struct binary *binary_of(at_op op) {
    for (int i = 0; i < NUM_BINARIES; i++)
        if (binaries[i].op == op) return &binaries[i];
    return NULL;
}

static int level_of(const at_expr *e) {
    const struct binary *b = binary_of(e->op);
    if (b) return b->level;
    if (e->op == AT_X_SELECT) return SELECT;
    if (e->op == AT_X_NEG || e->op == AT_X_NOT) return UNARY;
    if ((e->op == AT_X_INT && e->integer < 0) || (e->op == AT_X_FLOAT && e->number < 0))
        return UNARY;
    return PRIMARY;
}

static void print_level(at_text *out, const at_expr *e, int level) {
    bool parens = level_of(e) < level;
    if (parens) at_text_add(out, "(");
    at_expr_print(out, e);
    if (parens) at_text_add(out, ")");
}

static void print_list(at_text *out, const at_expr *e, const char *open, const char *close) {
    at_text_add(out, open);
    for (int i = 0; i < e->nargs; i++) {
        if (i) at_text_add(out, ", ");
        at_expr_print(out, e->arg[i]);
    }
    at_text_add(out, close);
}

void at_expr_print(at_text *out, const at_expr *e) {
    const struct binary *b = binary_of(e->op);
    if (b) {
        /* Operators group to the left; a comparison within one would read as a chain, and one of
         * the other sort would be refused. */
        bool comparison = b->level == EQUALITY || b->level == RELATION;
        print_level(out, e->arg[0], comparison ? SHIFT : b->level);
        at_text_addf(out, b->spaced ? " %s " : "%s", b->spelled);
        print_level(out, e->arg[1], comparison ? SHIFT : b->level + 1);
        return;
    }
    switch (e->op) {
    case AT_X_INT: at_text_addf(out, "%lld", (long long)e->integer); break;
    case AT_X_FLOAT: at_text_add_double(out, e->number); break;
    case AT_X_NAME: at_text_add(out, e->name); break;
    case AT_X_TEXT: at_text_addf(out, "\"%s\"", e->name); break;
    case AT_X_EXTENT: at_text_addf(out, "|%s|", e->name); break;
    case AT_X_FIELD:
        at_text_addf(out, "%s.%s", e->name, e->field);
        print_list(out, e, "[", "]");
        break;
    case AT_X_INDEX:
        at_text_add(out, e->name);
        print_list(out, e, "[", "]");
        break;
    case AT_X_MIN: print_list(out, e, "min(", ")"); break;
    case AT_X_MAX: print_list(out, e, "max(", ")"); break;
    case AT_X_CALL:
        at_text_add(out, at_function_name((at_function)e->integer));
        print_list(out, e, "(", ")");
        break;
    case AT_X_NEG:
    case AT_X_NOT: {
        /* "-5" would read back as the literal. */
        const at_expr *x = e->arg[0];
        bool literal = e->op == AT_X_NEG && at_expr_is_number(x);
        at_text_add(out, e->op == AT_X_NEG ? "-" : "!");
        print_level(out, x, literal ? PRIMARY + 1 : UNARY);
        break;
    }
    case AT_X_SELECT:
        print_level(out, e->arg[0], OR);
        at_text_add(out, " ? ");
        at_expr_print(out, e->arg[1]);
        at_text_add(out, " : ");
        at_expr_print(out, e->arg[2]);
        break;
    default: AT_BUG("expression operator %d has no spelling", e->op);
    }
}

char *at_expr_text(at_arena *a, const at_expr *e) {
    at_text text = {0};
    at_expr_print(&text, e);
    return at_text_take(a, &text);
}
