/* runtime/par.c: the loop behind `:para`: OpenMP where this file was compiled with it and more than
 * one thread is asked for, else a plain loop. */
#include "runtime/runtime_int.h"

static void serial_for(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

#if defined(_OPENMP)
#include <omp.h>
#include <sched.h>

static int team;
static struct {
    int first;         /* the worker's own CPU */
    cpu_set_t allowed; /* all that the process was given */
} cpus;

void at_par_init(int cpu) {
    cpus.first = cpu;
    if (sched_getaffinity(0, sizeof cpus.allowed, &cpus.allowed)) CPU_ZERO(&cpus.allowed);
}

/* A new thread inherits the worker's single CPU. Thread 0 stays on it, the others take the rest in
 * order, round and round if they are too few. */
static void pin(int thread) {
    static _Thread_local int pinned_to = -1;
    int others = CPU_COUNT(&cpus.allowed) - 1;
    if (thread == 0 || others < 1) return;
    int nth = (thread - 1) % others;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (cpu == cpus.first || !CPU_ISSET(cpu, &cpus.allowed) || nth-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (pinned_to != cpu && !sched_setaffinity(0, sizeof one, &one)) pinned_to = cpu;
        return;
    }
}

static void openmp_for(void (*body)(long i, int thread, void *context), long n, void *context) {
#pragma omp parallel num_threads(team)
    {
        int thread = omp_get_thread_num();
        pin(thread);
#pragma omp for schedule(static)
        for (long i = 0; i < n; i++) body(i, thread, context);
    }
}

void at_par_setup(at_par *par, int threads) {
    team = threads > 1 ? threads : 1;
    par->threads = team;
    par->parallel_for = team > 1 ? openmp_for : serial_for;
}

#else

void at_par_init(int cpu) { (void)cpu; }

void at_par_setup(at_par *par, int threads) {
    par->threads =
        threads > 1 ? threads : 1; /* as many workspace slices as the caller has counted */
    par->parallel_for = serial_for;
}

#endif
