/* remote/drop_box.c: see drop_box.h. */
#include "remote/drop_box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/frame.h"
#include "remote/own_folder.h"

enum { MOST_BYTES = 2 * AT_FRAME_MOST_BYTES };

struct at_drop {
    int in, out, watch;
    unsigned next_in, next_out; /* numbers of files */
    bool is_told;
};

at_status at_drop_open(int folder, const char *in, const char *out, at_drop **to, at_error *err) {
    at_drop *d = calloc(1, sizeof *d);
    AT_NEED(d);
    *d = (at_drop){.in = -1, .out = -1, .watch = -1, .next_in = 1, .next_out = 1};
    at_status s = at_own_folder(folder, in, true, &d->in, err);
    if (s == AT_OK) s = at_own_folder(folder, out, true, &d->out, err);
    if (s != AT_OK) {
        at_drop_free(d);
        return s;
    }
    /* Where there is no such thing, whoever waits looks again and again. */
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", d->in);
    d->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (d->watch >= 0) inotify_add_watch(d->watch, path, IN_MOVED_TO | IN_DELETE_SELF);
    *to = d;
    return AT_OK;
}

void at_drop_free(at_drop *d) {
    if (!d) return;
    if (d->in >= 0) close(d->in);
    if (d->out >= 0) close(d->out);
    if (d->watch >= 0) close(d->watch);
    free(d);
}

int at_drop_fd(const at_drop *d) { return d->watch; }
bool at_drop_is_told(const at_drop *d) { return d->is_told; }

/* A file of this name is listed. One that is asked for before it is there may be absent for many
 * seconds: network file systems keep that, too, but list a folder anew when it is opened. *gone:
 * the folder is. */
static bool is_listed(const at_drop *d, const char *name, bool *gone) {
    int fd = openat(d->in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    bool is_there = false;
    *gone = fd < 0 && (errno == ENOENT || errno == ESTALE);
    if (!list) {
        if (fd >= 0) close(fd);
        return false;
    }
    for (struct dirent *e; !is_there && (e = readdir(list));) is_there = !strcmp(e->d_name, name);
    closedir(list);
    return is_there;
}

bool at_drop_read(at_drop *d, at_text *out) {
    char name[16], events[4096];
    struct stat st;
    bool told = false, gone = false;
    while (d->watch >= 0 && read(d->watch, events, sizeof events) > 0) told = true;
    for (;;) {
        snprintf(name, sizeof name, "%u", d->next_in);
        if (!told && !is_listed(d, name, &gone)) break;
        if (!at_own_file_get(d->in, name, MOST_BYTES, out)) break;
        unlinkat(d->in, name, 0);
        d->next_in++;
        d->is_told = told;
    }
    return !gone && !fstat(d->in, &st) && st.st_nlink > 0;
}

bool at_drop_write(at_drop *d, const void *data, size_t len) {
    char name[16];
    snprintf(name, sizeof name, "%u", d->next_out);
    if (!at_own_file_put(d->out, name, data, len)) return false;
    d->next_out++;
    return true;
}
