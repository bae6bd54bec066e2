/* engine/final_rounds.c: single trials are minutes apart and the machine drifts; the winner is
 * chosen among samples of the same moment, as many as it takes. */
#include "engine/final_rounds.h"

#include <string.h>

static const double least_budget_s = 2, budget_share = 0.1; /* of the run so far */
static const double peak_age_s = 0.05; /* measuring it takes 8 ms, which is two samples of 1 ms */
/* What a turn takes beside the kernel's own runs (measured: 2 to 3 ms); its samples take as long.
 */
static const double turn_s = 0.003, least_sample_s = 0.0002;
enum { LEAST_FINALISTS = 4, MOST_SAMPLES = 5 };

static int samples_of(const at_result *r) {
    double n = 1 + turn_s / (r->mean_s > least_sample_s ? r->mean_s : least_sample_s);
    return n < MOST_SAMPLES ? (int)n : MOST_SAMPLES;
}

static void drop_out(const at_session *s, at_finalist *f, const char *how, const char *why) {
    char text[1200];
    snprintf(text, sizeof text, "index %lld failed when %s again: %s", (long long)f->result->index,
             how, why);
    at_engine_warn(&s->options, text);
    f->rounds = -1;
}

static at_status prepare(at_session *s, at_finalist *f, at_error *err) {
    at_config config;
    at_result made;
    AT_TRY(at_config_at(s->arena, s->space, f->result->index, &config, err));
    bool ready = at_candidate_make(s, s->arena, &config, &f->candidate, &made);
    if (ready) AT_TRY(at_candidate_compile(s, s->arena, &f->candidate, &made, &ready, err));
    if (!ready) drop_out(s, f, "compiled", made.error);
    if (!s->options.repeat) f->candidate.job.repeat = samples_of(f->result);
    return AT_OK;
}

static at_status log_sample(const at_session *s, at_log *log, const at_finalist *f,
                            const at_result *r, at_error *err) {
    at_text text = {0};
    at_final_sample_print(&text, &(at_final_sample){.task = at_task_record_name(s->task),
                                                    .args = at_task_args(s->task),
                                                    .context_hash = s->context_hash,
                                                    .index = f->result->index,
                                                    .config = &f->candidate.config,
                                                    .samples_s = r->samples_s,
                                                    .num_samples = r->num_samples,
                                                    .gflops = r->gflops,
                                                    .peak_gflops = s->peak_gflops,
                                                    .timestamp_s = r->timestamp_s});
    at_status status = at_log_comment(log, at_text_str(&text), err);
    at_text_free(&text);
    return status;
}

/* One finalist's turn in a round, with the peak of the moment. */
static at_status take_turn(at_session *s, at_log *log, at_finalist *f, at_error *err) {
    at_result r = {.error = ""};
    at_arena_reset(s->scratch);
    AT_TRY(at_session_renew_peak(s, peak_age_s, err));
    AT_TRY(at_candidate_run(s, s->scratch, &f->candidate, 0, &r, err));
    if (r.error_no) {
        drop_out(s, f, "timed", r.error);
        return AT_OK;
    }
    f->costs_s[f->rounds] = r.mean_s;
    f->peaks[f->rounds++] = s->peak_gflops;
    return log ? log_sample(s, log, f, &r, err) : AT_OK;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Of the samples so far, in the order of rounds: those still in it have as many, or one more in a
 * round that the budget cut short. */
static void find_leader(at_final *final) {
    final->winner = NULL;
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        if (f->rounds <= 0) continue;
        f->time_s = at_median(f->costs_s, f->rounds).median;
        if (!final->winner || f->time_s < final->winner->time_s) final->winner = f;
    }
}

/* Round by round against the leader, so that what slows both does not count: is the median of the
 * ratios certainly above 1? */
static bool is_behind(const at_finalist *f, const at_finalist *leader) {
    double ratios[AT_FINAL_ROUNDS];
    int n = f->rounds < leader->rounds ? f->rounds : leader->rounds;
    for (int i = 0; i < n; i++) ratios[i] = f->costs_s[i] / leader->costs_s[i];
    return n >= AT_FINAL_LEAST && at_median(ratios, n).low > 1;
}

/* Takes those that are behind out of further rounds; false: nobody is left to compare. */
static bool compare(at_final *final) {
    int left = 0;
    find_leader(final);
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        if (f->rounds > 0 && f != final->winner && !f->is_behind)
            f->is_behind = is_behind(f, final->winner);
        left += f->rounds >= 0 && !f->is_behind;
    }
    return left > 1;
}

/* Who comes when is random: what one leaves in the caches, and the clock, it does to all alike. */
static void shuffle(int *order, int n, at_rng *rng) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)at_rng_below(rng, (uint64_t)i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* The first round goes from the best on and prepares them: where the budget ends in it, those were
 * compared that matter most. */
static at_status sample_all(at_session *s, at_log *log, double budget_s, at_final *final,
                            at_error *err) {
    int64_t begin_ns = at_now_ns();
    int order[AT_FINALISTS];
    at_rng rng;
    at_rng_seed(&rng, s->options.seed, AT_FINALISTS);
    for (int i = 0; i < final->count; i++) order[i] = i;
    for (int round = 0; round < AT_FINAL_ROUNDS; round++) {
        if (round) shuffle(order, final->count, &rng);
        for (int i = 0; i < final->count; i++) {
            at_finalist *f = &final->of[order[i]];
            bool late = (double)(at_now_ns() - begin_ns) * 1e-9 > budget_s;
            if (at_engine_stopped(&s->options) || late) return AT_OK;
            if (!round) AT_TRY(prepare(s, f, err));
            if (f->rounds >= 0 && !f->is_behind) AT_TRY(take_turn(s, log, f, err));
        }
        if (!compare(final) && round + 1 >= AT_FINAL_LEAST) break;
    }
    return AT_OK;
}

static void judge(const at_session *s, at_final *final) {
    find_leader(final);
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        double shares[AT_FINAL_ROUNDS];
        if (f->rounds <= 0) continue;
        for (int k = 0; k < f->rounds; k++)
            shares[k] = s->flops / f->costs_s[k] * 1e-9 / f->peaks[k];
        f->peak_gflops = at_median(f->peaks, f->rounds).median;
        f->gflops = s->flops / f->time_s * 1e-9;
        f->of_peak = at_median(shares, f->rounds);
        final->tied += f != final->winner && !is_behind(f, final->winner);
    }
}

/* What a turn will take beside the kernel's own runs: as a trial did, whose output is compared in
 * the same way. */
static double overhead_s(const at_spent *spent) {
    double trial_s = (double)spent->check_ns / (spent->measured > 0 ? spent->measured : 1) * 1e-9;
    return trial_s > turn_s ? trial_s : turn_s;
}

/* Single trials differ by more than the best few do from one another: as many of the n best as the
 * least number of rounds leaves time for. */
static int choose_number(const at_spent *spent, const at_result *const *top, int n,
                         double budget_s) {
    double round_s = 0;
    int count = 0;
    while (count < n) {
        round_s += overhead_s(spent) + (1 + samples_of(top[count])) * top[count]->mean_s;
        if (count >= LEAST_FINALISTS && AT_FINAL_LEAST * round_s > budget_s) break;
        count++;
    }
    return count;
}

at_status at_final_run(at_session *s, const at_known *known, at_log *log, at_final *out,
                       at_error *err) {
    const at_result *top[AT_FINALISTS];
    int64_t begin_ns = at_now_ns();
    double budget_s = budget_share * (double)(begin_ns - s->spent.start_ns) * 1e-9;
    if (budget_s < least_budget_s) budget_s = least_budget_s;
    memset(out, 0, sizeof *out);
    out->count = choose_number(&s->spent, top, at_known_top(known, top, AT_FINALISTS), budget_s);
    for (int i = 0; i < out->count; i++) out->of[i].result = top[i];
    if (out->count) at_engine_note(&s->options, "timing the best few again, in turn ...");
    at_status status = sample_all(s, log, budget_s, out, err);
    for (int i = 0; i < out->count; i++) at_candidate_drop(&out->of[i].candidate);
    if (status != AT_OK && status != AT_E_INTERRUPTED) return status;
    judge(s, out);
    s->spent.final_ns = at_now_ns() - begin_ns;
    return AT_OK;
}
