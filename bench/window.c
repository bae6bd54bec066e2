/* bench/window.c: what an operator with a window makes of its input's extents. */
#include "bench/peers.h"

void at_bench_op_out(const at_bench_op *s, int out[3]) {
    for (int i = 0; i < s->dims; i++) {
        int reach = (s->kernel[i] - 1) * s->dilation + 1;
        out[i] = s->kind == AT_BENCH_TRANSPOSED_CONV
                     ? (s->in[i] - 1) * s->stride - 2 * s->pad + reach
                     : (s->in[i] + 2 * s->pad - reach) / s->stride + 1;
    }
}
