/* sketch/edits.c: an edit as a line of text, and back; what it makes of a tree and a computation,
 * and the knob that it adds. */
#include <ctype.h>
#include <string.h>

#include "schedule/edit/edit_phases.h"
#include "sketch/schedulable.h"

/* A kind's line: a word, then fields, words that stand there, and in [] what may be left out.
 * S: stage, with .init perhaps; T: so for `other`; L: `loop`; X: the same, an axis; O: `other`, a
 * tensor; Y: the same, an axis; W: `other` is "whole"; 1, 2, 3: so many names; N: names; R: a name
 * with its size; V: such a name and another one; U: a name, and perhaps what undoes a factor; Z:
 * names with sizes; P: a side; A: an annotation; K: a kind of copy, and its own line; B: attributes
 * in []. */
typedef struct edit_line {
    const char *word, *fields;
} edit_line;
static const edit_line lines[AT_EDIT_KINDS] = {
    [AT_EDIT_SPLIT] = {"split", "S L into Z"},
    [AT_EDIT_ORDER] = {"order", "S: N"},
    [AT_EDIT_FUSE] = {"fuse", "S: N"},
    [AT_EDIT_NEST] = {"nest", "S P T in L"},
    [AT_EDIT_JOIN] = {"join", "S P T [in L]"},
    [AT_EDIT_DISSOLVE] = {"dissolve", "S"},
    [AT_EDIT_COPY] = {"copy", "K"},
    [AT_EDIT_FACTOR] = {"factor", "S L as 1 [before Y]"},
    [AT_EDIT_MARK] = {"mark", "S L A"},
    [AT_EDIT_DROP] = {"drop", "S L"},
    [AT_EDIT_REPEAT] = {"repeat", "S in R [around L]"},
    [AT_EDIT_INIT] = {"init", "S"},
    [AT_EDIT_ATTRIBUTE] = {"attribute", "S B"},
    [AT_EDIT_SIZE] = {"size", "Z"},
    [AT_EDIT_INLINE] = {"inline", "S [of Z]"},
    [AT_EDIT_RENAME] = {"rename", "S: N"},
    [AT_EDIT_WIDEN] = {"widen", "S L"},
    [AT_EDIT_OPERAND] = {"operand", "O [along X] for S as 1"},
    [AT_EDIT_PLACE] = {"place", "O for S as 1"},
    [AT_EDIT_PAD] = {"pad", "O for S as 1"},
    [AT_EDIT_TURN] = {"turn", "O along X for S as 1"},
    [AT_EDIT_ACROSS] = {"across", "S L as 1"},
    [AT_EDIT_RUNNING] = {"running", "S"},
    [AT_EDIT_SCATTER] = {"scatter", "S"},
    [AT_EDIT_FISSION] = {"fission", "S"},
    [AT_EDIT_SHIFT] = {"shift", "O for S as 3"},
    [AT_EDIT_PHASES] = {"phases", "S L as U [W]"},
    [AT_EDIT_BRANCHES] = {"branches", "S as 2"},
    [AT_EDIT_SEARCH] = {"search", "S in V"},
    [AT_EDIT_UNPACK] = {"unpack", "S L as 1"},
    [AT_EDIT_QUOTIENT] = {"quotient", "S as 1"},
    [AT_EDIT_BOUND] = {"bound", "S"},
};
static const edit_line copies[] = {{"write", "S as 1"},
                                   {"read", "O for S as 1"},
                                   {"wide", "O for S as 1"},
                                   {"layout", "O for S as 1"}};
static const edit_line anns[] = {
    {"plain", ""}, {"para", ""}, {"vec", ""}, {"unroll", ""}, {"dot", ""}};
static const edit_line sides[] = {{"behind", ""}, {"before", ""}};
enum { NUM_COPIES = 4, NUM_ANNS = 5, NUM_SIDES = 2 };

int at_edit_num_names(const at_edit *e) {
    int n = 0;
    while (n < AT_EDIT_MAX_NAMES && e->names[n]) n++;
    return n;
}

static bool is_field(const char *at) {
    return (isupper((unsigned char)*at) || isdigit((unsigned char)*at)) &&
           !isalpha((unsigned char)at[1]);
}

/* The text that a field is; NULL: it is none, or there is none. */
static const char **text_of(at_edit *e, char field) {
    switch (field) {
    case 'S': return &e->stage;
    case 'T':
    case 'O':
    case 'Y':
    case 'B':
    case 'W': return &e->other;
    case 'L':
    case 'X': return &e->loop;
    default: return &e->names[0];
    }
}

/* Behind the group that begins at p. */
static const char *behind_group(const char *p) { return strchr(p, ']') + 1; }

/* ---- print ----------------------------------------------------------------------------------- */

static void print_fields(at_text *out, const at_edit *e, const char *fields);

static void print_field(at_text *out, const at_edit *e, char field) {
    at_edit copy = *e;
    switch (field) {
    case 'P': at_text_addf(out, " %s", sides[e->before].word); return;
    case 'A': at_text_addf(out, " %s", anns[e->ann].word); return;
    case 'K':
        at_text_addf(out, " %s", copies[e->copy].word);
        print_fields(out, e, copies[e->copy].fields);
        return;
    case '1':
    case '2':
    case '3':
    case 'N':
    case 'R':
    case 'U':
    case 'V':
    case 'Z':
        for (int i = 0; i < at_edit_num_names(e); i++) {
            at_text_addf(out, " %s", e->names[i]);
            if (e->sizes[i]) at_text_addf(out, ":%lld", (long long)e->sizes[i]);
        }
        return;
    default: at_text_addf(out, " %s", *text_of(&copy, field));
    }
}

static void print_fields(at_text *out, const at_edit *e, const char *fields) {
    at_edit copy = *e;
    for (const char *p = fields; *p;) {
        size_t n = strcspn(p, " :]");
        if (*p == ' ' || *p == ']') p++;
        else if (*p == ':') at_text_add(out, ":"), p++;
        else if (*p == '[') {
            const char *field = ++p;
            while (!is_field(field)) field++;
            if (!*text_of(&copy, *field)) p = behind_group(p);
        } else if (is_field(p)) print_field(out, e, *p++);
        else at_text_addf(out, " %.*s", (int)n, p), p += n;
    }
}

void at_edit_print(at_text *out, const at_edit *e) {
    if ((unsigned)e->kind >= AT_EDIT_KINDS) AT_BUG("edit of kind %d", e->kind);
    at_text_add(out, lines[e->kind].word);
    print_fields(out, e, lines[e->kind].fields);
    if (e->kind == AT_EDIT_SPLIT && (e->knob || e->other)) /* of no line that is read */
        at_text_addf(out, e->knob ? " by %s" : " of %s", e->knob ? e->knob : e->other);
}

/* ---- parse ----------------------------------------------------------------------------------- */

typedef struct line_reader {
    at_arena *arena;
    at_lex *lex;
    at_error *err;
    int line;
} line_reader;

static bool at_end(const line_reader *r) {
    return r->lex->kind == AT_TOK_END || r->lex->line != r->line;
}

static at_status word(line_reader *r, const char *expected, const char **out) {
    if (at_end(r)) return at_lex_fail(r->lex, r->err, "line %d ends before %s", r->line, expected);
    if (r->lex->kind != AT_TOK_NAME) return at_lex_fail(r->lex, r->err, "expected %s", expected);
    *out = at_strndup(r->arena, r->lex->start, (size_t)r->lex->length);
    return at_lex_next(r->lex, r->err);
}

/* acc, acc.init */
static at_status stage(line_reader *r, const char **out) {
    AT_TRY(word(r, "a stage", out));
    if (at_end(r) || !at_lex_is(r->lex, ".")) return AT_OK;
    AT_TRY(at_lex_next(r->lex, r->err));
    if (at_end(r) || !at_lex_is(r->lex, "init"))
        return at_lex_fail(r->lex, r->err, "expected init");
    *out = at_format(r->arena, "%s.init", *out);
    return at_lex_next(r->lex, r->err);
}

static at_status expect(line_reader *r, const char *token) {
    if (at_end(r)) return at_lex_fail(r->lex, r->err, "line %d ends before %s", r->line, token);
    return at_lex_expect(r->lex, token, r->err);
}

/* Which of n words; they are told where it is none. */
static at_status choice(line_reader *r, const edit_line *of, int n, int *out) {
    at_text list = {0};
    for (*out = 0; *out < n; ++*out)
        if (!at_end(r) && at_lex_is(r->lex, of[*out].word)) return at_lex_next(r->lex, r->err);
    for (int i = 0; i < n; i++) at_text_addf(&list, "%s%s", i ? ", " : "", of[i].word);
    at_lex_fail(r->lex, r->err, "expected one of %s", at_text_str(&list));
    at_text_free(&list);
    return AT_E_INPUT;
}

static at_status name(line_reader *r, at_edit *e, int i, bool sized) {
    AT_TRY(word(r, "a name", &e->names[i]));
    if (!sized || at_end(r) || !at_lex_is(r->lex, ":")) return AT_OK;
    AT_TRY(at_lex_next(r->lex, r->err));
    if (at_end(r) || r->lex->kind != AT_TOK_INT || r->lex->integer < 1)
        return at_lex_fail(r->lex, r->err, "expected a whole number from 1 on");
    e->sizes[i] = r->lex->integer;
    return at_lex_next(r->lex, r->err);
}

/* Up to the end of the line. */
static at_status names(line_reader *r, at_edit *e, bool sized) {
    for (int i = 0; !at_end(r) || i == 0; i++) {
        if (i == AT_EDIT_MAX_NAMES)
            return at_lex_fail(r->lex, r->err, "more than %d names", AT_EDIT_MAX_NAMES);
        AT_TRY(name(r, e, i, sized));
        if (sized && !e->sizes[i])
            return at_lex_fail(r->lex, r->err, "%s lacks its size, as in %s:8", e->names[i],
                               e->names[i]);
    }
    return AT_OK;
}

static at_status attributes(line_reader *r, at_edit *e) {
    if (at_end(r) || !at_lex_is(r->lex, "[")) return at_lex_fail(r->lex, r->err, "expected '['");
    const char *from = r->lex->start, *to = from;
    while (!at_end(r)) {
        to = r->lex->start + r->lex->length;
        AT_TRY(at_lex_next(r->lex, r->err));
    }
    e->other = at_strndup(r->arena, from, (size_t)(to - from));
    return AT_OK;
}

static at_status read_fields(line_reader *r, at_edit *e, const char *fields);

static at_status read_field(line_reader *r, at_edit *e, char field) {
    int of = 0;
    switch (field) {
    case 'S':
    case 'T': return stage(r, text_of(e, field));
    case 'L': return word(r, "a loop", &e->loop);
    case 'O': return word(r, "a tensor", &e->other);
    case 'X':
    case 'Y': return word(r, "an axis", text_of(e, field));
    case 'W': e->other = "whole"; return expect(r, "whole");
    case '2':
    case '3':
        for (int i = 0; i < field - '0'; i++) AT_TRY(name(r, e, i, false));
        return AT_OK;
    case '1':
    case 'R': return name(r, e, 0, field == 'R');
    case 'V': AT_TRY(name(r, e, 0, true)); return name(r, e, 1, false);
    case 'U':
        AT_TRY(name(r, e, 0, false));
        if (at_end(r) || !at_lex_is(r->lex, "inverse")) return AT_OK;
        AT_TRY(name(r, e, 1, true));
        return at_lex_is(r->lex, "common") ? name(r, e, 2, true) : expect(r, "common");
    case 'N':
    case 'Z': return names(r, e, field == 'Z');
    case 'P':
        AT_TRY(choice(r, sides, NUM_SIDES, &of));
        e->before = of;
        return AT_OK;
    case 'A':
        AT_TRY(choice(r, anns, NUM_ANNS, &of));
        e->ann = (at_ann)of;
        return AT_OK;
    case 'K':
        AT_TRY(choice(r, copies, NUM_COPIES, &of));
        e->copy = (at_copy_kind)of;
        return read_fields(r, e, copies[of].fields);
    default: return attributes(r, e);
    }
}

static at_status read_fields(line_reader *r, at_edit *e, const char *fields) {
    for (const char *p = fields; *p;) {
        const size_t n = *p == ':' ? 1 : strcspn(p, " :]");
        if (*p == ' ' || *p == ']') p++;
        else if (*p == '[') { /* it is there where its first word is */
            const char *first = *++p == 'W' ? "whole" : at_strndup(r->arena, p, strcspn(p, " "));
            if (at_end(r) || !at_lex_is(r->lex, first)) p = behind_group(p);
        } else if (is_field(p)) AT_TRY(read_field(r, e, *p++));
        else {
            AT_TRY(expect(r, at_strndup(r->arena, p, n)));
            p += n;
        }
    }
    return AT_OK;
}

at_status at_edit_parse(at_arena *a, at_lex *l, at_edit *out, at_error *err) {
    line_reader r = {a, l, err, l->line};
    int kind;
    *out = (at_edit){0};
    AT_TRY(choice(&r, lines, AT_EDIT_KINDS, &kind));
    out->kind = (at_edit_kind)kind;
    AT_TRY(read_fields(&r, out, lines[kind].fields));
    return at_end(&r) ? AT_OK : at_lex_fail(l, err, "expected the end of the line");
}

/* ---- split ----------------------------------------------------------------------------------- */

const char *at_axis_length(at_arena *a, const at_compute *c, const char *stage, const char *axis) {
    const int t = at_compute_find(c, stage);
    const at_tensor *x = t < 0 ? NULL : &c->tensors[t];
    for (int k = 0; x && k < x->num_axes + x->num_reduce; k++)
        if (x->axes[k].name && !strcmp(x->axes[k].name, axis) && x->axes[k].extent)
            return at_expr_text(a, x->axes[k].extent);
    return NULL;
}

/* How long a loop is, as an expression over sizes: its size, or the axis that it runs. */
static at_status loop_extent(at_arena *a, const at_compute *c, const at_edit *e, const char **out,
                             at_error *err) {
    if (at_compute_find(c, e->stage) < 0)
        return at_fail(err, AT_E_INPUT, "there is no stage \"%s\"", e->stage);
    *out = at_symbol_find(c->symbols, e->loop) >= 0 ? e->loop
                                                    : at_axis_length(a, c, e->stage, e->loop);
    if (*out) return AT_OK;
    return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", e->loop, e->stage);
}

/* Names of numbers. Those that are there keep theirs; *sizes: the definitions of the others. */
static at_status take_sizes(at_arena *a, at_symbols *symbols, const at_edit *e,
                            at_definition *sizes, at_error *err) {
    at_text text = {0};
    at_status s = AT_OK;
    for (int i = 0; i < at_edit_num_names(e) && s == AT_OK; i++) {
        if (at_symbol_find(symbols, e->names[i]) >= 0) continue;
        if (e->sizes[i] < 1)
            s = at_fail(err, AT_E_INPUT, "%s has no size of at least 1", e->names[i]);
        at_symbol_add(a, symbols, e->names[i]);
        at_text_addf(&text, "%s%s = %lld", text.len ? ", " : "", e->names[i],
                     (long long)e->sizes[i]);
    }
    if (text.len)
        *sizes =
            (at_definition){.kind = AT_DEFINE_SIZES, .text = {at_strdup(a, at_text_str(&text))}};
    at_text_free(&text);
    return s;
}

/* The tree is made over symbols that know the parts; the knob goes behind all other definitions.
 * Parts of a piece divide it: it can have no tail of its own. */
static at_status make_split(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                            const at_edit *e, at_tree **tree, at_definition *knob, at_error *err) {
    int n = at_edit_num_names(e);
    const char *axis = NULL;
    at_text parts = {0};
    if (!e->knob && !e->other) {
        if (!n) return at_fail(err, AT_E_INPUT, "a split takes parts");
        AT_TRY(take_sizes(a, symbols, e, knob, err));
        return at_edit_split(a, t, c, e->stage, e->loop, e->names, n, tree, err);
    }
    if (n < 2 || (!e->knob && n > 2))
        return at_fail(err, AT_E_INPUT, "a split takes a knob and at least two parts");
    AT_TRY(loop_extent(a, c, e, &axis, err));
    for (int i = 0; i < n; i++) {
        at_symbol_add(a, symbols, e->names[i]);
        at_text_addf(&parts, "%s%s", i ? " " : "", e->names[i]);
    }
    if (!e->knob) {
        const char *sizes = at_format(a, "%s = (%s)/(%s), %s = %s", e->names[0], axis, e->other,
                                      e->names[1], e->other);
        *knob = (at_definition){.kind = AT_DEFINE_SIZES, .text = {sizes}};
    } else
        *knob = (at_definition){.kind = AT_DEFINE_SPLIT,
                                .text = {e->knob, axis, at_strdup(a, at_text_str(&parts))},
                                .spec = e->spec};
    at_text_free(&parts);
    return at_edit_split(a, t, c, e->stage, e->loop, e->names, n, tree, err);
}

/* ---- inline ---------------------------------------------------------------------------------- */

/* Lengths that arguments gave: the text is right for these only. */
static void keep_lengths(at_arena *a, const at_compute *c, const at_edit *e, at_definition *knob) {
    const at_tensor *x = &c->tensors[at_compute_find(c, e->stage)];
    at_text condition = {0};
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        for (int i = 0; i < at_edit_num_names(e); i++) {
            if (strcmp(x->axes[k].name, e->names[i]) || x->axes[k].extent->op == AT_X_INT) continue;
            at_text_add(&condition, condition.len ? " && (" : "(");
            at_expr_print(&condition, x->axes[k].extent);
            at_text_addf(&condition, ") == %lld", (long long)e->sizes[i]);
        }
    if (condition.len) {
        const char *text = at_strdup(a, at_text_str(&condition));
        const char *problem = at_format(a, "the sum %s is written out: %s", e->stage, text);
        *knob = (at_definition){.kind = AT_DEFINE_REQUIRE, .text = {text, problem}};
    }
    at_text_free(&condition);
}

static at_status make_inline(at_arena *a, const at_compute *c, const at_tree *t, const at_edit *e,
                             const at_compute **compute, at_tree **tree, at_definition *knob,
                             at_error *err) {
    const int n = at_edit_num_names(e);
    AT_TRY(at_edit_inline(a, t, e->stage, e->names, e->sizes, n, compute, tree, err));
    keep_lengths(a, c, e, knob);
    return AT_OK;
}

/* ---- search ---------------------------------------------------------------------------------- */

/* Terms whose number arguments gave: the text is right where they are a block at least. */
static void keep_block(at_arena *a, const at_compute *c, const at_edit *e, at_definition *knob) {
    const at_tensor *x = &c->tensors[at_compute_find(c, e->stage)];
    const at_expr *extent = x->axes[x->num_axes].extent;
    if (extent->op == AT_X_INT) return;
    const char *text =
                   at_format(a, "(%s) >= %lld", at_expr_text(a, extent), (long long)e->sizes[0]),
               *problem = at_format(a, "@%s is looked for in blocks: %s", e->stage, text);
    *knob = (at_definition){.kind = AT_DEFINE_REQUIRE, .text = {text, problem}};
}

static at_status make_search(at_arena *a, const at_compute *c, const at_tree *t, const at_edit *e,
                             const at_compute **compute, at_tree **tree, at_definition *knob,
                             at_error *err) {
    AT_TRY(at_edit_search(a, t, e->stage, e->names, e->sizes[0], compute, tree, err));
    keep_block(a, c, e, knob);
    return AT_OK;
}

/* ---- bound ----------------------------------------------------------------------------------- */

static at_status make_bound(at_arena *a, const at_tree *t, const at_edit *e,
                            const at_compute **compute, at_tree **tree, at_definition *knob,
                            at_error *err) {
    const at_expr *needs;
    AT_TRY(at_edit_bound(a, t, e->stage, &needs, compute, tree, err));
    if (!needs) return AT_OK;
    const char *text = at_expr_text(a, needs),
               *problem = at_format(a, "rows of which @%s makes nothing: %s", e->stage, text);
    *knob = (at_definition){.kind = AT_DEFINE_REQUIRE, .text = {text, problem}};
    return AT_OK;
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* What undoes a factor: the text is right where arguments give such a one. */
static void keep_inverse(at_arena *a, const at_phase_steps *by, const at_edit *e,
                         at_definition *knob) {
    const char *step = at_expr_text(a, by->step), *factor = at_expr_text(a, by->factor);
    const long long inverse = e->sizes[1], common = e->sizes[2];
    const char *text = at_format(
                   a, "(%s)%%%lld == 0 && (%s)%%%lld == 0 && (%s)*%lld%%(%s) == %lld%%(%s)", step,
                   common, factor, common, factor, inverse, step, common, step),
               *problem = at_format(a, "phases of @%s by a factor: %s", e->stage, text);
    *knob = (at_definition){.kind = AT_DEFINE_REQUIRE, .text = {text, problem}};
}

static at_status make_phases(at_arena *a, const at_compute *c, const at_tree *t, const at_edit *e,
                             const at_compute **compute, at_tree **tree, at_definition *knob,
                             at_error *err) {
    const bool has_factor = at_edit_num_names(e) > 1;
    const at_phase_inverse by =
        has_factor ? (at_phase_inverse){e->sizes[1], e->sizes[2]} : (at_phase_inverse){1, 1};
    at_phase_steps steps;
    AT_TRY(at_edit_phases(a, t, e->stage, e->loop, e->names[0], by, e->other != NULL, compute, tree,
                          err));
    const at_tensor *x = &c->tensors[at_compute_find(c, e->stage)];
    for (int k = 0; k < x->num_axes; k++)
        if (!strcmp(x->axes[k].name, e->loop) && at_edit_has_phases(x, k, &steps) && steps.factor)
            keep_inverse(a, &steps, e, knob);
    return AT_OK;
}

/* ---- what an edit makes ---------------------------------------------------------------------- */

at_status at_edit_make(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                       const at_edit *e, const at_compute **compute, at_tree **tree,
                       at_definition *knob, at_error *err) {
    int n = at_edit_num_names(e);
    *knob = (at_definition){0};
    *compute = c;
    switch (e->kind) {
    case AT_EDIT_SPLIT: return make_split(a, symbols, c, t, e, tree, knob, err);
    case AT_EDIT_ORDER: return at_edit_order(a, t, c, e->stage, e->names, n, tree, err);
    case AT_EDIT_FUSE: return at_edit_fuse(a, t, c, e->stage, e->names, n, tree, err);
    case AT_EDIT_NEST:
        return at_edit_nest(a, t, c, e->stage, e->other, e->loop, e->before, tree, err);
    case AT_EDIT_JOIN:
        return at_edit_join(a, t, c, e->stage, e->other, e->loop, e->before, tree, err);
    case AT_EDIT_DROP: return at_edit_drop(a, t, c, e->stage, e->loop, tree, err);
    case AT_EDIT_FISSION: return at_edit_fission(a, t, c, e->stage, tree, err);
    case AT_EDIT_RUNNING: return at_edit_running(a, t, c, e->stage, tree, err);
    case AT_EDIT_SCATTER: return at_edit_scatter(a, t, c, e->stage, tree, err);
    case AT_EDIT_INIT: return at_edit_init(a, t, c, e->stage, tree, err);
    case AT_EDIT_ATTRIBUTE: return at_edit_attribute(a, t, c, e->stage, e->other, tree, err);
    case AT_EDIT_REPEAT:
        AT_TRY(take_sizes(a, symbols, e, knob, err));
        return at_edit_repeat(a, t, c, e->stage, e->names[0], e->loop, tree, err);
    case AT_EDIT_SIZE: return at_fail(err, AT_E_INPUT, "sizes stand before all edits");
    case AT_EDIT_DISSOLVE: return at_edit_dissolve(a, t, c, e->stage, tree, err);
    case AT_EDIT_INLINE: return make_inline(a, c, t, e, compute, tree, knob, err);
    case AT_EDIT_COPY:
        return at_edit_copy(a, t, e->copy, e->copy == AT_COPY_WRITE ? e->stage : e->other, e->stage,
                            e->names[0], compute, tree, err);
    case AT_EDIT_RENAME: return at_edit_rename(a, t, e->stage, e->names, n, compute, tree, err);
    case AT_EDIT_WIDEN: return at_edit_widen(a, t, e->stage, e->loop, compute, tree, err);
    case AT_EDIT_OPERAND:
        return at_edit_operand(a, t, e->stage, e->other, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_PLACE:
        return at_edit_place(a, t, e->stage, e->other, e->names[0], compute, tree, err);
    case AT_EDIT_PAD: return at_edit_pad(a, t, e->stage, e->other, e->names[0], compute, tree, err);
    case AT_EDIT_TURN:
        return at_edit_turn(a, t, e->stage, e->other, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_ACROSS:
        return at_edit_across(a, t, e->stage, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_SHIFT:
        return at_edit_shift(a, t, e->stage, e->other,
                             &(at_edit_shift_names){e->names[0], e->names[1], e->names[2]}, compute,
                             tree, err);
    case AT_EDIT_PHASES: return make_phases(a, c, t, e, compute, tree, knob, err);
    case AT_EDIT_BRANCHES: return at_edit_branches(a, t, e->stage, e->names, compute, tree, err);
    case AT_EDIT_SEARCH: return make_search(a, c, t, e, compute, tree, knob, err);
    case AT_EDIT_BOUND: return make_bound(a, t, e, compute, tree, knob, err);
    case AT_EDIT_QUOTIENT: return at_edit_quotient(a, t, e->stage, e->names[0], compute, tree, err);
    case AT_EDIT_UNPACK:
        return at_edit_unpack(a, t, e->stage, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_FACTOR:
        return at_edit_factor(a, t, e->stage, e->loop, e->names[0], e->other, compute, tree, err);
    case AT_EDIT_MARK: return at_edit_mark(a, t, c, e->stage, e->loop, e->ann, tree, err);
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}
