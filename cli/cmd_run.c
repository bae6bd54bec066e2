/* cli/cmd_run.c: one configuration, checked and timed. */
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/interrupt.h"
#include "cli/open.h"
#include "engine/measure.h"
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
    at_status status = at_print(&out, err);
    at_text_free(&out);
    return status;
}

/* Rounds of samples with the peak beside them: machine and clock drift, and one round in half a
 * second says where they were then. Who asks for repeats of a number gets those. */
static at_status time_rounds(at_session *s, at_candidate *c, at_result *r, double *of_peak,
                             at_error *err) {
    enum { MOST = 40 };
    static const double budget_s = 0.7;
    double costs_s[MOST], peaks[MOST], shares[MOST];
    const at_engine_options *o = &s->options;
    bool once = o->number || o->repeat || o->min_repeat_ms;
    int64_t begin_ns = at_now_ns();
    const at_result made = *r;
    int n = 0;
    do {
        *r = made;
        AT_TRY(at_candidate_run(s, s->arena, c, 0, r, err));
        AT_TRY(at_session_measure_peak(s, err));
        if (r->error_no) return AT_OK;
        costs_s[n] = r->mean_s;
        peaks[n] = s->peak_gflops;
        shares[n++] = r->gflops / s->peak_gflops;
    } while (n < MOST && !once && !at_interrupted &&
             (double)(at_now_ns() - begin_ns) * 1e-9 <= budget_s);
    r->mean_s = at_median(costs_s, n).median;
    r->gflops = s->flops / r->mean_s * 1e-9;
    s->peak_gflops = at_median(peaks, n).median;
    *of_peak = at_median(shares, n).median;
    return AT_OK;
}

static at_status run(at_session *s, const at_options *o, at_error *err) {
    at_candidate c = {0};
    at_result r;
    double of_peak = 0;
    AT_TRY(at_open_config(o, false, s, err));
    if (at_selection_has_other_pattern(&s->chosen))
        at_warn(NULL, at_format(s->arena,
                                "%s: measured with another sparse weight; --weight or --sparsity "
                                "make it the same",
                                s->chosen.from));
    AT_TRY(at_session_context(s, true, err));
    if (o->why) AT_TRY(at_session_machine(s, err));
    AT_TRY(at_session_reserve(s, err));
    AT_TRY(at_session_start(s, err));
    bool compiled = at_candidate_make(s, s->arena, &s->chosen.config, &c, &r);
    if (compiled) AT_TRY(at_candidate_compile(s, s->arena, &c, &r, &compiled, err));
    if (compiled) {
        at_status status = time_rounds(s, &c, &r, &of_peak, err);
        at_candidate_drop(&c);
        AT_TRY(status);
    }
    const at_bound *bound = c.kernel ? c.kernel->bound : NULL;
    AT_TRY(o->json ? print_json(s, &r, of_peak, bound, err)
                   : print_text(s, &r, of_peak, bound, err));
    if (o->keep) {
        const char *folder;
        AT_TRY(at_keep(s, o, &r, &folder, err));
        at_text text = {0};
        at_text_addf(&text, "autotune: its texts are in %s/\n", at_visible(s->arena, folder));
        at_say(&text);
        at_text_free(&text);
    }
    if (r.error_no)
        return at_fail_lines(err, AT_E_NO_VALID, "%s: %s", at_err_no_name(r.error_no), r.error);
    return AT_OK;
}

at_status at_cmd_run(const at_options *o, at_error *err) {
    at_session s;
    at_catch_interrupts();
    at_status status = run(&s, o, err);
    at_session_close(&s);
    return status;
}
