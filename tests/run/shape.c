#include "tests/run/shape.h"

#include <string.h>

static const double timeout_s = 60; /* generous: the machine may be busy */

static const double most_interpreted = 1e7; /* floating-point operations; about half a second */

static int64_t count_elements(const at_compute *c, int tensor, int64_t *const *extents) {
    int64_t n = 1;
    for (int i = 0; i < c->tensors[tensor].num_axes; i++) n *= extents[tensor][i];
    return n;
}

static int64_t reserve(shape *s, const char *what, int64_t elements) {
    at_error err = {0};
    int64_t offset = -1;
    if (at_store_reserve(s->store, what, elements * 4, &offset, &err) != AT_OK)
        fail_msg("%s", err.text);
    return offset;
}

/* Integers whose mean is not zero, so that a term too many or too few shows. */
static void fill(float *p, int64_t n, int range, at_rng *rng) {
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)((int)at_rng_below(rng, (uint64_t)(range + range / 2 + 1)) - range / 2);
}

static void interpret(shape *s, const at_compute *c, const int64_t *values,
                      int64_t *const *extents) {
    at_arena *a = at_arena_new();
    at_error err = {0};
    at_data *data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE) data[t].f = at_store_at(s->store, s->offset[t]);
    if (at_compute_interpret(a, c, values, data, &err) != AT_OK) fail_msg("%s", err.text);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output)
            memcpy(at_store_at(s->store, s->expected[t]), data[t].f,
                   (size_t)count_elements(c, t, extents) * sizeof(float));
    at_arena_free(a);
}

/* The naive text of the computation through TinyCC, for what would take the interpreter minutes. */
static void run_reference(shape *s, const at_compute *c, const int64_t *values,
                          int64_t *const *extents) {
    at_text source = {0};
    at_error err = {0};
    at_outcome out;
    at_buf *bufs = AT_NEW_ARRAY(s->arena, at_buf, c->num_tensors);
    at_job job = {.entry = "reference",
                  .bufs = bufs,
                  .threads = 1,
                  .run_only = true,
                  .compile_timeout_s = timeout_s,
                  .run_timeout_s = timeout_s};
    if (at_compute_reference_c(s->arena, c, values, job.entry, &source, &job.workspace_bytes,
                               &err) != AT_OK)
        fail_msg("%s", err.text);
    job.source = at_text_str(&source);
    for (int outputs = 0; outputs < 2; outputs++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *tensor = &c->tensors[t];
            bool is_kept = tensor->role != AT_ROLE_STAGE || tensor->is_output;
            if (!is_kept || tensor->is_output != (outputs == 1)) continue;
            bufs[job.num_bufs++] = (at_buf){.name = tensor->name,
                                            .role = outputs ? AT_BUF_OUT : AT_BUF_IN,
                                            .offset = outputs ? s->expected[t] : s->offset[t],
                                            .size_bytes = count_elements(c, t, extents) * 4};
        }
    if (at_worker_run(s->worker, &job, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (out.error_no) fail_msg("reference: %s", out.error);
    at_text_free(&source);
}

void shape_open(shape *s, const char *template_name, const char *args) {
    const at_template_row *row;
    at_error err = {0};
    at_config any;
    int64_t *values, **extents;
    memset(s, 0, sizeof *s);
    s->arena = at_arena_new();
    if (at_template_find(template_name, &row, &err) != AT_OK ||
        at_task_new(s->arena, row, args, &s->task, &err) != AT_OK ||
        at_config_at(s->arena, at_task_space(s->task), 0, &any, &err) != AT_OK ||
        at_task_values(s->arena, s->task, &any, &values, &err) != AT_OK ||
        at_compute_extents(s->arena, at_task_compute(s->task), values, &extents, &err) != AT_OK ||
        at_store_new(&s->store, &err) != AT_OK)
        fail_msg("%s %s: %s", template_name, args, err.text);

    const at_compute *c = at_task_compute(s->task);
    int range = at_compute_exact_range(c, values, 0);
    assert_true(range >= 1);
    s->offset = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    s->expected = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *tensor = &c->tensors[t];
        int64_t n = count_elements(c, t, extents);
        if (tensor->role == AT_ROLE_STAGE && !tensor->is_output) continue;
        s->offset[t] = reserve(s, tensor->name, n);
        if (tensor->is_output) s->expected[t] = reserve(s, tensor->name, n);
        at_rng rng;
        at_rng_seed(&rng, 7, (uint64_t)t);
        if (tensor->role != AT_ROLE_STAGE)
            fill(at_store_at(s->store, s->offset[t]), n, range, &rng);
    }
    if (at_worker_new(s->store, -1, 0, &s->worker, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_task_flops(s->task) <= most_interpreted) interpret(s, c, values, extents);
    else run_reference(s, c, values, extents);
}

void shape_close(shape *s) {
    at_worker_free(s->worker);
    at_store_free(s->store);
    at_arena_free(s->arena);
}

at_kernel *shape_lower(const shape *s, at_arena *a, const at_config *c, const way *w,
                       const char *name, at_error *err) {
    at_lower_options o = {.dialect = w->compiler == AT_TCC ? AT_DIALECT_TCC : AT_DIALECT_GNU,
                          .isa = w->isa,
                          .pack_inline = w->pack_inline,
                          .name = name,
                          .verify = true};
    at_program *p;
    at_kernel *k;
    if (at_task_program(a, s->task, c, &p, err) != AT_OK || at_lower(a, p, &o, &k, err) != AT_OK)
        return NULL;
    return k;
}

static void bind(const shape *s, at_arena *a, const at_kernel *k, at_job *job) {
    static const at_buf_role roles[] = {
        [AT_PARAM_IN] = AT_BUF_IN, [AT_PARAM_OUT] = AT_BUF_OUT, [AT_PARAM_PACKED] = AT_BUF_PACKED};
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, k->num_params);
    int64_t *expected = AT_NEW_ARRAY(a, int64_t, k->num_params);
    int outputs = 0;
    for (int i = 0; i < k->num_params; i++) {
        const at_param *p = &k->params[i];
        bool packed = p->role == AT_PARAM_PACKED;
        bufs[i] = (at_buf){.name = p->name,
                           .role = roles[p->role],
                           .is_int = p->is_int,
                           .offset = packed ? -1 : s->offset[p->tensor],
                           .size_bytes = p->elements * 4};
        if (p->role == AT_PARAM_OUT) expected[outputs++] = s->expected[p->tensor];
    }
    at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
    for (int i = 0; i < k->num_tiles; i++)
        blobs[i] = (at_blob){k->tiles[i].symbol, k->tiles[i].bytes, k->tiles[i].size_bytes};
    job->bufs = bufs;
    job->num_bufs = k->num_params;
    job->blobs = blobs;
    job->num_blobs = k->num_tiles;
    job->expected_offset = expected;
}

const char *shape_check(shape *s, at_arena *a, const at_kernel *k, const way *w,
                        const char *object) {
    at_outcome out;
    at_error err = {0};
    at_job job = {.compiler = w->compiler,
                  .source = object ? NULL : k->source,
                  .object = object,
                  .entry = k->entry,
                  .pack = k->pack,
                  .workspace_bytes = k->workspace_bytes + k->workspace_per_thread_bytes,
                  .threads = 1,
                  .paranoid = w->paranoid,
                  .run_only = true,
                  .compile_timeout_s = timeout_s,
                  .run_timeout_s = timeout_s};
    bind(s, a, k, &job);
    if (at_worker_run(s->worker, &job, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (!out.error_no) return NULL;
    return at_format(a, "%s: %s", at_err_no_name(out.error_no), out.error);
}
