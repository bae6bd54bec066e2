/* runtime/object.c: the same kernel through the system's compilers: C text to a shared object in
 * memory, under a time limit. A text is to blame only where another compiles on this machine. */
#include "runtime/runtime_int.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FLAGS 64
#define DEFAULT_TIMEOUT_S 10
#define CONTROL_TIMEOUT_S 60 /* generous: it takes a tenth of a second */
#define MOST_TRIES 2
/* What a compiler writes on the way: its assembly and two objects (measured: 3 to 8 times the
 * text), and as much again. */
#define ROOM_PER_BYTE 16
#define LEAST_ROOM (1 << 20)

static const char *const names[AT_COMPILER_COUNT] = {"tcc", "gcc", "clang"};

const char *at_compiler_name(at_compiler c) { return names[c]; }

bool at_compiler_from_name(const char *name, at_compiler *out) {
    for (int i = 0; i < AT_COMPILER_COUNT; i++) {
        if (!strcmp(name, names[i])) return *out = (at_compiler)i, true;
    }
    return false;
}

/* The file that is started by the compiler's name. */
static bool find_program(const char *name, char file[PATH_MAX]) {
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(file, PATH_MAX, "%s", name);
        return !access(file, X_OK);
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(file, PATH_MAX, "%.*s/%s", (int)n, path, name);
        if (!access(file, X_OK)) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

bool at_compiler_available(at_compiler c) {
    char file[PATH_MAX];
    return c == AT_TCC || find_program(names[c], file); /* TinyCC is linked in */
}

bool at_program_is_there(const char *program) {
    char file[PATH_MAX];
    return find_program(program, file);
}

static int tcc_version; /* 927: 0.9.27 */

static void find_tcc_version(void) {
    void *v;
    if (at_compile_data("int version = __TINYC__;", NULL, 0, "version", &v, NULL) == AT_OK)
        tcc_version = *(int *)v;
}

/* ---- one run of the compiler ---------------------------------------------------------------- */

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

static bool speaks_of_error(const char *line, size_t n) {
    static const char *const words[] = {"error", "Error: ", "undefined reference"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(line, n, words[i], strlen(words[i]))) return true;
    return false;
}

/* The first line that speaks of an error; gfortran says in a line before it where the error is.
 * Where none does, as of a wrapper that somebody put in the compiler's place, all lines. */
static void add_message(at_text *out, const char *text) {
    const char *place = NULL;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const size_t n = strcspn(p, "\n");
        if (n && p[n - 1] == ':') place = p;
        if (!speaks_of_error(p, n)) continue;
        if (place && (!strncmp(p, "Error: ", 7) || !strncmp(p, "Fatal Error: ", 13)))
            at_text_addf(out, "%.*s ", (int)strcspn(place, "\n"), place);
        at_text_addn(out, p, n);
        return;
    }
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += strspn(p, "\n")) {
        if (out->len) at_text_add(out, " / ");
        at_text_addn(out, p, strcspn(p, "\n"));
    }
}

static void fail(at_object *out, at_job_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(at_object *out, at_job_end end, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    out->end = end;
    vsnprintf(out->error, sizeof out->error, fmt, ap);
    va_end(ap);
}

static void judge(const char *name, double timeout_s, at_compiled *c, at_object *out) {
    /* How soon this process has read the answer decides nothing. */
    if (c->io == AT_IO_TIMEOUT || (double)c->core_ns > timeout_s * 1e9) {
        fail(out, AT_JOB_COMPILE_TIMEOUT, "%s exceeded %g s", name, timeout_s);
    } else if (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 127 && !c->text.len) {
        fail(out, AT_JOB_NOT_COMPILED, "%s: cannot be started", name);
    } else if (c->status || !c->object) {
        at_text said = {0};
        add_message(&said, at_text_str(&c->text));
        if (!said.len)
            at_text_addf(&said, "ended without an object or a message, with %s %d",
                         WIFEXITED(c->status) ? "exit code" : "signal",
                         WIFEXITED(c->status) ? WEXITSTATUS(c->status) : WTERMSIG(c->status));
        fail(out, AT_JOB_NOT_COMPILED, "%s: %s", name, at_text_str(&said));
        at_text_free(&said);
    } else {
        out->path = at_format(out->arena, "/proc/%ld/fd/%d", (long)getpid(), c->object);
        c->object = 0;
    }
}

/* Once, or twice where its keeper was killed from outside. */
static at_status run_both(at_arena *a, const char *source, const char *entry, char **argv,
                          double timeout_s, int64_t room_bytes, const volatile int *stop,
                          at_object *out, at_error *err) {
    const char *name = at_base_name(argv[0]);
    at_compiled done = {.io = AT_IO_CLOSED};
    for (int i = 0; i < MOST_TRIES && done.io == AT_IO_CLOSED; i++) {
        char *folder;
        int64_t begin_ns = at_now_ns();
        *out = (at_object){.arena = a};
        AT_TRY(at_compiler_folder(a, name, &folder, err));
        at_compilation c = {.argv = argv,
                            .env = environment(a, folder),
                            .folder = folder,
                            .source = source,
                            .entry = entry,
                            .timeout_s = timeout_s,
                            .room_bytes = room_bytes,
                            .stop = stop};
        at_status s = at_compiler_run(&c, &done, err);
        if (s == AT_OK && (done.io == AT_IO_OK || done.io == AT_IO_TIMEOUT))
            judge(name, timeout_s, &done, out);
        if (done.object) close(done.object);
        at_text_free(&done.text);
        out->compile_ns = at_now_ns() - begin_ns;
        AT_TRY(s);
    }
    if (done.io == AT_IO_STOPPED) return at_fail_stopped(err);
    if (done.io == AT_IO_CLOSED)
        return at_fail(err, AT_E_BUG, "%s: the process that started it was killed", name);
    return AT_OK;
}

static at_status run(at_arena *a, const char *source, char **argv, double timeout_s,
                     int64_t room_bytes, const volatile int *stop, at_object *out, at_error *err) {
    return run_both(a, source, NULL, argv, timeout_s, room_bytes, stop, out, err);
}

/* ---- its version ---------------------------------------------------------------------------- */

/* Runs a compiler without a text. *said: its words; NULL: it did not come to its end. Where it
 * cannot be asked, building says what is wrong with the machine. *how: without object and text. */
static at_status ask(at_arena *a, char **argv, double timeout_s, const volatile int *stop,
                     const char **said, at_compiled *how, at_error *err) {
    char *folder;
    *said = NULL;
    *how = (at_compiled){0};
    if (at_compiler_folder(a, argv[0], &folder, NULL) != AT_OK) return AT_OK;
    at_compilation asked = {.argv = argv,
                            .env = environment(a, folder),
                            .folder = folder,
                            .timeout_s = timeout_s,
                            .stop = stop};
    at_status s = at_compiler_run(&asked, how, NULL);
    if (s == AT_OK && how->io == AT_IO_OK) *said = at_strdup(a, at_text_str(&how->text));
    at_text_free(&how->text);
    if (how->object) close(how->object);
    if (how->io == AT_IO_STOPPED) return at_fail_stopped(err);
    return AT_OK;
}

at_status at_compiler_version(at_arena *a, at_compiler c, double timeout_s,
                              const volatile int *stop, const char **out, at_error *err) {
    static const char *const options[AT_COMPILER_COUNT] = {
        [AT_GCC] = "-dumpfullversion",
        [AT_CLANG] = "-dumpversion",
    };
    *out = "";
    if (c == AT_TCC) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, find_tcc_version);
        if (tcc_version) *out = at_format(a, "0.%d.%d", tcc_version / 100, tcc_version % 100);
        return AT_OK;
    }
    char *question =
        at_format(a, "v=$(%s %s 2>/dev/null) && echo \"$v\" >&2", names[c], options[c]);
    char *argv[] = {"sh", "-c", question, NULL};
    const char *said;
    at_compiled how;
    AT_TRY(ask(a, argv, timeout_s, stop, &said, &how, err));
    if (said && !how.status) *out = at_strndup(a, said, strcspn(said, "\n"));
    if (how.io == AT_IO_TIMEOUT)
        return at_fail(err, AT_E_BUG,
                       "%s: its version is not told within %g s; --timeout gives more", names[c],
                       timeout_s);
    return AT_OK;
}

/* ---- who is to blame ------------------------------------------------------------------------ */

/* Does the compiler, with these flags, make an object of a text that is right, with as much room as
 * this one may have needed? */
static at_status check_machine(at_arena *a, const char *source, char **argv,
                               const volatile int *stop, at_error *err) {
    int64_t room = LEAST_ROOM + ROOM_PER_BYTE * (int64_t)strlen(source);
    at_object control;
    AT_TRY(run(a, at_control_source, argv, CONTROL_TIMEOUT_S, room, stop, &control, err));
    at_object_remove(control.path);
    if (!control.end) return AT_OK;
    char file[PATH_MAX];
    return at_fail(
        err, AT_E_BUG, "%s compiles nothing here, not even a kernel that is right: %s (%s is %s)",
        argv[0], control.error, argv[0], find_program(argv[0], file) ? file : "nowhere in PATH");
}

at_status at_build_object(at_arena *a, at_compiler c, const char *source, const char *flags,
                          double timeout_s, const volatile int *stop, at_object *out,
                          at_error *err) {
    AT_ASSERT(c != AT_TCC);
    *out = (at_object){.arena = a};
    if (timeout_s <= 0) timeout_s = DEFAULT_TIMEOUT_S;
    char *argv[MAX_FLAGS + 8] = {(char *)names[c], "-shared", "-fPIC", "-o",
                                 "kernel.so",      "kernel.c"};
    int n = split_flags(at_strdup(a, flags ? flags : ""), argv, 6);
    if (n < 0) {
        fail(out, AT_JOB_NOT_COMPILED, "%s: more than %d flags", names[c], MAX_FLAGS - 6);
        return AT_OK;
    }
    argv[n] = "-lm";
    AT_TRY(run(a, source, argv, timeout_s, 0, stop, out, err));
    if (!out->end) return AT_OK;
    AT_TRY(check_machine(a, source, argv, stop, err));
    /* What was short a moment ago may be there again. */
    if (out->end == AT_JOB_COMPILE_TIMEOUT) return AT_OK;
    return run(a, source, argv, timeout_s, 0, stop, out, err);
}

/* ---- what somebody wrote --------------------------------------------------------------------- */

at_status at_build_run(at_arena *a, const at_build *b, at_object *out, at_error *err) {
    double timeout_s = b->timeout_s > 0 ? b->timeout_s : DEFAULT_TIMEOUT_S;
    char **argv = AT_NEW_ARRAY(a, char *, b->num_words + 2);
    char *plain[] = {(char *)b->program, "-shared", "-fPIC", "-o", "kernel.so", "-x", "c",
                     "kernel.c",         NULL};
    argv[0] = (char *)b->program;
    for (int i = 0; i < b->num_words; i++) argv[i + 1] = (char *)b->words[i];
    AT_TRY(run_both(a, b->source, b->entry, argv, timeout_s, 0, b->stop, out, err));
    if (!out->end || out->end == AT_JOB_COMPILE_TIMEOUT) return AT_OK;
    return check_machine(a, b->source, plain, b->stop, err);
}

at_status at_program_version(at_arena *a, const char *program, double timeout_s,
                             const volatile int *stop, const char **out, at_error *err) {
    char *argv[] = {(char *)program, "-v", NULL};
    const char *said;
    at_compiled how;
    *out = "";
    AT_TRY(ask(a, argv, timeout_s, stop, &said, &how, err));
    for (const char *p = said; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *found = strstr(p, "version ");
        size_t n = strcspn(p, "\n");
        if (found && found < p + n && !**out) *out = at_strndup(a, p, n < 120 ? n : 120);
    }
    return AT_OK;
}

void *at_object_bytes(const char *path, size_t *n) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    for (*n = 0; bytes && *n < (size_t)size;) {
        ssize_t got = pread(fd, bytes + *n, (size_t)size - *n, (off_t)*n);
        if (got <= 0) {
            free(bytes);
            bytes = NULL;
        } else *n += (size_t)got;
    }
    if (fd >= 0) close(fd);
    return bytes;
}

at_status at_object_of_bytes(at_arena *a, const void *bytes, size_t n, char **path, at_error *err) {
    int fd = at_fd_above_stdio(memfd_create("autotune-kernel", MFD_CLOEXEC));
    for (size_t done = 0; fd >= 0 && done < n;) {
        ssize_t put = write(fd, (const char *)bytes + done, n - done);
        if (put < 0) {
            close(fd);
            fd = -1;
        } else done += (size_t)put;
    }
    if (fd < 0) return at_fail(err, AT_E_BUG, "no memory for an object");
    *path = at_format(a, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return AT_OK;
}

void at_object_remove(const char *path) {
    int fd;
    if (path && sscanf(path, "/proc/%*d/fd/%d", &fd) == 1) close(fd);
}
