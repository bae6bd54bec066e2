/* records/log_split.c: one log per task out of one of many, in memory that grows with the tasks
 * only: the log is read twice, for its tasks and for its lines. Names and grouping are those of
 * AutoTVM's split mode: group number i, in order of appearance, goes to LOG.00i.wkl. Unlike there,
 * a configuration measured again is kept, and so is what comment lines say of a task: its text,
 * finals, anchors, the objective, speeds. */
#include "records/records_int.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_MIB = 32 };

typedef struct part {
    const char *path, *task, *target;
    const at_json *args;
    int64_t records;
    at_output *out;
} part;

/* Parts that lines of one kind go to. */
typedef struct group {
    AT_VEC(int) parts;
} group;
typedef struct groups {
    at_key_map keys;
    AT_VEC(group) of; /* [keys] */
} groups;

typedef struct split {
    at_arena *arena;
    const char *path;
    bool force;
    at_key_map keys;
    AT_VEC(part) parts; /* [keys] */
    groups by_task;     /* name */
    groups by_identity; /* task and arguments, of whatever target */
    at_text text;
    at_error error; /* of a callback */
} split;

static void enter(groups *g, const char *key, int number) {
    const int i = at_key_map_add(&g->keys, key);
    if (i == g->of.len) *at_push(g->keys.arena, &g->of) = (group){0};
    *at_push(g->keys.arena, &g->of.data[i].parts) = number;
}

static const char *identity_of(split *s, const at_record *r) {
    at_text_clear(&s->text);
    at_workload_identity(&s->text, r);
    return at_text_str(&s->text);
}

/* ---- its tasks ------------------------------------------------------------------------------- */

/* The names are ours, and what lies there may be anything. */
static at_status add_part(split *s, const at_record *r, at_error *err) {
    const at_output_rules rules = {.kind = "log",
                                   .is_kind = at_is_log_head,
                                   .force = s->force ? AT_FORCE_YES : AT_FORCE_OFFERED,
                                   .is_derived = true};
    const int i = s->parts.len;
    if (at_arena_used(s->arena) > (size_t)MOST_MIB << 20)
        return at_fail(err, AT_E_INPUT,
                       "%s:%lld: its tasks up to here take more memory than %d MiB; split some of "
                       "its lines at a time",
                       s->path, (long long)r->line, MOST_MIB);
    part *p = at_push(s->arena, &s->parts);
    *p = (part){.path = at_format(s->arena, "%s.%03d.wkl", s->path, i),
                .task = at_strdup(s->arena, r->task),
                .target = at_strdup(s->arena, r->target),
                .args = at_json_copy(s->arena, r->args)};
    enter(&s->by_task, p->task, i);
    enter(&s->by_identity, identity_of(s, r), i);
    return at_output_open(p->path, &rules, &p->out, err);
}

static at_status part_of(split *s, const at_record *r, part **out, at_error *err) {
    at_text_clear(&s->text);
    at_workload_key(&s->text, r);
    int i = at_key_map_add(&s->keys, at_text_str(&s->text));
    if (i == s->parts.len) AT_TRY(add_part(s, r, err));
    *out = &s->parts.data[i];
    return AT_OK;
}

static at_status read_tasks(split *s, at_warn_fn *warn, void *ctx, at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(s->path, warn, ctx, &reader, err));
    at_status status = AT_OK;
    part *unused;
    for (at_record r; status == AT_OK && at_log_reader_next(reader, &r);)
        status = part_of(s, &r, &unused, err);
    if (status == AT_OK) status = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    return status;
}

/* ---- its lines ------------------------------------------------------------------------------- */

static void add_comment(split *s, const groups *g, int key, const char *comment) {
    at_text line = {0};
    at_text_addf(&line, "#%s\n", comment);
    for (int i = 0; key >= 0 && i < g->of.data[key].parts.len && !s->error.status; i++)
        at_output_add(s->parts.data[g->of.data[key].parts.data[i]].out, at_text_str(&line),
                      line.len, &s->error);
    at_text_free(&line);
}

/* What a computation is goes with every task of its name. */
static void take_text(split *s, at_arena *a, const char *comment) {
    const at_json *v;
    const char *json = strchr(comment, '{');
    const bool is_read = at_json_parse(a, json, strlen(json), &v, NULL) == AT_OK;
    const char *task = is_read ? at_json_string_in(v, "name") : NULL;
    if (task) add_comment(s, &s->by_task, at_key_map_find(&s->by_task.keys, task), comment);
}

static void take_comment(void *ctx, const char *comment, int64_t line) {
    split *s = ctx;
    at_comment c;
    (void)line;
    at_arena *a = at_arena_new();
    if (!strncmp(comment, AT_COMMENT_TE, strlen(AT_COMMENT_TE))) take_text(s, a, comment);
    else if (at_comment_read(a, comment, NULL, &c)) {
        const char *identity = identity_of(s, &(at_record){.task = c.task, .args = c.args});
        add_comment(s, &s->by_identity, at_key_map_find(&s->by_identity.keys, identity), comment);
    }
    at_arena_free(a);
}

static at_status write_lines(split *s, at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(s->path, NULL, NULL, &reader, err));
    at_log_reader_on_comment(reader, take_comment, s);
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
    split s = {.arena = a,
               .path = path,
               .force = force,
               .keys.arena = a,
               .by_task.keys.arena = a,
               .by_identity.keys.arena = a};
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return at_fail(err, AT_E_INPUT, "%s is no plain file: --split reads its log twice", path);
    at_status status = read_tasks(&s, warn, ctx, err);
    if (status == AT_OK) status = write_lines(&s, err);
    if (status == AT_OK) status = finish(&s, err);
    *parts = AT_NEW_ARRAY(a, at_log_part, s.parts.len);
    *num_parts = status == AT_OK ? s.parts.len : 0;
    for (int i = 0; i < s.parts.len; i++) {
        part *p = &s.parts.data[i];
        at_output_close(p->out);
        (*parts)[i] = (at_log_part){.path = p->path,
                                    .workload = s.keys.keys.data[i],
                                    .task = p->task,
                                    .target = p->target,
                                    .args = p->args,
                                    .records = p->records};
    }
    at_text_free(&s.text);
    return status;
}
