/* runtime/cpu.c: what this CPU is, as far as the system says it: cores and memory this process may
 * use. The rest is the architecture's: runtime/x86/cpuid.c. */
#include "runtime/arch.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t read_limit(const char *path) {
    FILE *f = fopen(path, "re");
    if (!f) return INT64_MAX;
    long long n;
    int got = fscanf(f, "%lld", &n); /* "max" is no number */
    fclose(f);
    return got == 1 && n > 0 ? n : INT64_MAX;
}

/* The lowest limit on the way from this process's group up to the root of what is mounted. */
static int64_t group_limit(const char *root, char *group, const char *file) {
    int64_t least = INT64_MAX;
    for (;;) {
        char path[4608];
        snprintf(path, sizeof path, "%s%s/%s", root, group, file);
        int64_t n = read_limit(path);
        if (n < least) least = n;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

static int64_t cgroup_memory(void) {
    int64_t least = INT64_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return least;
    char line[4352];
    while (fgets(line, sizeof line, f)) { /* hierarchy:controllers:/group */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        controllers++;
        int64_t n = INT64_MAX;
        if (!*controllers) n = group_limit("/sys/fs/cgroup", group, "memory.max");
        if (strstr(controllers, "memory"))
            n = group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
        if (n < least) least = n;
    }
    fclose(f);
    return least;
}

static int64_t memory(void) {
    struct sysinfo s;
    if (sysinfo(&s)) return INT64_MAX;
    int64_t bytes = (int64_t)s.totalram * s.mem_unit, limit = cgroup_memory();
    return limit < bytes ? limit : bytes;
}

/* ---- the public face ------------------------------------------------------------------------ */

static at_cpu facts;

static void find_facts(void) {
    cpu_set_t set;
    at_arch_cpu(&facts);
    facts.cores = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    facts.memory_bytes = memory();
}

const at_cpu *at_cpu_facts(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_facts);
    return &facts;
}

int64_t at_cpu_most_bytes(void) { return at_cpu_facts()->memory_bytes / 4 * 3; }

/* ---- cores ---------------------------------------------------------------------------------- */

/* A thread has its own set, and leaves cores by itself. */
static _Thread_local bool have_left;

const cpu_set_t *at_cpus_given(void) {
    static _Thread_local cpu_set_t set;
    if (!have_left && sched_getaffinity(0, sizeof set, &set)) CPU_ZERO(&set);
    return &set;
}

/* CPUs of one core name the same siblings. Where the system does not say, each is a core. */
#define SIBLINGS 64 /* bytes of their list */
static void siblings(int cpu, char out[SIBLINGS]) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(out, SIBLINGS, f)) snprintf(out, SIBLINGS, "%d", cpu);
    if (f) fclose(f);
}

int at_cpu_core_of(int cpu) {
    char list[SIBLINGS];
    siblings(cpu, list);
    return atoi(list); /* "0-1", "0,64" */
}

static _Thread_local int preferred = -1;

void at_cpu_prefer(int cpu) { preferred = cpu; }

int at_cpu_cores(int *cpus, int max) {
    enum { MOST = 1024 };
    char seen[MOST][SIBLINGS];
    const cpu_set_t *set = at_cpus_given();
    int all[MOST], n = 0;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && n < MOST; cpu--) {
        if (!CPU_ISSET(cpu, set)) continue;
        siblings(cpu, seen[n]);
        bool known = false;
        for (int i = 0; i < n; i++) known |= !strcmp(seen[i], seen[n]);
        if (known) continue;
        all[n++] = cpu;
    }
    for (int i = 1; i < n; i++) {
        if (all[i] != preferred) continue;
        memmove(all + 1, all, (size_t)i * sizeof *all);
        all[0] = preferred;
    }
    for (int i = 0; i < n && i < max; i++) cpus[i] = all[i];
    return n ? n : 1;
}

bool at_cpu_leave(int threads) {
    int measuring[64], n = at_cpu_cores(measuring, 64);
    cpu_set_t rest = *at_cpus_given();
    for (int i = 0; i < threads && i < n && i < 64; i++) {
        char own[SIBLINGS], other[SIBLINGS];
        siblings(measuring[i], own);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &rest)) continue;
            siblings(cpu, other);
            if (!strcmp(own, other)) CPU_CLR(cpu, &rest);
        }
    }
    if (!CPU_COUNT(&rest)) return false;
    have_left = !sched_setaffinity(0, sizeof rest, &rest);
    return have_left;
}

void at_cpu_return(void) {
    if (have_left) sched_setaffinity(0, sizeof(cpu_set_t), at_cpus_given());
    have_left = false;
}

/* ---- vector sets ---------------------------------------------------------------------------- */

int at_vector_set(const char *name) {
    int set = at_arch_num_sets - 1;
    while (set >= 0 && strcmp(at_arch_sets[set].name, name) != 0) set--;
    return set;
}

const char *at_vector_set_name(int set) {
    return set >= 0 && set < at_arch_num_sets ? at_arch_sets[set].name : NULL;
}

bool at_cpu_has_set(int set) { return at_vector_set_name(set) && at_arch_sets[set].has(); }

bool at_cpu_has_fast_set(int set) {
    return at_cpu_has_set(set) && !(at_arch_sets[set].is_slow && at_arch_sets[set].is_slow());
}

int at_cpu_best_set(void) {
    int best = at_arch_num_sets - 1;
    while (best > 0 && (at_arch_sets[best].for_types || !at_cpu_has_set(best))) best--;
    return best;
}
