/* How often the timer calls a kernel and what it reports. No duration decides a test: kernels count
 * their calls in static data, and crash at the call that must not come. */
#include "rig.h"

/* Returns an error at call `last` + 1; kernels of 0 cost are what no rule expects, so it adds as
 * well. */
static const char *at_most(int last) {
    static char source[2000];
    snprintf(source, sizeof source,
             "static int calls;\n" KERNEL("if (++calls > %d) *(volatile int *)0 = 1;" ADD), last);
    return source;
}

static void exact_calls(void **state) {
    rig *r = *state;
    r->job.number = 4;
    r->job.repeat = 3;
    rig_expect(r, at_most(13), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 3);
    assert_int_equal(r->outcome.number, 4);
    assert_false(r->outcome.at_least);
    rig_expect(r, at_most(12), AT_JOB_CRASHED, "SIGSEGV");
}

static void run_only_is_one_call(void **state) {
    rig *r = *state;
    r->job.run_only = true;
    rig_expect(r, at_most(1), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 0);
}

static void minimum_duration(void **state) {
    rig *r = *state;
    r->job.number = 1;
    r->job.repeat = 2;
    r->job.min_repeat_ms = 5;
    /* A thousand additions cannot take 5 ms each ten times over. */
    rig_expect(r, at_most(10), AT_JOB_CRASHED, "SIGSEGV");
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 2);
    assert_true(r->outcome.number > 10);
}

static void behind_is_single(void **state) {
    rig *r = *state;
    r->job.best_ns = 1; /* nobody is less than 3 times slower than a nanosecond */
    rig_expect(r, at_most(3), AT_JOB_RAN, ""); /* cold, or disturbed: at most two more looks */
    assert_true(r->outcome.at_least);
    assert_int_equal(r->outcome.num_costs, 1);
}

static void ahead_is_full(void **state) {
    rig *r = *state;
    r->job.best_ns = 3600 * 1000000000LL;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_false(r->outcome.at_least);
    /* Disturbed ones are left out, but for two, and a slow machine has time for no more. */
    assert_in_range(r->outcome.num_costs, 2, 5);
    r->job.repeat = 5;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_false(r->outcome.at_least);
    assert_int_equal(r->outcome.num_costs, 5);
}

/* Calls that are timed make up the time that is the kernel's own. */
static void kernel_time(void **state) {
    rig *r = *state;
    r->job.repeat = 3;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    const at_outcome *o = &r->outcome;
    assert_true(o->kernel_ns > 0 && o->kernel_ns <= o->check_ns + o->run_ns);
}

/* The flush comes before every sample, and a sample is one run. */
static void cold(void **state) {
    rig *r = *state;
    r->job.flush_bytes = 1 << 22;
    rig_expect(r, at_most(8), AT_JOB_RAN, ""); /* check, two samples and five disturbed ones */
    assert_in_range(r->outcome.num_costs, 2, 3);
    r->job.number = 2;
    r->job.repeat = 3;
    rig_expect(r, at_most(7), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 3);
    rig_expect(r, at_most(6), AT_JOB_CRASHED, "SIGSEGV");
}

#define SLEEP(ns)                                                                                  \
    "long t[2]; t[0] = 0; t[1] = " ns ";"                                                          \
    "asm volatile(\"mov $35, %%eax\\n xor %%esi, %%esi\\n syscall\""                               \
    " : : \"D\"(t) : \"rax\", \"rcx\", \"rsi\", \"r11\", \"memory\");"

/* A kernel that sleeps is away from its core: every sample is disturbed, and the fewest are kept.
 * Those that are told to be taken are taken however long the sleep was. */
static void disturbed(void **state) {
    rig *r = *state;
    rig_expect(r, KERNEL(ADD SLEEP("1000000")), AT_JOB_RAN, "");
    assert_in_range(r->outcome.disturbed, 2, 5);
    assert_int_equal(r->outcome.disturbed_kept, 2);
    assert_int_equal(r->outcome.num_costs, 2);
    r->job.repeat = 4;
    rig_expect(r, KERNEL(ADD SLEEP("1000000")), AT_JOB_RAN, "");
    assert_in_range(r->outcome.disturbed, 4, 5);
    assert_int_equal(r->outcome.disturbed_kept, 4);
    assert_int_equal(r->outcome.num_costs, 4);
}

/* For a second, it is measured again. */
static void disturbed_for_long(void **state) {
    rig *r = *state;
    r->job.repeat = 1;
    rig_expect(r, KERNEL(ADD SLEEP("300000000")), AT_JOB_RAN, "");
    assert_in_range(r->outcome.disturbed, 1, 4);
    assert_int_equal(r->outcome.num_costs, 1);
}

static void number_beats_best(void **state) {
    rig *r = *state;
    r->job.best_ns = 1;
    r->job.number = 2;
    r->job.repeat = 2;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_false(r->outcome.at_least);
    assert_int_equal(r->outcome.num_costs, 2);
}

static void repeat_alone(void **state) {
    rig *r = *state;
    r->job.repeat = 7;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 7);
    r->job.repeat = 1000;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, AT_MAX_SAMPLES);
}

static void slow_kernel_few_samples(void **state) {
    rig *r = *state; /* some 30 ms a call: two repeats end the budget */
    rig_expect(r, KERNEL("volatile long k; for (k = 0; k < 20000000; k++) {}" ADD), AT_JOB_RAN, "");
    assert_in_range(r->outcome.num_costs, 2, 5);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(exact_calls),      TEST(run_only_is_one_call),
        TEST(minimum_duration), TEST(behind_is_single),
        TEST(ahead_is_full),    TEST(number_beats_best),
        TEST(kernel_time),      TEST(cold),
        TEST(disturbed),        TEST(disturbed_for_long),
        TEST(repeat_alone),     TEST(slow_kernel_few_samples),
    };
    return cmocka_run_group_tests(tests, rig_setup_unconfined, rig_teardown);
}
