/* Networks of a test's own making, opened. */
#ifndef TESTS_MADE_NET_H
#define TESTS_MADE_NET_H

#include "tests/network/onnx_writer.h"

/* A constant of seeded numbers in steps of 1/16, from -1 to 1; of variances positive. */
void onnx_numbers(onnx_graph *g, const char *name, const char *dims, int seed, bool positive);
/* The graph, which it takes, as a network of opset 13, whose bytes are in a. */
at_net *onnx_open(at_arena *a, onnx_graph *g);

#endif
