/* What estimates say of the lines that a level of the caches is given, against the lowered programs
 * of the same points run through caches that forget the least recently used. Where what a loop
 * touches just fits or just does not, a line more or less decides on many: an estimate is right
 * that lies within 10 % of what caches a quarter smaller and larger than the one asked for are
 * given. Cache and strides are such that no lines pile up in a few places: the cache run has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/any_task.h"
#include "tests/setting.h"
#include "tests/engine/lru.h"

#include <math.h>
#include <stdlib.h>

enum { CACHE = 8192, MOST_TOUCHES = 3000000 };
static const double around = 1.25, within = 0.1;

static const struct {
    const char *name, *args;
    double share; /* of the points, at least */
} tasks[] = {
    {"dense", "M=30,N=120,K=72", 0.95},
    {"dense", "M=60,N=90,K=100", 0.95},
    {"dense+bias+relu", "M=48,N=96,K=36", 0.95},
    {"matmul_add", "N=48,L=60,M=72", 0.95},
    {"conv2d_NCHWc", "N=1,IC=32,H=15,W=15,OC=64,KH=1,KW=1,strides=1,padding=0", 0.95},
    {"conv2d_NCHWc", "N=1,IC=16,H=14,W=14,OC=64,KH=3,KW=3,strides=1,padding=1", 0.95},
    {"conv2d_NCHWc", "N=1,IC=16,H=15,W=14,OC=48,KH=5,KW=5,strides=2,padding=2", 0.95},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=64,CO=96,KH=1,KW=1,padding=0", 0.95},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=16,CO=48,KH=3,KW=3", 0.9},
    {"conv2d_nhwc", "N=2,H=10,W=12,CI=16,CO=24,KH=3,KW=3,strides=2", 0.95},
    {"conv2d_3x3_gemm", "N=1,H=14,W=14,CI=32,CO=64", 0.95},
    {"conv2d_3x3_gemm", "N=1,H=7,W=9,CI=24,CO=48", 0.95},
    {"conv2d_winograd_nhwc", "N=1,H=12,W=12,CI=12,CO=24", 0.95},
    {"batch_matmul", "B=4,M=24,N=48,K=40,tb=0", 0.95},
    {"conv1d_nwc", "N=1,W=40,CI=24,CO=48", 0.95},
    {"conv3d_ndhwc", "N=1,D=6,H=10,W=10,CI=24,CO=48", 0.95},
    {"group_conv2d_nhwc", "N=1,H=12,W=12,CI=64,CO=64,KH=1,KW=1,padding=0,G=2,strides=1", 0.95},
    {"depthwise_conv2d_nhwc", "N=1,H=14,W=14,C=40,KH=3,KW=3,padding=1", 0.95},
    {"depthwise_conv2d_NCHWc", "N=1,IC=24,H=15,W=15,KH=3,KW=3,padding=1", 0.95},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=16,CO=48,KH=3,KW=3,padding=2,dilation=2", 0.9},
    {"max_pool2d_nhwc", "N=1,H=16,W=18,C=48", 0.95},
    {"avg_pool2d_nhwc", "N=1,H=15,W=15,C=40", 0.95},
    {"conv2d_transpose_nhwc", "N=1,H=8,W=9,CI=24,CO=40", 0.95},
    {"conv2d_capsule_nhwijc", "N=1,H=8,W=8,CI=8,CO=16,CS=2", 0.95},
    {"layer_norm", "M=24,N=200", 0.95},
    {"softmax", "Y=30,X=200", 0.95},
    {"norm", "B=4,M=20,N=60", 0.95},
    {"examples/te/matmul_add.te", "N=36,L=40,M=72", 0.95},
    {"examples/te/conv1d.te", "L=90,CI=36,CO=72", 0.95},
};

/* What was estimated over the nearest of all that the run finds right. */
static double ratio_of(const lru_counts *c, double estimated) {
    double less = c->touched * 64 <= CACHE * around ? 0 : c->lines[2];
    double more = c->touched * 64 <= CACHE / around ? 0 : c->lines[0];
    double right = fmin(fmax(estimated, less), more);
    return right > 0 ? estimated / right : estimated > 0 ? INFINITY : 1;
}

static void one_task(int k, const char *isa, int points) {
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    at_task *t = any_task(a, tasks[k].name, tasks[k].args);
    const at_target *target = at_target_find(isa);
    const int64_t bytes[LRU_LEVELS] = {(int64_t)(CACHE / around), CACHE, (int64_t)(CACHE * around)};
    at_speeds speeds;
    at_speeds_guess(at_core_find("sapphirerapids"), target, &speeds);
    at_cost_model *m = at_cost_model_of(
        t, &(at_estimate_options){
               .target = target, .speeds = &speeds, .cache_bytes = {CACHE, 0, 0}, .threads = 1});
    const at_lower_options lo = {.dialect = AT_DIALECT_TCC, .target = target, .name = "kernel"};
    uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
    at_rng rng;
    int compared = 0, good = 0;
    double logs = 0;
    at_rng_seed(&rng, 9, (uint64_t)k);
    for (int tries = 0; compared < points && tries < 20 * points; tries++) {
        int64_t index = (int64_t)at_rng_below(&rng, range);
        at_config config;
        at_program *p;
        const at_lowered *lowered;
        at_estimate e;
        at_arena_reset(scratch);
        if (at_config_at(scratch, at_task_space(t), index, &config, NULL) != AT_OK ||
            at_task_program(scratch, t, &config, &p, NULL) != AT_OK ||
            at_lower_tiles(scratch, p, &lo, &lowered, NULL) != AT_OK ||
            !at_cost_point(m, index, &e))
            continue;
        lru_counts c = lru_run(scratch, lowered, bytes, MOST_TOUCHES);
        if (!c.complete) continue;
        double ratio = ratio_of(&c, e.bytes[0] / 64);
        compared++;
        good += fabs(ratio - 1) <= within;
        logs += fabs(log(fmin(fmax(ratio, 0.1), 10)));
    }
    double share = good / fmax(1, compared);
    print_message("%s %s, %s: %.3f of %d points, off by %.1f %% in the mean\n", tasks[k].name,
                  tasks[k].args, isa, share, compared, 100 * (exp(logs / fmax(1, compared)) - 1));
    if (compared < points / 2) fail_msg("only %d points could be run", compared);
    if (share < tasks[k].share)
        fail_msg("%s %s: only %.3f of the points are right", tasks[k].name, tasks[k].args, share);
    at_cost_model_free(m);
    at_arena_free(scratch);
    at_arena_free(a);
}

/* AT_POINTS=10000: of each task, instead of a few. AT_TASK: only this one. */
static void traffic(void **state) {
    (void)state;
    const int only = (int)setting("AT_TASK", -1);
    for (int k = 0; k < (int)(sizeof tasks / sizeof *tasks); k++)
        if (only < 0 || only == k)
            one_task(k, k % 2 ? "avx2" : "avx512", (int)setting("AT_POINTS", 40));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic),
    };
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* whatever the user has in his own */
    return cmocka_run_group_tests_name("engine/traffic", tests, NULL, NULL);
}
