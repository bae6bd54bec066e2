/* What reaches standard output and error: styles only where colours are wanted, nothing that a
 * terminal would obey, messages by how much is to be said; width and characters by the
 * environment. Both outputs are files here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What f writes to a descriptor. */
static const char *written(int fd, void (*f)(void)) {
    static char text[4096];
    FILE *to = tmpfile();
    assert_non_null(to);
    fflush(NULL);
    int kept = dup(fd);
    dup2(fileno(to), fd);
    f();
    fflush(NULL);
    dup2(kept, fd);
    close(kept);
    ssize_t n = pread(fileno(to), text, sizeof text - 1, 0);
    fclose(to);
    assert_true(n >= 0);
    text[n] = 0;
    return text;
}

static void print_styled(void) {
    at_text t = {0};
    at_error err;
    at_text_add(&t, "a ");
    at_text_add_styled(&t, AT_STYLE_BAD, "b\x1b[2Jc");
    at_text_add(&t, " d\r\x07\xe2\x80\xae\n\tend\n");
    assert_int_equal(at_print(&t, &err), AT_OK);
    at_text_free(&t);
}

static void styles_and_what_a_terminal_obeys(void **state) {
    (void)state;
    at_terminal_setup(AT_COLOR_NEVER, AT_VERBOSITY_NORMAL);
    const char *text = written(STDOUT_FILENO, print_styled);
    assert_string_equal(text, "a b\\x1b[2Jc d\\r\\x07\\u202e\n\tend\n");
    at_terminal_setup(AT_COLOR_ALWAYS, AT_VERBOSITY_NORMAL);
    text = written(STDOUT_FILENO, print_styled);
    assert_string_equal(text, "a \033[31mb\\x1b[2Jc\033[0m d\\r\\x07\\u202e\n\tend\n");
    /* A file is no terminal, whatever TERM says. */
    setenv("TERM", "xterm", 1);
    at_terminal_setup(AT_COLOR_AUTO, AT_VERBOSITY_NORMAL);
    assert_null(strchr(written(STDOUT_FILENO, print_styled), '\033'));
}

static void warn_of_two_lines(void) { at_warn(NULL, "first\nsecond"); }
static void say_error(void) { at_say_error("no such thing"); }
static void say_line(void) {
    at_text t = {0};
    at_text_add(&t, "more\n");
    at_say(&t);
    at_text_free(&t);
}

static void messages(void **state) {
    (void)state;
    at_terminal_setup(AT_COLOR_NEVER, AT_VERBOSITY_NORMAL);
    assert_string_equal(written(STDERR_FILENO, warn_of_two_lines),
                        "autotune: warning: first\\nsecond\n");
    assert_string_equal(written(STDERR_FILENO, say_line), "more\n");
    assert_string_equal(written(STDERR_FILENO, say_error), "autotune: no such thing\n");
    at_terminal_setup(AT_COLOR_NEVER, AT_VERBOSITY_QUIET);
    assert_string_equal(written(STDERR_FILENO, warn_of_two_lines), "");
    assert_string_equal(written(STDERR_FILENO, say_line), "");
    assert_string_equal(written(STDERR_FILENO, say_error), "autotune: no such thing\n");
}

/* The line is cut by characters, not by bytes, one column short of the width. */
static void draw_status(void) {
    at_status_line("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4z");
    assert_true(at_status_line_is_shown());
    at_warn(NULL, "w");
    assert_false(at_status_line_is_shown());
    at_status_line("done");
    at_status_line_end();
    at_status_line_clear(); /* nothing is shown any more */
}

static void status_line(void **state) {
    (void)state;
    setenv("COLUMNS", "6", 1);
    at_terminal_setup(AT_COLOR_NEVER, AT_VERBOSITY_NORMAL);
    assert_string_equal(written(STDERR_FILENO, draw_status),
                        "\r\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\033[J\r"
                        "\r\033[Jautotune: warning: w\n"
                        "\rdone\033[J\r\n");
}

static int columns, rows;
static void ask_size(void) {
    columns = at_terminal_columns(stdout);
    rows = at_terminal_rows(stdout);
}

static void environment(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } widths[] = {{"132", 132}, {"0", 80}, {"-4", 80}, {"wide", 80}, {"99999", 80}, {"", 80}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        setenv("COLUMNS", widths[i].text, 1);
        setenv("LINES", "50", 1);
        written(STDOUT_FILENO, ask_size);
        assert_int_equal(columns, widths[i].columns);
        assert_int_equal(rows, 50);
    }
    static const struct {
        const char *all, *ctype, *lang, *term;
        bool utf8;
    } locales[] = {{"C.UTF-8", "C", "C", "xterm", true},     {"", "de_DE.utf8", "C", "xterm", true},
                   {"", "", "en_US.UTF-8", "xterm", true},   {"", "", "", "xterm", true},
                   {"C", "", "en_US.UTF-8", "xterm", false}, {"", "", "POSIX", "xterm", false},
                   {"C.UTF-8", "", "", "dumb", false},       {"C.UTF-8", "", "", "linux", false}};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        setenv("LC_ALL", locales[i].all, 1);
        setenv("LC_CTYPE", locales[i].ctype, 1);
        setenv("LANG", locales[i].lang, 1);
        setenv("TERM", locales[i].term, 1);
        assert_int_equal(at_terminal_is_utf8(), locales[i].utf8);
    }
}

static void full_disk(void) {
    at_text t = {0};
    at_error err;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    at_text_add(&t, "text\n");
    assert_false(at_terminal_write(full, &t));
    fclose(full);
    int kept = dup(STDOUT_FILENO);
    assert_non_null(freopen("/dev/full", "w", stdout));
    at_status s = at_print(&t, &err);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    clearerr(stdout);
    assert_int_equal(s, AT_E_OUTPUT);
    assert_string_equal(err.text, "standard output: No space left on device");
    at_text_free(&t);
}

static void what_is_not_taken(void **state) {
    (void)state;
    full_disk();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(styles_and_what_a_terminal_obeys),
                                       cmocka_unit_test(messages), cmocka_unit_test(status_line),
                                       cmocka_unit_test(environment),
                                       cmocka_unit_test(what_is_not_taken)};
    return cmocka_run_group_tests_name("view/terminal", tests, NULL, NULL);
}
