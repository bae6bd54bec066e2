/* tests/view/test_gnuplot.c: texts through gnuplot itself: what it prints and draws is the text,
 * and nothing of it is obeyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/folder.h"
#include "view/gnuplot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static at_arena *arena;
static bool has_gnuplot;

static int setup(void **state) {
    arena = at_arena_new();
    has_gnuplot = system("gnuplot --version >/dev/null 2>&1") == 0;
    return enter_folder(state);
}

static int teardown(void **state) {
    at_arena_free(arena);
    return leave_folder(state);
}

static void need_gnuplot(void) {
    if (has_gnuplot) return;
    print_message("gnuplot is not installed: not tested\n");
    skip();
}

/* Runs a script; what it put out. */
static const char *output_of(const at_text *script) {
    at_error err;
    at_text drawn = {0};
    if (at_gnuplot_run(script, "out", &drawn, &err) != AT_OK) fail_msg("%s", err.text);
    return at_text_take(arena, &drawn);
}

typedef struct texts {
    AT_VEC(const char *) of;
} texts;

/* Every byte alone, doubled, between letters and digits, and with each that means something; every
 * two bytes of UTF-8's beginning; what is no UTF-8; commands in all ways of quoting. */
static void make_texts(texts *t) {
    static const char *const whole[] = {
        "`touch PWNED`",
        "'; system('touch PWNED'); '",
        "''; system('touch PWNED'); ''",
        "''.system('touch PWNED').''",
        "\"; system(\"touch PWNED\"); \"",
        "\\\"; system(\"touch PWNED\"); #",
        "\nEND\nsystem \"touch PWNED\"\n$k << END\n",
        "\n!touch PWNED\n",
        "@touch",
        "$0 {/=20 x} ^2 _3 ~a{b} &{c} \\n %d %s %n %%",
        "it's ''''",
        "]]> ]]]>",
        "gr\xc3\xb6\xc3\x9f \xe5\xbf\xab \xf0\x9f\x9a\x80 \xe2\x80\xae \xc2\x9b \xe2\x80 \xff",
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) *at_push(arena, &t->of) = whole[i];
    for (int b = 1; b < 256; b++) {
        if (b != ' ') { /* blanks alone are not drawn */
            *at_push(arena, &t->of) = at_format(arena, "%c", b);
            *at_push(arena, &t->of) = at_format(arena, "%c%c", b, b);
        }
        *at_push(arena, &t->of) = at_format(arena, "a%cb%c7", b, b);
        for (const char *with = "'\"`\\%$@{\n"; *with; with++)
            *at_push(arena, &t->of) = at_format(arena, "%c%c%c", *with, b, *with);
        *at_push(arena, &t->of) = at_format(arena, "\xc2%c\xe2\x80%c", b, b);
    }
}

/* ']]>' is drawn as ']] >'. */
static const char *drawn(const char *text) {
    at_text t = {0};
    for (text = at_visible(arena, text); *text; text++) {
        if (*text == '>' && t.len > 1 && !strncmp(t.data + t.len - 2, "]]", 2))
            at_text_add(&t, " ");
        at_text_addn(&t, text, 1);
    }
    text = at_text_take(arena, &t);
    return text;
}

static void constants(void **state) {
    (void)state;
    need_gnuplot();
    texts t = {0};
    at_text script = {0};
    make_texts(&t);
    at_text_add(&script, "set print '-'\n");
    for (int i = 0; i < t.of.len; i++) {
        at_text_add(&script, "print ");
        at_text_add_gnuplot(&script, t.of.data[i], AT_GNUPLOT_TITLE);
        at_text_add(&script, "\n");
    }
    const char *line = output_of(&script);
    for (int i = 0; i < t.of.len; i++) {
        assert_string_equal(at_strndup(arena, line, strcspn(line, "\n")), drawn(t.of.data[i]));
        line += strcspn(line, "\n") + 1;
    }
    assert_int_equal(*line, 0);
    assert_int_not_equal(access("PWNED", F_OK), 0);
    at_text_free(&script);
}

/* The text of the next element of this name; *at behind it. */
static const char *next_text(const char **at, const char *begin, const char *end) {
    static const char *const entities[] = {"&lt;", "<", "&gt;", ">", "&amp;", "&"};
    const char *from = strstr(*at, begin), *to = from ? strstr(from, end) : NULL;
    if (!to) return NULL;
    at_text t = {0};
    for (from += strlen(begin); from < to;) {
        size_t n = 1;
        for (int i = 0; i < 6; i += 2)
            if (!strncmp(from, entities[i], strlen(entities[i]))) {
                at_text_add(&t, entities[i + 1]);
                n = strlen(entities[i]);
                goto next;
            }
        at_text_addn(&t, from, 1);
    next:
        from += n;
    }
    *at = to;
    return at_text_take(arena, &t);
}

/* Tics' labels are formats to gnuplot, and titles may be markup. */
static void labels(void **state) {
    (void)state;
    need_gnuplot();
    texts t = {0};
    at_text script = {0};
    make_texts(&t);
    at_text_add(&script, "set terminal svg noenhanced\nset encoding utf8\nset title ");
    at_text_add_gnuplot(&script, "_{a} ^b <i>", AT_GNUPLOT_TITLE);
    at_text_addf(&script, " noenhanced\nunset ytics\nunset key\nset xrange [-1:%d]\nset xtics (",
                 t.of.len);
    for (int i = 0; i < t.of.len; i++) {
        at_text_add(&script, i ? ", " : "");
        at_text_add_gnuplot(&script, t.of.data[i], AT_GNUPLOT_TIC);
        at_text_addf(&script, " %d", i);
    }
    at_text_add(&script, ") noenhanced\nplot 1\n");
    const char *svg = output_of(&script), *at = svg;
    for (int i = 0; i < t.of.len; i++) {
        const char *text = next_text(&at, "<text>", "</text>");
        if (!text) fail_msg("no text %d", i);
        assert_string_equal(text, drawn(t.of.data[i]));
    }
    assert_string_equal(next_text(&at, "<text>", "</text>"), "_{a} ^b <i>");
    assert_null(strstr(svg, "]]>"));
    assert_int_not_equal(access("PWNED", F_OK), 0);
    at_text_free(&script);
}

/* Long texts are cut between characters, also where gnuplot's own buffer is short. */
static void long_texts(void **state) {
    (void)state;
    need_gnuplot();
    for (int format = 0; format < 2; format++) {
        at_text text = {0}, script = {0};
        at_text_add(&text, format ? "%" : "x");
        for (int i = 0; i < 4000; i++) at_text_add(&text, "\xe5\xbf\xab");
        at_text_add(&script, "set terminal svg noenhanced\nset encoding utf8\nunset ytics\n"
                             "unset key\nset xtics (");
        at_text_add_gnuplot(&script, at_text_str(&text), AT_GNUPLOT_TIC);
        at_text_add(&script, " 0) noenhanced\nplot 1\n");
        const char *svg = output_of(&script);
        const char *drawn_text = next_text(&svg, "<text>", "</text>");
        size_t n = strlen(drawn_text);
        assert_true(n > (format ? 40 : 200) && n < 250);
        assert_string_equal(drawn_text + n - 3, "...");
        assert_memory_equal(drawn_text, text.data, n - 3);
        assert_int_equal((n - 3) % 3, 1);
        at_text_free(&text);
        at_text_free(&script);
    }
}

/* No start-up file is read, wherever it lies. */
static void start_up(void **state) {
    (void)state;
    need_gnuplot();
    at_text script = {0};
    at_error err;
    static const char line[] = "set print '-'\nprint 1\n", evil[] = "system 'touch PWNED'\n";
    at_text_add(&script, line);
    assert_int_equal(at_write_file(".gnuplot", evil, strlen(evil), &err), AT_OK);
    char *before = getenv("HOME") ? at_strdup(arena, getenv("HOME")) : NULL;
    setenv("HOME", folder, 1);
    assert_string_equal(output_of(&script), "1\n");
    assert_int_not_equal(access("PWNED", F_OK), 0);
    if (before) setenv("HOME", before, 1);
    unlink(".gnuplot");
    at_text_free(&script);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants), cmocka_unit_test(labels),
                                       cmocka_unit_test(long_texts), cmocka_unit_test(start_up)};
    return cmocka_run_group_tests_name("view/gnuplot", tests, setup, teardown);
}
