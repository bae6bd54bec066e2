/* Every verb's --json against its schema in docs/schemas. */
#include "tests/cli/cli_test.h"
#include "tests/network/words_model.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX];
static const char *python;

static int setup(void **state) {
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2 && !python; i++)
        if (!cli_run("%s -c 'import jsonschema'", pythons[i])->status) python = pythons[i];
    words_write("net.onnx");
    return 0;
}

#define ARGS "--args M=3,N=16,K=5"

static const struct {
    const char *verb, *command;
    int status;
} cases[] = {
    {"tune", "dense " ARGS " --trials 200 --tuner grid --log a.log", 0},
    {"tune", "dense " ARGS " --trials 4 --tuner random --seed 3 --log b.log", 0},
    {"operator", "conv2d --args N=1,H=4,W=4,CI=4,CO=8 --trials 8 --tuner random --log op.log", 0},
    {"operator", "conv2d --trials 4 --timeout 0.000001ms --log op2.log", 3},
    {"workload", "dense --workload resnet50 --trials 2 --tuner random --log set.log", 0},
    {"workload", "tune --workload ./net.workload --trials 10 --time 10m --log layers.log", 0},
    {"workload", "tune --workload ./net.workload --trials 5 --timeout 0.000001ms --log bad2.log",
     3},
    {"tune", "dense " ARGS " --trials 2 --tuner random --timeout 0.000001ms --log bad.log", 3},
    {"run", "run dense " ARGS, 0},
    {"run", "run dense " ARGS " --why", 0},
    {"run", "run dense " ARGS " --timeout 0.000001ms", 3},
    {"show", "show dense " ARGS, 0},
    {"show", "show dense " ARGS " --code --dump tile --why", 0},
    {"apply", "apply dense " ARGS " --config default", 0},
    {"apply", "apply dense --log a.log -o kernel.c", 0},
    {"apply", "apply --log set.log -o all.c", 0},
    {"verify", "verify set.log", 0},
    {"network_show", "show net.onnx --dim N=1", 0},
    {"network_show", "show net.onnx --dim N=2 --code", 0},
    {"network_parts", "net.onnx --dim N=1 --trials 0", 0},
    {"network_tune", "net.onnx --dim N=1 --trials 4 --tuner random", 0},
    {"network_tune", "net.onnx --dim N=1 --trials 4 --timeout 0.000001ms --log bad3.log", 3},
    {"network_run", "run net.onnx --dim N=1 --log net.log", 0},
    {"network_run", "run net.onnx --dim N=1 --why", 0},
    {"network_run", "run net.onnx --dim N=1 --max-error 1e-3", 0},
    {"network_apply", "apply net.onnx --dim N=1 -o net.c", 0},
    {"network_apply", "apply net.onnx --dim N=1 --isas avx2,sse2 -o net3.c", 0},
    {"network_apply", "apply net.onnx --dim N=1 --log net.log --main --weights source -o net2.c",
     0},
    {"space", "space conv2d_NCHWc", 0},
    {"space", "space dense " ARGS " --index 3,4", 0},
    {"derive", "derive dense " ARGS, 0},
    {"replay", "replay a.log --compare grid,random --repeats 2 --trials 20", 0},
    {"pick_best", "pick_best a.log b.log", 0},
    {"pick_best", "pick_best a.log b.log set.log -o best.log", 0},
    {"log", "log a.log", 0},
    {"log", "log bad.log", 0},
    {"log", "log a.log b.log --diff", 0},
    {"log", "log set.log --split", 0},
    {"log", "log foreign.log", 0},
    {"pick_best", "pick_best foreign.log", 0},
    {"convert", "convert a.log --to t4 -o t4.json", 0},
    {"plot", "plot a.log b.log", 0},
    {"plot", "plot foreign.log bad.log", 0},
    {"plot", "plot a.log --knobs", 0},
    {"tune", "spconv2d_3x3_gemm --args H=4,W=4,CI=4,CO=16 --trials 2 --log sparse.log", 0},
    {"plot", "plot sparse.log --against sparsity", 0},
    {"report", "report a.log", 0},
    {"report", "report a.log -o page.html", 0},
    {"workers", "workers", 0},
    {"workers", "workers --on dir:nowhere", 4},
    {"work", "work box --idle 1ms", 0},
    {"list", "list", 0},
    {"machine", "machine", 0},
    {"machine", "machine --measure", 0},
    {"machine", "machine", 0},
    {"help", "help", 0},
    {"help", "tune --help", 0},
    {"version", "version", 0},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

static void schemas(void **state) {
    (void)state;
    if (!python) {
        print_message("python3-jsonschema is missing\n");
        skip();
    }
    at_text check = {0}; /* of all answers at once: Python takes long to start */
    at_text_addf(&check, "S='%s'; %s -W ignore \"$S\"/tests/cli/check_schema.py", sources, python);
    bool is_known = cli_knows_cpu();
    cli_expect(0, "mkdir -m 700 box");
    for (int i = 0; i < NUM_CASES; i++) {
        if (!is_known && strstr(cases[i].command, "--why")) continue;
        cli_write("net.workload", "2 dense M=3,N=16,K=5\n1 conv2d+relu N=1,H=4,W=4,CI=4,CO=8\n");
        if (strstr(cases[i].command, "foreign.log")) /* without our member */
            cli_expect(0, "sed 's/, \"autotune\": .*/}/; /^#/d' b.log >foreign.log");
        const cli_result *r = cli_run("./autotune %s --json >out.json", cases[i].command);
        /* what was measured may not be reproduced on a busy machine */
        if (r->status != cases[i].status && !(r->status == 7 && !strcmp(cases[i].verb, "verify")))
            fail_msg("autotune %s --json: exit code %d\n%s", cases[i].command, r->status, r->err);
        cli_expect(0, "mv out.json %d.json", i);
        at_text_addf(&check, " \"$S\"/docs/schemas/%s.json %d.json", cases[i].verb, i);
    }
    const cli_result *r = cli_run("%s", at_text_str(&check));
    at_text_free(&check);
    if (r->status) fail_msg("%s", r->err);
}

/* The check does refuse: another member, one that is missing, one of another type. */
static void refusals(void **state) {
    (void)state;
    static const char *const wrong[] = {"{\"version\": \"1.0.0\", \"x\": 1}", "{}",
                                        "{\"version\": 1}"};
    if (!python) skip();
    for (int i = 0; i < 3; i++)
        cli_expect(
            1,
            "echo '%s' | %s %s/tests/cli/check_schema.py %s/docs/schemas/version.json /dev/stdin",
            wrong[i], python, sources, sources);
}

/* No verb is without a schema, none goes untested. */
static void complete(void **state) {
    (void)state;
    const cli_result *r = cli_expect(
        0, "./autotune --help | sed -n '/^Commands/,/^$/s/^  \\([a-z_][a-z_]*\\) .*/\\1/p'");
    int n = 0;
    for (char *rest = r->out, *verb; (verb = strsep(&rest, "\n")) && *verb; n++) {
        bool tested = !strcmp(verb, "agent"); /* it speaks to a search alone */
        if (tested) continue;
        for (int i = 0; i < NUM_CASES; i++) tested |= !strcmp(cases[i].verb, verb);
        if (!tested) fail_msg("%s --json is not tested", verb);
        at_text path = {0};
        at_text_addf(&path, "%s/docs/schemas/%s.json", sources, verb);
        if (access(at_text_str(&path), R_OK)) fail_msg("no %s", at_text_str(&path));
        at_text_free(&path);
    }
    assert_true(n >= 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(schemas), cmocka_unit_test(refusals),
                                       cmocka_unit_test(complete)};
    return cmocka_run_group_tests_name("cli/schemas", tests, setup, cli_teardown);
}
