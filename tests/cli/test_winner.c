/* tests/cli/test_winner.c: every command tells the same winner of a log, with the time and speed of
 * one measurement. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#define ARGS "--args N=1,H=5,W=7,CI=3,CO=6"
#define TUNE "./autotune conv2d_3x3_gemm " ARGS " "

static const double flop = 2.0 * 35 * 6 * 27;

/* ---- who tells it ---------------------------------------------------------------------------- */

static int64_t index_by(const char *command, const char *log, const char *member) {
    cli_expect(0, command, log);
    return cli_member(cli_json(), member)->integer;
}

/* The index on the trial's line: all records of these logs are of one search. 0: the default. */
static int64_t index_of_trial(const char *log, int64_t trial) {
    char *text = cli_read(log);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *index = strstr(line, "\"config\": {\"index\": ");
        bool is_trial = !strstr(line, "\"part\": \"anchor\"");
        if (*line == '#' || !index || (trial && !is_trial)) continue;
        if (!trial || !--trial) return atoll(index + 20);
    }
    fail_msg("%s: no such trial", log);
    return -1;
}

static int64_t index_verified(const char *log) {
    int64_t index = -1;
    cli_run("./autotune verify %s --json", log);
    const at_json *records = cli_member(cli_json(), "records");
    for (const at_json *r = records->child; r; r = r->next) {
        if (!cli_member(r, "winner")->boolean) continue;
        assert_int_equal(index, -1); /* one only */
        index = cli_member(r, "index")->integer;
    }
    return index;
}

static int64_t index_in(const char *text, const char *before) {
    const char *at = strstr(text, before);
    if (!at) fail_msg("no \"%s\" in:\n%s", before, text);
    return atoll(at + strlen(before));
}

/* Returns it. */
static int64_t expect_one_winner(const char *log, bool with_verify) {
    int64_t index =
        index_by("./autotune show conv2d_3x3_gemm " ARGS " --log %s --json", log, "index");
    assert_int_equal(
        index_by("./autotune run conv2d_3x3_gemm " ARGS " --log %s --json", log, "index"), index);
    assert_int_equal(
        index_by("./autotune replay %s --trials 2 --repeats 1 --json", log, "space.winner"), index);
    cli_expect(0, "rm -f w.c w.h w.html");
    cli_expect(0, "./autotune apply conv2d_3x3_gemm " ARGS " --log %s -o w.c", log);
    assert_int_equal(index_in(cli_read("w.c"), "{\"index\": "), index);
    cli_expect(0, "./autotune report %s -o w.html", log);
    assert_int_equal(index_in(cli_read("w.html"), "Index "), index);
    cli_expect(0, "./autotune plot %s --json", log);
    const at_json *series = cli_member(cli_member(cli_json(), "tasks")->child, "series")->child;
    int64_t trial = cli_member(series, "best_trial")->integer;
    double speed = cli_member(series, "best_speed")->number;
    assert_int_equal(index_of_trial(log, trial), index);
    if (with_verify) assert_int_equal(index_verified(log), index);

    cli_expect(0, "./autotune pick_best %s --json", log);
    const at_json *picked = cli_member(cli_json(), "picked")->child;
    assert_int_equal(cli_member(picked, "index")->integer, index);
    double time_ns = cli_member(picked, "time_ns")->number;
    assert_float_equal(cli_member(picked, "gflops")->number, flop / time_ns, 1e-9 * flop / time_ns);
    assert_float_equal(speed, flop / time_ns, 1e-9 * speed);
    cli_expect(0, "./autotune log %s --json", log);
    const at_json *best = cli_member(cli_member(cli_json(), "tasks")->child, "best");
    assert_int_equal(cli_member(best, "index")->integer, index);
    assert_true(cli_member(best, "time_ns")->number == time_ns);
    assert_float_equal(cli_member(best, "gflops")->number, flop / time_ns, 1e-9 * flop / time_ns);
    return index;
}

static void expect_best(const char *log, const at_json *best) {
    int64_t index = cli_member(best, "index")->integer;
    double time_ns = cli_member(best, "time_ns")->number;
    double of_peak = cli_member(best, "of_peak")->number;
    assert_int_equal(expect_one_winner(log, false), index);
    cli_expect(0, "./autotune log %s --json", log);
    best = cli_member(cli_member(cli_json(), "tasks")->child, "best");
    assert_true(cli_member(best, "time_ns")->number == time_ns);
    assert_float_equal(cli_member(best, "of_peak")->number, of_peak, 1e-9);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void expect_one_line_each(const char *log, int least, int most) {
    assert_in_range(cli_count_lines(cli_read(log), "#final {"), least, most);
    cli_expect(
        0,
        "grep '^#final' %s | sed -E 's/.*\"index\": ([0-9]+).*\"begun\": ([0-9.]+).*/\\1 \\2/' "
        "| sort | uniq -d | wc -l | grep -qx 0",
        log);
}

/* A run, and one that goes on with its log: the second final counts, and its winner is compared
 * with the first one's. */
static void runs(void **state) {
    (void)state;
    cli_expect(0, TUNE "--trials 6 --seed 5 --log runs.log --json");
    expect_best("runs.log", cli_member(cli_json(), "best"));
    expect_one_line_each("runs.log", 1, 6); /* some have the code of another, or are bounds */
    cli_expect(0, TUNE "--trials 8 --seed 5 --log runs.log --json");
    expect_best("runs.log", cli_member(cli_json(), "best"));
    expect_one_line_each("runs.log", 2, 6 + 8);
    assert_int_equal(index_verified("runs.log"), expect_one_winner("runs.log", false));
}

/* Finals of chance about some of the records of a run. */
static void add_finals(at_text *out, const char *log, at_rng *rng) {
    at_arena *a = at_arena_new();
    int finals = 1 + (int)at_rng_below(rng, 3);
    for (int f = 0; f < finals; f++) {
        char *text = at_strdup(a, log);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            const at_json *r;
            if (*line == '#' || at_rng_below(rng, 2)) continue;
            assert_int_equal(at_json_parse(a, line, strlen(line), &r, NULL), AT_OK);
            bool failed = at_rng_below(rng, 6) == 0;
            int rounds = 1 + (int)at_rng_below(rng, 4);
            at_text_addf(
                out,
                "#final {\"task\": \"conv2d_3x3_gemm\", \"args\": [1, 5, 7, 3, 6, "
                "\"float32\"], \"context_hash\": \"%s\", \"entity\": %s, \"begun\": %d.5%s, "
                "\"rounds\": %d, \"rounds_s\": [",
                cli_member(r, "autotune.context_hash")->string,
                at_json_text(a, cli_member(r, "config.entity")), 1000 + f,
                failed ? ", \"error_no\": 5, \"error\": \"wrong\"" : "", rounds);
            for (int i = 0; i < rounds; i++)
                at_text_addf(out, "%s[%d.5e-7]", i ? ", " : "", 1 + (int)at_rng_below(rng, 30));
            at_text_add(out, "], \"peaks_gflops\": [");
            for (int i = 0; i < rounds; i++) at_text_add(out, i ? ", 100.0" : "100.0");
            at_text_add(out, "]}\n");
        }
    }
    at_arena_free(a);
}

static void made_up(void **state) {
    (void)state;
    at_rng rng;
    int64_t winners[4];
    at_rng_seed(&rng, 14, 9);
    cli_expect(0, TUNE "--trials 12 --seed 9 --log all.log; grep -v '^#' all.log > plain.log");
    char *plain = strdup(cli_read("plain.log"));
    for (int i = 0; i < 4; i++) {
        at_text t = {0};
        at_text_add(&t, plain);
        add_finals(&t, plain, &rng);
        cli_write("made.log", at_text_str(&t));
        at_text_free(&t);
        winners[i] = expect_one_winner("made.log", i == 0);
    }
    bool differ = false; /* the finals matter */
    for (int i = 1; i < 4; i++) differ |= winners[i] != winners[0];
    assert_true(differ);
    /* A run that goes on with one. */
    cli_expect(0, TUNE "--trials 12 --seed 9 --log made.log --json");
    expect_best("made.log", cli_member(cli_json(), "best"));
    free(plain);
}

/* Killed in the middle of the final: what it found until then is there, a line of each. */
static void killed(void **state) {
    (void)state;
    cli_run(
        "rm -f k.log; " TUNE "--trials 60 --seed 2 --log k.log >/dev/null 2>&1 & pid=$!; "
        "until grep -q '^#final' k.log 2>/dev/null; do sleep 0.05; done; kill -9 $pid; wait $pid");
    int lines = cli_count_lines(cli_read("k.log"), "#final {");
    assert_in_range(lines, 1, 64);
    assert_string_equal(cli_expect(0, "./autotune log k.log")->err, "");
    cli_expect(0, "grep '^#final' k.log | grep -o '\"index\": [0-9]*' | sort -u | wc -l");
    assert_int_equal(atoi(cli_run("grep '^#final' k.log | grep -o '\"index\": [0-9]*' | sort -u | "
                                  "wc -l")
                              ->out),
                     lines);
    expect_one_winner("k.log", false);
    cli_expect(0, TUNE "--trials 60 --seed 2 --log k.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 60);
    expect_best("k.log", cli_member(cli_json(), "best"));
}

/* ---- records that are no configuration of their task ------------------------------------------
 */

#define PRODUCT(tile_y, time)                                                                      \
    "{\"input\": [\"c -keys=cpu -mcpu=znver4\", \"matmul_add\", [64, 64, 64, \"float32\"], {}], "  \
    "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": [" tile_y                         \
    ", [\"tile_x\", \"sp\", [-1, 1, 8]], [\"tile_k\", \"sp\", [-1, 1]], [\"tile_inner\", \"sp\", " \
    "[-1, 1]]]}, \"result\": [[" time "], 0, 0.1, 1700000000.0], \"version\": 0.2, "               \
    "\"tvm_version\": \"0.12.0\"}\n"
#define FITS PRODUCT("[\"tile_y\", \"sp\", [-1, 32, 1]]", "2e-05")
#define WITHOUT_KNOB PRODUCT("[\"tile_z\", \"sp\", [-1, 32, 1]]", "1e-05")
#define ODD_TWO                                                                                    \
    "odd.log:1: no configuration of its task, and not used, as is 1 other: unknown knob "          \
    "\"tile_z\""
#define TOO_FEW_PARTS PRODUCT("[\"tile_y\", \"sp\", [-1, 32]]", "1.5e-05")

/* They are passed over, and told of, by whoever names a best record. */
static void unfit(void **state) {
    static const char *const choose[] = {"pick_best odd.log", "run matmul_add --log odd.log",
                                         "show matmul_add --log odd.log",
                                         "apply matmul_add --log odd.log", "apply --log odd.log"};
    static const char *const show[] = {"log odd.log", "report odd.log -o -", "plot odd.log",
                                       "plot odd.log --knobs"};
    (void)state;
    cli_write("odd.log", WITHOUT_KNOB FITS TOO_FEW_PARTS);
    for (size_t i = 0; i < sizeof choose / sizeof *choose; i++) {
        const cli_result *r = cli_expect(0, "./autotune %s", choose[i]);
        assert_non_null(strstr(r->out, "[-1, 32, 1]"));
        assert_non_null(strstr(r->err, ODD_TWO));
    }
    for (size_t i = 0; i < sizeof show / sizeof *show; i++) {
        const cli_result *r = cli_expect(0, "./autotune %s", show[i]);
        assert_non_null(strstr(r->err, ODD_TWO));
        assert_null(strstr(r->out, "tile_z"));
    }
    assert_non_null(strstr(cli_expect(0, "./autotune log odd.log")->out, "best: 20.00 us"));
    assert_non_null(strstr(cli_expect(0, "./autotune report odd.log -o -")->out, "line 2 of"));
    cli_expect(0, "./autotune plot odd.log --json");
    const at_json *task = at_json_at(cli_member(cli_json(), "tasks"), 0);
    const at_json *plotted = at_json_at(cli_member(task, "series"), 0);
    const at_json *points = cli_member(plotted, "points");
    assert_true(cli_number(plotted, "best_trial") == 2);
    assert_true(cli_number(plotted, "trials") == 3);
    assert_true(cli_number(plotted, "failed") == 0);
    assert_int_equal(cli_member(at_json_at(points, 0), "speed")->kind, AT_JSON_NULL);
    assert_true(cli_number(at_json_at(points, 1), "speed") == cli_number(plotted, "best_speed"));
    assert_non_null(strstr(cli_expect(0, "./autotune pick_best odd.log --compat")->out, "tile_z"));
    cli_write("even.log", FITS);
    const cli_result *diff = cli_expect(0, "./autotune log --diff odd.log even.log");
    assert_non_null(strstr(diff->out, "on average B takes 1.000 of A's time"));
    assert_non_null(strstr(diff->err, "odd.log:1: no configuration of its task, and not used"));

    cli_write("odd.log", WITHOUT_KNOB);
    cli_expect(4, "./autotune pick_best odd.log"); /* as apply, run and show say */
    assert_non_null(strstr(cli_expect(0, "./autotune log odd.log")->out,
                           "no valid record that is a configuration of its task"));
    assert_non_null(strstr(cli_expect(0, "./autotune report odd.log -o -")->out,
                           "None of 1 trials was valid and a configuration of the task."));
    assert_non_null(strstr(cli_expect(4, "./autotune run matmul_add --log odd.log")->err,
                           "odd.log:1: no configuration of its task"));
}

/* Nor are records whose arguments make no task: each verb says so, none calls one the best. */
static void of_no_task(void **state) {
    static const char *const args[] = {
        "[1000000000000000000, 1000000000000000000, 64, \"float32\"]", "[64, 64, \"float32\"]",
        "[64, 64, 0, \"float32\"]"};
    static const struct {
        const char *verb;
        int status;
    } verbs[] = {
        {"pick_best", 4}, {"verify", 7},      {"apply --log", 4}, {"run matmul_add --log", 4},
        {"log", 0},       {"report -o -", 0}, {"plot", 0}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        cli_write("even.log", FITS);
        cli_expect(0, "sed 's/\\[64, 64, 64, \"float32\"\\]/%s/' even.log >odd.log", args[i]);
        for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
            const cli_result *r =
                cli_expect(verbs[k].status, "./autotune %s odd.log", verbs[k].verb);
            const bool is_told = strstr(r->err, "odd.log:1: ") || strstr(r->out, "not_run: ");
            if (!is_told || strstr(r->out, "20.00 us"))
                fail_msg("%s %s: %s%s", verbs[k].verb, args[i], r->out, r->err);
        }
        /* Beside one that is of use each is a line that is skipped, and counted. */
        cli_expect(0, "cat odd.log even.log odd.log >mixed.log");
        static const char *const used[] = {"apply --log mixed.log", "pick_best mixed.log",
                                           "show matmul_add --log mixed.log"};
        for (size_t k = 0; k < sizeof used / sizeof *used; k++)
            assert_non_null(strstr(cli_expect(0, "./autotune %s", used[k])->err,
                                   "mixed.log:1: no configuration of its task, and not used, as is "
                                   "1 other: "));
        const cli_result *r = cli_expect(0, "./autotune pick_best even.log odd.log");
        assert_non_null(strstr(r->err, "odd.log:1: no configuration of its task, and not used: "));
        assert_non_null(strstr(r->out, "[64, 64, 64, "));
        assert_null(strstr(r->out, args[i]));
    }
}

/* A final of what is delivered is of the same trials, and its winner is everybody's. */
static void delivered(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, TUNE "--trials 6 --final-dialect gnu --log gnu.log");
    assert_non_null(strstr(r->out, "timed as apply writes it in dialect gnu, through gcc"));
    char *text = cli_read("gnu.log");
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "#final ", 7) != 0) continue;
        assert_non_null(strstr(line, "\"dialect\": \"gnu\""));
        lines++;
    }
    assert_true(lines > 0);
    expect_one_winner("gnu.log", true);
    /* Trials that go on are made as before: the same kernels are not made again. */
    r = cli_expect(0, TUNE "--trials 8 --log gnu.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 6);
    r = cli_expect(2, TUNE "--trials 6 --final-dialect gnu --on local:1");
    assert_non_null(strstr(r->err, "--final-dialect gnu: workers elsewhere"));
    r = cli_expect(2, TUNE "--trials 6 --final-dialect asm");
    assert_non_null(strstr(r->err, "--final-dialect asm"));
    cli_write("own.c", "/* autotune\n * args N=8\n * x[N] : input\n * y[n:N] = x[n]\n"
                       " * knob U = 1 2\n * call void f(const float *x, float *y)\n */\n"
                       "void f(const float *x, float *y) { for (int i = 0; i < 8; i += U) "
                       "for (int j = 0; j < U; j++) y[i + j] = x[i + j]; }\n");
    r = cli_expect(2, "./autotune ./own.c --trials 2 --final-dialect gnu");
    assert_non_null(strstr(r->err, "--final-dialect gnu: own is delivered as it is tuned"));
}

/* The same trials, but the first of each index, as if of another context: so many times as fast. */
static void add_context(const char *log, const char *context, int times) {
    cli_expect(0,
               "sed -E 's/%s/; s/\"context_hash\": \"[0-9a-f]{28}/&%d000/; "
               "s/(\"context_hash\": \"[0-9a-f]{28})(.000)[0-9a-f]{4}/\\1\\2/; "
               "s/\"result\": \\[\\[[^]]*\\]/\"result\": [[1e-0%d]/; "
               "s/, \"pairs\": \\{[^}]*\\}//; s/\"samples_s\": \\[[^]]*\\], //' one.log >>%s",
               context, times, 3 + times, log);
}

/* Of several contexts the one that is asked for, by every command; verify and pick_best name one of
 * each. */
static void contexts(void **state) {
    static const struct {
        const char *options, *context;
        int threads;
        const char *isa;
    } of[] = {{"", "of 1 and of 2 threads, and the fastest, of 2", 2, "scalar"},
              {"--threads 2", "", 2, "scalar"},
              {"--threads 1 --isa scalar", "", 1, "scalar"},
              {"--isa avx2", "", 1, "avx2"},
              {"--threads 3 --isa avx2",
               "no record of conv2d_3x3_gemm is of 3 threads; the best, of 1, is taken", 1,
               "avx2"}};
    (void)state;
    cli_expect(0, TUNE "--isa scalar --trials 3 --log one.log; grep -v '^#' one.log | grep -v "
                       "'\"part\": \"anchor\"' > m.log; mv m.log one.log; cp one.log all.log");
    add_context("all.log", "\"threads\": 1/\"threads\": 2", 4);
    add_context("all.log", "\"isa\": \"scalar\"/\"isa\": \"avx2\"", 3);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const cli_result *r = cli_expect(
            0, "./autotune apply conv2d_3x3_gemm " ARGS " --log all.log %s -o all.c --force --json",
            of[i].options);
        const bool warned = strstr(r->err, " is taken");
        assert_int_equal(warned, *of[i].context != 0);
        assert_non_null(strstr(r->err, of[i].context));
        const int64_t line = index_in(cli_read("all.c"), "configuration from all.log:");
        cli_expect(0, "sed -n %lldp all.log | grep '\"threads\": %d' | grep '\"isa\": \"%s\"'",
                   (long long)line, of[i].threads, of[i].isa);
    }
    assert_string_equal(
        cli_expect(0, "./autotune show conv2d_3x3_gemm " ARGS " --log all.log --threads 3 -q")->err,
        "");
    cli_expect(0, "./autotune pick_best all.log --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 3);
    int winners = 0;
    cli_run("./autotune verify all.log --json");
    for (const at_json *r = cli_member(cli_json(), "records")->child; r; r = r->next)
        winners += cli_member(r, "winner")->boolean;
    assert_int_equal(winners, 3);
    /* What comes next names the context where the log has others. */
    const cli_result *r = cli_expect(0, TUNE "--isa scalar --trials 3 --log all.log");
    assert_non_null(strstr(r->out, " --log all.log --threads 1 --isa scalar -o kernel.c\n"));
    /* All are named, or how many more there are; also one that says no instruction set. */
    at_arena *a = at_arena_new();
    cli_expect(0, "cp one.log many.log");
    for (int threads = 2; threads <= 6; threads++) {
        add_context("many.log", at_format(a, "\"threads\": 1/\"threads\": %d", threads),
                    2 + threads);
        r = cli_expect(0, "./autotune show conv2d_3x3_gemm " ARGS " --log many.log");
        const char *texts[] = {"of 1 and of 2 threads, and the fastest, of 2",
                               "of 1, of 2 and of 3 threads, and the fastest, of 3",
                               "of 1, of 2, of 3 and of 4 threads, and the fastest, of 4",
                               "of 1, of 2, of 3, of 4 and 1 more threads, and the fastest, of 5",
                               "of 1, of 2, of 3, of 4 and 2 more threads, and the fastest, of 6"};
        if (!strstr(r->err, texts[threads - 2])) fail_msg("%s", r->err);
    }
    cli_expect(0, "cp one.log none.log");
    add_context("none.log", "\"isa\": \"scalar\", /", 4);
    r = cli_expect(0, "./autotune show conv2d_3x3_gemm " ARGS " --log none.log");
    assert_non_null(strstr(r->err, " are of scalar and of an instruction set without a name, and "
                                   "the fastest, of an instruction set without a name, is taken"));
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs),       cmocka_unit_test(made_up),
                                       cmocka_unit_test(killed),     cmocka_unit_test(unfit),
                                       cmocka_unit_test(of_no_task), cmocka_unit_test(delivered),
                                       cmocka_unit_test(contexts)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
