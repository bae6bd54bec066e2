/* cli/set_report.c: the summary at the end of a run of several tasks: the layers of a workload, or
 * the ways of computing an operator. */
#include "cli/set_report.h"

#include <string.h>

#include "cli/describe.h"
#include "cli/interrupt.h"
#include "cli/set_layers.h"

static bool has_one_template(const at_set_result *r) {
    for (int i = 1; i < r->ways.len; i++)
        if (strcmp(r->ways.data[i].task, r->ways.data[0].task) != 0) return false;
    return true;
}

/* "conv3x3 64 to 64 @56, by conv2d_3x3_gemm" */
static void add_name(at_text *out, const at_set_result *r, const at_set_layer *l) {
    const bool is_part = !*l->first->args; /* whose first way is its own text */
    at_text_add(out, is_part ? l->of->name : l->best->title);
    if (is_part ? *l->best->args != 0 : !has_one_template(r))
        at_text_addf(out, ", by %s", l->best->task);
}

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
    if (l->found) at_text_addf(&cell, "%.2f%s", l->gflops, l->tally.in_bytes ? " GB/s" : "");
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->found) at_text_add_share(&cell, l->of_peak);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    at_text_free(&cell);
}

static void add_row(at_table *t, const at_set_result *r, const at_set_layer *l, double all_s) {
    at_text cell = {0};
    add_name(&cell, r, l);
    add_cell(t, &cell);
    at_text_addf(&cell, "%lld", (long long)l->of->count);
    add_cell(t, &cell);
    add_speed(t, l->best);
    if (l->sum_s > 0) at_text_add_time(&cell, l->sum_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    if (l->sum_s > 0) at_text_add_share(&cell, l->sum_s / all_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    add_trials(&cell, &l->tally);
    add_cell(t, &cell);
    at_text_free(&cell);
}

static void add_sum(at_table *t, const at_set_layers *all) {
    at_text cell = {0};
    int64_t count = 0;
    for (int i = 0; i < all->of.len; i++) count += all->of.data[i].of->count;
    at_table_add(t, "sum");
    at_text_addf(&cell, "%lld", (long long)count);
    add_cell(t, &cell);
    for (int i = 0; i < 3; i++) at_table_add(t, "");
    if (all->sum_s > 0) at_text_add_time(&cell, all->sum_s);
    else at_text_add(&cell, "-");
    add_cell(t, &cell);
    at_table_add(t, "");
    at_text_addf(&cell, "%lld", (long long)at_set_done(all->result));
    add_cell(t, &cell);
    at_text_free(&cell);
}

/* Workers elsewhere have several trials each in a round: few trials may not do for all tasks. */
static bool trials_ended(const at_set_result *r) {
    return r->tuning && r->tuning->tally.done >= r->tuning->tally.total;
}

static void add_untried(at_text *out, const at_set_result *r) {
    at_text_addf(out, ": no trial was made: the %s first",
                 at_interrupted    ? "run was interrupted"
                 : trials_ended(r) ? "budget of trials ended"
                                   : "time ended");
}

/* Why there is no time of a layer, or of a way. */
static void add_why(at_text *out, const at_set_result *r, const at_layer_result *l,
                    const at_tally *tally, const at_options *o) {
    at_text_add_visible(out, l->task);
    at_text_add(out, *l->args ? " " : "");
    at_text_add_visible(out, l->args);
    if (!tally->done) {
        add_untried(out, r);
        return;
    }
    at_text_addf(out, ": no valid trial yet: %lld made, ", (long long)tally->done);
    at_text_add_failed(out, tally);
    if (!tally->inaccurate) return;
    at_text_add(out, "; ");
    at_text_add_inaccurate(out, tally, &o->engine);
}

static void add_missing(at_text *out, const at_set_layers *all, const at_options *o) {
    if (all->missing)
        at_text_addf(out, "\nnot in the sum, because they have no valid trial: %d of %d %s\n",
                     all->missing, all->of.len, all->result->layers);
    const at_set_layer *untried = NULL;
    int more = 0; /* of which the same is to be said */
    for (int i = 0; i < all->of.len; i++) {
        const at_set_layer *l = &all->of.data[i];
        if (l->best->found || !l->of->count) continue;
        if (!l->tally.done) {
            if (untried) more++;
            else untried = l;
            continue;
        }
        at_text_add(out, "    ");
        add_why(out, all->result, l->best, &l->tally, o);
        at_text_add(out, "\n");
    }
    if (!untried) return;
    at_text_add(out, "    ");
    add_name(out, all->result, untried);
    if (more) at_text_addf(out, " and %d more", more);
    add_untried(out, all->result);
    at_text_add(out, "\n");
}

/* The command names all of the log, or one layer where the template is a file, which a log does not
 * bring along. */
static void add_next(at_text *out, const at_set_result *r, const at_layer_result *l,
                     const at_options *o) {
    at_text_add(out, "Next: autotune apply");
    if (o->template_file) {
        at_template_add_words(out, l->row, true);
        at_text_add(out, " --args");
        at_text_add_word(out, l->args);
    }
    bool has_others = false; /* each layer has the set that its types have use for */
    for (int i = 0; i < r->ways.len; i++) has_others |= r->ways.data[i].has_others;
    at_text_add_log(out, r->log_path, has_others, l->threads, o->engine.isa);
    at_text_add(out, o->template_file ? " -o kernel.c\n" : " -o kernels.c\n");
}

/* The first layer of which apply would find a record; NULL: of none. */
static const at_layer_result *first_found(const at_set_layers *all) {
    for (int i = 0; i < all->of.len; i++)
        if (all->of.data[i].best->found) return all->of.data[i].best;
    return NULL;
}

static void add_stats(at_text *out, const at_set_result *r) {
    const at_set_tuning *t = r->tuning;
    at_text_addf(out, "%.3f s: %lld rounds; data and reference made %lld times, %.3f s",
                 at_seconds_since(r->start_ns), (long long)t->rounds, (long long)t->made,
                 (double)t->made_ns * 1e-9);
    if (!t->options.far) /* each worker has its own data */
        at_text_addf(out,
                     "; %lld other changes of layer, %.2f ms each; at most %lld MiB of data at a "
                     "time, and packed weights in turn from %lld MiB",
                     (long long)t->switches,
                     t->switches ? (double)t->switch_ns / (double)t->switches * 1e-6 : 0,
                     (long long)t->most_kept_bytes >> 20,
                     (long long)at_session_seen(&t->members[0].tuning.s).ring_bytes >> 20);
    at_text_add(out, "\n");
}

static at_status print_text(const at_set_layers *all, const at_options *o, at_error *err) {
    const at_set_result *r = all->result;
    const char *const heads[] = {!strcmp(r->layers, "parts") ? "part" : "layer",
                                 "count",
                                 "time",
                                 "GFLOP/s",
                                 "of peak",
                                 "count*time",
                                 "share",
                                 "trials"};
    const at_set_tuning *t = r->tuning;
    at_text out = {0};
    at_table table = {.arena = r->arena, .columns = sizeof heads / sizeof *heads};
    for (int i = 0; i < table.columns; i++) at_table_add(&table, heads[i]);
    for (int i = 0; i < all->of.len; i++) add_row(&table, r, &all->of.data[i], all->sum_s);
    add_sum(&table, all);
    at_table_print(&out, &table);
    add_missing(&out, all, o);
    at_text_add(&out, "Log ");
    at_text_add_visible(&out, r->log_path ? r->log_path : "");
    at_text_add(&out, ".\n");
    const at_layer_result *found = first_found(all);
    if (!r->advice && r->log_path && found) add_next(&out, r, found, o);
    if (o->stats && t) add_stats(&out, r);
    if (r->advice) at_text_add_visible(&out, r->advice), at_text_add(&out, "\n");
    return at_print(&out, err);
}

/* ---- ways of computing one thing ------------------------------------------------------------- */

/* "conv2d_winograd_nhwc, m 2, relu": the layer stands above the table. */
static void add_way_name(at_text *out, const at_layer_result *l) {
    const char *others = strchr(l->title, ',');
    at_text_addf(out, "%.*s%s", (int)strcspn(l->task, "+"), l->task, others ? others : "");
}

static void add_way(at_table *t, const at_layer_result *l, double best_s) {
    at_text cell = {0};
    add_way_name(&cell, l);
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

/* A result says nothing of ways that were not tried, now or for the log. */
static void add_untried_ways(at_text *out, const at_set_result *r, const at_set_layer *l) {
    int n = 0;
    for (int i = 0; i < l->num_ways; i++) {
        if (l->first[i].tally.done || l->first[i].found) continue;
        at_text_add(out, n++ ? "; " : "\n");
        add_way_name(out, &l->first[i]);
    }
    if (!n) return;
    add_untried(out, r);
    at_text_add(out, "\n");
}

static at_status print_ways(const at_set_layers *all, at_error *err) {
    static const char *const heads[] = {"way",         "time",  "GFLOP/s", "of peak",
                                        "of the best", "error", "trials"};
    const at_set_result *r = all->result;
    const at_set_layer *l = all->of.data;
    const at_layer_result *best = l->best->found ? l->best : NULL;
    at_text out = {0};
    at_table table = {.arena = r->arena, .columns = sizeof heads / sizeof *heads};
    at_text_addf(&out, "%s: %s\n\n", l->of->name, l->first->title);
    for (int i = 0; i < table.columns; i++) at_table_add(&table, heads[i]);
    for (int i = 0; i < l->num_ways; i++) add_way(&table, &l->first[i], best ? best->time_s : 0);
    at_table_print(&out, &table);
    add_untried_ways(&out, r, l);
    if (best) {
        at_text_addf(&out, "\nFastest of %lld: %s, ", (long long)at_set_done(r), best->task);
        at_text_add_time(&out, best->time_s);
        at_text_add(&out, ".\n");
    }
    at_text_add(&out, "Log ");
    at_text_add_visible(&out, r->log_path ? r->log_path : "");
    at_text_add(&out, ".\n");
    if (best) {
        at_text_add(&out, "Next: autotune apply");
        at_template_add_words(&out, best->row, true);
        at_text_add(&out, " --args");
        at_text_add_word(&out, best->args);
        at_text_add_log(&out, r->log_path, best->has_others, best->threads, best->isa);
        at_text_add(&out, " -o kernel.c\n");
    }
    return at_print(&out, err);
}

/* ---- the run's end --------------------------------------------------------------------------- */

/* The way that came nearest to the limit of errors; NULL: not all ways failed by that. */
static const at_layer_result *most_accurate(const at_set_layer *l) {
    const at_layer_result *best = l->first;
    for (int i = 0; i < l->num_ways; i++) {
        if (!l->first[i].tally.inaccurate) return NULL;
        if (l->first[i].tally.least_error < best->tally.least_error) best = &l->first[i];
    }
    return best;
}

/* Of layers, or of the ways of an operator alone. */
static at_status fail_missing(const at_set_layers *all, const at_options *o, at_error *err) {
    const at_set_layer *l = all->of.data;
    while (l->best->found) l++;
    const at_layer_result *nearest = all->result->layers ? NULL : most_accurate(l),
                          *way = nearest ? nearest : l->first;
    const at_tally *tally = all->result->layers ? &l->tally : &way->tally;
    at_text why = {0};
    add_why(&why, all->result, way, tally, o);
    const char *advice =
        tally->inaccurate ? "a larger --max-error admits them" : at_failure_advice(tally);
    bool failed = at_tally_failed(tally) > 0;
    at_fail(err, AT_E_NO_VALID, "no valid configuration of %d of %d %s; the %s: %s; %s",
            all->result->layers ? all->missing : l->num_ways,
            all->result->layers ? all->of.len : l->num_ways,
            all->result->layers ? all->result->layers : "ways", nearest ? "most accurate" : "first",
            at_text_str(&why),
            !failed  ? trials_ended(all->result) ? "give more --trials" : "give a longer --time"
            : advice ? advice
                     : "-v tells each failure");
    at_text_free(&why);
    return AT_E_NO_VALID;
}

at_status at_set_report(const at_set_result *r, const at_options *o, at_error *err) {
    at_set_layers all = at_set_layers_of(r);
    AT_TRY(o->json     ? at_set_print_json(&all, o, err)
           : r->layers ? print_text(&all, o, err)
                       : print_ways(&all, err));
    if (at_interrupted && r->tuning)
        return at_fail(err, AT_E_INTERRUPTED,
                       "interrupted%s after %lld of %lld trials; the same command goes on",
                       at_interrupted_by(), (long long)at_set_done(r), (long long)r->trials);
    return all.missing ? fail_missing(&all, o, err) : AT_OK;
}
