/* Arguments of a task: both forms, both ways, and every refusal. */
#include "tests/templates/support.h"
#include "sketch/sketch.h"

#include <string.h>

#define HAS "; conv2d_3x3_gemm has N, H, W, CI, CO"
#define TAKES "; conv2d_3x3_gemm takes [N, H, W, CI, CO, \"float32\"]"
#define WHOLE "; an argument is a whole number from 1 on"

static void accepted(void **state) {
    static const struct {
        const char *args, *text, *json;
    } cases[] = {
        {NULL, "N=1,H=56,W=56,CI=64,CO=64", "[1, 56, 56, 64, 64, \"float32\"]"},
        {"", "N=1,H=56,W=56,CI=64,CO=64", "[1, 56, 56, 64, 64, \"float32\"]"},
        {"CO=3", "N=1,H=56,W=56,CI=64,CO=3", "[1, 56, 56, 64, 3, \"float32\"]"},
        {" W = 5 ,\n H = +7 ", "N=1,H=7,W=5,CI=64,CO=64", "[1, 7, 5, 64, 64, \"float32\"]"},
        {"[10, 256, 255, 64, 63, \"float32\"]", "N=10,H=256,W=255,CI=64,CO=63",
         "[10, 256, 255, 64, 63, \"float32\"]"},
        {" [1,2,3,4,5,\"float32\"] ", "N=1,H=2,W=3,CI=4,CO=5", "[1, 2, 3, 4, 5, \"float32\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), cases[i].args);
        assert_string_equal(at_task_args_text(t), cases[i].text);
        at_text json = {0};
        at_json_print(&json, at_task_args(t));
        assert_string_equal(json.data, cases[i].json);
        at_task *again = task_of(*state, row_named("conv2d_3x3_gemm"), json.data);
        assert_string_equal(at_task_args_text(again), cases[i].text);
        at_text_free(&json);
    }
}

static const char *own_form(at_arena *a, const char *task, const char *args) {
    const at_json *v;
    at_error err;
    if (at_json_parse(a, args, strlen(args), &v, &err) != AT_OK) fail_msg("%s", err.text);
    return at_json_text(a, at_template_record_args(a, task, v));
}

/* Equal numbers are one task, whichever way a record, --args or an older log writes them. */
static void spellings(void **state) {
#define RECORD(rest)                                                                               \
    "[[\"TENSOR\", [1, 8, 9, 6], \"float32\"], [\"TENSOR\", [3, 3, 6, 10], \"float32\"], " rest    \
    ", \"float32\"]"
    static const char own[] = RECORD("[1, 1], [1, 1, 1, 1], [1, 1]");
    static const char *const records[] = {
        RECORD("1, 1, 1"),           RECORD("[1, 1], [1, 1, 1, 1], [1, 1]"),
        RECORD("1, [1, 1], [1, 1]"), RECORD("1, \"SAME\", 1"),
        RECORD("[1, 1], 1, 1"),      RECORD("1, 1, 1")};
    static const char *const names[] = {"", "strides=[1,1]", "padding=[1,1,1,1],dilation=[1, 1]",
                                        "padding=SAME", "padding=[1, 1]"};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_string_equal(own_form(*state, "conv2d_nhwc", records[i]), own);
    const char *hash = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        at_task *t =
            task_of(*state, row_named("conv2d_nhwc"),
                    at_format(*state, "H=8,W=9,CI=6,CO=10%s%s", *names[i] ? "," : "", names[i]));
        assert_string_equal(at_json_text(*state, at_task_args(t)), own);
        assert_string_equal(at_task_args_text(t), "N=1,H=8,W=9,CI=6,CO=10,KH=3,KW=3,strides=1,"
                                                  "padding=1,dilation=1");
        if (hash) assert_string_equal(at_task_hash(t), hash);
        hash = at_task_hash(t);
    }
    /* what is no task of ours stays as it is */
    assert_string_equal(own_form(*state, "conv2d_nhwc", "[1, \"SAME\"]"), "[1, \"SAME\"]");
    assert_string_equal(own_form(*state, "nobodys", "[[1, 1], 2]"), "[[1, 1], 2]");
    assert_string_equal(own_form(*state, "conv1d_nwc",
                                 "[[\"TENSOR\", [1, 8, 6], \"float32\"], [\"TENSOR\", [3, 6, 10], "
                                 "\"float32\"], 1, [2, 0], 1, \"float32\"]"),
                        "[[\"TENSOR\", [1, 8, 6], \"float32\"], [\"TENSOR\", [3, 6, 10], "
                        "\"float32\"], [1], [2, 0], [1], \"float32\"]");
}

static void by_name(void **state) {
    at_task *t = task_of(*state, row_named("conv2d_3x3_gemm"), "H=7,W=5");
    assert_int_equal(at_task_arg(t, "H"), 7);
    assert_int_equal(at_task_arg(t, "CO"), 64);
    assert_int_equal(at_task_arg(t, "Y"), -1); /* a size */
    assert_int_equal(at_task_arg(t, "Q"), -1);
}

static void refused(void **state) {
    static const struct {
        const char *args, *text;
    } cases[] = {
        {"H=0", "--args: H = 0" WHOLE},
        {"H=-3", "--args: H = -3" WHOLE},
        {"H=1.5", "--args: H = 1.5" WHOLE},
        {"H=1e3", "--args: H = 1e3" WHOLE},
        {"H=abc", "--args: \"H=abc\" is not a number" WHOLE},
        {"H=7x", "--args: \"H=7x\" is not a number" WHOLE},
        {"H=", "--args: \"H=\" is not a number" WHOLE},
        {"H=nan", "--args: \"H=nan\" is not a number" WHOLE},
        {"H", "--args: \"H\" has no value; NAME=NUMBER is accepted"},
        {"H=7,", "--args: \"\" has no value; NAME=NUMBER is accepted"},
        {"Q=7", "--args: unknown argument \"Q\"" HAS},
        {"=7", "--args: unknown argument \"\"" HAS},
        {"h=7", "--args: unknown argument \"h\"" HAS},
        {"X=7", "--args: unknown argument \"X\"" HAS},
        {"H=7,W=5,H=7", "--args: H is given twice"},
        {"H=9007199254740993", "--args: H = 9007199254740993 exceeds 2^53"},
        {"H=99999999999999999999", "--args: H = 99999999999999999999 exceeds 2^53"},
        {"[10, 256]", "--args: [10, 256] has 2 items instead of 6" TAKES},
        {"[]", "--args: [] has 0 items instead of 6" TAKES},
        {"[10]", "--args: [10] has 1 item instead of 6" TAKES},
        {"[1, 2, 3, 4, 5, \"float64\"]", "--args: item 6 is \"float64\"" TAKES},
        {"[1, 2, 3, 4, 5, null]", "--args: item 6 is null" TAKES},
        {"[0, 2, 3, 4, 5, \"float32\"]", "--args: N = 0" WHOLE},
        {"[1, \"2\", 3, 4, 5, \"float32\"]", "--args: H = \"2\"" WHOLE},
        {"[1, 2.5, 3, 4, 5, \"float32\"]", "--args: H = 2.5" WHOLE},
        {"[1, [2], 3, 4, 5, \"float32\"]", "--args: H = [2]" WHOLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(*state, row_named("conv2d_3x3_gemm"), cases[i].args, AT_E_USAGE,
                       cases[i].text);
}

static void broken_json(void **state) {
    at_task *t = NULL;
    at_error err = {0};
    assert_int_equal(at_task_new(*state, row_named("conv2d_3x3_gemm"), "[1, 2", &t, &err),
                     AT_E_USAGE);
    assert_memory_equal(err.text, "--args: ", 8);
    assert_null(t);
}

static void too_large(void **state) {
    const at_template_row *row = row_named("conv2d_3x3_gemm");
    expect_refused(*state, row, "N=4294967296,H=4294967296,W=1,CI=1,CO=1", AT_E_USAGE,
                   "--args: conv2d_3x3_gemm with N=4294967296,H=4294967296,W=1,CI=1,CO=1: "
                   "size Y: N*H exceeds 2^63");
    expect_refused(*state, row, "N=4294967296,H=1,W=1,CI=4294967296,CO=1", AT_E_USAGE,
                   "--args: conv2d_3x3_gemm with N=4294967296,H=1,W=1,CI=4294967296,CO=1: "
                   "computation of conv2d_3x3_gemm:1: \"data\" exceeds 2^63 elements");
}

/* ---- patterns of other templates ------------------------------------------------------------- */

static void define(at_template *t) {
    at_sizes(t, "i = 1");
    at_compute(t, "x[A, B] : input\ny[a:A, b:B] = x[a, b]\n");
    at_schedule(t, "a, b =>\n    @y = a, b\n");
}

static const at_template_row nested = {
    .name = "nested",
    .record_name = "nested.x86",
    .args = "A=2, B=3",
    .record_args = "[[\"TENSOR\", [A, B], \"float32\"], [], null, [B, -1]]",
    .define = define,
};

static void nested_pattern(void **state) {
    static const struct {
        const char *args, *text;
    } cases[] = {
        {"[[\"TENSOR\", [5], \"float32\"], [], null, [4, -1]]",
         "--args: item 1.2 has 1 item instead of 2; nested takes [[\"TENSOR\", [A, B], "
         "\"float32\"], [], null, [B, -1]]"},
        {"[[\"TENSOR\", [5, 4], \"int8\"], [], null, [4, -1]]",
         "--args: item 1.3 is \"int8\"; nested takes [[\"TENSOR\", [A, B], \"float32\"], [], null, "
         "[B, -1]]"},
        {"[[\"TENSOR\", [5, 4], \"float32\"], [], null, [4, 2]]",
         "--args: item 4.2 is 2; nested takes [[\"TENSOR\", [A, B], \"float32\"], [], null, "
         "[B, -1]]"},
        {"[[\"TENSOR\", 5, \"float32\"], [], null, [4, -1]]",
         "--args: item 1.2 is 5; nested takes [[\"TENSOR\", [A, B], \"float32\"], [], null, "
         "[B, -1]]"},
        {"[[\"TENSOR\", [5, 4], \"float32\"], [], null, [3, -1]]", "--args: B = 3, but 4 before"},
    };
    at_task *t = task_of(*state, &nested, "[[\"TENSOR\", [5, 4], \"float32\"], [], null, [4, -1]]");
    assert_string_equal(at_task_args_text(t), "A=5,B=4");
    assert_string_equal(at_task_record_name(t), "nested.x86");
    at_text json = {0};
    at_json_print(&json, at_task_args(t));
    assert_string_equal(json.data, "[[\"TENSOR\", [5, 4], \"float32\"], [], null, [4, -1]]");
    at_text_free(&json);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(*state, &nested, cases[i].args, AT_E_USAGE, cases[i].text);
}

/* A text "" is not shown where nothing said means the same. */
static void empty_texts(void **state) {
    static const struct {
        const char *args, *given, *text;
    } cases[] = {
        {"K=\"\" or \"b\", A=2, B=3", "A=5", "A=5,B=3"},
        {"K=\"\" or \"b\", A=2, B=3", "K=b", "K=\"b\",A=2,B=3"},
        {"K=\"b\" or \"\", A=2, B=3", "K=\"\"", "K=\"\",A=2,B=3"},
        {"A=2, B=3, K=\"b\" or \"\"", "K=\"\"", "A=2,B=3,K=\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row row = {
            .name = "texts", .args = cases[i].args, .record_args = "[A, B, K]", .define = define};
        at_task *t = task_of(*state, &row, cases[i].given);
        assert_string_equal(at_task_args_text(t), cases[i].text);
        assert_string_equal(at_task_args_text(task_of(*state, &row, cases[i].text)), cases[i].text);
    }
}

static void finding(void **state) {
    (void)state;
    const at_template_row *row = NULL;
    at_error err = {0};
    assert_int_equal(at_template_find("conv", &row, &err), AT_E_USAGE);
    assert_non_null(strstr(
        err.text, "unknown template \"conv\"; templates that begin with it: conv2d_3x3_gemm"));
    assert_null(strstr(err.text, "dense"));
    assert_int_equal(at_template_find("gemm", &row, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "unknown template \"gemm\"; there are: conv2d_3x3_gemm"));
    assert_null(row);
    for (int i = 0; i < at_template_count(); i++) {
        row = at_template_at(i);
        assert_ptr_equal(row_named(row->name), row);
        if (row->record_name) assert_ptr_equal(row_named(row->record_name), row);
        assert_true(row->help && *row->help);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {
        TEST(accepted),  TEST(spellings),      TEST(by_name),     TEST(refused), TEST(broken_json),
        TEST(too_large), TEST(nested_pattern), TEST(empty_texts), TEST(finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
