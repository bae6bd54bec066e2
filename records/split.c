/* records/split.c: one log per task out of one of many, in memory that grows with the tasks only.
 * Names and grouping are those of AutoTVM's split mode: group number i, in order of appearance,
 * goes to LOG.00i.wkl. Unlike there, a configuration measured again is kept, and so are finals. */
#include "records/records_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST_HELD_BYTES = 256 << 10 };

typedef struct part {
    const char *path, *temporary;
    int identity; /* of task and arguments, in split.identities */
    int64_t records;
    bool begun;
    at_text text; /* not yet written */
} part;

typedef struct split {
    at_arena *arena;
    const char *path;
    at_key_map keys, identities;
    AT_VEC(part) parts; /* [keys] */
    at_text text;
    at_error error; /* of a callback */
} split;

/* Opened for each write: there may be more tasks than descriptors. */
static at_status flush(part *p, at_error *err) {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (p->begun ? O_APPEND : O_TRUNC);
    int fd = open(p->temporary, flags, 0666);
    if (fd < 0) return at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", p->path, strerror(errno));
    p->begun = true;
    int failed = 0;
    for (size_t done = 0; done < p->text.len && !failed;) {
        ssize_t put = write(fd, p->text.data + done, p->text.len - done);
        if (put >= 0) done += (size_t)put;
        else if (errno != EINTR) failed = errno;
    }
    if (close(fd) != 0 && !failed) failed = errno;
    at_text_clear(&p->text);
    return failed ? at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", p->path, strerror(failed))
                  : AT_OK;
}

static at_status put(part *p, const char *text, size_t len, at_error *err) {
    at_text_addn(&p->text, text, len);
    return p->text.len < MOST_HELD_BYTES ? AT_OK : flush(p, err);
}

static int identity_of(split *s, const at_record *r) {
    at_text_clear(&s->text);
    at_workload_identity(&s->text, r);
    return at_key_map_add(&s->identities, at_text_str(&s->text));
}

static part *part_of(split *s, const at_record *r) {
    at_text_clear(&s->text);
    at_workload_key(&s->text, r);
    int i = at_key_map_add(&s->keys, at_text_str(&s->text));
    if (i == s->parts.len) {
        part *p = at_push(s->arena, &s->parts);
        *p = (part){.path = at_format(s->arena, "%s.%03d.wkl", s->path, i),
                    .identity = identity_of(s, r)};
        p->temporary = at_format(s->arena, "%s.part", p->path);
    }
    return &s->parts.data[i];
}

/* A final goes with its task. */
static void take_comment(void *ctx, const char *comment, int64_t line) {
    split *s = ctx;
    at_final_line final;
    (void)line;
    at_arena *a = at_arena_new();
    int identity = -1;
    if (at_final_line_read(a, comment, &final))
        identity = identity_of(s, &(at_record){.task = final.task, .args = final.args});
    for (int i = 0; i < s->parts.len && !s->error.status; i++) {
        part *p = &s->parts.data[i];
        if (p->identity != identity) continue;
        at_text_clear(&s->text);
        at_text_addf(&s->text, "#%s\n", comment);
        put(p, at_text_str(&s->text), s->text.len, &s->error);
    }
    at_arena_free(a);
}

static at_status read_log(split *s, at_warn_fn *warn, void *ctx, at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(s->path, warn, ctx, &reader, err));
    at_log_reader_on_comment(reader, take_comment, s);
    at_status status = AT_OK;
    for (at_record r; status == AT_OK && !s->error.status && at_log_reader_next(reader, &r);) {
        part *p = part_of(s, &r);
        p->records++;
        at_text_clear(&s->text);
        at_record_print(&s->text, &r);
        status = put(p, at_text_str(&s->text), s->text.len, err);
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
    for (int i = 0; i < s->parts.len; i++) AT_TRY(flush(&s->parts.data[i], err));
    for (int i = 0; i < s->parts.len; i++) {
        part *p = &s->parts.data[i];
        if (rename(p->temporary, p->path) != 0)
            return at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", p->path, strerror(errno));
        p->begun = false;
    }
    return AT_OK;
}

at_status at_log_split(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                       at_log_part **parts, int *num_parts, at_error *err) {
    split s = {.arena = a, .path = path, .keys.arena = a, .identities.arena = a};
    at_status status = read_log(&s, warn, ctx, err);
    if (status == AT_OK) status = finish(&s, err);
    *parts = AT_NEW_ARRAY(a, at_log_part, s.parts.len);
    *num_parts = status == AT_OK ? s.parts.len : 0;
    for (int i = 0; i < s.parts.len; i++) {
        part *p = &s.parts.data[i];
        if (p->begun) unlink(p->temporary);
        at_text_free(&p->text);
        (*parts)[i] = (at_log_part){p->path, s.keys.keys.data[i], p->records};
    }
    at_text_free(&s.text);
    return status;
}
