/* schedule/build.c: numbers into a parsed tree. Everything else was settled when the text was
 * parsed, so building copies arrays; numbers are filled in for every configuration. */
#include "schedule/tree_int.h"

#include <stddef.h>
#include <string.h>

typedef struct built {
    int64_t *piece_extent; /* [pieces] */
    int *source;           /* [nodes] the node as written that it is: loops in an order */
    int *place;            /* [nodes] and where a node as written stands */
    int *anew;             /* [nodes] those that are filled this time */
    unsigned fills;
    at_node *nodes, **loop; /* [digits] */
    int64_t *extent;        /* [digits] */
    at_arena *arena;
    watch *watch; /* NULL: it was filled once at most, or has loops in an order */
    watched watched;
    bool is_filled; /* with the values of the last time */
    at_program program;
} built;

typedef struct builder {
    const at_tree *t;
    const int64_t *values;
    int64_t *const *extents;
    int64_t *piece_extent;
    const int *place;
    at_error *err;
} builder;

static at_status piece_extents(builder *b, const tree_node *n) {
    for (int m = 0; m < n->fixed.num_pieces; m++) {
        int i = n->first_piece + m;
        const tree_piece *piece = &n->piece[m];
        int64_t x = -1;
        switch (piece->source) {
        case EXTENT_FIXED: x = piece->fixed; break;
        case EXTENT_SYMBOL: x = b->values[piece->symbol]; break;
        case EXTENT_AXIS: x = b->extents[piece->tensor][piece->axis]; break;
        case EXTENT_DYNAMIC:
        case EXTENT_OPEN: break;
        }
        b->piece_extent[i] = x;
        if (x < 1 && piece->source != EXTENT_DYNAMIC)
            return at_fail(b->err, AT_E_INPUT, "%s:%d: loop %s has extent %lld", b->t->what,
                           n->fixed.line, n->pieces.data[m], (long long)x);
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
    const tree_axis *x = &n->axes[axis];
    const at_tensor *stage = &b->t->compute->tensors[n->fixed.tensor];
    at_text text = {0};
    for (int d = 0; d < x->num_digits; d++) {
        const tree_digit *digit = &x->digit[d];
        at_text_addf(&text, "%s%s:%lld", d ? ", " : "", digit->loop->pieces.data[digit->member],
                     (long long)b->piece_extent[digit->loop->first_piece + digit->member]);
    }
    at_fail(b->err, AT_E_INPUT, "%s:%d: {%s} %s axis %s of @%s, which has extent %lld", b->t->what,
            n->fixed.line, at_text_str(&text), why, stage->axes[axis].name, stage->name,
            (long long)b->extents[n->fixed.tensor][axis]);
    at_text_free(&text);
    return AT_E_INPUT;
}

/* Parts that do not divide make the product exceed the axis, by less than one outermost iteration.
 */
static at_status fill_axis(builder *b, const tree_node *n, int axis, int64_t *extent) {
    const tree_axis *x = &n->axes[axis];
    int64_t whole = b->extents[n->fixed.tensor][axis], product = 1, inner = 1;
    for (int d = x->num_digits - 1; d >= 0; d--) {
        const tree_digit *digit = &x->digit[d];
        int64_t e = b->piece_extent[digit->loop->first_piece + digit->member];
        extent[x->first_digit + d] = e;
        inner = product;
        if (e >= 0 && !at_mul64(product, e, &product))
            return does_not_fit(b, n, axis, "exceeds by far");
    }
    if (whole < 0 || at_leaf_is_placed(b->t->compute, &n->fixed, axis)) return AT_OK;
    if (product < whole) return does_not_fit(b, n, axis, "does not reach the end of");
    if (product - whole >= inner)
        return does_not_fit(b, n, axis, "has empty outer iterations over");
    return AT_OK;
}

/* An annotation that is a size's value. */
static at_status set_ann(builder *b, const tree_node *from, at_node *n) {
    static const at_ann anns[] = {AT_ANN_NONE, AT_ANN_UNROLL, AT_ANN_VEC};
    n->ann = from->fixed.ann;
    if (from->ann_symbol < 0) return AT_OK;
    int64_t value = b->values[from->ann_symbol];
    if (value < 0 || value > 2)
        return at_fail(b->err, AT_E_INPUT,
                       "%s:%d: %s is %lld; an annotation is 0 (none), 1 (unroll) or 2 (vec)",
                       b->t->what, from->fixed.line, from->ann_size, (long long)value);
    n->ann = anns[value];
    return AT_OK;
}

/* source[i]: the node as written that node i is. Loops in an order change places. */
static at_status place_loops(builder *b, int *source) {
    for (int i = 0; i < b->t->nodes.len; i++) source[i] = i;
    for (int i = 0; i < b->t->orders.len; i++) {
        const tree_order *o = &b->t->orders.data[i];
        int left[MAX_ORDERED], n = o->num_loops;
        int64_t number = b->values[o->symbol], all = 1;
        for (int k = 0; k < n; k++) left[k] = o->loop[k]->number, all *= k + 1;
        if (number < 0 || number >= all)
            return at_fail(b->err, AT_E_INPUT, "%s:%d: %s is %lld; %d loops have orders 0 to %lld",
                           b->t->what, o->loop[0]->fixed.line, o->name, (long long)number, n,
                           (long long)all - 1);
        for (int k = 0; k < n; k++) {
            all /= n - k;
            int chosen = (int)(number / all);
            number %= all;
            source[o->loop[k]->number] = left[chosen];
            for (int x = chosen; x < n - k - 1; x++) left[x] = left[x + 1];
        }
    }
    return AT_OK;
}

/* What depends on the order of loops. */
static at_status link_loops(builder *b, built *u) {
    const at_tree *t = b->t;
    AT_TRY(place_loops(b, u->source));
    for (int i = 0; i < t->nodes.len; i++) u->place[u->source[i]] = i;
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i], *loop_of = t->nodes.data[u->source[i]];
        for (int k = 0; k < n->num_axes; k++)
            for (int d = 0; d < n->axes[k].num_digits; d++)
                u->loop[n->axes[k].first_digit + d] =
                    &u->nodes[u->place[n->axes[k].digit[d].loop->number]];
        if (u->nodes[i].is_leaf) continue;
        u->nodes[i].num_pieces = loop_of->fixed.num_pieces;
        u->nodes[i].piece = loop_of->fixed.piece;
        u->nodes[i].piece_extent = u->piece_extent + loop_of->first_piece;
    }
    return AT_OK;
}

static bool is_filled_anew(const built *u, int node, uint64_t changes) {
    return !u->watch || is_changed(u->watched.node[node], changes);
}

/* changes: bits of values, as watched. */
static at_status fill(builder *b, built *u, uint64_t changes) {
    const at_tree *t = b->t;
    int num = 0;
    u->fills++;
    if (t->orders.len) AT_TRY(link_loops(b, u));
    for (int i = 0; i < t->nodes.len; i++) {
        if (!is_filled_anew(u, i, changes)) continue;
        u->anew[num++] = i;
        if (!t->nodes.data[i]->stage) AT_TRY(piece_extents(b, t->nodes.data[i]));
    }
    for (int m = 0; m < num; m++) {
        const int i = u->anew[m];
        const tree_node *from = t->nodes.data[i], *loop_of = t->nodes.data[u->source[i]];
        at_node *n = &u->nodes[i];
        n->filled = u->fills;
        if (n->is_leaf) {
            AT_TRY(build_attributes(from, b->values, n, b->err));
            for (int k = 0; k < from->num_axes; k++) AT_TRY(fill_axis(b, from, k, u->extent));
        } else {
            AT_TRY(set_ann(b, loop_of, n));
            AT_TRY(loop_extent(b, loop_of, &n->extent));
        }
    }
    return AT_OK;
}

at_program *at_program_empty(at_arena *a, const at_tree *t) {
    const int num_nodes = t->nodes.len;
    built *u = AT_NEW(a, built);
    u->piece_extent = AT_NEW_ARRAY(a, int64_t, t->num_pieces);
    u->source = AT_NEW_ARRAY(a, int, num_nodes);
    u->place = AT_NEW_ARRAY(a, int, num_nodes);
    u->anew = AT_NEW_ARRAY(a, int, num_nodes);
    u->nodes = AT_NEW_ARRAY(a, at_node, num_nodes);
    u->loop = AT_NEW_ARRAY(a, at_node *, t->num_digits);
    u->extent = AT_NEW_ARRAY(a, int64_t, t->num_digits);
    at_digits *axes = AT_NEW_ARRAY(a, at_digits, t->num_axes);
    for (int i = 0; i < num_nodes; i++) {
        const tree_node *from = t->nodes.data[i];
        at_node *n = &u->nodes[i];
        *n = from->fixed;
        if (from->parent) n->parent = &u->nodes[from->parent->number];
        if (from->child) n->child = &u->nodes[from->child->number];
        if (from->next) n->next = &u->nodes[from->next->number];
        if (!n->is_leaf) continue;
        n->axes = axes + from->first_axis;
        n->num_axes = from->num_axes;
        for (int k = 0; k < from->num_axes; k++) {
            const tree_axis *axis = &from->axes[k];
            n->axes[k] = (at_digits){axis->num_digits, u->loop + axis->first_digit,
                                     t->members + axis->first_digit, u->extent + axis->first_digit};
        }
        const at_tensor *x = &t->compute->tensors[n->tensor];
        if (n->is_running) n->axes[x->num_axes] = n->axes[at_running_axis(x)];
    }
    u->program = (at_program){.compute = t->compute,
                              .file = t->stands ? t->what : NULL,
                              .extents = extents_room(a, t->compute),
                              .piece_names = t->piece_names.data,
                              .root = u->nodes,
                              .num_loops = t->num_loops,
                              .dissolved = t->dissolved};
    u->arena = a;
    builder b = {.t = t};
    if (!t->orders.len) link_loops(&b, u);
    return &u->program;
}

at_status at_program_fill(const at_tree *t, const int64_t *values, at_program *p, at_error *err) {
    built *u = (built *)((char *)p - offsetof(built, program));
    builder b = {t, values, p->extents, u->piece_extent, u->place, err};
    if (u->is_filled && !u->watch && !t->orders.len) u->watch = watch_of(u->arena, t, &u->watched);
    const watched *w = u->watch ? &u->watched : NULL;
    uint64_t changes = w ? watch_changes(u->watch, values) : ~UINT64_C(0);
    if (!u->is_filled) changes = ~UINT64_C(0);
    u->is_filled = false; /* should this one fail */
    p->values = values;
    AT_TRY(fill_extents(t->compute, values, w, changes, p->extents, err));
    AT_TRY(fill(&b, u, changes));
    u->is_filled = true;
    return AT_OK;
}

at_status at_program_build(at_arena *a, const at_tree *t, const int64_t *values, at_program **out,
                           at_error *err) {
    at_program *p = at_program_empty(a, t);
    AT_TRY(at_program_fill(t, values, p, err));
    *out = p;
    return AT_OK;
}
