/* schedule/tree_print.c: a parsed tree back to text. Generated init leaves are not part of it. */
#include "schedule/tree_int.h"

static void indent(at_text *out, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
}

static void print_item(at_text *out, const tree_node *n) {
    bool fused = n->pieces.len > 1;
    if (fused) at_text_add(out, "{");
    for (int m = 0; m < n->pieces.len; m++) {
        const int64_t extent = m < n->extents.len ? n->extents.data[m] : 0;
        at_text_addf(out, "%s%s", m ? ", " : "", n->pieces.data[m]);
        if (extent) at_text_addf(out, ":%lld", (long long)extent);
    }
    if (fused) at_text_add(out, "}");
    if (n->ann_size) at_text_addf(out, ":ann(%s)", n->ann_size);
    if (n->dynamic) at_text_add(out, ":dyn(");
    for (int i = 0; i < n->dyn_axes.len; i++)
        at_text_addf(out, "%s%s", i ? ", " : "", n->dyn_axes.data[i]);
    if (n->dynamic) at_text_add(out, ")");
    if (n->ann)
        at_text_addf(out, "%s%s", n->extents.len || n->dynamic ? " " : ":", at_ann_name(n->ann));
}

static void print_index(at_text *out, const name_list *digits, const char *axis) {
    if (digits->len == 0) at_text_add(out, "0");
    if (digits->len > 1) at_text_add(out, "{");
    for (int d = 0; d < digits->len; d++) at_text_addf(out, "%s%s", d ? ", " : "", digits->data[d]);
    if (digits->len > 1) at_text_addf(out, "}/%s", axis);
}

static void print_leaf(at_text *out, const at_tree *t, const tree_node *leaf) {
    const at_tensor *stage = &t->compute->tensors[leaf->fixed.tensor];
    at_text_addf(out, "@%s%s", stage->name, leaf->is_init ? ".init" : "");
    tree_print_attributes(out, t->compute, leaf);
    at_text_add(out, " = ");
    for (int i = 0; i < leaf->num_index; i++) {
        if (i) at_text_add(out, i == stage->num_axes ? "  // " : ", ");
        print_index(out, &leaf->index[i], stage->axes[i].name);
    }
    at_text_add(out, "\n");
}

static const tree_node *first_written(const tree_node *n) {
    while (n->is_generated) n = n->next;
    return n;
}

static void print_nodes(at_text *out, const at_tree *t, const tree_node *first, int depth);

/* A loop with those written on its line, then what stands below the last of them. */
static void print_line(at_text *out, const at_tree *t, const tree_node *n, int depth) {
    for (;;) {
        const tree_order *order = n->order >= 0 ? &t->orders.data[n->order] : NULL;
        if (order && n->order_place == 0) at_text_add(out, "[");
        print_item(out, n);
        if (order && n->order_place == order->num_loops - 1)
            at_text_addf(out, "]:order(%s)", order->name);
        const tree_node *below = first_written(n->child);
        if (below->stage || below->fixed.line_group != n->fixed.line_group) break;
        at_text_add(out, ", ");
        n = below;
    }
    at_text_add(out, " =>\n");
    print_nodes(out, t, n->child, depth + 1);
}

static void print_nodes(at_text *out, const at_tree *t, const tree_node *first, int depth) {
    for (const tree_node *n = first; n; n = n->next) {
        if (n->is_generated) continue;
        indent(out, depth);
        if (n->stage) print_leaf(out, t, n);
        else print_line(out, t, n, depth);
    }
}

bool at_tree_has_para(const at_tree *t) {
    for (int i = 0; i < t->nodes.len; i++)
        if (t->nodes.data[i]->ann == AT_ANN_PARA) return true;
    return false;
}

bool at_tree_has_init(const at_tree *t, int tensor) {
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i];
        if (n->fixed.is_init && n->fixed.tensor == tensor) return !n->is_generated;
    }
    return false;
}

void at_tree_print(at_text *out, const at_tree *t) { print_nodes(out, t, t->root, 0); }
