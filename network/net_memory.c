/* network/net_memory.c: see net_memory.h. Blocks are placed one after another, each at the lowest
 * gap among those that live at the same time. Which comes first decides; a few orders are tried,
 * then random exchanges in the best of them, until the plan takes hardly more than the least
 * possible.
 *
 * A load waits for stores before it whose addresses have the same lower 12 bits, and rows of
 * pictures are mostly a multiple of 256 bytes long. So a block whose rows are read and a block that
 * is written meanwhile must not be a multiple of 256 bytes apart: blocks that neighbouring steps
 * begin to need lie in different quarters of such 256 bytes.
 */
#include "network/net_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EXCHANGES = 1500, MOST_RANDOM = 400 /* blocks; exchanges cost their square */ };

typedef struct plan {
    const at_net_block *blocks;
    int n;
    int *order;       /* in which they are placed */
    int64_t *offsets; /* of blocks */
    int *placed;      /* those placed so far, by offset */
} plan;

int64_t at_net_rounded(int64_t bytes) {
    return (bytes + AT_NET_ALIGNMENT - 1) / AT_NET_ALIGNMENT * AT_NET_ALIGNMENT;
}

void *at_net_room(int64_t bytes) {
    enum { LARGE_PAGE = 2 << 20 };
    bool large = bytes >= LARGE_PAGE;
    int64_t unit = large ? LARGE_PAGE : AT_NET_ALIGNMENT;
    size_t size = (size_t)((bytes + unit) / unit * unit);
    void *room = NULL;
    if (posix_memalign(&room, (size_t)unit, size)) room = NULL;
    AT_NEED(room);
    if (large) madvise(room, size, MADV_HUGEPAGE);
    return room;
}

int64_t at_net_least_bytes(const at_net_block *blocks, int n) {
    int64_t most = 0;
    for (int i = 0; i < n; i++) { /* a largest sum is found where some block begins */
        int64_t sum = 0;
        for (int k = 0; k < n; k++)
            if (blocks[k].first <= blocks[i].first && blocks[i].first <= blocks[k].last)
                sum += at_net_rounded(blocks[k].bytes);
        if (sum > most) most = sum;
    }
    return most;
}

static bool meet(const at_net_block *x, const at_net_block *y) {
    return x->first <= y->last && y->first <= x->last;
}

/* The first place for a block from there on. */
static int64_t next_place(const at_net_block *b, int64_t from) {
    enum { SMALL = 4096 /* bytes; a block of fewer lies anywhere */ };
    if (b->bytes < SMALL) return from;
    const int64_t quarter = AT_NET_ALIGNMENT * (3 * (int64_t)b->first & 3);
    return from + ((quarter - from) & (4 * AT_NET_ALIGNMENT - 1));
}

/* All blocks in this order; the bytes that they take, or `most` as soon as it is not less. */
static int64_t place(plan *p, int64_t most) {
    int64_t total = 0;
    for (int i = 0; i < p->n; i++) {
        const at_net_block *b = &p->blocks[p->order[i]];
        int64_t at = next_place(b, 0), bytes = at_net_rounded(b->bytes);
        for (int k = 0; k < i; k++) {
            const at_net_block *other = &p->blocks[p->placed[k]];
            int64_t begin = p->offsets[p->placed[k]];
            if (!meet(b, other)) continue;
            if (begin >= at + bytes) break;
            if (begin + at_net_rounded(other->bytes) > at)
                at = next_place(b, begin + at_net_rounded(other->bytes));
        }
        p->offsets[p->order[i]] = at;
        if (at + bytes > total) total = at + bytes;
        if (total >= most) return most;
        int k = i;
        for (; k > 0 && p->offsets[p->placed[k - 1]] > at; k--) p->placed[k] = p->placed[k - 1];
        p->placed[k] = p->order[i];
    }
    return total;
}

/* ---- orders ---------------------------------------------------------------------------------- */

typedef bool before_fn(const at_net_block *x, const at_net_block *y);

static bool larger(const at_net_block *x, const at_net_block *y) {
    return x->bytes != y->bytes ? x->bytes > y->bytes : x->first < y->first;
}
static bool longer(const at_net_block *x, const at_net_block *y) {
    int of_x = x->last - x->first, of_y = y->last - y->first;
    return of_x != of_y ? of_x > of_y : larger(x, y);
}
static bool earlier(const at_net_block *x, const at_net_block *y) {
    return x->first != y->first ? x->first < y->first : larger(x, y);
}
static bool fuller(const at_net_block *x, const at_net_block *y) {
    double of_x = (double)x->bytes * (x->last - x->first + 1);
    double of_y = (double)y->bytes * (y->last - y->first + 1);
    return of_x != of_y ? of_x > of_y : larger(x, y);
}

static void sort(plan *p, before_fn *before) {
    for (int i = 0; i < p->n; i++) {
        int k = i;
        for (; k > 0 && before(&p->blocks[i], &p->blocks[p->order[k - 1]]); k--)
            p->order[k] = p->order[k - 1];
        p->order[k] = i;
    }
}

/* How far up what is needed lies: where less memory is walked through, more of it is in caches when
 * it is written next. */
static double height(const plan *p) {
    double sum = 0;
    for (int i = 0; i < p->n; i++) sum += (double)p->blocks[i].bytes * (double)p->offsets[i];
    return sum;
}

/* Exchanges of any two in the order, kept where they take no more, or less than enough, and blocks
 * then lie no higher. */
static int64_t improve(plan *p, int *best, int64_t *best_offsets, int64_t total, int64_t enough) {
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    memcpy(p->offsets, best_offsets, sizeof *best_offsets * (size_t)p->n);
    double lowest = height(p);
    for (int i = 0; i < EXCHANGES; i++) {
        int x = (int)at_rng_below(&rng, (uint32_t)p->n),
            y = (int)at_rng_below(&rng, (uint32_t)p->n);
        memcpy(p->order, best, sizeof *best * (size_t)p->n);
        p->order[x] = best[y], p->order[y] = best[x];
        const int64_t most = total > enough ? total : enough, now = place(p, most + 1);
        if (now > most) continue;
        const double high = height(p);
        if (high > lowest && (now == total || now <= enough)) continue;
        memcpy(best, p->order, sizeof *best * (size_t)p->n);
        memcpy(best_offsets, p->offsets, sizeof *best_offsets * (size_t)p->n);
        total = now;
        lowest = high;
    }
    return total;
}

int64_t at_net_place_blocks(at_net_block *blocks, int n) {
    static before_fn *const orders[] = {larger, fuller, longer, earlier};
    at_arena *a = at_arena_new();
    plan p = {blocks, n, AT_NEW_ARRAY(a, int, n), AT_NEW_ARRAY(a, int64_t, n),
              AT_NEW_ARRAY(a, int, n)};
    int *best = AT_NEW_ARRAY(a, int, n);
    int64_t *offsets = AT_NEW_ARRAY(a, int64_t, n);
    int64_t total = INT64_MAX, least = at_net_least_bytes(blocks, n);
    for (size_t i = 0; i < sizeof orders / sizeof *orders && total > least; i++) {
        sort(&p, orders[i]);
        int64_t now = place(&p, total);
        if (now >= total) continue;
        total = now;
        memcpy(best, p.order, sizeof *best * (size_t)n);
        memcpy(offsets, p.offsets, sizeof *offsets * (size_t)n);
    }
    if (n > 1 && n <= MOST_RANDOM) total = improve(&p, best, offsets, total, least + least / 50);
    for (int i = 0; i < n; i++) blocks[i].offset = offsets[i];
    at_arena_free(a);
    return n ? total : 0;
}
