/* cli/network_why.c: where the time of a network goes, kind of part by kind, and what bounds it. */
#include "cli/network_why.h"

#include <math.h>

#include "cli/network.h"

typedef struct kind {
    int kernel; /* -1: conversions between types */
    double time_s;
} kind;

/* Seconds of cycles at the clock that the FMA peak tells. */
static double seconds_of(double cycles) {
    at_machine m;
    if (at_machine_here(1, &m, NULL) != AT_OK) return 0;
    double gflops = at_peak_gflops(at_cpu_best_set(), 1);
    return gflops > 0 ? cycles * at_core_flops(m.core, at_target_here()) / gflops * 1e-9 : 0;
}

static kind *kinds_of(const at_net_program *p, const double *steps_s, int *n) {
    kind *kinds = AT_NEW_ARRAY(p->arena, kind, p->num_kernels + 1);
    *n = p->num_kernels + 1;
    for (int i = 0; i < *n; i++) kinds[i].kernel = i < p->num_kernels ? i : -1;
    for (int i = 0; i < p->steps.len; i++) {
        const at_net_step *s = &p->steps.data[i];
        kinds[s->kind == AT_NET_CALL ? s->kernel : p->num_kernels].time_s += steps_s[i];
    }
    for (int i = 1; i < *n; i++) /* the longest first */
        for (int k = i; k > 0 && kinds[k - 1].time_s < kinds[k].time_s; k--) {
            kind x = kinds[k];
            kinds[k] = kinds[k - 1], kinds[k - 1] = x;
        }
    return kinds;
}

static at_net_page_kind facts_of(const at_net_program *p, const kind *k, double cycle_s) {
    const at_net_kernel *of = k->kernel < 0 ? NULL : &p->kernels[k->kernel];
    const at_bound *b = of ? of->forms.data[0].candidate.bound : NULL;
    at_net_page_kind out = {.title = "elements of one type to another", .time_s = k->time_s};
    if (!of) return out;
    out.title = at_network_part_title(p, of);
    out.count = of->count;
    out.gflops = at_net_kernel_flops(of) / k->time_s * 1e-9;
    if (b) out.bound_share = b->bound_cycles * cycle_s * of->count / k->time_s;
    if (b) out.bound = at_need_name(b->largest);
    return out;
}

const char *at_network_part_title(const at_net_program *p, const at_net_kernel *k) {
    return at_format(p->arena, "%s%s", k->part->title, k->way ? ", by Winograd" : "");
}

at_net_page_kind *at_network_kinds(const at_net_program *p, const double *steps_s, int *n) {
    int all;
    const double cycle_s = seconds_of(1);
    const kind *kinds = kinds_of(p, steps_s, &all);
    at_net_page_kind *out = AT_NEW_ARRAY(p->arena, at_net_page_kind, all);
    *n = 0;
    for (int i = 0; i < all; i++)
        if (kinds[i].time_s > 0) out[(*n)++] = facts_of(p, &kinds[i], cycle_s);
    return out;
}

static void add_row(at_table *t, const at_net_page_kind *k, double total_s) {
    at_arena *a = t->arena;
    at_table_add(t, at_format(a, "%.3f", k->time_s * 1e3));
    at_table_add(t, at_format(a, "%.1f %%", 100 * k->time_s / total_s));
    at_table_add(t, k->count ? at_format(a, "%d", k->count) : "");
    at_table_add(t, k->gflops > 0 ? at_format(a, "%.1f", k->gflops) : "");
    at_table_add(t, k->bound ? at_format(a, "%.0f %%", 100 * k->bound_share) : "");
    at_table_add(t, k->bound ? k->bound : "");
    at_table_add(t, k->title);
}

void at_network_add_why(at_text *out, const at_net_program *p, const double *steps_s) {
    static const char *const heads[] = {"ms",          "share",          "times", "GFLOP/s",
                                        "bound share", "what bounds it", "part"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    at_table t = {.arena = p->arena, .columns = COLUMNS};
    int n;
    double total_s = 0, bound_s = 0;
    const at_net_page_kind *kinds = at_network_kinds(p, steps_s, &n);
    for (int i = 0; i < n; i++) {
        total_s += kinds[i].time_s;
        bound_s += kinds[i].bound_share * kinds[i].time_s;
    }
    for (int i = 0; i < COLUMNS; i++) at_table_add(&t, heads[i]);
    for (int i = 0; i < n; i++) add_row(&t, &kinds[i], total_s);
    at_text_addf(out,
                 "\n%.3f ms in parts; with hot caches and nothing in the way of what bounds "
                 "each, %.3f\n",
                 total_s * 1e3, bound_s * 1e3);
    at_table_print(out, &t);
}

void at_out_net_why(at_out *out, const at_net_program *p, const double *steps_s) {
    int n;
    const double cycle_s = seconds_of(1);
    const kind *kinds = kinds_of(p, steps_s, &n);
    at_out_begin(out, "why", '[');
    for (int i = 0; i < n; i++) {
        const at_net_kernel *k = kinds[i].kernel < 0 ? NULL : &p->kernels[kinds[i].kernel];
        const at_bound *b = k ? k->forms.data[0].candidate.bound : NULL;
        const double flops = k ? at_net_kernel_flops(k) : 0;
        if (!(kinds[i].time_s > 0)) continue;
        at_out_begin(out, NULL, '{');
        at_out_net_part(out, k);
        at_out_double(out, "time_ns", kinds[i].time_s * 1e9);
        at_out_double(out, "gflops", flops > 0 ? flops / kinds[i].time_s * 1e-9 : NAN);
        at_out_double(out, "bound_ns", b ? b->bound_cycles * cycle_s * k->count * 1e9 : NAN);
        at_out_string(out, "largest", b ? at_need_name(b->largest) : NULL);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
}
