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

static struct {
    const at_job *job;
    const at_place *places; /* of the job's buffers, and of the workspace behind them */
    char *before, *first;   /* what they held before the loop, and behind the first group's turns */
    int64_t total_bytes, left_bytes;
    int64_t late_ns, end_ns; /* end_ns: of the thread's own time, which does not go on without it */
    int at;                  /* place of a conflict, -1: there is none */
    int64_t offset;
} apart;

static bool is_written(int i) {
    return i == apart.job->num_bufs || apart.job->bufs[i].role == AT_BUF_OUT;
}

/* Copies all that is written, and back. */
static void copy(char *kept, bool back) {
    for (int i = 0; i <= apart.job->num_bufs; i++) {
        const at_place *p = &apart.places[i];
        if (!is_written(i)) continue;
        memcpy(back ? p->start : kept, back ? kept : p->start, (size_t)p->size_bytes);
        kept += p->size_bytes;
    }
}

/* What the second group has left alone is the first one's. */
static void merge(void) {
    const char *before = apart.before, *first = apart.first;
    for (int i = 0; i <= apart.job->num_bufs; i++) {
        const at_place *p = &apart.places[i];
        char *now = p->start;
        if (!is_written(i)) continue;
        for (int64_t k = 0; k < p->size_bytes; k++) {
            if (first[k] == before[k]) continue;
            if (now[k] != before[k] && now[k] != first[k] && apart.at < 0)
                apart.at = i, apart.offset = k;
            if (now[k] == before[k]) now[k] = first[k];
        }
        before += p->size_bytes, first += p->size_bytes;
    }
}

static bool can_split(void) {
    apart.left_bytes -= apart.total_bytes;
    return apart.left_bytes >= 0 && at_now_ns() < apart.late_ns &&
           at_machine_clock.thread_ns() < apart.end_ns;
}

static void run_split(void (*body)(long i, int thread, void *context), long n, void *context,
                      int bit) {
    for (int group = 0; group < GROUPS; group++) {
        if (bit || group) copy(apart.before, true);
        for (long i = n; i-- > 0;)
            if ((i >> bit & 1) == group) body(i, group, context);
        if (!group) copy(apart.first, false);
    }
    merge();
}

static void apart_for(void (*body)(long i, int thread, void *context), long n, void *context) {
    int bit = 0;
    for (; n > 1 && (n - 1) >> bit && can_split(); bit++) {
        if (!bit) copy(apart.before, false);
        run_split(body, n, context, bit);
    }
    for (long i = n; i-- > 0 && !bit;) body(i, GROUPS - 1, context);
}

bool at_par_apart_begin(at_par *par, const at_job *job, const at_place *places, int64_t late_ns) {
    enum { MOST_NS = 20000000 };
    const int64_t most_bytes = INT64_C(1) << (job->paranoid ? 36 : 26);
    apart.job = job;
    apart.places = places;
    apart.total_bytes = 0;
    apart.left_bytes = most_bytes;
    apart.late_ns = late_ns ? late_ns : INT64_MAX;
    apart.end_ns = job->paranoid ? INT64_MAX : at_machine_clock.thread_ns() + MOST_NS;
    apart.at = -1;
    for (int i = 0; i <= job->num_bufs; i++)
        if (is_written(i)) apart.total_bytes += places[i].size_bytes;
    if (apart.total_bytes > most_bytes || par->threads < GROUPS) return false;
    apart.before = malloc(2 * (size_t)apart.total_bytes + 1);
    if (!apart.before) return false;
    apart.first = apart.before + apart.total_bytes;
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
