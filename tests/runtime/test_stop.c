/* Kernels that are cut short: by a part of their turns before they run, or while they do. No
 * duration decides a test: kernels that would go on for ever do not, and what they count tells how
 * far they were let go. */
#include "rig.h"

#include "runtime/inside.h"

#define CUT_KERNEL(body)                                                                           \
    "typedef struct { void (*parallel_for)(void (*)(long, int, void *), long, void *);"            \
    " int threads; volatile long turns; } at_par;\n"                                               \
    "static long calls;\n"                                                                         \
    "int k_entry(void *const buf[], void *workspace, at_par *par) {\n"                             \
    "  const float *a = buf[0], *b = buf[1]; float *out = buf[2]; long i, k, n = 1000;\n"          \
    "  volatile long wait; (void)workspace, (void)i, (void)k, (void)wait; calls++;\n" body         \
    "\n  return 0;\n}\n"
#define ADD_ALL "for (i = 0; i < n; i++) out[i] = a[i] + b[i];"

enum { SECOND = 1000000000 };

static int setup(void **state) {
    rig *r = *state;
    rig_reset(state);
    r->job.turns = 1000;
    r->job.best_ns = 1;
    r->job.run_timeout_s =
        300; /* what is stopped takes 20 ms of its own, however busy the core is */
    return 0;
}

static const char endless[] = CUT_KERNEL("while (par->turns > 0) wait = 0;");

/* It would be killed as one that hangs. */
static void stopped_while_it_runs(void **state) {
    rig *r = *state;
    rig_expect(r, endless, AT_JOB_RAN, "");
    assert_true(r->outcome.at_least && r->outcome.is_cut);
    assert_int_equal(r->outcome.num_costs, 1);
    assert_true(r->outcome.costs_s[0] > 0);
    /* The worker is the same, and not stopped any more. */
    rig_expect(r, CUT_KERNEL("if (par->turns < 1000) return 0;" ADD_ALL), AT_JOB_RAN, "");
    assert_false(r->outcome.is_cut);
}

/* Turns that count down while the signal comes. */
static void stopped_although_it_counts(void **state) {
    rig *r = *state;
    rig_expect(r, CUT_KERNEL("for (; par->turns > 0; par->turns--) wait = 0;"), AT_JOB_RAN, "");
    assert_true(r->outcome.is_cut);
}

/* Its part, half of the turns, is enough: the whole would take more than a fifth of a second on the
 * fastest of cores (0.06 are allowed), and is not run. */
static void judged_by_a_part(void **state) {
    rig *r = *state;
    r->job.best_ns = SECOND / 50;
    rig_expect(r,
               CUT_KERNEL("for (k = 0; par->turns > 0; k++, par->turns--) {\n"
                          "    if (k > 600) *(volatile int *)0 = 1;\n"
                          "    for (wait = 0; wait < 1000000; wait++) {}\n }"),
               AT_JOB_RAN, "");
    assert_true(r->outcome.at_least && r->outcome.is_cut);
    assert_true(r->outcome.costs_s[0] > 0.06);
}

/* What is no slower than the best goes through its part and is run as a whole, and checked. */
static void as_good_as_the_best(void **state) {
    rig *r = *state;
    r->job.best_ns = 3600LL * SECOND;
    rig_expect(r, CUT_KERNEL("if (calls > 2 && par->turns > 1000) " ADD_ALL), AT_JOB_RAN, "");
    assert_false(r->outcome.at_least || r->outcome.is_cut);
    rig_expect(r, CUT_KERNEL("if (calls <= 2) " ADD_ALL), AT_JOB_WRONG, NULL);
}

static void only_where_it_may(void **state) {
    rig *r = *state;
    static const char whole[] = CUT_KERNEL("if (par->turns > 1000) " ADD_ALL);
    const at_job job = r->job;
    r->job.best_ns = 0; /* nothing is known to be better */
    rig_expect(r, whole, AT_JOB_RAN, "");
    r->job = job;
    r->job.turns = 0;
    rig_expect(r, whole, AT_JOB_RAN, "");
    r->job = job;
    r->job.to_the_end = true;
    r->job.best_ns = 3600LL * SECOND;
    rig_expect(r, whole, AT_JOB_RAN, "");
}

/* A clock that says whether a run was disturbed, and a kernel that goes on until it is stopped, as
 * often as is said. */
static int64_t wall_ns, own_ns, away_ns;
static int runs, long_runs;
static int64_t wall(void) { return wall_ns; }
static int64_t own(void) { return own_ns; }
static int slow_at_first(void *const buf[], void *workspace, at_par *par) {
    (void)buf, (void)workspace;
    wall_ns += SECOND;
    own_ns += SECOND - away_ns;
    for (runs++; runs <= long_runs && par->turns > 0;) {
    }
    return 0;
}

/* Only what is too slow in two runs, or in one that nothing disturbed, is given up. */
static void once_more_if_disturbed(void **state) {
    (void)state;
    static const struct {
        int64_t away_ns;
        int long_runs, runs;
        bool stopped;
        int64_t left_ns;
    } cases[] = {
        {0, 0, 1, false, 0},
        {0, 1, 1, true, 0},
        {SECOND / 2, 0, 1, false, 0},
        {SECOND / 2, 1, 2, false, 0},
        {SECOND / 2, 9, 2, true, 0},
        {SECOND / 2, 1, 2, false, 2LL * SECOND},
        {SECOND / 2, 1, 1, true, 2LL * SECOND - 1}, /* another one would end too late */
    };
    const at_clock clock = {.now_ns = wall, .thread_ns = own};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_run r = {.clock = &clock, .entry = slow_at_first, .par = {.threads = 1, .turns = 7}};
        at_run_time t;
        bool stopped;
        runs = 0, long_runs = cases[i].long_runs, away_ns = cases[i].away_ns;
        if (cases[i].left_ns) r.late_ns = wall_ns + cases[i].left_ns;
        assert_int_equal(at_run_limited(&r, 1000000, 0, &t, &stopped), 0);
        assert_int_equal(runs, cases[i].runs);
        assert_int_equal(stopped, cases[i].stopped);
        assert_int_equal(r.par.turns, 7);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(stopped_while_it_runs, setup),
        cmocka_unit_test_setup(stopped_although_it_counts, setup),
        cmocka_unit_test_setup(judged_by_a_part, setup),
        cmocka_unit_test_setup(as_good_as_the_best, setup),
        cmocka_unit_test_setup(only_where_it_may, setup),
        cmocka_unit_test(once_more_if_disturbed),
    };
    return cmocka_run_group_tests_name("runtime/stop", tests, rig_setup, rig_teardown);
}
