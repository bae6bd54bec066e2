/* sketch/rule_prefetch.c: rows of several tensors that come from beyond the caches near the core
 * are asked for while the rows before them are worked on, by an option:
 *
 *     @out = {i0, i1}/i, j      ->      @out [prefetch out ahead_out] = {i0, i1}/i, j
 *
 * where ahead_out is 0, or the bytes of as many rows as are worked on together. */
#include "sketch/tile.h"

/* The bytes of a row, one step of an axis, as an expression over sizes; NULL: no dimension goes
 * with that stride. */
static const char *row_bytes(const sketch_state *s, int tensor, int64_t stride) {
    const at_tensor *x = &s->facts->compute->tensors[tensor];
    int64_t whole = 1;
    for (int d = x->num_axes - 1; d > 0; d--) {
        whole *= s->facts->extents[tensor][d];
        if (whole != stride) continue;
        at_text text = {0};
        at_text_add(&text, "4");
        for (int k = d; k < x->num_axes; k++) {
            at_text_add(&text, "*(");
            at_expr_print(&text, x->axes[k].extent);
            at_text_add(&text, ")");
        }
        return at_text_take(s->arena, &text);
    }
    return NULL;
}

static const char *option_of(sketch_state *s) {
    for (int i = 0; i < s->definitions.len; i++)
        if (s->definitions.data[i].kind == AT_DEFINE_OPTION) return s->definitions.data[i].text[0];
    const char *knob = sketch_fresh(s, "prefetch");
    *at_push(s->arena, &s->definitions) =
        (at_definition){.kind = AT_DEFINE_OPTION, .text = {knob, "[0, 1]"}, .fallback = 1};
    at_symbol_add(s->arena, s->symbols, knob);
    return knob;
}

at_status sketch_prefetch(sketch_state *s, const char *leaf, int tensor, int64_t stride,
                          const char *rows, at_error *err) {
    const char *bytes = row_bytes(s, tensor, stride),
               *name = s->facts->compute->tensors[tensor].name;
    if (!bytes) return AT_OK;
    const char *knob = option_of(s),
               *ahead = sketch_fresh(s, at_format(s->arena, "ahead_%s", name));
    const char *sizes = rows ? at_format(s->arena, "%s = %s*%s*|%s|", ahead, knob, bytes, rows)
                             : at_format(s->arena, "%s = %s*%s", ahead, knob, bytes);
    *at_push(s->arena, &s->definitions) = (at_definition){.kind = AT_DEFINE_SIZES, .text = {sizes}};
    at_symbol_add(s->arena, s->symbols, ahead);
    at_edit e = {.kind = AT_EDIT_ATTRIBUTE,
                 .stage = leaf,
                 .other = at_format(s->arena, "[prefetch %s %s]", name, ahead)};
    return sketch_step(s, &e, err);
}
