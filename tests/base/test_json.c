/* tests/base/test_json.c: JSON read and printed back, number by number, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/arena.h"

#include <pthread.h>
#include <string.h>

static const at_json *parse(const char *text) {
    const at_json *v;
    at_error err;
    if (at_json_parse(arena, text, strlen(text), &v, &err) != AT_OK)
        fail_msg("%s: %s", text, err.text);
    return v;
}

/* A copy is equal, and needs nothing of what it was made from. */
static void copies(void **state) {
    (void)state;
    static const char text[] = "{\"a\": [1, 2.5, {\"b\": null}], \"c\": [true, \"x\"], \"d\": []}";
    at_arena *of_original = at_arena_new();
    const at_json *v;
    at_error err;
    assert_int_equal(at_json_parse(of_original, text, strlen(text), &v, &err), AT_OK);
    const at_json *copy = at_json_copy(arena, v), *part = at_json_copy(arena, at_json_get(v, "a"));
    assert_string_equal(at_json_text(arena, v), text);
    at_arena_free(of_original);
    assert_string_equal(at_json_text(arena, copy), text);
    assert_int_equal(copy->count, 3);
    assert_true(at_json_get(copy, "a")->child->is_int);
    assert_string_equal(at_json_text(arena, part), "[1, 2.5, {\"b\": null}]");
    assert_null(part->key);
    assert_null(part->next);
}

static void printed_as_python_does(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"null", "null"},
        {" [ ] ", "[]"},
        {"{}", "{}"},
        {"[true,false,null]", "[true, false, null]"},
        {"{\"b\":1,\"a\":[2,{}]}", "{\"b\": 1, \"a\": [2, {}]}"},
        {"[0.30000000000000004, 1e9, 1E-5, 1.0, -0, -0.0, 1e22]",
         "[0.30000000000000004, 1000000000.0, 1e-05, 1.0, 0, -0.0, 1e+22]"},
        {"[9007199254740991, 9007199254740993, 9223372036854775807, -9223372036854775808]",
         "[9007199254740991, 9007199254740993, 9223372036854775807, -9223372036854775808]"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"\"\\u00e9 \\\" \\\\ \\n \xc3\xa9 \\ud83d\\ude00\"",
         "\"\\u00e9 \\\" \\\\ \\n \\u00e9 \\ud83d\\ude00\""},
        /* digits and quotes inside strings are no numbers */
        {"{\"1\": \"2 \\\"3\\\\\", \"-4\": [5, \"6\\\\\", 7]}",
         "{\"1\": \"2 \\\"3\\\\\", \"-4\": [5, \"6\\\\\", 7]}"},
        {"{\"a\": 1, \"a\": 2}", "{\"a\": 1, \"a\": 2}"},
    };
    at_text t = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        at_text_clear(&t);
        at_json_print(&t, parse(pairs[i][0]));
        assert_string_equal(t.data, pairs[i][1]);
    }
    at_text_free(&t);
}

static void members_and_items(void **state) {
    (void)state;
    const at_json *v =
        parse("{\"index\": 5435, \"Index\": 1, \"index\": 2, \"list\": [1, \"two\", 3.5]}");
    assert_int_equal(v->count, 4);
    assert_int_equal(at_json_get(v, "index")->integer, 5435);
    assert_int_equal(at_json_get(v, "Index")->integer, 1);
    assert_null(at_json_get(v, "INDEX"));
    const at_json *list = at_json_get(v, "list");
    assert_string_equal(list->key, "list");
    assert_string_equal(at_json_at(list, 1)->string, "two");
    assert_null(at_json_at(list, 1)->key);
    assert_null(at_json_at(list, 3));
    assert_null(at_json_at(list, -1));
    assert_null(at_json_at(v, 0));
    assert_null(at_json_get(list, "index"));
    assert_null(at_json_get(NULL, "index"));
    assert_null(at_json_at(NULL, 0));
}

static void numbers_know_how_they_were_written(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_int;
        int64_t integer;
    } known[] = {
        {"7", true, 7},
        {"7.0", false, 7},
        {"7e0", false, 7},
        {"2.5", false, 2},
        {"-3.7", false, -4},
        {"1e300", false, INT64_MAX},
        {"-1e300", false, INT64_MIN},
        {"18446744073709551616", false, INT64_MAX},
        {"1234567890123456789", true, INT64_C(1234567890123456789)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const at_json *v = parse(known[i].text);
        assert_int_equal(v->is_int, known[i].is_int);
        assert_int_equal(v->integer, known[i].integer);
    }
}

static void refused(const char *text, const char *message) {
    const at_json *v = NULL;
    at_error err;
    assert_int_equal(at_json_parse(arena, text, strlen(text), &v, &err), AT_E_INPUT);
    assert_string_equal(err.text, message);
    assert_null(v);
}

static void each_refusal_names_its_place(void **state) {
    (void)state;
    refused("", "JSON, column 1: syntax error or unexpected end");
    refused("[1, 2", "JSON, column 5: syntax error or unexpected end, at '2'");
    refused("[1, x, 2]", "JSON, column 5: syntax error, at 'x, 2]'");
    refused("{\"a\": 1,\n \"b\" 2}", "JSON, line 2, column 6: syntax error, at '2}'");
    refused("[1] [2]", "JSON, column 5: more text behind the value, at '[2]'");
    refused("[1, 01]", "JSON, column 5: not a JSON number, at '01]'");
    refused("[1., 1]", "JSON, column 2: not a JSON number, at '1., 1]'");
    refused("[-.5]", "JSON, column 2: not a JSON number, at '-.5]'");
    refused("[1e400]", "JSON, column 2: number beyond a double, at '1e400]'");
    refused("[NaN]", "JSON, column 2: syntax error, at 'NaN]'");
    refused("{\"a\": \"\\ud800\"}", "JSON, column 8: syntax error, at '\\ud800\"}'");
    const at_json *v;
    at_error err;
    assert_int_equal(at_json_parse(arena, "[1]\0", 4, &v, &err), AT_E_INPUT);
    assert_int_equal(at_json_parse(arena, "[1]]", 3, &v, &err), AT_OK); /* no further than len */
}

static void deep_nesting_ends_well(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    char *text = at_alloc(arena, DEPTH + 1);
    memset(text, '[', DEPTH);
    const at_json *v;
    at_error err;
    assert_int_equal(at_json_parse(arena, text, DEPTH, &v, &err), AT_E_INPUT);
}

/* Every beginning of a record is refused, none is misread or read beyond. */
static void torn_lines_are_refused(void **state) {
    (void)state;
    static const char line[] =
        "{\"input\": [\"llvm\", \"conv\", [[\"TENSOR\", [1, 3], \"float32\"]], {}], "
        "\"config\": {\"index\": 5, \"entity\": [[\"t\", \"sp\", [-1, 8]]]}, "
        "\"result\": [[1.5e-05], 0, 0.25, 1e9], \"version\": 0.2}";
    const at_json *v;
    at_error err;
    for (size_t n = 0; n < sizeof line - 1; n++) {
        char *torn = at_copy(arena, line, n); /* so that reading beyond is seen */
        assert_int_equal(at_json_parse(arena, torn, n, &v, &err), AT_E_INPUT);
    }
    assert_int_equal(at_json_parse(arena, line, sizeof line - 1, &v, &err), AT_OK);
}

/* cJSON as another part of the process uses it: base/json.c alone includes its header. */
void *cJSON_Parse(const char *text);
void cJSON_Delete(void *tree);
static const char *volatile others_text = "{\"a\": [1, 2, \"x\"]}";

static void *parse_and_delete(void *ctx) {
    void *tree = cJSON_Parse(others_text);
    *(bool *)ctx = tree != NULL;
    cJSON_Delete(tree);
    return NULL;
}

/* A tree of theirs, made before ours or in another thread, is theirs. */
static void another_user(void **state) {
    (void)state;
    pthread_t thread;
    bool parsed = false;
    void *tree = cJSON_Parse(others_text);
    parse("[1, 2, 3]");
    cJSON_Delete(tree);
    tree = cJSON_Parse(others_text);
    parse("{\"b\": \"a longer text than before\"}");
    cJSON_Delete(tree);
    assert_int_equal(pthread_create(&thread, NULL, parse_and_delete, &parsed), 0);
    pthread_join(thread, NULL);
    assert_true(parsed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(another_user),
        cmocka_unit_test(printed_as_python_does),
        cmocka_unit_test(members_and_items),
        cmocka_unit_test(numbers_know_how_they_were_written),
        cmocka_unit_test(each_refusal_names_its_place),
        cmocka_unit_test(deep_nesting_ends_well),
        cmocka_unit_test(torn_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
