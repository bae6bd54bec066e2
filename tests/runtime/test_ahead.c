/* Code that is compiled before its jobs come: each job runs its own, as if it had compiled it. */
#include "rig.h"
#include "runtime/inside.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Right in the first run after it was loaded and in the others; its data say which that is. */
#define COUNTS                                                                                     \
    "static int runs = 3, more[5000];"                                                             \
    "if (runs < 3 || (runs == 3 && more[4999])) return 1; runs++; more[4999] = runs;"

/* One of many: out = a + b by a detour that only it knows. */
static char *source_of(int i, const char *also) {
    char *text = malloc(2000);
    assert_non_null(text);
    snprintf(text, 2000,
             KERNEL(COUNTS "%s for (i = 0; i < n; i++) out[i] = a[i] + %d + b[i] - %d;"), also, i,
             i);
    return text;
}

static at_job ask(rig *r, const char *source) {
    at_job job = r->job;
    job.source = source;
    at_worker_ahead(r->worker, &job, NULL);
    return job;
}

static void expect(rig *r, const at_job *job, at_job_end end, bool is_ahead) {
    at_error err = {0};
    if (at_worker_run(r->worker, job, NULL, &r->outcome, &err) != AT_OK) fail_msg("%s", err.text);
    if (r->outcome.end != end) fail_msg("%d: %s", r->outcome.end, r->outcome.error);
    assert_int_equal(r->outcome.ahead_ns > 0, is_ahead);
    assert_true(r->outcome.compile_ns >= r->outcome.ahead_ns);
}

/* Code and data of its own, however often it is taken, and in whatever order. */
static void own_code(void **state) {
    rig *r = *state;
    char *sources[AT_AHEAD];
    at_job jobs[AT_AHEAD];
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    for (int i = 0; i < AT_AHEAD; i++) {
        sources[i] = source_of(i, i == 7 ? "if (n) out[0] = 1; if (n) return 0;" : "");
        jobs[i] = ask(r, sources[i]);
        assert_true(jobs[i].ahead > 0);
    }
    for (int k = 0; k < 2 * AT_AHEAD; k++) {
        int i = (k * 7 + 3) % AT_AHEAD;
        if (i != 7) expect(r, &jobs[i], AT_JOB_RAN, true);
    }
    expect(r, &jobs[7], AT_JOB_WRONG, true);
    for (int i = 0; i < AT_AHEAD; i++) free(sources[i]);
}

/* More than are kept, and what is too long to be waited for. */
static void too_many(void **state) {
    rig *r = *state;
    enum { MANY = AT_AHEAD + 5, LONG = 100000 };
    char *sources[MANY], *text = malloc(LONG + 1000);
    at_job jobs[MANY];
    assert_non_null(text);
    for (int i = 0; i < MANY; i++) jobs[i] = ask(r, sources[i] = source_of(i, ""));
    for (int i = 0; i < MANY; i++) expect(r, &jobs[i], AT_JOB_RAN, i >= MANY - AT_AHEAD);
    memset(text, ' ', LONG);
    strcpy(text + LONG, KERNEL(ADD));
    at_job job = ask(r, text);
    assert_int_equal(job.ahead, 0);
    expect(r, &job, AT_JOB_RAN, false);
    for (int i = 0; i < MANY; i++) free(sources[i]);
    free(text);
}

/* One that fails costs itself: those behind it are compiled by their jobs where need be. */
static void failures(void **state) {
    static const struct {
        const char *also;
        at_job_end end;
        bool is_ahead, others_are;
    } of[] = {{"syntax error;", AT_JOB_NOT_COMPILED, false, true},
              {"out[5] = missing_thing();", AT_JOB_NOT_COMPILED, false, true},
              {"*(volatile int *)0 = 1;", AT_JOB_CRASHED, false, false}, /* it says no more */
              {"if (n) out[3] = 7; if (n) return 0;", AT_JOB_WRONG, true, false}};
    rig *r = *state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
        char *first = source_of(1, ""), *bad = source_of(2, of[k].also), *last = source_of(3, "");
        at_job jobs[] = {ask(r, first), ask(r, bad), ask(r, last)};
        expect(r, &jobs[0], AT_JOB_RAN, true);
        expect(r, &jobs[1], of[k].end, of[k].is_ahead);
        expect(r, &jobs[2], AT_JOB_RAN, of[k].others_are);
        expect(r, &jobs[0], AT_JOB_RAN, of[k].others_are);
        free(first), free(bad), free(last);
    }
}

/* Whoever kills the worker meanwhile costs nobody a job. */
static void killed(void **state) {
    rig *r = *state;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    char *source = source_of(1, "");
    at_job before = ask(r, source);
    kill(rig_child_of(getpid()), SIGKILL);
    at_job after = ask(r, source);
    expect(r, &before, AT_JOB_RAN, false);
    expect(r, &after, AT_JOB_RAN, false);
    at_job again = ask(r, source);
    expect(r, &again, AT_JOB_RAN, true);
    free(source);
}

/* Byte by byte what the job would have compiled, with its tiles before it. */
static void same_bytes(void **state) {
    rig *r = *state;
    static const unsigned char tile[] = {0xc3, 0x90, 0x90};
    const at_blob blob = {"k_tile", tile, sizeof tile};
    char error[256], *other = source_of(9, ""),
                     *source = source_of(4, "void k_tile(void); k_tile();");
    at_job job = r->job;
    at_code code, ahead;
    size_t size;
    int64_t ns = 0;
    job.source = source;
    job.blobs = &blob;
    job.num_blobs = 1;
    job.ahead = 5;
    assert_int_equal(at_tcc_load(&job, AT_ARENA_JOB, &code, error, sizeof error), AT_JOB_RAN);
    const char *lies_at = at_tcc_text(&size);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, lies_at, size);
    at_ahead_execute(&job);
    job.source = other;
    job.ahead = 6;
    at_ahead_execute(&job);
    assert_int_not_equal(memcmp(lies_at, bytes, size), 0);
    job.source = source;
    job.ahead = 5;
    assert_true(at_ahead_load(&job, &ahead, &ns));
    assert_true(ns > 0 && ahead.entry == code.entry && ahead.pack == code.pack);
    assert_memory_equal(lies_at, bytes, size);
    at_ahead_forget();
    assert_false(at_ahead_load(&job, &ahead, &ns));
    free(bytes), free(source), free(other);
}

#define TEST(f) cmocka_unit_test_setup(f, rig_reset)

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {TEST(own_code), TEST(too_many), TEST(failures), TEST(killed),
                                       TEST(same_bytes)};
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
