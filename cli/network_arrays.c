/* cli/network_arrays.c: see network_arrays.h. */
#include "cli/network_arrays.h"

#include "cli/network.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/outputs.h"
#include "runtime/runtime.h"

static const char *name_in(at_arena *a, const char *item) {
    return at_strndup(a, item, strcspn(item, "="));
}
static const char *file_in(const char *item) { return strchr(item, '=') + 1; }

/* A name has one file. */
static at_status check_once(at_arena *a, const char *option, const char *const *items, int num,
                            at_error *err) {
    for (int i = 1; i < num; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(name_in(a, items[k]), name_in(a, items[i])))
                return at_fail(err, AT_E_USAGE, "%s %s is given twice: %s and %s", option,
                               name_in(a, items[i]), file_in(items[k]), file_in(items[i]));
    return AT_OK;
}

/* Floats as float32, whole numbers as int64; their input's type comes later. */
static at_status read_array(at_net_arrays *x, const char *option, const char *item,
                            at_net_tensor *out, at_error *err) {
    const char *path = file_in(item);
    at_input in = {0};
    const int64_t *entries = NULL;
    at_status s = at_input_integers(x->arena, path, &in, &entries, err);
    if (s != AT_OK && !in.is_whole) {
        s = at_input_read(x->arena, path, &in, err);
        if (s == AT_OK && in.sparse) s = at_fail(err, AT_E_INPUT, "%s: is no array", path);
    }
    if (s != AT_OK) return at_fail_at(err, "%s %s: ", option, name_in(x->arena, item));
    *out = (at_net_tensor){.name = name_in(x->arena, item),
                           .type = entries ? AT_NET_INT64 : AT_NET_FLOAT,
                           .rank = in.num_dims,
                           .dims = at_copy(x->arena, in.dims, sizeof in.dims),
                           .elements = 1,
                           .data = entries ? (const void *)entries : in.values};
    for (int i = 0; i < out->rank; i++) out->elements *= in.dims[i];
    return AT_OK;
}

static const at_net_tensor *array_of(void *ctx, const char *input, bool *is_constant) {
    const at_net_arrays *x = ctx;
    *is_constant = false;
    for (int i = 0; i < x->given.len; i++)
        if (!strcmp(x->given.data[i].name, input)) return &x->given.data[i];
    return NULL;
}

/* Elements in the type that the input has. */
static void fill(const at_net_value *v, at_rng *rng, void *out) {
    for (int64_t i = 0; i < v->elements; i++) {
        double x = (double)at_rng_below(rng, 2);
        if (at_net_type_is_float(v->type)) {
            double u = at_rng_unit(rng), w = at_rng_unit(rng);
            x = sqrt(-2 * log(1 - u)) * cos(2 * 3.14159265358979323846 * w);
        }
        at_net_store(v->type, out, i, x);
    }
}

/* Whole numbers are held as they are, others rounded; a truth value is whether one is not 0. */
static at_status check_held(const at_net_tensor *t, const at_net_value *v, const void *data,
                            at_error *err) {
    if (at_net_type_is_float(v->type) || v->type == AT_NET_BOOL) return AT_OK;
    for (int64_t i = 0; i < v->elements; i++) {
        const double given = at_net_element(t->type, t->data, i);
        if (at_net_element(v->type, data, i) == given) continue;
        return at_fail(err, AT_E_INPUT,
                       "--input %s: element %lld is %.10g; numbers of %s are accepted", t->name,
                       (long long)i, given, at_net_type_name(v->type));
    }
    return AT_OK;
}

/* Elements in the type that the input has; t is NULL: seeded ones. */
static at_status elements_of(at_net_arrays *x, const at_net_tensor *t, const at_net_value *v,
                             at_rng *rng, const void **out, at_error *err) {
    if (t) *out = t->data;
    if (t && t->type == v->type) return AT_OK;
    const bool is_same = t && t->type == AT_NET_INT64 && v->type == AT_NET_UINT64;
    if (is_same) return check_held(t, v, t->data, err);
    void *data = at_alloc(x->arena, (size_t)v->elements * (size_t)at_net_type_bytes(v->type) + 1);
    *out = data;
    if (!t) fill(v, rng, data), x->num_random++;
    for (int64_t i = 0; t && i < v->elements; i++)
        at_net_store(v->type, data, i, at_net_element(t->type, t->data, i));
    return t ? check_held(t, v, data, err) : AT_OK;
}

static at_status check_name(const at_net_arrays *x, const char *option, const char *name,
                            const char *kind, const char *const *names, int n, at_error *err) {
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return AT_OK;
    at_text list = {0};
    at_text_add_names(&list, name, names, n);
    at_fail(err, AT_E_USAGE, "%s %s: %s has no %s \"%s\"; there are %s", option, name,
            x->o->operands[0], kind, name, at_text_str(&list));
    at_text_free(&list);
    return AT_E_USAGE;
}

static at_status check_names(void *ctx, const at_net_names *of, at_error *err) {
    const at_net_arrays *x = ctx;
    const at_options *o = x->o;
    for (int i = 0; i < x->given.len; i++)
        AT_TRY(check_name(x, "--input", x->given.data[i].name, "input", of->inputs, of->num_inputs,
                          err));
    for (int i = 0; i < o->request.num_expects; i++)
        AT_TRY(check_name(x, "--expect", x->expected[i].name, "output", of->outputs,
                          of->num_outputs, err));
    for (int i = 0; i < o->net_outputs.num; i++)
        AT_TRY(check_name(x, "--output", name_in(x->arena, o->net_outputs.items[i]), "output",
                          of->outputs, of->num_outputs, err));
    return AT_OK;
}

/* Which of the outputs has the name, which check_names has seen. */
static int output_named(const at_net *net, const char *name) {
    for (int i = 0; i < net->outputs.len; i++)
        if (!strcmp(net->values.data[net->outputs.data[i]].name, name)) return i;
    AT_BUG("no output %s", name);
}

static const at_net_value *output_value(const at_net *net, int i) {
    return &net->values.data[net->outputs.data[i]];
}

static at_status check_expected(const at_net_arrays *x, const at_net_tensor *t, at_error *err) {
    const at_net_value *v = output_value(x->net, output_named(x->net, t->name));
    bool fits = t->rank == v->rank;
    for (int i = 0; fits && i < t->rank; i++) fits = t->dims[i] == v->dims[i];
    if (fits) return AT_OK;
    at_text sizes = {0};
    at_net_add_shape(&sizes, t->type, t->rank, t->dims);
    at_text_add(&sizes, ", the output is ");
    at_net_add_shape(&sizes, v->type, v->rank, v->dims);
    at_fail(err, AT_E_USAGE, "--expect %s: the array is %s", t->name, at_text_str(&sizes));
    at_text_free(&sizes);
    return AT_E_USAGE;
}

static bool is_array(const char *head, size_t len) {
    return len >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

static at_output_rules rules_of(const at_net_arrays *x) {
    return (at_output_rules){
        .kind = "NumPy array", .is_kind = is_array, .force = at_force_of(x->o)};
}

/* A pipe or a device is opened once, when it is written to. */
static at_status check_place(const at_net_arrays *x, const char *path, at_error *err) {
    const at_output_rules rules = rules_of(x);
    struct stat st;
    at_output *f;
    if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return AT_OK;
    AT_TRY(at_output_open(path, &rules, &f, err));
    at_output_close(f);
    const size_t n = strlen(path);
    if (n > 4 && !strcasecmp(path + n - 4, ".npy")) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--output %s: a NumPy array is written: name a FILE.npy", path);
}

/* Over none of the files that are read: the network's, inputs and what outputs should be, a log;
 * nor over one that a later output is written to. */
static at_status check_output(const at_net_arrays *x, int n, at_error *err) {
    const at_options *o = x->o;
    const char *item = o->net_outputs.items[n], *path = file_in(item), *read;
    for (int i = 0; (read = at_net_file_at(x->net, i)); i++)
        AT_TRY(at_check_not_read("--output", path, read, err));
    for (int i = 0; i < o->net_inputs.num; i++)
        AT_TRY(at_check_not_read("--output", path, file_in(o->net_inputs.items[i]), err));
    for (int i = 0; i < o->request.num_expects; i++)
        AT_TRY(at_check_not_read("--output", path, file_in(o->request.expects[i]), err));
    AT_TRY(at_check_not_read("--output", path, o->log, err));
    for (int i = n + 1; i < o->net_outputs.num; i++)
        if (at_same_file(path, file_in(o->net_outputs.items[i])))
            return at_fail(err, AT_E_USAGE,
                           "--output %s and --output %s are one file; name another for one of them",
                           item, o->net_outputs.items[i]);
    return check_place(x, path, err);
}

/* Sizes and files of the arrays, when the network's are known. */
static at_status check_arrays(const at_net_arrays *x, at_error *err) {
    for (int i = 0; i < x->o->request.num_expects; i++)
        AT_TRY(check_expected(x, &x->expected[i], err));
    for (int i = 0; i < x->o->net_outputs.num; i++) AT_TRY(check_output(x, i, err));
    return AT_OK;
}

at_status at_net_arrays_open(at_arena *a, const at_options *o, at_net_arrays *out, at_net **net,
                             at_error *err) {
    at_rng rng;
    at_net_arrays *x = out;
    *x = (at_net_arrays){.arena = a, .o = o};
    at_net_options options = at_network_options(o);
    options.array_of = array_of;
    options.check_names = check_names;
    options.ctx = x;
    at_rng_seed(&rng, o->engine.seed, 51);
    AT_TRY(check_once(a, "--input", o->net_inputs.items, o->net_inputs.num, err));
    AT_TRY(check_once(a, "--output", o->net_outputs.items, o->net_outputs.num, err));
    AT_TRY(check_once(a, "--expect", o->request.expects, o->request.num_expects, err));
    for (int i = 0; i < o->net_inputs.num; i++)
        AT_TRY(read_array(x, "--input", o->net_inputs.items[i], at_push(a, &x->given), err));
    x->expected = AT_NEW_ARRAY(a, at_net_tensor, o->request.num_expects + 1);
    for (int i = 0; i < o->request.num_expects; i++)
        AT_TRY(read_array(x, "--expect", o->request.expects[i], &x->expected[i], err));
    AT_TRY(at_net_open(o->operands[0], &options, net, err));
    x->net = *net;
    AT_TRY(check_arrays(x, err));
    AT_TRY(at_net_truth_room(x->net, err));
    x->inputs = AT_NEW_ARRAY(a, const void *, x->net->inputs.len + 1);
    for (int i = 0; i < x->net->inputs.len; i++) {
        const at_net_value *v = &x->net->values.data[x->net->inputs.data[i]];
        bool unused;
        AT_TRY(elements_of(x, array_of(x, v->name, &unused), v, &rng, &x->inputs[i], err));
    }
    return AT_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

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

static at_status write_output(const at_net_arrays *x, const char *item, const void *const *outputs,
                              at_error *err) {
    const int i = output_named(x->net, name_in(x->arena, item));
    const at_net_value *v = output_value(x->net, i);
    const size_t bytes = (size_t)v->elements * (size_t)at_net_type_bytes(v->type);
    at_text file = {0};
    const at_output_rules rules = rules_of(x);
    at_npy_print(&file, descr_of(v->type), v->rank, v->dims, outputs[i], bytes);
    const at_status s = at_write_output(file_in(item), &rules, at_text_str(&file), file.len, err);
    at_text_free(&file);
    return s;
}

at_net_distance at_net_arrays_distance(const at_net_arrays *x, int output,
                                       const double *reference) {
    const at_net_value *v = output_value(x->net, output);
    for (int i = 0; i < x->o->request.num_expects; i++) {
        const at_net_tensor *t = &x->expected[i];
        if (strcmp(t->name, v->name) != 0) continue;
        double *elements = AT_NEW_ARRAY(x->arena, double, v->elements + 1);
        for (int64_t k = 0; k < v->elements; k++) elements[k] = at_net_element(t->type, t->data, k);
        return at_net_distance_of(v, elements, reference);
    }
    return (at_net_distance){NAN, NAN};
}

at_status at_net_arrays_write(const at_net_arrays *x, const void *const *data, at_error *err) {
    for (int i = 0; i < x->o->net_outputs.num; i++)
        AT_TRY(write_output(x, x->o->net_outputs.items[i], data, err));
    return AT_OK;
}
