/* engine/measure/quieter_core.c: the core that kernels are measured on. */
#include "engine/measure/quieter_core.h"

#include "cost/cost.h"

static const int64_t choice_ns = 8000000; /* each core is watched for so long */
enum { MOST_WATCHED = 4 };

at_reach at_reach_here(void) {
    const at_core *c = at_core_find(at_cpu_facts()->core);
    if (!c) return (at_reach){0};
    int latency = at_arch_probes_fused() ? c->fma_latency : c->mul_latency;
    const at_reach known = {.near = c->loads[0] * latency, .multiply_adds = c->fma[0] * latency};
    return at_reach_seen(&known);
}

int at_quieter_core_here(int threads, int *cores) {
    static _Thread_local int chosen = -1, among;
    int cpus[MOST_WATCHED], n = at_cpu_cores(cpus, MOST_WATCHED);
    *cores = chosen >= 0 ? among : n;
    if (chosen >= 0 || threads > 1 || n < 2) return chosen >= 0 ? chosen : cpus[0];
    at_reach reach = at_reach_here();
    among = n;
    chosen = at_quieter_core(cpus, n < MOST_WATCHED ? n : MOST_WATCHED, choice_ns, &reach);
    at_cpu_prefer(chosen);
    return chosen;
}
