/* base/below.c: files that a file names: in its own folder and below, so that who wrote the one
 * cannot make us read anything else. No absolute path, no "..", no link. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

bool at_leads_below(const char *location) {
    if (!*location || *location == '/' || strchr(location, '\\')) return false;
    for (const char *p = location;; p++) {
        const size_t n = strcspn(p, "/");
        if (!n || (n == 2 && !strncmp(p, "..", 2))) return false;
        p += n;
        if (!*p) return true;
    }
}

int at_open_below(const char *folder, const char *location, const char **why) {
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *why = "its folder cannot be opened";
    for (const char *p = location; at >= 0;) {
        char part[256];
        const size_t n = strcspn(p, "/");
        const bool last = !p[n];
        if (n >= sizeof part) *why = strerror(ENAMETOOLONG);
        if (n >= sizeof part || !n) break;
        memcpy(part, p, n);
        part[n] = 0;
        const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
        const int next = openat(at, part, last ? flags : flags | O_DIRECTORY);
        *why = errno == ELOOP || errno == ENOTDIR ? "it is a link or no folder" : strerror(errno);
        close(at);
        if (last || next < 0) return next;
        at = next;
        p += n + 1;
    }
    if (at >= 0) close(at);
    return -1;
}

const char *at_folder_of(at_arena *a, const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : at_strndup(a, path, (size_t)(slash - path));
}
