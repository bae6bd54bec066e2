/* Kernels that somebody else wrote: from their file to a winner, and what goes wrong on the way. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <string.h>

/* A product of small matrices. Variants are right, wrong or worse. */
static const char head[] = "/* autotune\n"
                           " * args  N=24, M=16, K=32\n"
                           " * a[N, K] : input\n"
                           " * b[K, M] : input\n"
                           " * c[n:N, m:M] = sum(k:K) a[n, k] * b[k, m]\n";
static const char call[] =
    " * call  void matmul(const float *a, const float *b, float *c, int N, int M, int K)\n"
    " */\n";
static const char body[] =
    "void matmul(const float *a, const float *b, float *c, int N, int M, int K) {\n"
    "    for (int n = 0; n < N; n += TILE)\n"
    "        for (int i = n; i < n + TILE; i++)\n"
    "            for (int m = 0; m < M; m++) {\n"
    "                float sum = 0;\n"
    "                for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * M + m];\n"
    "                c[i * M + m] = sum;\n"
    "            }\n";

static void write_kernel(const char *lines, const char *rest) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s%s%s}\n", head, lines, call, body, rest);
    cli_write("mm.c", text);
}

static const char variants[] = " * knob  TILE = 2 4 8\n"
                               " * knob  VARIANT = \"right\" \"wrong\" \"outside\" \"loop\" "
                               "\"crash\" \"file\" \"text\" if TILE "
                               "== 4\n"
                               " * default TILE=2\n"
                               " * flags -O2 -D_GNU_SOURCE\n";
static const char faults[] = "#if VARIANT_wrong\n"
                             "    c[7] += 1;\n"
                             "#elif VARIANT_outside\n"
                             "    c[0] += ((volatile const float *)a)[1 << 20];\n"
                             "#elif VARIANT_loop\n"
                             "    for (volatile int i = 1; i;) {}\n"
                             "#elif VARIANT_crash\n"
                             "    *(volatile int *)0 = 1;\n"
                             "#elif VARIANT_file\n"
                             "    extern int creat(const char *, unsigned);\n"
                             "    creat(\"made\", 0600);\n"
                             "#elif VARIANT_text\n"
                             "    this is no C;\n"
                             "#endif\n";

static void failures_never_win(void **state) {
    (void)state;
    write_kernel(variants, faults);
    cli_expect(0, "./autotune mm.c --tuner grid --trials 100 --timeout 2 --json");
    const at_json *out = cli_json();
    assert_int_equal(cli_number(out, "trials"), 9); /* 21 points, of which 9 are valid */
    const char *log = cli_trials("mm.log");
    assert_int_equal(cli_count_lines(log, "{"), 9);
    assert_int_equal(cli_count_lines(log, "{\"input\""), 9);
    cli_expect(0, "grep -c '\"check\": \"exact\"' mm.log | grep -qx '[34]'");
    cli_expect(0, "grep -q 'wrong_answer\\|differ' mm.log");
    cli_expect(0, "grep -q 'behind the end of a\\|SIGSEGV' mm.log");
    cli_expect(0, "grep -q 'exceeded' mm.log");
    cli_expect(0, "grep -q 'through a null pointer' mm.log");
    cli_expect(0, "grep -q 'the kernel called [a-z]*, and may do nothing but compute' mm.log");
    cli_expect(0, "grep -q 'mm.c:[0-9]*:[0-9]*: error' mm.log");
    cli_expect(1, "test -e made");
    const char *best = cli_expect(0, "./autotune show mm.c --log mm.log")->out;
    assert_null(strstr(best, "VARIANT_wrong"));
}

/* Small integers are exact in 8 bits as well: what a kernel loses of other numbers counts, too. */
static void fewer_bits(void **state) {
    (void)state;
    write_kernel(" * knob  TILE = 4\n * knob  BITS = 24 17 8\n",
                 "    for (int i = 0; i < N * M; i++) {\n"
                 "        union { float f; unsigned bits; } u = {0};\n"
                 "        for (int k = 0; k < K; k++) {\n"
                 "            union { float f; unsigned bits; } x = {a[i / M * K + k]};\n"
                 "            x.bits &= ~0u << (24 - BITS);\n"
                 "            u.f += x.f * b[k * M + i % M];\n"
                 "        }\n"
                 "        c[i] = u.f;\n"
                 "    }\n");
    cli_expect(0, "./autotune mm.c --tuner grid --trials 3 --log bits.log --json");
    cli_expect(0, "grep -c 'of standard-normal data' bits.log | grep -qx 2");
    cli_expect(0, "./autotune show mm.c --log bits.log | grep -qx BITS=24");
}

/* Where the reference is a product of matrices: a tap of one element, a channel of a row of
 * elements, and the maximum of one pixel are left out. */
static void wrong_beside_matrices(void **state) {
    (void)state;
    cli_write("conv.c",
              "/* autotune\n"
              " * args  H=20, C=32, M=32\n"
              " * x[H, H, C] : input\n"
              " * w[M, C, 3, 3] : weight\n"
              " * b[M] : input\n"
              " * t[i:H, j:H, m:M] = sum(k:C, p:3, q:3) (i + p >= 1 && i + p <= H && j + q >= 1 && "
              "j + q <= H ? x[i + p - 1, j + q - 1, k]*w[m, k, p, q] : 0)\n"
              " * y[i:H, j:H, m:M] = max(t[i, j, m] + b[m], 0)\n"
              " * knob  WRONG = 0 1 2 3\n"
              " * flags -O2\n"
              " * call  void conv(const float *x, const float *w, const float *b, float *y)\n"
              " */\n"
              "enum { H = 20, C = 32, M = 32 };\n"
              "void conv(const float *x, const float *w, const float *b, float *y) {\n"
              "    for (int e = 0; e < H * H * M; e++) {\n"
              "        int i = e / M / H, j = e / M % H, m = e % M;\n"
              "        float s = 0;\n"
              "        for (int p = 0; p < 3; p++)\n"
              "            for (int q = 0; q < 3; q++) {\n"
              "                if (i + p < 1 || i + p > H || j + q < 1 || j + q > H) continue;\n"
              "                if (WRONG == 1 && e == 6007 && p == 1 && q == 1) continue;\n"
              "                for (int k = 0; k < C - (WRONG == 2 && i == 5 && m == 31); k++)\n"
              "                    s += x[((i + p - 1) * H + j + q - 1) * C + k] *\n"
              "                         w[((m * C + k) * 3 + p) * 3 + q];\n"
              "            }\n"
              "        s += b[m];\n"
              "        y[e] = s > 0 || (WRONG == 3 && i == 9 && j == 9) ? s : 0;\n"
              "    }\n"
              "}\n");
    cli_expect(0, "./autotune conv.c --tuner grid --trials 4");
    cli_expect(0, "grep -c 'elements differ' conv.log | grep -qx 3");
    cli_expect(0, "./autotune show conv.c --log conv.log | grep -q 'WRONG=0'");
}

/* What other verbs make of file and log. */
static void verbs(void **state) {
    (void)state;
    write_kernel(" * knob TILE = 2 4 8\n * split PART of N into 2\n * order LOOPS of 3\n"
                 " * require TILE * PART_1 <= 16 && LOOPS_0 == 0\n * flags -O{TILE}\n",
                 "    (void)PART_0, (void)PART_1, (void)LOOPS_2;\n");
    cli_expect(0, "rm -f mm.log");
    const char *out = cli_expect(0, "./autotune space mm.c")->out;
    assert_non_null(strstr(out, "among indices 0 to 143"));
    cli_expect(0, "./autotune mm.c --trials 8 --tuner random");
    out = cli_expect(0, "./autotune show mm.c --log mm.log")->out;
    assert_non_null(strstr(out, "TILE="));
    assert_non_null(strstr(out, "PART_1="));
    assert_non_null(strstr(out, "LOOPS_0=0\n"));
    out = cli_expect(0, "./autotune show mm.c --log mm.log --code")->out;
    assert_non_null(strstr(out, "#define LOOPS_0 0\n"));
    assert_non_null(strstr(out, "#line 1 \"mm.c\"\n/* autotune\n"));
    cli_expect(0, "./autotune run mm.c --log mm.log --number 1 --repeat 2");
    cli_expect(0, "./autotune run mm.c --index 0 --number 1 --repeat 2");
    cli_expect(2, "./autotune run mm.c --index 72");
    cli_expect_verified("mm.log", "mm.c");
    out = cli_expect(0, "./autotune mm.c --trials 8 --tuner random")->out; /* goes on */
    assert_non_null(strstr(out, "8 of them from the log"));
    cli_expect(0, "./autotune pick_best mm.log -o best.log");
    cli_expect(0, "./autotune log mm.log --diff best.log");
    cli_expect(0, "./autotune plot mm.log --knobs");
    cli_expect(0, "./autotune report mm.c mm.log -o r.html && grep -q 'Its macros' r.html");
    cli_expect(0, "./autotune replay mm.c mm.log --tuner ga --trials 4");
}

/* Several sizes with one budget; an objective; columns for knobs. */
static void layers(void **state) {
    (void)state;
    write_kernel(" * knob TILE = 2 4 8\n * require N % TILE == 0\n", "");
    cli_write("net.workload", "1 mm N=16,M=16,K=16\n2 mm N=24,M=8,K=8\n");
    cli_expect(0, "rm -f mm.log");
    const char *out =
        cli_expect(0, "./autotune tune ./mm.c --workload net.workload --trials 6 --json")->out;
    assert_non_null(strstr(out, "\"missing\": 0"));
    assert_int_equal(cli_number(cli_json(), "trials"), 6);
    out = cli_expect(0, "./autotune tune ./mm.c --workload net.workload --trials 6")->out;
    assert_non_null(strstr(out, "\nNext: autotune apply ./mm.c --args N=16,M=16,K=16 --log mm.log "
                                "-o kernel.c\n"));
    cli_expect(0, "./autotune apply ./mm.c --args N=16,M=16,K=16 --log mm.log -o kernel.c && cc "
                  "-c kernel.c");
    cli_expect(2, "./autotune apply ./mm.c --log mm.log -o kernel.c");
    out = cli_expect(0, "./autotune log mm.log --csv")->out;
    assert_int_equal(cli_count_lines(out, "line,task,"), 1);
    assert_non_null(strstr(out, ",entity,TILE\n"));
    assert_non_null(strstr(out, "8]]\",8\n"));
    out = cli_expect(0, "./autotune log mm.log")->out;
    assert_non_null(strstr(out, "\n  with TILE="));
    cli_expect(0, "rm -f mm.log; ./autotune mm.c --trials 3 --objective typical");
    cli_expect(0, "grep -q '^#objective .*\"objective\": \"typical\"' mm.log");
    cli_expect(0, "./autotune report mm.c mm.log -o r.html && grep -q 'TILE=' r.html");
}

static void expect_error(int status, const char *command, const char *text) {
    const char *err = cli_expect(status, "./autotune %s", command)->err;
    if (!strstr(err, text)) fail_msg("%s said: %sexpected: %s", command, err, text);
}

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

/* Another text, header or flag is another kernel. */
static void changes_are_seen(void **state) {
    (void)state;
    cli_expect(0, "rm -f mm.log");
    cli_write("one.h", "#include \"two.h\"\n");
    cli_write("two.h", "#define PLUS 0\n");
    write_kernel(" * knob TILE = 2 4\n",
                 "    c[0] += PLUS;\n}\n#include \"one.h\"\nvoid g(void) {\n");
    cli_expect(0, "sed -i 's/^void matmul/#include \"one.h\"\\nvoid matmul/' mm.c");
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid");
    assert_null(strstr(cli_expect(0, "./autotune show mm.c --log mm.log")->err, "warning"));
    cli_write("two.h", "#define PLUS 0.0f\n");
    expect_error(3, "show mm.c --log mm.log", "of another version of mm");
    expect_error(0, "mm.c --trials 2 --tuner grid",
                 "2 records of another version of mm are not used; --accept-changed uses them");
}

/* A stage that another one reads is an output by its mark, as in any computation. */
static void marked_outputs(void **state) {
    (void)state;
    cli_write("m.c", "/* autotune\n * args N=50\n * x[N] : input\n"
                     " * y[n:N] : output = 2*x[n]\n * z[n:N] : output f32 = y[n] + 1\n"
                     " * knob BY = 1 2\n"
                     " * call void f(const float *x, float *y, float *z, int N)\n */\n"
                     "void f(const float *x, float *y, float *z, int N) {\n"
                     "    for (int i = 0; i < N; i++) y[i] = 2*x[i]*(BY == 2 && i == 7 ? 2 : 1);\n"
                     "    for (int i = 0; i < N; i++) z[i] = 2*x[i] + 1;\n}\n");
    cli_expect(0, "./autotune m.c --trials 2 --tuner grid");
    cli_expect(0, "grep -c '\"check\": \"failed\"' m.log | grep -qx 1");
}

/* ---- without a computation ------------------------------------------------------------------- */

static void write_scan(const char *lines, const char *add) {
    char text[4096];
    snprintf(
        text, sizeof text,
        "/* autotune\n * args N=1000\n * x[N] : input\n * y[N] : inout\n%s"
        " * operations N\n * knob BY = 1 2 4\n * call void f(const float *x, float *y, int N)\n"
        " */\n"
        "void right(const float *x, float *y, int N) {\n"
        "    for (int i = 0; i < N; i++) y[i] += x[i];\n}\n"
        "#ifdef BY\n"
        "void f(const float *x, float *y, int N) {\n"
        "    for (int i = 0; i < N; i += BY)\n"
        "        for (int k = 0; k < BY; k++) y[i + k] += x[i + k]%s;\n}\n#endif\n",
        lines, add);
    cli_write("f.c", text);
    cli_expect(0, "rm -f f.log");
}

static void without_a_computation(void **state) {
    (void)state;
    write_scan(" * reference right\n * data x = 2..3\n", "");
    cli_expect(0, "./autotune f.c --trials 3 --tuner grid");
    cli_expect(0, "grep -c '\"check\": \"tolerance\"' f.log | grep -qx 3");
    /* an error that the limit tells */
    write_scan(" * reference right\n", "*(BY == 2 ? 1.001f : 1)");
    cli_expect(0, "./autotune f.c --trials 3 --tuner grid");
    cli_expect(0, "grep -c '\"check\": \"failed\"' f.log | grep -qx 1");
    write_scan(" * reference right\n * limit 0.01\n", "*(BY == 2 ? 1.001f : 1)");
    cli_expect(0, "./autotune f.c --trials 3 --tuner grid");
    cli_expect(1, "grep -q '\"check\": \"failed\"' f.log");
    write_scan(" * unchecked\n", "*(BY == 2 ? 2 : 1)");
    assert_non_null(strstr(cli_expect(0, "./autotune f.c --trials 3 --tuner grid")->err,
                           "f.c: its outputs are not checked"));
    cli_expect(0, "grep -c '\"check\": \"nothing\"' f.log | grep -qx 3");
    cli_expect(0, "./autotune pick_best f.log -o best.log");
    write_scan("", "");
    expect_error(4, "run f.c", "f.c: nothing says what its outputs should be");
    expect_error(2, "run f.c --expect z=z.npy", "--expect");
    /* What a text computes is compared with the text alone. */
    expect_error(2, "run dense --args M=8,N=8,K=8 --expect out=none.npy",
                 "--expect out=none.npy: dense is a computation, which says what its outputs are; "
                 "an array does for a kernel without one, and for a network");
    write_scan(" * reference wrong\n", "");
    expect_error(4, "run f.c", "f.c: its reference \"wrong\" ");
    write_scan(" * unchecked\n * data z = 0..1\n", "");
    expect_error(4, "run f.c", "f.c: data of \"z\", which is no input");
}

/* The file with the macros of the winner, and a program that checks it. */
static void applied(void **state) {
    (void)state;
    cli_expect(0, "rm -f mm.log");
    write_kernel(" * knob TILE = 2 4 8\n * flags -O2\n", "");
    cli_expect(0, "./autotune mm.c --trials 3");
    cli_expect(0, "./autotune apply mm.c --log mm.log -o best.c && grep -q '^#define TILE [248]$' "
                  "best.c && cc -c -Wall best.c && cc -fsyntax-only -Wall -x c best.h");
    cli_expect(0, "./autotune apply mm.c --log mm.log --main -o check.c && cc -O2 check.c -o check "
                  "-lm && ./check | grep -q ': right, '");
}

/* A log is data: it brings no values, flags or compilers of its own. */
static void logs_are_data(void **state) {
    (void)state;
    static const char *const edits[] = {"s/\"TILE\", \"ot\", [248]/\"TILE\", \"ot\", 6/",
                                        "s/\"TILE\", \"ot\", [248]/\"TILE\", \"ot\", \"2; x\"/",
                                        "s/\"TILE\", \"ot\", [248]/\"TILE\", \"ot\", 2.5/"};
    for (int i = 0; i < 3; i++) {
        cli_expect(0, "sed '%s' mm.log > bad.log", edits[i]);
        cli_expect(4, "./autotune apply mm.c --log bad.log -o bad.c");
        cli_expect(4, "./autotune run mm.c --log bad.log");
        cli_expect(1, "test -e bad.c");
        const char *out = cli_expect(7, "./autotune verify mm.c bad.log")->out;
        assert_null(strstr(out, "reproduced: "));
        assert_non_null(strstr(out, "not_run: "));
    }
    expect_error(2, "run mm.c --config '{\"entity\": [[\"TILE\", \"ot\", 6]]}'",
                 "no configuration of");
    cli_expect(
        0, "sed 's/\"compiler\": \"gcc\"/\"compiler\": \"sh -c touch made\"/' mm.log > bad.log");
    cli_run("./autotune run mm.c --log bad.log --number 1 --repeat 1");
    cli_expect(1, "test -e made");
    /* Flags are words, whatever is in them. */
    write_kernel(" * knob TILE = 2 4\n * flags -O2 -DX=\"$(touch\\tmade)\";touch${IFS}made\n", "");
    cli_run("./autotune run mm.c --number 1 --repeat 1");
    cli_expect(1, "test -e made");
    /* These look at the head alone. */
    write_kernel(" * knob TILE = 2 4\n * compiler ./cc\n", "");
    cli_write("cc", "#!/bin/sh\ntouch $0.made\nexec gcc \"$@\"\n");
    cli_expect(0, "chmod +x cc && ./autotune show mm.c && ./autotune space mm.c && ./autotune log "
                  "mm.log && ./autotune report mm.c mm.log -o r.html");
    cli_expect(1, "test -e cc.made");
    cli_expect(0, "./autotune run mm.c --number 1 --repeat 1");
    cli_expect(0, "rm cc.made"); /* which is allowed: the file says so */
}

/* ---- who runs them --------------------------------------------------------------------------- */

static const char asks[] = "    (void)0;\n}\nextern int creat(const char *, unsigned);\n"
                           "#if TILE == 4\n__attribute__((constructor))\n#endif\n"
                           "void ask(void) { creat(\"made\", 0600);\n";

/* Workers elsewhere are confined like ours, before a constructor runs. */
static void elsewhere(void **state) {
    (void)state;
    write_kernel(" * knob TILE = 2 4\n", asks);
    cli_expect(0, "rm -f mm.log far.log");
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid");
    if (!cli_run("grep -q 'may do nothing but compute' mm.log")->status) {
        cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1");
        cli_expect(0, "grep -q 'called [a-z]*, and may do nothing but compute' far.log");
    } else print_message("this system confines no process\n");
    cli_expect(1, "test -e made");
}

/* What a kernel takes in from below its folder travels; nothing stays behind. */
static void headers_travel(void **state) {
    (void)state;
    cli_expect(0, "rm -rf mm.log far.log sub tmp; mkdir -p sub/deep tmp");
    cli_write("sub/one.h", "#include \"deep/two.h\"\n");
    cli_write("sub/deep/two.h", "#include \"../three.h\"\n");
    cli_write("sub/three.h", "#define PLUS 0\n");
    cli_write("more.c", "float more(float x) { return x; }\n");
    write_kernel(" * knob TILE = 2 4\n * flags -Isub more.c -DX={TILE}\n",
                 "    extern float more(float); c[0] = more(c[0]) + PLUS;\n");
    cli_expect(0, "sed -i 's/^void matmul/#include \"one.h\"\\nvoid matmul/' mm.c");
    cli_expect(0, "TMPDIR=$PWD/tmp ./autotune mm.c --trials 2 --tuner grid --log far.log --on "
                  "local:1");
    cli_expect(0, "grep -c '\"check\": \"exact\"' far.log | grep -qx 2");
    cli_expect(0, "test -z \"$(ls tmp)\"");
    /* The same task as here, where its folder is another one. */
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log far.log --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 2);
    cli_expect(0,
               "mkdir -p up/down && mv mm.c more.c up/down && mv sub/one.h up && cp -r sub/* up");
    cli_expect(0, "sed -i 's/-Isub/-I.. -I../' up/down/mm.c");
    expect_error(2, "up/down/mm.c --trials 2 --on local:1", "one.h, which is not below its folder");
    cli_expect(0, "rm -rf up sub");
}

/* So do files of data that its head names; what an agent that was killed left goes with the next.
 */
static void data_travel(void **state) {
    (void)state;
    static float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    cli_expect(0, "rm -rf mm.log far.log sub tmp; mkdir -p sub tmp/autotune-agent-killed/sub "
                  "tmp/autotune-agent-young; touch -d '1 hour ago' tmp/autotune-agent-killed; "
                  "chmod 700 tmp/*");
    char header[128];
    int padding = 118 - snprintf(header, sizeof header,
                                 "{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (8, 8), }");
    FILE *f = fopen("sub/a.npy", "wb");
    assert_non_null(f);
    fprintf(f, "%cNUMPY\1%cv%c%s%*s", 0x93, 0, 0, header, padding, "\n");
    assert_int_equal(fwrite(values, sizeof *values, 64, f), 64);
    assert_int_equal(fclose(f), 0);
    write_kernel(" * knob TILE = 2 4\n * data a = \"sub/a.npy\"\n", "");
    cli_expect(0,
               "TMPDIR=$PWD/tmp ./autotune mm.c --args N=8,M=8,K=8 --trials 2 --tuner grid --log "
               "far.log --on local:1");
    cli_expect(0, "ls tmp | grep -qx autotune-agent-young");
    cli_expect(1, "ls tmp | grep -v young");
    cli_expect(0,
               "./autotune mm.c --args N=8,M=8,K=8 --trials 2 --tuner grid --log far.log --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 2);
    write_scan("", "");
    expect_error(2, "f.c --trials 1 --on local:1 --expect y=sub/a.npy",
                 "--expect: with --on a file is not sent to the worker");
    cli_expect(0, "rm sub/a.npy");
    expect_error(4, "mm.c --args N=8,M=8,K=8 --trials 1 --on local:1", "mm.c: data a: cannot read");
    expect_error(4, "mm.c --args N=8,M=8,K=8 --trials 1", "mm.c: data a: cannot read");
    cli_expect(0, "rm -rf tmp sub far.log");
}

/* Who cannot compile it says so. */
static void no_compiler_there(void **state) {
    (void)state;
    cli_write("cc", "#!/bin/sh\nexec gcc \"$@\"\n");
    cli_expect(0, "chmod +x cc; rm -f far.log");
    write_kernel(" * knob TILE = 2 4\n * compiler ./cc\n", "");
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log here.log");
    const cli_result *r =
        cli_run("./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1");
    assert_true(r->status != 0);
    assert_non_null(strstr(r->err, "/cc is not found on this machine"));
    cli_expect(1, "test -e far.log && grep -q '^{' far.log");
    /* One that the command line names goes along. */
    cli_expect(0,
               "./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1 --compiler gcc");
    cli_expect(0, "grep -c '\"compiler\": \"gcc\"' far.log | grep -qx 2");
}

static void under_valgrind(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* valgrind runs no such program */
#endif
    if (cli_run("command -v valgrind")->status) skip();
    cli_expect(0, "valgrind -q ./autotune run dense --args M=8,N=8,K=8 --config default --number 1 "
                  "--repeat 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_never_win),
        cmocka_unit_test(fewer_bits),
        cmocka_unit_test(wrong_beside_matrices),
        cmocka_unit_test(verbs),
        cmocka_unit_test(layers),
        cmocka_unit_test(fortran),
        cmocka_unit_test(cxx),
        cmocka_unit_test(cxx_rows),
        cmocka_unit_test(functions_of_other_files),
        cmocka_unit_test(headers_travel),
        cmocka_unit_test(data_travel),
        cmocka_unit_test(no_compiler_there),
        cmocka_unit_test(call_without_parameters),
        cmocka_unit_test(mistakes_in_a_head),
        cmocka_unit_test(calls_that_do_not_fit),
        cmocka_unit_test(elements_of_16_bits),
        cmocka_unit_test(split_of_nothing),
        cmocka_unit_test(functions_that_do_not_fit),
        cmocka_unit_test(subroutines_that_do_not_fit),
        cmocka_unit_test(marked_outputs),
        cmocka_unit_test(without_a_computation),
        cmocka_unit_test(applied),
        cmocka_unit_test(logs_are_data),
        cmocka_unit_test(elsewhere),
        cmocka_unit_test(under_valgrind),
        cmocka_unit_test(mistakes_of_all),
        cmocka_unit_test(changes_are_seen),
    };
    return cmocka_run_group_tests_name("cli/kernel", tests, cli_setup, cli_teardown);
}
