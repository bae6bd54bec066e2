/* The parallel loop in this process: every turn once, threads on cores of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/inside.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- kernels in a program of others ---------------------------------------------------------- */

static void *many_loops(void *unused) {
    static const long turns[] = {0, 1, 2, 3, 7, TURNS};
    seen *s = malloc(sizeof *s);
    (void)unused;
    for (int k = 0; s && k < 600; k++) {
        const int threads = 1 + k / 100 % 3;
        const long n = turns[k % 6];
        memset(s, 0, sizeof *s);
        at_par_for(threads, look, n, s);
        for (long i = 0; i < TURNS; i++)
            if (s->turns[i] != (i < n) || s->thread_of[i] >= threads) return free(s), s;
    }
    free(s);
    return NULL;
}

/* Every turn once, and ended when the call returns: loops of several lengths and threads, by
 * several callers at once. */
static void by_a_team(void **state) {
    (void)state;
    enum { CALLERS = 3 };
    pthread_t callers[CALLERS];
    assert_null(many_loops(NULL));
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, many_loops, NULL), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(callers[i], &failed), 0);
        assert_null(failed);
    }
}

/* A child of a process whose team runs makes its own. */
static void in_a_child(void **state) {
    (void)state;
    assert_null(many_loops(NULL));
    const pid_t child = fork();
    if (!child) _exit(many_loops(NULL) != NULL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_once),
        cmocka_unit_test(cores_of_their_own),
        cmocka_unit_test(by_a_team),
        cmocka_unit_test(in_a_child),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
