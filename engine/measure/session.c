/* engine/measure/session.c: opening and closing what tune, run, show and apply share. */
#include "engine/task/problem.h"
#include "engine/task/task_arrays.h"
#include "engine/measure/session.h"

#include <math.h>
#include <string.h>

#include "engine/measure/foreign_build.h"
#include "engine/measure/foreign_data.h"
#include "engine/measure/quieter_core.h"
#include "engine/measure/reference.h"
#include "engine/measure/target_here.h"
#include "engine/measure/bench.h"

#define LEAST_ANSWER_S 10.0 /* for a compiler to tell its version, however busy the machine is */

static const int64_t unknown_cache_bytes = 64 << 20; /* more than most have */
static const int64_t unknown_l2_bytes = 2 << 20;
enum { MEMORY_SHARE = 16 }; /* at most, of all, for weights in a ring */

static void begin(const at_engine_options *o, at_session *s) {
    memset(s, 0, sizeof *s);
    s->spent.start_ns = at_now_ns();
    if (o->time_s > 0) s->deadline_ns = s->spent.start_ns + (int64_t)(o->time_s * 1e9);
    s->options = *o;
    s->how.tuner = "";
    s->arena = at_arena_new();
    s->scratch = at_arena_new();
    s->tiles = at_tile_memo_new();
    s->bench = AT_NEW(s->arena, at_bench);
}

static void take_chosen(at_session *s) {
    s->what.row = s->what.chosen.row;
    s->what.task = s->what.chosen.task;
    s->what.space = at_task_space(s->what.task);
    s->what.flops = at_task_flops(s->what.task);
    at_session_count_work(s);
}

void at_session_open_chosen(const at_engine_options *o, const at_selection *chosen, at_session *s) {
    begin(o, s);
    s->what.chosen = *chosen;
    take_chosen(s);
}

/* A sketch is a range of the space. */
static void search_sketch(at_session *s) {
    at_tuner_options *to = &s->options.tuner_options;
    to->begin = at_space_part_begin(s->what.space, s->what.chosen.sketch);
    to->end = at_space_part_begin(s->what.space, s->what.chosen.sketch + 1);
}

at_status at_session_open(const at_engine_options *o, const at_request *q, bool task_only,
                          at_session *s, at_error *err) {
    begin(o, s);
    AT_TRY(at_engine_check(o, err));
    if (task_only) AT_TRY(at_select_task(s->arena, q, &s->what.chosen, err));
    else AT_TRY(at_problem_select(s->arena, o, q, &s->what.chosen, err));
    take_chosen(s);
    if (q->sketch && task_only) search_sketch(s);
    return AT_OK;
}

/* The instruction set: the option, else the record's, else the best that the compiler serves. */
static at_status choose_target(at_session *s, const at_context *recorded, bool measuring,
                               at_error *err) {
    const at_engine_options *o = &s->options;
    s->how.target = !o->isa && recorded ? at_target_find(recorded->isa) : NULL;
    if (!s->how.target) s->how.target = at_engine_target_for(o, at_task_compute(s->what.task));
    if (!measuring || at_target_check(s->how.target, err) == AT_OK) return AT_OK;
    if (o->isa) return at_fail_at(err, "--isa %s: ", o->isa);
    const char *lacks = s->how.target->name;
    s->how.target = at_target_here();
    at_engine_warn(o, at_format(s->arena,
                                "line %lld of the log is for %s, which this CPU (%s) lacks; its "
                                "configuration is taken for %s",
                                (long long)s->what.chosen.record->line, lacks, at_cpu_facts()->name,
                                s->how.target->name));
    return AT_OK;
}

static int64_t last_cache_bytes(void) {
    const at_cpu *cpu = at_cpu_facts();
    const int64_t last = cpu->l3_bytes > cpu->l2_bytes ? cpu->l3_bytes : cpu->l2_bytes;
    return last > 0 ? last : unknown_cache_bytes;
}

/* Cold weights come from beyond the second cache, as those of a network do, and from beyond the
 * last one where the network's do. */
static int64_t ring_bytes(const at_session *s) {
    const at_cpu *cpu = at_cpu_facts();
    const int64_t least = 2 * (cpu->l2_bytes > 0 ? cpu->l2_bytes : unknown_l2_bytes);
    int64_t ring = s->options.weights_bytes, most = 2 * last_cache_bytes();
    if (most > cpu->memory_bytes / MEMORY_SHARE) most = cpu->memory_bytes / MEMORY_SHARE;
    if (ring > most) ring = most;
    return ring > least ? ring : least;
}

/* Twice the last cache: what an unlucky replacement has left after one pass goes in the second. */
static at_status choose_flush(at_session *s, at_error *err) {
    const at_cpu *cpu = at_cpu_facts();
    if (s->options.cache == AT_CACHE_WEIGHTS_COLD) s->bench->ring_bytes = ring_bytes(s);
    if (s->options.cache != AT_CACHE_COLD) return AT_OK;
    s->bench->flush_bytes = 2 * last_cache_bytes();
    if (s->bench->flush_bytes > cpu->memory_bytes / 2)
        return at_fail(err, AT_E_USAGE,
                       "--cache cold: flushing takes %lld MiB, twice the last cache; this machine "
                       "has %lld MiB",
                       (long long)s->bench->flush_bytes >> 20, (long long)cpu->memory_bytes >> 20);
    return AT_OK;
}

/* Each thread has a core of its own, and so has whoever makes kernels while one is measured. */
static at_status check_threads(const at_session *s, at_error *err) {
    int cores = at_cpu_cores(NULL, 0), jobs = (int)s->options.jobs;
    if (jobs > 1 && s->how.threads + 1 > cores)
        return at_fail(err, AT_E_USAGE,
                       "--jobs %d: takes a core beside the %d that kernels are measured on; this "
                       "process may use %d",
                       jobs, s->how.threads, cores);
    if (s->how.threads <= 1) return AT_OK;
    if (!at_has_threads())
        return at_fail(err, AT_E_USAGE, "--threads %d: built without OpenMP; only 1 is accepted",
                       s->how.threads);
    if (s->how.threads <= cores) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--threads %d: this process may use %d core%s", s->how.threads,
                   cores, at_plural(cores));
}

/* What the default configuration reads outside of a tensor is the template's mistake; another
 * configuration's failure is its own. */
static at_status check_reads(const at_session *s, at_error *err) {
    at_config config;
    int64_t *values;
    if (at_task_default_config(s->arena, s->what.task, s->how.target->default_lanes, &config,
                               NULL) != AT_OK ||
        at_task_values(s->arena, s->what.task, &config, &values, NULL) != AT_OK)
        return AT_OK;
    return at_compute_check_reads(at_task_compute(s->what.task), values, NULL, NULL, err);
}

/* Is the compiler there, and which version of it? */
static at_status check_compiler(at_session *s, bool measuring, at_error *err) {
    const at_engine_options *o = &s->options;
    if (s->foreign) return AT_OK;
    if (o->program)
        return at_fail(
            err, AT_E_USAGE,
            "--compiler %s: there are tcc, gcc, clang; others are for kernels of your own",
            o->program);
    if (!measuring) return AT_OK;
    if (!at_compiler_available(s->how.compiler))
        return at_fail(err, AT_E_USAGE,
                       "--compiler %s: not found on this machine; install it (apt-get install %s), "
                       "or take tcc, which is part of this program",
                       at_compiler_name(s->how.compiler), at_compiler_name(s->how.compiler));
    return at_compiler_version(s->arena, s->how.compiler, fmax(o->timeout_s, LEAST_ANSWER_S),
                               o->stop, &s->how.compiler_version, err);
}

/* What is timed: machine-code tiles under TinyCC, vector types under gcc and clang. */
static at_dialect dialect_of(const at_session *s) {
    if (s->options.for_dialect) return s->options.dialect;
    return s->how.compiler == AT_TCC ? AT_DIALECT_TCC : AT_DIALECT_GNU;
}

void at_session_deliver(at_session *s, bool delivered) {
    if (!s->options.final_delivers) return;
    at_compiler_from_name(s->how.context.compiler, &s->how.compiler);
    s->how.dialect = dialect_of(s);
    if (delivered) s->how.compiler = AT_GCC, s->how.dialect = s->options.final_dialect;
}

static at_status check_final_dialect(const at_session *s, at_error *err) {
    const at_engine_options *o = &s->options;
    if (!o->final_delivers) return AT_OK;
    const char *name = at_dialect_name(o->final_dialect);
    if (s->foreign)
        return at_fail(err, AT_E_USAGE,
                       "--final-dialect %s: %s is delivered as it is tuned; leave it out", name,
                       s->what.row->name);
    if (!at_compiler_available(AT_GCC))
        return at_fail(err, AT_E_USAGE,
                       "--final-dialect %s: gcc is not found on this machine; install it (apt-get "
                       "install gcc), or leave the option out",
                       name);
    return AT_OK;
}

at_status at_session_context(at_session *s, bool measuring, at_error *err) {
    const at_engine_options *o = &s->options;
    const at_cpu *cpu = at_cpu_facts();
    const at_context *recorded = s->what.chosen.record && s->what.chosen.record->extra.present
                                     ? &s->what.chosen.record->extra.context
                                     : NULL;

    s->how.compiler = o->compiler;
    s->how.packing = o->packing;
    s->how.compiler_version = "";
    if (at_foreign_of(s->what.task)) AT_TRY(at_foreign_open(s, measuring, err));
    bool from_record = recorded && recorded->threads > 0 && !(o->set & AT_SET_THREADS);
    s->how.threads = from_record ? recorded->threads : o->threads ? (int)o->threads : 1;
    if (s->how.threads > 1 && !from_record && !s->foreign && !at_task_has_para(s->what.task)) {
        /* Two threads of which one does nothing are no result for two. */
        at_engine_warn(o, at_format(s->arena,
                                    "--threads %d: %s has no para loop, so that its kernels run on "
                                    "one thread, and are recorded so",
                                    s->how.threads, s->what.row->name));
        s->how.threads = 1;
    }
    if (measuring) AT_TRY(check_threads(s, err));
    if (recorded && !(o->set & AT_SET_COMPILER) && !s->foreign)
        at_compiler_from_name(recorded->compiler, &s->how.compiler);
    if (recorded && !(o->set & AT_SET_PACKING))
        at_packing_from_name(recorded->packing, &s->how.packing);
    AT_TRY(check_compiler(s, measuring, err));
    AT_TRY(choose_target(s, recorded, measuring, err));
    AT_TRY(check_reads(s, err));
    AT_TRY(check_final_dialect(s, err));
    if (measuring) AT_TRY(choose_flush(s, err));
    s->how.dialect = dialect_of(s);

    s->how.context = (at_context){.cpu = cpu->name,
                                  .machine = cpu->machine,
                                  .threads = s->how.threads,
                                  .isa = s->how.target->name,
                                  .compiler = s->foreign ? at_foreign_compiler(s)
                                                         : at_compiler_name(s->how.compiler),
                                  .packing = s->foreign ? "" : at_packing_name(s->how.packing),
                                  .cache = at_cache_name(o->cache),
                                  .pattern = s->what.chosen.pattern  ? s->what.chosen.pattern->hash
                                             : s->what.chosen.arrays ? s->what.chosen.arrays->hash
                                                                     : "",
                                  .template_hash = at_task_hash(s->what.task)};
    at_context_hash(&s->how.context, s->how.context_hash);
    s->how.cpu_flags = cpu->flags;
    s->how.sandbox = "";
    s->how.record_target = cpu->device
                               ? at_format(s->arena, "c -keys=%s,cpu -device=%s -mcpu=%s",
                                           cpu->device, cpu->device, cpu->llvm_name)
                               : at_format(s->arena, "c -keys=cpu -mcpu=%s", cpu->llvm_name);
    return AT_OK;
}

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

/* Other data, and the outputs as they should be for it. What is not a number is in the first one.
 */
static at_status prepare_other(at_session *s, int number, at_error *err) {
    at_dataset data = s->bench->data, *other = &s->bench->others[number];
    const at_draw *draw = other->rule.draw;
    other->scale = draw[other->draw].fill == draw[0].fill ? data.scale : 1;
    AT_TRY(at_reference_fill(s, other, ~s->options.seed - (uint64_t)number, err));
    if (s->options.paranoid && !number) {
        at_dataset_add_specials(other, s->options.seed);
        at_dataset_keep_one_channel(other, s->options.seed);
    }
    s->bench->data = *other;
    at_status status = at_reference_run(s, err);
    *other = s->bench->data;
    s->bench->data = data;
    return status;
}

/* Of runs whose winners go from place to place. */
static at_status prepare_cover(at_session *s, at_error *err) {
    at_dataset data = s->bench->data, *cover = &s->bench->cover;
    if (!cover->store) return AT_OK;
    cover->scale = data.scale;
    AT_TRY(at_reference_fill(s, cover, s->options.seed, err));
    AT_TRY(at_dataset_move(s->arena, cover, &s->bench->moved, err));
    s->bench->data = *cover;
    at_status status = at_reference_run_moved(s, &s->bench->moved, err);
    *cover = s->bench->data;
    s->bench->data = data;
    return status;
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

const at_file_pattern *at_session_file_pattern(const at_session *s) {
    at_bsr b;
    if (!s->what.chosen.pattern || !at_task_bsr(s->what.task, &b)) return NULL;
    at_file_pattern *p = AT_NEW(s->arena, at_file_pattern);
    *p = (at_file_pattern){b.indices, b.indptr, b.rows, b.columns, b.nnz};
    return p;
}

int64_t at_session_data_bytes(const at_session *s) {
    const at_bench *b = s->bench;
    int64_t bytes = at_dataset_bytes(&b->data);
    for (int i = 0; i < b->num_others; i++) bytes += at_dataset_bytes(&b->others[i]);
    if (b->cover.store) bytes += at_dataset_bytes(&b->cover);
    return bytes;
}

void at_session_rest(at_session *s) { at_worker_rest(s->bench->worker); }

at_status at_session_wake(at_session *s, at_error *err) {
    return at_worker_wake(s->bench->worker, err);
}

at_seen at_session_seen(const at_session *s) {
    const at_bench *b = s->bench;
    return (at_seen){.peak_gflops = b->peak_gflops,
                     .peak = b->peak,
                     .disturbed = b->disturbed,
                     .is_exact = b->data.is_exact,
                     .is_projected = b->is_projected,
                     .objective = b->states.objective,
                     .waited_s = b->states.waited_s,
                     .core = b->states.core,
                     .cores = b->states.cores,
                     .ring_bytes = b->ring_bytes};
}

void at_session_stop(at_session *s) {
    if (!s->bench) return; /* it was never opened */
    if (s->bench->worker) at_worker_free(s->bench->worker);
    if (s->bench->anchors.object) at_object_remove(s->bench->anchors.object);
    if (s->bench->anchors.twin.store) at_dataset_free(&s->bench->anchors.twin);
    s->bench->anchors = (at_anchors){0};
    if (s->bench->accuracy.limited.store) at_dataset_free(&s->bench->accuracy.limited);
    if (s->bench->accuracy.normal.store) at_dataset_free(&s->bench->accuracy.normal);
    s->bench->accuracy.limited = s->bench->accuracy.normal = (at_dataset){0};
    for (int i = 0; i < s->bench->num_others; i++) at_dataset_free(&s->bench->others[i]);
    s->bench->num_others = 0;
    if (s->bench->cover.store) at_dataset_free(&s->bench->cover);
    s->bench->moved = (at_moved){0};
    if (s->bench->data.store) at_dataset_free(&s->bench->data);
    s->bench->worker = NULL;
}

void at_session_close(at_session *s) {
    at_session_stop(s);
    at_foreign_close(s);
    at_arena_free(s->scratch);
    at_arena_free(s->arena);
    at_tile_memo_free(s->tiles);
    memset(s, 0, sizeof *s);
}
