/* remote/simulate.c: see simulate.h. Time is this thread's processor time while the search works,
 * and jumps to the next event while it waits. */
#include "remote/simulate.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "remote/result.h"

static const double start_s = 0.002; /* of a trial beside its kernel's runs; measured: 2 to 3 ms */
static const double back_s = 1;      /* a lost worker joins again */
enum { RUNS = 5, PAIRS = 3 };
static const double apart = 0.1; /* nodes' speeds, and pairs of a trial, differ by at most that */

static const char anchor_code[] = "0123456789abcdef0123456789abcdef";

typedef enum kind { JOIN, RESULT, LOSS } kind;

typedef struct event {
    double at_s;
    kind kind;
    int worker, generation;
    at_trial_id id;
    int64_t index;
} event;

typedef struct simulated_worker {
    double free_s; /* when it has done all that was asked of it */
    double slower; /* its times over those recorded */
    int generation;
} simulated_worker;

typedef struct simulation {
    const at_recorded *space;
    const at_simulation *what;
    at_session session; /* of the workers */
    at_record base;     /* as READY says it: of the anchor, which takes so long */
    double anchor_s;
    at_text bytes;
    at_arena *arena;
    at_rng rng;
    simulated_worker *workers;
    event *heap;
    int num_events, cap;
    double now_s, left_cpu_s; /* left: when the search went on */
    double busy_s, wire_s;    /* wire: system calls of a trial, measured */
    int64_t results, last_results, done;
    double first_s, last_s, busy_first_s, busy_last_s;
    double to_95_s;
    int64_t to_95_trials;
} simulation;

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the search has done since it was left takes time; what follows here does not. */
static void charge(simulation *s) {
    double now = cpu_s(), spent_s = now - s->left_cpu_s;
    s->now_s += spent_s;
    s->busy_s += spent_s;
    s->left_cpu_s = now;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void push(simulation *s, event e) {
    if (s->num_events == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->heap = realloc(s->heap, sizeof *s->heap * (size_t)s->cap);
        AT_NEED(s->heap);
    }
    int i = s->num_events++;
    for (; i > 0 && s->heap[(i - 1) / 2].at_s > e.at_s; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static event pop(simulation *s) {
    event first = s->heap[0], last = s->heap[--s->num_events];
    int i = 0;
    for (int child; (child = 2 * i + 1) < s->num_events; i = child) {
        if (child + 1 < s->num_events && s->heap[child + 1].at_s < s->heap[child].at_s) child++;
        if (last.at_s <= s->heap[child].at_s) break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return first;
}

/* ---- workers --------------------------------------------------------------------------------- */

/* Points that were not recorded get some time, the same whenever it is asked for. */
static double kernel_s(const simulation *s, int64_t index) {
    double t = s->space->time_s[at_space_place(s->space->space, index)];
    at_rng r;
    if (t != 0) return t;
    at_rng_seed(&r, (uint64_t)index, 95);
    return s->space->best_s * (1.1 + 8 * at_rng_unit(&r));
}

/* A trial of a kernel that takes so long. */
static double takes_s(const simulation *s, double kernel_s) {
    return s->what->trial_s > 0 ? s->what->trial_s : start_s + (kernel_s > 0 ? RUNS * kernel_s : 0);
}

/* As a worker has it that times in pairs. */
static void fill_record(simulation *s, at_arena *a, int worker, int64_t index, at_record *r) {
    double t = kernel_s(s, index), *cost = AT_NEW(a, double);
    double *ratios = AT_NEW_ARRAY(a, double, PAIRS), *times_s = AT_NEW_ARRAY(a, double, PAIRS);
    double anchor_s = s->anchor_s * s->workers[worker].slower;
    at_extra *x = &r->extra;
    *r = s->base;
    at_config_at(a, s->session.what.space, index, &r->config, NULL);
    r->error_no = t > 0 ? 0 : (int)-t;
    r->num_costs = 1;
    r->costs_s = cost;
    r->all_cost_s = takes_s(s, t);
    r->timestamp_s = at_wall_time_s();
    *cost = t > 0 ? t / s->anchor_s * anchor_s : 1e9;
    x->code_hash = at_format(a, "%032llx", (unsigned long long)index + 1);
    x->error = t > 0 ? "" : "recorded as a failure";
    x->check = t > 0 ? AT_CHECK_EXACT : AT_CHECK_UNCHECKED;
    if (!(t > 0)) return;
    for (int i = 0; i < PAIRS; i++) {
        /* The median is what is recorded. */
        double off = i == 1 ? 0 : (i - 1) * apart * at_rng_unit(&s->rng);
        ratios[i] = round(t / s->anchor_s * (1 + off) * 1e6) / 1e6;
        times_s[i] = at_with_digits(ratios[i] * anchor_s, AT_TIME_DIGITS);
    }
    x->samples_s = times_s;
    x->num_samples = PAIRS;
    x->number = 1;
    x->sample_kind = AT_SAMPLES_FULL;
    x->gflops = s->session.what.work / *cost * 1e-9;
    x->pairs = (at_paired){.of_first = ratios[1],
                           .ratio = ratios[1],
                           .first = anchor_code,
                           .ratios = ratios,
                           .num_ratios = PAIRS,
                           .states = ""};
}

/* What it says of its anchor when it joins. */
static const char *anchor_of(simulation *s, at_arena *a, int worker) {
    at_text text = {0};
    at_anchor_line_print(&text,
                         &(at_anchor_line){.task = s->base.task,
                                           .args = s->base.args,
                                           .context_hash = s->base.extra.context_hash,
                                           .code_hash = anchor_code,
                                           .first = anchor_code,
                                           .linked_to = -1,
                                           .of_first = 1,
                                           .first_s = s->anchor_s * s->workers[worker].slower,
                                           .config = &s->base.config});
    return at_text_take(a, &text);
}

static void trial(void *self, int worker, const at_trial_id *id, const char *entity,
                  double best_s) {
    simulation *s = self;
    at_error err;
    at_text_clear(&s->bytes);
    at_frame_put(&s->bytes,
                 &(at_frame){.type = AT_FRAME_TRIAL,
                             .number = (uint64_t)id->number,
                             .entity = entity,
                             .best_s = best_s},
                 &err);
    charge(s);
    s->now_s += s->wire_s / 2;
    s->busy_s += s->wire_s / 2;
    const at_json *json;
    at_config c;
    at_arena_reset(s->arena);
    if (at_json_parse(s->arena, entity, strlen(entity), &json, &err) != AT_OK ||
        at_config_from_json(s->arena, s->session.what.space, json, &c, &err) != AT_OK)
        AT_BUG("%s", err.text);
    simulated_worker *w = &s->workers[worker];
    double t = kernel_s(s, c.index), begin_s = s->now_s + s->what->latency_s;
    if (begin_s < w->free_s) begin_s = w->free_s;
    w->free_s = begin_s + takes_s(s, t);
    bool lost = at_rng_unit(&s->rng) < s->what->losses;
    push(s, (event){.at_s = w->free_s + s->what->latency_s,
                    .kind = lost ? LOSS : RESULT,
                    .worker = worker,
                    .generation = w->generation,
                    .id = *id,
                    .index = c.index});
    s->left_cpu_s = cpu_s();
}

/* ---- the search's side ----------------------------------------------------------------------- */

static void note_result(simulation *s, const event *e) {
    double t = kernel_s(s, e->index);
    int64_t warm = s->what->workers;
    s->results++;
    if (s->results <= warm) s->first_s = s->now_s, s->busy_first_s = s->busy_s;
    if (s->results <= s->what->trials - warm || s->results <= warm + 1)
        s->last_s = s->now_s, s->busy_last_s = s->busy_s, s->last_results = s->results;
    if (isinf(s->to_95_s) && t > 0 && s->space->best_s / t >= at_goals[1]) {
        s->to_95_s = s->now_s;
        s->to_95_trials = s->results;
    }
}

/* As it comes over the wire, read by the search. */
static void read_result(simulation *s, at_arena *a, const event *e, at_far_event *out) {
    at_record r;
    at_frame f;
    at_error err;
    size_t taken;
    at_arena_reset(s->arena);
    fill_record(s, s->arena, e->worker, e->index, &r);
    f = at_result_frame(&e->id, &r);
    at_text_clear(&s->bytes);
    at_frame_put(&s->bytes, &f, &err);
    s->now_s += s->wire_s / 2;
    s->busy_s += s->wire_s / 2;
    s->left_cpu_s = cpu_s(); /* from here on it is the search's work */
    if (at_frame_get(a, s->bytes.data, s->bytes.len, &taken, &f, &err) != AT_OK ||
        !at_result_read(&f, &s->base, &out->record, &out->trial))
        AT_BUG("a result that cannot be read");
    charge(s);
    out->kind = AT_FAR_RESULT;
}

static at_status next(void *self, at_arena *a, double wait_s, at_far_event *out, at_error *err) {
    simulation *s = self;
    (void)err;
    charge(s);
    *out = (at_far_event){.worker = -1, .name = "worker", .node = "node"};
    const double until_s = s->now_s + wait_s;
    while (s->num_events && s->heap[0].at_s <= until_s && out->kind == AT_FAR_NOTHING) {
        event e = pop(s);
        simulated_worker *w = &s->workers[e.worker];
        if (e.kind != JOIN && e.generation != w->generation) continue; /* it was lost meanwhile */
        if (e.at_s > s->now_s) s->now_s = e.at_s;
        out->worker = e.worker;
        if (e.kind == RESULT) {
            read_result(s, a, &e, out);
            note_result(s, &e);
        } else if (e.kind == JOIN) {
            out->kind = AT_FAR_JOINED;
            out->record = s->base;
            out->anchor = anchor_of(s, a, e.worker);
            w->free_s = s->now_s;
        } else {
            out->kind = AT_FAR_LEFT;
            w->generation++;
            push(s, (event){.at_s = s->now_s + back_s, .kind = JOIN, .worker = e.worker});
        }
    }
    if (out->kind == AT_FAR_NOTHING) s->now_s = until_s;
    s->left_cpu_s = cpu_s();
    return AT_OK;
}

/* What a trial costs in system calls: a message is written, one is read, and they are waited for.
 */
static double measure_wire(void) {
    enum { TIMES = 1000, BYTES = 400 };
    int fd[2];
    char bytes[BYTES] = {0};
    if (pipe(fd)) return 0;
    double begin_s = cpu_s();
    for (int i = 0; i < TIMES; i++) {
        struct pollfd p = {.fd = fd[0], .events = POLLIN};
        if (write(fd[1], bytes, sizeof bytes) != BYTES || poll(&p, 1, 0) < 0 ||
            read(fd[0], bytes, sizeof bytes) != BYTES)
            break;
    }
    double each_s = (cpu_s() - begin_s) / TIMES;
    close(fd[0]), close(fd[1]);
    return each_s;
}

static at_status begin(void *self, const at_far_task *task, at_error *err) {
    simulation *s = self;
    at_engine_options o = *task->options;
    at_config config;
    at_candidate x;
    o.far = NULL;
    AT_TRY(at_session_open(&o, task->request, true, &s->session, err));
    AT_TRY(at_session_context(&s->session, false, err));
    AT_TRY(at_task_default_config(s->session.arena, s->session.what.task,
                                  s->session.how.target->default_lanes, &config, err));
    at_candidate_build(&s->session, s->session.arena, &config, &x, &s->base);
    double default_s = kernel_s(s, config.index);
    s->anchor_s = default_s > 0 ? default_s : 2 * s->space->best_s;
    s->wire_s = measure_wire();
    for (int i = 0; i < s->what->workers; i++) {
        s->workers[i].slower = 1 + apart * at_rng_unit(&s->rng);
        push(s, (event){.kind = JOIN, .worker = i});
    }
    s->left_cpu_s = cpu_s();
    return AT_OK;
}

static void final(void *self, int worker, const char *records, double budget_s) {
    (void)self, (void)worker, (void)records, (void)budget_s;
}
static void compare(void *self, int worker) { (void)self, (void)worker; /* they are alike */ }
static void refuse(void *self, int worker, const char *why) { (void)self, (void)worker, (void)why; }
static int workers(void *self) { return ((simulation *)self)->what->workers; }
static void end(void *self) { at_session_close(&((simulation *)self)->session); }

/* The search, without its final. */
static at_status search(simulation *s, const at_engine_options *given, const char *log,
                        at_error *err) {
    const at_far far = {s, "", begin, next, trial, final, compare, refuse, workers, end};
    at_engine_options o = *given;
    at_tuning t;
    at_error late;
    at_request q = {.template_name = at_task_row(s->space->task)->name,
                    .args = s->space->args_text};
    o.far = &far;
    o.trials = s->what->trials;
    at_status status = at_tuning_open(&o, &q, log, &t, err);
    if (status == AT_OK) status = at_far_run(&t, t.tally.total, err);
    if (status == AT_OK) s->done = t.tally.done;
    at_status closed = at_tuning_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

at_status at_simulate(const at_recorded *r, const at_engine_options *o, const at_simulation *what,
                      at_simulated *out, at_error *err) {
    simulation s = {.space = r, .to_95_s = INFINITY};
    at_simulation bounded = *what;
    char log[] = "/tmp/autotune-simulate-XXXXXX";
    if (!r->task)
        return at_fail(err, AT_E_USAGE, "--workers: there is no template \"%s\" here", r->name);
    if (bounded.trials > r->points) bounded.trials = r->points;
    s.what = &bounded;
    int fd = mkstemp(log);
    if (fd < 0) return at_fail(err, AT_E_OUTPUT, "cannot make %s: %s", log, strerror(errno));
    close(fd);
    s.arena = at_arena_new();
    s.workers = calloc((size_t)what->workers, sizeof *s.workers);
    AT_NEED(s.workers);
    at_rng_seed(&s.rng, o->seed, 4096);
    at_status status = search(&s, o, log, err);
    unlink(log);
    double time_s = s.last_s - s.first_s;
    int64_t counted = s.last_results - what->workers;
    *out =
        (at_simulated){.trials = s.done,
                       .measured = s.results,
                       .seconds = s.now_s,
                       .per_second = counted > 0 && time_s > 0 ? (double)counted / time_s
                                                               : (double)s.results / s.now_s,
                       .search_share = time_s > 0 ? (s.busy_last_s - s.busy_first_s) / time_s : 0,
                       .to_95_s = s.to_95_s,
                       .to_95_trials = s.to_95_trials};
    free(s.heap);
    free(s.workers);
    at_text_free(&s.bytes);
    at_arena_free(s.arena);
    return status;
}
