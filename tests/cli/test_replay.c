/* tests/cli/test_replay.c: replay of a recorded space, and the options of the tuners. */
#include "tests/cli/made_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T MADE_TASK
#define ARGS MADE_ARGS

static int points_within(double share) {
    int n = 0;
    for (int i = 0; i < made_points; i++) n += made_best_s / made_times_s[i] >= share;
    return n;
}

/* ---- what replay says ----------------------------------------------------------------------- */

/* Grid, random and the learners side by side: the members, and that learning pays. */
static void side_by_side(void **state) {
    (void)state;
    cli_expect(0,
               "./autotune replay space.log --compare grid,random,ga%s --trials 300 "
               "--repeats 20 --json",
               cli_has_xgb() ? ",xgb" : "");
    const at_json *r = cli_json(), *tuners = cli_member(r, "tuners");
    assert_string_equal(cli_member(r, "space.task")->string, T);
    assert_int_equal(cli_member(r, "space.args")->count, 6);
    assert_true(cli_number(r, "space.points") == made_points);
    assert_float_equal(cli_number(r, "space.best_ns"), made_best_s * 1e9, 1e-3);
    assert_true(cli_number(r, "repeats") == 20);

    double expected = cli_number(r, "random_expected.trials_to_99");
    assert_float_equal(expected, (made_points + 1.0) / (points_within(0.99) + 1), 1e-9);
    assert_true(expected > 100);
    int grid = 0;
    while (made_best_s / made_times_s[grid] < 0.9) grid++;
    static const char *const names[] = {"grid", "random", "ga", "xgb"};
    assert_int_equal(tuners->count, cli_has_xgb() ? 4 : 3);
    for (int i = 0; i < tuners->count; i++) {
        const at_json *t = at_json_at(tuners, i);
        assert_string_equal(cli_member(t, "tuner")->string, names[i]);
        assert_true(cli_number(t, "trials") == 300);
        assert_true(cli_number(t, "seconds") > 0);
        assert_int_equal(cli_member(t, "of_best_at")->count, 4); /* 1, 5, 10 %, and the last */
        double last = 0;
        for (const at_json *x = cli_member(t, "of_best_at")->child; x; x = x->next) {
            assert_true(x->number >= last && x->number <= 1);
            last = x->number;
        }
        if (i == 0 && grid < 300) assert_true(cli_number(t, "trials_to_90") == grid + 1);
        if (i == 0 && grid >= 300)
            assert_int_equal(cli_member(t, "trials_to_90")->kind, AT_JSON_NULL);
        if (i >= 2) assert_true(cli_number(t, "trials_to_99") < expected);
    }
}

/* The computed expectation against the definition, over all trials of random. */
static void expectation(void **state) {
    (void)state;
    cli_expect(0, "./autotune replay space.log --tuner random --trials 30 --repeats 4000 --json");
    const at_json *r = cli_json();
    for (const at_json *x = cli_member(r, "random_expected.of_best_at")->child; x; x = x->next)
        assert_true(x->number > 0 && x->number < 1);
    /* Of one trial it is the mean share; the median of many searches is near the expectation. */
    double share = 0;
    for (int i = 0; i < made_points; i++) share += made_best_s / made_times_s[i] / made_points;
    cli_expect(0, "./autotune replay space.log --tuner random --trials 1 --repeats 1 --json");
    assert_float_equal(cli_member(cli_json(), "random_expected.of_best_at")->child->number, share,
                       1e-9);
}

/* Every search of the whole space ends with the optimum; the same seed finds it at the same time.
 */
static void whole_space(void **state) {
    (void)state;
    char command[200];
    snprintf(command, sizeof command,
             "./autotune replay space.log --compare grid,random,ga --trials 100000 --repeats 3 "
             "--seed 5 --csv");
    char *first = strdup(cli_expect(0, "%s", command)->out);
    assert_string_equal(cli_expect(0, "%s", command)->out, first);
    assert_int_equal(cli_count_lines(first, "tuner,trials,median,low,high\n"), 1);
    static const char *const names[] = {"grid", "random", "ga"};
    for (int i = 0; i < 3; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s,", names[i]);
        assert_int_equal(cli_count_lines(first, line), made_points);
        snprintf(line, sizeof line, "%s,%d,1.0000,1.0000,1.0000\n", names[i], made_points);
        assert_int_equal(cli_count_lines(first, line), 1);
    }
    free(first);
}

static void as_text(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune replay space.log --tuner ga --trials 40 --repeats 5");
    char head[128];
    snprintf(head, sizeof head, T " " ARGS "\n%d points, the best %.3f us, index ", made_points,
             made_best_s * 1e6);
    assert_memory_equal(r->out, head, strlen(head));
    assert_non_null(strstr(r->out, " wins; 5 searches of 40 trials"));
    assert_non_null(strstr(r->out, "\ntrials to 95 %"));
    assert_non_null(strstr(r->out, "\nga: trials, share of the optimum found: median and 95 %"));
    assert_non_null(strstr(r->out, "\n      20 "));
    assert_non_null(strstr(r->out, "\n      40 "));
    assert_string_equal(r->err, "");
}

/* The options of the tuners change the search, and nothing else. */
static void tuner_options(void **state) {
    (void)state;
    static const char *const of_ga[] = {"", "--population 5", "--preset autotvm"};
    static const char *const of_xgb[] = {"",           "--plan-size 5",   "--diversity 3",
                                         "--loss reg", "--feature knob",  "--feature curve",
                                         "--seed 7",   "--preset autotvm"};
    static char *found[16];
    int n = 0;
    for (int i = 0; i < 3; i++)
        found[n++] = strdup(cli_expect(0,
                                       "./autotune replay space.log --tuner ga --trials 80 "
                                       "--repeats 3 --trace %s | cut -d, -f2-6",
                                       of_ga[i])
                                ->out);
    for (int i = 0; i < 8 && cli_has_xgb(); i++)
        found[n++] = strdup(cli_expect(0,
                                       "./autotune replay space.log --tuner xgb --trials 80 "
                                       "--repeats 3 --trace %s | cut -d, -f2-6",
                                       of_xgb[i])
                                ->out);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) assert_true(strcmp(found[i], found[k]));
    const cli_result *r =
        cli_expect(0, "./autotune replay space.log --tuner ga:population=5 --trials 80 --repeats 3 "
                      "--trace | cut -d, -f2-6");
    assert_string_equal(r->out, found[1]);
    for (int i = 0; i < n; i++) free(found[i]);
}

/* Trials of another shape make a good start. */
static void transfer(void **state) {
    (void)state;
    if (!cli_has_xgb()) skip();
    cli_expect(0, "./autotune replay space.log --tuner xgb --trials 14 --repeats 9 --json");
    double without = cli_number(at_json_at(cli_member(cli_json(), "tuners"), 0), "of_best_at.14");
    cli_expect(0, "./autotune replay space.log --tuner xgb --trials 14 --repeats 9 --json "
                  "--transfer other.log");
    double with = cli_number(at_json_at(cli_member(cli_json(), "tuners"), 0), "of_best_at.14");
    assert_true(with > without);
    cli_expect(0, "./autotune " T " --args " ARGS " --trials 5 --transfer other.log --log t.log");
}

/* ---- what it warns of and refuses ----------------------------------------------------------- */

/* Each trial of each search: no index twice in one, times as recorded, the median of the best as
 * --csv has it. */
static void trace(void **state) {
    (void)state;
    enum { TRIALS = 60, SEARCHES = 3 };
    cli_expect(0, "./autotune replay space.log --compare ga,random --trials %d --repeats %d --csv",
               TRIALS, SEARCHES);
    double expected = atof(strstr(cli_read(".out"), "\nga,60,") + strlen("\nga,60,"));
    cli_expect(0,
               "./autotune replay space.log --compare ga,random --trials %d --repeats %d --trace",
               TRIALS, SEARCHES);
    char *text = strdup(cli_read(".out")), *line = strchr(text, '\n');
    double best[SEARCHES] = {0};
    bool seen[SEARCHES][MADE_MOST] = {{false}};
    assert_memory_equal(text, "tuner,search,trial,part,index,failure,time_s,search_s,entity\n", 60);
    for (int i = 0; i < SEARCHES * TRIALS; i++, line = strchr(line + 1, '\n')) {
        int search, trial, index, end = 0;
        char part[16];
        assert_int_equal(
            sscanf(line, "\nga,%d,%d,%15[a-z],%d,%n", &search, &trial, part, &index, &end), 4);
        assert_int_equal(search, i / TRIALS + 1);
        assert_int_equal(trial, i % TRIALS + 1);
        assert_string_equal(part, trial <= 16                             ? "random"
                                  : trial > 16 && !strcmp(part, "random") ? part
                                                                          : "child");
        assert_false(seen[search - 1][index]);
        seen[search - 1][index] = true;
        bool fails = !(made_times_s[index] < INFINITY);
        assert_int_equal(line[end] != ',', fails);
        if (!fails) {
            assert_true(atof(line + end + 1) == made_times_s[index]);
            best[search - 1] = fmax(best[search - 1], made_best_s / made_times_s[index]);
        }
    }
    assert_int_equal(cli_count_lines(line, "random,"), SEARCHES * TRIALS);
    free(text);
    at_sort_doubles(best, SEARCHES);
    assert_true(fabs(best[1] - expected) < 1e-4);
    cli_expect(2, "./autotune replay space.log --trace --csv");
    /* Logs have it, too, and read it again. */
    cli_expect(0,
               "./autotune " T " --args " ARGS " --tuner ga --trials 20 --seed 4 --log parts.log");
    cli_expect(0, "grep -c '\"tuner\": \"ga\", \"part\": \"random\"' parts.log | grep -x 16");
    cli_expect(0, "./autotune convert parts.log --to t4 -o parts.json && ./autotune pick_best "
                  "parts.log | grep '\"part\": '");
}

static void warnings(void **state) {
    (void)state;
    cli_expect(0, "{ head -n 200 space.log; sed -n 3,4p space.log | sed 's/16, 16/16, 8/'; "
                  "} > part.log");
    const cli_result *r = cli_expect(0, "./autotune replay part.log --tuner random --repeats 2");
    char expected[256];
    snprintf(expected, sizeof expected,
             "autotune: warning: part.log: 2 records of other tasks or contexts; ignored\n"
             "autotune: warning: part.log: holds 200 of %d points; the others count as failures\n",
             made_points);
    assert_string_equal(r->err, expected);
}

static void refusals(void **state) {
    (void)state;
    cli_expect(0, "grep -F '[1000000000.0]' space.log > failures.log");
    cli_expect(0, "sed 's/" T "/brew/' space.log | head -n 3 > brew.log");
    cli_write("comments.log", "#nothing\n");
    cli_write("doubled.space",
              "{\"autotune_space\": 1, \"task\": \"v\", \"args\": [], \"knobs\": "
              "[{\"name\": \"a\", \"kind\": \"ot\", \"values\": [1, 2]}, {\"name\": "
              "\"a\", \"kind\": \"ot\", \"values\": [1, 2]}]}\n1\n-\n-\n2\n");
    cli_write("formless.space", "{\"autotune_space\": 1, \"task\": \"v\", \"args\": [], \"knobs\": "
                                "[{\"name\": \"a\", \"values\": [1, 2]}]}\n1\n2\n");
    char failures[160];
    snprintf(failures, sizeof failures,
             "failures.log: all %d records of " T " " ARGS " are failures",
             cli_count_lines(cli_read("failures.log"), "{"));
    const struct {
        const char *command;
        int status;
        const char *message; /* a part of it */
    } cases[] = {
        {"replay", 2, "replay needs a log: autotune replay LOG [options]"},
        {"replay a.log b.log", 2, "unexpected word \"b.log\": autotune replay LOG [options]"},
        {"replay missing.log", 4, "cannot read missing.log: No such file or directory"},
        {"replay comments.log", 4, "comments.log: holds no record"},
        {"replay brew.log --feature curve", 2, "--feature: there is no template \"brew\" here, so"},
        {"replay brew.log --transfer space.log", 2, "--transfer: there is no template \"brew\""},
        {"replay doubled.space", 4, "doubled.space: knob a occurs twice"},
        {"replay formless.space", 4, "formless.space: a knob has no name, kind and values"},
        {"replay failures.log", 4, failures},
        {"replay space.log --tuner gird", 2,
         "--tuner gird: unknown tuner \"gird\"; there are grid, random, ga"},
        {"replay space.log --compare grid,gaa", 2,
         "--compare: unknown tuner \"gaa\"; there are grid, random, ga"},
        {"replay space.log --compare grid,", 2, "--compare: unknown tuner \"\"; there are"},
        {"replay space.log --compare ga,grid,ga", 2, "--compare: ga is given twice"},
        {"replay space.log --compare ga --tuner ga", 2,
         "give one of --tuner and --compare, not both"},
        {"replay space.log --csv --json", 2, "give one of --csv, --trace and --json"},
        {"replay space.log --repeats 0", 2, "--repeats 0: must be from 1 to 100000"},
        {"replay space.log --preset mine", 2, "--preset mine: there are ours, autotvm"},
        {"replay space.log --feature all", 2, "--feature all: there are itervar, knob, curve"},
        {"replay space.log --loss square", 2,
         cli_has_xgb() ? "--loss square: there are rank, reg" : "unknown option --loss"},
        {"replay space.log --population 1", 2, "--population 1: must be from 2 to 10000"},
        {"replay space.log --plan-size 0", 2,
         cli_has_xgb() ? "--plan-size 0: must be from 1 to 10000" : "unknown option --plan-size"},
        {"replay space.log --diversity 101", 2,
         cli_has_xgb() ? "--diversity 101: must be from 1 to 100" : "unknown option --diversity"},
        {"replay space.log --range 5", 2, "--range 5: write for example 0-999, both included"},
        {"replay space.log --range 5-4", 2, "--range 5-4: write for example 0-999"},
        {"replay space.log --range 0-99999", 2, "--range 0-99999: not within the space, 0 to "},
        {"replay space.log --args N=1", 2, "--args is no option of replay; autotune help replay"},
        {T " --early-stopping 0", 2, "--early-stopping 0: must be from 1 to 1000000000"},
        {T " --args " ARGS " --tuner ga --transfer space.log --log x.log", 2,
         "--transfer: the tuner ga learns nothing from other tasks; xgb does"},
        {T " --args " ARGS " --transfer space.log --log x.log", cli_has_xgb() ? 4 : 2,
         cli_has_xgb() ? "--transfer space.log: holds no trial of another task of " T
                       : "--transfer: the tuner ga learns nothing from other tasks; xgb does"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r = cli_expect(cases[i].status, "./autotune %s", cases[i].command);
        char expected[256];
        snprintf(expected, sizeof expected, "autotune: %s", cases[i].message);
        if (strncmp(r->err, expected, strlen(expected)))
            fail_msg("autotune %s\nsays:     %sinstead of %s", cases[i].command, r->err, expected);
        assert_string_equal(r->out, "");
    }
}

/* Grid and random visit these indices and no others. */
static void index_range(void **state) {
    (void)state;
    static const char *const names[] = {"grid", "random", "ga"};
    for (int i = 0; i < 3; i++) {
        cli_expect(0,
                   "rm -f range.log; ./autotune " T " --args " ARGS " --tuner %s --range 7-12 "
                   "--log range.log",
                   names[i]);
        const char *log = cli_trials("range.log");
        int sum = 0, n = 0;
        for (const char *at = log; (at = strstr(at, "{\"index\": ")); n++)
            sum += atoi(at += strlen("{\"index\": "));
        assert_int_equal(n, 6);
        assert_int_equal(sum, 7 + 8 + 9 + 10 + 11 + 12);
    }
    int first = 40;
    while (!(made_times_s[first] < INFINITY)) first++;
    double best = INFINITY;
    for (int i = first; i < first + 20; i++) best = fmin(best, made_times_s[i]);
    cli_expect(0,
               "./autotune replay space.log --tuner grid --range %d-%d --trials 50 --repeats 1 "
               "--csv",
               first, first + 19);
    char expected[64];
    snprintf(expected, sizeof expected, "grid,1,%.4f,", made_best_s / made_times_s[first]);
    assert_int_equal(cli_count_lines(cli_read(".out"), expected), 1);
    snprintf(expected, sizeof expected, "grid,50,%.4f,", made_best_s / best);
    assert_int_equal(cli_count_lines(cli_read(".out"), expected), 1);
}

/* ---- tuning --------------------------------------------------------------------------------- */

static void early_stopping(void **state) {
    (void)state;
    cli_expect(0, "./autotune " T " --args " ARGS " --tuner random --early-stopping 12 --trials "
                  "1000 --log early.log --stats");
    int n = cli_count_lines(cli_trials("early.log"), "{");
    assert_in_range(n, 12, 999); /* 12: none was better than the default configuration */
    const cli_result *r =
        cli_expect(0, "./autotune " T " --args " ARGS " --tuner random --early-stopping 12 "
                      "--trials 1000 --log early.log --stats");
    char expected[96];
    snprintf(expected, sizeof expected, "early.log: %d trials, %d of them from the log", n, n);
    assert_non_null(strstr(r->out, expected));
    if (n > 12)
        snprintf(expected, sizeof expected, "; stopped early, the best was trial %d.\n", n - 12);
    else snprintf(expected, sizeof expected, "; stopped early, no trial has a time.\n");
    assert_non_null(strstr(r->out, expected));
    assert_non_null(strstr(r->out, " s: data and reference "));
}

/* A cache that was cut in the middle of an entry has those before it. */
static void torn_cache(void **state) {
    (void)state;
    cli_write("torn.json",
              "{\n\"device_name\": \"A\",\n\"kernel_name\": \"v\",\n\"problem_size\": "
              "\"10\",\n\"tune_params_keys\": [\n\"b\"\n],\n\"tune_params\": {\"b\": [1, 2, "
              "4]},\n\"cache\": {\n\"1\": {\"b\": 1, \"time\": 0.5},\n\"2\": {\"b\": 2, "
              "\"time\": 0.25},\n\"4\": {\"b\": 4, \"ti");
    const cli_result *r = cli_expect(0, "./autotune replay torn.json --tuner random --repeats 2");
    assert_non_null(strstr(r->out, "2 points, the best 250.000 us"));
    assert_string_equal(r->err, "");
    r = cli_expect(4, "./autotune log torn.json");
    assert_string_equal(r->err,
                        "autotune: torn.json: a cache of Kernel Tuner, and no log; autotune "
                        "convert makes one of it, replay takes it as it is\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torn_cache),  cmocka_unit_test(side_by_side),
        cmocka_unit_test(expectation), cmocka_unit_test(whole_space),
        cmocka_unit_test(as_text),     cmocka_unit_test(tuner_options),
        cmocka_unit_test(transfer),    cmocka_unit_test(warnings),
        cmocka_unit_test(trace),       cmocka_unit_test(refusals),
        cmocka_unit_test(index_range), cmocka_unit_test(early_stopping)};
    return cmocka_run_group_tests(tests, made_space_setup, cli_teardown);
}
