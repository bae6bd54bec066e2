/* engine/final/final_rounds.c: single trials are minutes apart and the machine drifts; the winner
 * is chosen among samples of the same moment, as many as it takes. */
#include "engine/final/final_rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/anchors.h"
#include "engine/measure/machine.h"
#include "engine/measure/states.h"

static const double peak_age_s = 0.15; /* measuring it takes 8 ms, a twentieth of the time then */
enum { OTHER_SHARE = 10 };             /* a state is looked at that had this part of the turns */
/* Of the link to the anchor of the trials. */
static const double link_s = 0.1;
enum { LEAST_OF_LINK = 11, MOST_OF_LINK = 50 };

/* A final in progress. */
typedef struct running {
    at_session *s;
    at_log *log;
    at_final *final;
    double begun_s;
    int64_t begin_ns, begin_core_ns, logged_ns;
    at_final_spent spent;    /* its others: of turns, by the part of their pairs */
    bool is_paired, is_lost; /* lost: the anchor */
    uint64_t turns;
    /* Of each state: the anchor's times beside each of so many turns, and their median, with which
     * ratios have been made times; 0: the state was not seen. */
    double anchors_s[AT_STATE_COUNT][AT_FINALISTS * AT_FINAL_ROUNDS];
    int num_anchors[AT_STATE_COUNT];
    double anchor_s[AT_STATE_COUNT];
    double of_first; /* its time over that of the first anchor of the trials; 0: not known */
    double of_first_error;
} running;

static void drop_out(running *g, at_finalist *f, const char *how, const at_record *r) {
    at_arena *a = g->s->arena;
    f->turns.error_no = r->error_no;
    f->turns.error = at_strdup(a, r->extra.error);
    at_engine_warn(&g->s->options,
                   at_format(a, "index %lld failed when %s again: %s",
                             (long long)f->result->config.index, how, r->extra.error));
}

static at_status prepare(running *g, at_finalist *f, at_error *err) {
    at_session *s = g->s;
    at_config config;
    at_record made = {.extra.error = ""};
    AT_TRY(at_config_at(s->arena, s->what.space, f->result->config.index, &config, err));
    bool ready = at_candidate_make(s, s->arena, &config, &f->candidate, &made);
    if (ready) AT_TRY(at_candidate_compile(s, s->arena, &f->candidate, &made, &ready, err));
    if (!ready && at_engine_stopped(&s->options)) return at_fail_stopped(err);
    if (!ready) drop_out(g, f, "compiled", &made);
    if (!s->options.repeat) f->candidate.job.repeat = at_final_samples(f->result);
    return AT_OK;
}

/* So that finals of several logs with one first anchor can be compared. */
static at_status link_to_trials(running *g, at_candidate *k, at_error *err) {
    at_linked link;
    double pair_s = 2 * at_record_mean(g->final->of[0].result), pairs = link_s / pair_s;
    at_candidate one = *k;
    if (pairs < LEAST_OF_LINK) return AT_OK;
    int most = pairs < MOST_OF_LINK ? (int)pairs : MOST_OF_LINK;
    AT_TRY(at_anchor_link(g->s, &one, most, pair_s, &link, err));
    const at_from_first from = at_anchor_from_first(g->s);
    if (link.pairs) g->of_first = from.ratio * exp(link.link);
    g->of_first_error = from.error + link.error;
    return AT_OK;
}

/* The best by its trial is what all are timed against, itself too: so all are run in the same
 * places. Where trials had no anchor, finalists have none. */
static at_status choose_anchor(running *g, at_error *err) {
    at_session *s = g->s;
    at_finalist *first = &g->final->of[0];
    if (!at_anchor_config(s) || first->turns.error_no) return AT_OK;
    at_candidate *k = AT_NEW(s->arena, at_candidate);
    *k = first->candidate;
    AT_TRY(link_to_trials(g, k, err));
    AT_TRY(at_anchor_of_final(s, k, &g->is_paired, err));
    for (int i = 0; i < g->final->count && g->is_paired; i++) {
        g->final->of[i].turns.among = g->final->count;
        g->final->of[i].turns.anchor = first->result->config.index;
        g->final->of[i].turns.objective = at_session_seen(s).objective;
    }
    return AT_OK;
}

static at_state state_of(const at_round *r, int sample) {
    at_state s = AT_STATE_UNKNOWN;
    at_state_from_letter(r->states[sample], &s);
    return s;
}

/* The time of the first anchor of the trials in this final, where most of what counts was timed. */
static void tell_first(const running *g, at_turns *t) {
    int best = -1;
    for (int k = 0; k < AT_STATE_COUNT; k++)
        if (at_objective_counts(t->objective, (at_state)k) &&
            (best < 0 || g->num_anchors[k] > g->num_anchors[best]))
            best = k;
    if (!(g->of_first > 0) || best < 0 || !g->num_anchors[best]) return;
    t->first = at_anchor_from_first(g->s).first;
    t->first_s = g->anchor_s[best] / g->of_first;
    t->first_error = g->of_first_error;
}

/* Times are ratios to the anchor times the median of all its own in that state. */
static void rescale(running *g) {
    double factor[AT_STATE_COUNT];
    for (int k = 0; k < AT_STATE_COUNT; k++) {
        int n = g->num_anchors[k];
        double *sorted = at_sorted_copy(g->anchors_s[k], n);
        double now_s = n ? at_sorted_median(sorted, n) : 1;
        factor[k] = n ? now_s / g->anchor_s[k] : 1;
        if (n) g->anchor_s[k] = now_s;
        free(sorted);
    }
    for (int i = 0; i < g->final->count; i++) {
        at_finalist *f = &g->final->of[i];
        for (int k = 0; k < f->turns.num_rounds; k++) {
            at_round *r = &f->rounds[k];
            double *samples = (double *)(uintptr_t)r->samples_s;
            for (int n = 0; n < r->num_samples; n++) samples[n] *= factor[state_of(r, n)];
            r->time_s =
                at_median_that_counts(samples, r->states, r->num_samples, f->turns.objective, NULL);
        }
        f->turns.time_s = at_turns_time(&f->turns);
        tell_first(g, &f->turns);
    }
}

/* ---- the log -------------------------------------------------------------------------------- */

void at_final_print(at_text *out, const at_session *s, const at_final *final) {
    for (int i = 0; i < final->count; i++) {
        const at_finalist *f = &final->of[i];
        if (!f->turns.num_rounds && !f->turns.error_no) continue;
        at_final_line_print(out, &(at_final_line){.task = at_task_record_name(s->what.task),
                                                  .args = at_task_args(s->what.task),
                                                  .context_hash = s->how.context_hash,
                                                  .index = f->result->config.index,
                                                  .config = &f->candidate.config,
                                                  .in_bytes = s->what.in_bytes,
                                                  .turns = f->turns});
    }
}

static at_status write_lines(running *g, bool is_last, at_error *err) {
    at_text text = {0};
    if (g->turns) rescale(g);
    if (!g->log) return AT_OK;
    at_final_print(&text, g->s, g->final);
    at_status status = text.len ? at_log_put_tail(g->log, &text, is_last, err) : AT_OK;
    at_text_free(&text);
    g->logged_ns = at_now_ns();
    return status;
}

/* What a kill may cost. */
static at_status write_lines_in_time(running *g, at_error *err) {
    return at_now_ns() - g->logged_ns < 500000000 ? AT_OK : write_lines(g, false, err);
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Times of ratios, as at_final_line_read will have them. */
static void take_ratios(running *g, const at_candidate *c, at_record *r) {
    at_extra *e = &r->extra;
    at_arena *a = g->s->scratch;
    int n = e->pairs.num_ratios;
    double *times_s = AT_NEW_ARRAY(a, double, n);
    g->turns++;
    for (int k = 0; k < AT_STATE_COUNT; k++) {
        if (!(c->anchor_s[k] > 0)) continue;
        if (!g->num_anchors[k]) g->anchor_s[k] = c->anchor_s[k];
        g->anchors_s[k][g->num_anchors[k]++] = c->anchor_s[k];
    }
    for (int i = 0; i < n; i++) {
        at_state state;
        if (at_state_from_letter(e->pairs.states[i], &state))
            times_s[i] = e->pairs.ratios[i] * g->anchor_s[state];
    }
    e->samples_s = times_s;
    e->num_samples = n;
}

/* What part of these pairs was in another state than the one that counts? */
static double other_part(at_objective wanted, const char *states) {
    int n = 0, others = 0;
    for (at_state state; at_state_from_letter(states[n], &state); n++)
        others += !at_objective_counts(wanted, state);
    return n ? (double)others / n : 0;
}

/* One finalist's turn in a round, with the peak of the moment. */
static at_status take_turn(running *g, at_finalist *f, at_error *err) {
    at_session *s = g->s;
    at_record r = {.extra.error = ""};
    at_arena_reset(s->scratch);
    AT_TRY(at_session_renew_peak(s, peak_age_s, err));
    f->candidate.job.pairs = g->is_paired ? at_final_pairs(f->result) : 0;
    f->candidate.job.to_the_end = true;
    f->candidate.job.pair_seed = s->options.seed ^ (g->turns + 1) << 32;
    at_states_ask(s, &f->candidate.job);
    int64_t begin_ns = at_now_ns(), begin_core_ns = s->spent.core_ns;
    const double begin_waited_s = at_session_seen(s).waited_s;
    AT_TRY(at_candidate_run(s, s->scratch, &f->candidate, &r, err));
    if (r.error_no) {
        drop_out(g, f, "timed", &r);
    } else if (g->is_paired && !r.extra.pairs.num_ratios) {
        g->is_lost = true; /* and with it what this turn would be compared by */
    } else {
        if (g->is_paired) {
            const double waited_s = at_session_seen(s).waited_s - begin_waited_s,
                         part = other_part(f->turns.objective, r.extra.pairs.states),
                         clock_s = at_seconds_since(begin_ns) - waited_s,
                         core_s = (double)(s->spent.core_ns - begin_core_ns) * 1e-9 - waited_s;
            g->spent.other_clock_s += waited_s + part * clock_s;
            g->spent.other_core_s += waited_s + part * fmax(core_s, 0);
            take_ratios(g, &f->candidate, &r);
        }
        int n = r.extra.num_samples;
        const char *states = g->is_paired ? at_strdup(s->arena, r.extra.pairs.states) : NULL;
        double time_s = g->is_paired ? at_median_that_counts(r.extra.samples_s, states, n,
                                                             f->turns.objective, NULL)
                                     : at_record_mean(&r);
        f->rounds[f->turns.num_rounds++] =
            (at_round){.samples_s = at_copy(s->arena, r.extra.samples_s,
                                            (size_t)n * sizeof *r.extra.samples_s),
                       .num_samples = n,
                       .states = states,
                       .time_s = time_s,
                       .peak_gflops = at_session_seen(s).peak};
        f->turns.time_s = at_turns_time(&f->turns);
    }
    return write_lines_in_time(g, err);
}

/* Was the other of the states that have winners of their own seen in a part of the turns that may
 * tell who that is? */
static bool has_two_states(const running *g) {
    uint64_t alone = (uint64_t)g->num_anchors[AT_STATE_ALONE],
             company = (uint64_t)g->num_anchors[AT_STATE_COMPANY];
    return OTHER_SHARE * (alone < company ? alone : company) > g->turns;
}

/* Of those who had a turn in this round nobody can be more than a tie better than the leader, so
 * it does not matter which of them wins. */
static bool is_decided(const running *g, const bool *had_turn) {
    const at_finalist *leader = at_final_leader(g->final);
    if (!leader || !g->is_paired || has_two_states(g)) return false;
    double leader_s = at_turns_interval(&leader->turns).high;
    for (int i = 0; i < g->final->count; i++) {
        const at_finalist *f = &g->final->of[i];
        if (f == leader ? !had_turn[i]
                        : had_turn[i] && at_finalist_is_in(f) && !f->is_behind &&
                              !(at_turns_interval(&f->turns).low * (1 + AT_TIE) >= leader_s))
            return false;
    }
    return isfinite(leader_s);
}

/* Who comes when is random: what one leaves in the caches, and the clock, it does to all alike. */
static void shuffle(int *order, int n, at_rng *rng) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)at_rng_below(rng, (uint64_t)i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* How much of what the final may take is spent. */
static double spent_of(running *g, const at_final_limits *limits) {
    g->spent.clock_s = at_seconds_since(g->begin_ns);
    g->spent.core_s = (double)(g->s->spent.core_ns - g->begin_core_ns) * 1e-9;
    return at_final_share(limits, &g->spent);
}

/* Those that come are no finalists any more: a sample of each says less than more of the others,
 * who are better by their trials. */
static void cut_to(at_final *final, int count) {
    final->count = count;
    for (int i = 0; i < count; i++)
        if (final->of[i].turns.among) final->of[i].turns.among = count;
}

/* The first round goes from the best on and prepares them: where the budget ends in it, those were
 * compared that matter most. */
static at_status sample_all(running *g, const at_final_limits *limits, at_error *err) {
    at_session *s = g->s;
    at_final *final = g->final;
    int order[AT_FINALISTS];
    at_rng rng;
    at_rng_seed(&rng, s->options.seed, AT_FINALISTS);
    for (int i = 0; i < final->count; i++) order[i] = i;
    for (int round = 0; round < AT_FINAL_ROUNDS; round++) {
        bool had_turn[AT_FINALISTS] = {false}, is_open[AT_FINALISTS];
        if (round) shuffle(order, final->count, &rng);
        if (round && g->is_paired) at_final_choose_open(final, is_open);
        for (int i = 0; i < final->count; i++) {
            at_finalist *f = &final->of[order[i]];
            double spent = spent_of(g, limits);
            if (at_engine_stopped(&s->options) || spent > 1 || g->is_lost) return AT_OK;
            if (g->is_paired && !round && i >= AT_FINALISTS_LEAST && spent > 0.5) {
                cut_to(final, i);
                break;
            }
            if (!round) AT_TRY(prepare(g, f, err));
            if (!round && !i) AT_TRY(choose_anchor(g, err));
            if (round && g->is_paired && !is_open[order[i]]) continue;
            if (f->turns.error_no || f->is_behind) continue;
            AT_TRY(take_turn(g, f, err));
            had_turn[order[i]] = true;
        }
        if (is_decided(g, had_turn)) break;
        if (!at_final_compare(final) && (g->is_paired || round + 1 >= AT_FINAL_LEAST)) break;
    }
    return AT_OK;
}

at_interval at_turns_of_peak(const at_turns *t, double flops) {
    double shares[64];
    int n = 0;
    for (int i = t->num_rounds > 64 ? t->num_rounds - 64 : 0; i < t->num_rounds; i++) {
        const at_round *r = &t->rounds[i];
        if (r->peak_gflops > 0) shares[n++] = flops / r->time_s * 1e-9 / r->peak_gflops;
    }
    if (!n) return (at_interval){0};
    at_interval of_peak = at_median(shares, n);
    if (!t->among) return of_peak;
    /* As far from it as the interval of its time is from its time; both hold what they are of. */
    at_interval time_s = at_turns_interval(t);
    bool known = isfinite(time_s.low) && isfinite(time_s.high);
    of_peak.low = known ? of_peak.median * fmin(1, t->time_s / time_s.high) : NAN;
    of_peak.high = known ? of_peak.median * fmax(1, t->time_s / time_s.low) : NAN;
    return of_peak;
}

void at_final_judge(at_known *known, at_final *final) {
    const at_turns *last;
    for (int i = 0; i < final->count; i++) {
        const at_finalist *f = &final->of[i];
        if (f->turns.num_rounds || f->turns.error_no)
            at_known_add_final(known, f->result->config.index, &f->turns);
    }
    const at_record *winner = at_known_winner(known, &last);
    for (int i = 0; i < final->count; i++)
        if (winner && final->of[i].result->config.index == winner->config.index &&
            at_finalist_is_in(&final->of[i]))
            final->winner = &final->of[i];
    for (int i = 0; i < final->count && final->winner; i++) {
        const at_finalist *f = &final->of[i];
        final->tied +=
            at_finalist_is_in(f) && f != final->winner && !at_finalist_is_behind(f, final->winner);
    }
}

/* The winner of finals before is compared with what was found since, and first of all. */
static void put_former_winner(const at_known *known, at_final *final, const at_record **top) {
    const at_turns *last;
    const at_record *winner = at_known_winner(known, &last);
    int at = 0;
    if (!last) return;
    while (at < final->count && top[at]->config.index != winner->config.index) at++;
    if (at == final->count && final->count < AT_FINALISTS) final->count++;
    if (at == AT_FINALISTS) at--;
    memmove(top + 1, top, sizeof *top * (size_t)at);
    top[0] = winner;
}

static double median_peak(const at_turns *t) {
    double peaks[AT_FINAL_ROUNDS];
    for (int i = 0; i < t->num_rounds; i++) peaks[i] = t->rounds[i].peak_gflops;
    return t->num_rounds ? at_median(peaks, t->num_rounds).median : 0;
}

/* Each turn was possible by the clock. The time of all of them may not be beside the peak. */
static void compare_with_bound(running *g) {
    const at_session *s = g->s;
    for (int i = 0; i < g->final->count; i++) {
        at_finalist *f = &g->final->of[i];
        if (!at_finalist_is_in(f)) continue;
        at_arena_reset(s->scratch);
        f->of_bound = at_share_of_bound(s, s->scratch, f->candidate.kernel->lowered,
                                        f->turns.time_s, median_peak(&f->turns));
        if (f->of_bound <= AT_IMPOSSIBLE) continue;
        at_record r = {.error_no = AT_ERR_UNKNOWN,
                       .extra.error = at_format(s->scratch,
                                                "its multiply-adds in its time are %.3g "
                                                "times those of the FMA peak beside it",
                                                f->of_bound)};
        drop_out(g, f, "timed", &r);
    }
}

static at_status run(running *g, at_known *known, const at_final_limits *limits, at_error *err) {
    at_session_deliver(g->s, true);
    at_status status = sample_all(g, limits, err);
    at_session_deliver(g->s, false);
    /* Trials that may come go on with that of the log. */
    if (g->is_paired) at_anchor_after_final(g->s);
    for (int i = 0; i < g->final->count; i++) at_candidate_drop(&g->final->of[i].candidate);
    if (status != AT_OK && !at_is_end(status)) return status;
    if (g->turns) rescale(g);
    compare_with_bound(g);
    at_final_judge(known, g->final);
    return write_lines(g, true, err);
}

at_status at_final_run(at_session *s, at_known *known, at_log *log, at_final_limits limits,
                       at_final *out, at_error *err) {
    const at_record *top[AT_FINALISTS];
    int64_t begin_ns = at_now_ns();
    memset(out, 0, sizeof *out);
    running g = {.s = s,
                 .log = log,
                 .final = out,
                 .begun_s = at_wall_time_s(),
                 .begin_ns = begin_ns,
                 .begin_core_ns = s->spent.core_ns,
                 .logged_ns = begin_ns};
    const char *dialect =
        s->options.final_delivers ? at_dialect_name(s->options.final_dialect) : NULL;
    out->count = at_final_number(s, top, at_known_top(known, top, AT_FINALISTS), &limits);
    put_former_winner(known, out, top);
    for (int i = 0; i < out->count; i++) {
        at_finalist *f = &out->of[i];
        f->result = top[i];
        f->turns =
            (at_turns){.begun_s = g.begun_s, .rounds = f->rounds, .dialect = dialect, .error = ""};
    }
    if (out->count) at_engine_note(&s->options, "timing the best few again, in turn ...");
    AT_TRY(run(&g, known, &limits, err));
    s->spent.final_ns = at_now_ns() - begin_ns;
    return AT_OK;
}
