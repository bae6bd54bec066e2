/* records/winner.c: which result of a task wins: the one answer that every command gives. */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

/* Where someone stands in one final. */
typedef struct place {
    double begun_s, time_s;
    bool is_lucky; /* if it is ahead: few of its samples count */
    int who;
    const at_turns *turns;
} place;

static bool is_out(const at_contender *c) {
    return c->num_finals && c->finals[c->num_finals - 1].error_no;
}

/* A copy of another's measurement is in no final; where both are as good, the other counts. */
static bool is_better_trial(const at_contender *x, const at_contender *y) {
    if (x->mean_s != y->mean_s) return x->mean_s < y->mean_s;
    return x->num_finals && !y->num_finals;
}

static int best_trial(const at_contender *c, int n) {
    int best = -1;
    for (int i = 0; i < n; i++)
        if (!is_out(&c[i]) && (best < 0 || is_better_trial(&c[i], &c[best]))) best = i;
    return best;
}

static int by_final(const void *x, const void *y, void *contenders) {
    const place *a = x, *b = y;
    const at_contender *c = contenders;
    if (a->begun_s != b->begun_s) return a->begun_s < b->begun_s ? -1 : 1;
    if (a->is_lucky != b->is_lucky) return a->is_lucky ? 1 : -1;
    if (a->time_s != b->time_s) return a->time_s < b->time_s ? -1 : 1;
    double mean = c[a->who].mean_s, other = c[b->who].mean_s;
    if (mean != other) return mean < other ? -1 : 1;
    return a->who < b->who ? -1 : a->who > b->who;
}

/* All places in finals, final by final, the best first. */
static place *list_places(const at_contender *c, int n, int *count) {
    int len = 0;
    for (int i = 0; i < n; i++) len += c[i].num_finals;
    place *all = malloc((size_t)len * sizeof *all + 1);
    AT_NEED(all);
    *count = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].num_finals && !is_out(&c[i]); k++) {
            const at_turns *t = &c[i].finals[k];
            if (t->num_rounds && !t->error_no)
                all[(*count)++] = (place){t->begun_s, t->time_s, at_turns_are_few(t), i, t};
        }
    }
    if (*count) qsort_r(all, (size_t)*count, sizeof *all, by_final, (void *)(uintptr_t)c);
    return all;
}

/* Of different finals: by their ratios to one anchor, if there is one. */
static bool is_faster(const at_turns *x, const at_turns *y) {
    bool shared = x->first && y->first && !strcmp(x->first, y->first);
    return shared ? x->time_s / x->first_s < y->time_s / y->first_s : x->time_s < y->time_s;
}

static int best_of_finals(const at_contender *c, int n) {
    int count, winner = -1;
    const at_turns *turns = NULL; /* of the winner so far, in the last final it was in */
    place *all = list_places(c, n, &count);
    for (int i = 0, end; i < count; i = end) {
        bool is_in = false;
        for (end = i; end < count && all[end].begun_s == all[i].begun_s; end++)
            is_in |= all[end].who == winner;
        if (!is_in && turns && !is_faster(all[i].turns, turns)) continue;
        winner = all[i].who;
        turns = all[i].turns;
    }
    free(all);
    return winner;
}

int at_winner(const at_contender *c, int n) {
    int best = best_trial(c, n);
    if (best < 0 || !c[best].num_finals) return best;
    int winner = best_of_finals(c, n);
    return winner < 0 ? best : winner;
}

/* ---- records -------------------------------------------------------------------------------- */

void at_record_competition(at_text *out, const at_record *r) {
    at_text_addf(out, "%s\n%s\n", r->extra.present ? r->extra.context_hash : "",
                 r->extra.present ? "" : r->target);
    at_workload_identity(out, r);
}

typedef struct competition {
    AT_VEC(at_contender) contenders;
    AT_VEC(int) numbers; /* [contenders] of their records */
} competition;

void at_mark_winners(const char *path, const at_record *records, int n, at_pick_fn *use,
                     void *use_ctx, bool *wins) {
    at_arena *a = at_arena_new();
    at_key_map keys = {.arena = a};
    AT_VEC(competition) of = {0}; /* [keys] */
    at_text key = {0};
    for (int i = 0; i < n; i++) {
        const at_record *r = &records[i];
        wins[i] = false;
        if (!at_record_is_candidate(r) || (use && !use(use_ctx, path, r))) continue;
        at_text_clear(&key);
        at_record_competition(&key, r);
        const int k = at_key_map_add(&keys, at_text_str(&key));
        if (k == of.len) *at_push(a, &of) = (competition){0};
        *at_push(a, &of.data[k].contenders) =
            (at_contender){at_record_mean(r), r->finals, r->num_finals};
        *at_push(a, &of.data[k].numbers) = i;
    }
    for (int k = 0; k < of.len; k++) {
        const int winner = at_winner(of.data[k].contenders.data, of.data[k].contenders.len);
        if (winner >= 0) wins[of.data[k].numbers.data[winner]] = true;
    }
    at_text_free(&key);
    at_arena_free(a);
}
