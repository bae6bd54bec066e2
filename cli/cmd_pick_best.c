/* cli/cmd_pick_best.c: the best record of every task and context of some logs, as a log. */
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/outputs.h"
#include "engine/engine.h"
#include "view/view.h"

static double gflops_of(const at_pick *p) {
    const at_record *r = &p->record;
    return r->extra.gflops > 0 ? r->extra.gflops * (at_record_mean(r) / p->time_s) : 0;
}

/* What a choice is not. */
static void warn_of(const at_options *o, at_arena *a, const at_pick *picks, int count) {
    int by_time = 0, elsewhere = 0, foreign = 0;
    const bool is_beyond = !o->compat && o->per != AT_PER_CONTEXT && o->per != AT_PER_MCPU;
    for (int i = 0; i < count; i++) {
        by_time += picks[i].is_by_time;
        elsewhere += !picks[i].is_in_state;
        foreign += is_beyond && !at_is_of_this_cpu(&picks[i].record);
    }
    if (foreign)
        at_warn(NULL, at_format(a,
                                "%d of %d: measured on another CPU, and nothing on this one; --per "
                                "mcpu has the best of each",
                                foreign, count));
    if (by_time)
        at_warn(NULL, at_format(a,
                                "%d of %d: results were not all compared in pairs with one anchor; "
                                "ranked by time",
                                by_time, count));
    if (elsewhere)
        at_warn(NULL, at_format(a,
                                "%d of %d: no pair was timed for --objective %s; chosen by what "
                                "their log is for",
                                elsewhere, count, at_objective_name(o->engine.objective)));
}

static at_status print_json(const at_options *o, const at_pick *picks, int count, at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "picked", '[');
    for (int i = 0; i < count; i++) {
        const at_record *r = &picks[i].record;
        at_out_begin(&out, NULL, '{');
        at_out_record(&out, r);
        at_out_string(&out, "context_hash", r->extra.present ? r->extra.context_hash : NULL);
        at_out_double(&out, "time_ns", picks[i].time_s * 1e9);
        at_out_speed(&out, gflops_of(&picks[i]), r->extra.in_bytes);
        at_out_string(&out, "measured", at_record_final(r) ? "final" : "trial");
        at_out_int(&out, "considered", picks[i].considered);
        at_out_bool(&out, "in_pairs", !picks[i].is_by_time);
        at_out_string(&out, "source", picks[i].source);
        at_out_int(&out, "line", r->line);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
    return at_out_print(&out, err);
}

static void add_row(at_table *t, at_text *cell, const at_pick *p) {
    const at_record *r = &p->record;
    at_text_clear(cell);
    at_text_add_record_name(cell, r->task, r->args);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    if (r->config.recorded_index >= 0)
        at_text_addf(cell, "%lld", (long long)r->config.recorded_index);
    else at_text_add(cell, "-");
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    at_text_add_time(cell, p->time_s);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    if (gflops_of(p) > 0) {
        at_text_add_decimals(cell, gflops_of(p), 2);
        at_text_add(cell, r->extra.in_bytes ? " GB/s" : "");
    }
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    at_text_addf(cell, "%lld", (long long)p->considered);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    at_text_addf(cell, "%s:%lld", p->source, (long long)r->line);
    at_table_add(t, at_text_str(cell));
}

/* With an output file a table, else the records themselves. */
static at_status print_text(const at_options *o, at_arena *a, const at_pick *picks, int count,
                            at_error *err) {
    static const char *const heads[] = {"task", "index", "time", "GFLOP/s", "best of", "from"};
    at_text out = {0}, cell = {0};
    at_table t = {.arena = a, .columns = sizeof heads / sizeof *heads};
    for (int i = 0; i < t.columns; i++) at_table_add(&t, heads[i]);
    for (int i = 0; i < count; i++) {
        if (o->output) add_row(&t, &cell, &picks[i]);
        else at_pick_print(&out, &picks[i]);
    }
    if (o->output) {
        at_table_print(&out, &t);
        at_text_addf(&out, "%d record%s written to %s\n", count, at_plural(count),
                     at_visible(a, o->output));
    }
    at_text_free(&cell);
    return at_print(&out, err);
}

at_status at_cmd_pick_best(const at_options *o, at_error *err) {
    if (o->compat && at_given(o, "--per"))
        return at_fail(err, AT_E_USAGE, "--compat and --per exclude each other");
    if (o->compat && o->engine.objective)
        return at_fail(err, AT_E_USAGE, "--compat and --objective exclude each other");
    at_arena *a = at_arena_new();
    at_pick *picks;
    int count;
    const at_pick_request q = {.logs = o->operands,
                               .num_logs = o->num_operands,
                               .per = o->compat ? AT_PER_COMPAT : o->per,
                               .output = o->output,
                               .force = at_force_of(o)};
    at_status status = at_pick_usable(a, &o->engine, &q, &picks, &count, err);
    if (status == AT_OK) warn_of(o, a, picks, count);
    if (status == AT_OK)
        status = o->json ? print_json(o, picks, count, err) : print_text(o, a, picks, count, err);
    at_arena_free(a);
    return status;
}
