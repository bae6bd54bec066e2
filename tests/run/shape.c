#include "tests/run/shape.h"

#include <string.h>

#include "engine/engine.h"

static const double timeout_s = 60; /* generous: the machine may be busy */

static const double most_interpreted = 2e6; /* floating-point operations; a tenth of a second */

static bool is_kept(const at_tensor *t) { return t->role != AT_ROLE_STAGE || t->is_output; }

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

static double normal(at_rng *rng) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)at_rng_below(rng, 1 << 24) * 0x1p-24;
    return sum - 6;
}

/* Inputs within -4 .. 8, weights around 0. */
static void fill_real(const shape *s, const at_tensor *t, float *p, int64_t n, int64_t rows,
                      at_rng *rng) {
    bool is_input = t->role == AT_ROLE_INPUT;
    for (int64_t i = 0; i < n; i++) p[i] = (float)(is_input ? 2 + 2 * normal(rng) : normal(rng));
    if (is_input) return;
    int64_t at = (int64_t)at_rng_below(rng, (uint64_t)n), row = n / rows;
    if (s->values == SHAPE_ONE_HUGE) p[at] = 1e9f;
    if (s->values == SHAPE_ROW_TINY)
        for (int64_t i = 0; i < row; i++) p[at / row * row + i] *= 1e-30f;
}

static void interpret(shape *s, at_arena *a, const at_program *p) {
    const at_compute *c = p->compute;
    at_error err = {0};
    at_data *data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_INDEX) data[t].i = at_store_at(s->store, s->offset[t]);
        else if (c->tensors[t].role != AT_ROLE_STAGE)
            data[t].f = at_store_at(s->store, s->offset[t]);
    if (at_compute_interpret(a, c, p->values, data, &err) != AT_OK) fail_msg("%s", err.text);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output)
            memcpy(at_store_at(s->store, s->expected[t]), data[t].f,
                   (size_t)at_tensor_elements(&c->tensors[t], p->extents[t]) * sizeof(float));
}

/* The naive text of the computation through TinyCC, for what would take the interpreter long. */
static void run_reference(shape *s, at_arena *a, const at_program *p) {
    const at_compute *c = p->compute;
    at_text source = {0};
    at_error err = {0};
    at_outcome out;
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, 2 * c->num_tensors);
    at_job job = {.entry = "reference",
                  .bufs = bufs,
                  .threads = 1,
                  .run_only = true,
                  .compile_timeout_s = timeout_s,
                  .run_timeout_s = timeout_s};
    if ((s->values ? at_compute_limits_c : at_compute_reference_c)(
            a, c, p->values, job.entry, &source, &job.workspace_bytes, &err) != AT_OK)
        fail_msg("%s", err.text);
    job.source = at_text_str(&source);
    for (int outputs = 0; outputs < (s->values ? 3 : 2); outputs++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *tensor = &c->tensors[t];
            if (!is_kept(tensor) || tensor->is_output != (outputs > 0)) continue;
            int64_t size = at_tensor_elements(&c->tensors[t], p->extents[t]) * 4;
            bufs[job.num_bufs++] = (at_buf){.name = tensor->name,
                                            .role = outputs ? AT_BUF_OUT : AT_BUF_IN,
                                            .type = tensor->type,
                                            .offset = outputs ? s->expected[t] : s->offset[t],
                                            .size_bytes = size};
            if (outputs == 2) bufs[job.num_bufs - 1].offset += size;
        }
    if (at_worker_run(s->worker, &job, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (out.end) fail_msg("reference: %s", out.error);
    at_text_free(&source);
}

static bool fits(const shape *s, const at_program *p) {
    for (int t = 0; t < p->compute->num_tensors; t++)
        for (int i = 0; i < p->compute->tensors[t].num_axes; i++)
            if (is_kept(&p->compute->tensors[t]) && s->extents[t][i] != p->extents[t][i])
                return false;
    return true;
}

/* Of a sparse weight, the blocks that the task's arguments ask for by their number. Returns the
 * longest row. */
static int64_t fill_pattern(shape *s, at_arena *a) {
    at_bsr b;
    at_pattern p;
    at_error err = {0};
    if (!at_task_bsr(s->task, &b)) return 0;
    if (at_pattern_random(a, b.rows, b.columns, b.r, b.c, -1, b.nnz, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    memcpy(at_store_at(s->store, s->offset[b.indices]), p.indices, sizeof(int32_t) * (size_t)b.nnz);
    memcpy(at_store_at(s->store, s->offset[b.indptr]), p.indptr,
           sizeof(int32_t) * (size_t)(b.rows + 1));
    return p.longest;
}

/* The numbers of inputs and outputs are those of this computation from now on. Their order is one
 * in all sketches. */
static void renumber(shape *s, const at_compute *c) {
    if (s->of == c) return;
    const shape old = *s;
    int from = 0;
    s->of = c;
    s->offset = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    s->expected = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    if (old.extents) s->extents = AT_NEW_ARRAY(s->arena, int64_t *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!is_kept(&c->tensors[t])) continue;
        while (!is_kept(&old.of->tensors[from])) from++;
        if (strcmp(old.of->tensors[from].name, c->tensors[t].name) != 0)
            fail_msg("\"%s\" instead of \"%s\"", c->tensors[t].name, old.of->tensors[from].name);
        s->offset[t] = old.offset[from];
        s->expected[t] = old.expected[from];
        if (old.extents) s->extents[t] = old.extents[from];
        from++;
    }
}

/* Inputs and expected outputs of this program, where the layout is not that of the one before. */
void shape_refill(shape *s, const at_program *p) {
    const at_compute *c = p->compute;
    renumber(s, c);
    if (s->extents && fits(s, p)) return;
    at_arena *a = at_arena_new();
    int range = at_compute_exact_range(c, p->values, NULL, fill_pattern(s, a));
    if (range < 1 && !s->values) s->values = SHAPE_ORDINARY; /* no integers are exact */
    if (!s->extents) s->extents = AT_NEW_ARRAY(s->arena, int64_t *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        size_t bytes = sizeof **s->extents * (size_t)c->tensors[t].num_axes;
        if (!s->extents[t]) s->extents[t] = at_alloc(s->arena, bytes);
        memcpy(s->extents[t], p->extents[t], bytes);
        if (c->tensors[t].role == AT_ROLE_STAGE || c->tensors[t].role == AT_ROLE_INDEX) continue;
        at_rng rng;
        at_rng_seed(&rng, s->seed, (uint64_t)t);
        float *to = at_store_at(s->store, s->offset[t]);
        int64_t n = at_tensor_elements(&c->tensors[t], p->extents[t]);
        if (s->values) fill_real(s, &c->tensors[t], to, n, p->extents[t][0], &rng);
        else fill(to, n, range, &rng);
    }
    if (at_task_flops(s->task) <= most_interpreted && !s->values) interpret(s, a, p);
    else run_reference(s, a, p);
    at_arena_free(a);
}

void shape_open(shape *s, const char *template_name, const char *args) {
    const at_template_row *row;
    at_error err = {0};
    at_config any;
    at_program *p;
    memset(s, 0, sizeof *s);
    s->arena = at_arena_new();
    s->seed = 7;
    if (at_template_find(template_name, &row, &err) != AT_OK ||
        at_task_new(s->arena, row, args, &s->task, &err) != AT_OK ||
        at_task_default_config(s->arena, s->task, 4, &any, &err) != AT_OK ||
        at_task_program(s->arena, s->task, &any, &p, &err) != AT_OK ||
        at_store_new(&s->store, &err) != AT_OK)
        fail_msg("%s %s: %s", template_name, args, err.text);

    const at_compute *c = s->of = p->compute;
    s->offset = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    s->expected = AT_NEW_ARRAY(s->arena, int64_t, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *tensor = &c->tensors[t];
        int64_t n = at_tensor_elements(&c->tensors[t], p->extents[t]);
        if (!is_kept(tensor)) continue;
        s->offset[t] = reserve(s, tensor->name, n);
        if (tensor->is_output) s->expected[t] = reserve(s, tensor->name, 2 * n);
    }
    if (at_worker_new(NULL, s->store, -1, 0, AT_SANDBOX_AUTO, &s->worker, &err) != AT_OK)
        fail_msg("%s", err.text);
    shape_refill(s, p);
}

void shape_set_values(shape *s, shape_values values, uint64_t seed) {
    s->values = values;
    s->seed = seed;
    s->extents = NULL;
}

void shape_close(shape *s) {
    at_worker_free(s->worker);
    at_store_free(s->store);
    at_arena_free(s->arena);
}

const char *shape_lower(const shape *s, at_arena *a, const at_config *c, const way *w,
                        const char *name, candidate *out) {
    at_error err = {0};
    at_lower_options o = {.dialect = w->compiler == AT_TCC ? AT_DIALECT_TCC : AT_DIALECT_GNU,
                          .target = at_target_find(at_vector_set_name(w->set)),
                          .pack_inline = w->pack_inline,
                          .name = name,
                          .verify = true};
    if (at_task_program(a, s->task, c, &out->program, &err) != AT_OK ||
        at_lower(a, out->program, &o, &out->kernel, &err) != AT_OK)
        return at_strdup(a, err.text);
    return NULL;
}

const char *shape_check(shape *s, at_arena *a, const candidate *c, const way *w,
                        const char *object) {
    at_outcome out;
    at_error err = {0};
    shape_refill(s, c->program);
    at_job job =
        at_kernel_job(a, c->kernel, 1, &(at_places){.at = s->offset, .expected = s->expected});
    job.compiler = w->compiler;
    job.object = object;
    if (object) job.source = NULL;
    job.paranoid = w->paranoid;
    job.run_only = true;
    job.compile_timeout_s = job.run_timeout_s = timeout_s;
    job.has_limits = s->values != SHAPE_EXACT;
    if (at_worker_run(s->worker, &job, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (!out.end) return NULL;
    return at_format(a, "%s: %s", at_err_no_name(at_error_of_job(out.end)), out.error);
}
