/* templates/define.c: a template is defined: its define() is called, or its calls are repeated, and
 * what they noted is parsed when all names are known. */
#include "templates/template_int.h"

#include <string.h>

void at_define(at_template *t, const at_definition *d) {
    const char *const *x = d->text;
    switch (d->kind) {
    case AT_DEFINE_SIZES: at_sizes(t, x[0]); return;
    case AT_DEFINE_SPLIT: at_split_(t, x[0], x[1], x[2], d->spec); return;
    case AT_DEFINE_OPTION: at_option(t, x[0], x[1], d->fallback); return;
    case AT_DEFINE_REORDER: at_reorder(t, x[0], x[1], d->fallback, x[2]); return;
    case AT_DEFINE_ANNOTATE: at_annotate(t, x[0], x[1], x[2]); return;
    case AT_DEFINE_FILTER: at_joint_filter(t, x[0]); return;
    case AT_DEFINE_LAYOUT: at_layout(t, x[0]); return;
    case AT_DEFINE_SPARSE: at_sparse(t, x[0], x[1], x[2], x[3]); return;
    case AT_DEFINE_FLOPS: at_flops(t, x[0]); return;
    case AT_DEFINE_REQUIRE: at_require(t, x[0], x[1]); return;
    case AT_DEFINE_KINDS: break;
    }
    AT_BUG("definition of kind %d", d->kind);
}

void at_sketch_add(at_template *t, const char *name, const at_template_row *row,
                   at_preference preference, const void *mark) {
    if (!at_template_defines(t, "at_sketch_add", name)) return;
    *at_push(t->arena, &t->sketches) =
        (sketch_choice){at_strdup(t->arena, name), row, preference, mark};
}

void at_template_compute_stands(at_template *t, const char *file, const char *source) {
    t->compute_file = file;
    t->compute_source = source;
}

const at_compute *at_template_computation(const at_template *t) { return t->compute; }

void at_template_stands_at(at_template *t, const char *file, int line) {
    if (t->err.status == AT_OK || t->has_place) return;
    at_fail_at(&t->err, "%s:%d: ", file, line);
    t->has_place = true;
}

const at_tree *at_template_begun(const at_template *t) { return t->begun; }

void at_template_tree_stands(at_template *t, const at_tree *written) { t->written = written; }

const at_definition *at_template_definitions(const at_template *t, int *n) {
    *n = t->definitions.len;
    return t->definitions.data;
}

/* What knobs and layouts are for, only a schedule says. */
static bool leaves_all(const at_template *t) {
    for (int i = 0; i < t->definitions.len; i++)
        if (t->definitions.data[i].kind != AT_DEFINE_SIZES &&
            t->definitions.data[i].kind != AT_DEFINE_REQUIRE)
            return false;
    return t->compute_text && !t->trees.len && !t->sketches.len && !t->sparse.blocks && !t->filter;
}

at_arena *at_template_arena(at_template *t) { return t->arena; }

void at_template_numbers(at_template *t, at_arena *a, at_symbols *names, int64_t **values,
                         bool **varies) {
    int n = t->symbols.names.len;
    *values = AT_NEW_ARRAY(a, int64_t, n + 1);
    *varies = AT_NEW_ARRAY(a, bool, n + 1);
    for (int i = 0; i < n; i++) {
        at_symbol_add(a, names, t->symbols.names.data[i]);
        (*values)[i] = t->values.data[i].value;
        (*varies)[i] = t->values.data[i].varies;
    }
}

void at_template_refuse(at_template *t, const at_error *err) {
    if (t->err.status == AT_OK) at_fail_lines(&t->err, err->status, "%s", err->text);
}

static at_status parse_tree(at_template *t, tree_choice *c, int number) {
    const char *what =
        t->compute_file ? t->compute_file : at_format(t->arena, "schedule of %s", t->row->name);
    if (t->trees.len > 1) what = at_format(t->arena, "schedule %d of %s", number, t->row->name);
    if (*c->condition_text) {
        at_expr *e;
        bool varies = false;
        AT_TRY(at_template_expr(t, c->condition_text, at_format(t->arena, "condition of %s", what),
                                &e, &varies));
        c->condition = e;
    }
    AT_TRY(at_template_read_tree(t, t->compute, c, what, false, &c->tree));
    if (t->compute_file || t->written) at_tree_stands(c->tree, t->written);
    return AT_OK;
}

/* Whether an only schedule leaves something open, and nothing that a sketch cannot repeat is
 * declared. */
static at_status leaves_rest(at_template *t, bool *out) {
    const char *what =
        t->compute_file ? t->compute_file : at_format(t->arena, "schedule of %s", t->row->name);
    at_tree *tree;
    *out = false;
    if (t->trees.len != 1 || *t->trees.data[0].condition_text || t->row->defaults ||
        t->layouts.len || t->sparse.blocks || t->flops >= 0 || t->sketches.len)
        return AT_OK;
    AT_TRY(at_template_read_tree(t, t->compute, &t->trees.data[0], what, true, &tree));
    *out = at_tree_is_open(tree);
    if (*out) t->begun = tree;
    if (*out && t->compute_file) at_tree_stands(tree, NULL);
    return AT_OK;
}

/* Sums of as many as there are sketches have an index each, and so have an operator's. */
at_space *at_template_space(at_arena *a) {
    at_space *s = at_space_new(a);
    at_space_thin(s, INT64_C(1) << 56);
    return s;
}

/* Knobs are its sketches' from here on. */
static void leave_to_sketches(at_template *t) {
    t->space = at_template_space(t->arena);
    t->trees.len = t->steps.len = t->defaults.len = 0;
    t->filter = NULL;
}

/* A sparse weight's tensors are what at_sparse says they are. */
static at_status check_sparse(at_template *t) {
    static const char *const args[] = {"nnz", "R", "C"};
    const sparse_weight *s = &t->sparse;
    const struct {
        const char *name;
        at_role role;
        int dims;
    } wanted[] = {{s->blocks, AT_ROLE_WEIGHT, 3},
                  {s->indices, AT_ROLE_INDEX, 1},
                  {s->indptr, AT_ROLE_INDEX, 1}};
    if (!s->blocks) return AT_OK;
    for (int i = 0; i < 3; i++) {
        int n = at_compute_find(t->compute, wanted[i].name);
        const at_tensor *tensor = n < 0 ? NULL : &t->compute->tensors[n];
        if (!tensor || tensor->role != wanted[i].role || tensor->num_axes != wanted[i].dims)
            return at_fail(&t->err, AT_E_INPUT, "%s: the sparse weight needs %s \"%s\" of %d axes",
                           t->row->name, i ? "an index" : "a weight", wanted[i].name,
                           wanted[i].dims);
        if (!at_args_find(t, args[i], strlen(args[i])))
            return at_fail(&t->err, AT_E_INPUT, "%s: the sparse weight needs an argument \"%s\"",
                           t->row->name, args[i]);
    }
    return AT_OK;
}

void at_template_foreign(at_template *t, const void *mark) { t->foreign = mark; }

void at_template_add_hash(at_template *t, const char *text) { at_hash_add_str(&t->hash, text); }

void at_knob_require(at_template *t, const char *knob, const char *condition, const char *what) {
    if (!at_template_defines(t, "at_knob_require", condition)) return;
    at_hash_add_str(&t->hash, "require");
    if (knob) at_hash_add_str(&t->hash, knob);
    at_hash_add_str(&t->hash, condition);
    *at_push(t->arena, &t->requires) =
        (knob_require){knob, at_strdup(t->arena, condition), at_strdup(t->arena, what)};
}

/* Values of names that no knob changes may stand in conditions. */
static at_status apply_requires(at_template *t) {
    AT_VEC(at_constant) constants = {0};
    for (int i = 0; i < t->symbols.names.len; i++)
        if (!t->values.data[i].varies)
            *at_push(t->arena, &constants) =
                (at_constant){t->symbols.names.data[i], t->values.data[i].value};
    for (int i = 0; i < t->requires.len; i++) {
        const knob_require *q = &t->requires.data[i];
        int knob = q->knob ? at_space_find_knob(t->space, q->knob) : -1;
        AT_TRY(at_space_require(t->space, knob, q->condition, q->what, constants.data,
                                constants.len, &t->err));
    }
    return AT_OK;
}

static at_status check_shape(at_template *t, const at_tensor *x) {
    for (int k = 0; k < x->num_axes; k++)
        for (int s = 0; s < t->values.len; s++)
            if (t->values.data[s].varies && x->axes[k].extent && at_expr_uses(x->axes[k].extent, s))
                return at_fail(&t->err, AT_E_INPUT,
                               "%s: the shape of %s depends on a knob (%s); all configurations of "
                               "a kernel have the same data",
                               t->row->name, x->name, t->symbols.names.data[s]);
    return AT_OK;
}

/* Of a kernel that somebody wrote. */
static at_status define_foreign(at_template *t) {
    for (int i = 0; i < t->compute->num_tensors; i++)
        AT_TRY(check_shape(t, &t->compute->tensors[i]));
    AT_TRY(apply_requires(t));
    if (at_space_settle(t->space, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    int64_t first = at_space_is_valid(t->space, 0) ? 0 : at_space_next(t->space, 0, 1, 0, 0);
    return at_config_at(t->arena, t->space, first, &t->first_valid, &t->err);
}

/* What define() noted, now that all names are known. */
static at_status parse_computation(at_template *t) {
    bool begun;
    if (!t->compute_text)
        return at_fail(&t->err, AT_E_INPUT, "%s: defines no computation", t->row->name);
    AT_TRY(at_template_read_compute(t, &t->compute));
    if (t->foreign) return AT_OK; /* there is no tree to be left open */
    AT_TRY(leaves_rest(t, &begun));
    t->open = leaves_all(t) ? OPEN_ALL : begun ? OPEN_REST : OPEN_NOTHING;
    return AT_OK;
}

static at_status parse_texts(at_template *t) {
    AT_TRY(t->err.status); /* whoever made its sketches refused it */
    if (t->foreign) return define_foreign(t);
    if (t->open == OPEN_REST) leave_to_sketches(t);
    if (t->filter && at_space_filter(t->space, t->filter, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    if (!t->trees.len && !t->sketches.len)
        return at_fail(&t->err, AT_E_INPUT, "%s: defines no schedule", t->row->name);
    for (int i = 0; i < t->trees.len; i++) AT_TRY(parse_tree(t, &t->trees.data[i], i + 1));
    for (int i = 0; i < t->layouts.len; i++) AT_TRY(at_layout_parse(t, &t->layouts.data[i]));
    return check_sparse(t);
}

static at_status first_mistake(const at_template *t, at_status s, at_error *err) {
    return s == AT_OK ? AT_OK : at_fail_lines(err, t->err.status, "%s", t->err.text);
}

at_status at_template_define(at_template *t, at_error *err) {
    t->flops = -1;
    AT_TRY(at_call_define(t, err));
    return first_mistake(t, parse_computation(t), err);
}

at_status at_template_finish(at_template *t, at_error *err) {
    return first_mistake(t, parse_texts(t), err);
}
