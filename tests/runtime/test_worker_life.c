/* A worker's life: it goes on for many jobs, is started again after it was stopped or killed, and
 * says what it cannot do. */
#include "rig.h"
#include "runtime/runtime_int.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Does one worker do all the jobs that a worker does? Where this process was away for long, a job
 * runs again in another one, and nothing can be told. */
static bool one_does_many(rig *r, void **state) {
    at_nap nap = at_nap_begin();
    rig_reset(state);
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
    if (at_napped(&nap)) return false;
    assert_int_equal(rig_child_of(getpid()), pid);
    /* A sanitizer's allocator may take a few of its own. */
    assert_in_range(count_lines(pid, "maps"), maps - 16, maps + 16);
    /* After so many it is started anew. */
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    assert_int_not_equal(rig_child_of(getpid()), pid);
    return true;
}

static void many_jobs(void **state) {
    while (!one_does_many(*state, state)) {
    }
}

/* Addresses beyond the worker's limit are refused to it, whatever the machine has. */
static void limited_memory(void **state) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* there the worker has no limit */
#endif
    rig *r = *state;
    at_worker *own = r->worker, *w;
    at_error err;
    assert_int_equal(at_worker_new(NULL, r->store, -1, 512 << 20, AT_SANDBOX_AUTO, &w, &err),
                     AT_OK);
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

/* ---- what happens while a kernel runs ---------------------------------------------------------
 *
 * The kernel makes the folder `in`, and waits until there is the folder `go`: what happens between
 * them happens in the job, however late any process is. */

static char folder[64];

static void killed(void **state) { /* as the system does when memory runs out */
    rig_expect(*state,
               KERNEL("asm(\"mov $39, %eax\\n syscall\\n mov %eax, %edi\\n mov $9, %esi\\n"
                      " mov $62, %eax\\n syscall\");"),
               AT_JOB_CRASHED, "the kernel ended its process: SIGKILL");
}

static const char *path_of(const char *name) {
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *waiting_kernel(void) {
    static char source[2000];
    snprintf(source, sizeof source,
             "static long call(long number, const void *p, long q) {\n"
             "  long r;\n"
             "  asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(number), \"D\"(p), \"S\"(q)\n"
             "               : \"rcx\", \"r11\", \"memory\");\n"
             "  return r;\n}\n" KERNEL(ADD "long pause[2];"
                                           "pause[0] = 0; pause[1] = 1000000;"
                                           "call(%d, \"%s/in\", 0700);"
                                           "while (call(%d, \"%s/go\", 0)) call(%d, pause, 0);"),
             SYS_mkdir, folder, SYS_access, folder, SYS_nanosleep);
    return source;
}

/* A child that does something to both processes once `is_time`. */
static pid_t meanwhile(bool (*is_time)(void), void (*act)(pid_t parent, pid_t worker)) {
    pid_t parent = getpid(), worker = rig_child_of(parent), pid = fork();
    assert_true(worker > 0 && pid >= 0);
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!is_time()) usleep(1000);
    act(parent, worker);
    _exit(mkdir(path_of("go"), 0700) ? 1 : 0);
}

static bool is_in_kernel(void) { return !access(path_of("in"), F_OK); }

static double stop_s; /* for so long stop_both() stops */

/* One job with this limit; how it ended. */
static at_job_end run_meanwhile_once(rig *r, void (*act)(pid_t parent, pid_t worker),
                                     double limit_s) {
    strcpy(folder, "/tmp/at-test-life-XXXXXX");
    assert_non_null(mkdtemp(folder));
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    at_job was = r->job;
    r->job.number = r->job.repeat = 1;
    r->job.run_timeout_s = limit_s;
    r->job.compile_timeout_s = limit_s;
    pid_t pid = meanwhile(is_in_kernel, act);
    rig_run(r, waiting_kernel());
    bool never_ran = !is_in_kernel();
    if (never_ran) kill(pid, SIGKILL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, never_ran ? SIGKILL : 0);
    rmdir(path_of("in"));
    rmdir(path_of("go"));
    assert_int_equal(rmdir(folder), 0);
    r->job = was;
    return r->outcome.end;
}

/* It runs all the same, if the limit is long enough for this machine now. */
static void run_meanwhile(rig *r, void (*act)(pid_t parent, pid_t worker), double limit_s) {
    at_job_end end;
    do {
        stop_s = 1.4 * limit_s;
        end = run_meanwhile_once(r, act, limit_s);
        limit_s *= 4;
    } while (limit_s < 200 && (end == AT_JOB_TIMEOUT || end == AT_JOB_COMPILE_TIMEOUT));
    if (end) fail_msg("error %d \"%s\"", end, r->outcome.error);
}

static void stop_both(pid_t parent, pid_t worker) {
    kill(parent, SIGSTOP);
    kill(worker, SIGSTOP);
    usleep((useconds_t)(stop_s * 1e6));
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

/* Longer than the limit: not too long, and what was measured meanwhile is no time. */
static void all_stopped(void **state) {
    pid_t pid = rig_child_of(getpid());
    run_meanwhile(*state, stop_both, 1);
    assert_int_not_equal(rig_child_of(getpid()), pid); /* it ran again */
}

static void worker_stopped(void **state) {
    pid_t pid = rig_child_of(getpid());
    run_meanwhile(*state, stop_worker, 60);
    assert_int_not_equal(rig_child_of(getpid()), pid);
    run_meanwhile(*state, stop_worker_for_long, 0.8);
}

static void killed_in_a_job(void **state) { run_meanwhile(*state, kill_worker, 60); }

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

/* When the order is mostly there; right either way. */
static bool soon(void) {
    usleep(50000);
    return true;
}

static void killed_at_the_peak(void **state) {
    rig *r = *state;
    at_error err;
    double gflops = 0;
    for (int i = 0; i < 3; i++) {
        rig_expect(r, GOOD, AT_JOB_RAN, "");
        pid_t worker = rig_child_of(getpid()), pid;
        kill(worker, SIGSTOP); /* it takes the order, and dies of it */
        strcpy(folder, "/tmp/at-test-life-XXXXXX");
        assert_non_null(mkdtemp(folder));
        pid = meanwhile(soon, kill_worker);
        assert_int_equal(at_worker_peak(r->worker, 0, 1, &gflops, &err), AT_OK);
        assert_true(gflops > 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(rmdir(path_of("go")) | rmdir(folder), 0);
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
    assert_int_equal(at_worker_new(NULL, r->store, 100000, 0, AT_SANDBOX_AUTO, &w, &err),
                     AT_E_USAGE);
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
    assert_int_equal(at_worker_new(NULL, r->store, -1, 1 << 20, AT_SANDBOX_AUTO, &w, &err),
                     AT_E_BUG);
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
        TEST(killed),
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
    return cmocka_run_group_tests(tests, rig_setup_unconfined, rig_teardown);
}
