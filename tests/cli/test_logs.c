/* tests/cli/test_logs.c: log, convert and pick_best --per from outside, over logs made here. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define ZEN "c -keys=cpu -mcpu=znver4"
#define OLD "llvm -keys=cpu -mcpu=haswell"

/* A record of conv2d_3x3_gemm over H = W = m, CI = CO = 8. */
static void add(at_text *log, const char *target, int m, int index, const char *cost, int error_no,
                const char *extra) {
    at_text_addf(log,
                 "{\"input\": [\"%s\", \"conv2d_3x3_gemm\", [1, %d, %d, 8, 8, \"float32\"], {}], "
                 "\"config\": {\"index\": %d, \"code_hash\": null, \"entity\": [[\"tile_y\", "
                 "\"sp\", [-1, 1, %d]], [\"tile_x\", \"sp\", [-1, 1, 8]], [\"tile_k\", \"sp\", "
                 "[-1, 1]]]}, \"result\": [[%s], %d, 0.5, 1700000000.0], \"version\": 0.2, "
                 "\"tvm_version\": \"0.12.0\"%s%s}\n",
                 target, m, m, index, index + 1, error_no ? "1000000000.0" : cost, error_no,
                 extra ? ", \"autotune\": " : "", extra ? extra : "");
}

#define EXTRA(more)                                                                                \
    "{" more "\"context\": {\"cpu\": \"Some CPU\", \"isa\": \"avx2\", \"compiler\": \"tcc\", "     \
    "\"packing\": \"ahead\", \"cache\": \"hot\", \"threads\": 1}}"

static void write_logs(void) {
    at_text a = {0}, b = {0};
    add(&a, ZEN, 4, 0, "0.002", 0,
        EXTRA("\"check\": \"exact\", \"gflops\": 2.0, \"peak_gflops\": "
              "8.0, \"samples_s\": [0.002, 0.00201, 0.00199], "));
    add(&a, ZEN, 4, 1, "", 2,
        EXTRA("\"check\": \"unchecked\", \"error\": \"no \\\"x\\\", y\\nmore\", "));
    add(&a, ZEN, 4, 3, "0.003", 0, EXTRA("\"check\": \"exact\", "));
    add(&a, OLD, 2, 0, "0.001", 0, NULL);
    add(&a, OLD, 8, 1, "0.001, 0.0012", 0, NULL);
    add(&b, ZEN, 4, 1, "0.001", 0, EXTRA("\"check\": \"exact\", \"samples_s\": [0.001, 0.0011], "));
    add(&b, OLD, 8, 3, "0.0011, 0.0009", 0, NULL);
    add(&b, OLD, 2, 1, "0.003", 0, NULL);
    add(&b, OLD, 16, 1, "0.003", 0, NULL);
    cli_write("a.log", at_text_str(&a));
    cli_write("b.log", at_text_str(&b));
    at_text_free(&a);
    at_text_free(&b);
}

/* Strides of 1 and [1, 1] are one task, whoever wrote the log, and whoever asks. */
static void spellings(void **state) {
    (void)state;
#define SPELLED(numbers, s, rest)                                                                  \
    "{\"input\": [\"" ZEN "\", \"conv2d_nhwc\", [[\"TENSOR\", [1, 8, 8, 8], \"float32\"], "        \
    "[\"TENSOR\", [3, 3, 8, 8], \"float32\"], " numbers ", \"float32\"], {}], \"config\": "        \
    "{\"index\": 0, \"code_hash\": null, \"entity\": [[\"tile_ow\", \"sp\", [8, 1]], "             \
    "[\"tile_co\", \"sp\", [1, 8]], [\"tile_ci\", \"sp\", [8, 1]], [\"order\", \"ot\", 0], "       \
    "[\"unroll_kw\", \"ot\", true]]}, \"result\": [[" s "], 0, 0.5, 1700000000.0], \"version\": "  \
    "0.2, \"tvm_version\": \"0.12.0\"" rest "}\n"
    static const char *const asked[] = {"", ",strides=[1,1]", ",padding=[1,1,1,1],dilation=[1,1]",
                                        ",padding=SAME"};
    cli_write("spelled.log",
              SPELLED("1, 1, 1", "0.002", "") SPELLED("[1, 1], [1, 1, 1, 1], [1, 1]", "0.001", "")
                  SPELLED("1, \"SAME\", [1, 1]", "0.003", ""));
    cli_write("old.log", SPELLED("1, 1, 1", "0.002", ""));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        for (int old = 0; old < 2; old++) {
            const char *out =
                cli_expect(0,
                           "./autotune apply conv2d_nhwc --args 'N=1,H=8,W=8,CI=8,CO=8%s' --log %s",
                           asked[i], old ? "old.log" : "spelled.log")
                    ->out;
            assert_non_null(strstr(out, old ? "measured: 2.000 ms" : "measured: 1.000 ms"));
            assert_non_null(strstr(out, " conv2d_nhwc_1x8x8x8_8_3x3("));
        }
    }
    assert_string_equal(cli_expect(0, "./autotune pick_best spelled.log")->out,
                        SPELLED("[1, 1], [1, 1, 1, 1], [1, 1]", "0.001", ""));
    cli_expect(0, "./autotune log spelled.log --json");
    assert_int_equal(cli_member(cli_json(), "tasks")->count, 1);
    assert_string_equal(cli_expect(0,
                                   "./autotune apply --log spelled.log --fallback -o spelled.c && "
                                   "grep -c 'shape->top == 1 ' spelled.c")
                            ->out,
                        "1\n");
    /* what the same task was searched for is known, and the log goes on */
    cli_expect(0, "./autotune tune conv2d_nhwc --args N=1,H=8,W=8,CI=8,CO=8 --trials 2 --tuner "
                  "grid --log own.log --quiet >/dev/null && ./autotune tune conv2d_nhwc --args "
                  "'N=1,H=8,W=8,CI=8,CO=8,strides=[1,1],padding=SAME' --trials 2 --tuner grid "
                  "--log own.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 2);
}

static void summary(void **state) {
    (void)state;
    write_logs();
    assert_string_equal(
        cli_expect(0, "TZ=UTC ./autotune log a.log")->out,
        "a.log: 5 records; 2023-11-14 22:13:20 to 2023-11-14 22:13:20\n"
        "\n"
        "conv2d_3x3_gemm [1, 4, 4, 8, 8, \"float32\"]\n"
        "  c -keys=cpu -mcpu=znver4; Some CPU, tcc, avx2, weights packed ahead, 1 thread\n"
        "  3 trials, 2 valid; 2023-11-14 22:13:20 to 2023-11-14 22:13:20; trials took "
        "1.500 s together\n"
        "  1 compile, first at line 2: no \"x\", y\n"
        "  best: 2.000 ms, 2.00 GFLOP/s, 25.0 % of the FMA peak; index 0, line 1; the best so far "
        "changed 1 time\n"
        "  with tile_y=[-1, 1, 1], tile_x=[-1, 1, 8], tile_k=[-1, 1]\n"
        "\n"
        "conv2d_3x3_gemm [1, 2, 2, 8, 8, \"float32\"]\n"
        "  llvm -keys=cpu -mcpu=haswell\n"
        "  1 trial, 1 valid; 2023-11-14 22:13:20 to 2023-11-14 22:13:20; trials took "
        "500.0 ms together\n"
        "  best: 1.000 ms; index 0, line 4; the best so far changed 1 time\n"
        "  with tile_y=[-1, 1, 1], tile_x=[-1, 1, 8], tile_k=[-1, 1]\n"
        "\n"
        "conv2d_3x3_gemm [1, 8, 8, 8, 8, \"float32\"]\n"
        "  llvm -keys=cpu -mcpu=haswell\n"
        "  1 trial, 1 valid; 2023-11-14 22:13:20 to 2023-11-14 22:13:20; trials took "
        "500.0 ms together\n"
        "  best: 1.100 ms; index 1, line 5; the best so far changed 1 time\n"
        "  with tile_y=[-1, 1, 2], tile_x=[-1, 1, 8], tile_k=[-1, 1]\n");
    cli_expect(0, "./autotune log a.log --json");
    const at_json *v = cli_json(), *tasks = cli_member(v, "tasks");
    static const char *const numbers[] = {"lines", "records", "old_version", "comments",
                                          "blank", "bad",     "first",       "last"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(cli_member(v, numbers[i])->kind, AT_JSON_NUMBER);
    assert_int_equal(tasks->count, 3);
    const at_json *first = tasks->child;
    assert_string_equal(cli_member(first, "context.cpu")->string, "Some CPU");
    assert_int_equal(cli_member(first, "context.threads")->integer, 1);
    assert_int_equal(cli_member(first, "trials")->integer, 3);
    assert_int_equal(cli_member(first, "failed.compile.count")->integer, 1);
    assert_string_equal(cli_member(first, "failed.compile.text")->string, "no \"x\", y\nmore");
    assert_true(cli_member(first, "best.of_peak")->number == 0.25);
    assert_int_equal(cli_member(first, "best_so_far")->count, 1);
    assert_int_equal(cli_member(first->next, "context")->kind, AT_JSON_NULL);
    assert_int_equal(cli_member(first->next, "best.gflops")->kind, AT_JSON_NULL);
}

/* Trials and the default configuration beside them are all the records that there are. */
static void beside_trials(void **state) {
    (void)state;
    cli_expect(0,
               "./autotune dense --args M=16,N=16,K=16 --trials 3 --tuner random -q --log t.log");
    const int records = cli_count_lines(cli_read("t.log"), "{"), beside = records - 3;
    const char *out = cli_expect(0, "./autotune log t.log")->out;
    const char *head =
        beside ? at_format(cli_arena(), "t.log: %d records, 3 of them trials, ", records)
               : "t.log: 3 records, ";
    assert_true(!strncmp(out, head, strlen(head)));
    assert_non_null(
        strstr(out, beside ? "  3 trials, 3 valid, 1 of the default configuration beside them"
                           : "  3 trials, 3 valid"));
    cli_expect(0, "./autotune log t.log --json");
    assert_int_equal(cli_member(cli_member(cli_json(), "tasks")->child, "anchors")->integer,
                     beside);
    /* A log of the default configuration alone has no trials, and its time is not called theirs. */
    cli_expect(0, "grep '^#\\|\"part\": \"anchor\"' t.log >alone.log");
    out = cli_expect(0, "./autotune log alone.log")->out;
    if (beside) assert_non_null(strstr(out, "  0 trials, 0 valid, 1 of the default configuration"));
    assert_null(strstr(out, "in trials"));
}

static void csv(void **state) {
    (void)state;
    write_logs();
    const cli_result *r = cli_expect(0, "./autotune log a.log --csv");
    assert_int_equal(cli_count_lines(r->out, "line,task,args,target,context_hash,index,failure,"
                                             "error,check,time_s,gflops,peak_gflops,all_cost_s,"
                                             "timestamp,entity,tile_y,tile_x,tile_k\n"),
                     1);
    assert_int_equal(cli_count_lines(r->out,
                                     "1,conv2d_3x3_gemm,\"[1, 4, 4, 8, 8, \"\"float32\"\"]\",c "
                                     "-keys=cpu -mcpu=znver4,"),
                     1);
    assert_non_null(strstr(r->out, ",0,,,exact,0.002,2.0,8.0,0.5,1700000000.0,\"[["));
    assert_non_null(strstr(r->out, ",1,compile,\"no \"\"x\"\", y\\nmore\",unchecked,,,,0.5,"));
}

/* A spreadsheet would work out a text that begins so. */
static void csv_formulas(void **state) {
    (void)state;
    static const char *const texts[] = {"=1+1", "+1", "-1", "@sum(1)", "a;=1", "\\t=1"};
    static const char *const cells[] = {"'=1+1", "'+1", "'-1", "'@sum(1)", "\"a;=1\"", "\\t=1"};
    at_text log = {0}, extra = {0};
    for (int i = 0; i < 6; i++) {
        at_text_clear(&extra);
        at_text_addf(&extra, EXTRA("\"check\": \"%s\", "), texts[i]);
        add(&log, ZEN, 4, 0, "0.002", 0, at_text_str(&extra));
    }
    cli_write("formulas.log", at_text_str(&log));
    const cli_result *r = cli_expect(0, "./autotune log formulas.log --csv");
    for (int i = 0; i < 6; i++) {
        at_text_clear(&extra);
        at_text_addf(&extra, ",0,,,%s,0.002,", cells[i]);
        assert_non_null(strstr(r->out, at_text_str(&extra)));
    }
    at_text_free(&log);
    at_text_free(&extra);
}

/* A record of another program is shown by its parameters, one whose index nobody knows too. */
static void parameters(void **state) {
    (void)state;
    cli_write(
        "foreign.log",
        "{\"input\": [\"cuda\", \"f\", [], {}], \"config\": {\"index\": -1, \"code_hash\": null, "
        "\"entity\": [[\"BLOCK\", \"ot\", -8], [\"ORDER\", \"ot\", \"=nmk\"]]}, \"result\": "
        "[[0.002], 0, 0.5, 1700000000.0], \"version\": 0.2}\n"
        "{\"input\": [\"cuda\", \"f\", [], {}], \"config\": {\"index\": -1, \"code_hash\": null, "
        "\"entity\": [[\"BLOCK\", \"ot\", 16], [\"LAST\", \"ot\", true]]}, \"result\": "
        "[[0.003], 0, 0.5, 1700000000.0], \"version\": 0.2}\n");
    assert_non_null(
        strstr(cli_expect(0, "./autotune log foreign.log")->out,
               "; line 1; the best so far changed 1 time\n  with BLOCK=-8, ORDER=\"=nmk\"\n"));
    const char *out = cli_expect(0, "./autotune log foreign.log --csv")->out;
    assert_non_null(strstr(out, ",entity,BLOCK,ORDER,LAST\n"));
    assert_non_null(strstr(out, "]]\",-8,'=nmk,\n"));
    assert_non_null(strstr(out, "]]\",16,,true\n"));
    cli_write("foreign.log",
              "{\"input\": [\"cuda\", \"vector_add\", [1000], {}], \"config\": {\"index\": 3, "
              "\"code_hash\": null, \"entity\": [[\"block_size_x\", \"ot\", 128], [\"tile\", "
              "\"sp\", [-1, "
              "4]]]}, \"result\": [[0.002], 0, 0.5, 1700000000.0], \"version\": 0.2}\n");
    assert_non_null(strstr(cli_expect(0, "./autotune log foreign.log")->out,
                           "\n  with block_size_x=128, tile=[-1, 4]\n"));
}

static void diff(void **state) {
    (void)state;
    write_logs();
    assert_string_equal(
        cli_expect(0, "./autotune log a.log b.log --diff | tr -s ' '")->out,
        "A a.log, B b.log\n"
        "task A B verdict what else differs\n"
        "conv3x3 8 to 8 @4, conv2d_3x3_gemm\n 2.000 ms +-0.5 % 1.050 ms +-4.8 % B 90.5 % "
        "faster\n"
        "conv3x3 8 to 8 @2, conv2d_3x3_gemm\n 1.000 ms 3.000 ms A 200.0 % faster (a "
        "single "
        "sample)\n"
        "conv3x3 8 to 8 @8, conv2d_3x3_gemm\n 1.100 ms +-9.1 % 1.000 ms +-10.0 % same (B "
        "10.0 % faster, within the spread)\n"
        "conv3x3 8 to 8 @16, conv2d_3x3_gemm\n - 3.000 ms only in B\n"
        "A better: 0, B better: 1, same: 1, single samples: 1, only in A: 0, only in B: 1; on "
        "average B takes 1.127 of A's time\n");
    /* Other circumstances are named. */
    at_text c = {0};
    add(&c, "c -keys=cpu", 4, 1, "0.001", 0,
        "{\"check\": \"exact\", \"context\": {\"cpu\": "
        "\"Some CPU\", \"isa\": \"avx512\", \"threads\": 2}}");
    cli_write("c.log", at_text_str(&c));
    at_text_free(&c);
    const char *line = strstr(cli_expect(0, "./autotune log b.log c.log --diff")->out,
                              "  target " ZEN " / c -keys=cpu; compiler tcc / ?; isa avx2 / "
                              "avx512; packing ahead / ?; cache hot / ?; threads 1 / 2\n");
    assert_non_null(line);
    cli_expect(0, "./autotune log b.log a.log --diff --json");
    const at_json *v = cli_json(), *task = cli_member(v, "tasks")->child;
    assert_int_equal(cli_member(v, "tasks")->count, 4);
    assert_int_equal(cli_member(v, "count.a")->integer, 1);
    assert_int_equal(cli_member(v, "count.only_a")->integer, 1);
    assert_string_equal(cli_member(task, "verdict")->string, "a");
    assert_true(cli_member(task, "ratio")->number > 1.9);
    assert_true(cli_member(task, "a.low_ns")->number == 1e6);
    assert_int_equal(cli_member(task, "b.samples")->integer, 3);
    assert_int_equal(cli_member(task, "b.line")->integer, 1);
}

/* With one first anchor by the ratios to it, whatever the times are; else by time. */
static void diff_in_pairs(void **state) {
    (void)state;
    cli_expect(0, "./autotune conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 --trials 4 --log p.log");
    cli_expect(0, "sed -E 's/\"first\": \"[0-9a-f]+\"/\"first\": \"0\"/' p.log > q.log");
    cli_expect(0, "./autotune log p.log p.log --diff --json");
    const at_json *task = cli_member(cli_json(), "tasks")->child;
    assert_string_equal(cli_member(task, "compared")->string, "pairs");
    assert_true(cli_member(task, "ratio")->number == 1);
    const char *verdict = cli_member(task, "verdict")->string;
    assert_true(!strcmp(verdict, "same") || !strcmp(verdict, "no_spread"));
    cli_expect(0, "./autotune log p.log q.log --diff --json");
    task = cli_member(cli_json(), "tasks")->child;
    assert_string_equal(cli_member(task, "compared")->string, "time");
}

static void split(void **state) {
    (void)state;
    write_logs();
    const cli_result *r = cli_expect(0, "./autotune log a.log --split");
    assert_int_equal(cli_count_lines(r->out, "a.log.000.wkl: 3 records of conv2d_3x3_gemm ["), 1);
    assert_int_equal(cli_count_lines(r->out, ""), 3);
    assert_int_equal(cli_count_lines(cli_read("a.log.000.wkl"), "{\"input\""), 3);
    cli_expect(0, "./autotune log b.log --split --json");
    assert_int_equal(cli_member(cli_json(), "parts")->count, 4);
    /* Of many texts each goes with its task, however many megabytes they are. */
    cli_expect(
        0, "for i in $(seq 2000); do printf '#te {\"name\": \"t%%d\", \"text\": \"# %%3000d\"}\\n' "
           "$i $i; done >texts.log; for i in 7 1999; do sed "
           "\"s/\\\"conv2d_3x3_gemm\\\"/\\\"t$i\\\"/\" a.log | grep -m1 '^{'; done >>texts.log");
    cli_expect(0, "./autotune log texts.log --split");
    cli_expect(0, "grep -c . texts.log.000.wkl texts.log.001.wkl | tr '\\n' ' ' | grep -qx "
                  "'texts.log.000.wkl:2 texts.log.001.wkl:2 ' && grep -q '\"t1999\", \"text\"' "
                  "texts.log.001.wkl");
    cli_expect(0, "mkfifo pipe.log; cat texts.log >pipe.log & ./autotune log pipe.log --split; "
                  "[ $? = 4 ] && timeout 5 cat pipe.log >/dev/null");
}

/* The template tells first parts of splits, and indices. */
static void convert(void **state) {
    (void)state;
    write_logs();
    cli_expect(0, "./autotune log a.log --split");
    const char *const formats[] = {"t4", "kernel_tuner"};
    for (int i = 0; i < 2; i++) {
        const cli_result *r =
            cli_expect(0, "./autotune convert a.log.000.wkl --to %s -o x.json", formats[i]);
        assert_string_equal(r->out, "");
        assert_int_equal(cli_count_lines(r->err, "autotune: warning: lost: index (3 records)\n"),
                         1);
        assert_non_null(strstr(cli_read("x.json"), "\"tile_y.0\": 16, \"tile_y.1\": 1, "));
        r = cli_expect(0, "./autotune convert x.json --to log");
        assert_non_null(strstr(r->out, "[[\"tile_y\", \"sp\", [-1, 1, 1]], [\"tile_x\", \"sp\", "
                                       "[-1, 1, 8]], [\"tile_k\", \"sp\", [-1, 1]]]"));
        assert_null(strstr(r->out, "\"index\": -1"));
        assert_int_equal(cli_count_lines(r->out, "{\"input\": [\"" ZEN "\", "), 3);
        cli_expect(0, "./autotune convert a.log.000.wkl --to %s -o x.json --json", formats[i]);
        assert_string_equal(cli_member(cli_json(), "from")->string, "log");
        assert_string_equal(cli_member(cli_json(), "to")->string, formats[i]);
        assert_int_equal(cli_member(cli_json(), "records")->integer, 3);
        assert_string_equal(cli_member(cli_json(), "lost")->child->string, "index (3 records)");
    }
    /* A record of ours that comes back from T4 is still one to pick. */
    cli_expect(0, "./autotune convert a.log.000.wkl --to t4 -o x.json");
    cli_expect(0, "./autotune convert x.json --to log -o back.log");
    cli_expect(0, "./autotune pick_best back.log --json");
    assert_true(cli_member(cli_member(cli_json(), "picked")->child, "time_ns")->number == 2e6);
}

static void per(void **state) {
    (void)state;
    write_logs();
    cli_expect(0, "./autotune pick_best a.log b.log --per key --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 4);
    const cli_result *r = cli_expect(0, "./autotune pick_best b.log --per mcpu -o best.log");
    assert_string_equal(
        r->out, "task                                 index      time  GFLOP/s  best of  from\n"
                "conv3x3 8 to 8 @4, conv2d_3x3_gemm       1  1.000 ms                 1  "
                "b.log:1\n"
                "conv3x3 8 to 8 @8, conv2d_3x3_gemm       3  1.000 ms                 1  "
                "b.log:2\n"
                "conv3x3 8 to 8 @2, conv2d_3x3_gemm       1  3.000 ms                 1  "
                "b.log:3\n"
                "conv3x3 8 to 8 @16, conv2d_3x3_gemm      1  3.000 ms                 1  "
                "b.log:4\n"
                "4 records written to best.log\n");
    r = cli_expect(0, "./autotune pick_best a.log --compat -o theirs.log");
    assert_string_equal(
        r->out, "task                                index      time  GFLOP/s  best of  from\n"
                "conv3x3 8 to 8 @4, conv2d_3x3_gemm      0  2.000 ms     2.00        2  "
                "a.log:1\n"
                "conv3x3 8 to 8 @2, conv2d_3x3_gemm      0  1.000 ms                 1  "
                "a.log:4\n"
                "conv3x3 8 to 8 @8, conv2d_3x3_gemm      1  1.100 ms                 1  "
                "a.log:5\n"
                "3 records written to theirs.log\n");
    assert_string_equal(r->err, "");
}

/* No text of a log gets out of the comment at the head of emitted C. */
static void stranger(void **state) {
    (void)state;
    at_text log = {0};
    add(&log, "llvm */ int evil1; /* -mcpu=x", 4, 0, "0.001", 0, NULL);
    add(&log, ZEN, 4, 0, "0.001", 0,
        "{\"check\": \"exact\", \"tuner\": \"*/ int evil2; /*\", \"error\": \"*/ int evil3;\", "
        "\"context\": {\"cpu\": \"*/ int evil4; /* \\\\\\n*\", \"packing\": \"*\\n/ int evil5; "
        "/*\", \"threads\": 1}}");
    cli_expect(0, "mkdir -p 'x*'");
    cli_write("x*/int evil6;.log", at_text_str(&log));
    for (int line = 1; line <= 2; line++) {
        cli_expect(0,
                   "./autotune apply conv2d_3x3_gemm --log 'x*/int evil6;.log' --line %d -o k.c && "
                   "gcc -c -o k.o k.c && ! nm k.o | grep evil && grep -q evil k.c",
                   line);
    }
    at_text_free(&log);
}

static void bad_input(void **state) {
    (void)state;
    write_logs();
    cli_write("failed.log", "# none\n");
    cli_write("text.txt", "some text\nand more\n");
    cli_write("one.te", "args N=4\nx[N] : input\ny[n:N] = x[n] + 1\n");
    cli_write("own.c", "/* autotune\n * args N=8\n * x[N] : input\n * y[n:N] = x[n]\n"
                       " * knob U = 1 2\n * call void f(const float *x, float *y)\n */\n"
                       "void f(const float *x, float *y) { for (int i = 0; i < 8; i += U) "
                       "for (int j = 0; j < U; j++) y[i + j] = x[i + j]; }\n");
    static const struct {
        const char *command;
        int status;
        const char *message;
    } rows[] = {
        {"log", 2, "log needs a log: autotune log LOG [LOG] [options]"},
        {"log a.log b.log c.log", 2, "unexpected word \"c.log\": autotune log LOG [LOG] [options]"},
        {"log a.log b.log", 2, "two logs are compared with --diff"},
        {"log a.log --diff", 2, "--diff needs two logs: autotune log A B --diff"},
        {"log a.log --csv --split", 2, "--csv, --split and --diff exclude each other"},
        {"log a.log --csv --json", 2, "--csv and --json exclude each other"},
        {"log none.log", 4, "cannot read none.log: No such file or directory"},
        {"log none.log --csv", 4, "cannot read none.log: No such file or directory"},
        {"log a.log failed.log --diff", 4,
         "failed.log: holds no record; autotune tune writes them"},
        {"pick_best a.log --per cpu", 2,
         "--per cpu: there are context, mcpu, key, operator; did you mean mcpu?"},
        {"pick_best a.log --per key --compat", 2, "--compat and --per exclude each other"},
        {"log text.txt", 4, "text.txt: holds no record, and 2 unreadable lines"},
        {"log failed.log", 4, "failed.log: holds no record; autotune tune writes them"},
        {"pick_best failed.log", 4, "failed.log: holds no record; autotune tune writes them"},
        {"verify failed.log", 4, "failed.log: holds no record; autotune tune writes them"},
        {"log \"\"", 4, "cannot read a file without a name: give its path"},
        {"show matmul_add one.te", 2,
         "unexpected word \"one.te\": autotune show TEMPLATE [options]"},
        {"show own.c -o own_too.c", 2,
         "--output: own is a kernel of its own, without a schedule to write as a template; "
         "autotune "
         "apply writes its source with the values of its knobs"},
        {"convert", 2, "convert needs a file: autotune convert FILE [options]"},
        {"convert a.log", 2, "convert needs --to FORMAT: log, t4, kernel_tuner, space, head"},
        {"convert a.log --to json", 2, "--to json: there are log, t4, kernel_tuner, space, head"},
        {"convert a.log --to log", 2, "a.log is of that format already: log"},
        {"convert a.log --to t4 --json", 2, "convert --json needs --output FILE"},
        {"convert a.log --to t4", 4,
         "a.log: line 4 is of another target or task than the first record; such a file holds one: "
         "autotune log --split makes a log of each"},
        {"convert none.log --to t4", 4, "cannot read none.log: No such file or directory"},
        {"convert failed.log --to t4", 4, "failed.log: holds no record; autotune tune writes them"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cli_result *r = cli_expect(rows[i].status, "./autotune %s", rows[i].command);
        const char *last = strstr(r->err, "autotune: ");
        for (const char *next = last; next; next = strstr(next + 1, "\nautotune: "))
            if (next != last || *next == '\n') last = next + (*next == '\n');
        char expected[512];
        snprintf(expected, sizeof expected, "autotune: %s\n", rows[i].message);
        assert_string_equal(last, expected);
        assert_string_equal(r->out, "");
    }
}

/* What is no log says what it is, once; a file of T4 with a fault says where. */
static void other_files(void **state) {
    (void)state;
    static const char *const takes_log[] = {
        "apply --log x.json -o x.c",
        "log x.json",
        "log x.json --csv",
        "log a.log x.json --diff",
        "pick_best x.json",
        "verify x.json",
        "plot x.json",
        "report x.json",
        "tune matmul_add --trials 1 --log new.log --transfer x.json"};
    static const struct {
        const char *change, *message;
    } faults[] = {
        {"s/correct/\\n\"/", "a T4 file with a fault: JSON, line "},
        {"s/\"schema_version\"/\"te\": 1, &/; s/\"target\"/\"te\": {\"name\": \"a\"}, &/",
         "metadata: \"te\" has no texts \"name\" and \"text\""},
        {"s/\"target\"/\"te\": {\"name\": \"a b\", \"text\": \"\"}, &/",
         "metadata: \"te\": name \"a b\"; "},
        {"s/\"target\"/\"te\": {\"name\": \"a\", \"text\": \"b[N] : what\"}, &/",
         "metadata: \"te\": a.te:1:"},
    };
    write_logs();
    cli_expect(0, "./autotune log a.log --split");
    cli_expect(0, "./autotune convert a.log.000.wkl --to t4 -q -o x.json");
    for (size_t i = 0; i < sizeof takes_log / sizeof *takes_log; i++) {
        const cli_result *r = cli_expect(4, "./autotune %s", takes_log[i]);
        assert_string_equal(r->err,
                            "autotune: x.json: a T4 file, and no log; autotune convert makes one "
                            "of it, replay takes it as it is\n");
        assert_string_equal(r->out, "");
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        cli_expect(0, "sed '%s' x.json >bad.json", faults[i].change);
        const cli_result *r = cli_expect(4, "./autotune convert bad.json --to log");
        assert_int_equal(cli_count_lines(r->err, "autotune: "), 1);
        assert_non_null(strstr(r->err, faults[i].message));
        assert_string_equal(r->out, "");
    }
}

/* Of a log of several CPUs this one's records come first, and another's are said to be such. */
static void this_cpu_first(void **state) {
    (void)state;
    static const char said[] = "was measured on another CPU (Another CPU), and none on this one";
    cli_expect(0, "./autotune dense --args M=8,N=16,K=8 --trials 2 --tuner grid --isa scalar --log "
                  "here.log -q");
    cli_expect(0, "grep '^{' here.log | head -n 1 | sed 's/\"cpu\": \"[^\"]*\"/\"cpu\": "
                  "\"Another CPU\"/; s/\"context_hash\": \"..../\"context_hash\": \"0000/; "
                  "s/\"result\": \\[\\[[^]]*\\]/\"result\": [[1e-09]/; s/\"pairs\": {[^}]*}, //' "
                  ">there.log && cat there.log here.log >both.log");
    static const char *const verbs[] = {"show dense --log %s.log", "apply dense --log %s.log",
                                        "apply dense --args M=8,N=16,K=8 --log %s.log"};
    for (int i = 0; i < 3; i++) {
        char command[128];
        snprintf(command, sizeof command, verbs[i], "both");
        assert_null(strstr(cli_expect(0, "./autotune %s", command)->err, said));
        snprintf(command, sizeof command, verbs[i], "there");
        assert_non_null(strstr(cli_expect(0, "./autotune %s", command)->err, said));
    }
    const char *first = cli_expect(0, "./autotune pick_best both.log --per operator")->out;
    assert_null(strstr(first, "Another CPU"));
    const cli_result *r = cli_expect(0, "./autotune pick_best there.log --per operator");
    assert_non_null(strstr(r->out, "Another CPU"));
    assert_non_null(strstr(r->err, "1 of 1: measured on another CPU, and nothing on this one"));
    r = cli_expect(0, "./autotune pick_best both.log");
    assert_int_equal(cli_count_lines(r->out, "{"), 2); /* one of each context */
}

/* A computation that was edited between two searches, and back again: the text that was searched
 * last counts, and all who choose take a record of it. */
static void edited(void **state) {
    (void)state;
    static const char *const factors[] = {"1", "2", "1"};
    const char *told = "  of another version of its template: used with --accept-changed alone\n";
    at_arena *a = at_arena_new();
    for (int i = 0; i < 3; i++) {
        cli_write("e.te",
                  at_format(a, "args N=64\nx[N] : input\ny[n:N] = x[n] * %s\n", factors[i]));
        cli_expect(0, "./autotune ./e.te --trials %d --tuner grid --log e.log -q", i + 2);
    }
    assert_string_equal(cli_expect(0, "grep -c '^#te' e.log")->out, "3\n");
    const char *log = at_strdup(a, cli_expect(0, "./autotune log e.log")->out);
    assert_int_equal(cli_count_lines(log, told), 1);
    const char *best = strstr(log, "; index "), *edited = strstr(log, told);
    assert_true(best && best < edited); /* of the first text */
    const char *line = strstr(best, ", line ") + strlen(", line ");
    line = at_strndup(a, line, strcspn(line, ";"));
    assert_non_null(strstr(cli_expect(0, "./autotune pick_best e.log -o b.log")->out,
                           at_format(a, "  e.log:%s\n", line)));
    static const char *const verbs[] = {"apply --log e.log", "apply e --log e.log",
                                        "apply ./e.te --log e.log"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        assert_non_null(strstr(cli_expect(0, "./autotune %s", verbs[i])->out,
                               at_format(a, "configuration from e.log:%s:", line)));
    assert_non_null(strstr(cli_run("./autotune verify e.log")->out, " not_run"));
    /* Commands of the page work for either. */
    cli_expect(0, "./autotune report e.log");
    const char *page = at_strdup(a, cli_read("e.log.html"));
    int commands = 0;
    for (const char *c = page; (c = strstr(c, "autotune run e ")); c++, commands++)
        cli_expect(0, "PATH=.:$PATH; %.*s", (int)strcspn(c, "\n<"), c);
    assert_int_equal(commands, 2);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited),        cmocka_unit_test(spellings),
        cmocka_unit_test(summary),       cmocka_unit_test(beside_trials),
        cmocka_unit_test(csv),           cmocka_unit_test(csv_formulas),
        cmocka_unit_test(parameters),    cmocka_unit_test(diff),
        cmocka_unit_test(diff_in_pairs), cmocka_unit_test(split),
        cmocka_unit_test(convert),       cmocka_unit_test(other_files),
        cmocka_unit_test(per),           cmocka_unit_test(stranger),
        cmocka_unit_test(bad_input),     cmocka_unit_test(this_cpu_first),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
