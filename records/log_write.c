/* records/log_write.c: appending to a log that only this run may write. What is in the log is whole
 * lines, whatever happens to the disk. */
#include "records/records_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct at_log {
    char *path;
    int fd;
    bool regular;       /* a file, and no pipe or device */
    bool needs_newline; /* the last line was torn */
    bool written;
    bool is_new;       /* it was not there before */
    int64_t tail_at;   /* where the tail begins that the next one replaces; -1: there is none */
    int64_t tail_size; /* in bytes */
    at_text text;      /* of the line in hand */
};

static at_status fail_write(at_error *err, const char *path, int why) {
    return at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", path, strerror(why));
}

/* ---- opening -------------------------------------------------------------------------------- */

at_status at_log_open_locked(const char *path, int flags, int *fd, at_error *err) {
    AT_TRY(at_open_locked(path, flags, fd, err));
    at_status s = *fd >= 0 ? at_refuse_gzip(*fd, path, err) : AT_OK;
    if (s == AT_OK) return AT_OK;
    close(*fd);
    *fd = -1;
    return s;
}

/* ---- writing -------------------------------------------------------------------------------- */

at_status at_log_open(const char *path, at_log **out, at_error *err) {
    int fd;
    struct stat st;
    const bool is_new = lstat(path, &st) != 0 && errno == ENOENT;
    AT_TRY(at_log_open_locked(path, O_RDWR | O_APPEND | O_CREAT, &fd, err));
    at_log *l = calloc(1, sizeof *l);
    AT_NEED(l);
    *l = (at_log){.path = strdup(path), .fd = fd, .is_new = is_new, .tail_at = -1};
    AT_NEED(l->path);
    char last;
    l->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    at_status s = l->regular ? at_log_check_kind(fd, path, err) : AT_OK;
    if (s != AT_OK) {
        at_log_close(l, NULL);
        return s;
    }
    l->needs_newline =
        l->regular && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
    *out = l;
    return AT_OK;
}

/* The text in hand, in one write. What is cut short is taken back, so that the next run, or this
 * one once there is room again, finds whole lines. */
static at_status write_text(at_log *l, at_error *err) {
    struct stat st;
    bool known = l->regular && fstat(l->fd, &st) == 0;
    /* Nobody would find what is written to a file without its name. */
    if (l->regular && !at_is_still_there(l->fd, l->path))
        return at_fail(err, AT_E_OUTPUT,
                       "cannot write %s: it was deleted or replaced while this run was writing it",
                       l->path);
    for (size_t done = 0; done < l->text.len;) {
        ssize_t put = write(l->fd, l->text.data + done, l->text.len - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            int why = errno;
            if (done && !(known && ftruncate(l->fd, st.st_size) == 0)) l->needs_newline = true;
            return fail_write(err, l->path, why);
        }
        done += (size_t)put;
    }
    l->needs_newline = false;
    l->written = true;
    return AT_OK;
}

static void begin_text(at_log *l) {
    l->tail_at = -1; /* what follows it is not replaced */
    at_text_clear(&l->text);
    if (l->needs_newline) at_text_add(&l->text, "\n");
}

at_status at_log_append(at_log *l, const at_record *r, at_error *err) {
    begin_text(l);
    at_record_print(&l->text, r);
    return write_text(l, err);
}

at_status at_log_comment(at_log *l, const char *text, at_error *err) {
    begin_text(l);
    at_text_add(&l->text, "#");
    size_t start = l->text.len;
    at_text_add(&l->text, text);
    for (char *p = l->text.data + start; *p; p++)
        if (*p == '\n' || *p == '\r') *p = ' ';
    at_text_add(&l->text, "\n");
    return write_text(l, err);
}

/* ---- the tail that is written again ---------------------------------------------------------- */

/* The file is opened for appending, which takes no position. */
static int write_at(int fd, const char *text, size_t len, int64_t at) {
    int flags = fcntl(fd, F_GETFL), why = 0;
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0) return errno;
    for (size_t done = 0; done < len && !why;) {
        ssize_t put = pwrite(fd, text + done, len - done, at + (int64_t)done);
        if (put >= 0) done += (size_t)put;
        else if (errno != EINTR) why = errno;
    }
    if (fcntl(fd, F_SETFL, flags) < 0 && !why) why = errno;
    return why;
}

/* What lies behind the tail is its next state, whole; only then its place is written over. So there
 * is no moment at which neither is there. */
static at_status replace_tail(at_log *l, int64_t at, at_error *err) {
    int why = write_at(l->fd, l->text.data, l->text.len, at);
    if (!why && ftruncate(l->fd, at + (int64_t)l->text.len) != 0) why = errno;
    return why ? fail_write(err, l->path, why) : AT_OK;
}

at_status at_log_put_tail(at_log *l, const at_text *lines, bool is_last, at_error *err) {
    int64_t at = l->tail_at, size = l->tail_size;
    struct stat st;
    if (!l->regular && !is_last) return AT_OK;
    begin_text(l);
    at_text_addn(&l->text, lines->data, lines->len);
    if (fstat(l->fd, &st) != 0) return fail_write(err, l->path, errno);
    bool again = at >= 0 && at + size == st.st_size;
    AT_TRY(write_text(l, err));
    if (again) AT_TRY(replace_tail(l, at, err));
    if (!l->regular) return AT_OK;
    if (is_last) at = -1;
    else if (!again) at = (int64_t)st.st_size + (int64_t)(l->text.len - lines->len);
    l->tail_at = at;
    l->tail_size = (int64_t)lines->len;
    return AT_OK;
}

/* A run that ended before its first line leaves no file that was not there. */
static void remove_empty(const at_log *l) {
    struct stat st;
    if (l->is_new && l->regular && fstat(l->fd, &st) == 0 && !st.st_size &&
        at_is_still_there(l->fd, l->path))
        unlink(l->path);
}

at_status at_log_close(at_log *l, at_error *err) {
    if (!l) return AT_OK;
    at_status s = AT_OK;
    remove_empty(l);
    /* Some file systems find out only here that there was no room. */
    if (l->regular && l->written && fsync(l->fd) != 0) s = fail_write(err, l->path, errno);
    if (close(l->fd) != 0 && s == AT_OK) s = fail_write(err, l->path, errno);
    free(l->path);
    at_text_free(&l->text);
    free(l);
    return s;
}
