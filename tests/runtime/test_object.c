/* The same kernels through gcc and clang, and what is left in the temporary folder afterwards:
 * nothing. */
#include "rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char tmp[] = "/tmp/at-test-XXXXXX";
static at_arena *arena;

static int count_files(void) {
    DIR *d = opendir(tmp);
    assert_non_null(d);
    int n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2; /* itself and its parent */
}

static int build(at_compiler c, const char *source, const char *flags, double timeout_s,
                 char **path, char error[1024]) {
    at_object made;
    at_error err = {0};
    if (at_build_object(arena, c, source, flags, timeout_s, NULL, &made, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (!made.end) assert_true(made.compile_ns > 0);
    *path = made.path;
    snprintf(error, 1024, "%s", made.error);
    return made.end;
}

/* Nothing is learnt about a text on a machine that has not got what a compiler needs. */
static void expect_no_machine(at_status status, const char *flags, const char *text) {
    at_object made;
    at_error err = {0};
    assert_int_equal(at_build_object(arena, AT_GCC, "int x;\n", flags, 60, NULL, &made, &err),
                     status);
    if (!strstr(err.text, text)) fail_msg("text \"%s\" lacks \"%s\"", err.text, text);
    assert_null(made.path);
}

static void builds_and_runs(void **state) {
    rig *r = *state;
    for (int c = AT_GCC; c < AT_COMPILER_COUNT; c++) {
        if (!at_compiler_available((at_compiler)c)) continue;
        char *path, error[1024];
        if (build((at_compiler)c, KERNEL(ADD), "-O3  -Wall -Wextra -Werror", 60, &path, error))
            fail_msg("%s", error);
        assert_string_equal(error, "");
        r->job.compiler = (at_compiler)c;
        r->job.object = path;
        for (int paranoid = 0; paranoid < 2; paranoid++) {
            r->job.paranoid = paranoid;
            rig_expect(r, NULL, AT_JOB_RAN, "");
        }
        r->job.entry = "nothing";
        rig_expect(r, NULL, AT_JOB_NOT_COMPILED, "the code defines no function 'nothing'");
        r->job.entry = "k_entry";
        r->job.pack = "k_pack";
        rig_expect(r, NULL, AT_JOB_NOT_COMPILED, "the code defines no function 'k_pack'");
        r->job.pack = NULL;
        at_object_remove(path);
        rig_expect(r, NULL, AT_JOB_NOT_COMPILED, "cannot load the object: ");
        assert_int_equal(count_files(), 0);
    }
}

/* An anchor that gcc made is loaded and timed beside its own job; what is loaded then, by a
 * descriptor of the same number, is another object. */
static void beside_an_anchor(void **state) {
    rig *r = *state;
    char *path, *other, error[1024];
    at_error err;
    at_outcome out;
    if (!at_compiler_available(AT_GCC)) skip();
    if (build(AT_GCC, KERNEL(ADD), "-O2 -w", 60, &path, error) ||
        build(AT_GCC, KERNEL(ADD "out[3] = 0.5f;"), "-O2 -w", 60, &other, error))
        fail_msg("%s", error);
    r->job.compiler = AT_GCC;
    r->job.object = path;
    r->job.pairs = 5;
    r->job.to_the_end = true;
    const at_job anchor = r->job;
    if (at_worker_anchor(r->worker, &anchor, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (out.end) fail_msg("the anchor: %s", out.error);
    for (int i = 0; i < 2; i++) {
        r->job.object = path;
        rig_expect(r, NULL, AT_JOB_RAN, "");
        assert_int_equal(r->outcome.num_pairs, 5);
        r->job.object = other;
        rig_expect(r, NULL, AT_JOB_WRONG, "out[3]: got 0.5");
    }
    r->job = anchor;
    r->job.compiler = AT_TCC;
    r->job.object = NULL;
    r->job.source = KERNEL(ADD);
    const at_job last = r->job;
    assert_int_equal(at_worker_anchor(r->worker, &last, NULL, &out, &err), AT_OK);
    at_object_remove(path);
    at_object_remove(other);
}

/* As the first line of --version has it. */
static void versions(void **state) {
    (void)state;
    for (int c = AT_TCC; c < AT_COMPILER_COUNT; c++) {
        if (!at_compiler_available((at_compiler)c)) continue;
        const char *version;
        assert_int_equal(at_compiler_version(arena, (at_compiler)c, 60, NULL, &version, NULL),
                         AT_OK);
        assert_true(version[0] >= '0' && version[0] <= '9' && strchr(version, '.'));
        if (c == AT_TCC) continue; /* a library, which need not come with a command */
        char line[256] = "";
        FILE *f = popen(at_format(arena, "%s --version", at_compiler_name((at_compiler)c)), "re");
        assert_non_null(fgets(line, sizeof line, f));
        pclose(f);
        if (!strstr(line, version)) fail_msg("%s is not in %s", version, line);
    }
}

/* A compiler that does not answer is not waited for without end, nor what it started. */
static void silent_compiler(void **state) {
    (void)state;
    char folder[] = "/tmp/at-test-bin-XXXXXX", *path = strdup(getenv("PATH"));
    assert_non_null(mkdtemp(folder));
    const char *file = at_format(arena, "%s/gcc", folder);
    FILE *f = fopen(file, "w");
    fputs("#!/bin/sh\nsleep 1000\necho 1.2.3\n", f);
    fclose(f);
    assert_int_equal(chmod(file, 0700), 0);
    setenv("PATH", at_format(arena, "%s:%s", folder, path), 1);
    const char *version;
    at_error err = {0};
    volatile int stop = 1;
    at_status late = at_compiler_version(arena, AT_GCC, 0.3, NULL, &version, &err);
    at_status stopped = at_compiler_version(arena, AT_GCC, 1000, &stop, &version, NULL);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(late, AT_E_BUG);
    assert_string_equal(err.text,
                        "gcc: its version is not told within 0.3 s; --timeout gives more");
    assert_int_equal(stopped, AT_E_INTERRUPTED);
    assert_string_equal(version, "");
    assert_int_equal(count_files(), 0);
}

static void faulty(void **state) {
    rig *r = *state;
    char *path, error[1024];
    static const struct {
        const char *source, *text;
    } cases[] = {
        {KERNEL("*(volatile int *)0 = 1;"), "SIGSEGV at 0x0, write through a null pointer"},
        {KERNEL("extern void _exit(int); _exit(4);"),
         "the kernel ended its process with exit code 4"},
        {KERNEL("extern void abort(void); abort();"), "SIGABRT"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (build(AT_GCC, cases[i].source, "-O1 -fno-builtin", 60, &path, error))
            fail_msg("%s", error);
        r->job.compiler = AT_GCC;
        r->job.object = path;
        rig_expect(r, NULL, AT_JOB_CRASHED, cases[i].text);
        at_object_remove(path);
    }
    assert_int_equal(count_files(), 0);
}

static void refused(void **state) {
    (void)state;
    char *path, error[1024];
    assert_int_equal(build(AT_GCC, "int f(void) { return 0 }\n", "", 60, &path, error),
                     AT_JOB_NOT_COMPILED);
    assert_null(path);
    assert_string_equal(error, "gcc: kernel.c:1:23: error: expected ';' before '}' token");
    expect_no_machine(AT_E_BUG, "--no-such-flag",
                      "gcc compiles nothing here, not even a kernel that "
                      "is right: gcc: gcc: error: unrecognized");
    char flags[400] = "";
    while (strlen(flags) < 300) strcat(flags, "-O ");
    assert_int_equal(build(AT_GCC, "int x;\n", flags, 60, &path, error), AT_JOB_NOT_COMPILED);
    assert_string_equal(error, "gcc: more than 58 flags");
    assert_int_equal(count_files(), 0);
}

/* C text that a compiler reads for ever: it includes a pipe that nobody fills. */
static char fifo[64], endless[128];
static void make_endless(void) {
    snprintf(fifo, sizeof fifo, "%s/never", tmp);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    snprintf(endless, sizeof endless, "#include \"%s\"\n", fifo);
}

static void takes_too_long(void **state) {
    (void)state;
    char *path, error[1024];
    make_endless();
    assert_int_equal(build(AT_GCC, endless, "", 0.3, &path, error), AT_JOB_COMPILE_TIMEOUT);
    assert_string_equal(error, "gcc exceeded 0.3 s");
    unlink(fifo);
    /* Whether this process looks in time or long afterwards: it takes more than that. */
    assert_int_equal(build(AT_GCC, KERNEL(ADD), "-O3", 0.001, &path, error),
                     AT_JOB_COMPILE_TIMEOUT);
    assert_null(path);
    assert_int_equal(count_files(), 0);
}

static volatile int stop;
static void on_alarm(int number) { stop = number; }

static void interrupted(void **state) {
    (void)state;
    at_object made;
    at_error err;
    make_endless();
    signal(SIGALRM, on_alarm);
    stop = 0;
    ualarm(50000, 0);
    assert_int_equal(at_build_object(arena, AT_GCC, endless, "", 3600, &stop, &made, &err),
                     AT_E_INTERRUPTED);
    assert_null(made.path);
    unlink(fifo);
    assert_int_equal(count_files(), 0);
}

/* The compiler, what it has started and its files go with a parent that is killed. */
static void parent_killed(void **state) {
    (void)state;
    make_endless();
    pid_t pid = fork();
    if (pid == 0) {
        char *path, error[1024];
        build(AT_GCC, endless, "", 3600, &path, error);
        _exit(0);
    }
    pid_t keeper, driver, compiler; /* the last is what the driver has started */
    do {
        keeper = rig_child_of(pid);
        driver = keeper ? rig_child_of(keeper) : 0;
        compiler = driver ? rig_child_of(driver) : 0;
    } while (!compiler);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* Without a limit: one that lives on hangs this test, and nothing else can decide it. */
    while (rig_parent_of(keeper) || rig_parent_of(driver) || rig_parent_of(compiler)) usleep(1000);
    unlink(fifo);
    assert_int_equal(count_files(), 0);
}

/* The keeper is killed, once and always: the compiler is started again, once. */
static void keeper_killed(void **state) {
    (void)state;
    for (int kills = 1; kills <= 2; kills++) {
        make_endless();
        pid_t pid = fork();
        if (pid == 0) {
            at_object made;
            at_error err = {0};
            at_status s = at_build_object(arena, AT_GCC, endless, "", 3600, NULL, &made, &err);
            if (s == AT_E_BUG && strcmp(err.text, "gcc: the process that started it was killed"))
                _exit(99);
            _exit(s == AT_OK && made.path ? 0 : at_exit_code(s));
        }
        for (int i = 0; i < kills; i++) {
            pid_t keeper, driver, compiler;
            do {
                keeper = rig_child_of(pid);
                driver = keeper ? rig_child_of(keeper) : 0;
                compiler = driver ? rig_child_of(driver) : 0;
            } while (!compiler);
            kill(keeper, SIGKILL);
            while (rig_parent_of(keeper) || rig_parent_of(driver) || rig_parent_of(compiler))
                usleep(1000);
        }
        if (kills == 1) { /* what it reads comes to an end */
            int fd = open(fifo, O_WRONLY);
            assert_true(fd >= 0 && write(fd, "int x;\n", 7) == 7);
            close(fd);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), kills == 1 ? 0 : 1);
        unlink(fifo);
        assert_int_equal(count_files(), 0);
    }
}

/* Stops the keeper of a compilation that never ends, which has so long. false: it was over before
 * its keeper was seen. */
static bool stop_keeper(double limit_s) {
    pid_t pid = fork();
    if (pid == 0) {
        char *path, error[1024];
        _exit(build(AT_GCC, endless, "", limit_s, &path, error) == AT_JOB_COMPILE_TIMEOUT ? 0 : 1);
    }
    pid_t keeper = 0, driver = 0;
    while (!driver && rig_parent_of(pid)) {
        keeper = rig_child_of(pid);
        driver = keeper ? rig_child_of(keeper) : 0;
    }
    if (driver) kill(keeper, SIGSTOP);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    while (driver && (rig_parent_of(keeper) || rig_parent_of(driver))) usleep(1000);
    return driver;
}

/* It is stopped, and never goes on: so does the compilation not, but the parent does. */
static void keeper_stopped(void **state) {
    (void)state;
    make_endless();
    for (double limit_s = 0.3; !stop_keeper(limit_s);) limit_s *= 2;
    unlink(fifo);
    assert_int_equal(count_files(), 0);
}

/* ---- a machine that lacks something ---------------------------------------------------------- */

static void no_folder(void **state) {
    (void)state;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    expect_no_machine(AT_E_OUTPUT, "",
                      "gcc: no temporary folder in /nowhere/at/all (TMPDIR): "
                      "No such file or directory");
    setenv("TMPDIR", "/proc", 1); /* nobody can make a folder there */
    expect_no_machine(AT_E_OUTPUT, "", "gcc: no temporary folder in /proc (TMPDIR): ");
    setenv("TMPDIR", tmp, 1);
}

/* Without a place to run things from: the object lies in memory. */
static void folder_without_execution(void **state) {
    rig *r = *state;
    char *path, error[1024];
    if (mount("tmpfs", tmp, "tmpfs", MS_NOEXEC, "size=16m")) skip();
    int failed = build(AT_GCC, KERNEL(ADD), "-O1", 60, &path, error), left = count_files();
    umount(tmp);
    assert_int_equal(failed, 0);
    assert_int_equal(left, 0);
    r->job.compiler = AT_GCC;
    r->job.object = path;
    rig_expect(r, NULL, AT_JOB_RAN, "");
    at_object_remove(path);
}

/* A limit that holds while `check` runs, in a process of its own. */
static void under_limit(int which, rlim_t limit, uid_t user, void (*check)(void)) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit r;
        getrlimit(which, &r);
        r.rlim_cur = limit;
        signal(SIGXFSZ, SIG_IGN);
        if (user && (chmod(tmp, 0777) || setresuid(user, user, user))) _exit(77);
        if (setrlimit(which, &r)) _exit(78);
        check();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    if (status) fail_msg("limit %d of %d: status %x", which, (int)limit, status);
    assert_int_equal(count_files(), 0);
}

/* Of a text that would do. 0: it did, or the machine was found out; else the text was blamed. */
static int try_good_text(at_status *s, char text[256]) {
    static char source[40000];
    at_object made;
    at_error err = {0};
    char *p = source + sprintf(source, "%s", KERNEL(ADD));
    while (p < source + sizeof source - 100) p += sprintf(p, "int v%d = 1;\n", (int)(p - source));
    *s = at_build_object(arena, AT_GCC, source, "-O1", 60, NULL, &made, &err);
    snprintf(text, 256, "%.255s", *s ? err.text : made.error);
    at_object_remove(made.path);
    return *s == AT_OK ? made.end : 0;
}

static void has_no_room(void) {
    char text[256];
    at_status s;
    int blamed = try_good_text(&s, text);
    if (blamed || s != AT_E_OUTPUT || !strstr(text, "File too large"))
        _exit(dprintf(2, "%d, status %d: %s\n", blamed, (int)s, text) ? 1 : 2);
}

/* From a file of kernel.c's size to one in which the control would fit: at each something breaks
 * off at another place. */
static void no_room(void **state) {
    (void)state;
    static const rlim_t limits[] = {0, 10000, 45000, 60000, 100000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        under_limit(RLIMIT_FSIZE, limits[i], 0, has_no_room);
}

static void lacks_something(void) {
    char text[256];
    at_status s;
    int blamed = try_good_text(&s, text);
    if (blamed || (s != AT_OK && s != AT_E_BUG && s != AT_E_OUTPUT))
        _exit(dprintf(2, "%d, status %d: %s\n", blamed, (int)s, text) ? 1 : 2);
}

static void lacks_all(void) {
    char text[256];
    at_status s;
    int blamed = try_good_text(&s, text);
    if (blamed || s != AT_E_BUG)
        _exit(dprintf(2, "%d, status %d: %s\n", blamed, (int)s, text) ? 1 : 2);
}

static void no_descriptors(void **state) {
    (void)state;
    under_limit(RLIMIT_NOFILE, 3, 0, lacks_all);
    for (rlim_t n = 4; n < 24; n += 2) under_limit(RLIMIT_NOFILE, n, 0, lacks_something);
}

/* The keeper, the driver: each may be the one too many. (Where gcc itself gets no process, it tries
 * again for 15 s.) */
static void no_processes(void **state) {
    (void)state;
    const uid_t user = 60123; /* with no process of its own */
    if (getuid()) skip();
    for (rlim_t n = 1; n <= 2; n++) under_limit(RLIMIT_NPROC, n, user, lacks_all);
    under_limit(RLIMIT_NPROC, 20, user, lacks_something);
    chmod(tmp, 0700);
}

static void no_memory(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* it takes terabytes of addresses */
#endif
    for (rlim_t mib = 20; mib <= 80; mib += 20)
        under_limit(RLIMIT_AS, mib << 20, 0, lacks_something);
}

static void no_compiler(void **state) {
    (void)state;
    char *saved = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    assert_false(at_compiler_available(AT_GCC));
    assert_true(at_compiler_available(AT_TCC));
    expect_no_machine(AT_E_BUG, "",
                      "gcc compiles nothing here, not even a kernel that is right: gcc: "
                      "cannot be started (gcc is nowhere in PATH)");
    setenv("PATH", saved, 1);
    free(saved);
    assert_int_equal(count_files(), 0);
}

/* What somebody put before the compiler is named, with what it says. */
static void refusing_wrapper(void **state) {
    (void)state;
    static const struct {
        const char *script, *said;
    } wrappers[] = {{"#!/bin/sh\necho >&2\necho 'wrapper: no licence' >&2\necho 'ask at the desk' "
                     ">&2\nexit 3\n",
                     "gcc: wrapper: no licence / ask at the desk (gcc is "},
                    {"#!/bin/sh\nexit 3\n",
                     "gcc: ended without an object or a message, with exit code 3 (gcc is "}};
    char folder[] = "/tmp/at-wrapper-XXXXXX", file[64], *saved = strdup(getenv("PATH"));
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/gcc", folder);
    setenv("PATH", at_format(arena, "%s:%s", folder, saved), 1);
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fputs(wrappers[i].script, f);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(chmod(file, 0700), 0);
        expect_no_machine(AT_E_BUG, "", at_format(arena, "%s%s)", wrappers[i].said, file));
    }
    setenv("PATH", saved, 1);
    free(saved);
    unlink(file);
    rmdir(folder);
    assert_int_equal(count_files(), 0);
}

static void compiler_names(void **state) {
    (void)state;
    for (int i = 0; i < AT_COMPILER_COUNT; i++) {
        at_compiler c = AT_COMPILER_COUNT;
        assert_true(at_compiler_from_name(at_compiler_name((at_compiler)i), &c));
        assert_int_equal(c, i);
    }
    at_compiler c;
    assert_false(at_compiler_from_name("icc", &c));
}

/* The limit stands still while the compiler's processes are stopped, though this program runs. */
static void compiler_stopped(void **state) {
    (void)state;
    make_endless();
    pid_t pid = fork();
    if (pid == 0) {
        char *path, error[1024];
        _exit(build(AT_GCC, endless, "", 10, &path, error) ? 1 : 0);
    }
    pid_t keeper, driver, compiler;
    do {
        keeper = rig_child_of(pid);
        driver = keeper ? rig_child_of(keeper) : 0;
        compiler = driver ? rig_child_of(driver) : 0;
    } while (!compiler);
    kill(-driver, SIGSTOP);
    usleep(12000000);
    kill(-driver, SIGCONT);
    int status = 0, fd = -1; /* somebody reads it, or all is over */
    while (fd < 0 && !waitpid(pid, &status, WNOHANG)) fd = open(fifo, O_WRONLY | O_NONBLOCK);
    assert_true(fd >= 0 && write(fd, "int x;\n", 7) == 7);
    close(fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    unlink(fifo);
    assert_int_equal(count_files(), 0);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    if (!mkdtemp(tmp)) return 1;
    setenv("TMPDIR", tmp, 1);
    arena = at_arena_new();
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(builds_and_runs),  TEST(beside_an_anchor),

        TEST(versions),         TEST(silent_compiler),  TEST(faulty),
        TEST(refused),          TEST(takes_too_long),   TEST(interrupted),
        TEST(parent_killed),    TEST(no_folder),        TEST(no_compiler),
        TEST(refusing_wrapper), TEST(compiler_names),   TEST(keeper_killed),
        TEST(keeper_stopped),   TEST(compiler_stopped), TEST(folder_without_execution),
        TEST(no_room),          TEST(no_descriptors),   TEST(no_processes),
        TEST(no_memory),
    };
    int failed = cmocka_run_group_tests(tests, rig_setup, rig_teardown);
    at_arena_free(arena);
    rmdir(tmp);
    return failed;
}
