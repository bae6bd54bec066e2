/* What may happen to a run: killed at any moment, its log deleted, the clock set, and kernels that
 * are wrong, crash or hang. By hand: AT_KILLS=100, AT_FAULTS=1000. */
#include "tests/cli/cli_test.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

#define SMALL "conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 "
#define LONG "./autotune conv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=16 --trials 1000000 "

/* ---- killed ---------------------------------------------------------------------------------- */

/* The indices of a log's whole records, sorted. */
#define INDICES                                                                                    \
    "grep '^{.*}$' %s | grep -v '\"part\": \"anchor\"' | sed 's/.*\"config\": {\"index\": "        \
    "\\([0-9]*\\),.*/\\1/' | sort -n"

/* Started again and again, and killed after a random time; once more the last bytes of the log are
 * lost with it, as they are when the machine goes down. */
static void killed_at_random(void **state) {
    (void)state;
    int kills = (int)setting("AT_KILLS", 6);
    const char *tune = "./autotune " SMALL "--tuner grid --trials 120 --log killed.log";
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)kills, 1);
    for (int i = 0; i < kills; i++) {
        double after_s = 0.02 + 0.5 * at_rng_unit(&rng);
        cli_run("%s >/dev/null 2>&1 & p=$!; sleep %.3f; kill -KILL $p; wait $p", tune, after_s);
        if (i % 3 == 2)
            cli_run("[ -s killed.log ] && tail -n 1 killed.log | grep -q '^{' && "
                    "truncate -s -%d killed.log",
                    1 + (int)at_rng_below(&rng, 60));
        cli_expect(0, "! { " INDICES " | uniq -d | grep .; }", "killed.log"); /* none is twice */
    }
    cli_expect(0, "%s", tune);
    cli_expect(0, "./autotune " SMALL "--tuner grid --trials 120 --log at_once.log");
    char *at_once = strdup(cli_expect(0, INDICES, "at_once.log")->out);
    assert_int_equal(cli_count_lines(at_once, ""), 120);
    assert_string_equal(cli_expect(0, INDICES, "killed.log")->out, at_once);
    free(at_once);
    cli_wait_for_processes();
}

/* ---- log and clock --------------------------------------------------------------------------- */

static void log_deleted(void **state) {
    (void)state;
    static const char *const ways[] = {"rm deleted.log", "mv deleted.log elsewhere.log",
                                       "cp deleted.log x && mv x deleted.log"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const cli_result *r =
            cli_expect(5,
                       "rm -f deleted.log; " LONG
                       "--log deleted.log & p=$!; " UNTIL_RECORDS("deleted.log") "%s; wait $p",
                       ways[i]);
        assert_non_null(strstr(r->err, "autotune: cannot write deleted.log: it was deleted or "
                                       "replaced while this run was writing it\n"));
        /* What was found until then is shown. */
        assert_non_null(strstr(r->out, "of the FMA peak"));
    }
}

/* The wall clock jumps by a day at each look, back and forth. */
static void clock_set(void **state) {
    (void)state;
    if (cli_run("command -v cc")->status != 0) skip();
    cli_write("jump.c",
              "#include <dlfcn.h>\n"
              "#include <time.h>\n"
              "int clock_gettime(clockid_t which, struct timespec *t) {\n"
              "    static int looks;\n"
              "    static int (*real)(clockid_t, struct timespec *);\n"
              "    if (!real) *(void **)&real = dlsym(RTLD_NEXT, \"clock_gettime\");\n"
              "    int failed = real(which, t);\n"
              "    if (which == CLOCK_REALTIME) t->tv_sec += looks++ % 2 ? 86400 : -86400;\n"
              "    return failed;\n"
              "}\n");
    cli_expect(0, "cc -D_GNU_SOURCE -shared -fPIC -o jump.so jump.c -ldl");
    cli_expect(0, "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/jump.so ./autotune " SMALL
                  "--trials 20 --log jump.log --json");
    const at_json *r = cli_json();
    assert_true(cli_member(r, "best.time_ns")->number > 0);
    assert_true(cli_member(r, "seconds.total")->number < 3600);
    cli_expect(0, "./autotune " SMALL "--trials 20 --log jump.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 20);
}

/* ---- faulty kernels -------------------------------------------------------------------------- */

/* A gcc that puts a fault into two kernels of three: which one depends on the kernel's text, so
 * that it is the same in the final. Each kernel is noted with the error that it must get. */
static const char faulty_gcc[] =
    "#!/bin/sh\n"
    "grep -q control_entry kernel.c && exec \"$REAL_GCC\" -shared -fPIC -o kernel.so kernel.c\n"
    "kind=$(($(cksum <kernel.c | cut -d' ' -f1) / 16 % 18))\n"
    "before= after= error=0\n"
    "case $kind in\n"
    "0) before='return 0;' error=5 ;;\n"
    "1) after='out[17] += 1;' error=5 ;;\n"
    "2) after='out[3] = 0.0f / 0.0f;' error=5 ;;\n"
    "3) before='static int calls; if (calls++) return 0;' error=5 ;;\n"
    "4) after='out[-1] = 0;' error=4 ;;\n"
    "5) after='out[5 * 7 * 6] = 0;' error=4 ;;\n"
    "6) after='for (long i = 0; i < 100000000; i++) out[i] = 0;' error=4 ;;\n"
    "7) before='*(volatile int *)0 = 0;' error=4 ;;\n"
    "8) before='__builtin_trap();' error=4 ;;\n"
    "9) before='_exit(0);' error=4 ;;\n"
    "10) before='abort();' error=4 ;;\n"
    "11) before='pause();' error=4 ;;\n"
    "esac\n"
    "echo $error >>\"$NOTES\"\n"
    "cat >fault.c <<END\n"
    "#include <stdlib.h>\n"
    "#include <unistd.h>\n"
    "int real_entry(void *const buf[], void *workspace, void *par);\n"
    "int kernel_entry(void *const buf[], void *workspace, void *par) {\n"
    "    float *out = buf[2];\n"
    "    $before\n"
    "    int failed = real_entry(buf, workspace, par);\n"
    "    $after\n"
    "    return failed + !out;\n"
    "}\n"
    "END\n"
    "\"$REAL_GCC\" -Dkernel_entry=real_entry -c -O1 -fPIC -o real.o kernel.c || exit 1\n"
    "exec \"$REAL_GCC\" -shared -fPIC -O1 -o kernel.so fault.c real.o -lm\n";

#define FAULTY                                                                                     \
    "rm -rf %s.log notes tmp; mkdir tmp; REAL_GCC=$(command -v gcc) NOTES=$PWD/notes "             \
    "PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp ./autotune conv2d_3x3_gemm --args "                       \
    "N=1,H=5,W=7,CI=24,CO=6 --pack inline --trials %d --tuner random --compiler gcc --timeout "    \
    "%ds --log %s.log --quiet"
#define ERRORS                                                                                     \
    "grep '^{' %s.log | grep -v '\"same_as\"' | grep -v '\"part\": \"anchor\"' | "                 \
    "sed 's/.*\"result\": \\[\\[[^]]*\\], \\([0-9]*\\),.*/\\1/' >%s.errors"

/* A search; false where the limit was too short for what is right. Nothing is left behind. */
static bool tune_faulty(const char *log, int trials, int limit_s, const char *options) {
    int status = cli_run(FAULTY " %s", log, trials, limit_s, log, options)->status;
    assert_int_equal(cli_processes(), 0);
    cli_expect(0, "rmdir tmp; " ERRORS, log, log);
    return !status;
}

/* Does each kernel get the error that it must get? conv of 5x7, 3 to 16 channels: buffers are data,
 * weight (packed inside) and out. */
static bool errors_are_right(int trials, int limit_s) {
    if (!tune_faulty("faulty", trials, limit_s, "--number 1 --repeat 3")) return false;
    cli_expect(0, "test $(grep -c '^{' faulty.log) = %d", trials);
    /* Records that were measured, in order, beside the notes; those after are of the final. */
    if (cli_run("head -n $(wc -l <faulty.errors) notes | cmp - faulty.errors")->status)
        return false;
    if (cli_run("tail -n +$(($(wc -l <faulty.errors) + 1)) notes | awk '$1 { exit 1 }'")->status)
        return false;
    cli_expect(0, "test $(grep -c -v '^0' faulty.errors) -ge %d", trials / 3);
    /* In pairs, whose anchor may be faulty, too: the same kernels fail in the same way. */
    return tune_faulty("pairs", trials, limit_s, "") &&
           !cli_run("cmp faulty.errors pairs.errors")->status;
}

/* With a limit that is long enough for this machine now. */
static void faulty_kernels(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    int trials = (int)setting("AT_FAULTS", 24);
    cli_run("mkdir -p bin");
    cli_write("bin/gcc", faulty_gcc);
    cli_expect(0, "chmod +x bin/gcc");
    int limit_s = 3;
    while (limit_s < 100 && !errors_are_right(trials, limit_s)) limit_s *= 4;
    if (limit_s > 100) fail_msg("%s", cli_run("paste notes faulty.errors pairs.errors 2>&1")->out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_random),
                                       cmocka_unit_test(log_deleted), cmocka_unit_test(clock_set),
                                       cmocka_unit_test(faulty_kernels)};
    return cmocka_run_group_tests_name("cli/faults", tests, cli_setup, cli_teardown);
}
