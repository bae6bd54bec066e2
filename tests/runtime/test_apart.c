/* Turns of parallel loops that run apart. No duration decides a test: time that is the thread's own
 * is spent until the clock has got there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/par_apart.h"

static void spend(int64_t ns) {
    const int64_t end_ns = at_machine_clock.thread_ns() + ns;
    while (at_machine_clock.thread_ns() < end_ns)
        ;
}

static void writes_nothing(long i, int thread, void *context) {
    (void)i, (void)thread, (void)context;
}

static void writes_one_place(long i, int thread, void *context) {
    (void)thread;
    *(int *)context = (int)i + 1;
}

/* What is done before the first loop, as filling a large workspace, leaves it no less time; behind
 * a first loop that has taken all of it none is split. */
static void time_begins_with_a_loop(void **state) {
    (void)state;
    int workspace = 0;
    const at_job job = {.threads = 2};
    const at_place places[] = {{.start = (char *)&workspace, .size_bytes = sizeof workspace}};
    for (int loops = 1; loops <= 2; loops++) {
        at_par par = {.threads = 2};
        char error[200] = "";
        assert_true(at_par_apart_begin(&par, &job, places, 0, 0));
        if (loops == 2) par.parallel_for(writes_nothing, 2, &workspace);
        spend(30000000);
        par.parallel_for(writes_one_place, 4, &workspace);
        assert_int_equal(at_par_apart_end(error, sizeof error), loops == 2);
        if (loops == 1)
            assert_string_equal(error, "two turns of a parallel loop write different values to one "
                                       "place: byte 0 of the workspace");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_begins_with_a_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
