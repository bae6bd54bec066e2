/* Networks of several sizes: what --dim says, which operators compute rows one by one, as what they
 * compute in double says, and the function in C, which computes any number of rows alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "network/net_emit.h"
#include "network/net_memory.h"
#include "tests/arena.h"
#include "tests/folder.h"
#include "tests/network/made_net.h"

/* ---- the option ------------------------------------------------------------------------------ */

static void option(void **state) {
    (void)state;
    static const struct {
        const char *given, *name, *dims[3]; /* name NULL: it has one size */
    } good[] = {{NULL, NULL, {NULL}},
                {"batch=2", NULL, {"batch=2"}},
                {"batch=2,seq=7", NULL, {"batch=2,seq=7"}},
                {"batch=8,1,4", "batch", {"batch=1", "batch=4", "batch=8"}},
                {"seq=7,batch=4,1", "batch", {"seq=7,batch=1", "seq=7,batch=4"}},
                {"x[0]=3,2,seq=7", "x[0]", {"seq=7,x[0]=2", "seq=7,x[0]=3"}}};
    static const char *const bad[] = {"batch=1,x",
                                      "batch=1,1",
                                      "batch=1,0",
                                      "batch=1,-2",
                                      "batch=1,4,seq=1,4",
                                      "batch=x,2",
                                      "batch=1,2.5",
                                      "b=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
                                      "4,8",
                                      "batch=1,4,",
                                      "batch=1,4,,8",
                                      ",batch=1,4",
                                      "batch=1,99223372036854775807",
                                      "",
                                      "batch,4"};
    at_net_sizes s;
    at_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (at_net_sizes_of(arena, good[i].given, &s, &err) != AT_OK) fail_msg("%s", err.text);
        if (!good[i].name) assert_null(s.name);
        else assert_string_equal(s.name, good[i].name);
        for (int k = 0; k < 3 && good[i].dims[k]; k++) {
            assert_in_range(k, 0, s.n - 1);
            assert_string_equal(s.dims[k], good[i].dims[k]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (at_net_sizes_of(arena, bad[i], &s, &err) != AT_E_USAGE) fail_msg("%s", bad[i]);
        assert_non_null(strstr(err.text, bad[i]));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { FEW = 3, MANY = 5 };
typedef struct operation {
    const char *op, *inputs, *attributes; /* x [rows, 4, 6], y [rows, 4, 6], c [4, 6], w [6, 5] */
    bool is_apart;
    int axis; /* of the output with rows */
} operation;

static const operation operations[] = {
    {"Relu", "x", "", true, 0},
    {"Add", "x y", "", true, 0},
    {"Mul", "x c", "", true, 0},
    {"MatMul", "x w", "", true, 0},
    {"Softmax", "x", "axis=1", true, 0},
    {"Softmax", "x", "axis=2", true, 0},
    {"ReduceMean", "x", "axes=[1,2] keepdims=0", true, 0},
    {"Transpose", "x", "perm=[1,0,2]", true, 1},
    {"Transpose", "x", "perm=[2,1,0]", true, 2},
    {"Concat", "x y", "axis=1", true, 0},
    {"Flatten", "x", "axis=1", true, 0},
    {"CumSum", "x one", "", true, 0},
    {"Softmax", "x", "axis=0", false, 0},
    {"ReduceMax", "x", "axes=[0] keepdims=1", false, -1},
    {"Concat", "x y", "axis=0", false, 0},
    {"CumSum", "x zero", "reverse=1", false, 0},
    {"Gather", "x last", "axis=0", false, -1},
    {"MatMul", "x across", "", true, 0},
};

static at_net *network_of(const operation *o, int rows) {
    onnx_graph g = {0};
    const char *dims = at_format(arena, "%d,4,6", rows);
    onnx_input(&g, "x", AT_NET_FLOAT, dims);
    onnx_input(&g, "y", AT_NET_FLOAT, dims);
    onnx_numbers(&g, "c", "4,6", 1, false);
    onnx_numbers(&g, "w", "6,5", 2, false);
    onnx_numbers(&g, "across", "6,4", 3, false);
    onnx_constant(&g, "zero", AT_NET_INT64, "1", "0", false);
    onnx_constant(&g, "one", AT_NET_INT64, "1", "1", false);
    onnx_constant(&g, "last", AT_NET_INT64, "1", "-1", false);
    onnx_node(&g, o->op, o->inputs, "z", o->attributes);
    onnx_output(&g, "z");
    return onnx_open(arena, &g);
}

static float element_of(int input, int64_t i) {
    return (float)((i * 37 + input * 11) % 64 - 32) / 16;
}

static double *values_of(const at_net *net) {
    const void *inputs[2];
    for (int k = 0; k < 2; k++) {
        float *x = AT_NEW_ARRAY(arena, float, MANY * 24);
        for (int i = 0; i < MANY * 24; i++) x[i] = element_of(k, i);
        inputs[k] = x;
    }
    return onnx_values(arena, net, inputs)[net->outputs.data[0]];
}

/* Are the first rows of many what few rows alone are? */
static bool is_same(const at_net *few, const at_net *many, int axis) {
    const at_net_value *v = &few->values.data[few->outputs.data[0]];
    const double *x = values_of(few), *y = values_of(many);
    int64_t outer = 1, inner = 1, rows = axis < 0 ? 1 : v->dims[axis];
    for (int k = 0; k < v->rank; k++)
        if (k < axis) outer *= v->dims[k];
        else if (k > axis) inner *= v->dims[k];
    const at_net_value *u = &many->values.data[many->outputs.data[0]];
    const int64_t all = axis < 0 ? 1 : u->dims[axis];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < rows * inner; i++)
            if (x[o * rows * inner + i] != y[o * all * inner + i]) return false;
    return true;
}

static void rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const operation *o = &operations[i];
        at_net *few = network_of(o, FEW), *many = network_of(o, MANY);
        at_net_rows found;
        at_error err;
        if (at_net_find_rows(arena, few, FEW, many, MANY, &found, &err) != AT_OK)
            fail_msg("%s", err.text);
        if (!found.fault != o->is_apart)
            fail_msg("%s %s: %s", o->op, o->attributes, found.fault ? found.fault : "apart");
        if (is_same(few, many, o->axis) != o->is_apart)
            fail_msg("%s %s: what it computes says otherwise", o->op, o->attributes);
        if (found.fault) assert_non_null(strstr(found.fault, o->op));
        else assert_int_equal(found.axis[many->outputs.data[0]], o->axis);
        at_net_close(few);
        at_net_close(many);
    }
}

/* What is known of a size may be a number that is computed with, or an output. */
static at_net *told_of_size(bool is_output, int rows) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_INT64, at_format(arena, "%d,3", rows));
    onnx_constant(&g, "first", AT_NET_INT64, "", "0", false);
    onnx_node(&g, "Shape", "x", "shape", "");
    onnx_node(&g, "Gather", "shape first", "rows", "");
    onnx_node(&g, "Clip", is_output ? "x first" : "x first rows", "y", "");
    onnx_output(&g, "y");
    if (is_output) onnx_output(&g, "shape");
    return onnx_open(arena, &g);
}

static void numbers_of_sizes(void **state) {
    (void)state;
    static const char *const faults[] = {"Clip", "an output is another constant"};
    for (int i = 0; i < 4; i++) {
        const int small = i / 2 ? 1 : FEW;
        at_net *few = told_of_size(i % 2, small), *many = told_of_size(i % 2, MANY);
        at_net_rows found;
        at_error err;
        if (at_net_find_rows(arena, few, small, many, MANY, &found, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_non_null(found.fault);
        assert_non_null(strstr(found.fault, faults[i % 2]));
        at_net_close(few);
        at_net_close(many);
    }
}

/* ---- the function in C ----------------------------------------------------------------------- */

/* Sums of numbers that float32 has exactly; the rows of the output stand inside. */
static at_net *exact_network(int n) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "%d,8,9", n));
    onnx_input(&g, "shift", AT_NET_FLOAT, "16,1");
    onnx_numbers(&g, "w", "16,8,3", 4, false);
    onnx_node(&g, "Conv", "x w", "c", "pads=[1,1]");
    onnx_node(&g, "Relu", "c", "r", "");
    onnx_node(&g, "Add", "r shift", "s", "");
    onnx_node(&g, "Transpose", "s", "t", "perm=[1,0,2]");
    onnx_output(&g, "t");
    return onnx_open(arena, &g);
}

static const char caller[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include \"net.h\"\n"
    "enum { MOST = 11, X = 8 * 9, Y = 16 * 9 };\n"
    "static float x[MOST * X], shift[16], all[MOST * Y], one[Y];\n"
    "int main(void) {\n"
    "    FILE *f = fopen(\"net.bin\", \"rb\");\n"
    "    const unsigned long bytes = net_workspace_bytes();\n"
    "    char *room = malloc(bytes + 65), *workspace = room + (64 - (unsigned long)room % 64) % "
    "64;\n"
    "    void *weights = malloc(net_weights_bytes());\n"
    "    workspace[bytes] = 90;\n"
    "    if (fread(weights, 1, net_weights_bytes(), f) != net_weights_bytes()) return 9;\n"
    "    for (int i = 0; i < MOST * X; i++) x[i] = (float)((i * 37) % 64 - 32) / 16;\n"
    "    for (int i = 0; i < 16; i++) shift[i] = (float)i;\n"
    "    if (net_run(weights, 0, x, shift, all, workspace) != -2) return 7;\n"
    "    if (net_run(weights, -4, x, shift, all, workspace) != -2) return 8;\n"
    "    for (int n = 1; n <= MOST; n++) {\n"
    "        for (int i = 0; i < MOST * Y; i++) all[i] = -1;\n"
    "        if (net_run(weights, n, x, shift, all, workspace)) return 2;\n"
    "        for (int i = n * Y; i < MOST * Y; i++) if (all[i] != -1) return 3;\n"
    "        for (int k = 0; k < n; k++) {\n"
    "            if (net_run(weights, 1, x + k * X, shift, one, workspace)) return 4;\n"
    "            for (int m = 0; m < 16; m++)\n"
    "                for (int i = 0; i < 9; i++)\n"
    "                    if (all[(m * n + k) * 9 + i] != one[m * 9 + i]) return 5;\n"
    "        }\n"
    "    }\n"
    "    return workspace[bytes] == 90 ? 0 : 6;\n}\n";

static void write_file(const char *name, const void *data, size_t n) {
    at_error err;
    if (at_write_file(at_format(arena, "%s/%s", folder, name), data, n, &err) != AT_OK)
        fail_msg("%s", err.text);
}

enum { SIZES = 2 };

/* A network at both sizes of an option, and what its function in C is made of. */
typedef struct sized_network {
    at_net_sizes sizes;
    at_net *nets[SIZES];
    at_net_build builds[SIZES];
    at_net_program programs[SIZES];
    at_net_rows rows;
    at_net_sized sized;
} sized_network;

static void make_sized(sized_network *x, const char *dims, const char *parameter,
                       at_net *(*open)(const at_net_sizes *s, int64_t size)) {
    at_error err;
    *x = (sized_network){.sized = {&x->sizes, &x->rows, parameter}};
    if (at_net_sizes_of(arena, dims, &x->sizes, &err) != AT_OK) fail_msg("%s", err.text);
    const int64_t *size = x->sizes.value;
    for (int i = 0; i < SIZES; i++) {
        x->sized.suffix[i] = at_format(arena, "%lld", (long long)size[i]);
        x->nets[i] = open(&x->sizes, size[i]);
        x->builds[i].engine.dialect = AT_DIALECT_GNU;
        x->programs[i] = onnx_program(x->nets[i], &x->builds[i]);
        const int64_t bytes = x->programs[i].workspace_bytes + AT_NET_ALIGNMENT;
        if (bytes > x->sized.workspace_bytes) x->sized.workspace_bytes = bytes;
    }
    if (at_net_find_rows(arena, x->nets[0], size[0], x->nets[1], size[1], &x->rows, &err) != AT_OK)
        fail_msg("%s", err.text);
}

static void free_sized(sized_network *x) {
    for (int i = 0; i < SIZES; i++) at_net_program_free(&x->programs[i]), at_net_close(x->nets[i]);
}

static void write_network(const sized_network *x) {
    const at_net_emit_options o = {
        .name = "net", .header = "net.h", .weights = "net.bin", .sized = &x->sized};
    const at_net_program *p = x->programs;
    at_net_emitted c = {0};
    at_text bin = {0};
    at_error err;
    if (at_net_emit(p, x->builds, SIZES, &o, &c, &err) != AT_OK) fail_msg("%s", err.text);
    at_text_addn(&bin, c.head, sizeof c.head);
    for (int i = 0; i < SIZES; i++) at_text_addn(&bin, p[i].weights, (size_t)p[i].weights_bytes);
    write_file("net.c", at_text_str(&c.source), c.source.len);
    write_file("net.h", at_text_str(&c.header), c.header.len);
    write_file("net.bin", at_text_str(&bin), bin.len);
    at_text_free(&c.source);
    at_text_free(&c.header);
    at_text_free(&bin);
}

/* What call.c, compiled with these options, returns of the network. */
static int run_caller(const char *options) {
    return system(at_format(arena,
                            "cd %s && gcc -O1 -std=c99 -Wall -Wextra -Werror %s net.c call.c -o "
                            "net && ./net",
                            folder, options));
}

static at_net *exact_at(const at_net_sizes *s, int64_t size) {
    (void)s;
    return exact_network((int)size);
}

static void pieces(void **state) {
    (void)state;
    sized_network x;
    make_sized(&x, "n=1,4", "n_size", exact_at);
    if (x.rows.fault) fail_msg("%s", x.rows.fault);
    write_network(&x);
    write_file("call.c", caller, strlen(caller));
    assert_int_equal(run_caller(""), 0);
    x.rows.fault = "Conv \"a*/ int made_up; /*\" is made up";
    write_network(&x);
    assert_int_not_equal(system(at_format(arena, "grep -q '[*]/ int made_up' %s/net.h", folder)),
                         0);
    assert_int_not_equal(run_caller(""), 0); /* a size that is not there: -2 */
    free_sized(&x);
}

/* ---- plain loops ----------------------------------------------------------------------------- */

/* Words beside each other: a table of places as long as they are, attention, whole numbers. */
static void attention(onnx_graph *g) {
    onnx_input(g, "ids", AT_NET_INT64, "1,s");
    onnx_numbers(g, "table", "20,6", 5, false);
    onnx_numbers(g, "places", "12,6", 6, false);
    onnx_constant(g, "zero", AT_NET_INT64, "1", "0", false);
    onnx_constant(g, "one", AT_NET_INT64, "1", "1", false);
    onnx_node(g, "Shape", "ids", "shape", "");
    onnx_node(g, "Gather", "shape one", "length", "");
    onnx_node(g, "Slice", "places zero length zero", "own", "");
    onnx_node(g, "Gather", "table ids", "word", "");
    onnx_node(g, "Add", "word own", "x", "");
    onnx_node(g, "Transpose", "x", "t", "perm=[0,2,1]");
    onnx_node(g, "MatMul", "x t", "scores", "");
    onnx_node(g, "Softmax", "scores", "share", "axis=-1");
    onnx_node(g, "MatMul", "share x", "y", "");
    onnx_node(g, "ReduceMean", "y", "mean", "axes=[1] keepdims=0");
    onnx_node(g, "Mul", "ids ids", "squares", "");
    for (const char *const *o = (const char *const[]){"y", "mean", "squares", NULL}; *o; o++)
        onnx_output(g, *o);
}

/* A picture as wide as that. */
static void picture(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "1,3,6,s");
    onnx_numbers(g, "w", "4,3,3,3", 7, false);
    onnx_node(g, "Conv", "x w", "c", "pads=[1,1,1,1] strides=[2,2]");
    onnx_node(g, "Sigmoid", "c", "r", "");
    onnx_node(g, "GlobalAveragePool", "r", "p", "");
    onnx_node(g, "Mul", "r p", "y", "");
    onnx_output(g, "y");
}

/* Whole numbers, an output that is known, and names that the function has for variables. */
static void sums(onnx_graph *g) {
    onnx_input(g, "n", AT_NET_INT64, "s");
    onnx_constant(g, "first", AT_NET_INT64, "1", "0", false);
    onnx_numbers(g, "args", "2,3", 8, false);
    onnx_node(g, "CumSum", "n first", "at", "");
    onnx_node(g, "Identity", "args", "buf", "");
    onnx_output(g, "at");
    onnx_output(g, "buf");
}

/* Floats far beyond any whole number: what becomes of them is the same in loops as elsewhere; and
 * outputs with the names of functions beside, that make whole numbers or ask about a size. */
static void beyond(onnx_graph *g) {
    static const char *const outputs[] = {"net_has_head", "net_loops_have", "byte", "large",
                                          "low",          "whole_of",       NULL};
    onnx_input(g, "x", AT_NET_FLOAT, "s");
    onnx_constant(g, "first", AT_NET_INT64, "1", "0", false);
    onnx_constant(g, "much", AT_NET_FLOAT, "1", "3e25", false);
    onnx_constant(g, "under", AT_NET_FLOAT, "1", "-3e25", false);
    onnx_node(g, "CumSum", "x first", "sum", "");
    onnx_node(g, "Mul", "sum much", "up", "");
    onnx_node(g, "Mul", "sum under", "down", "");
    onnx_node(g, "Cast", "up", "net_has_head", "to=7");
    onnx_node(g, "Cast", "down", "net_loops_have", "to=7");
    onnx_node(g, "Cast", "up", "byte", "to=3");
    onnx_node(g, "Cast", "up", "large", "to=13");
    onnx_node(g, "Cast", "down", "low", "to=13");
    onnx_node(g, "Cast", "up", "whole_of", "to=9");
    for (const char *const *o = outputs; *o; o++) onnx_output(g, *o);
}

static at_net *open_at(const at_net_sizes *s, int64_t size) {
    const at_net_options o = {.dims = at_net_dims_at(arena, s, size)};
    at_net *net;
    at_error err;
    if (at_net_open(at_format(arena, "%s/net.onnx", folder), &o, &net, &err) != AT_OK)
        fail_msg("%s", err.text);
    return net;
}

static const char *c_type(const at_net_value *v) { return at_net_c_type(v->type); }

static double as_type(at_net_type t, double x) {
    char element[8];
    if (at_net_type_is_float(t)) return x;
    at_net_store(t, element, 0, x);
    return at_net_element(t, element, 0);
}

/* Calls of a size, with what double makes of the same inputs. */
static void add_call(at_text *out, const at_net *net, int64_t size, const char *way) {
    const void *inputs[1];
    const at_net_value *v = &net->values.data[net->inputs.data[0]];
    char *x = at_alloc(arena, (size_t)v->elements * 8);
    at_text_addf(out, "    {\n        static const %s x[] = {", c_type(v));
    for (int64_t i = 0; i < v->elements; i++) {
        const double e = (double)(i * 7 % 20) / (v->type == AT_NET_FLOAT ? 16 : 1);
        at_net_store(v->type, x, i, e);
        at_text_addf(out, "%.17g,", e);
    }
    inputs[0] = x;
    double **values = onnx_values(arena, net, inputs);
    at_text_add(out, "};\n");
    at_text list = {0}, checks = {0};
    for (int k = 0; k < net->outputs.len; k++) {
        const int o = net->outputs.data[k];
        const at_net_value *y = &net->values.data[o];
        at_text_addf(out, "        static %s y%d[%lld];\n        static const double e%d[] = {",
                     c_type(y), k, (long long)y->elements + 1, k);
        for (int64_t i = 0; i < y->elements; i++)
            at_text_addf(out, "%.17g,", as_type(y->type, values[o][i]));
        at_text_addf(out, "};\n        y%d[%lld] = 77;\n", k, (long long)y->elements);
        at_text_addf(&list, "y%d, ", k);
        at_text_addf(&checks,
                     "        for (int i = 0; i < %lld; i++) bad += !(y%d[i] - e%d[i] < 1e-5 && "
                     "e%d[i] - y%d[i] < 1e-5);\n        bad += y%d[%lld] != 77;\n",
                     (long long)y->elements, k, k, k, k, k, (long long)y->elements);
    }
    at_text_addf(out,
                 "        char *hash = (char *)weights + 16;\n        *hash ^= 1;\n"
                 "        if (net_run(weights, %lld, x, %sworkspace) != 1) return 7;\n"
                 "        *hash ^= 1;\n"
                 "        if (net_run(weights, %lld, x, %sworkspace)) return 2;\n%s        if "
                 "(strcmp(net_way(%lld), \"%s\")) return 3;\n    }\n",
                 (long long)size, at_text_str(&list), (long long)size, at_text_str(&list),
                 at_text_str(&checks), (long long)size, way);
    at_text_free(&list);
    at_text_free(&checks);
}

static const char first_lines[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"net.h\"\n"
    "int main(void) {\n    int bad = 0;\n    FILE *f = fopen(\"net.bin\", \"rb\");\n"
    "    char *workspace = malloc(net_workspace_bytes() + 1);\n"
    "    void *weights = malloc(net_weights_bytes());\n"
    "    if (fread(weights, 1, net_weights_bytes(), f) != net_weights_bytes()) return 9;\n"
    "    if (net_weights_fault(weights, net_weights_bytes())) return 8;\n"
    "    workspace[net_workspace_bytes()] = 90;\n";

/* Each size from the first on is right, by kernels where it is listed, else by loops; none beyond
 * the largest runs, and none with weights of another hash. */
static void check_loops(void (*graph)(onnx_graph *g), int64_t first, const char *refused) {
    enum { LARGEST = 9 };
    onnx_graph g = {0};
    sized_network x;
    at_net_loops loops;
    at_error err;
    const at_net_options none = {0};
    graph(&g);
    at_text model = onnx_model(&g, 13), calls = {0};
    write_file("net.onnx", model.data, model.len);
    at_text_free(&model);
    make_sized(&x, "s=4,9", "s_size", open_at);
    assert_non_null(x.rows.fault);
    if (at_net_find_loops(arena, x.nets[1], &none, &x.sizes, &loops, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (loops.fault) fail_msg("%s", loops.fault);
    assert_int_equal(loops.other, 8);
    at_net_keep_loops(x.programs, SIZES, &loops, &x.sized);
    write_network(&x);
    at_text_add(&calls, first_lines);
    for (int64_t s = first; s <= LARGEST; s++) {
        at_net *net = open_at(&x.sizes, s);
        add_call(&calls, net, s, s == 4 || s == 9 ? "kernels" : "loops");
        at_net_close(net);
    }
    at_text_addf(&calls,
                 "    if (net_way(10) || net_way(0)) return 4;\n%s"
                 "    return bad ? 1 : workspace[net_workspace_bytes()] == 90 ? 0 : 6;\n}\n",
                 refused);
    write_file("call.c", at_text_str(&calls), calls.len);
    at_text_free(&calls);
    assert_int_equal(
        run_caller("-pedantic -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover"), 0);
    free_sized(&x);
}

static void loops(void **state) {
    (void)state;
    check_loops(picture, 3, ""); /* below, its outputs have one column, and other texts */
    check_loops(attention, 2,
                "    {\n        static const long long x[] = {1, 2, 20, 3, 4};\n"
                "        static float y[30], m[6];\n        static long long q[5];\n"
                "        if (net_run(weights, 5, x, y, m, q, workspace) != 2) return 5;\n"
                "        if (net_run(weights, 10, x, y, m, q, workspace) != -2) return "
                "7;\n    }\n");
    check_loops(beyond, 2, "");
    check_loops(sums, 2,
                "    {\n        static const long long x[] = {1, 2, -9007199254740993LL, 3, 4};\n"
                "        static long long y[5];\n        static float known[6];\n"
                "        if (net_run(weights, 5, x, y, known, workspace) != 2) return 5;\n    }\n");
}

/* Places of two axes: what is beyond one of them is within the other. */
static void places(onnx_graph *g) {
    onnx_input(g, "n", AT_NET_INT64, "s,2");
    onnx_numbers(g, "table", "20,24", 3, false);
    onnx_numbers(g, "x", "20,24", 4, false);
    onnx_node(g, "GatherND", "table n", "y", "");
    onnx_node(g, "ScatterND", "x n y", "z", "reduction='add'");
    onnx_output(g, "y");
    onnx_output(g, "z");
}

static void loops_of_places(void **state) {
    (void)state;
    check_loops(
        places, 2,
        "    {\n        static const long long good[] = {-20, -24, 19, 23, 0, 20, 1, 21, 2, 2},"
        " bad[] = {1, 2, 3, 4, 20, 20, 5, 6, 7, 8};\n"
        "        static float y[5], z[480];\n"
        "        if (net_run(weights, 5, good, y, z, workspace)) return 5;\n"
        "        if (net_run(weights, 5, bad, y, z, workspace) != 2) return 10;\n"
        "        if (net_run(weights, 4, good, y, z, workspace)) return 11;\n"
        "        if (net_run(weights, 4, bad, y, z, workspace) != 2) return 12;\n    }\n");
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option), cmocka_unit_test(rows),  cmocka_unit_test(numbers_of_sizes),
        cmocka_unit_test(pieces), cmocka_unit_test(loops), cmocka_unit_test(loops_of_places)};
    return cmocka_run_group_tests(tests, begin, end);
}
