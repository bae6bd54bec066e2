/* cost/estimate_form.c: leaves as they were worked out at other points of a program. Two points of
 * one tree that have most numbers in common have most leaves in common. The time of a leaf is the
 * same, too, where the leaves that share loops with it are the same. */
#include <stdlib.h>
#include <string.h>

#include "cost/estimate_int.h"

/* ---- trees ----------------------------------------------------------------------------------- */

/* The tensors that a stage reads, itself or by stages that are computed where they are read. */
static void find_read(const at_estimator *e, const at_program *p, int tensor, bool *read) {
    for (int t = 0; t < e->compute->num_tensors; t++) read[t] = false;
    for (int t = tensor; t >= 0; t--) { /* what a stage reads stands before it */
        const est_stage *s = &e->stages[t];
        if (t != tensor && !(read[t] && p->dissolved[t])) continue;
        for (int r = 0; r < s->num_reads; r++) read[s->read[r]->ref] = true;
    }
}

/* Sizes that it depends on, itself or by such a stage. */
static void find_sizes(const at_program *p, int tensor, const bool *read, int *sizes, int *num) {
    for (int t = tensor; t >= 0; t--)
        if (t == tensor || (read[t] && p->dissolved[t]))
            at_index_sizes(p->compute->tensors[t].body, MOST_SIZES_ASKED, sizes, num);
}

/* Notes whose buffers the leaf keeps alive. Those that the stages read which it reads count, too:
 * with each buffer as small as its own readers allow, chains of sums such as Winograd's are
 * estimated to move up to a tenth less than they do. */
static void add_reader(const at_estimator *e, const est_leaf *x, bool *read, uint64_t *readers) {
    const est_stage *s = &e->stages[x->node->tensor];
    for (int r = 0; r < s->num_reads; r++) {
        const est_stage *through = &e->stages[s->read[r]->ref];
        for (int k = 0; k < through->num_reads; k++) read[through->read[k]->ref] = true;
    }
    for (int k = 0; k < e->compute->num_tensors; k++)
        if (read[k]) readers[k] |= UINT64_C(1) << x->place;
}

static void add_leaf(at_estimator *e, const at_program *p, const at_node *n, est_tree *t) {
    est_leaf *x = &t->leaf[t->num_leaves];
    int sizes[MOST_SIZES_ASKED];
    bool *read = calloc((size_t)e->compute->num_tensors, sizeof *read);
    AT_NEED(read);
    x->place = t->num_leaves++;
    x->node = n;
    x->stage = &p->compute->tensors[n->tensor];
    x->most_forms = FORMS;
    x->is_conditional = x->stage->num_reduce && est_is_conditional(e->stages, p, n->tensor);
    find_read(e, p, n->tensor, read);
    find_sizes(p, n->tensor, read, sizes, &x->num_sizes);
    if (x->num_sizes > 0) x->sizes = at_copy(e->arena, sizes, sizeof *sizes * (size_t)x->num_sizes);
    add_reader(e, x, read, t->readers);
    free(read);
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
        add_leaf(e, p, n, t);
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
    t->readers = AT_NEW_ARRAY(e->arena, uint64_t, e->compute->num_tensors);
    if (!collect(e, p, p->root, t)) return t->leaf = NULL, NULL;
    t->owner = AT_NEW_ARRAY(e->arena, int8_t, e->compute->num_tensors);
    t->buffer = AT_NEW_ARRAY(e->arena, est_buffer, e->compute->num_tensors);
    t->common = at_alloc(e->arena, sizeof *t->common * (size_t)t->num_leaves);
    for (int i = 0; i < e->compute->num_tensors; i++) t->owner[i] = -1;
    for (int i = 0; i < t->num_leaves; i++) t->owner[t->leaf[i].node->tensor] = (int8_t)i;
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

/* When the program last set one of the leaf's numbers that are no sizes. */
static unsigned last_fill(const est_leaf *x) {
    unsigned filled = x->node->filled;
    for (const at_node *l = x->node->parent; l; l = l->parent)
        if (l->filled > filled) filled = l->filled;
    return filled;
}

/* Has the form at hand the sizes of this point? They are its last numbers. */
static bool has_sizes(const at_program *p, const est_leaf *x) {
    const est_form *f = x->form;
    if (!f || !f->made || f->is_split || f->num_numbers < 0) return false;
    const int64_t *size = f->number + f->num_numbers - x->num_sizes;
    for (int i = 0; i < x->num_sizes; i++)
        if (size[i] != p->values[x->sizes[i]]) return false;
    return true;
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
    const unsigned filled = last_fill(x);
    if (filled == x->filled && has_sizes(p, x)) return true;
    x->filled = filled;
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

/* ---- what a leaf sees of others -------------------------------------------------------------- */

/* A hash of what other leaves see of this one, if they share `depth` loops with it. before: the
 * hash for leaves that share one loop less. What a tile keeps in registers they do not see. */
static uint64_t shown_hash(const est_leaf *x, int depth, uint64_t before) {
    uint64_t hash = est_joined(before, x->form->registers);
    uint32_t moves = 0;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        uint64_t bits;
        if (a->in_registers) continue;
        memcpy(&bits, &a->lines[depth], sizeof bits);
        hash = est_joined(hash, bits);
        if (depth > 0) moves |= (a->moves >> (depth - 1) & 1) << k;
    }
    return est_joined(hash, moves);
}

static uint64_t shown(const est_leaf *x, int depth) {
    est_form *f = x->form;
    if (f->shown_registers != f->registers) f->num_shown = 0;
    f->shown_registers = f->registers;
    for (; f->num_shown <= depth; f->num_shown++)
        f->shown[f->num_shown] =
            shown_hash(x, f->num_shown, f->num_shown ? f->shown[f->num_shown - 1] : 1);
    return f->shown[depth];
}

bool est_is_known(at_estimator *e, const est_leaf *x) {
    const est_leaf *end = x->end, *both[] = {x, end};
    est_form *f = x->form;
    uint64_t *seen = e->seen;
    int n = 0;
    seen[n++] = e->levels | (uint64_t)x->root << 8 | (uint64_t)x->together << 16 |
                (uint64_t)x->is_beside << 24 | (uint64_t)x->is_end_of_other << 25 |
                (uint64_t)x->in_blocks << 26 | (uint64_t)(end ? end->root : 0) << 32;
    seen[n++] = f->registers | (uint64_t)(end ? end->form->registers : 0) << 32;
    seen[n++] = end ? end->form->made : 0;
    for (int i = 0; i < 1 + (end != NULL); i++)
        for (const est_leaf *y = e->leaf; y < e->leaf + e->num_leaves; y++)
            if (y != both[i]) seen[n++] = shown(y, est_common(e, both[i], y));
    if (f->num_seen == n && !memcmp(f->seen, seen, sizeof *seen * (size_t)n)) return true;
    f->num_seen = n;
    memcpy(f->seen, seen, sizeof *seen * (size_t)n);
    return false;
}
