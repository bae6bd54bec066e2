/* network/contest.c: the best choices of each part against each other inside the whole network, in
 * pairs, from the part that takes longest down, until nothing changes: two programs that differ in
 * one kind of part run in turn. What a choice takes there includes what it makes the parts behind
 * it wait. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"
#include "network/net_truth.h"

enum { ROUNDS = 4, MOST_PASSES = 4 };
/* Alone the second best of a part is tried however long it takes, further ones up to here. */
static const double far_behind = 1.5;

typedef struct side {
    at_net_program *p;
    void *workspace;
    double *steps_s; /* the least of a contest */
} side;

typedef struct contest {
    const at_net_build *build;
    at_net_truth *truth; /* inputs, and room for outputs */
    side own, other;
    int64_t deadline_ns;
    at_error *err;
} contest;

static at_status run_side(contest *c, side *s) {
    return at_net_program_time(s->p, c->truth->inputs, c->truth->outputs, s->workspace, s->steps_s,
                               c->err);
}

static at_status run_both(contest *c) {
    for (side *s = &c->own; s; s = s == &c->own ? &c->other : NULL) {
        free(s->workspace);
        s->workspace = at_net_room(s->p->workspace_bytes);
        s->steps_s = AT_NEW_ARRAY(s->p->arena, double, s->p->steps.len + 1);
        for (int i = 0; i < s->p->steps.len; i++) s->steps_s[i] = INFINITY;
    }
    for (int i = 0; i < ROUNDS; i++) {
        AT_TRY(run_side(c, i % 2 ? &c->own : &c->other));
        AT_TRY(run_side(c, i % 2 ? &c->other : &c->own));
    }
    return AT_OK;
}

/* Of a kind of part, or of all steps (-1). */
static double seconds_of(const side *s, int kernel) {
    double sum = 0;
    for (int i = 0; i < s->p->steps.len; i++) {
        const at_net_step *x = &s->p->steps.data[i];
        if (kernel < 0 || (x->kind == AT_NET_CALL && x->kernel == kernel)) sum += s->steps_s[i];
    }
    return sum;
}

static at_status change(contest *c, side *s, int kernel, int choice) {
    AT_TRY(at_net_recompile(s->p, c->build, kernel, choice, c->err));
    return at_net_prepare(s->p, c->err);
}

/* *best: the choice that both programs have, before and after it. */
static at_status challenge(contest *c, int kernel, int choice, int *best) {
    at_net_kernel *k = &c->own.p->kernels[kernel];
    AT_TRY(change(c, &c->other, kernel, choice));
    AT_TRY(run_both(c));
    const double longer_s = seconds_of(&c->other, -1) - seconds_of(&c->own, -1),
                 own_s = seconds_of(&c->own, kernel), least_s = 1e-9;
    k->choices[*best].in_network_s = fmax(own_s, least_s) / k->count;
    k->choices[choice].in_network_s = fmax(own_s + longer_s, least_s) / k->count;
    if (longer_s >= 0) return change(c, &c->other, kernel, *best);
    *best = choice;
    return change(c, &c->own, kernel, choice);
}

static bool is_stopped(const contest *c) { return at_is_set(c->truth->stop); }

static bool is_over(const contest *c) { return is_stopped(c) || at_now_ns() > c->deadline_ns; }

static at_status tell(contest *c, const at_net_kernel *k, at_log *log) {
    for (int i = 0; i < k->num_choices; i++) {
        at_text line = {0};
        if (!(k->choices[i].in_network_s > 0)) continue;
        at_net_add_line(&line, c->build, k, i);
        const at_status s = at_log_comment(log, at_text_str(&line), c->err);
        at_text_free(&line);
        AT_TRY(s);
    }
    return AT_OK;
}

/* The choice that is compiled stands first, in both programs. */
static void put_first(at_net_kernel *k, int choice) {
    const at_net_choice first = k->choices[choice];
    memmove(&k->choices[1], &k->choices[0], sizeof first * (size_t)choice);
    k->choices[0] = first;
}

static at_status contest_of(contest *c, int kernel, at_log *log, bool *changed) {
    at_net_kernel *k = &c->own.p->kernels[kernel];
    int best = 0;
    for (int i = 1; i < k->num_choices && (i == 1 || !is_over(c)); i++)
        if (i == 1 || k->choices[i].time_s < far_behind * k->choices[0].time_s)
            AT_TRY(challenge(c, kernel, i, &best));
    *changed = best > 0;
    AT_TRY(tell(c, k, log));
    put_first(k, best);
    put_first(&c->other.p->kernels[kernel], best);
    return AT_OK;
}

/* Kernels with several choices, those of the longest parts first. */
static int *in_order(const contest *c, int *n) {
    const at_net_program *p = c->own.p;
    int *out = AT_NEW_ARRAY(p->arena, int, p->num_kernels + 1);
    *n = 0;
    for (int i = 0; i < p->num_kernels; i++) {
        int at = *n;
        if (p->kernels[i].num_choices < 2) continue;
        ++*n;
        for (; at > 0 && seconds_of(&c->own, out[at - 1]) < seconds_of(&c->own, i); at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    return out;
}

/* Another choice of one part may be better behind another choice of the part before it. The two
 * best choices of the longest part stand against each other however little time there is. */
static at_status run_contest(contest *c, at_log *log, int *changed) {
    bool *has_changed = AT_NEW_ARRAY(c->own.p->arena, bool, c->own.p->num_kernels + 1), any = true;
    AT_TRY(run_both(c));
    for (int pass = 0; pass < MOST_PASSES && any; pass++) {
        int n;
        const int *order = in_order(c, &n);
        any = false;
        for (int i = 0; i < n && !(pass || i ? is_over(c) : is_stopped(c)); i++) {
            bool changes;
            AT_TRY(contest_of(c, order[i], log, &changes));
            any |= changes;
            has_changed[order[i]] |= changes;
        }
    }
    for (int i = 0; i < c->own.p->num_kernels; i++) *changed += has_changed[i];
    return AT_OK;
}

at_status at_net_contest(at_net_program *p, const at_net_build *b, at_net_truth *t, double most_s,
                         int *changed, at_error *err) {
    at_net_program other = {0};
    at_net_build like = *b;
    at_log *log;
    contest c = {.build = b,
                 .truth = t,
                 .own.p = p,
                 .other.p = &other,
                 .deadline_ns = at_now_ns() + (int64_t)(most_s * 1e9),
                 .err = err};
    *changed = 0;
    AT_TRY(at_log_open(b->log, &log, err));
    like.like = p;
    at_status s = at_net_add_runners(p, b, err);
    if (s == AT_OK) s = at_net_program_new(p->net, &like, &other, err);
    if (s == AT_OK) s = run_contest(&c, log, changed);
    at_error late;
    const at_status closed = at_log_close(log, s == AT_OK ? err : &late);
    free(c.own.workspace);
    free(c.other.workspace);
    at_net_program_free(&other);
    return s == AT_OK ? closed : s;
}
