/* engine/far/far_final.c: the final of a search over workers elsewhere: held on two nodes where
 * there are as many. Each compares the best few with one another; what they say is put on one scale
 * and counts together. */
#include <math.h>
#include <string.h>

#include "engine/far/far_state.h"

enum { NODES = 2 };

typedef struct at_far_search far_search;

/* One of each node. */
static int choose_workers(const far_search *f, int out[NODES]) {
    int n = 0;
    for (int i = 0; i < f->num_places && n < NODES; i++) {
        if (!f->places[i].is_in) continue;
        bool is_new = true;
        for (int k = 0; k < n; k++)
            is_new &= strcmp(f->places[out[k]].node, f->places[i].node) != 0;
        if (is_new) out[n++] = i;
    }
    return n;
}

/* The best by their trials, and the winner of the finals before, as lines. */
static void print_finalists(const at_tuning *t, at_text *out) {
    const at_record *top[AT_FINALISTS];
    const at_turns *last;
    int n = at_known_top(t->known, top, AT_FINALISTS);
    const at_record *winner = at_known_winner(t->known, &last);
    bool is_in = !last;
    for (int i = 0; i < n; i++) {
        is_in |= top[i] == winner;
        if (!is_in && i == AT_FINALISTS - 1) top[i] = winner;
        at_record_print(out, top[i]);
    }
    if (!is_in && n < AT_FINALISTS) at_record_print(out, winner);
}

static void take_line(at_tuning *t, at_final *final, const char *line) {
    at_session *s = &t->s;
    at_final_line l;
    at_config config;
    const at_json *json;
    if (*line != '#' || !at_final_line_read(s->arena, line + 1, &l) ||
        final->count == AT_FINALISTS || strcmp(l.context_hash, t->far->said_hash))
        return;
    const char *text = at_format(s->arena, "{\"entity\": %s}", at_json_text(s->arena, l.entity));
    if (at_json_parse(s->arena, text, strlen(text), &json, NULL) != AT_OK ||
        at_config_from_json(s->arena, s->what.space, json, &config, NULL) != AT_OK ||
        config.index < 0)
        return;
    const at_record *r = at_known_of_index(t->known, config.index);
    if (!r || l.turns.num_rounds > AT_FINAL_ROUNDS) return;
    at_finalist *f = &final->of[final->count++];
    *f = (at_finalist){.result = r, .turns = l.turns, .candidate.config = config};
    for (int i = 0; i < l.turns.num_rounds; i++) f->rounds[i] = l.turns.rounds[i];
}

/* What one node says of the finalists. */
static at_final *read_turns(at_tuning *t, const char *text) {
    at_final *final = AT_NEW(t->s.arena, at_final);
    *final = (at_final){.count = 0};
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        take_line(t, final, at_strndup(t->s.arena, line, n));
        line += n + (line[n] == '\n');
    }
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        f->turns.rounds = f->rounds;
        at_turns_for(&f->turns, at_session_seen(&t->s).objective, f->rounds); /* of this log */
    }
    return final;
}

static at_finalist *find(const at_final *f, int64_t index) {
    for (int i = 0; i < f->count; i++)
        if (f->of[i].result->config.index == index) return (at_finalist *)(uintptr_t)&f->of[i];
    return NULL;
}

/* How much longer the second node takes: the median over those that both have timed. */
static double times_longer(const at_final *first, const at_final *second) {
    double ratios[AT_FINALISTS];
    int n = 0;
    for (int i = 0; i < second->count; i++) {
        const at_finalist *x = &second->of[i], *same = find(first, x->result->config.index);
        if (same && at_finalist_is_in(same) && at_finalist_is_in(x))
            ratios[n++] = x->turns.time_s / same->turns.time_s;
    }
    if (!n) return 1;
    at_sort_doubles(ratios, n);
    return at_sorted_median(ratios, n);
}

static void add_rounds(at_arena *a, const at_turns *from, double longer, at_finalist *to) {
    at_turns *t = &to->turns;
    for (int i = 0; i < from->num_rounds && t->num_rounds < AT_FINAL_ROUNDS; i++) {
        at_round r = from->rounds[i];
        double *samples_s = AT_NEW_ARRAY(a, double, r.num_samples);
        for (int k = 0; k < r.num_samples; k++) samples_s[k] = r.samples_s[k] / longer;
        r.samples_s = samples_s;
        r.time_s /= longer;
        to->rounds[t->num_rounds++] = r;
    }
    t->time_s = at_turns_time(t);
}

/* The second node's turns behind those of the first, on the first one's scale. */
static void merge(at_tuning *t, at_final *into, const at_final *from) {
    double longer = times_longer(into, from);
    for (int i = 0; i < from->count; i++) {
        const at_finalist *x = &from->of[i];
        at_finalist *same = find(into, x->result->config.index);
        if (!same && into->count == AT_FINALISTS) continue;
        if (!same) {
            same = &into->of[into->count++];
            *same = (at_finalist){.result = x->result, .candidate.config = x->candidate.config};
            same->turns = (at_turns){.begun_s = into->of[0].turns.begun_s,
                                     .rounds = same->rounds,
                                     .among = x->turns.among,
                                     .anchor = x->turns.anchor,
                                     .objective = x->turns.objective,
                                     .first = x->turns.first,
                                     .first_s = x->turns.first_s / longer,
                                     .first_error = x->turns.first_error,
                                     .error = ""};
        }
        if (x->turns.error_no && !same->turns.error_no) {
            same->turns.error_no = x->turns.error_no;
            same->turns.error = x->turns.error;
        }
        add_rounds(t->s.arena, &x->turns, longer, same);
    }
}

/* Each node's best is certainly behind on the other one. */
static void compare_nodes(const at_tuning *t, const at_final *first, const at_final *second) {
    const at_finalist *a = at_final_leader(first), *b = at_final_leader(second);
    if (!a || !b || a->result == b->result) return;
    const at_finalist *a_there = find(second, a->result->config.index);
    const at_finalist *b_here = find(first, b->result->config.index);
    if (!a_there || !b_here || !at_turns_behind(&a_there->turns, &b->turns) ||
        !at_turns_behind(&b_here->turns, &a->turns))
        return;
    at_engine_warn(&t->s.options,
                   at_format(t->s.arena,
                             "the nodes of the final do not agree: index %lld is best on one, %lld "
                             "on the other; the figures are of both",
                             (long long)a->result->config.index,
                             (long long)b->result->config.index));
}

/* Into what is known, and into the log. */
static at_status conclude(at_tuning *t, at_final *const nodes[NODES], int n, at_error *err) {
    at_text lines = {0};
    if (!n) return AT_OK;
    t->final = *nodes[0];
    for (int i = 0; i < t->final.count; i++) t->final.of[i].turns.rounds = t->final.of[i].rounds;
    for (int i = 1; i < n; i++) {
        compare_nodes(t, nodes[0], nodes[i]);
        merge(t, &t->final, nodes[i]);
    }
    at_final_judge(t->known, &t->final);
    at_final_print(&lines, &t->s, &t->final);
    at_status status = lines.len ? at_log_put_tail(t->log, &lines, true, err) : AT_OK;
    at_text_free(&lines);
    return status;
}

/* What the last of a final's turns and its way here may take beyond its budget. */
static const double said_s = 5;

/* Until the search is to end. */
static double left_s(const at_tuning *t) {
    const int64_t deadline_ns = t->s.deadline_ns;
    return deadline_ns ? (double)(deadline_ns - at_now_ns()) * 1e-9 : INFINITY;
}

static at_status run_final(at_tuning *t, double budget_s, at_error *err) {
    far_search *f = t->far;
    at_session *s = &t->s;
    int on[NODES], n = choose_workers(f, on), left = n, num_said = 0;
    at_final *said[NODES] = {NULL};
    bool is_out[NODES] = {false};
    int64_t begin_ns = at_now_ns();
    at_text records = {0};
    print_finalists(t, &records);
    if (!records.len || !n) {
        at_text_free(&records);
        return AT_OK;
    }
    at_engine_note(&s->options, "timing the best few again, in turn ...");
    for (int i = 0; i < n; i++) f->far->final(f->far->self, on[i], at_text_str(&records), budget_s);
    at_text_free(&records);
    const double most_s = fmin(2 * budget_s + 60, left_s(t) + said_s);
    while (left && !at_engine_stopped(&s->options) && at_seconds_since(begin_ns) < most_s) {
        at_far_event e;
        AT_TRY(at_far_next_event(t, AT_FAR_WAIT_S, &e, err));
        for (int i = 0; i < n; i++) {
            bool ends = e.kind == AT_FAR_TURNS || e.kind == AT_FAR_LEFT;
            if (e.worker != on[i] || is_out[i] || !ends) continue;
            is_out[i] = true;
            left--;
            if (e.kind == AT_FAR_TURNS) said[i] = read_turns(t, e.text);
        }
    }
    s->spent.final_ns = at_now_ns() - begin_ns;
    /* The first one's scale, whoever was quicker. */
    for (int i = 0; i < n; i++)
        if (said[i]) said[num_said++] = said[i];
    return conclude(t, said, num_said, err);
}

static bool any_comes(const at_tuning *t) {
    bool any = false;
    for (; t; t = t->other)
        for (int i = 0; i < t->far->num_places; i++) any |= t->far->places[i].is_coming;
    return any;
}

at_status at_far_final(at_tuning *t, double budget_s, at_error *err) {
    const int64_t deadline_ns = t->s.deadline_ns;
    bool some;
    while (any_comes(t) && left_s(t) > 0 && !at_engine_stopped(&t->s.options))
        AT_TRY(at_far_take_event(t, AT_FAR_WAIT_S, &some, err));
    for (; t; t = t->other) {
        t->s.deadline_ns = deadline_ns;
        budget_s = fmin(budget_s, left_s(t));
        if (budget_s > 0) AT_TRY(run_final(t, budget_s, err));
    }
    return AT_OK;
}
