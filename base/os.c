/* base/os.c: the clock, names of signals, whole files. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

double at_wall_time_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *at_signal_name(int signal) {
    static _Thread_local char other[24];
    const char *name = sigabbrev_np(signal);
    if (name) snprintf(other, sizeof other, "SIG%s", name);
    else snprintf(other, sizeof other, "signal %d", signal);
    return other;
}

at_status at_read_file(at_arena *a, const char *path, char **text, size_t *len, at_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return at_fail(err, AT_E_INPUT, "cannot read %s: %s", path, strerror(errno));
    /* A pipe tells no size; a file may grow meanwhile: the size is only the first guess. */
    struct stat st;
    size_t cap = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size + 1 : 4096, n = 0;
    char *data = at_alloc(a, cap);
    for (;;) {
        ssize_t got = read(fd, data + n, cap - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int why = errno;
            close(fd);
            return at_fail(err, AT_E_INPUT, "cannot read %s: %s", path, strerror(why));
        }
        if (got == 0) break;
        n += (size_t)got;
        if (n == cap) {
            char *larger = at_alloc(a, 2 * cap);
            memcpy(larger, data, n);
            data = larger;
            cap *= 2;
        }
    }
    close(fd);
    data[n] = 0;
    *text = data;
    if (len) *len = n;
    return AT_OK;
}
