/* bench/company.c: NEIGHBOUR=1: tools/neighbour beside what is measured, for as long as the bench
 * runs: on the other thread of the core, where it takes ports, or where cores have one thread, on
 * the core itself, where both take turns. */
#include "bench/bench.h"
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <unistd.h>

static int sibling_of(int cpu) {
    int n = (int)sysconf(_SC_NPROCESSORS_CONF), core = at_cpu_core_of(cpu);
    for (int i = 0; i < n; i++)
        if (i != cpu && at_cpu_core_of(i) == core) return i;
    return cpu;
}

void at_bench_invite(int cpu) {
    const char *wanted = getenv("NEIGHBOUR");
    if (!wanted || !*wanted) return;
    at_arena *a = at_arena_new();
    int beside = sibling_of(cpu);
    const char *path = at_format(a, "%s/../tools/neighbour", at_bench_folder(a)),
               *number = at_format(a, "%d", beside);
    /* It ends with the bench. */
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("bench: cannot start tools/neighbour");
        exit(1);
    }
    if (!child) {
        execl(path, path, number, (char *)NULL);
        fprintf(stderr, "bench: cannot start %s\n", path);
        _exit(1);
    }
    printf("beside tools/neighbour on CPU %d, %s\n", beside,
           beside != cpu ? "the other thread of this core" : "this core, by turns");
    fflush(stdout);
    at_arena_free(a);
}
