/* tests/cli/test_readme.c: the commands of README.md that begin with "$ ./autotune" do what they
 * show: they succeed, and their output is that of the page, figures aside. */
#include "tests/cli/cli_test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *readme;

static int setup(void **state) {
    at_arena *a = at_arena_new();
    size_t len;
    if (at_read_file(a, "README.md", &readme, &len, NULL) != AT_OK) return -1;
    readme = strdup(readme);
    at_arena_free(a);
    return cli_setup(state);
}

static int teardown(void **state) {
    free(readme);
    return cli_teardown(state);
}

/* What a line of output begins with, figures aside; nothing of lines that differ from machine to
 * machine or from winner to winner: the CPU, the loop tree. */
static size_t first_word(const char *line, size_t len) {
    static const char *const varying[] = {"weights packed", "=>", "@"};
    for (size_t i = 0; i < sizeof varying / sizeof *varying; i++)
        if (memmem(line, len, varying[i], strlen(varying[i]))) return 0;
    size_t n = 0;
    while (n < len && (isalpha((unsigned char)line[n]) || line[n] == '_')) n++;
    return n;
}

static void check_output(const char *command, const char *expected, size_t len, const char *got) {
    for (const char *line = expected; line < expected + len;) {
        size_t blanks = strspn(line, " ");
        line += blanks;
        size_t n = strcspn(line, "\n");
        char wanted[128];
        snprintf(wanted, sizeof wanted, "%.*s", (int)first_word(line, n), line);
        if (!strstr(got, wanted))
            fail_msg("%s: no \"%s\" in its output:\n%s", command, wanted, got);
        line += n + 1;
    }
}

/* Blocks of four blanks; a command is a line "$ ...", its output the lines up to the next one. */
static void commands(void **state) {
    (void)state;
    static const char prompt[] = "\n    $ ";
    int count = 0;
    for (char *p = readme; (p = strstr(p, prompt));) {
        p += strlen(prompt);
        char command[1024];
        size_t n = strcspn(p, "\n");
        snprintf(command, sizeof command, "%.*s", (int)n, p);
        p += n;
        if (strncmp(command, "./autotune", 10) && strncmp(command, "cc ", 3)) continue;
        const cli_result *r = cli_expect(0, "%s", command);
        char *end = p;
        while ((!strncmp(end, "\n    ", 5) || !strncmp(end, "\n\n    ", 6)) &&
               strncmp(end, prompt, strlen(prompt)))
            end += 1 + strcspn(end + 1, "\n");
        check_output(command, p + 1, end > p ? (size_t)(end - p) - 1 : 0, r->out);
        p = end;
        count++;
    }
    assert_true(count >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands)};
    return cmocka_run_group_tests_name("cli/readme", tests, setup, teardown);
}
