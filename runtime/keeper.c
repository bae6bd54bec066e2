/* runtime/keeper.c: a system compiler as a process of its own, in a folder of its own, and between
 * it and this program a keeper: whoever of the three dies, by whatever signal, nothing of the
 * others stays. The keeper makes the folder, starts the compiler, and cleans up once the parent has
 * taken the object or is gone; where the keeper itself is killed the parent does that. Commands of
 * the user's go the same way, without a folder. */
#include "runtime/runtime_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MESSAGES 65536 /* bytes kept of what a compiler says */
/* What a keeper does takes no time, but on a slow file system. */
#define BEGIN_NS (30 * NS_PER_S)
#define END_NS (2 * NS_PER_S)
#define LOOK_NS (NS_PER_S / 5) /* from one look at whether the compiler is stopped to the next */

/* The keeper's first word. */
typedef enum step { STARTED, FOLDER, SOURCE, ROOM, PROCESS } step;
typedef struct beginning {
    step failed; /* STARTED: nothing */
    int why;     /* errno */
    pid_t driver;
} beginning;
typedef struct ending {
    int status; /* as of waitpid */
    int64_t core_ns;
} ending;

/* ---- the folder ----------------------------------------------------------------------------- */

/* Everything in it is ours, also what a killed compiler has left behind. */
static void remove_folder(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(folder);
}

static bool write_source(const char *name, const char *source) {
    if (!source) return true;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t len = strlen(source), done = 0;
    while (fd >= 0 && done < len) {
        ssize_t n = write(fd, source + done, len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return fd >= 0 && !close(fd);
}

/* Takes so much room away; what the compiler writes must fit beside it. */
static int take_room(int64_t bytes) {
    int fd = open("room", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int why = posix_fallocate(fd, 0, bytes);
    close(fd);
    return why == EOPNOTSUPP ? 0 : why;
}

/* ---- in the children ------------------------------------------------------------------------ */

/* Between fork and exec: nothing but system calls. It starts others itself: one group, so that all
 * can be killed. */
static _Noreturn void become_compiler(const at_compilation *c, int messages, pid_t keeper) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rlim_t s = (rlim_t)c->timeout_s + 2;
    if (c->folder) setrlimit(RLIMIT_CPU, &(struct rlimit){s, s});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    if (getppid() != keeper || null < 0) _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(c->folder ? null : messages, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    close_range(3, ~0u, 0);
    execvpe(c->argv[0], c->argv, c->env);
    _exit(127);
}

static beginning start_driver(const at_compilation *c, int messages) {
    beginning b = {.failed = FOLDER};
    bool made = c->folder && !mkdir(c->folder, 0700), inside = made && !chdir(c->folder);
    b.why = errno;
    if (c->folder && !inside) {
        if (made) rmdir(c->folder);
        return b;
    }
    b.failed = SOURCE;
    if (!write_source("kernel.c", c->source) || !write_source("entry.c", c->entry))
        return b.why = errno, b;
    b.failed = ROOM;
    if (c->room_bytes && (b.why = take_room(c->room_bytes))) return b;
    pid_t keeper = getpid();
    b.failed = PROCESS;
    b.driver = fork();
    if (b.driver == 0) become_compiler(c, messages, keeper);
    if (b.driver < 0) return b.why = errno, b;
    setpgid(b.driver, b.driver); /* here too: a kill must not come before the child's own call */
    b.failed = STARTED;
    return b;
}

static int64_t ns_of(struct timeval t) { return t.tv_sec * NS_PER_S + t.tv_usec * 1000LL; }

static bool hear(int fd) {
    char byte;
    ssize_t n;
    do n = read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

/* parent: the socket; its end is that of the parent, or the parent's wish to be done. */
static _Noreturn void keep(const at_compilation *c, int messages, int parent) {
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGXFSZ};
    setpgid(0, 0); /* keys pressed at the terminal are the parent's business */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    beginning b = start_driver(c, messages);
    for (int fd = 0; fd < 3; fd++)
        if (fd != parent) close(fd);
    close_range(3, (unsigned)parent - 1, 0);
    close_range((unsigned)parent + 1, ~0u, 0);
    send(parent, &b, sizeof b, MSG_NOSIGNAL);
    if (b.failed == STARTED) {
        bool killed = !hear(parent);
        struct rusage used = {0};
        ending e = {0};
        if (killed) kill(-b.driver, SIGKILL);
        while (wait4(b.driver, &e.status, 0, &used) < 0 && errno == EINTR) {
        }
        /* What it had started has come to this process, and may still be at a file. */
        while (killed && (waitpid(-b.driver, NULL, 0) > 0 || errno == EINTR)) {
        }
        e.core_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
        send(parent, &e, sizeof e, MSG_NOSIGNAL);
        hear(parent); /* the end, when the object has been taken */
    }
    if (c->folder && b.failed != FOLDER) remove_folder(c->folder);
    _exit(0);
}

/* ---- in the parent -------------------------------------------------------------------------- */

/* Exactly so many bytes of the keeper's. */
static at_io receive(int fd, void *data, size_t size_bytes, int64_t deadline_ns,
                     const volatile int *stop) {
    size_t got = 0;
    while (got < size_bytes) {
        ssize_t n = recv(fd, (char *)data + got, size_bytes - got, MSG_DONTWAIT);
        if (n > 0) {
            got += (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) return AT_IO_CLOSED;
        if (at_is_stopped(stop)) return AT_IO_STOPPED;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = at_wait(&p, 1, deadline_ns);
        if (ready == AT_WAIT_LATE) return AT_IO_TIMEOUT;
        if (ready == AT_WAIT_FAILED) return AT_IO_CLOSED;
    }
    return AT_IO_OK;
}

/* Is one of its processes stopped, by whomever? */
static bool is_stopped(pid_t group) {
    DIR *all = opendir("/proc");
    bool stopped = false;
    for (struct dirent *e; all && !stopped && (e = readdir(all));) {
        char path[sizeof e->d_name + 16], text[512], state = 0;
        int of = 0;
        if (*e->d_name < '1' || *e->d_name > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        if (fd >= 0) close(fd);
        text[n > 0 ? n : 0] = 0;
        const char *name_end = strrchr(text, ')'); /* a name may hold anything */
        if (!name_end || sscanf(name_end + 1, " %c %*d %d", &state, &of) != 2) continue;
        stopped = of == group && state == 'T';
    }
    if (all) closedir(all);
    return stopped;
}

/* Collects messages until every process that could write one has ended. The limit stands still
 * while one of them is stopped. AT_IO_CLOSED: the keeper is no more. */
static at_io read_messages(int fd, int keeper, pid_t driver, at_text *text, int64_t deadline_ns,
                           const volatile int *stop) {
    int64_t looked_ns = at_awake_ns();
    for (;;) {
        struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = keeper}};
        if (at_is_stopped(stop)) return AT_IO_STOPPED;
        const int64_t since_ns = at_awake_ns() - looked_ns;
        if (since_ns > LOOK_NS) {
            if (is_stopped(driver)) deadline_ns += since_ns;
            looked_ns += since_ns;
        }
        int ready = at_wait(p, 2, deadline_ns);
        if (ready == AT_WAIT_LATE) return AT_IO_TIMEOUT;
        if (ready == AT_WAIT_FAILED || p[1].revents) return AT_IO_CLOSED;
        if (!p[0].revents) continue;
        char some[4096];
        ssize_t got = read(fd, some, sizeof some);
        if (got == 0 || (got < 0 && errno != EINTR)) return AT_IO_OK;
        if (got > 0 && text->len < MAX_MESSAGES) at_text_addn(text, some, (size_t)got);
    }
}

/* The object becomes a file in memory, which needs no cleaning up and runs where the folder's file
 * system lets nothing run. No object is no error here. */
static at_status take_object(const at_compilation *c, int *object, at_error *err) {
    char path[PATH_MAX], some[16384];
    snprintf(path, sizeof path, "%s/kernel.so", c->folder);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0 && (errno == ENOENT || errno == ENOTDIR)) return AT_OK;
    int to = from < 0 ? -1 : at_fd_above_stdio(memfd_create("autotune-kernel", MFD_CLOEXEC));
    ssize_t n = from < 0 || to < 0 ? -1 : 0;
    while (n >= 0 && (n = read(from, some, sizeof some)) > 0)
        for (ssize_t done = 0, put; done < n; done += put) {
            put = write(to, some + done, (size_t)(n - done));
            if (put < 0) {
                n = -1;
                break;
            }
        }
    int why = errno;
    if (from >= 0) close(from);
    if (n == 0) return *object = to, AT_OK;
    if (to >= 0) close(to);
    return at_fail(err, AT_E_BUG, "%s: cannot take its object file into memory: %s", c->argv[0],
                   strerror(why));
}

static at_status fail_beginning(const at_compilation *c, const beginning *b, at_error *err) {
    const char *why = strerror(b->why), *name = c->argv[0];
    if (b->failed == PROCESS)
        return at_fail(err, AT_E_BUG, "%s: cannot start a process: %s", name, why);
    const char *what = b->failed == FOLDER   ? "no temporary folder"
                       : b->failed == SOURCE ? "no temporary file"
                                             : "no room for temporary files";
    bool disk = b->why != EMFILE && b->why != ENFILE && b->why != ENOMEM;
    return at_fail(err, disk ? AT_E_OUTPUT : AT_E_BUG, "%s: %s in %.*s (TMPDIR): %s", name, what,
                   (int)(strrchr(c->folder, '/') - c->folder), c->folder, why);
}

static at_status talk(const at_compilation *c, int keeper, int said, pid_t *driver,
                      at_compiled *out, at_error *err) {
    beginning b = {0};
    out->io = receive(keeper, &b, sizeof b, at_awake_ns() + BEGIN_NS, c->stop);
    *driver = b.driver;
    if (out->io == AT_IO_OK && b.failed != STARTED) return fail_beginning(c, &b, err);
    if (out->io == AT_IO_TIMEOUT) out->io = AT_IO_CLOSED;
    const int64_t deadline_ns = at_awake_ns() + (int64_t)(c->timeout_s * 1e9);
    if (out->io == AT_IO_OK)
        out->io = read_messages(said, keeper, b.driver, &out->text, deadline_ns, c->stop);
    if (out->io == AT_IO_OK && send(keeper, "e", 1, MSG_NOSIGNAL) != 1) out->io = AT_IO_CLOSED;
    ending e = {0};
    if (out->io == AT_IO_OK)
        out->io = receive(keeper, &e, sizeof e, at_awake_ns() + BEGIN_NS, c->stop);
    out->status = e.status;
    out->core_ns = e.core_ns;
    if (c->folder && out->io == AT_IO_OK && !out->status) return take_object(c, &out->object, err);
    return AT_OK;
}

/* Whatever the keeper waits for, it ends now. Where it was killed, or is stopped, all that it would
 * have done is done here. */
static void end_keeper(const at_compilation *c, pid_t keeper, pid_t driver, int socket) {
    const int64_t deadline_ns = at_awake_ns() + END_NS;
    int status = 0;
    char rest;
    at_io io;
    shutdown(socket, SHUT_WR);
    do io = receive(socket, &rest, 1, deadline_ns, NULL);
    while (io == AT_IO_OK);
    if (io != AT_IO_CLOSED) kill(keeper, SIGKILL);
    while (waitpid(keeper, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(status)) return;
    if (driver > 0) kill(-driver, SIGKILL);
    if (c->folder) remove_folder(c->folder);
}

static at_status fail_start(const at_compilation *c, int why, at_error *err) {
    return at_fail(err, AT_E_BUG, "%s: cannot start a process: %s", c->argv[0], strerror(why));
}

at_status at_compiler_run(const at_compilation *c, at_compiled *out, at_error *err) {
    int said[2], pair[2];
    *out = (at_compiled){0};
    if (pipe2(said, O_CLOEXEC)) return fail_start(c, errno, err);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        int why = errno;
        close(said[0]), close(said[1]);
        return fail_start(c, why, err);
    }
    for (int i = 0; i < 2; i++)
        said[i] = at_fd_above_stdio(said[i]), pair[i] = at_fd_above_stdio(pair[i]);
    pid_t pid = fork();
    int why = errno;
    if (pid == 0) keep(c, said[1], pair[1]);
    close(said[1]);
    close(pair[1]);
    pid_t driver = 0;
    at_status s = pid < 0 ? fail_start(c, why, err) : talk(c, pair[0], said[0], &driver, out, err);
    close(said[0]);
    if (pid > 0) end_keeper(c, pid, driver, pair[0]);
    close(pair[0]);
    return s;
}

/* ---- its folder and environment -------------------------------------------------------------- */

at_status at_compiler_folder(at_arena *a, const char *compiler, char **folder, at_error *err) {
    const char *tmp = getenv("TMPDIR");
    char absolute[PATH_MAX];
    uint64_t number = 0;
    if (!tmp || !*tmp) tmp = "/tmp";
    if (!realpath(tmp, absolute))
        return at_fail(err, AT_E_OUTPUT, "%s: no temporary folder in %s (TMPDIR): %s", compiler,
                       tmp, strerror(errno));
    /* Both processes know the name before there is a folder; where it is taken, mkdir says so. */
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)at_now_ns() ^ (uint64_t)getpid() << 40;
    *folder = at_format(a, "%s/autotune-%016llx", absolute, (unsigned long long)number);
    return AT_OK;
}
