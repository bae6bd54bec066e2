/* engine/search/task_share.c: see task_share.h. */
#include "engine/search/task_share.h"

#include <math.h>
#include <string.h>

static const double alpha = 0.2, beta = 2, golden_ratio = 1.618;
enum { WINDOW = 3, MOST_AHEAD = 5, NO_GROUP = -1 };

typedef struct task {
    at_share_task of;
    AT_VEC(double) best_s;  /* after each of its rounds; 0: none valid */
    int group;              /* number of its similarity group */
    int first, way;         /* first: of the ways of its problem; way: how many are before it */
    double least_s, most_s; /* of the first way: best times of all ways; 0: none is valid */
    int pieces;             /* of its first round, so far */
    bool has_results, ended;
} task;

struct at_shares {
    at_arena *arena;
    task *tasks;
    int n;
    at_rng rng;
};

/* Work that differs by less than the golden ratio is of like size. */
static int size_class(double work) { return (int)(log(work + 1) / log(golden_ratio)); }

static bool alike(const at_share_task *x, const at_share_task *y) {
    return x->group && y->group && !strcmp(x->group, y->group) &&
           size_class(x->work) == size_class(y->work);
}

static bool is_same_problem(const task *x, const task *y) {
    return x == y || (x->of.problem && x->of.problem == y->of.problem);
}

at_shares *at_shares_new(at_arena *a, const at_share_task *tasks, int n, uint64_t seed) {
    at_shares *s = AT_NEW(a, at_shares);
    s->arena = a;
    s->tasks = AT_NEW_ARRAY(a, task, n);
    s->n = n;
    at_rng_seed(&s->rng, seed, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        s->tasks[i].of = tasks[i];
        int first = 0;
        while (first < i && !alike(&tasks[first], &tasks[i])) first++;
        s->tasks[i].group = tasks[i].group ? first : NO_GROUP;
        for (first = 0; !is_same_problem(&s->tasks[first], &s->tasks[i]);) first++;
        s->tasks[i].first = first;
        for (int k = first; k < i; k++)
            s->tasks[i].way += is_same_problem(&s->tasks[k], &s->tasks[i]);
    }
    return s;
}

static int rounds(const task *t) { return t->best_s.len; }

static double best_of(const task *t) { return rounds(t) ? t->best_s.data[rounds(t) - 1] : 0; }

static double speed_of(const task *t) { return best_of(t) > 0 ? t->of.work / best_of(t) : 0; }

/* The best speed in its group; 0: it has no group, is alone in it, or nothing is valid there. */
static double speed_of_group(const at_shares *s, const task *t) {
    double best = 0;
    int members = 0;
    for (int i = 0; i < s->n && t->group != NO_GROUP; i++) {
        if (s->tasks[i].group != t->group) continue;
        members++;
        best = fmax(best, speed_of(&s->tasks[i]));
    }
    return members > 1 ? best : 0;
}

/* What the problem that takes most of the sum takes of it; where nothing is valid yet, a second. */
static double largest_part(const at_shares *s) {
    double part = 0;
    for (int i = 0; i < s->n; i++)
        part = fmax(part, s->tasks[i].of.weight * s->tasks[i].least_s); /* 0 but of first ways */
    return part > 0 ? part : 1;
}

/* Seconds gained per round of late. */
static double gain_before(const task *t) {
    int last = rounds(t) - 1;
    if (last < WINDOW || t->best_s.data[last - WINDOW] <= 0) return 0;
    return (t->best_s.data[last - WINDOW] - t->best_s.data[last]) / WINDOW;
}

/* At the most: the time goes on to fall as 1/rounds, or comes near that of its group. */
static double gain_ahead(const at_shares *s, const task *t) {
    double best_s = best_of(t), next_s = best_s - best_s / rounds(t), speed = speed_of_group(s, t);
    if (speed > 0) next_s = fmin(next_s, beta * t->of.work / speed);
    return best_s - next_s;
}

double at_shares_gain(const at_shares *s, int number) {
    const task *t = &s->tasks[number], *ways = &s->tasks[t->first];
    if (best_of(t) > 0) {
        double gain = alpha * gain_before(t) + (1 - alpha) * gain_ahead(s, t);
        return t->of.weight * fmax(0, gain - (best_of(t) - ways->least_s));
    }
    double part = ways->most_s > 0 ? t->of.weight * ways->most_s : largest_part(s);
    return (1 - alpha) * part / rounds(t);
}

static double work_of(const task *t) { return t->of.weight * t->of.work; }

/* What has the fewest pieces of its first round; of these what has no results, first ways, and what
 * has the most work: the time may end before all had a round. */
static bool begins_before(const task *x, const task *y) {
    if (x->pieces != y->pieces) return x->pieces < y->pieces;
    if (x->has_results != y->has_results) return y->has_results;
    return x->way != y->way ? x->way < y->way : work_of(x) > work_of(y);
}

/* Of those without a round; -1: there is none. */
static int next_without_round(const at_shares *s) {
    int next = -1;
    for (int i = 0; i < s->n; i++)
        if (!s->tasks[i].ended && !rounds(&s->tasks[i]) &&
            (next < 0 || begins_before(&s->tasks[i], &s->tasks[next])))
            next = i;
    return next;
}

int at_shares_next(at_shares *s) {
    int best = next_without_round(s), alive = 0;
    double most = 0, least = 0;
    if (best >= 0) return best;
    for (int i = 0; i < s->n; i++) {
        if (s->tasks[i].ended) continue;
        double gain = at_shares_gain(s, i);
        if (!alive++) most = least = gain, best = i;
        if (gain > most) most = gain, best = i;
        least = fmin(least, gain);
    }
    if (alive < 2 || most > least) return best;
    int chosen = (int)at_rng_below(&s->rng, (uint64_t)alive);
    for (int i = 0;; i++)
        if (!s->tasks[i].ended && !chosen--) return i;
}

/* One that many rounds more than any other of its group have not made similar to it is not. */
static void leave_group(at_shares *s, task *t) {
    int most = 0;
    for (int i = 0; i < s->n; i++) {
        const task *other = &s->tasks[i];
        if (other != t && other->group == t->group && rounds(other) > most) most = rounds(other);
    }
    double best = speed_of_group(s, t);
    if (best > 0 && speed_of(t) < best / beta && rounds(t) > MOST_AHEAD + most) t->group = NO_GROUP;
}

static void compare_ways(at_shares *s, task *first) {
    first->least_s = first->most_s = 0;
    for (int i = first->first; i < s->n; i++) {
        double time_s = best_of(&s->tasks[i]);
        if (s->tasks[i].first != first->first || time_s <= 0) continue;
        first->least_s = first->least_s > 0 ? fmin(first->least_s, time_s) : time_s;
        first->most_s = fmax(first->most_s, time_s);
    }
}

void at_shares_add(at_shares *s, int number, double best_s) {
    task *t = &s->tasks[number];
    *at_push(s->arena, &t->best_s) = best_s;
    compare_ways(s, &s->tasks[t->first]);
    leave_group(s, t);
}

void at_shares_put_off(at_shares *s, int number) { s->tasks[number].has_results = true; }

void at_shares_add_piece(at_shares *s, int number) { s->tasks[number].pieces++; }

void at_shares_end(at_shares *s, int number) { s->tasks[number].ended = true; }
