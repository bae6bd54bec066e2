/* remote/core_claim.c: see core_claim.h. The locks end with their process. */
#include "remote/core_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/own_folder.h"

enum { MOST_CORES = 1024, MOST_TEXT = 4096 };
static _Thread_local cpu_set_t before;

static const char *folder_name(char out[64]) {
    snprintf(out, 64, "/tmp/autotune-cores-%u", (unsigned)geteuid());
    return out;
}

static at_status open_folder(bool make, int *fd, at_error *err) {
    char name[64];
    return at_own_folder(AT_FDCWD, folder_name(name), make, fd, err);
}

static const char *core_name(int core, char out[32]) {
    snprintf(out, 32, "core-%d", core);
    return out;
}

static int open_core(int folder, int core, int flags) {
    char name[32];
    return openat(folder, core_name(core, name), flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* The file may go with its last owner between opening and locking it: then it is locked, but is no
 * core's any more. */
static bool is_core(int fd) {
    struct stat st;
    return !fstat(fd, &st) && st.st_nlink > 0;
}

/* -1: others have the core. */
static int lock_core(int folder, int core) {
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        int fd = open_core(folder, core, O_CREAT);
        if (fd < 0) return -1;
        bool locked = !flock(fd, LOCK_EX | LOCK_NB);
        if (locked && is_core(fd)) return fd;
        close(fd);
        if (!locked) return -1;
    }
    return -1;
}

/* The first of these that are free. */
static at_status take_free(at_core_claim *c, int cores, const int *cpus, int n, cpu_set_t *set,
                           at_error *err) {
    int folder;
    AT_TRY(open_folder(true, &folder, err));
    CPU_ZERO(set);
    c->count = 0;
    for (int i = 0; i < n && i < MOST_CORES && c->count < cores && c->count < AT_MAX_THREADS; i++) {
        int fd = lock_core(folder, at_cpu_core_of(cpus[i]));
        if (fd < 0) continue;
        CPU_SET(cpus[i], set);
        c->cpus[c->count] = cpus[i];
        c->fds[c->count++] = fd;
    }
    close(folder);
    return AT_OK;
}

at_status at_core_claim_take(at_core_claim *c, int cores, at_error *err) {
    enum { TRIES = 3, PAUSE_US = 2000 };
    int cpus[MOST_CORES], n = at_cpu_cores(cpus, MOST_CORES);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof before, &before)) CPU_ZERO(&before);
    AT_TRY(take_free(c, cores, cpus, n, &set, err));
    /* Who cleans holds each lock, and may take the folder away, for a moment. */
    for (int i = 1; i < TRIES && c->count < cores; i++) {
        for (int k = 0; k < c->count; k++) close(c->fds[k]);
        usleep(PAUSE_US);
        AT_TRY(take_free(c, cores, cpus, n, &set, err));
    }
    if (c->count == cores && !sched_setaffinity(0, sizeof set, &set)) return AT_OK;
    int got = c->count;
    at_core_claim_give(c);
    return at_fail(
        err, AT_E_USAGE,
        "%d core%s to measure on: of the %d that this agent may use %d %s not claimed by "
        "others",
        cores, at_plural(cores), n, got, got == 1 ? "is" : "are");
}

void at_core_claim_tell(const at_core_claim *c, const char *text) {
    if (!c->count) return;
    size_t len = strlen(text);
    if (pwrite(c->fds[0], text, len, 0) == (ssize_t)len) (void)!ftruncate(c->fds[0], (off_t)len);
}

/* Takes away what nobody holds; out, or NULL: what the others say. */
static void look_at_cores(at_text *out) {
    char name[64];
    int folder;
    if (open_folder(false, &folder, NULL) != AT_OK) return;
    for (int core = 0; core < MOST_CORES; core++) {
        char file[32], text[MOST_TEXT];
        int fd = open_core(folder, core, 0);
        if (fd < 0) continue;
        bool locked = !flock(fd, LOCK_EX | LOCK_NB), is_held = !locked && errno == EWOULDBLOCK;
        if (locked && is_core(fd)) unlinkat(folder, core_name(core, file), 0);
        ssize_t n = is_held && out ? pread(fd, text, sizeof text - 1, 0) : 0;
        close(fd);
        if (n <= 0) continue;
        text[n] = 0;
        at_text_addf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
    }
    close(folder);
    rmdir(folder_name(name)); /* once it is empty */
}

void at_core_claims_clean(void) { look_at_cores(NULL); }

void at_core_claims_read(at_text *out) { look_at_cores(out); }

/* A child between fork and exec has the lock, too, if nobody opens it. */
void at_core_claim_give(at_core_claim *c) {
    for (int i = 0; i < c->count; i++) flock(c->fds[i], LOCK_UN), close(c->fds[i]);
    if (c->count) at_core_claims_clean();
    if (c->count && CPU_COUNT(&before)) sched_setaffinity(0, sizeof before, &before);
    c->count = 0;
}
