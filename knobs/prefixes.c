/* knobs/prefixes.c: points that keep conditions (require.c), found without a look at the points
 * that do not: knobs get their values one after the other, and a beginning that no condition can
 * hold behind is left at once. Every search is bounded. */
#include "knobs/knobs_int.h"

#include <limits.h>
#include <stdlib.h>

enum {
    MOST_WORK = 60000000, /* of at_domains: a third of a second */
    MEND_WORK = 200000,   /* of one point */
    NEAR_WORK = 20000,    /* of one that keeps a value: there are others */
    PROBES = 2000,        /* of how many points there are */
    MOST_TRIED = 64       /* values of a knob, in one of them */
};

typedef struct search {
    at_domains d;
    const int *order; /* knobs, in which they get values */
    int num;
    const int64_t *from; /* [knobs] where each begins; NULL: at 0 */
    bool around;         /* and goes on behind its last value; else larger points are meant */
    int64_t most;        /* work */
} search;

static search begin(const at_space *s, const int *order, int num, int64_t most) {
    search x = {.order = order, .num = num, .most = most};
    at_domains_begin(&x.d, s);
    return x;
}

static bool reads(const at_requirement *q, int knob) {
    for (int i = 0; i < q->knobs.len; i++)
        if (q->knobs.data[i] == knob) return true;
    return false;
}

/* The next point, at or behind `from`. tight: all before are as in `from`. */
static bool descend(search *x, int at, bool tight) {
    if (at == x->num) return true;
    const int knob = x->order[at];
    const int64_t count = x->d.space->knobs[knob]->count, removed = x->d.num_removed;
    int64_t first = x->from && (tight || x->around) ? x->from[knob] : 0;
    int64_t steps = x->around ? count : count - first;
    for (int64_t i = 0; i < steps && x->d.work < x->most; i++) {
        if (!x->d.live[knob][(first + i) % count]) continue;
        if (at_domains_set(&x->d, knob, (first + i) % count) && descend(x, at + 1, tight && i == 0))
            return true;
        at_domains_undo(&x->d, knob, removed);
    }
    return false;
}

static int *all_knobs(const at_space *s) {
    int *order = malloc(sizeof *order * (size_t)(s->num_knobs + 1));
    AT_NEED(order);
    for (int i = 0; i < s->num_knobs; i++) order[i] = s->num_knobs - 1 - i;
    return order;
}

/* ---- one point ------------------------------------------------------------------------------- */

int64_t at_requires_next(const at_space *s, int64_t from) {
    int64_t found = -1;
    if (from >= s->range) return -1;
    int *order = all_knobs(s);
    int64_t *first = malloc(sizeof *first * (size_t)(s->num_knobs + 1));
    AT_NEED(first);
    search x = begin(s, order, s->num_knobs, 10 * MOST_WORK);
    at_space_digits(s, from, first);
    x.from = first;
    if (descend(&x, 0, true)) found = at_space_index(s, x.d.digits);
    at_domains_end(&x.d);
    free(first);
    free(order);
    return found;
}

/* How many of a condition's knobs are not among the first n; 0 where none is among them. */
static int num_left(const at_requirement *q, const int *order, int n) {
    int in = 0;
    for (int i = 0; i < n; i++) in += reads(q, order[i]);
    return in ? q->knobs.len - in : 0;
}

/* An order in which conditions come to an end early: behind the knob `first` those of the condition
 * of which the fewest are left. */
static int *near_knobs(const at_space *s, int first) {
    int *order = malloc(sizeof *order * (size_t)(s->num_knobs + 1)), n = 0;
    bool *taken = calloc((size_t)s->num_knobs + 1, sizeof *taken);
    AT_NEED(order && taken);
    for (int next = first; n < s->num_knobs;) {
        order[n++] = next;
        taken[next] = true;
        const at_requirement *best = NULL;
        int least = INT_MAX;
        for (int c = 0; c < s->requires.len; c++) {
            int left = num_left(&s->requires.data[c], order, n);
            if (left && left < least) best = &s->requires.data[c], least = left;
        }
        next = s->num_knobs - 1;
        for (int i = 0; best && i < best->knobs.len; i++)
            if (!taken[best->knobs.data[i]]) next = best->knobs.data[i];
        while (next > 0 && taken[next]) next--;
    }
    free(taken);
    return order;
}

/* The knobs keep their values, as far as can be; `first` does. may_change: it need not. */
static int64_t mended(const at_space *s, int64_t index, int first, bool may_change) {
    int64_t found = -1;
    int *order = near_knobs(s, first);
    int64_t *own = malloc(sizeof *own * (size_t)(s->num_knobs + 1));
    AT_NEED(own);
    search x = begin(s, order, s->num_knobs, may_change ? MEND_WORK : NEAR_WORK);
    at_space_digits(s, index, own);
    x.from = own;
    x.around = true;
    if (may_change ? descend(&x, 0, false)
                   : at_domains_set(&x.d, first, own[first]) && descend(&x, 1, false))
        found = at_space_index(s, x.d.digits);
    at_domains_end(&x.d);
    free(own);
    free(order);
    return found;
}

bool at_space_mends(const at_space *s) { return s->requires.len && !s->only; }

int64_t at_space_mend(const at_space *s, int64_t index) {
    if (at_requires_keep(s, index)) return index;
    int64_t found = mended(s, index, s->num_knobs - 1, true);
    return found < 0 ? index : found;
}

int64_t at_space_mend_but(const at_space *s, int64_t index, int kept) {
    if (!s->requires.len) return index;
    int64_t found = mended(s, index, kept, false);
    return found < 0 ? index : found;
}

/* ---- how many -------------------------------------------------------------------------------- */

typedef struct found {
    int64_t *list; /* NULL: they are only counted */
    int64_t num, most;
} found;

static bool gather(search *x, int at, found *f) {
    at_domains *d = &x->d;
    if (at == x->num) {
        if (f->num == f->most) return false;
        if (f->list) f->list[f->num] = at_space_index(d->space, d->digits);
        f->num++;
        return true;
    }
    const int knob = x->order[at];
    const int64_t count = d->space->knobs[knob]->count, removed = d->num_removed;
    if (at == x->num - 1 && !f->list) { /* nothing is left to be asked */
        f->num += d->left[knob];
        return true;
    }
    for (int64_t v = 0; v < count; v++) {
        if (!d->live[knob][v]) continue;
        if (d->work >= x->most) return false;
        if (at_domains_set(d, knob, v) && !gather(x, at + 1, f)) return false;
        at_domains_undo(d, knob, removed);
    }
    return true;
}

/* The knobs that conditions join to the first knob not taken; at least one. */
static int join_knobs(const at_space *s, bool *taken, int *order) {
    int n = 0;
    for (int k = s->num_knobs - 1; k >= 0 && !n; k--)
        if (!taken[k]) order[n++] = k, taken[k] = true;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < s->requires.len; c++) {
            const at_requirement *q = &s->requires.data[c];
            if (!reads(q, order[i])) continue;
            for (int m = 0; m < q->knobs.len; m++) {
                int k = q->knobs.data[m];
                if (!taken[k]) order[n++] = k, taken[k] = true;
            }
        }
    return n;
}

/* Sets the knob to one of its values that lead on, by chance; among how many of them. */
static double step(search *x, int knob, at_rng *rng) {
    at_domains *d = &x->d;
    const int64_t count = d->space->knobs[knob]->count, removed = d->num_removed;
    const int64_t tried = count < MOST_TRIED ? count : MOST_TRIED;
    int64_t ways = 0, chosen = -1;
    for (int64_t i = 0; i < tried; i++) {
        int64_t v = count == tried ? i : (int64_t)at_rng_below(rng, (uint64_t)count);
        if (d->live[knob][v] && at_domains_set(d, knob, v) &&
            at_rng_below(rng, (uint64_t)++ways) == 0)
            chosen = v;
        at_domains_undo(d, knob, removed);
    }
    if (chosen >= 0) at_domains_set(d, knob, chosen);
    return (double)ways / (double)tried * (double)count;
}

/* Knuth: the mean over random ways down of the product of how many ways lead on. */
static double estimate(search *x) {
    at_rng rng;
    double sum = 0;
    int probe = 0;
    at_rng_seed(&rng, 1, 1);
    for (; probe < PROBES && (!probe || x->d.work < x->most); probe++) {
        double product = 1;
        int at = 0;
        for (; at < x->num - 1 && product > 0; at++) product *= step(x, x->order[at], &rng);
        if (product > 0) product *= (double)x->d.left[x->order[at]];
        while (at-- > 0) at_domains_undo(&x->d, x->order[at], 0);
        sum += product;
    }
    return sum / probe;
}

int64_t at_requires_count(const at_space *s, bool *exact) {
    bool *taken = calloc((size_t)s->num_knobs + 1, sizeof *taken);
    int *order = malloc(sizeof *order * (size_t)(s->num_knobs + 1));
    AT_NEED(taken && order);
    double product = 1;
    int64_t whole = 1;
    *exact = true;
    for (int done = 0; done < s->num_knobs;) {
        int n = join_knobs(s, taken, order);
        search x = begin(s, order, n, MOST_WORK / s->num_knobs);
        found f = {.most = INT64_MAX};
        bool all = gather(&x, 0, &f);
        at_domains_end(&x.d);
        if (!all) {
            x = begin(s, order, n, MOST_WORK / s->num_knobs);
            product *= estimate(&x);
            at_domains_end(&x.d);
        } else product *= (double)f.num;
        *exact &= all && at_mul64(whole, f.num, &whole);
        done += n;
    }
    free(taken);
    free(order);
    if (*exact) return whole;
    return product >= (double)s->range ? s->range : product < 1 ? 1 : (int64_t)product;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool at_requires_list(const at_space *s, int64_t *list, int64_t most, int64_t *num) {
    int *order = near_knobs(s, s->num_knobs - 1);
    search x = begin(s, order, s->num_knobs, MOST_WORK);
    found f = {list, 0, most};
    bool all = gather(&x, 0, &f);
    *num = f.num;
    at_domains_end(&x.d);
    free(order);
    return all;
}
