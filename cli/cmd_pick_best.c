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
    int by_time = 0, elsewhere = 0;
    for (int i = 0; i < count; i++) {
        by_time += picks[i].is_by_time;
        elsewhere += !picks[i].is_in_state;
    }
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
    at_out out = {0};
    at_out_begin(&out, NULL, '{');
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
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

static void add_row(at_table *t, at_text *cell, const at_pick *p) {
    const at_record *r = &p->record;
    at_text_clear(cell);
    at_text_add_record_task(cell, r->task, r->args);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    at_text_addf(cell, "%lld", (long long)r->config.recorded_index);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    at_text_add_time(cell, p->time_s);
    at_table_add(t, at_text_str(cell));
    at_text_clear(cell);
    if (gflops_of(p) > 0)
        at_text_addf(cell, "%.2f%s", gflops_of(p), r->extra.in_bytes ? " GB/s" : "");
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
    at_status status = at_print(&out, err);
    at_text_free(&cell);
    at_text_free(&out);
    return status;
}

/* What is left out, and why. */
typedef struct usable {
    at_arena *arena;
    at_record_uses *uses;
    int64_t changed, unfit;
    int64_t unfit_line; /* the first one's */
    const char *unfit_log, *unfit_why;
} usable;

static bool is_usable(void *ctx, const char *log, const at_record *r) {
    usable *u = ctx;
    at_error why;
    const at_template_row *row;
    if (at_template_find(r->task, &row, NULL) != AT_OK) return true;
    at_use use = at_record_use(u->uses, row, r, &why);
    u->changed += use == AT_OF_CHANGED;
    if (use != AT_UNFIT || !at_record_is_candidate(r)) return use != AT_OF_CHANGED;
    if (!u->unfit++) {
        u->unfit_line = r->line;
        u->unfit_log = log;
        u->unfit_why = at_strdup(u->arena, why.text);
    }
    return false;
}

static void warn_of_left_out(const at_options *o, const usable *u) {
    if (u->changed)
        at_warn(NULL, at_changed_text(u->arena, o->operands[0], u->changed,
                                      o->num_operands > 1 ? "a template, there and in the others,"
                                                          : "their template"));
    if (u->unfit)
        at_warn(NULL, at_unfit_text(u->arena, u->unfit_log, u->unfit_line, u->unfit, u->unfit_why));
}

at_status at_cmd_pick_best(const at_options *o, at_error *err) {
    if (o->compat && at_given(o, "--per"))
        return at_fail(err, AT_E_USAGE, "--compat and --per exclude each other");
    if (o->compat && o->engine.objective)
        return at_fail(err, AT_E_USAGE, "--compat and --objective exclude each other");
    at_arena *a = at_arena_new();
    at_pick *picks;
    int count;
    usable u = {.arena = a, .uses = at_record_uses_new(o->engine.accept_changed)};
    at_status status = at_pick_best_of(
        a, o->operands, o->num_operands, is_usable, &u, o->engine.objective, o->output,
        at_force_of(o), o->compat ? AT_PER_COMPAT : o->per, at_warn, NULL, &picks, &count, err);
    at_record_uses_free(u.uses);
    warn_of_left_out(o, &u);
    if (status == AT_OK) warn_of(o, a, picks, count);
    if (status == AT_OK)
        status = o->json ? print_json(o, picks, count, err) : print_text(o, a, picks, count, err);
    at_arena_free(a);
    return status;
}
