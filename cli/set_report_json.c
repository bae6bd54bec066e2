/* cli/set_report_json.c: the summary of several tasks as an object of --json. */
#include <math.h>

#include "cli/describe.h"
#include "cli/set_layers.h"

static void add_trials_json(at_out *out, const at_tally *t) {
    at_out_int(out, "trials", t->done);
    at_out_int(out, "from_log", t->answered);
    at_out_failed(out, t);
}

static void add_ways_json(at_out *out, const at_set_layer *l) {
    at_out_string(out, "operator", l->of->name);
    at_out_begin(out, "ways", '[');
    for (int i = 0; i < l->num_ways; i++) {
        const at_layer_result *way = &l->first[i];
        at_out_begin(out, NULL, '{');
        at_out_string(out, "task", way->task);
        at_out_raw(out, "args", way->args_json);
        add_trials_json(out, &way->tally);
        at_out_raw(out, "best", way->best_json);
        at_out_double(out, "of_best", way->found ? way->time_s / l->best->time_s : NAN);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
    if (l->best->found) at_out_int(out, "fastest", l->best - l->first);
    else at_out_string(out, "fastest", NULL);
}

static at_status ways_json(const at_set_layers *all, at_error *err) {
    const at_set_result *r = all->result;
    at_out out = at_out_object();
    add_ways_json(&out, all->of.data);
    at_out_int(&out, "trials", at_set_done(r));
    at_out_double(&out, "seconds", at_seconds_since(r->start_ns));
    at_out_string(&out, "log", r->log_path);
    return at_out_print(&out, err);
}

static void add_layer(at_out *out, const at_set_layer *l, double all_s, bool is_part) {
    double layer_s = l->sum_s > 0 ? l->sum_s : NAN;
    at_out_begin(out, NULL, '{');
    if (is_part) at_out_string(out, "part", l->of->name);
    at_out_string(out, "task", l->best->task);
    at_out_raw(out, "args", l->best->args_json);
    at_out_int(out, "count", l->of->count);
    add_trials_json(out, &l->tally);
    at_out_raw(out, "best", l->best->best_json);
    at_out_double(out, "sum_ns", layer_s * 1e9);
    at_out_double(out, "share", layer_s / all_s);
    if (l->of->is_operator) add_ways_json(out, l);
    at_out_end(out, '}');
}

/* Layers of a workload, or parts of a network. */
static void add_members(at_out *out, const at_set_layers *all) {
    const at_set_result *r = all->result;
    const at_set_tuning *t = r->tuning;
    int64_t answered = 0;
    at_out_string(out, "budget", t ? "shared" : "per-task");
    at_out_begin(out, r->layers, '[');
    for (int i = 0; i < all->of.len; i++) {
        add_layer(out, &all->of.data[i], all->sum_s, r->json != NULL);
        answered += all->of.data[i].tally.answered;
    }
    at_out_end(out, ']');
    at_out_double(out, "sum_ns", all->sum_s * 1e9);
    at_out_int(out, "missing", all->missing);
    at_out_int(out, "trials", at_set_done(r));
    at_out_int(out, "from_log", answered);
    at_out_double(out, "seconds", at_seconds_since(r->start_ns));
    if (t) {
        at_out_int(out, "rounds", t->rounds);
        at_out_int(out, "switches", t->switches);
        at_out_double(out, "switch_seconds", (double)t->switch_ns * 1e-9);
        at_out_int(out, "made", t->made);
        at_out_double(out, "made_seconds", (double)t->made_ns * 1e-9);
        at_out_int(out, "data_bytes", t->most_kept_bytes);
    }
    at_out_string(out, "log", r->log_path);
}

at_status at_set_print_json(const at_set_layers *all, const at_options *o, at_error *err) {
    if (!all->result->layers) return ways_json(all, err);
    if (all->result->json) {
        add_members(all->result->json, all);
        return AT_OK;
    }
    at_out out = at_out_object();
    at_out_string(&out, "workload", o->workload ? o->workload : o->operands[0]);
    add_members(&out, all);
    return at_out_print(&out, err);
}
