/* engine/task/log_texts.c: see log_texts.h. */
#include "engine/task/log_texts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/task/user_template.h"
#include "records/comments.h"
#include "records/log.h"

enum { MOST_TEXT = 64 << 10, MOST_LINE = 6 * MOST_TEXT + 1024, MOST_NAMES = 1 << 16 };
static const char head[] = "#te {";

const char *at_log_text_line(at_arena *a, const at_template_row *row) {
    const at_template_row *base = at_template_base(row);
    const char *text = at_template_own_text(base);
    if (!text || strlen(text) > MOST_TEXT) return NULL;
    at_text line = {0};
    at_text_add(&line, "te {\"name\": ");
    at_text_add_json_string(&line, base->name);
    at_text_add(&line, ", \"text\": ");
    at_text_add_json_string(&line, text);
    at_text_add(&line, "}");
    return at_text_take(a, &line);
}

/* NULL: nothing is there, or no log, such as a disk's image, which would take long to read. */
static FILE *open_log(const char *path, char *line) {
    struct stat st;
    FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (f && at_is_log_head(line, fread(line, 1, MOST_TEXT, f)) && !fseek(f, 0, SEEK_SET)) return f;
    if (f) fclose(f);
    return NULL;
}

/* Whole lines that begin so; longer ones are none. */
static void each_line(const char *path, void (*seen)(void *ctx, const char *line, long at),
                      void *ctx) {
    char *line = malloc(MOST_LINE);
    AT_NEED(line);
    FILE *f = open_log(path, line);
    bool whole = true;
    long at = 0;
    for (; f && fgets(line, MOST_LINE, f); at = ftell(f)) {
        const size_t n = strcspn(line, "\n");
        const bool begins = whole, ends = line[n] == '\n';
        line[n] = 0;
        whole = ends;
        if (begins && ends && !strncmp(line, head, strlen(head))) seen(ctx, line, at);
    }
    if (f) fclose(f);
    free(line);
}

typedef struct last_text {
    const char *line;
    size_t name; /* the first bytes of the line, up to the name's end */
    bool is_same;
} last_text;

static void compare(void *ctx, const char *line, long at) {
    (void)at;
    last_text *x = ctx;
    if (!strncmp(line + 1, x->line, x->name)) x->is_same = !strcmp(line + 1, x->line);
}

bool at_log_text_counts(const char *path, const char *line) {
    last_text x = {line, (size_t)(strstr(line, ", \"text\": ") - line), false};
    each_line(path, compare, &x);
    return x.is_same;
}

/* Where the text of a name stands. */
typedef struct place {
    const char *path;
    long at;
    atomic_bool is_asked;
} place;

/* Of all logs so far; texts are read when somebody asks for a name. */
static struct {
    at_arena *arena;
    at_key_map names;
    AT_VEC(place) of; /* [names] */
} known;

static bool read_text(at_arena *a, const char *line, const char **name, const char **text) {
    const at_json *v = NULL;
    const char *json = line + strlen(head) - 1;
    if (at_json_parse(a, json, strlen(json), &v, NULL) != AT_OK) return false;
    const at_json *n = at_json_get(v, "name"), *t = at_json_get(v, "text");
    if (!n || !t || n->kind != AT_JSON_STRING || t->kind != AT_JSON_STRING ||
        !at_is_template_name(n->string))
        return false;
    *name = n->string;
    *text = t->string;
    return true;
}

/* A log's last text of a name counts, and the first log that has one. */
static void note(void *path, const char *line, long at) {
    const char *name, *text;
    at_arena *a = at_arena_new();
    if (read_text(a, line, &name, &text) &&
        (known.of.len < MOST_NAMES || at_key_map_find(&known.names, name) >= 0)) {
        const int i = at_key_map_add(&known.names, name);
        if (i == known.of.len) *at_push(known.arena, &known.of) = (place){.path = path, .at = at};
        else if (known.of.data[i].path == path) known.of.data[i].at = at;
    }
    at_arena_free(a);
}

static bool read_line_at(const place *p, char *line) {
    FILE *f = fopen(p->path, "re");
    const bool is_read = f && !fseek(f, p->at, SEEK_SET) && fgets(line, MOST_LINE, f) &&
                         !strncmp(line, head, strlen(head));
    if (f) fclose(f);
    return is_read;
}

static void add_asked(const char *name) {
    const int i = at_key_map_find(&known.names, name);
    if (i < 0 || atomic_exchange(&known.of.data[i].is_asked, true)) return;
    at_arena *a = at_arena_new();
    char *line = malloc(MOST_LINE);
    const char *there, *text;
    AT_NEED(line);
    if (read_line_at(&known.of.data[i], line) && read_text(a, line, &there, &text) &&
        !strcmp(there, name))
        (void)at_user_computation_add(name, text, NULL);
    free(line);
    at_arena_free(a);
}

void at_log_texts_load(const char *path) {
    if (!known.arena) known.arena = known.names.arena = at_arena_new();
    each_line(path, note, at_strdup(known.arena, path));
    at_template_ask(add_asked);
}
