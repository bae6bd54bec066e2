/* engine/measure/top_results.c: which results go into a final. */
#include "engine/measure/top_results.h"

#include <math.h>
#include <stdlib.h>

#include "engine/measure/state_shift.h"

typedef struct entry {
    const at_record *record;
    double worth; /* the logarithm of its time, in the state that counts */
    int place;
} entry;

static int best_first(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->worth != b->worth) return a->worth < b->worth ? -1 : 1;
    return a->place - b->place;
}

int at_top_results(const at_record *const *results, int n, at_objective objective,
                   const at_record **out, int most) {
    entry *of = malloc(sizeof *of * (size_t)(n + 1));
    int count = 0;
    AT_NEED(of);
    for (int i = 0; i < n; i++) {
        const at_record *r = results[i];
        if (!at_record_is_candidate(r) || r->extra.same_as >= 0) continue;
        of[count++] = (entry){r, log(at_record_mean(r)), i};
    }
    qsort(of, (size_t)count, sizeof *of, best_first);
    at_state_shift all = {.arena = at_arena_new()};
    for (int i = 0; i < count; i++)
        at_state_shift_add(&all, of[i].record, objective); /* in order */
    const double shift = at_state_shift_of_others(&all);
    at_arena_free(all.arena);
    for (int i = 0; i < count && shift != 0; i++)
        if (!at_is_of_counting_state(of[i].record, objective)) of[i].worth += shift;
    if (shift != 0) qsort(of, (size_t)count, sizeof *of, best_first);
    if (count > most) count = most;
    for (int i = 0; i < count; i++) out[i] = of[i].record;
    free(of);
    return count;
}
