/* network/net_rewrite.c: a graph with less to do: nodes that nobody reads are left out, nodes that
 * stand there twice are one, and factors and shifts of channels go into weights. */
#include <math.h>
#include <string.h>

#include "network/graph.h"
#include "network/quantized.h"

/* ---- copies ---------------------------------------------------------------------------------- */

static at_net *copy_net(at_arena *a, const at_net *net) {
    at_net *copy = AT_NEW(a, at_net);
    *copy =
        (at_net){.arena = a, .path = net->path, .room_bytes = net->room_bytes, .file = net->file};
    for (int i = 0; i < net->values.len; i++) *at_push(a, &copy->values) = net->values.data[i];
    for (int i = 0; i < net->nodes.len; i++) *at_push(a, &copy->nodes) = net->nodes.data[i];
    for (int i = 0; i < net->inputs.len; i++) *at_push(a, &copy->inputs) = net->inputs.data[i];
    for (int i = 0; i < net->outputs.len; i++) *at_push(a, &copy->outputs) = net->outputs.data[i];
    return copy;
}

/* From now on every reader of a value reads another. */
static void redirect(at_net *net, int from, int to) {
    for (int i = 0; i < net->nodes.len; i++) at_net_reread(net, &net->nodes.data[i], from, to);
}

static void set_input(at_net *net, at_net_node *n, int k, int value) {
    int *inputs = at_copy(net->arena, n->inputs, sizeof *inputs * (size_t)n->num_inputs);
    inputs[k] = value;
    n->inputs = inputs;
}

static void drop_nodes(at_net *net, const bool *dropped) {
    int n = 0;
    for (int i = 0; i < net->nodes.len; i++)
        if (!dropped[i]) net->nodes.data[n++] = net->nodes.data[i];
    at_net_set_nodes(net, net->nodes.data, n);
}

/* ---- what is read by nobody, and what stands there twice ------------------------------------- */

static void drop_dead(at_net *net) {
    bool *read = AT_NEW_ARRAY(net->arena, bool, net->values.len);
    bool *dropped = AT_NEW_ARRAY(net->arena, bool, net->nodes.len);
    for (int i = 0; i < net->outputs.len; i++) read[net->outputs.data[i]] = true;
    for (int i = net->nodes.len - 1; i >= 0; i--) {
        const at_net_node *n = &net->nodes.data[i];
        bool needed = false;
        for (int k = 0; k < n->num_outputs; k++)
            needed |= n->outputs[k] >= 0 && read[n->outputs[k]];
        dropped[i] = !needed;
        for (int k = 0; needed && k < n->num_inputs; k++)
            if (n->inputs[k] >= 0 && at_net_reads(n, k)) read[n->inputs[k]] = true;
    }
    drop_nodes(net, dropped);
}

static bool is_output(const at_net *net, const at_net_node *n) {
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0 && net->values.data[n->outputs[k]].is_output) return true;
    return false;
}

static bool same_node(const at_net_node *x, const at_net_node *y) {
    if (!x->text || !y->text || strcmp(x->op, y->op) || strcmp(x->text, y->text)) return false;
    if (x->num_inputs != y->num_inputs || x->num_outputs != y->num_outputs) return false;
    for (int k = 0; k < x->num_inputs; k++)
        if (x->inputs[k] != y->inputs[k]) return false;
    for (int k = 0; k < x->num_outputs; k++)
        if ((x->outputs[k] < 0) != (y->outputs[k] < 0)) return false;
    return true;
}

static void join_equal(at_net *net) {
    bool *dropped = AT_NEW_ARRAY(net->arena, bool, net->nodes.len);
    for (int i = 0; i < net->nodes.len; i++)
        for (int k = i + 1; k < net->nodes.len && !dropped[i]; k++) {
            const at_net_node *x = &net->nodes.data[i], *y = &net->nodes.data[k];
            if (dropped[k] || is_output(net, y) || !same_node(x, y)) continue;
            dropped[k] = true;
            for (int o = 0; o < x->num_outputs; o++)
                if (y->outputs[o] >= 0) redirect(net, y->outputs[o], x->outputs[o]);
        }
    drop_nodes(net, dropped);
}

/* ---- factors of channels -----------------------------------------------------------------------
 */

/* y = x*factor + shift, of each channel. */
typedef struct affine {
    int64_t channels;
    double *factor, *shift;
} affine;

static affine affine_new(const at_net *net, int64_t channels) {
    affine f = {channels, AT_NEW_ARRAY(net->arena, double, channels),
                AT_NEW_ARRAY(net->arena, double, channels)};
    for (int64_t c = 0; c < channels; c++) f.factor[c] = 1;
    return f;
}

static bool normalization_of(const at_net *net, const at_net_node *n, affine *out) {
    const at_net_value *of[5];
    const at_net_attribute *epsilon = at_net_attribute_find(n, "epsilon", AT_NET_ATTR_FLOAT);
    if (strcmp(n->op, "BatchNormalization") || n->kind != AT_NET_MAP) return false; /* training */
    for (int k = 1; k < 5; k++)
        if (!(of[k] = at_net_float_input(net, n, k))) return false;
    *out = affine_new(net, of[1]->elements);
    for (int64_t c = 0; c < out->channels; c++) {
        double v[5];
        for (int k = 1; k < 5; k++) v[k] = at_net_element(of[k]->type, of[k]->data, c);
        out->factor[c] = v[1] / sqrt(v[4] + (epsilon ? (double)epsilon->f : 1e-5));
        out->shift[c] = v[2] - v[3] * out->factor[c];
    }
    return true;
}

/* One number for each channel, or one for all, where it is broadcast to x. */
static bool is_by_channel(const at_net_value *v, const at_net_value *x) {
    if (v->rank > x->rank || x->rank < 2) return false;
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] != 1 && i + x->rank - v->rank != 1) return false;
    return true;
}

/* A sum or a product with constants. */
static bool arithmetic_of(const at_net *net, const at_net_node *n, affine *out) {
    static const char *const names[] = {"Mul", "Add", "Div", "Sub", NULL};
    if (!at_net_op_is(n, names) || n->num_inputs != 2) return false;
    bool turned = at_net_float_input(net, n, 0) && (*n->op == 'M' || *n->op == 'A');
    const at_net_value *v = at_net_float_input(net, n, !turned);
    const at_net_value *x = &net->values.data[n->inputs[turned]];
    if (!v || x->is_constant || x->elements != net->values.data[n->outputs[0]].elements ||
        !is_by_channel(v, x))
        return false;
    *out = affine_new(net, x->dims[1]);
    for (int64_t c = 0; c < out->channels; c++) {
        double k = at_net_element(v->type, v->data, v->elements == 1 ? 0 : c);
        if (!isfinite(k) || (*n->op == 'D' && k == 0)) return false;
        if (*n->op == 'M') out->factor[c] = k;
        else if (*n->op == 'D') out->factor[c] = 1 / k;
        else out->shift[c] = *n->op == 'A' ? k : -k;
    }
    return true;
}

/* A convolution that only this node reads takes the factor into its weight, and into its bias. */
static bool fold_into_weight(at_net *net, at_net_node *conv, const affine *f) {
    const at_net_value *w = at_net_float_input(net, conv, 1);
    const at_net_value *b =
        conv->num_inputs > 2 && conv->inputs[2] >= 0 ? at_net_float_input(net, conv, 2) : NULL;
    if (!w || !w->rank || w->dims[0] != f->channels) return false;
    if (conv->num_inputs > 2 && conv->inputs[2] >= 0 && !b) return false;
    int64_t inner = w->elements / f->channels;
    float *scaled = AT_NEW_ARRAY(net->arena, float, w->elements);
    for (int64_t i = 0; i < w->elements; i++)
        scaled[i] = (float)(at_net_element(w->type, w->data, i) * f->factor[i / inner]);
    int value = at_net_add_constant(net, w->name, w->rank, w->dims, scaled);
    set_input(net, conv, 1, value);
    if (!b) return true;
    float *bias = AT_NEW_ARRAY(net->arena, float, f->channels);
    b = &net->values.data[conv->inputs[2]];
    for (int64_t c = 0; c < f->channels; c++) {
        bias[c] = (float)(at_net_element(b->type, b->data, c) * f->factor[c] + f->shift[c]);
        f->shift[c] = 0;
    }
    value = at_net_add_constant(net, b->name, b->rank, b->dims, bias);
    set_input(net, conv, 2, value);
    return true;
}

/* The node becomes x0*x1[c] + x2[c], without a factor that is in a weight. */
static void replace_by_affine(at_net *net, at_net_node *n, int from, const affine *f, bool folded) {
    at_arena *a = net->arena;
    const at_net_value *x = &net->values.data[n->inputs[from]];
    int64_t *dims = at_copy(a, &f->channels, sizeof f->channels);
    at_text text = {0}, index = {0};
    float *factor = AT_NEW_ARRAY(a, float, f->channels);
    float *shift = AT_NEW_ARRAY(a, float, f->channels);
    int *inputs = AT_NEW_ARRAY(a, int, 3), *outputs = at_copy(a, n->outputs, sizeof *outputs);
    for (int64_t c = 0; c < f->channels; c++) {
        factor[c] = (float)f->factor[c];
        shift[c] = (float)f->shift[c];
    }
    at_text_add(&text, "y0[");
    for (int i = 0; i < x->rank; i++) {
        at_text_addf(&text, "%sa%d:%lld", i ? ", " : "", i, (long long)x->dims[i]);
        at_text_addf(&index, "%sa%d", i ? ", " : "", i);
    }
    const char *channel = x->rank > 1 ? "a1" : "a0";
    at_text_addf(&text, "] = x0[%s]%s%s%s + x%d[%s]\n", at_text_str(&index), folded ? "" : " * x1[",
                 folded ? "" : channel, folded ? "" : "]", folded ? 1 : 2, channel);
    at_text_free(&index);
    int k = 0;
    inputs[k++] = n->inputs[from];
    if (!folded)
        inputs[k++] = at_net_add_constant(net, at_format(a, "%s_factor", n->name), 1, dims, factor);
    inputs[k++] = at_net_add_constant(net, at_format(a, "%s_shift", n->name), 1, dims, shift);
    n->num_inputs = k;
    n->inputs = inputs;
    n->num_outputs = 1;
    n->outputs = outputs;
    n->kind = AT_NET_MAP;
    n->op = folded ? "Bias" : "Scale";
    n->text = at_text_take(a, &text);
}

/* The node that makes what this one, and no other, reads as input k; -1: there is none. */
static int maker_of(const at_net *net, const bool *dropped, const at_net_node *n, int k) {
    const int v = n->inputs[k];
    if (net->values.data[v].is_output) return -1;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *other = &net->nodes.data[i];
        for (int o = 0; o < other->num_inputs && other != n && !dropped[i]; o++)
            if (other->inputs[o] == v) return -1;
    }
    return net->values.data[v].producer;
}

/* Factors and shifts right before, which were made by replace_by_affine, go into these. */
static bool take_before(at_net *net, bool *dropped, at_net_node *n, int from, affine *f) {
    static const char *const made[] = {"Bias", "Scale", NULL};
    int by = maker_of(net, dropped, n, from);
    if (by < 0 || !at_net_op_is(&net->nodes.data[by], made)) return false;
    const at_net_node *first = &net->nodes.data[by];
    const at_net_value *shift = at_net_float_input(net, first, first->num_inputs - 1);
    const at_net_value *factor = first->num_inputs > 2 ? at_net_float_input(net, first, 1) : NULL;
    for (int64_t c = 0; c < f->channels; c++) {
        f->shift[c] += f->factor[c] * at_net_element(shift->type, shift->data, c);
        if (factor) f->factor[c] *= at_net_element(factor->type, factor->data, c);
    }
    dropped[by] = true;
    set_input(net, n, from, first->inputs[0]);
    return true;
}

static bool has_shift(const affine *f) {
    for (int64_t c = 0; c < f->channels; c++)
        if (f->shift[c] != 0) return true;
    return false;
}

/* A node's factors and shifts of channels go into what is before it as far as they can. */
static void fold_node(at_net *net, bool *dropped, int node) {
    affine f;
    at_net_node *n = &net->nodes.data[node];
    bool is_own = normalization_of(net, n, &f);
    if (!is_own && !arithmetic_of(net, n, &f)) return;
    int from = !is_own && at_net_float_input(net, n, 0);
    bool folded = false, is_whole = false, taken = take_before(net, dropped, n, from, &f);
    int by = maker_of(net, dropped, n, from);
    if (by >= 0 && !strcmp(net->nodes.data[by].op, "Conv")) {
        at_net_node *conv = &net->nodes.data[by];
        folded = fold_into_weight(net, conv, &f);
        is_whole = folded && !has_shift(&f);
    }
    if (!is_own && !taken && !folded) return;
    if (is_whole && !net->values.data[n->outputs[0]].is_output) {
        dropped[node] = true; /* all of it is in weight and bias */
        redirect(net, n->outputs[0], n->inputs[from]);
    } else replace_by_affine(net, n, from, &f, folded);
}

static void fold_channels(at_net *net) {
    bool *dropped = AT_NEW_ARRAY(net->arena, bool, net->nodes.len);
    for (int i = 0; i < net->nodes.len; i++) fold_node(net, dropped, i);
    drop_nodes(net, dropped);
}

at_net *at_net_rewrite(at_arena *a, const at_net *net, bool integers) {
    at_net *copy = copy_net(a, net);
    drop_dead(copy);
    join_equal(copy);
    at_net_find_group_norms(copy);
    drop_dead(copy);
    if (integers) {
        at_net_use_integers(copy);
        drop_dead(copy);
        join_equal(copy);
    }
    fold_channels(copy);
    at_net_leave_shuffles(copy);
    at_net_join_repeats(copy);
    drop_dead(copy);
    at_net_move_edges(copy);
    at_net_keep_halves(copy);
    at_net_find_whole(copy);
    at_net_place_inside(copy);
    return copy;
}
