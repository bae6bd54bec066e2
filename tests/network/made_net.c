#include "tests/network/made_net.h"

#include <stdlib.h>
#include <string.h>

void onnx_numbers(onnx_graph *g, const char *name, const char *dims, int seed, bool positive) {
    at_rng rng;
    at_text t = {0};
    int64_t n = 1;
    at_rng_seed(&rng, (uint64_t)seed, 3);
    for (const char *p = dims; *p; p += strcspn(p, ","), p += *p == ',') n *= atoi(p);
    for (int64_t i = 0; i < n; i++)
        at_text_addf(&t, " %g",
                     positive ? (1 + (double)at_rng_below(&rng, 16)) / 8
                              : ((double)at_rng_below(&rng, 33) - 16) / 16);
    onnx_constant(g, name, AT_NET_FLOAT, dims, at_text_str(&t), true);
    at_text_free(&t);
}

at_net *onnx_open(at_arena *a, onnx_graph *g) {
    at_text bytes = onnx_model(g, 13);
    const void *kept = at_copy(a, at_text_str(&bytes), bytes.len);
    size_t size = bytes.len;
    at_net *net;
    at_error err;
    at_text_free(&bytes);
    if (at_net_parse(kept, size, "made.onnx", NULL, &net, &err) == AT_OK) return net;
    fprintf(stderr, "%s\n", err.text);
    abort();
}
