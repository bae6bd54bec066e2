/* Kernels that somebody else wrote: from their file to a winner. */
#include "tests/cli/cli_test.h"

#include <string.h>

#include "tests/cli/written_kernel.h"

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
        cmocka_unit_test(marked_outputs),
        cmocka_unit_test(without_a_computation),
        cmocka_unit_test(applied),
        cmocka_unit_test(logs_are_data),
        cmocka_unit_test(under_valgrind),
        cmocka_unit_test(changes_are_seen),
    };
    return cmocka_run_group_tests_name("cli/kernel", tests, cli_setup, cli_teardown);
}
