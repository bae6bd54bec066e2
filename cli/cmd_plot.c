/* cli/cmd_plot.c: how searches went, as pictures. */
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/sparsity_plot.h"
#include "cli/outputs.h"
#include "engine/engine.h"
#include "view/view.h"

static void out_series(at_out *out, const at_series *s) {
    at_out_begin(out, NULL, '{');
    at_out_string(out, "log", s->log);
    at_out_string(out, "tuner", *s->tuner ? s->tuner : NULL);
    at_out_string(out, "context", s->identity);
    at_out_int(out, "trials", at_series_trials(s));
    at_out_int(out, "failed", s->failed);
    if (s->winner >= 0) {
        at_out_int(out, "best_trial", s->points.data[s->winner].trial);
        at_out_double(out, "best_speed", s->winner_speed);
        at_out_string(out, "best_measured", s->won_final ? "final" : "trial");
    } else {
        at_out_string(out, "best_trial", NULL);
        at_out_string(out, "best_speed", NULL);
        at_out_string(out, "best_measured", NULL);
    }
    at_out_begin(out, "points", '[');
    for (int i = 0; i < s->points.len; i++) {
        const at_point *p = &s->points.data[i];
        at_out_begin(out, NULL, '{');
        at_out_int(out, "trial", p->trial);
        at_out_double(out, "seconds", p->seconds);
        if (p->error_no) at_out_string(out, "speed", NULL);
        else at_out_double(out, "speed", p->speed);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
    at_out_end(out, '}');
}

static void out_knob(at_out *out, const at_knob_values *k) {
    at_out_begin(out, NULL, '{');
    at_out_string(out, "name", k->name);
    at_out_begin(out, "values", '[');
    for (int i = 0; i < k->values.len; i++) {
        const at_knob_value *v = &k->values.data[i];
        at_out_begin(out, NULL, '{');
        at_out_string(out, "value", v->text);
        at_out_int(out, "trials", v->trials);
        at_out_int(out, "failed", v->failed);
        if (v->best > 0) {
            at_out_double(out, "best", v->best);
            at_out_double(out, "median", v->median);
        } else {
            at_out_string(out, "best", NULL);
            at_out_string(out, "median", NULL);
        }
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
    at_out_end(out, '}');
}

static at_status print_json(const at_curves *c, const at_options *o, at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "tasks", '[');
    for (int i = 0; i < c->panels.len; i++) {
        const at_panel *p = c->panels.data[i];
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "task", p->task);
        at_out_json(&out, "args", p->args);
        at_out_string(&out, "unit", p->unit);
        at_out_begin(&out, o->knobs ? "knobs" : "series", '[');
        for (int k = 0; o->knobs && k < p->knobs.len; k++) out_knob(&out, &p->knobs.data[k]);
        for (int k = 0; !o->knobs && k < p->series.len; k++) out_series(&out, p->series.data[k]);
        at_out_end(&out, ']');
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
    return at_out_print(&out, err);
}

static at_status print_text(const at_curves *c, const at_options *o, at_arena *a, at_error *err) {
    at_text out = {0};
    if (o->knobs) at_knobs_text(&out, c);
    else at_plot_text(&out, a, c, o->against);
    return at_print(&out, err);
}

at_status at_cmd_plot(const at_options *o, at_error *err) {
    at_curves curves;
    if (o->knobs && at_given(o, "--against"))
        return at_fail(err, AT_E_USAGE, "--knobs and --against exclude each other");
    if (o->output) AT_TRY(at_plot_check_path(o->output, err));
    at_arena *a = at_arena_new();
    if (o->against == AT_AGAINST_SPARSITY) {
        at_status status = at_plot_sparsities(o, a, err);
        at_arena_free(a);
        return status;
    }
    /* Records of another version of their template are shown as they are. */
    at_use_counts *uses = at_use_counts_new(a, true);
    at_status s =
        at_curves_read(a, o->operands, o->num_operands, o->only, at_is_usable, uses, &curves, err);
    at_use_counts_end(uses, &o->engine);
    if (s == AT_OK && o->output) {
        at_output_rules rules = at_rules_of_output(o);
        s = at_plot_file(&curves, o->output, &rules, o->knobs, o->against, err);
    }
    if (s == AT_OK && o->json) s = print_json(&curves, o, err);
    else if (s == AT_OK && !o->output) s = print_text(&curves, o, a, err);
    at_arena_free(a);
    return s;
}
