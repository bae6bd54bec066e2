/* tests/cli/test_replay.c: replay of recorded spaces, and the options of the tuners. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T "conv2d_3x3_gemm"
#define ARGS "N=1,H=7,W=7,CI=16,CO=16"
#define RECORD_ARGS "[1, 7, 7, 16, 16, \"float32\"]"

enum { MOST = 4000 };

static bool have_xgb;
static int num_points;
static double times_s[MOST], best_s;
static at_arena *arena;
static const char *page;      /* docs/spaces.md */
static char spaces[PATH_MAX]; /* docs/spaces */

/* ---- a space recorded without running anything ---------------------------------------------- */

/* Part i of a knob's sizes in an entity. */
static double size_of(const at_json *entity, int knob, int i) {
    return at_json_at(at_json_at(at_json_at(entity, knob), 2), i)->number;
}

/* A peak over the logarithms of the sizes, with a little texture. */
static double time_of(const at_json *entity) {
    double yi = log2(size_of(entity, 0, 2)), xi = log2(size_of(entity, 1, 2)),
           yo = log2(size_of(entity, 0, 1)), ki = log2(size_of(entity, 2, 1)), slow = 1;
    slow += 0.3 * (yi - 2.8) * (yi - 2.8) + 0.2 * (xi - 3) * (xi - 3);
    slow += 0.1 * fabs(yo - 1) + 0.05 * fabs(ki - 4) + 0.02 * fmod(yi + 3 * xi + 5 * ki, 1.7);
    return round(slow * 1e4) * 1e-8; /* what the compact form keeps */
}

/* Writes space.log: every point of the space, the seventh of each dozen a failure. */
static int record_space(void **state) {
    char *text;
    size_t len;
    if (at_read_file(arena = at_arena_new(), "docs/spaces.md", &text, &len, NULL) != AT_OK)
        return -1;
    page = text;
    if (!realpath("docs/spaces", spaces)) return -1;
    if (cli_setup(state)) return -1;
    cli_expect(0, "./autotune space " T " --args " ARGS " --json");
    num_points = (int)cli_member(cli_json(), "len")->integer;
    assert_in_range(num_points, 500, MOST);
    at_text command = {0}, log = {0};
    at_text_add(&command, "./autotune space " T " --args " ARGS " --json --index ");
    for (int i = 0; i < num_points; i++) at_text_addf(&command, "%s%d", i ? "," : "", i);
    cli_expect(0, "%s", at_text_str(&command));
    int i = 0;
    for (const at_json *e = cli_member(cli_json(), "entities")->child; e; e = e->next, i++) {
        const at_json *entity = at_json_get(e, "entity");
        double time_s = time_of(entity);
        bool fails = i % 12 == 7;
        times_s[i] = fails ? INFINITY : time_s;
        if (!fails && (best_s == 0 || time_s < best_s)) best_s = time_s;
        at_text_add(&log, "{\"input\": [\"c\", \"" T "\", " RECORD_ARGS ", {}], \"config\": ");
        at_text_addf(&log, "{\"index\": %d, \"code_hash\": null, \"entity\": ", i);
        at_json_print(&log, entity);
        at_text_add(&log, "}, \"result\": [[");
        at_text_add_double(&log, fails ? 1e9 : time_s);
        at_text_addf(&log, "], %d, 0.1, 1.5], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
                     fails ? 4 : 0);
    }
    assert_int_equal(i, num_points);
    cli_write("space.log", at_text_str(&log));
    at_text_free(&log);
    at_text_free(&command);
    have_xgb = cli_run("./autotune list | grep -q '^  xgb '")->status == 0;
    return 0;
}

static double number(const at_json *object, const char *path) {
    const at_json *v = cli_member(object, path);
    assert_int_equal(v->kind, AT_JSON_NUMBER);
    return v->number;
}

static int points_within(double share) {
    int n = 0;
    for (int i = 0; i < num_points; i++) n += best_s / times_s[i] >= share;
    return n;
}

/* ---- what replay says ----------------------------------------------------------------------- */

/* Grid, random and the learners side by side: the members, and that learning pays. */
static void side_by_side(void **state) {
    (void)state;
    cli_expect(0,
               "./autotune replay space.log --compare grid,random,ga%s --trials 300 "
               "--repeats 20 --json",
               have_xgb ? ",xgb" : "");
    const at_json *r = cli_json(), *tuners = cli_member(r, "tuners");
    assert_string_equal(cli_member(r, "space.task")->string, T);
    assert_int_equal(cli_member(r, "space.args")->count, 6);
    assert_true(number(r, "space.points") == num_points);
    assert_float_equal(number(r, "space.best_ns"), best_s * 1e9, 1e-3);
    assert_true(number(r, "repeats") == 20);

    double expected = number(r, "random_expected.trials_to_99");
    assert_float_equal(expected, (num_points + 1.0) / (points_within(0.99) + 1), 1e-9);
    assert_true(expected > 100);
    int grid = 0;
    while (best_s / times_s[grid] < 0.9) grid++;
    static const char *const names[] = {"grid", "random", "ga", "xgb"};
    assert_int_equal(tuners->count, have_xgb ? 4 : 3);
    for (int i = 0; i < tuners->count; i++) {
        const at_json *t = at_json_at(tuners, i);
        assert_string_equal(cli_member(t, "tuner")->string, names[i]);
        assert_true(number(t, "trials") == 300);
        assert_true(number(t, "seconds") > 0);
        assert_int_equal(cli_member(t, "of_best_at")->count, 4); /* 1, 5, 10 %, and the last */
        double last = 0;
        for (const at_json *x = cli_member(t, "of_best_at")->child; x; x = x->next) {
            assert_true(x->number >= last && x->number <= 1);
            last = x->number;
        }
        if (i == 0 && grid < 300) assert_true(number(t, "trials_to_90") == grid + 1);
        if (i == 0 && grid >= 300)
            assert_int_equal(cli_member(t, "trials_to_90")->kind, AT_JSON_NULL);
        if (i >= 2) assert_true(number(t, "trials_to_99") < expected);
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
    for (int i = 0; i < num_points; i++) share += best_s / times_s[i] / num_points;
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
        assert_int_equal(cli_count_lines(first, line), num_points);
        snprintf(line, sizeof line, "%s,%d,1.0000,1.0000,1.0000\n", names[i], num_points);
        assert_int_equal(cli_count_lines(first, line), 1);
    }
    free(first);
}

static void as_text(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune replay space.log --tuner ga --trials 40 --repeats 5");
    char head[128];
    snprintf(head, sizeof head, T " " ARGS "\n%d points, the best %.3f us, index ", num_points,
             best_s * 1e6);
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
                                       "--repeats 3 --csv %s",
                                       of_ga[i])
                                ->out);
    for (int i = 0; i < 8 && have_xgb; i++)
        found[n++] = strdup(cli_expect(0,
                                       "./autotune replay space.log --tuner xgb --trials 80 "
                                       "--repeats 3 --csv %s",
                                       of_xgb[i])
                                ->out);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) assert_true(strcmp(found[i], found[k]));
    const cli_result *r = cli_expect(
        0, "./autotune replay space.log --tuner ga:population=5 --trials 80 --repeats 3 --csv");
    assert_string_equal(r->out, found[1]);
    for (int i = 0; i < n; i++) free(found[i]);
}

/* Trials of another shape make a good start. */
static void transfer(void **state) {
    (void)state;
    if (!have_xgb) skip();
    cli_expect(0, "sed 's/\\[1, 7, 7, 16, 16,/[1, 7, 7, 16, 32,/' space.log > other.log");
    cli_expect(0, "./autotune replay space.log --tuner xgb --trials 14 --repeats 9 --json");
    double without = number(at_json_at(cli_member(cli_json(), "tuners"), 0), "of_best_at.14");
    cli_expect(0, "./autotune replay space.log --tuner xgb --trials 14 --repeats 9 --json "
                  "--transfer other.log");
    double with = number(at_json_at(cli_member(cli_json(), "tuners"), 0), "of_best_at.14");
    assert_true(with > without);
    cli_expect(0, "./autotune " T " --args " ARGS " --trials 5 --transfer other.log --log t.log");
}

/* What docs/spaces.md shows of Python, run on a space of ours. */
static void read_with_python(void **state) {
    (void)state;
    if (cli_run("command -v python3")->status) skip();
    static const char fence[] = "```python\n";
    const char *begin = strstr(page, fence), *end = begin ? strstr(begin + 3, "```") : NULL;
    assert_non_null(end);
    cli_write("read.py",
              at_strndup(arena, begin + strlen(fence), (size_t)(end - begin) - strlen(fence)));
    cli_expect(0, "./autotune convert space.log --to space | gzip -9n >space.gz");
    const cli_result *r = cli_expect(0, "python3 read.py");
    int best = 0, index, points;
    while (times_s[best] > best_s) best++;
    double best_ns;
    char entity[160];
    assert_int_equal(sscanf(r->out, T " %d %lf %d %159[^\n]", &points, &best_ns, &index, entity),
                     4);
    assert_int_equal(points, num_points);
    assert_int_equal(index, best);
    assert_float_equal(best_ns, best_s * 1e9, 1e-6);
    cli_expect(0, "./autotune space " T " --args " ARGS " --json --index %d", best);
    const at_json *of_tile_y = at_json_at(
        at_json_at(at_json_get(cli_member(cli_json(), "entities")->child, "entity"), 0), 2);
    at_text expected = {0};
    at_text_add(&expected, "{'tile_y': ");
    at_json_print(&expected, of_tile_y);
    assert_memory_equal(entity, at_text_str(&expected), expected.len);
    at_text_free(&expected);
}

/* The compact form holds what a replay needs, and trials to start from. */
static void compact(void **state) {
    (void)state;
    static const char search[] = "--compare grid,random,ga --trials 200 --repeats 4 --csv";
    char *first = strdup(cli_expect(0, "./autotune replay space.log %s", search)->out);
    cli_expect(0, "./autotune convert space.log --to space | gzip -9n >space.gz");
    assert_string_equal(cli_expect(0, "./autotune replay space.gz %s", search)->out, first);
    assert_string_equal(cli_run("true")->err, "");
    free(first);
    cli_expect(0, "./autotune convert space.log --to space -o a.space --json");
    assert_true(number(cli_json(), "records") == num_points);
    const at_json *head = NULL;
    char *text = cli_read("a.space");
    at_arena *a = at_arena_new();
    assert_int_equal(at_json_parse(a, text, strcspn(text, "\n"), &head, NULL), AT_OK);
    assert_string_equal(at_json_get(head, "task")->string, T);
    assert_string_equal(at_json_get(head, "first")->string, "1970-01-01T00:00:01Z");
    assert_int_equal(at_json_get(head, "knobs")->count, 3);
    assert_int_equal(cli_count_lines(text, "e4\n"), (num_points + 4) / 12);
    at_arena_free(a);
    /* Of a point measured several times the median counts; a failure only where all failed. */
    cli_expect(0, "{ cat space.log; for t in 7e-05 9e-05; do sed -n '1p;8p' space.log | sed "
                  "'s/\"result\": .*, 0.1/\"result\": [['$t'], 0, 0.1/'; done; } > twice.log");
    cli_expect(0, "./autotune convert twice.log --to space | sed -n '2p;9p'");
    assert_string_equal(cli_read(".out"), "90000\n70000\n");
    cli_expect(0, "sed 's/\\[1, 7, 7, 16, 16,/[1, 7, 7, 16, 32,/' a.space > b.space");
    const cli_result *r = cli_expect(4, "./autotune replay b.space --repeats 1");
    assert_string_equal(r->err, "autotune: b.space: its knobs are not those that " T
                                " N=1,H=7,W=7,CI=16,CO=32 has here\n");
    /* The table of the machine that recorded it goes along; what is none is refused. */
    assert_null(strstr(text = cli_read("a.space"), "\"machine\": "));
    cli_expect(0, "./autotune machine --json >table.json && sed \"1s|\\$|, \\\"machine\\\": "
                  "$(cat table.json)}|; 1s|}, \\\"machine|, \\\"machine|\" a.space >m.space");
    cli_expect(0, "grep -q '\"machine\": {\"cpu\": ' m.space && ./autotune replay m.space %s",
               search);
    cli_expect(0, "sed '1s/\"sets\": \\[/\"sets\": [7, /' m.space >bad.space");
    r = cli_expect(4, "./autotune replay bad.space %s", search);
    assert_non_null(strstr(r->err, "bad.space: recorded space: \"machine\": sets: "));
    cli_expect(2, "./autotune convert a.space --to space");
    cli_expect(4, "./autotune replay space.gz --transfer a.space --repeats 1");
    if (!have_xgb) return;
    cli_expect(0, "./autotune convert other.log --to space -o c.space");
    first = strdup(cli_expect(0, "./autotune replay space.log --trials 20 --repeats 2 --csv "
                                 "--transfer other.log")
                       ->out);
    assert_string_equal(cli_expect(0, "./autotune replay space.log --trials 20 --repeats 2 --csv "
                                      "--transfer c.space")
                            ->out,
                        first);
    free(first);
}

/* "43,740" */
static double number_of(const char *text) {
    double n = 0;
    for (; *text; text++)
        if (*text != ',') n = 10 * n + (*text - '0');
    return n;
}

/* The table of docs/spaces.md is what the files hold, and today's templates have these knobs. */
static void recorded_spaces(void **state) {
    (void)state;
    const char *row = strstr(page, "\n| conv2d_3x3_gemm_");
    int n = 0;
    for (; row && row[1] == '|'; row = strchr(row + 1, '\n'), n++) {
        char name[80], points[16], unit[3], within[16], random[16];
        double best;
        assert_int_equal(sscanf(row, "\n| %79s | %15[0-9,] | %lf %2s | %15[0-9,] | %15[0-9,] |",
                                name, points, &best, unit, within, random),
                         6);
        cli_expect(0,
                   "./autotune replay %s/%s.space.gz --tuner random --trials 1 --repeats 1 --json",
                   spaces, name);
        const at_json *r = cli_json();
        double unit_ns = strcmp(unit, "us") ? 1e6 : 1e3;
        double expected = number(r, "random_expected.trials_to_95");
        assert_true(number(r, "space.points") == number_of(points));
        assert_float_equal(number(r, "space.best_ns") / unit_ns, best, 5e-4 * best);
        assert_true(round(expected) == number_of(random));
        assert_float_equal((number_of(points) + 1) / (number_of(within) + 1), expected, 1e-9);
    }
    assert_int_equal(n, 17);
}

/* Learning pays on a measured space, too. */
static void measured(void **state) {
    (void)state;
    cli_expect(
        0,
        "./autotune replay %s/conv2d_winograd_nhwc_28x28x64x64.space.gz --compare random,ga%s "
        "--trials 150 --repeats 7 --json",
        spaces, have_xgb ? ",xgb" : "");
    const at_json *r = cli_json(), *tuners = cli_member(r, "tuners");
    double expected = number(r, "random_expected.trials_to_95");
    assert_true(number(at_json_at(tuners, 1), "trials_to_95") < expected / 2);
    if (have_xgb) assert_true(number(at_json_at(tuners, 2), "trials_to_95") < expected / 3);
}

/* ---- what it warns of and refuses ----------------------------------------------------------- */

/* The same results as a log of a template that is not here, and as other tuners write them: a space
 * of its own each, with the same points, whose order is another. */
static void of_any_origin(void **state) {
    (void)state;
    cli_expect(0, "sed 's/" T "/brew/' space.log > unknown.log");
    cli_expect(0, "./autotune convert unknown.log --to t4 -o unknown.t4.json");
    cli_expect(0, "./autotune convert unknown.log --to kernel_tuner -o unknown.cache.json");
    cli_expect(0, "head -c -4 unknown.cache.json | gzip >torn.json.gz");
    static const char *const files[] = {"space.log", "unknown.log", "unknown.t4.json",
                                        "unknown.cache.json", "torn.json.gz"};
    char *first = NULL;
    for (int i = 0; i < 5; i++) {
        const cli_result *r = cli_expect(
            0, "./autotune replay %s --compare grid,random,ga%s --trials 300 --repeats 5 --json",
            files[i], have_xgb ? ",xgb" : "");
        assert_string_equal(r->err, "");
        const at_json *json = cli_json(), *tuners = cli_member(json, "tuners");
        assert_true(number(json, "space.points") == num_points);
        assert_true(fabs(number(json, "space.best_ns") - best_s * 1e9) < 1e-6 * best_s * 1e9);
        assert_string_equal(cli_member(json, "space.task")->string, i ? "brew" : T);
        char *expected = strdup(at_json_text(cli_arena(), cli_member(json, "random_expected")));
        if (!first) first = strdup(expected);
        assert_string_equal(expected, first);
        free(expected);
        for (int k = 2; k < tuners->count; k++)
            assert_true(number(at_json_at(tuners, k), "trials_to_95") <
                        number(json, "random_expected.trials_to_95"));
    }
    free(first);
    /* Grid goes through all of it: every point once. */
    cli_expect(0,
               "./autotune replay unknown.t4.json --tuner grid --trials 100000 --repeats 1 --csv");
    char last[64];
    snprintf(last, sizeof last, "grid,%d,1.0000,", num_points);
    assert_int_equal(cli_count_lines(cli_read(".out"), last), 1);
    /* Under a name of ours, but with other parameters. */
    cli_expect(0, "sed 's/brew/dense/; s/tile_y/size_y/g' unknown.cache.json >dense.json");
    cli_expect(0, "./autotune replay dense.json --tuner random --json");
    assert_true(number(cli_json(), "space.points") == num_points);
    /* Texts, booleans and numbers as values; what was measured twice. */
    cli_write("mixed.json",
              "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"problem_size\": 9, "
              "\"tune_params_keys\": [\"a\", \"b\", \"c\"], \"tune_params\": {}, \"cache\": {"
              "\"x\": {\"a\": \"x\", \"b\": true, \"c\": 10, \"time\": 3},"
              "\"y\": {\"a\": \"y\", \"b\": true, \"c\": 9, \"time\": \"InvalidConfig\"},"
              "\"z\": {\"a\": \"y\", \"b\": false, \"c\": 9.5, \"time\": 2},"
              "\"w\": {\"a\": \"y\", \"b\": false, \"c\": 9.5, \"time\": 4}}}");
    cli_expect(0, "./autotune replay mixed.json --compare grid,random,ga%s --json",
               have_xgb ? ",xgb" : "");
    assert_true(number(cli_json(), "space.points") == 3);
    assert_true(number(cli_json(), "space.best_ns") == 2e6);
}

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
    bool seen[SEARCHES][MOST] = {{false}};
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
        bool fails = !(times_s[index] < INFINITY);
        assert_int_equal(line[end] != ',', fails);
        if (!fails) {
            assert_true(atof(line + end + 1) == times_s[index]);
            best[search - 1] = fmax(best[search - 1], best_s / times_s[index]);
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
             num_points);
    assert_string_equal(r->err, expected);
}

static void refusals(void **state) {
    (void)state;
    cli_expect(0, "grep -F '[1000000000.0]' space.log > failures.log");
    cli_expect(0, "sed 's/" T "/brew/' space.log | head -n 3 > brew.log");
    cli_write("comments.log", "#nothing\n");
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
        {"convert brew.log --to space", 4, "brew.log: there is no template \"brew\" here, without"},
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
        {"replay space.log --loss square", 2, "--loss square: there are rank, reg"},
        {"replay space.log --population 1", 2, "--population 1: must be from 2 to 10000"},
        {"replay space.log --plan-size 0", 2, "--plan-size 0: must be from 1 to 10000"},
        {"replay space.log --diversity 101", 2, "--diversity 101: must be from 1 to 100"},
        {"replay space.log --range 5", 2, "--range 5: write for example 0-999, both included"},
        {"replay space.log --range 5-4", 2, "--range 5-4: write for example 0-999"},
        {"replay space.log --range 0-99999", 2, "--range 0-99999: not within the space, 0 to "},
        {"replay space.log --args N=1", 2, "--args is no option of replay; autotune help replay"},
        {T " --early-stopping 0", 2, "--early-stopping 0: must be from 1 to 1000000000"},
        {T " --args " ARGS " --tuner ga --transfer space.log --log x.log", 2,
         "--transfer: the tuner ga learns nothing from other tasks; xgb does"},
        {T " --args " ARGS " --transfer space.log --log x.log", have_xgb ? 4 : 2,
         have_xgb ? "--transfer space.log: holds no trial of another task of " T
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
        const char *log = cli_read("range.log");
        int sum = 0, n = 0;
        for (const char *at = log; (at = strstr(at, "{\"index\": ")); n++)
            sum += atoi(at += strlen("{\"index\": "));
        assert_int_equal(n, 6);
        assert_int_equal(sum, 7 + 8 + 9 + 10 + 11 + 12);
    }
    int first = 40;
    while (!(times_s[first] < INFINITY)) first++;
    double best = INFINITY;
    for (int i = first; i < first + 20; i++) best = fmin(best, times_s[i]);
    cli_expect(0,
               "./autotune replay space.log --tuner grid --range %d-%d --trials 50 --repeats 1 "
               "--csv",
               first, first + 19);
    char expected[64];
    snprintf(expected, sizeof expected, "grid,1,%.4f,", best_s / times_s[first]);
    assert_int_equal(cli_count_lines(cli_read(".out"), expected), 1);
    snprintf(expected, sizeof expected, "grid,50,%.4f,", best_s / best);
    assert_int_equal(cli_count_lines(cli_read(".out"), expected), 1);
}

/* ---- tuning --------------------------------------------------------------------------------- */

static void early_stopping(void **state) {
    (void)state;
    cli_expect(0, "./autotune " T " --args " ARGS " --tuner random --early-stopping 12 --trials "
                  "1000 --log early.log --stats");
    const cli_result *r = cli_run("grep -c '^{' early.log");
    int n = atoi(r->out);
    assert_in_range(n, 13, 999);
    r = cli_expect(0, "./autotune " T " --args " ARGS " --tuner random --early-stopping 12 "
                      "--trials 1000 --log early.log --stats");
    char expected[96];
    snprintf(expected, sizeof expected, "best of %d trials, %d of them from the log", n, n);
    assert_non_null(strstr(r->out, expected));
    snprintf(expected, sizeof expected, "; stopped early, the best was trial %d; log", n - 12);
    assert_non_null(strstr(r->out, expected));
    assert_non_null(strstr(r->out, " s: search "));
}

static int teardown(void **state) {
    at_arena_free(arena);
    return cli_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(side_by_side),    cmocka_unit_test(expectation),
        cmocka_unit_test(whole_space),     cmocka_unit_test(as_text),
        cmocka_unit_test(tuner_options),   cmocka_unit_test(transfer),
        cmocka_unit_test(compact),         cmocka_unit_test(read_with_python),
        cmocka_unit_test(recorded_spaces), cmocka_unit_test(measured),
        cmocka_unit_test(warnings),        cmocka_unit_test(trace),
        cmocka_unit_test(of_any_origin),   cmocka_unit_test(refusals),
        cmocka_unit_test(index_range),     cmocka_unit_test(early_stopping)};
    return cmocka_run_group_tests(tests, record_space, teardown);
}
