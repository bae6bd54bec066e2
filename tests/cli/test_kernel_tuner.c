/* Kernel Tuner's files: a tuning problem (T1) as the head of a kernel, and caches of kernels that
 * have no template. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <string.h>

#define PARAMS                                                                                     \
    "{\"Name\": \"MWG\", \"Type\": \"int\", \"Values\": \"[16, 32, 64]\", \"Default\": 16}, "      \
    "{\"Name\": \"KWG\", \"Type\": \"int\", \"Values\": \"list(range(2, 9, 2))\"}, "               \
    "{\"Name\": \"SA\", \"Type\": \"bool\", \"Values\": \"[True, False]\"}, "                      \
    "{\"Name\": \"MODE\", \"Type\": \"string\", \"Values\": \"('rows', 'cols')\"}"

static void write_t1(const char *params, const char *conditions, const char *arguments) {
    char text[4096];
    snprintf(text, sizeof text,
             "{\"ConfigurationSpace\": {\"TuningParameters\": [%s], \"Conditions\": [%s]}, "
             "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelName\": \"xgemm\", "
             "\"KernelFile\": \"x.cl\", \"GlobalSize\": {\"X\": \"1\"}, \"LocalSize\": {\"X\": "
             "\"1\"}, \"Arguments\": [%s]}}\n",
             params, conditions, arguments);
    cli_write("t1.json", text);
    cli_expect(0, "rm -f xgemm.c xgemm.log");
}

/* What a head says keeps the points that Python's conditions keep. */
static void conditions(void **state) {
    (void)state;
    static const struct {
        const char *python;
        int valid; /* of 48 */
        bool left;
    } rows[] = {
        {"MWG % KWG == 0", 36, false},
        {"KWG in [2, 4] and MODE == 'rows'", 12, false},
        {"(MWG * KWG <= 128 or MODE != 'cols') and KWG > 2", 26, false},
        {"8 <= MWG // KWG <= 16", 24, false},
        {"max(MWG, KWG * 10) <= 40", 16, false},
        {"MWG % (KWG / 3) == 0", 48, true},
        {"not SA and KWG == 2", 48, true},
        {"MWG ** 2 > 300", 48, true},
        {"lambda p: p['MWG'] > 16", 48, true},
        {"OTHER > 1", 48, true},
        {"KWG in [2, 4", 48, true},
        {"MWG > 16 */ int x;", 48, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char condition[256], left[256];
        snprintf(condition, sizeof condition, "{\"Parameters\": [\"MWG\"], \"Expression\": \"%s\"}",
                 rows[i].python);
        write_t1(PARAMS, condition, "");
        const char *err = cli_expect(0, "./autotune convert t1.json --to head -o xgemm.c")->err;
        if (!strstr(err, "lost: 1 conditions or arguments") == rows[i].left)
            fail_msg("%s: %s", rows[i].python, err);
        snprintf(left, sizeof left, "#   condition: %.20s", rows[i].python);
        const char *head = cli_expect(0, "cat xgemm.c")->out;
        if (rows[i].left && !strstr(head, "#   condition: ")) fail_msg("%s", head);
        const char *out = cli_expect(0, "./autotune space xgemm.c")->out;
        char counted[64];
        snprintf(counted, sizeof counted, rows[i].valid == 48 ? "%d configurations" : "%d ",
                 rows[i].valid);
        if (!strstr(out, counted)) fail_msg("%s: %s, not %d", rows[i].python, out, rows[i].valid);
    }
}

/* With the kernel behind it the head is a task. */
static void tuned(void **state) {
    (void)state;
    write_t1(PARAMS, "{\"Parameters\": [\"MWG\"], \"Expression\": \"MWG % KWG == 0\"}",
             "{\"Name\": \"N\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": "
             "64}, {\"Name\": \"alpha\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", "
             "\"FillValue\": 1.5}, {\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": "
             "\"Vector\", \"Size\": 64, \"AccessType\": \"ReadOnly\"}, {\"Name\": \"c\", \"Type\": "
             "\"float\", \"MemoryType\": \"Vector\", \"Size\": 64, \"AccessType\": \"WriteOnly\"}");
    const char *out = cli_expect(0, "./autotune convert t1.json --to head")->out;
    assert_non_null(strstr(out, " * args  N=64\n * a[64] : input\n * c[64] : output\n"
                                " * knob  MWG = 16 32 64\n * knob  KWG = 2 4 6 8\n"
                                " * knob  SA = true false\n * knob  MODE = \"rows\" \"cols\"\n"
                                " * require MWG % KWG == 0\n * default MWG=16\n"));
    assert_non_null(strstr(out, " * call  void xgemm(int N, const float *a, float *c)\n */\n"));
    assert_non_null(strstr(out, "#   argument: float alpha\n"));
    cli_expect(0, "./autotune convert t1.json --to head -o xgemm.c");
    cli_expect(2, "./autotune convert t1.json --to head -o xgemm.c"); /* nobody's work is lost */
    cli_expect(0, "echo 'void xgemm(int N, const float *a, float *c) { for (int i = 0; i < N; i++) "
                  "c[i] = a[i] * (MWG + KWG + SA); }' >> xgemm.c");
    cli_expect(0, "./autotune xgemm.c --trials 4 --tuner random");
    /* Its log as a cache, and back: the kernel's file knows the indices. */
    cli_expect(0, "./autotune convert xgemm.log --to kernel_tuner -o cache.json");
    cli_expect(0, "./autotune convert cache.json --to log -o foreign.log");
    assert_true(cli_count_lines(cli_trials("foreign.log"), "{") >= 4);
    assert_non_null(strstr(cli_trials("foreign.log"), "\"index\": -1"));
    cli_expect(0, "./autotune convert xgemm.c cache.json --to log -o own.log");
    assert_null(strstr(cli_trials("own.log"), "\"index\": -1"));
}

/* A cache of a kernel that has no template is a log, and a cache again. */
static void caches(void **state) {
    (void)state;
    cli_write("cache.json",
              "{\"device_name\": \"A100\", \"kernel_name\": \"vecadd\", \"problem_size\": [1000], "
              "\"tune_params_keys\": [\"block\", \"vec\"], \"tune_params\": {\"block\": [32, 64], "
              "\"vec\": [true, false]}, \"objective\": \"time\", \"cache\": {\n"
              "\"32,True\": {\"block\": 32, \"vec\": true, \"time\": 0.5, \"times\": [0.5, 0.6]},\n"
              "\"64,True\": {\"block\": 64, \"vec\": true, \"time\": \"RuntimeFailedConfig\"},\n"
              "\"64,False\": {\"block\": 64, \"vec\": false, \"time\": 0.25}}}\n");
    cli_expect(0, "./autotune convert cache.json --to log -o vecadd.log");
    const char *out = cli_expect(0, "./autotune log vecadd.log --csv")->out;
    assert_non_null(strstr(out, ",entity,block,vec\n"));
    assert_non_null(strstr(out, ",64,false\n"));
    out = cli_expect(0, "./autotune log vecadd.log")->out;
    assert_non_null(strstr(out, "\nvecadd [1000]\n"));
    assert_non_null(strstr(out, "\n  with block=64, vec=false\n"));
    cli_expect(0, "./autotune convert vecadd.log --to kernel_tuner -o again.json");
    cli_expect(0, "./autotune convert again.json --to log -o again.log");
    cli_expect(0,
               "./autotune log again.log | tail -n +2 >a; ./autotune log vecadd.log | tail -n +2 "
               ">b; cmp a b");
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *params, *message;
    } bad[] = {
        {"", "no ConfigurationSpace with TuningParameters"},
        {"{\"Name\": \"A\", \"Values\": \"f(3)\"}", "parameter A: its values are no list: f(3)"},
        {"{\"Name\": \"A\", \"Values\": \"[]\"}", "parameter A: its values are no list"},
        {"{\"Name\": \"A\", \"Values\": \"[[1], 2]\"}", "a value is no number, truth or text"},
        {"{\"Name\": \"A\", \"Values\": [\"a\\\"b\"]}", "a value is no number, truth or text"},
        {"{\"Name\": \"int\", \"Values\": \"[1]\"}", "parameter \"int\": its name is"},
        {"{\"Values\": \"[1]\"}", "its name is missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_t1(bad[i].params, "", "");
        const char *err = cli_expect(4, "./autotune convert t1.json --to head")->err;
        if (!strstr(err, bad[i].message)) fail_msg("%s, not: %s", err, bad[i].message);
        assert_non_null(strstr(err, "t1.json: "));
    }
    cli_write("t1.json", "{\"a\": ");
    const char *err = cli_expect(4, "./autotune convert t1.json --to head")->err;
    assert_non_null(strstr(err, "t1.json: no T1 file: JSON, column "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions),
        cmocka_unit_test(tuned),
        cmocka_unit_test(caches),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("cli/kernel_tuner", tests, cli_setup, cli_teardown);
}
