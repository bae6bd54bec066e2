/* The two shelves of documents: README.md and the pages for users are as short as they promise, the
 * index names every page, every link leads to a file and a heading that are there, and every source
 * file that a page names is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ctype.h>
#include <glob.h>

#include "base/base.h"
#include "tests/arena.h"
#include "tests/whole_file.h"

enum { MOST_README_LINES = 100, MOST_USER_WORDS = 25000 };

static const char *page(const char *path) {
    char *text;
    size_t n;
    at_error err;
    if (read_whole(arena, path, &text, &n, &err) != AT_OK) fail_msg("%s", err.text);
    return text;
}

/* As wc -w counts. */
static int words_of(const char *text) {
    int words = 0;
    for (const char *s = text; *s;) {
        s += strspn(s, " \t\n");
        words += *s != 0;
        s += strcspn(s, " \t\n");
    }
    return words;
}

static void short_enough(void **state) {
    (void)state;
    int lines = 0, words = 0;
    for (const char *s = page("README.md"); (s = strchr(s, '\n')); s++) lines++;
    if (lines > MOST_README_LINES) fail_msg("README.md has %d lines", lines);
    glob_t found;
    assert_int_equal(glob("docs/*.md", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) words += words_of(page(found.gl_pathv[i]));
    assert_true(found.gl_pathc > 10);
    globfree(&found);
    if (words > MOST_USER_WORDS)
        fail_msg("the pages for users have %d words, %d are allowed: move figures and history to "
                 "docs/notes",
                 words, MOST_USER_WORDS);
}

static void in_the_index(void **state) {
    (void)state;
    const char *index = page("docs/README.md");
    static const char *const shelves[] = {"docs/*.md", "docs/notes/*.md", "docs/how-to/*.md"};
    for (size_t i = 0; i < sizeof shelves / sizeof *shelves; i++) {
        glob_t found;
        assert_int_equal(glob(shelves[i], 0, NULL, &found), 0);
        for (size_t j = 0; j < found.gl_pathc; j++) {
            const char *path = found.gl_pathv[j] + strlen("docs/");
            if (strcmp(path, "README.md") && !strstr(index, at_format(arena, "](%s)", path)))
                fail_msg("docs/README.md does not name %s", path);
        }
        globfree(&found);
    }
}

/* The name that a heading is linked by: small letters, '-' for blanks, no other signs. */
static const char *anchor_of(const char *heading, size_t n) {
    at_text out = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)heading[i];
        if (c == ' ' || c == '-') at_text_add(&out, "-");
        else if (isalnum(c) || c == '_') at_text_addf(&out, "%c", tolower(c));
    }
    return at_text_take(arena, &out);
}

static bool has_heading(const char *text, const char *anchor) {
    bool fenced = false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (!strncmp(line, "```", 3)) fenced = !fenced;
        if (fenced || *line != '#') continue;
        const char *heading = line + strspn(line, "#");
        heading += strspn(heading, " ");
        if (!strcmp(anchor_of(heading, strcspn(heading, "\n")), anchor)) return true;
    }
    return false;
}

static void check_link(const char *from, const char *folder, const char *target) {
    size_t n = strcspn(target, "#");
    const char *path = n ? at_format(arena, "%s%.*s", folder, (int)n, target) : from;
    if (access(path, F_OK)) fail_msg("%s: there is no %s", from, target);
    if (target[n] && !has_heading(page(path), target + n + 1))
        fail_msg("%s: no heading for %s", from, target);
}

static int check_links(const char *path) {
    const char *slash = strrchr(path, '/'), *text = page(path);
    const char *folder = slash ? at_strndup(arena, path, (size_t)(slash - path) + 1) : "";
    int links = 0;
    for (const char *s = text; (s = strstr(s, "](")); links++) {
        s += strlen("](");
        const char *target = at_strndup(arena, s, strcspn(s, ")"));
        if (!strstr(target, "://") && !strpbrk(target, " ,")) check_link(path, folder, target);
    }
    return links;
}

/* The sum of what a check returns for each page. */
static int over_pages(int (*check)(const char *path)) {
    static const char *const all[] = {"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md"};
    int sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        glob_t found;
        assert_int_equal(glob(all[i], 0, NULL, &found), 0);
        for (size_t j = 0; j < found.gl_pathc; j++) sum += check(found.gl_pathv[j]);
        globfree(&found);
    }
    return sum;
}

static void links_lead_somewhere(void **state) {
    (void)state;
    assert_true(over_pages(check_links) > 100);
}

/* `folder/file.c` of a folder that there is. */
static bool is_source(const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_/";
    static const char *const kinds[] = {".c", ".h", ".def", ".json"};
    const char *slash = strchr(word, '/'), *kind = word + strspn(word, letters);
    if (!slash || slash > kind || access(at_strndup(arena, word, (size_t)(slash - word)), F_OK))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i])) return true;
    return false;
}

/* The news name files as they were, blocks of code name files that a walk makes. */
static int check_sources(const char *path) {
    int sources = 0;
    bool fenced = false;
    if (!strcmp(path, "docs/notes/history.md")) return 0;
    for (const char *s = page(path); *s;) {
        const size_t n = strcspn(s, "\n");
        if (!strncmp(s, "```", 3)) fenced = !fenced;
        for (const char *p = s; !fenced && (p = memchr(p, '`', (size_t)(s + n - p)));) {
            const char *word = at_strndup(arena, p + 1, strcspn(p + 1, "`\n"));
            p += 1 + strlen(word);
            if (*p == '`') p++;
            if (!is_source(word)) continue;
            if (access(word, F_OK)) fail_msg("%s: there is no %s", path, word);
            sources++;
        }
        s += n + (s[n] == '\n');
    }
    return sources;
}

static void sources_are_there(void **state) {
    (void)state;
    assert_true(over_pages(check_sources) > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_enough), cmocka_unit_test(in_the_index),
        cmocka_unit_test(links_lead_somewhere), cmocka_unit_test(sources_are_there)};
    return cmocka_run_group_tests_name("run/shelves", tests, make_arena, free_arena);
}
