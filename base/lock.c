/* base/lock.c: one writer per file. The owner of a flock is known to the kernel alone, which tells
 * it in /proc/locks: nothing can go stale, and the lock ends with its process. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Some file systems (overlayfs, btrfs) show another device number in /proc/locks than stat does, so
 * the inode alone may have to do. 0: not found. */
static int lock_owner(int fd) {
    struct stat st;
    FILE *f = fopen("/proc/locks", "re");
    if (!f || fstat(fd, &st) != 0) {
        if (f) fclose(f);
        return 0;
    }
    char text[256];
    int owner = 0;
    while (fgets(text, sizeof text, f)) {
        int pid;
        unsigned dev_major, dev_minor;
        unsigned long long inode;
        if (sscanf(text, "%*d: FLOCK %*s %*s %d %x:%x:%llu", &pid, &dev_major, &dev_minor,
                   &inode) != 4 ||
            inode != st.st_ino)
            continue;
        owner = pid;
        if (dev_major == major(st.st_dev) && dev_minor == minor(st.st_dev)) break;
    }
    fclose(f);
    return owner;
}

static at_status lock(int fd, const char *path, at_error *err) {
    int failed;
    do failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    if (!failed) return AT_OK;
    if (errno != EWOULDBLOCK)
        return at_fail(err, AT_E_OUTPUT, "cannot lock %s: %s", path, strerror(errno));
    int owner = lock_owner(fd);
    if (owner <= 0)
        return at_fail(err, AT_E_LOCKED,
                       "%s is being written by another run; wait for it, or name another log",
                       path);
    return at_fail(
        err, AT_E_LOCKED,
        "%s is being written by another run, process %d; wait for it, or name another log", path,
        owner);
}

bool at_is_still_there(int fd, const char *path) {
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

at_status at_check_folder(const char *path, at_error *err) {
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (!*path) return at_fail(err, AT_E_OUTPUT, "cannot write a file without a name");
    if (lstat(path, &st) == 0) return AT_OK;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
    AT_NEED(folder);
    at_status s = AT_OK;
    if (stat(folder, &st) != 0 && errno == ENOENT)
        s = at_fail(err, AT_E_OUTPUT, "cannot write %s: there is no folder %s", path, folder);
    else if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        s = at_fail(err, AT_E_OUTPUT, "cannot write %s: %s is no folder", path, folder);
    else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        s = at_fail(err, AT_E_OUTPUT, "cannot write %s: no new file in folder %s: %s", path, folder,
                    strerror(errno));
    free(folder);
    return s;
}

at_status at_open_locked(const char *path, int flags, int *fd, at_error *err) {
    struct stat there;
    /* Opened for both, a FIFO would be its own reader. */
    if ((flags & O_RDWR) && stat(path, &there) == 0 && S_ISFIFO(there.st_mode))
        flags = (flags & ~O_RDWR) | O_WRONLY;
    for (;;) {
        /* A FIFO that nobody reads fails here instead of waiting. */
        *fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
        if (*fd < 0 && errno == ENOENT && !(flags & O_CREAT)) return AT_OK;
        if (*fd < 0 && errno == ENXIO)
            return at_fail(err, AT_E_OUTPUT, "cannot write %s: nobody reads this pipe", path);
        if (*fd < 0) {
            const int why = errno;
            AT_TRY(at_check_folder(path, err));
            return at_fail(err, AT_E_OUTPUT, "cannot write %s: %s", path, strerror(why));
        }
        fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
        struct stat st;
        if (fstat(*fd, &st) == 0 && !S_ISREG(st.st_mode)) return AT_OK;
        at_status s = lock(*fd, path, err);
        if (s == AT_OK && at_is_still_there(*fd, path)) return AT_OK;
        close(*fd);
        *fd = -1;
        if (s != AT_OK) return s;
    }
}
