/* However a parent ends, its worker ends too. */
#include "rig.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG KERNEL("for (;;) {}")

/* A process of its own that has a worker, which idles or hangs in a job; *worker: its process. */
static pid_t parent_with_worker(rig *r, bool busy, pid_t *worker) {
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        at_error err;
        at_worker *w;
        if (at_worker_new(NULL, r->store, -1, 0, AT_SANDBOX_AUTO, &w, &err) != AT_OK) _exit(1);
        if (write(ready[1], "r", 1) != 1) _exit(1);
        r->job.source = HANG;
        r->job.run_timeout_s = 3600;
        at_outcome out;
        if (busy) at_worker_run(w, &r->job, NULL, &out, &err);
        for (;;) pause();
    }
    char c;
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    *worker = rig_child_of(pid);
    assert_true(*worker > 0);
    return pid;
}

static void worker_dies_too(rig *r, bool busy, int signal) {
    pid_t worker, pid = parent_with_worker(r, busy, &worker);
    if (busy) usleep(50000); /* mostly enough to be inside the kernel; right either way */
    kill(pid, signal);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* Without a limit: a worker that lives on hangs this test, and nothing else can decide it. */
    while (rig_parent_of(worker)) poll(NULL, 0, 1);
}

static void parent_killed(void **state) {
    worker_dies_too(*state, false, SIGKILL);
    worker_dies_too(*state, true, SIGKILL);
}

static void parent_terminated(void **state) {
    worker_dies_too(*state, false, SIGTERM);
    worker_dies_too(*state, true, SIGHUP);
}

static void freed(void **state) {
    rig *r = *state;
    for (int i = 0; i < 20; i++) {
        at_error err;
        at_worker *w;
        assert_int_equal(at_worker_new(NULL, r->store, -1, 0, AT_SANDBOX_AUTO, &w, &err), AT_OK);
        at_worker_free(w);
    }
    at_worker_free(r->worker);
    r->worker = NULL;
    assert_int_equal(rig_child_of(getpid()), 0);
}

/* Called by hand, by a parent that died at once, or by one of another version, whose arguments are
 * others: the worker does not stay, and main() goes no further. */
static void wrong_parent(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            execl("/proc/self/exe", "test", "--worker", "3", "4", "0", "1000000", "1000000000", "0",
                  i ? "protocol" : NULL, (char *)NULL);
            _exit(77);
        }
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
}

/* Other programs than this one as worker: what cannot be started, and what is none. */
static void other_programs(void **state) {
    rig *r = *state;
    static const char *const programs[] = {"/nowhere/autotune-worker", "/bin/true", "/bin/false"};
    at_worker *w = NULL;
    for (int i = 0; i < 3; i++) {
        at_error err;
        assert_int_equal(at_worker_new(programs[i], r->store, -1, 0, AT_SANDBOX_AUTO, &w, &err),
                         AT_E_BUG);
        assert_non_null(strstr(err.text, programs[i]));
    }
    at_error err;
    assert_int_equal(at_worker_new("/proc/self/exe", r->store, -1, 0, AT_SANDBOX_AUTO, &w, &err),
                     AT_OK);
    at_worker_free(w);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {TEST(parent_killed), TEST(parent_terminated),
                                       TEST(wrong_parent), TEST(freed), TEST(other_programs)};
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
