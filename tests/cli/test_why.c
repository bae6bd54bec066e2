/* show --why and run --why from outside: the table's parts, and that both mean the same. */
#include "tests/cli/cli_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T "conv2d_3x3_gemm"
#define ARGS "--args N=1,H=6,W=8,CI=16,CO=32 --config default "

static double number(const at_json *object, const char *path) {
    const at_json *x = cli_member(object, path);
    return x->number;
}

/* Of this CPU nothing may be known: then that is said. */
static bool is_known(void) {
    const cli_result *r = cli_run("./autotune show " T " " ARGS "--why");
    if (r->status == 0) return true;
    assert_int_equal(r->status, 2);
    assert_non_null(strstr(r->err, "no facts of this CPU ("));
    assert_non_null(strstr(r->err, "znver4"));
    return false;
}

static void show(void **state) {
    (void)state;
    if (!is_known()) return;
    char *text = strdup(cli_expect(0, "./autotune show " T " " ARGS "--why")->out);
    const char *const parts[] = {"what bounds it on ", "FMA ports", "from L2",
                                 "from memory",        "\nbound: ", "the largest need is "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    assert_null(strstr(text, "measured"));
    free(text);
    cli_expect(0, "./autotune show " T " " ARGS "--why --isa avx2 --json");
    const at_json *json = cli_json(), *why = cli_member(json, "why");
    double fmas = 0, largest = 0;
    for (const at_json *t = cli_member(why, "tiles")->child; t; t = t->next)
        fmas += number(t, "fmas");
    /* no tails in these tiles: each of eight lanes of each instruction is a multiply-add asked for
     */
    assert_true(fmas * 8 * 2 == number(json, "flops"));
    for (const at_json *c = cli_member(why, "cycles")->child; c; c = c->next)
        largest = fmax(largest, c->number);
    assert_true(number(why, "bound_cycles") >= largest && largest > 0);
    assert_false(cli_member(why, "partial")->boolean);
    /* without it there is no such member */
    cli_expect(0, "./autotune show " T " " ARGS "--json");
    assert_null(at_json_get(cli_json(), "why"));
}

/* What depends on which blocks are stored is known, too. */
static void sparse(void **state) {
    (void)state;
    if (!is_known()) return;
    cli_expect(0, "./autotune show sparse_dense --args M=16,N=32,K=32 --why --json");
    const at_json *json = cli_json();
    assert_false(cli_member(json, "why.partial")->boolean);
    assert_true(number(json, "why.bound_cycles") > 0);
}

static void run(void **state) {
    (void)state;
    if (!is_known()) return;
    cli_expect(0, "./autotune show " T " " ARGS "--why --json");
    double bound = number(cli_json(), "why.bound_cycles");
    cli_expect(0, "./autotune run " T " " ARGS "--why --json");
    const at_json *json = cli_json();
    assert_true(number(json, "why.bound_cycles") == bound);
    double cycles = number(json, "why.measured_cycles"), ghz = number(json, "why.clock_ghz");
    assert_true(fabs(cycles - number(json, "time_ns") * ghz) < 1e-6 * cycles);
    assert_true(fabs(number(json, "why.bound_of_measured") - bound / cycles) < 1e-6);
    assert_non_null(
        strstr(cli_expect(0, "./autotune run " T " " ARGS "--why")->out, "; the bound is "));
}

static void prune(void **state) {
    (void)state;
    static const char *const wrong[] = {"0.5", "x", "2x", "nan", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(strstr(cli_expect(2, "./autotune " T " --prune %s", wrong[i])->err,
                               "write for example 2.0"));
    if (!is_known()) return;
    /* How many there are depends on times; what they look like does not. */
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--prune 1 --log p.log --json");
    const at_json *json = cli_json(), *invalid = at_json_get(cli_member(json, "failed"), "invalid");
    int64_t pruned = invalid ? invalid->integer : 0;
    char *log = strdup(cli_read("p.log"));
    int seen = 0, error_1 = 0;
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strstr(line, "\"error\": \"pruned\"")) continue;
        seen++;
        error_1 += strstr(line, "\"result\": [[1000000000.0], 1, ") != NULL;
    }
    free(log);
    assert_int_equal(seen, pruned);
    assert_int_equal(error_1, pruned);
    /* With --prune they are answers, without it they are measured after all. */
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--prune 1 --log p.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 40);
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--log p.log --json");
    json = cli_json();
    assert_int_equal(cli_member(json, "from_log")->integer, 40 - pruned);
    assert_null(at_json_get(cli_member(json, "failed"), "invalid"));
}

/* A search that learns from bounds, of a space in a log. */
static void feature(void **state) {
    (void)state;
    if (!is_known()) return;
    cli_expect(0, "./autotune " T " --args N=1,H=6,W=8,CI=16,CO=32 --trials 30 "
                  "--feature bound --log f.log");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(show),  cmocka_unit_test(sparse),  cmocka_unit_test(run),
        cmocka_unit_test(prune), cmocka_unit_test(feature),
    };
    return cmocka_run_group_tests_name("cli/why", tests, cli_setup, cli_teardown);
}
