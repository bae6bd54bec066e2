/* examples/layer.c: one kernel in a C program. README.md beside it says how conv.c and conv.h come
 * about. */
#include <stdio.h>
#include <stdlib.h>

#include "conv.h"

enum { H = 14, W = 14, CI = 16, CO = 32, K = 9 * CI };

static float *new_floats(long n) {
    float *p = malloc((size_t)n * sizeof *p);
    if (!p) exit(1);
    for (long i = 0; i < n; i++) p[i] = (float)(i % 11 - 5);
    return p;
}

/* One element of the output as the definition of a 3x3 convolution has it: NHWC, padding 1. */
static float expected(const float *data, const float *weight, int h, int w, int co) {
    float sum = 0;
    for (int kh = 0; kh < 3; kh++)
        for (int kw = 0; kw < 3; kw++)
            for (int ci = 0; ci < CI; ci++) {
                int ih = h + kh - 1, iw = w + kw - 1;
                if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
                sum += data[(ih * W + iw) * CI + ci] * weight[co * K + (kh * 3 + kw) * CI + ci];
            }
    return sum;
}

static long count_wrong(const float *data, const float *weight, const float *out) {
    long wrong = 0;
    for (int i = 0; i < H * W * CO; i++)
        wrong += out[i] != expected(data, weight, i / CO / W, i / CO % W, i % CO);
    return wrong;
}

int main(void) {
    float *data = new_floats(H * W * CI), *weight = new_floats(CO * K);
    float *out = new_floats(H * W * CO);
    void *workspace = malloc(conv_workspace_bytes(1)), *packed = malloc(conv_packed_bytes());
    if (!conv_supported()) {
        printf("C: this CPU lacks the instructions that conv.c was made for\n");
        return 1;
    }

    conv(data, weight, out, workspace); /* packs the weights itself, at every call */
    long wrong = count_wrong(data, weight, out);

    conv_pack(weight, packed); /* once */
    conv_in_blocks(data, packed, out, workspace);
    wrong += count_wrong(data, weight, out);

    printf("C: %d elements, %ld wrong\n", H * W * CO, wrong);
    free(data), free(weight), free(packed), free(out), free(workspace);
    return wrong != 0;
}
