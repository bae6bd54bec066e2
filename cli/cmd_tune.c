/* cli/cmd_tune.c: the main job: what the engine finds, shown while it goes on and at the end. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/network_parts.h"
#include "cli/set_report.h"
#include "remote/remote.h"

#include <string.h>
#include <unistd.h>

/* What is shown of a run while its trials go on. */
typedef struct shown {
    const at_options *options;
    at_progress progress;
    at_notes notes;
    /* of several tasks: */
    const at_options *tasks;
    const char *const *names;
} shown;

/* Layers of several templates, and parts, have the log of their file: net.onnx's is net.log. */
static const char *log_of(at_arena *a, const at_options *o) {
    if (o->log) return o->log;
    bool is_network = at_is_network(o);
    const char *file = is_network ? o->operands[0] : o->workload;
    if (!file) return at_format(a, "%s.log", o->operands[0]);
    if (o->num_operands && !is_network) return NULL;
    return at_format(a, "%s.log", at_base_stem(a, file));
}

static void begin(void *ctx, at_tuning *t) {
    shown *v = ctx;
    const at_options *o = v->options;
    const char *name = t->s.what.row->name;
    v->notes.log = t->log_path;
    if (o->num_tasks) name = at_format(t->s.arena, "[Task %d/%d] %s", o->task, o->num_tasks, name);
    at_progress_start(&v->progress, name, o->engine.time_s);
}

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    shown *v = ctx;
    const at_tally *y = &t->tally;
    if (!answered) at_note_trial(&v->notes, &t->s, y, r, t->best_trial == y->done);
    at_progress_show(&v->progress, y);
}

static void end(void *ctx, at_tuning *t) {
    shown *v = ctx;
    at_progress_end(&v->progress, &t->tally);
}

static at_status tune(at_tuning *t, const at_options *o, at_error *err) {
    at_error late;
    shown v = {.options = o, .notes.options = o};
    const at_tune_events events = {begin, trial, end, &v};
    AT_TRY(at_tuning_open(&o->engine, &o->request, o->log, t, err));
    at_status status = at_tuning_run(t, &events, err);
    /* Where the log or the worker failed, what was found until then is shown all the same. */
    at_status reported = at_tune_report(t, o, status == AT_OK ? err : &late);
    /* On machines of other contexts; --json is of the first. */
    for (at_tuning *u = t->other; u && !o->json && reported == AT_OK; u = u->other)
        reported = at_tune_report(u, o, status == AT_OK ? err : &late);
    return status == AT_OK ? reported : status;
}

/* result NULL: it is the only task. problem: whose way it is, from 0. */
static at_status tune_task(const at_options *o, int problem, at_set_result *result, at_error *err) {
    at_tuning t;
    at_error late;
    at_status status = tune(&t, o, err);
    if (result && t.known) at_set_result_add(result, problem, &t);
    at_status closed = at_tuning_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

/* ---- several tasks --------------------------------------------------------------------------- */

/* The ways of all problems, one after the other. */
typedef struct set {
    at_options *of;
    at_set_result result; /* its problems are what is tuned */
    at_options *tasks;    /* [n] as if each were all that is asked for */
    int *problem;         /* [n] */
    int n;
    at_net *net; /* or NULL */
    at_net_program plan;
} set;

static void make_tasks(set *s) {
    const at_set_result *r = &s->result;
    for (int p = 0; p < r->num_problems; p++) s->n += r->problems[p].num_ways;
    s->tasks = AT_NEW_ARRAY(r->arena, at_options, s->n);
    s->problem = AT_NEW_ARRAY(r->arena, int, s->n);
    for (int p = 0, i = 0; p < r->num_problems; p++)
        for (int w = 0; w < r->problems[p].num_ways; w++, i++) {
            s->tasks[i] = *s->of;
            s->tasks[i].request = r->problems[p].ways[w];
            s->tasks[i].task = i + 1;
            s->tasks[i].num_tasks = s->n;
            s->problem[i] = p;
        }
}

/* What came out of all of them. */
static at_status report(set *s, at_error *err) {
    at_set_result *r = &s->result;
    bool any = false;
    for (int i = 0; i < r->ways.len; i++) any |= r->ways.data[i].found;
    if (any && s->plan.tries.len)
        AT_TRY(at_network_count_parts(s->of, r->log_path, s->net, r, err));
    return at_set_report(r, s->of, err);
}

/* A task without a valid configuration does not keep the others from being tuned. */
static at_status tune_each(set *all, at_error *err) {
    at_error late;
    at_status status = AT_OK;
    for (int i = 0; i < all->n; i++) {
        at_error why;
        at_status s = tune_task(&all->tasks[i], all->problem[i], &all->result, &why);
        if (s == AT_OK) continue;
        const char *args = all->tasks[i].request.args;
        if (status == AT_OK)
            status =
                at_fail_lines(err, s, "task %d of %d (%s): %s", i + 1, all->n,
                              args ? args : all->result.problems[all->problem[i]].name, why.text);
        if (s != AT_E_NO_VALID) break;
    }
    if (!all->result.ways.len) return status;
    at_status reported = report(all, status == AT_OK ? err : &late);
    return status == AT_OK ? reported : status;
}

static void begin_set(void *ctx, at_set_tuning *t) {
    shown *v = ctx;
    const at_options *o = v->options;
    v->notes.log = t->log_path;
    at_progress_start(&v->progress, o->workload ? o->workload : o->operands[0], t->options.time_s);
}

static void round_of_set(void *ctx, at_set_tuning *t, int member) {
    shown *v = ctx;
    const at_options *o = &v->tasks[member];
    v->progress.name = v->names[member];
    v->notes.options = o;
    at_progress_show(&v->progress, &t->tally);
}

static void trial_of_set(void *ctx, at_set_tuning *t, int member, const at_record *r,
                         bool answered) {
    shown *v = ctx;
    at_tuning *u = &t->members[member].tuning;
    if (!answered) at_note_trial(&v->notes, &u->s, &t->tally, r, u->best_trial == u->tally.done);
    at_progress_show(&v->progress, &t->tally);
}

static void end_set(void *ctx, at_set_tuning *t) {
    shown *v = ctx;
    at_progress_end(&v->progress, &t->tally);
}

/* What was found on machines of a kind. */
static at_status report_on(set *s, const at_set_tuning *t, const at_tuning *like, at_error *err) {
    s->result.ways.len = 0;
    for (int i = 0; i < t->num_members; i++) {
        const at_set_member *m = &t->members[i];
        const at_tuning *u = m->started ? at_set_on(m, like) : &m->tuning;
        if (u) at_set_result_add(&s->result, m->problem, u);
    }
    return report(s, err);
}

/* The first search of all on machines of that kind. */
static const at_tuning *first_like(const at_set_tuning *t, const at_tuning *like) {
    const at_tuning *u = NULL;
    for (int i = 0; i < t->num_members && !u; i++) u = at_set_on(&t->members[i], like);
    return u;
}

/* On machines of other kinds than that which decided; --json is of that one. */
static at_status report_others(set *s, const at_set_tuning *t, at_error *err) {
    for (int i = 0; i < t->num_members; i++) {
        const at_set_member *m = &t->members[i];
        for (const at_tuning *u = m->started ? &m->tuning : NULL; t->like && u; u = u->other) {
            if (first_like(t, u) != u || at_set_on(m, t->like) == u) continue;
            at_text head = {0};
            at_text_addf(&head, "\nOn %s, %s:\n\n", u->s.how.context.cpu, u->s.how.context.isa);
            AT_TRY(at_print(&head, err));
            AT_TRY(report_on(s, t, u, err));
        }
    }
    return AT_OK;
}

static at_status report_set(set *s, const at_set_tuning *t, at_error *err) {
    at_set_result *r = &s->result;
    r->tuning = t;
    r->log_path = t->log_path;
    r->trials = t->tally.total;
    AT_TRY(report_on(s, t, t->like, err));
    return s->of->json ? AT_OK : report_others(s, t, err);
}

/* All with one budget. */
static at_status tune_together(set *s, at_error *err) {
    const at_options *o = s->of;
    at_set_result *r = &s->result;
    at_set_tuning t;
    at_error late;
    const char **names = AT_NEW_ARRAY(r->arena, const char *, s->n);
    shown v = {.options = o, .notes.options = o, .tasks = s->tasks, .names = names};
    const at_set_events events = {begin_set, round_of_set, trial_of_set, end_set, &v};
    at_engine_options options = o->engine;
    if (!at_given(o, "--trials")) options.trials = 0;
    if (s->net) options.max_error = 0; /* which is about the outputs of the whole network */
    for (int i = 0; i < s->n; i++)
        names[i] =
            at_format(r->arena, "[Task %d/%d] %s", i + 1, s->n, s->tasks[i].request.template_name);
    at_status status =
        at_set_open(&options, r->problems, r->num_problems, log_of(r->arena, o), &t, err);
    bool begun = status == AT_OK;
    if (begun) status = at_set_run(&t, &events, err);
    /* Where the log or a worker failed, what was found until then is shown all the same. */
    const bool shows = begun && (status == AT_OK || t.tally.done);
    at_status reported = shows ? report_set(s, &t, status == AT_OK ? err : &late) : AT_OK;
    if (status == AT_OK) status = reported;
    at_status closed = at_set_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

/* Where layers are measured here, their data must fit this machine. */
static at_status read_workload(set *s, at_error *err) {
    const at_options *o = s->of;
    at_set_result *r = &s->result;
    r->layers = "layers";
    AT_TRY(at_workload_read(r->arena, &o->engine, &o->request, o->workload, &r->problems,
                            &r->num_problems, err));
    for (int i = 0; i < r->num_problems && !o->on.num; i++)
        AT_TRY(at_problem_room(&o->engine, &r->problems[i], err));
    return AT_OK;
}

static bool holds(const at_problem *p, const at_request *way, const char *text) {
    const char *const parts[] = {p->name, way->template_name, way->args};
    for (int i = 0; i < 3; i++)
        if (parts[i] && strstr(parts[i], text)) return true;
    return false;
}

/* --only: the ways whose names or arguments hold that text; AT_E_USAGE: none does. */
static at_status keep_only(set *s, const char *text, at_error *err) {
    at_set_result *r = &s->result;
    int kept = 0, all = 0;
    for (int p = 0; p < r->num_problems; p++) {
        at_problem q = r->problems[p];
        all += r->layers ? 1 : q.num_ways;
        at_request *ways = AT_NEW_ARRAY(r->arena, at_request, q.num_ways);
        int n = 0;
        for (int w = 0; w < q.num_ways; w++)
            if (holds(&q, &q.ways[w], text)) ways[n++] = q.ways[w];
        q.ways = ways;
        q.num_ways = n;
        if (n) r->problems[kept++] = q;
    }
    r->num_problems = kept;
    if (kept) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--only \"%s\": no name and no arguments of the %d %s hold this text", text, all,
                   r->layers ? r->layers : "ways");
}

/* All layers of a workload, all parts of a network, or all ways of computing one thing. */
static at_status tune_set(set *s, at_error *err) {
    const at_options *o = s->of;
    at_set_result *r = &s->result;
    if (o->workload) AT_TRY(read_workload(s, err));
    else if (at_is_network(o))
        AT_TRY(at_network_parts(o, log_of(r->arena, o), &s->net, &s->plan, r, err));
    else {
        r->problems = AT_NEW(r->arena, at_problem);
        r->num_problems = 1;
        AT_TRY(at_problem_make(r->arena, &o->engine, &o->request, r->problems, err));
    }
    if (o->only) AT_TRY(keep_only(s, o->only, err));
    if (s->net) s->of->engine.weights_bytes = at_net_weights_bytes(s->net);
    make_tasks(s);
    if (o->per_task) return tune_each(s, err);
    return tune_together(s, err);
}

/* No layers, parts or ways, of which there may be several. */
static bool is_one_task(const at_options *o) {
    return !o->workload && !at_is_network(o) && !at_operator_find(&o->request);
}

/* The object of a network: what its parts took, then how exact its outputs are, null where the
 * search did not come so far. */
static void begin_json(set *s, at_out *json) {
    s->result.json = json;
    *json = at_out_object();
    at_out_string(json, "network", s->of->operands[0]);
}

static at_status end_json(set *s, at_out *json, bool has_outputs, at_status status, at_error *err) {
    at_error late;
    if (!s->result.ways.len) return at_text_free(&json->text), status;
    if (!has_outputs) at_out_string(json, "outputs", NULL);
    const at_status printed = at_out_print(json, status == AT_OK ? err : &late);
    return status == AT_OK ? printed : status;
}

static at_status tune_here(const at_options *o, at_error *err) {
    if (is_one_task(o)) return tune_task(o, 0, NULL, err);
    at_arena *a = at_arena_new();
    at_options own = *o;
    at_out json = {0};
    const bool in_json = at_is_network(o) && o->json;
    set s = {.of = &own, .result = {.arena = a, .start_ns = at_now_ns()}};
    if (in_json) begin_json(&s, &json);
    /* Trials find weights as the parts of a running network do. */
    if (at_is_network(o) && !at_given(o, "--cache")) own.engine.cache = AT_CACHE_WEIGHTS_COLD;
    at_status status = tune_set(&s, err);
    const size_t before = json.text.len;
    if (status == AT_OK && s.net) status = at_network_check_log(o, s.net, log_of(a, o), &json, err);
    if (in_json) status = end_json(&s, &json, json.text.len > before, status, err);
    at_net_program_free(&s.plan);
    at_net_close(s.net);
    at_arena_free(a);
    return status;
}

/* The same with workers elsewhere. */
static at_status tune_far(const at_options *o, at_error *err) {
    at_fleet *fleet;
    at_options far = *o;
    if (o->lease_s < AT_LEASE_LEAST || o->lease_s > AT_LEASE_MOST)
        return at_fail(err, AT_E_USAGE, "--lease: must be from %ds to %ds", AT_LEASE_LEAST,
                       AT_LEASE_MOST);
    AT_TRY(at_fleet_new(o->on.items, o->on.num, o->lease_s, &fleet, err));
    far.engine.far = at_fleet_far(fleet);
    at_status status = tune_here(&far, err);
    at_fleet_free(fleet);
    return status;
}

/* A search would go on with its log, where there is one. */
static at_status estimate(const at_options *o, at_error *err) {
    at_arena *a = at_arena_new();
    at_options own = *o;
    own.log = log_of(a, o);
    if (!o->log && access(own.log, F_OK) != 0) own.log = NULL;
    const at_status s = at_network_estimate(&own, err);
    at_arena_free(a);
    return s;
}

at_status at_cmd_tune(const at_options *o, at_error *err) {
    at_options own;
    at_catch_interrupts();
    if (o->command) {
        AT_TRY(at_command_options(o, &own, err));
        return tune_task(&own, 0, NULL, err);
    }
    if (o->metric || o->command_knobs.num || o->command_requires.num || o->higher)
        return at_fail(err, AT_E_USAGE,
                       "--knob, --require, --metric and --higher are of a command, which --command "
                       "names");
    if (o->request.all_ways && o->num_operands && !at_operator_find(&o->request))
        return at_fail(err, AT_E_USAGE,
                       "--all-ways: there is no operator %s; autotune list names them",
                       o->operands[0]);
    if (o->only && is_one_task(o))
        return at_fail(err, AT_E_USAGE,
                       "--only chooses among layers, parts or ways; this is one task");
    if (!o->workload && o->per_task) return at_fail(err, AT_E_USAGE, "--per-task needs --workload");
    if (o->request.sketch && at_given(o, "--range"))
        return at_fail(err, AT_E_USAGE, "give one of --sketch and --range: a sketch is a range");
    if (!o->on.num && o->engine.same_context)
        return at_fail(err, AT_E_USAGE, "--same-context is of workers elsewhere, which --on names");
    if (o->on.num && o->engine.final_delivers)
        return at_fail(err, AT_E_USAGE,
                       "--final-dialect %s: workers elsewhere (--on) have no gcc for certain; time "
                       "what is delivered with verify --compiler gcc",
                       at_dialect_name(o->engine.final_dialect));
    if (at_is_network(o) && at_given(o, "--trials") && !o->engine.trials) return estimate(o, err);
    return o->on.num ? tune_far(o, err) : tune_here(o, err);
}
