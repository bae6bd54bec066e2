/* schedule/program_print.c: a built tree as text for people, which is also a tree that can be read
 * again: extents beside the names, without loops that run once and what they count, and as a
 * comment the factor by which a leaf is computed again. */
#include "schedule/schedule_int.h"

/* What is known of each node is worked out once: trees may have thousands of them. */
typedef struct printer {
    at_text *out;
    const at_program *p;
    bool *is_shown;   /* [node] of loops */
    bool *is_default; /* [node] of inits and the loops of their own: left out */
} printer;

/* Nodes lie in one array, in the order of the text. */
static int number_of(const at_program *p, const at_node *n) { return (int)(n - p->root); }

/* Do the loops of an axis but for the first ones, which run once, go beyond its end by more than an
 * axis without those may? */
static bool overhangs(const at_digits *d, int64_t extent) {
    int first = 0;
    int64_t inner = 1;
    while (first < d->n && d->extent[first] == 1) first++;
    for (int k = first + 1; k < d->n; k++) inner *= d->extent[k];
    return first && first < d->n && extent >= 0 && inner * d->extent[first] - extent >= inner;
}

/* Does a leaf below need this loop, which runs once, so that those inside of it may overhang? */
static bool is_needed(const at_program *p, const at_node *loop, const at_node *below) {
    for (const at_node *n = below; n; n = n->next) {
        if (!n->is_leaf && is_needed(p, loop, n->child)) return true;
        for (int i = 0; n->is_leaf && i < n->num_axes; i++)
            if (overhangs(&n->axes[i], p->extents[n->tensor][i]) && n->axes[i].loop[0] == loop)
                return true;
    }
    return false;
}

static bool only_packing(const at_program *p, const at_node *n) {
    if (n->is_leaf) return p->compute->tensors[n->tensor].is_packing;
    for (const at_node *c = n->child; c; c = c->next)
        if (!only_packing(p, c)) return false;
    return true;
}

/* Would packing beside other stages stand at the root without this loop, and be done ahead? */
static bool holds_packing(const at_program *p, const at_node *loop) {
    for (const at_node *n = loop->parent; n; n = n->parent)
        if (n->extent != 1) return false;
    if (only_packing(p, loop)) return false;
    for (const at_node *c = loop->child; c; c = c->next)
        if (only_packing(p, c) || (!c->is_leaf && c->extent == 1 && holds_packing(p, c)))
            return true;
    return false;
}

static bool is_shown(const printer *q, const at_node *loop) {
    return q->is_shown[number_of(q->p, loop)];
}

/* Loops that run once are left out. */
static void find_shown(const printer *q, const at_node *n) {
    for (; n; n = n->next) {
        if (n->is_leaf) continue;
        q->is_shown[number_of(q->p, n)] =
            n->extent != 1 || is_needed(q->p, n, n->child) || holds_packing(q->p, n);
        find_shown(q, n->child);
    }
}

/* Which axes decide on its bounds. */
static void print_dynamic(const printer *q, const at_node *loop) {
    const at_tensor *t = &q->p->compute->tensors[loop->dyn_tensor];
    const tensor_info *info = &info_of(q->p->compute)->info[loop->dyn_tensor];
    uint32_t used = info->bound_axes[loop->dyn_axis - t->num_axes];
    bool any = false;
    at_text_add(q->out, "dyn(");
    for (int i = 0; i < loop->dyn_axis; i++) {
        if (used ? !(used & 1u << i) : i > 0) continue; /* none does: one must be named */
        at_text_addf(q->out, "%s%s", any ? ", " : "", t->axes[i].name);
        any = true;
    }
    at_text_add(q->out, ")");
}

static void print_loop_name(const printer *q, const at_node *n) {
    bool fused = n->num_pieces > 1;
    if (fused) at_text_add(q->out, "{");
    for (int m = 0; m < n->num_pieces; m++) {
        at_text_addf(q->out, "%s%s:", m ? ", " : "", q->p->piece_names[n->piece[m]]);
        if (n->piece_extent[m] >= 0) at_text_addf(q->out, "%lld", (long long)n->piece_extent[m]);
        else print_dynamic(q, n);
    }
    if (fused) at_text_add(q->out, "}");
    if (n->ann != AT_ANN_NONE) at_text_addf(q->out, " %s", at_ann_name(n->ann));
}

static const char *digit_name(const printer *q, const at_digits *d, int i) {
    return q->p->piece_names[d->loop[i]->piece[d->member[i]]];
}

static void print_axis(const printer *q, const at_digits *d, const char *axis) {
    int shown = 0, n = 0;
    for (int i = 0; i < d->n; i++) shown += is_shown(q, d->loop[i]);
    if (shown == 0) at_text_add(q->out, "0");
    if (shown > 1) at_text_add(q->out, "{");
    for (int i = 0; i < d->n; i++)
        if (is_shown(q, d->loop[i]))
            at_text_addf(q->out, "%s%s", n++ ? ", " : "", digit_name(q, d, i));
    if (shown > 1) at_text_addf(q->out, "}/%s", axis);
}

static void print_leaf(const printer *q, const at_node *n) {
    const at_tensor *t = &q->p->compute->tensors[n->tensor];
    at_text_addf(q->out, "@%s%s", t->name, n->is_init ? ".init" : "");
    if (!n->is_init) at_leaf_print_attributes(q->out, q->p, n, false);
    at_text_add(q->out, " = ");
    for (int i = 0; i < n->num_axes; i++) {
        if (i) at_text_add(q->out, i == t->num_axes ? "  // " : ", ");
        if (i == t->num_axes && n->is_running) at_text_add(q->out, "0");
        else print_axis(q, &n->axes[i], t->axes[i].name);
    }
    int64_t again = at_leaf_recompute(n);
    if (again != 1) at_text_addf(q->out, "  # (x%lld)", (long long)again);
    at_text_add(q->out, "\n");
}

/* ---- initialisation -------------------------------------------------------------------------- */

/* The leaf of an init and the loops of its own; NULL: it is none. */
static const at_node *init_of(const at_node *n) {
    while (!n->is_leaf && !n->child->next) n = n->child;
    return n->is_leaf && n->is_init ? n : NULL;
}

static bool counts(const at_node *leaf, const at_node *loop, int from, int to) {
    for (int i = from; i < to; i++)
        for (int d = 0; d < leaf->axes[i].n; d++)
            if (leaf->axes[i].loop[d] == loop) return true;
    return false;
}

static const at_node *sum_below(const at_node *n, int tensor) {
    if (n->is_leaf) return n->tensor == tensor && !n->is_init ? n : NULL;
    for (const at_node *c = n->child; c; c = c->next) {
        const at_node *found = sum_below(c, tensor);
        if (found) return found;
    }
    return NULL;
}

static bool same_loop(const at_node *x, const at_node *y) {
    if (x->num_pieces != y->num_pieces || x->ann != y->ann) return false;
    for (int m = 0; m < x->num_pieces; m++)
        if (x->piece[m] != y->piece[m] || x->piece_extent[m] != y->piece_extent[m]) return false;
    return true;
}

/* The axes of an init are counted as those of its sum. */
static bool same_digits(const printer *q, const at_node *init, const at_node *sum) {
    for (int i = 0; i < init->num_axes; i++) {
        const at_digits *x = &init->axes[i], *y = &sum->axes[i];
        int k = 0;
        for (int d = 0; d < x->n; d++) {
            if (!is_shown(q, x->loop[d])) continue;
            while (k < y->n && !is_shown(q, y->loop[k])) k++;
            if (k == y->n || digit_name(q, x, d) != digit_name(q, y, k)) return false;
            k++;
        }
        while (k < y->n && !is_shown(q, y->loop[k])) k++;
        if (k < y->n) return false;
    }
    return true;
}

/* The loops of an init, from n on, are those that its sum has from `outer` on for its axes. */
static bool same_nest(const printer *q, const at_node *n, const at_node *outer,
                      const at_node *sum) {
    int num = q->p->compute->tensors[sum->tensor].num_axes;
    const at_node *path[MAX_PIECES + 1];
    int length = 0;
    for (const at_node *x = sum->parent; outer != sum; x = x->parent) {
        if (is_shown(q, x) && counts(sum, x, 0, num)) path[length++] = x;
        if (x == outer) break;
    }
    for (; !n->is_leaf; n = n->child) {
        if (!is_shown(q, n)) continue;
        if (!length-- || !same_loop(n, path[length])) return false;
    }
    return !length && same_digits(q, n, sum);
}

/* The sum that an init, which stands in the nest n, is of: behind it. */
static const at_node *sum_of(const at_node *n) {
    int tensor = init_of(n)->tensor;
    const at_node *found = NULL;
    while (!found && (n = n->next)) found = sum_below(n, tensor);
    return found;
}

static bool is_default(const printer *q, const at_node *n) {
    return q->is_default[number_of(q->p, n)];
}

/* Does whoever reads the text put this init here by himself (tree_init.c)? Then it is left out.
 * Several are put there in the order of their sums. Those behind it are known. */
static bool is_default_init(const printer *q, const at_node *n) {
    const at_node *sum = init_of(n) ? sum_of(n) : NULL, *next = n->next;
    if (!sum) return false;
    if (init_of(next) && (!is_default(q, next) || sum_of(next) < sum)) return false;
    while (init_of(next)) next = next->next;
    int num_axes = q->p->compute->tensors[sum->tensor].num_axes;
    const at_node *outer = sum; /* the outermost reduction that is shown */
    for (const at_node *x = sum->parent; x; x = x->parent)
        if (is_shown(q, x) && counts(sum, x, num_axes, sum->num_axes)) outer = x;
    while (next != outer) {
        if (next->is_leaf || is_shown(q, next)) return false;
        next = next->child;
        while (next->next && is_default(q, next)) next = next->next;
    }
    return same_nest(q, n, outer, sum);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The loop that continues the line of n, or NULL. A shown init in between cuts the line. */
static const at_node *next_on_line(const printer *q, const at_node *n) {
    const at_node *below = n->child;
    while (below->next && is_default(q, below)) below = below->next;
    return below->is_leaf || below->line_group != n->line_group ? NULL : below;
}

static void print_nodes(const printer *q, const at_node *n, int depth);

static void print_line(const printer *q, const at_node *n, int depth) {
    bool any = false;
    const at_node *last = n;
    for (; n; last = n, n = next_on_line(q, n)) {
        if (is_shown(q, n)) {
            for (int i = 0; !any && i < depth; i++) at_text_add(q->out, "    ");
            if (any) at_text_add(q->out, ", ");
            print_loop_name(q, n);
            any = true;
        }
    }
    if (any) at_text_add(q->out, " =>\n");
    print_nodes(q, last->child, depth + any);
}

static void print_nodes(const printer *q, const at_node *n, int depth) {
    for (; n; n = n->next) {
        if (is_default(q, n)) continue;
        if (!n->is_leaf) {
            print_line(q, n, depth);
            continue;
        }
        for (int i = 0; i < depth; i++) at_text_add(q->out, "    ");
        print_leaf(q, n);
    }
}

static int count(const at_program *p, const at_node *n, int before) {
    for (; n; n = n->next) {
        AT_ASSERT(number_of(p, n) == before);
        before = count(p, n->child, before + 1);
    }
    return before;
}

void at_program_print(at_text *out, const at_program *p, bool all) {
    at_arena *a = at_arena_new();
    int n = count(p, p->root, 0);
    printer q = {out, p, AT_NEW_ARRAY(a, bool, n), AT_NEW_ARRAY(a, bool, n)};
    find_shown(&q, p->root);
    for (int i = n - 1; i >= 0 && !all; i--) q.is_default[i] = is_default_init(&q, &p->root[i]);
    print_nodes(&q, p->root, 0);
    at_arena_free(a);
}

int64_t at_leaf_recompute(const at_node *leaf) {
    int64_t factor = 1;
    for (const at_node *n = leaf->parent; n; n = n->parent)
        for (int m = 0; m < n->num_pieces; m++) {
            bool used = n->piece_extent[m] < 0; /* how often a dyn loop runs is not known */
            for (int i = 0; i < leaf->num_axes && !used; i++)
                for (int d = 0; d < leaf->axes[i].n; d++)
                    used |= leaf->axes[i].loop[d] == n && leaf->axes[i].member[d] == m;
            if (!used && !at_mul64(factor, n->piece_extent[m], &factor)) return INT64_MAX;
        }
    return factor;
}
