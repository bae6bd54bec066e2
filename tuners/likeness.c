/* tuners/likeness.c: what trials say of other points: logarithms of speeds are taken for a Gaussian
 * process (C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,
 * algorithm 2.1). Points are alike as far as their numbers are, each number with a scale of its
 * own, which is found from the trials. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 2 /* over all scales, in a fit */ };
/* How far two values of a knob are alike, as a share of all its values; how much of the differences
 * is noise. */
static const double scales[AT_NUM_SCALES] = {0.15, 0.3, 0.6, 1.2, 2.5, 5, 12},
                    noises[] = {0.003, 0.03, 0.15};
enum { NUM_NOISES = sizeof noises / sizeof *noises };
static const int first_scale = 3, first_noise = 1;
static const double doubt_of_scale = 1, doubt_of_noise = 2; /* priors: deviations of logarithms */
static const double least_variance = 1e-9;

static int ascending(const void *x, const void *y) {
    const float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

static int level_of(const at_column *c, float value) {
    int low = 0, high = c->num - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (c->levels[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Matern's function with 5/2: twice differentiable. */
static float alike(double distance, double scale) {
    const double r = sqrt(5) * distance / scale;
    return (float)((1 + r + r * r / 3) * exp(-r));
}

static void make_column(at_column *c, const float *values, int n) {
    c->levels = malloc(sizeof *c->levels * ((size_t)n + 1));
    AT_NEED(c->levels);
    memcpy(c->levels, values, sizeof *values * (size_t)n);
    qsort(c->levels, (size_t)n, sizeof *c->levels, ascending);
    for (int i = 0; i < n; i++)
        if (!c->num || c->levels[i] != c->levels[c->num - 1]) c->levels[c->num++] = c->levels[i];
    c->scale = first_scale;
    for (int s = 0; s < AT_NUM_SCALES; s++) {
        c->alike[s] = malloc(sizeof *c->alike[s] * ((size_t)c->num + 1));
        AT_NEED(c->alike[s]);
        for (int d = 0; d < c->num; d++)
            c->alike[s][d] =
                alike(c->is_text ? d > 0 : (double)d / (c->num > 1 ? c->num - 1 : 1), scales[s]);
    }
}

void at_likeness_init(at_likeness *p, const float *const *rows, int n, const bool *is_text,
                      int width) {
    float *values = malloc(sizeof *values * ((size_t)n + 1));
    *p = (at_likeness){.width = width, .noise = first_noise};
    p->columns = calloc((size_t)width + 1, sizeof *p->columns);
    AT_NEED(values && p->columns);
    for (int c = 0; c < width; c++) {
        for (int i = 0; i < n; i++) values[i] = rows[i][c];
        p->columns[c].is_text = is_text[c];
        make_column(&p->columns[c], values, n);
    }
    free(values);
}

void at_likeness_free(at_likeness *p) {
    for (int c = 0; c < p->width; c++) {
        free(p->columns[c].levels);
        for (int s = 0; s < AT_NUM_SCALES; s++) free(p->columns[c].alike[s]);
    }
    free(p->columns);
}

void at_likeness_levels(const at_likeness *p, const float *row, uint16_t *out) {
    for (int c = 0; c < p->width; c++) out[c] = (uint16_t)level_of(&p->columns[c], row[c]);
}

static double covariance(const at_likeness *p, const uint16_t *x, const uint16_t *y) {
    float product = 1;
    for (int c = 0; c < p->width; c++)
        product *= p->columns[c].alike[p->columns[c].scale][abs(x[c] - y[c])];
    return (double)product;
}

/* ---- what trials say of others --------------------------------------------------------------- */

at_factor at_factor_new(const at_likeness *p, int most, const uint16_t *candidates, int n) {
    at_factor f = {.of = p, .most = most, .num_candidates = n, .candidates = candidates};
    f.points = malloc(sizeof *f.points * (size_t)(most + 1));
    f.l = malloc(sizeof *f.l * ((size_t)most * (size_t)most + 1));
    f.v = malloc(sizeof *f.v * ((size_t)most * (size_t)n + 1));
    f.variance = malloc(sizeof *f.variance * (size_t)(n + 1));
    AT_NEED(f.points && f.l && f.v && f.variance);
    for (int i = 0; i < n; i++) f.variance[i] = 1;
    return f;
}

void at_factor_free(at_factor *f) {
    free(f->points);
    free(f->l);
    free(f->v);
    free(f->variance);
}

static void narrow_candidates(at_factor *f, const uint16_t *point) {
    const int n = f->n, m = f->num_candidates;
    const double *l = f->l + (size_t)n * (size_t)f->most;
    double *v = f->v + (size_t)n * (size_t)m;
    for (int c = 0; c < m; c++) v[c] = covariance(f->of, point, f->candidates + c * f->of->width);
    for (int j = 0; j < n; j++) {
        const double *other = f->v + (size_t)j * (size_t)m;
        for (int c = 0; c < m; c++) v[c] -= l[j] * other[c];
    }
    for (int c = 0; c < m; c++) {
        v[c] /= l[n];
        f->variance[c] = fmax(f->variance[c] - v[c] * v[c], least_variance);
    }
}

void at_factor_add(at_factor *f, const uint16_t *point) {
    const size_t most = (size_t)f->most;
    double *l = f->l + (size_t)f->n * most, left = 1 + noises[f->of->noise] + 1e-6;
    for (int j = 0; j < f->n; j++) {
        const double *other = f->l + (size_t)j * most;
        double sum = covariance(f->of, point, f->points[j]);
        for (int k = 0; k < j; k++) sum -= l[k] * other[k];
        l[j] = sum / other[j];
        left -= l[j] * l[j];
    }
    l[f->n] = sqrt(fmax(left, least_variance));
    narrow_candidates(f, point);
    f->points[f->n++] = point;
}

/* z = y without what the points before tell of each. */
void at_factor_whiten(const at_factor *f, const double *y, double *z) {
    for (int i = 0; i < f->n; i++) {
        const double *l = f->l + (size_t)i * (size_t)f->most;
        double sum = y[i];
        for (int k = 0; k < i; k++) sum -= l[k] * z[k];
        z[i] = sum / l[i];
    }
}

double at_mean_square(const double *z, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += z[i] * z[i];
    return fmax(sum / n, least_variance);
}

/* ---- scales ---------------------------------------------------------------------------------- */

static double square(double x) { return x * x; }

/* How likely the trials are with these scales, as a logarithm, with what is expected of scales. */
static double likelihood(const at_likeness *p, const uint16_t *levels, const double *y, int n) {
    at_factor f = at_factor_new(p, n, NULL, 0);
    double *z = malloc(sizeof *z * (size_t)n), out = 0;
    AT_NEED(z);
    for (int i = 0; i < n; i++) at_factor_add(&f, levels + i * p->width);
    at_factor_whiten(&f, y, z);
    out = -0.5 * n * log(at_mean_square(z, n));
    for (int i = 0; i < n; i++) out -= log(f.l[(size_t)i * (size_t)(n + 1)]);
    for (int c = 0; c < p->width; c++)
        out -= square(log(scales[p->columns[c].scale] / scales[first_scale]) / doubt_of_scale) / 2;
    out -= square(log(noises[p->noise] / noises[first_noise]) / doubt_of_noise) / 2;
    free(z);
    at_factor_free(&f);
    return out;
}

/* Tries the places beside *place. */
static double try_beside(const at_likeness *p, const uint16_t *levels, const double *y, int n,
                         int *place, int num, double now) {
    for (int step = -1; step <= 1; step += 2) {
        const int before = *place;
        if (before + step < 0 || before + step >= num) continue;
        *place = before + step;
        const double then = likelihood(p, levels, y, n);
        if (then > now + 1e-9) now = then;
        else *place = before;
    }
    return now;
}

void at_likeness_fit(at_likeness *p, const uint16_t *levels, const double *y, int n) {
    double now = likelihood(p, levels, y, n);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int c = 0; c < p->width; c++)
            if (p->columns[c].num > 1)
                now = try_beside(p, levels, y, n, &p->columns[c].scale, AT_NUM_SCALES, now);
        now = try_beside(p, levels, y, n, &p->noise, NUM_NOISES, now);
    }
}
