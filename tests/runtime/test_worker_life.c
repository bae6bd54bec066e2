/* A worker's life: it goes on for many jobs, is started again after it was stopped or killed, and
 * says what it cannot do. */
#include "rig.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOOD KERNEL(ADD)

static int count_lines(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    int n = 0;
    for (int c; (c = getc(f)) != EOF;) n += c == '\n';
    fclose(f);
    return n;
}

static void many_jobs(void **state) {
    rig *r = *state;
    r->job.number = r->job.repeat = 1;
    rig_expect(r, KERNEL("*(volatile int *)0 = 1;"), AT_JOB_CRASHED, NULL); /* a new worker */
    for (int i = 0; i < 20; i++) rig_expect(r, GOOD, AT_JOB_RAN, "");
    pid_t pid = rig_child_of(getpid());
    int maps = count_lines(pid, "maps");
    for (int i = 20; i < AT_JOBS_PER_WORKER; i++) {
        r->job.paranoid = i % 10 == 0;
        if (i % 50 == 0) rig_expect(r, KERNEL("syntax error"), AT_JOB_NOT_COMPILED, NULL);
        else rig_expect(r, GOOD, AT_JOB_RAN, "");
    }
    assert_int_equal(rig_child_of(getpid()), pid);
    /* A sanitizer's allocator may take a few of its own. */
    assert_in_range(count_lines(pid, "maps"), maps - 16, maps + 16);
    /* After so many it is started anew. */
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    assert_int_not_equal(rig_child_of(getpid()), pid);
}

/* Addresses beyond the worker's limit are refused to it, whatever the machine has. */
static void limited_memory(void **state) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* there the worker has no limit */
#endif
    rig *r = *state;
    at_worker *own = r->worker, *w;
    at_error err;
    assert_int_equal(at_worker_new(r->store, -1, 512 << 20, &w, &err), AT_OK);
    r->worker = w;
    r->job.workspace_bytes = 490 << 20;
    rig_expect(r, GOOD, AT_JOB_CRASHED, "out of memory: buffers and workspace take 0.5 GiB");
    r->job.workspace_bytes = 200 << 20;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    r->job.workspace_bytes = 256;
    /* No kernel can run so. */
    r->job.flush_bytes = 1 << 30;
    assert_int_equal(at_worker_run(r->worker, &r->job, NULL, &r->outcome, &err), AT_E_BUG);
    assert_string_equal(err.text, "no kernel runs here, not even one that is right: out of memory: "
                                  "flushing the caches takes 1.0 GiB");
    r->worker = own;
    at_worker_free(w);
}

static void killed_between_jobs(void **state) {
    rig *r = *state;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    pid_t pid = rig_child_of(getpid());
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0); /* dead, not buried */
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    assert_int_not_equal(rig_child_of(getpid()), pid);
}

/* A child that waits until this process hangs in a job, and then does something to both. */
static pid_t meanwhile(void (*act)(pid_t parent, pid_t worker)) {
    pid_t parent = getpid(), worker = rig_child_of(parent), pid = fork();
    assert_true(worker > 0 && pid >= 0);
    if (pid) return pid;
    usleep(50000);
    act(parent, worker);
    _exit(0);
}

/* Runs a kernel that sleeps for 0.1 s. */
static void run_meanwhile(rig *r, void (*act)(pid_t parent, pid_t worker), double limit_s) {
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    r->job.number = r->job.repeat = 1;
    r->job.run_timeout_s = limit_s;
    r->job.compile_timeout_s = limit_s;
    pid_t pid = meanwhile(act);
    /* nanosleep({0, 100000000}) */
    rig_expect(r,
               KERNEL(ADD "{ static long t[2] = {0, 100000000}; long p = (long)t;"
                          " asm volatile(\"mov %0, %%rdi\\n xor %%esi, %%esi\\n"
                          " mov $35, %%eax\\n syscall\" : : \"r\"(p)"
                          " : \"rax\", \"rdi\", \"rsi\", \"rcx\", \"r11\", \"memory\"); }"),
               AT_JOB_RAN, "");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void stop_both(pid_t parent, pid_t worker) {
    kill(parent, SIGSTOP);
    kill(worker, SIGSTOP);
    usleep(1400000);
    kill(parent, SIGCONT);
    usleep(200000); /* in which it could look at the clock, and judge */
    kill(worker, SIGCONT);
}

static void stop_worker(pid_t parent, pid_t worker) {
    (void)parent;
    kill(worker, SIGSTOP);
    usleep(200000);
    kill(worker, SIGCONT);
}

static void stop_worker_for_long(pid_t parent, pid_t worker) {
    (void)parent;
    kill(worker, SIGSTOP);
}

static void kill_worker(pid_t parent, pid_t worker) {
    (void)parent;
    kill(worker, SIGKILL);
}

/* Longer than the limit: neither too long nor a time of 2 s. */
static void all_stopped(void **state) {
    rig *r = *state;
    run_meanwhile(r, stop_both, 1);
    assert_true(r->outcome.costs_s[0] < 1.4);
}

static void worker_stopped(void **state) {
    rig *r = *state;
    pid_t pid = rig_child_of(getpid());
    run_meanwhile(r, stop_worker, 30);
    assert_int_not_equal(rig_child_of(getpid()), pid); /* it ran again */
    run_meanwhile(r, stop_worker_for_long, 0.8);
}

static void killed_in_a_job(void **state) { run_meanwhile(*state, kill_worker, 30); }

/* As a reference is computed: its output goes to the store, and it may take hours. */
static void killed_in_a_reference(void **state) {
    rig *r = *state;
    r->job.expected_offset = NULL;
    r->job.run_only = true;
    memset(r->out, 0, RIG_N * 4);
    run_meanwhile(r, kill_worker, 24 * 3600);
    assert_memory_equal(r->out, r->expected, RIG_N * 4);
    /* Stopped for a moment it goes on: what it computes is right nevertheless. */
    memset(r->out, 0, RIG_N * 4);
    run_meanwhile(r, stop_worker, 24 * 3600);
    assert_memory_equal(r->out, r->expected, RIG_N * 4);
}

static void killed_at_the_peak(void **state) {
    rig *r = *state;
    at_error err;
    double gflops = 0;
    for (int i = 0; i < 3; i++) {
        rig_expect(r, GOOD, AT_JOB_RAN, "");
        pid_t worker = rig_child_of(getpid()), pid;
        kill(worker, SIGSTOP); /* it takes the order, and dies of it */
        pid = meanwhile(kill_worker);
        assert_int_equal(at_worker_peak(r->worker, 0, 1, &gflops, &err), AT_OK);
        assert_true(gflops > 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
}

static volatile int stop;
static void on_alarm(int signal) { stop = signal; }

static void interrupted(void **state) {
    rig *r = *state;
    at_error err;
    signal(SIGALRM, on_alarm);
    r->job.source = KERNEL("for (;;) {}");
    stop = 0;
    ualarm(20000, 0);
    assert_int_equal(at_worker_run(r->worker, &r->job, &stop, &r->outcome, &err), AT_E_INTERRUPTED);
    assert_string_equal(r->outcome.error, "interrupted");
    /* Set before the job began. */
    assert_int_equal(at_worker_run(r->worker, &r->job, &stop, &r->outcome, &err), AT_E_INTERRUPTED);
    stop = 0;
    r->job.source = GOOD;
    assert_int_equal(at_worker_run(r->worker, &r->job, &stop, &r->outcome, &err), AT_OK);
    assert_int_equal(r->outcome.end, AT_JOB_RAN);
}

static void bad_cpu(void **state) {
    rig *r = *state;
    at_worker *w = NULL;
    at_error err;
    assert_int_equal(at_worker_new(r->store, 100000, 0, &w, &err), AT_E_USAGE);
    assert_string_equal(err.text, "CPU 100000 is not one this process may use");
    assert_null(w);
}

static void no_memory_at_all(void **state) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* there the worker has no limit */
#endif
    rig *r = *state;
    at_worker *w = NULL;
    at_error err;
    assert_int_equal(at_worker_new(r->store, -1, 1 << 20, &w, &err), AT_E_BUG);
    assert_non_null(strstr(err.text, "no worker: "));
}

static void peak(void **state) {
    rig *r = *state;
    at_error err;
    for (int i = 0; at_vector_set_name(i); i++) {
        double gflops = 0;
        at_status s = at_worker_peak(r->worker, i, 1, &gflops, &err);
        if (at_cpu_has_set(i)) {
            assert_int_equal(s, AT_OK);
            assert_true(gflops > 0);
        } else {
            assert_int_equal(s, AT_E_USAGE);
        }
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(many_jobs),
        TEST(limited_memory),
        TEST(killed_between_jobs),
        TEST(all_stopped),
        TEST(worker_stopped),
        TEST(killed_in_a_job),
        TEST(killed_in_a_reference),
        TEST(killed_at_the_peak),
        TEST(interrupted),
        TEST(bad_cpu),
        TEST(no_memory_at_all),
        TEST(peak),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
