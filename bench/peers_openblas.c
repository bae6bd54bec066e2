/* bench/peers_openblas.c: a convolution as people write it on top of a BLAS: im2col of the whole
 * layer into memory, then one sgemm; both count. Turned weights would gain nothing (measured with
 * OpenBLAS 0.3.21: 0 to -9 %). The library is loaded at run time, so that the bench builds without
 * it and can choose its kernels first. */
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* cblas.h */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

typedef float snrm2_fn(int n, const float *x, int step);

static sgemm_fn *sgemm;
static snrm2_fn *snrm2;

/* POSIX gives functions out as void *. */
static void *symbol(void *library, const char *name) { return library ? dlsym(library, name) : 0; }

const char *at_openblas_about(void) {
    static const char *core;
    static bool asked;
    if (asked) return core;
    asked = true;
    /* Read once, when the library is loaded. It is met at its best, whatever the environment says;
     * versions older than the CPU take it for a Haswell. */
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    if (at_cpu_has_set(at_vector_set("avx512"))) setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    char *(*corename)(void);
    *(void **)&sgemm = symbol(library, "cblas_sgemm");
    *(void **)&snrm2 = symbol(library, "cblas_snrm2");
    *(void **)&corename = symbol(library, "openblas_get_corename");
    if (sgemm && snrm2 && corename) core = corename();
    return core;
}

struct at_openblas {
    at_bench_conv shape;
    const float *data, *weight; /* [oc, kh*kw*ic] */
    float *im2col;              /* [n*oh*ow, kh*kw*ic] */
    float *out;                 /* [n*oh*ow, oc] */
};

/* One output row's kernel row kh: a run of kw*ic floats where it lies inside, zeros where not. */
static void copy_run(const at_bench_conv *s, const float *line, int w, float *to) {
    int first = w * s->stride - s->pad, left = first < 0 ? -first : 0;
    int end = first + s->kw, right = end > s->iw ? end - s->iw : 0;
    size_t c = (size_t)s->ic;
    memset(to, 0, sizeof *to * c * (size_t)left);
    memcpy(to + c * (size_t)left, line + (ptrdiff_t)c * (first + left),
           sizeof *to * c * (size_t)(s->kw - left - right));
    memset(to + c * (size_t)(s->kw - right), 0, sizeof *to * c * (size_t)right);
}

static void fill_im2col(const at_openblas *b) {
    const at_bench_conv *s = &b->shape;
    float *to = b->im2col;
    size_t run = (size_t)s->kw * (size_t)s->ic;
    for (int n = 0; n < s->n; n++)
        for (int h = 0; h < at_bench_conv_oh(s); h++)
            for (int w = 0; w < at_bench_conv_ow(s); w++)
                for (int kh = 0; kh < s->kh; kh++, to += run) {
                    int ih = h * s->stride + kh - s->pad;
                    if (ih < 0 || ih >= s->ih) memset(to, 0, sizeof *to * run);
                    else copy_run(s, b->data + ((int64_t)n * s->ih + ih) * s->iw * s->ic, w, to);
                }
}

static void run(void *context) {
    const at_openblas *b = context;
    const at_bench_conv *s = &b->shape;
    int y = s->n * at_bench_conv_oh(s) * at_bench_conv_ow(s), k = s->kh * s->kw * s->ic;
    fill_im2col(b);
    sgemm(ROW_MAJOR, NO_TRANS, TRANS, y, s->oc, k, 1, b->im2col, k, b->weight, k, 0, b->out, s->oc);
}

at_openblas *at_openblas_conv(at_arena *a, const at_bench_conv *s, const float *data,
                              const float *weight) {
    at_openblas *b = AT_NEW(a, at_openblas);
    int64_t y = (int64_t)s->n * at_bench_conv_oh(s) * at_bench_conv_ow(s),
            k = (int64_t)s->kh * s->kw * s->ic;
    b->shape = *s;
    b->data = data;
    b->weight = weight;
    b->im2col = at_bench_alloc(y * k * 4);
    b->out = at_bench_alloc(y * s->oc * 4);
    run(b);
    return b;
}

const float *at_openblas_output(const at_openblas *b) { return b->out; }
at_bench_contender at_openblas_contender(at_openblas *b) {
    return (at_bench_contender){run, b, at_bench_conv_flops(&b->shape)};
}

struct at_openblas_product {
    int y, x, k, order_b;
    int heads,
        row; /* products of parts of rows; between rows of a; of b, too, where it is turned */
    const float *a, *b, *addend;
    float *out;
};

static void run_product(void *context) {
    const at_openblas_product *p = context;
    if (p->addend) memcpy(p->out, p->addend, sizeof *p->out * (size_t)p->y * (size_t)p->x);
    for (int h = 0; h < p->heads; h++)
        sgemm(ROW_MAJOR, NO_TRANS, p->order_b, p->y, p->x, p->k, 1, p->a + h * p->k, p->row,
              p->b + h * p->k, p->order_b == TRANS ? p->row : p->x, p->addend ? 1 : 0,
              p->out + (ptrdiff_t)h * p->y * p->x, p->x);
}

static void run_norm(void *context) {
    const at_openblas_product *p = context;
    *p->out = snrm2(p->k, p->a, 1);
}

at_openblas_product *at_openblas_product_new(at_arena *arena, const int yxk[3], const float *a,
                                             const float *b, bool transposed, const float *addend) {
    at_openblas_product *p = AT_NEW(arena, at_openblas_product);
    *p = (at_openblas_product){.y = yxk[0],
                               .x = yxk[1],
                               .k = yxk[2],
                               .order_b = transposed ? TRANS : NO_TRANS,
                               .heads = 1,
                               .row = yxk[2],
                               .a = a,
                               .b = b,
                               .addend = addend,
                               .out = at_bench_alloc((int64_t)yxk[0] * yxk[1] * 4)};
    run_product(p);
    return p;
}

at_openblas_product *at_openblas_heads_new(at_arena *arena, const int shd[3], const float *a,
                                           const float *b) {
    const int s = shd[0], h = shd[1], d = shd[2];
    at_openblas_product *p = AT_NEW(arena, at_openblas_product);
    *p = (at_openblas_product){.y = s,
                               .x = s,
                               .k = d,
                               .order_b = TRANS,
                               .heads = h,
                               .row = h * d,
                               .a = a,
                               .b = b,
                               .out = at_bench_alloc((int64_t)h * s * s * 4)};
    run_product(p);
    return p;
}

at_openblas_product *at_openblas_norm_new(at_arena *arena, int n, const float *a) {
    at_openblas_product *p = AT_NEW(arena, at_openblas_product);
    *p = (at_openblas_product){.y = 1, .x = 1, .k = n, .a = a, .out = at_bench_alloc(4)};
    run_norm(p);
    return p;
}

const float *at_openblas_product_output(const at_openblas_product *p) { return p->out; }
at_bench_contender at_openblas_product_contender(at_openblas_product *p) {
    return (at_bench_contender){p->heads ? run_product : run_norm, p,
                                2.0 * p->y * p->x * p->k * (p->heads ? p->heads : 1)};
}
