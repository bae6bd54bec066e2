/* schedule/program_print.c: a built tree as text for people: extents beside the names, loops that
 * run once left out, and the factor by which a leaf is computed again. */
#include "schedule/schedule_int.h"

static void print_loop_name(at_text *out, const at_program *p, const at_node *n) {
    static const char *const words[] = {"", " para", " vec", " unroll"};
    bool fused = n->num_pieces > 1;
    if (fused) at_text_add(out, "{");
    for (int m = 0; m < n->num_pieces; m++) {
        at_text_addf(out, "%s%s:", m ? ", " : "", p->piece_names[n->piece[m]]);
        if (n->piece_extent[m] >= 0) at_text_addf(out, "%lld", (long long)n->piece_extent[m]);
        else at_text_add(out, "dyn");
    }
    if (fused) at_text_add(out, "}");
    at_text_add(out, words[n->ann]);
}

static void print_axis(at_text *out, const at_program *p, const at_digits *d, const char *axis) {
    if (d->n == 0) at_text_add(out, "0");
    if (d->n > 1) at_text_add(out, "{");
    for (int i = 0; i < d->n; i++)
        at_text_addf(out, "%s%s", i ? ", " : "", p->piece_names[d->loop[i]->piece[d->member[i]]]);
    if (d->n > 1) at_text_addf(out, "}/%s", axis);
}

static void print_leaf(at_text *out, const at_program *p, const at_node *n) {
    const at_tensor *t = &p->compute->tensors[n->tensor];
    at_text_addf(out, "@%s%s", t->name, n->is_init ? ".init" : "");
    at_leaf_print_attributes(out, p, n, false);
    at_text_add(out, " = ");
    for (int i = 0; i < n->num_axes; i++) {
        if (i) at_text_add(out, i == t->num_axes ? "  // " : ", ");
        print_axis(out, p, &n->axes[i], t->axes[i].name);
    }
    int64_t again = at_leaf_recompute(n);
    if (again != 1) at_text_addf(out, "  (x%lld)", (long long)again);
    at_text_add(out, "\n");
}

/* An init and the loops of its own. */
static bool is_init_nest(const at_node *n) {
    while (!n->is_leaf && !n->child->next) n = n->child;
    return n->is_leaf && n->is_init;
}

/* The loop that continues the line of n, or NULL. A shown init in between cuts the line. */
static const at_node *next_on_line(const at_node *n, bool all) {
    const at_node *below = n->child;
    while (!all && below->next && is_init_nest(below)) below = below->next;
    return below->is_leaf || below->line_group != n->line_group ? NULL : below;
}

static void print_nodes(at_text *out, const at_program *p, const at_node *n, int depth, bool all);

static void print_line(at_text *out, const at_program *p, const at_node *n, int depth, bool all) {
    bool any = false;
    const at_node *last = n;
    for (; n; last = n, n = next_on_line(n, all)) {
        if (n->extent != 1) {
            for (int i = 0; !any && i < depth; i++) at_text_add(out, "    ");
            if (any) at_text_add(out, ", ");
            print_loop_name(out, p, n);
            any = true;
        }
    }
    if (any) at_text_add(out, " =>\n");
    print_nodes(out, p, last->child, depth + any, all);
}

static void print_nodes(at_text *out, const at_program *p, const at_node *n, int depth, bool all) {
    for (; n; n = n->next) {
        if (!all && is_init_nest(n)) continue;
        if (!n->is_leaf) {
            print_line(out, p, n, depth, all);
            continue;
        }
        for (int i = 0; i < depth; i++) at_text_add(out, "    ");
        print_leaf(out, p, n);
    }
}

void at_program_print(at_text *out, const at_program *p, bool all) {
    print_nodes(out, p, p->root, 0, all);
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
