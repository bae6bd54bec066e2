/* tests/cli/test_spaces.c: files of recorded spaces: the compact form, those of docs/spaces, and
 * spaces of other origin. */
#include "tests/cli/made_space.h"
#include "tests/whole_file.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T MADE_TASK
#define ARGS MADE_ARGS

static at_arena *arena;
static const char *page;      /* docs/notes/spaces.md */
static char spaces[PATH_MAX]; /* docs/spaces */

static int setup(void **state) {
    char *text;
    size_t len;
    if (read_whole(arena = at_arena_new(), "docs/notes/spaces.md", &text, &len, NULL) != AT_OK)
        return -1;
    page = text;
    return realpath("docs/spaces", spaces) ? made_space_setup(state) : -1;
}

static int teardown(void **state) {
    at_arena_free(arena);
    return cli_teardown(state);
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
    assert_true(cli_number(cli_json(), "records") == made_points);
    const at_json *head = NULL;
    char *text = cli_read("a.space");
    at_arena *a = at_arena_new();
    assert_int_equal(at_json_parse(a, text, strcspn(text, "\n"), &head, NULL), AT_OK);
    assert_string_equal(at_json_get(head, "task")->string, T);
    assert_string_equal(at_json_get(head, "first")->string, "1970-01-01T00:00:01Z");
    assert_int_equal(at_json_get(head, "knobs")->count, 3);
    assert_int_equal(cli_count_lines(text, "e4\n"), (made_points + 4) / 12);
    at_arena_free(a);
    /* Of a point measured several times the median counts; a failure only where all failed. */
    cli_expect(0, "{ cat space.log; for t in 7e-05 9e-05; do sed -n '1p;8p' space.log | sed "
                  "'s/\"result\": .*, 0.1/\"result\": [['$t'], 0, 0.1/'; done; } > twice.log");
    cli_expect(0, "./autotune convert twice.log --to space | sed -n '2p;9p'");
    assert_string_equal(cli_read(".out"), "90000\n70000\n");
    /* What nobody can have measured is no time, and no failure either. */
    cli_expect(0, "{ cat space.log; for t in 1e+300 1e+30 -0.5; do sed -n '1p' space.log | sed "
                  "'s/\"result\": .*, 0.1/\"result\": [['$t'], 0, 0.1/'; done; } > beyond.log");
    cli_expect(0, "for l in space beyond; do ./autotune convert $l.log --to space | tail -n +2 "
                  ">$l.txt; done; cmp space.txt beyond.txt");
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
    if (!cli_has_xgb()) return;
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

/* What docs/notes/spaces.md shows of Python, run on a space of ours. */
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
    while (made_times_s[best] > made_best_s) best++;
    double best_ns;
    char entity[160];
    assert_int_equal(sscanf(r->out, T " %d %lf %d %159[^\n]", &points, &best_ns, &index, entity),
                     4);
    assert_int_equal(points, made_points);
    assert_int_equal(index, best);
    assert_float_equal(best_ns, made_best_s * 1e9, 1e-6);
    cli_expect(0, "./autotune space " T " --args " ARGS " --json --index %d", best);
    const at_json *of_tile_y = at_json_at(
        at_json_at(at_json_get(cli_member(cli_json(), "entities")->child, "entity"), 0), 2);
    at_text expected = {0};
    at_text_add(&expected, "{'tile_y': ");
    at_json_print(&expected, of_tile_y);
    assert_memory_equal(entity, at_text_str(&expected), expected.len);
    at_text_free(&expected);
}

/* "43,740" */
static double number_of(const char *text) {
    double n = 0;
    for (; *text; text++)
        if (*text != ',') n = 10 * n + (*text - '0');
    return n;
}

/* The table of docs/notes/spaces.md is what the files hold, and today's templates have these knobs.
 */
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
        double expected = cli_number(r, "random_expected.trials_to_95");
        assert_true(cli_number(r, "space.points") == number_of(points));
        assert_float_equal(cli_number(r, "space.best_ns") / unit_ns, best, 5e-4 * best);
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
        spaces, cli_has_xgb() ? ",xgb" : "");
    const at_json *r = cli_json(), *tuners = cli_member(r, "tuners");
    double expected = cli_number(r, "random_expected.trials_to_95");
    assert_true(cli_number(at_json_at(tuners, 1), "trials_to_95") < expected / 2);
    if (cli_has_xgb())
        assert_true(cli_number(at_json_at(tuners, 2), "trials_to_95") < expected / 3);
}

/* The same results as a log of a template that is not here, and as other tuners write them: a space
 * of its own each, with the same points, whose order is another. */
static void of_any_origin(void **state) {
    (void)state;
    cli_expect(0, "sed 's/" T "/brew/' space.log > unknown.log");
    cli_expect(0, "./autotune convert unknown.log --to t4 -o unknown.t4.json");
    cli_expect(0, "./autotune convert unknown.log --to kernel_tuner -o unknown.cache.json");
    cli_expect(0, "head -c -4 unknown.cache.json | gzip >torn.json.gz");
    cli_expect(0, "./autotune convert unknown.cache.json --to space -o unknown.space");
    static const char *const files[] = {"space.log",          "unknown.log",  "unknown.t4.json",
                                        "unknown.cache.json", "torn.json.gz", "unknown.space"};
    char *first = NULL;
    for (int i = 0; i < 6; i++) {
        const cli_result *r = cli_expect(
            0, "./autotune replay %s --compare grid,random,ga%s --trials 300 --repeats 5 --json",
            files[i], cli_has_xgb() ? ",xgb" : "");
        assert_string_equal(r->err, "");
        const at_json *json = cli_json(), *tuners = cli_member(json, "tuners");
        assert_true(cli_number(json, "space.points") == made_points);
        assert_true(fabs(cli_number(json, "space.best_ns") - made_best_s * 1e9) <
                    1e-6 * made_best_s * 1e9);
        assert_string_equal(cli_member(json, "space.task")->string, i ? "brew" : T);
        char *expected = strdup(at_json_text(cli_arena(), cli_member(json, "random_expected")));
        if (!first) first = strdup(expected);
        assert_string_equal(expected, first);
        free(expected);
        for (int k = 2; k < tuners->count; k++)
            assert_true(cli_number(at_json_at(tuners, k), "trials_to_95") <
                        cli_number(json, "random_expected.trials_to_95"));
    }
    free(first);
    /* Grid goes through all of it: every point once. */
    cli_expect(0,
               "./autotune replay unknown.t4.json --tuner grid --trials 100000 --repeats 1 --csv");
    char last[64];
    snprintf(last, sizeof last, "grid,%d,1.0000,", made_points);
    assert_int_equal(cli_count_lines(cli_read(".out"), last), 1);
    /* Under a name of ours, but with other parameters. */
    cli_expect(0, "sed 's/brew/dense/; s/tile_y/size_y/g' unknown.cache.json >dense.json");
    cli_expect(0, "./autotune replay dense.json --tuner random --json");
    assert_true(cli_number(cli_json(), "space.points") == made_points);
    /* Texts, booleans and numbers as values; what was measured twice. */
    cli_write("mixed.json",
              "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"problem_size\": 9, "
              "\"tune_params_keys\": [\"a\", \"b\", \"c\"], \"tune_params\": {}, \"cache\": {"
              "\"x\": {\"a\": \"x\", \"b\": true, \"c\": 10, \"time\": 3},"
              "\"y\": {\"a\": \"y\", \"b\": true, \"c\": 9, \"time\": \"InvalidConfig\"},"
              "\"z\": {\"a\": \"y\", \"b\": false, \"c\": 9.5, \"time\": 2},"
              "\"w\": {\"a\": \"y\", \"b\": false, \"c\": 9.5, \"time\": 4}}}");
    cli_expect(0, "./autotune replay mixed.json --compare grid,random,ga%s --json",
               cli_has_xgb() ? ",xgb" : "");
    assert_true(cli_number(cli_json(), "space.points") == 3);
    assert_true(cli_number(cli_json(), "space.best_ns") == 2e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compact),
                                       cmocka_unit_test(read_with_python),
                                       cmocka_unit_test(recorded_spaces),
                                       cmocka_unit_test(measured), cmocka_unit_test(of_any_origin)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
