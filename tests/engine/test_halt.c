/* --time and Ctrl-C: whatever a thread is at ends once it is told to, and what was found stays. A
 * time that is long over stands for one that ends at that moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/folder.h"

#include <math.h>
#include <string.h>

static const volatile int set = 1, unset = 0;
static const at_halt stopped = {.stop = &set}, late = {.end_ns = 1}, none = {0};

static void is_told(const at_error *err, at_status status, const at_halt *by) {
    assert_int_equal(status, by == &late ? AT_E_NO_VALID : AT_E_INTERRUPTED);
    assert_non_null(strstr(err->text, by == &late ? "the time ended first" : "interrupted"));
    assert_true(at_is_end(status));
}

static void who_asks(void **state) {
    (void)state;
    at_error err;
    assert_true(!at_halts() && !at_is_stopped(&unset) && at_is_stopped(&set));
    assert_true(!at_is_end(AT_OK) && !at_is_end(AT_E_NO_VALID) && at_is_end(AT_E_INTERRUPTED));
    at_halt_when(&(at_halt){.end_ns = at_now_ns() + (int64_t)3600e9});
    assert_true(!at_halts() && !at_is_stopped(&unset));
    at_halt_when(&late);
    assert_true(at_halts() && at_is_stopped(&unset) && !at_is_stopped(NULL) &&
                at_is_end(AT_E_NO_VALID));
    assert_false(at_is_end(AT_E_USAGE));
    is_told(&err, at_fail_stopped(&err), &late);
    at_halt_when(&stopped);
    assert_true(at_halts() && !at_is_stopped(&unset));
    is_told(&err, at_fail_stopped(&err), &stopped);
    at_halt_when(&none);
}

/* Lowering and estimates; a candidate that was not made is none that fails. */
static void candidates(void **state) {
    (void)state;
    at_session s;
    at_error err;
    at_engine_options o = {.isa = "scalar", .stop = &unset};
    at_request q = {.template_name = "conv2d_nhwc",
                    .args = "N=1,H=8,W=8,CI=4,CO=8,KH=3,KW=3,strides=1,padding=1,dilation=1"};
    assert_int_equal(at_session_open(&o, &q, false, &s, &err), AT_OK);
    assert_int_equal(at_session_context(&s, false, &err), AT_OK);
    at_cost_model *costs = at_cost_model_late(s.what.task, &o);
    const int64_t index[] = {0, 1};
    double before_ns[2], ns[2], after_ns[2];
    at_cost_points(costs, index, 2, before_ns);
    const at_halt *const ways[] = {&stopped, &late};
    for (int i = 0; i < 2; i++) {
        at_candidate c;
        at_lower_options lo = at_session_lower_options(&s, "kernel");
        at_halt_when(ways[i]);
        is_told(&err, at_candidate_lower(&s, s.arena, &s.what.chosen.config, &lo, &c, &err),
                ways[i]);
        at_cost_points(costs, index, 2, ns);
        at_halt_when(&none);
        assert_true(isinf(ns[0]) && isinf(ns[1]));
        assert_int_equal(at_candidate_lower(&s, s.arena, &s.what.chosen.config, &lo, &c, &err),
                         AT_OK);
    }
    at_cost_points(costs, index, 2, after_ns);
    assert_true(isfinite(after_ns[0]) && after_ns[0] == before_ns[0]);
    assert_true(isfinite(after_ns[1]) && after_ns[1] == before_ns[1]);
    at_cost_model_free(costs);
    at_session_close(&s);
}

/* The reference of a session, and the jobs of its worker. */
static void references(void **state) {
    (void)state;
    at_session s;
    at_error err;
    at_engine_options o = {.isa = "scalar", .stop = &unset};
    at_request q = {.template_name = "matmul_add", .args = "N=8,L=8,M=16"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(at_session_open(&o, &q, false, &s, &err), AT_OK);
        assert_int_equal(at_session_context(&s, true, &err), AT_OK);
        assert_int_equal(at_session_reserve(&s, &err), AT_OK);
        if (i) at_halt_when(&late);
        const at_status status = at_session_start(&s, &err);
        if (i) is_told(&err, status, &late);
        else assert_int_equal(status, AT_OK);
        at_halt_when(&none);
        at_session_close(&s);
    }
}

/* Which data serve every operation, before anything is filled. */
static void rules(void **state) {
    (void)state;
    const at_halt *const ways[] = {&none, &stopped, &late};
    for (int i = 0; i < 3; i++) {
        at_session s;
        at_error err;
        at_engine_options o = {.isa = "scalar", .stop = &unset};
        at_request q = {.template_name = "matmul_add", .args = "N=8,L=8,M=16"};
        assert_int_equal(at_session_open(&o, &q, false, &s, &err), AT_OK);
        assert_int_equal(at_session_context(&s, true, &err), AT_OK);
        at_halt_when(ways[i]);
        const at_status status = at_session_reserve(&s, &err);
        if (i) is_told(&err, status, ways[i]);
        else assert_int_equal(status, AT_OK);
        at_halt_when(&none);
        at_session_close(&s);
    }
}

/* ---- searches -------------------------------------------------------------------------------- */

enum { LAST = 4 };

typedef struct listener {
    bool in_final; /* the end comes as the final begins */
    int trials, warnings;
} listener;

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    listener *l = ctx;
    (void)t, (void)r, (void)answered;
    if (++l->trials == LAST && !l->in_final) at_halt_when(&late);
}

static void end(void *ctx, at_tuning *t) {
    listener *l = ctx;
    (void)t;
    if (l->in_final) at_halt_when(&late);
}

static void warn(void *ctx, const char *text) {
    listener *l = ctx;
    l->warnings++;
    print_error("warned: %s\n", text);
}

/* The time is over in the trials or in the final: nothing has failed, the best is told. */
static void searches(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        at_tuning t;
        at_best best;
        at_error err;
        listener l = {.in_final = i == 1};
        at_arena *a = at_arena_new();
        const at_engine_options o = {.isa = "scalar",
                                     .tuner = "grid",
                                     .sandbox = AT_SANDBOX_OFF,
                                     .trials = i ? LAST : 3 * LAST,
                                     .warn = warn,
                                     .stop = &unset,
                                     .ctx = &l};
        const at_request q = {.template_name = "matmul_add", .args = "N=8,L=8,M=16"};
        const at_tune_events events = {.trial = trial, .end = end, .ctx = &l};
        const char *log = at_format(a, "%s/%d.log", folder, i);
        assert_int_equal(at_tuning_open(&o, &q, log, &t, &err), AT_OK);
        assert_int_equal(at_tuning_run(&t, &events, &err), AT_OK);
        at_halt_when(&none);
        assert_true(at_tuning_best(&t, &best));
        assert_int_equal(l.trials, LAST);
        assert_int_equal(at_tally_failed(&t.tally), 0);
        for (int k = 0; k < t.final.count; k++)
            assert_int_equal(t.final.of[k].turns.error_no, AT_ERR_NONE);
        assert_int_equal(l.warnings, 0);
        assert_int_equal(at_tuning_close(&t, &err), AT_OK);
        at_arena_free(a);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks), cmocka_unit_test(candidates), cmocka_unit_test(references),
        cmocka_unit_test(rules),    cmocka_unit_test(searches),
    };
    return cmocka_run_group_tests_name("engine/halt", tests, make_folder, remove_folder);
}
