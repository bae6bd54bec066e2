/* cli/network_json.c: what several objects of --json say of a network. */
#include "cli/network.h"

void at_out_net_value(at_out *out, const at_net_value *v) {
    at_out_string(out, "name", v->name);
    at_out_string(out, "type", at_net_type_name(v->type));
    at_out_begin(out, "dims", '[');
    for (int i = 0; i < v->rank; i++) at_out_int(out, NULL, v->dims[i]);
    at_out_end(out, ']');
}

void at_out_net_part(at_out *out, const at_net_kernel *k) {
    at_out_string(out, "part", k ? k->part->title : NULL);
    at_out_string(out, "name", k ? k->part->name : NULL);
    if (k) at_out_int(out, "count", k->count);
    else at_out_string(out, "count", NULL);
    at_out_string(out, "way",
                  k && !k->part->is_whole ? at_template_base(k->chosen.row)->name : NULL);
}

void at_out_net_kinds(at_out *out, const at_net_program *p) {
    at_out_int(out, "kinds", p->num_tunable);
    at_out_int(out, "tuned", p->num_tuned);
}
