/* network/ops_attention.c: attention as a single node, also with a state instead of all keys, and
 * the positions that its queries and keys are turned by. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

/* A tensor of heads: of four dimensions [batch, head, row, element], or of three with the elements
 * of all heads side by side, [batch, row, head and element]. */
typedef struct heads {
    int input;
    int64_t batch, num, rows, size; /* size: of a head's row */
    bool is_joined;
} heads;

static at_status read_heads(net_op *o, int k, int64_t num, heads *out) {
    const at_net_value *x = op_in(o, k);
    if (x->rank != 3 && x->rank != 4)
        return op_fail(o, "\"%s\" has %d dimensions, not 3 or 4", x->name, x->rank);
    *out = (heads){k, x->dims[0], x->dims[1], 0, 0, x->rank == 3};
    if (!out->is_joined) {
        out->rows = x->dims[2];
        out->size = x->dims[3];
        return AT_OK;
    }
    if (num < 1 || x->dims[2] % num)
        return op_fail(o, "%lld heads of %lld elements of \"%s\"", (long long)num,
                       (long long)x->dims[2], x->name);
    *out = (heads){k, x->dims[0], num, x->dims[1], x->dims[2] / num, true};
    return AT_OK;
}

static const char *read(const net_op *o, const heads *x, const char *batch, const char *head,
                        const char *row, const char *element) {
    if (!x->is_joined)
        return op_format(o, "x%d[%s, %s, %s, %s]", x->input, batch, head, row, element);
    return op_format(o, "x%d[%s, %s, (%s)*%lld + %s]", x->input, batch, row, head,
                     (long long)x->size, element);
}

/* ---- attention ------------------------------------------------------------------------------- */

enum { MASK = 3, PAST_KEY = 4, PAST_VALUE = 5, KEPT = 6 };

typedef struct attention {
    heads q, k, v;
    int64_t past, keys;
    bool has_past;
} attention;

static at_status read_past(net_op *o, int input, const heads *x, int64_t rows) {
    const at_net_value *p = op_in(o, input);
    if (p->rank == 4 && p->dims[0] == x->batch && p->dims[1] == x->num && p->dims[2] == rows &&
        p->dims[3] == x->size)
        return AT_OK;
    return op_fail(o, "\"%s\" does not fit \"%s\"", p->name, op_in(o, x->input)->name);
}

static at_status read_attention(net_op *o, attention *a) {
    const int64_t queries = op_int(o, "q_num_heads", 0), others = op_int(o, "kv_num_heads", 0);
    AT_TRY(read_heads(o, 0, queries, &a->q));
    AT_TRY(read_heads(o, 1, others, &a->k));
    AT_TRY(read_heads(o, 2, others, &a->v));
    if (a->k.batch != a->q.batch || a->v.batch != a->q.batch || a->v.num != a->k.num ||
        a->v.rows != a->k.rows || a->k.size != a->q.size)
        return op_fail(o, "sizes of queries, keys and values do not fit");
    if (!a->k.num || a->q.num % a->k.num || !a->q.size)
        return op_fail(o, "%lld heads of queries for %lld of keys", (long long)a->q.num,
                       (long long)a->k.num);
    a->has_past = op_in(o, PAST_KEY) != NULL;
    if (a->has_past != (op_in(o, PAST_VALUE) != NULL))
        return op_fail(o, "past keys and past values are given together");
    if (a->has_past) {
        a->past = op_in(o, PAST_KEY)->rank == 4 ? op_in(o, PAST_KEY)->dims[2] : 0;
        AT_TRY(read_past(o, PAST_KEY, &a->k, a->past));
        AT_TRY(read_past(o, PAST_VALUE, &a->v, a->past));
    }
    if (a->past > AT_NET_MAX_ELEMENTS || a->k.rows > AT_NET_MAX_ELEMENTS || !(a->past + a->k.rows))
        return op_fail(o, "%lld keys", (long long)a->k.rows);
    a->keys = a->past + a->k.rows;
    const at_net_value *kept = op_in(o, KEPT);
    if (kept && (a->has_past || kept->rank != 1 || kept->dims[0] != a->q.batch))
        return op_fail(o, "\"%s\" is accepted with an element for each of the batch, without past",
                       kept->name);
    return AT_OK;
}

/* Keys or values behind those of the past: the stage `name` and how it is read. */
static const char *add_cache(net_op *o, const attention *a, const heads *x, int past,
                             const char *name, const char *batch, const char *head, const char *row,
                             const char *element, int output) {
    const int64_t dims[] = {x->batch, x->num, a->keys, x->size};
    const bool is_asked = op_has_out(o, output);
    if (a->has_past) {
        op_add(o, "%s[%s] = a2 < %lld ? x%d[a0, a1, a2, a3] : %s\n", name, op_axes(o, "a", 4, dims),
               (long long)a->past, past,
               read(o, x, "a0", "a1", op_format(o, "a2 - %lld", (long long)a->past), "a3"));
        if (is_asked)
            op_add(o, "y%d[%s] = %s[a0, a1, a2, a3]\n", output, op_axes(o, "a", 4, dims), name);
        return op_format(o, "%s[%s, %s, %s, %s]", name, batch, head, row, element);
    }
    if (is_asked)
        op_add(o, "y%d[%s] = %s\n", output, op_axes(o, "a", 4, dims),
               read(o, x, "a0", "a1", "a2", "a3"));
    return read(o, x, batch, head, row, element);
}

/* The score t where the mask lets query a2 attend to key a3, or with what the mask adds. */
static at_status apply_mask(net_op *o, const attention *a, const char **t) {
    const at_net_value *mask = op_in(o, MASK);
    const int64_t dims[] = {a->q.batch, a->q.num, a->q.rows, a->keys};
    const int64_t width = mask->rank ? mask->dims[mask->rank - 1] : 0;
    bool fits = mask->rank >= 1 && mask->rank <= 4 && width >= 1 && width <= a->keys;
    for (int i = 0; fits && i < mask->rank - 1; i++)
        fits = mask->dims[i] == 1 || mask->dims[i] == dims[4 - mask->rank + i];
    if (!fits) return op_fail(o, "\"%s\" does not fit the scores", mask->name);
    const char *x = op_read(o, MASK, "a", 4);
    if (mask->type == AT_NET_BOOL) *t = op_format(o, "%s != 0 ? %s : -inf", x, *t);
    else *t = op_format(o, "%s + %s", *t, x);
    if (width > 1 && width < a->keys)
        *t = op_format(o, "a3 < %lld ? (%s) : -inf", (long long)width, *t);
    return AT_OK;
}

/* The score c[a0, a1, a2, a3] where query a2 attends to key a3, else -inf. */
static at_status masked(net_op *o, const attention *a, const char **t) {
    const int64_t left = op_int(o, "left_window_size", -1),
                  right = op_int(o, "right_window_size", -1);
    const char *first = op_format(o, "%lld", (long long)a->past);
    *t = "c[a0, a1, a2, a3]";
    if (op_in(o, MASK)) AT_TRY(apply_mask(o, a, t));
    if (op_in(o, KEPT)) {
        first = op_format(o, "x%d[a0] - %lld", KEPT, (long long)a->q.rows);
        *t = op_format(o, "a3 < x%d[a0] ? (%s) : -inf", KEPT, *t);
    }
    if (op_int(o, "is_causal", 0)) *t = op_format(o, "a3 <= a2 + %s ? (%s) : -inf", first, *t);
    if (left >= 0 && left < AT_NET_MAX_ELEMENTS)
        *t = op_format(o, "a3 >= a2 + %s - %lld ? (%s) : -inf", first, (long long)left, *t);
    if (right >= 0 && right < AT_NET_MAX_ELEMENTS)
        *t = op_format(o, "a3 <= a2 + %s + %lld ? (%s) : -inf", first, (long long)right, *t);
    return AT_OK;
}

/* Outputs beside the first: present keys and values, scores. */
static at_status set_outputs(net_op *o, const attention *a) {
    const at_net_type type = op_in(o, 0)->type;
    const heads *q = &a->q, *v = &a->v;
    const int64_t apart[] = {q->batch, q->num, q->rows, v->size},
                  joined[] = {q->batch, q->rows, q->num * v->size},
                  keys[] = {q->batch, a->k.num, a->keys, q->size},
                  values[] = {q->batch, v->num, a->keys, v->size},
                  scores[] = {q->batch, q->num, q->rows, a->keys};
    AT_TRY(op_out(o, 0, type, q->is_joined ? 3 : 4, q->is_joined ? joined : apart));
    AT_TRY(op_out(o, 1, op_in(o, 1)->type, 4, keys));
    AT_TRY(op_out(o, 2, op_in(o, 2)->type, 4, values));
    return op_out(o, 3, type, 4, scores);
}

/* How stages read the head of keys and values that a1's queries share. */
static const char *head_of(const attention *a) {
    return a->q.num == a->k.num ? "a1" : a->k.num == 1 ? "0" : "g";
}

static const char *where_of(const net_op *o, const attention *a) {
    if (*head_of(a) != 'g') return "";
    return op_format(o, " where g = a1/%lld", (long long)(a->q.num / a->k.num));
}

/* The stages b, scaled products, c, bounded ones, and t, those that are attended to. */
static at_status add_scores(net_op *o, const attention *a, const char *all) {
    const double usual = 1 / sqrt((double)a->q.size), cap = op_float(o, "softcap", 0);
    const char *key = add_cache(o, a, &a->k, PAST_KEY, "k", "a0", head_of(a), "a3", "d", 1);
    const char *score = "";
    op_add(o, "s[%s] = sum(d:%lld) %s * %s%s\n", all, (long long)a->q.size,
           read(o, &a->q, "a0", "a1", "a2", "d"), key, where_of(o, a));
    op_add(o, "b[%s] = s[a0, a1, a2, a3]*%s\n", all,
           op_number(o, op_has(o, "scale", AT_NET_ATTR_FLOAT) ? op_float(o, "scale", 0) : usual));
    if (cap > 0)
        op_add(o, "c[%s] = tanh(b[a0, a1, a2, a3]/%s)*%s\n", all, op_number(o, cap),
               op_number(o, cap));
    else op_add(o, "c[%s] = b[a0, a1, a2, a3]\n", all);
    AT_TRY(masked(o, a, &score));
    op_add(o, "t[%s] = %s\n", all, score);
    return AT_OK;
}

/* The stage p, what each key counts. Where a row attends to nothing all are 0. */
static void add_shares(net_op *o, const attention *a, const char *all) {
    const int64_t dims[] = {a->q.batch, a->q.num, a->q.rows};
    const char *rows = op_axes(o, "a", 3, dims);
    op_add(o, "m[%s] = max(a3:%lld) t[a0, a1, a2, a3]\n", rows, (long long)a->keys);
    op_add(o,
           "e[%s] = m[a0, a1, a2] == -inf || " OP_SHARE_OF_D " where d = t[a0, "
           "a1, a2, a3] - m[a0, a1, a2]\n",
           all);
    op_add(o, "z[%s] = sum(a3:%lld) e[a0, a1, a2, a3]\n", rows, (long long)a->keys);
    op_add(o, "p[%s] = z[a0, a1, a2] == 0 ? 0 : e[a0, a1, a2, a3]/z[a0, a1, a2]\n", all);
}

static at_status attention_of(net_op *o) {
    attention a = {0};
    AT_TRY(read_attention(o, &a));
    AT_TRY(set_outputs(o, &a));
    const heads *q = &a.q;
    const int64_t dims[] = {q->batch, q->num, q->rows, a.keys},
                  out[] = {q->batch, q->num, q->rows, a.v.size},
                  mode = op_int(o, "qk_matmul_output_mode", 0);
    const char *all = op_axes(o, "a", 4, dims);
    if (mode < 0 || mode > 3) return op_fail(o, "mode %lld of its scores", (long long)mode);
    AT_TRY(add_scores(o, &a, all));
    add_shares(o, &a, all);
    if (op_has_out(o, 3)) op_add(o, "y3[%s] = %c[a0, a1, a2, a3]\n", all, "bctp"[mode]);
    const char *value = add_cache(o, &a, &a.v, PAST_VALUE, "v", "a0", head_of(&a), "r", "a3", 2);
    op_add(o, "%s[%s] = sum(r:%lld) p[a0, a1, a2, r] * %s%s\n", q->is_joined ? "f" : "y0",
           op_axes(o, "a", 4, out), (long long)a.keys, value, where_of(o, &a));
    if (q->is_joined)
        op_add(o, "y0[%s] = f[a0, h, a1, i] where {h, i:%lld} = a2\n",
               op_axes(o, "a", 3, o->out[0].dims), (long long)a.v.size);
    return AT_OK;
}

/* ---- positions ------------------------------------------------------------------------------- */

static at_status check_angles(net_op *o, const heads *h, int64_t turned) {
    const at_net_value *places = op_in(o, 3);
    for (int k = 1; k <= 2; k++) {
        const at_net_value *c = op_in(o, k);
        const bool fits =
            places ? c->rank == 2 : c->rank == 3 && c->dims[0] == h->batch && c->dims[1] == h->rows;
        if (!fits || c->dims[c->rank - 1] != turned / 2 || c->dims[0] != op_in(o, 1)->dims[0])
            return op_fail(o, "\"%s\" does not fit \"%s\"", c->name, op_in(o, 0)->name);
    }
    if (places && (places->rank != 2 || places->dims[0] != h->batch || places->dims[1] != h->rows))
        return op_fail(o, "\"%s\" does not fit \"%s\"", places->name, op_in(o, 0)->name);
    return AT_OK;
}

/* Element e of row r turned: the pairs are 2k and 2k + 1, or k and k + half. */
static const char *turned_element(net_op *o, const heads *h, int64_t turned, bool by_neighbours) {
    const long long half = turned / 2;
    const char *at = op_in(o, 3) ? op_entry(o, 3, "b, r", op_in(o, 1)->dims[0]) : "b, r",
               *own = read(o, h, "b", "h", "r", "e"), *first, *second, *text;
    if (!turned) return own;
    if (by_neighbours) {
        first = read(o, h, "b", "h", "r", "2*k");
        second = read(o, h, "b", "h", "r", "2*k + 1");
        text = op_format(o, "u == 0 ? x1[%s, k]*%s - x2[%s, k]*%s : x2[%s, k]*%s + x1[%s, k]*%s",
                         at, first, at, second, at, first, at, second);
    } else {
        first = read(o, h, "b", "h", "r", op_format(o, "e - %lld", half));
        second = read(o, h, "b", "h", "r", op_format(o, "e + %lld", half));
        text = op_format(o,
                         "e < %lld ? x1[%s, e]*%s - x2[%s, e]*%s : x2[%s, e - %lld]*%s + "
                         "x1[%s, e - %lld]*%s",
                         half, at, own, at, second, at, half, first, at, half, own);
    }
    if (turned < h->size) return op_format(o, "e < %lld ? (%s) : %s", 2 * half, text, own);
    return text;
}

/* Pairs of a row's first elements are turned by the angle of its position. */
static at_status rotary_embedding(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t asked = op_int(o, "rotary_embedding_dim", 0);
    const bool by_neighbours = op_int(o, "interleaved", 0) != 0;
    heads h;
    AT_TRY(read_heads(o, 0, op_int(o, "num_heads", 0), &h));
    const int64_t turned = asked ? asked : h.size;
    if (turned < 0 || turned > h.size || turned % 2)
        return op_fail(o, "%lld elements of %lld are turned", (long long)turned, (long long)h.size);
    AT_TRY(check_angles(o, &h, turned));
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "y0[b:%lld, %s", (long long)h.batch,
           h.is_joined ? op_format(o, "r:%lld, a:%lld", (long long)h.rows, (long long)x->dims[2])
                       : op_format(o, "h:%lld, r:%lld, e:%lld", (long long)h.num, (long long)h.rows,
                                   (long long)h.size));
    op_add(o, "] = %s", turned_element(o, &h, turned, by_neighbours));
    if (h.is_joined) op_add(o, " where {h, e:%lld} = a", (long long)h.size);
    if (turned && by_neighbours) op_add(o, "%s{k, u:2} = e", h.is_joined ? ", " : " where ");
    op_add(o, "\n");
    return AT_OK;
}

/* ---- linear attention ------------------------------------------------------------------------ */

enum { MOST_STATES = 1 << 28 }; /* elements of the states behind all steps */

typedef struct linear {
    int64_t batch, steps, heads, own_heads, keys, values; /* own: of keys and values */
    bool is_gated, is_delta;
} linear;

static bool is_packed(const linear *l, const at_net_value *v, int64_t last) {
    return v && v->rank == 3 && v->dims[0] == l->batch && v->dims[1] == l->steps &&
           v->dims[2] == last;
}

static at_status take_linear(net_op *o, linear *l) {
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
    const at_net_value *q = op_in(o, 0), *v = op_in(o, 2), *past = op_in(o, 3);
    const char *rule = op_string(o, "update_rule", "gated_delta");
    int k = 0;
    while (k < 4 && strcmp(rule, rules[k]) != 0) k++;
    if (k == 4) return op_missing(o, "update_rule %s", rule);
    *l = (linear){.heads = op_int(o, "q_num_heads", 0),
                  .own_heads = op_int(o, "kv_num_heads", 0),
                  .is_gated = k & 1,
                  .is_delta = k >> 1};
    if (l->own_heads < 1 || l->heads < 1 || l->heads % l->own_heads)
        return op_fail(o, "%lld heads of queries and %lld of keys; a multiple is accepted",
                       (long long)l->heads, (long long)l->own_heads);
    if (q->rank != 3 || v->rank != 3) return op_fail(o, "queries and values have 3 dimensions");
    l->batch = q->dims[0], l->steps = q->dims[1];
    l->keys = q->dims[2] / l->heads, l->values = v->dims[2] / l->own_heads;
    const int64_t state[] = {l->batch, l->own_heads, l->keys, l->values};
    if (!is_packed(l, q, l->heads * l->keys) ||
        !is_packed(l, op_in(o, 1), l->own_heads * l->keys) ||
        !is_packed(l, v, l->own_heads * l->values) || !l->steps || !l->keys || !l->values ||
        (past && (past->rank != 4 || memcmp(past->dims, state, sizeof state) != 0)))
        return op_fail(o, "sizes of queries, keys, values and state do not fit each other");
    const bool fits =
        (!op_in(o, 4) || is_packed(l, op_in(o, 4), l->own_heads) ||
         is_packed(l, op_in(o, 4), l->own_heads * l->keys)) &&
        (!op_in(o, 5) || is_packed(l, op_in(o, 5), l->own_heads) || is_packed(l, op_in(o, 5), 1));
    if (!fits || !op_in(o, 4) == l->is_gated || !op_in(o, 5) == l->is_delta)
        return op_fail(o, "decay and beta do not fit update_rule %s", rule);
    if ((double)l->steps * (double)l->batch * (double)l->own_heads * (double)l->keys *
            (double)l->values >
        MOST_STATES)
        return op_missing(o, "of %lld steps of such states", (long long)l->steps);
    return AT_OK;
}

/* The stages of a step: what it keeps of the state before, what it adds, and the state behind it,
 * for number i of a key and j of a value. */
static void add_states(net_op *o, const linear *l) {
    const char *step = op_format(o, "t:%lld, b:%lld, h:%lld", (long long)l->steps,
                                 (long long)l->batch, (long long)l->own_heads),
               *i = op_format(o, "i:%lld", (long long)l->keys),
               *j = op_format(o, "j:%lld", (long long)l->values),
               *key = op_format(o, "x1[b, t, h*%lld + i]", (long long)l->keys),
               *value = op_format(o, "x2[b, t, h*%lld + j]", (long long)l->values),
               *before = op_in(o, 3) ? "x3[b, h, i, j]" : "0";
    if (l->steps > 1) before = op_format(o, "(t > 0 ? state[t - 1, b, h, i, j] : %s)", before);
    if (l->is_gated) {
        const bool of_key = op_in(o, 4)->dims[2] != l->own_heads;
        op_add(o, "decay[%s%s%s] = exp(x4[b, t, %s])\n", step, of_key ? ", " : "", of_key ? i : "",
               of_key ? op_format(o, "h*%lld + i", (long long)l->keys) : "h");
        before = op_format(o, "decay[t, b, h%s]*%s", of_key ? ", i" : "", before);
    }
    op_add(o, "kept[%s, %s, %s] = %s\n", step, i, j, before);
    if (l->is_delta) {
        op_add(o, "known[%s, %s] = sum(%s) kept[t, b, h, i, j]*%s\n", step, j, i, key);
        value = op_format(o, "x5[b, t, %s]*(%s - known[t, b, h, j])",
                          op_in(o, 5)->dims[2] == 1 ? "0" : "h", value);
    }
    op_add(o, "added[%s, %s] = %s\n", step, j, value);
    op_add(o, "state[%s, %s, %s] = kept[t, b, h, i, j] + %s*added[t, b, h, j]\n", step, i, j, key);
}

static at_status linear_attention(net_op *o) {
    const at_net_value *q = op_in(o, 0), *past = op_in(o, 3);
    linear l = {0};
    AT_TRY(take_linear(o, &l));
    const float scale = op_float(o, "scale", 0);
    const int64_t out[] = {l.batch, l.steps, l.heads * l.values},
                  state[] = {l.batch, l.own_heads, l.keys, l.values};
    AT_TRY(op_out(o, 0, q->type, 3, out));
    AT_TRY(op_out(o, 1, past ? past->type : q->type, 4, state));
    add_states(o, &l);
    const char *axes = op_format(o, "b:%lld, t:%lld, c:%lld", (long long)out[0], (long long)out[1],
                                 (long long)out[2]);
    op_add(o, "sums[%s] = sum(i:%lld) x0[b, t, c/%lld*%lld + i]*state[t, b, c/%lld, i, c%%%lld]\n",
           axes, (long long)l.keys, (long long)l.values, (long long)l.keys,
           (long long)(l.values * (l.heads / l.own_heads)), (long long)l.values);
    op_add(o, "y0[%s] = sums[b, t, c]*%s\n", axes,
           op_number(o, scale != 0 ? (double)scale : 1 / sqrt((double)l.keys)));
    if (op_has_out(o, 1))
        op_add(o, "y1[b:%lld, h:%lld, i:%lld, j:%lld] = state[%lld, b, h, i, j]\n",
               (long long)l.batch, (long long)l.own_heads, (long long)l.keys, (long long)l.values,
               (long long)(l.steps - 1));
    return AT_OK;
}

const at_net_row net_rows_attention[] = {
    {"LinearAttention", "", 27, AT_NET_SCAN, 3, 6, 2, linear_attention},
    {"Attention", "", 23, AT_NET_OTHER, 3, 7, 4, attention_of},
    {"RotaryEmbedding", "", 23, AT_NET_OTHER, 3, 4, 1, rotary_embedding},
    NET_ROWS_END,
};
