/* The configuration that estimates put first: none of those that they were asked about, and not the
 * default, is estimated to take much less, and it can be built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/measure/target_here.h"
#include "engine/search/kept_picks.h"
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

/* What was picked once is read from the user's cache folder, where nothing that it depends on is
 * another; what cannot be of the space is worked out anew. */
static void kept(void **state) {
    (void)state;
    char *text, folder[] = "/tmp/autotune-picks-XXXXXX";
    const char *path = at_format(arena, "%s/autotune/picks-1", mkdtemp(folder));
    at_task *task = any_task(arena, "dense", "M=64,N=96,K=48");
    at_engine_options o = {0};
    at_config first, again, standard;
    double first_s, again_s;
    size_t len;
    at_error err;
    char key[33];
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    const int lanes = at_engine_target(&o)->default_lanes;
    assert_int_equal(at_task_default_config(arena, task, lanes, &standard, &err), AT_OK);
    assert_int_equal(at_config_pick(arena, &o, task, &first, &first_s, &err), AT_OK);
    if (!at_pick_key(&o, task, &standard, false, key)) skip(); /* linked without a build id */
    assert_int_equal(at_read_file(arena, path, 4096, &text, &len, &err), AT_OK);
    assert_int_equal(len, strlen(text));
    assert_true(!strncmp(text, key, 32) && strchr(text, '\n') == text + len - 1);

    const struct {
        const char *line; /* behind the key */
        bool counts;
    } lines[] = {{"0 0x1p+3", true},        {"-1 0x1p+3", true}, {"0 0x1p+3 ", false},
                 {"999999999999 1", false}, {"0", false},        {"-2 1", false},
                 {"zero 1", false},         {"0 -1", false}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *line = at_format(arena, "%s %s\n", key, lines[i].line);
        assert_int_equal(at_write_file(path, line, strlen(line), &err), AT_OK);
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(at_config_pick(arena, &o, task, &again, &again_s, &err), AT_OK);
        if (lines[i].counts) assert_true(again_s == 8e-9);
        else assert_true(again_s == first_s && again.index == first.index);
    }
    /* What was worked out anew is found behind the line that it stands for, and behind bytes that
     * are no text, too. */
    const char garbage[] = "\0\n";
    at_kept_pick found;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *line = at_format(arena, "%s %s\n%s 12\n", key, lines[i].line, key);
        const size_t chars = strlen(line);
        char *all = memcpy(at_alloc(arena, chars + sizeof garbage), line, chars);
        memcpy(all + chars, garbage, sizeof garbage - 1);
        assert_int_equal(at_write_file(path, all, chars + sizeof garbage - 1, &err), AT_OK);
        at_pick_keep(key, &(at_kept_pick){.index = 7, .ns = 5});
        assert_true(at_pick_kept(key, &found) && found.index == 7 && found.ns == 5);
    }
    /* A pipe that nobody reads is not waited for. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    at_pick_keep(key, &found);
    assert_false(at_pick_kept(key, &found));
    assert_int_equal(unlink(path), 0);
    /* Cold weights are other estimates. */
    o.cache = AT_CACHE_WEIGHTS_COLD;
    assert_int_equal(at_config_pick(arena, &o, task, &again, &again_s, &err), AT_OK);
    assert_true(again_s >= first_s);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(at_format(arena, "%s/autotune", folder)), 0);
    assert_int_equal(rmdir(folder), 0);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

/* Estimates are of the instruction set that the session's kernels are of: of bytes that a CPU has
 * dot products for, not of its set for floats. */
static void estimates_know_types(void **state) {
    (void)state;
    at_error err;
    at_config config;
    at_estimate e, named;
    at_task *task = any_task(arena, "dense", "M=48,N=96,K=64,types=\"u8s8s32\"");
    const at_compute *c = at_task_compute(task);
    at_engine_options o = {0};
    assert_ptr_equal(at_engine_target_for(&o, c), at_target_of_types(at_target_here(), c));
    at_cost_model *m = at_cost_model_new(task, &o);
    o.isa = at_engine_target_for(&o, c)->name;
    assert_string_equal(at_engine_target_for(&o, c)->name, o.isa);
    at_cost_model *of_named = at_cost_model_new(task, &o);
    assert_int_equal(at_task_default_config(arena, task, 16, &config, &err), AT_OK);
    assert_true(at_cost_config(m, &config, &e) && at_cost_config(of_named, &config, &named));
    assert_true(e.ns > 0 && !(e.ns < named.ns) && !(e.ns > named.ns));
    at_cost_model_free(of_named);
    at_cost_model_free(m);
}

int main(void) {
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* whatever the user has in his own */
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks), cmocka_unit_test(kept),
                                       cmocka_unit_test(estimates_know_types)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
