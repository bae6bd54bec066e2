/* engine/task/log_texts.c: see log_texts.h. */
#include "engine/task/log_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/task/user_template.h"
#include "records/log.h"

enum { MOST_TEXT = 64 << 10, MOST_LINE = 6 * MOST_TEXT + 1024, MOST_TEXTS = 256 };
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

/* Whole lines that begin so; longer ones are none. seen: true ends it. */
static bool each_line(const char *path, bool (*seen)(void *ctx, const char *line), void *ctx) {
    char *line = malloc(MOST_LINE);
    AT_NEED(line);
    FILE *f = open_log(path, line);
    bool found = false, whole = true;
    while (f && !found && fgets(line, MOST_LINE, f)) {
        const size_t n = strcspn(line, "\n");
        const bool begins = whole, ends = line[n] == '\n';
        line[n] = 0;
        whole = ends;
        if (begins && ends && !strncmp(line, head, strlen(head))) found = seen(ctx, line);
    }
    if (f) fclose(f);
    free(line);
    return found;
}

typedef struct last_text {
    const char *line;
    size_t name; /* the first bytes of the line, up to the name's end */
    bool is_same;
} last_text;

static bool compare(void *ctx, const char *line) {
    last_text *x = ctx;
    if (!strncmp(line + 1, x->line, x->name)) x->is_same = !strcmp(line + 1, x->line);
    return false;
}

bool at_log_text_counts(const char *path, const char *line) {
    last_text x = {line, (size_t)(strstr(line, ", \"text\": ") - line), false};
    (void)each_line(path, compare, &x);
    return x.is_same;
}

typedef struct named_text {
    const char *name, *text;
} named_text;

typedef struct texts {
    at_arena *arena;
    AT_VEC(named_text) of; /* the last of each name */
    int lines;
} texts;

static bool note(void *ctx, const char *line) {
    texts *t = ctx;
    const at_json *v = NULL;
    const char *json = line + strlen(head) - 1;
    if (at_json_parse(t->arena, json, strlen(json), &v, NULL) == AT_OK) {
        const at_json *name = at_json_get(v, "name"), *text = at_json_get(v, "text");
        if (name && text && name->kind == AT_JSON_STRING && text->kind == AT_JSON_STRING &&
            at_is_template_name(name->string)) {
            int i = 0;
            while (i < t->of.len && strcmp(t->of.data[i].name, name->string) != 0) i++;
            if (i == t->of.len) (void)at_push(t->arena, &t->of);
            t->of.data[i] = (named_text){name->string, text->string};
        }
    }
    return ++t->lines == MOST_TEXTS;
}

void at_log_texts_load(const char *path) {
    texts t = {.arena = at_arena_new()};
    const at_template_row *row;
    (void)each_line(path, note, &t);
    for (int i = 0; i < t.of.len; i++)
        if (at_template_find(t.of.data[i].name, &row, NULL) != AT_OK)
            (void)at_user_computation_add(t.of.data[i].name, t.of.data[i].text, NULL);
    at_arena_free(t.arena);
}
