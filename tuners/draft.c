/* tuners/draft.c: the cheapest of many points, by costs that are known before anything is measured.
 */
#include "tuners/model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum {
    POOL = 2048,     /* kept: the cheapest, */
    BY_CHANCE = 512, /* and so many others, should costs be wrong: of a sum half of them the
                        cheapest of each part */
    STEPS = 3,       /* so many times the best are left for their neighbours */
    MANY_KNOBS = 10  /* with more, that would leave most of them as chance had them */
};

/* How many points are looked at. */
typedef struct effort {
    int sampled; /* first; a smaller space is looked at whole */
    int starts;  /* the best, that are left for their neighbours */
    /* With many knobs: fewer are looked at, and in so many parts of a sum each knob of the cheapest
     * is turned so often, while it helps. */
    int sampled_of_many, parts, rounds;
} effort;
static const effort thorough = {8192, 32, 1024, INT_MAX, 4}, rough = {1024, 8, 256, 2, 2};

static const effort *effort_of(const at_draft *d) { return d->is_rough ? &rough : &thorough; }

typedef struct at_draft_cost {
    double log_cost;   /* INFINITY: none */
    double correction; /* powers of two that the point is faster */
} at_draft_cost;

void at_draft_free(at_draft *d) {
    at_numbering_free(&d->known);
    free(d->cost);
    free(d->pool);
}

static void remember(at_draft *d, int64_t index, double ns, double correction) {
    int number = at_number_add(&d->known, index);
    if (number >= d->cap) {
        d->cap = d->known.cap;
        d->cost = realloc(d->cost, sizeof *d->cost * (size_t)d->cap);
        AT_NEED(d->cost);
    }
    at_draft_cost *x = &d->cost[number];
    *x = (at_draft_cost){ns > 0 ? log2(ns) : INFINITY, correction};
    if (isfinite(x->log_cost)) d->highest = fmax(d->highest, x->log_cost);
    else x->correction = 0;
}

/* From now on all of them are known. They are asked for together: costs of points that are alike
 * take less. */
static void ask(at_draft *d, const int64_t *indices, int n) {
    int num = 0;
    int64_t *unknown = malloc(sizeof *unknown * (size_t)(n + 1));
    AT_NEED(unknown);
    for (int i = 0; i < n; i++)
        if (at_number_of(&d->known, indices[i]) < 0) unknown[num++] = indices[i];
    double *ns = malloc(sizeof *ns * (size_t)(num + 1)),
           *off = calloc((size_t)(num + 1), sizeof *off);
    AT_NEED(ns && off);
    d->costs.of(d->costs.ctx, unknown, num, ns);
    if (d->learned) at_learned_costs_off(d->learned, unknown, num, off);
    for (int k = 0; k < num; k++)
        if (at_number_of(&d->known, unknown[k]) < 0) remember(d, unknown[k], ns[k], off[k]);
    free(unknown);
    free(ns);
    free(off);
}

void at_draft_costs(at_draft *d, const int64_t *indices, int n, double *log_costs) {
    ask(d, indices, n);
    for (int i = 0; i < n; i++) {
        const at_draft_cost *x = &d->cost[at_number_of(&d->known, indices[i])];
        log_costs[i] = isfinite(x->log_cost) ? x->log_cost - d->trust * x->correction : d->highest;
    }
}

void at_draft_corrections(at_draft *d, const int64_t *indices, int n, double *out) {
    ask(d, indices, n);
    for (int i = 0; i < n; i++) out[i] = d->cost[at_number_of(&d->known, indices[i])].correction;
}

/* ---- the pool ------------------------------------------------------------------------------- */

typedef struct point {
    int64_t index;
    double log_cost;
    int place; /* in the list, which is in random order */
} point;

static int cheapest_first(const void *x, const void *y) {
    const point *a = x, *b = y;
    if (a->log_cost != b->log_cost) return a->log_cost < b->log_cost ? -1 : 1;
    return a->place - b->place;
}

/* The parts of a sum have equal shares, however large they are. */
static bool sample(const at_draft *d, int most, at_rng *rng, at_numbering *out) {
    const at_book *b = d->book;
    int parts = at_space_num_parts(b->space);
    bool all = true;
    if (!parts) return at_book_sample(b, b->begin, b->end, most, rng, out);
    for (int p = 0; p < parts; p++) {
        int64_t begin = at_space_part_begin(b->space, p),
                end = at_space_part_begin(b->space, p + 1);
        if (begin < b->begin) begin = b->begin;
        if (end > b->end) end = b->end;
        if (begin < end)
            all &= at_book_sample(b, begin, end, (most - out->len) / (parts - p), rng, out);
    }
    return all;
}

static point *sorted(at_draft *d, const at_numbering *listed) {
    int n = listed->len;
    point *points = malloc(sizeof *points * (size_t)(n + 1));
    double *costs = malloc(sizeof *costs * (size_t)(n + 1));
    AT_NEED(points && costs);
    at_draft_costs(d, listed->indices, n, costs);
    for (int i = 0; i < n; i++) points[i] = (point){listed->indices[i], costs[i], i};
    qsort(points, (size_t)n, sizeof *points, cheapest_first);
    free(costs);
    return points;
}

/* Adds the neighbours of the cheapest, which chance has not come upon. */
static void descend(at_draft *d, at_numbering *listed, at_numbering *left) {
    const int most = effort_of(d)->starts;
    int num = 0;
    int64_t *starts = malloc(sizeof *starts * (size_t)most);
    AT_NEED(starts);
    point *points = sorted(d, listed);
    for (int i = 0; i < listed->len && num < most; i++) {
        if (at_number_of(left, points[i].index) >= 0) continue;
        at_number_add(left, points[i].index);
        starts[num++] = points[i].index;
    }
    free(points);
    at_add_neighbours(d->book, starts, num, listed);
    free(starts);
}

/* The cheapest of a point, whose digits these are, and those that differ in one of its knobs. */
static int64_t turn_knob(at_draft *d, int64_t index, int knob, int64_t *digits,
                         at_numbering *listed) {
    at_numbering around = {0};
    at_number_add(&around, index);
    at_add_neighbours_by(d->book, digits, knob, &around);
    double *costs = malloc(sizeof *costs * (size_t)around.len);
    AT_NEED(costs);
    at_draft_costs(d, around.indices, around.len, costs);
    int best = 0;
    for (int i = 1; i < around.len; i++)
        if (costs[i] < costs[best]) best = i;
    index = around.indices[best];
    if (at_number_of(listed, index) < 0) at_number_add(listed, index);
    free(costs);
    at_numbering_free(&around);
    return index;
}

/* Turns one knob after the other of a point as long as that makes it cheaper. */
static void turn_knobs(at_draft *d, int64_t index, at_numbering *listed) {
    const at_space *s = d->book->space;
    const int knobs = at_space_num_knobs(s), first = at_space_num_parts(s) > 0;
    int64_t *digits = malloc(sizeof *digits * (size_t)(knobs + 1));
    AT_NEED(digits);
    int64_t before = -1;
    for (int round = 0; round < effort_of(d)->rounds && before != index; round++) {
        before = index;
        for (int k = first; k < knobs; k++) {
            at_space_digits(s, index, digits);
            if (at_space_digit_counts(s, digits, k)) index = turn_knob(d, index, k, digits, listed);
        }
    }
    free(digits);
}

static bool has_many_knobs(const at_space *s) {
    bool many = !at_space_num_parts(s) && at_space_num_knobs(s) > MANY_KNOBS;
    for (int p = 0; p < at_space_num_parts(s); p++)
        many |= at_space_num_knobs(at_space_part(s, p)) > MANY_KNOBS;
    return many;
}

/* Those of the cheapest of the space, or of each of so many parts of a sum, the cheapest first. */
static void turn_many(at_draft *d, at_numbering *listed) {
    const at_space *s = d->book->space;
    const int parts = at_space_num_parts(s), n = listed->len, most = effort_of(d)->parts;
    int turned = 0;
    bool *seen = calloc((size_t)parts + 1, sizeof *seen);
    AT_NEED(seen);
    point *points = sorted(d, listed);
    for (int i = 0; i < n && turned < most; i++) {
        const int part = parts ? at_space_part_of(s, points[i].index) : 0;
        if (seen[part]) continue;
        seen[part] = true;
        turned++;
        turn_knobs(d, points[i].index, listed);
    }
    free(points);
    free(seen);
}

/* So many of the cheapest of the list are in the pool, besides what is there. */
static void keep_cheapest(at_draft *d, const at_numbering *listed, int most, at_numbering *kept) {
    point *points = sorted(d, listed);
    for (int i = 0; i < listed->len && kept->len < most; i++)
        if (at_number_of(kept, points[i].index) < 0) at_number_add(kept, points[i].index);
    free(points);
}

/* Some of each part of a sum, the cheapest: costs may be wrong of a whole part. */
static void keep_parts(at_draft *d, const at_numbering *listed, at_numbering *kept) {
    const at_space *s = d->book->space;
    int parts = at_space_num_parts(s);
    if (!parts) return;
    point *points = sorted(d, listed);
    int *seen = calloc((size_t)parts, sizeof *seen);
    AT_NEED(seen);
    for (int i = 0; i < listed->len; i++) {
        int64_t index = points[i].index;
        if (seen[at_space_part_of(s, index)]++ >= BY_CHANCE / 2 / parts) continue;
        if (at_number_of(kept, index) < 0) at_number_add(kept, index);
    }
    free(seen);
    free(points);
}

/* As many as the pool has room for: the list is in random order, but of a sum part by part. */
static void keep_some(const at_draft *d, const at_numbering *listed, at_numbering *kept) {
    double step = (double)listed->len / (POOL - kept->len);
    if (step < 1 || !at_space_num_parts(d->book->space)) step = 1;
    for (double at = 0; at < listed->len && kept->len < POOL; at += step) {
        int64_t index = listed->indices[(int)at];
        if (at_number_of(kept, index) < 0) at_number_add(kept, index);
    }
}

void at_draft_make(at_draft *d, at_rng *rng) {
    at_numbering listed = {0}, left = {0}, kept = {0};
    const double trust = d->trust;
    const effort *o = effort_of(d);
    const bool many = has_many_knobs(d->book->space);
    bool all = sample(d, many ? o->sampled_of_many : o->sampled, rng, &listed);
    /* By costs as they are, then as other tasks correct them. */
    for (int corrected = 0; corrected < 1 + (d->learned != NULL); corrected++) {
        d->trust = corrected;
        for (int step = 0; step < STEPS && !all && !many; step++) descend(d, &listed, &left);
        if (many && !all) turn_many(d, &listed);
    }
    for (int corrected = d->learned != NULL; corrected >= 0; corrected--) {
        d->trust = corrected;
        keep_cheapest(d, &listed, (POOL - BY_CHANCE) / (1 + corrected), &kept);
    }
    d->trust = trust;
    keep_parts(d, &listed, &kept);
    if (kept.len < POOL) keep_some(d, &listed, &kept);
    d->made = true;
    d->num_pool = kept.len;
    d->pool = malloc(sizeof *d->pool * (size_t)(kept.len + 1));
    AT_NEED(d->pool);
    for (int i = 0; i < kept.len; i++) d->pool[i] = kept.indices[i];
    at_numbering_free(&kept);
    at_numbering_free(&left);
    at_numbering_free(&listed);
}
