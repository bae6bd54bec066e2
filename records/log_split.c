/* records/log_split.c: one log per task out of one of many, in memory that grows with the tasks
 * only. Names and grouping are those of AutoTVM's split mode: group number i, in order of
 * appearance, goes to LOG.00i.wkl. Unlike there, a configuration measured again is kept, and so is
 * what comment lines say of a task: finals, anchors, the objective, speeds. */
#include "records/records_int.h"

#include <string.h>

typedef struct part {
    const char *path, *task;
    int identity; /* of task and arguments, in split.identities */
    int64_t records;
    at_output *out;
} part;

typedef struct task_text {
    const char *task, *line; /* what it computes: a comment line */
} task_text;

typedef struct split {
    at_arena *arena;
    const char *path;
    bool force;
    at_key_map keys, identities;
    AT_VEC(part) parts;     /* [keys] */
    AT_VEC(at_text) before; /* [identities] comment lines so far, but finals */
    AT_VEC(task_text) texts;
    at_text text;
    at_error error; /* of a callback */
} split;

static int identity_of(split *s, const at_record *r) {
    at_text_clear(&s->text);
    at_workload_identity(&s->text, r);
    int i = at_key_map_add(&s->identities, at_text_str(&s->text));
    if (i == s->before.len) *at_push(s->arena, &s->before) = (at_text){0};
    return i;
}

/* The names are ours, and what lies there may be anything. */
static at_status add_part(split *s, const at_record *r, at_error *err) {
    const at_output_rules rules = {.kind = "log",
                                   .is_kind = at_is_log_head,
                                   .force = s->force ? AT_FORCE_YES : AT_FORCE_OFFERED,
                                   .is_derived = true};
    int i = s->parts.len;
    part *p = at_push(s->arena, &s->parts);
    *p = (part){.path = at_format(s->arena, "%s.%03d.wkl", s->path, i)};
    p->identity = identity_of(s, r);
    p->task = at_strdup(s->arena, r->task);
    AT_TRY(at_output_open(p->path, &rules, &p->out, err));
    for (int k = 0; k < s->texts.len; k++) {
        const task_text *t = &s->texts.data[k];
        if (!strcmp(t->task, p->task)) AT_TRY(at_output_add(p->out, t->line, strlen(t->line), err));
    }
    const at_text *before = &s->before.data[p->identity];
    return before->len ? at_output_add(p->out, at_text_str(before), before->len, err) : AT_OK;
}

static at_status part_of(split *s, const at_record *r, part **out, at_error *err) {
    at_text_clear(&s->text);
    at_workload_key(&s->text, r);
    int i = at_key_map_add(&s->keys, at_text_str(&s->text));
    if (i == s->parts.len) AT_TRY(add_part(s, r, err));
    *out = &s->parts.data[i];
    return AT_OK;
}

/* A text goes with every task of its name, also with parts that begin later. */
static void keep_text(split *s, task_text t) {
    *at_push(s->arena, &s->texts) = t;
    for (int i = 0; i < s->parts.len && !s->error.status; i++)
        if (!strcmp(s->parts.data[i].task, t.task))
            at_output_add(s->parts.data[i].out, t.line, strlen(t.line), &s->error);
}

static void take_text(split *s, const char *comment) {
    at_arena *a = at_arena_new();
    const at_json *v;
    const char *json = strchr(comment, '{');
    const bool is_read = at_json_parse(a, json, strlen(json), &v, NULL) == AT_OK;
    const char *task = is_read ? at_comment_text(v, "name") : NULL;
    if (task)
        keep_text(s, (task_text){at_strdup(s->arena, task), at_format(s->arena, "#%s\n", comment)});
    at_arena_free(a);
}

/* A line goes with its task. Anchors and the objective come before the records that they are about,
 * so also to parts that begin later. */
static void take_comment(void *ctx, const char *comment, int64_t line) {
    split *s = ctx;
    at_comment c;
    (void)line;
    if (!strncmp(comment, "te {", 4)) {
        take_text(s, comment);
        return;
    }
    at_arena *a = at_arena_new();
    if (at_comment_read(a, comment, NULL, &c)) {
        int identity = identity_of(s, &(at_record){.task = c.task, .args = c.args});
        at_text_clear(&s->text);
        at_text_addf(&s->text, "#%s\n", comment);
        for (int i = 0; i < s->parts.len && !s->error.status; i++)
            if (s->parts.data[i].identity == identity)
                at_output_add(s->parts.data[i].out, at_text_str(&s->text), s->text.len, &s->error);
        if (strncmp(comment, "final ", 6) != 0)
            at_text_add(&s->before.data[identity], at_text_str(&s->text));
    }
    at_arena_free(a);
}

static at_status read_log(split *s, at_warn_fn *warn, void *ctx, at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(s->path, warn, ctx, &reader, err));
    at_log_reader_on_comment(reader, take_comment, s);
    at_log_reader_watch(reader, s->arena, AT_KEPT_MIB);
    at_status status = AT_OK;
    for (at_record r; status == AT_OK && !s->error.status && at_log_reader_next(reader, &r);) {
        part *p;
        status = part_of(s, &r, &p, err);
        if (status != AT_OK) break;
        p->records++;
        at_text_clear(&s->text);
        at_record_print(&s->text, &r);
        status = at_output_add(p->out, at_text_str(&s->text), s->text.len, err);
    }
    if (status == AT_OK && s->error.status) {
        if (err) *err = s->error;
        status = s->error.status;
    }
    if (status == AT_OK) status = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    return status;
}

/* All or nothing, as far as the file system goes: the names appear when every part is written. */
static at_status finish(split *s, at_error *err) {
    at_output **files = AT_NEW_ARRAY(s->arena, at_output *, s->parts.len);
    for (int i = 0; i < s->parts.len; i++) {
        files[i] = s->parts.data[i].out;
        if (!s->force)
            AT_TRY(at_refuse_larger_log(s->parts.data[i].path, s->parts.data[i].records, err));
    }
    return at_output_commit(files, s->parts.len, err);
}

at_status at_log_split(at_arena *a, const char *path, bool force, at_warn_fn *warn, void *ctx,
                       at_log_part **parts, int *num_parts, at_error *err) {
    split s = {.arena = a, .path = path, .force = force, .keys.arena = a, .identities.arena = a};
    at_status status = read_log(&s, warn, ctx, err);
    if (status == AT_OK) status = finish(&s, err);
    *parts = AT_NEW_ARRAY(a, at_log_part, s.parts.len);
    *num_parts = status == AT_OK ? s.parts.len : 0;
    for (int i = 0; i < s.parts.len; i++) {
        part *p = &s.parts.data[i];
        at_output_close(p->out);
        (*parts)[i] = (at_log_part){p->path, s.keys.keys.data[i], p->records};
    }
    for (int i = 0; i < s.before.len; i++) at_text_free(&s.before.data[i]);
    at_text_free(&s.text);
    return status;
}
