/* Small ONNX files of our own making, in protobuf's wire format, for tests. */
#ifndef TESTS_ONNX_WRITER_H
#define TESTS_ONNX_WRITER_H

#include "network/network.h"

/* Start with {0}. Text with NUL bytes in it. */
typedef struct onnx_graph {
    at_text bytes;
} onnx_graph;

/* op: "Relu", "com.microsoft:QLinearAdd", "?Relu" of a node without a name. attributes: "axis=1
 * pads=[1,1] alpha=0.5 scales=[0.5,1.0] mode='linear'", separated by blanks; a number with a point
 * is a float. inputs, outputs: names separated by blanks, "-" is none. */
void onnx_node(onnx_graph *g, const char *op, const char *inputs, const char *outputs,
               const char *attributes);
/* The same with a graph as the value of an attribute, which it takes; up to two of them. */
void onnx_node_with_graphs(onnx_graph *g, const char *op, const char *inputs, const char *outputs,
                           const char *attributes, const char *name1, onnx_graph *g1,
                           const char *name2, onnx_graph *g2);
/* dims: "1,3,H,W", names are dimensions without a number; "" is a single element. */
void onnx_input(onnx_graph *g, const char *name, at_net_type type, const char *dims);
void onnx_output(onnx_graph *g, const char *name);
/* Elements as text: "1 2.5 -3"; raw: as raw_data, else as float_data or int64_data. */
void onnx_constant(onnx_graph *g, const char *name, at_net_type type, const char *dims,
                   const char *elements, bool raw);
void onnx_external(onnx_graph *g, const char *name, const char *dims, const char *location,
                   const char *offset, const char *length);
/* The file; takes the graph. */
at_text onnx_model(onnx_graph *g, int version);
at_status onnx_write(onnx_graph *g, int version, const char *path, at_error *err);

/* Fields, for what is not well formed. */
void pb_varint(at_text *t, int field, uint64_t x);
void pb_bytes(at_text *t, int field, const void *data, size_t n);
void pb_string(at_text *t, int field, const char *s);
void pb_message(at_text *t, int field, at_text *m); /* takes m */

#endif
