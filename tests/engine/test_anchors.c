/* What trials are timed against: the default configuration, its line in the log, ratios and the
 * times that come of them; a slow anchor gives way, by a link that stands in the log; a resumed
 * search goes on with the same one, and begins another chain where its code is not what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/measure/anchors.h"
#include "engine/engine.h"
#include "engine/measure/bench.h"
#include "tests/folder.h"
#include "tests/whole_file.h"

#include <math.h>
#include <string.h>

typedef struct lines {
    at_arena *arena;
    at_objective objective;
    AT_VEC(at_anchor_line) of;
} lines;

static void take_line(void *ctx, const char *comment, int64_t line) {
    lines *l = ctx;
    at_anchor_line read;
    (void)line;
    at_objective_line what;
    if (at_anchor_line_read(l->arena, comment, &read)) *at_push(l->arena, &l->of) = read;
    if (at_objective_line_read(l->arena, comment, &what)) {
        assert_int_equal(l->objective, AT_OBJECTIVE_NONE); /* once in a log */
        l->objective = what.objective;
    }
}

typedef struct result {
    lines lines;
    AT_VEC(at_record) records;
} result;

static result read_back(at_arena *a, const char *log) {
    result r = {.lines.arena = a};
    at_log_reader *reader;
    assert_int_equal(at_log_reader_open(log, NULL, NULL, &reader, NULL), AT_OK);
    at_log_reader_on_comment(reader, take_line, &r.lines);
    for (at_record one; at_log_reader_next(reader, &one);) {
        at_text text = {0};
        at_record_print(&text, &one);
        assert_int_equal(
            at_record_parse(a, at_strdup(a, text.data), text.len - 1, at_push(a, &r.records), NULL),
            AT_OK);
        at_text_free(&text);
    }
    at_log_reader_close(reader);
    return r;
}

static result tune(at_arena *a, const at_engine_options *o, const char *template_name,
                   const char *args, const char *log) {
    at_error err;
    at_tuning t;
    at_request q = {.template_name = template_name, .args = args};
    at_status s = at_tuning_open(o, &q, log, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){0}, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);
    return read_back(a, log);
}

static const char *path(at_arena *a, const char *name) {
    return at_format(a, "%s/%s", folder, name);
}

static const at_engine_options few = {.tuner = "random", .trials = 12, .seed = 3};

/* Times are ratios, links and the first anchor's time, and nothing else. */
static void check(const result *r) {
    int timed = 0;
    for (int i = 0; i < r->records.len; i++) {
        const at_record *x = &r->records.data[i];
        const at_paired *p = &x->extra.pairs;
        if (x->error_no || at_record_is_at_least(x)) continue;
        assert_true(p->of_first > 0 && p->num_ratios > 0 && p->anchor < r->lines.of.len);
        const at_anchor_line *l = &r->lines.of.data[p->anchor];
        assert_int_equal(strlen(p->states), p->num_ratios);
        int all;
        double median =
            at_median_that_counts(p->ratios, p->states, p->num_ratios, r->lines.objective, &all);
        assert_float_equal(p->ratio, median, 1e-12);
        assert_string_equal(p->first, l->first);
        assert_float_equal(p->of_first, p->ratio * l->of_first, 1e-9 * p->of_first);
        assert_true(p->of_first_error == l->of_first_error);
        assert_float_equal(at_record_mean(x), p->of_first * l->first_s, 1e-9 * l->first_s);
        timed++;
    }
    assert_true(timed > 0);
}

static int count_trials(const result *r) {
    int n = 0;
    for (int i = 0; i < r->records.len; i++)
        n += strcmp(r->records.data[i].extra.part, at_part_anchor) != 0;
    return n;
}

/* The default configuration is a result, and no trial; where it is proposed it is one record. */
static void the_first_is_a_result(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *log = path(a, "result");
    at_engine_options o = {.tuner = "grid", .trials = 1};
    result r = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    assert_int_equal(r.records.len, 2);
    const at_record *x = &r.records.data[0];
    assert_string_equal(x->extra.part, at_part_anchor);
    assert_string_equal(x->extra.code_hash, r.lines.of.data[0].code_hash);
    assert_true(x->config.recorded_index == r.lines.of.data[0].index && !x->error_no);
    assert_true(x->extra.check == AT_CHECK_EXACT && x->extra.pairs.num_ratios >= 2);
    check(&r);

    o.tuner_options.begin = x->config.recorded_index;
    o.tuner_options.end = o.tuner_options.begin + 1;
    result again = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    assert_int_equal(again.records.len, 3); /* a trial of its own, and the same kernel */
    assert_true(again.records.data[2].extra.same_as == x->config.recorded_index);
    assert_string_equal(again.records.data[2].extra.part, "");
    again = tune(a, &o, "dense", "M=64,N=64,K=64", log); /* the log answers */
    assert_int_equal(again.records.len, 3);
    result proposed = tune(a, &o, "dense", "M=64,N=64,K=64", path(a, "proposed"));
    assert_int_equal(proposed.records.len, 1);
    assert_string_equal(proposed.records.data[0].extra.part, "");
    at_arena_free(a);
}

/* How many pairs the states of the first anchor have, which is the scale itself in each. */
static int pairs_of_first(const result *r) {
    assert_true(r->lines.of.len >= 1);
    const at_anchor_line *l = &r->lines.of.data[0];
    int seen = 0;
    assert_int_equal(l->number, 0);
    assert_int_equal(l->links, 0);
    assert_true(l->of_first == 1 && l->first_s > 0);
    assert_string_equal(l->first, l->code_hash);
    for (int k = 0; k < AT_STATE_COUNT; k++) {
        if (!l->by[k].pairs) continue;
        assert_true(l->by[k].of_first == 1 && l->by[k].link == 0 && l->by[k].first_s > 0);
        seen += l->by[k].pairs;
    }
    return seen;
}

static void default_is_the_first(void **state) {
    enum { TRIES = 5 };
    (void)state;
    at_arena *a = at_arena_new();
    /* with layouts that change with the configuration, too */
    static const char *const tasks[][2] = {
        {"dense", "M=64,N=64,K=64"},
        {"conv2d_NCHWc", "N=1,IC=16,H=8,W=8,OC=16"},
        {"spconv2d_3x3_gemm", "N=1,H=8,W=8,CI=16,CO=16"},
    };
    for (int i = 0; i < 3; i++) {
        const char *log;
        result r;
        int seen = 0;
        /* A busy machine may leave no state enough pairs: then it begins again. */
        for (int k = 0; k < TRIES && !seen; k++) {
            log = path(a, at_format(a, "%s-%d", tasks[i][0], k));
            r = tune(a, &few, tasks[i][0], tasks[i][1], log);
            seen = pairs_of_first(&r);
        }
        assert_true(seen > 0);
        check(&r);
        /* The same again: nothing to measure, nothing to write. */
        result again = tune(a, &few, tasks[i][0], tasks[i][1], log);
        assert_int_equal(again.lines.of.len, r.lines.of.len);
        assert_int_equal(again.records.len, r.records.len);
    }
    at_arena_free(a);
}

/* A log keeps what counts in it; who asks for something else is told. */
static void objective_is_kept(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_engine_options o = few;
    const char *log = path(a, "objective");
    o.objective = AT_OBJECTIVE_TYPICAL;
    result r = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    check(&r);
    assert_int_equal(r.lines.objective, AT_OBJECTIVE_TYPICAL);
    o.objective = AT_OBJECTIVE_NONE;
    o.trials = 16;
    r = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    check(&r);
    assert_int_equal(r.lines.objective, AT_OBJECTIVE_TYPICAL);
    at_error err;
    at_tuning t;
    at_request q = {.template_name = "dense", .args = "M=64,N=64,K=64"};
    o.objective = AT_OBJECTIVE_ALONE;
    assert_int_equal(at_tuning_open(&o, &q, log, &t, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "--objective alone: "));
    assert_non_null(strstr(err.text, "typical"));
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);
    /* another task's is its own */
    r = tune(a, &o, "dense", "M=32,N=64,K=64", path(a, "another"));
    assert_int_equal(r.lines.objective, AT_OBJECTIVE_ALONE);
    at_arena_free(a);
}

static void resumed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_engine_options o = few;
    const char *log = path(a, "resumed");
    result r = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    o.trials = 20;
    result more = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    check(&more);
    assert_true(count_trials(&more) == 20 && count_trials(&r) == few.trials);
    /* no other chain: those that came are linked */
    for (int i = r.lines.of.len; i < more.lines.of.len; i++)
        assert_true(more.lines.of.data[i].links > 0);

    /* Another compiler of ours would make other code of it: a new chain. */
    char *text, *hash;
    size_t n;
    const at_anchor_line *last = &more.lines.of.data[more.lines.of.len - 1];
    assert_int_equal(read_whole(a, log, &text, &n, NULL), AT_OK);
    const char *needle =
        at_format(a, "\"code_hash\": \"%s\", \"number\": %d", last->code_hash, last->number);
    assert_non_null(hash = strstr(text, needle));
    memset(hash + strlen("\"code_hash\": \""), '0', 32);
    assert_int_equal(at_write_file(log, text, n, NULL), AT_OK);
    o.trials = 24;
    result other = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    check(&other);
    assert_true(other.lines.of.len > more.lines.of.len);
    const at_anchor_line *fresh = &other.lines.of.data[more.lines.of.len];
    assert_int_equal(fresh->links, 0);
    assert_int_equal(fresh->number, last->number + 1);
    at_arena_free(a);
}

/* The first anchor of this log is a configuration without a vector: the next good one takes its
 * place. */
static void a_slow_one_gives_way(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_engine_options o = {.tuner = "grid", .trials = 1};
    const char *log = path(a, "slow");
    result slow = tune(a, &o, "dense", "M=64,N=64,K=64", path(a, "one"));
    const at_record *first = &slow.records.data[1]; /* behind the default configuration's */
    at_text line = {0}, file = {0};
    at_anchor_line_print(&line, &(at_anchor_line){.task = first->task,
                                                  .args = first->args,
                                                  .context_hash = first->extra.context_hash,
                                                  .code_hash = first->extra.code_hash,
                                                  .config = &first->config,
                                                  .index = first->config.recorded_index,
                                                  .of_first = 1,
                                                  .first = first->extra.code_hash,
                                                  .first_s = 1e-3});
    at_text_addf(&file, "#%s\n", line.data);
    at_record_print(&file, first);
    /* Which trials are near the best, and lose enough by that anchor, hangs on the machine. */
    result r = {0};
    for (uint64_t seed = 1; seed <= 12 && r.lines.of.len < 2; seed++) {
        assert_int_equal(at_write_file(log, file.data, file.len, NULL), AT_OK);
        o = (at_engine_options){.tuner = "ga", .trials = 600, .seed = seed};
        r = tune(a, &o, "dense", "M=64,N=64,K=64", log);
    }
    assert_true(r.lines.of.len >= 2);
    const at_anchor_line *l = &r.lines.of.data[1];
    assert_int_equal(l->number, 1);
    assert_int_equal(l->linked_to, 0);
    assert_int_equal(l->links, 1);
    assert_true(l->pairs > 0); /* of 200, or more: those of mixed states do not count */
    assert_true(exp(l->link) < 0.8);
    assert_float_equal(l->of_first, exp(l->link), 1e-9);
    assert_true(l->of_first_error == l->link_error && l->link_error > 0);
    assert_true(l->first_s == 1e-3);
    for (int k = 0; k < AT_STATE_COUNT; k++)
        if (l->by[k].pairs) assert_float_equal(l->by[k].of_first, exp(l->by[k].link), 1e-9);
    int with_it = 0;
    for (int i = 0; i < r.records.len; i++) with_it += r.records.data[i].extra.pairs.anchor == 1;
    assert_true(with_it > 0);
    at_text_free(&line);
    at_text_free(&file);
    at_arena_free(a);
}

/* Numbers of runs are AutoTVM's, and nobody's pairs; a flushed cache is flushed for each sample. */
static void none_where_asked_otherwise(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_engine_options o = few;
    o.number = 2;
    o.repeat = 3;
    result r = tune(a, &o, "dense", "M=64,N=64,K=64", path(a, "numbers"));
    assert_int_equal(r.lines.of.len, 0);
    for (int i = 0; i < r.records.len; i++) {
        assert_true(r.records.data[i].extra.pairs.of_first == 0);
        if (!r.records.data[i].error_no) assert_int_equal(r.records.data[i].extra.num_samples, 3);
    }
    at_arena_free(a);
}

/* Long kernels: a link goes in several jobs, none of which comes near its time limit, even where
 * it waits three times as long for a state. */
static void long_kernels_are_linked(void **state) {
    (void)state;
    for (double pair_s = 1e-4; pair_s < 20; pair_s *= 1.3)
        for (int wanted = 1; wanted <= 200; wanted += 37) {
            int jobs = 0, left = wanted;
            for (; left > 0; jobs++) {
                int n = at_anchor_pairs_of_job(10, left, pair_s);
                assert_true(n >= 1 && n <= left);
                assert_true(n == 1 || 3 * n * pair_s < 10);
                left -= n;
            }
            assert_int_equal(left, 0);
            if (jobs > 1) assert_true(wanted * pair_s > 2);
        }
    assert_int_equal(at_anchor_pairs_of_job(0, 25, 1000), 25);
    assert_int_equal(at_anchor_pairs_of_link(0.1, 0.5, 2, INFINITY), 20); /* as many as 2 s hold, */
    assert_int_equal(at_anchor_pairs_of_link(1, 0.5, 12, INFINITY), 11);  /* or so few */
}

/* A link takes no longer than the trials have wasted so far, so that both together are at most
 * twice what the better of the two would have taken. It ends within what is left of a time limit,
 * and only where more trials fit behind it than without it. */
static void links_pay_off(void **state) {
    (void)state;
    assert_int_equal(at_anchor_pairs_of_link(1e-3, 0.5, 0.19, INFINITY), 0);
    assert_int_equal(at_anchor_pairs_of_link(1e-3, 0.5, 0.21, INFINITY), 200);
    for (double pair_s = 1e-4; pair_s < 20; pair_s *= 1.3)
        for (double wasted_s = 0.01; wasted_s < 1e4; wasted_s *= 1.5)
            assert_true(at_anchor_pairs_of_link(pair_s, 0.5, wasted_s, INFINITY) * pair_s <=
                        wasted_s);
    for (double ratio = 0.02; ratio < 0.75; ratio += 0.05)
        for (double left_s = 0.1; left_s < 30; left_s *= 1.3) {
            const double anchor_s = 0.1, pair_s = anchor_s * (1 + ratio);
            int pairs = at_anchor_pairs_of_link(pair_s, ratio, 5, left_s);
            double behind_s = left_s - pairs * pair_s;
            if (!pairs) continue;
            assert_true(behind_s / (2 * ratio * anchor_s) >= left_s / pair_s);
        }
    assert_true(at_anchor_pairs_of_link(0.1, 0.04, 2.5, 4) > 0);
    assert_int_equal(at_anchor_pairs_of_link(0.1, 0.7, 2.5, 4), 0);
}

/* As long as nothing has a time nothing is too slow, the anchor's own kernel neither. */
static void the_first_trial_is_timed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_candidate anchor = {.config.index = 11};
    at_bench bench = {.anchors = {.kernel = &anchor, .first_s = 2e-3, .of_first = 0.5}};
    at_session s = {.bench = &bench};
    at_known *known = at_known_new(a);
    for (int64_t index = 10; index < 12; index++) {
        at_job job = {0};
        at_anchor_ask(&s, known, index, &job);
        assert_true(job.to_the_end);
        assert_int_equal(job.pairs, index == 11 ? 2 : 3);
    }
    const at_record first = {.config.index = 10,
                             .costs_s = (double[]){8e-4},
                             .num_costs = 1,
                             .extra = {.error = "", .code_hash = "x"}};
    at_known_add(known, &first, NULL);
    for (int64_t index = 11; index < 13; index++) {
        at_job job = {0};
        at_anchor_ask(&s, known, index, &job);
        assert_false(job.to_the_end);
        assert_int_equal(job.pairs, 3);
        assert_float_equal(job.best_ratio, 0.8, 1e-12); /* 0.8 ms by an anchor of 1 ms */
    }
    at_arena_free(a);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_a_result),
        cmocka_unit_test(default_is_the_first),
        cmocka_unit_test(objective_is_kept),
        cmocka_unit_test(resumed),
        cmocka_unit_test(a_slow_one_gives_way),
        cmocka_unit_test(long_kernels_are_linked),
        cmocka_unit_test(links_pay_off),
        cmocka_unit_test(the_first_trial_is_timed),
        cmocka_unit_test(none_where_asked_otherwise),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
