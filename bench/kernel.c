/* bench/kernel.c: kernels compiled, loaded and checked in this process, so that they and their
 * peers can be timed in turn on one core.
 *
 * Data are the tool's: small integers, on which every order of summation is exact. Outputs are
 * compared bit by bit with the naive reference, those of divisions and functions within 1e-4 (the
 * tool compares them with limits of their own); a wrong kernel ends the part. */
#include "bench/bench.h"

#include "engine/engine.h"
#include "runtime/inside.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

static const double compile_timeout_s = 60;
enum { MOST_THREADS = 2 }; /* threads.c */

at_status at_bench_load(const at_job *job, at_bench_kernel *out, at_error *err) {
    static bool tcc_ready;
    at_code code;
    char text[1024] = "";
    if (job->compiler == AT_TCC && !tcc_ready) {
        if (!at_tcc_init(text, sizeof text)) return at_fail(err, AT_E_BUG, "%s", text);
        tcc_ready = true;
    }
    at_job with_file = *job;
    if (job->compiler != AT_TCC) with_file.object_fd = open(job->object, O_RDONLY | O_CLOEXEC);
    int failed = job->compiler == AT_TCC ? at_tcc_load(job, AT_ARENA_JOB, &code, text, sizeof text)
                                         : at_so_load(&with_file, &code, text, sizeof text);
    if (failed) return at_fail(err, AT_E_BUG, "%s", text);
    out->entry = code.entry;
    out->pack = code.pack;
    out->handle = code.handle;
    out->object_fd = code.object_fd;
    return AT_OK;
}

/* TinyCC's code that stays, so that several kernels are there at once. */
static at_status load_resident(const at_job *job, at_bench_kernel *out, at_error *err) {
    const char *names[] = {job->entry, job->pack};
    void *found[2] = {NULL};
    const at_unit unit = {.source = job->source,
                          .blobs = job->blobs,
                          .num_blobs = job->num_blobs,
                          .names = names,
                          .num_names = job->pack ? 2 : 1,
                          .is_written = true};
    AT_TRY(at_resident_new(&unit, found, &out->resident, err));
    out->entry = (at_kernel_fn *)found[0];
    out->pack = (at_kernel_fn *)found[1];
    return AT_OK;
}

void at_bench_kernel_close(at_bench_kernel *k) {
    at_resident_free(k->resident);
    k->resident = NULL;
    at_code code = {.handle = k->handle, .object_fd = k->object_fd};
    at_so_unload(&code);
    if (k->object) at_object_remove(k->object);
    k->handle = NULL;
    k->object_fd = 0;
    k->object = NULL;
}

/* What gcc and clang compile becomes an object; TinyCC takes the text. */
static at_status build(at_arena *a, at_job *job, const char *flags, at_error *err) {
    at_object made;
    if (job->compiler == AT_TCC) return AT_OK;
    AT_TRY(
        at_build_object(a, job->compiler, job->source, flags, compile_timeout_s, NULL, &made, err));
    if (made.end) return at_fail(err, AT_E_BUG, "%s", made.error);
    job->object = made.path;
    return AT_OK;
}

/* ---- data ------------------------------------------------------------------------------------ */

static at_status run_reference(at_arena *a, const at_bench_data *d, at_error *err) {
    at_text source = {0};
    int64_t workspace_bytes;
    at_job job = {.compiler = at_compiler_available(AT_GCC) ? AT_GCC : AT_TCC,
                  .entry = "reference"};
    bool exact = d->within == 0; /* else in double, with limits that are not needed here */
    AT_TRY((exact ? at_compute_reference_c : at_compute_limits_c)(
        a, d->compute, d->values, job.entry, &source, &workspace_bytes, err));
    job.source = at_text_take(a, &source);

    void **buf = AT_NEW_ARRAY(a, void *, 2 * d->compute->num_tensors);
    int n = 0;
    for (int outputs = 0; outputs < 2; outputs++)
        for (int t = 0; t < d->compute->num_tensors; t++)
            if (d->tensor[t] && d->compute->tensors[t].is_output == (outputs == 1))
                buf[n++] = d->tensor[t];
    for (int t = 0; t < d->compute->num_tensors && !exact; t++)
        if (d->tensor[t] && d->compute->tensors[t].is_output)
            buf[n++] = at_alloc(a, (size_t)d->elements[t] * 4);

    at_bench_kernel k = {0};
    AT_TRY(build(a, &job, "-O2", err));
    k.object = job.object;
    at_status s = at_bench_load(&job, &k, err);
    if (s == AT_OK) {
        char *workspace = at_alloc(a, (size_t)workspace_bytes + 64);
        workspace += 64 - (uintptr_t)workspace % 64;
        int failed = k.entry(buf, workspace, NULL);
        if (failed) s = at_fail(err, AT_E_BUG, "the reference returned %d", failed);
    }
    at_bench_kernel_close(&k);
    return s;
}

/* All bytes, small integers of more, and floats that bring sums of a thousand products of bytes to
 * a byte. */
static void fill_typed(at_type type, void *to, int64_t n, at_rng *rng) {
    const size_t bytes = (size_t)at_type_bytes(type);
    for (int64_t i = 0; i < n; i++) {
        const float factor = 1e-4f * (float)(1 + (int)at_rng_below(rng, 4));
        const int32_t whole = (int32_t)at_rng_below(rng, 256) - 128 * (type != AT_U8);
        if (type == AT_F32) memcpy((char *)to + bytes * (size_t)i, &factor, bytes);
        else memcpy((char *)to + bytes * (size_t)i, &whole, bytes);
    }
}

static at_status fill(at_arena *a, const at_compute *c, const int64_t *values, int64_t longest,
                      at_bench_data *out, at_error *err) {
    int64_t **extents;
    at_bench_data d = {.compute = c, .values = values};
    int b = at_compute_exact_range(c, values, NULL, longest);
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    if (!b) {
        d.within = 1e-4;
        b = 8;
    }
    at_bench_alloc_block();
    d.tensor = AT_NEW_ARRAY(a, float *, c->num_tensors);
    d.elements = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *tensor = &c->tensors[t];
        if (tensor->role == AT_ROLE_STAGE && !tensor->is_output) continue;
        d.elements[t] = 1;
        for (int i = 0; i < tensor->num_axes; i++) d.elements[t] *= extents[t][i];
        d.tensor[t] = at_bench_alloc(d.elements[t] * 4);
        if (tensor->is_output) continue;
        at_rng rng;
        at_rng_seed(&rng, 0, (uint64_t)t + 1);
        if (c->in_steps && tensor->role != AT_ROLE_INDEX) {
            fill_typed(tensor->type, d.tensor[t], d.elements[t], &rng);
            continue;
        }
        /* Sums of a recurrent net stay so small that its gates are neither open nor shut: then some
         * of its numbers would be subnormal. */
        const bool is_small = c->num_cycles && tensor->role == AT_ROLE_WEIGHT && tensor->num_axes;
        const float unit = is_small ? 0.0625f / (float)extents[t][tensor->num_axes - 1] : 1;
        for (int64_t i = 0; i < d.elements[t]; i++)
            d.tensor[t][i] =
                unit * (float)((int)at_rng_below(&rng, (uint64_t)(b + b / 2 + 1)) - b / 2);
    }
    *out = d;
    return AT_OK;
}

at_status at_bench_data_new(at_arena *a, const at_compute *c, const int64_t *values,
                            at_bench_data *out, at_error *err) {
    AT_TRY(fill(a, c, values, 0, out, err));
    out->flops = at_compute_flops(c, values, NULL);
    return run_reference(a, out, err);
}

at_status at_bench_data_sparse(at_arena *a, const at_task *task, const at_program *p,
                               const at_pattern *pattern, at_bench_data *out, at_error *err) {
    at_bsr b;
    AT_TRY(fill(a, p->compute, p->values, pattern->longest, out, err));
    if (!at_task_bsr(task, &b)) return at_fail(err, AT_E_BUG, "a task without sparse weights");
    memcpy(out->tensor[b.indices], pattern->indices,
           sizeof *pattern->indices * (size_t)pattern->nnz);
    memcpy(out->tensor[b.indptr], pattern->indptr,
           sizeof *pattern->indptr * (size_t)(pattern->rows + 1));
    out->flops = at_task_flops(task);
    return run_reference(a, out, err);
}

at_status at_bench_check(const char *who, const float *got, const float *expected, int64_t n,
                         double within, at_error *err) {
    double squares = 0;
    for (int64_t i = 0; i < n && within > 0; i++)
        if (isfinite(expected[i])) squares += (double)expected[i] * (double)expected[i];
    double most = within > 0 ? within * sqrt(squares / (double)n) : 0;
    for (int64_t i = 0; i < n; i++)
        if (got[i] != expected[i] && !(isnan(got[i]) && isnan(expected[i])) &&
            !(fabs((double)got[i] - (double)expected[i]) <= most))
            return at_fail(err, AT_E_DIFFERS, "%s: element %lld is %g, the reference has %g", who,
                           (long long)i, (double)got[i], (double)expected[i]);
    return AT_OK;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void run(void *context) {
    at_bench_kernel *k = context;
    k->entry(k->buf, k->workspace, &k->par);
}

at_bench_contender at_bench_kernel_contender(at_bench_kernel *k) {
    return (at_bench_contender){run, k, k->flops};
}

/* Places are numbers of tensors. */
static at_job make_job(at_arena *a, const at_kernel *k, const at_bench_data *data) {
    int64_t *tensors = AT_NEW_ARRAY(a, int64_t, data->compute->num_tensors);
    for (int t = 0; t < data->compute->num_tensors; t++) tensors[t] = t;
    return at_kernel_job(a, k, MOST_THREADS, &(at_places){.at = tensors, .expected = tensors});
}

static at_status bind(at_arena *a, const at_job *job, const at_bench_data *data, at_bench_kernel *r,
                      at_error *err) {
    r->buf = AT_NEW_ARRAY(a, void *, job->num_bufs);
    at_bench_alloc_block();
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_OUT) r->buf[i] = at_bench_alloc(job->bufs[i].size_bytes);
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        const int64_t elements = b->size_bytes / at_type_bytes(b->type);
        if (b->role != AT_BUF_PACKED && elements != data->elements[b->offset])
            return at_fail(err, AT_E_BUG, "%s has %lld elements, the data %lld", b->name,
                           (long long)elements, (long long)data->elements[b->offset]);
        if (b->role == AT_BUF_IN) r->buf[i] = data->tensor[b->offset];
        if (b->role == AT_BUF_PACKED) r->buf[i] = at_bench_alloc(b->size_bytes);
        if (b->role == AT_BUF_OUT) at_poison(r->buf[i], b->size_bytes / 4 * 4, AT_POISON_OUT);
    }
    r->workspace = at_bench_alloc(job->workspace_bytes);
    at_poison(r->workspace, job->workspace_bytes / 4 * 4, AT_POISON_WORK);
    at_par_setup(&r->par, 1);
    return AT_OK;
}

/* Of integers. */
static at_status same_bytes(const char *who, const void *got, const void *expected, int64_t n,
                            at_error *err) {
    for (int64_t i = 0; i < n; i++)
        if (((const char *)got)[i] != ((const char *)expected)[i])
            return at_fail(err, AT_E_DIFFERS, "%s: byte %lld is not the reference's", who,
                           (long long)i);
    return AT_OK;
}

static at_status first_run(const at_job *job, const at_bench_data *data, at_bench_kernel *b,
                           const char *who, at_error *err) {
    int failed = b->pack ? b->pack(b->buf, b->workspace, &b->par) : 0;
    if (!failed) failed = b->entry(b->buf, b->workspace, &b->par);
    if (failed) return at_fail(err, AT_E_BUG, "%s: the kernel returned %d", who, failed);
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_OUT && at_type_of(job->bufs[i].type)->is_int)
            AT_TRY(same_bytes(who, b->buf[i], data->tensor[job->bufs[i].offset],
                              job->bufs[i].size_bytes, err));
        else if (job->bufs[i].role == AT_BUF_OUT)
            AT_TRY(at_bench_check(who, b->buf[i], data->tensor[job->bufs[i].offset],
                                  job->bufs[i].size_bytes / 4, data->within, err));
    return AT_OK;
}

const at_target *at_bench_target(void) {
    return at_target_find(at_vector_set_name(at_cpu_best_set()));
}

at_lower_options at_bench_lower_options(const at_target *target) {
    return (at_lower_options){.dialect = AT_DIALECT_TCC,
                              .target = target,
                              .name = "kernel",
                              .prefetch_above = at_cpu_facts()->l2_bytes,
                              .prefetch_apart_above = at_cpu_facts()->l3_bytes};
}

at_status at_bench_kernel_open(at_arena *a, const at_program *p, const at_lower_options *o,
                               at_compiler compiler, const char *flags, const at_bench_data *data,
                               at_bench_kernel *out, at_error *err) {
    at_kernel *k;
    *out = (at_bench_kernel){0};
    AT_TRY(at_lower(a, p, o, &k, err));
    at_job job = make_job(a, k, data);
    job.compiler = compiler;
    AT_TRY(bind(a, &job, data, out, err));
    AT_TRY(build(a, &job, flags, err));
    out->object = job.object;
    out->flops = data->flops;
    at_status s =
        compiler == AT_TCC ? load_resident(&job, out, err) : at_bench_load(&job, out, err);
    if (s == AT_OK) s = first_run(&job, data, out, at_compiler_name(compiler), err);
    if (s != AT_OK) at_bench_kernel_close(out);
    return s;
}

at_status at_bench_program(at_arena *a, const char *compute, const char *tree,
                           const at_bench_size *sizes, int num_sizes, at_program **out,
                           at_error *err) {
    at_symbols *symbols = AT_NEW(a, at_symbols);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, num_sizes);
    at_compute *c;
    at_tree *t;
    for (int i = 0; i < num_sizes; i++)
        values[at_symbol_add(a, symbols, sizes[i].name)] = sizes[i].value;
    AT_TRY(at_compute_parse(a, symbols, compute, "computation", &c, err));
    AT_TRY(at_tree_parse(a, c, tree, "tree", &t, err));
    AT_TRY(at_program_build(a, t, values, out, err));
    return at_program_verify(a, *out, err);
}
