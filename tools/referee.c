/* tools/referee.c: referee CPU SECONDS DATA WEIGHT OUT FILE.so...: kernels that apply wrote (k,
 * k_pack, k_in_blocks: one input, one weight, one output, of so many floats), compiled by anybody,
 * timed in alternation: all of them in random order, round after round. Of each, by the state that
 * probes before and after its run tell: how many runs, and the median of its times over the
 * geometric mean of its round. Now and then they change places in memory: of two equal kernels one
 * was 2 to 5 % slower for as long as a process had it in one place. It shares nothing with what
 * chose them but the probes. */
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/engine.h"

enum { TRIES = 20, MOST = 64, MOST_ROUNDS = 20000, ROUNDS_IN_PLACE = 8 };
#define HUGE ((size_t)2 << 20)

typedef struct entry {
    const char *path;
    void (*run)(const float *, const void *, float *, void *);
    void (*pack)(const float *, void *);
    size_t packed_bytes, workspace_bytes;
    void *packed, *workspace;
    float *ratios; /* [MOST_ROUNDS] log(time / mean of its round); NAN: none */
    char *states;
} entry;

static entry of[MOST];
static float *data, *weight, *out;
static void *places[MOST], *workspaces[MOST]; /* each large enough for all */

/* In large pages, at the same place of one, so that all lie in the same sets of the caches. */
static void *memory(size_t bytes) {
    size_t size = (bytes + HUGE) / HUGE * HUGE;
    char *p = aligned_alloc(HUGE, size);
    AT_NEED(p);
    madvise(p, size, MADV_HUGEPAGE);
    memset(p, 0, size);
    return p;
}

static void *symbol(void *handle, const char *path, const char *name) {
    void *p = dlsym(handle, name);
    if (!p) fprintf(stderr, "referee: %s has no %s\n", path, name), exit(1);
    return p;
}

static void load(entry *e, const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "referee: %s\n", dlerror()), exit(1);
    unsigned long (*workspace_bytes)(int), (*packed_bytes)(void);
    *(void **)&workspace_bytes = symbol(handle, path, "k_workspace_bytes");
    *(void **)&packed_bytes = symbol(handle, path, "k_packed_bytes");
    *(void **)&e->pack = symbol(handle, path, "k_pack");
    *(void **)&e->run = symbol(handle, path, "k_in_blocks");
    e->path = path;
    e->packed_bytes = packed_bytes();
    e->workspace_bytes = workspace_bytes(1);
    e->ratios = malloc(MOST_ROUNDS * sizeof *e->ratios);
    e->states = malloc(MOST_ROUNDS);
    AT_NEED(e->ratios);
    AT_NEED(e->states);
}

static void shuffle(int *order, int n, at_rng *rng) {
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)at_rng_below(rng, (uint64_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

static void make_places(int n) {
    size_t packed = 0, workspace = 0;
    for (int i = 0; i < n; i++) {
        if (of[i].packed_bytes > packed) packed = of[i].packed_bytes;
        if (of[i].workspace_bytes > workspace) workspace = of[i].workspace_bytes;
    }
    for (int i = 0; i < n; i++) places[i] = memory(packed), workspaces[i] = memory(workspace);
}

static void change_places(int n, at_rng *rng) {
    int order[MOST];
    shuffle(order, n, rng);
    for (int i = 0; i < n; i++) {
        of[i].packed = places[order[i]];
        of[i].workspace = workspaces[order[i]];
        of[i].pack(weight, of[i].packed);
    }
}

static int64_t thread_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static at_state look(const at_reach *reach) {
    at_probe p = at_probe_core(false);
    return at_probe_state(&p, reach);
}

/* Once for the caches, once for the clock. NAN: the thread was away. */
static double run_ns(entry *e, const at_reach *reach, char *state) {
    e->run(data, e->packed, out, e->workspace);
    at_state before = look(reach);
    int64_t thread = thread_ns(), start = at_now_ns();
    e->run(data, e->packed, out, e->workspace);
    int64_t ns = at_now_ns() - start, away = ns - (thread_ns() - thread);
    *state = at_state_letter(at_state_between(before, look(reach)));
    return away > ns / 100 + 3000 ? NAN : (double)ns;
}

static void round_of(int round, int n, const at_reach *reach, at_rng *rng) {
    int order[MOST], counted = 0;
    double sum = 0, ns[MOST];
    if (round % ROUNDS_IN_PLACE == 0) change_places(n, rng);
    shuffle(order, n, rng);
    for (int i = 0; i < n; i++) {
        entry *e = &of[order[i]];
        for (int tries = 0; tries < TRIES; tries++)
            if (isfinite(ns[order[i]] = run_ns(e, reach, &e->states[round]))) break;
        if (isfinite(ns[order[i]])) sum += log(ns[order[i]]), counted++;
    }
    for (int i = 0; i < n; i++)
        of[i].ratios[round] = counted < n ? NAN : (float)(log(ns[i]) - sum / n);
}

static double median(const entry *e, int rounds, char state, int *count) {
    double *v = malloc((size_t)rounds * sizeof *v + 1);
    int n = 0;
    AT_NEED(v);
    for (int i = 0; i < rounds; i++)
        if (isfinite(e->ratios[i]) && (!state || e->states[i] == state)) v[n++] = e->ratios[i];
    at_sort_doubles(v, n);
    double m = n ? exp(at_sorted_median(v, n)) : NAN;
    free(v);
    *count = n;
    return m;
}

int main(int argc, char **argv) {
    if (argc < 7 || argc > 6 + MOST) {
        fprintf(stderr, "usage: referee CPU SECONDS DATA WEIGHT OUT FILE.so...\n");
        return 2;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set)) return perror("referee"), 1;
    int n = argc - 6, rounds = 0;
    size_t floats[3];
    for (int i = 0; i < 3; i++) floats[i] = strtoul(argv[3 + i], NULL, 10);
    data = memory(floats[0] * sizeof *data);
    weight = memory(floats[1] * sizeof *weight);
    out = memory(floats[2] * sizeof *out);
    for (size_t i = 0; i < floats[0]; i++) data[i] = (float)(i % 7) - 3;
    for (size_t i = 0; i < floats[1]; i++) weight[i] = (float)(i % 5) - 2;
    for (int i = 0; i < n; i++) load(&of[i], argv[6 + i]);
    make_places(n);
    at_reach reach = at_reach_here();
    at_rng rng;
    at_rng_seed(&rng, 1, 0);
    int64_t end_ns = at_now_ns() + (int64_t)(atof(argv[2]) * 1e9);
    while (at_now_ns() < end_ns && rounds < MOST_ROUNDS) round_of(rounds++, n, &reach, &rng);
    printf("%d rounds\n%-24s%16s%16s%16s\n", rounds, "", "alone", "company", "all");
    for (int i = 0; i < n; i++) {
        static const char states[] = "ac";
        printf("%-24s", of[i].path);
        for (int s = 0; s < 3; s++) {
            int count;
            double m = median(&of[i], rounds, states[s], &count);
            if (count < 20) printf("%16s", "-");
            else printf("  %7.4f (%4d)", m, count);
        }
        printf("\n");
    }
    return 0;
}
