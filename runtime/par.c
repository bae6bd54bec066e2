/* runtime/par.c: the loop behind `:para`: OpenMP where this file was compiled with it and more than
 * one thread is asked for, else a plain loop. */
#include "runtime/inside.h"

#include <limits.h>

static void serial_for(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

#if defined(_OPENMP)
#include <omp.h>
#include <sched.h>

#define MAX_CPUS 1024

static int team;
static int cpus[MAX_CPUS], num_cpus; /* the worker's own, then one of each other core */

bool at_has_threads(void) { return true; }

void at_par_init(int cpu) {
    int all[MAX_CPUS], n = at_cpu_cores(all, MAX_CPUS);
    cpus[num_cpus++] = cpu;
    for (int i = 0; i < n && i < MAX_CPUS && num_cpus < MAX_CPUS; i++)
        if (all[i] != cpu) cpus[num_cpus++] = all[i];
}

/* A new thread inherits the worker's single CPU. Thread 0 stays on it, the others take the rest in
 * order, round and round if they are too few. */
static void pin(int thread) {
    static _Thread_local int pinned_to = -1;
    if (thread == 0 || num_cpus < 2) return;
    int cpu = cpus[1 + (thread - 1) % (num_cpus - 1)];
    if (pinned_to == cpu) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (!sched_setaffinity(0, sizeof one, &one)) pinned_to = cpu;
}

/* Equal shares in a row. The team may be smaller than asked for: no more threads could be made. */
static void openmp_for(void (*body)(long i, int thread, void *context), long n, void *context) {
#pragma omp parallel num_threads(team)
    {
        const int thread = omp_get_thread_num();
        const long threads = omp_get_num_threads();
        pin(thread);
        for (long i = n * thread / threads; i < n * (thread + 1) / threads; i++)
            body(i, thread, context);
    }
}

void at_par_setup(at_par *par, int threads) {
    team = threads > 1 ? threads : 1;
    par->threads = team;
    par->turns = LONG_MAX;
    par->parallel_for = team > 1 ? openmp_for : serial_for;
}

#else

bool at_has_threads(void) { return false; }

void at_par_init(int cpu) { (void)cpu; }

void at_par_setup(at_par *par, int threads) {
    par->threads =
        threads > 1 ? threads : 1; /* as many workspace slices as the caller has counted */
    par->turns = LONG_MAX;
    par->parallel_for = serial_for;
}

#endif
