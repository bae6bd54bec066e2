/* A machine that lacks something, or takes it away while a run lasts: the run ends with one line,
 * nothing is recorded of what it did not learn, and nothing stays behind. */
#include "engine/search/machine_speeds.h"
#include "tests/cli/cli_test.h"

#include <string.h>

#define SMALL "./autotune conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 --tuner grid "
#define GCC "--compiler gcc "
#define LONG "./autotune conv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=16 --trials 1000000 "

static bool has_gcc(void) { return cli_run("command -v gcc")->status == 0; }

/* stderr, but for lines of progress. */
static const char *said(const cli_result *r) {
    const char *line = strstr(r->err, "autotune: ");
    return line ? line : "";
}

/* A log holds whole lines only, and no failure. */
static void expect_nothing_learnt(const char *log) {
    cli_expect(0, "! grep -q unchecked %s", log);
    cli_expect(0, "! grep -v -e '^{.*}$' -e '^#' %s && [ -z \"$(tail -c 1 %s)\" ]", log, log);
}

/* ---- the temporary folder -------------------------------------------------------------------- */

static void no_folder(void **state) {
    (void)state;
    if (!has_gcc()) skip();
    const cli_result *r = cli_expect(5, "TMPDIR=/nowhere " SMALL GCC "--trials 6 --log none.log");
    assert_string_equal(said(r), "autotune: gcc: no temporary folder in /nowhere (TMPDIR): No such "
                                 "file or directory\n");
    r = cli_expect(5, "TMPDIR=/nowhere " SMALL GCC "--trials 6 --jobs 2 --log none.log || "
                      "{ s=$?; [ $s = 2 ] && s=5; exit $s; }"); /* 2: there is one core only */
    expect_nothing_learnt("none.log");
    /* Once there is one, all is measured. */
    cli_expect(0, SMALL GCC "--trials 6 --log none.log --json");
    assert_int_equal(cli_member(cli_json(), "trials")->integer, 6);
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
    expect_nothing_learnt("none.log");
    cli_expect(5, "TMPDIR=/nowhere ./autotune run conv2d_3x3_gemm " GCC "--config default");
}

/* What the compilers write ends in the middle, at different places. */
static void full_disk(void **state) {
    (void)state;
    if (!has_gcc()) skip();
    cli_run("mkdir -p disk");
    for (int kib = 4; kib <= 64; kib *= 16) {
        char log[32];
        if (cli_run("mount -t tmpfs -o size=%dk tmpfs disk", kib)->status) skip();
        const cli_result *r =
            cli_run("TMPDIR=$PWD/disk " SMALL GCC "--trials 6 --log full%d.log", kib);
        int status = r->status;
        bool told = strstr(said(r), "/disk (TMPDIR): No space left on device\n");
        const char *left = cli_expect(0, "ls disk; umount disk")->out;
        assert_string_equal(left, "");
        if (status != 5 || !told) fail_msg("%d KiB: exit %d", kib, status);
        snprintf(log, sizeof log, "full%d.log", kib);
        expect_nothing_learnt(log);
    }
}

/* ---- descriptors, memory, size of files, stack ----------------------------------------------- */

static void few_descriptors(void **state) {
    (void)state;
    static const int limits[] = {6, 9, 12};
    bool gcc = has_gcc();
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const cli_result *r = cli_run("rm -f few.log; ulimit -n %d; " SMALL "%s--trials 6 --log "
                                      "few.log",
                                      limits[i], gcc ? GCC : "");
        if (r->status != 1 && gcc)
            fail_msg("%d descriptors: exit %d, %s", limits[i], r->status, r->err);
        if (gcc) assert_string_not_equal(said(r), "");
        expect_nothing_learnt("few.log");
    }
}

static void file_too_large(void **state) {
    (void)state;
    const cli_result *r = cli_expect(1, "ulimit -f 100; " SMALL "--trials 6 --log large.log");
    assert_non_null(strstr(said(r), "no memory file of 1 MiB: File too large\n"));
    /* A log that is nearly as large as files may be: it ends with the last whole record. */
    cli_expect(0, SMALL "--trials 1 --log large.log");
    cli_expect(0, "n=$(((1116000 - $(wc -c <large.log)) / 12)); yes '# a comment' | head -n $n "
                  ">>large.log");
    r = cli_expect(5, "ulimit -f 2200; " SMALL "--trials 60 --log large.log");
    assert_non_null(strstr(said(r), "autotune: cannot write large.log: File too large\n"));
    cli_expect(0, "grep -q '^{.*}$' large.log");
    expect_nothing_learnt("large.log");
}

static void small_stack(void **state) {
    (void)state;
    const cli_result *r = cli_expect(1, "ulimit -s 100; " SMALL "--trials 1 --log stack.log");
    assert_string_equal(r->err, "autotune: the stack may take 100 KiB (ulimit -s), 1024 are "
                                "needed\n");
    cli_expect(0, "ulimit -S -s 100; " SMALL "--trials 1 --log stack.log"); /* it may be raised */
    cli_expect(0, "ulimit -s 1024; " SMALL GCC "--trials 1 --log stack.log || [ $? = 2 ]");
}

/* ---- signals --------------------------------------------------------------------------------- */

static void hung_up(void **state) {
    (void)state;
    cli_expect(130, LONG "--log hup.log & p=$!; " UNTIL_RECORDS("hup.log") "kill -HUP $p; wait $p");
    expect_nothing_learnt("hup.log");
    assert_int_equal(cli_processes(), 0);
    /* As under nohup. */
    cli_expect(143,
               "(trap '' HUP; exec " LONG "--log nohup.log) & p=$!; " UNTIL_RECORDS(
                   "nohup.log") "kill -HUP $p; n=$(wc -l <nohup.log); while [ $(wc -l <nohup.log) "
                                "-le $n ]; do "
                                "sleep 0.05; done; kill -TERM $p; kill -TERM $p; wait $p; s=$?; "
                                "[ $s = 130 ] && s=143; exit $s");
    cli_wait_for_processes();
}

/* The objects of the final are nobody's to clean up. */
static void killed_in_the_final(void **state) {
    (void)state;
    if (!has_gcc()) skip();
    cli_run("mkdir -p tmp");
    cli_run("TMPDIR=$PWD/tmp " SMALL GCC "--trials 6 --log final.log & p=$!; "
            "while ! grep -q '^#final' final.log 2>/dev/null; do sleep 0.01; done; kill -KILL $p; "
            "wait $p");
    cli_wait_for_processes();
    cli_run("until rmdir tmp; do sleep 0.01; done"); /* what stays there hangs this test */
}

/* Does a run whose processes are all stopped for longer than a kernel may take blame a kernel? */
static bool is_blamed(int limit_s) {
    cli_expect(130,
               "rm -f stop.log; setsid " LONG "--timeout %ds --log stop.log & p=$!; " UNTIL_RECORDS(
                   "stop.log") "kill -STOP -$p; sleep %g; kill -CONT -$p; n=$(wc -l <stop.log); "
                               "while [ $(wc -l <stop.log) -le $n ]; do sleep 0.05; done; "
                               "kill -TERM $p; wait $p",
               limit_s, 1.6 * limit_s);
    assert_int_equal(cli_processes(), 0);
    return cli_run("grep -q exceeded stop.log")->status == 0;
}

/* All of them get it, as from a job control that stops a whole group. The limit must be long enough
 * for this machine now. */
static void stopped(void **state) {
    (void)state;
    int limit_s = 1;
    while (limit_s < 100 && is_blamed(limit_s)) limit_s *= 4;
    assert_true(limit_s < 100);
}

/* ---- the final ------------------------------------------------------------------------------- */

/* A gcc that turns against the first kernel it is given. */
static const char fickle_gcc[] = "#!/bin/sh\n"
                                 "[ -e kernel.c ] && ! grep -q control_entry kernel.c && {\n"
                                 "    sum=$(cksum <kernel.c)\n"
                                 "    [ -e \"$FIRST\" ] || echo \"$sum\" >\"$FIRST\"\n"
                                 "    [ \"$sum\" = \"$(cat \"$FIRST\")\" ] && {\n"
                                 "        echo 'error: not this one' >&2\n"
                                 "        exit 1\n"
                                 "    }\n"
                                 "}\n"
                                 "exec \"$REAL_GCC\" \"$@\"\n";

static void finalist_fails(void **state) {
    (void)state;
    if (!has_gcc()) skip();
    cli_run("mkdir -p bin");
    cli_write("bin/gcc", fickle_gcc);
    cli_expect(0, SMALL GCC "--trials 6 --number 3 --log again.log");
    /* All trials are answered from the log, so that the first kernel is the best one's. */
    const cli_result *r =
        cli_expect(0, "chmod +x bin/gcc; export REAL_GCC=$(command -v gcc) FIRST=$PWD/first; "
                      "PATH=$PWD/bin:$PATH " SMALL GCC "--trials 6 --number 3 --log again.log");
    assert_non_null(strstr(r->err, " failed when compiled again: gcc: error: not this one\n"));
}

/* ---- its states ------------------------------------------------------------------------------ */

static void watched(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune machine --watch 300ms -o states.svg");
    assert_non_null(strstr(r->out, "kernels would run on CPU "));
    assert_non_null(strstr(r->out, "multiply-adds in the time of "));
    cli_expect(0,
               "head -c 4 states.svg | grep -q '<svg' && tail -n 1 states.svg | grep -q '</svg>'");
    cli_expect(0, "./autotune machine --watch 100ms -o states.svg"); /* again, over its like */
    cli_expect(0, "echo mine >mine.txt");
    cli_expect(2, "./autotune machine --watch 100ms -o mine.txt");
    cli_expect(0, "grep -q mine mine.txt");
    cli_expect(2, "./autotune machine --watch 1s --json");
    cli_expect(2, "./autotune machine --watch 1s --measure");
    cli_expect(2, "./autotune machine -o states.svg");
}

/* A table that cannot be read is named, with what is wrong; a machine without one was not measured.
 */
static void table_refused(void **state) {
    (void)state;
    static const struct {
        const char *edit, *said;
    } wrong[] = {
        {"s/\"measured\": 0/\"measured\": -1/",
         "(measured: a number is wanted that is not below 0 and not immense)"},
        {"s/\"sets\":/\"set\":/", "(sets: a list of at most 4 objects is wanted)"},
        {"s/\"cpu\": \"/&another /", "(it is of another CPU or version)"},
    };
    at_arena *a = at_arena_new();
    const char *path = at_speeds_path(a);
    const cli_result *r = cli_expect(0, "./autotune machine");
    assert_non_null(strstr(r->out, "\nnever measured: what follows is "));
    cli_expect(0, "mkdir -p \"$XDG_CACHE_HOME/autotune\" && ./autotune machine --json >known.json");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cli_expect(0, at_format(a, "sed '%s' known.json >'%s'", wrong[i].edit, path));
        r = cli_expect(0, "./autotune machine");
        const char *said =
            at_format(a, "%s is no table of this machine's speeds %s: ", path, wrong[i].said);
        if (!strstr(r->out, said)) fail_msg("%s is not in %.300s", said, r->out);
        assert_null(strstr(r->out, "never measured"));
    }
    cli_expect(0, at_format(a, "rm '%s'", path));
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_folder),       cmocka_unit_test(full_disk),
        cmocka_unit_test(few_descriptors), cmocka_unit_test(file_too_large),
        cmocka_unit_test(small_stack),     cmocka_unit_test(hung_up),
        cmocka_unit_test(stopped),         cmocka_unit_test(killed_in_the_final),
        cmocka_unit_test(finalist_fails),  cmocka_unit_test(watched),
        cmocka_unit_test(table_refused),
    };
    return cmocka_run_group_tests_name("cli/machine", tests, cli_setup, cli_teardown);
}
