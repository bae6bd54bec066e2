/* runtime/ring.c: copies of what a kernel has packed, so many that they do not fit a cache: each
 * run takes the next one, and finds its weights where a network's are, while all else stays hot. */
#include "runtime/inside.h"

#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

static int64_t rounded(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

void at_ring_free(at_ring *g) {
    if (g->data) munmap(g->data, (size_t)g->size_bytes);
    *g = (at_ring){0};
}

/* Memory for so many bytes; what there is already does. */
static bool reserve(at_ring *g, int64_t bytes) {
    if (bytes <= g->size_bytes) return true;
    at_ring_free(g);
    void *data =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return false;
    madvise(data, (size_t)bytes, MADV_HUGEPAGE);
    g->data = data;
    g->size_bytes = bytes;
    return true;
}

bool at_ring_make(at_ring *g, const at_job *job, at_run *r) {
    int64_t turn = 0;
    r->ring = NULL;
    g->num = 0;
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_PACKED) turn += rounded(job->bufs[i].size_bytes);
    if (!turn || turn >= job->ring_bytes)
        return true; /* nothing to walk; what is walked is as large */
    int64_t copies = (job->ring_bytes + turn - 1) / turn, offset = 0;
    if (!reserve(g, copies * turn)) return false;
    g->copies = copies;
    g->turn_bytes = turn;
    g->at = 0;
    for (int i = 0; i < job->num_bufs; i++) {
        if (job->bufs[i].role != AT_BUF_PACKED) continue;
        for (int64_t c = 0; c < g->copies; c++)
            memcpy(g->data + c * turn + offset, r->buf[i], (size_t)job->bufs[i].size_bytes);
        g->buf[g->num] = i;
        g->offset[g->num++] = offset;
        offset += rounded(job->bufs[i].size_bytes);
    }
    r->ring = g;
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
