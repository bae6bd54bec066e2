/* cli/describe.c: the parts that results of several commands have in common. */
#include "cli/describe.h"

#include "view/view.h"

void at_text_add_task(at_text *out, const at_session *s) {
    at_text_add_visible(out, s->what.row->name);
    at_text_add(out, " ");
    at_text_add_visible(out, at_task_args_text(s->what.task));
}

void at_text_add_figure(at_text *out, double time_s, double gflops, double of_peak,
                        const at_session *s) {
    at_text_add_time(out, time_s);
    at_text_addf(out, "   %.2f %s   ", gflops, at_unit_of_speed(s->what.in_bytes));
    at_text_add_share(out, of_peak);
    at_text_addf(out, " of the %s beside it",
                 at_name_of_peak(s->what.in_bytes, s->what.dot_terms > 0));
}

void at_text_add_log(at_text *out, const char *log, bool has_others, int threads, const char *isa) {
    at_text_add(out, " --log");
    at_text_add_word(out, log);
    if (has_others) at_text_addf(out, " --threads %d", threads);
    if (has_others && isa) at_text_addf(out, " --isa %s", isa);
}

void at_text_add_bound(at_text *out, double of_bound) {
    if (of_bound > 1)
        at_text_addf(
            out,
            "the FMA peak beside it was too low: the kernel's own multiply-adds are %.1f %% "
            "of it\n",
            100 * of_bound);
}

void at_text_add_accuracy(at_text *out, const at_accuracy *x) {
    if (x->is_known)
        at_text_addf(out,
                     "errors over the root mean square of the output: at most %.2g, root mean "
                     "square %.2g\n",
                     x->max_error, x->rms_error);
}

void at_text_add_inaccurate(at_text *out, const at_tally *t, const at_engine_options *o) {
    at_text_addf(out,
                 "none meets --max-error %.2g; the best error reached is %.2g of the output's root "
                 "mean square",
                 at_accuracy_limit(o), t->least_error);
}

void at_out_accuracy(at_out *o, const at_accuracy *x) {
    if (!x->is_known) {
        at_out_string(o, "accuracy", NULL);
        return;
    }
    at_out_begin(o, "accuracy", '{');
    at_out_double(o, "max_error", x->max_error);
    at_out_double(o, "rms_error", x->rms_error);
    at_out_end(o, '}');
}

void at_out_task(at_out *o, const at_session *s) {
    at_out_string(o, "task", s->what.row->name);
    at_out_json(o, "args", at_task_args(s->what.task));
}

void at_out_config(at_out *o, const at_config *c) {
    at_out_int(o, "index", c->index);
    at_out_entity(o, "entity", c);
}
