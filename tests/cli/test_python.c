/* The Python package: its own tests, the wheel in a clean virtual environment, and the first
 * program of docs/python.md there. Skipped where Python or NumPy is not. */
#include "tests/cli/cli_test.h"
#include "tests/network/words_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX];
static bool is_sanitized;

static int setup(void **state) {
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    is_sanitized = cli_as_if_installed();
    return 0;
}

/* What is missing is said. */
static void need_numpy(void) {
    if (!is_sanitized && cli_has_numpy()) return;
    print_message(is_sanitized ? "the library is built with a sanitizer\n"
                               : "python3 or NumPy is missing\n");
    skip();
}

static void package(void **state) {
    (void)state;
    need_numpy();
    words_write("words.onnx");
    cli_expect(0, "AUTOTUNE_MODEL=$PWD/words.onnx python3 %s/python/tests/test_autotune.py",
               sources);
}

/* The first block of the page, smaller; at most ten lines. */
static void write_program(const char *name) {
    at_arena *a = at_arena_new();
    const char *begin = strstr(cli_source(a, "docs/python.md"), "\n```python\n");
    assert_non_null(begin);
    begin += strlen("\n```python\n");
    char *text = at_strndup(a, begin, (size_t)(strstr(begin, "```\n") - begin));
    assert_true(cli_count_lines(text, "") <= 10);
    for (char *s = text; (s = strstr(s, "512"));) memcpy(s, " 64", 3);
    for (char *s = text; (s = strstr(s, "trials=100"));) memcpy(s, "trials=6  ", 10);
    cli_write(name, text);
    at_arena_free(a);
}

/* Two wheels of one build have the same bytes; the wheel brings all that a program needs. */
static void wheel(void **state) {
    (void)state;
    need_numpy();
    if (cli_run("python3 -m venv --system-site-packages clean && clean/bin/pip --version")
            ->status) {
        print_message("python3 -m venv makes no environment with pip here\n");
        skip();
    }
    /* NumPy may be that of an environment in which this one is made. */
    cli_expect(0, "python3 -c 'import numpy, os; print(os.path.dirname(os.path.dirname("
                  "numpy.__file__)))' >$(echo clean/lib/python3*/site-packages)/numpy.pth");
    cli_expect(0,
               "mkdir w v && python3 %s/python/build_wheel.py w && "
               "python3 %s/python/build_wheel.py v && cmp w/*.whl v/*.whl",
               sources, sources);
    cli_expect(0, "clean/bin/pip install -q --no-index --no-deps w/*.whl");
    write_program("first.py");
    cli_expect(0, "cp %s/examples/te/matmul_add.te .", sources);
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(0, "env -i PATH=/usr/bin:/bin clean/bin/python first.py");
        double speed, error;
        assert_int_equal(sscanf(r->out, "%lf %lf", &speed, &error), 2);
        assert_true(speed > 0 && error >= 0 && error < 1e-4);
    }
    assert_true(cli_count_lines(cli_read("product.log"), "{") >= 6);
    cli_expect(
        0,
        "clean/bin/pip uninstall -q -y autotune && ! env -i clean/bin/python -c 'import autotune'");
    /* As a user does it, with the library that is built already. */
    cli_expect(0,
               "clean/bin/pip install -q --no-index --no-deps %s && env -i PATH=/usr/bin:/bin "
               "clean/bin/python first.py",
               sources);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(package), cmocka_unit_test(wheel)};
    return cmocka_run_group_tests_name("cli/python", tests, setup, cli_teardown);
}
