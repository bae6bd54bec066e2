/* Jobs that go well, and all the ways they can go wrong without ending the worker's service. */
#include "rig.h"

#include <string.h>
#include <time.h>

#define GOOD KERNEL(ADD)

static void good(void **state) {
    rig *r = *state;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    assert_in_range(r->outcome.num_costs, 2, 5); /* disturbed ones are left out */
    assert_false(r->outcome.at_least);
    for (int i = 0; i < r->outcome.num_costs; i++) assert_true(r->outcome.costs_s[i] > 0);
    assert_true(r->outcome.max_error == 0);
    assert_true(r->outcome.compile_ns > 0 && r->outcome.check_ns > 0 && r->outcome.run_ns > 0);
    assert_true(r->outcome.total_ns >= r->outcome.run_ns);
}

static void good_paranoid(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    assert_in_range(r->outcome.num_costs, 2, 5); /* disturbed ones are left out */
}

/* ---- compile errors ------------------------------------------------------------------------- */

static void syntax_error(void **state) {
    rig_expect(*state, "int k_entry(void) {\n  return 0\n}\n", AT_JOB_NOT_COMPILED,
               "tcc: kernel.c:3: error: ';' expected (got \"}\")");
}

static void warning_is_error(void **state) {
    rig_expect(*state, KERNEL("unknown_function(i);"), AT_JOB_NOT_COMPILED,
               "implicit declaration of function 'unknown_function'");
}

static void undefined_symbol(void **state) {
    rig_expect(*state, "int missing_thing(void);\n" KERNEL("return missing_thing();"),
               AT_JOB_NOT_COMPILED, "undefined symbol 'missing_thing'");
}

static void missing_entry(void **state) {
    rig_expect(*state, "int other(void) { return 0; }\n", AT_JOB_NOT_COMPILED,
               "tcc: the code defines no function 'k_entry'");
}

static void missing_pack(void **state) {
    rig *r = *state;
    r->job.pack = "k_pack";
    rig_expect(r, GOOD, AT_JOB_NOT_COMPILED, "tcc: the code defines no function 'k_pack'");
}

static void error_beside_label(void **state) {
    /* The case that spoils libtcc for later compiles: they must still work, in this worker or the
     * next. */
    rig *r = *state;
    for (int i = 0; i < 5; i++) {
        rig_expect(r, KERNEL("again: if (i) goto again; out[0] = nothing;"), AT_JOB_NOT_COMPILED,
                   NULL);
        rig_run(r, GOOD);
    }
    rig_expect(r, GOOD, AT_JOB_RAN, "");
}

static void too_much_code(void **state) {
    rig_expect(*state, "char huge[100000000] = {1};\n" GOOD, AT_JOB_NOT_COMPILED,
               "code and static data take 95 MiB, the arena has 64");
}

/* ---- crashes -------------------------------------------------------------------------------- */

static void null_write(void **state) {
    rig_expect(*state, KERNEL("*(volatile int *)0 = 1;"), AT_JOB_CRASHED,
               "SIGSEGV at 0x0, write through a null pointer");
}

static void null_read(void **state) {
    rig_expect(*state, KERNEL("i = *(volatile int *)8;"), AT_JOB_CRASHED,
               "SIGSEGV at 0x8, read through a null pointer");
}

static void jumps_away(void **state) {
    rig_expect(*state, KERNEL("volatile long away = 64; ((void (*)(void))away)();"), AT_JOB_CRASHED,
               "SIGSEGV at 0x40, jump through a null pointer");
}

static void wild_pointer(void **state) {
    rig_expect(*state, KERNEL("volatile long far = 1L << 63; *(volatile int *)far = 1;"),
               AT_JOB_CRASHED, "SIGSEGV, address misaligned or not canonical");
}

static void writes_input(void **state) {
    rig *r = *state;
    rig_expect(r, KERNEL("((float *)a)[7] = 1;"), AT_JOB_CRASHED,
               "write inside a, which is read-only");
    assert_true(r->a[7] == -1);
}

static void illegal_instruction(void **state) {
    rig_expect(*state, KERNEL("asm(\".byte 0x0f, 0x0b\");"), AT_JOB_CRASHED,
               "SIGILL, illegal instruction");
}

static void divides_by_zero(void **state) {
    rig_expect(*state, KERNEL("n = 0; out[0] = (float)(1 / n);"), AT_JOB_CRASHED,
               "SIGFPE, integer division");
}

static void breakpoint(void **state) {
    rig_expect(*state, KERNEL("asm(\".byte 0xcc\");"), AT_JOB_CRASHED, "SIGTRAP");
}

static void stack_overflow(void **state) {
    rig_expect(*state,
               "static int deeper(int n) { volatile char frame[4096]; frame[0] = 0;"
               " return deeper(n + 1) + frame[0]; }\n" KERNEL("i = deeper(0);"),
               AT_JOB_CRASHED, "write beyond the stack");
}

static void compiler_crash(void **state) {
    static char source[100000];
    char *p = source + sprintf(source, "int k_entry(void) { return ");
    memset(p, '(', 40000);
    memset(p + 40000, ')', 40000);
    strcpy(p + 80000, "; }\n");
    rig_expect(*state, source, AT_JOB_NOT_COMPILED, "");
}

static void exits(void **state) {
    rig_expect(*state, KERNEL("asm(\"mov $231, %eax\\n mov $3, %edi\\n syscall\");"),
               AT_JOB_CRASHED, "the kernel ended its process with exit code 3");
}

static void returns_an_error(void **state) {
    rig_expect(*state, KERNEL("return 7;"), AT_JOB_CRASHED, "the kernel returned 7");
}

/* ---- out of bounds -------------------------------------------------------------------------- */

/* Reads an element whose value changes nothing. */
#define READ(element) ADD "if (" element " == 1.25e30f) out[0] = 0;"

static void writes_behind(void **state) {
    rig_expect(*state, KERNEL(ADD "out[n] = 1;"), AT_JOB_CRASHED,
               "out of bounds: wrote behind the end of out");
}

static void writes_before(void **state) {
    rig_expect(*state, KERNEL(ADD "out[-1] = 1;"), AT_JOB_CRASHED,
               "out of bounds: wrote before out");
}

static void writes_behind_workspace(void **state) {
    rig_expect(*state, KERNEL(ADD "((float *)workspace)[64] = 1;"), AT_JOB_CRASHED,
               "out of bounds: wrote behind the end of workspace");
}

static void writes_far_behind(void **state) {
    rig_expect(*state, KERNEL(ADD "for (i = 0; i < 10000000; i++) out[n + i] = 1;"), AT_JOB_CRASHED,
               "SIGSEGV at 0x");
}

static void paranoid_write_behind(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    rig_expect(r, KERNEL(ADD "out[n] = 1;"), AT_JOB_CRASHED, "write right at the end of out");
    rig_expect(r, KERNEL(ADD "out[n + 16] = 1;"), AT_JOB_CRASHED,
               "write 64 bytes behind the end of out");
}

static void paranoid_write_before(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    /* Lands in the slack of the first placing. */
    rig_expect(r, KERNEL(ADD "out[-1] = 1;"), AT_JOB_CRASHED, "out of bounds: wrote before out");
    /* Beyond it, and in the second. */
    rig_expect(r, KERNEL(ADD "out[-1024] = 1;"), AT_JOB_CRASHED, "write 4096 bytes before out");
}

static void paranoid_read_behind(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    rig_expect(r, KERNEL(READ("a[n]")), AT_JOB_CRASHED, "read right at the end of a");
    rig_expect(r, KERNEL(READ("b[n + 3]")), AT_JOB_CRASHED, "read 12 bytes behind the end of b");
    rig_expect(r, KERNEL(READ("out[n]")), AT_JOB_CRASHED, "read right at the end of out");
    rig_expect(r, KERNEL(READ("((float *)workspace)[64]")), AT_JOB_CRASHED,
               "read right at the end of workspace");
}

static void paranoid_read_before(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    rig_expect(r, KERNEL(READ("a[-1]")), AT_JOB_CRASHED, "read 4 bytes before a");
    rig_expect(r, KERNEL(READ("b[-2]")), AT_JOB_CRASHED, "read 8 bytes before b");
    rig_expect(r, KERNEL(READ("out[-1]")), AT_JOB_CRASHED, "read 4 bytes before out");
    rig_expect(r, KERNEL(READ("((float *)workspace)[-1]")), AT_JOB_CRASHED,
               "read 4 bytes before workspace");
}

/* Without guard pages right beside them, megabytes around them fault all the same. */
static void reads_far_away(void **state) {
    rig_expect(*state, KERNEL(READ("a[600000]")), AT_JOB_CRASHED, "SIGSEGV at 0x");
    rig_expect(*state, KERNEL(READ("out[-400000]")), AT_JOB_CRASHED, "SIGSEGV at 0x");
}

/* What lies behind a tensor is none of its elements: a kernel that uses it is wrong. */
static void uses_what_it_read_behind(void **state) {
    rig_expect(*state, KERNEL("for (i = 0; i < n; i++) out[i] = a[i + 1] + b[i];"), AT_JOB_WRONG,
               NULL);
    rig_expect(*state, KERNEL(ADD "out[5] += ((float *)workspace)[64];"), AT_JOB_WRONG, NULL);
}

static void paranoid_workspace(void **state) {
    rig *r = *state;
    r->job.paranoid = true;
    r->job.workspace_bytes = 100; /* no multiple of a line: slack on both placings */
    rig_expect(r, KERNEL(ADD "((float *)workspace)[25] = 1;"), AT_JOB_CRASHED,
               "out of bounds: wrote behind the end of workspace");
    rig_expect(r, KERNEL(ADD "((float *)workspace)[-1] = 1;"), AT_JOB_CRASHED, "before workspace");
    rig_expect(r, KERNEL(ADD "if ((long)workspace % 64) return 1;"), AT_JOB_RAN, "");
}

/* What holds for one set of data only is found by the other. */
static void other_data(void **state) {
    rig *r = *state;
    at_error err;
    int64_t a, expected;
    assert_int_equal(at_store_reserve(r->store, "a2", RIG_N * 4, &a, &err), AT_OK);
    assert_int_equal(at_store_reserve(r->store, "e2", RIG_N * 4, &expected, &err), AT_OK);
    float *a2 = at_store_at(r->store, a), *e2 = at_store_at(r->store, expected);
    const float *b = at_store_at(r->store, r->bufs[1].offset);
    for (int i = 0; i < RIG_N; i++) a2[i] = (float)(i % 11 - 3), e2[i] = a2[i] + b[i];
    r->job.paranoid = true;
    r->bufs[0].other_offset[0] = a;
    r->bufs[2].other_offset[0] = expected;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    /* a[i] as it is in the first set. */
    const char *constant = KERNEL("for (i = 0; i < n; i++) out[i] = i % 17 - 8 + b[i];");
    rig_expect(r, constant, AT_JOB_WRONG, "expected -2");
    r->job.paranoid = false;
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    rig_expect(r, constant, AT_JOB_WRONG, "expected -2");
    /* So is what the second of several sets shows alone. */
    for (int paranoid = 0; paranoid < 2; paranoid++) {
        r->job.paranoid = paranoid;
        r->bufs[0].other_offset[0] = r->bufs[0].offset;
        r->bufs[2].other_offset[0] = r->expected_offset[0];
        r->bufs[0].other_offset[1] = a;
        r->bufs[2].other_offset[1] = expected;
        rig_expect(r, GOOD, AT_JOB_RAN, "");
        rig_expect(r, constant, AT_JOB_WRONG, "expected -2");
    }
    r->job.paranoid = false;
    memset(r->bufs[0].other_offset, 0, sizeof r->bufs[0].other_offset);
    memset(r->bufs[2].other_offset, 0, sizeof r->bufs[2].other_offset);
}

/* By ldmxcsr. */
#define SET_MODE(mode)                                                                             \
    KERNEL(ADD "int mode = " mode                                                                  \
               "; asm volatile(\".byte 0x0f, 0xae, 0x12\" : : \"d\"(&mode) : \"memory\");")

/* A call leaves the mode in which floats are rounded as it was. */
static void leaves_another_mode(void **state) {
#if defined __x86_64__
    rig_expect(*state, SET_MODE("0x5f80"), AT_JOB_WRONG, "another mode of rounding");
    rig_expect(*state, SET_MODE("0x1fbf"), AT_JOB_RAN, ""); /* flags are not of it */
#else
    (void)state;
    skip();
#endif
}

/* A kernel of somebody's own that remembers what it has made of the same tensors, reads one element
 * behind them, takes them for aligned, or does something else at every seventh call, is wrong with
 * one set of data, too. */
static void remembers(void **state) {
    rig *r = *state;
    static const char *const kernels[] = {
        "static float last[1000]; static const float *of;\n" KERNEL(
            "if (of != a) { for (i = 0; i < n; i++) last[i] = a[i] + b[i]; of = a; }"
            "for (i = 0; i < n; i++) out[i] = last[i];"),
        KERNEL(READ("a[n]")), KERNEL(ADD "if ((long)a % 64) return 1;"),
        "static int calls;\n" KERNEL(ADD "out[5] += ++calls % 7 == 0;")};
    static const at_job_end ends[] = {AT_JOB_WRONG, AT_JOB_CRASHED, AT_JOB_CRASHED, AT_JOB_WRONG};
    for (int i = 0; i < 4; i++) {
        r->job.run_only = i == 3; /* not by luck behind the timing */
        r->job.is_foreign = false;
        rig_expect(r, kernels[i], AT_JOB_RAN, "");
        r->job.is_foreign = true;
        rig_expect(r, kernels[i], ends[i], NULL);
        rig_expect(r, GOOD, AT_JOB_RAN, "");
    }
    r->job.run_only = false;
}

/* Also of tensors that begin with a whole line where they end with a page. */
static void taken_for_aligned(void **state) {
    rig *r = *state;
    enum { N = 960 };
    static const char text[] =
        KERNEL("if ((long)%s %% 64) return 1; for (i = 0; i < 960; i++) out[i] = a[i] + b[i];");
    static const char *const tensors[] = {"0", "a", "b", "out"};
    for (int i = 0; i < 3; i++) r->bufs[i].size_bytes = N * 4;
    for (int i = 0; i < 4; i++)
        for (int how = 0; how < 3; how++) {
            char kernel[1000];
            snprintf(kernel, sizeof kernel, text, tensors[i]);
            r->job.paranoid = how == 1;
            r->job.is_foreign = how == 2;
            rig_expect(r, kernel, i && how ? AT_JOB_CRASHED : AT_JOB_RAN, NULL);
        }
    r->job.paranoid = r->job.is_foreign = false;
    for (int i = 0; i < 3; i++) r->bufs[i].size_bytes = RIG_N * 4;
}

/* However much a kernel writes, two turns of its loops that need one place are found. */
static void turns_that_write_much(void **state) {
    rig *r = *state;
    static const char text[] =
        "static float *scratch;\nstatic void turn(long i, int thread, void *context) {\n"
        "  void **buf = context; const float *a = buf[0], *b = buf[1]; float *out = buf[2];\n"
        "  long k; scratch[%s] = i; (void)thread;\n"
        "  for (k = 100 * i; k < 100 * i + 100; k++) out[k] = a[k] + b[k];\n}\n";
    const char *body = KERNEL("scratch = workspace; par->parallel_for(turn, 10, (void *)buf);");
    const char *type = strchr(body, '\n') + 1;
    static const struct {
        const char *place;
        at_job_end end;
    } cases[] = {{"24000000 + i", AT_JOB_RAN}, {"24000000", AT_JOB_WRONG}};
    r->job.workspace_bytes = 100000000;
    r->job.threads = 2;
    for (int i = 0; i < 2; i++) {
        char kernel[2000];
        int n = snprintf(kernel, sizeof kernel, "%.*s", (int)(type - body), body);
        n += snprintf(kernel + n, sizeof kernel - (size_t)n, text, cases[i].place);
        snprintf(kernel + n, sizeof kernel - (size_t)n, "%s", type);
        rig_expect(r, kernel, cases[i].end,
                   i ? "two turns of a parallel loop write different values to one place" : "");
    }
}

static void out_of_memory(void **state) {
    rig *r = *state;
    r->job.workspace_bytes = 1LL << 40;
    rig_expect(r, GOOD, AT_JOB_CRASHED, "out of memory: buffers and workspace take 1024.0 GiB");
    r->job.paranoid = true;
    rig_expect(r, GOOD, AT_JOB_CRASHED, "out of memory: buffers and workspace take 1024.0 GiB");
    r->job.workspace_bytes = INT64_MAX - 100;
    rig_expect(r, GOOD, AT_JOB_CRASHED, "out of memory");
}

/* ---- wrong answers -------------------------------------------------------------------------- */

static void wrong_value(void **state) {
    rig *r = *state;
    rig_expect(r, KERNEL(ADD "out[123] = 99; out[500] += 1;"), AT_JOB_WRONG, NULL);
    assert_string_equal(r->outcome.error,
                        "out[123]: got 99, expected 0; 2 of 1000 elements differ");
}

static void not_written(void **state) {
    rig_expect(*state, KERNEL("for (i = 0; i < n - 3; i++) out[i] = a[i] + b[i];"), AT_JOB_WRONG,
               "out[997]: never written, expected ");
}

static void not_initialised(void **state) {
    /* A sum onto memory that nobody has set: its poison comes through. */
    rig_expect(
        *state, KERNEL(ADD "((float *)workspace)[3] += 1; out[4] = ((float *)workspace)[3];"),
        AT_JOB_WRONG, "out[4]: got memory never written, expected 1; 1 of 1000 elements differ");
}

/* Right the first time only. */
static void wrong_later(void **state) {
    rig *r = *state;
    r->job.number = r->job.repeat = 2;
    rig_expect(r, "static int calls;\n" KERNEL(ADD "if (++calls == 5) out[3] = 77;"), AT_JOB_WRONG,
               "out[3]: got 77, expected ");
    rig_expect(r, "static int calls;\n" KERNEL("if (++calls > 1) return 0;" ADD), AT_JOB_WRONG,
               "out[0]: never written, expected ");
    rig_expect(r, "static int calls;\n" KERNEL(ADD "if (++calls > 3) return 9;"), AT_JOB_CRASHED,
               "the kernel returned 9 when run again");
    rig_expect(r, "static int calls;\n" KERNEL(ADD "if (++calls > 3) out[n] = 9;"), AT_JOB_CRASHED,
               "out of bounds: wrote behind the end of out");
}

static void not_a_number(void **state) {
    rig_expect(*state, KERNEL(ADD "out[9] = 0.0f / (a[8] - a[8]);"), AT_JOB_WRONG,
               "nan, expected 6");
}

/* ---- time limits ---------------------------------------------------------------------------- */

static void hangs(void **state) {
    rig *r = *state;
    r->job.run_timeout_s = 0.3;
    rig_expect(r, KERNEL("for (;;) {}"), AT_JOB_TIMEOUT, "run exceeded 0.3 s");
}

/* Each run of the check has the limit for itself: together they may take longer. */
static void limit_of_each_run(void **state) {
    rig *r = *state;
    const char *slow =
        KERNEL(ADD "for (i = 0; i < 100000000; i++) ((volatile long *)workspace)[0] = i;");
    r->job.workspace_bytes = 8;
    r->job.run_only = true;
    bool done = false;
    for (int tries = 0; tries < 9 && !done; tries++) { /* the machine may be busy in some */
        memset(r->bufs[1].other_offset, 0, sizeof r->bufs[1].other_offset);
        r->job.run_timeout_s = 600;
        rig_expect(r, slow, AT_JOB_RAN, "");
        r->job.run_timeout_s = 2e-9 * (double)r->outcome.check_ns;
        for (int set = 0; set < AT_MOST_OTHERS; set++)
            r->bufs[1].other_offset[set] = r->bufs[1].offset;
        done = rig_run(r, slow) == AT_JOB_RAN &&
               (double)r->outcome.check_ns > r->job.run_timeout_s * 1e9;
    }
    memset(r->bufs[1].other_offset, 0, sizeof r->bufs[1].other_offset);
    assert_true(done);
}

static void compiles_too_long(void **state) {
    rig *r = *state;
    r->job.compile_timeout_s = 1e-9;
    static char source[2000000];
    char *p = source;
    while (p < source + sizeof source - 100)
        p += sprintf(p, "static int v%d;\n", (int)(p - source));
    rig_expect(r, source, AT_JOB_COMPILE_TIMEOUT, "compile exceeded 1e-09 s");
}

/* The whole answer is there before anybody reads it. */
static void compiles_too_long_unseen(void **state) {
    rig *r = *state;
    at_error err = {0};
    rig_expect(r, GOOD, AT_JOB_RAN, "");
    r->job.compile_timeout_s = 1e-9;
    assert_int_equal(at_worker_begin(r->worker, &r->job, NULL, &err), AT_OK);
    nanosleep(&(struct timespec){0, 300 * 1000000}, NULL);
    assert_int_equal(at_worker_end(r->worker, &r->job, NULL, &r->outcome, &err), AT_OK);
    assert_int_equal(r->outcome.end, AT_JOB_COMPILE_TIMEOUT);
    assert_int_equal(r->outcome.num_costs, 0);
}

/* ---- the worker goes on --------------------------------------------------------------------- */

static void all_in_sequence(void **state) {
    rig *r = *state;
    static void (*const cases[])(void **) = {
        syntax_error,   null_write,        good,          illegal_instruction, divides_by_zero,
        stack_overflow, wrong_value,       missing_entry, writes_behind,       out_of_memory,
        hangs,          compiles_too_long, compiler_crash};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_reset(state);
        cases[i](state);
        rig_reset(state);
        rig_expect(r, GOOD, AT_JOB_RAN, "");
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(good),
        TEST(good_paranoid),
        TEST(syntax_error),
        TEST(warning_is_error),
        TEST(undefined_symbol),
        TEST(missing_entry),
        TEST(missing_pack),
        TEST(error_beside_label),
        TEST(too_much_code),
        TEST(null_write),
        TEST(null_read),
        TEST(jumps_away),
        TEST(wild_pointer),
        TEST(writes_input),
        TEST(illegal_instruction),
        TEST(divides_by_zero),
        TEST(breakpoint),
        TEST(stack_overflow),
        TEST(compiler_crash),
        TEST(exits),
        TEST(returns_an_error),
        TEST(writes_behind),
        TEST(writes_before),
        TEST(writes_behind_workspace),
        TEST(writes_far_behind),
        TEST(paranoid_write_behind),
        TEST(paranoid_write_before),
        TEST(paranoid_read_behind),
        TEST(paranoid_read_before),
        TEST(reads_far_away),
        TEST(uses_what_it_read_behind),
        TEST(paranoid_workspace),
        TEST(other_data),
        TEST(leaves_another_mode),
        TEST(remembers),
        TEST(taken_for_aligned),
        TEST(turns_that_write_much),
        TEST(out_of_memory),
        TEST(wrong_value),
        TEST(not_written),
        TEST(not_initialised),
        TEST(wrong_later),
        TEST(not_a_number),
        TEST(hangs),
        TEST(limit_of_each_run),
        TEST(compiles_too_long),
        TEST(compiles_too_long_unseen),
        TEST(all_in_sequence),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
