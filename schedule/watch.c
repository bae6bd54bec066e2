/* schedule/watch.c: which values the numbers of a built tree depend on, so that another
 * configuration fills in only what its values change. */
#include "schedule/tree_int.h"

enum { MOST_WATCHED = 64 };

struct watch {
    int slot[MOST_WATCHED], num; /* num -1: more than these, all are taken to change */
    int64_t value[MOST_WATCHED]; /* at the last time */
    bool is_known;
    uint64_t seen; /* in the expression that is looked through */
};

static uint64_t bit_of(watch *w, int slot) {
    if (w->num < 0) return 0;
    for (int i = 0; i < w->num; i++)
        if (w->slot[i] == slot) return UINT64_C(1) << i;
    if (w->num == MOST_WATCHED) {
        w->num = -1;
        return 0;
    }
    w->slot[w->num] = slot;
    return UINT64_C(1) << w->num++;
}

static at_walk add_value(const at_expr *e, void *ctx) {
    watch *w = ctx;
    if (e->op != AT_X_NAME && e->op != AT_X_EXTENT && e->op != AT_X_FIELD) return AT_WALK_ON;
    if (e->ref >= 0) w->seen |= bit_of(w, e->ref);
    return AT_WALK_PAST;
}

/* NULL: none. */
static uint64_t values_of(watch *w, const at_expr *e) {
    w->seen = 0;
    if (e) at_expr_walk(e, add_value, w);
    return w->seen;
}

static uint64_t values_of_piece(watch *w, const tree_piece *p, const uint64_t *extents) {
    if (p->source == EXTENT_SYMBOL) return bit_of(w, p->symbol);
    return p->source == EXTENT_AXIS ? extents[p->tensor] : 0;
}

static uint64_t values_of_node(watch *w, const tree_node *n, const uint64_t *extents) {
    uint64_t bits = n->ann_symbol >= 0 ? bit_of(w, n->ann_symbol) : 0;
    if (!n->fixed.is_leaf) {
        for (int m = 0; m < n->fixed.num_pieces; m++)
            bits |= values_of_piece(w, &n->piece[m], extents);
        return bits;
    }
    bits = extents[n->fixed.tensor] | values_of(w, n->attributes.pad);
    for (int i = 0; i < n->fixed.num_prefetch; i++) bits |= values_of(w, n->attributes.prefetch[i]);
    for (int k = 0; k < n->num_axes; k++)
        for (int d = 0; d < n->axes[k].num_digits; d++) {
            const tree_digit *digit = &n->axes[k].digit[d];
            bits |= values_of_piece(w, &digit->loop->piece[digit->member], extents);
        }
    return bits;
}

watch *watch_of(at_arena *a, const at_tree *t, watched *out) {
    const at_compute *c = t->compute;
    const compute_info *info = info_of(c);
    watch *w = AT_NEW(a, watch);
    out->tensor = AT_NEW_ARRAY(a, uint64_t, c->num_tensors);
    out->divisor = AT_NEW_ARRAY(a, uint64_t, info->divisors.len);
    out->digits = AT_NEW_ARRAY(a, uint64_t, info->digit_sets.len);
    out->node = AT_NEW_ARRAY(a, uint64_t, t->nodes.len);
    for (int i = 0; i < c->num_tensors; i++)
        for (int k = 0; k < axes_of(&c->tensors[i]); k++)
            if (!c->tensors[i].axes[k].begin)
                out->tensor[i] |= values_of(w, c->tensors[i].axes[k].extent);
    for (int i = 0; i < info->divisors.len; i++)
        out->divisor[i] = values_of(w, info->divisors.data[i].expr);
    for (int i = 0; i < info->digit_sets.len; i++) {
        const digit_set *d = &info->digit_sets.data[i];
        out->digits[i] = out->tensor[d->tensor];
        for (int k = 0; k < d->num_extents; k++) out->digits[i] |= values_of(w, d->extents[k]);
    }
    for (int i = 0; i < t->nodes.len; i++)
        out->node[i] = values_of_node(w, t->nodes.data[i], out->tensor);
    return w;
}

uint64_t watch_changes(watch *w, const int64_t *values) {
    uint64_t changes = 0;
    for (int i = 0; i < w->num; i++) {
        const int64_t value = values[w->slot[i]];
        changes |= (uint64_t)(value != w->value[i]) << i;
        w->value[i] = value;
    }
    if (w->num < 0 || !w->is_known) changes = ~UINT64_C(0);
    w->is_known = true;
    return changes;
}
