/* tests/cli/cli_test.c: commands through a shell, both outputs caught in files. */
#include "tests/cli/cli_test.h"
#include "tests/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/autotune-test-XXXXXX", home[PATH_MAX];
static at_arena *arena;
static cli_result last;
static char command_line[8192];

/* Whatever the user's terminal, language and zone are, and what files the caller has left open. */
static void plain_environment(void) {
    static const char *const of_user[] = {"LC_ALL",  "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC",
                                          "LANG",    "LANGUAGE", "TERM",        "NO_COLOR",
                                          "COLUMNS", "LINES"};
    for (size_t i = 0; i < sizeof of_user / sizeof *of_user; i++) unsetenv(of_user[i]);
    setenv("TZ", "UTC", 1);
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int cli_setup(void **state) {
    (void)state;
    plain_environment();
    char program[PATH_MAX];
    const char *path = getenv("AUTOTUNE");
    arena = at_arena_new();
    if (!realpath(path ? path : "autotune", program)) return -1;
    if (!getcwd(home, sizeof home) || !mkdtemp(folder) || chdir(folder)) return -1;
    char cache[PATH_MAX]; /* whatever the user has in his own */
    snprintf(cache, sizeof cache, "%s/.cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    return symlink(program, "autotune");
}

int cli_teardown(void **state) {
    (void)state;
    char command[PATH_MAX];
    if (chdir(home)) return -1;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    at_arena_free(arena);
    return system(command);
}

bool cli_has_numpy(void) { return !system("python3 -c 'import numpy' 2>/dev/null"); }

bool cli_as_if_installed(void) {
    const char *program = getenv("AUTOTUNE");
    char build[PATH_MAX];
    if (!realpath(at_format(arena, "%s/%s", *program == '/' ? "" : home, program), build))
        return false;
    *strrchr(build, '/') = 0;
    /* Debian's NumPy is for Debian's Python. */
    if (!cli_has_numpy() && !system("/usr/bin/python3 -c 'import numpy' 2>/dev/null"))
        setenv("PATH", at_format(arena, "/usr/bin:%s", getenv("PATH")), 1);
    setenv("C_INCLUDE_PATH", at_format(arena, "%s/library", home), 1);
    setenv("LIBRARY_PATH", build, 1);
    setenv("LD_LIBRARY_PATH", build, 1);
    setenv("PYTHONPATH", at_format(arena, "%s/python", home), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("AUTOTUNE_WORKER", at_format(arena, "%s/autotune-worker", build), 1);
    setenv("AUTOTUNE_BUILD", build, 1);
    return !system(at_format(
        arena, "nm -D '%s/libautotune.so.1' 2>/dev/null | grep -q '__[a-z]*san_'", build));
}

static char *read_in(at_arena *a, const char *path) {
    char *text;
    size_t len;
    at_error err;
    if (read_whole(a, path, &text, &len, &err) != AT_OK) fail_msg("%s", err.text);
    return text;
}

char *cli_read(const char *path) { return read_in(arena, path); }

char *cli_source(at_arena *a, const char *path) {
    return read_in(a, at_format(a, "%s/%s", home, path));
}

void cli_write(const char *path, const char *text) {
    at_error err;
    if (at_write_file(path, text, strlen(text), &err) != AT_OK) fail_msg("%s", err.text);
}

void cli_write_faulty_gcc(const char *fault) {
    char text[1000];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "grep -q kernel_entry kernel.c || exec \"$REAL_GCC\" \"$@\"\n"
             "cat >fault.c <<'END'\n"
             "int real_entry(void *const buf[], void *workspace, void *par);\n"
             "int kernel_entry(void *const buf[], void *workspace, void *par) {\n"
             "    int failed = real_entry(buf, workspace, par);\n"
             "    %s\n"
             "    return failed;\n"
             "}\n"
             "END\n"
             "\"$REAL_GCC\" -Dkernel_entry=real_entry -c -O2 -fPIC -o real.o kernel.c || exit 1\n"
             "exec \"$REAL_GCC\" -shared -fPIC -o kernel.so fault.c real.o -lm\n",
             fault);
    cli_run("mkdir -p bin");
    cli_write("bin/gcc", text);
    cli_run("chmod +x bin/gcc");
}

static void run_once(void) {
    at_arena_reset(arena);
    char *line = at_format(arena, "{ %s\n} >.out 2>.err", command_line);
    int status = system(line);
    last.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    last.out = cli_read(".out");
    last.err = cli_read(".err");
}

/* Where workers of another test have all cores (--on local:1), once more, for half a minute. */
static const cli_result *run(const char *fmt, va_list ap) {
    enum { TRIES = 100, PAUSE_US = 300000 };
    if (vsnprintf(command_line, sizeof command_line, fmt, ap) >= (int)sizeof command_line)
        fail_msg("a command is too long: %.200s", command_line);
    run_once();
    for (int i = 1; i < TRIES && last.status && strstr(last.err, "not claimed by others"); i++) {
        usleep(PAUSE_US);
        run_once();
    }
    return &last;
}

const cli_result *cli_run(const char *command, ...) {
    va_list ap;
    va_start(ap, command);
    run(command, ap);
    va_end(ap);
    return &last;
}

int cli_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

bool cli_has_xgb(void) {
    static int known; /* 1: yes, -1: no */
    if (!known) known = cli_run("./autotune list | grep -q '^  xgb '")->status ? -1 : 1;
    return known > 0;
}

bool cli_knows_cpu(void) {
    const cli_result *r =
        cli_run("./autotune show dense --args M=16,N=16,K=16 --config default --why");
    if (r->status == 0) return true;
    assert_int_equal(r->status, 2);
    assert_non_null(strstr(r->err, "no facts of this CPU ("));
    assert_non_null(strstr(r->err, "znver4"));
    print_message("no facts of this CPU: --why and --prune are left out\n");
    return false;
}

const cli_result *cli_expect(int status, const char *command, ...) {
    va_list ap;
    va_start(ap, command);
    run(command, ap);
    va_end(ap);
    if (last.status != status)
        fail_msg("%s\nexit status %d, not %d\nstdout: %s\nstderr: %s", command_line, last.status,
                 status, last.out, last.err);
    return &last;
}

const at_json *cli_json(void) {
    const at_json *json;
    at_error err;
    if (at_json_parse(arena, last.out, strlen(last.out), &json, &err) != AT_OK)
        fail_msg("%s in: %s", err.text, last.out);
    assert_int_equal(json->kind, AT_JSON_OBJECT);
    return json;
}

const at_json *cli_member(const at_json *object, const char *path) {
    const at_json *value = object;
    char *rest = at_strdup(arena, path);
    for (char *word; (word = strsep(&rest, ".")) && value;) value = at_json_get(value, word);
    if (!value) fail_msg("no member %s in: %s", path, last.out);
    return value;
}

double cli_number(const at_json *object, const char *path) {
    const at_json *v = cli_member(object, path);
    assert_int_equal(v->kind, AT_JSON_NUMBER);
    return v->number;
}

at_arena *cli_arena(void) { return arena; }

int cli_count_lines(const char *text, const char *beginning) {
    int n = 0;
    for (const char *line = text; line && *line;) {
        n += !strncmp(line, beginning, strlen(beginning));
        line = strchr(line, '\n');
        if (line) line++;
    }
    return n;
}

char *cli_trials(const char *log) {
    cli_run("grep '^{' %s | grep -v '\"part\": \"anchor\"' >.trials", log);
    return cli_read(".trials");
}

void cli_expect_verified(const char *log, const char *more) {
    cli_expect(0, "sed -E '%s' %s >claimed.log", CLI_SLOW_CLAIM, log);
    const char *out = cli_expect(0, "./autotune verify claimed.log %s", more)->out;
    assert_int_not_equal(cli_count_lines(out, "  reproduced: was "), 0);
}

void cli_wait_for_processes(void) {
    while (cli_processes()) usleep(10000);
}

const cli_result *cli_expect_within(const char *command, const char *log) {
    for (double s = 0.7;; s *= 10) {
        cli_run("rm -f %s; %s --log %s --time %gs", log, command, log, s);
        if (!last.status) return &last;
        if (s > 100 || !strstr(last.err, "the time ended first"))
            fail_msg("%s: exit status %d\n%s", command, last.status, last.err);
    }
}

int cli_processes(void) {
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    int n = 0;
    for (struct dirent *e; (e = readdir(proc));) {
        char link[300], cwd[PATH_MAX];
        snprintf(link, sizeof link, "/proc/%s/cwd", e->d_name);
        ssize_t len = readlink(link, cwd, sizeof cwd - 1);
        if (len < 0 || atoi(e->d_name) == getpid() || atoi(e->d_name) == 0) continue;
        cwd[len] = 0;
        n += !strcmp(cwd, folder);
    }
    closedir(proc);
    return n;
}

void cli_write_array(const char *path, const char *descr, int rows, int columns,
                     const char *element, int bytes) {
    FILE *f = fopen(path, "wb");
    char header[118];
    assert_non_null(f);
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }",
             descr, rows, columns);
    fprintf(f, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    for (int i = 0; i < rows * columns; i++) fwrite(element, 1, (size_t)bytes, f);
    assert_int_equal(fclose(f), 0);
}
