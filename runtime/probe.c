/* runtime/probe.c: who else uses this core, by what it does in the time of a step of a chain. */
#include "runtime/runtime_int.h"

/* What a core reaches varies by 2 % where nobody is there: readings of the clock, interrupts. */
#define REACHED 0.92
enum { SHOTS = 2 }; /* the first brings code and lines back that a kernel has driven out */

/* Nanoseconds per operation. */
static double step_ns(const at_arch_loop *l) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < SHOTS; i++) {
        int64_t start = at_now_ns();
        l->run(l->trips, l->at);
        int64_t ns = at_now_ns() - start;
        if (ns < least) least = ns;
    }
    return (double)(least > 0 ? least : 1) / (l->trips * l->per_trip);
}

at_probe at_probe_core(bool far) {
    const at_arch_loop *loops = at_arch_probe_loops();
    double chain = step_ns(&loops[AT_PROBE_CHAIN]);
    return (at_probe){.near = chain / step_ns(&loops[AT_PROBE_NEAR]),
                      .far = far ? chain / step_ns(&loops[AT_PROBE_FAR]) : 0,
                      .multiply_adds = chain / step_ns(&loops[AT_PROBE_MULTIPLY_ADDS])};
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
