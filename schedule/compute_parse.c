/* schedule/compute_parse.c: the text of a computation to tensors, as written. What the names mean
 * is settled afterwards, in compute_resolve.c, when all tensors are known. */
#include "schedule/schedule_int.h"

#include <string.h>

bool starts_line(const at_lex *l) {
    for (const char *p = l->start; p > l->text; p--) {
        if (p[-1] == '\n') return true;
        if (p[-1] != ' ' && p[-1] != '\t' && p[-1] != '\r') return false;
    }
    return true;
}

typedef struct parser {
    at_arena *arena;
    at_lex lex;
    at_error *err;
    AT_VEC(at_tensor) tensors;
    at_text_functions functions;
} parser;

typedef AT_VEC(at_axis) axis_list;

/* Where terms belong along an axis of a stage, which has no name then: h[i[n]:B] += .. */
typedef struct place {
    int axis;
    at_expr *expr;
} place;
typedef AT_VEC(place) place_list;

#define FAIL(p, ...) at_lex_fail(&(p)->lex, (p)->err, __VA_ARGS__)
#define FAIL_AT(p, line, col, ...) at_lex_fail_at(&(p)->lex, line, col, (p)->err, __VA_ARGS__)

static at_status next(parser *p) { return at_lex_next(&p->lex, p->err); }
static bool at(const parser *p, const char *op) { return at_lex_is(&p->lex, op); }

static at_status expect(parser *p, const char *op) { return at_lex_expect(&p->lex, op, p->err); }

static at_status take_name(parser *p, const char *what, const char **name) {
    if (p->lex.kind != AT_TOK_NAME) return FAIL(p, "expected %s", what);
    char *s = at_strndup(p->arena, p->lex.start, (size_t)p->lex.length);
    if (compute_is_reserved(s))
        return FAIL_AT(p, p->lex.line, p->lex.col,
                       "\"%s\" is a word of the notation and cannot be a name", s);
    *name = s;
    return next(p);
}

static at_status parse_expr(parser *p, at_expr **out) {
    return at_expr_parse(p->arena, &p->lex, out, p->err);
}

/* Is the current token a name with a colon behind it? */
static at_status is_axis(parser *p, bool *yes) {
    at_lex probe = p->lex;
    *yes = false;
    if (probe.kind != AT_TOK_NAME) return AT_OK;
    AT_TRY(at_lex_next(&probe, p->err));
    *yes = at_lex_is(&probe, ":");
    return AT_OK;
}

/* Is the current token a reduction? max(k: is one, max(k, is a function. */
static at_status is_reduction(parser *p, int *kind) {
    at_lex probe = p->lex;
    *kind = -1;
    if (probe.kind != AT_TOK_NAME) return AT_OK;
    int found = at_reduction_find(at_strndup(p->arena, probe.start, (size_t)probe.length));
    if (found < 0) return AT_OK;
    AT_TRY(at_lex_next(&probe, p->err));
    if (!at_lex_is(&probe, "(")) return AT_OK;
    if (found == AT_REDUCE_SUM || found == AT_REDUCE_PROD) *kind = found;
    AT_TRY(at_lex_next(&probe, p->err));
    if (probe.kind != AT_TOK_NAME) return AT_OK;
    AT_TRY(at_lex_next(&probe, p->err));
    if (at_lex_is(&probe, ":")) *kind = found;
    return AT_OK;
}

static at_status add_axis(parser *p, axis_list *axes, at_axis axis, int line, int col) {
    for (int i = 0; axis.name && i < axes->len; i++)
        if (axes->data[i].name && !strcmp(axes->data[i].name, axis.name))
            return FAIL_AT(p, line, col, "axis \"%s\" occurs twice", axis.name);
    if (axes->len == MAX_AXES) return FAIL_AT(p, line, col, "more than %d axes", MAX_AXES);
    *at_push(p->arena, axes) = axis;
    return AT_OK;
}

/* name ":" extent */
static at_status parse_axis(parser *p, axis_list *axes) {
    int line = p->lex.line, col = p->lex.col;
    at_axis axis = {0};
    AT_TRY(take_name(p, "an axis name", &axis.name));
    AT_TRY(expect(p, ":"));
    AT_TRY(parse_expr(p, &axis.extent));
    return add_axis(p, axes, axis, line, col);
}

/* An extent, or a place with a colon and its extent behind it. */
static at_status parse_extent(parser *p, axis_list *axes, place_list *places) {
    at_axis axis = {0};
    int line = p->lex.line, col = p->lex.col;
    AT_TRY(parse_expr(p, &axis.extent));
    if (at(p, ":")) {
        *at_push(p->arena, places) = (place){axes->len, axis.extent};
        AT_TRY(next(p));
        AT_TRY(parse_expr(p, &axis.extent));
    }
    return add_axis(p, axes, axis, line, col);
}

/* What stands in the brackets tells a declaration, whose dimensions have no names, from a stage. */
static at_status parse_brackets(parser *p, axis_list *axes, place_list *places, bool *is_stage) {
    bool named;
    int num_named = 0;
    AT_TRY(expect(p, "["));
    for (;;) {
        AT_TRY(is_axis(p, &named));
        num_named += named;
        AT_TRY(named ? parse_axis(p, axes) : parse_extent(p, axes, places));
        *is_stage = num_named || places->len;
        if (*is_stage && num_named + places->len != axes->len)
            return FAIL(p, "expected ':' and the extent of an axis");
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, "]")) return FAIL(p, "expected ',' or ']'");
    return next(p);
}

/* The type of elements, where one is named. */
static at_status take_type(parser *p, at_tensor *t) {
    const int type = p->lex.kind == AT_TOK_NAME ? at_type_find(p->lex.start, p->lex.length) : -1;
    if (type < 0) return AT_OK;
    t->type = (at_type)type;
    return next(p);
}

static at_status parse_decl(parser *p, at_tensor *t) {
    if (at(p, "="))
        return FAIL(p,
                    "expected ':' and input, weight or index; what is computed or a table has "
                    "names for its axes: %s[i:5] = ..",
                    t->name);
    AT_TRY(expect(p, ":"));
    if (at(p, "input")) t->role = AT_ROLE_INPUT;
    else if (at(p, "weight")) t->role = AT_ROLE_WEIGHT;
    else if (at(p, "index")) t->role = AT_ROLE_INDEX;
    else return FAIL(p, "expected input, weight or index");
    AT_TRY(next(p));
    if (t->role == AT_ROLE_INDEX) t->type = AT_S32;
    if (starts_line(&p->lex)) return AT_OK;
    if (at(p, "s64") && t->role != AT_ROLE_WEIGHT) {
        t->type = AT_S32;
        t->is_s64 = true;
        return next(p);
    }
    if (at(p, "s64"))
        return FAIL(p, "weights are s32 or narrower; an input or an index may be s64");
    if (t->role == AT_ROLE_INDEX && p->lex.kind == AT_TOK_NAME &&
        at_type_find(p->lex.start, p->lex.length) >= 0)
        return FAIL(p, "an index holds 32-bit integers, or s64; of a narrower input a stage of s32 "
                       "makes one: expected s64 or a new line");
    return t->role == AT_ROLE_INDEX ? AT_OK : take_type(p, t);
}

/* What a declaration may have where it does not end. */
static const char *after_decl(parser *p, const at_tensor *t) {
    at_text list = {0};
    if (t->role == AT_ROLE_INDEX || t->type || p->lex.kind != AT_TOK_NAME)
        return "expected a new line";
    for (int i = 0; i < AT_TYPE_COUNT; i++)
        at_text_addf(&list, "%s%s", i ? ", " : "expected a type (", at_type_of((at_type)i)->name);
    at_text_add(&list, ") or a new line");
    return at_text_take(p->arena, &list);
}

/* name ":" expr [".." expr] */
static at_status parse_reduction(parser *p, axis_list *axes) {
    int line = p->lex.line, col = p->lex.col;
    at_axis axis = {0};
    AT_TRY(take_name(p, "a reduction axis", &axis.name));
    AT_TRY(expect(p, ":"));
    AT_TRY(parse_expr(p, &axis.extent));
    if (at(p, "..")) {
        axis.begin = axis.extent;
        axis.extent = NULL;
        AT_TRY(next(p));
        AT_TRY(parse_expr(p, &axis.end));
    }
    return add_axis(p, axes, axis, line, col);
}

static at_status parse_reductions(parser *p, axis_list *axes) {
    AT_TRY(expect(p, "("));
    for (;;) {
        AT_TRY(parse_reduction(p, axes));
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, ")")) return FAIL(p, "expected ',', '..' or ')'");
    return next(p);
}

typedef AT_VEC(at_def) def_list;

static at_status take_def_name(parser *p, const axis_list *axes, const def_list *defs,
                               const char **name) {
    int line = p->lex.line, col = p->lex.col;
    AT_TRY(take_name(p, "a name to define", name));
    for (int i = 0; i < axes->len; i++)
        if (!strcmp(axes->data[i].name, *name))
            return FAIL_AT(p, line, col, "\"%s\" is an axis already", *name);
    for (int i = 0; i < defs->len; i++)
        for (int j = 0; j < defs->data[i].num_names; j++)
            if (!strcmp(defs->data[i].names[j], *name))
                return FAIL_AT(p, line, col, "\"%s\" is defined twice", *name);
    return AT_OK;
}

/* "{" name [":" extent] ("," name ":" extent)* "}" */
static at_status parse_digits(parser *p, const axis_list *axes, const def_list *defs, at_def *d) {
    AT_VEC(const char *) names = {0};
    AT_VEC(at_expr *) extents = {0};
    d->is_digits = true;
    AT_TRY(next(p));
    for (;;) {
        const char *name;
        at_expr *extent = NULL;
        int line = p->lex.line, col = p->lex.col;
        AT_TRY(take_def_name(p, axes, defs, &name));
        for (int i = 0; i < names.len; i++)
            if (!strcmp(names.data[i], name))
                return FAIL_AT(p, line, col, "\"%s\" is defined twice", name);
        if (at(p, ":")) {
            AT_TRY(next(p));
            AT_TRY(parse_expr(p, &extent));
        } else if (names.len) {
            return FAIL(p, "expected ':' and an extent: only the first digit may leave it out");
        }
        *at_push(p->arena, &names) = name;
        *at_push(p->arena, &extents) = extent;
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    d->num_names = names.len;
    d->names = names.data;
    d->extents = extents.data;
    if (!at(p, "}")) return FAIL(p, "expected ',' or '}'");
    return next(p);
}

static at_status parse_where(parser *p, const axis_list *axes, at_tensor *t) {
    def_list defs = {0};
    do {
        AT_TRY(next(p)); /* "where" or the comma */
        at_def d = {0};
        if (at(p, "{")) {
            AT_TRY(parse_digits(p, axes, &defs, &d));
        } else {
            d.num_names = 1;
            d.names = AT_NEW(p->arena, const char *);
            AT_TRY(take_def_name(p, axes, &defs, &d.names[0]));
        }
        AT_TRY(expect(p, "="));
        AT_TRY(parse_expr(p, &d.expr));
        *at_push(p->arena, &defs) = d;
    } while (at(p, ","));
    t->num_defs = defs.len;
    t->defs = defs.data;
    return AT_OK;
}

static const at_tensor *find(const parser *p, const char *name) {
    for (int i = 0; i < p->tensors.len; i++)
        if (!strcmp(p->tensors.data[i].name, name)) return &p->tensors.data[i];
    return NULL;
}

/* "in" NAME */
static at_status parse_lies_in(parser *p, at_tensor *t) {
    AT_TRY(next(p));
    const int line = p->lex.line, col = p->lex.col;
    AT_TRY(take_name(p, "the input that it lies in", &t->lies_in));
    const at_tensor *input = find(p, t->lies_in);
    if (!input || input->role != AT_ROLE_INPUT)
        return FAIL_AT(p, line, col, "\"%s\" is no input above", t->lies_in);
    t->is_marked = true;
    t->type = input->type;
    return AT_OK;
}

/* ":" (["output"] [type] | "in" NAME) */
static at_status parse_mark(parser *p, at_tensor *t) {
    AT_TRY(next(p));
    if (at(p, "in")) return parse_lies_in(p, t);
    t->is_marked = at(p, "output");
    if (t->is_marked) AT_TRY(next(p));
    const bool is_type =
        p->lex.kind == AT_TOK_NAME && at_type_find(p->lex.start, p->lex.length) >= 0;
    if (is_type) return take_type(p, t);
    if (at(p, "s64")) return FAIL(p, "a stage is s32 or narrower; an input or an index may be s64");
    if (t->is_marked) return AT_OK;
    if (at(p, "input") || at(p, "weight") || at(p, "index"))
        return FAIL(p, "the sizes of what is given have no names: %s[N, M] : input", t->name);
    return FAIL(
        p, "expected output, in and an input, or a type of elements: f32, s32, s16, s8, u8, bool, "
           "f16 or bf16");
}

/* ---- terms that say where they belong ------------------------------------------------------- */

/* `+`, `max` or `min` with `=` behind it: which of them; else -1, and nothing is taken. */
static at_status take_joins(parser *p, int *kind) {
    static const char *const signs[AT_REDUCE_COUNT] = {
        [AT_REDUCE_SUM] = "+", [AT_REDUCE_MAX] = "max", [AT_REDUCE_MIN] = "min"};
    *kind = -1;
    for (int r = 0; r < AT_REDUCE_COUNT; r++)
        if (signs[r] && at(p, signs[r])) *kind = r;
    if (*kind < 0) return AT_OK;
    AT_TRY(next(p));
    return expect(p, "=");
}

static at_expr *new_name(parser *p, const char *name) {
    at_expr *e = at_expr_name(p->arena, name);
    e->line = p->lex.line;
    e->col = p->lex.col;
    return e;
}

static at_expr *two(parser *p, at_op op, at_expr *x, at_expr *y) {
    at_expr *e = at_expr_pair(p->arena, op, x, y);
    e->line = y->line;
    e->col = y->col;
    return e;
}

/* The axes that places are along get names. */
static void name_places(parser *p, const at_tensor *t, axis_list *axes, const place_list *places) {
    for (int i = 0; i < places->len; i++) {
        const char *name = places->len > 1 ? at_format(p->arena, "%s_at%d", t->name, i)
                                           : at_format(p->arena, "%s_at", t->name);
        for (int k = 0; k < axes->len; k++)
            if (axes->data[k].name && !strcmp(axes->data[k].name, name))
                name = at_format(p->arena, "%s_", name), k = -1;
        axes->data[places->data[i].axis].name = name;
    }
}

/* Each term counts where it belongs alone:
 *     h[i[n]:B] += (n:N) v[n]   ->   h[h_at:B] = sum(n:N) i[n] == h_at ? v[n] : 0 */
static void place_terms(parser *p, at_tensor *t, const axis_list *axes, const place_list *places) {
    at_expr *condition = NULL;
    for (int i = 0; i < places->len; i++) {
        const char *name = axes->data[places->data[i].axis].name;
        at_expr *here = two(p, AT_X_EQ, places->data[i].expr, new_name(p, name));
        condition = condition ? two(p, AT_X_AND, condition, here) : here;
    }
    at_expr *term = t->written, *neutral = neutral_expr(p->arena, t->reduction);
    t->written = at_expr_new(p->arena, AT_X_SELECT, 3, (at_expr *[]){condition, term, neutral});
    t->written->line = term->line;
    t->written->col = term->col;
}

static at_status parse_stage(parser *p, at_tensor *t, axis_list *axes, const place_list *places) {
    t->role = AT_ROLE_STAGE;
    int kind, joins;
    name_places(p, t, axes, places);
    if (at(p, ":")) AT_TRY(parse_mark(p, t));
    AT_TRY(take_joins(p, &joins));
    if (places->len && joins < 0)
        return FAIL(p, "expected +=, max= or min=: \"%s\" says where its terms belong", t->name);
    if (joins >= 0 && !places->len)
        return FAIL(p, "expected =: no index of \"%s\" says where terms belong, as in %s[i[n]:N]",
                    t->name, t->name);
    if (joins < 0) AT_TRY(expect(p, "="));
    if (at(p, "{") && t->is_marked)
        return FAIL(p, "a table is given, and no output: copy it, as in y[i:5] = %s[i]", t->name);
    if (joins < 0 && at(p, "{"))
        return compute_parse_table(p->arena, &p->lex, t, axes->data, p->err);
    kind = joins;
    if (joins < 0) AT_TRY(is_reduction(p, &kind));
    if (kind >= 0) {
        if (joins < 0) AT_TRY(next(p));
        t->reduction = (at_reduction)kind;
        AT_TRY(parse_reductions(p, axes));
    }
    AT_TRY(parse_expr(p, &t->written));
    if (at(p, "where")) AT_TRY(parse_where(p, axes, t));
    t->num_reduce = axes->len - t->num_axes;
    if (places->len) place_terms(p, t, axes, places);
    return AT_OK;
}

/* ---- what a line begins ---------------------------------------------------------------------- */

enum { MOST_TENSORS = 256 }; /* each edit of a tree copies it */

/* What an included text declares is what stands above it under that name. */
static at_status check_same(parser *p, const at_tensor *known, const at_tensor *t, int line,
                            int col) {
    bool same = known->num_axes == t->num_axes &&
                (known->role == AT_ROLE_INDEX) == (t->role == AT_ROLE_INDEX);
    for (int k = 0; same && k < t->num_axes; k++)
        same = at_expr_equal(known->axes[k].extent, t->axes[k].extent);
    if (same && known->type == t->type) return AT_OK;
    return FAIL_AT(p, line, col, "\"%s\" has another shape or type above, at line %d of %s",
                   t->name, known->line, known->what);
}

/* pos : input is pos[1] : input. */
static at_status parse_shape(parser *p, axis_list *axes, place_list *places, bool *named) {
    if (!at(p, ":")) return parse_brackets(p, axes, places, named);
    *named = false;
    return add_axis(p, axes, (at_axis){.extent = at_expr_int(p->arena, 1)}, 0, 0);
}

static at_status parse_tensor(parser *p) {
    int line = p->lex.line, col = p->lex.col;
    const at_lex_place stands = at_lex_place_of(&p->lex, line);
    at_tensor t = {.line = stands.line, .what = at_lex_path_of(p->arena, &p->lex, &stands)};
    if (p->tensors.len == MOST_TENSORS)
        return FAIL_AT(p, line, col, "more than %d tensors", MOST_TENSORS);
    AT_TRY(take_name(p, "a tensor name", &t.name));
    const at_tensor *known = find(p, t.name);
    axis_list axes = {0};
    place_list places = {0};
    bool named;
    if (known && !stands.file) return FAIL_AT(p, line, col, "\"%s\" is defined twice", t.name);
    AT_TRY(parse_shape(p, &axes, &places, &named));
    if (known && named) return FAIL_AT(p, line, col, "\"%s\" is defined twice", t.name);
    t.num_axes = axes.len;
    if (named) AT_TRY(parse_stage(p, &t, &axes, &places));
    else AT_TRY(parse_decl(p, &t));
    t.axes = axes.data;
    if (p->lex.kind != AT_TOK_END && !starts_line(&p->lex))
        return FAIL(p, named ? "expected an operator, 'where' or a new line" : after_decl(p, &t));
    if (known) return check_same(p, known, &t, line, col);
    *at_push(p->arena, &p->tensors) = t;
    return AT_OK;
}

/* Is it this word with such a token behind it? */
static at_status is_word(parser *p, const char *word, at_token behind, bool *yes) {
    at_lex probe = p->lex;
    *yes = at(p, word);
    if (!*yes) return AT_OK;
    AT_TRY(at_lex_next(&probe, p->err));
    *yes = probe.kind == behind;
    return AT_OK;
}

static at_status parse_line(parser *p) {
    bool defines, includes;
    AT_TRY(is_word(p, "def", AT_TOK_NAME, &defines));
    AT_TRY(is_word(p, "include", AT_TOK_STRING, &includes));
    if (includes)
        return FAIL_AT(p, p->lex.line, p->lex.col,
                       "only a file of its own (FILE.te) includes others");
    if (!defines) return parse_tensor(p);
    AT_TRY(compute_parse_function(p->arena, &p->lex, &p->functions, p->err));
    if (p->lex.kind == AT_TOK_END || starts_line(&p->lex)) return AT_OK;
    return FAIL(p, "expected an operator or a new line");
}

/* Tensors as written to a computation; errors show the lexer's text. */
static at_status finish(at_arena *a, const at_symbols *symbols, const at_lex *l, at_tensor *tensors,
                        int n, at_compute **out, at_error *err) {
    compute_info *c = AT_NEW(a, compute_info);
    for (int i = 0; i < n; i++)
        if (!tensors[i].what) tensors[i].what = l->what;
    c->pub = (at_compute){
        .text = l->text, .what = l->what, .symbols = symbols, .num_tensors = n, .tensors = tensors};
    AT_TRY(compute_resolve(a, l, c, err));
    bool any = false;
    for (int i = 0; i < n; i++) any |= tensors[i].role == AT_ROLE_STAGE;
    if (!any) return at_lex_fail_at(l, l->line, l->col, err, "a computation needs a stage");
    compute_key_form(a, c);
    *out = &c->pub;
    return AT_OK;
}

at_status at_compute_parse(at_arena *a, const at_symbols *symbols, const char *text,
                           const char *what, at_compute **out, at_error *err) {
    parser p = {.arena = a, .err = err};
    AT_TRY(at_lex_start(&p.lex, at_strdup(a, text), at_strdup(a, what), err));
    p.lex.functions = &p.functions;
    while (p.lex.kind != AT_TOK_END) AT_TRY(parse_line(&p));
    return finish(a, symbols, &p.lex, p.tensors.data, p.tensors.len, out, err);
}

at_status at_compute_make(at_arena *a, const at_symbols *symbols, const at_tensor *tensors, int n,
                          const char *what, at_compute **out, at_error *err) {
    at_lex none = {.what = at_strdup(a, what)};
    at_tensor *own = at_copy(a, tensors, sizeof *own * (size_t)n);
    AT_TRY(finish(a, symbols, &none, own, n, out, err));
    at_text text = {0};
    at_compute_print(&text, *out);
    (*out)->text = at_text_take(a, &text);
    ((compute_info *)*out)->is_made = true;
    for (int i = 0, line = 1; i < n; i++) { /* as it is printed */
        own[i].line = line;
        line += 1 + own[i].num_defs;
    }
    return AT_OK;
}
