/* base/output.c: every file that is written whole. A file is made beside the old one, brought to
 * the disk and renamed, so that a full disk leaves the old one as it was. Logs, which are appended
 * to, are written by records/log_write.c. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* MOST_HELD_BYTES: of one file. A log may be split into thousands. */
enum { MOST_HELD_BYTES = 256 << 10, MOST_HELD_IN_ALL_BYTES = 8 << 20, HEAD_BYTES = 64 << 10 };
static _Thread_local size_t held_bytes;

struct at_output {
    char *path;      /* as the user has it */
    char *real;      /* behind symbolic links; NULL: written in place */
    char *temporary; /* beside real; NULL: none yet */
    bool exists, locked_by_caller;
    struct stat old; /* of real */
    int fd;          /* in place; -1 */
    at_text text;    /* not yet written */
};

static at_status cannot_write(const at_output *f, int why, at_error *err) {
    return at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", f->path, strerror(why));
}

static bool write_all(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t put = write(fd, text, len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        text += put;
        len -= (size_t)put;
    }
    return true;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* "/dev/stdout" is what was opened for us, whatever its offset: 1. -1: another path. */
static int own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout")) return 1;
    if (!strcmp(path, "/dev/stderr")) return 2;
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9') continue;
        long fd = strtol(path + n, &end, 10);
        if (!*end && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

/* Who reads a pipe may open it a moment later than we do, or never. */
static int open_device(const char *path) {
    enum { TRIES = 100, BETWEEN_NS = 20000000 };
    int fd = -1;
    for (int i = 0; i < TRIES; i++) {
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0 || errno != ENXIO) break;
        nanosleep(&(struct timespec){.tv_nsec = BETWEEN_NS}, NULL);
        errno = ENXIO;
    }
    return fd;
}

/* Devices and pipes cannot be renamed over. */
static at_status open_in_place(at_output *f, at_error *err) {
    int own = own_descriptor(f->path);
    if (own == 1) fflush(stdout);
    f->fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3) : open_device(f->path);
    if (f->fd < 0 && errno == ENXIO)
        return at_fail(err, AT_E_OUTPUT, "cannot write %s: nobody reads this pipe", f->path);
    if (f->fd < 0) return cannot_write(f, errno, err);
    if (own < 0) fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK);
    return AT_OK;
}

/* A link that the user names is followed: the file behind it is replaced, not the link. */
static at_status find_place(at_output *f, bool is_derived, at_error *err) {
    char real[PATH_MAX];
    struct stat link;
    bool is_link = lstat(f->path, &link) == 0 && S_ISLNK(link.st_mode);
    if (is_link && is_derived)
        return at_fail(err, AT_E_OUTPUT,
                       "cannot write %s: a symbolic link lies there, which is not followed",
                       f->path);
    if (own_descriptor(f->path) >= 0) return open_in_place(f, err);
    f->exists = stat(f->path, &f->old) == 0;
    if (f->exists && S_ISDIR(f->old.st_mode)) return cannot_write(f, EISDIR, err);
    if (f->exists && !S_ISREG(f->old.st_mode)) {
        if (is_derived)
            return at_fail(err, AT_E_OUTPUT, "cannot write %s: a device or pipe lies there",
                           f->path);
        return open_in_place(f, err);
    }
    if (is_link && !f->exists)
        return at_fail(err, AT_E_OUTPUT,
                       "cannot write %s: it is a symbolic link to a file that is not there",
                       f->path);
    AT_TRY(at_check_folder(f->path, err));
    if (f->exists && !realpath(f->path, real)) return cannot_write(f, errno, err);
    f->real = strdup(f->exists ? real : f->path);
    AT_ASSERT(f->real);
    /* What is protected from writing is not replaced either. */
    if (f->exists && faccessat(AT_FDCWD, f->real, W_OK, AT_EACCESS) != 0)
        return cannot_write(f, errno, err);
    return AT_OK;
}

/* ---- what is there --------------------------------------------------------------------------- */

static at_status check_old(const at_output *f, const at_output_rules *rules, int fd,
                           at_error *err) {
    if (!rules->is_kind || rules->force == AT_FORCE_YES || !f->old.st_size) return AT_OK;
    char *head = malloc(HEAD_BYTES + 1);
    AT_ASSERT(head);
    ssize_t got;
    do got = pread(fd, head, HEAD_BYTES, 0);
    while (got < 0 && errno == EINTR);
    head[got > 0 ? got : 0] = 0;
    bool is_kind = got >= 0 && rules->is_kind(head, (size_t)got);
    free(head);
    if (is_kind) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s is there already and is no %s; name another file%s",
                   f->path, rules->kind,
                   rules->force == AT_FORCE_OFFERED ? ", or --force replaces it" : "");
}

/* Neither over a log that a run is writing, nor over anything else of the user's. */
static at_status look_at_old(at_output *f, const at_output_rules *rules, at_error *err) {
    int fd;
    if (!f->real || !f->exists) return AT_OK;
    if (rules->is_locked) {
        fd = open(f->real, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return cannot_write(f, errno, err);
    } else AT_TRY(at_open_locked(f->path, O_RDONLY, &fd, err));
    at_status s = fd >= 0 ? check_old(f, rules, fd, err) : AT_OK;
    if (fd >= 0) close(fd);
    return s;
}

at_status at_output_open(const char *path, const at_output_rules *rules, at_output **out,
                         at_error *err) {
    static const at_output_rules any = {0};
    if (!rules) rules = &any;
    at_output *f = calloc(1, sizeof *f);
    AT_ASSERT(f);
    *f = (at_output){.path = strdup(path), .fd = -1, .locked_by_caller = rules->is_locked};
    AT_ASSERT(f->path);
    at_status s = find_place(f, rules->is_derived, err);
    if (s == AT_OK) s = look_at_old(f, rules, err);
    if (s == AT_OK) *out = f;
    else at_output_close(f);
    return s;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int make_temporary(at_output *f) {
    const size_t size = strlen(f->real) + 16;
    const mode_t mode = f->exists ? 0600 : 0666; /* of a new one the umask takes its part */
    f->temporary = malloc(size);
    AT_ASSERT(f->temporary);
    for (int tries = 0; tries < 100; tries++) {
        uint32_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            number = (uint32_t)at_now_ns() ^ (uint32_t)getpid() << 16;
        snprintf(f->temporary, size, "%s.%08x", f->real, number);
        int fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0) return fd;
        if (errno != EEXIST) break;
    }
    free(f->temporary);
    f->temporary = NULL;
    return -1;
}

/* In place of another it gets that one's mode and, as far as may be, its owner. */
static bool set_mode(const at_output *f, int fd) {
    if (!f->exists) return true;
    if (f->old.st_uid != geteuid() || f->old.st_gid != getegid())
        (void)!fchown(fd, f->old.st_uid, f->old.st_gid);
    return fchmod(fd, f->old.st_mode & 0777) == 0;
}

/* What is held goes to the file, which is not kept open: there may be more files than descriptors.
 * last: and from there to the disk. */
static at_status flush(at_output *f, bool last, at_error *err) {
    int fd = f->fd;
    if (f->real)
        fd = f->temporary ? open(f->temporary, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
                          : make_temporary(f);
    bool ok = fd >= 0 && write_all(fd, at_text_str(&f->text), f->text.len);
    if (ok && last && f->real) ok = set_mode(f, fd) && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0 && (f->real || last)) {
        f->fd = -1;
        if (close(fd) != 0 && ok) ok = false, why = errno;
    }
    held_bytes -= f->text.len;
    at_text_free(&f->text);
    return ok ? AT_OK : cannot_write(f, why, err);
}

at_status at_output_add(at_output *f, const void *data, size_t len, at_error *err) {
    at_text_addn(&f->text, data, len);
    held_bytes += len;
    bool is_much = f->text.len >= MOST_HELD_BYTES || held_bytes >= MOST_HELD_IN_ALL_BYTES;
    return f->real && is_much ? flush(f, false, err) : AT_OK;
}

/* The lock is held while the name changes hands. */
static at_status take_name(at_output *f, at_error *err) {
    int fd = -1;
    if (f->exists && !f->locked_by_caller) AT_TRY(at_open_locked(f->path, O_RDONLY, &fd, err));
    int failed = rename(f->temporary, f->real) ? errno : 0;
    if (fd >= 0) close(fd);
    if (failed) return cannot_write(f, failed, err);
    free(f->temporary);
    f->temporary = NULL;
    return AT_OK;
}

at_status at_output_commit(at_output *const *files, int n, at_error *err) {
    for (int i = 0; i < n; i++)
        if (files[i]->real) AT_TRY(flush(files[i], true, err));
    for (int i = 0; i < n; i++)
        if (!files[i]->real) AT_TRY(flush(files[i], true, err));
    for (int i = 0; i < n; i++)
        if (files[i]->real) AT_TRY(take_name(files[i], err));
    return AT_OK;
}

void at_output_close(at_output *f) {
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    if (f->temporary) unlink(f->temporary);
    free(f->temporary);
    free(f->path);
    free(f->real);
    held_bytes -= f->text.len;
    at_text_free(&f->text);
    free(f);
}

at_status at_write_output(const char *path, const at_output_rules *rules, const char *text,
                          size_t len, at_error *err) {
    at_output *f;
    AT_TRY(at_output_open(path, rules, &f, err));
    at_status s = at_output_add(f, text, len, err);
    if (s == AT_OK) s = at_output_commit(&f, 1, err);
    at_output_close(f);
    return s;
}

at_status at_write_file(const char *path, const char *text, size_t len, at_error *err) {
    return at_write_output(path, NULL, text, len, err);
}

const char *at_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *at_base_stem(at_arena *a, const char *path) {
    const char *name = at_base_name(path), *dot = strrchr(name, '.');
    return dot && dot > name ? at_strndup(a, name, (size_t)(dot - name)) : name;
}

bool at_ends_in(const char *path, const char *ending) {
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcmp(path + n - m, ending);
}

static bool is_one(const char *x, const char *y) {
    struct stat a, b;
    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

bool at_same_file(const char *x, const char *y) {
    if (!strcmp(x, y) || is_one(x, y)) return true;
    /* What is not there yet is one where folder and name are. */
    if (access(x, F_OK) == 0 || access(y, F_OK) == 0) return false;
    at_arena *a = at_arena_new();
    const char *base = at_base_name(x), *other = at_base_name(y);
    const bool same = !strcmp(base, other) && is_one(at_format(a, "%.*s.", (int)(base - x), x),
                                                     at_format(a, "%.*s.", (int)(other - y), y));
    at_arena_free(a);
    return same;
}
