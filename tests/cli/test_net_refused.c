/* Bad networks: each is refused in one line that says what is wrong and where, with the documented
 * exit code, by every verb, and nothing is written. */
#include "tests/cli/cli_test.h"

#include <string.h>
#include <unistd.h>

#include "tests/network/onnx_writer.h"

static void save(const char *file, onnx_graph *g) {
    at_error err;
    at_text bytes = onnx_model(g, 13);
    assert_int_equal(at_write_file(file, at_text_str(&bytes), bytes.len, &err), AT_OK);
    at_text_free(&bytes);
}

static void expect_line(const cli_result *r, const char *file, const char *text) {
    const char *end = strchr(r->err, '\n');
    if (!strstr(r->err, text)) fail_msg("%s: %s\nhas no \"%s\"", file, r->err, text);
    if (!strstr(r->err, file)) fail_msg("%s is not named: %s", file, r->err);
    assert_true(end && !end[1]);
}

/* By every verb that takes a network. */
static void expect_refused(int status, const char *file, const char *options, const char *text) {
    static const char *const commands[] = {"./autotune %s %s --trials 4 --log x.log",
                                           "./autotune show %s %s", "./autotune run %s %s",
                                           "./autotune apply %s %s -o x.c"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[512];
        snprintf(command, sizeof command, commands[i], file, options);
        expect_line(cli_expect(status, "%s", command), file, text);
    }
    cli_expect(0, "test ! -e x.c && test ! -e x.h && test ! -e x.bin && test ! -e x.log");
}

/* x[2, 3], and a node that makes y. */
static onnx_graph begun(const char *dims) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, dims);
    return g;
}

static void graphs(void **state) {
    (void)state;
    onnx_graph g = begun("2,3");
    onnx_node(&g, "Marvel", "x", "y", "");
    onnx_node(&g, "Wonder", "y", "z", "");
    onnx_output(&g, "z");
    save("op.onnx", &g);
    expect_refused(4, "op.onnx", "", "not there yet: Marvel (node \"");
    expect_refused(4, "op.onnx", "", "Wonder (node \""); /* all in one go */

    at_text node = {0};
    g = begun("2,3");
    pb_string(&node, 1, "x");
    pb_string(&node, 2, "y");
    pb_string(&node, 4, "Relu");
    pb_string(&node, 7, "acme");
    pb_message(&g.bytes, 1, &node);
    onnx_output(&g, "y");
    save("domain.onnx", &g);
    expect_refused(4, "domain.onnx", "", "Relu of acme (node \"");

    g = begun("2,3");
    onnx_node(&g, "Add", "x z", "y", "");
    onnx_node(&g, "Relu", "y", "z", "");
    onnx_output(&g, "z");
    save("cycle.onnx", &g);
    expect_refused(4, "cycle.onnx", "", "cycle");

    g = begun("2,3");
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    save("missing.onnx", &g);
    expect_refused(4, "missing.onnx", "", "\"w\"");

    g = begun("2,3");
    onnx_output(&g, "nowhere");
    save("output.onnx", &g);
    expect_refused(4, "output.onnx", "", "\"nowhere\"");
}

static void sizes(void **state) {
    (void)state;
    onnx_graph g = begun("2,3");
    onnx_constant(&g, "w", AT_NET_FLOAT, "4,2", "1 2 3 4 5 6 7 8", true);
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    save("product.onnx", &g);
    expect_refused(4, "product.onnx", "",
                   "node \"MatMul\" (MatMul): 3 columns of \"x\" and 4 rows of \"w\"");

    g = begun("2,3");
    onnx_constant(&g, "w", AT_NET_FLOAT, "5,5", "1 2 3", true);
    onnx_node(&g, "Add", "x w", "y", "");
    onnx_output(&g, "y");
    save("short.onnx", &g);
    expect_refused(4, "short.onnx", "", "\"w\"");

    g = begun("1048576,1048576");
    onnx_node(&g, "Relu", "x", "y", "");
    onnx_output(&g, "y");
    save("huge.onnx", &g);
    expect_refused(4, "huge.onnx", "", "more than 2^32 elements");

    g = begun("batch,seq");
    onnx_node(&g, "Relu", "x", "y", "");
    onnx_output(&g, "y");
    save("open.onnx", &g);
    expect_refused(2, "open.onnx", "", "batch, seq; as in --dim batch=1,seq=1");
    expect_refused(2, "open.onnx", "--dim batch=2", "not given: seq");
}

/* What no machine has the memory for is refused before anything of it is made. */
static void memory(void **state) {
    static const char *const commands[] = {"./autotune run large.onnx",
                                           "./autotune large.onnx --trials 40 --log x.log",
                                           "./autotune apply large.onnx --main -o x.c"};
    (void)state;
    onnx_graph g = {0};
    for (int i = 0; i < 16; i++) {
        char in[8], out[8];
        snprintf(in, sizeof in, "x%d", i);
        snprintf(out, sizeof out, "y%d", i);
        onnx_input(&g, in, AT_NET_FLOAT, "4000000000");
        onnx_node(&g, "Exp", in, out, "");
        onnx_output(&g, out);
    }
    save("large.onnx", &g);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        expect_line(cli_expect(4, "%s", commands[i]), "large.onnx", "in double, need 1");
    cli_expect(0, "test ! -e x.c && test ! -e x.log");
}

static void external(const char *file, const char *location, const char *length) {
    onnx_graph g = begun("2,2");
    onnx_external(&g, "w", "2,2", location, "0", length);
    onnx_node(&g, "Add", "x w", "y", "");
    onnx_output(&g, "y");
    save(file, &g);
}

static void external_data(void **state) {
    (void)state;
    cli_expect(0, "head -c 16 /dev/zero >w.bin && ln -s w.bin link.bin && mkdir -p sub");
    external("sub/up.onnx", "../w.bin", "16");
    expect_refused(4, "sub/up.onnx", "", "..");
    external("absolute.onnx", "/etc/passwd", "16");
    expect_refused(4, "absolute.onnx", "", "/etc/passwd");
    external("link.onnx", "link.bin", "16");
    expect_refused(4, "link.onnx", "", "link.bin");
    external("none.onnx", "none.bin", "16");
    expect_refused(4, "none.onnx", "", "none.bin");
    external("far.onnx", "w.bin", "32");
    expect_refused(4, "far.onnx", "", "w.bin");
    external("good.onnx", "w.bin", "16");
    cli_expect(0, "./autotune run good.onnx");
}

/* Bytes that are no ONNX, and such as would be. */
static void hostile(void **state) {
    (void)state;
    at_error err;
    at_text t = {0}, graph = {0}, node = {0};
    cli_expect(0, "head -c 4096 /dev/urandom >noise.onnx; : >empty.onnx; echo text >text.onnx");
    expect_refused(4, "empty.onnx", "", "is empty");
    expect_refused(4, "text.onnx", "", "");
    /* A length beyond the file, and beyond 64 bits. */
    at_text_addn(&t, "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    assert_int_equal(at_write_file("long.onnx", at_text_str(&t), t.len, &err), AT_OK);
    expect_refused(4, "long.onnx", "", "");
    at_text_clear(&t);
    /* Ten thousand graphs within one another. */
    for (int i = 0; i < 10000; i++) {
        at_text attribute = {0};
        pb_string(&attribute, 1, "a");
        if (graph.len) pb_message(&attribute, 6, &graph);
        pb_varint(&attribute, 20, 5);
        pb_message(&node, 5, &attribute);
        pb_string(&node, 4, "If");
        pb_message(&graph, 1, &node);
        if (graph.len > 200000) break;
    }
    pb_varint(&t, 1, 8);
    pb_message(&t, 7, &graph);
    assert_int_equal(at_write_file("deep.onnx", at_text_str(&t), t.len, &err), AT_OK);
    expect_refused(4, "deep.onnx", "", "");
    at_text_free(&t);
}

/* Every beginning of a file is a network or refused in one line. */
static void cut_off(void **state) {
    (void)state;
    onnx_graph g = begun("N,3");
    onnx_constant(&g, "w", AT_NET_FLOAT, "3,2", "1 2 3 4 5 6", true);
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    at_text bytes = onnx_model(&g, 13);
    for (size_t n = 0; n < bytes.len; n++) {
        at_error err;
        at_net *net;
        const at_status s = at_net_parse(at_text_str(&bytes), n, "cut.onnx",
                                         &(at_net_options){.dims = "N=1"}, &net, &err);
        if (s == AT_OK) at_net_close(net);
        else assert_true((s == AT_E_INPUT || s == AT_E_USAGE) && !strchr(err.text, '\n'));
    }
    at_text_free(&bytes);
}

static void product(const char *file, const char *op, const char *dims) {
    onnx_graph g = begun("4,8");
    at_text numbers = {0};
    for (int i = 0; i < 64; i++) at_text_addf(&numbers, " %d", i % 7);
    onnx_constant(&g, "w", AT_NET_FLOAT, dims, at_text_str(&numbers), true);
    onnx_node(&g, "MatMul", "x w", "m", "");
    onnx_node(&g, op, "m", "r", "");
    onnx_node(&g, "Softmax", "r", "y", "");
    onnx_output(&g, "y");
    save(file, &g);
    at_text_free(&numbers);
}

/* Of another model's log the parts that are the same are used, and it is said how many. */
static void log_of_another(void **state) {
    (void)state;
    product("one.onnx", "Relu", "8,8");
    product("two.onnx", "Tanh", "8,8");
    cli_expect(0, "./autotune one.onnx --trials 6 --log one.log -q");
    const cli_result *r = cli_expect(0, "./autotune apply two.onnx --log one.log -o two.c");
    assert_non_null(strstr(r->out, "1 of 2 kinds of parts are tuned, by one.log"));
    r = cli_expect(0, "./autotune run two.onnx --log one.log");
    assert_non_null(strstr(r->out, "1 of 2 kinds of parts are in the log"));
    cli_expect(0, "./autotune dense --args M=4,N=8,K=8 --trials 2 --log dense.log -q");
    r = cli_expect(0, "./autotune run two.onnx --log dense.log");
    assert_non_null(strstr(r->out, "0 of 2 kinds of parts are in the log"));
    cli_expect(4, "./autotune run two.onnx --log nowhere.log");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs),        cmocka_unit_test(sizes),   cmocka_unit_test(memory),
        cmocka_unit_test(external_data), cmocka_unit_test(hostile), cmocka_unit_test(cut_off),
        cmocka_unit_test(log_of_another)};
    return cmocka_run_group_tests_name("cli/net_refused", tests, cli_setup, cli_teardown);
}
