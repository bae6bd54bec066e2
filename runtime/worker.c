/* runtime/worker.c: the worker as its parent uses it: hand over a job, watch the clock, begin again
 * with another process (worker_process.c). Every way a job can end becomes an outcome. */
#include "runtime/worker_process.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEND_TIMEOUT_S 30
#define PEAK_TIMEOUT_S 10
/* Flushing is no part of a run. As many as there may be (repeats, disturbed ones too), on a machine
 * that is busy otherwise. */
#define FLUSHES 10
#define FLUSH_NS 4             /* per byte */
#define MOST_SOURCE (64 << 10) /* milliseconds of TinyCC's time */
/* Behind the first: both ends, other data, moves, timing. */
#define MOST_RUNS (7 + AT_MOST_OTHERS)
#define DEFAULT_TIMEOUT_S 10 /* AutoTVM's, of build and run alike */

/* ---- one job -------------------------------------------------------------------------------- */

static void refuse_malformed(const at_worker *w, const at_job *job) {
    const int64_t store = at_store_bytes(w->store);
    int outputs = 0;
    AT_ASSERT(job->entry && (job->compiler == AT_TCC ? job->source != NULL : job->object != NULL));
    AT_ASSERT(job->num_bufs >= 0 && job->num_bufs <= AT_MAX_BUFS && job->num_blobs >= 0);
    AT_ASSERT(job->workspace_bytes >= 0 && job->workspace_bytes <= INT64_MAX - 64);
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        AT_ASSERT(b->name && b->size_bytes >= 0);
        if (b->role == AT_BUF_PACKED) continue;
        AT_ASSERT(b->offset >= 0 && b->size_bytes <= store - b->offset);
        for (int set = 0; set < AT_MOST_OTHERS; set++)
            AT_ASSERT(b->other_offset[set] >= 0 && b->size_bytes <= store - b->other_offset[set]);
        if (b->role != AT_BUF_OUT || !job->expected_offset) continue;
        int64_t expected = job->expected_offset[outputs++];
        int64_t bytes =
            job->has_limits ? at_limits_at(b->size_bytes) + 4 * at_buf_elements(b) : b->size_bytes;
        AT_ASSERT(expected >= 0 && bytes <= store - expected);
        for (int set = 0; set < AT_MOST_OTHERS; set++)
            AT_ASSERT(bytes <= store - b->other_offset[set]);
    }
}

static int64_t deadline(double timeout_s) {
    /* A year is for ever, and fits. */
    double s = timeout_s > 0 ? timeout_s : DEFAULT_TIMEOUT_S;
    return at_awake_ns() + (int64_t)((s < 3e7 ? s : 3e7) * 1e9);
}

static void fail(at_outcome *out, at_job_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(at_outcome *out, at_job_end end, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    out->end = end;
    vsnprintf(out->error, sizeof out->error, fmt, ap);
    va_end(ap);
}

/* The worker ended without a word: what the system says about it. */
static void fail_dead(at_outcome *out, at_job_end end, int status) {
    const char *what = end == AT_JOB_CRASHED ? "the kernel" : "the compiler";
    if (status != -1 && WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        fail(out, end, "%s ended its process: %s%s", what, at_signal_name(signal),
             signal == SIGKILL ? " (killed from outside, or out of memory)" : "");
    } else if (status != -1 && WIFEXITED(status)) {
        fail(out, end, "%s ended its process with exit code %d", what, WEXITSTATUS(status));
    } else {
        fail(out, end, "%s ended its process", what);
    }
}

static void fail_late(at_outcome *out, bool running, const at_job *job) {
    double limit = running ? job->run_timeout_s : job->compile_timeout_s;
    fail(out, running ? AT_JOB_TIMEOUT : AT_JOB_COMPILE_TIMEOUT, "%s exceeded %g s",
         running ? "run" : "compile", limit > 0 ? limit : DEFAULT_TIMEOUT_S);
}

static bool plausible(const at_msg *m) {
    at_outcome o;
    if (m->size_bytes < offsetof(at_outcome, pairs)) return false;
    memcpy(&o, m->data, offsetof(at_outcome, pairs));
    return m->size_bytes == at_outcome_bytes(&o) && (unsigned)o.end < AT_JOB_END_COUNT &&
           o.num_costs >= 0 && o.num_costs <= AT_MAX_SAMPLES && o.num_pairs >= 0 &&
           o.num_pairs <= AT_MAX_PAIRS && memchr(o.error, 0, sizeof o.error);
}

/* How a try ended. LOST: it says nothing about the job. */
typedef enum fate { ANSWERED, FAILED, LOST, STOPPED } fate;

/* Was the worker, or this process, stopped since the job began? */
static bool was_stopped(const at_worker *w) {
    siginfo_t info = {0};
    if (w->pid && !waitid(P_PID, (id_t)w->pid, &info, WSTOPPED | WCONTINUED | WNOHANG) &&
        info.si_pid)
        return true;
    return at_napped(&w->nap);
}

/* A share of an output goes to its place in the store. */
static bool store_output(at_worker *w, const at_job *job, const at_msg *m) {
    at_output_head head;
    if (m->size_bytes <= sizeof head || job->expected_offset) return false;
    memcpy(&head, m->data, sizeof head);
    int64_t n = (int64_t)(m->size_bytes - sizeof head);
    if (head.buf < 0 || head.buf >= job->num_bufs) return false;
    const at_buf *b = &job->bufs[head.buf];
    if (b->role != AT_BUF_OUT || head.begin < 0 || n > b->size_bytes ||
        head.begin > b->size_bytes - n || head.run < 0 || head.run > job->cover_runs)
        return false;
    const int64_t at = head.run ? b->cover_offset + (head.run - 1) * b->cover_step : b->offset;
    memcpy(at_store_at(w->store, at + head.begin), m->data + sizeof head, (size_t)n);
    return true;
}

static int64_t run_deadline(const at_job *job) {
    return deadline(job->run_timeout_s) + FLUSHES * FLUSH_NS * job->flush_bytes;
}

/* Waits for the outcome. All but ANSWERED: the worker is not to be used again. */
static fate follow(at_worker *w, const at_job *job, const volatile int *stop, at_outcome *out) {
    at_job_end end = AT_JOB_NOT_COMPILED; /* of a death in this phase */
    int more = MOST_RUNS;
    const int64_t begin_ns = at_now_ns();
    at_channel c = {.fd = w->fd, .deadline_ns = deadline(job->compile_timeout_s), .stop = stop};
    for (;;) {
        at_io io = at_msg_receive(&c, &w->reply);
        bool running = end == AT_JOB_CRASHED;
        if (io == AT_IO_OK && w->reply.type == AT_MSG_COMPILED && !running) {
            end = AT_JOB_CRASHED;
            out->compile_ns = at_now_ns() - begin_ns; /* should no outcome come */
            c.deadline_ns = run_deadline(job);
        } else if (io == AT_IO_OK && w->reply.type == AT_MSG_AGAIN && running && more-- > 0) {
            c.deadline_ns = run_deadline(job);
        } else if (io == AT_IO_OK && w->reply.type == AT_MSG_OUTPUT && running &&
                   store_output(w, job, &w->reply)) {
            continue;
        } else if (io == AT_IO_OK && w->reply.type == AT_MSG_OUTCOME && plausible(&w->reply)) {
            memcpy(out, w->reply.data, w->reply.size_bytes);
            /* Times were measured while something stood still; an answer alone is one. */
            if (!job->run_only && was_stopped(w)) return LOST;
            /* How soon this process has read the answer decides nothing. */
            if (job->compile_timeout_s > 0 && out->compile_ns > job->compile_timeout_s * 1e9) {
                *out = (at_outcome){.compile_ns = out->compile_ns};
                fail_late(out, false, job);
                return FAILED;
            }
            /* Whatever else a kernel has overwritten that wrote out of bounds. */
            return out->end != AT_JOB_CRASHED ? ANSWERED : FAILED;
        } else if (io == AT_IO_OK && w->reply.type == AT_MSG_CRASH &&
                   w->reply.size_bytes == sizeof(at_crash)) {
            at_crash crash;
            memcpy(&crash, w->reply.data, sizeof crash);
            out->end = end;
            at_crash_text(&crash, job, out->error, sizeof out->error);
            return FAILED;
        } else if (io == AT_IO_TIMEOUT) {
            fail_late(out, running, job);
            return was_stopped(w) ? LOST : FAILED;
        } else if (io == AT_IO_STOPPED) {
            fail(out, AT_JOB_LOST, "interrupted");
            return STOPPED;
        } else if (io == AT_IO_CLOSED) {
            int status = at_worker_bury(w);
            fail_dead(out, end, status);
            /* A kernel's own crash would have been reported. */
            return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGSYS ? LOST
                                                                                     : FAILED;
        } else {
            fail(out, end, "the kernel overwrote the worker's memory");
            return FAILED;
        }
    }
}

static at_status begin(at_worker *w, const at_job *job, at_msg_type type, const volatile int *stop,
                       at_error *err) {
    w->begin_ns = at_now_ns();
    refuse_malformed(w, job);
    at_encode_job(job, at_store_bytes(w->store), &w->text);
    at_io io = AT_IO_CLOSED;
    int object = job->object ? at_fd_above_stdio(open(job->object, O_RDONLY | O_CLOEXEC)) : 0;
    if (object < 0) object = 0; /* the worker says so */
    /* It may die, or be stopped, in this very moment. */
    for (int tries = 0; tries < AT_WORKER_TRIES && (io == AT_IO_CLOSED || io == AT_IO_TIMEOUT);
         tries++) {
        AT_TRY(at_worker_wake(w, err));
        at_channel c = {.fd = w->fd,
                        .deadline_ns = at_awake_ns() + SEND_TIMEOUT_S * NS_PER_S,
                        .stop = stop,
                        .pass_fd = object};
        waitid(P_PID, (id_t)w->pid, &(siginfo_t){0}, WCONTINUED | WNOHANG); /* of before */
        w->nap = at_nap_begin();
        if (at_is_stopped(stop)) io = AT_IO_STOPPED;
        else io = at_msg_send(&c, type, w->text.data, w->text.len);
        if (io != AT_IO_OK) at_worker_bury(w);
    }
    if (object) close(object);
    w->jobs++;
    w->sent = io;
    if (io == AT_IO_OK || io == AT_IO_STOPPED) return AT_OK;
    return at_fail(err, AT_E_BUG, "no worker: it takes no job");
}

static at_status finish(at_worker *w, const at_job *job, at_msg_type type, const volatile int *stop,
                        at_outcome *out, at_error *err);

/* Another process than it was given to has none. */
static at_status bring_anchor(at_worker *w, const volatile int *stop, at_outcome *out,
                              at_error *err) {
    AT_TRY(begin(w, w->anchor, AT_MSG_ANCHOR, stop, err));
    w->jobs--; /* it is no job */
    AT_TRY(finish(w, w->anchor, AT_MSG_ANCHOR, stop, out, err));
    w->has_anchor = !out->end;
    if (!w->has_anchor) w->anchor = NULL;
    return AT_OK;
}

at_status at_worker_begin(at_worker *w, const at_job *job, const volatile int *stop,
                          at_error *err) {
    at_outcome of_anchor;
    if (job->pairs > 0 && w->anchor) {
        AT_TRY(at_worker_wake(w, err));
        if (!w->has_anchor) AT_TRY(bring_anchor(w, stop, &of_anchor, err));
    }
    return begin(w, job, AT_MSG_JOB, stop, err);
}

/* What compiles for long would be waited for with others' time limits. */
void at_worker_ahead(at_worker *w, at_job *job, const volatile int *stop) {
    job->ahead = 0;
    if (!w->pid || job->compiler != AT_TCC || strlen(job->source) > MOST_SOURCE) return;
    job->ahead = ++w->last_ahead;
    at_encode_job(job, 0, &w->text);
    at_channel c = {
        .fd = w->fd, .deadline_ns = at_awake_ns() + SEND_TIMEOUT_S * NS_PER_S, .stop = stop};
    at_io io = at_msg_send(&c, AT_MSG_AHEAD, w->text.data, w->text.len);
    if (io == AT_IO_OK) w->ahead++;
    else at_worker_bury(w);
}

/* To an outcome that is the job's own, or the last of as many tries. */
static at_status finish(at_worker *w, const at_job *job, at_msg_type type, const volatile int *stop,
                        at_outcome *out, at_error *err) {
    for (int tries = 1;; tries++) {
        at_outcome_clear(out);
        fate how = w->sent == AT_IO_STOPPED ? STOPPED : follow(w, job, stop, out);
        /* What a wrong kernel may have done to the anchor nobody has seen. */
        if (how != ANSWERED || (out->end && w->has_anchor)) at_worker_bury(w);
        out->total_ns = at_now_ns() - w->begin_ns;
        if (how == STOPPED) {
            fail(out, AT_JOB_LOST, "interrupted");
            return at_fail_stopped(err);
        }
        if (how != LOST || tries == AT_WORKER_TRIES) return AT_OK;
        if (type == AT_MSG_JOB) AT_TRY(at_worker_begin(w, job, stop, err));
        else AT_TRY(begin(w, job, type, stop, err));
    }
}

/* ---- who is to blame ------------------------------------------------------------------------ */

static at_status control_object(at_worker *w, at_compiler c, const volatile int *stop,
                                at_error *err) {
    at_object made;
    if (c == AT_TCC || w->control[c]) return AT_OK;
    AT_TRY(at_build_object(w->arena, c, at_control_source, "", 0, stop, &made, err));
    if (made.end) return at_fail(err, AT_E_BUG, "the control is not compiled: %s", made.error);
    w->control[c] = made.path;
    return AT_OK;
}

/* Does a kernel that is right run where this job failed? Its outputs are compared with nothing, so
 * there is nothing but the machine that it could fail for. */
static at_status check_machine(at_worker *w, const at_job *job, const volatile int *stop,
                               at_error *err) {
    at_job control;
    at_buf bufs[AT_MAX_BUFS];
    at_outcome out;
    AT_TRY(control_object(w, job->compiler, stop, err));
    at_control_job(job, w->control[job->compiler], bufs, &control);
    /* What the job has spoiled in its worker is not the machine's fault: then in a new one. */
    for (int fresh = 0; fresh < 2; fresh++) {
        if (fresh) at_worker_bury(w);
        AT_TRY(begin(w, &control, AT_MSG_JOB, stop, err));
        w->jobs--; /* it is no job */
        AT_TRY(finish(w, &control, AT_MSG_JOB, stop, &out, err));
        if (!out.end) return AT_OK;
    }
    return at_fail(err, AT_E_BUG, "no kernel runs here, not even one that is right: %s", out.error);
}

at_status at_worker_end(at_worker *w, const at_job *job, const volatile int *stop, at_outcome *out,
                        at_error *err) {
    fail(out, AT_JOB_LOST, "no worker");
    AT_TRY(finish(w, job, AT_MSG_JOB, stop, out, err));
    if (!out->end || out->end == AT_JOB_WRONG) return AT_OK;
    return check_machine(w, job, stop, err);
}

at_status at_worker_run(at_worker *w, const at_job *job, const volatile int *stop, at_outcome *out,
                        at_error *err) {
    at_outcome_clear(out);
    fail(out, AT_JOB_LOST, "no worker");
    AT_TRY(at_worker_begin(w, job, stop, err));
    return at_worker_end(w, job, stop, out, err);
}

at_status at_worker_anchor(at_worker *w, const at_job *job, const volatile int *stop,
                           at_outcome *out, at_error *err) {
    w->anchor = job;
    w->has_anchor = false;
    AT_TRY(bring_anchor(w, stop, out, err));
    if (!out->end || out->end == AT_JOB_WRONG) return AT_OK;
    return check_machine(w, job, stop, err);
}

static at_status ask_peak(at_worker *w, at_peak_job job, double *gflops, at_error *err) {
    for (int tries = 0; tries < AT_WORKER_TRIES; tries++) {
        AT_TRY(at_worker_wake(w, err));
        at_channel c = {.fd = w->fd, .deadline_ns = at_awake_ns() + PEAK_TIMEOUT_S * NS_PER_S};
        at_io io = at_msg_send(&c, AT_MSG_PEAK, &job, sizeof job);
        if (io == AT_IO_OK) io = at_msg_receive(&c, &w->reply);
        if (io == AT_IO_OK && w->reply.type == AT_MSG_PEAK &&
            w->reply.size_bytes == sizeof *gflops) {
            memcpy(gflops, w->reply.data, sizeof *gflops);
            return AT_OK;
        }
        at_worker_bury(w);
    }
    return at_fail(err, AT_E_BUG, "no worker: it did not measure the peak");
}

at_status at_worker_peak(at_worker *w, int vector_set, int threads, double *gflops, at_error *err) {
    if (!at_cpu_has_set(vector_set))
        return at_fail(err, AT_E_USAGE, "this CPU has no %s", at_vector_set_name(vector_set));
    return ask_peak(w, (at_peak_job){.vector_set = vector_set, .threads = threads}, gflops, err);
}

at_status at_worker_dot_peak(at_worker *w, int vector_set, int threads, double *gops,
                             at_error *err) {
    const at_peak_job job = {.vector_set = vector_set, .threads = threads, .of_dots = true};
    return ask_peak(w, job, gops, err);
}

at_status at_worker_bandwidth(at_worker *w, int64_t read_bytes, int64_t written_bytes, int threads,
                              double *gbytes, at_error *err) {
    const at_peak_job job = {
        .threads = threads, .read_bytes = read_bytes, .written_bytes = written_bytes};
    return ask_peak(w, job, gbytes, err);
}
