/* What trials say of other points, compared with the plain solution of the same equations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "tuners/model.h"

enum { WIDTH = 3, TRIALS = 14, POINTS = 60 };

/* Numbers of points: four powers of two, six steps, and a text of two. */
static void make_rows(float rows[POINTS][WIDTH], const float *list[POINTS]) {
    at_rng rng;
    at_rng_seed(&rng, 3, 1);
    for (int i = 0; i < POINTS; i++) {
        rows[i][0] = (float)(8 << at_rng_below(&rng, 4));
        rows[i][1] = (float)at_rng_below(&rng, 6);
        rows[i][2] = (float)at_rng_below(&rng, 2);
        list[i] = rows[i];
    }
}

/* The same function of distances, written once more. */
static double covariance(const at_likeness *p, const at_view *view, const uint16_t *x,
                         const uint16_t *y) {
    const double shares[] = {0, 0.5, 0.9};
    double product = 1, sum = 0;
    for (int c = 0; c < WIDTH; c++) {
        const double one = (double)p->columns[c].alike[view->scale[c]][abs(x[c] - y[c])];
        product *= one;
        sum += one / WIDTH;
    }
    return shares[view->share] * sum + (1 - shares[view->share]) * product;
}

/* x of a*x = b, by Gauss. */
static void solve(double a[TRIALS][TRIALS], double b[TRIALS]) {
    for (int i = 0; i < TRIALS; i++)
        for (int r = i + 1; r < TRIALS; r++) {
            const double q = a[r][i] / a[i][i];
            for (int c = i; c < TRIALS; c++) a[r][c] -= q * a[i][c];
            b[r] -= q * b[i];
        }
    for (int i = TRIALS - 1; i >= 0; i--) {
        for (int c = i + 1; c < TRIALS; c++) b[i] -= a[i][c] * b[c];
        b[i] /= a[i][i];
    }
}

static void fill(const at_likeness *p, const at_view *view, uint16_t levels[POINTS][WIDTH],
                 double noise, double a[TRIALS][TRIALS]) {
    for (int i = 0; i < TRIALS; i++)
        for (int j = 0; j < TRIALS; j++)
            a[i][j] = covariance(p, view, levels[i], levels[j]) + (i == j ? noise : 0);
}

static void means_and_variances_of(int share) {
    static float rows[POINTS][WIDTH];
    const float *list[POINTS];
    uint16_t levels[POINTS][WIDTH];
    double y[TRIALS], z[TRIALS], a[TRIALS][TRIALS], b[TRIALS];
    at_likeness p;
    make_rows(rows, list);
    at_likeness_init(&p, list, POINTS, (bool[]){false, false, true}, WIDTH);
    assert_int_equal(p.columns[0].num, 4);
    assert_int_equal(p.columns[1].num, 6);
    for (int i = 0; i < POINTS; i++) at_likeness_levels(&p, rows[i], levels[i]);
    for (int i = 0; i < TRIALS; i++) y[i] = sin(i);
    const at_view *view = &p.views[0];
    for (int c = 0; c < WIDTH; c++) view->scale[c] = (uint8_t)(2 + c);
    p.views[0].share = (uint8_t)share;
    p.views[0].noise = 1;
    at_factor f = at_factor_new(&p, view, TRIALS, levels[TRIALS], POINTS - TRIALS);
    for (int i = 0; i < TRIALS; i++) at_factor_add(&f, levels[i]);
    at_factor_whiten(&f, y, z);
    const double noise = f.l[0] * f.l[0] - 1; /* what was added to a variance of 1 */
    assert_true(noise > 0 && noise < 0.5);
    for (int c = 0; c < POINTS - TRIALS; c++) {
        double mean = 0, expected = 0, variance = 1;
        for (int i = 0; i < TRIALS; i++) mean += f.v[i * (POINTS - TRIALS) + c] * z[i];
        fill(&p, view, levels, noise, a);
        for (int i = 0; i < TRIALS; i++) b[i] = y[i];
        solve(a, b);
        for (int i = 0; i < TRIALS; i++)
            expected += covariance(&p, view, levels[TRIALS + c], levels[i]) * b[i];
        assert_true(fabs(mean - expected) < 1e-6);
        fill(&p, view, levels, noise, a);
        for (int i = 0; i < TRIALS; i++) b[i] = covariance(&p, view, levels[TRIALS + c], levels[i]);
        solve(a, b);
        for (int i = 0; i < TRIALS; i++)
            variance -= covariance(&p, view, levels[TRIALS + c], levels[i]) * b[i];
        assert_true(fabs(f.variance[c] - variance) < 1e-6);
    }
    at_factor_free(&f);
    at_likeness_free(&p);
}

static void means_and_variances(void **state) {
    (void)state;
    for (int share = 0; share < 3; share++) means_and_variances_of(share);
}

/* Speeds that go by one number alone: points are alike in that, whatever the others are. */
static void scales_are_found(void **state) {
    (void)state;
    static float rows[POINTS][WIDTH];
    const float *list[POINTS];
    uint16_t levels[POINTS][WIDTH];
    double y[POINTS], mean = 0;
    at_likeness p;
    at_rng rng;
    make_rows(rows, list);
    at_likeness_init(&p, list, POINTS, (bool[]){false, false, true}, WIDTH);
    for (int i = 0; i < POINTS; i++) {
        at_likeness_levels(&p, rows[i], levels[i]);
        y[i] = fmod(rows[i][1] * 2, 5);
        mean += y[i] / POINTS;
    }
    for (int i = 0; i < POINTS; i++) y[i] -= mean;
    at_rng_seed(&rng, 5, 1);
    for (int turn = 0; turn < 4; turn++) at_likeness_fit(&p, levels[0], y, POINTS, &rng);
    double scale[WIDTH] = {0}, all = 0;
    for (int i = 0; i < p.num_kept; i++) {
        all += p.views[i].weight;
        for (int c = 0; c < WIDTH; c++) scale[c] += p.views[i].weight * p.views[i].scale[c];
    }
    assert_true(fabs(all - 1) < 1e-9);
    assert_true(scale[1] < scale[0]);
    assert_true(scale[1] < scale[2]);
    at_likeness_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_variances),
        cmocka_unit_test(scales_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
