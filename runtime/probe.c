/* runtime/probe.c: who else uses this core, by what it does in the time of a step of a chain. */
#include "runtime/arch.h"

/* What a core reaches varies by 2 % where nobody is there: readings of the clock, interrupts. */
#define REACHED 0.92
/* The first brings code and lines back that a kernel has driven out. With one more, 1 to 3 of 100
 * probes behind a kernel seemed to be in company on an Emerald Rapids, with two at most 0.5. */
enum { SHOTS = 3 };

static int64_t shot_ns(const at_arch_loop *l) {
    int64_t start = at_now_ns();
    l->run(l->trips, l->at);
    int64_t ns = at_now_ns() - start;
    return ns > 0 ? ns : 1;
}

/* The loops take turns, since the clock rises behind wide vectors: by 7 % within one probe. */
at_probe at_probe_core(bool far) {
    const at_arch_loop *loops = at_arch_probe_loops();
    int64_t least_ns[AT_PROBE_LOOPS];
    double step_ns[AT_PROBE_LOOPS];
    for (int l = 0; l < AT_PROBE_LOOPS; l++) least_ns[l] = INT64_MAX;
    for (int i = 0; i < SHOTS; i++)
        for (int l = 0; l < AT_PROBE_LOOPS; l++) {
            int64_t ns = l == AT_PROBE_FAR && !far ? INT64_MAX : shot_ns(&loops[l]);
            if (ns < least_ns[l]) least_ns[l] = ns;
        }
    for (int l = 0; l < AT_PROBE_LOOPS; l++)
        step_ns[l] = (double)least_ns[l] / (loops[l].trips * loops[l].per_trip);
    return (at_probe){.near = step_ns[AT_PROBE_CHAIN] / step_ns[AT_PROBE_NEAR],
                      .far = far ? step_ns[AT_PROBE_CHAIN] / step_ns[AT_PROBE_FAR] : 0,
                      .multiply_adds = step_ns[AT_PROBE_CHAIN] / step_ns[AT_PROBE_MULTIPLY_ADDS]};
}

/* So much more than is known of a core is no clock that rises within a probe. */
#define MORE 1.15
enum { LOOKS = 64 };

static double raised(double known, double *seen) {
    at_sort_doubles(seen, LOOKS);
    double most = seen[LOOKS * 9 / 10];
    return most > MORE * known ? most : known;
}

at_reach at_reach_seen(const at_reach *known) {
    double near[LOOKS], multiply_adds[LOOKS];
    for (int i = 0; i < LOOKS; i++) {
        at_probe p = at_probe_core(false);
        near[i] = p.near;
        multiply_adds[i] = p.multiply_adds;
    }
    return (at_reach){.near = raised(known->near, near),
                      .multiply_adds = raised(known->multiply_adds, multiply_adds)};
}

at_state at_probe_state(const at_probe *p, const at_reach *reach) {
    if (!(reach->near > 0) || !(reach->multiply_adds > 0)) return AT_STATE_UNKNOWN;
    bool all =
        p->near >= REACHED * reach->near && p->multiply_adds >= REACHED * reach->multiply_adds;
    return all ? AT_STATE_ALONE : AT_STATE_COMPANY;
}

at_state at_state_between(at_state before, at_state after) {
    return before == after ? before : AT_STATE_MIXED;
}
