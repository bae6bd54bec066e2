/* The model of xgb: bounds are no times. It is built where XGBoost is (Makefile, WITHOUT). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "tuners/model.h"

/* Speeds as expected, of which half are only known to be at most something. */
static void bounds_are_no_times(void **state) {
    (void)state;
    enum { N = 64 };
    float features[N][2], labels[N], margins[N];
    bool is_bound[N];
    const float *rows[N];
    double with[N], without[N];
    for (int i = 0; i < N; i++) {
        bool bounded = i >= N / 2;
        features[i][0] = (float)i, features[i][1] = (float)(i % 5);
        rows[i] = features[i];
        margins[i] = bounded ? -8 : -1;
        labels[i] = bounded ? -3 : -1;   /* far above what is expected */
        if (i >= N - 8) labels[i] = -12; /* below it */
        is_bound[i] = bounded;
    }
    at_model_data d = {.num_rows = N,
                       .width = 2,
                       .rows = rows,
                       .labels = labels,
                       .margins = margins,
                       .groups = &(unsigned){N},
                       .num_groups = 1};
    const at_model_options o = {.loss = AT_LOSS_REG, .most_rounds = 40, .patience = 40, .top = 16};
    at_model *m = at_model_fit(&d, &o);
    at_model_predict(m, rows, N, without);
    at_model_free(m);
    d.is_bound = is_bound;
    m = at_model_fit(&d, &o);
    at_model_predict(m, rows, N, with);
    at_model_free(m);
    double base = with[0]; /* the same for all */
    /* Order: those behind a bound are behind what was timed, and among themselves as expected. */
    at_model_options rank = o;
    double ranked[N];
    rank.loss = AT_LOSS_RANK;
    for (int i = N / 2; i < N; i++) labels[i] = -3 - (float)(i % 7);
    m = at_model_fit(&d, &rank);
    at_model_predict(m, rows, N, ranked);
    at_model_free(m);
    for (int i = N / 2; i < N; i++)
        assert_true((double)margins[i] + ranked[i] < (double)margins[0] + ranked[0]);
    for (int i = N / 2; i < N - 8; i++) assert_true(fabs(ranked[i] - ranked[N / 2]) < 1);
    for (int i = N / 2; i < N - 12; i++) {
        assert_true(without[i] - without[0] > 4); /* taken for a time it pulls up */
        assert_true(fabs(with[i] - base) < 0.5);
    }
    for (int i = N - 8; i < N; i++) assert_true(with[i] - base < -3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_are_no_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
