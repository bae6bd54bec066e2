/* The same kernels through gcc and clang, and what is left in the temporary folder afterwards:
 * nothing. */
#include "rig.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
    int64_t ns = 0;
    int failed = at_build_object(arena, c, source, flags, timeout_s, NULL, path, &ns, error, 1024);
    if (!failed) assert_true(ns > 0);
    return failed;
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
            rig_expect(r, NULL, AT_ERR_NONE, "");
        }
        r->job.entry = "nothing";
        rig_expect(r, NULL, AT_ERR_COMPILE_HOST, "the code defines no function 'nothing'");
        r->job.entry = "k_entry";
        r->job.pack = "k_pack";
        rig_expect(r, NULL, AT_ERR_COMPILE_HOST, "the code defines no function 'k_pack'");
        r->job.pack = NULL;
        at_object_remove(path);
        rig_expect(r, NULL, AT_ERR_COMPILE_HOST, "cannot load the object: ");
        assert_int_equal(count_files(), 0);
    }
}

/* As the first line of --version has it. */
static void versions(void **state) {
    (void)state;
    for (int c = AT_TCC; c < AT_COMPILER_COUNT; c++) {
        if (!at_compiler_available((at_compiler)c)) continue;
        const char *version = at_compiler_version(arena, (at_compiler)c);
        assert_true(version[0] >= '0' && version[0] <= '9' && strchr(version, '.'));
        if (c == AT_TCC) continue; /* a library, which need not come with a command */
        char line[256] = "";
        FILE *f = popen(at_format(arena, "%s --version", at_compiler_name((at_compiler)c)), "re");
        assert_non_null(fgets(line, sizeof line, f));
        pclose(f);
        if (!strstr(line, version)) fail_msg("%s is not in %s", version, line);
    }
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
        rig_expect(r, NULL, AT_ERR_RUNTIME, cases[i].text);
        at_object_remove(path);
    }
    assert_int_equal(count_files(), 0);
}

static void refused(void **state) {
    (void)state;
    char *path, error[1024];
    assert_int_equal(build(AT_GCC, "int f(void) { return 0 }\n", "", 60, &path, error),
                     AT_ERR_COMPILE_HOST);
    assert_null(path);
    assert_string_equal(error, "gcc: kernel.c:1:23: error: expected ';' before '}' token");
    assert_int_equal(build(AT_GCC, "int x;\n", "--no-such-flag", 60, &path, error),
                     AT_ERR_COMPILE_HOST);
    assert_non_null(strstr(error, "--no-such-flag"));
    char flags[400] = "";
    while (strlen(flags) < 300) strcat(flags, "-O ");
    assert_int_equal(build(AT_GCC, "int x;\n", flags, 60, &path, error), AT_ERR_COMPILE_HOST);
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
    assert_int_equal(build(AT_GCC, endless, "", 0.3, &path, error), AT_ERR_BUILD_TIMEOUT);
    assert_string_equal(error, "gcc exceeded 0.3 s");
    unlink(fifo);
    assert_int_equal(count_files(), 0);
}

static volatile int stop;
static void on_alarm(int number) { stop = number; }

static void interrupted(void **state) {
    (void)state;
    char *path, error[1024];
    int64_t ns = 0;
    make_endless();
    signal(SIGALRM, on_alarm);
    stop = 0;
    ualarm(50000, 0);
    assert_int_equal(
        at_build_object(arena, AT_GCC, endless, "", 3600, &stop, &path, &ns, error, sizeof error),
        AT_ERR_UNKNOWN);
    assert_string_equal(error, "interrupted");
    assert_null(path);
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

static void no_folder(void **state) {
    (void)state;
    char *path, error[1024];
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(build(AT_GCC, "int x;\n", "", 60, &path, error), AT_ERR_COMPILE_HOST);
    assert_string_equal(error, "gcc: no temporary file: No such file or directory");
    setenv("TMPDIR", tmp, 1);
}

static void no_compiler(void **state) {
    (void)state;
    char *path, error[1024], *saved = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    assert_false(at_compiler_available(AT_GCC));
    assert_true(at_compiler_available(AT_TCC));
    assert_int_equal(build(AT_GCC, "int x;\n", "", 60, &path, error), AT_ERR_COMPILE_HOST);
    assert_string_equal(error, "gcc: cannot be started");
    setenv("PATH", saved, 1);
    free(saved);
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

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    if (!mkdtemp(tmp)) return 1;
    setenv("TMPDIR", tmp, 1);
    arena = at_arena_new();
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(builds_and_runs), TEST(versions),       TEST(faulty),        TEST(refused),
        TEST(takes_too_long),  TEST(interrupted),    TEST(parent_killed), TEST(no_folder),
        TEST(no_compiler),     TEST(compiler_names),
    };
    int failed = cmocka_run_group_tests(tests, rig_setup, rig_teardown);
    at_arena_free(arena);
    rmdir(tmp);
    return failed;
}
