/* library/lib_tune.c: a search, told to the caller trial by trial. */
#include "library/library.h"

typedef struct listener {
    at_lib_task *task;
    at_lib_progress_fn *progress;
    void *ctx;
} listener;

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    const listener *l = ctx;
    const at_tally *y = &t->tally;
    const at_lib_progress p = {.done = y->done,
                               .total = y->total,
                               .answered = y->answered,
                               .failed = at_tally_failed(y),
                               .index = r->config.index,
                               .error_no = r->error_no,
                               .gflops = at_record_is_candidate(r) ? r->extra.gflops : 0,
                               .best_gflops = y->best};
    (void)answered;
    at_lib_out(l->task->lib);
    int enough = l->progress(l->ctx, &p);
    at_lib_in(l->task->lib);
    if (enough) at_lib_cancel(l->task);
}

void at_lib_cancel(at_lib_task *t) {
    if (t) __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
}

static at_status outcome(const at_tuning *t, at_error *err) {
    at_best best;
    if (at_engine_stopped(&t->s.options)) return at_fail(err, AT_E_INTERRUPTED, "interrupted");
    if (at_tuning_best(t, &best)) return AT_OK;
    const at_record *first = t->first_failed;
    return at_fail(err, AT_E_NO_VALID, "no valid configuration in %lld trial%s%s%s",
                   (long long)t->tally.done, at_plural(t->tally.done),
                   first ? "; the first failed with: " : "", first ? first->extra.error : "");
}

static at_status tune(at_lib_task *task, const char *log, listener *l, at_error *err) {
    at_tuning t;
    at_error late;
    at_engine_options o = at_lib_options(task);
    AT_TRY(at_lib_worker(task->lib, &o.worker, err));
    at_template_limits(o.timeout_s > 0 ? o.timeout_s : 10, &task->stop);
    at_status s = at_tuning_open(&o, &task->request, log, &t, err);
    if (s == AT_OK)
        s = at_tuning_run(&t, &(at_tune_events){.trial = l->progress ? trial : NULL, .ctx = l},
                          err);
    if (s == AT_OK) s = outcome(&t, err);
    at_status closed = at_tuning_close(&t, s == AT_OK ? err : &late);
    return s == AT_OK ? closed : s;
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
