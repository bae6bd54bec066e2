/* network/sizes.c: see sizes.h. A network at two sizes has the same nodes, whose values differ in
 * one axis each. Rows along it are apart where every stage of every node reads what has rows at its
 * own row, and nothing else depends on the row. */
#include "network/sizes.h"

#include <stdlib.h>
#include <string.h>

/* ---- the option ------------------------------------------------------------------------------ */

static at_status no_sizes(at_error *err, const char *dims) {
    return at_fail(
        err, AT_E_USAGE,
        "--dim %s: NAME=SIZE, a number from 1 to 2^40, is accepted, several with commas; one of "
        "them may have up to %d sizes, as in batch=1,4,8",
        dims, AT_NET_MOST_SIZES);
}

bool at_net_is_size(double x) { return x >= 1 && x <= 1LL << 40 && x == (double)(int64_t)x; }

static at_status add_size(at_net_sizes *s, const char *text, const char *dims, at_error *err) {
    char *end;
    const double given = strtod(text, &end);
    int at = s->n;
    if (end == text || *end || !at_net_is_size(given) || s->n == AT_NET_MOST_SIZES)
        return no_sizes(err, dims);
    const long long x = (long long)given;
    for (int i = 0; i < s->n; i++)
        if (s->value[i] == x)
            return at_fail(err, AT_E_USAGE, "--dim %s: %lld stands there twice", dims, x);
    for (; at > 0 && s->value[at - 1] > x; at--) s->value[at] = s->value[at - 1];
    s->value[at] = x;
    s->n++;
    return AT_OK;
}

/* A word without "=" is another size of the name before. */
at_status at_net_sizes_of(at_arena *a, const char *dims, at_net_sizes *out, at_error *err) {
    at_text others = {0};
    const char *last = NULL; /* NAME=SIZE */
    at_status s = AT_OK;
    *out = (at_net_sizes){.n = 0};
    for (const char *p = dims; p && s == AT_OK;) {
        const size_t n = strcspn(p, ",");
        const char *word = at_strndup(a, p, n), *equals = strrchr(word, '=');
        p = p[n] ? p + n + 1 : NULL;
        if (!equals && !last) s = no_sizes(err, dims);
        else if (!equals) {
            const char *own = strrchr(last, '=');
            const char *name = at_strndup(a, last, (size_t)(own - last));
            if (out->name && strcmp(out->name, name) != 0) s = no_sizes(err, dims);
            else if (!out->name) s = add_size(out, own + 1, dims, err);
            out->name = name;
            if (s == AT_OK) s = add_size(out, word, dims, err);
        } else last = word;
        if (equals && (!p || memchr(p, '=', strcspn(p, ","))))
            at_text_addf(&others, "%s%s", others.len ? "," : "", word);
    }
    for (int i = 0; i < out->n; i++)
        out->dims[i] = at_format(a, "%s%s%s=%lld", at_text_str(&others), others.len ? "," : "",
                                 out->name, (long long)out->value[i]);
    if (!out->n) out->dims[out->n++] = dims;
    at_text_free(&others);
    return s;
}

const char *at_net_dims_at(at_arena *a, const at_net_sizes *s, int64_t size) {
    const char *dims = s->dims[0]; /* that size stands last */
    return at_format(a, "%.*s=%lld", (int)(strrchr(dims, '=') - dims), dims, (long long)size);
}

/* ---- axes ------------------------------------------------------------------------------------ */

enum { NO_AXIS = -1, SEVERAL = -2, UNKNOWN = -3 /* of a stage, so far */ };

static int axis_of(const at_net_value *x, const at_net_value *y, int64_t small, int64_t large) {
    int axis = NO_AXIS;
    if (x->rank != y->rank) return SEVERAL;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[i] == y->dims[i]) continue;
        if (axis >= 0 || x->dims[i] != small || y->dims[i] != large) return SEVERAL;
        axis = i;
    }
    return axis;
}

static const char *not_apart(at_arena *a, const at_net_node *n) {
    return at_format(a, "%s \"%s\" does not compute rows one by one", n->op, n->name);
}

/* Sizes that a text is written with may differ; what it reads, or may hold as a number, may not. */
static bool is_same_constant(const at_net_value *x, const at_net_value *y, bool is_read) {
    if (!x->is_constant && !y->is_constant) return true;
    if (x->is_constant != y->is_constant || x->type != y->type) return false;
    if (!is_read && !at_net_type_is_float(x->type)) return true;
    if (x->elements != y->elements || !x->data != !y->data) return false;
    if (!x->data) return true;
    return !memcmp(x->data, y->data, (size_t)x->elements * (size_t)at_net_type_bytes(x->type));
}

/* ---- one computation ------------------------------------------------------------------------- */

typedef struct stage_rows {
    const int *axis; /* [tensor] with rows; NO_AXIS: none */
    int num_axes;    /* of the stage */
    int row;         /* axis of the stage by which all of these are read; NO_AXIS: none was */
    bool is_apart;
} stage_rows;

/* Reads of tensors with rows: *row is by which axis of the stage. */
static at_walk look_at_read(const at_expr *e, void *ctx) {
    stage_rows *s = ctx;
    if (e->op != AT_X_INDEX || s->axis[e->ref] < 0) return AT_WALK_ON;
    const at_expr *x = e->arg[s->axis[e->ref]];
    const bool is_plain = x->op == AT_X_NAME && x->ref < s->num_axes;
    if (!is_plain || (s->row >= 0 && s->row != x->ref)) s->is_apart = false;
    else s->row = x->ref;
    return s->is_apart ? AT_WALK_ON : AT_WALK_END;
}

/* Does the expression use that axis but to read rows? */
static bool uses_row(const stage_rows *s, const at_expr *e) {
    if (at_expr_is_name(e, s->row)) return true;
    if (e->op == AT_X_INDEX && s->axis[e->ref] == UNKNOWN) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!(e->op == AT_X_INDEX && s->axis[e->ref] == i) && uses_row(s, e->arg[i])) return true;
    return false;
}

static bool reads_rows(const at_expr *e, const void *axis) {
    return e->op == AT_X_INDEX && ((const int *)axis)[e->ref] >= 0;
}

/* The axis of the stage's rows; false: rows are not apart. */
static bool stage_axis(const at_tensor *t, const int *axis, int *out) {
    stage_rows s = {.axis = axis, .num_axes = t->num_axes, .row = NO_AXIS, .is_apart = true};
    for (int i = 0; i < t->num_axes + t->num_reduce; i++) {
        const at_axis *x = &t->axes[i];
        if ((x->begin && at_expr_find(x->begin, reads_rows, axis)) ||
            (x->end && at_expr_find(x->end, reads_rows, axis)))
            return false;
    }
    at_expr_walk(t->body, look_at_read, &s);
    *out = s.row;
    return s.is_apart && (s.row < 0 || !uses_row(&s, t->body));
}

/* Axes of all stages, which may read each other; false: rows are not apart. */
static bool find_axes(const at_compute *c, int *axis) {
    for (bool again = true; again;) {
        again = false;
        for (int t = 0; t < c->num_tensors; t++) {
            int found;
            if (c->tensors[t].role != AT_ROLE_STAGE) continue;
            if (!stage_axis(&c->tensors[t], axis, &found)) return false;
            if (axis[t] >= 0 && found != axis[t]) return false;
            again |= found != axis[t];
            axis[t] = found;
        }
    }
    return true;
}

/* The same of what is read, but for the index along an axis of one row. */
static bool is_same(const at_expr *large, const at_expr *small, bool is_one) {
    if (!large || !small) return large == small;
    if (is_one && large->op == AT_X_NAME && small->op == AT_X_INT && !small->integer) return true;
    if (large->op != small->op || large->nargs != small->nargs || large->ref != small->ref ||
        large->integer != small->integer || large->number != small->number)
        return false;
    for (int i = 0; i < large->nargs; i++)
        if (!is_same(large->arg[i], small->arg[i], is_one)) return false;
    return true;
}

/* Extents may differ, numbers that are computed with may not. */
static bool is_same_text(const at_compute *large, const at_compute *small, bool is_one) {
    if (large->num_tensors != small->num_tensors) return false;
    for (int t = 0; t < large->num_tensors; t++) {
        const at_tensor *x = &large->tensors[t], *y = &small->tensors[t];
        const int n = x->num_axes + x->num_reduce;
        if (n != y->num_axes + y->num_reduce || !is_same(x->body, y->body, is_one)) return false;
        for (int i = 0; i < n; i++)
            if (!is_same(x->axes[i].begin, y->axes[i].begin, is_one) ||
                !is_same(x->axes[i].end, y->axes[i].end, is_one))
                return false;
    }
    return true;
}

/* Rows of the inputs of node i to rows of its outputs; it computes the same at both sizes. */
static bool is_node_apart(at_arena *a, const at_net *small, const at_net *large, int i, bool is_one,
                          const int *rows) {
    const at_net_node *n = &large->nodes.data[i];
    at_compute *c, *other;
    if (at_net_computation(a, large, n, &c, NULL) != AT_OK ||
        at_net_computation(a, small, &small->nodes.data[i], &other, NULL) != AT_OK ||
        !is_same_text(c, other, is_one))
        return false;
    int *axis = AT_NEW_ARRAY(a, int, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const char *name = c->tensors[t].name;
        const int k = *name == 'x' ? (int)strtol(name + 1, NULL, 10) : 0;
        const bool is_input = c->tensors[t].role != AT_ROLE_STAGE && *name == 'x';
        axis[t] = is_input && k < n->num_inputs && n->inputs[k] >= 0 ? rows[n->inputs[k]] : NO_AXIS;
        if (c->tensors[t].role == AT_ROLE_STAGE) axis[t] = UNKNOWN;
    }
    if (!find_axes(c, axis)) return false;
    for (int k = 0; k < n->num_outputs; k++) {
        const int t = at_compute_find(c, at_format(a, "y%d", k));
        if (n->outputs[k] < 0 || t < 0) continue;
        const int row = rows[n->outputs[k]];
        const stage_rows same = {.axis = axis, .row = row}; /* in all rows */
        if (axis[t] == row || (axis[t] < 0 && !uses_row(&same, c->tensors[t].body))) continue;
        return false;
    }
    return true;
}

/* ---- the network ----------------------------------------------------------------------------- */

static const char *find_fault(at_arena *a, const at_net *small, const at_net *large, bool is_one,
                              int *axis) {
    for (int i = 0; i < large->nodes.len; i++) {
        const at_net_node *n = &large->nodes.data[i], *other = &small->nodes.data[i];
        bool is_apart = !strcmp(n->op, other->op) && n->num_inputs == other->num_inputs;
        for (int k = 0; k < n->num_inputs && is_apart; k++) {
            const int v = n->inputs[k];
            if ((v < 0) != (other->inputs[k] < 0)) is_apart = false;
            if (v < 0 || !is_apart) continue;
            is_apart = is_same_constant(&small->values.data[other->inputs[k]],
                                        &large->values.data[v], at_net_reads(n, k));
            if (at_net_reads(n, k)) is_apart &= axis[v] != SEVERAL;
        }
        for (int k = 0; k < n->num_outputs; k++)
            if (n->outputs[k] >= 0) is_apart &= axis[n->outputs[k]] != SEVERAL;
        if (!is_apart || !is_node_apart(a, small, large, i, is_one, axis)) return not_apart(a, n);
    }
    return NULL;
}

at_status at_net_find_rows(at_arena *a, const at_net *small, int64_t small_size,
                           const at_net *large, int64_t large_size, at_net_rows *out,
                           at_error *err) {
    int *axis = AT_NEW_ARRAY(a, int, large->values.len + 1);
    bool has_rows = false;
    *out = (at_net_rows){.axis = axis};
    if (small->values.len != large->values.len || small->nodes.len != large->nodes.len) {
        out->fault = "its graph is another at each size";
        for (int i = 0; i < large->values.len; i++) axis[i] = NO_AXIS;
        return AT_OK;
    }
    for (int i = 0; i < large->values.len; i++)
        axis[i] = axis_of(&small->values.data[i], &large->values.data[i], small_size, large_size);
    for (int i = 0; i < large->inputs.len; i++) has_rows |= axis[large->inputs.data[i]] >= 0;
    if (!has_rows)
        return at_fail(err, AT_E_INPUT, "%s: no input has the sizes %lld and %lld in one place",
                       large->path, (long long)small_size, (long long)large_size);
    out->fault = find_fault(a, small, large, small_size == 1, axis);
    for (int i = 0; i < large->outputs.len && !out->fault; i++)
        if (!is_same_constant(&small->values.data[small->outputs.data[i]],
                              &large->values.data[large->outputs.data[i]], true))
            out->fault = "an output is another constant at each size";
    for (int side = 0; side < 2 && !out->fault; side++)
        for (int i = 0; i < (side ? large->outputs.len : large->inputs.len); i++)
            if (axis[side ? large->outputs.data[i] : large->inputs.data[i]] == SEVERAL)
                out->fault = "an input or output grows in several places";
    return AT_OK;
}
