/* Logs, T4 results and Kernel Tuner caches into one another. */
#include "tests/records/support.h"
#include "tests/spaces.h"

#include <stdlib.h>
#include <string.h>

typedef struct conversion {
    at_arena *arena;
    at_text losses;
    at_error err;
    const at_file_format *from;
    at_record *records;
    int n;
} conversion;

static void take_loss(void *ctx, const char *text) {
    at_text_addf(&((conversion *)ctx)->losses, "%s\n", text);
}

static int64_t first_part(void *ctx, const at_record *r, int knob) {
    (void)ctx;
    return at_split_part(&r->config.entities[knob], 48, 0);
}

static at_exchange exchange(conversion *c) {
    return (at_exchange){.arena = c->arena, .loss = take_loss, .warn = take_loss, .ctx = c};
}

static conversion start(at_arena *a) { return (conversion){.arena = a}; }

static at_status read_file(conversion *c, const char *path) {
    at_exchange x = exchange(c);
    at_text_clear(&c->losses);
    return at_exchange_read(&x, path, &c->from, &c->records, &c->n, &c->err);
}

static const char *print(conversion *c, const char *to, bool known_length) {
    at_exchange x = exchange(c);
    if (known_length) x.split_part = first_part;
    at_text out = {0};
    if (at_exchange_print(&x, at_file_format_find(to), c->records, c->n, &out, &c->err) != AT_OK)
        fail_msg("%s", c->err.text);
    return at_text_take(c->arena, &out);
}

#define ENTITY                                                                                     \
    "[[\"tile\", \"sp\", [%s, 8, 2]], [\"order\", \"re\", [1, 0]], [\"ann\", \"an\", [\"none\", "  \
    "\"vec\"]], [\"pack\", \"ot\", true], [\"mode\", \"ot\", \"row, wise\"], [\"f\", \"ot\", "     \
    "0.5]]"

static const char *record_line(at_arena *a, const char *first, const char *costs, int error_no,
                               const char *extra) {
    const char *entity = at_format(a, ENTITY, first);
    return at_format(a,
                     "{\"input\": [\"llvm -keys=cpu -mcpu=znver4\", \"gemm\", [1, [\"TENSOR\", "
                     "[2], \"float32\"]], {}], \"config\": {\"index\": 7, \"code_hash\": null, "
                     "\"entity\": %s}, \"result\": [[%s], %d, 0.5, 1671797486.5], \"version\": "
                     "0.2, \"tvm_version\": \"0.12.0\"%s%s}\n",
                     entity, error_no ? "1000000000.0" : costs, error_no,
                     extra ? ", \"autotune\": " : "", extra ? extra : "");
}

/* What a record says, but for index and first parts of splits. */
static void expect_same(at_arena *a, const at_record *r, const char *line) {
    at_record expected;
    at_error err;
    if (at_record_parse(a, line, strlen(line), &expected, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(r->target, expected.target);
    assert_string_equal(r->task, expected.task);
    assert_true(at_args_equal(r->args, expected.args));
    assert_true(same_entity(&r->config, &expected.config));
    assert_int_equal(r->error_no, expected.error_no);
    assert_int_equal(r->num_costs, expected.num_costs);
    for (int i = 0; i < r->num_costs; i++)
        assert_true(r->costs_s[i] > expected.costs_s[i] * (1 - 1e-15) &&
                    r->costs_s[i] < expected.costs_s[i] * (1 + 1e-15));
    assert_true(r->all_cost_s == expected.all_cost_s);
    assert_true(r->timestamp_s == expected.timestamp_s);
}

/* ---- there and back ------------------------------------------------------------------------- */

static void foreign(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    conversion c = start(a);
    static const int errors[] = {0, 1, 2, 4, 5, 7};
    const char *lines[6], *log = "";
    for (int i = 0; i < 6; i++)
        log = join(a, log, lines[i] = record_line(a, i ? "4" : "3", "0.25, 0.5", errors[i], NULL),
                   NULL);
    put_file("a.log", log);
    assert_int_equal(read_file(&c, "a.log"), AT_OK);
    assert_string_equal(c.from->name, "log");
    assert_string_equal(at_text_str(&c.losses), "");
    const char *t4 = print(&c, "t4", false);
    assert_string_equal(at_text_str(&c.losses),
                        "lost: index (6 records)\nlost: tvm_version (6 records)\n");
    static const char head[] =
        "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\", "
        "\"autotune\": {\"task\": \"gemm\", \"args\": [1, [\"TENSOR\", [2], \"float32\"]], "
        "\"target\": \"llvm -keys=cpu -mcpu=znver4\"}}, \"results\": [\n"
        "{\"timestamp\": \"2022-12-23 12:11:26.500000+00:00\", \"configuration\": {\"tile.0\": 3, "
        "\"tile.1\": 8, \"tile.2\": 2, \"order.0\": 1, \"order.1\": 0, \"ann.0\": \"none\", "
        "\"ann.1\": \"vec\", \"pack\": true, \"mode\": \"row, wise\", \"f\": 0.5}, \"times\": "
        "{\"compilation_time\": 0, \"compilation\": 0, \"framework\": 0, \"search_algorithm\": 0, "
        "\"validation\": 0, \"benchmark\": 500.0, \"runtimes\": [250.0, 500.0]}, \"invalidity\": "
        "\"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", \"value\": "
        "375.0, \"unit\": \"ms\"}], \"objectives\": [\"time\"]},\n";
    assert_memory_equal(t4, head, sizeof head - 1);
    put_file("a.json", t4);
    assert_int_equal(read_file(&c, "a.json"), AT_OK);
    assert_string_equal(c.from->name, "t4");
    assert_string_equal(at_text_str(&c.losses), "");
    assert_int_equal(c.n, 6);
    for (int i = 0; i < 6; i++) expect_same(a, &c.records[i], lines[i]);

    /* A cache has one entry per configuration, and other words for failures. */
    put_file("a.log", join(a, lines[0], lines[1], NULL));
    assert_int_equal(read_file(&c, "a.log"), AT_OK);
    const char *cache = print(&c, "kernel_tuner", false);
    assert_string_equal(
        cache,
        "{\n\"device_name\": \"llvm -keys=cpu -mcpu=znver4\",\n\"kernel_name\": \"gemm [1, "
        "[\\\"TENSOR\\\", [2], \\\"float32\\\"]]\",\n\"tune_params_keys\": [\"tile.0\", "
        "\"tile.1\", \"tile.2\", \"order.0\", \"order.1\", \"ann.0\", \"ann.1\", \"pack\", "
        "\"mode\", \"f\"], \"tune_params\": {\"tile.0\": [3, 4], \"tile.1\": [8], \"tile.2\": "
        "[2], \"order.0\": [1], \"order.1\": [0], \"ann.0\": [\"none\"], \"ann.1\": [\"vec\"], "
        "\"pack\": [true], \"mode\": [\"row, wise\"], \"f\": [0.5]},\n\"objective\": \"time\",\n"
        "\"cache\": {\n"
        "\"3,8,2,1,0,none,vec,True,row, wise,0.5\": {\"tile.0\": 3, \"tile.1\": 8, \"tile.2\": 2, "
        "\"order.0\": 1, \"order.1\": 0, \"ann.0\": \"none\", \"ann.1\": \"vec\", \"pack\": true, "
        "\"mode\": \"row, wise\", \"f\": 0.5, \"time\": 375.0, \"times\": [250.0, 500.0], "
        "\"compile_time\": 0, \"verification_time\": 0, \"benchmark_time\": 500.0, "
        "\"strategy_time\": 0, \"framework_time\": 0, \"timestamp\": "
        "\"2022-12-23 12:11:26.500000+00:00\"},\n"
        "\"4,8,2,1,0,none,vec,True,row, wise,0.5\": {\"tile.0\": 4, \"tile.1\": 8, \"tile.2\": 2, "
        "\"order.0\": 1, \"order.1\": 0, \"ann.0\": \"none\", \"ann.1\": \"vec\", \"pack\": true, "
        "\"mode\": \"row, wise\", \"f\": 0.5, \"time\": \"InvalidConfig\", "
        "\"compile_time\": 0, \"verification_time\": 0, \"benchmark_time\": 500.0, "
        "\"strategy_time\": 0, \"framework_time\": 0, \"timestamp\": "
        "\"2022-12-23 12:11:26.500000+00:00\"}}\n}\n");
    put_file("a.json", cache);
    assert_int_equal(read_file(&c, "a.json"), AT_OK);
    assert_string_equal(c.from->name, "kernel_tuner");
    assert_string_equal(at_text_str(&c.losses),
                        "lost: the values that parameters may have (2 records)\n");
    assert_int_equal(c.n, 2);
    for (int i = 0; i < 2; i++) expect_same(a, &c.records[i], lines[i]);
    /* Interrupted before or behind a comma, and compressed. */
    size_t len = strlen(cache);
    put_file("a.json", at_format(a, "%.*s,\n", (int)len - 4, cache));
    assert_int_equal(read_file(&c, "a.json"), AT_OK);
    assert_int_equal(c.n, 2);
    put_file("a.json", at_format(a, "%.*s", (int)len - 4, cache));
    assert_int_equal(system("gzip a.json"), 0);
    assert_int_equal(read_file(&c, "a.json.gz"), AT_OK);
    assert_int_equal(c.n, 2);
    at_text_free(&c.losses);
    at_arena_free(a);
}

/* Records of ours keep context, samples and figures through T4. */
static void ours(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    conversion c = start(a);
    const char *line = record_line(
        a, "-1", "2.0, 3.0, 4.0", 0,
        "{\"version\": \"0.1.0\", \"tuner\": \"random\", \"sample_kind\": \"full\", \"check\": "
        "\"exact\", \"seed\": 1, \"samples_s\": [5.0, 1.0, 4.0, 2.0, 3.0], \"gflops\": 1.5, "
        "\"peak_gflops\": 3.0, \"same_as\": 4, \"context\": {\"cpu\": \"Zen\", \"threads\": 1}}");
    const char *slow = record_line(a, "-1", "", 6,
                                   "{\"check\": \"unchecked\", \"error\": \"slow\", \"context\": "
                                   "{\"cpu\": \"Zen\", \"threads\": 2}}");
    put_file("a.log", join(a, line, slow, "#final {}\n", NULL));
    assert_int_equal(read_file(&c, "a.log"), AT_OK);
    const char *t4 = print(&c, "t4", true);
    assert_string_equal(
        at_text_str(&c.losses),
        "lost: comments, finals among them (1 line)\nlost: index (2 records)\nlost: tvm_version "
        "(2 records)\nlost: error text (1 record)\nlost: tuner and seed (1 record)\nlost: "
        "sample_kind (1 record)\nlost: same_as (1 record)\nlost: version of the program (1 "
        "record)\nlost: context, other than that of the first record (1 record)\nlost: error "
        "numbers 3, 6 and above 7, which become 2 or 4 (1 record)\n");
    assert_non_null(strstr(t4, "\"tile.0\": 3, "));
    put_file("a.json", t4);
    assert_int_equal(read_file(&c, "a.json"), AT_OK);
    assert_string_equal(at_text_str(&c.losses), "");
    assert_int_equal(c.n, 2);
    const at_record *r = &c.records[0];
    expect_same(a, r, line);
    assert_true(at_record_is_candidate(r));
    assert_string_equal(r->extra.context.cpu, "Zen");
    assert_int_equal(r->extra.context.threads, 1);
    assert_int_equal(r->extra.num_samples, 5);
    assert_true(r->extra.samples_s[0] == 5 && r->extra.samples_s[4] == 3);
    assert_true(r->extra.gflops == 1.5 && r->extra.peak_gflops == 3);
    assert_int_equal(c.records[1].error_no, 2);
    assert_int_equal(c.records[1].extra.check, AT_CHECK_UNCHECKED);

    /* Without the template the first part stays open; a cache has no place for the rest. */
    assert_int_equal(read_file(&c, "a.log"), AT_OK);
    at_text_clear(&c.losses);
    const char *cache = print(&c, "kernel_tuner", false);
    assert_non_null(strstr(cache, "\"tile.0\": [-1]"));
    assert_non_null(strstr(cache, "\"time\": 3000.0, \"times\": [5000.0, 1000.0, "));
    assert_non_null(strstr(at_text_str(&c.losses),
                           "lost: first part of a split, which stays -1: no template tells what "
                           "is divided (2 records)\nlost: context, check, gflops and peak_gflops "
                           "(2 records)\nlost: error numbers 3, 6 and above 8 (1 record)\nlost: "
                           "results of a configuration measured more than once, but the best (1 "
                           "record)\n"));
    at_text_free(&c.losses);
    at_arena_free(a);
}

/* ---- other programs' files ------------------------------------------------------------------ */

static void from_elsewhere(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    conversion c = start(a);
    put_file("hip_conv_T4.json",
             "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\"}, "
             "\"results\": [{\"timestamp\": \"2024-02-29T12:00:00.25Z\", \"configuration\": "
             "{\"block_size_x\": 32, \"use_ldg\": true}, \"times\": {\"compilation\": 100.0, "
             "\"framework\": 1.0, \"search_algorithm\": 0.5, \"validation\": 0.25, "
             "\"benchmark\": 8.25}, \"invalidity\": \"correct\", \"correctness\": 1, "
             "\"measurements\": [{\"name\": \"time\", \"value\": 2.0, \"unit\": \"ms\"}, "
             "{\"name\": \"power\", \"value\": 100, \"unit\": \"W\"}], \"objectives\": "
             "[\"time\"]}, {\"timestamp\": \"\", \"configuration\": {\"use_ldg\": false, "
             "\"block_size_x\": 64}, \"times\": {}, \"invalidity\": \"constraints\", "
             "\"correctness\": 0, \"measurements\": [], \"objectives\": [\"time\"]}]}");
    assert_int_equal(read_file(&c, "hip_conv_T4.json"), AT_OK);
    assert_string_equal(at_text_str(&c.losses),
                        "lost: the parts of the time that a trial took; their sum is kept (1 "
                        "record)\nlost: measurements other than the time (1 record)\n");
    assert_string_equal(
        print(&c, "log", false),
        "{\"input\": [\"ext_dev\", \"hip_conv_T4\", [], {}], \"config\": {\"index\": -1, "
        "\"code_hash\": null, \"entity\": [[\"block_size_x\", \"ot\", 32], [\"use_ldg\", \"ot\", "
        "true]]}, \"result\": [[0.002], 0, 0.11, 1709208000.25], \"version\": 0.2, "
        "\"tvm_version\": \"0.12.0\"}\n"
        "{\"input\": [\"ext_dev\", \"hip_conv_T4\", [], {}], \"config\": {\"index\": -1, "
        "\"code_hash\": null, \"entity\": [[\"block_size_x\", \"ot\", 64], [\"use_ldg\", \"ot\", "
        "false]]}, \"result\": [[1000000000.0], 1, 0.0, 0.0], \"version\": 0.2, "
        "\"tvm_version\": \"0.12.0\"}\n");
    put_file("cache.json",
             "{\"device_name\": \"Some GPU 4000\", \"kernel_name\": \"conv\", \"problem_size\": "
             "[4096, 4096], \"tune_params_keys\": [\"a\", \"v.1\"], \"tune_params\": {\"a\": [1, "
             "2], \"v.1\": [0]}, \"objective\": \"GFLOP/s\", \"cache\": {\"1,0\": {\"a\": 1, "
             "\"v.1\": 0, \"time\": 2.0, \"times\": [1.0, 3.0], \"compile_time\": 5.0, "
             "\"GFLOP/s\": 7, \"timestamp\": \"2022-12-23 12:11:26.5+01:00\"}, \"2,0\": {\"a\": "
             "2, \"v.1\": 0, \"time\": \"ErrorConfig\"}");
    assert_int_equal(read_file(&c, "cache.json"), AT_OK);
    assert_string_equal(
        at_text_str(&c.losses),
        "lost: the parts of the time that a trial took; their sum is kept (1 record)\nlost: "
        "metrics other than the time (1 record)\nlost: the objective, which is not the time (2 "
        "records)\nlost: the values that parameters may have (2 records)\n");
    assert_int_equal(c.n, 2);
    assert_string_equal(c.records[0].target, "ext_dev -model=Some_GPU_4000");
    assert_string_equal(c.records[0].task, "conv");
    assert_int_equal(c.records[0].args->count, 2);
    assert_string_equal(c.records[0].config.names[1], "v.1"); /* there is no v.0 */
    assert_int_equal(c.records[0].config.entities[1].kind, AT_KNOB_OPTION);
    assert_true(c.records[0].timestamp_s == 1671797486.5 - 3600);
    assert_int_equal(c.records[1].error_no, 8);
    at_text_free(&c.losses);
    at_arena_free(a);
}

static void refusals(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    conversion c = start(a);
#define LINE(entity)                                                                               \
    "{\"input\": [\"c\", \"t\", [1], {}], \"config\": {\"index\": 0, \"code_hash\": null, "        \
    "\"entity\": [" entity "]}, \"result\": [[0.5], 0, 1.0, 2.0], \"version\": 0.2}\n"
#define T4(result) "{\"schema_version\": \"1.0.0\", \"results\": [" result "]}"
#define CACHE(entry)                                                                               \
    "{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": " entry ", \"2\": {\"a\": 2, \"time\": "   \
    "1.0}}}"
    static const char *const rows[][2] = {
        {"{\"schema_version\": \"2.0.0\"}", "schema_version 2.0.0 of T4 is not read; 1.0.0 is"},
        {"{\"schema_version\": \"1.0.0\"}", "no array \"results\""},
        {T4("5"), "result 0: no objects \"configuration\" and \"times\""},
        {T4("{\"configuration\": {}, \"times\": {}}"), "result 0: no text \"invalidity\""},
        {T4("{\"configuration\": {}, \"times\": {}, \"invalidity\": \"odd\"}"),
         "result 0: invalidity \"odd\"; there are timeout, compile, runtime, correctness, "
         "constraints, correct"},
        {T4("{\"configuration\": {}, \"times\": {}, \"invalidity\": \"correct\"}"),
         "result 0: neither \"runtimes\" nor a measurement \"time\""},
        {T4("{\"configuration\": {}, \"times\": {\"runtimes\": [true]}, \"invalidity\": "
            "\"correct\"}"),
         "result 0: a runtime is no number"},
        {T4("{\"configuration\": {\"a\": 1}, \"times\": {}, \"invalidity\": \"compile\"}, "
            "{\"configuration\": {}, \"times\": {}, \"invalidity\": \"compile\"}"),
         "a configuration has 0 parameters, the first one 1"},
        {T4("{\"configuration\": {\"a\": 1}, \"times\": {}, \"invalidity\": \"compile\"}, "
            "{\"configuration\": {\"b\": 1}, \"times\": {}, \"invalidity\": \"compile\"}"),
         "parameter a is missing from a configuration"},
        {T4("{\"configuration\": {\"t.0\": 1, \"t.0\": 2}, \"times\": {}, \"invalidity\": "
            "\"compile\"}"),
         "parameter t occurs twice"},
        {"{\"cache\": 5}", "no object \"cache\""},
        {"{\"cache\": {}}", "no array \"tune_params_keys\""},
        {CACHE("{}"), "entry \"1\": no parameter a"},
        {CACHE("{\"a\": 1}"), "entry \"1\": no number \"time\""},
        {CACHE("{\"a\": 1, \"time\": \"Odd\"}"),
         "entry \"1\": unknown failure \"Odd\" in the place of the time"},
        {CACHE("{\"a\": 1, \"time\": 1, \"times\": [null]}"), "entry \"1\": a time is no number"},
        {"{\"tune_params_keys\": [5], \"cache\": {\"1\": {}}}",
         "entry \"1\": no parameter of that name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_file("x.json", rows[i][0]);
        if (read_file(&c, "x.json") != AT_E_INPUT) fail_msg("%s", rows[i][0]);
        assert_string_equal(c.err.text, at_format(a, "x.json: %s", rows[i][1]));
    }
    at_exchange x = exchange(&c);
    at_text out = {0};
    assert_int_equal(at_exchange_print(&x, at_file_format_find("t4"), NULL, 0, &out, &c.err),
                     AT_E_INPUT);
    assert_string_equal(c.err.text, "there are no records to convert");
    put_file("a.log", join(a, line_of(a, NULL, 1, 0, "0.5", 0, NULL),
                           line_of(a, NULL, 2, 0, "0.5", 0, NULL), NULL));
    assert_int_equal(read_file(&c, "a.log"), AT_OK);
    assert_int_equal(at_exchange_print(&x, at_file_format_find("t4"), c.records, 2, &out, &c.err),
                     AT_E_INPUT);
    assert_string_equal(c.err.text, "line 2 is of another target or task than the first record; "
                                    "such a file holds one: autotune log --split makes a log of "
                                    "each");
    put_file("b.log", join(a, LINE("[\"p\", \"ot\", 1]"), LINE("[\"q\", \"ot\", 1]"),
                           LINE("[\"time\", \"ot\", 1]"), NULL));
    assert_int_equal(read_file(&c, "b.log"), AT_OK);
    assert_int_equal(at_exchange_print(&x, at_file_format_find("t4"), c.records, 2, &out, &c.err),
                     AT_E_INPUT);
    assert_string_equal(c.err.text, "line 2 has other parameters than the first record; such a "
                                    "file holds one space: autotune pick_best first leaves the "
                                    "best record of each task");
    assert_int_equal(
        at_exchange_print(&x, at_file_format_find("kernel_tuner"), c.records + 2, 1, &out, &c.err),
        AT_E_INPUT);
    assert_string_equal(c.err.text,
                        "parameter time: a cache of Kernel Tuner means something else by it");
    put_file("prose", "{\"a\": 1}\n");
    assert_int_equal(read_file(&c, "prose"), AT_E_INPUT); /* a log with nothing in it */
    assert_string_equal(c.err.text, "prose: holds no record, and 1 unreadable line");
    assert_string_equal(at_text_str(&c.losses),
                        "prose:1: not a record: no member \"input\"; skipped\n");
    at_text_free(&out);
    at_text_free(&c.losses);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(foreign, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ours, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(from_elsewhere, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(refusals, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
