/* Keys and target texts. */
#include "tests/records/support.h"

#include <string.h>

static void golden_keys(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *cases = at_json_get(golden(a, "str_key.json"), "cases");
    assert_true(cases->count > 0);
    for (const at_json *c = cases->child; c; c = c->next) {
        const char *line = at_json_get(c, "line")->string;
        at_record r;
        at_text out = {0};
        assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
        at_measurement_key(&out, &r);
        assert_string_equal(out.data, at_json_get(c, "key")->string);
        at_text_clear(&out);
        at_workload_key(&out, &r);
        assert_string_equal(out.data, at_json_get(c, "workload_key")->string);
        at_text_clear(&out);
        r.tvm_version = NULL;
        at_record_print(&out, &r);
        out.data[out.len - 1] = 0;
        assert_string_equal(out.data, at_json_get(c, "encoded")->string);
        at_text_free(&out);
    }
    at_arena_free(a);
}

/* Spelled as Python 3.11 does. */
static void spelling(void **state) {
    (void)state;
    static const char line[] =
        "{\"input\": [\"llvm\", \"t\", [[], {\"k\": [1]}, null, 0.5, 1e-05, 2.0, \"it's\", "
        "\"a\\\"'b\", "
        "\"x\\\\\\n\\u0001\", [[3]]], {}], \"config\": {\"index\": 0, \"code_hash\": null, "
        "\"entity\": []}, \"result\": [[0.5], 0, 1.0, 2.0]}";
    at_arena *a = at_arena_new();
    at_record r;
    at_text out = {0};
    assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
    at_measurement_key(&out, &r);
    assert_string_equal(out.data,
                        "llvm -keys=cput((), {'k': (1,)}, None, 0.5, 1e-05, 2.0, \"it's\", "
                        "'a\"\\'b', 'x\\\\\\n\\x01', ((3,),)){},None,0");
    at_text_free(&out);
    at_arena_free(a);
}

static void targets(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"llvm", "llvm -keys=cpu"},
        {"llvm -mcpu=cascadelake", "llvm -keys=cpu -mcpu=cascadelake"},
        {"llvm -keys=cpu -link-params=0 -mcpu=cascadelake", "llvm -keys=cpu -mcpu=cascadelake"},
        {"  llvm\t-mcpu=skx   -libs=mkl,cblas ", "llvm -keys=cpu -libs=mkl,cblas -mcpu=skx"},
        {"c -keys=cpu -mcpu=znver4", "c -keys=cpu -mcpu=znver4"},
        {"c", "c -keys=cpu"},
        {"llvm -device=arm_cpu -target=armv7l-linux-gnueabihf -mattr=+neon -model=board",
         "llvm -keys=arm_cpu,cpu -device=arm_cpu -mattr=+neon -model=board "
         "-mtriple=armv7l-linux-gnueabihf"},
        {"llvm -keys=arm_cpu,cpu,cpu -device=arm_cpu", "llvm -keys=arm_cpu,cpu -device=arm_cpu"},
        {"llvm -keys=one -device=two", "llvm -keys=one,two -device=two"},
        {"llvm --num-cores=4 -mcpu core-avx2 -flag -opt-level=3",
         "llvm -keys=cpu -flag=1 -mcpu=core-avx2 -num-cores=4 -opt-level=3"},
        {"llvm -mcpu=a -mcpu=b", "llvm -keys=cpu -mcpu=b"},
        {"cuda -model=v100", "cuda -model=v100"},
        {"llvm -keys=,", "llvm -keys=cpu"},
        {"", ""},
        {"llvm  stray", "llvm stray"},
        {"{\"kind\":  \"llvm\"}", "{\"kind\": \"llvm\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_text once = {0}, twice = {0};
        at_tvm_target_canonical(&once, cases[i].text);
        assert_string_equal(at_text_str(&once), cases[i].canonical);
        at_tvm_target_canonical(&twice, at_text_str(&once));
        assert_string_equal(at_text_str(&twice), cases[i].canonical);
        at_text_free(&once);
        at_text_free(&twice);
    }
}

static void arguments(void **state) {
    (void)state;
    static const struct {
        const char *x, *y;
        bool equal;
    } cases[] = {
        {"[1, 2]", "[1, 2]", true},
        {"[1, 2]", "[1, 2, 3]", false},
        {"[1, 2]", "[2, 1]", false},
        {"[1]", "[1.0]", true},
        {"[true, false]", "[1, 0]", true},
        {"[true]", "[1.0]", true},
        {"[9007199254740993]", "[9007199254740992]", false},
        {"[1]", "[[1, 1]]", false},
        {"[null]", "[0]", false},
        {"[null]", "[null]", true},
        {"[\"a\"]", "[\"b\"]", false},
        {"[\"1\"]", "[1]", false},
        {"[[\"TENSOR\", [1, 3], \"float32\"]]", "[[\"TENSOR\", [1, 3], \"float32\"]]", true},
        {"[{\"a\": 1, \"b\": 2}]", "[{\"b\": 2, \"a\": 1}]", true},
        {"[{\"a\": 1, \"b\": 2}]", "[{\"a\": 1, \"c\": 2}]", false},
        {"[{\"a\": 1, \"a\": 2}]", "[{\"a\": 1, \"a\": 2}]", true},
        {"[{\"a\": 1, \"a\": 1}]", "[{\"a\": 1, \"b\": 1}]", false},
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_json *x, *y;
        assert_int_equal(at_json_parse(a, cases[i].x, strlen(cases[i].x), &x, NULL), AT_OK);
        assert_int_equal(at_json_parse(a, cases[i].y, strlen(cases[i].y), &y, NULL), AT_OK);
        assert_int_equal(at_args_equal(x, y), cases[i].equal);
        assert_int_equal(at_args_equal(y, x), cases[i].equal);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(golden_keys, scratch_setup, scratch_teardown),
        cmocka_unit_test(spelling),
        cmocka_unit_test(targets),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
