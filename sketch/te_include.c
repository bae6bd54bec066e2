/* sketch/te_include.c: files that a .te file includes, as text in place of the line:
 *
 *   include "parts/gelu.te"
 *
 * Everything behind this, a log's text too, sees the whole and no file. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sketch/sketch.h"

enum { DEEPEST = 8, MOST_FILES = 64 };

typedef struct includer {
    at_arena *arena;
    const char *path, *folder; /* of the outermost file */
    size_t most_bytes;
    at_text out;
    int files;
    at_error *err;
} includer;

/* A text that is read; of which file, from the outermost one's folder on; NULL: that is it. */
typedef struct level {
    const char *text, *file;
    int depth;
} level;

static const char *blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* The name in the quotes; NULL: the line is another. */
static const char *name_at(at_arena *a, const char *line, const char *end, const char **rest) {
    static const char word[] = "include";
    const char *p = blanks(line);
    if (strncmp(p, word, sizeof word - 1)) return NULL;
    const char *open = blanks(p + sizeof word - 1);
    const char *close = *open == '"' ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (!close) return NULL;
    *rest = blanks(close + 1);
    return at_strndup(a, open + 1, (size_t)(close - open - 1));
}

static at_status fail_at(includer *x, const level *l, const char *line, const char *fmt,
                         const char *name) {
    int n = 1;
    for (const char *p = l->text; p < line; p++) n += *p == '\n';
    const char *path = l->file ? at_format(x->arena, "%s/%s", x->folder, l->file) : x->path;
    at_fail(x->err, AT_E_INPUT, fmt, name);
    return at_fail_at(x->err, "%s:%d: ", path, n);
}

static at_status read_below(includer *x, const level *l, const char *line, const char *file,
                            char **text) {
    const char *why;
    struct stat st;
    const int fd = at_open_below(x->folder, file, &why);
    if (fd < 0)
        return fail_at(x, l, line, "%s", at_format(x->arena, "cannot read \"%s\": %s", file, why));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail_at(x, l, line, "\"%s\" is no file", file);
    }
    at_error refused;
    if (at_read_open(x->arena, fd, file, x->most_bytes, text, NULL, &refused) != AT_OK)
        return fail_at(x, l, line, "%s", refused.text);
    return AT_OK;
}

static at_status add(includer *x, const level *l);

static at_status include(includer *x, const level *l, const char *line, const char *name,
                         const char *rest) {
    char *text;
    if (!strcmp(x->path, "-"))
        return fail_at(x, l, line, "include \"%s\": standard input lies in no folder", name);
    if (*rest && *rest != '\n' && *rest != '\r' && *rest != '#')
        return fail_at(x, l, line, "include \"%s\": a new line is expected behind it", name);
    if (!at_leads_below(name))
        return fail_at(x, l, line,
                       "include \"%s\": a file in this one's folder or below is accepted, without "
                       "\"..\"",
                       name);
    if (l->depth == DEEPEST)
        return fail_at(x, l, line, "include \"%s\": files include each other more than 8 deep",
                       name);
    if (++x->files > MOST_FILES)
        return fail_at(x, l, line, "include \"%s\": more than 64 files", name);
    const char *slash = l->file ? strrchr(l->file, '/') : NULL;
    const char *file =
        slash ? at_format(x->arena, "%.*s/%s", (int)(slash - l->file), l->file, name) : name;
    AT_TRY(read_below(x, l, line, file, &text));
    const level next = {text, file, l->depth + 1};
    return add(x, &next);
}

static bool is_schedule(const char *line, const char *end) {
    static const char word[] = "schedule";
    const size_t n = sizeof word - 1;
    if ((size_t)(end - line) < n || memcmp(line, word, n)) return false;
    const char *p = line + n;
    while (p < end && isspace((unsigned char)*p)) p++;
    return p == end || *p == '#';
}

/* Where what follows stands. */
static void tell(includer *x, const level *l, int line) {
    if (l->file) at_text_addf(&x->out, "#line %d \"%s\"\n", line, l->file);
    else at_text_addf(&x->out, "#line %d\n", line);
}

static at_status add(includer *x, const level *l) {
    static const char bom[] = "\xef\xbb\xbf"; /* some editors begin a text with it */
    const char *line = l->text + (strncmp(l->text, bom, 3) ? 0 : 3);
    bool in_tree = false;
    int number = 1;
    if (l->file) tell(x, l, 1);
    for (; *line; number++) {
        const char *end = line + strcspn(line, "\n"), *rest;
        const char *name = in_tree ? NULL : name_at(x->arena, line, end, &rest);
        in_tree |= is_schedule(line, end);
        if (in_tree && l->file)
            return fail_at(x, l, line, "\"%s\" has a schedule: only stages are included", l->file);
        if (name) {
            AT_TRY(include(x, l, line, name, rest));
            tell(x, l, number + 1);
        } else {
            at_text_addn(&x->out, line, (size_t)(end - line));
            at_text_add(&x->out, "\n");
        }
        if ((size_t)x->out.len > x->most_bytes)
            return fail_at(x, l, line, "%s", "with what is included the text is too long");
        line = end + (*end == '\n');
    }
    return AT_OK;
}

at_status at_te_include(at_arena *a, const char *path, char **text, size_t *length,
                        size_t most_bytes, at_error *err) {
    includer x = {.arena = a,
                  .path = path,
                  .folder = at_folder_of(a, path),
                  .most_bytes = most_bytes,
                  .err = err};
    const level l = {.text = *text};
    const at_status s = strlen(*text) == *length ? add(&x, &l) : AT_OK;
    if (s == AT_OK && x.files) {
        *text = at_text_take(a, &x.out);
        *length = strlen(*text);
    }
    at_text_free(&x.out);
    return s;
}
