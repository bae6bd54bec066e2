/* The parallel loop in this process: every turn once, threads on cores of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/inside.h"

#include <sched.h>
#include <string.h>

enum { MOST = 64, TURNS = 1000 };

typedef struct seen {
    int turns[TURNS], thread_of[TURNS]; /* a turn has one owner: no two threads write one */
    int cpu[MOST][16];                  /* of a thread; 16: not in one line of the cache */
} seen;

static void look(long i, int thread, void *context) {
    seen *s = context;
    s->turns[i]++;
    s->thread_of[i] = thread;
    s->cpu[thread][0] = sched_getcpu();
}

static void run(const at_par *par, long n, seen *s) {
    memset(s, 0, sizeof *s);
    for (int t = 0; t < MOST; t++) s->cpu[t][0] = -1;
    par->parallel_for(look, n, s);
    for (long i = 0; i < TURNS; i++) {
        assert_int_equal(s->turns[i], i < n);
        if (i < n) assert_in_range(s->thread_of[i], 0, par->threads - 1);
    }
}

static void every_turn_once(void **state) {
    (void)state;
    static seen s;
    at_par par;
    for (int threads = 0; threads <= 5; threads++) {
        at_par_setup(&par, threads);
        assert_int_equal(par.threads, threads > 1 ? threads : 1);
        static const long turns[] = {0, 1, 2, 3, 7, TURNS};
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) run(&par, turns[i], &s);
    }
}

static void cores_of_their_own(void **state) {
    (void)state;
    static seen s;
    int cores[MOST], n = at_cpu_cores(cores, MOST);
    cpu_set_t allowed;
    at_par par;
    assert_false(sched_getaffinity(0, sizeof allowed, &allowed));
    assert_in_range(n, 1, CPU_COUNT(&allowed));
    if (n > MOST) n = MOST;
    for (int i = 0; i < n; i++) {
        assert_true(CPU_ISSET(cores[i], &allowed));
        for (int j = 0; j < i; j++) assert_int_not_equal(cores[i], cores[j]);
    }
    at_par_setup(&par, n);
    cpu_set_t one; /* as the worker does, which has asked for all of them before */
    CPU_ZERO(&one);
    CPU_SET(cores[0], &one);
    assert_false(sched_setaffinity(0, sizeof one, &one));
    run(&par, TURNS, &s);
    assert_int_equal(s.cpu[0][0], cores[0]);
    sched_setaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < n && at_has_threads(); i++) {
        assert_int_not_equal(s.cpu[i][0], -1);
        for (int j = 0; j < i; j++) assert_int_not_equal(s.cpu[i][0], s.cpu[j][0]);
    }
}

static int start(void **state) {
    (void)state;
    int cpu;
    at_cpu_cores(&cpu, 1);
    at_par_init(cpu);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_once),
        cmocka_unit_test(cores_of_their_own),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
