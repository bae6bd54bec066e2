/* The cases of single operators that ONNX's own package has, through reader, rows and reference,
 * and by kernels. The package is looked for in the Python that AUTOTUNE_PYTHON names, or python3;
 * without it the test is skipped. AT_ONLY=gather: cases whose names contain that, each with what it
 * says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "network/net_truth.h"
#include "tests/arena.h"

enum { MOST_TENSORS = 64 };

typedef struct onnx_case {
    at_arena *a;
    char name[160], ops[160];
    double rtol, atol;
    int is_read, num_inputs, num_outputs;
    at_net_tensor tensors[MOST_TENSORS]; /* inputs, then outputs */
    const char *input_names[MOST_TENSORS];
    int level; /* 0: all inputs are data; 1: those of whole numbers are constants; 2: all but the
                  first */
} onnx_case;

/* ---- files ----------------------------------------------------------------------------------- */

/* Of a script: its folder; NULL: what it needs is not there. */
static const char *make_cases(const char *script, const char *argument) {
    char *folder = at_strdup(arena, "/tmp/onnx-cases-XXXXXX"), *said = "";
    const char *named = getenv("AUTOTUNE_PYTHON"), *python = named ? named : "python3";
    size_t n;
    assert_non_null(mkdtemp(folder));
    const char *command = at_format(arena, "%s tests/network/%s %s %s >%s/said 2>&1", python,
                                    script, folder, argument, folder);
    const int code = system(command);
    at_read_file(arena, at_format(arena, "%s/said", folder), 1 << 20, &said, &n, NULL);
    if (!code && strncmp(said, "skip", 4) != 0) return folder;
    print_message("%s says: %.300s\n", python, said);
    assert_int_equal(system(at_format(arena, "rm -r %s", folder)), 0);
    if (code) fail();
    return NULL;
}

static const char *take(const char **p, void *out, size_t n) {
    memcpy(out, *p, n);
    return *p += n;
}

static void read_tensors(onnx_case *c, const char *folder) {
    char *bytes;
    size_t size;
    at_error err;
    if (at_read_file(c->a, at_format(c->a, "%s/%s.bin", folder, c->name), 1 << 28, &bytes, &size,
                     &err) != AT_OK)
        fail_msg("%s", err.text);
    const char *p = bytes;
    for (int i = 0; i < c->num_inputs + c->num_outputs; i++) {
        at_net_tensor *t = &c->tensors[i];
        int32_t type, rank;
        int64_t length;
        take(&p, &type, 4);
        take(&p, &rank, 4);
        int64_t *dims = AT_NEW_ARRAY(c->a, int64_t, rank + 1);
        take(&p, dims, 8 * (size_t)rank);
        take(&p, &length, 8);
        t->type = (at_net_type)type;
        t->rank = rank;
        t->dims = dims;
        t->elements = 1;
        for (int k = 0; k < rank; k++) t->elements *= dims[k];
        t->data = p;
        p += length;
    }
}

/* Inputs in the model's order, which names them as it goes. */
static const at_net_tensor *array_of(void *ctx, const char *input, bool *is_constant) {
    onnx_case *c = ctx;
    for (int i = 0; i < c->num_inputs; i++) {
        if (!c->input_names[i]) c->input_names[i] = at_strdup(c->a, input);
        if (strcmp(c->input_names[i], input) != 0) continue;
        *is_constant = c->level == 3   ? true
                       : c->level == 2 ? i > 0
                                       : c->level && !at_net_type_is_float(c->tensors[i].type);
        return &c->tensors[i];
    }
    return NULL;
}

/* ---- one case -------------------------------------------------------------------------------- */

/* Of a model the largest error over the root of the mean square counts. */
static bool check_size_of_error(const at_net_tensor *t, const double *out, at_error *err) {
    const double most = 1e-5;
    double squares = 0, largest = 0;
    for (int64_t k = 0; k < t->elements; k++) {
        squares += out[k] * out[k];
        largest = fmax(largest, fabs(at_net_element(t->type, t->data, k) - out[k]));
    }
    largest /= sqrt(squares / (double)t->elements);
    print_message("largest error over the root of the mean square: %.2g\n", largest);
    return largest <= most || (at_fail(err, AT_E_INPUT, "that is above %g", most), false);
}

static bool is_near(const onnx_case *c, at_net_type type, double x, double y) {
    /* Cases of halves round in between; the reference does not. */
    const double u = type == AT_NET_FLOAT16 ? 0x1p-9 : type == AT_NET_BFLOAT16 ? 0x1p-6 : 0;
    if (x == y || (isnan(x) && isnan(y))) return true;
    if (fabs(x - y) <= c->atol + fmax(c->rtol, u) * fabs(x)) return true;
    /* A scale that is worked out in floats moves halves to either side. */
    if (strstr(c->name, "dynamicquantize") && fabs(x - y) <= 1) return true;
    /* What is 0 of an inverse transform is not quite so in that case, which was worked out in
     * floats. */
    if (strstr(c->name, "dft_inverse") && fabs(x) < 2e-7 && fabs(y) < 1e-12) return true;
    return isinf(x) && type == AT_NET_FLOAT16 && fabs(y) > 65504;
}

static bool check_output(const onnx_case *c, const at_net *net, int i, const double *out,
                         at_error *err) {
    const at_net_value *v = &net->values.data[net->outputs.data[i]];
    const at_net_tensor *t = &c->tensors[c->num_inputs + i];
    bool fits = v->type == t->type && v->rank == t->rank;
    for (int k = 0; fits && k < v->rank; k++) fits = v->dims[k] == t->dims[k];
    if (!fits)
        return at_fail(err, AT_E_INPUT, "output %d has another type or other sizes", i), false;
    if (!c->rtol) return check_size_of_error(t, out, err);
    for (int64_t k = 0; k < v->elements; k++) {
        const double x = at_net_element(t->type, t->data, k);
        if (is_near(c, v->type, x, out[k])) continue;
        at_fail(err, AT_E_INPUT, "output %d: element %lld is %.9g, not %.9g", i, (long long)k,
                out[k], x);
        return false;
    }
    return true;
}

static bool check_texts(onnx_case *c, const at_net *net, at_error *err) {
    for (int i = 0; i < net->nodes.len; i++) {
        at_compute *of;
        if (at_net_computation(c->a, net, &net->nodes.data[i], &of, err) != AT_OK ||
            at_compute_check_reads(of, NULL, NULL, NULL, err) != AT_OK)
            return false;
    }
    return true;
}

/* Over the root mean square, of what kernels store. */
static double limit_of(at_net_type t) {
    return t == AT_NET_FLOAT16 ? 0x1p-9 : t == AT_NET_BFLOAT16 ? 0x1p-6 : 1e-5;
}

/* The same by kernels: within what float32 may lose of the reference, which is right. */
static bool run_kernels(const at_net *net, const void *const *inputs, at_error *err) {
    at_net_program p;
    at_net_truth t = {0};
    const at_net_build b = {0};
    at_net_distance errors[MOST_TENSORS];
    bool ok = at_net_program_new(net, &b, &p, err) == AT_OK &&
              at_net_truth_new(net, inputs, NULL, &t, err) == AT_OK &&
              at_net_truth_compare(&t, &p, errors, NULL, err) == AT_OK &&
              at_net_truth_moved(&t, err) == AT_OK;
    for (int i = 0; ok && i < net->outputs.len; i++) {
        const double limit = limit_of(net->values.data[net->outputs.data[i]].type);
        ok = at_net_verdict_of(errors[i], t.moved[i], limit) != AT_NET_WRONG;
        if (!ok) at_fail(err, AT_E_INPUT, "kernels: output %d: error %g", i, errors[i].most);
    }
    at_net_truth_free(&t);
    at_net_program_free(&p);
    return ok;
}

static bool run_net(onnx_case *c, const at_net *net, at_error *err) {
    at_net_reference *r;
    const void *inputs[MOST_TENSORS];
    double *outputs[MOST_TENSORS];
    if (!check_texts(c, net, err)) return false;
    for (int i = 0; i < net->inputs.len; i++)
        for (int k = 0; k < c->num_inputs; k++)
            if (!strcmp(c->input_names[k], net->values.data[net->inputs.data[i]].name))
                inputs[i] = c->tensors[k].data;
    if (at_net_reference_new(net, NULL, &r, err) != AT_OK) return false;
    bool ok = at_net_reference_run(r, inputs, c->a, outputs, NULL, err) == AT_OK;
    for (int i = 0; ok && i < net->outputs.len; i++) ok = check_output(c, net, i, outputs[i], err);
    at_net_reference_free(r);
    return ok && run_kernels(net, inputs, err);
}

/* What is not there, with a word about it. */
static bool is_refused(const at_error *err) {
    static const char *const words[] = {"not there yet", "of ONNX's operators",
                                        "tensors of numbers"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(err->text, words[i])) return true;
    return false;
}

typedef enum outcome { PASSED, FAILED, MISSING } outcome;

/* Products of bytes become products of integers where all but their data are constants. */
static bool run_with_constants(onnx_case *c, const char *path, at_error *err) {
    const at_net_options o = {.array_of = array_of, .ctx = c};
    at_net *net;
    if (!strstr(c->ops, "QLinear") && !strstr(c->ops, "Integer") && !strstr(c->ops, "Quantize"))
        return true;
    c->level = 2;
    if (at_net_open(path, &o, &net, err) != AT_OK) return false;
    const bool ok = run_net(c, net, err);
    at_net_close(net);
    return ok;
}

/* What must be known is a constant, where data alone are not enough. */
static outcome run_case(onnx_case *c, const char *folder, at_error *err) {
    const char *path = at_format(c->a, "%s/%s.onnx", folder, c->name);
    at_net *net = NULL;
    const at_net_options o = {.array_of = array_of, .ctx = c};
    at_status status = AT_E_INPUT;
    read_tensors(c, folder);
    for (c->level = 0; status != AT_OK && c->level < 4; c->level++)
        status = at_net_open(path, &o, &net, err);
    if (status != AT_OK) return is_refused(err) ? MISSING : FAILED;
    const bool ok = run_net(c, net, err);
    at_net_close(net);
    return ok && run_with_constants(c, path, err) ? PASSED : FAILED;
}

static const char *outcome_name(outcome o) {
    return o == PASSED ? "ok" : o == FAILED ? "WRONG" : "missing";
}

/* All of a folder, which it removes; how many of each outcome. */
static void run_all(const char *folder, int count[3], int *unread) {
    const char *only = getenv("AT_ONLY");
    FILE *list = fopen(at_format(arena, "%s/cases.txt", folder), "r");
    onnx_case c = {.a = at_arena_new()};
    assert_non_null(list);
    while (fscanf(list, "%159s %lf %lf %d %d %d %159s", c.name, &c.rtol, &c.atol, &c.is_read,
                  &c.num_inputs, &c.num_outputs, c.ops) == 7) {
        at_error err = {0};
        if (only && !strstr(c.name, only)) continue;
        *unread += !c.is_read;
        if (!c.is_read) continue;
        memset(c.input_names, 0, sizeof c.input_names);
        const outcome end = run_case(&c, folder, &err);
        count[end]++;
        if (end == FAILED || only || (end == MISSING && getenv("AT_MISSING")))
            print_message("%s %s (%s): %.300s\n", outcome_name(end), c.name, c.ops, err.text);
        at_arena_reset(c.a);
    }
    fclose(list);
    at_arena_free(c.a);
    assert_int_equal(system(at_format(arena, "rm -r %s", folder)), 0);
}

static void cases(void **state) {
    (void)state;
    int count[3] = {0}, unread = 0;
    const char *folder = make_cases("onnx_cases.py", "");
    if (!folder) skip();
    run_all(folder, count, &unread);
    print_message("%d cases pass, %d fail, %d need what is not there, %d are of other types\n",
                  count[PASSED], count[FAILED], count[MISSING], unread);
    assert_int_equal(count[FAILED], 0);
    assert_true(getenv("AT_ONLY") || count[PASSED] >= 1100);
}

static void models(void **state) {
    (void)state;
    int count[3] = {0}, unread = 0;
    const char *wanted = getenv("AT_MODELS");
    const char *folder = make_cases("onnx_models.py", wanted ? wanted : "squeezenet,shufflenet");
    if (!folder) skip();
    run_all(folder, count, &unread);
    assert_int_equal(count[FAILED] + count[MISSING], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(models)};
    return cmocka_run_group_tests_name("network/onnx_cases", tests, make_arena, free_arena);
}
