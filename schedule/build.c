/* schedule/build.c: numbers into a parsed tree. Everything else was settled when the text was
 * parsed, so this copies arrays; it runs for every configuration. */
#include "schedule/schedule_int.h"

typedef struct builder {
    const at_tree *t;
    const int64_t *values;
    int64_t **extents;
    int64_t *piece_extent; /* [pieces] */
    at_error *err;
} builder;

static const char *piece_name(const at_tree *t, int piece) {
    return t->piece_names.data[t->pieces.data[piece].name];
}

static at_status piece_extents(builder *b, const tree_node *n) {
    for (int m = 0; m < n->fixed.num_pieces; m++) {
        int i = n->first_piece + m;
        const tree_piece *piece = &b->t->pieces.data[i];
        int64_t x = -1;
        switch (piece->source) {
        case EXTENT_FIXED: x = piece->fixed; break;
        case EXTENT_SYMBOL: x = b->values[piece->symbol]; break;
        case EXTENT_AXIS: x = b->extents[piece->tensor][piece->axis]; break;
        case EXTENT_DYNAMIC: break;
        }
        b->piece_extent[i] = x;
        if (x < 1 && piece->source != EXTENT_DYNAMIC)
            return at_fail(b->err, AT_E_INPUT, "%s:%d: loop %s has extent %lld", b->t->what,
                           n->fixed.line, piece_name(b->t, i), (long long)x);
    }
    return AT_OK;
}

static at_status loop_extent(builder *b, const tree_node *n, int64_t *out) {
    int64_t product = 1;
    for (int m = 0; m < n->fixed.num_pieces; m++)
        if (!at_mul64(product, b->piece_extent[n->first_piece + m], &product))
            return at_fail(b->err, AT_E_INPUT, "%s:%d: a fused loop exceeds 2^63 iterations",
                           b->t->what, n->fixed.line);
    *out = product;
    return AT_OK;
}

static at_status does_not_fit(builder *b, const tree_node *n, int axis, const char *why) {
    const tree_axis *x = &b->t->axes.data[n->first_axis + axis];
    const at_tensor *stage = &b->t->compute->tensors[n->fixed.tensor];
    at_text text = {0};
    for (int d = 0; d < x->num_digits; d++) {
        const tree_digit *digit = &b->t->digits.data[x->first_digit + d];
        int piece = b->t->nodes.data[digit->loop].first_piece + digit->member;
        at_text_addf(&text, "%s%s:%lld", d ? ", " : "", piece_name(b->t, piece),
                     (long long)b->piece_extent[piece]);
    }
    at_fail(b->err, AT_E_INPUT, "%s:%d: {%s} %s axis %s of @%s, which has extent %lld", b->t->what,
            n->fixed.line, at_text_str(&text), why, stage->axes[axis].name, stage->name,
            (long long)b->extents[n->fixed.tensor][axis]);
    at_text_free(&text);
    return AT_E_INPUT;
}

/* Parts that do not divide make the product exceed the axis, by less than one outermost iteration.
 */
static at_status fill_axis(builder *b, const tree_node *n, int axis, at_node *nodes, at_digits *out,
                           at_node **loop, int64_t *extent) {
    const tree_axis *x = &b->t->axes.data[n->first_axis + axis];
    int64_t whole = b->extents[n->fixed.tensor][axis], product = 1, inner = 1;
    *out = (at_digits){x->num_digits, loop + x->first_digit, b->t->members + x->first_digit,
                       extent + x->first_digit};
    for (int d = x->num_digits - 1; d >= 0; d--) {
        const tree_digit *digit = &b->t->digits.data[x->first_digit + d];
        int64_t e = b->piece_extent[b->t->nodes.data[digit->loop].first_piece + digit->member];
        loop[x->first_digit + d] = &nodes[digit->loop];
        extent[x->first_digit + d] = e;
        inner = product;
        if (e >= 0 && !at_mul64(product, e, &product))
            return does_not_fit(b, n, axis, "exceeds by far");
    }
    if (whole < 0) return AT_OK;
    if (product < whole) return does_not_fit(b, n, axis, "does not reach the end of");
    if (product - whole >= inner)
        return does_not_fit(b, n, axis, "has empty outer iterations over");
    return AT_OK;
}

at_status at_program_build(at_arena *a, const at_tree *t, const int64_t *values, at_program **out,
                           at_error *err) {
    int num_nodes = t->nodes.len;
    builder b = {.t = t, .values = values, .err = err};
    AT_TRY(at_compute_extents(a, t->compute, values, &b.extents, err));
    b.piece_extent = AT_NEW_ARRAY(a, int64_t, t->pieces.len);
    at_node *nodes = AT_NEW_ARRAY(a, at_node, num_nodes);
    at_digits *axes = AT_NEW_ARRAY(a, at_digits, t->axes.len);
    at_node **loop = AT_NEW_ARRAY(a, at_node *, t->digits.len);
    int64_t *extent = AT_NEW_ARRAY(a, int64_t, t->digits.len);
    for (int i = 0; i < num_nodes; i++) {
        const tree_node *from = &t->nodes.data[i];
        at_node *n = &nodes[i];
        *n = from->fixed;
        if (from->parent >= 0) n->parent = &nodes[from->parent];
        if (from->child >= 0) n->child = &nodes[from->child];
        if (from->next >= 0) n->next = &nodes[from->next];
        if (n->is_leaf) {
            n->axes = axes + from->first_axis;
            n->num_axes = from->num_axes;
            if (from->prefetch)
                AT_TRY(at_expr_eval(from->prefetch, values, &n->prefetch_bytes, err));
            for (int k = 0; k < from->num_axes; k++)
                AT_TRY(fill_axis(&b, from, k, nodes, n->axes + k, loop, extent));
        } else {
            n->piece_extent = b.piece_extent + from->first_piece;
            AT_TRY(piece_extents(&b, from));
            AT_TRY(loop_extent(&b, from, &n->extent));
        }
    }
    at_program *p = AT_NEW(a, at_program);
    *p = (at_program){.compute = t->compute,
                      .values = values,
                      .extents = b.extents,
                      .piece_names = t->piece_names.data,
                      .root = nodes,
                      .num_loops = t->num_loops,
                      .dissolved = t->dissolved};
    *out = p;
    return AT_OK;
}
