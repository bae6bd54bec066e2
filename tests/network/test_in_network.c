/* Choices of a part against each other inside the network: two of one part at least, though all the
 * time is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "network/net_truth.h"
#include "tests/arena.h"
#include "tests/folder.h"
#include "tests/network/made_net.h"
#include "tests/whole_file.h"

static int lines_of(const char *log) {
    char *text;
    size_t len;
    int n = 0;
    at_error err;
    if (read_whole(arena, log, &text, &len, &err) != AT_OK) fail_msg("%s", err.text);
    for (const char *p = text; (p = strstr(p, "#in_network ")); p++) n++;
    return n;
}

/* Two convolutions with several ways each. Of the shorter one, and of further choices, nothing. */
static void one_part_at_least(void **state) {
    (void)state;
    static int stop;
    static const char record[] = /* of another task */
        "{\"input\": [\"c -keys=cpu -mcpu=znver3\", \"matmul_add\", [64, 64, 64, \"float32\"], "
        "{}], "
        "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, "
        "32, 1]], "
        "[\"tile_x\", \"sp\", [-1, 1, 8]], [\"tile_k\", \"sp\", [-1, 1]], [\"tile_inner\", \"sp\", "
        "[-1, 1]]]}, \"result\": [[1e-05], 0, 1.0, "
        "1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n";
    const char *log = at_format(arena, "%s/net.log", folder);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,48,8,8");
    onnx_numbers(&g, "w", "64,48,3,3", 1, false);
    onnx_numbers(&g, "v", "48,64,3,3", 2, false);
    onnx_node(&g, "Conv", "x w", "c", "pads=[1,1,1,1]");
    onnx_node(&g, "Conv", "c v", "y", "pads=[1,1,1,1]");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    const void *inputs[] = {AT_NEW_ARRAY(arena, float, 48 * 8 * 8)};
    at_net_program p;
    at_net_build b = {0};
    at_net_truth t;
    at_error err;
    int changed;
    if (at_net_program_new(net, &b, &p, &err) != AT_OK ||
        at_net_truth_new(net, inputs, &stop, &t, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(at_write_file(log, record, sizeof record - 1, &err), AT_OK);
    b.log = log;
    if (at_net_contest(&p, &b, &t, -1, &changed, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(lines_of(log), 2);
    stop = 1;
    if (at_net_contest(&p, &b, &t, -1, &changed, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(lines_of(log), 2);
    at_net_truth_free(&t);
    at_net_program_free(&p);
    at_net_close(net);
}

/* A program like another one has its choices, in their order, and reads no log. */
static void one_like_another(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,48,8,8");
    onnx_numbers(&g, "w", "64,48,3,3", 1, false);
    onnx_node(&g, "Conv", "x w", "y", "pads=[1,1,1,1]");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    int k = 0;
    while (k < p.num_kernels && p.kernels[k].num_choices < 2) k++;
    assert_true(k < p.num_kernels);
    at_net_kernel *own = &p.kernels[k];
    const at_net_choice first = own->choices[0];
    own->choices[0] = own->choices[1];
    own->choices[1] = first;
    const at_net_build b = {.log = at_format(arena, "%s/not there.log", folder), .like = &p};
    at_net_program other = onnx_program(net, &b);
    assert_int_equal(other.num_kernels, p.num_kernels);
    assert_int_equal(other.kernels[k].num_choices, own->num_choices);
    for (int i = 0; i < own->num_choices; i++) {
        assert_int_equal(other.kernels[k].choices[i].way, own->choices[i].way);
        assert_ptr_equal(other.kernels[k].choices[i].selection.task,
                         own->choices[i].selection.task);
    }
    assert_ptr_equal(other.kernels[k].chosen.task, own->choices[0].selection.task);
    at_net_program_free(&other);
    at_net_program_free(&p);
    at_net_close(net);
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }

static int end(void **state) { return free_arena(state) || remove_folder(state); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_part_at_least),
                                       cmocka_unit_test(one_like_another)};
    return cmocka_run_group_tests_name("network/in_network", tests, begin, end);
}
