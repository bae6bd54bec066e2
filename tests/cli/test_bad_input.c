/* tests/cli/test_bad_input.c: what is refused, each with its exact message and exit code. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define T "conv2d_3x3_gemm"
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

typedef struct refusal {
    const char *command;
    int status;
    const char
        *message; /* all of stderr, without "autotune: " and '\n'; "..." at its end: any rest */
} refusal;

static void check(const refusal *cases, int n) {
    for (int i = 0; i < n; i++) {
        const refusal *c = &cases[i];
        const cli_result *r = cli_expect(c->status, "./autotune %s", c->command);
        char expected[2048];
        snprintf(expected, sizeof expected, "autotune: %s\n", c->message);
        char *rest = strstr(expected, "...\n");
        size_t len = rest ? (size_t)(rest - expected) : sizeof expected;
        if (strncmp(r->err, expected, len))
            fail_msg("autotune %s\nsays:     %sinstead of %s", c->command, r->err, expected);
        assert_string_equal(r->out, "");
    }
}

static void command_line(void **state) {
    (void)state;
    cli_write("m.te", "args N=8\nA[N] : input\nout[i:N] = A[i] * 2\n");
    static const refusal cases[] = {
        {"", 2, "no command; autotune --help lists what there is"},
        {"conv2d_3x3_gem", 2,
         "unknown command or template \"conv2d_3x3_gem\"; did you mean conv2d_3x3_gemm?"},
        {"brew coffee", 2,
         "unknown command or template \"brew\"; autotune --help lists the commands, autotune list "
         "the templates"},
        {"./brew.txt", 2,
         "./brew.txt is no template: files are FILE.c (a template or a kernel), FILE.te (a "
         "computation) and FILE.onnx (a network)"},
        {"derive ./brew.txt", 2,
         "./brew.txt is no template: files are FILE.c (a template or a kernel), FILE.te (a "
         "computation) and FILE.onnx (a network)"},
        {"run ./brew.txt", 2,
         "./brew.txt is no template: files are FILE.c (a template or a kernel), FILE.te (a "
         "computation) and FILE.onnx (a network)"},
        {"show brew", 2, "unknown template \"brew\"; there are: ..."},
        {"help brew", 2, "no command \"brew\"; autotune --help lists them"},
        {"run", 2, "run needs a template: autotune run TEMPLATE [options]"},
        {"pick_best", 2, "pick_best needs a log: autotune pick_best LOG... [options]"},
        {"log m.te", 2,
         "log needs a log beside m.te, which only tells of tasks: autotune log "
         "LOG [LOG] [options]"},
        {"convert m.te --to log", 2,
         "convert needs a file beside m.te, which only tells of tasks: autotune "
         "convert FILE [options]"},
        {"space " T " " T, 2, "unexpected word \"" T "\": autotune space TEMPLATE [options]"},
        {T " --trails 5", 2, "unknown option --trails; did you mean --trials?"},
        {T " --frobnicate", 2, "unknown option --frobnicate; autotune --help lists the options"},
        {"show " T " --trials 5", 2,
         "--trials is no option of show; autotune help show lists them"},
        {"plot x.log --sparsity", 2,
         "--sparsity is no option of plot; did you mean --against sparsity?"},
        {T " --trials", 2, "--trials needs a value: --trials N"},
        {T " --json=yes", 2, "--json takes no value"},
        {T " --trials x", 2, "--trials x: not an integer from 0 to 1000000000"},
        {T " --trials 1e3", 2, "--trials 1e3: not an integer from 0 to 1000000000"},
        {T " --trials 0", 2,
         "--trials 0: a search takes 1 or more; 0 is of a network, FILE.onnx, whose parts take "
         "what "
         "estimates put first"},
        {T " --trials=-3", 2, "--trials -3: must be from 0 to 1000000000"},
        {T " --trials 99999999999999999999", 2,
         "--trials 99999999999999999999: must be from 0 to 1000000000"},
        {T " --time 3x", 2, "--time 3x: not a duration above 0; write for example 30s, 5m or 1h"},
        {T " --time 0", 2, "--time 0: not a duration above 0; write for example 30s, 5m or 1h"},
        {T " --time ''", 2, "--time \"\": not a duration above 0; write for example 30s, 5m or 1h"},
        {T " --trials ''", 2, "--trials \"\": not an integer from 0 to 1000000000"},
        {"--workload none.workload", 4, "cannot read none.workload: No such file or directory"},
        {"--command 'echo {T}' --knob T=1,2", 2, "--command needs --metric: ..."},
        {"replay x.log --losses 100", 2, "--losses 100: not a number of percent from 0 to 99"},
        {T " --args ''", 2,
         "--args \"\": ARGS is expected (the task: names (N=1,H=56) or a record's JSON array)"},
        {T " --args=' '", 2, "--args \" \": ARGS is expected ..."},
        {"conv2d --only ''", 2, "--only \"\": TEXT is expected (only tasks whose name, ..."},
        {"show model.onnx --dim ''", 2, "--dim \"\": NAME=N,.. is expected ..."},
        {T " --compiler ''", 2, "--compiler \"\": there are tcc, gcc, clang"},
        {"run " T " --config ''", 2,
         "--config \"\": JSON is expected (a configuration, {\"entity\": [...]}, or a file that "
         "holds one, or \"default\", the one without tuning)"},
        {"list x", 2, "unexpected word \"x\": autotune list [options]"},
        {"show " T " -o -", 2, "--output -: the path of a file is expected"},
        {"work", 2, "work needs a directory: autotune work PATH [options]"},
        {"work nowhere.te", 4, "there is no folder nowhere.te; mkdir -m 700 makes it"},
        {T " --seed=-1", 2, "--seed -1: not an integer from 0 to 2^64-1"},
        {T " --tuner annealing", 2,
         "--tuner annealing: unknown tuner \"annealing\"; there are grid, random..."},
        {T " --compiler icc", 2, "--compiler icc: there are tcc, gcc, clang; did you mean tcc?"},
        {T " --isa sse9", 2,
         "--isa sse9: there are scalar, sse2, avx2, avx2_f16c, avx2_vnni, avx512, avx512vnni, "
         "avx512bf16, "
         "a64, neon, "
         "neon_dotprod, "
         "neon_i8mm, neon_fp16fml; did you mean "
         "sse2?"},
        {T " --pack never", 2, "--pack never: there are ahead, inline"},
        {T " --threads 0", 2, "--threads 0: must be from 1 to 1024"},
        {"conv2d_nhwc --threads 1024", 2, "--threads 1024: ..."},
        {T " --prune 0.9", 2, "--prune 0.9: not a factor of at least 1; write for example 2.0"},
        {T " --cache warm", 2, "--cache warm: there are hot, cold, weights-cold"},
        {T " --repeat 65", 2, "--repeat 65: must be from 1 to 64"},
        {"apply " T " --dialect forth", 2, "--dialect forth: there are c, gnu, tcc"},
        {"apply " T, 2,
         "which configuration? Give --log FILE, --config JSON|default, --index I or, of a derived "
         "computation, --sketch NAME"},
        {"run " T " --index 1 --config default", 2,
         "give one of --config, --index, --log and --from-steps, not 2"},
        {"run " T " --line 3", 2, "--line needs --log"},
    };
    check(cases, COUNT(cases));
}

static void arguments(void **state) {
    (void)state;
    static const refusal cases[] = {
        {T " --args Q=1", 2, "--args: unknown argument \"Q\"; conv2d_3x3_gemm has N, H, W, CI, CO"},
        {T " --args N", 2, "--args: \"N\" has no value; NAME=NUMBER is accepted"},
        {T " --args N=0", 2, "--args: N = 0; an argument is a whole number from 1 on"},
        {T " --args N=-1", 2, "--args: N = -1; an argument is a whole number from 1 on"},
        {T " --args N=many", 2,
         "--args: \"N=many\" is not a number; an argument is a whole number from 1 on"},
        {T " --args N=99999999999999999999", 2, "--args: N = 99999999999999999999 exceeds 2^53"},
        {T " --args '[1, 2]'", 2,
         "--args: [1, 2] has 2 items instead of 6; conv2d_3x3_gemm takes [N, H, W, CI, CO, "
         "\"float32\"]"},
        {"space " T " --args N=3000000000,H=3000000000,W=3000000000", 2, "--args: ..."},
        /* Refused before anything is allocated: at once, whatever the machine. */
        {T " --args N=1000000000000", 2,
         "with tensor \"data\" the data need 747680664.1 GiB, this machine has ..."},
    };
    check(cases, COUNT(cases));
}

static void configurations(void **state) {
    (void)state;
#define SHOW "show " T " --config '{\"entity\": "
    static const refusal cases[] = {
        {SHOW "[[\"tile_y\",\"sp\",[-1,5,1]],[\"tile_x\",\"sp\",[-1,1,1]],"
              "[\"tile_k\",\"sp\",[-1,1]]]}'",
         2, "--config: knob tile_y: [-1, 5, 1] does not divide 3136; ..."},
        {SHOW "[[\"tile_y\",\"sp\",[-1,1]],[\"tile_x\",\"sp\",[-1,1,1]],"
              "[\"tile_k\",\"sp\",[-1,1]]]}'",
         2, "--config: knob tile_y: ..."},
        {SHOW "[[\"tile_z\",\"sp\",[-1,1,1]],[\"tile_x\",\"sp\",[-1,1,1]],"
              "[\"tile_k\",\"sp\",[-1,1]]]}'",
         2,
         "--config: unknown knob \"tile_z\", perhaps tile_y; this space has tile_y, tile_x, "
         "tile_k"},
        {SHOW "[[\"tile_x\",\"sp\",[-1,1,1]],[\"tile_k\",\"sp\",[-1,1]]]}'", 2,
         "--config: knob tile_y is missing from the entity"},
        {"show " T " --config '{}'", 2, "--config: config: no list \"entity\""},
        {"show " T " --config '{\"entity\": ['", 2, "--config: ..."},
        {"show " T " --index 98784", 2, "--index: index 98784 is beyond the space: 0 to 98783"},
        {"show " T " --index=-1", 2, "--index -1: must be at least 0"},
        {"show " T " --index 99999999999999999999", 2,
         "--index 99999999999999999999: must be from 0 to 9223372036854775807"},
        {"show " T " --index=-99999999999999999999", 2,
         "--index -99999999999999999999: must be from 0 to 9223372036854775807"},
        {T " --tuner grid --range 98784-98790 --log range.log", 2,
         "--range 98784-98790: not within the space, 0 to 98783"},
        {"space " T " --index 0,98784", 2, "--index: index 98784 is beyond the space: 0 to 98783"},
        {"space " T " --index 0,,1", 2, "--index \"\": not an integer of at least 0"},
        {"show " T " --dump nonsense", 2, "--dump nonsense: there are dissolve, ..."},
    };
    check(cases, COUNT(cases));
}

/* One record of the task with these arguments and this cost or failure. */
#define RECORD(task, co, error, cost)                                                              \
    "{\"input\": [\"llvm -keys=cpu\", \"" task "\", [1, 5, 7, 3, " co ", \"float32\"], {}], "      \
    "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 1, "   \
    "1]], [\"tile_x\", \"sp\", [-1, 1, 1]], [\"tile_k\", \"sp\", [-1, 1]]]}, \"result\": [[" cost  \
    "], " error ", 0.5, 1700000000.5], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n"

static void logs(void **state) {
    (void)state;
    cli_write("empty.log", "");
    cli_write("comment.log", "# nothing but this\n");
    cli_write("other.log", RECORD("dense_nopack.x86", "6", "0", "0.5"));
    cli_write("failed.log", RECORD(T, "6", "5", "1000000000.0"));
    cli_write("two.log", RECORD(T, "6", "0", "0.5") RECORD(T, "8", "0", "0.5"));
    assert_int_equal(cli_run("head -c 4000 ./autotune > binary.log")->status, 0);
    static const refusal cases[] = {
        {"show " T " --log none.log", 4, "cannot read none.log: No such file or directory"},
        {"show " T " --log empty.log", 4, "empty.log is empty: a log has one record per line"},
        {"show " T " --log comment.log", 4,
         "comment.log: holds no record; autotune tune writes them"},
        {"show " T " --log binary.log", 4, "binary.log looks like no log: byte 0 is 0x7f"},
        {T " --log binary.log", 2,
         "binary.log is no log, and nothing is appended to it; name another file"},
        {"show " T " --log other.log", 4,
         "other.log: holds no record of conv2d_3x3_gemm among its 1 record; autotune log "
         "other.log lists its tasks"},
        {"show " T " --log failed.log", 3,
         "failed.log: the only record of conv2d_3x3_gemm N=1,H=5,W=7,CI=3,CO=6 is a failure; "
         "autotune log failed.log shows the first of each kind"},
        {"show " T " --log two.log", 2,
         "two.log: holds 2 tasks of conv2d_3x3_gemm; choose one with --args: "
         "[1, 5, 7, 3, 6, \"float32\"]; [1, 5, 7, 3, 8, \"float32\"]"},
        {"show " T " --log two.log --args N=2", 4,
         "two.log: holds no record of conv2d_3x3_gemm N=2,H=56,W=56,CI=64,CO=64; autotune log "
         "two.log lists its tasks"},
        {"show " T " --log two.log --line 3", 2,
         "--line 3: that line of two.log holds no record; autotune log two.log --csv lists them"},
        {"show " T " --log other.log --line 1", 2,
         "--line 1: that record of other.log is of dense_nopack.x86, not of conv2d_3x3_gemm"},
        {"pick_best none.log", 4, "cannot read none.log: No such file or directory"},
        {"pick_best failed.log", 3, "no valid record in failed.log: 1 record, 1 failed"},
        {"pick_best binary.log", 4, "binary.log looks like no log: byte 0 is 0x7f"},
    };
    check(cases, COUNT(cases));
    assert_int_equal(cli_run("cmp -n 4000 binary.log ./autotune")->status, 0);
}

/* Blank lines, comments and a torn end are said and skipped. */
static void damaged_log(void **state) {
    (void)state;
    cli_write("torn.log", "# comment\n\n" RECORD(T, "6", "0", "0.5") "{\"input\": [\"llvm");
    const cli_result *r = cli_expect(0, "./autotune show " T " --log torn.log");
    assert_string_equal(r->err, "autotune: warning: torn.log:2: blank line; skipped\n"
                                "autotune: warning: torn.log:4: torn last line; skipped\n"
                                "autotune: warning: torn.log: 2 lines skipped, 1 of them blank\n"
                                "autotune: warning: torn.log:3: the best of conv2d_3x3_gemm was "
                                "measured on another CPU (not named), and none on this one\n");
    assert_non_null(strstr(r->out, T " N=1,H=5,W=7,CI=3,CO=6"));
}

static void outputs(void **state) {
    (void)state;
    cli_write("one.log", RECORD(T, "6", "0", "0.5"));
    static const refusal cases[] = {
        {"apply " T " --config default -o no/such/kernel.c", 5, "..."},
        {"pick_best one.log -o no/such/best.log", 5, "..."},
        {T " --log no/such/tune.log", 5,
         "cannot write no/such/tune.log: there is no folder no/such"},
        {"list >&-", 5, "standard output: Bad file descriptor"},
        {"list >/dev/full", 5, "standard output: No space left on device"},
        {"space " T " --json >/dev/full", 5, "standard output: No space left on device"},
    };
    check(cases, COUNT(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_line),   cmocka_unit_test(arguments),
        cmocka_unit_test(configurations), cmocka_unit_test(logs),
        cmocka_unit_test(damaged_log),    cmocka_unit_test(outputs),
    };
    return cmocka_run_group_tests_name("cli/bad_input", tests, cli_setup, cli_teardown);
}
