/* sketch/history.c: see history.h. */

#include <string.h>

#include "sketch/sketch_int.h"

/* ---- of a configuration ---------------------------------------------------------------------- */

/* Sizes that a computation is made with and that knobs decide on. */
static void add_sizes(at_arena *a, const at_task *t, const int64_t *values, at_edits *out) {
    const at_symbols *names = at_task_compute(t)->symbols;
    at_text text = {0};
    at_compute_print(&text, at_task_compute(t));
    for (int i = 0; i < names->names.len; i++) {
        if (!at_task_varies(t, i) || !sketch_has_word(at_text_str(&text), names->names.data[i]))
            continue;
        at_edit *e = at_push(a, out);
        *e = (at_edit){.kind = AT_EDIT_SIZE};
        e->names[0] = names->names.data[i];
        e->sizes[0] = values[i];
    }
    at_text_free(&text);
}

/* An attribute with the numbers of its sizes: "[prefetch x 2048]" of "[prefetch x ahead]". */
static const char *in_numbers(at_arena *a, const char *text, const at_symbols *names,
                              const int64_t *values) {
    at_text out = {0};
    while (*text) {
        size_t n = strcspn(text, " ]");
        int slot = at_symbol_find(names, at_strndup(a, text, n));
        if (slot >= 0 && out.len) at_text_addf(&out, "%lld", (long long)values[slot]);
        else at_text_addn(&out, text, n);
        text += n;
        if (*text) at_text_addn(&out, text++, 1);
    }
    return at_text_take(a, &out);
}

/* What a rule did, with the numbers that its names have now. Names of loops that a later edit took
 * away have none. */
static at_edit with_numbers(at_arena *a, const at_edit *e, const at_symbols *names,
                            const int64_t *values) {
    at_edit out = *e;
    if (e->kind == AT_EDIT_ATTRIBUTE) out.other = in_numbers(a, e->other, names, values);
    if (e->kind != AT_EDIT_SPLIT) return out;
    out.knob = out.other = NULL;
    for (int i = 0; i < at_edit_num_names(e); i++) {
        int slot = at_symbol_find(names, e->names[i]);
        if (!out.sizes[i]) out.sizes[i] = slot >= 0 ? values[slot] : 1;
    }
    return out;
}

static const at_sketch *sketch_of(const at_task *t, const at_task *own) {
    for (int i = 0; i < at_task_num_sketches(t); i++)
        if (at_task_sketch(t, i) == own) return at_sketch_of_task(t, i);
    return NULL;
}

/* The steps of a tree that was begun by hand: they come first, and are over the computation as it
 * was before the rules edited it. */
static at_status steps_of_begun(at_arena *a, const at_tree *tree, const at_program *p,
                                at_edits *out, at_error *err) {
    const at_symbols *names = at_tree_symbols(tree);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, names->names.len + 1);
    at_program *begun;
    for (int i = 0; i < names->names.len; i++) {
        int slot = at_symbol_find(p->compute->symbols, names->names.data[i]);
        values[i] = slot >= 0 ? p->values[slot] : 1;
    }
    AT_TRY(at_program_build(a, tree, values, &begun, err));
    return at_tree_steps(a, begun, tree, out, err);
}

at_status at_steps_of(at_arena *a, const at_task *t, const at_config *c, at_steps *out,
                      at_error *err) {
    at_config own_config;
    const at_task *own = at_task_of_config(t, c, &own_config);
    const at_sketch *sketch = sketch_of(t, own);
    at_edits steps = {0};
    at_program *p;
    const at_tree *tree;
    AT_TRY(at_task_program(a, own, &own_config, &p, err));
    if (sketch && sketch->begun) AT_TRY(steps_of_begun(a, sketch->begun, p, &steps, err));
    for (int i = 0; sketch && i < sketch->num_steps; i++)
        *at_push(a, &steps) = with_numbers(a, &sketch->steps[i], p->compute->symbols, p->values);
    if (!sketch) {
        AT_TRY(at_task_tree(a, own, &own_config, &tree, err));
        add_sizes(a, own, p->values, &steps);
        AT_TRY(at_tree_steps(a, p, tree, &steps, err));
    }
    *out = (at_steps){steps.data, steps.len};
    return AT_OK;
}

void at_steps_print(at_text *out, const at_task *t, const at_steps *h) {
    at_text_addf(out, "# %s %s\n", at_task_row(t)->name, at_task_args_text(t));
    for (int i = 0; i < h->num_steps; i++) {
        at_edit_print(out, &h->steps[i]);
        at_text_add(out, "\n");
    }
}

at_status at_steps_parse(at_arena *a, const char *what, const char *text, at_steps *out,
                         at_error *err) {
    enum { MOST_STEPS = 10000 };
    at_edits steps = {0};
    at_lex l;
    AT_TRY(at_lex_start(&l, at_strdup(a, text), what, err));
    while (l.kind != AT_TOK_END) {
        if (steps.len == MOST_STEPS) return at_lex_fail(&l, err, "more than %d steps", MOST_STEPS);
        AT_TRY(at_edit_parse(a, &l, at_push(a, &steps), err));
    }
    *out = (at_steps){steps.data, steps.len};
    return AT_OK;
}

/* ---- and back -------------------------------------------------------------------------------- */

typedef struct number {
    int64_t value;
    bool known; /* else a knob's, and the steps are to say it */
} number;

typedef struct replay {
    at_arena *arena;
    const at_task *task;
    at_symbols *symbols;
    AT_VEC(number) numbers; /* [symbols] */
    at_error *err;
} replay;

/* Takes the numbers that an edit gives to names; a name that has one keeps it. */
static at_status take_numbers(replay *r, const at_edit *e) {
    for (int i = 0; i < at_edit_num_names(e); i++) {
        if (!e->sizes[i]) continue;
        int slot = at_symbol_find(r->symbols, e->names[i]);
        if (slot < 0 && e->kind == AT_EDIT_SIZE)
            return at_fail(r->err, AT_E_INPUT, "the computation has no size \"%s\"", e->names[i]);
        if (slot < 0) {
            slot = at_symbol_add(r->arena, r->symbols, e->names[i]);
            *at_push(r->arena, &r->numbers) = (number){0};
        }
        number *x = &r->numbers.data[slot];
        if (x->known && x->value != e->sizes[i])
            return at_fail(r->err, AT_E_INPUT, "%s is %lld, not %lld", e->names[i],
                           (long long)x->value, (long long)e->sizes[i]);
        *x = (number){e->sizes[i], true};
    }
    return AT_OK;
}

/* An inlined sum's terms are as many as its reductions have here. */
static at_status check_lengths(replay *r, const at_edit *e, const at_compute *c) {
    int stage = at_compute_find(c, e->stage);
    const at_tensor *x = stage < 0 ? NULL : &c->tensors[stage];
    int64_t *values = AT_NEW_ARRAY(r->arena, int64_t, r->numbers.len + 1);
    for (int i = 0; i < r->numbers.len; i++) values[i] = r->numbers.data[i].value;
    for (int k = x ? x->num_axes : 0; x && k < x->num_axes + x->num_reduce; k++)
        for (int i = 0; i < at_edit_num_names(e); i++) {
            int64_t length;
            if (strcmp(x->axes[k].name, e->names[i]) || x->axes[k].begin) continue;
            AT_TRY(at_expr_eval(x->axes[k].extent, values, &length, r->err));
            if (length != e->sizes[i])
                return at_fail(r->err, AT_E_INPUT, "%s is %lld, not %lld", e->names[i],
                               (long long)length, (long long)e->sizes[i]);
        }
    return AT_OK;
}

static at_status start(replay *r, const at_steps *h, const at_compute **c, at_tree **tree) {
    const at_compute *from = at_task_compute(r->task);
    at_compute *own;
    int64_t *values;
    at_config any;
    AT_TRY(at_task_default_config(r->arena, r->task, 8, &any, r->err));
    AT_TRY(at_task_values(r->arena, r->task, &any, &values, r->err));
    r->symbols = AT_NEW(r->arena, at_symbols);
    for (int i = 0; i < from->symbols->names.len; i++) {
        at_symbol_add(r->arena, r->symbols, from->symbols->names.data[i]);
        *at_push(r->arena, &r->numbers) = (number){values[i], !at_task_varies(r->task, i)};
    }
    for (int i = 0; i < h->num_steps; i++)
        if (h->steps[i].kind == AT_EDIT_SIZE) AT_TRY(take_numbers(r, &h->steps[i]));
    AT_TRY(at_compute_over(r->arena, from, r->symbols, "computation", &own, r->err));
    *c = own;
    return at_edit_plain(r->arena, own, tree, r->err);
}

static at_status apply(replay *r, const char *what, const at_edit *e, const at_compute **c,
                       at_tree **tree) {
    at_definition knob;
    at_status s = e->kind == AT_EDIT_INLINE ? check_lengths(r, e, *c) : take_numbers(r, e);
    if (s == AT_OK) s = at_edit_make(r->arena, r->symbols, *c, *tree, e, c, tree, &knob, r->err);
    if (s == AT_OK) return AT_OK;
    at_text text = {0};
    at_edit_print(&text, e);
    at_fail_at(r->err, "%s: %s: ", what, at_text_str(&text));
    at_text_free(&text);
    return r->err ? (r->err->status = AT_E_INPUT) : AT_E_INPUT;
}

/* Every name that is no argument as the number it has. */
static const char *number_text(const replay *r) {
    at_text text = {0};
    for (int i = at_task_num_numbers(r->task); i < r->numbers.len; i++)
        if (r->numbers.data[i].known)
            at_text_addf(&text, "%s%s = %lld", text.len ? ", " : "", r->symbols->names.data[i],
                         (long long)r->numbers.data[i].value);
    return at_text_take(r->arena, &text);
}

/* The computation as it was, with the rewritten one as its sketch. */
static const at_template_row *as_sketch(const replay *r, const at_steps *h, at_schedulable *s) {
    const at_compute *c = at_task_compute(r->task);
    at_sketch *sketch = AT_NEW(r->arena, at_sketch);
    replay before = *r;
    before.numbers.len = c->symbols->names.len;
    const at_definition sizes = {.kind = AT_DEFINE_SIZES, .text = {number_text(&before)}};
    *sketch = (at_sketch){.name = "steps", .s = s, .steps = h->steps, .num_steps = h->num_steps};
    const at_schedulable like = {.row = s->row,
                                 .definitions = &sizes,
                                 .num_definitions = *sizes.text[0] != 0,
                                 .compute = c,
                                 .sketch = sketch};
    return &at_schedulable_untried(r->arena, &like)->row;
}

at_status at_steps_row(at_arena *a, const at_task *t, const char *what, const at_steps *h,
                       const at_template_row **out, at_error *err) {
    replay r = {.arena = a, .task = t, .err = err};
    const at_compute *c;
    at_tree *tree;
    bool rewritten = false;
    if (start(&r, h, &c, &tree) != AT_OK) return at_fail_at(err, "%s: ", what);
    for (int i = 0; i < h->num_steps; i++) {
        const at_edit *e = &h->steps[i];
        const at_compute *before = c;
        if (e->kind != AT_EDIT_SIZE) AT_TRY(apply(&r, what, e, &c, &tree));
        rewritten |= c != before;
    }
    at_schedulable *s = sketch_fixed(a, t, number_text(&r), c, tree, NULL);
    if (at_schedulable_try_only(a, s, err) != AT_OK) {
        at_fail_at(err, "%s: ", what);
        return err ? (err->status = AT_E_INPUT) : AT_E_INPUT;
    }
    *out = rewritten ? as_sketch(&r, h, s) : &s->row;
    return AT_OK;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static const at_definition *definition_of(const at_task *t, const char *knob) {
    for (int i = 0; i < at_task_num_definitions(t); i++) {
        const at_definition *d = at_task_definition(t, i);
        bool is_knob = d->kind == AT_DEFINE_SPLIT || d->kind == AT_DEFINE_OPTION ||
                       d->kind == AT_DEFINE_REORDER || d->kind == AT_DEFINE_ANNOTATE;
        if (is_knob && !strcmp(d->text[0], knob)) return d;
    }
    return NULL;
}

static void add_numbers(at_text *out, const int64_t *x, int n) {
    at_text_add(out, "[");
    for (int i = 0; i < n; i++) at_text_addf(out, "%s%lld", i ? ", " : "", (long long)x[i]);
    at_text_add(out, "]");
}

static void trace_knob(const at_task *t, const at_config *c, int knob, at_text *out) {
    const at_entity *e = &c->entities[knob];
    const at_definition *d = definition_of(t, c->names[knob]);
    int64_t sizes[AT_EDIT_MAX_NAMES];
    at_text_addf(out, "%s = ", c->names[knob]);
    switch (e->kind) {
    case AT_KNOB_SPLIT:
        at_text_addf(out, "sample_tile(%s, %d) -> ", d ? d->text[1] : "?", e->n);
        for (int i = 0; i < e->n && i < AT_EDIT_MAX_NAMES; i++)
            sizes[i] = i ? e->sizes[i] : at_split_part(e, at_space_knob_length(c->space, knob), 0);
        add_numbers(out, sizes, e->n);
        break;
    case AT_KNOB_REORDER:
        at_text_addf(out, "sample_order(%d) -> ", e->n);
        add_numbers(out, e->sizes, e->n);
        break;
    case AT_KNOB_ANNOTATE:
        at_text_addf(out, "sample_annotation(%s) -> [", d ? d->text[1] : "?");
        for (int i = 0; i < e->n; i++) at_text_addf(out, "%s%s", i ? ", " : "", e->marks[i]);
        at_text_add(out, "]");
        break;
    case AT_KNOB_OPTION:
        at_text_addf(out, "sample_categorical(%s) -> ", d ? d->text[1] : "?");
        at_json_print(out, e->option);
        break;
    }
    at_text_add(out, "\n");
}

at_status at_trace_print(at_arena *a, const at_task *t, const at_config *c, at_text *out,
                         at_error *err) {
    at_config own_config;
    const at_task *own = at_task_of_config(t, c, &own_config);
    at_program *p;
    AT_TRY(at_task_program(a, own, &own_config, &p, err));
    if (own != t) {
        at_text_add(out, "sketch = sample_categorical([");
        for (int i = 0; i < at_task_num_sketches(t); i++)
            at_text_addf(out, "%s\"%s\"", i ? ", " : "", at_task_sketch_name(t, i));
        at_text_addf(out, "]) -> \"%s\"\n", sketch_of(t, own) ? sketch_of(t, own)->name : "");
    }
    for (int k = 0; k < own_config.num_knobs; k++) trace_knob(own, &own_config, k, out);
    return AT_OK;
}
