/* cli/cmd_run.c: one configuration, checked and timed. */
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/interrupt.h"
#include "cli/measure.h"
#include "cli/reproduce.h"
#include "cli/why.h"
#include "view/view.h"

static at_status print_json(const at_session *s, const at_result *r, double of_peak,
                            const at_bound *bound, at_error *err) {
    at_out out = {0};
    bool ok = !r->error_no;
    at_out_begin(&out, NULL, '{');
    at_out_task(&out, s);
    at_out_config(&out, &s->chosen.config);
    at_out_bool(&out, "ok", ok);
    at_out_int(&out, "error_no", r->error_no);
    at_out_string(&out, "error", ok ? NULL : r->error);
    at_out_double(&out, "max_error", r->max_error);
    at_out_double(&out, "tolerance",
                  s->data.tolerance * (s->data.magnitude > 0 ? s->data.magnitude : 1));
    at_out_string(&out, "reference", s->is_projected ? "projected" : "whole");
    if (ok) {
        at_out_double(&out, "time_ns", r->mean_s * 1e9);
        at_out_double(&out, "gflops", r->gflops);
        at_out_double(&out, "of_peak", of_peak);
    } else {
        at_out_string(&out, "time_ns", NULL);
        at_out_string(&out, "gflops", NULL);
        at_out_string(&out, "of_peak", NULL);
    }
    at_out_double(&out, "peak_gflops", s->peak_gflops);
    if (bound) at_out_why(&out, s, bound, r->mean_s);
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

static at_status print_text(const at_session *s, const at_result *r, double of_peak,
                            const at_bound *bound, at_error *err) {
    at_text out = {0};
    at_text_add_task(&out, s);
    at_text_add(&out, "\n");
    at_config_print_json(&out, &s->chosen.config);
    at_text_add(&out, "\n");
    at_text_add_context(&out, &s->context);
    at_text_add(&out, "\n");
    if (!r->error_no) {
        at_text_addf(&out, "output: %s\n",
                     s->data.tolerance > 0 ? "within the tolerance of the reference"
                                           : "equal to the reference");
        at_text_add_figure(&out, r->mean_s, r->gflops, of_peak);
    }
    if (bound) {
        at_text_add(&out, "\n");
        at_text_add_why(&out, s, bound, r->mean_s);
    }
    at_status status = at_print(at_text_str(&out), err);
    at_text_free(&out);
    return status;
}

static at_status run(at_session *s, const at_options *o, at_error *err) {
    at_candidate c = {0};
    at_result r;
    AT_TRY(at_session_open(o, s, err));
    AT_TRY(at_session_context(s, true, err));
    if (o->why) AT_TRY(at_session_machine(s, err));
    AT_TRY(at_session_reserve(s, err));
    AT_TRY(at_session_start(s, err));
    if (at_candidate_make(s, s->arena, &s->chosen.config, &c, &r) &&
        at_candidate_compile(s, s->arena, &c, &r)) {
        at_status status = at_candidate_run(s, s->arena, &c, 0, &r, err);
        if (status == AT_OK) status = at_session_measure_peak(s, err);
        at_candidate_drop(&c);
        AT_TRY(status);
    }
    double of_peak = s->peak_gflops > 0 ? r.gflops / s->peak_gflops : 0;
    const at_bound *bound = c.kernel ? c.kernel->bound : NULL;
    AT_TRY(o->json ? print_json(s, &r, of_peak, bound, err)
                   : print_text(s, &r, of_peak, bound, err));
    if (o->keep) {
        const char *folder;
        AT_TRY(at_keep(s, &r, &folder, err));
        at_say(at_format(s->arena, "autotune: its texts are in %s/\n", folder));
    }
    if (r.error_no)
        return at_fail(err, AT_E_NO_VALID, "%s: %s", at_err_no_name(r.error_no), r.error);
    return AT_OK;
}

at_status at_cmd_run(const at_options *o, at_error *err) {
    at_session s;
    at_catch_interrupts();
    at_status status = run(&s, o, err);
    at_session_close(&s);
    return status;
}
