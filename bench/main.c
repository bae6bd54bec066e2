/* bench/main.c: `make bench`: the figures that the program promises, part by part. Arguments name
 * parts; none: all of them. Exit code 1 where a part could not be measured; a target that is missed
 * is a figure, not an error. */
#include "bench/peers.h"
#include "runtime/inside.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define ASK_PERSONALITY 0xffffffff /* changes nothing */

static const struct {
    const char *name;
    at_status (*run)(at_error *err);
} parts[] = {
    {"lowering", at_bench_lowering},
    {"trials", at_bench_trial_time},
    {"conv3x3", at_bench_conv3x3},
    {"nchwc", at_bench_nchwc},
    {"algorithms", at_bench_algorithms},
    {"layers", at_bench_layers_of_networks},
    {"templates", at_bench_templates},
    {"operators", at_bench_operators},
    {"derived", at_bench_derived},
    {"lowp", at_bench_lowp},
    {"recurrent", at_bench_recurrent},
    {"workload", at_bench_workload},
    {"sketches", at_bench_sketches},
    {"fused", at_bench_fused},
    {"ragged", at_bench_ragged},
    {"sparse", at_bench_sparse},
    {"gnu", at_bench_dialects},
    {"avx2", at_bench_avx2},
    {"threads", at_bench_threads},
    {"records", at_bench_records},
    {"why", at_bench_why},
    {"cost", at_bench_cost},
    {"pairs", at_bench_pairs},
};
#define NUM_PARTS (int)(sizeof parts / sizeof *parts)

int at_bench_cores;

/* The last CPU that we may use, which is the one that the tool's worker takes. */
static int pin(void) {
    cpu_set_t allowed, one;
    int cpu = CPU_SETSIZE - 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return -1;
    while (cpu > 0 && !CPU_ISSET(cpu, &allowed)) cpu--;
    at_bench_cores = at_cpu_cores(NULL, 0);
    at_par_init(cpu);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) ? -1 : cpu;
}

static bool addresses_are_fixed(void) {
    int p = personality(ASK_PERSONALITY);
    return p != -1 && p & ADDR_NO_RANDOMIZE;
}

/* OpenMP, behind oneDNN, reads this before main(); and where code and stacks lie at other addresses
 * in each process, speeds differ from run to run (docs/notes/bench.md): once more from the start.
 */
static void start_again(char **argv) {
    const char *threads = getenv("OMP_NUM_THREADS");
    unsigned long now = (unsigned long)personality(ASK_PERSONALITY);
    bool fixes = !addresses_are_fixed() && personality(now | ADDR_NO_RANDOMIZE) != -1;
    if (threads && !strcmp(threads, "1") && !fixes) return;
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
    AT_BUG("cannot start again with OMP_NUM_THREADS=1");
}

static int find_part(const char *name) {
    for (int i = 0; i < NUM_PARTS; i++)
        if (!strcmp(parts[i].name, name)) return i;
    fprintf(stderr, "bench: no part \"%s\"; there are:", name);
    for (int i = 0; i < NUM_PARTS; i++) fprintf(stderr, " %s", parts[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static void print_head(int cpu, int cores) {
    const char *dnn = at_onednn_about(), *blas = at_openblas_about();
    double load = 0;
    getloadavg(&load, 1);
    printf("%s, core %d, %s, one thread; load before: %.1f on %d cores\n", at_cpu_facts()->name,
           cpu, at_bench_target()->name, load, cores);
    if (!addresses_are_fixed())
        printf("addresses differ from run to run here, and with them speeds\n");
    printf("oneDNN: %s%s\n", dnn ? "found, " : "not found (libdnnl-dev)", dnn ? dnn : "");
    printf("OpenBLAS: %s%s\n", blas ? "found, kernels for " : "not found (libopenblas-dev)",
           blas ? blas : "");
    printf("XNNPACK: %s\n", at_xnnpack_is_there() ? "found" : "not found (libxnnpack0)");
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    bool wanted[NUM_PARTS] = {false};
    int64_t start = at_now_ns();
    bool failed = false;
    start_again(argv);
    for (int i = 1; i < argc; i++) wanted[find_part(argv[i])] = true;
    const char *trials = getenv("TRIALS");
    if (trials && atoi(trials) > 0) at_bench_trials = atoi(trials);
    int cores = at_cpu_facts()->cores;
    int cpu = pin();
    print_head(cpu, cores);
    at_bench_invite(cpu);
    for (int i = 0; i < NUM_PARTS; i++) {
        at_error err = {0};
        if (argc > 1 && !wanted[i]) continue;
        if (parts[i].run(&err) == AT_OK) continue;
        printf("  %s failed: %s\n", parts[i].name, err.text);
        failed = true;
    }
    printf("\n%.0f s\n", at_seconds_since(start));
    return failed;
}
