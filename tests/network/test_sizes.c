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

static void write_network(const at_net_program *p, const at_net_build *b, int n,
                          const at_net_sized *sized) {
    const at_net_emit_options o = {
        .name = "net", .header = "net.h", .weights = "net.bin", .sized = sized};
    at_text source = {0}, header = {0}, bin = {0};
    at_error err;
    char head[AT_NET_WEIGHTS_HEAD];
    if (at_net_emit(p, b, n, &o, &source, &header, &err) != AT_OK) fail_msg("%s", err.text);
    at_net_weights_head(p, n, head);
    at_text_addn(&bin, head, sizeof head);
    for (int i = 0; i < n; i++) at_text_addn(&bin, p[i].weights, (size_t)p[i].weights_bytes);
    write_file("net.c", at_text_str(&source), source.len);
    write_file("net.h", at_text_str(&header), header.len);
    write_file("net.bin", at_text_str(&bin), bin.len);
    at_text_free(&source);
    at_text_free(&header);
    at_text_free(&bin);
}

static void pieces(void **state) {
    (void)state;
    enum { SIZES = 2 };
    at_net *nets[SIZES];
    at_net_program p[SIZES];
    at_net_build b[SIZES] = {{.engine.dialect = AT_DIALECT_GNU},
                             {.engine.dialect = AT_DIALECT_GNU}};
    at_net_sizes sizes;
    at_net_rows found;
    at_error err;
    if (at_net_sizes_of(arena, "n=1,4", &sizes, &err) != AT_OK) fail_msg("%s", err.text);
    at_net_sized sized = {
        .sizes = &sizes, .rows = &found, .parameter = "n_size", .suffix = {"1", "4"}};
    for (int i = 0; i < SIZES; i++) {
        nets[i] = exact_network((int)sizes.value[i]);
        if (at_net_program_new(nets[i], &b[i], &p[i], &err) != AT_OK) fail_msg("%s", err.text);
        if (p[i].workspace_bytes + AT_NET_ALIGNMENT > sized.workspace_bytes)
            sized.workspace_bytes = p[i].workspace_bytes + AT_NET_ALIGNMENT;
    }
    if (at_net_find_rows(arena, nets[0], 1, nets[1], 4, &found, &err) != AT_OK || found.fault)
        fail_msg("%s", found.fault ? found.fault : err.text);
    write_network(p, b, SIZES, &sized);
    write_file("call.c", caller, strlen(caller));
    const char *compile = at_format(arena,
                                    "cd %s && gcc -O1 -std=c99 -Wall -Wextra -Werror net.c call.c "
                                    "-o net && ./net",
                                    folder);
    assert_int_equal(system(compile), 0);
    found.fault = "Conv \"a*/ int made_up; /*\" is made up";
    write_network(p, b, SIZES, &sized);
    assert_int_not_equal(system(at_format(arena, "grep -q '[*]/ int made_up' %s/net.h", folder)),
                         0);
    assert_int_not_equal(system(compile), 0); /* a size that is not there: -2 */
    for (int i = 0; i < SIZES; i++) at_net_program_free(&p[i]), at_net_close(nets[i]);
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(option), cmocka_unit_test(rows),
                                       cmocka_unit_test(pieces)};
    return cmocka_run_group_tests(tests, begin, end);
}
