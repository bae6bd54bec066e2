/* docs/templates.md shows conv2d_3x3_gemm as it is, and its message is the real one. */
#include "tests/templates/support.h"

#include <string.h>

static const char *file(at_arena *a, const char *path) {
    char *text;
    size_t length;
    at_error err = {0};
    if (at_read_file(a, path, &text, &length, &err) != AT_OK) fail_msg("%s", err.text);
    return text;
}

/* Every block between "```LANGUAGE" and "```". */
static int check_blocks(at_arena *a, const char *doc, const char *fence, const char *whole) {
    int count = 0;
    for (const char *p = doc; (p = strstr(p, fence)); count++) {
        p += strlen(fence);
        const char *end = strstr(p, "```\n");
        assert_non_null(end);
        const char *block = at_strndup(a, p, (size_t)(end - p));
        if (!strstr(whole, block)) fail_msg("not in the source:\n%s", block);
        p = end + 4;
    }
    return count;
}

static void excerpts(void **state) {
    const char *doc = file(*state, "docs/templates.md");
    const char *source = file(*state, "templates/conv2d_3x3_gemm.c");
    assert_int_equal(check_blocks(*state, doc, "```c\n", source), 4);
}

static void misspelled(at_template *t) { at_sizes(t, "Y = N*H*M"); }

static void message(void **state) {
    at_template_row row = *row_named("conv2d_3x3_gemm");
    row.define = misspelled;
    at_task *t;
    at_error err = {0};
    assert_int_equal(at_task_new(*state, &row, "", &t, &err), AT_E_INPUT);
    assert_non_null(strstr(file(*state, "docs/templates.md"), err.text));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {TEST(excerpts), TEST(message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
