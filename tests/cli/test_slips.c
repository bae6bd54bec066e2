/* tests/cli/test_slips.c: what people type by mistake, and what they expect without having read
 * anything: one line that names the remedy, or the thing itself. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#define SMALL "--args N=1,H=7,W=7,CI=8,CO=16"

static const char own[] = "#include \"template.h\"\n"
                          "static void define(at_template *t) {\n"
                          "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                          "    at_compute(t, \"a[X] : input\\nb[x:X] = %s\\n\");\n"
                          "    at_schedule(t, \"xo, xi:vec =>\\n    @b = {xo, xi}/x\\n\");\n"
                          "}\n"
                          "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
                          "    .record_args = \"[X]\", .define = define};\n";

static void write_own(const char *expression) {
    at_text t = {0};
    at_text_addf(&t, own, expression);
    cli_write("own.c", at_text_str(&t));
    at_text_free(&t);
}

static void messages(void **state) {
    (void)state;
    static const struct {
        const char *command, *message;
        int status;
    } rows[] = {
        {"conv2d_nhwc --args N=1 --args H=56", "--args is given twice: N=1 and H=56", 2},
        {"conv2d_nhwc --log a.log --log=b.log", "--log is given twice: a.log and b.log", 2},
        {"conv2d_nhwc --log ''", "--log \"\": the path of a file is expected", 2},
        {"show conv2d_nhwc -o ''", "--output \"\": the path of a file is expected", 2},
        {"conv2d_nhwc --args N=1 H=56",
         "unexpected word \"H=56\": arguments are separated by commas: --args N=1,H=56", 2},
        {"conv2d_nhwc N=1,H=56", "unexpected word \"N=1,H=56\": write --args N=1,H=56", 2},
        {"replay a.log N=1", "unexpected word \"N=1\": autotune replay LOG", 2},
        {"conv2d_nhwc --args N=1 more.log", "unexpected word \"more.log\": autotune tune TEMPLATE",
         2},
        {"conv2",
         "unknown command or template \"conv2\"; templates that begin with it: conv2d_3x3_gemm, "
         "conv2d_NCHWc, "
         "conv2d_nhwc",
         2},
        {"run conv2d_n",
         "unknown template \"conv2d_n\"; templates that begin with it: conv2d_NCHWc, conv2d_nhwc",
         2},
        {"help sparse",
         "no command or template \"sparse\"; templates that begin with it: sparse_dense", 2},
        {"apply dense --lang c", "unknown option --lang; autotune --help lists the options", 2},
        {"dense --trails 4", "unknown option --trails; did you mean --trials?", 2},
        {"dense -trials 4", "unknown option -trials; did you mean --trials?", 2},
        {"show dense --dump",
         "--dump needs a value: --dump PASS; there are dissolve, digits, buffers, partition, "
         "tables, "
         "tiles, tile, emit, code",
         2},
        {"dense --log -", "--log -: a log is a file, which is locked and read again; name one", 2},
        {"show dense --config nowhere.json",
         "--config nowhere.json: neither a configuration, {\"entity\": [...]}, nor default, nor a "
         "file",
         2},
        {"show dense --config own.c", "--config own.c: JSON, column 1: ", 4},
        {"show sparse_dense --args N=30 --config default",
         "R does not divide N; --block gives other blocks than 16x1, 1x1 always fits", 2},
        {"run sparse_dense --weight w.mtx --args K=50 --config default",
         "--weight w.mtx: it is 30 x 50, the weight of sparse_dense with "
         "M=1024,N=1024,K=50,nnz=1,R=16,C=1 is 1024 x 50; --args gives another shape",
         2},
        {"run sparse_dense --weight w.mtx --args N=30,K=50 --config default",
         "R does not divide N; --block gives other blocks than 16x1, 1x1 always fits", 2},
        {"run dense --args M=16,N=16,K=16 --config default --timeout 0.0001ms",
         "exceeded 1e-07 s; --timeout gives it more time", 3},
        {"run ./own.c --config default",
         "tables: @b uses an index that may be beyond 16777216 as a value", 3},
    };
    write_own("a[x] > 0 ? a[x] : x*20000000");
    cli_write("w.mtx",
              "%%MatrixMarket matrix coordinate real general\n30 50 2\n1 1 1.0\n3 9 2.0\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cli_result *r = cli_expect(rows[i].status, "./autotune %s", rows[i].command);
        if (!strstr(r->err, rows[i].message))
            fail_msg("%s: %s instead of %s", rows[i].command, r->err, rows[i].message);
    }
}

/* Both messages of a trial that was too slow, and the advice where all were. */
static void timeouts(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(3, "./autotune dense --args M=16,N=16,K=16 --trials 2 --timeout "
                      "0.0001ms --log late.log");
    assert_non_null(strstr(r->err, "\n    --timeout gives it more time\n"));
}

static void shapes_that_depend(void **state) {
    (void)state;
    cli_write("own.c", "#include \"template.h\"\n"
                       "static void define(at_template *t) {\n"
                       "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                       "    at_sizes(t, \"B = |xi|\");\n"
                       "    at_compute(t, \"a[X/B, B] : input\\nc[x:X/B, b:B] = a[x, b]\\n\");\n"
                       "    at_schedule(t, \"x, b =>\\n    @c = x, b\\n\");\n"
                       "}\n"
                       "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
                       "    .record_args = \"[X]\", .define = define};\n");
    const cli_result *r = cli_run("./autotune ./own.c --trials 4 --tuner grid --log own.log");
    if (!strstr(r->err, "depends on the configuration; its template says with at_layout how"))
        fail_msg("%s", r->err);
}

static void config_file(void **state) {
    (void)state;
    cli_expect(0, "./autotune space dense --index 77 > c.json");
    cli_expect(0, "./autotune show dense --config c.json --json");
    assert_int_equal(cli_member(cli_json(), "index")->integer, 77);
    cli_expect(0, "./autotune show dense --config default --json");
    cli_expect(0, "./autotune show dense --config \"$(cat c.json)\" --json");
    assert_int_equal(cli_member(cli_json(), "index")->integer, 77);
}

static void help_of_templates(void **state) {
    (void)state;
    const char *out = cli_expect(0, "./autotune help conv2d_nhwc")->out;
    assert_non_null(
        strstr(out, "\n  N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, strides(sh, sw)=1"));
    assert_non_null(
        strstr(out, "\nKnobs, with these arguments (2940 configurations):\n  tile_ow "));
    assert_non_null(strstr(out, "\nusage: autotune TEMPLATE [options]\n"));
}

/* The page lies beside the log; it is no text for a terminal. */
static void report(void **state) {
    (void)state;
    cli_expect(0, "./autotune conv2d_3x3_gemm " SMALL " --trials 2 --log r.log");
    assert_string_equal(cli_expect(0, "./autotune report r.log")->out,
                        "1 task written to r.log.html\n");
    assert_memory_equal(cli_read("r.log.html"), "<!DOCTYPE html>", 15);
    cli_expect(0, "./autotune report r.log --json");
    assert_string_equal(cli_member(cli_json(), "output")->string, "r.log.html");
    assert_memory_equal(cli_expect(0, "./autotune report r.log -o -")->out, "<!DOCTYPE html>", 15);
}

static bool has_two_cores(void) {
    return cli_run("./autotune run conv2d_nhwc --args N=1,H=7,W=7,CI=16,CO=16 --config default "
                   "--threads 2")
               ->status == 0;
}

/* Without a loop that runs in parallel nothing is measured as two threads. */
static void threads_of_no_use(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune conv2d_3x3_gemm " SMALL " --trials 2 --threads 2 --log t.log");
    assert_non_null(strstr(r->err,
                           "warning: --threads 2: conv2d_3x3_gemm has no para loop, so that "
                           "its kernels run on one thread"));
    assert_int_equal(cli_count_lines(cli_trials("t.log"), "{"), 2);
    assert_null(strstr(cli_read("t.log"), "\"threads\": 2"));
    assert_non_null(strstr(cli_read("t.log"), "\"threads\": 1"));
    if (has_two_cores()) {
        r = cli_expect(0, "./autotune run conv2d_nhwc --args N=1,H=7,W=7,CI=16,CO=16 --config "
                          "default --threads 2");
        assert_null(strstr(r->err, "no para loop"));
        assert_non_null(strstr(r->out, ", 2 threads\n"));
    }
}

/* What is measured is measured with the threads that were asked for, where this program puts them.
 */
static void openmp_variables(void **state) {
    (void)state;
    int threads = has_two_cores() ? 2 : 1;
    cli_run(CLI_CHILD_OF
            "OMP_THREAD_LIMIT=1 OMP_PROC_BIND=true GOMP_SPINCOUNT=0 ./autotune conv2d_nhwc --args "
            "N=1,H=14,W=14,CI=16,CO=16 --threads %d --trials 100000 --time 100s --log o.log "
            ">/dev/null 2>&1 & pid=$!; while kill -0 $pid && sleep 0.05; do [ -s o.log ] || "
            "continue; w=$(child_of $pid); tr '\\0' '\\n' </proc/$w/environ >env.txt; ls "
            "/proc/$w/task | wc -l >tasks.txt; "
            "[ -s env.txt ] && [ $(cat tasks.txt) = %d ] && break; done; kill -INT $pid; wait $pid",
            threads, threads);
    const char *env = cli_read("env.txt");
    assert_non_null(strstr(env, "PATH="));
    assert_null(strstr(env, "OMP_"));
    assert_int_equal(atoi(cli_read("tasks.txt")), threads);
    /* OpenMP's library binds a process to a core as soon as it is loaded. */
    for (int i = 0; i < 4; i++) {
        static const char *const variables[] = {"OMP_PROC_BIND=true", "OMP_PLACES=cores",
                                                "GOMP_CPU_AFFINITY=0", "OMP_PROC_BIND=close"};
        cli_expect(0,
                   "%s ./autotune run conv2d_nhwc --args N=1,H=14,W=14,CI=16,CO=16 --threads %d "
                   "--config default",
                   variables[i], threads);
    }
}

/* A run that its time ends has had a final and tells a best; how long that takes: test_engine. */
static void time_of_all(void **state) {
    (void)state;
    cli_expect_within("./autotune conv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=16 --trials "
                      "1000000 --json",
                      "time.log");
    assert_true(cli_member(cli_json(), "seconds.final")->number > 0);
    assert_true(cli_member(cli_json(), "best.index")->integer >= 0);
}

/* Where nothing is multiplied there are bytes: inputs and outputs of a run. */
static void bytes(void **state) {
    (void)state;
    write_own("max(a[x], 0)");
    const double moved = 2 * 4 * 4096;
    cli_expect(0, "./autotune ./own.c --args X=4096 --trials 13 --tuner ga --log bytes.log --json");
    const at_json *best = cli_member(cli_json(), "best");
    double time_ns = cli_member(best, "time_ns")->number;
    int64_t index = cli_member(best, "index")->integer;
    assert_int_equal(cli_member(best, "gflops")->kind, AT_JSON_NULL);
    assert_float_equal(cli_member(best, "gbytes_per_s")->number, moved / time_ns, 1e-6);
    assert_true(cli_member(best, "of_peak")->number > 0);
    const char *log = cli_read("bytes.log");
    assert_non_null(strstr(log, "\"gbytes_per_s\": "));
    assert_non_null(strstr(log, "\"bandwidth_gbytes_per_s\": "));
    assert_non_null(strstr(log, "\"bandwidths_gbytes_per_s\": ["));
    assert_null(strstr(log, "gflops"));
    cli_expect(0, "./autotune log bytes.log --json");
    best = cli_member(cli_member(cli_json(), "tasks")->child, "best");
    assert_int_equal(cli_member(best, "index")->integer, index);
    assert_float_equal(cli_member(best, "gbytes_per_s")->number, moved / time_ns, 1e-6);
    static const struct {
        const char *command, *text;
    } rows[] = {
        {"run ./own.c --args X=4096 --log bytes.log", " of the bandwidth beside it\n"},
        {"log bytes.log", " % of the bandwidth in its final; index "},
        {"show ./own.c --args X=4096 --config default", "X=4096   0.032768 MB\n"},
        {"apply ./own.c --args X=4096 --log bytes.log", " GB/s\n *     on "},
        {"pick_best bytes.log -o best.log", " GB/s "},
        {"plot bytes.log ./own.c", " GB/s in the final, found at "},
        {"report bytes.log -o -", "of the bandwidth beside it, "},
        {"verify best.log ./own.c || true", " of the bandwidth\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cli_result *r = cli_run("./autotune %s", rows[i].command);
        if (!strstr(r->out, rows[i].text) || strstr(r->out, " 0.00 "))
            fail_msg("%s: %s%s", rows[i].command, r->out, r->err);
    }
}

/* Of rows of a table that lists choose, as many are read as the lists have entries: all of E where
 * one list follows the other, some at most E in each bag where they do not. */
static void listed_bytes(void **state) {
    (void)state;
    static const struct {
        const char *bounds;
        int read; /* elements of table */
    } cases[] = {{"start[b] .. start[b + 1]", 100}, {"0 .. start[b]", 5 * 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], expected[64];
        snprintf(text, sizeof text,
                 "args E=100, V=9000\ntable[V, 8] : weight\nrow[E] : index\n"
                 "start[6] : index\nout[b:5, d:8] = sum(e : %s) table[row[e], d]\n",
                 cases[i].bounds);
        cli_write("bag.te", text);
        snprintf(expected, sizeof expected, "V=9000   %g MB\n",
                 4e-6 * (8 * cases[i].read + 100 + 6 + 5 * 8));
        const cli_result *r = cli_run("./autotune show ./bag.te");
        if (!strstr(r->out, expected)) fail_msg("%s: not %s", r->out, expected);
    }
}

/* Once, where lines stay. */
static void last_line(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune conv2d_3x3_gemm " SMALL " --trials 12 --log p.log");
    int lines = 0;
    for (const char *at = r->err; (at = strstr(at, "(12/12)")); at++) lines++;
    assert_int_equal(lines, 1);
}

/* What an operator has no answer for names its templates, and what a search refuses the way. */
static void operators(void **state) {
    (void)state;
    static const char *const verbs[] = {"space", "derive"};
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(2, "./autotune %s conv2d", verbs[i]);
        assert_non_null(strstr(r->err, " takes one template, and conv2d is an operator; its "
                                       "templates: conv2d_nhwc, "));
        cli_expect(0, "./autotune %s dense", verbs[i]);
    }
    const cli_result *r = cli_expect(2, "./autotune conv2d --sketch x");
    assert_non_null(strstr(r->err, "autotune: conv2d_nhwc, task 1 of "));
    r = cli_expect(2, "./autotune conv2d --only zzz");
    assert_non_null(strstr(r->err, "no name and no arguments of the 4 ways hold this text"));
}

/* A path is a file, whatever it is called. */
static void files_named_as_verbs(void **state) {
    (void)state;
    static const char *const names[] = {"run", "log", "list", "help", "version", "tune", "conv2d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cli_expect(0, "printf 'args N=19\\na[N] : input\\nb[n:N] = a[n] + 1\\n' >%s.te", names[i]);
        const cli_result *r =
            cli_expect(0, "./autotune ./%s.te --trials 2 --log verb.log -q", names[i]);
        assert_non_null(strstr(r->out, " N=19\n"));
        r = cli_expect(0, "./autotune run %s.te", names[i]);
        assert_int_equal(strncmp(r->out, names[i], strlen(names[i])), 0);
        assert_non_null(strstr(r->out, "equal to the reference"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(shapes_that_depend),
        cmocka_unit_test(config_file),
        cmocka_unit_test(help_of_templates),
        cmocka_unit_test(report),
        cmocka_unit_test(threads_of_no_use),
        cmocka_unit_test(openmp_variables),
        cmocka_unit_test(time_of_all),
        cmocka_unit_test(last_line),
        cmocka_unit_test(bytes),
        cmocka_unit_test(listed_bytes),
        cmocka_unit_test(operators),
        cmocka_unit_test(files_named_as_verbs),
    };
    return cmocka_run_group_tests_name("cli/slips", tests, cli_setup, cli_teardown);
}
