/* sketch/schedulable_edit.c: the edit of tree and computation that an at_edit asks for, and the
 * knob that it adds. */
#include "sketch/schedulable.h"

#include <string.h>

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
        *out = at_text_take(a, &text);
        return AT_OK;
    }
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
static at_status split(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
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

/* ---- all ------------------------------------------------------------------------------------- */

at_status at_edit_make(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                       const at_edit *e, const at_compute **compute, at_tree **tree,
                       at_definition *knob, at_error *err) {
    int n = at_edit_num_names(e);
    *knob = (at_definition){0};
    *compute = c;
    switch (e->kind) {
    case AT_EDIT_SPLIT: return split(a, symbols, c, t, e, tree, knob, err);
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
    case AT_EDIT_INLINE:
        AT_TRY(at_edit_inline(a, t, e->stage, e->names, e->sizes, n, compute, tree, err));
        keep_lengths(a, c, e, knob);
        return AT_OK;
    case AT_EDIT_COPY:
        return at_edit_copy(a, t, e->copy, e->copy == AT_COPY_WRITE ? e->stage : e->other, e->stage,
                            e->names[0], compute, tree, err);
    case AT_EDIT_RENAME: return at_edit_rename(a, t, e->stage, e->names, n, compute, tree, err);
    case AT_EDIT_WIDEN: return at_edit_widen(a, t, e->stage, e->loop, compute, tree, err);
    case AT_EDIT_OPERAND:
        return at_edit_operand(a, t, e->stage, e->other, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_TURN:
        return at_edit_turn(a, t, e->stage, e->other, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_ACROSS:
        return at_edit_across(a, t, e->stage, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_SHIFT:
        return at_edit_shift(a, t, e->stage, e->other,
                             &(at_edit_shift_names){e->names[0], e->names[1], e->names[2]}, compute,
                             tree, err);
    case AT_EDIT_PHASES:
        return at_edit_phases(a, t, e->stage, e->loop, e->names[0], e->other != NULL, compute, tree,
                              err);
    case AT_EDIT_BRANCHES: return at_edit_branches(a, t, e->stage, e->names, compute, tree, err);
    case AT_EDIT_UNPACK:
        return at_edit_unpack(a, t, e->stage, e->loop, e->names[0], compute, tree, err);
    case AT_EDIT_FACTOR:
        return at_edit_factor(a, t, e->stage, e->loop, e->names[0], e->other, compute, tree, err);
    case AT_EDIT_MARK: return at_edit_mark(a, t, c, e->stage, e->loop, e->ann, tree, err);
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}
