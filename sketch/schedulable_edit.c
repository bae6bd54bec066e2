/* sketch/schedulable_edit.c: edits of schedulables: the edit of tree and computation, the knob that
 * it adds, and a trial of what came out. */
#include "sketch/schedulable.h"

#include <string.h>

static int count_names(const at_edit *e) {
    int n = 0;
    while (n < AT_EDIT_MAX_NAMES && e->names[n]) n++;
    return n;
}

static void add_names(at_text *out, const at_edit *e) {
    for (int i = 0; i < count_names(e); i++) at_text_addf(out, " %s", e->names[i]);
}

void at_edit_print(at_text *out, const at_edit *e) {
    static const char *const anns[] = {"plain", "para", "vec", "unroll"};
    static const char *const copies[] = {"write", "read", "layout"};
    switch (e->kind) {
    case AT_EDIT_SPLIT:
        at_text_addf(out, "split %s %s into", e->stage, e->loop);
        add_names(out, e);
        at_text_addf(out, e->knob ? " by %s" : " of %s", e->knob ? e->knob : e->other);
        return;
    case AT_EDIT_ORDER:
    case AT_EDIT_FUSE:
        at_text_addf(out, "%s %s:", e->kind == AT_EDIT_ORDER ? "order" : "fuse", e->stage);
        add_names(out, e);
        return;
    case AT_EDIT_NEST:
        at_text_addf(out, "nest %s %s %s in %s", e->stage, e->before ? "before" : "behind",
                     e->other, e->loop);
        return;
    case AT_EDIT_DISSOLVE: at_text_addf(out, "dissolve %s", e->stage); return;
    case AT_EDIT_COPY:
        at_text_addf(out, "copy %s %s", copies[e->copy],
                     e->copy == AT_COPY_WRITE ? e->stage : e->other);
        if (e->copy != AT_COPY_WRITE) at_text_addf(out, " for %s", e->stage);
        at_text_addf(out, " as %s", e->names[0]);
        return;
    case AT_EDIT_FACTOR:
        at_text_addf(out, "factor %s %s as %s", e->stage, e->loop, e->names[0]);
        return;
    case AT_EDIT_MARK: at_text_addf(out, "mark %s %s %s", e->stage, e->loop, anns[e->ann]); return;
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}

/* ---- split ----------------------------------------------------------------------------------- */

/* How long a loop is, as an expression over sizes: its size, or the axis that it runs. */
static at_status loop_extent(at_arena *a, const at_compute *c, const at_edit *e, const char **out,
                             at_error *err) {
    int t = at_compute_find(c, e->stage);
    if (t < 0) return at_fail(err, AT_E_INPUT, "there is no stage \"%s\"", e->stage);
    if (at_symbol_find(c->symbols, e->loop) >= 0) {
        *out = e->loop;
        return AT_OK;
    }
    const at_tensor *x = &c->tensors[t];
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        if (strcmp(x->axes[k].name, e->loop) || !x->axes[k].extent) continue;
        at_text text = {0};
        at_expr_print(&text, x->axes[k].extent);
        *out = at_strdup(a, at_text_str(&text));
        at_text_free(&text);
        return AT_OK;
    }
    return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", e->loop, e->stage);
}

/* The tree is made over symbols that know the parts; the knob goes behind all other definitions.
 * Parts of a piece divide it: it can have no tail of its own. */
static at_status split(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                       const at_edit *e, at_tree **tree, at_definition *knob, at_error *err) {
    int n = count_names(e);
    const char *axis = NULL;
    at_text parts = {0};
    if ((!e->knob && !e->other) || n < 2 || (!e->knob && n > 2))
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

/* ---- all ------------------------------------------------------------------------------------- */

at_status at_edit_make(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                       const at_edit *e, const at_compute **compute, at_tree **tree,
                       at_definition *knob, at_error *err) {
    int n = count_names(e);
    *knob = (at_definition){0};
    *compute = c;
    switch (e->kind) {
    case AT_EDIT_SPLIT: return split(a, symbols, c, t, e, tree, knob, err);
    case AT_EDIT_ORDER: return at_edit_order(a, t, c, e->stage, e->names, n, tree, err);
    case AT_EDIT_FUSE: return at_edit_fuse(a, t, c, e->stage, e->names, n, tree, err);
    case AT_EDIT_NEST:
        return at_edit_nest(a, t, c, e->stage, e->other, e->loop, e->before, tree, err);
    case AT_EDIT_DISSOLVE: return at_edit_dissolve(a, t, c, e->stage, tree, err);
    case AT_EDIT_COPY:
        return at_edit_copy(a, t, e->copy, e->copy == AT_COPY_WRITE ? e->stage : e->other, e->stage,
                            e->names[0], compute, tree, err);
    case AT_EDIT_FACTOR:
        return at_edit_factor(a, t, e->stage, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_MARK: return at_edit_mark(a, t, c, e->stage, e->loop, e->ann, tree, err);
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}

/* A split's computation is made over symbols of its own, since it adds some. */
static at_status own_symbols(at_arena *a, const at_schedulable *s, const at_edit *e,
                             at_symbols *symbols, const at_compute **c, at_error *err) {
    at_compute *own;
    for (int i = 0; i < s->compute->symbols->names.len; i++)
        at_symbol_add(a, symbols, s->compute->symbols->names.data[i]);
    for (int i = 0; i < count_names(e); i++)
        if (at_symbol_find(symbols, e->names[i]) >= 0)
            return at_fail(err, AT_E_INPUT, "\"%s\" is a size already", e->names[i]);
    AT_TRY(at_compute_parse(a, symbols, s->compute_text, "computation", &own, err));
    *c = own;
    return AT_OK;
}

/* What an edit made, as another schedulable. */
static at_status finish(at_arena *a, const at_schedulable *s, const at_compute *compute,
                        const at_tree *tree, const at_definition *knob, const at_schedulable **out,
                        at_error *err) {
    int n = s->num_definitions;
    at_definition *definitions = AT_NEW_ARRAY(a, at_definition, n + 1);
    for (int i = 0; i < n; i++) definitions[i] = s->definitions[i];
    if (knob->text[0]) definitions[n++] = *knob;
    at_text c = {0}, t = {0};
    at_compute_print(&c, compute);
    at_tree_print(&t, tree);
    at_status status =
        at_schedulable_new(a, s->row.name, s->row.args, s->row.record_args, definitions, n,
                           at_text_str(&c), at_text_str(&t), out, err);
    at_text_free(&c);
    at_text_free(&t);
    return status;
}

at_status at_schedulable_edit(at_arena *a, const at_schedulable *s, const at_edit *e,
                              const at_schedulable **out, at_error *err) {
    const at_compute *compute = s->compute;
    at_symbols *symbols = AT_NEW(a, at_symbols);
    at_definition knob;
    at_tree *tree;
    at_status status = AT_OK;
    if (e->kind == AT_EDIT_SPLIT) status = own_symbols(a, s, e, symbols, &compute, err);
    if (status == AT_OK)
        status = at_edit_make(a, symbols, compute, s->tree, e, &compute, &tree, &knob, err);
    if (status == AT_OK) status = finish(a, s, compute, tree, &knob, out, err);
    if (status == AT_OK) return AT_OK;
    at_text text = {0};
    at_edit_print(&text, e);
    at_fail_at(err, "%s: ", at_text_str(&text));
    at_text_free(&text);
    return err->status = AT_E_INPUT;
}
