/* The kernels of examples/kernels, each from its file to a winner, and with faults put in: what is
 * wrong, reads outside, crashes or does not end is a failure, and never wins. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *file, *in, *out; /* tensors that the faults touch */
    bool loops;                  /* the one that does not end is tried, too: it takes its time */
} kernels[] = {{"matmul.c", "a", "c", true},     {"intrinsics.c", "a", "c", false},
               {"stencil2d.c", "u", "v", false}, {"stencil3d.c", "u", "v", false},
               {"transpose.c", "a", "b", true},  {"histogram.c", "x", "h", false},
               {"sparse.c", "x", "y", false}};
enum { NUM_KERNELS = sizeof kernels / sizeof *kernels };

static at_arena *texts;

/* The example with a knob for the faults, which stand at the end of its last function. */
static void write_with_faults(int i) {
    const char *text = cli_source(texts, at_format(texts, "examples/kernels/%s", kernels[i].file));
    const char *end = strrchr(text, '}'), *first = strchr(text, '\n') + 1;
    cli_write(
        "faulty.c",
        at_format(texts,
                  "%.*s * knob FAULT = 0 1 2 3 4\n%.*s"
                  "#if FAULT == 1\n    ((float *)%s)[3] += 1;\n"
                  "#elif FAULT == 2\n    ((float *)%s)[0] += ((volatile const float *)%s)[1L << "
                  "40];\n"
                  "#elif FAULT == 3\n    *(volatile int *)0 = 1;\n"
                  "#elif FAULT == 4\n    for (volatile int i = 1; i;) {}\n#endif\n%s",
                  (int)(first - text), text, (int)(end - first), first, kernels[i].out,
                  kernels[i].out, kernels[i].in, end));
}

static bool runs_here(int i) {
    if (strcmp(kernels[i].file, "intrinsics.c") != 0) return true;
    if (!cli_run("grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo")->status) return true;
    print_message("intrinsics.c needs AVX2\n");
    return false;
}

static void check(int i) {
    const char *file = kernels[i].file;
    write_with_faults(i);
    cli_expect(0, "rm -f faulty.log");
    cli_expect(0, "./autotune faulty.c --tuner grid --trials %d --timeout 5s --json",
               kernels[i].loops ? 5 : 4);
    const char *log = cli_trials("faulty.log");
    if (strstr(log, "[\"FAULT\", \"ot\", 0]") == NULL) fail_msg("%s: no right one", file);
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *fault = strstr(line, "[\"FAULT\", \"ot\", ");
        const char *result = strstr(line, "\"result\": [[");
        if (*line != '{' || !fault || !result) continue;
        const bool failed = !strncmp(result, "\"result\": [[1000000000.0], ", 26);
        if (failed != (fault[strlen("[\"FAULT\", \"ot\", ")] != '0'))
            fail_msg("%s: %.*s", file, (int)strcspn(line, "\n"), line);
    }
    const char *best = cli_expect(0, "./autotune show faulty.c --log faulty.log")->out;
    if (!strstr(best, "FAULT=0\n")) fail_msg("%s: %s", file, best);
}

static void faults(void **state) {
    (void)state;
    for (int i = 0; i < NUM_KERNELS; i++)
        if (runs_here(i)) check(i);
}

/* As they stand, over their own spaces, and on to a file. */
static void tuned(void **state) {
    (void)state;
    for (int i = 0; i < NUM_KERNELS; i++) {
        if (!runs_here(i)) continue;
        const char *file = kernels[i].file;
        cli_write(file, cli_source(texts, at_format(texts, "examples/kernels/%s", file)));
        cli_expect(0, "./autotune %s --trials 3 --tuner random --log of.log", file);
        cli_expect(1, "grep -q 'error_no\\|\"check\": \"failed\"' of.log");
        cli_expect(0, "./autotune apply %s --log of.log -o best.c && cc -c -O2 %s best.c", file,
                   strcmp(file, "intrinsics.c") ? "" : "-mavx2 -mfma");
        cli_expect(0, "rm of.log best.c best.h");
    }
}

/* The list of examples names each. */
static void listed(void **state) {
    (void)state;
    const char *page = cli_source(texts, "examples/README.md");
    for (int i = 0; i < NUM_KERNELS; i++)
        if (!strstr(page, kernels[i].file)) fail_msg("%s is not listed", kernels[i].file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(tuned),
                                       cmocka_unit_test(listed)};
    texts = at_arena_new();
    int failed = cmocka_run_group_tests_name("cli/kernel_examples", tests, cli_setup, cli_teardown);
    at_arena_free(texts);
    return failed;
}
