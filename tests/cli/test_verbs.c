/* tests/cli/test_verbs.c: list, space, show, run, apply, pick_best and help from outside. */
#include "runtime/cpu.h"
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#define T "conv2d_3x3_gemm"
#define ARGS "--args N=1,H=5,W=7,CI=3,CO=6 "

static bool contains(const char *text, const char *part) { return strstr(text, part) != NULL; }

static void check_contains(const char *text, const char *part) {
    if (!contains(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* ---- help ---------------------------------------------------------------------------------- */

static const char *const verbs[] = {"tune",   "run",    "show",      "apply",   "space",
                                    "derive", "replay", "pick_best", "log",     "verify",
                                    "plot",   "list",   "report",    "convert", "work",
                                    "agent",  "help",   "workers",   "machine", "version"};
enum { NUM_VERBS = sizeof verbs / sizeof *verbs, MAX_OPTIONS = 64 };

/* Option names at the beginning of help lines. */
static int options_of(char *help, char names[][32]) {
    int n = 0;
    for (char *line = help; (line = strstr(line, "\n  --")); line++) {
        sscanf(line, " %31s", names[n]);
        if (++n == MAX_OPTIONS) break;
    }
    return n;
}

/* What the verb says to each of these options, which are not its own: one shell calls it for all,
 * since a shell for each would take longer than the calls. */
static void check_refusals(const char *verb, const char *options, int num) {
    const cli_result *r =
        cli_run("for o in %s; do ./autotune %s x $o 1 2>&1 >/dev/null </dev/null; "
                "echo \"= $? $o\"; done",
                options, verb);
    char *answer = r->out, *end;
    while (*answer) {
        int status;
        char option[32], refused[128], bad_value[128];
        end = strncmp(answer, "= ", 2) ? strstr(answer, "\n= ") : answer;
        if (!end || sscanf(end, " = %d %31s", &status, option) != 2)
            fail_msg("autotune %s: %s", verb, answer);
        char *rest = end + 1 + strcspn(end + 1, "\n");
        *end = 0;
        snprintf(refused, sizeof refused, "autotune: %s is no option of %s; ", option, verb);
        /* A value that does not suit the option is found first. */
        snprintf(bad_value, sizeof bad_value, "autotune: %s 1: ", option);
        if (status != 2 ||
            (strncmp(answer, refused, strlen(refused)) && !strstr(answer, bad_value)))
            fail_msg("autotune %s x %s 1: exit code %d, %s", verb, option, status, answer);
        answer = rest + (*rest == '\n');
        num--;
    }
    assert_int_equal(num, 0);
}

/* Every row of both tables: each option is explained where it is accepted and refused elsewhere. */
static void help_and_tables(void **state) {
    (void)state;
    static char all[MAX_OPTIONS * NUM_VERBS][32], of_verb[NUM_VERBS][MAX_OPTIONS][32];
    int num_all = 0, num[NUM_VERBS];
    const cli_result *r = cli_expect(0, "./autotune --help");
    for (int v = 0; v < NUM_VERBS; v++) {
        char line[64];
        snprintf(line, sizeof line, "\n  %s ", verbs[v]);
        check_contains(r->out, line);
    }
    for (int v = 0; v < NUM_VERBS; v++) {
        r = cli_expect(0, "./autotune help %s", verbs[v]);
        num[v] = options_of(r->out, of_verb[v]);
        assert_true(num[v] >= 2);
        memcpy(all[num_all], of_verb[v], sizeof *all * (size_t)num[v]);
        num_all += num[v];
    }
    for (int v = 0; v < NUM_VERBS; v++) {
        at_text others = {0};
        int num_others = 0;
        for (int i = 0; i < num_all; i++) {
            bool skip = false;
            for (int k = 0; k < num[v]; k++) skip |= !strcmp(of_verb[v][k], all[i]);
            for (int k = 0; k < i && !skip; k++) skip = !strcmp(all[k], all[i]); /* seen already */
            if (skip) continue;
            at_text_addf(&others, " %s", all[i]);
            num_others++;
        }
        check_refusals(verbs[v], at_text_str(&others), num_others);
        at_text_free(&others);
    }
}

static void help_of_a_template(void **state) {
    (void)state;
    char *tune = strdup(cli_expect(0, "./autotune help tune")->out);
    char *template = strdup(cli_expect(0, "./autotune help " T)->out);
    assert_string_equal(cli_expect(0, "./autotune " T " --help")->out, template);
    /* Its arguments and knobs, then tune. */
    assert_memory_equal(template, T ": ", strlen(T ": "));
    assert_string_equal(strstr(template, "usage: "), tune);
    free(template);
    assert_string_equal(cli_expect(0, "./autotune tune -h")->out, tune);
    free(tune);
    check_contains(cli_expect(0, "./autotune --version")->out, "autotune ");
    cli_expect(0, "./autotune version --json");
    cli_member(cli_json(), "version");
}

/* ---- list, space, show ----------------------------------------------------------------------- */

static void list(void **state) {
    (void)state;
    const char *out = cli_expect(0, "./autotune list")->out;
    check_contains(out, "  " T "\n      N=1, H=56, W=56, CI=64, CO=64\n");
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 100);
    cli_expect(0, "./autotune list --json");
    const at_json *r = cli_json();
    bool found = false;
    for (const at_json *t = cli_member(r, "templates")->child; t; t = t->next)
        found |= !strcmp(cli_member(t, "name")->string, T);
    assert_true(found);
    assert_true(cli_member(r, "tuners")->count >= 2);
}

static void space(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune space " T);
    assert_string_equal(
        r->out, T " N=1,H=56,W=56,CI=64,CO=64\n"
                  "98784 configurations\n"
                  "  tile_y       Split(policy=factors, product=3136, num_outputs=3) len=168\n"
                  "  tile_x       Split(policy=factors, product=64, num_outputs=3) len=28\n"
                  "  tile_k       Split(policy=factors, product=576, num_outputs=2) len=21\n");
    r = cli_expect(0, "./autotune space " T " --args N=10,H=256,W=256,CI=64,CO=64 --index 0,5435");
    assert_string_equal(
        r->out,
        "{\"index\": 0, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 1, 1]], "
        "[\"tile_x\", \"sp\", [-1, 1, 1]], [\"tile_k\", \"sp\", [-1, 1]]]}\n"
        "{\"index\": 5435, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 320, "
        "128]], [\"tile_x\", \"sp\", [-1, 8, 2]], [\"tile_k\", \"sp\", [-1, 1]]]}\n");
    cli_expect(0, "./autotune space " T " --index 3 --json");
    const at_json *json = cli_json();
    assert_int_equal(cli_member(json, "len")->integer, 98784);
    assert_int_equal(cli_member(json, "range_length")->integer, 98784);
    const at_json *knob = at_json_at(cli_member(json, "knobs"), 2);
    assert_string_equal(cli_member(knob, "name")->string, "tile_k");
    assert_string_equal(cli_member(knob, "kind")->string, "split");
    assert_string_equal(cli_member(knob, "policy")->string, "factors");
    assert_int_equal(cli_member(knob, "len")->integer, 21);
    const at_json *entity = at_json_at(cli_member(json, "entities"), 0);
    assert_int_equal(cli_member(entity, "index")->integer, 3);
    assert_int_equal(cli_member(entity, "entity")->count, 3);
}

/* The record whose index means another entity: the entity counts. */
static void index_of_another_entity(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune show " T " --args N=10,H=256,W=256,CI=64,CO=64 --config "
                      "'{\"index\": 77156, \"entity\": [[\"tile_y\",\"sp\",[-1,320,128]],"
                      "[\"tile_x\",\"sp\",[-1,8,2]],[\"tile_k\",\"sp\",[-1,1]]]}'");
    assert_string_equal(r->err, "autotune: warning: --config: index 77156 does not mean this "
                                "entity, 5435 does; the entity counts\n");
    check_contains(r->out, "yt:16, xt:4, yo:320 =>\n");
}

static void show(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune show " T " " ARGS "--index 100 --code");
    check_contains(r->out, "@acc = ");
    check_contains(r->out, "kernel_entry(");
    r = cli_expect(2, "./autotune show " T " " ARGS "--dump nothing");
    /* Every pass that the message lists can be shown. */
    char *passes = strdup(strstr(r->err, "there are ") + 10), *rest = passes;
    passes[strcspn(passes, "\n")] = 0;
    int count = 0;
    for (char *pass; (pass = strsep(&rest, ",")); count++) {
        cli_expect(0, "./autotune show " T " " ARGS "--dump=%s --json", pass + strspn(pass, " "));
        assert_true(strlen(cli_member(cli_json(), "dump")->string) > 20);
    }
    assert_true(count >= 3);
    free(passes);
}

/* What was asked for is shown even where a pass behind it fails. */
static void show_before_failure(void **state) {
    (void)state;
    cli_write("far.te", "args N=100\nx[N] : input\ny[n:N] = x[n] * n\n");
    static const struct {
        const char *pass;
        bool is_through;
    } cases[] = {{"dissolve", true}, {"partition", true}, {"tables", false}, {"emit", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *command = "./autotune show far.te --args N=20000000 --dump=%s";
        const cli_result *r = cli_expect(3, command, cases[i].pass);
        check_contains(r->err, "tables: @y uses an index that may be beyond 16777216 as a value\n");
        if (cases[i].is_through) check_contains(r->out, "=>\n");
        if (cases[i].is_through) check_contains(r->out, "\nfor ");
        else assert_string_equal(r->out, "");
    }
}

/* ---- run, apply, pick_best
 * ----------------------------------------------------------------------- */

static void run(void **state) {
    (void)state;
    check_contains(cli_expect(0, "./autotune run " T " " ARGS "--config default")->out,
                   "output: equal to the reference\n");
    static const char *const ways[] = {"--index 77",     "--pack inline",
                                       "--paranoid",     "--number 3 --repeat 4 --min-repeat-ms 1",
                                       "--compiler gcc", "--compiler gcc --isa scalar"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        cli_expect(0, "./autotune run " T " " ARGS "%s --json", ways[i]);
        const at_json *r = cli_json();
        assert_true(cli_member(r, "ok")->boolean);
        assert_int_equal(cli_member(r, "error_no")->integer, 0);
        assert_int_equal(cli_member(r, "error")->kind, AT_JSON_NULL);
        assert_true(cli_member(r, "max_error")->number == 0);
        assert_true(cli_member(r, "of_limit")->kind == AT_JSON_NULL);
        assert_true(cli_member(r, "time_ns")->number > 0);
        assert_true(cli_member(r, "gflops")->number > 0);
        assert_true(cli_member(r, "of_peak")->number > 0);
    }
    const cli_result *r =
        cli_expect(3, "./autotune run " T " " ARGS "--compiler gcc --timeout 1ms --json");
    check_contains(r->err, "autotune: compile-timeout: ");
    assert_false(cli_member(cli_json(), "ok")->boolean);
    assert_int_equal(cli_member(cli_json(), "error_no")->integer, 6);
}

/* A vector of which a compiler could see that only some lanes are taken: GCC loaded all of them. */
static void nothing_behind_a_tensor(void **state) {
    (void)state;
    if (!at_cpu_has_set(at_vector_set("avx512"))) skip();
    cli_write("tiled.te", "x[5, 72] : input\ns[6] : input\nb[12] : input\n"
                          "out[p:5, c:72] = x[p, c]*s[c/12] + b[c%12]\n");
    cli_expect(0, "./autotune space ./tiled.te --json");
    const int points = (int)cli_member(cli_json(), "len")->integer;
    for (int i = 0; i < points && i < 32; i++)
        cli_expect(0,
                   "./autotune run ./tiled.te --index %d --isa avx512 --compiler gcc --paranoid "
                   "--number 1 --repeat 1",
                   i);
}

/* The file compiles without a warning, checks itself, and says where it comes from. */
static void check_file(const char *path, const char *flags) {
    const cli_result *r =
        cli_expect(0, "cc -O3 -Wall -Wextra -Werror %s -o kernel %s -lm && ./kernel", flags, path);
    assert_string_equal(r->err, "");
    check_contains(cli_read(path), "@acc = ");
}

static void apply(void **state) {
    (void)state;
    static const char *const args[] = {"N=1,H=5,W=7,CI=3,CO=6", "N=2,H=8,W=8,CI=16,CO=32",
                                       "N=1,H=1,W=1,CI=1,CO=1"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        cli_expect(0, "./autotune apply " T " --args %s --config default --main -o kernel.c",
                   args[i]);
        check_file("kernel.c", "");
        check_contains(cli_read("kernel.c"), "not measured");
        cli_expect(0, "./autotune apply " T " --args %s --index 0 --pack inline --main >kernel.c",
                   args[i]);
        check_file("kernel.c", "-march=native");
    }
    /* Without a main: a part of somebody's program. */
    cli_expect(0, "./autotune apply " T " " ARGS "--index 3 -o kernel.c --json");
    assert_string_equal(cli_member(cli_json(), "output")->string, "kernel.c");
    assert_string_equal(cli_member(cli_json(), "name")->string, "conv2d_3x3_gemm_1x5x7x3_6");
    cli_expect(0, "cc -O3 -Wall -Wextra -Werror -c kernel.c");
}

static void from_log_to_program(void **state) {
    (void)state;
    cli_expect(0, "./autotune " T " " ARGS "--trials 8 --log a.log");
    cli_expect(0, "./autotune " T " " ARGS "--trials 8 --seed 2 --pack inline --log b.log");
    cli_expect(0, "./autotune pick_best a.log b.log -o best.log --json");
    const at_json *picked = cli_member(cli_json(), "picked");
    assert_int_equal(picked->count, 2); /* two contexts */
    for (const at_json *p = picked->child; p; p = p->next) {
        assert_string_equal(cli_member(p, "task")->string, T);
        assert_in_range(cli_member(p, "considered")->integer, 1, 9); /* slow ones have no time */
        assert_true(cli_member(p, "time_ns")->number > 0);
    }
    assert_int_equal(cli_count_lines(cli_read("best.log"), "{"), 2);
    char *best = strdup(cli_read("best.log"));
    assert_string_equal(cli_expect(0, "./autotune pick-best a.log b.log")->out, best);
    free(best);
    /* The task is the log's only one; the best record's context is taken over. */
    cli_expect(0, "./autotune apply " T " --log best.log --main -o kernel.c");
    check_file("kernel.c", "");
    check_contains(cli_read("kernel.c"), "measured: ");
    /* Between the two records are the finals of the first. */
    int line = atoi(cli_expect(0, "grep -n '^{' best.log | tail -n 1")->out);
    check_contains(cli_expect(0, "./autotune run " T " --log best.log --line %d", line)->out,
                   "weights packed inline");
    check_contains(
        cli_expect(0, "./autotune run " T " --log best.log --line %d --pack ahead", line)->out,
        "weights packed ahead");
    check_contains(cli_expect(0, "./autotune show " T " --log best.log")->out,
                   T " N=1,H=5,W=7,CI=3,CO=6");
}

/* The record's configuration can be run, for another set; that is told. */
static void record_of_another_set(void **state) {
    (void)state;
    if (!cli_run("grep -q avx512f /proc/cpuinfo")->status) skip();
    cli_expect(0, "./autotune " T " " ARGS "--trials 2 --log set.log");
    cli_expect(0, "sed 's/\"isa\": \"[a-z0-9]*\"/\"isa\": \"avx512\"/' set.log >wide.log");
    int line = atoi(cli_expect(0, "grep -n '^{' wide.log | tail -n 1")->out);
    const cli_result *r = cli_expect(0, "./autotune run " T " --log wide.log --line %d", line);
    char expected[64];
    snprintf(expected, sizeof expected,
             "autotune: warning: line %d of the log is for avx512, which ", line);
    check_contains(r->err, expected);
    check_contains(r->out, "output: equal to the reference\n");
    assert_string_equal(cli_expect(0, "./autotune show " T " --log wide.log --line %d", line)->err,
                        "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_tables),
        cmocka_unit_test(help_of_a_template),
        cmocka_unit_test(list),
        cmocka_unit_test(space),
        cmocka_unit_test(index_of_another_entity),
        cmocka_unit_test(show),
        cmocka_unit_test(show_before_failure),
        cmocka_unit_test(run),
        cmocka_unit_test(nothing_behind_a_tensor),
        cmocka_unit_test(apply),
        cmocka_unit_test(from_log_to_program),
        cmocka_unit_test(record_of_another_set),
    };
    return cmocka_run_group_tests_name("cli/verbs", tests, cli_setup, cli_teardown);
}
