/* The lines of a log for a fixed seed and --tuner grid, byte for byte but for what is measured and
 * for the machine: by the engine and by the program. `make golden-update` rewrites them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/whole_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOLDEN "tests/golden/engine/grid_log.txt"

static const struct {
    const char *template_name, *args;
    int trials;
    at_packing packing;
} tasks[] = {{"conv2d_3x3_gemm", "N=1,H=6,W=6,CI=8,CO=16", 40, AT_PACKING_AHEAD},
             {"spconv2d_3x3_gemm", "N=1,H=8,W=8,CI=16,CO=32", 20, AT_PACKING_AHEAD},
             {"dense", "M=6,N=16,K=8", 20, AT_PACKING_INLINE}};
enum { NUM_TASKS = sizeof tasks / sizeof *tasks };

static char path[] = "/tmp/autotune-grid-XXXXXX";

static int make_log(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_log(void **state) {
    (void)state;
    return unlink(path);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The value of these is of the machine, or of code that may become better. */
static bool is_masked(const char *key, size_t n) {
    static const char *const keys[] = {"version",   "compiler_version", "cpu_flags", "cpu",
                                       "code_hash", "context_hash",     "machine",   NULL};
    for (int i = 0; keys[i]; i++)
        if (strlen(keys[i]) == n && !strncmp(keys[i], key, n)) return true;
    return false;
}

static size_t length_of_string(const char *p) {
    size_t n = 1;
    while (p[n] != '"') n += p[n] == '\\' ? 2 : 1;
    return n + 1;
}

/* "~" stands for masked texts, for the target, and for numbers with a point: times. */
static void add_masked(at_text *out, const char *p) {
    bool masked = false;
    while (*p) {
        if (*p == '"') {
            size_t n = length_of_string(p);
            bool is_key = p[n] == ':';
            if (is_key) masked = is_masked(p + 1, n - 2);
            if (!is_key && (masked || !strncmp(p, "\"c -keys", 8))) at_text_add(out, "~");
            else at_text_addn(out, p, n);
            if (!is_key) masked = false;
            p += n;
        } else if (isdigit((unsigned char)*p)) {
            size_t n = strspn(p, "0123456789.e+-");
            if (strcspn(p, ".e") < n) at_text_add(out, "~");
            else at_text_addn(out, p, n);
            p += n;
        } else at_text_addn(out, p++, 1);
    }
}

/* Records without comments; the log is empty afterwards. */
static void take_log(at_arena *a, at_text *out) {
    char *text, *rest;
    size_t n;
    assert_int_equal(read_whole(a, path, &text, &n, NULL), AT_OK);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '#') continue;
        add_masked(out, line);
        at_text_add(out, "\n");
    }
    assert_int_equal(truncate(path, 0), 0);
}

static void compare(at_arena *a, const at_text *got) {
    at_error err;
    if (getenv("AT_GOLDEN_UPDATE")) {
        if (at_write_file(GOLDEN, got->data, got->len, &err) != AT_OK) fail_msg("%s", err.text);
        return;
    }
    char *expected;
    size_t n;
    if (read_whole(a, GOLDEN, &expected, &n, &err) != AT_OK) fail_msg("%s", err.text);
    const char *x = at_text_str(got), *y = expected;
    for (int line = 1; *x || *y; line++) {
        size_t nx = strcspn(x, "\n"), ny = strcspn(y, "\n");
        if (nx != ny || memcmp(x, y, nx) != 0)
            fail_msg("%s:%d\nhas %.*s\nnow %.*s", GOLDEN, line, (int)ny, y, (int)nx, x);
        x += nx + (x[nx] == '\n');
        y += ny + (y[ny] == '\n');
    }
}

/* ---- who writes them ------------------------------------------------------------------------- */

static void by_the_engine(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text all = {0};
    for (int i = 0; i < NUM_TASKS; i++) {
        at_tuning t;
        at_error err = {0};
        at_engine_options o = {.isa = "scalar",
                               .packing = tasks[i].packing,
                               .seed = 5,
                               .number = 2,
                               .repeat = 3,
                               .tuner = "grid",
                               .trials = tasks[i].trials};
        at_request q = {.template_name = tasks[i].template_name, .args = tasks[i].args};
        at_status s = at_tuning_open(&o, &q, path, &t, &err);
        if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){0}, &err);
        at_tuning_close(&t, NULL);
        if (s != AT_OK) fail_msg("%s", err.text);
        take_log(a, &all);
    }
    compare(a, &all);
    at_text_free(&all);
    at_arena_free(a);
}

static void by_the_program(void **state) {
    (void)state;
    const char *program = getenv("AUTOTUNE");
    if (!program) skip(); /* a run of this program alone */
    at_arena *a = at_arena_new();
    at_text all = {0};
    for (int i = 0; i < NUM_TASKS; i++) {
        const char *command =
            at_format(a,
                      "%s %s --args %s --isa scalar --pack %s --seed 5 --number 2 --repeat 3 "
                      "--tuner grid --trials %d --log %s --quiet >/dev/null",
                      program, tasks[i].template_name, tasks[i].args,
                      at_packing_name(tasks[i].packing), tasks[i].trials, path);
        assert_int_equal(system(command), 0);
        take_log(a, &all);
    }
    compare(a, &all);
    at_text_free(&all);
    at_arena_free(a);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_engine),
                                       cmocka_unit_test(by_the_program)};
    return cmocka_run_group_tests_name("engine/grid_log", tests, make_log, remove_log);
}
