/* base/os.c: the clock, names of signals, whole files. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int64_t at_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double at_seconds_since(int64_t start_ns) { return (double)(at_now_ns() - start_ns) * 1e-9; }

double at_wall_time_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    /* In steps of ten microseconds: 15 digits, which a double keeps. */
    return (double)(t.tv_sec * 100000 + t.tv_nsec / 10000) / 1e5;
}

const char *at_signal_name(int signal) {
    static _Thread_local char other[24];
    const char *name = sigabbrev_np(signal);
    if (name) snprintf(other, sizeof other, "SIG%s", name);
    else snprintf(other, sizeof other, "signal %d", signal);
    return other;
}

static at_status cannot_read(const char *path, int why, at_error *err) {
    return at_fail(err, AT_E_INPUT, "cannot read %s: %s", path, strerror(why));
}

/* Until somebody writes into the pipe, or there is no one. */
static bool has_writer(int fd) {
    enum { LONGEST_MS = 2000 };
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n;
    do n = poll(&p, 1, LONGEST_MS);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

static at_status open_checked(const char *path, bool only_file, int *fd, at_error *err) {
    struct stat st;
    *fd = -1;
    if (!*path) return at_fail(err, AT_E_INPUT, "cannot read a file without a name: give its path");
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) return cannot_read(path, errno, err);
    const char *why = NULL;
    if (fstat(*fd, &st) != 0) why = strerror(errno);
    else if (S_ISDIR(st.st_mode)) why = strerror(EISDIR);
    else if (only_file && S_ISFIFO(st.st_mode)) why = "it is a pipe, and a file is needed";
    else if (only_file && !S_ISREG(st.st_mode)) why = "it is a device, and a file is needed";
    else if (S_ISFIFO(st.st_mode) && !has_writer(*fd)) why = "nobody writes into this pipe";
    if (why) {
        close(*fd);
        *fd = -1;
        return at_fail(err, AT_E_INPUT, "cannot read %s: %s", path, why);
    }
    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    return AT_OK;
}

at_status at_open_input(const char *path, int *fd, at_error *err) {
    return open_checked(path, false, fd, err);
}

at_status at_open_file(const char *path, int *fd, at_error *err) {
    return open_checked(path, true, fd, err);
}

/* A file may grow meanwhile, and those of /proc tell no size: it is only the first guess. */
static at_status read_all(at_arena *a, int fd, const char *path, size_t most_bytes, char **text,
                          size_t *len, at_error *err) {
    struct stat st;
    size_t n = 0, cap = 4096;
    if (fstat(fd, &st) == 0 && st.st_size > 0) cap = (size_t)st.st_size + 1;
    if (cap - 1 > most_bytes && cap > 4096)
        return at_fail(err, AT_E_INPUT, "cannot read %s: %zu bytes; at most %zu are read", path,
                       cap - 1, most_bytes);
    char *data = at_alloc(a, cap);
    for (;;) {
        ssize_t got = read(fd, data + n, cap - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, errno, err);
        if (got == 0) break;
        n += (size_t)got;
        if (n > most_bytes)
            return at_fail(err, AT_E_INPUT, "cannot read %s: more than %zu bytes", path,
                           most_bytes);
        if (n < cap) continue;
        char *larger = at_alloc(a, 2 * cap);
        memcpy(larger, data, n);
        data = larger;
        cap *= 2;
    }
    data[n] = 0;
    *text = data;
    if (len) *len = n;
    return AT_OK;
}

at_status at_read_stdin(at_arena *a, size_t most_bytes, char **text, size_t *len, at_error *err) {
    return read_all(a, STDIN_FILENO, "stdin", most_bytes, text, len, err);
}

at_status at_read_open(at_arena *a, int fd, const char *path, size_t most_bytes, char **text,
                       size_t *len, at_error *err) {
    const at_status s = read_all(a, fd, path, most_bytes, text, len, err);
    close(fd);
    return s;
}

at_status at_read_file(at_arena *a, const char *path, size_t most_bytes, char **text, size_t *len,
                       at_error *err) {
    int fd;
    AT_TRY(at_open_file(path, &fd, err));
    return at_read_open(a, fd, path, most_bytes, text, len, err);
}

const char *at_cache_folder(at_arena *a) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/') return at_format(a, "%s/autotune", cache);
    struct stat st; /* nobody's home is made */
    if (!home || *home != '/' || stat(home, &st) || !S_ISDIR(st.st_mode)) return NULL;
    return at_format(a, "%s/.cache/autotune", home);
}

at_status at_make_folder(char *path, at_error *err) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        if (failed) return at_fail(err, AT_E_OUTPUT, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
    return AT_OK;
}
