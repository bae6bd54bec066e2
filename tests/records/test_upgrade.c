/* Records of log version 0.1, upgraded. */
#include "tests/records/picks.h"
#include "tests/records/support.h"

#include <string.h>

#define CONFIG "{\"i\": 3, \"c\": null, \"t\": \"%s\", \"e\": [[\"tile_ow\", \"sp\", [7, 8]]]}"
#define RESULT "\"r\": [[0.5], 0, 1.5, 1500000000.25], \"v\": 0.1}\n"
#define DATA "[1, 64, 56, 56, \"float32\"]"
#define KERNEL "[32, 64, 3, 3, \"float32\"]"

static const char *old_line(at_arena *a, const char *target, const char *task, const char *workload,
                            const char *template_key) {
    const char *config = at_format(a, CONFIG, template_key);
    return at_format(a,
                     "{\"i\": [\"%s\", \"%s\", [[\"TENSOR\", [1, 64, 56, 56], \"float32\"], 64, "
                     "true], {}, %s, %s], " RESULT,
                     target, task, workload, config);
}

/* Task and arguments of the upgraded record. */
static const char *upgraded(at_arena *a, const char *line) {
    at_record r;
    at_error err;
    if (at_record_parse(a, line, strlen(line), &r, &err) != AT_OK) return at_strdup(a, err.text);
    assert_int_equal(r.config.recorded_index, 3);
    assert_null(r.code_hash);
    assert_int_equal(r.error_no, 0);
    assert_true(r.costs_s[0] == 0.5 && r.all_cost_s == 1.5 && r.timestamp_s == 1500000000.25);
    assert_false(r.extra.present);
    at_text t = {0};
    at_config_print_entity(&t, &r.config);
    assert_string_equal(at_text_str(&t), "[[\"tile_ow\", \"sp\", [7, 8]]]");
    at_text_clear(&t);
    at_text_addf(&t, "%s %s ", r.target, r.task);
    at_json_print(&t, r.args);
    return at_text_take(a, &t);
}

static void convolutions(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const char tensors[] =
        "[[\"TENSOR\", [1, 64, 56, 56], \"float32\"], [\"TENSOR\", [32, 64, 3, 3], \"float32\"], ";
    const struct {
        const char *target, *task, *key, *workload, *expected, *rest;
    } rows[] = {
        /* Padding of two numbers, dilation, two layouts. */
        {"llvm -mcpu=skylake-avx512", "topi_x86_conv2d", "direct",
         "[\"conv2d\", " DATA ", " KERNEL ", [2, 2], [1, 3], [1, 1], \"NCHW\", \"NCHW\", "
         "\"float32\"]",
         "llvm -keys=cpu -mcpu=skylake-avx512 conv2d_NCHWc.x86 ",
         "[2, 2], [1, 3, 1, 3], [1, 1], \"NCHW\", \"NCHW\", \"float32\"]"},
        /* No dilation, one layout, one number of padding. */
        {"llvm", "topi_x86_conv2d_NCHWc", "",
         "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], 2, \"NCHW\", \"float32\"]",
         "llvm -keys=cpu conv2d_NCHWc.x86 ",
         "[1, 1], [2, 2, 2, 2], [1, 1], \"NCHW\", \"NCHW\", \"float32\"]"},
        /* Neither layout nor type of the result. */
        {"llvm", "topi_x86_conv2d", "direct",
         "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], [0, 1, 2, 3], [2, 2]]",
         "llvm -keys=cpu conv2d_NCHWc.x86 ",
         "[1, 1], [0, 1, 2, 3], [2, 2], \"NCHW\", \"NCHW\", \"float32\"]"},
        {"cuda", "topi_nn_conv2d", "direct",
         "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], [1, 1], [1, 1], \"NCHW\", \"float16\"]",
         "cuda conv2d_nchw.cuda ", "[1, 1], [1, 1, 1, 1], [1, 1], \"float16\"]"},
        {"cuda -model=v100", "topi_nn_conv2d", "winograd",
         "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], [1, 1], [1, 1], \"NCHW\", \"float32\"]",
         "cuda -model=v100 conv2d_nchw_winograd.cuda ",
         "[1, 1], [1, 1, 1, 1], [1, 1], \"float32\"]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            upgraded(a, old_line(a, rows[i].target, rows[i].task, rows[i].workload, rows[i].key)),
            join(a, rows[i].expected, tensors, rows[i].rest, NULL));
    at_arena_free(a);
}

/* Tasks without a row, and convolutions that are not of the form: name and args as they are. */
static void others(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const char args[] = "[[\"TENSOR\", [1, 64, 56, 56], \"float32\"], 64, 1]";
    const struct {
        const char *task, *key, *workload, *name;
    } rows[] = {
        {"conv2d_3x3_gemm", "", "[\"conv2d_3x3_gemm\", 1, 2]", "conv2d_3x3_gemm"},
        {"topi_nn_dense", "direct", "null", "topi_nn_dense"},
        {"topi_nn_conv2d", "winograd", "[]", "topi_nn_conv2d_winograd"}, /* not cuda */
        {"topi_x86_conv2d", "direct", "[]", "topi_x86_conv2d"},
        {"topi_x86_conv2d", "direct", "[\"conv2d\", " DATA ", 5, [1, 1], [1, 1]]",
         "topi_x86_conv2d"},
        {"topi_x86_conv2d", "direct", "[\"conv2d\", [1, [2], \"x\"], " KERNEL ", [1, 1], [1, 1]]",
         "topi_x86_conv2d"},
        {"topi_x86_conv2d", "direct", "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], \"SAME\"]",
         "topi_x86_conv2d"},
        {"topi_x86_conv2d", "direct", "[\"conv2d\", " DATA ", " KERNEL ", [1, 1], [1, 1, 1]]",
         "topi_x86_conv2d"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            upgraded(a, old_line(a, "llvm", rows[i].task, rows[i].workload, rows[i].key)),
            at_format(a, "llvm -keys=cpu %s %s", rows[i].name, args));
    at_arena_free(a);
}

static void malformed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const char form[] =
        "\"i\" is not [target, task, arguments, {}, workload, configuration]";
    const char *const rows[][2] = {
        {"{\"i\": [], \"v\": 0.1}", form},
        {"{\"i\": [\"llvm\", \"t\", [], {}, [\"t\"], []], \"r\": [[0.5], 0, 1, 2], \"v\": 0.1}",
         form},
        {"{\"i\": [\"llvm\", \"t\", [], {}, [\"t\"], {}], \"v\": 0.1}", "no member \"r\""},
        {"{\"i\": [\"llvm\", \"t\", [], {}, [\"t\"], {\"i\": 1}], \"r\": [[0.5], 0, 1, 2], \"v\": "
         "0.1}",
         "config: no list \"entity\""},
        {"{\"i\": [\"llvm\", \"t\", [], {}, [], {\"i\": 1, \"e\": []}], \"r\": [[], 0, 1, 2], "
         "\"v\": 0.1}",
         "result[0] holds no cost"},
        {"{\"i\": 5, \"v\": 0.1}", "no member \"input\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(upgraded(a, rows[i][0]), rows[i][1]);
    at_arena_free(a);
}

static void in_logs(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    const char *old = old_line(a, "llvm", "dense", "null", "");
    const char *newer = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    put_file("conv.log", join(a, "# old\n", old, old, newer, "{\"i\": [], \"v\": 0.1}\n", NULL));
    at_record *records;
    int n;
    assert_int_equal(at_log_read_all(a, "conv.log", keep_warning, &warnings, &records, &n, NULL),
                     AT_OK);
    assert_int_equal(n, 3);
    assert_string_equal(records[1].task, "dense");
    assert_int_equal(records[1].line, 3);
    assert_string_equal(
        at_text_str(&warnings),
        "conv.log:2: log version 0.1 (AutoTVM before 0.7); this and later records of it are "
        "upgraded\n"
        "conv.log:5: not a record: \"i\" is not [target, task, arguments, {}, workload, "
        "configuration]; skipped\n");
    /* AutoTVM itself skips them; an old line is no error to it either. */
    const char *in[] = {"conv.log"};
    at_pick *picks;
    assert_int_equal(pick_all(a, in, 1, "best.log", false, AT_PER_COMPAT, keep_warning, &warnings,
                              &picks, &n, NULL),
                     AT_OK);
    assert_int_equal(n, 1);
    assert_string_equal(picks[0].record.task, "test_gemm");
    at_text_free(&warnings);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(others),
        cmocka_unit_test(malformed),
        cmocka_unit_test_setup_teardown(in_logs, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
