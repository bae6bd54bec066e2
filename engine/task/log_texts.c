/* engine/task/log_texts.c: see log_texts.h. */
#include "engine/task/log_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_value.h"
#include "engine/task/user_template.h"
#include "records/comments.h"
#include "records/log.h"

enum {
    MOST_TEXT = 64 << 10,
    MOST_LINE = 6 * MOST_TEXT + 1024,
    MOST_NAMES = 1 << 14,
    MOST_OTHERS = 256
};
static const char head[] = "#" AT_COMMENT_TE;

static bool is_text(const char *line) { return !strncmp(line, head, strlen(head)); }

const char *at_log_text_line(at_arena *a, const at_template_row *row) {
    const at_template_row *base = at_template_base(row);
    const char *text = at_template_own_text(base);
    if (!text || strlen(text) > MOST_TEXT) return NULL;
    at_text line = {0};
    at_text_add(&line, AT_COMMENT_TE "\"name\": ");
    at_text_add_json_string(&line, base->name);
    at_text_add(&line, ", \"text\": ");
    at_text_add_json_string(&line, text);
    at_text_add(&line, "}");
    return at_text_take(a, &line);
}

const char *at_log_text_of(at_arena *a, const at_record *r) {
    const at_template_row *row;
    return at_template_find(r->task, &row, NULL) == AT_OK ? at_log_text_line(a, row) : NULL;
}

at_status at_log_text_take(const char *name, const char *text, at_error *err) {
    if (!at_is_template_name(name))
        return at_fail(err, AT_E_INPUT, "name \"%.200s\"; %s", name, AT_TEMPLATE_NAME_RULE);
    if (strlen(text) > MOST_TEXT)
        return at_fail(err, AT_E_INPUT, "the text of %s is longer than %d bytes", name, MOST_TEXT);
    return at_user_computation_add(name, text, err);
}

/* NULL: nothing is there, or no log, such as a disk's image, which would take long to read. */
static FILE *open_log(const char *path, char *line) {
    struct stat st;
    FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (f && at_is_log_head(line, fread(line, 1, MOST_TEXT, f)) && !fseek(f, 0, SEEK_SET)) return f;
    if (f) fclose(f);
    return NULL;
}

/* Lines with a text, and the beginnings of records; longer texts are none. */
static void each_line(const char *path, void (*seen)(void *ctx, const char *line), void *ctx) {
    char *line = malloc(MOST_LINE);
    AT_NEED(line);
    FILE *f = open_log(path, line);
    bool whole = true;
    while (f && fgets(line, MOST_LINE, f)) {
        const size_t n = strcspn(line, "\n");
        const bool begins = whole, ends = line[n] == '\n';
        line[n] = 0;
        whole = ends;
        if (begins && (*line == '{' || (ends && is_text(line)))) seen(ctx, line);
    }
    if (f) fclose(f);
    free(line);
}

typedef struct last_text {
    const char *line;
    size_t name; /* the first bytes of the line, up to the name's end */
    bool is_same;
} last_text;

static void compare(void *ctx, const char *line) {
    last_text *x = ctx;
    if (!is_text(line)) return;
    if (!strncmp(line + 1, x->line, x->name)) x->is_same = !strcmp(line + 1, x->line);
}

bool at_log_text_counts(const char *path, const char *line) {
    last_text x = {line, (size_t)(strstr(line, ", \"text\": ") - line), false};
    each_line(path, compare, &x);
    return x.is_same;
}

typedef struct named_text {
    at_arena *arena; /* its own: a later text takes its place */
    const char *text;
} named_text;

/* Texts of names that records have are all kept, of other names those of the first few. */
typedef struct texts {
    at_arena *arena, *scratch;
    at_key_map tasks; /* of records */
    at_key_map names;
    AT_VEC(named_text) of; /* [names] the last of each */
    int others;
} texts;

/* From within a string of JSON: the quotation mark that ends it, or the end of the line. */
static const char *end_of_string(const char *s) {
    while (*s && *s != '"') s += 1 + (*s == '\\' && s[1]);
    return s;
}

/* The task of a record, {"input": ["target", "task", ..., and its name without the stages behind
 * it. */
static void note_task(texts *t, const char *line) {
    const char *s = strstr(line, "\"input\": [\"");
    if (!s || t->tasks.keys.len == MOST_NAMES) return;
    s = end_of_string(s + strlen("\"input\": [\""));
    if (strncmp(s, "\", \"", 4) != 0) return;
    s += 4;
    const size_t n = (size_t)(end_of_string(s) - s), base = strcspn(s, "+");
    at_key_map_add(&t->tasks, at_strndup(t->scratch, s, n));
    if (base < n) at_key_map_add(&t->tasks, at_strndup(t->scratch, s, base));
}

static void note_tasks(void *ctx, const char *line) {
    texts *t = ctx;
    at_arena_reset(t->scratch);
    if (!is_text(line)) note_task(t, line);
}

static void note_text(texts *t, const char *name, const char *text) {
    int i = at_key_map_find(&t->names, name);
    if (i < 0) {
        const bool is_other = at_key_map_find(&t->tasks, name) < 0;
        if (is_other && t->others == MOST_OTHERS) return;
        t->others += is_other;
        i = at_key_map_add(&t->names, name);
        *at_push(t->arena, &t->of) = (named_text){.arena = at_arena_new()};
    }
    at_arena_reset(t->of.data[i].arena);
    t->of.data[i].text = at_strdup(t->of.data[i].arena, text);
}

static void note_texts(void *ctx, const char *line) {
    texts *t = ctx;
    const at_json *v = NULL;
    const char *json = line + strlen(head) - 1;
    at_arena_reset(t->scratch);
    if (!is_text(line) || at_json_parse(t->scratch, json, strlen(json), &v, NULL) != AT_OK) return;
    const char *name = at_json_string_in(v, "name"), *text = at_json_string_in(v, "text");
    if (name && text && at_is_template_name(name)) note_text(t, name, text);
}

/* Records of a name that a built-in template has, too. */
typedef struct named_records {
    int number; /* of the text */
    const char *name;
    const at_template_row *row;
    at_text last;           /* arguments, of the record before */
    bool is_any, is_of_row; /* one of the name; one with arguments that the template takes */
} named_records;
typedef struct shared_names {
    at_arena *scratch;
    AT_VEC(named_records) of;
} shared_names;

/* Is it that name, or one with stages behind it? */
static bool begins_with_name(const char *task, const char *name) {
    const size_t n = name ? strlen(name) : 0;
    return n && !strncmp(task, name, n) && (!task[n] || task[n] == '+');
}

static void count_record(named_records *b, at_arena *scratch, const at_record *r) {
    at_task *task;
    if (!begins_with_name(r->task, b->name) && !begins_with_name(r->task, b->row->record_name))
        return;
    const char *args = at_json_text(scratch, r->args);
    if (b->is_any && !strcmp(args, at_text_str(&b->last))) return;
    at_text_clear(&b->last);
    at_text_add(&b->last, args);
    b->is_any = true;
    b->is_of_row = at_task_open(scratch, b->row, args, "", &task, NULL) == AT_OK;
}

static void look_at_record(void *ctx, const char *line) {
    shared_names *names = ctx;
    at_record r;
    if (is_text(line)) return;
    at_arena_reset(names->scratch);
    if (at_record_parse(names->scratch, line, strlen(line), &r, NULL) != AT_OK) return;
    for (int i = 0; i < names->of.len; i++)
        if (!names->of.data[i].is_of_row) count_record(&names->of.data[i], names->scratch, &r);
}

static void add_computation(const texts *t, int i) {
    (void)at_log_text_take(t->names.keys.data[i], t->of.data[i].text, NULL);
}

/* Texts whose names built-in templates have count where the logs have records of the name, and none
 * of these is of the template. */
static void add_before_built_in(const texts *t, shared_names *names, const char *const *paths,
                                int n) {
    for (int i = 0; i < n && names->of.len; i++) each_line(paths[i], look_at_record, names);
    for (int i = 0; i < names->of.len; i++) {
        named_records *b = &names->of.data[i];
        if (b->is_any && !b->is_of_row) add_computation(t, b->number);
        at_text_free(&b->last);
    }
}

static void add_all(texts *t, const char *const *paths, int n, bool before_built_in) {
    shared_names shared = {.scratch = t->scratch};
    const at_template_row *row;
    for (int i = 0; i < t->of.len; i++) {
        const char *name = t->names.keys.data[i];
        if (at_template_find(name, &row, NULL) != AT_OK) add_computation(t, i);
        else if (before_built_in && !at_template_file(row) && !at_template_own_text(row))
            *at_push(t->arena, &shared.of) = (named_records){.number = i, .name = name, .row = row};
    }
    add_before_built_in(t, &shared, paths, n);
}

void at_log_texts_load(const char *const *paths, int n, bool before_built_in) {
    for (int k = 0; k < n; k++) {
        texts t = {.arena = at_arena_new(), .scratch = at_arena_new()};
        t.tasks.arena = t.names.arena = t.arena;
        each_line(paths[k], note_tasks, &t);
        each_line(paths[k], note_texts, &t);
        add_all(&t, paths, n, before_built_in);
        for (int i = 0; i < t.of.len; i++) at_arena_free(t.of.data[i].arena);
        at_arena_free(t.scratch);
        at_arena_free(t.arena);
    }
}
