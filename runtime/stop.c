/* runtime/stop.c: runs that are not let go on to their end: kernels that can be cut short, judged
 * by a part of their turns, and stopped where they have taken too long. */
#include "runtime/inside.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>

#define PART_NS                                                                                    \
    10000000 /* the turns that a kernel as fast as the best takes in this time are tried */

#define AGAIN_NS 2000000 /* the kernel may have counted down meanwhile */

static at_par *volatile stopped_one;
static volatile sig_atomic_t has_stopped;

static void on_signal(int number) {
    (void)number;
    if (!stopped_one) return;
    stopped_one->turns = 0;
    has_stopped = 1;
}

static struct timeval timeval_of(int64_t ns) {
    return (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns / 1000 % 1000000};
}

/* Of the process's own time: what others take of the core meanwhile does not count. */
static void set_timer(int64_t ns) {
    const struct itimerval t = {.it_value = timeval_of(ns), .it_interval = timeval_of(AGAIN_NS)};
    setitimer(ITIMER_PROF, ns ? &t : &(struct itimerval){0}, NULL);
}

int64_t at_run_limit(const at_job *job, double best_ns) {
    if (job->turns <= 1 || job->to_the_end || job->run_only || job->number > 0 || best_ns <= 0)
        return 0;
    return (int64_t)fmin(fmax(AT_BEHIND * best_ns, AT_LONG_NS), 1e15);
}

static int run_until(at_run *r, int64_t limit_ns, double behind_ns, at_run_time *t, bool *stopped) {
    long turns = r->par.turns;
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    stopped_one = &r->par;
    has_stopped = 0;
    sigaction(SIGPROF, &act, NULL); /* and stays: a late one must not end the worker */
    set_timer(limit_ns * r->par.threads);
    int failed = at_run_once(r, behind_ns, t);
    set_timer(0);
    stopped_one = NULL;
    *stopped = has_stopped;
    r->par.turns = turns;
    return failed;
}

/* Time that a hypervisor takes counts as the process's own, so that one stop may be bad luck. */
int at_run_limited(at_run *r, int64_t limit_ns, double behind_ns, at_run_time *t, bool *stopped) {
    *stopped = false;
    if (limit_ns <= 0) return at_run_once(r, behind_ns, t);
    int failed = run_until(r, limit_ns, behind_ns, t, stopped);
    if (!failed && *stopped && t->disturbed && !at_run_is_late(r, t->ns))
        failed = run_until(r, limit_ns, behind_ns, t, stopped);
    return failed;
}

/* What no turns take off, all but the largest nest, is run first. Caches are cold then, so that the
 * difference is rather too small. */
bool at_part_is_behind(at_run *r, int64_t turns, int64_t limit_ns, int64_t *ns, int *failed) {
    at_run_time rest, part;
    double best_ns = (double)limit_ns / AT_BEHIND, n = ceil(PART_NS / best_ns * (double)turns);
    bool stopped;
    *ns = 0;
    if (best_ns < AT_LONG_NS || n > (double)turns / 2) return false;
    r->par.turns = 0;
    *failed = run_until(r, limit_ns, 0, &rest, &stopped);
    for (int i = 0; i < 2 && !*failed; i++) { /* the first may have been disturbed */
        r->par.turns = (long)n;
        *failed = run_until(r, limit_ns, 0, &part, &stopped);
        double all = (double)(part.ns - rest.ns) / n * (double)turns + (double)rest.ns;
        if (!i || all < (double)*ns) *ns = (int64_t)fmin(fmax(all, 1), 1e15);
        if (*ns <= limit_ns) break;
    }
    r->par.turns = LONG_MAX;
    return !*failed && *ns > limit_ns;
}
