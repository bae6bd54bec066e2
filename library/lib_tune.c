/* library/lib_tune.c: a search, told to the caller trial by trial. */
#include "library/library.h"

typedef struct listener {
    at_lib_task *task;
    at_lib_progress_fn *progress;
    void *ctx;
} listener;

static void tell(const listener *l, const at_tally *y, const at_record *r, double best_gflops) {
    const at_lib_progress p = {.done = y->done,
                               .total = y->total,
                               .answered = y->answered,
                               .failed = at_tally_failed(y),
                               .index = r->config.index,
                               .error_no = r->error_no,
                               .gflops = at_record_is_candidate(r) ? r->extra.gflops : 0,
                               .best_gflops = best_gflops};
    if (!l->progress) return;
    at_lib_out(l->task->lib);
    int enough = l->progress(l->ctx, &p);
    at_lib_in(l->task->lib);
    if (enough) at_lib_cancel(l->task);
}

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    (void)answered;
    tell(ctx, &t->tally, r, t->tally.best);
}

static void trial_of_way(void *ctx, at_set_tuning *t, int member, const at_record *r,
                         bool answered) {
    double best = 0;
    (void)member;
    (void)answered;
    for (int i = 0; i < t->num_members; i++)
        if (t->members[i].tuning.tally.best > best) best = t->members[i].tuning.tally.best;
    tell(ctx, &t->tally, r, best);
}

void at_lib_cancel(at_lib_task *t) {
    if (t) __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
}

/* first: failed trial; NULL: there is none. */
static at_status none_valid(const at_tally *y, const at_record *first, at_error *err) {
    return at_fail(err, AT_E_NO_VALID, "no valid configuration in %lld trial%s%s%s",
                   (long long)y->done, at_plural(y->done), first ? "; the first failed with: " : "",
                   first ? first->extra.error : "");
}

static at_status tune_one(const at_engine_options *o, const at_request *q, const char *log,
                          listener *l, at_error *err) {
    at_tuning t;
    at_best best;
    at_error late;
    at_status s = at_tuning_open(o, q, log, &t, err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){.trial = trial, .ctx = l}, err);
    if (s == AT_OK && at_is_set(o->stop)) s = at_fail_stopped(err);
    if (s == AT_OK && !at_tuning_best(&t, &best)) s = none_valid(&t.tally, t.first_failed, err);
    at_status closed = at_tuning_close(&t, s == AT_OK ? err : &late);
    return s == AT_OK ? closed : s;
}

/* All ways, with one budget. */
static at_status tune_ways(const at_engine_options *o, const at_problem *p, const char *log,
                           listener *l, at_error *err) {
    at_set_tuning t;
    at_best best;
    at_error late;
    const at_record *failed = NULL;
    at_status s = at_set_open(o, p, 1, log, &t, err);
    if (s == AT_OK) s = at_set_run(&t, &(at_set_events){.trial = trial_of_way, .ctx = l}, err);
    if (s == AT_OK && at_is_set(o->stop)) s = at_fail_stopped(err);
    for (int i = 0; i < t.num_members && !failed; i++) failed = t.members[i].tuning.first_failed;
    if (s == AT_OK && at_set_best(&t, 0, &best) < 0) s = none_valid(&t.tally, failed, err);
    at_status closed = at_set_close(&t, s == AT_OK ? err : &late);
    return s == AT_OK ? closed : s;
}

static at_status tune(at_lib_task *task, const char *log, listener *l, at_error *err) {
    at_engine_options o = at_lib_options(task);
    AT_TRY(at_lib_worker(task->lib, &o.worker, err));
    at_template_limit(o.timeout_s > 0 ? o.timeout_s : 10);
    at_halt_when(
        &(at_halt){&task->stop, o.time_s > 0 ? at_now_ns() + (int64_t)(o.time_s * 1e9) : 0});
    const at_problem *p = &task->problem;
    return p->num_ways == 1 ? tune_one(&o, p->ways, log, l, err) : tune_ways(&o, p, log, l, err);
}

int at_lib_tune(at_lib_task *t, const char *log, at_lib_progress_fn *progress, void *ctx) {
    at_lib_state state;
    at_error err = {0};
    if (!t) return AT_LIB_USAGE;
    if (!log) return at_lib_misuse(t->lib, "no log: give its path");
    __atomic_store_n(&t->stop, 0, __ATOMIC_RELAXED);
    at_lib_enter(t->lib, &state);
    listener l = {t, progress, ctx};
    int code = at_lib_code_of(t->lib, tune(t, log, &l, &err), &err);
    at_lib_leave(t->lib, &state);
    return code;
}
