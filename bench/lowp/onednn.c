/* bench/lowp/onednn.c: one product or convolution of oneDNN 3, timed for tools/lowp-bench: in
 * layouts of its own choice, its operands reordered ahead. Prints nanoseconds, the least of half a
 * second.
 *
 *     onednn TYPES conv H CI CO K STRIDE PAD GROUPS
 *     onednn TYPES product BATCH M N K
 *
 * TYPES: u8s8u8, of data, weight and output. Weights of integers have a scale per channel where the
 * output has 8 bits. */
#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DO(call)                                                                                   \
    do {                                                                                           \
        const dnnl_status_t status = (call);                                                       \
        if (status != dnnl_success) {                                                              \
            fprintf(stderr, "%s: %d\n", #call, (int)status);                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct problem {
    dnnl_engine_t engine;
    dnnl_data_type_t type[3]; /* of data, weight, output */
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t desc;
    int channels; /* of scales; 0: none */
} problem;

static dnnl_data_type_t next_type(const char **text) {
    static const struct {
        const char *name;
        dnnl_data_type_t type;
    } rows[] = {{"u8", dnnl_u8},   {"s8", dnnl_s8},   {"s32", dnnl_s32},
                {"f32", dnnl_f32}, {"f16", dnnl_f16}, {"bf16", dnnl_bf16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t n = strlen(rows[i].name);
        if (strncmp(*text, rows[i].name, n) != 0) continue;
        *text += n;
        return rows[i].type;
    }
    fprintf(stderr, "no type: %s\n", *text);
    exit(2);
}

/* Of a batch both operands are data: no layout of its own. */
static dnnl_memory_desc_t plain(const dnnl_dim_t *extents, dnnl_data_type_t type) {
    dnnl_memory_desc_t md;
    const dnnl_dims_t dims = {extents[0], extents[1], extents[2]};
    DO(dnnl_memory_desc_create_with_tag(&md, 3, dims, type, dnnl_abc));
    return md;
}

static dnnl_memory_desc_t any(int n, const dnnl_dim_t *extents, dnnl_data_type_t type) {
    dnnl_memory_desc_t md;
    dnnl_dims_t dims = {0};
    memcpy(dims, extents, sizeof *extents * (size_t)n);
    DO(dnnl_memory_desc_create_with_tag(&md, n, dims, type, dnnl_format_tag_any));
    return md;
}

static void scale(problem *p, int mask, int channels) {
    DO(dnnl_primitive_attr_create(&p->attr));
    if (p->type[2] != dnnl_u8 && p->type[2] != dnnl_s8) return;
    DO(dnnl_primitive_attr_set_scales_mask(p->attr, DNNL_ARG_WEIGHTS, mask));
    p->channels = channels;
}

static void make_conv(problem *p, char **a) {
    const dnnl_dim_t h = atoi(a[0]), ci = atoi(a[1]), co = atoi(a[2]), k = atoi(a[3]),
                     stride = atoi(a[4]), pad = atoi(a[5]), g = atoi(a[6]),
                     out = (h + 2 * pad - k) / stride + 1;
    const int grouped = g > 1;
    const dnnl_dims_t data = {1, ci, h, h}, result = {1, co, out, out}, strides = {stride, stride},
                      none = {0, 0}, pads = {pad, pad};
    dnnl_dims_t weight = {g, co / g, ci / g, k, k};
    scale(p, grouped ? 3 : 1, (int)co);
    DO(dnnl_convolution_forward_primitive_desc_create(
        &p->desc, p->engine, dnnl_forward_inference, dnnl_convolution_direct,
        any(4, data, p->type[0]),
        grouped ? any(5, weight, p->type[1]) : any(4, weight + 1, p->type[1]), NULL,
        any(4, result, p->type[2]), strides, none, pads, pads, p->attr));
}

static void make_product(problem *p, char **a) {
    const dnnl_dim_t b = atoi(a[0]), m = atoi(a[1]), n = atoi(a[2]), k = atoi(a[3]);
    const int batch = b > 1;
    const dnnl_dim_t of[3][3] = {{b, m, k}, {b, k, n}, {b, m, n}};
    dnnl_memory_desc_t md[3];
    for (int i = 0; i < 3; i++)
        md[i] = batch ? plain(of[i], p->type[i]) : any(2, of[i] + 1, p->type[i]);
    scale(p, batch ? 4 : 2, (int)n);
    DO(dnnl_matmul_primitive_desc_create(&p->desc, p->engine, md[0], md[1], NULL, md[2], p->attr));
}

/* Bytes of any value are integers; as floats of 16 and 32 bits they are to be about 1. */
static dnnl_memory_t memory(const problem *p, const_dnnl_memory_desc_t md, dnnl_data_type_t type) {
    const size_t bytes = dnnl_memory_desc_get_size(md);
    uint8_t *to = aligned_alloc(64, (bytes + 127) / 64 * 64);
    dnnl_memory_t m;
    const int is_float = type == dnnl_bf16 || type == dnnl_f32 || type == dnnl_f16;
    for (size_t i = 0; i < bytes; i++)
        to[i] = is_float && i % (type == dnnl_f32 ? 4 : 2) == (type == dnnl_f32 ? 3u : 1u)
                    ? (uint8_t)(0x3e | (rand() & 0x80))
                    : (uint8_t)rand();
    DO(dnnl_memory_create(&m, md, p->engine, to));
    return m;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    problem p = {.channels = 0};
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    const char *types = argc > 2 ? argv[1] : "";
    const int is_conv = argc == 10 && !strcmp(argv[2], "conv");
    if (!is_conv && (argc != 7 || strcmp(argv[2], "product") != 0)) return 2;
    for (int i = 0; i < 3; i++) p.type[i] = next_type(&types);
    DO(dnnl_engine_create(&p.engine, dnnl_cpu, 0));
    DO(dnnl_stream_create(&stream, p.engine, dnnl_stream_default_flags));
    if (is_conv) make_conv(&p, argv + 3);
    else make_product(&p, argv + 3);
    DO(dnnl_primitive_create(&primitive, p.desc));
    dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC,
         memory(&p, dnnl_primitive_desc_query_md(p.desc, dnnl_query_src_md, 0), p.type[0])},
        {DNNL_ARG_WEIGHTS,
         memory(&p, dnnl_primitive_desc_query_md(p.desc, dnnl_query_weights_md, 0), p.type[1])},
        {DNNL_ARG_DST,
         memory(&p, dnnl_primitive_desc_query_md(p.desc, dnnl_query_dst_md, 0), p.type[2])},
        {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, NULL}};
    if (p.channels) {
        const dnnl_dims_t channels = {p.channels};
        dnnl_memory_desc_t md;
        DO(dnnl_memory_desc_create_with_tag(&md, 1, channels, dnnl_f32, dnnl_a));
        args[3].memory = memory(&p, md, dnnl_f32);
    }
    double least = 1e300, start = now_ns();
    for (int i = 0; i < 10 || now_ns() - start < 5e8; i++) {
        const double begin = now_ns();
        DO(dnnl_primitive_execute(primitive, stream, p.channels ? 4 : 3, args));
        DO(dnnl_stream_wait(stream));
        const double took = now_ns() - begin;
        if (took < least) least = took;
    }
    printf("%.0f\n", least);
    return 0;
}
