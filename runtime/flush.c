/* runtime/flush.c: emptying the caches: a block that is larger than they are is read. */
#include "runtime/inside.h"

#include <string.h>
#include <sys/mman.h>

#define LINE 64

static struct {
    char *data;
    int64_t size_bytes;
} flusher;

bool at_flush_prepare(int64_t size_bytes) {
    if (size_bytes <= flusher.size_bytes) return true;
    if (flusher.data) munmap(flusher.data, (size_t)flusher.size_bytes);
    flusher.size_bytes = 0;
    flusher.data =
        mmap(NULL, (size_t)size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (flusher.data == MAP_FAILED) return flusher.data = NULL, false;
    madvise(flusher.data, (size_t)size_bytes, MADV_HUGEPAGE);
    /* Pages never written are all one and the same. */
    memset(flusher.data, 1, (size_t)size_bytes);
    flusher.size_bytes = size_bytes;
    return true;
}

void at_flush(int64_t size_bytes) {
    for (int64_t i = 0; i < size_bytes && i < flusher.size_bytes; i += LINE)
        (void)*(volatile char *)(flusher.data + i);
}
