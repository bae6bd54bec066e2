/* runtime/ahead.c: inside the worker, code of jobs that come later. Several are compiled in a row,
 * with the compiler in the caches, where each would be between two kernels' runs. What is kept is
 * what the arena held; put back there, it is what the job would have compiled. */
#include "runtime/inside.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (256 << 10) /* of one */

typedef struct kept {
    int64_t number; /* at_job.ahead; 0: none */
    at_code code;
    void *text;
    size_t size_bytes;
    int64_t compile_ns;
} kept;

static kept all[AT_AHEAD];

static kept *slot_of(int64_t number) { return &all[(uint64_t)number % AT_AHEAD]; }

static void drop(kept *k) {
    free(k->text);
    *k = (kept){0};
}

void at_ahead_execute(const at_job *job) {
    char error[256];
    int64_t begin_ns = at_now_ns();
    kept *k = slot_of(job->ahead);
    drop(k);
    at_crash_phase(AT_PHASE_COMPILE);
    if (at_tcc_load(job, AT_ARENA_JOB, &k->code, error, sizeof error) == AT_JOB_RAN) {
        const void *text = at_tcc_text(&k->size_bytes);
        if (k->size_bytes <= MOST_BYTES) k->text = malloc(k->size_bytes);
        if (k->text) {
            memcpy(k->text, text, k->size_bytes);
            k->number = job->ahead;
            k->compile_ns = at_now_ns() - begin_ns;
        }
    }
    at_crash_phase(AT_PHASE_IDLE);
}

bool at_ahead_load(const at_job *job, at_code *code, int64_t *compile_ns) {
    const kept *k = slot_of(job->ahead);
    if (!job->ahead || k->number != job->ahead || !at_tcc_put(job, k->text, k->size_bytes))
        return false;
    *code = k->code;
    *compile_ns = k->compile_ns;
    return true;
}

void at_ahead_forget(void) {
    for (int i = 0; i < AT_AHEAD; i++) drop(&all[i]);
}
