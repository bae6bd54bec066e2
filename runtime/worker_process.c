/* runtime/worker_process.c: see worker_process.h. */
#include "runtime/worker_process.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_TIMEOUT_S 30 /* generous: only a machine in distress needs a second */

int at_worker_bury(at_worker *w) {
    int status = -1;
    if (!w->pid) return status;
    /* Does not change the status of one that is on its way out. */
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &status, 0) < 0) {
        if (errno == EINTR) continue;
        status = -1;
        break;
    }
    close(w->fd);
    w->pid = 0;
    w->fd = -1;
    w->ahead = 0;
    return status;
}

/* How many threads a kernel has, and where, is the worker's business; what tells OpenMP otherwise
 * (OMP_PROC_BIND, OMP_THREAD_LIMIT, ...) would change what is measured. The caller frees it. */
static char **worker_environment(void) {
    static const char *const heads[] = {"OMP_", "GOMP_", "KMP_"};
    int n = 0, kept = 0;
    while (environ[n]) n++;
    char **env = malloc((size_t)(n + 1) * sizeof *env);
    AT_ASSERT(env);
    for (int i = 0; i < n; i++) {
        bool of_openmp = false;
        for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
            of_openmp |= !strncmp(environ[i], heads[k], strlen(heads[k]));
        if (!of_openmp) env[kept++] = environ[i];
    }
    env[kept] = NULL;
    return env;
}

/* Under valgrind the first of these names is this program's, and the second says what really runs,
 * which serves no jobs. */
static const char *this_program(void) {
    static char path[PATH_MAX], really[PATH_MAX];
    static const char own[] = "/proc/self/exe";
    ssize_t n = readlink(own, path, sizeof path - 1);
    ssize_t m = readlink("/proc/thread-self/exe", really, sizeof really);
    bool is_emulated = n > 0 && m > 0 && (n != m || memcmp(path, really, (size_t)n) != 0);
    path[n > 0 ? n : 0] = 0;
    return is_emulated ? path : own;
}

/* Unless the caller or the user names another one: an emulator's command, where the system cannot
 * start programs of this architecture by themselves. */
static const char *program_of(const at_worker *w) {
    const char *named = w->program ? w->program : secure_getenv("AUTOTUNE_WORKER");
    return named && *named ? named : this_program();
}

static pid_t spawn(const at_worker *w, int fd) {
    const char *program = program_of(w);
    char args[6][24], protocol[AT_PROTOCOL_BYTES];
    snprintf(args[0], sizeof args[0], "%d", fd);
    snprintf(args[1], sizeof args[1], "%d", at_store_read_fd(w->store));
    snprintf(args[2], sizeof args[2], "%d", w->cpu);
    snprintf(args[3], sizeof args[3], "%lld", (long long)w->memory_bytes);
    snprintf(args[4], sizeof args[4], "%ld", (long)getpid());
    snprintf(args[5], sizeof args[5], "%d", (int)w->sandbox);
    at_protocol_text(protocol);
    char *argv[] = {w->program ? (char *)program : program_invocation_name,
                    "--worker",
                    args[0],
                    args[1],
                    args[2],
                    args[3],
                    args[4],
                    args[5],
                    protocol,
                    NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fd,
                                     fd); /* clears close-on-exec there, and only there */
    posix_spawn_file_actions_adddup2(&files, at_store_read_fd(w->store),
                                     at_store_read_fd(w->store));
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    pid_t pid = 0;
    /* It starts where this process was given to run, whatever part of that it has left. */
    cpu_set_t here;
    bool elsewhere = !sched_getaffinity(0, sizeof here, &here);
    sched_setaffinity(0, sizeof(cpu_set_t), at_cpus_given());
    char **env = worker_environment();
    int failed = posix_spawn(&pid, program, &files, &attr, argv, env);
    free(env);
    if (elsewhere) sched_setaffinity(0, sizeof here, &here);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = failed;
    return failed ? 0 : pid;
}

/* *again: it was lost on the way, which another may not be. */
static at_status start_one(at_worker *w, bool *again, at_error *err) {
    int pair[2];
    *again = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        return at_fail(err, AT_E_BUG, "no worker: %s", strerror(errno));
    }
    pair[0] = at_fd_above_stdio(pair[0]);
    pair[1] = at_fd_above_stdio(pair[1]);
    pid_t pid = spawn(w, pair[1]);
    int why = errno;
    close(pair[1]);
    if (!pid) {
        close(pair[0]);
        return at_fail(err, AT_E_BUG, "no worker: %s: %s", program_of(w), strerror(why));
    }
    w->pid = pid;
    w->jobs = 0;
    w->has_anchor = false;
    w->fd = pair[0];
    at_channel c = {.fd = w->fd, .deadline_ns = at_awake_ns() + START_TIMEOUT_S * NS_PER_S};
    at_io io = at_msg_receive(&c, &w->reply);
    bool ready =
        io == AT_IO_OK && w->reply.type == AT_MSG_READY && w->reply.size_bytes == sizeof w->ready;
    if (ready) memcpy(&w->ready, w->reply.data, sizeof w->ready);
    bool refused = ready && w->ready.unconfined[0] && w->sandbox == AT_SANDBOX_REQUIRE;
    if (ready && !w->ready.why_not[0] && !refused) return AT_OK;
    at_worker_bury(w);
    *again = !ready;
    const char *named = w->program ? w->program : "the process";
    if (!ready) return at_fail(err, AT_E_BUG, "no worker: %s ended while starting", named);
    if (w->ready.why_not[0]) return at_fail(err, AT_E_BUG, "no worker: %s", w->ready.why_not);
    return at_fail(err, AT_E_USAGE, "--sandbox require: this system confines no process: %s",
                   w->ready.unconfined);
}

const char *at_worker_unconfined(const at_worker *w) {
    return w->ready.unconfined[0] ? w->ready.unconfined : NULL;
}

bool at_sandbox_from_name(const char *name, at_sandbox *out) {
    static const char *const names[] = {"auto", "require", "off"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (at_sandbox)i;
        return true;
    }
    return false;
}

static at_status start(at_worker *w, at_error *err) {
    at_status s = AT_OK;
    bool again = true;
    for (int i = 0; i < AT_WORKER_TRIES && again; i++) s = start_one(w, &again, err);
    return s;
}

/* What it was given to compile ahead is no job's fault. */
static void await_ahead(at_worker *w) {
    at_channel c = {.fd = w->fd, .deadline_ns = at_awake_ns() + START_TIMEOUT_S * NS_PER_S};
    for (; w->ahead > 0; w->ahead--)
        if (at_msg_receive(&c, &w->reply) != AT_IO_OK || w->reply.type != AT_MSG_AHEAD) {
            at_worker_bury(w);
            return;
        }
}

/* It may have been killed from outside since its last job: that costs nobody a trial. */
at_status at_worker_wake(at_worker *w, at_error *err) {
    await_ahead(w);
    if (w->jobs >= AT_JOBS_PER_WORKER) at_worker_bury(w);
    if (w->pid) {
        char byte;
        if (recv(w->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) return AT_OK;
        at_worker_bury(w);
    }
    return start(w, err);
}

at_status at_worker_new(const char *program, at_store *store, int cpu, int64_t memory_bytes,
                        at_sandbox sandbox, at_worker **out, at_error *err) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return at_fail(err, AT_E_BUG, "no worker: allowed CPUs unknown: %s", strerror(errno));
    }
    if (cpu >= 0 && (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set))) {
        return at_fail(err, AT_E_USAGE, "CPU %d is not one this process may use", cpu);
    }
    if (cpu < 0) at_cpu_cores(&cpu, 1);
    at_worker *w = calloc(1, sizeof *w);
    if (!w) at_out_of_memory(sizeof *w);
    w->store = store;
    w->program = program;
    w->arena = at_arena_new();
    w->cpu = cpu;
    w->sandbox = sandbox;
    w->memory_bytes = memory_bytes > 0 ? memory_bytes : at_cpu_most_bytes();
    w->fd = -1;
    at_status s = start(w, err);
    if (s != AT_OK) {
        at_worker_free(w);
        return s;
    }
    *out = w;
    return AT_OK;
}

void at_worker_rest(at_worker *w) { at_worker_bury(w); }

void at_worker_free(at_worker *w) {
    if (!w) return;
    at_worker_bury(w);
    for (int c = 0; c < AT_COMPILER_COUNT; c++) at_object_remove(w->control[c]);
    at_arena_free(w->arena);
    at_text_free(&w->text);
    free(w->reply.data);
    free(w);
}
