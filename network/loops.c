/* network/loops.c: see loops.h. Texts of two sizes are the same but for some integers, which become
 * arguments; a size at which anything else differs does not run. */
#include "network/loops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"
#include "network/network_int.h"

typedef AT_VEC(int32_t *) number_list; /* [integer of a text][size]; NULL: always the same */
typedef struct index_range { /* of each depth-th entry, from `at` on, of an index that is no
                              * constant: of each size */
    int value, at, depth;
    int32_t *lo, *hi;
} index_range;
typedef AT_VEC(index_range) range_list;

typedef struct finder {
    at_arena *arena;
    at_net_loops *out;
    const char **texts;    /* [node] at the largest size */
    number_list *integers; /* [node] */
    range_list *ranges;    /* [node] */
    int32_t **elements;    /* [value][size] */
    net_names units;       /* by key */
    const char *odd;       /* why the largest size that is not listed and does not run does not */
} finder;

/* ---- one size -------------------------------------------------------------------------------- */

/* The characters of an integer that begins here, or of one that is written as a float: 50.0; 0:
 * none does. */
static size_t integer_at(const char *text, const char *p) {
    if (!isdigit((unsigned char)*p) || (p > text && (at_in_name(p[-1]) || p[-1] == '.'))) return 0;
    const size_t digits = strspn(p, "0123456789"),
                 n = digits + (strncmp(p + digits, ".0", 2) ? 0 : 2);
    return digits > 9 || p[n] == '.' || at_in_name(p[n]) ? 0 : n;
}

static bool is_float_at(const char *p, size_t n) { return memchr(p, '.', n) != NULL; }

static int32_t *each_size(const finder *f, int32_t x) {
    int32_t *of = AT_NEW_ARRAY(f->arena, int32_t, f->out->largest + 1);
    for (int64_t s = 0; s <= f->out->largest; s++) of[s] = x;
    return of;
}

/* Of a node at this size; false: more than integers differ. */
static bool note_integers(finder *f, int node, const char *text, int64_t size) {
    const char *base = f->texts[node], *x = base, *y = text;
    number_list *all = &f->integers[node];
    for (int i = 0; *x || *y;) {
        const size_t nx = integer_at(base, x), ny = integer_at(text, y);
        if (!nx || !ny || is_float_at(x, nx) != is_float_at(y, ny)) {
            if (*x++ != *y++) return false;
            continue;
        }
        const int32_t was = atoi(x), is = atoi(y);
        if (i == all->len) *at_push(f->arena, all) = NULL;
        if (was != is && !all->data[i]) all->data[i] = each_size(f, was);
        if (all->data[i]) all->data[i][size] = is;
        i++, x += nx, y += ny;
    }
    return true;
}

static const char *text_of(at_arena *a, const at_net *net, const at_net_node *n) {
    at_text text = {0};
    at_net_add_computation(&text, net, n);
    return at_text_take(a, &text);
}

static bool is_late_index(const at_net *net, const at_net_node *n, int k) {
    return k < 32 && n->index_inputs >> k & 1 && n->inputs[k] >= 0 && at_net_reads(n, k) &&
           !net->values.data[n->inputs[k]].is_constant;
}

static void note_range(finder *f, int node, int i, index_range r, int64_t lo, int64_t hi,
                       int64_t size) {
    range_list *all = &f->ranges[node];
    if (i == all->len) {
        r.lo = each_size(f, 0), r.hi = each_size(f, 0);
        *at_push(f->arena, all) = r;
    }
    all->data[i].lo[size] = lo < INT32_MIN ? INT32_MIN : (int32_t)lo;
    all->data[i].hi[size] = hi > INT32_MAX ? INT32_MAX : (int32_t)hi;
}

/* What the entries of indices may be at this size. */
static bool note_ranges(finder *f, at_arena *a, const at_net *net, int node, int64_t size) {
    const at_net_node *n = &net->nodes.data[node];
    at_compute *c = NULL;
    at_index_range *ranges = NULL;
    for (int k = 0, i = 0; k < n->num_inputs; k++) {
        if (!is_late_index(net, n, k)) continue;
        const int depth = n->limited == k ? n->limits.depth : 0;
        for (int at = 0; at < depth; at++)
            note_range(f, node, i++, (index_range){.value = n->inputs[k], .at = at, .depth = depth},
                       n->limits.lo[at], n->limits.hi[at], size);
        if (depth) continue;
        if (!c) {
            if (at_net_computation(a, net, n, &c, NULL) != AT_OK) return false;
            ranges = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
            if (at_compute_entry_ranges(a, c, NULL, ranges, NULL) != AT_OK) return false;
        }
        const int t = at_compute_find(c, at_format(a, "x%d", k));
        if (t < 0) return false;
        note_range(f, node, i++, (index_range){.value = n->inputs[k], .depth = 1}, ranges[t].lo,
                   ranges[t].hi, size);
    }
    return true;
}

static bool is_same_list(const int *x, const int *y, int n, int m) {
    return n == m && (!n || !memcmp(x, y, sizeof *x * (size_t)n));
}

/* A constant at the largest size begins with it. */
static bool begins_with(const at_net_value *large, const at_net_value *x) {
    const size_t bytes = (size_t)x->elements * (size_t)at_net_type_bytes(x->type);
    if (x->type != large->type || !x->is_constant || x->elements > large->elements) return false;
    return x->data == large->data || !bytes ||
           (x->data && large->data && !memcmp(x->data, large->data, bytes));
}

static const char *node_name(const finder *f, const at_net_node *n) {
    return at_format(f->arena, "%s \"%s\"", n->op, n->name);
}

/* Elements of values; why they are others than at the largest size. */
static const char *note_values(finder *f, const at_net *net, int64_t size) {
    const at_net *large = f->out->net;
    for (int v = 0; v < net->values.len; v++) {
        const at_net_value *x = &net->values.data[v];
        if (x->is_constant != large->values.data[v].is_constant)
            return "its graph is another at each size";
        if (x->elements > INT32_MAX) return "a value has more than 2^31 elements";
        f->elements[v][size] = (int32_t)x->elements;
    }
    for (int i = 0; i < net->outputs.len; i++) {
        const int v = net->outputs.data[i];
        if (net->values.data[v].is_constant &&
            !begins_with(&large->values.data[v], &net->values.data[v]))
            return at_format(f->arena, "output \"%s\" is another constant at each size",
                             large->values.data[v].name);
    }
    return NULL;
}

/* The first node that is another one at this size; NULL: there is none. */
static const char *note_nodes(finder *f, at_arena *a, const at_net *net, int64_t size) {
    const at_net *large = f->out->net;
    if (net->nodes.len != large->nodes.len || net->values.len != large->values.len)
        return "its graph is another at each size";
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i], *base = &large->nodes.data[i];
        bool is_same = !strcmp(n->op, base->op) &&
                       is_same_list(n->inputs, base->inputs, n->num_inputs, base->num_inputs) &&
                       is_same_list(n->outputs, base->outputs, n->num_outputs, base->num_outputs);
        for (int k = 0; k < n->num_inputs && is_same; k++) {
            const int v = n->inputs[k];
            if (v >= 0 && large->values.data[v].is_constant && at_net_reads(n, k))
                is_same = begins_with(&large->values.data[v], &net->values.data[v]);
        }
        is_same = is_same && note_integers(f, i, text_of(a, net, n), size) &&
                  note_ranges(f, a, net, i, size);
        if (!is_same)
            return at_format(f->arena, "%s is another computation at each size",
                             node_name(f, base));
    }
    return note_values(f, net, size);
}

static bool is_listed(const at_net_sizes *s, int64_t size) {
    for (int i = 0; i < s->n; i++)
        if (s->value[i] == size) return true;
    return false;
}

static at_status note_size(finder *f, const at_net_options *o, const at_net_sizes *sizes,
                           int64_t size, at_error *err) {
    at_net_options own = *o;
    at_net *net;
    at_error why;
    at_arena *a = at_arena_new();
    own.dims = at_net_dims_at(a, sizes, size);
    const at_status s = at_net_open(f->out->net->path, &own, &net, &why);
    const char *odd =
        s == AT_OK ? note_nodes(f, a, net, size) : "the network is refused at other sizes";
    f->out->has[size] = !odd;
    if (!f->odd && (size == f->out->largest || !is_listed(sizes, size))) f->odd = odd;
    at_net_close(net);
    at_arena_free(a);
    if (s != AT_E_INTERRUPTED) return AT_OK;
    *err = why;
    return s;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The network's number that has these values at sizes that run. */
static int number_of(const finder *f, const int32_t *of) {
    at_net_loops *l = f->out;
    for (int i = 0; i < l->numbers.len; i++) {
        bool is_same = true;
        for (int64_t s = 1; s <= l->largest && is_same; s++)
            is_same = !l->has[s] || l->numbers.data[i][s] == of[s];
        if (is_same) return i;
    }
    *at_push(f->arena, &l->numbers) = of;
    return l->numbers.len - 1;
}

static bool varies(const finder *f, const int32_t *of) {
    const at_net_loops *l = f->out;
    for (int64_t s = 1; of && s <= l->largest; s++)
        if (l->has[s] && of[s] != of[l->largest]) return true;
    return false;
}

/* The text whose integers that vary are names, and which numbers these are. */
static const char *with_names(const finder *f, int node, int *args, at_symbols *symbols) {
    at_text out = {0};
    const char *text = f->texts[node];
    for (int i = 0; *text;) {
        const size_t n = integer_at(f->texts[node], text);
        const int32_t *of = n && i < f->integers[node].len ? f->integers[node].data[i] : NULL;
        if (n && varies(f, of)) {
            const char *name = at_format(f->arena, "size_%d", symbols->names.len);
            args[symbols->names.len] = number_of(f, of);
            at_symbol_add(f->arena, symbols, name);
            at_text_add(&out, name);
        } else at_text_addn(&out, text, n ? n : 1);
        i += n > 0;
        text += n ? n : 1;
    }
    return at_text_take(f->arena, &out);
}

static const char *type_of(const at_net_value *v) {
    return v->is_constant && v->type == AT_NET_FLOAT ? "float" : "double";
}

/* AT_E_INPUT: loops lack something of it. */
static at_status add_unit(finder *f, const at_net_node *n, const char *key, const char *text,
                          const at_symbols *symbols, at_error *err) {
    at_compute *c;
    at_net_loop_unit *u = at_push(f->arena, &f->out->units);
    AT_TRY(at_compute_parse(f->arena, symbols, text, n->op, &c, err));
    if (!at_general_fits(c)) return at_fail(err, AT_E_INPUT, "%s", n->op);
    const char **types = AT_NEW_ARRAY(f->arena, const char *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        types[t] =
            c->tensors[t].role == AT_ROLE_STAGE
                ? "double"
                : type_of(
                      &f->out->net->values.data[n->inputs[net_number(c->tensors[t].name, 'x')]]);
    *u = (at_net_loop_unit){key,
                            {.compute = c,
                             .num_args = symbols->names.len,
                             .least = AT_NEW_ARRAY(f->arena, int64_t, symbols->names.len + 1),
                             .types = types}};
    return AT_OK;
}

static at_status add_node(finder *f, int node, at_error *err) {
    at_net_loops *l = f->out;
    const at_net_node *n = &l->net->nodes.data[node];
    at_net_loop_node *out = &l->nodes[node];
    at_symbols *symbols = AT_NEW(f->arena, at_symbols);
    int *args = AT_NEW_ARRAY(f->arena, int, f->integers[node].len + 1);
    const char *text = with_names(f, node, args, symbols), *key = text;
    for (int k = 0; k < n->num_inputs; k++)
        if (n->inputs[k] >= 0 && at_net_reads(n, k))
            key = at_format(f->arena, "%s %s", key, type_of(&l->net->values.data[n->inputs[k]]));
    *out = (at_net_loop_node){.unit = net_names_find(&f->units, key), .args = args};
    for (int i = 0; i < f->ranges[node].len; i++) {
        const index_range *r = &f->ranges[node].data[i];
        *at_push(f->arena, &out->checks) = (at_net_loop_check){
            r->value, r->at, r->depth, number_of(f, r->lo), number_of(f, r->hi)};
    }
    if (out->unit >= 0) return AT_OK;
    net_names_add(&f->units, key, out->unit = l->units.len);
    return add_unit(f, n, key, text, symbols, err);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t most_elements(const at_net_loops *l, const int32_t *of) {
    int64_t most = 0;
    for (int64_t s = 1; s <= l->largest; s++)
        if (l->has[s] && of[s] > most) most = of[s];
    return most;
}

/* Of a node at all sizes. */
static int64_t scratch_of(const at_net_loops *l, const at_net_loop_node *n) {
    const at_general *g = &l->units.data[n->unit].general;
    int64_t most = 0;
    for (int64_t s = 1; s <= l->largest; s++) {
        int64_t **extents;
        at_arena *a = at_arena_new();
        int64_t *values = AT_NEW_ARRAY(a, int64_t, g->num_args + 1);
        for (int i = 0; i < g->num_args; i++) values[i] = l->numbers.data[n->args[i]][s];
        if (l->has[s] && at_compute_extents(a, g->compute, values, &extents, NULL) == AT_OK) {
            const int64_t bytes = at_general_workspace(g, extents);
            if (bytes > most) most = bytes;
        }
        at_arena_free(a);
    }
    return most;
}

static void place_values(finder *f) {
    at_net_loops *l = f->out;
    const at_net *net = l->net;
    const int n = net->values.len, end = net->nodes.len + 1;
    at_net_block *blocks = AT_NEW_ARRAY(f->arena, at_net_block, n + 1);
    int64_t scratch = 0;
    for (int v = 0; v < n; v++)
        blocks[v] = (at_net_block){.bytes = 8 * most_elements(l, f->elements[v]),
                                   .first = net->values.data[v].producer + 1,
                                   .last = net->values.data[v].producer + 1};
    for (int i = 0; i < net->nodes.len; i++) {
        for (int k = 0; k < net->nodes.data[i].num_inputs; k++)
            if (net->nodes.data[i].inputs[k] >= 0)
                blocks[net->nodes.data[i].inputs[k]].last = i + 1;
        const int64_t bytes = scratch_of(l, &l->nodes[i]);
        if (bytes > scratch) scratch = bytes;
    }
    for (int i = 0; i < net->outputs.len; i++) blocks[net->outputs.data[i]].last = end;
    for (int v = 0; v < n; v++)
        if (net->values.data[v].is_constant) blocks[v].bytes = 0;
    blocks[n] = (at_net_block){.bytes = scratch, .first = 0, .last = end};
    l->workspace_bytes = at_net_place_blocks(blocks, n + 1);
    for (int v = 0; v < n; v++) l->place[v] = blocks[v].offset;
    l->scratch_at = blocks[n].offset;
}

static int known_element_bytes(const at_net_value *v) { return v->type == AT_NET_FLOAT ? 4 : 8; }

static void place_constant(at_net_loops *l, int v) {
    const at_net_value *x = &l->net->values.data[v];
    if (!x->is_constant || l->known_at[v] >= 0) return;
    l->known_at[v] = l->known_bytes;
    l->known_bytes += at_net_rounded(x->elements * known_element_bytes(x));
}

/* Those that nodes read, and those that are outputs. */
static void place_constants(at_net_loops *l) {
    const at_net *net = l->net;
    for (int v = 0; v < net->values.len; v++) l->known_at[v] = -1;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs; k++)
            if (n->inputs[k] >= 0 && at_net_reads(n, k)) place_constant(l, n->inputs[k]);
    }
    for (int i = 0; i < net->outputs.len; i++) place_constant(l, net->outputs.data[i]);
}

void at_net_loops_known(const at_net_loops *l, char *to) {
    memset(to, 0, (size_t)l->known_bytes);
    for (int v = 0; v < l->net->values.len; v++) {
        const at_net_value *x = &l->net->values.data[v];
        char *at = to + l->known_at[v];
        if (l->known_at[v] < 0 || !x->data) continue;
        if (x->type == AT_NET_FLOAT) memcpy(at, x->data, (size_t)x->elements * 4);
        else
            for (int64_t i = 0; i < x->elements; i++)
                ((double *)(void *)at)[i] = at_net_element(x->type, x->data, i);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool has_halves(const at_net *net) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? net->outputs.len : net->inputs.len); i++)
            if (at_net_type_is_half(
                    net->values.data[side ? net->outputs.data[i] : net->inputs.data[i]].type))
                return true;
    return false;
}

static void begin(finder *f, const at_net *net) {
    at_net_loops *l = f->out;
    const int n = net->nodes.len;
    l->has = AT_NEW_ARRAY(f->arena, bool, l->largest + 1);
    l->nodes = AT_NEW_ARRAY(f->arena, at_net_loop_node, n + 1);
    l->elements = AT_NEW_ARRAY(f->arena, int, net->values.len + 1);
    l->known_at = AT_NEW_ARRAY(f->arena, int64_t, net->values.len + 1);
    l->place = AT_NEW_ARRAY(f->arena, int64_t, net->values.len + 1);
    f->texts = AT_NEW_ARRAY(f->arena, const char *, n + 1);
    f->integers = AT_NEW_ARRAY(f->arena, number_list, n + 1);
    f->ranges = AT_NEW_ARRAY(f->arena, range_list, n + 1);
    f->elements = AT_NEW_ARRAY(f->arena, int32_t *, net->values.len + 1);
    for (int v = 0; v < net->values.len; v++) f->elements[v] = each_size(f, 0);
    for (int i = 0; i < n; i++) f->texts[i] = text_of(f->arena, net, &net->nodes.data[i]);
}

static bool is_other(const at_net_loops *l, const at_net_sizes *listed, int64_t size) {
    return size <= l->largest && l->has[size] && !is_listed(listed, size);
}

at_status at_net_find_loops(at_arena *a, const at_net *largest, const at_net_options *o,
                            const at_net_sizes *sizes, at_net_loops *out, at_error *err) {
    finder f = {.arena = a, .out = out, .units.arena = a};
    at_error why;
    *out = (at_net_loops){.net = largest, .largest = sizes->value[sizes->n - 1]};
    if (out->largest > AT_NET_LOOPS_LARGEST || has_halves(largest)) {
        out->fault = out->largest > AT_NET_LOOPS_LARGEST
                         ? at_format(a, "they are for sizes up to %d", AT_NET_LOOPS_LARGEST)
                         : "inputs or outputs are floats of 16 bits";
        return AT_OK;
    }
    begin(&f, largest);
    for (int64_t s = out->largest; s > 0; s--) {
        AT_TRY(note_size(&f, o, sizes, s, err));
        if (!out->other && is_other(out, sizes, s)) out->other = s;
    }
    if (!out->has[out->largest] || !out->other) {
        out->fault = f.odd ? f.odd : "there is no other size";
        return AT_OK;
    }
    for (int i = 0; i < largest->nodes.len; i++)
        if (add_node(&f, i, &why) != AT_OK) {
            out->fault =
                at_format(a, "they lack what %s computes", node_name(&f, &largest->nodes.data[i]));
            return AT_OK;
        }
    for (int v = 0; v < largest->values.len; v++) out->elements[v] = number_of(&f, f.elements[v]);
    place_values(&f);
    place_constants(out);
    return AT_OK;
}

void at_net_loops_add_sizes(at_text *out, const at_net_loops *l, const at_net_sizes *listed) {
    int num = 0;
    for (int64_t s = 1; s <= l->largest; s++) {
        int64_t end = s;
        if (!is_other(l, listed, s)) continue;
        while (is_other(l, listed, end + 1)) end++;
        at_text_addf(out, "%s%lld", num++ ? ", " : "", (long long)s);
        if (end > s) at_text_addf(out, "%s%lld", end > s + 1 ? " to " : ", ", (long long)end);
        s = end;
    }
}
