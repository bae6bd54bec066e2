/* The library from outside: what it shows, who may include its header, the examples, and programs
 * that have names of their own. What it does is tests/library/test_library.c's. */
#include "tests/cli/cli_test.h"
#include "tests/network/onnx_writer.h"
#include "sketch/sketch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX], build[PATH_MAX];

static int setup(void **state) {
    const char *program = getenv("AUTOTUNE");
    if (!realpath(program ? program : "build/autotune", build) || !getcwd(sources, sizeof sources))
        return -1;
    *strrchr(build, '/') = 0;
    return cli_setup(state);
}

static bool has(const char *program) { return !cli_run("command -v %s", program)->status; }

/* A sanitizer wants to be in the program first, which these are compiled without. */
static bool is_sanitized(void) {
    if (cli_run("nm -D '%s/libautotune.so.1' | grep -q '__[a-z]*san_'", build)->status)
        return false;
    print_message("the library is built with a sanitizer\n");
    return true;
}

/* What programs are started with: the library and the worker of this build. */
static const char *environment(void) {
    static char text[3 * PATH_MAX + 128];
    snprintf(text, sizeof text,
             "LD_LIBRARY_PATH='%s' LIBAUTOTUNE='%s/libautotune.so.1' "
             "AUTOTUNE_WORKER='%s/autotune-worker'",
             build, build, build);
    return text;
}

static void compile(const char *source, const char *program) {
    cli_expect(0, "cc -O2 -Wall -Wextra -Werror -I%s/library %s -L'%s' -lautotune -o %s", sources,
               source, build, program);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "at_lib_x" of each "AT_LIB_PUBLIC ... at_lib_x(", a line each, sorted. */
static const char *declared_names(void) {
    return cli_expect(
               0,
               "cat %s/library/autotune*.h | tr '\\n' ' ' | grep -o 'AT_LIB_PUBLIC [^;]*(' | "
               "sed 's/^AT_LIB_PUBLIC //; s/(.*//; s/.*[ *]//' | grep -v __ | sort -u",
               sources)
        ->out;
}

/* The shared library shows the names of autotune.h and nothing else, the static one neither. */
static void names(void **state) {
    (void)state;
    char *declared = strdup(declared_names());
    assert_true(cli_count_lines(declared, "at_lib_") > 40);
    const char *shown =
        cli_expect(0,
                   "nm -D --defined-only '%s/libautotune.so.1' | sed 's/.* //; s/@.*//' | "
                   "grep -v '^LIBAUTOTUNE_' | sort -u",
                   build)
            ->out;
    assert_string_equal(shown, declared);
    shown = cli_expect(0,
                       "nm -g --defined-only '%s/libautotune.a' | sed -n 's/.* [A-Za-z] //p' | "
                       "sort -u",
                       build)
                ->out;
    assert_string_equal(shown, declared);
    free(declared);
}

static void header(void **state) {
    (void)state;
    static const char *const compilers[] = {"gcc -std=c99 -x c", "gcc -std=c11 -x c",
                                            "clang -std=c99 -x c", "g++ -std=c++17 -x c++",
                                            "clang++ -std=c++17 -x c++"};
    cli_write("header.c", "#include <autotune.h>\n#include <autotune.h>\n"
                          "int main(void) { return at_lib_new() == 0; }\n");
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        char program[16];
        snprintf(program, sizeof program, "%.*s", (int)strcspn(compilers[i], " "), compilers[i]);
        if (!has(program)) {
            print_message("%s is missing\n", program);
            continue;
        }
        cli_expect(0, "%s -pedantic -Wall -Wextra -Werror -I%s/library -fsyntax-only header.c",
                   compilers[i], sources);
    }
}

/* Names that libtcc has as its own, in a program that links the library either way. */
static void names_of_others(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    cli_write("own.c", "#include <autotune.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                       "int tok = 7, file = 8, tokc = 9, at_lower = 10;\n"
                       "void next(void) { abort(); }\nvoid tcc_new(void) { abort(); }\n"
                       "void expr(void) { abort(); }\nvoid at_task_new(void) { abort(); }\n"
                       "int main(void) {\n"
                       "    at_lib *lib = at_lib_new();\n"
                       "    at_lib_task *t = at_lib_task_new(lib, \"dense\", \"M=4,N=16,K=8\");\n"
                       "    at_lib_kernel *k = at_lib_load_entity(t, NULL);\n"
                       "    printf(\"%d %d\\n\", k != NULL, tok + file + tokc + at_lower);\n"
                       "    at_lib_kernel_free(k), at_lib_task_free(t), at_lib_free(lib);\n"
                       "    return 0;\n}\n");
    compile("own.c", "own");
    assert_string_equal(cli_expect(0, "env %s ./own", environment())->out, "1 34\n");
    cli_expect(0,
               "cc -O2 -I%s/library own.c '%s/libautotune.a' $(cd %s && make -s B='%s' "
               "print-library-libs) -o own-static",
               sources, build, sources, build);
    assert_string_equal(cli_expect(0, "./own-static")->out, "1 34\n");
}

/* The program of docs/library.md compiles as it stands, and runs. */
static void program_of_page(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    cli_expect(0,
               "sed -n '/^```c$/,/^```$/p' %s/docs/library.md | grep -v '^```' | "
               "sed 's/\"200\"/\"8\"/' >page.c && grep -q '\"8\"' page.c",
               sources);
    compile("page.c", "page");
    const cli_result *r = cli_expect(0, "env %s ./page; rm dense.log", environment());
    assert_non_null(strstr(r->err, "8 of 8 trials"));
    assert_string_equal(r->out, "void kernel(const float *data, const float *weight, float *out, "
                                "void *workspace)\n");
}

/* docs/library.md lists every name of the header. */
static void page(void **state) {
    (void)state;
    char *declared = strdup(declared_names());
    for (char *name = strtok(declared, "\n"); name; name = strtok(NULL, "\n"))
        cli_expect(0, "grep -q '`%s`' %s/docs/library.md", name, sources);
    free(declared);
}

/* ---- examples -------------------------------------------------------------------------------- */

static void example_in_c(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s/examples/library.c", sources);
    char lines[16];
    snprintf(lines, sizeof lines, "%.12s", cli_expect(0, "wc -l <%s", name)->out);
    assert_true(atoi(lines) <= 60);
    compile(name, "library");
    /* Neither a compiler nor anything else is to be found. */
    const cli_result *r = cli_expect(0, "env -i %s ./library", environment());
    assert_non_null(strstr(r->err, "40 of 40 trials"));
    assert_non_null(strstr(r->out, ": 0 of 8192 elements wrong\n"));
    char *first = strdup(r->out);
    /* Then nothing is searched for: no worker is needed. */
    r = cli_expect(0, "env -i LD_LIBRARY_PATH='%s' AUTOTUNE_WORKER=/nowhere ./library", build);
    assert_string_equal(r->out, first);
    assert_string_equal(r->err, "");
    free(first);
    assert_int_equal(cli_processes(), 0);
    if (!has("valgrind")) {
        print_message("valgrind is missing\n");
        return;
    }
    /* It shows another CPU, whose best instruction set the log may not have. */
    cli_expect(0, "./autotune dense --args M=64,N=128,K=96 --isa sse2 --trials 5 --tuner random "
                  "--log sse2.log -q");
    cli_expect(0, "env %s valgrind -q --leak-check=full --error-exitcode=9 ./library sse2.log",
               environment());
}

static void example_in_python(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    const char *python = !cli_run("python3 -c 'import numpy'")->status ? "python3"
                         : !cli_run("/usr/bin/python3 -c 'import numpy'")->status
                             ? "/usr/bin/python3"
                             : NULL;
    if (!python) {
        print_message("python3 or NumPy is missing\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(
            0, "env %s PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s/python %s %s/examples/library.py",
            environment(), sources, python, sources);
        assert_non_null(strstr(r->out, ": 0 of 6272 elements wrong\n"));
        assert_int_equal(strstr(r->err, "20 of 20 trials") != NULL, i == 0);
    }
}

/* A model, tuned by the program and run by two threads of the example. */
static void example_of_model(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "N,4");
    onnx_constant(&g, "w", AT_NET_FLOAT, "4,2", "1 2 3 4 5 6 7 8", true);
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    assert_int_equal(onnx_write(&g, 13, "m.onnx", &err), AT_OK);
    cli_expect(0, "./autotune m.onnx --dim N=1 --trials 4 --log m.log -q");
    cli_expect(0,
               "cc -O2 -Wall -Wextra -Werror -I%s/library %s/examples/model.c -L'%s' -lautotune "
               "-lpthread -o model",
               sources, sources, build);
    /* -1*1 + 0*3 + 1*5 - 1*7 */
    assert_string_equal(
        cli_expect(0, "env -i LD_LIBRARY_PATH='%s' ./model m.onnx m.log N=1", build)->out,
        "input x: float32[1, 4]\noutput y: float32[1, 2]\n1 of 1 kinds of parts are tuned\n"
        "-3 and -3\n");
    const cli_result *r = cli_run("env -i LD_LIBRARY_PATH='%s' ./model m.onnx '' 2>&1", build);
    assert_int_equal(r->status, 1);
    assert_non_null(strstr(r->out, "as in --dim N=1"));
}

/* ---- the worker ------------------------------------------------------------------------------ */

static void worker(void **state) {
    (void)state;
    const char *said = cli_expect(2, "'%s/autotune-worker'", build)->err;
    assert_non_null(strstr(said, "libautotune"));
    if (is_sanitized()) skip();
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s/examples/library.c", sources);
    compile(name, "library");
    /* The program itself may be the worker, too; what is none is said. */
    cli_expect(0, "env LD_LIBRARY_PATH='%s' AUTOTUNE_WORKER=\"$PWD/autotune\" ./library again.log",
               build);
    said =
        cli_expect(1, "env LD_LIBRARY_PATH='%s' AUTOTUNE_WORKER=autotune ./library no.log", build)
            ->err;
    assert_non_null(strstr(said, "AUTOTUNE_WORKER=autotune is no absolute path"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),
                                       cmocka_unit_test(header),
                                       cmocka_unit_test(page),
                                       cmocka_unit_test(program_of_page),
                                       cmocka_unit_test(names_of_others),
                                       cmocka_unit_test(example_in_c),
                                       cmocka_unit_test(example_in_python),
                                       cmocka_unit_test(example_of_model),
                                       cmocka_unit_test(worker)};
    return cmocka_run_group_tests_name("cli/library", tests, setup, cli_teardown);
}
