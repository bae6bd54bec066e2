/* cli/bound_report.c: bounds of a kernel as a table and as JSON. docs/notes/why.md explains the
 * columns.
 */
#include "cli/bound_report.h"

#include "view/view.h"

/* What the knobs alone say; false: nothing. */
static bool estimate_of(const at_session *s, at_estimate *out) {
    at_cost_model *m = at_cost_model_new(s->what.task, &s->options);
    const bool is_known = at_cost_config(m, &s->what.chosen.config, out);
    at_cost_model_free(m);
    return is_known;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_tiles(at_text *out, const at_bound *b) {
    at_text_addf(out, "%-18s %10s", "cycles", "calls");
    for (int i = 0; i < AT_NEED_L2; i++) at_text_addf(out, " %12s", at_need_name((at_need)i));
    at_text_add(out, "\n");
    for (int t = 0; t < b->num_tiles; t++) {
        const at_tile_bound *x = &b->tiles[t];
        at_text_addf(out, "  %-16s %10.0f", x->tile, x->work.calls);
        for (int i = 0; i < AT_NEED_L2; i++) at_text_addf(out, " %12.0f", x->cycles[i]);
        at_text_add(out, "\n");
    }
    at_text_addf(out, "  %-27s", "all, and loops around them");
    for (int i = 0; i < AT_NEED_L2; i++) at_text_addf(out, " %12.0f", b->cycles[i]);
    at_text_add(out, "\n");
    for (int i = AT_NEED_L2; i < AT_NEED_COUNT; i++)
        at_text_addf(out, "  from %-22s %12.0f   %.0f KB\n", at_need_name((at_need)i), b->cycles[i],
                     b->bytes[i - AT_NEED_L2] / 1024);
}

static void add_estimate(at_text *out, const at_estimate *e) {
    const struct {
        const char *name;
        double ns;
    } rows[] = {{"estimated from the knobs: ", e->ns},
                {"; sums ", e->sums_ns},
                {", copies ", e->copies_ns},
                {", memory ", e->memory_ns}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        at_text_add(out, rows[i].name);
        at_text_add_time(out, rows[i].ns / 1e9);
    }
    at_text_add(out, "\n");
}

void at_text_add_why(at_text *out, const at_session *s, const at_bound *b, double time_s) {
    const at_machine *m = s->how.machine;
    at_text_addf(out, "what bounds it on %s (L1 %lld KB, L2 %lld KB), %s, one run%s:\n",
                 s->how.context.cpu, (long long)m->l1d_bytes / 1024, (long long)m->l2_bytes / 1024,
                 s->how.context.isa, m->threads > 1 ? ", its busiest thread" : "");
    add_tiles(out, b);
    at_text_addf(out, "bound: %.0f cycles; the largest need is %s, %.0f\n", b->bound_cycles,
                 at_need_name(b->largest), b->cycles[b->largest]);
    at_estimate e;
    if (estimate_of(s, &e)) add_estimate(out, &e);
    if (b->partial)
        at_text_add(
            out,
            "parts whose counts depend on data that is not known, or differ from turn to turn in "
            "millions of turns, are left out\n");
    if (time_s <= 0) return;
    double ghz = at_session_clock_ghz(s);
    at_text_addf(out, "measured: %.0f cycles at %.2f GHz; the bound is %.1f %% of that\n",
                 time_s * ghz * 1e9, ghz, 100 * at_bound_seconds(s, b) / time_s);
}

void at_text_add_notes(at_text *out, const at_kernel *k) {
    for (int i = 0; k && i < k->num_notes; i++) at_text_addf(out, "note: %s\n", k->notes[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *const keys[] = {"fma", "load", "store", "chain", "issue", "l2", "l3", "memory"};
_Static_assert(sizeof keys / sizeof *keys == AT_NEED_COUNT, "a key per need");

static void out_cycles(at_out *o, const double *cycles, int n) {
    at_out_begin(o, "cycles", '{');
    for (int i = 0; i < n; i++) at_out_double(o, keys[i], cycles[i]);
    at_out_end(o, '}');
}

void at_out_why(at_out *o, const at_session *s, const at_bound *b, double time_s) {
    at_out_begin(o, "why", '{');
    at_out_string(o, "core", at_cpu_facts()->core);
    at_out_begin(o, "tiles", '[');
    for (int t = 0; t < b->num_tiles; t++) {
        const at_tile_bound *x = &b->tiles[t];
        at_out_begin(o, NULL, '{');
        at_out_string(o, "tile", x->tile);
        at_out_double(o, "calls", x->work.calls);
        at_out_double(o, "fmas", x->work.fmas);
        at_out_double(o, "other_arithmetic", x->work.others);
        at_out_double(o, "loads", x->work.loads);
        at_out_double(o, "stores", x->work.stores);
        at_out_double(o, "instructions", x->work.instructions);
        out_cycles(o, x->cycles, AT_NEED_L2);
        at_out_end(o, '}');
    }
    at_out_end(o, ']');
    out_cycles(o, b->cycles, AT_NEED_COUNT);
    at_out_begin(o, "bytes", '{');
    for (int i = 0; i < 3; i++) at_out_double(o, keys[AT_NEED_L2 + i], b->bytes[i]);
    at_out_end(o, '}');
    at_out_double(o, "bound_cycles", b->bound_cycles);
    at_out_string(o, "largest", keys[b->largest]);
    at_out_bool(o, "partial", b->partial);
    at_estimate e;
    if (estimate_of(s, &e)) {
        at_out_begin(o, "estimate", '{');
        at_out_double(o, "time_ns", e.ns);
        at_out_double(o, "sums_ns", e.sums_ns);
        at_out_double(o, "copies_ns", e.copies_ns);
        at_out_double(o, "memory_ns", e.memory_ns);
        at_out_end(o, '}');
    }
    if (time_s > 0) {
        double ghz = at_session_clock_ghz(s);
        at_out_double(o, "clock_ghz", ghz);
        at_out_double(o, "measured_cycles", time_s * ghz * 1e9);
        at_out_double(o, "bound_of_measured", at_bound_seconds(s, b) / time_s);
    }
    at_out_end(o, '}');
}

void at_out_notes(at_out *o, const at_kernel *k) {
    at_out_begin(o, "notes", '[');
    for (int i = 0; k && i < k->num_notes; i++) at_out_string(o, NULL, k->notes[i]);
    at_out_end(o, ']');
}
