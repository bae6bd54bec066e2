/* One record: to a line and back. */
#include "tests/records/support.h"

#include <string.h>

#define INPUT "\"input\": [\"llvm\", \"t\", [], {}]"
#define CONFIG "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": []}"
#define RESULT "\"result\": [[0.5], 0, 1.0, 2.0]"
#define OURS(member) "{" INPUT ", " CONFIG ", " RESULT ", \"autotune\": {" member "}}"

static const char *const lines[] = {
    /* as AutoTVM writes them */
    "{\"input\": [\"llvm -keys=cpu -mcpu=znver4\", \"conv_a\", [1, 14, 7, 3, 6, \"float32\"], {}], "
    "\"config\": {\"index\": 12, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 7]], "
    "[\"tile_x\", \"sp\", [3, 2]]]}, \"result\": [[0.000125], 0, 1.5, 1700000000.25], \"version\": "
    "0.2, \"tvm_version\": \"0.8.0\"}",
    "{\"input\": [\"llvm -keys=cpu\", \"dense_b\", [[\"TENSOR\", [8, 16], \"float32\"], null, 0.5, "
    "-3, \"caf\\u00e9 \\\"q\\\"\", []], {}], \"config\": {\"index\": 9007199254740993, "
    "\"code_hash\": \"0badcafe\", \"entity\": [[\"order\", \"re\", [2, 0, 1]], [\"ann\", \"an\", "
    "[\"none\", \"unroll\", \"vec\"]], [\"at\", \"an\", [0, 2]], [\"flag\", \"ot\", false], "
    "[\"step\", \"ot\", 16], [\"name\", \"ot\", \"row\"]]}, \"result\": [[1e-05, "
    "0.30000000000000004, 123456789012345.0, 1.2345678901234568e+17], 0, 0.0, 1e+16], \"version\": "
    "0.2, \"tvm_version\": \"0.12.0\"}",
    /* a failure whose time is AutoTVM's limit, an integer; no knobs */
    "{\"input\": [\"llvm -keys=cpu\", \"c\", [], {}], \"config\": {\"index\": 0, \"code_hash\": "
    "null, \"entity\": []}, \"result\": [[1000000000.0], 6, 10, 1700000001.5], \"version\": 0.2, "
    "\"tvm_version\": \"0.12.0\"}",
    /* ours */
    "{\"input\": [\"c -keys=cpu -mcpu=znver5\", \"conv_a\", [1, 2], {}], \"config\": {\"index\": "
    "3, "
    "\"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 2]]]}, \"result\": [[2.5e-05], 0, "
    "0.004, 1700000002.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\", \"autotune\": "
    "{\"version\": \"0.1.0\", \"compiler_version\": \"0.9.27\", \"cpu_flags\": \"avx fma\", "
    "\"tuner\": \"random\", \"sample_kind\": \"full\", \"check\": "
    "\"exact\", \"code_hash\": \"00112233445566778899aabbccddeeff\", \"seed\": 0, \"samples_s\": "
    "[2.5e-05, 2.6e-05], \"number\": 40, \"repeat\": 2, \"min_repeat_ms\": 1.5, \"gflops\": 100.5, "
    "\"peak_gflops\": 117.0, \"same_as\": 0, \"context\": "
    "{\"cpu\": \"Some CPU @ 4 GHz\", \"isa\": \"avx512\", \"compiler\": \"tcc\", \"packing\": "
    "\"ahead\", \"cache\": \"hot\", \"pattern\": \"p\", \"template\": \"t\", \"threads\": 1}, "
    "\"context_hash\": \"0123456789abcdef0123456789abcdef\"}}",
    "{\"input\": [\"c -keys=cpu\", \"conv_a\", [1], {}], \"config\": {\"index\": 3, \"code_hash\": "
    "null, \"entity\": []}, \"result\": [[1000000000.0], 5, 0.004, 1700000002.0], \"version\": "
    "0.2, "
    "\"tvm_version\": \"0.12.0\", \"autotune\": {\"tuner\": \"grid\", \"check\": \"failed\", "
    "\"error\": \"out[3] is 1.0\\n2.0 expected\", \"seed\": \"18446744073709551615\", "
    "\"of_limit\": 0.25, \"accuracy\": {\"max_error\": 3.5e-05, \"rms_error\": 2e-06}, "
    "\"context\": "
    "{}, \"context_hash\": \"0123456789abcdef0123456789abcdef\"}}",
};

static void parse_to_print(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        at_record r;
        at_error err = {0};
        at_text out = {0};
        if (at_record_parse(a, lines[i], strlen(lines[i]), &r, &err) != AT_OK)
            fail_msg("line %zu: %s", i, err.text);
        at_record_print(&out, &r);
        assert_int_equal(out.data[out.len - 1], '\n');
        out.data[out.len - 1] = 0;
        assert_string_equal(out.data, lines[i]);
        at_text_free(&out);
    }
    at_arena_free(a);
}

static void fields(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r;
    assert_int_equal(at_record_parse(a, lines[3], strlen(lines[3]), &r, NULL), AT_OK);
    assert_string_equal(r.target, "c -keys=cpu -mcpu=znver5");
    assert_string_equal(r.task, "conv_a");
    assert_int_equal(r.args->count, 2);
    assert_int_equal(r.config.recorded_index, 3);
    assert_int_equal(r.config.num_knobs, 1);
    assert_null(r.code_hash);
    assert_int_equal(r.num_costs, 1);
    assert_true(r.costs_s[0] == 2.5e-05);
    assert_int_equal(r.error_no, 0);
    assert_true(r.all_cost_s == 0.004 && r.timestamp_s == 1700000002.0);
    const at_extra *e = &r.extra;
    assert_true(e->present);
    assert_string_equal(e->version, "0.1.0");
    assert_string_equal(e->compiler_version, "0.9.27");
    assert_string_equal(e->cpu_flags, "avx fma");
    assert_int_equal(e->number, 40);
    assert_true(e->min_repeat_ms == 1.5);
    assert_string_equal(e->tuner, "random");
    assert_int_equal(e->seed, 0);
    assert_int_equal(e->num_samples, 2);
    assert_true(e->samples_s[1] == 2.6e-05);
    assert_int_equal(e->sample_kind, AT_SAMPLES_FULL);
    assert_true(e->peak_gflops == 117 && e->gflops == 100.5);
    assert_string_equal(e->error, "");
    assert_int_equal(e->check, AT_CHECK_EXACT);
    assert_int_equal(e->same_as, 0);
    assert_string_equal(e->context.cpu, "Some CPU @ 4 GHz");
    assert_string_equal(e->context.template_hash, "t");
    assert_int_equal(e->context.threads, 1);
    assert_string_equal(e->context_hash, "0123456789abcdef0123456789abcdef");

    assert_int_equal(at_record_parse(a, lines[4], strlen(lines[4]), &r, NULL), AT_OK);
    assert_true(r.extra.seed == UINT64_MAX);
    assert_int_equal(r.extra.same_as, -1);
    assert_string_equal(r.extra.error, "out[3] is 1.0\n2.0 expected");
    assert_true(r.extra.accuracy.is_known && r.extra.accuracy.max_error == 3.5e-05 &&
                r.extra.accuracy.rms_error == 2e-06);

    /* Where all errors are equal the root of the mean of their squares may be rounded up. */
    static const char equal[] = OURS("\"accuracy\": {\"max_error\": 7.00335181547277e-07, "
                                     "\"rms_error\": 7.003351815472799e-07}");
    assert_int_equal(at_record_parse(a, equal, strlen(equal), &r, NULL), AT_OK);
    assert_true(r.extra.accuracy.rms_error == 7.00335181547277e-07);

    assert_int_equal(at_record_parse(a, lines[0], strlen(lines[0]), &r, NULL), AT_OK);
    assert_false(r.extra.present);
    assert_int_equal(r.extra.check, AT_CHECK_NONE);
    assert_string_equal(at_extra_check(&r.extra), "");
    assert_string_equal(r.extra.context.cpu, "");
    at_arena_free(a);
}

/* What is printed is what is read again, also where a number is beyond what doubles hold. */
static void large_time(void **state) {
    (void)state;
    static const char line[] =
        "{\"input\": [\"c -keys=cpu\", \"c\", [], {}], \"config\": {\"index\": 0, "
        "\"code_hash\": null, \"entity\": []}, \"result\": [[1000000000.0], 6, "
        "9223372036854775807, 1.0]}";
    at_arena *a = at_arena_new();
    at_record r;
    at_text once = {0}, twice = {0};
    assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
    at_record_print(&once, &r);
    assert_int_equal(at_record_parse(a, once.data, once.len, &r, NULL), AT_OK);
    at_record_print(&twice, &r);
    assert_string_equal(once.data, twice.data);
    at_text_free(&once);
    at_text_free(&twice);
    at_arena_free(a);
}

/* Other members, other orders, other blanks, an old target, kwargs, booleans in the arguments. */
static void any_order(void **state) {
    (void)state;
    static const char line[] =
        " {\"autotune\":{\"context\":{\"threads\":2},\"future\":[1,2],\"check\":\"exact\"},"
        "\"tvm_version\":\"0.7.dev0\",\"result\":[[1,0.5],0,2,3],\"other\":{},"
        "\"config\":{\"entity\":[[\"f\",\"ot\",true]],\"code_hash\":null,\"index\":1},"
        "\"input\":[\"llvm  -mcpu=core-avx2 -link-params=0\",\"t\",[true,[false],1.5],{\"a\":1}]} ";
    at_arena *a = at_arena_new();
    at_record r;
    at_text out = {0};
    char hash[33];
    assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
    at_context_hash(&r.extra.context, hash);
    at_record_print(&out, &r);
    assert_string_equal(
        out.data,
        at_format(a,
                  "{\"input\": [\"llvm -keys=cpu -mcpu=core-avx2\", \"t\", [1, [0], 1.5], {}], "
                  "\"config\": {\"index\": 1, \"code_hash\": null, \"entity\": [[\"f\", \"ot\", "
                  "true]]}, \"result\": [[1.0, 0.5], 0, 2, 3.0], \"version\": 0.2, "
                  "\"tvm_version\": \"0.7.dev0\", \"autotune\": {\"check\": \"exact\", "
                  "\"context\": {\"threads\": 2}, \"context_hash\": \"%s\"}}\n",
                  hash));
    at_text_free(&out);
    at_arena_free(a);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"[1]", "not a JSON object"},
        {"{\"\xff\": 1}", "byte 2 is not UTF-8"},
        {"{\"\x80\": 1}", "byte 2 is not UTF-8"},
        {"{\"\xc3\": 1}", "byte 2 is not UTF-8"},
        {"{\"\xc0\xaf\": 1}", "byte 2 is not UTF-8"},
        {"{\"\xed\xa0\x80\": 1}", "byte 2 is not UTF-8"},
        {"{\"\xf4\x90\x80\x80\": 1}", "byte 2 is not UTF-8"},
        {"{\"ab\xe2\x82", "byte 4 is not UTF-8"},
        {"{\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\": 1}", "no member \"input\""},
        {"{" CONFIG ", " RESULT "}", "no member \"input\""},
        {"{" INPUT ", " RESULT "}", "no member \"config\""},
        {"{" INPUT ", " CONFIG "}", "no member \"result\""},
        {"{\"input\": [\"llvm\", 1, []], " CONFIG ", " RESULT "}",
         "\"input\" is not [target, task, arguments, {}]"},
        {"{\"input\": {}, " CONFIG ", " RESULT "}",
         "\"input\" is not [target, task, arguments, {}]"},
        {"{" INPUT ", " CONFIG ", \"result\": [[0.5], 0, 1.0]}",
         "\"result\" is not [costs, error number, time, timestamp]"},
        {"{" INPUT ", " CONFIG ", \"result\": [0.5, 0, 1.0, 2.0]}", "result[0] is not an array"},
        {"{" INPUT ", " CONFIG ", \"result\": [[0.5, null], 0, 1.0, 2.0]}",
         "result[0][1] is not a number"},
        {"{" INPUT ", " CONFIG ", \"result\": [[], 0, 1.0, 2.0]}", "result[0] holds no cost"},
        {"{" INPUT ", " CONFIG ", \"result\": [[0.5], 0.5, 1.0, 2.0]}",
         "result[1] is not an error number"},
        {"{" INPUT ", " CONFIG ", \"result\": [[0.5], -1, 1.0, 2.0]}",
         "result[1] is not an error number"},
        {"{\"v\": 0.1, \"i\": [], \"r\": []}",
         "\"i\" is not [target, task, arguments, {}, workload, configuration]"},
        {OURS("\"check\": 1"), "autotune.check is not a text"},
        {OURS("\"accuracy\": {\"max_error\": 1e-5}"),
         "autotune.accuracy is not a max_error and an rms_error from 0 up to it"},
        {OURS("\"accuracy\": {\"max_error\": 1e-5, \"rms_error\": 1e-4}"),
         "autotune.accuracy is not a max_error and an rms_error from 0 up to it"},
        {OURS("\"gflops\": \"x\""), "autotune.gflops is not a number"},
        {OURS("\"samples_s\": [\"x\"]"), "autotune.samples_s[0] is not a number"},
        {OURS("\"seed\": -1"), "autotune.seed is not a whole number from 0"},
        {OURS("\"seed\": 1.5"), "autotune.seed is not a whole number from 0"},
        {OURS("\"seed\": \"99999999999999999999999\""),
         "autotune.seed is not a whole number from 0"},
        {OURS("\"seed\": \"18446744073709551616\""), "autotune.seed is not a whole number from 0"},
        {OURS("\"same_as\": 1.5"), "autotune.same_as is not an index"},
        {OURS("\"number\": 0"), "autotune.number is not a number from 1 to 2147483647"},
        {OURS("\"number\": 4294967296"), "autotune.number is not a number from 1 to 2147483647"},
        {OURS("\"cpu_flags\": []"), "autotune.cpu_flags is not a text"},
        {OURS("\"context\": 1"), "autotune.context is not an object"},
        {OURS("\"context\": {\"cpu\": 1}"), "autotune.context.cpu is not a text"},
        {OURS("\"context\": {\"threads\": 0}"),
         "autotune.context.threads is not a number from 1 to 1024"},
        {OURS("\"context\": {\"threads\": 2147483647}"),
         "autotune.context.threads is not a number from 1 to 1024"},
        {OURS("\"context_hash\": \"../etc\""),
         "autotune.context_hash is not of 32 hexadecimal digits"},
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_record r;
        at_error err = {0};
        assert_int_equal(at_record_parse(a, cases[i].line, strlen(cases[i].line), &r, &err),
                         AT_E_INPUT);
        assert_string_equal(err.text, cases[i].text);
    }
    /* Every proper beginning of a line is refused. */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t n = 0; n < strlen(lines[i]); n++) {
            at_record r;
            assert_int_equal(at_record_parse(a, lines[i], n, &r, NULL), AT_E_INPUT);
        }
        at_arena_reset(a);
    }
    at_arena_free(a);
}

static void made_here(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *args;
    assert_int_equal(at_json_parse(a, "[1, 2]", 6, &args, NULL), AT_OK);
    at_record r = {.target = "c -keys=cpu",
                   .task = "t",
                   .args = args,
                   .error_no = 4,
                   .all_cost_s = 0.25,
                   .timestamp_s = 1e9,
                   .extra = {.present = true, .context = {.threads = 4}, .same_as = -1}};
    char hash[33];
    at_context_hash(&r.extra.context, hash);
    at_text out = {0};
    at_record_print(&out, &r);
    assert_string_equal(
        out.data,
        at_format(a,
                  "{\"input\": [\"c -keys=cpu\", \"t\", [1, 2], {}], \"config\": {\"index\": 0, "
                  "\"code_hash\": null, \"entity\": []}, \"result\": [[1000000000.0], 4, 0.25, "
                  "1000000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\", \"autotune\": "
                  "{\"context\": {\"threads\": 4}, \"context_hash\": \"%s\"}}\n",
                  hash));
    assert_false(at_record_is_candidate(&r));
    at_text_free(&out);
    at_arena_free(a);
}

static void contexts(void **state) {
    (void)state;
    at_context base = {"cpu", 1, "avx2", "tcc", "ahead", "hot", "", "t", "m"};
    at_context others[] = {base, base, base, base, base, base, base, base, base};
    others[0].cpu = "other";
    others[1].threads = 2;
    others[2].isa = "avx512";
    others[3].compiler = "gcc";
    others[4].packing = "inline";
    others[5].cache = "cold";
    others[6].pattern = "p";
    others[7].template_hash = "u";
    others[8].machine = "n";
    char hash[33], other[33];
    at_context_hash(&base, hash);
    assert_int_equal(strlen(hash), 32);
    for (int i = 0; i < 9; i++) {
        at_context_hash(&others[i], other);
        assert_string_not_equal(hash, other);
    }
    at_context null_pattern = base;
    null_pattern.pattern = NULL;
    at_context_hash(&null_pattern, other);
    assert_string_equal(hash, other);
}

static void candidates(void **state) {
    (void)state;
    double half = 0.5, zero = 0, nan = __builtin_nan("");
    at_record r = {.costs_s = &half, .num_costs = 1};
    assert_true(at_record_is_candidate(&r));
    r.error_no = 7;
    assert_false(at_record_is_candidate(&r));
    r.error_no = 0;
    r.costs_s = &zero;
    assert_false(at_record_is_candidate(&r));
    r.costs_s = &nan;
    assert_false(at_record_is_candidate(&r));
    /* What nobody can have measured, also beside what somebody may have. */
    static const double beyond[][2] = {{1e-300, 0.5}, {0.5, 1e-13}, {1e308, 0.5}, {0.5, 1e9}};
    for (int i = 0; i < 4; i++) {
        r.costs_s = beyond[i];
        r.num_costs = 2;
        assert_false(at_record_is_candidate(&r));
    }
    r.costs_s = &half;
    r.num_costs = 0;
    assert_false(at_record_is_candidate(&r));
    r.num_costs = 1;
    r.extra.present = true;
    assert_false(at_record_is_candidate(&r));
    static const struct {
        at_check check;
        bool candidate;
    } checks[] = {{AT_CHECK_NONE, false}, {AT_CHECK_UNCHECKED, false}, {AT_CHECK_FAILED, false},
                  {AT_CHECK_EXACT, true}, {AT_CHECK_TOLERANCE, true},  {AT_CHECK_OTHER, false}};
    for (int i = 0; i < 6; i++) {
        r.extra.check = checks[i].check;
        assert_int_equal(at_record_is_candidate(&r), checks[i].candidate);
    }
}

static void mean(void **state) {
    (void)state;
    double costs[] = {1, 2, 6};
    at_record r = {.costs_s = costs, .num_costs = 3};
    assert_true(at_record_mean(&r) == 3);
}

/* AutoTVM's numbers, and those of others. */
static void outcome_words(void **state) {
    (void)state;
    static const char *const words[] = {"ok",    "invalid",         "compile", "compile", "crash",
                                        "wrong", "compile-timeout", "timeout", "unknown"};
    for (int i = 0; i <= AT_ERR_UNKNOWN; i++) assert_string_equal(at_err_no_name(i), words[i]);
    assert_string_equal(at_err_no_name(99), "unknown");
    assert_string_equal(at_err_no_name(-1), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_to_print), cmocka_unit_test(fields),
        cmocka_unit_test(large_time),     cmocka_unit_test(any_order),
        cmocka_unit_test(refusals),       cmocka_unit_test(made_here),
        cmocka_unit_test(contexts),       cmocka_unit_test(candidates),
        cmocka_unit_test(mean),           cmocka_unit_test(outcome_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
