/* runtime/object.c: the same kernel through the system's compilers: C text to a shared object in a
 * private folder, under a time limit. */
#include "runtime/runtime_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FLAGS 64
#define MAX_MESSAGES 65536 /* bytes kept of what a compiler says */
#define DEFAULT_TIMEOUT_S 10
#define STOP_SLICE_MS 50 /* how late an interrupt may be seen that arrives just before poll() */

static const char *const names[AT_COMPILER_COUNT] = {"tcc", "gcc", "clang"};

const char *at_compiler_name(at_compiler c) { return names[c]; }

bool at_compiler_from_name(const char *name, at_compiler *out) {
    for (int i = 0; i < AT_COMPILER_COUNT; i++) {
        if (!strcmp(name, names[i])) return *out = (at_compiler)i, true;
    }
    return false;
}

bool at_compiler_available(at_compiler c) {
    if (c == AT_TCC) return true; /* linked in */
    const char *path = getenv("PATH");
    while (path && *path) {
        char file[PATH_MAX];
        size_t n = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, path, names[c]);
        if (!access(file, X_OK)) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

const char *at_compiler_version(at_arena *a, at_compiler c) {
    static const char *const commands[AT_COMPILER_COUNT] = {
        [AT_GCC] = "gcc -dumpfullversion 2>/dev/null",
        [AT_CLANG] = "clang -dumpversion 2>/dev/null",
    };
    char text[64] = "";
    if (c == AT_TCC) { /* 927: 0.9.27 */
        void *v;
        if (at_compile_data("int version = __TINYC__;", NULL, 0, "version", &v, NULL) != AT_OK)
            return "";
        return at_format(a, "0.%d.%d", *(int *)v / 100, *(int *)v % 100);
    }
    FILE *f = popen(commands[c], "re");
    if (!f) return "";
    if (!fgets(text, sizeof text, f)) *text = 0;
    pclose(f);
    text[strcspn(text, "\n")] = 0;
    return at_strdup(a, text);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static char *in_folder(at_arena *a, const char *folder, const char *file) {
    return at_format(a, "%s/%s", folder, file);
}

/* Absolute, since the worker opens what is in it; NULL if there is none to have. */
static char *make_folder(at_arena *a) {
    const char *tmp = getenv("TMPDIR");
    char absolute[PATH_MAX];
    if (!realpath(tmp && *tmp ? tmp : "/tmp", absolute)) return NULL;
    return mkdtemp(in_folder(a, absolute, "autotune-XXXXXX"));
}

/* Everything in it is ours, also what a killed compiler has left behind. */
static void remove_folder(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(folder);
}

void at_object_remove(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash) return;
    *slash = 0;
    remove_folder(folder);
}

static bool write_source(const char *path, const char *source) {
    FILE *f = fopen(path, "we");
    if (!f) return false;
    bool written = fputs(source, f) >= 0;
    return !fclose(f) && written;
}

/* ---- the compiler --------------------------------------------------------------------------- */

static int split_flags(char *flags, char **argv, int n) {
    char *rest;
    for (char *f = strtok_r(flags, " ", &rest); f; f = strtok_r(NULL, " ", &rest)) {
        if (n == MAX_FLAGS) return -1;
        argv[n++] = f;
    }
    return n;
}

/* Ours, but for the folder of temporary files and the language of messages. */
static char **environment(at_arena *a, const char *folder) {
    AT_VEC(char *) env = {0};
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "TMPDIR=", 7) && strncmp(*e, "LC_ALL=", 7)) *at_push(a, &env) = *e;
    }
    *at_push(a, &env) = at_format(a, "TMPDIR=%s", folder);
    *at_push(a, &env) = "LC_ALL=C";
    *at_push(a, &env) = NULL;
    return env.data;
}

/* In the grandchild, between fork and exec: nothing but system calls. It starts others itself: one
 * group, so that all can be killed. */
static _Noreturn void become_compiler(char **argv, char **env, const char *folder, int messages,
                                      pid_t parent, double timeout_s) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rlim_t s = (rlim_t)timeout_s + 2;
    setrlimit(RLIMIT_CPU, &(struct rlimit){s, s});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    if (getppid() != parent || chdir(folder) || null < 0) _exit(127);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    close_range(3, ~0u, 0);
    execvpe(argv[0], argv, env);
    _exit(127);
}

/* In the child: ends the compiler and all that it has started once the other end of `life` is
 * closed, as it is however this program dies; a byte says instead that it has ended. */
static _Noreturn void keep_compiler(pid_t driver, int life, const char *folder, pid_t parent) {
    char byte;
    int status = 0;
    ssize_t n;
    close_range(3, (unsigned)life - 1, 0);
    close_range((unsigned)life + 1, ~0u, 0);
    do n = read(life, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n <= 0) kill(-driver, SIGKILL);
    while (waitpid(driver, &status, 0) < 0 && errno == EINTR) {
    }
    if (getppid() != parent) remove_folder(folder);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 126);
}

/* Collects messages until every process that could write one has ended. Or an at_err_no: the time
 * is up, or *stop is set. */
static int read_messages(int fd, at_text *text, int64_t deadline_ns, const volatile int *stop) {
    for (;;) {
        int64_t left_ms = (deadline_ns - at_now_ns()) / 1000000;
        if (left_ms < 0) return AT_ERR_BUILD_TIMEOUT;
        if (stop && *stop) return AT_ERR_UNKNOWN;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, left_ms < STOP_SLICE_MS ? (int)left_ms + 1 : STOP_SLICE_MS);
        if (n < 0 && errno != EINTR) return AT_ERR_NONE;
        if (n <= 0) continue;
        char some[4096];
        ssize_t got = read(fd, some, sizeof some);
        if (got == 0 || (got < 0 && errno != EINTR)) return AT_ERR_NONE;
        if (got > 0 && text->len < MAX_MESSAGES) at_text_addn(text, some, (size_t)got);
    }
}

/* Starts the compiler and its keeper; returns the keeper's process, -1 if there is none. */
static pid_t start_compiler(char **argv, char **env, const char *folder, double timeout_s,
                            int messages, int life) {
    pid_t parent = getpid(), pid = fork();
    if (pid) return pid;
    setpgid(0, 0); /* keys pressed at the terminal are the parent's business */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    pid_t keeper = getpid(), driver = fork();
    if (driver == 0) become_compiler(argv, env, folder, messages, keeper, timeout_s);
    if (driver < 0) _exit(127);
    setpgid(driver, driver); /* here too: the kill must not come before the child's own call */
    close(STDIN_FILENO), close(STDOUT_FILENO), close(STDERR_FILENO);
    keep_compiler(driver, life, folder, parent);
}

/* 0, or an at_err_no; what the compiler said in text. */
static int compile(char **argv, char **env, const char *folder, double timeout_s,
                   const volatile int *stop, at_text *text, int *status) {
    int said[2], life[2];
    if (pipe2(said, O_CLOEXEC)) return AT_ERR_COMPILE_HOST;
    if (pipe2(life, O_CLOEXEC)) return close(said[0]), close(said[1]), AT_ERR_COMPILE_HOST;
    for (int i = 0; i < 2; i++)
        said[i] = at_fd_above_stdio(said[i]), life[i] = at_fd_above_stdio(life[i]);
    int64_t deadline_ns = at_now_ns() + (int64_t)(timeout_s * 1e9);
    pid_t pid = start_compiler(argv, env, folder, timeout_s, said[1], life[0]);
    int why = errno, failed = AT_ERR_COMPILE_HOST;
    close(said[1]);
    close(life[0]);
    if (pid < 0) at_text_addf(text, "cannot start %s: %s", argv[0], strerror(why));
    else failed = read_messages(said[0], text, deadline_ns, stop);
    close(said[0]);
    if (!failed && write(life[1], "e", 1) != 1) failed = AT_ERR_COMPILE_HOST;
    close(life[1]);
    pid_t done = pid;
    while (pid > 0 && (done = waitpid(pid, status, 0)) < 0 && errno == EINTR) {
    }
    if (done < 0) *status = 0; /* reaped by somebody else: the object's existence decides */
    return failed;
}

/* The first line that speaks of an error, else the first line. */
static void first_error(const char *text, const char *compiler, char *error, size_t error_size) {
    const char *line = text;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *found = strstr(p, "error");
        if (found && found < p + strcspn(p, "\n")) {
            line = p;
            break;
        }
    }
    snprintf(error, error_size, "%s: %.*s", compiler, (int)strcspn(line, "\n"), line);
}

int at_build_object(at_arena *a, at_compiler c, const char *source, const char *flags,
                    double timeout_s, const volatile int *stop, char **path, int64_t *compile_ns,
                    char *error, size_t error_size) {
    AT_ASSERT(c != AT_TCC);
    int64_t start = at_now_ns();
    *path = NULL;
    *compile_ns = 0;
    if (error_size) *error = 0;
    if (timeout_s <= 0) timeout_s = DEFAULT_TIMEOUT_S;
    char *argv[MAX_FLAGS + 8] = {(char *)names[c], "-shared", "-fPIC", "-o",
                                 "kernel.so",      "kernel.c"};
    int n = split_flags(at_strdup(a, flags ? flags : ""), argv, 6);
    if (n < 0) {
        snprintf(error, error_size, "%s: more than %d flags", names[c], MAX_FLAGS - 6);
        return AT_ERR_COMPILE_HOST;
    }
    argv[n] = "-lm";
    char *folder = make_folder(a);
    if (!folder || !write_source(in_folder(a, folder, "kernel.c"), source)) {
        snprintf(error, error_size, "%s: no temporary file: %s", names[c], strerror(errno));
        if (folder) remove_folder(folder);
        return AT_ERR_COMPILE_HOST;
    }
    at_text text = {0};
    int status = 0;
    int failed = compile(argv, environment(a, folder), folder, timeout_s, stop, &text, &status);
    char *object = in_folder(a, folder, "kernel.so");
    *compile_ns = at_now_ns() - start;
    if (failed == AT_ERR_BUILD_TIMEOUT) {
        snprintf(error, error_size, "%s exceeded %g s", names[c], timeout_s);
    } else if (failed == AT_ERR_UNKNOWN) {
        snprintf(error, error_size, "interrupted");
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !text.len) {
        failed = AT_ERR_COMPILE_HOST;
        snprintf(error, error_size, "%s: cannot be started", names[c]);
    } else if (failed || status || access(object, R_OK)) {
        failed = AT_ERR_COMPILE_HOST;
        first_error(text.len ? at_text_str(&text) : "ended without an object or a message",
                    names[c], error, error_size);
    } else {
        *path = object;
    }
    at_text_free(&text);
    if (failed) remove_folder(folder);
    return failed;
}
