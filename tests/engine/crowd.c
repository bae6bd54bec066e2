/* tests/engine/crowd.c: see crowd.h. */
#include "crowd.h"

#include <string.h>

static at_status begin(void *self, const at_far_task *task, at_error *err) {
    crowd *c = self;
    at_engine_options o = *task->options;
    o.far = NULL;
    if (c->task) at_session_close(&c->s); /* all turn to another search, which they join again */
    c->joined = c->len = c->num_to_compare = c->num_finals = 0;
    c->last.entity = NULL;
    c->finalists = NULL;
    c->turned++;
    c->task = task;
    at_status s = at_session_open(&o, task->request, true, &c->s, err);
    return s == AT_OK ? at_session_context(&c->s, false, err) : s;
}

static const double anchor_s = 2e-3;
static const char anchor_code[] = "0123456789abcdef0123456789abcdef";

/* What a worker that times in pairs says when it joins. */
static const char *anchor_of(crowd *c, at_arena *a, int worker, const at_record *r) {
    at_text text = {0};
    double off = c->compared[worker] ? 0 : c->at_first[worker];
    at_state state = c->state[worker] ? c->state[worker] : AT_STATE_ALONE;
    if (!c->is_paired) return NULL;
    at_anchor_line_print(&text, &(at_anchor_line){.task = r->task,
                                                  .args = r->args,
                                                  .context_hash = r->extra.context_hash,
                                                  .code_hash = anchor_code,
                                                  .first = anchor_code,
                                                  .linked_to = -1,
                                                  .of_first = 1,
                                                  .first_s = anchor_s * c->slower[worker],
                                                  .state = state,
                                                  .second = c->second[worker] + off,
                                                  .second_error = 1e-3,
                                                  .second_code = "second",
                                                  .config = &r->config});
    return at_text_take(a, &text);
}

static void fill_record(crowd *c, at_arena *a, int worker, const char *entity, at_record *r) {
    at_candidate x;
    at_config config;
    at_error err;
    if (!entity) {
        assert_int_equal(at_task_default_config(a, c->s.what.task, c->s.how.target->default_lanes,
                                                &config, &err),
                         AT_OK);
    } else {
        const at_json *json;
        assert_int_equal(at_json_parse(a, entity, strlen(entity), &json, &err), AT_OK);
        assert_int_equal(at_config_from_json(a, c->s.what.space, json, &config, &err), AT_OK);
    }
    at_candidate_build(&c->s, a, &config, &x, r);
    double *cost = AT_NEW(a, double);
    *cost = crowd_time_of(config.index);
    r->costs_s = cost;
    r->num_costs = 1;
    if (c->is_paired) {
        double *ratio = AT_NEW(a, double);
        *ratio = *cost / anchor_s;
        *cost *= c->slower[worker];
        r->extra.samples_s = cost;
        r->extra.num_samples = 1;
        r->extra.pairs = (at_paired){.of_first = *ratio,
                                     .ratio = *ratio,
                                     .first = anchor_code,
                                     .ratios = ratio,
                                     .num_ratios = 1,
                                     .states = ""};
    }
    r->extra.gflops = c->s.what.work / *cost * 1e-9;
    r->extra.check = AT_CHECK_EXACT;
    if (c->kinds && worker % c->kinds) { /* another CPU, on which all is slower */
        r->extra.context.machine = at_format(a, "machine %d", worker % c->kinds);
        at_context_hash(&r->extra.context, r->extra.context_hash);
        *cost *= 2;
        r->extra.gflops /= 2;
    }
    r->extra.code_hash = at_format(a, "%032llx", (unsigned long long)x.key.lo);
}

static void answer(crowd *c, at_arena *a, const asked *x, at_far_event *out) {
    out->kind = AT_FAR_RESULT;
    out->worker = x->worker;
    out->trial = x->id;
    fill_record(c, a, x->worker, x->entity, &out->record);
}

/* A final there: all take twice as long on the second node. */
static void turns(crowd *c, at_arena *a, int worker, at_far_event *out) {
    at_text lines = {0};
    at_record r;
    at_error err;
    int n = 0;
    int64_t anchor = -1;
    for (const char *p = c->finalists; *p; p = strchr(p, '\n') + 1) n++;
    for (const char *p = c->finalists; *p; p = strchr(p, '\n') + 1) {
        const char *line = at_strndup(a, p, strcspn(p, "\n"));
        assert_int_equal(at_record_parse(a, line, strlen(line), &r, &err), AT_OK);
        if (anchor < 0) anchor = r.config.recorded_index;
        double s[5], time_s = crowd_time_of(r.config.recorded_index) * (worker ? 2 : 1);
        for (int i = 0; i < 5; i++) s[i] = time_s * (1 + 1e-5 * (i - 2));
        const at_round round = {.samples_s = s, .num_samples = 5, .time_s = time_s};
        at_final_line_print(&lines, &(at_final_line){.task = r.task,
                                                     .args = r.args,
                                                     .context_hash = r.extra.context_hash,
                                                     .index = r.config.recorded_index,
                                                     .config = &r.config,
                                                     .turns = {.begun_s = 1e9 + worker,
                                                               .rounds = &round,
                                                               .num_rounds = 1,
                                                               .among = n,
                                                               .anchor = anchor,
                                                               .error = "",
                                                               .time_s = time_s}});
    }
    *out = (at_far_event){.kind = AT_FAR_TURNS, .worker = worker, .name = "w", .node = ""};
    out->text = at_text_take(a, &lines);
}

static at_status next(void *self, at_arena *a, double wait_s, at_far_event *out, at_error *err) {
    crowd *c = self;
    (void)err;
    *out = (at_far_event){.worker = -1, .name = "w", .node = "n"};
    /* Sometimes several come at a time. */
    if (!wait_s && at_rng_below(&c->rng, 2)) return AT_OK;
    if (!wait_s && c->joined == c->workers && !c->num_finals && !c->num_to_compare && !c->len)
        return AT_OK;
    if (c->num_finals) {
        turns(c, a, c->finals[--c->num_finals], out);
        return AT_OK;
    }
    if (c->joined < c->workers) {
        out->kind = AT_FAR_JOINED;
        out->worker = c->joined++;
        if (c->has_nodes) out->node = at_format(a, "n%d", out->worker);
        c->is_in[out->worker] = true;
        fill_record(c, a, out->worker, NULL, &out->record);
        out->anchor = anchor_of(c, a, out->worker, &out->record);
        return AT_OK;
    }
    if (c->num_to_compare) {
        out->kind = AT_FAR_JOINED;
        out->worker = c->to_compare[0];
        memmove(c->to_compare, c->to_compare + 1, sizeof(int) * (size_t)--c->num_to_compare);
        c->compared[out->worker]++;
        fill_record(c, a, out->worker, NULL, &out->record);
        if (c->lies[out->worker]) out->record.task = "another";
        out->anchor = anchor_of(c, a, out->worker, &out->record);
        return AT_OK;
    }
    if (c->duplicates && c->last.entity && at_rng_below(&c->rng, 4) == 0) {
        c->duplicates--;
        answer(c, a, &c->last, out);
        return AT_OK;
    }
    for (int w = 0; w < c->workers; w++)
        if (!c->is_in[w] && (!c->len || at_rng_below(&c->rng, 2))) {
            c->is_in[w] = true;
            out->kind = AT_FAR_JOINED;
            out->worker = w;
            fill_record(c, a, out->worker, NULL, &out->record);
            out->anchor = anchor_of(c, a, out->worker, &out->record);
            return AT_OK;
        }
    assert_true(c->len > 0);
    int i = (int)at_rng_below(&c->rng, (uint64_t)c->len);
    if (c->losses && at_rng_below(&c->rng, 3) == 0) { /* the worker is lost, and joins again */
        int worker = c->of[i].worker;
        c->losses--;
        for (int k = 0; k < c->len; k++)
            if (c->of[k].worker == worker) c->of[k--] = c->of[--c->len];
        out->kind = AT_FAR_LEFT;
        out->worker = worker;
        c->is_in[worker] = false;
        return AT_OK;
    }
    asked x = c->of[i];
    c->of[i] = c->of[--c->len];
    if (c->strangers && at_rng_below(&c->rng, 4) == 0) { /* of an epoch that is over */
        c->strangers--;
        answer(c, a, &x, out);
        out->trial.epoch--;
        c->of[c->len++] = x;
        return AT_OK;
    }
    answer(c, a, &x, out);
    c->last = x;
    return AT_OK;
}

static void trial(void *self, int worker, const at_trial_id *id, const char *entity,
                  double best_s) {
    crowd *c = self;
    if (best_s > 0 && (c->least_best_s[worker] <= 0 || best_s < c->least_best_s[worker]))
        c->least_best_s[worker] = best_s;
    assert_true(c->is_in[worker] && c->len < 4 * CROWD_MOST);
    int under_way = 1;
    for (int i = 0; i < c->len; i++) under_way += c->of[i].worker == worker;
    assert_in_range(under_way, 1, AT_FAR_MOST_DEPTH);
    c->of[c->len++] = (asked){*id, at_strdup(c->arena, entity), worker};
    assert_in_range(c->trials, 0, 8 * CROWD_MOST - 1);
    c->numbers[c->trials++] = id->number;
}

static void final(void *self, int worker, const char *records, double budget_s) {
    crowd *c = self;
    (void)budget_s;
    if (!c->finalists) c->finalists = at_strdup(c->arena, records);
    c->finals[c->num_finals++] = worker;
}
static void compare(void *self, int worker) {
    crowd *c = self;
    assert_true(c->is_in[worker] && c->num_to_compare < CROWD_MOST);
    c->to_compare[c->num_to_compare++] = worker;
}
static void refuse(void *self, int worker, const char *why) { (void)self, (void)worker, (void)why; }
static int workers(void *self) { return ((crowd *)self)->joined; }
static void end(void *self) {
    crowd *c = self;
    if (c->task) at_session_close(&c->s);
    c->task = NULL;
}

at_far crowd_far(crowd *c) {
    return (at_far){c, "here", begin, next, trial, final, compare, refuse, workers, end};
}

double crowd_time_of(int64_t index) {
    return 1e-3 + 1e-6 * (double)((uint64_t)index * 2654435761u % 1000);
}

char crowd_log[64];
const at_request crowd_request = {.template_name = "dense", .args = "M=64,N=64,K=64"};

void crowd_begin_log(const char *name) {
    snprintf(crowd_log, sizeof crowd_log, "/tmp/autotune-far-%d-%s.log", (int)getpid(), name);
    unlink(crowd_log);
}
