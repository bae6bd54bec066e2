/* engine/measure/session_data.c: a session is started: room for its data, the worker, inputs and
 * the outputs as they should be for each draw, and warnings about them. */
#include "engine/measure/session.h"

#include "engine/measure/bench.h"
#include "engine/measure/foreign_build.h"
#include "engine/measure/foreign_data.h"
#include "engine/measure/quieter_core.h"
#include "engine/measure/reference.h"
#include "engine/task/task_arrays.h"

at_status at_session_dataset(at_session *s, at_store *shared, bool real, at_dataset *out,
                             at_error *err) {
    at_config config;
    int64_t *values;
    const at_compute *c = at_task_compute(s->what.task);
    const int **layouts = AT_NEW_ARRAY(s->arena, const int *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) layouts[t] = at_task_layout(s->what.task, t);
    AT_TRY(
        at_task_default_config(s->arena, s->what.task, s->how.target->default_lanes, &config, err));
    AT_TRY(at_task_values(s->arena, s->what.task, &config, &values, err));
    AT_TRY(
        at_dataset_new(s->arena, at_task_compute(s->what.task), values, layouts, shared, out, err));
    out->pattern = s->what.chosen.pattern;
    if (out->pattern) at_task_bsr(s->what.task, &out->bsr);
    if (s->what.chosen.weight)
        at_dataset_give(out, s->what.chosen.weight_tensor, s->what.chosen.weight);
    for (int t = 0; s->what.chosen.arrays && t < c->num_tensors; t++) {
        const at_arrays *given = s->what.chosen.arrays;
        if (given->values[t]) at_dataset_give(out, t, given->values[t]);
        if (given->indices[t]) at_dataset_give_indices(out, t, given->indices[t]);
    }
    if (s->foreign) AT_TRY(at_foreign_give(s, out, err));
    out->real |= real;
    if (shared && !real) out->rule = s->bench->data.rule;
    out->stop = s->options.stop;
    out->deadline_ns = s->deadline_ns;
    return at_dataset_expect(s->arena, out, err);
}

/* Other draws of the rule, and for paranoid's second run at least the same one with other numbers.
 */
at_status at_session_reserve(at_session *s, at_error *err) {
    AT_TRY(at_session_dataset(s, NULL, false, &s->bench->data, err));
    if (s->foreign && at_foreign_has_no_text(s)) return AT_OK;
    const int others = s->bench->data.rule.num_draws - 1,
              num = s->options.paranoid && !others ? 1 : others;
    for (at_bench *b = s->bench; b->num_others < num; b->num_others++) {
        at_dataset *other = &b->others[b->num_others];
        AT_TRY(at_session_dataset(s, b->data.store, false, other, err));
        other->draw = others ? b->num_others + 1 : 0;
    }
    if (!at_dataset_has_cover(&s->bench->data)) return AT_OK;
    AT_TRY(at_session_dataset(s, s->bench->data.store, false, &s->bench->cover, err));
    at_dataset_take_cover(&s->bench->cover);
    return AT_OK;
}

/* The reference works on the bench's data; other data are these meanwhile. */
static void swap_data(at_session *s, at_dataset *other) {
    const at_dataset data = s->bench->data;
    s->bench->data = *other;
    *other = data;
}

/* moved: NULL, or the runs whose winners go from place to place. */
static at_status run_reference_on(at_session *s, at_dataset *other, at_moved *moved,
                                  at_error *err) {
    swap_data(s, other);
    at_status status = moved ? at_reference_run_moved(s, moved, err) : at_reference_run(s, err);
    swap_data(s, other);
    return status;
}

/* Other data, and the outputs as they should be for it. What is not a number is in the first one.
 * Other fills are drawn as large as they are: exponentials of some draws overflow on purpose, and
 * most outputs of a softmax are 0 then. */
static at_status prepare_other(at_session *s, int number, at_error *err) {
    at_dataset *other = &s->bench->others[number];
    const at_draw *draw = other->rule.draw;
    other->scale = draw[other->draw].fill == draw[0].fill ? s->bench->data.scale : 1;
    AT_TRY(at_reference_fill(s, other, ~s->options.seed - (uint64_t)number, err));
    if (s->options.paranoid && !number) {
        at_dataset_add_specials(other, s->options.seed);
        at_dataset_keep_one_channel(other, s->options.seed);
    }
    return run_reference_on(s, other, NULL, err);
}

/* Where other fills are drawn than the first ones, their scale is their own. */
static at_status fill_cover(at_session *s, at_dataset *cover, at_error *err) {
    const at_dataset *data = &s->bench->data;
    if (data->is_exact || data->rule.cover.fill == data->rule.draw[0].fill) {
        cover->scale = data->scale;
        return at_reference_fill(s, cover, s->options.seed, err);
    }
    swap_data(s, cover);
    at_status status = at_reference_find_scale(s, err);
    swap_data(s, cover);
    return status;
}

/* Of runs whose winners go from place to place, or whose numbers are others. */
static at_status prepare_cover(at_session *s, at_error *err) {
    at_dataset *cover = &s->bench->cover;
    if (!cover->store) return AT_OK;
    cover->is_whole = s->bench->data.is_whole;
    cover->sign = s->bench->data.sign;
    AT_TRY(fill_cover(s, cover, err));
    AT_TRY(at_dataset_move(s->arena, cover, ~s->options.seed, &s->bench->moved, err));
    return run_reference_on(s, cover, &s->bench->moved, err);
}

/* Sums over one element are less exact than others, and its address costs nothing. */
static void tell_of_zeros(const at_session *s) {
    const at_dataset *d = &s->bench->data;
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->entries[t].is_unknown)
            at_engine_warn(&s->options,
                           at_format(s->arena,
                                     "%s: all entries are 0, since index tensors of more than 2^22 "
                                     "elements are not filled at random; --array %s=FILE gives "
                                     "others",
                                     d->compute->tensors[t].name, d->compute->tensors[t].name));
}

/* What was asked for is no news. */
static void see_sandbox(at_session *s) {
    const char *why = at_worker_unconfined(s->bench->worker);
    bool asked = s->options.sandbox == AT_SANDBOX_OFF;
    s->how.sandbox = !why ? "" : asked ? "off" : "none";
    if (why && !asked)
        at_engine_warn(&s->options,
                       at_format(s->arena,
                                 "this system confines no process (%s): kernels may do what this "
                                 "program may; --sandbox off says nothing of it",
                                 why));
}

/* Saturated, tied, or constant on all data: most kernels would give the same. */
static void tell_of_same(const at_session *s) {
    at_same x = at_dataset_same(&s->bench->data);
    char text[160];
    for (int i = 0; i < s->bench->num_others; i++) {
        const at_same other = at_dataset_same(&s->bench->others[i]);
        if (other.share < x.share) x = other;
    }
    if (x.share < 0.75) return;
    snprintf(text, sizeof text,
             "%.0f %% of the expected %s are %.6g: being equal to it proves little", 100 * x.share,
             s->bench->data.compute->tensors[x.tensor].name, x.value);
    at_engine_warn(&s->options, text);
}

static void tell_of_exact_steps(const at_session *s) {
    if (s->options.max_error > 0 && at_task_compute(s->what.task)->in_steps)
        at_engine_warn(&s->options,
                       at_format(s->arena,
                                 "--max-error changes nothing: the integers of %s are compared bit "
                                 "by bit, and floats beside them with limits per element",
                                 s->what.row->name));
}

at_status at_session_begin(at_session *s, at_error *err) {
    if (s->foreign) AT_TRY(at_foreign_check(s, err));
    tell_of_exact_steps(s);
    tell_of_zeros(s);
    at_engine_note(&s->options, "making the input and the output it is checked against ...");
    s->bench->states.core = at_quieter_core_here(s->how.threads, &s->bench->states.cores);
    AT_TRY(at_worker_new(s->options.worker, s->bench->data.store, -1, 0, s->options.sandbox,
                         &s->bench->worker, err));
    see_sandbox(s);
    s->bench->reference = AT_NEW(s->scratch, at_reference);
    s->bench->reference->begin_ns = at_now_ns();
    return at_reference_begin(s, s->bench->reference, err);
}

at_status at_session_finish(at_session *s, at_error *err) {
    const int64_t begin_ns = s->bench->reference->begin_ns;
    AT_TRY(at_reference_end(s, s->bench->reference, err));
    s->bench->reference = NULL;
    at_session_count_by_data(s);
    for (int i = 0; i < s->bench->num_others; i++) AT_TRY(prepare_other(s, i, err));
    AT_TRY(prepare_cover(s, err));
    at_arena_reset(s->scratch);
    tell_of_same(s);
    s->spent.reference_ns += at_now_ns() - begin_ns;
    return at_session_measure_peak(s, err);
}

at_status at_session_start(at_session *s, at_error *err) {
    AT_TRY(at_session_begin(s, err));
    return at_session_finish(s, err);
}

int64_t at_session_data_bytes(const at_session *s) {
    const at_bench *b = s->bench;
    int64_t bytes = at_dataset_bytes(&b->data);
    for (int i = 0; i < b->num_others; i++) bytes += at_dataset_bytes(&b->others[i]);
    if (b->cover.store) bytes += at_dataset_bytes(&b->cover);
    return bytes;
}

const at_file_pattern *at_session_file_pattern(const at_session *s) {
    at_bsr b;
    if (!s->what.chosen.pattern || !at_task_bsr(s->what.task, &b)) return NULL;
    at_file_pattern *p = AT_NEW(s->arena, at_file_pattern);
    *p = (at_file_pattern){b.indices, b.indptr, b.rows, b.columns, b.nnz};
    return p;
}
