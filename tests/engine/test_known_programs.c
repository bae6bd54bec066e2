/* Configurations whose programs are the same: a run lowers each program once, and features of
 * bounds are worked out once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"

#include "engine/measure/known_results.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/autotune-known-XXXXXX";

static int make_log(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_log(void **state) {
    (void)state;
    return unlink(path);
}

static const char template_name[] = "sparse_dense", args[] = "M=4,N=16,K=8,nnz=9,R=2,C=1";
enum { TRIALS = 80 };

static at_key key_of(at_arena *a, const at_task *t, int64_t index) {
    at_config config;
    at_program *p;
    assert_int_equal(at_config_at(a, at_task_space(t), index, &config, NULL), AT_OK);
    assert_int_equal(at_task_program(a, t, &config, &p, NULL), AT_OK);
    return at_program_key(p);
}

static at_task *task_of(at_arena *a) {
    const at_template_row *row;
    at_task *t;
    assert_int_equal(at_template_find(template_name, &row, NULL), AT_OK);
    assert_int_equal(at_task_new(a, row, args, &t, NULL), AT_OK);
    return t;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void begin(void *ctx, at_tuning *t) { *(int64_t *)ctx = -t->s.spent.lowered; }
static void end(void *ctx, at_tuning *t) { *(int64_t *)ctx += t->s.spent.lowered; }

/* How many were lowered for the trials. */
static int64_t tune(int jobs, int trials) {
    at_tuning t;
    at_error err = {0};
    int64_t lowered = 0;
    at_engine_options o = {.isa = "scalar",
                           .tuner = "random",
                           .number = 1,
                           .repeat = 2,
                           .jobs = jobs,
                           .trials = trials};
    at_request q = {.template_name = template_name, .args = args};
    at_status s = at_tuning_open(&o, &q, path, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){begin, NULL, end, &lowered}, &err);
    at_tuning_close(&t, NULL);
    if (s != AT_OK) fail_msg("%s", err.text);
    return lowered;
}

static const at_record *first_of_key(const at_record *all, const at_key *keys, int i) {
    for (int k = 0; k < i; k++)
        if (at_key_equal(keys[k], keys[i])) return &all[k];
    return NULL;
}

/* Later ones of a program have its code and its costs, and say whose they are; returns how many
 * programs there are among the records from `from` on. */
static int check_log(at_arena *a, int from, int num_trials) {
    at_record *all;
    at_key keys[TRIALS];
    int n, programs = 0;
    at_task *t = task_of(a);
    assert_int_equal(at_log_read_all(a, path, NULL, NULL, &all, &n, NULL), AT_OK);
    assert_int_equal(n, num_trials);
    for (int i = 0; i < n; i++) {
        const at_record *r = &all[i];
        keys[i] = key_of(a, t, r->config.recorded_index);
        const at_record *first = first_of_key(all, keys, i);
        programs += i >= from && (!first || first - all < from);
        if (!first) continue;
        assert_int_equal(r->extra.same_as, first->extra.same_as >= 0
                                               ? first->extra.same_as
                                               : first->config.recorded_index);
        assert_string_equal(r->extra.code_hash, first->extra.code_hash);
        assert_int_equal(r->num_costs, first->num_costs);
        assert_memory_equal(r->costs_s, first->costs_s,
                            sizeof *r->costs_s * (size_t)first->num_costs);
    }
    return programs;
}

static void lowered_once(void **state) {
    (void)state;
    int most_jobs = at_cpu_cores(NULL, 0) > 1 ? 2 : 1;
    for (int jobs = 1; jobs <= most_jobs; jobs++) {
        at_arena *a = at_arena_new();
        assert_int_equal(truncate(path, 0), 0);
        int64_t lowered = tune(jobs, TRIALS);
        int programs = check_log(a, 0, TRIALS);
        assert_int_equal(lowered, programs);
        assert_true(programs < TRIALS);
        at_arena_free(a);
    }
}

/* The log knows nothing of programs: each is lowered once more, and its code is found. */
static void resumed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    assert_int_equal(truncate(path, 0), 0);
    tune(1, TRIALS / 2);
    int64_t lowered = tune(1, TRIALS);
    at_key keys[TRIALS];
    at_record *all;
    int n, distinct = 0;
    check_log(a, TRIALS / 2, TRIALS);
    at_task *t = task_of(a);
    assert_int_equal(at_log_read_all(a, path, NULL, NULL, &all, &n, NULL), AT_OK);
    for (int i = TRIALS / 2; i < n; i++) {
        bool seen = false;
        keys[i] = key_of(a, t, all[i].config.recorded_index);
        for (int k = TRIALS / 2; k < i; k++) seen |= at_key_equal(keys[k], keys[i]);
        distinct += !seen;
    }
    assert_int_equal(lowered, distinct);
    at_arena_free(a);
}

/* ---- features -------------------------------------------------------------------------------- */

/* What is kept of an earlier configuration is what each would have had by itself. */
static void features_by_key(void **state) {
    (void)state;
    enum { MOST = 4000, INDICES = 96 };
    at_arena *a = at_arena_new();
    at_task *t = task_of(a);
    at_feature_maker all, one;
    at_features of_all, of_one;
    at_error err = {0};
    at_key keys[INDICES];
    int distinct = 0;
    const at_engine_options o = {.features = AT_FEATURES_BOUND};
    float *x = AT_NEW_ARRAY(a, float, MOST), *y = AT_NEW_ARRAY(a, float, MOST);
    if (at_features_of(&all, t, &o, &of_all, &err) != AT_OK) {
        print_message("%s\n", err.text);
        at_features_end(&all);
        at_arena_free(a);
        skip();
    }
    for (int i = 0; i < INDICES; i++) {
        bool seen = false;
        int64_t index = i % at_space_range_length(at_task_space(t));
        keys[i] = key_of(a, t, index);
        for (int k = 0; k < i; k++) seen |= at_key_equal(keys[k], keys[i]);
        distinct += !seen;
        int n = of_all.of(of_all.ctx, index, x, MOST);
        assert_int_equal(at_features_of(&one, t, &o, &of_one, &err), AT_OK);
        assert_in_range(n, 1, MOST);
        assert_int_equal(of_one.of(of_one.ctx, index, y, MOST), n);
        assert_memory_equal(x, y, sizeof *x * (size_t)n);
        at_features_end(&one);
    }
    assert_int_equal(all.num_bounds, distinct);
    assert_true(distinct < INDICES);
    at_features_end(&all);
    at_arena_free(a);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(lowered_once), cmocka_unit_test(resumed),
                                       cmocka_unit_test(features_by_key)};
    return cmocka_run_group_tests_name("engine/known_programs", tests, make_log, remove_log);
}
