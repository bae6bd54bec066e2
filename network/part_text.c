/* network/part_text.c: the computation of a part: texts of its nodes joined to one, with values as
 * they lie in memory. */
#include <string.h>

#include "network/graph.h"
#include "network/joined.h"

/* A part's tensors by value while it is put together. */
typedef struct joining {
    at_arena *arena;
    const at_net_cut *cut;
    const bool *leaves; /* [value] */
    bool is_whole;
    int threads; /* that share out bands; 0: there are none */
    at_joined j;
    AT_VEC(int) values;
    AT_VEC(int) tensors;
    at_error *err;
} joining;

static const at_net_value *value_at(const joining *g, int v) {
    return &g->cut->net->values.data[v];
}

static int find_value(const joining *g, int v) {
    for (int i = g->values.len - 1; i >= 0; i--)
        if (g->values.data[i] == v) return g->tensors.data[i];
    return -1;
}

static void set_value(joining *g, int v, int tensor) {
    *at_push(g->arena, &g->values) = v;
    *at_push(g->arena, &g->tensors) = tensor;
}

static at_status input_of(joining *g, const at_net_node *n, int k, int *out) {
    int v = n->inputs[k];
    const at_net_value *value = value_at(g, v);
    bool index = n->index_inputs >> k & 1;
    int known = find_value(g, v);
    *out = known;
    if (known >= 0 && (g->j.tensors.data[known].role == AT_ROLE_INDEX) == index) return AT_OK;
    if (known >= 0 && g->j.tensors.data[known].role == AT_ROLE_STAGE)
        return at_fail(g->err, AT_E_INPUT,
                       "node %s (%s): an index that is computed beside is not there yet", n->name,
                       n->op);
    at_role role = index ? AT_ROLE_INDEX : value->is_constant ? AT_ROLE_WEIGHT : AT_ROLE_INPUT;
    *out = at_join_input(&g->j, v, role, index ? AT_F32 : value->element, value->rank, value->dims);
    set_value(g, v, *out);
    return AT_OK;
}

static at_status join_node(joining *g, int node) {
    const at_net_node *n = &g->cut->net->nodes.data[node];
    int *inputs = AT_NEW_ARRAY(g->arena, int, n->num_inputs);
    int *outputs = AT_NEW_ARRAY(g->arena, int, n->num_outputs);
    for (int k = 0; k < n->num_inputs; k++) {
        inputs[k] = -1;
        if (n->inputs[k] >= 0 && at_net_reads(n, k)) AT_TRY(input_of(g, n, k, &inputs[k]));
    }
    const char *what = at_format(g->arena, "text of %s", n->op);
    AT_TRY(
        at_join_text(&g->j, n->text, what, inputs, n->num_inputs, outputs, n->num_outputs, g->err));
    for (int k = 0; k < n->num_outputs; k++) {
        if (n->outputs[k] < 0 || outputs[k] < 0) continue;
        g->j.tensors.data[outputs[k]].value = n->outputs[k];
        g->j.tensors.data[outputs[k]].type = value_at(g, n->outputs[k])->element;
        set_value(g, n->outputs[k], outputs[k]);
    }
    return AT_OK;
}

/* Has the inner stage the extents of the node's output, or its names of axes, as steps of a picture
 * that is resized have? */
static bool has_axes(const at_joined_tensor *t, const at_joined_tensor *of) {
    bool sizes = true, names = true;
    if (t->num_axes != of->num_axes) return false;
    for (int i = 0; i < t->num_axes; i++) {
        sizes &= t->axes[i].extent == of->axes[i].extent;
        names &= !strcmp(t->axes[i].name, of->axes[i].name);
    }
    return sizes || names;
}

/* Values as they lie in memory: of inputs and outputs, and of what is computed between; a node's
 * inner stages with the axes of its output like that. */
static void set_orders(joining *g) {
    at_joined_tensor of = {.value = -1}; /* as it was declared */
    for (int i = g->j.tensors.len - 1; i >= 0; i--) {
        const at_joined_tensor *t = &g->j.tensors.data[i];
        const bool is_inner = t->role == AT_ROLE_STAGE && t->value < 0;
        if (!is_inner) of = *t;
        if (of.value < 0 || !g->cut->orders[of.value]) continue;
        if (is_inner && !has_axes(t, &of)) continue;
        at_join_permute(&g->j, i, g->cut->orders[of.value]);
    }
}

/* An index that is known only when the network runs is prepared at every call, and with it all that
 * is prepared ahead: then constants are inputs as they are. Plain C prepares nothing. */
static void set_roles(joining *g) {
    bool late = false;
    for (int i = 0; i < g->j.tensors.len; i++) {
        const at_joined_tensor *t = &g->j.tensors.data[i];
        late |= t->role == AT_ROLE_INDEX && !value_at(g, t->value)->is_constant;
    }
    const bool as_they_are = late || g->is_whole;
    for (int i = 0; as_they_are && i < g->j.tensors.len; i++)
        if (g->j.tensors.data[i].role == AT_ROLE_WEIGHT) g->j.tensors.data[i].role = AT_ROLE_INPUT;
}

/* NULL: rows of all parameters are as long as they are. */
static const int64_t *rows_of(const joining *g, const at_net_part *p) {
    int64_t *rows = AT_NEW_ARRAY(g->arena, int64_t, p->num_params);
    bool any = false;
    for (int i = 0; i < p->num_params; i++) {
        rows[i] = g->cut->boxes[p->params[i].value].row;
        any |= rows[i] != 0;
    }
    return any ? rows : NULL;
}

static at_status finish_part(joining *g, at_net_part *p) {
    at_arena *a = g->arena;
    at_text text = {0};
    int *params = AT_NEW_ARRAY(a, int, g->j.tensors.len);
    set_roles(g);
    at_join_dissolve(&g->j);
    if (at_join_has_stray(&g->j)) {
        const at_net_node *n = &g->cut->net->nodes.data[p->nodes[0]];
        return at_fail(g->err, AT_E_INPUT,
                       "node %s (%s): a state that no output reads is not there yet", n->name,
                       n->op);
    }
    at_join_shorten(&g->j);
    if (g->threads) at_join_bands(&g->j, g->threads);
    at_join_name(&g->j);
    at_join_print(&text, &g->j);
    at_join_print_bands(&text, &g->j);
    p->text = at_text_take(a, &text);
    p->num_params = at_join_parameters(&g->j, params);
    at_net_param *out = AT_NEW_ARRAY(a, at_net_param, p->num_params);
    for (int i = 0; i < p->num_params; i++) {
        const at_joined_tensor *t = &g->j.tensors.data[params[i]];
        out[i] = (at_net_param){t->value, t->role};
    }
    p->params = out;
    p->rows = rows_of(g, p);
    return AT_OK;
}

/* Plain C is of the types that its parameters have in memory. */
static const char *typed_text(const joining *g, const at_net_part *p) {
    at_text text = {0};
    at_text_add(&text, p->text);
    for (int i = 0; i < p->num_params; i++) {
        const int root = g->cut->views[p->params[i].value];
        at_text_addf(&text, "# %s, %s\n", at_net_type_name(value_at(g, root)->type),
                     at_net_type_name(at_net_kept_type(g->cut->net, root, true)));
    }
    return at_text_take(g->arena, &text);
}

at_status at_net_join_part(at_arena *a, const at_net_cut *cut, const bool *leaves, int threads,
                           at_net_part *p, at_error *err) {
    joining g = {.arena = a,
                 .cut = cut,
                 .leaves = leaves,
                 .is_whole = p->is_whole,
                 .threads = threads,
                 .j.arena = a,
                 .err = err};
    for (int i = 0; i < p->num_nodes; i++) AT_TRY(join_node(&g, p->nodes[i]));
    for (int i = 0; i < g.j.tensors.len; i++) {
        at_joined_tensor *t = &g.j.tensors.data[i];
        t->is_output = t->role == AT_ROLE_STAGE && t->value >= 0 && leaves[t->value];
    }
    set_orders(&g);
    AT_TRY(finish_part(&g, p));
    p->title = at_net_part_title(a, cut->net, p->nodes, p->num_nodes);
    if (p->is_whole) p->title = at_format(a, "%s, in whole numbers", p->title);
    p->name = at_net_part_name(a, p->title, p->is_whole ? typed_text(&g, p) : p->text);
    return AT_OK;
}
