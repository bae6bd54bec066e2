/* knobs/prefixes.c: points that keep conditions (require.c), found without a look at the points
 * that do not: knobs get their values one after the other, and a beginning that no condition can
 * hold behind is left at once. Every search is bounded. */
#include "knobs/knobs_int.h"

#include <limits.h>
#include <stdlib.h>

enum {
    MOST_WORK = 4000000, /* conditions worked out: a third of a second */
    MEND_WORK = 20000,   /* of one point */
    MOST_SCANNED = 4096, /* values of the only knob that a condition leaves open */
    PROBES = 2000        /* of how many points there are */
};

typedef struct search {
    const at_space *space;
    const int *order; /* knobs, in which they get values */
    int num;
    const int64_t *from; /* [knobs] where each begins; NULL: at 0 */
    bool around;         /* and goes on behind its last value; else larger points are meant */
    int64_t *digits;     /* [knobs] -1: open */
    int64_t work, most;
} search;

static search begin(const at_space *s, const int *order, int num, int64_t most) {
    search x = {.space = s, .order = order, .num = num, .most = most};
    x.digits = malloc(sizeof *x.digits * (size_t)(s->num_knobs + 1));
    AT_NEED(x.digits);
    for (int i = 0; i < s->num_knobs; i++) x.digits[i] = -1;
    return x;
}

/* Can the condition still hold? Where one knob is open, its values are tried. */
static bool can_hold(search *x, const at_requirement *q) {
    int open = -1, num_open = 0;
    for (int i = 0; i < q->knobs.len; i++)
        if (x->digits[q->knobs.data[i]] < 0) open = q->knobs.data[i], num_open++;
    int64_t count = num_open == 1 ? x->space->knobs[open]->count : 0;
    x->work++;
    if (num_open != 1 || count > MOST_SCANNED) return at_requirement_can_hold(q, x->digits);
    bool found = false;
    for (int64_t d = 0; d < count && !found; d++, x->work++) {
        x->digits[open] = d;
        found = at_requirement_can_hold(q, x->digits);
    }
    x->digits[open] = -1;
    return found;
}

static bool reads(const at_requirement *q, int knob) {
    for (int i = 0; i < q->knobs.len; i++)
        if (q->knobs.data[i] == knob) return true;
    return false;
}

static bool is_possible(search *x, int knob) {
    for (int i = 0; i < x->space->requires.len; i++) {
        const at_requirement *q = &x->space->requires.data[i];
        if (reads(q, knob) && !can_hold(x, q)) return false;
    }
    return true;
}

/* The next point, at or behind `from`. tight: all before are as in `from`. */
static bool descend(search *x, int at, bool tight) {
    if (at == x->num) return true;
    int knob = x->order[at];
    int64_t count = x->space->knobs[knob]->count;
    int64_t first = x->from && (tight || x->around) ? x->from[knob] : 0;
    int64_t steps = x->around ? count : count - first;
    for (int64_t i = 0; i < steps && x->work < x->most; i++) {
        x->digits[knob] = (first + i) % count;
        if (is_possible(x, knob) && descend(x, at + 1, tight && i == 0)) return true;
    }
    x->digits[knob] = -1;
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
    if (descend(&x, 0, true)) found = at_space_index(s, x.digits);
    free(x.digits);
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
    search x = begin(s, order, s->num_knobs, MEND_WORK);
    at_space_digits(s, index, own);
    x.from = own;
    x.around = true;
    if (!may_change) x.digits[first] = own[first];
    if (may_change ? descend(&x, 0, false) : is_possible(&x, first) && descend(&x, 1, false))
        found = at_space_index(s, x.digits);
    free(x.digits);
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
    if (at == x->num) {
        if (f->num == f->most) return false;
        if (f->list) f->list[f->num] = at_space_index(x->space, x->digits);
        f->num++;
        return true;
    }
    int knob = x->order[at];
    for (int64_t d = 0; d < x->space->knobs[knob]->count; d++) {
        x->digits[knob] = d;
        if (x->work >= x->most) return false;
        if (is_possible(x, knob) && !gather(x, at + 1, f)) return false;
    }
    x->digits[knob] = -1;
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

/* Knuth: the mean over random ways down of the product of how many ways lead on. */
static double estimate(const at_space *s, const int *order, int num) {
    at_rng rng;
    double sum = 0;
    at_rng_seed(&rng, 1, 1);
    search x = begin(s, order, num, INT64_MAX);
    for (int probe = 0; probe < PROBES; probe++) {
        double product = 1;
        for (int at = 0; at < num && product > 0; at++) {
            int knob = order[at];
            int64_t ways = 0, chosen = -1;
            for (int64_t d = 0; d < s->knobs[knob]->count; d++) {
                x.digits[knob] = d;
                if (is_possible(&x, knob) && at_rng_below(&rng, (uint64_t)++ways) == 0) chosen = d;
            }
            x.digits[knob] = chosen;
            product *= (double)ways;
        }
        for (int i = 0; i < num; i++) x.digits[order[i]] = -1;
        sum += product;
    }
    free(x.digits);
    return sum / PROBES;
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
        search x = begin(s, order, n, MOST_WORK);
        found f = {.most = INT64_MAX};
        bool all = gather(&x, 0, &f);
        product *= all ? (double)f.num : estimate(s, order, n);
        *exact &= all && at_mul64(whole, f.num, &whole);
        free(x.digits);
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
    free(x.digits);
    free(order);
    return all;
}
