/* What docs/how-to/ says works: a copy of this tree gets every file and every change of its pages,
 * is built, and the commands of each page print what stands below them.
 *
 * Of a page, "```c FILE" is a new file; "```diff FILE" a change: the lines that begin with a blank
 * or '-' stand in it once, as they are, and those that begin with a blank or '+' take their place;
 * "```console" is commands, each behind "$ ", and lines that they print, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "tests/whole_file.h"

static at_arena *arena;
static char tree[] = "/tmp/autotune-how-to-XXXXXX";

static const char *const pages[] = {"add-an-operator", "add-a-tuner", "add-a-target",
                                    "add-a-record-format", "add-a-rule"};
enum { NUM_PAGES = sizeof pages / sizeof *pages };

static const char *read_text(const char *path) {
    char *text;
    size_t n;
    at_error err;
    if (read_whole(arena, path, &text, &n, &err) != AT_OK) fail_msg("%s", err.text);
    return text;
}

static void write_text(const char *path, const char *text, size_t n) {
    FILE *f = fopen(path, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f)) fail_msg("cannot write %s", path);
}

/* What it prints on both outputs; *status: as of a shell. */
static const char *run(const char *command, int *status) {
    at_text out = {0};
    char part[4096];
    size_t n;
    FILE *p = popen(at_format(arena, "cd %s && { %s\n} 2>&1 </dev/null", tree, command), "r");
    assert_non_null(p);
    while ((n = fread(part, 1, sizeof part, p))) at_text_addn(&out, part, n);
    int end = pclose(p);
    *status = WIFEXITED(end) ? WEXITSTATUS(end) : 128;
    return at_text_take(arena, &out);
}

/* ---- a page ---------------------------------------------------------------------------------- */

typedef struct block {
    const char *kind, *file, *text; /* file: "" where none is named */
} block;

/* The block at or after *at, which goes on behind it; false: there is none. */
static bool next_block(const char **at, block *b) {
    const char *start = strstr(*at, "\n```");
    if (!start) return false;
    start += strlen("\n```");
    size_t kind = strcspn(start, " \n"), line = strcspn(start, "\n");
    const char *text = start + line + 1, *end = strstr(text, "```\n");
    if (!end) fail_msg("a block without end: %s", start);
    b->kind = at_strndup(arena, start, kind);
    b->file = at_strndup(arena, start + kind + (kind < line), line - kind - (kind < line));
    b->text = at_strndup(arena, text, (size_t)(end - text));
    *at = end + strlen("```");
    return true;
}

static void apply_change(const char *path, const char *change) {
    at_text from = {0}, to = {0};
    for (const char *line = change; *line;) {
        size_t n = strcspn(line, "\n") + 1;
        if (!strchr(" -+", *line)) fail_msg("neither ' ', '-' nor '+': %s", line);
        if (*line != '+') at_text_addn(&from, line + 1, n - 1);
        if (*line != '-') at_text_addn(&to, line + 1, n - 1);
        line += n;
    }
    const char *text = read_text(path), *place = strstr(text, at_text_str(&from));
    if (!place || (place != text && place[-1] != '\n'))
        fail_msg("%s does not hold the lines\n%s", path, at_text_str(&from));
    if (strstr(place + 1, at_text_str(&from)))
        fail_msg("%s holds twice the lines\n%s", path, at_text_str(&from));
    const char *whole =
        at_format(arena, "%.*s%s%s", (int)(place - text), text, at_text_str(&to), place + from.len);
    write_text(path, whole, strlen(whole));
    at_text_free(&from);
    at_text_free(&to);
}

static void apply_page(const char *page) {
    int files = 0;
    block b;
    while (next_block(&page, &b)) {
        const char *path = at_format(arena, "%s/%s", tree, b.file);
        if (!strcmp(b.kind, "console")) continue;
        files++;
        if (!strcmp(b.kind, "diff")) apply_change(path, b.text);
        else if (access(path, F_OK)) write_text(path, b.text, strlen(b.text));
        else fail_msg("%s is there already", b.file);
    }
    assert_true(files > 0);
}

static void check_command(const char *command, const char *printed) {
    int status;
    const char *out = run(command, &status), *rest = out;
    const char *lacks = strstr(out, "this CPU (");
    if (status && lacks && strstr(lacks, ") has no ")) {
        print_message("# this CPU cannot run: %s\n", command);
        return;
    }
    for (const char *line = printed; *line;) {
        size_t n = strcspn(line, "\n");
        const char *wanted = at_strndup(arena, line, n);
        rest = strstr(rest, wanted);
        if (!rest) {
            fprintf(stderr, "%s\nexit status %d:\n%s", command, status, out);
            fail_msg("it does not print, in its place: %s", wanted);
        }
        rest += n;
        line += n + (line[n] == '\n');
    }
}

static int check_commands(const char *page) {
    int commands = 0;
    block b;
    while (next_block(&page, &b)) {
        if (strcmp(b.kind, "console")) continue;
        for (const char *at = b.text; *at; commands++) {
            assert_memory_equal(at, "$ ", 2);
            size_t line = strcspn(at, "\n");
            const char *next = strstr(at, "\n$ ");
            const char *end = next ? next + 1 : at + strlen(at);
            check_command(at_strndup(arena, at + 2, line - 2),
                          at_strndup(arena, at + line + 1, (size_t)(end - at) - line - 1));
            at = end;
        }
    }
    return commands;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static const char *page_named(const char *name) {
    return read_text(at_format(arena, "docs/how-to/%s.md", name));
}

/* What is built already comes along; what the pages touch is built again, quickly. */
static int setup(void **state) {
    (void)state;
    int status;
    const char *program = getenv("AUTOTUNE") ? getenv("AUTOTUNE") : "build/autotune";
    const char *slash = strrchr(program, '/');
    arena = at_arena_new();
    if (!mkdtemp(tree)) return -1;
    const char *build = slash ? at_strndup(arena, program, (size_t)(slash - program)) : "build";
    char *from = realpath(".", NULL);
    const char *text =
        run(at_format(
                arena,
                "for f in %s/*; do case ${f##*/} in build*|autotune) ;; *) cp -a \"$f\" . ;; esac; "
                "done && mkdir build && for f in %s/%s/*; do case ${f##*/} in tests|deb) ;; "
                "*) cp -a \"$f\" build/ ;; esac; done",
                from, from, build),
            &status);
    free(from);
    if (status) fprintf(stderr, "%s", text);
    return status ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    int status;
    run(at_format(arena, "rm -rf %s", tree), &status);
    at_arena_free(arena);
    return 0;
}

static void builds_with_all_of_them(void **state) {
    (void)state;
    int status;
    for (int i = 0; i < NUM_PAGES; i++) apply_page(page_named(pages[i]));
    const char *out = run(
        "env -u MAKEFLAGS -u MAKELEVEL make -s B=build CFLAGS=\"$CFLAGS -O0\" autotune", &status);
    if (status || strstr(out, "warning:")) {
        fprintf(stderr, "%s", out);
        fail_msg("make: exit status %d", status);
    }
}

static void operator_works(void **state) {
    (void)state;
    assert_int_equal(check_commands(page_named(pages[0])), 3);
}

static void tuner_works(void **state) {
    (void)state;
    assert_int_equal(check_commands(page_named(pages[1])), 4);
}

static void target_works(void **state) {
    (void)state;
    assert_int_equal(check_commands(page_named(pages[2])), 3);
}

static void format_works(void **state) {
    (void)state;
    assert_int_equal(check_commands(page_named(pages[3])), 5);
}

static void rule_works(void **state) {
    (void)state;
    assert_int_equal(check_commands(page_named(pages[4])), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(builds_with_all_of_them),
                                       cmocka_unit_test(operator_works),
                                       cmocka_unit_test(tuner_works),
                                       cmocka_unit_test(target_works),
                                       cmocka_unit_test(format_works),
                                       cmocka_unit_test(rule_works)};
    return cmocka_run_group_tests_name("run/how_to", tests, setup, teardown);
}
