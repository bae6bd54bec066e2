/* schedule/tree_parse.c: the text of a loop tree to nodes. Names of loops, stages and axes are
 * looked up here, once; what depends on numbers is left to build.c, what is legal to verify.c. */
#include "schedule/schedule_int.h"

#include <string.h>

enum { INDENT = 4 };

typedef struct parser {
    at_arena *arena;
    at_lex lex;
    at_error *err;
    const at_compute *c;
    at_tree *tree;
    int num_lines;
} parser;

#define FAIL(p, ...) at_lex_fail(&(p)->lex, (p)->err, __VA_ARGS__)
#define FAIL_AT(p, line, col, ...) at_lex_fail_at(&(p)->lex, line, col, (p)->err, __VA_ARGS__)
#define FAIL_HERE(p, ...) FAIL_AT(p, (p)->lex.line, (p)->lex.col, __VA_ARGS__)
#define FAIL_NODE(p, n, ...) FAIL_AT(p, (n)->tag_line, (n)->tag_col, __VA_ARGS__)

static at_status next(parser *p) { return at_lex_next(&p->lex, p->err); }
static bool at(const parser *p, const char *op) { return at_lex_is(&p->lex, op); }

static at_status expect(parser *p, const char *op) { return at_lex_expect(&p->lex, op, p->err); }

static at_status take_name(parser *p, const char *what, const char **name) {
    if (p->lex.kind != AT_TOK_NAME) return FAIL(p, "expected %s", what);
    *name = at_strndup(p->arena, p->lex.start, (size_t)p->lex.length);
    return next(p);
}

static tree_node *node(const parser *p, int i) { return &p->tree->nodes.data[i]; }

/* ---- nodes --------------------------------------------------------------------------------- */

static int add_node(parser *p, int parent, int *last_child) {
    int i = p->tree->nodes.len;
    tree_node *n = at_push(p->arena, &p->tree->nodes);
    *n = (tree_node){
        .parent = parent, .child = -1, .next = -1, .tag_line = p->lex.line, .tag_col = p->lex.col};
    n->fixed.line = p->lex.line;
    n->fixed.id = n->fixed.dyn_tensor = n->fixed.dyn_axis = -1;
    if (*last_child >= 0) node(p, *last_child)->next = i;
    else if (parent >= 0) node(p, parent)->child = i;
    *last_child = i;
    return i;
}

static int piece_slot(parser *p, const char *name) {
    at_tree *t = p->tree;
    for (int i = 0; i < t->piece_names.len; i++)
        if (!strcmp(t->piece_names.data[i], name)) return i;
    *at_push(p->arena, &t->piece_names) = name;
    return t->piece_names.len - 1;
}

/* The loop above a node (or the node itself) that has a piece of that name. */
static bool find_loop(const parser *p, int from, const char *name, tree_digit *out) {
    for (int i = from; i >= 0; i = node(p, i)->parent)
        for (int m = 0; m < node(p, i)->fixed.num_pieces; m++) {
            int slot = p->tree->pieces.data[node(p, i)->first_piece + m].name;
            if (strcmp(p->tree->piece_names.data[slot], name)) continue;
            *out = (tree_digit){i, m};
            return true;
        }
    return false;
}

static at_status add_piece(parser *p, int loop) {
    int line = p->lex.line, col = p->lex.col, above = 0;
    const char *name;
    tree_digit twice;
    AT_TRY(take_name(p, "the name of a loop", &name));
    if (find_loop(p, loop, name, &twice))
        return FAIL_AT(p, line, col, "\"%s\" occurs twice on one path", name);
    for (int i = loop; i >= 0; i = node(p, i)->parent) above += node(p, i)->fixed.num_pieces;
    if (above == MAX_PIECES)
        return FAIL_AT(p, line, col, "more than %d loops on one path", MAX_PIECES);
    *at_push(p->arena, &p->tree->pieces) = (tree_piece){.name = piece_slot(p, name)};
    node(p, loop)->fixed.num_pieces++;
    return AT_OK;
}

static at_status parse_dyn(parser *p, int loop) {
    AT_VEC(const char *) args = {0};
    AT_TRY(expect(p, "("));
    for (;;) {
        AT_TRY(take_name(p, "the name of an axis", at_push(p->arena, &args)));
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, ")")) return FAIL(p, "expected ',' or ')'");
    node(p, loop)->dynamic = true;
    node(p, loop)->num_dyn_args = args.len;
    node(p, loop)->dyn_args = args.data;
    return next(p);
}

static at_status parse_annotation(parser *p, int loop, bool fused) {
    static const char *const words[] = {[AT_ANN_PARA] = "para", "vec", "unroll"};
    tree_node *n = node(p, loop);
    for (int i = AT_ANN_PARA; i <= AT_ANN_UNROLL; i++)
        if (at(p, words[i])) {
            n->fixed.ann = (at_ann)i;
            return next(p);
        }
    if (fused) return FAIL(p, "expected para, vec or unroll on a fused loop");
    if (at(p, "dyn")) {
        AT_TRY(next(p));
        return parse_dyn(p, loop);
    }
    if (p->lex.kind != AT_TOK_INT)
        return FAIL(p, "expected para, vec, unroll, dyn(...) or an extent");
    if (p->lex.integer < 1) return FAIL(p, "an extent is at least 1");
    tree_piece *piece = &p->tree->pieces.data[n->first_piece];
    piece->source = EXTENT_FIXED;
    piece->fixed = p->lex.integer;
    return next(p);
}

/* One loop: a name or several in braces, perhaps annotated. */
static at_status parse_item(parser *p, int parent, int *last_child) {
    int loop = add_node(p, parent, last_child);
    bool fused = at(p, "{");
    node(p, loop)->first_piece = p->tree->pieces.len;
    node(p, loop)->fixed.line_group = p->num_lines;
    if (fused) {
        do {
            AT_TRY(next(p));
            AT_TRY(add_piece(p, loop));
        } while (at(p, ","));
        if (!at(p, "}")) return FAIL(p, "expected ',' or '}'");
        AT_TRY(next(p));
    } else {
        AT_TRY(add_piece(p, loop));
    }
    if (!at(p, ":")) return AT_OK;
    AT_TRY(next(p));
    return parse_annotation(p, loop, fused);
}

/* ---- leaves -------------------------------------------------------------------------------- */

static at_status add_digit(parser *p, int leaf, tree_axis *axis) {
    tree_digit d;
    int line = p->lex.line, col = p->lex.col;
    const char *name;
    AT_TRY(take_name(p, "the name of a loop", &name));
    if (!find_loop(p, leaf, name, &d))
        return FAIL_AT(p, line, col, "\"%s\" is no loop around this leaf", name);
    *at_push(p->arena, &p->tree->digits) = d;
    axis->num_digits++;
    return AT_OK;
}

/* name | 0 | "{" name ("," name)* "}" ["/"] [axis]; 0 is an axis of extent 1 that needs no loop. */
static at_status parse_index(parser *p, int leaf, const char *axis_name) {
    tree_axis axis = {.first_digit = p->tree->digits.len};
    if (p->lex.kind == AT_TOK_INT && p->lex.integer == 0) {
        AT_TRY(next(p));
    } else if (at(p, "{")) {
        do {
            AT_TRY(next(p));
            AT_TRY(add_digit(p, leaf, &axis));
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
        AT_TRY(add_digit(p, leaf, &axis));
    }
    *at_push(p->arena, &p->tree->axes) = axis;
    return AT_OK;
}

/* The indices from one axis of the stage up to another, all of them. */
static at_status parse_indices(parser *p, int leaf, int from, int to) {
    const at_tensor *stage = &p->c->tensors[node(p, leaf)->fixed.tensor];
    for (int i = from; i < to; i++) {
        AT_TRY(parse_index(p, leaf, stage->axes[i].name));
        node(p, leaf)->num_axes++;
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

static at_status unknown_stage(parser *p, int line, int col, const char *name) {
    AT_VEC(const char *) stages = {0};
    for (int i = 0; i < p->c->num_tensors; i++)
        if (p->c->tensors[i].role == AT_ROLE_STAGE)
            *at_push(p->arena, &stages) = p->c->tensors[i].name;
    const char *near = at_nearest(name, stages.data, stages.len);
    if (!near) return FAIL_AT(p, line, col, "unknown stage \"%s\"", name);
    return FAIL_AT(p, line, col, "unknown stage \"%s\"; did you mean \"%s\"?", name, near);
}

/* [prefetch TENSOR BYTES] */
static at_status parse_attribute(parser *p, tree_node *n) {
    const char *name;
    n->fixed.has_prefetch = true;
    AT_TRY(next(p)); /* [ */
    if (!at(p, "prefetch")) return FAIL(p, "expected prefetch");
    AT_TRY(next(p));
    int line = p->lex.line, col = p->lex.col;
    AT_TRY(take_name(p, "the name of a tensor", &name));
    n->fixed.prefetch_tensor = at_compute_find(p->c, name);
    if (n->fixed.prefetch_tensor < 0)
        return FAIL_AT(p, line, col, "there is no tensor \"%s\"", name);
    if (p->lex.kind == AT_TOK_INT) {
        n->prefetch = at_expr_int(p->arena, p->lex.integer);
    } else {
        line = p->lex.line, col = p->lex.col;
        AT_TRY(take_name(p, "a number of bytes or a size", &name));
        int slot = at_symbol_find(p->c->symbols, name);
        if (slot < 0) return FAIL_AT(p, line, col, "there is no size \"%s\"", name);
        n->prefetch = at_expr_new(p->arena, AT_X_NAME, 0, NULL);
        n->prefetch->name = name;
        n->prefetch->ref = slot;
        return expect(p, "]");
    }
    AT_TRY(next(p));
    return expect(p, "]");
}

static at_status parse_leaf(parser *p, int parent, int *last_child) {
    int leaf = add_node(p, parent, last_child);
    AT_TRY(next(p)); /* @ */
    int line = p->lex.line, col = p->lex.col;
    const char *name;
    AT_TRY(take_name(p, "the name of a stage", &name));
    int tensor = at_compute_find(p->c, name);
    if (tensor < 0) return unknown_stage(p, line, col, name);
    const at_tensor *stage = &p->c->tensors[tensor];
    if (stage->role != AT_ROLE_STAGE)
        return FAIL_AT(p, line, col, "\"%s\" is given: only stages are computed", name);
    tree_node *n = node(p, leaf);
    n->fixed.is_leaf = true;
    n->fixed.tensor = tensor;
    n->first_axis = p->tree->axes.len;
    n->fixed.line_group = ++p->num_lines;
    if (at(p, ".")) {
        AT_TRY(next(p));
        if (!at(p, "init")) return FAIL(p, "expected init");
        if (!stage->num_reduce) return FAIL(p, "@%s sums nothing: it needs no init", name);
        n->fixed.is_init = true;
        AT_TRY(next(p));
    }
    if (at(p, "[")) AT_TRY(parse_attribute(p, n));
    bool is_init = n->fixed.is_init;
    AT_TRY(expect(p, "="));
    AT_TRY(parse_indices(p, leaf, 0, stage->num_axes));
    if (stage->num_reduce && !is_init) {
        if (!at(p, "//")) return FAIL(p, "expected '//' and the reductions of @%s", name);
        AT_TRY(next(p));
        AT_TRY(parse_indices(p, leaf, stage->num_axes, axes_of(stage)));
    } else if (at(p, "//")) {
        return FAIL(p, is_init ? "an init runs no reduction" : "@%s has no reductions", name);
    }
    if (p->lex.kind != AT_TOK_END && !starts_line(&p->lex)) return FAIL(p, "expected a new line");
    return AT_OK;
}

/* ---- lines --------------------------------------------------------------------------------- */

static at_status parse_lines(parser *p, int parent, int col);

/* The loops of one line, each inside the one before, and what stands below the last. */
static at_status parse_loops(parser *p, int parent, int *last_child) {
    int col = p->lex.col, inner = -1, loop = parent;
    p->num_lines++;
    for (;;) {
        AT_TRY(parse_item(p, loop, loop == parent ? last_child : &inner));
        loop = loop == parent ? *last_child : inner;
        inner = -1;
        if (!at(p, ",")) break;
        AT_TRY(next(p));
    }
    if (!at(p, "=>")) return FAIL(p, "expected ',' or '=>'");
    AT_TRY(next(p));
    if (at(p, "@") && !starts_line(&p->lex)) return parse_leaf(p, loop, &inner);
    if (p->lex.kind != AT_TOK_END && !starts_line(&p->lex))
        return FAIL(p, "expected a leaf or a new line");
    if (p->lex.kind == AT_TOK_END || p->lex.col < col + INDENT)
        return FAIL_HERE(p, "expected a line %d blanks deeper than the '=>' above it", INDENT);
    return parse_lines(p, loop, col + INDENT);
}

static at_status parse_lines(parser *p, int parent, int col) {
    int last = -1;
    while (p->lex.kind != AT_TOK_END && p->lex.col >= col) {
        if (p->lex.col != col)
            return FAIL_HERE(p, "expected %d blanks before this line, there are %d", col - 1,
                             p->lex.col - 1);
        if (at(p, "@")) AT_TRY(parse_leaf(p, parent, &last));
        else AT_TRY(parse_loops(p, parent, &last));
    }
    return AT_OK;
}

/* ---- what the leaves say about the loops --------------------------------------------------- */

/* Fused members are recovered from one counter, so they run or reduce together. */
static at_status check_kinds(parser *p, const tree_node *leaf) {
    const at_tensor *stage = &p->c->tensors[leaf->fixed.tensor];
    int num_nodes = p->tree->nodes.len;
    char *seen = at_alloc(p->arena, (size_t)num_nodes);
    for (int i = 0; i < leaf->num_axes; i++) {
        const tree_axis *axis = &p->tree->axes.data[leaf->first_axis + i];
        bool reduce = i >= stage->num_axes;
        for (int d = 0; d < axis->num_digits; d++) {
            int loop = p->tree->digits.data[axis->first_digit + d].loop;
            tree_node *n = node(p, loop);
            n->fixed.is_reduce |= reduce;
            seen[loop] |= reduce ? 2 : 1;
            if (seen[loop] == 3 && n->fixed.num_pieces > 1)
                return FAIL_NODE(p, n, "this fused loop mixes axes and reductions of @%s",
                                 stage->name);
        }
    }
    return AT_OK;
}

/* A reduction with bounds of its own takes exactly one loop, and that one says dyn. */
static at_status check_dynamic(parser *p, const tree_node *leaf, int i) {
    const at_tensor *stage = &p->c->tensors[leaf->fixed.tensor];
    const tree_axis *axis = &p->tree->axes.data[leaf->first_axis + i];
    bool wanted = stage->axes[i].begin != NULL;
    if (wanted && axis->num_digits != 1)
        return FAIL_NODE(p, leaf, "\"%s\" has data-dependent bounds: it takes one loop",
                         stage->axes[i].name);
    for (int d = 0; d < axis->num_digits; d++) {
        tree_node *n = node(p, p->tree->digits.data[axis->first_digit + d].loop);
        if (n->dynamic != wanted)
            return FAIL_NODE(
                p, n,
                wanted ? "this loop runs \"%s\" of @%s, whose bounds are data: it needs :dyn(...)"
                       : "\"%s\" of @%s has an extent: its loop is not dyn",
                stage->axes[i].name, stage->name);
        if (!wanted) continue;
        if (n->fixed.dyn_tensor >= 0) return FAIL_NODE(p, n, "a dyn loop serves one leaf");
        n->fixed.dyn_tensor = leaf->fixed.tensor;
        n->fixed.dyn_axis = i;
        uint32_t named = 0;
        for (int k = 0; k < n->num_dyn_args; k++) {
            int found = -1;
            for (int x = 0; x < i; x++)
                if (!strcmp(stage->axes[x].name, n->dyn_args[k])) found = x;
            if (found < 0)
                return FAIL_NODE(p, n, "\"%s\" is no axis of @%s before \"%s\"", n->dyn_args[k],
                                 stage->name, stage->axes[i].name);
            named |= 1u << found;
        }
        uint32_t used = info_of(p->c)->info[leaf->fixed.tensor].bound_axes[i - stage->num_axes];
        for (int x = 0; x < i; x++)
            if (used & ~named & (1u << x))
                return FAIL_NODE(p, n, "the bounds of \"%s\" depend on \"%s\": name it in dyn(...)",
                                 stage->axes[i].name, stage->axes[x].name);
    }
    return AT_OK;
}

/* The axis that the first leaf below uses this piece for, whole and under its own name. */
static bool find_axis(const parser *p, int loop, int member, tree_piece *piece) {
    const char *name = p->tree->piece_names.data[piece->name];
    for (int i = loop; i < p->tree->nodes.len; i++) {
        const tree_node *leaf = node(p, i);
        for (int k = 0; k < leaf->num_axes; k++) {
            const tree_axis *axis = &p->tree->axes.data[leaf->first_axis + k];
            const tree_digit *d = &p->tree->digits.data[axis->first_digit];
            if (axis->num_digits != 1 || d->loop != loop || d->member != member) continue;
            if (strcmp(p->c->tensors[leaf->fixed.tensor].axes[k].name, name)) continue;
            piece->tensor = leaf->fixed.tensor;
            piece->axis = k;
            return true;
        }
    }
    return false;
}

static at_status find_extents(parser *p, int loop) {
    tree_node *n = node(p, loop);
    for (int m = 0; m < n->fixed.num_pieces; m++) {
        tree_piece *piece = &p->tree->pieces.data[n->first_piece + m];
        const char *name = p->tree->piece_names.data[piece->name];
        if (n->dynamic) {
            piece->source = EXTENT_DYNAMIC;
            if (n->fixed.dyn_tensor < 0)
                return FAIL_NODE(p, n, "no leaf below sums over \"%s\" with bounds from data",
                                 name);
        } else if (!piece->fixed) {
            piece->symbol = at_symbol_find(p->c->symbols, name);
            piece->source = piece->symbol >= 0 ? EXTENT_SYMBOL : EXTENT_AXIS;
            if (piece->symbol < 0 && !find_axis(p, loop, m, piece))
                return FAIL_NODE(p, n,
                                 "\"%s\" has no extent: it is neither a size nor a whole axis "
                                 "of a leaf below",
                                 name);
        }
    }
    return AT_OK;
}

static at_status look_up(parser *p) {
    at_tree *t = p->tree;
    t->dissolved = AT_NEW_ARRAY(p->arena, bool, p->c->num_tensors);
    for (int i = 0; i < p->c->num_tensors; i++) {
        const at_tensor *s = &p->c->tensors[i];
        t->dissolved[i] = s->role == AT_ROLE_STAGE && !s->num_reduce && !s->is_output;
    }
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = node(p, i);
        if (!n->fixed.is_leaf) continue;
        t->dissolved[n->fixed.tensor] = false;
        AT_TRY(check_kinds(p, n));
        for (int k = 0; k < n->num_axes; k++) AT_TRY(check_dynamic(p, n, k));
    }
    for (int i = 0; i < t->nodes.len; i++) AT_TRY(find_extents(p, i));
    return AT_OK;
}

at_status at_tree_parse(at_arena *a, const at_compute *c, const char *text, const char *what,
                        at_tree **out, at_error *err) {
    at_tree *t = AT_NEW(a, at_tree);
    parser p = {.arena = a, .err = err, .c = c, .tree = t};
    t->compute = c;
    t->text = at_strdup(a, text);
    t->what = at_strdup(a, what);
    AT_TRY(at_lex_start(&p.lex, t->text, t->what, err));
    if (p.lex.kind == AT_TOK_END) return FAIL_HERE(&p, "a tree needs a line");
    AT_TRY(parse_lines(&p, -1, p.lex.col));
    if (p.lex.kind != AT_TOK_END)
        return FAIL_HERE(&p, "expected the indentation of the first line");
    AT_TRY(look_up(&p));
    tree_add_inits(a, t);
    *out = t;
    return AT_OK;
}
