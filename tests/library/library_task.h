/* tests/library/library_task.h: what tests of the library share: a quick task, and a kernel of it
 * against plain loops. */
#ifndef AT_TESTS_LIBRARY_TASK_H
#define AT_TESTS_LIBRARY_TASK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "library/autotune.h"
#include "tests/folder.h"

#include <stdlib.h>
#include <string.h>

typedef struct path {
    char text[128];
} path;

static inline path in_folder(const char *name) {
    path p;
    snprintf(p.text, sizeof p.text, "%s/%s", folder, name);
    return p;
}

static inline at_lib *new_lib(void) {
    at_lib *lib = at_lib_new();
    assert_non_null(lib);
    assert_int_equal(at_lib_set_worker(lib, "/proc/self/exe"), AT_LIB_OK);
    return lib;
}

/* A task whose search is short and the same every time. */
static inline at_lib_task *new_task(at_lib *lib, const char *name, const char *args,
                                    const char *trials) {
    at_lib_task *t = at_lib_task_new(lib, name, args);
    if (!t) fail_msg("%s", at_lib_error(lib));
    static const char *const quick[][2] = {
        {"tuner", "grid"}, {"number", "1"}, {"repeat", "2"}, {"isa", "scalar"}};
    for (int i = 0; i < 4; i++) assert_int_equal(at_lib_set(t, quick[i][0], quick[i][1]), 0);
    assert_int_equal(at_lib_set(t, "trials", trials), 0);
    return t;
}

static inline void tune(at_lib *lib, at_lib_task *t, const char *log) {
    if (at_lib_tune(t, log, NULL, NULL)) fail_msg("%s", at_lib_error(lib));
}

static inline void fill(float *x, int64_t n, int seed) {
    for (int64_t i = 0; i < n; i++) x[i] = (float)((i * 7 + seed) % 9 - 4);
}

enum { M = 12, N = 32, K = 20 };
static const char dense_args[] = "M=12,N=32,K=20";

static inline void expect_dense(const float *data, const float *weight, const float *out) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += data[m * K + k] * weight[n * K + k];
            if (out[m * N + n] != sum) fail_msg("[%d, %d]: %g, not %g", m, n, out[m * N + n], sum);
        }
}

/* Plain, by an array, and packed before; whatever the workspace's alignment. */
static inline void check_dense(const at_lib_kernel *k) {
    static float data[M * K], weight[N * K], out[M * N];
    char *workspace = malloc(at_lib_workspace_bytes(k) + 4);
    void *packed = malloc(at_lib_packed_bytes(k));
    at_lib_tensor t;
    fill(data, M * K, 1), fill(weight, N * K, 5);
    assert_int_equal(at_lib_tensor_count(k), 3);
    assert_int_equal(at_lib_tensor_at(k, 1, &t), 0);
    assert_string_equal(t.name, "weight");
    assert_true(t.num_dims == 2 && t.dims[0] == N && t.dims[1] == K && !t.is_output && t.is_packed);
    assert_int_equal(t.size_bytes, sizeof weight);

    typedef void plain(const float *, const float *, float *, void *);
    ((plain *)at_lib_function(k, AT_LIB_PLAIN))(data, weight, out, workspace + 4);
    expect_dense(data, weight, out);
    memset(out, 0xff, sizeof out);
    void *tensors[] = {data, weight, out};
    assert_int_equal(at_lib_call(k, tensors, workspace), 0);
    expect_dense(data, weight, out);

    typedef void pack(const float *, void *);
    typedef void fast(const float *, const void *, float *, void *);
    assert_string_equal(at_lib_prototype(k, AT_LIB_PACK),
                        "void kernel_pack(const float *weight, void *packed)");
    memset(out, 0xff, sizeof out);
    ((pack *)at_lib_function(k, AT_LIB_PACK))(weight, packed);
    ((fast *)at_lib_function(k, AT_LIB_IN_BLOCKS))(data, packed, out, workspace);
    expect_dense(data, weight, out);
    free(workspace);
    free(packed);
}

#endif
