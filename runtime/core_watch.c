/* runtime/core_watch.c: one core, watched for a while: its states, and how much of the time the
 * thread that watches has it. */
#include "runtime/runtime_int.h"

#include <sched.h>
#include <time.h>

enum { APART_NS = 100000 }; /* between two probes, of 7 microseconds each */

static int64_t thread_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

bool at_core_watch(int cpu, int64_t ns, const at_reach *reach, at_core_seen *out) {
    cpu_set_t was, one;
    *out = (at_core_seen){0};
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_getaffinity(0, sizeof was, &was) || sched_setaffinity(0, sizeof one, &one))
        return false;
    int counts[AT_STATE_COUNT] = {0};
    at_probe_core(true); /* its code and lines are there now */
    int64_t begin_ns = at_now_ns(), begin_thread_ns = thread_ns(), now_ns = begin_ns;
    at_state before = AT_STATE_COUNT;
    int readings = 0;
    while (now_ns - begin_ns < ns || readings < 2) { /* a state lies between two */
        at_probe seen = at_probe_core(true);
        out->mean.near += seen.near;
        out->mean.far += seen.far;
        out->mean.multiply_adds += seen.multiply_adds;
        readings++;
        at_state after = at_probe_state(&seen, reach);
        if (before < AT_STATE_COUNT) counts[at_state_between(before, after)]++, out->probes++;
        before = after;
        for (int64_t next_ns = at_now_ns() + APART_NS; now_ns < next_ns;) now_ns = at_now_ns();
    }
    out->here = (double)(thread_ns() - begin_thread_ns) / (double)(now_ns - begin_ns);
    out->mean.near /= readings;
    out->mean.far /= readings;
    out->mean.multiply_adds /= readings;
    for (int s = 0; s < AT_STATE_COUNT; s++)
        out->share[s] = out->probes ? (double)counts[s] / out->probes : 0;
    sched_setaffinity(0, sizeof was, &was);
    return true;
}

int at_quieter_core(const int *cpus, int n, int64_t ns, const at_reach *reach) {
    double most = -1;
    int best = 0;
    for (int i = 0; i < n; i++) {
        at_core_seen seen;
        if (!at_core_watch(cpus[i], ns, reach, &seen)) continue;
        double quiet = seen.here * (1 - seen.share[AT_STATE_COMPANY]);
        if (quiet > most + 0.02) most = quiet, best = i;
    }
    return cpus[best];
}
