/* bench/memory.c: memory of kernels and peers, from one block in large pages, as the tool's worker
 * has it (runtime/place.c): all contenders meet the same TLB. */
#include "bench/bench.h"

#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES (1LL << 30) /* touched only as far as used */
#define HUGE_PAGE (2LL << 20)
#define LINE 64
#define MOST_MOVED_BYTES (256LL << 20)

static char *block;
static int64_t used;

/* Pages that the block had before; kept, since the system would give them out again. */
static struct {
    char *at[AT_BENCH_PLACES];
    int64_t size_bytes[AT_BENCH_PLACES];
    int len;
} former;

/* In large pages, from the beginning of one on. */
static char *map(int64_t size_bytes) {
    char *p = mmap(NULL, (size_t)(size_bytes + HUGE_PAGE), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) AT_BUG("no memory for the bench");
    int64_t ahead = HUGE_PAGE - (int64_t)((uintptr_t)p % HUGE_PAGE);
    munmap(p, (size_t)ahead);
    if (ahead < HUGE_PAGE) munmap(p + ahead + size_bytes, (size_t)(HUGE_PAGE - ahead));
    madvise(p + ahead, (size_t)size_bytes, MADV_HUGEPAGE);
    return p + ahead;
}

/* Page by page, since a range that was moved before is a mapping of its own. */
static void move(char *from, char *to, int64_t size_bytes) {
    for (int64_t i = 0; i < size_bytes; i += HUGE_PAGE)
        if (mremap(from + i, HUGE_PAGE, HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + i) != to + i)
            AT_BUG("memory of the bench cannot be moved");
}

void *at_bench_alloc(int64_t size_bytes) {
    if (!block) block = map(BLOCK_BYTES);
    /* Two lines between neighbours, so that sizes of whole pages do not start all of them alike. */
    int64_t need = (size_bytes + LINE - 1) / LINE * LINE + 2 * LINE;
    if (need > BLOCK_BYTES - used) AT_BUG("the bench needs more than its %lld bytes", BLOCK_BYTES);
    char *p = block + used;
    used += need;
    return memset(p, 0, (size_t)need);
}

void at_bench_alloc_block(void) { used = (used + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + LINE; }

void at_bench_alloc_move(void) {
    int64_t size = (used + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (!size || size > MOST_MOVED_BYTES || former.len == AT_BENCH_PLACES) return;
    char *old = map(size), *new = map(size);
    memcpy(new, block, (size_t)used);
    move(block, old, size);
    move(new, block, size);
    former.at[former.len] = old;
    former.size_bytes[former.len++] = size;
}

void at_bench_alloc_reset(void) {
    used = 0;
    while (former.len) {
        former.len--;
        munmap(former.at[former.len], (size_t)former.size_bytes[former.len]);
    }
}
