/* examples/library.c: a matrix product, tuned the first time, loaded the next times, through
 * libautotune. No compiler is needed where this runs.
 *     cc -O2 library.c -lautotune -o library && ./library */
#include <autotune.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 64, N = 128, K = 96 };

typedef void dense_fn(const float *data, const float *weight, float *out, void *workspace);

static int progress(void *ctx, const at_lib_progress *p) {
    (void)ctx;
    fprintf(stderr, "\r%d of %d trials, best %.1f GFLOP/s ", (int)p->done, (int)p->total,
            p->best_gflops);
    return 0; /* go on */
}

/* out[m, n] = sum of data[m, k] * weight[n, k]; how many elements differ. */
static int count_wrong(const float *data, const float *weight, const float *out) {
    int wrong = 0;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += data[m * K + k] * weight[n * K + k];
            wrong += out[m * N + n] != sum;
        }
    return wrong;
}

int main(int argc, char **argv) {
    static float data[M * K], weight[N * K], out[M * N];
    const char *log = argc > 1 ? argv[1] : "dense.log";
    at_lib *lib = at_lib_new();
    at_lib_task *task = at_lib_task_new(lib, "dense", "M=64,N=128,K=96");
    at_lib_set(task, "trials", "40");
    at_lib_kernel *kernel = at_lib_load_log(task, log);
    if (!kernel && !at_lib_tune(task, log, progress, NULL)) { /* nothing is there yet */
        fputs("\n", stderr);
        kernel = at_lib_load_log(task, log);
    }
    if (!kernel) {
        fprintf(stderr, "%s\n", at_lib_error(lib));
        return 1;
    }
    for (int i = 0; i < M * K; i++) data[i] = (float)(i % 7 - 3);
    for (int i = 0; i < N * K; i++) weight[i] = (float)(i % 5 - 2);
    void *workspace = malloc(at_lib_workspace_bytes(kernel));
    dense_fn *dense = (dense_fn *)at_lib_function(kernel, AT_LIB_PLAIN);
    dense(data, weight, out, workspace);
    int wrong = count_wrong(data, weight, out);
    printf("%s for %s: %d of %d elements wrong\n", at_lib_kernel_source(kernel),
           at_lib_isa(kernel), wrong, M * N);
    free(workspace);
    at_lib_kernel_free(kernel);
    at_lib_task_free(task);
    at_lib_free(lib);
    return wrong != 0;
}
