/* engine/measure/anchors.c: which kernel the anchor is, its link to the first one, and its lines in
 * the log. */
#include "engine/measure/anchors.h"

#include <math.h>
#include <string.h>

#include "engine/measure/kernel_job.h"
#include "engine/measure/log_objective.h"
#include "engine/measure/states.h"
#include "engine/measure/bench.h"

/* Pairs of a trial, at most: it ends earlier where nothing is to be won (at_job.pairs). */
enum { PAIRS_OF_TRIAL = 3, PAIRS_WITH_ITSELF = 2 };
/* A kernel becomes the anchor where its trial took less than the first share of the anchor's time,
 * and the pairs of the link confirm the second one. */
static const double much_better = 0.75, still_better = 0.8;
enum {
    PAIRS_OF_FIRST = 11,
    PAIRS_OF_LINK = 200,
    LEAST_OF_LINK = 11,
    FIRST_SERIES = 11,
    MOST_LINKS = 3
};
/* Of long kernels a link has fewer pairs, as many as that holds. */
static const double link_s = 2;
/* Only what is about the best so far is linked. */
static const double about_best = 1.1;
enum { TIMES_LIMIT = 5 }; /* a job's pairs take at most that part of its time limit */
/* Pairs of a first anchor with itself. Where fewer fit into that time, its time is the shortest of
 * its samples. */
static const double first_link_s = 0.1;
enum { LEAST_OF_FIRST = 5 };
/* Series of pairs with the second kernel, which workers of other nodes are compared by. */
enum { SERIES = 5, LEAST_SERIES = 3, MOST_SERIES = 8 };
static const double series_s = 0.04;

/* ---- in the worker -------------------------------------------------------------------------- */

static bool shapes_change(const at_dataset *d) {
    bool any = false;
    for (int t = 0; t < d->compute->num_tensors; t++) any |= d->layouts[t] != NULL;
    return any;
}

/* Where tensors change their layout with the configuration, the anchor has a set of its own. */
static at_status place(at_session *s, at_candidate *k, at_error *err) {
    at_anchors *a = &s->bench->anchors;
    at_dataset *d = &s->bench->data;
    if (shapes_change(d)) {
        if (!a->twin.store) AT_TRY(at_dataset_twin(s->arena, d, &a->twin, err));
        d = &a->twin;
    }
    AT_TRY(at_dataset_shape(d, k->extents, err));
    const at_job placed = at_kernel_job(
        s->arena, k->kernel, s->how.threads,
        &(at_places){.at = d->offset, .expected = d->expected, .tensor_of = k->tensor_of});
    k->job.bufs = placed.bufs;
    k->job.expected_offset = placed.expected_offset;
    k->job.data_version = d == &s->bench->data ? d->version : 0;
    return AT_OK;
}

/* Such a kernel as the anchor of the worker, for a while: what is not said stays as it was. *set:
 * it runs and is right. k must live as long as it is the anchor. */
static at_status lend(at_session *s, at_candidate *k, bool *set, at_error *err) {
    at_outcome outcome;
    *set = false;
    s->bench->anchors.kernel = NULL;
    s->bench->anchors.object = NULL;
    at_status status = place(s, k, err);
    if (status == AT_E_USAGE) return AT_OK; /* no memory for a second set */
    AT_TRY(status);
    AT_TRY(at_worker_anchor(s->bench->worker, &k->job, s->options.stop, &outcome, err));
    s->spent.kernel_ns += outcome.kernel_ns;
    *set = !outcome.end;
    if (!*set) return AT_OK;
    s->bench->anchors.kernel = k;
    s->bench->anchors.object = k->object;
    return AT_OK;
}

/* The kernel of a configuration, which stays until it is dropped; *out NULL: it cannot be made. */
static at_status make(at_session *s, const at_config *c, at_candidate **out, at_error *err) {
    at_candidate *k = AT_NEW(s->arena, at_candidate);
    at_record r;
    *out = NULL;
    bool ready = at_candidate_make(s, s->arena, c, k, &r);
    if (ready) AT_TRY(at_candidate_compile(s, s->arena, k, &r, &ready, err));
    if (ready) *out = k;
    return AT_OK;
}

/* ---- lines of the log ----------------------------------------------------------------------- */

static at_status tell(const at_session *s, at_known *known, at_log *log, const at_anchor_line *l,
                      at_error *err) {
    at_text text = {0};
    at_anchor_line_print(&text, l);
    at_known_add_anchor(known, s, at_text_str(&text));
    at_status status = log ? at_log_comment(log, at_text_str(&text), err) : AT_OK;
    at_text_free(&text);
    return status;
}

static at_anchor_line line_of(const at_session *s, const at_candidate *k) {
    const at_anchors *a = &s->bench->anchors;
    at_anchor_line l = {.task = at_task_record_name(s->what.task),
                        .args = at_task_args(s->what.task),
                        .context_hash = s->how.context_hash,
                        .code_hash = k->kernel->code_hash,
                        .index = k->config.index,
                        .config = &k->config,
                        .number = a->number,
                        .links = a->links,
                        .linked_to = -1,
                        .of_first = a->of_first,
                        .of_first_error = a->of_first_error,
                        .first = a->first,
                        .first_s = a->first_s,
                        .peak_gflops = s->what.in_bytes ? 0 : a->peak_gflops,
                        .state = a->state};
    memcpy(l.by, a->by, sizeof l.by);
    return l;
}

static at_status config_of_line(at_session *s, const at_anchor_line *l, at_config *out,
                                at_error *err) {
    const at_json *json;
    const char *text = at_format(s->arena, "{\"entity\": %s}", at_json_text(s->arena, l->entity));
    AT_TRY(at_json_parse(s->arena, text, strlen(text), &json, err));
    return at_config_from_json(s->arena, s->what.space, json, out, err);
}

/* ---- which one ------------------------------------------------------------------------------ */

/* Goes on with the anchor of a log's line; *k NULL: what the line names is other code today. */
static at_status go_on(at_session *s, const at_anchor_line *l, at_candidate **k, at_error *err) {
    at_config config;
    at_error why;
    *k = NULL;
    if (config_of_line(s, l, &config, &why) != AT_OK || config.index < 0) return AT_OK;
    AT_TRY(make(s, &config, k, err));
    if (*k && strcmp((*k)->kernel->code_hash, l->code_hash) != 0) {
        at_candidate_drop(*k);
        *k = NULL;
    }
    if (!*k) return AT_OK;
    s->bench->anchors.number = l->number;
    s->bench->anchors.links = l->links;
    s->bench->anchors.of_first = l->of_first;
    s->bench->anchors.of_first_error = l->of_first_error;
    s->bench->anchors.first = at_strdup(s->arena, l->first);
    s->bench->anchors.first_s = l->first_s;
    s->bench->anchors.peak_gflops = l->peak_gflops;
    s->bench->anchors.state = l->state;
    memcpy(s->bench->anchors.by, l->by, sizeof l->by);
    return AT_OK;
}

int at_anchor_pairs_of_job(double timeout_s, int wanted, double pair_s) {
    double fit = timeout_s / (TIMES_LIMIT * pair_s);
    return timeout_s > 0 && fit < wanted ? (int)fmax(fit, 1) : wanted;
}

static void append(at_outcome *all, const at_outcome *part) {
    for (int i = 0; i < part->num_pairs && all->num_pairs < AT_MAX_PAIRS; i++)
        all->pairs[all->num_pairs++] = part->pairs[i];
    all->disturbed += part->disturbed + part->disturbed_kept;
    all->waited_ns += part->waited_ns;
}

at_status at_anchor_link(at_session *s, at_candidate *k, int wanted, double pair_s, at_linked *out,
                         at_error *err) {
    at_outcome all = {0}, part = {0};
    *out = (at_linked){0};
    k->job.to_the_end = true;
    at_states_ask(s, &k->job);
    AT_TRY(at_dataset_shape(&s->bench->data, k->extents, err));
    k->job.data_version = s->bench->data.version;
    for (int left = wanted; left > 0 && !part.end; left -= k->job.pairs) {
        k->job.pairs = at_anchor_pairs_of_job(s->options.timeout_s, left, pair_s);
        k->job.pair_seed = s->options.seed ^ (uint64_t)(wanted - left) << 40;
        AT_TRY(at_worker_run(s->bench->worker, &k->job, s->options.stop, &part, err));
        s->spent.kernel_ns += part.kernel_ns;
        k->job.wait_ns -= part.waited_ns < k->job.wait_ns ? part.waited_ns : k->job.wait_ns;
        append(&all, &part);
    }
    if (!part.end) *out = at_linked_of(s, &all);
    out->disturbed = all.disturbed * 4 > all.num_pairs;
    return AT_OK;
}

/* A neighbour, or a stop, may have lengthened any sample but the shortest. */
static double fastest_s(const at_record *r) {
    double least_s = at_record_mean(r);
    for (int i = 0; i < r->extra.num_samples; i++) least_s = fmin(least_s, r->extra.samples_s[i]);
    return least_s;
}

/* How long the first anchor takes now: beside itself, so that its time has a state. */
static at_status time_first(at_session *s, at_candidate *k, double run_s, at_error *err) {
    at_anchors *a = &s->bench->anchors;
    double pairs = fmin(PAIRS_OF_FIRST, first_link_s / (2 * run_s));
    at_linked own = {0};
    if (pairs >= LEAST_OF_FIRST) AT_TRY(at_anchor_link(s, k, (int)pairs, 2 * run_s, &own, err));
    if (own.pairs) a->first_s = own.anchor_s, a->state = own.state;
    for (int i = 0; i < AT_STATE_COUNT; i++) {
        a->by[i] = own.by[i]; /* it is the first itself */
        a->by[i].link = a->by[i].link_error = 0;
        if (own.by[i].pairs) a->by[i].of_first = 1;
    }
    return AT_OK;
}

/* The default configuration; *k NULL: it does not run, or its code is another than is wanted. */
static at_status lend_first(at_session *s, const char *wanted, at_candidate **k, at_error *err) {
    at_anchors *a = &s->bench->anchors;
    at_config config;
    at_record r = {.extra.error = ""};
    bool set = false;
    *k = NULL;
    if (at_task_default_config(s->arena, s->what.task, s->how.target->default_lanes, &config,
                               NULL) != AT_OK)
        return AT_OK;
    AT_TRY(make(s, &config, k, err));
    if (!*k) return AT_OK;
    if (!wanted || !strcmp(wanted, (*k)->kernel->code_hash)) {
        AT_TRY(at_candidate_run(s, s->arena, *k, &r, err));
        a->links = 0;
        a->of_first = 1;
        a->of_first_error = 0;
        a->first = (*k)->kernel->code_hash;
        a->state = AT_STATE_UNKNOWN;
        a->peak_gflops = s->bench->peak_gflops;
        memset(a->by, 0, sizeof a->by);
        if (!r.error_no) {
            a->first_s = fastest_s(&r);
            AT_TRY(lend(s, *k, &set, err));
        }
    }
    if (set) return time_first(s, *k, a->first_s, err);
    at_candidate_drop(*k);
    *k = NULL;
    return AT_OK;
}

static at_status begin_chain(at_session *s, at_known *known, at_log *log, at_error *err) {
    const at_anchor_line *last = at_known_anchor(known, -1);
    at_candidate *k;
    s->bench->anchors.number = last ? last->number + 1 : 0;
    AT_TRY(lend_first(s, NULL, &k, err));
    if (!k) return AT_OK;
    at_anchor_line l = line_of(s, k);
    return tell(s, known, log, &l, err);
}

static bool is_wanted(const at_session *s) {
    const at_engine_options *o = &s->options;
    return !o->number && !o->repeat && !(o->min_repeat_ms > 0) && !s->bench->flush_bytes;
}

at_status at_anchor_ready(at_session *s, at_known *known, at_log *log, at_error *err) {
    at_candidate *k = NULL;
    bool set = false;
    if (s->bench->anchors.is_ready) return AT_OK;
    s->bench->anchors.is_ready = true;
    if (!is_wanted(s)) return AT_OK;
    AT_TRY(at_objective_begin(s, known, log, err));
    const at_anchor_line *last = at_known_anchor(known, -1);
    if (last) AT_TRY(go_on(s, last, &k, err));
    if (!k) return begin_chain(s, known, log, err);
    AT_TRY(lend(s, k, &set, err));
    if (!set) at_candidate_drop(k);
    return AT_OK;
}

/* Its number and times are those of a chain of the log that began with the same code, so that all
 * costs of a log are on one scale. Without one it begins a chain. */
static at_status join_chain(at_session *s, const at_candidate *k, at_known *known, at_log *log,
                            at_error *err) {
    at_anchors *a = &s->bench->anchors;
    int n = 0;
    for (const at_anchor_line *l; (l = at_known_anchor(known, n)); n++) {
        if (l->links || strcmp(l->code_hash, a->first) != 0) continue;
        a->number = l->number;
        a->first_s = l->first_s;
        a->peak_gflops = l->peak_gflops;
        a->state = l->state;
        memcpy(a->by, l->by, sizeof a->by);
        return AT_OK;
    }
    a->number = n ? at_known_anchor(known, -1)->number + 1 : 0;
    at_anchor_line l = line_of(s, k);
    return tell(s, known, log, &l, err);
}

at_status at_anchor_first(at_session *s, const char *code_hash, at_known *known, at_log *log,
                          bool *is_there, at_error *err) {
    if (!s->bench->anchors.kernel && is_wanted(s)) {
        at_candidate *k;
        AT_TRY(lend_first(s, code_hash, &k, err));
        if (k && log) AT_TRY(join_chain(s, k, known, log, err));
    }
    *is_there = s->bench->anchors.kernel && !strcmp(s->bench->anchors.first, code_hash);
    return AT_OK;
}

/* On the scale of the log's costs. */
static double anchor_s(const at_anchors *a) { return a->first_s * a->of_first; }

/* ---- trials --------------------------------------------------------------------------------- */

void at_anchor_ask(const at_session *s, const at_known *known, int64_t index, at_job *job) {
    const at_record *best = at_known_best(known);
    const bool is_anchor =
        s->bench->anchors.kernel && s->bench->anchors.kernel->config.index == index;
    job->pairs = !s->bench->anchors.kernel ? 0
                 : !best && is_anchor      ? PAIRS_WITH_ITSELF
                                           : PAIRS_OF_TRIAL;
    job->to_the_end = !best;
    if (best && s->bench->anchors.kernel)
        job->best_ratio = fmin(1, at_record_mean(best) / anchor_s(&s->bench->anchors));
    job->pair_seed = s->options.seed ^ (uint64_t)index << 20;
    at_states_ask(s, job);
}

/* ---- another one ---------------------------------------------------------------------------- */

/* What differs between series of pairs is what is not known. Each has a process of its own: where
 * its memory lies makes up to 4 % of a short kernel's ratio, and within a process that stays.
 * Series that others disturbed do not count, nor those without the state that does; without enough
 * others nothing is known. */
static at_status link_in_series(at_session *s, at_candidate *k, at_linked *out, at_error *err) {
    double links[SERIES], pair_s = 2 * s->bench->anchors.first_s;
    int n = 0, pairs = FIRST_SERIES;
    at_linked l;
    *out = (at_linked){0};
    for (int i = 0; i < MOST_SERIES && n < SERIES; i++) {
        at_worker_rest(s->bench->worker);
        AT_TRY(at_anchor_link(s, k, pairs, pair_s, &l, err));
        if (!l.pairs) return AT_OK;
        *out = l;
        pair_s = l.anchor_s * (1 + exp(l.link));
        pairs = (int)fmin(PAIRS_OF_LINK, fmax(FIRST_SERIES, series_s / pair_s));
        if (l.disturbed || l.state != s->bench->anchors.state) continue;
        links[n++] = l.link;
    }
    out->error = 1;
    if (n < LEAST_SERIES) return AT_OK;
    at_sort_doubles(links, n);
    out->link = at_sorted_median(links, n);
    out->error = (links[n - 1] - links[0]) / 2;
    return AT_OK;
}

at_status at_anchor_second(at_session *s, const at_known *known, const at_config *c,
                           at_anchor_line *out, at_error *err) {
    const at_anchor_line *own = at_known_anchor(known, -1);
    at_candidate *k;
    at_linked l;
    AT_ASSERT(own && s->bench->anchors.kernel);
    *out = *own;
    out->config = &s->bench->anchors.kernel->config;
    AT_TRY(make(s, c, &k, err));
    if (!k) return AT_OK;
    at_status status = link_in_series(s, k, &l, err);
    at_candidate_drop(k);
    if (status != AT_OK || !l.pairs) return status;
    out->second_code = at_strdup(s->arena, k->kernel->code_hash);
    out->second = l.link;
    out->second_error = l.error;
    return AT_OK;
}

/* Makes the first of the chain the anchor again, so that the next kernel is linked to it directly:
 * errors of many links would add up. */
static at_status back_to_first(at_session *s, at_known *known, at_anchor_line *to, bool *is_first,
                               at_error *err) {
    at_candidate *k = NULL;
    at_candidate *was = s->bench->anchors.kernel;
    at_anchors kept = s->bench->anchors;
    const at_anchor_line *first = NULL;
    for (int i = 0; at_known_anchor(known, i); i++) {
        const at_anchor_line *l = at_known_anchor(known, i);
        if (!l->links && !strcmp(l->code_hash, kept.first)) first = l;
    }
    *is_first = false;
    if (first) AT_TRY(go_on(s, first, &k, err));
    if (!k) return AT_OK;
    AT_TRY(lend(s, k, is_first, err));
    if (*is_first) {
        at_candidate_drop(was);
        *to = *first;
        return AT_OK;
    }
    at_candidate_drop(k);
    s->bench->anchors = kept;
    return lend(s, was, &(bool){false}, err);
}

int at_anchor_pairs_of_link(double pair_s, double ratio, double wasted_s, double left_s) {
    double pairs = floor(fmin(PAIRS_OF_LINK, fmax(LEAST_OF_LINK, link_s / pair_s)));
    /* A pair of two such kernels takes that part of one with the anchor there is. */
    const double of_pair = 2 * ratio / (1 + ratio), cost_s = pairs * pair_s;
    return cost_s <= fmin(wasted_s, left_s * (1 - of_pair)) ? (int)pairs : 0;
}

/* What a trial's pairs took longer than they would have with the best kernel as their anchor. */
static double wasted_by(const at_anchors *a, const at_record *r, double best_s) {
    return r->extra.pairs.num_ratios * fmax(0, anchor_s(a) - best_s);
}

at_status at_anchor_consider(at_session *s, at_known *known, at_log *log, const at_record *r,
                             at_error *err) {
    at_anchors *a = &s->bench->anchors;
    const at_paired *p = &r->extra.pairs;
    const at_record *best = at_known_best(known);
    if (!a->kernel || !best) return AT_OK;
    a->wasted_s += wasted_by(a, r, at_record_mean(best));
    if (!at_record_is_candidate(r) || !p->num_ratios || p->ratio >= much_better) return AT_OK;
    if (at_record_mean(r) > about_best * at_record_mean(best)) return AT_OK;
    double pair_s = at_record_mean(r) * (1 + 1 / p->ratio);
    double left_s = s->deadline_ns ? (double)(s->deadline_ns - at_now_ns()) * 1e-9 : INFINITY;
    int pairs = at_anchor_pairs_of_link(pair_s, p->ratio, a->wasted_s, left_s);
    if (!pairs) return AT_OK;
    a->wasted_s = 0;
    at_candidate *k, *was = a->kernel;
    at_linked link;
    bool set = false;
    at_anchor_line to = line_of(s, was);
    AT_TRY(make(s, &r->config, &k, err));
    if (!k) return AT_OK;
    if (a->links >= MOST_LINKS) {
        AT_TRY(back_to_first(s, known, &to, &set, err));
        if (!set) {
            at_candidate_drop(k);
            return AT_OK;
        }
        was = a->kernel;
    }
    AT_TRY(at_anchor_link(s, k, pairs, pair_s, &link, err));
    if (!link.pairs || exp(link.link) > still_better) { /* it was lucky */
        at_candidate_drop(k);
        return AT_OK;
    }
    AT_TRY(lend(s, k, &set, err));
    if (!set) { /* it was right once, and is not any more */
        at_candidate_drop(k);
        return lend(s, was, &set, err);
    }
    at_candidate_drop(was);
    const at_anchor_line *last = at_known_anchor(known, -1);
    a->number = last->number + 1;
    a->links = to.links + 1;
    a->of_first = to.of_first * exp(link.link);
    a->of_first_error = to.of_first_error + link.error;
    a->state = link.state;
    memcpy(a->by, link.by, sizeof a->by);
    at_anchor_line l = line_of(s, k);
    l.linked_to = to.number;
    l.pairs = link.pairs;
    l.link = link.link;
    l.link_error = link.error;
    return tell(s, known, log, &l, err);
}

/* ---- for those who do not see the bench ------------------------------------------------------ */

const at_config *at_anchor_config(const at_session *s) {
    return s->bench->anchors.kernel ? &s->bench->anchors.kernel->config : NULL;
}

bool at_anchor_is_ready(const at_session *s) { return s->bench->anchors.is_ready; }

const at_candidate *at_anchor_default(const at_session *s) {
    return s->bench->anchors.links ? NULL : s->bench->anchors.kernel;
}

at_from_first at_anchor_from_first(const at_session *s) {
    const at_anchors *x = &s->bench->anchors;
    return (at_from_first){x->of_first, x->of_first_error, x->first};
}

at_status at_anchor_of_final(at_session *s, at_candidate *k, bool *set, at_error *err) {
    at_anchors *x = &s->bench->anchors;
    at_object_remove(x->object);
    AT_TRY(lend(s, k, set, err));
    x->object = NULL; /* the finalist's, who drops it */
    x->of_first = 0;  /* how long it takes, each turn tells */
    return AT_OK;
}

void at_anchor_after_final(at_session *s) {
    s->bench->anchors.kernel = NULL;
    s->bench->anchors.is_ready = false;
}
