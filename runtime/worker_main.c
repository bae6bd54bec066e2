/* runtime/worker_main.c: the worker process: this executable, started again with
 *     --worker FD STOREFD CPU MEMORY PARENT SANDBOX PROTOCOL
 * It shuts itself in, then serves jobs until its socket closes. It ends by _exit everywhere:
 * nothing a kernel may have spoiled is to be flushed or freed. */
#include "runtime/inside.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES (8 << 20)

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1 /* clang says it this way */
#endif
#endif

/* Never survives its parent, whichever way that one dies. */
static void bind_to_parent(long parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)parent) _exit(1); /* it died before the call above */
}

/* Keeps its two descriptors and stderr. A lock file held open here would stay locked. */
static void close_others(int a, int b) {
    unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    if (low > 3) close_range(3, low - 1, 0);
    if (high > low + 1) close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0u, 0);
    /* What a shared object might start does not inherit them. */
    fcntl(a, F_SETFD, FD_CLOEXEC);
    fcntl(b, F_SETFD, FD_CLOEXEC);
}

static void lower_limit(int which, rlim_t bytes) {
    struct rlimit r;
    if (getrlimit(which, &r)) return;
    if (r.rlim_max == RLIM_INFINITY || bytes < r.rlim_max) r.rlim_cur = bytes;
    setrlimit(which, &r);
}

static void limit_memory(int64_t memory_bytes) {
    /* The shadow memory of the address and thread sanitizers takes terabytes of addresses. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    lower_limit(RLIMIT_AS, (rlim_t)memory_bytes);
#else
    (void)memory_bytes;
#endif
    lower_limit(RLIMIT_STACK, STACK_BYTES);
    lower_limit(RLIMIT_CORE, 0);
    mallopt(M_ARENA_MAX, 1); /* every further thread would reserve 64 MiB of addresses */
    /* If memory runs out nevertheless, a trial is lost and not the run. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "1000", 4) != 4) {
    } /* a wish */
    close(fd);
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set); /* where it is refused the worker runs unpinned */
}

/* The store may have grown since the last job. */
static bool map_store(at_inside *in, int64_t bytes) {
    if (bytes <= in->store_bytes) return true;
    void *p = in->store ? mremap(in->store, (size_t)in->store_bytes, (size_t)bytes, MREMAP_MAYMOVE)
                        : mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, in->store_fd, 0);
    if (p == MAP_FAILED) return false;
    in->store = p;
    in->store_bytes = bytes;
    return true;
}

static void fail_no_store(int64_t store_bytes, at_outcome *out) {
    at_outcome_clear(out);
    out->end = AT_JOB_CRASHED;
    snprintf(out->error, sizeof out->error, "out of memory: the tensors take %.1f GiB",
             (double)store_bytes / (1024.0 * 1024 * 1024));
}

static void serve_job(at_inside *in, at_msg *m, at_outcome *out) {
    at_job job;
    if (!at_decode_job(m, &job)) _exit(1);
    at_job_execute(in, &job, out);
}

/* A job or an anchor. What comes along with one that is not served is closed with the message. */
static void serve_kernel(at_inside *in, at_msg *m, at_outcome *out) {
    int64_t store_bytes;
    if (!at_job_store_bytes(m, &store_bytes)) _exit(1);
    if (!map_store(in, store_bytes)) fail_no_store(store_bytes, out);
    else if (m->type == AT_MSG_JOB) serve_job(in, m, out);
    else at_anchor_execute(in, m, out); /* takes the message's data */
}

static void serve_ahead(at_msg *m) {
    at_job job;
    if (!at_decode_job(m, &job) || !job.source) _exit(1);
    at_ahead_execute(&job);
}

static _Noreturn void serve(at_inside *in) {
    at_channel parent = {.fd = in->fd};
    at_msg m = {0};
    for (;;) {
        if (at_msg_receive(&parent, &m) != AT_IO_OK) _exit(0);
        if (m.type == AT_MSG_JOB || m.type == AT_MSG_ANCHOR) {
            static at_outcome out;
            serve_kernel(in, &m, &out);
            at_msg_send(&parent, AT_MSG_OUTCOME, &out, at_outcome_bytes(&out));
        } else if (m.type == AT_MSG_AHEAD && m.size_bytes) {
            serve_ahead(&m);
            at_msg_send(&parent, AT_MSG_AHEAD, NULL, 0);
        } else if (m.type == AT_MSG_PEAK && m.size_bytes == sizeof(at_peak_job)) {
            at_peak_job job;
            memcpy(&job, m.data, sizeof job);
            bool bandwidth = job.read_bytes + job.written_bytes > 0;
            double gflops =
                bandwidth     ? at_bandwidth_gbytes(job.read_bytes, job.written_bytes, job.threads)
                : job.of_dots ? at_peak_dot_gops(job.vector_set, job.threads)
                              : at_peak_gflops(job.vector_set, job.threads);
            at_msg_send(&parent, AT_MSG_PEAK, &gflops, sizeof gflops);
        } else {
            _exit(1);
        }
    }
}

void at_worker_main_if_asked(int argc, char **argv) {
    if (argc < 3 || strcmp(argv[1], "--worker")) return;
    if (argc != 9) _exit(1); /* asked by another version; main() is not meant */
    at_inside in = {.fd = atoi(argv[2]), .store_fd = atoi(argv[3]), .cpu = atoi(argv[4])};
    in.memory_bytes = atoll(argv[5]);
    bind_to_parent(atol(argv[6]));
    if (in.fd < 3 || in.store_fd < 3 || in.fd == in.store_fd) _exit(1);
    close_others(in.fd, in.store_fd);
    /* Keys pressed at the terminal, and what else a group gets, are the parent's business. */
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    limit_memory(in.memory_bytes);
    at_par_init(in.cpu);
    pin(in.cpu);
    at_watch_init(in.cpu);
    at_crash_watch(in.fd);
    static at_ready ready;
    char protocol[AT_PROTOCOL_BYTES];
    at_protocol_text(protocol);
    if (strcmp(argv[8], protocol) != 0)
        snprintf(ready.why_not, sizeof ready.why_not,
                 "%s is of another version than what started it", argv[0]);
    else at_tcc_init(ready.why_not, sizeof ready.why_not);
    if (atoi(argv[7]) == AT_SANDBOX_OFF)
        snprintf(ready.unconfined, sizeof ready.unconfined, "--sandbox off");
    else at_confine(&(at_confinement){.talk_fd = in.fd}, ready.unconfined, sizeof ready.unconfined);
    at_msg_send(&(at_channel){.fd = in.fd}, AT_MSG_READY, &ready, sizeof ready);
    if (ready.why_not[0]) _exit(1);
    serve(&in);
}
