/* templates/template.c: the builder behind template.h. Sizes, splits and options are worked out as
 * they come, with entity 0 of every knob; those whose values vary become steps that task.c repeats
 * per configuration. */
#include "schedule/edit/edit.h"
#include "templates/template_int.h"

/* A definition or a decision, for other shapes. */
void at_template_note(at_template *t, int slot, const at_expr *e, int64_t value) {
    *at_push(t->arena, &t->general) = (at_general_step){slot, e, value};
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Whether a call is to do something: no mistake before, and no NULL for a text. */
bool at_template_has_text(at_template *t, const char *call, const char *text) {
    if (t->err.status != AT_OK) return false;
    if (!text) at_fail(&t->err, AT_E_INPUT, "%s: %s without a text", t->row->name, call);
    return text != NULL;
}

/* The same of a call that only define() makes: defaults() comes when the task is defined. */
bool at_template_defines(at_template *t, const char *call, const char *text) {
    if (t->in_defaults && t->err.status == AT_OK)
        at_fail(&t->err, AT_E_INPUT,
                "%s: %s in defaults(), which sets values of knobs; it belongs in define()",
                t->row->name, call);
    return at_template_has_text(t, call, text);
}

/* For at_task_definition. */
static void keep(at_template *t, at_definition d) {
    for (int i = 0; i < 4; i++)
        if (d.text[i]) d.text[i] = at_strdup(t->arena, d.text[i]);
    if (d.spec.filter) d.spec.filter = at_strdup(t->arena, d.spec.filter);
    if (d.spec.listed) d.spec.listed = at_strdup(t->arena, d.spec.listed);
    *at_push(t->arena, &t->definitions) = d;
}

void at_template_keep_hashed(at_template *t, const char *call, at_definition d) {
    at_hash_add_str(&t->hash, call);
    keep(t, d);
}

const at_template_row *at_template_row_of(const at_template *t) { return t->row; }

/* ---- sizes ----------------------------------------------------------------------------------- */

static at_status add_size(at_template *t, at_lex *l) {
    char *name;
    at_expr *e;
    int64_t value;
    bool varies = false;
    AT_TRY(at_template_new_name(t, l, &name));
    if (!at_lex_is(l, "=")) return at_lex_fail(l, &t->err, "expected '='");
    AT_TRY(at_lex_next(l, &t->err));
    AT_TRY(at_expr_parse(t->arena, l, &e, &t->err));
    AT_TRY(at_template_resolve(t, l, e, &varies));
    AT_TRY(at_template_value(t, at_format(t->arena, "size %s", name), e, &value));
    int slot = at_template_symbol(t, name, value, varies);
    at_template_note(t, slot, e, value);
    if (varies)
        *at_push(t->arena, &t->steps) =
            (step){.kind = STEP_SIZE, .name = name, .expr = e, .num_slots = 1, .slots = {slot}};
    return AT_OK;
}

static at_status add_sizes(at_template *t, const char *definitions) {
    at_lex l;
    definitions = at_strdup(t->arena, definitions);
    AT_TRY(
        at_lex_start(&l, definitions, at_format(t->arena, "sizes of %s", t->row->name), &t->err));
    for (;;) {
        AT_TRY(add_size(t, &l));
        if (l.kind == AT_TOK_END) return AT_OK;
        if (!at_lex_is(&l, ",")) return at_lex_fail(&l, &t->err, "expected an operator or ','");
        AT_TRY(at_lex_next(&l, &t->err));
    }
}

void at_sizes(at_template *t, const char *definitions) {
    if (!at_template_defines(t, "at_sizes", definitions)) return;
    at_template_keep_hashed(t, "sizes",
                            (at_definition){.kind = AT_DEFINE_SIZES, .text = {definitions}});
    at_hash_add_str(&t->hash, definitions);
    add_sizes(t, definitions);
}

/* ---- computation and trees ------------------------------------------------------------------- */

void at_compute_text(at_template *t, const char *text) {
    if (!at_template_defines(t, "at_compute", text)) return;
    at_hash_add_str(&t->hash, "compute");
    at_hash_add_str(&t->hash, text);
    if (t->compute_text)
        at_fail(&t->err, AT_E_INPUT, "%s: a second computation; a template has one", t->row->name);
    else t->compute_text = at_strdup(t->arena, text);
}

void at_schedule_when(at_template *t, const char *condition, const char *text) {
    if (!at_template_defines(t, "at_schedule", text)) return;
    if (!condition) condition = "";
    at_hash_add_str(&t->hash, "schedule");
    at_hash_add_str(&t->hash, condition);
    at_hash_add_str(&t->hash, text);
    int n = t->trees.len;
    if (n && !*t->trees.data[n - 1].condition_text) {
        at_fail(&t->err, AT_E_INPUT,
                "%s: schedule %d is never used: the one before it has no condition", t->row->name,
                n + 1);
        return;
    }
    *at_push(t->arena, &t->trees) = (tree_choice){.condition_text = at_strdup(t->arena, condition),
                                                  .text = at_strdup(t->arena, text)};
}

void at_compute_value(at_template *t, const at_compute *c, const char *text) {
    at_compute_text(t, text);
    t->given = c;
}

void at_schedule_value(at_template *t, const at_tree *tree, const char *text) {
    const int n = t->trees.len;
    at_schedule_when(t, "", text);
    if (t->trees.len > n) t->trees.data[n].given = tree;
}

at_status at_template_read_compute(at_template *t, at_compute **out) {
    const char *what = at_format(t->arena, "computation of %s", t->row->name);
    const char *text = t->compute_source ? t->compute_source : t->compute_text;
    if (t->given) return at_compute_over(t->arena, t->given, &t->symbols, what, out, &t->err);
    return at_compute_parse(t->arena, &t->symbols, text, t->compute_file ? t->compute_file : what,
                            out, &t->err);
}

at_status at_template_read_tree(at_template *t, const at_compute *c, const tree_choice *x,
                                const char *what, bool may_be_open, at_tree **out) {
    if (x->given) return at_tree_over(t->arena, x->given, c, what, may_be_open, out, &t->err);
    return (may_be_open ? at_tree_parse_open : at_tree_parse)(t->arena, c, x->text, what, out,
                                                              &t->err);
}

/* 1 where it cannot be worked out. */
static int64_t evaluate(at_template *t, const char *expression, at_expr **e) {
    bool varies = false;
    int64_t value;
    const char *what = at_format(t->arena, "value asked for by %s", t->row->name);
    *e = NULL;
    if (!at_template_has_text(t, "at_evaluate", expression)) return 1;
    expression = at_strdup(t->arena, expression);
    if (at_template_expr(t, expression, what, e, &varies) != AT_OK) return 1;
    if (at_template_value(t, expression, *e, &value) != AT_OK) return 1;
    return value;
}

long long at_evaluate(at_template *t, const char *expression) {
    at_expr *e;
    int64_t value = evaluate(t, expression, &e);
    int n = t->decisions.len;
    if (!e) return value;
    if (n < t->num_forced && t->forced[n] >= 0) value = t->forced[n];
    *at_push(t->arena, &t->decisions) = t->general.len;
    at_template_note(t, -1, e, value);
    return value;
}

const char *at_textf(at_template *t, const char *format, ...) {
    va_list ap;
    if (!at_template_has_text(t, "at_textf", format)) return "";
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    char *text = at_alloc(t->arena, (size_t)n + 1);
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    return text;
}

void at_require(at_template *t, const char *condition, const char *problem) {
    at_expr *e;
    int64_t holds = evaluate(t, condition, &e);
    if (e) at_template_note(t, -1, e, holds);
    if (!at_template_has_text(t, "at_require", problem)) return;
    if (e) keep(t, (at_definition){.kind = AT_DEFINE_REQUIRE, .text = {condition, problem}});
    if (!holds) at_fail(&t->err, AT_E_USAGE, "%s", problem);
}

void at_layout(at_template *t, const char *text) {
    if (!at_template_defines(t, "at_layout", text)) return;
    at_template_keep_hashed(t, "layout", (at_definition){.kind = AT_DEFINE_LAYOUT, .text = {text}});
    at_hash_add_str(&t->hash, text);
    *at_push(t->arena, &t->layouts) = (layout){.text = at_strdup(t->arena, text)};
}

void at_sparse(at_template *t, const char *blocks, const char *indices, const char *indptr,
               const char *columns) {
    at_expr *e;
    if (!at_template_defines(t, "at_sparse", columns)) return;
    int64_t n = evaluate(t, columns, &e);
    const char *const tensors[] = {blocks, indices, indptr};
    for (int i = 0; i < 3; i++)
        if (!at_template_has_text(t, "at_sparse", tensors[i])) return;
    if (t->sparse.blocks) {
        at_fail(&t->err, AT_E_INPUT, "%s: a second sparse weight", t->row->name);
        return;
    }
    keep(t, (at_definition){.kind = AT_DEFINE_SPARSE, .text = {blocks, indices, indptr, columns}});
    const char *const *kept = t->definitions.data[t->definitions.len - 1].text;
    t->sparse = (sparse_weight){kept[0], kept[1], kept[2], n};
}

void at_flops(at_template *t, const char *expression) {
    at_expr *e;
    if (!at_template_defines(t, "at_flops", expression)) return;
    keep(t, (at_definition){.kind = AT_DEFINE_FLOPS, .text = {expression}});
    t->flops = (double)evaluate(t, expression, &e);
}
