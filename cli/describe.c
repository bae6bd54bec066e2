/* cli/describe.c: the parts that results of several commands have in common. */
#include "cli/describe.h"

#include "view/view.h"

void at_text_add_task(at_text *out, const at_session *s) {
    at_text_add_visible(out, s->row->name);
    at_text_add(out, " ");
    at_text_add_visible(out, at_task_args_text(s->task));
}

void at_text_add_figure(at_text *out, double time_s, double gflops, double of_peak, bool in_bytes) {
    at_text_add_time(out, time_s);
    at_text_addf(out, "   %.2f %s   ", gflops, at_unit_of_speed(in_bytes));
    at_text_add_share(out, of_peak);
    at_text_addf(out, " of the %s beside it\n", at_name_of_peak(in_bytes));
}

void at_out_task(at_out *o, const at_session *s) {
    at_out_string(o, "task", s->row->name);
    at_out_json(o, "args", at_task_args(s->task));
}

void at_out_config(at_out *o, const at_config *c) {
    at_out_int(o, "index", c->index);
    at_out_entity(o, "entity", c);
}
