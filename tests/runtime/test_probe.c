/* Which state probes tell, what pairs are labelled with, and how many pairs a wanted state gets.
 * What a core reaches is up to the machine: nothing here depends on it. */
#include "rig.h"

#include <math.h>

static void both_must_be_reached(void **state) {
    (void)state;
    const at_reach reach = {.near = 8, .multiply_adds = 10};
    const struct {
        double near, multiply_adds;
        at_state state;
    } cases[] = {{8, 10, AT_STATE_ALONE},     {7.9, 9.8, AT_STATE_ALONE},
                 {8.2, 10.3, AT_STATE_ALONE}, {6, 10, AT_STATE_COMPANY},
                 {8, 8, AT_STATE_COMPANY},    {4, 5, AT_STATE_COMPANY},
                 {NAN, 10, AT_STATE_COMPANY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_probe p = {.near = cases[i].near, .multiply_adds = cases[i].multiply_adds};
        assert_int_equal(at_probe_state(&p, &reach), cases[i].state);
        assert_int_equal(at_probe_state(&p, &(at_reach){0}), AT_STATE_UNKNOWN);
        assert_int_equal(at_probe_state(&p, &(at_reach){.near = 8}), AT_STATE_UNKNOWN);
    }
    for (int x = 0; x < AT_STATE_COUNT; x++)
        for (int y = 0; y < AT_STATE_COUNT; y++)
            assert_int_equal(at_state_between((at_state)x, (at_state)y),
                             x == y ? x : AT_STATE_MIXED);
}

static void probes_are_numbers(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        at_probe p = at_probe_core(i % 2);
        assert_true(p.near > 0 && isfinite(p.near));
        assert_true(p.multiply_adds > 0 && isfinite(p.multiply_adds));
        assert_true(i % 2 ? p.far > 0 && isfinite(p.far) : p.far == 0);
    }
}

/* Ports that the table of cores does not know of: every core makes two loads and two multiply-adds
 * in the time of one that waits; and none makes a thousand. */
static void more_than_is_known(void **state) {
    (void)state;
    at_reach seen = at_reach_seen(&(at_reach){.near = 1, .multiply_adds = 1000});
    assert_true(seen.near > 1.15 && seen.near < 1000);
    assert_true(seen.multiply_adds == 1000);
    seen = at_reach_seen(&(at_reach){.near = 1000, .multiply_adds = 1});
    assert_true(seen.near == 1000);
    assert_true(seen.multiply_adds > 1.15 && seen.multiply_adds < 1000);
}

static at_job anchor_job;

static int setup(void **state) {
    at_error err;
    at_outcome out;
    rig *r = *state;
    rig_reset(state);
    anchor_job = r->job;
    anchor_job.source = KERNEL(ADD);
    if (at_worker_anchor(r->worker, &anchor_job, NULL, &out, &err) != AT_OK)
        fail_msg("%s", err.text);
    r->job.pairs = 5;
    r->job.to_the_end = true;
    r->job.pair_seed = 1;
    return 0;
}

/* What no core reaches, and what every core does. */
static const at_reach never = {1e9, 1e9}, always = {1e-9, 1e-9};

static void expect(rig *r, const at_reach *reach, at_state wanted, int pairs, at_state label) {
    r->job.reach = *reach;
    r->job.wanted = wanted;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_pairs, pairs);
    for (int i = 0; i < pairs; i++) assert_int_equal(r->outcome.pairs[i].state, label);
}

static void pairs_are_labelled(void **state) {
    rig *r = *state;
    expect(r, &(at_reach){0}, AT_STATE_UNKNOWN, 5, AT_STATE_UNKNOWN);
    expect(r, &never, AT_STATE_UNKNOWN, 5, AT_STATE_COMPANY);
    expect(r, &always, AT_STATE_UNKNOWN, 5, AT_STATE_ALONE);
    expect(r, &always, AT_STATE_ALONE, 5, AT_STATE_ALONE);
    expect(r, &never, AT_STATE_COMPANY, 5, AT_STATE_COMPANY);
}

/* A state that does not come is waited for, not for ever. */
static void wanted_in_vain(void **state) {
    rig *r = *state;
    expect(r, &never, AT_STATE_ALONE, 15, AT_STATE_COMPANY);
    expect(r, &(at_reach){0}, AT_STATE_COMPANY, 15, AT_STATE_UNKNOWN);
    r->job.pairs = AT_MAX_PAIRS;
    expect(r, &always, AT_STATE_COMPANY, AT_MAX_PAIRS, AT_STATE_ALONE);
}

static void a_core_is_watched(void **state) {
    (void)state;
    int cpus[64], n = at_cpu_cores(cpus, 64), again[64];
    at_core_seen seen;
    if (n > 64) n = 64;
    assert_true(at_core_watch(cpus[0], 2000000, &always, &seen));
    assert_true(seen.probes > 0 && seen.here > 0);
    assert_true(seen.share[AT_STATE_ALONE] == 1);
    assert_true(at_core_watch(cpus[0], 2000000, &never, &seen));
    assert_true(seen.share[AT_STATE_COMPANY] == 1);
    /* The thread may be where it was. */
    assert_int_equal(at_cpu_cores(again, 64), n);
    int quieter = at_quieter_core(cpus, n < 4 ? n : 4, 1000000, &always);
    bool found = false;
    for (int i = 0; i < n; i++) found |= cpus[i] == quieter;
    assert_true(found);
    /* The preferred one is the first, the others stay in their order. */
    at_cpu_prefer(cpus[n - 1]);
    assert_int_equal(at_cpu_cores(again, 64), n);
    assert_int_equal(again[0], cpus[n - 1]);
    for (int i = 1; i < n; i++) assert_int_equal(again[i], cpus[i - 1]);
    assert_int_equal(at_cpu_cores(again, 1), n);
    assert_int_equal(again[0], cpus[n - 1]);
    at_cpu_prefer(-1);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_must_be_reached),
        cmocka_unit_test(probes_are_numbers),
        cmocka_unit_test(more_than_is_known),
        cmocka_unit_test_setup(pairs_are_labelled, setup),
        cmocka_unit_test_setup(wanted_in_vain, setup),
        cmocka_unit_test(a_core_is_watched),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
