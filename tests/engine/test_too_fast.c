/* Times that no core reaches: what is measured as such is measured again, beside a new peak; and
 * algorithms that do fewer multiply-adds than the definition are not taken for it. Nor is what was
 * timed against another anchor than the trials'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/measure/bench.h"

#include "engine/measure/machine.h"
#include "engine/measure/measure.h"

#include <string.h>

static void open_session(at_session *s, const at_request *q, bool measuring) {
    at_error err = {0};
    const at_engine_options o = {.isa = "avx2", .seed = 1};
    if (at_session_open(&o, q, false, s, &err) != AT_OK ||
        at_session_context(s, measuring, &err) != AT_OK ||
        (measuring && at_session_reserve(s, &err) != AT_OK) ||
        (measuring && at_session_start(s, &err) != AT_OK))
        fail_msg("%s", err.text);
}

static at_config first_config(at_session *s) {
    at_config c;
    assert_int_equal(
        at_task_default_config(s->arena, s->what.task, s->how.target->default_lanes, &c, NULL),
        AT_OK);
    return c;
}

/* The shortest time that is believed, in times of what the definition needs at the peak. */
static double limit_of(const char *name, const char *args) {
    at_session s;
    at_request q = {.template_name = name, .args = args};
    at_candidate k;
    at_error err;
    open_session(&s, &q, false);
    at_config c = first_config(&s);
    at_lower_options o = at_session_lower_options(&s, "kernel");
    if (at_candidate_lower(&s, s.arena, &c, &o, &k, &err) != AT_OK) fail_msg("%s", err.text);
    s.bench->peak = s.bench->peak_gflops = 100;
    double at_peak_s = s.what.flops / 100e9, low = 0, high = 1;
    assert_false(at_is_beyond_peak(&s, s.arena, k.kernel->lowered, at_peak_s, 2));
    for (int i = 0; i < 20; i++) {
        double half = (low + high) / 2;
        *(at_is_beyond_peak(&s, s.arena, k.kernel->lowered, half * at_peak_s, 2) ? &low : &high) =
            half;
    }
    at_session_close(&s);
    return high;
}

static void operations_are_those_of_the_code(void **state) {
    (void)state;
    assert_float_equal(limit_of("dense", "M=64,N=64,K=64"), 0.5, 1e-3);
    assert_float_equal(limit_of("conv2d_3x3_gemm", "N=1,H=14,W=14,CI=32,CO=32"), 0.5, 1e-3);
    /* F(4x4, 3x3): a quarter of the products, and transforms besides. */
    double winograd = limit_of("conv2d_winograd_nhwc", "N=1,H=16,W=16,CI=64,CO=64,m=4");
    assert_true(winograd > 0.125 && winograd < 0.4);
}

/* A kernel of 64^3 multiply-adds, ready to run. */
static void make_kernel(at_session *s, at_candidate *k, at_record *r) {
    at_request q = {.template_name = "dense", .args = "M=64,N=64,K=64"};
    at_error err = {0};
    bool ready;
    if (!at_cpu_has_set(at_vector_set("avx2"))) {
        print_message("skipped: no avx2\n");
        skip();
    }
    open_session(s, &q, true);
    at_config c = first_config(s);
    assert_true(at_candidate_make(s, s->arena, &c, k, r));
    assert_int_equal(at_candidate_compile(s, s->arena, k, r, &ready, &err), AT_OK);
    assert_true(ready);
}

/* By a peak that was measured in a bad moment everything is too fast: it is measured again. */
static void again_beside_a_new_peak(void **state) {
    (void)state;
    at_session s;
    at_candidate k;
    at_record r;
    at_error err = {0};
    make_kernel(&s, &k, &r);
    s.bench->peak = s.bench->peak_gflops = 1e-3;
    assert_int_equal(at_candidate_run(&s, s.arena, &k, &r, &err), AT_OK);
    assert_int_equal(r.error_no, AT_ERR_NONE);
    assert_true(s.bench->disturbed >= 1 && s.bench->peak_gflops > 1);
    assert_true(r.extra.gflops < 2 * s.bench->peak_gflops);
    at_session_close(&s);
}

/* A little above the peak is unlikely: it is measured once more, and what comes then counts. The
 * second time is another one, at times a much longer: a few attempts. */
static void unlikely_is_measured_again(void **state) {
    (void)state;
    at_session s;
    at_candidate k;
    at_record r;
    at_error err = {0};
    make_kernel(&s, &k, &r);
    bool again = false; /* beside a new peak */
    for (int i = 0; i < 50 && !again; i++) {
        assert_int_equal(at_candidate_run(&s, s.arena, &k, &r, &err), AT_OK);
        double low = s.bench->peak = s.bench->peak_gflops = r.extra.gflops / 1.8;
        assert_int_equal(at_candidate_run(&s, s.arena, &k, &r, &err), AT_OK);
        assert_int_equal(r.error_no, AT_ERR_NONE);
        again = s.bench->peak_gflops > low;
    }
    assert_true(again);
    at_session_close(&s);
}

/* Where no peak makes it possible it is no result: the kernel passes for one of 10^12 operations.
 */
static void never_a_result(void **state) {
    (void)state;
    at_session s, large;
    at_candidate k, large_k;
    at_record r;
    at_error err = {0};
    at_request q = {.template_name = "dense", .args = "M=8192,N=8192,K=8192"};
    make_kernel(&s, &k, &r);
    open_session(&large, &q, false);
    at_config c = first_config(&large);
    at_lower_options o = at_session_lower_options(&large, "kernel");
    assert_int_equal(at_candidate_lower(&large, large.arena, &c, &o, &large_k, &err), AT_OK);
    k.kernel->lowered = large_k.kernel->lowered;
    s.what.flops = s.what.work = large.what.flops;
    assert_int_equal(at_candidate_run(&s, s.arena, &k, &r, &err), AT_OK);
    assert_int_equal(r.error_no, AT_ERR_UNKNOWN);
    assert_non_null(strstr(r.extra.error, "faster than its multiply-adds can be"));
    at_session_close(&large);
    at_session_close(&s);
}

/* From the second trial on the scale is wrong by a factor of a million. */
static void spoil_scale(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    at_anchors *a = &t->s.bench->anchors;
    int *trials = ctx;
    if (r->error_no) fail_msg("%s", r->extra.error);
    assert_false(answered);
    assert_true(r->extra.gflops < 2 * a->peak_gflops);
    assert_true(!*trials || r->extra.same_as >= 0 || !r->extra.pairs.num_ratios);
    assert_true(a->kernel && a->peak_gflops > 0);
    a->of_first = 1e-6;
    ++*trials;
}

/* What is too fast by the first anchor's time and the links alone has the time by its own clock. */
static void scale_is_not_believed(void **state) {
    (void)state;
    static const at_engine_options o = {.tuner = "random", .trials = 4, .isa = "scalar"};
    const at_request q = {.template_name = "dense", .args = "M=32,N=32,K=32"};
    int trials = 0;
    at_error err;
    at_tuning t;
    at_status status = at_tuning_open(&o, &q, "/dev/null", &t, &err);
    if (status == AT_OK)
        status = at_tuning_run(&t, &(at_tune_events){.trial = spoil_scale, .ctx = &trials}, &err);
    if (status != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(trials, 4);
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);
}

/* Of an anchor that nothing in the final has to do with. */
static void make_anchor_fast(void *ctx, at_tuning *t) {
    (void)ctx;
    t->s.bench->anchors.of_first = 1e-6;
    assert_true(t->s.bench->anchors.kernel && t->tally.best > 0);
}

/* A final has an anchor of its own: its ratios are not those to the trials' anchor, and are no
 * times on that one's scale. */
static void final_has_its_own_scale(void **state) {
    (void)state;
    static const at_engine_options o = {.tuner = "random", .trials = 4, .isa = "scalar"};
    const at_request q = {.template_name = "dense", .args = "M=32,N=32,K=32"};
    at_error err;
    at_best best;
    at_tuning t;
    at_status status = at_tuning_open(&o, &q, "/dev/null", &t, &err);
    if (status == AT_OK)
        status = at_tuning_run(&t, &(at_tune_events){.end = make_anchor_fast}, &err);
    if (status != AT_OK) fail_msg("%s", err.text);
    assert_true(t.final.count > 0);
    for (int i = 0; i < t.final.count; i++)
        if (t.final.of[i].turns.error_no) fail_msg("%s", t.final.of[i].turns.error);
    assert_true(at_tuning_best(&t, &best) && best.final);
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_those_of_the_code),
        cmocka_unit_test(again_beside_a_new_peak),
        cmocka_unit_test(unlikely_is_measured_again),
        cmocka_unit_test(never_a_result),
        cmocka_unit_test(scale_is_not_believed),
        cmocka_unit_test(final_has_its_own_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
