/* The configuration that estimates put first: none of those that they were asked about, and not the
 * default, is estimated to take much less, and it can be built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/engine.h"
#include "tests/any_task.h"
#include "tests/arena.h"

static void pick_of(const char *name, const char *args) {
    const at_engine_options o = {0};
    at_error err;
    at_task *task = any_task(arena, name, args);
    at_config config, again, standard;
    at_program *program;
    at_estimate e;
    double time_s, time_again_s;
    if (at_config_pick(arena, &o, task, &config, &time_s, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(isfinite(time_s) && time_s > 0);
    assert_int_equal(at_task_program(arena, task, &config, &program, &err), AT_OK);
    assert_int_equal(at_config_pick(arena, &o, task, &again, &time_again_s, &err), AT_OK);
    assert_int_equal(again.index, config.index);
    at_cost_model *m = at_cost_model_new(task, &o);
    assert_true(at_cost_config(m, &config, &e));
    assert_true(fabs(e.ns * 1e-9 / time_s - 1) < 1e-6);
    assert_int_equal(
        at_task_default_config(arena, task, at_engine_target(&o)->default_lanes, &standard, &err),
        AT_OK);
    assert_true(at_cost_config(m, &standard, &e));
    assert_true(time_s <= e.ns * 1.001e-9);
    at_cost_model_free(m);
}

static void picks(void **state) {
    (void)state;
    pick_of("dense", "M=64,N=96,K=48");
    pick_of("conv2d_nhwc", "N=1,H=14,W=14,CI=64,CO=96,KH=3,KW=3");
    pick_of("examples/te/matmul_add.te", "N=36,L=40,M=64");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
