/* engine/measure/measure.c: a candidate's job is run and timed, and its record says how long it
 * took. */
#include "engine/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/bench.h"
#include "engine/measure/machine.h"
#include "engine/measure/states.h"

#define UNLIKELY 1.05 /* times the peak: it is measured again */
enum { MOST_AGAIN = 2 };

static void take_samples(at_arena *a, const at_outcome *o, at_record *r) {
    at_extra *e = &r->extra;
    e->samples_s = at_copy(a, o->costs_s, sizeof *o->costs_s * (size_t)o->num_costs);
    e->num_samples = o->num_costs;
    r->costs_s = at_costs_of_samples(a, e->samples_s, e->num_samples, &r->num_costs);
}

/* 0 of a state without pairs. */
static double median_anchor_s(const at_outcome *o, const char *states, at_state state) {
    double times_s[AT_MAX_PAIRS];
    int n = 0;
    for (int i = 0; i < o->num_pairs; i++)
        if (states[i] == at_state_letter(state)) times_s[n++] = o->pairs[i].anchor_most_s;
    at_sort_doubles(times_s, n);
    return n ? at_sorted_median(times_s, n) : 0;
}

/* What ratios are made times with: the first anchor's time and the links to it. An anchor that is
 * not on that scale has the time that it took in these pairs. */
static double scale_s(const at_anchors *anchor, const at_outcome *o) {
    double times_s[AT_MAX_PAIRS];
    if (anchor->of_first > 0) return anchor->of_first * anchor->first_s;
    for (int i = 0; i < o->num_pairs; i++) times_s[i] = o->pairs[i].anchor_most_s;
    at_sort_doubles(times_s, o->num_pairs);
    return at_sorted_median(times_s, o->num_pairs);
}

/* Ratios to the anchor, and the times that come of them with the time of the first one: these are
 * comparable throughout the log, whatever the machine did meanwhile. */
static void take_pairs(at_session *s, at_arena *a, const at_outcome *o, at_record *r) {
    const at_anchors *anchor = &s->bench->anchors;
    at_paired *p = &r->extra.pairs;
    int n = o->num_pairs;
    double *ratios = AT_NEW_ARRAY(a, double, n), *times_s = AT_NEW_ARRAY(a, double, n);
    char *states = AT_NEW_ARRAY(a, char, n + 1);
    double anchor_s = scale_s(anchor, o), cost_s;
    at_states_waited(s, o);
    for (int i = 0; i < n; i++) {
        /* More digits than a clock gives would only make lines long. */
        ratios[i] = round(o->pairs[i].time_s / o->pairs[i].anchor_s * 1e6) / 1e6;
        if (!(ratios[i] > 0)) ratios[i] = 1e-6;
        times_s[i] = at_with_digits(ratios[i] * anchor_s, AT_TIME_DIGITS);
        states[i] = at_state_letter(at_states_take(s, &o->pairs[i]));
    }
    at_states_differ(s, ratios, states, n);
    *p = (at_paired){.anchor = anchor->number,
                     .first = anchor->first,
                     .ratios = ratios,
                     .num_ratios = n,
                     .states = states,
                     .ratio =
                         at_median_that_counts(ratios, states, n, s->bench->states.objective, NULL),
                     .is_bracketed = o->is_bracketed};
    p->of_first = p->ratio * anchor->of_first;
    p->of_first_error = anchor->of_first_error;
    cost_s = at_with_digits(p->ratio * anchor_s, AT_TIME_DIGITS);
    r->extra.samples_s = times_s;
    r->extra.num_samples = n;
    r->costs_s = at_copy(a, &cost_s, sizeof cost_s);
    r->num_costs = 1;
}

at_status at_candidate_begin(at_session *s, at_candidate *c, double best_s, at_error *err) {
    /* AutoTVM's numbers, once given, are kept for every trial. */
    bool by_numbers = s->options.number || s->options.repeat;
    c->job.best_ns = by_numbers ? 0 : (int64_t)(best_s * 1e9);
    AT_TRY(at_dataset_shape(&s->bench->data, c->extents, err));
    for (int i = 0; i < s->bench->num_others; i++)
        AT_TRY(at_dataset_shape(&s->bench->others[i], c->extents, err));
    c->job.data_version = s->bench->data.version;
    return at_worker_begin(s->bench->worker, &c->job, s->options.stop, err);
}

static int by_kernel_time(const void *x, const void *y) {
    const at_pair *a = x, *b = y;
    return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* By the clock, where ratios make the result. */
static double clocked_s(const at_outcome *o, const at_record *r) {
    if (!o->num_pairs) return at_record_mean(r);
    at_pair sorted[AT_MAX_PAIRS];
    memcpy(sorted, o->pairs, sizeof *sorted * (size_t)o->num_pairs);
    qsort(sorted, (size_t)o->num_pairs, sizeof *sorted, by_kernel_time);
    return sorted[o->num_pairs / 2].time_s;
}

static at_status end(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                     at_error *err) {
    at_outcome outcome;
    at_outcome_clear(&outcome);
    AT_TRY(at_worker_end(s->bench->worker, &c->job, s->options.stop, &outcome, err));
    s->spent.compile_ns += outcome.compile_ns;
    s->spent.check_ns += outcome.check_ns;
    s->spent.measured++;
    s->spent.run_ns += outcome.run_ns;
    s->spent.core_ns += outcome.end ? outcome.total_ns : outcome.core_ns;
    /* One that was killed has not said how long it ran. */
    s->spent.kernel_ns +=
        outcome.end == AT_JOB_TIMEOUT ? outcome.total_ns - outcome.compile_ns : outcome.kernel_ns;
    s->bench->disturbed += outcome.disturbed;
    result->all_cost_s += (double)(outcome.total_ns + outcome.ahead_ns) * 1e-9;
    c->max_error = outcome.max_error;
    c->of_limit = outcome.of_limit;
    if (outcome.end) {
        at_candidate_fail(a, result, at_error_of_job(outcome.end), outcome.error);
        return AT_OK;
    }
    result->extra.pairs = (at_paired){0}; /* those of a measurement before */
    if (outcome.num_pairs) {
        take_pairs(s, a, &outcome, result);
        for (int i = 0; i < AT_STATE_COUNT; i++)
            c->anchor_s[i] = median_anchor_s(&outcome, result->extra.pairs.states, (at_state)i);
    } else take_samples(a, &outcome, result);
    c->clocked_s = clocked_s(&outcome, result);
    result->extra.number = outcome.number;
    result->extra.min_repeat_ms = outcome.number ? s->options.min_repeat_ms : 0;
    result->extra.sample_kind = outcome.at_least ? AT_SAMPLES_AT_LEAST : AT_SAMPLES_FULL;
    result->extra.check = outcome.is_cut            ? AT_CHECK_UNCHECKED
                          : !c->job.expected_offset ? AT_CHECK_NOTHING
                          : c->job.has_limits       ? AT_CHECK_TOLERANCE
                                                    : AT_CHECK_EXACT;
    if (result->extra.check == AT_CHECK_TOLERANCE) result->extra.of_limit = outcome.of_limit;
    result->timestamp_s = at_wall_time_s();
    result->extra.gflops = s->what.work / at_record_mean(result) * 1e-9;
    return AT_OK;
}

/* By the clock, beside the peak of this moment. */
static bool is_clock_beyond(const at_session *s, at_arena *a, const at_candidate *c, double times) {
    if (s->foreign) return false; /* what it does is not known */
    return at_is_beyond_peak(s, a, c->kernel->lowered, c->clocked_s, times);
}

/* On the scale of the first anchor, beside the peak of the moment when that was timed, too. */
static bool is_scale_beyond(const at_session *s, at_arena *a, const at_candidate *c,
                            const at_record *r, double times) {
    const at_anchors *of = &s->bench->anchors;
    if (s->foreign || !r->extra.pairs.num_ratios) return false;
    if (!(of->of_first > 0) || !(of->peak_gflops > 0)) return false;
    double higher = fmax(1, of->peak_gflops / s->bench->peak_gflops);
    return at_is_beyond_peak(s, a, c->kernel->lowered, at_record_mean(r), times * higher);
}

/* As of a kernel that was timed alone: what is wrong is the scale, the first anchor's time or the
 * links to it. */
static void take_clock(const at_session *s, at_arena *a, const at_candidate *c, at_record *r) {
    const double cost_s = at_with_digits(c->clocked_s, AT_TIME_DIGITS);
    r->extra.pairs = (at_paired){0};
    r->extra.samples_s = r->costs_s = at_copy(a, &cost_s, sizeof cost_s);
    r->extra.num_samples = r->num_costs = 1;
    r->extra.gflops = s->what.work / cost_s * 1e-9;
}

/* The peak was measured in a bad moment, or the anchor was disturbed unseen, which another time
 * will hardly show again; or a clock is wrong, or the kernel leaves out what it must do, and there
 * is no result. */
at_status at_candidate_end(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                           at_error *err) {
    for (int i = 0;; i++) {
        AT_TRY(end(s, a, c, result, err));
        double peak_gflops = s->bench->peak_gflops, peak = s->bench->peak,
               times = i ? AT_IMPOSSIBLE : UNLIKELY;
        if (result->error_no) return AT_OK;
        const bool by_clock = is_clock_beyond(s, a, c, times);
        if (!by_clock && !is_scale_beyond(s, a, c, result, times)) return AT_OK;
        if (i == MOST_AGAIN && by_clock) break;
        if (i == MOST_AGAIN) {
            take_clock(s, a, c, result);
            return AT_OK;
        }
        s->bench->disturbed++;
        AT_TRY(at_session_measure_peak(s, err));
        s->bench->peak_gflops = fmax(s->bench->peak_gflops, peak_gflops);
        s->bench->peak = fmax(s->bench->peak, peak);
        AT_TRY(at_worker_begin(s->bench->worker, &c->job, s->options.stop, err));
    }
    at_candidate_lose(a, result,
                      at_format(a,
                                "measured %d times, each time faster than its multiply-adds can be "
                                "(%.4g GFLOP/s, the FMA peak is %.4g): this machine's clock is "
                                "wrong, or the kernel does not do all of them",
                                MOST_AGAIN + 1, s->what.work / c->clocked_s * 1e-9,
                                s->bench->peak));
    return AT_OK;
}

at_status at_candidate_run(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                           at_error *err) {
    AT_TRY(at_candidate_begin(s, c, 0, err));
    return at_candidate_end(s, a, c, result, err);
}
