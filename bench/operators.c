/* bench/operators.c: the best that the tool finds for its templates of other operators, against
 * what a user would call instead: oneDNN and OpenBLAS's sgemm. The shapes are MobileNet's and those
 * of TVM's te_workload. ROWS in the environment names the groups that count: "DEP GMM". */
#include "bench/peers.h"

#include <string.h>

enum { OURS, PEER, COPY, MOST_CONTENDERS, TRIALS = 200 };

typedef struct row {
    const char *group;
    at_bench_search search;
    at_bench_op op;
    double target; /* of the peer's speed; 0: for orientation */
} row;

/* clang-format off */
#define ROW(group_, title, template_, args_, target_, ...)                                         \
    {group_, {title, template_, args_, "", TRIALS, NULL}, {__VA_ARGS__}, target_}
#define DEPTHWISE(hw, c, s)                                                                        \
    ROW("DEP", #c "@" #hw " stride " #s, "depthwise_conv2d_nhwc",                                  \
        "H=" #hw ",W=" #hw ",C=" #c ",strides=" #s, 1.0,                                           \
        AT_BENCH_CONV, 2, 1, c, c, c, {hw, hw}, {3, 3}, s, 1, 1, false, 0, NULL)
#define BLOCKED(hw, c, s)                                                                          \
    ROW("DEPc", #c "@" #hw " stride " #s, "depthwise_conv2d_NCHWc",                                \
        "H=" #hw ",W=" #hw ",IC=" #c ",strides=" #s, 1.0,                                          \
        AT_BENCH_CONV, 2, 1, c, c, c, {hw, hw}, {3, 3}, s, 1, 1, false, 0, NULL)
#define MULTIPLIED(hw, c, m)                                                                       \
    ROW("DEPm", #c "@" #hw " times " #m, "depthwise_conv2d_nhwc",                                  \
        "H=" #hw ",W=" #hw ",C=" #c ",M=" #m, 1.0,                                                 \
        AT_BENCH_CONV, 2, 1, c, c * m, c, {hw, hw}, {3, 3}, 1, 1, 1, false, 0, NULL),              \
    ROW("DEPm", #c "@" #hw " times " #m ", blocked", "depthwise_conv2d_NCHWc",                     \
        "H=" #hw ",W=" #hw ",IC=" #c ",M=" #m, 1.0,                                                \
        AT_BENCH_CONV, 2, 1, c, c * m, c, {hw, hw}, {3, 3}, 1, 1, 1, false, 0, NULL)
#define GROUPED(hw, ci, co, k, s, p, g)                                                            \
    ROW("GRP", #ci "@" #hw " to " #co ", " #k "x" #k, "group_conv2d_nhwc",                         \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",KH=" #k ",KW=" #k ",strides=" #s                \
        ",padding=" #p ",G=" #g, 1.0,                                                              \
        AT_BENCH_CONV, 2, 1, ci, co, g, {hw, hw}, {k, k}, s, p, 1, false, 0, NULL)
#define DILATED(hw, ci, co, k, s, p)                                                               \
    ROW("DIL", #ci "@" #hw " to " #co ", " #k "x" #k ", dilation 2", "conv2d_nhwc",                \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",KH=" #k ",KW=" #k ",strides=" #s                \
        ",padding=" #p ",dilation=2", 1.0,                                                         \
        AT_BENCH_CONV, 2, 1, ci, co, 1, {hw, hw}, {k, k}, s, p, 2, false, 0, NULL)
#define LINE(w, ci, co, k, s, p)                                                                   \
    ROW("C1D", #ci "@" #w " to " #co ", " #k, "conv1d_nwc",                                        \
        "W=" #w ",CI=" #ci ",CO=" #co ",KW=" #k ",strides=" #s ",padding=" #p, 0,                  \
        AT_BENCH_CONV, 1, 1, ci, co, 1, {w}, {k}, s, p, 1, false, 0, NULL)
#define CHANNELS_LAST(hw, ci, co, k, s, p)                                                         \
    ROW("C2D", #ci "@" #hw " to " #co ", " #k "x" #k, "conv2d_nhwc",                               \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",KH=" #k ",KW=" #k ",strides=" #s                \
        ",padding=" #p, 0,                                                                         \
        AT_BENCH_CONV, 2, 1, ci, co, 1, {hw, hw}, {k, k}, s, p, 1, false, 0, NULL)
#define WITH_RELU(hw, ci, co, k, s, p)                                                             \
    ROW("CBR", #ci "@" #hw " to " #co ", " #k "x" #k, "conv2d_nhwc+bias+relu",                     \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",KH=" #k ",KW=" #k ",strides=" #s                \
        ",padding=" #p, 0,                                                                         \
        AT_BENCH_CONV, 2, 1, ci, co, 1, {hw, hw}, {k, k}, s, p, 1, false, 0, NULL)
#define VOLUME(hw, ci, co, k, s, p)                                                                \
    ROW("C3D", #ci "@16x" #hw " to " #co ", " #k "^3", "conv3d_ndhwc",                             \
        "D=16,H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",KD=" #k ",KH=" #k ",KW=" #k                \
        ",strides=" #s ",padding=" #p, 0,                                                          \
        AT_BENCH_CONV, 3, 1, ci, co, 1, {16, hw, hw}, {k, k, k}, s, p, 1, false, 0, NULL)
#define TRANSPOSED(hw, ci, co)                                                                     \
    ROW("T2D", #ci "@" #hw " to " #co, "conv2d_transpose_nhwc",                                    \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co, 0,                                               \
        AT_BENCH_TRANSPOSED_CONV, 2, 1, ci, co, 1, {hw, hw}, {4, 4}, 2, 1, 1, false, 0, NULL)
#define MATRICES(m, n, k, target)                                                                  \
    ROW("GMM", #m "x" #n "x" #k, "batch_matmul", "M=" #m ",N=" #n ",K=" #k ",tb=0", target,        \
        AT_BENCH_PRODUCT, 0, 1, 0, 0, 1, {m, n, k}, {0}, 0, 0, 0, false, 0, NULL)
#define HEADS(s, h, d)                                                                             \
    ROW("TBG", #s "x" #h "x" #d, "examples/te/transpose_batch_matmul.te",                          \
        "S=" #s ",H=" #h ",D=" #d, 0,                                                              \
        AT_BENCH_HEADS, 0, 1, 0, 0, 1, {s, h, d}, {0}, 0, 0, 0, false, 0, NULL)
#define NORM(m, n)                                                                                 \
    ROW("NRM", #m "x" #n, "norm", "M=" #m ",N=" #n, 0,                                             \
        AT_BENCH_NORM, 0, 1, 0, 0, 1, {m * n}, {0}, 0, 0, 0, false, 0, NULL)
#define CAPSULE(hw, ci, co, s)                                                                     \
    ROW("CAP", #ci "@" #hw " to " #co " stride " #s, "conv2d_capsule_nhwijc",                      \
        "H=" #hw ",W=" #hw ",CI=" #ci ",CO=" #co ",strides=" #s, 0,                                \
        AT_BENCH_NO_PEER, 0, 1, 0, 0, 1, {0}, {0}, 0, 0, 0, false, 0, NULL)
#define POOL(kind_, name, hw, c, k, s, p)                                                          \
    ROW("POOL", #name " " #c "@" #hw ", " #k "x" #k, #name "_pool2d_nhwc",                         \
        "H=" #hw ",W=" #hw ",C=" #c ",KH=" #k ",KW=" #k ",strides=" #s ",padding=" #p, 1.0,        \
        kind_, 2, 1, c, c, 1, {hw, hw}, {k, k}, s, p, 1, false, 0, NULL)
#define ROWS_OF(group_, kind_, name, args_, m, n)                                                  \
    ROW(group_, #m "x" #n, #name, args_, 1.0,                                                      \
        kind_, 0, m, n, n, 1, {0}, {0}, 1, 0, 1, false, 0, NULL)
#define SOFTMAX(m, n) ROWS_OF("SFM", AT_BENCH_SOFTMAX, softmax, "Y=" #m ",X=" #n, m, n)
#define LAYER_NORM(m, n) ROWS_OF("LN", AT_BENCH_LAYER_NORM, layer_norm, "M=" #m ",N=" #n, m, n)

static const row rows[] = {
    DEPTHWISE(112, 32, 1), DEPTHWISE(112, 64, 2), DEPTHWISE(56, 128, 1), DEPTHWISE(56, 128, 2),
    DEPTHWISE(28, 256, 1), DEPTHWISE(28, 256, 2), DEPTHWISE(14, 512, 1), DEPTHWISE(14, 512, 2),
    DEPTHWISE(7, 1024, 1),
    BLOCKED(112, 32, 1), BLOCKED(56, 128, 2), BLOCKED(14, 512, 1), BLOCKED(7, 1024, 1),
    MULTIPLIED(56, 64, 2), MULTIPLIED(56, 64, 4), MULTIPLIED(14, 128, 3), MULTIPLIED(14, 128, 8),
    GROUPED(56, 64, 128, 3, 2, 1, 4), GROUPED(56, 64, 64, 1, 1, 0, 4),
    GROUPED(14, 256, 256, 3, 1, 1, 4), GROUPED(7, 512, 512, 3, 1, 1, 4),
    DILATED(224, 3, 64, 7, 2, 3), DILATED(56, 64, 64, 1, 1, 0), DILATED(14, 256, 256, 3, 1, 1),
    DILATED(7, 512, 512, 3, 1, 1),
    CHANNELS_LAST(224, 3, 64, 7, 2, 3), CHANNELS_LAST(56, 64, 64, 1, 1, 0),
    CHANNELS_LAST(14, 256, 256, 3, 1, 1), CHANNELS_LAST(7, 512, 512, 3, 1, 1),
    WITH_RELU(224, 3, 64, 7, 2, 3), WITH_RELU(56, 64, 128, 3, 2, 1),
    WITH_RELU(28, 128, 256, 1, 2, 0), WITH_RELU(7, 512, 512, 3, 1, 1),
    LINE(256, 64, 128, 3, 2, 1), LINE(128, 128, 256, 1, 2, 0), LINE(64, 256, 256, 5, 1, 2),
    LINE(32, 512, 512, 3, 1, 1),
    VOLUME(224, 3, 64, 7, 2, 3), VOLUME(56, 64, 64, 1, 1, 0), VOLUME(14, 256, 256, 3, 1, 1),
    VOLUME(7, 512, 512, 3, 1, 1),
    TRANSPOSED(4, 512, 256), TRANSPOSED(8, 256, 128), TRANSPOSED(16, 128, 64), TRANSPOSED(32, 64, 3),
    MATRICES(128, 128, 128, 1.0), MATRICES(512, 32, 512, 1.5), MATRICES(512, 512, 512, 1.0),
    MATRICES(1024, 1024, 1024, 1.0),
    HEADS(128, 12, 64), HEADS(128, 16, 64), HEADS(64, 12, 128), HEADS(128, 12, 128),
    CAPSULE(16, 32, 32, 2), CAPSULE(8, 32, 32, 1), CAPSULE(16, 8, 16, 2), CAPSULE(8, 16, 16, 1),
    NORM(256, 256), NORM(512, 512), NORM(1024, 1024), NORM(4096, 1024),
    POOL(AT_BENCH_MAX_POOL, max, 112, 64, 3, 2, 1), POOL(AT_BENCH_MAX_POOL, max, 56, 128, 2, 2, 0),
    POOL(AT_BENCH_MAX_POOL, max, 14, 480, 3, 1, 1),
    POOL(AT_BENCH_AVG_POOL, avg, 56, 128, 2, 2, 0), POOL(AT_BENCH_AVG_POOL, avg, 7, 1024, 7, 1, 0),
    SOFTMAX(256, 256), SOFTMAX(512, 512), SOFTMAX(1024, 1024), SOFTMAX(2048, 2048),
    LAYER_NORM(128, 768), LAYER_NORM(512, 768), LAYER_NORM(512, 1024), LAYER_NORM(2048, 2048),
};
/* clang-format on */

static bool is_openblas(const row *r) {
    return r->op.kind == AT_BENCH_PRODUCT || r->op.kind == AT_BENCH_HEADS ||
           r->op.kind == AT_BENCH_NORM;
}

static const float *tensor(const at_bench_data *d, const char *name) {
    int t = at_compute_find(d->compute, name);
    return t < 0 ? NULL : d->tensor[t];
}

static at_status open_openblas(at_arena *a, const row *r, const at_bench_data *d,
                               at_bench_contender *out, at_error *err) {
    int result = at_compute_find(d->compute, "out");
    at_openblas_product *p =
        r->op.kind == AT_BENCH_HEADS
            ? at_openblas_heads_new(a, r->op.in, tensor(d, "query"), tensor(d, "key"))
        : r->op.kind == AT_BENCH_NORM
            ? at_openblas_norm_new(a, r->op.in[0], tensor(d, "data"))
            : at_openblas_product_new(a, r->op.in, tensor(d, "a"), tensor(d, "b"), false, NULL);
    *out = at_openblas_product_contender(p);
    return at_bench_check("OpenBLAS", at_openblas_product_output(p), d->tensor[result],
                          d->elements[result], d->within, err);
}

/* The channels of blocked layouts are brought together for oneDNN. */
static const float *channels_last(const at_bench_data *d, const at_program *p, const char *name,
                                  int64_t inner, bool blocked) {
    int t = at_compute_find(d->compute, name);
    if (t < 0 || !blocked) return t < 0 ? NULL : d->tensor[t];
    int64_t block = p->extents[t][d->compute->tensors[t].num_axes - 1];
    return at_bench_unblocked(d->tensor[t], 1, d->elements[t] / inner / block, inner, block);
}

static const float *scales_and_shifts(const at_bench_data *d, int n) {
    float *both = at_bench_alloc(2LL * n * 4);
    memcpy(both, tensor(d, "gamma"), (size_t)n * sizeof *both);
    memcpy(both + n, tensor(d, "beta"), (size_t)n * sizeof *both);
    return both;
}

static at_status open_onednn(const row *r, const at_program *p, const at_bench_data *d,
                             at_onednn **out, at_error *err) {
    at_bench_op with = r->op;
    const at_bench_op *op = &with;
    with.bias = tensor(d, "bias");
    int o[3], result = at_compute_find(d->compute, "out");
    bool blocked = strstr(r->search.template_name, "NCHWc") != NULL;
    at_bench_op_out(op, o);
    const float *data = channels_last(d, p, op->kind == AT_BENCH_SOFTMAX ? "x" : "data",
                                      op->in[0] * op->in[1], blocked);
    const float *weight = channels_last(d, p, "weight", op->kernel[0] * op->kernel[1], blocked);
    const float *expected = channels_last(d, p, "out", o[0] * o[1], blocked);
    float *got = at_bench_alloc(d->elements[result] * 4);
    if (op->kind == AT_BENCH_LAYER_NORM) weight = scales_and_shifts(d, op->ic);
    if (!(*out = at_onednn_op(op, data, weight, err))) return err->status;
    at_onednn_output(*out, got);
    return at_bench_check("oneDNN", got, expected, d->elements[result], d->within, err);
}

typedef struct copying {
    const float *from;
    float *to;
    size_t size_bytes;
} copying;

static void copy(void *context) {
    const copying *c = context;
    memcpy(c->to, c->from, c->size_bytes);
}

/* Rows go through memory: of those that exceed the second-level cache a copy of as many bytes says
 * how fast that can be. */
static bool is_copied(const row *r, const at_bench_data *d, copying *c, at_bench_contender *out) {
    if (r->op.kind != AT_BENCH_SOFTMAX && r->op.kind != AT_BENCH_LAYER_NORM) return false;
    int result = at_compute_find(d->compute, "out");
    c->size_bytes = (size_t)d->elements[result] * 4;
    if (2 * (int64_t)c->size_bytes <= at_cpu_facts()->l2_bytes) return false;
    c->from = tensor(d, r->op.kind == AT_BENCH_SOFTMAX ? "x" : "data");
    c->to = at_bench_alloc((int64_t)c->size_bytes);
    *out = (at_bench_contender){copy, c, 1};
    return true;
}

static void report(at_arena *a, const row *r, const at_bench_contest *c, const char *peer,
                   bool copied) {
    const char *name = at_format(a, "%s %s", r->group, r->search.name);
    if (peer)
        at_bench_report_row(at_format(a, "%s %s", name, peer),
                            at_bench_contest_speed(c, OURS, PEER),
                            r->target > 0 ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE, r->target);
    else
        at_bench_report_row(at_format(a, "%s of the FMA peak", name),
                            at_bench_contest_of_peak(c, OURS), AT_BENCH_GOAL_NONE, 0);
    if (copied)
        at_bench_report_row(at_format(a, "%s a copy of the bytes", name),
                            at_bench_contest_speed(c, OURS, COPY), AT_BENCH_GOAL_LEAST, 0.8);
}

static at_status contest(at_arena *a, const void *of_row, const at_program *program,
                         at_bench_kernel *kernel, const at_bench_data *data, at_error *err) {
    const row *r = of_row;
    at_bench_contender of[MOST_CONTENDERS];
    at_bench_contest c;
    at_onednn *onednn = NULL;
    copying copied;
    at_status s = AT_OK;
    int n = r->op.kind == AT_BENCH_NO_PEER ? 1 : 2;
    of[OURS] = at_bench_kernel_contender(kernel);
    if (is_openblas(r)) s = open_openblas(a, r, data, &of[PEER], err);
    else if (n > PEER) {
        s = open_onednn(r, program, data, &onednn, err);
        if (s == AT_OK) of[PEER] = at_onednn_contender(onednn);
    }
    if (s == AT_OK) {
        n += is_copied(r, data, &copied, &of[COPY]);
        at_bench_contest_run(&c, of, n, at_bench_target());
        report(a, r, &c,
               onednn                        ? at_onednn_kernel(onednn)
               : n == 1                      ? NULL
               : r->op.kind == AT_BENCH_NORM ? "snrm2"
                                             : "sgemm",
               n > COPY);
    }
    at_onednn_free(onednn);
    return s;
}

static at_status run(at_arena *a, int i, at_error *err) {
    return at_bench_best_meets(a, &rows[i].search, contest, &rows[i], err);
}

at_status at_bench_operators(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("Operators, best of 200 trials, tcc, against", "ratio", 2);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++) {
        const char *missing = rows[i].op.kind == AT_BENCH_NO_PEER ? NULL
                              : is_openblas(&rows[i]) ? at_openblas_about() ? NULL : "no OpenBLAS"
                              : at_onednn_about()     ? NULL
                                                      : "no oneDNN";
        if (!at_bench_is_wanted(rows[i].group)) continue;
        if (missing) at_bench_report_skip(rows[i].search.name, missing);
        else s = at_bench_row(run, i, rows[i].search.name, err);
    }
    if (s == AT_OK && at_bench_is_wanted("FUN")) s = at_bench_functions(err);
    return s;
}
