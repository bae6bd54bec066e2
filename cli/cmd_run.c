/* cli/cmd_run.c: one configuration, checked and timed. */
#include <math.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/interrupt.h"
#include "cli/open.h"
#include "engine/engine.h"
#include "cli/reproduce.h"
#include "cli/bound_report.h"
#include "cli/trial_note.h"
#include "view/view.h"

/* Fewer rounds, as --repeat asks for, have none. */
static bool has_interval(const at_timing *t) { return t->rounds >= 6; }

static at_status print_json(const at_session *s, const at_record *r, const at_candidate *c,
                            const at_timing *t, at_error *err) {
    at_out out = at_out_object();
    const at_bound *bound = c->bound;
    bool ok = !r->error_no;
    at_out_task(&out, s);
    at_out_config(&out, &s->what.chosen.config);
    at_out_bool(&out, "ok", ok);
    at_out_int(&out, "error_no", r->error_no);
    at_out_string(&out, "error", ok ? NULL : r->extra.error);
    at_out_double(&out, "max_error", c->max_error);
    if (at_session_seen(s).is_exact) at_out_string(&out, "of_limit", NULL);
    else at_out_double(&out, "of_limit", c->of_limit);
    at_out_string(&out, "reference", at_session_seen(s).is_projected ? "projected" : "whole");
    if (ok) {
        at_out_double(&out, "time_ns", t->time_s * 1e9);
        at_out_double(&out, "time_low_ns", has_interval(t) ? t->time.low * 1e9 : NAN);
        at_out_double(&out, "time_high_ns", has_interval(t) ? t->time.high * 1e9 : NAN);
        at_out_speed(&out, t->gflops, s->what.in_bytes);
        at_out_double(&out, "of_peak", t->of_peak);
    } else {
        at_out_string(&out, "time_ns", NULL);
        at_out_string(&out, "time_low_ns", NULL);
        at_out_string(&out, "time_high_ns", NULL);
        at_out_speed(&out, 0, s->what.in_bytes);
        at_out_string(&out, "of_peak", NULL);
    }
    at_out_double(&out, "peak_gflops", at_session_seen(s).peak_gflops);
    at_out_notes(&out, c->kernel);
    at_out_accuracy(&out, &r->extra.accuracy);
    if (bound) at_out_why(&out, s, bound, t->time_s);
    return at_out_print(&out, err);
}

static at_status print_text(const at_session *s, const at_record *r, const at_candidate *c,
                            const at_timing *t, at_error *err) {
    at_text out = {0};
    const at_bound *bound = c->bound;
    at_text_add_task(&out, s);
    at_text_add(&out, "\n");
    at_config_print_json(&out, &s->what.chosen.config);
    at_text_add(&out, "\n");
    at_text_add_context(&out, &s->how.context);
    at_text_add(&out, "\n");
    if (!r->error_no) {
        if (at_session_seen(s).is_exact) at_text_add(&out, "output: equal to the reference\n");
        else
            at_text_addf(&out,
                         "output: each element within its limit of the reference (%.2g of it at "
                         "most)\n",
                         c->of_limit);
        at_text_add_accuracy(&out, &r->extra.accuracy);
        at_text_add_figure(&out, t->time_s, t->gflops, t->of_peak, s);
        at_text_add(&out, "\n");
        at_text_add_bound(&out, t->of_bound);
        if (has_interval(t)) {
            at_text_add(&out, "95 % interval of the time ");
            at_text_add_time(&out, t->time.low);
            at_text_add(&out, " to ");
            at_text_add_time(&out, t->time.high);
            at_text_addf(&out, ", %d rounds\n", t->rounds);
        }
    }
    if (bound) {
        at_text_add(&out, "\n");
        at_text_add_why(&out, s, bound, t->time_s);
        at_text_add_notes(&out, c->kernel);
    }
    return at_print(&out, err);
}

static at_status run(at_session *s, const at_options *o, at_error *err) {
    at_candidate c;
    at_record r;
    at_timing t;
    AT_TRY(at_open_config(o, false, s, err));
    if (at_selection_has_other_pattern(&s->what.chosen))
        at_warn(NULL, at_format(s->arena,
                                "%s: measured with another sparse weight; --weight or --sparsity "
                                "make it the same",
                                s->what.chosen.from));
    AT_TRY(at_session_context(s, true, err));
    if (o->why) AT_TRY(at_session_machine(s, err));
    AT_TRY(at_session_reserve(s, err));
    AT_TRY(at_session_start(s, err));
    AT_TRY(at_config_time(s, &s->what.chosen.config, &c, &r, &t, err));
    AT_TRY(o->json ? print_json(s, &r, &c, &t, err) : print_text(s, &r, &c, &t, err));
    if (o->keep) {
        const char *folder;
        AT_TRY(at_keep(s, o, &r, &folder, err));
        at_text text = {0};
        at_text_addf(&text, "autotune: its texts are in %s/\n", at_visible(s->arena, folder));
        at_say(&text);
    }
    if (r.error_no)
        return at_fail_lines(err, AT_E_NO_VALID, "%s: %s%s", at_err_no_name(r.error_no),
                             r.extra.error, at_failure_remedy(r.error_no));
    return AT_OK;
}

at_status at_cmd_run(const at_options *o, at_error *err) {
    at_session s = {0};
    at_catch_interrupts();
    at_status status = run(&s, o, err);
    at_session_close(&s);
    return status;
}
