/* engine/top_results.c: which results go into a final. */
#include "engine/top_results.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 16 };

static bool has_counting(const at_record *r, at_objective objective) {
    const at_paired *p = &r->extra.pairs;
    int counting = 0;
    if (!p->num_ratios || !p->states || !*p->states) return true; /* states are not known */
    at_median_that_counts(p->ratios, p->states, p->num_ratios, objective, &counting);
    return counting > 0;
}

typedef struct entry {
    const at_record *record;
    double worth; /* the logarithm of its time, in the state that counts */
    bool is_other;
    int place;
} entry;

static int best_first(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->worth != b->worth) return a->worth < b->worth ? -1 : 1;
    return a->place - b->place;
}

/* Where the better quarter of those ends that are of another state, or are not; they are sorted.
 * *num: how many. */
static double quarter(const entry *of, int n, bool is_other, int *num) {
    int left;
    *num = 0;
    for (int i = 0; i < n; i++) *num += of[i].is_other == is_other;
    left = *num / 4;
    for (int i = 0; i < n; i++)
        if (of[i].is_other == is_other && !left--) return of[i].worth;
    return 0;
}

int at_top_results(const at_record *const *results, int n, at_objective objective,
                   const at_record **out, int most) {
    entry *of = malloc(sizeof *of * (size_t)(n + 1));
    int count = 0, counting, others;
    AT_NEED(of);
    for (int i = 0; i < n; i++) {
        const at_record *r = results[i];
        if (!at_record_is_candidate(r) || r->extra.same_as >= 0) continue;
        of[count++] = (entry){r, log(at_record_mean(r)), !has_counting(r, objective), i};
    }
    qsort(of, (size_t)count, sizeof *of, best_first);
    const double ours = quarter(of, count, false, &counting),
                 theirs = quarter(of, count, true, &others);
    if (counting >= FEW && others >= FEW) {
        for (int i = 0; i < count; i++)
            if (of[i].is_other) of[i].worth += ours - theirs;
        qsort(of, (size_t)count, sizeof *of, best_first);
    }
    if (count > most) count = most;
    for (int i = 0; i < count; i++) out[i] = of[i].record;
    free(of);
    return count;
}
