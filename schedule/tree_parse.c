/* schedule/tree_parse.c: the text of a loop tree, read by calls of tree_make.c. */
#include "schedule/tree_int.h"

enum { INDENT = 4 };

typedef struct parser {
    at_arena *arena;
    at_lex lex;
    at_error *err;
    const at_compute *c;
    at_tree_maker *maker;
} parser;

#define FAIL(p, ...) at_lex_fail(&(p)->lex, (p)->err, __VA_ARGS__)
#define FAIL_AT(p, line, col, ...) at_lex_fail_at(&(p)->lex, line, col, (p)->err, __VA_ARGS__)
#define FAIL_HERE(p, ...) FAIL_AT(p, (p)->lex.line, (p)->lex.col, __VA_ARGS__)

static at_status next(parser *p) { return at_lex_next(&p->lex, p->err); }
static bool at(const parser *p, const char *op) { return at_lex_is(&p->lex, op); }

static at_status expect(parser *p, const char *op) { return at_lex_expect(&p->lex, op, p->err); }

static at_status take_name(parser *p, const char *what, const char **name) {
    if (p->lex.kind != AT_TOK_NAME) return FAIL(p, "expected %s", what);
    *name = at_strndup(p->arena, p->lex.start, (size_t)p->lex.length);
    return next(p);
}

/* What is made next stands here: for its errors. */
static at_tree_maker *here(parser *p) {
    p->maker->line = p->lex.line;
    p->maker->col = p->lex.col;
    return p->maker;
}

/* The name of a piece of a loop. */
static at_status take_piece(parser *p, at_tree_node *loop) {
    const char *name;
    at_tree_maker *m = here(p);
    AT_TRY(take_name(p, "the name of a loop", &name));
    return at_tree_add_piece(m, loop, name);
}

/* ---- loops --------------------------------------------------------------------------------- */

/* "(" name ")" */
static at_status take_size(parser *p, const char **name) {
    AT_TRY(next(p)); /* ann, order */
    AT_TRY(expect(p, "("));
    here(p);
    AT_TRY(take_name(p, "the name of a size", name));
    return AT_OK;
}

/* Is it para, vec, unroll or dot? */
static bool at_word(const parser *p, at_ann *out) {
    for (int i = AT_ANN_PARA; i <= AT_ANN_DOT; i++)
        if (at(p, at_ann_name((at_ann)i))) return *out = (at_ann)i, true;
    return false;
}

/* The number of the piece that was taken last. */
static at_status take_extent(parser *p, at_tree_node *loop, const char *expected) {
    if (p->lex.kind != AT_TOK_INT) return FAIL(p, "expected %s", expected);
    if (p->lex.integer < 1) return FAIL(p, "an extent is at least 1");
    at_tree_set_extent(p->maker, loop, p->lex.integer);
    return next(p);
}

/* What may stand behind numbers, and behind dyn(...): name:14 unroll, {a:2, b:7} para. */
static at_status parse_word(parser *p, at_tree_node *loop) {
    at_ann ann;
    if (!at_word(p, &ann)) return AT_OK;
    at_tree_set_ann(loop, ann);
    return next(p);
}

static at_status parse_dyn(parser *p, at_tree_node *loop) {
    AT_VEC(const char *) args = {0};
    AT_TRY(expect(p, "("));
    for (;;) {
        AT_TRY(take_name(p, "the name of an axis", at_push(p->arena, &args)));
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, ")")) return FAIL(p, "expected ',' or ')'");
    at_tree_set_dynamic(p->maker, loop, args.data, args.len);
    AT_TRY(next(p));
    return parse_word(p, loop);
}

static at_status parse_annotation(parser *p, at_tree_node *loop, bool fused) {
    const char *size;
    at_ann ann;
    if (at_word(p, &ann)) {
        at_tree_set_ann(loop, ann);
        return next(p);
    }
    if (at(p, "ann")) {
        AT_TRY(take_size(p, &size));
        AT_TRY(at_tree_set_ann_size(p->maker, loop, size));
        return expect(p, ")");
    }
    if (fused) return FAIL(p, "expected para, vec or unroll on a fused loop");
    if (at(p, "dyn")) {
        AT_TRY(next(p));
        return parse_dyn(p, loop);
    }
    AT_TRY(take_extent(p, loop, "para, vec, unroll, dyn(...) or an extent"));
    return parse_word(p, loop);
}

/* One loop: a name or several in braces, perhaps annotated. */
static at_status parse_item(parser *p, at_tree_node *parent, at_tree_node **out) {
    at_tree_node *loop = *out = at_tree_add_loop(here(p), parent, AT_ANN_NONE);
    bool fused = at(p, "{"), has_numbers = false;
    if (fused) {
        do {
            AT_TRY(next(p));
            AT_TRY(take_piece(p, loop));
            if (!at(p, ":")) continue;
            has_numbers = true;
            AT_TRY(next(p));
            AT_TRY(take_extent(p, loop, "an extent"));
        } while (at(p, ","));
        if (!at(p, "}")) return FAIL(p, "expected ',' or '}'");
        AT_TRY(next(p));
    } else {
        AT_TRY(take_piece(p, loop));
    }
    if (has_numbers) return parse_word(p, loop);
    if (!at(p, ":")) return AT_OK;
    AT_TRY(next(p));
    return parse_annotation(p, loop, fused);
}

/* "[" item ("," item)* "]" ":" "order" "(" name ")"; inner: the last loop. */
static at_status parse_order(parser *p, at_tree_node *parent, at_tree_node **inner) {
    at_tree_node *first = NULL;
    int n = 0;
    const char *size;
    do {
        AT_TRY(next(p)); /* the bracket or the comma */
        AT_TRY(parse_item(p, parent, inner));
        if (!n++) first = *inner;
        parent = *inner;
    } while (at(p, ","));
    if (!at(p, "]")) return FAIL(p, "expected ',' or ']'");
    AT_TRY(next(p));
    AT_TRY(expect(p, ":"));
    if (!at(p, "order")) return FAIL(p, "expected order(...) behind loops in brackets");
    AT_TRY(take_size(p, &size));
    AT_TRY(at_tree_set_order(p->maker, first, n, size));
    return expect(p, ")");
}

/* ---- leaves -------------------------------------------------------------------------------- */

static at_status take_digit(parser *p, at_tree_node *leaf) {
    const char *name;
    at_tree_maker *m = here(p);
    AT_TRY(take_name(p, "the name of a loop", &name));
    return at_tree_add_digit(m, leaf, name);
}

/* name | 0 | "{" name ("," name)* "}" ["/"] [axis]; 0 is an axis of extent 1 that needs no loop. */
static at_status parse_index(parser *p, at_tree_node *leaf, const char *axis_name) {
    at_tree_add_index(p->maker, leaf);
    if (p->lex.kind == AT_TOK_INT && p->lex.integer == 0) {
        AT_TRY(next(p));
    } else if (at(p, "{")) {
        do {
            AT_TRY(next(p));
            AT_TRY(take_digit(p, leaf));
        } while (at(p, ","));
        if (!at(p, "}")) return FAIL(p, "expected ',' or '}'");
        AT_TRY(next(p));
        bool slash = at(p, "/");
        if (slash) AT_TRY(next(p));
        if (slash || (p->lex.kind == AT_TOK_NAME && !starts_line(&p->lex))) {
            if (p->lex.kind != AT_TOK_NAME) return FAIL(p, "expected the name of an axis");
            if (!at_lex_is(&p->lex, axis_name)) return FAIL(p, "expected axis \"%s\"", axis_name);
            AT_TRY(next(p));
        }
    } else {
        AT_TRY(take_digit(p, leaf));
    }
    return AT_OK;
}

/* The indices from one axis of the stage up to another, all of them. */
static at_status parse_indices(parser *p, at_tree_node *leaf, const at_tensor *stage, int from,
                               int to) {
    for (int i = from; i < to; i++) {
        AT_TRY(parse_index(p, leaf, stage->axes[i].name));
        if (i + 1 == to) break;
        if (!at(p, ","))
            return FAIL(p, "expected ',' and an index for axis \"%s\"", stage->axes[i + 1].name);
        AT_TRY(next(p));
    }
    if (at(p, ","))
        return FAIL(p, "@%s has no more %s: expected %s", stage->name, from ? "reductions" : "axes",
                    !from && stage->num_reduce ? "'//'" : "a new line");
    return AT_OK;
}

static at_status take_number(parser *p, const char *what, at_expr **out) {
    const char *name;
    int line = p->lex.line, col = p->lex.col;
    *out = at_expr_int(p->arena, p->lex.integer);
    if (p->lex.kind == AT_TOK_INT) return next(p);
    AT_TRY(take_name(p, what, &name));
    *out = at_expr_name(p->arena, name);
    (*out)->ref = at_symbol_find(p->c->symbols, name);
    return (*out)->ref < 0 ? FAIL_AT(p, line, col, "there is no size \"%s\"", name) : AT_OK;
}

static at_status parse_axes(parser *p, at_tree_node *leaf) {
    const char *axes[MAX_AXES];
    int n = 0;
    while (!at(p, "]") && n < MAX_AXES)
        AT_TRY(take_name(p, "the name of an axis or ']'", &axes[n++]));
    return at_tree_set_axes(p->maker, leaf, axes, n);
}

/* [prefetch TENSOR BYTES], [pointers TENSOR], [running], [scatter], [dense], [pad ELEMENTS],
 * [order AXIS AXIS ...] */
static at_status parse_attribute(parser *p, at_tree_node *leaf) {
    const char *tensor;
    at_expr *number = NULL;
    AT_TRY(next(p)); /* [ */
    int line = p->lex.line, col = p->lex.col;
    bool dense = at(p, "dense"), pad = at(p, "pad"), order = at(p, "order");
    bool pointers = at(p, "pointers"), running = at(p, "running"), scatter = at(p, "scatter");
    if (!dense && !pad && !order && !pointers && !running && !scatter && !at(p, "prefetch"))
        return FAIL(p, "expected prefetch, pointers, running, scatter, dense, pad or order");
    AT_TRY(next(p));
    if (dense || pad || order || running || scatter) {
        if (pad) AT_TRY(take_number(p, "a number of elements or a size", &number));
        p->maker->line = line;
        p->maker->col = col;
        if (order) AT_TRY(parse_axes(p, leaf));
        else if (running) AT_TRY(at_tree_set_running(p->maker, leaf));
        else if (scatter) AT_TRY(at_tree_set_scatter(p->maker, leaf));
        else
            AT_TRY(
                at_tree_set_rows(p->maker, leaf, dense ? AT_ROWS_DENSE : AT_ROWS_PADDED, number));
        return expect(p, "]");
    }
    line = p->lex.line, col = p->lex.col;
    AT_TRY(take_name(p, "the name of a tensor", &tensor));
    if (!pointers) AT_TRY(take_number(p, "a number of bytes or a size", &number));
    p->maker->line = line;
    p->maker->col = col;
    AT_TRY(pointers ? at_tree_set_pointers(p->maker, leaf, tensor)
                    : at_tree_add_prefetch(p->maker, leaf, tensor, number));
    return expect(p, "]");
}

static at_status parse_leaf(parser *p, at_tree_node *parent) {
    at_tree_node *leaf;
    int line = p->lex.line, col = p->lex.col;
    const char *name;
    AT_TRY(next(p)); /* @ */
    at_tree_maker *m = here(p);
    at_tree_new_line(m);
    AT_TRY(take_name(p, "the name of a stage", &name));
    bool is_init = at(p, ".");
    if (is_init) {
        AT_TRY(next(p));
        if (!at(p, "init")) return FAIL(p, "expected init");
        here(p);
        AT_TRY(next(p));
    }
    AT_TRY(at_tree_add_leaf(m, parent, name, is_init, &leaf));
    tree_stands_at(leaf, line, col);
    const at_tensor *stage = &p->c->tensors[at_compute_find(p->c, name)];
    while (at(p, "[")) AT_TRY(parse_attribute(p, leaf));
    AT_TRY(expect(p, "="));
    AT_TRY(parse_indices(p, leaf, stage, 0, stage->num_axes));
    if (stage->num_reduce && !is_init) {
        if (!at(p, "//")) return FAIL(p, "expected '//' and the reductions of @%s", name);
        AT_TRY(next(p));
        AT_TRY(parse_indices(p, leaf, stage, stage->num_axes, axes_of(stage)));
    } else if (at(p, "//")) {
        return FAIL(p, is_init ? "an init runs no reduction" : "@%s has no reductions", name);
    }
    if (p->lex.kind != AT_TOK_END && !starts_line(&p->lex)) return FAIL(p, "expected a new line");
    return AT_OK;
}

/* ---- lines --------------------------------------------------------------------------------- */

static at_status parse_lines(parser *p, at_tree_node *parent, int col);

/* The loops of one line, each inside the one before, and what stands below the last. */
static at_status parse_loops(parser *p, at_tree_node *parent) {
    at_tree_node *loop = parent;
    int col = p->lex.col;
    at_tree_new_line(p->maker);
    for (;;) {
        if (at(p, "[")) AT_TRY(parse_order(p, loop, &loop));
        else AT_TRY(parse_item(p, loop, &loop));
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, "=>")) return FAIL(p, "expected ',' or '=>'");
    AT_TRY(next(p));
    if (at(p, "@") && !starts_line(&p->lex)) return parse_leaf(p, loop);
    if (p->lex.kind != AT_TOK_END && !starts_line(&p->lex))
        return FAIL(p, "expected a leaf or a new line");
    if (p->lex.kind == AT_TOK_END || p->lex.col < col + INDENT)
        return FAIL_HERE(p, "expected a line %d blanks deeper than the '=>' above it", INDENT);
    return parse_lines(p, loop, col + INDENT);
}

static at_status parse_lines(parser *p, at_tree_node *parent, int col) {
    while (p->lex.kind != AT_TOK_END && p->lex.col >= col) {
        if (p->lex.col != col)
            return FAIL_HERE(p, "expected %d blanks before this line, there are %d", col - 1,
                             p->lex.col - 1);
        if (at(p, "@")) AT_TRY(parse_leaf(p, parent));
        else AT_TRY(parse_loops(p, parent));
    }
    return AT_OK;
}

static at_status parse_tree(at_arena *a, const at_compute *c, const char *text, const char *what,
                            bool may_be_open, at_tree **out, at_error *err) {
    parser p = {.arena = a, .err = err, .c = c};
    p.maker = at_tree_begin(a, c, what, err);
    p.maker->tree->may_be_open = may_be_open;
    p.maker->tree->text = at_strdup(a, text);
    AT_TRY(at_lex_start(&p.lex, p.maker->tree->text, p.maker->tree->what, err));
    if (p.lex.kind == AT_TOK_END) return FAIL_HERE(&p, "a tree needs a line");
    AT_TRY(parse_lines(&p, NULL, p.lex.col));
    if (p.lex.kind != AT_TOK_END)
        return FAIL_HERE(&p, "expected the indentation of the first line");
    return at_tree_finish(p.maker, out);
}

at_status tree_parse_attributes(at_tree_maker *m, tree_node *leaf, const char *text) {
    parser p = {.arena = m->arena, .err = m->err, .c = m->c, .maker = m};
    AT_TRY(at_lex_start(&p.lex, at_strdup(m->arena, text), m->tree->what, m->err));
    while (at(&p, "[")) AT_TRY(parse_attribute(&p, leaf));
    return p.lex.kind == AT_TOK_END ? AT_OK : FAIL_HERE(&p, "expected attributes of a leaf");
}

at_status at_tree_parse(at_arena *a, const at_compute *c, const char *text, const char *what,
                        at_tree **out, at_error *err) {
    return parse_tree(a, c, text, what, false, out, err);
}

at_status at_tree_parse_open(at_arena *a, const at_compute *c, const char *text, const char *what,
                             at_tree **out, at_error *err) {
    return parse_tree(a, c, text, what, true, out, err);
}
