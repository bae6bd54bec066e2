/* bench/peers_xnnpack.c: XNNPACK's convolution, channels last, float32, one thread: by indirection,
 * the weights packed when it is made. The library is loaded at run time, so that the bench builds
 * without it. Its functions are those of Debian 12's version, of February 2022. */
#include "bench/peers.h"

#include <dlfcn.h>
#include <math.h>

typedef int initialize_fn(const void *allocator);
typedef int create_fn(uint32_t pad_top, uint32_t pad_right, uint32_t pad_bottom, uint32_t pad_left,
                      uint32_t kernel_height, uint32_t kernel_width, uint32_t stride_height,
                      uint32_t stride_width, uint32_t dilation_height, uint32_t dilation_width,
                      uint32_t groups, size_t group_inputs, size_t group_outputs,
                      size_t input_stride, size_t output_stride, const float *kernel,
                      const float *bias, float least, float most, uint32_t flags, void **op);
typedef int setup_fn(void *op, size_t batch, size_t height, size_t width, const float *input,
                     float *output, void *threads);
typedef int run_fn(void *op, void *threads);
typedef int delete_fn(void *op);

static create_fn *create;
static setup_fn *setup;
static run_fn *run_operator;
static delete_fn *delete_operator;

bool at_xnnpack_is_there(void) {
    static bool asked, is_there;
    initialize_fn *initialize;
    if (asked) return is_there;
    asked = true;
    void *library = dlopen("libXNNPACK.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    *(void **)&initialize = dlsym(library, "xnn_initialize");
    *(void **)&create = dlsym(library, "xnn_create_convolution2d_nhwc_f32");
    *(void **)&setup = dlsym(library, "xnn_setup_convolution2d_nhwc_f32");
    *(void **)&run_operator = dlsym(library, "xnn_run_operator");
    *(void **)&delete_operator = dlsym(library, "xnn_delete_operator");
    return is_there = initialize && create && setup && run_operator && delete_operator &&
                      !initialize(NULL);
}

struct at_xnnpack {
    void *op;
    float *out;
    double flops;
};

at_xnnpack *at_xnnpack_conv(at_arena *a, const at_bench_conv *s, const float *data,
                            const float *weight) {
    at_xnnpack *x = AT_NEW(a, at_xnnpack);
    uint32_t pad = (uint32_t)s->pad, stride = (uint32_t)s->stride;
    size_t inputs = (size_t)s->ic, outputs = (size_t)s->oc;
    int64_t n = (int64_t)s->n * at_bench_conv_oh(s) * at_bench_conv_ow(s) * s->oc;
    x->flops = at_bench_conv_flops(s);
    x->out = at_bench_alloc(n * 4);
    if (create(pad, pad, pad, pad, (uint32_t)s->kh, (uint32_t)s->kw, stride, stride, 1, 1, 1,
               inputs, outputs, inputs, outputs, weight, NULL, -INFINITY, INFINITY, 0, &x->op))
        return NULL;
    if (!setup(x->op, (size_t)s->n, (size_t)s->ih, (size_t)s->iw, data, x->out, NULL) &&
        !run_operator(x->op, NULL))
        return x;
    delete_operator(x->op);
    return NULL;
}

const float *at_xnnpack_output(const at_xnnpack *x) { return x->out; }

static void run(void *context) { run_operator(((at_xnnpack *)context)->op, NULL); }

at_bench_contender at_xnnpack_contender(at_xnnpack *x) {
    return (at_bench_contender){run, x, x->flops};
}

void at_xnnpack_free(at_xnnpack *x) {
    if (x) delete_operator(x->op);
}
