/* tools/neighbour.c: neighbour CPU [SEED]: somebody else on that CPU: loads from the first-level
 * cache and multiply-adds in bursts of 5 to 500 ms, with pauses as long between them, until it is
 * ended. On a machine with two threads a core it takes the other thread's ports; where there is
 * one, turns of the core. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 5 to 500 ms, as many short ones as long ones. */
static double next_s(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return 0.005 * pow(100, (double)(*state >> 11) / 9007199254740992.0);
}

static void burst(double until_s) {
    static volatile float line[16384 / sizeof(float)];
    float sums[16];
    for (int k = 0; k < 16; k++) sums[k] = 1;
    while (now_s() < until_s)
        for (int pass = 0; pass < 50; pass++)
            for (int i = 0; i < (int)(sizeof line / sizeof *line); i += 16)
                for (int k = 0; k < 16; k++) sums[k] = sums[k] * 0.5f + line[i + k];
    for (int k = 0; k < 16; k++) line[k] = 0 * sums[k];
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: neighbour CPU [SEED]\n"), 2;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set)) return perror("neighbour"), 1;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (;;) {
        burst(now_s() + next_s(&state));
        double pause_s = next_s(&state);
        nanosleep(&(struct timespec){.tv_nsec = (long)(pause_s * 999999999)}, NULL);
    }
}
