/* remote/own_folder.c: see own_folder.h. */
#include "remote/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LEVELS = 4 };

/* The mask is the process's; nothing else makes files meanwhile. */
static int make_folder(int at, const char *name) {
    mode_t mask = umask(077);
    int failed = mkdirat(at, name, 0700) && errno != EEXIST ? errno : 0;
    umask(mask);
    return failed;
}

at_status at_own_folder(int at, const char *name, bool make, int *fd, at_error *err) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat st;
    *fd = openat(at, name, flags);
    if (*fd < 0 && errno == ENOENT && make) {
        int why = make_folder(at, name);
        if (why) return at_fail(err, AT_E_OUTPUT, "cannot make %s: %s", name, strerror(why));
        *fd = openat(at, name, flags);
    }
    if (*fd < 0 && errno == ENOENT)
        return at_fail(err, AT_E_INPUT, "there is no folder %s; mkdir -m 700 makes it", name);
    if (*fd < 0) {
        const char *why =
            errno == ELOOP || errno == ENOTDIR ? "it is a link, or no folder" : strerror(errno);
        return at_fail(err, AT_E_INPUT, "cannot use %s: %s", name, why);
    }
    bool known = fstat(*fd, &st) == 0;
    if (known && st.st_uid == geteuid() && !(st.st_mode & 077)) return AT_OK;
    close(*fd);
    *fd = -1;
    if (!known || st.st_uid != geteuid())
        return at_fail(err, AT_E_INPUT, "%s is another user's folder; only this user's own is used",
                       name);
    return at_fail(err, AT_E_INPUT, "%s is open to others (mode %o); chmod 700 closes it", name,
                   (unsigned)(st.st_mode & 07777));
}

at_status at_own_name(char kind, char out[32], at_error *err) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return at_fail(err, AT_E_BUG, "no random numbers: %s", strerror(errno));
    snprintf(out, 32, "%c-%016llx", kind, (unsigned long long)number);
    return AT_OK;
}

bool at_own_file_put(int folder, const char *name, const void *data, size_t len) {
    char beside[300];
    snprintf(beside, sizeof beside, ".%.200s.%d", name, (int)getpid());
    int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) { /* of a write that was cut short */
        unlinkat(folder, beside, 0);
        fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (fd < 0) return false;
    bool ok = !fchmod(fd, 0600);
    for (size_t done = 0; ok && done < len;) {
        ssize_t n = write(fd, (const char *)data + done, len - done);
        if (n > 0) done += (size_t)n;
        else if (n < 0 && errno == EINTR) continue;
        else ok = false;
    }
    int why = errno;
    if (close(fd)) ok = false, why = errno;
    if (ok && renameat(folder, beside, folder, name)) ok = false, why = errno;
    if (!ok) unlinkat(folder, beside, 0);
    errno = why;
    return ok;
}

bool at_own_file_get(int folder, const char *name, size_t most_bytes, at_text *out) {
    struct stat st;
    char buffer[1 << 14];
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    size_t before = out->len;
    bool ok = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
              st.st_size <= (off_t)most_bytes;
    for (ssize_t n = 1; ok && n > 0 && out->len - before <= most_bytes;) {
        n = read(fd, buffer, sizeof buffer);
        if (n > 0) at_text_addn(out, buffer, (size_t)n);
        else if (n < 0) ok = errno == EINTR, n = 1;
    }
    close(fd);
    if (!ok && out->data) out->len = before;
    return ok;
}

static void remove_levels(int at, const char *name, int levels) {
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0) close(fd);
        unlinkat(at, name, 0);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (unlinkat(fd, e->d_name, 0) && levels > 1) remove_levels(fd, e->d_name, levels - 1);
    }
    closedir(d);
    unlinkat(at, name, AT_REMOVEDIR);
}

void at_own_folder_remove(int at, const char *name) { remove_levels(at, name, MOST_LEVELS); }
