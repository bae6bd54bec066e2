/* records/log_read.c: a log, line by line in constant memory, whatever state it is in; compressed
 * or not. */
#include "records/formats.h"
#include "records/records_int.h"
#include "records/space_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = AT_GUNZIP_HEAD_MAX,
    /* Beyond this a line is skipped unread. The longest records known take a few kilobytes. */
    MAX_LINE_BYTES = 1 << 20,
    /* A text that is no log at all is not worth a warning for each of its lines. */
    MAX_WARNINGS = 20,
};

enum { MOST_WATCHED = 3 };

struct at_log_reader {
    char *path;
    int fd;
    at_gunzip *gunzip; /* NULL: plain */
    bool gzip_torn;
    char *buf; /* [cap + 1]; unread bytes are begin..end */
    size_t begin, end, cap;
    bool at_end;
    bool strict;
    at_arena *arena; /* of the current record */
    bool keep;       /* arena is the caller's and not reset */
    bool (*wants)(void *ctx, const at_record *r);
    void *wants_ctx;
    const at_arena *watched[MOST_WATCHED];
    size_t watched_before[MOST_WATCHED]; /* used by others */
    int most_mib[MOST_WATCHED];
    at_warn_fn *warn;
    void *warn_ctx;
    void (*comment)(void *ctx, const char *text, int64_t line);
    void *comment_ctx;
    int64_t warnings;
    bool counted; /* the skipped lines, at the end */
    at_log_stats stats;
    at_error error;
};

/* ---- lines ---------------------------------------------------------------------------------- */

typedef struct line {
    const char *text;
    size_t len;
    bool torn;     /* the last one, without '\n' */
    bool too_long; /* text is only its end */
} line;

static size_t read_plain(at_log_reader *r) {
    ssize_t got;
    do got = read(r->fd, r->buf + r->end, r->cap - r->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) at_fail(&r->error, AT_E_INPUT, "cannot read %s: %s", r->path, strerror(errno));
    return got > 0 ? (size_t)got : 0;
}

/* Reads more behind what is there; false at the end of the file. */
static bool fill(at_log_reader *r) {
    if (r->at_end) return false;
    memmove(r->buf, r->buf + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    if (r->end == r->cap) {
        r->cap *= 2;
        r->buf = realloc(r->buf, r->cap + 1);
        AT_NEED(r->buf);
    }
    size_t got = 0;
    if (r->gunzip)
        at_gunzip_read(r->gunzip, r->path, r->buf + r->end, r->cap - r->end, &got, &r->gzip_torn,
                       &r->error);
    else got = read_plain(r);
    r->at_end = !got;
    r->end += got;
    return got > 0;
}

static bool next_line(at_log_reader *r, line *out) {
    size_t searched = 0;
    *out = (line){0};
    for (;;) {
        const char *start = r->buf + r->begin;
        size_t unread = r->end - r->begin;
        const char *newline = memchr(start + searched, '\n', unread - searched);
        if (newline || (r->at_end && (unread || out->too_long))) {
            out->text = start;
            out->len = newline ? (size_t)(newline - start) : unread;
            out->torn = !newline;
            out->too_long |= out->len > MAX_LINE_BYTES;
            r->begin += out->len + (newline ? 1 : 0);
            r->stats.lines++;
            return true;
        }
        if (r->at_end) return false;
        searched = unread;
        if (unread > MAX_LINE_BYTES) {
            out->too_long = true;
            r->begin = r->end;
            searched = 0;
        }
        fill(r);
    }
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The first bytes tell. */
static void look_for_gzip(at_log_reader *r) {
    if (!at_is_gzip(r->buf, r->end)) return;
    r->gunzip = at_gunzip_new(r->fd, r->buf, r->end);
    r->end = 0;
    r->at_end = false;
    fill(r);
}

/* A log is text from its first byte on. */
static at_status check_text(at_log_reader *r, at_error *err) {
    for (size_t i = 0; i < r->end && i < 4096; i++) {
        unsigned char c = (unsigned char)r->buf[i];
        if ((c < ' ' && !strchr("\t\n\r\f", c)) || !c || c == 0x7f)
            return at_fail(err, AT_E_INPUT, "%s looks like no log: byte %zu is 0x%02x", r->path, i,
                           c);
    }
    return AT_OK;
}

/* A file of another tuner, or a recorded space: its first line is no record. */
static at_status check_kind(at_log_reader *r, at_error *err) {
    r->buf[r->end] = 0;
    const at_file_format *f = at_file_format_of_head(r->buf, r->end);
    const bool is_space = !f && at_is_space_head(r->buf, r->end);
    at_record unused;
    const size_t first = strcspn(r->buf, "\n");
    if (!f && !is_space) return AT_OK;
    if (at_record_parse(r->arena, r->buf, first, &unused, NULL) == AT_OK) return AT_OK;
    at_arena_reset(r->arena);
    return at_fail(err, AT_E_INPUT, "%s: a %s, and no log; %s", r->path,
                   f ? f->kind : "recorded space",
                   f ? "autotune convert makes one of it, replay takes it as it is"
                     : "autotune replay takes it");
}

static at_status open_reader(const char *path, bool may_be_empty, at_log_reader **out,
                             at_error *err) {
    int fd;
    AT_TRY(at_open_input(path, &fd, err));
    at_log_reader *r = calloc(1, sizeof *r);
    AT_NEED(r);
    *r = (at_log_reader){
        .path = strdup(path), .fd = fd, .buf = malloc(BLOCK_BYTES + 1), .cap = BLOCK_BYTES};
    AT_NEED(r->path && r->buf);
    r->arena = at_arena_new();
    fill(r);
    look_for_gzip(r);
    at_status s = at_log_reader_status(r, err);
    if (s == AT_OK && !r->end && !may_be_empty)
        s = at_fail(err, AT_E_INPUT, "%s is empty: a log has one record per line", path);
    if (s == AT_OK) s = check_text(r, err);
    if (s == AT_OK) s = check_kind(r, err);
    if (s != AT_OK) {
        at_log_reader_close(r);
        return s;
    }
    *out = r;
    return AT_OK;
}

at_status at_log_reader_open_empty(const char *path, at_warn_fn *warn, void *ctx,
                                   at_log_reader **out, at_error *err) {
    AT_TRY(open_reader(path, true, out, err));
    (*out)->warn = warn;
    (*out)->warn_ctx = ctx;
    return AT_OK;
}

at_status at_log_reader_open(const char *path, at_warn_fn *warn, void *ctx, at_log_reader **out,
                             at_error *err) {
    AT_TRY(open_reader(path, false, out, err));
    (*out)->warn = warn;
    (*out)->warn_ctx = ctx;
    return AT_OK;
}

at_status at_log_reader_open_strict(const char *path, at_log_reader **out, at_error *err) {
    AT_TRY(open_reader(path, true, out, err));
    (*out)->strict = true;
    return AT_OK;
}

void at_log_reader_on_comment(at_log_reader *r,
                              void (*comment)(void *ctx, const char *text, int64_t line),
                              void *ctx) {
    r->comment = comment;
    r->comment_ctx = ctx;
}

const at_log_stats *at_log_reader_stats(const at_log_reader *r) { return &r->stats; }

at_status at_log_reader_status(const at_log_reader *r, at_error *err) {
    if (r->error.status != AT_OK && err) *err = r->error;
    return r->error.status;
}

at_status at_log_reader_needs_records(const at_log_reader *r, at_error *err) {
    if (r->stats.records) return AT_OK;
    if (r->stats.bad)
        return at_fail(err, AT_E_INPUT, "%s: holds no record, and %lld unreadable line%s", r->path,
                       (long long)r->stats.bad, at_plural(r->stats.bad));
    return at_fail(err, AT_E_INPUT, "%s: holds no record; autotune tune writes them", r->path);
}

void at_log_reader_close(at_log_reader *r) {
    if (!r) return;
    close(r->fd);
    at_gunzip_free(r->gunzip);
    if (!r->keep) at_arena_free(r->arena);
    free(r->path);
    free(r->buf);
    free(r);
}

/* ---- records -------------------------------------------------------------------------------- */

static void warn_line(at_log_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void warn_line(at_log_reader *r, const char *fmt, ...) {
    if (!r->warn || r->warnings++ >= MAX_WARNINGS) return;
    char what[sizeof r->error.text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    at_text t = {0};
    at_text_addf(&t, "%s:%lld: %s", r->path, (long long)r->stats.lines, what);
    r->warn(r->warn_ctx, at_text_str(&t));
    at_text_free(&t);
}

static void finish(at_log_reader *r) {
    int64_t skipped = r->stats.blank + r->stats.bad;
    if (r->warn && skipped > 1 && !r->counted) {
        at_text t = {0};
        at_text_addf(&t, "%s: %lld lines skipped, %lld of them blank", r->path, (long long)skipped,
                     (long long)r->stats.blank);
        r->warn(r->warn_ctx, at_text_str(&t));
        at_text_free(&t);
    }
    r->counted = true;
    if (!r->gzip_torn) return;
    r->gzip_torn = false;
    if (r->strict) at_fail(&r->error, AT_E_INPUT, "%s: its compressed data end too early", r->path);
    else warn_line(r, "the compressed data end here, too early; what comes before is read");
}

/* '#', after blanks where that is tolerated. */
static const char *comment_in(const at_log_reader *r, const line *l) {
    size_t i = 0;
    while (!r->strict && i < l->len && strchr(" \t", l->text[i]) && l->text[i]) i++;
    return i < l->len && l->text[i] == '#' ? l->text + i : NULL;
}

static bool is_blank(const line *l) {
    for (size_t i = 0; i < l->len; i++)
        if (!l->text[i] || !strchr(" \t\r\f", l->text[i])) return false;
    return true;
}

static bool is_text(const char *comment, const char *end) {
    const size_t len = strlen(AT_COMMENT_TE);
    return (size_t)(end - comment) >= len && !memcmp(comment, AT_COMMENT_TE, len);
}

static void tell_comment(at_log_reader *r, const char *from, const char *end) {
    if (!r->comment) return;
    char *text = strndup(from, (size_t)(end - from));
    AT_ASSERT(text);
    r->comment(r->comment_ctx, text, r->stats.lines);
    free(text);
}

/* What to skip without complaint comes before what to complain about. */
static bool read_line(at_log_reader *r, const line *l, at_record *out) {
    at_error err = {0};
    bool old_version = false;
    at_mark mark = at_arena_mark(r->arena);
    const char *comment = l->too_long ? NULL : comment_in(r, l);
    if (comment) {
        r->stats.comments++;
        r->stats.texts += is_text(comment + 1, l->text + l->len);
        tell_comment(r, comment + 1, l->text + l->len);
        return false;
    }
    if (!l->too_long && !r->strict && is_blank(l)) {
        r->stats.blank++;
        warn_line(r, "blank line; skipped");
        return false;
    }
    at_status s;
    if (l->too_long) s = at_fail(&err, AT_E_INPUT, "longer than 1 MiB");
    else s = at_record_parse_line(r->arena, l->text, l->len, out, &old_version, &err);
    if (r->keep && s != AT_OK) at_arena_rewind(r->arena, mark);
    /* AutoTVM since 0.7 skips what older ones wrote. */
    if (old_version && !r->stats.old_version++ && !r->strict)
        warn_line(r, "log version 0.1 (AutoTVM before 0.7); this and later records of it are "
                     "upgraded");
    if (old_version && r->strict) return false;
    if (s == AT_OK) {
        r->stats.records++;
        out->line = r->stats.lines;
        if (!r->wants || r->wants(r->wants_ctx, out)) return true;
        at_arena_rewind(r->arena, mark);
        return false;
    }
    if (r->strict) {
        at_fail(&r->error, AT_E_INPUT, "%s:%lld: not a record: %s; AutoTVM stops here", r->path,
                (long long)r->stats.lines, err.text);
    } else {
        r->stats.bad++;
        if (l->torn) warn_line(r, "torn last line; skipped");
        else warn_line(r, "not a record: %s; skipped", err.text);
    }
    return false;
}

/* In MiB; 0: none is. */
static int exceeded_limit(const at_log_reader *r) {
    for (int i = 0; i < MOST_WATCHED; i++) {
        size_t most = (size_t)r->most_mib[i] << 20;
        if (r->watched[i] && at_arena_used(r->watched[i]) - r->watched_before[i] > most)
            return r->most_mib[i];
    }
    return 0;
}

bool at_log_reader_next(at_log_reader *r, at_record *out) {
    line l;
    while (r->error.status == AT_OK && next_line(r, &l)) {
        if (!r->keep) at_arena_reset(r->arena);
        if (r->stats.lines == 1 && l.len >= 3 && !memcmp(l.text, "\xef\xbb\xbf", 3)) {
            l.text += 3; /* a byte order mark */
            l.len -= 3;
        }
        int limit_mib = exceeded_limit(r);
        if (limit_mib) {
            at_fail(&r->error, AT_E_INPUT,
                    "%s:%lld: tasks, their anchors and their finals up to here take more memory "
                    "than %d MiB; autotune log --split makes a log of each task",
                    r->path, (long long)r->stats.lines, limit_mib);
            break;
        }
        if (read_line(r, &l, out)) return true;
    }
    finish(r);
    return false;
}

void at_log_reader_watch(at_log_reader *r, const at_arena *a, int most_mib) {
    int i = 0;
    while (r->watched[i]) i++;
    AT_ASSERT(i < MOST_WATCHED);
    r->watched[i] = a;
    r->watched_before[i] = at_arena_used(a);
    r->most_mib[i] = most_mib;
}

at_status at_log_read_all(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                          at_record **out, int *count, at_error *err) {
    return at_log_read_wanted(a, path, NULL, NULL, warn, ctx, out, count, NULL, err);
}

at_status at_log_read_wanted(at_arena *a, const char *path,
                             bool (*wants)(void *ctx, const at_record *r), void *wants_ctx,
                             at_warn_fn *warn, void *ctx, at_record **out, int *count,
                             at_log_stats *stats, at_error *err) {
    at_log_reader *r;
    at_finals finals;
    AT_TRY(at_log_reader_open(path, warn, ctx, &r, err));
    at_arena_free(r->arena);
    r->arena = a;
    r->keep = true;
    r->wants = wants;
    r->wants_ctx = wants_ctx;
    at_finals_init(&finals, a);
    at_log_reader_on_comment(r, at_finals_add, &finals);
    AT_VEC(at_record) all = {0};
    for (at_record record; at_log_reader_next(r, &record);) *at_push(a, &all) = record;
    for (int i = 0; i < all.len; i++) at_finals_apply(&finals, &all.data[i]);
    at_status s = at_log_reader_status(r, err);
    *out = all.data;
    *count = all.len;
    if (stats) *stats = *at_log_reader_stats(r);
    if (s == AT_OK) s = at_log_reader_needs_records(r, err);
    at_log_reader_close(r);
    return s;
}
