/* remote/agent_task.c: the task that an agent measures: a session as a local search has one, cores
 * of its own, and what its trials are timed against. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/agent_state.h"

typedef at_agent agent;

/* Template of a user's own: its text becomes a file again. What a kernel includes stays as long as
 * it is compiled. */
static at_status load_template(agent *g, at_arena *a, const at_frame *f,
                               const at_template_row **row, at_error *err) {
    const char *path = NULL;
    if (!*f->template_text) return at_template_find(f->template_name, row, err);
    if (!at_is_template_file(f->template_file))
        return at_fail(err, AT_E_USAGE, "%s is no name of a template's file", f->template_file);
    at_status s = at_agent_put_file(g, a, f->template_file, f->template_text,
                                    strlen(f->template_text), &path, err);
    if (s == AT_OK) s = at_agent_put_files(g, a, f->template_files, err);
    if (s == AT_OK) s = at_user_template_load(path, row, err);
    if (s != AT_OK || !*f->template_files) at_agent_drop_folder(g);
    return s;
}

/* With the weight of the user's own, if it has one, as long as that is read. */
static at_status open_session(agent *g, at_arena *a, const at_frame *f, const at_engine_options *o,
                              at_request *q, at_error *err) {
    if (!f->weight_bytes) return at_session_open(o, q, true, &g->tuning.s, err);
    at_status s = at_agent_put_file(g, a, f->weight_file, f->weight, (size_t)f->weight_bytes,
                                    &q->weight, err);
    if (s == AT_OK) s = at_session_open(o, q, true, &g->tuning.s, err);
    if (!*f->template_files) at_agent_drop_folder(g);
    return s;
}

static const char *given(at_arena *a, const char *text) {
    return *text ? at_strdup(a, text) : NULL;
}

static int64_t bounded(uint64_t x) { return x < INT32_MAX ? (int64_t)x : INT32_MAX; }

static void warn(void *ctx, const char *text) { at_agent_say_text(ctx, AT_FRAME_TOLD, text); }

static void read_options(agent *g, const at_frame *f, at_engine_options *o) {
    *o = (at_engine_options){.compiler = (at_compiler)f->compiler,
                             .packing = (at_packing)f->packing,
                             .cache = (at_cache)f->cache,
                             .weights_bytes = f->read_bytes >> 62 ? 0 : (int64_t)f->read_bytes,
                             .threads = f->threads,
                             .paranoid = f->paranoid != 0,
                             .sandbox = (at_sandbox)f->sandbox,
                             .seed = f->seed,
                             .number = bounded(f->runs),
                             .repeat = bounded(f->repeat),
                             .min_repeat_ms = f->min_repeat_ms,
                             .timeout_s = f->timeout_s,
                             .cooldown_s = f->cooldown_s,
                             .max_error = f->max_error,
                             .prune = f->prune,
                             .jobs = f->jobs,
                             .objective = (at_objective)f->objective_asked,
                             .warn = warn,
                             .ctx = g,
                             .stop = &g->stop};
}

/* Of no weight of an operator, or such that its elements can be counted. */
static bool is_form(const at_weight_form *f) {
    const int64_t sizes[] = {f->kh, f->kw, f->ci, f->co};
    double elements = 1;
    bool is = true;
    for (int i = 0; i < 4; i++) {
        is &= sizes[i] > 0;
        elements *= (double)sizes[i];
    }
    return f->kh == 0 || (is && elements < 0x1p53);
}

void at_agent_drop_task(agent *g) {
    at_agent_drop_folder(g);
    if (!g->has_task) return;
    at_trial_pair_free(g->trials);
    g->trials = NULL;
    if (g->tuning.s.options.jobs > 1) at_cpu_return();
    at_session_close(&g->tuning.s);
    memset(&g->tuning, 0, sizeof g->tuning);
    at_core_claim_give(&g->claim);
    g->has_task = false;
}

static at_status open_task(agent *g, const at_frame *f, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    at_engine_options o;
    at_arena *a = at_arena_new(); /* as long as this process, as templates are */
    if (strcmp(f->version, AT_VERSION) != 0)
        return at_fail(err, AT_E_USAGE, "the search is of version %s, this agent of " AT_VERSION,
                       f->version);
    at_request q = {.template_name = at_strdup(a, f->template_name),
                    .args = given(a, f->args),
                    .sparsity = given(a, f->sparsity),
                    .block = given(a, f->block),
                    .form = f->form};
    AT_TRY(load_template(g, a, f, &q.row, err));
    if (f->objective_asked >= AT_OBJECTIVE_COUNT)
        return at_fail(err, AT_E_INPUT, "objective %u", f->objective_asked);
    if (f->sandbox > AT_SANDBOX_OFF) return at_fail(err, AT_E_INPUT, "sandbox %u", f->sandbox);
    if (!is_form(&q.form)) return at_fail(err, AT_E_INPUT, "a weight of no form");
    read_options(g, f, &o);
    o.isa = given(a, f->isa);
    o.program = given(a, f->program);
    AT_TRY(at_engine_check(&o, err));
    int cores = o.threads > 1 ? (int)o.threads : 1;
    AT_TRY(at_core_claim_take(&g->claim, cores + (o.jobs > 1), err));
    g->has_task = true;
    AT_TRY(open_session(g, a, f, &o, &q, err));
    AT_TRY(at_session_context(s, true, err));
    if (o.prune > 0) AT_TRY(at_session_machine(s, err));
    if (strcmp(s->how.context.template_hash, f->template_hash) != 0)
        return at_fail(err, AT_E_USAGE, "the template %s is another one here", f->template_name);
    AT_TRY(at_session_reserve(s, err));
    t->known = at_known_new(s->arena);
    g->trials = at_trial_pair_new();
    if (o.jobs > 1) at_cpu_leave(s->how.threads);
    return at_session_start(s, err);
}

void at_add_worker(at_text *line) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    at_text_add(line, "{\"host\": ");
    at_text_add_json_string(line, host);
    at_text_addf(line, ", \"pid\": %d, \"cpu\": ", (int)getpid());
    at_text_add_json_string(line, at_cpu_facts()->name);
}

void at_agent_tell_state(agent *g, bool now) {
    const at_session *s = &g->tuning.s;
    at_text line = {0};
    if (!now && at_now_ns() - g->told_ns < 1000000000) return;
    g->told_ns = at_now_ns();
    at_add_worker(&line);
    at_text_add(&line, ", \"task\": ");
    at_text_add_json_string(
        &line, at_format(s->scratch, "%s %s", s->what.row->name, at_task_args_text(s->what.task)));
    at_text_addf(&line, ", \"peak_gflops\": %.1f, \"last_gflops\": %.2f, \"last_s\": %.3f}\n",
                 at_session_seen(s).peak, g->last_gflops, g->last_at_s);
    at_core_claim_tell(&g->claim, at_text_str(&line));
    if (g->told) g->told->tell(g->told->ctx, at_text_str(&line));
    at_text_free(&line);
}

/* A record as trials of this session begin: that of the default configuration, not measured. */
at_status at_agent_say_ready(agent *g, at_error *err) {
    at_session *s = &g->tuning.s;
    at_config config;
    at_candidate candidate;
    at_record r;
    at_text line = {0};
    at_arena *a = s->scratch;
    at_arena_reset(a);
    AT_TRY(at_task_default_config(a, s->what.task, s->how.target->default_lanes, &config, err));
    at_candidate_build(s, a, &config, &candidate, &r);
    r.extra.peak_gflops = at_session_seen(s).peak;
    at_record_print(&line, &r);
    at_agent_say(g, &(at_frame){.type = AT_FRAME_READY,
                                .records = at_text_str(&line),
                                .anchor = g->anchor,
                                .objective = g->objective});
    at_text_free(&line);
    return AT_OK;
}

/* The anchor's line, with how far it is from the search's second kernel now. */
at_status at_agent_compare(agent *g, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    const at_json *json;
    at_config c;
    at_text text = {0};
    const at_config *config = at_anchor_config(s);
    if (!config) return AT_OK;
    at_anchor_line l = *at_known_anchor(t->known, -1);
    l.config = config;
    if (*g->second) {
        AT_TRY(at_json_parse(s->arena, g->second, strlen(g->second), &json, err));
        AT_TRY(at_config_from_json(s->arena, s->what.space, json, &c, err));
        AT_TRY(at_anchor_second(s, t->known, &c, &l, err));
    }
    at_anchor_line_print(&text, &l);
    g->anchor = at_text_take(s->arena, &text);
    return AT_OK;
}

/* What trials are timed against, and what counts. */
static at_status find_anchor(agent *g, const char *second, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    at_text text = {0};
    g->anchor = g->objective = NULL;
    g->second = at_strdup(s->arena, second);
    AT_TRY(at_anchor_ready(s, t->known, NULL, err));
    if (!at_anchor_config(s)) return AT_OK;
    const at_objective_line *objective = at_known_objective(t->known);
    if (objective) at_objective_line_print(&text, objective);
    g->objective = at_text_take(s->arena, &text);
    return at_agent_compare(g, err);
}

void at_agent_take_task(agent *g, const at_frame *f) {
    at_error err = {0};
    at_agent_drop_task(g);
    at_status status = open_task(g, f, &err);
    if (status == AT_OK) status = find_anchor(g, f->second, &err);
    if (status == AT_OK) status = at_agent_say_ready(g, &err);
    if (status == AT_OK) {
        at_agent_tell_state(g, true);
        return;
    }
    if (!g->over) at_agent_say_text(g, AT_FRAME_REFUSED, err.text);
    at_agent_finish(g, AT_AGENT_DONE);
}
