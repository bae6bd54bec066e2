/* Files of strangers, made here: every verb ends with a documented exit code and one line at most
 * about each fault, in memory that does not grow with the file, and in work that is linear in it.
 * make check-asan goes through all of it, too. */
#include "tests/cli/cli_test.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define T "conv2d_3x3_gemm"
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define MIB (1 << 20)

#if defined(__SANITIZE_ADDRESS__)
enum { MEASURED = false }; /* the sanitizer's own memory would be counted */
#else
enum { MEASURED = true };
#endif

/* What the program itself takes, with its libraries, before it reads anything. */
static long base_kib;

typedef struct outcome {
    int status;
    long peak_kib;
} outcome;

/* One process, without a shell between; its outputs go to .out and .err. */
static outcome run(const char *command) {
    char *argv[32], text[512];
    int n = 0;
    struct rusage usage;
    outcome o = {0};
    snprintf(text, sizeof text, "./autotune %s", command);
    for (char *rest = text, *word; (word = strsep(&rest, " "));) argv[n++] = word;
    argv[n] = NULL;
    pid_t child = fork();
    if (!child) {
        if (!freopen(".out", "w", stdout) || !freopen(".err", "w", stderr)) _exit(99);
        setrlimit(RLIMIT_CPU, &(struct rlimit){120, 120});
        execv(argv[0], argv);
        _exit(99);
    }
    int status;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    o.peak_kib = usage.ru_maxrss;
    return o;
}

static bool is_documented(int status) { return status == 0 || (status >= 2 && status <= 5); }

/* A verb that ends as it should and takes no more than so many MiB besides. */
static outcome expect_bounded(const char *command, long most_mib) {
    outcome o = run(command);
    if (!is_documented(o.status))
        fail_msg("%s: exit status %d: %s", command, o.status, cli_read(".err"));
    long mib = (o.peak_kib - base_kib) / 1024;
    if (MEASURED && mib > most_mib) fail_msg("%s: %ld MiB, %ld would do", command, mib, most_mib);
    return o;
}

static const char *const log_verbs[] = {
    "log %s",
    "log %s --json",
    "log %s --csv",
    "log %s --split --force",
    "log %s %s --diff",
    "pick_best %s",
    "pick_best %s --per key",
    "pick_best %s --compat",
    "plot %s",
    "plot %s --knobs",
    "report %s --json",
    "convert %s --to t4",
    "convert %s --to kernel_tuner",
    "convert %s --to space",
    "replay %s --repeats 1 --trials 2",
    "show " T " --log %s",
    "apply " T " --log %s -o x.c --force",
    "apply --log %s -o x.c --force",
    "space " T " --weight %s",
    T " --trials 1 --tuner random --args N=1,H=4,W=4,CI=8,CO=8 --log %s",
};

/* 64 MiB for each verb; those that hold all records get as much as the file besides. */
static void over_all_verbs(const char *file, long file_mib) {
    char command[300];
    for (int i = 0; i < COUNT(log_verbs); i++) {
        snprintf(command, sizeof command, log_verbs[i], file, file);
        expect_bounded(command, 64 + file_mib);
        cli_run("rm -f *.wkl x.c x.h");
    }
}

static void add_record(at_text *log, const char *task, int m, const char *knobs, const char *more) {
    at_text_addf(
        log,
        "{\"input\": [\"llvm -keys=cpu\", \"%s\", [1, %d, 4, 8, 8, \"float32\"], {}], "
        "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": [%s]}, \"result\": "
        "[[0.001], 0, 0.5, 1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"%s}\n",
        task, m, knobs, more);
}

#define KNOBS                                                                                      \
    "[\"tile_y\", \"sp\", [-1, 1, 1]], [\"tile_x\", \"sp\", [-1, 1, 8]], [\"tile_k\", \"sp\", "    \
    "[-1, 1]]"

static void write_text(const char *path, at_text *text) {
    at_error err;
    if (at_write_file(path, at_text_str(text), text->len, &err) != AT_OK) fail_msg("%s", err.text);
    at_text_free(text);
}

static void setup_base(void) { base_kib = run("version").peak_kib; }

/* ---- logs ------------------------------------------------------------------------------------ */

static void newlines(void **state) {
    (void)state;
    setup_base();
    cli_expect(0, "head -c 2000000 /dev/zero | tr '\\0' '\\n' >newlines.log");
    over_all_verbs("newlines.log", 0);
    cli_expect(0, "{ echo '{'; cat newlines.log; } >brace.log");
    over_all_verbs("brace.log", 64); /* it may be a file of another tuner, which is read at once */
}

static void one_line(void **state) {
    (void)state;
    setup_base();
    at_text t = {0}, knobs = {0}, values = {0};
    /* 30,000 knobs: an error, and not after as many comparisons as pairs. */
    for (int i = 0; i < 30000; i++)
        at_text_addf(&knobs, "%s[\"k%d\", \"ot\", 1]", i ? ", " : "", i);
    add_record(&t, T, 4, at_text_str(&knobs), "");
    write_text("knobs.log", &t);
    over_all_verbs("knobs.log", 0);
    cli_expect(0, "./autotune log knobs.log 2>&1 | grep -q 'knobs.log:1: not a record: '");
    at_text_clear(&knobs);
    for (int i = 0; i < 257; i++) at_text_addf(&knobs, "%s[\"k%d\", \"ot\", 1]", i ? ", " : "", i);
    add_record(&t, T, 4, at_text_str(&knobs), "");
    write_text("knobs.log", &t);
    const cli_result *r = cli_expect(4, "./autotune log knobs.log");
    assert_non_null(strstr(r->err, "an entity of 257 knobs; at most 256 are read; skipped"));
    /* Values without end, in a line of less than 1 MiB, and deep nesting. */
    at_text_add(&values, ", \"x\": [0");
    for (int i = 0; i < 450000; i++) at_text_add(&values, ",0");
    at_text_add(&values, "]");
    add_record(&t, T, 4, KNOBS, at_text_str(&values));
    write_text("values.log", &t);
    over_all_verbs("values.log", 0);
    cli_expect(0, "./autotune log values.log 2>&1 | grep -q 'more than 65536 values'");
    cli_expect(0, "head -c 900000 /dev/zero | tr '\\0' '[' >nested.log; echo >>nested.log");
    over_all_verbs("nested.log", 0);
    cli_expect(0,
               "{ printf '{\"input\": \"'; head -c 8000000 /dev/zero | tr '\\0' 'x'; } >long.log");
    over_all_verbs("long.log", 64);
    at_text_free(&knobs);
    at_text_free(&values);
}

static void compressed(void **state) {
    (void)state;
    setup_base();
    /* 16 KB that are 16 MB of one line, and a bomb inside of many members. */
    cli_expect(0,
               "{ printf '{\"input\": [\"'; head -c 16000000 /dev/zero | tr '\\0' 'x'; } | gzip -9 "
               ">line.log.gz && [ $(stat -c %%s line.log.gz) -lt 17000 ]");
    over_all_verbs("line.log.gz", 0);
    const cli_result *r = cli_expect(4, "./autotune log line.log.gz");
    assert_non_null(strstr(r->err, "cannot read line.log.gz: it expands to more than 200 times its "
                                   "size; gunzip makes a plain file of it, if you trust it"));
    cli_expect(0, "for i in 1 2 3 4 5 6 7 8; do cat line.log.gz; done >members.log.gz");
    expect_bounded("log members.log.gz", 64);
    cli_expect(0, "head -c 82000000 /dev/zero | gzip -9 >zeros.log.gz");
    expect_bounded("log zeros.log.gz", 64);
    expect_bounded("convert zeros.log.gz --to t4", 64);
    /* An honest log is not taken for one. */
    at_text t = {0};
    for (int i = 0; i < 3000; i++) add_record(&t, T, 1 + i % 3, KNOBS, "");
    write_text("honest.log", &t);
    cli_expect(
        0,
        "gzip -9 -k honest.log && ./autotune log honest.log.gz | grep -q '^honest.log.gz: 3000 '");
}

/* Work that grows with the square of the records would outlast every limit of a test here. */
static void unknown_tasks(void **state) {
    (void)state;
    setup_base();
    at_text many = {0}, names = {0};
    for (int i = 0; i < 60000; i++) add_record(&many, "somebody_elses", 4, KNOBS, "");
    for (int i = 0; i < 8000; i++) {
        char name[32];
        snprintf(name, sizeof name, "task_%d", i);
        add_record(&names, name, 4, KNOBS, "");
    }
    write_text("many.log", &many);
    write_text("names.log", &names);
    static const char *const verbs[] = {"apply --log %s", "show " T " --log %s", "log %s",
                                        "pick_best %s -q"};
    for (int i = 0; i < COUNT(verbs); i++) {
        char command[100];
        snprintf(command, sizeof command, verbs[i], "many.log");
        expect_bounded(command, 64);
    }
    over_all_verbs("names.log", 0);
    cli_run("rm -f many.log names.log");
}

/* As logs that were published for many networks together. */
static void thousands_of_tasks(void **state) {
    (void)state;
    setup_base();
    at_text log = {0}, knobs = {0};
    for (int i = 0; i < 16; i++)
        at_text_addf(&knobs, "%s[\"tile_of_an_axis_%d\", \"sp\", [-1, 2, 4, 8]]", i ? ", " : "", i);
    for (int i = 0; i < 1500; i++)
        add_record(&log, "somebody_elses", i + 1, at_text_str(&knobs), "");
    write_text("published.log", &log);
    static const char *const verbs[] = {"log published.log", "pick_best published.log -q"};
    for (int i = 0; i < COUNT(verbs); i++) assert_int_equal(expect_bounded(verbs[i], 64).status, 0);
    cli_run("rm -f published.log");
    at_text_free(&knobs);
}

/* Which record wins is found while they go by. */
static void one_task(void **state) {
    (void)state;
    setup_base();
    at_text t = {0};
    for (int i = 0; i < 20000; i++) add_record(&t, T, 4, KNOBS, "");
    write_text("one_task.log", &t);
    static const char *const uses[] = {
        "show " T " --log one_task.log",
        "show " T " --log one_task.log --line 20000",
        "apply " T " --log one_task.log -o x.c --force",
        "apply --log one_task.log -o x.c --force",
    };
    for (int i = 0; i < COUNT(uses); i++) assert_int_equal(expect_bounded(uses[i], 64).status, 0);
    cli_run("rm -f one_task.log x.c x.h");
}

static void expect_one_line(const char *command, const char *text) {
    outcome o = expect_bounded(command, 64);
    assert_in_range(o.status, 2, 4);
    char *err = cli_read(".err");
    if (cli_count_lines(err, "autotune: ") != 1 || cli_count_lines(err, "") != 1 ||
        !strstr(err, text))
        fail_msg("%s: %s", command, err);
}

/* Each record of another task, context or knob: what is kept of each, a task with its trees above
 * all, is kept of a few at a time. */
static void all_different(void **state) {
    (void)state;
    setup_base();
    at_text shapes = {0}, contexts = {0}, knobs = {0};
    char text[100], command[100];
    for (int i = 0; i < 40000; i++) {
        add_record(&shapes, T, i + 1, KNOBS, "");
        if (i == 4999)
            cli_write("few.log", at_text_str(&shapes)); /* enough to fill the memory with tasks */
    }
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, ", \"autotune\": {\"context\": {\"cpu\": \"%d\"}}", i);
        add_record(&contexts, T, 4, KNOBS, text);
    }
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "[\"k%d\", \"ot\", 1]", i);
        add_record(&knobs, "elsewhere", 4, text, ""); /* whose knobs are not known here */
    }
    write_text("shapes.log", &shapes);
    write_text("contexts.log", &contexts);
    write_text("different_knobs.log", &knobs);
    static const char *const uses[] = {"show", "run", "apply"};
    for (int i = 0; i < COUNT(uses); i++) {
        snprintf(command, sizeof command, "%s " T " --log shapes.log", uses[i]);
        assert_int_equal(expect_bounded(command, 64).status, 2);
        assert_non_null(strstr(cli_read(".err"), "shapes.log: holds more than "));
        assert_non_null(strstr(cli_read(".err"), " tasks of " T "; choose one with --args: ["));
    }
    if (cli_has_xgb())
        expect_bounded(
            T " --args N=1,H=4,W=4,CI=8,CO=8 --trials 1 --transfer few.log --log own.log", 64);
    static const char *const pictures[] = {"plot %s", "plot %s --knobs", "report %s --json"};
    static const char *const logs[] = {"shapes.log", "contexts.log", "different_knobs.log"};
    for (int i = 0; i < COUNT(pictures); i++)
        for (int k = 0; k < COUNT(logs); k++) {
            snprintf(command, sizeof command, pictures[i], logs[k]);
            assert_int_equal(expect_bounded(command, 64).status, 4);
            expect_one_line(command, ": more than 2000 different tasks, searches of them or knobs");
        }
    cli_run("rm -f shapes.log few.log contexts.log different_knobs.log own.log");
}

/* One task, and more of its anchors than are remembered. */
static void many_anchors(void **state) {
    (void)state;
    setup_base();
    at_text t = {0};
    for (int i = 0; i < 30000; i++)
        at_text_addf(&t,
                     "#anchor {\"task\": \"" T "\", \"args\": [], \"context_hash\": \"%032d\", "
                     "\"index\": 0, \"entity\": [], \"code_hash\": \"%032d\", \"number\": %d, "
                     "\"links\": 0, \"of_first\": 1.0, \"first\": \"%032d\", \"first_s\": 0.001}\n",
                     0, 0, i, 0);
    add_record(&t, T, 4, KNOBS, "");
    write_text("anchors.log", &t);
    expect_one_line(
        "pick_best anchors.log",
        ": tasks, their anchors and their finals up to here take more memory than 4 MiB");
    cli_run("rm -f anchors.log");
}

/* As twenty layers leave them that were tuned twice, 64 finalists each; and too many. */
static void write_finals(int n) {
    static const char round[] =
        "[0.0015433760000000002, 0.0018014770000000001, 0.0016008040000000002]";
    at_text t = {0};
    for (int i = 0; i < n; i++)
        at_text_addf(&t,
                     "#final {\"task\": \"" T "\", \"args\": [%d], \"context_hash\": \"%032d\", "
                     "\"index\": %d, \"entity\": [[\"tile_x\", \"sp\", [-1, 4]]], "
                     "\"begun\": %d, \"rounds\": 3, \"rounds_s\": [%s, %s, %s], "
                     "\"peaks_gflops\": [178.5, 178.25, 178.125]}\n",
                     i / 128, 0, i % 64, 1 + i / 64 % 2, round, round, round);
    add_record(&t, T, 4, KNOBS, "");
    write_text("finals.log", &t);
}

static void many_finals(void **state) {
    (void)state;
    setup_base();
    write_finals(20 * 2 * 64);
    assert_int_equal(expect_bounded("pick_best finals.log", 64).status, 0);
    write_finals(16000);
    expect_one_line(
        "pick_best finals.log",
        ": tasks, their anchors and their finals up to here take more memory than 12 MiB");
    cli_run("rm -f finals.log");
}

/* ---- what is no file ------------------------------------------------------------------------- */

static void no_files(void **state) {
    (void)state;
    setup_base();
    static const char *const endings[] = {".npy", ".mtx", ".npz", ".c", ".log"};
    static const char *const uses[] = {"show dense --weight %s", "show dense --weight %s",
                                       "show dense --weight %s", "show %s", "log %s"};
    static const struct {
        const char *make, *why[2]; /* of a file that is read at once; of a log */
    } kinds[] = {
        {"ln -s /dev/zero %s", {"device", "looks like no log: byte 0 is 0x00"}},
        {"mkdir %s", {"Is a directory", "Is a directory"}},
        {"mkfifo %s", {"pipe", "nobody writes into this pipe"}},
        {"truncate -s 100G %s", {"", "looks like no log: byte 0 is 0x00"}},
    };
    for (int k = 0; k < COUNT(kinds); k++)
        for (int i = 0; i < COUNT(endings); i++) {
            char path[40], command[100];
            snprintf(path, sizeof path, "no_file_%d%s", k, endings[i]);
            cli_expect(0, kinds[k].make, path);
            snprintf(command, sizeof command, uses[i], path);
            expect_one_line(command, kinds[k].why[i == 4]);
            if (i == 4) {
                snprintf(command, sizeof command, "show dense --config %s", path);
                expect_one_line(command, kinds[k].why[0]);
                snprintf(command, sizeof command, "show dense --from-steps %s", path);
                expect_one_line(command, kinds[k].why[0]);
                snprintf(command, sizeof command, "dense --workload ./%s", path);
                expect_one_line(command, kinds[k].why[1]);
                snprintf(command, sizeof command, "dense --tuner xgb --transfer %s", path);
                if (cli_has_xgb()) expect_one_line(command, kinds[k].why[1]);
                snprintf(command, sizeof command, "convert %s --to t4", path);
                expect_one_line(command, "");
                snprintf(command, sizeof command, "replay %s", path);
                expect_one_line(command, "");
            }
        }
    cli_run("rm -rf no_file_*");
    /* A pipe that somebody writes into is a log like any other. */
    at_text t = {0};
    add_record(&t, T, 4, KNOBS, "");
    write_text("one.log", &t);
    cli_expect(
        0, "mkfifo fed.log; (sleep 0.2; timeout 500 cat one.log >fed.log) & ./autotune log fed.log "
           "| grep -q '^fed.log: 1 records'; wait");
    cli_expect(0, "cat one.log | ./autotune pick_best /dev/stdin | grep -q '^{'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newlines),           cmocka_unit_test(one_line),
        cmocka_unit_test(compressed),         cmocka_unit_test(unknown_tasks),
        cmocka_unit_test(thousands_of_tasks), cmocka_unit_test(many_anchors),
        cmocka_unit_test(many_finals),        cmocka_unit_test(all_different),
        cmocka_unit_test(one_task),           cmocka_unit_test(no_files),
    };
    return cmocka_run_group_tests_name("cli/limits", tests, cli_setup, cli_teardown);
}
