/* docs/templates.md shows conv2d_3x3_gemm as it is, and its message is the real one; it and
 * docs/te.md have both grammars. */
#include "tests/templates/support.h"
#include "tests/whole_file.h"
#include "sketch/sketch.h"

#include <string.h>

static const char *file(at_arena *a, const char *path) {
    char *text;
    size_t length;
    at_error err = {0};
    if (read_whole(a, path, &text, &length, &err) != AT_OK) fail_msg("%s", err.text);
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

/* Up to a remark, which stands behind several blanks. */
static const char *rule_of(at_arena *a, const char *line) {
    line += strspn(line, " *");
    size_t n = strcspn(line, "\n");
    const char *text = at_strndup(a, line, n), *from = strstr(text, ":= ");
    const char *gap = strstr(from ? from : text, "   ");
    return gap ? at_strndup(a, text, (size_t)(gap - text)) : text;
}

/* Every rule of both grammars as schedule.h has them. */
static void grammar(void **state) {
    const char *doc =
        at_format(*state, "%s%s", file(*state, "docs/templates.md"), file(*state, "docs/te.md"));
    const char *header = file(*state, "schedule/schedule.h");
    int rules = 0;
    for (const char *line = header; (line = strchr(line, '\n'));) {
        const char *rule = rule_of(*state, ++line);
        bool is_rule = strncmp(line, " *   ", 5) == 0 && (strstr(rule, " := ") || *rule == '|');
        if (!is_rule) continue;
        if (!strstr(doc, rule))
            fail_msg("docs/templates.md and docs/te.md lack the rule: %s", rule);
        rules++;
    }
    assert_int_equal(rules, 29);
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
    const struct CMUnitTest tests[] = {TEST(excerpts), TEST(grammar), TEST(message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
