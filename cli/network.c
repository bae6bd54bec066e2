/* cli/network.c: see network.h. */
#include "cli/network.h"

#include <string.h>

#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "runtime/runtime.h"
#include "view/view.h"

static at_net_options options_of(const at_options *o) {
    return (at_net_options){.dims = o->dims, .sets = o->sets};
}

at_status at_check_no_network(const at_options *o, at_error *err) {
    const char *given = o->dims                               ? "--dim"
                        : o->sets                             ? "--set"
                        : o->net_inputs.num                   ? "--input"
                        : o->verb == AT_VERB_RUN && o->output ? "--output"
                                                              : NULL;
    if (!given) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s goes with a network, FILE.onnx; %s is a template", given,
                   o->operands[0]);
}

static at_status check_names(const at_options *o, at_error *err) {
    if (!o->output || strchr(o->output, '=')) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--output %s: of a network write NAME=FILE.npy", o->output);
}

at_status at_show_network(const at_options *o, at_error *err) {
    const at_net_options options = options_of(o);
    at_net *net;
    at_text out = {0};
    AT_TRY(at_net_open(o->operands[0], &options, &net, err));
    at_net_print(&out, net, o->code);
    const at_status status = at_print(&out, err);
    at_text_free(&out);
    at_net_close(net);
    return status;
}

/* ---- run ------------------------------------------------------------------------------------- */

typedef struct net_run {
    at_arena *arena;
    const at_options *o;
    at_net *net;
    AT_VEC(at_net_tensor) arrays; /* of --input */
    const void **inputs;          /* [net->inputs.len] */
    double **outputs;             /* [net->outputs.len] */
    at_error *err;
} net_run;

static const char *name_in(at_arena *a, const char *item) {
    return at_strndup(a, item, strcspn(item, "="));
}
static const char *file_in(const char *item) { return strchr(item, '=') + 1; }

/* Floats as float32, whole numbers as int64; their input's type comes later. */
static at_status read_array(net_run *r, const char *item) {
    const char *path = file_in(item);
    at_input in;
    const int64_t *entries = NULL;
    if (at_input_integers(r->arena, path, &in, &entries, NULL) != AT_OK) {
        entries = NULL;
        AT_TRY(at_input_read(r->arena, path, &in, r->err));
        if (in.sparse) return at_fail(r->err, AT_E_INPUT, "%s: is no array", path);
    }
    at_net_tensor *t = at_push(r->arena, &r->arrays);
    *t = (at_net_tensor){.name = name_in(r->arena, item),
                         .type = entries ? AT_NET_INT64 : AT_NET_FLOAT,
                         .rank = in.num_dims,
                         .dims = at_copy(r->arena, in.dims, sizeof in.dims),
                         .elements = 1,
                         .data = entries ? (const void *)entries : in.values};
    for (int i = 0; i < t->rank; i++) t->elements *= in.dims[i];
    return AT_OK;
}

static const at_net_tensor *array_of(void *ctx, const char *input, bool *is_constant) {
    const net_run *r = ctx;
    *is_constant = false;
    for (int i = 0; i < r->arrays.len; i++)
        if (!strcmp(r->arrays.data[i].name, input)) return &r->arrays.data[i];
    return NULL;
}

/* Elements in the type that the input has. */
static const void *elements_of(net_run *r, const at_net_tensor *t, const at_net_value *v) {
    if (t->type == v->type) return t->data;
    char *data = at_alloc(r->arena, (size_t)v->elements * (size_t)at_net_type_bytes(v->type));
    for (int64_t i = 0; i < v->elements; i++)
        at_net_store(v->type, data, i, at_net_element(t->type, t->data, i));
    return data;
}

static at_status find_inputs(net_run *r) {
    const at_net *net = r->net;
    at_text missing = {0};
    r->inputs = AT_NEW_ARRAY(r->arena, const void *, net->inputs.len + 1);
    for (int i = 0; i < net->inputs.len; i++) {
        const at_net_value *v = &net->values.data[net->inputs.data[i]];
        bool unused;
        const at_net_tensor *t = array_of(r, v->name, &unused);
        if (t) r->inputs[i] = elements_of(r, t, v);
        else at_text_addf(&missing, " --input %s=FILE.npy", v->name);
    }
    at_status status = AT_OK;
    if (missing.len)
        status = at_fail(r->err, AT_E_USAGE, "%s: elements of inputs are missing:%s", net->path,
                         at_text_str(&missing));
    at_text_free(&missing);
    return status;
}

static const char *descr_of(at_net_type t) {
    switch (t) {
    case AT_NET_BOOL: return "|b1";
    case AT_NET_UINT8: return "|u1";
    case AT_NET_INT8: return "|i1";
    case AT_NET_UINT16: return "<u2";
    case AT_NET_INT16: return "<i2";
    case AT_NET_UINT32: return "<u4";
    case AT_NET_INT32: return "<i4";
    case AT_NET_UINT64: return "<u8";
    case AT_NET_INT64: return "<i8";
    case AT_NET_FLOAT16: return "<f2";
    case AT_NET_DOUBLE: return "<f8";
    default: return "<f4";
    }
}

static bool is_array(const char *head, size_t len) {
    return len >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

static at_status write_output(net_run *r, const char *item) {
    const at_net *net = r->net;
    const char *name = name_in(r->arena, item);
    AT_VEC(const char *) names = {0};
    for (int i = 0; i < net->outputs.len; i++) {
        const at_net_value *v = &net->values.data[net->outputs.data[i]];
        *at_push(r->arena, &names) = v->name;
        if (strcmp(v->name, name) != 0) continue;
        const at_net_type type = v->type == AT_NET_BFLOAT16 ? AT_NET_FLOAT : v->type;
        const size_t bytes = (size_t)v->elements * (size_t)at_net_type_bytes(type);
        char *data = at_alloc(r->arena, bytes);
        for (int64_t k = 0; k < v->elements; k++) at_net_store(type, data, k, r->outputs[i][k]);
        at_text file = {0};
        const at_output_rules rules = {
            .kind = "NumPy array", .is_kind = is_array, .force = at_force_of(r->o)};
        at_npy_print(&file, descr_of(type), v->rank, v->dims, data, bytes);
        const at_status s =
            at_write_output(file_in(item), &rules, at_text_str(&file), file.len, r->err);
        at_text_free(&file);
        return s;
    }
    at_text list = {0};
    at_text_add_names(&list, name, names.data, names.len);
    at_fail(r->err, AT_E_USAGE, "--output %s: %s has no output \"%s\"; there are %s", item,
            net->path, name, at_text_str(&list));
    at_text_free(&list);
    return AT_E_USAGE;
}

/* Shape and first elements of each output. */
static at_status print_outputs(const net_run *r) {
    enum { SHOWN = 8 };
    at_text out = {0};
    for (int i = 0; i < r->net->outputs.len; i++) {
        const at_net_value *v = &r->net->values.data[r->net->outputs.data[i]];
        at_text_addf(&out, "%s ", v->name);
        at_net_add_shape(&out, v->type, v->rank, v->dims);
        for (int64_t k = 0; k < v->elements && k < SHOWN; k++)
            at_text_addf(&out, "%s%.7g", k ? ", " : ": ", r->outputs[i][k]);
        at_text_add(&out, v->elements > SHOWN ? ", ..\n" : "\n");
    }
    const at_status s = at_print(&out, r->err);
    at_text_free(&out);
    return s;
}

static at_status compute(net_run *r) {
    at_net_reference *reference;
    AT_TRY(find_inputs(r));
    r->outputs = AT_NEW_ARRAY(r->arena, double *, r->net->outputs.len + 1);
    AT_TRY(at_net_reference_new(r->net, &at_interrupted, &reference, r->err));
    const at_status s =
        at_net_reference_run(reference, r->inputs, r->arena, r->outputs, &at_interrupted, r->err);
    at_net_reference_free(reference);
    return s;
}

static at_status run(net_run *r) {
    at_net_options options = options_of(r->o);
    options.array_of = array_of;
    options.ctx = r;
    AT_TRY(check_names(r->o, r->err));
    for (int i = 0; i < r->o->net_inputs.num; i++) AT_TRY(read_array(r, r->o->net_inputs.items[i]));
    AT_TRY(at_net_open(r->o->operands[0], &options, &r->net, r->err));
    AT_TRY(compute(r));
    for (int i = 0; i < r->o->net_outputs.num; i++)
        AT_TRY(write_output(r, r->o->net_outputs.items[i]));
    return print_outputs(r);
}

at_status at_run_network(const at_options *o, at_error *err) {
    net_run r = {.arena = at_arena_new(), .o = o, .err = err};
    const at_status status = run(&r);
    at_net_close(r.net);
    at_arena_free(r.arena);
    return status;
}
