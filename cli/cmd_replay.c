/* cli/cmd_replay.c: searches of a recorded space: how fast which tuner finds how much. */
#include <math.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/replay_workers.h"
#include "cli/json_out.h"
#include "engine/engine.h"
#include "view/view.h"

enum { MOST_TUNERS = 8 };

typedef struct replay {
    at_arena *arena;
    const at_options *options;
    at_recorded space;
    at_searches searches[MOST_TUNERS];
    int num_searches;
    int64_t shown[3]; /* 1, 5 and 10 % of the space, in trials */
} replay;

/* ---- features, worked out once for all searches --------------------------------------------- */

typedef struct feature_cache {
    at_features source;
    at_arena *arena;
    const at_space *space;
    struct cached {
        float *row;
        int length; /* -1: none; valid where known */
        bool known;
    } * by_place;
} feature_cache;

static int cached_features(void *ctx, int64_t index, float *out, int max) {
    feature_cache *c = ctx;
    struct cached *x = &c->by_place[at_space_place(c->space, index)];
    if (!x->known) {
        int n = c->source.of(c->source.ctx, index, out, max);
        if (n > max) return n; /* to be asked again with more room */
        *x = (struct cached){.length = n, .known = true};
        if (n > 0) x->row = at_copy(c->arena, out, sizeof *out * (size_t)n);
        return n;
    }
    if (x->length > 0 && x->length <= max) memcpy(out, x->row, sizeof *out * (size_t)x->length);
    return x->length;
}

/* ---- searching ------------------------------------------------------------------------------ */

/* "grid,ga" as the tuners to search with. */
static at_status list_tuners(replay *r, const char *list, at_error *err) {
    while (list) {
        const char *comma = strchr(list, ',');
        const at_tuner_class *row;
        const char *name = comma ? at_strndup(r->arena, list, (size_t)(comma - list)) : list;
        if (at_tuner_find(name, &row, err) != AT_OK) return at_fail_at(err, "--compare: ");
        for (int i = 0; i < r->num_searches; i++)
            if (r->searches[i].tuner == row->name)
                return at_fail(err, AT_E_USAGE, "--compare: %s is given twice", name);
        AT_ASSERT(r->num_searches < MOST_TUNERS);
        r->searches[r->num_searches++].tuner = row->name;
        list = comma ? comma + 1 : NULL;
    }
    return AT_OK;
}

static at_status choose_tuners(replay *r, at_error *err) {
    const at_options *o = r->options;
    const at_tuner_class *row;
    if (o->compare && at_given(o, "--tuner"))
        return at_fail(err, AT_E_USAGE, "give one of --tuner and --compare, not both");
    if (o->json + o->csv + o->trace > 1)
        return at_fail(err, AT_E_USAGE, "give one of --csv, --trace and --json");
    if (o->compare) return list_tuners(r, o->compare, err);
    AT_TRY(at_tuner_find(o->engine.tuner, &row, err));
    r->searches[r->num_searches++].tuner = row->name;
    return AT_OK;
}

static at_status search_with(replay *r, at_tuner_options to, at_error *err) {
    const at_options *o = r->options;
    for (int i = 0; i < r->num_searches; i++)
        AT_TRY(at_recorded_search(r->arena, &r->space, r->searches[i].tuner, to,
                                  (int)o->engine.trials, (int)o->repeats, o->trace, &r->searches[i],
                                  err));
    return AT_OK;
}

/* Of a space without a template, tuners see the values of the knobs. */
static at_status search_plain(replay *r, at_tuner_options to, at_error *err) {
    const at_options *o = r->options;
    const char *only = o->engine.num_transfer ? "--transfer"
                       : o->engine.features != AT_FEATURES_KNOB && at_given(o, "--feature")
                           ? "--feature"
                           : NULL;
    if (only)
        return at_fail(err, AT_E_USAGE,
                       "%s: there is no template \"%s\" here, so its knobs are all there is to "
                       "learn from",
                       only, r->space.name);
    return search_with(r, to, err);
}

static at_status search(replay *r, at_error *err) {
    const at_options *o = r->options;
    at_recorded *space = &r->space;
    at_feature_maker maker;
    at_history history;
    feature_cache cache = {.arena = r->arena, .space = space->space};
    at_tuner_options to = o->engine.tuner_options;
    to.seed = o->engine.seed;
    if (!space->task) return search_plain(r, to, err);
    if (o->engine.num_transfer) {
        AT_TRY(at_history_read(r->arena, &o->engine, space->task, &history, err));
        to.history = &history;
    }
    at_status status = at_features_of(&maker, space->task, &o->engine, &cache.source, err);
    cache.by_place =
        at_alloc(r->arena, sizeof *cache.by_place * (size_t)at_space_num_places(space->space));
    to.features = (at_features){cached_features, &cache};
    /* The speeds of the machine that recorded it, so that a replay is the same everywhere. */
    at_cost_model *costs = at_cost_model_of_recorded(space);
    at_common_maker common = {costs, at_task_flops(space->task)};
    if (costs) to.costs = at_costs_of(costs), to.common = at_common_features(&common);
    if (status == AT_OK) status = search_with(r, to, err);
    at_cost_model_free(costs);
    at_features_end(&maker);
    return status;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void add_trials(at_text *out, double trials) {
    if (isfinite(trials)) at_text_addf(out, " %12.*f", trials == floor(trials) ? 0 : 1, trials);
    else at_text_addf(out, " %12s", "-");
}

/* 1, 2, 5, 10, 20, ..., and the last. */
static int64_t next_shown(int64_t t, int64_t last) {
    int64_t ten = 1;
    while (ten * 10 <= t) ten *= 10;
    int64_t next = t < 2 * ten ? 2 * ten : t < 5 * ten ? 5 * ten : 10 * ten;
    return next < last || t >= last ? next : last;
}

static void add_summary(at_text *out, const replay *r) {
    at_text_addf(out, "\n%-26s %12s", "", "expected of");
    for (int i = 0; i < r->num_searches; i++) at_text_addf(out, " %12s", "");
    at_text_addf(out, "\n%-26s %12s", "median", "random");
    for (int i = 0; i < r->num_searches; i++) at_text_addf(out, " %12s", r->searches[i].tuner);
    for (int g = 0; g < AT_NUM_GOALS; g++) {
        char head[40];
        snprintf(head, sizeof head, "trials to %.0f %%", 100 * at_goals[g]);
        at_text_addf(out, "\n%-26s", head);
        add_trials(out, round(10 * at_recorded_expected_trials(&r->space, at_goals[g])) / 10);
        for (int i = 0; i < r->num_searches; i++) add_trials(out, r->searches[i].to[g]);
    }
    static const int percents[] = {1, 5, 10};
    for (int k = 0; k < 3; k++) {
        char head[64];
        snprintf(head, sizeof head, "after %lld trials (%d %%)", (long long)r->shown[k],
                 percents[k]);
        at_text_addf(out, "\n%-26s %10.1f %%", head,
                     100 * at_recorded_expected_share(&r->space, r->shown[k]));
        for (int i = 0; i < r->num_searches; i++) {
            const at_searches *s = &r->searches[i];
            if (s->trials < r->shown[k]) at_text_addf(out, " %12s", "-");
            else at_text_addf(out, " %10.1f %%", 100 * at_searches_share(s, r->shown[k], 0.5));
        }
    }
    at_text_addf(out, "\n%-39s", "milliseconds per search");
    for (int i = 0; i < r->num_searches; i++)
        at_text_addf(out, " %12.2f", 1e3 * r->searches[i].seconds);
    at_text_add(out, "\n");
}

static void add_curve(at_text *out, const at_searches *s, int64_t step) {
    for (int64_t t = 1;; t = step ? t + step : next_shown(t, s->trials)) {
        if (t > s->trials) break;
        double at[3] = {at_searches_share(s, t, 0.5), at_searches_share(s, t, 0.025),
                        at_searches_share(s, t, 0.975)};
        if (step)
            at_text_addf(out, "%s,%lld,%.4f,%.4f,%.4f\n", s->tuner, (long long)t, at[0], at[1],
                         at[2]);
        else
            at_text_addf(out, "  %6lld %7.1f %%   %5.1f to %5.1f %%\n", (long long)t, 100 * at[0],
                         100 * at[1], 100 * at[2]);
    }
}

static at_status print_text(const replay *r, at_error *err) {
    const at_recorded *space = &r->space;
    at_text out = {0};
    if (r->options->csv) at_text_add(&out, "tuner,trials,median,low,high\n");
    else {
        at_text_addf(&out, "%s %s\n%lld points, the best %.3f us",
                     space->task ? at_task_row(space->task)->name
                                 : at_visible(r->arena, space->name),
                     space->args_text, (long long)space->points, space->best_s * 1e6);
        if (space->winner >= 0) at_text_addf(&out, ", index %lld wins", (long long)space->winner);
        at_text_addf(&out, "; %d search%s of %d trials each\n", r->searches[0].repeats,
                     r->searches[0].repeats == 1 ? "" : "es", r->searches[0].trials);
        add_summary(&out, r);
    }
    for (int i = 0; i < r->num_searches; i++) {
        if (!r->options->csv)
            at_text_addf(&out,
                         "\n%s: trials, share of the optimum found: median and 95 %% interval\n",
                         r->searches[i].tuner);
        add_curve(&out, &r->searches[i], r->options->csv ? 1 : 0);
    }
    return at_print(&out, err);
}

/* Each trial as it came; search_s: of a search, divided by its trials. */
static at_status print_trace(const replay *r, at_error *err) {
    const at_recorded *space = &r->space;
    at_arena *scratch = at_arena_new();
    at_text out = {0}, entity = {0};
    at_status status = AT_OK;
    at_text_add(&out, "tuner,search,trial,part,index,failure,time_s,search_s,entity\n");
    for (int i = 0; i < r->num_searches; i++) {
        const at_searches *s = &r->searches[i];
        int64_t n = (int64_t)s->repeats * s->trials;
        for (int64_t k = 0; k < n && status == AT_OK; k++) {
            const at_step *step = &s->steps[k];
            if (step->index < 0) continue;
            double time_s = space->time_s[at_space_place(space->space, step->index)];
            at_config config;
            at_arena_reset(scratch);
            status = at_config_at(scratch, space->space, step->index, &config, err);
            at_text_clear(&entity);
            if (status == AT_OK) at_config_print_entity(&entity, &config);
            at_text_addf(&out, "%s,%lld,%lld,%s,%lld,%s,", s->tuner, (long long)(k / s->trials + 1),
                         (long long)(k % s->trials + 1), step->part, (long long)step->index,
                         time_s > 0 ? ""
                                    : at_err_no_name(time_s < 0 ? (int)-time_s : AT_ERR_UNKNOWN));
            if (time_s > 0) at_text_add_double(&out, time_s);
            at_text_addf(&out, ",%.3g", s->seconds / s->trials);
            at_csv_field(&out, at_text_str(&entity));
            at_text_add(&out, "\n");
            if (out.len < 1 << 16) continue;
            if (status == AT_OK) status = at_print(&out, err);
        }
    }
    if (status == AT_OK) status = at_print(&out, err);
    at_text_free(&entity);
    at_text_free(&out);
    at_arena_free(scratch);
    return status;
}

static void add_goals(at_out *out, const double *to) {
    static const char *const names[AT_NUM_GOALS] = {"trials_to_90", "trials_to_95", "trials_to_99"};
    for (int g = 0; g < AT_NUM_GOALS; g++) at_out_double(out, names[g], to[g]);
}

/* Shares found after 1, 5 and 10 % of the space and after all trials; s NULL: expected ones. */
static void add_shares(at_out *out, const replay *r, const at_searches *s) {
    int64_t last = 0;
    at_out_begin(out, "of_best_at", '{');
    for (int k = 0; k <= 3; k++) {
        int64_t t = k < 3 ? r->shown[k] : r->searches[0].trials;
        char key[24];
        if (t <= last || t > r->searches[0].trials) continue;
        last = t;
        snprintf(key, sizeof key, "%lld", (long long)t);
        at_out_double(out, key,
                      s ? at_searches_share(s, t, 0.5) : at_recorded_expected_share(&r->space, t));
    }
    at_out_end(out, '}');
}

static at_status print_json(const replay *r, at_error *err) {
    const at_recorded *space = &r->space;
    double expected[AT_NUM_GOALS];
    at_out out = at_out_object();
    at_out_begin(&out, "space", '{');
    at_out_string(&out, "task", space->task ? at_task_row(space->task)->name : space->name);
    at_out_json(&out, "args", space->args);
    at_out_int(&out, "points", space->points);
    at_out_double(&out, "best_ns", space->best_s * 1e9);
    if (space->winner >= 0) at_out_int(&out, "winner", space->winner);
    else at_out_string(&out, "winner", NULL);
    at_out_end(&out, '}');
    at_out_int(&out, "repeats", r->searches[0].repeats);
    at_out_begin(&out, "random_expected", '{');
    for (int g = 0; g < AT_NUM_GOALS; g++)
        expected[g] = at_recorded_expected_trials(space, at_goals[g]);
    add_goals(&out, expected);
    add_shares(&out, r, NULL);
    at_out_end(&out, '}');
    at_out_begin(&out, "tuners", '[');
    for (int i = 0; i < r->num_searches; i++) {
        const at_searches *s = &r->searches[i];
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "tuner", s->tuner);
        at_out_int(&out, "trials", s->trials);
        add_goals(&out, s->to);
        add_shares(&out, r, s);
        at_out_double(&out, "seconds", s->seconds);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    return at_out_print(&out, err);
}

static at_status replay_log(replay *r, at_error *err) {
    const at_options *o = r->options;
    AT_TRY(choose_tuners(r, err));
    const at_recorded *space = &r->space;
    AT_TRY(at_recorded_read(r->arena, o->operands[0], at_warn, NULL, &r->space, err));
    if (space->recorded < space->points)
        at_warn(NULL,
                at_format(r->arena, "%s: holds %lld of %lld points; the others count as failures",
                          o->operands[0], (long long)space->recorded, (long long)space->points));
    if (o->sim_workers) return at_replay_workers(o, space, err);
    static const double shares[] = {0.01, 0.05, 0.1};
    for (int k = 0; k < 3; k++) {
        r->shown[k] = (int64_t)ceil(shares[k] * (double)space->points);
        if (r->shown[k] < 1) r->shown[k] = 1;
    }
    AT_TRY(search(r, err));
    if (o->trace) return print_trace(r, err);
    return o->json ? print_json(r, err) : print_text(r, err);
}

at_status at_cmd_replay(const at_options *o, at_error *err) {
    replay r = {.arena = at_arena_new(), .options = o};
    at_status status = replay_log(&r, err);
    at_arena_free(r.arena);
    return status;
}
