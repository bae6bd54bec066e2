/* Networks as C: gcc and clang compile what is written as C99 without a warning, and the main finds
 * the outputs right; weights of another network are noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_emit.h"
#include "tests/arena.h"
#include "tests/folder.h"
#include "tests/network/made_net.h"

static void numbers(onnx_graph *g, const char *name, const char *dims, int n) {
    at_rng rng;
    at_text t = {0};
    at_rng_seed(&rng, (uint64_t)n, 5);
    for (int i = 0; i < n; i++) at_text_addf(&t, " %g", ((double)at_rng_below(&rng, 33) - 16) / 16);
    onnx_constant(g, name, AT_NET_FLOAT, dims, at_text_str(&t), true);
    at_text_free(&t);
}

/* Words by their numbers, a convolution along them, a largest one; and whole numbers beyond those
 * of float32, with a name that functions like to have. */
static at_net *made_network(void) {
    onnx_graph g = {0};
    onnx_input(&g, "ids", AT_NET_INT64, "1,9");
    onnx_input(&g, "mask", AT_NET_BOOL, "1,1,9");
    numbers(&g, "table", "4,8", 32);
    numbers(&g, "w", "16,8,3", 384);
    numbers(&g, "b", "16", 16);
    onnx_node(&g, "Gather", "table ids", "e", "axis=0");
    onnx_node(&g, "Transpose", "e", "t", "perm=[0,2,1]");
    onnx_node(&g, "Cast", "mask", "m", "to=1");
    onnx_node(&g, "Mul", "t m", "p", "");
    onnx_node(&g, "Conv", "p w b", "c", "pads=[1,1]");
    onnx_node(&g, "Relu", "c", "int", "");
    onnx_node(&g, "ArgMax", "int", "best", "axis=1 keepdims=0");
    numbers(&g, "w2", "120,8,1", 960);
    onnx_node(&g, "Conv", "p w2", "c2", "");
    onnx_node(&g, "Abs", "c", "c1", "");
    onnx_node(&g, "Concat", "c1 c2", "beside", "axis=1"); /* both are written where they are read */
    onnx_node(&g, "Split", "beside", "first rest", "axis=1");
    onnx_node(&g, "Sub", "rest first", "between", "");
    onnx_node(&g, "Concat", "c2 int", "out", "axis=1"); /* and here inside of an output */
    onnx_node(&g, "Cos", "between", "turned", "");      /* of which the sine is no part */
    onnx_output(&g, "between");
    onnx_output(&g, "turned");
    onnx_output(&g, "out");
    onnx_input(&g, "half", AT_NET_FLOAT16, "2,33");
    onnx_input(&g, "brain", AT_NET_BFLOAT16, "33");
    onnx_node(&g, "Cast", "brain", "narrow", "to=10");
    onnx_node(&g, "Mul", "half narrow", "halves", "");
    onnx_node(&g, "Cast", "halves", "brains", "to=16");
    onnx_output(&g, "halves");
    onnx_output(&g, "brains");
    onnx_output(&g, "int"); /* a word of C */
    onnx_output(&g, "best");
    onnx_input(&g, "x", AT_NET_INT64, "3");
    onnx_constant(&g, "big", AT_NET_INT64, "3", "2147483647 5 -16777217", false);
    onnx_node(&g, "Add", "x big", "sum", "");
    onnx_node(&g, "Mul", "sum big", "product", "");
    onnx_node(&g, "Cast", "product", "wrapped", "to=6");
    onnx_node(&g, "Greater", "sum big", "larger", "");
    onnx_output(&g, "product");
    onnx_output(&g, "wrapped");
    onnx_output(&g, "larger");
    onnx_input(&g, "u", AT_NET_UINT64, "3");
    onnx_node(&g, "Add", "u u", "twice", "");
    onnx_output(&g, "twice");
    return onnx_open(arena, &g);
}

static at_net_expected expected_of(const at_net *net) {
    at_net_distance *moved = AT_NEW_ARRAY(arena, at_net_distance, net->outputs.len);
    void **inputs = at_net_make_inputs(arena, net);
    double **outputs = onnx_outputs_of(arena, net, (const void *const *)inputs);
    return (at_net_expected){outputs, moved, 1e-5};
}

static void write_file(const char *name, const void *data, size_t n) {
    at_error err;
    if (at_write_file(at_format(arena, "%s/%s", folder, name), data, n, &err) != AT_OK)
        fail_msg("%s", err.text);
}

static void write_expected(const at_net_program *p, const at_net_build *b, int n, bool in_source,
                           const at_net_expected *expected) {
    const at_net_emit_options o = {.name = "net",
                                   .header = "net.h",
                                   .weights = in_source ? NULL : "net.bin",
                                   .expected = expected};
    at_net_emitted c = {0};
    at_error err;
    if (at_net_emit(p, b, n, &o, &c, &err) != AT_OK) fail_msg("%s", err.text);
    write_file("net.c", at_text_str(&c.source), c.source.len);
    write_file("net.h", at_text_str(&c.header), c.header.len);
    at_text bin = {0};
    at_text_addn(&bin, c.head, sizeof c.head);
    for (int i = 0; i < n; i++) at_text_addn(&bin, p[i].weights, (size_t)p[i].weights_bytes);
    write_file("net.bin", at_text_str(&bin), bin.len);
    at_text_free(&bin);
    at_text_free(&c.source);
    at_text_free(&c.header);
}

static void write_network(const at_net_program *p, const at_net_build *b, int n, bool in_source) {
    const at_net_expected expected = expected_of(p->net);
    write_expected(p, b, n, in_source, &expected);
}

static int run(const char *command) {
    return system(at_format(arena, "cd %s && %s >messages 2>&1", folder, command));
}

static void compile_and_run(const char *cc) {
    if (run(at_format(arena, "%s --version", cc))) return; /* it is not here */
    const char *compile =
        at_format(arena, "%s -O1 -std=c99 -Wall -Wextra -Werror net.c -o net", cc);
    if (run(compile)) {
        system(at_format(arena, "head -c 2000 %s/messages >&2", folder));
        fail_msg("%s", compile);
    }
    if (run("./net")) fail_msg("%s: the main finds it wrong: %s/messages", cc, folder);
}

static void with_dialect(at_dialect dialect, bool in_source) {
    at_net *net = made_network();
    at_net_build b = {.engine.dialect = dialect};
    at_net_program p = onnx_program(net, &b);
    write_network(&p, &b, 1, in_source);
    compile_and_run("gcc");
    compile_and_run("clang");
    if (!in_source) {
        assert_int_equal(run("printf X | dd of=net.bin bs=1 seek=100 conv=notrunc"), 0);
        assert_int_not_equal(run("./net"), 0);
        assert_int_equal(run("./net | grep 'not this network'"), 0);
    }
    at_net_program_free(&p);
    at_net_close(net);
}

static void vectors(void **state) {
    (void)state;
    with_dialect(AT_DIALECT_GNU, false);
}

static void plain_c(void **state) {
    (void)state;
    with_dialect(AT_DIALECT_C, true);
}

/* One file for several instruction sets: the CPU's widest is taken, and where that is not there,
 * the next one; each finds its own weights. */
static void sets(void **state) {
    (void)state;
    static const char *const all[] = {"avx512", "avx2", "scalar"};
    enum { MOST = sizeof all / sizeof *all };
    const char *isas[MOST];
    int num = 0;
    for (int i = 0; i < MOST; i++)
        if (at_cpu_has_set(at_vector_set(all[i]))) isas[num++] = all[i];
        else print_message("this CPU lacks %s\n", all[i]);
    at_net *net = made_network();
    at_net_program p[MOST] = {0};
    at_net_build b[MOST] = {0};
    for (int i = 0; i < num; i++) {
        b[i].engine.isa = isas[i];
        b[i].engine.dialect = AT_DIALECT_GNU;
        p[i] = onnx_program(net, &b[i]);
        assert_string_equal(at_net_set_of(&p[i]), isas[i]);
    }
    write_network(p, b, num, false);
    for (int i = 0; i < num; i++) {
        compile_and_run("gcc");
        if (!i) compile_and_run("clang");
        /* Now a CPU without the set. */
        run(at_format(arena, "sed -i 's/if (net_has_%s/if (0 \\&\\& net_has_%s/' net.c", isas[i],
                      isas[i]));
    }
    for (int i = 0; i < num; i++) at_net_program_free(&p[i]);
    at_net_close(net);
}

/* Bytes from a convolution to the next one, each with a scale that its kernel reads. */
static at_net *bytes_network(void) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8,12,12");
    onnx_constant(&g, "z", AT_NET_INT8, "", "0", false);
    onnx_constant(&g, "sx", AT_NET_FLOAT, "", "0.0078125", false);
    onnx_constant(&g, "sw", AT_NET_FLOAT, "", "0.03125", false);
    onnx_constant(&g, "sy", AT_NET_FLOAT, "", "0.0234567", false);
    onnx_node(&g, "QuantizeLinear", "x sx z", "q0", "");
    for (int i = 0; i < 2; i++) {
        const char *of[] = {at_format(arena, "w%d", i), at_format(arena, "r%d", i),
                            at_format(arena, "v%d", i)};
        at_text t = {0};
        for (int k = 0; k < 8 * 8 * 9; k++) at_text_addf(&t, " %d", (k * 37 + i) % 101 - 50);
        onnx_constant(&g, of[0], AT_NET_INT8, "8,8,3,3", at_text_str(&t), true);
        at_text_free(&t);
        onnx_node(&g, "DequantizeLinear", at_format(arena, "%s sw z", of[0]), of[1], "");
        onnx_node(&g, "DequantizeLinear", at_format(arena, "q%d %s z", i, i ? "sy" : "sx"), of[2],
                  "");
        onnx_node(&g, "Conv", at_format(arena, "%s %s", of[2], of[1]), i ? "y" : "c",
                  "pads=[1,1,1,1]");
        if (i) continue;
        onnx_node(&g, "Relu", "c", "p", "");
        onnx_node(&g, "QuantizeLinear", "p sy z", "q1", "");
    }
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

/* A scale of a kernel that is 1 % off moves outputs by no more than honest roundings may; the
 * kernel alone is found wrong. */
static void scale(void **state) {
    (void)state;
    at_net *net = bytes_network();
    at_net_build b = {.engine.dialect = AT_DIALECT_C};
    at_net_program p = onnx_program(net, &b);
    write_network(&p, &b, 1, false);
    compile_and_run("gcc");
    assert_int_equal(run("./net | grep 'of its own, are right'"), 0);
    assert_int_equal(run("sed -i '1,/---- checks/{/= p[0-9]*.0.;$/s/;$/ * 1.01f;/}' net.c"), 0);
    assert_int_equal(run("grep -q ' [*] 1.01f;$' net.c"), 0);
    assert_int_equal(run("gcc -O1 net.c -o net"), 0);
    assert_int_not_equal(run("./net"), 0);
    assert_int_equal(run("./net | grep 'elements are wrong'"), 0);
    at_net_program_free(&p);
    at_net_close(net);
}

/* A mistake of a few runs alone, which the last one does not make. */
static void some_runs(void **state) {
    (void)state;
    at_net *net = bytes_network();
    at_net_build b = {.engine.dialect = AT_DIALECT_C};
    at_net_program p = onnx_program(net, &b);
    write_network(&p, &b, 1, false);
    assert_int_equal(run("sed -i '/^int net_run(/,/^}/s/    return 0;/    { static int runs; "
                         "if (runs++ == 4) y[7] += 1; }\\n&/' net.c"),
                     0);
    assert_int_equal(run("gcc -O1 net.c -o net"), 0);
    assert_int_not_equal(run("./net"), 0);
    assert_int_equal(run("./net | grep 'run 5 makes other outputs than the first one'"), 0);
    at_net_program_free(&p);
    at_net_close(net);
}

/* An output of which one more rounding makes no number: no element is too far away, but numbers
 * that are off are. */
static void lost(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "8");
        onnx_node(&g, "Neg", "x", "y", "");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        at_net_build b = {.engine.dialect = AT_DIALECT_C};
        at_net_program p = onnx_program(net, &b);
        at_net_expected expected = expected_of(net);
        const at_net_distance moved = {INFINITY, 1e-3};
        expected.moved = &moved;
        expected.outputs[0][3] = i ? expected.outputs[0][3] + 1 : NAN;
        write_expected(&p, &b, 1, true, &expected);
        assert_int_equal(run("gcc -O1 net.c -o net"), 0);
        assert_int_equal(run(i ? "! ./net" : "./net"), 0);
        assert_int_equal(run(i ? "./net | grep WRONG" : "./net | grep ill-conditioned"), 0);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors), cmocka_unit_test(plain_c),   cmocka_unit_test(sets),
        cmocka_unit_test(scale),   cmocka_unit_test(some_runs), cmocka_unit_test(lost),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
