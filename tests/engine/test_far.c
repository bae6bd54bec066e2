/* A search over workers elsewhere: each trial is recorded once, a search goes on where it was cut
 * off, and nodes hold the final together. */
#include "crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/far/far_search.h"
#include "tests/whole_file.h"

enum { WAYS = 3 };

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
    const at_far far = crowd_far(c);
    at_engine_options o = {.tuner = tuner, .trials = CROWD_TRIALS, .far = &far, .stop = &w.stop};
    at_status s = at_tuning_open(&o, &crowd_request, crowd_log, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){.trial = watch_trial, .ctx = &w}, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(t.tally.done, until);
    at_tuning_close(&t, &err);
    at_record *all;
    assert_int_equal(at_log_read_all(c->arena, crowd_log, NULL, NULL, &all, n, &err), AT_OK);
    int64_t *indices = calloc((size_t)*n + 1, sizeof *indices);
    bool seen[CROWD_TRIALS] = {false};
    for (int i = 0; i < *n; i++) {
        indices[i] = all[i].config.recorded_index;
        int64_t number = all[i].extra.trial.number;
        c->ids[i] = all[i].extra.trial;
        c->same_as[i] = all[i].extra.same_as;
        assert_true(number >= 0 && number < CROWD_TRIALS && !seen[number]);
        seen[number] = true;
        for (int k = 0; k < i; k++) assert_int_not_equal(indices[k], indices[i]);
    }
    at_arena_free(c->arena);
    return indices;
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
            crowd_begin_log("once");
            free(search(&c, tuners[i], CROWD_TRIALS, &n));
            assert_int_equal(n, CROWD_TRIALS);
            unlink(crowd_log);
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
    crowd_begin_log("whole");
    int64_t *expected = search(&whole, tuner, CROWD_TRIALS, &n);
    assert_int_equal(n, CROWD_TRIALS);
    /* the first trials of that log, as if it had been killed then */
    at_arena *a = at_arena_new();
    char *text;
    size_t len;
    at_error err;
    read_whole(a, crowd_log, &text, &len, &err);
    unlink(crowd_log);
    char *at = text;
    for (int i = 0; i < CUT; at = strchr(at, '\n') + 1) i += *at != '#';
    crowd_begin_log("cut");
    at_write_file(crowd_log, text, (size_t)(at - text), &err);
    crowd rest = {.workers = 2};
    at_rng_seed(&rest.rng, 4, 1);
    int64_t *found = search(&rest, tuner, CROWD_TRIALS, &m);
    assert_int_equal(m, CROWD_TRIALS);
    for (int i = 0; i < CUT; i++) assert_int_equal(found[i], expected[i]);
    /* What was under way when it was cut is asked again, and before all else: proposals that had
     * been made when the last of these came, and had no result then. Each is the same trial. */
    int64_t asked_then = whole.ids[CUT - 1].asked;
    int under_way = 0, first_new = 0;
    for (int i = CUT; i < CROWD_TRIALS; i++) {
        if (whole.ids[i].number >= asked_then) continue;
        under_way++;
        for (int k = CUT; k < CROWD_TRIALS; k++)
            if (rest.ids[k].number == whole.ids[i].number) assert_int_equal(found[k], expected[i]);
    }
    assert_in_range(under_way, 1, 5 * AT_FAR_MOST_DEPTH);
    while (first_new < rest.trials && rest.numbers[first_new] < asked_then) first_new++;
    for (int i = 0; i < first_new; i++)
        for (int k = 0; k < CUT; k++) assert_int_not_equal(rest.numbers[i], whole.ids[k].number);
    for (int i = first_new; i < rest.trials; i++) assert_true(rest.numbers[i] >= asked_then);
    assert_in_range(first_new, 1, under_way); /* some have the code of another */
    /* What has the code of another is not measured; of one in the log before, whose program nobody
     * has built again, that is seen by the result. */
    int measured = 0, of_log = 0;
    for (int i = CUT; i < CROWD_TRIALS; i++) {
        measured += rest.same_as[i] < 0;
        for (int k = 0; k < CUT; k++) of_log += rest.same_as[i] == expected[k];
    }
    assert_in_range(rest.trials, measured, measured + of_log);
    free(found);
    free(expected);
    unlink(crowd_log);
    at_arena_free(a);
}

/* One worker, one trial at a time: a tuner that learns nothing proposes what it does for a search
 * here. */
static void as_here(void **state) {
    (void)state;
    int n;
    crowd c = {.workers = 1};
    at_rng_seed(&c.rng, 1, 1);
    crowd_begin_log("one");
    int64_t *found = search(&c, "random", CROWD_TRIALS, &n),
            *expected = calloc(CROWD_TRIALS, sizeof *expected);
    at_session s;
    at_tuner *tuner;
    at_error err;
    at_engine_options o = {0};
    assert_int_equal(at_session_open(&o, &crowd_request, true, &s, &err), AT_OK);
    assert_int_equal(at_tuner_new("random", s.what.space, &(at_tuner_options){0}, &tuner, &err),
                     AT_OK);
    assert_int_equal(at_tuner_next(tuner, expected, CROWD_TRIALS), CROWD_TRIALS);
    /* Several are under way, so neighbours may have changed places. */
    for (int i = 0; i < CROWD_TRIALS; i++) {
        bool is_there = false;
        for (int k = 0; k < CROWD_TRIALS; k++) is_there |= found[k] == expected[i];
        assert_true(is_there);
    }
    at_tuner_free(tuner);
    at_session_close(&s);
    free(found);
    free(expected);
    unlink(crowd_log);
}

/* Each CPU has a search of its own, all in one log; none takes a result of the other. */
static void contexts(void **state) {
    (void)state;
    crowd c = {.workers = 4, .kinds = 2, .arena = at_arena_new()};
    const at_far far = crowd_far(&c);
    at_engine_options o = {.tuner = at_tuner_default(), .trials = CROWD_TRIALS, .far = &far};
    at_error err = {0};
    at_tuning t;
    at_best first, second;
    at_record *all;
    int n, of_first = 0;
    at_rng_seed(&c.rng, 5, 1);
    crowd_begin_log("contexts");
    assert_int_equal(at_tuning_open(&o, &crowd_request, crowd_log, &t, &err), AT_OK);
    if (at_far_run(&t, t.tally.total, &err) != AT_OK) fail_msg("%s", err.text);
    assert_non_null(t.other);
    assert_null(t.other->other);
    assert_int_equal(t.tally.done, CROWD_TRIALS);
    assert_int_equal(t.other->tally.done, CROWD_TRIALS);
    assert_true(at_tuning_best(&t, &first) && at_tuning_best(t.other, &second));
    assert_true(first.time_s < 2e-3 && second.time_s >= 2e-3);
    at_tuning_close(&t, &err);
    at_log_read_all(c.arena, crowd_log, NULL, NULL, &all, &n, &err);
    assert_int_equal(n, 2 * CROWD_TRIALS);
    for (int i = 0; i < n; i++)
        of_first += !strcmp(all[i].extra.context_hash, all[0].extra.context_hash);
    assert_int_equal(of_first, CROWD_TRIALS);
    unlink(crowd_log);
    at_arena_free(c.arena);
    /* Unless one is asked for. */
    crowd same = {.workers = 2, .kinds = 2, .arena = at_arena_new()};
    const at_far strict = crowd_far(&same);
    o.far = &strict;
    o.same_context = true;
    at_rng_seed(&same.rng, 6, 1);
    crowd_begin_log("same");
    assert_int_equal(at_tuning_open(&o, &crowd_request, crowd_log, &t, &err), AT_OK);
    assert_int_equal(at_far_run(&t, t.tally.total, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "--same-context: "));
    at_tuning_close(&t, &err);
    unlink(crowd_log);
    at_arena_free(same.arena);
}

/* Two nodes hold the final: what the second says is put on the scale of the first, and counts as
 * much. */
static void two_nodes(void **state) {
    (void)state;
    crowd c = {.workers = 3, .has_nodes = true, .arena = at_arena_new()};
    const at_far far = crowd_far(&c);
    at_engine_options o = {.tuner = "random", .trials = CROWD_TRIALS, .far = &far};
    at_error err = {0};
    at_tuning t;
    int64_t best = -1;
    at_rng_seed(&c.rng, 13, 1);
    crowd_begin_log("nodes");
    if (at_tuning_open(&o, &crowd_request, crowd_log, &t, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_tuning_run(&t, &(at_tune_events){0}, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(t.final.count > 1);
    for (int i = 0; i < t.final.count; i++) {
        const at_finalist *f = &t.final.of[i];
        int64_t index = f->result->config.index;
        assert_int_equal(f->turns.num_rounds, 2);
        for (int k = 0; k < 2; k++)
            assert_true(fabs(f->turns.rounds[k].time_s / crowd_time_of(index) - 1) < 1e-4);
        assert_true(fabs(f->turns.time_s / crowd_time_of(index) - 1) < 1e-4);
        if (best < 0 || crowd_time_of(index) < crowd_time_of(best)) best = index;
    }
    assert_non_null(t.final.winner);
    assert_true(
        fabs(crowd_time_of(t.final.winner->result->config.index) / crowd_time_of(best) - 1) < 1e-3);
    at_tuning_close(&t, &err);
    unlink(crowd_log);
    at_arena_free(c.arena);
}

/* Of several tasks with one budget; *of: how many trials each has had, in the log and now. */
static void search_set(crowd *c, int64_t of[WAYS], int64_t *answered) {
    static const at_request ways[WAYS] = {
        {.template_name = "dense", .args = "M=64,N=64,K=64"},
        {.template_name = "dense", .args = "M=64,N=64,K=64,bias=1"},
        {.template_name = "dense", .args = "M=64,N=64,K=32"},
    };
    const at_problem problem = {.name = "dense", .ways = ways, .num_ways = WAYS, .count = 1};
    const at_far far = crowd_far(c);
    at_engine_options o = {.tuner = "random", .trials = CROWD_TRIALS, .far = &far};
    at_set_tuning t;
    at_error err = {0};
    at_best best;
    c->arena = at_arena_new();
    if (at_set_open(&o, &problem, 1, crowd_log, &t, &err) != AT_OK) fail_msg("%s", err.text);
    if (at_set_run(&t, &(at_set_events){0}, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(t.tally.done, CROWD_TRIALS);
    *answered = t.tally.answered;
    const int fastest = at_set_best(&t, 0, &best);
    assert_in_range(fastest, 0, WAYS - 1);
    for (int i = 0; i < WAYS; i++) {
        const at_tuning *u = &t.members[i].tuning;
        at_best own;
        of[i] = u->tally.done;
        assert_true(at_tuning_best(u, &own));
        if (c->kinds && !t.tally.answered) assert_non_null(u->other);
        /* The kind of machine that the first search began on decides. */
        if (at_set_on(&t.members[i], t.like) == u) assert_true(best.time_s <= own.time_s);
        if (u->other) assert_int_equal(u->other->tally.done, u->tally.done);
    }
    at_set_close(&t, &err);
}

/* Workers turn from one way to another as the budget goes to where it is worth most, also on two
 * kinds of machines; what they still owe another way is not taken. The same again is answered. */
static void ways(void **state) {
    (void)state;
    for (int kinds = 0; kinds <= 2; kinds += 2) {
        crowd c = {.workers = 4, .kinds = kinds, .losses = 5, .duplicates = 9, .strangers = 5};
        crowd more = {.workers = 2, .kinds = kinds};
        int64_t of[WAYS], again[WAYS], answered;
        at_record *all;
        at_error err;
        int n, trials = 0;
        at_rng_seed(&c.rng, 21, 1);
        at_rng_seed(&more.rng, 22, 1);
        crowd_begin_log("ways");
        search_set(&c, of, &answered);
        assert_int_equal(answered, 0);
        assert_true(c.turned > WAYS);
        assert_int_equal(of[0] + of[1] + of[2], CROWD_TRIALS);
        for (int i = 0; i < WAYS; i++) assert_true(of[i] >= CROWD_TRIALS / (2 * WAYS));
        at_arena_free(c.arena);
        search_set(&more, again, &answered);
        assert_int_equal(answered, CROWD_TRIALS);
        assert_memory_equal(of, again, sizeof of);
        at_log_read_all(more.arena, crowd_log, NULL, NULL, &all, &n, &err);
        for (int i = 0; i < n; i++) trials += at_record_is_trial(&all[i]);
        assert_int_equal(trials, CROWD_TRIALS * (kinds ? kinds : 1));
        at_arena_free(more.arena);
        unlink(crowd_log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(once),      cmocka_unit_test(resumed),
                                       cmocka_unit_test(as_here),   cmocka_unit_test(contexts),
                                       cmocka_unit_test(two_nodes), cmocka_unit_test(ways)};
    return cmocka_run_group_tests_name("engine/far", tests, NULL, NULL);
}
