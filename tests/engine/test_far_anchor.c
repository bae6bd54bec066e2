/* A search over workers elsewhere that time in pairs: results of several machines on one scale, and
 * contexts of those that are too far apart. */
#include "crowd.h"

#include <math.h>
#include <string.h>

#include "engine/far/far_search.h"
#include "tests/whole_file.h"

/* What is left without the records of default configurations, which are no trials: one for each
 * context. */
static void keep_trials(const crowd *c, at_record *all, int *n) {
    const char *hashes[CROWD_MOST];
    int trials = 0, defaults = 0, contexts = 0;
    at_config first;
    assert_int_equal(at_task_default_config(c->arena, c->s.what.task,
                                            c->s.how.target->default_lanes, &first, NULL),
                     AT_OK);
    for (int i = 0; i < *n; i++) {
        const at_record *r = &all[i];
        int k = 0;
        while (k < contexts && strcmp(hashes[k], r->extra.context_hash)) k++;
        if (k == contexts) hashes[contexts++] = r->extra.context_hash;
        if (at_record_is_trial(r)) {
            all[trials++] = *r;
            continue;
        }
        defaults++;
        assert_string_equal(r->extra.part, at_part_anchor);
        assert_int_equal(r->extra.trial.search, 0);
        assert_int_equal(r->config.recorded_index, first.index);
        assert_true(fabs(at_record_mean(r) / crowd_time_of(first.index) - 1) < 1e-9);
    }
    assert_int_equal(defaults, contexts);
    *n = trials;
}

/* A search of workers that time in pairs, over a log that may be there; the trials that are in it
 * afterwards. */
static at_record *search_paired(crowd *c, int64_t trials, int *n, const char **log_text) {
    at_error err = {0};
    at_tuning t;
    char *text;
    size_t len;
    at_record *all;
    const at_far far = crowd_far(c);
    at_engine_options o = {.tuner = "random", .trials = trials, .far = &far};
    at_rng_seed(&c->rng, 11, 1);
    c->arena = at_arena_new();
    if (at_tuning_open(&o, &crowd_request, crowd_log, &t, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_far_run(&t, t.tally.total, &err) != AT_OK) fail_msg("%s", err.text);
    at_log_read_all(c->arena, crowd_log, NULL, NULL, &all, n, &err);
    keep_trials(c, all, n);
    at_tuning_close(&t, &err);
    assert_int_equal(read_whole(c->arena, crowd_log, &text, &len, &err), AT_OK);
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
    crowd_begin_log("slow");
    at_record *all = search_paired(&c, CROWD_TRIALS, &n, &text);
    assert_int_equal(n, CROWD_TRIALS);
    assert_int_equal(count(text, "#anchor "), 1);
    for (int i = 0; i < n; i++) {
        double expected_s = crowd_time_of(all[i].config.recorded_index);
        assert_true(fabs(at_record_mean(&all[i]) / expected_s - 1) < 1e-9);
        assert_true(fabs(all[i].extra.samples_s[0] / expected_s - 1) < 1e-9);
        assert_true(fabs(all[i].extra.gflops * expected_s / all[0].extra.gflops /
                             crowd_time_of(all[0].config.recorded_index) -
                         1) < 1e-3);
        assert_int_equal(all[i].extra.pairs.anchor, 0);
    }
    /* What is known to be best is told to each in its own time. */
    assert_true(c.least_best_s[0] < 2e-3 && c.least_best_s[1] >= 10e-3);
    at_arena_free(c.arena);
    crowd late = {.workers = 1, .is_paired = true, .slower = {10}};
    all = search_paired(&late, CROWD_TRIALS + 20, &n, &text);
    assert_int_equal(n, CROWD_TRIALS + 20);
    assert_int_equal(count(text, "#anchor "), 1);
    for (int i = 0; i < n; i++)
        assert_true(
            fabs(at_record_mean(&all[i]) / crowd_time_of(all[i].config.recorded_index) - 1) < 1e-9);
    at_arena_free(late.arena);
    unlink(crowd_log);
}

/* One that is 2 % apart belongs to the others; one that is 7 % apart has a context of its own, and
 * comes to the same one when it is there again. */
static void apart(void **state) {
    (void)state;
    crowd c = {.workers = 3, .is_paired = true, .slower = {1, 1, 1}, .second = {0, 0.02, 0.07}};
    const char *text, *hash = NULL;
    int n, odd = 0;
    crowd_begin_log("apart");
    at_record *all = search_paired(&c, CROWD_TRIALS, &n, &text);
    assert_int_equal(n, 2 * CROWD_TRIALS);
    assert_int_equal(count(text, "#anchor "), 2);
    for (int i = 0; i < n; i++) {
        bool is_odd = strstr(all[i].extra.context.machine, ", second kernel 1.05") != NULL;
        odd += is_odd;
        if (is_odd) hash = all[i].extra.context_hash;
        else assert_string_equal(all[i].extra.context.machine, at_cpu_facts()->machine);
    }
    assert_int_equal(odd, CROWD_TRIALS);
    /* The odd one alone: nothing is measured for the others. */
    crowd again = {.workers = 1, .is_paired = true, .slower = {1}, .second = {0.06}};
    at_record *more = search_paired(&again, CROWD_TRIALS + 5, &n, &text);
    assert_int_equal(n, 2 * CROWD_TRIALS + 5);
    assert_int_equal(count(text, "#anchor "), 2);
    for (int i = 2 * CROWD_TRIALS; i < n; i++)
        assert_string_equal(more[i].extra.context_hash, hash);
    at_arena_free(again.arena);
    at_arena_free(c.arena);
    unlink(crowd_log);
}

/* What is 7 % apart with others beside it, or beside the first one, says nothing of the machine. */
static void not_alone(void **state) {
    (void)state;
    static const at_state states[][2] = {{0, AT_STATE_COMPANY},
                                         {AT_STATE_COMPANY, 0},
                                         {AT_STATE_COMPANY, AT_STATE_COMPANY},
                                         {AT_STATE_MIXED, AT_STATE_MIXED}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        crowd c = {.workers = 2, .is_paired = true, .slower = {1, 1}, .second = {0, 0.07}};
        const char *text;
        int n;
        memcpy(c.state, states[i], sizeof states[i]);
        crowd_begin_log("company");
        search_paired(&c, CROWD_TRIALS, &n, &text);
        assert_int_equal(n, CROWD_TRIALS);
        assert_int_equal(c.compared[1], 0);
        at_arena_free(c.arena);
        unlink(crowd_log);
    }
}

/* One that was asked to compare again, and answers with nonsense, is not waited for. */
static void refused_in_doubt(void **state) {
    (void)state;
    crowd c = {.workers = 2, .is_paired = true, .slower = {1, 1}, .second = {0, 0.07}};
    const char *text;
    int n;
    c.lies[1] = true;
    crowd_begin_log("lies");
    search_paired(&c, CROWD_TRIALS, &n, &text);
    assert_int_equal(c.compared[1], 1);
    assert_int_equal(n, CROWD_TRIALS);
    at_arena_free(c.arena);
    unlink(crowd_log);
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
        crowd_begin_log("moments");
        search_paired(&c, CROWD_TRIALS, &n, &text);
        assert_int_equal(n, cases[i].contexts * CROWD_TRIALS);
        assert_true(c.compared[0] <= 1); /* the first one's answer is for all */
        at_arena_free(c.arena);
        unlink(crowd_log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_node), cmocka_unit_test(apart), cmocka_unit_test(not_alone),
        cmocka_unit_test(refused_in_doubt), cmocka_unit_test(moments)};
    return cmocka_run_group_tests_name("engine/far_anchor", tests, NULL, NULL);
}
