/* tests/network/words_model.h: a small network: rows of a table by five numbers, times a matrix,
 * only what is positive. */
#ifndef AT_TESTS_WORDS_MODEL_H
#define AT_TESTS_WORDS_MODEL_H

#include "tests/network/onnx_writer.h"

enum { WORDS = 5, WIDTH = 8, TABLE = 6, CLASSES = 16 };

static inline float words_table_at(int64_t i) { return (float)(i * 7 % 17 - 8) / 16; }
static inline float words_weight_at(int64_t i) { return (float)(i * 5 % 13 - 6) / 8; }

static inline void words_constant(onnx_graph *g, const char *name, const char *dims, int n,
                                  float (*at)(int64_t)) {
    at_text t = {0};
    for (int i = 0; i < n; i++) at_text_addf(&t, " %g", (double)at(i));
    onnx_constant(g, name, AT_NET_FLOAT, dims, at_text_str(&t), true);
    at_text_free(&t);
}

static inline void words_write(const char *file) {
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "ids", AT_NET_INT64, "N,5");
    words_constant(&g, "table", "6,8", TABLE * WIDTH, words_table_at);
    words_constant(&g, "w", "8,16", WIDTH * CLASSES, words_weight_at);
    onnx_node(&g, "Gather", "table ids", "e", "axis=0");
    onnx_node(&g, "MatMul", "e w", "m", "");
    onnx_node(&g, "Relu", "m", "class", "");
    onnx_output(&g, "class");
    assert_int_equal(onnx_write(&g, 13, file, &err), AT_OK);
}

#endif
