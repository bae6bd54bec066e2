/* The pages for users: every command in them that begins with "$ " does what the page shows. It
 * succeeds, and what it prints is what the page prints: line by line, numbers and units of time
 * aside, and aside from lines that differ from machine to machine or from winner to winner. "..."
 * on the page stands for any lines. */
#include "tests/cli/cli_test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static at_arena *pages;
static char sources[4096];
static bool is_sanitized; /* the library: it wants to be in the program first */

static int setup(void **state) {
    pages = at_arena_new();
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    is_sanitized = cli_as_if_installed();
    return 0;
}

static int teardown(void **state) {
    at_arena_free(pages);
    return cli_teardown(state);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The CPU and its state, configurations, loop trees, what is said of the spread, and pictures made
 * of letters. */
static bool varies(const char *line) {
    static const char *const of_machine_or_winner[] = {"weights packed",
                                                       ", tcc ",
                                                       "=>",
                                                       "@",
                                                       "{\"index\"",
                                                       "FMA peak beside it",
                                                       "Fastest of ",
                                                       "Measured ",
                                                       "best so far",
                                                       "95 % interval",
                                                       "another one is faster",
                                                       "was of one moment",
                                                       "in the final, found at"};
    for (size_t i = 0; i < sizeof of_machine_or_winner / sizeof *of_machine_or_winner; i++)
        if (strstr(line, of_machine_or_winner[i])) return true;
    for (const char *s = line; *s; s++)
        if (*s & 0x80) return true;
    return !strncmp(line, "trials  ", 8) || !strncmp(line, "seconds ", 8);
}

static bool is_unit(const char *word, size_t n) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    for (int i = 0; i < 4; i++)
        if (strlen(units[i]) == n && !memcmp(units[i], word, n)) return true;
    return false;
}

/* Numbers become '#', units of time behind them 's', blanks one. */
static const char *shape_of(const char *line, size_t n) {
    at_text out = {0};
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && isspace((unsigned char)line[i])) i++;
        if (i > from) {
            if (out.len && i < n) at_text_add(&out, " ");
            continue;
        }
        while (i < n && !isspace((unsigned char)line[i])) i++;
        size_t comma = line[i - 1] == ',';
        if (out.len > 1 && out.data[out.len - 2] == '#' && is_unit(line + from, i - from - comma)) {
            at_text_add(&out, comma ? "s," : "s");
            continue;
        }
        for (size_t j = from; j < i;) {
            if (!isdigit((unsigned char)line[j])) {
                at_text_addn(&out, line + j++, 1);
                continue;
            }
            while (j < i && (isdigit((unsigned char)line[j]) || line[j] == '.')) j++;
            at_text_add(&out, "#");
        }
    }
    return at_text_take(pages, &out);
}

static bool next_line(const char **text, const char **shape) {
    if (!**text) return false;
    size_t n = strcspn(*text, "\n");
    const char *line = at_strndup(pages, *text, n);
    *text += n + ((*text)[n] == '\n');
    *shape = varies(line) ? "" : shape_of(line, n);
    return true;
}

/* Lines of what is expected, in order, with no other between them unless "..." stands there. */
static void compare(const char *command, const char *expected, const char *got) {
    const char *rest = got, *want, *have;
    bool gap = false;
    while (next_line(&expected, &want)) {
        if (!strcmp(want, "...")) gap = true;
        if (!*want || !strcmp(want, "...")) continue;
        bool found = false;
        while (!found && next_line(&rest, &have)) {
            found = !strcmp(want, have);
            if (!found && *have && !gap)
                fail_msg("%s\nprints\n%s\nwhere the page has\n%s\nin:\n%s", command, have, want,
                         got);
        }
        if (!found) fail_msg("%s\nhas no line\n%s\nin:\n%s", command, want, got);
        gap = false;
    }
    while (!gap && next_line(&rest, &have))
        if (*have) fail_msg("%s\nalso prints\n%s\nin:\n%s", command, have, got);
}

/* ---- a page ---------------------------------------------------------------------------------- */

/* What stands in a block of four blanks from p up to its end or the next command. */
static char *output_of(char **p) {
    at_text out = {0};
    for (;;) {
        char *line = *p + (**p == '\n'), *text = line;
        while (*text == '\n') text++; /* empty lines within */
        if (strncmp(text, "    ", 4) || !strncmp(text, "    $ ", 6)) break;
        for (; line < text; line++) at_text_add(&out, "\n");
        size_t n = strcspn(text, "\n");
        at_text_addn(&out, text + 4, n - 4);
        at_text_add(&out, "\n");
        *p = text + n;
    }
    return at_text_take(pages, &out);
}

static const char *missing(const char *command) {
    if (is_sanitized && strstr(command, "library")) return "a library without sanitizers";
    if (strstr(command, "g++") && system("command -v g++ >/dev/null")) return "g++";
    if (strstr(command, "python3") && system("python3 -c 'import numpy' 2>/dev/null"))
        return "python3-numpy";
    if (strstr(command, ".png") && system("command -v gnuplot >/dev/null")) return "gnuplot";
    return NULL;
}

/* A line that ends in a backslash goes on. */
static char *command_at(char **p) {
    at_text out = {0};
    for (;;) {
        size_t n = strcspn(*p, "\n");
        bool more = n && (*p)[n - 1] == '\\';
        at_text_addn(&out, *p, more ? n - 1 : n);
        *p += n;
        if (!more) break;
        *p += 1 + strspn(*p + 1, " ");
    }
    return at_text_take(pages, &out);
}

/* "--trials 200" becomes "--trials  20", in place. */
static void fewer_trials(char *command) {
    static const char option[] = "--trials ";
    for (char *s = command; (s = strstr(s, option));) {
        s += strlen(option);
        size_t digits = strspn(s, "0123456789");
        if (digits <= 2) continue;
        memset(s, ' ', digits);
        memcpy(s + digits - 2, "20", 2);
    }
}

/* Each page in a folder of its own, with the program and the examples. */
static void run_page(const char *path, const char *folder, int at_least) {
    static const char prompt[] = "\n    $ ";
    const char *without = NULL;
    int count = 0;
    cli_expect(0, "mkdir %s && cd %s && ln -s ../autotune . && ln -s '%s/examples' .", folder,
               folder, sources);
    for (char *p = cli_source(pages, path); (p = strstr(p, prompt)); count++) {
        p += strlen(prompt);
        char *command = command_at(&p);
        const char *expected = output_of(&p), *lacks = missing(command);
        fewer_trials(command);
        if (lacks) {
            without = lacks;
            continue;
        }
        const cli_result *r = cli_expect(0, "cd %s && export COLUMNS=80 && %s", folder, command);
        if (*expected) compare(command, expected, r->out);
    }
    if (count < at_least) fail_msg("%s: %d commands", path, count);
    if (!without) return;
    print_message("%s: what needs %s was not run\n", path, without);
    skip();
}

static void readme(void **state) { (void)state, run_page("README.md", "readme", 3); }
static void computations(void **state) {
    (void)state, run_page("docs/computations.md", "computations", 4);
}
static void workloads(void **state) { (void)state, run_page("docs/workloads.md", "workloads", 1); }
static void tutorial(void **state) { (void)state, run_page("docs/tutorial.md", "tutorial", 20); }
static void examples(void **state) { (void)state, run_page("examples/README.md", "examples", 8); }

/* ---- files that pages show ------------------------------------------------------------------- */

/* The first block of a kind in a page. */
static const char *block_of(const char *page, const char *kind) {
    const char *head = at_format(pages, "\n```%s\n", kind), *begin = strstr(page, head);
    assert_non_null(begin);
    begin += strlen(head);
    return at_strndup(pages, begin, (size_t)(strstr(begin, "```\n") - begin));
}

/* The template that the tutorial shows is the one that it runs. */
static void template_shown(void **state) {
    (void)state;
    assert_string_equal(block_of(cli_source(pages, "docs/tutorial.md"), "c"),
                        cli_source(pages, "examples/depthwise.c"));
}

static void workload_shown(void **state) {
    (void)state;
    cli_write("net.workload", block_of(cli_source(pages, "docs/workloads.md"), "workload"));
    cli_expect(0, "./autotune tune --workload ./net.workload --trials 8 --quiet");
}

/* What make run does, and the lines behind it with the program of the page. */
static void first_walk(void **state) {
    (void)state;
    const char *page = cli_source(pages, "docs/first-walk.md");
    cli_write("mine.c", block_of(page, "c"));
    cli_expect(0, "./autotune conv2d_3x3_gemm --trials 8 --quiet");
    const char *line = strstr(page, "\n    ./autotune ");
    assert_non_null(line);
    const cli_result *r = NULL;
    for (int i = 0; i < 3; i++, line = strchr(line + 1, '\n'))
        r = cli_expect(0, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
    assert_true(!strncmp(r->out, "corner ", 7));
    assert_non_null(strstr(page, at_format(pages, "`%.*s`", (int)strcspn(r->out, "\n"), r->out)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readme),         cmocka_unit_test(computations),
        cmocka_unit_test(workloads),      cmocka_unit_test(tutorial),
        cmocka_unit_test(examples),       cmocka_unit_test(template_shown),
        cmocka_unit_test(workload_shown), cmocka_unit_test(first_walk)};
    return cmocka_run_group_tests_name("cli/pages", tests, setup, teardown);
}
