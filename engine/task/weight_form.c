/* engine/task/weight_form.c: see weight_form.h. */
#include "engine/task/weight_form.h"

#include <string.h>

/* Axes of a weight, and how far apart their elements are. */
enum { KH, KW, CI, CO, NUM_AXES };
typedef struct lie {
    int64_t stride[NUM_AXES];
} lie;

static int64_t inner(const at_weight_form *f) { return f->kh * f->kw * f->ci; }

static bool has_dims(const at_input *in, int n, const int64_t *dims) {
    return in->num_dims == n && !memcmp(in->dims, dims, sizeof *dims * (size_t)n);
}

static lie outputs_last(const at_weight_form *f) {
    return (lie){{f->kw * f->ci * f->co, f->ci * f->co, f->co, 1}};
}

static lie outputs_first(const at_weight_form *f) {
    return (lie){{f->kw * f->ci, f->ci, 1, inner(f)}};
}

static bool find_lie(const at_weight_form *f, const at_input *in, lie *out) {
    if (has_dims(in, 2, (int64_t[]){f->co, inner(f)})) return *out = outputs_first(f), true;
    if (in->sparse) return false;
    if (has_dims(in, 4, (int64_t[]){f->kh, f->kw, f->ci, f->co}))
        return *out = outputs_last(f), true;
    *out = (lie){{f->kw, 1, f->kh * f->kw, inner(f)}};
    return has_dims(in, 4, (int64_t[]){f->co, f->ci, f->kh, f->kw});
}

static const float *reorder(at_arena *a, const at_weight_form *f, const lie *from, const lie *to,
                            const float *values) {
    const int64_t *x = from->stride, *y = to->stride;
    float *out = AT_NEW_ARRAY(a, float, inner(f) * f->co);
    for (int64_t h = 0; h < f->kh; h++)
        for (int64_t w = 0; w < f->kw; w++)
            for (int64_t c = 0; c < f->ci; c++)
                for (int64_t o = 0; o < f->co; o++)
                    out[h * y[KH] + w * y[KW] + c * y[CI] + o * y[CO]] =
                        values[h * x[KH] + w * x[KW] + c * x[CI] + o * x[CO]];
    return out;
}

/* A matrix of blocks with what it does not store. */
static const float *in_full(at_arena *a, const at_input *in) {
    float *out = AT_NEW_ARRAY(a, float, in->dims[0] * in->dims[1]);
    for (int64_t e = 0; e < in->nnz; e++)
        for (int64_t i = 0; i < in->r * in->c; i++) {
            int64_t row = in->rows[e] * in->r + i / in->c;
            out[row * in->dims[1] + in->columns[e] * in->c + i % in->c] =
                in->values[e * in->r * in->c + i];
        }
    return out;
}

const char *at_weight_dims_text(at_arena *a, const int64_t *dims, int n) {
    const char *text = n ? "" : "a single number";
    for (int i = 0; i < n; i++)
        text = at_format(a, "%s%s%lld", text, i ? " x " : "", (long long)dims[i]);
    return text;
}

static at_status wrong_shape(at_arena *a, const char *path, const at_weight_form *f,
                             const at_input *in, at_error *err) {
    return at_fail(err, AT_E_USAGE,
                   "--weight %s: it is %s%s, which is none of [KH, KW, CI, CO] = %s, "
                   "[CO, CI, KH, KW] and, as a matrix, [CO, KH*KW*CI] = %s",
                   path, in->sparse ? "a matrix of " : "",
                   at_weight_dims_text(a, in->dims, in->num_dims),
                   at_weight_dims_text(a, (int64_t[]){f->kh, f->kw, f->ci, f->co}, 4),
                   at_weight_dims_text(a, (int64_t[]){f->co, inner(f)}, 2));
}

/* A few bytes may name a matrix that no memory holds. */
static at_status check_memory(const char *path, const at_weight_form *f, at_error *err) {
    const double gib = 1 << 30, bytes = (double)inner(f) * (double)f->co * sizeof(float);
    const double memory = (double)at_cpu_facts()->memory_bytes;
    if (bytes <= memory) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--weight %s: in full it needs %.1f GiB, this machine has %.1f GiB", path,
                   bytes / gib, memory / gib);
}

at_status at_weight_read(at_arena *a, const char *path, at_input *out, at_error *err) {
    return at_input_read(a, path, out, err) == AT_OK ? AT_OK : at_fail_at(err, "--weight: ");
}

at_status at_weight_in_form(at_arena *a, const char *path, const at_input *file,
                            const at_weight_form *f, at_input *out, at_error *err) {
    lie from;
    if (!find_lie(f, file, &from)) return wrong_shape(a, path, f, file, err);
    *out = *file;
    if (!file->values) return AT_OK;
    AT_TRY(check_memory(path, f, err));
    const float *values = file->sparse ? in_full(a, file) : file->values;
    lie to = f->outputs_first ? outputs_first(f) : outputs_last(f);
    *out = (at_input){.values = memcmp(&from, &to, sizeof to) ? reorder(a, f, &from, &to, values)
                                                              : values};
    if (f->outputs_first) {
        out->num_dims = 2;
        out->dims[0] = f->co, out->dims[1] = inner(f);
        return AT_OK;
    }
    out->num_dims = 4;
    out->dims[0] = f->kh, out->dims[1] = f->kw, out->dims[2] = f->ci, out->dims[3] = f->co;
    return AT_OK;
}

int64_t at_weight_form_zeros(const at_weight_form *f, const at_input *in) {
    int64_t n = inner(f) * f->co, stored = in->sparse ? in->nnz * in->r * in->c : n, others = 0;
    if (!in->values) return n - stored;
    for (int64_t i = 0; i < stored; i++) others += in->values[i] != 0;
    return n - others;
}
