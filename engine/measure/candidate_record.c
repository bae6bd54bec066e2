/* engine/measure/candidate_record.c: a candidate's record: as it begins, as one that failed, and as
 * one that is kept as long as the session. */
#include "engine/measure/measure.h"

#include <string.h>

#include "engine/measure/bench.h"
#include "engine/version.h"

/* AutoTVM's cost of a failure, and the release whose lines ours are. */
static const double failed_cost_s = 1e9;
static const char *const tvm_version = "0.12.0";

at_err_no at_error_of_job(at_job_end end) {
    static const at_err_no numbers[AT_JOB_END_COUNT] = {
        [AT_JOB_RAN] = AT_ERR_NONE,
        [AT_JOB_NOT_COMPILED] = AT_ERR_COMPILE_HOST,
        [AT_JOB_COMPILE_TIMEOUT] = AT_ERR_BUILD_TIMEOUT,
        [AT_JOB_CRASHED] = AT_ERR_RUNTIME,
        [AT_JOB_TIMEOUT] = AT_ERR_RUN_TIMEOUT,
        [AT_JOB_WRONG] = AT_ERR_WRONG_ANSWER,
        [AT_JOB_LOST] = AT_ERR_UNKNOWN,
    };
    return numbers[end];
}

void at_session_record(const at_session *s, const at_config *c, at_record *out) {
    *out = (at_record){.target = s->how.record_target,
                       .task = at_task_record_name(s->what.task),
                       .args = at_task_args(s->what.task),
                       .config = *c,
                       .tvm_version = tvm_version};
    out->extra = (at_extra){.present = true,
                            .context = s->how.context,
                            .version = AT_VERSION,
                            .compiler_version = s->how.compiler_version,
                            .cpu_flags = s->how.cpu_flags,
                            .sandbox = s->how.sandbox,
                            .tuner = s->how.tuner,
                            .part = "",
                            .seed = s->options.seed,
                            .check = AT_CHECK_UNCHECKED,
                            .in_bytes = s->what.in_bytes,
                            .of_dots = s->what.dot_terms > 0,
                            .peak_gflops = s->bench->peak,
                            .error = "",
                            .code_hash = "",
                            .same_as = -1};
    memcpy(out->extra.context_hash, s->how.context_hash, sizeof s->how.context_hash);
}

void at_candidate_fail(at_arena *a, at_record *r, at_err_no error_no, const char *text) {
    r->error_no = error_no;
    r->extra.error = at_strdup(a, text);
    r->extra.accuracy = (at_accuracy){0}; /* which only what is refused for it keeps */
    r->extra.check = error_no == AT_ERR_WRONG_ANSWER ? AT_CHECK_FAILED : AT_CHECK_UNCHECKED;
    r->timestamp_s = at_wall_time_s();
    r->costs_s = at_copy(a, &failed_cost_s, sizeof failed_cost_s);
    r->num_costs = 1;
}

void at_candidate_lose(at_arena *a, at_record *r, const char *why) {
    at_candidate_fail(a, r, AT_ERR_UNKNOWN, why);
}

void at_candidate_prune(at_arena *a, at_record *r) {
    at_candidate_fail(a, r, AT_ERR_INSTANTIATION, at_pruned_text);
}

/* Most texts are those of the session, which outlives what is kept. */
static const char *share(at_arena *a, const char *ours, const char *text) {
    if (!text) return "";
    return strcmp(ours, text) ? at_strdup(a, text) : ours;
}

at_record *at_session_keep(const at_session *s, at_arena *a, const at_record *r, int64_t index) {
    at_record *kept = at_copy(a, r, sizeof *r);
    at_extra *e = &kept->extra;
    if (at_config_at(a, s->what.space, index, &kept->config, NULL) != AT_OK)
        AT_BUG("index %lld is no point of the space", (long long)index);
    kept->target = share(a, s->how.record_target, r->target);
    kept->task = at_task_record_name(s->what.task);
    kept->args = at_task_args(s->what.task);
    kept->args_written = NULL;
    kept->code_hash = r->code_hash ? at_strdup(a, r->code_hash) : NULL;
    kept->tvm_version = share(a, tvm_version, r->tvm_version);
    kept->costs_s = at_copy(a, r->costs_s, sizeof *r->costs_s * (size_t)r->num_costs);
    kept->finals = NULL;
    kept->num_finals = 0;
    e->context = s->how.context;
    memcpy(e->context_hash, s->how.context_hash, sizeof e->context_hash);
    e->version = share(a, AT_VERSION, e->version);
    e->compiler_version = share(a, s->how.compiler_version, e->compiler_version);
    e->cpu_flags = share(a, s->how.cpu_flags, e->cpu_flags);
    e->sandbox = share(a, s->how.sandbox, e->sandbox);
    e->tuner = share(a, s->how.tuner, e->tuner);
    e->part = share(a, "", e->part);
    e->error = share(a, "", e->error);
    e->code_hash = share(a, "", e->code_hash);
    e->check_word = e->check_word ? at_strdup(a, e->check_word) : NULL;
    e->sample_word = e->sample_word ? at_strdup(a, e->sample_word) : NULL;
    e->samples_s = at_copy(a, e->samples_s, sizeof *e->samples_s * (size_t)e->num_samples);
    at_paired *p = &e->pairs;
    p->ratios = at_copy(a, p->ratios, sizeof *p->ratios * (size_t)p->num_ratios);
    p->first = p->first ? at_strdup(a, p->first) : "";
    p->states = p->states ? at_strdup(a, p->states) : "";
    return kept;
}
