/* tests/cli/written_kernel.h: kernels that tests of kernels write into their folder. */
#ifndef AT_TESTS_WRITTEN_KERNEL_H
#define AT_TESTS_WRITTEN_KERNEL_H

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

static inline void write_kernel(const char *lines, const char *rest) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s%s%s}\n", head, lines, call, body, rest);
    cli_write("mm.c", text);
}

static inline void expect_error(int status, const char *command, const char *text) {
    const char *err = cli_expect(status, "./autotune %s", command)->err;
    if (!strstr(err, text)) fail_msg("%s said: %sexpected: %s", command, err, text);
}

static inline void write_scan(const char *lines, const char *add) {
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

#endif
