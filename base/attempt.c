/* base/attempt.c: foreign code is tried in a child process first, so that what crashes, loops or
 * eats memory there is reported as its author's mistake. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a stop flag may go unseen. */
enum { LOOK_MS = 50 };
/* What the child may take beside what the program has. */
static const rlim_t most_bytes = (rlim_t)1 << 30;
enum { DONE = 0 }; /* the child's exit code */

/* What code does to itself; AT_BUG's SIGABRT is ours, and comes again where it is seen. */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { NUM_CRASHES = sizeof crashes / sizeof *crashes };

/* A sanitizer reserves more than any limit before it starts. */
static void limit_memory(void) {
#ifndef __SANITIZE_ADDRESS__
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 1) return;
    close(fd);
    rlim_t bytes = strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + most_bytes;
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
#endif
}

/* The number of a call that was refused goes to the parent. */
static int report_fd;
static void on_refused(int signal, siginfo_t *info, void *context) {
    int number = info->si_syscall;
    (void)signal, (void)context;
    _exit(write(report_fd, &number, sizeof number) == sizeof number ? DONE : 2);
}

/* A system without filters runs it as it is. */
static void confine(int fd) {
    char why[128];
    struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    report_fd = fd;
    sigaction(SIGSYS, &action, NULL);
    at_confine(&(at_confinement){.talk_fd = -1,
                                 .writes = 1ull << STDERR_FILENO | (fd < 64 ? 1ull << fd : 0)},
               why, sizeof why);
}

/* Quietly: no core file, nothing on stderr, no handlers of a sanitizer or of the program. */
static _Noreturn void run_in_child(pid_t parent, int refused_fd, void (*f)(void *), void *ctx) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(DONE); /* it ended before it could be asked for */
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit_memory();
    if (null >= 0) dup2(null, STDERR_FILENO);
    for (int i = 0; i < NUM_CRASHES; i++) signal(crashes[i], SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (refused_fd >= 0) confine(refused_fd);
    f(ctx);
    _exit(DONE);
}

/* Until the child closes its end, or writes to it. */
static at_attempt_end wait_for(int fd, double timeout_s, const volatile int *stop) {
    const int64_t end_ns = at_now_ns() + (int64_t)(timeout_s * 1e9);
    for (;;) {
        int64_t left_ms = (end_ns - at_now_ns()) / 1000000 + 1;
        if (at_is_stopped(stop)) return AT_ATTEMPT_STOPPED;
        bool is_late = left_ms <= 0; /* this process may be, and the child has ended long ago */
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ms = is_late ? 0 : left_ms < LOOK_MS ? (int)left_ms : LOOK_MS;
        if (poll(&p, 1, ms) > 0) return AT_ATTEMPT_DONE;
        if (is_late) return AT_ATTEMPT_TIMEOUT;
    }
}

at_attempt_end at_attempt(void (*f)(void *ctx), void *ctx, bool confined, double timeout_s,
                          const volatile int *stop, int *signal_number) {
    int pipe_fd[2], status = 0;
    const pid_t parent = getpid();
    *signal_number = 0;
    if (pipe2(pipe_fd, O_CLOEXEC) != 0) return AT_ATTEMPT_NO_PROCESS;
    pid_t child = fork();
    if (child == 0) run_in_child(parent, confined ? pipe_fd[1] : -1, f, ctx);
    close(pipe_fd[1]);
    at_attempt_end end = child < 0 ? AT_ATTEMPT_NO_PROCESS : wait_for(pipe_fd[0], timeout_s, stop);
    int refused;
    if (end == AT_ATTEMPT_DONE &&
        read(pipe_fd[0], &refused, sizeof refused) == (ssize_t)sizeof refused) {
        end = AT_ATTEMPT_REFUSED;
        *signal_number = refused;
    }
    close(pipe_fd[0]);
    if (child < 0) return end;
    if (end != AT_ATTEMPT_DONE) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (end != AT_ATTEMPT_DONE) return end;
    /* at_out_of_memory */
    if (WIFEXITED(status) && WEXITSTATUS(status) == at_exit_code(AT_E_BUG))
        return AT_ATTEMPT_MEMORY;
    if (WIFEXITED(status)) return WEXITSTATUS(status) == DONE ? end : AT_ATTEMPT_EXITED;
    *signal_number = WTERMSIG(status);
    if (*signal_number == SIGABRT) return AT_ATTEMPT_DONE;
    return *signal_number == SIGINT || *signal_number == SIGTERM ? AT_ATTEMPT_STOPPED
                                                                 : AT_ATTEMPT_CRASHED;
}

at_status at_attempt_fail(at_attempt_end end, int signal_number, double timeout_s, at_error *err) {
    char name[64];
    switch (end) {
    case AT_ATTEMPT_DONE: return AT_OK;
    case AT_ATTEMPT_STOPPED: return at_fail_stopped(err);
    case AT_ATTEMPT_NO_PROCESS:
        return at_fail(err, AT_E_BUG, "cannot start a process: %s", strerror(errno));
    case AT_ATTEMPT_CRASHED:
        return at_fail(err, AT_E_INPUT, "crashed: %s", at_signal_name(signal_number));
    case AT_ATTEMPT_REFUSED:
        return at_fail(err, AT_E_INPUT, "called %s, and may do nothing but compute",
                       at_call_name(signal_number, name, sizeof name));
    case AT_ATTEMPT_TIMEOUT:
        return at_fail(err, AT_E_INPUT, "did not end within %g s; --timeout gives more", timeout_s);
    case AT_ATTEMPT_MEMORY:
        return at_fail(err, AT_E_INPUT, "takes more than %lld MiB of memory",
                       (long long)(most_bytes >> 20));
    case AT_ATTEMPT_EXITED: return at_fail(err, AT_E_INPUT, "ended the program");
    }
    AT_BUG("end %d of an attempt", end);
}
