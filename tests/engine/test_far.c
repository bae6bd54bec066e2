/* A search over workers elsewhere, with workers that are made up: what they answer is known, and
 * when they answer, answer twice, or are lost is decided here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/far_search.h"

enum { MOST = 64, TRIALS = 60 };

typedef struct asked {
    at_trial_id id;
    char *entity;
    int worker;
} asked;

/* Workers that answer in an order drawn from a seed. */
typedef struct crowd {
    at_rng rng;
    int workers, joined, losses, duplicates, strangers;
    int kinds; /* of machines; 0: one */
    bool is_in[MOST];
    asked of[4 * MOST];
    int len, trials;
    int64_t numbers[8 * MOST]; /* [trials] as they were asked */
    at_trial_id ids[TRIALS];   /* of the log's records */
    bool is_copy[TRIALS];      /* of one with the same code */
    asked last;                /* answered, to be answered again */
    /* They time in pairs with an anchor, which takes so many times longer there, and is so far from
     * the second kernel. */
    bool is_paired;
    double slower[MOST], second[MOST];
    double at_first[MOST]; /* what the first comparison is off */
    bool lies[MOST];       /* what it compares again is of another task */
    int compared[MOST], to_compare[MOST], num_to_compare;
    double least_best_s[MOST]; /* that each was told; 0: none */
    bool has_nodes;            /* one each */
    char *finalists;           /* lines that finals are to be held of */
    int finals[MOST], num_finals;
    const at_far_task *task;
    at_arena *arena;
    at_session s; /* of records */
} crowd;

static at_status begin(void *self, const at_far_task *task, at_error *err) {
    crowd *c = self;
    at_engine_options o = *task->options;
    o.far = NULL;
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
    if (!c->is_paired) return NULL;
    at_anchor_line_print(&text, &(at_anchor_line){.task = r->task,
                                                  .args = r->args,
                                                  .context_hash = r->extra.context_hash,
                                                  .code_hash = anchor_code,
                                                  .first = anchor_code,
                                                  .linked_to = -1,
                                                  .of_first = 1,
                                                  .first_s = anchor_s * c->slower[worker],
                                                  .second = c->second[worker] + off,
                                                  .second_error = 1e-3,
                                                  .second_code = "second",
                                                  .config = &r->config});
    return at_text_take(a, &text);
}

/* The time of a configuration is its index, scrambled. */
static void fill_record(crowd *c, at_arena *a, int worker, const char *entity, at_record *r) {
    at_candidate x;
    at_config config;
    at_error err;
    if (!entity) {
        assert_int_equal(
            at_task_default_config(a, c->s.task, c->s.target->default_lanes, &config, &err), AT_OK);
    } else {
        const at_json *json;
        assert_int_equal(at_json_parse(a, entity, strlen(entity), &json, &err), AT_OK);
        assert_int_equal(at_config_from_json(a, c->s.space, json, &config, &err), AT_OK);
    }
    at_candidate_build(&c->s, a, &config, &x, r);
    double *cost = AT_NEW(a, double);
    *cost = 1e-3 + 1e-6 * (double)((uint64_t)config.index * 2654435761u % 1000);
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
    r->extra.gflops = c->s.work / *cost * 1e-9;
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

static double time_of(int64_t index) {
    return 1e-3 + 1e-6 * (double)((uint64_t)index * 2654435761u % 1000);
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
        double s[5], time_s = time_of(r.config.recorded_index) * (worker ? 2 : 1);
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
    assert_true(c->is_in[worker] && c->len < 4 * MOST);
    int under_way = 1;
    for (int i = 0; i < c->len; i++) under_way += c->of[i].worker == worker;
    assert_in_range(under_way, 1, AT_FAR_MOST_DEPTH);
    c->of[c->len++] = (asked){*id, at_strdup(c->arena, entity), worker};
    assert_in_range(c->trials, 0, 8 * MOST - 1);
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
    assert_true(c->is_in[worker] && c->num_to_compare < MOST);
    c->to_compare[c->num_to_compare++] = worker;
}
static void refuse(void *self, int worker, const char *why) { (void)self, (void)worker, (void)why; }
static int workers(void *self) { return ((crowd *)self)->joined; }
static void end(void *self) { at_session_close(&((crowd *)self)->s); }

static char log_path[64];
static const at_request request = {.template_name = "dense", .args = "M=64,N=64,K=64"};

/* Stops the run when so many trials are done; no final. */
typedef struct watch {
    volatile int stop;
    int64_t after;
} watch;

static void watch_trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    watch *w = ctx;
    (void)r, (void)answered;
    if (t->tally.done >= w->after) w->stop = 1;
}

/* The numbers of the log's trials in its order; *n: how many. */
static int64_t *search(crowd *c, const char *tuner, int64_t until, int *n) {
    at_error err = {0};
    at_tuning t;
    watch w = {0, until};
    c->arena = at_arena_new();
    const at_far far = {c, begin, next, trial, final, compare, refuse, workers, end};
    at_engine_options o = {.tuner = tuner, .trials = TRIALS, .far = &far, .stop = &w.stop};
    at_status s = at_tuning_open(&o, &request, log_path, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){.trial = watch_trial, .ctx = &w}, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(t.tally.done, until);
    at_tuning_close(&t, &err);
    at_record *all;
    assert_int_equal(at_log_read_all(c->arena, log_path, NULL, NULL, &all, n, &err), AT_OK);
    int64_t *indices = calloc((size_t)*n + 1, sizeof *indices);
    bool seen[TRIALS] = {false};
    for (int i = 0; i < *n; i++) {
        indices[i] = all[i].config.recorded_index;
        int64_t number = all[i].extra.trial.number;
        c->ids[i] = all[i].extra.trial;
        c->is_copy[i] = all[i].extra.same_as >= 0;
        assert_true(number >= 0 && number < TRIALS && !seen[number]);
        seen[number] = true;
        for (int k = 0; k < i; k++) assert_int_not_equal(indices[k], indices[i]);
    }
    at_arena_free(c->arena);
    return indices;
}

static void begin_log(const char *name) {
    snprintf(log_path, sizeof log_path, "/tmp/autotune-far-%d-%s.log", (int)getpid(), name);
    unlink(log_path);
}

/* Whatever is lost, comes twice or too late: each trial is recorded once. */
static void once(void **state) {
    (void)state;
    static const char *const tuners[] = {"random", "ga", "xgb", "grid"};
    for (int i = 0; i < 4; i++)
        for (int workers_there = 1; workers_there <= 8; workers_there *= 8) {
            const at_tuner_class *row;
            if (at_tuner_find(tuners[i], &row, NULL) != AT_OK) continue;
            crowd c = {.workers = workers_there, .losses = 9, .duplicates = 20, .strangers = 9};
            int n;
            at_rng_seed(&c.rng, (uint64_t)i + 7, 1);
            begin_log("once");
            free(search(&c, tuners[i], TRIALS, &n));
            assert_int_equal(n, TRIALS);
            unlink(log_path);
        }
}

/* The same seed and the same order of results: the same search, also where it was cut off in
 * between, and went on with another number of workers. */
static void resumed(void **state) {
    (void)state;
    enum { CUT = 12 };
    const char *tuner = at_tuner_default();
    int n, m;
    crowd whole = {.workers = 5};
    at_rng_seed(&whole.rng, 3, 1);
    begin_log("whole");
    int64_t *expected = search(&whole, tuner, TRIALS, &n);
    assert_int_equal(n, TRIALS);
    /* the first trials of that log, as if it had been killed then */
    at_arena *a = at_arena_new();
    char *text;
    size_t len;
    at_error err;
    at_read_file(a, log_path, &text, &len, &err);
    unlink(log_path);
    char *at = text;
    for (int i = 0; i < CUT; at = strchr(at, '\n') + 1) i += *at != '#';
    begin_log("cut");
    at_write_file(log_path, text, (size_t)(at - text), &err);
    crowd rest = {.workers = 2};
    at_rng_seed(&rest.rng, 4, 1);
    int64_t *found = search(&rest, tuner, TRIALS, &m);
    assert_int_equal(m, TRIALS);
    for (int i = 0; i < CUT; i++) assert_int_equal(found[i], expected[i]);
    /* What was under way when it was cut is asked again, and before all else: proposals that had
     * been made when the last of these came, and had no result then. Each is the same trial. */
    int64_t asked_then = whole.ids[CUT - 1].asked;
    int under_way = 0, first_new = 0;
    for (int i = CUT; i < TRIALS; i++) {
        if (whole.ids[i].number >= asked_then) continue;
        under_way++;
        for (int k = CUT; k < TRIALS; k++)
            if (rest.ids[k].number == whole.ids[i].number) assert_int_equal(found[k], expected[i]);
    }
    assert_in_range(under_way, 1, 5 * AT_FAR_MOST_DEPTH);
    while (first_new < rest.trials && rest.numbers[first_new] < asked_then) first_new++;
    for (int i = 0; i < first_new; i++)
        for (int k = 0; k < CUT; k++) assert_int_not_equal(rest.numbers[i], whole.ids[k].number);
    for (int i = first_new; i < rest.trials; i++) assert_true(rest.numbers[i] >= asked_then);
    assert_in_range(first_new, 1, under_way); /* some have the code of another */
    /* What has the code of another is not measured. */
    int measured = 0;
    for (int i = CUT; i < TRIALS; i++) measured += !rest.is_copy[i];
    assert_int_equal(rest.trials, measured);
    free(found);
    free(expected);
    unlink(log_path);
    at_arena_free(a);
}

/* One worker, one trial at a time: a tuner that learns nothing proposes what it does for a search
 * here. */
static void as_here(void **state) {
    (void)state;
    int n;
    crowd c = {.workers = 1};
    at_rng_seed(&c.rng, 1, 1);
    begin_log("one");
    int64_t *found = search(&c, "random", TRIALS, &n), *expected = calloc(TRIALS, sizeof *expected);
    at_session s;
    at_tuner *tuner;
    at_error err;
    at_engine_options o = {0};
    assert_int_equal(at_session_open(&o, &request, true, &s, &err), AT_OK);
    assert_int_equal(at_tuner_new("random", s.space, &(at_tuner_options){0}, &tuner, &err), AT_OK);
    assert_int_equal(at_tuner_next(tuner, expected, TRIALS), TRIALS);
    /* Several are under way, so neighbours may have changed places. */
    for (int i = 0; i < TRIALS; i++) {
        bool is_there = false;
        for (int k = 0; k < TRIALS; k++) is_there |= found[k] == expected[i];
        assert_true(is_there);
    }
    at_tuner_free(tuner);
    at_session_close(&s);
    free(found);
    free(expected);
    unlink(log_path);
}

/* Each CPU has a search of its own, all in one log; none takes a result of the other. */
static void contexts(void **state) {
    (void)state;
    crowd c = {.workers = 4, .kinds = 2, .arena = at_arena_new()};
    const at_far far = {&c, begin, next, trial, final, compare, refuse, workers, end};
    at_engine_options o = {.tuner = at_tuner_default(), .trials = TRIALS, .far = &far};
    at_error err = {0};
    at_tuning t;
    at_best first, second;
    at_record *all;
    int n, of_first = 0;
    at_rng_seed(&c.rng, 5, 1);
    begin_log("contexts");
    assert_int_equal(at_tuning_open(&o, &request, log_path, &t, &err), AT_OK);
    if (at_far_run(&t, t.tally.total, &err) != AT_OK) fail_msg("%s", err.text);
    assert_non_null(t.other);
    assert_null(t.other->other);
    assert_int_equal(t.tally.done, TRIALS);
    assert_int_equal(t.other->tally.done, TRIALS);
    assert_true(at_tuning_best(&t, &first) && at_tuning_best(t.other, &second));
    assert_true(first.time_s < 2e-3 && second.time_s >= 2e-3);
    at_tuning_close(&t, &err);
    at_log_read_all(c.arena, log_path, NULL, NULL, &all, &n, &err);
    assert_int_equal(n, 2 * TRIALS);
    for (int i = 0; i < n; i++)
        of_first += !strcmp(all[i].extra.context_hash, all[0].extra.context_hash);
    assert_int_equal(of_first, TRIALS);
    unlink(log_path);
    at_arena_free(c.arena);
    /* Unless one is asked for. */
    crowd same = {.workers = 2, .kinds = 2, .arena = at_arena_new()};
    const at_far strict = {&same, begin, next, trial, final, compare, refuse, workers, end};
    o.far = &strict;
    o.same_context = true;
    at_rng_seed(&same.rng, 6, 1);
    begin_log("same");
    assert_int_equal(at_tuning_open(&o, &request, log_path, &t, &err), AT_OK);
    assert_int_equal(at_far_run(&t, t.tally.total, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "--same-context: "));
    at_tuning_close(&t, &err);
    unlink(log_path);
    at_arena_free(same.arena);
}

/* A search of workers that time in pairs, over a log that may be there; what is in it afterwards.
 */
static at_record *search_paired(crowd *c, int64_t trials, int *n, const char **log_text) {
    at_error err = {0};
    at_tuning t;
    char *text;
    size_t len;
    at_record *all;
    const at_far far = {c, begin, next, trial, final, compare, refuse, workers, end};
    at_engine_options o = {.tuner = "random", .trials = trials, .far = &far};
    at_rng_seed(&c->rng, 11, 1);
    c->arena = at_arena_new();
    if (at_tuning_open(&o, &request, log_path, &t, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_far_run(&t, t.tally.total, &err) != AT_OK) fail_msg("%s", err.text);
    at_tuning_close(&t, &err);
    at_log_read_all(c->arena, log_path, NULL, NULL, &all, n, &err);
    assert_int_equal(at_read_file(c->arena, log_path, &text, &len, &err), AT_OK);
    *log_text = text;
    return all;
}

static int count(const char *text, const char *word) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, word)); p++) n++;
    return n;
}

/* One node takes ten times longer for all: results are ratios to what is the anchor there, and
 * times of the log are all of one machine, also when the search goes on with the slow one alone. */
static void slow_node(void **state) {
    (void)state;
    crowd c = {.workers = 2, .is_paired = true, .slower = {1, 10}};
    const char *text;
    int n;
    begin_log("slow");
    at_record *all = search_paired(&c, TRIALS, &n, &text);
    assert_int_equal(n, TRIALS);
    assert_int_equal(count(text, "#anchor "), 1);
    for (int i = 0; i < n; i++) {
        double expected_s = time_of(all[i].config.recorded_index);
        assert_true(fabs(at_record_mean(&all[i]) / expected_s - 1) < 1e-9);
        assert_true(fabs(all[i].extra.samples_s[0] / expected_s - 1) < 1e-9);
        assert_true(fabs(all[i].extra.gflops * expected_s / all[0].extra.gflops /
                             time_of(all[0].config.recorded_index) -
                         1) < 1e-3);
        assert_int_equal(all[i].extra.pairs.anchor, 0);
    }
    /* What is known to be best is told to each in its own time. */
    assert_true(c.least_best_s[0] < 2e-3 && c.least_best_s[1] >= 10e-3);
    at_arena_free(c.arena);
    crowd late = {.workers = 1, .is_paired = true, .slower = {10}};
    all = search_paired(&late, TRIALS + 20, &n, &text);
    assert_int_equal(n, TRIALS + 20);
    assert_int_equal(count(text, "#anchor "), 1);
    for (int i = 0; i < n; i++)
        assert_true(fabs(at_record_mean(&all[i]) / time_of(all[i].config.recorded_index) - 1) <
                    1e-9);
    at_arena_free(late.arena);
    unlink(log_path);
}

/* One that is 2 % apart belongs to the others; one that is 7 % apart has a context of its own, and
 * comes to the same one when it is there again. */
static void apart(void **state) {
    (void)state;
    crowd c = {.workers = 3, .is_paired = true, .slower = {1, 1, 1}, .second = {0, 0.02, 0.07}};
    const char *text, *hash = NULL;
    int n, odd = 0;
    begin_log("apart");
    at_record *all = search_paired(&c, TRIALS, &n, &text);
    assert_int_equal(n, 2 * TRIALS);
    assert_int_equal(count(text, "#anchor "), 2);
    for (int i = 0; i < n; i++) {
        bool is_odd = strstr(all[i].extra.context.machine, ", second kernel 1.05") != NULL;
        odd += is_odd;
        if (is_odd) hash = all[i].extra.context_hash;
        else assert_string_equal(all[i].extra.context.machine, at_cpu_facts()->machine);
    }
    assert_int_equal(odd, TRIALS);
    /* The odd one alone: nothing is measured for the others. */
    crowd again = {.workers = 1, .is_paired = true, .slower = {1}, .second = {0.06}};
    at_record *more = search_paired(&again, TRIALS + 5, &n, &text);
    assert_int_equal(n, 2 * TRIALS + 5);
    assert_int_equal(count(text, "#anchor "), 2);
    for (int i = 2 * TRIALS; i < n; i++) assert_string_equal(more[i].extra.context_hash, hash);
    at_arena_free(again.arena);
    at_arena_free(c.arena);
    unlink(log_path);
}

/* One that was asked to compare again, and answers with nonsense, is not waited for. */
static void refused_in_doubt(void **state) {
    (void)state;
    crowd c = {.workers = 2, .is_paired = true, .slower = {1, 1}, .second = {0, 0.07}};
    const char *text;
    int n;
    c.lies[1] = true;
    begin_log("lies");
    search_paired(&c, TRIALS, &n, &text);
    assert_int_equal(c.compared[1], 1);
    assert_int_equal(n, TRIALS);
    at_arena_free(c.arena);
    unlink(log_path);
}

/* A moment in which a worker's kernels compared in another way, or the first one's did, makes no
 * context; whoever is apart all the time has one even so. */
static void moments(void **state) {
    (void)state;
    static const struct {
        double at_first[3], second[3];
        int contexts;
    } cases[] = {{{0, 0.07, 0}, {0, 0, 0}, 1},
                 {{0.07, 0, 0}, {0, 0, 0}, 1},
                 {{0, -0.14, 0.07}, {0, 0.07, -0.07}, 1}, /* above, then below */
                 {{0, 0, 0.03}, {0, 0, 0.1}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crowd c = {.workers = 3, .is_paired = true, .slower = {1, 1, 1}};
        const char *text;
        int n;
        memcpy(c.at_first, cases[i].at_first, sizeof cases[i].at_first);
        memcpy(c.second, cases[i].second, sizeof cases[i].second);
        begin_log("moments");
        search_paired(&c, TRIALS, &n, &text);
        assert_int_equal(n, cases[i].contexts * TRIALS);
        assert_true(c.compared[0] <= 1); /* the first one's answer is for all */
        at_arena_free(c.arena);
        unlink(log_path);
    }
}

/* Two nodes hold the final: what the second says is put on the scale of the first, and counts as
 * much. */
static void two_nodes(void **state) {
    (void)state;
    crowd c = {.workers = 3, .has_nodes = true, .arena = at_arena_new()};
    const at_far far = {&c, begin, next, trial, final, compare, refuse, workers, end};
    at_engine_options o = {.tuner = "random", .trials = TRIALS, .far = &far};
    at_error err = {0};
    at_tuning t;
    int64_t best = -1;
    at_rng_seed(&c.rng, 13, 1);
    begin_log("nodes");
    if (at_tuning_open(&o, &request, log_path, &t, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_tuning_run(&t, &(at_tune_events){0}, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(t.final.count > 1);
    for (int i = 0; i < t.final.count; i++) {
        const at_finalist *f = &t.final.of[i];
        int64_t index = f->result->config.index;
        assert_int_equal(f->turns.num_rounds, 2);
        for (int k = 0; k < 2; k++)
            assert_true(fabs(f->turns.rounds[k].time_s / time_of(index) - 1) < 1e-4);
        assert_true(fabs(f->turns.time_s / time_of(index) - 1) < 1e-4);
        if (best < 0 || time_of(index) < time_of(best)) best = index;
    }
    assert_non_null(t.final.winner);
    assert_true(fabs(time_of(t.final.winner->result->config.index) / time_of(best) - 1) < 1e-3);
    at_tuning_close(&t, &err);
    unlink(log_path);
    at_arena_free(c.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once),     cmocka_unit_test(resumed),          cmocka_unit_test(as_here),
        cmocka_unit_test(contexts), cmocka_unit_test(two_nodes),        cmocka_unit_test(slow_node),
        cmocka_unit_test(apart),    cmocka_unit_test(refused_in_doubt), cmocka_unit_test(moments)};
    return cmocka_run_group_tests_name("engine/far", tests, NULL, NULL);
}
