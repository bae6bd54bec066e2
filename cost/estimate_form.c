/* cost/estimate_form.c: leaves as they were worked out at other points of a program. Of two points
 * of one tree that are alike in most numbers most leaves are the same. */
#include "cost/estimate_access_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- trees ----------------------------------------------------------------------------------- */

/* Sizes that a stage depends on, itself or by a stage that is computed where it is read. */
static void find_sizes(const at_estimator *e, const at_program *p, int tensor, int *sizes,
                       int *num) {
    bool *asked = calloc((size_t)e->compute->num_tensors, sizeof *asked);
    AT_NEED(asked);
    asked[tensor] = true;
    for (int t = tensor; t >= 0; t--) { /* what a stage reads stands before it */
        const est_stage *s = &e->stages[t];
        if (!asked[t]) continue;
        est_find_sizes(p->compute->tensors[t].body, MOST_SIZES_ASKED, sizes, num);
        for (int r = 0; r < s->num_reads; r++)
            asked[s->read[r]->ref] |= p->dissolved[s->read[r]->ref];
    }
    free(asked);
}

static void add_leaf(at_estimator *e, const at_program *p, const at_node *n, est_leaf *x) {
    int sizes[MOST_SIZES_ASKED];
    x->node = n;
    x->stage = &p->compute->tensors[n->tensor];
    x->most_forms = FORMS;
    x->is_conditional = x->stage->num_reduce && est_is_conditional(e->stages, p, n->tensor);
    find_sizes(e, p, n->tensor, sizes, &x->num_sizes);
    if (x->num_sizes > 0) x->sizes = at_copy(e->arena, sizes, sizeof *sizes * (size_t)x->num_sizes);
}

static bool collect(at_estimator *e, const at_program *p, const at_node *n, est_tree *t) {
    for (; n; n = n->next) {
        if (!n->is_leaf) {
            if (!collect(e, p, n->child, t)) return false;
            continue;
        }
        if (n->is_init || (p->compute->tensors[n->tensor].is_packing && !e->o.pack_inline))
            continue;
        if (t->num_leaves == e->room) return false;
        est_leaf *x = &t->leaf[t->num_leaves];
        x->place = t->num_leaves++;
        add_leaf(e, p, n, x);
    }
    return true;
}

est_tree *est_tree_of(at_estimator *e, const at_program *p) {
    est_tree *t = e->trees;
    while (t && t->program != p) t = t->next;
    if (t) return t->leaf ? t : NULL;
    t = AT_NEW(e->arena, est_tree);
    t->program = p;
    t->next = e->trees;
    e->trees = t;
    t->leaf = AT_NEW_ARRAY(e->arena, est_leaf, e->room);
    if (!collect(e, p, p->root, t)) return t->leaf = NULL, NULL;
    t->owner = AT_NEW_ARRAY(e->arena, int8_t, e->compute->num_tensors);
    t->readers = AT_NEW_ARRAY(e->arena, uint64_t, e->compute->num_tensors);
    t->buffer = AT_NEW_ARRAY(e->arena, est_buffer, e->compute->num_tensors);
    t->common = at_alloc(e->arena, sizeof *t->common * (size_t)t->num_leaves);
    for (int i = 0; i < e->compute->num_tensors; i++) t->owner[i] = -1;
    for (int i = 0; i < t->num_leaves; i++) {
        const int tensor = t->leaf[i].node->tensor;
        t->owner[tensor] = (int8_t)i;
        for (int k = 0; k < e->compute->num_tensors; k++)
            if (e->stages[tensor].reads[k]) t->readers[k] |= UINT64_C(1) << i;
    }
    return t;
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* All that the leaf's loops and accesses depend on, but for where tensors lie. Returns how many
 * numbers these are; -1: too many. */
static int find_numbers(const at_program *p, const est_leaf *x, int64_t *out) {
    const int64_t *extent = p->extents[x->node->tensor];
    int n = 0;
    if (x->num_sizes < 0) return -1;
    for (const at_node *l = x->node->parent; l; l = l->parent) {
        if (n + 2 + l->num_pieces > MOST_NUMBERS) return -1;
        out[n++] = (int64_t)(intptr_t)l->piece; /* loops in an order change places */
        out[n++] = l->ann;
        for (int m = 0; m < l->num_pieces; m++) out[n++] = l->piece_extent[m];
    }
    if (n + 1 + x->node->num_axes + x->num_sizes > MOST_NUMBERS) return -1;
    out[n++] = x->node->pad;
    for (int i = 0; i < x->node->num_axes; i++) out[n++] = extent[i];
    for (int i = 0; i < x->num_sizes; i++) out[n++] = p->values[x->sizes[i]];
    return n;
}

static uint64_t hash_of(const int64_t *number, int num) {
    uint64_t hash = 0, times = 1;
    for (int i = 0; i < num; i++) {
        times = est_mixed(times, 0);
        hash += (uint64_t)number[i] * times;
    }
    return hash;
}

static bool has_numbers(const est_form *f, const int64_t *number, int num) {
    return num >= 0 && f->made && !f->is_split && f->num_numbers == num &&
           !memcmp(f->number, number, sizeof *number * (size_t)num);
}

static est_form *new_form(at_estimator *e, const est_leaf *x) {
    int accesses = 1 + e->stages[x->node->tensor].num_reads;
    if (accesses > MAX_READS) accesses = MAX_READS;
    est_form *f = at_alloc(e->arena, sizeof *f + sizeof *f->access * (size_t)accesses);
    f->number = AT_NEW_ARRAY(e->arena, int64_t, MOST_NUMBERS);
    f->lies = AT_NEW_ARRAY(e->arena, uint64_t, accesses);
    f->shown = AT_NEW_ARRAY(e->arena, uint64_t, MAX_LOOPS + 1);
    f->seen = AT_NEW_ARRAY(e->arena, uint64_t, EST_SEEN_BESIDE + 2 * e->num_leaves);
    return f;
}

/* A leaf whose forms hardly ever come again has one, which stays in the nearest cache. */
static void count_found(est_leaf *x, bool is_found) {
    enum { SO_MANY = 256, ONE_IN = 8 };
    x->found += is_found;
    if (++x->asked < SO_MANY) return;
    if (x->found * ONE_IN < x->asked) x->most_forms = 1;
    x->asked = x->found = 0;
}

static void take(est_leaf *x, est_form *f) {
    x->is_new = true;
    x->form = f;
    x->loop = f->loop;
    x->access = f->access;
}

bool est_take_form(at_estimator *e, const at_program *p, est_leaf *x) {
    int64_t *number = e->number;
    const int num = find_numbers(p, x, number);
    if (x->form && has_numbers(x->form, number, num)) return true;
    const uint64_t hash = num < 0 ? 0 : hash_of(number, num);
    int at = 0;
    if (x->most_forms > 1 && num >= 0) {
        while (at < x->num_forms && x->hash[at] != hash) at++;
        const bool is_found = at < x->num_forms && has_numbers(x->forms[at], number, num);
        count_found(x, is_found);
        if (is_found) return take(x, x->forms[at]), true;
        if (at == FORMS) at = (int)(hash >> 32) & (FORMS - 1);
    }
    if (at == x->num_forms) x->forms[x->num_forms++] = new_form(e, x);
    x->hash[at] = hash;
    take(x, x->forms[at]);
    x->form->made = 0;
    x->form->num_numbers = num;
    if (num > 0) memcpy(x->form->number, number, sizeof *number * (size_t)num);
    return false;
}
