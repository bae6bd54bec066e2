/* runtime/peak.c: the most floating-point operations per second one core does right now, per
 * instruction set: independent chains of multiply-adds in registers and nothing else. Run in the
 * worker, beside the kernels that are measured against it. And what one of a chain takes. */
#include "runtime/arch.h"
#include "runtime/inside.h"

typedef struct spinning {
    void (*spin)(int64_t n);
    int64_t n;
} spinning;

static void spin_one(long i, int thread, void *context) {
    const spinning *s = context;
    (void)i, (void)thread;
    s->spin(s->n);
}

/* All threads at once, until the last one is done. */
static int64_t spin_all(const at_par *par, spinning *s) {
    int64_t start = at_now_ns();
    par->parallel_for(spin_one, par->threads, s);
    return at_now_ns() - start;
}

/* 10^9 operations per second; spin: so many of them a trip. */
static double most_of(void (*spin)(int64_t trips), int ops, int threads) {
    const int64_t chunk_ns = 1000 * 1000; /* long against the clock, short against a time slice */
    const int chunks = 5;
    spinning s = {spin, 1000};
    at_par par;
    int64_t ns = 0;
    at_par_setup(&par, threads);
    do {
        for (;; s.n *= 2) { /* calibrates, and lets the core reach the clock it runs this code at */
            ns = spin_all(&par, &s);
            if (ns >= chunk_ns) break;
        }
        for (int i = 0; i < chunks; i++) {
            int64_t again = spin_all(&par, &s);
            if (again < ns) ns = again;
        }
    } while (ns < chunk_ns / 2); /* the calibration was disturbed */
    return (double)par.threads * (double)s.n * ops / (double)ns;
}

double at_peak_gflops(int vector_set, int threads) {
    const at_spin *s = &at_arch_sets[vector_set].spin;
    return most_of(s->multiply_add, s->flops, threads);
}

double at_peak_dot_gops(int vector_set, int threads) {
    const at_spin *s = &at_arch_sets[vector_set].spin;
    return s->dot ? most_of(s->dot, s->dot_ops, threads) : 0;
}

double at_chain_ns(int vector_set) {
    enum { TIMES = 200 }; /* a millisecond */
    const at_spin *s = &at_arch_sets[vector_set].spin;
    int64_t best = INT64_MAX;
    if (!s->is_chain_of_vectors) return 0;
    for (int i = 0; i < TIMES; i++) {
        int64_t start = at_now_ns();
        s->chain(s->chain_steps);
        int64_t ns = at_now_ns() - start;
        if (ns < best) best = ns;
    }
    return (double)best / (double)s->chain_steps;
}
