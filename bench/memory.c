/* bench/memory.c: memory of kernels and peers, from one block in large pages, as the tool's worker
 * has it (runtime/place.c): all contenders meet the same TLB. */
#include "bench/bench.h"

#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES (1LL << 30) /* touched only as far as used */
#define HUGE_PAGE (2LL << 20)
#define LINE 64

static char *block;
static int64_t used;

static char *map_block(void) {
    char *p = mmap(NULL, BLOCK_BYTES + HUGE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) AT_BUG("no memory for the bench");
    p += HUGE_PAGE - (int64_t)((uintptr_t)p % HUGE_PAGE);
    madvise(p, BLOCK_BYTES, MADV_HUGEPAGE);
    return p;
}

void *at_bench_alloc(int64_t size_bytes) {
    if (!block) block = map_block();
    /* Two lines between neighbours, so that sizes of whole pages do not start all of them alike. */
    int64_t need = (size_bytes + LINE - 1) / LINE * LINE + 2 * LINE;
    if (need > BLOCK_BYTES - used) AT_BUG("the bench needs more than its %lld bytes", BLOCK_BYTES);
    char *p = block + used;
    used += need;
    return memset(p, 0, (size_t)need);
}

void at_bench_alloc_block(void) { used = (used + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + LINE; }

void at_bench_alloc_reset(void) { used = 0; }
