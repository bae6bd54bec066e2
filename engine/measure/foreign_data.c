/* engine/measure/foreign_data.c: see foreign_data.h. */
#include "engine/measure/foreign_data.h"

#include <math.h>
#include <string.h>

#include "engine/measure/bench.h"
#include "engine/measure/foreign_build.h"
#include "engine/measure/kernel_job.h"
#include "engine/task/task_arrays.h"

#define DEFAULT_LIMIT 1e-5

static const at_foreign *of(const at_session *s) { return at_foreign_of(s->what.task); }

bool at_foreign_has_no_text(const at_session *s) { return of(s)->num_outputs > 0; }

bool at_foreign_is_unchecked(const at_session *s) {
    return at_foreign_has_no_text(s) && !of(s)->reference && !s->what.chosen.num_expects;
}

/* ---- data ------------------------------------------------------------------------------------ */

static const at_foreign_data *data_of(const at_foreign *f, const char *name) {
    for (int i = 0; i < f->num_data; i++) {
        const char *own = f->data[i].name;
        size_t n = strlen(own);
        if (!strcmp(own, name) || (!strncmp(own, name, n) && !strcmp(name + n, "_before")))
            return &f->data[i];
    }
    return NULL;
}

/* Floats of all bits: sums of them are rounded. */
static void draw(at_session *s, at_dataset *d, int t, double lo, double hi) {
    at_rng rng;
    int64_t n = at_dataset_elements(d, t);
    float *values = AT_NEW_ARRAY(s->arena, float, n + 1);
    at_rng_seed(&rng, s->options.seed, (uint64_t)t);
    for (int64_t i = 0; i < n; i++) values[i] = (float)(lo + at_rng_unit(&rng) * (hi - lo));
    at_dataset_give(d, t, values);
}

static void draw_entries(at_session *s, at_dataset *d, int t, double lo, double hi) {
    at_rng rng;
    int64_t n = at_dataset_elements(d, t);
    int32_t *values = AT_NEW_ARRAY(s->arena, int32_t, n + 1);
    at_rng_seed(&rng, s->options.seed, (uint64_t)t);
    for (int64_t i = 0; i < n; i++)
        values[i] = (int32_t)(lo + (double)at_rng_below(&rng, (uint64_t)(hi - lo) + 1));
    at_dataset_give_indices(d, t, values);
}

static at_status check_right(const at_session *s, at_error *err) {
    const at_foreign *f = of(s);
    if (!at_foreign_is_unchecked(s) || f->unchecked) return AT_OK;
    return at_fail(
        err, AT_E_INPUT,
        "%s: nothing says what its outputs should be: a computation does, or \"reference "
        "FUNCTION\" in the head, or --expect NAME=FILE; where nothing can, the head says "
        "\"unchecked\"",
        f->path);
}

static at_status check_names(const at_foreign *f, const at_compute *c, at_error *err) {
    for (int i = 0; i < f->num_data; i++) {
        const char *name = f->data[i].name;
        bool found = false;
        for (int t = 0; t < c->num_tensors; t++)
            found |= c->tensors[t].role != AT_ROLE_STAGE &&
                     data_of(f, c->tensors[t].name) == &f->data[i];
        if (!found)
            return at_fail(err, AT_E_INPUT, "%s: data of \"%s\", which is no input", f->path, name);
    }
    return AT_OK;
}

at_status at_foreign_give(at_session *s, at_dataset *d, at_error *err) {
    const at_foreign *f = of(s);
    const at_compute *c = d->compute;
    AT_TRY(check_names(f, c, err));
    AT_TRY(check_right(s, err));
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        const at_foreign_data *told = data_of(f, x->name);
        if (x->role == AT_ROLE_STAGE || d->given[t] || d->indices[t]) continue;
        if (told && told->file) continue; /* among the arrays */
        if (x->role == AT_ROLE_INDEX) {
            if (told) draw_entries(s, d, t, fmax(told->lo, 0), told->hi);
        } else if (x->type == AT_F32 && (told || at_foreign_has_no_text(s)))
            draw(s, d, t, told ? told->lo : -1, told ? told->hi : 1);
    }
    d->real |= at_foreign_has_no_text(s);
    return AT_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void set_limits(at_session *s) {
    const at_dataset *d = &s->bench->data;
    double share = of(s)->limit > 0 ? of(s)->limit : DEFAULT_LIMIT;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (!x->is_output || x->type != AT_F32) continue;
        const int64_t n = at_dataset_elements(d, t);
        const double size = at_dataset_size(d, t);
        float *limit = at_dataset_limits(d, t);
        for (int64_t i = 0; i < n; i++) limit[i] = (float)(share * size);
    }
}

static at_status take_file(at_session *s, const char *text, at_error *err) {
    const at_dataset *d = &s->bench->data;
    const char *equals = strchr(text, '=');
    int t = at_compute_find(d->compute, at_strndup(s->scratch, text, (size_t)(equals - text)));
    at_input in;
    int64_t n = 1;
    if (t < 0 || !d->compute->tensors[t].is_output || d->compute->tensors[t].type != AT_F32)
        return at_fail(err, AT_E_USAGE, "--expect %s: %s has no output of f32 of this name", text,
                       s->what.row->name);
    if (at_input_read(s->scratch, equals + 1, &in, err) != AT_OK)
        return at_fail_at(err, "--expect ");
    for (int i = 0; i < in.num_dims; i++) n *= in.dims[i];
    if (in.sparse || n != at_dataset_elements(d, t))
        return at_fail(err, AT_E_USAGE, "--expect %s: %lld elements; the output has %lld", text,
                       (long long)n, (long long)at_dataset_elements(d, t));
    memcpy(at_store_at(d->store, d->expected[t]), in.values, (size_t)d->size_bytes[t]);
    return AT_OK;
}

static at_status take_files(at_session *s, at_error *err) {
    const at_dataset *d = &s->bench->data;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        bool given = !x->is_output;
        for (int i = 0; i < s->what.chosen.num_expects; i++)
            given |= at_array_is_of(s->what.chosen.expects[i], x->name);
        if (!given)
            return at_fail(err, AT_E_USAGE, "--expect: %s needs a file, too: all outputs do",
                           x->name);
    }
    for (int i = 0; i < s->what.chosen.num_expects; i++)
        AT_TRY(take_file(s, s->what.chosen.expects[i], err));
    return AT_OK;
}

/* The reference without the macros of knobs, or, where that is no C, with the default's; without
 * optimisation. */
static at_status build_reference(at_session *s, const at_config *c, at_object *made,
                                 at_error *err) {
    const at_foreign *f = of(s);
    at_arena *a = s->scratch;
    char hash[33];
    for (int with_macros = 0; with_macros < 2; with_macros++) {
        at_foreign_unit u;
        AT_TRY(at_foreign_unit_of(a, s->what.task, c, f->reference, "kernel_entry", &u, err));
        const char **flags = AT_NEW_ARRAY(a, const char *, u.num_flags + 1);
        for (int i = 0; i < u.num_flags; i++) flags[i] = u.flags[i];
        flags[u.num_flags++] = "-O0";
        u.flags = flags;
        if (with_macros) {
            at_foreign_unit own;
            AT_TRY(at_foreign_unit_of(a, s->what.task, c, NULL, "kernel_entry", &own, err));
            u.source = at_format(a, "%s%s", own.macros, u.source);
        }
        AT_TRY(at_foreign_compile(s, a, &u, made, hash, err));
        if (!made->end) return AT_OK;
    }
    return at_fail(err, AT_E_INPUT, "%s: its reference \"%s\" does not compile: %s", f->path,
                   f->reference, made->error);
}

static at_status run_reference(at_session *s, at_error *err) {
    at_dataset *d = &s->bench->data;
    at_arena *a = s->scratch;
    at_config config;
    at_program *p;
    at_kernel *k;
    at_foreign_unit unused;
    at_object made;
    at_outcome outcome = {0};
    AT_TRY(at_task_default_config(a, s->what.task, s->how.target->default_lanes, &config, err));
    AT_TRY(at_task_program(a, s->what.task, &config, &p, err));
    AT_TRY(at_foreign_kernel(a, s->what.task, p, &config, &k, &unused, err));
    AT_TRY(build_reference(s, &config, &made, err));
    at_job job =
        at_kernel_job(a, k, s->how.threads, &(at_places){.at = d->offset, .expected = d->expected});
    at_buf *bufs = at_copy(a, job.bufs, sizeof *bufs * (size_t)job.num_bufs);
    for (int i = 0, outputs = 0; i < job.num_bufs; i++)
        if (bufs[i].role == AT_BUF_OUT) bufs[i].offset = job.expected_offset[outputs++];
    job.bufs = bufs;
    job.expected_offset = NULL;
    job.run_only = true;
    job.compiler = AT_GCC;
    job.object = made.path;
    job.data_version = d->version;
    job.vector_set = at_vector_set(s->how.target->name);
    job.run_timeout_s = 24 * 3600.0;
    at_status status = at_worker_run(s->bench->worker, &job, s->options.stop, &outcome, err);
    at_object_remove(made.path);
    AT_TRY(status);
    if (!outcome.end) return AT_OK;
    return at_fail(err, AT_E_INPUT, "%s: its reference \"%s\" failed: %s", of(s)->path,
                   of(s)->reference, outcome.error);
}

at_status at_foreign_expect(at_session *s, at_error *err) {
    if (at_foreign_is_unchecked(s)) {
        at_engine_warn(&s->options,
                       at_format(s->scratch, "%s: its outputs are not checked", of(s)->path));
        return AT_OK;
    }
    AT_TRY(s->what.chosen.num_expects ? take_files(s, err) : run_reference(s, err));
    set_limits(s);
    return AT_OK;
}
