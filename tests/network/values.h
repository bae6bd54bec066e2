/* tests/network/values.h: what tests of values share. */
#ifndef AT_TESTS_VALUES_H
#define AT_TESTS_VALUES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

static inline at_net *open_graph(onnx_graph *g, const at_net_options *o) {
    return onnx_open_as(arena, g, 17, o);
}

static inline const double *compute(const at_net *net, const void *input) {
    return onnx_output_of(arena, net, input);
}

static inline void expect_near(double x, double y) {
    if (!(fabs(x - y) <= 1e-12 * fmax(1, fabs(y)))) fail_msg("%.17g, not %.17g", x, y);
}

static inline float *numbers(int n) {
    float *x = AT_NEW_ARRAY(arena, float, n);
    for (int i = 0; i < n; i++) x[i] = (float)((i * 37 + 11) % 29 - 14) / 8;
    return x;
}

static inline const char *as_text(const float *x, int n) {
    at_text t = {0};
    for (int i = 0; i < n; i++) at_text_addf(&t, "%s%.9g", i ? " " : "", x[i]);
    return at_text_take(arena, &t);
}

static inline void expect_refused(onnx_graph *g, int version, at_status status, const char *text) {
    onnx_expect_refused(g, version, NULL, status, text);
}

#endif
