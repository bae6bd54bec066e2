/* runtime/par_apart.c: the parallel loop of a check run: turns in two groups, each of which starts
 * from what was there before the loop. What one turn needs of another, or both write, is found
 * every time, where with real threads it is a matter of luck.
 *
 * The groups of one split are the turns with a bit of their number, and those without; with a split
 * for each bit any two turns are apart once. */
#include "runtime/par_apart.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 2 };
enum { BLOCK = 4096 };       /* bytes that are looked at, kept and put back together */
enum { MOST_NS = 20000000 }; /* in which loops are split by every bit */

static struct {
    const at_job *job;
    const at_place *places; /* of the job's buffers, and of the workspace behind them */
    char *before, *first;   /* what they held before the loop, and blocks behind the first group */
    bool *changed;          /* [block] by the first group */
    int64_t late_ns;
    int64_t begin_ns; /* of the first loop, in the thread's own time: what comes before it, as
                       * filling a large workspace, is none of its time; -1: no loop has begun */
    int64_t once_ns;  /* so much longer loops are split once */
    int at;           /* place of a conflict, -1: there is none */
    int64_t offset;
} apart;

static bool is_written(int i) {
    return i == apart.job->num_bufs || apart.job->bufs[i].role == AT_BUF_OUT;
}

/* A part of what is written. */
typedef struct part {
    int place;
    int64_t offset; /* in the place */
    char *now, *before, *first;
    bool *changed;
    size_t bytes;
} part;

static void for_parts(void (*visit)(const part *, bool), bool how) {
    part p = {.before = apart.before, .first = apart.first, .changed = apart.changed};
    for (p.place = 0; p.place <= apart.job->num_bufs; p.place++) {
        const at_place *of = &apart.places[p.place];
        for (p.offset = 0; is_written(p.place) && p.offset < of->size_bytes; p.offset += BLOCK) {
            const int64_t left = of->size_bytes - p.offset;
            p.now = of->start + p.offset;
            p.bytes = (size_t)(left < BLOCK ? left : BLOCK);
            visit(&p, how);
            p.before += p.bytes, p.first += p.bytes, p.changed++;
        }
    }
}

static void keep(const part *p, bool unused) {
    (void)unused;
    memcpy(p->before, p->now, p->bytes);
}

/* What the first group has changed is kept, and what it began with put back. */
static void put_back(const part *p, bool unused) {
    (void)unused;
    *p->changed = memcmp(p->now, p->before, p->bytes);
    if (!*p->changed) return;
    memcpy(p->first, p->now, p->bytes);
    memcpy(p->now, p->before, p->bytes);
}

static uint64_t word_at(const char *p, size_t bytes) {
    uint64_t x = 0;
    memcpy(&x, p, bytes);
    return x;
}

/* What the second group has left alone is the first one's. */
static void join(const part *p) {
    for (size_t k = 0, n; k < p->bytes; k += n) {
        n = p->bytes - k < sizeof(uint64_t) ? p->bytes - k : sizeof(uint64_t);
        const char *before = p->before + k, *first = p->first + k;
        char *now = p->now + k;
        const uint64_t was = word_at(before, n), is = word_at(now, n);
        if (word_at(first, n) == was) continue;
        if (is == was) memcpy(now, first, n);
        for (size_t i = 0; i < n && is != was; i++) {
            if (first[i] == before[i]) continue;
            if (now[i] != before[i] && now[i] != first[i] && apart.at < 0)
                apart.at = p->place, apart.offset = p->offset + (int64_t)(k + i);
            if (now[i] == before[i]) now[i] = first[i];
        }
    }
}

/* One more split follows, which begins with what was there before the loop; or none does. */
static void merge(const part *p, bool follows) {
    const bool also = memcmp(p->now, p->before, p->bytes);
    if (*p->changed && also) join(p);
    else if (*p->changed) memcpy(p->now, p->first, p->bytes);
    if (follows && (*p->changed || also)) memcpy(p->now, p->before, p->bytes);
}

static bool can_split(int bit) {
    const int64_t now_ns = at_machine_clock.thread_ns();
    if (apart.begin_ns < 0) apart.begin_ns = now_ns;
    return at_now_ns() < apart.late_ns &&
           (apart.job->paranoid || now_ns - apart.begin_ns < MOST_NS + (bit ? 0 : apart.once_ns));
}

static void apart_for(void (*body)(long i, int thread, void *context), long n, void *context) {
    bool splits = n > 1 && can_split(0);
    if (splits) for_parts(keep, false);
    else
        for (long i = n; i-- > 0;) body(i, GROUPS - 1, context);
    for (int bit = 0; splits; bit++) {
        for (int group = 0; group < GROUPS; group++) {
            for (long i = n; i-- > 0;)
                if ((i >> bit & 1) == group) body(i, group, context);
            if (!group) for_parts(put_back, false);
        }
        splits = (n - 1) >> (bit + 1) && can_split(bit + 1);
        for_parts(merge, splits);
    }
}

bool at_par_apart_begin(at_par *par, const at_job *job, const at_place *places, int64_t run_ns,
                        int64_t late_ns) {
    size_t bytes = 0, blocks = 0;
    apart.job = job;
    apart.places = places;
    apart.late_ns = late_ns ? late_ns : INT64_MAX;
    apart.begin_ns = -1;
    apart.once_ns = par->threads * run_ns;
    apart.at = -1;
    for (int i = 0; i <= job->num_bufs; i++) {
        if (!is_written(i)) continue;
        bytes += (size_t)places[i].size_bytes;
        blocks += (size_t)(places[i].size_bytes + BLOCK - 1) / BLOCK;
    }
    if (par->threads < GROUPS) return false;
    apart.before = malloc(2 * bytes + blocks + 1);
    if (!apart.before) return false;
    apart.first = apart.before + bytes;
    apart.changed = (bool *)(apart.first + bytes);
    par->parallel_for = apart_for;
    return true;
}

bool at_par_apart_end(char *error, size_t error_size) {
    free(apart.before);
    if (apart.at < 0) return true;
    const bool is_work = apart.at == apart.job->num_bufs;
    snprintf(error, error_size,
             "two turns of a parallel loop write different values to one place: byte %lld of %s",
             (long long)apart.offset, is_work ? "the workspace" : apart.job->bufs[apart.at].name);
    return false;
}
