/* bench/peers_tvm.c: what TVM's searches found (tools/tvm-search), as shared objects that run
 * without TVM: the few functions of its runtime that such an object calls are given to it here.
 * Source of structures and signatures: TVM 0.19, include/tvm/runtime/c_backend_api.h,
 * c_runtime_api.h and DLPack. */
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { FLOAT_CODE = 2, CPU = 1, TENSOR_CODE = 7, MOST_TENSORS = 8, MOST_BYTES = 64 << 20 };

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef union tvm_value {
    int64_t integer;
    double number;
    void *handle;
} tvm_value;

typedef int tvm_function(tvm_value *args, int *codes, int n, tvm_value *ret, int *ret_code,
                         void *resource);
typedef struct tvm_group {
    void *sync;
    int32_t num_task;
} tvm_group;

struct at_tvm {
    void *library;
    tvm_function *run;
    dl_tensor tensor[MOST_TENSORS];
    tvm_value args[MOST_TENSORS];
    int codes[MOST_TENSORS], num_tensors;
    float *out; /* its own */
    double flops, search_s;
    int trials;
};

/* ---- the runtime ----------------------------------------------------------------------------- */

static void *alloc_workspace(int device, int id, uint64_t size, int code, int bits) {
    (void)device, (void)id, (void)code, (void)bits;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static int free_workspace(int device, int id, void *p) {
    (void)device, (void)id;
    free(p);
    return 0;
}

static int launch(int (*body)(int task, tvm_group *group, void *data), void *data, int num_task) {
    tvm_group one = {.num_task = 1};
    (void)num_task;
    return body(0, &one, data);
}

static void set_error(const char *text) { fprintf(stderr, "TVM's kernel: %s\n", text); }

/* An object has places for those that it calls. */
static void give(void *library, const char *name, void *function) {
    void **place = dlsym(library, name);
    if (place) *place = function;
}

static void give_runtime(void *library) {
    give(library, "__TVMAPISetLastError", (void *)set_error);
    give(library, "__TVMBackendParallelLaunch", (void *)launch);
    give(library, "__TVMBackendAllocWorkspace", (void *)alloc_workspace);
    give(library, "__TVMBackendFreeWorkspace", (void *)free_workspace);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Inputs in the order of declaration, then the output. */
static at_status bind(at_arena *a, at_tvm *t, const at_json *shapes, const at_bench_data *d,
                      at_error *err) {
    const at_compute *c = d->compute;
    at_bench_alloc_block();
    for (int out = 0; out < 2; out++)
        for (int i = 0; i < c->num_tensors; i++) {
            if (!d->tensor[i] || c->tensors[i].is_output != (out == 1)) continue;
            int n = t->num_tensors++;
            const at_json *shape = shapes && n < MOST_TENSORS ? at_json_at(shapes, n) : NULL;
            int64_t elements = 1;
            if (!shape) return at_fail(err, AT_E_NO_VALID, "its tensors are not ours");
            dl_tensor *x = &t->tensor[n];
            *x = (dl_tensor){.device_type = CPU,
                             .ndim = shape->count,
                             .code = FLOAT_CODE,
                             .bits = 32,
                             .lanes = 1,
                             .shape = AT_NEW_ARRAY(a, int64_t, shape->count + 1)};
            for (int k = 0; k < shape->count; k++)
                elements *= x->shape[k] = at_json_at(shape, k)->integer;
            if (elements != d->elements[i])
                return at_fail(err, AT_E_NO_VALID, "its tensor %d has %lld elements, ours %lld", n,
                               (long long)elements, (long long)d->elements[i]);
            x->data = out ? (t->out = at_bench_alloc(elements * 4)) : d->tensor[i];
            t->args[n].handle = x;
            t->codes[n] = TENSOR_CODE;
        }
    return AT_OK;
}

static int call(at_tvm *t) {
    tvm_value ret;
    int ret_code = 0;
    return t->run(t->args, t->codes, t->num_tensors, &ret, &ret_code, NULL);
}

static void run(void *context) { call(context); }

static at_status check(at_tvm *t, const char *who, const at_bench_data *d, at_error *err) {
    int failed = call(t);
    if (failed) return at_fail(err, AT_E_BUG, "%s: the kernel returned %d", who, failed);
    for (int i = 0; i < d->compute->num_tensors; i++)
        if (d->tensor[i] && d->compute->tensors[i].is_output)
            AT_TRY(at_bench_check(who, t->out, d->tensor[i], d->elements[i], d->within, err));
    return AT_OK;
}

at_status at_tvm_open(at_arena *a, const char *path, const at_bench_data *d, at_tvm **out,
                      at_error *err) {
    at_tvm *t = AT_NEW(a, at_tvm);
    const at_json *about;
    char *text;
    size_t length;
    *out = t;
    AT_TRY(at_read_file(a, at_format(a, "%s.json", path), MOST_BYTES, &text, &length, err));
    AT_TRY(at_json_parse(a, text, length, &about, err));
    const at_json *seconds = at_json_get(about, "seconds"), *trials = at_json_get(about, "trials");
    if (!seconds || !trials) return at_fail(err, AT_E_NO_VALID, "%s.json lacks its search", path);
    t->search_s = seconds->number;
    t->trials = (int)trials->integer;
    t->library = dlopen(at_format(a, "%s.so", path), RTLD_NOW | RTLD_LOCAL);
    if (t->library) t->run = (tvm_function *)dlsym(t->library, "main");
    if (!t->run) return at_fail(err, AT_E_NO_VALID, "%s.so: %s", path, dlerror());
    give_runtime(t->library);
    t->flops = d->flops;
    AT_TRY(bind(a, t, at_json_get(about, "shapes"), d, err));
    return check(t, path, d, err);
}

void at_tvm_close(at_tvm *t) {
    if (t && t->library) dlclose(t->library);
    if (t) t->library = NULL;
}

double at_tvm_search_s(const at_tvm *t) { return t->search_s; }
int at_tvm_trials(const at_tvm *t) { return t->trials; }
at_bench_contender at_tvm_contender(at_tvm *t) { return (at_bench_contender){run, t, t->flops}; }
