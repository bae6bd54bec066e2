/* engine/measure/machine.c: facts of this core, and cycles as seconds. */
#include "engine/measure/machine.h"

#include <math.h>

#include "engine/measure/target_here.h"
#include "engine/measure/bench.h"

static at_status unknown_core(const char *name, at_error *err) {
    at_text known = {0};
    for (int i = 0; at_core_at(i); i++)
        at_text_addf(&known, "%s%s", i ? ", " : "", at_core_at(i)->names);
    for (char *s = known.data; *s; s++)
        if (*s == ' ' && s[-1] != ',') *s = '/';
    at_fail(err, AT_E_USAGE, "no facts of this CPU (%s); there are those of %s", name,
            at_text_str(&known));
    at_text_free(&known);
    return AT_E_USAGE;
}

static at_machine with_core(const at_core *core, int threads) {
    const at_cpu *cpu = at_cpu_facts();
    return (at_machine){.core = core,
                        .l1d_bytes = cpu->l1d_bytes ? cpu->l1d_bytes : core->l1d_bytes,
                        .l2_bytes = cpu->l2_bytes ? cpu->l2_bytes : core->l2_bytes,
                        .l3_bytes = cpu->l3_bytes,
                        .threads = threads};
}

at_status at_machine_here(int threads, at_machine *out, at_error *err) {
    const char *name = at_cpu_facts()->core;
    const at_core *core = at_core_find(name);
    if (!core) return unknown_core(name, err);
    *out = with_core(core, threads);
    return AT_OK;
}

/* The entries of a sparse weight, which loops depend on. */
static void give_index(const at_session *s, at_arena *a, at_machine *m) {
    at_bsr bsr;
    if (!s->what.chosen.pattern || !at_task_bsr(s->what.task, &bsr)) return;
    const int32_t **index =
        AT_NEW_ARRAY(a, const int32_t *, at_task_compute(s->what.task)->num_tensors);
    index[bsr.indices] = s->what.chosen.pattern->indices;
    index[bsr.indptr] = s->what.chosen.pattern->indptr;
    m->index = index;
}

at_status at_session_machine(at_session *s, at_error *err) {
    at_machine *m = AT_NEW(s->arena, at_machine);
    AT_TRY(at_machine_here(s->how.threads, m, err));
    give_index(s, s->arena, m);
    s->how.machine = m;
    return AT_OK;
}

static const at_bound *executed(const at_session *s, at_arena *a, const at_lowered *p) {
    at_machine m =
        with_core(at_core_at(0), s->how.threads); /* any: what is counted depends on none */
    give_index(s, a, &m);
    return at_bound_of(a, p, &m);
}

double at_executed_flops(const at_session *s, at_arena *a, const at_lowered *p) {
    const at_compute *c = at_task_compute(s->what.task);
    if (!p || s->what.in_bytes) return 0;
    /* compilers add two products of integers at once, where they see them */
    if (c->has_integers && !(s->how.target->dots & AT_DOT_BYTES)) return 0;
    for (int t = 0; t < c->num_tensors; t++)
        if (at_tensor_has_entries(&c->tensors[t])) return 0;
    return fmin(executed(s, a, p)->unit_flops, s->what.flops);
}

double at_share_of_bound(const at_session *s, at_arena *a, const at_lowered *p, double run_s,
                         double peak_gflops) {
    const double most = peak_gflops * 1e9 * run_s;
    if (!p || s->what.in_bytes || s->what.flops <= most || !(peak_gflops > 0)) return 0;
    return executed(s, a, p)->flops / most;
}

bool at_is_beyond_peak(const at_session *s, at_arena *a, const at_lowered *p, double run_s,
                       double times) {
    return at_share_of_bound(s, a, p, run_s, times * s->bench->peak) > 1;
}

double at_session_clock_ghz(const at_session *s) {
    const at_core *c = s->how.machine->core;
    double gflops =
        s->bench->peak_gflops / s->how.threads; /* of the widest target, as the peak is */
    return gflops / at_core_flops(c, at_target_here());
}

double at_bound_seconds(const at_session *s, const at_bound *b) {
    double ghz = at_session_clock_ghz(s);
    return ghz > 0 ? b->bound_cycles / ghz * 1e-9 : 0;
}
