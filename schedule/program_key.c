/* schedule/program_key.c: what distinguishes two programs, as a hash.
 *
 * What no configuration changes (roles, bodies, bounds) is hashed once per computation; a program
 * adds the values of the sizes in them, the extents, and its tree as lowering sees it: nested
 * loops, a fused one as one loop per piece, without those that run once. What is added tells by
 * itself where it ends, so two programs differ in the numbers added if they differ at all. */
#include "schedule/schedule_int.h"

#include <string.h>

/* ---- the computation, once ------------------------------------------------------------------- */

static uint64_t pack(int low, int high) { return (uint32_t)low | (uint64_t)(uint32_t)high << 32; }

/* A size stands for its value, which comes with the program: here only which one it is. */
static int size_number(at_arena *a, compute_info *c, int slot) {
    for (int i = 0; i < c->key_sizes.len; i++)
        if (c->key_sizes.data[i] == slot) return i;
    *at_push(a, &c->key_sizes) = slot;
    return c->key_sizes.len - 1;
}

typedef struct key_form {
    at_arena *arena;
    compute_info *c;
} key_form;

static at_walk add_node(const at_expr *e, void *ctx) {
    const key_form *x = ctx;
    at_hash *h = &x->c->form;
    int ref = e->op == AT_X_NAME || e->op == AT_X_INDEX ? e->ref : 0;
    if (e->op == AT_X_NAME && ref >= AT_REF_SIZE)
        ref = AT_REF_SIZE + size_number(x->arena, x->c, ref - AT_REF_SIZE);
    at_hash_add_number(h, pack((int)e->op << 16 | e->nargs, ref));
    if (e->op == AT_X_INT) at_hash_add_number(h, (uint64_t)e->integer);
    if (e->op == AT_X_FLOAT) {
        uint64_t bits;
        memcpy(&bits, &e->number, sizeof bits);
        at_hash_add_number(h, bits);
    }
    return AT_WALK_ON;
}

void compute_key_form(at_arena *a, compute_info *c) {
    key_form x = {a, c};
    at_hash_init(&c->form);
    at_hash_add_number(&c->form, (uint64_t)c->pub.num_tensors);
    for (int i = 0; i < c->pub.num_tensors; i++) {
        const at_tensor *t = &c->pub.tensors[i];
        at_hash_add_number(
            &c->form, pack(((int)t->type | t->is_s64 << 6) << 24 | (int)t->role << 16 | t->num_axes,
                           (int)t->is_marked << 24 | (int)t->reduction << 16 | t->num_reduce));
        for (int k = 0; k < axes_of(t); k++) {
            at_hash_add_number(&c->form, t->axes[k].begin != NULL);
            if (!t->axes[k].begin) continue;
            at_expr_walk(t->axes[k].begin, add_node, &x);
            at_expr_walk(t->axes[k].end, add_node, &x);
        }
        if (t->body) at_expr_walk(t->body, add_node, &x);
        if (t->lies_in) at_hash_add_number(&c->form, (uint64_t)at_compute_held(&c->pub, i));
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct walk {
    at_hash hash;
    const at_compute *compute;
    int first[MAX_PIECES + 1]; /* by depth of a loop: the number of its first piece on the path */
} walk;

static void add(walk *w, uint64_t x) { at_hash_add_number(&w->hash, x); }

/* A fused parallel loop stays one: its pieces are worked out of one number. */
static bool is_whole(const at_node *n) { return n->ann == AT_ANN_PARA && n->num_pieces > 1; }

static bool runs_once(const at_node *n, int member) {
    return n->extent == 1 || (n->extent > 0 && !is_whole(n) && n->piece_extent[member] == 1);
}

static void add_loop(walk *w, const at_node *n, int member, int64_t extent) {
    /* only the innermost piece of a fused loop becomes a vector */
    bool outer = n->ann == AT_ANN_VEC && member < n->num_pieces - 1;
    at_ann ann = outer ? AT_ANN_UNROLL : n->ann;
    int what = 1 << 16 | (int)ann << 8 | is_whole(n) << 1 | (int)n->is_reduce;
    add(w, pack(what, n->piece[member]));
    add(w, (uint64_t)extent);
    if (n->extent < 0) add(w, pack(n->dyn_tensor, n->dyn_axis));
}

/* How many loops were added, each of which has an end. */
static int add_pieces(walk *w, const at_node *n) {
    int loops = 0;
    if (is_whole(n) && n->extent != 1) {
        add_loop(w, n, 0, n->extent);
        add(w, (uint64_t)n->num_pieces);
        for (int m = 0; m < n->num_pieces; m++) add(w, (uint64_t)n->piece_extent[m]);
        return 1;
    }
    for (int m = 0; m < n->num_pieces; m++) {
        if (runs_once(n, m)) continue;
        add_loop(w, n, m, n->piece_extent[m]);
        loops++;
    }
    return loops;
}

/* A piece of a loop on the path. */
static uint64_t digit_number(const walk *w, const at_node *loop, int member) {
    int number = w->first[loop->depth];
    if (is_whole(loop)) return pack(number, 1 + member);
    for (int m = 0; m < member; m++) number += !runs_once(loop, m);
    return pack(number, 0);
}

static void add_layout(walk *w, const at_node *n) {
    add(w, pack((int)n->rows, n->order != NULL));
    add(w, (uint64_t)n->pad);
    int num = w->compute->tensors[n->tensor].num_axes;
    for (int i = 0; n->order && i < num; i++) add(w, (uint64_t)n->order[i]);
}

static void add_leaf(walk *w, const at_node *n) {
    bool has_layout = !n->is_init && (n->rows || n->order);
    int what = 2 << 16 | (int)n->is_scatter << 10 | (int)n->is_running << 9 |
               (int)n->has_pointers << 8 | n->num_prefetch << 2 | (int)has_layout << 1 |
               (int)n->is_init;
    add(w, pack(what, n->tensor));
    if (n->has_pointers) add(w, (uint64_t)n->pointers);
    for (int i = 0; i < n->num_prefetch; i++) {
        add(w, (uint64_t)n->prefetch[i].tensor);
        add(w, (uint64_t)n->prefetch[i].bytes);
    }
    if (has_layout) add_layout(w, n);
    for (int i = 0; i < n->num_axes; i++) {
        const at_digits *d = &n->axes[i];
        for (int k = 0; k < d->n; k++)
            if (!runs_once(d->loop[k], d->member[k]))
                add(w, digit_number(w, d->loop[k], d->member[k]));
        add(w, UINT64_MAX);
    }
}

static void add_nodes(walk *w, const at_node *n, int pieces) {
    for (; n; n = n->next) {
        if (n->is_leaf) {
            add_leaf(w, n);
            continue;
        }
        AT_ASSERT(n->depth <= MAX_PIECES);
        w->first[n->depth] = pieces;
        int loops = add_pieces(w, n);
        add_nodes(w, n->child, pieces + loops);
        for (int i = 0; i < loops; i++) add(w, 0);
    }
}

/* The computation with its numbers. */
static void begin(walk *w, const at_compute *compute, const int64_t *values,
                  int64_t *const *extents) {
    const compute_info *c = info_of(compute);
    w->hash = c->form;
    w->compute = compute;
    for (int i = 0; i < c->key_sizes.len; i++) add(w, (uint64_t)values[c->key_sizes.data[i]]);
    for (int t = 0; t < compute->num_tensors; t++)
        for (int i = 0; i < axes_of(&compute->tensors[t]); i++) add(w, (uint64_t)extents[t][i]);
}

static at_key end(walk *w) {
    add(w, 0); /* the last number, too, is mixed twice */
    return (at_key){w->hash.hi, w->hash.lo};
}

at_key at_compute_key(const at_compute *c, const int64_t *values, int64_t *const *extents) {
    walk w;
    begin(&w, c, values, extents);
    return end(&w);
}

at_key at_program_key(const at_program *p) {
    walk w;
    begin(&w, p->compute, p->values, p->extents);
    add_nodes(&w, p->root, 0);
    return end(&w);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool reads_table(const at_compute *c, int tensor) {
    int n;
    const at_expr *const *reads = at_compute_reads(c, tensor, &n);
    for (int i = 0; i < n; i++)
        if (c->tensors[reads[i]->ref].is_table) return true;
    return false;
}

/* The reductions' digits as they stand around the leaf. Known factors are folded into what is
 * unrolled: there, all digits count. */
static void add_sum(walk *w, const at_node *leaf) {
    const at_tensor *t = &w->compute->tensors[leaf->tensor];
    bool folds = reads_table(w->compute, leaf->tensor);
    add(w, pack(leaf->is_scatter ? 5 : 4, leaf->tensor));
    for (int i = folds ? 0 : t->num_axes; i < leaf->num_axes; i++) {
        const at_digits *d = &leaf->axes[i];
        for (int k = 0; k < d->n; k++) {
            const at_node *n = d->loop[k];
            int m = d->member[k];
            if (runs_once(n, m)) continue;
            bool is_reduced = i >= t->num_axes;
            if (!is_reduced && n->ann != AT_ANN_UNROLL && n->ann != AT_ANN_DOT) continue;
            add(w, pack(i << 8 | (int)n->ann, n->depth << 8 | m));
            if (is_reduced) add(w, n->extent < 0 ? UINT64_MAX : (uint64_t)n->piece_extent[m]);
        }
    }
}

static void add_sums(walk *w, const at_node *n) {
    for (; n; n = n->next)
        if (!n->is_leaf) add_sums(w, n->child);
        else if (!n->is_init) add_sum(w, n);
}

at_key at_program_sums_key(const at_program *p) {
    walk w = {.hash = info_of(p->compute)->form, .compute = p->compute};
    add_sums(&w, p->root);
    return end(&w);
}

bool at_key_equal(at_key x, at_key y) { return x.hi == y.hi && x.lo == y.lo; }
