/* A kernel beside the anchor of its worker: pairs come, and end, as the job says; neither spoils
 * what the other computes; and the anchor is there again whatever happened to the process. */
#include "rig.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sum, so many times over. */
static const char *times_over(int n) {
    static char source[2][1000];
    static int which;
    which = !which;
    snprintf(source[which], sizeof source[which],
             KERNEL("volatile int again; for (again = 0; again < %d; again++) " ADD), n);
    return source[which];
}

/* Right at its first `last` calls. */
static const char *right_until(int last) {
    static char source[1000];
    snprintf(source, sizeof source,
             "static int calls;\n" KERNEL(ADD "if (++calls > %d) out[7] = 0.5f;"), last);
    return source;
}

static at_job anchor_job;
static at_outcome of_anchor;

static at_job_end set_anchor(rig *r, const char *source) {
    at_error err;
    anchor_job = r->job;
    anchor_job.source = source;
    if (at_worker_anchor(r->worker, &anchor_job, NULL, &of_anchor, &err) != AT_OK)
        fail_msg("%s", err.text);
    return of_anchor.end;
}

static int setup(void **state) {
    rig *r = *state;
    rig_reset(state);
    r->job.pairs = 5;
    r->job.to_the_end = true;
    r->job.pair_seed = 1;
    return 0;
}

static void as_many_as_asked(void **state) {
    rig *r = *state;
    assert_int_equal(set_anchor(r, KERNEL(ADD)), AT_JOB_RAN);
    const int asked[] = {1, 5, 200, AT_MAX_PAIRS};
    for (int i = 0; i < 4; i++) {
        r->job.pairs = asked[i];
        rig_expect(r, times_over(2), AT_JOB_RAN, "");
        assert_int_equal(r->outcome.num_pairs, asked[i]);
        assert_int_equal(r->outcome.num_costs,
                         asked[i] < AT_MAX_SAMPLES ? asked[i] : AT_MAX_SAMPLES);
        assert_false(r->outcome.at_least || r->outcome.is_bracketed);
        /* a thousand additions are so short that a block of runs is timed */
        assert_true(r->outcome.number > 1);
        for (int k = 0; k < asked[i]; k++)
            assert_true(r->outcome.pairs[k].time_s > 0 && r->outcome.pairs[k].anchor_s > 0);
    }
    /* The median of many pairs tells twice the work, whatever else the machine does. */
    double ratios[AT_MAX_PAIRS];
    for (int k = 0; k < AT_MAX_PAIRS; k++)
        ratios[k] = r->outcome.pairs[k].time_s / r->outcome.pairs[k].anchor_s;
    at_sort_doubles(ratios, AT_MAX_PAIRS);
    assert_true(at_sorted_median(ratios, AT_MAX_PAIRS) > 1.2);
}

/* Much slower ones: a bound, unless pairs are asked for to the end. */
static void far_behind(void **state) {
    rig *r = *state;
    set_anchor(r, KERNEL(ADD));
    r->job.to_the_end = false;
    rig_expect(r, times_over(2000), AT_JOB_RAN, "");
    assert_true(r->outcome.at_least);
    assert_int_equal(r->outcome.num_pairs, 0);
    assert_int_equal(r->outcome.num_costs, 1);
    r->job.to_the_end = true;
    rig_expect(r, times_over(2000), AT_JOB_RAN, "");
    assert_false(r->outcome.at_least);
    assert_true(r->outcome.is_bracketed);
    assert_int_equal(r->outcome.num_pairs, 5);
}

/* Not even the most disturbed anchor makes these equal. */
static void the_other_way_round(void **state) {
    rig *r = *state;
    set_anchor(r, times_over(2000));
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 5);
    const at_pair *p = r->outcome.pairs;
    double time_s = p->time_s, anchor_s = p->anchor_s; /* the least */
    for (int i = 1; i < 5; i++) {
        if (p[i].time_s < time_s) time_s = p[i].time_s;
        if (p[i].anchor_s < anchor_s) anchor_s = p[i].anchor_s;
    }
    assert_true(time_s < anchor_s);
}

/* What is wrong only in the middle of the pairs is found behind them, and costs the process; the
 * anchor is in the next one. */
static void wrong_later(void **state) {
    rig *r = *state;
    set_anchor(r, KERNEL(ADD));
    for (int i = 0; i < 3; i++) {
        rig_expect(r, right_until(3), AT_JOB_WRONG, "out[7]");
        rig_expect(r, KERNEL("*(volatile int *)0 = 1;" ADD), AT_JOB_CRASHED, "SIGSEGV");
        rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
        assert_int_equal(r->outcome.num_pairs, 5);
    }
    pid_t pid = rig_child_of(getpid());
    assert_true(pid > 0);
    kill(pid, SIGKILL);
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 5);
}

/* Its outputs lie where the job's do: what the job leaves out shows. */
static void lazy_ones_are_found(void **state) {
    rig *r = *state;
    set_anchor(r, KERNEL(ADD));
    rig_expect(r, "static int calls;\n" KERNEL("if (++calls > 1) return 0;" ADD), AT_JOB_WRONG,
               NULL);
}

/* What is the anchor's own code is not loaded beside it: its object has all the runs of a pair, not
 * half of them. */
static void itself_is_one_object(void **state) {
    rig *r = *state;
    static const char source[] =
        "static int calls;\n" KERNEL("volatile int again; if (++calls > 60) return 7;"
                                     "for (again = 0; again < 100; again++) " ADD);
    static char other[sizeof source + 8];
    snprintf(other, sizeof other, "/**/\n%s", source);
    r->job.pairs = 40; /* and up to 15 disturbed ones, and at most 5 runs around them */
    set_anchor(r, KERNEL("volatile int again; for (again = 0; again < 100; again++) " ADD));
    rig_expect(r, source, AT_JOB_RAN, "");
    set_anchor(r, source);
    rig_expect(r, other, AT_JOB_RAN, ""); /* each has 60 of them at most */
    set_anchor(r, source);
    rig_expect(r, source, AT_JOB_CRASHED, "returned 7");
}

static void a_wrong_anchor_is_none(void **state) {
    rig *r = *state;
    assert_int_equal(set_anchor(r, KERNEL(ADD "out[3] += 1;")), AT_JOB_WRONG);
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 0);
    assert_true(r->outcome.num_costs >= 2); /* timed as without one */
    assert_int_equal(set_anchor(r, KERNEL("*(volatile int *)0 = 1;" ADD)), AT_JOB_CRASHED);
    assert_int_equal(set_anchor(r, KERNEL(ADD)), AT_JOB_RAN);
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 5);
}

/* Inputs of its own, and a workspace that keeps what it holds between runs: nobody else's. */
static void its_own_memory(void **state) {
    rig *r = *state;
    const char *counting =
        KERNEL("float *w = workspace; w[0] = w[0] > 0 ? w[0] + 1 : 1; w[1] = -w[0]; " ADD);
    r->job.data_version = 0;
    set_anchor(r, counting);
    rig_expect(r, counting, AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 5);
    r->job.data_version = 7;
    set_anchor(r, counting);
    rig_expect(r, counting, AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, 5);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, setup)
    const struct CMUnitTest tests[] = {
        TEST(as_many_as_asked), TEST(far_behind),           TEST(the_other_way_round),
        TEST(wrong_later),      TEST(lazy_ones_are_found),  TEST(a_wrong_anchor_is_none),
        TEST(its_own_memory),   TEST(itself_is_one_object),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
