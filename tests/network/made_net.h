/* Networks of a test's own making, opened. */
#ifndef TESTS_MADE_NET_H
#define TESTS_MADE_NET_H

#include "network/program.h"
#include "tests/network/onnx_writer.h"

/* A constant of seeded numbers in steps of 1/16, from -1 to 1; of variances positive. */
void onnx_numbers(onnx_graph *g, const char *name, const char *dims, int seed, bool positive);
/* Nodes from x and y to z, of which r is read twice on the way; without outputs. */
void onnx_chain(onnx_graph *g);
/* The graph, which it takes, as a network of opset 13, whose bytes are in a. */
at_net *onnx_open(at_arena *a, onnx_graph *g);
/* The same of another opset, with options; o may be NULL. */
at_net *onnx_open_as(at_arena *a, onnx_graph *g, int opset, const at_net_options *o);

/* Every value in double, node by node; inputs: elements, in the order of the network's. */
double **onnx_values(at_arena *a, const at_net *net, const void *const *inputs);
/* The same with inputs from -1 to 1. */
double **onnx_made_values(at_arena *a, const at_net *net);
/* For cmocka: the graph, which it takes, is refused in one line that has the text. */
void onnx_expect_refused(onnx_graph *g, int opset, const at_net_options *o, at_status status,
                         const char *text);
/* For cmocka: the output's type and sizes, as "float32[2, 3]". */
void onnx_expect_shape(const at_net *net, int output, const char *shape);
/* For cmocka: every output in double, by the interpreter. */
double **onnx_outputs_of(at_arena *a, const at_net *net, const void *const *inputs);
/* For cmocka: the first output, in double, of a network with one input. */
const double *onnx_output_of(at_arena *a, const at_net *net, const void *input);
/* For cmocka: the network made ready to run; b NULL: by defaults. */
at_net_program onnx_program(const at_net *net, const at_net_build *b);
/* A run in memory of its own, whose content does not matter. */
at_status onnx_run(const at_net_program *p, const void *const *inputs, void *const *outputs,
                   at_error *err);
/* For cmocka: the part's text computes its outputs of these values, in double. */
void onnx_check_part(at_arena *a, const at_net_cut *cut, const at_net_part *part, double **values);
/* For cmocka: a run on seeded inputs beside those values; of a graph, which it takes, also titles
 * of its parts in order, "a; b" (NULL: any), and that it needs little more memory than it must. */
void onnx_check_program(at_arena *a, const at_net *net, const at_net_program *p);
void onnx_check(at_arena *a, onnx_graph *g, const char *titles);

#endif
