/* sketch/tree_steps.c: the edits that make a given tree of the plain one. Each leaf's axes are cut
 * into the pieces that the tree counts them with, its loops are brought into the order of its path,
 * fused and marked; then it joins the leaves that stand there already. First come those that use
 * all loops that others are to share. */
#include <string.h>

#include "sketch/sketch_int.h"

enum { MOST_DEPTH = 64, MOST_AXES = 32 };

typedef struct own_leaf {
    const at_node *leaf;
    const char *stage; /* "acc", "acc.init" */
    const at_node *path[MOST_DEPTH];
    int depth;
    bool placed, is_host;
} own_leaf;

typedef struct tree_steps {
    at_arena *arena;
    const at_program *p;
    const at_tree *tree;
    AT_VEC(own_leaf) leaves;
    bool *placed; /* [loop id] */
    at_edits *out;
    at_error *err;
} tree_steps;

static at_edit *step(tree_steps *s, at_edit_kind kind, const own_leaf *l) {
    at_edit *e = at_push(s->arena, s->out);
    *e = (at_edit){.kind = kind, .stage = l ? l->stage : NULL};
    return e;
}

static const char *piece_name(const tree_steps *s, const at_node *loop, int member) {
    return s->p->piece_names[loop->piece[member]];
}

static bool uses(const at_node *leaf, const at_node *loop, int member) {
    for (int k = 0; k < leaf->num_axes; k++)
        for (int d = 0; d < leaf->axes[k].n; d++)
            if (leaf->axes[k].loop[d] == loop && leaf->axes[k].member[d] == member) return true;
    return false;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static at_status collect(tree_steps *s, const at_node *n) {
    for (; n; n = n->next) {
        if (!n->is_leaf) {
            AT_TRY(collect(s, n->child));
            continue;
        }
        if (n->is_init && !at_tree_has_init(s->tree, n->tensor)) continue;
        own_leaf *l = at_push(s->arena, &s->leaves);
        *l = (own_leaf){.leaf = n, .stage = s->p->compute->tensors[n->tensor].name};
        if (n->is_init) l->stage = at_format(s->arena, "%s.init", l->stage);
        for (const at_node *x = n->parent; x; x = x->parent) l->depth++;
        if (l->depth > MOST_DEPTH)
            return at_fail(s->err, AT_E_INPUT, "@%s stands in more than %d loops", l->stage,
                           MOST_DEPTH);
        int i = l->depth;
        for (const at_node *x = n->parent; x; x = x->parent) l->path[--i] = x;
    }
    return AT_OK;
}

/* How many of its loops stand already. */
static int standing(const tree_steps *s, const own_leaf *l) {
    int n = 0;
    while (n < l->depth && s->placed[l->path[n]->id]) n++;
    return n;
}

/* How many pieces do the loops on its path have that it does not use itself, and that no leaf has
 * brought yet? */
static int missing(const tree_steps *s, const own_leaf *l) {
    int n = 0;
    for (int i = standing(s, l); i < l->depth; i++)
        for (int m = 0; m < l->path[i]->num_pieces; m++) n += !uses(l->leaf, l->path[i], m);
    return n;
}

/* ---- its loops ------------------------------------------------------------------------------- */

typedef struct axis_loops { /* of one axis, as they stand now */
    const char *name[MOST_DEPTH];
    int n;
    bool done;
} axis_loops;

static bool is_taken(const axis_loops *axes, int num, int but, const char *name) {
    for (int k = 0; k < num; k++)
        for (int i = 0; k != but && i < axes[k].n; i++)
            if (!strcmp(axes[k].name[i], name)) return true;
    return false;
}

static bool can_cut(const tree_steps *s, const own_leaf *l, const axis_loops *axes, int k) {
    const at_digits *d = &l->leaf->axes[k];
    for (int i = 0; i < d->n; i++)
        if (is_taken(axes, at_leaf_num_counted(s->p, l->leaf), k,
                     piece_name(s, d->loop[i], d->member[i])))
            return false;
    return true;
}

static void cut(tree_steps *s, const own_leaf *l, axis_loops *axes, int k) {
    const at_digits *d = &l->leaf->axes[k];
    axis_loops *x = &axes[k];
    x->done = true;
    if (d->n == 1 && !strcmp(piece_name(s, d->loop[0], d->member[0]), x->name[0])) return;
    at_edit *e = step(s, d->n ? AT_EDIT_SPLIT : AT_EDIT_DROP, l);
    e->loop = x->name[0];
    x->n = d->n;
    for (int i = 0; i < d->n; i++) {
        e->names[i] = x->name[i] = piece_name(s, d->loop[i], d->member[i]);
        e->sizes[i] = d->extent[i] > 0 ? d->extent[i] : 1; /* from data: it only has a name */
    }
}

/* Renames a loop for a while whose name others are to have. */
static void step_aside(tree_steps *s, const own_leaf *l, axis_loops *axes, int k) {
    at_edit *e = step(s, AT_EDIT_SPLIT, l);
    const char *name = at_format(s->arena, "%s_", axes[k].name[0]);
    while (is_taken(axes, at_leaf_num_counted(s->p, l->leaf), -1, name) ||
           at_symbol_find(s->p->compute->symbols, name) >= 0)
        name = at_format(s->arena, "%s_", name);
    e->loop = axes[k].name[0];
    e->names[0] = axes[k].name[0] = name;
    e->sizes[0] = 1;
}

static void cut_all(tree_steps *s, const own_leaf *l, axis_loops *axes) {
    int n = at_leaf_num_counted(s->p, l->leaf), left = n, tries = 0;
    while (left) {
        int before = left;
        for (int k = 0; k < n; k++)
            if (!axes[k].done && can_cut(s, l, axes, k)) cut(s, l, axes, k), left--;
        if (left < before) continue;
        AT_ASSERT(tries++ < n);
        for (int k = 0; k < n && left == before; k++)
            if (!axes[k].done) step_aside(s, l, axes, k), before = -1;
    }
}

/* Its loops in the order of the path. */
static at_status order(tree_steps *s, const own_leaf *l, const axis_loops *axes) {
    const char *now[MOST_DEPTH], *wanted[MOST_DEPTH];
    int n = 0, num_now = 0;
    for (int k = 0; k < at_leaf_num_counted(s->p, l->leaf); k++)
        for (int i = 0; i < axes[k].n && num_now < MOST_DEPTH; i++)
            now[num_now++] = axes[k].name[i];
    for (int i = 0; i < l->depth; i++)
        for (int m = 0; m < l->path[i]->num_pieces; m++)
            if (uses(l->leaf, l->path[i], m) && n < MOST_DEPTH)
                wanted[n++] = piece_name(s, l->path[i], m);
    if (n > AT_EDIT_MAX_NAMES || n != num_now)
        return at_fail(s->err, AT_E_INPUT, "@%s stands in too many loops for an edit", l->stage);
    bool same = true;
    for (int i = 0; i < n; i++) same &= !strcmp(now[i], wanted[i]);
    if (same) return AT_OK;
    at_edit *e = step(s, AT_EDIT_ORDER, l);
    memcpy(e->names, wanted, sizeof *wanted * (size_t)n);
    return AT_OK;
}

/* Loops that only others use, from the innermost on. */
static void repeat(tree_steps *s, const own_leaf *l, int from) {
    const char *inside = NULL;
    for (int i = l->depth - 1; i >= from; i--)
        for (int m = l->path[i]->num_pieces - 1; m >= 0; m--) {
            const char *name = piece_name(s, l->path[i], m);
            if (!uses(l->leaf, l->path[i], m)) {
                at_edit *e = step(s, AT_EDIT_REPEAT, l);
                e->names[0] = name;
                e->sizes[0] = l->path[i]->piece_extent[m];
                e->loop = inside;
            }
            inside = name;
        }
}

static void fuse_and_mark(tree_steps *s, const own_leaf *l, int from) {
    for (int i = from; i < l->depth; i++) {
        const at_node *loop = l->path[i];
        if (loop->num_pieces < 2) continue;
        at_edit *e = step(s, AT_EDIT_FUSE, l);
        for (int m = 0; m < loop->num_pieces; m++) e->names[m] = piece_name(s, loop, m);
    }
    for (int i = from; i < l->depth; i++) {
        if (l->path[i]->ann == AT_ANN_NONE) continue;
        at_edit *e = step(s, AT_EDIT_MARK, l);
        e->loop = piece_name(s, l->path[i], 0);
        e->ann = l->path[i]->ann;
    }
}

/* ---- its place ------------------------------------------------------------------------------- */

static bool stands_in(const own_leaf *l, const at_node *loop) {
    for (int i = 0; i < l->depth; i++)
        if (l->path[i] == loop) return true;
    return false;
}

/* Joins a leaf that stands already: behind the nearest one before it, else before the nearest one
 * behind it. */
static void join(tree_steps *s, int i, int from) {
    const own_leaf *all = s->leaves.data, *l = &all[i], *beside = NULL;
    const at_node *loop = l->path[from - 1];
    bool before = false;
    for (int k = i - 1; k >= 0 && !beside; k--)
        if (all[k].placed && stands_in(&all[k], loop)) beside = &all[k];
    for (int k = i + 1; k < s->leaves.len && !beside; k++)
        if (all[k].placed && stands_in(&all[k], loop)) beside = &all[k], before = true;
    AT_ASSERT(beside);
    at_edit *e = step(s, AT_EDIT_JOIN, l);
    e->other = beside->stage;
    e->loop = piece_name(s, loop, 0);
    e->before = before;
}

static at_status place(tree_steps *s, int i) {
    own_leaf *l = &s->leaves.data[i];
    int from = standing(s, l), n = at_leaf_num_counted(s->p, l->leaf);
    axis_loops axes[MOST_AXES] = {0};
    const at_tensor *t = &s->p->compute->tensors[l->leaf->tensor];
    AT_ASSERT(n <= MOST_AXES);
    for (int k = 0; k < n; k++) axes[k] = (axis_loops){.name = {t->axes[k].name}, .n = 1};
    if (l->leaf->is_running) step(s, AT_EDIT_RUNNING, l);
    cut_all(s, l, axes);
    AT_TRY(order(s, l, axes));
    repeat(s, l, from);
    fuse_and_mark(s, l, from);
    at_text attributes = {0};
    at_node others = *l->leaf;
    others.is_running = false;
    at_leaf_print_attributes(&attributes, s->p, &others, true);
    if (attributes.len) step(s, AT_EDIT_ATTRIBUTE, l)->other = at_text_take(s->arena, &attributes);
    if (from) join(s, i, from);
    l->placed = true;
    l->is_host = from == 0;
    for (int k = 0; k < l->depth; k++) s->placed[l->path[k]->id] = true;
    return AT_OK;
}

/* ---- the outermost loops --------------------------------------------------------------------- */

/* The stages of a cycle, which share loops in the plain tree, each get their own, in their order.
 */
static void part_cycles(tree_steps *s) {
    const at_compute *c = s->p->compute;
    int last = -1; /* of the same cycle */
    for (int i = 0; i < c->num_tensors; i++) {
        const int t = c->order[i];
        if (!c->tensors[t].cycle || s->p->dissolved[t]) continue;
        if (last >= 0 && c->tensors[last].cycle == c->tensors[t].cycle)
            step(s, AT_EDIT_FISSION, NULL)->stage = c->tensors[last].name;
        last = t;
    }
}

/* A host is a leaf whose loops others join. In the plain tree nests stand in the order of the
 * computation's stages, the start of a sum (init) before the sum itself. */
static int plain_place(const tree_steps *s, const own_leaf *l) {
    int place = 0;
    while (s->p->compute->order[place] != l->leaf->tensor) place++;
    return 2 * place + !l->leaf->is_init;
}

static void order_nests(tree_steps *s) {
    AT_VEC(const own_leaf *) wanted = {0}, now = {0};
    for (int i = 0; i < s->leaves.len; i++)
        if (s->leaves.data[i].is_host) *at_push(s->arena, &wanted) = &s->leaves.data[i];
    for (int i = 0; i < wanted.len; i++) {
        int k = now.len;
        at_push(s->arena, &now);
        for (; k > 0 && plain_place(s, now.data[k - 1]) > plain_place(s, wanted.data[i]); k--)
            now.data[k] = now.data[k - 1];
        now.data[k] = wanted.data[i];
    }
    for (int i = 0; i < wanted.len; i++) {
        if (now.data[i] == wanted.data[i]) continue;
        at_edit *e = step(s, AT_EDIT_JOIN, wanted.data[i]);
        e->before = true;
        e->other = now.data[i]->stage;
        int k = i;
        while (now.data[k] != wanted.data[i]) k++;
        for (; k > i; k--) now.data[k] = now.data[k - 1];
        now.data[i] = wanted.data[i];
    }
}

at_status at_tree_steps(at_arena *a, const at_program *p, const at_tree *tree, at_edits *out,
                        at_error *err) {
    tree_steps s = {.arena = a, .p = p, .tree = tree, .out = out, .err = err};
    s.placed = AT_NEW_ARRAY(a, bool, p->num_loops + 1);
    for (int t = 0; t < p->compute->num_tensors; t++)
        if (p->dissolved[t]) step(&s, AT_EDIT_DISSOLVE, NULL)->stage = p->compute->tensors[t].name;
    part_cycles(&s);
    AT_TRY(collect(&s, p->root));
    for (int i = 0; i < s.leaves.len; i++)
        if (s.leaves.data[i].leaf->is_init)
            step(&s, AT_EDIT_INIT, NULL)->stage =
                p->compute->tensors[s.leaves.data[i].leaf->tensor].name;
    for (int n = 0; n < s.leaves.len; n++) {
        int best = -1;
        for (int i = 0; i < s.leaves.len; i++) {
            const own_leaf *l = s.leaves.data;
            if (!l[i].placed && (best < 0 || missing(&s, &l[i]) < missing(&s, &l[best]))) best = i;
        }
        AT_TRY(place(&s, best));
    }
    order_nests(&s);
    return AT_OK;
}
