/* engine/search/tuning.c: the state of a search, before its first trial: task, tuner, and what the
 * tuner learns from. */
#include "engine/search/tuning.h"

#include <string.h>

static const int64_t default_trials = 500;

int64_t at_tally_failed(const at_tally *t) {
    int64_t n = 0;
    for (int e = 1; e <= AT_ERR_UNKNOWN; e++) n += t->failed[e];
    return n;
}

/* What a search knows of the same task on another machine, as another task. */
static void share_known(at_arena *a, const at_tuning *parent, const at_features *features,
                        at_history *out) {
    enum { MOST_FEATURES = 4096 };
    int n = at_known_count(parent->known);
    float row[MOST_FEATURES];
    const float **rows = AT_NEW_ARRAY(a, const float *, n);
    int *lengths = AT_NEW_ARRAY(a, int, n), *tasks = AT_NEW_ARRAY(a, int, n);
    double *scores = AT_NEW_ARRAY(a, double, n);
    *out = (at_history){.rows = rows, .lengths = lengths, .scores = scores, .tasks = tasks};
    for (int i = 0; i < n; i++) {
        const at_record *r = at_known_at(parent->known, i);
        int length = features->of(features->ctx, r->config.index, row, MOST_FEATURES);
        if (length <= 0 || length > MOST_FEATURES) continue;
        rows[out->count] = at_copy(a, row, sizeof *row * (size_t)length);
        lengths[out->count] = length;
        scores[out->count++] = r->error_no ? 0 : r->extra.gflops;
    }
}

bool at_tuning_default_config(at_session *s, at_config *out) {
    const int lanes =
        at_engine_target_for(&s->options, at_task_compute(s->what.task))->default_lanes;
    if (s->what.chosen.has_sketch)
        return at_task_sketch_default(s->arena, s->what.task, s->what.chosen.sketch, lanes, out,
                                      NULL) == AT_OK;
    return at_task_default_config(s->arena, s->what.task, lanes, out, NULL) == AT_OK;
}

/* parent: whose results are learned from; NULL: none. */
static at_status make_tuner(at_tuning *t, const at_tuning *parent, at_error *err) {
    at_session *s = &t->s;
    const at_engine_options *o = &s->options;
    at_history history;
    at_config start;
    const at_tuner_class *row;
    int64_t begin_ns = at_now_ns();
    at_tuner_options to = o->tuner_options;
    to.seed = o->seed;
    to.asynchronous = o->far != NULL;
    AT_TRY(at_tuner_parse(o->tuner ? o->tuner : at_tuner_default(), &to, &row, err));
    s->how.tuner = row->name;
    AT_TRY(at_features_of(&t->features, s->what.task, o, &to.features, err));
    if (o->num_transfer) {
        if (!row->learns_features)
            return at_fail(err, AT_E_USAGE,
                           "--transfer: the tuner %s learns nothing from other "
                           "tasks; xgb does",
                           row->name);
        AT_TRY(at_history_read(s->arena, o, s->what.task, &history, err));
        if (history.costs_ns && row->goes_by_costs && !row->goes_by_costs(&to))
            at_engine_warn(o, "--transfer: trials of other computations correct the costs that a "
                              "draft goes by; without a draft they are not used");
        to.history = &history;
    } else if (parent && row->learns_features && to.features.of) {
        share_known(s->arena, parent, &to.features, &history);
        to.history = &history;
    }
    if (row->learns_features) {
        if (!at_task_foreign(s->what.task)) t->costs = at_cost_model_late(s->what.task, o);
        if (t->costs) to.costs = at_costs_of(t->costs);
        if (at_tuning_default_config(s, &start) && start.index >= 0) to.start = &start.index;
        /* Of derived trees it is seldom bad, and a second has two or three trials of long kernels;
         * of templates the cheapest ones are better, but not always. */
        to.start_leads = at_task_num_sketches(s->what.task) > 0;
        t->common = (at_common_maker){t->costs, at_task_flops(s->what.task)};
        if (t->costs) to.common = at_common_features(&t->common);
    }
    AT_TRY(at_tuner_new(s->how.tuner, s->what.space, &to, &t->tuner, err));
    s->spent.search_ns += at_now_ns() - begin_ns;
    return AT_OK;
}

void at_tuning_begin_tally(at_tuning *t) {
    at_session *s = &t->s;
    const at_tuner_options *to = &s->options.tuner_options;
    int64_t len = to->end ? at_space_subrange_length(s->what.space, to->begin, to->end)
                          : at_space_len(s->what.space);
    int64_t trials = s->options.trials ? s->options.trials : default_trials;
    t->tally.total = trials < len ? trials : len;
    t->tally.in_bytes = s->what.in_bytes;
    t->known = at_known_new(s->arena);
    t->shift.arena = s->arena;
}

at_status at_tuning_begin_other(const at_tuning *parent, const at_request *q, at_tuning *t,
                                at_error *err) {
    memset(t, 0, sizeof *t);
    AT_TRY(at_session_open(&parent->s.options, q, true, &t->s, err));
    AT_TRY(make_tuner(t, parent, err));
    at_tuning_begin_tally(t);
    t->events = parent->events;
    t->log_path = parent->log_path;
    t->log = parent->log;
    t->shares_log = true;
    return AT_OK;
}

at_status at_tuning_begin(const at_engine_options *o, const at_request *q, at_tuning *t,
                          at_error *err) {
    memset(t, 0, sizeof *t);
    AT_TRY(at_session_open(o, q, true, &t->s, err));
    return make_tuner(t, NULL, err);
}
