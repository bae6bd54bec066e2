/* cli/network_estimate.c: --trials 0 of a network: the parts, the ways that they take without
 * measuring, and the time that each is estimated to take. */
#include <math.h>
#include <string.h>

#include "cli/network.h"
#include "view/view.h"

static double time_of(const at_net_kernel *k) { return k->choices[0].time_s * k->count; }

/* The longest first. */
static int *in_order(const at_net_program *p) {
    int *order = AT_NEW_ARRAY(p->arena, int, p->num_kernels + 1);
    for (int i = 0; i < p->num_kernels; i++) {
        int k = i;
        for (; k > 0 && time_of(&p->kernels[order[k - 1]]) < time_of(&p->kernels[i]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return order;
}

static void add_rows(at_text *out, const at_net_program *p, double total_s) {
    static const char *const heads[] = {"ms", "share", "times", "part"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    at_table t = {.arena = p->arena, .columns = COLUMNS};
    const int *order = in_order(p);
    for (int i = 0; i < COLUMNS; i++) at_table_add(&t, heads[i]);
    for (int i = 0; i < p->num_kernels; i++) {
        const at_net_kernel *k = &p->kernels[order[i]];
        bool known = isfinite(time_of(k));
        at_table_add(&t, known ? at_format(p->arena, "%.3f", time_of(k) * 1e3) : "-");
        at_table_add(&t, known ? at_format(p->arena, "%.1f %%", 100 * time_of(k) / total_s) : "-");
        at_table_add(&t, at_format(p->arena, "%d", k->count));
        at_table_add(&t, at_format(p->arena, "%s%s", k->part->title,
                                   k->way ? at_format(p->arena, ", by %s",
                                                      at_template_base(k->chosen.row)->name)
                                          : ""));
    }
    at_table_print(out, &t);
}

static double total_of(const at_net_program *p) {
    double total_s = 0;
    for (int i = 0; i < p->num_kernels; i++)
        if (isfinite(time_of(&p->kernels[i]))) total_s += time_of(&p->kernels[i]);
    return total_s;
}

static void add_words(at_text *out, const at_options *o) {
    at_network_add_words(out, o);
    if (o->log) at_text_add(out, " --log"), at_text_add_word(out, o->log);
}

static void describe(at_text *out, const at_net_program *p, const at_options *o) {
    const double total_s = total_of(p);
    add_rows(out, p, total_s);
    at_text_addf(out,
                 "\n%d of %d kinds of parts are in a log; the others are as estimates put them "
                 "first: ",
                 p->num_tuned, p->num_tunable);
    at_text_add_time(out, total_s);
    at_text_add(out,
                " in all, with weights that come from memory\nnothing was measured, nor compared "
                "with the network in double: autotune run");
    add_words(out, o);
    at_text_add(out, " does both\nautotune apply");
    add_words(out, o);
    at_text_addf(out, " -o net.c writes this network\n");
}

static void members(at_out *out, const at_net_program *p, const at_options *o) {
    (void)o;
    const int *order = in_order(p);
    const double total_s = total_of(p);
    at_out_net_kinds(out, p);
    at_out_begin(out, "parts", '[');
    for (int i = 0; i < p->num_kernels; i++) {
        const at_net_kernel *k = &p->kernels[order[i]];
        at_out_begin(out, NULL, '{');
        at_out_net_part(out, k);
        at_out_bool(out, "from_log", !k->choices[0].is_default);
        at_out_double(out, "sum_ns", time_of(k) * 1e9);
        at_out_double(out, "share", time_of(k) / total_s);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
    at_out_double(out, "sum_ns", total_s * 1e9);
}

at_status at_network_estimate(const at_options *o, at_error *err) {
    return at_network_look(o, describe, members, err);
}
