/* tests/cli/test_tune.c: the main job from outside: results, log, resume, interruption, progress.
 */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

/* Small enough that a trial costs a few milliseconds. */
#define TUNE "./autotune conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 "

static int count_trials(const char *log) { return cli_count_lines(cli_trials(log), "{"); }

static void result_members(void **state) {
    (void)state;
    cli_expect(0, "./autotune list --json");
    const at_json *tuners = cli_member(cli_json(), "tuners");
    /* The last of the list is the default. */
    char *tuner = strdup(cli_member(at_json_at(tuners, tuners->count - 1), "name")->string);
    cli_expect(0, TUNE "--trials 12 --seed 3 --log members.log --json");
    const at_json *r = cli_json();
    assert_string_equal(cli_member(r, "task")->string, "conv2d_3x3_gemm");
    assert_string_equal(cli_member(r, "tuner")->string, tuner);
    assert_string_equal(cli_member(r, "log")->string, "members.log");
    assert_int_equal(cli_member(r, "args")->count, 6);
    assert_int_equal(cli_number(r, "seed"), 3);
    assert_int_equal(cli_number(r, "trials"), 12);
    assert_int_equal(cli_number(r, "from_log"), 0);
    assert_int_equal(cli_member(r, "failed")->count, 0);
    assert_int_equal(cli_member(r, "best.entity")->count, 3);
    double time_s = cli_number(r, "best.time_ns") * 1e-9, flops = 2.0 * 35 * 6 * 27;
    assert_true(time_s > 0 && cli_number(r, "peak_gflops") > 0);
    assert_float_equal(cli_number(r, "best.gflops"), flops / time_s * 1e-9, 1e-6);
    assert_true(cli_number(r, "best.of_peak") > 0);
    assert_true(cli_number(r, "best.of_peak_low") <= cli_number(r, "best.of_peak"));
    assert_true(cli_number(r, "best.of_peak_high") >= cli_number(r, "best.of_peak"));
    assert_in_range(cli_number(r, "best.tied"), 0, 11);
    assert_true(cli_number(r, "fixed_seconds_per_trial") > 0 && cli_number(r, "disturbed") >= 0);
    static const char *const phases[] = {"total", "search", "lower",     "compile",
                                         "check", "run",    "reference", "final"};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        char path[32];
        snprintf(path, sizeof path, "seconds.%s", phases[i]);
        assert_true(cli_number(r, path) >= 0 &&
                    cli_number(r, path) <= cli_number(r, "seconds.total"));
    }
    assert_int_equal(count_trials("members.log"), 12);
    assert_true(cli_count_lines(cli_read("members.log"), "#final {") >= 1);
    free(tuner);
}

/* Where the final's time is not what the progress line had last, it is said which one counts. The
 * log's trials claim a nanosecond. */
static void final_counts(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 3 --tuner random -q --log told.log; sed -i 's/\"result\": "
                       "\\[\\[[0-9.e-]*\\]/\"result\": [[1e-09]/; /^#final/d' told.log");
    const cli_result *r = cli_expect(0, TUNE "--trials 3 --tuner random --log told.log");
    assert_non_null(strstr(r->err, "best 1.00"));
    assert_non_null(strstr(r->out, "\nThe best trial's 1 ns was of one moment; the final timed the "
                                   "best few in turn, and counts.\n"));
}

static void default_log(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, TUNE "--trials 2");
    assert_non_null(strstr(
        r->out,
        "\nLog conv2d_3x3_gemm.log: 2 trials.\nNext: autotune apply conv2d_3x3_gemm --args "));
    assert_non_null(strstr(r->out, "\nFastest of 2: "));
    assert_int_equal(count_trials("conv2d_3x3_gemm.log"), 2);
}

/* The last lines: sentences, shares that add up to all, and a command that works. */
static void end_of_run(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, TUNE "--trials 6 --log end.log --stats --baseline");
    const char *s = strstr(r->out, "\nFastest of 6: ");
    assert_non_null(s);
    assert_non_null(strstr(s, " % of the peak, "));
    assert_non_null(strstr(s, " the default configuration"));
    assert_non_null(strstr(s, "\nMeasured "));
    assert_non_null(strstr(s, "\nLog end.log: 6 trials.\n"));
    bool has_gcc = !system("command -v gcc >/dev/null");
    assert_non_null(strstr(s, has_gcc ? " times as fast as plain loops through gcc -O3 "
                                      : "\nPlain loops were not timed: gcc is not there.\n"));
    int tenths = 0, parts = 0, whole, part;
    const char *line = strstr(s, " s: data and reference ");
    assert_non_null(line);
    for (const char *p = line; (p = strchr(p, '(')) && p < strchr(line, '\n'); p++, parts++) {
        assert_int_equal(sscanf(p, "(%d.%1d %%)", &whole, &part), 2);
        tenths += 10 * whole + part;
    }
    assert_int_equal(parts, 4);
    assert_int_equal(tenths, 1000);
    const char *next = strstr(s, "\nNext: autotune ");
    assert_non_null(next);
    next += strlen("\nNext: ");
    char command[256];
    snprintf(command, sizeof command, "./%.*s", (int)strcspn(next, "\n"), next);
    cli_expect(0, "%s && ls kernel.c kernel.h", command);
    if (!has_gcc) return;
    cli_expect(0, TUNE "--trials 6 --log end.log --baseline --json");
    assert_true(cli_number(cli_json(), "times_baseline") > 0);
    assert_true(cli_number(cli_json(), "times_default") > 0);
}

/* Indices of the records, in order, as text. */
static char *indices(const char *log) {
    char command[256];
    snprintf(command, sizeof command, "grep '^{' %s | sed 's/.*\"index\": \\([0-9]*\\).*/\\1/'",
             log);
    return cli_expect(0, "%s", command)->out;
}

/* Twenty trials, then thirty by the same command: ten new ones, and the same log as in one go. */
static void resume(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 20 --seed 1 --tuner random --log resumed.log");
    cli_expect(0, TUNE "--trials 30 --seed 1 --tuner random --log resumed.log --json");
    const at_json *r = cli_json();
    assert_int_equal(cli_number(r, "trials"), 30);
    assert_int_equal(cli_number(r, "from_log"), 20);
    cli_expect(0, TUNE "--trials 30 --seed 1 --tuner random --log at_once.log");
    char *at_once = strdup(indices("at_once.log"));
    assert_string_equal(indices("resumed.log"), at_once);
    free(at_once);
    /* Another compiler is another context: nothing of it is answered. */
    if (cli_run("command -v gcc")->status == 0) {
        cli_expect(0, TUNE
                   "--trials 2 --seed 1 --tuner random --log resumed.log --compiler gcc --json");
        assert_int_equal(cli_number(cli_json(), "from_log"), 0);
    }
}

/* Whatever a tuner has learned, it learns again from the log: all that the log holds is answered
 * from it, and the search goes on. */
static void resume_learners(void **state) {
    (void)state;
    cli_expect(0, "./autotune list --json");
    const at_json *tuners = cli_member(cli_json(), "tuners");
    int num = tuners->count;
    char names[8][32];
    for (int i = 0; i < num && i < 8; i++)
        snprintf(names[i], sizeof names[i], "%s",
                 cli_member(at_json_at(tuners, i), "name")->string);
    for (int i = 0; i < num && i < 8; i++) {
        const char *command = TUNE "--trials %d --seed 1 --tuner %s --log learner_%s.log --json";
        cli_expect(0, command, 40, names[i], names[i]);
        cli_expect(0, command, 50, names[i], names[i]);
        assert_int_equal(cli_number(cli_json(), "trials"), 50);
        assert_int_equal(cli_number(cli_json(), "from_log"), 40);
    }
}

static void exhausted_space(void **state) {
    (void)state;
    cli_expect(0, "./autotune space conv2d_3x3_gemm --args N=1,H=1,W=1,CI=1,CO=2 --json");
    int len = (int)cli_number(cli_json(), "len");
    cli_expect(0, "./autotune conv2d_3x3_gemm --args N=1,H=1,W=1,CI=1,CO=2 --tuner grid "
                  "--log grid.log --json");
    assert_int_equal(cli_number(cli_json(), "trials"), len);
    assert_int_equal(count_trials("grid.log"), len);
}

static void torn_log(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 5 --log torn.log");
    assert_int_equal(cli_run("sed -i '/^#/d' torn.log && truncate -s -20 torn.log")->status, 0);
    const cli_result *r = cli_expect(0, TUNE "--trials 6 --log torn.log --json");
    assert_ptr_equal(strstr(r->err, "autotune: warning: torn.log:6: torn last line; skipped\n"),
                     r->err);
    assert_int_equal(cli_number(cli_json(), "from_log"), 4);
    /* Four whole ones, the torn one with an end, two new ones. */
    assert_int_equal(count_trials("torn.log"), 7);
}

/* No compiler that is a process of its own is done in a millisecond. */
static void nothing_valid(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    const cli_result *r =
        cli_expect(3, TUNE "--trials 3 --compiler gcc --timeout 1ms --log failed.log --json");
    assert_non_null(strstr(r->err, "autotune: no valid configuration in 3 trials (3 failed: 3 "
                                   "compile-timeout); the first failure: "));
    const at_json *result = cli_json();
    assert_int_equal(cli_member(result, "best")->kind, AT_JSON_NULL);
    assert_int_equal(cli_number(result, "failed.compile-timeout"), 3);
    assert_int_equal(count_trials("failed.log"), 3);
}

static void time_limit(void **state) {
    (void)state;
    cli_expect_within("./autotune conv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=16 --trials "
                      "1000000 --json",
                      "time.log");
    double trials = cli_number(cli_json(), "trials");
    assert_true(trials >= 1 && trials < 1000000);
}

#define LONG                                                                                       \
    "./autotune conv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=16 --trials 1000000 --log %s "

static void interrupted_by(const char *signal_name, const char *log, const char *told) {
    const cli_result *r = cli_expect(
        130, LONG "& p=$!; " UNTIL_RECORDS("%s") "kill -%s $p; wait $p", log, log, signal_name);
    assert_non_null(strstr(r->out, "of the FMA peak"));
    assert_non_null(strstr(r->err, told));
    assert_non_null(strstr(r->err, " trials; the same command goes on\n"));
    assert_int_equal(cli_processes(), 0);
    int records = count_trials(log);
    cli_expect(0, LONG "--trials 3 --json", log);
    assert_int_equal(cli_number(cli_json(), "from_log"), 3);
    assert_int_equal(count_trials(log), records);
}

static void interrupted(void **state) {
    (void)state;
    interrupted_by("INT", "int.log", "autotune: interrupted after ");
    interrupted_by("TERM", "term.log", "autotune: interrupted by SIGTERM after ");
    interrupted_by("TERM $p; sleep 0.01; kill -TERM", "twice.log", " by SIGTERM after ");
}

/* Whatever ends the run, the worker ends with it. */
static void killed(void **state) {
    (void)state;
    cli_expect(128 + 9, LONG "& p=$!; " UNTIL_RECORDS("%s") "kill -KILL $p; wait $p", "kill.log",
               "kill.log");
    cli_wait_for_processes();
}

static void locked_log(void **state) {
    (void)state;
    const cli_result *r = cli_run(LONG ">/dev/null 2>&1 & p=$!; " UNTIL_RECORDS("%s") TUNE
                                  "--log lock.log; s=$?; kill $p; wait $p; echo $p; exit $s",
                                  "lock.log", "lock.log");
    char expected[256];
    snprintf(expected, sizeof expected,
             "autotune: lock.log is being written by another run, process %d; wait for it, or name "
             "another log\n",
             atoi(r->out));
    assert_string_equal(r->err, expected);
    assert_int_equal(r->status, 6);
}

static void full_disk(void **state) {
    (void)state;
    const cli_result *r = cli_expect(5, TUNE "--trials 3 --log /dev/full");
    assert_non_null(strstr(r->err, "autotune: cannot write /dev/full: No space left on device\n"));
    /* A disk of 16 KB. What had been logged is whole, and is shown. */
    if (cli_run("unshare -rm true")->status != 0) skip();
    r = cli_expect(5, "mkdir -p disk; unshare -rm sh -c 'mount -t tmpfs -o size=16k none disk && "
                      "{ " TUNE "--trials 100 --log disk/full.log; s=$?; cp disk/full.log .; "
                      "exit $s; }'");
    assert_non_null(
        strstr(r->err, "autotune: cannot write disk/full.log: No space left on device\n"));
    assert_non_null(strstr(r->out, "of the FMA peak"));
    int records = count_trials("full.log");
    assert_true(records >= 3);
    cli_expect(0, TUNE "--trials %d --log full.log --json", records);
    assert_int_equal(cli_number(cli_json(), "from_log"), records);
}

static void progress(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, TUNE "--trials 4 --log progress.log");
    double time, speed, seconds;
    char unit[8], rest[64];
    assert_int_equal(
        sscanf(r->err, "conv2d_3x3_gemm  best %lf %7[a-z], %lf GFLOP/s  (4/4)  %lf s\n%63[^\n]",
               &time, unit, &speed, &seconds, rest),
        5);
    assert_true(time > 0 && speed > 0);
    assert_string_equal(rest, "timing the best few again, in turn ...");
}

/* Results on flushed caches are another context. A cache that the machine's memory is no match for
 * is refused. */
static void cold_cache(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 1 --log cold.log");
    const cli_result *r = cli_run(TUNE "--trials 1 --log cold.log --cache cold --json");
    if (r->status == 2) {
        assert_non_null(strstr(r->err, "--cache cold: flushing takes "));
        skip();
    }
    assert_int_equal(r->status, 0);
    assert_int_equal(cli_number(cli_json(), "from_log"), 0);
    cli_expect(0, "test $(grep -c '\"cache\": \"cold\"' cold.log) = 1");
}

/* It pauses after each trial. */
static void cooldown(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 4 --tuner grid --log cooled.log --cooldown 300ms --json");
    assert_true(cli_number(cli_json(), "seconds.total") > 3 * 0.3);
    cli_expect(0, TUNE "--trials 4 --tuner grid --log cooled.log --cooldown 0");
}

/* Kernels of 0.8 s of the core, twice a turn: 3 s are spent before the third turn or in it. */
static void final_ends(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    cli_write_faulty_gcc("long clock(void), end = clock() + 800000; while (clock() < end) {}");
    cli_expect(0, "REAL_GCC=$(command -v gcc) PATH=$PWD/bin:$PATH " TUNE
                  "--trials 4 --tuner random --number 1 --repeat 1 --compiler gcc --timeout 300s "
                  "--log slow.log --json");
    assert_in_range(cli_number(cli_json(), "best.tied"), 0, 2);
    assert_int_equal(count_trials("slow.log"), 4);
    assert_in_range(cli_count_lines(cli_read("slow.log"), "#final {"), 1, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_members),  cmocka_unit_test(default_log),
        cmocka_unit_test(final_counts),    cmocka_unit_test(end_of_run),
        cmocka_unit_test(resume),          cmocka_unit_test(resume_learners),
        cmocka_unit_test(exhausted_space), cmocka_unit_test(torn_log),
        cmocka_unit_test(nothing_valid),   cmocka_unit_test(time_limit),
        cmocka_unit_test(interrupted),     cmocka_unit_test(killed),
        cmocka_unit_test(locked_log),      cmocka_unit_test(full_disk),
        cmocka_unit_test(progress),        cmocka_unit_test(cold_cache),
        cmocka_unit_test(cooldown),        cmocka_unit_test(final_ends),
    };
    return cmocka_run_group_tests_name("cli/tune", tests, cli_setup, cli_teardown);
}
