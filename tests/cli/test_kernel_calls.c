/* What the head of a kernel says beside its function, in C, C++ and Fortran: what fits is called,
 * what does not is told at its line. */
#include "tests/cli/cli_test.h"

#include <stdio.h>

#include "tests/cli/written_kernel.h"

static void mistakes_in_a_head(void **state) {
    (void)state;
    static const struct {
        const char *lines, *message;
    } bad[] = {
        {" * knob TILE 2 4\n",
         "mm.c:6:14: expected '=', got '2'\n * knob TILE 2 4\n             ^\n"},
        {" * knob TILE =\n", "mm.c:6:15: expected values: 8 16 32"},
        {" * knob TILE = 2 \"a\"\n", "mm.c:6:18: values of a knob are all numbers"},
        {" * knob TILE = 2 4\n * knob TILE = 8\n", "mm.c:7:9: a second knob \"TILE\""},
        {" * knob TILE = 2 4\n * require TILS == 2\n", "mm.c:7:12: \"TILS\" is no knob"},
        {" * knob TILE = 2 4\n * default TILE=3\n",
         "mm.c:7:17: TILE has no such value; there are 2, 4"},
        {" * knob TILE = 2 4\n * require TILE == 7\n",
         "no point of the space keeps all conditions"},
        {" * knob TILE = 2 4\n * split PART of Q into 2\n", "mm.c:7: axis of PART"},
        {" * knob int = 2 4\n", "mm.c:6:9: a knob is a macro"},
        {" * d[N] = \n", "mm.c:"},
        {" * knob TILE = 2 4\n * workspace N +\n", "mm.c:7:"},
        {" * reference f\n", "\"reference\" beside a computation"},
        {" * knop TILE = 2 4\n", "mm.c:6:4: no line begins with \"knop\"; did you mean \"knob\"?"},
        {" * tile sizes 2 4\n", "mm.c:6:4: no line begins with \"tile\"; a line computes a tensor"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_kernel(bad[i].lines, "");
        expect_error(4, "show mm.c", bad[i].message);
    }
}

/* (void) is no parameter. */
static void call_without_parameters(void **state) {
    (void)state;
    cli_write("none.c", "/* autotune\n * c[1] : output\n * operations 1\n * unchecked\n"
                        " * knob TILE = 1 2\n * call void f(void)\n */\nvoid f(void) {}\n");
    cli_expect(0, "./autotune space none.c");
}

/* An expression of the head is told as it stands there, without the columns before it. */
static void split_of_nothing(void **state) {
    (void)state;
    cli_write("s.c",
              "/* autotune\n * args N=8\n * x[N] : input\n * y[n:N] = x[n]\n"
              " * split P of 8 - N into 3\n * call void f(const float *x)\n */\nvoid f(const "
              "float *x) {}\n");
    expect_error(2, "space s.c", "s.c:5: axis of P: 8 - N is 0, which cannot be split");
}

static void write_call(const char *line) {
    char text[4096];
    snprintf(text, sizeof text, "%s * knob TILE = 2 4\n%s */\n%s}\n", head, line, body);
    cli_write("mm.c", text);
}

static void calls_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *line, *message;
    } bad[] = {
        {"", "mm.c: its head has no line \"call\""},
        {" * call void f(const float *a, const float *d)\n", "mm.c:7: the call's parameter \"d\""},
        {" * call void f(const double *a)\n", "the tensor's elements are f32"},
        {" * call void f(float a)\n", "it is a tensor, and the parameter no pointer"},
        {" * call void f(const float *c)\n", "it is an output, and the parameter const"},
        {" * call void f(int *N)\n", "it is a number, and the parameter a pointer"},
        {" * call void f(float *workspace)\n", "the head needs a line \"workspace\""},
        {" * call float f(int N)\n", "a kernel returns void, or int"},
        {" * call void f(int N\n", "expected ')'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_call(bad[i].line);
        expect_error(4, "run mm.c", bad[i].message);
        expect_error(4, "mm.c --log refused.log", bad[i].message);
        assert_int_not_equal(cli_run("test -e refused.log")->status, 0);
    }
}

/* Elements of 16 bits are bits, or a compiler's own type; a number of as many bits is none. */
static void elements_of_16_bits(void **state) {
    (void)state;
    static const struct {
        const char *elements, *type, *message; /* NULL: it is right */
    } of[] = {
        {"f16", "uint16_t", NULL},
        {"bf16", "uint16_t", NULL},
        {"bf16", "unsigned short", NULL},
        {"s16", "int16_t", NULL},
        {"f16", "int16_t",
         "h.c:6: the call's parameter \"const int16_t *x\": the tensor's elements "
         "are f16, uint16_t or _Float16"},
        {"bf16", "_Float16", "the tensor's elements are bf16, uint16_t or __bf16"},
        {"bf16", "float", "the tensor's elements are bf16, uint16_t or __bf16"},
        {"s16", "uint16_t", "the tensor's elements are s16"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "/* autotune\n * args N=64\n * x[N] : input %1$s\n * y[n:N] : %1$s = x[n]\n"
                 " * knob T = 1 2\n * call void copy(const %2$s *x, %2$s *y, int N)\n */\n"
                 "#include <stdint.h>\n"
                 "void copy(const %2$s *x, %2$s *y, int N) {\n"
                 "    for (int n = 0; n < N; n += T)\n"
                 "        for (int t = 0; t < T; t++) y[n + t] = x[n + t];\n}\n",
                 of[i].elements, of[i].type);
        cli_write("h.c", text);
        if (of[i].message) expect_error(4, "run h.c", of[i].message);
        else cli_expect(0, "./autotune run h.c");
    }
}

/* What the call says, and what the function takes, are compared by the compiler. */
static void functions_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *params, *message;
    } bad[] = {
        {"const float *x, float *y, int n, int m", "twice.c:6:5: error: too few arguments"},
        {"const float *x", "twice.c:6:5: error: too many arguments"},
        {"const float *x, int n, float *y", "makes integer from pointer without a cast"},
        {"const double *x, float *y, int n", "from incompatible pointer type"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "/* autotune\n * args N=64\n * x[N] : input\n * y[n:N] = x[n]*2\n"
                 " * knob T = 1 2\n * call void twice(const float *x, float *y, int N)\n */\n"
                 "void twice(%s) {\n    (void)x, (void)T;\n}\n",
                 bad[i].params);
        cli_write("twice.c", text);
        expect_error(4, "twice.c --trials 2", bad[i].message);
    }
    /* Rows of rows are written as in C. */
    cli_write("twice.c", "/* autotune\n * args N=64\n * x[N, 8] : input\n"
                         " * y[n:N, m:8] = x[n, m]*2\n * knob T = 1 2\n"
                         " * call void twice(const float x[N][8], float y[N][8], int N)\n */\n"
                         "void twice(const float x[][8], float y[][8], int n) {\n"
                         "    for (int i = 0; i < n; i++)\n"
                         "        for (int j = 0; j < 8; j++) y[i][j] = x[i][j] * T * 2 / T;\n}\n");
    cli_expect(0, "./autotune twice.c --trials 2 --tuner grid && rm twice.c twice.log");
}

static void write_scale(const char *function, const char *end) {
    char text[2048];
    snprintf(text, sizeof text,
             "! autotune\n! args N=64\n! x[N] : input\n! y[n:N] = x[n]*2\n! knob UNROLL = 1 2\n"
             "! call void %s(const float *x, float *y, int N)\nsubroutine scale(x, y, n)\n"
             "  integer :: n, i\n  real :: x(n), y(n)\n  do i = 1, n, UNROLL\n"
             "    y(i:i+UNROLL-1) = x(i:i+UNROLL-1) * 2\n  end %s\nend subroutine\n",
             function, end);
    cli_write("scale.f90", text);
}

/* No compiler sees both the call and the subroutine, whose line may go on and have comments. */
static void subroutines_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *params, *message;
    } bad[] = {
        {"x, y, & ! one\n    n, m",
         "s.f90:6: the call has 3 parameters, and subroutine scale has 4: "
         "x, y, n, m\n"},
        {"x", "s.f90:6: the call has 3 parameters, and subroutine scale has 1: x\n"},
        {"n, X, Y",
         "s.f90:6: parameter 1 of the call is \"x\", and that of subroutine scale \"n\""},
        {"u, v, k", NULL},
        {"x, y &\n#ifdef T\n    , n &\n#endif\n    ", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "! autotune\n! args N=64\n! x[N] : input\n! y[n:N] = x[n]*2\n! knob T = 1 2\n"
                 "! call void scale(const float *x, float *y, int N)\n"
                 "subroutine other(a) ! not subroutine scale(a)\nend subroutine other\n"
                 "SUBROUTINE Scale(%s)\nend subroutine scale\n",
                 bad[i].params);
        cli_write("s.f90", text);
        if (bad[i].message) expect_error(4, "space s.f90", bad[i].message);
        else cli_expect(0, "./autotune space s.f90");
    }
    cli_expect(0, "rm s.f90");
}

static void fortran(void **state) {
    (void)state;
    if (cli_run("command -v gfortran")->status) skip();
    write_scale("scale", "dp");
    expect_error(4, "scale.f90 --trials 2",
                 "no candidate compiles: gfortran: scale.f90:12:5: Error: ");
    write_scale("scalar", "do");
    expect_error(4, "scale.f90 --trials 2", "undefined reference to `scalar_'");
    write_scale("scale", "do");
    cli_expect(0, "./autotune scale.f90 --trials 2 --tuner grid >out");
    cli_expect(0, "grep -q '^Next: autotune apply scale.f90 --log scale.log -o kernel.f90' out");
    expect_error(2, "apply scale.f90 --log scale.log -o best.c", "name a file that ends in .f90");
    for (int i = 0; i < 2; i++) /* over its own, too */
        cli_expect(0, "./autotune apply scale.f90 --log scale.log -o best.f90");
    cli_expect(0, "gfortran -cpp -c best.f90 -o best.o");
    expect_error(2, "apply scale.f90 --log scale.log --main", "name a file that ends in .c, as in");
    cli_expect(0, "./autotune apply scale.f90 --log scale.log --main -o check.c");
    cli_expect(0, "gfortran -O2 -cpp check.c check_kernel.f90 -o check -lm && ./check | grep ': "
                  "right, '");
    cli_expect(0, "sed -i 's/ \\* 2/ * 3/' check_kernel.f90 && gfortran -O2 -cpp check.c "
                  "check_kernel.f90 -o check -lm");
    cli_expect(1, "./check | grep ': right, '");
    cli_expect(0, "rm scale.f90 best.f90 check_kernel.f90");
}

/* A header that a C++ program can include, of a function as the file has it. */
static void cxx(void **state) {
    (void)state;
    if (cli_run("command -v g++")->status) skip();
    cli_write("twice.cpp", "// autotune\n// args N=64\n// x[N] : input\n// y[n:N] = x[n]*2\n"
                           "// knob T = 1 2\n// call void twice(const float *x, float *y, int N)\n"
                           "void twice(const float *x, float *y, int n) {\n"
                           "    for (int i = 0; i < n; i++) y[i] = x[i] * T * 2 / T;\n}\n");
    cli_expect(0, "./autotune twice.cpp --trials 2 --tuner grid");
    for (int i = 0; i < 2; i++)
        cli_expect(0, "./autotune apply twice.cpp --log twice.log -o best.cpp");
    cli_write("main.cpp", "#include \"best.h\"\nint main() { float x[2] = {1, 2}, y[2];\n"
                          "    twice(x, y, 2);\n    return y[0] != 2 || y[1] != 4; }\n");
    cli_expect(0, "g++ main.cpp best.cpp -o main && ./main");
    cli_expect(0, "./autotune apply twice.cpp --log twice.log --main -o check.c");
    cli_expect(0, "gcc -O2 check.c check_kernel.cpp -o check -lstdc++ -lm && ./check | grep ': "
                  "right, ' && rm main.cpp best.cpp twice.cpp check_kernel.cpp");
}

/* Rows of rows, whose lengths are part of a C++ function's type, and so of its name. */
static void cxx_rows(void **state) {
    (void)state;
    static const struct {
        const char *of_call, *of_function, *message;
    } of[] = {{"float", "float", NULL},
              {"double", "double",
               "t.cpp:6: the call's parameter \"const double a[2][8][N]\": the tensor's elements "
               "are f32"},
              {"float", "double", "no candidate compiles: g++: t.cpp:6:"}};
    if (cli_run("command -v g++")->status) skip();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "// autotune\n// args N=4\n// a[2, 8, N] : input\n// b[n:N, m:8] = a[1, m, n]\n"
                 "// knob U = 1 2\n// call void turn(const %s a[2][8][N], float b[N][8])\n"
                 "void turn(const %s a[2][8][4], float b[4][8]) {\n"
                 "    for (int n = 0; n < 4; n += U)\n        for (int m = 0; m < 8; m++)\n"
                 "            for (int u = 0; u < U; u++) b[n + u][m] = a[1][m][n + u];\n}\n",
                 of[i].of_call, of[i].of_function);
        cli_write("t.cpp", text);
        if (of[i].message) expect_error(4, "t.cpp --trials 2", of[i].message);
        else {
            cli_expect(0, "./autotune t.cpp --trials 2 --tuner grid");
            cli_expect(0, "./autotune apply t.cpp --log t.log -o best.cpp");
            cli_expect(0, "./autotune apply t.cpp --log t.log --main -o check.c");
        }
    }
    cli_write("main.cpp", "#include \"best.h\"\nint main() { static float a[2][8][4], b[4][8];\n"
                          "    a[1][5][3] = 7;\n    turn(a, b);\n    return b[3][5] != 7; }\n");
    cli_expect(0, "g++ main.cpp best.cpp -o main && ./main");
    cli_expect(0, "gcc -O2 check.c check_kernel.cpp -o check -lstdc++ -lm && ./check | grep ': "
                  "right, ' && rm main.cpp best.cpp t.cpp check_kernel.cpp t.log");
}

/* A function of another file: without a declaration, with one that says nothing of its parameters,
 * and with a whole one. */
static void functions_of_other_files(void **state) {
    (void)state;
    static const char *const declared[] = {
        "", "void twice();\n", "void twice(const float *x, float *y, float n, char two);\n"};
    cli_write("more.c", "void twice(const float *x, float *y, float n, char two) {\n"
                        "    for (int i = 0; i < n; i++) y[i] = x[i] * (float)two;\n}\n");
    for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "/* autotune\n * args N=64, TWO=2\n * x[N] : input\n * y[n:N] = x[n]*TWO\n"
                 " * knob T = 1 2\n * flags -DX={T} more.c\n"
                 " * call void twice(const float *x, float *y, float N, char TWO)\n */\n%s",
                 declared[i]);
        cli_write("t.c", text);
        if (*declared[i]) cli_expect(0, "./autotune run t.c --config default");
        else expect_error(4, "t.c --trials 2", "t.c: no candidate compiles: gcc: t.c:7:");
    }
    cli_write("t.c",
              "/* autotune\n * args N=64\n * x[N] : input\n * y[n:N] = x[n]*2\n * knob T = 1 2\n"
              " * flags -Wall -Wextra -Wpedantic -Werror\n"
              " * call void twice(const float *x, float *y, int N)\n */\n"
              "void twice(const float *restrict x, float *restrict y, long n);\n"
              "void twice(const float *restrict x, float *restrict y, long n) {\n"
              "    for (long i = 0; i < n; i++) y[i] = x[i] * T * 2 / T;\n}\n");
    cli_expect(0, "./autotune run t.c --config default");
    cli_expect(0, "rm t.c more.c");
}

/* What breaks all of them is told once, in the compiler's words, and nothing is recorded. */
static void mistakes_of_all(void **state) {
    (void)state;
    cli_expect(0, "rm -f mm.log");
    write_kernel(" * knob TILE = 2 4\n * flags -fno-such-flag\n", "");
    expect_error(4, "mm.c --trials 4", "mm.c: no candidate compiles: gcc: ");
    expect_error(4, "mm.c --trials 4", "-fno-such-flag");
    write_kernel(" * knob TILE = 2 4\n", "}\n#include \"missing.h\"\nvoid g(void) {\n");
    expect_error(4, "mm.c --trials 4", "missing.h: No such file or directory");
    write_kernel(" * knob TILE = 2 4\n", "    void elsewhere(void);\n    elsewhere();\n");
    expect_error(4, "mm.c --trials 4", "undefined reference to `elsewhere'");
    write_kernel(" * knob TILE = 2 4\n * compiler no-such-cc\n", "");
    expect_error(4, "mm.c --trials 4", "the compiler no-such-cc is not found on this machine");
    write_kernel(" * knob TILE = 2 4\n", "");
    expect_error(2, "mm.c --trials 4 --compiler ./no-cc", "the compiler ./no-cc is not found");
    cli_expect(1, "test -e mm.log && grep -q '^{' mm.log");
    write_kernel(" * knob TILE = 2 4\n * knob OTHER = 1 2\n", "");
    expect_error(0, "mm.c --trials 2", "mm.c: nothing in it uses the knob OTHER");
    cli_write("x.c", "int main(void) { return 0; }\n");
    expect_error(4, "x.c", "x.c: neither a kernel, whose first comment begins with");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fortran),
        cmocka_unit_test(cxx),
        cmocka_unit_test(cxx_rows),
        cmocka_unit_test(functions_of_other_files),
        cmocka_unit_test(call_without_parameters),
        cmocka_unit_test(mistakes_in_a_head),
        cmocka_unit_test(calls_that_do_not_fit),
        cmocka_unit_test(elements_of_16_bits),
        cmocka_unit_test(split_of_nothing),
        cmocka_unit_test(functions_that_do_not_fit),
        cmocka_unit_test(subroutines_that_do_not_fit),
        cmocka_unit_test(mistakes_of_all),
    };
    return cmocka_run_group_tests_name("cli/kernel_calls", tests, cli_setup, cli_teardown);
}
