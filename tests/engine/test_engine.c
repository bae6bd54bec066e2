/* The engine as a program uses it: runs beside each other in one process, an end when it is asked
 * for, mistakes of the caller as a status and a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/folder.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *log_path(at_arena *a, const char *name) {
    return at_format(a, "%s/%s.log", folder, name);
}

/* ---- what is told ---------------------------------------------------------------------------- */

typedef struct listener {
    int64_t begun, ended, trials, answered;
    int64_t wrong;      /* things told; runs of other threads cannot end a test */
    int64_t stop_after; /* trials; 0: never */
    volatile int stop;
    const char *name; /* of the template that the run is of */
} listener;

static void begin(void *ctx, at_tuning *t) {
    listener *l = ctx;
    l->wrong += strcmp(t->s.what.row->name, l->name) != 0;
    l->begun++;
}

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    listener *l = ctx;
    l->trials++;
    l->answered += answered;
    l->wrong += t->tally.done != l->trials;
    l->wrong += strcmp(r->task, at_task_record_name(t->s.what.task)) != 0;
    if (l->trials == l->stop_after) l->stop = 1;
}

static void end(void *ctx, at_tuning *t) {
    listener *l = ctx;
    l->wrong += t->tally.answered != l->answered;
    l->ended++;
}

static at_engine_options options_of(listener *l, int64_t trials) {
    return (at_engine_options){.isa = "scalar",
                               .tuner = "grid",
                               .number = 1,
                               .repeat = 2,
                               .trials = trials,
                               .stop = &l->stop};
}

/* A run, its events told to l. */
static at_status tune(const at_engine_options *o, const at_request *q, const char *log, listener *l,
                      at_best *best, at_error *err) {
    at_tuning t;
    l->name = q->template_name;
    at_status s = at_tuning_open(o, q, log, &t, err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){begin, trial, end, l}, err);
    if (s == AT_OK && !at_tuning_best(&t, best)) s = AT_E_NO_VALID;
    if (s == AT_OK) {
        l->wrong += !(best->time_s > 0 && best->gflops > 0 && best->record->config.index >= 0);
        l->wrong += !best->final != (l->stop != 0); /* who is stopped holds no final */
    }
    at_status closed = at_tuning_close(&t, NULL);
    return s == AT_OK ? closed : s;
}

static int count_records(at_arena *a, const char *log) {
    at_record *all;
    int n;
    assert_int_equal(at_log_read_all(a, log, NULL, NULL, &all, &n, NULL), AT_OK);
    for (int i = 0; i < n; i++) assert_int_equal(all[i].extra.check, AT_CHECK_EXACT);
    return n;
}

/* ---- an end ---------------------------------------------------------------------------------- */

/* Stopped from a callback, it ends after that trial; the same again goes on from the log. */
static void stop_and_go_on(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err = {0};
    at_best best;
    listener first = {.stop_after = 5}, second = {0};
    const char *log = log_path(a, "stopped");
    at_request q = {.template_name = "matmul_add", .args = "N=8,L=8,M=16"};
    at_engine_options o = options_of(&first, 12);
    assert_int_equal(tune(&o, &q, log, &first, &best, &err), AT_OK);
    assert_int_equal(first.trials, 5);
    assert_true(first.begun == 1 && first.ended == 1 && !first.wrong);
    assert_int_equal(count_records(a, log), 5);

    o = options_of(&second, 12);
    assert_int_equal(tune(&o, &q, log, &second, &best, &err), AT_OK);
    assert_true(second.trials == 12 && second.answered == 5 && !second.wrong);
    assert_int_equal(count_records(a, log), 12);
    at_arena_free(a);
}

/* ---- beside each other ----------------------------------------------------------------------- */

typedef struct run {
    const char *template_name, *args, *log;
    uint64_t seed;
    listener told;
    at_best best;
    at_status status;
    at_error err;
} run;

static void *run_one(void *ctx) {
    run *r = ctx;
    at_engine_options o = options_of(&r->told, 10);
    at_request q = {.template_name = r->template_name, .args = r->args};
    o.seed = r->seed;
    r->status = tune(&o, &q, r->log, &r->told, &r->best, &r->err);
    return NULL;
}

/* Two threads, a task and a log each; one is stopped, which the other does not notice. */
static void two_at_a_time(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    run runs[2] = {{.template_name = "matmul_add", .args = "N=6,L=8,M=16", .seed = 1},
                   {.template_name = "dense", .args = "M=8,N=16,K=8", .seed = 2}};
    pthread_t threads[2];
    runs[1].told.stop_after = 3;
    for (int i = 0; i < 2; i++) runs[i].log = log_path(a, runs[i].template_name);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, &runs[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        at_record *all;
        int n;
        if (runs[i].status != AT_OK) fail_msg("%s", runs[i].err.text);
        assert_int_equal(runs[i].told.trials, i ? 3 : 10);
        assert_int_equal(runs[i].told.wrong, 0);
        assert_int_equal(at_log_read_all(a, runs[i].log, NULL, NULL, &all, &n, NULL), AT_OK);
        assert_int_equal(n, runs[i].told.trials);
        for (int k = 0; k < n; k++) {
            assert_string_equal(all[k].task, i ? "dense_pack.x86" : "matmul_add");
            assert_int_equal(all[k].extra.seed, runs[i].seed);
            assert_int_equal(all[k].extra.check, AT_CHECK_EXACT);
        }
    }
    at_arena_free(a);
}

/* ---- several tasks, one budget --------------------------------------------------------------- */

enum { MOST_TOLD = 256 };
typedef struct set_listener {
    int members[MOST_TOLD]; /* of each trial */
    int trials, answered, rounds, ended, stop_after;
    volatile int stop;
} set_listener;

static void set_round(void *ctx, at_set_tuning *t, int member) {
    set_listener *l = ctx;
    assert_true(member >= 0 && member < t->num_members);
    l->rounds++;
}

static void set_trial(void *ctx, at_set_tuning *t, int member, const at_record *r, bool answered) {
    set_listener *l = ctx;
    const at_session *s = &t->members[member].tuning.s;
    assert_string_equal(r->task, at_task_record_name(s->what.task));
    assert_true(at_args_equal(r->args, at_task_args(s->what.task)));
    assert_true(l->trials < MOST_TOLD);
    l->members[l->trials++] = member;
    l->answered += answered;
    assert_int_equal(t->tally.done, l->trials);
    int workers = 0;
    for (int i = 0; i < t->num_members; i++) workers += i == t->current;
    assert_int_equal(workers, 1);
    if (l->trials == l->stop_after) l->stop = 1;
}

static void set_end(void *ctx, at_set_tuning *t) {
    set_listener *l = ctx;
    l->ended++;
    assert_int_equal(t->tally.answered, l->answered);
}

/* Found: bit i is set where task i has a best. */
static void tune_set(at_arena *a, const at_problem *tasks, int n, const char *log, int64_t trials,
                     set_listener *l, uint64_t *found) {
    at_set_tuning t;
    at_error err = {0};
    listener unused;
    at_engine_options o = options_of(&unused, trials);
    const at_set_events events = {NULL, set_round, set_trial, set_end, l};
    o.stop = &l->stop;
    o.tuner = "random";
    if (at_set_open(&o, tasks, n, log_path(a, log), &t, &err) != AT_OK ||
        at_set_run(&t, &events, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(l->ended, 1);
    *found = 0;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        at_best best;
        sum += t.members[i].tuning.tally.done;
        if (i < 64 && at_tuning_best(&t.members[i].tuning, &best)) *found |= (uint64_t)1 << i;
    }
    assert_int_equal(sum, l->trials);
    assert_int_equal(at_set_close(&t, &err), AT_OK);
}

static at_problem problem_of(at_arena *a, const char *name, const char *args, int64_t count) {
    at_problem p;
    at_error err;
    const at_request q = {.template_name = name, .args = args};
    if (at_problem_make(a, &(at_engine_options){0}, &q, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    p.count = count;
    return p;
}

/* One budget for three tasks of two templates, in one log. Again, from the log alone, and after an
 * end in between, the same tasks have their turns in the same order. */
static void one_budget(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_problem tasks[] = {problem_of(a, "matmul_add", "N=8,L=8,M=16", 1),
                                problem_of(a, "dense", "M=16,N=32,K=16", 9),
                                problem_of(a, "dense", "M=8,N=16,K=8", 2)};
    static set_listener first = {.stop_after = 60}, again = {.stop_after = 60},
                        begun = {.stop_after = 23}, resumed = {.stop_after = 60};
    uint64_t found;
    tune_set(a, tasks, 3, "set", 60, &first, &found);
    assert_true(first.trials == 60 && !first.answered && first.rounds == 15);
    assert_int_equal(found, 7);
    assert_int_equal(count_records(a, log_path(a, "set")), 60);
    int trials[3] = {0};
    for (int i = 0; i < 60; i++) trials[first.members[i]]++;
    for (int i = 0; i < 3; i++) assert_true(trials[i] > 0);

    tune_set(a, tasks, 3, "set", 60, &again, &found);
    assert_true(again.trials == 60 && again.answered == 60);
    assert_memory_equal(again.members, first.members, sizeof first.members);

    tune_set(a, tasks, 3, "set.begun", 60, &begun, &found);
    assert_int_equal(begun.trials, 23);
    tune_set(a, tasks, 3, "set.begun", 60, &resumed, &found);
    assert_true(resumed.trials == 60 && resumed.answered == 23);
    assert_memory_equal(resumed.members, begun.members, 23 * sizeof *begun.members);
    assert_int_equal(count_records(a, log_path(a, "set.begun")), 60);
    at_arena_free(a);
}

/* Of two tasks in turn, by the log that a search of one of them left: the other one begins, unless
 * its results are of another context. */
static void results_of_a_context(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_problem tasks[] = {problem_of(a, "dense", "M=16,N=32,K=16", 9),
                                problem_of(a, "dense", "M=8,N=16,K=8", 2)};
    static const at_packing packings[] = {AT_PACKING_INLINE, AT_PACKING_AHEAD};
    for (int i = 0; i < 2; i++) {
        static set_listener l[2];
        uint64_t found;
        listener unused = {0};
        at_engine_options o = options_of(&unused, 1);
        at_set_tuning t;
        at_error err = {0};
        o.packing = packings[i];
        if (at_set_open(&o, tasks, 1, log_path(a, "context"), &t, &err) != AT_OK ||
            at_set_run(&t, &(at_set_events){0}, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(at_set_close(&t, &err), AT_OK);
        l[i].stop_after = 1;
        tune_set(a, tasks, 2, "context", 2, &l[i], &found);
        assert_int_equal(l[i].members[0], i);
    }
    at_arena_free(a);
}

/* A problem with two ways of a product beside one with a single way: what wins is of the one or the
 * other way, and each way has had trials. */
static void ways_of_a_problem(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_request product[] = {
        {.template_name = "dense", .args = "M=16,N=32,K=16"},
        {.template_name = "conv2d_nhwc", .args = "N=1,H=1,W=16,CI=16,CO=32,KH=1,KW=1,padding=0"}};
    const at_problem problems[] = {{.name = "product", .ways = product, .num_ways = 2, .count = 2},
                                   problem_of(a, "matmul_add", "N=8,L=8,M=16", 1)};
    at_set_tuning t;
    at_error err = {0};
    at_best best, of_way;
    listener unused = {0};
    at_engine_options o = options_of(&unused, 90);
    o.tuner = "random";
    if (at_set_open(&o, problems, 2, log_path(a, "ways"), &t, &err) != AT_OK ||
        at_set_run(&t, &(at_set_events){0}, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(t.num_members, 3);
    assert_int_equal(t.tally.done, 90);
    int way = at_set_best(&t, 0, &best);
    assert_in_range(way, 0, 1);
    for (int i = 0; i < 2; i++) {
        assert_true(t.members[i].tuning.tally.done >= 7);
        assert_true(at_tuning_best(&t.members[i].tuning, &of_way));
        assert_true(i == way ? of_way.record == best.record : of_way.time_s >= best.time_s);
    }
    assert_int_equal(at_set_best(&t, 1, &best), 0);
    assert_int_equal(at_set_close(&t, &err), AT_OK);
    at_arena_free(a);
}

/* More tasks than are kept ready: those that wait longest are made again when it is their turn. */
static void many_tasks(void **state) {
    (void)state;
    enum { N = 67, TRIALS = N + 40 };
    at_arena *a = at_arena_new();
    static at_problem tasks[N];
    static set_listener l = {.stop_after = TRIALS};
    uint64_t found;
    for (int i = 0; i < N; i++)
        tasks[i] = problem_of(a, "dense", at_format(a, "M=2,N=16,K=%d", i + 1), 1);
    tune_set(a, tasks, N, "many", TRIALS, &l, &found);
    assert_int_equal(found, UINT64_MAX);
    assert_int_equal(count_records(a, log_path(a, "many")), TRIALS);

    at_set_tuning t;
    at_error err;
    listener unused = {0};
    at_engine_options o = options_of(&unused, N - 1);
    assert_int_equal(at_set_open(&o, tasks, N, log_path(a, "few"), &t, &err), AT_E_USAGE);
    assert_string_equal(err.text, "66 trials are too few for 67 tasks: each takes one at least");
    assert_int_not_equal(access(log_path(a, "few"), F_OK), 0);
    at_set_close(&t, NULL);
    at_arena_free(a);
}

/* Where few files may be open, the data of few tasks are kept. */
static void few_files(void **state) {
    (void)state;
    enum { N = 40, FILES = 36 };
    at_arena *a = at_arena_new();
    static at_problem tasks[N];
    static set_listener l = {.stop_after = N};
    uint64_t found;
    struct rlimit was;
    for (int i = 0; i < N; i++)
        tasks[i] = problem_of(a, "dense", at_format(a, "M=2,N=16,K=%d", i + 1), 1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES, was.rlim_max}), 0);
    tune_set(a, tasks, N, "files", N, &l, &found);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(count_records(a, log_path(a, "files")), N);
    at_arena_free(a);
}

/* ---- one configuration ----------------------------------------------------------------------- */

/* By its index, then the same one by its entity: one kernel, checked and timed. */
static void measured(void **state) {
    (void)state;
    char entity[1024] = "";
    char hash[33] = "";
    for (int i = 0; i < 2; i++) {
        at_session s;
        at_error err = {0};
        at_candidate c;
        at_record r;
        at_timing time;
        at_engine_options o = {.number = 1, .repeat = 3};
        at_request q = {.template_name = "dense", .args = "M=8,N=16,K=8"};
        q.has_index = i == 0;
        q.index = 11;
        if (i) q.config = entity;
        if (at_session_open(&o, &q, false, &s, &err) != AT_OK ||
            at_session_context(&s, true, &err) != AT_OK || at_session_reserve(&s, &err) != AT_OK ||
            at_session_start(&s, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(s.what.chosen.config.index, 11);
        assert_int_equal(at_config_time(&s, &s.what.chosen.config, &c, &r, &time, &err), AT_OK);
        assert_non_null(c.kernel);
        assert_int_equal(r.error_no, AT_ERR_NONE);
        assert_int_equal(r.extra.check, AT_CHECK_EXACT);
        assert_int_equal(r.extra.num_samples, 3);
        assert_true(time.time_s > 0 && time.gflops > 0);
        if (i) assert_string_equal(r.extra.code_hash, hash);
        strcpy(hash, r.extra.code_hash);
        at_text text = {0};
        at_config_print_json(&text, &s.what.chosen.config);
        snprintf(entity, sizeof entity, "%s", at_text_str(&text));
        at_text_free(&text);
        at_session_close(&s);
    }
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void mistakes(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const struct {
        at_engine_options o;
        at_request q;
        at_status status;
        const char *text;
    } cases[] = {
        {{0}, {0}, AT_E_USAGE, "no template"},
        {{.repeat = 65}, {.template_name = "dense"}, AT_E_USAGE, "repeat 65: must be from 0 to 64"},
        {{.isa = "mmx"},
         {.template_name = "dense"},
         AT_E_USAGE,
         "isa mmx: there are scalar, sse2, avx2, avx2_f16c, avx2_vnni, avx512"},
        {{.timeout_s = -1}, {.template_name = "dense"}, AT_E_USAGE, "timeout_s -1"},
        {{.tuner = "ga:size=3"}, {.template_name = "dense"}, AT_E_USAGE, "size"},
        {{.tuner_options = {.begin = 5, .end = 2}}, {.template_name = "dense"}, AT_E_USAGE, ""},
        {{0}, {.template_name = "nothing"}, AT_E_USAGE, "unknown template \"nothing\""},
        {{0}, {.template_name = "dense", .args = "Q=1"}, AT_E_USAGE, "Q"},
        {{0}, {.template_name = "dense", .args = "M=0"}, AT_E_USAGE, "M"},
        {{.tuner = "luck"}, {.template_name = "dense"}, AT_E_USAGE, "unknown tuner \"luck\""},
        {{.threads = 4096}, {.template_name = "dense"}, AT_E_USAGE, "4096"},
        {{0}, {.template_name = "dense", .args = "M=1000000000,K=1000000000"}, AT_E_USAGE, ""},
        {{0}, {.template_name = "dense", .sparsity = "0.5"}, AT_E_USAGE, "sparsity"},
        {{0}, {.template_name = "sparse_dense", .block = "3y"}, AT_E_USAGE, "3y"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_tuning t;
        at_error err = {0};
        at_engine_options o = cases[i].o;
        if (!o.trials) o.trials = 1;
        at_status s = at_tuning_open(&o, &cases[i].q, log_path(a, "mistakes"), &t, &err);
        at_tuning_close(&t, NULL);
        if (s != cases[i].status || !*err.text || !strstr(err.text, cases[i].text))
            fail_msg("case %zu: status %d, \"%s\"", i, (int)s, err.text);
    }
    /* A task without results: nothing best, and nothing to close. */
    at_tuning t = {0};
    at_best best;
    assert_false(at_tuning_best(&t, &best));

    at_session s;
    at_error err = {0};
    at_engine_options o = {0};
    at_request q = {.template_name = "dense", .log = log_path(a, "no")};
    assert_int_equal(at_session_open(&o, &q, false, &s, &err), AT_E_INPUT);
    at_session_close(&s);
    q = (at_request){.template_name = "dense", .has_index = true, .index = INT64_MAX};
    assert_int_equal(at_session_open(&o, &q, false, &s, &err), AT_E_USAGE);
    at_session_close(&s);
    at_arena_free(a);
}

/* Of a run with a time limit, what is kept for the final: a quarter of a short one, 3 s, and of a
 * long one a tenth of what the rest takes. */
static void reserve(void **state) {
    (void)state;
    assert_float_equal(at_final_reserve(0.8), 0.2, 1e-12);
    assert_float_equal(at_final_reserve(8), 2, 1e-12);
    assert_float_equal(at_final_reserve(20), 3, 1e-12);
    assert_float_equal(at_final_reserve(110), 10, 1e-12);
}

/* How a job ends is the runtime's, what a record says of it AutoTVM's. */
static void ends_of_jobs(void **state) {
    (void)state;
    static const int numbers[AT_JOB_END_COUNT] = {
        [AT_JOB_RAN] = 0,     [AT_JOB_NOT_COMPILED] = 2, [AT_JOB_COMPILE_TIMEOUT] = 6,
        [AT_JOB_CRASHED] = 4, [AT_JOB_TIMEOUT] = 7,      [AT_JOB_WRONG] = 5,
        [AT_JOB_LOST] = 8};
    for (int i = 0; i < AT_JOB_END_COUNT; i++)
        assert_int_equal(at_error_of_job((at_job_end)i), numbers[i]);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_of_jobs),
                                       cmocka_unit_test(stop_and_go_on),
                                       cmocka_unit_test(two_at_a_time),
                                       cmocka_unit_test(one_budget),
                                       cmocka_unit_test(results_of_a_context),
                                       cmocka_unit_test(ways_of_a_problem),
                                       cmocka_unit_test(many_tasks),
                                       cmocka_unit_test(few_files),
                                       cmocka_unit_test(measured),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(reserve)};
    return cmocka_run_group_tests_name("engine/engine", tests, make_folder, remove_folder);
}
