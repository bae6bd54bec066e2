/* records/log_kind.c: what a file is that is about to be appended to or replaced. A log of a user's
 * measurements is never made smaller, and a file that is no log never written to as one. */
#include "records/records_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 64 << 10, MOST_LINES = 100 };

typedef struct tally {
    int records;
    int comments; /* by others */
    int torn;     /* begin as a record does */
    int strange;  /* anything else */
} tally;

/* "#final {...}" and its like, but neither "# Heading" of a page nor "#define" of a C file. */
static bool is_comment_of_ours(const char *line, size_t len) {
    size_t word = 1 + strspn(line + 1, "abcdefghijklmnopqrstuvwxyz");
    return word > 1 && word + 1 < len && line[word] == ' ' && line[word + 1] == '{';
}

static void look_at_line(at_arena *scratch, const char *line, size_t len, tally *t) {
    at_record r;
    size_t blanks = strspn(line, " \t\r\f");
    if (blanks >= len) return;
    at_arena_reset(scratch);
    if (line[blanks] == '#') t->comments += !is_comment_of_ours(line + blanks, len - blanks);
    else if (at_record_parse(scratch, line, len, &r, NULL) == AT_OK) t->records++;
    else if (len >= 3 && !memcmp(line, "{\"i", 3)) t->torn++;
    else t->strange++;
}

bool at_is_log_head(const char *head, size_t len) {
    tally t = {0};
    at_arena *scratch = at_arena_new();
    const char *end = head + len;
    if (len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3)) head += 3; /* a byte order mark */
    for (int lines = 0; head < end && lines < MOST_LINES; lines++) {
        const char *newline = memchr(head, '\n', (size_t)(end - head));
        size_t n = (size_t)((newline ? newline : end) - head);
        look_at_line(scratch, head, n, &t);
        head += n + (newline != NULL);
    }
    at_arena_free(scratch);
    /* A page that quotes a record is none; comments alone may be headings, or macros. */
    return t.records ? t.strange <= t.records : !t.strange && !t.comments;
}

at_status at_log_check_kind(int fd, const char *path, at_error *err) {
    char *head = calloc(1, HEAD_BYTES + 1);
    AT_ASSERT(head);
    ssize_t got;
    do got = pread(fd, head, HEAD_BYTES, 0);
    while (got < 0 && errno == EINTR);
    bool is_log = got >= 0 && at_is_log_head(head, (size_t)got);
    free(head);
    if (is_log) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "%s is no log, and nothing is appended to it; name another file", path);
}

/* ---- tuning logs ----------------------------------------------------------------------------- */

/* What pick_best writes has a record per context and task; of AutoTVM's choice two, where the
 * target has a model. */
static bool may_be_twice(at_arena *scratch, const at_record *r) {
    at_tvm_target t;
    return !r->extra.present && at_tvm_target_parse(scratch, r->target, &t) &&
           strcmp(t.model, "unknown") != 0;
}

static at_status count(const char *path, int64_t *records, bool *is_tuning_log, at_error *err) {
    at_log_reader *reader;
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    at_key_map once = {.arena = a}, twice = {.arena = a};
    at_text key = {0};
    *records = 0;
    *is_tuning_log = false;
    at_status s = at_log_reader_open_empty(path, NULL, NULL, &reader, err);
    if (s == AT_OK) at_log_reader_watch(reader, a, AT_KEPT_MIB);
    for (at_record r; s == AT_OK && at_log_reader_next(reader, &r); ++*records) {
        at_arena_reset(scratch);
        at_text_clear(&key);
        at_record_competition(&key, &r);
        int known = once.keys.len;
        if (at_key_map_add(&once, at_text_str(&key)) == known) continue;
        known = twice.keys.len;
        bool second = at_key_map_add(&twice, at_text_str(&key)) == known;
        if (!second || !may_be_twice(scratch, &r)) *is_tuning_log = true;
    }
    if (s == AT_OK) {
        s = at_log_reader_status(reader, err);
        at_log_reader_close(reader);
    }
    at_text_free(&key);
    at_arena_free(scratch);
    at_arena_free(a);
    return s;
}

at_status at_refuse_tuning_log(const char *path, at_error *err) {
    int64_t records;
    bool is_tuning_log;
    AT_TRY(count(path, &records, &is_tuning_log, err));
    if (!is_tuning_log) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "%s is a tuning log of %lld records, and is not cut down to the best of them; "
                   "name another file",
                   path, (long long)records);
}

at_status at_refuse_larger_log(const char *path, int64_t records, at_error *err) {
    int64_t there;
    bool unused;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return AT_OK;
    AT_TRY(count(path, &there, &unused, err));
    if (there <= records) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "%s is a log of %lld records, and %lld would be left; name another file, or "
                   "--force replaces it",
                   path, (long long)there, (long long)records);
}
