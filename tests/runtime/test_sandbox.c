/* A kernel can do nothing but compute: whatever else it asks the system for ends it, in a text that
 * names the call, and the next kernel runs. Where the system has no filter, all of it is skipped.
 */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_HEAD                                                                                  \
    "static long call(long n, long a, long b, long c, long d, long e, long f) {\n"                 \
    "  long r; register long r10 asm(\"r10\") = d; register long r8 asm(\"r8\") = e;\n"            \
    "  register long r9 asm(\"r9\") = f;\n"                                                        \
    "  asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c), "            \
    "\"r\"(r10), \"r\"(r8), \"r\"(r9) : \"rcx\", \"r11\", \"memory\");\n"                          \
    "  return r;\n}\n"

typedef struct attempt {
    const char *name; /* of the call, as the text has it */
    const char *body;
} attempt;

/* PATH is a file that must not change. Numbers: linux/arch/x86/entry/syscalls/syscall_64.tbl. */
static const attempt attempts[] = {
    {"open", "call(2, (long)PATH, 02, 0, 0, 0, 0);"},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which read and speak so */
    {"openat", "call(257, -100, (long)PATH, 01001, 0, 0, 0);"},
    {"openat", "call(257, -100, 8, 0, 0, 0, 0);"}, /* a name that lies nowhere */
    {"write", "call(1, 2, (long)\"\\033[2J\", 4, 0, 0, 0);"},
    {"readlink", "char d[64]; call(89, (long)PATH, (long)d, 64, 0, 0, 0);"},
#endif
    {"openat2", "long how[3] = {1}; call(437, -100, (long)PATH, (long)how, 24, 0, 0);"},
    {"creat", "call(85, (long)PATH, 0600, 0, 0, 0, 0);"},
    {"unlink", "call(87, (long)PATH, 0, 0, 0, 0, 0);"},
    {"rename", "call(82, (long)PATH, (long)\"/tmp/elsewhere\", 0, 0, 0, 0);"},
    {"socket", "call(41, 2, 1, 0, 0, 0, 0);"},
    {"socketpair", "int s[2]; call(53, 1, 1, 0, (long)s, 0, 0);"},
    {"connect", "call(42, 3, 0, 0, 0, 0, 0);"},
    {"execve", "char *v[] = {\"/bin/true\", 0}; call(59, (long)v[0], (long)v, 0, 0, 0, 0);"},
    {"execveat", "char *v[] = {\"/bin/true\", 0}; call(322, -100, (long)v[0], (long)v, 0, 0, 0);"},
    {"fork", "call(57, 0, 0, 0, 0, 0, 0);"},
    {"vfork", "call(58, 0, 0, 0, 0, 0, 0);"},
    {"clone", "call(56, 17, 0, 0, 0, 0, 0);"},
    {"kill", "call(62, PARENT, 0, 0, 0, 0, 0);"},
    {"tgkill", "call(234, PARENT, PARENT, 0, 0, 0, 0);"},
    {"ptrace", "call(101, 16, PARENT, 0, 0, 0, 0);"},
    {"process_vm_writev", "call(311, PARENT, 0, 0, 0, 0, 0);"},
    {"process_vm_readv", "call(310, PARENT, 0, 0, 0, 0, 0);"},
    {"process_madvise", "call(440, 3, 0, 0, 4, 0, 0);"},
    {"pidfd_open", "call(434, PARENT, 0, 0, 0, 0, 0);"},
    {"pidfd_send_signal", "call(424, 3, 9, 0, 0, 0, 0);"},
    {"rt_sigqueueinfo", "char s[128] = {0}; call(129, PARENT, 10, (long)s, 0, 0, 0);"},
    {"tkill", "call(200, PARENT, 9, 0, 0, 0, 0);"},
    {"userfaultfd", "call(323, 1, 0, 0, 0, 0, 0);"},
    {"perf_event_open", "call(298, 0, PARENT, -1, -1, 0, 0);"},
    {"shmget", "call(29, 1, 4096, 0666, 0, 0, 0);"},
    {"splice", "call(275, 3, 0, 4, 0, 1, 0);"},
    {"sendfile", "call(40, 4, 3, 0, 1, 0, 0);"},
    {"getdents64", "char d[64]; call(217, 3, (long)d, 64, 0, 0, 0);"},
    {"unshare", "call(272, 0x10000000, 0, 0, 0, 0, 0);"},
    {"setns", "call(308, 3, 0, 0, 0, 0, 0);"},
    {"chmod", "call(90, (long)PATH, 0777, 0, 0, 0, 0);"},
    {"newfstatat", "char d[256]; call(262, -100, (long)PATH, (long)d, 0, 0, 0);"},
    {"prlimit64", "long l[2] = {1, 1}; call(302, PARENT, 7, (long)l, 0, 0, 0);"},
    {"sched_setaffinity", "long m = 1; call(203, PARENT, 8, (long)&m, 0, 0, 0);"},
    {"io_uring_setup", "char p[256] = {0}; call(425, 4, (long)p, 0, 0, 0, 0);"},
    {"bpf", "call(321, 0, 0, 0, 0, 0, 0);"},
    {"mount", "call(165, 0, 0, 0, 0, 0, 0);"},
    {"memfd_create", "call(319, (long)\"x\", 0, 0, 0, 0, 0);"},
    {"writev", "call(20, 2, 0, 0, 0, 0, 0);"},
    {"pwrite64", "for (i = 3; i < 64; i++) call(18, i, (long)\"x\", 1, 0, 0, 0);"},
    {"ftruncate", "for (i = 3; i < 64; i++) call(77, i, 0, 0, 0, 0, 0);"},
    {"sendto", "for (i = 3; i < 64; i++) call(44, i, (long)\"x\", 1, 0, 0, 0);"},
    {"dup2", "call(33, 2, 9, 0, 0, 0, 0);"},
    {"fcntl", "call(72, 3, 4, 0, 0, 0, 0);"},
    {"ioctl", "call(16, 2, 0x5412, (long)\"x\", 0, 0, 0);"},
    {"rt_sigaction", "call(13, 31, 0, 0, 8, 0, 0);"},
    {"prctl", "call(157, 1, 0, 0, 0, 0, 0);"},
    {"seccomp", "call(317, 0, 0, 0, 0, 0, 0);"},
};
enum { NUM_ATTEMPTS = sizeof attempts / sizeof *attempts };

static char path[300];

static bool is_confined(rig *r) {
    assert_int_equal(rig_run(r, KERNEL(ADD)), AT_JOB_RAN);
    return !at_worker_unconfined(r->worker);
}

static void source_of(const attempt *a, bool as_constructor, char *out, size_t size) {
    snprintf(out, size,
             "%s#define PATH \"%s\"\n#define PARENT %ld\n"
             "static void ask(void) { long i; (void)i; %s }\n%s%s",
             CALL_HEAD, path, (long)getpid(), a->body,
             as_constructor ? "__attribute__((constructor)) static void c(void) { ask(); }\n" : "",
             as_constructor ? KERNEL(ADD) : KERNEL(ADD "ask();"));
}

static void expect_refused(rig *r, const attempt *a, const char *who, at_job_end end) {
    char text[128];
    snprintf(text, sizeof text, "%s called %s, and may do nothing but compute", who, a->name);
    if ((int)r->outcome.end != (int)end || !strstr(r->outcome.error, text))
        fail_msg("%s: end %d: %s", a->name, r->outcome.end, r->outcome.error);
}

/* Through gcc, whose inline assembler takes what TinyCC's does not. */
static void run_object(rig *r, const char *source) {
    at_error err;
    at_object made;
    at_arena *arena = at_arena_new();
    if (at_build_object(arena, AT_GCC, source, "-O1 -w", 0, NULL, &made, &err) != AT_OK ||
        !made.path)
        fail_msg("%s", made.path ? err.text : made.error);
    r->job.compiler = AT_GCC;
    r->job.source = NULL;
    r->job.object = made.path;
    if (at_worker_run(r->worker, &r->job, NULL, &r->outcome, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_object_remove(made.path);
    at_arena_free(arena);
}

static void each_call(rig *r, bool as_constructor, const char *who, at_job_end end) {
    static char source[8000];
    for (int i = 0; i < NUM_ATTEMPTS; i++) {
        source_of(&attempts[i], as_constructor, source, sizeof source);
        run_object(r, source);
        expect_refused(r, &attempts[i], who, end);
    }
    char kept[8] = "";
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, kept, sizeof kept), 5);
    assert_string_equal(kept, "kept\n");
    close(fd);
}

static void calls_of_kernels(void **state) {
    if (!is_confined(*state) || !at_compiler_available(AT_GCC)) skip();
    each_call(*state, false, "the kernel", AT_JOB_CRASHED);
}

static void calls_of_constructors(void **state) {
    if (!is_confined(*state) || !at_compiler_available(AT_GCC)) skip();
    each_call(*state, true, "loading the kernel", AT_JOB_NOT_COMPILED);
}

/* mov $2, %eax; syscall: open */
static void calls_of_tinycc_kernels(void **state) {
    rig *r = *state;
    if (!is_confined(r)) skip();
    rig_expect(r, KERNEL(ADD "asm(\"mov $2, %eax\\n syscall\");"), AT_JOB_CRASHED,
               "the kernel called open, and may do nothing but compute");
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, NULL);
}

/* The old way into the kernel has numbers of its own: 5 is open there. */
static void calls_by_interrupt(void **state) {
    rig *r = *state;
    if (!is_confined(r)) skip();
    rig_expect(r, KERNEL(ADD "asm(\"mov $5, %eax\\n int $0x80\");"), AT_JOB_CRASHED, NULL);
}

/* And so have programs with short pointers, which ask with another bit: 2 is open. */
static void calls_of_short_pointers(void **state) {
    rig *r = *state;
    static char source[8000];
    static const attempt x32 = {"", "call(0x40000002, (long)PATH, 02, 0, 0, 0, 0);"};
    if (!is_confined(r) || !at_compiler_available(AT_GCC)) skip();
    source_of(&x32, false, source, sizeof source);
    run_object(r, source);
    assert_int_equal(r->outcome.end, AT_JOB_CRASHED);
}

/* What the parent has open is not open here: nothing comes of standard input, and no descriptor but
 * the socket and files for reading is left. */
static void descriptors_are_closed(void **state) {
    rig *r = *state;
    static char source[8000];
    static const attempt reads = {
        "", "char c; if (call(0, 0, (long)&c, 1, 0, 0, 0) > 0) *(volatile int *)0 = 1;\n"
            "for (i = 3; i < 256; i++) { long flags[18];\n"
            "  if (call(5, i, (long)flags, 0, 0, 0, 0) == 0 && (((int *)flags)[6] & 0170000) == "
            "0010000) *(volatile int *)0 = 1; }"};
    int pipes[2];
    if (!is_confined(r) || !at_compiler_available(AT_GCC)) skip();
    assert_int_equal(pipe(pipes), 0); /* inheritable */
    at_worker_rest(r->worker);
    source_of(&reads, false, source, sizeof source);
    run_object(r, source);
    close(pipes[0]);
    close(pipes[1]);
    if (r->outcome.end) fail_msg("%s", r->outcome.error);
}

/* What is expected lies in the store, whose descriptor the worker has. */
static void store_stays(void **state) {
    rig *r = *state;
    static char source[8000];
    static const attempt shared = {
        "", "for (i = 3; i < 64; i++) { long m = call(9, 0, 4096, 3, 1, i, 0);\n"
            "  if (m > 0 || m < -4096) *(volatile int *)m = 1; }"};
    if (!is_confined(r) || !at_compiler_available(AT_GCC)) skip();
    source_of(&shared, false, source, sizeof source);
    float before[8];
    memcpy(before, r->a, sizeof before);
    run_object(r, source);
    assert_memory_equal(before, r->a, sizeof before);
    assert_int_equal(r->outcome.end, AT_JOB_RAN); /* no descriptor can be mapped for writing */
}

/* Memory, time and threads stay. */
static void computing_goes_on(void **state) {
    rig *r = *state;
    static const char sum[] =
        "#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n" KERNEL(
            "float *p = malloc(64 << 20); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
            "memset(p, 0, 64 << 20); for (i = 0; i < n; i++) p[i] = a[i] + b[i];"
            "p = realloc(p, 128 << 20); for (i = 0; i < n; i++) out[i] = p[i]; free(p);");
    if (!is_confined(r) || !at_compiler_available(AT_GCC)) skip();
    run_object(r, sum);
    if (r->outcome.end) fail_msg("%s", r->outcome.error);
}

/* Outputs of a reference come through the worker's socket. */
static void outputs_come(void **state) {
    rig *r = *state;
    r->job.expected_offset = NULL;
    r->job.run_only = true;
    memset(r->out, 0, RIG_N * sizeof *r->out);
    assert_int_equal(rig_run(r, KERNEL(ADD)), AT_JOB_RAN);
    assert_memory_equal(r->out, r->expected, RIG_N * sizeof *r->out);
}

static void off_and_required(void **state) {
    rig *r = *state;
    at_worker *w;
    at_error err;
    bool can = is_confined(r);
    assert_int_equal(at_worker_new(NULL, r->store, -1, 0, AT_SANDBOX_OFF, &w, &err), AT_OK);
    assert_string_equal(at_worker_unconfined(w), "--sandbox off");
    at_worker_free(w);
    at_status s = at_worker_new(NULL, r->store, -1, 0, AT_SANDBOX_REQUIRE, &w, &err);
    assert_int_equal(s, can ? AT_OK : AT_E_USAGE);
    if (s == AT_OK) at_worker_free(w);
}

static int make_file(void **state) {
    static char folder[] = "/tmp/autotune-sandbox-XXXXXX";
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0 || write(fd, "kept\n", 5) != 5) return -1;
    close(fd);
    return rig_setup(state);
}

static int remove_file(void **state) {
    char folder[300];
    unlink(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    rmdir(folder);
    return rig_teardown(state);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(calls_of_kernels),       TEST(calls_of_constructors), TEST(calls_of_tinycc_kernels),
        TEST(calls_by_interrupt),     TEST(store_stays),           TEST(computing_goes_on),
        TEST(outputs_come),           TEST(off_and_required),      TEST(calls_of_short_pointers),
        TEST(descriptors_are_closed),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
