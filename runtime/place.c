/* runtime/place.c: memory for one job's kernel. What it may write is memory of the worker's own,
 * never the store, so that a faulty kernel spoils its own trial only. */
#include "runtime/inside.h"

#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#define PAGE 4096
#define HUGE_PAGE (2 << 20)
#define LINE 64
/* Slack holds the workspace's poison: what a kernel reads there ends as NaN in its output. */
#define SLACK_BYTES LINE

_Static_assert(sizeof(wchar_t) == 4, "wmemset fills 32-bit words");

void at_poison(void *p, int64_t size_bytes, uint32_t pattern) {
    wmemset(p, (wchar_t)pattern, (size_t)size_bytes / 4);
}

uint32_t at_large_word(int sign, int turn) {
    const bool is_negative = sign < 0 || (!sign && turn % 2);
    return AT_LARGE_WORK | (uint32_t)is_negative << 31;
}

/* Which words are negative where both are has no period: no stride meets one sign alone. */
void at_fill_large(void *p, int64_t size_bytes, int sign, int turn) {
    enum { WORDS = 64 };
    if (sign) {
        at_poison(p, size_bytes, at_large_word(sign, turn));
        return;
    }
    uint32_t block[2][WORDS];
    for (int k = 0; k < WORDS; k++) {
        block[0][k] = at_large_word(0, __builtin_parity((unsigned)k) + turn);
        block[1][k] = block[0][k] ^ 1u << 31;
    }
    for (int64_t at = 0; at < size_bytes / 4; at += WORDS) {
        const int64_t n = size_bytes / 4 - at < WORDS ? size_bytes / 4 - at : WORDS;
        memcpy((uint32_t *)p + at, block[__builtin_parityll((uint64_t)at)], (size_t)n * 4);
    }
}

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Rows of the place table: the buffers, then the workspace. */
static int64_t size_of(const at_job *job, int i) {
    /* Whole words, for the poison. */
    return round_up(i == job->num_bufs ? job->workspace_bytes : job->bufs[i].size_bytes, 4);
}
static bool is_input(const at_job *job, int i) {
    return i < job->num_bufs && job->bufs[i].role == AT_BUF_IN;
}

static bool is_output(const at_job *job, int i) {
    return i < job->num_bufs && job->bufs[i].role == AT_BUF_OUT;
}

static void fill_slack(const at_place *p) {
    at_poison(p->span, p->start - p->span, AT_POISON_WORK);
    char *end = p->start + p->size_bytes;
    at_poison(end, p->span_end - end, AT_POISON_WORK);
}

static at_job_end out_of_memory(double bytes, int64_t limit, char *error, size_t error_size) {
    const double gib = 1024.0 * 1024 * 1024;
    snprintf(
        error, error_size,
        "out of memory: buffers and workspace take %.1f GiB beside the data; the worker may use "
        "%.1f GiB in all",
        bytes / gib, (double)limit / gib);
    return AT_JOB_CRASHED;
}

/* Slack around all that is not an input, filled again. */
static void refill(const at_job *job, const at_place *places) {
    for (int i = 0; i <= job->num_bufs; i++)
        if (!is_input(job, i)) fill_slack(&places[i]);
}

/* ---- plain: two blocks, kept from job to job ------------------------------------------------- */

/* In large pages from its first byte on: fewer TLB misses, and the same places in the second-level
 * cache for every candidate and in every run (small pages lie anywhere in memory: 4 % from run to
 * run). Around it at least one large page of guard: strides are often longer than a small one. */
typedef struct block {
    char *map, *start;
    int64_t map_bytes, size_bytes;
} block;

static bool keep_block(block *b, int64_t need) {
    if (need <= b->size_bytes) return true;
    if (b->map) munmap(b->map, (size_t)b->map_bytes);
    int64_t size_bytes = round_up(need, HUGE_PAGE), map_bytes = size_bytes + 3 * HUGE_PAGE;
    *b = (block){0};
    char *map = mmap(NULL, (size_t)map_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    char *start = (char *)(uintptr_t)round_up((int64_t)(uintptr_t)map + HUGE_PAGE, HUGE_PAGE);
    if (mprotect(start, (size_t)size_bytes, PROT_READ | PROT_WRITE)) {
        munmap(map, (size_t)map_bytes);
        return false;
    }
    madvise(start, (size_t)size_bytes, MADV_HUGEPAGE);
    *b = (block){map, start, map_bytes, size_bytes};
    return true;
}

/* The place of one buffer with its slack, from *at on. */
static void take_place(const at_job *job, int i, char **at, at_place *p) {
    p->size_bytes = size_of(job, i);
    p->span = *at;
    p->start = *at + SLACK_BYTES;
    p->span_end = *at += round_up(p->size_bytes, LINE) + 2 * SLACK_BYTES;
}

/* Bytes of all inputs, or of all others, with slack; -1: more than most. */
static int64_t total_bytes(const at_job *job, bool inputs, int64_t most) {
    int64_t total = 0;
    for (int i = 0; i <= job->num_bufs; i++) {
        if (is_input(job, i) != inputs) continue;
        int64_t size = size_of(job, i);
        if (size > most - total) return -1;
        total += round_up(size, LINE) + 2 * SLACK_BYTES;
    }
    return total;
}

/* Copies of the inputs, read-only; made anew when they have changed. Where there is no memory for
 * them the kernel reads the store. */
static void place_inputs(const at_job *job, char *store, int64_t memory_bytes, at_place *places) {
    static block inputs;
    static int64_t version, offsets[AT_MAX_BUFS], sizes[AT_MAX_BUFS];
    int64_t need = total_bytes(job, true, memory_bytes);
    bool copies = need >= 0, same = job->data_version && job->data_version == version;
    if (copies && need > inputs.size_bytes) same = false, copies = keep_block(&inputs, need);
    char *at = inputs.start;
    for (int i = 0; i < job->num_bufs; i++) {
        if (!is_input(job, i)) continue;
        at_place *p = &places[i];
        if (copies) take_place(job, i, &at, p);
        else {
            p->size_bytes = size_of(job, i);
            p->start = p->span = store + job->bufs[i].offset;
            p->span_end = p->start + p->size_bytes;
        }
        same &= offsets[i] == job->bufs[i].offset && sizes[i] == p->size_bytes;
        offsets[i] = job->bufs[i].offset;
        sizes[i] = p->size_bytes;
    }
    version = copies ? job->data_version : 0;
    if (!copies || same || !inputs.start) return;
    mprotect(inputs.start, (size_t)inputs.size_bytes, PROT_READ | PROT_WRITE);
    for (int i = 0; i < job->num_bufs; i++) {
        if (!is_input(job, i)) continue;
        fill_slack(&places[i]);
        memcpy(places[i].start, store + job->bufs[i].offset, (size_t)places[i].size_bytes);
    }
    mprotect(inputs.start, (size_t)inputs.size_bytes, PROT_READ);
}

/* All but inputs; outputs first: then they lie where those of the anchor's job do, whatever is
 * packed. */
static void take_others(const at_job *job, char **at, at_place *places) {
    for (int outputs = 1; outputs >= 0; outputs--)
        for (int i = 0; i <= job->num_bufs; i++)
            if (!is_input(job, i) && is_output(job, i) == outputs)
                take_place(job, i, at, &places[i]);
}

static at_job_end place_plain(const at_job *job, char *store, int64_t memory_bytes,
                              at_place *places, char *error, size_t error_size) {
    static block others;
    int64_t total = total_bytes(job, false, memory_bytes);
    if (total < 0 || !keep_block(&others, total)) {
        double bytes = 0;
        for (int i = 0; i <= job->num_bufs; i++)
            if (!is_input(job, i)) bytes += (double)size_of(job, i);
        return out_of_memory(bytes, memory_bytes, error, error_size);
    }
    char *at = others.start;
    take_others(job, &at, places);
    refill(job, places);
    place_inputs(job, store, memory_bytes - total, places);
    return AT_JOB_RAN;
}

/* ---- the anchor's: a block of its own -------------------------------------------------------- */

static bool is_anchors_own(const at_job *job, int i) {
    return is_input(job, i) ? !job->data_version : !is_output(job, i);
}

/* As far from the block's start, and so in the caches' same sets, as what a job packs and works in:
 * a candidate that differs in nothing else is not timed in better or worse places. There is room
 * for outputs, which nobody touches; inputs of its own lie behind. */
bool at_place_anchor(const at_job *job, const char *store, int64_t memory_bytes, at_place *places) {
    static block own;
    int64_t total = total_bytes(job, false, memory_bytes), inputs = 0;
    if (total >= 0 && !job->data_version) inputs = total_bytes(job, true, memory_bytes - total);
    if (total < 0 || inputs < 0 || !keep_block(&own, total + inputs)) return false;
    char *at = own.start;
    take_others(job, &at, places);
    for (int i = 0; i <= job->num_bufs; i++) {
        if (is_input(job, i) && is_anchors_own(job, i)) {
            take_place(job, i, &at, &places[i]);
            memcpy(places[i].start, store + job->bufs[i].offset, (size_t)places[i].size_bytes);
        }
        if (!is_anchors_own(job, i)) places[i] = (at_place){0};
    }
    return true;
}

/* ---- flush: each buffer in pages of its own, directly against a guard ----------------------- */

#define GUARD (1 << 20) /* strides are often longer than a page */

static int64_t flush_bytes(int64_t size) { return round_up(size ? size : 1, PAGE); }

static char *map_guarded(int64_t bytes) {
    char *p = mmap(NULL, (size_t)(bytes + 2 * GUARD), PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!mprotect(p + GUARD, (size_t)bytes, PROT_READ | PROT_WRITE)) return p + GUARD;
    munmap(p, (size_t)(bytes + 2 * GUARD));
    return NULL;
}

static void unmap_guarded(const at_place *p) {
    munmap(p->span - GUARD, (size_t)(p->span_end - p->span + 2 * GUARD));
}

bool at_place_is_aligned(const at_job *job) {
    bool any = false;
    for (int i = 0; i < job->num_bufs; i++)
        any |= job->bufs[i].role != AT_BUF_PACKED && size_of(job, i) % LINE == 0;
    return any;
}

/* What an element takes, in whole words. */
static int64_t element_of(const at_job *job, int i) {
    return round_up(at_type_bytes(job->bufs[i].type), 4);
}

static at_job_end place_flush(const at_job *job, at_placing how, char *store, int64_t memory_bytes,
                              at_place *places, char *error, size_t error_size) {
    int64_t total = 0;
    for (int i = 0; i <= job->num_bufs; i++) {
        at_place *p = &places[i];
        int64_t size = size_of(job, i), bytes = 0;
        char *pages = NULL;
        /* Tensors are aligned to their elements only; what the worker allocates, to lines. */
        bool ours = i == job->num_bufs || job->bufs[i].role == AT_BUF_PACKED;
        const int64_t before = how == AT_PLACE_FLUSH_APART && !ours ? element_of(job, i) : 0;
        if (size <= memory_bytes - total) {
            bytes = flush_bytes(size + before);
            pages = map_guarded(bytes);
        }
        if (!pages) {
            int failed =
                out_of_memory((double)total + (double)size, memory_bytes, error, error_size);
            while (i--) unmap_guarded(&places[i]);
            return failed;
        }
        total += bytes;
        p->size_bytes = size;
        p->span = pages;
        p->span_end = pages + bytes;
        p->start = how == AT_PLACE_FLUSH_END ? pages + bytes - round_up(size, ours ? LINE : 4)
                                             : pages + before;
        fill_slack(p);
        if (!is_input(job, i)) continue;
        memcpy(p->start, store + job->bufs[i].offset, (size_t)size);
        mprotect(pages, (size_t)bytes, PROT_READ);
    }
    return AT_JOB_RAN;
}

/* ---- the three steps ------------------------------------------------------------------------ */

at_job_end at_place_job(const at_job *job, at_placing how, char *store, int64_t memory_bytes,
                        at_place *places, char *error, size_t error_size) {
    if (how == AT_PLACE_PLAIN)
        return place_plain(job, store, memory_bytes, places, error, error_size);
    return place_flush(job, how, store, memory_bytes, places, error, error_size);
}

static void turn(char *p, int64_t size_bytes, int64_t each) {
    char kept[8];
    for (int64_t i = 0, k = size_bytes - each; i < k; i += each, k -= each) {
        memcpy(kept, p + i, (size_t)each);
        memcpy(p + i, p + k, (size_t)each);
        memcpy(p + k, kept, (size_t)each);
    }
}

void at_place_turn(const at_job *job, const at_place *places, const char *store, bool back) {
    for (int i = 0; i < job->num_bufs; i++) {
        const at_place *p = &places[i];
        const at_type type = job->bufs[i].type;
        const size_t bytes = (size_t)(p->span_end - p->span);
        if (!is_input(job, i) || (at_type_of(type)->is_int && at_type_bytes(type) > 1)) continue;
        mprotect(p->span, bytes, PROT_READ | PROT_WRITE);
        if (back) memcpy(p->start, store + job->bufs[i].offset, (size_t)p->size_bytes);
        else turn(p->start, p->size_bytes, at_type_bytes(type));
        mprotect(p->span, bytes, PROT_READ);
    }
}

static bool slack_intact(const char *from, const char *to) {
    for (; from < to; from += 4) {
        uint32_t word;
        memcpy(&word, from, 4);
        if (word != AT_POISON_WORK) return false;
    }
    return true;
}

at_job_end at_place_check(const at_job *job, const at_place *places, char *error,
                          size_t error_size) {
    for (int i = 0; i <= job->num_bufs; i++) {
        const at_place *p = &places[i];
        bool before = slack_intact(p->span, p->start);
        if (before && slack_intact(p->start + p->size_bytes, p->span_end)) continue;
        snprintf(error, error_size, "out of bounds: wrote %s %s",
                 before ? "behind the end of" : "before",
                 i == job->num_bufs ? "workspace" : job->bufs[i].name);
        return AT_JOB_CRASHED;
    }
    return AT_JOB_RAN;
}

void at_place_release(const at_job *job, at_placing how, const at_place *places) {
    if (how == AT_PLACE_PLAIN) return;
    for (int i = 0; i <= job->num_bufs; i++) unmap_guarded(&places[i]);
}
