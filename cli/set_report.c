/* cli/set_report.c: the summary at the end of a run of several tasks: the layers of a workload, or
 * the ways of computing an operator. */
#include "cli/set_report.h"

#include <math.h>

#include "cli/describe.h"
#include "cli/interrupt.h"

void at_set_result_add(at_set_result *r, const at_tuning *t, int64_t count) {
    at_layer_result *l = at_push(r->arena, &r->layers);
    at_best best;
    at_out out = {0};
    *l = (at_layer_result){.task = at_strdup(r->arena, t->s.row->name),
                           .args = at_strdup(r->arena, at_task_args_text(t->s.task)),
                           .args_json = at_json_text(r->arena, at_task_args(t->s.task)),
                           .count = count,
                           .tally = t->tally,
                           .found = at_tuning_best(t, &best)};
    at_out_best(&out, NULL, t, l->found ? &best : NULL);
    l->best_json = at_text_take(r->arena, &out.text);
    if (!r->log_path && t->log_path) r->log_path = at_strdup(r->arena, t->log_path);
    if (!l->found) return;
    l->time_s = best.time_s;
    l->gflops = best.gflops;
    l->of_peak = best.of_peak.median;
    l->accuracy = best.record->extra.accuracy;
}

static double sum_s(const at_set_result *r) {
    double sum = 0;
    for (int i = 0; i < r->layers.len; i++)
        if (r->layers.data[i].found)
            sum += (double)r->layers.data[i].count * r->layers.data[i].time_s;
    return sum;
}

static int missing(const at_set_result *r) {
    int n = 0;
    for (int i = 0; i < r->layers.len; i++) n += !r->layers.data[i].found;
    return n;
}

static int64_t done(const at_set_result *r) {
    int64_t n = 0;
    for (int i = 0; i < r->layers.len; i++) n += r->layers.data[i].tally.done;
    return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The text's copy as a cell; clears it. */
static void add_cell(at_table *t, at_text *cell) {
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
}

static void add_trials(at_text *out, const at_tally *t) {
    at_text_addf(out, "%lld", (long long)t->done);
    if (t->answered) at_text_addf(out, ", %lld from the log", (long long)t->answered);
    if (!at_tally_failed(t)) return;
    at_text_add(out, "; ");
    at_text_add_failed(out, t);
}

/* Time, speed and share of the peak, a cell each. */
static void add_speed(at_table *t, const at_layer_result *l) {
    at_text cell = {0};
    if (l->found) at_text_add_time(&cell, l->time_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->found) at_text_addf(&cell, "%.2f %s", l->gflops, at_unit_of_speed(l->tally.in_bytes));
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->found) at_text_add_share(&cell, l->of_peak);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    at_text_free(&cell);
}

static void add_row(at_table *t, const at_layer_result *l, double all_s) {
    at_text cell = {0};
    double layer_s = (double)l->count * l->time_s;
    at_text_addf(&cell, "%s %s", l->task, l->args);
    add_cell(t, &cell);
    at_text_addf(&cell, "%lld", (long long)l->count);
    add_cell(t, &cell);
    add_speed(t, l);
    if (l->found) at_text_add_time(&cell, layer_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->found) at_text_add_share(&cell, layer_s / all_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    add_trials(&cell, &l->tally);
    add_cell(t, &cell);
    at_text_free(&cell);
}

static void add_sum(at_table *t, const at_set_result *r, double all_s) {
    at_text cell = {0};
    int64_t count = 0;
    for (int i = 0; i < r->layers.len; i++) count += r->layers.data[i].count;
    at_table_add(t, "sum");
    at_text_addf(&cell, "%lld", (long long)count);
    add_cell(t, &cell);
    for (int i = 0; i < 3; i++) at_table_add(t, "");
    if (all_s > 0) at_text_add_time(&cell, all_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    at_table_add(t, "");
    at_text_addf(&cell, "%lld", (long long)done(r));
    add_cell(t, &cell);
    at_text_free(&cell);
}

/* Why there is no time of a layer. */
static void add_why(at_text *out, const at_layer_result *l, const at_options *o) {
    at_text_add_visible(out, l->task);
    at_text_add(out, " ");
    at_text_add_visible(out, l->args);
    if (!l->tally.done) {
        at_text_addf(out, ": no trial was made: the %s first",
                     at_interrupted ? "run was interrupted" : "time ended");
        return;
    }
    at_text_addf(out, ": no valid trial yet: %lld made, ", (long long)l->tally.done);
    at_text_add_failed(out, &l->tally);
    if (!l->tally.inaccurate) return;
    at_text_add(out, "; ");
    at_text_add_inaccurate(out, &l->tally, &o->engine);
}

static void add_missing(at_text *out, const at_set_result *r, const at_options *o) {
    if (missing(r))
        at_text_addf(out, "\nnot in the sum, because they have no valid trial: %d of %d layers\n",
                     missing(r), r->layers.len);
    for (int i = 0; i < r->layers.len; i++) {
        if (r->layers.data[i].found) continue;
        at_text_add(out, "    ");
        add_why(out, &r->layers.data[i], o);
        at_text_add(out, "\n");
    }
}

static at_status print_text(const at_set_result *r, const at_options *o, at_error *err) {
    static const char *const heads[] = {"layer",   "count",      "time",  "speed",
                                        "of peak", "count*time", "share", "trials"};
    const at_set_tuning *t = r->tuning;
    at_text out = {0};
    at_table table = {.arena = r->arena, .columns = sizeof heads / sizeof *heads};
    double all_s = sum_s(r);
    for (int i = 0; i < table.columns; i++) at_table_add(&table, heads[i]);
    for (int i = 0; i < r->layers.len; i++) add_row(&table, &r->layers.data[i], all_s);
    add_sum(&table, r, all_s);
    at_table_print(&out, &table);
    add_missing(&out, r, o);
    at_text_add(&out, "log ");
    at_text_add_visible(&out, r->log_path ? r->log_path : "");
    at_text_add(&out, "\n");
    if (o->stats && t)
        at_text_addf(&out,
                     "%.3f s: %lld rounds; data and reference made %lld times, %.3f s; %lld other "
                     "changes of layer, %.2f ms each; at most %lld MiB of data at a time\n",
                     (double)(at_now_ns() - r->start_ns) * 1e-9, (long long)t->rounds,
                     (long long)t->made, (double)t->made_ns * 1e-9, (long long)t->switches,
                     t->switches ? (double)t->switch_ns / (double)t->switches * 1e-6 : 0,
                     (long long)t->most_kept_bytes >> 20);
    at_status status = at_print(&out, err);
    at_text_free(&out);
    return status;
}

/* ---- ways of computing one thing ------------------------------------------------------------- */

/* -1: none is valid. */
static int fastest(const at_set_result *r) {
    int best = -1;
    for (int i = 0; i < r->layers.len; i++) {
        const at_layer_result *l = &r->layers.data[i];
        if (l->found && (best < 0 || l->time_s < r->layers.data[best].time_s)) best = i;
    }
    return best;
}

static void add_way(at_table *t, const at_layer_result *l, double best_s) {
    at_text cell = {0};
    at_text_addf(&cell, "%s %s", l->task, l->args);
    add_cell(t, &cell);
    add_speed(t, l);
    if (l->found) at_text_addf(&cell, "%.2f", l->time_s / best_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->accuracy.is_known) at_text_addf(&cell, "%.2g", l->accuracy.max_error);
    else if (l->tally.inaccurate) at_text_addf(&cell, "%.2g, too large", l->tally.least_error);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    add_trials(&cell, &l->tally);
    add_cell(t, &cell);
    at_text_free(&cell);
}

static at_status print_ways(const at_set_result *r, at_error *err) {
    static const char *const heads[] = {"way",         "time",  "speed", "of peak",
                                        "of the best", "error", "trials"};
    at_text out = {0};
    at_table table = {.arena = r->arena, .columns = sizeof heads / sizeof *heads};
    int best = fastest(r);
    for (int i = 0; i < table.columns; i++) at_table_add(&table, heads[i]);
    for (int i = 0; i < r->layers.len; i++)
        add_way(&table, &r->layers.data[i], best < 0 ? 0 : r->layers.data[best].time_s);
    at_table_print(&out, &table);
    if (best >= 0) {
        const at_layer_result *l = &r->layers.data[best];
        at_text_addf(&out, "\n%s: %s is the fastest; autotune apply %s --args", r->operator_name,
                     l->task, l->task);
        at_text_add_word(&out, l->args);
        at_text_add(&out, " --log");
        at_text_add_word(&out, r->log_path);
        at_text_add(&out, " writes it\n");
    }
    at_text_add(&out, "log ");
    at_text_add_visible(&out, r->log_path ? r->log_path : "");
    at_text_add(&out, "\n");
    at_status status = at_print(&out, err);
    at_text_free(&out);
    return status;
}

static at_status ways_json(const at_set_result *r, at_error *err) {
    at_out out = {0};
    int best = fastest(r);
    at_out_begin(&out, NULL, '{');
    at_out_string(&out, "operator", r->operator_name);
    at_out_begin(&out, "ways", '[');
    for (int i = 0; i < r->layers.len; i++) {
        const at_layer_result *l = &r->layers.data[i];
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "task", l->task);
        at_out_raw(&out, "args", l->args_json);
        at_out_int(&out, "trials", l->tally.done);
        at_out_int(&out, "from_log", l->tally.answered);
        at_out_failed(&out, &l->tally);
        at_out_raw(&out, "best", l->best_json);
        at_out_double(&out, "of_best", l->found ? l->time_s / r->layers.data[best].time_s : NAN);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    if (best < 0) at_out_string(&out, "fastest", NULL);
    else at_out_int(&out, "fastest", best);
    at_out_int(&out, "trials", done(r));
    at_out_double(&out, "seconds", (double)(at_now_ns() - r->start_ns) * 1e-9);
    at_out_string(&out, "log", r->log_path);
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_layer(at_out *out, const at_layer_result *l, double all_s) {
    double layer_s = l->found ? (double)l->count * l->time_s : NAN;
    at_out_begin(out, NULL, '{');
    at_out_string(out, "task", l->task);
    at_out_raw(out, "args", l->args_json);
    at_out_int(out, "count", l->count);
    at_out_int(out, "trials", l->tally.done);
    at_out_int(out, "from_log", l->tally.answered);
    at_out_failed(out, &l->tally);
    at_out_raw(out, "best", l->best_json);
    at_out_double(out, "sum_ns", layer_s * 1e9);
    at_out_double(out, "share", layer_s / all_s);
    at_out_end(out, '}');
}

static at_status print_json(const at_set_result *r, const at_options *o, at_error *err) {
    at_out out = {0};
    const at_set_tuning *t = r->tuning;
    double all_s = sum_s(r);
    int64_t answered = 0;
    at_out_begin(&out, NULL, '{');
    at_out_string(&out, "workload", o->workload);
    at_out_string(&out, "budget", t ? "shared" : "per-task");
    at_out_begin(&out, "layers", '[');
    for (int i = 0; i < r->layers.len; i++) {
        add_layer(&out, &r->layers.data[i], all_s);
        answered += r->layers.data[i].tally.answered;
    }
    at_out_end(&out, ']');
    at_out_double(&out, "sum_ns", all_s * 1e9);
    at_out_int(&out, "missing", missing(r));
    at_out_int(&out, "trials", done(r));
    at_out_int(&out, "from_log", answered);
    at_out_double(&out, "seconds", (double)(at_now_ns() - r->start_ns) * 1e-9);
    if (t) {
        at_out_int(&out, "rounds", t->rounds);
        at_out_int(&out, "switches", t->switches);
        at_out_double(&out, "switch_seconds", (double)t->switch_ns * 1e-9);
        at_out_int(&out, "made", t->made);
        at_out_double(&out, "made_seconds", (double)t->made_ns * 1e-9);
        at_out_int(&out, "data_bytes", t->most_kept_bytes);
    }
    at_out_string(&out, "log", r->log_path);
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

/* Of those without a valid trial: the most accurate one if all are too inaccurate, else the first.
 */
static const at_layer_result *most_telling(const at_set_result *r, bool *by_accuracy) {
    const at_layer_result *first = NULL, *best = NULL;
    *by_accuracy = r->operator_name != NULL;
    for (int i = 0; i < r->layers.len; i++) {
        const at_layer_result *l = &r->layers.data[i];
        if (l->found) continue;
        if (!first) first = l;
        *by_accuracy &= l->tally.inaccurate > 0;
        if (l->tally.inaccurate && (!best || l->tally.least_error < best->tally.least_error))
            best = l;
    }
    return *by_accuracy ? best : first;
}

at_status at_set_report(const at_set_result *r, const at_options *o, at_error *err) {
    int none = missing(r);
    if (r->operator_name) {
        AT_TRY(o->json ? ways_json(r, err) : print_ways(r, err));
        if (fastest(r) >= 0) none = 0;
    } else AT_TRY(o->json ? print_json(r, o, err) : print_text(r, o, err));
    if (at_interrupted && r->tuning)
        return at_fail(err, AT_E_INTERRUPTED,
                       "interrupted%s after %lld of %lld trials; the same command goes on",
                       at_interrupted_by(), (long long)done(r), (long long)r->trials);
    if (!none) return AT_OK;
    at_text why = {0};
    bool by_accuracy;
    const at_layer_result *l = most_telling(r, &by_accuracy);
    add_why(&why, l, o);
    const char *advice =
        l->tally.inaccurate ? "a larger --max-error admits them" : at_failure_advice(&l->tally);
    bool failed = at_tally_failed(&l->tally) > 0;
    at_fail(err, AT_E_NO_VALID, "no valid configuration of %d of %d %s; the %s: %s; %s", none,
            r->layers.len, r->operator_name ? "ways" : "layers",
            by_accuracy ? "most accurate" : "first", at_text_str(&why),
            !failed  ? "give a longer --time"
            : advice ? advice
                     : "-v tells each failure");
    at_text_free(&why);
    return AT_E_NO_VALID;
}
