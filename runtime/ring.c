/* runtime/ring.c: copies of what a kernel has packed, so many that they do not fit a cache: each
 * run takes the next one, and finds its weights where a network's are, while all else stays hot. */
#include "runtime/arch.h"
#include "runtime/inside.h"

#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

static int64_t rounded(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

/* Memory for so many bytes; what there is already does. */
static bool reserve(at_ring *g, int64_t bytes) {
    if (bytes <= g->size_bytes) return true;
    if (g->data) munmap(g->data, (size_t)g->size_bytes);
    g->data = NULL;
    g->size_bytes = 0;
    void *data =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    madvise(data, (size_t)bytes, MADV_HUGEPAGE);
    g->data = data;
    g->size_bytes = bytes;
    return true;
}

/* Are what the kernel has packed and where its copies lie as they were when these were made? */
static bool is_made(const at_ring *g, const at_ring *was, const at_run *r) {
    bool same = g->num == was->num && g->copies == was->copies && g->turn_bytes == was->turn_bytes;
    for (int i = 0; i < g->num && same; i++)
        same = g->buf[i] == was->buf[i] && g->offset[i] == was->offset[i] &&
               g->bytes[i] == was->bytes[i] &&
               !memcmp(g->data + g->offset[i], r->buf[g->buf[i]], (size_t)g->bytes[i]);
    return same;
}

bool at_ring_make(at_ring *g, const at_job *job, at_run *r) {
    const at_ring was = *g;
    r->ring = NULL;
    g->num = 0;
    g->turn_bytes = 0;
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        if (b->role != AT_BUF_PACKED) continue;
        g->buf[g->num] = i;
        g->bytes[g->num] = b->size_bytes;
        g->offset[g->num++] = g->turn_bytes;
        g->turn_bytes += rounded(b->size_bytes);
    }
    const int64_t turn = g->turn_bytes;
    if (!turn || turn >= job->ring_bytes)
        return true; /* nothing to walk; what is walked is as large */
    g->copies = (job->ring_bytes + turn - 1) / turn;
    g->at = 0;
    r->ring = g;
    if (was.data && is_made(g, &was, r)) return true;
    /* Kernels of other sizes find the same memory: the copies end before twice that. */
    if (!reserve(g, 2 * job->ring_bytes)) return false;
    for (int64_t c = 0; c < g->copies; c++)
        for (int i = 0; i < g->num; i++)
            memcpy(g->data + c * turn + g->offset[i], r->buf[g->buf[i]], (size_t)g->bytes[i]);
    return true;
}

int at_run_next(at_run *r) {
    at_ring *g = r->ring;
    if (g) {
        char *turn = g->data + g->at * g->turn_bytes;
        for (int i = 0; i < g->num; i++) r->buf[g->buf[i]] = turn + g->offset[i];
        g->at = g->at + 1 < g->copies ? g->at + 1 : 0;
    }
    if (r->registers) at_arch_fill_registers(r->registers);
    return r->entry(r->buf, r->workspace, &r->par);
}
