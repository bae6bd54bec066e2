/* runtime/cpu.h: facts of the CPU, and what its core can do and shows right now. */
#ifndef AT_RUNTIME_CPU_H
#define AT_RUNTIME_CPU_H

#include "base/base.h"

/* ---- CPU facts (cpu.c) ---------------------------------------------------------------------- */

typedef struct at_cpu {
    char name[64];      /* brand string, blanks folded */
    char llvm_name[32]; /* LLVM's -mcpu spelling: znver4, ...; x86-64 if unknown */
    const char *device; /* AutoTVM's -device for such a CPU, which its templates go by; or NULL */
    char core[32];      /* the core itself, whatever of it is hidden: such a name, too */
    char flags[256];    /* what it can do, as Linux names it: blanks between */
    char machine[128];  /* tells those of one name apart: "6-143-8, 32K/2M/105M, under KVM" */
    int cores;          /* logical CPUs this process may run on */
    int64_t l1d_bytes, l2_bytes, l3_bytes; /* 0 unknown */
    int64_t memory_bytes;                  /* physical, or the cgroup's limit where lower */
} at_cpu;
const at_cpu *at_cpu_facts(void); /* measured once */
/* Bytes that one computation may take: three quarters of memory_bytes. */
int64_t at_cpu_most_bytes(void);

/* Vector sets: the instruction sets that kernels are made of, those of the architecture that this
 * program runs on, by number, the plainest first (runtime/x86/spin.c). Their names are those of
 * codegen's targets. */
int at_vector_set(const char *name);     /* -1: this architecture has none of that name */
const char *at_vector_set_name(int set); /* NULL: there is no such number */
bool at_cpu_has_set(int set);            /* and its registers are saved by the system */
/* And are the instructions that it adds to other sets as fast as multiply-adds for the same work?
 */
bool at_cpu_has_fast_set(int set);
int at_cpu_best_set(void); /* of the sets that have more than dot products beside others */

/* CPUs that kernels run on: one of each core that this process may use, the preferred one and then
 * the last first. Writes at most max of them and returns how many there are, at least 1. */
int at_cpu_cores(int *cpus, int max);
int at_cpu_core_of(int cpu); /* the first of the CPUs that are this core */
/* This thread no longer runs on the cores that kernels of so many threads do, its workers start as
 * before; false: then it would have none left. at_cpu_return ends that. */
bool at_cpu_leave(int threads);
void at_cpu_return(void);
bool at_has_threads(void); /* built with OpenMP: kernels run on several */
/* body(i, thread) for i in 0 .. n, on so many threads at most, each thread below that number. Pins
 * none: for kernels in a program of others (team.c). Any thread may call it; not within a body. */
void at_par_for(int threads, void (*body)(long i, int thread, void *context), long n,
                void *context);

/* ---- this core, right now (peak.c, latency.c) ------------------------------------------------ */

/* The FMA peak, in GFLOP/s of f32, of the cores that so many threads run on, the caller's among
 * them; measured in about 10 ms. */
double at_peak_gflops(int vector_set, int threads);
/* The peak of dot products, in 1e9 products and sums per second: of bf16 where the set has them,
 * else of bytes; 0: it has none. */
double at_peak_dot_gops(int vector_set, int threads);
/* The time of one multiply-add of vectors that waits for the one before; 0: the set has none. */
double at_chain_ns(int vector_set);
/* The time of one load that waits for the one before, anywhere in so many bytes; at most 64 MB. */
double at_latency_ns(int64_t bytes);

/* ---- who else uses this core (probe.c) --------------------------------------------------------
 *
 * How often the core does something that waits for nothing in the time of one multiply-add that
 * waits for the one before: neither clock nor unit is in it. Alone a core reaches ports times
 * latency; a thread beside it on the same core takes of the ports, and not of the latency. */

typedef struct at_probe {
    double near, far;     /* loads from the first-level and from the second-level cache */
    double multiply_adds; /* of CPUs without them multiplications */
} at_probe;
/* Of the caller's core, in 5 microseconds; far: that, too, in 7, else it is 0. At most 4 KB are
 * touched. */
at_probe at_probe_core(bool far);
bool at_arch_probes_fused(void); /* they are multiply-adds */
/* What a core reaches alone: ports times latency. 0: not known. */
typedef struct at_reach {
    double near, multiply_adds;
} at_reach;
/* What is known of a core, and what its probes show where that is clearly more: then too little was
 * known. In a third of a millisecond, on the caller's core. */
at_reach at_reach_seen(const at_reach *known);
/* UNKNOWN where nothing is known; else ALONE where near all of it is reached, or COMPANY. */
at_state at_probe_state(const at_probe *p, const at_reach *reach);
/* Of what lies between two readings: MIXED where they differ. */
at_state at_state_between(at_state before, at_state after);

/* A core as this thread sees it, which is on it meanwhile (core_watch.c). */
typedef struct at_core_seen {
    double share[AT_STATE_COUNT]; /* of the time */
    double here;                  /* of the time: this thread had the core */
    at_probe mean;
    int probes;
} at_core_seen;
/* false: this thread may not be there. */
bool at_core_watch(int cpu, int64_t ns, const at_reach *reach, at_core_seen *out);
/* The one of n CPUs whose time other programs take the least of, each watched for so long; the
 * first, if it makes no difference. */
int at_quieter_core(const int *cpus, int n, int64_t ns, const at_reach *reach);
/* From now on this core is the first of at_cpu_cores, and the one that workers are on, for this
 * thread. */
void at_cpu_prefer(int cpu);

#endif
