#include "tests/fuzz/verb.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "view/view.h"

/* ---- the folder ------------------------------------------------------------------------------ */

static char folder[] = "/tmp/autotune-fuzz-XXXXXX";
static int home = -1;
static at_arena *arena;

static void write_file(const char *path, const void *data, size_t size, int mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void remove_folder(void) {
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) perror(folder);
}

static void make_folder(void) {
    char text[128];
    AT_ASSERT(mkdtemp(folder));
    atexit(remove_folder);
    home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AT_ASSERT(home >= 0 && !chdir(folder) && !mkdir("bin", 0777));
    int n = snprintf(text, sizeof text, "#!/bin/sh\n: >%s/CANARY\n", folder);
    write_file("bin/c", text, (size_t)n, 0777);
    const char *path = getenv("PATH");
    arena = at_arena_new();
    setenv("PATH", at_format(arena, "%s/bin:%s", folder, path ? path : "/usr/bin:/bin"), 1);
    setenv("HOME", folder, 1);
}

void fuzz_enter(const uint8_t *data, size_t size) {
    if (home < 0) make_folder();
    else AT_ASSERT(!chdir(folder));
    at_arena_reset(arena);
    write_file("input", data, size, 0666);
}

void fuzz_leave(const char *const *may_be) {
    DIR *d = opendir(".");
    AT_ASSERT(d);
    for (struct dirent *e; (e = readdir(d));) {
        bool known = *e->d_name == '.' ? !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")
                                       : !strcmp(e->d_name, "input") || !strcmp(e->d_name, "bin");
        for (const char *const *m = may_be; *m && !known; m++)
            if (!strcmp(e->d_name, *m)) known = !unlink(*m);
        if (!known) AT_BUG("the input's command was obeyed: there is a file %s", e->d_name);
    }
    closedir(d);
    AT_ASSERT(!fchdir(home));
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *content(int fd) {
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = at_alloc(arena, (size_t)size + 1);
    AT_ASSERT(pread(fd, text, (size_t)size, 0) == size);
    AT_ASSERT(strlen(text) == (size_t)size);
    close(fd);
    return text;
}

fuzz_output fuzz_verb(const char *words) {
    enum { MOST_WORDS = 32 };
    char *argv[MOST_WORDS + 1], *rest = at_strdup(arena, words);
    int argc = 1, saved[2], caught[2];
    argv[0] = "autotune";
    for (char *word; (word = strsep(&rest, " "));) {
        AT_ASSERT(argc < MOST_WORDS);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        saved[i] = dup(i + 1);
        caught[i] = memfd_create("caught", MFD_CLOEXEC);
        AT_ASSERT(saved[i] >= 0 && caught[i] >= 0 && dup2(caught[i], i + 1) >= 0);
    }
    at_options options;
    at_error err = {0};
    at_terminal_setup(AT_COLOR_NEVER, AT_VERBOSITY_NORMAL);
    at_status s = at_options_parse(argc, argv, &options, &err);
    if (s == AT_OK) s = at_command(&options, &err);
    if (s != AT_OK) at_say_error(err.text);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
    return (fuzz_output){at_exit_code(s), content(caught[0]), content(caught[1])};
}

/* ---- what must hold -------------------------------------------------------------------------- */

void fuzz_check_shown(const char *text, const char *what) {
    for (const char *p = text, *end = p + strlen(p); p < end;) {
        const char *from = p;
        int32_t c = at_utf8_next(&p, end);
        if (c < 0 || (c != '\n' && c != '\t' && at_is_unseen(c)))
            AT_BUG("%s prints 0x%x at byte %td of:\n%s", what, c < 0 ? *from & 0xff : c,
                   from - text, text);
    }
}

typedef struct markup {
    const char *text, *p;
    bool html;
    const char *open[64]; /* names of elements, not ended by NUL */
    size_t length[64];
    int depth;
} markup;

static _Noreturn void bad(const markup *m, const char *what) {
    AT_BUG("byte %td: %s: %.200s", m->p - m->text, what, m->p);
}

static bool is_one_of(const char *name, size_t n, const char *list) {
    for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == n && !strncmp(p, name, n)) return true;
    return false;
}

static void reference(markup *m) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#160;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(m->p, known[i], strlen(known[i]))) return;
    bad(m, "unknown reference");
}

static size_t name_length(const char *p) {
    return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:");
}

static void attribute(markup *m) {
    size_t n = name_length(m->p);
    if (m->html && !is_one_of(m->p, n,
                              "lang charset name content id class href style d viewBox role "
                              "aria-label x y text-anchor"))
        bad(m, "attribute");
    bool link = n == 4 && !strncmp(m->p, "href", 4);
    m->p += n;
    if (!m->html) m->p += strspn(m->p, " ");
    if (!n || *m->p++ != '=') bad(m, "attribute without a value");
    if (!m->html) m->p += strspn(m->p, " ");
    char quote = *m->p++;
    if (quote != '"' && (quote != '\'' || m->html)) bad(m, "value without quotes");
    if (m->html && link && *m->p != '#') bad(m, "link to elsewhere");
    for (; *m->p && *m->p != quote; m->p++) {
        if (*m->p == '<') bad(m, "< in a value");
        if (*m->p == '&') reference(m);
    }
    if (*m->p++ != quote) bad(m, "value without an end");
}

static void close_element(markup *m) {
    size_t n = name_length(m->p += 2);
    if (!m->depth--) bad(m, "nothing is open");
    if (m->length[m->depth] != n || strncmp(m->open[m->depth], m->p, n) != 0 || m->p[n] != '>')
        bad(m, "closes another element");
    m->p += n + 1;
}

static void element(markup *m) {
    const char *name = ++m->p;
    size_t n = name_length(name);
    if (!n) bad(m, "< without a name");
    if (m->html &&
        !is_one_of(name, n,
                   "html head meta title style body h1 h2 h3 p small div b pre table tr th "
                   "td ul li svg path text a i details summary"))
        bad(m, "element");
    m->p += n;
    for (;;) {
        m->p += strspn(m->p, " \n\r\t");
        if (*m->p == '>' || !strncmp(m->p, "/>", 2)) break;
        attribute(m);
    }
    bool closed = *m->p == '/';
    m->p += closed ? 2 : 1;
    if (closed || (m->html && is_one_of(name, n, "meta"))) return;
    if (m->depth == 64) bad(m, "too deep");
    m->open[m->depth] = name;
    m->length[m->depth++] = n;
    if (m->html && is_one_of(name, n, "style")) {
        m->p = strstr(m->p, "</style>");
        if (!m->p) AT_BUG("style without an end");
    }
}

static void check_markup(const char *text, bool html) {
    markup m = {.text = text, .p = text, .html = html};
    static const char doctype[] = "<!DOCTYPE html>";
    if (html) {
        if (strncmp(text, doctype, strlen(doctype)) != 0) bad(&m, "no doctype");
        m.p += strlen(doctype);
    }
    while (*m.p) {
        if (!strncmp(m.p, "</", 2)) close_element(&m);
        else if (!html && (!strncmp(m.p, "<?", 2) || !strncmp(m.p, "<!--", 4))) {
            const char *end = m.p[1] == '?' ? "?>" : "-->", *found = strstr(m.p + 2, end);
            if (!found) bad(&m, "no end");
            m.p = found + strlen(end);
        } else if (*m.p == '<') element(&m);
        else {
            if (*m.p == '&') reference(&m);
            if (!strncmp(m.p, "]]>", 3)) bad(&m, "]]>");
            m.p++;
        }
    }
    if (m.depth) bad(&m, "not closed");
    fuzz_check_shown(text, html ? "the page" : "the picture");
}

void fuzz_check_html(const char *text) { check_markup(text, true); }
void fuzz_check_xml(const char *text) { check_markup(text, false); }

void fuzz_check_csv(const char *text) {
    int columns = 0, n = 0;
    for (const char *p = text; *p;) {
        bool quoted = *p == '"';
        at_text value = {0};
        p += quoted;
        for (;; p++) {
            if (quoted && p[0] == '"' && p[1] == '"') p++;
            else if (quoted ? *p == '"' : strchr(",\n", *p) != NULL) break;
            else if (!quoted && *p == '"') AT_BUG("a quote within a field: %s", p);
            if (!*p) AT_BUG("a field without an end");
            at_text_addn(&value, p, 1);
        }
        p += quoted;
        char *end;
        strtod(at_text_str(&value), &end);
        if (value.len && strchr("=+-@\t\r", *value.data) && *end)
            AT_BUG("a formula: %s", value.data);
        at_text_free(&value);
        n++;
        if (*p == ',') p++;
        else if (*p == '\n') {
            if (columns && n != columns)
                AT_BUG("%d fields instead of %d before: %s", n, columns, p);
            columns = n;
            n = 0;
            p++;
        } else AT_BUG("behind a field: %s", p);
    }
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* Of the task that can be applied, or of none; texts that choose something are as they should be.
 */
static void add_record(at_text *out, const char *text, bool known, int error_no) {
    at_text_addf(out, "{\"input\": [\"c %s\", \"%s\", ", text, known ? "conv2d_3x3_gemm" : text);
    if (known) at_text_add(out, "[1, 4, 4, 8, 16, \"float32\"]");
    else at_text_addf(out, "[\"%s\"]", text);
    at_text_addf(out,
                 ", {}], \"config\": {\"index\": 0, \"code_hash\": \"%s\", \"entity\": ", text);
    if (known)
        at_text_add(out, "[[\"tile_y\", \"sp\", [-1, 4, 1]], [\"tile_x\", \"sp\", [-1, 1, 16]], "
                         "[\"tile_k\", \"sp\", [-1, 1]]]");
    else
        at_text_addf(out, "[[\"%s\", \"an\", [\"%s\"]], [\"o\", \"ot\", \"%s\"]]", text, text,
                     text);
    at_text_addf(out, "}, \"result\": [[1e-06], %d, 0.5, 1.7e9], \"version\": 0.2, \"autotune\": {",
                 error_no);
    at_text_addf(
        out,
        "\"tuner\": \"%s\", \"check\": \"%s\", \"error\": \"%s\", \"context\": {\"cpu\": \"%s\", ",
        text, error_no ? text : "exact", text, text);
    at_text_addf(
        out,
        "\"isa\": \"avx2\", \"compiler\": \"%s\", \"packing\": \"ahead\", \"cache\": \"hot\", "
        "\"template\": \"%s\", \"threads\": 2}}}\n",
        known ? "gcc" : text, text);
}

bool fuzz_seed_log(int i, at_text *out) {
    /* In JSON's spelling. */
    static const char *const texts[] = {
        "\\nEND\\nsystem 'c'\\n!c\\n$k << END\\n",
        "`c` \\\"; system(\\\"c\\\"); \\\\\\\"; system('c') #",
        "''; system('c'); '' 'c' '; system('c') #",
        "*/ int c = system(\\\"c\\\"); /* ?"
        "?/\\n#error c\\n\\\\",
        "</td></pre><script>c</script>\\\" onload='c' &c; ]]> <!-- ",
        "\\u001b[31m\\u009b31m\\u202e\\u2066\\u200f\\u2028\\u007f\\r\\n",
        "=cmd|' /C c'!A1",
        "@c %d %s %n {/=9 x}^2_3 $(c) ${c} |c <c",
    };
    if (i >= (int)(sizeof texts / sizeof *texts)) return false;
    add_record(out, texts[i], true, 0);
    add_record(out, texts[i], false, 0);
    add_record(out, texts[i], false, 4);
    at_text_addf(out, "# %s\n", texts[i]);
    return true;
}
