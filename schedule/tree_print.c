/* schedule/tree_print.c: a parsed tree back to text. Generated init leaves are not part of it. */
#include "schedule/schedule_int.h"

static const tree_node *node(const at_tree *t, int i) { return &t->nodes.data[i]; }

static void indent(at_text *out, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
}

static const char *piece_name(const at_tree *t, const tree_node *n, int member) {
    return t->piece_names.data[t->pieces.data[n->first_piece + member].name];
}

static void print_item(at_text *out, const at_tree *t, const tree_node *n) {
    const tree_piece *piece = &t->pieces.data[n->first_piece];
    bool fused = n->fixed.num_pieces > 1, has_numbers = false;
    if (fused) at_text_add(out, "{");
    for (int m = 0; m < n->fixed.num_pieces; m++) {
        at_text_addf(out, "%s%s", m ? ", " : "", piece_name(t, n, m));
        if (piece[m].source != EXTENT_FIXED) continue;
        at_text_addf(out, ":%lld", (long long)piece[m].fixed);
        has_numbers = true;
    }
    if (fused) at_text_add(out, "}");
    if (n->ann_name) at_text_addf(out, ":ann(%s)", n->ann_name);
    if (n->dynamic) at_text_add(out, ":dyn(");
    for (int i = 0; i < n->num_dyn_args; i++)
        at_text_addf(out, "%s%s", i ? ", " : "", n->dyn_args[i]);
    if (n->dynamic) at_text_add(out, ")");
    if (n->fixed.ann)
        at_text_addf(out, "%s%s", has_numbers || n->dynamic ? " " : ":", at_ann_name(n->fixed.ann));
}

static void print_index(at_text *out, const at_tree *t, const tree_node *leaf, int i) {
    const tree_axis *axis = &t->axes.data[leaf->first_axis + i];
    const char *name = t->compute->tensors[leaf->fixed.tensor].axes[i].name;
    if (axis->num_digits == 0) at_text_add(out, "0");
    if (axis->num_digits > 1) at_text_add(out, "{");
    for (int d = 0; d < axis->num_digits; d++) {
        const tree_digit *digit = &t->digits.data[axis->first_digit + d];
        at_text_addf(out, "%s%s", d ? ", " : "",
                     piece_name(t, node(t, digit->loop), digit->member));
    }
    if (axis->num_digits > 1) at_text_addf(out, "}/%s", name);
}

static void print_leaf(at_text *out, const at_tree *t, const tree_node *leaf) {
    const at_tensor *stage = &t->compute->tensors[leaf->fixed.tensor];
    at_text_addf(out, "@%s%s", stage->name, leaf->fixed.is_init ? ".init" : "");
    tree_print_attributes(out, t->compute, leaf);
    at_text_add(out, " = ");
    for (int i = 0; i < leaf->num_axes; i++) {
        if (i) at_text_add(out, i == stage->num_axes ? "  // " : ", ");
        print_index(out, t, leaf, i);
    }
    at_text_add(out, "\n");
}

static const tree_node *first_written(const at_tree *t, int i) {
    while (node(t, i)->is_generated) i = node(t, i)->next;
    return node(t, i);
}

static void print_nodes(at_text *out, const at_tree *t, int i, int depth);

/* A loop with those written on its line, then what stands below the last of them. */
static void print_line(at_text *out, const at_tree *t, const tree_node *n, int depth) {
    for (;;) {
        const tree_order *order = n->order >= 0 ? &t->orders.data[n->order] : NULL;
        if (order && n->order_place == 0) at_text_add(out, "[");
        print_item(out, t, n);
        if (order && n->order_place == order->num_loops - 1)
            at_text_addf(out, "]:order(%s)", order->name);
        const tree_node *below = first_written(t, n->child);
        if (below->fixed.is_leaf || below->fixed.line_group != n->fixed.line_group) break;
        at_text_add(out, ", ");
        n = below;
    }
    at_text_add(out, " =>\n");
    print_nodes(out, t, n->child, depth + 1);
}

static void print_nodes(at_text *out, const at_tree *t, int i, int depth) {
    for (; i >= 0; i = node(t, i)->next) {
        const tree_node *n = node(t, i);
        if (n->is_generated) continue;
        indent(out, depth);
        if (n->fixed.is_leaf) print_leaf(out, t, n);
        else print_line(out, t, n, depth);
    }
}

bool at_tree_has_para(const at_tree *t) {
    for (int i = 0; i < t->nodes.len; i++)
        if (t->nodes.data[i].fixed.ann == AT_ANN_PARA) return true;
    return false;
}

bool at_tree_has_init(const at_tree *t, int tensor) {
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = &t->nodes.data[i];
        if (n->fixed.is_init && n->fixed.tensor == tensor) return !n->is_generated;
    }
    return false;
}

void at_tree_print(at_text *out, const at_tree *t) { print_nodes(out, t, 0, 0); }
