/* cli/cmd_machine.c: what is known of this machine's speeds. */
#include <time.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json_out.h"
#include "cli/machine_watch.h"

enum { ACROSS = 8 }; /* shapes in a line */

static void add_origin(at_text *out, at_arena *a, const at_speed_table *t) {
    time_t when = (time_t)t->measured_s;
    struct tm day;
    char date[32] = "";
    if (t->measured_s > 0 && gmtime_r(&when, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
    if (*date) {
        at_text_addf(out, "measured on %s by version %s, kept in %s\n", date, t->version,
                     at_visible(a, at_speeds_path(a)));
        return;
    }
    const char *why = at_speeds_refused(a);
    if (why)
        at_text_addf(out, "%s is no table of this machine's speeds (%s)",
                     at_visible(a, at_speeds_path(a)), at_visible(a, why));
    else at_text_add(out, "never measured");
    at_text_addf(out, ": what follows is %s; autotune machine --measure takes a few seconds\n",
                 at_speeds_are_worked_out() ? "worked out from facts of the core"
                                            : "of a core like it");
}

/* Share of the peak that each shape reaches: operands in L1, and with its vectors from L2. */
static void add_tiles(at_text *out, const at_speeds *s, const at_target *target) {
    double flops = 2.0 * target->lanes;
    at_text_add(out,
                "    register tiles, share of it: rows x vectors, operands in L1 (vectors from "
                "L2)\n");
    for (int v = 1; v <= AT_SPEED_VECTORS; v++) {
        int n = 0;
        for (int r = 1; r <= AT_SPEED_ROWS; r++) {
            double step = s->step_ns[v - 1][r - 1], far = s->far_ns[v - 1][r - 1];
            if (step <= 0 || s->peak_gflops <= 0) continue;
            double all = flops * r * v / s->peak_gflops;
            at_text_addf(out, "%s%dx%d %.2f (%.2f)",
                         n % ACROSS ? "  "
                         : n        ? "\n        "
                                    : "        ",
                         r, v, all / step, all / far);
            n++;
        }
        if (n) at_text_add(out, "\n");
    }
}

static void add_table(at_text *out, at_arena *a, const at_speed_table *t) {
    static const char *const level[] = {"L1", "L2", "L3", "memory"};
    at_text_addf(out, "%s\n", at_visible(a, t->cpu));
    add_origin(out, a, t);
    const char *before = "caches: ";
    for (int i = 0; i < 3; i++) {
        if (!t->cache_bytes[i]) continue;
        at_text_addf(out, "%s%s %lld KB", before, level[i], (long long)t->cache_bytes[i] / 1024);
        before = ", ";
    }
    /* Some hypervisors tell of none. */
    at_text_add(out, *before == ',' ? "\n" : "caches: unknown\n");
    if (t->latency_ns[0] > 0) {
        at_text_add(out, "a load after another:");
        for (int i = 0; i < AT_SPEED_LEVELS; i++)
            if (t->latency_ns[i] > 0)
                at_text_addf(out, "%s %s %.1f ns", i ? "," : "", level[i],
                             (double)t->latency_ns[i]);
        at_text_add(out, "\n");
    }
    for (int i = 0; i < t->num_sets; i++) {
        const at_speeds *s = &t->sets[i];
        const at_target *target = at_target_find(s->isa);
        if (!target) continue;
        if (s->peak_gflops > 0)
            at_text_addf(out, "%s: peak %.0f GFLOP/s", s->isa, (double)s->peak_gflops);
        else at_text_addf(out, "%s: peak not measured", s->isa);
        if (s->dot_gops > 0)
            at_text_addf(out, ", of dot products of bytes %.0f Gop/s", (double)s->dot_gops);
        if (s->bf16_gops > 0) at_text_addf(out, ", of bf16 %.0f Gop/s", (double)s->bf16_gops);
        at_text_add(out, "\n");
        at_text_add(out, "    a line more in a sum, from");
        for (int k = 1; k < AT_SPEED_LEVELS; k++)
            if (s->line_ns[k] > 0)
                at_text_addf(out, "%s %s %.2f ns", k > 1 ? "," : "", level[k],
                             (double)s->line_ns[k]);
        for (int k = 2; k < AT_SPEED_LEVELS; k++)
            if (s->stream_ns[k] > 0)
                at_text_addf(out, "%s %s %.2f ns", k > 2 ? "," : "; alone, from", level[k],
                             (double)s->stream_ns[k]);
        if (s->beside_ns > 0)
            at_text_addf(out, "; beside as long a sum, from L3 %.2f ns", (double)s->beside_ns);
        if (s->alone_ns > 0)
            at_text_addf(out, "; without its neighbour, from L2 %.2f ns more", (double)s->alone_ns);
        if (s->piled_ns > 0)
            at_text_addf(out, "; of rows a page apart %.2f ns", (double)s->piled_ns);
        at_text_addf(out, "; a vector copied %.2f ns, a run begun %.2f ns, a call %.2f ns\n",
                     (double)s->copy_ns, (double)s->run_ns, (double)s->turn_ns);
        if (s->waits_ns[2] > 0) {
            at_text_add(out, "    waits:");
            if (s->waits_ns[0] > 0)
                at_text_addf(out, " a multiply-add behind another %.2f ns,",
                             (double)s->waits_ns[0]);
            at_text_addf(out, " what a mask stored %.2f ns, an element put to others %.2f ns",
                         (double)s->waits_ns[1], (double)s->waits_ns[2]);
            if (s->waits_ns[3] > 0)
                at_text_addf(out, ", loaded alone %.2f ns", (double)s->waits_ns[3]);
            at_text_add(out, "\n");
        }
        add_tiles(out, s, target);
    }
}

at_status at_cmd_machine(const at_options *o, at_error *err) {
    if (o->watch_s > 0 && (o->measure || o->json))
        return at_fail(err, AT_E_USAGE, "--watch and %s exclude each other",
                       o->measure ? "--measure" : "--json");
    if (o->watch_s > 0) return at_machine_watch(o, err);
    if (o->output)
        return at_fail(err, AT_E_USAGE, "--output: a picture is of --watch; give that, too");
    at_arena *a = at_arena_new();
    at_speed_table *t = AT_NEW(a, at_speed_table);
    at_text text = {0};
    at_status s = AT_OK;
    if (o->measure) {
        s = at_speeds_measure(&at_interrupted, t, err);
        if (s == AT_OK) s = at_speeds_keep(t, err);
    } else at_speeds_known(t);
    if (s == AT_OK && o->json) {
        at_speed_table_print(&text, t);
        at_text_add(&text, "\n");
    } else if (s == AT_OK) add_table(&text, a, t);
    if (s == AT_OK) s = at_print(&text, err);
    at_text_free(&text);
    at_arena_free(a);
    return s;
}
