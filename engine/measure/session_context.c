/* engine/measure/session_context.c: how a session's kernels are made: compiler, packing, threads,
 * instruction set, dialect; and what its records say of that. */
#include "engine/measure/session.h"

#include <math.h>

#include "engine/measure/bench.h"
#include "engine/measure/foreign_build.h"
#include "engine/measure/target_here.h"
#include "engine/task/task_arrays.h"

#define LEAST_ANSWER_S 10.0 /* for a compiler to tell its version, however busy the machine is */

static const int64_t unknown_cache_bytes = 64 << 20; /* more than most have */
static const int64_t unknown_l2_bytes = 2 << 20;
enum { MEMORY_SHARE = 16 }; /* at most, of all, for weights in a ring */

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

static void choose_threads(at_session *s, const at_context *recorded) {
    const at_engine_options *o = &s->options;
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

/* What the session's records say of it. */
static void describe_context(at_session *s) {
    const at_cpu *cpu = at_cpu_facts();
    s->how.context = (at_context){.cpu = cpu->name,
                                  .machine = cpu->machine,
                                  .threads = s->how.threads,
                                  .isa = s->how.target->name,
                                  .compiler = s->foreign ? at_foreign_compiler(s)
                                                         : at_compiler_name(s->how.compiler),
                                  .packing = s->foreign ? "" : at_packing_name(s->how.packing),
                                  .cache = at_cache_name(s->options.cache),
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
}

at_status at_session_context(at_session *s, bool measuring, at_error *err) {
    const at_engine_options *o = &s->options;
    const at_context *recorded = s->what.chosen.record && s->what.chosen.record->extra.present
                                     ? &s->what.chosen.record->extra.context
                                     : NULL;

    s->how.compiler = o->compiler;
    s->how.packing = o->packing;
    s->how.compiler_version = "";
    if (at_foreign_of(s->what.task)) AT_TRY(at_foreign_open(s, measuring, err));
    choose_threads(s, recorded);
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
    describe_context(s);
    return AT_OK;
}
