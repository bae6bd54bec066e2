/* runtime/tensors.c: the tensor store: one memory file that grows, mapped by the parent for writing
 * and by every worker for reading. Nothing is ever freed in it but the whole. */
#include "runtime/runtime_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGN 64       /* a cache line, and the widest vector */
#define SLACK 64       /* a vector load that begins inside may end outside */
#define STEP (1 << 20) /* growth of the file */

struct at_store {
    int fd, read_fd;
    char *map; /* NULL while empty */
    int64_t used, mapped;
};

int at_fd_above_stdio(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return high;
}

at_status at_store_new(at_store **out, at_error *err) {
    int fd = at_fd_above_stdio(memfd_create("autotune-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0) return at_fail(err, AT_E_BUG, "no memory file: %s", strerror(errno));
    /* Nothing can shorten the file under a worker that has it mapped. */
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    at_store *s = calloc(1, sizeof *s);
    if (!s) at_out_of_memory(sizeof *s);
    /* The same file for those who must not write to it, whatever they run. */
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    s->fd = fd;
    s->read_fd = at_fd_above_stdio(open(path, O_RDONLY | O_CLOEXEC));
    if (s->read_fd >= 0) return *out = s, AT_OK;
    at_status status = at_fail(err, AT_E_BUG, "no memory file: %s: %s", path, strerror(errno));
    close(fd);
    free(s);
    return status;
}

void at_store_free(at_store *s) {
    if (!s) return;
    if (s->map) munmap(s->map, (size_t)s->mapped);
    close(s->fd);
    close(s->read_fd);
    free(s);
}

at_status at_store_reserve(at_store *s, const char *what, int64_t size_bytes, int64_t *offset,
                           at_error *err) {
    const int64_t memory = at_cpu_facts()->memory_bytes;
    const double gib = 1024.0 * 1024 * 1024;
    if (size_bytes < 0)
        return at_fail(err, AT_E_USAGE, "tensor \"%s\": its size %lld is negative", what,
                       (long long)size_bytes);
    if (size_bytes > memory - s->used - ALIGN - SLACK - STEP) {
        return at_fail(err, AT_E_USAGE,
                       "with tensor \"%s\" the data need %.1f GiB, this machine has %.1f GiB", what,
                       ((double)s->used + (double)size_bytes) / gib, (double)memory / gib);
    }
    int64_t end = (s->used + size_bytes + SLACK + ALIGN - 1) / ALIGN * ALIGN;
    if (end > s->mapped) {
        int64_t bytes = (end + STEP - 1) / STEP * STEP;
        if (ftruncate(s->fd, bytes)) {
            return at_fail(err, AT_E_BUG, "%s: no memory file of %lld MiB: %s", what,
                           (long long)bytes >> 20, strerror(errno));
        }
        void *map = s->map
                        ? mremap(s->map, (size_t)s->mapped, (size_t)bytes, MREMAP_MAYMOVE)
                        : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (map == MAP_FAILED) {
            return at_fail(err, AT_E_BUG, "%s: cannot map %.1f GiB: %s", what, (double)bytes / gib,
                           strerror(errno));
        }
        /* Where the system allows it, large tensors lie in large pages. */
        madvise(map, (size_t)bytes, MADV_HUGEPAGE);
        s->map = map;
        s->mapped = bytes;
    }
    *offset = s->used;
    s->used = end;
    return AT_OK;
}

void *at_store_at(at_store *s, int64_t offset) {
    AT_ASSERT(offset >= 0 && offset < s->used);
    return s->map + offset;
}

int at_store_read_fd(const at_store *s) { return s->read_fd; }
int64_t at_store_bytes(const at_store *s) { return s->mapped; }
