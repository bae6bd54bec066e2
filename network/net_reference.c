/* network/net_reference.c: a graph computed node by node in double, by plain C that is made of the
 * nodes' texts: what everything else is compared with. It shares nothing with rewrites and
 * schedules.
 *
 * Values are doubles, those of whole numbers int64, wrapped to their type. Constants are read as
 * they lie in the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_code.h"
#include "network/network_int.h"
#include "network/quantized_int.h"

enum { MOST_BUFFERS = 256 }; /* as a computation has tensors */
typedef int node_fn(void *const buf[], void *workspace, void *par);

typedef struct unit { /* nodes of one text and the same types share one */
    const char *name;
    at_compute *compute;
    int64_t workspace_bytes;
    void *fn;
} unit;

struct at_net_reference {
    at_arena *arena;
    const at_net *net;
    AT_VEC(unit) units;
    int *unit_of; /* [node] */
    int *uses;    /* [value] nodes that read it, and one of an output */
    double flops;
    int64_t workspace_bytes;
    net_code *code;
};

/* Values during a run. */
typedef struct values {
    const at_net *net;
    void **data;   /* [value] double or int64; constants as C's type says */
    bool *is_own;  /* of the heap */
    int *left;     /* [value] uses */
    at_rng *shake; /* every number is rounded once more, at random; NULL: none is */
    int times;     /* and moved by as many times what float32 rounds */
} values;

static bool is_whole(const at_net_value *v) { return at_net_type_is_int(v->type); }

/* C's type of what a node reads; NULL: a constant that must become double first. */
static const char *stored_type(const at_net_value *v) {
    if (!v->is_constant) return is_whole(v) ? "const long" : "const double";
    switch (v->type) {
    case AT_NET_FLOAT: return "const f32";
    case AT_NET_DOUBLE: return "const f64";
    case AT_NET_UINT8:
    case AT_NET_BOOL: return "const unsigned char";
    case AT_NET_INT8: return "const signed char";
    case AT_NET_UINT16: return "const u16";
    case AT_NET_INT16: return "const s16";
    case AT_NET_UINT32: return "const u32";
    case AT_NET_INT32: return "const s32";
    case AT_NET_UINT64: return "const u64";
    case AT_NET_INT64: return "const s64";
    default: return NULL;
    }
}

/* Constants may stand at any address. */
static const char types_c[] = "typedef float f32 __attribute__((aligned(1), may_alias));\n"
                              "typedef double f64 __attribute__((aligned(1), may_alias));\n"
                              "typedef unsigned short u16 __attribute__((aligned(1), may_alias));\n"
                              "typedef short s16 __attribute__((aligned(1), may_alias));\n"
                              "typedef unsigned int u32 __attribute__((aligned(1), may_alias));\n"
                              "typedef int s32 __attribute__((aligned(1), may_alias));\n"
                              "typedef unsigned long u64 __attribute__((aligned(1), may_alias));\n"
                              "typedef long s64 __attribute__((aligned(1), may_alias));\n";

/* ---- the program ----------------------------------------------------------------------------- */

static const at_net_value *read_value(const at_net_reference *r, const at_net_node *n,
                                      const char *tensor) {
    return &r->net->values.data[n->inputs[net_number(tensor, 'x')]];
}

static at_status add_unit(at_net_reference *r, const at_net_node *n, at_compute *c, at_text *source,
                          at_error *err) {
    const char **types = AT_NEW_ARRAY(r->arena, const char *, c->num_tensors);
    unit u = {.name = at_format(r->arena, "n%d", r->units.len), .compute = c};
    for (int t = 0; t < c->num_tensors; t++) {
        const char *stored = c->tensors[t].role == AT_ROLE_STAGE
                                 ? "double"
                                 : stored_type(read_value(r, n, c->tensors[t].name));
        types[t] = stored ? stored : "const double";
    }
    AT_TRY(at_compute_check_reads(c, NULL, NULL, NULL, err));
    AT_TRY(at_compute_typed_c(r->arena, c, types, u.name, source, &u.workspace_bytes, err));
    if (u.workspace_bytes > r->workspace_bytes) r->workspace_bytes = u.workspace_bytes;
    *at_push(r->arena, &r->units) = u;
    return AT_OK;
}

/* The same computation of the same types. */
static const char *key_of(const at_net_reference *r, const at_net_node *n, const at_compute *c) {
    at_text key = {0};
    at_text_add(&key, c->text);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        const at_net_value *v = read_value(r, n, c->tensors[t].name);
        at_text_addf(&key, " %d%c", (int)v->type, v->is_constant ? 'c' : 'v');
    }
    return at_text_take(r->arena, &key);
}

static at_status add_node(at_net_reference *r, int node, net_names *known, at_text *source,
                          at_error *err) {
    const at_net_node *n = &r->net->nodes.data[node];
    at_compute *c;
    AT_TRY(at_net_computation(r->arena, r->net, n, &c, err));
    r->flops += at_compute_flops(c, NULL, NULL);
    const char *key = key_of(r, n, c);
    r->unit_of[node] = net_names_find(known, key);
    if (r->unit_of[node] >= 0) return AT_OK;
    net_names_add(known, key, r->unit_of[node] = r->units.len);
    return add_unit(r, n, c, source, err);
}

static at_status compile(at_net_reference *r, const at_text *source, const volatile int *stop,
                         at_error *err) {
    static const double gcc_from_flops = 2e7;
    const int n = r->units.len;
    const char **names = AT_NEW_ARRAY(r->arena, const char *, n + 1);
    void **found = AT_NEW_ARRAY(r->arena, void *, n + 1);
    if (!n) return AT_OK;
    for (int i = 0; i < n; i++) names[i] = r->units.data[i].name;
    AT_TRY(net_code_new(r->arena, at_text_str(source), r->flops > gcc_from_flops, names, n, found,
                        stop, &r->code, err));
    for (int i = 0; i < n; i++) r->units.data[i].fn = found[i];
    return AT_OK;
}

static void count_uses(at_net_reference *r) {
    for (int i = 0; i < r->net->nodes.len; i++) {
        const at_net_node *n = &r->net->nodes.data[i];
        for (int k = 0; k < n->num_inputs; k++)
            if (n->inputs[k] >= 0) r->uses[n->inputs[k]]++;
    }
    for (int i = 0; i < r->net->outputs.len; i++) r->uses[r->net->outputs.data[i]]++;
}

at_status at_net_reference_new(const at_net *net, const volatile int *stop, at_net_reference **out,
                               at_error *err) {
    at_arena *a = at_arena_new();
    at_net_reference *r = *out = AT_NEW(a, at_net_reference);
    net_names known = {.arena = a};
    at_text source = {0};
    at_status status = AT_OK;
    *r = (at_net_reference){.arena = a, .net = net};
    r->unit_of = AT_NEW_ARRAY(a, int, net->nodes.len + 1);
    r->uses = AT_NEW_ARRAY(a, int, net->values.len + 1);
    count_uses(r);
    at_text_add(&source, types_c);
    for (int i = 0; i < net->nodes.len && status == AT_OK; i++)
        status = add_node(r, i, &known, &source, err);
    if (status == AT_OK) status = compile(r, &source, stop, err);
    at_text_free(&source);
    if (status != AT_OK) at_net_reference_free(r), *out = NULL;
    return status;
}

void at_net_reference_free(at_net_reference *r) {
    if (!r) return;
    net_code_free(r->code);
    at_arena_free(r->arena);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void *numbers(int64_t n) {
    void *p = malloc((size_t)(n ? n : 1) * 8);
    AT_NEED(p);
    return p;
}

/* Elements as a run keeps them. */
static void *converted(const at_net_value *v, const void *data) {
    void *kept = numbers(v->elements);
    for (int64_t i = 0; i < v->elements; i++) {
        if (is_whole(v)) ((int64_t *)kept)[i] = at_net_element_int(v->type, data, i);
        else ((double *)kept)[i] = at_net_element(v->type, data, i);
    }
    return kept;
}

static void own(values *s, int value, void *data) {
    s->data[value] = data;
    s->is_own[value] = true;
}

static void release(values *s, int value) {
    if (value < 0 || --s->left[value] > 0 || !s->is_own[value]) return;
    free(s->data[value]);
    s->is_own[value] = false;
}

static void wrap(const at_net_value *v, void *data) {
    char element[8];
    if (!is_whole(v)) return;
    for (int64_t i = 0; i < v->elements; i++) {
        at_net_store(v->type, element, 0, ((double *)data)[i]);
        ((int64_t *)data)[i] = at_net_element_int(v->type, element, 0);
    }
}

static int64_t entry_at(const values *s, int value, int64_t i) {
    const at_net_value *v = &s->net->values.data[value];
    return v->is_constant ? at_net_element_int(v->type, v->data, i)
                          : ((const int64_t *)s->data[value])[i];
}

static at_status fail_of_element(const values *s, const at_net_node *n, int input, int64_t i,
                                 int64_t lo, int64_t hi, at_error *err) {
    const at_net_value *v = &s->net->values.data[n->inputs[input]];
    at_arena *a = at_arena_new();
    at_status status =
        at_fail(err, AT_E_INPUT, "node \"%s\" (%s): %s is %lld; %lld to %lld are accepted", n->name,
                n->op, at_net_element_name(a, v, i), (long long)entry_at(s, n->inputs[input], i),
                (long long)lo, (long long)hi);
    at_arena_free(a);
    return status;
}

/* Of a node's indices names the first one that leads outside: several nodes share a text. */
static at_status fail_of_entry(const values *s, const at_net_node *n, const at_compute *c,
                               at_arena *a, at_error *err) {
    at_index_range *ranges = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    const at_status known = at_compute_entry_ranges(a, c, NULL, ranges, NULL);
    for (int t = 0; t < c->num_tensors && known == AT_OK; t++) {
        if (c->tensors[t].role != AT_ROLE_INDEX || ranges[t].is_unknown) continue;
        const int input = net_number(c->tensors[t].name, 'x');
        const int value = n->inputs[input];
        for (int64_t i = 0; i < s->net->values.data[value].elements; i++) {
            const int64_t x = entry_at(s, value, i);
            if (x < ranges[t].lo || x > ranges[t].hi)
                return fail_of_element(s, n, input, i, ranges[t].lo, ranges[t].hi, err);
        }
    }
    return at_fail(err, AT_E_INPUT, "node \"%s\" (%s): its indices lead outside", n->name, n->op);
}

/* What the node itself says of them. */
static at_status check_limits(const values *s, const at_net_node *n, at_error *err) {
    const at_net_limits *l = &n->limits;
    const int64_t elements = l->depth ? s->net->values.data[n->inputs[n->limited]].elements : 0;
    for (int64_t i = 0; i < elements; i++) {
        const int64_t x = entry_at(s, n->inputs[n->limited], i), lo = l->lo[i % l->depth],
                      hi = l->hi[i % l->depth];
        if (x < lo || x > hi) return fail_of_element(s, n, n->limited, i, lo, hi, err);
    }
    return AT_OK;
}

/* Do the entries of index tensors lead where there is something? */
static at_status check_entries(const values *s, const at_net_node *n, const unit *u,
                               at_error *err) {
    if (!n->index_inputs) return AT_OK;
    AT_TRY(check_limits(s, n, err));
    at_arena *a = at_arena_new();
    const at_compute *c = u->compute;
    at_data *data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_INDEX) continue;
        const int value = n->inputs[net_number(c->tensors[t].name, 'x')];
        const int64_t elements = s->net->values.data[value].elements;
        data[t].i = AT_NEW_ARRAY(a, int32_t, elements);
        for (int64_t i = 0; i < elements; i++) {
            const int64_t x = entry_at(s, value, i);
            data[t].i[i] = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
        }
    }
    at_status status = at_compute_check_reads(c, NULL, data, NULL, err);
    if (status == AT_E_INPUT) status = fail_of_entry(s, n, c, a, err);
    at_arena_free(a);
    return status;
}

/* ---- numbers rounded once more ---------------------------------------------------------------
 */

/* By as much as rounding to float32 changes them. Whole numbers stay as they are: they were
 * hardly rounded, and conditions may compare them. */
static void shake_doubles(const values *s, double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != floor(x[i])) x[i] *= 1 + s->times * 0x1p-24 * (2 * at_rng_unit(s->shake) - 1);
}

/* A copy of a constant of float32, in which one element of eight is its neighbour; of a few, such
 * as a scale, one of two. */
static void *shaken(const values *s, const at_net_value *v) {
    const uint32_t choices = v->elements < 8 ? 4 : 16;
    float *copy = malloc((size_t)v->elements * sizeof *copy + 1);
    AT_NEED(copy);
    memcpy(copy, v->data, (size_t)v->elements * sizeof *copy);
    for (int64_t i = 0; i < v->elements; i++) {
        const int64_t draw = at_rng_below(s->shake, choices);
        const bool moves = draw < 2 && isfinite(copy[i]) && copy[i] != floorf(copy[i]);
        for (int k = 0; k < s->times && moves; k++)
            copy[i] = nextafterf(copy[i], draw ? INFINITY : -INFINITY);
    }
    return copy;
}

/* Elements that a node reads; *own: a copy that is to be freed. */
static void *read_by_node(const values *s, int value, void **own) {
    const at_net_value *v = &s->net->values.data[value];
    *own = NULL;
    if (!s->shake || !v->is_constant || v->type != AT_NET_FLOAT) return s->data[value];
    return *own = shaken(s, v);
}

static void shake_outputs(const values *s, const at_net_node *n) {
    if (!s->shake || n->kind == AT_NET_MOVE) return;
    for (int k = 0; k < n->num_outputs; k++) {
        const int value = n->outputs[k];
        if (value < 0 || !s->is_own[value] || is_whole(&s->net->values.data[value])) continue;
        shake_doubles(s, s->data[value], s->net->values.data[value].elements);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static at_status run_node(values *s, const at_net_node *n, const unit *u, void *workspace,
                          at_error *err) {
    const at_compute *c = u->compute;
    void *buf[MOST_BUFFERS], *copies[MOST_BUFFERS];
    int num = 0, num_copies = 0;
    AT_TRY(check_entries(s, n, u, err));
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        const int value = n->inputs[net_number(c->tensors[t].name, 'x')];
        buf[num++] = read_by_node(s, value, &copies[num_copies]);
        num_copies += copies[num_copies] != NULL;
    }
    for (int t = 0; t < c->num_tensors; t++) {
        const int k = c->tensors[t].is_output ? net_number(c->tensors[t].name, 'y') : -1;
        if (k < 0) continue;
        const int value = n->outputs[k];
        own(s, value, numbers(s->net->values.data[value].elements));
        buf[num++] = s->data[value];
    }
    ((node_fn *)u->fn)(buf, workspace, NULL);
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0 && s->is_own[n->outputs[k]])
            wrap(&s->net->values.data[n->outputs[k]], s->data[n->outputs[k]]);
    shake_outputs(s, n);
    for (int i = 0; i < num_copies; i++) free(copies[i]);
    for (int k = 0; k < n->num_inputs; k++) release(s, n->inputs[k]);
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0 && !s->left[n->outputs[k]]) release(s, n->outputs[k]);
    return AT_OK;
}

static void load_values(values *s, const void *const *inputs) {
    for (int i = 0; i < s->net->values.len; i++) {
        const at_net_value *v = &s->net->values.data[i];
        if (!v->is_constant || !s->left[i]) continue;
        if (stored_type(v)) s->data[i] = (void *)v->data;
        else own(s, i, converted(v, v->data));
    }
    for (int i = 0; i < s->net->inputs.len; i++) {
        const int value = s->net->inputs.data[i];
        own(s, value, converted(&s->net->values.data[value], inputs[i]));
        if (s->shake && !is_whole(&s->net->values.data[value]))
            shake_doubles(s, s->data[value], s->net->values.data[value].elements);
    }
}

static void take_outputs(const values *s, at_arena *a, double **outputs) {
    for (int i = 0; i < s->net->outputs.len; i++) {
        const int value = s->net->outputs.data[i];
        const at_net_value *v = &s->net->values.data[value];
        double *out = outputs[i] = AT_NEW_ARRAY(a, double, v->elements + 1);
        for (int64_t k = 0; k < v->elements; k++)
            out[k] = v->is_constant ? at_net_element(v->type, v->data, k)
                     : is_whole(v)  ? (double)((const int64_t *)s->data[value])[k]
                                    : ((const double *)s->data[value])[k];
    }
}

static at_status run_all(at_net_reference *r, const void *const *inputs, at_rng *shake, int times,
                         at_arena *a, double **outputs, const volatile int *stop, at_error *err) {
    const at_net *net = r->net;
    at_arena *scratch = at_arena_new();
    values s = {.net = net, .shake = shake, .times = times};
    at_status status = AT_OK;
    void *workspace = numbers(r->workspace_bytes / 8 + 1);
    s.data = AT_NEW_ARRAY(scratch, void *, net->values.len + 1);
    s.is_own = AT_NEW_ARRAY(scratch, bool, net->values.len + 1);
    s.left = at_copy(scratch, r->uses, sizeof *r->uses * (size_t)(net->values.len + 1));
    load_values(&s, inputs);
    for (int i = 0; i < net->nodes.len && status == AT_OK; i++) {
        const at_net_node *n = &net->nodes.data[i];
        status = run_node(&s, n, &r->units.data[r->unit_of[i]], workspace, err);
        if (status != AT_OK) at_fail_at(err, "%s: ", net->path);
        else if (at_is_stopped(stop)) status = at_fail_stopped(err);
    }
    if (status == AT_OK) take_outputs(&s, a, outputs);
    for (int i = 0; i < net->values.len; i++)
        if (s.is_own[i]) free(s.data[i]);
    free(workspace);
    at_arena_free(scratch);
    return status;
}

at_status at_net_reference_run(at_net_reference *r, const void *const *inputs, at_arena *a,
                               double **outputs, const volatile int *stop, at_error *err) {
    return run_all(r, inputs, NULL, 0, a, outputs, stop, err);
}

/* Does the network make bytes of other numbers? */
static bool makes_bytes(const at_net *net) {
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_outputs && n->kind != AT_NET_MOVE; k++)
            if (n->outputs[k] >= 0 && net_is_byte(&net->values.data[n->outputs[k]])) return true;
    }
    return false;
}

enum { NEAR_DRAWS = 3, MOST_DRAWS = 16 };

/* Rounds every number once more; behind the first draws moves it as many times as far as errors may
 * be, and a quarter of what that changes counts. *jumps: an output changed by more than sums of
 * roundings do. */
static at_status move_once(at_net_reference *r, const void *const *inputs, double *const *outputs,
                           int draw, at_net_distance *moved, bool *jumps, const volatile int *stop,
                           at_error *err) {
    const double jump = 1e-4; /* of the largest element */
    const bool is_near = draw < NEAR_DRAWS;
    const at_net *net = r->net;
    at_rng rng;
    at_arena *a = at_arena_new();
    double **other = AT_NEW_ARRAY(a, double *, net->outputs.len + 1);
    at_rng_seed(&rng, (uint64_t)draw + 1, 52);
    const at_status status =
        run_all(r, inputs, &rng, is_near ? 1 : AT_NET_OF_MOVED, a, other, stop, err);
    for (int i = 0; i < net->outputs.len && status == AT_OK; i++) {
        const at_net_value *v = &net->values.data[net->outputs.data[i]];
        const at_net_distance far = at_net_distance_of(v, other[i], outputs[i]);
        const double counts = is_near ? 1 : 0.25;
        double most = 0;
        for (int64_t k = 0; k < v->elements; k++) most = fmax(most, fabs(outputs[i][k]));
        *jumps |= far.most > jump * most;
        moved[i].most = fmax(moved[i].most, counts * far.most);
        moved[i].rms = fmax(moved[i].rms, counts * far.rms);
    }
    at_arena_free(a);
    return status;
}

/* A byte that comes out as another one is a matter of luck, so that where bytes are made more draws
 * look for one. */
at_status at_net_reference_moved(at_net_reference *r, const void *const *inputs,
                                 double *const *outputs, at_net_distance *moved,
                                 const volatile int *stop, at_error *err) {
    const int draws = makes_bytes(r->net) ? MOST_DRAWS : NEAR_DRAWS;
    bool jumps = false;
    for (int i = 0; i < r->net->outputs.len; i++) moved[i] = (at_net_distance){0};
    for (int draw = 0; draw < draws && (draw < NEAR_DRAWS || !jumps); draw++)
        AT_TRY(move_once(r, inputs, outputs, draw, moved, &jumps, stop, err));
    return AT_OK;
}

at_net_distance at_net_distance_of(const at_net_value *v, const double *x, const double *expected) {
    double most = 0, sum = 0;
    for (int64_t k = 0; k < v->elements; k++) {
        const double d = fabs(x[k] - expected[k]) - at_net_type_rounds(v->type, expected[k]);
        if (x[k] == expected[k] || (isnan(x[k]) && isnan(expected[k]))) continue;
        if (!(d <= most)) most = isnan(d) ? INFINITY : d;
        if (isfinite(d) && d > 0) sum += d * d;
    }
    return (at_net_distance){most, sum > 0 ? sqrt(sum / (double)v->elements) : 0};
}
