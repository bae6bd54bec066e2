/* Chains of nodes cut into parts: however they are cut, the parts compute what the nodes say, one
 * by one in double; no way to cut them is far ahead of the one that is chosen, by the same costs;
 * and what a log has measured decides against estimates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "network/net_costs.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

static const at_engine_options options = {.isa = "avx2"};

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A value that is read twice on the way. */
static at_net *between(void) {
    onnx_graph g = {0};
    onnx_chain(&g);
    onnx_output(&g, "z");
    return onnx_open(arena, &g);
}

/* A head, a product, a softmax, a product. */
static at_net *attention(void) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1024,64");
    onnx_numbers(&g, "s", "64", 1, false);
    onnx_numbers(&g, "w", "64,64", 2, false);
    onnx_numbers(&g, "v", "64,8", 3, false);
    onnx_node(&g, "Mul", "x s", "h", "");
    onnx_node(&g, "MatMul", "h w", "p", "");
    onnx_node(&g, "Softmax", "p", "q", "axis=-1");
    onnx_node(&g, "MatMul", "q v", "o", "");
    onnx_node(&g, "Relu", "o", "y", "");
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

/* A convolution and the pooling of it, by bands or not. */
static at_net *windows(void) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,2,64,72");
    onnx_numbers(&g, "w", "64,2,1,1", 1, false);
    onnx_numbers(&g, "v", "4,64,1,1", 2, false);
    onnx_node(&g, "Conv", "x w", "c", "");
    onnx_node(&g, "Sigmoid", "c", "s", "");
    onnx_node(&g, "MaxPool", "s", "p", "kernel_shape=[2,2] strides=[2,2]");
    onnx_node(&g, "Conv", "p v", "y", "");
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

static at_net *(*const graphs[])(void) = {between, attention, windows};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

/* ---- cuts ------------------------------------------------------------------------------------ */

typedef struct joins { /* nodes that can go on with the part before them */
    int nodes[8], n;
} joins;

static at_net_cut cut_by(const at_net *net, const at_net_cutting *how) {
    at_net_cut cut;
    at_error err;
    if (at_net_cut_parts(arena, net, how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    return cut;
}

static joins find_joins(const at_net *net) {
    at_net_cutting how = at_net_cutting_new(arena, net);
    joins out = {.n = 0};
    for (int before = -1; before < out.n;) {
        before = out.n;
        const at_net_cut cut = cut_by(net, &how);
        for (int i = 0; i < cut.num_joins && out.n < 8; i++) {
            if (how.links[cut.joins[i].node] == AT_NET_GOES_ON) continue;
            how.links[cut.joins[i].node] = AT_NET_GOES_ON;
            out.nodes[out.n++] = cut.joins[i].node;
        }
    }
    return out;
}

/* The joins whose bits are set. */
static at_net_cut cut_with(const at_net *net, const joins *j, int bits) {
    at_net_cutting how = at_net_cutting_new(arena, net);
    for (int i = 0; i < j->n; i++)
        if (bits >> i & 1) how.links[j->nodes[i]] = AT_NET_GOES_ON;
    return cut_by(net, &how);
}

static at_net_costs costs_of(const at_net *net, const at_net_logged *logged, at_error *err) {
    return (at_net_costs){.arena = arena,
                          .net = net,
                          .engine = &options,
                          .logged = logged,
                          .known.arena = arena,
                          .err = err};
}

static double seconds_of(const at_net *net, const at_net_cut *cut) {
    at_net_logged none = {0};
    at_error err;
    at_net_costs costs = costs_of(net, &none, &err);
    double sum = 0;
    for (int i = 0; i < cut->num_parts; i++) {
        at_net_cost cost;
        if (at_net_cost_of(&costs, cut, &cut->parts[i], true, &cost) != AT_OK)
            fail_msg("%s", err.text);
        sum += cost.estimate_s;
    }
    return sum;
}

static at_net_cut cut_by_cost(const at_net *net, const at_net_logged *logged, at_net_tries *tries) {
    at_net_cutting how = at_net_cutting_new(arena, net);
    const at_net_cut rule = cut_by(net, &how);
    at_error err;
    at_net_costs costs = costs_of(net, logged, &err);
    if (at_net_cut_chains(&costs, &rule, &how, tries) != AT_OK) fail_msg("%s", err.text);
    return cut_by(net, &how);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void values(void **state) {
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        at_net *net = graphs[i]();
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        const joins j = find_joins(rewritten);
        double **nodes = onnx_made_values(arena, rewritten);
        assert_true(j.n > 0);
        for (int bits = 0; bits < 1 << j.n; bits++) {
            const at_net_cut cut = cut_with(rewritten, &j, bits);
            for (int p = 0; p < cut.num_parts; p++)
                onnx_check_part(arena, &cut, &cut.parts[p], nodes);
        }
        at_net_close(net);
    }
}

/* Cuts of several sums have to be further ahead: 0.6 stands in network/chains.c. */
static void estimates(void **state) {
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        at_net_logged none = {0};
        at_net *net = graphs[i]();
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        const joins j = find_joins(rewritten);
        const at_net_cut chosen = cut_by_cost(rewritten, &none, NULL),
                         rule = cut_with(rewritten, &j, 0);
        const double chosen_s = seconds_of(rewritten, &chosen);
        assert_true(chosen_s <= seconds_of(rewritten, &rule));
        for (int bits = 1; bits < 1 << j.n; bits++) {
            const at_net_cut other = cut_with(rewritten, &j, bits);
            assert_true(seconds_of(rewritten, &other) >= 0.6 * chosen_s * 0.999);
        }
        at_net_close(net);
    }
}

/* A log with these parts, each of which takes so long. */
static void measure(at_net_logged *log, const at_net_cut *cut, double time_s) {
    for (int i = 0; i < cut->num_parts; i++) {
        const at_net_part *p = &cut->parts[i];
        at_selection s = {0};
        at_error err;
        if (at_net_row_of(p, &s.row, &err) != AT_OK ||
            at_task_new(arena, s.row, NULL, &s.task, &err) != AT_OK)
            fail_msg("%s", err.text);
        at_record *r = AT_NEW(arena, at_record);
        r->costs_s = at_copy(arena, &time_s, sizeof time_s);
        r->num_costs = 1;
        r->extra.context.cache = at_cache_name(AT_CACHE_WEIGHTS_COLD);
        s.record = r;
        *at_push(arena, log) = s;
    }
}

static bool are_alike(const at_net_cut *x, const at_net_cut *y) {
    if (x->num_parts != y->num_parts) return false;
    for (int i = 0; i < x->num_parts; i++)
        if (strcmp(x->parts[i].text, y->parts[i].text) != 0) return false;
    return true;
}

/* All parts of all cuts are measured: the cut is taken whose parts are the shortest ones, whichever
 * that is. */
static void measured(void **state) {
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        at_net *net = graphs[i]();
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        const joins j = find_joins(rewritten);
        for (int target = 0; target < 1 << j.n; target++) {
            at_net_logged log = {0};
            const at_net_cut wanted = cut_with(rewritten, &j, target);
            measure(&log, &wanted, 1e-3);
            for (int bits = 0; bits < 1 << j.n; bits++) {
                const at_net_cut any = cut_with(rewritten, &j, bits);
                measure(&log, &any, 1);
            }
            const at_net_cut cut = cut_by_cost(rewritten, &log, NULL);
            assert_true(are_alike(&cut, &wanted));
        }
        at_net_close(net);
    }
}

/* A log of the cut by rules alone: it stands where estimates alone would not change it. */
static void log_of_before(void **state) {
    (void)state;
    int kept = 0;
    for (int i = 0; i < GRAPHS; i++) {
        at_net_logged none = {0};
        at_net_logged log = {0};
        at_net *net = graphs[i]();
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        const joins j = find_joins(rewritten);
        const at_net_cut rule = cut_with(rewritten, &j, 0),
                         estimated = cut_by_cost(rewritten, &none, NULL);
        measure(&log, &rule, 1);
        const at_net_cut cut = cut_by_cost(rewritten, &log, NULL);
        if (are_alike(&rule, &estimated)) {
            assert_true(are_alike(&cut, &rule));
            kept++;
        }
        at_net_close(net);
    }
    assert_true(kept > 0);
}

/* A search is given parts of another cut, which are none of the chosen one. */
static void tries(void **state) {
    (void)state;
    int any = 0;
    for (int i = 0; i < GRAPHS; i++) {
        at_net_logged none = {0};
        at_net_tries found = {0};
        at_net *net = graphs[i]();
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        const at_net_cut cut = cut_by_cost(rewritten, &none, &found);
        for (int t = 0; t < found.len; t++)
            for (int p = 0; p < cut.num_parts; p++)
                assert_string_not_equal(found.data[t].part.text, cut.parts[p].text);
        any += found.len;
        at_net_close(net);
    }
    assert_true(any > 0);
}

/* Groups of values as they are declared, or with channels last: the parts compute the same. */
static void layouts(void **state) {
    (void)state;
    at_net *net = windows();
    const at_net *rewritten = at_net_rewrite(arena, net, false);
    const int *groups = at_net_order_groups(arena, rewritten);
    double **nodes = onnx_made_values(arena, rewritten);
    int tried = 0;
    for (int v = 0; v < rewritten->values.len; v++) {
        at_net_cutting how = at_net_cutting_new(arena, rewritten);
        if (groups[v] != v) continue;
        how.as_given[v] = true;
        const at_net_cut cut = cut_by(rewritten, &how);
        for (int x = 0; x < rewritten->values.len; x++)
            if (groups[x] == v) assert_null(cut.orders[x]);
        for (int p = 0; p < cut.num_parts; p++) onnx_check_part(arena, &cut, &cut.parts[p], nodes);
        tried++;
    }
    assert_true(tried > 0);
    at_net_close(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),   cmocka_unit_test(estimates),
                                       cmocka_unit_test(measured), cmocka_unit_test(log_of_before),
                                       cmocka_unit_test(tries),    cmocka_unit_test(layouts)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
