/* runtime/bandwidth.c: the most bytes per second that this core moves right now: so many read and
 * so many written, again and again, one after the other. What fits into a cache is moved in that
 * cache, as that of a kernel is. Run in the worker, beside the kernels that are measured against
 * it. */
#include <stdlib.h>
#include <string.h>

#include "runtime/inside.h"

/* What is larger than every cache moves at the same pace. */
static const int64_t most_bytes = 256 << 20;

typedef struct moving {
    const char *from;
    char *to;
    size_t read_bytes, written_bytes;
    int64_t times;
    uint64_t sum; /* what is read must be of use */
} moving;

/* A vector that every CPU has. Sums in an array would be in memory, and take six times as long. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));

static uint64_t read_all(const char *from, size_t bytes) {
    pair a = {0}, b = a, c = a, d = a;
    for (size_t i = 0; i + 64 <= bytes; i += 64) {
        const pair *at = (const pair *)(from + i);
        a += at[0], b += at[1], c += at[2], d += at[3];
    }
    a += b + c + d;
    return a[0] + a[1];
}

/* A thread's share of both, as that of a kernel's outer loop. */
static void move_one(long i, int thread, void *context) {
    moving *m = context;
    (void)thread;
    size_t shared = m->read_bytes < m->written_bytes ? m->read_bytes : m->written_bytes;
    const char *from = m->from + (size_t)i * m->read_bytes;
    char *to = m->to + (size_t)i * m->written_bytes;
    uint64_t sum = 0;
    for (int64_t n = 0; n < m->times; n++) {
        memcpy(to, from, shared);
        if (m->read_bytes > shared) sum += read_all(from + shared, m->read_bytes - shared);
        if (m->written_bytes > shared)
            memset(to + shared, (int)(n & 127), m->written_bytes - shared);
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory"); /* each time anew */
    }
    if (!i) m->sum = sum;
}

static int64_t move_all(const at_par *par, moving *m) {
    int64_t start = at_now_ns();
    par->parallel_for(move_one, par->threads, m);
    return at_now_ns() - start;
}

double at_bandwidth_gbytes(int64_t read_bytes, int64_t written_bytes, int threads) {
    const int64_t chunk_ns = 1000 * 1000; /* as for the peak */
    const int chunks = 5;
    at_par par;
    at_par_setup(&par, threads);
    double scale = (double)(read_bytes + written_bytes) / (double)most_bytes;
    if (scale > 1) {
        read_bytes = (int64_t)((double)read_bytes / scale);
        written_bytes = (int64_t)((double)written_bytes / scale);
    }
    moving m = {.read_bytes = (size_t)read_bytes / (size_t)par.threads & ~(size_t)63,
                .written_bytes = (size_t)written_bytes / (size_t)par.threads & ~(size_t)63,
                .times = 1};
    if (!m.read_bytes) m.read_bytes = 64;
    if (!m.written_bytes) m.written_bytes = 64;
    size_t in = m.read_bytes * (size_t)par.threads, out = m.written_bytes * (size_t)par.threads;
    char *from = aligned_alloc(64, in), *to = aligned_alloc(64, out);
    if (!from || !to) {
        free(from), free(to);
        return 0; /* not known */
    }
    memset(from, 1, in);
    memset(to, 1, out);
    m.from = from, m.to = to;
    int64_t ns = 0;
    for (;; m.times *= 2) {
        ns = move_all(&par, &m);
        if (ns >= chunk_ns) break;
    }
    for (int i = 0; i < chunks; i++) {
        int64_t again = move_all(&par, &m);
        if (again < ns) ns = again;
    }
    free(from);
    free(to);
    return (double)m.times * (double)(in + out) / (double)ns;
}
